//! What is changed, and into which folders.

use serde::Serialize;
use sqlgauge_dataset::Tables;
use sqlgauge_names::{Naturalness, Suggestions};

use crate::error::EvolveError;
use crate::kind::{Answerability, ChangeKind};
use crate::script::ChangeScript;
use crate::source::SourceDatabase;

#[derive(Debug, Clone)]
pub struct EvolveOptions {
    /// What is changed, and into which folders.
    pub plan: EvolvePlan,
    pub seed: u64,
    /// The share of what could be changed that is changed at most, between 0 and 1.
    pub intensity: f64,
    pub naturalness: Naturalness,
    /// Names for what is renamed; without them the lexicon's.
    pub names: Option<Suggestions>,
    /// What the benchmark's `tables.json` says of the databases: keys that these do not declare, and names in words.
    pub tables: Option<Tables>,
    /// The version of sqlgauge, for the record.
    pub tool_version: String,
    /// Databases that are evolved at once; 0 means one per core.
    pub jobs: usize,
}

impl EvolveOptions {
    /// Changes all that can be changed to regular names of the lexicon, from seed 0.
    pub fn of(plan: EvolvePlan) -> Self {
        Self {
            plan,
            seed: 0,
            intensity: 1.0,
            naturalness: Naturalness::Regular,
            names: None,
            tables: None,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            jobs: 0,
        }
    }
}

#[derive(Debug, Clone)]
pub enum EvolvePlan {
    /// Each kind by itself, into a folder of its name. With `per_item` each item has a schema of its own.
    Kinds {
        kinds: Vec<ChangeKind>,
        /// Whether each item has a schema of its own, where it has one for each database else.
        per_item: bool,
    },
    /// A history: one kind after the other, drawn from these, each version into a folder `step-1`, `step-2`, ….
    Steps {
        /// The kinds that are drawn from; those in scope that change the schema count.
        kinds: Vec<ChangeKind>,
        steps: u32,
    },
    /// The changes of a script, into the folder `script`.
    Script(ChangeScript),
}

/// How the databases of one folder are made.
#[derive(Clone, Copy)]
pub(crate) enum Mode<'a> {
    /// One schema for all items of a database.
    PerDatabase(ChangeKind),
    /// A schema for each item.
    PerItem(ChangeKind),
    /// A schema for each item that cannot answer it any more.
    Unanswerable(ChangeKind),
    /// The schema as it is, and for each item other tables than those that it needs.
    OtherTables,
    /// The step of that number of a history, which draws from those kinds.
    Step(u32, &'a [ChangeKind]),
    Script(&'a ChangeScript),
}

pub(crate) struct FolderPlan<'a> {
    pub(crate) name: String,
    /// The kind, where the folder holds one.
    pub(crate) kind: Option<ChangeKind>,
    pub(crate) per_item: bool,
    pub(crate) step: Option<u32>,
    pub(crate) mode: Mode<'a>,
}

impl EvolvePlan {
    /// The folders in the order in which they are filled.
    pub(crate) fn folders(&self) -> Vec<FolderPlan<'_>> {
        let folder = |name: String, mode| FolderPlan { name, kind: None, per_item: false, step: None, mode };
        match self {
            Self::Kinds { kinds, per_item } => {
                let of_kind = |&kind: &ChangeKind| {
                    let mode = match (kind, per_item) {
                        _ if kind.scope() == Answerability::Out => Mode::Unanswerable(kind),
                        (ChangeKind::AddTables, _) => Mode::OtherTables,
                        (_, true) => Mode::PerItem(kind),
                        (_, false) => Mode::PerDatabase(kind),
                    };
                    let kind_name = kind.name().to_owned();
                    FolderPlan { kind: Some(kind), per_item: *per_item, ..folder(kind_name, mode) }
                };
                kinds.iter().map(of_kind).collect()
            }
            Self::Steps { kinds, steps } => {
                let step = |step| {
                    let mode = Mode::Step(step, kinds);
                    FolderPlan { step: Some(step), ..folder(format!("step-{step}"), mode) }
                };
                (1..=*steps).map(step).collect()
            }
            Self::Script(script) => vec![folder("script".to_owned(), Mode::Script(script))],
        }
    }

    /// Finds what a plan asks for that would change nothing.
    pub(crate) fn check(&self, sources: &[SourceDatabase<'_>]) -> Result<(), EvolveError> {
        match self {
            Self::Script(script) => {
                let is_asked_about = |db_id: &str| sources.iter().any(|source| source.db_id == db_id);
                let mut changed = script.iter().filter(|(_, changes)| !changes.is_empty());
                match changed.find(|(db_id, _)| !is_asked_about(db_id)) {
                    Some((db_id, _)) => Err(EvolveError::ScriptDatabase { db_id: db_id.clone() }),
                    None => Ok(()),
                }
            }
            Self::Steps { kinds, .. } if !kinds.iter().any(|&kind| is_step(kind)) => Err(EvolveError::NoStep),
            Self::Steps { .. } | Self::Kinds { .. } => Ok(()),
        }
    }

    /// What the outcome depends on besides the names of the folders, as text.
    pub(crate) fn inputs(&self) -> serde_json::Result<String> {
        match self {
            Self::Kinds { .. } => Ok(String::new()),
            Self::Steps { kinds, .. } => stored(kinds),
            Self::Script(script) => stored(script),
        }
    }
}

/// Whether a history can have the kind: its questions can still be answered, and the schema is another.
pub(crate) fn is_step(kind: ChangeKind) -> bool {
    kind.scope() == Answerability::In && kind.changes_schema()
}

/// A value as it is stored: unlike its debug text, that is the same when a type or the order of its fields changes.
pub(crate) fn stored(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_value(value).map(|value| value.to_string())
}
