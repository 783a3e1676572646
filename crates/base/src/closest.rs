//! Suggests names for a mistyped one.

/// Longest name that is compared; anything longer is no typing error.
const MAX_CHARS: usize = 200;

/// Up to three of `candidates` that are close to `name`, closest first.
///
/// Close means a Levenshtein distance of at most a third of the name (at least two), case ignored, or that one
/// contains the other.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(MAX_CHARS).collect();
    let allowed = (wanted.len() / 3).max(2);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = distance(&wanted, &lower.chars().take(MAX_CHARS).collect::<Vec<_>>());
            let contains = name.len() > 2 && (lower.contains(&name.to_lowercase()) || name.contains(&lower));
            (distance <= allowed || (contains && lower.len() > 2)).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Levenshtein distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn typing_errors_find_their_name_and_strangers_find_nothing() {
        let names = ["concert_singer", "singer", "pets_1", "car_1"];
        assert_eq!(closest("concert_singr", names), ["concert_singer"]);
        assert_eq!(closest("Pets_1", names), ["pets_1"]);
        assert_eq!(closest("singers", names)[0], "singer");
        assert_eq!(closest("world_cup_2014", names), [""; 0]);
    }
}
