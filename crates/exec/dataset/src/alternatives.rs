//! Several golds in one text: choices of columns, and queries behind each other.
//!
//! # Contract
//! This is how the golds of defog's sql-eval are written; its `get_all_minimal_queries` reads them the same way.
//! - `SELECT {a, b} FROM t` accepts any of those columns, at least one, in their order: it stands for the golds with `a`, with `b`
//!   and with `a, b`. `{}` behind it stands for the columns that were taken, without their aliases: `GROUP BY {}`. Several such
//!   choices in one gold are free of each other.
//! - A semicolon separates golds, but only in a row of sql-eval (it has a `query_category`): elsewhere a second statement is a
//!   mistake of the gold.
//!
//! Braces inside of quotes are text. Braces with a colon are a value of DuckDB and stay.

use sqlgauge_sql::lex::{Token, tokens, words};

/// Golds that one text may stand for: eight columns to choose from.
const MOST: usize = 255;

/// The column by which a row of sql-eval is known.
pub(crate) const SQL_EVAL: &str = "query_category";

/// What the semicolons of a text separate, blank pieces aside.
pub(crate) fn statements(text: &str) -> Vec<&str> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for end in tokens(text).filter(|token| token.text == ";") {
        pieces.push(&text[from..end.start]);
        from = end.range().end;
    }
    pieces.push(&text[from..]);
    pieces.retain(|piece| words(piece).next().is_some());
    pieces.into_iter().map(str::trim).collect()
}

/// The golds that a text with choices of columns stands for; itself where it has none. `None` where they are too many.
pub(crate) fn choices(text: &str) -> Option<Vec<String>> {
    let (mut settled, mut open) = (Vec::new(), vec![text.to_owned()]);
    while let Some(text) = open.pop() {
        let spelled = match Choice::first(&text) {
            None => {
                settled.push(text);
                continue;
            }
            Some(choice) if settled.len() + open.len() + choice.subsets() > MOST => return None,
            Some(choice) => choice.spelled(),
        };
        // The last one is taken first.
        open.extend(spelled.into_iter().rev());
    }
    Some(settled)
}

/// The columns of one pair of braces.
struct Choice<'a> {
    before: &'a str,
    options: Vec<&'a str>,
    after: &'a str,
}

impl<'a> Choice<'a> {
    fn first(text: &'a str) -> Option<Self> {
        let all: Vec<Token<'a>> = words(text).collect();
        let is_open = |at: usize| {
            let before = at.checked_sub(1).map_or("", |before| all[before].text);
            let begins =
                ["SELECT", "DISTINCT", "ALL", ","].iter().any(|word| before.eq_ignore_ascii_case(word));
            all[at].text == "{" && begins
        };
        let (open, close) = (0..all.len()).filter(|&at| is_open(at)).find_map(|open| {
            let close = open + all[open..].iter().position(|token| token.text == "}")?;
            let inside = &all[open + 1..close];
            let is_value = inside.iter().any(|token| token.text.starts_with(':') || token.text == "{");
            (!inside.is_empty() && !is_value).then_some((open, close))
        })?;
        Some(Self {
            before: &text[..all[open].start],
            options: options(text, &all[open..=close]),
            after: &text[all[close].range().end..],
        })
    }

    fn subsets(&self) -> usize {
        u32::try_from(self.options.len())
            .ok()
            .and_then(|count| 1_usize.checked_shl(count))
            .map_or(usize::MAX, |all| all - 1)
    }

    /// A text for each subset, the small ones first.
    fn spelled(&self) -> Vec<String> {
        let columns_of = |mask: usize| -> Vec<&str> {
            let of = self.options.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
            of.map(|(_, option)| *option).collect()
        };
        let mut masks: Vec<usize> = (1..=self.subsets()).collect();
        masks.sort_by_key(|mask| mask.count_ones());
        let of_mask = |mask: usize| {
            let columns = columns_of(mask);
            let names: Vec<&str> = columns.iter().map(|column| without_alias(column)).collect();
            [self.before, &columns.join(", "), &filled(self.after, &names.join(", "))].concat()
        };
        masks.into_iter().map(of_mask).collect()
    }
}

/// What the commas between braces separate.
fn options<'a>(text: &'a str, braces: &[Token<'a>]) -> Vec<&'a str> {
    let (mut options, mut depth) = (Vec::new(), 0_usize);
    let [open, rest @ ..] = braces else { return options };
    let mut from = open.range().end;
    for token in rest {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "," | "}" if depth == 0 => {
                options.push(text[from..token.start].trim());
                from = token.range().end;
            }
            _ => {}
        }
    }
    options.retain(|option| !option.is_empty());
    options
}

/// A column without `AS name`.
fn without_alias(column: &str) -> &str {
    let mut depth = 0_usize;
    for token in words(column) {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            word if depth == 0 && word.eq_ignore_ascii_case("AS") => return column[..token.start].trim_end(),
            _ => {}
        }
    }
    column
}

/// The text with the columns for each `{}` up to the next choice.
fn filled(text: &str, columns: &str) -> String {
    let all: Vec<Token<'_>> = words(text).collect();
    let (mut out, mut from) = (String::new(), 0);
    for pair in all.windows(2) {
        match (pair[0].text, pair[1].text) {
            ("{", "}") => {
                out.push_str(&text[from..pair[0].start]);
                out.push_str(columns);
                from = pair[1].range().end;
            }
            ("{", _) => break,
            _ => {}
        }
    }
    out + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_stands_for_each_subset_of_its_columns() {
        for (text, expected) in [
            ("SELECT a FROM t", vec!["SELECT a FROM t"]),
            ("SELECT {a} FROM t", vec!["SELECT a FROM t"]),
            (
                "SELECT {t.a, f(b, c) AS d}, count(*) FROM t GROUP BY {} ORDER BY {}",
                vec![
                    "SELECT t.a, count(*) FROM t GROUP BY t.a ORDER BY t.a",
                    "SELECT f(b, c) AS d, count(*) FROM t GROUP BY f(b, c) ORDER BY f(b, c)",
                    "SELECT t.a, f(b, c) AS d, count(*) FROM t GROUP BY t.a, f(b, c) ORDER BY t.a, f(b, c)",
                ],
            ),
            (
                "SELECT DISTINCT {a,b} FROM t UNION SELECT {c} FROM u GROUP BY {}",
                vec![
                    "SELECT DISTINCT a FROM t UNION SELECT c FROM u GROUP BY c",
                    "SELECT DISTINCT b FROM t UNION SELECT c FROM u GROUP BY c",
                    "SELECT DISTINCT a, b FROM t UNION SELECT c FROM u GROUP BY c",
                ],
            ),
            ("SELECT '{a,b}', {'k': 1} FROM t", vec!["SELECT '{a,b}', {'k': 1} FROM t"]),
        ] {
            assert_eq!(choices(text).expect("few of them"), expected, "{text}");
        }
        let columns: Vec<String> = (0..9).map(|at| format!("c{at}")).collect();
        assert_eq!(
            choices(&format!("SELECT {{{}}} FROM t", columns[..8].join(","))).map(|all| all.len()),
            Some(255)
        );
        assert_eq!(choices(&format!("SELECT {{{}}} FROM t", columns.join(","))), None);
    }

    #[test]
    fn semicolons_in_quotes_separate_nothing() {
        let text = "SELECT 'a;b' FROM t; SELECT \";\" -- ;\n FROM u ;; -- end";
        assert_eq!(statements(text), ["SELECT 'a;b' FROM t", "SELECT \";\" -- ;\n FROM u"]);
        assert!(statements(" ; ").is_empty());
    }
}
