//! Which condition leaves a gold without a row.
//!
//! # Contract
//! The first of HAVING, the conjuncts of WHERE, and those of the ON of inner joins without which the outermost SELECT returns a row; `None` if
//! no single condition is the cause, or if the gold is a compound.

use sqlgauge_sql::canonical::CanonicalText;
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Expr, Literal};
use sqlgauge_sql::visit::change_exprs;
use sqlgauge_sql::{PrintDialect, print, print_part};

/// Conditions that are tried; each is a run of the gold.
const MOST: usize = 8;

/// The condition as SQL.
pub(super) fn emptied_by(schema: &Schema, gold: &str, has_rows: impl Fn(&str) -> bool) -> Option<String> {
    let text = CanonicalText::of(gold, schema).ok()?;
    let select = text.query.as_select()?;
    let is_cause = |condition: &&Expr| {
        let mut query = text.query.clone();
        change_exprs(&mut query, |expr| {
            if expr == *condition {
                *expr = Expr::Literal(Literal::Integer(1));
            }
        });
        let without = print(&query, schema, PrintDialect::Sqlite);
        without.is_ok_and(|without| has_rows(&format!("SELECT 1 FROM ({without}) LIMIT 1")))
    };
    let condition = select.having.iter().chain(conjuncts(select)).take(MOST).find(is_cause)?;
    let only = match select.from.as_ref()?.relations().as_slice() {
        [one] => Some(one.id),
        _ => None,
    };
    print_part(condition, &text.named, schema, &text.aliases, only).ok()
}
