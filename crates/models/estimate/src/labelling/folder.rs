//! The folder of a plan: `plan.json`, `draws.jsonl` with the chance of each draw, `labels.jsonl` with the verdicts.
//!
//! # Contract
//! - A number follows from these three files alone. Editing a label does not change a chance.
//! - A label counts for the answer with its hash and for every answer in the same class. A label of a question that is not drawn yet
//!   stays in the file and counts once it is; a draw asks only for missing labels.
//! - Where every verdict is unsure, or two people differ, the interval holds the number for both verdicts.
//! - Labels are added all or not at all: an id, a system or a question that the plan lacks is refused. Labels of answers
//!   that have changed since are left out, and named.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sqlgauge_base::file::write_atomically;
use sqlgauge_base::rows::{Rows, RowsError, turn};
use sqlgauge_base::{Random, closest, counted, regular};
use sqlgauge_run::{sha256_of_bytes, systems_named};

use super::design::{Batch, Design, Draw, Labelling, Quantity, Standing};
use super::error::LabelError;
use super::plan::{LabelPlan, RUN, Wanted};
use super::rows::{BatchRow, DrawRow, LabelRow, Verdict};

const DRAWS: &str = "draws.jsonl";
const LABELS: &str = "labels.jsonl";

/// A plan with its draws and labels.
#[derive(Debug)]
pub struct LabelFolder {
    folder: PathBuf,
    plan: LabelPlan,
    /// What stands for the plan in its draws.
    digest: String,
    draws: Rows<BatchRow>,
    batches: Vec<Batch>,
    labels: Rows<LabelRow>,
}

/// What became of labels that were added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Added {
    pub labels: usize,
    /// Labels among them that take the place of an earlier one.
    pub replaced: usize,
    /// Ids whose label was there already.
    pub repeated: Vec<String>,
    /// Ids whose labels count once the plan draws them.
    pub waiting: Vec<String>,
    /// Ids whose labels are of an answer that the plan does not have; they were left out.
    pub different: Vec<String>,
}

/// What labels say of a quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuantityStanding {
    /// The system, or `A - B`.
    pub name: String,
    /// Null before the first batch has all its labels.
    pub estimate: Option<f64>,
    /// Ends of the interval; null with too few labels.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Whether the goal is reached.
    pub enough: bool,
}

/// How far the labels are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standings {
    pub quantities: Vec<QuantityStanding>,
    /// Drawn questions with all their labels; those of a batch count once it has all.
    pub labels: usize,
    /// About how many more are needed.
    pub likely: usize,
    /// Whether every goal is reached.
    pub enough: bool,
    /// Questions of the plan.
    pub questions: usize,
    /// Questions that need no label: no answer runs, or both have one result.
    pub free: usize,
    /// Drawn questions without a label.
    pub open: Vec<String>,
    /// Drawn questions on which nobody is sure, or two people differ.
    pub unsure: Vec<String>,
    /// Labels of questions that are not drawn.
    pub early: usize,
}

/// By system and item.
type Verdicts = Vec<Vec<Option<Verdict>>>;

impl LabelFolder {
    /// Name of the plan's file.
    pub const PLAN: &str = "plan.json";

    /// Starts a plan in a folder.
    ///
    /// # Errors
    /// When the folder has draws or labels of a plan, or cannot be written.
    pub fn create(folder: &Path, plan: &LabelPlan) -> Result<Self, LabelError> {
        let path = folder.join(Self::PLAN);
        if let Some(fault) = plan.fault() {
            return Err(LabelError::Plan { path, fault });
        }
        let _turn = turn(folder)?;
        let labels = Rows::<LabelRow>::read(folder.join(LABELS))?.iter().count();
        if labels + Rows::<BatchRow>::read(folder.join(DRAWS))?.iter().count() > 0 {
            let labels = counted(labels, "label");
            return Err(LabelError::Planned { folder: folder.to_owned(), labels });
        }
        write_atomically(&path, |out| {
            serde_json::to_writer(&mut *out, plan)?;
            out.write_all(b"\n")
        })
        .map_err(|source| RowsError::Write { path, source })?;
        Self::open(folder)
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// When a file is missing, cannot be understood, or does not belong to the plan.
    pub fn open(folder: &Path) -> Result<Self, LabelError> {
        let path = folder.join(Self::PLAN);
        let bytes = regular::read(&path)
            .map_err(|source| LabelError::NoPlan { folder: folder.to_owned(), source })?;
        let plan: Result<LabelPlan, _> = serde_json::from_slice(&bytes);
        let plan = match plan.map(|plan| (plan.fault(), plan)) {
            Ok((None, plan)) => plan,
            Ok((Some(fault), _)) => return Err(LabelError::Plan { path, fault }),
            Err(error) => return Err(LabelError::Plan { path, fault: error.to_string() }),
        };
        let digest = sha256_of_bytes(&bytes)[..16].to_owned();
        let draws = Rows::read(folder.join(DRAWS))?;
        let batches = batches(&plan, &digest, &draws).map_err(|(line, fault)| LabelError::Draws {
            path: folder.join(DRAWS),
            line,
            fault,
        })?;
        let labels = Rows::read(folder.join(LABELS))?;
        Ok(Self { folder: folder.to_owned(), plan, digest, draws, batches, labels })
    }

    pub fn plan(&self) -> &LabelPlan {
        &self.plan
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// What people say of each answer, by system and item.
    fn verdicts(&self) -> Verdicts {
        let places = self.plan.places();
        let mut by_class: HashMap<(usize, usize), BTreeSet<Option<u8>>> = HashMap::new();
        for row in self.labels.iter() {
            let Some(&place) = places.get(row.id.as_str()) else { continue };
            let answer = self.plan.items[place].answers.iter().find(|answer| answer.shown == row.shown);
            let Some(class) = answer.and_then(|answer| answer.class) else { continue };
            by_class.entry((place, class)).or_default().insert(row.verdict.correct());
        }
        let of = |place: usize, class: Option<usize>| {
            let sure: Vec<u8> = by_class.get(&(place, class?))?.iter().copied().flatten().collect();
            Some(match sure.as_slice() {
                [0] => Verdict::Wrong,
                [1] => Verdict::Right,
                _ => Verdict::Unsure,
            })
        };
        let of_system = |system: usize| {
            let items = self.plan.items.iter().enumerate();
            items.map(|(place, item)| of(place, item.answers[system].class)).collect()
        };
        (0..self.plan.systems.len()).map(of_system).collect()
    }

    /// Whether an answer to the item runs and has no label.
    fn lacks(&self, verdicts: &Verdicts, place: usize) -> bool {
        let answers = self.plan.items[place].answers.iter().zip(verdicts);
        answers.into_iter().any(|(answer, of)| answer.class.is_some() && of[place].is_none())
    }

    /// The labels so far; where nobody is sure, `best` says whether the quantity is as large as it can be.
    fn replay<'d>(&self, design: &'d Design, verdicts: &Verdicts, best: bool) -> Labelling<'d> {
        let subtracts = |system: usize| {
            self.plan
                .quantities()
                .iter()
                .any(|quantity| matches!(quantity, Quantity::Difference { second, .. } if *second == system))
        };
        let right: Vec<f64> = (0..self.plan.systems.len())
            .map(|system| f64::from(u8::from(best != subtracts(system))))
            .collect();
        let verdict = |system: usize, item: usize| {
            verdicts[system][item].and_then(Verdict::correct).map_or(right[system], f64::from)
        };
        let mut labelling = Labelling::new(design);
        let is_whole = |batch: &&Batch| batch.draws.iter().all(|draw| !self.lacks(verdicts, draw.item));
        self.batches.iter().take_while(is_whole).for_each(|batch| labelling.add(batch, &verdict));
        labelling
    }

    /// The drawn questions without a label, at most `count`; where all have one and the labels are not enough, a new batch is drawn.
    ///
    /// # Errors
    /// When the draws cannot be written.
    pub fn next(&mut self, count: usize) -> Result<Vec<usize>, LabelError> {
        let _turn = turn(&self.folder)?;
        *self = Self::open(&self.folder)?;
        let verdicts = self.verdicts();
        loop {
            let draws = self.batches.iter().flat_map(|batch| &batch.draws).map(|draw| draw.item);
            let open: Vec<usize> = draws.filter(|item| self.lacks(&verdicts, *item)).take(count).collect();
            if !open.is_empty() || count == 0 {
                return Ok(open);
            }
            let design = self.plan.design();
            let labelling = self.replay(&design, &verdicts, false);
            let batch = labelling.draw(&mut Random::new([self.plan.seed, self.batches.len() as u64]));
            if batch.draws.is_empty() {
                return Ok(Vec::new());
            }
            let id = |draw: &Draw| DrawRow { id: self.plan.items[draw.item].id.clone(), chance: draw.chance };
            let row = BatchRow {
                plan: self.digest.clone(),
                weights: batch.weights.clone(),
                draws: batch.draws.iter().map(id).collect(),
            };
            self.draws.put(Some(row), |_| false)?;
            self.draws.commit([self.draws.prepared()?])?;
            self.batches.push(batch);
        }
    }

    /// How far the labels are.
    pub fn standings(&self) -> Standings {
        let (design, verdicts) = (self.plan.design(), self.verdicts());
        let [worst, best] = [false, true].map(|best| self.replay(&design, &verdicts, best));
        let draws: Vec<usize> =
            self.batches.iter().flat_map(|batch| &batch.draws).map(|draw| draw.item).collect();
        let id = |place: &usize| self.plan.items[*place].id.clone();
        let is_unsure = |place: &&usize| verdicts.iter().any(|of| of[**place] == Some(Verdict::Unsure));
        let ends = worst.standings().zip(best.standings());
        let quantities: Vec<_> =
            ends.zip(self.names()).map(|(ends, name)| self.quantity(name, ends)).collect();
        let with_label: BTreeSet<&str> = self.labels.iter().map(|row| row.id.as_str()).collect();
        let is_early = |place: &usize| {
            with_label.contains(self.plan.items[*place].id.as_str()) && !draws.contains(place)
        };
        let labels = draws.iter().filter(|place| !self.lacks(&verdicts, **place)).count();
        let likely = worst.likely();
        Standings {
            labels,
            likely: if labels > worst.labels() {
                likely.saturating_sub(labels - worst.labels()).max(1)
            } else {
                likely
            },
            enough: quantities.iter().all(|quantity| quantity.enough),
            quantities,
            questions: self.plan.items.len(),
            free: self.plan.items.len() - Labelling::new(&design).left(),
            open: draws.iter().filter(|place| self.lacks(&verdicts, **place)).map(id).collect(),
            unsure: draws.iter().filter(is_unsure).map(id).collect(),
            early: (0..self.plan.items.len()).filter(is_early).count(),
        }
    }

    fn names(&self) -> Vec<String> {
        let name = |quantity: Quantity| {
            let systems = quantity.systems().into_iter().map(|system| self.plan.systems[system].as_str());
            systems.collect::<Vec<_>>().join(" - ")
        };
        self.plan.quantities().into_iter().map(name).collect()
    }

    /// The interval that holds both ends of what nobody is sure of.
    fn quantity(&self, name: String, (worst, best): (Standing, Standing)) -> QuantityStanding {
        let [low, high] = [worst.estimate - worst.radius, best.estimate + best.radius];
        let is_narrow = if self.plan.goal.winner {
            low > 0.0 || high < 0.0 || (worst.estimate - best.estimate).abs() < f64::EPSILON
        } else {
            high - low <= 2.0 * self.plan.goal.width * (1.0 + 1e-9)
        };
        // What the estimate and its ends can be at all.
        let least = if self.plan.wanted == Wanted::Difference { -1.0 } else { 0.0 };
        let finite = |value: f64| value.is_finite().then_some(value.clamp(least, 1.0));
        QuantityStanding {
            name,
            estimate: finite(f64::midpoint(worst.estimate, best.estimate)),
            low: finite(low),
            high: finite(high),
            enough: worst.enough && best.enough && is_narrow,
        }
    }

    /// The labels that a person's words make of an item: `right`, `wrong`, `unsure`, or the names of the systems whose answers are
    /// right, each in a text of its own or with commas between.
    ///
    /// # Errors
    /// For an id or a name that the plan does not have.
    pub fn judge(&self, id: &str, words: &[String], by: &str) -> Result<Vec<LabelRow>, LabelError> {
        let refuse = |fault: String| LabelError::Refused { from: format!("--id {id}"), fault };
        let Some(&place) = self.plan.places().get(id) else { return Err(refuse(self.unknown(id))) };
        let names = systems_named(words, &self.plan.systems);
        let of_all = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["right"] => Some(Verdict::Right),
            ["wrong"] => Some(Verdict::Wrong),
            ["unsure"] => Some(Verdict::Unsure),
            _ => None,
        };
        let stranger = names.iter().find(|name| of_all.is_none() && !self.plan.systems.contains(name));
        if stranger.is_some() || names.is_empty() {
            let systems = self.plan.systems.join(", ");
            return Err(refuse(format!(
                "{:?} is not a verdict: write right, wrong, unsure or systems that are right ({systems})",
                stranger.map_or("", String::as_str)
            )));
        }
        let of_one = |name: &String| if names.contains(name) { Verdict::Right } else { Verdict::Wrong };
        let item = &self.plan.items[place];
        let mut rows: Vec<(usize, LabelRow)> = Vec::new();
        for (system, answer) in self.plan.systems.iter().zip(&item.answers) {
            let (Some(class), verdict) = (answer.class, of_all.unwrap_or_else(|| of_one(system))) else {
                continue;
            };
            let row = LabelRow {
                system: system.clone(),
                run: self.plan.run_name(),
                shown: answer.shown.clone(),
                ..LabelRow::new(id.to_owned(), verdict, by.to_owned())
            };
            match rows.iter_mut().find(|(other, _)| *other == class) {
                // One verdict is of the whole class.
                Some((_, first)) if verdict == Verdict::Right => *first = row,
                Some(_) => {}
                None => rows.push((class, row)),
            }
        }
        if rows.is_empty() {
            return Err(refuse("no answer to it runs, so all are wrong without a label".to_owned()));
        }
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn unknown(&self, id: &str) -> String {
        let near = closest(id, self.plan.items.iter().map(|item| item.id.as_str()));
        let near = if near.is_empty() { String::new() } else { format!("; near it are {}", near.join(", ")) };
        format!("the plan has no question {id:?}; use the ids of its questions{near}")
    }

    /// Adds labels, all or none. `from` is where they are from, for errors.
    ///
    /// # Errors
    /// For a label that does not fit the plan, and for one that contradicts an earlier one of the same person unless `replace`.
    pub fn add(&mut self, rows: Vec<LabelRow>, from: &str, replace: bool) -> Result<Added, LabelError> {
        let _turn = turn(&self.folder)?;
        *self = Self::open(&self.folder)?;
        let mut added = Added::default();
        let draws: BTreeSet<&str> =
            self.draws.iter().flat_map(|batch| &batch.draws).map(|draw| draw.id.as_str()).collect();
        for row in rows {
            let refuse = |fault: String| LabelError::Refused { from: from.to_owned(), fault };
            if self.answer(&row).map_err(refuse)? != row.shown {
                added.different.push(row.id);
                continue;
            }
            let is_same = |other: &LabelRow| {
                other.id == row.id
                    && other.by == row.by
                    && other.system == row.system
                    && other.shown == row.shown
            };
            match self.labels.iter().find(|other| is_same(other)) {
                Some(other) if other.verdict == row.verdict => {
                    added.repeated.push(row.id.clone());
                    continue;
                }
                Some(other) if !replace => {
                    let (before, now) = (other.verdict.as_str(), row.verdict.as_str());
                    let by = if row.by.is_empty() { "the same person" } else { &row.by };
                    return Err(refuse(format!(
                        "{by} called the answer of {} to {:?} {before} before, and now {now}; nothing was added: give --replace if the new verdict counts",
                        row.system, row.id
                    )));
                }
                Some(_) => added.replaced += 1,
                None => {}
            }
            added.labels += 1;
            if !draws.contains(row.id.as_str()) {
                added.waiting.push(row.id.clone());
            }
            self.labels.put(Some(row.clone()), is_same)?;
        }
        self.labels.commit([self.labels.prepared()?])?;
        Ok(added)
    }

    /// The answer that the plan has where a label belongs, as labels name it; or what is wrong with the label.
    fn answer(&self, row: &LabelRow) -> Result<&str, String> {
        let id = &row.id;
        if row.run.starts_with(RUN) && row.run != self.plan.run_name() {
            return Err(format!("the label of {id:?} is of a plan for other questions; add it to that plan"));
        }
        let Some(&place) = self.plan.places().get(id.as_str()) else { return Err(self.unknown(id)) };
        let Some(system) = self.plan.systems.iter().position(|name| *name == row.system) else {
            let systems = self.plan.systems.join(", ");
            return Err(format!("the label of {id:?} is of {:?}, and the plan is of {systems}", row.system));
        };
        Ok(&self.plan.items[place].answers[system].shown)
    }
}

/// The batches of a file, or the line at fault.
fn batches(plan: &LabelPlan, digest: &str, rows: &Rows<BatchRow>) -> Result<Vec<Batch>, (usize, String)> {
    let places = plan.places();
    let width = plan.items.first().and_then(|item| item.answers.first()).map_or(0, |of| of.features.len());
    let quantities = plan.quantities().len();
    let mut earlier = BTreeSet::new();
    let batch = |(line, row): (usize, &BatchRow)| {
        let is_whole = row.weights.len() == quantities
            && row.weights.iter().all(|of| of.len() == width && of.iter().all(|weight| weight.is_finite()));
        if row.plan != digest {
            return Err((line, "is of a different plan".to_owned()));
        }
        let draw = |draw: &DrawRow| {
            let item = places.get(draw.id.as_str()).copied().filter(|item| earlier.insert(*item));
            match item.filter(|_| is_whole && 0.0 < draw.chance && draw.chance <= 1.0) {
                Some(item) => Ok(Draw { item, chance: draw.chance }),
                None => Err((line, format!("has a draw of {:?} that the plan cannot have made", draw.id))),
            }
        };
        let draws = row.draws.iter().map(draw).collect::<Result<_, _>>()?;
        Ok(Batch { weights: row.weights.clone(), draws })
    };
    (1..).zip(rows.iter()).map(batch).collect()
}
