//! `sqlgauge show`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::Args;
use sqlgauge::recorded_now;
use sqlgauge_engine::{Engine, ResultSet, SqliteEngine};
use sqlgauge_report::{ItemView, ShowOptions, show};
use sqlgauge_run::{Item, Items, Manifest, RunError, RunFiles, sha256_of_file};

use crate::Verdict;
use crate::engine::engine;
use crate::options::LimitOptions;
use crate::output::{colour, note, print_json, print_painted, width};

/// Show one item: question, both queries, both results, every metric and why
#[derive(Debug, Args)]
pub struct Show {
    /// Run directory
    run: PathBuf,
    /// Name of the system; may be left out when the run has one
    #[arg(long)]
    system: Option<String>,
    /// Id of the item
    #[arg(long)]
    id: String,
    /// Rows of each result to show
    #[arg(long, default_value_t = 10)]
    rows: usize,
    /// Print JSON: a list with the item of the system, or of every system without --system
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

impl Show {
    pub fn run(self) -> Result<Verdict> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.run)?;
        if self.json {
            return self.print_json(&manifest, &items);
        }
        let system = self.system(&manifest)?;
        let item = items.find(&system, &self.id)?;
        let item = item.ok_or_else(|| missing_item(&self.run, &system, &self.id, &items))?;
        let engine = engine(self.limits.limits()?)?;
        let engine = match recorded_now(&manifest)? {
            Some(now) => engine.at(now),
            None => engine,
        };
        let (gold, prediction) = match database(&manifest, &item.db_id) {
            Ok(path) => results(&engine, &path, &item)?,
            Err(why) => {
                note(format!("{why}; only the rows kept in the run are shown"));
                (None, None)
            }
        };
        let options = ShowOptions { width: width(), colour: colour(), rows: self.rows };
        print_painted(&show(&item, gold.as_deref(), prediction.as_deref(), options))?;
        Ok(Verdict::Done)
    }

    fn print_json(&self, manifest: &Manifest, items: &Items) -> Result<Verdict> {
        let systems = match &self.system {
            Some(_) => vec![self.system(manifest)?],
            None => manifest.systems.clone(),
        };
        let mut found = Vec::with_capacity(systems.len());
        for system in &systems {
            found.extend(items.find(system, &self.id)?);
        }
        if found.is_empty() {
            return Err(missing_item(&self.run, &systems.join(", "), &self.id, items));
        }
        print_json(&found)?;
        Ok(Verdict::Done)
    }

    fn system(&self, manifest: &Manifest) -> Result<String> {
        let known = manifest.systems.join(", ");
        match (&self.system, manifest.systems.as_slice()) {
            (Some(name), systems) if systems.contains(name) => Ok(name.clone()),
            (Some(name), _) => Err(anyhow!("the run has no system {name:?}; its systems are {known}")),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(anyhow!("the run has several systems; choose one with --system: {known}")),
        }
    }
}

fn missing_item(run: &Path, system: &str, id: &str, items: &Items) -> anyhow::Error {
    let (mut first, mut last) = (None, None);
    let walked = items.for_each(|item| {
        if item.system == system {
            first.get_or_insert_with(|| item.id.clone());
            last = Some(item.id.clone());
        }
        Ok::<(), RunError>(())
    });
    match (walked, first, last) {
        (Err(error), ..) => error.into(),
        (_, Some(first), Some(last)) => {
            anyhow!("{} has no item {id:?} of {system}; its ids go from {first:?} to {last:?}", run.display())
        }
        _ => anyhow!("{} has no item {id:?} of {system}; finish the run first", run.display()),
    }
}

/// The database of an item, if it is still the one that was scored.
pub fn database(manifest: &Manifest, db_id: &str) -> Result<PathBuf> {
    let role = format!("database:{db_id}");
    let input = manifest.inputs.iter().find(|input| input.role == role);
    let input = input.ok_or_else(|| anyhow!("the run does not say where database {db_id} is"))?;
    let path = PathBuf::from(&input.path);
    match sha256_of_file(&path) {
        Ok(sha256) if sha256 == input.sha256 => Ok(path),
        Ok(_) => Err(anyhow!("the database {} has changed since the run", path.display())),
        Err(error) => Err(anyhow!("the database {} cannot be read ({error})", path.display())),
    }
}

type Results = (Option<Arc<ResultSet>>, Option<Arc<ResultSet>>);

fn results(engine: &SqliteEngine, path: &Path, item: &Item) -> Result<Results> {
    let database = engine.open(path)?;
    let view = ItemView::new(item);
    let run = |sql: &str| engine.run(&database, sql).outcome.rows().cloned();
    let gold = view.golds().into_iter().find_map(run);
    // A prediction that the log keeps only in part would not show what was scored.
    Ok((gold, item.details.whole_prediction().and_then(run)))
}
