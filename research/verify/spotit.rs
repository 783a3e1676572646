//! SpotIt's solver stage alone: what each bound adds and costs, how many pairs can be encoded, and could without each extension of the
//! encoding, how many candidates a real SQLite replays, and EX-SpotIt with and without counterexamples that need a NULL in a key or a value off its type.
//!
//! ```sh
//! cargo xtask research spotit --data DATA --every 10 --solver z3
//! ```
//! DATA has `bird/llm_nl2sql` (questions, predictions, labels on BIRD's databases) and `bird/schema_only`. Looked at are the answers that
//! the labels call right, of every so many questions; rows count as a set. Rules and search do not run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::Value;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_prove::{Bounds, ProofOutcome, ResultSemantics, Solver, SolverLimits};
use sqlgauge_search::{Contract, Need, Search, SearchOptions, Witness};
use sqlgauge_sql::derive::{Conversion, Fact, Facts};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};
use sqlgauge_sql::visit::each_expr;

/// SpotIt's solver stage alone
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder with the data
    #[arg(long)]
    data: PathBuf,
    /// Take every so many questions
    #[arg(long, default_value_t = 10)]
    every: usize,
    /// The greatest bound
    #[arg(long, default_value_t = 5)]
    bound: usize,
    /// Seconds for a pair at one bound
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// The solver Z3
    #[arg(long)]
    solver: Option<PathBuf>,
}

/// An answer that the labels call right.
struct Answer {
    system: usize,
    schema: Arc<Schema>,
    gold: String,
    prediction: String,
    /// The bound and the needs of the counterexample.
    refuted: Option<(usize, Vec<Need>)>,
    is_closed: bool,
    is_encoded: bool,
}

/// What one bound did.
#[derive(Default)]
struct OfBound {
    pairs: usize,
    refuted: usize,
    took: Duration,
    candidates: usize,
    replayed: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let path = std::env::var_os("PATH");
    let program = sqlgauge_prove::locate(arguments.solver.as_deref(), path.as_deref())?;
    let time = Duration::from_secs(arguments.seconds);
    let mut solver = Solver::new(program, SolverLimits { time, ..SolverLimits::default() });
    let (systems, mut answers, questions) = read(&arguments)?;
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    println!(
        "{} answers that the labels call right, of {} systems on {questions} questions",
        answers.len(),
        systems.len()
    );
    println!("| bound | asked | refuted | candidates | replayed | seconds |\n|---|---|---|---|---|---|");
    for bound in 1..=arguments.bound {
        let mut row = OfBound::default();
        for answer in answers.iter_mut().filter(|answer| !answer.is_closed) {
            ask(answer, bound, time, &mut solver, &mut row, &mut unsupported)?;
        }
        let OfBound { pairs, refuted, took, candidates, replayed } = row;
        println!("| {bound} | {pairs} | {refuted} | {candidates} | {replayed} | {:.1} |", took.as_secs_f64());
    }
    let open: usize = unsupported.values().sum();
    let share = 100.0 * (answers.len() - open) as f64 / answers.len().max(1) as f64;
    println!("\nencoded: {share:.2} % of {} pairs; not encoded: {unsupported:?}\n", answers.len());
    print_extensions(&answers);
    print_accuracies(&systems, &answers, questions);
    Ok(())
}

/// What SpotIt adds to the checker that it is built on, and windows, which neither has.
const EXTENSIONS: [&str; 4] = ["dates", "texts", "conversions", "windows"];

/// How many pairs an encoding without each of the extensions would leave out.
fn print_extensions(answers: &[Answer]) {
    let used: Vec<[bool; 4]> = answers.iter().map(of_pair).collect();
    let share = |count: usize| 100.0 * count as f64 / answers.len().max(1) as f64;
    println!("| without | encoded, % of the pairs |\n|---|---|");
    let without = |lacks: &dyn Fn(&[bool; 4]) -> bool| {
        let encoded = answers.iter().zip(&used).filter(|(answer, used)| answer.is_encoded && !lacks(used));
        share(encoded.count())
    };
    println!("| nothing | {:.1} |", without(&|_| false));
    for (at, extension) in EXTENSIONS.iter().enumerate() {
        println!("| {extension} | {:.1} |", without(&|used| used[at]));
    }
    println!("| dates, texts and conversions | {:.1} |", without(&|used| used[..3].contains(&true)));
    println!("| all of them | {:.1} |\n", without(&|used| used.contains(&true)));
}

/// Which extensions the two queries of a pair need.
fn of_pair(answer: &Answer) -> [bool; 4] {
    let mut used = [false; 4];
    for text in [&answer.gold, &answer.prediction] {
        let Ok(query) = resolve(text, &answer.schema) else { continue };
        let facts = Facts::of(&query, &answer.schema);
        each_expr(&query, |expr| {
            let of_expr = [is_of_dates(expr), is_of_texts(expr), converts(expr, &facts), is_window(expr)];
            used.iter_mut().zip(of_expr).for_each(|(used, is)| *used |= is);
        });
    }
    used
}

fn is_of_dates(expr: &Expr) -> bool {
    matches!(expr, Expr::Function { function, .. } if function.properties().may_read_clock)
}

/// LIKE and GLOB, `||`, and the functions of texts.
fn is_of_texts(expr: &Expr) -> bool {
    const FUNCTIONS: [&str; 16] = [
        "char",
        "concat",
        "concat_ws",
        "format",
        "hex",
        "instr",
        "length",
        "lower",
        "ltrim",
        "printf",
        "replace",
        "rtrim",
        "substr",
        "substring",
        "trim",
        "upper",
    ];
    match expr {
        Expr::Like { .. } | Expr::Binary(BinaryOperator::Concat, ..) => true,
        Expr::Function { function, .. } => FUNCTIONS.contains(&function.name()),
        Expr::Aggregate(aggregate) => aggregate.function == Function::GroupConcat,
        _ => false,
    }
}

/// CAST, and a comparison of a column with a constant of the other kind.
fn converts(expr: &Expr, facts: &Facts<'_>) -> bool {
    let Expr::Binary(operator, left, right) = expr else { return matches!(expr, Expr::Cast { .. }) };
    if !operator.is_comparison() {
        return false;
    }
    let is_text = |side: &Expr| matches!(side, Expr::Literal(Literal::Text(_)));
    let is_number = |side: &Expr| matches!(side, Expr::Literal(Literal::Integer(_) | Literal::Real(_)));
    match facts.comparison(left, right).conversion {
        Fact::Known(Conversion::ToNumber) => is_text(left) || is_text(right),
        Fact::Known(Conversion::ToText) => is_number(left) || is_number(right),
        _ => false,
    }
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::Window(_))
}

fn ask(
    answer: &mut Answer,
    bound: usize,
    time: Duration,
    solver: &mut Solver,
    row: &mut OfBound,
    unsupported: &mut BTreeMap<String, usize>,
) -> Result<()> {
    let contract = Contract { semantics: Semantics::Set, ..Contract::default() };
    let search =
        Search::new(Arc::clone(&answer.schema), SearchOptions { contract, ..SearchOptions::default() })?;
    let (Ok(left), Ok(right)) =
        (resolve(&answer.gold, &answer.schema), resolve(&answer.prediction, &answer.schema))
    else {
        (answer.is_closed, answer.is_encoded) = (true, false);
        *unsupported.entry("not resolved".to_owned()).or_default() += 1;
        return Ok(());
    };
    let (mut candidates, mut replayed) = (0, 0);
    let mut replay = |database: &Witness| {
        let difference = search.replay(database, &answer.gold, &answer.prediction);
        candidates += 1;
        replayed += usize::from(difference.is_some());
        difference
    };
    let bounds = Bounds { rows_per_table: bound, time, ..Bounds::default() };
    let begun = Instant::now();
    let pair = (&left, &right);
    let outcome =
        sqlgauge_prove::bounded(&answer.schema, pair, ResultSemantics::Set, bounds, solver, &mut replay);
    row.pairs += 1;
    row.took += begun.elapsed();
    row.candidates += candidates;
    row.replayed += replayed;
    match outcome {
        ProofOutcome::Different { found: difference, .. } => {
            let smaller = search.minimise(&difference, &answer.gold, &answer.prediction);
            answer.refuted = Some((bound, smaller.needs().to_vec()));
            answer.is_closed = true;
            row.refuted += 1;
        }
        ProofOutcome::Unsupported { construct } => {
            *unsupported.entry(construct).or_default() += 1;
            (answer.is_closed, answer.is_encoded) = (true, false);
        }
        ProofOutcome::NoDifference { .. } | ProofOutcome::Unknown { .. } => {}
    }
    Ok(())
}

fn print_accuracies(systems: &[String], answers: &[Answer], questions: usize) {
    println!(
        "| system | EX | EX-SpotIt | without NULL in a key or a value off its type |\n|---|---|---|---|"
    );
    for (at, system) in systems.iter().enumerate() {
        let of_system: Vec<&Answer> = answers.iter().filter(|answer| answer.system == at).collect();
        let is_strange = |need: &Need| matches!(need, Need::NullInKey | Need::ValueOffType);
        let refuted = of_system.iter().filter(|answer| answer.refuted.is_some()).count();
        let plainly = of_system
            .iter()
            .filter(|answer| answer.refuted.as_ref().is_some_and(|(_, needs)| !needs.iter().any(is_strange)));
        let share = |count: usize| 100.0 * count as f64 / questions as f64;
        let (all, plainly) = (of_system.len(), plainly.count());
        println!(
            "| {system} | {:.1} | {:.1} | {:.1} |",
            share(all),
            share(all - refuted),
            share(all - plainly)
        );
    }
}

fn read(arguments: &Arguments) -> Result<(Vec<String>, Vec<Answer>, usize)> {
    let bird = arguments.data.join("bird");
    let folder = bird.join("llm_nl2sql");
    let text = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let questions: Vec<Value> = serde_json::from_str(&text(&folder.join("questions.json"))?)?;
    let labels = text(&folder.join("correct.tsv"))?;
    let mut lines = labels.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    ensure!(head.len() > 3, "correct.tsv has no systems");
    let systems: Vec<String> = head[3..].iter().map(|name| (*name).to_owned()).collect();
    let mut predictions = Vec::new();
    for system in &systems {
        let lines = text(&folder.join(format!("predictions/{system}.sql")))?;
        predictions.push(lines.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    let engine = SqliteEngine::new(Limits::default());
    let mut schemas: BTreeMap<String, Arc<Schema>> = BTreeMap::new();
    let mut answers = Vec::new();
    let mut count = 0;
    for (at, (question, line)) in questions.iter().zip(lines).enumerate().step_by(arguments.every.max(1)) {
        count += 1;
        let text_of = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
        let db = text_of("db_id");
        if !schemas.contains_key(&db) {
            let database = engine.open(&bird.join(format!("schema_only/{db}/{db}.sqlite")))?;
            schemas.insert(db.clone(), Arc::clone(database.schema()));
        }
        for (system, label) in line.split('\t').skip(3).enumerate().filter(|(_, label)| *label == "1") {
            let Some(prediction) = predictions.get(system).and_then(|texts| texts.get(at)) else { continue };
            ensure!(
                label == "1" && system < systems.len(),
                "correct.tsv line {}: more labels than systems",
                at + 2
            );
            answers.push(Answer {
                system,
                schema: Arc::clone(&schemas[&db]),
                gold: text_of("SQL"),
                prediction: prediction.clone(),
                refuted: None,
                is_closed: false,
                is_encoded: true,
            });
        }
    }
    Ok((systems, answers, count))
}
