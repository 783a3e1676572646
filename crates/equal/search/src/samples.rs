//! Databases that are made for many queries at once, rather than to tell two of them apart.
//!
//! What tells one wrong answer from the gold often tells others too, the more so the more rows there are and the more of them meet what the
//! queries ask for. These databases are drawn as those of a search are, with the constants of all of the queries.

use std::collections::BTreeSet;

use sqlgauge_base::{Random, seed_of};
use sqlgauge_sql::schema::TableId;

use super::Search;
use super::generate::{Kind, generate};
use super::hunt::fill;
use super::links::foreign_key_texts;
use super::load::{Loader, read};
use super::pair::Resolved;
use super::plan::{Allowed, plan, tables_of, with_targets};
use super::trace::trace;
use super::verdict::Side;
use super::witness::Witness;

impl Search {
    /// That many databases at most, which satisfy the schema and have rows for the gold and for the others. A query that cannot be
    /// searched is left out; if it is the gold, there are none.
    pub fn samples(&self, gold: &str, others: &[&str], count: usize) -> Vec<Witness> {
        let witnesses = self.bounded_option(&[gold], || {
            let gold_query = Resolved::new(gold, &self.schema, Side::Left).ok()?;
            let resolved = |text: &&str| {
                let query = Resolved::new(text, &self.schema, Side::Right).ok()?;
                with_targets(&self.schema, &tables_of(&query.query)).ok().map(|_| query)
            };
            let mut queries = vec![gold_query];
            queries.extend(others.iter().filter_map(resolved));
            let read: BTreeSet<TableId> = queries.iter().flat_map(|query| tables_of(&query.query)).collect();
            self.sampled(&queries, &with_targets(&self.schema, &read).ok()?, seed_of(gold), count)
        });
        witnesses.unwrap_or_default()
    }

    fn sampled(
        &self,
        queries: &[Resolved],
        tables: &[TableId],
        seed: u64,
        count: usize,
    ) -> Option<Vec<Witness>> {
        self.create_all(tables, &[]).ok()?;
        let mut traces: Vec<_> = queries.iter().map(|query| trace(&query.query)).collect();
        traces.push(self.trace_checks(tables));
        let plan = plan(&self.schema, tables, &traces, Allowed::by(&self.options));
        let mut loader = Loader::new(&self.sandbox, &self.schema, &plan.columns()).ok()?;
        let dangling: Vec<String> = tables
            .iter()
            .flat_map(|&id| foreign_key_texts(&self.schema, id, tables))
            .collect::<Option<_>>()?;
        let is_empty = |text: &String| self.sandbox.rows_own(text).is_ok_and(|rows| rows.is_empty());
        let mut witnesses = Vec::new();
        for number in 0..count {
            let mut random = Random::new([self.options.seed, seed, number as u64]);
            let rows = generate(&plan, number, Kind::Plain, &mut random);
            let Some(rows) = fill(&plan, &mut loader, rows) else { continue };
            if rows.count() > 0 && dangling.iter().all(is_empty) {
                let database = read(&self.sandbox, &self.schema, (tables, &[])).ok()?;
                witnesses.extend(Some(database).filter(|witness| self.holds(witness)));
            }
        }
        Some(witnesses)
    }

    /// Whether those columns hold in a database what they declare, where they are to.
    fn holds(&self, database: &Witness) -> bool {
        self.declared.borrow().broken_by(&self.schema, database).is_empty()
    }
}
