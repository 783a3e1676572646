//! Reports of estimates and charts: well formed, escaped, without numbers that are none, whatever they are given.

use pulldown_cmark::{Event, Options, Parser};
use std::collections::BTreeMap;

use serde_json::json;
use sqlgauge_estimate::report::drift::{AlarmRules, DriftPoint, Series};
use sqlgauge_estimate::report::{
    AccuracyInterval, Answer, EstimatePart, Reliability, Signal, SystemEstimate, json,
};
use sqlgauge_estimate::watch::BatchAnswers;
use sqlgauge_report::charts::{
    AccuracyPoint, DriftMark, MethodRow, drift_chart, interval_bar, mae_by_method, predicted_against_true,
};
use sqlgauge_report::document::STEP_SUMMARY;
use sqlgauge_report::formats::TextTables;
use sqlgauge_run::{InputRecord, Manifest};

/// Texts that some format would obey if it did not escape them.
const HOSTILE: [&str; 6] = [
    "</pre></style><script>alert(1)</script>",
    "a|b `c` **d** <!-- e",
    "]]> & \" ' <x y='z'>",
    "nul \u{0} bell \u{7} escape \u{1b}[31m \u{ffff}",
    "line\nfeed\r\nand\ttab \u{202e} override",
    "日本語 \u{1f600} {{body}} {{style}}",
];

fn answer(at: usize, text: &str, probability: f64) -> Answer {
    Answer {
        id: format!("q{at}"),
        db_id: text.to_owned(),
        question: format!("How many {text}?"),
        prediction: format!("SELECT count(*) FROM t WHERE a = '{text}' AND b > 3 -- {text}"),
        status: "no_such_column".to_owned(),
        probability,
        reasons: vec![format!("it does not run: {text}")],
    }
}

fn estimate(system: &str, accuracy: f64, half: f64, texts: &[&str]) -> SystemEstimate {
    let part = |(at, name): (usize, &&str)| EstimatePart {
        name: (*name).to_owned(),
        count: at + 1,
        accuracy: accuracy / 2.0,
        runs: 1.0,
        pull: Some(-0.01 * at as f64),
    };
    let parts: Vec<EstimatePart> = texts.iter().enumerate().map(part).collect();
    SystemEstimate {
        system: system.to_owned(),
        accuracy,
        interval: AccuracyInterval {
            level: 0.9,
            low: (accuracy - half).max(0.0),
            high: (accuracy + half).min(1.0),
        },
        outside_because: texts.iter().map(|text| format!("it differs: {text}")).collect(),
        labelled: 40,
        outside: half > 0.1,
        method: "signals".to_owned(),
        signals: vec![
            Signal { name: "accuracy".to_owned(), known: Some(0.7), target: None, effect: None },
            Signal { name: "runs".to_owned(), known: Some(0.9), target: Some(0.6), effect: Some(-0.065) },
        ],
        descriptors: BTreeMap::from([("swd".to_owned(), 0.85), ("other".to_owned(), 1e-5)]),
        by_database: parts.clone(),
        by_kind: parts,
        notes: texts.iter().map(|text| format!("note on {text}")).collect(),
        items: texts.iter().enumerate().map(|(at, text)| answer(at, text, 1.0 - 0.1 * at as f64)).collect(),
        ..SystemEstimate::default()
    }
}

fn report(estimates: Vec<SystemEstimate>, target: &str) -> Reliability {
    Reliability {
        manifest: Manifest {
            tool_version: "0.1.0".to_owned(),
            engine: "SQLite 3.51.0".to_owned(),
            command: vec!["sqlgauge".to_owned(), "estimate".to_owned(), target.to_owned()],
            metrics: Vec::new(),
            systems: estimates.iter().map(|estimate| estimate.system.clone()).collect(),
            inputs: vec![InputRecord {
                role: "target".to_owned(),
                path: target.to_owned(),
                sha256: "00".repeat(32),
            }],
            options: BTreeMap::from([("seed".to_owned(), json!(0)), ("metric".to_owned(), json!(target))]),
            examples: 1534,
        },
        target: target.to_owned(),
        estimates,
        drift: Vec::new(),
        alarm_below: None,
    }
}

fn series(system: &str, labels: &[&str]) -> Series {
    let point = |(at, label): (usize, &&str)| DriftPoint {
        label: (*label).to_owned(),
        count: 100,
        accuracy: 0.7 - 0.1 * at as f64,
        low: 0.66 - 0.1 * at as f64,
        high: 0.74 - 0.1 * at as f64,
        outside: at == 1,
    };
    let points = labels.iter().enumerate().map(point).collect();
    let answers = |at: usize| -> BatchAnswers {
        let values: Vec<_> = (0..100).map(|answer| (700 - 100 * at + answer, 1)).collect();
        serde_json::from_value(json!({labels[0]: values})).unwrap()
    };
    let answers: Vec<BatchAnswers> = (0..labels.len()).map(answers).collect();
    let rules = AlarmRules { below: Some(0.6), per_year: Some(52.0) };
    Series::judged(system.to_owned(), points, &answers, rules, 0)
}

fn many_reports() -> Vec<Reliability> {
    let plain = ["concert_singer", "pets_1"];
    let mut drifting = report(vec![estimate("a", 0.6, 0.05, &plain)], "new.json");
    drifting.drift = vec![series("a", &["may", "june", "july", "august"])];
    drifting.alarm_below = Some(0.6);
    let mut hostile = report(
        vec![estimate(HOSTILE[0], 0.5, 0.2, &HOSTILE), estimate(HOSTILE[2], 0.4, 0.02, &HOSTILE)],
        HOSTILE[0],
    );
    hostile.drift = vec![series(HOSTILE[1], &HOSTILE)];
    let mut bare = estimate("bare", 0.0, 0.0, &[]);
    bare.signals.clear();
    bare.descriptors.clear();
    vec![
        report(Vec::new(), "new.json"),
        report(vec![bare], "new.json"),
        report(vec![estimate("one", 1.0, 0.0, &["db"])], "new.json"),
        report(vec![estimate("one", 0.0, 1.0, &["db"])], "new.json"),
        report(
            (0..12).map(|at| estimate(&format!("s{at}"), f64::from(at) / 11.0, 0.05, &plain)).collect(),
            "new.json",
        ),
        report(vec![estimate("nan", f64::NAN, f64::NAN, &plain)], "new.json"),
        drifting,
        hostile,
    ]
}

fn html(report: &Reliability) -> String {
    report.document().html()
}

fn markdown(report: &Reliability) -> String {
    report.document().markdown(STEP_SUMMARY)
}

fn table(report: &Reliability) -> String {
    report.document().text(TextTables { width: 100, colour: false })
}

fn assert_no_nan(text: &str) {
    for bad in ["NaN", "inf%", "inf\"", "-0.0 "] {
        assert!(!text.contains(bad), "{bad}");
    }
}

/// The body is written so that it is XML too, which tells whether any text got out of its place.
fn body_of(page: &str) -> &str {
    let from = page.find("<main").unwrap();
    &page[from..page.find("</main>").unwrap() + "</main>".len()]
}

#[test]
fn every_page_is_well_formed_and_has_no_script_and_no_number_that_is_none() {
    for report in many_reports() {
        let page = html(&report);
        let body = body_of(&page);
        let tree = roxmltree::Document::parse(body).unwrap_or_else(|error| panic!("{error}\n{body}"));
        assert!(tree.descendants().all(|node| !node.has_tag_name("script") && !node.has_tag_name("x")));
        assert!(!page.contains("<script"));
        let asks = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!asks.contains("http://") && !asks.contains("https://") && !asks.contains("@import"));
        assert_no_nan(body);
    }
}

#[test]
fn the_links_of_a_page_lead_somewhere() {
    for report in many_reports() {
        let page = html(&report);
        for link in page.split("href=\"#").skip(1) {
            let id = link.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}

#[test]
fn the_page_says_what_was_found() {
    let page = html(&report(vec![estimate("Tern", 0.473, 0.155, &["concert_singer"])], "new.json"));
    for expected in [
        "<h1>Estimated accuracy of Tern</h1>",
        "Tern: 31.8 to 62.8 %",
        "1,534 questions on 1 database of new.json",
        "the true share may lie outside 31.8 % to 62.8 %",
        "It scored 70.0 % on the 40 labelled questions; the estimate is 22.7 points lower.",
        "Outside the labelled data.",
        "−6.5",
        "<span class=\"kw\">SELECT</span>",
        "it does not run: concert_singer",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn the_terminal_table() {
    let mut one = report(vec![estimate("Tern", 0.473, 0.155, &["concert_singer", "pets_1"])], "new.json");
    one.drift = vec![series("Tern", &["may", "june", "july", "august"])];
    insta::assert_snapshot!("reliability_table", table(&one));
}

#[test]
fn the_markdown_page() {
    let one = report(vec![estimate("Tern", 0.473, 0.155, &["concert_singer", "pets_1"])], "new.json");
    insta::assert_snapshot!("reliability_markdown", markdown(&one));
}

#[test]
fn a_terminal_is_never_given_what_it_would_obey_and_no_format_writes_nan() {
    for report in many_reports() {
        let text = table(&report);
        assert!(!text.contains(['\u{1b}', '\u{0}', '\u{7}', '\u{202e}']), "{text}");
        assert_no_nan(&text);
        assert_no_nan(&markdown(&report));
    }
}

#[test]
fn a_markdown_row_has_as_many_cells_as_its_header() {
    for report in many_reports() {
        let mut width = None;
        for line in markdown(&report).lines() {
            width = line.starts_with('|').then(|| {
                let cells = line.matches('|').count() - line.matches("\\|").count();
                assert!(width.is_none_or(|width| width == cells), "{line}");
                cells
            });
        }
    }
}

/// What a Markdown reader takes for HTML is the page's own.
#[test]
fn no_text_becomes_html_in_the_markdown_page() {
    const OWN: [&str; 7] =
        ["<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>", "<!-- -->"];
    for report in many_reports() {
        let page = markdown(&report);
        for event in Parser::new_ext(&page, Options::ENABLE_TABLES) {
            if let Event::Html(html) | Event::InlineHtml(html) = event {
                let rest = OWN.iter().fold(html.to_string(), |rest, tag| rest.replace(tag, ""));
                assert!(!rest.contains('<'), "{html}");
            }
        }
    }
}

#[test]
fn the_json_is_the_estimates_without_their_items() {
    let text = json(&report(vec![estimate("Tern", 0.5, 0.1, &["db"])], "new.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&str> = value[0].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "sentence",
        "system",
        "accuracy",
        "interval",
        "outside",
        "outside_because",
        "labelled",
        "overlap",
        "method",
        "signals",
        "descriptors",
        "by_database",
        "by_kind",
        "notes",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn what_monitor_prints_as_json_has_its_alarms() {
    let mut one = report(vec![estimate("Tern", 0.473, 0.155, &["db"])], "new.json");
    let printed = |one: &Reliability| serde_json::to_value(one.printed().collect::<Vec<_>>()).unwrap();
    assert!(printed(&one)[0].get("alarms").is_none());
    one.drift = vec![series("Tern", &["may", "june", "july", "august"])];
    let printed = &printed(&one)[0];
    assert_eq!((&printed["points"][3]["label"], &printed["system"]), (&json!("august"), &json!("Tern")));
    assert_eq!(printed["alarms"].as_array().unwrap().len(), one.drift[0].alarms.len());
}

#[test]
fn the_most_doubtful_come_first() {
    let one = estimate("Tern", 0.5, 0.1, &["a", "b", "c"]);
    let ids = |most| one.most_doubtful(most).into_iter().map(|answer| answer.id.as_str()).collect::<Vec<_>>();
    assert_eq!(ids(2), ["q2", "q1"]);
    let mut flat = one.clone();
    flat.items.iter_mut().for_each(|item| item.probability = 0.5);
    flat.items[0].reasons.clear();
    // Without an order, what has no reason is not accused.
    assert_eq!(flat.most_doubtful(9).len(), 2);
}

fn assert_svg(svg: &str, marks: usize) {
    let tree = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    assert_no_nan(svg);
    let root = tree.root_element();
    assert!(
        root.has_tag_name(("http://www.w3.org/2000/svg", "svg")) && root.attribute("aria-label").is_some()
    );
    for node in tree.descendants().filter(roxmltree::Node::is_element) {
        for name in ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"] {
            let value = node.attribute(name).map(|value| value.trim_end_matches('%').parse::<f64>());
            assert!(value.is_none_or(|value| value.is_ok_and(f64::is_finite)), "{name} in {svg}");
        }
    }
    let titled =
        tree.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title"))).count();
    assert_eq!(titled, marks, "{svg}");
}

fn accuracy_point(label: &str, truth: f64, accuracy: f64) -> AccuracyPoint {
    AccuracyPoint {
        label: label.to_owned(),
        group: String::new(),
        truth,
        accuracy,
        low: accuracy - 0.05,
        high: accuracy + 0.05,
    }
}

#[test]
fn predicted_against_true_draws_every_finite_point_and_rings_the_missed() {
    assert_svg(&predicted_against_true(&[]), 0);
    for edge in [0.0, 1.0] {
        assert_svg(&predicted_against_true(&[accuracy_point("edge", edge, edge)]), 1);
    }
    let mut points: Vec<AccuracyPoint> =
        HOSTILE.iter().enumerate().map(|(at, text)| accuracy_point(text, 0.1 * at as f64, 0.3)).collect();
    points.push(accuracy_point("none", f64::NAN, 0.3));
    let svg = predicted_against_true(&points);
    assert_svg(&svg, HOSTILE.len());
    // 0.0, 0.1, 0.2, 0.4 and 0.5 are not within 0.25 to 0.35.
    assert_eq!(svg.matches("class=\"ring\"").count(), 5);
    assert!(svg.contains("1 without a value are left out"));
}

#[test]
fn mae_by_method_draws_a_bar_per_method() {
    let row = |method: &str, mae: f64| MethodRow {
        method: method.to_owned(),
        mae,
        low: mae * 0.8,
        high: mae * 1.2,
        count: 28,
        emphasised: mae < 0.03,
    };
    assert_svg(&mae_by_method(&[]), 0);
    assert_svg(&mae_by_method(&[row("none", 0.0)]), 0);
    let svg = mae_by_method(&[row("ours", 0.02), row(HOSTILE[0], 0.33), row("broken", f64::NAN)]);
    assert_svg(&svg, 0);
    assert_eq!(svg.matches("<rect").count(), 2);
    assert!(svg.contains("2.0 [1.6, 2.4]  n 28") && svg.contains("1 without a value are left out"));
}

#[test]
fn drift_and_interval_take_any_values() {
    let mark = |label: &str, accuracy: f64| DriftMark {
        label: label.to_owned(),
        accuracy,
        low: (accuracy - 0.1).max(0.0),
        high: (accuracy + 0.1).min(1.0),
        alarmed: accuracy < 0.5,
    };
    assert_svg(&drift_chart("accuracy", &[], None), 0);
    assert_svg(&drift_chart("accuracy", &[mark("only", 1.0)], Some(0.5)), 1);
    let marks: Vec<DriftMark> =
        HOSTILE.iter().enumerate().map(|(at, text)| mark(text, 0.15 * at as f64)).collect();
    let svg = drift_chart("accuracy", &marks, Some(f64::NAN));
    assert_svg(&svg, HOSTILE.len());
    assert_eq!(svg.matches("class=\"ring\"").count(), 4);
    assert_svg(&drift_chart("accuracy", &vec![mark("b", f64::NAN); 3], None), 0);
    assert_svg(&drift_chart("accuracy", &vec![mark("2026-11-20", 0.6); 500], None), 500);
    for (accuracy, interval) in [(0.0, (0.0, 0.0)), (1.0, (1.0, 1.0)), (0.5, (0.0, 1.0))] {
        assert_svg(&interval_bar(accuracy, interval, Some(accuracy)), 0);
    }
    assert_eq!(interval_bar(f64::NAN, (0.0, 1.0), None), "");
}
