//! What a column tells of its row, told from its name: where it is, when it was, what it costs.
//!
//! # Contract
//! [`topic`] looks at the last two words, and then at the words from the last one on, as `topics.txt` lists them, in the singular
//! or in the plural; a column whose name has none has no topic. It knows nothing of the values.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::inflect::singular;

static TOPICS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = crate::lines(include_str!("../data/topics.txt")).filter_map(|line| line.split_once('|'));
    let nouns =
        lines.flat_map(|(topic, nouns)| crate::list(nouns).into_iter().map(move |noun| (noun, topic.trim())));
    nouns.collect()
});

/// Topics that say least of a row.
const WEAK: [&str; 2] = ["counts", "status"];

/// The topic of a column whose name has these words, in lower case and written out.
pub fn topic<S: AsRef<str>>(words: &[S]) -> Option<&'static str> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let of = |word: &str| TOPICS.get(word).or_else(|| TOPICS.get(&*singular(word))).copied();
    // "Number of employees" counts, whatever is counted.
    if words.first().is_some_and(|first| ["number", "num", "count"].contains(first)) {
        return of("number");
    }
    // "Is full time" is no time.
    if words.first().is_some_and(|first| ["is", "has"].contains(first)) {
        return of("status");
    }
    let last_two = words.last_chunk::<2>().and_then(|two| of(&two.join(" ")));
    let all = || words.iter().rev().filter_map(|word| of(word));
    last_two.or_else(|| all().find(|topic| !WEAK.contains(topic))).or_else(|| all().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_topic_have_different_nouns() {
        for (name, expected) in [
            (vec!["zip", "code"], Some("address")),
            (vec!["membership", "code"], Some("status")),
            (vec!["home", "city"], Some("address")),
            (vec!["email", "address"], Some("contact")),
            (vec!["payment", "date"], Some("dates")),
            (vec!["date", "of", "birth"], Some("dates")),
            (vec!["number", "of", "cities"], Some("counts")),
            (vec!["is", "full", "time"], Some("status")),
            (vec!["sales"], Some("finances")),
            (vec!["name"], None),
            (vec![], None),
        ] {
            assert_eq!(topic(&name), expected, "{name:?}");
        }
    }
}
