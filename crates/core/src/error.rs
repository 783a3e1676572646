//! Why something could not be done.

use std::path::{Path, PathBuf};

use sqlgauge_base::pool::{NoThread, Panicked};
use sqlgauge_base::{counted, counted_of};
use sqlgauge_run::Shard;

/// How questions are taken whose databases are there.
const PARTS: &str = " (take the questions about some with --db-id, or leave out those whose databases are missing with --skip-missing-db)";

/// An error of one of the libraries, as it is, or one of what brings them together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A benchmark, predictions or a folder of databases.
    #[error(transparent)]
    Dataset(Box<sqlgauge_dataset::DatasetError>),
    /// A database.
    #[error(transparent)]
    Engine(#[from] sqlgauge_engine::EngineError),
    /// A run directory.
    #[error(transparent)]
    Run(Box<sqlgauge_run::RunError>),
    /// What allows findings of an audit.
    #[error(transparent)]
    Allowed(#[from] sqlgauge_audit::AllowedError),
    /// A report of a run.
    #[error(transparent)]
    Report(Box<sqlgauge_report::ReportError>),
    /// An estimate.
    #[error(transparent)]
    Estimate(Box<sqlgauge_estimate::EstimateError>),
    /// Labels of a plan.
    #[error(transparent)]
    Labels(Box<sqlgauge_estimate::labelling::LabelError>),
    /// Results that were computed elsewhere.
    #[error(transparent)]
    Results(Box<sqlgauge_results::ResultsError>),
    /// A metric.
    #[error(transparent)]
    Metric(#[from] sqlgauge_metrics::UnknownMetric),
    /// A part of a benchmark.
    #[error(transparent)]
    Subset(#[from] crate::subset::SubsetError),
    /// A bar that a run is to reach.
    #[error(transparent)]
    Gate(#[from] sqlgauge_run::GateError),
    /// What a recorded run took for now is no time.
    #[error(transparent)]
    Moment(#[from] sqlgauge_engine::NotAMoment),
    /// The search for a counterexample could not begin.
    #[error(transparent)]
    Search(#[from] sqlgauge_search::SearchError),
    /// One of two queries to verify is none.
    #[error(transparent)]
    Refused(#[from] sqlgauge_verify::RefusedText),
    /// A witness pack.
    #[error("{}", path.display())]
    Pack {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        source: sqlgauge_verify::pack::PackError,
    },
    /// Building databases from tables.
    #[error(transparent)]
    Tables(Box<sqlgauge_tables::TablesError>),
    /// The system refused to start threads.
    #[error("cannot start the threads; lower --jobs")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The system refused to start a thread.
    #[error(transparent)]
    NoThread(#[from] NoThread),
    /// A piece of work met a defect of sqlgauge.
    #[error(transparent)]
    Defect(#[from] Panicked),
    /// An option that is a share or a score is out of range.
    #[error("{option} {value} is not between 0 and 1")]
    OutOfUnit {
        /// The option's name.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// The databases that a file asks for are not there, or cannot be read.
    #[error("{}{}", asks(asked_by), if *has_parts { PARTS } else { "" })]
    Asked {
        /// The file.
        asked_by: PathBuf,
        /// Whether a part of the file's questions can be taken.
        has_parts: bool,
        /// What is missing.
        source: Box<Error>,
    },
    /// The database of a pair is not there, or cannot be read.
    #[error("{place}")]
    OfPair {
        /// The file of pairs and the place in it.
        place: String,
        /// What is missing.
        source: Box<Error>,
    },
    /// The DDL of a pair is none.
    #[error("{place}: \"ddl\" is not DDL of SQLite")]
    NoDdl {
        /// The file of pairs and the place in it.
        place: String,
        /// What is wrong with it.
        source: sqlgauge_sql::ResolveError,
    },
    /// No metric was named.
    #[error("--metrics names no metric; name at least one, as in ex-spider,esm")]
    NoMetric,
    /// A metric that runs queries, and no database.
    #[error(
        "{metric} runs queries and needs the databases; give --db, or name metrics that run nothing with --metrics, such as \
         etm,esm"
    )]
    NeedsDatabases {
        /// Id of the metric.
        metric: &'static str,
    },
    /// More shards than examples.
    #[error("shard {shard} has none of the {}; make fewer shards", counted(*examples, "example"))]
    EmptyShard {
        /// The shard.
        shard: Shard,
        /// Examples of the whole run.
        examples: usize,
    },
    /// The level of an interval is out of range.
    #[error("--level {0} is not a probability from 0.5 to below 1")]
    Level(f64),
    /// A confidence is out of range.
    #[error("--tau {0} is not a confidence from 0 to 1")]
    Tau(f64),
    /// An alarm's bar is out of range.
    #[error("{name} {value} is out of range: write a share from 0 to 1; 40 % is 0.4")]
    Alarm {
        /// The option.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A batch without a question.
    #[error("--batch-size 0: a batch has at least one question")]
    EmptyBatch,
    /// A judge was named for a method that does not ask one.
    #[cfg(feature = "services")]
    #[error("--judge-url is for --method judge-bug or judge-arena; {0} does not ask a judge")]
    JudgeNotAsked(String),
    /// A prompt cannot be used.
    #[error(transparent)]
    Prompt(#[from] sqlgauge_llm::PromptError),
    /// A client of a language model's server could not be made.
    #[cfg(feature = "services")]
    #[error("cannot use the server of {option}")]
    LlmClient {
        /// The option with its address.
        option: &'static str,
        /// Why.
        source: Box<sqlgauge_llm::LlmError>,
    },
    /// A language model could not be asked for names.
    #[cfg(feature = "services")]
    #[error(transparent)]
    Names(Box<sqlgauge_prompt::names::AskError>),
    /// A job was asked to stop; the sentence says what is kept.
    #[error("{0}; running it again goes on")]
    StoppedAsking(String),
    /// Something that was given does not fit; the sentence names it and the remedy.
    #[error("{0}")]
    Invalid(String),
    /// An error and what it is about.
    #[error("{what}")]
    About {
        /// What could not be done, or the thing at fault.
        what: String,
        /// Why.
        source: Box<Error>,
    },
    /// An encoder is not there, lacks what it needs, or was made for other vectors.
    #[error(transparent)]
    Encoder(#[from] sqlgauge_encode::encoders::SpecError),
    /// A text cannot be encoded.
    #[error(transparent)]
    Encode(#[from] sqlgauge_encode::EncodeError),
    /// The vectors of a workload cannot be made or written.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Workload(Box<sqlgauge_encode::WorkloadError<sqlgauge_encode::StoreError>>),
    /// Kept vectors cannot be read or written.
    #[error(transparent)]
    VectorCache(#[from] sqlgauge_encode::cache::CacheError),
    /// A file of vectors made elsewhere cannot be used.
    #[error(transparent)]
    Vectors(#[from] sqlgauge_encode::VectorsError),
    /// A corpus cannot be made.
    #[error(transparent)]
    Corpus(Box<sqlgauge_synth::CorpusError>),
    /// The databases of a corpus cannot be read.
    #[error(transparent)]
    CorpusSource(Box<sqlgauge_synth::SourceError>),
    /// The losses under evolved schemas cannot be computed or written.
    #[error(transparent)]
    Robustness(Box<sqlgauge_robustness::RobustnessError>),
    /// Training data cannot be written as a table.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    TrainingTable(#[from] sqlgauge_prompt::augment::TableError),
    /// A file of changes cannot be read.
    #[error(transparent)]
    Script(Box<sqlgauge_evolve::ScriptError>),
    /// This build leaves out what was asked for.
    #[error(transparent)]
    NotBuiltIn(#[from] sqlgauge_base::NotBuiltIn),
    /// An embedding file cannot be read or written.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Embeddings(Box<sqlgauge_encode::StoreError>),
    /// A shift cannot be computed.
    #[error(transparent)]
    Shift(Box<sqlgauge_shift::ShiftError>),
    /// Two files of vectors by different encoders.
    #[error(
        "{} was encoded by {source_encoder}, {} by {target_encoder} or with other settings; encode both with the same \
         encoder",
        source_file.display(), target_file.display()
    )]
    OtherEncoder {
        /// The file that shift is measured from.
        source_file: PathBuf,
        /// Its encoder.
        source_encoder: String,
        /// The file that is compared with it.
        target_file: PathBuf,
        /// Its encoder.
        target_encoder: String,
    },
    /// An evaluator cannot be fitted, read, used or written.
    #[cfg(feature = "evaluator")]
    #[error(transparent)]
    Evaluator(Box<sqlgauge_fusion::EvaluatorError>),
    /// An output that is an input.
    #[error(
        "{what} {} is also the input {role} ({}), which would be lost; choose another {what}",
        output.display(), input.display()
    )]
    OutputIsInput {
        /// The output as a person named it: `--out`.
        what: String,
        /// The output.
        output: PathBuf,
        /// What the input is.
        role: String,
        /// The input.
        input: PathBuf,
    },
    /// An output among the labels of a run.
    #[error(
        "{} holds a run with labels, which is not to be mixed with other results; choose another --out",
        folder.display()
    )]
    OutputIsRun {
        /// The output.
        folder: PathBuf,
    },
    /// An output that would take the place of a database.
    #[error("{what} {} is a SQLite database, which would be lost; choose another {what}", output.display())]
    OutputIsDatabase {
        /// The output as a person named it: `--out`.
        what: String,
        /// The output.
        output: PathBuf,
    },
    /// A file stands where the sample's is to be.
    #[error("{} is there and differs from the sample's; choose another folder with --out", .0.display())]
    NotTheSample(PathBuf),
    /// A file cannot be written.
    #[error("{} cannot be written ({source}): {}", path.display(), sqlgauge_base::file::remedy(source))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// SQLite cannot make a database of ours.
    #[error("SQLite cannot make the database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A query that cannot be resolved.
    #[error(transparent)]
    Unresolved(Box<sqlgauge_sql::ResolveError>),
    /// A query that cannot be written as SQL.
    #[error(transparent)]
    Unprintable(Box<sqlgauge_sql::PrintError>),
    /// The values of a database cannot be read, which decide the types of its columns.
    #[error(transparent)]
    NotObserved(Box<sqlgauge_engine::NotObserved>),
    /// A benchmark could not be evolved.
    #[error(transparent)]
    Evolve(Box<sqlgauge_evolve::EvolveError>),
    /// A run was asked to stop before all was scored.
    #[error("{} has {}; the same call scores the others", out.display(), counted_of(*done, *total, "item"))]
    Stopped {
        /// Items in the log.
        done: usize,
        /// Items of the run.
        total: usize,
        /// The run directory.
        out: PathBuf,
    },
}

impl Error {
    /// The error of a file's databases.
    pub(crate) fn of_databases(asked_by: &Path, source: impl Into<Self>) -> Self {
        Self::Asked { asked_by: asked_by.to_owned(), has_parts: false, source: Box::new(source.into()) }
    }

    /// The same of a job that can take a part of the file's questions.
    pub(crate) fn asked_in_part(asked_by: &Path, source: impl Into<Self>) -> Self {
        Self::Asked { asked_by: asked_by.to_owned(), has_parts: true, source: Box::new(source.into()) }
    }
}

/// Says what an error is about.
pub(crate) trait About<T> {
    /// The error with `what` before it.
    fn about(self, what: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<Error>> About<T> for Result<T, E> {
    fn about(self, what: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|error| Error::About { what: what(), source: Box::new(error.into()) })
    }
}

/// What an error about a database begins with: the file that asks about it.
pub fn asks(file: &Path) -> String {
    format!("{} asks about its databases", file.display())
}

/// The errors that are large are kept apart, so that a result without one is small.
macro_rules! kept_apart {
    ($($error:ty => $variant:ident),* $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        })*
    };
}

kept_apart! {
    sqlgauge_dataset::DatasetError => Dataset,
    sqlgauge_run::RunError => Run,
    sqlgauge_report::ReportError => Report,
    sqlgauge_estimate::EstimateError => Estimate,
    sqlgauge_estimate::labelling::LabelError => Labels,
    sqlgauge_results::ResultsError => Results,
    sqlgauge_evolve::EvolveError => Evolve,
    sqlgauge_sql::ResolveError => Unresolved,
    sqlgauge_sql::PrintError => Unprintable,
    sqlgauge_engine::NotObserved => NotObserved,
    sqlgauge_shift::ShiftError => Shift,
    sqlgauge_tables::TablesError => Tables,
    sqlgauge_synth::CorpusError => Corpus,
    sqlgauge_synth::SourceError => CorpusSource,
    sqlgauge_robustness::RobustnessError => Robustness,
    sqlgauge_evolve::ScriptError => Script,
}

#[cfg(feature = "parquet")]
kept_apart! {
    sqlgauge_encode::StoreError => Embeddings,
    sqlgauge_encode::WorkloadError<sqlgauge_encode::StoreError> => Workload,
}

#[cfg(feature = "services")]
kept_apart! { sqlgauge_prompt::names::AskError => Names }

#[cfg(feature = "evaluator")]
kept_apart! { sqlgauge_fusion::EvaluatorError => Evaluator }
