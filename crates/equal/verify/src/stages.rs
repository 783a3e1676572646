//! The stages that a pair goes through until something is known of it.
//!
//! # Contract
//! 1. *rules*: `etm@1` proves many pairs equal. Belt and braces: what it calls equal must also return the same on the
//!    first databases of the search. If one tells the queries apart, the witness wins and carries the defect.
//! 2. *data*: where the given database itself tells the queries apart, a slice of its rows that still does, and without any of them does not.
//! 3. *search*: a database that satisfies the schema and on which a real SQLite returned different results, made
//!    smaller as long as it still does. A difference that is only one of several permitted results is none.
//! 4. *smt*: a proof by a solver that no database of a few rows per table tells the queries apart, or a database that may,
//!    which counts only after the same replay. Without a solver it says what is missing. Where its steps end before the bound, the
//!    proof goes as far as it came, if that is two rows per table or more.
//!
//! With [`OnlyStage::Solver`] the last stage alone decides, as in `SpotIt`.
//!
//! A text that SQLite refuses gets its error and no verdict. What no stage decides is unknown, with the reason.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_base::counted;
use sqlgauge_engine::compare::{GoldOrder, Semantics};
use sqlgauge_etm::{MatchReport, Matcher, Profile};
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{Body, Query};
use sqlgauge_sql::{ErrorKind, PrintDialect, ResolveError, print, resolve};

use crate::explain::explain;
use crate::json::NamedTable;
use crate::options::{BELT_DATABASES, LEAST_BOUND, OnlyStage, VerifyOptions};
use crate::said::in_words;
use crate::values::{ColumnValues, UndeclaredDifference};
use crate::verdict::{
    BoundedProof, Counterexample, Defect, NO_SOLVER, Proof, RefusedText, SolverRecord, Stage, Unknown,
    Verdict, VerifyReport,
};
use crate::verifier::{Data, Verifier};
use sqlgauge_prove::{
    Bounds, ProofAssumption, ProofOutcome, ProofReason, ResultSemantics, SOLVER_REMEDY, Solver,
};
use sqlgauge_search::{
    DeclaredColumns, Inapplicable, Mined, Minimality, Need, Refutation, Resemblance, Search, SearchReason,
    SearchVerdict as Found, Side, Survived, Witness, tables_under, with_targets,
};

/// A pair on its way through the stages.
pub(crate) struct PairRun<'a> {
    schema: &'a Arc<Schema>,
    options: VerifyOptions,
    search: &'a Search,
    mined: Option<&'a Mined>,
    data: Option<Data<'a>>,
    left: &'a str,
    right: &'a str,
    /// Both, resolved; `None` for one that is too much for the analysis.
    queries: [Option<Query>; 2],
    /// A search that keeps what the rows of the data keep.
    like: Option<Like>,
    /// The columns that hold what they declare in the databases that count.
    columns: DeclaredColumns,
    /// The schema with NOT NULL for the columns of primary keys that hold no NULL, where it lets them.
    demanded: Option<Reading>,
    /// The first difference on a database that does not count.
    undeclared: Option<Refutation>,
}

/// Both queries over one schema. Over another, be it of the same tables, each is another query: a table's id names its schema.
struct Reading {
    schema: Arc<Schema>,
    /// Both, resolved; `None` for one that is too much for the analysis.
    queries: [Option<Query>; 2],
}

struct Like {
    search: Search,
    /// Whether it is known what the rows keep.
    is_known: bool,
}

/// Whether SQLite refuses a text with that error too. A text that is only too much for the analysis may run.
pub(crate) fn is_refusal(error: &ResolveError) -> bool {
    !matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::TooComplex(_))
}

/// The query of a text; `None` where it is too much for the analysis.
fn resolved(text: &str, schema: &Schema, side: Side) -> Result<Option<Query>, RefusedText> {
    match resolve(text, schema) {
        Ok(query) => Ok(Some(query)),
        Err(error) if is_refusal(&error) => Err(RefusedText { side, message: error.to_string() }),
        Err(_) => Ok(None),
    }
}

impl<'a> PairRun<'a> {
    /// A pair at its beginning. The left text is the gold.
    ///
    /// # Errors
    /// When SQLite refuses one of the texts.
    pub(crate) fn new(
        verifier: &'a Verifier,
        [left, right]: [&'a str; 2],
        data: Option<Data<'a>>,
    ) -> Result<Self, RefusedText> {
        let Verifier { schema, options, search, mined } = verifier;
        let queries = [resolved(left, schema, Side::Left)?, resolved(right, schema, Side::Right)?];
        Ok(Self {
            schema,
            options: *options,
            search,
            mined: mined.as_deref(),
            data,
            left,
            right,
            queries,
            like: None,
            columns: DeclaredColumns::None,
            demanded: None,
            undeclared: None,
        })
    }

    /// Decides the pair. Without a solver there is no bounded proof.
    ///
    /// # Errors
    /// When one of the texts is beyond what SQLite compiles.
    pub(crate) fn verify(mut self, mut solver: Option<&mut Solver>) -> Result<VerifyReport, RefusedText> {
        let is_alone = self.options.only == Some(OnlyStage::Solver);
        let mut report = if is_alone {
            self.solver_alone(solver.as_deref_mut())
        } else {
            self.stages(solver.as_deref_mut())?
        };
        if let (Verdict::Unknown(unknown), false) = (&mut report.verdict, is_alone) {
            unknown.unexercised = self.search.unexercised(self.left, self.right).unwrap_or_default();
            report.is_tie = self.is_tie();
        }
        if let Some(solver) = solver.filter(|_| self.options.proves_fewest) {
            self.make_fewest(&mut report.verdict, solver);
        }
        Ok(self.with_values(report))
    }

    /// The report with the values that were allowed.
    fn with_values(self, report: VerifyReport) -> VerifyReport {
        let differs_on_database =
            self.data.filter(|data| data.results.is_some()).map(|data| self.differs(&data));
        let Self { schema, columns, undeclared, .. } = self;
        let values = match columns {
            DeclaredColumns::None => ColumnValues::Any,
            DeclaredColumns::AllBut(_) => ColumnValues::Declared,
        };
        let of_other = undeclared.filter(|_| !matches!(report.verdict, Verdict::Different(_)));
        let undeclared = of_other.map(|refutation| UndeclaredDifference {
            columns: columns.broken_by(schema, refutation.database()),
            refutation,
        });
        let free_columns = columns.free(schema);
        VerifyReport { differs_on_database, values, free_columns, undeclared, ..report }
    }

    /// The bounded proof alone, with the values that the given rows allow.
    fn solver_alone(&mut self, solver: Option<&mut Solver>) -> VerifyReport {
        let clock = Clock::default();
        let differs = self.data.is_some_and(|data| self.differs(&data));
        let rows = self.data.map(|data| self.look_at_rows(&data).unwrap_or_default());
        self.hold(self.options.values.columns(rows));
        let (verdict, work) = match solver {
            Some(solver) => self.bounded(&Tried::NotAsked, solver, differs),
            None => (no_solver(&Tried::NotAsked), SolverRecord::default()),
        };
        VerifyReport { solver: Some(work), ..clock.report(verdict, Stage::Smt) }
    }

    fn stages(&mut self, solver: Option<&mut Solver>) -> Result<VerifyReport, RefusedText> {
        let mut clock = Clock::default();
        let differing = self.data.filter(|data| self.differs(data));
        // A proof by rules covers whatever SQLite stores, and so does what is to contradict it.
        self.hold(ColumnValues::Any.columns(None));
        if let Some(verdict) = self.rules()? {
            if let Some(data) = &differing {
                self.look_at_rows(data);
            }
            let contradicted = differing.and_then(|data| self.contradicted(&verdict, &data));
            let verdict = contradicted.unwrap_or(verdict);
            let is_tie = differing.is_some() && matches!(verdict, Verdict::Equivalent(_));
            return Ok(VerifyReport { is_tie, ..clock.report(verdict, Stage::Rules) });
        }
        clock.ended(Stage::Rules);
        if let Some(data) = self.data {
            let rows = self.look_at_rows(&data);
            // Of rows that nobody could look at nothing is known.
            self.hold(self.options.values.columns(Some(rows.unwrap_or_default())));
            let sliced = differing.and_then(|data| self.sliced(&data));
            if let Some(refutation) = sliced.filter(|refutation| self.takes_of_data(refutation)) {
                return Ok(clock.report(self.different(&refutation), Stage::Data));
            }
            clock.ended(Stage::Data);
        } else {
            self.hold(self.options.values.columns(None));
        }
        // What only undeclared values of the data make is no difference.
        let differs = differing.is_some() && self.undeclared.is_none();
        let survived = match self.searched()? {
            Searched::Found(refutation) => {
                let is_vacuous = refutation.needs().contains(&Need::EmptyResult);
                let Some(solver) = solver.filter(|_| is_vacuous) else {
                    return Ok(clock.report(self.different(&refutation), Stage::Search));
                };
                clock.ended(Stage::Search);
                let (refutation, stage) = match self.with_rows(solver) {
                    Some(plainer) => (plainer, Stage::Smt),
                    None => (*refutation, Stage::Search),
                };
                return Ok(clock.report(self.different(&refutation), stage));
            }
            Searched::Survived(mut survived) => {
                self.keep_apart(survived.take_undeclared());
                survived
            }
        };
        if let Some(proof) = self.proof_without_null_in_keys() {
            return Ok(VerifyReport {
                is_tie: differs,
                ..clock.report(Verdict::Equivalent(proof), Stage::Rules)
            });
        }
        if differs && survived.is_free_to_choose() {
            // The data rule out a proof, and nothing is left for the solver but differences like those.
            let message = "the results differ on the given database, and SQLite is free to choose there too";
            return Ok(
                clock.report(Verdict::Unknown(survived.unknown("nondeterministic", message)), Stage::Search)
            );
        }
        if self.differ_by_order_alone() {
            let message = "the rows are equal in any order, and the prediction does not ask for the gold's";
            return Ok(
                clock.report(Verdict::Unknown(survived.unknown("nondeterministic", message)), Stage::Search)
            );
        }
        let Some(solver) = solver else {
            return Ok(clock.report(no_solver(&survived), Stage::Search));
        };
        clock.ended(Stage::Search);
        let (verdict, _) = self.bounded(&survived, solver, differs);
        Ok(clock.report(verdict, Stage::Smt))
    }

    /// The verdict by rules; `None` if they prove nothing.
    fn rules(&self) -> Result<Option<Verdict>, RefusedText> {
        let Some(proof) = self.proof(self.schema) else { return Ok(None) };
        match self.search.refute_within(self.left, self.right, BELT_DATABASES) {
            Found::Refuted(refutation) => return Ok(Some(self.defect(*refutation, proof))),
            Found::Inapplicable(reason) => check_runs(&reason)?,
            Found::Survived(_) => {}
        }
        Ok(Some(Verdict::Equivalent(proof)))
    }

    /// The proof over a schema that a comparison of the queries finds, or one of what it does not look at.
    fn proof(&self, schema: &Schema) -> Option<Proof> {
        let matcher = Matcher::new(schema, Profile::Sound);
        Proof::of(&self.compared(&matcher))
            .or_else(|| self.proof_without_order(&matcher))
            .or_else(|| self.proof_before_limit(&matcher))
    }

    /// For results as lists both orders count; else only the gold's does.
    fn compared(&self, matcher: &Matcher<'_>) -> MatchReport {
        match self.options.semantics {
            Semantics::List => matcher.compare(self.left, self.right),
            Semantics::Ex | Semantics::Set | Semantics::Bag => matcher.judge(self.left, self.right),
        }
    }

    /// Whether the gold sorts a set operation that the prediction leaves in SQLite's order, and the queries are equal but for
    /// that: no database shows a difference, and no proof excludes it.
    fn differ_by_order_alone(&self) -> bool {
        let [Some(left), Some(right)] = &self.queries else { return false };
        let is_set = matches!(right.body, Body::SetOperation { .. }) && right.order_by.is_empty();
        if self.options.semantics != Semantics::Ex
            || left.order_by.is_empty()
            || !is_set
            || left.limit.is_some()
        {
            return false;
        }
        let unsorted = Query { order_by: Vec::new(), ..left.clone() };
        let text = print(&unsorted, self.schema, PrintDialect::Sqlite);
        let matcher = Matcher::new(self.schema, Profile::Sound);
        text.is_ok_and(|text| matcher.is_equal(&text, self.right))
    }

    /// Where rows count as a bag or as a set, the queries are equal if they are without ORDER BY, or with DISTINCT.
    fn proof_without_order(&self, matcher: &Matcher<'_>) -> Option<Proof> {
        let [left, right] = self.search.rows_without_order(self.left, self.right)?;
        let proof = Proof::of(&matcher.compare(&left, &right))?;
        Some(proof.with_rows_as(self.options.semantics))
    }

    /// Queries whose rows are equal with their sort keys permit the same results under one LIMIT, whichever rows SQLite
    /// takes among ties.
    fn proof_before_limit(&self, matcher: &Matcher<'_>) -> Option<Proof> {
        let [left, right] = self.search.rows_before_limit(self.left, self.right)?;
        Proof::of(&matcher.compare(&left, &right))
    }

    /// A proof on databases in which primary keys are not NULL, where they are taken for that.
    fn proof_without_null_in_keys(&self) -> Option<Proof> {
        Some(self.proof(&self.demanded.as_ref()?.schema)?.without_null_in_keys())
    }

    /// From here on only databases count in which those columns hold what they declare.
    fn hold(&mut self, columns: DeclaredColumns) {
        self.search.hold(columns.clone());
        self.demanded = columns.demanded(self.schema).map(|schema| self.reading(Arc::new(schema)));
        self.columns = columns;
    }

    fn reading(&self, schema: Arc<Schema>) -> Reading {
        let queries = [self.left, self.right].map(|text| resolve(text, &schema).ok());
        Reading { schema, queries }
    }

    /// Whether a slice of the data counts: what its rows hold does, unless only what columns declare is to.
    fn takes_of_data(&mut self, refutation: &Refutation) -> bool {
        let takes = self.options.values != ColumnValues::Declared || self.search.is_declared(refutation);
        if !takes {
            self.keep_apart(Some(refutation.clone()));
        }
        takes
    }

    /// Keeps the first difference on a database that does not count.
    fn keep_apart(&mut self, refutation: Option<Refutation>) {
        self.undeclared = self.undeclared.take().or(refutation);
    }

    /// What the solver's database says, if it counts.
    fn confirmed(&self, database: &Witness) -> Option<Refutation> {
        let refutation = self.search.replay(database, self.left, self.right)?;
        self.search.is_declared(&refutation).then_some(refutation)
    }

    /// A bounded proof that rests on all of that.
    fn bounded_proof(&self, bound: usize, assumes: Vec<ProofAssumption>) -> BoundedProof {
        let no_null = self.demanded.is_some().then_some(ProofAssumption::NoNullInKey);
        let mut assumes: Vec<ProofAssumption> = assumes.into_iter().chain(no_null).collect();
        assumes.sort();
        BoundedProof { bound, wanted_bound: self.options.bound.max(bound), assumes, permits_less: false }
    }

    /// Sees what the rows keep in the tables that the pair leads to, where a verifier is to keep to it, and which columns hold
    /// what they declare there, where that is known.
    fn look_at_rows(&mut self, data: &Data<'_>) -> Option<DeclaredColumns> {
        let mined = self.mined?;
        let queries = self.queries.iter().flatten();
        let read: BTreeSet<TableId> = queries.flat_map(|query| tables_under(query, self.schema)).collect();
        let tables = with_targets(self.schema, &read).ok()?;
        let constraints = mined.among(tables, data.engine, data.database);
        let declared = constraints.declared(self.schema);
        let is_known = constraints.are_known();
        let search = Search::realistic(self.schema, constraints, self.options.search());
        self.like = search.ok().map(|search| Like { search: search.beside(self.search), is_known });
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
    fn is_tie(&self) -> bool {
        let Some(data) = self.data.filter(|data| self.differs(data)) else { return false };
        let right = data.results.map(|(_, right)| right);
        right.and_then(|rows| self.search.permits(data.engine, data.database, self.left, rows)) == Some(true)
    }

    /// A slice of the data on which the queries differ; with what its rows refer to, if that can be had.
    fn sliced(&self, data: &Data<'_>) -> Option<Refutation> {
        let slice = |search: &Search| search.slice(data.engine, data.database, self.left, self.right);
        let refutation = slice(self.search)?;
        let keeps_all = |refutation: &Refutation| {
            self.resemblance(refutation).is_none_or(|resemblance| resemblance.is_complete() == Some(true))
        };
        if keeps_all(&refutation) {
            return Some(refutation);
        }
        let whole = self.like.as_ref().and_then(|like| slice(&like.search));
        let whole = whole.and_then(|whole| self.search.replay(whole.database(), self.left, self.right));
        Some(whole.filter(keeps_all).unwrap_or(refutation))
    }

    /// What the data say where the rules call the queries equal and a slice of it tells them apart.
    fn contradicted(&self, verdict: &Verdict, data: &Data<'_>) -> Option<Verdict> {
        let Verdict::Equivalent(proof) = verdict else { return None };
        Some(self.defect(self.sliced(data)?, proof.clone()))
    }

    /// A counterexample to what the rules have proved.
    fn defect(&self, refutation: Refutation, proof: Proof) -> Verdict {
        let reproduce = self.command_line(&refutation);
        self.counterexample(refutation, None, None, Some(Defect { proof, reproduce }))
    }

    /// What a counterexample keeps of what the rows of the given database keep.
    fn resemblance(&self, refutation: &Refutation) -> Option<Resemblance> {
        self.like.as_ref()?.search.resemblance(refutation.database(), self.left, self.right)
    }

    /// A counterexample that keeps what the rows of the given database keep.
    fn found_like_them(&self) -> Option<Refutation> {
        let like = self.like.as_ref().filter(|like| like.is_known)?;
        let verdict = like.search.refute_minimised(self.left, self.right);
        let refutation = self.search.replay(verdict.refutation()?.database(), self.left, self.right)?;
        let resemblance = self.resemblance(&refutation)?;
        (resemblance.is_complete() == Some(true)).then_some(refutation)
    }

    /// Some rows of the given database on which the queries differ, though not on all of them.
    fn part_of_rows(&self) -> Option<Refutation> {
        let (like, data) = (self.like.as_ref()?, self.data?);
        let part = like.search.part(data.engine, data.database, self.left, self.right)?;
        let refutation = self.search.replay(part.database(), self.left, self.right)?;
        let resemblance = self.resemblance(&refutation)?;
        (resemblance.is_complete() == Some(true)).then_some(refutation)
    }

    fn searched(&self) -> Result<Searched, RefusedText> {
        let is_plain = |refutation: &Refutation| refutation.needs().is_empty();
        let like_them = self.found_like_them().filter(is_plain).map(Box::new);
        if let Some(refutation) = like_them.as_ref().filter(|refutation| refutation.is_certain()) {
            return Ok(Searched::Found(refutation.clone()));
        }
        // A difference that no choice explains comes first, then one that keeps more of the rows.
        let outcome = self.search.refute_minimised(self.left, self.right);
        if matches!(outcome, Found::Refuted(_))
            && let Some(part) = self.part_of_rows().filter(|part| part.is_certain() && is_plain(part))
        {
            return Ok(Searched::Found(Box::new(part)));
        }
        Ok(match (outcome, like_them) {
            (Found::Refuted(refutation), _) if refutation.is_certain() => Searched::Found(refutation),
            (_, Some(refutation)) | (Found::Refuted(refutation), None) => Searched::Found(refutation),
            (Found::Survived(survived), None) => Searched::Survived(Tried::Databases(survived)),
            (Found::Inapplicable(reason), None) => {
                check_runs(&reason)?;
                Searched::Survived(Tried::Nothing(reason))
            }
        })
    }

    /// Asks the solver within those bounds and the time that the stages before have left, and says what it did; `None` where a
    /// query could not be resolved.
    fn ask<T>(
        &self,
        solver: &mut Solver,
        bounds: Bounds<'_>,
        mut confirm: impl FnMut(&Witness) -> Option<T>,
    ) -> Option<(ProofOutcome<T>, SolverRecord)> {
        let (schema, queries) = match &self.demanded {
            Some(demanded) => (&demanded.schema, &demanded.queries),
            None => (self.schema, &self.queries),
        };
        let [Some(left), Some(right)] = queries else { return None };
        let time = self.search.time_left().map_or(bounds.time, |left| left.min(bounds.time));
        let bounds = Bounds { time, columns: &self.columns, ..bounds };
        let semantics = self.options.bounded_semantics();
        let (mut candidates, mut replayed) = (0, 0);
        let mut counted = |database: &Witness| {
            let difference = confirm(database);
            candidates += 1;
            replayed += usize::from(difference.is_some());
            difference
        };
        let pair = (left, right);
        let (outcome, inexact) =
            sqlgauge_prove::bounded(schema, pair, semantics, bounds, solver, &mut counted);
        let work = SolverRecord {
            bound: match &outcome {
                ProofOutcome::NoDifference { bound, .. } | ProofOutcome::Different { bound, .. } => {
                    Some(*bound)
                }
                ProofOutcome::Unknown { proved, .. } => *proved,
                ProofOutcome::Unsupported { .. } => None,
            },
            encoded: !matches!(outcome, ProofOutcome::Unsupported { .. }),
            inexact: inexact.iter().map(ToString::to_string).collect(),
            candidates,
            confirmed: replayed,
        };
        Some((outcome, work))
    }

    /// A difference on a database on which one of the queries returns a row, by the solver.
    fn with_rows(&self, solver: &mut Solver) -> Option<Refutation> {
        let is_plain = |refutation: &Refutation| !refutation.needs().contains(&Need::EmptyResult);
        let replay = |database: &Witness| self.confirmed(database).filter(is_plain);
        match self.ask(solver, self.options.bounds_with_rows(), replay)?.0 {
            ProofOutcome::Different { found: refutation, .. } => Some(refutation),
            _ => None,
        }
    }

    /// The verdict of the bounded proof, and what the solver did for it. `differs` says that the results do on the given database.
    fn bounded(&self, tried: &Tried, solver: &mut Solver, differs: bool) -> (Verdict, SolverRecord) {
        let replay = |database: &Witness| self.confirmed(database);
        let Some((outcome, work)) = self.ask(solver, self.options.bounds(), replay) else {
            let unknown = tried.unknown("unsupported:resolve", "a query cannot be resolved");
            return (Verdict::Unknown(unknown), SolverRecord::default());
        };
        let verdict = match self.of_outcome(outcome, tried, solver) {
            // A bound too small, or a choice that is SQLite's: nobody knows which.
            Verdict::EquivalentUpTo(proof) if differs => {
                let message = format!(
                    "the results differ on the given database, and on none of at most {} per table",
                    counted(proof.bound, "row")
                );
                Verdict::Unknown(tried.unknown("differs-beyond-bound", &message))
            }
            verdict => verdict,
        };
        (verdict, work)
    }

    fn of_outcome(&self, outcome: ProofOutcome<Refutation>, tried: &Tried, solver: &mut Solver) -> Verdict {
        if matches!(outcome, ProofOutcome::Unknown { .. })
            && let Some(proof) = self.no_more(solver)
        {
            return Verdict::EquivalentUpTo(proof);
        }
        match outcome {
            ProofOutcome::NoDifference { bound, assumes } => {
                Verdict::EquivalentUpTo(self.bounded_proof(bound, assumes))
            }
            ProofOutcome::Unknown { reason, proved: Some(bound), assumes }
                if reason.is_budget() && bound >= LEAST_BOUND =>
            {
                Verdict::EquivalentUpTo(self.bounded_proof(bound, assumes))
            }
            ProofOutcome::Different { found: refutation, .. } => self.different(&refutation),
            ProofOutcome::Unsupported { construct } => {
                let message = format!("the bounded proof does not know {construct}");
                Verdict::Unknown(tried.unknown(&format!("unsupported:{construct}"), &message))
            }
            ProofOutcome::Unknown { reason, proved, .. } => {
                let so_far = proved.map_or_else(String::new, |bound| {
                    format!(", beyond a proof up to {} per table", counted(bound, "row"))
                });
                let message = match (tried, reason) {
                    // Nothing that the search cannot handle is replayed.
                    (Tried::Nothing(_), ProofReason::Refused(_)) => {
                        format!("the solver's counterexamples cannot be checked{so_far}")
                    }
                    _ => format!("{reason}{so_far}"),
                };
                Verdict::Unknown(tried.unknown(&reason.code(), &message))
            }
        }
    }

    /// A proof that the right query permits no result that the left one does not, where that one leaves SQLite a choice of rows.
    fn no_more(&self, solver: &mut Solver) -> Option<BoundedProof> {
        let has_limit = self.queries[0].as_ref().is_some_and(|left| left.limit.is_some());
        if !has_limit || self.options.bounded_semantics() == ResultSemantics::Set {
            return None;
        }
        match self.ask(solver, self.options.bounds_of_no_more(), |_| None::<()>)?.0 {
            ProofOutcome::NoDifference { bound, assumes } => {
                Some(BoundedProof { permits_less: true, ..self.bounded_proof(bound, assumes) })
            }
            _ => None,
        }
    }

    /// A difference as small and plain as it can be made.
    fn different(&self, difference: &Refutation) -> Verdict {
        let like = self.like.as_ref().map(|like| &like.search);
        let (refutation, minimality) = self.search.plainest(difference, self.left, self.right, like);
        let minimality = self.with_fewest(minimality, &refutation);
        let explanation = match &self.queries {
            [Some(left), Some(right)] => explain(self.search, self.schema, &refutation, [left, right]),
            _ => None,
        };
        self.counterexample(refutation, Some(minimality), explanation, None)
    }

    /// How small it is, where every counterexample is known to have as many rows.
    fn with_fewest(&self, minimality: Minimality, refutation: &Refutation) -> Minimality {
        let has_fewest = || self.search.has_at_least(refutation.database().rows(), self.left, self.right);
        if minimality == Minimality::Local && has_fewest() { Minimality::Fewest } else { minimality }
    }

    /// Asks the solver for a counterexample with fewer rows in its largest table, again and again, until it proves that there is none. Then
    /// every counterexample has one table with at least as many rows as this one's largest, and a row in each other table that is needed.
    fn make_fewest(&self, verdict: &mut Verdict, solver: &mut Solver) {
        while let Verdict::Different(counterexample) = verdict {
            let smallest = &counterexample.refutation;
            let known_rows = smallest.database().rows();
            let of_tables = smallest.database().tables.iter().map(|table| table.rows.len());
            let largest = of_tables.max().unwrap_or_default();
            if counterexample.minimality != Some(Minimality::Local) || !smallest.is_certain() || largest < 2 {
                return;
            }
            let is_better = |refutation: &Refutation| {
                let is_as_plain = refutation.needs().iter().all(|need| smallest.needs().contains(need));
                refutation.database().rows() < known_rows && refutation.is_certain() && is_as_plain
            };
            let replay = |database: &Witness| self.confirmed(database).filter(is_better);
            let bounds = Bounds { rows_per_table: largest - 1, ..self.options.bounds() };
            match self.ask(solver, bounds, replay).map(|(outcome, _)| outcome) {
                Some(ProofOutcome::NoDifference { .. }) => {
                    let needed = self.search.least_tables(self.left, self.right).unwrap_or(1);
                    if known_rows < largest + needed {
                        counterexample.minimality = Some(Minimality::Fewest);
                    }
                    return;
                }
                Some(ProofOutcome::Different { found: refutation, .. }) => {
                    *verdict = self.different(&refutation);
                }
                Some(ProofOutcome::Unsupported { .. } | ProofOutcome::Unknown { .. }) | None => return,
            }
        }
    }

    fn counterexample(
        &self,
        refutation: Refutation,
        minimality: Option<Minimality>,
        explanation: Option<String>,
        defect: Option<Defect>,
    ) -> Verdict {
        let texts = [self.left, self.right];
        let tables = self.search.read_tables(refutation.database(), self.left, self.right);
        let resemblance = self.resemblance(&refutation);
        let words = self.options.words.then(|| {
            let named: Vec<NamedTable> = tables.iter().map(NamedTable::of).collect();
            in_words(self.search, self.schema, &refutation, &named, texts)
        });
        let counterexample =
            Counterexample { refutation, minimality, tables, explanation, words, resemblance, defect };
        Verdict::Different(Box::new(counterexample))
    }

    /// A command that makes the schema and verifies the pair, in one line for a shell.
    fn command_line(&self, refutation: &Refutation) -> String {
        let tables = refutation.database().tables.iter();
        let ddl: Vec<String> = tables.map(|table| format!("{};", table.create_statement())).collect();
        let semantics = self.options.semantics;
        format!(
            "printf %s {} | sqlgauge verify --schema - --left {} --right {} --semantics {semantics}",
            quoted(&ddl.join(" ")),
            quoted(self.left),
            quoted(self.right)
        )
    }
}

/// A text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What SQLite refuses is an error of the caller's and no verdict.
fn check_runs(reason: &Inapplicable) -> Result<(), RefusedText> {
    match (&reason.reason, reason.side) {
        (SearchReason::Parse, Some(side)) => Err(RefusedText { side, message: reason.message.clone() }),
        _ => Ok(()),
    }
}

fn no_solver(tried: &Tried) -> Verdict {
    let message = format!("a bounded proof needs a solver, and none was found; {SOLVER_REMEDY}");
    Verdict::Unknown(tried.unknown(NO_SOLVER, &message))
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
    /// The solver decides alone.
    NotAsked,
}

impl Tried {
    /// What told the queries apart on a database that does not count.
    fn take_undeclared(&mut self) -> Option<Refutation> {
        match self {
            Self::Databases(survived) => survived.undeclared.take().map(|difference| *difference),
            Self::Nothing(_) | Self::NotAsked => None,
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
                let message = format!("{}; {message}", inapplicable.sentence());
                Unknown { reason: inapplicable.code(), message, ..Unknown::default() }
            }
            Self::NotAsked => {
                Unknown { reason: reason.to_owned(), message: message.to_owned(), ..Unknown::default() }
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
                    ..Unknown::default()
                }
            }
        }
    }
}

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
            differs_on_database: None,
            values: ColumnValues::Any,
            free_columns: Vec::new(),
            undeclared: None,
            solver: None,
            times: self.times,
        }
    }
}
