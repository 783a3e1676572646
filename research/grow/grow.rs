//! Grows texts of every construct and watches the time and the memory of every analysis.
//!
//! ```sh
//! cargo xtask research grow
//! cargo xtask research grow --only etm --construct between --most 1000
//! ```
//! Every text is analysed in a process of its own, on a thread with the stack that the threads of a run have. A line is
//! printed for an analysis that takes more than a second or 200 MiB, that grows faster than n log n, or that ends in
//! anything but an outcome; `--all` prints the others too. The time is that of the processor, so that neighbours do not
//! count; `--timeout` is by the wall clock.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use sqlgauge_engine::{Limits, SqliteEngine, WorkerCommand};
use sqlgauge_research::analyses::{ANALYSES, Analysis, World};
use sqlgauge_research::constructs::{CONSTRUCTS, Construct};

/// Time and memory of every analysis on texts that grow
#[derive(Debug, Parser)]
struct Arguments {
    /// Analyses whose name begins so
    #[arg(long)]
    only: Option<String>,
    /// Constructs whose name begins so
    #[arg(long)]
    construct: Option<String>,
    /// Bytes of the smallest text
    #[arg(long, default_value_t = 250)]
    least: usize,
    /// Bytes of the largest text
    #[arg(long, default_value_t = 1_000_000)]
    most: usize,
    /// How many times longer the next text is
    #[arg(long, default_value_t = 4)]
    by: usize,
    /// Seconds after which an analysis is ended
    #[arg(long, default_value_t = 10)]
    timeout: u64,
    /// Seconds that count as too many
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// MiB that count as too many
    #[arg(long, default_value_t = 200)]
    mib: u64,
    /// Print every line
    #[arg(long)]
    all: bool,
    /// Be a process for the queries of another
    #[arg(long, hide = true)]
    run_queries: bool,
    /// Analyse the text of this construct, by its place, in this process
    #[arg(long, hide = true)]
    place: Option<usize>,
    /// The analysis, by its place
    #[arg(long, hide = true)]
    analysis: Option<usize>,
}

/// What one analysis of one text took.
struct Cost {
    seconds: f64,
    mib: u64,
    outcome: String,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.run_queries {
        sqlgauge_engine::serve_queries();
        return Ok(());
    }
    if let (Some(place), Some(analysis)) = (arguments.place, arguments.analysis) {
        return alone(&CONSTRUCTS[place], &ANALYSES[analysis], arguments.most);
    }
    let mut flagged = 0;
    for (place, construct) in CONSTRUCTS.iter().enumerate() {
        if arguments.construct.as_deref().is_some_and(|wanted| !construct.name.starts_with(wanted)) {
            continue;
        }
        for (at, analysis) in ANALYSES.iter().enumerate() {
            if arguments.only.as_deref().is_none_or(|wanted| analysis.name.starts_with(wanted)) {
                flagged += grown(&arguments, (place, construct), (at, analysis))?;
            }
        }
    }
    println!("{flagged} flagged");
    Ok(())
}

/// Analyses larger and larger texts, until one takes too much. Returns whether a line was a flag.
fn grown(
    arguments: &Arguments,
    (place, construct): (usize, &Construct),
    (at, analysis): (usize, &Analysis),
) -> Result<usize> {
    let mut before: Option<(usize, f64)> = None;
    let mut bytes = arguments.least;
    let mut flags = 0;
    loop {
        bytes = bytes.min(arguments.most);
        let cost = measured(arguments, place, at, bytes)?;
        // Below some hundredths of a second the start of the process is most of it.
        let growth = before.filter(|(_, seconds)| *seconds > 0.05).map(|(smaller, seconds)| {
            let (ratio, larger) = (cost.seconds / seconds, bytes as f64);
            ratio / (larger * larger.ln() / (smaller as f64 * (smaller as f64).ln()))
        });
        let too_much = cost.seconds > arguments.seconds || cost.mib > arguments.mib;
        let is_flag = too_much || growth.is_some_and(|growth| growth > 1.6) || cost.outcome.starts_with('!');
        if is_flag || arguments.all {
            println!(
                "{:<14} {:<38} {bytes:>8} B {:>8.3} s {:>5} MiB {:>5} {}",
                analysis.name,
                construct.name,
                cost.seconds,
                cost.mib,
                growth.map_or_else(String::new, |growth| format!("x{growth:.1}")),
                cost.outcome
            );
        }
        flags += usize::from(is_flag);
        if too_much || bytes >= arguments.most {
            return Ok(flags.min(1));
        }
        before = Some((bytes, cost.seconds));
        bytes *= arguments.by;
    }
}

fn measured(arguments: &Arguments, place: usize, analysis: usize, bytes: usize) -> Result<Cost> {
    let program = std::env::current_exe().context("no path to this program")?;
    let mut child = Command::new(program)
        .args(["--place", &place.to_string(), "--analysis", &analysis.to_string()])
        .args(["--most", &bytes.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > Duration::from_secs(arguments.timeout) {
            child.kill()?;
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut parts = text.trim_end().splitn(3, '\t');
    let mut next = || parts.next().unwrap_or_default();
    Ok(match (next().parse(), next().parse(), next()) {
        (Ok(seconds), Ok(mib), outcome) => Cost { seconds, mib, outcome: outcome.to_owned() },
        _ => Cost {
            seconds: start.elapsed().as_secs_f64(),
            mib: 0,
            outcome: format!("!ended without an outcome: {}", output.status),
        },
    })
}

/// Analyses one text in this process, and prints what it took.
fn alone(construct: &Construct, analysis: &Analysis, bytes: usize) -> Result<()> {
    let program = std::env::current_exe().context("no path to this program")?;
    let command = WorkerCommand::new(program).argument("--run-queries");
    let world = World::new(SqliteEngine::with_workers(Limits::default(), command)?)?;
    let text = construct.of_bytes(bytes);
    (analysis.prepare)(&world, &text);
    // What a thread of a run has.
    let stack = 2 << 20;
    let (seconds, mib, outcome) = std::thread::scope(|scope| {
        let run = || {
            let (before, start) = (resident("VmRSS:"), Clock::start());
            let outcome = (analysis.run)(&world, &text);
            let seconds = start.seconds();
            (seconds, resident("VmHWM:").saturating_sub(before) / 1024, outcome)
        };
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, run)?;
        thread.join().map_err(|_| anyhow::anyhow!("the analysis panicked"))
    })?;
    println!("{seconds}\t{mib}\t{outcome}");
    Ok(())
}

/// Measures the time that this process computes, which does not depend on what else the machine does.
struct Clock {
    start: Instant,
    computed: Option<f64>,
}

impl Clock {
    fn start() -> Self {
        Self { start: Instant::now(), computed: computed() }
    }

    /// Seconds of the processor, of all threads; of the wall clock where the system does not tell.
    fn seconds(&self) -> f64 {
        match (self.computed, computed()) {
            (Some(before), Some(now)) => now - before,
            _ => self.start.elapsed().as_secs_f64(),
        }
    }
}

/// Seconds that this process has computed, if the system tells.
fn computed() -> Option<f64> {
    /// The unit of the figures, on every Linux.
    const TICKS_PER_SECOND: f64 = 100.0;
    let figures = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut figures = figures.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || figures.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS_PER_SECOND)
}

/// A figure of this process's memory, in KiB; 0 where the system does not tell.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
