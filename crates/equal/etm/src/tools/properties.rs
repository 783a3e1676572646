//! What is known of a part of a query by walking it: its size, its functions, what it may fail with.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query, Relation};
use sqlgauge_sql::visit::{Visitor, Walk, any_expr, walk_query};

use super::query::plain_select;

/// Whether an aggregate is called in the expression or in a subquery of it. Without it a SELECT may be none that
/// aggregates, or show another row of a group.
pub(crate) fn calls_aggregate(expr: &Expr) -> bool {
    any_expr(expr, |part| matches!(part, Expr::Aggregate(_)))
}

/// Whether computing the expression may be an error instead of a value, so that it matters what is computed before:
/// JSON functions refuse what is no JSON, ABS the smallest integer, ESCAPE more than one character, `unistr` what is no
/// escape.
///
/// SUM of integers beyond 64 bits is an error too, and is not among them. An aggregate of the query itself is computed
/// before any of its conditions, whatever their order, and a copy of it fails where it does; only whether a SUM in a
/// subquery is computed at all can depend on what stands beside it. The contract of `etm@1` passes that error over, as it
/// does the engine's own bounds: it says nothing of rows, and to keep the order of such conditions would tell apart queries
/// that return the same rows wherever both return any.
pub(crate) fn may_fail(expr: &Expr) -> bool {
    any_expr(expr, |expr| {
        let of_function = expr.called().is_some_and(|(function, _)| {
            let name = function.name();
            name == "abs" || name == "unistr" || name.starts_with("json")
        });
        let arrow = matches!(expr, Expr::Binary(BinaryOperator::Arrow | BinaryOperator::LongArrow, ..));
        let is_character =
            |escape: &Expr| matches!(escape, Expr::Literal(Literal::Text(text)) if text.chars().count() == 1);
        let escape = matches!(expr, Expr::Like { escape: Some(escape), .. } if !is_character(escape));
        of_function || arrow || escape
    })
}

/// Whether every function in the query or expression gives the same value each time.
pub(crate) fn is_deterministic(piece: &impl Walk) -> bool {
    !any_expr(piece, |expr| expr.called().is_some_and(|(function, args)| !function.is_deterministic(args)))
}

/// The number of nodes of a query.
pub(crate) fn size(query: &Query) -> usize {
    let mut size = Size(0);
    walk_query(&mut size, query);
    size.0
}

struct Size(usize);

impl Visitor for Size {
    fn expr(&mut self, _: &Expr) {
        self.0 += 1;
    }
    fn relation(&mut self, _: &Relation) {
        self.0 += 1;
    }
    fn query(&mut self, _: &Query) {
        self.0 += 1;
    }
}

/// Why the query has no normal form, in words: a run on the same database may give another result (`random()` and the
/// like; the present date is the same for both runs), or it follows from the plan whether the run fails.
pub(crate) fn obstacle(query: &Query) -> Option<&'static str> {
    let mut obstacle = Obstacle { depth: 0, reason: None };
    walk_query(&mut obstacle, query);
    obstacle.reason
}

struct Obstacle {
    depth: usize,
    reason: Option<&'static str>,
}

impl Visitor for Obstacle {
    fn query(&mut self, query: &Query) {
        self.depth += 1;
        // The statement itself fails on every plan.
        let mut limits = query.limit.iter().chain(&query.offset);
        if self.depth > 1 && !limits.all(is_integer) {
            self.reason = Some("the LIMIT of a subquery may be no integer, and a plan need not run it");
        }
    }

    fn leave_query(&mut self, _: &Query) {
        self.depth -= 1;
    }

    fn expr(&mut self, expr: &Expr) {
        if let Some((function, _)) = expr.called() {
            let properties = function.properties();
            if properties.is_volatile && !properties.may_read_clock {
                self.reason = Some("a function gives another value each time");
            }
        }
    }
}

/// Whether the value is an integer on every database, by its form.
fn is_integer(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(literal) => matches!(literal, Literal::Integer(_) | Literal::Boolean(_)),
        Expr::Unary(_, operand) => is_integer(operand),
        Expr::Binary(BinaryOperator::Divide, left, right) => {
            is_integer(left) && matches!(right.as_ref(), Expr::Literal(Literal::Integer(n)) if *n != 0)
        }
        Expr::Binary(
            BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply,
            left,
            right,
        ) => is_integer(left) && is_integer(right),
        Expr::Aggregate(aggregate) => aggregate.function == Function::Count,
        Expr::Scalar(query) => plain_select(query).is_some_and(|select| {
            let is_one_row = select.group_by.is_empty() && select.having.is_none();
            let output = &select.outputs[0].expr;
            is_one_row && sqlgauge_sql::derive::has_aggregate(output) && is_integer(output)
        }),
        _ => false,
    }
}
