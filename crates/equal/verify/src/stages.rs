//! The stages that a pair goes through until something is known of it.
//!
//! # Contract
//! 1. *rules*: `etm@1` proves many pairs equal. Belt and braces: what it calls equal must also return the same on the
//!    first databases of the search. If one tells the queries apart, the witness wins and carries the defect.
//! 2. *data*: where the given database itself tells the queries apart, a slice of its rows that still does, and without any of them does not.
//! 3. *search*: a database that satisfies the schema and on which a real SQLite returned different results, made
//!    smaller as long as it still does. A difference that is only one of several permitted results is none.
//! 4. *reuse*: databases that tell the gold from what other systems predict for the question may tell this prediction
//!    apart too (SpotIt+). They are made anew for each pair, so that the verdict is a function of the question's queries.
//! 5. *smt*: a proof by a solver that no database of a few rows per table tells the queries apart, or a database that may,
//!    which counts only after the same replay. Without a solver it says what is missing.
//!
//! A text that SQLite refuses gets its error and no verdict. What no stage decides is unknown, with the reason.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_base::counted;
use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_etm::{MatchReport, MatchVerdict as Match, Matcher, Profile};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{ErrorKind, resolve};

use crate::explain::explain;
use crate::options::{BELT_DATABASES, VerifyOptions};
use crate::said::said;
use crate::spelling::{Spelled, spelled as spell};
use crate::verdict::{
    BoundedProof, Counterexample, Defect, NO_SOLVER, Proof, RefusedText, SOLVER_REMEDY, Stage, Unknown,
    Verdict, VerifyReport,
};
use sqlgauge_prove::{Bounds, ProofOutcome, ResultSemantics, Solver};
use sqlgauge_search::{
    Inapplicable, Mined, Minimality, Need, Refutation, Resemblance, Search, SearchError, SearchReason,
    SearchVerdict as Found, Side, Survived, Witness, near_schema, tables_under, with_targets,
};

/// What is known of a pair besides its texts.
#[derive(Default)]
pub struct PairContext<'a> {
    /// A database over the schema, and what the queries return on it.
    pub data: Option<Data<'a>>,
    /// Other queries that answer the same question as the left one.
    pub peers: &'a [&'a str],
    /// For bounded proofs.
    pub solver: Option<&'a mut Solver>,
}

/// A database, and what both queries return on it.
pub struct Data<'a> {
    /// What has run the queries.
    pub engine: &'a dyn Engine,
    /// The database.
    pub database: &'a Database,
    /// The results of the left and of the right query; `None` where one has none.
    pub results: Option<(&'a ResultSet, &'a ResultSet)>,
}

/// Other queries of a question whose counterexamples are tried on a pair.
const MAX_PEERS: usize = 32;

/// Verifies pairs over one schema; it keeps its databases in memory for pair after pair.
#[derive(Debug)]
pub struct Verifier {
    schema: Arc<Schema>,
    options: VerifyOptions,
    search: Search,
    /// What is known of the rows of a database.
    mined: Option<Arc<Mined>>,
    /// A search that keeps what those rows keep, for the pair at hand.
    like: RefCell<Option<Like>>,
}

#[derive(Debug)]
struct Like {
    search: Search,
    /// Whether it is known what the rows keep.
    is_known: bool,
}

impl Verifier {
    /// A verifier over that schema. A foreign key that is not to be relied on must not be in it.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub fn new(schema: impl Into<Arc<Schema>>, options: VerifyOptions) -> Result<Self, SearchError> {
        let schema = schema.into();
        let search = Search::new(Arc::clone(&schema), options.search())?;
        Ok(Self { schema, options, search, mined: None, like: RefCell::default() })
    }

    /// The verifier that looks first for counterexamples that keep what the rows of a database keep, for pairs that come
    /// with that database ([`Data`]); each then says what of it it keeps.
    #[must_use]
    pub fn realistic(self, mined: Arc<Mined>) -> Self {
        Self { mined: Some(mined), ..self }
    }

    /// A verifier for one pair whose foreign keys lead through hundreds of tables: see [`near_schema`].
    fn near(&self, left: &str, right: &str) -> Option<Self> {
        let schema = near_schema(&self.schema, left, right).filter(|schema| *schema != *self.schema)?;
        let near = Self::new(schema, self.options).ok()?;
        Some(Self { mined: self.mined.clone(), ..near })
    }

    /// What is known of the pair. The left query is the gold. Without a solver there is no bounded proof.
    ///
    /// # Errors
    /// When SQLite refuses one of the texts.
    pub fn verify(
        &self,
        left: &str,
        right: &str,
        solver: Option<&mut Solver>,
    ) -> Result<VerifyReport, RefusedText> {
        self.verify_beside(left, right, PairContext { solver, ..PairContext::default() })
    }

    /// [`Verifier::verify`] with what else is known of the pair.
    ///
    /// A text that SQLite refuses is verified in other words, if it has them (see [`VerifyReport::spelled`]).
    ///
    /// # Errors
    /// When SQLite refuses one of the two texts, and has no other words for it.
    pub fn verify_beside(
        &self,
        left: &str,
        right: &str,
        beside: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let deadline = Instant::now().checked_add(self.options.solver_time);
        let near = self.near(left, right);
        near.as_ref().unwrap_or(self).verify_until(deadline, left, right, beside)
    }

    fn verify_until(
        &self,
        deadline: Option<Instant>,
        left: &str,
        right: &str,
        beside: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        self.search.begin_pair(deadline);
        let report = self.verify_here(left, right, beside);
        self.search.end_pair();
        report
    }

    fn verify_here(
        &self,
        left: &str,
        right: &str,
        mut beside: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let mut spelled: [Option<Spelled>; 2] = [None, None];
        loop {
            let text = |at: usize, sql| spelled[at].as_ref().map_or(sql, |own: &Spelled| own.sql.as_str());
            let (left_text, right_text) = (text(0, left), text(1, right));
            let refused = match self.verify_texts(left_text, right_text, &mut beside) {
                Ok(mut report) => {
                    if let Verdict::Unknown(unknown) = &mut report.verdict {
                        unknown.unexercised =
                            self.search.unexercised(left_text, right_text).unwrap_or_default();
                        report.is_tie = self.is_tie(beside.data.as_ref(), left_text);
                    }
                    return Ok(VerifyReport { spelled, ..report });
                }
                Err(refused) => refused,
            };
            let (at, sql) = match refused.side {
                Side::Left => (0, left),
                Side::Right => (1, right),
            };
            let other = spell(sql, |text| self.refuses(text)).filter(|_| spelled[at].is_none());
            spelled[at] = Some(other.ok_or(refused)?);
        }
    }

    /// Whether a text is no query over the schema; not so one that is only too much for the analysis.
    fn refuses(&self, text: &str) -> bool {
        let error = resolve(text, &self.schema).err();
        error.is_some_and(|error| {
            !matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::TooComplex(_))
        })
    }

    fn verify_texts(
        &self,
        left: &str,
        right: &str,
        beside: &mut PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let PairContext { data, peers, solver } = beside;
        let mut clock = Clock::default();
        let differing = data.as_ref().filter(|data| self.differs(data));
        self.like.take();
        if let Some(verdict) = self.rules(left, right)? {
            if let Some(data) = differing {
                self.look_at_rows(data, left, right);
            }
            let contradicted = differing.and_then(|data| self.contradicted(&verdict, data, left, right));
            let verdict = contradicted.unwrap_or(verdict);
            let is_tie = differing.is_some() && matches!(verdict, Verdict::Equivalent(_));
            return Ok(VerifyReport { is_tie, ..clock.report(verdict, Stage::Rules) });
        }
        clock.ended(Stage::Rules);
        if let Some(data) = data.as_ref() {
            self.look_at_rows(data, left, right);
            if let Some(found) = differing.and_then(|data| self.sliced(data, left, right)) {
                return Ok(clock.report(self.different(found, left, right), Stage::Data));
            }
            clock.ended(Stage::Data);
        }
        let survived = match self.searched(left, right)? {
            Searched::Found(found) => {
                let is_vacuous = found.needs().contains(&Need::EmptyResult);
                let Some(solver) = solver.as_deref_mut().filter(|_| is_vacuous) else {
                    return Ok(clock.report(self.different(*found, left, right), Stage::Search));
                };
                clock.ended(Stage::Search);
                let (found, stage) = match self.with_rows(left, right, solver) {
                    Some(plainer) => (plainer, Stage::Smt),
                    None => (*found, Stage::Search),
                };
                return Ok(clock.report(self.different(found, left, right), stage));
            }
            Searched::Survived(survived) => survived,
        };
        if !peers.is_empty() {
            clock.ended(Stage::Search);
            if let Some(verdict) = self.reused(left, right, peers) {
                return Ok(clock.report(verdict, Stage::Reuse));
            }
        }
        let last = if peers.is_empty() { Stage::Search } else { Stage::Reuse };
        if differing.is_some() && survived.is_free_to_choose() {
            // The data rule out a proof, and nothing is left for the solver but differences like those.
            let message = "the results differ on the given database, and SQLite is free to choose there too";
            return Ok(clock.report(Verdict::Unknown(survived.unknown("nondeterministic", message)), last));
        }
        let Some(solver) = solver.as_deref_mut() else {
            let message = format!("there is no solver for a bounded proof; {SOLVER_REMEDY}");
            let unknown = Verdict::Unknown(survived.unknown(NO_SOLVER, &message));
            return Ok(clock.report(unknown, last));
        };
        clock.ended(last);
        let verdict = match self.bounded(left, right, &survived, solver) {
            // A bound too small, or a choice that is SQLite's: nobody knows which.
            Verdict::EquivalentUpTo(proof) if differing.is_some() => {
                let message = format!(
                    "the results differ on the given database, and on none of at most {} per table",
                    counted(proof.bound, "row")
                );
                Verdict::Unknown(survived.unknown("differs-beyond-bound", &message))
            }
            verdict => verdict,
        };
        Ok(clock.report(verdict, Stage::Smt))
    }

    /// The verdict by rules; `None` if they prove nothing.
    fn rules(&self, left: &str, right: &str) -> Result<Option<Verdict>, RefusedText> {
        let comparison = self.compared(left, right);
        if let Match::Unresolved(side, error) = &comparison.verdict
            && !matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::TooComplex(_))
        {
            let side = match side {
                sqlgauge_etm::MatchSide::Left => Side::Left,
                sqlgauge_etm::MatchSide::Right => Side::Right,
            };
            return Err(RefusedText { side, message: error.to_string() });
        }
        let proof = Proof::of(&comparison)
            .or_else(|| self.proof_without_order(left, right))
            .or_else(|| self.proof_before_limit(left, right));
        let Some(proof) = proof else { return Ok(None) };
        match self.search.refute_within(left, right, BELT_DATABASES) {
            Found::Refuted(refutation) => Ok(Some(self.defect(*refutation, proof, left, right))),
            Found::Inapplicable(reason) => refused(&reason).map_or(Ok(Some(Verdict::Equivalent(proof))), Err),
            Found::Survived(_) => Ok(Some(Verdict::Equivalent(proof))),
        }
    }

    /// Where rows count as a bag or as a set, the queries are equal if they are without ORDER BY, or with DISTINCT.
    fn proof_without_order(&self, left: &str, right: &str) -> Option<Proof> {
        let [left, right] = self.search.rows_without_order(left, right)?;
        let proof = Proof::of(&Matcher::new(&self.schema, Profile::Sound).compare(&left, &right))?;
        Some(proof.with_rows_as(self.options.semantics))
    }

    /// Queries whose rows are equal with their sort keys permit the same results under one LIMIT, whichever rows SQLite
    /// takes among ties.
    fn proof_before_limit(&self, left: &str, right: &str) -> Option<Proof> {
        let [left, right] = self.search.rows_before_limit(left, right)?;
        Proof::of(&Matcher::new(&self.schema, Profile::Sound).compare(&left, &right))
    }

    /// For results as lists both orders count; else only the gold's does.
    fn compared(&self, left: &str, right: &str) -> MatchReport {
        let matcher = Matcher::new(&self.schema, Profile::Sound);
        match self.options.semantics {
            Semantics::List => matcher.compare(left, right),
            Semantics::Ex | Semantics::Set | Semantics::Bag => matcher.judge(left, right),
        }
    }

    /// Sees what the rows keep in the tables that the pair leads to, where a verifier is to keep to it.
    fn look_at_rows(&self, data: &Data<'_>, left: &str, right: &str) {
        let Some(mined) = &self.mined else { return };
        let read = |text| {
            resolve(text, &self.schema).map(|query| tables_under(&query, &self.schema)).unwrap_or_default()
        };
        let read = read(left).union(&read(right)).copied().collect();
        let Ok(tables) = with_targets(&self.schema, &read) else { return };
        let constraints = mined.among(tables, data.engine, data.database);
        let is_known = constraints.are_known();
        let search = Search::realistic(&self.schema, constraints, self.options.search());
        *self.like.borrow_mut() =
            search.ok().map(|search| Like { search: search.beside(&self.search), is_known });
    }

    /// Whether the results on the data differ by more than an order that does not count.
    fn differs(&self, data: &Data<'_>) -> bool {
        let Some((left_rows, right_rows)) = data.results else { return false };
        let unordered = &GoldOrder::Unordered;
        let semantics = self.options.semantics;
        let is_other = left_rows.width() != right_rows.width() || left_rows.values() != right_rows.values();
        is_other
            && (semantics.keeps_left_order()
                || semantics.difference((left_rows, unordered), (right_rows, unordered)).is_some())
    }

    /// Whether the right result differs on the data, and is one of several that the left query permits there.
    fn is_tie(&self, data: Option<&Data<'_>>, left: &str) -> bool {
        let Some(data) = data.filter(|data| self.differs(data)) else { return false };
        let right = data.results.map(|(_, right)| right);
        right.and_then(|rows| self.search.permits(data.engine, data.database, left, rows)) == Some(true)
    }

    /// A slice of the data on which the queries differ; with what its rows refer to, if that can be had.
    fn sliced(&self, data: &Data<'_>, left: &str, right: &str) -> Option<Refutation> {
        let slice = |search: &Search| search.slice(data.engine, data.database, left, right);
        let found = slice(&self.search)?;
        let keeps_all = |found: &Refutation| {
            self.resemblance(found, left, right).is_none_or(|own| own.is_complete() == Some(true))
        };
        if keeps_all(&found) {
            return Some(found);
        }
        let whole = self.like.borrow().as_ref().and_then(|like| slice(&like.search));
        let whole = whole.and_then(|whole| self.search.replay(whole.database(), left, right));
        Some(whole.filter(keeps_all).unwrap_or(found))
    }

    /// What the data say where the rules call the queries equal and a slice of it tells them apart.
    fn contradicted(&self, verdict: &Verdict, data: &Data<'_>, left: &str, right: &str) -> Option<Verdict> {
        let Verdict::Equivalent(proof) = verdict else { return None };
        let found = self.sliced(data, left, right)?;
        Some(self.defect(found, proof.clone(), left, right))
    }

    /// A counterexample to what the rules have proved.
    fn defect(&self, refutation: Refutation, proof: Proof, left: &str, right: &str) -> Verdict {
        let reproduce = self.command_line(&refutation, left, right);
        let defect = Some(Defect { proof, reproduce });
        self.counterexample((refutation, None), (left, right), None, defect)
    }

    /// What a counterexample keeps of what the rows of the given database keep.
    fn resemblance(&self, refutation: &Refutation, left: &str, right: &str) -> Option<Resemblance> {
        self.like.borrow().as_ref()?.search.resemblance(refutation.database(), left, right)
    }

    /// A counterexample that keeps what the rows of the given database keep.
    fn found_like_them(&self, left: &str, right: &str) -> Option<Refutation> {
        let like = self.like.borrow();
        let found = like.as_ref().filter(|like| like.is_known)?.search.refute_minimised(left, right);
        let found = self.search.replay(found.refutation()?.database(), left, right)?;
        self.resemblance(&found, left, right)
            .is_some_and(|own| own.is_complete() == Some(true))
            .then_some(found)
    }

    fn searched(&self, left: &str, right: &str) -> Result<Searched, RefusedText> {
        let is_plain = |found: &Refutation| found.needs().is_empty();
        let like_them = self.found_like_them(left, right).filter(is_plain).map(Box::new);
        if let Some(found) = like_them.as_ref().filter(|found| found.is_certain()) {
            return Ok(Searched::Found(found.clone()));
        }
        // A difference that no choice explains comes first, then one that keeps more of the rows.
        match (self.search.refute_minimised(left, right), like_them) {
            (Found::Refuted(found), _) if found.is_certain() => Ok(Searched::Found(found)),
            (_, Some(found)) => Ok(Searched::Found(found)),
            (other, None) => searched_plainly(other),
        }
    }

    /// A difference on a database that tells one of the others from the left query.
    fn reused(&self, left: &str, right: &str, peers: &[&str]) -> Option<Verdict> {
        peers.iter().filter(|peer| **peer != right).take(MAX_PEERS).find_map(|peer| {
            let found = self.search.refute_within(left, peer, BELT_DATABASES);
            let found = self.search.replay(found.refutation()?.database(), left, right)?;
            Some(self.different(found, left, right))
        })
    }

    /// Bounds for the time that the stages before have left.
    fn in_time(&self, bounds: Bounds) -> Bounds {
        Bounds { time: self.search.time_left().map_or(bounds.time, |left| left.min(bounds.time)), ..bounds }
    }

    /// A difference on a database on which one of the queries returns a row, by the solver.
    fn with_rows(&self, left: &str, right: &str, solver: &mut Solver) -> Option<Refutation> {
        let queries = (resolve(left, &self.schema).ok()?, resolve(right, &self.schema).ok()?);
        let (semantics, bounds) =
            (self.options.bounded_semantics(), self.in_time(self.options.bounds_with_rows()));
        let is_plain = |found: &Refutation| !found.needs().contains(&Need::EmptyResult);
        let mut replay = |database: &Witness| self.search.replay(database, left, right).filter(is_plain);
        let pair = (&queries.0, &queries.1);
        let outcome = sqlgauge_prove::bounded(&self.schema, pair, semantics, bounds, solver, &mut replay);
        if let ProofOutcome::Different { found, .. } = outcome { Some(found) } else { None }
    }

    fn bounded(&self, left: &str, right: &str, tried: &Tried, solver: &mut Solver) -> Verdict {
        let resolved = |text| resolve(text, &self.schema);
        let (Ok(left_query), Ok(right_query)) = (resolved(left), resolved(right)) else {
            return Verdict::Unknown(tried.unknown("unsupported:resolve", "a query cannot be resolved"));
        };
        let (semantics, bounds) = (self.options.bounded_semantics(), self.in_time(self.options.bounds()));
        let mut replay = |database: &Witness| self.search.replay(database, left, right);
        let pair = (&left_query, &right_query);
        let outcome = sqlgauge_prove::bounded(&self.schema, pair, semantics, bounds, solver, &mut replay);
        if matches!(outcome, ProofOutcome::Unknown { .. })
            && let Some(proof) = self.no_more(pair, solver)
        {
            return Verdict::EquivalentUpTo(proof);
        }
        match outcome {
            ProofOutcome::NoDifference { bound, assumes } => {
                Verdict::EquivalentUpTo(BoundedProof { bound, assumes, permits_less: false })
            }
            ProofOutcome::Different { found, .. } => self.different(found, left, right),
            ProofOutcome::Unsupported { construct } => {
                let message = format!("the bounded proof does not know {construct}");
                Verdict::Unknown(tried.unknown(&format!("unsupported:{construct}"), &message))
            }
            ProofOutcome::Unknown { reason, proved } => {
                let so_far = proved.map_or_else(String::new, |bound| {
                    format!(", beyond a proof up to {} per table", counted(bound, "row"))
                });
                let message = format!("{reason}{so_far}");
                Verdict::Unknown(tried.unknown(&reason.code(), &message))
            }
        }
    }

    /// A proof that the right query permits no result that the left one does not, where that one leaves SQLite a choice of rows.
    fn no_more(&self, (left, right): (&Query, &Query), solver: &mut Solver) -> Option<BoundedProof> {
        let semantics = self.options.bounded_semantics();
        if left.limit.is_none() || semantics == ResultSemantics::Set {
            return None;
        }
        let bounds = self.in_time(self.options.bounds_of_no_more());
        let mut refuse = |_: &Witness| None::<()>;
        let asked =
            sqlgauge_prove::bounded(&self.schema, (left, right), semantics, bounds, solver, &mut refuse);
        match asked {
            ProofOutcome::NoDifference { bound, assumes } => {
                Some(BoundedProof { bound, assumes, permits_less: true })
            }
            _ => None,
        }
    }

    /// A difference as small and plain as it can be made.
    fn different(&self, found: Refutation, left: &str, right: &str) -> Verdict {
        let like = self.like.borrow();
        let like = like.as_ref().map(|like| &like.search);
        let (refutation, minimality) = self.search.plainest(&found, left, right, like);
        let explanation = explain(&self.search, &self.schema, &refutation, left, right);
        self.counterexample((refutation, Some(minimality)), (left, right), explanation, None)
    }

    fn counterexample(
        &self,
        (refutation, minimality): (Refutation, Option<Minimality>),
        (left, right): (&str, &str),
        explanation: Option<String>,
        defect: Option<Defect>,
    ) -> Verdict {
        let tables = self.search.read_tables(refutation.database(), left, right);
        let resemblance = self.resemblance(&refutation, left, right);
        let words = said(&self.search, &self.schema, &refutation, &tables, [left, right]);
        let found =
            Counterexample { refutation, minimality, tables, explanation, words, resemblance, defect };
        Verdict::Different(Box::new(found))
    }

    /// A command that makes the schema and verifies the pair, in one line for a shell.
    fn command_line(&self, refutation: &Refutation, left: &str, right: &str) -> String {
        let tables = refutation.database().tables.iter();
        let ddl: Vec<String> = tables.map(|table| format!("{};", table.create_statement())).collect();
        let semantics = self.options.semantics;
        format!(
            "printf %s {} | sqlgauge verify --schema - --left {} --right {} --semantics {semantics}",
            quoted(&ddl.join(" ")),
            quoted(left),
            quoted(right)
        )
    }
}

/// A text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a search says by itself.
fn searched_plainly(found: Found) -> Result<Searched, RefusedText> {
    match found {
        Found::Refuted(found) => Ok(Searched::Found(found)),
        Found::Survived(survived) => Ok(Searched::Survived(Tried::Databases(survived))),
        Found::Inapplicable(reason) => match refused(&reason) {
            Some(refused) => Err(refused),
            None => Ok(Searched::Survived(Tried::Nothing(reason))),
        },
    }
}

/// What SQLite refuses is an error of the caller's and no verdict.
fn refused(reason: &Inapplicable) -> Option<RefusedText> {
    match (&reason.reason, reason.side) {
        (SearchReason::Parse, Some(side)) => Some(RefusedText { side, message: reason.message.clone() }),
        _ => None,
    }
}

/// What came of the search.
enum Searched {
    Found(Box<Refutation>),
    Survived(Tried),
}

/// What the search has tried in vain.
enum Tried {
    Databases(Survived),
    /// It cannot handle the pair.
    Nothing(Inapplicable),
}

impl Tried {
    /// Whether the results differed somewhere by SQLite's choice.
    fn is_free_to_choose(&self) -> bool {
        matches!(self, Self::Databases(Survived { undecided: 1.., .. }))
    }

    /// Why nobody knows: that SQLite is free to choose, or what the search cannot handle, is more of a reason than why
    /// there is no bounded proof.
    fn unknown(&self, reason: &str, message: &str) -> Unknown {
        match self {
            Self::Nothing(inapplicable) => {
                let message = format!("{inapplicable}; {message}");
                Unknown { reason: inapplicable.code(), message, places: Vec::new(), unexercised: Vec::new() }
            }
            Self::Databases(Survived { databases, undecided, open, failed }) => {
                let failed =
                    if *failed > 0 { format!(", {failed} on which a query failed") } else { String::new() };
                let mut tried = format!("{} with equal results{failed}", counted(*databases, "database"));
                let mut reason = reason;
                if *undecided > 0 {
                    reason = "nondeterministic";
                    let _ =
                        write!(tried, ", {undecided} on which they differed where SQLite is free to choose");
                }
                Unknown {
                    reason: reason.to_owned(),
                    message: format!("{tried}; {message}"),
                    places: open.clone(),
                    unexercised: Vec::new(),
                }
            }
        }
    }
}

/// Takes the time of the stages.
#[derive(Debug)]
struct Clock {
    since: Instant,
    times: Vec<(Stage, Duration)>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { since: Instant::now(), times: Vec::new() }
    }
}

impl Clock {
    fn ended(&mut self, stage: Stage) {
        self.times.push((stage, self.since.elapsed()));
        self.since = Instant::now();
    }

    fn report(mut self, verdict: Verdict, stage: Stage) -> VerifyReport {
        self.ended(stage);
        VerifyReport { verdict, stage, spelled: [None, None], is_tie: false, times: self.times }
    }
}
