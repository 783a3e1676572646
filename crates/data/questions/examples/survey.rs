//! Asks every query of a gold file in every style, and says how many can be asked, how many read back, and why others
//! cannot: `survey tables.json gold.sql [show]`, the last being how many questions to print.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use sqlgauge_base::Random;
use sqlgauge_dataset::load_tables;
use sqlgauge_questions::{QuestionStyle, Speech, Unsayable};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, tables, gold, rest @ ..] = arguments.as_slice() else {
        return Err("usage: survey tables.json gold.sql [show]".into());
    };
    let show: usize = rest.first().map_or(Ok(0), |show| show.parse())?;
    let tables = load_tables(Path::new(tables))?;
    let schemas: HashMap<String, Schema> =
        tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect();
    let speeches: HashMap<&str, Speech<'_>> =
        schemas.iter().map(|(name, schema)| (name.as_str(), Speech::of(schema))).collect();
    let text = std::fs::read_to_string(gold)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: &str| *counts.entry(what.to_owned()).or_default() += 1;
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.rsplit_once('\t')).collect();
    let (mut total, mut seconds) = (0, 0.0);
    for (place, (sql, db)) in lines.iter().enumerate() {
        let Some(schema) = schemas.get(db.trim()) else { continue };
        let Ok(query) = resolve(sql, schema) else { continue };
        count("golds");
        let styles: Vec<QuestionStyle> = QuestionStyle::all().collect();
        let style = styles[place % styles.len()];
        let mut random = Random::new([7, place as u64]);
        let start = Instant::now();
        let outcome = speeches[db.trim()].ask(&query, style, &mut random);
        seconds += start.elapsed().as_secs_f64();
        total += 1;
        let is_sample = show > 0 && place % (lines.len() / show).max(1) == 0;
        match outcome {
            Ok(question) => {
                count("asked");
                count(if question.is_ambiguous() { "ambiguous" } else { "one reading" });
                if question.is_ambiguous() && style != QuestionStyle::Vague {
                    count("ambiguous though not vague");
                    if rest.len() > 1 {
                        println!(
                            "? {style} {} {}\n  {}",
                            question.other_readings.len(),
                            sql,
                            question.text()
                        );
                    }
                }
                if is_sample {
                    println!("{style}: {sql}\n  {}", question.text());
                }
            }
            Err(Unsayable::Construct { construct }) => count(&format!("unsayable: {construct}")),
            Err(error) => {
                count("not read back or of another schema");
                println!("! {style} {sql}\n  {error}");
            }
        }
    }
    for (what, number) in counts {
        println!("{number:6} {what}");
    }
    println!("{:.0} questions asked and read per second", f64::from(total) / seconds);
    Ok(())
}
