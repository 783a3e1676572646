//! A workload as vectors: `sqlgauge encode`. No gold is read.

#[cfg(feature = "parquet")]
mod encoding;

use std::path::PathBuf;

use sqlgauge_dataset::WorkloadSource;
use sqlgauge_encode::InputForm;

#[cfg(feature = "parquet")]
pub use self::encoding::EncodedWorkload;
use crate::schemas::SchemaSource;
use crate::score::System;
use crate::subset::Subset;
use crate::values::{EncoderName, OutputPath};

/// Turns questions, schemas and predictions into vectors for [`ShiftJob`](crate::ShiftJob), [`FitJob`](crate::FitJob) and
/// [`EvaluateJob`](crate::EvaluateJob).
///
/// ```
/// # #[cfg(feature = "parquet")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, EncodeJob, Sample, SchemaSource};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let schemas = SchemaSource::Tables(sample.tables);
///
/// let job = EncodeJob::new(sample.questions, schemas, folder.path().join("sample.parquet"));
/// let encoded = job.run(&Context::default())?;
/// assert_eq!((encoded.items, encoded.encoder.as_str()), (41, "features@1"));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "parquet"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EncodeJob {
    /// The questions.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub workload: WorkloadSource,
    /// `features`, `tfidf`, `bert:DIR`, `llm:DIR`, `http:URL` or `file:PATH`
    #[cfg_attr(feature = "cli", arg(long, value_name = "ENCODER", default_value = "features"))]
    pub encoder: EncoderName,
    /// Embedding file (Parquet) to write
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub out: OutputPath,
    /// Their schemas.
    #[cfg_attr(feature = "cli", arg(skip = SchemaSource::Tables(PathBuf::new())))]
    pub schemas: SchemaSource,
    /// Predictions of one system
    #[cfg_attr(feature = "cli", arg(long = "pred", id = "prediction", value_name = "NAME=FILE"))]
    pub system: Option<System>,
    /// Parts to encode: question-schema, question-schema-prediction (what --pred makes the default) or question-prediction
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORM", value_parser = crate::cli::input_form))]
    pub form: Option<InputForm>,
    /// File with labels to keep with the vectors, and the column that has them where it is not `correct`.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub labels: Option<(PathBuf, Option<String>)>,
    /// Encode into the space of this embedding file: tfidf takes its terms, other encoders must be the same
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub like: Option<PathBuf>,
    /// Items that are encoded at once
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)))]
    pub batch: u32,
    /// Folder that keeps vectors by content; the same command again goes on where it was
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub cache: Option<OutputPath>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
    #[cfg_attr(feature = "cli", arg(long = "extract-sql"))]
    pub extract: bool,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<sqlgauge_dataset::FileFormat>,
    /// Which questions are encoded; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Options of encoders that run a model.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub model: EncoderModel,
}

/// Options of encoders that run a model.
#[derive(Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EncoderModel {
    /// cpu, cuda or cuda:N (bert, llm)
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEVICE", help_heading = "Models"))]
    pub device: Option<String>,
    /// f32, f16 or bf16 (bert, llm)
    #[cfg_attr(feature = "cli", arg(long, value_name = "PRECISION", help_heading = "Models"))]
    pub precision: Option<String>,
    /// Tokens of a text that are read (bert, llm); the end of a longer text is lost
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Models"))]
    pub max_tokens: Option<usize>,
    /// Scale vectors to length 1 (bert, llm)
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Models"))]
    pub normalise: bool,
    /// Name of the model (http)
    #[cfg_attr(
        feature = "cli",
        arg(long = "model", id = "model", value_name = "NAME", help_heading = "Models")
    )]
    pub name: Option<String>,
    /// Key of the service (http).
    #[cfg_attr(feature = "cli", arg(skip))]
    pub key: Option<String>,
}

impl EncodeJob {
    /// The encoder `features` on questions and schemas.
    pub fn new(workload: impl Into<PathBuf>, schemas: SchemaSource, out: impl Into<PathBuf>) -> Self {
        Self {
            workload: WorkloadSource { path: workload.into(), ..WorkloadSource::default() },
            schemas,
            system: None,
            prediction_format: None,
            extract: false,
            subset: Subset::default(),
            encoder: "features".to_owned().into(),
            form: None,
            labels: None,
            like: None,
            batch: 64,
            cache: None,
            out: out.into().into(),
            model: EncoderModel::default(),
        }
    }
}
