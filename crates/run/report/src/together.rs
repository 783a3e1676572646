//! Files that are put in place together.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sqlgauge_base::file::AtomicFile;
use sqlgauge_run::RunError;

/// Writes a folder's files by name. Either all of them are the new ones, or, on a full disk, all are the earlier ones.
///
/// # Errors
/// When the folder cannot be made or a file not be written.
pub fn write_together<'n>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'n str, String)>,
) -> Result<(), RunError> {
    let unwritable = |path: &Path, source| RunError::Unwritable { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        let mut file = AtomicFile::create(&path).map_err(|source| unwritable(&path, source))?;
        file.write_all(text.as_bytes()).map_err(|source| unwritable(&path, source))?;
        written.push(file);
    }
    AtomicFile::commit_all(written).map_err(|source| unwritable(folder, source))
}
