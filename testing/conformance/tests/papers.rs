//! The cheap numbers of `docs/papers.md`, computed anew: ETM of Tables 4 and 5.

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

/// The share in percent of the answers of a file that a profile matches, as the page writes it.
fn share(
    golds: &[(String, String)],
    answers: &Path,
    schemas: &BTreeMap<String, Arc<Schema>>,
    profile: Profile,
) -> String {
    let answers = read(answers);
    let is_right = |((gold, db), answer): (&(String, String), &str)| {
        let answer = answer.split('\t').next().unwrap_or_default();
        Matcher::new(&schemas[db], profile).is_right(gold, answer)
    };
    let right = golds.iter().zip(answers.lines()).filter(|pair| is_right(*pair)).count();
    format!("{:.1}", 100.0 * right as f64 / golds.len() as f64)
}

/// Compares the columns ETM and `etm@1` of a table with what is computed; every row must be among the files.
fn compare(
    line: &str,
    files: &[(&str, &str)],
    golds: &[(String, String)],
    folder: &Path,
    schemas: &BTreeMap<String, Arc<Schema>>,
) {
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

#[test]
fn etm_of_the_evaluation_set_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let golds = gold_lines(&spider.join("test_gold.sql"));
    let tables = load_tables(&spider.join("test_tables.json")).unwrap();
    let schema = |db: &String| (db.clone(), Arc::new(tables.get(db).unwrap().schema()));
    let schemas = golds.iter().map(|(_, db)| schema(db)).collect();
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
fn etm_of_bird_is_what_the_page_says() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let golds = gold_lines(&bird.join("dev_gold_etm.sql"));
    let engine = SqliteEngine::new(Limits::default());
    let mut schemas = BTreeMap::new();
    for (_, db) in &golds {
        if !schemas.contains_key(db) {
            let database = engine.open(&bird.join(format!("schema_only/{db}/{db}.sqlite"))).unwrap();
            schemas.insert(db.clone(), Arc::clone(database.schema()));
        }
    }
    let files = [("DAIL", "DAIL.sql"), ("RESDSQL", "RESDSQL.sql"), ("CodeS-15b", "CodeS-15b.sql")];
    compare("### Table 5, BIRD", &files, &golds, &bird.join("predictions/etm"), &schemas);
}

#[test]
fn every_row_of_the_page_has_a_status() {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers.md"));
    let words =
        ["reproduced", "contradicted", "not possible here", "how it works", "each is a case", "encoded here"];
    for paper in ["## ETM", "## FusionSQL", "## EvoSchema", "## SpotIt"] {
        let rows = table_behind(&page, paper);
        assert!(rows.len() > 5, "{paper} has {} rows", rows.len());
        for row in rows {
            assert!(words.iter().any(|word| row["here"].contains(word)), "{paper}: {row:?}");
        }
    }
}
