//! The cheap numbers of `docs/papers.md` and of `research/papers`: ETM of Tables 4 and 5, what the three rules of the script are worth
//! on BIRD, and the counts of NL2SQL-Bugs are computed anew, and what the page takes from a measurement is what its data file says.
//! The mined constraints have a test of their own (`mined.rs`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sqlgauge_conformance::{data, gold_lines, measured, read};
use sqlgauge_dataset::load_tables;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_sql::schema::Schema;

fn page() -> String {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"))
}

/// The line of the page with the row of that name.
fn row_of<'a>(page: &'a str, row: &str) -> &'a str {
    let start = format!("| {row}");
    page.lines()
        .find(|line| line.starts_with(&start))
        .unwrap_or_else(|| panic!("docs/papers.md has no row {row:?}"))
}

/// The rows of the first table behind a line of the page: cells by the names of the columns.
fn table_behind(page: &str, line: &str) -> Vec<BTreeMap<String, String>> {
    let (_, rest) = page.split_once(line).unwrap_or_else(|| panic!("docs/papers.md has no line {line:?}"));
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows =
        rest.lines().skip_while(|row| !row.starts_with('|')).take_while(|row| row.starts_with('|'));
    let head = cells(rows.next().unwrap_or_default());
    rows.skip(1).map(|row| head.iter().cloned().zip(cells(row)).collect()).collect()
}

/// The schema of each database: as it is declared, and without the foreign keys that its rows break, on which `etm@1` does not
/// rely.
type Schemas = BTreeMap<String, [Arc<Schema>; 2]>;

/// The share in percent of the answers of a file that a profile matches, as the page writes it.
fn share(golds: &[(String, String)], answers: &Path, schemas: &Schemas, profile: Profile) -> String {
    let answers = read(answers);
    let is_right = |((gold, db), answer): (&(String, String), &str)| {
        let answer = answer.split('\t').next().unwrap_or_default();
        let [declared, of_rows] = &schemas[db];
        let schema = if profile == Profile::Paper { declared } else { of_rows };
        Matcher::new(schema, profile).is_right(gold, answer)
    };
    let right = golds.iter().zip(answers.lines()).filter(|pair| is_right(*pair)).count();
    format!("{:.1}", 100.0 * right as f64 / golds.len() as f64)
}

/// Compares the columns ETM and `etm@1` of a data file with what is computed; every row must be among the files. The row of the page
/// quotes ETM of all.
fn compare(
    table: &str,
    row_of_page: &str,
    files: &[(&str, &str)],
    golds: &[(String, String)],
    folder: &Path,
    schemas: &Schemas,
) {
    let rows = measured(table);
    assert_eq!(rows.len(), files.len(), "{table}: {rows:?}");
    let mut etm = Vec::new();
    for row in rows {
        let file = files.iter().find(|(model, _)| row["model"] == *model).map(|(_, file)| file);
        let file = folder.join(file.unwrap_or_else(|| panic!("no answers of {}", row["model"])));
        for (column, profile) in [("ETM", Profile::Paper), ("etm@1", Profile::Sound)] {
            let written = row[column].split(' ').next().unwrap_or_default();
            let computed = share(golds, &file, schemas, profile);
            assert_eq!(written, computed, "{table}, {}, {column}", row["model"]);
            if column == "ETM" {
                etm.push(computed);
            }
        }
    }
    let (page, etm) = (page(), etm.join(", "));
    assert!(row_of(&page, row_of_page).contains(&format!("[{etm}]")), "{row_of_page}: {etm} is not quoted");
}

/// The schemas of the databases in a folder that golds name.
fn schemas_of(golds: &[(String, String)], folder: &Path) -> Schemas {
    let engine = SqliteEngine::new(Limits::default());
    let mut schemas = BTreeMap::new();
    for (_, db) in golds {
        if !schemas.contains_key(db) {
            let path = folder.join(format!("{db}/{db}.sqlite"));
            let database = engine.open(&path).expect("the benchmark has the database");
            let of_rows = Arc::clone(&database.kept_schema(&engine).schema);
            schemas.insert(db.clone(), [Arc::clone(database.schema()), of_rows]);
        }
    }
    schemas
}

/// The models of the tables on Spider, with the files of their answers.
const ON_SPIDER: [(&str, &str); 4] =
    [("DAIL", "etm_DAIL.sql"), ("C3", "etm_C3.sql"), ("R+N", "etm_RESDSQL.sql"), ("CodeS", "etm_codeS.sql")];

#[test]
#[ignore = "long: cargo xtask long"]
fn etm_of_the_evaluation_set_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("test_gold.sql"));
    let tables = load_tables(&spider.join("test_tables.json")).unwrap();
    let schema = |db: &String| Arc::new(tables.get(db).unwrap().schema());
    let schemas = golds.iter().map(|(_, db)| (db.clone(), [schema(db), schema(db)])).collect();
    compare(
        "papers/etm-evaluation.tsv",
        "Table 4, evaluation set",
        &ON_SPIDER,
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
    compare(
        "papers/etm-bird.tsv",
        "Table 5, BIRD dev",
        &files,
        &golds,
        &bird.join("predictions/etm"),
        &schemas,
    );
}

#[test]
#[ignore = "long: cargo xtask long"]
fn etm_of_the_development_set_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("dev_gold.sql"));
    let schemas = schemas_of(&golds, &spider.join("database"));
    compare(
        "papers/etm-development.tsv",
        "Table 4, dev",
        &ON_SPIDER,
        &golds,
        &spider.join("predictions/dev"),
        &schemas,
    );
}

/// What a row of the page quotes: the row, the data file, the cells that choose rows of it, and what of them is quoted.
type Quoted = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
);

const SEEDS: &str = "estimation-by-protocol/five-seeds.tsv";
const METHODS: &str = "estimation-by-protocol/methods.tsv";
const ABLATIONS: &str = "estimation-by-protocol/ablations.tsv";
const WHOLE: &str = "estimation-by-protocol/whole.tsv";
const FORTH: &[(&str, &str)] = &[("transfer", "Spider → BIRD")];
const TO_BIRD: &[(&str, &str)] = &[("transfer", "spider_all → bird_all")];
const TO_SPIDER: &[(&str, &str)] = &[("transfer", "bird_all → spider_all")];

/// Methods and columns; the page has the first number of the cell.
const QUOTED: &[Quoted] = &[
    ("Table III, Spider → BIRD", SEEDS, &[], &[("fusion", "Spider → BIRD")]),
    ("Table III, Spider → BIRD", WHOLE, FORTH, &[("fusion", "MAE ± between seeds")]),
    ("Figure 10a, fidelity", WHOLE, FORTH, &[("fusion", "Pearson r")]),
    (
        "Figure 6, regressors",
        WHOLE,
        FORTH,
        &[("300 sets, mlp", "MAE ± between seeds"), ("fusion", "MAE ± between seeds")],
    ),
    ("Table III, FusionSQL-TL", SEEDS, &[], &[("fusion-tl, a tenth", "Spider → BIRD")]),
    (
        "Table III, ATC-MC, ATC-NE, DoC",
        SEEDS,
        &[],
        &[("atc-mc", "Spider → BIRD"), ("atc-ne", "Spider → BIRD"), ("doc", "Spider → BIRD")],
    ),
    (
        "Table III, ATC-MC, ATC-NE, DoC",
        "estimation-by-protocol/alone.tsv",
        FORTH,
        &[("atc-mc", "MAE [95 %]"), ("atc-ne", "MAE [95 %]"), ("doc", "MAE [95 %]")],
    ),
    (
        "Table III, ATC-MC, ATC-NE, DoC",
        "estimation-by-protocol/alone.tsv",
        &[("transfer", "BIRD → Spider")],
        &[("atc-mc", "MAE [95 %]"), ("atc-ne", "MAE [95 %]"), ("doc", "MAE [95 %]")],
    ),
    ("Table III, PseAutoEval", SEEDS, &[], &[("ppi, a tenth of the labels", "Spider → BIRD")]),
    (
        "Table IV, unseen models",
        SEEDS,
        &[],
        &[("fusion-ml", "Spider → BIRD"), ("fusion-ml", "BIRD → Spider")],
    ),
    (
        "Figures 8, 9, latency",
        METHODS,
        TO_BIRD,
        &[
            ("fusion", "seconds"),
            ("atc-mc", "seconds"),
            ("doc", "seconds"),
            ("source", "seconds"),
            ("fusion-ml", "seconds"),
        ],
    ),
    (
        "Figure 5, sample-set size",
        ABLATIONS,
        TO_BIRD,
        &[("set size ≤ 100", "MAE [95 %]"), ("set size ≤ 2000", "MAE [95 %]")],
    ),
    (
        "Figure 5, sample-set size",
        ABLATIONS,
        TO_SPIDER,
        &[("set size ≤ 100", "MAE [95 %]"), ("set size ≤ 2000", "MAE [95 %]")],
    ),
    ("Figure 11, slices, time", ABLATIONS, TO_BIRD, &[("AR-SWD (8)", "seconds"), ("AR-SWD (64)", "seconds")]),
    (
        "Figure 6, regressors",
        ABLATIONS,
        TO_BIRD,
        &[("3000 sets, forest", "MAE [95 %]"), ("3000 sets, tree", "MAE [95 %]")],
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
    let [row] = &measured("papers/nl2sql-bugs.tsv")[..] else { panic!("one row of counts") };
    let written = [
        "queries",
        "match a question of BIRD dev",
        "differ from its gold",
        "people call right",
        "people call wrong",
    ]
    .map(|column| row[column].as_str());
    assert_eq!(written, [&all, &matched, &differ, &right.to_string(), &wrong]);
}

/// The shares of the script's verdicts on BIRD that `etm-paper@1` has, with and without the rules that the paper does not list.
#[test]
#[ignore = "long: cargo xtask long"]
fn the_three_rules_of_the_script_are_worth_what_the_page_says() {
    let Some(data) = data() else { return };
    let golds = gold_lines(&data.join("bird/dev_gold_etm.sql"));
    let schemas = schemas_of(&golds, &data.join("bird/schema_only"));
    let rows = measured("papers/script-rules.tsv");
    for (row, without) in [(0, &[""][..]), (1, &["S17"]), (2, &["S1", "S6"])] {
        for system in ["DAIL", "RESDSQL", "CodeS-15b"] {
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
                assert_eq!(rows[row][&format!("BIRD: {system}")], computed, "{system} without {without:?}");
            }
        }
    }
}

#[test]
fn what_the_page_quotes_is_what_the_measurements_say() {
    let page = page();
    for (row, file, chosen, cells) in QUOTED {
        let quotes = row_of(&page, row);
        let mut table = measured(file);
        table.retain(|row| chosen.iter().all(|(column, cell)| row[*column] == *cell));
        for (method, column) in *cells {
            let of_method = table.iter().find(|row| row["method"] == *method);
            let cell = &of_method.unwrap_or_else(|| panic!("{file} has no {method}"))[*column];
            // The page writes a minus sign.
            let number = cell.split(' ').next().unwrap_or_default().replace('-', "−");
            assert!(quotes.contains(&number), "{row}: {number} of {method} is not quoted: {quotes}");
        }
    }
}

/// The errors in points of an estimate on the nine targets of a small model, by the data file.
fn errors_on_the_real_model(estimate: &str) -> Vec<f64> {
    let rows = measured("estimation-real-model/second-estimates.tsv");
    let numbers = |name: &str| -> BTreeMap<String, f64> {
        let row = rows.iter().find(|row| row["estimate"] == name);
        let row = row.unwrap_or_else(|| panic!("no estimate {name:?}"));
        let targets =
            row.iter().filter(|(column, _)| !["estimate", "MAE", "held", "±"].contains(&column.as_str()));
        targets.map(|(target, value)| (target.clone(), value.parse().expect("a percentage"))).collect()
    };
    let (truth, estimates) = (numbers("truth"), numbers(estimate));
    assert_eq!(truth.len(), 9);
    truth.iter().map(|(target, truth)| (estimates[target] - truth).abs()).collect()
}

#[test]
fn a_broad_corpus_is_as_near_as_the_page_says() {
    let [one, broad] =
        ["fusion, hidden states, spider", "fusion, hidden states, all"].map(errors_on_the_real_model);
    let mean = |errors: &[f64]| format!("{:.1}", errors.iter().sum::<f64>() / errors.len() as f64);
    let nearer = one.iter().zip(&broad).filter(|(one, broad)| broad < one).count();
    let page = page();
    let row = row_of(&page, "Section V-B, a broad corpus");
    assert!(
        row.contains(&format!("[{}, ", mean(&one))) && row.contains(&format!(" {}](", mean(&broad))),
        "{row}"
    );
    assert_eq!((nearer, row.contains("nearer on eight of nine targets")), (8, true));
    let random = mean(&errors_on_the_real_model("the same as all, 64 random directions"));
    assert_eq!(random, mean(&broad));
    assert!(row_of(&page, "Table V, error of HSWD").contains(&format!("[{random}](")), "{random}");
    let rivals = ["atc-mc", "atc-ne", "doc, τ 0.8"].map(|method| mean(&errors_on_the_real_model(method)));
    assert!(row_of(&page, "Table III, ATC-MC").contains(&format!("[{}]", rivals.join(", "))), "{rivals:?}");
}

/// The false positives (0) or negatives (1) of a metric in some rows of Table 6, as they are written there.
fn errors_of_table_6(sets: &[&str], metric: &str, side: usize) -> Vec<String> {
    let rows = measured("papers/errors.tsv");
    let chosen = rows.iter().filter(|row| sets.contains(&row["set"].as_str()));
    let cell = |row: &BTreeMap<String, String>| {
        row[metric].split([' ', '/']).filter(|part| !part.is_empty()).nth(side).map(str::to_owned)
    };
    chosen.filter_map(cell).collect()
}

#[test]
fn table_6_is_quoted_as_it_was_measured() {
    let page = page();
    let range = |errors: Vec<String>| {
        let mut numbers: Vec<f64> = errors.iter().map(|error| error.parse().expect("a percentage")).collect();
        numbers.sort_by(f64::total_cmp);
        format!("[{:.1} to {:.1} %]", numbers[0], numbers[numbers.len() - 1])
    };
    let spider = ["dev", "evaluation"];
    let all = ["dev", "evaluation", "BIRD dev"];
    for (row, quoted) in [
        ("Table 6, false positives", range(errors_of_table_6(&all, "etm-paper@1", 0))),
        ("Table 6, false negatives on Spider", range(errors_of_table_6(&spider, "etm-paper@1", 1))),
        ("Table 6, false negatives on BIRD", range(errors_of_table_6(&["BIRD dev"], "etm-paper@1", 1))),
        ("Table 6, EXE's false positives", format!("[{}]", errors_of_table_6(&["dev"], "EXE", 0).join(", "))),
        ("Table 6, ESM's false positives", range(errors_of_table_6(&["evaluation"], "esm@1", 0))),
    ] {
        assert!(row_of(&page, row).contains(&quoted), "{row}: {quoted} is not quoted");
    }
}

/// What a verdict may begin with.
const VERDICTS: [&str; 5] =
    ["reproduced", "contradicted", "not reached here", "not measured", "not possible here"];

/// The parts of a cell, each with the verdict that it begins with.
fn verdicts(cell: &str) -> Result<Vec<&'static str>, String> {
    let of_part = |part: &str| {
        let verdict = VERDICTS.into_iter().find(|verdict| part.starts_with(verdict));
        verdict.ok_or_else(|| format!("{part:?} begins with none of {VERDICTS:?}"))
    };
    cell.split("; ").map(of_part).collect()
}

#[test]
fn every_row_of_the_page_has_a_verdict_and_its_evidence() {
    let page = page();
    for verdict in VERDICTS {
        assert!(page.contains(&format!("- **{verdict}**: ")), "the page does not say what {verdict} means");
    }
    for paper in ["## ETM", "## FusionSQL", "## EvoSchema", "## SpotIt"] {
        let rows = table_behind(&page, paper);
        assert!(rows.len() > 5, "{paper} has {} rows", rows.len());
        for row in &rows {
            let verdicts =
                verdicts(&row["verdict"]).unwrap_or_else(|error| panic!("{paper}: {row:?}: {error}"));
            let is_measured = verdicts
                .iter()
                .any(|verdict| !verdict.ends_with("measured") && !verdict.starts_with("not possible"));
            // A command stands with the figures, behind the link.
            assert!(!is_measured || row["ours"].contains("]("), "{paper}: without evidence: {row:?}");
            let says_why =
                row["verdict"].contains("not reached here:") || row["verdict"].contains("not reached here ");
            assert!(!verdicts.contains(&"not reached here") || says_why, "{paper}: what differs? {row:?}");
        }
    }
}

#[test]
fn other_verdicts_are_refused() {
    assert_eq!(verdicts("reproduced; not possible here: EXE"), Ok(vec!["reproduced", "not possible here"]));
    for cell in ["", "not possible", "reproduced; confirmed", "in part contradicted"] {
        assert!(verdicts(cell).is_err(), "{cell}");
    }
}
