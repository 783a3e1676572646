//! No output takes the place of an input.

use std::io::Read;
use std::path::Path;

use sqlgauge_base::regular;
use sqlgauge_run::{ITEMS, Manifest, RUN_FILES};

use crate::error::Error;

/// What a SQLite database begins with.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// Refuses an output that is one of the inputs, under whatever name: through links, and through other ways to the same
/// file. `what` names the output as a person gave it (`--out`); inputs that are not there cannot be lost.
///
/// # Errors
/// [`Error::OutputIsInput`].
pub fn keep_inputs<'a>(
    what: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = (&'a str, &'a Path)>,
) -> Result<(), Error> {
    if !output.exists() {
        return Ok(());
    }
    for (role, input) in inputs {
        // To compare files opens them; the record of a run may name a pipe, which waits, or a device.
        if regular::check(input).is_ok() && same_file::is_same_file(output, input).unwrap_or(false) {
            return Err(Error::OutputIsInput {
                what: what.to_owned(),
                output: output.to_owned(),
                role: role.to_owned(),
                input: input.to_owned(),
            });
        }
    }
    Ok(())
}

/// Refuses a run folder whose files are inputs of that run.
///
/// # Errors
/// [`Error::OutputIsInput`].
pub(crate) fn keep_inputs_of_run(folder: &Path, manifest: &Manifest) -> Result<(), Error> {
    let inputs = || manifest.inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
    RUN_FILES.iter().try_for_each(|name| keep_inputs("--out", &folder.join(name), inputs()))
}

/// Refuses a folder that holds a run with labels.
///
/// # Errors
/// [`Error::OutputIsRun`].
pub fn keep_run(folder: &Path) -> Result<(), Error> {
    if folder.join(ITEMS).exists() {
        return Err(Error::OutputIsRun { folder: folder.to_owned() });
    }
    Ok(())
}

/// Refuses to replace a file that is no report of ours but somebody's data: a database.
///
/// # Errors
/// [`Error::OutputIsDatabase`].
pub fn keep_database(what: &str, output: &Path) -> Result<(), Error> {
    let mut magic = [0; SQLITE.len()];
    let read = regular::open(output).and_then(|mut file| file.read_exact(&mut magic));
    if output.is_file() && read.is_ok() && &magic == SQLITE {
        return Err(Error::OutputIsDatabase { what: what.to_owned(), output: output.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_known_under_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("input"), "x").expect("a file");
        std::fs::write(at("other"), "x").expect("a file");
        std::fs::create_dir(at("inner")).expect("a folder");
        std::fs::hard_link(at("input"), at("hard")).expect("a link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(at("input"), at("soft")).expect("a link");
        let input = at("input");
        let refused = |name: &str| keep_inputs("--out", &at(name), [("gold", input.as_path())]).is_err();
        assert!(refused("input") && refused("hard") && refused("inner/../input"));
        #[cfg(unix)]
        assert!(refused("soft"));
        assert!(!refused("other") && !refused("new"));
    }

    #[test]
    fn a_database_and_a_run_are_told_from_other_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("data.sqlite"), [SQLITE.as_slice(), b"rest"].concat()).expect("a file");
        std::fs::write(at("report.html"), "<html>").expect("a file");
        assert!(keep_database("--out", &at("data.sqlite")).is_err());
        assert!(keep_database("--out", &at("report.html")).is_ok());
        assert!(keep_run(folder.path()).is_ok());
        std::fs::write(at(ITEMS), "").expect("a file");
        assert!(keep_run(folder.path()).is_err());
    }
}
