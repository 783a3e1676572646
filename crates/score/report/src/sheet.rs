//! A table of a report, and how each format writes it.

use comfy_table::{CellAlignment, ColumnConstraint};
use sqlgauge_base::printable;
use unicode_width::UnicodeWidthStr;

use crate::charts::escape;
use crate::formats::table::{whole_numbers, wrapped};
use crate::formats::{TextTables, markdown};
use crate::page;
use crate::words::capital;

/// A table: the first column holds names.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// Unique on a page.
    pub id: String,
    /// The heading, as text.
    pub title: String,
    /// What a reader must know of the numbers, such as their unit.
    pub note: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// As many cells each as the header.
    pub rows: Vec<Vec<SheetCell>>,
    /// Whether colours say more than the numbers at a glance.
    pub is_heat_map: bool,
    /// Whether a reader asks for it first, where the format can fold a section.
    pub is_folded: bool,
}

/// A field of a table.
#[derive(Debug, Clone, Default)]
pub struct SheetCell {
    /// What it says.
    pub text: String,
    /// From -1, much worse than what it is compared with, to 1, much better.
    pub tone: Option<f64>,
    /// Whether it is the number that the table is about.
    pub strong: bool,
    /// Whether it is a query.
    pub is_code: bool,
}

impl SheetCell {
    /// A plain field.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same, as what the table is about.
    #[must_use]
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// The same, as a query.
    #[must_use]
    pub fn code(mut self) -> Self {
        self.is_code = true;
        self
    }

    /// Whether it is empty or begins as a number does.
    fn is_number(&self) -> bool {
        self.text.chars().next().is_none_or(|first| first.is_ascii_digit() || "+−–-".contains(first))
    }
}

impl<T: Into<String>> From<T> for SheetCell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// The names of columns.
pub fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl Sheet {
    /// As text for a terminal, ending with an empty line.
    pub fn text(&self, tables: TextTables) -> String {
        let width = usize::from(tables.width.max(40));
        let fits = |lines: &Vec<String>| lines.iter().all(|line| line.width() <= width);
        // A name that is broken letter by letter says less than a row without intervals, and a broken row less than a list.
        let attempts = [
            (Intervals::All, Names::Whole),
            (Intervals::Strong, Names::Whole),
            (Intervals::None, Names::Whole),
            (Intervals::None, Names::Broken),
        ];
        let lines =
            attempts.into_iter().map(|(columns, names)| self.lines(tables, columns, names)).find(fits);
        let lines = lines.unwrap_or_else(|| self.listed(width));
        let mut text = tables.heading(&self.title, &self.note);
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn lines(&self, tables: TextTables, intervals: Intervals, names: Names) -> Vec<String> {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let mut table = tables.new_table(&header);
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(at, cell)| {
                if at == 0 {
                    return comfy_table::Cell::new(printable(&cell.text));
                }
                comfy_table::Cell::new(printable(intervals.of(cell))).set_alignment(CellAlignment::Right)
            });
            table.add_row(cells.collect::<Vec<_>>());
        }
        // Numbers are never broken; words are where there is no room otherwise.
        let has_words = self.rows.iter().any(|row| row.iter().skip(1).any(|cell| !cell.is_number()));
        if intervals != Intervals::None || !has_words {
            whole_numbers(&mut table, usize::from(names == Names::Broken));
        } else if let (Names::Whole, Some(first)) = (names, table.column_mut(0)) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Each row as a name and what the columns say of it, for a terminal on which no row fits.
    fn listed(&self, width: usize) -> Vec<String> {
        let of_row = |row: &Vec<SheetCell>| {
            let mut cells = self.header.iter().zip(row);
            let name = cells.next().map(|(_, cell)| printable(&cell.text)).unwrap_or_default();
            let text = cells.filter(|(_, cell)| !cell.text.is_empty());
            let text: Vec<String> =
                text.map(|(column, cell)| printable(&format!("{column} {}", cell.text))).collect();
            let text = wrapped(&text.join(", "), width - 2);
            wrapped(&name, width).into_iter().chain(text.into_iter().map(|line| format!("  {line}")))
        };
        self.rows.iter().flat_map(of_row).collect()
    }

    /// As a section of Markdown.
    pub fn markdown(&self) -> String {
        let header: Vec<String> = self.header.iter().map(|name| markdown::escape(name)).collect();
        let cell = |cell: &SheetCell| match cell {
            SheetCell { text, is_code: true, .. } => markdown::code(text),
            SheetCell { text, strong: true, .. } if !text.is_empty() => {
                format!("**{}**", markdown::escape(text))
            }
            SheetCell { text, .. } => markdown::escape(text),
        };
        let rows = markdown::table(&header, self.rows.iter().map(|row| row.iter().map(cell).collect()));
        let note = match self.note.as_str() {
            "" => String::new(),
            note => format!("\n{}.\n", markdown::escape(&capital(note))),
        };
        if self.is_folded {
            return markdown::details(&self.title, &format!("{rows}{note}"));
        }
        let title = match self.title.as_str() {
            "" => String::new(),
            title => format!("### {}\n\n", markdown::escape(title)),
        };
        format!("{title}{rows}{note}\n")
    }

    /// As a table of HTML, without its title and its note.
    pub fn html(&self) -> String {
        let class = |at: usize| if at == 0 { "" } else { "num" };
        let header: Vec<(&str, &str)> =
            self.header.iter().enumerate().map(|(at, name)| (class(at), name.as_str())).collect();
        let row = |row: &Vec<SheetCell>| {
            let cells = row.iter().enumerate().map(|(at, cell)| cell.html(at == 0));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let rows: String = self.rows.iter().map(row).collect();
        page::table(if self.is_heat_map { "heat" } else { "" }, &header, &rows)
    }
}

impl SheetCell {
    fn html(&self, is_name: bool) -> String {
        let text = escape(&self.text);
        if is_name {
            return format!("<th scope=\"row\" class=\"name\">{text}</th>");
        }
        let strong = if self.strong { " best" } else { "" };
        match self.tone {
            Some(tone) => format!(
                "<td class=\"num toned{strong}\" style=\"--worse:{:.0};--better:{:.0}\">{text}</td>",
                100.0 * (-tone).max(0.0),
                100.0 * tone.max(0.0)
            ),
            None => format!("<td class=\"num{strong}\">{text}</td>"),
        }
    }
}

/// Which intervals are shown.
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

impl Intervals {
    /// The text of a cell, its interval left out where there is no room for it.
    fn of(self, cell: &SheetCell) -> &str {
        let is_shown = match self {
            Self::All => true,
            Self::Strong => cell.strong || cell.tone.is_some(),
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

    fn sheet() -> Sheet {
        let row = |name: &str, score: &str, why: &str| {
            vec![name.into(), SheetCell::new(score).strong(), SheetCell::new(why)]
        };
        Sheet {
            title: "Scores".to_owned(),
            note: "percent".to_owned(),
            header: header(&["system", "EX", "why"]),
            rows: vec![row("A <b>", "61.7 [58.7, 64.6]", "it | runs"), row("B", "", "text [of] words")],
            ..Sheet::default()
        }
    }

    #[test]
    fn a_narrow_terminal_loses_intervals_and_no_words() {
        let text = |width| sheet().text(TextTables { width, colour: false });
        assert!(text(80).contains("61.7 [58.7, 64.6]") && text(80).starts_with("Scores  percent\n"));
        let narrow = text(34);
        assert!(!narrow.contains("58.7") && narrow.contains("61.7"), "{narrow}");
        assert!(text(80).contains("text [of] words"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_word_is_broken() {
        let names = ["system", "equivalent", "without verdict", "refuted realistically", "unknown why"];
        let row = ["A system", "1034", "12", "7", "timeout 3, unsupported construct 4"];
        let sheet = Sheet {
            header: header(&names),
            rows: vec![row.map(SheetCell::new).to_vec(), row.map(SheetCell::new).to_vec()],
            ..sheet()
        };
        let words: Vec<&str> = names.iter().skip(1).flat_map(|text| text.split(' ')).collect();
        let whole = sheet.text(TextTables { width: 60, colour: false });
        assert!(whole.contains("A system"), "{whole}");
        for width in 40..120 {
            let text = sheet.text(TextTables { width, colour: false });
            let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap();
            assert!(widest <= usize::from(width), "{width}: {text}");
            for word in &words {
                let is_whole = text.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word);
                assert!(is_whole, "{word} at {width}: {text}");
            }
        }
    }

    #[test]
    fn every_format_escapes_by_its_rules() {
        let markdown = sheet().markdown();
        assert!(markdown.starts_with("### Scores\n\n| system | EX | why |\n"), "{markdown}");
        assert!(markdown.contains("**61.7 \\[58.7, 64.6\\]**") || markdown.contains("**61.7 [58.7, 64.6]**"));
        assert!(markdown.contains("it \\| runs") && markdown.ends_with("\nPercent.\n\n"), "{markdown}");
        let html = sheet().html();
        assert!(html.contains("<th scope=\"row\" class=\"name\">A &lt;b&gt;</th>"), "{html}");
        assert!(html.contains("<td class=\"num best\">61.7 [58.7, 64.6]</td>"), "{html}");
        let folded = Sheet { is_folded: true, ..sheet() };
        assert!(folded.markdown().starts_with("<details>\n<summary>Scores</summary>"));
    }
}
