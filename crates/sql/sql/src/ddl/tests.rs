//! Scripts and single statements, as SQLite understands them.

use super::*;

#[test]
fn constraints_of_columns_and_tables_are_read() {
    let schema = Schema::from_ddl(
        "CREATE TABLE team (id INTEGER PRIMARY KEY, \"name\" VARCHAR(20) NOT NULL UNIQUE COLLATE NOCASE);
         CREATE TABLE player (team_id INT REFERENCES team, shirt INT, born DATE DEFAULT 'x' CHECK (born > 0),
            PRIMARY KEY (team_id, shirt), FOREIGN KEY (team_id) REFERENCES team(id));
         CREATE UNIQUE INDEX by_birth ON player (born);
         CREATE UNIQUE INDEX partial ON player (shirt) WHERE shirt > 3;
         CREATE UNIQUE INDEX computed ON player (lower(born));",
    )
    .unwrap();
    let team = schema.table_named("TEAM").unwrap();
    assert_eq!((team.rowid_alias(), team.is_not_null(0)), (Some(0), true));
    assert_eq!(team.columns[1].declared_type.as_deref(), Some("VARCHAR(20)"));
    assert_eq!(team.columns[1].collation, Collation::NoCase);
    assert!(team.is_unique(&[1]) && team.is_not_null(1));
    let player = schema.table_named("player").unwrap();
    assert_eq!(player.unique, vec![vec![2]]);
    assert!(!player.is_not_null(0), "a composite key of an ordinary table may hold NULL in SQLite");
    assert_eq!(player.checks.len(), 1);
    let targets: Vec<_> = player.foreign_keys.iter().map(|key| schema.resolve_foreign_key(key)).collect();
    assert_eq!(targets, vec![Some((schema.table_id("team").unwrap(), vec![0])); 2]);
}

#[test]
fn actions_of_foreign_keys_and_autoincrement_are_read() {
    let schema = Schema::from_ddl(
        "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, b REFERENCES a ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED);
         CREATE TABLE c (id INTEGER, a REFERENCES a NOT DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY (id AUTOINCREMENT),
            FOREIGN KEY (a) REFERENCES a (id) ON UPDATE CASCADE ON DELETE RESTRICT MATCH FULL);",
    )
    .unwrap();
    let actions = |table: &str| -> Vec<String> {
        schema.table_named(table).unwrap().foreign_keys.iter().map(ForeignKey::actions).collect()
    };
    assert_eq!(actions("a"), [" ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"]);
    assert_eq!(actions("c"), ["", " ON DELETE RESTRICT ON UPDATE CASCADE"]);
    assert!(schema.tables().iter().all(|table| table.autoincrement));
}

#[test]
fn a_constraint_on_a_column_that_is_not_there_is_an_error() {
    let error = Schema::from_ddl("CREATE TABLE t (a, UNIQUE (b))").unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::UnknownColumn("t.b".to_owned()));
}

#[test]
fn an_integer_key_that_descends_on_its_column_is_no_rowid_and_may_be_null() {
    for (ddl, alias) in [
        ("CREATE TABLE t (id INTEGER PRIMARY KEY)", Some(0)),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY ASC)", Some(0)),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY DESC)", None),
        ("CREATE TABLE t (id INTEGER, PRIMARY KEY (id DESC))", Some(0)),
        ("CREATE TABLE t (id INT PRIMARY KEY)", None),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY) WITHOUT ROWID", None),
    ] {
        let schema = Schema::from_ddl(ddl).unwrap();
        let table = schema.table_named("t").unwrap();
        assert_eq!(table.rowid_alias(), alias, "{ddl}");
        assert_eq!(table.is_not_null(0), alias.is_some() || table.without_rowid, "{ddl}");
    }
}

#[test]
fn an_index_that_tells_apart_what_its_column_does_not_makes_nothing_unique() {
    let schema = Schema::from_ddl(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT UNIQUE COLLATE NOCASE, c TEXT,
            UNIQUE (a COLLATE BINARY), UNIQUE (c COLLATE NOCASE DESC));
         CREATE TABLE p (a TEXT COLLATE NOCASE, PRIMARY KEY (a COLLATE BINARY));",
    )
    .unwrap();
    let table = schema.table_named("t").unwrap();
    assert_eq!(table.unique, vec![vec![1], vec![2]]);
    assert_eq!(table.indexes.len(), 3);
    assert!(!schema.table_named("p").unwrap().is_unique(&[0]));
}

#[test]
fn views_have_the_columns_of_their_queries_in_whatever_order_they_are_created() {
    let schema = Schema::from_ddl(
        "CREATE VIEW second AS SELECT y, y || 'x' FROM first;
         CREATE VIEW \"first\" (x, y) AS SELECT id, name FROM 'team';
         CREATE TABLE team (id INTEGER PRIMARY KEY, name VARCHAR(9), g INT GENERATED ALWAYS AS (id + 1));",
    )
    .unwrap();
    let columns = |name: &str| {
        let table = schema.table_named(name).unwrap();
        table.columns.iter().map(|c| (c.name.clone(), c.declared_type.clone())).collect::<Vec<_>>()
    };
    let (id, name) = (Some("INTEGER".to_owned()), Some("VARCHAR(9)".to_owned()));
    assert_eq!(columns("first"), [("x".to_owned(), id), ("y".to_owned(), name.clone())]);
    assert_eq!(columns("second")[0], ("y".to_owned(), name));
    assert_eq!(columns("second")[1].1, None);
    assert_eq!(columns("team")[2], ("g".to_owned(), Some("INT".to_owned())));
    assert_eq!(schema.table_named("team").unwrap().columns[2].generated_as.as_deref(), Some("id + 1"));
}

#[test]
fn virtual_tables_name_their_module() {
    for (ddl, expected) in [
        ("create virtual TABLE t USING fts5(a)", "fts5"),
        ("CREATE VIRTUAL TABLE IF NOT EXISTS \"using\" /* USING x */ using \"RTree\"(id,a,b)", "RTree"),
        ("CREATE VIRTUAL TABLE t USING dbstat", "dbstat"),
    ] {
        let Declared::Virtual { module, .. } = declared(ddl).unwrap() else { panic!("{ddl}") };
        assert_eq!(module, expected);
    }
}

#[test]
fn what_is_not_read_is_named() {
    for (ddl, message) in [
        ("CREATE VIEW v AS SELECT a FROM nowhere", "view v: no such table: nowhere"),
        ("CREATE TABLE t (a); ALTER TABLE t ADD COLUMN b", "unsupported construct: ALTER TABLE t"),
        ("CREATE VIRTUAL TABLE f USING fts5(a)", "unsupported construct: CREATE VIRTUAL TABLE f"),
        ("CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v", "view v: no such table: w"),
    ] {
        assert_eq!(Schema::from_ddl(ddl).unwrap_err().kind().to_string(), message, "{ddl}");
    }
}

#[test]
fn what_changes_no_schema_is_passed_over() {
    let schema = Schema::from_ddl(
        "BEGIN; DROP TABLE IF EXISTS t; CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA foreign_keys = ON;
         CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END; COMMIT;",
    )
    .unwrap();
    assert_eq!(schema.tables().len(), 1);
}
