//! Makes text from outside harmless to a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The visible form of one character: control characters become their pictures, what reorders the text on the screen
/// becomes U+FFFD, line ends and tabs become spaces.
pub fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_obeyed(c) => picture(c),
        c => c,
    }
}

/// Whether a terminal may obey the character: C0, DEL and C1 control characters but line feed and tab, and what changes
/// the direction of writing.
pub fn is_obeyed(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn picture(c: char) -> char {
    match u32::from(c) {
        control @ 0..=0x1f => char::from_u32(0x2400 + control).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// The text on one line, every character in its visible form.
pub fn printable(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The text with its lines and tabs, every other character in its visible form.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_obeyed(c) { picture(c) } else { c }).collect())
}

/// A JSON text with escapes for what a terminal may obey. It means the same: such characters stand inside of strings
/// only.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_obeyed(c) {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let text = "a\u{1b}[31mb\0c\nd\u{202e}e\u{9b}\u{7f}\tf\r";
        assert_eq!(printable(text), "a\u{241b}[31mb\u{2400}c d\u{fffd}e\u{fffd}\u{2421} f ");
        assert_eq!(printable_lines(text), "a\u{241b}[31mb\u{2400}c\nd\u{fffd}e\u{fffd}\u{2421}\tf\u{240d}");
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let texts = [visible(c).to_string(), printable_lines(&c.to_string()).into_owned()];
            assert!(texts.iter().all(|text| !text.contains(is_obeyed)), "{c:?}");
        }
    }

    #[test]
    fn json_means_the_same() {
        assert_eq!(
            printable_json("{\"a\": \"\u{7f}\u{202e}\u{9b}é\"}\n"),
            r#"{"a": "\u007f\u202e\u009bé"}"#.to_owned() + "\n"
        );
        assert!(matches!(printable_json("{}"), Cow::Borrowed(_)));
    }
}
