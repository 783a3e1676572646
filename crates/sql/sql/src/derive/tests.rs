use super::*;
use crate::resolve;

fn schema() -> Schema {
    Schema::from_ddl(
        "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE, city TEXT NOT NULL);
         CREATE TABLE player (code TEXT PRIMARY KEY, team_id INT REFERENCES team, born TEXT COLLATE NOCASE);",
    )
    .unwrap()
}

#[test]
fn a_result_may_be_null_unless_schema_or_filter_forbids_it() {
    let schema = schema();
    for (sql, expected) in [
        ("SELECT id FROM team", false),
        ("SELECT name FROM team", true),
        ("SELECT city FROM team", false),
        ("SELECT code FROM player", true),
        ("SELECT name FROM team WHERE name > 'a'", false),
        ("SELECT name FROM team WHERE name > 'a' OR id = 1", true),
        ("SELECT name FROM team WHERE name NOT IN (SELECT code FROM player)", true),
        ("SELECT t.city FROM player p LEFT JOIN team t ON p.team_id = t.id", true),
        ("SELECT COUNT(*) FROM team", false),
        ("SELECT MAX(id) FROM team", true),
        ("SELECT id + 1 FROM team", true),
        ("SELECT coalesce(name, '') FROM team", false),
    ] {
        let query = resolve(sql, &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        let select = query.as_select().unwrap();
        assert_eq!(facts.output_may_be_null(select, &select.outputs[0].expr), expected, "{sql}");
    }
}

#[test]
fn a_column_that_a_full_join_merges_compares_as_the_first_and_a_call_as_nothing() {
    let schema = Schema::from_ddl(
        "CREATE TABLE a (x INT, z TEXT COLLATE NOCASE); CREATE TABLE b (x TEXT, z TEXT COLLATE RTRIM);",
    )
    .unwrap();
    for (sql, affinity, collation) in [
        ("SELECT x FROM a FULL JOIN b USING (x)", Some(Affinity::Integer), Collation::Binary),
        ("SELECT z FROM a FULL JOIN b USING (z)", Some(Affinity::Text), Collation::NoCase),
        ("SELECT z FROM b FULL JOIN a USING (z)", Some(Affinity::Text), Collation::RTrim),
        ("SELECT coalesce(a.z, b.z) FROM a FULL JOIN b USING (z)", None, Collation::Binary),
    ] {
        let query = resolve(sql, &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        let output = &query.as_select().unwrap().outputs[0].expr;
        assert_eq!(facts.affinity(output), Fact::Known(affinity), "{sql}");
        assert_eq!(facts.collation(output), Fact::Known(collation), "{sql}");
    }
}

/// SQLite gives a rowid no collation, a column of a subquery BINARY, and does not promise which of both it takes for the
/// rowid of a subquery. Where nothing compares but byte by byte, that is all the same.
#[test]
fn a_rowid_brings_no_collation_where_there_are_others() {
    let brings = |ddl: &str, sql: &str| {
        let schema = Schema::from_ddl(ddl).unwrap();
        let query = resolve(sql, &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        facts.collating(&query.as_select().unwrap().outputs[0].expr)
    };
    let binary = Fact::Known(Some(Collating { collation: Collation::Binary, explicit: false }));
    let ddl = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INT, c TEXT COLLATE NOCASE); CREATE VIEW v AS SELECT id FROM t;
        CREATE TABLE w (id INTEGER PRIMARY KEY) WITHOUT ROWID;";
    for (sql, expected) in [
        ("SELECT id FROM t", Fact::Known(None)),
        ("SELECT rowid FROM t", Fact::Known(None)),
        ("SELECT +id FROM t", Fact::Known(None)),
        ("SELECT n FROM t", binary.clone()),
        ("SELECT id FROM w", binary.clone()),
        ("SELECT id FROM (SELECT id FROM t)", Fact::Unknown),
        ("SELECT id FROM v", Fact::Unknown),
        ("SELECT x FROM (SELECT +id AS x FROM t)", binary.clone()),
        ("SELECT x FROM (SELECT id + 1 AS x FROM t)", binary.clone()),
    ] {
        assert_eq!(brings(ddl, sql), expected, "{sql}");
    }
    let bytes = "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); CREATE VIEW v AS SELECT c FROM t;";
    assert_eq!(brings(bytes, "SELECT id FROM t"), binary);
    assert_eq!(brings(bytes, "SELECT id FROM (SELECT id FROM t)"), binary);
    assert_eq!(brings(bytes, "SELECT id FROM t ORDER BY c COLLATE NOCASE"), Fact::Known(None));
    let view = "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT); CREATE VIEW v AS SELECT c COLLATE NOCASE AS c FROM t;";
    assert_eq!(brings(view, "SELECT id FROM t"), Fact::Known(None));
}

#[test]
fn the_closure_follows_keys_equalities_and_constants() {
    let schema = schema();
    for (sql, expected) in [
        ("SELECT id, city FROM team", true),
        ("SELECT name, city FROM team", false),
        ("SELECT name, city FROM team WHERE name IS NOT NULL", true),
        ("SELECT city, id FROM team", false),
        ("SELECT p.team_id, t.city FROM team t JOIN player p ON t.id = p.team_id", true),
        ("SELECT p.team_id, t.city FROM player p LEFT JOIN team t ON t.id = p.team_id", true),
        ("SELECT p.code, p.born FROM player p", false),
        ("SELECT city, name FROM team WHERE id = 3", true),
        ("SELECT born, code FROM player WHERE born = 'x'", false),
    ] {
        let query = resolve(sql, &schema).unwrap();
        let facts = Facts::of(&query, &schema);
        let select = query.as_select().unwrap();
        let closure = Dependencies::of(select, &facts).closure(&[select.outputs[0].expr.clone()]);
        assert_eq!(closure.determines(&select.outputs[1].expr), expected, "{sql}");
    }
}

#[test]
fn derived_tables_and_ctes_have_facts_of_their_own() {
    let schema = schema();
    let query = resolve(
        "WITH q AS (SELECT team_id AS t, COUNT(*) AS n FROM player GROUP BY team_id) SELECT q.n, q.t FROM q",
        &schema,
    )
    .unwrap();
    let facts = Facts::of(&query, &schema);
    let select = query.as_select().unwrap();
    assert!(!facts.is_nullable(&select.outputs[0].expr));
    assert!(facts.is_nullable(&select.outputs[1].expr));
    let Some(From::Relation(relation)) = &select.from else { panic!() };
    assert_eq!(facts.unique_sets(relation.id), vec![vec![Place::At(0)]]);
}
