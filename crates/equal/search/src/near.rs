//! Foreign keys that a pair of queries need not keep, where they lead through hundreds of tables.
//!
//! A counterexample holds every table that the foreign keys of the queries' tables lead to. In a schema of thousands of
//! tables with chained keys these are thousands, though a row whose key is NULL needs none of them.

use std::collections::BTreeSet;

use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table, TableId};

use super::plan::{tables_under, with_targets};

/// Tables of a counterexample up to which all foreign keys are followed.
const FEW: usize = 64;

/// The schema without the foreign keys of tables that neither query reads, where a row keeps the key by a NULL; `None` where
/// the queries' tables lead to a few others, so that all keys are followed.
///
/// A database without those keys satisfies the schema itself once their columns are NULL, which no query reads.
pub fn near_schema(schema: &Schema, left: &str, right: &str) -> Option<Schema> {
    if schema.tables().len() <= FEW {
        return None;
    }
    let mut read = tables_under(&resolve(left, schema).ok()?, schema);
    read.extend(tables_under(&resolve(right, schema).ok()?, schema));
    let all = with_targets(schema, &read).ok()?;
    if all.len() <= FEW {
        return None;
    }
    let all: BTreeSet<TableId> = all.into_iter().collect();
    let mut tables = schema.tables().to_vec();
    for id in all.difference(&read) {
        let Some(table) = tables.get_mut(id.index()) else { continue };
        let in_keys: BTreeSet<u32> =
            table.primary_key.iter().chain(table.unique.iter().flatten()).copied().collect();
        let mut keys = std::mem::take(&mut table.foreign_keys);
        keys.retain(|key| !is_kept_by_null(table, &in_keys, key));
        table.foreign_keys = keys;
    }
    Some(Schema::new(tables))
}

/// Whether a column of the foreign key may be NULL, whatever else the table demands; `in_keys` are the columns of its own keys.
fn is_kept_by_null(table: &Table, in_keys: &BTreeSet<u32>, key: &ForeignKey) -> bool {
    table.checks.is_empty()
        && key.columns.iter().any(|column| !table.is_not_null(*column) && !in_keys.contains(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Search, SearchOptions, SearchVerdict};

    fn chain(tables: usize, constraint: &str) -> Schema {
        let table = |at: usize| match at {
            0 => "CREATE TABLE t0 (id INTEGER PRIMARY KEY, a INTEGER);".to_owned(),
            _ => format!(
                "CREATE TABLE t{at} (id INTEGER PRIMARY KEY, a INTEGER, prev INTEGER {constraint} REFERENCES t{} (id));",
                at - 1
            ),
        };
        Schema::from_ddl(&(0..tables).map(table).collect::<String>()).unwrap()
    }

    const PAIR: [&str; 2] = ["SELECT id FROM t150 WHERE a > 1", "SELECT id FROM t150 WHERE a > 2"];

    #[test]
    fn a_chain_of_keys_that_may_be_null_ends_after_the_first_table_that_no_query_reads() {
        let [left, right] = PAIR;
        let schema = near_schema(&chain(200, ""), left, right).unwrap();
        let search = Search::new(schema, SearchOptions::default()).unwrap();
        let SearchVerdict::Refuted(refutation) = search.refute(left, right) else { panic!("not refuted") };
        let tables: Vec<&str> =
            refutation.database().tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(tables, ["t149", "t150"]);
    }

    #[test]
    fn keys_that_no_null_keeps_and_short_chains_stay() {
        let [left, right] = PAIR;
        let schema = chain(200, "NOT NULL");
        assert_eq!(near_schema(&schema, left, right), Some(schema));
        let short = ["SELECT id FROM t50 WHERE a > 1", "SELECT id FROM t50 WHERE a > 2"];
        assert_eq!(near_schema(&chain(200, ""), short[0], short[1]), None);
        assert_eq!(near_schema(&chain(60, ""), short[0], short[1]), None);
    }

    #[test]
    fn a_check_of_many_numbers_does_not_hold_up_a_search() {
        let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let ddl = format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER CHECK (a IN ({})))",
            numbers.join(", ")
        );
        let search = Search::new(Schema::from_ddl(&ddl).unwrap(), SearchOptions::default()).unwrap();
        let verdict = search.refute("SELECT id FROM t WHERE a > 1", "SELECT id FROM t WHERE a >= 2");
        let SearchVerdict::Inapplicable(reason) = verdict else { panic!("no reason: {verdict:?}") };
        assert_eq!(reason.code(), "too_complex");
        // The next pair has a budget of its own.
        let verdict = search.refute("SELECT id FROM t WHERE a > 1", "SELECT id FROM t WHERE a > 2");
        assert!(matches!(verdict, SearchVerdict::Refuted(_)), "{verdict:?}");
    }

    #[test]
    fn a_counterexample_of_too_many_tables_is_too_complex() {
        let schema = chain(900, "NOT NULL");
        let search = Search::new(schema, SearchOptions::default()).unwrap();
        let verdict = search.refute("SELECT id FROM t899 WHERE a > 1", "SELECT id FROM t899 WHERE a > 2");
        let SearchVerdict::Inapplicable(reason) = verdict else { panic!("no reason") };
        assert_eq!(reason.code(), "too_complex");
    }
}
