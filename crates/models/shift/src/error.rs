//! Errors: what can be wrong with the vectors, and what to do.

use std::fmt;

use serde::Serialize;
use sqlgauge_encode::VectorsError;

/// Which of the two sets a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SetSide {
    /// The set that the system was built for, with known accuracy.
    Source,
    /// The set without labels.
    Target,
    /// The labelled corpus that sample sets are drawn from.
    Corpus,
}

impl fmt::Display for SetSide {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Source => "source",
            Self::Target => "target",
            Self::Corpus => "corpus",
        })
    }
}

/// Why no shift could be computed.
#[derive(Debug, thiserror::Error)]
pub enum ShiftError {
    /// The vectors of a side could not be read.
    #[error("the {side} cannot be read: {error}")]
    Read {
        side: SetSide,
        /// What the reader said.
        error: VectorsError,
    },
    /// A vector has a component that is no finite number.
    #[error(
        "the {side} has {value} in row {row}, dimension {dimension} (both from 0); encode that item again or leave it out"
    )]
    NotFinite {
        side: SetSide,
        /// Row, from 0.
        row: usize,
        /// Dimension, from 0.
        dimension: usize,
        /// The component.
        value: f32,
    },
    /// A projection left the range of `f32`.
    #[error(
        "the {side} has components so large in row {row} (from 0) that a projection overflows; scale the vectors"
    )]
    Overflow {
        side: SetSide,
        /// Row, from 0.
        row: usize,
    },
    /// Vectors of different dimensions meet.
    #[error(
        "the {side} has vectors of {dimensions} dimensions where {expected} are expected; encode both sides with the same encoder"
    )]
    Dimensions {
        /// The side that differs.
        side: SetSide,
        dimensions: usize,
        /// The dimensions of the other.
        expected: usize,
    },
    /// A set is too small.
    #[error("the {side} has {count} vectors, but at least {needed} are needed")]
    TooFew {
        side: SetSide,
        /// Vectors found.
        count: usize,
        /// Vectors needed.
        needed: usize,
    },
    /// All vectors of the source are the same.
    #[error(
        "all vectors of the source are the same, so deviations from it have no scale; give a source that varies"
    )]
    Constant,
    /// Partial results that were made on different directions meet.
    #[error(
        "the parts were projected on different directions; compute all of them with the same slices and seed"
    )]
    OtherDirections,
    /// A saved result is damaged or of another version.
    #[error("not a saved {what} that this version can read: {why}")]
    Corrupt {
        /// What was expected.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// An option, or a list that goes with the vectors, does not fit.
    #[error("{0}")]
    Invalid(String),
}
