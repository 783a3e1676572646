//! How far one workload lies from another: `sqlgauge shift`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sqlgauge_base::server::is_address;
use sqlgauge_encode::{EmbeddingFile, Vectors};
use sqlgauge_shift::{
    Descriptors, DimensionShift, GroupShift, Reference, Slices, Standardised, moments, shift,
};

use crate::context::Context;
use crate::error::Error;

/// Dimensions whose columns are compared, when the file does not name them.
const MOST_UNNAMED_DIMENSIONS: usize = 512;

/// Measures how far the embeddings of one workload lie from those of another.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, EncodeJob, Sample, SchemaSource, ShiftJob};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let file = folder.path().join("sample.parquet");
/// EncodeJob::new(sample.questions, SchemaSource::Tables(sample.tables), &file).run(&Context::default())?;
///
/// let shift = ShiftJob::new(&file, &file).run(&Context::default())?;
/// assert!(shift.descriptors.frechet.mean_shift.abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ShiftJob {
    /// Embeddings to measure from.
    pub source: PathBuf,
    /// Embeddings to compare with them.
    pub target: PathBuf,
    /// Directions of the sliced Wasserstein distance.
    pub slices: Slices,
    /// Seed of the random directions.
    pub seed: u64,
    /// Divide every dimension by the source's standard deviation first.
    pub standardise: bool,
}

/// The shift between two workloads, and its causes.
#[derive(Debug, Clone)]
pub struct WorkloadShift {
    /// The whole shift.
    pub descriptors: Descriptors,
    /// Principal directions that were used.
    pub principal: usize,
    /// Random directions that were used.
    pub random: usize,
    /// The shift of each database, the largest first.
    pub databases: Vec<(String, GroupShift)>,
    /// The shift of each dimension, the largest first; empty where there are many without names.
    pub dimensions: Vec<(String, DimensionShift)>,
}

impl ShiftJob {
    /// The job with the directions of the command line and seed 0, without standardising.
    pub fn new(source: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), target: target.into(), ..Self::default() }
    }

    /// Measures.
    ///
    /// # Errors
    /// When a file cannot be read, the encoders differ, or the vectors are too few or not finite.
    pub fn run(&self, _: &Context<'_>) -> Result<WorkloadShift, Error> {
        if let Some(address) = [&self.source, &self.target].into_iter().find(|path| is_address(path)) {
            return Err(Error::Invalid(format!(
                "{} is a database, and shift compares embeddings; write them with \
                 `sqlgauge encode --questions FILE --db ADDRESS --out FILE`",
                address.display()
            )));
        }
        let (source, target) = (EmbeddingFile::open(&self.source)?, EmbeddingFile::open(&self.target)?);
        same_encoder(&source, &target)?;
        if self.standardise {
            let spread = moments(&source)?;
            let (near, far) = (Standardised::new(&source, &spread)?, Standardised::new(&target, &spread)?);
            return self.compare(&near, &far, &target);
        }
        self.compare(&source, &target, &target)
    }

    fn compare(
        &self,
        source: &dyn Vectors,
        target: &dyn Vectors,
        file: &EmbeddingFile,
    ) -> Result<WorkloadShift, Error> {
        let (reference, descriptors) = shift(source, target, self.slices, self.seed)?;
        let (names, groups) = databases(file);
        let shifts = reference.attribute_groups(target, &groups)?;
        let mut databases: Vec<(String, GroupShift)> = names.into_iter().zip(shifts).collect();
        databases.sort_by(|a, b| b.1.sliced_square.total_cmp(&a.1.sliced_square).then_with(|| a.0.cmp(&b.0)));
        let dimensions = dimensions(&reference, source, target, file)?;
        let principal = reference.directions().principal();
        let random = reference.directions().len() - principal;
        Ok(WorkloadShift { descriptors, principal, random, databases, dimensions })
    }
}

fn same_encoder(source: &EmbeddingFile, target: &EmbeddingFile) -> Result<(), Error> {
    let (from, to) = (source.metadata(), target.metadata());
    if !from.fingerprint.is_empty() && !to.fingerprint.is_empty() && from.fingerprint != to.fingerprint {
        return Err(Error::OtherEncoder {
            source_file: source.path().to_owned(),
            source_encoder: from.encoder.clone(),
            target_file: target.path().to_owned(),
            target_encoder: to.encoder.clone(),
        });
    }
    Ok(())
}

/// Names of the databases, in order, and the number of each item's.
fn databases(file: &EmbeddingFile) -> (Vec<String>, Vec<u32>) {
    let mut numbers: BTreeMap<&str, u32> = file.db_ids().iter().map(|db_id| (&**db_id, 0)).collect();
    for (value, number) in numbers.values_mut().zip(0..) {
        *value = number;
    }
    let groups = file.db_ids().iter().map(|db_id| numbers[&**db_id]).collect();
    (numbers.keys().map(|name| (*name).to_owned()).collect(), groups)
}

/// The shift of the dimensions, largest W2/σ first; those that the source holds constant are first if they moved.
fn dimensions(
    reference: &Reference,
    source: &dyn Vectors,
    target: &dyn Vectors,
    file: &EmbeddingFile,
) -> Result<Vec<(String, DimensionShift)>, Error> {
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
