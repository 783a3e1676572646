//! Slips in words.

use sqlgauge_base::{capital, counted};

use crate::cause::Slip;

const MAX_PARTS: usize = 2;

/// One sentence for each of the first slips, and how many more there are, without the last full stop.
pub(crate) fn sentence(slips: &[Slip]) -> String {
    let mut different: Vec<&Slip> = Vec::new();
    for slip in slips {
        if !different.iter().any(|other| other.reads_as(slip)) {
            different.push(slip);
        }
    }
    let mut sentences: Vec<String> = different.iter().take(MAX_PARTS).map(|slip| part(slip)).collect();
    let more = different.len().saturating_sub(MAX_PARTS)
        + different.iter().take(MAX_PARTS).map(|slip| slip.more).sum::<usize>();
    if more > 0 {
        sentences.push(counted(more, "more difference"));
    }
    sentences.iter().map(|part| capital(part)).collect::<Vec<_>>().join(". ")
}

fn part(slip: &Slip) -> String {
    let place = match (slip.place, slip.clause) {
        (Some(place), Some(clause)) => format!("{place}, {clause}: "),
        (Some(place), None) => format!("{place}, "),
        (None, Some(clause)) => format!("{clause}: "),
        (None, None) => String::new(),
    };
    match (slip.prediction.as_str(), slip.gold.as_str()) {
        ("", gold) => format!("{place}only the gold {gold}"),
        (prediction, "") => format!("{place}only the prediction {prediction}"),
        (prediction, gold) => format!("{place}the prediction {prediction}, the gold {gold}"),
    }
}
