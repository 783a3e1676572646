//! The law of values: what a metric says of an item is a function of the item and the options of the run. Which metrics, systems,
//! threads and shards a run has beside decides nothing.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlgauge_base::Random;

use crate::common::{Benchmark, items, sqlgauge, stderr, strings};

const ITEMS: usize = 20;
const RUNS: usize = 5;
const SYSTEMS: [&str; 3] = ["A", "B", "C"];
/// All but those that measure time.
const METRICS: [&str; 17] = [
    "ex",
    "ex-spider",
    "ex-spider-distinct",
    "ex-bird",
    "ex-tolerance",
    "ex-subset",
    "ex-subset-tolerance",
    "suite",
    "verify",
    "verify-set",
    "verify-bag",
    "verify-list",
    "esm",
    "etm",
    "table-f1",
    "soft-f1",
    "vm-steps",
];

/// By system, item and metric.
type Values = BTreeMap<(String, String, String), Option<f64>>;

fn chosen<'a>(random: &mut Random, from: &[&'a str], least: usize) -> Vec<&'a str> {
    let mut all = from.to_vec();
    random.shuffle(&mut all);
    let count = least + random.below(from.len() - least + 1);
    all.truncate(count);
    all
}

/// A query over the table `item`. Some repeat rows, tie, return others in one order alone, or have far more rows than the limit.
fn query(random: &mut Random) -> String {
    let pick = |random: &mut Random, from: &[&'static str]| from[random.below(from.len())];
    let outputs = pick(random, &["name", "id", "price", "name, price", "COUNT(*)", "DISTINCT name"]);
    let rows = pick(random, &["item", "item", "item", "item, (SELECT 1 UNION ALL SELECT 2)", "item, MANY"]);
    let condition = pick(
        random,
        &["", "", " WHERE price > 2", " WHERE price >= 12", " WHERE id < 3", " WHERE name <> 'pen'"],
    );
    let order = pick(random, &["", "", " ORDER BY price", " ORDER BY name DESC", " ORDER BY price LIMIT 1"]);
    let many =
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT i FROM n)";
    format!("SELECT {outputs} FROM {rows}{condition}{order}").replace("MANY", many)
}

/// Golds, and answers of three systems of which each shares some with the golds and with others.
fn world(random: &mut Random) -> Benchmark {
    let golds: Vec<String> = (0..ITEMS).map(|_| query(random)).collect();
    let benchmark = Benchmark::new(&golds.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    for system in SYSTEMS {
        let answer = |gold: &String| match random.below(5) {
            0 => gold.clone(),
            1 => gold.replace('>', ">=").replace("DISTINCT ", ""),
            2 => format!("{} ", gold.replace("item", "item, (SELECT 1 UNION ALL SELECT 2)")),
            _ => query(random),
        };
        let answers: Vec<String> = golds.iter().map(answer).collect();
        std::fs::write(benchmark.path(&format!("{system}.sql")), answers.join("\n") + "\n").unwrap();
    }
    benchmark
}

fn run(arguments: &[String]) {
    let output = sqlgauge(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// The values of a run with those metrics and systems, in that order, in so many shards.
fn values(world: &Benchmark, metrics: &[&str], systems: &[&str], [jobs, shards]: [usize; 2]) -> Values {
    let text = |name: &str| world.path(name).display().to_string();
    let mut arguments = vec!["score".to_owned(), "--gold".to_owned(), text("gold.sql"), "--db".to_owned()];
    arguments.extend([text("database"), "--metrics".to_owned(), metrics.join(",")]);
    arguments.extend(
        systems
            .iter()
            .flat_map(|name| ["--pred".to_owned(), format!("{name}={}", text(&format!("{name}.sql")))]),
    );
    let fixed = ["--now", "2026-01-02", "--max-rows", "200", "--restart", "--quiet"];
    arguments.extend(fixed.map(str::to_owned));
    if metrics.iter().any(|metric| metric.starts_with("verify")) {
        arguments.extend(["--bound", "1"].map(str::to_owned));
    }
    arguments.extend(["--jobs".to_owned(), jobs.to_string()]);
    let parts: Vec<String> = (1..=shards).map(|shard| text(&format!("part{shard}"))).collect();
    for (part, shard) in parts.iter().zip(1..) {
        let of_shard = ["--shard".to_owned(), format!("{shard}/{shards}"), "--out".to_owned(), part.clone()];
        run(&[&arguments[..], &of_shard].concat());
    }
    let of_item = |item: Value| {
        let text = |name: &str| item[name].as_str().unwrap().to_owned();
        let (system, id) = (text("system"), text("id"));
        let scores: BTreeMap<String, Option<f64>> = serde_json::from_value(item["metrics"].clone()).unwrap();
        scores
            .into_iter()
            .map(move |(metric, value)| ((system.clone(), id.clone(), metric), value))
            .collect::<Vec<_>>()
    };
    parts.iter().flat_map(|part| items(part.as_ref())).flat_map(of_item).collect()
}

#[test]
fn a_value_is_a_function_of_item_and_options() {
    let mut random = Random::new([53]);
    let world = world(&mut random);
    let all = values(&world, &METRICS, &SYSTEMS, [2, 1]);
    assert_eq!(all.len(), METRICS.len() * SYSTEMS.len() * ITEMS);
    for metric in ["ex@1", "verify@3", "verify-set@3", "verify-bag@3"] {
        let of_metric: Vec<f64> =
            all.iter().filter(|(key, _)| key.2 == metric).filter_map(|(_, value)| *value).collect();
        let right = of_metric.iter().filter(|value| **value > 0.0).count();
        assert!(right > 5 && of_metric.len() - right > 5, "{metric}: {right} of {}", of_metric.len());
    }
    // With each execution metric first, and alone.
    let fixed =
        [&["ex-bird", "ex", "verify", "verify-set"][..], &["ex", "verify-set", "verify"], &["verify"]];
    for number in 0..RUNS {
        let metrics =
            fixed.get(number).map_or_else(|| chosen(&mut random, &METRICS, 1), |metrics| metrics.to_vec());
        let systems = chosen(&mut random, &SYSTEMS, 1);
        let places = [1 + random.below(3), 1 + number % 3];
        let some = values(&world, &metrics, &systems, places);
        assert_eq!(some.len(), metrics.len() * systems.len() * ITEMS);
        for (key, value) in some {
            assert_eq!(value, all[&key], "{key:?} beside {metrics:?} of {systems:?}");
        }
    }
}

/// Runs whose options reach a value are not compared by it.
#[test]
fn runs_of_unlike_options_are_not_compared() {
    let golds = ["SELECT id FROM item", "SELECT name FROM item WHERE date('now') > '2000'"];
    let benchmark = Benchmark::new(&golds, &golds);
    let text = |name: &str| benchmark.path(name).display().to_string();
    let score = |out: &str, more: &[&str]| {
        let options = ["--metrics", "ex,esm,verify", "--now", "2026-01-02", "--out", &text(out)];
        let mut arguments = benchmark.score();
        arguments.truncate(arguments.len() - 3);
        let output = sqlgauge(&[arguments, strings(&options), strings(&["--quiet"]), strings(more)].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    score("first", &["--bound", "1"]);
    let compare = |other: &str, more: &[&str]| {
        sqlgauge(&[strings(&["compare", &text("first"), &text(other), "--json"]), strings(more)].concat())
    };
    for (out, options, sentence) in [
        ("bound", &["--bound", "2"][..], "by verify@3: verify_bound is 1 and 2;"),
        ("values", &["--bound", "1", "--values", "any"], "by verify@3: verify_values is rows and any;"),
        ("limit", &["--bound", "1", "--max-rows", "9"], "by ex@1, verify@3: max_rows is 5000000 and 9;"),
    ] {
        score(out, options);
        let output = compare(out, &[]);
        assert_eq!(output.status.code(), Some(2), "{sentence}");
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
        // A metric that the option does not reach is compared, and the others are not.
        let output = compare(out, &["--metric", "esm", "--max-regression", "1"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("not compared by"), "{}", stderr(&output));
        assert!(
            serde_json::from_slice::<Value>(&output.stdout).unwrap()["comparisons"]
                .as_array()
                .unwrap()
                .iter()
                .all(|one| one["metric"] != "verify@3")
        );
        assert_eq!(compare(out, &["--metric", "verify"]).status.code(), Some(2));
    }
    let recorded: Value =
        serde_json::from_slice(&std::fs::read(benchmark.path("bound/run.json")).unwrap()).unwrap();
    let unlisted: Vec<&String> = recorded["options"]
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| sqlgauge_run::OPTIONS.iter().all(|(listed, _)| listed != name))
        .collect();
    assert_eq!(unlisted, [""; 0], "add them to OPTIONS");
}

/// A run that took another time for now is compared only where no query asks for it.
#[test]
fn runs_of_another_time_are_compared_without_clocks() {
    let run = |golds: &[&str], now: &str| {
        let benchmark = Benchmark::new(golds, golds);
        let output = sqlgauge(&[benchmark.score(), strings(&["--metrics", "ex", "--now", now])].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        benchmark
    };
    let compare = |golds: &[&str]| {
        let runs = [run(golds, "2026-01-02"), run(golds, "2026-01-03")];
        let folders = runs.each_ref().map(|run| run.path("run").display().to_string());
        sqlgauge(&["compare", &folders[0], &folders[1]])
    };
    assert_eq!(compare(&["SELECT id FROM item"]).status.code(), Some(0));
    let output = compare(&["SELECT id FROM item", "SELECT date('now')"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("by ex@1: now is 2026-01-02"), "{}", stderr(&output));
}
