//! Groups of items and what they cover, the same in every text format.

use sqlgauge_base::counted_of;
use sqlgauge_run::{ScoreSummary, SystemSummary};

use crate::Report;

/// Spider's and BIRD's levels in their order; other groups follow by name.
const LEVELS: [&str; 7] = ["easy", "medium", "hard", "extra", "simple", "moderate", "challenging"];

/// Dimensions under which an item counts once or not at all.
const EXCLUSIVE: [&str; 4] = ["hardness", "difficulty", "turn", "db_id"];

/// The groups of a dimension over all systems: known levels in their order, then the rest by name.
pub(crate) fn groups<'a>(systems: &'a [SystemSummary], dimension: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = systems
        .iter()
        .filter_map(|system| system.breakdown.get(dimension))
        .flat_map(|groups| groups.keys().map(String::as_str))
        .collect();
    let rank = |name: &str| LEVELS.iter().position(|level| *level == name).unwrap_or(LEVELS.len());
    names.sort_by_key(|name| (rank(name), *name));
    names.dedup();
    names
}

/// A system's score in one group.
pub(crate) fn group_score<'a>(
    system: &'a SystemSummary,
    dimension: &str,
    group: &str,
    metric: &str,
) -> Option<&'a ScoreSummary> {
    system.breakdown.get(dimension)?.get(group)?.get(metric)
}

/// By system: the items behind a score that a dimension has a group for, and all of them.
fn covered(report: &Report, dimension: &str, metric: &str) -> Vec<(usize, usize)> {
    let parts = report.summary.systems.iter().filter_map(|system| {
        let whole = system.scores.get(metric)?.count;
        let groups = system.breakdown.get(dimension)?.values();
        let covered = groups.filter_map(|scores| scores.get(metric)).map(|score| score.count).sum();
        Some((covered, whole))
    });
    parts.collect()
}

/// Whether a dimension says little beside another: Spider's hardness of fewer than half of the items, where the benchmark has a
/// difficulty of its own; and a single database, which is the whole.
pub(crate) fn says_little(report: &Report, dimension: &str, metric: &str) -> bool {
    let is_rare = covered(report, dimension, metric).iter().all(|(covered, whole)| 2 * covered < *whole);
    let groups = |dimension| groups(&report.summary.systems, dimension).len();
    dimension == "hardness" && is_rare && groups("difficulty") > 0
        || dimension == "db_id" && groups(dimension) == 1
}

/// Says so where the groups of a dimension hold only a part of the items behind the scores.
pub(crate) fn coverage(report: &Report, dimension: &str, metric: &str) -> Option<String> {
    if !EXCLUSIVE.contains(&dimension) {
        return None;
    }
    let mut parts = covered(report, dimension, metric);
    parts.sort_unstable();
    parts.dedup();
    match parts.as_slice() {
        [(covered, whole)] if covered < whole => {
            Some(format!("The {dimension} is known for {}.", counted_of(*covered, *whole, "answer")))
        }
        several if several.iter().any(|(covered, whole)| covered < whole) => {
            let counts: Vec<String> =
                several.iter().map(|(covered, whole)| format!("{covered} of {whole}")).collect();
            Some(format!("The {dimension} is known for {} answers.", counts.join(", ")))
        }
        _ => None,
    }
}
