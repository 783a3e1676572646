//! `html`: the whole report as one file that needs no network and no server.
//!
//! A page carries 48 MiB of texts. Where a run has more, its items are in files of a folder beside the page
//! (`report-items` beside `report.html`), and the page loads those that it shows. A page that has no place beside it,
//! on standard output, leaves further texts out and says so.
//!
//! The page's script and style live in `web/` and are compiled in. The data stands in the page as JSON with
//! `<` escaped, so that no text of a benchmark or a system can end the element or begin another; the script
//! puts texts into the page as text, never as HTML; and a content security policy forbids every request.

mod beside;
mod columns;
mod data;
mod pieces;
mod said;

use std::io::Write;
use std::path::Path;

use super::ReportFormat;
use crate::{Report, ReportError};
use data::Content;
use pieces::Pieces;
use sqlgauge_run::write_atomically;

/// One self-contained HTML file.
pub struct Html;

const PAGE: &str = include_str!("../../web/page.html");
const STYLE: &str = include_str!("../../web/style.css");
/// In the order in which they depend on each other; together they are one script.
const SCRIPTS: [&str; 10] = [
    include_str!("../../web/dom.js"),
    include_str!("../../web/data.js"),
    include_str!("../../web/pieces.js"),
    include_str!("../../web/sql.js"),
    include_str!("../../web/charts.js"),
    include_str!("../../web/overview.js"),
    include_str!("../../web/items.js"),
    include_str!("../../web/item.js"),
    include_str!("../../web/compare.js"),
    include_str!("../../web/app.js"),
];

impl ReportFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        render(report, Content::in_page(report)?, out)
    }

    fn write_file(&self, report: &Report, path: &Path) -> Result<(), ReportError> {
        // A pipe has nothing beside it.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return write_atomically(path, |out| self.render(report, out));
        }
        let content = match pieces::kept(path, report) {
            Some((statuses, pieces)) => Content::beside(statuses, pieces),
            None => match Content::if_it_fits(report)? {
                Some(content) => content,
                None => Content::in_pieces(report, Pieces::beside(path, report)?)?,
            },
        };
        let in_pieces = content.is_in_pieces();
        write_atomically(path, |out| render(report, content, out))?;
        // Those of an earlier, larger report.
        if in_pieces { Ok(()) } else { pieces::remove(&pieces::folder_of(path)) }
    }
}

fn render(report: &Report, content: Content, out: &mut dyn Write) -> Result<(), ReportError> {
    let (mut rest, mut content) = (PAGE, Some(content));
    for marker in MARKERS {
        let Some((before, after)) = rest.split_once(marker) else { break };
        out.write_all(before.as_bytes())?;
        match (marker, content.as_ref().is_some_and(Content::is_in_pieces)) {
            ("{{sources}}", true) => out.write_all(BESIDE.as_bytes())?,
            ("{{sources}}", false) => {}
            ("{{style}}", _) => out.write_all(STYLE.as_bytes())?,
            ("{{script}}", _) => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            _ => content.take().map_or(Ok(()), |content| data::write(report, content, out))?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    Ok(())
}

/// In the order in which they stand in the page.
const MARKERS: [&str; 4] = ["{{sources}}", "{{style}}", "{{data}}", "{{script}}"];
/// What a page with files beside it may load, from disk or from a server.
const BESIDE: &str = " 'self' file:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_marker_once() {
        for marker in MARKERS {
            assert_eq!(PAGE.matches(marker).count(), 1, "{marker}");
        }
    }

    #[test]
    fn the_page_without_data_is_small_and_asks_for_nothing() {
        let own: usize = PAGE.len() + STYLE.len() + SCRIPTS.iter().map(|s| s.len()).sum::<usize>();
        assert!(own < 400_000, "{own} bytes");
        for source in SCRIPTS.iter().chain([&PAGE, &STYLE]) {
            for forbidden in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "fetch(", "@import"]
            {
                assert!(!source.contains(forbidden), "{forbidden}");
            }
            let addresses = source.replace("http://www.w3.org/2000/svg", "");
            assert!(!addresses.contains("http://") && !addresses.contains("https://"));
        }
    }
}
