//! Time and memory of a run of many items: `score`, `report`, `show`, and a `score` that finds all items but one.
//!
//! ```sh
//! cargo build --release --bin sqlgauge
//! cargo xtask research large --systems 10 --examples 100000
//! ```
//! Benchmark and databases are generated: four shops of some hundred rows, questions over them, and per system a
//! text of its own for nearly every question (half of them right, a few that do not run, a few missing). The gold file
//! is a JSON list; the predictions come in turn as lines, as an object from id to SQL, and as JSON lines.

use std::fs::File;
use std::hash::Hasher;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use rusqlite::Connection;
use serde_json::json;
use sqlgauge_base::Random;
use sqlgauge_research::{Measured, measure};

/// Time and memory of a run of many items
#[derive(Debug, Parser)]
struct Arguments {
    /// The binary
    #[arg(long, default_value = "target/release/sqlgauge")]
    binary: PathBuf,
    /// Systems
    #[arg(long, default_value_t = 10)]
    systems: usize,
    /// Questions
    #[arg(long, default_value_t = 5000)]
    examples: usize,
    /// Metrics; the program's own by default
    #[arg(long)]
    metrics: Option<String>,
    /// Folder for inputs and run, kept; a temporary one without it
    #[arg(long)]
    folder: Option<PathBuf>,
}

const SHOPS: usize = 4;
const CITIES: [&str; 8] = ["Aachen", "Bremen", "Chemnitz", "Dresden", "Essen", "Fulda", "Gera", "Halle"];
const WORDS: [&str; 8] = ["open", "paid", "sent", "lost", "back", "late", "held", "done"];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir()?;
    let folder = arguments.folder.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(folder)?;
    let run = folder.join("run");
    if run.exists() {
        std::fs::remove_dir_all(&run)?;
    }
    write_shops(&folder.join("database"))?;
    write_gold(&folder.join("gold.json"), arguments.examples)?;
    for system in 0..arguments.systems {
        write_predictions(folder, system, arguments.examples)?;
    }
    println!(
        "{} systems x {} questions, {} bytes of input",
        arguments.systems,
        arguments.examples,
        inputs(folder)?
    );
    println!("{:<32} {:>9} {:>9} {:>10}", "command", "wall s", "CPU s", "peak MiB");
    row("score", measure(&mut score(&arguments, folder))?);
    let report = |format: &str| {
        let mut command = Command::new(&arguments.binary);
        command.arg("report").arg(&run).args(["--format", format]);
        measure(&mut command)
    };
    row("report, table", report("table")?);
    row("report, html, all there", report("html")?);
    let items = run.join("report-items");
    if items.exists() {
        std::fs::remove_dir_all(items)?;
    }
    row("report, html", report("html")?);
    let mut show = Command::new(&arguments.binary);
    let (last, id) = (arguments.systems - 1, arguments.examples - 1);
    show.arg("show").arg(&run).args(["--system", &format!("S{last}"), "--id", &id.to_string()]);
    row("show, the last item", measure(&mut show)?);
    let whole = digests(&run)?;
    forget_last_item(&run)?;
    row("score, all items but one there", measure(&mut score(&arguments, folder))?);
    ensure!(whole == digests(&run)?, "the continued run differs from the uninterrupted one");
    println!("the continued run is the uninterrupted one, byte by byte");
    Ok(())
}

fn row(label: &str, Measured { wall, cpu, peak_kib }: Measured) {
    let (wall, cpu, peak) = (wall.as_secs_f64(), cpu.as_secs_f64(), peak_kib as f64 / 1024.0);
    println!("{label:<32} {wall:>9.2} {cpu:>9.2} {peak:>10.0}");
}

fn score(arguments: &Arguments, folder: &Path) -> Command {
    let mut command = Command::new(&arguments.binary);
    command.args(["score", "--quiet"]).arg("--gold").arg(folder.join("gold.json"));
    command.arg("--db").arg(folder.join("database")).arg("--out").arg(folder.join("run"));
    if let Some(metrics) = &arguments.metrics {
        command.args(["--metrics", metrics]);
    }
    for system in 0..arguments.systems {
        command.arg("--pred").arg(format!("S{system}={}", predictions(folder, system).display()));
    }
    command
}

/// As a kill leaves a run whose last item is not there yet.
fn forget_last_item(run: &Path) -> Result<()> {
    let log = File::options().read(true).write(true).open(run.join("items.jsonl"))?;
    let length = log.metadata()?.len();
    let tail = length.min(1 << 20);
    let mut bytes = Vec::new();
    std::io::Seek::seek(&mut &log, std::io::SeekFrom::Start(length - tail))?;
    (&log).read_to_end(&mut bytes)?;
    let body = bytes.strip_suffix(b"\n").context("the log does not end in a line feed")?;
    let begin = body.iter().rposition(|byte| *byte == b'\n').context("the last line is very long")? + 1;
    log.set_len(length - tail + begin as u64)?;
    std::fs::remove_file(run.join("summary.json"))?;
    Ok(std::fs::remove_file(run.join("report.html"))?)
}

/// Every file of the run with a digest of its bytes.
fn digests(run: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let (mut list, mut folders) = (Vec::new(), vec![run.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let (mut file, mut digest) = (File::open(&path)?, std::hash::DefaultHasher::new());
            let mut buffer = vec![0; 1 << 20];
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    count => digest.write(&buffer[..count]),
                }
            }
            list.push((path, digest.finish()));
        }
    }
    list.sort();
    Ok(list)
}

fn inputs(folder: &Path) -> Result<u64> {
    let sizes = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?)).collect::<Result<Vec<_>>>()?;
    Ok(sizes.iter().filter(|file| file.is_file()).map(std::fs::Metadata::len).sum())
}

/// A random number below the bound as SQLite keeps it.
fn below(random: &mut Random, bound: u16) -> i64 {
    i64::try_from(random.below(bound.into())).unwrap_or_default()
}

fn write_shops(folder: &Path) -> Result<()> {
    for shop in 0..SHOPS {
        let path = folder.join(format!("shop_{shop}"));
        std::fs::create_dir_all(&path)?;
        let path = path.join(format!("shop_{shop}.sqlite"));
        if path.exists() {
            continue;
        }
        let database = Connection::open(path)?;
        database.execute_batch(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, age INTEGER);
             CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT, price REAL);
             CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id),
                                  product_id INTEGER REFERENCES products (id), quantity INTEGER, state TEXT);
             BEGIN;",
        )?;
        let mut random = Random::new([shop as u64]);
        for id in 0..200 {
            let (city, age) = (CITIES[random.below(CITIES.len())], 18 + below(&mut random, 60));
            let values = (id, format!("Customer {id}"), city, age);
            database.execute("INSERT INTO customers VALUES (?, ?, ?, ?)", values)?;
        }
        for id in 0..80 {
            let price = random.below(10_000) as f64 / 100.0;
            let values = (id, format!("Product {id}"), WORDS[random.below(4)], price);
            database.execute("INSERT INTO products VALUES (?, ?, ?, ?)", values)?;
        }
        for id in 0..600 {
            let (customer, product) = (below(&mut random, 200), below(&mut random, 80));
            let values = (id, customer, product, 1 + below(&mut random, 9), WORDS[random.below(WORDS.len())]);
            database.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", values)?;
        }
        database.execute_batch("COMMIT")?;
    }
    Ok(())
}

/// The query of a question about a shop, with the alias that a system uses and the number that it looks for. A
/// condition that always holds makes it a text that no other question has.
fn query(example: usize, alias: &str, number: usize) -> String {
    template(example, alias, number).replace("WHERE ", &format!("WHERE {alias}.id < {} AND ", 1000 + example))
}

fn template(example: usize, alias: &str, number: usize) -> String {
    let (a, k, city) = (alias, number, CITIES[number % CITIES.len()]);
    let word = WORDS[number % WORDS.len()];
    match example % 8 {
        0 => format!("SELECT {a}.name, {a}.city FROM customers AS {a} WHERE {a}.id = {}", k % 200),
        1 => format!(
            "SELECT COUNT(*) FROM customers AS {a} WHERE {a}.city = '{city}' AND {a}.age > {}",
            k % 80
        ),
        2 => format!(
            "SELECT {a}.name FROM products AS {a} WHERE {a}.price > {}.5 ORDER BY {a}.price DESC LIMIT 3",
            k % 100
        ),
        3 => format!(
            "SELECT {a}.city, AVG({a}.age) FROM customers AS {a} WHERE {a}.age > {} GROUP BY {a}.city",
            18 + k % 50
        ),
        4 => format!(
            "SELECT {a}.name, o.quantity FROM orders AS o JOIN customers AS {a} ON o.customer_id = {a}.id \
             WHERE o.id BETWEEN {} AND {}",
            k % 590,
            k % 590 + 4
        ),
        5 => format!(
            "SELECT MAX({a}.price) FROM products AS {a} JOIN orders AS o ON o.product_id = {a}.id \
             WHERE o.state = '{word}' AND o.id < {}",
            k % 600
        ),
        6 => format!(
            "SELECT {a}.name FROM customers AS {a} WHERE {a}.id IN (SELECT o.customer_id FROM orders AS o where \
             o.quantity > 7 AND o.id < {})",
            k % 200
        ),
        _ => format!(
            "SELECT {a}.kind, COUNT(*) FROM products AS {a} WHERE {a}.id <= {} GROUP BY {a}.kind HAVING COUNT(*) > 2",
            k % 80
        ),
    }
}

fn gold(example: usize) -> String {
    query(example, "T1", example / 8)
}

fn write_gold(path: &Path, examples: usize) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for example in 0..examples {
        let question = format!(
            "Question {example}: what does the shop know of number {}, and of {} in particular?",
            example / 8,
            CITIES[example % CITIES.len()]
        );
        let item = json!({
            "question_id": example,
            "db_id": format!("shop_{}", example % SHOPS),
            "question": question,
            "query": gold(example),
        });
        write!(out, "{}{item}", if example == 0 { "[\n" } else { ",\n" })?;
    }
    writeln!(out, "\n]")?;
    Ok(out.flush()?)
}

fn predictions(folder: &Path, system: usize) -> PathBuf {
    folder.join(format!("S{system}.{}", ["sql", "json", "jsonl"][system % 3]))
}

/// What a system answers; systems differ, and none is right everywhere.
fn prediction(system: usize, example: usize) -> Option<String> {
    let mut random = Random::new([system as u64, example as u64]);
    let alias = format!("s{system}");
    Some(match random.below(100) {
        0..10 => gold(example),
        10..50 => query(example, &alias, example / 8),
        50..92 => query(example, &alias, example / 8 + 1 + random.below(1000)),
        92..97 => query(example, &alias, example / 8).replace("WHERE ", "WHERE shelf = 1 AND "),
        _ => return None,
    })
}

fn write_predictions(folder: &Path, system: usize, examples: usize) -> Result<()> {
    let mut out = BufWriter::new(File::create(predictions(folder, system))?);
    for example in 0..examples {
        let sql = prediction(system, example);
        match system % 3 {
            0 => writeln!(out, "{}", sql.unwrap_or_default())?,
            1 => write!(out, "{}\"{example}\": {}", if example == 0 { "{\n" } else { ",\n" }, json!(sql))?,
            _ => writeln!(out, "{}", json!({"question_id": example, "prediction": sql, "confidence": 0.5}))?,
        }
    }
    if system % 3 == 1 {
        writeln!(out, "\n}}")?;
    }
    Ok(out.flush()?)
}
