//! The metadata of an embedding file as Parquet keeps them.

use std::path::Path;

use parquet::file::metadata::KeyValue;

use super::StoreError;
use crate::input::InputForm;
use crate::metadata::Metadata;

const PREFIX: &str = "sqlgauge.";
const EXTRA: &str = "extra.";
const DIMENSIONS: &str = "dimensions";

impl Metadata {
    /// The key-value pairs of a file with vectors of that many components.
    pub(super) fn to_pairs(&self, dimensions: usize) -> Vec<KeyValue> {
        let pair = |key: &str, value: String| KeyValue::new(format!("{PREFIX}{key}"), value);
        let mut pairs = vec![
            pair("encoder", self.encoder.clone()),
            pair("fingerprint", self.fingerprint.clone()),
            pair("version", env!("CARGO_PKG_VERSION").to_owned()),
            pair("source_digest", self.source_digest.clone()),
            pair(DIMENSIONS, dimensions.to_string()),
        ];
        pairs.extend(self.form.map(|form| pair("form", form.name().to_owned())));
        pairs.extend(
            self.dimension_names
                .as_ref()
                .map(|names| pair("dimension_names", serde_json::Value::from(names.as_slice()).to_string())),
        );
        pairs.extend(self.extra.iter().map(|(key, value)| pair(&format!("{EXTRA}{key}"), value.clone())));
        pairs
    }

    /// Reads the pairs of a file, and the number of components where they say it.
    pub(super) fn of_pairs(path: &Path, pairs: &[KeyValue]) -> Result<(Self, Option<usize>), StoreError> {
        let mut metadata = Self::default();
        let mut dimensions = None;
        for pair in pairs {
            let Some(key) = pair.key.strip_prefix(PREFIX) else { continue };
            let value = pair.value.clone().unwrap_or_default();
            let invalid = || StoreError::Metadata {
                path: path.to_owned(),
                key: pair.key.clone(),
                value: value.chars().take(80).collect(),
            };
            match key {
                "encoder" => metadata.encoder = value,
                "fingerprint" => metadata.fingerprint = value,
                "version" => metadata.version = value,
                "source_digest" => metadata.source_digest = value,
                "form" => metadata.form = Some(InputForm::from_name(&value).ok_or_else(invalid)?),
                "dimension_names" => {
                    metadata.dimension_names = Some(serde_json::from_str(&value).map_err(|_| invalid())?);
                }
                DIMENSIONS => {
                    dimensions = Some(value.parse().ok().filter(|&n| n > 0).ok_or_else(invalid)?);
                }
                _ => {
                    if let Some(key) = key.strip_prefix(EXTRA) {
                        metadata.extra.insert(key.to_owned(), value);
                    }
                }
            }
        }
        Ok((metadata, dimensions))
    }
}
