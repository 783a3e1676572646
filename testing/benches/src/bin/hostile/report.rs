//! What became of the runs, a line for each case and command.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sqlgauge_benches::Ended;

/// After which a command is killed.
pub(crate) const END: Duration = Duration::from_secs(90);

/// What a command may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) seconds: f64,
    pub(crate) mib: f64,
}

/// What every command may take.
pub(crate) const LIMIT: Limit = Limit { seconds: 5.0, mib: 300.0 };

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
    seconds: f64,
    mib: f64,
    /// What broke a rule first.
    fault: Option<String>,
    /// The last sentence of an error.
    said: String,
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
        let (seconds, mib) = (ended.took.wall.as_secs_f64(), ended.took.peak_mib());
        let end = End::of(ended);
        let said: String = ended.error.lines().last().unwrap_or_default().chars().take(70).collect();
        let too_much = (seconds > limit.seconds || mib > limit.mib)
            .then(|| format!("above {} s or {} MiB", limit.seconds, limit.mib));
        let undocumented = (!end.is_documented()).then(|| format!("{end}: {said}"));
        let fault = undocumented.or(wrong).or(too_much);
        self.runs += 1;
        self.broken += usize::from(fault.is_some());
        self.panics += usize::from(end == End::Panicked);
        println!(
            "{case:<22} {command:<26} {seconds:>8.2} {mib:>9.1}  {end} {}",
            fault.as_deref().unwrap_or("")
        );
        let line = self.lines.entry((part, case.to_owned(), command.to_owned())).or_default();
        *line.ends.entry(end).or_default() += 1;
        line.seconds = line.seconds.max(seconds);
        line.mib = line.mib.max(mib);
        line.fault = line.fault.take().or(fault);
        if end == End::Refused {
            line.said = said;
        }
    }

    /// Runs that broke a rule.
    pub(crate) fn broken(&self) -> usize {
        self.broken
    }

    /// The table, in Markdown.
    pub(crate) fn print(&self) {
        println!(
            "\n| part | case | command | ends | most time | most memory | |\n|---|---|---|---|---|---|---|"
        );
        for ((part, case, command), line) in &self.lines {
            let ends: Vec<String> = line.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
            let note = line.fault.as_ref().map_or_else(|| line.said.clone(), |fault| format!("**{fault}**"));
            let (seconds, mib) = (line.seconds, line.mib);
            println!(
                "| {part} | {case} | `{command}` | {} | {seconds:.1} s | {mib:.0} MiB | {} |",
                ends.join(", "),
                note.replace('|', "\\|")
            );
        }
        println!("\n{} runs, {} panics, {} that broke a rule", self.runs, self.panics, self.broken);
    }
}
