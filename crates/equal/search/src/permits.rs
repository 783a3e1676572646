//! Whether a query that may return several results on a database may return a given one: what tells a tie from a mistake.

use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Database, Engine, ResultSet};

use super::Search;
use super::freedom::Possible;
use super::pair::Resolved;
use super::verdict::Side;

impl Search {
    /// Whether the LIMIT of the gold cuts through a tie on that database, so that it permits those rows there as well as
    /// its own. `None` where that cannot be told: its result is open for another reason too, or a query of ours fails.
    pub fn permits(
        &self,
        engine: &dyn Engine,
        database: &Database,
        gold: &str,
        rows: &ResultSet,
    ) -> Option<bool> {
        self.bounded_option(&[gold], || {
            let resolved = Resolved::new(gold, &self.schema, Side::Left).ok()?;
            let freedom = resolved.freedom();
            let run = |text: &str| engine.run(database, text).rows().cloned();
            let is_settled = |check: &str| run(check).is_some_and(|rows| rows.is_empty());
            let has_other_freedom = !freedom.sites.is_empty()
                || !freedom.ties.is_empty()
                || !freedom.loose.is_empty()
                || !freedom.checks.iter().all(|(check, _)| is_settled(check));
            let cut = freedom.cut.as_ref().filter(|_| !has_other_freedom)?;
            let (possible, answer) = (cut.possible(run(&cut.text)?.as_ref()), Possible::only(rows));
            let is_disjoint = match self.options.contract.semantics {
                Semantics::Set => possible.is_disjoint_as_sets(&answer),
                Semantics::Ex | Semantics::Bag | Semantics::List => possible.is_disjoint(&answer),
            };
            Some(possible.is_open() && !is_disjoint)
        })
    }
}
