//! Which relation of the answer is which of the gold's.

use std::collections::HashMap;

use sqlgauge_sql::tree::{Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::{Numbering, reads};

/// Most ways to match the relations that are tried.
const MAX_WAYS: usize = 24;

/// Where the answer's relations begin that the gold does not have.
const OTHERS: u32 = 10_000;

/// The ways to match relations of the answer with relations of the gold that read the same: each the answer's numbers to
/// the gold's.
pub(crate) fn ways(gold: &[&Relation], prediction: &[&Relation]) -> Vec<HashMap<RelationId, RelationId>> {
    let mut ways = vec![HashMap::new()];
    let mut done: Vec<&RelationSource> = Vec::new();
    for relation in prediction {
        if done.iter().any(|source| is_alike(source, &relation.source)) {
            continue;
        }
        done.push(&relation.source);
        let alike = |all: &[&Relation]| -> Vec<RelationId> {
            all.iter()
                .filter(|other| is_alike(&other.source, &relation.source))
                .map(|other| other.id)
                .collect()
        };
        let (ours, theirs) = (alike(prediction), alike(gold));
        let matches = matches(&ours, &theirs);
        let all = ways.iter().flat_map(|way: &HashMap<RelationId, RelationId>| {
            matches.iter().map(move |more| way.iter().chain(more).map(|(a, b)| (*a, *b)).collect())
        });
        ways = all.take(MAX_WAYS).collect();
    }
    ways
}

/// Every way to give each of the first one of the second, as many as there are.
fn matches(ours: &[RelationId], theirs: &[RelationId]) -> Vec<HashMap<RelationId, RelationId>> {
    let Some((first, rest)) = ours.split_first() else { return vec![HashMap::new()] };
    let mut ways = Vec::new();
    for (at, id_of_other) in theirs.iter().enumerate() {
        let others: Vec<RelationId> =
            theirs.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, id)| *id).collect();
        for mut way in matches(rest, &others) {
            way.insert(*first, *id_of_other);
            ways.push(way);
            if ways.len() == MAX_WAYS {
                return ways;
            }
        }
    }
    if ours.len() > theirs.len() {
        ways.extend(matches(rest, theirs));
    }
    ways.truncate(MAX_WAYS);
    ways
}

fn is_alike(left: &RelationSource, right: &RelationSource) -> bool {
    match (left, right) {
        (RelationSource::Derived(_), RelationSource::Derived(_)) => true,
        _ => left == right,
    }
}

/// The new numbers of all relations of the answer's query: those of the way, and for all others such as the gold does not have.
pub(crate) fn numbers(prediction: &Query, way: &HashMap<RelationId, RelationId>) -> Numbering {
    let apart = |id: RelationId| if id.0 >= OTHERS { id } else { RelationId(id.0 + OTHERS) };
    let relations = reads::relations(prediction)
        .into_iter()
        .map(|id| (id, way.get(&id).copied().unwrap_or(apart(id))))
        .collect();
    Numbering { relations, ..Numbering::default() }
}

/// The number that a relation of the answer had before [`numbers`] gave it one of its own.
pub(crate) fn number_before(id: RelationId) -> RelationId {
    RelationId(if id.0 >= OTHERS { id.0 - OTHERS } else { id.0 })
}
