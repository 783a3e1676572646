//! What is asked of every engine: a database of teams and players.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Enough, FailureKind, Value};

/// The Python with the drivers.
pub(crate) fn python() -> PathBuf {
    std::env::var_os("SQLGAUGE_PYTHON").unwrap_or_else(|| "python3".into()).into()
}

/// Whether that Python runs with those arguments.
pub(crate) fn runs(arguments: &[&str]) -> bool {
    Command::new(python()).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// The open database.
pub(crate) fn opened(engine: &Arc<dyn Engine>, path: &Path) -> Arc<Database> {
    engine.open(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The values of a result, row by row.
pub(crate) fn cells(engine: &Arc<dyn Engine>, database: &Database, sql: &str) -> Vec<Value> {
    let outcome = engine.run(database, sql).outcome;
    outcome.rows().unwrap_or_else(|| panic!("{sql}: {outcome:?}")).values().to_vec()
}

/// Tables, keys and views are those that were made; a player has so many columns.
pub(crate) fn assert_catalog(database: &Database, columns: usize) {
    let schema = database.schema();
    let player = schema.table_named("player").unwrap();
    assert_eq!((player.columns.len(), player.primary_key.as_slice()), (columns, [0].as_slice()));
    assert_eq!(player.foreign_keys[0].referenced_table, "team");
    assert_eq!(schema.table_named("team").unwrap().unique, [vec![1]]);
    assert!(schema.table_named("tall").is_some());
}

/// The comments of the server's teams are in the schema.
pub(crate) fn assert_comments(database: &Database) {
    let team = database.schema().table_named("team").unwrap();
    let of_columns: Vec<Option<&str>> = team.columns.iter().map(|column| column.comment.as_deref()).collect();
    assert_eq!((team.comment.as_deref(), of_columns), (Some("all teams"), vec![None, None, Some("in EUR")]));
    assert_eq!(database.schema().table_named("tall").unwrap().comment, None);
}

/// A result is cut where its beginning is enough, and the next query is right.
pub(crate) fn assert_cut(engine: &Arc<dyn Engine>, database: &Database, sql: &str) {
    let enough = Enough { rows_over: Some(100), foreign_to: None };
    let begun = engine.run_until(database, sql, &enough);
    assert!(begun.rows().is_some_and(|rows| rows.is_beginning() && rows.len() > 100), "{begun:?}");
    assert_eq!(cells(engine, database, "SELECT 1"), [Value::Integer(1)]);
}

/// What a stranger may write to any engine, and what becomes of it.
const HOSTILE: &[(&str, FailureKind)] = {
    use FailureKind::{
        AmbiguousColumn, Denied, Empty, MultipleStatements, NoSuchColumn, NoSuchFunction, NoSuchTable,
        NulByte, SyntaxError,
    };
    &[
        ("", Empty),
        (" ;; -- nothing", Empty),
        ("SELECT 1; DROP TABLE team", MultipleStatements),
        ("SELECT 1; COMMIT; DELETE FROM team", MultipleStatements),
        ("SELECT '\0'", NulByte),
        ("SELECT FROM WHERE", SyntaxError),
        ("SELECT 'open", SyntaxError),
        ("SELECT * FROM missing", NoSuchTable),
        ("SELECT missing FROM team", NoSuchColumn),
        ("SELECT id FROM team, player", AmbiguousColumn),
        ("SELECT missing(1)", NoSuchFunction),
        ("DROP TABLE team", Denied),
        ("/* SELECT */ DELETE FROM team", Denied),
        ("INSERT INTO team VALUES (3, 'c', 1)", Denied),
        ("UPDATE team SET name = 'x'", Denied),
        ("TRUNCATE team", Denied),
        ("BEGIN", Denied),
        ("COMMIT", Denied),
        ("ROLLBACK", Denied),
    ]
};

/// Each text ends as it should, those of [`HOSTILE`] too, and the next query is right.
pub(crate) fn assert_outcomes(engine: &Arc<dyn Engine>, database: &Database, texts: &[(&str, FailureKind)]) {
    let mut wrong = Vec::new();
    for &(sql, kind) in HOSTILE.iter().chain(texts) {
        let outcome = engine.run(database, sql).outcome;
        let excerpt: String = sql.chars().take(70).collect();
        let actual = outcome.failure().map(|failure| failure.kind);
        // A busy machine may reach the limit of time before that of size.
        let is_late = kind == FailureKind::TooLarge && actual == Some(FailureKind::Timeout);
        if actual != Some(kind) && !is_late {
            wrong.push(format!("{excerpt}: {:?}, not {kind}", outcome.failure()));
        }
        assert_eq!(
            cells(engine, database, "SELECT count(*) FROM team"),
            [Value::Integer(2)],
            "after {excerpt}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
