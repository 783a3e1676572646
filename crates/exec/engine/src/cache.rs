//! Executions of gold queries, shared by all systems of a run.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::database::Database;
use crate::engine::{Engine, EngineError};
use crate::kept_golds::KeptGolds;
use crate::limits::Limits;
use crate::outcome::{Execution, Outcome};
use crate::value::{ResultSet, Value};

const SHARDS: usize = 16;

/// A bounded cache of executions, keyed by the content hash of the database and the SQL text.
///
/// Two threads that ask for one key at once share one execution. When the results take more than the bound,
/// those that were asked for the longest ago are forgotten, until they take half of it.
#[derive(Debug)]
pub struct GoldCache {
    max_shard_bytes: usize,
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    store: Option<KeptGolds>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    content_hash: Arc<str>,
    sql: Box<str>,
}

#[derive(Debug, Default)]
struct Shard {
    entries: HashMap<Key, Entry>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    execution: Arc<OnceLock<Execution>>,
    last_use: u64,
    /// 0 until the execution is done.
    bytes: usize,
}

impl GoldCache {
    /// A cache that holds results of at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_shard_bytes: max_bytes / SHARDS,
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| Mutex::default()),
            store: None,
        }
    }

    /// The same, with results that outlive the process: in a folder, for an engine with those limits.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn kept_in(self, folder: &Path, limits: &Limits) -> io::Result<Self> {
        Ok(Self { store: Some(KeptGolds::open(folder, limits)?), ..self })
    }

    /// The execution of `sql` on `database`: a remembered one, or a new one by `engine`.
    ///
    /// # Errors
    /// When the database file cannot be read for its content hash.
    pub fn run(&self, engine: &dyn Engine, database: &Database, sql: &str) -> Result<Execution, EngineError> {
        let key = Key { content_hash: Arc::clone(database.shared_hash()?), sql: sql.into() };
        #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash choose a shard")]
        let shard = &self.shards[self.hasher.hash_one(&key) as usize % SHARDS];
        let cell = lock(shard).cell(&key);
        let mut is_new = false;
        let execution = cell
            .get_or_init(|| {
                is_new = true;
                self.kept_or_run(engine, database, &key)
            })
            .clone();
        if is_new {
            lock(shard).account(&key, size_of_execution(&execution, sql), self.max_shard_bytes);
        }
        Ok(execution)
    }
}

impl GoldCache {
    fn kept_or_run(&self, engine: &dyn Engine, database: &Database, key: &Key) -> Execution {
        let Key { content_hash, sql } = key;
        let Some(store) = &self.store else { return engine.run(database, sql) };
        store.get(engine, content_hash, sql).unwrap_or_else(|| {
            let execution = engine.run(database, sql);
            store.put(engine, content_hash, sql, &execution);
            execution
        })
    }
}

fn lock(shard: &Mutex<Shard>) -> std::sync::MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shard {
    /// The cell of that key, made if it is not there.
    fn cell(&mut self, key: &Key) -> Arc<OnceLock<Execution>> {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.last_use = self.clock;
            return Arc::clone(&entry.execution);
        }
        let execution = Arc::default();
        let entry = Entry { execution: Arc::clone(&execution), last_use: self.clock, bytes: 0 };
        self.entries.insert(key.clone(), entry);
        execution
    }

    /// Notes the size of a finished execution and forgets old ones until the shard is within its bound.
    fn account(&mut self, key: &Key, bytes: usize, max_bytes: usize) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.bytes = bytes;
            self.bytes += bytes;
        }
        if self.bytes <= max_bytes {
            return;
        }
        // Half of them at once: one by one, every execution of a long run would look at all that are remembered.
        let mut finished: Vec<(u64, Key)> = self
            .entries
            .iter()
            .filter(|(_, e)| e.bytes > 0)
            .map(|(key, e)| (e.last_use, key.clone()))
            .collect();
        finished.sort_unstable_by_key(|(last_use, _)| *last_use);
        for (_, key) in finished {
            if self.bytes <= max_bytes / 2 {
                break;
            }
            if let Some(forgotten) = self.entries.remove(&key) {
                self.bytes -= forgotten.bytes;
            }
        }
    }
}

/// What the allocator adds to each piece of memory, its rounding included.
const PER_PIECE: usize = 16;

/// Bytes that a remembered execution holds, bookkeeping included.
fn size_of_execution(execution: &Execution, sql: &str) -> usize {
    let piece = |bytes: usize| bytes + PER_PIECE;
    let result = match &execution.outcome {
        Outcome::Rows(rows) => {
            let columns: usize =
                rows.columns.iter().map(|name| size_of::<String>() + piece(name.len())).sum();
            let texts = rows.values().iter().map(|value| match value {
                Value::Text(bytes) | Value::Blob(bytes) => piece(bytes.len()),
                Value::Decimal(decimal) => piece(decimal.as_str().len()),
                Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            });
            let values = piece(size_of_val(rows.values())) + texts.sum::<usize>();
            piece(size_of::<ResultSet>()) + piece(columns) + values
        }
        Outcome::Failed(failure) => piece(failure.message.len()),
    };
    // A table of hashes is half full just after it has grown.
    let place = 2 * (size_of::<Key>() + size_of::<Entry>());
    place + piece(sql.len()) + piece(size_of::<OnceLock<Execution>>()) + result
}
