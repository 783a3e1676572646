//! Values of one class, with one of them to show.

/// Most characters of a value that is shown.
const SHOWN: usize = 40;

/// How many values of a column are of a class.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    pub(super) count: u64,
    /// The first of them.
    example: Option<Box<str>>,
}

impl Class {
    pub(super) fn take(&mut self, text: &str) {
        self.count += 1;
        if self.example.is_none() {
            self.example = Some(excerpt(text).into());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first value, if there is one.
    pub(super) fn example(&self) -> Option<String> {
        self.example.as_deref().map(str::to_owned)
    }
}

fn excerpt(text: &str) -> String {
    if let Some((first, _)) = text.split_once(['\n', '\r']) {
        return format!("{}…", excerpt(first));
    }
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
