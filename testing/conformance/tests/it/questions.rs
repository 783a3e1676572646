//! Every gold of Spider can be asked as a question, and every question reads back as its gold.

use std::collections::HashMap;
use std::path::Path;

use sqlgauge_base::Random;
use sqlgauge_conformance::{data, gold_lines};
use sqlgauge_dataset::load_tables;
use sqlgauge_questions::{QuestionStyle, Speech};
use sqlgauge_sql::canonical::canonical;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

/// Asks each gold in one style after the other; returns how many resolve, and what could not be asked or read.
fn check(gold: &Path, tables: &Path) -> (usize, usize, Vec<String>) {
    let tables = load_tables(tables).unwrap();
    let schemas: HashMap<String, Schema> =
        tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect();
    let speeches: HashMap<&str, Speech<'_>> =
        schemas.iter().map(|(db, schema)| (db.as_str(), Speech::of(schema))).collect();
    let styles: Vec<QuestionStyle> = QuestionStyle::all().collect();
    let (mut count, mut ambiguous, mut failed) = (0, 0, Vec::new());
    for (place, (sql, db)) in (0_u64..).zip(gold_lines(gold)) {
        let schema = &schemas[&db];
        let Ok(query) = resolve(&sql, schema) else { continue };
        let mut random = Random::new([11, place]);
        let style = styles[random.below(styles.len())];
        let speech = &speeches[db.as_str()];
        match speech.ask(&query, style, &mut random) {
            Ok(question) => {
                count += 1;
                ambiguous += usize::from(question.is_ambiguous() && style != QuestionStyle::Vague);
                let readings = speech.read(&question.text()).unwrap();
                if !readings.contains(&canonical(&query, schema)) {
                    failed.push(format!("{sql}: {}", question.text()));
                }
            }
            Err(error) => failed.push(format!("{sql}: {error}")),
        }
    }
    (count, ambiguous, failed)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn spider_golds_are_asked_and_read_back() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    for (gold, tables, least) in [
        ("dev_gold.sql", "tables.json", 1_000),
        ("train_gold.sql", "tables.json", 8_000),
        ("test_gold.sql", "test_tables.json", 2_000),
    ] {
        let (count, ambiguous, failed) = check(&spider.join(gold), &spider.join(tables));
        assert!(failed.is_empty(), "{gold}: {} failed:\n{}", failed.len(), failed.join("\n"));
        assert!(count >= least && ambiguous * 100 < count, "{gold}: {count} asked, {ambiguous} ambiguous");
    }
}
