//! The HTML page of every report but that of a run: without network, server and script.

use crate::charts::escape;

const PAGE: &str = include_str!("../web/document.html");
const STYLE: &str = include_str!("../web/style.css");
const DOCUMENT_STYLE: &str = include_str!("../web/document.css");

/// The page around a body and links, both of them HTML.
pub(crate) fn page(title: &str, nav: &str, body: &str, version: &str) -> String {
    let mut rest = PAGE;
    let mut page = String::with_capacity(1 << 18);
    for marker in ["{{title}}", "{{style}}", "{{nav}}", "{{body}}", "{{foot}}"] {
        let Some((before, after)) = rest.split_once(marker) else { break };
        page.push_str(before);
        match marker {
            "{{title}}" => page.extend([&escape(title), " · sqlgauge"]),
            "{{style}}" => page.extend([STYLE, "\n", &dark_by_preference(), "\n", DOCUMENT_STYLE]),
            "{{nav}}" => page.push_str(nav),
            "{{body}}" => page.push_str(body),
            _ => page.extend(["sqlgauge ", &escape(version), " · this file works offline"]),
        }
        rest = after;
    }
    page.push_str(rest);
    page
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
