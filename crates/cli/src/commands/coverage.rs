//! `sqlgauge coverage`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::Args;
use comfy_table::{Table, presets};
use sqlgauge_coverage::{Coverage, Measurement};
use sqlgauge_dataset::{BenchmarkSource, load_benchmark};

use crate::Verdict;
use crate::output::{note, print};
use crate::workload::SchemaSource;

/// The examples of a folder that is no corpus of `synth`: all that are there.
const EXAMPLES: [&str; 6] =
    ["dev.json", "train.json", "train_spider.json", "train_others.json", "test.json", "dev.jsonl"];
/// The schemas of a folder: the first that is there.
const SCHEMAS: [&str; 6] =
    ["tables.json", "dev_tables.json", "train_tables.json", "databases", "database", "dev_databases"];

/// Compare what corpora cover: sizes, difficulty, where their items lie, how far they reach in 16 dimensions
#[derive(Debug, Args)]
pub struct CoverageCommand {
    /// Folders of corpora (of `synth`, or as Spider and BIRD are laid out), or files of examples with their databases or
    /// tables.json: FILE@SCHEMAS
    #[arg(value_name = "[NAME=]FOLDER|FILE@SCHEMAS", required = true)]
    corpora: Vec<Corpus>,
    /// Folder to write: coverage.json, coverage.html, and the pictures as SVG
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// A corpus as it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Corpus {
    name: String,
    /// A folder, or a file of examples.
    path: PathBuf,
    schemas: Option<PathBuf>,
}

impl FromStr for Corpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once('=') {
            Some((name, rest)) => (Some(name), rest),
            None => (None, text),
        };
        let (path, schemas) = match rest.split_once('@') {
            Some((path, schemas)) => (path, Some(PathBuf::from(schemas))),
            None => (rest, None),
        };
        let path = PathBuf::from(path);
        let own = || path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or_else(own).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("{text:?} has no name; write NAME={text}"))?;
        Ok(Self { name, path, schemas })
    }
}

impl Corpus {
    /// The files of its examples, and where their schemas are.
    fn files(&self) -> Result<(Vec<PathBuf>, SchemaSource)> {
        let folder = match &self.schemas {
            Some(schemas) => return Ok((vec![self.path.clone()], source(schemas))),
            None => &self.path,
        };
        let shards = shards(&folder.join("data"))?;
        let files: Vec<PathBuf> = if shards.is_empty() {
            EXAMPLES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect()
        } else {
            shards
        };
        let schemas = SCHEMAS.iter().map(|name| folder.join(name)).find(|path| path.exists());
        match schemas {
            Some(schemas) if !files.is_empty() => Ok((files, source(&schemas))),
            _ => bail!(
                "{} is no corpus that is known: it needs data/*.jsonl, data/*.parquet or one of {}, and one of {}; or name a file and its \
                 databases: {}=FILE@SCHEMAS",
                folder.display(),
                EXAMPLES.join(", "),
                SCHEMAS.join(", "),
                self.name
            ),
        }
    }

    fn measure(&self, quiet: bool) -> Result<Measurement> {
        let (files, schemas) = self.files()?;
        let mut measurement = Measurement::new(&self.name);
        for gold in files {
            let about = format!("{} cannot be measured", gold.display());
            let benchmark = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() })?;
            if !quiet {
                benchmark.notes.iter().for_each(note);
            }
            measurement.add(&benchmark, &schemas.read(&benchmark).context(about)?);
        }
        Ok(measurement)
    }
}

fn source(schemas: &Path) -> SchemaSource {
    let is_tables = schemas.extension().is_some_and(|extension| extension == "json");
    if is_tables {
        SchemaSource::Tables(schemas.to_owned())
    } else {
        SchemaSource::Databases(schemas.to_owned())
    }
}

/// The files of a corpus of `synth` in order; none where there is no such folder.
fn shards(data: &Path) -> Result<Vec<PathBuf>> {
    if !data.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(data).with_context(|| format!("{} cannot be read", data.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    // A corpus may have its pairs in two formats, with the same rows.
    let of = |format: &str| -> Vec<PathBuf> {
        let is_one = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == format);
        paths.iter().filter(is_one).cloned().collect()
    };
    let lines = of("jsonl");
    Ok(if lines.is_empty() { of("parquet") } else { lines })
}

impl CoverageCommand {
    pub fn run(self) -> Result<Verdict> {
        for (at, corpus) in self.corpora.iter().enumerate() {
            if self.corpora[..at].iter().any(|other| other.name == corpus.name) {
                bail!("two corpora are called {:?}; give one of them another name: NAME=…", corpus.name);
            }
        }
        let measurements: Vec<Measurement> =
            self.corpora.iter().map(|corpus| corpus.measure(self.quiet)).collect::<Result<_>>()?;
        let coverage = Coverage::of(&measurements, env!("CARGO_PKG_VERSION"))?;
        coverage.write_to(&self.out)?;
        if !self.quiet {
            print(&format!("{}\n", table(&coverage)))?;
        }
        Ok(Verdict::Done)
    }
}

fn table(coverage: &Coverage) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "corpus",
        "examples",
        "resolved",
        "unique SQL",
        "databases",
        "operators",
        "deepest",
        "widest in",
    ]);
    for corpus in &coverage.corpora {
        let widest = corpus.reach.iter().flatten().filter(|reach| reach.normalised == Some(1.0)).count();
        table.add_row([
            corpus.name.clone(),
            corpus.sizes.examples.to_string(),
            corpus.sizes.resolved.to_string(),
            corpus.sizes.unique_sql.to_string(),
            corpus.sizes.databases.to_string(),
            corpus.sizes.operators.len().to_string(),
            corpus.sizes.deepest().map_or("-".to_owned(), |depth| depth.to_string()),
            format!("{widest} of {}", coverage.dimensions.len()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_a_folder_or_a_file_with_its_schemas() {
        let corpus = |text: &str| text.parse::<Corpus>();
        let expected = Corpus { name: "spider".into(), path: "data/spider".into(), schemas: None };
        assert_eq!(corpus("data/spider"), Ok(expected));
        let expected =
            Corpus { name: "mine".into(), path: "a.json".into(), schemas: Some("t/tables.json".into()) };
        assert_eq!(corpus("mine=a.json@t/tables.json"), Ok(expected));
        assert!(corpus("..").unwrap_err().contains("NAME=.."));
    }
}
