//! Measuring, in builds that have embedding files.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use sqlgauge_core::{Context, ShiftJob, WorkloadShift};
use sqlgauge_report::words::{NONE, minus};
use sqlgauge_shift::Descriptors;

use super::Shift;
use crate::Verdict;
use crate::output::{print, print_json};

impl Shift {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = ShiftJob {
            slices: self.slices,
            seed: self.seed,
            standardise: self.standardise,
            ..ShiftJob::new(self.source.clone(), self.target.clone())
        };
        let shift = job.run(&Context::default())?;
        if self.json {
            print_json(&self.as_json(&shift))?;
        } else {
            print(&self.as_text(&shift))?;
        }
        Ok(Verdict::Done)
    }

    fn as_json(&self, shift: &WorkloadShift) -> Value {
        let columns: serde_json::Map<String, Value> = Descriptors::names()
            .iter()
            .zip(shift.descriptors.to_row())
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let side = |path: &Path, count: usize| json!({"file": path.display().to_string(), "count": count});
        let named = |name: &str, value: Value| match value {
            Value::Object(mut object) => {
                object.insert("name".to_owned(), json!(name));
                Value::Object(object)
            }
            other => other,
        };
        let databases = shift.databases.iter().map(|(name, of)| named(name, json!(of)));
        let dimensions = shift.dimensions.iter().take(self.top).map(|(name, of)| named(name, json!(of)));
        json!({
            "source": side(&self.source, shift.descriptors.source_count),
            "target": side(&self.target, shift.descriptors.target_count),
            "slices": {
                "principal": shift.principal,
                "random": shift.random,
            },
            "seed": self.seed,
            "standardised": self.standardise,
            "columns": columns,
            "descriptors": shift.descriptors,
            "by_database": databases.collect::<Vec<_>>(),
            "by_dimension": dimensions.collect::<Vec<_>>(),
        })
    }

    fn as_text(&self, shift: &WorkloadShift) -> String {
        let Descriptors { source_count, target_count, dimensions, sliced, .. } = &shift.descriptors;
        let mut text =
            format!("{target_count} vectors against {source_count} of {dimensions} dimensions\n\n");
        // Writing to a string cannot fail.
        for (name, value) in Descriptors::names().iter().zip(shift.descriptors.to_row()) {
            let _ = writeln!(text, "{name:<34} {value:>14.6}");
        }
        let _ = writeln!(text, "{:<34} {:>14.6}", "swd of equal distributions", sliced.null);
        let left = shift.descriptors.constant_dimensions_left;
        if left > 0 {
            let _ = writeln!(
                text,
                "{left} dimensions are the same everywhere in the source, but not in the target"
            );
        }
        let total = sliced.distance.powi(2);
        let _ = writeln!(
            text,
            "\n{:<34} {:>8} {:>12} {:>14}",
            "database", "vectors", "share of swd²", "mahalanobis"
        );
        for (name, part) in shift.databases.iter().take(self.top) {
            let share = if total > 0.0 { 100.0 * part.sliced_square / total } else { 0.0 };
            let _ =
                writeln!(text, "{name:<34} {:>8} {share:>11.1} % {:>14.4}", part.count, part.own_mahalanobis);
        }
        let _ =
            writeln!(text, "\n{:<34} {:>12} {:>12} {:>12}", "dimension", "difference/σ", "variances", "W2/σ");
        let number = |value: Option<f64>| value.map_or(NONE.to_owned(), |value| minus(format!("{value:.4}")));
        for (name, part) in shift.dimensions.iter().take(self.top) {
            let values =
                [part.standardised_difference, part.variance_ratio, part.standardised_w2].map(number);
            let _ = writeln!(text, "{name:<34} {:>12} {:>12} {:>12}", values[0], values[1], values[2]);
        }
        text
    }
}
