//! `html`: the whole report as one file that needs no network and no server.
//!
//! The page's script and style live in `web/` and are compiled in. The data stands in the page as JSON with
//! `<` escaped, so that no text of a benchmark or a system can end the element or begin another; the script
//! puts texts into the page as text, never as HTML; and a content security policy forbids every request.

mod data;

use std::io::Write;

use super::Format;
use crate::{Report, ReportError};

/// One self-contained HTML file.
pub struct Html;

const PAGE: &str = include_str!("../../web/page.html");
const STYLE: &str = include_str!("../../web/style.css");
/// In the order in which they depend on each other; together they are one script.
const SCRIPTS: [&str; 9] = [
    include_str!("../../web/dom.js"),
    include_str!("../../web/data.js"),
    include_str!("../../web/sql.js"),
    include_str!("../../web/charts.js"),
    include_str!("../../web/overview.js"),
    include_str!("../../web/items.js"),
    include_str!("../../web/item.js"),
    include_str!("../../web/compare.js"),
    include_str!("../../web/app.js"),
];

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut rest = PAGE;
        for marker in ["{{style}}", "{{data}}", "{{script}}"] {
            let Some((before, after)) = rest.split_once(marker) else { break };
            out.write_all(before.as_bytes())?;
            match marker {
                "{{style}}" => out.write_all(STYLE.as_bytes())?,
                "{{script}}" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
                _ => data::write(report, out)?,
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_marker_once() {
        for marker in ["{{style}}", "{{data}}", "{{script}}"] {
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
