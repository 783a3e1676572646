//! Which rules are applied, and what they are told.

use crate::context::Position;
use crate::profile::Profile;
use crate::rule::{ExprRewrite, QueryRewrite, Rule, RuleStage, Shape};
use crate::rules::rules;

/// The rules of a profile by the step at which they act.
#[derive(Clone)]
pub(crate) struct RuleSet {
    pub(crate) profile: Profile,
    pub(crate) arrangement: Arrangement,
    pub(super) expressions: Vec<(&'static Rule, ExprRewrite)>,
    pub(super) queries: Vec<(&'static Rule, Shape, QueryRewrite)>,
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
    pub(crate) fn of_chosen(profile: Profile, lies: Lies, is_chosen: &dyn Fn(&Rule) -> bool) -> Self {
        let (mut expressions, mut queries, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for &rule in rules().iter().filter(|rule| rule.profiles.contains(profile) && is_chosen(rule)) {
            ids.push(rule.id);
            match rule.stage {
                RuleStage::Resolution | RuleStage::Comparison => {}
                RuleStage::Expression(rewrite) => expressions.push((rule, rewrite)),
                RuleStage::Query(needs, rewrite) => queries.push((rule, needs, rewrite)),
                RuleStage::Everywhere(of_expr, of_query) => {
                    expressions.push((rule, of_expr));
                    queries.push((rule, Shape::ANY, of_query));
                }
            }
        }
        let has = |id: &str| ids.contains(&id);
        let arrangement = Arrangement { outputs: has("P2"), relations: has("P4"), operands: has("P5") };
        Self { profile, arrangement, expressions, queries, lies }
    }
}
