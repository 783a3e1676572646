//! Two systems of any runs item by item: which items only one gets right, which neither, and what makes the answers wrong.

use std::collections::HashMap;
use std::sync::PoisonError;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sqlgauge_core::{CompareJob, SystemComparison};
use sqlgauge_run::{Comparison, Item, RawItem, Reason, Reasons, RunError, RunFiles};

use crate::runs::{FoundRun, LogState};
use crate::{Dashboard, ViewError};

/// Two systems, each of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Pair {
    a: String,
    b: String,
    first: String,
    second: String,
    metric: Option<String>,
    /// An item, where one is asked for.
    id: Option<String>,
}

/// The last comparison that was made.
pub(crate) struct KnownPair {
    pair: Pair,
    states: [LogState; 2],
    json: Bytes,
}

/// Which of the two is better on an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    First,
    Second,
    Neither,
}

/// An item that the page lists.
#[derive(Serialize)]
struct PairItem {
    id: String,
    side: Side,
    db: String,
    difficulty: Option<String>,
    hardness: Option<String>,
    question: Option<String>,
    /// Why the answer is wrong: the second's where only the first is right or neither, else the first's.
    cause: String,
}

/// What the second system's answer must say where the first's is met.
struct Answer {
    /// Hash of database and golds.
    question: u64,
    score: Option<f64>,
    cause: String,
}

/// What the page shows of two systems.
#[derive(Serialize)]
struct Compared {
    metric: String,
    /// Their counts are of items on which a system is better, not higher.
    comparisons: Vec<Comparison>,
    both: usize,
    items: Vec<PairItem>,
    notes: Vec<String>,
    /// The questions that intervals are about.
    about: String,
    /// The tests behind the p-values.
    tests: String,
}

impl Dashboard {
    fn two(&self, pair: &Pair) -> Result<[FoundRun; 2], ViewError> {
        Ok([self.run(&pair.a)?, self.run(&pair.b)?])
    }

    /// As JSON what `sqlgauge compare` says of the two, and the items on which not both are right. Asked again, it is not made again
    /// unless a log has changed.
    pub(crate) fn compared(&self, pair: &Pair) -> Result<Bytes, ViewError> {
        let runs = self.two(pair)?;
        let states = runs.each_ref().map(FoundRun::state);
        let mut cached = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.pair == *pair && cached.states == states)
        {
            return Ok(cached.json.clone());
        }
        // The one before goes before the next is made.
        *cached = None;
        let json =
            serde_json::to_vec(&compare(runs, pair)?).map_err(|error| ViewError::Start(error.into()))?;
        let json = Bytes::from(json);
        *cached = Some(KnownPair { pair: pair.clone(), states, json: json.clone() });
        Ok(json)
    }

    /// The texts of one item of both.
    pub(crate) fn pair_of(&self, pair: &Pair) -> Result<Value, ViewError> {
        let [a, b] = self.two(pair)?;
        let id = pair.id.as_deref().unwrap_or_default();
        let of = |run: &FoundRun, system: &str| -> Result<(Item, Option<Reason>), ViewError> {
            let unknown = || ViewError::UnknownItem { system: system.to_owned(), id: id.to_owned() };
            let RunFiles { manifest, items, .. } = RunFiles::open(&run.path)?;
            let item = items.find(system, id)?.ok_or_else(unknown)?;
            let why = Reasons::of_run(&run.path, &manifest).of(&item);
            Ok((item, why))
        };
        let ((first, why_first), (second, why_second)) = (of(&a, &pair.first)?, of(&b, &pair.second)?);
        Ok(json!({
            "question": first.details.question,
            "evidence": first.details.evidence,
            "golds": first.details.golds(),
            "first": answer(&first, why_first.as_ref()),
            "second": answer(&second, why_second.as_ref()),
        }))
    }
}

/// Compares two systems, each of a run.
fn compare([a, b]: [FoundRun; 2], pair: &Pair) -> Result<Compared, ViewError> {
    let job = CompareJob {
        other: (a.id != b.id).then(|| b.path.clone()),
        systems: vec![pair.first.clone(), pair.second.clone()],
        metric: pair.metric.clone(),
        ..CompareJob::new(&a.path)
    };
    let compared = job.run()?;
    let second = answers_of(&b, &pair.second, &compared.metric)?;
    let (both, items) = items_of(&compared, &a, &pair.first, &second)?;
    let SystemComparison { summary, metric, notes, .. } = compared;
    let about = sqlgauge_report::clusters::about(&summary);
    let tests = sqlgauge_report::words::tests(&summary.comparisons);
    let mut comparisons = summary.comparisons;
    for one in &mut comparisons {
        (one.only_first, one.only_second) = one.in_favour();
    }
    Ok(Compared { metric, comparisons, both, items, notes, about, tests })
}

fn answer(item: &Item, why: Option<&Reason>) -> Value {
    json!({
        "prediction": item.details.prediction,
        "status": item.status,
        "error": item.details.error,
        "why": why.and_then(Reason::words),
    })
}

fn answers_of(run: &FoundRun, system: &str, metric: &str) -> Result<HashMap<String, Answer>, ViewError> {
    let mut answers = HashMap::new();
    let RunFiles { manifest, items, .. } = RunFiles::open(&run.path)?;
    let reasons = Reasons::of_run(&run.path, &manifest);
    items.for_each_raw_of(
        &[system],
        |item| Answer::of(item, metric, &reasons),
        |item| {
            answers.insert(item.id, item.content);
            Ok::<(), RunError>(())
        },
    )?;
    Ok(answers)
}

impl Answer {
    fn of(item: &RawItem<'_>, metric: &str, reasons: &Reasons) -> serde_json::Result<Self> {
        let score = item.metrics.get(metric).copied().flatten();
        Ok(Self { question: item.asked()?, score, cause: cause_of(item, reasons)? })
    }
}

/// What a wrong answer is listed under.
fn cause_of(item: &RawItem<'_>, reasons: &Reasons) -> serde_json::Result<String> {
    if item.status != "ok" {
        return Ok(item.status.replace('_', " "));
    }
    let causes = reasons.of_raw(item)?.map(|reason| reason.causes).unwrap_or_default();
    Ok(causes.into_iter().next().unwrap_or_else(|| "not explained".to_owned()))
}

/// How many items both get right, and the others in the order of the golds. Of the first run's items only those that are listed are kept.
fn items_of(
    compared: &SystemComparison,
    run: &FoundRun,
    system: &str,
    second: &HashMap<String, Answer>,
) -> Result<(usize, Vec<PairItem>), ViewError> {
    let named = |ids: &'_ [String], side| ids.iter().map(move |id| (id.clone(), side)).collect::<Vec<_>>();
    let sides: HashMap<String, Side> = named(&compared.only_first, Side::First)
        .into_iter()
        .chain(named(&compared.only_second, Side::Second))
        .collect();
    let RunFiles { manifest, items, .. } = RunFiles::open(&run.path)?;
    let reasons = Reasons::of_run(&run.path, &manifest);
    let listed_of = |item: &RawItem<'_>| {
        let answer = Answer::of(item, &compared.metric, &reasons)?;
        let other = second.get(item.id.as_ref()).filter(|other| other.question == answer.question);
        let Some(other) = other else { return Ok(Place::Nowhere) };
        let side = match (sides.get(item.id.as_ref()), answer.score, other.score) {
            (Some(side), ..) => *side,
            (None, Some(a), Some(_)) if a < 1.0 => Side::Neither,
            (None, Some(_), Some(_)) => return Ok(Place::Both),
            (None, ..) => return Ok(Place::Nowhere),
        };
        Ok(Place::Listed(item.index, PairItem::of(item, side, answer, other)?))
    };
    let (mut both, mut listed) = (0, Vec::new());
    items.for_each_raw_of(&[system], listed_of, |item| {
        match item.content {
            Place::Listed(index, item) => listed.push((index, item)),
            Place::Both => both += 1,
            Place::Nowhere => {}
        }
        Ok::<(), RunError>(())
    })?;
    listed.sort_by_key(|(index, _)| *index);
    Ok((both, listed.into_iter().map(|(_, item)| item).collect()))
}

/// Where an item counts.
enum Place {
    /// At that place among the golds.
    Listed(usize, PairItem),
    /// Both are right.
    Both,
    /// It is not of both, or has no score.
    Nowhere,
}

impl PairItem {
    fn of(item: &RawItem<'_>, side: Side, answer: Answer, other: &Answer) -> serde_json::Result<Self> {
        let text = |detail: Option<&RawValue>| -> serde_json::Result<Option<String>> {
            detail.map_or(Ok(None), |text| serde_json::from_str(text.get()))
        };
        Ok(Self {
            id: item.id.clone().into_owned(),
            side,
            db: item.db_id.clone().into_owned(),
            difficulty: text(item.details.difficulty)?,
            hardness: text(item.details.hardness)?,
            question: text(item.details.question)?,
            cause: if side == Side::Second { answer.cause } else { other.cause.clone() },
        })
    }
}
