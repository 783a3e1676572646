//! What every format must hold to, on an invented run and on hostile text.

use std::collections::BTreeMap;

use serde_json::json;
use sqlgauge_report::formats::{Csv, Junit, TextTables};
use sqlgauge_report::{Report, ReportFormat, Versus, all, find};
use sqlgauge_run::{Gate, Item};

/// Texts that some format would obey if it did not escape them.
const HOSTILE: [&str; 9] = [
    "</script><script>alert(1)</script>",
    "a|b `c` **d** <!-- e",
    "]]> & \" ' <x y='z'>",
    "nul \u{0} bell \u{7} escape \u{1b}[31m delete \u{7f}",
    "line\nfeed\r\nand\ttab",
    "separators \u{2028} \u{2029} and \u{fffe} \u{ffff}",
    "bidi \u{202e} override",
    "=1+1,\"quoted\",';--",
    "日本語 \u{1f600} é",
];

fn rendered(format: &dyn ReportFormat, report: &Report) -> String {
    let mut bytes = Vec::new();
    format.render(report, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn by_name(name: &str, report: &Report) -> String {
    rendered(find(name).unwrap(), report)
}

fn details(written: serde_json::Value) -> sqlgauge_run::Details {
    serde_json::from_value(written).unwrap()
}

/// The invented run with hostile text in every place that comes from outside.
fn hostile_report() -> Report {
    let mut report = crate::common::report(2, HOSTILE.len());
    let mut items = report.items.to_vec().unwrap();
    for item in &mut items {
        let text = HOSTILE[item.index];
        text.clone_into(&mut item.db_id);
        text.clone_into(&mut item.status);
        item.metrics.insert("ex-spider@1".to_owned(), Some(0.0));
        item.details = details(json!({
            "question": text, "evidence": text, "gold": text, "prediction": text, "error": text,
            "hardness": text, "metrics": {"ex-spider@1": {"reason": text}},
        }));
    }
    report.items = items.into();
    let system = &mut report.summary.systems[0];
    system.statuses = HOSTILE.iter().map(|text| ((*text).to_owned(), 1)).collect();
    report
}

fn empty_report() -> Report {
    let mut report = crate::common::report(1, 1);
    report.items = Vec::new().into();
    report.summary.systems.clear();
    report.summary.comparisons.clear();
    report
}

#[test]
fn every_format_takes_any_report() {
    for report in
        [empty_report(), crate::common::report(1, 1), crate::common::report(3, 20), hostile_report()]
    {
        for format in all() {
            let text = rendered(*format, &report);
            assert!(format.name() == "jsonl" || !text.is_empty(), "{}", format.name());
        }
    }
}

#[test]
fn the_terminal_table() {
    insta::assert_snapshot!(by_name("table", &crate::common::report(3, 60)));
}

/// Whatever the names are, LaTeX sees a cell per metric and no more braces than it closes.
#[test]
fn a_row_of_latex_has_a_cell_per_metric() {
    let mut report = crate::common::report(HOSTILE.len(), 3);
    for (system, name) in report.summary.systems.iter_mut().zip(HOSTILE) {
        name.clone_into(&mut system.system);
    }
    let text = by_name("latex", &report);
    let unescaped = |line: &str, sign| line.replace(&format!("\\{sign}"), "").matches(sign).count();
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with(" \\\\")).collect();
    assert_eq!(rows.len(), 1 + report.summary.systems.len(), "{text}");
    for row in rows {
        assert_eq!(unescaped(row, "&"), report.summary.metrics.len(), "{row}");
        assert_eq!(unescaped(row, "{"), unescaped(row, "}"), "{row}");
    }
    assert!(text.contains("Percent") && text.contains("95\\,\\% intervals"), "{text}");
}

#[test]
fn the_table_keeps_to_its_width_and_to_no_colours() {
    for width in [60, 80, 100, 140, 200] {
        let text = rendered(&TextTables { width, colour: false }, &crate::common::report(5, 24));
        assert!(!text.contains('\u{1b}'));
        let tables = text.lines().filter(|line| line.starts_with([' ', '─', '═']));
        let widest = tables.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(width), "{widest} > {width}\n{text}");
    }
    assert!(
        rendered(&TextTables { width: 100, colour: true }, &crate::common::report(2, 8)).contains("\u{1b}[")
    );
}

#[test]
fn a_terminal_is_never_given_what_it_would_obey() {
    let text = rendered(&TextTables { width: 120, colour: false }, &hostile_report());
    assert!(!text.contains(['\u{1b}', '\u{0}', '\u{7}', '\u{202e}']), "{text}");
}

#[test]
fn the_markdown_page() {
    insta::assert_snapshot!(by_name("markdown", &crate::common::report(2, 12)));
}

#[test]
fn an_empty_text_is_not_an_answer() {
    let mut report = crate::common::report(1, 4);
    report.summary.systems[0].statuses = [("ok".to_owned(), 3), ("empty".to_owned(), 1)].into();
    report.summary.systems[0].counts.missing = 0;
    let text = by_name("markdown", &report);
    assert!(text.contains("| 4 | 3 | 0 | 0 | runs 3, empty text 1 |"), "{text}");
}

#[test]
fn markdown_fits_a_step_summary_whatever_the_run() {
    let mut report = crate::common::report(40, 300);
    let mut items = report.items.to_vec().unwrap();
    for item in &mut items {
        item.details.prediction = Some("|".repeat(100_000));
        item.metrics.insert("ex-spider@1".to_owned(), Some(0.0));
    }
    report.items = items.into();
    let text = by_name("markdown", &report);
    assert!(text.len() < 1 << 20, "{}", text.len());
    assert!(text.contains("sections did not fit"));
}

#[test]
fn a_markdown_row_has_as_many_cells_as_its_header() {
    let text = by_name("markdown", &hostile_report());
    let mut width = None;
    for line in text.lines() {
        width = line.starts_with('|').then(|| {
            let cells = line.matches('|').count() - line.matches("\\|").count();
            assert!(width.is_none_or(|w| w == cells), "{line}");
            cells
        });
    }
}

#[test]
fn json_is_the_summary() {
    let report = crate::common::report(2, 12);
    assert_eq!(
        serde_json::from_str::<sqlgauge_run::Summary>(&by_name("json", &report)).unwrap(),
        report.summary
    );
}

#[test]
fn jsonl_is_the_items() {
    let report = hostile_report();
    let text = by_name("jsonl", &report);
    let items: Vec<Item> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items, report.items.to_vec().unwrap());
}

#[test]
fn csv_reads_back_field_by_field() {
    let report = hostile_report();
    let text = rendered(&Csv { raw: true }, &report);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let items = report.items.to_vec().unwrap();
    assert_eq!(rows.len(), items.len());
    for (row, item) in rows.iter().zip(&items) {
        assert_eq!(row["system"], item.system);
        assert_eq!(row["status"], item.status);
        assert_eq!(row["prediction"], item.details.prediction.as_deref().unwrap());
        for (metric, score) in &item.metrics {
            assert_eq!(row[metric], score.map(|s| s.to_string()).unwrap_or_default(), "{metric}");
        }
    }
}

#[test]
fn csv_lines_end_as_rfc_4180_says() {
    let text = by_name("csv", &crate::common::report(1, 3));
    assert_eq!(text.matches("\r\n").count(), 4);
    assert_eq!(text.matches('\n').count(), 4);
}

/// `junit` with a test case for each item.
fn junit_of_items(report: &Report) -> String {
    let mut text = Vec::new();
    Junit { items: true }.render(report, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn junit_is_well_formed_and_counts_what_it_has() {
    for report in [crate::common::report(3, 40), hostile_report(), empty_report()] {
        let text = junit_of_items(&report);
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let root = document.root_element();
        let count = |name: &str| root.descendants().filter(|n| n.has_tag_name(name)).count().to_string();
        assert_eq!(root.attribute("tests"), Some(count("testcase").as_str()));
        assert_eq!(root.attribute("failures"), Some(count("failure").as_str()));
        assert_eq!(root.attribute("skipped"), Some(count("skipped").as_str()));
        assert_eq!(count("testsuite"), report.summary.systems.len().to_string());
        assert_eq!(count("testcase"), report.items.to_vec().unwrap().len().to_string());
    }
}

#[test]
fn junit_fails_an_item_with_its_reason_and_skips_what_does_not_apply() {
    let mut report = crate::common::report(1, 3);
    let mut items = report.items.to_vec().unwrap();
    for (item, score) in items.iter_mut().zip([Some(1.0), Some(0.0), None]) {
        item.metrics.insert("ex-spider@1".to_owned(), score);
        item.status = "ok".to_owned();
        item.details.error = None;
        item.details.metrics = details(json!({"metrics": {"ex-spider@1": {"reason": "why so"}}})).metrics;
    }
    report.items = items.into();
    let text = junit_of_items(&report);
    let document = roxmltree::Document::parse(&text).unwrap();
    let outcomes: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name("testcase"))
        .map(|case| {
            case.first_element_child().map(|n| (n.tag_name().name(), n.attribute("message").unwrap()))
        })
        .collect();
    assert_eq!(outcomes, [None, Some(("failure", "why so")), Some(("skipped", "why so"))]);
}

#[test]
fn a_missed_gate_is_a_failed_test_case() {
    let gate = |minimum| Gate { metric: "esm@1".to_owned(), minimum };
    let report = crate::common::report(2, 20).with_gates(vec![gate(0.01), gate(0.999)]);
    let text = junit_of_items(&report);
    let document = roxmltree::Document::parse(&text).unwrap();
    let suite = document.descendants().find(|n| n.attribute("name") == Some("gates")).unwrap();
    assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("4"), Some("2")));
    let failure = suite.descendants().find(|n| n.has_tag_name("failure")).unwrap();
    let message = failure.attribute("message").unwrap();
    assert!(message.contains(" % (n=20), wanted at least 99.9 %"), "{message}");
    assert_eq!(report.deciding_metric(), Some("esm@1"));
}

#[test]
fn without_items_the_test_cases_of_junit_are_the_gates() {
    for (gates, cases) in [(vec![], "0"), (vec![Gate { metric: "esm@1".to_owned(), minimum: 0.999 }], "2")] {
        let report = crate::common::report(2, 20).with_gates(gates);
        let text = by_name("junit", &report);
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some(cases), Some(cases)));
        let items = document.descendants().filter(|n| n.attribute("name") == Some("items"));
        let items: Vec<&str> = items.filter_map(|n| n.attribute("value")).collect();
        assert_eq!(items.len(), 2);
        assert!(items[0].starts_with("20 questions, 20 answered, "), "{items:?}");
    }
}

fn page_data(html: &str) -> serde_json::Value {
    let (_, after) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn html_carries_every_text_as_data_only() {
    let report = hostile_report();
    let html = by_name("html", &report);
    assert!(!html.contains("<script>alert") && !html.contains("<x y="));
    let data = page_data(&html);
    let questions: Vec<_> =
        data["examples"].as_array().unwrap().iter().map(|e| e["q"].as_str().unwrap()).collect();
    assert_eq!(questions, HOSTILE);
}

#[test]
fn html_carries_every_score() {
    let report = crate::common::report(3, 30);
    let data = page_data(&by_name("html", &report));
    let metrics: Vec<_> =
        data["metrics"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
    for item in &report.items.to_vec().unwrap() {
        let system = report.summary.systems.iter().position(|s| s.system == item.system).unwrap();
        let cells = &data["cells"][system];
        for (at, metric) in metrics.iter().enumerate() {
            let carried = cells["m"][at][item.index].as_f64();
            let distance = carried.zip(item.metrics[*metric]).map(|(a, b)| (a - b).abs());
            assert_eq!(carried.is_some(), item.metrics[*metric].is_some());
            assert!(distance.is_none_or(|d| d < 1e-6), "{metric}");
        }
        let status = usize::try_from(cells["s"][item.index].as_i64().unwrap()).unwrap();
        assert_eq!(data["statuses"][status], item.status.as_str());
    }
}

/// The invented run, with a metric that applies to a part of the items and hardness labels on a part of them.
fn report_on_a_part() -> Report {
    let mut report = crate::common::report(2, 40);
    let summary = &mut report.summary;
    for (system, count) in summary.systems.iter_mut().zip([31, 29]) {
        system.scores.get_mut("table-f1@1").unwrap().count = count;
        system.breakdown.get_mut("hardness").unwrap().remove("medium");
    }
    let of_metric = |c: &&mut sqlgauge_run::Comparison| c.metric == "table-f1@1";
    let comparison = summary.comparisons.iter_mut().find(of_metric).unwrap();
    (comparison.count, comparison.first_mean, comparison.second_mean) = (27, Some(0.75), Some(0.5));
    report
}

#[test]
fn the_number_of_items_stands_beside_every_mean() {
    let report = report_on_a_part();
    for format in ["table", "markdown", "junit"] {
        let text = by_name(format, &report);
        for system in &report.summary.systems {
            for (metric, score) in &system.scores {
                let wanted = format!("] n={}", score.count);
                assert!(text.contains(&wanted), "{format}: {} {metric} {wanted}\n{text}", system.system);
            }
        }
    }
    let by_hardness = &report.summary.systems[0].breakdown["hardness"];
    for format in ["table", "markdown"] {
        let text = by_name(format, &report);
        for scores in by_hardness.values() {
            let score = &scores["ex-spider@1"];
            let wanted = format!("{:.1} ({})", score.mean.unwrap() * 100.0, score.count);
            assert!(text.contains(&wanted), "{format}: {wanted}\n{text}");
        }
        assert!(text.contains("The hardness is known for 25 of 40 answers."), "{format}: {text}");
        assert!(text.contains(" 27 "), "{format} says over how many items a difference is");
    }
    let whole = by_name("table", &crate::common::report(2, 40));
    assert!(!whole.contains("hardness is known"), "{whole}");
}

#[test]
fn a_comparison_says_when_it_is_over_other_items_than_the_means() {
    let report = report_on_a_part();
    let versus = |width| {
        let (only_first, only_second) = (["3".to_owned()], ["4".to_owned(), "5".to_owned()]);
        let summary = &report.summary;
        let notes = &["both runs scored 30 of 40 questions".to_owned()];
        let versus = Versus {
            summary,
            metric: "ex@1",
            only_first: &only_first,
            only_second: &only_second,
            notes,
            limit: 1,
        };
        versus.render(TextTables { width, colour: false }).unwrap()
    };
    for width in [60, 80, 120, 200] {
        let text = versus(width);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(width), "{widest} > {width}\n{text}");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for wanted in [
            "first Lighthouse-70B second Tern-8B Both runs scored 30 of 40 questions.",
            "table-f1@1: the difference is over the 27 items that both were scored on, the means over 31 and 29.",
            "On the 27 in common the means are 75.0 and 50.0.",
            "ex@1: 1 item on which only the first is right or scores better: 3",
            "ex@1: 2 items on which only the second is right or scores better: 4 and 1 more (--items)",
            "(31)",
            "(29)",
        ] {
            assert!(flat.contains(wanted), "{wanted}\n{text}");
        }
        assert!(!flat.contains(" ex@1: the difference is over"), "{text}");
    }
    // Less is better.
    let steps = report.summary.comparisons.iter().find(|one| one.metric == "vm-steps@1").unwrap();
    assert_ne!(steps.only_first, steps.only_second);
    let text = versus(200);
    let row = text.lines().find(|line| line.trim_start().starts_with("vm-steps@1")).unwrap();
    let better: Vec<&str> = row.split_whitespace().rev().take(2).collect();
    assert_eq!(better, [steps.only_first.to_string(), steps.only_second.to_string()], "{text}");
}

/// Every line of a report fits, titles and notes included.
#[test]
fn the_terminal_report_fits_its_width() {
    let report = report_on_a_part();
    for width in [60, 80, 120, 200] {
        let text = rendered(&TextTables { width, colour: false }, &report);
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
        }
    }
}

/// The page's texts that a terminal of that width would show: no rate has four decimals.
#[test]
fn rates_are_percent_with_one_decimal() {
    let gate = |minimum| Gate { metric: "esm@1".to_owned(), minimum };
    let report = crate::common::report(2, 37).with_gates(vec![gate(0.3), gate(0.999)]);
    for format in ["table", "markdown"] {
        let text = by_name(format, &report);
        assert!(text.contains("30.0 %") && text.contains("99.9 %"), "{text}");
        let long = |word: &str| {
            let digits = word.trim_matches(|c: char| !c.is_ascii_digit()).split_once('.');
            digits.is_some_and(|(_, after)| after.len() >= 4 && after.chars().all(|c| c.is_ascii_digit()))
        };
        assert!(!text.split_whitespace().any(long), "{text}");
    }
}

/// What a file of items says, and to whom.
fn piece(folder: &std::path::Path, name: &str) -> serde_json::Value {
    let script = std::fs::read_to_string(folder.join(format!("{name}.js"))).unwrap();
    let start = format!("sqlgaugePiece('{name}','");
    let quoted = script.strip_prefix(&start).unwrap().strip_suffix("');\n").unwrap();
    let (mut text, mut characters) = (String::new(), quoted.chars());
    while let Some(next) = characters.next() {
        assert!(next != '\'' && next != '\n', "the text ends before its end");
        text.push(if next == '\\' { characters.next().unwrap() } else { next });
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn html_of_a_large_run_has_its_items_in_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (page, pieces) = (folder.path().join("report.html"), folder.path().join("report-items"));
    let html = find("html").unwrap();
    let mut report = hostile_report();
    html.write_file(&report, &page).unwrap();
    assert!(!pieces.exists(), "a small run is one file");
    assert_eq!(std::fs::read_to_string(&page).unwrap(), by_name("html", &report));

    let mut items = report.items.to_vec().unwrap();
    for item in &mut items {
        let prediction = item.details.prediction.clone().unwrap();
        item.details.prediction = Some(format!("{} {prediction} {}", item.system, "long ".repeat(1 << 20)));
    }
    report.items = items.clone().into();
    html.write_file(&report, &page).unwrap();
    let whole = std::fs::read_to_string(&page).unwrap();
    assert!(whole.len() < 1 << 20 && whole.contains("script-src 'unsafe-inline' 'self' file:;"));
    let data = page_data(&whole);
    assert_eq!(data["pieces"], json!({"folder": "report-items", "size": 1000}));
    assert_eq!(data["omitted"], 0);
    let (labels, texts) = (piece(&pieces, "examples"), piece(&pieces, "examples-0"));
    let of_system =
        |at: usize| (piece(&pieces, &format!("columns-{at}")), piece(&pieces, &format!("items-{at}-0")));
    let parts: Vec<_> = (0..report.summary.systems.len()).map(of_system).collect();
    for item in &items {
        let system = report.summary.systems.iter().position(|s| s.system == item.system).unwrap();
        let (columns, cells) = &parts[system];
        let at = item.index;
        assert_eq!((&labels[at]["id"], &labels[at]["db"]), (&json!(item.id), &json!(item.db_id)));
        assert_eq!((&texts[at]["q"], &texts[at]["g"]), (&json!(HOSTILE[at]), &json!([HOSTILE[at]])));
        let status = usize::try_from(columns["s"][at].as_i64().unwrap()).unwrap();
        assert_eq!(data["statuses"][status], json!(item.status));
        assert_eq!(columns["m"][0][at], json!(item.metrics["ex-spider@1"]));
        assert_eq!(cells[at]["prediction"], json!(item.details.prediction));
        assert_eq!(cells[at]["metrics"], json!(item.details.metrics));
        assert_eq!(cells[at]["metrics"]["ex-spider@1"]["reason"], json!(HOSTILE[at]));
        assert_eq!((&cells[at]["question"], &cells[at]["gold"]), (&json!(null), &json!(null)));
    }

    // A report that is small again leaves none of them.
    report.items = items[..2].to_vec().into();
    html.write_file(&report, &page).unwrap();
    assert!(!pieces.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
}

#[test]
fn every_format_for_readers_lists_why_answers_are_wrong() {
    let mut report = crate::common::report(2, 20);
    let fix = |cause: &str, points, items| sqlgauge_run::Fix {
        cause: cause.to_owned(),
        points,
        items,
        alone: items,
    };
    report.summary.systems[1].fixes = Some(sqlgauge_run::Fixes {
        metric: "ex@1".to_owned(),
        causes: vec![fix("missing-condition", 15.0, 3), fix("unclear", 5.0, 1)],
        without: 0,
    });
    for name in ["table", "markdown", "html"] {
        let text = by_name(name, &report);
        assert!(
            text.contains("Why answers are wrong") && text.contains("a missing condition"),
            "{name}: {text}"
        );
    }
    assert!(by_name("json", &report).contains("\"cause\": \"missing-condition\""));
    report.summary.systems[1].fixes = None;
    assert!(!by_name("table", &report).contains("Why answers are wrong"));
}
