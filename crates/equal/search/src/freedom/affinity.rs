//! Comparisons of a compound's column whose SELECTs give it different affinities.
//!
//! SQLite's documentation leaves it open which of them such a column has ("Datatypes In SQLite", section 3.3), and SQLite makes
//! use of it: a condition outside of the compound is compared by one affinity, and by each SELECT's own where the optimiser pushes
//! it into them. So a difference that such a comparison makes is SQLite's choice.

use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, Expr, Query};
use sqlgauge_sql::visit::each_expr;
use sqlgauge_sql::{PrintDialect, print_expr};

/// The first comparison with an operand of mixed affinity, as SQL; `None` without one.
pub(super) fn compares_mixed(query: &Query, schema: &Schema) -> Option<String> {
    let facts = Facts::of(query, schema);
    let mut comparison = None;
    each_expr(query, |expr| {
        if comparison.is_none() && operands(expr).into_iter().any(|operand| is_mixed(operand, &facts)) {
            let text = print_expr(expr, query, schema, PrintDialect::Sqlite);
            comparison = Some(text.unwrap_or_else(|_| "a comparison".to_owned()));
        }
    });
    comparison
}

/// What is compared in an expression, as far as its affinity counts.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Binary(operator, left, right) if operator.is_comparison() => vec![left, right],
        Expr::Between { expr, low, high, .. } => vec![expr, low, high],
        Expr::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
        Expr::InQuery { expr, query, .. } => std::iter::once(&**expr).chain(outputs(&query.body)).collect(),
        Expr::Case { operand: Some(operand), branches, .. } => {
            std::iter::once(&**operand).chain(branches.iter().map(|(when, _)| when)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_mixed(expr: &Expr, facts: &Facts<'_>) -> bool {
    match expr {
        Expr::Row(parts) => parts.iter().any(|part| is_mixed(part, facts)),
        Expr::Collate { expr, .. } => is_mixed(expr, facts),
        Expr::Scalar(query) => outputs(&query.body).into_iter().any(|output| is_mixed(output, facts)),
        expr => facts.is_mixed(expr),
    }
}

/// The result columns of all SELECTs of a body.
fn outputs(body: &Body) -> Vec<&Expr> {
    match body {
        Body::Select(select) => select.outputs.iter().map(|output| &output.expr).collect(),
        Body::SetOperation { left, right, .. } => [outputs(left), outputs(right)].concat(),
        Body::Values(_) => Vec::new(),
    }
}
