//! Encoding, in builds with embedding files.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Once};

use sqlgauge_base::{counted_of, verb_for};
use sqlgauge_dataset::{Benchmark, PredictionSet, load_labels, load_workload, take_out_other_answers};
use sqlgauge_dialects::reading;
use sqlgauge_encode::cache::Cache;
use sqlgauge_encode::encoders::file::VectorFile;
use sqlgauge_encode::encoders::{BuildOptions, EncoderSpec, parse};
use sqlgauge_encode::{
    EmbeddingFile, EmbeddingRow, EmbeddingWriter, Encoder, EncoderInput, InputForm, Metadata, Vectors,
    digest, encode_workload,
};

use super::{EncodeJob, EncoderModel};
use crate::context::Context;
use crate::error::{About, Error};
use crate::guard::{keep_database, keep_inputs};
use crate::one_database::name_database;
use crate::schemas::SchemaSource;
use crate::score::System;
use crate::source::Source;
use crate::subset::{pick, select_without_golds};

/// An embedding file that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedWorkload {
    /// Vectors in the file.
    pub items: usize,
    /// Those of them that were kept from an earlier call.
    pub reused: usize,
    /// Components of a vector.
    pub dimensions: usize,
    /// Id of the encoder, or the file that the vectors come from.
    pub encoder: String,
    /// What was encoded.
    pub form: InputForm,
}

impl EncodeJob {
    /// Encodes, and writes the file whole or not at all.
    ///
    /// # Errors
    /// When an input cannot be read, the encoder is not there or refuses a text, or the file is an input or cannot be
    /// written.
    pub fn run(&self, context: &Context<'_>) -> Result<EncodedWorkload, Error> {
        let spec = parse(&self.encoder)?;
        self.keep_inputs(&spec)?;
        let form = self.form()?;
        let workload = EncoderWorkload::read(self, &spec, context)?;
        let extras = self.extras(&workload, context)?;
        let items = Items { inputs: &workload.inputs, extras };
        match &spec {
            EncoderSpec::File(path) => self.copy(path, form, &items),
            spec => self.encode(spec, form, &items, context),
        }
    }

    /// What is written takes the place of no input, and of nothing but embeddings.
    fn keep_inputs(&self, spec: &EncoderSpec) -> Result<(), Error> {
        let encoder = if let EncoderSpec::File(path) = spec { Some(path.as_path()) } else { None };
        let (SchemaSource::Databases(schemas) | SchemaSource::Tables(schemas)) = &self.schemas;
        let inputs = [
            ("--questions", Some(self.workload.path.as_path())),
            ("--db or --tables", Some(schemas.as_path())),
            ("--pred", self.system.as_ref().and_then(|system| system.predictions.file())),
            ("--correct", self.labels.as_ref().map(|(path, _)| path.as_path())),
            ("--like", self.like.as_deref()),
            ("--encoder", encoder),
        ];
        keep_inputs("--out", &self.out, inputs.into_iter().filter_map(|(role, path)| Some((role, path?))))?;
        keep_database("--out", &self.out)?;
        let mut magic = [0; 4];
        let read = File::open(&self.out).and_then(|mut file| file.read_exact(&mut magic));
        if self.out.is_file() && (read.is_err() || &magic != b"PAR1") {
            return Err(Error::Invalid(format!(
                "--out {} is there and is not a Parquet file; choose another path, or remove it",
                self.out.display()
            )));
        }
        Ok(())
    }

    fn form(&self) -> Result<InputForm, Error> {
        let has_predictions = self.system.is_some();
        let default =
            if has_predictions { InputForm::QuestionSchemaPrediction } else { InputForm::QuestionSchema };
        let form = self.form.unwrap_or(default);
        if form.has_prediction() && !has_predictions {
            let name = form.name();
            let text = format!("--form {name} needs predictions; give them with --pred NAME=FILE");
            return Err(Error::Invalid(text));
        }
        Ok(form)
    }

    /// Label and confidence of each item.
    fn extras(&self, workload: &EncoderWorkload, context: &Context<'_>) -> Result<Vec<Extra>, Error> {
        let mut extras = vec![Extra::default(); workload.inputs.len()];
        let position: HashMap<&str, usize> =
            workload.inputs.iter().enumerate().map(|(place, input)| (input.id.as_str(), place)).collect();
        let predictions = workload.predictions.iter().flat_map(|set| &set.predictions);
        for (extra, prediction) in extras.iter_mut().zip(predictions) {
            extra.confidence = prediction.as_ref().and_then(|prediction| prediction.confidence);
        }
        let Some((path, column)) = &self.labels else { return Ok(extras) };
        let file = path.display();
        let mut labels = load_labels(path, None, column.as_deref(), &self.workload.columns)?;
        if workload.predictions.is_some() {
            let answer = |id: &str| {
                let input = &workload.inputs[*position.get(id)?];
                Some(input.prediction.as_deref().unwrap_or_default())
            };
            let others = take_out_other_answers(&mut labels, path, answer);
            others.iter().for_each(|text| context.watcher().note(text));
        }
        for label in labels {
            let strange = || {
                Error::Invalid(format!(
                    "{file} has a label for {:?}, which the workload does not have; give the labels of this workload",
                    label.id
                ))
            };
            let &place = position.get(label.id.as_str()).ok_or_else(strange)?;
            extras[place].correct = label.correct;
        }
        let missing = extras.iter().filter(|extra| extra.correct.is_none()).count();
        if missing > 0 {
            let (items, have) =
                (counted_of(missing, extras.len(), "item"), verb_for(&missing, ["has", "have"]));
            context.watcher().note(&format!("{file}: {items} {have} no label"));
        }
        Ok(extras)
    }

    fn encode(
        &self,
        spec: &EncoderSpec,
        form: InputForm,
        items: &Items<'_>,
        context: &Context<'_>,
    ) -> Result<EncodedWorkload, Error> {
        let like = self.like.as_deref().map(EmbeddingFile::open).transpose()?;
        let EncoderModel { device, precision, max_tokens, normalise, name, key } = self.model.clone();
        let options = BuildOptions {
            like: like.as_ref().map(EmbeddingFile::metadata),
            device,
            precision,
            max_tokens,
            normalise,
            model: name,
            api_key: key,
            service_cache: self.cache.as_ref().map(|folder| folder.join("service")),
        };
        let built = spec.build(form, &options, items.inputs);
        let encoder = match &self.like {
            Some(like) => built.about(|| format!("--like {}", like.display()))?,
            None => built?,
        };
        let mut cache = match &self.cache {
            Some(folder) => Some(Cache::open(folder, &encoder.fingerprint(), encoder.dimensions())?),
            None => None,
        };
        let metadata = metadata_of(encoder.as_ref(), form, items.inputs);
        let mut writer = EmbeddingWriter::create(&self.out, &metadata, encoder.dimensions())?;
        let (watcher, total) = (context.watcher(), items.inputs.len());
        let (mut reused, started) = (0, Once::new());
        encode_workload(
            encoder.as_ref(),
            form,
            items.inputs,
            self.batch as usize,
            cache.as_mut(),
            &mut |progress| {
                reused = progress.reused;
                started.call_once(|| watcher.started("items", total, 0));
                watcher.advanced(progress.done);
            },
            &mut |place, vector| writer.push(items.at(place, vector)),
        )?;
        writer.finish()?;
        Ok(EncodedWorkload {
            items: total,
            reused,
            dimensions: encoder.dimensions(),
            encoder: encoder.id(),
            form,
        })
    }

    /// Writes vectors that were made elsewhere.
    fn copy(&self, path: &Path, form: InputForm, items: &Items<'_>) -> Result<EncodedWorkload, Error> {
        let file = VectorFile::open(path)?;
        let positions = file.positions(items.inputs)?;
        let mut metadata = file.metadata().clone();
        if metadata.encoder.is_empty() {
            "file".clone_into(&mut metadata.encoder);
        }
        metadata.form = Some(form);
        metadata.source_digest = digest(items.inputs, form);
        if let Some(like) = &self.like {
            let like = EmbeddingFile::open(like)?;
            if like.dimensions() != file.dimensions() || like.metadata().fingerprint != metadata.fingerprint {
                return Err(Error::Invalid(format!(
                    "{} and {} are not by the same encoder; their vectors cannot be compared",
                    like.path().display(),
                    path.display()
                )));
            }
        }
        let mut writer = EmbeddingWriter::create(&self.out, &metadata, file.dimensions())?;
        let (mut rows, mut places) = (Vec::new(), positions.iter());
        for chunk in 0..file.chunks() {
            file.read_chunk(chunk, &mut rows)?;
            for (vector, &place) in rows.chunks_exact(file.dimensions()).zip(&mut places) {
                writer.push(items.at(place, vector))?;
            }
        }
        writer.finish()?;
        Ok(EncodedWorkload {
            items: positions.len(),
            reused: 0,
            dimensions: file.dimensions(),
            encoder: path.display().to_string(),
            form,
        })
    }
}

/// A workload that was read.
struct EncoderWorkload {
    predictions: Option<PredictionSet>,
    /// In the order of the questions.
    inputs: Vec<EncoderInput>,
}

impl EncoderWorkload {
    /// Reads questions, schemas, and the predictions of a system; the watcher is told what was repaired.
    fn read(job: &EncodeJob, spec: &EncoderSpec, context: &Context<'_>) -> Result<Self, Error> {
        let mut questions = load_workload(&job.workload)?;
        name_database(&mut questions, job.schemas.folder(), None)?;
        let read = |system: &System| system.read(&questions, job.prediction_format, job.extract, false);
        let mut predictions = job.system.as_ref().map(read).transpose()?;
        if let Some(part) =
            select_without_golds(&job.subset, &questions.examples, job.schemas.folder(), context.watcher())?
        {
            predictions = predictions.map(|set| set.of_part(&part, &questions.examples));
            questions.examples = pick(questions.examples, Some(&part));
        }
        let (schemas, dialect) = job
            .schemas
            .read(&questions, context)
            .map_err(|error| Error::asked_in_part(Source::from(job.workload.path.as_path()).path(), error))?;
        let notes = questions.notes.iter().chain(predictions.iter().flat_map(|set| &set.notes));
        notes.for_each(|text| context.watcher().note(text));
        let mut inputs = inputs(&questions, predictions.as_ref(), &schemas);
        // These look into the structure; other encoders take the text as it is.
        if matches!(spec, EncoderSpec::Features) {
            let texts = inputs.iter_mut().filter_map(|input| input.prediction.as_mut());
            texts.for_each(|sql| *sql = reading(sql, dialect));
        }
        Ok(Self { predictions, inputs })
    }
}

fn inputs(
    questions: &Benchmark,
    predictions: Option<&PredictionSet>,
    schemas: &HashMap<String, Arc<sqlgauge_sql::schema::Schema>>,
) -> Vec<EncoderInput> {
    let input = |(position, example): (usize, &sqlgauge_dataset::Example)| {
        let prediction = predictions.and_then(|set| set.predictions[position].as_ref());
        EncoderInput {
            id: example.id.clone(),
            db_id: example.db_id.clone(),
            question: example.question.clone().unwrap_or_default(),
            evidence: example.evidence.clone(),
            schema: Arc::clone(&schemas[&example.db_id]),
            prediction: prediction.map(|prediction| prediction.sql.clone()),
        }
    };
    questions.examples.iter().enumerate().map(input).collect()
}

/// What is kept with the vector of an item.
#[derive(Debug, Clone, Copy, Default)]
struct Extra {
    correct: Option<f64>,
    confidence: Option<f64>,
}

/// What the vectors are written for.
struct Items<'a> {
    inputs: &'a [EncoderInput],
    extras: Vec<Extra>,
}

impl Items<'_> {
    fn at<'v>(&'v self, place: usize, vector: &'v [f32]) -> EmbeddingRow<'v> {
        let (input, Extra { correct, confidence }) = (&self.inputs[place], self.extras[place]);
        EmbeddingRow { id: &input.id, db_id: &input.db_id, vector, correct, confidence }
    }
}

fn metadata_of(encoder: &dyn Encoder, form: InputForm, inputs: &[EncoderInput]) -> Metadata {
    Metadata {
        encoder: encoder.id(),
        fingerprint: encoder.fingerprint(),
        form: Some(form),
        dimension_names: encoder.dimension_names(),
        source_digest: digest(inputs, form),
        extra: encoder.extra(),
        ..Metadata::default()
    }
}
