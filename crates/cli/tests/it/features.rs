//! What a build leaves out: the help names it apart, and asking for it ends with the feature and the command that
//! builds it in. Parts that are built in are not asked for here.

use crate::common::{Benchmark, sqlgauge, stderr};

const BUILT_IN: [(&str, bool); 6] = [
    ("parquet", cfg!(feature = "parquet")),
    ("evaluator", cfg!(feature = "evaluator")),
    ("services", cfg!(feature = "services")),
    ("neural", cfg!(feature = "neural")),
    ("view", cfg!(feature = "view")),
    ("pages", cfg!(feature = "pages")),
];

fn arguments(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_is_left_out_names_its_feature() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let out = benchmark.path("out").display().to_string();
    let (dev, db) = (benchmark.path("dev.json"), benchmark.path("database").display().to_string());
    std::fs::write(&dev, r#"[{"question": "What?", "query": "SELECT name FROM item", "db_id": "shop"}]"#)
        .unwrap();
    let rows = benchmark.path("rows.parquet");
    std::fs::write(&rows, b"PAR1 and no more than that PAR1").unwrap();
    let (dev, rows) = (dev.display(), rows.display());
    let estimate = format!("estimate --questions {dev} --pred A={dev} --db {db}");
    for (feature, words) in [
        ("parquet", format!("encode --questions {dev} --db {db} --out {out}")),
        ("parquet", format!("encode --questions {dev} --db {db} --encoder file:{rows} --out {out}")),
        ("parquet", format!("shift --source {rows} --target {rows}")),
        ("parquet", format!("score --gold {rows} --db {db} --pred A={rows} --out {out}")),
        ("parquet", format!("evolve --training --gold {dev} --db {db} --kinds all --out {out}/sft.parquet")),
        ("evaluator", format!("fit --source {rows} --corpus {rows} --out {out}")),
        ("evaluator", format!("adapt --evaluator {out} --corpus {rows} --out {out}")),
        ("evaluator", format!("estimate --evaluator {out} --questions {rows}")),
        ("evaluator", format!("{estimate} --method fusion")),
        ("evaluator", format!("{estimate} --method fusion-ml")),
        ("evaluator", format!("{estimate} --method fusion-tl")),
        ("services", format!("{estimate} --method judge-bug --judge-url http://localhost:1 --judge-model m")),
        ("services", format!("{estimate} --judge-url http://localhost:1 --judge-model m")),
        ("services", format!("{estimate} --method judge-arena")),
        ("services", format!("encode --questions {dev} --db {db} --encoder http://localhost:1 --out {out}")),
        (
            "services",
            format!(
                "predict --questions {dev} --db {db} --llm-url http://localhost:1 --llm-model m --out {out}"
            ),
        ),
        (
            "services",
            format!(
                "synth --db {db} --count 5 --polish 1 --llm-url http://localhost:1 --llm-model m --out {out}"
            ),
        ),
        ("services", format!("run --questions {dev} --db {db} --ask-url http://localhost:1 --out {out}")),
        ("view", format!("view --export {out}")),
        ("pages", "completions bash".to_owned()),
        ("pages", format!("man --out {out}")),
        ("neural", format!("encode --questions {dev} --db {db} --encoder bert:{db} --out {out}")),
        ("neural", format!("encode --questions {dev} --db {db} --encoder llm:{db} --out {out}")),
    ] {
        if BUILT_IN.contains(&(feature, true)) {
            continue;
        }
        let output = sqlgauge(&arguments(&words));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        for part in [&format!("the feature `{feature}`"), "cargo install --path crates/cli --features"] {
            assert!(message.contains(part), "{words}: {message}");
        }
        assert_eq!(message.trim_end().lines().count(), 1, "{words}: {message}");
        assert!(!benchmark.path("out").exists(), "{words} left something behind");
    }
}

#[test]
fn the_help_is_the_same_in_every_build() {
    for (words, part) in [
        ("--help", "fit"),
        ("--help", "adapt"),
        ("fit --help", "--regressor"),
        ("adapt --help", "--alpha"),
        ("estimate --help", "--judge-url"),
        ("encode --help", "bert:DIR"),
        ("predict --help", "--llm-url"),
        ("evolve --help", "--training"),
    ] {
        let output = sqlgauge(&arguments(words));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(part), "{words}: {text}");
    }
}

/// A reader of the list finds what runs.
#[test]
fn a_command_is_listed_where_it_is_built_in() {
    let help = String::from_utf8(sqlgauge(&arguments("--help")).stdout).unwrap();
    for (command, feature) in [("view", "view"), ("predict", "services"), ("fit", "evaluator")] {
        let is_listed = help.lines().any(|line| line.starts_with(&format!("  {command} ")));
        assert_eq!(is_listed, BUILT_IN.contains(&(feature, true)), "{command}: {help}");
    }
}
