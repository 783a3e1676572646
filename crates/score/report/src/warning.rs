//! What a reader must know before believing the scores of a run.

use sqlgauge_base::{counted_of, verb_for};
use sqlgauge_metrics::{Reads, find};
use sqlgauge_run::{AsWritten, GoldCounts, Summary, SystemSummary};

use crate::words::{grouped, many, percent};

/// Share of golds without rows from which on agreement says little.
const MANY: f64 = 0.1;

/// Databases that a sentence names.
const NAMED: usize = 5;

/// What stands against the scores of a run, each in one sentence; empty where nothing does.
pub fn warnings(summary: &Summary) -> Vec<String> {
    let golds = &summary.golds;
    // Where no metric executes anything, rows are of no account.
    let executes = executes(summary);
    let of_rows = [databases_are_empty(golds), golds_are_empty(golds)].into_iter().filter(|_| executes);
    let failed = no_gold_runs(golds).or_else(|| some_golds_fail(golds).filter(|_| executes));
    let of_golds = [failed, questions_have_no_answer(golds)].into_iter().chain(of_rows);
    let of_answers = summary
        .systems
        .iter()
        .flat_map(|system| [names_are_unknown(system), constants_are_wrong(system)])
        .flatten();
    of_golds.flatten().chain(of_answers).chain(texts_are_changed(summary)).collect()
}

/// Whether some metric of the run compares what queries return.
pub fn executes(summary: &Summary) -> bool {
    summary.metrics.iter().any(|id| find(id).is_ok_and(|metric| metric.reads() != Reads::NoRows))
}

/// Share of answers about unknown tables from which on they are likely answers to another benchmark.
const NEARLY_ALL: f64 = 0.9;

/// The sentence about a system nearly all of whose answers read tables that no database has.
fn names_are_unknown(system: &SystemSummary) -> Option<String> {
    let unknown = *system.statuses.get(NO_SUCH_TABLE)?;
    let answered = system.counts.requested.saturating_sub(system.counts.missing);
    (unknown as f64 >= NEARLY_ALL * answered as f64).then(|| {
        format!(
            "{} of {} {} tables that their database does not have: check that they are answers to this benchmark",
            counted_of(unknown, answered, "answer"),
            system.system,
            verb_for(&unknown, ["reads", "read"])
        )
    })
}

/// Exact set match above execution accuracy from which on constants are the likely cause: no other part of a query
/// makes so many answers match and not agree.
const BY_CONSTANTS: f64 = 0.15;

/// Fewest items that say so.
const ENOUGH: usize = 20;

/// The sentence about a system whose answers match the golds but for their constants, as those that hold placeholders do.
fn constants_are_wrong(system: &SystemSummary) -> Option<String> {
    let of = |name: &str| {
        let (id, score) = system.scores.iter().find(|(id, _)| id.split('@').next() == Some(name))?;
        Some((id, score.mean.filter(|_| score.count >= ENOUGH)?))
    };
    let (matching, matched) = of("esm")?;
    let (execution, right) = of("ex").or_else(|| of("ex-bird")).or_else(|| of("ex-spider"))?;
    (matched - right >= BY_CONSTANTS).then(|| {
        format!(
            "{}: {matching}, which ignores values, is {}, and {execution} {}: check that its answers hold values and not \
             placeholders",
            system.system,
            percent(matched),
            percent(right)
        )
    })
}

/// The status of an answer about a table that is not there.
const NO_SUCH_TABLE: &str = "no_such_table";

/// Points of a mean from which on it is said that a script's changes of the texts make them.
const POINTS: f64 = 0.005;

/// One sentence for each metric whose script changes the texts so that scores are others.
fn texts_are_changed(summary: &Summary) -> impl Iterator<Item = String> {
    summary.metrics.iter().filter_map(|metric| {
        let of_system = |system: &SystemSummary| {
            let (written, score) = (system.as_written.get(metric)?, system.scores.get(metric)?);
            let mean = score.mean.filter(|mean| (mean - written.mean).abs() >= POINTS)?;
            let changed = gained_and_lost(written);
            let text =
                format!("{} {}, not {} ({changed})", system.system, percent(written.mean), percent(mean));
            Some(((mean - written.mean).abs(), text))
        };
        let mut changed: Vec<(f64, String)> = summary.systems.iter().filter_map(of_system).collect();
        changed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let named: Vec<&str> = changed.iter().take(NAMED).map(|(_, text)| text.as_str()).collect();
        let mut named = named.join(", ");
        if changed.len() > NAMED {
            named.push_str(", …");
        }
        (!changed.is_empty()).then(|| {
            format!(
                "{metric} changes texts as the official script does: it drops DISTINCT and all but the first \
                 statement, and reads `value` as 1; without that: {named}"
            )
        })
    })
}

/// `2 answers become right, 1 wrong`.
fn gained_and_lost(written: &AsWritten) -> String {
    let Some(gained) = written.gained else { return many(written.items, "answer") };
    let lost = written.items.saturating_sub(gained);
    let turn = |count: usize, what: &str| {
        format!("{} {} {what}", many(count, "answer"), verb_for(&count, ["becomes", "become"]))
    };
    match (gained, lost) {
        (_, 0) => turn(gained, "right"),
        (0, _) => turn(lost, "wrong"),
        _ => format!("{}, {} wrong", turn(gained, "right"), grouped(lost)),
    }
}

/// The sentence about a run in which no gold query ran.
pub fn no_gold_runs(golds: &GoldCounts) -> Option<String> {
    (golds.examples > 0 && golds.failed == golds.examples).then(|| {
        format!(
            "{}, so nothing was scored by execution: check that the gold file and the databases belong together",
            match golds.examples {
                1 => "the only gold query does not run".to_owned(),
                count => format!("none of the {count} gold queries runs"),
            }
        )
    })
}

/// The sentence about a run in which some gold queries do not run.
fn some_golds_fail(golds: &GoldCounts) -> Option<String> {
    let (failed, all) = (golds.failed, golds.examples);
    (failed > 0).then(|| {
        let does = verb_for(&failed, ["does", "do"]);
        let (golds, others) = (counted_of(failed, all, "gold"), all.saturating_sub(failed));
        format!("{golds} {does} not run; the scores are over the other {others}")
    })
}

fn questions_have_no_answer(golds: &GoldCounts) -> Option<String> {
    let count = golds.unanswerable;
    (count > 0).then(|| {
        let has = verb_for(&count, ["has", "have"]);
        format!(
            "{} {has} no answer: to abstain is right there, and every answer is wrong",
            counted_of(count, golds.examples, "question")
        )
    })
}

fn databases_are_empty(golds: &GoldCounts) -> Option<String> {
    let databases = &golds.empty_databases;
    if databases.is_empty() {
        return None;
    }
    let mut names = databases.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if databases.len() > NAMED {
        names.push_str(", …");
    }
    Some(format!(
        "{} {} about databases without a row ({names}): most queries agree there, and execution scores are too high",
        counted_of(golds.on_empty_databases, golds.examples, "example"),
        verb_for(&golds.on_empty_databases, ["is", "are"])
    ))
}

fn golds_are_empty(golds: &GoldCounts) -> Option<String> {
    let share = golds.empty as f64 / golds.examples.max(1) as f64;
    (share >= MANY).then(|| {
        format!(
            "{}: every prediction that returns none agrees there, and execution scores are too high",
            without_rows(golds)
        )
    })
}

/// `3 of 10 gold queries return no row`.
fn without_rows(golds: &GoldCounts) -> String {
    let (empty, all) = (golds.empty, golds.examples);
    format!("{} {} no row", counted_of(empty, all, "gold query"), verb_for(&empty, ["returns", "return"]))
}

/// What a reader may want to know of the items of a run, each in one sentence without its full stop.
pub fn notes(summary: &Summary) -> Vec<String> {
    let golds = &summary.golds;
    // A warning has said it where they are many.
    let empty = (golds.empty > 0 && executes(summary) && golds_are_empty(golds).is_none())
        .then(|| without_rows(golds));
    let count: usize = summary.systems.iter().map(|system| system.counts.volatile).sum();
    let all: usize = summary.systems.iter().map(|system| system.counts.requested).sum();
    let volatile = (count > 0).then(|| {
        format!(
            "{} {} on what time it is (option `now` of the run) or on random numbers \
             (the same in every run)",
            counted_of(count, all, "item"),
            verb_for(&count, ["depends", "depend"])
        )
    });
    [empty, volatile].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_of(metric: &str, golds: GoldCounts) -> String {
        let metrics = vec![metric.to_owned()];
        warnings(&Summary { metrics, golds, systems: vec![], comparisons: vec![] }).join(" | ")
    }

    fn phrase(golds: GoldCounts) -> String {
        said_of("ex@1", golds)
    }

    #[test]
    fn what_makes_scores_worthless_is_said() {
        let golds = GoldCounts { examples: 40, ..GoldCounts::default() };
        assert_eq!(phrase(golds.clone()), "");
        assert_eq!(phrase(GoldCounts::default()), "");
        let most = phrase(GoldCounts { failed: 39, empty: 3, ..golds.clone() });
        assert_eq!(most, "39 of 40 golds do not run; the scores are over the other 1");
        let answers = phrase(GoldCounts { unanswerable: 1, ..golds.clone() });
        assert!(answers.starts_with("1 of 40 questions has no answer: to abstain"), "{answers}");
        assert!(
            phrase(GoldCounts { failed: 40, ..golds.clone() })
                .starts_with("none of the 40 gold queries runs")
        );
        assert!(
            phrase(GoldCounts { empty: 4, ..golds.clone() })
                .starts_with("4 of 40 gold queries return no row")
        );
        let one = GoldCounts { examples: 1, ..golds.clone() };
        assert!(
            phrase(GoldCounts { failed: 1, ..one.clone() })
                .starts_with("the only gold query does not run, so")
        );
        assert!(phrase(GoldCounts { empty: 1, ..one }).starts_with("1 of 1 gold query returns no row"));
        let databases = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        let empty = GoldCounts { empty_databases: databases, on_empty_databases: 7, ..golds };
        assert!(
            phrase(empty.clone())
                .starts_with("7 of 40 examples are about databases without a row (a, b, c, d, e, …)")
        );
        // A metric of texts executes nothing.
        assert_eq!(said_of("etm@1", GoldCounts { empty: 40, failed: 3, ..empty }), "");
    }

    #[test]
    fn it_is_said_how_many_answers_gain_and_lose() {
        let phrase = |items, gained| gained_and_lost(&AsWritten { items, gained, mean: 0.5 });
        assert_eq!(phrase(3, Some(2)), "2 answers become right, 1 wrong");
        assert_eq!(
            [phrase(1, Some(1)), phrase(2, Some(0)), phrase(3, None)],
            ["1 answer becomes right", "2 answers become wrong", "3 answers"]
        );
    }

    #[test]
    fn answers_that_match_but_for_their_constants_are_reported() {
        let system = |esm: f64, ex: f64, count: usize| {
            let score =
                |mean: f64| serde_json::json!({"mean": mean, "low": 0.0, "high": 1.0, "count": count});
            let counts = serde_json::to_value(sqlgauge_run::Counts::default()).unwrap();
            let summary = serde_json::json!({"system": "S", "counts": counts, "statuses": {}, "breakdown": {},
                "scores": {"esm@1": score(esm), "ex@1": score(ex)}});
            constants_are_wrong(&serde_json::from_value(summary).unwrap()).unwrap_or_default()
        };
        assert!(system(0.5, 0.16, 166).contains("esm@1, which ignores values, is 50.0"));
        assert!(system(0.5, 0.16, 166).contains("ex@1 16.0"), "{}", system(0.5, 0.16, 166));
        for (esm, ex, count) in [(0.80, 0.84, 1034), (0.6, 0.5, 1034), (0.5, 0.16, 8)] {
            assert_eq!(system(esm, ex, count), "", "{esm} {ex} {count}");
        }
    }
}
