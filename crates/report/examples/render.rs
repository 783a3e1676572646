//! Renders a run directory, or an invented run, in any format:
//! `cargo run -p sqlgauge-report --example render -- html RUN_DIR > report.html`, or
//! `… -- table --invented SYSTEMS ITEMS`.

use std::io::{BufWriter, Write};
use std::path::Path;

use sqlgauge_report::{Report, find};

#[path = "../tests/common/mod.rs"]
mod common;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (format, report) = match arguments.as_slice() {
        [format, "--invented", systems, examples] => {
            (format, common::report(systems.parse()?, examples.parse()?))
        }
        [format, run] => (format, read(Path::new(run))?),
        _ => return Err("usage: render FORMAT (RUN_DIR | --invented SYSTEMS ITEMS)".into()),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    find(format)?.render(&report, &mut out)?;
    out.flush()?;
    Ok(())
}

fn read(run: &Path) -> Result<Report, Failure> {
    let text = |name: &str| std::fs::read_to_string(run.join(name));
    let items: Result<Vec<_>, _> = text("items.jsonl")?.lines().map(serde_json::from_str).collect();
    let manifest = serde_json::from_str(&text("run.json")?)?;
    Ok(Report::new(manifest, serde_json::from_str(&text("summary.json")?)?, items?))
}
