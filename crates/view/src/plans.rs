//! Plans of labels below the folders (`sqlgauge label plan`): the next question of one, and a verdict on it.
//!
//! # Contract
//! - The files are those of the plan's folder, which `sqlgauge label` reads and writes too; verdicts are of the person whom the
//!   dashboard names.
//! - Nothing runs before a plan is opened. Then the answers to its next question run, as everywhere: read only, with limits, where
//!   they can be killed, and on databases that are as they were when the plan was made.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};
use sqlgauge_core::{Context, LabelNextJob, Watcher, label_sentence};
use sqlgauge_estimate::labelling::LabelFolder;

use crate::records::{Record, RecordKind};
use crate::{Dashboard, ViewError};

/// What a person says of a question.
#[derive(Deserialize)]
pub(crate) struct Judged {
    plan: String,
    id: String,
    /// `right`, `wrong`, `unsure`, or the systems that are right.
    verdict: Vec<String>,
}

/// What is noticed while a question is made.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watcher for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
}

impl Dashboard {
    /// How far the labels of a plan are, and the next question; null where none is left.
    pub(crate) fn plan(&self, id: &str) -> Result<Value, ViewError> {
        let record = self.record(RecordKind::Plan, id)?;
        let notes = Notes::default();
        let mut context = Context::default().watched_by(&notes);
        if let Some(worker) = &self.options.worker {
            context = context.with_worker(worker.clone());
        }
        let questions = LabelNextJob::new(folder_of(&record)?).run(&context)?;
        let folder = open(&record)?;
        let standings = folder.standings();
        Ok(json!({
            "name": record.name,
            "systems": folder.plan().systems,
            "sentence": label_sentence(&folder, &standings),
            "standings": standings,
            "question": questions.first(),
            "notes": notes.0.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }))
    }

    /// Stores a verdict; it replaces an earlier one of this person.
    pub(crate) fn judge(&self, judged: &Judged) -> Result<(), ViewError> {
        let record = self.record(RecordKind::Plan, &judged.plan)?;
        let mut folder = open(&record)?;
        let rows = folder.judge(&judged.id, &judged.verdict, &self.options.labeller);
        let added = rows.and_then(|rows| folder.add(rows, "this page", true));
        added.map_err(sqlgauge_core::Error::from)?;
        Ok(())
    }
}

fn folder_of(record: &Record) -> Result<&Path, ViewError> {
    record.path.parent().ok_or(ViewError::UnknownRun)
}

fn open(record: &Record) -> Result<LabelFolder, ViewError> {
    Ok(LabelFolder::open(folder_of(record)?).map_err(sqlgauge_core::Error::from)?)
}
