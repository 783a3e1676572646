//! `sqlgauge import`.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use sqlgauge_dataset::{
    Benchmark, Columns, Databases, Format, PredictionOptions, PredictionSet, WorkloadSource, load_labels,
    load_predictions, load_workload,
};
use sqlgauge_estimate::IMPORTED_METRIC;
use sqlgauge_run::{
    Details, Item, MISSING, Manifest, RunDirectory, Start, SummaryBuilder, UsedDatabases, digest_inputs,
};

use crate::Verdict;
use crate::options::{SystemFile, column_help, columns, format, system_file, workload_roles};
use crate::output::{command_line, note, print};
use crate::scoring::asks;
use crate::stdin::input_file;
use sqlgauge::keep_inputs_of_run;

/// Make a known run of labels that were judged elsewhere; nothing is executed
#[derive(Debug, Args)]
pub struct Import {
    /// File with the questions (golds in it are not read)
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    workload: PathBuf,
    /// Predictions of one system; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", required = true, value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Labels: TSV, CSV or JSONL with id and correct, or with a column per system
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    correct: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, for the schemas; rows are not needed
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    /// Run directory to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Discard the run that is in the folder
    #[arg(long)]
    restart: bool,
    /// Format of the workload, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pred_format: Option<Format>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Import {
    pub fn run(self) -> Result<Verdict> {
        let columns = columns(&self.columns)?;
        let source =
            WorkloadSource { path: self.workload.clone(), format: self.format, columns: columns.clone() };
        let workload = load_workload(&source)?;
        let options = PredictionOptions {
            format: self.pred_format,
            columns: columns.clone(),
            extract: false,
            only_sql: false,
        };
        let systems = self
            .predictions
            .iter()
            .map(|file| load_predictions(&file.system, &file.path, &workload, &options))
            .collect::<Result<Vec<_>, _>>()?;
        let labels = self.labels(&workload, &columns)?;
        let manifest = self.manifest(&workload)?;
        keep_inputs_of_run(&self.out, &manifest)?;
        let start = if self.restart { Start::Restart } else { Start::Continue };
        let directory = RunDirectory::create(&self.out, &manifest, start)?;
        for (set, labels) in systems.iter().zip(&labels) {
            self.say(set, labels.len(), workload.examples.len());
        }
        write(&directory, &workload, &systems, &labels)?;
        if !self.quiet {
            print(&format!("Known run: {}\n", self.out.display()))?;
        }
        Ok(Verdict::Done)
    }

    fn say(&self, set: &PredictionSet, labels: usize, items: usize) {
        if !self.quiet {
            set.notes.iter().for_each(|text| note(format!("{}: {text}", set.system)));
            note(format!("{}: {labels} of {items} items have a label", set.system));
        }
    }

    /// For each system the labels by id.
    fn labels(&self, workload: &Benchmark, columns: &Columns) -> Result<Vec<HashMap<String, f64>>> {
        let known: std::collections::HashSet<&str> =
            workload.examples.iter().map(|example| example.id.as_str()).collect();
        self.predictions
            .iter()
            .map(|file| {
                let labels = match load_labels(&self.correct, Some(&file.system), columns) {
                    Err(_) if self.predictions.len() == 1 => load_labels(&self.correct, None, columns)?,
                    labels => labels.with_context(|| {
                        format!("with several systems, the labels need a column named `{}`", file.system)
                    })?,
                };
                if let Some(stranger) = labels.iter().find(|label| !known.contains(label.id.as_str())) {
                    bail!(
                        "{} has a label for id {:?}, which {} has not; check that both are of the same workload",
                        self.correct.display(),
                        stranger.id,
                        self.workload.display()
                    );
                }
                Ok(labels.into_iter().filter_map(|label| Some((label.id, label.correct?))).collect())
            })
            .collect()
    }

    fn manifest(&self, workload: &Benchmark) -> Result<Manifest> {
        let used = UsedDatabases::locate(&Databases::open(&self.db)?, &workload.examples, false)
            .with_context(|| asks(&self.workload))?;
        let mut files =
            vec![("workload".to_owned(), self.workload.clone()), ("labels".to_owned(), self.correct.clone())];
        files.extend(
            self.predictions.iter().map(|file| (format!("predictions:{}", file.system), file.path.clone())),
        );
        files.extend(used.files());
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: "none: labels were judged elsewhere".to_owned(),
            command: command_line(),
            metrics: vec![IMPORTED_METRIC.to_owned()],
            systems: self.predictions.iter().map(|file| file.system.clone()).collect(),
            inputs: digest_inputs(&files)?,
            options: BTreeMap::new(),
            examples: workload.examples.len(),
        })
    }
}

/// Writes the items and the summary. Equal texts may have unequal labels, so nothing is shared between systems.
fn write(
    directory: &RunDirectory,
    workload: &Benchmark,
    systems: &[PredictionSet],
    labels: &[HashMap<String, f64>],
) -> Result<()> {
    directory.write_file("items.jsonl", |out| write_items(workload, systems, labels, out))?;
    directory.write_summary(&SummaryBuilder::of(directory.manifest(), &directory.items())?)?;
    Ok(())
}

fn write_items(
    workload: &Benchmark,
    systems: &[PredictionSet],
    labels: &[HashMap<String, f64>],
    out: &mut dyn Write,
) -> Result<()> {
    for (set, labels) in systems.iter().zip(labels) {
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
