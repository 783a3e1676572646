//! A page that needs no network, no server and no script: what reports other than that of a run are written into.

#![expect(clippy::format_collect, reason = "a page is written once; what reads best wins")]

use sqlgauge_run::Manifest;

pub use crate::charts::escape;
use crate::words::many;

const PAGE: &str = include_str!("../web/document.html");
const STYLE: &str = include_str!("../web/style.css");

/// What stands in a page.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    pub title: String,
    /// The ids of sections with their names.
    pub nav: Vec<(String, String)>,
    /// HTML.
    pub body: String,
    /// The version of the program.
    pub tool_version: &'a str,
}

impl Page<'_> {
    /// The page with the style of all pages, and with its own after it.
    pub fn html(&self, own_style: &str) -> String {
        let mut rest = PAGE;
        let mut page = String::with_capacity(1 << 18);
        for marker in ["{{title}}", "{{style}}", "{{nav}}", "{{body}}", "{{foot}}"] {
            let Some((before, after)) = rest.split_once(marker) else { break };
            page.push_str(before);
            let part = match marker {
                "{{title}}" => format!("{} · sqlgauge", escape(&self.title)),
                "{{style}}" => format!("{STYLE}\n{}\n{own_style}", dark_by_preference()),
                "{{nav}}" => {
                    let link =
                        |(id, name): &(String, String)| format!("<a href=\"#{id}\">{}</a>", escape(name));
                    self.nav.iter().map(link).collect()
                }
                "{{body}}" => self.body.clone(),
                _ => format!(
                    "sqlgauge {} · this file holds the whole report and asks the network for nothing",
                    escape(self.tool_version)
                ),
            };
            page.push_str(&part);
            rest = after;
        }
        page.push_str(rest);
        page
    }
}

/// The dark colours of the score report, which its script switches on, as a rule that needs no script.
fn dark_by_preference() -> String {
    let marker = ":root[data-theme=\"dark\"] {";
    let block = STYLE.split_once(marker).and_then(|(_, after)| after.split_once('}'));
    block
        .map(|(colours, _)| {
            format!("@media screen and (prefers-color-scheme: dark) {{ :root {{{colours}}} }}")
        })
        .unwrap_or_default()
}

/// A section with its heading and a remark beside it, both as text; `content` is HTML.
pub fn section(id: &str, title: &str, note: &str, content: &str) -> String {
    let note =
        if note.is_empty() { String::new() } else { format!("<span class=\"soft\">{}</span>", escape(note)) };
    format!(
        "<section id=\"{id}\"><div class=\"head\"><h2>{}</h2>{note}</div>\n{content}</section>\n",
        escape(title)
    )
}

/// A table whose columns beside the first are numbers unless their class says otherwise.
pub fn table(class: &str, header: &[(&str, &str)], rows: &str) -> String {
    let head: String = header
        .iter()
        .map(|(class, name)| format!("<th scope=\"col\" class=\"{class}\">{}</th>", escape(name)))
        .collect();
    format!(
        "<div class=\"scroll\"><table class=\"{class}\"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )
}

/// How it was run: command, versions, options and inputs.
pub fn provenance(manifest: &Manifest) -> String {
    let options: String = manifest
        .options
        .iter()
        .map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("<dt>{}</dt><dd class=\"mono\">{}</dd>", escape(name), escape(&value))
        })
        .collect();
    let rows: String = manifest
        .inputs
        .iter()
        .map(|input| {
            format!(
                "<tr><td>{}</td><td class=\"mono hash\">{}</td><td class=\"mono hash\">{}</td></tr>\n",
                escape(&input.role),
                escape(&input.path),
                escape(&input.sha256)
            )
        })
        .collect();
    let inputs = if rows.is_empty() {
        String::new()
    } else {
        let header = [("", "Read as"), ("", "Path"), ("", "SHA-256")];
        format!(
            "<details><summary>{} with their SHA-256</summary>\n{}</details>\n",
            many(manifest.inputs.len(), "input file"),
            table("", &header, &rows)
        )
    };
    let content = format!(
        "<pre class=\"sql\">{}</pre>\n<dl class=\"kv\" style=\"margin:14px 0\"><dt>version</dt><dd class=\"mono\">{}</dd><dt>engine</dt><dd class=\"mono\">{}</dd>{options}</dl>\n{inputs}",
        escape(&manifest.command.join(" ")),
        escape(&manifest.tool_version),
        escape(&manifest.engine)
    );
    section("run", "How it was run", "", &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_marker_once_and_no_script() {
        for marker in ["{{title}}", "{{style}}", "{{nav}}", "{{body}}", "{{foot}}"] {
            assert_eq!(PAGE.matches(marker).count(), 1, "{marker}");
        }
        assert!(!PAGE.contains("<script"));
        assert!(dark_by_preference().contains("--paper"));
    }
}
