//! The kind `exact`: right or not.
//!
//! # Contract
//! 1 for [`Code::Right`](crate::Code::Right), `None` for [`Code::GoldFailed`](crate::Code::GoldFailed), else 0. Right is what
//! `ex@1` calls right on the benchmark's database and, with witnesses, on every witness of the question; with
//! [`AnswerColumns::Any`](crate::AnswerColumns::Any) some permutation of the answer's columns has to be right on each of them.

use super::{Rewarding, Worth, all_or_nothing};
use crate::error::RewardError;
use crate::judge::{Case, GoldQuestion};
use crate::options::RewardKind;

pub(super) struct Exact;

impl Rewarding for Exact {
    fn kind(&self) -> RewardKind {
        RewardKind::Exact
    }

    fn judge(&self, case: &Case<'_>, item: &GoldQuestion) -> Result<Worth, RewardError> {
        let answer = case.by_results(item)?;
        Ok(Worth { value: all_or_nothing(answer.code), answer })
    }
}
