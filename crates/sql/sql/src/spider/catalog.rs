//! The schema as the official scripts see it: lower-cased names, one identifier per table and column.

use std::collections::HashMap;

use crate::schema::{Schema, TableKind};

/// A table, a column, or `*`, within one [`Catalog`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnId(pub u32);

/// Names of one database with the identifiers that the official scripts give them: `__all__` for `*`,
/// `__table.column__` for a column, `__table__` for a table.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    tables: HashMap<String, HashMap<String, ColumnId>>,
    by_key: HashMap<String, ColumnId>,
    by_identifier: HashMap<String, ColumnId>,
    identifiers: Vec<String>,
    owners: Vec<Option<ColumnId>>,
}

impl Catalog {
    /// The catalog of tables with their columns; names are lower-cased.
    pub fn new<T, C>(tables: impl IntoIterator<Item = (T, C)>) -> Self
    where
        T: AsRef<str>,
        C: IntoIterator,
        C::Item: AsRef<str>,
    {
        let mut catalog = Self::default();
        catalog.add("*".to_owned(), "__all__".to_owned());
        for (table, columns) in tables {
            let table = table.as_ref().to_lowercase();
            let mut ids = HashMap::new();
            for column in columns {
                let column = column.as_ref().to_lowercase();
                let id = catalog.add(format!("{table}.{column}"), format!("__{table}.{column}__"));
                ids.insert(column, id);
            }
            catalog.add(table.clone(), format!("__{table}__"));
            catalog.tables.insert(table, ids);
        }
        catalog.find_owners();
        catalog
    }

    /// The catalog of a schema: its tables without views, their columns without hidden and generated ones
    /// (`PRAGMA table_info`, from which the official scripts read, leaves those out).
    pub fn from_schema(schema: &Schema) -> Self {
        Self::new(schema.tables().iter().filter(|t| t.kind != TableKind::View).map(|table| {
            let columns = table.columns.iter().filter(|c| !c.hidden && !c.generated);
            (&table.name, columns.map(|c| &c.name))
        }))
    }

    fn add(&mut self, key: String, identifier: String) -> ColumnId {
        let next = ColumnId(u32::try_from(self.identifiers.len()).unwrap_or(u32::MAX));
        let id = *self.by_identifier.entry(identifier.clone()).or_insert(next);
        if id == next {
            self.identifiers.push(identifier);
        }
        self.by_key.insert(key, id);
        id
    }

    /// An identifier with a dot belongs to the table whose identifier is the part before the first dot.
    fn find_owners(&mut self) {
        let owner = |identifier: &String| {
            let (table, _) = identifier.split_once('.')?;
            self.by_identifier.get(&format!("{table}__")).copied()
        };
        self.owners = self.identifiers.iter().map(owner).collect();
    }

    /// Whether a table has that (lower-case) name.
    pub fn is_table(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    /// The column of that name in the table of that name, both lower-case.
    pub fn column(&self, table: &str, column: &str) -> Option<ColumnId> {
        self.tables.get(table)?.get(column).copied()
    }

    /// What a key of the official identifier map (`*`, `table`, `table.column`) stands for.
    pub fn by_key(&self, key: &str) -> Option<ColumnId> {
        self.by_key.get(key).copied()
    }

    /// What has that identifier (`__table.column__`).
    pub fn by_identifier(&self, identifier: &str) -> Option<ColumnId> {
        self.by_identifier.get(identifier).copied()
    }

    /// All identifiers, by the number in their [`ColumnId`].
    pub fn identifiers(&self) -> &[String] {
        &self.identifiers
    }

    /// The table that a column belongs to.
    pub fn owner(&self, id: ColumnId) -> Option<ColumnId> {
        self.owners.get(id.0 as usize).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Column, Table};

    #[test]
    fn identifiers_are_lower_case_and_know_their_table() {
        let catalog = Catalog::new([("Singer", vec!["Name"]), ("all", vec!["x"])]);
        let name = catalog.column("singer", "name").unwrap();
        assert_eq!(catalog.by_identifier("__singer.name__"), Some(name));
        assert_eq!(catalog.owner(name), catalog.by_key("singer"));
        assert_eq!(catalog.by_key("*"), catalog.by_key("all"), "a table named all is taken for *");
    }

    #[test]
    fn views_and_generated_columns_are_not_seen() {
        let mut view = Table::new("v", vec![Column::new("a", None)]);
        view.kind = TableKind::View;
        let mut generated = Column::new("g", None);
        generated.generated = true;
        let table = Table::new("t", vec![Column::new("a", None), generated]);
        let catalog = Catalog::from_schema(&Schema::new(vec![view, table]));
        assert!(!catalog.is_table("v"));
        assert_eq!(catalog.column("t", "g"), None);
        assert!(catalog.column("t", "a").is_some());
    }
}
