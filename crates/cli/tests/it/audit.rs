//! `audit`: what it finds, allows and refuses, and its exit codes.

use crate::common::{Benchmark, sqlgauge, stderr, stdout};
use std::process::Output;

const GOLDS: [&str; 4] = [
    "SELECT name FROM item WHERE name = 'Pen'",
    "SELECT name FROM item ORDER BY price LIMIT 1",
    "SELECT count(*) FROM item",
    "SELECT nam FROM item",
];

fn audit(world: &Benchmark, further: &[&str]) -> Output {
    let [gold, db] = ["gold.sql", "database"].map(|name| world.path(name).display().to_string());
    let fixed = ["audit", "--gold", &gold, "--db", &db, "--quiet", "--now", "2026-01-01"];
    sqlgauge(&[fixed.as_slice(), further].concat())
}

/// Rules by id, as the JSON lines say.
fn rules_of(output: &Output, list: &str) -> Vec<(String, String)> {
    let lines = stdout(output);
    let items = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let of_item = |item: serde_json::Value| {
        let id = item["id"].as_str().unwrap().to_owned();
        let findings = item[list].as_array().cloned().unwrap_or_default();
        let rule = |finding: &serde_json::Value| {
            finding.get("rule").or(finding["finding"].get("rule")).cloned().unwrap()
        };
        findings
            .iter()
            .map(|finding| (id.clone(), rule(finding).as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    items.flat_map(of_item).collect()
}

#[test]
fn findings_have_rows_and_a_verified_proposal() {
    let world = Benchmark::new(&GOLDS, &[]);
    let output = audit(&world, &["--output-format", "jsonl"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let expected =
        [("0", "near-literal"), ("0", "empty-result"), ("1", "null-sorted-first"), ("3", "does-not-run")];
    assert_eq!(rules_of(&output, "findings"), expected.map(|(id, rule)| (id.to_owned(), rule.to_owned())));
    let lines = stdout(&output);
    let second: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    let finding = &second["findings"][0];
    assert_eq!(finding["evidence"]["rows"][0][0], "lamp");
    assert_eq!(finding["rewrite"]["verdict"], "different");
    assert!(finding["rewrite"]["sql"].as_str().unwrap().contains("IS NOT NULL"));
}

#[test]
fn the_exit_code_says_whether_a_named_rule_found_something() {
    let world = Benchmark::new(&GOLDS, &[]);
    for (rules, code) in
        [("any", 1), ("reversed-between,near-literal", 1), ("reversed-between", 0), ("nothing", 2)]
    {
        let output = audit(&world, &["--fail-on", rules]);
        assert_eq!(output.status.code(), Some(code), "{rules}: {}", stderr(&output));
    }
    let output = audit(&world, &["--rules", "default,-near-literal", "--fail-on", "near-literal"]);
    assert_eq!(output.status.code(), Some(0));
    let output = audit(&world, &["--rules", "near-litteral"]);
    assert!(stderr(&output).contains("near-literal"), "{}", stderr(&output));
}

#[test]
fn a_finding_is_allowed_with_a_reason_only() {
    let golds = [
        GOLDS[0],
        "SELECT name FROM item ORDER BY price LIMIT 1 -- sqlgauge: allow null-sorted-first NULL is free",
    ];
    let world = Benchmark::new(&golds, &[]);
    let file = world.path("allow.jsonl");
    let allow = |text: &str| {
        std::fs::write(&file, text).unwrap();
        audit(
            &world,
            &[
                "--rules",
                "near-literal,null-sorted-first",
                "--fail-on",
                "any",
                "--output-format",
                "jsonl",
                "--allow",
                file.to_str().unwrap(),
            ],
        )
    };
    let output = allow(r#"{"id": 0, "rule": "near-literal", "reason": "the full database has it"}"#);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = [("0", "near-literal"), ("1", "null-sorted-first")];
    assert_eq!(rules_of(&output, "allowed"), expected.map(|(id, rule)| (id.to_owned(), rule.to_owned())));
    let output = allow(r#"{"id": 0, "rule": "near-literal"}"#);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("without a reason"), "{}", stderr(&output));
}

#[test]
fn every_format_is_written_to_a_file_as_it_is_printed() {
    let world = Benchmark::new(&GOLDS, &[]);
    for format in ["text", "html", "markdown", "jsonl", "sarif"] {
        let path = world.path(format);
        let printed = audit(&world, &["--output-format", format]);
        let written = audit(&world, &["--output-format", format, "--out", path.to_str().unwrap()]);
        assert!(printed.status.success() && written.status.success(), "{}", stderr(&written));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), stdout(&printed), "{format}");
        assert!(stdout(&printed).contains("null-sorted-first"), "{format}");
    }
}

#[test]
fn systems_that_agree_against_the_gold_are_reported() {
    let world = Benchmark::new(&["SELECT count(price) FROM item"], &["SELECT count(*) FROM item"]);
    let path = world.path("pred.sql").display().to_string();
    let [a, b] = ["A", "B"].map(|name| format!("{name}={path}"));
    let output = audit(
        &world,
        &["--pred", &a, "--pred", &b, "--output-format", "jsonl", "--rules", "systems-disagree"],
    );
    assert_eq!(rules_of(&output, "findings"), [("0".to_owned(), "systems-disagree".to_owned())]);
}

/// `--format` is what it is in the other commands; what it meant here before is still understood, and said.
#[test]
fn the_format_of_the_golds_and_that_of_the_output_are_two_options() {
    let world = Benchmark::new(&GOLDS, &[]);
    let expected = stdout(&audit(&world, &["--output-format", "sarif"]));
    let old = audit(&world, &["--format", "sarif"]);
    assert_eq!(stdout(&old), expected);
    assert!(stderr(&old).contains("old name of --output-format sarif"), "{}", stderr(&old));
    let lines = audit(&world, &["--format", "lines", "--output-format", "sarif"]);
    assert_eq!((stdout(&lines), stderr(&lines)), (expected, String::new()));
    let wrong = audit(&world, &["--format", "json"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", stdout(&wrong));
    assert!(stderr(&audit(&world, &["--format", "jsonl"])).contains("--output-format jsonl"));
}

#[test]
fn an_option_of_other_commands_has_a_remedy() {
    let output = audit(&Benchmark::new(&[], &[]), &["--tables", "tables.json"]);
    let message = stderr(&output);
    assert!(output.status.code() == Some(2) && message.contains("leave out --tables"), "{message}");
}
