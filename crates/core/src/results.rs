//! Results that somebody else computed, scored against gold results: `sqlgauge score --results`.
//!
//! # Contract
//! - No query runs. Every metric of `sqlgauge-results` scores every item that the golds have.
//! - An item without a result counts as wrong in the run; the table also has the mean over the items that have one, which is what
//!   the official script of Spider 2 prints first. Items without a gold, and results of no item, are named.
//! - The run directory is as of [`crate::ScoreJob`]; `results.json`, `results.md`, `results.html` have the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::{Map, Value, json};
use sqlgauge_report::Report;
use sqlgauge_report::document::{Document, Section, Table};
use sqlgauge_report::words::share;
use sqlgauge_results::{
    Bundle, FairRules, Gold, GoldFolder, ItemConfig, METRICS, MISSING, ResultFile, ResultFolder,
    ResultJudgement, Unreadable, is_readable, judge, most_rows, read_config, read_table,
};
use sqlgauge_run::{Details, ITEMS, Item, Manifest, MetricDetail, RunDirectory, RunError};

use crate::context::Context;
use crate::error::Error;
use crate::guard::keep_inputs_of_run;
use crate::open_run::{finish_run, start};
use crate::source::{Source, digest_sources};

/// The results of one system.
#[derive(Debug, Clone)]
pub struct SystemResults {
    /// Its name.
    pub name: String,
    /// A folder with one file per item, or a bundle that has its results.
    pub path: PathBuf,
}

/// Scores results against gold results.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, ResultsJob, SystemResults};
///
/// let folder = tempfile::tempdir()?;
/// let [golds, mine] = ["golds", "mine"].map(|name| folder.path().join(name));
/// for (path, text) in [(&golds, "name,n\na,1\nb,2\n"), (&mine, "n,name\n2,b\n1,a\n")] {
///     std::fs::create_dir(path)?;
///     std::fs::write(path.join("q1.csv"), text)?;
/// }
/// let systems = vec![SystemResults { name: "mine".to_owned(), path: mine }];
/// let scored = ResultsJob::new(systems, Some(golds), folder.path().join("run")).run(&Context::default())?;
/// assert_eq!(scored.systems[0].metrics["fair@1"].right, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ResultsJob {
    /// The systems, in their order.
    pub systems: Vec<SystemResults>,
    /// The folder with gold results; not needed where every system is a bundle, which has them.
    pub golds: Option<PathBuf>,
    /// The configuration of the items, JSON lines.
    pub config: Option<PathBuf>,
    /// What `fair` allows.
    pub rules: FairRules,
    /// The run directory.
    pub out: PathBuf,
    /// Discard the run that is there.
    pub restart: bool,
    /// The command or call, for the record.
    pub command: Vec<String>,
}

/// What came of it.
pub struct ScoredResults {
    /// The report of the run.
    pub report: Report,
    /// The systems, in their order.
    pub systems: Vec<SystemOutcome>,
    /// Items without a gold that can be read.
    pub without_gold: Vec<String>,
    /// The tables.
    pub document: Document,
}

/// What came of one system.
#[derive(Debug, Clone, Default)]
pub struct SystemOutcome {
    /// Its name.
    pub system: String,
    /// By metric id.
    pub metrics: BTreeMap<String, MetricCounts>,
    /// Results that belong to no item.
    pub strangers: Vec<String>,
    /// Entries of its folder that are not read.
    pub left: Vec<String>,
    /// Items on which the metrics differ: id, and what each says.
    pub differ: Vec<(String, Vec<String>)>,
}

/// Items by what a metric says of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetricCounts {
    /// Right ones.
    pub right: usize,
    /// Items with a result that have a score.
    pub answered: usize,
    /// Items that have a score, those without a result too.
    pub scored: usize,
    /// Items of which nobody knows.
    pub unknown: usize,
}

/// Where results and golds come from.
enum Origin {
    Folder(ResultFolder),
    Bundle(Rc<Bundle>),
}

impl Origin {
    fn open(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            Ok(Self::Folder(ResultFolder::open(path)?))
        } else {
            Ok(Self::Bundle(Rc::new(Bundle::open(path)?)))
        }
    }
}

enum Golds {
    Folder(GoldFolder),
    Bundle(Box<Bundle>),
}

impl Golds {
    fn items(&self) -> &[ItemConfig] {
        match self {
            Self::Folder(folder) => &folder.items,
            Self::Bundle(bundle) => &bundle.items,
        }
    }

    /// Entries of their folder that are not read.
    fn left(&self) -> &[String] {
        match self {
            Self::Folder(folder) => folder.left(),
            Self::Bundle(_) => &[],
        }
    }

    fn read(&self, id: &str) -> Vec<Gold> {
        match self {
            Self::Folder(folder) => folder.read(id),
            Self::Bundle(bundle) => bundle.golds(id),
        }
    }
}

impl ResultsJob {
    /// The job with the defaults of the command line.
    pub fn new(systems: Vec<SystemResults>, golds: Option<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self { systems, golds, out: out.into(), ..Self::default() }
    }

    /// Scores, and writes the run directory with its page and tables.
    ///
    /// # Errors
    /// When the golds or the configuration cannot be read, a folder has not a single result, or the directory cannot be written. What
    /// is wrong with one result is an outcome of its item.
    pub fn run(&self, context: &Context<'_>) -> Result<ScoredResults, Error> {
        let golds = self.open_golds()?;
        let (systems, origins) = self.systems()?;
        let manifest = self.manifest(&golds, &systems, &origins)?;
        keep_inputs_of_run(&self.out, &manifest)?;
        let directory = RunDirectory::create(&self.out, &manifest, start(self.restart))?;
        let mut outcomes: Vec<SystemOutcome> =
            systems.iter().map(|system| SystemOutcome::new(&system.name)).collect();
        let mut without_gold = BTreeSet::new();
        let path = self.out.join(ITEMS);
        directory.write_file(ITEMS, |out| {
            let unwritable = |source| RunError::Unwritable { path: path.clone(), source };
            context.watcher().started("items", golds.items().len() * origins.len(), 0);
            for (at, (outcome, origin)) in outcomes.iter_mut().zip(&origins).enumerate() {
                for (index, config) in golds.items().iter().enumerate() {
                    let item = self.item(outcome, origin, &golds, (index, config), &mut without_gold);
                    write_item(out, &item).map_err(unwritable)?;
                    context.watcher().advanced(at * golds.items().len() + index + 1);
                }
            }
            Ok::<(), RunError>(())
        })?;
        for (outcome, origin) in outcomes.iter_mut().zip(&origins) {
            outcome.strangers = strangers(origin, golds.items());
            if let Origin::Folder(folder) = origin {
                outcome.left.clone_from(&folder.left);
            }
        }
        let report = finish_run(&directory, Vec::new())?;
        let without_gold: Vec<String> = without_gold.into_iter().collect();
        let document = document(&outcomes, &without_gold, golds.left());
        document.write_to(&self.out, "results", &to_json(&outcomes, &without_gold, &golds))?;
        Ok(ScoredResults { report, systems: outcomes, without_gold, document })
    }

    /// The systems with the places of their results. A bundle of several systems stands for all of them, unless it is given the
    /// name of one.
    fn systems(&self) -> Result<(Vec<SystemResults>, Vec<Origin>), Error> {
        let (mut systems, mut origins) = (Vec::new(), Vec::new());
        for system in &self.systems {
            match Origin::open(&system.path)? {
                Origin::Bundle(bundle) if !names_one(&bundle.head.systems, &system.name) => {
                    if system.path.file_stem().is_none_or(|stem| stem.to_string_lossy() != system.name) {
                        return Err(Error::Invalid(format!(
                            "{} has no results of {:?}; give the file alone for all its systems, or the name of one: {}",
                            system.path.display(),
                            system.name,
                            listed(&bundle.head.systems)
                        )));
                    }
                    for name in &bundle.head.systems {
                        systems.push(SystemResults { name: name.clone(), path: system.path.clone() });
                        origins.push(Origin::Bundle(Rc::clone(&bundle)));
                    }
                }
                origin => {
                    systems.push(system.clone());
                    origins.push(origin);
                }
            }
        }
        Ok((systems, origins))
    }

    fn open_golds(&self) -> Result<Golds, Error> {
        let config = self.config.as_deref().map(read_config).transpose()?;
        if let Some(path) = &self.golds {
            return Ok(Golds::Folder(GoldFolder::open(path, config)?));
        }
        let bundle = self.systems.first().filter(|system| system.path.is_file());
        let Some(bundle) = bundle else {
            let text =
                "--gold-results is missing: give the folder with the gold results; only a bundle has its own";
            return Err(Error::Invalid(text.to_owned()));
        };
        Ok(Golds::Bundle(Box::new(Bundle::open(&bundle.path)?)))
    }

    fn item(
        &self,
        outcome: &mut SystemOutcome,
        origin: &Origin,
        golds: &Golds,
        (index, config): (usize, &ItemConfig),
        without_gold: &mut BTreeSet<String>,
    ) -> Item {
        let read = golds.read(&config.id);
        if read.iter().all(|gold| gold.table.is_err()) {
            without_gold.insert(config.id.clone());
        }
        let (result, status) = Self::result(&outcome.system, origin, &config.id, most_rows(&read));
        let judgement = judge(result, &read, config, self.rules);
        outcome.count(&config.id, &judgement);
        item_of(&outcome.system, index, config, &judgement, status)
    }

    /// The result of an item, if there is one, and the status that a bundle states.
    fn result(
        system: &str,
        origin: &Origin,
        id: &str,
        most_rows: usize,
    ) -> (Option<Result<ResultFile, Unreadable>>, Option<String>) {
        match origin {
            Origin::Folder(folder) => (folder.file(id).map(|file| read_table(file, most_rows)), None),
            Origin::Bundle(bundle) => {
                // A bundle with one system is that system, whatever name it is given now.
                let name = match bundle.head.systems.as_slice() {
                    [only] => only,
                    _ => system,
                };
                bundle.result(name, id).map_or((None, None), |(result, status)| (Some(result), status))
            }
        }
    }

    fn manifest(
        &self,
        golds: &Golds,
        systems: &[SystemResults],
        origins: &[Origin],
    ) -> Result<Manifest, Error> {
        let file = |role: String, path: &Path| (role, Source::from(path));
        let mut inputs: Vec<(String, Source)> = Vec::new();
        inputs.extend(self.config.iter().map(|path| file("config".to_owned(), path)));
        if let Golds::Folder(folder) = golds {
            let of_item = |item: &ItemConfig| folder.files(&item.id);
            inputs.extend(folder.items.iter().flat_map(of_item).map(|path| file("gold".to_owned(), &path)));
        }
        for (system, origin) in systems.iter().zip(origins) {
            let role = format!("results:{}", system.name);
            match origin {
                Origin::Bundle(_) => inputs.push(file(role, &system.path)),
                Origin::Folder(folder) => {
                    let files = golds.items().iter().filter_map(|item| folder.file(&item.id));
                    let files = files.filter(|path| is_readable(path));
                    inputs.extend(files.map(|path| file(role.clone(), path)));
                }
            }
        }
        let options = BTreeMap::from([
            ("tolerance".to_owned(), json!(self.rules.tolerance)),
            ("extra_columns".to_owned(), json!(self.rules.extra_columns)),
        ]);
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine_of(origins),
            command: self.command.clone(),
            metrics: METRICS.iter().map(|metric| metric.id().to_owned()).collect(),
            systems: systems.iter().map(|system| system.name.clone()).collect(),
            inputs: digest_sources(&inputs)?,
            options,
            examples: golds.items().len(),
        })
    }
}

/// Whether a bundle has results under that name: one with a single system is that system, whatever name it is given now.
fn names_one(systems: &[String], name: &str) -> bool {
    systems.len() <= 1 || systems.iter().any(|system| system == name)
}

fn engine_of(origins: &[Origin]) -> String {
    let engines: BTreeSet<&str> = origins
        .iter()
        .filter_map(|origin| {
            if let Origin::Bundle(bundle) = origin { Some(bundle.head.engine.as_str()) } else { None }
        })
        .collect();
    let engines: Vec<&str> = engines.into_iter().collect();
    if engines.is_empty() { "none: results were computed elsewhere".to_owned() } else { engines.join(", ") }
}

fn strangers(origin: &Origin, items: &[ItemConfig]) -> Vec<String> {
    let Origin::Folder(folder) = origin else { return Vec::new() };
    let ids: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    folder.names().filter(|name| !ids.contains(name)).map(str::to_owned).collect()
}

fn item_of(
    system: &str,
    index: usize,
    config: &ItemConfig,
    judgement: &ResultJudgement,
    status: Option<String>,
) -> Item {
    let ids = METRICS.iter().map(|metric| metric.id().to_owned());
    let detail = |(id, verdict): (String, &sqlgauge_results::ResultVerdict)| {
        let mut detail = MetricDetail::default();
        if let Some(reason) = &verdict.reason {
            detail = detail.because(reason.as_str());
        }
        if let Some(gold) = verdict.gold {
            detail = detail.with("gold", gold);
        }
        (id, detail)
    };
    Item {
        system: system.to_owned(),
        id: config.id.clone(),
        index,
        db_id: String::new(),
        status: status.unwrap_or_else(|| judgement.status.to_owned()),
        metrics: ids.clone().zip(judgement.verdicts.iter().map(|verdict| verdict.value)).collect(),
        details: Details {
            metrics: ids
                .zip(&judgement.verdicts)
                .map(detail)
                .filter(|(_, detail)| !detail.is_empty())
                .collect(),
            ..Details::default()
        },
    }
}

fn write_item(out: &mut dyn io::Write, item: &Item) -> io::Result<()> {
    serde_json::to_writer(&mut *out, item)?;
    out.write_all(b"\n")
}

impl SystemOutcome {
    fn new(system: &str) -> Self {
        Self { system: system.to_owned(), ..Self::default() }
    }

    fn count(&mut self, id: &str, judgement: &ResultJudgement) {
        for (metric, verdict) in METRICS.iter().zip(&judgement.verdicts) {
            let counts = self.metrics.entry(metric.id().to_owned()).or_default();
            let is_scored = verdict.value.is_some();
            counts.right += usize::from(verdict.value == Some(1.0));
            counts.scored += usize::from(is_scored);
            counts.answered += usize::from(is_scored && judgement.status != MISSING);
            counts.unknown += usize::from(!is_scored);
        }
        let values: Vec<Option<f64>> = judgement.verdicts.iter().map(|verdict| verdict.value).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            let words = |verdict: &sqlgauge_results::ResultVerdict| {
                let value = verdict.value.map_or("–", |value| if value > 0.0 { "1" } else { "0" });
                let reason =
                    verdict.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!("{value}{reason}")
            };
            self.differ.push((id.to_owned(), judgement.verdicts.iter().map(words).collect()));
        }
    }
}

/// The tables: scores with their denominators, the items where the metrics differ, what is missing or too much.
fn document(outcomes: &[SystemOutcome], without_gold: &[String], left_golds: &[String]) -> Document {
    let mut document = Document::new("Results");
    let note = "percent with 95 % intervals. The official script counts items that have a result; over all items with a gold, a missing \
                result is wrong";
    document.add(Section::new("Scores", note, scores(outcomes)));
    let note = "what each says, and why";
    document.add(Section::new("Items where the metrics differ", note, differing(outcomes)));
    let note = "items without a readable gold, results of no item, and files that were not read";
    document.add(Section::new("Left out", note, left_out(outcomes, without_gold, left_golds)));
    document
}

fn scores(outcomes: &[SystemOutcome]) -> Table {
    let columns = ["system", "metric", "right", "with a result", "of", "all with a gold", "of", "no verdict"];
    let mut table = Table::new(columns);
    for outcome in outcomes {
        for (metric, counts) in &outcome.metrics {
            let MetricCounts { right, answered, scored, unknown } = *counts;
            table.push([
                outcome.system.clone(),
                metric.clone(),
                right.to_string(),
                share(right, answered),
                answered.to_string(),
                share(right, scored),
                scored.to_string(),
                unknown.to_string(),
            ]);
        }
    }
    table
}

fn differing(outcomes: &[SystemOutcome]) -> Table {
    let mut table = Table::new(["system", "id"].into_iter().chain(METRICS.iter().map(|metric| metric.id())));
    for outcome in outcomes {
        for (id, verdicts) in &outcome.differ {
            table.push([&outcome.system, id].into_iter().chain(verdicts));
        }
    }
    table
}

fn left_out(outcomes: &[SystemOutcome], without_gold: &[String], left_golds: &[String]) -> Table {
    let mut table = Table::new(["what", "ids"]);
    let mut add = |what: String, ids: &[String]| {
        if !ids.is_empty() {
            table.push([what, listed(ids)]);
        }
    };
    add("no gold".to_owned(), without_gold);
    add("not read: golds".to_owned(), left_golds);
    for outcome in outcomes {
        add(format!("no item: results of {}", outcome.system), &outcome.strangers);
        add(format!("not read: entries of {}", outcome.system), &outcome.left);
    }
    table
}

/// The first ids, and how many more there are.
fn listed(ids: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = ids.len().saturating_sub(SHOWN);
    let first = ids[..ids.len().min(SHOWN)].join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

fn to_json(outcomes: &[SystemOutcome], without_gold: &[String], golds: &Golds) -> Value {
    let metric = |counts: &MetricCounts| json!({"right": counts.right, "answered": counts.answered, "scored": counts.scored, "unknown": counts.unknown});
    let system = |outcome: &SystemOutcome| {
        let metrics: Map<String, Value> =
            outcome.metrics.iter().map(|(id, counts)| (id.clone(), metric(counts))).collect();
        let differ: Vec<Value> =
            outcome.differ.iter().map(|(id, verdicts)| json!({"id": id, "said": verdicts})).collect();
        json!({"system": outcome.system, "metrics": metrics, "no_item": outcome.strangers, "not_read": outcome.left, "differ": differ})
    };
    let systems: Vec<Value> = outcomes.iter().map(system).collect();
    json!({"items": golds.items().len(), "no_gold": without_gold, "golds_not_read": golds.left(), "systems": systems})
}
