//! What the counterexamples of all systems of a run change for each of them: cross-framework reuse of `SpotIt`.
//!
//! # Contract
//! For each answer that is right by the execution metric and without a counterexample, the counterexamples to other answers to the same
//! question are replayed. A verdict of a run depends on no other system, so this is counted beside the verdicts and changes none.
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_metrics::{execution_metric, is_verify};
use sqlgauge_report::ItemView;
use sqlgauge_run::{RunError, RunFiles};
use sqlgauge_search::{Contract, Search, SearchOptions, Witness};

use crate::context::Context;
use crate::error::Error;
use crate::show::database_of;

/// What reuse changes for one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reuse {
    /// Its name.
    pub system: String,
    /// Its items.
    pub items: usize,
    /// Its answers that are right by the execution metric and without a counterexample.
    pub right: usize,
    /// Of these, the ones that a counterexample to another answer refutes.
    pub refuted: usize,
}

/// An answer that nothing refutes yet.
struct Survivor {
    system: usize,
    prediction: String,
}

/// What a run says of one question.
#[derive(Default)]
struct Question {
    gold: String,
    scripts: BTreeSet<String>,
    survivors: Vec<Survivor>,
}

/// The effect of reuse on each system of that run, in its order; empty for a run without a metric that verifies.
///
/// # Errors
/// When the run cannot be read, or one of its databases has changed.
pub fn reuse(folder: &Path, context: &Context<'_>) -> Result<Vec<Reuse>, Error> {
    let RunFiles { manifest, items, .. } = RunFiles::open(folder)?;
    let Some(verify) = manifest.metrics.iter().find(|metric| is_verify(metric)) else {
        return Ok(Vec::new());
    };
    let semantics = manifest.semantics_of(verify).unwrap_or_default();
    let ex = execution_metric(semantics);
    let empty = |system: &String| Reuse { system: system.clone(), items: 0, right: 0, refuted: 0 };
    let mut effects: Vec<Reuse> = manifest.systems.iter().map(empty).collect();
    let mut questions: BTreeMap<String, BTreeMap<String, Question>> = BTreeMap::new();
    items.for_each(|item| {
        let view = ItemView::new(item);
        let Some(system) = effects.iter().position(|effect| effect.system == item.system) else {
            return Ok::<(), RunError>(());
        };
        effects[system].items += 1;
        let (Some(gold), Some(prediction)) = (view.golds().first().copied(), view.prediction()) else {
            return Ok(());
        };
        let question = questions.entry(item.db_id.clone()).or_default().entry(item.id.clone()).or_default();
        gold.clone_into(&mut question.gold);
        match item.details.verdict.as_ref().and_then(|record| record.witness.clone()) {
            Some(script) => _ = question.scripts.insert(script),
            None if ex.is_none_or(|ex| view.score(ex) == Some(1.0)) => {
                question.survivors.push(Survivor { system, prediction: prediction.to_owned() });
            }
            None => {}
        }
        Ok(())
    })?;
    let engine = context.sqlite(Limits::default(), Moment::now())?;
    for (db_id, questions) in questions {
        let database = engine.open(&database_of(folder, &manifest, &db_id)?)?;
        let schema = &database.kept_schema(&engine).schema;
        let contract = Contract { semantics, ..Contract::default() };
        let options = SearchOptions { contract, ..SearchOptions::default() };
        let search = Search::new(Arc::clone(schema), options)
            .map_err(|error| Error::Invalid(format!("counterexamples cannot be replayed: {error}")))?;
        questions.values().for_each(|question| count(&search, question, &mut effects));
    }
    Ok(effects)
}

fn count(search: &Search, question: &Question, effects: &mut [Reuse]) {
    let witnesses: Vec<Witness> =
        question.scripts.iter().filter_map(|script| Witness::of_script(script).ok()).collect();
    for Survivor { system, prediction } in &question.survivors {
        let refutes = |witness: &Witness| search.replay(witness, &question.gold, prediction).is_some();
        effects[*system].right += 1;
        effects[*system].refuted += usize::from(witnesses.iter().any(refutes));
    }
}
