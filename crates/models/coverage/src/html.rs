//! One page that needs no network, no server and no script.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use sqlgauge_report::page::{Page, escape, section, table};
use sqlgauge_report::sheet::Sheet;
use sqlgauge_synth::Tier;
use sqlgauge_synth::operators::{OPERATORS, Operator};

use crate::coverage::{CorpusCoverage, Coverage};
use crate::dimensions::{DIMENSIONS, Measure};

const OWN_STYLE: &str = "\
.chart { margin: 0 0 18px; overflow-x: auto; }
.chart svg { display: block; }
.panels { display: flex; flex-wrap: wrap; gap: 18px 30px; }
.panels figcaption { margin-bottom: 6px; }
";

/// The page.
pub(crate) fn html(coverage: &Coverage) -> String {
    let names: Vec<&str> = coverage.corpora.iter().map(|corpus| corpus.name.as_str()).collect();
    let mut body = format!("<h1>Coverage of {}</h1>\n", escape(&names.join(", ")));
    body.push_str(&section("sizes", "Size", "what each corpus holds", &sizes(coverage)));
    body.push_str(&section(
        "tiers",
        "Difficulty",
        "share of the queries in each tier, in %",
        &tiers(coverage),
    ));
    body.push_str(&section(
        "views",
        "Where the items lie",
        "items that are alike lie near each other",
        &views(coverage),
    ));
    body.push_str(&section(
        "dimensions",
        "How far they reach",
        "the farther out, the wider the range",
        &dimensions(coverage),
    ));
    body.push_str(&section(
        "operators",
        "Operators",
        "share of the queries that have one, in %",
        &operators(coverage),
    ));
    let nav = [
        ("sizes", "Size"),
        ("tiers", "Difficulty"),
        ("views", "Views"),
        ("dimensions", "Dimensions"),
        ("operators", "Operators"),
    ];
    Page {
        title: "Coverage".to_owned(),
        nav: nav.map(|(id, name)| (id.to_owned(), name.to_owned())).to_vec(),
        body,
        tool_version: &coverage.tool_version,
    }
    .html(OWN_STYLE)
}

/// A row of such a table: its title, and what stands in it for a corpus.
type Row<'a> = (&'a str, &'a dyn Fn(&CorpusCoverage) -> String);

/// A table with a column for each corpus, as there are fewer of them than of what is measured.
fn by_corpus(coverage: &Coverage, measured: &[Row<'_>]) -> String {
    let names = coverage.corpora.iter().map(|corpus| corpus.name.clone());
    let row = |(name, cell): &Row<'_>| {
        let cells = coverage.corpora.iter().map(|corpus| cell(corpus).into());
        std::iter::once((*name).into()).chain(cells).collect()
    };
    let rows = measured.iter().map(row).collect();
    Sheet { header: std::iter::once(String::new()).chain(names).collect(), rows, ..Sheet::default() }.html()
}

/// What stands where there is no value.
const NONE: &str = "–";

fn number(value: usize) -> String {
    let digits = value.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn decimal(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.1}"))
}

fn sizes(coverage: &Coverage) -> String {
    let mut text = by_corpus(
        coverage,
        &[
            ("examples", &|corpus| number(corpus.sizes.examples)),
            ("resolved", &|corpus| number(corpus.sizes.resolved)),
            ("unique SQL", &|corpus| number(corpus.sizes.unique_sql)),
            ("unique questions", &|corpus| corpus.sizes.unique_questions.map_or(NONE.to_owned(), number)),
            ("databases", &|corpus| number(corpus.sizes.databases)),
            ("tables", &|corpus| number(corpus.sizes.tables)),
            ("columns", &|corpus| number(corpus.sizes.columns)),
            ("foreign keys", &|corpus| number(corpus.sizes.foreign_keys)),
            ("operators of 42", &|corpus| number(corpus.sizes.operators.len())),
            ("deepest nesting", &|corpus| corpus.sizes.deepest().map_or(NONE.to_owned(), number)),
            ("words per question", &|corpus| decimal(corpus.sizes.question_words)),
            ("characters per query", &|corpus| decimal(corpus.sizes.sql_characters)),
        ],
    );
    for corpus in coverage.corpora.iter().filter(|corpus| !corpus.sizes.not_resolved.is_empty()) {
        let reasons: Vec<String> = corpus
            .sizes
            .not_resolved
            .iter()
            .map(|(reason, count)| format!("{} {reason}", number(*count)))
            .collect();
        text.push_str(&format!(
            "<p class=\"note\">Not resolved in {}: {}.</p>\n",
            escape(&corpus.name),
            escape(&reasons.join(", "))
        ));
    }
    text
}

fn tiers(coverage: &Coverage) -> String {
    let share = |tier: Tier| {
        move |corpus: &CorpusCoverage| {
            decimal(corpus.sizes.tier_share(tier.name()).map(|share| 100.0 * share))
        }
    };
    let shares = Tier::ALL.map(|tier| (tier.name().replace('_', " "), share(tier)));
    let rows: Vec<Row<'_>> = shares
        .iter()
        .map(|(name, cell)| (name.as_str(), cell as &dyn Fn(&CorpusCoverage) -> String))
        .collect();
    by_corpus(coverage, &rows)
}

fn views(coverage: &Coverage) -> String {
    let mut text = String::from("<div class=\"panels\">\n");
    for projection in &coverage.projections {
        text.push_str(&format!(
            "<figure class=\"chart\"><figcaption>{}</figcaption>{}</figure>\n",
            escape(projection.panel.title()),
            coverage.dots(projection)
        ));
    }
    text.push_str("</div>\n");
    text
}

fn dimensions(coverage: &Coverage) -> String {
    let mut text = format!("<figure class=\"chart\">{}</figure>\n", coverage.radar());
    let mut header = vec![("", "dimension"), ("", "what it counts"), ("", "of a")];
    header.extend(coverage.corpora.iter().map(|corpus| ("num", corpus.name.as_str())));
    let mut rows = String::new();
    for (at, dimension) in DIMENSIONS.iter().enumerate() {
        let of = if matches!(dimension.of, Measure::Schema(_)) { "database" } else { "query" };
        rows.push_str(&format!(
            "<tr><th scope=\"row\" class=\"name\">{}</th><td>{}</td><td>{of}</td>",
            escape(dimension.name),
            escape(dimension.about)
        ));
        for corpus in &coverage.corpora {
            let cell = corpus.reach[at].map_or(NONE.to_owned(), |reach| {
                format!("{} to {} (mean {:.1})", plain(reach.low), plain(reach.high), reach.mean)
            });
            rows.push_str(&format!("<td class=\"num\">{}</td>", escape(&cell)));
        }
        rows.push_str("</tr>\n");
    }
    text.push_str(&table("", &header, &rows));
    text.push_str("<p class=\"note\">From the 1st to the 99th percentile; the picture has the distances between them.</p>\n");
    text
}

fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn operators(coverage: &Coverage) -> String {
    let corpora = coverage.corpora.iter();
    let header = std::iter::once("operator".to_owned()).chain(corpora.map(|corpus| corpus.name.clone()));
    let row = |operator: &Operator| {
        let cell = |corpus: &CorpusCoverage| {
            let count = corpus.sizes.operators.get(operator.name).copied().unwrap_or(0);
            let resolved = corpus.sizes.resolved;
            decimal((resolved > 0).then(|| 100.0 * count as f64 / resolved as f64)).into()
        };
        let name = operator.name.replace('_', " ");
        std::iter::once(name.into()).chain(coverage.corpora.iter().map(cell)).collect()
    };
    Sheet { header: header.collect(), rows: OPERATORS.iter().map(row).collect(), ..Sheet::default() }.html()
}
