//! ETM on real predictions: `etm-paper@1` agrees with the published script, `etm@1` calls nothing equal that a
//! database tells apart, and neither depends on which query comes first.
//!
//! `SQLGAUGE_ETM_DISAGREEMENTS=FILE` writes the items on which `etm-paper@1` and the script disagree.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use sqlgauge_conformance::{data, files, gold_lines, read};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Assumption, AssumptionKind, Matcher, Profile};
use sqlgauge_metrics::{Pair, Target};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};

/// A system of the ETM paper: predictions, the script's verdicts, and the paper's figure in percent.
struct System {
    benchmark: &'static str,
    predictions: &'static str,
    verdicts: &'static str,
    paper: f64,
}

const SYSTEMS: &[System] = &[
    System {
        benchmark: "spider",
        predictions: "predictions/dev/etm_DAIL.sql",
        verdicts: "oracle/dev/etm_DAIL.jsonl",
        paper: 71.5,
    },
    System {
        benchmark: "spider",
        predictions: "predictions/dev/etm_C3.sql",
        verdicts: "oracle/dev/etm_C3.jsonl",
        paper: 59.8,
    },
    System {
        benchmark: "spider",
        predictions: "predictions/dev/etm_RESDSQL.sql",
        verdicts: "oracle/dev/etm_RESDSQL.jsonl",
        paper: 74.9,
    },
    System {
        benchmark: "spider",
        predictions: "predictions/dev/etm_codeS.sql",
        verdicts: "oracle/dev/etm_codeS.jsonl",
        paper: 76.6,
    },
    System {
        benchmark: "bird",
        predictions: "predictions/etm/DAIL.sql",
        verdicts: "oracle/etm/DAIL.tsv",
        paper: 31.9,
    },
    System {
        benchmark: "bird",
        predictions: "predictions/etm/RESDSQL.sql",
        verdicts: "oracle/etm/RESDSQL.tsv",
        paper: 25.4,
    },
    System {
        benchmark: "bird",
        predictions: "predictions/etm/CodeS-15b.sql",
        verdicts: "oracle/etm/CodeS-15b.tsv",
        paper: 36.2,
    },
];

struct Item {
    database: Arc<Database>,
    gold: String,
    prediction: String,
    script: bool,
}

fn script_verdict(line: &str) -> bool {
    match line.split_once('\t') {
        Some((_, rest)) => rest.starts_with('1'),
        None => serde_json::from_str::<serde_json::Value>(line).unwrap()["etm"] == 1,
    }
}

fn items(root: &Path, system: &System) -> Vec<Item> {
    let engine = SqliteEngine::new(Limits::default());
    let folder = root.join(system.benchmark);
    let (golds, databases) = match system.benchmark {
        "spider" => (folder.join("dev_gold.sql"), folder.join("database")),
        _ => (folder.join("dev_gold_etm.sql"), folder.join("schema_only")),
    };
    let predictions = read(&folder.join(system.predictions));
    let verdicts = read(&folder.join(system.verdicts));
    let mut open: HashMap<String, Arc<Database>> = HashMap::new();
    let lines = gold_lines(&golds).into_iter().zip(predictions.lines().zip(verdicts.lines()));
    lines
        .map(|((gold, db), (prediction, verdict))| {
            let path = databases.join(&db).join(format!("{db}.sqlite"));
            let database = open.entry(db).or_insert_with(|| engine.open(&path).unwrap());
            Item {
                database: Arc::clone(database),
                gold,
                prediction: prediction.split('\t').next().unwrap_or_default().to_owned(),
                script: script_verdict(verdict),
            }
        })
        .collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_papers_profile_agrees_with_the_published_script() {
    let Some(root) = data() else { return };
    let mut list = String::new();
    for system in SYSTEMS {
        let items = items(&root, system);
        let is_equal = |item: &Item| {
            Matcher::new(item.database.schema(), Profile::Paper).is_equal(&item.gold, &item.prediction)
        };
        let ours: Vec<bool> = items.par_iter().map(is_equal).collect();
        for (index, (item, ours)) in
            items.iter().zip(&ours).enumerate().filter(|(_, (item, ours))| item.script != **ours)
        {
            writeln!(
                list,
                "{}\t{index}\t{}\t{ours}\t{}\t{}",
                system.predictions, item.script, item.gold, item.prediction
            )
            .unwrap();
        }
        let share = |count: usize| 100.0 * count as f64 / items.len() as f64;
        let equal = share(ours.iter().filter(|equal| **equal).count());
        let agreement = share(items.iter().zip(&ours).filter(|(item, ours)| item.script == **ours).count());
        println!(
            "{}: paper {:.1}, etm-paper@1 {equal:.1}, agreement {agreement:.2} %",
            system.predictions, system.paper
        );
        assert!(agreement >= 98.0, "{}: {agreement}", system.predictions);
        assert!((equal - system.paper).abs() <= 0.5, "{}: {equal}, not {}", system.predictions, system.paper);
    }
    if let Some(path) = std::env::var_os("SQLGAUGE_ETM_DISAGREEMENTS") {
        std::fs::write(path, list).unwrap();
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_verdict_does_not_depend_on_which_query_comes_first() {
    let Some(root) = data() else { return };
    for system in SYSTEMS {
        let items = items(&root, system);
        let dependent: Vec<&Item> = items
            .par_iter()
            .filter(|item| {
                Profile::ALL.iter().any(|profile| {
                    let matcher = Matcher::new(item.database.schema(), *profile);
                    matcher.is_equal(&item.gold, &item.prediction)
                        != matcher.is_equal(&item.prediction, &item.gold)
                })
            })
            .collect();
        assert!(dependent.is_empty(), "{} | {}", dependent[0].gold, dependent[0].prediction);
    }
}

/// Every distinct (database, gold, prediction) of Spider dev and of BIRD's superhero.
fn all_pairs(root: &Path, engine: &SqliteEngine) -> Vec<(Arc<Database>, String, String)> {
    let spider = root.join("spider");
    let mut texts: BTreeSet<(String, String, String)> = BTreeSet::new();
    let golds = gold_lines(&spider.join("dev_gold.sql"));
    for path in files(&spider.join("predictions/dev"), "sql") {
        for ((gold, db), line) in golds.iter().zip(read(&path).lines()) {
            let prediction = line.split('\t').next().unwrap_or_default();
            let file = spider.join("database").join(db).join(format!("{db}.sqlite"));
            texts.insert((file.display().to_string(), gold.clone(), prediction.to_owned()));
        }
    }
    let bird = root.join("bird");
    let superhero = bird.join("database/superhero/superhero.sqlite").display().to_string();
    let golds: serde_json::Value = serde_json::from_str(&read(&bird.join("dev.json"))).unwrap();
    for path in files(&bird.join("predictions/dev"), "json") {
        let predictions: serde_json::Value = serde_json::from_str(&read(&path)).unwrap();
        for (key, value) in predictions.as_object().into_iter().flatten() {
            let gold = key.parse().ok().and_then(|index: usize| golds.get(index));
            if let (Some(gold), Some(text)) = (gold, value.as_str())
                && gold["db_id"] == "superhero"
            {
                let prediction = text.split("\t----- bird -----\t").next().unwrap_or_default();
                texts.insert((
                    superhero.clone(),
                    gold["SQL"].as_str().unwrap().to_owned(),
                    prediction.to_owned(),
                ));
            }
        }
    }
    let mut open: HashMap<String, Arc<Database>> = HashMap::new();
    texts
        .into_iter()
        .map(|(file, gold, prediction)| {
            let database = open.entry(file.clone()).or_insert_with(|| engine.open(Path::new(&file)).unwrap());
            (Arc::clone(database), gold, prediction)
        })
        .collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn no_pair_that_the_sound_profile_calls_equal_is_told_apart() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let pairs = all_pairs(&root, &engine);
    let equal: Vec<_> = pairs
        .par_iter()
        .filter(|(database, gold, prediction)| {
            Matcher::new(database.schema(), Profile::Sound).is_right(gold, prediction)
        })
        .collect();
    let failures = Mutex::new(Vec::new());
    equal.par_iter().for_each(|(database, gold, prediction)| {
        let target = Target::new("database", Arc::clone(database));
        let metric = sqlgauge_metrics::find("ex").unwrap();
        let executed = metric.score(&Pair::new(&engine, &target, gold, prediction, None)).value;
        let options = SearchOptions { databases: 40, ..SearchOptions::default() };
        let search = Search::new(Arc::clone(database.schema()), options).unwrap();
        let verdict = search.refute(gold, prediction);
        let open = matches!(&verdict, SearchVerdict::Survived(survived) if survived.undecided > 0);
        // A gold that fails to run has no result to compare with.
        if executed == Some(0.0) || verdict.is_refuted() || open {
            failures.lock().unwrap().push(format!("{executed:?} {verdict:?}\n  {gold}\n  {prediction}"));
        }
    });
    let failures = failures.into_inner().unwrap();
    println!("{} distinct pairs, {} called equal, {} told apart", pairs.len(), equal.len(), failures.len());
    assert!(equal.len() > 5_000);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The labels of ten systems on all of BIRD dev, made on BIRD's own databases: system, item, right or not.
fn labels(bird: &Path) -> Vec<(String, usize, bool)> {
    let text = read(&bird.join("llm_nl2sql/correct.tsv"));
    let mut lines = text.lines().map(|line| line.split('\t'));
    let names: Vec<&str> = lines.next().unwrap().skip(3).collect();
    let of_line = |(index, cells): (usize, std::str::Split<'_, char>)| {
        let of_cell = move |(name, cell): (&&str, &str)| ((*name).to_owned(), index, cell == "1");
        names.iter().zip(cells.skip(3)).map(of_cell).collect::<Vec<_>>()
    };
    lines.enumerate().flat_map(of_line).collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_birds_own_databases_tell_apart_is_equal_only_through_foreign_keys() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let engine = SqliteEngine::new(Limits::default());
    let golds: Vec<serde_json::Value> =
        serde_json::from_str(&read(&bird.join("llm_nl2sql/questions.json"))).unwrap();
    let labels = labels(&bird);
    let systems: BTreeSet<&String> = labels.iter().map(|(system, ..)| system).collect();
    let texts: HashMap<&String, String> = systems
        .into_iter()
        .map(|name| (name, read(&bird.join(format!("llm_nl2sql/predictions/{name}.sql")))))
        .collect();
    let predictions: HashMap<&String, Vec<&str>> =
        texts.iter().map(|(name, text)| (*name, text.lines().collect())).collect();
    let databases: HashMap<&str, Arc<Database>> = golds
        .iter()
        .map(|gold| gold["db_id"].as_str().unwrap())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|db| (db, engine.open(&bird.join(format!("schema_only/{db}/{db}.sqlite"))).unwrap()))
        .collect();
    let matcher = |index: usize| {
        let schema = databases[golds[index]["db_id"].as_str().unwrap()].schema();
        (Matcher::new(schema, Profile::Sound), golds[index]["SQL"].as_str().unwrap())
    };
    let equal: Vec<_> = labels
        .par_iter()
        .filter(|(system, index, _)| {
            let (matcher, gold) = matcher(*index);
            matcher.is_right(gold, predictions[system][*index])
        })
        .collect();
    let wrong: Vec<_> = equal.iter().filter(|(_, _, right)| !right).collect();
    println!("{} of {} called equal, {} of them wrong by label", equal.len(), labels.len(), wrong.len());
    assert!(equal.len() > 2_000);
    for (system, index, _) in wrong {
        let (matcher, gold) = matcher(*index);
        let comparison = matcher.judge(gold, predictions[system][*index]);
        let through = |assumption: &Assumption| assumption.kind == AssumptionKind::ForeignKey;
        assert!(comparison.assumes.iter().any(through), "{system} {index}: {gold}");
    }
}
