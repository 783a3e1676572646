//! Missing values count in one query and not in the other.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr};

use super::other_column::columns_changed;
use super::wrong_aggregate::shows_otherwise;
use crate::cause::{Cause, Slip, Unclear};
use crate::pair::{Pair, Rest};

pub(super) static CAUSE: Cause = Cause {
    id: "null-handling",
    title: "missing values",
    about: "The queries differ in a test for NULL, or one counts rows and the other the values that are not NULL.",
    example: [
        "SELECT count(age) FROM singer",
        "SELECT count(*) FROM singer",
        "The prediction shows `count(*)`, the gold `count(age)`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let mut slips = Vec::new();
    let replaced = replaced(pair, rest);
    for unlike in rest.take(|unlike| {
        let mut all = unlike.gold.iter().chain(&unlike.prediction);
        all.all(|expr| is_test(expr) && !replaced.contains(expr))
    }) {
        slips.push(if unlike.gold.is_empty() || unlike.prediction.is_empty() {
            pair.tests_alone(&CAUSE, &unlike)?
        } else {
            pair.tests_otherwise(&CAUSE, &unlike)?
        });
    }
    let counts = |at: &usize| {
        let forms = [&pair.gold, &pair.prediction].map(|clauses| form(&clauses.outputs[*at]));
        matches!(forms, [Some(Form::Rows), Some(Form::Values)] | [Some(Form::Values), Some(Form::Rows)])
    };
    slips.extend(shows_otherwise(&CAUSE, pair, rest, counts)?);
    Ok(slips)
}

fn is_test(expr: &Expr) -> bool {
    matches!(expr, Expr::IsNull { .. })
}

/// Tests for NULL that are the same but for their column: the answer takes a different column.
fn replaced(pair: &Pair<'_>, rest: &Rest) -> Vec<Expr> {
    let mut pairs = Vec::new();
    for unlike in &rest.conditions {
        let same_clause = || rest.conditions.iter().filter(|other| other.clause == unlike.clause);
        for gold in unlike.gold.iter().filter(|expr| is_test(expr)) {
            let tests = same_clause().flat_map(|other| &other.prediction).filter(|expr| is_test(expr));
            let mut tests = tests.filter(|prediction| columns_changed(pair, gold, prediction).is_some());
            if let Some(prediction) = tests.next() {
                pairs.extend([gold.clone(), prediction.clone()]);
            }
        }
    }
    pairs
}

enum Form {
    Rows,
    Values,
}

/// A plain COUNT of rows, or of the values of a column.
fn form(expr: &Expr) -> Option<Form> {
    let Expr::Aggregate(call) = expr else { return None };
    if call.function != Function::Count || !call.is_plain() {
        return None;
    }
    match &call.args {
        Args::List(list) if matches!(list.as_slice(), [Expr::Column(_)]) => Some(Form::Values),
        Args::List(list) if !list.is_empty() => None,
        _ => Some(Form::Rows),
    }
}
