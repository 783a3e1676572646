//! The bundled sample benchmark: two small databases, 41 questions, and the answers of three systems. All of it is made up.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use sqlgauge_base::file::write_atomically;
use sqlgauge_base::regular;
use sqlgauge_engine::Limits;
use tempfile::TempDir;

use crate::error::Error;
use crate::score::{ScoreJob, System};
use crate::settings::metrics_of;
use crate::source::Source;

const FILES: &[(&str, &str)] = &[
    ("tables.json", include_str!("../sample/tables.json")),
    ("questions.json", include_str!("../sample/questions.json")),
    ("predictions/baseline.jsonl", include_str!("../sample/predictions/baseline.jsonl")),
    ("predictions/careful.jsonl", include_str!("../sample/predictions/careful.jsonl")),
    ("predictions/chatty.jsonl", include_str!("../sample/predictions/chatty.jsonl")),
];

const DATABASES: &[(&str, &str)] = &[
    ("bike_rental", include_str!("../sample/databases/bike_rental.sql")),
    ("town_library", include_str!("../sample/databases/town_library.sql")),
];

/// The systems, the best first.
const SYSTEMS: [&str; 3] = ["careful", "baseline", "chatty"];

/// Where the files of the sample are.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The questions with their golds.
    pub questions: PathBuf,
    /// The folder of the databases.
    pub databases: PathBuf,
    /// The schema file.
    pub tables: PathBuf,
    /// Name and answers of each system.
    pub predictions: Vec<(String, PathBuf)>,
}

impl Sample {
    /// Writes the sample. What is there already is left alone, so that an interrupted call can go on.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let sample = sqlgauge_core::Sample::unpack(folder.path())?;
    /// assert!(sample.database("bike_rental").is_file());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotTheSample`] if a file is there that differs; [`Error::Unwritable`].
    pub fn unpack(folder: &Path) -> Result<Self, Error> {
        for (name, text) in FILES {
            let path = folder.join(name);
            if regular::read(&path).is_ok_and(|bytes| bytes != text.as_bytes()) {
                return Err(Error::NotTheSample(path));
            }
            write(&path, text.as_bytes())?;
        }
        let sample = Self {
            questions: folder.join("questions.json"),
            databases: folder.join("database"),
            tables: folder.join("tables.json"),
            predictions: SYSTEMS
                .map(|name| (name.to_owned(), folder.join(format!("predictions/{name}.jsonl"))))
                .to_vec(),
        };
        for (db_id, script) in DATABASES {
            let path = sample.database(db_id);
            if !path.exists() {
                write(&path, &database(script)?)?;
            }
        }
        Ok(sample)
    }

    /// Limits of its queries: one of the answers never ends, so each may take a second.
    pub fn limits() -> Limits {
        Limits { timeout: Duration::from_secs(1), ..Limits::default() }
    }

    /// The job that scores all systems of the sample with the metrics of those names.
    ///
    /// # Errors
    /// When there is no such metric.
    pub fn score_job(&self, metrics: &[&str], out: impl Into<PathBuf>) -> Result<ScoreJob, Error> {
        let systems = self.predictions.iter().map(|(name, path)| System::new(name, path.as_path()));
        Ok(ScoreJob {
            tables: Some(Source::from(self.tables.as_path())),
            limits: Self::limits(),
            ..ScoreJob::new(
                Source::from(self.questions.as_path()),
                self.databases.clone(),
                systems.collect(),
                metrics_of(metrics.iter().copied())?,
                out.into(),
            )
        })
    }

    /// The file of a database.
    pub fn database(&self, db_id: &str) -> PathBuf {
        self.databases.join(format!("{db_id}/{db_id}.sqlite"))
    }

    /// The answers of a system.
    pub fn predictions_of(&self, system: &str) -> Option<&Path> {
        self.predictions.iter().find(|(name, _)| name == system).map(|(_, path)| path.as_path())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let unwritable = |source| Error::Unwritable { path: path.to_owned(), source };
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(unwritable)?;
    write_atomically(path, |out| out.write_all(bytes)).map_err(unwritable)
}

/// The bytes of the database that a script makes.
fn database(script: &str) -> Result<Vec<u8>, Error> {
    let unwritable = |source| Error::Unwritable { path: std::env::temp_dir(), source };
    let folder = TempDir::with_prefix("sqlgauge-").map_err(unwritable)?;
    let path = folder.path().join("sample.sqlite");
    let connection = Connection::open(&path)?;
    connection.execute_batch(script)?;
    connection.close().map_err(|(_, error)| error)?;
    regular::read(&path).map_err(|source| Error::Unwritable { path, source })
}
