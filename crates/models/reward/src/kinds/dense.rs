//! The kind `dense`: partial credit.
//!
//! # Contract
//! | the answer | value |
//! |---|---|
//! | is right, by the contract of `exact` | 1 |
//! | runs | 0.3 + 0.6 × *agreement* |
//! | resolves, and runs into a limit or fails while it runs | 0.2 |
//! | parses, and names what is not there or misuses it | 0.1 |
//! | is no SQL, several statements, refused, or reads no table | 0 |
//! | has a gold that does not run | `None` |
//!
//! *Agreement* is `soft-f1@1` of the rows on the benchmark's database; with witnesses it is the smaller of that and of the
//! mean over the witnesses of the question, so that the rows of one database by heart are worth little. An answer that has
//! no rows somewhere agrees in nothing there.
//!
//! The value is monotone: an answer that comes further is never worth less, nor one that agrees more, and no wrong answer
//! is worth more than 0.9.

use sqlgauge_metrics::soft_f1::soft_f1;

use super::{Rewarding, Worth};
use crate::code::Code;
use crate::error::RewardError;
use crate::judge::{Case, GoldQuestion, JudgedAnswer, Progress, metric, on_witnesses};
use crate::options::RewardKind;

pub(super) struct Dense;

const AGREEMENT: &str = "soft-f1@1";

const PARSES: f64 = 0.1;
const RESOLVES: f64 = 0.2;
const RUNS: f64 = 0.3;
/// What full agreement adds.
const AGREES: f64 = 0.6;

impl Rewarding for Dense {
    fn kind(&self) -> RewardKind {
        RewardKind::Dense
    }

    fn judge(&self, case: &Case<'_>, item: &GoldQuestion) -> Result<Worth, RewardError> {
        let mut answer = case.by_results(item)?;
        let runs = matches!(answer.code, Code::Wrong | Code::WrongOnWitness);
        let agreement = if runs { agreement(case, item, &mut answer)? } else { 0.0 };
        Ok(Worth { value: value(answer.code, answer.progress, agreement), answer })
    }
}

fn value(code: Code, progress: Progress, agreement: f64) -> Option<f64> {
    match (code, progress) {
        (Code::GoldFailed, _) => None,
        (Code::Right, _) => Some(1.0),
        (_, Progress::Nothing) => Some(0.0),
        (_, Progress::Parses) => Some(PARSES),
        (_, Progress::Resolves) => Some(RESOLVES),
        (_, Progress::Runs) => Some(RUNS + AGREES * agreement.clamp(0.0, 1.0)),
    }
}

fn agreement(case: &Case<'_>, item: &GoldQuestion, answer: &mut JudgedAnswer) -> Result<f64, RewardError> {
    // All rows count here, also those behind the first that tells the answer from the gold.
    let metric = metric(AGREEMENT)?;
    let on_database = metric.score(&case.pair(&item.gold, &[metric])).value.unwrap_or(0.0);
    let Some(question) = item.question.as_ref().filter(|_| on_database > 0.0) else {
        return Ok(on_database);
    };
    let witnesses = question.witnesses(&item.gold, case.subject)?;
    let results = on_witnesses(case, &item.gold, &witnesses)?;
    answer.witnesses = Some(witnesses);
    let count = results.len();
    let agreed = results.iter().flatten().map(|[gold, answer]| soft_f1(gold, answer).f1).sum::<f64>();
    Ok(if count == 0 { on_database } else { on_database.min(agreed / count as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_never_falls_as_an_answer_comes_further() {
        let mut last = Some(0.0);
        for (code, progress, agreement) in [
            (Code::NoSql, Progress::Nothing, 0.0),
            (Code::DoesNotRun, Progress::Parses, 0.0),
            (Code::Timeout, Progress::Resolves, 0.0),
            (Code::Wrong, Progress::Runs, 0.0),
            (Code::Wrong, Progress::Runs, 0.4),
            (Code::Wrong, Progress::Runs, 1.0),
            (Code::Right, Progress::Runs, 1.0),
        ] {
            let current = value(code, progress, agreement);
            assert!(current > last || code == Code::NoSql, "{code} {current:?} {last:?}");
            last = current;
        }
        assert_eq!(value(Code::GoldFailed, Progress::Nothing, 0.0), None);
        assert!(value(Code::Wrong, Progress::Runs, 7.0) < Some(1.0));
    }
}
