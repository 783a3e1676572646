//! Merges the shards of a run.
//!
//! # Contract
//! The merged log has the lines that the unsharded run would have, byte by byte and in its order, each once. Before anything is
//! written it is sure that the folders are shards of one run, that all are there, each once, and that each is whole and as it was
//! when it finished; what is not so is named. A merge that was broken off goes on when it is given again.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sqlgauge_base::regular;
use sqlgauge_dataset::Example;

use crate::directory::{ITEMS, RunDirectory, Start, differences, keeps_its_seal, read_manifest};
use crate::error::RunError;
use crate::facts::Encoded;
use crate::log::{corrupt, count_lines};
use crate::plan::Plan;
use crate::record::{Item, Manifest};
use crate::schedule::open_log;
use crate::shard::{Recorded, SHARD, Shard};

/// Most missing shards that an error names.
const SHOWN: usize = 20;

#[derive(Debug, Clone)]
pub struct Shards {
    /// That of the whole run, with the command of the first shard.
    manifest: Manifest,
    /// The folders, in the order of their numbers.
    folders: Vec<PathBuf>,
    /// Those without a digest of their log.
    unsealed: Vec<PathBuf>,
}

impl Shards {
    /// Looks whether the folders are the shards of one run, in any order.
    ///
    /// # Errors
    /// [`RunError`], which names the folder or the shard at fault.
    pub fn open(folders: &[PathBuf]) -> Result<Self, RunError> {
        let mut parts: Vec<(Recorded, &PathBuf, Manifest)> = Vec::new();
        for folder in folders {
            let manifest = read_manifest(folder)?;
            let recorded =
                Recorded::of(&manifest).ok_or_else(|| RunError::NoShard { path: folder.clone() })?;
            parts.push((recorded, folder, manifest));
        }
        parts.sort_by_key(|(recorded, ..)| recorded.part);
        let Some((first, first_folder, first_manifest)) = parts.first() else {
            return Err(RunError::BadPlan(
                "not a single shard to merge; name the folders of the shards".to_owned(),
            ));
        };
        let whole = whole(first_manifest, *first);
        for (recorded, folder, manifest) in &parts {
            let mut texts = differences(&whole, &self::whole(manifest, *recorded));
            if recorded.of != first.of {
                texts.insert(0, format!("number of shards was {} and is now {}", first.of, recorded.of));
            }
            if !texts.is_empty() {
                return Err(RunError::OtherShards {
                    path: (*folder).clone(),
                    first: (*first_folder).clone(),
                    differences: texts,
                });
            }
        }
        if let Some([(recorded, first, _), (_, second, _)]) =
            parts.windows(2).find(|pair| pair[0].0.part == pair[1].0.part)
        {
            return Err(RunError::SameShard {
                shard: recorded.shard(),
                first: (*first).clone(),
                second: (*second).clone(),
            });
        }
        all_there(&parts, first.of)?;
        let mut unsealed = Vec::new();
        for (recorded, folder, manifest) in &parts {
            is_whole(folder, recorded.shard(), manifest)?;
            if !keeps_its_seal(folder, manifest)? {
                unsealed.push((*folder).clone());
            }
        }
        Ok(Self {
            manifest: whole,
            unsealed,
            folders: parts.into_iter().map(|(_, folder, _)| folder.clone()).collect(),
        })
    }

    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Folders of shards by older versions, which did not note the digest of their log: whether somebody changed scores there
    /// cannot be seen.
    pub fn unsealed(&self) -> &[PathBuf] {
        &self.unsealed
    }

    /// Says by which command the whole run would have been made.
    #[must_use]
    pub fn with_command(mut self, command: Vec<String>) -> Self {
        self.manifest.command = command;
        self
    }

    /// Writes the log of the whole run into a folder.
    ///
    /// # Errors
    /// [`RunError`], where a line of a shard is not the one that stands there, or the folder cannot be written.
    pub fn write(&self, out: &Path) -> Result<RunDirectory, RunError> {
        let examples = self.examples()?;
        let directory = RunDirectory::create(out, &self.manifest, Start::Continue)?;
        let plan = Plan::continued(&examples, &self.manifest.systems, &[])?;
        let (mut log, recovered) = open_log(&directory, &plan)?;
        let mut parts = self.parts()?;
        let (count, metrics) = (examples.len(), &self.manifest.metrics);
        for position in 0..plan.len() {
            let part = &mut parts[position % count % self.folders.len()];
            let item = part.next()?;
            let example = &examples[position % count];
            if item.system != plan.system(position) || item.id != example.id || item.index != example.index {
                return Err(part.out_of_order(&item));
            }
            if item.metrics.len() != metrics.len() || !metrics.iter().all(|id| item.metrics.contains_key(id))
            {
                return Err(part.foreign(&item, "it has other metrics"));
            }
            if position >= recovered.finished {
                log.append(&part.line, &Encoded::of(&item, metrics))?;
            }
        }
        log.write()?;
        directory.keep_index(log.finish()?);
        Ok(directory)
    }

    fn parts(&self) -> Result<Vec<Part>, RunError> {
        self.folders.iter().map(|folder| Part::open(folder)).collect()
    }

    /// The examples of the run, by the lines of its first system. Only what the log needs is known of them.
    fn examples(&self) -> Result<Vec<Example>, RunError> {
        if self.manifest.systems.is_empty() {
            return Ok(Vec::new());
        }
        let mut parts = self.parts()?;
        // Grows with the lines that are there: the manifest may say any number.
        let mut examples: Vec<Example> = Vec::new();
        for position in 0..self.manifest.examples {
            let part = &mut parts[position % self.folders.len()];
            let item = part.next()?;
            if examples.last().is_some_and(|last| last.index >= item.index) {
                return Err(part.out_of_order(&item));
            }
            let Item { id, index, db_id, .. } = item;
            examples.push(Example::bare(id, index, db_id));
        }
        Ok(examples)
    }
}

/// The manifest of the run that a shard is part of.
fn whole(manifest: &Manifest, recorded: Recorded) -> Manifest {
    let mut whole = manifest.clone();
    whole.options.remove(SHARD);
    whole.examples = recorded.examples;
    whole
}

fn all_there(parts: &[(Recorded, &PathBuf, Manifest)], of: usize) -> Result<(), RunError> {
    // As many as there are, each once: all of them, without a list of as many as a file says.
    if parts.len() == of {
        return Ok(());
    }
    let is_there = |part: &usize| parts.binary_search_by_key(part, |(recorded, ..)| recorded.part).is_ok();
    let missing: Vec<usize> = (1..=of).filter(|part| !is_there(part)).take(SHOWN).collect();
    Err(RunError::MissingShards { of, count: of - parts.len(), missing })
}

fn is_whole(folder: &Path, shard: Shard, manifest: &Manifest) -> Result<(), RunError> {
    let (done, total) = (count_lines(&folder.join(ITEMS))?, manifest.total());
    if done == total {
        Ok(())
    } else {
        Err(RunError::UnfinishedShard { path: folder.to_owned(), shard, done, total })
    }
}

/// The log of a shard, line by line.
struct Part {
    path: PathBuf,
    reader: BufReader<File>,
    /// The line that was read last.
    line: Vec<u8>,
    number: usize,
}

impl Part {
    fn open(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(ITEMS);
        match regular::open_unlinked(&path) {
            Ok(file) => Ok(Self { path, reader: BufReader::new(file), line: Vec::new(), number: 0 }),
            Err(source) => Err(RunError::Unreadable { path, source }),
        }
    }

    fn next(&mut self) -> Result<Item, RunError> {
        self.line.clear();
        self.number += 1;
        let read = self.reader.read_until(b'\n', &mut self.line);
        read.map_err(|source| RunError::Unreadable { path: self.path.clone(), source })?;
        serde_json::from_slice(&self.line).map_err(|error| corrupt(&self.path, self.number, &error))
    }

    fn foreign(&self, item: &Item, reason: &str) -> RunError {
        RunError::ForeignLine {
            path: self.path.clone(),
            line: self.number,
            system: item.system.clone(),
            id: item.id.clone(),
            reason: reason.to_owned(),
        }
    }

    fn out_of_order(&self, item: &Item) -> RunError {
        self.foreign(
            item,
            "another item stands there in the order of the run; the command of the shard mends its log",
        )
    }
}
