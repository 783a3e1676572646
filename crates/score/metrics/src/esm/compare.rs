//! The comparison itself: ten components, then the tables.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sqlgauge_base::budget;
use sqlgauge_sql::spider::{
    ColumnId, Condition, ConditionItem, ConditionOp, ConditionUnit, MisplacedOperator, SpiderDirection,
    SpiderQuery, SpiderValue, TableUnit,
};

use super::BoundKeys;
use super::partial::{PartialScore, PartialScores};

/// Why two readable queries cannot be compared; the official script stops with an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// An operator stands where a condition is expected.
    #[error(transparent)]
    MisplacedOperator(#[from] MisplacedOperator),
    /// A condition with a nested query stands where an operator is expected.
    #[error("a condition with a nested query stands in WHERE where AND or OR is expected")]
    QueryForOperator,
}

/// The outcome of comparing two queries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matched {
    pub(super) exact: bool,
    pub(super) partial: PartialScores,
}

/// Whether a query can be compared with anything.
pub(super) fn check(query: &SpiderQuery) -> Result<(), Incomparable> {
    operators(&query.filter)?;
    query.set_operations().into_iter().flatten().try_for_each(check)
}

/// Compares a prediction with a gold query, both rebuilt.
pub(super) fn exact_match(
    keys: &BoundKeys,
    pred: &SpiderQuery,
    label: &SpiderQuery,
) -> Result<Matched, Incomparable> {
    let (select, select_no_agg) = compare_select(pred, label);
    let (filter, filter_no_op) = compare_where(pred, label);
    let partial = PartialScores([
        select,
        select_no_agg,
        filter,
        filter_no_op,
        compare_group_names(keys, pred, label),
        compare_group(pred, label),
        compare_order(pred, label),
        compare_operators(pred, label)?,
        compare_set_operations(keys, pred, label)?,
        compare_keywords(pred, label),
    ]);
    let tables = &label.from.tables;
    let same_tables = || {
        tables.len() == pred.from.tables.len()
            && common(&pred.from.tables, tables, |table| hash_table(table)) == tables.len()
    };
    let exact = partial.all_matched() && (tables.is_empty() || same_tables());
    Ok(Matched { exact, partial })
}

/// How many members of `pred` are found in `label`, each of which is found once. Equal members have equal hashes.
fn common<T: PartialEq>(
    pred: impl IntoIterator<Item = T>,
    label: impl IntoIterator<Item = T>,
    hash: impl Fn(&T) -> u64,
) -> usize {
    let mut left: HashMap<u64, Vec<T>> = HashMap::new();
    for member in label {
        left.entry(hash(&member)).or_default().push(member);
    }
    let take = |member: T| {
        let same_hash = left.get_mut(&hash(&member))?;
        budget::spend(same_hash.len());
        let at = same_hash.iter().rposition(|other| *other == member)?;
        Some(same_hash.swap_remove(at))
    };
    pred.into_iter().filter_map(take).count()
}

fn compare_select(pred: &SpiderQuery, label: &SpiderQuery) -> (PartialScore, PartialScore) {
    let (pred, label) = (&pred.select.items, &label.select.items);
    let without_aggregates =
        common(pred.iter().map(|item| item.unit), label.iter().map(|item| item.unit), hash_of);
    let score = |count| PartialScore::new(label.len(), pred.len(), count);
    (score(common(pred, label, hash_of)), score(without_aggregates))
}

fn compare_where(pred: &SpiderQuery, label: &SpiderQuery) -> (PartialScore, PartialScore) {
    let (pred, label) = (&pred.filter, &label.filter);
    let units = |condition: &Condition| condition.units().count();
    let without_operators =
        common(pred.units().map(|unit| unit.unit), label.units().map(|unit| unit.unit), hash_of);
    let score = |count| PartialScore::new(units(label), units(pred), count);
    (
        score(common(pred.units(), label.units(), |unit| finished(|hasher| hash_unit(unit, hasher)))),
        score(without_operators),
    )
}

fn compare_group_names(keys: &BoundKeys, pred: &SpiderQuery, label: &SpiderQuery) -> PartialScore {
    let names = |query: &SpiderQuery| -> Vec<u32> {
        query.group_by.iter().map(|unit| keys.group_name(unit.column)).collect()
    };
    let (pred, label) = (names(pred), names(label));
    PartialScore::new(label.len(), pred.len(), common(&pred, &label, hash_of))
}

fn compare_group(pred: &SpiderQuery, label: &SpiderQuery) -> PartialScore {
    let columns =
        |query: &SpiderQuery| -> Vec<ColumnId> { query.group_by.iter().map(|unit| unit.column).collect() };
    let (pred_grouped, label_grouped) = (!pred.group_by.is_empty(), !label.group_by.is_empty());
    let same =
        pred_grouped && label_grouped && columns(pred) == columns(label) && pred.having == label.having;
    PartialScore::new(label_grouped.into(), pred_grouped.into(), same.into())
}

fn compare_order(pred: &SpiderQuery, label: &SpiderQuery) -> PartialScore {
    let same = label.order_by.is_some() && pred.order_by == label.order_by && pred.limit == label.limit;
    PartialScore::new(label.order_by.is_some().into(), pred.order_by.is_some().into(), same.into())
}

fn compare_operators(pred: &SpiderQuery, label: &SpiderQuery) -> Result<PartialScore, Incomparable> {
    let (pred, label) = (operators(&pred.filter)?, operators(&label.filter)?);
    if pred.len() == label.len() && common(&pred, &label, |item| hash(item)) == label.len() {
        return Ok(PartialScore::new(1, 1, 1));
    }
    // The official function returns the two totals in the wrong order.
    Ok(PartialScore { matched: false, label_total: pred.len(), pred_total: label.len() })
}

/// The set of what stands at the places of operators: usually AND and OR, but also conditions that follow
/// another without an operator.
fn operators(condition: &Condition) -> Result<Vec<&ConditionItem>, Incomparable> {
    let mut distinct: Vec<&ConditionItem> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for item in condition.odd() {
        if let ConditionItem::Unit(unit) = item
            && unit.queries().next().is_some()
        {
            return Err(Incomparable::QueryForOperator);
        }
        let same_hash = by_hash.entry(hash(item)).or_default();
        budget::spend(same_hash.len());
        if !same_hash.iter().any(|&place| distinct[place] == item) {
            same_hash.push(distinct.len());
            distinct.push(item);
        }
    }
    Ok(distinct)
}

/// Equal members have equal hashes.
fn hash(item: &ConditionItem) -> u64 {
    finished(|hasher| {
        std::mem::discriminant(item).hash(hasher);
        if let ConditionItem::Unit(unit) = item {
            hash_unit(unit, hasher);
        }
    })
}

fn finished(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}

fn hash_of<T: Hash>(member: &T) -> u64 {
    finished(|hasher| member.hash(hasher))
}

fn hash_table(table: &TableUnit) -> u64 {
    finished(|hasher| match table {
        TableUnit::Table(id) => id.hash(hasher),
        TableUnit::Query(query) => hash_query(query, hasher),
    })
}

fn hash_unit(unit: &ConditionUnit, hasher: &mut DefaultHasher) {
    budget::spend(1);
    (unit.negated, unit.op, unit.unit).hash(hasher);
    for value in [&unit.first, &unit.second].into_iter().flatten() {
        match value {
            // Adding zero makes the two zeros one.
            SpiderValue::Number(number) => (number + 0.0).to_bits().hash(hasher),
            SpiderValue::Text(text) => text.hash(hasher),
            SpiderValue::Column(column) => column.hash(hasher),
            SpiderValue::Query(query) => hash_query(query, hasher),
        }
    }
}

/// The parts of a query that tell most queries apart.
fn hash_query(query: &SpiderQuery, hasher: &mut DefaultHasher) {
    budget::spend(query.select.items.len() + query.group_by.len());
    query.select.items.hash(hasher);
    query.group_by.hash(hasher);
    for unit in query.filter.units() {
        hash_unit(unit, hasher);
    }
}

fn compare_set_operations(
    keys: &BoundKeys,
    pred: &SpiderQuery,
    label: &SpiderQuery,
) -> Result<PartialScore, Incomparable> {
    let (mut label_total, mut pred_total, mut matched) = (0, 0, 0);
    for (pred, label) in pred.set_operations().into_iter().zip(label.set_operations()) {
        pred_total += usize::from(pred.is_some());
        label_total += usize::from(label.is_some());
        if let (Some(pred), Some(label)) = (pred, label) {
            matched += usize::from(exact_match(keys, pred, label)?.exact);
        }
    }
    Ok(PartialScore::new(label_total, pred_total, matched))
}

fn compare_keywords(pred: &SpiderQuery, label: &SpiderQuery) -> PartialScore {
    let (pred, label) = (keywords(pred), keywords(label));
    let both = pred.iter().zip(label).filter(|&(&pred, label)| pred && label).count();
    let count = |present: [bool; 14]| present.into_iter().filter(|&p| p).count();
    PartialScore::new(count(label), count(pred), both)
}

/// Which key words the query has; ORDER BY counts twice, by itself and by its direction.
fn keywords(query: &SpiderQuery) -> [bool; 14] {
    let any_unit =
        |has: fn(&ConditionUnit) -> bool| query.conditions().into_iter().flat_map(Condition::units).any(has);
    let ordered = |direction| query.order_by.as_ref().is_some_and(|order| order.direction == direction);
    let or = |condition: &Condition| condition.odd().any(|item| matches!(item, ConditionItem::Or));
    [
        !query.filter.is_empty(),
        !query.group_by.is_empty(),
        !query.having.is_empty(),
        query.order_by.is_some(),
        ordered(SpiderDirection::Ascending),
        ordered(SpiderDirection::Descending),
        query.limit,
        query.except.is_some(),
        query.union.is_some(),
        query.intersect.is_some(),
        query.conditions().into_iter().any(or),
        any_unit(|unit| unit.negated),
        any_unit(|unit| unit.op == ConditionOp::In),
        any_unit(|unit| unit.op == ConditionOp::Like),
    ]
}
