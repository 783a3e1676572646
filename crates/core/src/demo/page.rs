//! The first page of the tour, which links to everything that the tour wrote.

use sqlgauge_base::counted;
use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_report::clusters;
use sqlgauge_report::document::{Block, Cell, Document, Drawing, Section, Table, Text};
use sqlgauge_report::words::{optional, percent};
use sqlgauge_run::{ScoreSummary, SystemSummary};
use sqlgauge_search::literal;
use sqlgauge_verify::Verdict;

use super::{
    BeforeAndAfter, CHANGE, EstimateAndTruth, MatchedAnswer, RefutedAnswer, ShownPair, Tour, UNLABELLED,
};

/// Metrics in the table of scores.
const METRICS: usize = 4;

pub(super) fn html(demo: &Tour) -> String {
    let mut document = Document::new("The bundled sample");
    document.lead.extend(leader(demo));
    document.lead.extend(drawn(demo).map(Block::from));
    let mut add = |title: &str, blocks: Vec<Block>| {
        let link = Some(title.to_owned());
        document.add(Section { title: title.to_owned(), link, blocks, ..Section::default() });
    };
    add("How good?", scores(demo));
    add("Why wrong?", demo.refuted.as_ref().map(refuted).unwrap_or_default());
    add("Why right?", demo.matched.as_ref().map(matched).unwrap_or_default());
    add("Without labels?", estimates(&demo.estimates));
    add("After a schema change?", evolved(&demo.evolved));
    document.html()
}

/// The system with the best score, in a sentence.
fn leader(demo: &Tour) -> Option<Block> {
    let (metric, systems) = ranked(demo)?;
    let (system, score) = systems.first()?;
    let text = format!(
        " answers {} % of {} right by {metric} (95 % interval {} to {}{}).",
        optional(score.mean),
        counted(score.count, "question"),
        optional(score.low),
        optional(score.high),
        clusters::about(&demo.report.summary)
    );
    Some(Block::lead(Text::default().strong(*system).plain(text)))
}

/// The systems with their intervals, the best first.
fn drawn(demo: &Tour) -> Option<Table> {
    let (metric, systems) = ranked(demo)?;
    let row = |(system, score): &(&str, ScoreSummary)| {
        let (value, low, high) = (score.mean?, score.low?, score.high?);
        let drawing = Cell::drawn(Drawing::Interval { value, low, high });
        Some(vec![
            Cell::new(*system),
            drawing,
            Cell::new(percent(value)).strong(),
            Cell::new(score.count.to_string()),
        ])
    };
    Some(Table::of(["System", "0 to 100 %", &metric, "n"], systems.iter().filter_map(row)))
}

/// The first metric of the run, and the systems by it.
fn ranked(demo: &Tour) -> Option<(String, Vec<(&str, ScoreSummary)>)> {
    let summary = &demo.report.summary;
    let metric = summary.metrics.first()?;
    let score = |system: &'_ SystemSummary| system.scores.get(metric).copied();
    let mut systems: Vec<(&str, ScoreSummary)> =
        summary.systems.iter().filter_map(|system| Some((system.system.as_str(), score(system)?))).collect();
    systems.sort_by(|(_, a), (_, b)| b.mean.unwrap_or(-1.0).total_cmp(&a.mean.unwrap_or(-1.0)));
    Some((metric.clone(), systems))
}

fn link(to: &str, text: &str) -> Block {
    Block::prose(Text::default().link(to, text))
}

fn scores(demo: &Tour) -> Vec<Block> {
    let summary = &demo.report.summary;
    let metrics = &summary.metrics[..summary.metrics.len().min(METRICS)];
    let row = |system: &SystemSummary| {
        let cell = |metric: &String| {
            let Some(score) = system.scores.get(metric) else { return Cell::new(optional(None)) };
            let [mean, low, high] = [score.mean, score.low, score.high].map(optional);
            Cell::new(format!("{mean} [{low}, {high}]"))
        };
        std::iter::once(Cell::new(&system.system)).chain(metrics.iter().map(cell)).collect()
    };
    let columns = std::iter::once("System").chain(metrics.iter().map(String::as_str));
    vec![
        Block::prose(format!(
            "Three systems answered 41 questions. Percent with 95 % intervals{}.",
            clusters::about(summary)
        )),
        Table::of(columns, summary.systems.iter().map(row)).into(),
        link("run/report.html", "The whole report: every score, every item, and the reason for each"),
    ]
}

fn queries(pair: &ShownPair) -> [Block; 5] {
    let question = Text::default().strong(&pair.question).plain(format!(" ({}, {})", pair.system, pair.id));
    [
        Block::prose(question),
        Block::prose("Gold"),
        Block::Sql(pair.gold.clone()),
        Block::prose("Prediction"),
        Block::Sql(pair.prediction.clone()),
    ]
}

fn refuted(answer: &RefutedAnswer) -> Vec<Block> {
    let RefutedAnswer { pair, verdict } = answer;
    let Verdict::Different(counterexample) = &verdict.verdict else { return Vec::new() };
    let refutation = &counterexample.refutation;
    let mut blocks = vec![Block::prose(
        "The sample's rows only show that the results differ. This database, with as few rows as possible, shows where.",
    )];
    blocks.extend(queries(pair));
    let tables = verdict.record().shown_tables();
    for table in tables.iter().filter(|table| !table.rows.rows.is_empty()) {
        blocks.push(Block::note(format!("Table {}", table.name)));
        let cell = |value: &serde_json::Value| Cell::new(value.to_string()).code();
        let rows = table.rows.rows.iter().map(|row| row.iter().map(cell).collect());
        blocks.push(Table::of(table.rows.columns.iter().map(String::as_str), rows).into());
    }
    let mut result = |title: &str, rows: &ResultSet| {
        blocks.extend([Block::note(title), grid(&rows.columns, rows.rows())]);
    };
    result("The gold returns", refutation.left());
    result("The prediction returns", refutation.right());
    blocks.extend(counterexample.explanation.as_deref().map(Block::prose));
    blocks
}

fn grid<'v>(columns: &[String], rows: impl Iterator<Item = &'v [Value]>) -> Block {
    let row = |row: &[Value]| row.iter().map(|value| Cell::new(literal(value)).code()).collect();
    Table::of(columns.iter().map(String::as_str), rows.map(row)).into()
}

fn matched(answer: &MatchedAnswer) -> Vec<Block> {
    let MatchedAnswer { pair, comparison } = answer;
    let mut steps = Vec::new();
    for (side, form) in [("gold", &comparison.left), ("prediction", &comparison.right)] {
        let applications = form.iter().flat_map(|form| &form.applications);
        for step in applications {
            let start = format!("{side}, rule {} {} in {}: ", step.rule.id, step.rule.name, step.scope);
            steps.push(Text::from(start).code(&step.before).plain(" becomes ").code(&step.after));
        }
    }
    let mut blocks = vec![Block::prose(
        "Exact set match calls this answer wrong, because it is written differently. These rules turn both queries into one.",
    )];
    blocks.extend(queries(pair));
    blocks.push(Block::List(steps));
    if let Some(form) = &comparison.left {
        blocks.extend([Block::prose("Both become:"), Block::Sql(form.sql.clone())]);
    }
    blocks
        .extend(comparison.assumes.iter().map(|assumption| Block::prose(format!("Assumes: {assumption}."))));
    blocks
}

fn estimates(estimates: &[EstimateAndTruth]) -> Vec<Block> {
    let mut table = Table::new(["System", "90 % interval", "Estimate", "Questions", "Truth"]);
    for EstimateAndTruth { estimate, truth } in estimates {
        let interval = format!("{} to {}", percent(estimate.interval.low), percent(estimate.interval.high));
        let count = estimate.questions().to_string();
        table.push([estimate.system.clone(), interval, percent(estimate.accuracy), count, percent(*truth)]);
    }
    let text = format!(
        "The labels of one database are known. The accuracy on {UNLABELLED} is estimated without its golds. Truth: scored with them \
         afterwards."
    );
    let report = link("estimate/report.html", "What the estimates follow from");
    vec![Block::prose(text), table.into(), report]
}

fn evolved(scores: &[BeforeAndAfter]) -> Vec<Block> {
    let mut table = Table::new(["System", "ex@1 on the original", "ex@1 with renamed columns"]);
    for BeforeAndAfter { system, before, after } in scores {
        table.push([system.clone(), percent(*before), percent(*after)]);
    }
    let change = CHANGE.name();
    let text = format!(
        "The same answers after {change}. The systems were not asked again, so an answer that names an old column fails."
    );
    vec![
        Block::prose(text),
        table.into(),
        link("evolved-run/report.html", "Every answer on the evolved schema"),
        link(&format!("evolved/{change}/changes.jsonl"), "What was renamed"),
    ]
}
