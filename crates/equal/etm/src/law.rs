//! Single applications of rules, for the law that before and after return the same rows.
//!
//! [`Stepper`] takes a query to its normal form and hands out the whole query after every application. A stepper of
//! one rule that is told [`Lies`] is a rule with a planted defect: the law must find it.

use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::renumber;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;

use crate::canonical::{Choices, canonicalise};
use crate::context::{Position, Published};
use crate::driver::{RuleSet, Stopped, normalise_up_to, rule_set};
use crate::profile::Profile;
use crate::rule::Rule;
use crate::tools;

/// What a rule is told although it may not be so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lies {
    /// The result never depends on the order in which rows are read.
    pub no_plan_shows: bool,
    /// Every expression stands where NULL and FALSE have the same effect.
    pub is_condition: bool,
    /// Every query stands there.
    pub position: Option<Position>,
    /// Every aggregate belongs to the query that it stands in.
    pub owns_aggregates: bool,
}

/// What changed a query.
#[derive(Debug, Clone, Copy)]
pub enum RewriteChange {
    /// One application of a rule.
    Rule(&'static Rule),
    /// Some rule, which did not say so.
    Unreported,
    /// The normal form was brought into its canonical order (P4 and P5).
    CanonicalOrder,
}

/// A query after one more change.
#[derive(Debug, Clone)]
pub struct Step {
    pub change: RewriteChange,
    /// The whole query afterwards.
    pub query: Query,
}

/// How a query came to its normal form.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The queries after each application.
    pub steps: Vec<Step>,
    /// Why there is no normal form although the query is not too large, in words.
    pub stopped: Option<&'static str>,
}

/// How many applications are looked at where the rules find no end.
const STEPS_WITHOUT_END: usize = 24;

/// Takes queries over one schema to their normal form, one application at a time.
pub struct Stepper<'a> {
    schema: &'a Schema,
    rules: RuleSet,
    is_whole: bool,
}

impl<'a> Stepper<'a> {
    /// All rules of the sound profile.
    pub fn new(schema: &'a Schema) -> Self {
        Self { schema, rules: RuleSet::of(Profile::Sound), is_whole: true }
    }

    /// One rule of the sound profile, which believes those lies and what the schema says, true or not.
    pub fn only(rule: &'static Rule, lies: Lies, schema: &'a Schema) -> Self {
        let Lies { no_plan_shows, is_condition, position, owns_aggregates } = lies;
        let lies = rule_set::Lies { no_plan_shows, is_condition, position, owns_aggregates };
        let rules = RuleSet::of_chosen(Profile::Sound, lies, &|other| std::ptr::eq(other, rule));
        Self { schema, rules, is_whole: false }
    }

    /// Whether the query has a normal form at all: it gives the same rows each time, and no plan makes it fail.
    pub fn has_normal_form(query: &Query) -> bool {
        tools::obstacle(query).is_none()
    }

    /// The query without the names that do not matter, as all steps see it.
    pub fn start(query: &Query) -> Query {
        let mut start = query.clone();
        tools::forget_names(&mut start);
        renumber(&mut start);
        start
    }

    /// The queries after each application, in order; the last is the normal form if there is one.
    pub fn steps(&self, start: &Query) -> Trace {
        let (rules, mut last, stopped) = match self.up_to(usize::MAX, start) {
            Ok((rules, last)) => (rules, last, None),
            Err(Stopped::TooLarge) => return Trace { steps: Vec::new(), stopped: None },
            Err(Stopped::NoFixedPoint) => match self.up_to(STEPS_WITHOUT_END, start) {
                Ok((rules, last)) => (rules, last, Some("the rules found no fixed point")),
                Err(_) => {
                    return Trace { steps: Vec::new(), stopped: Some("the rules found no fixed point") };
                }
            },
        };
        let mut steps = Vec::with_capacity(rules.len() + 2);
        for (done, rule) in (1..).zip(&rules) {
            let Ok((_, query)) = self.up_to(done, start) else { break };
            steps.push(Step { change: RewriteChange::Rule(rule), query });
        }
        if stopped.is_none() {
            if steps.last().map_or(start, |step| &step.query) != &last {
                steps.push(Step { change: RewriteChange::Unreported, query: last.clone() });
            }
            if self.is_whole {
                let facts = Facts::of(&last, self.schema);
                canonicalise(&mut last, &facts, &self.rules, &mut Choices::default());
                steps.push(Step { change: RewriteChange::CanonicalOrder, query: last });
            }
        }
        Trace { steps, stopped }
    }

    fn up_to(&self, applications: usize, start: &Query) -> Result<(Vec<&'static Rule>, Query), Stopped> {
        let mut query = start.clone();
        let published = Published::default();
        let run = normalise_up_to(applications, &mut query, &self.rules, self.schema, &published, false)?;
        Ok((run.applied, query))
    }
}
