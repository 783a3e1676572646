//! Terminal styling that can be turned off.

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

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
