//! What corpora cover: `sqlgauge coverage`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use sqlgauge_base::server::is_address;
use sqlgauge_coverage::{Coverage, Measurement};
use sqlgauge_dataset::{BenchmarkSource, load_benchmark};
use sqlgauge_dialects::reading;

use crate::context::Context;
use crate::error::{About, Error};
use crate::one_database::name_database;
use crate::schemas::SchemaSource;

/// The examples of a folder that `synth` did not write: all that are there.
const EXAMPLES: [&str; 6] =
    ["dev.json", "train.json", "train_spider.json", "train_others.json", "test.json", "dev.jsonl"];
/// The schemas of a folder: the first that is there.
const SCHEMAS: [&str; 6] =
    ["tables.json", "dev_tables.json", "train_tables.json", "databases", "database", "dev_databases"];

/// Compares what corpora cover: sizes, difficulty, where their items lie, how far they reach in 16 dimensions.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, CoverageJob, Sample};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let corpus = format!("sample={}@{}", sample.questions.display(), sample.tables.display());
///
/// let job = CoverageJob { corpora: vec![corpus.parse()?], out: folder.path().join("coverage") };
/// let coverage = job.run(&Context::default())?;
/// assert_eq!(coverage.corpora[0].sizes.databases, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CoverageJob {
    /// The corpora, each under a name of its own.
    pub corpora: Vec<CorpusFiles>,
    /// Folder to write: `coverage.json`, `coverage.html`, and the pictures as SVG.
    pub out: PathBuf,
}

/// Where a corpus is. Its text is `[NAME=]FOLDER` or `[NAME=]FILE@SCHEMAS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusFiles {
    /// Its name in the comparison.
    pub name: String,
    /// A folder of `synth` or as Spider and BIRD are laid out, or a file of examples.
    pub path: PathBuf,
    /// The databases, the address of a server or the `tables.json` of a file.
    pub schemas: Option<PathBuf>,
}

impl FromStr for CorpusFiles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An address may have `=` too.
        let (name, rest) = match text.split_once('=').filter(|(name, _)| !name.contains('@')) {
            Some((name, rest)) => (Some(name), rest),
            None => (None, text),
        };
        let (path, schemas) = match rest.split_once('@') {
            Some((path, schemas)) => (path, Some(PathBuf::from(schemas))),
            None => (rest, None),
        };
        let path = PathBuf::from(path);
        let stem = || path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or_else(stem).filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("{text:?} has no name; write NAME={text}"))?;
        Ok(Self { name, path, schemas })
    }
}

impl CorpusFiles {
    /// The files of its examples, and where their schemas are.
    fn files(&self) -> Result<(Vec<PathBuf>, SchemaSource), Error> {
        let folder = match &self.schemas {
            Some(schemas) => return Ok((vec![self.path.clone()], schema_source(schemas))),
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
            Some(schemas) if !files.is_empty() => Ok((files, schema_source(&schemas))),
            _ => Err(Error::Invalid(format!(
                "{} is not a corpus: it needs data/*.jsonl, data/*.parquet or one of {}, and one of {}; or name a file and its \
                 databases: {}=FILE@SCHEMAS",
                folder.display(),
                EXAMPLES.join(", "),
                SCHEMAS.join(", "),
                self.name
            ))),
        }
    }

    fn measure(&self, context: &Context<'_>) -> Result<Measurement, Error> {
        let (files, schemas) = self.files()?;
        let mut measurement = Measurement::new(&self.name);
        for gold in files {
            let about = format!("{} cannot be measured", gold.display());
            let mut benchmark = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() })?;
            name_database(&mut benchmark, schemas.folder(), None)?;
            benchmark.notes.iter().for_each(|text| context.watcher().note(text));
            let (schemas, dialect) = schemas.read(&benchmark, context).about(|| about)?;
            measurement.add(&benchmark, &schemas, &|sql| reading(sql, dialect));
        }
        Ok(measurement)
    }
}

fn schema_source(schemas: &Path) -> SchemaSource {
    let is_tables = !is_address(schemas) && schemas.extension().is_some_and(|extension| extension == "json");
    if is_tables {
        SchemaSource::Tables(schemas.to_owned())
    } else {
        SchemaSource::Databases(schemas.to_owned())
    }
}

/// The files of a corpus of `synth` in order; none where there is no such folder.
fn shards(data: &Path) -> Result<Vec<PathBuf>, Error> {
    if !data.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable = |error| Error::Invalid(format!("{} cannot be read ({error})", data.display()));
    let entries = std::fs::read_dir(data).map_err(unreadable)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(unreadable)?;
    paths.sort();
    // A corpus may have its pairs in two formats, with the same rows.
    let of = |format: &str| -> Vec<PathBuf> {
        let is_one = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == format);
        paths.iter().filter(is_one).cloned().collect()
    };
    let lines = of("jsonl");
    Ok(if lines.is_empty() { of("parquet") } else { lines })
}

impl CoverageJob {
    /// Measures the corpora, and writes the comparison.
    ///
    /// # Errors
    /// When two corpora have one name, one cannot be read, or the folder cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Coverage, Error> {
        for (at, corpus) in self.corpora.iter().enumerate() {
            if self.corpora[..at].iter().any(|other| other.name == corpus.name) {
                let name = &corpus.name;
                let text = format!("two corpora are called {name:?}; give one of them another name: NAME=…");
                return Err(Error::Invalid(text));
            }
        }
        let measured = self.corpora.iter().map(|corpus| corpus.measure(context));
        let measurements = measured.collect::<Result<Vec<_>, _>>()?;
        let coverage = Coverage::of(&measurements, env!("CARGO_PKG_VERSION"))?;
        coverage.write_to(&self.out)?;
        Ok(coverage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_a_folder_or_a_file_with_its_schemas() {
        let corpus = |text: &str| text.parse::<CorpusFiles>();
        let expected = CorpusFiles { name: "spider".into(), path: "data/spider".into(), schemas: None };
        assert_eq!(corpus("data/spider"), Ok(expected));
        let expected =
            CorpusFiles { name: "mine".into(), path: "a.json".into(), schemas: Some("t/tables.json".into()) };
        assert_eq!(corpus("mine=a.json@t/tables.json"), Ok(expected));
        let address = "dbapi:driver?connect=shop.json";
        let expected = CorpusFiles { name: "a".into(), path: "a.json".into(), schemas: Some(address.into()) };
        assert_eq!(corpus(&format!("a.json@{address}")), Ok(expected));
        assert_eq!(schema_source(Path::new(address)), SchemaSource::Databases(address.into()));
        assert!(corpus("..").unwrap_err().contains("NAME=.."));
    }
}
