//! Reads regular files and nothing else.
//!
//! Opening a pipe (a FIFO) waits until somebody writes to it, and a device may never end. So a file that lies in a folder is
//! opened here: what is not a regular file is an error at once.
//!
//! In a folder that may be somebody else's, such as a run directory, a link is an error too: it may lead to any file of its reader.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading, or what a link to one leads to.
///
/// # Errors
/// What the system says; [`io::ErrorKind::IsADirectory`] for a folder, [`io::ErrorKind::InvalidInput`] for a pipe, a device or
/// a socket.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_as(OpenOptions::new().read(true), path.as_ref(), true)
}

/// Opens a regular file for reading; a link is an error.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::InvalidInput`] for a link.
pub fn open_unlinked(path: impl AsRef<Path>) -> io::Result<File> {
    refuse_link(path.as_ref())?;
    open_as(OpenOptions::new().read(true), path.as_ref(), false)
}

/// Opens a regular file for writing, which is made if need be and keeps its bytes; a link is an error.
///
/// # Errors
/// As [`open_unlinked`].
pub fn write_unlinked(path: &Path) -> io::Result<File> {
    refuse_link(path)?;
    open_as(OpenOptions::new().write(true).create(true).truncate(false), path, false)
}

fn open_as(options: &mut OpenOptions, path: &Path, follows: bool) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Opening a pipe does not wait then. Of a regular file it changes nothing.
        let flags = OFlags::NONBLOCK.union(if follows { OFlags::empty() } else { OFlags::NOFOLLOW });
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    let _ = follows;
    let file = options.open(path)?;
    check_kind(file.metadata()?.file_type())?;
    Ok(file)
}

/// Whether something that is about to be opened or written is not a link.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a link.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => {
            let message = "it is a link, which may lead to any file: replace it with the file itself";
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        _ => Ok(()),
    }
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

/// As [`check`]; a link is an error, wherever it leads.
///
/// # Errors
/// As [`open_unlinked`].
pub fn check_unlinked(path: &Path) -> io::Result<()> {
    refuse_link(path)?;
    check(path)
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

/// What a regular file holds that is not a link.
///
/// # Errors
/// As [`open_unlinked`].
pub fn read_unlinked(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_unlinked(path)?.read_to_end(&mut bytes)?;
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
        let status = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(status.success());
        std::os::unix::fs::symlink(at("pipe"), at("link-to-pipe")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["pipe", "link-to-pipe"] {
            let error = read(at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            assert!(error.to_string().contains("regular file"), "{error}");
        }
        // Through a link nothing is read or written, and nothing is made where it leads.
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        for name in ["link", "dangling", "link-to-pipe"] {
            let path = at(name);
            for refused in
                [open_unlinked(&path).err(), write_unlinked(&path).err(), check_unlinked(&path).err()]
            {
                assert!(refused.unwrap().to_string().contains("it is a link"), "{name}");
            }
        }
        assert!(!at("nowhere").exists());
        assert_eq!(read_unlinked(&at("file")).unwrap(), b"text");
        assert!(write_unlinked(&at("file")).is_ok() && check_unlinked(&at("missing")).is_ok());
        assert!(open_unlinked(at("pipe")).is_err() && write_unlinked(&at("pipe")).is_err());
        assert_eq!(read(at("file")).unwrap(), b"text");
        assert!(open(at("socket")).is_err());
        assert!(open(Path::new("/dev/null")).is_err());
        assert!(check(&at("file")).is_ok() && check(&at("missing")).is_ok() && check(&at("pipe")).is_err());
        assert!(open_named(Path::new("/dev/null")).is_ok());
        assert_eq!(open(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(open(at("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
