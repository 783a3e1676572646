//! The same tables, joined along other columns.

use sqlgauge_sql::tree::{Expr, From, RelationId};

use super::join_kind::{kinds, on_of};
use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clauses, Reads};
use crate::pair::{Pair, Rest, Side};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "join-key",
    title: "joined on different columns",
    about: "Both read the same tables, but join them on different columns, or one of them asks less where it joins.",
    example: [
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.id",
        "The prediction joins on `singer.id = concert.id`, the gold on `singer.id = concert.singer_id`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if rest.joins && !has_same_frame(pair) {
        return Err(Unclear::OtherShape);
    }
    if !rest.joins && !rest.keys {
        return Ok(Vec::new());
    }
    (rest.joins, rest.keys) = (false, false);
    let all = |clauses: &Clauses| -> Vec<Expr> {
        clauses.keys.iter().cloned().chain(on_of(&clauses.reads)).collect()
    };
    let (of_gold, of_prediction) = (all(&pair.gold), all(&pair.prediction));
    let only = |of: &[Expr], others: &[Expr]| -> Vec<Expr> {
        of.iter().filter(|key| !others.iter().any(|other| pair.same(key, other))).cloned().collect()
    };
    let (gold, prediction) = (only(&of_gold, &of_prediction), only(&of_prediction, &of_gold));
    let words = match (gold.is_empty(), prediction.is_empty()) {
        (true, true) => return Err(Unclear::OtherShape),
        (false, true) => [String::new(), format!("joins on {}", pair.conditions(Side::Gold, &gold)?)],
        (true, false) => {
            let on = pair.conditions(Side::Prediction, &prediction)?;
            [format!("joins on {on}"), String::new()]
        }
        (false, false) => {
            let on = pair.conditions(Side::Prediction, &prediction)?;
            let [prediction, gold] = both(on, pair.conditions(Side::Gold, &gold)?)?;
            [format!("joins on {prediction}"), format!("on {gold}")]
        }
    };
    let queries = pair.exchange(|clauses, other, _| {
        clauses.keys.clone_from(&other.keys);
        clauses.reads.clone_from(&other.reads);
    });
    Ok(vec![Slip::new(&CAUSE, words, queries)])
}

/// Whether outer joins are of the same relations in the same order and of the same kinds.
fn has_same_frame(pair: &Pair<'_>) -> bool {
    let (Reads::Outer(gold), Reads::Outer(other)) = (&pair.gold.reads, &pair.prediction.reads) else {
        return false;
    };
    let ids =
        |from: &From| -> Vec<RelationId> { from.relations().iter().map(|relation| relation.id).collect() };
    ids(gold) == ids(other) && kinds(&pair.gold.reads) == kinds(&pair.prediction.reads)
}
