//! What the official script drops and renames before it compares (`rebuild_sql_val`, `rebuild_sql_col`).

use std::collections::HashSet;

use sqlgauge_sql::spider::{
    Catalog, ColumnId, ColumnUnit, Condition, ConditionItem, MisplacedOperator, SpiderQuery, SpiderValue,
    TableUnit, ValueUnit,
};

use super::{BoundKeys, Switches};

/// The query as it is compared.
///
/// Values disappear from all conditions, in set operations and in queries nested in conditions, but not in
/// queries nested in FROM. Columns are renamed, and DISTINCT inside column references disappears, at the
/// outer level and in set operations only; and only columns of tables in the outermost FROM are renamed.
pub(super) fn rebuild(
    query: &SpiderQuery,
    catalog: &Catalog,
    keys: &BoundKeys,
    switches: Switches,
) -> Result<SpiderQuery, MisplacedOperator> {
    let mut query = query.clone();
    check_conditions(&query)?;
    if !switches.values {
        drop_values(&mut query)?;
    }
    let tables = query.from.tables.iter().filter_map(|unit| match unit {
        TableUnit::Table(table) => Some(*table),
        TableUnit::Query(_) => None,
    });
    let renamer = Renamer { catalog, keys, tables: tables.collect(), distinct: switches.distinct };
    renamer.query(&mut query);
    Ok(query)
}

/// The script takes conditions apart at the outer level and in set operations; where it drops values, in
/// nested queries too ([`drop_values`]).
fn check_conditions(query: &SpiderQuery) -> Result<(), MisplacedOperator> {
    if query.conditions().into_iter().any(Condition::has_misplaced_operator) {
        return Err(MisplacedOperator);
    }
    query.set_operations().into_iter().flatten().try_for_each(check_conditions)
}

fn drop_values(query: &mut SpiderQuery) -> Result<(), MisplacedOperator> {
    for condition in [&mut query.from.conditions, &mut query.having, &mut query.filter] {
        for item in condition.0.iter_mut().step_by(2) {
            let ConditionItem::Unit(unit) = item else { return Err(MisplacedOperator) };
            for value in [&mut unit.first, &mut unit.second] {
                match value {
                    Some(SpiderValue::Query(nested)) => drop_values(nested)?,
                    _ => *value = None,
                }
            }
        }
    }
    let set_operations = [&mut query.intersect, &mut query.except, &mut query.union];
    set_operations.into_iter().flatten().try_for_each(|query| drop_values(query))
}

struct Renamer<'a> {
    catalog: &'a Catalog,
    keys: &'a BoundKeys,
    tables: HashSet<ColumnId>,
    distinct: bool,
}

impl Renamer<'_> {
    fn query(&self, query: &mut SpiderQuery) {
        for item in &mut query.select.items {
            self.value_unit(&mut item.unit);
        }
        for condition in [&mut query.from.conditions, &mut query.filter, &mut query.having] {
            for item in condition.0.iter_mut().step_by(2) {
                if let ConditionItem::Unit(unit) = item {
                    self.value_unit(&mut unit.unit);
                }
            }
        }
        for unit in &mut query.group_by {
            self.column_unit(unit);
        }
        for unit in query.order_by.iter_mut().flat_map(|order| &mut order.units) {
            self.value_unit(unit);
        }
        for query in [&mut query.intersect, &mut query.except, &mut query.union].into_iter().flatten() {
            self.query(query);
        }
    }

    fn value_unit(&self, unit: &mut ValueUnit) {
        self.column_unit(&mut unit.left);
        if let Some(right) = &mut unit.right {
            self.column_unit(right);
        }
    }

    fn column_unit(&self, unit: &mut ColumnUnit) {
        if self.catalog.owner(unit.column).is_some_and(|table| self.tables.contains(&table)) {
            unit.column = self.keys.representative(unit.column);
        }
        unit.distinct &= self.distinct;
    }
}
