//! A simulated person: what a plan would cost, where the labels of all answers are there.

use std::collections::HashMap;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;
use sqlgauge_base::Random;
use sqlgauge_dataset::{Columns, load_labels};
use sqlgauge_estimate::labelling::{Labelling, Quantity, random_labels};

use crate::error::Error;
use crate::values::NamedFile;

/// Tries a plan on labels that are hidden from it. Nothing is written.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LabelTrialJob {
    /// Folder that `label plan` wrote
    #[cfg_attr(feature = "cli", arg(long = "in", id = "in", value_name = "DIR"))]
    pub folder: PathBuf,
    /// Labels of all answers: a table with id and 0 or 1. Leave out NAME if the plan has one system; repeat for more
    #[cfg_attr(feature = "cli", arg(long, value_name = "[NAME=]FILE", required = true))]
    pub oracle: Vec<NamedFile>,
    /// Column of that table with the labels
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub column: Option<String>,
    /// Share of the verdicts in which the simulated person errs
    #[cfg_attr(feature = "cli", arg(long, value_name = "P", default_value_t = 0.0))]
    pub error_rate: f64,
    /// Times that it is tried
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 20))]
    pub runs: usize,
    /// Seed of the random draws
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 0))]
    pub seed: u64,
}

/// What a trial of one quantity came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelTrial {
    /// The system, or `A - B`.
    pub name: String,
    /// The number that all labels give.
    pub truth: f64,
    /// Labels of each run until it was enough.
    pub labels: Vec<usize>,
    /// The number of each run.
    pub estimates: Vec<f64>,
    /// Half the width of its interval.
    pub radii: Vec<f64>,
    /// Labels that random sampling needs; empty for a difference.
    pub random: Vec<usize>,
}

impl LabelTrial {
    /// Share of the runs whose interval holds the truth.
    pub fn coverage(&self) -> f64 {
        let errors = self.estimates.iter().zip(&self.radii);
        let covers = errors.filter(|(estimate, radius)| (*estimate - self.truth).abs() <= **radius + 1e-9);
        covers.count() as f64 / self.estimates.len().max(1) as f64
    }
}

impl LabelTrialJob {
    /// A trial of 20 runs with labels of the plan's one system.
    pub fn new(folder: impl Into<PathBuf>, oracle: impl Into<String>) -> Self {
        let oracle = vec![NamedFile::from(oracle.into())];
        Self { folder: folder.into(), oracle, runs: 20, ..Self::default() }
    }

    /// Tries it.
    ///
    /// # Errors
    /// When a file cannot be read, or an answer that runs has no label.
    pub fn run(&self) -> Result<Vec<LabelTrial>, Error> {
        if !(0.0..=1.0).contains(&self.error_rate) {
            return Err(Error::OutOfUnit { option: "--error-rate", value: self.error_rate });
        }
        let folder = super::open(&self.folder)?;
        let plan = folder.plan();
        let truth =
            self.truth(&plan.systems, &plan.items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>())?;
        let design = plan.design();
        let run = |run: usize| {
            let mut random = Random::new([self.seed, run as u64]);
            // Each person errs where this one does, however often that one is asked.
            let errs = |random: &mut Random| random.unit() < self.error_rate;
            let person: Vec<Vec<f64>> = truth
                .iter()
                .map(|of| {
                    of.iter().map(|right| if errs(&mut random) { 1.0 - right } else { *right }).collect()
                })
                .collect();
            let right = |system: usize, item: usize| person[system][item];
            let done = Labelling::new(&design).until_enough(&mut random, &right);
            let mut baseline = |quantity: &Quantity| match quantity {
                Quantity::Accuracy(system) => {
                    let mut outcomes = truth[*system].clone();
                    random.shuffle(&mut outcomes);
                    Some(random_labels(&outcomes, plan.goal))
                }
                Quantity::Difference { .. } => None,
            };
            let random: Vec<Option<usize>> = plan.quantities().iter().map(&mut baseline).collect();
            (done.standings().collect::<Vec<_>>(), random)
        };
        let runs: Vec<_> = (0..self.runs).into_par_iter().map(run).collect();
        let trial = |(at, quantity): (usize, Quantity)| {
            let of = |system: usize| truth[system].iter().sum::<f64>() / truth[system].len().max(1) as f64;
            let systems = quantity.systems();
            let standings = || runs.iter().map(move |(standings, _)| standings[at]);
            LabelTrial {
                name: systems
                    .iter()
                    .map(|system| plan.systems[*system].as_str())
                    .collect::<Vec<_>>()
                    .join(" - "),
                truth: systems
                    .iter()
                    .map(|system| of(*system))
                    .reduce(|first, second| first - second)
                    .unwrap_or(0.0),
                labels: standings().map(|standing| standing.labels).collect(),
                estimates: standings().map(|standing| standing.estimate).collect(),
                radii: standings().map(|standing| standing.radius).collect(),
                random: runs.iter().filter_map(|(_, random)| random[at]).collect(),
            }
        };
        Ok(plan.quantities().into_iter().enumerate().map(trial).collect())
    }

    /// The labels of each system, in the order of the plan.
    fn truth(&self, systems: &[String], ids: &[&str]) -> Result<Vec<Vec<f64>>, Error> {
        let of_system = |name: &String| {
            let named = self.oracle.iter().find_map(|file| {
                let (of, path) = file.split_once('=')?;
                (of == name).then(|| PathBuf::from(path))
            });
            let only = || systems.len() == 1 && self.oracle.len() == 1;
            let path =
                named.or_else(|| self.oracle.first().filter(|_| only()).map(|file| PathBuf::from(&**file)));
            let path = path.ok_or_else(|| {
                Error::Invalid(format!("--oracle has no labels of {name}; write {name}=FILE"))
            })?;
            let labels = load_labels(&path, Some(name), self.column.as_deref(), &Columns::default())?;
            let labels: HashMap<String, f64> =
                labels.into_iter().filter_map(|label| Some((label.id, label.correct?))).collect();
            let label = |id: &&str| {
                labels.get(*id).copied().ok_or_else(|| {
                    Error::Invalid(format!(
                        "{} has no label of {id:?}; a trial needs one for each question",
                        path.display()
                    ))
                })
            };
            ids.iter().map(label).collect::<Result<Vec<f64>, Error>>()
        };
        systems.iter().map(of_system).collect()
    }
}
