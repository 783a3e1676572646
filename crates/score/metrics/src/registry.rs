//! The list of all metrics.

use sqlgauge_base::closest;
use sqlgauge_etm::Profile;

use crate::column_f1::ColumnF1;
use crate::esm_fair::EsmFair;
use crate::etm::Etm;
use crate::ex::Ex;
use crate::ex_bird::ExBird;
use crate::ex_spider::ExSpider;
use crate::ex_subset::{ExSubset, ExSubsetTolerance};
use crate::ex_tolerance::ExTolerance;
use crate::exact_set_match::Esm;
use crate::metric::Metric;
use crate::pack::PackAccuracy;
use crate::r_ves::RVes;
use crate::soft_f1::SoftF1;
use crate::suite::Suite;
use crate::table_f1::TableF1;
use crate::verify::Verify;
use crate::ves::Ves;
use crate::vm_steps::VmSteps;

/// Accuracy of results, then agreement of texts, then graded scores, then costs; of one name, the newest first.
static METRICS: &[&dyn Metric] = &[
    &ExSpider { keep_distinct: false },
    &ExSpider { keep_distinct: true },
    &ExBird,
    &Ex,
    &ExTolerance,
    &ExSubset,
    &ExSubsetTolerance,
    &Suite,
    &PackAccuracy,
    &Verify::EX,
    &Verify::SET,
    &Verify::BAG,
    &Verify::LIST,
    &Esm,
    &EsmFair,
    &Etm(Profile::Sound),
    &Etm(Profile::Paper),
    &TableF1::SECOND,
    &TableF1::FIRST,
    &ColumnF1::SECOND,
    &ColumnF1::FIRST,
    &SoftF1,
    &Ves::OFFICIAL,
    &RVes::OFFICIAL,
    &VmSteps,
];

/// All metrics in a meaningful order.
pub fn all() -> &'static [&'static dyn Metric] {
    METRICS
}

/// The metric of that id, `ex-spider@1`; without a version, `ex-spider`, the newest.
///
/// # Errors
/// When there is no such metric.
pub fn find(name: &str) -> Result<&'static dyn Metric, UnknownMetric> {
    let is_meant = |metric: &&&dyn Metric| metric.id() == name || split_id(metric.id()).0 == name;
    METRICS.iter().find(is_meant).copied().ok_or_else(|| UnknownMetric { name: name.to_owned() })
}

/// Ids that nothing is scored by any more, though runs of earlier versions have them: why, and what to take.
const WITHDRAWN: [(&str, &str); 2] = [
    (
        "verify@2",
        "when results were equal depended on the metrics beside it; take `verify@3`, which counts rows as `ex@1` does, or `verify-set@3`, as `ex-bird@1` does",
    ),
    (
        "verify@1",
        "it passed predictions that permit other results than the gold's only one; take `verify@3`, which counts rows as `ex@1` does, or `verify-set@3`, as `ex-bird@1` does",
    ),
];

/// The metric that a run was scored by, as far as its kind goes: for an id that nothing is scored by any more, the newest of its
/// name. `None` for one that this version does not know.
pub fn recorded(id: &str) -> Option<&'static dyn Metric> {
    let withdrawn = || WITHDRAWN.iter().find(|(withdrawn, _)| *withdrawn == id);
    find(id).ok().or_else(|| find(split_id(withdrawn()?.0).0).ok())
}

/// Whether less is better by the metric of that id; not by one that this version does not know.
pub fn lower_is_better(id: &str) -> bool {
    recorded(id).is_some_and(|metric| !metric.higher_is_better())
}

/// Whether the metric of that id is an execution accuracy: it says whether a prediction returns what the gold returns.
pub fn is_execution_accuracy(id: &str) -> bool {
    let name = split_id(id).0;
    name == "ex" || name.starts_with("ex-")
}

fn split_id(id: &str) -> (&str, u32) {
    let (name, version) = id.split_once('@').unwrap_or((id, ""));
    (name, version.parse().unwrap_or(0))
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct UnknownMetric {
    pub name: String,
}

impl UnknownMetric {
    fn sentence(&self) -> String {
        let name = &self.name;
        match WITHDRAWN.iter().find(|(withdrawn, _)| withdrawn == name) {
            Some((_, why)) => format!("`{name}` is not scored any more: {why}"),
            None => format!("unknown metric `{name}`{}: choose from {}", meant(name), known_names()),
        }
    }
}

/// The names that it may have been meant as.
fn meant(name: &str) -> String {
    let names = METRICS.iter().map(|metric| split_id(metric.id()).0);
    let close = closest(&name.replace(['_', ' '], "-"), names);
    close.first().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn known_names() -> String {
    METRICS.iter().map(|metric| metric.id()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn ids_are_unique_and_carry_a_version() {
        let ids: HashSet<&str> = all().iter().map(|metric| metric.id()).collect();
        assert_eq!(ids.len(), all().len());
        assert!(ids.iter().all(|id| split_id(id).1 >= 1));
        for id in ids {
            assert!(split_id(find(split_id(id).0).unwrap().id()).1 >= split_id(id).1, "{id} is newer");
        }
    }

    /// The head of one file of this crate is the contract of each metric.
    #[test]
    fn every_metric_is_documented() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let heads: Vec<String> = ["", "esm", "esm_fair"]
            .iter()
            .filter_map(|folder| std::fs::read_dir(source.join(folder)).ok())
            .flatten()
            .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
            .map(|text| {
                text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n")
            })
            .collect();
        for metric in all() {
            let id = format!("`{}`", metric.id());
            let contract = heads.iter().any(|head| head.contains(&id) && head.contains("# Contract"));
            assert!(contract, "no file states the contract of {id}");
            assert!(metric.summary().ends_with('.'), "{id}");
        }
    }

    #[test]
    fn withdrawn_metrics_are_read_and_not_scored() {
        for (id, _) in WITHDRAWN {
            assert!(find(id).is_err());
            assert_eq!(recorded(id).map(Metric::id), find("verify").ok().map(Metric::id));
        }
        assert!(recorded("verify@9").is_none() && recorded("nonsense").is_none());
        assert_eq!(recorded("ex@1").map(Metric::id), Some("ex@1"));
    }

    #[test]
    fn a_metric_is_found_with_and_without_version() {
        for metric in all() {
            let name = split_id(metric.id()).0;
            assert_eq!(find(metric.id()).map(Metric::id), Ok(metric.id()));
            assert_eq!(find(name).map(|metric| split_id(metric.id()).0), Ok(name));
        }
        let error = find("ex-spider@9").map(Metric::id).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("unknown metric `ex-spider@9` (did you mean `ex-spider`?): choose from")
        );
        let error = find("ex_spider").map(Metric::id).unwrap_err();
        assert!(error.to_string().starts_with("unknown metric `ex_spider` (did you mean `ex-spider`?)"));
        let error = find("verify@2").map(Metric::id).unwrap_err().to_string();
        assert!(error.starts_with("`verify@2` is not scored any more") && error.contains("`verify-set@3`"));
        let error = find("nonsense").map(Metric::id).unwrap_err();
        assert!(error.to_string().starts_with("unknown metric `nonsense`: choose from ex-spider@1"));
    }
}
