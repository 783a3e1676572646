//! Terminal styling that can be turned off.

/// Wraps text in ANSI sequences when colours are wanted, leaves it alone when not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painter {
    pub(crate) colour: bool,
}

impl Painter {
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The text without control characters, which a terminal would obey: each becomes its visible picture.
/// Line feeds and tabs become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The visible form of one character.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{7f}' => '\u{2421}',
        c if c.is_control() => u8::try_from(c).ok().filter(|b| *b < 32).map_or('\u{fffd}', picture),
        // Bidirectional overrides reorder what a reader sees.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

fn picture(byte: u8) -> char {
    char::from_u32(0x2400 + u32::from(byte)).unwrap_or('\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        assert_eq!(
            printable("a\u{1b}[31mb\0c\nd\u{202e}e\u{9b}"),
            "a\u{241b}[31mb\u{2400}c d\u{fffd}e\u{fffd}"
        );
    }
}
