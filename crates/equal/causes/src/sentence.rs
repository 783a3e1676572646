//! Slips in one sentence.

use std::fmt::Write as _;

use crate::cause::Slip;

const MAX_PARTS: usize = 2;

/// The sentence without its full stop.
pub(crate) fn sentence(slips: &[Slip]) -> String {
    let mut different: Vec<&Slip> = Vec::new();
    for slip in slips {
        if !different.iter().any(|other| other.reads_as(slip)) {
            different.push(slip);
        }
    }
    let mut text = String::new();
    for slip in different.iter().take(MAX_PARTS) {
        let mut part = String::new();
        match (slip.place, slip.clause) {
            (Some(place), Some(clause)) => part = format!("{place}, {clause}: "),
            (Some(place), None) => part = format!("{place}, "),
            (None, Some(clause)) => part = format!("{clause}: "),
            (None, None) => {}
        }
        let _infallible = write!(part, "the prediction {}, the gold {}", slip.prediction, slip.gold);
        text.push_str(if text.is_empty() { "" } else { "; " });
        text.push_str(&part);
    }
    let more = different.len().saturating_sub(MAX_PARTS)
        + different.iter().take(MAX_PARTS).map(|slip| slip.more).sum::<usize>();
    if more > 0 {
        let _infallible = write!(text, "; and {more} more");
    }
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}
