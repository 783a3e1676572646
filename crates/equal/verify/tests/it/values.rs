//! Which values a verdict is about, and how small its counterexample is.

use std::path::Path;
use std::sync::Arc;

use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_search::{Mined, Minimality};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{ColumnValues, Data, PairContext, Verdict, Verifier, VerifyOptions, VerifyReport};

const DDL: &str = "CREATE TABLE t (code TEXT PRIMARY KEY, a INT, d DATE, note TEXT)";

/// NULL in a key, and a number with a fraction in a column of integers.
const PAIRS: [[&str; 2]; 2] = [
    ["SELECT count(*) FROM t", "SELECT count(code) FROM t"],
    ["SELECT note FROM t WHERE a > 1", "SELECT note FROM t WHERE a >= 2"],
];

fn options(values: ColumnValues) -> VerifyOptions {
    VerifyOptions { values, ..VerifyOptions::default() }
}

fn over_schema(values: ColumnValues, [left, right]: [&str; 2]) -> VerifyReport {
    let verifier = Verifier::new(Schema::from_ddl(DDL).unwrap(), options(values)).unwrap();
    verifier.verify(left, right, None).unwrap()
}

#[test]
fn what_columns_do_not_declare_is_no_difference_but_a_note() {
    for pair in PAIRS {
        let report = over_schema(ColumnValues::Any, pair);
        assert!(matches!(report.verdict, Verdict::Different(_)), "{pair:?}: {:?}", report.verdict);
        assert_eq!((report.values, report.undeclared), (ColumnValues::Any, None));
        for values in [ColumnValues::Declared, ColumnValues::Rows] {
            let report = over_schema(values, pair);
            assert!(!matches!(report.verdict, Verdict::Different(_)), "{pair:?}: {:?}", report.verdict);
            assert_eq!(report.values, ColumnValues::Declared, "{pair:?}");
            let record = report.record();
            let beyond = record.undeclared.unwrap();
            assert_eq!(
                (beyond.len(), record.values.as_deref()),
                (1, Some("declared")),
                "{pair:?}: {beyond:?}"
            );
            assert!(record.undeclared_witness.unwrap().contains("INSERT INTO"), "{pair:?}");
        }
    }
    // What the key's NULL alone makes is proved by rules, and the proof names it.
    let proved = over_schema(ColumnValues::Declared, PAIRS[0]).record();
    assert_eq!(proved.verdict, "equivalent", "{proved:?}");
    assert!(proved.assumes.unwrap().iter().any(|assumed| assumed == "no-null-in-key"));
    // A difference by declared values stays one.
    let pair = ["SELECT note FROM t WHERE a > 1", "SELECT note FROM t WHERE a > 2"];
    let Verdict::Different(counterexample) = over_schema(ColumnValues::Declared, pair).verdict else {
        panic!()
    };
    assert!(counterexample.refutation.needs().is_empty());
    // A proof by rules is about any values.
    let pair = ["SELECT note FROM t", "SELECT t.note FROM t"];
    assert_eq!(over_schema(ColumnValues::Declared, pair).values, ColumnValues::Any);
}

fn over_rows(rows: &str, values: ColumnValues, [left, right]: [&str; 2]) -> VerifyReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.sqlite");
    filled(&path, rows);
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&path).unwrap();
    let mined = Arc::new(Mined::new(Arc::clone(database.schema())));
    let verifier = Verifier::new(Arc::clone(database.schema()), options(values)).unwrap().realistic(mined);
    let results = [left, right].map(|query| Arc::clone(engine.run(&database, query).rows().unwrap()));
    let results = Some((&*results[0], &*results[1]));
    let data = Some(Data { engine: &engine, database: &database, results });
    verifier.verify_beside(left, right, PairContext { data, ..PairContext::default() }).unwrap()
}

fn filled(path: &Path, rows: &str) {
    let script = format!("{DDL}; INSERT INTO t VALUES {rows};");
    rusqlite::Connection::open(path).unwrap().execute_batch(&script).unwrap();
}

#[test]
fn the_given_rows_say_which_columns_hold_what_they_declare() {
    let typed = "('x', 1, '2020-01-02', 'p'), ('y', 3, '2020-01-03', 'q')";
    let free = "('x', 1.5, '2020-01-02', 'p'), (NULL, 3, 'soon', 'q')";
    for pair in PAIRS {
        let report = over_rows(typed, ColumnValues::Rows, pair);
        assert!(!matches!(report.verdict, Verdict::Different(_)), "{pair:?}: {:?}", report.verdict);
        assert!(report.free_columns.is_empty() && report.undeclared.is_some());
        // The rows themselves tell the queries apart.
        let report = over_rows(free, ColumnValues::Rows, pair);
        assert!(matches!(report.verdict, Verdict::Different(_)), "{pair:?}: {:?}", report.verdict);
        assert_eq!(report.free_columns, ["t.code", "t.a", "t.d"]);
        let report = over_rows(free, ColumnValues::Declared, pair);
        assert!(!matches!(report.verdict, Verdict::Different(_)), "{pair:?}: {:?}", report.verdict);
        assert!(report.undeclared.is_some());
    }
}

#[test]
fn a_slice_of_the_rows_gets_the_plain_values_that_are_like_them() {
    let rows: Vec<String> =
        (1..=30).map(|n| format!("('code {n}', {}, '2020-01-{n:02}', 'note {n}')", n + 10)).collect();
    let pair = ["SELECT note FROM t WHERE a > 20", "SELECT note FROM t WHERE a >= 20"];
    let report = over_rows(&rows.join(", "), ColumnValues::Rows, pair);
    let Verdict::Different(counterexample) = &report.verdict else { panic!("{:?}", report.verdict) };
    assert_eq!(counterexample.minimality, Some(Minimality::Fewest));
    assert_eq!(
        counterexample.resemblance.as_ref().unwrap().is_complete(),
        Some(true),
        "{:?}",
        counterexample.resemblance
    );
    // 20 is what tells the queries apart; the note is never NULL there.
    let witness = counterexample.refutation.database().script();
    assert!(witness.ends_with("VALUES ('a', 20, NULL, 'a');\n"), "{witness}");
    assert_eq!(report.record().minimal.as_deref(), Some("fewest"));
}

/// A counterexample that is made up says whether the given rows show a difference too.
#[test]
fn a_difference_is_said_to_be_on_the_given_rows_or_not() {
    for (bound, differs) in [("1", true), ("5", false)] {
        let pair = [">", ">="].map(|sign| format!("SELECT note FROM t WHERE a {sign} {bound}"));
        let pair = pair.each_ref().map(String::as_str);
        let rows = "('x', 1, '2020-01-02', 'p'), ('y', 3, '2020-01-03', 'q')";
        let record = over_rows(rows, ColumnValues::Rows, pair).record();
        assert_eq!((record.verdict.as_str(), record.differs_on_database), ("different", Some(differs)));
        let record = over_schema(ColumnValues::Rows, pair).record();
        assert_eq!((record.verdict.as_str(), record.differs_on_database), ("different", None));
    }
}
