//! Functions whose arguments the standard separates by words, and aggregates that SQLite lacks.
//!
//! | text | is spelled | why it holds |
//! |---|---|---|
//! | `EXTRACT(YEAR FROM d)`, MONTH, DAY, HOUR, MINUTE | `CAST(strftime('%Y', (d)) AS INTEGER)` | of a moment as SQLite keeps it, both are the number that its digits say |
//! | `SUBSTRING(x FROM n FOR m)` | `SUBSTR((x), n, m)` | both count characters from 1; only where n is a number of at least 1 and m one of at least 0 |
//! | `BIT_OR(x)`, `BIT_AND(x)` | the greatest, or least, value of each of the 64 bits, put together | a bit of the result is set if it is in one value, or in all; NULLs are passed over by both, and without a value both are NULL |

use std::fmt::Write as _;

use super::words::{Edits, Words};

const UNITS: [(&str, &str); 5] =
    [("YEAR", "%Y"), ("MONTH", "%m"), ("DAY", "%d"), ("HOUR", "%H"), ("MINUTE", "%M")];

pub(super) fn extract(words: &Words<'_>) -> Edits {
    let mut edits = Edits::new();
    for at in (0..words.len()).filter(|&at| words.is(at, &["EXTRACT"])) {
        let unit = UNITS.iter().find(|(unit, _)| words.is(at + 2, &[unit]));
        let (Some((_, format)), Some(close)) = (unit, words.closing(at + 1)) else { continue };
        if words.is(at + 3, &["FROM"]) {
            edits.insert(at, format!("CAST(strftime('{format}', "));
            edits.extend([at + 2, at + 3].map(|at| (at, String::new())));
            edits.insert(close, ")) AS INTEGER)".to_owned());
        }
    }
    edits
}

pub(super) fn substring(words: &Words<'_>) -> Edits {
    let mut edits = Edits::new();
    for at in (0..words.len()).filter(|&at| words.is(at, &["SUBSTRING"])) {
        let Some(close) = words.closing(at + 1) else { continue };
        let Some(from) = words.level(at + 2, close).find(|&place| words.is(place, &["FROM"])) else {
            continue;
        };
        let is_number = |place: usize| words.at(place).bytes().all(|byte| byte.is_ascii_digit());
        let begins = is_number(from + 1) && words.at(from + 1).bytes().any(|byte| byte != b'0');
        let has_length = words.is(from + 2, &["FOR"]) && is_number(from + 3) && from + 4 == close;
        if begins && (has_length || from + 2 == close) {
            edits.insert(at, "SUBSTR(".to_owned());
            edits.insert(from, "),".to_owned());
            edits.insert(from + 1, words.at(from + 1).to_owned());
            if has_length {
                edits.insert(from + 2, ",".to_owned());
            }
            edits.insert(at + 1, "(".to_owned());
        }
    }
    edits
}

/// The longest argument that is written 64 times, in words.
const MAX_ARGUMENT: usize = 16;

pub(super) fn bit_aggregates(words: &Words<'_>) -> Edits {
    let mut edits = Edits::new();
    for at in (0..words.len()).filter(|&at| words.is(at, &["BIT_OR", "BIT_AND"])) {
        let Some(close) = words.closing(at + 1) else { continue };
        let is_short = (at + 3..=at + 2 + MAX_ARGUMENT).contains(&close);
        if !is_short || words.is(at + 2, &["DISTINCT", "ALL"]) {
            continue;
        }
        let argument = words.text(at + 2, close);
        let extremum = if words.is(at, &["BIT_OR"]) { "MAX" } else { "MIN" };
        let mut spelled = String::from("(");
        for bit in 0..64 {
            let sign = if bit == 0 { "" } else { " | " };
            // Writing to a String cannot fail.
            let _ = write!(spelled, "{sign}({extremum}((({argument}) >> {bit}) & 1) << {bit})");
        }
        edits.extend((at + 1..=close).map(|at| (at, String::new())));
        edits.insert(at, spelled + ")");
    }
    edits
}
