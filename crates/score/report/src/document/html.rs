//! A document as one page that needs no network, no server and no script.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a page is written once; what reads best wins"
)]

use super::choice::{buttons, classes};
use super::terms::explained;
use super::{Block, Cell, Chart, Column, Document, Drawing, Emphasis, Entry, Role, Section, Table, Text};
use crate::charts::{escape, interval_bar};
use crate::layout::lines;
use crate::page::page;
use crate::token::{DisplayTokenKind, tokens};

/// A section with more entries shows their titles, and the rest of each where a reader opens it.
const OPEN_ENTRIES: usize = 10;

impl Document {
    /// As HTML, in the look of the other reports.
    pub fn html(&self) -> String {
        let sections: Vec<(String, &Section)> =
            self.sections.iter().enumerate().map(|(at, section)| (section.anchor(at), section)).collect();
        let link = |(id, section): &(String, &Section)| {
            section.link.as_ref().map(|name| format!("<a href=\"#{id}\">{}</a>", escape(name)))
        };
        let nav: String = sections.iter().filter_map(link).collect();
        let mut body = format!("<h1>{}</h1>\n{}", escape(&self.title), blocks(&self.lead));
        body.extend(sections.iter().map(|(id, section)| section.html(id)));
        page(&self.title, &nav, &explained(&body), &self.version)
    }
}

impl Section {
    fn anchor(&self, at: usize) -> String {
        if self.id.is_empty() { format!("section-{at}") } else { self.id.clone() }
    }

    fn html(&self, id: &str) -> String {
        let title = escape(&self.title);
        let note = match self.note.as_str() {
            "" => String::new(),
            note => format!("<span class=\"soft\">{}</span>", escape(note)),
        };
        let are_open = self.entries.len() <= OPEN_ENTRIES;
        let entry = |(at, entry): (usize, &Entry)| entry.html(are_open, &classes(&self.entries, at));
        let entries: String = self.entries.iter().enumerate().map(entry).collect();
        let content = format!("{}{}{entries}", blocks(&self.blocks), buttons(id, &self.entries));
        if self.is_folded {
            let open = if self.link.is_some() { " open=\"\"" } else { "" };
            return format!(
                "<details class=\"section\" id=\"{id}\"{open}><summary><h2>{title}</h2>{note}</summary>\n{content}</details>\n"
            );
        }
        format!(
            "<section id=\"{id}\"><div class=\"head\"><h2>{title}</h2>{note}</div>\n{content}</section>\n"
        )
    }
}

impl Entry {
    fn html(&self, is_open: bool, classes: &str) -> String {
        let (title, note) = (escape(&self.title), escape(&self.note));
        let open = if is_open { " open=\"\"" } else { "" };
        // What an entry is about stands beside its title, also while it is closed.
        let (about, rest) = match self.blocks.as_slice() {
            [Block::Prose(Role::Plain, about), rest @ ..] => {
                (format!("<span class=\"about\">{}</span>", text(about)), rest)
            }
            all => (String::new(), all),
        };
        format!(
            "<details class=\"entry {classes}\"{open}><summary><h3>{title} <span class=\"soft\">{note}</span></h3>{about}</summary>\n{}</details>\n",
            blocks(rest)
        )
    }
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(role, prose) => {
            let class = match role {
                Role::Plain => "prose",
                Role::Lead => "lead",
                Role::Note => "note",
                Role::Callout => "callout",
                Role::Warning => "callout bad",
            };
            format!("<p class=\"{class}\">{}</p>\n", text(prose))
        }
        Block::List(items) if items.is_empty() => String::new(),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", text(item))).collect();
            format!("<ul class=\"plain\">\n{items}</ul>\n")
        }
        Block::Sql(text) => sql(text),
        Block::Table(table) if table.rows.is_empty() => String::new(),
        Block::Table(table) => table.html(),
        Block::Charts(charts) => {
            let charts: String = charts.iter().map(Chart::html).collect();
            format!("<div class=\"charts\">\n{charts}</div>\n")
        }
        Block::Interval { value, low, high, mark } => {
            format!("<div class=\"gauge\">{}</div>\n", interval_bar(*value, (*low, *high), *mark))
        }
    }
}

fn text(text: &Text) -> String {
    let part = |(emphasis, part): &(Emphasis, String)| {
        let part = escape(part);
        match emphasis {
            Emphasis::None => part,
            Emphasis::Strong => format!("<strong>{part}</strong>"),
            Emphasis::Soft => format!("<span class=\"soft\">{part}</span>"),
            Emphasis::Code => format!("<code>{part}</code>"),
            Emphasis::Link(to) => format!("<a href=\"{}\">{part}</a>", escape(to)),
        }
    };
    text.0.iter().map(part).collect()
}

impl Chart {
    fn html(&self) -> String {
        let caption = match self.caption.as_str() {
            "" => String::new(),
            caption => format!("<figcaption>{}</figcaption>", escape(caption)),
        };
        format!("<figure class=\"chart\">{caption}{}</figure>\n", self.svg)
    }
}

/// The ticks behind an interval, and above its column.
const TICKS: [u8; 5] = [0, 25, 50, 75, 100];

/// The unit of an axis, at its end.
fn unit(tick: u8) -> &'static str {
    if tick == TICKS[TICKS.len() - 1] { " %" } else { "" }
}

impl Table {
    fn html(&self) -> String {
        let class = if self.is_heat_map { "heat" } else { "" };
        let head: String =
            self.columns.iter().enumerate().map(|(at, column)| self.head(at, column)).collect();
        let row = |row: &Vec<Cell>| {
            let cells = row.iter().enumerate().map(|(at, cell)| self.cell(at, cell));
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        let rows: String = self.rows.iter().map(row).collect();
        format!(
            "<div class=\"scroll\"><table class=\"{class}\"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n{}",
            self.legend()
        )
    }

    /// The class of a column's cells.
    fn class(&self, at: usize) -> &'static str {
        match self.columns.get(at) {
            _ if self.is_drawn(at) => "plotcell",
            Some(column) if column.is_explanation => "meaning",
            _ if self.is_numeric(at) => "num",
            _ => "",
        }
    }

    fn head(&self, at: usize, column: &Column) -> String {
        let is_interval =
            |cell: &Cell| matches!(cell.drawing, Some(Drawing::Interval { .. } | Drawing::Change { .. }));
        let name = if self.rows.iter().filter_map(|row| row.get(at)).any(is_interval) {
            let ticks: String = TICKS
                .iter()
                .map(|tick| format!("<span style=\"left:{tick}%\">{tick}{}</span>", unit(*tick)))
                .collect();
            format!("<div class=\"axis\" aria-hidden=\"true\">{ticks}</div>")
        } else {
            escape(&column.name)
        };
        format!("<th scope=\"col\" class=\"{}\">{name}</th>", self.class(at))
    }

    fn cell(&self, at: usize, cell: &Cell) -> String {
        let text = match (&cell.drawing, &cell.link) {
            (Some(drawing), _) => drawing.html(),
            (None, Some(to)) => format!("<a href=\"{}\">{}</a>", escape(to), escape(&cell.text)),
            (None, None) => escape(&cell.text),
        };
        if at == 0 {
            let mono = if cell.is_code { " mono" } else { "" };
            return format!("<th scope=\"row\" class=\"name{mono}\">{text}</th>");
        }
        let mut class = self.class(at).to_owned();
        for (is_so, name) in
            [(cell.is_code, "mono"), (cell.tone.is_some(), "toned"), (cell.is_strong, "best")]
        {
            if is_so {
                class.push_str(if class.is_empty() { "" } else { " " });
                class.push_str(name);
            }
        }
        let style = cell.tone.map(|tone| format!(" style=\"{}\"", toned(tone))).unwrap_or_default();
        format!("<td class=\"{class}\"{style}>{text}</td>")
    }

    fn legend(&self) -> String {
        let Some(words) = self.legend.filter(|_| self.has_tone()) else { return String::new() };
        let entry = |(word, tone): (&str, f64)| {
            format!("<span class=\"toned\" style=\"{}\">{}</span>", toned(tone), escape(word))
        };
        let entries: String = words.into_iter().zip([-1.0, 0.0, 1.0]).map(entry).collect();
        format!("<p class=\"note legend\">{entries}</p>\n")
    }
}

fn toned(tone: f64) -> String {
    format!("--worse:{:.0};--better:{:.0}", 100.0 * (-tone).max(0.0), 100.0 * tone.max(0.0))
}

impl Drawing {
    fn html(self) -> String {
        let line = |tick| format!("<i class=\"grid\" style=\"left:{tick}%\"></i>");
        let grid: String = TICKS.iter().map(line).collect();
        match self {
            Self::Interval { value, low, high } => {
                let [value, low, high] = [value, low, high].map(percent);
                format!(
                    "<div class=\"plot\" aria-hidden=\"true\">{grid}<i class=\"whisker\" style=\"left:{low:.2}%;width:{:.2}%\"></i>\
                     <i class=\"dot full\" style=\"left:{value:.2}%\"></i></div>",
                    (high - low).max(0.0)
                )
            }
            Self::Change { from, to } => {
                let [from, to] = [from, to].map(percent);
                let way = if to < from { "worse" } else { "better" };
                format!(
                    "<div class=\"plot\" aria-hidden=\"true\">{grid}<i class=\"way {way}\" style=\"left:{:.2}%;width:{:.2}%\"></i>\
                     <i class=\"dot\" style=\"left:{from:.2}%\"></i><i class=\"dot full\" style=\"left:{to:.2}%\"></i></div>",
                    from.min(to),
                    (from - to).abs()
                )
            }
            Self::Pull(length) => format!(
                "<div class=\"pull\" aria-hidden=\"true\"><div class=\"l\"><i style=\"width:{:.1}%\"></i></div>\
                 <div class=\"r\"><i style=\"width:{:.1}%\"></i></div></div>",
                percent(-length),
                percent(length)
            ),
        }
    }
}

/// A share in percent, within bounds.
fn percent(share: f64) -> f64 {
    if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 }
}

/// A query laid out by clause, with the classes of the score report.
fn sql(text: &str) -> String {
    let tokens = tokens(text);
    let mut markup = String::from("<pre class=\"sql\">");
    for line in lines(&tokens) {
        markup.push_str(&format!("<span class=\"ln\" style=\"--d:{}\">", line.indent));
        for (at, space) in line.tokens {
            if space {
                markup.push(' ');
            }
            let token = tokens[at];
            let class = match token.kind {
                DisplayTokenKind::Keyword => "kw",
                DisplayTokenKind::Text => "str",
                DisplayTokenKind::Number => "nu",
                DisplayTokenKind::Comment => "com",
                _ => "",
            };
            if class.is_empty() {
                markup.push_str(&escape(token.text));
            } else {
                markup.push_str(&format!("<span class=\"{class}\">{}</span>", escape(token.text)));
            }
        }
        markup.push_str("</span>");
    }
    markup.push_str("</pre>\n");
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_laid_out_and_escaped() {
        assert_eq!(
            sql("SELECT a FROM t WHERE b < '<i>'"),
            "<pre class=\"sql\"><span class=\"ln\" style=\"--d:0\"><span class=\"kw\">SELECT</span> a</span>\
             <span class=\"ln\" style=\"--d:0\"><span class=\"kw\">FROM</span> t</span>\
             <span class=\"ln\" style=\"--d:0\"><span class=\"kw\">WHERE</span> b &lt; <span class=\"str\">&#39;&lt;i&gt;&#39;</span></span></pre>\n"
        );
    }

    #[test]
    fn a_page_escapes_every_text() {
        let row = vec!["A <b>".into(), Cell::new("61.7 [58.7, 64.6]").strong()];
        let mut document = Document::new("<i>");
        let prose = Block::prose(Text::default().strong("<u>").code("<u>").soft("<u>").link("a.html", "<u>"));
        document.lead.push(prose);
        document.add(Section::new("<i>", "<i>", Table::of(["<i>", "EX"], [row])));
        let page = document.html();
        assert!(page.contains("<th scope=\"row\" class=\"name\">A &lt;b&gt;</th>"), "{page}");
        assert!(page.contains("<td class=\"num best\">61.7 [58.7, 64.6]</td>"), "{page}");
        for tag in ["<i>", "<u>", "<b>"] {
            assert!(!page.contains(tag), "{tag}");
        }
    }
}
