//! Plain lines: Spider's `SQL\tdb_id` golds, those of `SParC` and `CoSQL` with blank lines, one predicted SQL per line.

use super::{Content, Reader};
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

    fn read(&self, input: &Input, notes: &mut Vec<String>) -> Result<Content, DatasetError> {
        let text = input.text(notes)?;
        Ok(Content::Lines(text::lines(&text).map(str::to_owned).collect()))
    }
}
