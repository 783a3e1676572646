//! What several programs and tests share: texts that grow, what is done with them, the protocols of `bench-estimators`, time and
//! memory of a child process.

#[path = "grow/analyses.rs"]
pub mod analyses;
#[path = "estimation/bench/mod.rs"]
pub mod bench;
#[path = "grow/constructs.rs"]
pub mod constructs;

use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// What one process took.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// From start to end.
    pub wall: Duration,
    /// On all cores, of the process and of those that it waited for.
    pub cpu: Duration,
    /// The high-water mark of resident memory.
    pub peak_kib: u64,
}

impl Measured {
    /// The high-water mark in MiB.
    pub fn peak_mib(&self) -> f64 {
        self.peak_kib as f64 / 1024.0
    }
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// What it took.
    pub took: Measured,
    /// Its exit code; `None` where a signal ended it, or the limit of time.
    pub code: Option<i32>,
    /// What it wrote to standard error.
    pub error: String,
}

/// Runs a command to its end, which must be a good one. Needs Linux's `/proc` for all but the wall-clock time.
///
/// # Errors
/// When the command cannot be started or fails; the error has what it wrote to standard error.
pub fn measure(command: &mut Command) -> Result<Measured> {
    let ended = measure_within(command, Duration::MAX)?;
    ensure!(ended.code == Some(0), "{command:?} failed: {}", ended.error);
    Ok(ended.took)
}

/// Runs a command to its end, whatever that is, or kills it after that time.
///
/// # Errors
/// When the command cannot be started.
pub fn measure_within(command: &mut Command, limit: Duration) -> Result<Ended> {
    let cpu_before = cpu_of_children().unwrap_or_default();
    // A file, since nobody reads a pipe meanwhile.
    let mut written = tempfile::tempfile()?;
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(written.try_clone()?).spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak_kib = peak_kib.max(peak_memory(&status_file).unwrap_or_default());
        if started.elapsed() > limit {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = started.elapsed();
    let cpu = cpu_of_children().unwrap_or_default().saturating_sub(cpu_before);
    let mut bytes = Vec::new();
    written.rewind()?;
    written.read_to_end(&mut bytes)?;
    let error = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Ended { took: Measured { wall, cpu, peak_kib }, code: status.code(), error })
}

fn peak_memory(status_file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status_file).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The time of all children that this process has waited for.
fn cpu_of_children() -> Option<Duration> {
    /// Linux counts in hundredths of a second, whatever the kernel's own clock.
    const MILLISECONDS_PER_TICK: u64 = 10;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks(13)? + ticks(14)?) * MILLISECONDS_PER_TICK))
}
