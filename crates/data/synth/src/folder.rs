//! The folder of a corpus.
//!
//! # Contract
//! ```text
//! corpus/
//!   README.md                          the data card
//!   synth.json                         what it was made from, and the counts
//!   tables.jsonl                       how the databases were made, where they were made of loose tables
//!   databases/DB/DB.sqlite             the databases that the queries run on, if they are files
//!   data/train-00000-of-00007.jsonl    the pairs, a line each; or .parquet, or both
//!   data/related-00000-of-00001.jsonl  variants and near misses, where there are any; the same
//! ```
//! While it is being made there is `units/` instead of `data/`: a file of pairs and a file of counts for every database that
//! is done. `synth.lock` is held by the process that writes. A folder with a corpus of other options is refused, never mixed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sqlgauge_base::file::{self, AtomicFile, PARTIAL, lock, write_atomically};
use sqlgauge_base::regular;
use sqlgauge_base::server::is_address;

use crate::corpus::{CorpusHeader, CorpusSummary};
use crate::data::{DataFormat, FieldColumn};
use crate::pair::SynthPair;
use crate::related::Related;
use crate::source::CorpusSource;
use crate::tally::CorpusTally;
use crate::unit::Unmet;

/// The version of what is written.
pub const FORMAT_VERSION: u32 = 3;
const LOCK: &str = "synth.lock";
const MANIFEST: &str = "synth.json";
const CARD: &str = "README.md";
const UNITS: &str = "units";
const HEADER: &str = "header.json";
/// The databases of a corpus that are later versions of another, a line each; the caller that made them writes it.
pub const VERSIONS: &str = "schemas.jsonl";
/// How the file of a unit ends that holds the related queries.
const RELATED: &str = "related.jsonl";
/// The decisions about loose tables; the caller that made databases of them writes it.
const TABLES: &str = "tables.jsonl";
const DATA: &str = "data";
const DATABASES: &str = "databases";

/// Why a corpus cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file that cannot be written.
    #[error("{} cannot be written ({source}): {}", path.display(), sqlgauge_base::file::remedy(source))]
    Write {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of an earlier run that cannot be read.
    #[error("{} cannot be read ({message}): remove the corpus and run again", path.display())]
    Read {
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Another process is writing.
    #[error("another process is writing {}; wait for it, or choose another --out", path.display())]
    Locked { path: PathBuf },
    /// The folder is of other options, or of something else.
    #[error("{} holds a corpus of other options, or other files; choose another --out, or remove it", path.display())]
    Occupied { path: PathBuf },
}

/// What is known of one database when it is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// Its counts.
    pub tally: CorpusTally,
    /// What it could not give.
    pub unmet: Unmet,
    /// Tables that no query reads, and why.
    pub left_out: Vec<(String, String)>,
}

/// `synth.json`: what a corpus is made from, and its counts.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorpusManifest {
    /// What the corpus is made from.
    #[serde(flatten)]
    pub header: CorpusHeader,
    /// The counts.
    pub tally: CorpusTally,
    /// Pairs that no database could give, by tier.
    pub unmet: Unmet,
    /// Databases and tables that nothing was made of, and why.
    pub left_out: Vec<String>,
}

/// What is written of the units into files of one name.
struct Split {
    name: &'static str,
    /// How the files of the units end.
    extension: &'static str,
    records: u64,
    columns: &'static [FieldColumn],
}

/// The folder while it is being made.
pub(crate) struct Folder {
    root: PathBuf,
    header: CorpusHeader,
    is_finished: bool,
    _lock: File,
}

/// The pairs of one database while they are being made.
pub(crate) struct UnitWriter {
    pairs: AtomicFile,
    pairs_path: PathBuf,
    related: AtomicFile,
    related_path: PathBuf,
    unit_path: PathBuf,
}

impl Folder {
    /// Opens a folder to continue it, or begins it.
    ///
    /// # Errors
    /// When it holds something else, another process writes it, or it cannot be made.
    pub(crate) fn open(root: PathBuf, header: CorpusHeader) -> Result<Self, FolderError> {
        fs::create_dir_all(&root).map_err(at(&root))?;
        let path = root.join(LOCK);
        let foreign = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| {
                let name = entry.file_name();
                // What a killed process was preparing is ours too; the next file that is written here takes it away.
                ![LOCK, MANIFEST, CARD, UNITS, DATA, DATABASES, TABLES, VERSIONS]
                    .iter()
                    .any(|file| name == *file)
                    && !name.to_string_lossy().ends_with(PARTIAL)
            })
        };
        let is_foreign = fs::read_dir(&root).map_err(at(&root))?.any(foreign);
        let has_own = root.join(MANIFEST).exists() || root.join(UNITS).exists();
        let is_filled =
            fs::read_dir(&root).map_err(at(&root))?.any(|entry| entry.is_ok_and(|e| e.file_name() != LOCK));
        if is_foreign || (is_filled && !has_own) {
            return Err(FolderError::Occupied { path: root });
        }
        let lock = lock(&path).map_err(at(&path))?;
        let lock = lock.ok_or_else(|| FolderError::Locked { path: root.clone() })?;
        let units = root.join(UNITS);
        let own_header = units.join(HEADER);
        let is_finished = root.join(MANIFEST).exists();
        let earlier: Option<CorpusHeader> = if is_finished {
            Some(read_json::<CorpusManifest>(&root.join(MANIFEST))?.header)
        } else if own_header.exists() {
            Some(read_json(&own_header)?)
        } else {
            None
        };
        if earlier.is_some_and(|earlier| earlier != header) {
            return Err(FolderError::Occupied { path: root });
        }
        if !is_finished {
            fs::create_dir_all(&units).map_err(at(&units))?;
            write_json(&own_header, &header)?;
        } else if units.exists() {
            // The manifest is written last: all that was left to do is this.
            fs::remove_dir_all(&units).map_err(at(&units))?;
        }
        Ok(Self { root, header, is_finished, _lock: lock })
    }

    /// What the corpus is made from.
    pub(crate) fn header(&self) -> &CorpusHeader {
        &self.header
    }

    /// What is known of a database that is done.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub(crate) fn unit(&self, db_id: &str) -> Result<Option<Unit>, FolderError> {
        let path = self.unit_path(db_id, "json");
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// The summary of a corpus that is finished already.
    ///
    /// # Errors
    /// When its manifest cannot be read.
    pub(crate) fn finished(&self) -> Result<Option<CorpusSummary>, FolderError> {
        if !self.is_finished {
            return Ok(None);
        }
        let manifest: CorpusManifest = read_json(&self.root.join(MANIFEST))?;
        let CorpusManifest { header, tally, unmet, left_out } = manifest;
        Ok(Some(CorpusSummary { tally, unmet, databases: header.databases.len(), left_out }))
    }

    fn unit_path(&self, db_id: &str, extension: &str) -> PathBuf {
        self.root.join(UNITS).join(format!("{db_id}.{extension}"))
    }

    /// Begins the pairs of a database.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub(crate) fn begin(&self, db_id: &str) -> Result<UnitWriter, FolderError> {
        let pairs_path = self.unit_path(db_id, "jsonl");
        let pairs = AtomicFile::create(&pairs_path).map_err(at(&pairs_path))?;
        let related_path = self.unit_path(db_id, RELATED);
        let related = AtomicFile::create(&related_path).map_err(at(&related_path))?;
        Ok(UnitWriter { pairs, pairs_path, related, related_path, unit_path: self.unit_path(db_id, "json") })
    }

    /// Puts everything in its place and takes the units away.
    ///
    /// # Errors
    /// When something cannot be written; the units are still there then, and the next run goes on.
    pub(crate) fn finish(
        &self,
        sources: &[&CorpusSource],
        pairs_per_file: u64,
        summary: &CorpusSummary,
        card: &str,
    ) -> Result<(), FolderError> {
        self.copy_databases(sources)?;
        let pairs = Split {
            name: "train",
            extension: "jsonl",
            records: summary.tally.pairs,
            columns: SynthPair::COLUMNS,
        };
        let related = Split {
            name: "related",
            extension: RELATED,
            records: summary.tally.related.values().sum(),
            columns: Related::COLUMNS,
        };
        for &format in &self.header.data {
            self.write_data(sources, pairs_per_file, &pairs, format)?;
            if related.records > 0 {
                self.write_data(sources, pairs_per_file, &related, format)?;
            }
        }
        let path = self.root.join(CARD);
        write_atomically(&path, |out| out.write_all(card.as_bytes())).map_err(at(&path))?;
        let manifest = CorpusManifest {
            header: self.header.clone(),
            tally: summary.tally.clone(),
            unmet: summary.unmet,
            left_out: summary.left_out.clone(),
        };
        write_json(&self.root.join(MANIFEST), &manifest)?;
        let units = self.root.join(UNITS);
        fs::remove_dir_all(&units).map_err(at(&units))
    }

    fn copy_databases(&self, sources: &[&CorpusSource]) -> Result<(), FolderError> {
        for CorpusSource { db_id, path } in sources.iter().filter(|source| !is_address(&source.path)) {
            let folder = self.root.join(DATABASES).join(db_id);
            let target = folder.join(format!("{db_id}.sqlite"));
            let is_there = fs::metadata(&target)
                .is_ok_and(|there| fs::metadata(path).is_ok_and(|source| source.len() == there.len()));
            if is_there {
                continue;
            }
            fs::create_dir_all(&folder).map_err(at(&folder))?;
            let mut file = regular::open(path)
                .map_err(|error| FolderError::Read { path: path.clone(), message: error.to_string() })?;
            write_atomically(&target, |out| io::copy(&mut file, out).map(drop)).map_err(at(&target))?;
        }
        Ok(())
    }

    /// The units, one after the other, cut into files.
    fn write_data(
        &self,
        sources: &[&CorpusSource],
        pairs_per_file: u64,
        split: &Split,
        format: DataFormat,
    ) -> Result<(), FolderError> {
        let folder = self.root.join(DATA);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let files = split.records.div_ceil(pairs_per_file).max(1);
        let part = if self.header.shard == "1/1" {
            String::new()
        } else {
            self.header.shard.replace('/', "of") + "-"
        };
        let (name, extension) = (split.name, format.name());
        let path = |number: u64| folder.join(format!("{name}-{part}{number:05}-of-{files:05}.{extension}"));
        let create = |number: u64| {
            let path = path(number);
            format.create(&path, split.columns).map_err(at(&path))
        };
        let (mut number, mut written) = (0, 0);
        let mut out = create(0)?;
        for CorpusSource { db_id, .. } in sources {
            let unit = self.unit_path(db_id, split.extension);
            let unreadable =
                |error: io::Error| FolderError::Read { path: unit.clone(), message: error.to_string() };
            for line in BufReader::new(regular::open(&unit).map_err(unreadable)?).split(b'\n') {
                let line = line.map_err(unreadable)?;
                if written == pairs_per_file {
                    (number, written) = (number + 1, 0);
                    std::mem::replace(&mut out, create(number)?).commit().map_err(at(&path(number - 1)))?;
                }
                out.push(&line).map_err(at(&path(number)))?;
                written += 1;
            }
        }
        out.commit().map_err(at(&path(number)))
    }
}

impl UnitWriter {
    /// Adds a pair and its related queries.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&mut self, pair: &SynthPair, related: &[Related]) -> Result<(), FolderError> {
        line(&mut self.pairs, pair).map_err(at(&self.pairs_path))?;
        let mut lines = related.iter().map(|related| line(&mut self.related, related));
        lines.try_for_each(|written| written).map_err(at(&self.related_path))
    }

    /// Puts pairs and counts in place, the counts last: a database with counts is done.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn commit(self, unit: &Unit) -> Result<(), FolderError> {
        AtomicFile::commit_all([self.pairs, self.related]).map_err(at(&self.pairs_path))?;
        write_json(&self.unit_path, unit)
    }
}

fn line(out: &mut AtomicFile, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    let unreadable = |message: String| FolderError::Read { path: path.to_owned(), message };
    let bytes = regular::read(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_owned();
    move |source| FolderError::Write { path, source }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    file::write_json(path, value).map_err(at(path))
}
