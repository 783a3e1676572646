//! What the evidence of a benchmark says: calls such as `MAX(goals)`, comparisons such as `status = 'C'`, names of columns.

/// A comparison that the evidence states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stated<'t> {
    /// The name on the left.
    pub(crate) column: &'t str,
    /// The operator without spaces.
    pub(crate) operator: String,
    /// The text or number on the right, without quotes.
    pub(crate) value: &'t str,
    /// Whether the value is a number.
    pub(crate) is_number: bool,
}

/// The arguments of the calls of that name, in any letter case: `max (a)` and `MAX(a)`.
pub(crate) fn calls<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    for (at, _) in text.char_indices() {
        let Some(head) = text.get(at..at + name.len()) else { continue };
        let is_word = !text[..at].chars().next_back().is_some_and(is_of_word);
        if !is_word || !head.eq_ignore_ascii_case(name) {
            continue;
        }
        if let Some(rest) = text[at + name.len()..].trim_start().strip_prefix('(') {
            found.push(&rest[..closed(rest)]);
        }
    }
    found
}

/// Where the parenthesis that was opened before the text is closed, or the end.
fn closed(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The comparisons with a text in quotes or with a number.
pub(crate) fn comparisons(text: &str) -> Vec<Stated<'_>> {
    let is_operator = |c: char| matches!(c, '=' | '<' | '>' | '!');
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find(is_operator).map(|at| from + at) {
        let mut operator = String::new();
        let rest = text[start..].trim_start_matches(|c: char| {
            if is_operator(c) {
                operator.push(c);
            }
            is_operator(c) || c.is_whitespace()
        });
        from = text.len() - rest.len();
        if let (Some(column), Some((value, is_number))) = (name_before(&text[..start]), value_of(rest)) {
            found.push(Stated { column, operator, value, is_number });
        }
    }
    found
}

/// The name at the end of a text, without quotes.
fn name_before(text: &str) -> Option<&str> {
    let text = text.trim_end();
    if let Some(quote) = text.chars().next_back().filter(|c| matches!(c, '`' | '"')) {
        let inner = &text[..text.len() - 1];
        return inner.rfind(quote).map(|at| &inner[at + 1..]);
    }
    let start = text
        .rfind(|c: char| !is_of_word(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    Some(&text[start..]).filter(|name| !name.is_empty())
}

/// The text in quotes or the number at the start of a text.
fn value_of(text: &str) -> Option<(&str, bool)> {
    let first = text.chars().next()?;
    if matches!(first, '\'' | '"') {
        let inner = &text[1..];
        // A quote inside a word, as in 'Fu's Club', does not end the value.
        let ends = |at: &(usize, &str)| !inner[at.0 + 1..].chars().next().is_some_and(is_of_word);
        let end = inner.match_indices(first).find(ends)?.0;
        return Some((&inner[..end], false)).filter(|(value, _)| !value.trim().is_empty());
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    let goes_on = text[end..].chars().next().is_some_and(is_of_word);
    (first.is_ascii_digit() && !goes_on && number.parse::<f64>().is_ok()).then_some((number, true))
}

/// Whether the evidence names that column, and not only uses its word: in backquotes, with an underscore or a capital inside,
/// before an operator, after "refers to", or inside a call.
pub(crate) fn names(text: &str, column: &str) -> bool {
    if column.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
        return false;
    }
    let is_plain = !column.contains('_') && !column.chars().skip(1).any(char::is_uppercase);
    let (lower, wanted) = (text.to_lowercase(), column.to_lowercase());
    lower.match_indices(&wanted).any(|(at, _)| {
        let (before, after) = (&lower[..at], &lower[at + wanted.len()..]);
        if before.chars().next_back().is_some_and(is_of_word) || after.chars().next().is_some_and(is_of_word)
        {
            return false;
        }
        let is_quoted = before.ends_with('`') && after.starts_with('`');
        let before = unqualified(before.trim_end_matches(['`', '"', '\'']).trim_end());
        let is_compared = after.trim_start_matches(['`', '"']).trim_start().starts_with(['=', '<', '>', '!']);
        let is_argument = before.ends_with('(') && before.trim_end_matches('(').ends_with(is_of_word);
        is_quoted
            || !is_plain
            || is_compared
            || is_argument
            || ["refers to", "refer to"].iter().any(|words| before.ends_with(words))
    })
}

/// The text before a name, without the table that stands before the name: `MAX(T1.`.
fn unqualified(before: &str) -> &str {
    before.strip_suffix('.').map_or(before, |rest| rest.trim_end_matches(is_of_word).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_their_arguments() {
        assert_eq!(calls("the most = MAX(COUNT(id)); Max (age)", "max"), ["COUNT(id)", "age"]);
        assert!(calls("climax(1), a maximum of (2)", "max").is_empty());
        assert_eq!(calls("sum(a", "sum"), ["a"]);
    }

    #[test]
    fn comparisons_have_a_name_and_a_value() {
        let found =
            comparisons("man refers to T1.sex = 'M'; `Free Meals` > = 3.5; name = 'Fu's Club'; x = y; b=2a");
        let all: Vec<_> = found.iter().map(|own| (own.column, own.operator.as_str(), own.value)).collect();
        assert_eq!(all, [("sex", "=", "M"), ("Free Meals", ">=", "3.5"), ("name", "=", "Fu's Club")]);
        assert!(found[1].is_number && comparisons("é = 'ß").is_empty() && comparisons("=").is_empty());
    }

    #[test]
    fn a_column_is_named_and_not_only_its_word_used() {
        for (text, column) in [
            ("the salary refers to salary", "salary"),
            ("MAX(height)", "height"),
            ("MAX(T1.height)", "height"),
            ("of the `City`", "City"),
            ("largest water_area", "water_area"),
            ("where pos = 'G'", "pos"),
        ] {
            assert!(names(text, column), "{text}");
        }
        assert!(!names("the height of the player", "height") && !names("birthday = 1", "day"));
    }
}
