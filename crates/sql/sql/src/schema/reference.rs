//! What a foreign key says of a join by `=`.
//!
//! # Contract
//! SQLite looks a reference up in the index of the key: it gives it the affinity of the key's column first, and compares
//! by the collation of that index. `child = parent` converts by the affinities of both columns and compares by the
//! collation of whichever stands on the left. [`Schema::partner`] is the key for which both say the same of every two
//! values that the columns can store: each reference without NULL then equals exactly one key.
//!
//! # Source
//! `fkLookupParent` and `sqlite3FkLocateIndex` of SQLite's fkey.c, `sqlite3CompareAffinity` of its expr.c.

use super::{Affinity, Collation, ForeignKey, Indexed, Schema, Table, ValueDomain};
use crate::tree::TableId;

impl Schema {
    /// The table and the columns that a foreign key of `child` refers to, where each of its references without NULL equals
    /// exactly one row there, whichever side of `=` it stands on.
    pub fn partner(&self, child: &Table, key: &ForeignKey) -> Option<(TableId, Vec<u32>)> {
        let (target, columns) = self.enforced_foreign_key(key)?;
        let parent = self.table(target)?;
        let agrees = |(&from, &to): (&u32, &u32)| compares_as_checked((child, from), (parent, to));
        let all = key.columns.iter().zip(&columns).all(agrees);
        (all && !parent.key_collates_apart(&columns)).then_some((target, columns))
    }
}

impl Table {
    /// Whether SQLite may look up those columns by an index with a different collation.
    pub fn key_collates_apart(&self, columns: &[u32]) -> bool {
        let is_same = |key: &[u32]| key.len() == columns.len() && key.iter().all(|at| columns.contains(at));
        let by_index = self.indexes.iter().filter(|index| index.unique).any(|index| {
            let places: Vec<u32> = index.parts.iter().filter_map(super::IndexPart::column).collect();
            let is_other = index.parts.iter().any(|part| match part.of {
                Indexed::Column(at) => {
                    self.column(at).is_some_and(|column| column.collation != part.collation)
                }
                Indexed::Expression(_) => false,
            });
            is_same(&places) && is_other
        });
        by_index || (self.key_is_finer && is_same(&self.primary_key))
    }

    /// Which values the column can store.
    pub(crate) fn values(&self, at: u32) -> ValueDomain {
        let Some(column) = self.column(at) else { return ValueDomain::ANY };
        let is_blob =
            || column.declared_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("BLOB"));
        if self.rowid_alias() == Some(at) {
            return ValueDomain::INTEGER;
        }
        if !self.strict {
            return ValueDomain::stored(column.affinity);
        }
        match column.affinity {
            Affinity::Integer | Affinity::Numeric => ValueDomain::INTEGER,
            Affinity::Real => ValueDomain::REAL,
            Affinity::Text => ValueDomain::TEXT,
            Affinity::Blob if is_blob() => ValueDomain::BLOB,
            Affinity::Blob => ValueDomain::ANY,
        }
    }
}

/// Whether SQLite's key check and `=` agree on every value of a referring column and every value of the column that it
/// refers to.
fn compares_as_checked((child, from): (&Table, u32), (parent, to): (&Table, u32)) -> bool {
    let (Some(reference), Some(key)) = (child.column(from), parent.column(to)) else { return false };
    let (references, keys) = (child.values(from), parent.values(to));
    let converts_alike = match key.affinity {
        Affinity::Integer | Affinity::Numeric => true,
        // The check rounds integers beyond 53 bits; `=` does not.
        Affinity::Real => !references.may_be(ValueDomain::INTEGER.or(ValueDomain::NUMBER_TEXT)),
        // The check writes numbers as texts; `=` reads texts as numbers, or leaves both as they are.
        Affinity::Text => !references.may_be(ValueDomain::NUMBER),
        // The check leaves all as it is; `=` reads texts as numbers.
        Affinity::Blob => !(reference.affinity.is_numeric() && keys.may_be(ValueDomain::NUMBER_TEXT)),
    };
    let meets_texts = references.may_be(ValueDomain::TEXT) && keys.may_be(ValueDomain::TEXT);
    converts_alike && (!meets_texts || reference.collation == key.collation) && is_of_sqlite(&key.collation)
}

/// A collation of the application may change between two looks.
fn is_of_sqlite(collation: &Collation) -> bool {
    !matches!(collation, Collation::Other(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_with_another_collation_takes_the_partner_away() {
        for (ddl, expected) in [
            ("CREATE TABLE p (k TEXT NOT NULL, PRIMARY KEY (k))", true),
            ("CREATE TABLE p (k TEXT NOT NULL, PRIMARY KEY (k COLLATE NOCASE))", false),
            ("CREATE TABLE p (k TEXT NOT NULL COLLATE NOCASE, PRIMARY KEY (k COLLATE BINARY))", false),
        ] {
            let schema = Schema::from_ddl(&format!("{ddl}; CREATE TABLE c (b TEXT REFERENCES p)")).unwrap();
            let child = schema.table_named("c").unwrap();
            let is_partner = schema.partner(child, &child.foreign_keys[0]).is_some();
            assert_eq!(is_partner, expected, "{ddl}");
        }
    }
}
