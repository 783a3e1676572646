//! Lists the items to score, in the order of the log.

use std::collections::HashMap;

use sqlgauge_dataset::{EarlierQueries, Example, PredictionSet};

use crate::error::RunError;

/// One thing to score: an example and the answer that one or more systems gave.
///
/// Neither the name of the system is part of it nor what others say: a score may only depend on what the system said, so that
/// systems that said the same are scored once.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The question with its accepted answers.
    pub example: &'a Example,
    /// The predicted text, `None` where the system gave no answer.
    pub prediction: Option<&'a str>,
    /// How sure the system was of it, where it said so.
    pub confidence: Option<f64>,
    /// The queries before it, where it is the last of a transcript.
    pub earlier: Option<&'a EarlierQueries>,
}

/// What is the same work for one question: prediction, confidence as bits, earlier queries.
type Work<'a> = (Option<&'a str>, Option<u64>, Option<&'a EarlierQueries>);

/// All pairs of system and example; their canonical order is system by system in the order asked for,
/// within a system by position in the gold file.
#[derive(Debug)]
pub struct Plan<'a> {
    examples: &'a [Example],
    names: Vec<&'a str>,
    /// The answers of the last systems, which have items left to score.
    systems: &'a [PredictionSet],
    /// Positions of the examples, by their ids.
    by_id: Vec<usize>,
    system_of_name: HashMap<&'a str, usize>,
}

impl<'a> Plan<'a> {
    /// The plan to score those systems on those examples.
    ///
    /// # Errors
    /// [`RunError::BadPlan`] when two systems or two examples have one name, or a system's predictions are
    /// not matched to these examples.
    pub fn new(examples: &'a [Example], systems: &'a [PredictionSet]) -> Result<Self, RunError> {
        let names = systems.iter().map(|set| set.system.as_str()).collect();
        Self::of_names(examples, names, systems)
    }

    /// The plan to go on with a run that has all items of its first systems: `names` are all of them, `systems` the
    /// answers of the others.
    ///
    /// # Errors
    /// As [`Plan::new`], and when `systems` are not the last of `names`.
    pub fn continued(
        examples: &'a [Example],
        names: &'a [String],
        systems: &'a [PredictionSet],
    ) -> Result<Self, RunError> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let last = names.len().checked_sub(systems.len()).map(|first| &names[first..]);
        if !last.is_some_and(|last| last.iter().eq(systems.iter().map(|set| &set.system))) {
            return Err(RunError::BadPlan("the systems that are left are not the run's last".into()));
        }
        Self::of_names(examples, names, systems)
    }

    fn of_names(
        examples: &'a [Example],
        names: Vec<&'a str>,
        systems: &'a [PredictionSet],
    ) -> Result<Self, RunError> {
        // A table of hashes takes several times as much of a million examples.
        let id = |&position: &usize| examples[position].id.as_str();
        let mut by_id: Vec<usize> = (0..examples.len()).collect();
        by_id.sort_unstable_by_key(id);
        if let Some([first, ..]) = by_id.windows(2).find(|pair| id(&pair[0]) == id(&pair[1])) {
            let id = id(first);
            return Err(RunError::BadPlan(format!(
                "the benchmark has two examples with id {id:?}; make the ids unique"
            )));
        }
        let mut system_of_name = HashMap::with_capacity(names.len());
        for (position, &name) in names.iter().enumerate() {
            if system_of_name.insert(name, position).is_some() {
                return Err(RunError::BadPlan(format!(
                    "two systems are named {name:?}; give each its own name with --pred NAME=FILE"
                )));
            }
        }
        for set in systems {
            let name = &set.system;
            let (count, wanted) = (set.predictions.len(), examples.len());
            if count != wanted {
                return Err(RunError::BadPlan(format!(
                    "system {name:?} has {count} prediction places for {wanted} examples; match its file to the \
                     benchmark first"
                )));
            }
        }
        Ok(Self { examples, names, systems, by_id, system_of_name })
    }

    /// Number of items: systems × examples.
    pub fn len(&self) -> usize {
        self.names.len() * self.examples.len()
    }

    /// Whether there is nothing to score.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first position whose answer the plan has; those before it are finished.
    pub(crate) fn first(&self) -> usize {
        (self.names.len() - self.systems.len()) * self.examples.len()
    }

    /// The system at that canonical position.
    ///
    /// # Panics
    /// If the position is not below [`Plan::len`].
    pub(crate) fn system(&self, position: usize) -> &'a str {
        self.names[position / self.examples.len()]
    }

    /// The system and the task at that canonical position.
    ///
    /// # Panics
    /// If the position is not below [`Plan::len`], or is one of a system that is finished ([`Plan::continued`]).
    pub fn get(&self, position: usize) -> (&'a str, Task<'a>) {
        let set = &self.systems[(position - self.first()) / self.examples.len()];
        let at = position % self.examples.len();
        let answer = set.predictions[at].as_ref();
        let task = Task {
            example: &self.examples[at],
            prediction: answer.map(|answer| answer.sql.as_str()),
            confidence: answer.and_then(|answer| answer.confidence),
            earlier: answer.and_then(|answer| answer.earlier.as_deref()),
        };
        (&set.system, task)
    }

    /// The canonical position of a system's answer to an example, `None` when either is not in the plan.
    pub fn position(&self, system: &str, id: &str) -> Option<usize> {
        let system = self.system_of_name.get(system)?;
        let at = self.by_id.binary_search_by_key(&id, |&example| self.examples[example].id.as_str()).ok()?;
        Some(system * self.examples.len() + self.by_id[at])
    }

    /// The systems in canonical order.
    pub fn systems(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.names.iter().copied()
    }

    /// The examples in canonical order.
    pub fn examples(&self) -> &'a [Example] {
        self.examples
    }

    /// Groups the positions from `first` on by what there is to score.
    pub(crate) fn units(&self, first: usize) -> Units {
        let count = self.examples.len();
        let mut leader_of: Vec<usize> = (first..self.len()).collect();
        // Only answers to one question can be the same work.
        let mut leaders: HashMap<Work<'_>, usize> = HashMap::new();
        for at in (0..count).filter(|_| self.names.len() > 1) {
            leaders.clear();
            let of_example = (0..self.names.len()).map(|system| system * count + at);
            for position in of_example.filter(|position| *position >= first) {
                let Task { prediction, confidence, earlier, .. } = self.get(position).1;
                let key = (prediction, confidence.map(f64::to_bits), earlier);
                leader_of[position - first] = *leaders.entry(key).or_insert(position);
            }
        }
        let leads = |position: &usize| leader_of[position - first] == *position;
        let leaders: Vec<usize> = (first..self.len()).filter(leads).collect();
        Units { first, leader_of, leaders }
    }
}

/// Positions grouped by equal work.
pub(crate) struct Units {
    first: usize,
    /// By position, the first that needs the same.
    leader_of: Vec<usize>,
    /// Per unit the first position that needs it; ascending.
    pub(crate) leaders: Vec<usize>,
}

impl Units {
    /// The unit of that position.
    pub(crate) fn of(&self, position: usize) -> usize {
        let leader = self.leader_of[position - self.first];
        self.leaders.partition_point(|other| *other < leader)
    }
}
