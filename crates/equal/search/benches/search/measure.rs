//! Searches pairs, and sums up what came of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_search::{Refutation, Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;

use super::Settings;
use super::data::Case;

/// What became of one pair.
pub(crate) enum PairOutcome {
    Proved,
    /// Told apart, and minimised.
    Different(Box<Different>),
    /// Not told apart; the reason in one word.
    Undecided(&'static str, Duration),
    /// The pair cannot be searched; why.
    Inapplicable(String),
}

/// A pair that was told apart.
pub(crate) struct Different {
    refutation: Refutation,
    time: Duration,
}

#[derive(Default)]
pub(crate) struct Searches(Vec<(*const Schema, Search)>);

impl Searches {
    /// The search over the schema of that case.
    pub(crate) fn of(&mut self, case: &Case, options: SearchOptions) -> &Search {
        let key = Arc::as_ptr(&case.schema);
        let at = self.0.iter().position(|(schema, _)| *schema == key).unwrap_or_else(|| {
            let search = Search::new(Arc::clone(&case.schema), options).expect("an in-memory database");
            self.0.push((key, search));
            self.0.len() - 1
        });
        &self.0[at].1
    }
}

pub(crate) fn options(settings: &Settings) -> SearchOptions {
    SearchOptions { databases: settings.databases, seed: settings.seed, ..SearchOptions::default() }
}

pub(crate) fn judge(case: &Case, search: &Search) -> PairOutcome {
    if Matcher::new(&case.schema, Profile::Sound).is_equal(&case.gold, &case.prediction) {
        return PairOutcome::Proved;
    }
    let started = Instant::now();
    match search.refute_minimised(&case.gold, &case.prediction) {
        SearchVerdict::Refuted(refutation) => {
            PairOutcome::Different(Box::new(Different { refutation: *refutation, time: started.elapsed() }))
        }
        SearchVerdict::Survived(outcome) => {
            let reason = match outcome.undecided {
                _ if permits_the_same(case, search) => "equal in what a LIMIT permits, by the rules",
                0 if outcome.databases == 0 => "failed on every database",
                0 => "never differed",
                _ => "differed only by what SQLite leaves open",
            };
            PairOutcome::Undecided(reason, started.elapsed())
        }
        SearchVerdict::Inapplicable(why) => PairOutcome::Inapplicable(why.code()),
    }
}

fn permits_the_same(case: &Case, search: &Search) -> bool {
    let rows = search.rows_before_limit(&case.gold, &case.prediction);
    rows.is_some_and(|[left, right]| Matcher::new(&case.schema, Profile::Sound).is_equal(&left, &right))
}

/// Measures all cases and prints the summary.
pub(crate) fn run(name: &str, cases: &[Case], settings: &Settings) {
    let mut searches = Searches::default();
    let mut out = settings.out.as_ref().map(|path| File::create(path).expect("a file to write to"));
    let mut examples = 0;
    let mut outcomes = Vec::new();
    for case in cases {
        let one = judge(case, searches.of(case, options(settings)));
        if let Some(out) = &mut out {
            writeln!(out, "{}", line(case, &one)).expect("a file to write to");
        }
        if let (PairOutcome::Undecided(reason, _), true) = (&one, examples < settings.show) {
            println!("\n-- {}: {reason}\n{}\n{}", case.id, case.gold, case.prediction);
            examples += 1;
        }
        outcomes.push(one);
    }
    println!("{name}: {} pairs", cases.len());
    summary(&outcomes);
}

pub(crate) fn summary(pairs: &[PairOutcome]) {
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut whole, mut rest, mut rows) = (vec![], vec![], vec![]);
    let mut needs: BTreeMap<&str, usize> = BTreeMap::new();
    for one in pairs {
        let outcome = match one {
            PairOutcome::Proved => "equal by the rules".to_owned(),
            PairOutcome::Different(_) => "different".to_owned(),
            PairOutcome::Undecided(reason, _) => format!("unknown: {reason}"),
            PairOutcome::Inapplicable(why) => format!("inapplicable: {why}"),
        };
        *outcomes.entry(outcome).or_default() += 1;
        match one {
            PairOutcome::Different(one) => {
                whole.push(one.time);
                rows.push(one.refutation.database().rows());
                one.refutation.needs().iter().for_each(|need| *needs.entry(need.name()).or_default() += 1);
            }
            PairOutcome::Undecided(_, time) => rest.push(*time),
            PairOutcome::Proved | PairOutcome::Inapplicable(_) => {}
        }
    }
    for (outcome, count) in outcomes {
        println!("  {count:5}  {outcome}");
    }
    let share = |count: usize| 100.0 * count as f64 / whole.len().max(1) as f64;
    for (need, count) in needs {
        println!("  {count:5}  witnesses need {need} ({:.1} %)", share(count));
    }
    rows.sort_unstable();
    println!("  rows of a witness: median {:?}, most {:?}", rows.get(rows.len() / 2), rows.last());
    println!("  found and minimised: {}", times(&mut whole));
    println!("  not told apart:      {}", times(&mut rest));
}

fn line(case: &Case, one: &PairOutcome) -> serde_json::Value {
    let mut line = json!({ "id": case.id, "left": case.gold, "right": case.prediction });
    match one {
        PairOutcome::Proved => line["verdict"] = json!("equivalent"),
        PairOutcome::Undecided(reason, time) => {
            line["verdict"] = json!("unknown");
            line["reason"] = json!(reason);
            line["ms"] = json!(time.as_secs_f64() * 1000.0);
        }
        PairOutcome::Inapplicable(why) => {
            line["verdict"] = json!("inapplicable");
            line["reason"] = json!(why);
        }
        PairOutcome::Different(one) => {
            line["verdict"] = json!("different");
            line["witness"] = json!(one.refutation.database().script());
            line["difference"] = json!(one.refutation.difference());
            line["databases"] = json!(one.refutation.databases());
            line["depends_on_clock"] = json!(one.refutation.depends_on_clock());
            line["needs"] = json!(one.refutation.needs().iter().map(|need| need.name()).collect::<Vec<_>>());
            line["ms"] = json!(one.time.as_secs_f64() * 1000.0);
        }
    }
    line
}

/// Mean, median, 90th and 99th percentile, maximum.
pub(crate) fn times(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let Some(&last) = times.last() else { return "-".to_owned() };
    let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1000.0);
    let at = |percent: usize| times.get((times.len() - 1) * percent / 100).copied().unwrap_or(last);
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len()).unwrap_or(u32::MAX);
    format!(
        "mean {}, median {}, 90 % {}, 99 % {}, most {} ms",
        ms(mean),
        ms(at(50)),
        ms(at(90)),
        ms(at(99)),
        ms(last)
    )
}
