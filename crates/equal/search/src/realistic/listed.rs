//! What the rows of a database keep, as a list.

use sqlgauge_engine::Value;
use sqlgauge_sql::schema::{Schema, Table};

use super::{Constraints, TableConstraints};

/// One thing that all rows keep beyond what the schema declares. Columns are called `table.column`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RowConstraint {
    /// A column is never NULL.
    NotNull { column: String },
    /// The numbers or dates of a column lie between two values.
    Range {
        column: String,
        /// The least value.
        low: Value,
        /// The greatest value.
        high: Value,
    },
    /// A column has few values.
    Categories {
        column: String,
        /// All of them but NULL.
        values: Vec<Value>,
    },
    /// Columns repeat no value together.
    Unique { columns: Vec<String> },
    /// Rows that agree in one column agree in another.
    Dependency {
        /// The column that determines.
        from: String,
        /// The column that is determined.
        to: String,
    },
    /// No row has a value in one column that is above its value in another.
    Order {
        /// The column that is never above.
        low: String,
        /// The column that is never below.
        high: String,
    },
    /// The values of a column are all in a key of another table.
    Inclusion {
        column: String,
        /// The key.
        target: String,
    },
}

impl Constraints {
    /// What the rows keep, table by table.
    pub fn listed(&self, schema: &Schema) -> Vec<RowConstraint> {
        let of_table = |(at, constraints): (usize, &TableConstraints)| {
            Some(constraints.listed(schema.tables().get(at)?, schema))
        };
        self.rows().filter_map(of_table).flatten().collect()
    }
}

impl TableConstraints {
    fn listed(&self, table: &Table, schema: &Schema) -> Vec<RowConstraint> {
        let mut list = Vec::new();
        for (at, constraint) in (0..).zip(&self.columns) {
            let column = || named(table, at);
            if constraint.is_not_null {
                list.push(RowConstraint::NotNull { column: column() });
            }
            if let Some((low, high)) = constraint.range.clone() {
                list.push(RowConstraint::Range { column: column(), low, high });
            }
            if let Some(values) = constraint.categories.clone() {
                list.push(RowConstraint::Categories { column: column(), values });
            }
        }
        let unique = self.unique.iter().map(|key| key.iter().map(|&at| named(table, at)).collect());
        list.extend(unique.map(|columns| RowConstraint::Unique { columns }));
        list.extend(self.dependencies.iter().map(|dependency| RowConstraint::Dependency {
            from: named(table, dependency.from),
            to: named(table, dependency.to),
        }));
        list.extend(self.orders.iter().map(|order| RowConstraint::Order {
            low: named(table, order.low),
            high: named(table, order.high),
        }));
        list.extend(self.inclusions.iter().filter_map(|inclusion| {
            let target = named(schema.tables().get(inclusion.table)?, inclusion.target);
            Some(RowConstraint::Inclusion { column: named(table, inclusion.column), target })
        }));
        list
    }
}

fn named(table: &Table, column: u32) -> String {
    let name = table.column(column).map_or("?", |column| column.name.as_str());
    format!("{}.{name}", table.name)
}
