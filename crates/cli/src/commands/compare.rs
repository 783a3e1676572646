//! `sqlgauge compare`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use sqlgauge_report::Versus;
use sqlgauge_report::formats::Table;
use sqlgauge_run::{Item, Manifest, RunError, RunFiles, Summary, SummaryBuilder};

use crate::Verdict;
use crate::output::{colour, print_json, print_painted, width};

/// Compare two systems of a run: paired test, interval of the difference, items that differ
#[derive(Debug, Args)]
pub struct Compare {
    /// Run directory
    run: PathBuf,
    /// The two systems, separated by a comma; may be left out when the run has two
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    systems: Vec<String>,
    /// Metric whose differing items are listed; the run's first without it
    #[arg(long)]
    metric: Option<String>,
    /// Number of differing items to list for each side
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub fn run(self) -> Result<Verdict> {
        let run = RunFiles::open(&self.run)?;
        let (first, second) = self.pair(&run.manifest)?;
        let metric = self.metric(&run.manifest)?;
        let manifest = Manifest { systems: vec![first.clone(), second.clone()], ..run.manifest };
        let mut builder = SummaryBuilder::new(&manifest);
        let mut scores = Scores::default();
        run.items.for_each(|item| {
            if item.system == first || item.system == second {
                builder.add(item);
                scores.add(item, &metric, item.system == first);
            }
            Ok::<(), RunError>(())
        })?;
        let summary = builder.finish();
        let differing = scores.differing(&metric);
        if self.json {
            print_json(&Self::json(&summary, &differing, &metric))?;
        } else {
            let versus = Versus {
                summary: &summary,
                metric: &metric,
                only_first: &differing.only_first,
                only_second: &differing.only_second,
                limit: self.limit,
            };
            print_painted(&versus.render(Table { width: width(), colour: colour() })?)?;
        }
        Ok(Verdict::Done)
    }

    fn json(summary: &Summary, differing: &Differing, metric: &str) -> serde_json::Value {
        let [first, second] = [0, 1].map(|at| &summary.systems[at]);
        serde_json::json!({
            "first": first.system,
            "second": second.system,
            "scores": {"first": first.scores, "second": second.scores},
            "comparisons": summary.comparisons,
            "metric": metric,
            "only_first": differing.only_first,
            "only_second": differing.only_second,
        })
    }

    fn pair(&self, manifest: &Manifest) -> Result<(String, String)> {
        let known = manifest.systems.join(", ");
        let named = if self.systems.is_empty() { &manifest.systems } else { &self.systems };
        let [first, second] = named.as_slice() else {
            return Err(anyhow!("name two systems with --systems A,B; the run has {known}"));
        };
        for name in [first, second] {
            ensure!(
                manifest.systems.contains(name),
                "the run has no system {name:?}; its systems are {known}"
            );
        }
        ensure!(first != second, "--systems names {first:?} twice; name two different systems of {known}");
        Ok((first.clone(), second.clone()))
    }

    fn metric(&self, manifest: &Manifest) -> Result<String> {
        let Some(name) = &self.metric else {
            return manifest.metrics.first().cloned().ok_or_else(|| anyhow!("the run has no metric"));
        };
        let is_meant = |id: &&String| *id == name || id.split('@').next() == Some(name);
        let known =
            || anyhow!("the run does not score {name:?}; its metrics are {}", manifest.metrics.join(", "));
        manifest.metrics.iter().find(is_meant).cloned().ok_or_else(known)
    }
}

/// Ids of the items on which one system scores higher.
struct Differing {
    only_first: Vec<String>,
    only_second: Vec<String>,
}

/// The two systems' scores on one metric, by item.
#[derive(Default)]
struct Scores {
    /// In the order of the gold file.
    first: Vec<(String, Option<f64>)>,
    second: HashMap<String, Option<f64>>,
}

impl Scores {
    fn add(&mut self, item: &Item, metric: &str, is_first: bool) {
        let score = item.metrics.get(metric).copied().flatten();
        if is_first {
            self.first.push((item.id.clone(), score));
        } else {
            self.second.insert(item.id.clone(), score);
        }
    }

    fn differing(self, metric: &str) -> Differing {
        let higher_is_better =
            sqlgauge_metrics::find(metric).is_ok_and(sqlgauge_metrics::Metric::higher_is_better);
        let mut differing = Differing { only_first: Vec::new(), only_second: Vec::new() };
        for (id, score) in self.first {
            let (Some(a), Some(Some(b))) = (score, self.second.get(&id)) else { continue };
            let first_wins = if higher_is_better { a > *b } else { a < *b };
            if first_wins {
                differing.only_first.push(id);
            } else if a.total_cmp(b).is_ne() {
                differing.only_second.push(id);
            }
        }
        differing
    }
}
