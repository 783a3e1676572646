//! Escapes text from outside for Markdown.

use crate::visible;

/// Text that shows as it is. Line ends become spaces, since a table row is one line.
pub fn markdown_text(text: &str) -> String {
    let chars: Vec<char> = text.chars().map(visible).collect();
    let is_word = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    let mut escaped = String::with_capacity(text.len());
    for (at, &c) in chars.iter().enumerate() {
        let after = chars.get(at + 1).copied();
        let within_word = is_word(at.checked_sub(1)) && is_word(Some(at + 1));
        let obeyed = match c {
            '\\' | '`' | '*' | '|' | '[' | ']' | '~' | '$' => true,
            '_' => !within_word,
            '<' => after.is_some_and(|next| next.is_alphabetic() || matches!(next, '/' | '!' | '?')),
            '&' => after.is_some_and(|next| next.is_ascii_alphanumeric() || next == '#'),
            '#' | '>' => at == 0,
            '+' | '-' | '=' => at == 0 && !after.is_some_and(char::is_alphanumeric),
            _ => false,
        };
        if obeyed {
            escaped.push('\\');
        }
        escaped.push(c);
        // GitHub makes people and issues of these after Markdown is done; a comment keeps the parts apart.
        if matches!(c, '@' | '#') && !is_word(at.checked_sub(1)) && is_word(Some(at + 1)) {
            escaped.push_str("<!-- -->");
        }
    }
    escaped
}
