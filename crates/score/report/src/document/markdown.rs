//! A document as GitHub-flavoured Markdown.

use std::fmt::Write as _;

use sqlgauge_base::capital;

use super::{Block, Cell, Document, Emphasis, Role, Section, Table, Text};
use crate::formats::markdown::{code, details, escape, fenced, table};

/// Bytes of Markdown for a step summary. GitHub refuses one above 1,048,576 bytes, and other steps may add to it.
pub const STEP_SUMMARY: usize = 900_000;

impl Document {
    /// As Markdown of at most so many bytes: whole sections that do not fit are left out, and it says so.
    pub fn markdown(&self, most: usize) -> String {
        let mut page = format!("## {}\n\n{}", escape(&self.title), blocks(&self.lead));
        let mut dropped = 0;
        for section in self.sections.iter().map(markdown) {
            if page.len() + section.len() <= most {
                page.push_str(&section);
            } else {
                dropped += 1;
            }
        }
        if dropped > 0 {
            let note = "sections did not fit into the size of a step summary: see the html report.";
            let _infallible = writeln!(page, "> {dropped} {note}");
        }
        page
    }
}

fn markdown(section: &Section) -> String {
    let mut body = match section.note.as_str() {
        "" => String::new(),
        note => format!("{}.\n\n", escape(&capital(note))),
    };
    body.push_str(&blocks(&section.blocks));
    for entry in &section.entries {
        let note = if entry.note.is_empty() { String::new() } else { format!(" ({})", escape(&entry.note)) };
        let _infallible = write!(body, "#### {}{note}\n\n{}", escape(&entry.title), blocks(&entry.blocks));
    }
    if section.is_folded {
        return details(&section.title, &format!("{}\n", body.trim_end_matches('\n')));
    }
    match section.title.as_str() {
        "" => body,
        title => format!("### {}\n\n{body}", escape(title)),
    }
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect()
}

/// A block and an empty line.
fn block(block: &Block) -> String {
    match block {
        Block::Prose(Role::Callout | Role::Warning, prose) => format!("> {}\n\n", text(prose)),
        Block::Prose(_, prose) => format!("{}\n\n", text(prose)),
        Block::List(items) if items.is_empty() => String::new(),
        Block::List(items) => {
            items.iter().map(|item| format!("- {}\n", text(item))).chain(["\n".to_owned()]).collect()
        }
        Block::Sql(sql) => format!("{}\n", fenced(sql)),
        Block::Table(table) if table.rows.is_empty() => String::new(),
        Block::Table(table) => format!("{}\n", table.markdown()),
        Block::Charts(_) | Block::Interval { .. } => String::new(),
    }
}

fn text(text: &Text) -> String {
    let part = |(emphasis, part): &(Emphasis, String)| match emphasis {
        Emphasis::None | Emphasis::Soft => escape(part),
        Emphasis::Strong => format!("**{}**", escape(part)),
        Emphasis::Code => code(part),
        Emphasis::Link(to) => format!("[{}]({to})", escape(part)),
    };
    text.0.iter().map(part).collect()
}

impl Table {
    fn markdown(&self) -> String {
        let places: Vec<usize> = (0..self.columns.len()).filter(|at| !self.is_drawn(*at)).collect();
        let header: Vec<String> = places.iter().map(|at| escape(&self.columns[*at].name)).collect();
        let row = |row: &Vec<Cell>| places.iter().filter_map(|at| row.get(*at)).map(Cell::markdown).collect();
        table(&header, self.rows.iter().map(row))
    }
}

impl Cell {
    fn markdown(&self) -> String {
        match self {
            Self { text, is_code: true, .. } => code(text),
            Self { text, is_strong: true, .. } if !text.is_empty() => format!("**{}**", escape(text)),
            Self { text, .. } => escape(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let rows = [vec!["A <b>".into(), Cell::new("61.7 [58.7, 64.6]").strong(), Cell::new("it | runs")]];
        let mut document = Document::new("Scores");
        document.add(Section::new("All", "percent", Table::of(["system", "EX", "why"], rows)));
        document
    }

    #[test]
    fn markdown_escapes_every_text() {
        let markdown = document().markdown(usize::MAX);
        assert!(
            markdown.starts_with("## Scores\n\n### All\n\nPercent.\n\n| system | EX | why |\n"),
            "{markdown}"
        );
        assert!(markdown.contains("**61.7 \\[58.7, 64.6\\]** | it \\| runs |\n\n"), "{markdown}");
    }

    #[test]
    fn a_section_is_folded_or_left_out_as_a_whole() {
        let mut document = document();
        document.sections = document.sections.into_iter().map(Section::folded).collect();
        assert!(document.markdown(usize::MAX).contains("<details>\n<summary>All</summary>\n\nPercent.\n"));
        assert!(
            document.markdown(40).ends_with(
                "> 1 sections did not fit into the size of a step summary: see the html report.\n"
            )
        );
    }
}
