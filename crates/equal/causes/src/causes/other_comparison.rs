//! The same column and the same constants, compared otherwise.

use std::collections::BTreeSet;

use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};
use sqlgauge_sql::visit::{Visitor, change_exprs, walk_expr};

use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "other-comparison",
    title: "a different comparison",
    about: "A condition compares the same columns with the same constants, but with a different operator, or with NOT.",
    example: [
        "SELECT name FROM singer WHERE age >= 20",
        "SELECT name FROM singer WHERE age > 20",
        "The prediction tests `age > 20`, the gold `age >= 20`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let unlikes = rest.take_single(|gold, prediction| {
        let same_constants = constants(gold).is_some_and(|values| constants(prediction) == Some(values));
        same_constants || pair.same(&plain(gold), &plain(prediction))
    });
    unlikes.iter().map(|unlike| pair.tests_otherwise(&CAUSE, unlike)).collect()
}

/// The expression with every comparison an equality, and nothing negated.
fn plain(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    change_exprs(&mut expr, |expr| match expr {
        Expr::Binary(operator, ..) if operator.is_comparison() => *operator = BinaryOperator::Equal,
        Expr::Between { negated, .. }
        | Expr::Like { negated, .. }
        | Expr::InList { negated, .. }
        | Expr::InQuery { negated, .. }
        | Expr::Exists { negated, .. }
        | Expr::IsNull { negated, .. } => *negated = false,
        _ => {}
    });
    expr
}

/// The constants; `None` for what is more than one comparison.
fn constants(expr: &Expr) -> Option<BTreeSet<Literal>> {
    #[derive(Default)]
    struct Constants(BTreeSet<Literal>, bool);
    impl Visitor for Constants {
        fn query(&mut self, _query: &sqlgauge_sql::tree::Query) {
            self.1 = true;
        }
        fn expr(&mut self, expr: &Expr) {
            match expr {
                // A pattern of a text is that text compared otherwise.
                Expr::Literal(Literal::Text(text)) => {
                    self.0.insert(Literal::Text(text.trim_matches('%').to_owned()));
                }
                Expr::Literal(literal) => {
                    self.0.insert(literal.clone());
                }
                Expr::And(_) | Expr::Or(_) => self.1 = true,
                _ => {}
            }
        }
    }
    let mut walked = Constants::default();
    walk_expr(&mut walked, expr);
    (!walked.1).then_some(walked.0)
}
