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
