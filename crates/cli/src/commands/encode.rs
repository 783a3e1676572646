//! `sqlgauge encode`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sqlgauge_base::NotBuiltIn;
use sqlgauge_dataset::{Columns, Format, PredictionOptions, WorkloadSource, load_labels};
use sqlgauge_encode::cache::Cache;
use sqlgauge_encode::encoders::file::VectorFile;
use sqlgauge_encode::encoders::{BuildOptions, EncoderSpec, parse};
use sqlgauge_encode::{
    EmbeddingFile, EmbeddingWriter, Encoder, Form, Item, Metadata, Progress, Vectors, digest, encode_workload,
};

use crate::Verdict;
use crate::interrupt::how_to_go_on;
use crate::options::{SystemFile, column_help, columns, format, system_file, workload_roles};
use crate::output::{note, print};
use crate::stdin::input_file;
use crate::workload::{SchemaSource, Workload};
use sqlgauge::{keep_database, keep_inputs};

/// Turn a workload (questions, schemas, predictions) into vectors for `shift`, `fit` and `estimate`
#[derive(Debug, Args)]
pub struct Encode {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    workload: PathBuf,
    /// `features`, `tfidf`, `bert:DIR`, `llm:DIR`, `http:URL` or `file:PATH`
    #[arg(long, value_name = "ENCODER", default_value = "features")]
    encoder: String,
    /// Embedding file (Parquet) to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file; rows are not needed
    #[arg(long, value_name = "DIR", required_unless_present = "tables", conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Schema file (tables.json) in place of databases
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
    /// Predictions of one system
    #[arg(long = "pred", value_name = "NAME=FILE", value_parser = system_file)]
    prediction: Option<SystemFile>,
    /// What is encoded: question-schema, question-schema-prediction (what --pred makes the default) or question-prediction
    #[arg(long, value_name = "FORM", value_parser = form)]
    form: Option<Form>,
    /// Labels of the predictions, to keep with the vectors: TSV, CSV or JSONL with id and correct
    #[arg(long, value_name = "FILE")]
    correct: Option<PathBuf>,
    /// Column that has the labels
    #[arg(long, value_name = "COLUMN", requires = "correct")]
    correct_column: Option<String>,
    /// Encode into the space of this embedding file: tfidf takes its terms, other encoders must be the same
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
    /// Items that are encoded at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Folder that keeps vectors by content; the same command again goes on where it was
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
    #[arg(long)]
    extract_sql: bool,
    /// Format of the workload, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    /// Format of the prediction file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pred_format: Option<Format>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    model: ModelOptions,
}

/// Options of encoders that run a model.
#[derive(Debug, Args)]
struct ModelOptions {
    /// cpu, cuda or cuda:N (bert, llm)
    #[arg(long, value_name = "DEVICE", help_heading = "Models")]
    device: Option<String>,
    /// f32, f16 or bf16 (bert, llm)
    #[arg(long, value_name = "PRECISION", help_heading = "Models")]
    precision: Option<String>,
    /// Tokens of a text that are read (bert, llm); the end of a longer text is lost
    #[arg(long, value_name = "N", help_heading = "Models")]
    max_tokens: Option<usize>,
    /// Scale vectors to length 1 (bert, llm)
    #[arg(long, help_heading = "Models")]
    normalise: bool,
    /// Name of the model (http)
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    model: Option<String>,
    /// Environment variable that has the key of the service (http)
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", help_heading = "Models")]
    api_key_env: String,
}

fn form(name: &str) -> Result<Form, String> {
    Form::from_name(name).ok_or_else(|| {
        let names = Form::ALL.map(Form::name).join(", ");
        format!("there is no form {name:?}; the forms are {names}")
    })
}

impl Encode {
    pub fn run(self) -> Result<Verdict> {
        let spec = parse(&self.encoder)?;
        if !cfg!(feature = "parquet") {
            return Err(NotBuiltIn { what: "sqlgauge encode", feature: "parquet" }.into());
        }
        self.keep_inputs(&spec)?;
        how_to_go_on(match &self.cache {
            Some(_) => "no output was changed; the same command goes on with what is in --cache",
            None => "no output was changed; with --cache DIR the same command goes on where it was",
        });
        let columns = columns(&self.columns)?;
        let form = self.form()?;
        let workload = self.read(&columns)?;
        if !self.quiet {
            workload.notes().for_each(note);
        }
        let extras = self.extras(&workload, &columns)?;
        let written = match &spec {
            EncoderSpec::File(path) => self.copy(path, form, &workload, &extras)?,
            spec => self.encode(spec, form, &workload, &extras)?,
        };
        if !self.quiet {
            print(&format!("{written}\n"))?;
        }
        Ok(Verdict::Done)
    }

    /// What is written takes the place of no input, and of nothing but embeddings.
    fn keep_inputs(&self, spec: &EncoderSpec) -> Result<()> {
        let encoder = if let EncoderSpec::File(path) = spec { Some(path) } else { None };
        let inputs = [
            ("--workload", Some(&self.workload)),
            ("--db", self.db.as_ref()),
            ("--tables", self.tables.as_ref()),
            ("--pred", self.prediction.as_ref().map(|file| &file.path)),
            ("--correct", self.correct.as_ref()),
            ("--like", self.like.as_ref()),
            ("--encoder", encoder),
        ];
        let given = inputs.into_iter().filter_map(|(role, path)| Some((role, path?.as_path())));
        keep_inputs("--out", &self.out, given)?;
        keep_database("--out", &self.out)?;
        let mut magic = [0; 4];
        let read = File::open(&self.out).and_then(|mut file| file.read_exact(&mut magic));
        ensure!(
            !self.out.is_file() || (read.is_ok() && &magic == b"PAR1"),
            "--out {} is there and is no Parquet file; choose another path, or remove it",
            self.out.display()
        );
        Ok(())
    }

    fn form(&self) -> Result<Form> {
        let has_predictions = self.prediction.is_some();
        let form = self.form.unwrap_or(if has_predictions {
            Form::QuestionSchemaPrediction
        } else {
            Form::QuestionSchema
        });
        ensure!(
            has_predictions || !form.has_prediction(),
            "--form {} needs predictions; give them with --pred NAME=FILE",
            form.name()
        );
        Ok(form)
    }

    fn read(&self, columns: &Columns) -> Result<Workload> {
        let schemas = match (&self.db, &self.tables) {
            (Some(folder), _) => SchemaSource::Databases(folder.clone()),
            (None, Some(file)) => SchemaSource::Tables(file.clone()),
            (None, None) => bail!("the schemas are missing; give --db DIR or --tables FILE"),
        };
        let source =
            WorkloadSource { path: self.workload.clone(), format: self.format, columns: columns.clone() };
        let options = PredictionOptions {
            format: self.pred_format,
            columns: columns.clone(),
            extract: self.extract_sql,
            only_sql: false,
        };
        Workload::read(&source, &schemas, self.prediction.as_ref(), &options)
    }

    /// Label and confidence of each item.
    fn extras(&self, workload: &Workload, columns: &Columns) -> Result<Vec<Extra>> {
        let mut extras = vec![Extra::default(); workload.inputs.len()];
        let position: HashMap<&str, usize> =
            workload.inputs.iter().enumerate().map(|(place, input)| (input.id.as_str(), place)).collect();
        let predictions = workload.predictions.iter().flat_map(|set| &set.predictions);
        for (extra, prediction) in extras.iter_mut().zip(predictions) {
            extra.confidence = prediction.as_ref().and_then(|prediction| prediction.confidence);
        }
        let Some(path) = &self.correct else { return Ok(extras) };
        for label in load_labels(path, self.correct_column.as_deref(), columns)? {
            let &place = position.get(label.id.as_str()).ok_or_else(|| {
                anyhow!(
                    "{} has a label for {:?}, which the workload does not have; give the labels of this workload",
                    path.display(),
                    label.id
                )
            })?;
            extras[place].correct = label.correct;
        }
        let missing = extras.iter().filter(|extra| extra.correct.is_none()).count();
        if missing > 0 && !self.quiet {
            note(format!("{}: {missing} of {} items have no label", path.display(), extras.len()));
        }
        Ok(extras)
    }

    fn encode(
        &self,
        spec: &EncoderSpec,
        form: Form,
        workload: &Workload,
        extras: &[Extra],
    ) -> Result<String> {
        let like = self.like.as_deref().map(EmbeddingFile::open).transpose()?;
        let options = BuildOptions {
            like: like.as_ref().map(EmbeddingFile::metadata),
            device: self.model.device.clone(),
            precision: self.model.precision.clone(),
            max_tokens: self.model.max_tokens,
            normalise: self.model.normalise,
            model: self.model.model.clone(),
            api_key: std::env::var(&self.model.api_key_env).ok(),
            service_cache: self.cache.as_ref().map(|folder| folder.join("service")),
        };
        let built = spec.build(form, &options, &workload.inputs);
        let encoder = match &self.like {
            Some(like) => built.with_context(|| format!("--like {}", like.display()))?,
            None => built?,
        };
        let mut cache = match &self.cache {
            Some(folder) => Some(Cache::open(folder, &encoder.fingerprint(), encoder.dimensions())?),
            None => None,
        };
        let metadata = metadata_of(encoder.as_ref(), form, workload);
        let mut writer = EmbeddingWriter::create(&self.out, &metadata, encoder.dimensions())?;
        let bar = Bar::new(self.quiet, workload.inputs.len());
        let mut reused = 0;
        encode_workload(
            encoder.as_ref(),
            form,
            &workload.inputs,
            self.batch as usize,
            cache.as_mut(),
            &mut |progress| {
                reused = progress.reused;
                bar.show(progress);
            },
            &mut |place, vector| writer.push(item(workload, extras, place, vector)),
        )?;
        bar.0.finish_and_clear();
        writer.finish()?;
        Ok(format!(
            "{} items ({reused} reused) × {} components by {} ({}): {}",
            workload.inputs.len(),
            encoder.dimensions(),
            encoder.id(),
            form.name(),
            self.out.display()
        ))
    }

    /// Writes vectors that were made elsewhere.
    fn copy(&self, path: &Path, form: Form, workload: &Workload, extras: &[Extra]) -> Result<String> {
        let file = VectorFile::open(path)?;
        let positions = file.positions(&workload.inputs)?;
        let mut metadata = file.metadata().clone();
        if metadata.encoder.is_empty() {
            "file".clone_into(&mut metadata.encoder);
        }
        metadata.form = Some(form);
        metadata.source_digest = digest(&workload.inputs, form);
        if let Some(like) = &self.like {
            let like = EmbeddingFile::open(like)?;
            ensure!(
                like.dimensions() == file.dimensions() && like.metadata().fingerprint == metadata.fingerprint,
                "{} and {} are not by the same encoder; their vectors cannot be compared",
                like.path().display(),
                path.display()
            );
        }
        let mut writer = EmbeddingWriter::create(&self.out, &metadata, file.dimensions())?;
        let (mut rows, mut done) = (Vec::new(), 0);
        for chunk in 0..file.chunks() {
            file.read_chunk(chunk, &mut rows)?;
            for vector in rows.chunks_exact(file.dimensions()) {
                let place = *positions.get(done).context("a file has as many vectors as it says")?;
                writer.push(item(workload, extras, place, vector))?;
                done += 1;
            }
        }
        writer.finish()?;
        Ok(format!(
            "{done} items × {} components from {}: {}",
            file.dimensions(),
            path.display(),
            self.out.display()
        ))
    }
}

/// What is kept with the vector of an item.
#[derive(Debug, Clone, Copy, Default)]
struct Extra {
    correct: Option<f64>,
    confidence: Option<f64>,
}

fn item<'a>(workload: &'a Workload, extras: &[Extra], place: usize, vector: &'a [f32]) -> Item<'a> {
    let (input, Extra { correct, confidence }) = (&workload.inputs[place], extras[place]);
    Item { id: &input.id, db_id: &input.db_id, vector, correct, confidence }
}

fn metadata_of(encoder: &dyn Encoder, form: Form, workload: &Workload) -> Metadata {
    Metadata {
        encoder: encoder.id(),
        fingerprint: encoder.fingerprint(),
        form: Some(form),
        dimension_names: encoder.dimension_names(),
        source_digest: digest(&workload.inputs, form),
        extra: encoder.extra(),
        ..Metadata::default()
    }
}

/// Progress on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool, total: usize) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let template = "{bar:40} {human_pos}/{human_len} items  {per_sec}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn show(&self, progress: Progress) {
        self.0.set_position(progress.done as u64);
    }
}
