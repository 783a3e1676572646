//! Which columns count as one because a foreign key links them.

use std::collections::{BTreeSet, HashMap};

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::spider::{Catalog, ColumnId};

/// From the identifier of a column (`__table.column__`) to the identifier of the column that stands for it
/// (`build_foreign_key_map` of the official script).
///
/// Columns are grouped greedily: a key joins the first group that has one of its two columns, and groups
/// that a later key links stay apart. The first column of a group, in the numbering of `tables.json`, stands
/// for all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignKeyMap {
    stands_for: HashMap<String, String>,
}

impl ForeignKeyMap {
    /// The map of an entry of `tables.json`: `table_names_original`, `column_names_original` (table number, -1
    /// for `*`, and name) and `foreign_keys` (pairs of column numbers). Numbers out of range are left out.
    pub fn from_tables_json<T: AsRef<str>, C: AsRef<str>>(
        tables: &[T],
        columns: &[(i64, C)],
        foreign_keys: &[(usize, usize)],
    ) -> Self {
        let identifier = |&(table, ref column): &(i64, C)| {
            let Ok(table) = usize::try_from(table) else { return "__all__".to_owned() };
            let table = tables.get(table).map_or("", AsRef::as_ref).to_lowercase();
            format!("__{table}.{}__", column.as_ref().to_lowercase())
        };
        let identifiers: Vec<String> = columns.iter().map(identifier).collect();
        Self::from_groups(&identifiers, foreign_keys)
    }

    /// The map of a schema's own foreign keys, columns numbered table by table as `tables.json` does. Keys that
    /// lead to no column are left out.
    pub fn from_schema(schema: &Schema) -> Self {
        let mut identifiers = vec!["__all__".to_owned()];
        let mut first_column = Vec::new();
        for table in schema.tables() {
            first_column.push(identifiers.len());
            let name = table.name.to_lowercase();
            identifiers.extend(table.columns.iter().map(|c| format!("__{name}.{}__", c.name.to_lowercase())));
        }
        let mut keys = Vec::new();
        for (table, first) in schema.tables().iter().zip(&first_column) {
            for key in &table.foreign_keys {
                let Some((target, targets)) = schema.resolve_foreign_key(key) else { continue };
                let Some(target) = first_column.get(target.index()) else { continue };
                let pairs = key.columns.iter().zip(targets);
                keys.extend(pairs.map(|(&from, to)| (first + from as usize, target + to as usize)));
            }
        }
        Self::from_groups(&identifiers, &keys)
    }

    fn from_groups(identifiers: &[String], keys: &[(usize, usize)]) -> Self {
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        for &(one, other) in keys.iter().filter(|(a, b)| a.max(b) < &identifiers.len()) {
            match groups.iter_mut().find(|group| group.contains(&one) || group.contains(&other)) {
                Some(group) => group.extend([one, other]),
                None => groups.push(BTreeSet::from([one, other])),
            }
        }
        let mut stands_for = HashMap::new();
        for group in &groups {
            let Some(&first) = group.first() else { continue };
            for &member in group {
                stands_for.insert(identifiers[member].clone(), identifiers[first].clone());
            }
        }
        Self { stands_for }
    }

    /// The identifier of the column that stands for a column, if a foreign key links it.
    pub fn get(&self, identifier: &str) -> Option<&str> {
        self.stands_for.get(identifier).map(String::as_str)
    }
}

/// A [`ForeignKeyMap`] bound to the columns of one [`Catalog`], so that columns are compared as numbers.
#[derive(Debug, Clone, Default)]
pub struct BoundKeys {
    stands_for: Vec<ColumnId>,
    /// By number, the part of an identifier by which GROUP BY columns are compared, as a number.
    group_names: Vec<u32>,
}

impl BoundKeys {
    /// Binds the map. Columns that the catalog does not know (a `tables.json` that disagrees with the database)
    /// get numbers behind those of the catalog.
    pub fn new(keys: &ForeignKeyMap, catalog: &Catalog) -> Self {
        let mut identifiers = catalog.identifiers().to_vec();
        let mut stands_for = Vec::with_capacity(identifiers.len());
        for identifier in catalog.identifiers() {
            let target = keys.get(identifier).unwrap_or(identifier);
            let number = catalog.by_identifier(target).map_or_else(
                || identifiers.iter().position(|identifier| identifier == target),
                |id| usize::try_from(id.0).ok(),
            );
            let number = number.unwrap_or_else(|| {
                identifiers.push(target.to_owned());
                identifiers.len() - 1
            });
            stands_for.push(ColumnId(u32::try_from(number).unwrap_or(u32::MAX)));
        }
        Self { stands_for, group_names: number_group_names(&identifiers) }
    }

    /// The column that stands for a column.
    pub fn representative(&self, column: ColumnId) -> ColumnId {
        self.stands_for.get(column.0 as usize).copied().unwrap_or(column)
    }

    /// A number that two columns share when GROUP BY takes them for the same: when their identifiers agree
    /// between the first dot and the second, so that the table does not matter.
    pub(super) fn group_name(&self, column: ColumnId) -> u32 {
        self.group_names.get(column.0 as usize).copied().unwrap_or(u32::MAX)
    }
}

fn number_group_names(identifiers: &[String]) -> Vec<u32> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let name = |identifier: &'_ String| -> (usize, usize) {
        let start = identifier.find('.').map_or(0, |dot| dot + 1);
        let end = match identifier[start..].find('.') {
            Some(dot) if start > 0 => start + dot,
            _ => identifier.len(),
        };
        (start, end)
    };
    identifiers
        .iter()
        .map(|identifier| {
            let (start, end) = name(identifier);
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(&identifier[start..end]).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_sql::schema::{Column, ForeignKey, Table};

    #[test]
    fn groups_that_a_later_key_links_stay_apart() {
        let columns = [(-1, "*"), (0, "A"), (0, "b"), (1, "c"), (1, "d")];
        let map = ForeignKeyMap::from_tables_json(&["T", "u"], &columns, &[(3, 1), (4, 2), (1, 2), (9, 1)]);
        assert_eq!(map.get("__u.c__"), Some("__t.a__"));
        assert_eq!(map.get("__u.d__"), Some("__t.b__"));
        // Column b was drawn into the first group too; its own group came later and wins.
        assert_eq!(map.get("__t.b__"), Some("__t.b__"));
        assert_eq!(map.get("__all__"), None);
    }

    #[test]
    fn a_schema_gives_the_same_map_as_its_tables_json() {
        let mut child = Table::new("Child", vec![Column::new("id", None), Column::new("Parent", None)]);
        child.foreign_keys =
            vec![ForeignKey { columns: vec![1], referenced_table: "parent".into(), ..ForeignKey::default() }];
        let mut parent = Table::new("Parent", vec![Column::new("id", None)]);
        parent.primary_key = vec![0];
        let map = ForeignKeyMap::from_schema(&Schema::new(vec![child, parent]));
        assert_eq!(map.get("__parent.id__"), Some("__child.parent__"));
        assert_eq!(map.get("__child.id__"), None);
    }

    #[test]
    fn a_column_that_the_catalog_does_not_know_still_stands_for_its_group() {
        let catalog = Catalog::new([("u", ["c", "d"])]);
        let map =
            ForeignKeyMap::from_tables_json(&["t", "u"], &[(0, "a"), (1, "c"), (1, "d")], &[(0, 1), (0, 2)]);
        let keys = BoundKeys::new(&map, &catalog);
        let [c, d] = ["c", "d"].map(|name| catalog.column("u", name).unwrap());
        assert_eq!(keys.representative(c), keys.representative(d));
        assert_ne!(keys.representative(c), c);
    }
}
