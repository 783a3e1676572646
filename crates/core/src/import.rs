//! A scored run of labels that were judged elsewhere: `sqlgauge import`. Nothing is executed, and no gold is read.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;

use sqlgauge_base::{counted_of, verb_for};
use sqlgauge_dataset::{
    Benchmark, Columns, Databases, FileFormat, PredictionSet, load_labels, parse_workload,
    take_out_other_answers,
};
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_estimate::IMPORTED_METRIC;
use sqlgauge_run::{
    Details, ITEMS, Item, MISSING, Manifest, RunDirectory, RunError, Start, SummaryBuilder, UsedDatabases,
};

use crate::context::Context;
use crate::error::{About, Error};
use crate::guard::keep_inputs_of_run;
use crate::score::System;
use crate::settings::pairing;
use crate::source::{Source, digest_sources};
use crate::values::OutputPath;

/// Makes a run directory of predictions and labels, for `estimate --known`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, ImportJob, Sample, System};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let labels = folder.path().join("labels.csv");
/// std::fs::write(&labels, "id,correct\nbike-01,1\nbike-02,0\n")?;
///
/// let systems = vec![System::new("careful", sample.predictions_of("careful").expect("a file of it"))];
/// let out = folder.path().join("run");
/// let job = ImportJob::new(sample.questions.as_path(), systems, labels, &sample.databases, &out);
/// let imported = job.run(&Context::default())?;
/// assert_eq!(imported.labels, [2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ImportJob {
    /// File with the questions (golds in it are not read)
    #[cfg_attr(
        feature = "cli",
        arg(long = "questions", id = "questions", alias = "workload", value_name = "FILE")
    )]
    pub workload: Source,
    /// Predictions of one system; may be given several times
    #[cfg_attr(
        feature = "cli",
        arg(long = "pred", id = "predictions", value_name = "NAME=FILE", required = true)
    )]
    pub systems: Vec<System>,
    /// Labels: TSV, CSV or JSONL with id and correct, or with a column per system
    #[cfg_attr(feature = "cli", arg(long = "correct", id = "correct", value_name = "FILE",
        value_parser = crate::cli::stdin::input_file))]
    pub labels: PathBuf,
    /// Folder or address that `score` takes; rows are not needed
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub db: PathBuf,
    /// Run directory to write
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: OutputPath,
    /// Discard the run that is in the folder
    #[cfg_attr(feature = "cli", arg(long))]
    pub restart: bool,
    /// Format of the file with the questions or golds, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", value_parser = crate::cli::file_format()))]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Columns that the user named.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// The command or call, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub command: Vec<String>,
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRun {
    /// Questions of the workload.
    pub items: usize,
    /// Labels of each system, in the order of the job.
    pub labels: Vec<usize>,
}

type Labels = HashMap<String, f64>;

impl ImportJob {
    /// The job with the defaults of the command line.
    pub fn new(
        workload: impl Into<Source>,
        systems: Vec<System>,
        labels: impl Into<PathBuf>,
        db: impl Into<PathBuf>,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            workload: workload.into(),
            systems,
            labels: labels.into(),
            db: db.into(),
            out: out.into().into(),
            ..Self::default()
        }
    }

    /// Writes the run directory.
    ///
    /// # Errors
    /// When an input cannot be read, a label has a strange id, all labels of a system are of earlier answers, or the directory
    /// cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<ImportedRun, Error> {
        let format = self.workload.format(self.format)?;
        let workload = parse_workload(&self.workload.read()?, format, &self.columns)?;
        let read = |system: &System| system.read(&workload, self.prediction_format, false, false);
        let sets = self.systems.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let labels = sets.iter().map(|set| self.labels_of(&workload, set, context));
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let mut manifest = self.manifest(&workload, context)?;
        manifest.options.extend([pairing(&sets, &BTreeMap::new())]);
        keep_inputs_of_run(&self.out, &manifest)?;
        let start = if self.restart { Start::Restart } else { Start::Continue };
        let directory = RunDirectory::create(&self.out, &manifest, start)?;
        for (set, labels) in sets.iter().zip(&labels) {
            let (system, items) = (&set.system, workload.examples.len());
            set.notes.iter().for_each(|text| context.watcher().note(&format!("{system}: {text}")));
            let labelled = counted_of(labels.len(), items, "item");
            let have = verb_for(&labels.len(), ["has", "have"]);
            context.watcher().note(&format!("{system}: {labelled} {have} a label"));
        }
        let path = self.out.join(ITEMS);
        directory.write_file(ITEMS, |out| {
            let unwritable = |source| RunError::Unwritable { path, source };
            write_items(&workload, &sets, &labels, out).map_err(unwritable)
        })?;
        directory.write_summary(&SummaryBuilder::of(directory.manifest(), &directory.items())?)?;
        Ok(ImportedRun { items: workload.examples.len(), labels: labels.iter().map(HashMap::len).collect() })
    }

    /// The labels of a system by id.
    fn labels_of(
        &self,
        workload: &Benchmark,
        set: &PredictionSet,
        context: &Context<'_>,
    ) -> Result<Labels, Error> {
        let system = &set.system;
        let mut labels = match load_labels(&self.labels, None, Some(system), &self.columns) {
            Err(_) if self.systems.len() == 1 => {
                load_labels(&self.labels, Some(system), None, &self.columns)?
            }
            labels => {
                labels.about(|| format!("with several systems, the labels need a column named `{system}`"))?
            }
        };
        let sql = set
            .predictions
            .iter()
            .map(|prediction| prediction.as_ref().map_or("", |answer| answer.sql.as_str()));
        let answers: HashMap<&str, &str> =
            workload.examples.iter().map(|example| example.id.as_str()).zip(sql).collect();
        if let Some(stranger) = labels.iter().find(|label| !answers.contains_key(label.id.as_str())) {
            return Err(Error::Invalid(format!(
                "{} has a label for id {:?}, which {} has not; check that both are of the same workload",
                self.labels.display(),
                stranger.id,
                self.workload.path().display()
            )));
        }
        let other = take_out_other_answers(&mut labels, &self.labels, |id| answers.get(id).copied());
        if let Some(other) = other {
            let other = format!("{system}: {other}");
            if labels.is_empty() {
                return Err(Error::Invalid(other));
            }
            context.watcher().note(&other);
        }
        Ok(labels.into_iter().filter_map(|label| Some((label.id, label.correct?))).collect())
    }

    fn manifest(&self, workload: &Benchmark, context: &Context<'_>) -> Result<Manifest, Error> {
        let databases = Databases::open(&self.db)?;
        let used = UsedDatabases::locate(&databases, &workload.examples, false)
            .map_err(|error| Error::of_databases(self.workload.path(), error))?;
        let mut inputs = vec![
            ("workload".to_owned(), self.workload.clone()),
            ("labels".to_owned(), Source::File(self.labels.clone())),
        ];
        let predictions =
            |system: &System| (format!("predictions:{}", system.name), system.predictions.clone());
        inputs.extend(self.systems.iter().map(predictions));
        let engine = context.engine_for(Some(&self.db), 1, Limits::default(), Moment::now())?;
        let targets = used.open(engine.as_ref(), None)?;
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: "none: labels were judged elsewhere".to_owned(),
            command: self.command.clone(),
            metrics: vec![IMPORTED_METRIC.to_owned()],
            systems: self.systems.iter().map(|system| system.name.clone()).collect(),
            inputs: [digest_sources(&inputs)?, used.digest(&targets)?].concat(),
            options: BTreeMap::new(),
            examples: workload.examples.len(),
        })
    }
}

/// Writes the items. Equal texts may have unequal labels, so nothing is shared between systems.
fn write_items(
    workload: &Benchmark,
    sets: &[PredictionSet],
    labels: &[Labels],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (set, labels) in sets.iter().zip(labels) {
        for (example, prediction) in workload.examples.iter().zip(&set.predictions) {
            let label = labels.get(&example.id).copied();
            let written = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
            let details = Details {
                question: written(example.question.as_ref()),
                evidence: written(example.evidence.as_ref()),
                prediction: written(prediction.as_ref().map(|prediction| &prediction.sql)),
                confidence: prediction.as_ref().and_then(|prediction| prediction.confidence),
                ..Details::default()
            };
            let item = Item {
                system: set.system.clone(),
                id: example.id.clone(),
                index: example.index,
                db_id: example.db_id.clone(),
                status: if prediction.is_some() { "unknown" } else { MISSING }.to_owned(),
                metrics: BTreeMap::from([(IMPORTED_METRIC.to_owned(), label)]),
                details,
            };
            serde_json::to_writer(&mut *out, &item)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}
