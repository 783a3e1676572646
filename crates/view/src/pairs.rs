//! Two systems of any runs item by item: which items only one gets right, which neither, and what makes the answers wrong.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlgauge::{CompareJob, SystemComparison};
use sqlgauge_base::seed_of;
use sqlgauge_run::{Item, RunError, RunFiles};

use crate::runs::FoundRun;
use crate::{Dashboard, ViewError};

/// Two systems, each of a run.
#[derive(Debug, Deserialize)]
pub(crate) struct Pair {
    a: String,
    b: String,
    first: String,
    second: String,
    metric: Option<String>,
    /// An item, where one is asked for.
    id: Option<String>,
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
    level: Option<String>,
    question: Option<String>,
    /// Why the answer is wrong: the second's where only the first is right or neither, else the first's.
    cause: String,
}

/// What the page needs of a system's answer.
struct Answer {
    index: usize,
    db: String,
    level: Option<String>,
    question: Option<String>,
    /// Hash of database and golds.
    asked: u64,
    score: Option<f64>,
    cause: String,
}

impl Dashboard {
    fn two(&self, pair: &Pair) -> Result<[FoundRun; 2], ViewError> {
        Ok([self.run(&pair.a)?, self.run(&pair.b)?])
    }

    /// What `sqlgauge compare` says of the two, and the items on which not both are right.
    pub(crate) fn compared(&self, pair: Pair) -> Result<Value, ViewError> {
        let [a, b] = self.two(&pair)?;
        let job = CompareJob {
            other: (a.id != b.id).then(|| b.path.clone()),
            systems: vec![pair.first.clone(), pair.second.clone()],
            metric: pair.metric,
            ..CompareJob::new(&a.path)
        };
        let compared = job.run()?;
        let first = answers_of(&a, &pair.first, &compared.metric)?;
        let second = answers_of(&b, &pair.second, &compared.metric)?;
        let (both, items) = items_of(&compared, first, &second);
        Ok(json!({
            "metric": compared.metric,
            "comparisons": compared.summary.comparisons,
            "only_first": compared.only_first,
            "only_second": compared.only_second,
            "both": both,
            "items": items,
            "left_out": {
                "only_first": compared.left_out.only_first,
                "only_second": compared.left_out.only_second,
                "changed": compared.left_out.changed,
            },
        }))
    }

    /// The texts of one item of both.
    pub(crate) fn pair_of(&self, pair: &Pair) -> Result<Value, ViewError> {
        let [a, b] = self.two(pair)?;
        let id = pair.id.as_deref().unwrap_or_default();
        let of = |run: &FoundRun, system: &str| -> Result<Item, ViewError> {
            let unknown = || ViewError::UnknownItem { system: system.to_owned(), id: id.to_owned() };
            RunFiles::open(&run.path)?.items.find(system, id)?.ok_or_else(unknown)
        };
        let (first, second) = (of(&a, &pair.first)?, of(&b, &pair.second)?);
        Ok(json!({
            "question": first.details.question,
            "evidence": first.details.evidence,
            "golds": first.details.golds(),
            "first": said(&first),
            "second": said(&second),
        }))
    }
}

fn said(item: &Item) -> Value {
    json!({
        "prediction": item.details.prediction,
        "status": item.status,
        "error": item.details.error,
        "why": item.details.words().and_then(|words| words.sentence.clone()),
    })
}

/// The answers of a system, by id.
fn answers_of(run: &FoundRun, system: &str, metric: &str) -> Result<HashMap<String, Answer>, ViewError> {
    let mut answers = HashMap::new();
    RunFiles::open(&run.path)?.items.for_each(|item| {
        if item.system == system {
            answers.insert(item.id.clone(), Answer::of(item, metric));
        }
        Ok::<(), RunError>(())
    })?;
    Ok(answers)
}

impl Answer {
    fn of(item: &Item, metric: &str) -> Self {
        let details = &item.details;
        let asked: Vec<&str> =
            std::iter::once(item.db_id.as_str()).chain(details.golds().iter().map(String::as_str)).collect();
        Self {
            index: item.index,
            db: item.db_id.clone(),
            level: details.difficulty.clone().or_else(|| details.hardness.clone()),
            question: details.question.clone(),
            asked: seed_of(&asked.join("\0")),
            score: item.metrics.get(metric).copied().flatten(),
            cause: cause_of(item),
        }
    }
}

/// What a wrong answer is listed under.
fn cause_of(item: &Item) -> String {
    if item.status != "ok" {
        return item.status.replace('_', " ");
    }
    let words = item.details.words();
    words.and_then(|words| words.causes.first().cloned()).unwrap_or_else(|| "not explained".to_owned())
}

/// How many items both get right, and the others in the order of the golds.
fn items_of(
    compared: &SystemComparison,
    first: HashMap<String, Answer>,
    second: &HashMap<String, Answer>,
) -> (usize, Vec<PairItem>) {
    let named = |ids: &'_ [String], side| ids.iter().map(move |id| (id.clone(), side)).collect::<Vec<_>>();
    let sides: HashMap<String, Side> = named(&compared.only_first, Side::First)
        .into_iter()
        .chain(named(&compared.only_second, Side::Second))
        .collect();
    let (mut both, mut listed) = (0, Vec::new());
    for (id, own) in first {
        let Some(other) = second.get(&id).filter(|other| other.asked == own.asked) else { continue };
        let side = match (sides.get(&id), own.score, other.score) {
            (Some(side), ..) => *side,
            (None, Some(a), Some(_)) if a < 1.0 => Side::Neither,
            (None, Some(_), Some(_)) => {
                both += 1;
                continue;
            }
            (None, ..) => continue,
        };
        let cause = if side == Side::Second { own.cause } else { other.cause.clone() };
        let item = PairItem { id, side, db: own.db, level: own.level, question: own.question, cause };
        listed.push((own.index, item));
    }
    listed.sort_by_key(|(index, _)| *index);
    (both, listed.into_iter().map(|(_, item)| item).collect())
}
