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
use crate::charts::escape;
use crate::{Report, ReportError};
use data::Content;
use pieces::{Carrier, Pieces};
use sqlgauge_run::{Reasons, write_atomically};

/// One self-contained HTML file.
pub struct Html;

const PAGE: &str = include_str!("../../web/page.html");
const STYLE: &str = include_str!("../../web/style.css");
/// In the order in which they depend on each other; together they are one script.
const SCRIPTS: [&str; 13] = [
    include_str!("../../web/dom.js"),
    include_str!("../../web/words.js"),
    include_str!("../../web/sql.js"),
    include_str!("../../web/lists.js"),
    include_str!("../../web/palette.js"),
    include_str!("../../web/data.js"),
    include_str!("../../web/pieces.js"),
    include_str!("../../web/charts.js"),
    include_str!("../../web/overview.js"),
    include_str!("../../web/items.js"),
    include_str!("../../web/item.js"),
    include_str!("../../web/compare.js"),
    include_str!("../../web/app.js"),
];

/// How the page of a server asks for the items that it does not hold: a page that is one file asks for nothing.
const REQUESTS: &str = include_str!("../../web/requests.js");

/// The first of them that know nothing of a run.
const ELEMENTS: usize = 5;

/// The same page for a server: style and script are files of their own, so that its policy can forbid all that stands inside.
#[derive(Debug, Clone, Copy)]
pub struct ServedHtml<'a> {
    /// Address of the folder with [`ServedHtml::STYLE`] and [`ServedHtml::SCRIPT`], which ends in a slash.
    pub assets: &'a str,
    /// Address of the page with all runs.
    pub home: &'a str,
    /// Name of the run, as that page has it.
    pub run: &'a str,
}

impl ServedHtml<'_> {
    /// Name of the file with the [style](Self::style).
    pub const STYLE: &'static str = "report.css";
    /// Name of the file with the [script](Self::script).
    pub const SCRIPT: &'static str = "report.js";

    /// What the page's style is, and that of other pages that look like it.
    pub fn style() -> &'static str {
        STYLE
    }

    /// What the page runs.
    pub fn script() -> String {
        [REQUESTS, &SCRIPTS.concat()].concat()
    }

    /// Writes the page, and beside it the items that it does not hold. Those of the same log are kept where they are whole, so the folder
    /// is one that only this user writes to.
    ///
    /// # Errors
    /// As [`ReportFormat::write_file`].
    pub fn write_file(&self, report: &Report, path: &Path) -> Result<(), ReportError> {
        write_file(report, path, Place::Served(*self))
    }

    /// Lines of the log as a piece of the page, in JSON, with what makes wrong answers wrong: the answer to its question for single
    /// items. `None` stands for a line that is not there.
    ///
    /// # Errors
    /// When a line is not an item.
    pub fn piece_of(lines: &[Option<Vec<u8>>], reasons: &Reasons) -> Result<Vec<u8>, ReportError> {
        pieces::of_lines(lines, reasons)
    }
}

/// A page of a dashboard that is not a run's: the frame of all pages around what its script draws.
#[derive(Debug, Clone, Copy)]
pub struct FramedHtml<'a> {
    /// JSON, which the script reads from the element `data`.
    pub data: &'a str,
    /// Style besides that of all pages.
    pub style: &'a str,
    /// The script behind [`FramedHtml::elements`]; it ends with `})();`.
    pub script: &'a str,
}

impl FramedHtml<'_> {
    /// How pages make elements of texts, show SQL and lists, and find places; the beginning of a script that ends with `})();`.
    pub fn elements() -> String {
        SCRIPTS[..ELEMENTS].concat()
    }

    /// The page as one file.
    pub fn whole(&self) -> String {
        let style = [STYLE, self.style].concat();
        let script = [&Self::elements(), self.script].concat();
        let parts = [
            Place::Anywhere { home: None }.policy(false),
            format!("<style>\n{style}\n</style>"),
            // In JSON it stands only inside texts, where the escape means the same.
            self.data.replace('<', "\\u003c"),
            format!("<script>\n{script}\n</script>"),
        ];
        filled(&parts)
    }

    /// The page of a server, whose policy forbids all that stands inside: style and script are at those addresses.
    pub fn served(style: &str, script: &str) -> String {
        filled(&[
            String::new(),
            format!("<link rel=\"stylesheet\" href=\"{}\">", escape(style)),
            "null".to_owned(),
            format!("<script src=\"{}\"></script>", escape(script)),
        ])
    }
}

/// The frame with those parts, in the order of [`MARKERS`].
fn filled(parts: &[String; 4]) -> String {
    let (mut rest, mut page) = (PAGE, String::new());
    for (marker, part) in MARKERS.iter().zip(parts) {
        let Some((before, after)) = rest.split_once(marker) else { break };
        page.extend([before, part]);
        rest = after;
    }
    page + rest
}

impl Html {
    /// Writes the page as one of a site of files, whose list of runs has that address as seen from the page.
    ///
    /// # Errors
    /// As [`ReportFormat::write_file`].
    pub fn write_file_of_site(&self, report: &Report, path: &Path, home: &str) -> Result<(), ReportError> {
        write_file(report, path, Place::Anywhere { home: Some(home) })
    }
}

/// Where a page is read.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// From disk, or wherever the file is taken; perhaps with a list of runs at an address.
    Anywhere {
        home: Option<&'a str>,
    },
    Served(ServedHtml<'a>),
}

impl Place<'_> {
    /// What the page may do. `in_pieces`: it loads files that stand next to it.
    fn policy(self, in_pieces: bool) -> String {
        let (inside, sources) = match self {
            Self::Anywhere { .. } if in_pieces => ("'unsafe-inline'", " 'self' file:"),
            Self::Anywhere { .. } => ("'unsafe-inline'", ""),
            Self::Served(_) => ("'self'", "; connect-src 'self'"),
        };
        let policy = format!(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {inside}; script-src {inside}{sources}; img-src \
             data:; base-uri 'none'; form-action 'none'\">"
        );
        let meta = |name: &str, value: &str| {
            format!("\n<meta name=\"sqlgauge-{name}\" content=\"{}\">", escape(value))
        };
        match self {
            Self::Anywhere { home: None } => policy,
            Self::Anywhere { home: Some(home) } => policy + &meta("home", home),
            Self::Served(ServedHtml { home, run, .. }) => policy + &meta("home", home) + &meta("run", run),
        }
    }

    fn style(self) -> String {
        match self {
            Self::Anywhere { .. } => format!("<style>\n{STYLE}\n</style>"),
            Self::Served(ServedHtml { assets, .. }) => {
                format!("<link rel=\"stylesheet\" href=\"{}{}\">", escape(assets), ServedHtml::STYLE)
            }
        }
    }

    fn script(self) -> String {
        match self {
            Self::Anywhere { .. } => format!("<script>\n{}\n</script>", SCRIPTS.concat()),
            Self::Served(ServedHtml { assets, .. }) => {
                format!("<script src=\"{}{}\"></script>", escape(assets), ServedHtml::SCRIPT)
            }
        }
    }
}

impl ReportFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        render(report, Content::in_page(report)?, Place::Anywhere { home: None }, out)
    }

    fn write_file(&self, report: &Report, path: &Path) -> Result<(), ReportError> {
        // A pipe has nothing beside it.
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return write_atomically(path, |out| self.render(report, out));
        }
        write_file(report, path, Place::Anywhere { home: None })
    }
}

fn write_file(report: &Report, path: &Path, place: Place<'_>) -> Result<(), ReportError> {
    // Only what this program wrote into its user's folder is kept: see `pieces`.
    let (carrier, pieces) = match place {
        Place::Anywhere { .. } => (Carrier::Script, None),
        Place::Served(_) => (Carrier::Json, pieces::kept(path, report)),
    };
    let content = match pieces {
        Some((statuses, pieces)) => Content::beside(statuses, pieces),
        None => match Content::if_it_fits(report)? {
            Some(content) => content,
            None => Content::in_pieces(report, Pieces::beside(path, report, carrier)?)?,
        },
    };
    let in_pieces = content.is_in_pieces();
    write_atomically(path, |out| render(report, content, place, out))?;
    // Those of an earlier, larger report.
    if in_pieces { Ok(()) } else { pieces::remove(&pieces::folder_of(path)) }
}

fn render(
    report: &Report,
    content: Content,
    place: Place<'_>,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let (mut rest, mut content) = (PAGE, Some(content));
    for marker in MARKERS {
        let Some((before, after)) = rest.split_once(marker) else { break };
        out.write_all(before.as_bytes())?;
        let in_pieces = content.as_ref().is_some_and(Content::is_in_pieces);
        match marker {
            "{{policy}}" => out.write_all(place.policy(in_pieces).as_bytes())?,
            "{{style}}" => out.write_all(place.style().as_bytes())?,
            "{{script}}" => out.write_all(place.script().as_bytes())?,
            _ => content.take().map_or(Ok(()), |content| data::write(report, content, out))?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    Ok(())
}

/// In the order in which they stand in the page.
const MARKERS: [&str; 4] = ["{{policy}}", "{{style}}", "{{data}}", "{{script}}"];

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
        let size: usize = PAGE.len() + STYLE.len() + SCRIPTS.iter().map(|s| s.len()).sum::<usize>();
        assert!(size < 400_000, "{size} bytes");
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
