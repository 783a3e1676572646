//! `sqlgauge compat spider`.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use sqlgauge_base::pool::Pool;
use sqlgauge_dataset::{
    BenchmarkSource, Databases, Example, PredictionOptions, load_benchmark, load_predictions, load_tables,
};
use sqlgauge_engine::{Engine, Limits};
use sqlgauge_metrics::esm::{self, Etype, OfficialTable, Switches, TurnOutcome};
use sqlgauge_metrics::{Pair, Target, suite_execution_match, suite_execution_match_plugged};
use sqlgauge_run::UsedDatabases;

use crate::Verdict;
use crate::engine::engine;
use crate::options::ClockOptions;
use crate::output::{note, print, print_json};
use crate::scoring::asks;

/// `evaluation.py` of the test-suite repository (Spider, SParC, CoSQL)
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Spider {
    /// Gold file: SQL, tab, `db_id` per line
    #[arg(long)]
    gold: PathBuf,
    /// Predictions, one per line
    #[arg(long)]
    pred: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`; every .sqlite file beside it is a database of the test suite
    #[arg(long)]
    db: PathBuf,
    /// tables.json, needed for `match` and `all`
    #[arg(long)]
    table: Option<PathBuf>,
    /// What to evaluate
    #[arg(long, value_enum, default_value = "exec")]
    etype: EvaluationType,
    /// A prediction is right too if it is with values of the gold in the place of its own
    #[arg(long = "plug_value")]
    plug_value: bool,
    /// Do not drop DISTINCT before execution
    #[arg(long = "keep_distinct")]
    keep_distinct: bool,
    /// Taken for compatibility; there is nothing to wait for
    #[arg(long = "progress_bar_for_each_datapoint")]
    progress_bar: bool,
    #[command(flatten)]
    clock: ClockOptions,
    /// Print JSON instead of the official table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EvaluationType {
    All,
    Exec,
    Match,
}

impl From<EvaluationType> for Etype {
    fn from(value: EvaluationType) -> Self {
        match value {
            EvaluationType::All => Self::All,
            EvaluationType::Exec => Self::Exec,
            EvaluationType::Match => Self::Match,
        }
    }
}

impl Spider {
    pub(crate) fn run(self) -> Result<Verdict> {
        let etype = Etype::from(self.etype);
        let tables = self.table.as_deref().map(load_tables).transpose()?;
        if etype.matches() && tables.is_none() {
            bail!("--etype all and match need --table tables.json; give it or use --etype exec");
        }
        let benchmark =
            load_benchmark(&BenchmarkSource { gold: self.gold.clone(), ..BenchmarkSource::default() })?;
        let predictions =
            load_predictions("prediction", &self.pred, &benchmark, &PredictionOptions::default())?;
        let engine = engine(Limits::default())?.at(self.clock.moment());
        let used = UsedDatabases::locate(&Databases::open(&self.db)?, &benchmark.examples, true)
            .with_context(|| asks(&self.gold))?;
        if let Some(tables) = &tables {
            let unknown = benchmark.examples.iter().find(|example| tables.get(&example.db_id).is_none());
            if let Some(Example { db_id, .. }) = unknown {
                bail!("--table has no database {db_id:?}; give the tables.json of this benchmark");
            }
        }
        let targets = used.open(&engine, tables.as_ref())?;
        let outcomes = Pool::of(0).try_map(benchmark.examples.len(), |place| {
            let (example, prediction) = (&benchmark.examples[place], &predictions.predictions[place]);
            let text = prediction.as_ref().map_or("", |prediction| prediction.sql.as_str());
            self.outcome(etype, &engine, &targets[&example.db_id], example, text)
        })?;
        let mut table = OfficialTable::new(etype);
        let turns: Vec<(usize, TurnOutcome)> = benchmark
            .examples
            .iter()
            .map(|e| e.turn.map_or(0, |turn| turn.interaction))
            .zip(outcomes)
            .collect();
        for interaction in turns.chunk_by(|a, b| a.0 == b.0) {
            let outcomes: Vec<TurnOutcome> = interaction.iter().map(|(_, outcome)| *outcome).collect();
            table.add_interaction(&outcomes);
        }
        if self.json {
            print_json(&table.json())?;
        } else {
            print(&table.print())?;
        }
        Ok(Verdict::Done)
    }

    fn outcome(
        &self,
        etype: Etype,
        engine: &dyn Engine,
        target: &Target,
        example: &Example,
        prediction: &str,
    ) -> Result<TurnOutcome> {
        let gold = example.golds.first();
        let gold = gold
            .ok_or_else(|| anyhow!("question {} has no gold; score it with `sqlgauge score`", example.id))?;
        let score =
            esm::score(target.catalog(), target.foreign_keys(), gold, prediction, Switches::default())
                .with_context(|| format!("gold query {} of {}", example.index + 1, self.gold.display()))?;
        let executed = etype.executes() && {
            let pair = Pair::new(engine, target, gold, prediction, None);
            let score = if self.plug_value {
                suite_execution_match_plugged(&pair, self.keep_distinct)
            } else {
                suite_execution_match(&pair, self.keep_distinct)
            };
            if let (true, None, Some(reason)) = (self.plug_value, score.value, score.detail.reason()) {
                note(format!("query {} counts as wrong: {reason:?}", example.index + 1));
            }
            score.value == Some(1.0)
        };
        Ok(TurnOutcome::new(&score, executed))
    }
}
