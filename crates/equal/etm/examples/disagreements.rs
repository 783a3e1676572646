//! Measures both profiles on real predictions against the published script's verdicts, and lists where they differ.
//!
//! `cargo run --release -p sqlgauge-etm --example disagreements -- DATA [OUT.tsv] [--without S1,S6,S17]`, where DATA is the
//! folder with `spider/` and `bird/`; `--without` leaves rules out of `etm-paper@1`. The list has one line per item on which a profile and the script, or the sound profile
//! and the execution result, disagree.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile, Rule};

struct System {
    benchmark: &'static str,
    name: &'static str,
    predictions: &'static str,
    oracle: &'static str,
    paper: f64,
}

const SYSTEMS: &[System] = &[
    System {
        benchmark: "spider",
        name: "DAIL",
        predictions: "predictions/dev/etm_DAIL.sql",
        oracle: "oracle/dev/etm_DAIL.jsonl",
        paper: 71.5,
    },
    System {
        benchmark: "spider",
        name: "C3",
        predictions: "predictions/dev/etm_C3.sql",
        oracle: "oracle/dev/etm_C3.jsonl",
        paper: 59.8,
    },
    System {
        benchmark: "spider",
        name: "RESDSQL+NatSQL",
        predictions: "predictions/dev/etm_RESDSQL.sql",
        oracle: "oracle/dev/etm_RESDSQL.jsonl",
        paper: 74.9,
    },
    System {
        benchmark: "spider",
        name: "CodeS",
        predictions: "predictions/dev/etm_codeS.sql",
        oracle: "oracle/dev/etm_codeS.jsonl",
        paper: 76.6,
    },
    System {
        benchmark: "bird",
        name: "DAIL",
        predictions: "predictions/etm/DAIL.sql",
        oracle: "oracle/etm/DAIL.tsv",
        paper: 31.9,
    },
    System {
        benchmark: "bird",
        name: "RESDSQL",
        predictions: "predictions/etm/RESDSQL.sql",
        oracle: "oracle/etm/RESDSQL.tsv",
        paper: 25.4,
    },
    System {
        benchmark: "bird",
        name: "CodeS-15b",
        predictions: "predictions/etm/CodeS-15b.sql",
        oracle: "oracle/etm/CodeS-15b.tsv",
        paper: 36.2,
    },
];

/// The script's verdict, and whether the results on the real database are equal where that is known.
struct Expected {
    script: bool,
    executed: Option<bool>,
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn expected(path: &Path) -> Vec<Expected> {
    let text = read(path);
    let line = |line: &str| {
        if let Some((_, rest)) = line.split_once('\t') {
            return Expected { script: rest.starts_with('1'), executed: None };
        }
        let item: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        Expected { script: item["etm"] == 1, executed: Some(item["ex_keep_distinct"] == 1) }
    };
    text.lines().map(line).collect()
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|argument| argument == "--without");
    let without = at.map_or_else(String::new, |at| arguments.drain(at..).nth(1).unwrap_or_default());
    let is_chosen = |rule: &Rule| without.split(',').all(|id| id != rule.id);
    let mut arguments = arguments.into_iter();
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| "../shared/data".to_owned()));
    let out = arguments.next();
    let engine = SqliteEngine::new(Limits::default());
    let mut databases: HashMap<PathBuf, Arc<Database>> = HashMap::new();
    let mut list = String::from(
        "benchmark\tsystem\tindex\tdb\tscript\tpaper\tsound\texecution\tgold\tprediction\tdifference\n",
    );
    println!(
        "| benchmark | system | paper | script | etm-paper@1 | agreement | etm@1 | equal by execution, not by etm@1 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for system in SYSTEMS {
        let folder = root.join(system.benchmark);
        let (golds, databases_at) = match system.benchmark {
            "spider" => (read(&folder.join("dev_gold.sql")), folder.join("database")),
            _ => (read(&folder.join("dev_gold_etm.sql")), folder.join("schema_only")),
        };
        let predictions = read(&folder.join(system.predictions));
        let expected = expected(&folder.join(system.oracle));
        let (mut script, mut paper, mut sound, mut agree, mut missed) = (0, 0, 0, 0, 0);
        let pairs = golds.lines().filter(|line| !line.trim().is_empty()).zip(predictions.lines());
        for (index, ((gold, prediction), expected)) in pairs.zip(&expected).enumerate() {
            let (gold, db) = gold.split_once('\t').expect("a gold line has a database");
            let prediction = prediction.split('\t').next().unwrap_or_default();
            let path = databases_at.join(db.trim()).join(format!("{}.sqlite", db.trim()));
            let database = databases
                .entry(path.clone())
                .or_insert_with(|| engine.open(&path).unwrap_or_else(|error| panic!("{error}")));
            let published = Matcher::of_chosen(database.schema(), Profile::Paper, &is_chosen);
            let by_paper = published.is_equal(gold, prediction);
            let comparison = Matcher::new(database.schema(), Profile::Sound).judge(gold, prediction);
            let by_sound = comparison.verdict.is_equal();
            script += usize::from(expected.script);
            paper += usize::from(by_paper);
            sound += usize::from(by_sound);
            agree += usize::from(by_paper == expected.script);
            missed += usize::from(expected.executed == Some(true) && !by_sound);
            if by_paper != expected.script || expected.executed.is_some_and(|e| e != by_sound) {
                let executed = expected.executed.map_or("?", |e| if e { "1" } else { "0" });
                let difference = comparison.difference.unwrap_or_else(|| comparison.verdict.to_string());
                let (s, p, o) = (u8::from(expected.script), u8::from(by_paper), u8::from(by_sound));
                let _ = writeln!(
                    list,
                    "{}\t{}\t{index}\t{}\t{s}\t{p}\t{o}\t{executed}\t{gold}\t{prediction}\t{}",
                    system.benchmark,
                    system.name,
                    db.trim(),
                    difference.replace(['\t', '\n'], " "),
                );
            }
        }
        let share = |count: usize| 100.0 * count as f64 / expected.len() as f64;
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.1} | {:.2} % | {:.1} | {missed} |",
            system.benchmark,
            system.name,
            system.paper,
            share(script),
            share(paper),
            share(agree),
            share(sound),
        );
    }
    if let Some(out) = out {
        std::fs::write(&out, list).unwrap_or_else(|error| panic!("{out}: {error}"));
    }
}
