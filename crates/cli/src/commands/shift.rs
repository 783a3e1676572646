//! `sqlgauge shift`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use sqlgauge_encode::{EmbeddingFile, Vectors};
use sqlgauge_shift::{
    Descriptors, DimensionShift, GroupShift, Reference, Slices, Standardised, moments, shift,
};

use crate::Verdict;
use crate::output::{print, print_json};

/// Dimensions whose columns are compared, when the file does not name them.
const MOST_UNNAMED_DIMENSIONS: usize = 512;

/// Measure how far a workload lies from another, and which databases and dimensions make the difference
#[derive(Debug, Args)]
pub struct Shift {
    /// Embeddings that shift is measured from
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Embeddings that are compared with them
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Directions of the sliced Wasserstein distance: L random ones, or k principal and R random ones
    #[arg(long, value_name = "L|k,R", default_value_t)]
    slices: Slices,
    /// Seed of the directions
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Divide every dimension by the source's standard deviation first: for features with units of their own
    #[arg(long)]
    standardise: bool,
    /// Databases and dimensions to list, those that contribute most first
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found.
struct Found {
    descriptors: Descriptors,
    databases: Vec<(String, GroupShift)>,
    dimensions: Vec<(String, DimensionShift)>,
}

impl Shift {
    pub fn run(self) -> Result<Verdict> {
        let (source, target) = (EmbeddingFile::open(&self.source)?, EmbeddingFile::open(&self.target)?);
        same_encoder(&source, &target)?;
        let (reference, found) = if self.standardise {
            let spread = moments(&source)?;
            let (near, far) = (Standardised::new(&source, &spread)?, Standardised::new(&target, &spread)?);
            self.compare(&near, &far, &target)?
        } else {
            self.compare(&source, &target, &target)?
        };
        if self.json {
            print_json(&self.as_json(&reference, &found))?;
        } else {
            print(&self.as_text(&found))?;
        }
        Ok(Verdict::Done)
    }

    fn compare(
        &self,
        source: &dyn Vectors,
        target: &dyn Vectors,
        file: &EmbeddingFile,
    ) -> Result<(Reference, Found)> {
        let (reference, descriptors) = shift(source, target, self.slices, self.seed)?;
        let (names, groups) = databases(file)?;
        let shifts = reference.attribute_groups(target, &groups)?;
        let mut databases: Vec<(String, GroupShift)> = names.into_iter().zip(shifts).collect();
        databases.sort_by(|a, b| b.1.sliced_square.total_cmp(&a.1.sliced_square).then_with(|| a.0.cmp(&b.0)));
        let dimensions = dimensions(&reference, source, target, file)?;
        Ok((reference, Found { descriptors, databases, dimensions }))
    }

    fn as_json(&self, reference: &Reference, found: &Found) -> Value {
        let columns: serde_json::Map<String, Value> = Descriptors::names()
            .iter()
            .zip(found.descriptors.to_row())
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
        let databases = found.databases.iter().map(|(name, shift)| named(name, json!(shift)));
        let dimensions =
            found.dimensions.iter().take(self.top).map(|(name, shift)| named(name, json!(shift)));
        json!({
            "source": side(&self.source, found.descriptors.source_count),
            "target": side(&self.target, found.descriptors.target_count),
            "slices": {
                "principal": reference.directions().principal(),
                "random": reference.directions().len() - reference.directions().principal(),
            },
            "seed": self.seed,
            "standardised": self.standardise,
            "columns": columns,
            "descriptors": found.descriptors,
            "by_database": databases.collect::<Vec<_>>(),
            "by_dimension": dimensions.collect::<Vec<_>>(),
        })
    }

    fn as_text(&self, found: &Found) -> String {
        let Descriptors { source_count, target_count, dimensions, sliced, .. } = &found.descriptors;
        let mut text =
            format!("{target_count} vectors against {source_count} of {dimensions} dimensions\n\n");
        // Writing to a string cannot fail.
        for (name, value) in Descriptors::names().iter().zip(found.descriptors.to_row()) {
            let _ = writeln!(text, "{name:<34} {value:>14.6}");
        }
        let _ = writeln!(text, "{:<34} {:>14.6}", "swd of equal distributions", sliced.null);
        let left = found.descriptors.constant_dimensions_left;
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
        for (name, shift) in found.databases.iter().take(self.top) {
            let share = if total > 0.0 { 100.0 * shift.sliced_square / total } else { 0.0 };
            let _ = writeln!(
                text,
                "{name:<34} {:>8} {share:>11.1} % {:>14.4}",
                shift.count, shift.own_mahalanobis
            );
        }
        let _ =
            writeln!(text, "\n{:<34} {:>12} {:>12} {:>12}", "dimension", "difference/σ", "variances", "W2/σ");
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
        for (name, shift) in found.dimensions.iter().take(self.top) {
            let values =
                [shift.standardised_difference, shift.variance_ratio, shift.standardised_w2].map(number);
            let _ = writeln!(text, "{name:<34} {:>12} {:>12} {:>12}", values[0], values[1], values[2]);
        }
        text
    }
}

fn same_encoder(source: &EmbeddingFile, target: &EmbeddingFile) -> Result<()> {
    let (from, to) = (source.metadata(), target.metadata());
    if !from.fingerprint.is_empty() && !to.fingerprint.is_empty() && from.fingerprint != to.fingerprint {
        bail!(
            "{} was encoded by {}, {} by {} or with other settings; encode both with the same encoder",
            source.path().display(),
            from.encoder,
            target.path().display(),
            to.encoder
        );
    }
    Ok(())
}

/// Names of the databases, in order, and the number of each item's.
fn databases(file: &EmbeddingFile) -> Result<(Vec<String>, Vec<u32>)> {
    let mut numbers: BTreeMap<&str, u32> = file.db_ids().iter().map(|db_id| (&**db_id, 0)).collect();
    for (number, value) in numbers.values_mut().enumerate() {
        *value = u32::try_from(number)?;
    }
    let groups = file.db_ids().iter().map(|db_id| numbers[&**db_id]).collect();
    Ok((numbers.keys().map(|name| (*name).to_owned()).collect(), groups))
}

/// The shift of the dimensions, largest W2/σ first; those that the source holds constant are first if they moved.
fn dimensions(
    reference: &Reference,
    source: &dyn Vectors,
    target: &dyn Vectors,
    file: &EmbeddingFile,
) -> Result<Vec<(String, DimensionShift)>> {
    let names = file.metadata().dimension_names.as_deref().unwrap_or_default();
    let count = source.dimensions();
    if names.is_empty() && count > MOST_UNNAMED_DIMENSIONS {
        return Ok(Vec::new());
    }
    let all: Vec<usize> = (0..count).collect();
    let name = |dimension: usize| names.get(dimension).cloned().unwrap_or_else(|| dimension.to_string());
    let shifts = reference.attribute_dimensions(source, target, &all)?;
    let mut shifts: Vec<_> = shifts.into_iter().map(|shift| (name(shift.dimension), shift)).collect();
    let size = |shift: &DimensionShift| {
        shift.standardised_w2.unwrap_or(if shift.w2 > 0.0 { f64::INFINITY } else { 0.0 })
    };
    shifts.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)).then(a.1.dimension.cmp(&b.1.dimension)));
    Ok(shifts)
}
