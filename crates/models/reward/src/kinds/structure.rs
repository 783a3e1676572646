//! The kind `structure`: the query itself, without data.
//!
//! # Contract
//! 1 where `etm@1` finds the answer and the gold one up to rules that hold on every database of the schema, else 0; neither
//! is run. An answer that does not resolve has the code `does_not_run`, one whose analysis takes more steps than it may
//! `too_large`. A gold that does not resolve, or takes too many steps itself, has failed. What is right here returns the same
//! rows; what is not may still.

use sqlgauge_sql::ErrorKind;

use super::{Rewarding, Worth, all_or_nothing};
use crate::code::Code;
use crate::error::RewardError;
use crate::judge::{Case, GoldQuestion, JudgedAnswer, Progress, metric};
use crate::options::RewardKind;
use crate::reads::reads_table;

pub(super) struct Structure;

const MATCHING: &str = "etm@1";

impl Rewarding for Structure {
    fn kind(&self) -> RewardKind {
        RewardKind::Structure
    }

    fn judge(&self, case: &Case<'_>, item: &GoldQuestion) -> Result<Worth, RewardError> {
        let answer = judge_structure(case, item)?;
        Ok(Worth { value: all_or_nothing(answer.code), answer })
    }
}

fn judge_structure(case: &Case<'_>, item: &GoldQuestion) -> Result<JudgedAnswer, RewardError> {
    let gold = &*item.gold;
    let pair = case.pair(gold, &[]);
    let unusable = |reason: String| JudgedAnswer::new(Code::GoldFailed, Progress::Nothing, reason);
    if let Err(error) = pair.gold_query() {
        return Ok(unusable(format!("the gold does not resolve: {error}")));
    }
    if let Some(answer) = case.without_query() {
        return Ok(answer);
    }
    match pair.prediction_query() {
        Err(error) => {
            let code = match error.kind() {
                ErrorKind::TooComplex(_) => Code::TooLarge,
                _ => Code::DoesNotRun,
            };
            return Ok(JudgedAnswer::new(code, Progress::Nothing, error.to_string()));
        }
        Ok(query) if case.options.refuse_no_table && gold.reads_table && !reads_table(query) => {
            let reason = "the answer reads no table, and the gold does";
            return Ok(JudgedAnswer::new(Code::ReadsNoTable, Progress::Nothing, reason));
        }
        Ok(_) => {}
    }
    let matching = metric(MATCHING)?;
    let score = matching.score(&pair);
    let reason = score.detail.reason().unwrap_or("the same query").to_owned();
    Ok(match score.value {
        Some(1.0) => JudgedAnswer::new(Code::Right, Progress::Runs, reason),
        Some(_) => JudgedAnswer::new(Code::Wrong, Progress::Runs, reason),
        None if itself(case, gold)? => JudgedAnswer::new(Code::TooLarge, Progress::Resolves, reason),
        None => unusable(reason),
    })
}

/// Whether the gold can be matched with itself.
fn itself(case: &Case<'_>, gold: &crate::golds::Gold) -> Result<bool, RewardError> {
    let gold_case = Case { sql: &gold.text, key: &gold.key, ..*case };
    Ok(metric(MATCHING)?.score(&gold_case.pair(gold, &[])).value.is_some())
}
