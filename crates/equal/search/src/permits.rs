//! Whether a query that may return several results on a database may return a given one, or permits there what a different
//! query permits: what tells a tie from a mistake.

use sqlgauge_base::{budget, on_deep_stack};
use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_sql::schema::Schema;

use super::Search;
use super::freedom::{Possible, are_cut_alike};
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
            let cut = resolved.freedom().cut.as_ref().filter(|_| is_settled(engine, database, &resolved))?;
            let (possible, answer) =
                (cut.possible(engine.run(database, &cut.text).rows()?), Possible::only(rows));
            let is_disjoint = match self.options.contract.semantics {
                Semantics::Set => possible.is_disjoint_as_sets(&answer),
                Semantics::Ex | Semantics::Bag | Semantics::List => possible.is_disjoint(&answer),
            };
            Some(possible.is_open() && !is_disjoint)
        })
    }
}

/// How many rows tie at the LIMIT of two queries that permit the same results on that database: they sort in the same directions,
/// and the rows before the cut and those tied at it are the same, with their sort keys. `None` where that is not so or cannot be
/// told.
pub fn rows_tied_for_both(
    engine: &dyn Engine,
    database: &Database,
    [gold, prediction]: [&str; 2],
) -> Option<usize> {
    let has_limit = |text: &str| text.to_ascii_lowercase().contains("limit");
    if !has_limit(gold) || !has_limit(prediction) {
        return None;
    }
    let schema: &Schema = database.schema();
    let tied = || {
        let gold = Resolved::new(gold, schema, Side::Left).ok()?;
        let prediction = Resolved::new(prediction, schema, Side::Right).ok()?;
        if !are_cut_alike(&gold.query, &prediction.query) {
            return None;
        }
        let permitted = |resolved: &Resolved| {
            let cut = resolved.freedom().cut.as_ref()?;
            Some(cut.possible_with_keys(engine.run(database, &cut.text).rows()?))
        };
        // Most golds have no tie, which one query tells.
        let possible = permitted(&gold).filter(Possible::is_open)?;
        let is_so = possible.is_same(&permitted(&prediction)?)
            && [gold, prediction].iter().all(|resolved| is_settled(engine, database, resolved));
        is_so.then(|| possible.open().len())
    };
    budget::analyse_within(budget::SEARCH, gold.len() + prediction.len(), || on_deep_stack(tied)).ok()?
}

/// Whether nothing but the LIMIT of a query leaves a choice on that database.
fn is_settled(engine: &dyn Engine, database: &Database, resolved: &Resolved) -> bool {
    let freedom = resolved.freedom();
    let checks = freedom.checks.iter().map(|(check, _)| check);
    let mut checks = checks.chain(freedom.loose.iter().map(|loose| &loose.check));
    freedom.sites.is_empty()
        && freedom.ties.is_empty()
        && checks.all(|check| engine.run(database, check).rows().is_some_and(|rows| rows.is_empty()))
}
