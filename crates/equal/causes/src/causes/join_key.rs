//! The same tables, joined along other columns.

use sqlgauge_sql::tree::{Expr, From, RelationId};

use super::join_kind::{kinds, on_of};
use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clauses, Reads};
use crate::pair::{Pair, Rest, Side};

pub(super) static CAUSE: Cause = Cause {
    id: "join-key",
    title: "joined along another key",
    about: "Both read the same tables, but join them where other columns are equal, or one of them asks less where it joins.",
    example: [
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.singer_id",
        "SELECT singer.name FROM singer JOIN concert ON singer.id = concert.id",
        "Yours joins where the id of the singer is the id of the concert, the gold joins where the id of the singer is \
         the singer id of the concert.",
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
    let (own, other) = (all(&pair.gold), all(&pair.yours));
    let only = |of: &[Expr], known: &[Expr]| -> Vec<Expr> {
        of.iter().filter(|key| !known.iter().any(|known| pair.same(key, known))).cloned().collect()
    };
    let (gold, yours) = (only(&own, &other), only(&other, &own));
    let words = |side, keys: &[Expr]| pair.one(|say| say.conditions(side, keys));
    let said = match (gold.is_empty(), yours.is_empty()) {
        (true, true) => return Err(Unclear::OtherShape),
        (false, true) => [format!("does not join where {}", words(Side::Gold, &gold)?), "does".to_owned()],
        (true, false) => [format!("joins where {}", words(Side::Yours, &yours)?), "does not".to_owned()],
        (false, false) => pair
            .both(|say| say.conditions(Side::Yours, &yours), |say| say.conditions(Side::Gold, &gold))?
            .map(|keys| format!("joins where {keys}")),
    };
    let said = said.map(|words| words.replace(" and that ", " and "));
    let both = pair.exchange(|clauses, other, _| {
        clauses.keys.clone_from(&other.keys);
        clauses.reads.clone_from(&other.reads);
    });
    Ok(vec![Slip::new(&CAUSE, said, both)])
}

/// Whether outer joins are of the same relations in the same order and of the same kinds.
fn has_same_frame(pair: &Pair<'_>) -> bool {
    let (Reads::Outer(own), Reads::Outer(other)) = (&pair.gold.reads, &pair.yours.reads) else {
        return false;
    };
    let ids =
        |from: &From| -> Vec<RelationId> { from.relations().iter().map(|relation| relation.id).collect() };
    ids(own) == ids(other) && kinds(&pair.gold.reads) == kinds(&pair.yours.reads)
}
