//! `sqlgauge demo`: the bundled sample benchmark.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use rusqlite::Connection;
use sqlgauge::{ScoreJob, Source, System};
use sqlgauge_base::file::write_atomically;
use sqlgauge_dataset::Columns;
use sqlgauge_engine::Limits;
use tempfile::TempDir;

use crate::Verdict;
use crate::output::{command_line, print, write_to};
use crate::scoring::metrics;

/// Score the bundled sample benchmark and write a report
#[derive(Debug, Args)]
pub struct Demo {
    /// Folder to write: the sample goes to its `benchmark`, the run to its `run`
    #[arg(long, value_name = "DIR", default_value = "sqlgauge-demo")]
    out: PathBuf,
}

const METRICS: &str =
    "ex-spider,ex-spider-distinct,ex-bird,ex,esm,esm-fair,table-f1,column-f1,soft-f1,vm-steps";

const FILES: &[(&str, &str)] = &[
    ("tables.json", include_str!("../../sample/tables.json")),
    ("questions.json", include_str!("../../sample/questions.json")),
    ("predictions/baseline.jsonl", include_str!("../../sample/predictions/baseline.jsonl")),
    ("predictions/careful.jsonl", include_str!("../../sample/predictions/careful.jsonl")),
    ("predictions/chatty.jsonl", include_str!("../../sample/predictions/chatty.jsonl")),
];

const DATABASES: &[(&str, &str)] = &[
    ("bike_rental", include_str!("../../sample/databases/bike_rental.sql")),
    ("town_library", include_str!("../../sample/databases/town_library.sql")),
];

impl Demo {
    pub fn run(self) -> Result<Verdict> {
        let benchmark = self.out.join("benchmark");
        unpack(&benchmark)?;
        print(&format!("The sample benchmark is in {}\n\n", benchmark.display()))?;
        let file = |name: &str| Source::File(benchmark.join(name));
        let systems = ["careful", "baseline", "chatty"].map(|name| System {
            name: name.to_owned(),
            predictions: file(&format!("predictions/{name}.jsonl")),
            columns: Columns::default(),
        });
        let (gold, databases, out) =
            (file("questions.json"), benchmark.join("database"), self.out.join("run"));
        let job = ScoreJob {
            tables: Some(file("tables.json")),
            // The sample has a query that never ends.
            limits: Limits { timeout: std::time::Duration::from_secs(1), ..Limits::default() },
            command: command_line(),
            ..ScoreJob::new(gold, databases, systems.into(), metrics(METRICS)?, out)
        };
        super::score::finish(&job, false, false)
    }
}

/// Writes the sample; what is there already is left alone, so that an interrupted demo can go on.
fn unpack(folder: &Path) -> Result<()> {
    for (name, text) in FILES {
        let path = folder.join(name);
        make_parent(&path)?;
        ensure!(
            fs::read(&path).map_or(true, |held| held == text.as_bytes()),
            "{} is there and is not the sample's; choose another folder with --out",
            path.display()
        );
        write_to(&path, text)?;
    }
    for (db_id, script) in DATABASES {
        let path = folder.join(format!("database/{db_id}/{db_id}.sqlite"));
        if path.exists() {
            continue;
        }
        make_parent(&path)?;
        let bytes = database(script).with_context(|| format!("the sample database {db_id}"))?;
        write_atomically(&path, |out| out.write_all(&bytes)).with_context(|| unwritable(&path))?;
    }
    Ok(())
}

/// The bytes of a database that the script makes.
fn database(script: &str) -> Result<Vec<u8>> {
    let folder = TempDir::with_prefix("sqlgauge-")?;
    let path = folder.path().join("sample.sqlite");
    let connection = Connection::open(&path)?;
    connection.execute_batch(script)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(fs::read(&path)?)
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).with_context(|| unwritable(parent))
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written; choose another folder with --out", path.display())
}
