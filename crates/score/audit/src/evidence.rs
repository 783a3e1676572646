//! What the evidence of a benchmark says: calls such as `MAX(goals)`, comparisons such as `status = 'C'`, names of columns.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stated<'t> {
    /// The name on the left.
    pub(crate) column: &'t str,
    /// The operator without spaces.
    pub(crate) operator: String,
    /// The text or number on the right, without quotes.
    pub(crate) value: &'t str,
    pub(crate) is_number: bool,
}

/// The arguments of the calls of that name, in any letter case: `max (a)` and `MAX(a)`.
pub(crate) fn calls<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let mut calls = Vec::new();
    for (at, _) in text.char_indices() {
        let Some(head) = text.get(at..at + name.len()) else { continue };
        let is_word = !text[..at].chars().next_back().is_some_and(is_of_word);
        if !is_word || !head.eq_ignore_ascii_case(name) {
            continue;
        }
        if let Some(rest) = text[at + name.len()..].trim_start().strip_prefix('(') {
            calls.push(&rest[..closed(rest)]);
        }
    }
    calls
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

/// The texts in quotes of any kind. An apostrophe inside a word, as in "Fu's Club", does not count as a quote.
pub(crate) fn quoted(text: &str) -> Vec<&str> {
    const PAIRS: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’')];
    let mut texts = Vec::new();
    let mut from = 0;
    while let Some((start, open)) =
        text[from..].char_indices().find(|(_, c)| PAIRS.iter().any(|(open, _)| open == c))
    {
        let (start, inner) = (from + start, from + start + open.len_utf8());
        from = inner;
        let is_open = !text[..start].chars().next_back().is_some_and(is_of_word);
        let Some((_, close)) = PAIRS.iter().find(|(opening, _)| is_open && *opening == open) else {
            continue;
        };
        let ends = |(at, _): &(usize, &str)| {
            !text[inner + at + close.len_utf8()..].chars().next().is_some_and(is_of_word)
        };
        if let Some((end, _)) = text[inner..].match_indices(*close).find(ends) {
            texts.push(&text[inner..inner + end]);
            from = inner + end + close.len_utf8();
        }
    }
    texts
}

/// The comparisons with a text in quotes or with a number, and the texts of lists: `name IN ('a', 'b')`.
pub(crate) fn comparisons(text: &str) -> Vec<Stated<'_>> {
    let is_operator = |c: char| matches!(c, '=' | '<' | '>' | '!');
    let mut stated = lists(text);
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
            stated.push(Stated { column, operator, value, is_number });
        }
    }
    stated
}

/// The texts of lists, each as a comparison by `in`.
fn lists(text: &str) -> Vec<Stated<'_>> {
    let mut stated = Vec::new();
    for (at, _) in text.char_indices() {
        let Some(head) = text.get(at..at + 3).filter(|head| head.eq_ignore_ascii_case(" in")) else {
            continue;
        };
        let Some(list) = text[at + head.len()..].trim_start().strip_prefix('(') else { continue };
        let before = text[..at].trim_end();
        let is_not =
            before.get(before.len().saturating_sub(4)..).filter(|end| end.eq_ignore_ascii_case(" not"));
        let Some(column) = name_before(&before[..before.len() - is_not.map_or(0, str::len)]) else {
            continue;
        };
        let values = quoted(&list[..closed(list)]).into_iter();
        stated.extend(values.map(|value| Stated {
            column,
            operator: "in".to_owned(),
            value,
            is_number: false,
        }));
    }
    stated
}

/// The name at the end of a text, without quotes; of `YEAR(name)` that in the parentheses.
fn name_before(text: &str) -> Option<&str> {
    let text = text.trim_end();
    if let Some(call) = text.strip_suffix(')') {
        let (function, argument) = call.rsplit_once('(')?;
        let is_part =
            |name: &str| ["year", "month", "day"].iter().any(|part| part.eq_ignore_ascii_case(name));
        return name_before(function).filter(|name| is_part(name)).and_then(|_| name_before(argument));
    }
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
/// before an operator, after "refers to", or inside a call. `year(born)` does not name a column `year`. What is only counted, as in
/// `COUNT(id)`, is a row and no column for a query that `counts`.
pub(crate) fn names(text: &str, column: &str, counts: bool) -> bool {
    if column.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
        return false;
    }
    let is_plain = !column.contains('_') && !column.chars().skip(1).any(char::is_uppercase);
    // A name such as GOT is a word in small letters.
    let is_abbreviation = !column.chars().any(char::is_lowercase);
    let (lower, wanted) = (text.to_lowercase(), column.to_lowercase());
    lower.match_indices(&wanted).any(|(at, _)| {
        let (before, after) = (&lower[..at], &lower[at + wanted.len()..]);
        if before.chars().next_back().is_some_and(is_of_word) || after.chars().next().is_some_and(is_of_word)
        {
            return false;
        }
        let is_quoted = before.ends_with('`') && after.starts_with('`');
        let rest = after.trim_start_matches(['`', '"']).trim_start();
        let before = unqualified(before.trim_end_matches(['`', '"', '\'']).trim_end());
        let called = before.strip_suffix('(').map(str::trim_end);
        if rest.starts_with('(') || (counts && called.is_some_and(|before| before.ends_with("count"))) {
            return false;
        }
        let is_compared = rest.starts_with(['=', '<', '>', '!']);
        let is_argument = called.is_some_and(|before| before.ends_with(is_of_word));
        let is_written = !is_abbreviation || text.get(at..at + column.len()) == Some(column);
        is_quoted
            || (!is_plain && is_written)
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
        let stated =
            comparisons("man refers to T1.sex = 'M'; `Free Meals` > = 3.5; name = 'Fu's Club'; x = y; b=2a");
        let all: Vec<_> = stated
            .iter()
            .map(|comparison| (comparison.column, comparison.operator.as_str(), comparison.value))
            .collect();
        assert_eq!(all, [("sex", "=", "M"), ("Free Meals", ">=", "3.5"), ("name", "=", "Fu's Club")]);
        assert!(stated[1].is_number && comparisons("é = 'ß").is_empty() && comparisons("=").is_empty());
    }

    #[test]
    fn lists_and_parts_of_dates_are_comparisons() {
        let stated =
            comparisons("SSA IN('-', '+-'); not `A 1` not in ( 'x' ); YEAR(`First Date`) < 2000; abs(x) = 3");
        let all: Vec<_> = stated
            .iter()
            .map(|comparison| (comparison.column, comparison.operator.as_str(), comparison.value))
            .collect();
        let expected =
            [("SSA", "in", "-"), ("SSA", "in", "+-"), ("A 1", "in", "x"), ("First Date", "<", "2000")];
        assert_eq!(all, expected);
    }

    #[test]
    fn quotes_hold_texts_and_an_apostrophe_does_not() {
        assert_eq!(quoted("the 'Fu's Club' of “Ann”, don't 'x"), ["Fu's Club", "Ann"]);
        assert_eq!(quoted("''"), [""]);
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
            assert!(names(text, column, false), "{text}");
        }
        for (text, column) in [
            ("the height of the player", "height"),
            ("birthday = 1", "day"),
            ("year (born) = 1990", "year"),
            ("the status got 9", "GOT"),
        ] {
            assert!(!names(text, column, false), "{text}");
        }
        assert!(names("COUNT(T1.id) > 3", "id", false) && !names("MAX(COUNT(T1.id))", "id", true));
    }
}
