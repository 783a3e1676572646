//! Renders a run directory, or an invented run, in any format:
//! `cargo run -p sqlgauge-report --example render -- html RUN_DIR > report.html`, or
//! `… -- table --invented SYSTEMS ITEMS`. A run is rendered as the command line does it.

use std::io::{BufWriter, Write};
use std::path::Path;

use sqlgauge_report::{Report, find};
use sqlgauge_run::RunFiles;

#[path = "../tests/it/common.rs"]
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
    let RunFiles { manifest, items, summary } = RunFiles::open(run)?;
    Ok(Report::new(manifest, summary.ok_or("the run is not finished")?, items))
}
