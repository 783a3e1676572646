//! # The first value in order
//!
//! ## What it does
//! Turns `SELECT c FROM t ORDER BY c DESC LIMIT 1` into `SELECT MAX(c) FROM t`, and ascending order into MIN. In
//! `etm@1` only for a subquery that is used as a value.
//!
//! ## Why it holds
//! The first value in descending order is the greatest one, NULL coming last. A subquery used as a value is NULL if
//! it has no row, and so is MAX over no rows.
//!
//! ## Needs
//! `LIMIT 1`, one sort key, which is the result column. In `etm@1` also: the query stands as a value, it does not
//! group, and for ascending order `c` is not NULL (NULL comes first, and MIN passes over it).
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age < (SELECT age FROM t ORDER BY age DESC LIMIT 1)
//! SELECT name FROM t WHERE age < (SELECT MAX(age) FROM t)
//! ```
//!
//! ## Does not hold when
//! The table is empty, or no row passes WHERE: then the first form has no row, and `SELECT MAX(c)` has one with
//! NULL. The condition "t1 is not empty" that the paper states cannot be checked against a schema, so the rule is
//! not used for a statement in `etm@1`.
//!
//! ## Source
//! Paper, Table 2, rule 10. Corrected: only in a subquery used as a value.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::Query;

use crate::context::Context;
use crate::context::Position;
use crate::profile::Profiles;
use crate::rule::{Case, Meta, Rule, Shape, Stage};
use crate::tools;

pub(super) struct ExtremumByOrder;

static META: Meta = Meta {
    id: "10",
    name: "extremum-by-order",
    summary: "The first value in order, or MIN and MAX",
    profiles: Profiles::BOTH,
    stage: Stage::Query,
    needs: Shape::ORDER,
    keeps_plan: true,
    source: include_str!("extremum_by_order.rs"),
};

impl Rule for ExtremumByOrder {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn query(&self, query: &mut Query, context: &mut Context<'_>) -> usize {
        let ([term], Some(limit), None) = (query.order_by.as_slice(), &query.limit, &query.offset) else {
            return 0;
        };
        if tools::as_integer(limit) != Some(1) || term.nulls_first.is_some() || !query.ctes.is_empty() {
            return 0;
        }
        // The script does not see through an alias here.
        let key = if context.is_sound() { tools::order_expr(query, &term.expr) } else { &term.expr };
        let (key, descending) = (key.clone(), term.descending);
        let Some(select) = query.as_select() else { return 0 };
        let fits = if context.is_sound() {
            context.position == Position::Scalar
                && matches!(select.outputs.as_slice(), [only] if only.expr == key)
                && tools::is_flat(select)
                && context.facts.is_binary_or_plain(&key)
                && (descending || !context.facts.output_may_be_null(select, &key))
        } else {
            select.outputs.iter().any(|output| output.expr == key)
        };
        if !fits {
            return 0;
        }
        query.order_by.clear();
        query.limit = None;
        let Some(select) = tools::select_mut(query) else { return 0 };
        select.distinct = false;
        for output in select.outputs.iter_mut().filter(|output| output.expr == key) {
            let function = if descending { Function::Max } else { Function::Min };
            output.expr = tools::aggregate(function, vec![output.expr.clone()]);
        }
        1
    }

    fn cases(&self) -> &'static [Case] {
        CASES
    }
}

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, age INT, born TEXT NOT NULL);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT);";

const CASES: &[Case] = &[
    Case::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age < (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT name FROM t WHERE age < (SELECT MAX(age) FROM t)",
    ),
    Case::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id > (SELECT id FROM t WHERE age = 1 ORDER BY id LIMIT 1)",
        "SELECT name FROM t WHERE id > (SELECT MIN(id) FROM t WHERE age = 1)",
    ),
    Case::equal(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 1", "SELECT MAX(age) FROM t").paper(),
    Case::differs(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 1", "SELECT MAX(age) FROM t").sound(),
    Case::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age IS (SELECT age FROM t ORDER BY age LIMIT 1)",
        "SELECT name FROM t WHERE age IS (SELECT MIN(age) FROM t)",
    )
    .sound(),
    Case::differs(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 2", "SELECT MAX(age) FROM t"),
];
