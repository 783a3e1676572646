//! Slips in one sentence.

use std::fmt::Write as _;

use crate::cause::Slip;

/// The sentence without its full stop.
pub(crate) fn sentence(slips: &[Slip]) -> String {
    let mut text = String::new();
    let mut place = None;
    for (at, slip) in slips.iter().enumerate() {
        let is_said =
            |other: &Slip| (&other.yours, &other.gold, other.place) == (&slip.yours, &slip.gold, slip.place);
        if slips[..at].iter().any(is_said) {
            continue;
        }
        if !text.is_empty() {
            text.push_str("; ");
        }
        if let Some(own) = slip.place.filter(|_| slip.place != place) {
            text.push_str(own);
            text.push_str(", ");
        }
        place = slip.place;
        let _infallible = write!(text, "yours {}, the gold {}", slip.yours, slip.gold);
    }
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}
