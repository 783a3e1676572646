//! An invented run that looks like a real one: systems of different strength on invented databases.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sqlgauge_report::Report;
use sqlgauge_run::{Comparison, Counts, InputRecord, Item, Manifest, ScoreSummary, Summary, SystemSummary};

pub(crate) const METRICS: [&str; 6] =
    ["ex-spider@1", "ex@1", "esm@1", "soft-f1@1", "table-f1@1", "vm-steps@1"];
const SYSTEMS: [&str; 8] = [
    "Lighthouse-70B",
    "Tern-8B",
    "Plover",
    "Dunlin-SFT",
    "Heron (3-shot)",
    "Curlew",
    "Avocet-RL",
    "Baseline",
];

/// Question, gold, a wrong prediction with the reason, hardness, features.
type Template =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const TEMPLATES: [Template; 8] = [
    (
        "How many {n} are there?",
        "SELECT count(*) FROM {t}",
        "SELECT count(DISTINCT name) FROM {t}",
        "the prediction returns 11, the gold 12",
        "easy",
        &["aggregate"],
    ),
    (
        "List the names of all {n} with more than {k} places, largest first.",
        "SELECT name FROM {t} WHERE places > {k} ORDER BY places DESC",
        "SELECT name, places FROM {t} WHERE places >= {k} ORDER BY places DESC",
        "the prediction has 2 columns, the gold 1",
        "medium",
        &["order by", "where"],
    ),
    (
        "What is the average age of the owners of {n} built after {y}?",
        "SELECT avg(T1.age) FROM owner AS T1 JOIN {t} AS T2 ON T1.owner_id = T2.owner_id WHERE T2.built > {y}",
        "SELECT avg(age) FROM owner WHERE owner_id IN (SELECT owner_id FROM {t} WHERE built > {y})",
        "one row differs: 47.25 against 46.9 in column 1",
        "medium",
        &["aggregate", "join", "where"],
    ),
    (
        "Which towns have at least {k} {n}? Give the town and how many it has.",
        "SELECT town, count(*) FROM {t} GROUP BY town HAVING count(*) >= {k}",
        "SELECT town, count(*) FROM {t} GROUP BY town HAVING count(*) > {k}",
        "the prediction lacks 2 of 7 rows",
        "medium",
        &["aggregate", "group by", "having"],
    ),
    (
        "Find the owners who have never had any of the {n}.",
        "SELECT name FROM owner WHERE owner_id NOT IN (SELECT owner_id FROM {t})",
        "SELECT T1.name FROM owner AS T1 LEFT JOIN {t} AS T2 ON T1.owner_id = T2.owner_id WHERE T2.name IS NULL",
        "rows are equal as sets, their multiplicities differ",
        "extra",
        &["nested", "where"],
    ),
    (
        "Show the towns that have {n} both before {y} and after it.",
        "SELECT town FROM {t} WHERE built < {y} INTERSECT SELECT town FROM {t} WHERE built > {y}",
        "SELECT DISTINCT town FROM {t} WHERE built < {y} AND built > {y}",
        "the prediction returns no row, the gold 3",
        "hard",
        &["set operation", "where"],
    ),
    (
        "What is the name of the oldest of the {n} in each town?",
        "SELECT town, name, min(built) FROM {t} GROUP BY town",
        "SELECT T1.town, T1.name, T1.built FROM {t} AS T1 WHERE T1.built = (SELECT min(built) FROM {t})",
        "the prediction returns 1 row, the gold 7",
        "hard",
        &["aggregate", "group by", "nested"],
    ),
    (
        "Which share of the {n} is still in service?",
        "SELECT CAST(sum(CASE WHEN status = 'in service' THEN 1 ELSE 0 END) AS REAL) / count(*) FROM {t}",
        "SELECT sum(status = 'In Service') * 100.0 / count(*) FROM {t}",
        "one row differs: 0.0 against 0.875 in column 1",
        "extra",
        &["aggregate", "case"],
    ),
];

const PLACES: [(&str, &str, &str); 6] = [
    ("harbour", "boats", "boat"),
    ("railway_museum", "engines", "engine"),
    ("library_network", "branches", "branch"),
    ("alpine_huts", "huts", "hut"),
    ("city_bikes", "stations", "station"),
    ("orchards", "orchards", "orchard"),
];

/// A small generator of numbers in [0, 1), the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An invented report of that size.
pub(crate) fn report(systems: usize, examples: usize) -> Report {
    let names: Vec<String> = (0..systems)
        .map(|i| {
            let round = i / SYSTEMS.len();
            if round == 0 {
                SYSTEMS[i].to_owned()
            } else {
                format!("{} #{}", SYSTEMS[i % SYSTEMS.len()], round + 1)
            }
        })
        .collect();
    let mut random = Random(7);
    let mut items = Vec::new();
    for (rank, name) in names.iter().enumerate() {
        let strength = 0.9 - 0.45 * rank as f64 / systems.max(2) as f64;
        items.extend((0..examples).map(|index| item(name, index, strength, &mut random)));
    }
    let summary = summarise(&names, &items);
    let manifest = Manifest {
        tool_version: "0.1.0".to_owned(),
        engine: "SQLite 3.54.0".to_owned(),
        command: ["sqlgauge", "score", "--gold", "gold.sql", "--db", "database/", "--out", "runs/harbours"]
            .map(str::to_owned)
            .to_vec(),
        metrics: METRICS.map(str::to_owned).to_vec(),
        systems: names.clone(),
        inputs: names
            .iter()
            .map(|name| (format!("predictions:{name}"), format!("preds/{name}.sql")))
            .chain([("gold".to_owned(), "gold.sql".to_owned())])
            .map(|(role, path)| InputRecord { role, path, sha256: "5f".repeat(32) })
            .collect(),
        options: BTreeMap::from([
            ("timeout_ms".to_owned(), json!(30_000)),
            ("extract_sql".to_owned(), json!(false)),
        ]),
        examples,
    };
    Report::new(manifest, summary, items)
}

fn fill(template: &str, index: usize) -> String {
    let (_, plural, table) = PLACES[index / 8 % PLACES.len()];
    template
        .replace("{n}", plural)
        .replace("{t}", table)
        .replace("{k}", &(3 + index % 17).to_string())
        .replace("{y}", &(1900 + index % 90).to_string())
}

fn item(system: &str, index: usize, strength: f64, random: &mut Random) -> Item {
    let (question, gold, wrong, reason, hardness, features) = TEMPLATES[index % TEMPLATES.len()];
    let penalty = match hardness {
        "easy" => -0.08,
        "medium" => 0.0,
        "hard" => 0.12,
        _ => 0.25,
    };
    let right = random.next() < strength - penalty;
    let status = match random.next() {
        _ if right => "ok",
        r if r < 0.08 => "no_such_column",
        r if r < 0.11 => "syntax_error",
        r if r < 0.13 => "timeout",
        r if r < 0.15 => "missing",
        _ => "ok",
    };
    let gold = fill(gold, index);
    let prediction = match (right, status) {
        (_, "missing") => None,
        (true, _) => Some(gold.clone()),
        (_, "no_such_column") => {
            Some(gold.replace("name", "title").replace("town", "city").replace("count(*)", "n"))
        }
        (_, "syntax_error") => Some(format!("Here is the query: {gold}")),
        _ => Some(fill(wrong, index)),
    };
    let ran = status == "ok";
    let credit = if right {
        1.0
    } else if ran {
        (random.next() * 100.0).round() / 100.0
    } else {
        0.0
    };
    let score = |value: bool| Some(f64::from(u8::from(value)));
    let metrics = BTreeMap::from([
        ("ex-spider@1".to_owned(), score(right)),
        ("ex@1".to_owned(), score(right && random.next() > 0.02)),
        ("esm@1".to_owned(), score(right && random.next() > 0.1)),
        ("soft-f1@1".to_owned(), Some(credit)),
        ("table-f1@1".to_owned(), (status != "syntax_error").then_some(credit.sqrt())),
        ("vm-steps@1".to_owned(), ran.then(|| 0.8 + random.next())),
    ]);
    let mut details = Map::from_iter([
        ("question".to_owned(), json!(fill(question, index))),
        ("gold".to_owned(), json!(gold)),
        ("hardness".to_owned(), json!(hardness)),
        ("features".to_owned(), json!(features)),
    ]);
    explain(&mut details, prediction.as_deref(), status, (!right && ran).then_some(reason));
    let details = serde_json::from_value(details.into()).expect("details of the right types");
    let id = index.to_string();
    let db_id = PLACES[index / 8 % PLACES.len()].0.to_owned();
    Item { system: system.to_owned(), id, index, db_id, status: status.to_owned(), metrics, details }
}

fn explain(map: &mut Map<String, Value>, prediction: Option<&str>, status: &str, reason: Option<&str>) {
    if let Some(prediction) = prediction {
        map.insert("prediction".to_owned(), json!(prediction));
    }
    let error = match status {
        "no_such_column" => Some("no such column: title"),
        "syntax_error" => Some("near \"Here\": syntax error"),
        "timeout" => Some("stopped after 30.0 s"),
        _ => None,
    };
    if let Some(error) = error {
        map.insert("error".to_owned(), json!(error));
    }
    if let Some(reason) = reason {
        let detail =
            json!({"ex-spider@1": {"reason": reason}, "soft-f1@1": {"precision": 0.5, "recall": 0.8}});
        map.insert("metrics".to_owned(), detail);
        let rows = json!([["Skua", 12], ["Petrel", null], ["Gannet", 4.5]]);
        map.insert(
            "gold_result".to_owned(),
            json!({"columns": ["name", "n"], "rows": rows, "total_rows": 3}),
        );
        let rows = json!([["Skua", 12], ["Petrel", 0]]);
        map.insert(
            "prediction_result".to_owned(),
            json!({"columns": ["name", "n"], "rows": rows, "total_rows": 88}),
        );
    }
}

fn summarise(names: &[String], items: &[Item]) -> Summary {
    let of = |name: &str| -> Vec<&Item> { items.iter().filter(|item| item.system == name).collect() };
    let systems = names.iter().map(|name| system_summary(name, &of(name))).collect();
    let mut comparisons = Vec::new();
    for (i, first) in names.iter().enumerate() {
        for second in &names[i + 1..] {
            let (a, b) = (of(first), of(second));
            comparisons.extend(METRICS.iter().map(|metric| compare(metric, first, second, &a, &b)));
        }
    }
    Summary {
        metrics: METRICS.map(str::to_owned).to_vec(),
        golds: sqlgauge_run::GoldCounts::default(),
        systems,
        comparisons,
    }
}

fn system_summary(name: &str, items: &[&Item]) -> SystemSummary {
    let mut statuses = BTreeMap::new();
    let mut groups: BTreeMap<String, BTreeMap<String, Vec<&Item>>> = BTreeMap::new();
    for item in items {
        *statuses.entry(item.status.clone()).or_insert(0) += 1;
        let mut put = |dimension: &str, group: &str| {
            groups.entry(dimension.to_owned()).or_default().entry(group.to_owned()).or_default().push(item);
        };
        put("db_id", &item.db_id);
        let (.., hardness, features) = TEMPLATES[item.index % TEMPLATES.len()];
        put("hardness", hardness);
        for feature in features {
            put("feature", feature);
        }
    }
    let missing = statuses.get("missing").copied().unwrap_or(0);
    let breakdown = groups.into_iter().map(|(dimension, groups)| {
        (dimension, groups.into_iter().map(|(group, members)| (group, scores(&members))).collect())
    });
    SystemSummary {
        system: name.to_owned(),
        counts: Counts { requested: items.len(), scored: items.len(), missing, gold_failed: 0, volatile: 0 },
        statuses,
        scores: scores(items),
        breakdown: breakdown.collect(),
        ..SystemSummary::default()
    }
}

fn scores(items: &[&Item]) -> BTreeMap<String, ScoreSummary> {
    METRICS.iter().map(|metric| ((*metric).to_owned(), score(metric, items))).collect()
}

fn score(metric: &str, items: &[&Item]) -> ScoreSummary {
    let values: Vec<f64> = items.iter().filter_map(|item| item.metrics[metric]).collect();
    let n = values.len() as f64;
    if values.is_empty() {
        return ScoreSummary::default();
    }
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let half = 1.96 * (spread / n).sqrt();
    let top = if metric.starts_with("vm-steps") { f64::INFINITY } else { 1.0 };
    let (low, high) = ((mean - half).max(0.0), (mean + half).min(top));
    ScoreSummary {
        mean: Some(mean),
        low: Some(low),
        high: Some(high),
        count: values.len(),
        ..ScoreSummary::default()
    }
}

fn compare(metric: &str, first: &str, second: &str, a: &[&Item], b: &[&Item]) -> Comparison {
    let pairs = a.iter().zip(b).filter_map(|(a, b)| Some((a.metrics[metric]?, b.metrics[metric]?)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let n = differences.len().max(1) as f64;
    let difference = differences.iter().sum::<f64>() / n;
    let half = 1.96 * (differences.iter().map(|d| (d - difference).powi(2)).sum::<f64>() / n / n).sqrt();
    let z = if half > 0.0 { difference.abs() / half * 1.96 } else { 0.0 };
    Comparison {
        metric: metric.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
        count: differences.len(),
        first_mean: Some(pairs.iter().map(|(a, _)| a).sum::<f64>() / n),
        second_mean: Some(pairs.iter().map(|(_, b)| b).sum::<f64>() / n),
        difference,
        low: difference - half,
        high: difference + half,
        // A rough two-sided p-value; an invented run needs no better.
        p_value: (-0.717 * z - 0.416 * z * z).exp().min(1.0),
        only_first: differences.iter().filter(|d| **d > 0.0).count(),
        only_second: differences.iter().filter(|d| **d < 0.0).count(),
        clusters: None,
        plain: None,
    }
}
