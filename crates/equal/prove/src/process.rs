//! The solver as a child process that speaks SMT-LIB 2 over its standard input and output.
//!
//! # Contract
//! One [`Solver`] serves one thread, question after question. The solver forgets each before the next and counts its steps, so
//! that an answer depends on the question alone and neither on the questions before nor on the load of the machine. Time is the
//! outer net: every question ends within its limit and a moment. A solver that hangs, floods, dies or says anything else is
//! killed, and the next question starts a new one. What was asked then has a [`SolverFailure`] for an outcome; nothing else is lost.
//!
//! Reading and writing are done by threads of their own, so that neither a solver that never reads nor one that never
//! writes can hold the caller.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use sqlgauge_base::child::Family;
use sqlgauge_base::program;

/// What a solver may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolverLimits {
    /// Wall-clock time of one question.
    pub time: Duration,
    pub memory_mib: u32,
}

impl Default for SolverLimits {
    fn default() -> Self {
        Self { time: Duration::from_mins(5), memory_mib: 512 }
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SolverFailure {
    /// It took too long.
    #[error("timeout")]
    Timeout,
    /// It took too many steps.
    #[error("steps")]
    Steps,
    /// It took too much memory.
    #[error("memory")]
    Memory,
    /// It ended, or said what is no answer.
    #[error("died")]
    Died,
    /// It could not be started.
    #[error("missing")]
    Missing,
    /// It gave up without saying why in words that are known.
    #[error("incomplete")]
    Incomplete,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {}", SOLVER_REMEDY)]
pub struct NoSolver {
    what: String,
}

/// What to do about a solver that is missing.
pub const SOLVER_REMEDY: &str =
    "install Z3 with `pip install z3-solver`, or name the program with --solver PATH";

/// Finds the solver's program: the one that is named (by an option, or in the environment), else `z3` in the absolute
/// entries of the search path, else where Python's packages have their programs. The path is absolute.
///
/// # Errors
/// When there is none; a name that is given and leads nowhere is never replaced by another.
pub fn locate(named: Option<&Path>, search_path: Option<&OsStr>) -> Result<PathBuf, NoSolver> {
    if let Some(named) = named {
        let path = program::find(named, search_path).map_err(|error| NoSolver { what: error.to_string() })?;
        let missing = || NoSolver { what: format!("there is no solver at {}", path.display()) };
        return if path.is_file() { Ok(path) } else { Err(missing()) };
    }
    let missing = || NoSolver { what: "the solver z3 was not found".to_owned() };
    program::find(Path::new("z3"), search_path).ok().or_else(beside_python).ok_or_else(missing)
}

/// Where the package `z3-solver` of Python puts the program, if there is a Python. A Python takes longer to start than
/// most pairs to verify, so that one is asked once in a process.
fn beside_python() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(ask_python).clone()
}

fn ask_python() -> Option<PathBuf> {
    const ASK: &str = "import os, sysconfig\n\
        for scheme in (None, os.name + '_user'):\n    \
            print(sysconfig.get_path('scripts', scheme) if scheme else sysconfig.get_path('scripts'))";
    let mut python = program::python(Path::new("python3")).ok()?;
    let output = python.args(["-c", ASK]).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    // A relative folder would lie in the working directory, so the answer is searched as PATH is.
    text.lines().find_map(|folder| program::find(Path::new("z3"), Some(folder.as_ref())).ok())
}

/// What a solver says of a set of assertions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SolverAnswer {
    /// They contradict each other.
    Unsatisfiable,
    /// They hold under these values of the asked terms, as the solver spelled them, in their order.
    Satisfiable(Vec<Sexp>),
}

/// Most bytes of one answer.
const MAX_ANSWER_BYTES: usize = 8 << 20;
/// What the process may take beyond its own time limit before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Steps of a solver that is not told how many it may take: some seconds of an idle machine.
pub const STEPS: u64 = 6_000_000;

/// A solver; its process is started when it is first needed.
#[derive(Debug)]
pub struct Solver {
    program: PathBuf,
    limits: SolverLimits,
    running: Option<Running>,
    questions: u64,
    started: u64,
    /// The steps that are left.
    steps: u64,
}

#[derive(Debug)]
struct Running {
    /// A script around the solver ends with the solver.
    _family: Family,
    to: Sender<String>,
    from: Receiver<String>,
}

impl Solver {
    pub fn new(program: impl Into<PathBuf>, limits: SolverLimits) -> Self {
        Self { program: program.into(), limits, running: None, questions: 0, started: 0, steps: STEPS }
    }

    /// Lets it take so many steps from here on, in all questions together.
    pub fn allow(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// How often the process had to be started.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Whether those assertions can hold, and if so under which values of those terms. `script` declares and asserts;
    /// it is forgotten afterwards.
    ///
    /// # Errors
    /// A [`SolverFailure`]; the solver can be asked again.
    pub fn check(
        &mut self,
        script: &str,
        terms: &[String],
        time: Duration,
    ) -> Result<SolverAnswer, SolverFailure> {
        if self.steps == 0 {
            return Err(SolverFailure::Steps);
        }
        let deadline = Instant::now() + time.min(self.limits.time);
        let answer = self.ask(script, terms, deadline);
        if matches!(answer, Err(SolverFailure::Timeout | SolverFailure::Memory | SolverFailure::Died)) {
            self.running = None;
        }
        answer
    }

    fn ask(
        &mut self,
        script: &str,
        terms: &[String],
        deadline: Instant,
    ) -> Result<SolverAnswer, SolverFailure> {
        let left = deadline.saturating_duration_since(Instant::now()).as_millis().max(1);
        // Between a push and a pop the solver works as it does from question to question, which is fastest here.
        let steps = self.steps;
        let verdict = self.exchange(
            &format!(
                "(reset)\n(set-option :timeout {left})\n(set-option :rlimit {steps})\n(push 1)\n{script}\n(check-sat)\n"
            ),
            deadline + GRACE,
        )?;
        let steps = self.exchange("(get-info :rlimit)\n", deadline + GRACE)?;
        self.steps = self.steps.saturating_sub(steps_of(&steps));
        let answer = match verdict.trim() {
            "unsat" => Ok(SolverAnswer::Unsatisfiable),
            "sat" => self.values(terms, deadline + GRACE).map(SolverAnswer::Satisfiable),
            "unknown" => Err(self.reason(deadline + GRACE)?),
            error if error.contains("memory") => Err(SolverFailure::Memory),
            error if error.contains("timeout") || error.contains("canceled") => Err(SolverFailure::Timeout),
            _ => Err(SolverFailure::Died),
        };
        self.exchange("(pop 1)\n", deadline + GRACE)?;
        answer
    }

    fn values(&mut self, terms: &[String], deadline: Instant) -> Result<Vec<Sexp>, SolverFailure> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let text = self.exchange(&format!("(get-value ({}))\n", terms.join(" ")), deadline)?;
        let Some(Sexp::List(pairs)) = Sexp::parse(&text) else { return Err(SolverFailure::Died) };
        let value = |pair: Sexp| match pair {
            Sexp::List(mut pair) if pair.len() == 2 => pair.pop(),
            _ => None,
        };
        let values: Option<Vec<Sexp>> = pairs.into_iter().map(value).collect();
        values.filter(|values| values.len() == terms.len()).ok_or(SolverFailure::Died)
    }

    fn reason(&mut self, deadline: Instant) -> Result<SolverFailure, SolverFailure> {
        let text = self.exchange("(get-info :reason-unknown)\n", deadline)?;
        let is = |words: &[&str]| words.iter().any(|word| text.contains(word));
        Ok(if self.steps == 0 {
            SolverFailure::Steps
        } else if is(&["timeout", "canceled"]) {
            SolverFailure::Timeout
        } else if is(&["memout", "memory"]) {
            SolverFailure::Memory
        } else {
            SolverFailure::Incomplete
        })
    }

    /// Sends the commands and reads what comes back.
    fn exchange(&mut self, commands: &str, deadline: Instant) -> Result<String, SolverFailure> {
        self.questions += 1;
        let mark = format!("answered-{}", self.questions);
        let running = self.running()?;
        let text = format!("{commands}(echo \"{mark}\")\n");
        running.to.send(text).map_err(|_| SolverFailure::Died)?;
        let mut answer = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match running.from.recv_timeout(left) {
                Ok(line) if line.trim().trim_matches('"') == mark => return Ok(answer),
                Ok(line) => answer.push_str(&line),
                Err(RecvTimeoutError::Timeout) => return Err(SolverFailure::Timeout),
                Err(RecvTimeoutError::Disconnected) if answer.contains("memory") => {
                    return Err(SolverFailure::Memory);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(SolverFailure::Died),
            }
            if answer.len() > MAX_ANSWER_BYTES {
                return Err(SolverFailure::Died);
            }
        }
    }

    fn running(&mut self) -> Result<&mut Running, SolverFailure> {
        if self.running.is_none() {
            self.running = Some(start(&self.program, self.limits).ok_or(SolverFailure::Missing)?);
            self.started += 1;
        }
        self.running.as_mut().ok_or(SolverFailure::Missing)
    }
}

/// The steps that the answer to `(get-info :rlimit)` says; another solver may not count them.
fn steps_of(answer: &str) -> u64 {
    let digits: String = answer.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_default()
}

fn start(program: &Path, limits: SolverLimits) -> Option<Running> {
    let mut command = program::command(program).ok()?;
    command
        .args(["-in", "-smt2", &format!("-memory:{}", limits.memory_mib)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut family = Family::start(&mut command).ok()?;
    let (mut input, output) = (family.child().stdin.take()?, family.child().stdout.take()?);
    let (to, commands) = channel::<String>();
    let (lines, from) = sync_channel::<String>(1024);
    thread::spawn(move || {
        for text in commands {
            if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || read_lines(BufReader::new(output), &lines));
    Some(Running { _family: family, to, from })
}

/// Hands on line after line; one that is too long comes in pieces.
fn read_lines(mut output: impl BufRead, lines: &SyncSender<String>) {
    loop {
        let mut line = Vec::new();
        let limited = output.by_ref().take(1 << 20).read_until(b'\n', &mut line);
        if !matches!(limited, Ok(1..)) || lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}

/// A parenthesised expression, as solvers write values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sexp {
    /// A word.
    Atom(String),
    List(Vec<Sexp>),
}

impl Sexp {
    /// Reads the first expression of the text; `None` if there is no whole one.
    pub fn parse(text: &str) -> Option<Self> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut open: Vec<Vec<Self>> = Vec::new();
        for word in spaced.split_whitespace() {
            let done = match word {
                "(" => {
                    open.push(Vec::new());
                    continue;
                }
                ")" => Self::List(open.pop()?),
                atom => Self::Atom(atom.to_owned()),
            };
            match open.last_mut() {
                Some(around) => around.push(done),
                None => return Some(done),
            }
        }
        None
    }

    /// The word, if it is one.
    pub fn atom(&self) -> Option<&str> {
        match self {
            Self::Atom(atom) => Some(atom),
            Self::List(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_with_their_structure() {
        let read = Sexp::parse("((a (- 3))\n (b (/ 1.0 2.0)))").unwrap();
        let Sexp::List(pairs) = &read else { panic!("{read:?}") };
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs[0], Sexp::parse("(a (- 3))").unwrap());
        for broken in ["", "(", "((a)", ")"] {
            assert_eq!(Sexp::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_named_solver_that_is_not_there_is_an_error_that_says_what_to_do() {
        for named in ["/no/such/z3", "no/such/z3", "no-such-z3"] {
            let error = locate(Some(Path::new(named)), None).unwrap_err().to_string();
            assert!(error.contains(named) && error.contains("--solver"), "{error}");
        }
    }
}
