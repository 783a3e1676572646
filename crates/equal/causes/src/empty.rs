//! What a query returns on a database without rows, as far as its outline says so.
//!
//! # Contract
//! - A database without rows keeps every constraint of a schema. So queries that return different results there are different
//!   queries, whatever else is known of them.
//! - [`differ`] is true only where they do; of what this file does not understand it says nothing.

use sqlgauge_sql::derive::has_aggregate;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Args, Body, Expr, From, JoinKind, Literal, Query, RelationSource, Select, SetOperator,
};

/// Whether two queries return different results on a database without rows.
pub(crate) fn differ(query: &Query, other: &Query) -> bool {
    if query.width() != other.width() {
        return true;
    }
    match (on_empty(query), on_empty(other)) {
        (Some(OnEmpty::Row(row)), Some(OnEmpty::Row(others))) => {
            row.iter().zip(&others).any(|pair| matches!(pair, (Some(value), Some(other)) if value != other))
        }
        (Some(OnEmpty::Nothing), Some(OnEmpty::Row(_))) | (Some(OnEmpty::Row(_)), Some(OnEmpty::Nothing)) => {
            true
        }
        _ => false,
    }
}

#[derive(Debug, PartialEq)]
enum OnEmpty {
    Nothing,
    /// One row, with the whole numbers that are certain.
    Row(Vec<Option<i64>>),
}

fn on_empty(query: &Query) -> Option<OnEmpty> {
    let result = of_body(&query.body)?;
    let is_whole = query.offset.is_none() && query.limit.as_ref().is_none_or(|limit| whole(limit) > Some(0));
    (is_whole || result == OnEmpty::Nothing).then_some(result)
}

fn of_body(body: &Body) -> Option<OnEmpty> {
    match body {
        Body::Select(select) => of_select(select),
        Body::SetOperation { operator, left, right, .. } => {
            let is_nothing = |body: &Body| of_body(body) == Some(OnEmpty::Nothing);
            let is_empty = is_nothing(left) && (*operator != SetOperator::Union || is_nothing(right));
            is_empty.then_some(OnEmpty::Nothing)
        }
        Body::Values(_) => None,
    }
}

fn of_select(select: &Select) -> Option<OnEmpty> {
    let reads_nothing = select.from.as_ref().is_some_and(is_empty);
    let has_one_row = select.from.is_none() && select.filter.is_none();
    if !select.group_by.is_empty() {
        return reads_nothing.then_some(OnEmpty::Nothing);
    }
    let is_one_group = select.outputs.iter().any(|output| has_aggregate(&output.expr));
    if select.having.is_some() || !(reads_nothing || has_one_row) {
        return None;
    }
    if reads_nothing && !is_one_group {
        return Some(OnEmpty::Nothing);
    }
    let value = |expr: &Expr| match expr {
        Expr::Aggregate(aggregate) if aggregate.function == Function::Count && reads_nothing => Some(0),
        Expr::Aggregate(aggregate) if aggregate.function == Function::Count && aggregate.is_plain() => {
            (aggregate.args == Args::Star).then_some(1)
        }
        other => whole(other),
    };
    Some(OnEmpty::Row(select.outputs.iter().map(|output| value(&output.expr)).collect()))
}

fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Whether what FROM reads has no row.
fn is_empty(from: &From) -> bool {
    match from {
        From::Relation(relation) => match &relation.source {
            RelationSource::Table(_) => true,
            RelationSource::Derived(query) => on_empty(query) == Some(OnEmpty::Nothing),
            RelationSource::Cte(_) | RelationSource::Function { .. } | RelationSource::Catalog => false,
        },
        From::Join(join) => match join.kind {
            JoinKind::Inner | JoinKind::Cross => is_empty(&join.left) || is_empty(&join.right),
            JoinKind::Left => is_empty(&join.left),
            JoinKind::Right => is_empty(&join.right),
            JoinKind::Full => is_empty(&join.left) && is_empty(&join.right),
        },
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite::types::Value;
    use sqlgauge_sql::resolve;
    use sqlgauge_sql::schema::Schema;

    use super::*;

    const TABLES: &str = "CREATE TABLE a (id INTEGER PRIMARY KEY, x INTEGER);
                          CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a (id));";

    /// Queries, and whether this file knows their result.
    const QUERIES: [(&str, bool); 23] = [
        ("SELECT 42", true),
        ("SELECT 42 LIMIT 1", true),
        ("SELECT 42 LIMIT 0", false),
        ("SELECT 42 WHERE 0", false),
        ("SELECT count(*)", true),
        ("SELECT count(NULL)", true),
        ("SELECT x FROM a", true),
        ("SELECT 42 FROM a LIMIT 1 OFFSET 1", true),
        ("SELECT count(*) FROM a", true),
        ("SELECT count(*), 42, max(x) FROM a WHERE x > 1", true),
        ("SELECT count(*) FROM a GROUP BY x", true),
        ("SELECT x FROM a GROUP BY x ORDER BY count(*)", true),
        ("SELECT count(*) FROM a HAVING count(*) > 0", false),
        ("SELECT a.x FROM a JOIN b ON a.id = b.a_id", true),
        ("SELECT count(*) FROM a JOIN (SELECT 1) ON 1", true),
        ("SELECT count(*) FROM (SELECT 1) LEFT JOIN a ON 1", false),
        ("SELECT 7 FROM (SELECT 1) RIGHT JOIN a ON 1", true),
        ("SELECT 7 FROM (SELECT count(*) FROM a)", false),
        ("SELECT x FROM a UNION SELECT id FROM b", true),
        ("SELECT x FROM a UNION SELECT 1", false),
        ("SELECT x FROM a EXCEPT SELECT 1", true),
        ("SELECT (SELECT count(a.x)) FROM a", true),
        ("VALUES (1)", false),
    ];

    #[test]
    fn what_is_said_is_what_sqlite_returns() {
        let (schema, sqlite) = (Schema::from_ddl(TABLES).unwrap(), Connection::open_in_memory().unwrap());
        sqlite.execute_batch(TABLES).unwrap();
        for (sql, is_certain) in QUERIES {
            let expected = on_empty(&resolve(sql, &schema).unwrap());
            assert_eq!(expected.is_some(), is_certain, "{sql}: {expected:?}");
            let mut statement = sqlite.prepare(sql).unwrap();
            let width = statement.column_count();
            let values = |row: &rusqlite::Row<'_>| (0..width).map(|at| row.get::<_, Value>(at)).collect();
            let rows: Vec<Vec<Value>> =
                statement.query_map([], values).unwrap().map(Result::unwrap).collect();
            match expected {
                Some(OnEmpty::Nothing) => assert!(rows.is_empty(), "{sql}: {rows:?}"),
                Some(OnEmpty::Row(row)) => {
                    let fits = |(value, number): (&Value, &Option<i64>)| {
                        number.is_none_or(|number| *value == Value::Integer(number))
                    };
                    assert!(rows.len() == 1 && rows[0].iter().zip(&row).all(fits), "{sql}: {rows:?}");
                }
                None => {}
            }
        }
    }

    #[test]
    fn queries_are_told_apart_by_width_rows_and_numbers() {
        let schema = Schema::from_ddl(TABLES).unwrap();
        let query = |sql| resolve(sql, &schema).unwrap();
        for (one, other, expected) in [
            ("SELECT x FROM a", "SELECT x, id FROM a", true),
            ("SELECT x FROM a", "SELECT max(x) FROM a", true),
            ("SELECT count(*) FROM a", "SELECT count(*)", true),
            ("SELECT count(*) FROM a", "SELECT max(x) FROM a", false),
            ("SELECT x FROM a", "SELECT id FROM b", false),
            ("SELECT 42", "SELECT 43", true),
        ] {
            assert_eq!(differ(&query(one), &query(other)), expected, "{one}; {other}");
            assert_eq!(differ(&query(other), &query(one)), expected, "{other}; {one}");
        }
    }
}
