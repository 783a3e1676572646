//! `sqlgauge metrics`.

use anyhow::Result;
use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use sqlgauge_metrics::{Metric, all, find};

use crate::Verdict;
use crate::output::{print, print_json, width};

/// List the metrics: id, what it means, its range, what it needs
#[derive(Debug, Args)]
pub struct Metrics {
    /// Only these, with or without version
    ids: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Metrics {
    pub fn run(self) -> Result<Verdict> {
        let chosen = match self.ids.as_slice() {
            [] => all().to_vec(),
            ids => ids.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
        };
        if self.json {
            print_json(&json(&chosen))?;
        } else {
            print(&table(&chosen))?;
        }
        Ok(Verdict::Done)
    }
}

fn table(metrics: &[&dyn Metric]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(["id", "range", "needs", "what it measures"]);
    for metric in metrics {
        table.add_row([metric.id(), metric.kind().range(), metric.needs(), metric.summary()]);
    }
    let lines = table.to_string();
    lines.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
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
