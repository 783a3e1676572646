//! No output takes the place of an input.

use std::path::Path;

use anyhow::{Result, bail};
use sqlgauge_run::{ITEMS, Manifest, RUN_FILES};

/// Refuses an output that is one of the inputs, under whatever name: through links, and through other ways to the same
/// file. `what` names the output as a person gave it (`--out`); inputs that are not there cannot be lost.
pub fn keep_inputs<'a>(
    what: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = (&'a str, &'a Path)>,
) -> Result<()> {
    if !output.exists() {
        return Ok(());
    }
    for (role, input) in inputs {
        if same_file::is_same_file(output, input).unwrap_or(false) {
            bail!(
                "{what} {} is also the input {role} ({}), which would be lost; choose another {what}",
                output.display(),
                input.display()
            );
        }
    }
    Ok(())
}

/// Refuses a run folder whose files are inputs of that run.
pub fn keep_inputs_of_run(folder: &Path, manifest: &Manifest) -> Result<()> {
    let inputs = || manifest.inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
    RUN_FILES.iter().try_for_each(|name| keep_inputs("--out", &folder.join(name), inputs()))
}

/// Refuses a folder that holds a run with labels.
pub fn keep_run(what: &str, folder: &Path) -> Result<()> {
    if folder.join(ITEMS).exists() {
        bail!(
            "{} holds a run with labels, which is not to be mixed with other results; choose another {what}",
            folder.display()
        );
    }
    Ok(())
}

/// Refuses to replace a file that is no report of ours but somebody's data: a database.
pub fn keep_database(what: &str, output: &Path) -> Result<()> {
    let mut magic = [0; 16];
    let read =
        std::fs::File::open(output).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut magic));
    if output.is_file() && read.is_ok() && &magic == b"SQLite format 3\0" {
        bail!("{what} {} is a SQLite database, which would be lost; choose another {what}", output.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_known_under_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("input"), "x").unwrap();
        std::fs::write(at("other"), "x").unwrap();
        std::fs::create_dir(at("inner")).unwrap();
        std::fs::hard_link(at("input"), at("hard")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("input"), at("soft")).unwrap();
        let input = at("input");
        let refused = |name: &str| keep_inputs("--out", &at(name), [("gold", input.as_path())]).is_err();
        assert!(refused("input") && refused("hard") && refused("inner/../input"));
        #[cfg(unix)]
        assert!(refused("soft"));
        assert!(!refused("other") && !refused("new"));
    }
}
