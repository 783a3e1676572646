//! The SQL that a language model gives for questions: `sqlgauge predict`.

#[cfg(feature = "services")]
mod asking;

use std::path::PathBuf;

use sqlgauge_dataset::{BenchmarkSource, WorkloadSource};
use sqlgauge_engine::Limits;

use crate::llm::LlmSettings;
use crate::schemas::SchemaSource;
use crate::subset::Subset;
use crate::values::OutputPath;

/// Asks a language model for the SQL of a workload's questions. It needs the feature `services`.
///
/// ```no_run
/// # // Needs a server.
/// # #[cfg(feature = "services")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, LlmSettings, PredictJob, Sample, SchemaSource};
///
/// let sample = Sample::unpack("sample".as_ref())?;
/// let model = LlmSettings::new("http://127.0.0.1:8091/v1", "qwen2.5-coder");
/// let mut job = PredictJob::new(sample.questions, model, "answers.jsonl");
/// job.schemas = Some(SchemaSource::Databases(sample.databases));
/// println!("{} answers", job.run(&Context::default())?.lines.len());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "services"))]
/// # fn main() {}
/// ```
#[derive(Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PredictJob {
    /// The questions.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub workload: WorkloadSource,
    /// The schemas of items that bring no DDL of their own.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub schemas: Option<SchemaSource>,
    /// Prediction file to write (JSONL), which `score --pred` reads
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub out: OutputPath,
    /// File with the prompt, in place of the built-in one
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub prompt: Option<PathBuf>,
    /// Rows of each table that the prompt shows
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 0, requires = "db"))]
    pub example_rows: u32,
    /// Answered questions that are shown before each question.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub shots: Option<Shots>,
    /// Ask first which tables and columns a question needs, and show only these and their keys
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "example_rows"))]
    pub prune: bool,
    /// Answers to each question; the SQL that most of them give is the prediction
    #[cfg_attr(feature = "cli", arg(long = "n", value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)))]
    pub samples: u32,
    /// Sampling temperature
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "T", default_value_t = 0.0, conflicts_with = "llm_reasons")
    )]
    pub temperature: f64,
    /// Seed of sampling, as the server understands it [default: 0 with several answers, else the server's]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub seed: Option<u64>,
    /// Text at which the server ends an answer; may be given several times
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub stop: Vec<String>,
    /// Do not ask for the probabilities of tokens, which some servers refuse; the predictions then have no confidence
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_logprobs: bool,
    /// Which questions are asked; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Limits of the queries that read example rows.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
    /// The server and the model.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub llm: LlmSettings,
}

/// Answered questions that are shown before each question: in-context learning.
#[derive(Debug, Clone)]
pub struct Shots {
    /// How many. None is about the question's own database; the seed of the job draws them.
    pub count: u32,
    /// File with questions and golds to draw from: a training set.
    pub benchmark: BenchmarkSource,
    /// The schemas of those that bring no DDL; the job's without it.
    pub schemas: Option<SchemaSource>,
}

impl PredictJob {
    /// One answer of temperature 0 to each question.
    pub fn new(workload: impl Into<PathBuf>, llm: LlmSettings, out: impl Into<PathBuf>) -> Self {
        Self {
            workload: WorkloadSource { path: workload.into(), ..WorkloadSource::default() },
            out: out.into().into(),
            samples: 1,
            llm,
            ..Self::default()
        }
    }
}
