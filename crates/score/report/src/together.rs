//! Files that are put in place together.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sqlgauge_base::file::AtomicFile;
use sqlgauge_base::regular;
use sqlgauge_run::RunError;

/// Writes a folder's files by name. Either all of them are the new ones, or, on a full disk, all are the earlier ones.
///
/// # Errors
/// When the folder cannot be made or a file not be written, or one is a link: the folder may be somebody else's, and a link in it lead to
/// any file of its reader.
pub fn write_together<'n>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'n str, String)>,
) -> Result<(), RunError> {
    let unwritable = |path: &Path, source| RunError::Unwritable { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        regular::refuse_link(&path).map_err(|source| unwritable(&path, source))?;
        let mut file = AtomicFile::create(&path).map_err(|source| unwritable(&path, source))?;
        file.write_all(text.as_bytes()).map_err(|source| unwritable(&path, source))?;
        written.push(file);
    }
    AtomicFile::commit_all(written).map_err(|source| unwritable(folder, source))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Neither the file behind a link is written, nor the others of the folder.
    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (out, other) = (folder.path().join("out"), folder.path().join("other"));
        fs::create_dir(&out).unwrap();
        fs::write(&other, "text").unwrap();
        std::os::unix::fs::symlink(&other, out.join("b")).unwrap();
        let files = || ["a", "b"].map(|name| (name, "new".to_owned()));
        let error = write_together(&out, files()).unwrap_err().to_string();
        assert!(error.contains("out/b") && error.contains("it is a link"), "{error}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "text");
        assert!(!out.join("a").exists());
        fs::remove_file(out.join("b")).unwrap();
        write_together(&out, files()).unwrap();
        assert_eq!(fs::read_to_string(out.join("b")).unwrap(), "new");
    }
}
