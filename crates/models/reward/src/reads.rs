//! Whether a query reads a table.

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::Query;

/// Whether some relation of the query, in whatever subquery or common table expression that it uses, is a table or a view.
/// The catalog is none: it says nothing of the rows.
pub(crate) fn reads_table(query: &Query) -> bool {
    !reads::tables(query).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    #[test]
    fn tables_are_found_wherever_they_are_read() {
        let schema = Schema::from_ddl("CREATE TABLE t (a INT)").unwrap();
        for (sql, expected) in [
            ("SELECT 1", false),
            ("VALUES (1), (2)", false),
            ("SELECT 1 FROM (VALUES (1))", false),
            ("WITH c AS (SELECT 1) SELECT * FROM c", false),
            ("WITH c AS (SELECT a FROM t) SELECT 1", false),
            ("SELECT name FROM sqlite_master", false),
            ("SELECT value FROM json_each('[1]')", false),
            ("SELECT 5 FROM t LIMIT 1", true),
            ("WITH c AS (SELECT a FROM t) SELECT * FROM c", true),
            ("SELECT 1 WHERE EXISTS (SELECT 1 FROM t)", true),
            ("SELECT (SELECT count(*) FROM t)", true),
            ("SELECT 1 UNION SELECT a FROM t", true),
        ] {
            assert_eq!(reads_table(&resolve(sql, &schema).unwrap()), expected, "{sql}");
        }
    }
}
