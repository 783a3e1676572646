//! Which columns hold what they declare.
//!
//! SQLite lets 1.5 stand in an INT column and NULL in most primary keys. Most people think of a typed database, as STRICT makes one:
//! a column holds values of its declared type, and a column of a primary key is not NULL. Two queries may differ by nothing else.

use std::collections::BTreeSet;

use sqlgauge_sql::schema::{Schema, Table, TableId};

use super::Search;
use super::needs::{FilledTables, is_of_type};
use super::verdict::Refutation;
use super::witness::{Witness, literal};

/// Which columns hold values of their declared type alone and, in a primary key, no NULL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DeclaredColumns {
    /// None need do so.
    #[default]
    None,
    /// All do but these, by the place of their table in the schema.
    AllBut(BTreeSet<(usize, u32)>),
}

impl DeclaredColumns {
    pub fn all() -> Self {
        Self::AllBut(BTreeSet::new())
    }

    /// Whether that column does.
    pub fn has(&self, table: TableId, column: u32) -> bool {
        match self {
            Self::None => false,
            Self::AllBut(free) => !free.contains(&(table.index(), column)),
        }
    }

    /// The names of the columns that need not, if there are others.
    pub fn free(&self, schema: &Schema) -> Vec<String> {
        let Self::AllBut(free) = self else { return Vec::new() };
        let named = free.iter().filter_map(|&(table, column)| {
            let table = schema.tables().get(table)?;
            Some(format!("{}.{}", table.name, table.column(column)?.name))
        });
        named.collect()
    }

    /// What of a database they do not allow, in words: `t.a: 1.5 in a column INT`.
    pub fn broken_by(&self, schema: &Schema, database: &Witness) -> Vec<String> {
        let tables: Vec<TableId> = schema
            .ids()
            .filter(|&id| schema.table(id).is_some_and(|table| database.table(&table.name).is_some()))
            .collect();
        FilledTables::of(database, schema, &tables)
            .map_or_else(Vec::new, |filled| self.broken(schema, &filled).collect())
    }

    /// Whether the rows hold only what they allow.
    pub(super) fn allow(&self, schema: &Schema, filled: &FilledTables) -> bool {
        self.broken(schema, filled).next().is_none()
    }

    fn broken<'a>(
        &'a self,
        schema: &'a Schema,
        filled: &'a FilledTables,
    ) -> impl Iterator<Item = String> + 'a {
        let tables = filled.columns.iter().zip(&filled.rows);
        tables.flat_map(move |((id, columns), rows)| {
            let matches = (0..).zip(columns).filter(move |(_, column)| self.has(*id, **column));
            matches.filter_map(move |(at, &column)| {
                let table = schema.table(*id)?;
                let values = || rows.iter().filter_map(move |row| row.get(at));
                let name = || format!("{}.{}", table.name, table.columns[column as usize].name);
                if is_of_key(table, column)
                    && values().any(|value| matches!(value, sqlgauge_engine::Value::Null))
                {
                    return Some(format!("{}: NULL in a primary key", name()));
                }
                let declared = table.column(column)?;
                let wrong = values().find(|value| !is_of_type(value, declared))?;
                let kind = declared.declared_type.as_deref().unwrap_or_default();
                Some(format!("{}: {} in a column {kind}", name(), literal(wrong)))
            })
        })
    }

    /// The schema with NOT NULL for those columns of primary keys among them in which SQLite would let NULL stand; `None` if
    /// there are none.
    pub fn demanded(&self, schema: &Schema) -> Option<Schema> {
        let open = |id: TableId| {
            let table = schema.table(id)?;
            let key = table.primary_key.iter().copied();
            Some(key.filter(move |&at| is_of_key(table, at) && !table.is_not_null(at) && self.has(id, at)))
        };
        let open: Vec<(usize, u32)> = schema
            .ids()
            .flat_map(|id| open(id).into_iter().flatten().map(move |at| (id.index(), at)))
            .collect();
        if open.is_empty() {
            return None;
        }
        let mut tables = schema.tables().to_vec();
        for (table, column) in open {
            if let Some(column) =
                tables.get_mut(table).and_then(|table| table.columns.get_mut(column as usize))
            {
                column.not_null = true;
            }
        }
        Some(Schema::new(tables))
    }
}

/// Whether a column is of the primary key, and no other name of the rowid.
fn is_of_key(table: &Table, column: u32) -> bool {
    table.primary_key.contains(&column) && table.rowid_alias() != Some(column)
}

impl Search {
    /// Takes only databases for counterexamples in which those columns hold what they declare. What tells the queries apart in
    /// others is kept apart ([`super::Survived::undeclared`]).
    pub fn hold(&self, columns: DeclaredColumns) {
        *self.declared.borrow_mut() = columns;
    }

    /// Whether those columns hold in a counterexample what they declare.
    pub fn is_declared(&self, refutation: &Refutation) -> bool {
        refutation.needs().is_empty()
            || self.declared.borrow().broken_by(&self.schema, refutation.database()).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SearchOptions, SearchVerdict};

    const DDL: &str =
        "CREATE TABLE t (code TEXT PRIMARY KEY, a INT, d DATE); CREATE TABLE u (id INTEGER PRIMARY KEY)";

    #[test]
    fn the_columns_that_hold_what_they_declare() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let script = |rows: &str| {
            let create = "CREATE TABLE \"t\" (\"code\" TEXT PRIMARY KEY, \"a\" INT, \"d\" DATE)";
            Witness::of_script(&format!("{create};\nINSERT INTO \"t\" VALUES {rows};\n")).unwrap()
        };
        let all = DeclaredColumns::all();
        let but_a = DeclaredColumns::AllBut([(0, 1)].into());
        for (rows, broken, but) in [
            ("('x', 1, '2000-01-01'), ('y', NULL, NULL)", vec![], 0),
            ("(NULL, 1, NULL)", vec!["t.code: NULL in a primary key"], 1),
            ("('x', 1.5, 'soon')", vec!["t.a: 1.5 in a column INT", "t.d: 'soon' in a column DATE"], 1),
        ] {
            assert_eq!(all.broken_by(&schema, &script(rows)), broken, "{rows}");
            assert_eq!(but_a.broken_by(&schema, &script(rows)).len(), but, "{rows}");
            assert!(DeclaredColumns::None.broken_by(&schema, &script(rows)).is_empty());
        }
        assert_eq!(but_a.free(&schema), ["t.a"]);
        let demanded = all.demanded(&schema).unwrap();
        assert!(demanded.tables()[0].columns[0].not_null && !demanded.tables()[0].columns[1].not_null);
        assert!(DeclaredColumns::None.demanded(&schema).is_none());
    }

    /// Each pair differs by nothing but what its columns do not declare.
    #[test]
    fn a_difference_by_undeclared_values_is_kept_apart() {
        for (left, right) in [
            ("SELECT count(*) FROM t", "SELECT count(code) FROM t"),
            ("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE a >= 2"),
        ] {
            let search = Search::new(Schema::from_ddl(DDL).unwrap(), SearchOptions::default()).unwrap();
            assert!(search.refute(left, right).is_refuted(), "{left} | {right}");
            search.hold(DeclaredColumns::all());
            let SearchVerdict::Survived(survived) = search.refute_minimised(left, right) else {
                panic!("{left} | {right}")
            };
            let refutation = survived.undeclared.unwrap();
            let broken = DeclaredColumns::all().broken_by(&search.schema, refutation.database());
            assert!(!search.is_declared(&refutation) && broken.len() == 1, "{refutation:?}");
        }
    }
}
