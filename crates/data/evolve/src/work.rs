//! Chooses the work on one database: a schema for all its items, one for each, a version of a history, a script.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::{Random, seed_of};
use sqlgauge_dataset::Example;

use crate::chain::Chain;
use crate::change::Change;
use crate::error::EvolveError;
use crate::kind::ChangeKind;
use crate::layout::EvolveReason;
use crate::output::Folder;
use crate::perturbations::{Context, Needed, Probe, add_tables, in_gold, propose};
use crate::plan::{EvolveOptions, Mode, is_step};
use crate::script::ChangeScript;
use crate::shard::{Evolving, Shard};
use crate::source::{SourceDatabase, read_by_query};
use sqlgauge_names::SchemaNames;

/// A database and what is asked for.
pub(crate) struct Work<'a> {
    pub(crate) source: &'a SourceDatabase<'a>,
    pub(crate) options: &'a EvolveOptions,
}

/// The tables that a kind changes, if not all: where the schema is too large to change all that could be, those that golds
/// read. What golds need not is removed from all tables.
fn relevant<'a>(kind: ChangeKind, chain: &Chain, needed: &'a Needed) -> Option<&'a HashSet<usize>> {
    let removes = matches!(kind, ChangeKind::RemoveColumns | ChangeKind::RemoveTables);
    (chain.is_large() && !removes).then_some(&needed.tables)
}

/// How far the history of one database has come.
pub(crate) struct History {
    chain: Chain,
    /// The file of the latest version; the source's where it has none.
    latest: Option<PathBuf>,
}

impl History {
    pub(crate) fn new(source: &SourceDatabase<'_>) -> Self {
        Self { chain: Chain::new(source.schema().clone()), latest: None }
    }
}

impl Work<'_> {
    /// What a folder gets of the database; `None` where an earlier run has left it there.
    pub(crate) fn shard(
        &self,
        mode: Mode<'_>,
        folder: &Folder,
        history: &mut History,
    ) -> Result<Option<Shard>, EvolveError> {
        let place = folder.database(self.source.db_id);
        let shard = match mode {
            Mode::Step(step, kinds) => return self.step(step, kinds, folder, history),
            _ if folder.has(self.source.db_id) => return Ok(None),
            Mode::PerDatabase(kind) => self.per_database(kind, &place)?,
            Mode::PerItem(kind) => self.per_item(kind, folder)?,
            Mode::Unanswerable(kind) => self.unanswerable(kind),
            Mode::OtherTables => self.other_tables(&place)?,
            Mode::Script(script) => self.script(script, &place)?,
        };
        Ok(Some(shard))
    }

    fn context<'c>(
        &'c self,
        needed: &'c Needed,
        relevant: Option<&'c HashSet<usize>>,
        probe: &'c Probe<'c>,
    ) -> Context<'c> {
        let EvolveOptions { intensity, naturalness, ref names, .. } = *self.options;
        let names =
            names.as_ref().map(|names| names.databases.get(self.source.db_id).unwrap_or(SchemaNames::NONE));
        Context { needed, relevant, intensity, naturalness, names, probe }
    }

    fn random(&self, what: &str, number: usize) -> Random {
        Random::new([self.options.seed, seed_of(self.source.db_id), seed_of(what), number as u64])
    }

    /// One schema for all items.
    fn per_database(&self, kind: ChangeKind, folder: &Path) -> Result<Shard, EvolveError> {
        let mut chain = Chain::new(self.source.schema().clone());
        let needed = self.source.needed();
        let probe = self.source.probe();
        let context = self.context(&needed, relevant(kind, &chain, &needed), &probe);
        propose(kind, &context, &mut chain, &mut self.random(kind.name(), 0));
        self.evolving(&chain, self.source.db_id, folder).run(&self.source.items)
    }

    /// The schema as it is, and for each item other tables beside those that it needs.
    fn other_tables(&self, folder: &Path) -> Result<Shard, EvolveError> {
        let chain = Chain::new(self.source.schema().clone());
        let (mut extra_tables, mut items, mut shard) = (HashMap::new(), Vec::new(), Shard::empty());
        for item in &self.source.items {
            let Some(reads) = self.source.reads(item).filter(|reads| !reads.tables.is_empty()) else {
                shard.append(self.refused(item, EvolveReason::GoldUnresolved));
                continue;
            };
            let mut random = self.random(ChangeKind::AddTables.name(), item.index + 1);
            let others = add_tables::others(self.source.schema(), &reads.tables, &mut random);
            if others.is_empty() {
                shard.append(self.refused(item, EvolveReason::NothingToChange));
            } else {
                extra_tables.insert(item.index, others);
                items.push(*item);
            }
        }
        if !items.is_empty() {
            let evolving = Evolving { extra_tables, ..self.evolving(&chain, self.source.db_id, folder) };
            shard.append(evolving.run(&items)?);
        }
        Ok(shard)
    }

    /// A schema for each item, shared by those of equal ones.
    fn per_item(&self, kind: ChangeKind, folder: &Folder) -> Result<Shard, EvolveError> {
        let probe = self.source.probe();
        let mut schemas: Vec<(Chain, Vec<&Example>)> = Vec::new();
        let mut shard = Shard::empty();
        for item in &self.source.items {
            let Some(reads) = self.source.reads(item).filter(|reads| !reads.tables.is_empty()) else {
                shard.append(self.refused(item, EvolveReason::GoldUnresolved));
                continue;
            };
            let mut chain = Chain::new(self.source.schema().clone());
            let context = self.context(reads, Some(&reads.tables), &probe);
            propose(kind, &context, &mut chain, &mut self.random(kind.name(), item.index + 1));
            match schemas.iter_mut().find(|(other, _)| other.changes() == chain.changes()) {
                _ if chain.changes().is_empty() => {
                    shard.append(self.refused(item, EvolveReason::NothingToChange));
                }
                Some((_, items)) => items.push(item),
                None => schemas.push((chain, vec![item])),
            }
        }
        for (number, (chain, items)) in (1..).zip(&schemas) {
            let db_id = format!("{}__{number}", self.source.db_id);
            let place = folder.database(&db_id);
            shard.append(self.evolving(chain, &db_id, &place).run(items)?);
        }
        Ok(shard)
    }

    /// A schema for each item that cannot answer it any more.
    fn unanswerable(&self, kind: ChangeKind) -> Shard {
        let mut shard = Shard::empty();
        for item in &self.source.items {
            let gold = self.source.gold(item);
            let reads = self.source.reads(item);
            let (Some(gold), Some(reads)) = (gold.filter(|gold| gold.ran().is_ok()), reads) else {
                shard.append(self.refused(item, EvolveReason::GoldFails));
                continue;
            };
            let mut chain = Chain::new(self.source.schema().clone());
            let mut random = self.random(kind.name(), item.index + 1);
            let is_gone = in_gold::remove(kind, &gold.sql, reads, &mut chain, &mut random);
            let db_id = format!("{}__{}", self.source.db_id, item.index);
            match (is_gone, chain.changes().is_empty()) {
                (true, _) => {
                    let evolving = self.evolving(&chain, &db_id, Path::new(""));
                    shard.append(evolving.unanswerable(item, kind));
                }
                (false, true) => shard.append(self.refused(item, EvolveReason::NothingToChange)),
                (false, false) => shard.append(self.refused(item, EvolveReason::StillRuns)),
            }
        }
        shard
    }

    fn script(&self, script: &ChangeScript, folder: &Path) -> Result<Shard, EvolveError> {
        let changes = script.get(self.source.db_id).map(Vec::as_slice).unwrap_or_default();
        let chain = self.replay(changes)?;
        self.evolving(&chain, self.source.db_id, folder).run(&self.source.items)
    }

    fn replay(&self, changes: &[Change]) -> Result<Chain, EvolveError> {
        let mut chain = Chain::new(self.source.schema().clone());
        for (number, change) in (1..).zip(changes) {
            chain.push(change.clone()).map_err(|source| EvolveError::Script {
                db_id: self.source.db_id.to_owned(),
                number,
                source,
            })?;
        }
        Ok(chain)
    }

    /// A version of a history, unless it is on record; one to which no kind could be applied is the one before.
    fn step(
        &self,
        step: u32,
        kinds: &[ChangeKind],
        folder: &Folder,
        history: &mut History,
    ) -> Result<Option<Shard>, EvolveError> {
        let db_id = self.source.db_id;
        let place = folder.database(db_id);
        let shard = if folder.has(db_id) {
            if let Some(changes) = folder.changes(db_id)? {
                history.chain = self.replay(&changes)?;
            }
            None
        } else {
            self.lengthen(history, step, kinds)?;
            Some(self.evolving(&history.chain, db_id, &place).run(&self.source.items)?)
        };
        history.latest = Some(place.join(format!("{db_id}.sqlite"))).filter(|path| path.exists());
        Ok(shard)
    }

    /// Adds one more kind of change to a history: the first that applies.
    fn lengthen(&self, history: &mut History, step: u32, kinds: &[ChangeKind]) -> Result<(), EvolveError> {
        let mut random = self.random("step", step as usize);
        let mut kinds: Vec<ChangeKind> = kinds.iter().copied().filter(|&kind| is_step(kind)).collect();
        random.shuffle(&mut kinds);
        let engine = self.source.engine();
        let database = match &history.latest {
            Some(path) => engine.open(path)?,
            None => Arc::clone(&self.source.database),
        };
        let version = Probe { engine, database };
        let chain = &mut history.chain;
        let needed = self.needed_at(chain);
        for kind in kinds {
            let mut latest = Chain::new(chain.last().clone());
            let relevant = relevant(kind, &latest, &needed);
            propose(kind, &self.context(&needed, relevant, &version), &mut latest, &mut random);
            let mut longer = chain.clone();
            let fits = latest.changes().iter().all(|change| longer.push(change.clone()).is_ok());
            if fits && !latest.changes().is_empty() {
                *chain = longer;
                break;
            }
        }
        Ok(())
    }

    /// What the golds read of a later schema.
    fn needed_at(&self, history: &Chain) -> Needed {
        let mut needed = Needed::default();
        for gold in self.source.items.iter().filter_map(|item| item.golds.first()) {
            if let Ok(rewritten) = history.rewrite(gold) {
                let reads = read_by_query(&rewritten.query, history.last());
                needed.tables.extend(reads.tables);
                needed.columns.extend(reads.columns);
            }
        }
        needed
    }

    fn evolving<'e>(&'e self, chain: &'e Chain, db_id: &'e str, folder: &'e Path) -> Evolving<'e> {
        Evolving { source: self.source, chain, db_id, folder, extra_tables: HashMap::new() }
    }

    fn refused(&self, item: &Example, reason: EvolveReason) -> Shard {
        let chain = Chain::new(self.source.schema().clone());
        let evolving = self.evolving(&chain, self.source.db_id, Path::new(""));
        let mut shard = evolving.infeasible(&[item], reason, None);
        // The reason is the item's, not the schema's.
        shard.schemas.clear();
        shard
    }
}
