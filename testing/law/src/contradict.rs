//! Do `match`, `verify` and SQLite ever contradict each other?
//!
//! Pairs of two kinds, half of each: made equal by an application of a rule or its inverse, and near misses, in which
//! one node is another. Of every pair the rules, the verifier and the rows on random databases are asked, and no two of
//! them may say what cannot both be so ([`Contradiction`]). A rule that is broken on purpose makes pairs that are not
//! equal ([`Options::broken`]); the program must find it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlgauge_etm::law::Stepper;
use sqlgauge_etm::{Matcher, Profile, Rule};
use sqlgauge_prove::{Solver, SolverLimits};
use sqlgauge_search::{Refutation, Witness};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Index, IndexPart, Indexed, Schema, Table};
use sqlgauge_sql::tree::Query;
use sqlgauge_verify::{Verdict, Verifier};

use crate::check::{Kind, differ};
use crate::compare::same_by_contract;
use crate::database::{Database, Layout, Outcome, open};
use crate::dice::Dice;
use crate::generate::{Generator, mutant, text};
use crate::plant::{Broken, plants};
use crate::report::breaks_law;
use crate::shape::quoted;
use crate::workers;
use crate::world::{World, shapes};

/// Time for the bounded proof of one pair: most that come to an end do so in a tenth of it.
const SOLVER_TIME: Duration = Duration::from_secs(2);
/// Queries on one set of databases.
const QUERIES_PER_ROUND: usize = 120;
/// How many contradictions of one kind are kept with their texts.
const EXAMPLES: usize = 6;

/// How much is to be tried.
#[derive(Debug, Clone)]
pub struct Options {
    /// Pairs after which no further round begins.
    pub pairs: u64,
    /// Time after which no further round begins.
    pub time: Duration,
    pub threads: usize,
    pub seed: u64,
    /// The solver for bounded proofs.
    pub solver: Option<PathBuf>,
    /// The rule that makes the pairs alone, with each defect that the registry has for it in turn. `match` and `verify`
    /// keep theirs.
    pub broken: Option<&'static Rule>,
    /// Whether `verify` forgets the UNIQUE indexes that no constraint stands for: a planted defect, which the program must find.
    pub forgets_indexes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairOrigin {
    /// By an application of a rule, or its inverse.
    Equal,
    /// By a change of one node.
    NearMiss,
}

/// What cannot both be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contradiction {
    /// A rule made one query of the other, and their rows differ.
    MadeEqualAndRowsDiffer,
    /// `match` calls them equal, and their rows differ.
    MatchAndRowsDiffer,
    /// `verify` calls them equivalent by rules, and their rows differ.
    EquivalentAndRowsDiffer,
    /// A rule made one query of the other, and `verify` has a database that tells them apart.
    MadeEqualAndDifferent,
    /// `verify` has a proof by rules and a database that tells them apart.
    ProvedAndDifferent,
    /// The database by which `verify` tells them apart does not.
    WitnessWithoutDifference,
    /// The rows of that database break the schema: SQLite does not take them into all its tables, views and indexes.
    WitnessBreaksSchema,
    /// Both run, and `verify` refuses one.
    RunsAndRefused,
}

/// A pair of which two things are said that cannot both be so.
#[derive(Debug, Clone)]
pub struct Example {
    /// What is said.
    pub contradiction: Contradiction,
    pub origin: PairOrigin,
    /// The first query.
    pub left: String,
    /// The second.
    pub right: String,
    /// More about it: the schema, the witness, an error.
    pub note: String,
}

/// What was said of the pairs.
#[derive(Debug, Default)]
pub struct Tally {
    pub pairs: BTreeMap<PairOrigin, u64>,
    /// Those that `match` calls equal.
    pub matched: BTreeMap<PairOrigin, u64>,
    /// Those whose rows differ on a random database.
    pub told_apart: BTreeMap<PairOrigin, u64>,
    /// Verdicts of `verify`.
    pub verdicts: BTreeMap<(PairOrigin, &'static str), u64>,
    /// Why a verdict is `unknown`.
    pub reasons: BTreeMap<String, u64>,
    pub contradictions: BTreeMap<Contradiction, u64>,
    /// Some of them.
    pub examples: Vec<Example>,
}

impl Tally {
    /// All pairs.
    pub fn total(&self) -> u64 {
        self.pairs.values().sum()
    }

    pub fn markdown(&self) -> String {
        let mut out = format!("{} pairs\n\n| | made equal | near misses |\n|---|---|---|\n", self.total());
        let mut row = |name: &str, count: &dyn Fn(PairOrigin) -> Option<u64>| {
            let [equal, near] =
                [PairOrigin::Equal, PairOrigin::NearMiss].map(|origin| count(origin).unwrap_or(0));
            let _ = writeln!(out, "| {name} | {equal} | {near} |");
        };
        row("pairs", &|origin| self.pairs.get(&origin).copied());
        row("equal by `match`", &|origin| self.matched.get(&origin).copied());
        row("rows differ on a random database", &|origin| self.told_apart.get(&origin).copied());
        for verdict in ["equivalent", "equivalent_up_to", "different", "unknown"] {
            row(verdict, &|origin| self.verdicts.get(&(origin, verdict)).copied());
        }
        for (reason, count) in &self.reasons {
            let _ = writeln!(out, "- unknown, {reason}: {count}");
        }
        let _ = writeln!(out, "\n{} contradictions", self.contradictions.values().sum::<u64>());
        for (contradiction, count) in &self.contradictions {
            let _ = writeln!(out, "- {contradiction:?}: {count}");
        }
        for Example { contradiction, origin, left, right, note } in &self.examples {
            let _ =
                writeln!(out, "\n### {contradiction:?} ({origin:?})\n```sql\n{left};\n{right};\n{note}\n```");
        }
        out
    }

    fn note(&mut self, findings: PairFindings, origin: PairOrigin, left: &str, right: &str, ddl: &[String]) {
        *self.pairs.entry(origin).or_default() += 1;
        *self.matched.entry(origin).or_default() += u64::from(findings.matched);
        *self.told_apart.entry(origin).or_default() += u64::from(findings.rows_differ);
        if let Some(verdict) = findings.verdict {
            *self.verdicts.entry((origin, verdict)).or_default() += 1;
        }
        if let Some(reason) = findings.reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
        for (contradiction, note) in findings.contradictions {
            let count = self.contradictions.entry(contradiction).or_default();
            *count += 1;
            if *count <= EXAMPLES as u64 {
                let note = format!("-- {}\n{note}", ddl.join("; "));
                let (left, right) = (left.to_owned(), right.to_owned());
                self.examples.push(Example { contradiction, origin, left, right, note });
            }
        }
    }
}

/// Makes pairs and asks about them until the options are exhausted.
pub fn hunt(options: &Options) -> Tally {
    let tally = Mutex::new(Tally::default());
    let round = AtomicU64::new(0);
    let started = Instant::now();
    let worker = || {
        let generator = Generator::default();
        let shapes = shapes();
        let mut solver = options.solver.as_ref().map(|path| Solver::new(path, SolverLimits::default()));
        loop {
            let number = round.fetch_add(1, Ordering::Relaxed);
            let done = tally.lock().map_or(u64::MAX, |tally| tally.total());
            if done >= options.pairs || started.elapsed() >= options.time {
                return;
            }
            let mut dice = Dice::new(options.seed, number);
            let Ok(world) = World::draw(&shapes, &mut dice) else { continue };
            let broken = options.broken.and_then(|rule| broken(rule, number, &world));
            let Ok(mut judge) = Judge::new(&world, broken, options.forgets_indexes, solver.take()) else {
                continue;
            };
            for _ in 0..QUERIES_PER_ROUND {
                judge.play(&generator, &mut dice, &tally);
            }
            solver = judge.solver;
        }
    };
    workers::run(options.threads, &worker);
    tally.into_inner().unwrap_or_default()
}

/// The rule with one of its defects, another in each round.
fn broken<'w>(rule: &'static Rule, round: u64, world: &'w World) -> Option<Broken<'w>> {
    let defects = plants(rule);
    let at = round.checked_rem(defects.len() as u64)?;
    let defect = defects.get(usize::try_from(at).ok()?)?;
    Some(Broken::new(rule, *defect, world))
}

/// The schema without the UNIQUE indexes that no constraint stands for.
fn without_indexes(schema: &Schema) -> Schema {
    let mut tables = schema.tables().to_vec();
    for table in &mut tables {
        let columns = table.columns.clone();
        table.indexes.retain(|index| !index.limits_further(&columns));
    }
    Schema::new(tables)
}

/// Whether SQLite takes the rows of a counterexample into a database with all of the schema.
fn loads(witness: &Witness, ddl: &[String]) -> bool {
    let Ok(connection) = open(ddl) else { return false };
    witness.tables.iter().all(|table| {
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        table.rows.iter().all(|row| {
            let values: Vec<String> = row.iter().map(sqlgauge_search::literal).collect();
            let (columns, values) = (columns.join(", "), values.join(", "));
            let insert = format!("INSERT INTO {} ({columns}) VALUES ({values})", quoted(&table.name));
            connection.execute(&insert, []).is_ok()
        })
    })
}

/// What is said of one pair.
#[derive(Default)]
struct PairFindings {
    matched: bool,
    rows_differ: bool,
    verdict: Option<&'static str>,
    reason: Option<String>,
    contradictions: Vec<(Contradiction, String)>,
}

/// Asks about pairs over one world.
struct Judge<'w> {
    world: &'w World,
    matcher: Matcher<'w>,
    verifier: Verifier,
    solver: Option<Solver>,
    broken: Option<Broken<'w>>,
}

impl<'w> Judge<'w> {
    fn new(
        world: &'w World,
        broken: Option<Broken<'w>>,
        forgets_indexes: bool,
        solver: Option<Solver>,
    ) -> anyhow::Result<Self> {
        let options = sqlgauge_verify::VerifyOptions {
            solver_time: SOLVER_TIME,
            // Witnesses are run here in one layout of their rows, which need not show what a query permits besides.
            counts_choices: false,
            // Proofs are held to whatever SQLite stores.
            values: sqlgauge_verify::ColumnValues::Any,
            ..sqlgauge_verify::VerifyOptions::default()
        };
        let schema = if forgets_indexes { without_indexes(&world.schema) } else { (*world.schema).clone() };
        let verifier = Verifier::new(schema, options)?;
        let matcher = Matcher::new(&world.schema, Profile::Sound);
        Ok(Self { world, matcher, verifier, solver, broken })
    }

    /// One query, and a pair of either kind with it; with a broken rule only what that makes.
    fn play(&mut self, generator: &Generator, dice: &mut Dice, tally: &Mutex<Tally>) {
        let drawn = match &self.broken {
            Some(broken) => generator.draw_for(broken.rule().id, self.world, dice),
            None => Some(generator.draw(self.world, dice)),
        };
        let Some(sql) = drawn else { return };
        let equal = self.made_equal(&sql, dice);
        let near = if self.broken.is_none() { self.near_miss(&sql, dice) } else { None };
        let unique = if self.broken.is_none() && dice.chance(10) { self.equal_by_index(dice) } else { None };
        for (origin, pair) in
            [(PairOrigin::Equal, equal), (PairOrigin::NearMiss, near), (PairOrigin::Equal, unique)]
        {
            let Some((left, right)) = pair else { continue };
            let findings = self.ask(origin, &left, &right);
            if let Ok(mut tally) = tally.lock() {
                tally.note(findings, origin, &left, &right, &self.world.ddl);
            }
        }
        self.world.databases.iter().for_each(Database::forget);
    }

    /// A query before and after one application of a rule, or all of them, in either order.
    fn made_equal(&self, sql: &str, dice: &mut Dice) -> Option<(String, String)> {
        let (left, right) = match &self.broken {
            Some(broken) => dice.pick_any(&broken.applications(sql).collect::<Vec<_>>())?.clone(),
            None => self.applied(sql, dice)?,
        };
        let pair = if dice.chance(50) { (right, left) } else { (left, right) };
        self.run(&pair).then_some(pair)
    }

    /// A query before and after one application of a rule, or several in a row; `None` if no rule changes it.
    fn applied(&self, sql: &str, dice: &mut Dice) -> Option<(String, String)> {
        let query = resolve(sql, &self.world.schema).ok().filter(Stepper::has_normal_form)?;
        let start = Stepper::start(&query);
        let mut stages = vec![text(&start, &self.world.schema)?];
        let steps = Stepper::new(&self.world.schema).steps(&start).steps;
        stages.extend(steps.iter().map_while(|step| text(&step.query, &self.world.schema)));
        stages.dedup();
        let at = dice.below(stages.len().checked_sub(2)? + 1);
        let first = if dice.chance(20) { 0 } else { at };
        Some((stages[first].clone(), stages[at + 1].clone()))
    }

    /// A query and one that differs from it in one node.
    fn near_miss(&self, sql: &str, dice: &mut Dice) -> Option<(String, String)> {
        let query = resolve(sql, &self.world.schema).ok().filter(Stepper::has_normal_form)?;
        let other = mutant(&query, &self.world.schema, dice);
        let pair = (sql.to_owned(), text(&other, &self.world.schema)?);
        let has_form =
            resolve(&pair.1, &self.world.schema).is_ok_and(|other| Stepper::has_normal_form(&other));
        (pair.0 != pair.1 && has_form && self.run(&pair)).then_some(pair)
    }

    /// Two queries that are equal by a UNIQUE index that no constraint stands for: they count the rows that it is about, and the
    /// different entries of these.
    fn equal_by_index(&self, dice: &mut Dice) -> Option<(String, String)> {
        let tables = self.world.schema.tables().iter();
        let indexes: Vec<(&Table, &Index)> = tables
            .flat_map(|table| table.indexes.iter().map(move |index| (table, index)))
            .filter(|(table, index)| index.limits_further(&table.columns))
            .collect();
        let (table, index) = *dice.pick_any(&indexes)?;
        let entry = |part: &IndexPart| {
            let of = match &part.of {
                Indexed::Column(at) => quoted(&table.column(*at)?.name),
                Indexed::Expression(text) => format!("({text})"),
            };
            Some(format!("{of} COLLATE {}", quoted(part.collation.name())))
        };
        let entries: Vec<String> = index.parts.iter().map(entry).collect::<Option<_>>()?;
        let conditions = entries.iter().map(|entry| format!("{entry} IS NOT NULL"));
        let conditions = conditions.chain(index.filter.as_ref().map(|filter| format!("({filter})")));
        let conditions = conditions.collect::<Vec<_>>().join(" AND ");
        let rows = format!("FROM {} WHERE {conditions}", quoted(&table.name));
        let pair = (
            format!("SELECT count(*) {rows}"),
            format!("SELECT count(*) FROM (SELECT DISTINCT {} {rows})", entries.join(", ")),
        );
        self.run(&pair).then_some(pair)
    }

    /// Whether SQLite takes both. A text that names an index does not run on the databases of the verifier, which have
    /// none but those of constraints.
    fn run(&self, (left, right): &(String, String)) -> bool {
        let Some(first) = self.world.databases.first() else { return false };
        let takes =
            |sql: &String| !sql.contains(" INDEXED BY ") && !matches!(&*first.run(sql), Outcome::Refused(_));
        takes(left) && takes(right)
    }

    fn ask(&mut self, origin: PairOrigin, left: &str, right: &str) -> PairFindings {
        let mut findings =
            PairFindings { matched: self.matcher.is_equal(left, right), ..PairFindings::default() };
        let rows = resolve(left, &self.world.schema).ok().and_then(|query| self.rows(left, &query, right));
        findings.rows_differ = rows.is_some();
        let mut contradict = |holds: bool, what: Contradiction, note: &str| {
            if holds {
                findings.contradictions.push((what, note.to_owned()));
            }
        };
        let is_made = origin == PairOrigin::Equal;
        if let Some(database) = &rows {
            contradict(is_made, Contradiction::MadeEqualAndRowsDiffer, database);
            contradict(findings.matched, Contradiction::MatchAndRowsDiffer, database);
        }
        let report = match self.verifier.verify(left, right, self.solver.as_mut()) {
            Ok(report) => report,
            Err(refused) => {
                contradict(true, Contradiction::RunsAndRefused, &refused.to_string());
                return findings;
            }
        };
        match &report.verdict {
            // Under a LIMIT with ties the same results are permitted, and rows may differ.
            Verdict::Equivalent(_) if self.matcher.judge(left, right).verdict.is_equal() => {
                if let Some(database) = &rows {
                    contradict(true, Contradiction::EquivalentAndRowsDiffer, database);
                }
            }
            Verdict::Different(counterexample) => {
                let script = counterexample.refutation.database().script();
                contradict(is_made, Contradiction::MadeEqualAndDifferent, &script);
                contradict(counterexample.defect.is_some(), Contradiction::ProvedAndDifferent, &script);
                let shows = self.shows(&counterexample.refutation, left, right);
                contradict(!shows, Contradiction::WitnessWithoutDifference, &script);
                let loads = loads(counterexample.refutation.database(), &self.world.ddl);
                contradict(!loads, Contradiction::WitnessBreaksSchema, &script);
            }
            Verdict::Equivalent(_) | Verdict::EquivalentUpTo(_) | Verdict::Unknown(_) => {}
        }
        findings.verdict = Some(report.verdict.name());
        if let Verdict::Unknown(unknown) = &report.verdict {
            findings.reason = Some(unknown.reason.clone());
        }
        findings
    }

    /// The first random database on which the rows differ, as statements.
    fn rows(&self, left: &str, query: &Query, right: &str) -> Option<String> {
        let (kind, place, note) = differ(left, query, right, &self.world.databases)?;
        let statements = self.world.databases.get(place).map(|database| database.inserts.join(";\n"));
        (breaks_law(kind) && kind != Kind::Fails)
            .then(|| format!("{}\n-- {kind:?} {note}", statements.unwrap_or_default()))
    }

    /// Whether the queries differ on the counterexample, run anew.
    fn shows(&self, refutation: &Refutation, left: &str, right: &str) -> bool {
        let script = [refutation.database().script()];
        let schema = &self.world.schema;
        let Ok(database) = Database::of(&script, schema, Vec::new(), Vec::new(), Layout::Plain) else {
            return false;
        };
        match (&*database.run(left), &*database.run(right)) {
            (Outcome::Rows(left), Outcome::Rows(right)) => !same_by_contract(left, right),
            _ => false,
        }
    }
}
