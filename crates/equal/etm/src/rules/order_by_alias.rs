//! # Sort keys by alias or place
//!
//! ## What it does
//! Replaces a sort key that names a result column by the expression of that column.
//!
//! ## Why it holds
//! The key has the value of the column.
//!
//! ## Needs
//! A single SELECT. The expression holds no subquery and is no constant.
//!
//! ## Example
//! ```sql
//! SELECT age AS a FROM t ORDER BY a
//! SELECT age FROM t ORDER BY age
//! ```
//!
//! ## Does not hold when
//! The alias is also the name of a column of a table: ORDER BY takes the alias, and the resolution with it.
//!
//! ## Source
//! Ours; in the paper a part of P6. Its script puts the expression in place of the name inside the column, which
//! then equals neither the expression nor the column; `etm-paper@1` keeps the two apart as well, by a unary plus.

use sqlgauge_sql::tree::{BinaryOperator, Expr, Query, UnaryOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S6",
    name: "order-by-alias",
    summary: "ORDER BY an alias or a place as ORDER BY its expression",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::ORDER, query),
    cases: CASES,
    source: include_str!("order_by_alias.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(outputs) = query.as_select().map(|select| select.outputs.clone()) else { return 0 };
    let mut places = 0;
    for term in &mut query.order_by {
        let Expr::Output(n) = term.expr else { continue };
        let Some(output) = outputs.get(n as usize) else { continue };
        let plain = !is_read_as_number(&output.expr)
            && !sqlgauge_sql::derive::has_subquery(&output.expr)
            && tools::is_deterministic(&output.expr);
        if plain {
            let expr = output.expr.clone();
            term.expr =
                if context.is_sound() { expr } else { Expr::Unary(UnaryOperator::Plus, Box::new(expr)) };
            places += 1;
        }
    }
    places
}

/// Whether SQLite makes a number of the expression when it reads it, which in ORDER BY is a place.
fn is_read_as_number(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) => true,
        Expr::Unary(_, operand) | Expr::IsNull { expr: operand, .. } => is_read_as_number(operand),
        Expr::Binary(BinaryOperator::Is | BinaryOperator::IsNot, left, right) => {
            is_read_as_number(left) && is_read_as_number(right)
        }
        Expr::And(list) => list.iter().any(is_read_as_number),
        Expr::InList { list, .. } => list.is_empty(),
        _ => false,
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT age AS a FROM t ORDER BY a", "SELECT age FROM t ORDER BY age").sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name, COUNT(*) AS n FROM t GROUP BY name ORDER BY n DESC",
        "SELECT name, COUNT(*) FROM t GROUP BY name ORDER BY COUNT(*) DESC",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT name, age FROM t ORDER BY 2", "SELECT name, age FROM t ORDER BY age")
        .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT -age AS id FROM t ORDER BY id",
        "SELECT -age AS id FROM t ORDER BY t.id",
    ),
    RuleCase::equal(SCHEMA, "SELECT age AS a FROM t ORDER BY a", "SELECT age AS b FROM t ORDER BY b"),
    RuleCase::differs(SCHEMA, "SELECT age AS a FROM t ORDER BY a", "SELECT age FROM t ORDER BY age").paper(),
    // SQLite takes `ORDER BY 'a' IS NULL` for ORDER BY 0, a place that there is not.
    RuleCase::equal(
        SCHEMA,
        "SELECT 'a' IS NULL AS x FROM t ORDER BY x",
        "SELECT 'a' IS NULL FROM t ORDER BY 1",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT age AND 0 AS x FROM t ORDER BY x", "SELECT age AND 0 FROM t ORDER BY 1")
        .sound(),
    // By `v` SQLite finds the rows sorted by `c`, so that they need no sort for the groups, and by 1 by `a`.
    RuleCase::differs(
        SCHEMA,
        "SELECT a FROM (SELECT v AS a, v AS c FROM u ORDER BY 1 DESC LIMIT 9) GROUP BY c LIMIT 1",
        "SELECT a FROM (SELECT v AS a, v AS c FROM u ORDER BY v DESC LIMIT 9) GROUP BY c LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 1), (2, 1, 1, 2)"),
];
