//! A labelled corpus from databases: `sqlgauge synth`.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use serde_json::json;
use sqlgauge_base::counted;
use sqlgauge_base::file::write_atomically;
use sqlgauge_base::server::{is_address, scheme};
use sqlgauge_dataset::Databases;
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine};
use sqlgauge_evolve::versions::{Steps, Version, versions};
#[cfg(feature = "services")]
use sqlgauge_synth::polish::Polish;
use sqlgauge_synth::{
    CorpusError, CorpusSource as Database, CorpusSummary, SynthOptions, VERSIONS, sources, synthesize,
};
use sqlgauge_tables::{Notes, REPORT_FILE, TablesReport};
use tempfile::TempDir;

use crate::context::{Context, Watcher};
use crate::error::{About, Error};
use crate::guard::keep_run;
use crate::lines::write_lines;
#[cfg(feature = "services")]
use crate::llm::LlmSettings;

/// The databases of loose tables, below a folder of ours.
const BUILT: &str = "databases";
/// A backstop: what decides is the number of steps, which is the same on every machine.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Makes questions with their SQL from databases: queries by a grammar, each checked by execution.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, SynthJob};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
///
/// let job = SynthJob::new(vec![sample.databases], 20, folder.path().join("corpus"));
/// assert_eq!(job.run(&Context::default())?.tally.pairs, 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SynthJob {
    /// Folders of databases, databases, or addresses of them on a server.
    pub databases: Vec<PathBuf>,
    /// Folder of CSV and Parquet files of which databases are built first.
    pub tables: Option<PathBuf>,
    /// Later schemas of each database, over which pairs are made too.
    pub versions: Steps,
    /// The model that puts a share of the questions into other words, and that share.
    #[cfg(feature = "services")]
    pub polish: Option<(f64, LlmSettings)>,
    /// What is made, and how.
    pub options: SynthOptions,
    /// Folder to write.
    pub out: PathBuf,
    /// Worker threads; 0 means one per core. The result does not depend on them.
    pub jobs: usize,
}

impl SynthJob {
    /// That many pairs with the defaults of the command line.
    pub fn new(databases: Vec<PathBuf>, pairs: u64, out: impl Into<PathBuf>) -> Self {
        Self {
            databases,
            tables: None,
            versions: Steps { kinds: sqlgauge_evolve::ChangeKind::ALL.to_vec(), count: 0, seed: 0 },
            #[cfg(feature = "services")]
            polish: None,
            options: SynthOptions {
                pairs,
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                ..SynthOptions::default()
            },
            out: out.into(),
            jobs: 0,
        }
    }

    /// Writes the corpus, or goes on with it.
    ///
    /// # Errors
    /// When an option is out of range, a database or table cannot be used, the model gives no answers, or the folder holds
    /// something else or cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<CorpusSummary, Error> {
        self.check()?;
        keep_run(&self.out)?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let built = self.tables.as_deref().map(|tables| threads.install(|| build(tables))).transpose()?;
        let built = built.map(|(folder, report)| {
            noted(&report, context.watcher());
            folder
        });
        let mut roots = self.databases.clone();
        roots.extend(built.iter().map(|folder| folder.path().join(BUILT)));
        // The queries are made here and bounded by their steps, so that no process of its own need hold them.
        let engine = SqliteEngine::new(Limits {
            timeout: TIMEOUT,
            max_rows: usize::try_from(self.options.max_rows).unwrap_or(usize::MAX),
            max_vm_steps: self.options.max_vm_steps,
            ..Limits::default()
        });
        let server = self.server(context)?;
        let later = Later::of(&roots, &engine, &self.versions, self.jobs)?;
        roots.extend(later.iter().flat_map(|later| later.roots.clone()));
        let sources = sources(&roots)?;
        let options = self.options.clone();
        #[cfg(feature = "services")]
        let options = SynthOptions { polish: self.polishing(context)?, ..options };
        let (watcher, started) = (context.watcher(), Once::new());
        let progress = |done: u64, total: u64| {
            let [done, total] = [done, total].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
            started.call_once(|| watcher.started("pairs", total, 0));
            watcher.advanced(done);
        };
        let engine = server.as_deref().unwrap_or(&engine);
        let summary = threads.install(|| synthesize(&sources, engine, &options, self.out.clone(), &progress));
        let summary = summary.map_err(|error| self.failed(error))?;
        if let Some(built) = built {
            self.write_decisions(built.path())?;
        }
        if let Some(later) = later {
            later.write(&sources, &self.out)?;
        }
        watcher.heeds_stop(false);
        Ok(summary)
    }

    /// The engine of the databases, where they are on a server. What makes databases of its own speaks SQLite's SQL only.
    fn server(&self, context: &Context<'_>) -> Result<Option<std::sync::Arc<dyn Engine>>, Error> {
        let Some(address) = self.databases.iter().find(|db| is_address(db)) else { return Ok(None) };
        let name = address.display();
        if let Some(other) = self.databases.iter().find(|db| scheme(db) != scheme(address)) {
            let other = other.display();
            return Err(Error::Invalid(format!(
                "{name} and {other} run on two engines; make a corpus of each"
            )));
        }
        let options = [
            ("--dialects", !self.options.dialects.is_empty()),
            ("--variants", self.options.beside.variants > 0.0),
            ("--near-misses", self.options.beside.near_misses > 0.0),
            ("--schema-versions", self.versions.count > 0),
            #[cfg(feature = "services")]
            ("--polish", self.polish.is_some()),
        ];
        if let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Error::Invalid(format!("{option} needs SQLite files; leave it out for {name}")));
        }
        let max_rows = usize::try_from(self.options.max_rows).unwrap_or(usize::MAX);
        let limits = Limits { max_rows, ..Limits::default() };
        context.engine_for(Some(address), self.jobs, limits, Moment::now()).map(Some)
    }

    /// Refuses what makes no sense before anything is read.
    fn check(&self) -> Result<(), Error> {
        let SynthOptions { caps, asking, beside: extras, data, .. } = &self.options;
        if let Some(budget) = caps.cost.filter(|budget| !(budget.is_finite() && *budget > 0.0)) {
            return Err(Error::Invalid(format!("--budget {budget:?} is not an amount above 0")));
        }
        let shares = [
            ("--distractors", asking.distractors),
            ("--ask-again", asking.again),
            ("--variants", extras.variants),
            ("--near-misses", extras.near_misses),
            #[cfg(feature = "services")]
            ("--polish", self.polish.as_ref().map_or(0.0, |(share, _)| *share)),
        ];
        for (option, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::OutOfUnit { option, value });
            }
        }
        data.iter().try_for_each(|format| format.check_built())?;
        Ok(())
    }

    #[cfg(feature = "services")]
    fn polishing(&self, context: &Context<'_>) -> Result<Option<Polish>, Error> {
        let Some((share, llm)) = &self.polish else { return Ok(None) };
        let writer = sqlgauge_prompt::reword::ModelWriter::new(
            llm.client("--llm-url", context)?,
            llm.model_settings(0.0),
        )?;
        context.watcher().heeds_stop(true);
        Ok(Some(Polish { share: *share, writer: std::sync::Arc::new(writer) }))
    }

    /// The error of a corpus, with what is kept of the asking.
    fn failed(&self, error: CorpusError) -> Error {
        let failure = || format!("{} could not be made", self.out.display());
        #[cfg(feature = "services")]
        if let (CorpusError::Polish(polish), Some((_, llm))) = (&error, &self.polish) {
            if polish.is_cancelled {
                return llm.stopped();
            }
            let what = format!("{}: {}; running it again goes on", failure(), llm.cache_note());
            return Error::About { what, source: Box::new(error.into()) };
        }
        Error::About { what: failure(), source: Box::new(error.into()) }
    }

    /// Copies what was decided about the tables into the corpus.
    fn write_decisions(&self, built: &Path) -> Result<(), Error> {
        let path = self.out.join(REPORT_FILE);
        let copied = std::fs::read(built.join(BUILT).join(REPORT_FILE))
            .and_then(|decisions| write_atomically(&path, |out| out.write_all(&decisions)));
        copied.map_err(|source| Error::Unwritable { path, source })
    }
}

/// A folder that goes with the job: the corpus has copies of its databases.
fn temporary() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(|error| {
        Error::Invalid(format!("no folder for the databases can be made ({error}); set TMPDIR"))
    })
}

/// The databases of loose tables.
fn build(tables: &Path) -> Result<(TempDir, TablesReport), Error> {
    let folder = temporary()?;
    let report = sqlgauge_tables::build(
        tables,
        &folder.path().join(BUILT),
        &sqlgauge_tables::TablesOptions::default(),
    )
    .about(|| format!("no databases can be made of {}", tables.display()))?;
    Ok((folder, report))
}

/// Tells what `sqlgauge tables` would print line by line.
fn noted(report: &TablesReport, watcher: &dyn Watcher) {
    let Notes { files, rows, columns } = report.notes();
    if files.len() + rows.len() + columns.len() > 0 {
        watcher.note(&format!(
            "the tables: {} left out, {} on rows, {} on columns; run `sqlgauge tables` to read them",
            counted(files.len(), "file"),
            counted(rows.len(), "note"),
            columns.len()
        ));
    }
}

/// Databases under later schemas.
struct Later {
    _folder: TempDir,
    /// One for each of the folders and files that were given.
    roots: Vec<PathBuf>,
    versions: Vec<Version>,
}

impl Later {
    /// Those versions of every database of the folders and files; none where none is asked for.
    fn of(
        roots: &[PathBuf],
        engine: &SqliteEngine,
        steps: &Steps,
        jobs: usize,
    ) -> Result<Option<Self>, Error> {
        if steps.count == 0 {
            return Ok(None);
        }
        let folder = temporary()?;
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for (number, root) in
            roots.iter().enumerate().filter(|(number, root)| !roots[..*number].contains(root))
        {
            let place = folder.path().join(number.to_string());
            let later = versions(&Databases::open(root)?, engine, steps, jobs, &place)
                .about(|| format!("no later schemas can be made of {}", root.display()))?;
            if !later.is_empty() {
                all.extend(later);
                places.push(place);
            }
        }
        if all.is_empty() {
            let text = "no kind of change applies to any of the databases; leave --schema-versions out";
            return Err(Error::Invalid(text.to_owned()));
        }
        Ok(Some(Self { _folder: folder, roots: places, versions: all }))
    }

    /// Writes which database of the corpus is a version of which, and by which changes.
    fn write(&self, databases: &[Database], out: &Path) -> Result<(), Error> {
        let db_id =
            |path: &Path| databases.iter().find(|source| source.path == path).map(|source| &source.db_id);
        let line = |Version { of, path, changes, .. }: &Version| json!({"db_id": db_id(path), "of": of, "changes": changes});
        write_lines(&out.join(VERSIONS), &self.versions.iter().map(line).collect::<Vec<_>>())
    }
}
