//! One item of a run with its rows: `sqlgauge show`.

mod empty;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sqlgauge_engine::{Engine, Limits, Moment, ResultSet};
use sqlgauge_metrics::MetricDetail;
use sqlgauge_report::{ItemView, Report, cause_title};
use sqlgauge_run::{Fixes, Item, Items, Manifest, Reason, Reasons, RunError, RunFiles, recorded_file};

use self::empty::emptied_by;
use crate::context::Context;
use crate::error::Error;
use crate::open_run::StoredReport;
use crate::settings::recorded_now;

/// Reads one item of a run, and runs its queries again to have all rows.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, ShowJob};
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["ex"], &run)?.run(&Context::default())?;
///
/// let job = ShowJob { system: Some("careful".to_owned()), ..ShowJob::new(run, "bike-01") };
/// let shown = job.run(&Context::default())?;
/// assert!(shown.gold_rows.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ShowJob {
    /// The run directory.
    pub folder: PathBuf,
    /// Id of the item.
    pub id: String,
    /// The system; without it, that of a run with one.
    pub system: Option<String>,
    /// Limits of the two queries.
    pub limits: Limits,
}

/// An item with the rows of its queries.
#[derive(Debug, Clone)]
pub struct ItemWithRows {
    /// The item.
    pub item: Item,
    /// What makes its answer wrong.
    pub why: Option<Reason>,
    /// Rows of the gold, if its database is still as it was scored.
    pub gold_rows: Option<Arc<ResultSet>>,
    /// Rows of the prediction, likewise.
    pub prediction_rows: Option<Arc<ResultSet>>,
    /// The metrics of the run, in the order asked for.
    pub metrics: Vec<String>,
}

/// The queries of an item with what they run on.
#[derive(Debug, Clone)]
pub struct ItemPair {
    /// The gold that the prediction was compared with.
    pub gold: String,
    /// The answer as the system gave it.
    pub prediction: String,
    /// The file of the database, which is as it was scored.
    pub database: PathBuf,
    /// What the run took for now.
    pub now: Option<Moment>,
}

/// That a run has no system of that name.
pub(crate) fn no_system(name: &str, systems: &str) -> String {
    format!("the run has no system {name:?}; its systems are {systems}")
}

/// The ids of the wrong answers of a run that count under a cause, given by id or name: of the named system, or of all.
///
/// # Errors
/// When the run cannot be read, or no answer counts under that cause.
pub fn items_of_cause(folder: &Path, system: Option<&str>, cause: &str) -> Result<Vec<String>, Error> {
    let Report { summary, items, .. } = StoredReport::read(folder)?.report;
    let lists = summary.systems.iter().filter(|each| system.is_none_or(|name| name == each.system));
    let lists: Vec<&Fixes> = lists.filter_map(|each| each.fixes.as_ref()).collect();
    if let Some(name) = system.filter(|name| summary.systems.iter().all(|each| each.system != **name)) {
        let systems = summary.systems.iter().map(|each| each.system.as_str()).collect::<Vec<_>>().join(", ");
        return Err(Error::Invalid(no_system(name, &systems)));
    }
    let causes: BTreeSet<&str> =
        lists.iter().flat_map(|list| &list.causes).map(|fix| fix.cause.as_str()).collect();
    let is_named = |id: &&str| *id == cause || cause_title(id).eq_ignore_ascii_case(cause);
    let Some((list, cause)) = lists.first().zip(causes.iter().copied().find(is_named)) else {
        let causes = causes.into_iter().map(cause_title).collect::<Vec<_>>().join(", ");
        let causes = if causes.is_empty() { String::new() } else { format!("; it has {causes}") };
        let folder = folder.display();
        return Err(Error::Invalid(format!("{folder} has no wrong answer with the cause {cause:?}{causes}")));
    };
    let RunFiles { manifest, .. } = RunFiles::open(folder)?;
    let reasons = Reasons::of_run(folder, &manifest);
    let mut ids = BTreeMap::new();
    items.for_each(|item| {
        let is_wrong = item.metrics.get(&list.metric).copied().flatten().is_some_and(|score| score < 1.0);
        if is_wrong
            && system.is_none_or(|name| name == item.system)
            && reasons.cause_of(item).as_deref() == Some(cause)
        {
            ids.insert(item.index, item.id.clone());
        }
        Ok::<(), RunError>(())
    })?;
    Ok(ids.into_values().collect())
}

/// An item as it stands in a run, and why its answer is wrong.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedItem {
    /// The item.
    #[serde(flatten)]
    pub item: Item,
    /// What makes its answer wrong; absent where it is not wrong, or nothing can be said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Reason>,
}

impl ShowJob {
    /// The item with that id in a run of one system.
    pub fn new(folder: impl Into<PathBuf>, id: impl Into<String>) -> Self {
        Self { folder: folder.into(), id: id.into(), system: None, limits: Limits::default() }
    }

    /// The item and its rows; the watcher is told why there are none.
    ///
    /// # Errors
    /// When the run cannot be read or has no such item, or a query cannot be started.
    pub fn run(&self, context: &Context<'_>) -> Result<ItemWithRows, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        let system = self.system(&manifest)?;
        let item = items.find(&system, &self.id)?;
        let item = item.ok_or_else(|| self.missing(&system, &items))?;
        let mut why = Reasons::of_run(&self.folder, &manifest).of(&item);
        let [gold_rows, prediction_rows] = match database_of(&self.folder, &manifest, &item.db_id) {
            Ok(path) => self.rows(&path, &item, recorded_now(&manifest)?, why.as_mut(), context)?,
            Err(why) => {
                let text = format!("{}; only the rows kept in the run are shown", crate::sentence(&why));
                context.watcher().note(&text);
                [None, None]
            }
        };
        Ok(ItemWithRows { item, why, gold_rows, prediction_rows, metrics: manifest.metrics })
    }

    /// The two queries of the item, with its database.
    ///
    /// # Errors
    /// When the run cannot be read or has no such item, the item has not both queries whole, or its database is not as it was scored.
    pub fn pair(&self) -> Result<ItemPair, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        let system = self.system(&manifest)?;
        let item = items.find(&system, &self.id)?;
        let Item { db_id, details, .. } = item.ok_or_else(|| self.missing(&system, &items))?;
        let golds = details.golds();
        let which = details.metrics.values().find_map(MetricDetail::gold).unwrap_or(0);
        let lacks = |what: &str| Error::Invalid(format!("item {:?} of {system} has no {what}", self.id));
        let gold = golds.get(which).or(golds.first()).ok_or_else(|| lacks("gold"))?;
        let prediction =
            details.whole_prediction().ok_or_else(|| lacks("answer, or the log holds only its beginning"))?;
        Ok(ItemPair {
            gold: gold.clone(),
            prediction: prediction.to_owned(),
            database: database_of(&self.folder, &manifest, &db_id)?,
            now: recorded_now(&manifest)?,
        })
    }

    /// The item as it stands in the run, of the system or of every system, each with what makes its answer wrong.
    ///
    /// # Errors
    /// When the run cannot be read or has no such item.
    pub fn items(&self) -> Result<Vec<ExplainedItem>, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        let systems = match &self.system {
            Some(_) => vec![self.system(&manifest)?],
            None => manifest.systems.clone(),
        };
        let reasons = Reasons::of_run(&self.folder, &manifest);
        let mut all = Vec::with_capacity(systems.len());
        for system in &systems {
            let item = items.find(system, &self.id)?;
            all.extend(item.map(|item| ExplainedItem { why: reasons.of(&item), item }));
        }
        if all.is_empty() { Err(self.missing(&systems.join(", "), &items)) } else { Ok(all) }
    }

    fn system(&self, manifest: &Manifest) -> Result<String, Error> {
        let systems = manifest.systems.join(", ");
        match (&self.system, manifest.systems.as_slice()) {
            (Some(name), all) if all.contains(name) => Ok(name.clone()),
            (Some(name), _) => Err(Error::Invalid(no_system(name, &systems))),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(Error::Invalid(format!(
                "the run has several systems; choose one with --system: {systems}"
            ))),
        }
    }

    fn missing(&self, system: &str, items: &Items) -> Error {
        let [mut first, mut last] = [None, None];
        let walked = items.for_each(|item| {
            if item.system == system {
                first.get_or_insert_with(|| item.id.clone());
                last = Some(item.id.clone());
            }
            Ok::<(), RunError>(())
        });
        let (run, id) = (self.folder.display(), &self.id);
        Error::Invalid(match (walked, first, last) {
            (Err(error), ..) => return error.into(),
            (_, Some(first), Some(last)) => {
                format!("{run} has no item {id:?} of {system}; its ids go from {first:?} to {last:?}")
            }
            _ => format!("{run} has no item {id:?} of {system}; finish the run first"),
        })
    }

    /// The rows of both queries. Where the gold alone has none, the reason says which of its conditions leaves none.
    fn rows(
        &self,
        path: &Path,
        item: &Item,
        now: Option<Moment>,
        why: Option<&mut Reason>,
        context: &Context<'_>,
    ) -> Result<[Option<Arc<ResultSet>>; 2], Error> {
        let engine = context.sqlite(self.limits, now.unwrap_or_else(Moment::now))?;
        let database = engine.open(path)?;
        let run = |sql: &str| engine.run(&database, sql).outcome.rows().cloned();
        let golds = ItemView::new(item).golds();
        let gold = golds.iter().find_map(|sql| Some((*sql, run(sql)?)));
        // A prediction that the log keeps only in part would not show what was scored.
        let prediction = item.details.whole_prediction().and_then(run);
        let has_rows = |rows: &Option<Arc<ResultSet>>| rows.as_ref().is_some_and(|rows| !rows.is_empty());
        if let (Some((sql, rows)), Some(why)) = (&gold, why)
            && rows.is_empty()
            && has_rows(&prediction)
            && let Some(condition) = emptied_by(database.schema(), sql, |sql| has_rows(&run(sql)))
        {
            let earlier = why.sentence.take().map_or_else(String::new, |sentence| sentence + " ");
            why.sentence =
                Some(format!("{earlier}The gold returns no row: without `{condition}` it returns some."));
        }
        Ok([gold.map(|(_, rows)| rows), prediction])
    }
}

/// The database of an item, if it is still the one that was scored ([`recorded_file`]).
pub(crate) fn database_of(run: &Path, manifest: &Manifest, db_id: &str) -> Result<PathBuf, Error> {
    let role = format!("database:{db_id}");
    let input = manifest.inputs.iter().find(|input| input.role == role);
    let unsaid = || Error::Invalid(format!("the run does not say where database {db_id} is"));
    let input = input.ok_or_else(unsaid)?;
    recorded_file(run, input).map_err(|why| Error::Invalid(format!("the database {} {why}", input.path)))
}

#[cfg(test)]
mod tests {
    use sqlgauge_run::{InputRecord, read_manifest};

    use super::*;
    use crate::Sample;

    #[test]
    fn a_database_is_found_from_above_the_run_and_only_if_it_is_the_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = Sample::unpack(&folder.path().join("sample")).expect("unpacked");
        let run = folder.path().join("runs/one");
        sample.score_job(&["ex"], &run).expect("a job").run(&Context::default()).expect("a run");
        let mut manifest = read_manifest(&run).expect("a manifest");
        let name = "bike_rental";
        let whole = database_of(&run, &manifest, name).expect("as it stands there");
        let is_of = |input: &&mut InputRecord| input.role == format!("database:{name}");
        let input = manifest.inputs.iter_mut().find(is_of).expect("the database");
        let inside = whole.strip_prefix(folder.path()).expect("below the folder");
        input.path = inside.display().to_string();
        let path = database_of(&run, &manifest, name).expect("from above");
        assert_eq!(path.canonicalize().expect("it is there"), whole.canonicalize().expect("it is there"));
        std::fs::write(&whole, "another").expect("writable");
        assert!(database_of(&run, &manifest, name).is_err());
    }

    #[test]
    fn the_condition_that_leaves_a_gold_no_row_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = Sample::unpack(&folder.path().join("sample")).expect("unpacked");
        let engine = Context::default().sqlite(Limits::default(), Moment::now()).expect("an engine");
        let database = engine.open(&sample.database("town_library")).expect("the database");
        let has_rows =
            |sql: &str| engine.run(&database, sql).outcome.rows().is_some_and(|rows| !rows.is_empty());
        let of = |gold: &str| emptied_by(database.schema(), gold, has_rows);
        let joined = "SELECT l.loan_id FROM loan AS l JOIN member AS m ON l.member_id = m.member_id AND m.name = 'Nobody'";
        assert_eq!(of(joined).as_deref(), Some("member.name = 'Nobody'"));
        let grouped = "SELECT member_id FROM loan GROUP BY member_id HAVING count(*) > 9999";
        assert_eq!(of(grouped).as_deref(), Some("count(*) > 9999"));
        assert_eq!(of("SELECT loan_id FROM loan WHERE loan_id = -1 AND member_id = -1"), None);
    }

    /// The log has facts. Whoever looks gets the sentence, or is told that the database is gone.
    #[test]
    fn a_reader_makes_the_sentence() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = Sample::unpack(&folder.path().join("sample")).expect("unpacked");
        let run = folder.path().join("run");
        let report = sample.score_job(&["ex"], &run).expect("a job").run(&Context::default()).expect("a run");
        assert!(report.summary.systems.iter().any(|system| system.fixes.is_some()));
        let read = |name: &str| std::fs::read_to_string(run.join(name)).expect("a text");
        assert!(!read("items.jsonl").contains("The prediction") && !read("items.jsonl").contains("sentence"));
        assert!(read("report.html").contains("The prediction tests `"));
        let job = ShowJob { system: Some("careful".to_owned()), ..ShowJob::new(&run, "lib-08") };
        let words = || {
            let why = job.run(&Context::default()).expect("the item").why.expect("a reason");
            why.words().expect("words")
        };
        assert_eq!(words(), "The prediction tests `back_on >= due_on`, the gold `back_on > due_on`.");
        std::fs::remove_file(sample.database("town_library")).expect("removed");
        let gone = words();
        assert!(gone.starts_with("Not known: the database ") && gone.contains("cannot be read"), "{gone}");
        let page = folder.path().join("later.html");
        let report = crate::ReportJob { out: Some(page.clone()), ..crate::ReportJob::new(&run, "html") };
        report.run(&Context::default()).expect("a report");
        assert!(std::fs::read_to_string(page).expect("a page").contains("cannot be read"));
    }
}
