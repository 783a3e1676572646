//! Questions that are not independent: those on one database, and those with one gold.
//!
//! # Contract
//! - From [`LEAST_DATABASES`] databases on the clusters are the databases: an interval is about questions on new databases. On fewer
//!   they are the golds, and it is about new questions on these databases.
//! - An interval by cluster also holds the plain one, and a p-value is the larger of both: clusters never make a score surer.
//! - If each question has a gold of its own, the interval on few databases is the plain one. Without golds on record, or with a single
//!   cluster, only the plain interval exists.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use sqlgauge_base::stats::Interval;
use sqlgauge_base::{ClusteredMean, seed_of};
use sqlgauge_metrics::MetricKind;

use crate::record::ScoreSummary;

/// On fewer databases an interval by database is too wide to be of use: at 4 it reaches 17 to 23 points to either side (`research/clusters`).
pub const LEAST_DATABASES: usize = 5;

/// What an interval takes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clusters {
    /// What the questions of a cluster share.
    pub by: ClusterBy,
    /// Number of clusters.
    pub count: usize,
}

/// What the questions of a cluster share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClusterBy {
    /// The interval is about questions on new databases.
    Database,
    /// The interval is about new questions on these databases.
    Gold,
}

/// Numbers of an item's database and gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterPlace {
    database: usize,
    gold: Option<usize>,
}

impl ClusterPlace {
    pub(crate) fn has_gold(self) -> bool {
        self.gold.is_some()
    }
}

/// Numbers the databases and golds of items.
#[derive(Debug, Default)]
pub struct ClusterPlaces {
    databases: HashMap<String, usize>,
    golds: HashMap<u64, usize>,
}

impl ClusterPlaces {
    /// The place of an item on that database, with the key of its golds if they are on record.
    pub fn place(&mut self, db_id: &str, gold: Option<u64>) -> ClusterPlace {
        let next = self.databases.len();
        let database = *self.databases.entry(db_id.to_owned()).or_insert(next);
        let next = self.golds.len();
        ClusterPlace { database, gold: gold.map(|key| *self.golds.entry(key).or_insert(next)) }
    }
}

/// The test behind the p-value of `count` paired differences of such scores, in words: that of [`Clustered::of_differences`].
pub fn paired_test(kind: MetricKind, clusters: Option<Clusters>, count: usize) -> String {
    let plain = match kind {
        MetricKind::Binary => "exact McNemar test",
        MetricKind::Fraction | MetricKind::Unbounded => {
            "sign-flip permutation test (scores other than 0 and 1)"
        }
    };
    let by = match clusters {
        Some(Clusters { by: ClusterBy::Database, .. }) => "database",
        Some(Clusters { by: ClusterBy::Gold, count: golds }) if golds < count => "gold",
        _ => return plain.to_owned(),
    };
    format!("{plain} or t test by {by}, the larger p")
}

/// The key of the golds of a question, `None` without golds; letter case and white space do not count.
pub fn gold_key(db_id: &str, golds: &[String]) -> Option<u64> {
    let folded = golds.iter().map(|gold| {
        let words: Vec<String> = gold.split_whitespace().map(str::to_lowercase).collect();
        words.join(" ")
    });
    let texts: Vec<String> = std::iter::once(db_id.to_owned()).chain(folded).collect();
    (!golds.is_empty()).then(|| seed_of(&texts.join("\0")))
}

/// A mean by clusters.
#[derive(Debug, Clone, Copy)]
pub struct Clustered {
    pub clusters: Clusters,
    /// `None` where every item is a cluster.
    mean: Option<ClusteredMean>,
}

impl Clustered {
    /// The mean of values by the clusters of their items.
    pub fn of(values: impl Iterator<Item = (ClusterPlace, f64)> + Clone) -> Option<Self> {
        let by = |by, mean: ClusteredMean| Self {
            clusters: Clusters { by, count: mean.clusters },
            mean: Some(mean),
        };
        let databases = ClusteredMean::of(values.clone().map(|(place, value)| (place.database, value)))
            .filter(|mean| mean.clusters >= LEAST_DATABASES);
        if let Some(mean) = databases {
            return Some(by(ClusterBy::Database, mean));
        }
        let golds = values.clone().filter_map(|(place, _)| place.gold).max()?;
        // A question without a gold stands for itself.
        let alone = values
            .clone()
            .enumerate()
            .map(|(at, (place, value))| (place.gold.unwrap_or(golds + 1 + at), value));
        let clustered = by(ClusterBy::Gold, ClusteredMean::of(alone)?);
        let are_all_alone = clustered.clusters.count == values.count();
        Some(if are_all_alone { Self { mean: None, ..clustered } } else { clustered })
    }

    /// A statistic of items of those places by their databases, if there are enough; `without` is the statistic without a database.
    pub fn jackknife(
        places: impl IntoIterator<Item = ClusterPlace>,
        value: f64,
        without: impl Fn(&dyn Fn(ClusterPlace) -> bool) -> Option<f64>,
    ) -> Option<Self> {
        let databases: BTreeSet<usize> = places.into_iter().map(|place| place.database).collect();
        let left_out = |database: usize| without(&|place: ClusterPlace| place.database == database);
        let others = databases.into_iter().map(left_out).collect::<Option<Vec<f64>>>()?;
        let mean =
            ClusteredMean::jackknife(value, &others).filter(|mean| mean.clusters >= LEAST_DATABASES)?;
        Some(Self { clusters: Clusters { by: ClusterBy::Database, count: mean.clusters }, mean: Some(mean) })
    }

    /// The interval of the mean of scores of that kind, with the plain one in it.
    pub fn of_scores(&self, kind: MetricKind, level: f64, plain: Interval) -> Interval {
        let Some(mean) = self.mean else { return plain };
        let interval = match kind {
            MetricKind::Binary => mean.share(level),
            MetricKind::Fraction => within(mean.around(level), 0.0, 1.0),
            // Costs are not negative.
            MetricKind::Unbounded => within(mean.around(level), 0.0, f64::INFINITY),
        };
        hull(interval, plain)
    }

    /// The interval of a mean difference of scores of that kind, with the plain one in it, and the p-value of its test.
    pub fn of_differences(&self, kind: MetricKind, level: f64, plain: (Interval, f64)) -> (Interval, f64) {
        let Some(mean) = self.mean else { return plain };
        let interval = mean.around(level);
        let bounded = match kind {
            MetricKind::Binary | MetricKind::Fraction => within(interval, -1.0, 1.0),
            MetricKind::Unbounded => interval,
        };
        (hull(bounded, plain.0), mean.p_value().max(plain.1))
    }
}

/// The mean of scores of that kind with their plain interval, and by clusters where there are any.
pub fn score_of(
    kind: MetricKind,
    values: &[f64],
    plain: Option<Interval>,
    clustered: Option<Clustered>,
    level: f64,
) -> ScoreSummary {
    let both = plain.zip(clustered);
    let interval = both.map(|(plain, of)| of.of_scores(kind, level, plain)).or(plain);
    ScoreSummary {
        mean: (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        count: values.len(),
        clusters: both.map(|(_, of)| of.clusters),
        plain: both.map(|(plain, _)| [plain.low, plain.high]),
    }
}

fn within(interval: Interval, low: f64, high: f64) -> Interval {
    Interval { low: interval.low.max(low), high: interval.high.min(high) }
}

fn hull(one: Interval, other: Interval) -> Interval {
    Interval { low: one.low.min(other.low), high: one.high.max(other.high) }
}
