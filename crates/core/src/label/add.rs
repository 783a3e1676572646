//! Verdicts of people into a plan.

use std::path::{Path, PathBuf};

use sqlgauge_base::regular;
use sqlgauge_dataset::{Columns, Label, load_labels};
use sqlgauge_estimate::labelling::{Added, LabelFolder, LabelRow, Verdict};

use crate::error::Error;

/// Adds one verdict, or a file of labels; all or none.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LabelAddJob {
    /// Folder that `label plan` wrote
    #[cfg_attr(feature = "cli", arg(long = "in", id = "in", value_name = "DIR"))]
    pub folder: PathBuf,
    /// Id of the question that the verdict is on
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "ID", requires = "verdict", required_unless_present = "from")
    )]
    pub id: Option<String>,
    /// right, wrong or unsure; of several answers the systems that are right, separated by commas, or each by an option of its own
    #[cfg_attr(feature = "cli", arg(long, value_name = "WORD", requires = "id"))]
    pub verdict: Vec<String>,
    /// Labels of the dashboard (JSONL), or a table of ids and labels of one system (TSV, CSV, JSONL)
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", conflicts_with_all = ["id", "verdict"]))]
    pub from: Option<PathBuf>,
    /// Column of that table with the labels
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", requires = "from"))]
    pub column: Option<String>,
    /// System that a table of labels is of; may be left out where the plan has one
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", requires = "from"))]
    pub system: Option<String>,
    /// Take the new verdict where the same person gave a different one before
    #[cfg_attr(feature = "cli", arg(long))]
    pub replace: bool,
    /// Who gives the verdicts.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub by: String,
}

impl LabelAddJob {
    /// The job for that folder; the verdict is still to be named.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..Self::default() }
    }

    /// Adds them.
    ///
    /// # Errors
    /// When a file cannot be read or written, or a label does not fit the plan; then none was added.
    pub fn run(&self) -> Result<Added, Error> {
        let mut folder = super::open(&self.folder)?;
        if let Some(path) = &self.from {
            let rows = self.rows(&folder, path)?;
            return Ok(folder.add(rows, &path.display().to_string(), self.replace)?);
        }
        let Some(id) = self.id.as_ref().filter(|_| !self.verdict.is_empty()) else {
            return Err(Error::Invalid(
                "give --id and --verdict, or --from with a file of labels".to_owned(),
            ));
        };
        let rows = folder.judge(id, &self.verdict, &self.by)?;
        Ok(folder.add(rows, "--verdict", self.replace)?)
    }

    /// The labels of a file.
    fn rows(&self, folder: &LabelFolder, path: &Path) -> Result<Vec<LabelRow>, Error> {
        let bytes = regular::read(path).map_err(|error| {
            Error::Invalid(format!("{} cannot be read: {error}; check --from", path.display()))
        })?;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        if let Ok(rows) = lines.map(serde_json::from_slice).collect::<Result<Vec<LabelRow>, _>>() {
            return Ok(rows);
        }
        let system = match (&self.system, folder.plan().systems.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => only.clone(),
            (None, all) => {
                return Err(Error::Invalid(format!(
                    "{} does not say which system it labels; give --system with one of {}",
                    path.display(),
                    all.join(", ")
                )));
            }
        };
        let labels = load_labels(path, Some(&system), self.column.as_deref(), &Columns::default())?;
        labels.into_iter().map(|label| self.row(folder, path, &system, label)).collect()
    }

    fn row(&self, folder: &LabelFolder, path: &Path, system: &str, label: Label) -> Result<LabelRow, Error> {
        let verdict = match label.correct {
            None => Verdict::Unsure,
            Some(1.0) => Verdict::Right,
            Some(0.0) => Verdict::Wrong,
            Some(share) => {
                let (path, id) = (path.display(), label.id);
                return Err(Error::Invalid(format!("{path} labels {id:?} with {share}; write 0 or 1")));
            }
        };
        let plan = folder.plan();
        let place = plan.systems.iter().position(|name| name == system);
        let item = plan.items.iter().find(|item| item.id == label.id);
        // Without a hash the label is of the answer of the plan.
        let answer = item.zip(place).map(|(item, place)| item.answers[place].shown.clone());
        Ok(LabelRow {
            system: system.to_owned(),
            run: plan.run_name(),
            shown: label.shown.or(answer).unwrap_or_default(),
            ..LabelRow::new(label.id, verdict, self.by.clone())
        })
    }
}
