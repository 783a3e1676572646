//! Plain lines: Spider's `SQL\tdb_id` golds, those of `SParC` and `CoSQL` with blank lines, one predicted SQL per line.

use super::{Part, Reader, Take};
use crate::error::DatasetError;
use crate::input::Input;
use crate::text;

pub(super) struct Lines;

impl Reader for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn summary(&self) -> &'static str {
        "one SQL per line; in gold files followed by a tab and the db_id; blank lines between interactions"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["sql"]
    }

    fn has_lines(&self) -> bool {
        true
    }

    fn read(&self, input: &Input, notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError> {
        let text = input.text(notes)?;
        text::lines(&text).try_for_each(|line| take(Part::Line(line)))
    }
}
