//! A report as data, and how each format writes it: [`Document::text`], [`Document::markdown`], [`Document::html`].
//!
//! A document holds no markup. Every text in it may be hostile, and each format escapes it by its rules.

mod choice;
mod html;
mod markdown;
mod provenance;
mod table;
mod terminal;
pub(crate) mod terms;

use std::path::Path;

use serde_json::Value;
use sqlgauge_run::RunError;

pub use markdown::STEP_SUMMARY;
pub use table::{Cell, Column, Drawing, Table};

use crate::write_together;

/// A report: what it comes to, then its sections.
#[derive(Debug, Clone)]
pub struct Document {
    /// The heading of a page; a terminal leaves it out.
    pub title: String,
    /// What stands before the first section.
    pub lead: Vec<Block>,
    pub sections: Vec<Section>,
    /// The version of the program that computed the content.
    pub version: String,
}

/// A part of a report with a heading.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Unique on a page; where empty, the page numbers it.
    pub id: String,
    pub title: String,
    /// What a reader must know of the content, such as the unit of its numbers.
    pub note: String,
    pub blocks: Vec<Block>,
    /// Parts of one kind that a reader goes through one by one.
    pub entries: Vec<Entry>,
    /// The words of the link at the head of a page; without them no link leads here.
    pub link: Option<String>,
    /// Whether a reader can fold the content. Where a link leads to it, a page shows it at first.
    pub is_folded: bool,
    pub terminal: Extent,
}

/// One item of a list that a reader goes through.
#[derive(Debug, Clone)]
pub struct Entry {
    pub title: String,
    pub note: String,
    pub blocks: Vec<Block>,
    /// What a reader of a page can choose entries by.
    pub tags: Vec<String>,
}

/// How many rows and entries of a section a terminal shows. Pages show all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    #[default]
    All,
    First(usize),
    Last(usize),
    /// Not even the heading.
    Nothing,
}

/// A piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    Prose(Role, Text),
    List(Vec<Text>),
    Sql(String),
    Table(Table),
    /// Pictures as SVG, each with a caption; text formats leave them out.
    Charts(Vec<Chart>),
    /// A share with its interval, drawn from 0 to 100 %.
    Interval {
        value: f64,
        low: f64,
        high: f64,
        /// A second share to compare with.
        mark: Option<f64>,
    },
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Chart {
    pub caption: String,
    pub svg: String,
}

/// What a paragraph is to its reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// What the report comes to.
    Lead,
    /// Small print.
    Note,
    /// To be read before the numbers.
    Callout,
    /// The same, where something is wrong.
    Warning,
}

/// A text whose parts may stand out.
#[derive(Debug, Clone, Default)]
pub struct Text(Vec<(Emphasis, String)>);

#[derive(Debug, Clone)]
enum Emphasis {
    None,
    Strong,
    Soft,
    Code,
    /// Leads to this place; never taken from input.
    Link(String),
}

impl Document {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lead: Vec::new(),
            sections: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// A document of one section.
    pub fn of(section: Section) -> Self {
        let mut document = Self::new(&section.title);
        document.add(section);
        document
    }

    /// Adds a section, unless there is nothing in it.
    pub fn add(&mut self, section: Section) {
        if section.blocks.iter().any(|block| !block.is_empty()) || !section.entries.is_empty() {
            self.sections.push(section);
        }
    }

    /// Moves the section of that title behind the others.
    pub fn move_to_end(&mut self, title: &str) {
        if let Some(at) = self.sections.iter().position(|section| section.title == title) {
            self.sections[at..].rotate_left(1);
        }
    }

    /// Writes `NAME.json`, `NAME.md` and `NAME.html` into a folder, all or none.
    ///
    /// # Errors
    /// As [`write_together`].
    pub fn write_to(&self, folder: &Path, name: &str, json: &Value) -> Result<(), RunError> {
        let names = ["json", "md", "html"].map(|ending| format!("{name}.{ending}"));
        let texts = [format!("{json:#}\n"), self.markdown(usize::MAX), self.html()];
        write_together(folder, names.iter().map(String::as_str).zip(texts))
    }
}

impl Section {
    /// A section with one piece of content and a link to it.
    pub fn new(title: impl Into<String>, note: impl Into<String>, content: impl Into<Block>) -> Self {
        let title = title.into();
        let link = Some(title.clone());
        Self { title, note: note.into(), link, blocks: vec![content.into()], ..Self::default() }
    }

    #[must_use]
    pub fn folded(self) -> Self {
        Self { is_folded: true, link: None, ..self }
    }

    #[must_use]
    pub fn terminal(self, terminal: Extent) -> Self {
        Self { terminal, ..self }
    }
}

impl Extent {
    fn of<T>(self, all: &[T]) -> &[T] {
        match self {
            Self::All => all,
            Self::First(most) => &all[..all.len().min(most)],
            Self::Last(most) => &all[all.len().saturating_sub(most)..],
            Self::Nothing => &[],
        }
    }
}

impl Block {
    pub fn prose(text: impl Into<Text>) -> Self {
        Self::Prose(Role::Plain, text.into())
    }

    pub fn lead(text: impl Into<Text>) -> Self {
        Self::Prose(Role::Lead, text.into())
    }

    pub fn note(text: impl Into<Text>) -> Self {
        Self::Prose(Role::Note, text.into())
    }

    pub fn callout(text: impl Into<Text>) -> Self {
        Self::Prose(Role::Callout, text.into())
    }

    pub fn warning(text: impl Into<Text>) -> Self {
        Self::Prose(Role::Warning, text.into())
    }

    /// One picture without a caption.
    pub fn chart(svg: String) -> Self {
        Self::Charts(vec![Chart { caption: String::new(), svg }])
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Prose(_, text) => text.0.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Sql(sql) => sql.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Charts(charts) => charts.is_empty(),
            Self::Interval { .. } => false,
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self::default().plain(text)
    }
}

impl Text {
    fn with(mut self, emphasis: Emphasis, text: impl Into<String>) -> Self {
        self.0.push((emphasis, text.into()));
        self
    }

    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(Emphasis::None, text)
    }

    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(Emphasis::Strong, text)
    }

    #[must_use]
    pub fn soft(self, text: impl Into<String>) -> Self {
        self.with(Emphasis::Soft, text)
    }

    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Emphasis::Code, text)
    }

    /// A link to a place that the program chose.
    #[must_use]
    pub fn link(self, to: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(Emphasis::Link(to.into()), text)
    }
}
