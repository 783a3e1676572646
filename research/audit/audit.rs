//! Precision and recall of the rules of `sqlgauge audit`, against golds that people judged or corrected.
//!
//! ```sh
//! cargo xtask research audit --data ../shared/data --half report
//! ```
//! - `bugs`: NL2SQL-Bugs, queries over BIRD's databases that people labelled right or wrong;
//! - `plat`: BIRD's golds for the 498 questions of mini-dev; wrong where the corrected version is another query;
//! - `train`: BIRD's golds for 2,064 questions; wrong where the corrected version is another query.
//!
//! A corrected version that `etm` proves equal to the gold, as it has other quotes or aliases, is no other query.
//!
//! The databases of one half, by a hash of their names, are for designing rules; figures are of the other half. `train` has no
//! schema at hand: its tables and columns are what its queries name, without types and keys. Of the others superhero has rows.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use sqlgauge_audit::{Auditor, Finding, ItemAudit, RuleSelection, RuleStanding, find, rules};
use sqlgauge_base::seed_of;
use sqlgauge_base::stats::wilson;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_etm::{Matcher, Profile};
use sqlgauge_sql::lex::{Token, TokenKind, words};
use sqlgauge_sql::quote;
use sqlgauge_sql::schema::Schema;

/// Precision and recall of the audit's rules against people's labels
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder with `bird/`, `human/` and `bird_corrected/`
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Which half of the databases
    #[arg(long, value_enum, default_value = "report")]
    half: Half,
    /// Print the golds on which this rule reports something
    #[arg(long)]
    show: Option<String>,
    /// Write the golds of the half for designing to this file, one JSON object a line, with labels and findings
    #[arg(long)]
    dump: Option<PathBuf>,
    /// Fit the weights of the confidence on the half for designing, and print them
    #[arg(long)]
    fit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    Design,
    Report,
}

impl Half {
    fn of(db_id: &str) -> Self {
        if (seed_of(db_id) >> 32) & 1 == 0 { Self::Design } else { Self::Report }
    }
}

const SETS: [&str; 3] = ["bugs", "plat", "train"];

/// A gold with a label.
struct Labelled {
    set: usize,
    db_id: String,
    question: String,
    evidence: String,
    sql: String,
    is_wrong: bool,
    /// What people wrote instead, or which errors they name.
    remark: Value,
    /// The corrected version.
    corrected: Option<String>,
}

impl Labelled {
    /// Whether people call it wrong, and do not only write it otherwise.
    fn is_wrong(&self, schema: &Schema) -> bool {
        let is_equal = |other: &String| {
            Matcher::new(schema, Profile::Sound).compare(&self.sql, other).verdict.is_equal()
        };
        self.is_wrong && !self.corrected.as_ref().is_some_and(is_equal)
    }
}

/// A gold with what the rules say of it.
struct Judged {
    set: usize,
    is_wrong: bool,
    is_resolved: bool,
    rules: BTreeSet<&'static str>,
    /// By the rules that are on.
    confidence: f64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let golds = golds(&arguments.data)?;
    let inferred = tempfile::tempdir()?;
    infer(&golds, inferred.path())?;
    let mut halves: [Vec<Judged>; 2] = [Vec::new(), Vec::new()];
    let engine = SqliteEngine::new(Limits::default()).at("2026-01-01".parse()?);
    let mut auditors: HashMap<(bool, &str), Auditor<'_>> = HashMap::new();
    let mut dump = arguments.dump.as_ref().map(File::create).transpose()?;
    for gold in &golds {
        let key = (gold.set == 2, gold.db_id.as_str());
        let auditor = match auditors.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(place) => {
                let database = engine.open(&database(&arguments.data, inferred.path(), gold))?;
                place.insert(Auditor::new(&engine, database, RuleSelection::of(["all"])?))
            }
        };
        let judged = judge(auditor, gold, &arguments, &mut dump)?;
        halves[usize::from(Half::of(&gold.db_id) == Half::Report)].push(judged);
    }
    let [design, report] = &halves;
    let half = if arguments.half == Half::Design { design } else { report };
    by_rule(half);
    together(design, half);
    ranked(half);
    calibrated(half);
    people(&arguments.data)?;
    if arguments.fit {
        fit(design);
    }
    Ok(())
}

fn judge(
    auditor: &Auditor<'_>,
    gold: &Labelled,
    arguments: &Arguments,
    dump: &mut Option<File>,
) -> Result<Judged> {
    let audit = auditor.audit(&gold.sql, Some(&gold.question), Some(&gold.evidence), &[]);
    let is_wrong = gold.is_wrong(auditor.database().schema());
    if let Some(rule) = &arguments.show
        && Half::of(&gold.db_id) == arguments.half
    {
        for finding in audit.findings.iter().filter(|finding| finding.rule == rule) {
            let label = if is_wrong { "wrong" } else { "right" };
            println!("{label} {}: {}\n  {}\n  {}", SETS[gold.set], gold.question, gold.sql, finding.why);
        }
    }
    if let Some(file) = dump
        && Half::of(&gold.db_id) == Half::Design
    {
        let line = json!({
            "set": SETS[gold.set],
            "db_id": gold.db_id,
            "question": gold.question,
            "evidence": gold.evidence,
            "sql": gold.sql,
            "is_wrong": is_wrong,
            "remark": gold.remark,
            "unresolved": audit.unresolved,
            "findings": audit.findings.iter().map(|finding| (finding.rule, &finding.why)).collect::<Vec<_>>(),
        });
        writeln!(file, "{line}")?;
    }
    let is_on = |finding: &&Finding| finding.standing != RuleStanding::Hint;
    let on = ItemAudit {
        findings: audit.findings.iter().filter(is_on).cloned().collect(),
        ..ItemAudit::default()
    };
    Ok(Judged {
        confidence: on.confidence(),
        set: gold.set,
        is_wrong,
        is_resolved: audit.unresolved.is_none(),
        rules: audit.findings.iter().map(|finding| finding.rule).collect(),
    })
}

/// Right and wrong golds among those that a choice reports.
#[derive(Default, Clone, Copy)]
struct Counts {
    wrong: u64,
    reported: u64,
    hits: u64,
}

impl Counts {
    fn of<'j>(golds: impl Iterator<Item = &'j Judged>, is_reported: impl Fn(&Judged) -> bool) -> Self {
        golds.fold(Self::default(), |sum, gold| {
            let (wrong, reported) = (u64::from(gold.is_wrong), u64::from(is_reported(gold)));
            Self {
                wrong: sum.wrong + wrong,
                reported: sum.reported + reported,
                hits: sum.hits + wrong * reported,
            }
        })
    }

    fn text(self) -> String {
        if self.reported == 0 {
            return format!("{:>34}", "-");
        }
        let part = |hits: u64, all: u64| {
            let interval = wilson(hits, all, 0.95);
            let share = 100.0 * hits as f64 / all.max(1) as f64;
            format!("{share:3.0} [{:.0}, {:.0}]", 100.0 * interval.low, 100.0 * interval.high)
        };
        let (precision, recall) = (part(self.hits, self.reported), part(self.hits, self.wrong));
        format!("{:>4} {precision:>14} {recall:>14}", self.reported)
    }

    fn f1(self) -> f64 {
        2.0 * self.hits as f64 / (self.reported + self.wrong).max(1) as f64
    }
}

fn by_rule(golds: &[Judged]) {
    let head = SETS.map(|set| format!("{set:>4} precision      recall       "));
    println!("{:<26}{}", "rule", head.join(" "));
    let line = |name: &str, is_reported: &dyn Fn(&Judged) -> bool| {
        let of_set = |set: usize| Counts::of(golds.iter().filter(|gold| gold.set == set), is_reported).text();
        println!("{name:<26}{}", (0..SETS.len()).map(of_set).collect::<Vec<_>>().join(" "));
    };
    for rule in rules() {
        if golds.iter().any(|gold| gold.rules.contains(rule.name)) {
            line(rule.name, &|gold: &Judged| gold.rules.contains(rule.name));
        }
    }
    let on: BTreeSet<&str> = RuleSelection::default().rules().iter().map(|rule| rule.name).collect();
    line("any that is on", &|gold: &Judged| gold.rules.iter().any(|rule| on.contains(rule)));
    line("two or more that are on", &|gold: &Judged| {
        gold.rules.iter().filter(|rule| on.contains(*rule)).count() > 1
    });
    for (set, name) in SETS.iter().enumerate() {
        let all: Vec<_> = golds.iter().filter(|gold| gold.set == set).collect();
        let count = |has: &dyn Fn(&Judged) -> bool| all.iter().filter(|gold| has(gold)).count();
        let (wrong, resolved) = (count(&|gold| gold.is_wrong), count(&|gold| gold.is_resolved));
        println!("{name}: {} golds, {wrong} wrong, {resolved} resolved", all.len());
    }
}

/// What rules find together that have at least some precision on the databases for designing.
fn together(design: &[Judged], half: &[Judged]) {
    println!("\nrules with at least that precision on the design half, over all three sets");
    for least in [0.5, 0.6, 0.7, 0.75, 0.8, 0.9] {
        let is_good = |name: &str| {
            let counts = Counts::of(design.iter(), |gold| gold.rules.contains(name));
            counts.reported > 0 && counts.hits as f64 >= least * counts.reported as f64
        };
        let good: BTreeSet<&str> =
            rules().iter().map(|rule| rule.name).filter(|name| is_good(name)).collect();
        let is_reported = |gold: &Judged| gold.rules.iter().any(|rule| good.contains(rule));
        let all = Counts::of(half.iter(), is_reported);
        print!("{least:.2} {:>2} rules {} F1 {:.2}", good.len(), all.text(), all.f1());
        for (set, name) in SETS.iter().enumerate() {
            let of_set = Counts::of(half.iter().filter(|gold| gold.set == set), is_reported);
            print!("  {name} F1 {:.2}", of_set.f1());
        }
        println!();
    }
}

/// How many of the first golds of the ranking are wrong, when a share of the wrong ones is found.
fn ranked(golds: &[Judged]) {
    println!("\nprecision of the golds with the highest confidence that hold a share of the wrong ones");
    for (set, name) in SETS.iter().enumerate() {
        let mut all: Vec<&Judged> = golds.iter().filter(|gold| gold.set == set).collect();
        all.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
        let at = |least: f64| {
            // Golds with the same confidence are taken together.
            all.iter().map(|gold| gold.confidence).find_map(|border| {
                let counts = Counts::of(all.iter().copied(), |gold| gold.confidence >= border);
                (counts.hits as f64 >= least * counts.wrong as f64).then_some(counts)
            })
        };
        for least in [0.1, 0.2, 0.3, 0.4, 0.5] {
            println!("{name:<6} {least:.1} {}", at(least).unwrap_or_default().text());
        }
    }
}

/// Confidence beside the share that is wrong.
fn calibrated(golds: &[Judged]) {
    println!("\nconfidence   golds   mean confidence   wrong");
    for bin in 0..10 {
        let (low, high) = (f64::from(bin) / 10.0, f64::from(bin + 1) / 10.0);
        let of_bin: Vec<&Judged> =
            golds.iter().filter(|gold| gold.confidence >= low && gold.confidence < high).collect();
        if of_bin.is_empty() {
            continue;
        }
        let mean = of_bin.iter().map(|gold| gold.confidence).sum::<f64>() / of_bin.len() as f64;
        let counts = Counts::of(of_bin.iter().copied(), |_| true);
        let interval = wilson(counts.hits, counts.reported, 0.95);
        println!(
            "{low:.1}-{high:.1} {:>12} {:>17.0} {:>7.0} [{:.0}, {:.0}]",
            of_bin.len(),
            100.0 * mean,
            100.0 * counts.hits as f64 / counts.reported.max(1) as f64,
            100.0 * interval.low,
            100.0 * interval.high
        );
    }
}

/// How far people who corrected the same golds agree.
fn people(data: &Path) -> Result<()> {
    let texts = |path: &str, key: &str| -> Result<HashMap<String, String>> {
        let items = read(&data.join(path))?;
        let key = |item: &Value| item[key].as_str().map_or_else(|| item[key].to_string(), str::to_lowercase);
        Ok(items.iter().map(|item| (key(item), plain(&text(item, "SQL")))).collect())
    };
    println!(
        "\npeople beside people: golds that both looked at, changed by the first, by the second, by both"
    );
    let dev = texts("bird/dev.json", "question_id")?;
    let plat = texts("bird_corrected/arcwise_plat_sql.json", "question_id")?;
    let third = texts("bird_corrected/platinum_eval_gold.json", "question_id")?;
    let team = |file: &str| texts(&format!("human/bird_financial_noise/{file}.json"), "question");
    let (old, new) = (team("financial")?, team("financial_corrected_sql")?);
    let questions: HashMap<String, String> = read(&data.join("bird/dev.json"))?
        .iter()
        .map(|item| (text(item, "question").to_lowercase(), item["question_id"].to_string()))
        .collect();
    // By id whether the golds were changed, of those that both versions have.
    let changed = |old: &HashMap<String, String>, new: &HashMap<String, String>| -> HashMap<String, bool> {
        new.iter().filter_map(|(key, gold)| Some((key.clone(), old.get(key)? != gold))).collect()
    };
    let of_team = changed(&old, &new);
    let of_team = of_team
        .iter()
        .filter_map(|(question, is_changed)| Some((questions.get(question)?.clone(), *is_changed)));
    let of_plat = changed(&dev, &plat);
    for (name, other) in [
        ("plat, its later version", changed(&dev, &third)),
        ("plat, BIRD financial's team", of_team.collect()),
    ] {
        let pairs: Vec<(bool, bool)> =
            of_plat.iter().filter_map(|(id, is_changed)| Some((*is_changed, *other.get(id)?))).collect();
        let count = |has: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| has(pair)).count();
        let (first, second, both) =
            (count(|pair| pair.0), count(|pair| pair.1), count(|pair| pair.0 && pair.1));
        println!("{name:<28} {:>4} golds {first:>4} {second:>4} {both:>4}", pairs.len());
    }
    Ok(())
}

/// Fits log odds of the rules that are on: a logistic model with one intercept for each set, weights that are not negative, and a
/// penalty on their distance from the weight of the rule's standing, so that few golds move a weight little.
fn fit(golds: &[Judged]) {
    const PENALTY: f64 = 1.0;
    const STEPS: usize = 4_000;
    let on: Vec<&str> = RuleSelection::default().rules().iter().map(|rule| rule.name).collect();
    let rules: Vec<&str> =
        on.into_iter().filter(|rule| golds.iter().any(|gold| gold.rules.contains(rule))).collect();
    let prior = |rule: &&str| find(rule).map(|rule| rule.standing.prior()).unwrap_or_default();
    let priors: Vec<f64> = rules.iter().map(prior).collect();
    let (mut bases, mut weights) = ([0.0_f64; 3], priors.clone());
    let places: Vec<Vec<usize>> = golds
        .iter()
        .map(|gold| (0..rules.len()).filter(|&at| gold.rules.contains(rules[at])).collect())
        .collect();
    for _ in 0..STEPS {
        let (mut base_steps, mut steps) = ([0.0_f64; 3], vec![0.0_f64; rules.len()]);
        for (gold, places) in golds.iter().zip(&places) {
            let odds = bases[gold.set] + places.iter().map(|&at| weights[at]).sum::<f64>();
            let error = f64::from(u8::from(gold.is_wrong)) - 1.0 / (1.0 + (-odds).exp());
            base_steps[gold.set] += error;
            places.iter().for_each(|&at| steps[at] += error);
        }
        for (base, step) in bases.iter_mut().zip(base_steps) {
            *base += 0.002 * step;
        }
        for ((weight, step), prior) in weights.iter_mut().zip(steps).zip(&priors) {
            *weight = (*weight + 0.002 * (step - PENALTY * (*weight - prior))).max(0.0);
        }
    }
    println!("\nbase {:.2} {bases:.2?}", bases.iter().sum::<f64>() / 3.0);
    for (rule, weight) in rules.iter().zip(&weights) {
        println!("    (\"{rule}\", {weight:.2}),");
    }
}

fn golds(data: &Path) -> Result<Vec<Labelled>> {
    let dev = read(&data.join("bird/dev.json"))?;
    let by_question: HashMap<String, &Value> =
        dev.iter().map(|item| (text(item, "question"), item)).collect();
    let by_id: HashMap<String, &Value> =
        dev.iter().map(|item| (item["question_id"].to_string(), item)).collect();
    let mut golds = Vec::new();
    for item in read(&data.join("human/NL2SQL-Bugs.json"))? {
        let question = text(&item, "question");
        let evidence = by_question.get(&question).map(|item| text(item, "evidence")).unwrap_or_default();
        let is_wrong = item["label"] == Value::Bool(false);
        golds.push(Labelled {
            set: 0,
            db_id: text(&item, "db_id"),
            question,
            evidence,
            sql: text(&item, "sql"),
            is_wrong,
            remark: item["error_types"].clone(),
            corrected: None,
        });
    }
    for item in read(&data.join("bird_corrected/arcwise_plat_sql.json"))? {
        let id = item["question_id"].to_string();
        let original = by_id.get(&id).with_context(|| format!("dev.json has no question {id}"))?;
        let sql = text(original, "SQL");
        let is_wrong = plain(&sql) != plain(&text(&item, "SQL"));
        let [db_id, question, evidence] = ["db_id", "question", "evidence"].map(|name| text(original, name));
        golds.push(Labelled {
            set: 1,
            db_id,
            question,
            evidence,
            sql,
            is_wrong,
            remark: item["SQL"].clone(),
            corrected: Some(text(&item, "SQL")),
        });
    }
    for item in read(&data.join("bird_corrected/bird-verified-train.json"))? {
        // What was not changed has no original.
        let original = |name: &str| match text(&item, &format!("original_{name}")) {
            value if value.is_empty() => text(&item, name),
            value => value,
        };
        let [sql, question, evidence] = ["SQL", "question", "evidence"].map(original);
        let is_wrong = plain(&sql) != plain(&text(&item, "SQL"));
        let remark = json!([item["question"], item["evidence"], item["SQL"]]);
        golds.push(Labelled {
            set: 2,
            db_id: text(&item, "db_id"),
            question,
            evidence,
            sql,
            is_wrong,
            remark,
            corrected: Some(text(&item, "SQL")),
        });
    }
    Ok(golds)
}

fn read(path: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON list", path.display()))
}

fn text(item: &Value, name: &str) -> String {
    item[name].as_str().unwrap_or_default().trim().to_owned()
}

/// A query without differences that nobody means.
fn plain(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([';', ' ']).to_lowercase()
}

fn database(data: &Path, inferred: &Path, gold: &Labelled) -> PathBuf {
    let file = |root: PathBuf| root.join(&gold.db_id).join(format!("{}.sqlite", gold.db_id));
    let with_rows = file(data.join("bird/database"));
    match gold.set {
        2 => inferred.join(format!("{}.sqlite", gold.db_id)),
        _ if with_rows.exists() => with_rows,
        _ => file(data.join("bird/schema_only")),
    }
}

/// The columns of a database's tables, by names in lower case.
type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// Writes a database for each of the set without schemas: its tables and columns are those that the queries name.
fn infer(golds: &[Labelled], folder: &Path) -> Result<()> {
    let mut databases: BTreeMap<&str, Tables> = BTreeMap::new();
    for gold in golds.iter().filter(|gold| gold.set == 2) {
        let tables = databases.entry(&gold.db_id).or_default();
        name_columns(&gold.sql, tables);
        gold.corrected.iter().for_each(|sql| name_columns(sql, tables));
    }
    for (db_id, tables) in databases {
        let connection = rusqlite::Connection::open(folder.join(format!("{db_id}.sqlite")))?;
        for (table, columns) in tables {
            let list: Vec<String> = columns.values().map(|column| quote::name(column)).collect();
            let list = if list.is_empty() { "unknown".to_owned() } else { list.join(", ") };
            connection.execute_batch(&format!("CREATE TABLE {} ({list})", quote::name(&table)))?;
        }
    }
    Ok(())
}

const KEYWORDS: &str = " select distinct from where join inner left outer on and or not in like between is null as group by order having \
    limit asc desc case when then else end union all intersect except exists cast real integer float text int with over partition offset \
    cross collate true false numeric ";

fn name_columns(sql: &str, tables: &mut Tables) {
    let tokens: Vec<Token<'_>> = words(sql).collect();
    let lower = |at: usize| tokens.get(at).map(|token| token.unquoted().to_lowercase()).unwrap_or_default();
    let is_keyword = |token: &Token<'_>| KEYWORDS.contains(&format!(" {} ", token.text.to_lowercase()));
    let is_name = |at: usize| tokens.get(at).is_some_and(|token| token.is_name() && !is_keyword(token));
    let mut aliases: HashMap<String, String> = HashMap::new();
    let mut in_query: BTreeSet<String> = BTreeSet::new();
    for at in 0..tokens.len() {
        if matches!(lower(at).as_str(), "from" | "join") && is_name(at + 1) {
            let table = lower(at + 1);
            let alias = if lower(at + 2) == "as" { at + 3 } else { at + 2 };
            if is_name(alias) {
                aliases.insert(lower(alias), table.clone());
            }
            aliases.insert(table.clone(), table.clone());
            tables.entry(table.clone()).or_default();
            in_query.insert(table);
        }
    }
    for (at, token) in tokens.iter().enumerate().filter(|(at, _)| is_name(*at)) {
        let before = if at == 0 { String::new() } else { lower(at - 1) };
        let after = tokens.get(at + 1).map(|token| token.text).unwrap_or_default();
        let column = token.unquoted().into_owned();
        let table = if before == "." && at >= 2 {
            aliases.get(&lower(at - 2))
        } else if in_query.len() == 1
            && !matches!(after, "." | "(")
            && !matches!(before.as_str(), "as" | "from" | "join")
            && (token.kind != TokenKind::Quoted || !token.text.starts_with('"'))
            && !aliases.contains_key(&lower(at))
        {
            in_query.first()
        } else {
            None
        };
        if let Some(columns) = table.and_then(|table| tables.get_mut(table)) {
            columns.entry(column.to_lowercase()).or_insert(column);
        }
    }
}
