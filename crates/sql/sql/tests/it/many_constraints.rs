//! Tables with thousands of constraints are read; tables with more columns than any database has are refused by name.

use sqlgauge_sql::schema::Schema;

fn listed(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(", ")
}

#[test]
fn constraints_do_not_count_as_columns() {
    let parts = [
        listed(100, |at| format!("c{at} INTEGER")),
        listed(6000, |at| format!("CHECK (c{} > -{at})", at % 100)),
        listed(60, |at| format!("CONSTRAINT \"u, {at}\" UNIQUE (c{at}, c{})", at + 1)),
        listed(2000, |at| format!("foreign key (c{}) REFERENCES p (id)", at % 100)),
    ];
    let ddl = format!("CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE x ({});", parts.join(", "));
    let schema = Schema::from_ddl(&ddl).unwrap();
    let table = &schema.tables()[1];
    assert_eq!((table.columns.len(), table.checks.len()), (100, 6000));
    assert_eq!((table.unique.len(), table.foreign_keys.len()), (60, 2000));
}

#[test]
fn more_columns_than_sqlite_allows_are_refused() {
    let table = |columns| format!("CREATE TABLE x ({})", listed(columns, |at| format!("c{at}")));
    assert_eq!(Schema::from_ddl(&table(2000)).unwrap().tables()[0].columns.len(), 2000);
    let error = Schema::from_ddl(&table(4002)).unwrap_err();
    assert!(error.to_string().contains("more than 4000 columns"), "{error}");
    // Names that are constraints' words in quotes are columns.
    let quoted =
        format!("CREATE TABLE x ({})", listed(4002, |at| format!("\"check\" INTEGER, \"unique {at}\"")));
    assert!(Schema::from_ddl(&quoted).unwrap_err().to_string().contains("more than 4000 columns"));
}
