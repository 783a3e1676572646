//! A corpus, from databases to a folder.
//!
//! # Contract
//! The folder follows from the options and the databases, byte for byte, whatever the number of threads. Databases are
//! worked on one after the other; what is made of one is put in place whole ([`crate::folder`]), so that a run that was
//! ended goes on after the last whole database, and comes to the same bytes. What a database could not give is asked of
//! the next. Memory holds one database's catalog, samples and digests at a time, whatever the size of the corpus.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sqlgauge_dialects::{Dialect, Type, TypedSchema, dialect};
use sqlgauge_engine::{Database, Engine, EngineError, Limits, NotObserved, SqliteEngine, observed_types};
use sqlgauge_questions::QuestionStyle;

use crate::asking::Asking;
use crate::budget::Caps;
use crate::card;
use crate::check::Checker;
use crate::data::DataFormat;
use crate::dialects::Translation;
use crate::folder::{Folder, FolderError, Unit};
use crate::polish::{Polish, WriterError};
use crate::related::Shares;
use crate::sampler::{SAMPLERS, Sampler};
use crate::source::CorpusSource;
use crate::tally::CorpusTally;
use crate::unit::{DatabaseTask, Unmet, all_demands, make};
use crate::wish::TierShares;
use crate::world::GrammarDatabase;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct SynthOptions {
    pub pairs: u64,
    pub seed: u64,
    pub tiers: TierShares,
    /// How columns are chosen.
    pub sampler: &'static Sampler,
    /// Which part of the databases: `(1, 4)` is the first of four.
    pub shard: (u64, u64),
    /// How often every column and link is to be used; 0 for as it comes.
    pub each: u64,
    /// How questions are asked.
    pub asking: Asking,
    /// What rewords the questions of some pairs.
    pub polish: Option<Polish>,
    /// Other dialects into which the queries are translated.
    pub dialects: Vec<&'static Dialect>,
    /// Share of the pairs that get variants and near misses.
    pub beside: Shares,
    /// The most that may be spent: a cost in all, numbers on one database.
    pub caps: Caps,
    /// How pairs are written.
    pub data: Vec<DataFormat>,
    pub pairs_per_file: u64,
    /// Virtual-machine steps that the engine lets a query take, for the record.
    pub max_vm_steps: u64,
    /// Rows that the engine lets a result have, for the record.
    pub max_rows: u64,
    /// The version of sqlgauge, for the record.
    pub tool_version: String,
}

/// No pairs, and everything else as the command line has it where nothing is said.
impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            pairs: 0,
            seed: 0,
            tiers: TierShares::default(),
            sampler: &SAMPLERS[0],
            shard: (1, 1),
            each: 0,
            asking: Asking { styles: QuestionStyle::all().collect(), distractors: 0.0, again: 0.0 },
            polish: None,
            dialects: Vec::new(),
            beside: Shares::default(),
            caps: Caps::default(),
            data: vec![DataFormat::Jsonl],
            pairs_per_file: 50_000,
            max_vm_steps: 1_000_000,
            max_rows: 20_000,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What a corpus is made from: the record that tells one run from another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CorpusHeader"))]
pub struct CorpusHeader {
    /// The version of what is written.
    pub format: u32,
    /// The version of sqlgauge.
    pub tool_version: String,
    /// What ran the queries.
    pub engine: String,
    /// Pairs asked for, of all shards.
    pub pairs: u64,
    /// The seed.
    pub seed: u64,
    /// The shares of the tiers in percent.
    pub tiers: [u8; 4],
    /// The name of the sampler.
    pub sampler: String,
    /// The shard, as `1/1`.
    pub shard: String,
    /// How often every column and link is to be used.
    pub each: u64,
    /// The styles of questions.
    pub styles: Vec<String>,
    /// The share of questions with a sentence or an adjective that says nothing of the query.
    pub distractors: f64,
    /// The share of queries with a second question in another style.
    #[serde(default)]
    pub again: f64,
    /// What reworded questions, and the share of them that it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polish: Option<(String, f64)>,
    /// Other dialects into which the queries are translated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<String>,
    /// The share of pairs with a variant.
    pub variants: f64,
    /// The share of pairs with a near miss.
    pub near_misses: f64,
    /// The budget.
    pub budget: Option<f64>,
    /// Queries that may be made of one database.
    pub most_made: Option<u64>,
    /// Executions that may be made on one database.
    pub most_executed: Option<u64>,
    /// The formats of the pairs.
    pub data: Vec<DataFormat>,
    /// Pairs of one file.
    pub pairs_per_file: u64,
    /// Virtual-machine steps that a query may take.
    pub max_vm_steps: u64,
    /// Rows that a result may have.
    pub max_rows: u64,
    /// The databases of the shard with the SHA-256 of their files.
    pub databases: Vec<(String, String)>,
}

/// What became of a corpus.
#[derive(Debug, Clone)]
pub struct CorpusSummary {
    /// The counts.
    pub tally: CorpusTally,
    /// Pairs that no database could give, by tier.
    pub unmet: Unmet,
    pub databases: usize,
    /// Databases and tables that nothing was made of, and why.
    pub left_out: Vec<String>,
}

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A database that cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The types of a database's columns, which translating needs.
    #[error(transparent)]
    Types(#[from] NotObserved),
    /// What rewords questions gave no answer.
    #[error(transparent)]
    Polish(#[from] WriterError),
    /// A server whose dialect has no translation.
    #[error(
        "queries cannot be written for {address}: name its dialect in the address, as in &dialect=postgres"
    )]
    NoDialect { address: String },
    /// More shards than databases.
    #[error(
        "shard {shard} of {shards} is empty: the corpus has {databases} databases; use at most {databases} shards"
    )]
    EmptyShard {
        shard: u64,
        /// Of how many.
        shards: u64,
        databases: usize,
    },
    /// Fewer pairs than there are columns and links to be used.
    #[error(
        "{db_id} has {columns} columns and links: using each {each} times takes {needed} pairs; ask for that many with --count, or use each less often with --each"
    )]
    TooFewPairs {
        /// The database.
        db_id: String,
        /// How many columns and links it has.
        columns: usize,
        /// How often each is to be used.
        each: u64,
        /// How many pairs that takes.
        needed: u64,
    },
}

/// How far it is: pairs done and all of them.
pub type SynthProgress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Makes a corpus of those databases in a folder. What an earlier run of the same options has made is not made again.
///
/// # Errors
/// [`CorpusError`].
pub fn synthesize(
    sources: &[CorpusSource],
    engine: &dyn Engine,
    options: &SynthOptions,
    out: PathBuf,
    progress: SynthProgress<'_>,
) -> Result<CorpusSummary, CorpusError> {
    let (shard, shards) = options.shard;
    let total = sources.len() as u64;
    let shard_sources: Vec<(u64, &CorpusSource)> =
        (0..).zip(sources).filter(|(at, _)| at % shards == shard - 1).collect();
    if shard_sources.is_empty() {
        return Err(CorpusError::EmptyShard { shard, shards, databases: sources.len() });
    }
    let mut databases = Vec::new();
    for (_, source) in &shard_sources {
        let database = engine.open(&source.path)?;
        let hash = database.content_hash()?.to_owned();
        databases.push((database, (source.db_id.clone(), hash)));
    }
    let header = header(options, engine, databases.iter().map(|(_, named)| named.clone()).collect());
    let folder = Folder::open(out, header)?;
    if let Some(summary) = folder.finished()? {
        return Ok(summary);
    }
    let count = |at: u64| options.pairs / total + u64::from(at < options.pairs % total);
    let goal: u64 = shard_sources.iter().map(|&(at, _)| count(at)).sum();
    let (mut summary, mut carried) = (CorpusSummary::new(shard_sources.len()), Unmet::default());
    let mut parts: Vec<_> = shard_sources.iter().zip(&databases).collect();
    // Empty databases first: their share of pairs moves on to the next database.
    parts.sort_by_cached_key(|(_, (database, _))| database.has_rows(engine));
    for ((at, source), (database, _)) in parts {
        let unit = if let Some(unit) = folder.unit(&source.db_id)? {
            unit
        } else {
            let first = options.pairs / total * at + (options.pairs % total).min(*at);
            let part = Part { options, source, database, engine, first, pairs: count(*at), carried };
            part.make(&folder)?
        };
        carried = unit.unmet;
        summary
            .left_out
            .extend(unit.left_out.iter().map(|(table, why)| format!("{}.{table}: {why}", source.db_id)));
        summary.tally.add(unit.tally);
        progress(summary.tally.pairs - summary.tally.again, goal);
    }
    engine.check()?;
    engine.check_data()?;
    summary.unmet = carried;
    let paths: Vec<&CorpusSource> = shard_sources.iter().map(|&(_, source)| source).collect();
    let card = card::write(&folder, &summary);
    folder.finish(&paths, options.pairs_per_file, &summary, &card)?;
    Ok(summary)
}

impl CorpusSummary {
    fn new(databases: usize) -> Self {
        Self { tally: CorpusTally::default(), unmet: Unmet::default(), databases, left_out: Vec::new() }
    }
}

fn header(options: &SynthOptions, engine: &dyn Engine, databases: Vec<(String, String)>) -> CorpusHeader {
    CorpusHeader {
        format: crate::folder::FORMAT_VERSION,
        tool_version: options.tool_version.clone(),
        engine: engine.name_and_version(),
        pairs: options.pairs,
        seed: options.seed,
        tiers: options.tiers.percent(),
        sampler: options.sampler.name.to_owned(),
        shard: format!("{}/{}", options.shard.0, options.shard.1),
        each: options.each,
        styles: options.asking.styles.iter().map(|style| style.name().to_owned()).collect(),
        distractors: options.asking.distractors,
        again: options.asking.again,
        polish: options.polish.as_ref().map(|polish| (polish.writer.name(), polish.share)),
        dialects: options.dialects.iter().map(|dialect| dialect.name.to_owned()).collect(),
        variants: options.beside.variants,
        near_misses: options.beside.near_misses,
        budget: options.caps.cost,
        most_made: options.caps.made,
        most_executed: options.caps.executed,
        data: options.data.clone(),
        pairs_per_file: options.pairs_per_file,
        max_vm_steps: options.max_vm_steps,
        max_rows: options.max_rows,
        databases,
    }
}

/// One database's part of a corpus.
struct Part<'a> {
    options: &'a SynthOptions,
    source: &'a CorpusSource,
    database: &'a Arc<Database>,
    engine: &'a dyn Engine,
    first: u64,
    pairs: u64,
    carried: Unmet,
}

impl Part<'_> {
    fn make(&self, folder: &Folder) -> Result<Unit, CorpusError> {
        let options = self.options;
        let world = GrammarDatabase::read(&self.source.db_id, self.database, self.engine);
        let times = usize::try_from(options.each).unwrap_or(usize::MAX);
        let demands = all_demands(&world, times);
        let needed = demands.len() as u64;
        if needed > self.pairs {
            return Err(CorpusError::TooFewPairs {
                db_id: self.source.db_id.clone(),
                columns: demands.len().checked_div(times).unwrap_or(0),
                each: options.each,
                needed,
            });
        }
        let typed = self.typed(&world)?;
        let server = (!self.engine.is_sqlite()).then(|| dialect(self.engine.dialect()));
        let translation = typed.as_ref().filter(|_| server.is_none());
        let task = DatabaseTask {
            seed: options.seed,
            shares: options.tiers,
            sampler: options.sampler,
            first: self.first,
            pairs: self.pairs,
            carried: self.carried,
            demands: &demands,
            asking: &options.asking,
            translation: translation.map(|typed| Translation { typed, dialects: &options.dialects }),
            polish: options.polish.as_ref(),
            shares_beside: options.beside,
            caps: options.caps_of_one(folder),
        };
        let mut checker = Checker::new(&world.schema, self.database, self.engine);
        if let (Some(dialect), Some(typed)) = (server, &typed) {
            let address = || self.source.path.display().to_string();
            let no_dialect = || CorpusError::NoDialect { address: address() };
            checker = checker.on_server(typed, dialect.ok_or_else(no_dialect)?);
        }
        let left_out = [world.left_out.clone(), unread_columns(&world, typed.as_ref())].concat();
        let mut writer = folder.begin(&self.source.db_id)?;
        let (tally, unmet) = make(&task, &world, &checker, |pair, related| {
            writer.write(&pair, &related).map_err(CorpusError::from)
        })?;
        let unit = Unit { tally, unmet, left_out };
        self.database.check_unchanged()?;
        self.engine.check()?;
        writer.commit(&unit)?;
        Ok(unit)
    }
}

impl Part<'_> {
    /// The types of the database's columns: those that a server declares; where a dialect is asked for, those of all values, however
    /// many steps the queries may take.
    fn typed<'w>(&self, world: &'w GrammarDatabase) -> Result<Option<TypedSchema<'w>>, CorpusError> {
        if !self.engine.is_sqlite() {
            return Ok(Some(TypedSchema::on_server(&world.schema)));
        }
        if self.options.dialects.is_empty() {
            return Ok(None);
        }
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(&self.source.path)?;
        let typed = observed_types(&world.schema, &database, &engine)?;
        engine.check()?;
        Ok(Some(typed))
    }
}

/// Columns of a server that no query can name, and why.
fn unread_columns(world: &GrammarDatabase, typed: Option<&TypedSchema<'_>>) -> Vec<(String, String)> {
    let Some(typed) = typed else { return Vec::new() };
    let of_table = |id: sqlgauge_sql::schema::TableId| {
        let table = world.schema.table(id);
        let columns = (0..).zip(table.map_or(&[][..], |table| &table.columns));
        columns.filter(move |(at, _)| typed.column(id, *at).of == Type::Mixed).filter_map(
            move |(_, column)| {
                let declared = column.declared_type.as_deref().unwrap_or("unknown");
                Some((
                    format!("{}.{}", table?.name, column.name),
                    format!("queries do not read the type {declared}"),
                ))
            },
        )
    };
    world.tables.iter().flat_map(|profile| of_table(profile.id)).collect()
}

impl SynthOptions {
    /// The caps of one database: an even part of the budget.
    fn caps_of_one(&self, folder: &Folder) -> Caps {
        let databases = folder.header().databases.len().max(1) * usize::try_from(self.shard.1).unwrap_or(1);
        Caps { cost: self.caps.cost.map(|budget| budget / databases as f64), ..self.caps }
    }
}
