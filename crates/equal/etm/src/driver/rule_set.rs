//! Which rules are applied, and what they are told.

use crate::context::Position;
use crate::profile::Profile;
use crate::rule::{Meta, Rule, RuleStage};

/// The rules of a profile by the step at which they act.
#[derive(Clone)]
pub(crate) struct RuleSet {
    pub(crate) profile: Profile,
    pub(crate) arrangement: Arrangement,
    pub(super) expressions: Vec<&'static dyn Rule>,
    pub(super) queries: Vec<&'static dyn Rule>,
    pub(super) lies: Lies,
}

/// What the comparison may put in another order: the rules of [`RuleStage::Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrangement {
    /// Result columns (P2).
    pub(crate) outputs: bool,
    /// Relations of a FROM clause (P4).
    pub(crate) relations: bool,
    /// Operands, and the parts of lists whose order means nothing (P5).
    pub(crate) operands: bool,
}

/// What the rules are told although it may not be so. Nothing, except where a test plants a defect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lies {
    /// The result never depends on the order in which rows are read.
    pub(crate) no_plan_shows: bool,
    /// Every expression stands where NULL and FALSE have the same effect.
    pub(crate) is_condition: bool,
    /// Every query stands there.
    pub(crate) position: Option<Position>,
    /// Every aggregate belongs to the query that it stands in.
    pub(crate) owns_aggregates: bool,
}

impl RuleSet {
    pub(crate) fn of(profile: Profile) -> Self {
        Self::of_chosen(profile, Lies::default(), &|_| true)
    }

    /// The rules of a profile that are chosen, and what they are told.
    pub(crate) fn of_chosen(profile: Profile, lies: Lies, is_chosen: &dyn Fn(&Meta) -> bool) -> Self {
        let is_used = |meta: &Meta| meta.profiles.contains(profile) && is_chosen(meta);
        let all = || crate::rules::rules().iter().copied();
        let of_stage = |stage: RuleStage| {
            let acts = |meta: &Meta| meta.stage == stage || meta.stage == RuleStage::Everywhere;
            all().filter(|rule| acts(rule.meta()) && is_used(rule.meta())).collect()
        };
        let has = |id: &str| all().any(|rule| rule.meta().id == id && is_used(rule.meta()));
        Self {
            profile,
            arrangement: Arrangement { outputs: has("P2"), relations: has("P4"), operands: has("P5") },
            expressions: of_stage(RuleStage::Expression),
            queries: of_stage(RuleStage::Query),
            lies,
        }
    }
}
