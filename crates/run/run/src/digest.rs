//! SHA-256 of the inputs of a run; XXH3 of what it writes itself.

use std::collections::HashMap;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use sqlgauge_base::{hex, regular};
use twox_hash::XxHash3_64;

use crate::error::RunError;
use crate::record::InputRecord;

/// SHA-256 of a file as lower-case hex, read in pieces of constant size.
///
/// # Errors
/// When the file cannot be read.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = regular::open_named(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
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
}
