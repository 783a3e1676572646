//! `sqlgauge verify --pairs`: a file of pairs as a run, of which the left queries are the golds.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::Value;
use sqlgauge_dataset::{Databases, Over, Pairs, load_pairs};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_report::formats::Table;
use sqlgauge_report::{Format, Report, Verdicts};
use sqlgauge_run::{Ground, Manifest, PairScorer, Plan, digest_inputs};
use sqlgauge_sql::schema::Schema;

use crate::engine::engine;
use crate::output::{Style, colour, command_line, note, print, print_json, print_with, width};
use crate::scoring::{VerifySettings, Writing, given_inputs, started_at};
use crate::{guard, stdin};

/// Which pairs to verify and how.
pub struct PairsJob {
    pub pairs: PathBuf,
    /// Folder in which the databases of the pairs are; without, pairs name files.
    pub databases: Option<PathBuf>,
    pub settings: VerifySettings,
    /// What the queries take for now; without, when the run began.
    pub now: Option<Moment>,
    pub writing: Writing,
}

impl PairsJob {
    /// Verifies the pairs and writes the run directory with `report.html`; returns the report.
    pub fn run(&self) -> Result<Report> {
        let pairs = load_pairs(&self.pairs)?;
        if !self.writing.quiet {
            pairs.notes.iter().for_each(note);
        }
        let now = self.now.map_or_else(|| started_at(&self.writing), Ok)?;
        let engine: Arc<dyn Engine> = Arc::new(engine(Limits::default())?.at(now));
        let files = self.files(&pairs)?;
        let manifest = self.manifest(&pairs, &files, (engine.as_ref(), now))?;
        guard::keep_inputs_of_run(&self.writing.out, &manifest)?;
        let grounds = grounds(engine.as_ref(), &self.pairs, &pairs, &files)?;
        let systems = [pairs.right];
        let plan = Plan::new(&pairs.examples, &systems)?;
        let directory = self.writing.begin(&manifest)?;
        let scorer = PairScorer::new(engine, self.settings.verification(), grounds);
        self.writing.write(&directory, &plan, &scorer, Vec::new())
    }

    /// The database files of the pairs, by the name of the database.
    fn files(&self, pairs: &Pairs) -> Result<BTreeMap<String, PathBuf>> {
        let folder = self.databases.as_deref().map(Databases::open).transpose()?;
        let databases = pairs.over.iter().filter_map(|(db_id, (over, place))| match over {
            Over::Database(name) => Some((db_id, name, place)),
            Over::Ddl(_) => None,
        });
        let file = |(db_id, name, place): (&String, &String, &String)| {
            let path = match &folder {
                Some(folder) => folder.locate(name).with_context(|| asks(&self.pairs, place))?.main,
                None => PathBuf::from(name),
            };
            Ok((db_id.clone(), path))
        };
        databases.map(file).collect()
    }

    fn manifest(
        &self,
        pairs: &Pairs,
        files: &BTreeMap<String, PathBuf>,
        (engine, now): (&dyn Engine, Moment),
    ) -> Result<Manifest> {
        let mut inputs = vec![("pairs".to_owned(), self.pairs.clone())];
        inputs.extend(files.iter().map(|(db_id, path)| (format!("database:{db_id}"), path.clone())));
        let mut options: BTreeMap<String, Value> = self.settings.recorded().into_iter().collect();
        options.insert(crate::scoring::NOW.to_owned(), now.to_string().into());
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine.name_and_version(),
            command: command_line(),
            metrics: vec![PairScorer::METRIC.to_owned()],
            systems: vec![pairs.right.system.clone()],
            inputs: given_inputs(digest_inputs(&inputs)?),
            options,
            examples: pairs.examples.len(),
        })
    }
}

fn asks(pairs: &Path, place: &str) -> String {
    format!("{}, {place}", stdin::as_given(pairs).display())
}

/// Reads every schema and opens every database.
fn grounds(
    engine: &dyn Engine,
    path: &Path,
    pairs: &Pairs,
    files: &BTreeMap<String, PathBuf>,
) -> Result<HashMap<String, Ground>> {
    let ground = |(db_id, (over, place)): (&String, &(Over, String))| -> Result<(String, Ground)> {
        let ground = match (over, files.get(db_id)) {
            (Over::Ddl(ddl), _) => {
                let schema = Schema::from_ddl(ddl);
                let wrong = || format!("{}: \"ddl\" is no DDL of SQLite", asks(path, place));
                Ground::Schema(Arc::new(schema.with_context(wrong)?))
            }
            (Over::Database(name), file) => {
                let file = file.map_or_else(|| Path::new(name), PathBuf::as_path);
                Ground::Database(engine.open(file).with_context(|| asks(path, place))?)
            }
        };
        Ok((db_id.clone(), ground))
    };
    pairs.over.iter().map(ground).collect()
}

/// Prints the scores and how many pairs got which verdict; as JSON, the latter alone.
pub fn print_verdicts(report: &Report, as_json: bool, writing: &Writing) -> Result<()> {
    if as_json {
        let verdicts = Verdicts::of(report)?.unwrap_or_default();
        return verdicts.iter().try_for_each(|own| print_json(&own.to_json()));
    }
    if writing.quiet {
        return Ok(());
    }
    print_with(Style::Painted, |out| Table { width: width(), colour: colour() }.render(report, out))?;
    print(&format!("\nReport: {}\n", writing.out.join("report.html").display()))
}
