//! `sqlgauge metrics`.

use anyhow::Result;
use clap::Args;
use sqlgauge_metrics::{Metric, all, find};

use crate::Verdict;
use crate::output::{print_json, print_table};

/// List the metrics: what they measure and what they need
#[derive(Debug, Args)]
pub(crate) struct Metrics {
    /// Only these, with or without version
    ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Metrics {
    pub(crate) fn run(self) -> Result<Verdict> {
        let chosen = match self.ids.as_slice() {
            [] => all().to_vec(),
            ids => ids.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
        };
        if self.json {
            print_json(&json(&chosen))?;
        } else {
            let row = |metric: &&dyn Metric| {
                [metric.id(), metric.kind().range(), metric.needs(), metric.summary()]
                    .map(str::to_owned)
                    .into()
            };
            print_table(&["id", "range", "needs", "what it measures"], chosen.iter().map(row).collect())?;
        }
        Ok(Verdict::Done)
    }
}

fn json(metrics: &[&dyn Metric]) -> serde_json::Value {
    let entry = |metric: &&dyn Metric| {
        serde_json::json!({
            "id": metric.id(),
            "range": metric.kind().range(),
            "higher_is_better": metric.higher_is_better(),
            "needs": metric.needs(),
            "summary": metric.summary(),
        })
    };
    metrics.iter().map(entry).collect()
}
