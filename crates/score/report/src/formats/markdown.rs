//! `markdown`: for a pull request or a GitHub step summary, which takes at most 1 MiB.
//!
//! Texts from outside show as they are: queries in code spans, others with a backslash before what Markdown, GitHub or
//! HTML would obey. Nothing else is escaped, so the source reads well too.

use std::fmt::Write as _;
use std::io::Write;

pub use sqlgauge_base::markdown_text as escape;
use sqlgauge_base::{printable_lines, visible};
use sqlgauge_engine::compare::explain::shorten;

use super::ReportFormat;
use crate::document::STEP_SUMMARY;
use crate::{Report, ReportError, overview};

/// GitHub-flavoured Markdown.
pub struct Markdown;

/// Characters of a query in a table cell.
const MAX_TEXT: usize = 400;

impl ReportFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        Ok(out.write_all(overview::document(report)?.markdown(STEP_SUMMARY).as_bytes())?)
    }
}

/// A folded section. A summary is HTML, in which Markdown is not read.
pub(crate) fn details(title: &str, body: &str) -> String {
    let title: String = title.chars().map(visible).collect();
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!("<details>\n<summary>{title}</summary>\n\n{body}\n</details>\n\n")
}

/// A table; the cells are Markdown.
pub(crate) fn table(header: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        let _infallible = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// A query as a code span.
pub(crate) fn code(sql: &str) -> String {
    if sql.is_empty() {
        return String::new();
    }
    let text: String = shorten(sql, MAX_TEXT).chars().map(visible).collect();
    // In a table no writing of a code span holds a backslash before a bar.
    if text.contains("\\|") {
        return format!("<code>{}</code>", escape(&text));
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|c| c != wanted).map(str::len).max().unwrap_or(0)
}

/// A query as a block, in a fence that is longer than any in it.
pub(crate) fn fenced(sql: &str) -> String {
    let fence = "`".repeat(longest_run(sql, '`').max(2) + 1);
    format!("{fence}sql\n{}\n{fence}\n", printable_lines(sql))
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    /// The cells of the only row of a table, as a Markdown reader shows them.
    fn shown(cells: &[String]) -> Vec<String> {
        let header: Vec<String> = cells.iter().map(|_| "h".to_owned()).collect();
        let page = format!("text\n\n{}\n", table(&header, std::iter::once(cells.to_vec())));
        let (mut shown_cells, mut current, mut in_body) = (Vec::new(), None, false);
        for event in Parser::new_ext(&page, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::End(TagEnd::TableHead) => in_body = true,
                Event::Start(Tag::TableCell) if in_body => current = Some(String::new()),
                Event::End(TagEnd::TableCell) => shown_cells.extend(current.take()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(cell) = &mut current {
                        cell.push_str(&text);
                    }
                }
                Event::InlineHtml(html) if ["<!-- -->", "<code>", "</code>"].contains(&&*html) => {}
                Event::Start(
                    Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell | Tag::Paragraph,
                )
                | Event::End(TagEnd::Table | TagEnd::TableRow | TagEnd::Paragraph) => {}
                other => panic!("{other:?} in {page}"),
            }
        }
        shown_cells
    }

    const TEXTS: [&str; 20] = [
        "a|b `c` <img src=x> *d* @all",
        "snake_case and _emphasis_ and __more__ _",
        "[link](http://example.invalid) ![image](x)",
        "\\ and \\| and \\\\| and \\` and ``two`` and `",
        "&amp; &#64; & x &",
        "~~gone~~ ~a~",
        "# heading",
        "- item",
        "> quote",
        "a < b and a<b and </td> and <!-- c --> and <?x?>",
        "$x$ costs 5 $",
        "#12 and user/repo#12",
        "SELECT '\\' || x FROM t WHERE a = \"b\" AND c LIKE '%\\|%'",
        "`starts and ends`",
        "| || |",
        "**a**b**c***d*",
        "a*b*c _a*b_c*",
        "日本語 é \u{1f600}",
        "<!--",
        "ex-spider@1",
    ];

    #[test]
    fn a_markdown_reader_shows_every_text_as_it_is() {
        for text in TEXTS {
            assert_eq!(shown(&[escape(text), "x".to_owned()]), [text, "x"], "{}", escape(text));
            assert_eq!(shown(&[code(text), "x".to_owned()]), [text, "x"], "{}", code(text));
        }
    }

    /// Every text of up to four of the characters that something obeys.
    #[test]
    fn no_mixture_of_what_markdown_obeys_gets_through() {
        let signs = ['\\', '`', '*', '_', '|', '<', '[', ']', '~', '&', '#', '@', '!', '(', 'a', ' '];
        let mut texts: Vec<String> = signs.iter().map(char::to_string).collect();
        for _ in 0..3 {
            texts = texts.iter().flat_map(|text| signs.iter().map(move |c| format!("{text}{c}"))).collect();
            for text in texts.iter().filter(|text| text.trim() == *text && !text.contains("  ")) {
                assert_eq!(shown(&[escape(text), "x".to_owned()]), [text, "x"], "{}", escape(text));
                assert_eq!(shown(&[code(text), "x".to_owned()]), [text, "x"], "{}", code(text));
            }
        }
    }

    #[test]
    fn what_nothing_obeys_stays_as_it_is() {
        for text in ["ex-spider@1", "railway_museum", "82.9 (1034)", "it's \"so\"", "a < 3 & b > 4", "-3"] {
            assert_eq!(escape(text), text);
        }
        assert_eq!(code("SELECT count(*) FROM owner_of"), "`SELECT count(*) FROM owner_of`");
    }
}
