//! CTEs that read themselves.
//!
//! # Contract
//! SQLite runs the recursive SELECTs on one row at a time. Here a round runs them on all rows of the round before. Both give the
//! same where a SELECT takes each row by itself: without DISTINCT, groups and a limit, and where no outer join fills up for the CTE.
//!
//! UNION ends by itself. UNION ALL is run for as many rounds as the largest table has rows, and one, as a longer path comes back to
//! a row; for [`MOST_ROUNDS`] where rounds do not grow. A proof then assumes that it ends there ([`ProofAssumption::Recursion`]).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use sqlgauge_sql::derive::Fact;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{Body, Cte, CteId, From, RelationSource, Select, SetOperator};

use super::{Env, Ranked, Run, unranked};
use crate::ProofAssumption;
use crate::defect::EncoderDefect;
use crate::ir::Terms;
use crate::value::SymbolicValue;
use crate::world::{Stop, SymbolicRow};

/// Most rounds of a recursion that does not grow and ends by what the data are.
const MOST_ROUNDS: usize = 32;

/// The parts of a recursive CTE.
struct Recursion<'c> {
    start: &'c Body,
    steps: Vec<&'c Select>,
    keeps_all: bool,
}

impl<'c> Recursion<'c> {
    fn of(cte: &'c Cte) -> Result<Self, Stop> {
        let query = &cte.query;
        if !query.ctes.is_empty() || query.limit.is_some() || query.offset.is_some() {
            return Err(Stop::unsupported("recursive CTE with a limit or a CTE inside"));
        }
        let mut recursion = Self { start: &query.body, steps: Vec::new(), keeps_all: true };
        while let Body::SetOperation { operator: SetOperator::Union, all, left, right } = recursion.start
            && let Body::Select(select) = right.as_ref()
            && reads::ctes_of(select).any(|id| id == cte.id)
        {
            if select.distinct || !select.group_by.is_empty() || select.having.is_some() {
                return Err(Stop::unsupported("DISTINCT or groups in a recursive SELECT"));
            }
            recursion.keeps_all = *all;
            recursion.steps.push(select);
            recursion.start = left;
        }
        Ok(recursion)
    }
}

impl Run<'_, '_> {
    /// The rows of a recursive CTE, in an environment of the query around.
    pub(super) fn recursive(&mut self, cte: &Cte, env: &Env) -> Result<Rc<Vec<SymbolicRow>>, Stop> {
        let recursion = Recursion::of(cte)?;
        let is_bytes = |collation: &Fact<Collation>| collation.is(&Collation::Binary);
        let is_overlooked = self.world.has(EncoderDefect::RecursionFillsUpByRounds);
        if !is_overlooked && recursion.steps.iter().any(|step| self.fills_up(step, cte.id)) {
            return Err(Stop::unsupported("outer join that fills up for a recursive CTE"));
        }
        if !recursion.keeps_all && !self.collations(&cte.query.body)?.iter().all(is_bytes) {
            return Err(Stop::unsupported("collation of a compound"));
        }
        let env = env.inside();
        let mut all: Vec<Ranked> = Vec::new();
        let mut latest = self.body(recursion.start, &env)?;
        let width = latest.len();
        let mut tuples: HashSet<Rc<[SymbolicValue]>> = HashSet::new();
        let largest = self.world.tables.values().map(|rows| rows.len()).max().unwrap_or_default();
        for round in 0.. {
            let first = all.len();
            if !recursion.keeps_all {
                latest = self.united(latest);
                tuples.extend(latest.iter().map(|row| Rc::clone(&row.values)));
            }
            all.extend(latest.into_iter().map(Ranked::without_keys));
            self.world.check_size(all.len())?;
            if !recursion.keeps_all {
                self.make_distinct(&mut all, first)?;
            }
            all.retain(|row| row.present != Terms::FALSE);
            let level = unranked(all[first..].to_vec());
            // UNION: every round but the last has a row that none before it had.
            if level.is_empty() || (!recursion.keeps_all && round > tuples.len()) {
                all.truncate(first);
                break;
            }
            let most = if level.len() > width { largest } else { MOST_ROUNDS };
            if round > most && level.iter().any(|row| row.present != Terms::TRUE) {
                all.truncate(first);
                self.ends_before(&level, most);
                break;
            }
            self.ctes.insert(cte.id, Rc::new(level));
            latest = Vec::new();
            for step in &recursion.steps {
                latest.extend(unranked(self.select(step, &[], &env)?));
            }
        }
        Ok(Rc::new(unranked(all)))
    }

    /// Whether an outer join gives NULL in place of the CTE's rows: where none of them matches, which one row cannot tell.
    fn fills_up(&self, step: &Select, cte: CteId) -> bool {
        let relations = step.from.as_ref().map(From::relations).unwrap_or_default();
        let mut reads = relations.iter().filter(|relation| relation.source == RelationSource::Cte(cte));
        reads.any(|relation| self.facts.is_null_extended(relation.id))
    }

    /// Merges rows of the same values.
    fn united(&mut self, rows: Vec<SymbolicRow>) -> Vec<SymbolicRow> {
        let mut united: Vec<SymbolicRow> = Vec::new();
        let mut places: HashMap<Rc<[SymbolicValue]>, usize> = HashMap::new();
        for row in rows {
            let place = *places.entry(Rc::clone(&row.values)).or_insert(united.len());
            match united.get_mut(place) {
                Some(same) => same.present = self.world.terms.or(same.present, row.present),
                None => united.push(row),
            }
        }
        united
    }

    /// Assumes that recursion ends after so many rounds: that none of `rows`, which the next one gives, is present.
    fn ends_before(&mut self, rows: &[SymbolicRow], rounds: usize) {
        let terms = &mut self.world.terms;
        let any = terms.any(rows.iter().map(|row| row.present));
        let ends = terms.not(any);
        self.world.conditions.push(ends);
        self.world.endings.push(ends);
        self.world.assumes.insert(ProofAssumption::Recursion(rounds));
    }
}
