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
use crate::json::NamedTable;
use crate::options::{BELT_DATABASES, VerifyOptions};
use crate::said::in_words;
use crate::spelling::{Spelled, spelled as spell};
use crate::values::{ColumnValues, UndeclaredDifference};
use crate::verdict::{
    BoundedProof, Counterexample, Defect, NO_SOLVER, Proof, RefusedText, SOLVER_REMEDY, Stage, Unknown,
    Verdict, VerifyReport,
};
use sqlgauge_prove::{Bounds, ProofAssumption, ProofOutcome, ResultSemantics, Solver};
use sqlgauge_search::{
    DeclaredColumns, Inapplicable, Mined, Minimality, Need, Refutation, Resemblance, Search, SearchError,
    SearchReason, SearchVerdict as Found, Side, Survived, Witness, near_schema, tables_under, with_targets,
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
    /// For the pair at hand.
    values: RefCell<Held>,
}

/// What the columns hold in the databases that count.
#[derive(Debug, Default)]
struct Held {
    columns: DeclaredColumns,
    /// The schema with NOT NULL for the columns of primary keys that hold no NULL, where it lets them.
    demanded: Option<Arc<Schema>>,
    /// A difference on a database that does not count.
    undeclared: Option<Refutation>,
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
        Ok(Self {
            schema,
            options,
            search,
            mined: None,
            like: RefCell::default(),
            values: RefCell::default(),
        })
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
        context: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let deadline = Instant::now().checked_add(self.options.solver_time);
        let near = self.near(left, right);
        near.as_ref().unwrap_or(self).verify_until(deadline, left, right, context)
    }

    fn verify_until(
        &self,
        deadline: Option<Instant>,
        left: &str,
        right: &str,
        context: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        self.search.begin_pair(deadline);
        let report = self.verify_here(left, right, context);
        self.search.end_pair();
        report
    }

    fn verify_here(
        &self,
        left: &str,
        right: &str,
        mut context: PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let mut spelled: [Option<Spelled>; 2] = [None, None];
        loop {
            let text =
                |at: usize, sql| spelled[at].as_ref().map_or(sql, |spelling: &Spelled| spelling.sql.as_str());
            let (left_text, right_text) = (text(0, left), text(1, right));
            let refused = match self.verify_texts(left_text, right_text, &mut context) {
                Ok(mut report) => {
                    if let Verdict::Unknown(unknown) = &mut report.verdict {
                        unknown.unexercised =
                            self.search.unexercised(left_text, right_text).unwrap_or_default();
                        report.is_tie = self.is_tie(context.data.as_ref(), left_text);
                    }
                    if let Some(solver) = context.solver.as_deref_mut().filter(|_| self.options.proves_fewest)
                    {
                        self.make_fewest(&mut report.verdict, left_text, right_text, solver);
                    }
                    return Ok(VerifyReport { spelled, ..self.with_values(report) });
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

    /// The report with the values that were allowed.
    fn with_values(&self, report: VerifyReport) -> VerifyReport {
        let Held { columns, undeclared, .. } = self.values.take();
        let values = match columns {
            DeclaredColumns::None => ColumnValues::Any,
            DeclaredColumns::AllBut(_) => ColumnValues::Declared,
        };
        let of_other = undeclared.filter(|_| !matches!(report.verdict, Verdict::Different(_)));
        let undeclared = of_other.map(|refutation| UndeclaredDifference {
            columns: columns.broken_by(&self.schema, refutation.database()),
            refutation,
        });
        VerifyReport { values, free_columns: columns.free(&self.schema), undeclared, ..report }
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
        context: &mut PairContext<'_>,
    ) -> Result<VerifyReport, RefusedText> {
        let PairContext { data, peers, solver } = context;
        let mut clock = Clock::default();
        let differing = data.as_ref().filter(|data| self.differs(data));
        self.like.take();
        // A proof by rules covers whatever SQLite stores, and so does what is to contradict it.
        self.hold(ColumnValues::Any.columns(None));
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
            let rows = self.look_at_rows(data, left, right);
            // Of rows that nobody could look at nothing is known.
            self.hold(self.options.values.columns(Some(rows.unwrap_or_default())));
            let sliced = differing.and_then(|data| self.sliced(data, left, right));
            if let Some(refutation) = sliced.filter(|refutation| self.takes_of_data(refutation)) {
                return Ok(clock.report(self.different(&refutation, left, right), Stage::Data));
            }
            clock.ended(Stage::Data);
        } else {
            self.hold(self.options.values.columns(None));
        }
        // What only undeclared values of the data make is no difference.
        let differing = differing.filter(|_| self.values.borrow().undeclared.is_none());
        let survived = match self.searched(left, right)? {
            Searched::Found(refutation) => {
                let is_vacuous = refutation.needs().contains(&Need::EmptyResult);
                let Some(solver) = solver.as_deref_mut().filter(|_| is_vacuous) else {
                    return Ok(clock.report(self.different(&refutation, left, right), Stage::Search));
                };
                clock.ended(Stage::Search);
                let (refutation, stage) = match self.with_rows(left, right, solver) {
                    Some(plainer) => (plainer, Stage::Smt),
                    None => (*refutation, Stage::Search),
                };
                return Ok(clock.report(self.different(&refutation, left, right), stage));
            }
            Searched::Survived(mut survived) => {
                self.keep_apart(survived.take_undeclared());
                survived
            }
        };
        if !peers.is_empty() {
            clock.ended(Stage::Search);
            if let Some(verdict) = self.reused(left, right, peers) {
                return Ok(clock.report(verdict, Stage::Reuse));
            }
        }
        let last = if peers.is_empty() { Stage::Search } else { Stage::Reuse };
        if let Some(proof) = self.proof_without_null_in_keys(left, right) {
            let is_tie = differing.is_some();
            return Ok(VerifyReport { is_tie, ..clock.report(Verdict::Equivalent(proof), Stage::Rules) });
        }
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
        let comparison = self.compared(&self.schema, left, right);
        if let Match::Unresolved(side, error) = &comparison.verdict
            && !matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::TooComplex(_))
        {
            let side = match side {
                sqlgauge_etm::MatchSide::Left => Side::Left,
                sqlgauge_etm::MatchSide::Right => Side::Right,
            };
            return Err(RefusedText { side, message: error.to_string() });
        }
        let Some(proof) = self.proof(&self.schema, &comparison, left, right) else { return Ok(None) };
        match self.search.refute_within(left, right, BELT_DATABASES) {
            Found::Refuted(refutation) => Ok(Some(self.defect(*refutation, proof, left, right))),
            Found::Inapplicable(reason) => refused(&reason).map_or(Ok(Some(Verdict::Equivalent(proof))), Err),
            Found::Survived(_) => Ok(Some(Verdict::Equivalent(proof))),
        }
    }

    /// The proof over a schema that a comparison found, or one of what it did not look at.
    fn proof(&self, schema: &Schema, comparison: &MatchReport, left: &str, right: &str) -> Option<Proof> {
        Proof::of(comparison)
            .or_else(|| self.proof_without_order(schema, left, right))
            .or_else(|| self.proof_before_limit(schema, left, right))
    }

    /// A proof on databases in which primary keys are not NULL, where they are taken for that.
    fn proof_without_null_in_keys(&self, left: &str, right: &str) -> Option<Proof> {
        let demanded = self.values.borrow().demanded.clone()?;
        let proof = self.proof(&demanded, &self.compared(&demanded, left, right), left, right)?;
        Some(proof.without_null_in_keys())
    }

    /// Where rows count as a bag or as a set, the queries are equal if they are without ORDER BY, or with DISTINCT.
    fn proof_without_order(&self, schema: &Schema, left: &str, right: &str) -> Option<Proof> {
        let [left, right] = self.search.rows_without_order(left, right)?;
        let proof = Proof::of(&Matcher::new(schema, Profile::Sound).compare(&left, &right))?;
        Some(proof.with_rows_as(self.options.semantics))
    }

    /// Queries whose rows are equal with their sort keys permit the same results under one LIMIT, whichever rows SQLite
    /// takes among ties.
    fn proof_before_limit(&self, schema: &Schema, left: &str, right: &str) -> Option<Proof> {
        let [left, right] = self.search.rows_before_limit(left, right)?;
        Proof::of(&Matcher::new(schema, Profile::Sound).compare(&left, &right))
    }

    /// For results as lists both orders count; else only the gold's does.
    fn compared(&self, schema: &Schema, left: &str, right: &str) -> MatchReport {
        let matcher = Matcher::new(schema, Profile::Sound);
        match self.options.semantics {
            Semantics::List => matcher.compare(left, right),
            Semantics::Ex | Semantics::Set | Semantics::Bag => matcher.judge(left, right),
        }
    }

    /// From here on only databases count in which those columns hold what they declare.
    fn hold(&self, columns: DeclaredColumns) {
        self.search.hold(columns.clone());
        let demanded = columns.demanded(&self.schema).map(Arc::new);
        *self.values.borrow_mut() = Held { columns, demanded, undeclared: None };
    }

    /// Whether a slice of the data counts: what its rows hold does, unless only what columns declare is to.
    fn takes_of_data(&self, refutation: &Refutation) -> bool {
        let takes = self.options.values != ColumnValues::Declared || self.search.is_declared(refutation);
        if !takes {
            self.keep_apart(Some(refutation.clone()));
        }
        takes
    }

    /// Keeps the first difference on a database that does not count.
    fn keep_apart(&self, refutation: Option<Refutation>) {
        let mut values = self.values.borrow_mut();
        values.undeclared = values.undeclared.take().or(refutation);
    }

    /// The schema for proofs: with what the columns hold.
    fn proved_schema(&self) -> Arc<Schema> {
        self.values.borrow().demanded.clone().unwrap_or_else(|| Arc::clone(&self.schema))
    }

    /// What the solver's database says, if it counts.
    fn confirmed(&self, database: &Witness, left: &str, right: &str) -> Option<Refutation> {
        self.search.replay(database, left, right).filter(|refutation| self.search.is_declared(refutation))
    }

    /// A bounded proof that rests on all of that.
    fn bounded_proof(&self, bound: usize, assumes: Vec<ProofAssumption>, permits_less: bool) -> BoundedProof {
        let no_null = self.values.borrow().demanded.is_some().then_some(ProofAssumption::NoNullInKey);
        let mut assumes: Vec<ProofAssumption> = assumes.into_iter().chain(no_null).collect();
        assumes.sort();
        BoundedProof { bound, assumes, permits_less }
    }

    /// Sees what the rows keep in the tables that the pair leads to, where a verifier is to keep to it, and which columns hold
    /// what they declare there, where that is known.
    fn look_at_rows(&self, data: &Data<'_>, left: &str, right: &str) -> Option<DeclaredColumns> {
        let mined = self.mined.as_ref()?;
        let read = |text| {
            resolve(text, &self.schema).map(|query| tables_under(&query, &self.schema)).unwrap_or_default()
        };
        let read = read(left).union(&read(right)).copied().collect();
        let tables = with_targets(&self.schema, &read).ok()?;
        let constraints = mined.among(tables, data.engine, data.database);
        let declared = constraints.declared(&self.schema);
        let is_known = constraints.are_known();
        let search = Search::realistic(&self.schema, constraints, self.options.search());
        *self.like.borrow_mut() =
            search.ok().map(|search| Like { search: search.beside(&self.search), is_known });
        Some(declared)
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
        let refutation = slice(&self.search)?;
        let keeps_all = |refutation: &Refutation| {
            self.resemblance(refutation, left, right)
                .is_none_or(|resemblance| resemblance.is_complete() == Some(true))
        };
        if keeps_all(&refutation) {
            return Some(refutation);
        }
        let whole = self.like.borrow().as_ref().and_then(|like| slice(&like.search));
        let whole = whole.and_then(|whole| self.search.replay(whole.database(), left, right));
        Some(whole.filter(keeps_all).unwrap_or(refutation))
    }

    /// What the data say where the rules call the queries equal and a slice of it tells them apart.
    fn contradicted(&self, verdict: &Verdict, data: &Data<'_>, left: &str, right: &str) -> Option<Verdict> {
        let Verdict::Equivalent(proof) = verdict else { return None };
        let refutation = self.sliced(data, left, right)?;
        Some(self.defect(refutation, proof.clone(), left, right))
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
        let refutation = like.as_ref().filter(|like| like.is_known)?.search.refute_minimised(left, right);
        let refutation = self.search.replay(refutation.refutation()?.database(), left, right)?;
        self.resemblance(&refutation, left, right)
            .is_some_and(|resemblance| resemblance.is_complete() == Some(true))
            .then_some(refutation)
    }

    fn searched(&self, left: &str, right: &str) -> Result<Searched, RefusedText> {
        let is_plain = |refutation: &Refutation| refutation.needs().is_empty();
        let like_them = self.found_like_them(left, right).filter(is_plain).map(Box::new);
        if let Some(refutation) = like_them.as_ref().filter(|refutation| refutation.is_certain()) {
            return Ok(Searched::Found(refutation.clone()));
        }
        // A difference that no choice explains comes first, then one that keeps more of the rows.
        match (self.search.refute_minimised(left, right), like_them) {
            (Found::Refuted(refutation), _) if refutation.is_certain() => Ok(Searched::Found(refutation)),
            (_, Some(refutation)) => Ok(Searched::Found(refutation)),
            (other, None) => searched_plainly(other),
        }
    }

    /// A difference on a database that tells one of the others from the left query.
    fn reused(&self, left: &str, right: &str, peers: &[&str]) -> Option<Verdict> {
        peers.iter().filter(|peer| **peer != right).take(MAX_PEERS).find_map(|peer| {
            let refutation = self.search.refute_within(left, peer, BELT_DATABASES);
            let refutation = self.search.replay(refutation.refutation()?.database(), left, right)?;
            Some(self.different(&refutation, left, right))
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
        let is_plain = |refutation: &Refutation| !refutation.needs().contains(&Need::EmptyResult);
        let mut replay = |database: &Witness| self.confirmed(database, left, right).filter(is_plain);
        let pair = (&queries.0, &queries.1);
        let schema = self.proved_schema();
        let outcome = sqlgauge_prove::bounded(&schema, pair, semantics, bounds, solver, &mut replay);
        if let ProofOutcome::Different { found: refutation, .. } = outcome { Some(refutation) } else { None }
    }

    fn bounded(&self, left: &str, right: &str, tried: &Tried, solver: &mut Solver) -> Verdict {
        let resolved = |text| resolve(text, &self.schema);
        let (Ok(left_query), Ok(right_query)) = (resolved(left), resolved(right)) else {
            return Verdict::Unknown(tried.unknown("unsupported:resolve", "a query cannot be resolved"));
        };
        let (semantics, bounds) = (self.options.bounded_semantics(), self.in_time(self.options.bounds()));
        let mut replay = |database: &Witness| self.confirmed(database, left, right);
        let pair = (&left_query, &right_query);
        let schema = self.proved_schema();
        let outcome = sqlgauge_prove::bounded(&schema, pair, semantics, bounds, solver, &mut replay);
        if matches!(outcome, ProofOutcome::Unknown { .. })
            && let Some(proof) = self.no_more(pair, solver)
        {
            return Verdict::EquivalentUpTo(proof);
        }
        match outcome {
            ProofOutcome::NoDifference { bound, assumes } => {
                Verdict::EquivalentUpTo(self.bounded_proof(bound, assumes, false))
            }
            ProofOutcome::Different { found: refutation, .. } => self.different(&refutation, left, right),
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
        let outcome = sqlgauge_prove::bounded(
            &self.proved_schema(),
            (left, right),
            semantics,
            bounds,
            solver,
            &mut refuse,
        );
        match outcome {
            ProofOutcome::NoDifference { bound, assumes } => Some(self.bounded_proof(bound, assumes, true)),
            _ => None,
        }
    }

    /// A difference as small and plain as it can be made.
    fn different(&self, difference: &Refutation, left: &str, right: &str) -> Verdict {
        let like = self.like.borrow();
        let like = like.as_ref().map(|like| &like.search);
        let (refutation, minimality) = self.search.plainest(difference, left, right, like);
        let minimality = self.with_fewest(minimality, &refutation, left, right);
        let explanation = explain(&self.search, &self.schema, &refutation, left, right);
        self.counterexample((refutation, Some(minimality)), (left, right), explanation, None)
    }

    /// How small it is, where every counterexample is known to have as many rows.
    fn with_fewest(
        &self,
        minimality: Minimality,
        refutation: &Refutation,
        left: &str,
        right: &str,
    ) -> Minimality {
        let has_fewest = || self.search.has_at_least(refutation.database().rows(), left, right);
        if minimality == Minimality::Local && has_fewest() { Minimality::Fewest } else { minimality }
    }

    /// Asks the solver for a counterexample with fewer rows in its largest table, again and again, until it proves that there is none. Then
    /// every counterexample has one table with at least as many rows as this one's largest, and a row in each other table that is needed.
    fn make_fewest(&self, verdict: &mut Verdict, left: &str, right: &str, solver: &mut Solver) {
        let (Ok(left_query), Ok(right_query)) = (resolve(left, &self.schema), resolve(right, &self.schema))
        else {
            return;
        };
        while let Verdict::Different(counterexample) = verdict {
            let known_rows = counterexample.refutation.database().rows();
            let of_tables = counterexample.refutation.database().tables.iter().map(|table| table.rows.len());
            let largest = of_tables.max().unwrap_or_default();
            if counterexample.minimality != Some(Minimality::Local)
                || !counterexample.refutation.is_certain()
                || largest < 2
            {
                return;
            }
            let is_better = |refutation: &Refutation| {
                let is_as_plain =
                    refutation.needs().iter().all(|need| counterexample.refutation.needs().contains(need));
                refutation.database().rows() < known_rows && refutation.is_certain() && is_as_plain
            };
            let mut replay = |database: &Witness| self.confirmed(database, left, right).filter(is_better);
            let (semantics, bounds) = (self.options.bounded_semantics(), self.in_time(self.options.bounds()));
            let bounds = Bounds { rows_per_table: largest - 1, ..bounds };
            let (schema, pair) = (self.proved_schema(), (&left_query, &right_query));
            match sqlgauge_prove::bounded(&schema, pair, semantics, bounds, solver, &mut replay) {
                ProofOutcome::NoDifference { .. } => {
                    let needed = self.search.least_tables(left, right).unwrap_or(1);
                    if known_rows < largest + needed {
                        counterexample.minimality = Some(Minimality::Fewest);
                    }
                    return;
                }
                ProofOutcome::Different { found: refutation, .. } => {
                    *verdict = self.different(&refutation, left, right);
                }
                ProofOutcome::Unsupported { .. } | ProofOutcome::Unknown { .. } => return,
            }
        }
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
        let words = self.options.words.then(|| {
            let named: Vec<NamedTable> = tables.iter().map(NamedTable::of).collect();
            in_words(&self.search, &self.schema, &refutation, &named, [left, right])
        });
        let counterexample =
            Counterexample { refutation, minimality, tables, explanation, words, resemblance, defect };
        Verdict::Different(Box::new(counterexample))
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
fn searched_plainly(outcome: Found) -> Result<Searched, RefusedText> {
    match outcome {
        Found::Refuted(refutation) => Ok(Searched::Found(refutation)),
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
    /// What told the queries apart on a database that does not count.
    fn take_undeclared(&mut self) -> Option<Refutation> {
        match self {
            Self::Databases(survived) => survived.undeclared.take().map(|difference| *difference),
            Self::Nothing(_) => None,
        }
    }

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
            Self::Databases(Survived { databases, undecided, open, failed, .. }) => {
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
        VerifyReport {
            verdict,
            stage,
            spelled: [None, None],
            is_tie: false,
            values: ColumnValues::Any,
            free_columns: Vec::new(),
            undeclared: None,
            times: self.times,
        }
    }
}
