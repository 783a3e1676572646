//! Columns that foreign keys link count as one.

use std::collections::HashMap;

use sqlgauge_sql::schema::Schema;

/// Table and column, lower case.
type Name = (String, String);

/// Groups of columns linked by foreign keys, directly or through others.
#[derive(Debug, Clone)]
pub(crate) struct LinkedColumns {
    representative: HashMap<Name, Name>,
}

impl LinkedColumns {
    pub(crate) fn new(schema: &Schema) -> Self {
        let mut columns: Vec<Name> = Vec::new();
        let mut place: HashMap<Name, usize> = HashMap::new();
        for table in schema.tables() {
            for column in &table.columns {
                let name = (table.name.to_ascii_lowercase(), column.name.to_ascii_lowercase());
                place.insert(name.clone(), columns.len());
                columns.push(name);
            }
        }
        let mut parent: Vec<usize> = (0..columns.len()).collect();
        for (table, key) in
            schema.tables().iter().flat_map(|t| t.foreign_keys.iter().map(move |key| (t, key)))
        {
            let Some((target, referenced)) = schema.resolve_foreign_key(key) else { continue };
            let Some(target) = schema.table(target) else { continue };
            for (&column, &other) in key.columns.iter().zip(&referenced) {
                let id = |table: &sqlgauge_sql::schema::Table, column: u32| {
                    let name = table.column(column)?.name.to_ascii_lowercase();
                    place.get(&(table.name.to_ascii_lowercase(), name)).copied()
                };
                if let (Some(a), Some(b)) = (id(table, column), id(target, other)) {
                    let (a, b) = (root(&parent, a), root(&parent, b));
                    // The first column of the schema stands for its group.
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
        let linked = (0..columns.len()).filter(|&i| root(&parent, i) != i);
        let representative =
            linked.map(|i| (columns[i].clone(), columns[root(&parent, i)].clone())).collect();
        Self { representative }
    }

    /// The column that stands for the group of that column; itself without links.
    pub(crate) fn representative(&self, table: &str, column: &str) -> Name {
        let name = (table.to_ascii_lowercase(), column.to_ascii_lowercase());
        self.representative.get(&name).cloned().unwrap_or(name)
    }
}

fn root(parent: &[usize], mut index: usize) -> usize {
    while parent[index] != index {
        index = parent[index];
    }
    index
}
