//! The same tables, joined by another kind of join.

use sqlgauge_sql::tree::{Expr, From, JoinKind};

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clause, Clauses, Reads};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "join-kind",
    title: "a different kind of join",
    about: "One keeps rows without a partner (LEFT, RIGHT or FULL JOIN), the other does not.",
    example: [
        "SELECT singer.name FROM singer LEFT JOIN concert ON singer.id = concert.singer_id",
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "The prediction uses JOIN, the gold LEFT JOIN.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let (gold_kinds, other) = (kinds(&pair.gold.reads), kinds(&pair.prediction.reads));
    if !rest.joins || gold_kinds == other {
        return Ok(Vec::new());
    }
    // What ON asks must be asked by both, wherever it stands: then the kinds are the difference.
    let (gold_on, prediction_on) = (on_of(&pair.gold.reads), on_of(&pair.prediction.reads));
    let asks = |clauses: &Clauses, on: &[Expr], wanted: &Expr| {
        let mut all = clauses.keys.iter().chain(&clauses.conditions).chain(on);
        all.any(|expr| pair.same(expr, wanted))
    };
    let both_ask =
        gold_on.iter().chain(&pair.gold.keys).all(|expr| asks(&pair.prediction, &prediction_on, expr))
            && prediction_on.iter().chain(&pair.prediction.keys).all(|expr| asks(&pair.gold, &gold_on, expr));
    if !both_ask {
        return Err(Unclear::OtherShape);
    }
    let in_on = |expr: &Expr| gold_on.iter().chain(&prediction_on).any(|on| pair.same(on, expr));
    for unlike in rest.conditions.iter_mut().filter(|unlike| unlike.clause == Clause::Where) {
        unlike.gold.retain(|expr| !in_on(expr));
        unlike.prediction.retain(|expr| !in_on(expr));
    }
    rest.conditions.retain(|unlike| !unlike.gold.is_empty() || !unlike.prediction.is_empty());
    (rest.joins, rest.keys) = (false, false);
    let both = pair.exchange(|clauses, other, side| {
        clauses.reads.clone_from(&other.reads);
        clauses.keys.clone_from(&other.keys);
        clauses.conditions.retain(|expr| !in_on(expr));
        let partner = if side == Side::Gold { &pair.prediction } else { &pair.gold };
        clauses.conditions.extend(partner.conditions.iter().filter(|expr| in_on(expr)).cloned());
    });
    Ok(vec![Slip::new(&CAUSE, [format!("uses {other}"), gold_kinds], both)])
}

/// The kinds of the joins, in the order of the text.
pub(super) fn kinds(reads: &Reads) -> String {
    fn of(from: &From, words: &mut Vec<&'static str>) {
        if let From::Join(join) = from {
            of(&join.left, words);
            of(&join.right, words);
            words.push(match join.kind {
                JoinKind::Inner | JoinKind::Cross => "JOIN",
                JoinKind::Left => "LEFT JOIN",
                JoinKind::Right => "RIGHT JOIN",
                JoinKind::Full => "FULL JOIN",
            });
        }
    }
    let mut words = Vec::new();
    match reads {
        Reads::Inner(relations) => words.resize(relations.len().saturating_sub(1), "JOIN"),
        Reads::Outer(from) => of(from, &mut words),
    }
    words.join(", then ")
}

/// What ON asks in a FROM with outer joins.
pub(super) fn on_of(reads: &Reads) -> Vec<Expr> {
    fn of(from: &From, exprs: &mut Vec<Expr>) {
        if let From::Join(join) = from {
            of(&join.left, exprs);
            of(&join.right, exprs);
            match &join.on {
                Some(Expr::And(list)) => exprs.extend(list.iter().cloned()),
                Some(other) => exprs.push(other.clone()),
                None => {}
            }
        }
    }
    let mut exprs = Vec::new();
    if let Reads::Outer(from) = reads {
        of(from, &mut exprs);
    }
    exprs
}
