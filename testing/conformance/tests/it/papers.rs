//! The cheap numbers of `docs/papers.md`: ETM of Tables 4 and 5, what the three rules of the script are worth on BIRD, and the counts of
//! NL2SQL-Bugs are computed anew, and what the page takes from a page of
//! measurements is what that page says. The mined constraints have a test of their own (`mined.rs`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sqlgauge_conformance::{data, gold_lines, read};
use sqlgauge_dataset::load_tables;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_sql::schema::Schema;

/// The rows of the first table behind a line of the page: cells by the names of the columns, where these are not repeated.
fn table_behind(page: &str, line: &str) -> Vec<BTreeMap<String, String>> {
    let (_, rest) = page.split_once(line).unwrap_or_else(|| panic!("docs/papers.md has no line {line:?}"));
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows =
        rest.lines().skip_while(|row| !row.starts_with('|')).take_while(|row| row.starts_with('|'));
    let head = cells(rows.next().unwrap_or_default());
    rows.skip(1)
        .map(|row| {
            let named = head.iter().cloned().zip(cells(row));
            // Of columns of one name the first stays.
            named.rev().collect()
        })
        .collect()
}

/// The schema of each database: as it is declared, and without the foreign keys that its rows break, on which `etm@1` does not
/// rely.
type Schemas = BTreeMap<String, [Arc<Schema>; 2]>;

/// The share in percent of the answers of a file that a profile matches, as the page writes it.
fn share(golds: &[(String, String)], answers: &Path, schemas: &Schemas, profile: Profile) -> String {
    let answers = read(answers);
    let is_right = |((gold, db), answer): (&(String, String), &str)| {
        let answer = answer.split('\t').next().unwrap_or_default();
        let [declared, kept] = &schemas[db];
        let schema = if profile == Profile::Paper { declared } else { kept };
        Matcher::new(schema, profile).is_right(gold, answer)
    };
    let right = golds.iter().zip(answers.lines()).filter(|pair| is_right(*pair)).count();
    format!("{:.1}", 100.0 * right as f64 / golds.len() as f64)
}

/// Compares the columns ETM and `etm@1` of a table with what is computed; every row must be among the files.
fn compare(line: &str, files: &[(&str, &str)], golds: &[(String, String)], folder: &Path, schemas: &Schemas) {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"));
    let rows = table_behind(&page, line);
    assert_eq!(rows.len(), files.len(), "{line}: {rows:?}");
    for row in rows {
        let file = files.iter().find(|(model, _)| row["model"] == *model).map(|(_, file)| file);
        let file = folder.join(file.unwrap_or_else(|| panic!("no answers of {}", row["model"])));
        for (column, profile) in [("ETM", Profile::Paper), ("`etm@1`", Profile::Sound)] {
            let written = row[column].split(' ').next().unwrap_or_default();
            let computed = share(golds, &file, schemas, profile);
            assert_eq!(written, computed, "{line}, {}, {column}", row["model"]);
        }
    }
}

/// The schemas of the databases in a folder that golds name.
fn schemas_of(golds: &[(String, String)], folder: &Path) -> Schemas {
    let engine = SqliteEngine::new(Limits::default());
    let mut schemas = BTreeMap::new();
    for (_, db) in golds {
        if !schemas.contains_key(db) {
            let path = folder.join(format!("{db}/{db}.sqlite"));
            let database = engine.open(&path).expect("the benchmark has the database");
            let kept = Arc::clone(&database.kept_schema(&engine).schema);
            schemas.insert(db.clone(), [Arc::clone(database.schema()), kept]);
        }
    }
    schemas
}

#[test]
#[ignore = "long: cargo xtask long"]
fn etm_of_the_evaluation_set_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("test_gold.sql"));
    let tables = load_tables(&spider.join("test_tables.json")).unwrap();
    let schema = |db: &String| Arc::new(tables.get(db).unwrap().schema());
    let schemas = golds.iter().map(|(_, db)| (db.clone(), [schema(db), schema(db)])).collect();
    let files = [
        ("DAIL", "etm_DAIL.sql"),
        ("C3", "etm_C3.sql"),
        ("R+N", "etm_RESDSQL.sql"),
        ("CodeS", "etm_codeS.sql"),
    ];
    compare(
        "Evaluation set, with the schemas alone:",
        &files,
        &golds,
        &spider.join("predictions/test"),
        &schemas,
    );
}

#[test]
#[ignore = "long: cargo xtask long"]
fn etm_of_bird_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let golds = gold_lines(&bird.join("dev_gold_etm.sql"));
    let schemas = schemas_of(&golds, &bird.join("schema_only"));
    let files = [("DAIL", "DAIL.sql"), ("RESDSQL", "RESDSQL.sql"), ("CodeS-15b", "CodeS-15b.sql")];
    compare("### Table 5, BIRD", &files, &golds, &bird.join("predictions/etm"), &schemas);
}

#[test]
#[ignore = "long: cargo xtask long"]
fn etm_of_the_development_set_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("dev_gold.sql"));
    let schemas = schemas_of(&golds, &spider.join("database"));
    let files = [
        ("DAIL", "etm_DAIL.sql"),
        ("C3", "etm_C3.sql"),
        ("R+N", "etm_RESDSQL.sql"),
        ("CodeS", "etm_codeS.sql"),
    ];
    compare("Development set:", &files, &golds, &spider.join("predictions/dev"), &schemas);
}

/// What a row of the page quotes: the row, the file and the place of the table that has it, and what of it is quoted.
type Quoted = (&'static str, &'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const BY_PROTOCOL: &str = "estimation-by-protocol.md";
const SEEDS: &str = "## Five seeds";
const TRANSFERS: &str = "## From one dataset to another";
const SIZES: &str = "## Sizes, numbers, regressors, slices";
const TO_BIRD: &str = "### spider_all → bird_all";
const TO_SPIDER: &str = "### bird_all → spider_all";

/// Methods and columns; the page has the first number of the cell.
const QUOTED: &[Quoted] = &[
    (
        "Table III, Spider → BIRD",
        BY_PROTOCOL,
        &[TRANSFERS, TO_BIRD],
        &[
            ("fusion", "MAE [95 %]"),
            ("fusion-tl", "MAE [95 %]"),
            ("atc-mc", "MAE [95 %]"),
            ("atc-ne", "MAE [95 %]"),
        ],
    ),
    (
        "Table III, PseAutoEval, BugJudge, ArenaCmp",
        BY_PROTOCOL,
        &[SEEDS],
        &[("ppi, a tenth of the labels", "Spider → BIRD")],
    ),
    (
        "Table IV, unseen models",
        BY_PROTOCOL,
        &[SEEDS],
        &[("fusion-ml", "Spider → BIRD"), ("fusion-ml", "BIRD → Spider")],
    ),
    (
        "Figures 8, 9, latency",
        BY_PROTOCOL,
        &[TRANSFERS, TO_BIRD],
        &[
            ("fusion", "seconds"),
            ("atc-mc", "seconds"),
            ("doc", "seconds"),
            ("source", "seconds"),
            ("agreement", "seconds"),
            ("fusion-ml", "seconds"),
        ],
    ),
    ("Figure 10a, fidelity", BY_PROTOCOL, &[TRANSFERS, TO_BIRD], &[("fusion", "Pearson r")]),
    ("Figure 10a, fidelity", BY_PROTOCOL, &[TRANSFERS, TO_SPIDER], &[("fusion", "Pearson r")]),
    (
        "Figure 5, sample-set size",
        BY_PROTOCOL,
        &[SIZES, TO_BIRD],
        &[("set size ≤ 100", "MAE [95 %]"), ("set size ≤ 2000", "MAE [95 %]")],
    ),
    (
        "Figure 5, sample-set size",
        BY_PROTOCOL,
        &[SIZES, TO_SPIDER],
        &[("set size ≤ 100", "MAE [95 %]"), ("set size ≤ 2000", "MAE [95 %]")],
    ),
    (
        "Figure 11, slices",
        BY_PROTOCOL,
        &[SIZES, TO_BIRD],
        &[("AR-SWD (8)", "seconds"), ("AR-SWD (64)", "seconds")],
    ),
    (
        "Figure 6, regressors and meta-set size",
        BY_PROTOCOL,
        &[SIZES, TO_BIRD],
        &[
            ("3000 sets, mlp", "MAE [95 %]"),
            ("3000 sets, forest", "MAE [95 %]"),
            ("3000 sets, tree", "MAE [95 %]"),
        ],
    ),
];

/// How many queries that people judged match a question of BIRD dev, differ from its gold, and are right.
#[test]
#[ignore = "long: cargo xtask long"]
fn the_counts_of_nl2sql_bugs_are_what_the_page_says() {
    let Some(data) = data() else { return };
    let list = |file: &str| -> Vec<serde_json::Value> {
        serde_json::from_str(&read(&data.join(file))).expect("a list of JSON")
    };
    let text = |item: &serde_json::Value, key: &str| item[key].as_str().unwrap_or_default().to_lowercase();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let key = |item: &serde_json::Value| (text(item, "db_id"), words(&text(item, "question")));
    let squeezed = |sql: String| words(&sql.replace(';', " "));
    let golds: BTreeMap<_, _> =
        list("bird/dev.json").iter().map(|item| (key(item), squeezed(text(item, "SQL")))).collect();
    let bugs = list("human/NL2SQL-Bugs.json");
    let matched = bugs.iter().filter_map(|bug| Some((bug, golds.get(&key(bug))?)));
    let matched: Vec<_> = matched.collect();
    let differ: Vec<_> = matched.iter().filter(|(bug, gold)| squeezed(text(bug, "sql")) != **gold).collect();
    let right = differ.iter().filter(|(bug, _)| bug["label"] == true || bug["label"] == 1).count();
    let number = |count: usize| match count {
        1000.. => format!("{},{:03}", count / 1000, count % 1000),
        _ => count.to_string(),
    };
    let [all, matched, differ, wrong] =
        [bugs.len(), matched.len(), differ.len(), differ.len() - right].map(number);
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"));
    let said = format!(
        "{differ} of NL2SQL-Bugs' {all} queries match a question of BIRD dev ({matched} do) and differ from its gold; people call {right} right and {wrong} wrong."
    );
    assert!(page.contains(&said), "docs/papers.md does not say: {said}");
}

/// The shares of the script's verdicts on BIRD that `etm-paper@1` has, with and without the rules that the paper does not list.
#[test]
#[ignore = "long: cargo xtask long"]
fn the_three_rules_of_the_script_are_worth_what_the_page_says() {
    let Some(data) = data() else { return };
    let golds = gold_lines(&data.join("bird/dev_gold_etm.sql"));
    let schemas = schemas_of(&golds, &data.join("bird/schema_only"));
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"));
    let rows = table_behind(&page, "### The three rules of the script");
    for (row, without) in [(0, &[""][..]), (1, &["S17"]), (2, &["S1", "S6"])] {
        for (column, system) in [("BIRD: DAIL", "DAIL"), ("RESDSQL", "RESDSQL"), ("CodeS-15b", "CodeS-15b")] {
            let answers = read(&data.join(format!("bird/predictions/etm/{system}.sql")));
            let verdicts = read(&data.join(format!("bird/oracle/etm/{system}.tsv")));
            let verdicts: Vec<bool> = verdicts
                .lines()
                .map(|line| line.split('\t').nth(1).is_some_and(|verdict| verdict.starts_with('1')))
                .collect();
            for without in without {
                let same = |((gold, db), (answer, verdict)): &(&(String, String), (&str, &bool))| {
                    let answer = answer.split('\t').next().unwrap_or_default();
                    let matcher =
                        Matcher::of_chosen(&schemas[db][0], Profile::Paper, &|rule| rule.id != *without);
                    matcher.is_equal(gold, answer) == **verdict
                };
                let items = golds.iter().zip(answers.lines().zip(&verdicts));
                let agreed = items.filter(same).count();
                let computed = format!("{:.2} %", 100.0 * agreed as f64 / verdicts.len() as f64);
                assert_eq!(rows[row][column], computed, "{system} without {without:?}");
            }
        }
    }
}

#[test]
fn what_the_page_quotes_is_what_the_measurements_say() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = read(&docs.join("papers.md"));
    for (row, file, places, cells) in QUOTED {
        let quotes = page.lines().find(|line| line.starts_with(&format!("| {row}"))).unwrap();
        let measured = read(&docs.join("results").join(file));
        let mut behind = measured.as_str();
        for place in *places {
            behind = behind.split_once(place).unwrap_or_else(|| panic!("{file} has no {place}")).1;
        }
        let table = table_behind(behind, "");
        for (method, column) in *cells {
            let of_method = table.iter().find(|row| row["method"] == *method);
            let cell = &of_method.unwrap_or_else(|| panic!("{file} has no {method}"))[*column];
            // The page writes a minus sign.
            let number = cell.split(' ').next().unwrap_or_default().replace('-', "−");
            assert!(quotes.contains(&number), "{row}: {number} of {method} is not quoted: {quotes}");
        }
    }
}

#[test]
fn every_row_of_the_page_has_a_verdict_and_its_evidence() {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"));
    for paper in ["## ETM", "## FusionSQL", "## EvoSchema", "## SpotIt"] {
        let rows = table_behind(&page, paper);
        assert!(rows.len() > 5, "{paper} has {} rows", rows.len());
        for row in rows {
            let here = &row["here"];
            let is_measured = here.contains("**reproduced**") || here.contains("**contradicted**");
            let is_not = here.contains("not possible here");
            assert!(is_measured || is_not, "{paper}: without a verdict: {row:?}");
            // A command stands with the figures, on this page or behind the link.
            assert!(!is_measured || here.contains("]("), "{paper}: without evidence: {row:?}");
        }
    }
}
