//! Round after round of queries, on several threads, until enough applications were tried.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlgauge_etm::law::{Lies, Stepper};
use sqlgauge_etm::{Matcher, Profile, Rule, RuleStage, find};
use sqlgauge_sql::resolve;

use crate::check::{Kind, Report, Violation, check, check_pair};
use crate::dice::Dice;
use crate::generate::{Generator, mutant, respelled, text};
use crate::plant::sound_rules;
use crate::shrink::{Shrunk, form, shrink};
use crate::workers;
use crate::world::{World, shapes};

/// How much is to be tried.
#[derive(Debug, Clone)]
pub struct Options {
    /// Applications of rules after which no further round begins.
    pub applications: u64,
    /// Time after which no further round begins.
    pub time: Duration,
    pub threads: usize,
    pub seed: u64,
    /// How many different violations of one rule are made small and kept.
    pub examples: usize,
    /// Queries on one set of databases.
    pub queries_per_round: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            applications: 1_000_000,
            time: Duration::from_hours(24),
            threads: 2,
            seed: 1,
            examples: 6,
            queries_per_round: 250,
        }
    }
}

/// What a hunt has found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Queries that were drawn, and those of them that ran.
    pub queries: u64,
    /// Queries that ran.
    pub ran: u64,
    /// Pairs that `match` called equal.
    pub equal_pairs: u64,
    /// Applications by rule.
    pub applications: BTreeMap<String, u64>,
    /// Violations by rule and kind.
    pub counts: BTreeMap<(String, Kind), u64>,
    /// Different violations, made small.
    pub examples: Vec<Shrunk>,
    seen: HashSet<(String, Kind, String)>,
}

impl Findings {
    /// All applications of rules, those that name resolution carries out not counted.
    pub fn total(&self) -> u64 {
        let counted = self.applications.iter().filter(|(name, _)| !is_of_resolution(name));
        counted.map(|(_, count)| count).sum()
    }

    fn wants(&self, violation: &Violation, examples: usize) -> bool {
        let matches = self
            .examples
            .iter()
            .filter(|e| e.violation.rule == violation.rule && e.violation.kind == violation.kind);
        matches.count() < examples
    }
}

fn is_of_resolution(name: &str) -> bool {
    find(name).is_some_and(|rule| matches!(rule.stage, RuleStage::Resolution))
}

/// Tries the law until the options are exhausted; `progress` sees the findings now and then.
pub fn hunt(options: &Options, progress: &(dyn Fn(&Findings, Duration) + Sync)) -> Findings {
    let findings = Mutex::new(Findings::default());
    let round = AtomicU64::new(0);
    let started = Instant::now();
    let last = Mutex::new(Instant::now());
    let worker = || {
        let generator = Generator::default();
        let shapes = shapes();
        loop {
            let number = round.fetch_add(1, Ordering::Relaxed);
            let done = findings.lock().map_or(u64::MAX, |findings| findings.total());
            if done >= options.applications || started.elapsed() >= options.time {
                return;
            }
            play(number, options, &generator, &shapes, &findings);
            if let (Ok(mut last), Ok(findings)) = (last.lock(), findings.lock())
                && last.elapsed() > Duration::from_secs(20)
            {
                *last = Instant::now();
                progress(&findings, started.elapsed());
            }
        }
    };
    workers::run(options.threads, &worker);
    findings.into_inner().unwrap_or_default()
}

/// One round: a world and its queries.
fn play(
    number: u64,
    options: &Options,
    generator: &Generator,
    shapes: &[(String, Vec<String>)],
    findings: &Mutex<Findings>,
) {
    let mut dice = Dice::new(options.seed, number);
    let Ok(world) = World::draw(shapes, &mut dice) else { return };
    let stepper = Stepper::new(&world.schema);
    let matcher = Matcher::new(&world.declared, Profile::Sound);
    for _ in 0..options.queries_per_round {
        let sql = generator.draw(&world, &mut dice);
        let spelling = if dice.chance(15) { respelled(&sql, &mut dice) } else { sql.clone() };
        let report = check(&spelling, &world.schema, &world.databases, &stepper);
        let pair = if report.ran && dice.chance(30) { pair(&sql, &world, &matcher, &mut dice) } else { None };
        note(report, options, &world, &stepper, findings, true);
        if dice.chance(12) {
            alone(generator, options, &world, findings, &mut dice);
        }
        if let Some(report) = pair {
            note(report, options, &world, &stepper, findings, false);
        }
        world.databases.iter().for_each(crate::database::Database::forget);
    }
}

/// One rule without the others, which would leave it nothing to do where they come first: rule S8 takes every IN that
/// rule 20 looks for.
fn alone(
    generator: &Generator,
    options: &Options,
    world: &World,
    findings: &Mutex<Findings>,
    dice: &mut Dice,
) {
    let rules: Vec<&'static Rule> =
        sound_rules().filter(|rule| !matches!(rule.stage, RuleStage::Resolution)).collect();
    let Some(rule) = dice.pick_any(&rules) else { return };
    let Some(sql) = generator.draw_for(rule.id, world, dice) else { return };
    let stepper = Stepper::only(rule, Lies::default(), &world.schema);
    let report = check(&sql, &world.schema, &world.databases, &stepper);
    note(report, options, world, &stepper, findings, true);
}

/// A query and a mutant of it, or its normal form over the catalog with all foreign keys; what `match` says of the two
/// holds where the constraints hold that it names.
fn pair(sql: &str, world: &World, matcher: &Matcher<'_>, dice: &mut Dice) -> Option<Report> {
    let query = resolve(sql, &world.declared).ok()?;
    let other = if !world.broken.is_empty() && dice.chance(60) {
        Stepper::new(&world.declared).steps(&Stepper::start(&query)).steps.pop()?.query
    } else {
        mutant(&query, &world.declared, dice)
    };
    let other = text(&other, &world.declared)?;
    if !world.broken.is_empty() && matcher.is_equal(sql, &other) {
        let assumes = matcher.compare(sql, &other).assumes;
        if assumes.iter().any(|assumption| world.broken.contains(&assumption.constraint)) {
            return None;
        }
    }
    Some(check_pair(sql, &other, &world.schema, &world.databases, matcher))
}

fn note(
    report: Report,
    options: &Options,
    world: &World,
    stepper: &Stepper<'_>,
    findings: &Mutex<Findings>,
    is_query: bool,
) {
    let mut wanted = Vec::new();
    if let Ok(mut findings) = findings.lock() {
        findings.queries += u64::from(is_query);
        findings.ran += u64::from(is_query && report.ran);
        findings.equal_pairs += u64::from(!is_query && report.ran);
        for name in report.applications {
            *findings.applications.entry(name).or_default() += 1;
        }
        for violation in report.violations {
            *findings.counts.entry((violation.rule.clone(), violation.kind)).or_default() += 1;
            if findings.wants(&violation, options.examples) {
                wanted.push(violation);
            }
        }
    }
    for violation in wanted {
        let small = shrink(&violation, world, stepper);
        if let Ok(mut findings) = findings.lock()
            && findings.wants(&small.violation, options.examples)
            && findings.seen.insert(form(&small.violation))
        {
            findings.examples.push(small);
        }
    }
}
