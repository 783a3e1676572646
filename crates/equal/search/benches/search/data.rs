//! Real golds and predictions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::schema::Schema;

use super::Settings;

/// A gold and a prediction.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) schema: Arc<Schema>,
    pub(crate) gold: String,
    pub(crate) prediction: String,
}

/// Which predictions are kept, by what execution says of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PredictionFilter {
    All,
    Right,
    Wrong,
}

/// The systems whose predictions on BIRD dev are measured where none are named.
const BIRD_SYSTEMS: &str = "codes_15b_evidence,csc_sql_7b,rsl_sql_deepseek_step4";
const SPIDER_SYSTEMS: &str = "etm_DAIL,etm_C3";
/// The number of the first item of superhero, and of the first behind it.
const SUPERHERO: std::ops::Range<usize> = 717..846;

/// The data sets that are asked for, by name.
pub(crate) fn sets(folder: &Path, settings: &Settings) -> Vec<(String, Vec<Case>)> {
    let is_wanted = |name: &str| settings.only.as_deref().is_none_or(|only| name == only);
    let systems = |default: &str| -> Vec<String> {
        settings.systems.as_deref().unwrap_or(default).split(',').map(str::to_owned).collect()
    };
    let mut reader =
        Reader { folder, schemas: BTreeMap::new(), engine: SqliteEngine::new(Limits::default()) };
    let mut sets = Vec::new();
    if is_wanted("bird") {
        sets.push(("bird".to_owned(), reader.bird(&systems(BIRD_SYSTEMS), settings.predictions, false)));
    }
    if is_wanted("superhero") {
        sets.push(("superhero".to_owned(), reader.bird(&systems(BIRD_SYSTEMS), settings.predictions, true)));
    }
    if is_wanted("spider") {
        sets.push(("spider".to_owned(), reader.spider(&systems(SPIDER_SYSTEMS), settings.predictions)));
    }
    for (_, cases) in &mut sets {
        let mut at = 0;
        cases.retain(|_| {
            at += 1;
            (at - 1) % settings.every == 0
        });
    }
    sets
}

/// The golds of Spider dev and train whose database is there, as cases without a prediction.
pub(crate) fn spider_golds(folder: &Path) -> Vec<(Case, PathBuf)> {
    let mut reader =
        Reader { folder, schemas: BTreeMap::new(), engine: SqliteEngine::new(Limits::default()) };
    let mut golds = Vec::new();
    for (file, databases) in [("dev_gold.sql", "database"), ("train_gold.sql", "train_database")] {
        let text = fs::read_to_string(folder.join("spider").join(file)).unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let Some((gold, name)) = line.split_once('\t') else { continue };
            let path = folder.join(format!("spider/{databases}/{name}/{name}.sqlite"));
            let Some(schema) = reader.schema(&path) else { continue };
            let id = format!("{file}:{}", at + 1);
            golds.push((Case { id, schema, gold: gold.to_owned(), prediction: String::new() }, path));
        }
    }
    golds
}

struct Reader<'a> {
    folder: &'a Path,
    schemas: BTreeMap<PathBuf, Option<Arc<Schema>>>,
    engine: SqliteEngine,
}

impl Reader<'_> {
    fn schema(&mut self, path: &Path) -> Option<Arc<Schema>> {
        let read = || self.engine.open(path).ok().map(|database| Arc::clone(database.schema()));
        self.schemas.entry(path.to_owned()).or_insert_with(read).clone()
    }

    fn json(&self, path: &str) -> Value {
        let text = fs::read_to_string(self.folder.join(path)).ok();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn spider(&mut self, systems: &[String], filter: PredictionFilter) -> Vec<Case> {
        let spider = self.folder.join("spider");
        let read = |path: String| fs::read_to_string(spider.join(path)).unwrap_or_default();
        let gold = read("dev_gold.sql".to_owned());
        let mut cases = Vec::new();
        for system in systems {
            let predictions = read(format!("predictions/dev/{system}.sql"));
            let oracle = read(format!("oracle/dev/{system}.jsonl"));
            for (at, (gold, prediction)) in gold.lines().zip(predictions.lines()).enumerate() {
                let Some((gold, name)) = gold.split_once('\t') else { continue };
                let verdict: Value = oracle
                    .lines()
                    .nth(at)
                    .and_then(|line| serde_json::from_str(line).ok())
                    .unwrap_or_default();
                let path = spider.join(format!("database/{name}/{name}.sqlite"));
                let Some(schema) = self.schema(&path).filter(|_| fits(filter, verdict["ex"] == 1)) else {
                    continue;
                };
                let prediction = prediction.split('\t').next().unwrap_or_default().to_owned();
                cases.push(Case { id: format!("{system} {at}"), schema, gold: gold.to_owned(), prediction });
            }
        }
        cases
    }

    /// BIRD dev; of superhero alone it is known what execution says.
    fn bird(&mut self, systems: &[String], filter: PredictionFilter, superhero: bool) -> Vec<Case> {
        let (items, right) = (self.json("bird/dev.json"), self.json("bird/ex_set_superhero.json"));
        let mut cases = Vec::new();
        for system in systems {
            let predictions = self.json(&format!("bird/predictions/dev/{system}.json"));
            for (at, item) in items.as_array().into_iter().flatten().enumerate() {
                let id = at.to_string();
                let is_right = right[system][&id].as_bool();
                if (superhero || filter != PredictionFilter::All)
                    && (!SUPERHERO.contains(&at) || !fits(filter, is_right == Some(true)))
                {
                    continue;
                }
                let (Some(name), Some(gold), Some(prediction)) =
                    (item["db_id"].as_str(), item["SQL"].as_str(), predictions[&id].as_str())
                else {
                    continue;
                };
                let path = self.folder.join(format!("bird/schema_only/{name}/{name}.sqlite"));
                let Some(schema) = self.schema(&path) else { continue };
                let prediction = prediction.split("\t----- bird").next().unwrap_or(prediction).to_owned();
                cases.push(Case { id: format!("{system} {id}"), schema, gold: gold.to_owned(), prediction });
            }
        }
        cases
    }
}

fn fits(filter: PredictionFilter, is_right: bool) -> bool {
    match filter {
        PredictionFilter::All => true,
        PredictionFilter::Right => is_right,
        PredictionFilter::Wrong => !is_right,
    }
}
