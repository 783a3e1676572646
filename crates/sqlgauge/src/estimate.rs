//! The accuracy of predictions without labels: `sqlgauge estimate`.
//!
//! # Contract
//! Labels are those of the known runs, and for the methods that ask for some, those that were given. Of the target only
//! questions, databases and predictions are read: golds in it are not looked at. An estimate is a function of the
//! inputs, the method, the level and the seed.

use std::borrow::Cow;
use std::path::PathBuf;

use sqlgauge_dataset::{
    Benchmark, Columns, Databases, Format, PredictionOptions, PredictionSet, load_labels, parse_predictions,
    parse_workload,
};
use sqlgauge_engine::Engine;
use sqlgauge_estimate::{
    Estimate, EstimateOptions, Evidence, Loader, Pool, Services, TargetLabels, estimators,
};
use sqlgauge_run::{ITEMS, MANIFEST};

use crate::error::Error;
use crate::score::System;
use crate::source::Source;

/// Labels of some of a system's predictions on the target.
#[derive(Debug, Clone)]
pub struct SystemLabels {
    /// Name of the system.
    pub system: String,
    /// File with ids and labels.
    pub file: PathBuf,
}

/// What to estimate, and from what.
pub struct EstimateJob {
    /// Run directories with labels.
    pub known: Vec<PathBuf>,
    /// Folders that have databases of known runs which are not where they were.
    pub known_db: Vec<PathBuf>,
    /// The target's questions.
    pub target: Source,
    /// Its format, where detection is wrong.
    pub format: Option<Format>,
    /// Columns that the user named in it.
    pub columns: Columns,
    /// The systems to estimate.
    pub systems: Vec<System>,
    /// Other systems on the target, to compare with.
    pub peers: Vec<System>,
    /// Format of the predictions, where detection is wrong.
    pub prediction_format: Option<Format>,
    /// Labels on the target, for the methods that need some.
    pub labels: Vec<SystemLabels>,
    /// Folder with the target's databases, or one of them; rows are not needed.
    pub db: PathBuf,
    /// Id of the method; `auto` chooses.
    pub method: String,
    /// Metric of the known runs that is meant by accuracy; each run's first one of 0 and 1 without it.
    pub metric: Option<String>,
    /// Level, seed and the method's own options.
    pub options: EstimateOptions,
}

/// The estimates, one per system in their order, and what loading noticed.
#[derive(Debug, Clone)]
pub struct Estimated {
    /// One per system.
    pub estimates: Vec<Estimate>,
    /// In sentences.
    pub notes: Vec<String>,
}

/// Refuses a level or a confidence that is none.
///
/// # Errors
/// [`Error::Level`], [`Error::Tau`].
pub fn check_estimate_options(options: EstimateOptions) -> Result<(), Error> {
    let EstimateOptions { level, tau, .. } = options;
    if !(0.5..1.0).contains(&level) {
        return Err(Error::Level(level));
    }
    if !(0.0..=1.0).contains(&tau) {
        return Err(Error::Tau(tau));
    }
    Ok(())
}

impl EstimateJob {
    /// Estimates.
    ///
    /// # Errors
    /// When an input cannot be read, the method does not exist or has not what it needs, or an option is out of range.
    pub fn run(&self, engine: &dyn Engine) -> Result<Estimated, Error> {
        self.check()?;
        let pool = self.load(engine)?;
        let evidence = self.evidence(&pool, Services::default())?;
        Ok(Estimated { estimates: self.estimate(&evidence)?, notes: pool.notes.clone() })
    }

    /// Says what makes no sense before anything is read.
    ///
    /// # Errors
    /// When the method does not exist, or an option is out of range.
    pub fn check(&self) -> Result<(), Error> {
        check_estimate_options(self.options)?;
        estimators::find(&self.method)?;
        Ok(())
    }

    /// The known runs and the target, with the answers to the target's questions executed.
    ///
    /// # Errors
    /// When an input cannot be read, or not every query could be run.
    pub fn load(&self, engine: &dyn Engine) -> Result<Pool, Error> {
        let workload = parse_workload(&self.target.read()?, self.target.format(self.format)?, &self.columns)?;
        let folders =
            self.known_db.iter().map(|path| Databases::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut loader = Loader::new(engine, folders, self.metric.clone());
        self.known.iter().try_for_each(|path| loader.known(path))?;
        let answered = self.systems.iter().chain(&self.peers);
        let systems = answered.map(|system| self.read(system, &workload)).collect::<Result<Vec<_>, _>>()?;
        let databases = Databases::open(&self.db)?;
        loader
            .target(self.target.path(), &workload, &databases, &systems, self.systems.len())
            .map_err(|error| Error::asked(self.target.path(), error))?;
        let pool = loader.finish();
        engine.check()?;
        Ok(pool)
    }

    /// What the estimates rest on: the pool, the labels on the target, and what methods may ask.
    ///
    /// # Errors
    /// When labels cannot be read or are of other questions, or the pool says nothing.
    pub fn evidence<'p>(&self, pool: &'p Pool, services: Services) -> Result<Evidence<'p>, Error> {
        let mut labels = TargetLabels::default();
        for SystemLabels { system, file } in &self.labels {
            let Some(system) = pool.systems.iter().position(|known| known == system) else { continue };
            labels.add(pool, system, &load_labels(file, None, &self.columns)?, file)?;
        }
        Ok(Evidence::new(pool)?.with_labels(labels).with_services(services))
    }

    /// One estimate per system, of the questions that the evidence has.
    ///
    /// # Errors
    /// When the method does not exist, or has not what it needs.
    pub fn estimate(&self, evidence: &Evidence<'_>) -> Result<Vec<Estimate>, Error> {
        let estimator = estimators::find(&self.method)?;
        let estimate = |&target| estimator.estimate(&evidence.case(target, self.options));
        Ok(evidence.pool.targets.iter().map(estimate).collect::<Result<Vec<_>, _>>()?)
    }

    /// All that was read, with its role.
    pub fn inputs(&self, pool: &Pool) -> Vec<(String, Cow<'_, Source>)> {
        let mut inputs = vec![("target".to_owned(), Cow::Borrowed(&self.target))];
        for (role, systems) in [("predictions", &self.systems), ("peer", &self.peers)] {
            inputs.extend(
                systems
                    .iter()
                    .map(|system| (format!("{role}:{}", system.name), Cow::Borrowed(&system.predictions))),
            );
        }
        let file = |(role, path): (String, PathBuf)| (role, Cow::Owned(Source::File(path)));
        inputs.extend(self.labels.iter().map(|labels| file(("labels".to_owned(), labels.file.clone()))));
        for path in &self.known {
            let role = format!("known:{}", path.file_name().unwrap_or_default().to_string_lossy());
            inputs.extend([MANIFEST, ITEMS].map(|name| file((role.clone(), path.join(name)))));
        }
        inputs.extend(pool.database_files().into_iter().map(file));
        inputs
    }

    fn read(&self, system: &System, workload: &Benchmark) -> Result<PredictionSet, Error> {
        let options = PredictionOptions {
            format: system.predictions.format(self.prediction_format)?,
            columns: system.columns.clone(),
            extract: false,
            only_sql: false,
        };
        Ok(parse_predictions(&system.name, &system.predictions.read()?, workload, &options)?)
    }
}
