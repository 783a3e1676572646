//! What became of the runs, a line for each case and command.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sqlgauge_research::Ended;

/// After which a command is killed, whatever it waits for.
pub(crate) const END: Duration = Duration::from_mins(10);

/// What a command may take. It may compute for so many seconds: time by the clock would count what else the machine does, so that
/// counts only where a command waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) cpu_seconds: f64,
    pub(crate) wall_seconds: f64,
    pub(crate) mib: f64,
}

/// What every command may take.
pub(crate) const LIMIT: Limit = Limit { cpu_seconds: 5.0, wall_seconds: 600.0, mib: 300.0 };

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Code 0.
    Done,
    /// Code 1: the queries differ, a bar is not reached.
    Differs,
    /// Code 2, with a sentence.
    Refused,
    /// Code 3: not known.
    Unknown,
    /// The build lacks the part that was asked for.
    LeftOut,
    /// A panic, whatever the code.
    Panicked,
    /// Another code, or code 2 without a sentence.
    Undocumented,
    /// Killed after [`END`], or ended by a signal.
    Killed,
}

impl End {
    fn of(ended: &Ended) -> Self {
        if ended.error.contains("panicked") || ended.error.contains("defect of its own") {
            return Self::Panicked;
        }
        match ended.code {
            Some(0) => Self::Done,
            Some(1) => Self::Differs,
            Some(2) if ended.error.contains("--features") => Self::LeftOut,
            Some(2) if ended.error.contains("error: ") => Self::Refused,
            Some(3) => Self::Unknown,
            Some(_) => Self::Undocumented,
            None => Self::Killed,
        }
    }

    fn is_documented(self) -> bool {
        self < Self::Panicked
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done (0)",
            Self::Differs => "differs (1)",
            Self::Refused => "refused (2)",
            Self::Unknown => "unknown (3)",
            Self::LeftOut => "not in this build (2)",
            Self::Panicked => "PANIC",
            Self::Undocumented => "UNDOCUMENTED",
            Self::Killed => "KILLED",
        })
    }
}

/// The runs of one case and command.
#[derive(Debug, Default)]
struct Line {
    ends: BTreeMap<End, usize>,
    cpu_seconds: f64,
    wall_seconds: f64,
    mib: f64,
    /// What broke a rule first.
    fault: Option<String>,
    /// The last sentence of an error.
    sentence: String,
}

/// All runs.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: BTreeMap<(&'static str, String, String), Line>,
    runs: usize,
    broken: usize,
    panics: usize,
}

impl Report {
    /// Takes in a run. `wrong` says what is wrong with what it left, if anything is.
    pub(crate) fn add(
        &mut self,
        (part, case, command): (&'static str, &str, &str),
        ended: &Ended,
        limit: Limit,
        wrong: Option<String>,
    ) {
        let (wall, mib) = (ended.took.wall.as_secs_f64(), ended.took.peak_mib());
        let cpu = ended.took.cpu.as_secs_f64();
        let end = End::of(ended);
        let sentence: String = ended.error.lines().last().unwrap_or_default().chars().take(70).collect();
        let is_above = cpu > limit.cpu_seconds || wall > limit.wall_seconds || mib > limit.mib;
        let too_much = is_above.then(|| format!("above {} s or {} MiB", limit.cpu_seconds, limit.mib));
        let undocumented = (!end.is_documented()).then(|| format!("{end}: {sentence}"));
        let fault = undocumented.or(wrong).or(too_much);
        self.runs += 1;
        self.broken += usize::from(fault.is_some());
        self.panics += usize::from(end == End::Panicked);
        println!(
            "{case:<22} {command:<26} {wall:>8.2} {cpu:>8.2} {mib:>9.1}  {end} {}",
            fault.as_deref().unwrap_or("")
        );
        let line = self.lines.entry((part, case.to_owned(), command.to_owned())).or_default();
        *line.ends.entry(end).or_default() += 1;
        line.wall_seconds = line.wall_seconds.max(wall);
        line.cpu_seconds = line.cpu_seconds.max(cpu);
        line.mib = line.mib.max(mib);
        line.fault = line.fault.take().or(fault);
        if end == End::Refused {
            line.sentence = sentence;
        }
    }

    /// Runs that broke a rule.
    pub(crate) fn broken(&self) -> usize {
        self.broken
    }

    /// The table, in Markdown.
    pub(crate) fn print(&self) {
        println!("\n| part | case | command | ends | CPU, at most | wall, at most | memory, at most | |");
        println!("|---|---|---|---|---|---|---|---|");
        for ((part, case, command), line) in &self.lines {
            let ends: Vec<String> = line.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
            let note =
                line.fault.as_ref().map_or_else(|| line.sentence.clone(), |fault| format!("**{fault}**"));
            let Line { cpu_seconds, wall_seconds, mib, .. } = line;
            println!(
                "| {part} | {case} | `{command}` | {} | {cpu_seconds:.1} s | {wall_seconds:.1} s | {mib:.0} MiB | {} |",
                ends.join(", "),
                note.replace('|', "\\|")
            );
        }
        println!("\n{} runs, {} panics, {} that broke a rule", self.runs, self.panics, self.broken);
    }
}
