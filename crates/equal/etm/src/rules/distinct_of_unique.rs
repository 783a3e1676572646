//! # DISTINCT over different rows
//!
//! ## What it does
//! Drops DISTINCT from a SELECT whose rows differ anyway, and from an aggregate whose values differ anyway. MIN and
//! MAX never need it.
//!
//! ## Why it holds
//! If the result columns contain a key of every table that is read (directly, or through equalities and other
//! keys), no two rows agree in all of them. A SELECT that groups has one row per group, so it is enough that the
//! result fixes the group keys; without GROUP BY it has one row.
//!
//! ## Needs
//! The result fixes a UNIQUE and NOT NULL set of columns of every table. Inside an aggregate the column need not be
//! NOT NULL: aggregates pass over NULL.
//!
//! ## Example
//! ```sql
//! SELECT DISTINCT id FROM t
//! SELECT id FROM t
//! ```
//!
//! ## Does not hold when
//! The column is UNIQUE and may be NULL: SQLite lets several rows be NULL, and DISTINCT makes them one. Or the
//! table is joined with one that has several rows for each of its rows.
//!
//! ## Source
//! Paper, Table 2, rule 2. Corrected: NOT NULL. As published, one UNIQUE column among the results of a single table
//! is enough; NULLs are not looked at.

use sqlgauge_sql::derive::{Dependencies, Facts, is_aggregate_select};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Expr, Query, Select};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "2",
    name: "distinct-of-unique",
    summary: "DISTINCT where no two rows are equal",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("distinct_of_unique.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let mut places = 0;
    let facts = &context.facts;
    let Some(select) = query.as_select() else { return 0 };
    let drop = select.distinct
        && if context.is_sound() { rows_differ(select, facts) } else { published(select, context) };
    let has_distinct =
        tools::own_exprs(query).into_iter().any(|expr| tools::any_part(expr, &is_distinct_call));
    let dependencies = (has_distinct && context.is_sound()).then(|| select.clone());
    if drop && let Some(select) = query.as_select_mut() {
        select.distinct = false;
        places += 1;
    }
    if has_distinct {
        places += aggregates(query, dependencies.as_ref(), context);
    }
    places
}

fn is_distinct_call(expr: &Expr) -> bool {
    tools::own_aggregate(expr).is_some_and(|aggregate| aggregate.distinct)
}

fn rows_differ(select: &Select, facts: &Facts<'_>) -> bool {
    if select.from.is_none() {
        return true;
    }
    let outputs: Vec<Expr> = select.outputs.iter().map(|output| output.expr.clone()).collect();
    let dependencies = Dependencies::of(select, facts);
    let closure = dependencies.closure(&outputs);
    if is_aggregate_select(select) {
        return select
            .group_by
            .iter()
            .all(|key| (outputs.contains(key) && facts.is_identity(key)) || closure.determines(key));
    }
    closure.is_complete() && outputs.iter().all(|output| !sqlgauge_sql::derive::has_window(output))
}

fn published(select: &Select, context: &RuleContext<'_>) -> bool {
    tools::single_relation(select).is_some()
        && select.outputs.iter().any(|output| {
            tools::as_column(&output.expr).is_some_and(|column| context.is_unique_as_published(column))
        })
}

/// Drops DISTINCT inside aggregates. `before` is the SELECT whose rows are aggregated.
fn aggregates(query: &mut Query, before: Option<&Select>, context: &RuleContext<'_>) -> usize {
    let single = query.as_select().is_some_and(|select| tools::single_relation(select).is_some());
    let mut places = 0;
    tools::for_own_exprs(query, &mut |expr| {
        if !is_distinct_call(expr) {
            return;
        }
        let Expr::Aggregate(call) = expr else { return };
        let [only] = call.args.as_slice() else { return };
        let drop = match before {
            Some(select) => {
                matches!(call.function, Function::Min | Function::Max) || values_differ(select, only, context)
            }
            None => {
                single && tools::as_column(only).is_some_and(|column| context.is_unique_as_published(column))
            }
        };
        if drop {
            call.distinct = false;
            places += 1;
        }
    });
    places
}

fn values_differ(select: &Select, value: &Expr, context: &RuleContext<'_>) -> bool {
    let Some(column) = tools::as_column(value) else { return false };
    let mut dependencies = Dependencies::of(select, &context.facts);
    dependencies.assume_not_null(column);
    dependencies.closure(std::slice::from_ref(value)).is_complete()
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT DISTINCT id FROM t", "SELECT id FROM t"),
    RuleCase::equal(SCHEMA, "SELECT DISTINCT name, code FROM t", "SELECT name, code FROM t"),
    RuleCase::equal(SCHEMA, "SELECT COUNT(DISTINCT code) FROM t", "SELECT COUNT(code) FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT uid, t.name FROM t JOIN u ON t.id = u.t_id",
        "SELECT uid, t.name FROM t JOIN u ON t.id = u.t_id",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT name, COUNT(*) FROM t GROUP BY name",
        "SELECT name, COUNT(*) FROM t GROUP BY name",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT DISTINCT name FROM t", "SELECT name FROM t"),
    RuleCase::differs(
        SCHEMA,
        "SELECT DISTINCT t.id FROM t JOIN u ON t.id = u.t_id WHERE v > 1",
        "SELECT t.id FROM t JOIN u ON t.id = u.t_id WHERE v > 1",
    )
    .sound(),
    RuleCase::equal("CREATE TABLE n (a INT UNIQUE)", "SELECT DISTINCT a FROM n", "SELECT a FROM n").paper(),
    RuleCase::differs("CREATE TABLE n (a INT UNIQUE)", "SELECT DISTINCT a FROM n", "SELECT a FROM n")
        .sound()
        .witness("INSERT INTO n VALUES (NULL), (NULL)"),
    // SQLite sorts before the LIMIT of a subquery if it puts that into the query around it, as DISTINCT keeps it from doing.
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT)",
        "WITH q(x) AS (SELECT id FROM t LIMIT 2) SELECT DISTINCT x FROM q ORDER BY 1",
        "WITH q(x) AS (SELECT id FROM t LIMIT 2) SELECT x FROM q ORDER BY 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n'), (2, '2020', 'm'), (21, 'X', 'a')"),
];
