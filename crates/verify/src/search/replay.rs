//! Replays a database on a fresh SQLite: the only way to a [`Refutation`].

use std::collections::BTreeSet;

use sqlgauge_engine::{Budget, Sandbox, Value};
use sqlgauge_sql::schema::{Schema, TableId};

use super::contract::Contract;
use super::ddl::create_table;
use super::load::{Loader, all_columns, read};
use super::pair::{Judged, Pair, Resolved};
use super::verdict::Refutation;
use super::witness::Witness;

/// Everything that a replay needs besides the database.
pub(super) struct Replay<'a> {
    pub(super) schema: &'a Schema,
    pub(super) tables: &'a [TableId],
    pub(super) pair: (&'a Resolved, &'a Resolved),
    pub(super) contract: Contract,
    pub(super) budget: Budget,
}

impl Replay<'_> {
    /// Builds the database anew, checks that it satisfies the schema, runs both queries, and once more with the
    /// order of unordered rows reversed. `None` if any of it fails or the results do not differ both times.
    pub(super) fn run(&self, witness: &Witness) -> Option<Refutation> {
        let sandbox = Sandbox::new(self.budget).ok()?;
        for &id in self.tables {
            sandbox.create(&create_table(self.schema, self.schema.table(id)?)).ok()?;
        }
        sandbox.begin_transaction().ok()?;
        self.fill(&sandbox, witness)?;
        let database = read(&sandbox, self.schema, self.tables).ok()?;
        if !satisfies(&sandbox, self.schema, self.tables, &database) {
            return None;
        }
        let mut found = None;
        for reversed in [true, false] {
            sandbox.reverse_unordered(reversed).ok()?;
            let mut pair = Pair::new(&sandbox, self.schema, self.pair, self.contract).ok()?;
            let Judged::Different(difference) = pair.judge() else { return None };
            found = Some(difference);
        }
        let difference = *found?;
        let uses_clock = self.pair.0.uses_clock() || self.pair.1.uses_clock();
        Some(Refutation::new(database, (difference.left, difference.right), difference.reason, uses_clock))
    }

    fn fill(&self, sandbox: &Sandbox, witness: &Witness) -> Option<()> {
        let tables: Vec<(TableId, Vec<u32>)> = self
            .tables
            .iter()
            .map(|&id| Some((id, all_columns(self.schema.table(id)?))))
            .collect::<Option<_>>()?;
        let mut loader = Loader::new(sandbox, self.schema, &tables).ok()?;
        for (at, (id, columns)) in tables.iter().enumerate() {
            let rows = &witness.table(&self.schema.table(*id)?.name)?.rows;
            if rows.iter().any(|row| row.len() != columns.len()) {
                return None;
            }
            loader.load(at, rows).ok()?;
        }
        Some(())
    }
}

/// Whether SQLite finds the database sound and every foreign key holds.
fn satisfies(sandbox: &Sandbox, schema: &Schema, tables: &[TableId], database: &Witness) -> bool {
    let says_ok =
        |sql: &str, expected: &[Value]| sandbox.rows_own(sql).is_ok_and(|rows| rows.values() == expected);
    says_ok("PRAGMA integrity_check", &[Value::text("ok")])
        && says_ok("PRAGMA foreign_key_check", &[])
        && tables.iter().all(|&id| foreign_keys_hold(sandbox, schema, id, database))
}

/// Foreign keys to columns that are no key of their table, which SQLite itself cannot check.
fn foreign_keys_hold(sandbox: &Sandbox, schema: &Schema, id: TableId, database: &Witness) -> bool {
    let Some(table) = schema.table(id) else { return false };
    let seen: BTreeSet<&str> = database.tables.iter().map(|table| table.name.as_str()).collect();
    table.foreign_keys.iter().all(|key| {
        let Some((target, columns)) = schema.resolve_foreign_key(key) else { return true };
        let Some(target) = schema.table(target).filter(|target| seen.contains(target.name.as_str())) else {
            return false;
        };
        let name = |of: &sqlgauge_sql::schema::Table, at: u32| {
            of.column(at).map(|column| super::ddl::quoted(&column.name))
        };
        let pairs = key.columns.iter().zip(&columns).filter_map(|(&own, &other)| {
            Some((format!("c.{}", name(table, own)?), format!("p.{}", name(target, other)?)))
        });
        let pairs: Vec<(String, String)> = pairs.collect();
        let not_null: Vec<String> = pairs.iter().map(|(own, _)| format!("{own} IS NOT NULL")).collect();
        let equal: Vec<String> = pairs.iter().map(|(own, other)| format!("{other} = {own}")).collect();
        let sql = format!(
            "SELECT 1 FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {})",
            super::ddl::quoted(&table.name),
            not_null.join(" AND "),
            super::ddl::quoted(&target.name),
            equal.join(" AND ")
        );
        sandbox.rows_own(&sql).is_ok_and(|rows| rows.is_empty())
    })
}
