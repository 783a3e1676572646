//! Caches vectors by the content that they were computed from.
//!
//! The key of a vector is the SHA-256 of everything that it depends on: the encoder's fingerprint, the form, and the
//! parts of the item ([`Keys`]). Entries are in files that are only appended to, one per process, in one folder per
//! encoder; a killed run loses at most the record that it was writing. A record is key, components, and the first
//! eight bytes of the SHA-256 of both; one that does not check out is not there.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use sqlgauge_base::hex;
use sqlgauge_base::regular;
use sqlgauge_sql::schema::Schema;

use crate::input::{EncoderInput, InputForm};
use crate::render::RENDER_VERSION;

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cache {path}: {source}; check the folder, or run without a cache")]
pub struct CacheError {
    path: PathBuf,
    source: std::io::Error,
}

/// What a vector is found by.
pub type CacheKey = [u8; 32];

const CHECK: usize = 8;

/// The vectors of one encoder.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    dimensions: usize,
    /// Segment and position of each record's components.
    index: HashMap<CacheKey, (usize, u64)>,
    segments: Vec<File>,
    /// What this process appends to; the last segment. Made with the first vector.
    tail: Option<(File, u64)>,
}

impl Cache {
    /// Opens the part of the cache under `root` that belongs to an encoder, and makes it if it does not exist.
    ///
    /// # Errors
    /// When the folder or a file of it cannot be read.
    pub fn open(root: &Path, fingerprint: &str, dimensions: usize) -> Result<Self, CacheError> {
        let folder = root.join(&hex(&Sha256::digest(format!("{dimensions}\n{fingerprint}")))[..32]);
        let failed = |source| CacheError { path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mut names: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        names.retain(|path| path.extension().is_some_and(|extension| extension == "vectors"));
        names.sort();
        let mut cache = Self {
            folder: folder.clone(),
            dimensions,
            index: HashMap::new(),
            segments: Vec::new(),
            tail: None,
        };
        for name in names {
            cache.read_segment(&name).map_err(failed)?;
        }
        Ok(cache)
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Appends the vector of that key to `rows`; false if the cache does not have it.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn get(&self, key: &CacheKey, rows: &mut Vec<f32>) -> Result<bool, CacheError> {
        let Some(&(segment, position)) = self.index.get(key) else { return Ok(false) };
        let mut bytes = vec![0; self.dimensions * 4];
        let mut read = || {
            let mut reader = crate::positioned::at(&self.segments[segment], position)?;
            reader.read_exact(&mut bytes)
        };
        read().map_err(|source| CacheError { path: self.folder.clone(), source })?;
        rows.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        Ok(true)
    }

    /// Keeps vectors, each with its key. They are in the file when the call returns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put<'v>(
        &mut self,
        vectors: impl IntoIterator<Item = (CacheKey, &'v [f32])>,
    ) -> Result<(), CacheError> {
        let mut records = Vec::new();
        let mut keys = Vec::new();
        for (key, vector) in vectors {
            let start = records.len();
            records.extend_from_slice(&key);
            records.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
            let check = Sha256::digest(&records[start..]);
            records.extend_from_slice(&check[..CHECK]);
            keys.push((key, start as u64));
        }
        let path = self.folder.clone();
        self.append(&records, keys).map_err(|source| CacheError { path, source })
    }

    fn append(&mut self, records: &[u8], keys: Vec<(CacheKey, u64)>) -> std::io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        if self.tail.is_none() {
            let (file, reader) = new_segment(&self.folder)?;
            self.segments.push(reader);
            self.tail = Some((file, 0));
        }
        let segment = self.segments.len() - 1;
        if let Some((file, length)) = &mut self.tail {
            file.write_all(records)?;
            let start = *length;
            *length += records.len() as u64;
            self.index.extend(keys.into_iter().map(|(key, at)| (key, (segment, start + at + 32))));
        }
        Ok(())
    }

    fn read_segment(&mut self, path: &Path) -> std::io::Result<()> {
        let file = regular::open(path)?;
        let mut reader = BufReader::with_capacity(1 << 20, file.try_clone()?);
        let size = 32 + self.dimensions * 4 + CHECK;
        let mut record = vec![0; size];
        let mut position = 0;
        while reader.read_exact(&mut record).is_ok() {
            let (content, check) = record.split_at(size - CHECK);
            if Sha256::digest(content)[..CHECK] == *check
                && let Some(&key) = content.first_chunk::<32>()
            {
                self.index.insert(key, (self.segments.len(), position + 32));
            }
            position += size as u64;
        }
        self.segments.push(file);
        Ok(())
    }
}

/// A file that no other process appends to, for writing and for reading.
fn new_segment(folder: &Path) -> std::io::Result<(File, File)> {
    let mut number = 0_u64;
    loop {
        let path = folder.join(format!("{number:08}.vectors"));
        match OpenOptions::new().create_new(true).append(true).open(&path) {
            Ok(file) => return Ok((file, regular::open(path)?)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Makes keys of items; remembers the digests of schemas.
#[derive(Debug, Default)]
pub struct Keys {
    schemas: HashMap<usize, (Arc<Schema>, CacheKey)>,
}

impl Keys {
    /// The key of an item: everything that a vector may depend on but the encoder itself.
    pub fn key(&mut self, input: &EncoderInput, form: InputForm) -> CacheKey {
        let mut digest = Sha256::new();
        digest.update(RENDER_VERSION.to_le_bytes());
        digest.update(form.name());
        let prediction = input.prediction.as_deref().filter(|_| form.has_prediction());
        for part in [Some(input.question.as_str()), input.evidence.as_deref(), prediction] {
            // The length first: no two lists of parts have the same bytes.
            digest.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
            digest.update(part.unwrap_or_default());
        }
        if form.has_schema() {
            digest.update(self.schema(&input.schema));
        }
        digest.finalize().into()
    }

    fn schema(&mut self, schema: &Arc<Schema>) -> CacheKey {
        let entry = self.schemas.entry(Arc::as_ptr(schema) as usize);
        // The schema is kept: no other one can come to lie at its address.
        entry.or_insert_with(|| (Arc::clone(schema), digest_of(schema))).1
    }
}

/// The digest of a workload, in hexadecimal: of the ids, databases and contents of its items. Golds are no part of it.
pub fn digest(inputs: &[EncoderInput], form: InputForm) -> String {
    let mut keys = Keys::default();
    let mut digest = Sha256::new();
    for input in inputs {
        for name in [&input.id, &input.db_id] {
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name);
        }
        digest.update(keys.key(input, form));
    }
    hex(&digest.finalize())
}

fn digest_of(schema: &Schema) -> CacheKey {
    // A schema is a plain tree of named fields, which always has a JSON text.
    Sha256::digest(serde_json::to_vec(schema).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(question: &str, evidence: Option<&str>, prediction: Option<&str>, ddl: &str) -> EncoderInput {
        EncoderInput {
            id: "ignored".into(),
            db_id: "ignored".into(),
            question: question.into(),
            evidence: evidence.map(str::to_owned),
            schema: Arc::new(Schema::from_ddl(ddl).unwrap()),
            prediction: prediction.map(str::to_owned),
        }
    }

    #[test]
    fn every_part_of_an_item_changes_its_key() {
        let items = [
            input("ab", None, Some("c"), "CREATE TABLE t (x)"),
            input("a", Some("b"), Some("c"), "CREATE TABLE t (x)"),
            input("ab", None, None, "CREATE TABLE t (x)"),
            input("ab", Some(""), Some("c"), "CREATE TABLE t (x)"),
            input("ab", None, Some("c"), "CREATE TABLE t (x INT)"),
        ];
        let mut keys = Keys::default();
        let mut cache_keys: Vec<CacheKey> =
            items.iter().map(|item| keys.key(item, InputForm::QuestionSchemaPrediction)).collect();
        cache_keys.push(keys.key(&items[0], InputForm::QuestionSchema));
        assert_eq!(
            keys.key(&items[2], InputForm::QuestionSchema),
            cache_keys[5],
            "the prediction is no part of the form"
        );
        let distinct: std::collections::HashSet<&CacheKey> = cache_keys.iter().collect();
        assert_eq!(distinct.len(), cache_keys.len());
    }

    #[test]
    fn vectors_are_found_again_and_damaged_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let open = |fingerprint| Cache::open(folder.path(), fingerprint, 2).unwrap();
        let (mut one, mut two) = (open("f"), open("f"));
        one.put([([1; 32], &[1.0, 2.0][..]), ([2; 32], &[3.0, 4.0])]).unwrap();
        two.put([([3; 32], &[5.0, 6.0][..])]).unwrap();
        one.put([([4; 32], &[7.0, 8.0][..])]).unwrap();
        let get = |cache: &Cache, key: u8| {
            let mut row = Vec::new();
            cache.get(&[key; 32], &mut row).unwrap().then_some(row)
        };
        assert_eq!((get(&one, 4), get(&one, 3)), (Some(vec![7.0, 8.0]), None));
        let again = open("f");
        assert_eq!((1..5).map(|key| get(&again, key).unwrap()[0]).collect::<Vec<_>>(), [1.0, 3.0, 5.0, 7.0]);
        assert!(open("g").is_empty());
        // The second record of the first file is changed, the third is cut off.
        let file = again.folder.join("00000000.vectors");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[48 + 33] ^= 1;
        bytes.truncate(bytes.len() - 1);
        std::fs::write(&file, bytes).unwrap();
        let again = open("f");
        assert_eq!([1, 2, 3, 4].map(|key| get(&again, key).is_some()), [true, false, true, false]);
    }
}
