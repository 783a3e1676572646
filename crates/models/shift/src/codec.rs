//! Results as bytes: a line of JSON that names what follows, then the numbers, little-endian.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ShiftError;

/// Puts a result together.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new(header: &impl Serialize) -> Self {
        let mut bytes = serde_json::to_vec(header).unwrap_or_default();
        bytes.push(b'\n');
        Self(bytes)
    }

    pub(crate) fn f64s(&mut self, values: &[f64]) -> &mut Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    pub(crate) fn f32s(&mut self, values: &[f32]) -> &mut Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes a result apart.
pub(crate) struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new<H: DeserializeOwned>(
        what: &'static str,
        bytes: &'a [u8],
    ) -> Result<(H, Self), ShiftError> {
        let end = bytes.iter().take(4096).position(|byte| *byte == b'\n').ok_or_else(|| {
            ShiftError::Corrupt { what, why: "it does not begin with a line of JSON".to_owned() }
        })?;
        let header = serde_json::from_slice(&bytes[..end])
            .map_err(|error| ShiftError::Corrupt { what, why: error.to_string() })?;
        Ok((header, Self { what, bytes: &bytes[end + 1..] }))
    }

    pub(crate) fn corrupt(&self, why: &str) -> ShiftError {
        ShiftError::Corrupt { what: self.what, why: why.to_owned() }
    }

    fn take(&mut self, count: usize, size: usize) -> Result<&'a [u8], ShiftError> {
        let length = count.checked_mul(size).filter(|length| *length <= self.bytes.len());
        let Some(length) = length else {
            return Err(self.corrupt("it is cut off"));
        };
        let (part, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        Ok(part)
    }

    pub(crate) fn f64s(&mut self, count: usize) -> Result<Vec<f64>, ShiftError> {
        let (words, _) = self.take(count, 8)?.as_chunks::<8>();
        Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect())
    }

    pub(crate) fn f32s(&mut self, count: usize) -> Result<Vec<f32>, ShiftError> {
        let (words, _) = self.take(count, 4)?.as_chunks::<4>();
        Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }

    pub(crate) fn end(&self) -> Result<(), ShiftError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.corrupt("it holds more bytes than it says")) }
    }
}
