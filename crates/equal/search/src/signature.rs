//! What many queries return on the same generated databases: queries that answer a question alike have the same
//! signature, so the share of systems with the signature of a prediction says how far they agree with it, without a
//! row of real data.

use std::collections::BTreeSet;

use rusqlite::Statement;
use sqlgauge_base::{Random, budget, on_deep_stack, seed_of};
use sqlgauge_engine::{Fingerprint, ResultSet, Sandbox};

use super::generate::{Kind, generate};
use sqlgauge_sql::schema::TableId;

use super::hunt::fill;
use super::load::Loader;
use super::pair::Resolved;
use super::plan::{Allowed, plan, tables_of, with_targets};
use super::trace::trace;
use super::verdict::Side;
use super::{OWN_VM_STEPS, Search, vm_steps};

/// Virtual-machine steps of one query on all databases together. Each query has its own: none has fewer because another took many.
const VM_STEPS: u64 = 2_000_000;

/// The results of one query, database by database; `None` where it failed.
pub type Signature = Vec<Option<Fingerprint>>;

/// A query with what it has returned so far.
struct Compiled<'s> {
    text: &'s str,
    statement: Statement<'s>,
    /// Those that are left.
    steps: u64,
    signature: Signature,
}

impl Compiled<'_> {
    fn run(&mut self, sandbox: &Sandbox) -> Option<ResultSet> {
        sandbox.allow_in_total(self.steps);
        let result = sandbox.run(&mut self.statement);
        self.steps = sandbox.left_in_total();
        result.ok()
    }
}

impl Search {
    /// The results of the queries on that many databases, which are made from the constants of all of them. `None`
    /// for a query that cannot be resolved or compiled.
    ///
    /// The same queries, in any order, meet the same databases. Where the schema cannot be made (a view, a virtual
    /// table), no query has a signature.
    pub fn signatures(&self, queries: &[&str], databases: usize) -> Vec<Option<Signature>> {
        on_deep_stack(|| self.signatures_of(queries, databases))
    }

    fn signatures_of(&self, queries: &[&str], databases: usize) -> Vec<Option<Signature>> {
        let mut signatures: Vec<Option<Signature>> = vec![None; queries.len()];
        let distinct: BTreeSet<&str> = queries.iter().copied().collect();
        let resolved: Vec<(&str, Resolved)> = distinct
            .into_iter()
            .filter_map(|text| {
                let resolve = || Resolved::new(text, &self.schema, Side::Right);
                Some((text, budget::analyse(text.len(), resolve).ok()?.ok()?))
            })
            .collect();
        let read = resolved.iter().flat_map(|(_, resolved)| tables_of(&resolved.query)).collect();
        let Ok(tables) = with_targets(&self.schema, &read) else { return signatures };
        let views: Vec<TableId> = resolved.iter().flat_map(|(_, resolved)| resolved.views.clone()).collect();
        self.sandbox.allow_own_in_total(OWN_VM_STEPS);
        if resolved.is_empty() || self.create_all(&tables, &views).is_err() {
            return signatures;
        }
        let mut traces: Vec<_> = resolved.iter().map(|(_, resolved)| trace(&resolved.query)).collect();
        traces.push(self.trace_checks(&tables));
        let plan =
            plan(&self.schema, &tables, &traces, Allowed { null_in_primary_key: false, ..Allowed::ALL });
        let Ok(mut loader) = Loader::new(&self.sandbox, &self.schema, &plan.columns()) else {
            return signatures;
        };
        let compiled = resolved.iter().filter_map(|(text, _)| {
            self.sandbox.allow_in_total(vm_steps(VM_STEPS, text.len()));
            let statement = self.sandbox.prepare(text).ok()?;
            Some(Compiled { text, statement, steps: self.sandbox.left_in_total(), signature: Vec::new() })
        });
        let mut compiled: Vec<Compiled<'_>> = compiled.collect();
        let seeds = resolved.iter().fold(0, |seed, (text, _)| seed ^ seed_of(text));
        for number in 0..databases {
            // The first databases of a search are empty or nearly so; here they would only agree.
            let mut random = Random::new([self.options.seed, seeds, number as u64]);
            let rows = generate(&plan, number + plan.tables.len() + 3, Kind::Plain, &mut random);
            let is_filled = fill(&plan, &mut loader, rows).is_some();
            for query in &mut compiled {
                let result = is_filled.then(|| query.run(&self.sandbox)).flatten();
                query.signature.push(result.as_ref().map(ResultSet::fingerprint));
            }
        }
        for Compiled { text, signature, .. } in compiled {
            for (place, _) in queries.iter().enumerate().filter(|&(_, query)| *query == text) {
                signatures[place] = Some(signature.clone());
            }
        }
        signatures
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::schema::Schema;

    use crate::{Search, SearchOptions};

    fn search() -> Search {
        let schema = Schema::from_ddl(
            "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, country TEXT);",
        );
        Search::new(schema.unwrap_or_default(), SearchOptions::default())
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn equal_queries_have_equal_signatures_and_others_do_not() {
        let texts = [
            "SELECT name FROM singer WHERE age > 30",
            "SELECT T1.name FROM singer AS T1 WHERE 30 < T1.age",
            "SELECT name FROM singer WHERE age >= 30",
            "SELECT count(*) FROM singer",
            "SELECT nothing FROM singer",
        ];
        let signatures = search().signatures(&texts, 24);
        assert!(signatures[0].is_some() && signatures[0] == signatures[1]);
        assert_ne!(signatures[0], signatures[2]);
        assert_ne!(signatures[0], signatures[3]);
        assert_eq!(signatures[4], None);
    }

    #[test]
    fn the_order_of_the_queries_does_not_matter() {
        let (a, b) = ("SELECT name FROM singer ORDER BY age LIMIT 1", "SELECT max(age) FROM singer");
        let (first, second) = (search().signatures(&[a, b], 8), search().signatures(&[b, a, b], 8));
        assert_eq!((&first[0], &first[1]), (&second[1], &second[0]));
        assert_eq!(second[0], second[2]);
    }
}
