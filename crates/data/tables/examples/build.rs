//! Databases from a folder of tables: `cargo run -p sqlgauge-tables --features parquet --example build -- TABLES OUT`.

use std::path::Path;

use sqlgauge_tables::{FileOutcome, TablesOptions, build};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (tables, out, score) = match arguments.as_slice() {
        [tables, out] => (tables, out, None),
        [tables, out, score] => (tables, out, score.parse().ok()),
        _ => {
            eprintln!(
                "give the folder of the tables, one to write, and, if you like, the least score of a foreign key"
            );
            std::process::exit(2);
        }
    };
    let mut options = TablesOptions::default();
    options.foreign_key_score = score.unwrap_or(options.foreign_key_score);
    match build(Path::new(tables), Path::new(out), &options) {
        Ok(report) => {
            let used =
                report.files.iter().filter(|file| matches!(file.outcome, FileOutcome::Used(_))).count();
            println!("{used} of {} files became {} databases", report.files.len(), report.databases.len());
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
