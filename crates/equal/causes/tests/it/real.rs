//! Sentences on wrong answers of real systems, for a person to read; `SQLGAUGE_DATA` names the data.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use sqlgauge_causes::{Explainer, Proofs};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};

const SYSTEMS: [&str; 4] = ["etm_DAIL", "etm_C3", "etm_RESDSQL", "etm_codeS"];

#[test]
#[ignore = "prints what a person is to read"]
fn sentences_on_spider() {
    let root = std::env::var("SQLGAUGE_DATA").expect("SQLGAUGE_DATA names the data");
    let spider = Path::new(&root).join("spider");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let golds = read(&spider.join("dev_gold.sql"));
    let golds: Vec<(&str, &str)> = golds.lines().filter_map(|line| line.split_once('\t')).collect();
    let engine = SqliteEngine::new(Limits::default());
    let mut databases: HashMap<&str, Arc<Database>> = HashMap::new();
    for (_, db) in &golds {
        databases
            .entry(db)
            .or_insert_with(|| engine.open(&spider.join(format!("database/{db}/{db}.sqlite"))).unwrap());
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut sentences = 0;
    for system in SYSTEMS {
        let predictions = read(&spider.join(format!("predictions/dev/{system}.sql")));
        let oracle = read(&spider.join(format!("oracle/dev/{system}.jsonl")));
        for (((gold, db), prediction), oracle) in golds.iter().zip(predictions.lines()).zip(oracle.lines()) {
            let oracle: serde_json::Value = serde_json::from_str(oracle).unwrap();
            if oracle["ex"] != 0 || oracle["executes"] != 1 {
                continue;
            }
            let prediction = prediction.split('\t').next().unwrap();
            let schema = databases[db].schema();
            let difference = Explainer::of(schema.clone()).explain(gold, prediction, &Proofs::over(schema));
            let key = match &difference {
                Ok(difference) => {
                    sentences += 1;
                    let causes: Vec<&str> = difference.slips.iter().map(|slip| slip.cause.id).collect();
                    println!(
                        "{system} {db} [{}]\n  gold  {gold}\n  prediction {prediction}\n  {}",
                        causes.join(", "),
                        difference.sentence()
                    );
                    causes[0].to_owned()
                }
                Err(unclear) => {
                    println!(
                        "{system} {db} UNCLEAR {}\n  gold  {gold}\n  prediction {prediction}",
                        unclear.id()
                    );
                    format!("unclear: {}", unclear.id())
                }
            };
            *counts.entry(key).or_default() += 1;
        }
    }
    println!("{sentences} sentences; {counts:#?}");
}
