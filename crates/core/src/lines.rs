//! Files of JSON lines.

use std::io;
use std::path::Path;

use serde::Serialize;
use sqlgauge_base::file::write_atomically;

use crate::error::Error;

/// Writes a value a line, whole or not at all.
pub(crate) fn write_lines<T: Serialize>(path: &Path, values: &[T]) -> Result<(), Error> {
    let written = write_atomically(path, |out| {
        for value in values {
            serde_json::to_writer(&mut *out, value)?;
            out.write_all(b"\n")?;
        }
        Ok::<(), io::Error>(())
    });
    written.map_err(|source| Error::Unwritable { path: path.to_owned(), source })
}
