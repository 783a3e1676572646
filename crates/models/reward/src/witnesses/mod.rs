//! Counterexample databases of a question, which tell its gold from answers that only look right.
//!
//! # Contract
//! - A witness is a small database that satisfies the schema, and on which a fresh SQLite has returned other rows for some
//!   other query than for the gold. An answer that is right must return the gold's rows on all of them, compared as by the kind `exact`;
//!   where the gold itself leaves a choice there, nothing is asked.
//! - The first witnesses of a question are made when its first answer is right on the benchmark's database (or by
//!   [`Reward::prepare`](crate::Reward::prepare)): against the gold without rows, the literal rows of the gold, and the single
//!   mutations of the gold. They are as like the benchmark as the options ask ([`Likeness`](crate::Likeness)), and depend on
//!   gold, schema, what the rows show of it, rows of the gold, and seed alone.
//! - Further ones are made of wrong answers, and of answers that are right on the benchmark's database alone.
//! - With a folder they are kept in `FOLDER/db-DB_ID/QUESTION/`, one SQL script each, put in place whole; several processes may
//!   share it, and see what the others have added when the next batch begins. Given the folder, results are determined.
//! - A gold that cannot be searched (a view, random numbers) has no witnesses, and `base.json` says why.

mod base;
mod store;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use sqlgauge_search::Witness;
use sqlgauge_sql::schema_text;

use crate::error::RewardError;
use crate::golds::Gold;
use crate::recent::Recent;
use crate::subject::Subject;
use base::Base;
use store::Folder;

/// Name and version of what is kept. A change of what a witness means makes a new version, and folders of their own.
const FORMAT: &str = "witnesses@4";

const MOST: usize = 64;

#[derive(Debug, PartialEq)]
pub(crate) struct StoredWitness {
    /// Follows from the script: equal witnesses have one name.
    name: String,
    pub(crate) witness: Witness,
    pub(crate) script: String,
}

impl StoredWitness {
    fn new(witness: Witness) -> Self {
        let script = witness.script();
        Self { name: digest([script.as_str()]), witness, script }
    }
}

/// What is known of a question at one time.
#[derive(Debug, Default)]
pub(crate) struct QuestionWitnesses {
    /// In the order of their names.
    pub(crate) list: Vec<Arc<StoredWitness>>,
    /// Why there can be none.
    pub(crate) none: Option<String>,
    /// Whether values repeat on them that do not repeat in the benchmark.
    pub(crate) has_repeats: bool,
}

impl QuestionWitnesses {
    pub(crate) fn databases(&self) -> impl Iterator<Item = &Witness> {
        self.list.iter().map(|item| &item.witness)
    }

    /// Equal for equal witnesses.
    pub(crate) fn fingerprint(&self) -> String {
        digest(self.list.iter().map(|item| item.name.as_str()))
    }

    fn names(&self) -> BTreeSet<&str> {
        self.list.iter().map(|item| item.name.as_str()).collect()
    }

    /// With further ones, up to the bound.
    fn with(&self, more: impl IntoIterator<Item = Arc<StoredWitness>>) -> Self {
        let mut list = self.list.clone();
        for one in more {
            if list.len() < MOST && !list.iter().any(|other| other.name == one.name) {
                list.push(one);
            }
        }
        list.sort_by(|a, b| a.name.cmp(&b.name));
        Self { list, none: self.none.clone(), has_repeats: self.has_repeats }
    }
}

/// A question, by its gold and its schema.
#[derive(Debug)]
pub(crate) struct Question {
    folder: Option<Folder>,
    /// `None` until the first witnesses have been made.
    witnesses: Mutex<Option<Arc<QuestionWitnesses>>>,
    /// Held while they are.
    making: Mutex<()>,
}

impl Question {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<QuestionWitnesses>>> {
        self.witnesses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this process knows now.
    pub(crate) fn now(&self) -> Option<Arc<QuestionWitnesses>> {
        self.lock().clone()
    }

    /// What is known already, with what other processes have added.
    pub(crate) fn refresh(&self) -> Result<(), RewardError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let witnesses = folder.read(self.now().as_ref())?;
        *self.lock() = witnesses;
        Ok(())
    }

    /// What is known; the first witnesses are made if there are none yet.
    pub(crate) fn witnesses(
        &self,
        gold: &Gold,
        subject: &Subject,
    ) -> Result<Arc<QuestionWitnesses>, RewardError> {
        let _alone = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(witnesses) = &*self.lock() {
            return Ok(Arc::clone(witnesses));
        }
        let base = Base::make(gold, subject)?;
        if let Some(folder) = &self.folder {
            folder.write_base(gold, &base)?;
        }
        let first =
            QuestionWitnesses { list: Vec::new(), none: base.none.clone(), has_repeats: base.has_repeats };
        let witnesses = Arc::new(first.with(base.witnesses));
        *self.lock() = Some(Arc::clone(&witnesses));
        Ok(witnesses)
    }

    /// Adds a witness that tells that answer from the gold; whether it was new.
    pub(crate) fn add(&self, witness: Witness, answer: &str) -> Result<bool, RewardError> {
        let entry = Arc::new(StoredWitness::new(witness));
        let mut witnesses = self.lock();
        let Some(before) = witnesses.clone() else { return Ok(false) };
        if before.list.len() >= MOST || before.names().contains(entry.name.as_str()) {
            return Ok(false);
        }
        if let Some(folder) = &self.folder {
            folder.write(&entry, answer)?;
        }
        *witnesses = Some(Arc::new(before.with([entry])));
        Ok(true)
    }
}

/// The questions of a reward.
#[derive(Debug)]
pub(crate) struct Witnesses {
    folder: Option<PathBuf>,
    seed: u64,
    questions: Recent<String, Arc<Question>>,
    /// Held while a question that is not remembered is made, so that there is one of each.
    making: Mutex<()>,
}

impl Witnesses {
    /// Those in that folder, which is made if need be, or in memory of that many bytes.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub(crate) fn new(folder: Option<PathBuf>, seed: u64, bytes: usize) -> Result<Self, RewardError> {
        if let Some(path) = &folder {
            std::fs::create_dir_all(path).map_err(|source| store::unwritable(path, source))?;
        }
        Ok(Self { folder, seed, questions: Recent::new(bytes), making: Mutex::new(()) })
    }

    pub(crate) fn question(&self, gold: &Gold, subject: &Subject) -> Arc<Question> {
        // The schema decides which databases there are, the rows only what the gold's literal rows are.
        let seed = self.seed.to_string();
        let name = digest([FORMAT, &seed, &schema_text(&subject.world(false).schema), &gold.key]);
        let key = format!("{}/{name}", subject.target.db_id);
        let _alone = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(question) = self.questions.get(&key, bytes) {
            return question;
        }
        let folder = self.folder.as_ref().map(|root| Folder::new(root, &subject.target.db_id, &name));
        let question = Arc::new(Question { folder, witnesses: Mutex::default(), making: Mutex::default() });
        let size = bytes(&question);
        self.questions.insert(key, Arc::clone(&question), size);
        question
    }
}

/// What a question with all its witnesses may hold; they come after it is remembered.
fn bytes(_: &Arc<Question>) -> usize {
    const WITNESS: usize = 4 << 10;
    size_of::<Question>() + 8 * WITNESS
}

/// A name that follows from texts: 64 bits of their SHA-256, in hex.
fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let first = hasher.finalize().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{first:016x}")
}
