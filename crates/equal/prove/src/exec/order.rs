//! ORDER BY, LIMIT, and the choices that they leave open.
//!
//! # Contract
//! Among rows with equal keys SQLite takes any. Which, is decided by a *priority*: an unknown function of the place in
//! the statement and the row's values. The n-th choice of one query and the n-th of the other have the same function,
//! so equal rows are chosen alike. [`crate::world::SymbolicWorld::settled`] says where no choice shows.

use sqlgauge_sql::tree::{Expr, OrderTerm, Query};

use super::{Env, Executed, Ranked, Run};
use crate::ir::{Constant, FunctionPart, Sort, Term, Terms};
use crate::oracle::{Call, Function};
use crate::value::SymbolicValue;
use crate::world::Stop;

/// How one key sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortDirection {
    /// DESC.
    pub descending: bool,
    /// NULL comes first.
    pub nulls_first: bool,
}

impl SortDirection {
    /// That of a term of ORDER BY; SQLite takes NULL for the least value.
    pub(crate) fn of(term: &OrderTerm) -> Self {
        let nulls_first = term.nulls_first.unwrap_or(!term.descending);
        Self { descending: term.descending, nulls_first }
    }
}

/// More rows than any table of a proof has.
const ALL_ROWS: i64 = 1 << 40;

/// Which of the sorted rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LimitClause {
    /// How many; `None` for all.
    pub limit: Option<Term>,
    /// How many are left out before.
    pub offset: Term,
    is_plain: bool,
}

impl LimitClause {
    /// Whether nothing is left out before, and something is taken.
    pub(crate) fn keeps_the_first(&self) -> bool {
        self.is_plain
    }
}

/// The rows that may be taken at one place.
pub(super) struct Choice {
    /// Its name; both queries have the same for the same place.
    pub(super) name: String,
    /// What tells rows apart that may be taken for one another.
    pub(super) contents: Vec<Vec<SymbolicValue>>,
    /// What such rows share; rows that differ in it never stand for one another.
    pub(super) shared: Vec<Vec<SymbolicValue>>,
}

impl Terms {
    /// Whether the first row comes before the second by their keys.
    pub(crate) fn sorts_before(
        &mut self,
        left: &[SymbolicValue],
        right: &[SymbolicValue],
        directions: &[SortDirection],
    ) -> Term {
        let mut result = Self::FALSE;
        for ((&l, &r), direction) in left.iter().zip(right).zip(directions).rev() {
            let (a, b) = if direction.descending { (r, l) } else { (l, r) };
            let less = self.less_values(a, b);
            let left_null = self.not(r.is_null);
            let left_null = self.and(l.is_null, left_null);
            let right_null = self.not(l.is_null);
            let right_null = self.and(r.is_null, right_null);
            let by_null = if direction.nulls_first { left_null } else { right_null };
            let is_before = self.or(less, by_null);
            let same = self.same_values(l, r);
            let later = self.and(same, result);
            result = self.or(is_before, later);
        }
        result
    }
}

impl Run<'_, '_> {
    /// Which rows the query takes.
    pub(super) fn cut(&mut self, query: &Query, env: &Env) -> Result<Option<LimitClause>, Stop> {
        let Some(limit) = &query.limit else { return Ok(None) };
        let limit = self.row_count(limit, env)?;
        let zero = self.world.terms.zero(Sort::Integer);
        let offset = match &query.offset {
            Some(offset) => self.row_count(offset, env)?,
            None => zero,
        };
        let constant = |terms: &Terms, term| match terms.as_constant(term) {
            Some(Constant::Integer(value)) => i64::try_from(value).ok(),
            _ => None,
        };
        let (known_limit, known_offset) =
            (constant(&self.world.terms, limit), constant(&self.world.terms, offset));
        let (Some(known_limit), Some(known_offset)) = (known_limit, known_offset) else {
            let terms = &mut self.world.terms;
            let (takes_all, skips_none) = (terms.less(limit, zero), terms.less(offset, zero));
            let all = terms.integer(ALL_ROWS);
            let limit = Some(terms.choose(takes_all, all, limit));
            let offset = terms.choose(skips_none, zero, offset);
            return Ok(Some(LimitClause { limit, offset, is_plain: false }));
        };
        let is_plain = known_limit != 0 && known_offset <= 0;
        let offset = if known_offset < 0 { zero } else { offset };
        Ok(Some(LimitClause { limit: Some(limit).filter(|_| known_limit >= 0), offset, is_plain }))
    }

    fn row_count(&mut self, expr: &Expr, env: &Env) -> Result<Term, Stop> {
        let value = self.value(expr, env)?;
        if value.is_integer == Terms::TRUE {
            Ok(value.integer)
        } else {
            Err(Stop::unsupported("LIMIT that is no integer"))
        }
    }

    /// The rows that a query inside a statement takes.
    pub(super) fn limited(&mut self, query: &Query, executed: Executed) -> Result<Vec<Ranked>, Stop> {
        let Executed { mut rows, directions, cut } = executed;
        rows.retain(|row| row.present != Terms::FALSE);
        let Some(cut) = cut else { return Ok(rows) };
        let site = format!("choice {}", self.site(query));
        let first = self.precedence(site, &rows, &directions)?;
        let mut result = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let terms = &mut self.world.terms;
            let position = terms.count(first.iter().map(|row| row[at]));
            let after_offset = terms.at_most(cut.offset, position);
            let mut holds = vec![row.present, after_offset];
            if let Some(limit) = cut.limit {
                let end = terms.add(Sort::Integer, [cut.offset, limit]);
                holds.push(terms.less(position, end));
            }
            result.push(Ranked { present: terms.all(holds), ..row.clone() });
        }
        Ok(result)
    }

    /// Which row is the first, if there is one.
    pub(super) fn first_of(&mut self, query: &Query, executed: &Executed) -> Result<Vec<Term>, Stop> {
        let rows = &executed.rows;
        let site = format!("choice {}", self.site(query));
        let first = self.precedence(site, rows, &executed.directions)?;
        let mut chosen = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let terms = &mut self.world.terms;
            let is_preceded = terms.any(first.iter().map(|row| row[at]));
            let is_first = terms.not(is_preceded);
            chosen.push(terms.and(row.present, is_first));
        }
        Ok(chosen)
    }

    /// For every two rows whether the one is there and comes before the other. `name` is the place in the statement at
    /// which ties are broken.
    pub(super) fn precedence(
        &mut self,
        name: String,
        rows: &[Ranked],
        directions: &[SortDirection],
    ) -> Result<Vec<Vec<Term>>, Stop> {
        self.world.check_size(rows.len())?;
        let mut precedes = vec![vec![Terms::FALSE; rows.len()]; rows.len()];
        if rows.len() < 2 {
            return Ok(precedes);
        }
        // What all tied rows share tells none of them apart.
        let is_key = |column: usize| {
            let mut keys = 0..directions.len();
            keys.any(|key| rows.iter().all(|row| row.values.get(column) == row.keys.get(key)))
        };
        let width = rows.first().map_or(0, |row| row.values.len());
        let telling: Vec<usize> = (0..width).filter(|&column| !is_key(column)).collect();
        let contents = rows.iter().map(|row| telling.iter().map(|&at| row.values[at]).collect()).collect();
        let presents: Vec<Term> = rows.iter().map(|row| row.present).collect();
        let shared = rows.iter().map(|row| row.keys.clone()).collect();
        let priorities = self.priorities(&Choice { name, contents, shared }, &presents)?;
        let is_reversed = self.world.reverses_choices;
        for (one, other) in pairs(rows.len()) {
            self.check_pair(one, other)?;
            let before = self.world.terms.sorts_before(&rows[one].keys, &rows[other].keys, directions);
            let after = self.world.terms.sorts_before(&rows[other].keys, &rows[one].keys, directions);
            let same = self.world.terms.same_rows(&rows[one].values, &rows[other].values);
            let terms = &mut self.world.terms;
            let differs = terms.or(before, after);
            let (low, high) = if is_reversed { (other, one) } else { (one, other) };
            let by_priority = terms.less(priorities[low], priorities[high]);
            let equal = terms.equal(priorities[one], priorities[other]);
            // Rows that are alike may stand in any order.
            let comes_first = terms.or(by_priority, equal);
            let is_before = terms.choose(differs, before, comes_first);
            let is_after = terms.not(is_before);
            precedes[one][other] = terms.and(presents[one], is_before);
            precedes[other][one] = terms.and(presents[other], is_after);
            let both = terms.and(presents[one], presents[other]);
            let settled = terms.or(differs, same);
            let settled = terms.implies(both, settled);
            let ties = terms.not(differs);
            let alike = terms.all([both, ties, same]);
            self.world.settle(settled);
            self.settle_classes(alike, &rows[one].values, &rows[other].values);
        }
        Ok(precedes)
    }

    /// A priority for each row: a function of its values, and of which one it is among rows with the same.
    fn priorities(&mut self, choice: &Choice, presents: &[Term]) -> Result<Vec<Term>, Stop> {
        let mut priorities = Vec::new();
        let mut occurrences = Vec::new();
        for (at, content) in choice.contents.iter().enumerate() {
            self.world.check_size(0)?;
            let mut same = Vec::new();
            for (earlier, other) in choice.contents[..at].iter().enumerate() {
                let terms = &mut self.world.terms;
                let is_tie = terms.same_rows(&choice.shared[at], &choice.shared[earlier]);
                let equal = terms.same_rows(content, other);
                same.push(terms.all([presents[earlier], is_tie, equal]));
            }
            occurrences.push(self.world.terms.count(same));
        }
        for (content, &occurrence) in choice.contents.iter().zip(&occurrences) {
            let mut args = vec![occurrence];
            content.iter().for_each(|&value| args.extend(self.flattened(value)));
            let params = args.iter().map(|&arg| self.world.terms.sort(arg)).collect();
            let call = Call::Choice(choice.name.as_str().into());
            let function = self.world.oracle.function(Function { call, params });
            priorities.push(self.world.terms.apply(function, FunctionPart::Integer, &args));
        }
        for (one, other) in pairs(priorities.len()) {
            self.check_pair(one, other)?;
            let same = self.world.terms.same_rows(&choice.contents[one], &choice.contents[other]);
            let terms = &mut self.world.terms;
            let both = terms.equal(occurrences[one], occurrences[other]);
            let same = terms.and(same, both);
            let equal = terms.equal(priorities[one], priorities[other]);
            let apart = terms.not(equal);
            let present = terms.and(presents[one], presents[other]);
            let distinct = terms.or(same, apart);
            let condition = terms.implies(present, distinct);
            if condition != Terms::TRUE {
                self.world.conditions.push(condition);
            }
        }
        Ok(priorities)
    }

    /// Stops in the midst of pairs where there are too many: once for each row.
    fn check_pair(&self, one: usize, other: usize) -> Result<(), Stop> {
        if other == one + 1 { self.world.check_size(0) } else { Ok(()) }
    }

    /// A value as terms that are equal for equal values.
    fn flattened(&mut self, value: SymbolicValue) -> [Term; 3] {
        let terms = &mut self.world.terms;
        let [null, number, text] = [0, 1, 2].map(|class| terms.integer(class));
        let is_number = terms.is_number(value);
        let class = terms.choose(is_number, number, null);
        let class = terms.choose(value.is_text, text, class);
        let real = terms.as_real(value);
        let (zero, empty) = (terms.zero(Sort::Real), terms.zero(Sort::Text));
        let real = terms.choose(is_number, real, zero);
        let text = terms.choose(value.is_text, value.text, empty);
        [class, real, text]
    }

    /// Which of the candidates is taken where any may be: one at most, and one if there is one.
    pub(super) fn any_of(
        &mut self,
        name: String,
        candidates: &[Term],
        contents: Vec<Vec<SymbolicValue>>,
    ) -> Result<Vec<Term>, Stop> {
        let shared = vec![Vec::new(); contents.len()];
        self.any_of_each(&Choice { name, contents, shared }, candidates)
    }

    /// The same for each class of candidates: those that share something.
    pub(super) fn any_of_each(&mut self, choice: &Choice, candidates: &[Term]) -> Result<Vec<Term>, Stop> {
        let priorities = self.priorities(choice, candidates)?;
        let is_reversed = self.world.reverses_choices;
        let mut beaten = vec![Vec::new(); candidates.len()];
        for (one, other) in pairs(candidates.len()) {
            self.check_pair(one, other)?;
            let same = self.world.terms.same_rows(&choice.contents[one], &choice.contents[other]);
            let in_class = self.world.terms.same_rows(&choice.shared[one], &choice.shared[other]);
            let terms = &mut self.world.terms;
            let (low, high) = if is_reversed { (one, other) } else { (other, one) };
            let worse = terms.less(priorities[low], priorities[high]);
            let better = terms.not(worse);
            let by_one = terms.all([candidates[one], in_class, better]);
            let by_other = terms.all([candidates[other], in_class, worse]);
            beaten[other].push(by_one);
            beaten[one].push(by_other);
            let both = terms.all([candidates[one], candidates[other], in_class]);
            let settled = terms.implies(both, same);
            let alike = terms.and(both, same);
            self.world.settle(settled);
            self.settle_classes(alike, &choice.contents[one], &choice.contents[other]);
            self.settle_classes(both, &choice.shared[one], &choice.shared[other]);
        }
        let terms = &mut self.world.terms;
        let chosen = candidates.iter().zip(beaten).map(|(&candidate, beaten)| {
            let is_beaten = terms.any(beaten);
            let stands = terms.not(is_beaten);
            terms.and(candidate, stands)
        });
        Ok(chosen.collect())
    }
}

/// Every two places, the lower first.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}
