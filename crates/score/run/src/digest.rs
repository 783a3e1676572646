//! SHA-256 of the inputs of a run; XXH3 of what it writes itself.

use std::collections::HashMap;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use sqlgauge_base::{hex, regular};
use sqlgauge_engine::sha256_of;
use twox_hash::XxHash3_64;

use crate::error::RunError;
use crate::record::InputRecord;

/// Most bytes of a file that a record names; a file of holes may have any length. The largest database of a benchmark takes 5 GB.
const MOST_RECORDED: u64 = 64 << 30;

/// SHA-256 of a file as lower-case hex, read in pieces of constant size.
///
/// # Errors
/// When the file cannot be read.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    sha256_of(regular::open_named(path)?)
}

/// The file that a record names, if it is still the one that was read: a regular file with the recorded hash. A relative path is one from
/// the working directory, or from a folder above `run`.
///
/// The record may be somebody else's and name any file. Nothing of another file is read for more than its hash, and none that never ends.
///
/// # Errors
/// Why it is not, as the rest of a sentence about the path.
pub fn recorded_file(run: &Path, input: &InputRecord) -> Result<PathBuf, String> {
    let path = PathBuf::from(&input.path);
    let why = match sha256_of_recorded(&path) {
        Ok(sha256) if sha256 == input.sha256 => return Ok(path),
        Ok(_) => "has changed since the run".to_owned(),
        Err(error) => format!("cannot be read ({error})"),
    };
    let is_it = |path: &PathBuf| sha256_of_recorded(path).is_ok_and(|sha256| sha256 == input.sha256);
    let above = if path.is_relative() { std::fs::canonicalize(run).ok() } else { None };
    let mut elsewhere = above.iter().flat_map(|run| run.ancestors().skip(1)).map(|above| above.join(&path));
    elsewhere.find(is_it).ok_or(why)
}

fn sha256_of_recorded(path: &Path) -> io::Result<String> {
    let file = regular::open(path)?;
    // What the system says is all: a file of /proc has a length of 0, and waits or goes on for ever.
    let length = file.metadata()?.len();
    if length > MOST_RECORDED {
        let message =
            format!("it holds more than {MOST_RECORDED} bytes, the most that is read of a recorded file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    sha256_of(file.take(length))
}

/// XXH3 (64 bits) of all that a reader has. It tells damage and stale files, not forgeries, and takes no longer than
/// reading: pieces are small enough to stay in the processor's cache.
///
/// # Errors
/// When it cannot be read.
pub fn xxh3_of(reader: &mut impl Read) -> io::Result<u64> {
    let mut hasher = XxHash3_64::with_seed(0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(count) => hasher.write(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// SHA-256 of bytes as lower-case hex.
pub fn sha256_of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The inputs of a run with their digests, in the order given; a file that is given in several roles is
/// read once. Works in parallel.
///
/// # Errors
/// [`RunError::Unreadable`] with the first file, in the order given, that cannot be read.
pub fn digest_inputs(files: &[(String, PathBuf)]) -> Result<Vec<InputRecord>, RunError> {
    let mut distinct: Vec<&Path> = files.iter().map(|(_, path)| path.as_path()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let digests: HashMap<&Path, io::Result<String>> =
        distinct.into_par_iter().map(|path| (path, sha256_of_file(path))).collect();
    let input = |(role, path): &(String, PathBuf)| match &digests[path.as_path()] {
        Ok(sha256) => {
            Ok(InputRecord { role: role.clone(), path: path.display().to_string(), sha256: sha256.clone() })
        }
        Err(error) => {
            let source = io::Error::new(error.kind(), error.to_string());
            Err(RunError::Unreadable { path: path.clone(), source })
        }
    };
    files.iter().map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_standards_and_a_missing_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let inputs =
            digest_inputs(&[("gold".into(), path.clone()), ("tables".into(), path.clone())]).unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(inputs.iter().map(|i| i.sha256.as_str()).collect::<Vec<_>>(), [expected, expected]);
        assert_eq!(inputs[1].role, "tables");

        let missing = folder.path().join("nowhere");
        let error = digest_inputs(&[("gold".into(), path), ("tables".into(), missing)]).unwrap_err();
        assert!(error.to_string().contains("nowhere"), "{error}");
    }

    /// The file of a record is opened only as what was read: not a device, a pipe, a file of the system or of another content.
    #[test]
    fn a_record_names_only_the_file_that_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let of = |path: &Path| InputRecord {
            role: "database:d".into(),
            path: path.display().to_string(),
            sha256: sha256_of_bytes(b"abc"),
        };
        std::fs::write(at("abc"), "abc").unwrap();
        std::fs::create_dir_all(at("runs/r")).unwrap();
        assert_eq!(recorded_file(&at("runs/r"), &of(&at("abc"))).unwrap(), at("abc"));
        let above = recorded_file(&at("runs/r"), &of(Path::new("abc"))).unwrap();
        assert_eq!(std::fs::read(above).unwrap(), b"abc");
        std::fs::write(at("changed"), "abcd").unwrap();
        std::fs::File::create(at("holes")).unwrap().set_len(MOST_RECORDED + 1).unwrap();
        let mut refused = vec![at("changed"), at("missing"), at("runs"), at("holes")];
        #[cfg(unix)]
        {
            assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
            std::os::unix::fs::symlink("/dev/zero", at("link")).unwrap();
            refused.extend([at("pipe"), at("link")]);
            refused.extend(["/dev/zero", "/dev/stdin", "/dev/fd/0", "/proc/self/mem"].map(PathBuf::from));
        }
        for path in refused {
            assert!(recorded_file(&at("runs/r"), &of(&path)).is_err(), "{}", path.display());
        }
    }
}
