//! From two queries to slips: matches what they read, takes away what is the same, goes into subqueries that stand at the
//! same place, and asks the causes about the rest.

use std::collections::{BTreeSet, HashMap};

use sqlgauge_base::budget;
use sqlgauge_sql::reads::is_recursive;
use sqlgauge_sql::tree::{
    Body, ColumnRef, Expr, From, Query, Relation, RelationId, RelationSource, SetOperator,
};
use sqlgauge_sql::visit::{Rewriter, change_exprs, rewrite_query};

use crate::align::{number_before, numbers as renumbered, ways};
use crate::cause::{Slip, Unclear};
use crate::causes::{causes, set_operation};
use crate::clauses::{Clause, Clauses, Reads};
use crate::pair::{Matched, Pair, Rest, Scene, Side, Unlike};
use crate::same::{Classes, apart, reads_any};

/// The slips that make the answer of the gold.
pub(crate) fn queries(
    scene: &Scene<'_>,
    gold: &Query,
    prediction: &Query,
    numbers: &Matched,
) -> Result<Vec<Slip>, Unclear> {
    budget::spend(1);
    if !gold.ctes.is_empty() || !prediction.ctes.is_empty() {
        return with_ctes(scene, gold, prediction, numbers);
    }
    match (&gold.body, &prediction.body) {
        (Body::Select(_), Body::Select(_)) => selects(scene, gold, prediction, numbers),
        (Body::Values(_), _) | (_, Body::Values(_)) => Err(Unclear::OtherShape),
        _ => compounds(scene, gold, prediction, numbers),
    }
}

/// Queries with CTEs: those of the answer are those of the gold, one for one, or differ inside.
fn with_ctes(
    scene: &Scene<'_>,
    gold: &Query,
    prediction: &Query,
    numbers: &Matched,
) -> Result<Vec<Slip>, Unclear> {
    if gold.ctes.len() != prediction.ctes.len() {
        return Err(Unclear::OtherShape);
    }
    let bare = |query: &Query| Query { ctes: Vec::new(), ..query.clone() };
    let mut slips = Vec::new();
    for (at, (cte, other)) in gold.ctes.iter().zip(&prediction.ctes).enumerate() {
        if cte.id != other.id || is_recursive(cte) || is_recursive(other) {
            return if apart(gold) == apart(prediction) { Ok(slips) } else { Err(Unclear::OtherShape) };
        }
        let inner = queries(scene, &cte.query, &other.query, numbers)?;
        slips.extend(lifted(inner, "in a common table expression", |side, part| {
            let mut whole = if side == Side::Gold { gold.clone() } else { prediction.clone() };
            whole.ctes[at].query = part;
            whole
        }));
    }
    let outer = queries(scene, &bare(gold), &bare(prediction), numbers)?;
    slips.extend(outer.into_iter().map(|slip| Slip {
        planted: Query { ctes: gold.ctes.clone(), ..slip.planted },
        repaired: Query { ctes: prediction.ctes.clone(), ..slip.repaired },
        ..slip
    }));
    Ok(slips)
}

/// Slips inside of a part, as slips of the whole.
pub(crate) fn lifted(
    slips: Vec<Slip>,
    place: &'static str,
    whole: impl Fn(Side, Query) -> Query,
) -> impl Iterator<Item = Slip> {
    slips.into_iter().map(move |slip| Slip {
        place: Some(slip.place.unwrap_or(place)),
        planted: whole(Side::Gold, slip.planted),
        repaired: whole(Side::Prediction, slip.repaired),
        ..slip
    })
}

/// A compound: its parts, and how each goes with those before.
fn parts(body: &Body) -> (Vec<&Body>, Vec<(SetOperator, bool)>) {
    match body {
        Body::SetOperation { operator, all, left, right } => {
            let (mut bodies, mut operators) = parts(left);
            bodies.push(right);
            operators.push((*operator, *all));
            (bodies, operators)
        }
        other => (vec![other], Vec::new()),
    }
}

fn compounds(
    scene: &Scene<'_>,
    gold: &Query,
    prediction: &Query,
    numbers: &Matched,
) -> Result<Vec<Slip>, Unclear> {
    let ((bodies_of_gold, operators), (other, others)) = (parts(&gold.body), parts(&prediction.body));
    if bodies_of_gold.len() != other.len() {
        return set_operation::other_shape(gold, prediction).map(|slip| vec![slip]);
    }
    let tail = |query: &Query| (query.order_by.clone(), query.limit.clone(), query.offset.clone());
    if tail(gold) != tail(prediction) {
        return Err(Unclear::OtherShape);
    }
    let whole =
        |parts: Vec<Body>, operators: &[(SetOperator, bool)]| {
            let mut parts = parts.into_iter();
            let first = parts.next().unwrap_or(Body::Values(Vec::new()));
            let body = parts.zip(operators).fold(first, |left, (right, &(operator, all))| {
                Body::SetOperation { operator, all, left: Box::new(left), right: Box::new(right) }
            });
            Query { body, ..gold.clone() }
        };
    let all = |bodies: &[&Body]| -> Vec<Body> { bodies.iter().map(|&body| body.clone()).collect() };
    let compare = |order: &[usize]| -> Result<Vec<Slip>, Unclear> {
        let mut slips = Vec::new();
        for (at, &of) in order.iter().enumerate() {
            let [left, right] = [bodies_of_gold[at], other[of]].map(|body| Query::of(body.clone()));
            let inner = queries(scene, &left, &right, numbers)?;
            slips.extend(lifted(inner, "in a part of the compound", |side, part| {
                let (bodies, operators, at) = if side == Side::Gold {
                    (&bodies_of_gold, &operators, at)
                } else {
                    (&other, &others, of)
                };
                let mut all = all(bodies);
                all[at] = part.body;
                whole(all, operators)
            }));
        }
        Ok(slips)
    };
    let as_written: Vec<usize> = (0..bodies_of_gold.len()).collect();
    let mut best = compare(&as_written);
    let commutes =
        |list: &[(SetOperator, bool)]| matches!(list, [(SetOperator::Union | SetOperator::Intersect, _)]);
    if commutes(&operators) && commutes(&others) {
        let swapped = compare(&[1, 0]);
        let count = |slips: &Result<Vec<Slip>, Unclear>| slips.as_ref().map_or(usize::MAX, Vec::len);
        if count(&swapped) < count(&best) {
            best = swapped;
        }
    }
    let mut slips = best?;
    if operators != others {
        let both = [whole(all(&bodies_of_gold), &others), whole(all(&other), &operators)];
        slips.push(set_operation::other_operators(&operators, &others, both));
    }
    Ok(slips)
}

/// Two SELECTs, with their relations matched in the way that leaves the fewest differences.
fn selects(
    scene: &Scene<'_>,
    gold: &Query,
    prediction: &Query,
    numbers: &Matched,
) -> Result<Vec<Slip>, Unclear> {
    let (clauses, other) =
        (Clauses::of(gold).ok_or(Unclear::OtherShape)?, Clauses::of(prediction).ok_or(Unclear::OtherShape)?);
    let mut best: Option<(usize, Pair<'_>, Rest)> = None;
    for way in ways(&clauses.reads.relations(), &other.reads.relations()) {
        let pair = paired(scene, clauses.clone(), prediction, &way, numbers)?;
        let rest = rest(&pair);
        if best.as_ref().is_none_or(|(count, ..)| rest.count() < *count) {
            best = Some((rest.count(), pair, rest));
        }
    }
    let (_, pair, mut rest) = best.ok_or(Unclear::OtherShape)?;
    let mut slips = derived(&pair)?;
    slips.extend(nested(&pair, &mut rest)?);
    for cause in causes() {
        slips.extend((cause.find)(&pair, &mut rest)?);
    }
    if rest.count() > 0 { Err(Unclear::OtherShape) } else { Ok(slips) }
}

fn paired<'s>(
    scene: &'s Scene<'s>,
    gold: Clauses,
    prediction: &Query,
    way: &HashMap<RelationId, RelationId>,
    numbers: &Matched,
) -> Result<Pair<'s>, Unclear> {
    let mut query = prediction.clone();
    rewrite_query(&mut renumbered(prediction, way), &mut query);
    let prediction = Clauses::of(&query).ok_or(Unclear::OtherShape)?;
    let plain = Classes::default();
    let shared: Vec<&Expr> =
        gold.keys.iter().filter(|key| prediction.keys.iter().any(|other| plain.same(key, other))).collect();
    let classes = Classes::of(&shared, &gold.tables(), scene.schema);
    let classes_of_prediction =
        Classes::of(&prediction.keys.iter().collect::<Vec<_>>(), &prediction.tables(), scene.schema);
    let mut numbers = numbers.clone();
    numbers.extend(way.iter().map(|(prediction, gold)| (*gold, number_before(*prediction))));
    Ok(Pair { scene, ctes: &[], gold, prediction, classes, classes_of_prediction, numbers })
}

/// What differs, clause by clause.
fn rest(pair: &Pair<'_>) -> Rest {
    let Pair { gold, prediction, .. } = pair;
    let mut rest = Rest::default();
    let only = |reads: &Reads, other: &Reads| -> Vec<Relation> {
        let ids: Vec<RelationId> = other.relations().iter().map(|relation| relation.id).collect();
        reads.relations().into_iter().filter(|relation| !ids.contains(&relation.id)).cloned().collect()
    };
    (rest.missing, rest.extra) = (only(&gold.reads, &prediction.reads), only(&prediction.reads, &gold.reads));
    rest.joins = match (&gold.reads, &prediction.reads) {
        (Reads::Inner(_), Reads::Inner(_)) => false,
        (Reads::Outer(from), Reads::Outer(other)) => !same_from(from, other),
        _ => true,
    };
    rest.keys = !same_keys(pair);
    for clause in [Clause::Where, Clause::Having] {
        rest.conditions.extend(unlike(pair, clause));
    }
    rest.width = gold.outputs.len() != prediction.outputs.len();
    if !rest.width {
        let both = gold.outputs.iter().zip(&prediction.outputs).enumerate();
        rest.outputs = both.filter(|(_, (gold, other))| !pair.says(gold, other)).map(|(at, _)| at).collect();
    }
    rest.distinct = gold.distinct != prediction.distinct;
    rest.group_by = !same_sets(pair, &gold.group_by, &prediction.group_by);
    let terms = |clauses: &Clauses| -> Vec<(Expr, bool, Option<bool>)> {
        let term = |term: &sqlgauge_sql::tree::OrderTerm| {
            (pair.classes.normal(&term.expr), term.descending, term.nulls_first)
        };
        clauses.order_by.iter().map(term).collect()
    };
    rest.order_by = terms(gold) != terms(prediction);
    let same = |gold: &Option<Expr>, other: &Option<Expr>| match (gold, other) {
        (Some(gold), Some(other)) => pair.same(gold, other),
        _ => gold.is_none() == other.is_none(),
    };
    rest.limit = !same(&gold.limit, &prediction.limit) || !same(&gold.offset, &prediction.offset);
    rest
}

/// Whether outer joins are the same but for what subqueries in FROM hold.
fn same_from(left_from: &From, other: &From) -> bool {
    match (left_from, other) {
        (From::Relation(left_from), From::Relation(other)) => left_from.id == other.id,
        (From::Join(left_from), From::Join(other)) => {
            let on = match (&left_from.on, &other.on) {
                (Some(left_from), Some(other)) => Classes::default().same(left_from, other),
                (left_from, other) => left_from.is_none() == other.is_none(),
            };
            left_from.kind == other.kind
                && on
                && same_from(&left_from.left, &other.left)
                && same_from(&left_from.right, &other.right)
        }
        _ => false,
    }
}

/// Whether the same columns are made equal, by whichever equalities.
fn same_keys(pair: &Pair<'_>) -> bool {
    let groups = |clauses: &Clauses| {
        let mut groups: Vec<BTreeSet<ColumnRef>> = Vec::new();
        for key in &clauses.keys {
            let Expr::Binary(_, left, right) = key else { continue };
            let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) else { continue };
            let (mut joined, rest): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|group| group.contains(left) || group.contains(right));
            joined.push(BTreeSet::from([*left, *right]));
            groups = rest;
            groups.push(joined.into_iter().flatten().collect());
        }
        groups.into_iter().collect::<BTreeSet<_>>()
    };
    groups(&pair.gold) == groups(&pair.prediction)
}

fn same_sets(pair: &Pair<'_>, exprs: &[Expr], other: &[Expr]) -> bool {
    let all_in =
        |of: &[Expr], list: &[Expr]| of.iter().all(|expr| list.iter().any(|other| pair.same(expr, other)));
    all_in(exprs, other) && all_in(other, exprs)
}

/// The conditions that only one has, together where they are about the same columns.
fn unlike(pair: &Pair<'_>, clause: Clause) -> Vec<Unlike> {
    let list = |clauses: &Clauses| match clause {
        Clause::Where => clauses.conditions.clone(),
        Clause::Having => clauses.having.clone(),
    };
    let (gold, prediction) = (list(&pair.gold), list(&pair.prediction));
    let only = |exprs: &[Expr], other: &[Expr]| -> Vec<Expr> {
        exprs.iter().filter(|expr| !other.iter().any(|twin| pair.same(expr, twin))).cloned().collect()
    };
    let (mut only_gold, only_prediction) = (only(&gold, &prediction), only(&prediction, &gold));
    // What the answer asks of a column that its join makes equal.
    only_gold.retain(|expr| !prediction.iter().any(|twin| pair.says(expr, twin)));
    let relations = pair.relations();
    let mut groups: Vec<(BTreeSet<ColumnRef>, Unlike)> = Vec::new();
    for (is_gold, expr) in
        only_gold.into_iter().map(|e| (true, e)).chain(only_prediction.into_iter().map(|e| (false, e)))
    {
        // What groups are asked may be said of other columns: it is compared as a whole.
        let about = match clause {
            Clause::Where => pair.classes.columns(&expr, &relations),
            Clause::Having => BTreeSet::new(),
        };
        let place = groups.iter().position(|(columns, _)| *columns == about).unwrap_or_else(|| {
            groups.push((about, Unlike { clause, gold: Vec::new(), prediction: Vec::new() }));
            groups.len() - 1
        });
        let unlike = &mut groups[place].1;
        if is_gold { unlike.gold.push(expr) } else { unlike.prediction.push(expr) }
    }
    groups.into_iter().map(|(_, unlike)| unlike).collect()
}

/// Slips inside of subqueries in FROM.
fn derived(pair: &Pair<'_>) -> Result<Vec<Slip>, Unclear> {
    let mut slips = Vec::new();
    for relation in pair.gold.reads.relations() {
        let other = pair.prediction.reads.relations().into_iter().find(|other| other.id == relation.id);
        let (RelationSource::Derived(gold), Some(RelationSource::Derived(prediction))) =
            (&relation.source, other.map(|other| &other.source))
        else {
            continue;
        };
        if gold.width() != prediction.width() {
            return Err(Unclear::OtherShape);
        }
        let inner = queries(pair.scene, gold, prediction, &pair.numbers)?;
        slips.extend(lifted(inner, "in a subquery", |side, part| {
            let mut whole = pair.clauses(side).query(pair.ctes);
            rewrite_query(&mut PutInFrom(relation.id, part), &mut whole);
            whole
        }));
    }
    Ok(slips)
}

struct PutInFrom(RelationId, Query);

impl Rewriter for PutInFrom {
    fn relation(&mut self, relation: &mut Relation) {
        if relation.id == self.0 {
            relation.source = RelationSource::Derived(Box::new(self.1.clone()));
        }
    }
}

/// Slips inside of subqueries of conditions that are otherwise the same.
fn nested(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    let mut slips = Vec::new();
    let mut left = Vec::new();
    for mut unlike in std::mem::take(&mut rest.conditions) {
        let mut rest_of_gold = Vec::new();
        for gold in std::mem::take(&mut unlike.gold) {
            let fitting =
                unlike.prediction.iter().position(|prediction| has_same_frame(pair, &gold, prediction));
            let inner = fitting.map(|at| (at, subquery(&gold), subquery(&unlike.prediction[at])));
            let Some((at, Some(inner_gold), Some(other))) = inner else {
                rest_of_gold.push(gold);
                continue;
            };
            // A gold that reads what the answer does not cannot have its subquery changed alone.
            if reads_any(&gold, &ids(&rest.missing)) || inner_gold.width() != other.width() {
                rest_of_gold.push(gold);
                continue;
            }
            let inner = queries(pair.scene, inner_gold, other, &pair.numbers)?;
            let prediction = unlike.prediction[at].clone();
            slips.extend(lifted(inner, "in a subquery", |side, part| {
                let frame = if side == Side::Gold { &gold } else { &prediction };
                let mut clauses = pair.clauses(side).clone();
                for expr in clauses.list(unlike.clause).iter_mut().filter(|expr| *expr == frame) {
                    put(expr, &part);
                }
                clauses.query(pair.ctes)
            }));
            unlike.prediction.remove(at);
        }
        unlike.gold = rest_of_gold;
        if !unlike.gold.is_empty() || !unlike.prediction.is_empty() {
            left.push(unlike);
        }
    }
    rest.conditions = left;
    Ok(slips)
}

fn ids(relations: &[Relation]) -> Vec<RelationId> {
    relations.iter().map(|relation| relation.id).collect()
}

/// The subquery of a condition that has one at its top.
pub(crate) fn subquery(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::InQuery { query, .. } | Expr::Exists { query, .. } | Expr::Scalar(query) => Some(query),
        Expr::Binary(_, left, right) => match (&**left, &**right) {
            (Expr::Scalar(query), _) | (_, Expr::Scalar(query)) => Some(query),
            _ => None,
        },
        _ => None,
    }
}

/// Puts another query in the place of the subquery.
fn put(expr: &mut Expr, other: &Query) {
    match expr {
        Expr::InQuery { query, .. } | Expr::Exists { query, .. } | Expr::Scalar(query) => {
            **query = other.clone();
        }
        Expr::Binary(_, left, right) => match (&mut **left, &mut **right) {
            (Expr::Scalar(query), _) | (_, Expr::Scalar(query)) => **query = other.clone(),
            _ => {}
        },
        _ => {}
    }
}

/// Whether two conditions are the same but for their subqueries.
fn has_same_frame(pair: &Pair<'_>, gold: &Expr, other: &Expr) -> bool {
    let frame = |expr: &Expr| {
        let mut expr = expr.clone();
        change_exprs(&mut expr, |expr| put(expr, &Query::of(Body::Values(Vec::new()))));
        expr
    };
    subquery(gold).is_some() && subquery(other).is_some() && pair.same(&frame(gold), &frame(other))
}
