//! The first page of the tour, which links to everything that the tour wrote.

#![expect(clippy::format_collect, reason = "a page is written once; what reads best wins")]

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_report::page::{Page, escape, section, table};
use sqlgauge_report::words::percent;
use sqlgauge_search::literal;
use sqlgauge_verify::Verdict;

use super::{
    BeforeAndAfter, CHANGE, EstimateAndTruth, MatchedAnswer, RefutedAnswer, ShownPair, Tour, UNLABELLED,
};

pub(super) fn html(demo: &Tour) -> String {
    let sections = [
        ("scores", "How good?", scores(demo)),
        ("wrong", "Why wrong?", demo.refuted.as_ref().map(refuted).unwrap_or_default()),
        ("right", "Why right?", demo.matched.as_ref().map(matched).unwrap_or_default()),
        ("estimate", "Without labels?", estimates(&demo.estimates)),
        ("evolved", "Another schema?", evolved(&demo.evolved)),
    ];
    let written = || sections.iter().filter(|(_, _, content)| !content.is_empty());
    Page {
        title: "The bundled sample".to_owned(),
        nav: written().map(|&(id, name, _)| (id.to_owned(), name.to_owned())).collect(),
        body: std::iter::once("<h1>The bundled sample</h1>\n".to_owned())
            .chain(written().map(|(id, name, content)| section(id, name, "", content)))
            .collect(),
        tool_version: env!("CARGO_PKG_VERSION"),
    }
    .html("")
}

fn link(to: &str, text: &str) -> String {
    format!("<p><a href=\"{to}\">{}</a></p>\n", escape(text))
}

fn scores(demo: &Tour) -> String {
    let metrics = &demo.report.summary.metrics[..demo.report.summary.metrics.len().min(4)];
    let rows: String = demo
        .report
        .summary
        .systems
        .iter()
        .map(|system| {
            let cell = |metric: &String| {
                let score = system.scores.get(metric);
                let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), percent);
                let text = score.map_or_else(
                    || "–".to_owned(),
                    |score| format!("{} [{}, {}]", share(score.mean), share(score.low), share(score.high)),
                );
                format!("<td>{text}</td>")
            };
            format!(
                "<tr><td>{}</td>{}</tr>",
                escape(&system.system),
                metrics.iter().map(cell).collect::<String>()
            )
        })
        .collect();
    let header: Vec<(&str, &str)> =
        std::iter::once(("", "System")).chain(metrics.iter().map(|metric| ("", metric.as_str()))).collect();
    format!(
        "<p>Three systems answered 41 questions. Percent with 95 % intervals.</p>\n{}{}",
        table("", &header, &rows),
        link("run/report.html", "The whole report: every score, every item, and the reason for each")
    )
}

fn queries(pair: &ShownPair) -> String {
    format!(
        "<p><strong>{}</strong> ({}, {})</p>\n<p>Gold</p><pre class=\"sql\">{}</pre>\n<p>Prediction</p><pre class=\"sql\">{}</pre>\n",
        escape(&pair.question),
        escape(&pair.system),
        escape(&pair.id),
        escape(&pair.gold),
        escape(&pair.prediction)
    )
}

fn refuted(answer: &RefutedAnswer) -> String {
    let RefutedAnswer { pair, verdict } = answer;
    let Verdict::Different(counterexample) = &verdict.verdict else { return String::new() };
    let refutation = &counterexample.refutation;
    let tables: String = refutation
        .database()
        .tables
        .iter()
        .map(|table| {
            format!(
                "<p class=\"soft\">Table {}</p>{}",
                escape(&table.name),
                grid(&table.columns, &table.rows)
            )
        })
        .collect();
    let result = |title: &str, rows: &ResultSet| {
        let all: Vec<Vec<Value>> = rows.rows().map(<[Value]>::to_vec).collect();
        format!("<p class=\"soft\">{title}</p>{}", grid(&rows.columns, &all))
    };
    let explanation = counterexample.explanation.as_deref().unwrap_or_default();
    format!(
        "<p>Execution accuracy calls this answer right, because the rows at hand do not show the difference. This small database does.</p>\n{}{tables}{}{}<p>{}</p>\n",
        queries(pair),
        result("The gold returns", refutation.left()),
        result("The prediction returns", refutation.right()),
        escape(explanation)
    )
}

fn grid(columns: &[String], rows: &[Vec<Value>]) -> String {
    let header: Vec<(&str, &str)> = columns.iter().map(|name| ("", name.as_str())).collect();
    let cell = |value: &Value| format!("<td class=\"mono\">{}</td>", escape(&literal(value)));
    let row = |row: &Vec<Value>| format!("<tr>{}</tr>", row.iter().map(cell).collect::<String>());
    table("", &header, &rows.iter().map(row).collect::<String>())
}

fn matched(answer: &MatchedAnswer) -> String {
    let MatchedAnswer { pair, comparison } = answer;
    let steps: String = [("gold", &comparison.left), ("prediction", &comparison.right)]
        .into_iter()
        .filter_map(|(side, form)| Some((side, form.as_ref()?)))
        .flat_map(|(side, form)| {
            form.applications
                .iter()
                .map(move |step| format!("<li>{side}: rule {}</li>\n", escape(&step.to_string())))
        })
        .collect();
    format!(
        "<p>Exact set match calls this answer wrong, because it is written otherwise. These rules turn both queries into one.</p>\n{}<ul>\n{steps}</ul>\n",
        queries(pair)
    )
}

fn estimates(estimates: &[EstimateAndTruth]) -> String {
    let rows: String = estimates
        .iter()
        .map(|EstimateAndTruth { estimate, truth }| {
            format!(
                "<tr><td>{}</td><td>{}</td><td>{} to {}</td><td>{}</td></tr>",
                escape(&estimate.system),
                percent(estimate.accuracy),
                percent(estimate.interval.low),
                percent(estimate.interval.high),
                percent(*truth)
            )
        })
        .collect();
    let header = [("", "System"), ("", "Estimate"), ("", "90 % interval"), ("", "Truth")];
    format!(
        "<p>The labels of one database are known. The accuracy on {UNLABELLED} is estimated without its golds, which then tell the truth.</p>\n{}{}",
        table("", &header, &rows),
        link("estimate/report.html", "What the estimates follow from")
    )
}

fn evolved(scores: &[BeforeAndAfter]) -> String {
    let rows: String = scores
        .iter()
        .map(|BeforeAndAfter { system, before, after }| {
            format!(
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(system),
                percent(*before),
                percent(*after)
            )
        })
        .collect();
    let header = [("", "System"), ("", "ex@1 on the original"), ("", "ex@1 with renamed columns")];
    format!(
        "<p>The same answers on the benchmark after {}, whose golds were rewritten and run. Answers that name an old column are lost.</p>\n{}{}{}",
        CHANGE.name(),
        table("", &header, &rows),
        link("evolved-run/report.html", "Every answer on the evolved schema"),
        link(&format!("evolved/{}/changes.jsonl", CHANGE.name()), "What was renamed")
    )
}
