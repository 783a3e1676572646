//! Finds the delimiter of a text.
//!
//! # Contract
//! Of comma, semicolon, tab and vertical bar, the one by which most of the first lines have as many values as the first
//! one, which has at least two; of several the one that gives more columns, then the earlier in this list. If there is none
//! the table has one column, and its delimiter is a comma.

use csv::{ReaderBuilder, StringRecord};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The delimiter of a text that begins so.
pub(super) fn detect(head: &str, is_whole: bool) -> u8 {
    // A line that is cut off would have fewer values.
    let head = if is_whole { head } else { head.rsplit_once('\n').map_or(head, |(whole, _)| whole) };
    let fits = DELIMITERS.iter().rev().filter_map(|&delimiter| Some((fit(head, delimiter)?, delimiter)));
    fits.max_by(|(one, _), (other, _)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))
        .map_or(b',', |(_, delimiter)| delimiter)
}

/// The share of records that are as wide as the first, and that width.
fn fit(head: &str, delimiter: u8) -> Option<(f64, usize)> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(head.as_bytes());
    let (mut first, mut alike, mut all) = (None, 0_usize, 0_usize);
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).ok()? {
        let width = *first.get_or_insert(record.len());
        alike += usize::from(record.len() == width);
        all += 1;
    }
    let width = first.filter(|width| *width > 1)?;
    Some((alike as f64 / all as f64, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_that_gives_rows_of_one_width_is_found() {
        for (head, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,1;4,2\n", b';'),
            ("a\tb, c\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("name,note\n\"x; y; z\",\"1; 2\"\n", b','),
            ("alone\n1\n", b','),
            ("", b','),
            ("a,b,c\n1,2,3\n4,5", b','),
        ] {
            assert_eq!(char::from(detect(head, false)), char::from(expected), "{head:?}");
        }
    }
}
