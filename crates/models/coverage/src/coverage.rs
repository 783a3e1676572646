//! Several corpora beside each other.

use serde::Serialize;
use sqlgauge_encode::EncodeError;

use crate::dimensions::DIMENSIONS;
use crate::measurement::Measurement;
use crate::projection::{Projection, project};
use crate::reach::Reach;
use crate::sizes::Sizes;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorpusCoverage {
    pub name: String,
    /// Tables I and II.
    pub sizes: Sizes,
    /// Figure 4: in the order of [`DIMENSIONS`]; none where it has no value.
    pub reach: Vec<Option<Reach>>,
}

/// What several corpora cover.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The version of the program.
    pub tool_version: String,
    pub dimensions: Vec<&'static str>,
    /// The corpora in the order in which they were given.
    pub corpora: Vec<CorpusCoverage>,
    /// Figure 3.
    pub projections: Vec<Projection>,
}

impl CorpusCoverage {
    /// In how many dimensions no other corpus reaches further.
    pub fn widest_in(&self) -> usize {
        self.reach.iter().flatten().filter(|reach| reach.normalised == Some(1.0)).count()
    }
}

impl Coverage {
    /// Compares corpora.
    ///
    /// # Errors
    /// When an item cannot be encoded.
    pub fn of(measurements: &[Measurement], tool_version: &str) -> Result<Self, EncodeError> {
        let mut corpora: Vec<CorpusCoverage> = measurements
            .iter()
            .map(|measurement| CorpusCoverage {
                name: measurement.name().to_owned(),
                sizes: measurement.sizes(),
                reach: measurement.reach(),
            })
            .collect();
        normalise(&mut corpora);
        let samples: Vec<_> = measurements.iter().map(Measurement::sample).collect();
        Ok(Self {
            tool_version: tool_version.to_owned(),
            dimensions: DIMENSIONS.iter().map(|dimension| dimension.name).collect(),
            corpora,
            projections: project(&samples)?,
        })
    }
}

/// Widths as shares of the largest.
fn normalise(corpora: &mut [CorpusCoverage]) {
    for at in 0..DIMENSIONS.len() {
        let most =
            corpora.iter().filter_map(|corpus| corpus.reach[at]).map(|reach| reach.width).fold(0.0, f64::max);
        for reach in corpora.iter_mut().filter_map(|corpus| corpus.reach[at].as_mut()) {
            reach.normalised = (most > 0.0).then(|| reach.width / most);
        }
    }
}
