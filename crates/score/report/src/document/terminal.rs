//! A document for a terminal.

use comfy_table::{CellAlignment, ColumnConstraint};
use sqlgauge_base::printable;
use unicode_width::UnicodeWidthStr;

use super::{Block, Cell, Document, Drawing, Emphasis, Entry, Extent, Role, Section, Table, Text};
use crate::formats::TextTables;
use crate::formats::table::{PADDING, whole_numbers, wrapped};
use crate::words::NONE;

/// Characters of a bar from 0 to 100 %.
const BAR: usize = 40;
/// Characters of such a bar in a table.
const BAR_IN_TABLE: usize = 20;
/// Spaces before the content of an entry.
const INDENT: u16 = 2;
/// Characters of a name that are not broken over lines where columns are split.
const NAME_WIDTH: usize = 30;

impl Document {
    /// As text for a terminal, without the title.
    pub fn text(&self, tables: TextTables) -> String {
        let terminal = Terminal { tables, extent: Extent::All };
        let mut text = String::new();
        if !self.lead.is_empty() {
            self.lead.iter().for_each(|block| terminal.block(block, &mut text));
            text.push('\n');
        }
        for section in self.sections.iter().filter(|section| section.terminal != Extent::Nothing) {
            Terminal { tables, extent: section.terminal }.section(section, &mut text);
        }
        text
    }
}

impl Table {
    /// As text for a terminal, with an empty line after it.
    pub fn text(&self, tables: TextTables) -> String {
        let lines = self.lines(tables, Extent::All);
        lines.into_iter().map(|line| line + "\n").chain(["\n".to_owned()]).collect()
    }
}

struct Terminal {
    tables: TextTables,
    extent: Extent,
}

impl Terminal {
    fn section(&self, section: &Section, text: &mut String) {
        if !section.title.is_empty() {
            text.push_str(&self.tables.heading(&section.title, &section.note));
        }
        section.blocks.iter().for_each(|block| self.block(block, text));
        text.push('\n');
        let entries = self.extent.of(&section.entries);
        entries.iter().for_each(|entry| self.entry(entry, text));
        self.rest(section.entries.len() - entries.len(), text);
    }

    fn entry(&self, entry: &Entry, text: &mut String) {
        text.push_str(&self.tables.heading(&entry.title, &entry.note));
        let narrower = TextTables { width: self.tables.columns().saturating_sub(INDENT), ..self.tables };
        let mut content = String::new();
        let inner = Self { tables: narrower, extent: Extent::All };
        entry.blocks.iter().for_each(|block| inner.block(block, &mut content));
        for line in content.lines() {
            text.push_str(&" ".repeat(usize::from(INDENT)));
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
    }

    fn block(&self, block: &Block, text: &mut String) {
        let width = usize::from(self.tables.columns());
        match block {
            Block::Prose(role, prose) => {
                let painter = self.tables.painter();
                for line in wrapped(&plain(prose), width) {
                    push_line(
                        text,
                        &match role {
                            Role::Note => painter.dim(&line),
                            Role::Warning => painter.bad(&line),
                            Role::Plain | Role::Lead | Role::Callout => line,
                        },
                    );
                }
            }
            Block::List(items) => {
                for item in items {
                    for (at, line) in wrapped(&plain(item), width - 2).into_iter().enumerate() {
                        push_line(text, &format!("{}{line}", if at == 0 { "- " } else { "  " }));
                    }
                }
            }
            Block::Sql(sql) => push_line(text, &printable(sql)),
            Block::Table(table) if table.rows.is_empty() => {}
            Block::Table(table) => {
                table.lines(self.tables, self.extent).iter().for_each(|line| push_line(text, line));
                self.rest(table.rows.len() - self.extent.of(&table.rows).len(), text);
            }
            Block::Charts(_) => {}
            Block::Interval { value, low, high, .. } => {
                push_line(text, &format!("0 {} 100", bar([*value, *low, *high], BAR)));
            }
        }
    }

    /// Says how many more there are.
    fn rest(&self, count: usize, text: &mut String) {
        if count > 0 {
            push_line(text, &self.tables.painter().dim(&format!("… {count} more")));
        }
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn plain(text: &Text) -> String {
    let part = |(emphasis, part): &(Emphasis, String)| match emphasis {
        Emphasis::Code => format!("`{}`", printable(part)),
        _ => printable(part),
    };
    text.0.iter().map(part).collect()
}

/// A bar of so many characters from 0 to 100 %: `····├──●──┤····`.
fn bar(values: [f64; 3], characters: usize) -> String {
    if !values.iter().all(|value| value.is_finite()) {
        return NONE.to_owned();
    }
    let last = (characters - 1) as f64;
    let [dot, low, high] = values.map(|value| {
        let place = value.clamp(0.0, 1.0) * last;
        (0..characters).find(|at| *at as f64 + 0.5 > place).unwrap_or(characters - 1)
    });
    let character = |at: usize| match at {
        at if at == dot => '●',
        at if at == low => '├',
        at if at == high => '┤',
        at if low < at && at < high => '─',
        _ => '·',
    };
    (0..characters).map(character).collect()
}

/// Which parts of a table are shown, from most to least.
const ATTEMPTS: [Attempt; 5] = [
    Attempt { drawings: true, intervals: Intervals::All, names: Names::Whole },
    Attempt { drawings: false, intervals: Intervals::All, names: Names::Whole },
    Attempt { drawings: false, intervals: Intervals::Strong, names: Names::Whole },
    Attempt { drawings: false, intervals: Intervals::None, names: Names::Whole },
    Attempt { drawings: false, intervals: Intervals::None, names: Names::Broken },
];

#[derive(Clone, Copy)]
struct Attempt {
    drawings: bool,
    intervals: Intervals,
    names: Names,
}

#[derive(Clone, Copy, PartialEq)]
enum Intervals {
    All,
    /// Those of what the table is about.
    Strong,
    None,
}

/// Whether the names of rows may be broken over lines.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Whole,
    Broken,
}

impl Table {
    /// The lines of the first attempt that fits. A name that is broken letter by letter says less than a row without intervals,
    /// and a broken row less than a list.
    fn lines(&self, tables: TextTables, extent: Extent) -> Vec<String> {
        let rows = extent.of(&self.rows);
        if self.is_split {
            return self.split(tables, rows);
        }
        let width = usize::from(tables.columns());
        let mut attempts = ATTEMPTS.iter().map(|attempt| lines_of(&self.attempt(tables, rows, *attempt)));
        match attempts.find(|lines| lines.iter().all(|line| line.width() <= width)) {
            Some(lines) => lines.iter().map(|line| tables.painter().paint(line)).collect(),
            None => self.listed(rows, width),
        }
    }

    /// The places of the columns that a terminal shows.
    fn places(&self, with_drawings: bool) -> Vec<usize> {
        let is_pull = |cell: &Cell| matches!(cell.drawing, Some(Drawing::Pull(_) | Drawing::Change { .. }));
        let is_shown = |at: &usize| {
            let is_pull = self.rows.iter().any(|row| row.get(*at).is_some_and(is_pull));
            !self.columns[*at].is_explanation && !is_pull && (with_drawings || !self.is_drawn(*at))
        };
        (0..self.columns.len()).filter(is_shown).collect()
    }

    fn attempt(&self, tables: TextTables, rows: &[Vec<Cell>], attempt: Attempt) -> comfy_table::Table {
        let Attempt { drawings, intervals, names } = attempt;
        let places = self.places(drawings);
        let mut table = self.drawn(tables, rows, &places, intervals);
        // A number stays on one line. Words wrap if the table does not fit otherwise.
        let has_words = places.iter().any(|at| *at > 0 && !self.is_numeric(*at));
        if intervals != Intervals::None || !has_words {
            whole_numbers(&mut table, usize::from(names == Names::Broken));
        } else if let (Names::Whole, Some(first)) = (names, table.column_mut(0)) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        table
    }

    fn drawn(
        &self,
        tables: TextTables,
        rows: &[Vec<Cell>],
        places: &[usize],
        intervals: Intervals,
    ) -> comfy_table::Table {
        let header: Vec<&str> = places.iter().map(|at| self.columns[*at].name.as_str()).collect();
        let mut table = tables.new_table(&header);
        for (column, at) in table.column_iter_mut().zip(places) {
            let is_number = self.is_numeric(*at) && !self.is_drawn(*at);
            column.set_cell_alignment(if is_number { CellAlignment::Right } else { CellAlignment::Left });
        }
        for row in rows {
            table.add_row(
                places.iter().filter_map(|at| row.get(*at)).map(|cell| content(cell, intervals, tables)),
            );
        }
        table
    }

    /// As many columns at a time as fit behind the names.
    fn split(&self, tables: TextTables, rows: &[Vec<Cell>]) -> Vec<String> {
        let whole = self.drawn(tables, rows, &self.places(false), Intervals::All);
        let widths: Vec<usize> = whole.column_max_content_widths().into_iter().map(usize::from).collect();
        let names = widths.first().copied().unwrap_or(0).clamp(6, NAME_WIDTH);
        let room = usize::from(tables.columns()).saturating_sub(names + usize::from(PADDING));
        let mut blocks: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, width) in self.places(false).into_iter().zip(&widths).skip(1) {
            let width = width + usize::from(PADDING);
            match blocks.last_mut().filter(|(used, _)| used + width <= room) {
                Some((used, block)) => {
                    *used += width;
                    block.push(at);
                }
                None => blocks.push((width, vec![0, at])),
            }
        }
        let lines = |(_, block): &(usize, Vec<usize>)| {
            let mut table = self.drawn(tables, rows, block, Intervals::All);
            whole_numbers(&mut table, 1);
            lines_of(&table).iter().map(|line| tables.painter().paint(line)).collect::<Vec<_>>()
        };
        blocks.iter().map(lines).collect::<Vec<_>>().join(&String::new())
    }

    /// Each row as a name and what the columns say of it, for a terminal on which no row fits.
    fn listed(&self, rows: &[Vec<Cell>], width: usize) -> Vec<String> {
        let places = self.places(false);
        let of_row = |row: &Vec<Cell>| {
            let name = row.first().map(|cell| printable(&cell.text)).unwrap_or_default();
            let cells = places.iter().skip(1).map(|at| (&self.columns[*at].name, &row[*at].text));
            let cells = cells.filter(|(_, text)| !text.is_empty());
            let cells: Vec<String> =
                cells.map(|(column, text)| printable(&format!("{column} {text}"))).collect();
            let cells = wrapped(&cells.join(", "), width - 2);
            wrapped(&name, width).into_iter().chain(cells.into_iter().map(|line| format!("  {line}")))
        };
        rows.iter().flat_map(of_row).collect()
    }
}

fn lines_of(table: &comfy_table::Table) -> Vec<String> {
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn content(cell: &Cell, intervals: Intervals, tables: TextTables) -> String {
    if let Some(Drawing::Interval { value, low, high }) = cell.drawing {
        return bar([value, low, high], BAR_IN_TABLE);
    }
    let text = printable(intervals.of(cell));
    if cell.is_strong { tables.painter().strong(&text) } else { text }
}

impl Intervals {
    /// The text of a cell, without its interval if that does not fit.
    fn of(self, cell: &Cell) -> &str {
        let is_shown = match self {
            Self::All => true,
            Self::Strong => cell.is_strong || cell.tone.is_some(),
            Self::None => false,
        };
        if is_shown || !cell.is_number() {
            return &cell.text;
        }
        cell.text.split_once(" [").map_or(cell.text.as_str(), |(score, _)| score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row =
            |name: &str, score: &str, why: &str| vec![name.into(), Cell::new(score).strong(), Cell::new(why)];
        let rows = [row("A <b>", "61.7 [58.7, 64.6]", "it | runs"), row("B", "", "text [of] words")];
        Table::of(["system", "EX", "why"], rows)
    }

    fn text(table: &Table, width: u16) -> String {
        table.text(TextTables { width, colour: false })
    }

    #[test]
    fn a_narrow_terminal_loses_intervals_and_no_words() {
        assert!(text(&table(), 80).contains("61.7 [58.7, 64.6]"));
        let narrow = text(&table(), 34);
        assert!(!narrow.contains("58.7") && narrow.contains("61.7"), "{narrow}");
        assert!(text(&table(), 80).contains("text [of] words"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_broken() {
        let names = ["system", "equivalent", "without verdict", "refuted realistically", "unknown why"];
        let row = ["A system", "1034", "12", "7", "timeout 3, unsupported construct 4"];
        let table = Table::of(names, [row.map(Cell::new).to_vec(), row.map(Cell::new).to_vec()]);
        let words: Vec<&str> = names.iter().skip(1).flat_map(|text| text.split(' ')).collect();
        let whole = text(&table, 60);
        assert!(whole.contains("A system"), "{whole}");
        for width in 40..120 {
            let text = text(&table, width);
            let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= usize::from(width), "{width}: {text}");
            for word in &words {
                let is_whole = text.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word);
                assert!(is_whole, "{word} at {width}: {text}");
            }
        }
    }

    /// Colours must not make a table look wider than it is.
    #[test]
    fn colours_take_no_room() {
        for width in 40..80 {
            let coloured = table().text(TextTables { width, colour: true });
            assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
            assert_eq!(
                coloured.contains("58.7"),
                text(&table(), width).contains("58.7"),
                "{width}: {coloured}"
            );
        }
    }

    #[test]
    fn a_terminal_shows_as_much_of_a_section_as_it_says() {
        let section = |extent| Section::new("Scores", "percent", table()).terminal(extent);
        let text = |extent| {
            let mut document = Document::new("title");
            document.add(section(extent));
            document.text(TextTables { width: 80, colour: false })
        };
        assert!(text(Extent::All).starts_with("Scores  percent\n") && text(Extent::Nothing).is_empty());
        let first = text(Extent::First(1));
        assert!(first.contains("A <b>") && !first.contains("of") && first.contains("… 1 more"), "{first}");
        assert!(!text(Extent::Last(1)).contains("A <b>"));
    }
}
