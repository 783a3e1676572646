//! How a query stands against a gold on databases that are known already.
//!
//! A refutation is a proof, so a difference for which SQLite's freedom may be to blame is none. Here the question is another:
//! whether an answer may be taken for the gold. On a database on which the gold permits one result alone, a query must
//! return that one, whatever SQLite chooses: that it did, or could have, by a choice of SQLite's does not help it, nor does
//! failing. A database on which the gold itself permits several results says nothing where the results differ, unless it is asked for
//! queries that permit none of these ([`SearchOptions::tells_open_golds`](super::SearchOptions)).

use std::collections::BTreeSet;

use sqlgauge_engine::ResultSet;
use sqlgauge_engine::compare::GoldOrder;
use sqlgauge_sql::schema::TableKind;

use super::load::Loader;
use super::needs::FilledTables;
use super::pair::{Pair, Resolved, Runner, Stand};
use super::plan::tables_of;
use super::verdict::{Inapplicable, SearchReason, Side, TOO_MANY_STEPS};
use super::witness::Witness;
use super::{Prepared, Search, with_targets};

/// What a database says against a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Objection {
    /// The place of the database among those that were asked.
    pub place: usize,
    /// How the results differ, or why the query has none, in words.
    pub reason: String,
}

impl Search {
    /// The first of the databases on which the right query does not return what the left one, the gold, does. A table that a
    /// database lacks is empty.
    ///
    /// # Errors
    /// When the gold cannot be judged. A right query that cannot (a view, random numbers) must return the same rows as the
    /// gold, whatever their order, wherever the gold permits one result alone; one that is too complex is told from it at once.
    pub fn told<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        left: &str,
        right: &str,
    ) -> Result<Option<Objection>, Inapplicable> {
        Ok(self.objections(databases, left, right, 1)?.pop())
    }

    /// The places of all of the databases on which it does not.
    ///
    /// # Errors
    /// As [`Search::told`].
    pub fn told_by_each<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        left: &str,
        right: &str,
    ) -> Result<BTreeSet<usize>, Inapplicable> {
        let objections = self.objections(databases, left, right, usize::MAX)?;
        Ok(objections.into_iter().map(|objection| objection.place).collect())
    }

    /// The first objections, at most that many.
    fn objections<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        left: &str,
        right: &str,
        most: usize,
    ) -> Result<Vec<Objection>, Inapplicable> {
        let objections = self.bounded(&[left, right], || match self.prepared(left, right) {
            Ok(prepared) => self.told_of(&prepared, databases, most),
            Err(reason) if reason.side == Some(Side::Left) || reason.reason == SearchReason::TooComplex => {
                Err(reason)
            }
            Err(reason) => self.told_plainly(databases, (left, right), &reason, most),
        });
        match objections {
            // What cannot be told because of the answer alone does not help it.
            Err(reason) if reason.reason == SearchReason::TooComplex && self.is_searchable(left) => {
                Ok(vec![Objection { place: 0, reason: reason.message }])
            }
            objections => objections,
        }
    }

    /// Whether a query can be judged beside itself.
    fn is_searchable(&self, text: &str) -> bool {
        self.bounded(&[text, text], || self.told_of(&self.prepared(text, text)?, [], 1)).is_ok()
    }

    /// What was told, as long as there were steps to tell it.
    fn finished(&self, objections: Vec<Objection>) -> Result<Vec<Objection>, Inapplicable> {
        let is_cut_off = objections.is_empty() && self.sandbox.left_in_total() == 0;
        if is_cut_off { Err(Inapplicable::too_complex(TOO_MANY_STEPS)) } else { Ok(objections) }
    }

    fn told_of<'w>(
        &self,
        prepared: &Prepared,
        databases: impl IntoIterator<Item = &'w Witness>,
        most: usize,
    ) -> Result<Vec<Objection>, Inapplicable> {
        self.create(prepared)?;
        let columns = self.columns_of(&prepared.tables);
        let mut loader = self.loader(&columns)?;
        let mut pair = match prepared.pair(self) {
            Ok(pair) => pair,
            // SQLite does not compile it on these tables.
            Err(reason) if reason.side == Some(Side::Right) && reason.reason != SearchReason::TooComplex => {
                return Ok(vec![Objection { place: 0, reason: reason.message }]);
            }
            Err(reason) => return Err(reason),
        };
        let objections = databases.into_iter().enumerate().filter_map(|(place, database)| {
            let is_loaded = self.load(&mut loader, database, &prepared.tables);
            let reason = is_loaded.then(|| against(&mut pair, self.options.tells_open_golds)).flatten()?;
            Some(Objection { place, reason })
        });
        let objections = objections.take(most).collect();
        self.finished(objections)
    }

    /// Without knowing what the right query is free to do.
    fn told_plainly<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        (left, right): (&str, &str),
        reason: &Inapplicable,
        most: usize,
    ) -> Result<Vec<Objection>, Inapplicable> {
        let left = Resolved::new(left, &self.schema, Side::Left)?;
        let tables = with_targets(&self.schema, &tables_of(&left.query))?;
        self.create_all(&tables, &left.views)?;
        // The right query may read any other; one that cannot be made is missed when the query is compiled.
        let others = (0..self.schema.tables().len()).filter_map(|index| self.schema.id_at(index));
        others.for_each(|id| {
            drop(with_targets(&self.schema, &[id].into()).map(|all| self.create_all(&all, &[])));
        });
        let views = self
            .schema
            .ids()
            .filter(|&id| self.schema.table(id).is_some_and(|table| table.kind == TableKind::View));
        views.for_each(|id| drop(self.create_all(&[], &[id])));
        let Ok(mut right) = self.sandbox.prepare(right) else {
            return Ok(vec![Objection { place: 0, reason: reason.to_string() }]);
        };
        let mut left = Runner::new(&self.sandbox, &self.schema, &left)
            .map_err(|failure| Inapplicable::from(failure).of(Side::Left))?;
        let columns = self.columns_of(&tables);
        let mut loader = self.loader(&columns)?;
        let objections = databases.into_iter().enumerate().filter_map(|(place, database)| {
            if !self.load(&mut loader, database, &tables) {
                return None;
            }
            let gold = left.settled(&self.sandbox)?;
            let reason = match self.sandbox.run(&mut right) {
                Ok(rows) => {
                    let unordered = &GoldOrder::Unordered;
                    self.options.contract.difference((&gold, unordered), (&rows, unordered))?
                }
                Err(failure) => failure.message,
            };
            Some(Objection { place, reason })
        });
        let objections = objections.take(most).collect();
        self.finished(objections)
    }

    /// What both queries return on each of the databases; `None` where one of them returns nothing.
    ///
    /// # Errors
    /// When one of them cannot be judged.
    pub fn results_on<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        left: &str,
        right: &str,
    ) -> Result<Vec<Option<[ResultSet; 2]>>, Inapplicable> {
        self.bounded(&[left, right], || {
            let prepared = self.prepared(left, right)?;
            self.create(&prepared)?;
            let columns = self.columns_of(&prepared.tables);
            let mut loader = self.loader(&columns)?;
            let mut pair = prepared.pair(self)?;
            let results = databases.into_iter().map(|database| {
                let is_loaded = self.load(&mut loader, database, &prepared.tables);
                is_loaded.then(|| pair.results()).flatten()
            });
            let results = results.collect();
            Ok(results)
        })
    }

    fn columns_of(&self, tables: &[super::TableId]) -> Vec<(super::TableId, Vec<u32>)> {
        tables.iter().filter_map(|&id| Some((id, self.schema.table(id)?.stored_columns()))).collect()
    }

    fn loader(&self, columns: &[(super::TableId, Vec<u32>)]) -> Result<Loader<'_>, Inapplicable> {
        Loader::new(&self.sandbox, &self.schema, columns)
            .map_err(|error| Inapplicable::unsupported("schema", error.to_string()))
    }

    fn load(&self, loader: &mut Loader<'_>, database: &Witness, tables: &[super::TableId]) -> bool {
        FilledTables::of(database, &self.schema, tables)
            .is_some_and(|filled| filled.rows.iter().enumerate().all(|(at, rows)| loader.load(at, rows)))
    }
}

fn against(pair: &mut Pair<'_>, tells_open_golds: bool) -> Option<String> {
    match pair.stand(tells_open_golds) {
        Stand::Equal | Stand::Open => None,
        Stand::Differs(reason) => Some(reason),
        Stand::RightFailed(failure) => Some(failure.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Search, SearchOptions};
    use sqlgauge_sql::schema::Schema;

    const DDL: &str =
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT); CREATE TABLE u (id INTEGER PRIMARY KEY);
        CREATE VIEW v AS SELECT a FROM t;";

    fn search() -> Search {
        Search::new(Schema::from_ddl(DDL).unwrap(), SearchOptions::default()).unwrap()
    }

    fn witness(rows: &str) -> Witness {
        let script = format!(
            "CREATE TABLE \"t\" (\"id\" INTEGER PRIMARY KEY, \"a\" INT, \"b\" TEXT);\nINSERT INTO \"t\" VALUES {rows};\n"
        );
        Witness::of_script(&script).unwrap()
    }

    /// Each pair on one row, and on two rows that tie in `a`.
    #[test]
    fn a_gold_with_ties_tells_what_permits_none_of_its_results_if_asked() {
        let witness = witness("(1, 6, 'x'), (2, 6, 'y')");
        let gold = "SELECT b FROM t ORDER BY a DESC LIMIT 1";
        for tells_open_golds in [false, true] {
            let options = SearchOptions { tells_open_golds, ..SearchOptions::default() };
            let search = Search::new(Schema::from_ddl(DDL).unwrap(), options).unwrap();
            let is_told = |other: &str| search.told([&witness], gold, other).unwrap().is_some();
            assert_eq!(is_told("SELECT b FROM t WHERE a = (SELECT max(a) FROM t)"), tells_open_golds);
            // One of the gold's results.
            assert!(!is_told("SELECT b FROM t ORDER BY a DESC, id DESC LIMIT 1"));
        }
    }

    #[test]
    fn what_counts_against_an_answer() {
        let search = search();
        let databases = [witness("(1, 7, 'x')"), witness("(1, 7, 'x'), (2, 7, 'y')")];
        for (gold, answer, place) in [
            ("SELECT a FROM t", "SELECT t.a FROM t", None),
            ("SELECT count(*) FROM t", "SELECT count(*) FROM t", None),
            ("SELECT count(*) FROM t", "SELECT 1", Some(1)),
            ("SELECT count(*) FROM t", "SELECT 1 FROM t LIMIT 1", Some(1)),
            // The gold leaves a choice on the second database, where nothing is said then.
            ("SELECT b FROM t ORDER BY a LIMIT 1", "SELECT b FROM t ORDER BY a, id DESC LIMIT 1", None),
            ("SELECT b FROM t ORDER BY a LIMIT 1", "SELECT 'q'", Some(0)),
            // The answer's own choice does not help it.
            ("SELECT min(b) FROM t", "SELECT b FROM t LIMIT 1", Some(1)),
            ("SELECT min(b), a FROM t", "SELECT b, a FROM t GROUP BY a", Some(1)),
            ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count(*) FROM t", None),
            ("SELECT max(b) FROM t", "SELECT b FROM t ORDER BY a LIMIT 1", Some(1)),
            ("SELECT count(*) FROM t", "SELECT count(*) FROM t GROUP BY b LIMIT 1", Some(1)),
            // It chooses a row, and returns the same whichever it is.
            (
                "SELECT max(a) FROM t",
                "SELECT a FROM t WHERE id IN (SELECT id FROM t ORDER BY a LIMIT 1)",
                None,
            ),
            (
                "SELECT max(b) FROM t",
                "SELECT b FROM t WHERE id IN (SELECT id FROM t ORDER BY a LIMIT 1)",
                Some(1),
            ),
            // Failing is no answer.
            (
                "SELECT count(*) FROM t",
                "SELECT CASE WHEN count(*) > 1 THEN json('?') ELSE 1 END FROM t",
                Some(1),
            ),
            // What the analysis does not know must return the same rows.
            ("SELECT count(*) FROM t", "SELECT 1 + 0 * random()", Some(1)),
            ("SELECT a FROM t", "SELECT a FROM t ORDER BY random()", None),
            ("SELECT a FROM t", "SELECT a FROM v", None),
            ("SELECT count(*) FROM t", "SELECT a FROM v", Some(0)),
            ("SELECT a FROM t", "SELECT a FROM t, u", Some(0)),
        ] {
            let objection = search.told(&databases, gold, answer).unwrap();
            assert_eq!(
                objection.as_ref().map(|objection| objection.place),
                place,
                "{gold} / {answer}: {objection:?}"
            );
        }
        assert!(search.told(&databases, "SELECT name FROM sqlite_schema", "SELECT a FROM t").is_err());
    }

    #[test]
    fn results_come_in_pairs() {
        let search = search();
        let databases = [witness("(1, 7, 'x')"), witness("(1, 7, 'x'), (2, 8, 'y')")];
        let results = search.results_on(&databases, "SELECT a FROM t", "SELECT id FROM t").unwrap();
        let rows = |at: usize| results[at].as_ref().map(|[left, right]| (left.len(), right.len()));
        assert_eq!((rows(0), rows(1)), (Some((1, 1)), Some((2, 2))));
    }
}
