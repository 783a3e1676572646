//! Recognises texts that SQLite compiles quickly.
//!
//! SQLite's compiler cannot be stopped, and it copies: the expressions of a subquery that it flattens into each place that
//! names them, a common table expression or a view into each place that reads it, the expression of an alias into each use
//! of it. So a text of a few hundred bytes can make it work for seconds and fill a gigabyte
//! (`SELECT a+a AS a FROM (SELECT a+a AS a FROM (…))`). How far a text can grow is bounded by its own shape. Nothing is
//! copied into a SELECT more often than it names things, so the expressions made are at most the product, over the SELECTs
//! that nest, of what each can multiply by; the product over all SELECTs is an upper bound of that. A text below the bound is
//! compiled in this process; the others are not refused, only compiled where the compiler can be stopped.

use sqlgauge_sql::lex::{Token, TokenKind, words};
use sqlgauge_sql::schema::{Schema, Table, TableKind};

use crate::database::Database;

/// Longest text that is compiled in this process: some of the planner's work grows with the square of the length.
const MAX_TEXT: usize = 4 << 10;

/// Largest growth, as a binary logarithm: a million expressions are a tenth of a second and 100 MB.
const MAX_GROWTH: f64 = 20.0;

/// What a `*` can multiply by, as a binary logarithm: SQLite allows 2,000 columns.
const STAR_GROWTH: f64 = 11.0;

/// Most columns and indexes of what a query may read that is compiled in this process: the planner looks at each.
const MAX_PARTS: usize = 4000;

/// Tables that count towards [`MAX_PARTS`], the largest first: the planner looks only at what a query reads, and SQLite joins
/// no more. So the number of tables of a database slows down no query.
const MOST_TABLES: usize = 64;

/// Largest file that is read in this process: one instruction (`count(*)`) may read all of it.
const MAX_FILE: u64 = 256 << 20;

/// Words that name nothing.
const KEYWORDS: [&str; 36] = [
    "all",
    "and",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "cast",
    "desc",
    "distinct",
    "else",
    "end",
    "except",
    "exists",
    "from",
    "group",
    "having",
    "in",
    "inner",
    "intersect",
    "is",
    "join",
    "left",
    "like",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order",
    "outer",
    "then",
    "union",
    "when",
    "where",
    "with",
];

/// Whether the compiler is known to be done with the text in a moment.
pub(super) fn compiles_quickly(database: &Database, sql: &str) -> bool {
    sql.len() <= MAX_TEXT && database.growth().is_some_and(|base| base + growth(sql) <= MAX_GROWTH)
}

/// What the views and generated columns of a database can multiply a query by, as a binary logarithm; `None` where a query
/// on it may take long for other reasons.
pub(crate) fn growth_of(schema: &Schema, file_bytes: u64) -> Option<f64> {
    let tables = schema.tables();
    let is_virtual = |table: &Table| table.kind == TableKind::Virtual;
    let mut parts: Vec<usize> =
        tables.iter().map(|table| table.columns.len() + table.indexes.len()).collect();
    parts.sort_unstable_by(|a, b| b.cmp(a));
    let most_read: usize = parts.iter().take(MOST_TABLES).sum();
    if file_bytes > MAX_FILE || most_read > MAX_PARTS || tables.iter().any(is_virtual) {
        return None;
    }
    let table_growth = |table: &Table| {
        let is_unread = table.kind == TableKind::View && table.view.is_none();
        let generated = table.columns.iter().filter(|column| column.generated);
        let generated: Option<f64> = generated.map(|column| column.generated_as.as_deref().map(growth)).sum();
        let view = if is_unread { None } else { Some(table.view.as_deref().map_or(0.0, growth)) };
        Some(generated? + view?)
    };
    tables.iter().map(table_growth).sum()
}

/// Whether SQLite is known to be done in a moment with a view of that statement, which can grow so far.
pub(super) fn expands_quickly(statement: &str, growth: f64) -> bool {
    statement.len() <= MAX_TEXT && growth <= MAX_GROWTH
}

/// A bound on the expressions that SQLite makes of a text, as a binary logarithm.
pub(super) fn growth(sql: &str) -> f64 {
    let mut selects = vec![0_u32];
    // The SELECT that each open parenthesis stands in.
    let mut open = vec![0];
    let (mut last, mut stars) = ("", 0.0);
    for token in words(sql) {
        let word = token.text;
        let current = open.last().copied().unwrap_or(0);
        match word {
            "(" => open.push(current),
            ")" if open.len() > 1 => _ = open.pop(),
            "*" if matches!(last, "," | ".") || last.eq_ignore_ascii_case("select") => {
                stars = STAR_GROWTH;
            }
            _ if word.eq_ignore_ascii_case("select") => {
                selects.push(0);
                if let Some(place) = open.last_mut() {
                    *place = selects.len() - 1;
                }
            }
            // Of `t.a` only the last word names a value.
            _ if last != "." && is_name(&token) => selects[current] += 1,
            _ => {}
        }
        last = word;
    }
    let is_nested = selects.len() > 2;
    let total: f64 = selects.into_iter().map(own_growth).sum();
    total + if is_nested { stars } else { 0.0 }
}

fn is_name(token: &Token<'_>) -> bool {
    let is_keyword = || KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(token.text));
    token.kind == TokenKind::Quoted || token.kind == TokenKind::Word && !is_keyword()
}

/// What a SELECT that names so many things can multiply by: half of them may be inside an alias that the other half uses.
fn own_growth(names: u32) -> f64 {
    let names = f64::from(names.max(1));
    names.max(names * names / 4.0).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_queries_are_below_the_bound_and_those_that_double_are_not() {
        let nested = |depth: usize, start: &str, middle: &str, end: &str| {
            format!("{}{middle}{}", start.repeat(depth), end.repeat(depth))
        };
        for sql in [
            "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)".to_owned(),
            "SELECT T1.name, count(*) FROM concert AS T1 JOIN stadium AS T2 ON T1.stadium_id = T2.stadium_id \
             WHERE T2.capacity > 100 GROUP BY T1.stadium_id ORDER BY count(*) DESC LIMIT 1"
                .to_owned(),
            "SELECT a FROM t EXCEPT SELECT a FROM u WHERE b IN (SELECT b FROM v WHERE c = 'x')".to_owned(),
            "SELECT * FROM t".to_owned(),
        ] {
            assert!(growth(&sql) <= MAX_GROWTH, "{} {sql}", growth(&sql));
        }
        for sql in [
            nested(25, "SELECT a+a AS a FROM (", "SELECT 1 AS a", ")"),
            nested(25, "SELECT a.a FROM (", "SELECT 1 AS a", ") a, t b"),
            format!("SELECT {} FROM (SELECT {} AS a FROM t)", "a+".repeat(500) + "a", "b+".repeat(500) + "b"),
            format!("SELECT {} AS z FROM t WHERE {}", "a+".repeat(1000) + "a", "z+".repeat(1100) + "z"),
            (1..20).fold("WITH c0 AS (SELECT 1 AS a)".to_owned(), |sql, n| {
                format!("{sql}, c{n} AS (SELECT x.a FROM c{} x, c{} y)", n - 1, n - 1)
            }) + " SELECT count(*) FROM c19",
        ] {
            assert!(growth(&sql) > MAX_GROWTH, "{} {}", growth(&sql), &sql[..60]);
        }
    }

    #[test]
    fn tables_that_no_query_can_reach_together_do_not_count() {
        let tables = |count: usize, columns: usize| {
            let columns: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
            let table = |at: usize| format!("CREATE TABLE t{at}({});", columns.join(", "));
            Schema::from_ddl(&(0..count).map(table).collect::<String>()).unwrap()
        };
        assert!(growth_of(&tables(3000, 4), 0).is_some());
        assert!(growth_of(&tables(3, 2000), 0).is_none());
    }

    #[test]
    fn views_and_generated_columns_count() {
        let ddl = |tables: &str| Schema::from_ddl(tables).unwrap();
        let small = ddl("CREATE TABLE t(a, b AS (a + 1)); CREATE VIEW v AS SELECT a FROM t;");
        assert!(growth_of(&small, 0).is_some_and(|growth| growth < 5.0));
        let columns: Vec<String> = (1..40).map(|n| format!("c{n} AS (c{} + c{})", n - 1, n - 1)).collect();
        let doubling = ddl(&format!("CREATE TABLE t(c0, {});", columns.join(", ")));
        assert!(growth_of(&doubling, 0).is_some_and(|growth| growth > MAX_GROWTH));
        assert!(growth_of(&small, MAX_FILE + 1).is_none());
        let mut table = Table::new("w", Vec::new());
        table.kind = TableKind::Virtual;
        assert!(growth_of(&Schema::new(vec![table]), 0).is_none());
    }
}
