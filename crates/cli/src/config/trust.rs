//! Which project's files are trusted, so that they may name programs, servers and environment variables, and write anywhere.
//!
//! # Contract
//! - Trust is for a path and a content together: a file that changes is not trusted any more.
//! - It is kept as an empty file per trusted file, named by the SHA-256 of both, in the user's data folder.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use sqlgauge_base::file::write_atomically;
use sqlgauge_run::sha256_of_bytes;

/// Whether the user trusts that content at that path.
pub(crate) fn is_trusted(path: &Path, bytes: &[u8]) -> bool {
    mark(path, bytes).is_some_and(|mark| mark.is_file())
}

/// Trusts the file as it is, or no longer.
///
/// # Errors
/// When the file cannot be read, or the user's data folder not be written.
pub(crate) fn set(path: &Path, is_trusted: bool) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mark = mark(path, &bytes)
        .ok_or_else(|| anyhow!("the folder for what is trusted is not known; set HOME or XDG_DATA_HOME"))?;
    let written = if is_trusted {
        fs::create_dir_all(mark.parent().unwrap_or(&mark)).and_then(|()| write_atomically(&mark, |_| Ok(())))
    } else if mark.exists() {
        fs::remove_file(&mark)
    } else {
        Ok(())
    };
    written.with_context(|| format!("{} cannot be written", mark.display()))
}

/// The file that says that a file is trusted.
fn mark(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    let mut text = path.as_os_str().as_encoded_bytes().to_vec();
    text.push(0);
    text.extend_from_slice(bytes);
    Some(
        user_folder("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share")?
            .join("trusted")
            .join(sha256_of_bytes(&text)),
    )
}

/// The user's own file of flags, whether it is there or not. In a folder that this user may not look into it is another's: in a
/// container, HOME is often root's.
pub(crate) fn user_config() -> Option<PathBuf> {
    let path = user_folder("XDG_CONFIG_HOME", "APPDATA", ".config")?.join("config.toml");
    let is_hidden = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    (!fs::metadata(&path).is_err_and(|error| is_hidden(&error))).then_some(path)
}

/// The user's folder of ours; relative paths in the variables do not count, as the XDG specification has it.
fn user_folder(xdg: &str, windows: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(below_home));
    let system = if cfg!(windows) { absolute(windows) } else { None };
    Some(absolute(xdg).or(system).or_else(home)?.join("sqlgauge"))
}
