//! Two queries, compiled once, judged on one database after another.

use std::collections::BTreeSet;

use rusqlite::Statement;
use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_engine::{Failure, ResultSet, Sandbox};
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, expanded_size, ordered, print, resolve, views_of, without_views};

use super::contract::{ColumnOrder, Contract};
use super::freedom::{Choice, Freedom, OpenPlace, OutermostLimit, Place, Possible, Site, TiedWindow};
use super::verdict::{Inapplicable, Side, TOO_MANY_STEPS};

/// Longest text that is searched, in bytes: some of the work of SQLite's planner grows with the square of the length.
const MAX_TEXT: usize = 128 << 10;

/// Most expressions that SQLite's compiler may make of a query: a million take it a tenth of a second and 100 MB.
const MAX_EXPANSION: f64 = 1e6;

/// A query of the pair before it is compiled.
#[derive(Debug)]
pub(super) struct Resolved {
    text: String,
    /// What the query is printed as; the text where SQL has no words for the query and its result is never open.
    printed: String,
    /// What the text is, with views written out.
    pub(super) query: Query,
    /// The views that the text reads, each after those that it reads.
    pub(super) views: Vec<TableId>,
    freedom: Freedom,
}

impl Resolved {
    /// Resolves the text and finds out where its result is open.
    pub(super) fn new(text: &str, schema: &Schema, side: Side) -> Result<Self, Inapplicable> {
        if text.len() > MAX_TEXT {
            return Err(Inapplicable::too_complex("it is too long to be compiled again and again").of(side));
        }
        let query = resolve(text, schema).map_err(|error| match error.kind() {
            sqlgauge_sql::ErrorKind::Unsupported(construct) => {
                Inapplicable::unsupported("resolve", construct.clone()).of(side)
            }
            sqlgauge_sql::ErrorKind::TooComplex(_) => Inapplicable::too_complex(TOO_MANY_STEPS).of(side),
            _ => Inapplicable::parse(error.to_string()).of(side),
        })?;
        let views = views_of(&query, schema);
        let query = if views.is_empty() { query } else { without_views(&query, schema) };
        if expanded_size(&query) > MAX_EXPANSION {
            let message = "its subqueries grow too large where they are named";
            return Err(Inapplicable::too_complex(message).of(side));
        }
        let freedom = Freedom::of(&query, schema).map_err(|error| error.of(side))?;
        let printed = match print(&query, schema, PrintDialect::Sqlite) {
            Ok(printed) => printed,
            // Nothing is asked of the query besides what the text returns.
            Err(_) if freedom.is_none() && !freedom.uses_clock => text.to_owned(),
            Err(error) => return Err(Inapplicable::unsupported("print", error.to_string()).of(side)),
        };
        Ok(Self { text: text.to_owned(), printed, query, views, freedom })
    }

    /// A query that was made from one of the pair.
    fn of(query: Query, schema: &Schema) -> Option<Self> {
        let freedom = Freedom::of(&query, schema).ok()?;
        let printed = print(&query, schema, PrintDialect::Sqlite).ok()?;
        Some(Self { text: printed.clone(), printed, query, views: Vec::new(), freedom })
    }

    /// Where its result is open.
    pub(super) fn freedom(&self) -> &Freedom {
        &self.freedom
    }

    /// Whether the query asks for the present time.
    pub(super) fn uses_clock(&self) -> bool {
        self.freedom.uses_clock
    }
}

/// A query of ours about a query of the pair, compiled when it is first needed.
struct Auxiliary<'s> {
    text: String,
    statement: Option<Result<Statement<'s>, Failure>>,
}

impl<'s> Auxiliary<'s> {
    fn new(text: String) -> Self {
        Self { text, statement: None }
    }

    fn run(&mut self, sandbox: &'s Sandbox) -> Result<ResultSet, Failure> {
        match self.statement.get_or_insert_with(|| sandbox.prepare(&self.text)) {
            Ok(statement) => sandbox.run(statement),
            Err(failure) => Err(failure.clone()),
        }
    }
}

/// Most results of one query, for as many choices of a row, that are looked at on one database.
const MAX_OUTCOMES: usize = 24;

/// Most orders of tied rows that are tried for one query, on all databases together: each is a query to print and to compile.
const MAX_TRIED_ORDERS: usize = 300;

/// One compiled query of the pair.
pub(super) struct Runner<'s> {
    schema: &'s Schema,
    query: Query,
    statement: Statement<'s>,
    /// The resolved query as text; what is known of freedoms is known of it.
    printed: Auxiliary<'s>,
    checks: Vec<(Auxiliary<'s>, Place)>,
    sites: Vec<(Site, Auxiliary<'s>)>,
    ties: Vec<(TiedWindow, Auxiliary<'s>)>,
    /// How many orders of tied rows may still be tried.
    orders_left: usize,
    loose: Vec<(usize, Auxiliary<'s>, Place)>,
    /// The query without its LIMIT.
    unlimited: Option<(OutermostLimit, Auxiliary<'s>)>,
}

/// All results that a query may have on one database.
#[derive(Default)]
struct Outcomes {
    possible: Vec<Possible>,
    /// Columns of which nothing is known.
    loose: BTreeSet<usize>,
}

impl Outcomes {
    /// Whether there is but one.
    fn is_settled(&self) -> bool {
        self.loose.is_empty() && matches!(self.possible.as_slice(), [one] if !one.is_open())
    }

    /// Whether all are the same, as where each of the rows that SQLite may choose leads to one result.
    fn are_alike(&self) -> bool {
        let (Some(first), true) = (self.possible.first(), self.loose.is_empty()) else { return false };
        self.possible.iter().all(|one| !one.is_open() && !one.is_disjoint(first))
    }
}

impl<'s> Runner<'s> {
    pub(super) fn new(
        sandbox: &'s Sandbox,
        schema: &'s Schema,
        resolved: &Resolved,
    ) -> Result<Self, Failure> {
        let freedom = &resolved.freedom;
        let sites = freedom.sites.iter().map(|site| (site.clone(), Auxiliary::new(site.cut.text.clone())));
        let ties = freedom.ties.iter().map(|tied| (tied.clone(), Auxiliary::new(tied.text.clone())));
        let loose = freedom
            .loose
            .iter()
            .map(|loose| (loose.column, Auxiliary::new(loose.check.clone()), loose.place.clone()));
        let checks = freedom.checks.iter().map(|(text, place)| (Auxiliary::new(text.clone()), place.clone()));
        let unlimited = freedom.cut.clone().map(|cut| {
            let all = Auxiliary::new(cut.text.clone());
            (cut, all)
        });
        Ok(Self {
            schema,
            query: resolved.query.clone(),
            statement: sandbox.prepare(&resolved.text)?,
            printed: Auxiliary::new(resolved.printed.clone()),
            checks: checks.collect(),
            sites: sites.collect(),
            ties: ties.collect(),
            orders_left: MAX_TRIED_ORDERS,
            loose: loose.collect(),
            unlimited,
        })
    }

    /// All results that the query may have, given the one that it had; `None` if they cannot be told. A text that
    /// means something else than its resolved query, should there be one, is never blamed.
    fn outcomes(&mut self, sandbox: &'s Sandbox, result: &ResultSet) -> Option<Outcomes> {
        if self.printed.run(sandbox).ok()?.values() != result.values() {
            return None;
        }
        let mut outcomes = Outcomes::default();
        let narrowings = self.sites.len() + self.ties.len();
        self.add_outcomes(sandbox, result, narrowings, &mut outcomes)?;
        Some(outcomes)
    }

    /// Adds what is possible where so many places may still be narrowed: each once, as a place that stays open when it is
    /// narrowed to one of its rows would be narrowed for ever.
    fn add_outcomes(
        &mut self,
        sandbox: &'s Sandbox,
        result: &ResultSet,
        narrowings: usize,
        outcomes: &mut Outcomes,
    ) -> Option<()> {
        for (site, all) in &mut self.sites {
            let possible = site.cut.possible(&all.run(sandbox).ok()?);
            if possible.is_open() {
                let left = narrowings.checked_sub(1)?;
                let mut rows = possible.open().to_vec();
                rows.dedup();
                return rows.iter().try_for_each(|row| {
                    let narrowed = Resolved::of(site.narrowed(&self.query, row), self.schema)?;
                    let mut runner = Runner::new(sandbox, self.schema, &narrowed).ok()?;
                    let result = sandbox.run(&mut runner.statement).ok()?;
                    runner.add_outcomes(sandbox, &result, left, outcomes)
                });
            }
        }
        for (tied, all) in &mut self.ties {
            let orders = tied.orders(&all.run(sandbox).ok()?)?;
            if orders.len() > 1 {
                let left = narrowings.checked_sub(1)?;
                self.orders_left = self.orders_left.checked_sub(orders.len())?;
                return orders.iter().try_for_each(|order| {
                    let narrowed = Resolved::of(tied.narrowed(&self.query, order), self.schema)?;
                    let mut runner = Runner::new(sandbox, self.schema, &narrowed).ok()?;
                    let result = sandbox.run(&mut runner.statement).ok()?;
                    runner.add_outcomes(sandbox, &result, left, outcomes)
                });
            }
        }
        let is_open = |check: &mut Auxiliary<'s>| !check.run(sandbox).is_ok_and(|rows| rows.is_empty());
        if outcomes.possible.len() >= MAX_OUTCOMES || self.checks.iter_mut().any(|(check, _)| is_open(check))
        {
            return None;
        }
        for (column, check, _) in &mut self.loose {
            if is_open(check) {
                outcomes.loose.insert(*column);
            }
        }
        let possible = match &mut self.unlimited {
            Some((cut, all)) => cut.possible(&all.run(sandbox).ok()?),
            None => Possible::only(result),
        };
        if !outcomes.possible.contains(&possible) {
            outcomes.possible.push(possible);
        }
        Some(())
    }

    /// The result, if it is the only one that the query may have.
    pub(super) fn settled(&mut self, sandbox: &'s Sandbox) -> Option<ResultSet> {
        let result = sandbox.run(&mut self.statement).ok()?;
        self.outcomes(sandbox, &result).is_some_and(|outcomes| outcomes.is_settled()).then_some(result)
    }

    /// Whether it may have several results on some database.
    fn has_freedom(&self) -> bool {
        self.unlimited.is_some()
            || !(self.checks.is_empty()
                && self.sites.is_empty()
                && self.ties.is_empty()
                && self.loose.is_empty())
    }

    /// The places that leave a choice on what the tables hold now.
    fn open_places(&mut self, sandbox: &'s Sandbox) -> BTreeSet<Place> {
        let is_open = |check: &mut Auxiliary<'s>| !check.run(sandbox).is_ok_and(|rows| rows.is_empty());
        let is_cut_open = |cut: &OutermostLimit, all: &mut Auxiliary<'s>| {
            !all.run(sandbox).is_ok_and(|rows| !cut.possible(&rows).is_open())
        };
        let sites = self.sites.iter_mut();
        let sites = sites.filter_map(|(site, all)| is_cut_open(&site.cut, all).then(|| site.place.clone()));
        let mut open: BTreeSet<Place> = sites.collect();
        let ties = self.ties.iter_mut().filter_map(|(tied, all)| {
            let orders = all.run(sandbox).ok().and_then(|rows| tied.orders(&rows));
            orders.is_none_or(|orders| orders.len() > 1).then(|| tied.place.clone())
        });
        open.extend(ties);
        let checks = self.checks.iter_mut().map(|(check, place)| (check, &*place));
        let loose = self.loose.iter_mut().map(|(_, check, place)| (check, &*place));
        open.extend(checks.chain(loose).filter_map(|(check, place)| is_open(check).then(|| place.clone())));
        if self.unlimited.as_mut().is_some_and(|(cut, all)| is_cut_open(cut, all)) {
            open.insert(Place::of(Choice::Limit));
        }
        open
    }
}

/// What became of a pair on one database.
#[derive(Debug)]
pub(super) enum PairOutcome {
    Same,
    /// They differ, and nothing but the queries can be the reason.
    Different(Box<Difference>),
    /// They differ; the left query permits its result alone, and the right one may permit several.
    PermitsMore(Box<Difference>),
    /// They differ, but a freedom of SQLite's may be the reason.
    Undecided,
    /// A query failed or reached a limit.
    Failed,
}

/// Why a query with the result of the gold is not taken for it.
const LUCK: &str = "the same rows, but SQLite was free to return others, and not for the gold";

/// How the right query stands against the left one on one database.
#[derive(Debug)]
pub(super) enum Stand {
    Equal,
    /// They differ, or may where SQLite chooses otherwise, and the left query permits its result alone; or they differ
    /// whatever SQLite chooses.
    Differs(String),
    /// They differ, and the left query permits several, or has none.
    Open,
    /// The right query alone failed or reached a limit.
    RightFailed(Failure),
}

#[derive(Debug)]
pub(super) struct Difference {
    pub(super) left: ResultSet,
    pub(super) right: ResultSet,
    pub(super) reason: String,
}

/// A query with its sort keys among its columns, and their places.
pub(super) struct SortKeys<'s> {
    query: Auxiliary<'s>,
    places: Vec<usize>,
}

impl<'s> SortKeys<'s> {
    /// `None` where the query promises no order, or its order does not count.
    pub(super) fn new(
        resolved: &Resolved,
        schema: &Schema,
        counts: bool,
    ) -> Result<Option<Self>, Inapplicable> {
        let Some(ordered) = ordered(&resolved.query).filter(|_| counts) else { return Ok(None) };
        let text = print(&ordered.query, schema, PrintDialect::Sqlite)
            .map_err(|error| Inapplicable::unsupported("print", error.to_string()))?;
        Ok(Some(Self { query: Auxiliary::new(text), places: ordered.keys }))
    }

    /// The order of the rows on what the tables hold now.
    pub(super) fn order(&mut self, sandbox: &'s Sandbox) -> Result<GoldOrder, Failure> {
        let rows = self.query.run(sandbox)?;
        Ok(GoldOrder::from_keys(&rows, &self.places))
    }
}

/// Both queries, compiled on one sandbox.
pub(super) struct Pair<'s> {
    sandbox: &'s Sandbox,
    left: Runner<'s>,
    right: Runner<'s>,
    /// The sort keys of either query, where its order counts.
    keys: [Option<SortKeys<'s>>; 2],
    uses_clock: bool,
    contract: Contract,
}

impl<'s> Pair<'s> {
    /// Compiles both; the sandbox must have the tables that they read.
    pub(super) fn new(
        sandbox: &'s Sandbox,
        schema: &'s Schema,
        (left, right): (&Resolved, &Resolved),
        contract: Contract,
    ) -> Result<Self, Inapplicable> {
        let keys = [
            SortKeys::new(left, schema, contract.semantics.keeps_left_order())
                .map_err(|reason| reason.of(Side::Left))?,
            SortKeys::new(right, schema, contract.semantics.keeps_right_order())
                .map_err(|reason| reason.of(Side::Right))?,
        ];
        let runner = |resolved, side| {
            Runner::new(sandbox, schema, resolved).map_err(|failure| Inapplicable::from(failure).of(side))
        };
        Ok(Self {
            sandbox,
            left: runner(left, Side::Left)?,
            right: runner(right, Side::Right)?,
            keys,
            uses_clock: left.uses_clock() || right.uses_clock(),
            contract,
        })
    }

    /// Runs both queries on what the tables hold now.
    pub(super) fn judge(&mut self) -> PairOutcome {
        let Ok(left) = self.sandbox.run(&mut self.left.statement) else { return PairOutcome::Failed };
        let Ok(right) = self.sandbox.run(&mut self.right.statement) else { return PairOutcome::Failed };
        let reason = match self.difference(&left, &right) {
            Ok(None) => return PairOutcome::Same,
            Ok(Some(reason)) => reason,
            Err(_) => return PairOutcome::Failed,
        };
        let free = self.free_side(&left, &right);
        let difference = || Box::new(Difference { left, right, reason });
        match free {
            None => PairOutcome::Different(difference()),
            Some(Side::Right) => PairOutcome::PermitsMore(difference()),
            Some(Side::Left) => PairOutcome::Undecided,
        }
    }

    /// The results on what the tables hold now, if the left query permits its result alone.
    pub(super) fn results_of_settled(&mut self) -> Option<[ResultSet; 2]> {
        let left = self.left.settled(self.sandbox)?;
        Some([left, self.sandbox.run(&mut self.right.statement).ok()?])
    }

    /// Whether the right query may return something else on what the tables hold now, and the left one may not.
    pub(super) fn is_right_free_alone(&mut self) -> bool {
        self.right.has_freedom()
            && self.right.settled(self.sandbox).is_none()
            && self.left.settled(self.sandbox).is_some()
    }

    /// How two results differ, the left one with the order that the left query promises.
    pub(super) fn difference_of(&mut self, left: &ResultSet, right: &ResultSet) -> Option<String> {
        self.difference(left, right).ok().flatten()
    }

    /// Runs both queries on what the tables hold now; the left one is the gold. Where it permits several results, it is asked whether
    /// the right one permits none of them only if that is to be told.
    pub(super) fn stand(&mut self, tells_open_golds: bool) -> Stand {
        let Ok(left) = self.sandbox.run(&mut self.left.statement) else { return Stand::Open };
        let right = match self.sandbox.run(&mut self.right.statement) {
            Ok(right) => right,
            Err(failure) => return Stand::RightFailed(failure),
        };
        let is_settled = |outcomes: Option<Outcomes>| outcomes.is_some_and(|outcomes| outcomes.is_settled());
        let reason = match self.difference(&left, &right) {
            Ok(None) => {
                let is_open =
                    |outcomes: Option<Outcomes>| outcomes.is_some_and(|outcomes| !outcomes.are_alike());
                let is_luck = is_open(self.right.outcomes(self.sandbox, &right))
                    && is_settled(self.left.outcomes(self.sandbox, &left));
                return if is_luck { Stand::Differs(LUCK.to_owned()) } else { Stand::Equal };
            }
            Ok(Some(reason)) => reason,
            Err(_) => return Stand::Open,
        };
        if self.clock_moved(&left) {
            return Stand::Open;
        }
        let Some(of_left) = self.left.outcomes(self.sandbox, &left) else { return Stand::Open };
        let is_told = of_left.is_settled() || (tells_open_golds && self.shares_none(of_left, &right));
        if is_told { Stand::Differs(reason) } else { Stand::Open }
    }

    /// The results of both queries on what the tables hold now; `None` where one of them fails.
    pub(super) fn results(&mut self) -> Option<[ResultSet; 2]> {
        let left = self.sandbox.run(&mut self.left.statement).ok()?;
        Some([left, self.sandbox.run(&mut self.right.statement).ok()?])
    }

    /// The places of both queries that leave a choice on what the tables hold now.
    pub(super) fn open_places(&mut self) -> Vec<OpenPlace> {
        let runners = [(Side::Left, &mut self.left), (Side::Right, &mut self.right)];
        let mut open = Vec::new();
        for (side, runner) in runners {
            let places = runner.open_places(self.sandbox).into_iter();
            open.extend(places.map(|Place { choice, part }| OpenPlace { side, choice, part }));
        }
        if open.is_empty() && self.uses_clock {
            open.push(OpenPlace { side: Side::Left, choice: Choice::Clock, part: None });
        }
        open
    }

    /// By whose freedom the queries may also have returned the same, had SQLite chosen otherwise: the right one's alone, or at
    /// least the left one's. `None` if they cannot have.
    fn free_side(&mut self, left: &ResultSet, right: &ResultSet) -> Option<Side> {
        if left.width() != right.width() {
            return None;
        }
        if self.clock_moved(left) {
            return Some(Side::Left);
        }
        let Some(left) = self.left.outcomes(self.sandbox, left) else { return Some(Side::Left) };
        let free = if left.is_settled() { Side::Right } else { Side::Left };
        let Some(right) = self.right.outcomes(self.sandbox, right) else { return Some(free) };
        let is_settled = left.is_settled() && right.is_settled();
        (!is_settled && self.may_be_equal(left, right)).then_some(free)
    }

    /// Whether no result of the right query is one of those.
    fn shares_none(&mut self, left: Outcomes, right: &ResultSet) -> bool {
        let right = self.right.outcomes(self.sandbox, right);
        right.is_some_and(|right| !self.may_be_equal(left, right))
    }

    /// Whether some result of the one is some result of the other.
    fn may_be_equal(&self, left: Outcomes, right: Outcomes) -> bool {
        let loose: BTreeSet<usize> = left.loose.union(&right.loose).copied().collect();
        let results = |of: Outcomes| -> Vec<Possible> {
            let is_sure = of.loose.is_empty();
            let all = of.possible.iter().map(|one| one.without(&loose));
            all.map(|one| if is_sure { one } else { one.with_open_columns() }).collect()
        };
        let (left, right) = (results(left), results(right));
        let Contract { semantics, column_order, .. } = self.contract;
        let may_be_equal = |l: &Possible, r: &Possible| match column_order {
            ColumnOrder::Kept if semantics == Semantics::Set => !l.is_disjoint_as_sets(r),
            ColumnOrder::Kept => !l.is_disjoint(r),
            ColumnOrder::Free => semantics == Semantics::Set || l.len() == r.len(),
        };
        left.iter().any(|l| right.iter().any(|r| may_be_equal(l, r)))
    }

    fn difference(&mut self, left: &ResultSet, right: &ResultSet) -> Result<Option<String>, Failure> {
        let (free, unordered) = ((left, &GoldOrder::Unordered), (right, &GoldOrder::Unordered));
        let difference = self.contract.difference(free, unordered);
        let is_settled = difference.is_some() || left.len() < 2 || left.values() == right.values();
        if is_settled || self.keys.iter().all(Option::is_none) {
            return Ok(difference);
        }
        let [left_keys, right_keys] = &mut self.keys;
        let order = |keys: &mut Option<SortKeys<'s>>| {
            keys.as_mut().map_or(Ok(GoldOrder::Unordered), |keys| keys.order(self.sandbox))
        };
        let (left_order, right_order) = (order(left_keys)?, order(right_keys)?);
        Ok(self.contract.difference((left, &left_order), (right, &right_order)))
    }

    /// Whether the left query returns something else than a moment ago. If not, the right one, which ran in
    /// between, saw the same time.
    fn clock_moved(&mut self, left: &ResultSet) -> bool {
        self.uses_clock && self.sandbox.run(&mut self.left.statement).as_ref() != Ok(left)
    }
}
