//! Identifies a model by the content of its files.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use sqlgauge_base::regular;

use super::error::NeuralError;
use super::weights::io;
use sqlgauge_base::hex;

/// Bytes read at a time.
const BUFFER: usize = 1 << 20;

/// SHA-256 in hexadecimal over `settings` and, for each file, its name, its length and its content, streamed.
pub(crate) fn fingerprint(settings: &str, files: &[impl AsRef<Path>]) -> Result<String, NeuralError> {
    let mut hash = Sha256::new();
    update_framed(&mut hash, settings.as_bytes());
    let mut buffer = vec![0; BUFFER];
    for path in files.iter().map(AsRef::as_ref) {
        update_framed(&mut hash, path.file_name().unwrap_or_default().as_encoded_bytes());
        let fail = |source| io(path, source);
        let mut file = regular::open(path).map_err(fail)?;
        hash.update(file.metadata().map_err(fail)?.len().to_le_bytes());
        loop {
            let read = file.read(&mut buffer).map_err(fail)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
        }
    }
    Ok(hex(&hash.finalize()))
}

/// A piece with its length before it, so that no two lists of pieces give the same bytes.
fn update_framed(hash: &mut Sha256, piece: &[u8]) {
    hash.update((piece.len() as u64).to_le_bytes());
    hash.update(piece);
}
