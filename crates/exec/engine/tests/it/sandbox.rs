//! Databases in memory: untrusted queries get the outcomes that they get on a file.

use std::time::Duration;

use sqlgauge_engine::{FailureKind, QueryBudget, Sandbox, Value};

fn sandbox() -> Sandbox {
    let budget = QueryBudget { vm_steps: 100_000, time: Duration::from_secs(20), max_rows: 100 };
    let sandbox = Sandbox::new(budget).unwrap();
    sandbox.create("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)").unwrap();
    sandbox.begin_transaction().unwrap();
    let mut insert = sandbox.prepare_own("INSERT INTO t VALUES (?, ?)").unwrap();
    for (id, name) in [(1, "ann"), (2, "bob")] {
        insert.raw_bind_parameter(1, Value::Integer(id)).unwrap();
        insert.raw_bind_parameter(2, Value::text(name)).unwrap();
        sandbox.execute_own(&mut insert).unwrap();
    }
    drop(insert);
    sandbox
}

fn outcome(sandbox: &Sandbox, sql: &str) -> Result<usize, FailureKind> {
    let rows = sandbox.prepare(sql).and_then(|mut statement| sandbox.run(&mut statement));
    rows.map(|rows| rows.len()).map_err(|failure| failure.kind)
}

#[test]
fn outcomes_are_those_of_an_engine() {
    let sandbox = sandbox();
    let numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    for (sql, expected) in [
        ("SELECT name FROM t".to_owned(), Ok(2)),
        ("SELECT 1;;".to_owned(), Ok(1)),
        (String::new(), Err(FailureKind::Empty)),
        ("SELEC 1".to_owned(), Err(FailureKind::SyntaxError)),
        ("SELECT missing FROM t".to_owned(), Err(FailureKind::NoSuchColumn)),
        ("SELECT name FROM t, t u".to_owned(), Err(FailureKind::AmbiguousColumn)),
        ("SELECT ?".to_owned(), Err(FailureKind::Parameters)),
        ("SELECT 1; SELECT 2".to_owned(), Err(FailureKind::MultipleStatements)),
        ("DELETE FROM t".to_owned(), Err(FailureKind::Denied)),
        ("INSERT INTO t VALUES (3, 'x') RETURNING id".to_owned(), Err(FailureKind::Denied)),
        ("PRAGMA reverse_unordered_selects = 1".to_owned(), Err(FailureKind::Denied)),
        ("SELECT load_extension('/nowhere')".to_owned(), Err(FailureKind::Denied)),
        ("SELECT printf('%.20000c', 'a')".to_owned(), Err(FailureKind::TooLarge)),
        (format!("{numbers} SELECT x FROM n"), Err(FailureKind::TooLarge)),
        (format!("{numbers} SELECT count(*) FROM n"), Err(FailureKind::Timeout)),
        ("SELECT count(*) FROM t".to_owned(), Ok(1)),
    ] {
        assert_eq!(outcome(&sandbox, &sql), expected, "{sql}");
    }
}

#[test]
fn a_definition_that_is_not_to_be_trusted_has_no_effects() {
    let sandbox =
        Sandbox::new(QueryBudget { vm_steps: 1000, time: Duration::from_secs(20), max_rows: 1 }).unwrap();
    assert!(sandbox.create("CREATE TABLE a(x CHECK (load_extension('/nowhere')))").is_err());
    assert!(sandbox.create("CREATE TABLE b(x); DROP TABLE b").is_err());
    assert!(sandbox.create("ATTACH 'other.sqlite' AS o").is_err());
    assert!(sandbox.create("CREATE VIRTUAL TABLE v USING fts5(a)").is_err());
    assert!(sandbox.create("CREATE TABLE ok(x CHECK (length(x) < 9))").is_ok());
}

/// What queries take together is counted, whether they end or not; compiling a long text takes of it too.
#[test]
fn queries_find_no_more_steps_than_are_left_in_total() {
    let sandbox = sandbox();
    let count =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT count(*) FROM n";
    sandbox.allow_in_total(20_000);
    let runs = (0..20).take_while(|_| outcome(&sandbox, count).is_ok()).count();
    assert!((1..10).contains(&runs), "{runs}");
    assert_eq!((outcome(&sandbox, "SELECT 1"), sandbox.left_in_total()), (Err(FailureKind::Timeout), 0));
    sandbox.allow_in_total(20_000);
    assert_eq!(outcome(&sandbox, "SELECT 1"), Ok(1));
    let long = format!("SELECT 1{}", " + 1".repeat(2_000));
    assert!(outcome(&sandbox, &long).is_err());
    assert_eq!(sandbox.left_in_total(), 0);
}

/// What a text returns follows from the text and the database, also where it asks for chance.
#[test]
fn chance_is_the_same_in_every_run() {
    let rows = |sandbox: &Sandbox, sql: &str| {
        let mut statement = sandbox.prepare(sql).unwrap();
        sandbox.run(&mut statement).unwrap().values().to_vec()
    };
    let (one, other) = (sandbox(), sandbox());
    for sql in [
        "SELECT random(), random() FROM t",
        "SELECT hex(randomblob(9))",
        "SELECT id FROM t ORDER BY random()",
    ] {
        let first = rows(&one, sql);
        assert_eq!(rows(&one, sql), first, "{sql}");
        assert_eq!(rows(&other, sql), first, "{sql}");
    }
    let drawn = rows(&one, "SELECT random(), random()");
    assert_ne!(drawn[0], drawn[1]);
    assert_eq!(outcome(&one, "SELECT randomblob(20000)"), Err(FailureKind::TooLarge));
}

/// SQLite builds the list of an IN without asking whether to go on, so that the budget is looked at before.
#[test]
fn a_statement_of_ours_does_not_begin_without_steps() {
    let sandbox =
        Sandbox::new(QueryBudget { vm_steps: 500_000, time: Duration::from_secs(20), max_rows: 100 })
            .unwrap();
    let numbers = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    sandbox.create(&format!("CREATE TABLE t(a CHECK (a IN ({numbers})))")).unwrap();
    let mut insert = sandbox.prepare_own("INSERT INTO t VALUES (7)").unwrap();
    sandbox.allow_own_in_total(1_000_000);
    let inserted = (0..200).filter(|_| sandbox.execute_own(&mut insert).is_ok()).count();
    assert!((5..100).contains(&inserted), "{inserted}");
    assert_eq!(sandbox.own_left_in_total(), 0);
    assert!(sandbox.execute_own(&mut insert).is_err());
    // What computes nothing of the schema needs none.
    let mut delete = sandbox.prepare_own("DELETE FROM t").unwrap();
    sandbox.execute_plain(&mut delete).unwrap();
    assert_eq!(outcome(&sandbox, "SELECT a FROM t"), Ok(0));
}
