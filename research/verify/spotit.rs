//! SpotIt's solver stage alone: how many pairs can be encoded, by terms that are exact, and could without each extension of the encoding,
//! at which bound they are refuted, how many candidates a real SQLite confirms, what others' counterexamples add, and EX-SpotIt with and
//! without counterexamples that need a NULL in a key or a value off its type.
//!
//! ```sh
//! cargo xtask research spotit --data DATA --every 10 --solver z3
//! cargo xtask research spotit --data DATA --system csc_sql_7b --system slm_sql_0.5b --solver z3
//! ```
//! DATA has `bird/llm_nl2sql` (questions, predictions, labels on BIRD's databases) and `bird/schema_only`. Looked at are the answers that
//! the labels call right, of every so many questions; with `--system` those of `bird/predictions/dev` to superhero's questions instead,
//! with its rows. Rows count as a set. Rules and search do not run: each pair is verified as `verify --only solver` does.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::Value;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_prove::{Solver, SolverLimits};
use sqlgauge_search::{Contract, Need, Search, SearchOptions, Witness};
use sqlgauge_sql::derive::{Conversion, Fact, Facts};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};
use sqlgauge_sql::visit::each_expr;
use sqlgauge_verify::{OnlyStage, SolverRecord, Verdict, Verifier, VerifyOptions};

/// SpotIt's solver stage alone
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder with the data
    #[arg(long)]
    data: PathBuf,
    /// Take every so many questions
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// System whose answers to superhero's questions are taken; may be given several times
    #[arg(long = "system")]
    systems: Vec<String>,
    /// The greatest bound
    #[arg(long, default_value_t = 5)]
    bound: usize,
    /// Seconds for a pair
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The solver Z3
    #[arg(long)]
    solver: Option<PathBuf>,
}

/// An answer that the labels call right.
struct Answer {
    system: usize,
    question: usize,
    schema: Arc<Schema>,
    gold: String,
    prediction: String,
    /// What the solver did; `None` where SQLite refuses a text.
    work: Option<SolverRecord>,
    refuted: Option<(Witness, Vec<Need>)>,
    is_proved: bool,
    took: Duration,
    /// Whether another system's counterexample refutes it.
    is_refuted_by_others: bool,
}

/// What is looked at.
struct Answers {
    systems: Vec<String>,
    right: Vec<Answer>,
    /// Those of them with a right or a wrong answer.
    questions: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let path = std::env::var_os("PATH");
    let program = sqlgauge_prove::locate(arguments.solver.as_deref(), path.as_deref())?;
    let mut solver = Solver::new(program, SolverLimits::default());
    let Answers { systems, right: mut answers, questions } =
        if arguments.systems.is_empty() { read(&arguments)? } else { of_superhero(&arguments)? };
    println!(
        "{} answers that the labels call right, of {} systems on {questions} questions",
        answers.len(),
        systems.len()
    );
    verify_all(&arguments, &mut answers, &mut solver)?;
    reuse(&mut answers)?;
    print_curves(&systems, &answers, &arguments);
    print_inexact(&answers);
    print_extensions(&answers);
    print_accuracies(&systems, &answers, questions);
    Ok(())
}

fn contract() -> Contract {
    Contract { semantics: Semantics::Set, ..Contract::default() }
}

fn verify_all(arguments: &Arguments, answers: &mut [Answer], solver: &mut Solver) -> Result<()> {
    let options = VerifyOptions {
        semantics: Semantics::Set,
        bound: arguments.bound,
        solver_time: Duration::from_secs(arguments.seconds),
        only: Some(OnlyStage::Solver),
        ..VerifyOptions::default()
    };
    let mut verifiers: BTreeMap<usize, Verifier> = BTreeMap::new();
    for answer in answers {
        let key = Arc::as_ptr(&answer.schema).addr();
        let verifier = match verifiers.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Verifier::new(Arc::clone(&answer.schema), options)?),
        };
        let begun = Instant::now();
        let Ok(report) = verifier.verify(&answer.gold, &answer.prediction, Some(solver)) else {
            continue;
        };
        answer.took = begun.elapsed();
        answer.is_proved = matches!(report.verdict, Verdict::EquivalentUpTo(_));
        if let Verdict::Different(counterexample) = &report.verdict {
            let refutation = &counterexample.refutation;
            answer.refuted = Some((refutation.database().clone(), refutation.needs().to_vec()));
        }
        answer.work = report.solver;
    }
    Ok(())
}

/// Tries the counterexamples to other systems' answers to the same question.
fn reuse(answers: &mut [Answer]) -> Result<()> {
    let mut witnesses: BTreeMap<usize, Vec<Witness>> = BTreeMap::new();
    for answer in &*answers {
        let witness = answer.refuted.iter().map(|(witness, _)| witness.clone());
        witnesses.entry(answer.question).or_default().extend(witness);
    }
    for answer in answers.iter_mut().filter(|answer| answer.refuted.is_none()) {
        let options = SearchOptions { contract: contract(), ..SearchOptions::default() };
        let search = Search::new(Arc::clone(&answer.schema), options)?;
        let refutes = |witness: &Witness| search.replay(witness, &answer.gold, &answer.prediction).is_some();
        answer.is_refuted_by_others = witnesses[&answer.question].iter().any(refutes);
    }
    Ok(())
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The rows of the paper, one for each system and one for all.
fn print_curves(systems: &[String], answers: &[Answer], arguments: &Arguments) {
    let bounds: Vec<String> = (1..=arguments.bound).map(|k| format!(" at {k} |")).collect();
    let bounds = bounds.concat();
    println!(
        "| system | pairs | encoded % | exactly % |{bounds} equal | open | confirmed % | seconds |\n|{}",
        "---|".repeat(8 + arguments.bound)
    );
    let of_system = |at: usize| answers.iter().filter(|answer| answer.system == at).collect();
    for (at, system) in systems.iter().enumerate() {
        print_curve(system, &of_system(at), arguments.bound);
    }
    print_curve("all", &answers.iter().collect(), arguments.bound);
    println!();
}

fn print_curve(name: &str, answers: &Vec<&Answer>, bound: usize) {
    let works = || answers.iter().filter_map(|answer| answer.work.as_ref());
    let encoded = works().filter(|work| work.encoded).count();
    let exact = works().filter(|work| work.is_exact()).count();
    let refuted_at = |k: usize| {
        let is_at = |answer: &&&Answer| answer.work.as_ref().is_some_and(|work| work.bound == Some(k));
        answers.iter().filter(|answer| answer.refuted.is_some()).filter(is_at).count()
    };
    let at: Vec<String> = (1..=bound).map(|k| format!(" {} |", refuted_at(k))).collect();
    let at = at.concat();
    let proved = answers.iter().filter(|answer| answer.is_proved).count();
    let refuted = answers.iter().filter(|answer| answer.refuted.is_some()).count();
    let (candidates, confirmed): (usize, usize) =
        works().fold((0, 0), |(all, good), work| (all + work.candidates, good + work.confirmed));
    let seconds: f64 = answers.iter().map(|answer| answer.took.as_secs_f64()).sum();
    println!(
        "| {name} | {} | {:.2} | {:.2} |{at} {proved} | {} | {:.1} | {:.2} |",
        answers.len(),
        percent(encoded, answers.len()),
        percent(exact, answers.len()),
        answers.len() - proved - refuted,
        percent(confirmed, candidates),
        seconds / answers.len().max(1) as f64
    );
}

/// What keeps pairs from being encoded exactly, the most frequent first.
fn print_inexact(answers: &[Answer]) {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for work in answers.iter().filter_map(|answer| answer.work.as_ref()) {
        let distinct: BTreeSet<&str> = work.inexact.iter().map(String::as_str).collect();
        distinct.into_iter().for_each(|call| *calls.entry(call).or_default() += 1);
    }
    let mut calls: Vec<(&str, usize)> = calls.into_iter().collect();
    calls.sort_by_key(|&(call, count)| (std::cmp::Reverse(count), call));
    println!("| inexact call | pairs |\n|---|---|");
    for (call, count) in calls.into_iter().take(20) {
        println!("| `{}` | {count} |", call.replace('|', "\\|"));
    }
    println!();
}

/// What SpotIt adds to the checker that it is built on, and windows, which neither has.
const EXTENSIONS: [&str; 4] = ["dates", "texts", "conversions", "windows"];

/// How many pairs an encoding without each of the extensions would leave out.
fn print_extensions(answers: &[Answer]) {
    let used: Vec<[bool; 4]> = answers.iter().map(of_pair).collect();
    let share = |count: usize| 100.0 * count as f64 / answers.len().max(1) as f64;
    println!("| without | encoded, % of the pairs |\n|---|---|");
    let without = |lacks: &dyn Fn(&[bool; 4]) -> bool| {
        let encoded = answers
            .iter()
            .zip(&used)
            .filter(|(answer, used)| answer.work.as_ref().is_some_and(|work| work.encoded) && !lacks(used));
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

fn print_accuracies(systems: &[String], answers: &[Answer], questions: usize) {
    println!(
        "| system | EX | EX-SpotIt | with others' counterexamples | without NULL in a key or a value off its type |\n|---|---|---|---|---|"
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
        let by_others = of_system.iter().filter(|answer| answer.is_refuted_by_others).count();
        println!(
            "| {system} | {:.1} | {:.1} | {:.1} | {:.1} |",
            share(all),
            share(all - refuted),
            share(all - refuted - by_others),
            share(all - plainly)
        );
    }
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

impl Answer {
    fn new(
        (system, question): (usize, usize),
        schema: &Arc<Schema>,
        (gold, prediction): (&str, &str),
    ) -> Self {
        Self {
            system,
            question,
            schema: Arc::clone(schema),
            gold: gold.to_owned(),
            prediction: prediction.to_owned(),
            work: None,
            refuted: None,
            is_proved: false,
            took: Duration::ZERO,
            is_refuted_by_others: false,
        }
    }
}

/// The answers of the systems that are named to superhero's questions.
fn of_superhero(arguments: &Arguments) -> Result<Answers> {
    let bird = arguments.data.join("bird");
    let questions: Vec<Value> = serde_json::from_str(&text(&bird.join("dev.json"))?)?;
    let labels: Value = serde_json::from_str(&text(&bird.join("ex_set_superhero.json"))?)?;
    let engine = SqliteEngine::new(Limits::default());
    let database = engine.open(&bird.join("database/superhero/superhero.sqlite"))?;
    let schema = &database.kept_schema(&engine).schema;
    let mut answers = Vec::new();
    let is_of_superhero = |(_, question): &(usize, &Value)| question["db_id"] == "superhero";
    let of_superhero: Vec<(usize, &Value)> =
        questions.iter().enumerate().filter(is_of_superhero).step_by(arguments.every.max(1)).collect();
    for (system, name) in arguments.systems.iter().enumerate() {
        let path = bird.join(format!("predictions/dev/{name}.json"));
        let predictions: Value = serde_json::from_str(&text(&path)?)?;
        ensure!(labels[name].is_object(), "{name} has no labels on superhero");
        for &(question, item) in &of_superhero {
            let id = question.to_string();
            if labels[name][&id] != true {
                continue;
            }
            let (Some(gold), Some(prediction)) = (item["SQL"].as_str(), predictions[&id].as_str()) else {
                continue;
            };
            // What follows the query names its database.
            let prediction = prediction.split("\t----- bird -----").next().unwrap_or_default();
            answers.push(Answer::new((system, question), schema, (gold, prediction)));
        }
    }
    Ok(Answers { systems: arguments.systems.clone(), right: answers, questions: of_superhero.len() })
}

fn read(arguments: &Arguments) -> Result<Answers> {
    let bird = arguments.data.join("bird");
    let folder = bird.join("llm_nl2sql");
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
            let gold = text_of("SQL");
            answers.push(Answer::new((system, at), &schemas[&db], (&gold, prediction)));
        }
    }
    Ok(Answers { systems, right: answers, questions: count })
}
