//! What a proof rests on, for a reader.

use sqlgauge_base::listed;

/// The constraints and assumptions of a proof, to stand after "if"; `None` if it rests on none. One that this version does not know stays
/// as it is recorded.
///
/// ```
/// let assumes = ["NOT NULL item.name".to_owned(), "no-overflow".to_owned()];
/// let words = sqlgauge_verify::conditions(&assumes);
/// assert_eq!(words.as_deref(), Some("`item.name` is never NULL and no number overflows"));
/// ```
pub fn conditions(assumes: &[String]) -> Option<String> {
    let words: Vec<String> = assumes.iter().map(|assumption| words(assumption)).collect();
    (!words.is_empty()).then(|| listed(&words))
}

fn words(assumption: &str) -> String {
    if let Some(column) = assumption.strip_prefix("NOT NULL ") {
        return format!("`{column}` is never NULL");
    }
    if let Some(key) = assumption.strip_prefix("FOREIGN KEY ") {
        return format!("`{key}` holds");
    }
    if let Some(rounds) = assumption.strip_prefix("recursion-within-") {
        return format!("recursion ends after {}", rounds.replace('-', " "));
    }
    let unique = ["UNIQUE ", "PRIMARY KEY "].iter().find_map(|start| assumption.strip_prefix(start));
    if let Some(columns) = unique {
        return format!("`{columns}` has no value twice");
    }
    match assumption {
        "values-of-declared-type" => "values have the declared types",
        "no-null-in-key" => "no primary key is NULL",
        "no-overflow" => "no number overflows",
        "exact-reals" => "real numbers are exact",
        "finite-numbers" => "numbers are finite",
        "texts-without-nul" => "no text has a character with the code 0",
        other => other,
    }
    .to_owned()
}
