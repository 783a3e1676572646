//! Spider's four hardness levels.

use serde::{Deserialize, Serialize};

use super::MisplacedOperator;
use super::query::{ColumnUnit, ConditionItem, ConditionOp, SpiderAggregate, SpiderQuery};

sqlgauge_base::named! {
    /// How hard a query is (Spider paper, section 4.3; `evaluation.py`, `eval_hardness`).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Hardness by as_str {
        /// At most one component, nothing nested.
        Easy = "easy",
        /// A few components, nothing nested.
        Medium = "medium",
        /// More components, or one nested query and little else.
        Hard = "hard",
        /// Everything else.
        Extra = "extra",
    }
}

/// The hardness of a query.
///
/// # Errors
/// [`MisplacedOperator`] where the official script fails too.
pub fn hardness(query: &SpiderQuery) -> Result<Hardness, MisplacedOperator> {
    if query.conditions().into_iter().any(super::Condition::has_misplaced_operator) {
        return Err(MisplacedOperator);
    }
    let (clauses, nested, others) = (clauses(query), nested(query), others(query));
    Ok(match (clauses, others, nested) {
        (0..=1, 0, 0) => Hardness::Easy,
        (0..=1, 0..=2, 0) | (0..=2, 0..=1, 0) => Hardness::Medium,
        (0..=2, 3.., 0) | (3, 0..=2, 0) | (0..=1, 0, 0..=1) => Hardness::Hard,
        _ => Hardness::Extra,
    })
}

/// "Component 1": WHERE, GROUP BY, ORDER BY, LIMIT, each JOIN, each OR, each LIKE.
fn clauses(query: &SpiderQuery) -> usize {
    let present =
        [!query.filter.is_empty(), !query.group_by.is_empty(), query.order_by.is_some(), query.limit];
    let joins = query.from.tables.len().saturating_sub(1);
    let in_conditions = query.conditions().into_iter().map(|condition| {
        let ors = condition.odd().filter(|item| matches!(item, ConditionItem::Or)).count();
        ors + condition.units().filter(|unit| unit.op == ConditionOp::Like).count()
    });
    present.into_iter().filter(|&p| p).count() + joins + in_conditions.sum::<usize>()
}

/// "Component 2": queries nested in conditions, and set operations.
fn nested(query: &SpiderQuery) -> usize {
    let in_conditions = query.conditions().into_iter().flat_map(super::Condition::units);
    in_conditions.map(|unit| unit.queries().count()).sum::<usize>()
        + query.set_operations().into_iter().flatten().count()
}

/// "Others": more than one aggregate, output, condition (operators counted), grouping column.
fn others(query: &SpiderQuery) -> usize {
    [aggregates(query) > 1, query.select.items.len() > 1, query.filter.0.len() > 1, query.group_by.len() > 1]
        .into_iter()
        .filter(|&more| more)
        .count()
}

/// The official count of aggregates looks at the first field of whatever it is given: in WHERE that field is
/// the negation, and in HAVING the operators between conditions count as well.
fn aggregates(query: &SpiderQuery) -> usize {
    let has = |unit: &ColumnUnit| unit.aggregate != SpiderAggregate::None;
    let selected = query.select.items.iter().filter(|item| item.aggregate != SpiderAggregate::None).count();
    let filtered = query.filter.units().filter(|unit| unit.negated).count();
    let grouped = query.group_by.iter().filter(|&unit| has(unit)).count();
    let ordered = query.order_by.iter().flat_map(|order| &order.units);
    let ordered = ordered.flat_map(|unit| std::iter::once(&unit.left).chain(&unit.right)).filter(|&u| has(u));
    let having = query.having.0.iter().filter(|item| match item {
        ConditionItem::Unit(unit) => unit.negated,
        ConditionItem::And | ConditionItem::Or => true,
    });
    selected + filtered + grouped + ordered.count() + having.count()
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, parse};
    use super::*;

    #[test]
    fn levels_follow_the_counts() {
        let catalog = Catalog::new([("t", ["a", "b", "c"]), ("u", ["a", "d", "e"])]);
        for (sql, level) in [
            ("SELECT a FROM t", Hardness::Easy),
            ("SELECT count(*) FROM t WHERE a = 1", Hardness::Easy),
            ("SELECT a , b FROM t WHERE a = 1", Hardness::Medium),
            ("SELECT a FROM t GROUP BY a ORDER BY count(*)", Hardness::Medium),
            ("SELECT a FROM t WHERE a = 1 OR b = 2", Hardness::Medium),
            ("SELECT a FROM t WHERE a LIKE 'x' OR b LIKE 'y'", Hardness::Extra),
            ("SELECT a FROM t GROUP BY a ORDER BY count(*) DESC LIMIT 1", Hardness::Hard),
            ("SELECT a FROM t WHERE a = (SELECT max(a) FROM t)", Hardness::Hard),
            ("SELECT a FROM t EXCEPT SELECT a FROM u", Hardness::Hard),
            ("SELECT a , b FROM t EXCEPT SELECT a , d FROM u", Hardness::Extra),
            // Two aggregates by the official count: a negation and an operator in HAVING.
            ("SELECT a FROM t GROUP BY a HAVING count(*) > 1 AND count(*) < 9", Hardness::Easy),
            ("SELECT max(a) FROM t GROUP BY a HAVING count(*) > 1 AND count(*) < 9", Hardness::Medium),
        ] {
            let query = parse(&catalog, sql).unwrap();
            assert_eq!(hardness(&query), Ok(level), "{sql}");
        }
    }

    #[test]
    fn a_missing_operator_is_an_error_only_where_conditions_shift() {
        let catalog = Catalog::new([("t", ["a", "b"])]);
        let shifted = parse(&catalog, "SELECT a FROM t WHERE a = 1 b = 2 AND a = 3").unwrap();
        assert_eq!(hardness(&shifted), Err(MisplacedOperator));
        let plain = parse(&catalog, "SELECT a FROM t WHERE a = 1 b = 2").unwrap();
        assert_eq!(hardness(&plain), Ok(Hardness::Medium));
    }
}
