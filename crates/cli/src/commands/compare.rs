//! `sqlgauge compare`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use sqlgauge_run::{Comparison, Item, Manifest, StoredRun, Summary, SummaryBuilder};

use crate::Verdict;
use crate::output::print;

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
        let stored = StoredRun::read(&self.run)?;
        let (first, second) = self.pair(&stored.manifest)?;
        let metric = self.metric(&stored.manifest)?;
        let of_pair = |item: &&Item| item.system == first || item.system == second;
        let items: Vec<&Item> = stored.items.iter().filter(of_pair).collect();
        let manifest = Manifest { systems: vec![first.clone(), second.clone()], ..stored.manifest };
        let mut builder = SummaryBuilder::new(&manifest);
        items.iter().for_each(|item| builder.add(item));
        let summary = builder.finish();
        let differing = differing(&items, &first, &metric);
        let text = if self.json {
            let value = serde_json::json!({
                "first": first,
                "second": second,
                "comparisons": summary.comparisons,
                "metric": metric,
                "only_first": differing.only_first,
                "only_second": differing.only_second,
            });
            format!("{value:#}\n")
        } else {
            self.text(&summary, &differing, &metric)
        };
        print(text.as_bytes())?;
        Ok(Verdict::Done)
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

    fn text(&self, summary: &Summary, differing: &Differing, metric: &str) -> String {
        use std::fmt::Write as _;
        let names: Vec<&str> = summary.systems.iter().map(|system| system.system.as_str()).collect();
        let mut text = format!("{} against {}\n\n", names[0], names[1]);
        let _ = writeln!(
            text,
            "{:<22} {:>8} {:>8} {:>11} {:>20} {:>9}  only {} / only {}",
            "metric", names[0], names[1], "difference", "95 % interval", "p", names[0], names[1]
        );
        for comparison in &summary.comparisons {
            let _ = writeln!(text, "{}", line(summary, comparison));
        }
        for (winner, ids) in [(names[0], &differing.only_first), (names[1], &differing.only_second)] {
            let shown: Vec<&str> = ids.iter().take(self.limit).map(String::as_str).collect();
            let rest = ids.len() - shown.len();
            let more = if rest > 0 { format!(" and {rest} more (--limit)") } else { String::new() };
            let list = if shown.is_empty() { "none".to_owned() } else { shown.join(" ") };
            let _ = write!(
                text,
                "\n{metric}: {} items on which only {winner} is right or scores higher: {list}{more}",
                ids.len()
            );
        }
        text.push('\n');
        text
    }
}

fn line(summary: &Summary, comparison: &Comparison) -> String {
    let mean = |index: usize| {
        let score = summary.systems[index].scores.get(&comparison.metric);
        score.and_then(|score| score.mean).map_or_else(|| "-".to_owned(), |mean| format!("{mean:.4}"))
    };
    let p =
        if comparison.p_value < 0.0001 { "<0.0001".to_owned() } else { format!("{:.4}", comparison.p_value) };
    format!(
        "{:<22} {:>8} {:>8} {:>+11.4} {:>20} {p:>9}  {} / {}",
        comparison.metric,
        mean(0),
        mean(1),
        comparison.difference,
        format!("[{:+.4}, {:+.4}]", comparison.low, comparison.high),
        comparison.only_first,
        comparison.only_second,
    )
}

/// Ids of the items on which one system scores higher.
struct Differing {
    only_first: Vec<String>,
    only_second: Vec<String>,
}

fn differing(items: &[&Item], first: &str, metric: &str) -> Differing {
    let higher_is_better =
        sqlgauge_metrics::find(metric).is_ok_and(sqlgauge_metrics::Metric::higher_is_better);
    let score = |item: &Item| item.metrics.get(metric).copied().flatten();
    let (of_first, of_second): (Vec<&&Item>, Vec<&&Item>) =
        items.iter().partition(|item| item.system == first);
    let second: HashMap<&str, Option<f64>> =
        of_second.iter().map(|item| (item.id.as_str(), score(item))).collect();
    let mut differing = Differing { only_first: Vec::new(), only_second: Vec::new() };
    for item in of_first {
        let (Some(a), Some(Some(b))) = (score(item), second.get(item.id.as_str())) else { continue };
        let first_wins = if higher_is_better { a > *b } else { a < *b };
        if first_wins {
            differing.only_first.push(item.id.clone());
        } else if a.total_cmp(b).is_ne() {
            differing.only_second.push(item.id.clone());
        }
    }
    differing
}
