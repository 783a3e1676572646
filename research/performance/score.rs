//! Time and memory of `sqlgauge score` on Spider dev, beside the official script in the same run.
//!
//! ```sh
//! cargo build --release --package sqlgauge
//! cargo xtask research score --data ../shared/data \
//!     --official path/to/test-suite-sql-eval
//! ```
//! Every run of sqlgauge starts cold: a new process and an empty run directory. The official script is run once
//! per file if its folder is given (it needs Python with nltk, its punkt data, and sqlparse).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Parser;
use sqlgauge_research::{Measured, measure};

/// Time and memory of `sqlgauge score` on Spider dev
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder with `spider/`
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// The binary
    #[arg(long, default_value = "target/release/sqlgauge")]
    binary: PathBuf,
    /// Checkout of the official test-suite-sql-eval
    #[arg(long)]
    official: Option<PathBuf>,
    /// Runs per row; the best and the median are printed
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Systems in the many-systems row; prediction files are taken in turn
    #[arg(long, default_value_t = 100)]
    systems: usize,
    /// Seconds that one query may take in the many-systems row
    #[arg(long, default_value_t = 30.0)]
    timeout: f64,
}

const METRICS: &str =
    "ex-spider,ex-spider-distinct,ex-bird,ex,suite,esm,esm-fair,table-f1,column-f1,soft-f1,vm-steps";

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let spider = arguments.data.join("spider");
    let mut files: Vec<PathBuf> = std::fs::read_dir(spider.join("predictions/dev"))
        .with_context(|| format!("{} has no predictions", spider.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    println!("{:<44} {:>9} {:>9} {:>9} {:>10}", "command", "best s", "median s", "CPU s", "peak MiB");
    for name in ["etm_DAIL", "etm_C3", "etm_codeS"] {
        let file = spider.join(format!("predictions/dev/{name}.sql"));
        let runs = (0..arguments.runs).map(|_| score(&arguments, &spider, std::slice::from_ref(&file), 30.0));
        row(&format!("sqlgauge, 11 metrics, {name}"), runs.collect::<Result<_>>()?);
        if let Some(official) = &arguments.official {
            row(&format!("official EX and ESM, {name}"), vec![run_official(official, &spider, &file)?]);
        }
    }
    let many: Vec<PathBuf> = files.iter().cycle().take(arguments.systems).cloned().collect();
    let label =
        format!("sqlgauge, 11 metrics, {} systems ({} files)", many.len(), files.len().min(many.len()));
    row(&label, vec![score(&arguments, &spider, &many, arguments.timeout)?]);
    Ok(())
}

fn row(label: &str, mut runs: Vec<Measured>) {
    runs.sort_by_key(|run| run.wall);
    let median = runs[runs.len() / 2].wall.as_secs_f64();
    let peak = runs.iter().map(Measured::peak_mib).fold(0.0, f64::max);
    let (best, cpu) = (runs[0].wall.as_secs_f64(), runs[0].cpu.as_secs_f64());
    println!("{label:<44} {best:>9.2} {median:>9.2} {cpu:>9.2} {peak:>10.0}");
}

fn score(arguments: &Arguments, spider: &Path, files: &[PathBuf], timeout: f64) -> Result<Measured> {
    let out = tempfile::tempdir()?;
    let mut command = Command::new(&arguments.binary);
    command.args(["score", "--quiet", "--metrics", METRICS, "--timeout", &timeout.to_string()]);
    command.arg("--gold").arg(spider.join("dev_gold.sql")).arg("--db").arg(spider.join("database"));
    command.arg("--tables").arg(spider.join("tables.json")).arg("--out").arg(out.path().join("run"));
    for (index, file) in files.iter().enumerate() {
        command.arg("--pred").arg(format!("S{index}={}", file.display()));
    }
    measure(&mut command)
}

fn run_official(folder: &Path, spider: &Path, file: &Path) -> Result<Measured> {
    let mut command = Command::new("python3");
    command.current_dir(folder).arg("evaluation.py").args(["--etype", "all", "--gold"]);
    let absolute = |path: &Path| std::path::absolute(path);
    command.arg(absolute(&spider.join("dev_gold.sql"))?).arg("--pred").arg(absolute(file)?);
    command.arg("--db").arg(absolute(&spider.join("database"))?);
    command.arg("--table").arg(absolute(&spider.join("tables.json"))?);
    measure(&mut command)
}
