//! A number beside what it counts, and the beginning of a sentence.

use std::fmt::Display;

/// `1 row`, `2 rows`, `0 witnesses`, `3 queries`: the number and the noun in the form that goes with it.
///
/// ```
/// assert_eq!(sqlgauge_base::counted(1, "witness"), "1 witness");
/// assert_eq!(sqlgauge_base::counted(2_u64, "witness"), "2 witnesses");
/// ```
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    format!("{count} {}", noun_for(&count, noun))
}

/// `0 of 1 row`, `1 of 3 rows`: a part of what is counted.
///
/// ```
/// assert_eq!(sqlgauge_base::counted_of(1, 1, "item"), "1 of 1 item");
/// assert_eq!(sqlgauge_base::counted_of(1, 3, "query"), "1 of 3 queries");
/// ```
pub fn counted_of<N: Copy + Display + PartialEq + From<u8>>(part: N, whole: N, noun: &str) -> String {
    format!("{part} of {}", counted(whole, noun))
}

/// The verb that goes with a number: the first for 1, else the second.
///
/// ```
/// assert_eq!(sqlgauge_base::verb_for(&1, ["has", "have"]), "has");
/// ```
pub fn verb_for<'a, N: PartialEq + From<u8>>(count: &N, [one, many]: [&'a str; 2]) -> &'a str {
    if *count == N::from(1) { one } else { many }
}

/// The noun in the form that goes with a number: `row` for 1, else `rows`.
pub fn noun_for<N: PartialEq + From<u8>>(count: &N, noun: &str) -> String {
    if *count == N::from(1) {
        return noun.to_owned();
    }
    let before_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if let Some(stem) = before_y {
        return format!("{stem}ies");
    }
    let is_hissing = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    format!("{noun}{}", if is_hissing { "es" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The text with its first letter as a sentence has it. The id of a metric, `ex@1`, stays as it is.
///
/// ```
/// assert_eq!(sqlgauge_base::capital("two rows"), "Two rows");
/// assert_eq!(sqlgauge_base::capital("ex@1: two rows"), "ex@1: two rows");
/// ```
pub fn capital(text: &str) -> String {
    if text.split_whitespace().next().is_some_and(|word| word.contains('@')) {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        for (count, noun, expected) in [
            (0, "row", "0 rows"),
            (1, "row", "1 row"),
            (2, "row", "2 rows"),
            (1, "witness", "1 witness"),
            (2, "witness", "2 witnesses"),
            (1, "query", "1 query"),
            (3, "query", "3 queries"),
            (2, "key", "2 keys"),
            (2, "sample set", "2 sample sets"),
            (21, "match", "21 matches"),
        ] {
            assert_eq!(counted(count, noun), expected);
        }
    }
}
