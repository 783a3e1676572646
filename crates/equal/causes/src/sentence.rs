//! Slips in one sentence.

use crate::cause::Slip;

/// The sentence without its full stop.
pub(crate) fn sentence(slips: &[Slip]) -> String {
    let mut text = String::new();
    let mut place = None;
    for slip in slips {
        if !text.is_empty() {
            text.push_str("; ");
        }
        if let Some(own) = slip.place.filter(|_| slip.place != place) {
            text.push_str(own);
            text.push_str(", ");
        }
        place = slip.place;
        text.push_str(&format!("yours {}, the gold {}", slip.yours, slip.gold));
    }
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}
