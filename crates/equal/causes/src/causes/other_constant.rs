//! The same condition with another constant.

use sqlgauge_sql::tree::{Expr, Literal};
use sqlgauge_sql::visit::change_exprs;

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "other-constant",
    title: "a different constant",
    about: "A condition compares with a different number or text; the rest of it is the same.",
    example: [
        "SELECT name FROM singer WHERE age > 20",
        "SELECT name FROM singer WHERE age > 30",
        "The prediction tests `age > 30`, the gold `age > 20`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let unlikes = rest.take_single(|gold, prediction| pair.same(&blank(gold), &blank(prediction)));
    unlikes.iter().map(|unlike| pair.tests_otherwise(&CAUSE, unlike)).collect()
}

/// The expression with every constant the same.
fn blank(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    change_exprs(&mut expr, |expr| {
        if matches!(expr, Expr::Literal(_)) {
            *expr = Expr::Literal(Literal::Null);
        }
    });
    expr
}
