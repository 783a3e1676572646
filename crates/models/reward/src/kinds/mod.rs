//! The kinds of reward, one file each.

mod dense;
mod exact;
mod structure;

use crate::code::Code;
use crate::error::RewardError;
use crate::judge::{Case, GoldQuestion, JudgedAnswer};
use crate::options::RewardKind;

/// What an answer is worth beside one gold.
pub(crate) struct Worth {
    /// `None` where nobody knows.
    pub(crate) value: Option<f64>,
    pub(crate) answer: JudgedAnswer,
}

/// One kind of reward. Its contract is the documentation at the head of its file.
pub(crate) trait Rewarding: Sync {
    fn kind(&self) -> RewardKind;

    /// What the answer is worth beside that gold.
    fn judge(&self, case: &Case<'_>, item: &GoldQuestion) -> Result<Worth, RewardError>;
}

static KINDS: &[&dyn Rewarding] = &[&exact::Exact, &dense::Dense, &structure::Structure];

pub(crate) fn of(kind: RewardKind) -> &'static dyn Rewarding {
    KINDS.iter().copied().find(|entry| entry.kind() == kind).unwrap_or(&exact::Exact)
}

/// All or nothing, where something is known.
pub(crate) fn all_or_nothing(code: Code) -> Option<f64> {
    match code {
        Code::GoldFailed => None,
        code => Some(f64::from(u8::from(code == Code::Right))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_there_once() {
        assert_eq!(KINDS.iter().map(|entry| entry.kind()).collect::<Vec<_>>(), RewardKind::ALL);
    }
}
