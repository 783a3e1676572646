//! What many queries return on the same generated databases: queries that answer a question alike have the same
//! signature, so the share of systems with the signature of a prediction says how far they agree with it, without a
//! row of real data.

use std::collections::BTreeSet;

use rusqlite::Statement;
use sqlgauge_engine::{Fingerprint, ResultSet};

use super::generate::generate;
use super::load::Loader;
use super::pair::Resolved;
use super::plan::{plan, tables_of, with_targets};
use super::random::{Random, fingerprint};
use super::trace::trace;
use super::verdict::Side;
use super::{STACK_BYTES, Search, fill};

/// The results of one query, database by database; `None` where it failed.
pub type Signature = Vec<Option<Fingerprint>>;

impl Search {
    /// The results of the queries on that many databases, which are made from the constants of all of them. `None`
    /// for a query that cannot be resolved or compiled.
    ///
    /// The same queries, in any order, meet the same databases. Where the schema cannot be made (a view, a virtual
    /// table), no query has a signature.
    pub fn signatures(&self, queries: &[&str], databases: usize) -> Vec<Option<Signature>> {
        stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || self.signatures_of(queries, databases))
    }

    fn signatures_of(&self, queries: &[&str], databases: usize) -> Vec<Option<Signature>> {
        let mut signatures: Vec<Option<Signature>> = vec![None; queries.len()];
        let distinct: BTreeSet<&str> = queries.iter().copied().collect();
        let resolved: Vec<(&str, Resolved)> = distinct
            .into_iter()
            .filter_map(|text| Some((text, Resolved::new(text, &self.schema, Side::Right).ok()?)))
            .collect();
        let read = resolved.iter().flat_map(|(_, resolved)| tables_of(&resolved.query)).collect();
        let Ok(tables) = with_targets(&self.schema, &read) else { return signatures };
        if resolved.is_empty() || self.create(&tables).is_err() {
            return signatures;
        }
        let mut traces: Vec<_> = resolved.iter().map(|(_, resolved)| trace(&resolved.query)).collect();
        traces.push(self.trace_checks(&tables));
        let plan = plan(&self.schema, &tables, &traces, false);
        let columns: Vec<_> = plan
            .tables
            .iter()
            .map(|table| (table.id, table.columns.iter().map(|column| column.index).collect()))
            .collect();
        let Ok(mut loader) = Loader::new(&self.sandbox, &self.schema, &columns) else { return signatures };
        let mut statements: Vec<(&str, Statement<'_>, Signature)> = resolved
            .iter()
            .filter_map(|(text, _)| Some((*text, self.sandbox.prepare(text).ok()?, Vec::new())))
            .collect();
        let seeds = resolved.iter().fold(0, |seed, (text, _)| seed ^ fingerprint(text));
        for number in 0..databases {
            // The first databases of a search are empty or nearly so; here they would only agree.
            let mut random = Random::new(&[self.options.seed, seeds, number as u64]);
            let rows = generate(&plan, number + plan.tables.len() + 3, &mut random);
            let is_filled = fill(&plan, &mut loader, rows);
            for (_, statement, signature) in &mut statements {
                let result = is_filled.then(|| self.sandbox.run(statement).ok()).flatten();
                signature.push(result.as_ref().map(ResultSet::fingerprint));
            }
        }
        loader.clear();
        for (text, _, signature) in statements {
            for (place, _) in queries.iter().enumerate().filter(|&(_, query)| *query == text) {
                signatures[place] = Some(signature.clone());
            }
        }
        signatures
    }
}
