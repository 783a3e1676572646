//! Benchmarks beside each other: `compare OUT NAME GOLD TABLES_JSON [NAME GOLD TABLES_JSON …]`.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use sqlgauge_coverage::{Coverage, Measurement};
use sqlgauge_dataset::{BenchmarkSource, load_benchmark, load_tables};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, corpora) = arguments.split_first().ok_or("give a folder to write, and corpora")?;
    let mut measurements = Vec::new();
    for corpus in corpora.chunks_exact(3) {
        let gold = BenchmarkSource { gold: Path::new(&corpus[1]).to_owned(), ..BenchmarkSource::default() };
        let (benchmark, tables) = (load_benchmark(&gold)?, load_tables(Path::new(&corpus[2]))?);
        let mut schemas = HashMap::new();
        for example in &benchmark.examples {
            if let Some(entry) = tables.get(&example.db_id) {
                schemas.entry(example.db_id.clone()).or_insert_with(|| Arc::new(entry.schema()));
            }
        }
        let mut measurement = Measurement::new(&corpus[0]);
        measurement.add(&benchmark, &schemas, &str::to_owned);
        measurements.push(measurement);
    }
    Coverage::of(&measurements, env!("CARGO_PKG_VERSION"))?.write_to(Path::new(out))?;
    Ok(())
}
