//! How long questions are, by tier, and how often they say what people do not: of a corpus of `synth`, or of people.
//!
//! ```sh
//! cargo run -p sqlgauge-synth --example wording -- corpus/data/*.jsonl [--show N] [--seed N]
//! cargo run -p sqlgauge-synth --example wording -- --people dev.json tables.json [--show N]
//! ```
//! `--show` prints so many questions with their queries, drawn by the seed; `--jsonl` prints every question with its database and tier,
//! and nothing else.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use serde_json::{Value, json};
use sqlgauge_base::Random;
use sqlgauge_dataset::load_tables;
use sqlgauge_sql::resolve;
use sqlgauge_synth::Tier;
use sqlgauge_synth::shape::QueryMeasures;

/// A question with its query.
struct Asked {
    tier: Tier,
    db_id: String,
    question: String,
    sql: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut files, mut show, mut seed, mut people, mut lines) = (Vec::new(), 0, 26, false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--people" => people = true,
            "--jsonl" => lines = true,
            "--show" => show = arguments.next().ok_or("--show needs a number")?.parse()?,
            "--seed" => seed = arguments.next().ok_or("--seed needs a number")?.parse()?,
            _ => files.push(argument),
        }
    }
    let mut questions = match files.as_slice() {
        [questions, tables] if people => of_people(questions, tables)?,
        [_, ..] if !people => of_corpus(&files)?,
        _ => return Err("give the files of a corpus, or --people dev.json tables.json".into()),
    };
    if lines {
        for one in &questions {
            let line = json!({"db_id": one.db_id, "question": one.question, "tier": one.tier.name()});
            println!("{line}");
        }
        return Ok(());
    }
    println!("{:16}{:>7}{:>8}{:>8}{:>12}{:>14}", "tier", "n", "mean", "median", "3 x of the", "column N");
    row("all", &questions.iter().collect::<Vec<_>>());
    for tier in Tier::ALL {
        row(tier.name(), &questions.iter().filter(|one| one.tier == tier).collect::<Vec<_>>());
    }
    Random::new([seed]).shuffle(&mut questions);
    for (place, one) in questions.iter().take(show).enumerate() {
        println!("\n{}. [{}, {}] {}\n   {}", place + 1, one.tier, one.db_id, one.question, one.sql);
    }
    Ok(())
}

/// Prints the measures of some questions.
fn row(name: &str, questions: &[&Asked]) {
    let mut words: Vec<usize> = questions.iter().map(|one| one.question.split_whitespace().count()).collect();
    words.sort_unstable();
    let count = words.len().max(1) as f64;
    let share = |is: &dyn Fn(&str) -> bool| {
        100.0 * questions.iter().filter(|one| is(&one.question)).count() as f64 / count
    };
    let often = share(&|text| text.matches(" of the ").count() >= 3);
    let by_place = share(&|text| {
        let says =
            |nth: &&str| text.contains(&format!("{nth} column")) || text.contains(&format!("{nth} list"));
        ["first", "second", "third", "fourth", "fifth"].iter().any(says)
    });
    let mean = words.iter().sum::<usize>() as f64 / count;
    let median = words.get(words.len() / 2).copied().unwrap_or_default();
    println!("{name:16}{:>7}{mean:>8.1}{median:>8}{often:>10.1} %{by_place:>12.1} %", words.len());
}

/// The pairs of a corpus that have a question.
fn of_corpus(files: &[String]) -> Result<Vec<Asked>, Box<dyn Error>> {
    let mut questions = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            let pair: sqlgauge_synth::SynthPair = serde_json::from_str(line)?;
            if let Some(question) = pair.question {
                questions.push(Asked { tier: pair.tier, db_id: pair.db_id, question, sql: pair.sql });
            }
        }
    }
    Ok(questions)
}

/// The questions of a benchmark, each with the tier of its gold; golds that do not resolve are left out.
fn of_people(questions: &str, tables: &str) -> Result<Vec<Asked>, Box<dyn Error>> {
    let tables = load_tables(Path::new(tables))?;
    let schemas: HashMap<String, _> =
        tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect();
    let items: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(questions)?)?;
    let mut questions = Vec::new();
    for item in &items {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let sql = text("query").or_else(|| text("SQL"));
        let (Some(db_id), Some(question), Some(sql)) = (text("db_id"), text("question"), sql) else {
            continue;
        };
        let Some(schema) = schemas.get(db_id) else { continue };
        let Ok(query) = resolve(sql, schema) else { continue };
        let tier = Tier::of(&QueryMeasures::of(&query, schema));
        questions.push(Asked {
            tier,
            db_id: db_id.to_owned(),
            question: question.to_owned(),
            sql: sql.to_owned(),
        });
    }
    eprintln!("{} of {} items resolve", questions.len(), items.len());
    Ok(questions)
}
