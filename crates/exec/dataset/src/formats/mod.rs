//! The file formats: one file each, and the registry that finds the one that a file is in.

mod csv;
mod json;
mod jsonl;
mod lines;
mod parquet;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::DatasetError;
use crate::input::Input;
use crate::text;

pub(crate) use json::for_each_item_of;

/// A piece of what a file says, before anyone knows whether it is a benchmark or predictions.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// The next line of text, be it blank.
    Line(&'a str),
    /// The next item.
    Row(Row),
}

/// Takes the pieces of a file in their order; an error ends the reading.
pub(crate) type Take<'t> = &'t mut dyn FnMut(Part<'_>) -> Result<(), DatasetError>;

/// One item: an object with named fields, or a bare text.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// Where in its file an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Line, from 1.
    Line(usize),
    /// Position, from 0.
    Entry(usize),
    /// Position of the interaction from 0, turn from 1.
    Turn(usize, usize),
    /// Key of the object.
    Key(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Entry(entry) => write!(f, "entry {entry} (counted from 0)"),
            Self::Turn(entry, turn) => write!(f, "entry {entry} (counted from 0) turn {turn}"),
            Self::Key(key) => write!(f, "key {key:?}"),
        }
    }
}

trait Reader: Send + Sync {
    /// Name for `--format`.
    fn name(&self) -> &'static str;
    /// What such a file looks like, in a few words.
    fn summary(&self) -> &'static str;
    /// File name extensions without the dot, lower case.
    fn extensions(&self) -> &'static [&'static str];
    /// Whether the first bytes can be nothing else, whatever the file is called.
    fn has_signature(&self, _bytes: &[u8]) -> bool {
        false
    }
    /// Whether the text looks like it, asked when the file name does not tell.
    fn looks_like(&self, _text: &str) -> bool {
        false
    }
    /// Whether the file is lines, and not items.
    fn has_lines(&self) -> bool {
        false
    }
    /// Reads the file and hands it over piece by piece; repairs are added to `notes`.
    fn read(&self, input: &Input, notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError>;
}

/// Every format; the first that recognises a file has it.
static READERS: &[&dyn Reader] =
    &[&parquet::Parquet, &jsonl::Jsonl, &json::Json, &csv::COMMA, &csv::TAB, &lines::Lines];

#[derive(Clone, Copy)]
pub struct FileFormat(&'static dyn Reader);

impl FileFormat {
    pub fn all() -> impl Iterator<Item = Self> {
        READERS.iter().map(|reader| Self(*reader))
    }

    /// The name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// What such a file looks like, in a few words.
    pub fn summary(self) -> &'static str {
        self.0.summary()
    }

    /// The format of a file: by its first bytes, else by its extension, else by the look of its text, else lines.
    ///
    /// A `.json` file that holds one object per line is JSONL, and so is a `.sql` file: no query begins with a brace.
    pub fn detect(input: &Input) -> Self {
        if let Some(reader) = READERS.iter().find(|r| r.has_signature(input.bytes())) {
            return Self(*reader);
        }
        let extension =
            input.path().extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let named = READERS.iter().find(|r| r.extensions().contains(&extension.as_str()));
        let is_lines = named.is_some_and(|reader| reader.has_lines());
        if let Some(reader) = named
            && !is_lines
            && reader.name() != json::Json.name()
        {
            return Self(*reader);
        }
        let text = input.text(&mut Vec::new()).unwrap_or_default();
        let Some(named) = named else {
            let looks = READERS.iter().find(|reader| reader.looks_like(&text));
            return Self(*looks.unwrap_or(&(&lines::Lines as &dyn Reader)));
        };
        let may_be_object = |line| text::strip(line).is_empty() || line.starts_with('{');
        let are_objects =
            jsonl::Jsonl.looks_like(&text) && (!is_lines || text::lines(&text).all(may_be_object));
        if are_objects { Self(&jsonl::Jsonl) } else { Self(*named) }
    }

    /// Whether such a file is lines ([`Part::Line`]), and not items ([`Part::Row`]).
    pub(crate) fn has_lines(self) -> bool {
        self.0.has_lines()
    }

    /// Whether a null or a blank text is one that somebody wrote.
    pub(crate) fn is_json(self) -> bool {
        [json::Json.name(), jsonl::Jsonl.name()].contains(&self.name())
    }

    /// Reads the file and hands it over piece by piece, so that nobody has to hold more of it than is of use; repairs
    /// are added to `notes`.
    pub(crate) fn read(
        self,
        input: &Input,
        notes: &mut Vec<String>,
        take: Take<'_>,
    ) -> Result<(), DatasetError> {
        self.0.read(input, notes, take)
    }
}

impl FromStr for FileFormat {
    type Err = DatasetError;

    fn from_str(name: &str) -> Result<Self, DatasetError> {
        Self::all().find(|format| format.name() == name).ok_or_else(|| DatasetError::UnknownFormat {
            name: name.to_owned(),
            formats: Self::all().map(Self::name).collect::<Vec<_>>().join(", "),
        })
    }
}

impl fmt::Debug for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl PartialEq for FileFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FileFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_are_unique_and_every_name_is_found_again() {
        let mut extensions: Vec<&str> =
            READERS.iter().flat_map(|reader| reader.extensions().iter().copied()).collect();
        let count = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), count);
        for format in FileFormat::all() {
            assert_eq!(format.name().parse::<FileFormat>().unwrap(), format);
            assert!(!format.summary().is_empty());
        }
        assert!("xml".parse::<FileFormat>().unwrap_err().to_string().contains("jsonl"));
    }

    #[test]
    fn a_file_is_recognised_by_signature_then_extension_then_look() {
        for (name, content, format) in [
            ("gold.sql", "SELECT 1\tdb", "lines"),
            ("gold.sql", "{\"not\": \"json, by its name\"}", "lines"),
            ("pred.sql", "{\"id\": 0}\n\n{\"id\": 1}", "jsonl"),
            ("pred.sql", "{\"sql\": \"chat\"}\n{\"sql\": \"chat\"}\nSELECT 1", "lines"),
            ("gold.txt", "SELECT 1\tdb", "lines"),
            ("gold", "", "lines"),
            ("dev.json", "[]", "json"),
            ("dev.json", "SELECT 1", "json"),
            ("dev.json", "{\"0\": \"SELECT 1\"}\n", "json"),
            ("dev.json", "{\"id\": 0}\n{\"id\": 1}\n", "jsonl"),
            ("dev.json", "{\n\"0\": \"a\"}", "json"),
            ("dev.jsonl", "{\"id\": 0}", "jsonl"),
            ("dev.txt", "\u{FEFF}{\"id\": 0}\r\n\r\n{\"id\": 1}", "jsonl"),
            ("dev.txt", " [{\"id\": 0}]", "json"),
            ("dev.txt", "[SELECT 1]", "lines"),
            ("DEV.CSV", "id,sql\n", "csv"),
            ("dev.tsv", "id\tsql\n", "tsv"),
        ] {
            let input = Input::from_bytes(name, content.as_bytes().to_vec());
            assert_eq!(FileFormat::detect(&input).name(), format, "{name}: {content}");
        }
    }

    #[test]
    fn parquet_is_recognised_under_any_name() {
        let input = Input::from_bytes("x.sql", b"PAR1....".to_vec());
        let format = FileFormat::detect(&input);
        assert_eq!(format.name(), "parquet");
        #[cfg(not(feature = "parquet"))]
        assert!(
            format
                .read(&input, &mut Vec::new(), &mut |_| Ok(()))
                .unwrap_err()
                .to_string()
                .contains("the feature `parquet`")
        );
    }
}
