//! Full-width punctuation, as input methods for Chinese and Japanese write it, and characters without width.

use std::borrow::Cow;

use crate::text::strip;

/// Strips white space, byte order marks and characters without width.
pub(crate) fn trim_ends(text: &str) -> &str {
    let is_nothing = |c: char| matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}');
    let mut text = text;
    loop {
        let shorter = strip(text).trim_matches(is_nothing);
        if shorter.len() == text.len() {
            return text;
        }
        text = shorter;
    }
}

/// What closes a quote that opens so; a query in such quotes is the same query without.
pub(super) fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' | '\u{ff02}' | '\u{ff07}' => Some(open),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        '\u{300c}' => Some('\u{300d}'),
        '\u{300e}' => Some('\u{300f}'),
        '\u{ab}' => Some('\u{bb}'),
        _ => None,
    }
}

/// The signs of SQL for their full-width forms.
fn half(sign: char) -> Option<&'static str> {
    Some(match sign {
        '\u{ff1b}' | '\u{3002}' => ";",
        '\u{ff0c}' => ",",
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        '\u{ff0a}' => "*",
        '\u{ff0b}' => "+",
        '\u{ff1a}' => ": ",
        '\u{ff1c}' => "<",
        '\u{ff1d}' => "=",
        '\u{ff1e}' => ">",
        '\u{3000}' => " ",
        _ => return None,
    })
}

/// A statement with SQL's own punctuation for full-width forms. Texts, quoted names and comments stay, and so do parentheses
/// within a name: `人口（万）`.
pub(super) fn half_width(statement: &str) -> Cow<'_, str> {
    if statement.is_ascii() || !statement.contains(|c| half(c).is_some()) {
        return Cow::Borrowed(statement);
    }
    let mut out = String::with_capacity(statement.len());
    // For each full-width parenthesis that is open, whether it is part of a name.
    let mut open: Vec<bool> = Vec::new();
    let mut never_closed = Vec::new();
    let mut at = 0;
    while let Some(sign) = statement[at..].chars().next() {
        let rest = &statement[at..];
        let length = verbatim(rest, &mut never_closed);
        if length > 0 {
            out.push_str(&rest[..length]);
            at += length;
            continue;
        }
        at += sign.len_utf8();
        let stays = match sign {
            '\u{ff08}' => {
                open.push(out.ends_with(|c: char| !c.is_ascii() && c.is_alphanumeric()));
                open.last() == Some(&true)
            }
            '\u{ff09}' => open.pop() == Some(true),
            _ => false,
        };
        match half(sign).filter(|_| !stays) {
            Some(plain) => out.push_str(plain),
            None => out.push(sign),
        }
    }
    if out == statement { Cow::Borrowed(statement) } else { Cow::Owned(out) }
}

/// The length of the text, quoted name or comment that begins here.
fn verbatim(rest: &str, never_closed: &mut Vec<char>) -> usize {
    if rest.starts_with("--") {
        return rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
    let Some(open) = rest.chars().next() else { return 0 };
    let close = match open {
        '\'' | '"' | '`' => open,
        '[' => ']',
        '/' if rest.starts_with("/*") => return rest.find("*/").map_or(rest.len(), |end| end + 2),
        _ => return 0,
    };
    if never_closed.contains(&close) {
        return 0;
    }
    if let Some(length) = rest[1..].find(close) {
        return length + 2;
    }
    never_closed.push(close);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_changes_outside_of_texts_and_names() {
        for (text, expected) in [
            ("SELECT a\u{ff0c}b FROM t\u{ff1b}", "SELECT a,b FROM t;"),
            ("SELECT COUNT\u{ff08}*\u{ff09} FROM 员工\u{3002}", "SELECT COUNT(*) FROM 员工;"),
            ("SELECT 人口\u{ff08}万\u{ff09} FROM 城市", "SELECT 人口\u{ff08}万\u{ff09} FROM 城市"),
            (
                "SELECT 'a\u{ff0c}b', \"\u{ff1b}\" -- \u{ff1b}\nFROM t",
                "SELECT 'a\u{ff0c}b', \"\u{ff1b}\" -- \u{ff1b}\nFROM t",
            ),
            ("SELECT a FROM t WHERE b IN \u{ff08}1\u{ff0c}2\u{ff09}", "SELECT a FROM t WHERE b IN (1,2)"),
        ] {
            assert_eq!(half_width(text), expected);
        }
    }

    #[test]
    fn ends_without_width_go() {
        assert_eq!(trim_ends("\u{feff} \u{200b}a\u{feff}b\u{200d}\n\u{feff}"), "a\u{feff}b");
    }
}
