//! A corpus of Spider's databases: every query runs under a SQLite of its own, and the figures are those that are promised.

use std::collections::BTreeSet;

use rusqlite::{Connection, OpenFlags};
use sqlgauge_conformance::{data, read};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_synth::operators::OPERATORS;
use sqlgauge_synth::{SynthOptions, SynthPair, Tier, sources, synthesize};

const PAIRS: u64 = 1200;

fn options() -> SynthOptions {
    SynthOptions {
        pairs: PAIRS,
        seed: 1,
        pairs_per_file: 1000,
        tool_version: "test".to_owned(),
        ..SynthOptions::default()
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_corpus_of_spider_runs_and_has_what_it_promises() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("corpus");
    let limits = Limits { max_vm_steps: 1_000_000, max_rows: 20_000, ..Limits::default() };
    let sources = sources(&[data.join("spider/database")]).unwrap();
    let summary =
        synthesize(&sources, &SqliteEngine::new(limits), &options(), out.clone(), &|_, _| {}).unwrap();
    assert_eq!((summary.tally.pairs, summary.unmet), (PAIRS, [0; 4]));
    for (tier, percent) in Tier::ALL.into_iter().zip(options().tiers.percent()) {
        let share = 100.0 * summary.tally.tiers[&tier] as f64 / PAIRS as f64;
        assert!((share - f64::from(percent)).abs() <= 1.0, "{tier}: {share}");
    }
    let operators: BTreeSet<&str> = summary.tally.operators.keys().map(String::as_str).collect();
    assert_eq!(operators, OPERATORS.iter().map(|operator| operator.name).collect());
    assert!((1..=8).all(|depth| summary.tally.depths.contains_key(&depth)), "{:?}", summary.tally.depths);

    let mut seen = BTreeSet::new();
    for file in ["train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"] {
        for line in read(&out.join("data").join(file)).lines() {
            let pair: SynthPair = serde_json::from_str(line).unwrap();
            let path = out.join(format!("databases/{0}/{0}.sqlite", pair.db_id));
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            let mut statement =
                connection.prepare(&pair.sql).unwrap_or_else(|error| panic!("{error}: {}", pair.sql));
            let mut rows = statement.query([]).unwrap();
            let mut count = 0;
            while rows.next().unwrap().is_some() {
                count += 1;
            }
            assert_eq!(count, pair.rows, "{}", pair.sql);
            assert!(pair.rows > 0 && pair.question.is_some() != pair.question_missing.is_some());
            assert!(seen.insert((pair.db_id, pair.sql)), "twice");
        }
    }
    assert_eq!(seen.len() as u64, PAIRS);
}
