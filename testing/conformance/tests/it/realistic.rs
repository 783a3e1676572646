//! Counterexamples that are called realistic keep what the rows of the real databases keep, as SQLite says it: no repeats, no
//! NULL, and no dependency broken in any column that the queries read.
//!
//! The adversary: the plain search on the same pairs, whose counterexamples the same questions must convict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use sqlgauge_conformance::{data, files, gold_lines, one_of, read};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_search::Mined;
use sqlgauge_verify::{Data, NamedTable, PairContext, Verdict, Verifier, VerifyOptions};

/// Of so many pairs of a gold and a prediction one is taken.
const EVERY: usize = 31;

/// Rows that must repeat a value before a dependency is believed; see [`Mined`].
const MIN_REPEATS: i64 = 10;

/// By database, some of the golds with what was predicted for them.
fn pairs(root: &Path) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("dev_gold.sql"));
    let mut pairs: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for path in files(&spider.join("predictions/dev"), "sql") {
        let text = read(&path);
        for ((gold, db), line) in golds.iter().zip(text.lines()).step_by(one_of(EVERY)) {
            let prediction = line.split('\t').next().unwrap_or_default();
            pairs.entry(db.clone()).or_default().insert((gold.clone(), prediction.to_owned()));
        }
    }
    pairs
}

/// What the rows of a database keep and a counterexample does not, in the columns that the queries read.
fn broken(real: &Connection, tables: &[NamedTable]) -> Vec<String> {
    let is_so = |sql: String| real.query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap();
    let mut broken = Vec::new();
    for NamedTable { name, rows } in tables {
        let is_filled = is_so(format!("SELECT count(*) > 0 FROM \"{name}\""));
        for (at, column) in rows.columns.iter().enumerate().filter(|_| is_filled) {
            let values: Vec<String> = rows.rows.iter().map(|row| row[at].to_string()).collect();
            let present: Vec<&String> = values.iter().filter(|value| *value != "null").collect();
            let sentence = format!("\"{name}\" never repeats \"{column}\"");
            let unique = "count(*) > 1 AND count(DISTINCT";
            let distinct: BTreeSet<&&String> = present.iter().collect();
            if distinct.len() < present.len()
                && is_so(format!("SELECT {unique} \"{column}\") = count(*) FROM \"{name}\""))
            {
                broken.push(sentence);
            }
            if present.len() < values.len()
                && is_so(format!("SELECT count(*) = count(\"{column}\") FROM \"{name}\""))
            {
                broken.push(format!("\"{name}\".\"{column}\" is never NULL"));
            }
            for (other, to) in rows.columns.iter().enumerate().filter(|&(other, _)| other != at) {
                let determines = format!(
                    "SELECT count(\"{column}\") - count(DISTINCT \"{column}\") >= {MIN_REPEATS} AND count(DISTINCT \"{column}\") > 1 \
                     AND (SELECT count(DISTINCT \"{to}\") > 1 AND count(\"{to}\") = count(*) FROM \"{name}\") \
                     AND NOT EXISTS (SELECT 1 FROM \"{name}\" WHERE \"{column}\" IS NOT NULL GROUP BY \"{column}\" \
                     HAVING count(DISTINCT \"{to}\") > 1) FROM \"{name}\""
                );
                let mut by_value: BTreeMap<String, String> = BTreeMap::new();
                let is_two = rows.rows.iter().any(|row| {
                    let (from, to) = (row[at].to_string(), row[other].to_string());
                    from != "null" && by_value.insert(from, to.clone()).is_some_and(|before| before != to)
                });
                if is_two && is_so(determines) {
                    broken.push(format!("\"{name}\": one \"{to}\" for each \"{column}\""));
                }
            }
        }
    }
    broken
}

#[test]
#[ignore = "long: cargo xtask long"]
fn what_is_called_realistic_keeps_what_the_rows_keep() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let (mut different, mut realistic, mut convicted) = (0, 0, 0);
    for (db, pairs) in pairs(&root) {
        let path = root.join(format!("spider/database/{db}/{db}.sqlite"));
        let database = engine.open(&path).unwrap();
        let real = Connection::open(&path).unwrap();
        let mined = Arc::new(Mined::new(Arc::clone(database.schema())));
        let schema = Arc::clone(&database.kept_schema(&engine).schema);
        let plain = Verifier::new(Arc::clone(&schema), VerifyOptions::default()).unwrap();
        let like = Verifier::new(schema, VerifyOptions::default()).unwrap().realistic(mined);
        for (gold, prediction) in pairs {
            let tables = |verifier: &Verifier| {
                let data = Some(Data { engine: &engine, database: &database, results: None });
                let context = PairContext { data, ..PairContext::default() };
                let report = verifier.verify_beside(&gold, &prediction, context).ok()?;
                let Verdict::Different(counterexample) = &report.verdict else { return None };
                let is_complete = counterexample
                    .resemblance
                    .as_ref()
                    .is_some_and(|resemblance| resemblance.is_complete() == Some(true));
                Some((is_complete, report.record().shown_tables()))
            };
            let Some((is_complete, witness)) = tables(&like) else { continue };
            different += 1;
            if is_complete {
                realistic += 1;
                assert_eq!(
                    broken(&real, &witness),
                    Vec::<String>::new(),
                    "{db}\n{gold}\n{prediction}\n{witness:?}"
                );
            }
            if different % 4 == 0 {
                let plain = tables(&plain).map(|(_, witness)| witness).unwrap_or_default();
                convicted += usize::from(!broken(&real, &plain).is_empty());
            }
        }
    }
    println!(
        "{different} pairs told apart, {realistic} of them realistically; of every fourth the plain counterexample: {convicted} convicted"
    );
    assert!(different > 300 && realistic * 2 > different, "{realistic} of {different}");
    assert!(convicted * 40 > different, "{convicted} of {different}");
}
