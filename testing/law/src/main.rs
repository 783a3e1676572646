//! Tries the law of tree matching on random queries; exit code 1 if a rule breaks it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use sqlgauge_law::encoder::construct::Construct;
use sqlgauge_law::encoder::{Tally, hunt_construct};
use sqlgauge_law::explain::explain;
use sqlgauge_law::hunt::{Findings, Options, hunt};
use sqlgauge_law::plant::Plant;
use sqlgauge_law::{contradict, plant, report};

/// Runs queries before and after every application of a rule on a real SQLite and compares the rows.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stop after so many applications of rules.
    #[arg(long, default_value_t = 1_000_000)]
    applications: u64,
    /// Stop after so many seconds.
    #[arg(long, default_value_t = 86_400)]
    seconds: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Seed of everything that is random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many different violations of one rule and kind to keep.
    #[arg(long, default_value_t = 6)]
    examples: usize,
    /// Instead: plant the defects of the registry, and say which are found within so many seconds.
    #[arg(long)]
    plants: Option<u64>,
    /// With --plants: the defect of that name, in every rule, registered or not.
    #[arg(long, requires = "plants")]
    defect: Option<String>,
    /// Instead: compare the symbolic execution of so many queries about each construct with SQLite.
    #[arg(long)]
    encoder: Option<usize>,
    /// Only the construct of that name, with --encoder.
    #[arg(long, requires = "encoder")]
    construct: Option<String>,
    /// Instead: make so many pairs, half of them equal by a rule and half near misses, and look for contradictions between
    /// the rules, the verifier and SQLite.
    #[arg(long)]
    pairs: Option<u64>,
    /// With --pairs: the solver for bounded proofs.
    #[arg(long, requires = "pairs")]
    solver: Option<PathBuf>,
    /// With --pairs: the rule that makes the pairs, with each defect that the registry has for it in turn.
    #[arg(long, requires = "pairs")]
    broken: Option<String>,
    /// With --pairs: `verify` forgets UNIQUE indexes that no constraint stands for
    #[arg(long, requires = "pairs")]
    forgets_indexes: bool,
    /// Instead: show the steps of one query over the schema of --ddl.
    #[arg(long, requires = "ddl")]
    sql: Option<String>,
    /// A file of statements that make a database.
    #[arg(long)]
    ddl: Option<PathBuf>,
    /// Also write the findings to this file, now and then and at the end.
    #[arg(long)]
    report: Option<PathBuf>,
}

fn defect(name: &str) -> anyhow::Result<Plant> {
    let all = Plant::all();
    let plant = all.iter().find(|plant| format!("{plant:?}").eq_ignore_ascii_case(name));
    plant.copied().ok_or_else(|| anyhow::anyhow!("there is no defect {name}; there are {all:?}"))
}

/// Exit code 1 if there is one, be a rule broken or not.
fn contradictions(arguments: &Arguments, pairs: u64) -> anyhow::Result<ExitCode> {
    let broken = arguments.broken.as_deref().map(|id| {
        let rule = plant::sound_rules().find(|rule| rule.id == id && !plant::plants(rule).is_empty());
        rule.ok_or_else(|| anyhow::anyhow!("the registry of planted defects has none for a rule {id}"))
    });
    let options = contradict::Options {
        pairs,
        time: Duration::from_secs(arguments.seconds),
        threads: arguments.threads,
        seed: arguments.seed,
        solver: arguments.solver.clone(),
        broken: broken.transpose()?,
        forgets_indexes: arguments.forgets_indexes,
    };
    let tally = contradict::hunt(&options);
    let text = tally.markdown();
    arguments.report.as_ref().map_or(Ok(()), |path| std::fs::write(path, &text))?;
    println!("{text}");
    Ok(if tally.contradictions.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let (Some(sql), Some(ddl)) = (&arguments.sql, &arguments.ddl) {
        print!("{}", explain(sql, &std::fs::read_to_string(ddl)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(pairs) = arguments.pairs {
        return contradictions(&arguments, pairs);
    }
    if let Some(queries) = arguments.encoder {
        return compare_encoder(&arguments, queries);
    }
    if let Some(seconds) = arguments.plants {
        return find_plants(&arguments, Duration::from_secs(seconds));
    }
    let options = Options {
        applications: arguments.applications,
        time: Duration::from_secs(arguments.seconds),
        threads: arguments.threads,
        seed: arguments.seed,
        examples: arguments.examples,
        ..Options::default()
    };
    let write = |findings: &Findings| {
        arguments.report.as_ref().map_or(Ok(()), |path| std::fs::write(path, report::markdown(findings)))
    };
    let findings = hunt(&options, &|findings, elapsed| {
        let (total, seconds) = (findings.total(), elapsed.as_secs_f64());
        let broken: u64 =
            findings.counts.iter().filter(|((_, kind), _)| report::breaks_law(*kind)).map(|(_, n)| n).sum();
        eprintln!("{total} applications, {:.0} a second, {broken} violations", total as f64 / seconds);
        if let Err(error) = write(findings) {
            eprintln!("the report cannot be written: {error}");
        }
    });
    write(&findings)?;
    println!("{}", report::markdown(&findings));
    let broken = findings.counts.keys().any(|(_, kind)| report::breaks_law(*kind));
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Plants defects, and says of each whether it was found in time.
fn find_plants(arguments: &Arguments, limit: Duration) -> anyhow::Result<ExitCode> {
    let chosen = arguments.defect.as_deref().map(defect).transpose()?;
    for rule in plant::sound_rules() {
        for defect in chosen.as_ref().map_or(plant::plants(rule), std::slice::from_ref).iter().copied() {
            if let Some(detection) = plant::find(rule, defect, arguments.seed, limit) {
                let (time, queries) = (detection.time.as_secs_f64(), detection.queries);
                println!("{}\t{defect:?}\t{time:.2}\t{queries}\t{}", rule.id, detection.violation.before);
            } else {
                println!("{}\t{defect:?}\t-", rule.id);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares so many queries about each construct; a line for each, and the first violations.
fn compare_encoder(arguments: &Arguments, queries: usize) -> anyhow::Result<ExitCode> {
    let mut holds = true;
    let is_asked = |construct: &Construct| {
        arguments.construct.as_ref().is_none_or(|name| format!("{construct:?}").eq_ignore_ascii_case(name))
    };
    anyhow::ensure!(
        Construct::ALL.iter().any(is_asked),
        "no construct is called {}; there are {}",
        arguments.construct.as_deref().unwrap_or_default(),
        Construct::ALL.map(|construct| format!("{construct:?}")).join(", ")
    );
    for construct in Construct::ALL.into_iter().filter(is_asked) {
        let tally = hunt_construct(construct, None, arguments.seed, (queries, queries.saturating_mul(20)))?;
        let Tally { compared, with_rows, open, unsupported, violations } = &tally;
        println!(
            "{construct:?}: {compared} compared, {with_rows} with rows, {open} open, {} violations {unsupported:?}",
            violations.len()
        );
        violations.iter().take(arguments.examples).for_each(|violation| println!("{violation}"));
        holds &= violations.is_empty();
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
