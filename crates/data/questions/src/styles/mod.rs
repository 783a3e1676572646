//! The registry of styles, one file each.

use crate::style::StyleMeta;

mod colloquial;
mod concise;
mod conversational;
mod descriptive;
mod formal;
mod imperative;
mod interrogative;
mod metaphorical;
mod multi_turn;
mod vague;

/// All styles, in the order of [`crate::QuestionStyle`].
pub(crate) const ALL: &[StyleMeta] = &[
    formal::META,
    colloquial::META,
    imperative::META,
    interrogative::META,
    descriptive::META,
    concise::META,
    vague::META,
    metaphorical::META,
    conversational::META,
    multi_turn::META,
];
