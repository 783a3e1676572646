//! Small corpora beside each other, and what is written of them.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use sqlgauge_coverage::{Coverage, FILES, Measurement, Panel};
use sqlgauge_dataset::{Benchmark, Example};
use sqlgauge_sql::schema::Schema;

fn benchmark(items: &[(&str, &str)]) -> Benchmark {
    let example = |(index, (question, gold)): (usize, &(&str, &str))| Example {
        id: index.to_string(),
        index,
        db_id: "shop".to_owned(),
        question: (!question.is_empty()).then(|| (*question).to_owned()),
        evidence: None,
        golds: vec![(*gold).to_owned()],
        difficulty: None,
        turn: None,
        ddl: None,
        source_index: None,
        source_db_id: None,
    };
    Benchmark {
        examples: items.iter().enumerate().map(example).collect(),
        sources: Vec::new(),
        has_ids: false,
        notes: Vec::new(),
    }
}

fn measured(name: &str, items: &[(&str, &str)]) -> Measurement {
    let schema = Schema::from_ddl(
        "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);
         CREATE TABLE sale (item_id INT REFERENCES item (id), day DATE);",
    )
    .unwrap();
    let mut measurement = Measurement::new(name);
    let schemas = HashMap::from([("shop".to_owned(), Arc::new(schema))]);
    measurement.add(&benchmark(items), &schemas, &str::to_owned);
    measurement
}

fn two() -> Coverage {
    let narrow =
        measured("narrow", &[("Which items?", "SELECT name FROM item"), ("items", "select NAME from item")]);
    let wide = measured(
        "wide <b>",
        &[
            ("How many sales?", "SELECT count(*) FROM sale"),
            (
                "Which names?",
                "SELECT name FROM item WHERE id IN (SELECT item_id FROM sale) UNION SELECT day FROM sale",
            ),
            ("Which?", "SELECT missing FROM item"),
            ("", "SELECT max(price), name FROM item JOIN sale ON id = item_id WHERE price > 2 GROUP BY name"),
        ],
    );
    Coverage::of(&[narrow, wide], "0.0.0").unwrap()
}

#[test]
fn sizes_are_counted_by_meaning_and_by_reason() {
    let coverage = two();
    let [narrow, wide] = coverage.corpora.as_slice() else { panic!("two corpora") };
    assert_eq!(
        (narrow.sizes.examples, narrow.sizes.unique_sql, narrow.sizes.unique_questions),
        (2, 1, Some(2))
    );
    assert_eq!((wide.sizes.examples, wide.sizes.resolved, wide.sizes.unique_sql), (4, 3, 3));
    assert_eq!(wide.sizes.not_resolved.iter().collect::<Vec<_>>(), [(&"unknown-column", &1)]);
    assert_eq!((wide.sizes.databases, wide.sizes.tables, wide.sizes.foreign_keys), (1, 2, 1));
    assert_eq!((wide.sizes.deepest(), wide.sizes.question_words), (Some(2), Some(2.5)));
    assert_eq!(wide.sizes.operators["union"], 1);
    assert_eq!(narrow.sizes.tier_share("simple"), Some(1.0));
}

#[test]
fn a_wider_corpus_is_wider_and_nothing_is_wider_than_one() {
    let coverage = two();
    for (at, name) in coverage.dimensions.iter().enumerate() {
        let shares: Vec<Option<f64>> = coverage
            .corpora
            .iter()
            .map(|corpus| corpus.reach[at].and_then(|reach| reach.normalised))
            .collect();
        assert!(shares.iter().flatten().all(|share| (0.0..=1.0).contains(share)), "{name}: {shares:?}");
        if ["length", "joins", "nesting", "set operations", "predicates"].contains(name) {
            assert_eq!(shares, [Some(0.0), Some(1.0)], "{name}");
        }
    }
}

#[test]
fn a_folder_has_the_data_the_page_and_the_pictures() {
    let coverage = two();
    assert!(coverage.projections.iter().any(|projection| projection.panel == Panel::Queries));
    let folder = tempfile::tempdir().unwrap();
    coverage.write_to(folder.path()).unwrap();
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for name in FILES {
        assert!(!text(name).is_empty(), "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&text("coverage.json")).unwrap();
    assert_eq!(json["corpora"][1]["sizes"]["unique_sql"], 3);
    let page = text("coverage.html");
    assert!(page.contains("wide &lt;b&gt;") && !page.contains("wide <b>") && !page.contains("<script"));
    assert!(text("dimensions.svg").contains("predicate density"));
    // The same corpora give the same files.
    let again = tempfile::tempdir().unwrap();
    two().write_to(again.path()).unwrap();
    for name in FILES {
        assert_eq!(text(name), fs::read_to_string(again.path().join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_corpus_of_which_nothing_is_resolved_is_shown_as_that() {
    let coverage = Coverage::of(&[measured("broken", &[("x", "SELECT")])], "0.0.0").unwrap();
    let sizes = &coverage.corpora[0].sizes;
    assert_eq!((sizes.resolved, sizes.unique_sql, sizes.sql_characters, sizes.deepest()), (0, 0, None, None));
    assert!(coverage.corpora[0].reach.iter().all(Option::is_none));
    let folder = tempfile::tempdir().unwrap();
    coverage.write_to(folder.path()).unwrap();
}
