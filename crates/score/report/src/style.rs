//! Terminal styling that can be turned off.

/// Stands before and after a word that is bold in a table. It takes no room, so tables are laid out as without it.
const MARK: char = '\u{2060}';

/// Wraps text in ANSI sequences when colours are wanted, leaves it alone when not.
#[derive(Debug, Clone, Copy)]
pub struct Painter {
    /// Whether colours are wanted.
    pub colour: bool,
}

impl Painter {
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Green.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Red.
    pub fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// The text as a cell of a table, bold once the lines of the table go through [`Self::paint`].
    pub(crate) fn strong(self, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        text.split(' ').map(|word| format!("{MARK}{word}{MARK}")).collect::<Vec<_>>().join(" ")
    }

    /// A line of a table with its marked words in bold. A word that is broken over lines stays as it is.
    pub(crate) fn paint(self, line: &str) -> String {
        let parts: Vec<&str> = line.trim_end().split(MARK).collect();
        if parts.len().is_multiple_of(2) {
            return parts.concat();
        }
        let styled =
            |(at, part): (usize, &&str)| if at % 2 == 1 { self.bold(part) } else { (*part).to_owned() };
        parts.iter().enumerate().map(styled).collect()
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
