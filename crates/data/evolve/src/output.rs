//! The folder of one kind: filled database by database, put in place when it is whole.
//!
//! # Contract
//! While it is filled the folder's name ends in [`PARTIAL`]; a database that is done has a file in its folder `shards`. A run that
//! was broken off goes on with the databases that have none. The folder gets its name when all is in it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlgauge_base::file::{self, PARTIAL, write_atomically};
use sqlgauge_base::regular;

use crate::change::Change;
use crate::error::EvolveError;
use crate::layout::{ChangeRecord, ChangesHeader, SizeSpread, Statistics};
use crate::shard::Shard;

const CHANGES: &str = "changes.jsonl";
/// Where what is done is kept until all is.
const SHARDS: &str = "shards";
const HEADER: &str = "header.json";

/// A folder that is being filled, or is whole.
pub(crate) struct Folder {
    target: PathBuf,
    partial: PathBuf,
    header: ChangesHeader,
    /// The statistics of a folder that is whole.
    finished: Option<Statistics>,
}

impl Folder {
    /// Begins the folder, goes on with it, or finds it whole.
    ///
    /// # Errors
    /// When a folder of another command exists, or it cannot be made.
    pub(crate) fn open(target: &Path, header: ChangesHeader) -> Result<Self, EvolveError> {
        let mut name = target.as_os_str().to_owned();
        name.push(PARTIAL);
        let partial = PathBuf::from(name);
        let mut folder = Self { target: target.to_owned(), partial, header, finished: None };
        if target.exists() {
            folder.finished = Some(folder.whole()?);
            return Ok(folder);
        }
        let header_path = folder.partial.join(HEADER);
        let earlier = regular::read(&header_path)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<ChangesHeader>(&bytes).ok());
        if earlier.as_ref() != Some(&folder.header) {
            if folder.partial.exists() {
                fs::remove_dir_all(&folder.partial).map_err(at(&folder.partial))?;
            }
            fs::create_dir_all(&folder.partial).map_err(at(&folder.partial))?;
            write_json(&header_path, &folder.header)?;
        }
        // A run that was broken off while it cleaned up has a header and no shards: its databases are done again.
        let shards = folder.partial.join(SHARDS);
        fs::create_dir_all(&shards).map_err(at(&shards))?;
        Ok(folder)
    }

    /// The statistics of a folder of the same command.
    fn whole(&self) -> Result<Statistics, EvolveError> {
        let occupied = || EvolveError::Occupied { path: self.target.clone() };
        let text = regular::read_to_string(self.target.join(CHANGES)).map_err(|_| occupied())?;
        let record = |line: Option<&str>| serde_json::from_str::<ChangeRecord>(line?).ok();
        match (record(text.lines().next()), record(text.lines().last())) {
            (Some(ChangeRecord::Header(header)), Some(ChangeRecord::Statistics(statistics)))
                if header == self.header =>
            {
                Ok(statistics)
            }
            _ => Err(occupied()),
        }
    }

    /// Where the files of a database go.
    pub(crate) fn database(&self, db_id: &str) -> PathBuf {
        let folder = if self.finished.is_some() { &self.target } else { &self.partial };
        folder.join("database").join(db_id)
    }

    /// What was made of a database, if it is done.
    pub(crate) fn changes(&self, db_id: &str) -> Result<Option<Vec<Change>>, EvolveError> {
        if self.finished.is_none() {
            let path = self.shard(db_id);
            let shard: Option<Shard> = if path.exists() { Some(read_json(&path)?) } else { None };
            return Ok(shard.and_then(|shard| Some(shard.schemas.first()?.changes.clone())));
        }
        let path = self.target.join(CHANGES);
        let unreadable = |message: String| EvolveError::Read { path: path.clone(), message };
        let text = regular::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
        for line in text.lines() {
            match serde_json::from_str(line).map_err(|error| unreadable(error.to_string()))? {
                ChangeRecord::Schema(schema) if schema.source_db_id == db_id => {
                    return Ok(Some(schema.changes));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn shard(&self, db_id: &str) -> PathBuf {
        self.partial.join(SHARDS).join(format!("{db_id}.json"))
    }

    pub(crate) fn has(&self, db_id: &str) -> bool {
        self.finished.is_some() || self.shard(db_id).exists()
    }

    /// Keeps what was made of a database.
    pub(crate) fn keep(&self, db_id: &str, shard: &Shard) -> Result<(), EvolveError> {
        write_json(&self.shard(db_id), shard)
    }

    pub(crate) fn finish(self) -> Result<Statistics, EvolveError> {
        if let Some(statistics) = self.finished {
            return Ok(statistics);
        }
        let mut shards = self.shards()?;
        let mut tables = Vec::new();
        let mut schemas = Vec::new();
        let mut items = Vec::new();
        let mut per_table = Vec::new();
        for shard in &mut shards {
            tables.append(&mut shard.tables);
            per_table.append(&mut shard.per_table);
            schemas.append(&mut shard.schemas);
            items.append(&mut shard.items);
        }
        items.sort_by_key(|(record, _)| record.source_index);
        let statistics = statistics(&items, &per_table);
        let written: Vec<_> = items.iter().filter_map(|(_, item)| item.as_ref()).collect();
        write_json(&self.partial.join("dev.json"), &written)?;
        write_json(&self.partial.join("tables.json"), &tables)?;
        let records = std::iter::once(ChangeRecord::Header(self.header.clone()))
            .chain(schemas.into_iter().map(|schema| ChangeRecord::Schema(Box::new(schema))))
            .chain(items.iter().map(|(record, _)| ChangeRecord::Item(record.clone())))
            .chain([ChangeRecord::Statistics(statistics.clone())]);
        let path = self.partial.join(CHANGES);
        write_atomically(&path, |out| {
            for record in records {
                serde_json::to_writer(&mut *out, &record)?;
                out.write_all(b"\n")?;
            }
            Ok::<(), io::Error>(())
        })
        .map_err(at(&path))?;
        let shards = self.partial.join(SHARDS);
        fs::remove_dir_all(&shards).map_err(at(&shards))?;
        let header_path = self.partial.join(HEADER);
        fs::remove_file(&header_path).map_err(at(&header_path))?;
        fs::rename(&self.partial, &self.target).map_err(at(&self.target))?;
        Ok(statistics)
    }

    /// What was kept, in the order of the names.
    fn shards(&self) -> Result<Vec<Shard>, EvolveError> {
        let folder = self.partial.join(SHARDS);
        let entries = fs::read_dir(&folder).map_err(at(&folder))?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths.iter().map(|path| read_json(path)).collect()
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, EvolveError> {
    let unreadable = |message: String| EvolveError::Read { path: path.to_owned(), message };
    let bytes = regular::read(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> EvolveError {
    let path = path.to_owned();
    move |source| EvolveError::Write { path, source }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), EvolveError> {
    file::write_json(path, value).map_err(at(path))
}

type Item = (crate::layout::ItemRecord, Option<crate::layout::EvolvedItem>);

fn statistics(items: &[Item], per_table: &[usize]) -> Statistics {
    let mut not_written = BTreeMap::new();
    for reason in items.iter().filter_map(|(record, _)| record.reason) {
        *not_written.entry(reason).or_insert(0) += 1;
    }
    let written = items.iter().filter(|(record, _)| record.written);
    let changed = written.clone().filter(|(record, _)| record.gold_changed);
    let ratio = |(_, item): &Item| {
        let item = item.as_ref().filter(|item| item.answerable)?;
        let before = item.source_query.chars().count();
        (before > 0).then(|| item.query.chars().count() as f64 / before as f64)
    };
    let per_query = written.clone().map(|(record, _)| record.manipulated).filter(|&count| count > 0);
    Statistics {
        written: written.clone().count(),
        not_written,
        golds_changed: changed.clone().count(),
        manipulated_per_table: SizeSpread::of(per_table.iter().map(|&count| count as f64).collect()),
        manipulated_per_query: SizeSpread::of(per_query.map(|count| count as f64).collect()),
        length_ratio: SizeSpread::of(changed.filter_map(ratio).collect()),
    }
}
