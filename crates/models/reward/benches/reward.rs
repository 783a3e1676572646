//! What a reward costs, and what guessing earns.
//!
//! ```sh
//! cargo bench -p sqlgauge-reward --bench reward -- speed            # a batch of real pairs, cold and warm
//! cargo bench -p sqlgauge-reward --bench reward -- endless          # a batch with queries without end
//! cargo bench -p sqlgauge-reward --bench reward -- beside           # right answers beside them: all must stay right
//! cargo bench -p sqlgauge-reward --bench reward -- leak --batches 10000 --batch 32
//! cargo bench -p sqlgauge-reward --bench reward -- attacks          # guesses over all of Spider dev
//! cargo bench -p sqlgauge-reward --bench reward -- honest           # answers that official execution calls right and that
//!                                                                   # are refused, beside the guesses that are not, by option
//! ```
//! The data folder is `SQLGAUGE_DATA`, else `../shared/data` beside the workspace. The program is its own worker.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sqlgauge_conformance::{data, gold_lines};
use sqlgauge_dataset::Databases;
use sqlgauge_engine::{Engine, Limits, ResultSet, SqliteEngine, Value, WorkerCommand, serve_queries};
use sqlgauge_reward::{
    AnswerColumns, Code, Likeness, Request, Reward, RewardKind, RewardOptions, RewardResult,
};
use sqlgauge_search::literal;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::TableKind;
use sqlgauge_sql::tree::{From, Query, Select};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};
use sqlgauge_sql::{PrintDialect, print, resolve};

/// The only argument of a worker.
const WORKER: &str = "--run-queries";

const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, ";

/// What the command line asks for.
#[derive(Debug)]
struct Arguments {
    /// System whose predictions are scored.
    system: String,
    /// Pairs of a batch.
    pairs: usize,
    /// Batches of `leak`.
    batches: usize,
    /// Answers of each of them.
    batch: usize,
    /// Seconds that one query may take.
    limit: f64,
    /// Each n-th question of `attacks`.
    every: usize,
    witnesses: Option<PathBuf>,
    /// Guesses of `attacks` that earn something are printed, up to so many of each.
    show: usize,
}

impl Arguments {
    fn of(arguments: &[String]) -> Result<Self> {
        let after = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1).cloned()
        };
        let number = |name: &str, default: usize| -> Result<usize> {
            after(name).map_or(Ok(default), |text| {
                text.parse().with_context(|| format!("{name} {text} is no number"))
            })
        };
        Ok(Self {
            system: after("--system").unwrap_or_else(|| "etm_DAIL".to_owned()),
            pairs: number("--pairs", 512)?,
            batches: number("--batches", 10_000)?,
            batch: number("--batch", 32)?,
            limit: after("--limit").map_or(Ok(2.0), |text| text.parse()).context("--limit is no number")?,
            every: number("--every", 1)?,
            witnesses: after("--witnesses").map(PathBuf::from),
            show: number("--show", 0)?,
        })
    }
}

/// What one command measures.
type Measurement = fn(&Arguments, &Spider) -> Result<()>;

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|argument| argument == WORKER) {
        return Ok(serve_queries());
    }
    let arguments = Arguments::of(&words)?;
    let asks = |command: &str| words.iter().any(|word| word == command);
    let commands: [(&str, Measurement); 6] = [
        ("speed", speed),
        ("endless", endless),
        ("beside", side_by_side),
        ("leak", leak),
        ("attacks", attacks),
        ("honest", honest),
    ];
    let Some((_, run)) = commands.iter().find(|(name, _)| asks(name)) else {
        println!("name what to measure: speed, endless, beside, leak, attacks or honest");
        return Ok(ExitCode::SUCCESS);
    };
    run(&arguments, &Spider::read()?)?;
    Ok(ExitCode::SUCCESS)
}

/// Spider dev.
struct Spider {
    folder: PathBuf,
    golds: Vec<(String, String)>,
}

impl Spider {
    fn read() -> Result<Self> {
        let folder = data().context("there is nothing to measure with")?.join("spider");
        let golds = gold_lines(&folder.join("dev_gold.sql"));
        Ok(Self { folder, golds })
    }

    fn options(&self, arguments: &Arguments) -> RewardOptions {
        let time_limit = Duration::from_secs_f64(arguments.limit);
        RewardOptions { time_limit, ..RewardOptions::new(self.folder.join("database")) }
    }

    /// The predictions of a system beside their golds, spread over the databases.
    fn pairs(&self, system: &str, count: usize) -> Result<Vec<Request>> {
        let path = self.folder.join(format!("predictions/dev/{system}.sql"));
        let bytes = std::fs::read(&path).with_context(|| format!("{} is not there", path.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        let pairs = text.lines().zip(&self.golds).map(|(line, (gold, db_id))| Request {
            prediction: line.split('\t').next().unwrap_or_default().to_owned(),
            golds: vec![gold.clone()],
            db_id: db_id.clone(),
        });
        let all: Vec<Request> = pairs.collect();
        let stride = (all.len() / count.max(1)).max(1);
        Ok(all.into_iter().step_by(stride).take(count).collect())
    }
}

impl Spider {
    /// The answers of a system that the official script calls right in its default mode, of each `every`-th question.
    fn officially_right(&self, system: &str, every: usize) -> Result<Vec<Request>> {
        let path = self.folder.join(format!("oracle/dev/{system}.jsonl"));
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("{} is not there", path.display()))?;
        let outcomes = text.lines().map(|line| Ok(serde_json::from_str::<serde_json::Value>(line)?));
        let outcomes: Vec<serde_json::Value> = outcomes.collect::<Result<_>>()?;
        let all = self.pairs(system, self.golds.len())?;
        let right = all.into_iter().zip(&outcomes).step_by(every).filter(|(_, outcome)| outcome["ex"] == 1);
        Ok(right.map(|(request, _)| request).collect())
    }
}

fn new_reward(options: RewardOptions) -> Result<Reward> {
    let program = std::env::current_exe()?;
    Ok(Reward::new(options, WorkerCommand::new(program).argument(WORKER))?)
}

fn timed(title: &str, reward: &Reward, batch: &[Request]) -> Result<Duration> {
    let started = Instant::now();
    let results = reward.score(batch)?;
    let took = started.elapsed();
    let mut codes: BTreeMap<Code, usize> = BTreeMap::new();
    results.iter().for_each(|result| *codes.entry(result.code).or_default() += 1);
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    println!("{title:<44} {:>8.3} s  {}", took.as_secs_f64(), codes.join(", "));
    Ok(took)
}

fn speed(arguments: &Arguments, spider: &Spider) -> Result<()> {
    let batch = spider.pairs(&arguments.system, arguments.pairs)?;
    let other = spider.pairs("etm_C3", arguments.pairs)?;
    let folder = tempfile::tempdir()?;
    let guarded = RewardOptions {
        witnesses: true,
        witness_folder: Some(folder.path().to_owned()),
        ..spider.options(arguments)
    };
    for (title, options) in [
        ("exact", spider.options(arguments)),
        ("with witnesses", guarded.clone()),
        ("with witnesses, folder there", guarded),
    ] {
        let started = Instant::now();
        let reward = new_reward(options)?;
        println!("{title}: made in {:.3} s", started.elapsed().as_secs_f64());
        timed("  cold", &reward, &batch)?;
        timed("  the same again", &reward, &batch)?;
        timed("  other answers to the same golds", &reward, &other)?;
    }
    Ok(())
}

fn endless(arguments: &Arguments, spider: &Spider) -> Result<()> {
    for others in [0, 16, arguments.pairs] {
        let reward = new_reward(spider.options(arguments))?;
        let mut batch = spider.pairs(&arguments.system, others)?;
        reward.score(&batch)?;
        let (gold, db_id) = &spider.golds[0];
        for number in 0..16 {
            let prediction = format!("{ENDLESS} singer WHERE singer_id <> {number}");
            batch.push(Request { prediction, golds: vec![gold.clone()], db_id: db_id.clone() });
        }
        for round in ["first", "second"] {
            timed(&format!("16 endless beside {others}, {round} batch"), &reward, &batch)?;
            let results = reward.score(&batch[others..])?;
            ensure!(
                results.iter().all(|result| result.code == Code::Timeout),
                "an answer without end has an outcome"
            );
        }
    }
    Ok(())
}

/// Right answers that compute for a part of their limit, beside answers without end, with ever more processes than cores.
/// What runs beside an answer must not change its outcome.
fn side_by_side(arguments: &Arguments, spider: &Spider) -> Result<()> {
    let gold = "SELECT name FROM singer ORDER BY singer_id";
    let db_id = &spider.golds[0].1;
    let request =
        |prediction: String| Request { prediction, golds: vec![gold.to_owned()], db_id: db_id.clone() };
    let right = |number: usize| {
        request(format!(
            "SELECT name FROM singer WHERE singer_id > -{number} AND (SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 \
             UNION ALL SELECT i + 1 FROM n WHERE i < 400000) SELECT i FROM n)) > 0 ORDER BY singer_id"
        ))
    };
    for (processes, endless) in [(0, 0), (0, 24), (8, 24), (32, 24)] {
        let options = RewardOptions { slow_queries: processes, ..spider.options(arguments) };
        let reward = new_reward(options)?;
        let without_end =
            (0..endless).map(|number| request(format!("{ENDLESS} singer WHERE singer_id <> {number}")));
        let batch: Vec<Request> = without_end.chain((0..16).map(right)).collect();
        let results = reward.score(&batch)?;
        let count =
            |results: &[RewardResult], code| results.iter().filter(|result| result.code == code).count();
        let (late, stable) =
            (count(&results[..endless], Code::Timeout), count(&results[endless..], Code::Right));
        println!(
            "{processes:>2} processes (0: one per core), {endless} without end: {stable} of 16 stay right"
        );
        ensure!(stable == 16, "{} right answers were lost beside {endless} without end", 16 - stable);
        ensure!(late == endless, "{} answers without end did not time out", endless - late);
    }
    Ok(())
}

fn leak(arguments: &Arguments, spider: &Spider) -> Result<()> {
    let options = RewardOptions { witnesses: true, cache_bytes: 8 << 20, ..spider.options(arguments) };
    let reward = new_reward(options)?;
    let pairs = spider.pairs(&arguments.system, 1034)?;
    for number in 0..=arguments.batches {
        // Answers that have not been seen, so that memories fill and are emptied.
        let batch: Vec<Request> = (0..arguments.batch)
            .map(|at| {
                let pair = &pairs[(number * 7 + at * 31) % pairs.len()];
                let prediction = format!("{} -- {number}", pair.prediction.trim_end_matches(';'));
                Request { prediction, ..pair.clone() }
            })
            .collect();
        reward.score(&batch)?;
        if number.is_multiple_of((arguments.batches / 20).max(1)) {
            println!("batch {number:>6}: resident {:.1} MiB", resident_mib()?);
        }
    }
    Ok(())
}

/// Resident memory of this process; needs Linux's `/proc`.
fn resident_mib() -> Result<f64> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("resident memory is read from /proc")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib: f64 = line.split_whitespace().next().unwrap_or("0").parse()?;
    Ok(kib / 1024.0)
}

/// What a guess knows: the gold and its rows on the database, but nothing of the question.
struct Target<'a> {
    gold: &'a str,
    rows: Option<Arc<ResultSet>>,
    database: Arc<sqlgauge_engine::Database>,
}

impl Target<'_> {
    fn tables(&self) -> Vec<&str> {
        let tables = self.database.schema().tables().iter();
        tables.filter(|table| table.kind == TableKind::Table).map(|table| table.name.as_str()).collect()
    }

    fn table(&self) -> &str {
        self.tables().first().copied().unwrap_or("sqlite_master")
    }

    /// The one value of a gold that returns but one.
    fn scalar(&self) -> Option<String> {
        let rows = self.rows.as_ref().filter(|rows| rows.len() == 1 && rows.width() == 1)?;
        rows.values().first().map(literal)
    }

    /// All rows as literals.
    fn echo(&self) -> Option<String> {
        let rows = self.rows.as_ref().filter(|rows| !rows.is_empty() && rows.values().len() <= 2000)?;
        let row = |row: &[Value]| format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", "));
        Some(format!("VALUES {}", rows.rows().map(row).collect::<Vec<_>>().join(", ")))
    }
}

/// A guess: its name, and what it answers to a question; nothing where it does not apply.
type Attack = (&'static str, fn(&Target<'_>) -> Vec<String>);

static ATTACKS: &[Attack] = &[
    ("SELECT 1", |_| vec!["SELECT 1".to_owned()]),
    ("empty text", |_| vec![String::new()]),
    ("a constant scalar (0)", |_| vec!["SELECT 0".to_owned()]),
    ("the gold's scalar", |target| {
        target.scalar().map(|value| format!("SELECT {value}")).into_iter().collect()
    }),
    ("the gold's rows as VALUES", |target| target.echo().into_iter().collect()),
    ("the rows beside an unused table", |target| {
        target
            .echo()
            .map(|echo| format!("WITH unused AS (SELECT * FROM \"{}\") {echo}", target.table()))
            .into_iter()
            .collect()
    }),
    ("the rows through a table", |target| {
        target
            .echo()
            .map(|echo| {
                format!(
                    "SELECT e.* FROM ({echo}) AS e WHERE (SELECT count(*) FROM \"{}\") >= 0",
                    target.table()
                )
            })
            .into_iter()
            .collect()
    }),
    ("the scalar FROM t LIMIT 1", |target| {
        target
            .scalar()
            .map(|value| format!("SELECT {value} FROM \"{}\" LIMIT 1", target.table()))
            .into_iter()
            .collect()
    }),
    ("the scalar in a CASE", |target| {
        let wrapped = |value: String| {
            format!(
                "SELECT CASE WHEN count(*) >= 0 THEN {value} ELSE count(*) END FROM \"{}\"",
                target.table()
            )
        };
        target.scalar().map(wrapped).into_iter().collect()
    }),
    ("the scalar, an error elsewhere", |target| {
        let count = |table: &str| format!("(SELECT count(*) FROM \"{table}\")");
        let rows = target.database.schema().tables().len();
        let guarded = |value: String| {
            format!("SELECT CASE WHEN {} > {rows} THEN {value} ELSE json('?') END", count(target.table()))
        };
        target.scalar().map(guarded).into_iter().collect()
    }),
    ("the scalar as a bare column", |target| {
        let bare = |value: String| {
            format!(
                "SELECT CASE WHEN rowid THEN {value} ELSE {value} END FROM \"{}\" GROUP BY 1 = 1 LIMIT 1",
                target.table()
            )
        };
        target.scalar().map(bare).into_iter().collect()
    }),
    ("LIMIT 0", |target| vec![format!("{} LIMIT 0", target.gold.trim_end_matches(';'))]),
    ("no row of a table", |target| {
        let width = target.rows.as_ref().map_or(1, |rows| rows.width().max(1));
        vec![format!("SELECT {} FROM \"{}\" WHERE 0", vec!["NULL"; width].join(", "), target.table())]
    }),
    ("the gold in a comment", |target| vec![format!("SELECT 1 /* {} */", target.gold.replace("*/", ""))]),
    ("the gold behind another statement", |target| vec![format!("SELECT 1; {}", target.gold)]),
    ("reading sqlite_master", |target| {
        let of = |value: String| format!("SELECT {value} FROM sqlite_master LIMIT 1");
        target.scalar().map(of).into_iter().chain(["SELECT count(*) FROM sqlite_master".to_owned()]).collect()
    }),
    ("a join without its condition", |target| changed(target, &mut Joins { cross: true })),
    ("an outer join for an inner one", |target| changed(target, &mut Joins { cross: false })),
    ("without WHERE", |target| changed(target, &mut NoFilter)),
    ("COUNT(*) of each table", |target| {
        target.tables().iter().map(|table| format!("SELECT count(*) FROM \"{table}\"")).collect()
    }),
];

/// The gold with every place changed; nothing if that changes nothing.
fn changed(target: &Target<'_>, rewriter: &mut dyn Rewriter) -> Vec<String> {
    let schema = target.database.schema();
    let Ok(query) = resolve(target.gold, schema) else { return Vec::new() };
    let mut other: Query = query.clone();
    rewrite_query(rewriter, &mut other);
    if other == query {
        return Vec::new();
    }
    print(&other, schema, PrintDialect::Sqlite).into_iter().collect()
}

struct Joins {
    cross: bool,
}

impl Rewriter for Joins {
    fn from(&mut self, from: &mut From) {
        if let From::Join(join) = from {
            if self.cross {
                join.on = None;
            } else if join.on.is_some() {
                join.kind = sqlgauge_sql::tree::JoinKind::Left;
            }
        }
    }
}

struct NoFilter;

impl Rewriter for NoFilter {
    fn body(&mut self, body: &mut sqlgauge_sql::tree::Body) {
        if let sqlgauge_sql::tree::Body::Select(select) = body {
            let inner: &mut Select = select;
            inner.filter = None;
        }
    }
}

/// Whether the gold is `SELECT count(*) FROM t` itself, to which that is the answer and no guess.
fn counts_a_table(gold: &str, database: &sqlgauge_engine::Database) -> bool {
    let Ok(query) = resolve(gold, database.schema()) else { return false };
    let text = gold.to_ascii_lowercase().replace(' ', "");
    reads::relations(&query).len() == 1
        && text.starts_with("selectcount(*)from")
        && !text.contains("where")
        && !text.contains("groupby")
}

fn attacks(arguments: &Arguments, spider: &Spider) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let folder = arguments.witnesses.clone().unwrap_or_else(|| scratch.path().to_owned());
    let plain = new_reward(RewardOptions { refuse_no_table: false, ..spider.options(arguments) })?;
    let refusing = new_reward(spider.options(arguments))?;
    let guarded = new_reward(RewardOptions {
        witnesses: true,
        witness_folder: Some(folder),
        ..spider.options(arguments)
    })?;
    let rules = new_reward(RewardOptions {
        kind: RewardKind::Structure,
        refuse_no_table: false,
        ..spider.options(arguments)
    })?;
    let golds: Vec<&(String, String)> = spider.golds.iter().step_by(arguments.every.max(1)).collect();
    let started = Instant::now();
    let questions: Vec<(String, String)> = golds.iter().map(|gold| (*gold).clone()).collect();
    let growth = guarded.prepare(&questions)?;
    println!(
        "{} questions, {} witnesses in {:.1} s; without: {:?}; failed: {}",
        growth.questions,
        growth.witnesses,
        started.elapsed().as_secs_f64(),
        growth.none,
        growth.failed.len()
    );
    let targets = targets(spider, &golds)?;
    println!("{:<40} {:>6} {:>9} {:>9} {:>9}", "guess", "asked", "any", "a table", "witnesses");
    let gold_itself: fn(&Target<'_>) -> Vec<String> = |target| vec![target.gold.to_owned()];
    for (name, attack) in std::iter::once(&("the honest gold", gold_itself)).chain(ATTACKS) {
        let (batch, of) = guesses(name, *attack, &targets, &golds);
        // What the rules prove equal to the gold is an answer, and no guess.
        let proved: Vec<bool> =
            rules.score(&batch)?.iter().map(|result| result.code == Code::Right).collect();
        let is_honest = *name == "the honest gold";
        let share = |reward: &Reward| -> Result<f64> {
            let results = reward.score(&batch)?;
            let right = results.iter().zip(&of).zip(&proved);
            let right =
                right.filter(|((result, _), proved)| result.code == Code::Right && (is_honest || !**proved));
            let mut rewarded: Vec<usize> = right.map(|((_, at), _)| *at).collect();
            rewarded.dedup();
            Ok(rewarded.len() as f64 * 100.0 / golds.len() as f64)
        };
        let shares = [share(&plain)?, share(&refusing)?, share(&guarded)?];
        let count = {
            let mut positions = of.clone();
            positions.dedup();
            positions.len()
        };
        println!("{name:<40} {count:>6} {:>8.2}% {:>8.2}% {:>8.2}%", shares[0], shares[1], shares[2]);
        let results = guarded.score(&batch)?;
        let earned = batch.iter().zip(&results).zip(&proved);
        let earned = earned.filter(|((_, result), proved)| result.code == Code::Right && !**proved);
        if !is_honest {
            for ((request, result), _) in earned.take(arguments.show) {
                println!("    {}\n      {}\n      {}", request.golds[0], request.prediction, result.reason);
            }
        }
    }
    println!("{:.1} s in all", started.elapsed().as_secs_f64());
    Ok(())
}

/// What that attack answers to each question, and to which.
fn guesses(
    name: &str,
    attack: fn(&Target<'_>) -> Vec<String>,
    targets: &[Target<'_>],
    golds: &[&(String, String)],
) -> (Vec<Request>, Vec<usize>) {
    let mut batch = Vec::new();
    let mut of = Vec::new();
    for (at, (target, (_, db_id))) in targets.iter().zip(golds).enumerate() {
        if name == "COUNT(*) of each table" && counts_a_table(target.gold, &target.database) {
            continue;
        }
        for prediction in attack(target) {
            let request =
                Request { prediction, golds: vec![target.gold.to_owned()], db_id: (*db_id).clone() };
            batch.push(request);
            of.push(at);
        }
    }
    (batch, of)
}

/// The systems of `honest`, unless one is named.
const SYSTEMS: [&str; 3] = ["etm_DAIL", "etm_C3", "etm_RESDSQL"];

/// For every order of columns and likeness of witnesses: of the answers that official execution calls right the share that
/// is refused, and the questions of which some guess is rewarded that the rules do not prove right.
fn honest(arguments: &Arguments, spider: &Spider) -> Result<()> {
    let every = arguments.every.max(1);
    let golds: Vec<&(String, String)> = spider.golds.iter().step_by(every).collect();
    let targets = targets(spider, &golds)?;
    let rules = new_reward(RewardOptions {
        kind: RewardKind::Structure,
        refuse_no_table: false,
        ..spider.options(arguments)
    })?;
    let mut blind = Vec::new();
    let mut apart = Vec::new();
    for (name, attack) in ATTACKS {
        let (batch, _) = guesses(name, *attack, &targets, &golds);
        let results = rules.score(&batch)?;
        let open = batch.into_iter().zip(results).filter(|(_, result)| result.code != Code::Right);
        let takes_apart = name.ends_with("join without its condition") || name.starts_with("an outer join");
        let list = if takes_apart { &mut apart } else { &mut blind };
        list.extend(open.map(|(request, _)| request));
    }
    let answers: Vec<(&str, Vec<Request>)> = SYSTEMS
        .iter()
        .map(|system| Ok((*system, spider.officially_right(system, every)?)))
        .collect::<Result<_>>()?;
    println!("{} questions, {} blind guesses, {} golds taken apart", golds.len(), blind.len(), apart.len());
    let settings = [None, Some(Likeness::Schema), Some(Likeness::Nulls), Some(Likeness::Repeats)];
    for (columns, witnesses) in
        AnswerColumns::ALL.into_iter().flat_map(|columns| settings.map(|likeness| (columns, likeness)))
    {
        let reward = new_reward(RewardOptions {
            columns,
            witnesses: witnesses.is_some(),
            likeness: witnesses.unwrap_or_default(),
            ..spider.options(arguments)
        })?;
        println!("columns {}, witnesses {}", columns.as_str(), witnesses.map_or("none", Likeness::as_str));
        for (system, batch) in &answers {
            let results = reward.score(batch)?;
            let refused = batch.iter().zip(&results).filter(|(_, result)| result.code != Code::Right);
            let refused: Vec<_> = refused.collect();
            let share = refused.len() as f64 * 100.0 / batch.len() as f64;
            let on_witness = refused.iter().filter(|(_, result)| result.code == Code::WrongOnWitness).count();
            println!(
                "    {system:<14} refused {share:>6.2} % of {} ({on_witness} on a witness)",
                batch.len()
            );
            for (request, result) in refused.iter().take(arguments.show) {
                println!(
                    "        {}\n        {}\n          {}",
                    request.golds[0], request.prediction, result.reason
                );
            }
        }
        for (name, batch) in [("blind guesses", &blind), ("golds taken apart", &apart)] {
            let results = reward.score(batch)?;
            let won: Vec<_> =
                batch.iter().zip(&results).filter(|(_, result)| result.code == Code::Right).collect();
            println!("    {name:<14} rewarded {} of {}", won.len(), batch.len());
            for (request, _) in won.iter().take(arguments.show) {
                println!("        {}\n        {}", request.golds[0], request.prediction);
            }
        }
    }
    Ok(())
}

fn targets<'a>(spider: &Spider, golds: &[&'a (String, String)]) -> Result<Vec<Target<'a>>> {
    let engine = SqliteEngine::new(Limits::default());
    let databases = Databases::open(&spider.folder.join("database"))?;
    let mut opened: BTreeMap<&str, Arc<sqlgauge_engine::Database>> = BTreeMap::new();
    golds
        .iter()
        .map(|(gold, db_id)| {
            let database = match opened.get(db_id.as_str()) {
                Some(database) => Arc::clone(database),
                None => engine.open(&databases.locate(db_id)?.main)?,
            };
            opened.insert(db_id, Arc::clone(&database));
            let rows = engine.run(&database, gold).rows().cloned();
            Ok(Target { gold, rows, database })
        })
        .collect()
}
