//! Reads regular files and nothing else.
//!
//! Opening a pipe (a FIFO) waits until somebody writes to it, and a device may never end. So a file that lies in a folder is
//! opened here: what is not a regular file is an error at once.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading, or what a link to one leads to.
///
/// # Errors
/// What the system says; [`io::ErrorKind::IsADirectory`] for a folder, [`io::ErrorKind::InvalidInput`] for a pipe, a device or
/// a socket.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe does not wait then. Of a regular file it changes nothing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path.as_ref())?;
    check_kind(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether a file that is about to be opened for writing is a regular one, or not there.
///
/// # Errors
/// As [`open`].
pub fn check(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) => check_kind(metadata.file_type()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn check_kind(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        let message = "it is a pipe, a device or a socket: replace it with a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

/// Opens a file that a person names: a regular file, or what the shell hands over as a path below `/dev`, such as
/// `/dev/stdin` and the `/dev/fd/63` of `<(command)`.
///
/// # Errors
/// As [`open`].
pub fn open_named(path: &Path) -> io::Result<File> {
    if path.starts_with("/dev") { File::open(path) } else { open(path) }
}

/// What a regular file holds.
///
/// # Errors
/// As [`open`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let mut bytes = Vec::with_capacity(file.metadata()?.len().try_into().unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text that a regular file holds.
///
/// # Errors
/// As [`open`], and when it is not UTF-8.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_to_string(at(name)).unwrap(), "text");
            assert_eq!(read(at(name)).unwrap(), b"text");
        }
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(at("pipe"), at("link-to-pipe")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["pipe", "link-to-pipe"] {
            let error = read(at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            assert!(error.to_string().contains("regular file"), "{error}");
        }
        assert!(open(at("socket")).is_err());
        assert!(open(Path::new("/dev/null")).is_err());
        assert!(check(&at("file")).is_ok() && check(&at("missing")).is_ok() && check(&at("pipe")).is_err());
        assert!(open_named(Path::new("/dev/null")).is_ok());
        assert_eq!(open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(open(at("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
