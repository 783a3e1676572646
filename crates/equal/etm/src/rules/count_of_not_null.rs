//! # COUNT of a column that is never NULL
//!
//! ## What it does
//! Turns `COUNT(c)` into `COUNT(*)`.
//!
//! ## Why it holds
//! `COUNT(c)` counts the rows in which `c` is not NULL: all of them.
//!
//! ## Needs
//! `c` is not NULL in any row that is counted: it is declared so (in SQLite a primary key is NOT NULL only if it is
//! an INTEGER PRIMARY KEY, or the table is STRICT or WITHOUT ROWID), or a condition or inner join lets no NULL
//! pass, or it is a constant; and no outer join fills it with NULL.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(id) FROM t
//! SELECT COUNT(*) FROM t
//! ```
//!
//! ## Does not hold when
//! The column comes from the right side of a LEFT JOIN: the rows without a partner count for `COUNT(*)` only. Or it
//! is a primary key that SQLite lets be NULL, as in `code TEXT PRIMARY KEY`; as published, every primary key counts
//! as NOT NULL.
//!
//! ## Source
//! Paper, Table 2, rule 6. Corrected: NULLs of outer joins and of primary keys.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr, Query};

use crate::context::RuleContext;
use crate::context::passes_not_null;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "6",
    name: "count-of-not-null",
    summary: "COUNT(c) as COUNT(*)",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("count_of_not_null.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let mut has_count = false;
    for expr in tools::own_exprs(query) {
        has_count = has_count || tools::any_part(expr, &|e| counted(e).is_some());
    }
    if !has_count {
        return 0;
    }
    let before = query.clone();
    let Some(select) = before.as_select() else { return 0 };
    let dependencies = context.is_sound().then(|| Dependencies::of(select, &context.facts));
    let mut places = 0;
    tools::for_own_exprs(query, &mut |expr| {
        let Some(arg) = counted(expr) else { return };
        let never_null = match &dependencies {
            Some(dependencies) => {
                !context.facts.is_nullable(arg)
                    || tools::as_column(arg).is_some_and(|c| {
                        passes_not_null(&before, c, &context.facts) || dependencies.is_linked(c)
                    })
            }
            None => tools::as_column(arg).is_some_and(|column| context.is_not_null_as_published(column)),
        };
        if never_null && let Expr::Aggregate(aggregate) = expr {
            aggregate.args = Args::Star;
            places += 1;
        }
    });
    places
}

/// What a plain `COUNT(x)` counts.
fn counted(expr: &Expr) -> Option<&Expr> {
    match tools::own_aggregate(expr) {
        Some(aggregate) if aggregate.function == Function::Count && !aggregate.distinct => {
            match aggregate.args.as_slice() {
                [only] => Some(only),
                _ => None,
            }
        }
        _ => None,
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT COUNT(id) FROM t", "SELECT COUNT(*) FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name, COUNT(born) FROM t GROUP BY name",
        "SELECT name, COUNT(*) FROM t GROUP BY name",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(u.t_id) FROM t JOIN u ON t.id = u.t_id WHERE v = 1 AND name = 'x'",
        "SELECT COUNT(*) FROM t JOIN u ON t.id = u.t_id WHERE v = 1 AND name = 'x'",
    ),
    RuleCase::equal(SCHEMA, "SELECT COUNT(age) FROM t WHERE age > 3", "SELECT COUNT(*) FROM t WHERE age > 3")
        .sound(),
    RuleCase::differs(SCHEMA, "SELECT COUNT(name) FROM t", "SELECT COUNT(*) FROM t"),
    RuleCase::differs(
        SCHEMA,
        "SELECT (SELECT COUNT(t.id) FROM u) FROM t",
        "SELECT (SELECT COUNT(*) FROM u) FROM t",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT COUNT(DISTINCT name) FROM t", "SELECT COUNT(*) FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT t.id, COUNT(uid) FROM t LEFT JOIN u ON t.id = t_id GROUP BY t.id",
        "SELECT t.id, COUNT(*) FROM t LEFT JOIN u ON t.id = t_id GROUP BY t.id",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT t.id, COUNT(uid) FROM t LEFT JOIN u ON t.id = t_id GROUP BY t.id",
        "SELECT t.id, COUNT(*) FROM t LEFT JOIN u ON t.id = t_id GROUP BY t.id",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'b', 1, 'x')"),
    RuleCase::equal(
        "CREATE TABLE n (k TEXT PRIMARY KEY)",
        "SELECT COUNT(k) FROM n",
        "SELECT COUNT(*) FROM n",
    )
    .paper(),
    RuleCase::differs(
        "CREATE TABLE n (k TEXT PRIMARY KEY)",
        "SELECT COUNT(k) FROM n",
        "SELECT COUNT(*) FROM n",
    )
    .sound()
    .witness("INSERT INTO n VALUES (NULL)"),
];
