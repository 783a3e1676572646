//! The comparison of two queries.

use std::fmt;

use sqlgauge_base::budget;
use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{ResolveError, renumber, resolve};

use crate::assumption::{Assumption, assumptions};
use crate::canonical::{Choices, canonicalise};
use crate::context::Published;
use crate::difference;
use crate::driver::rule_set::Lies;
use crate::driver::{RuleSet, Stopped, normalise};
use crate::profile::Profile;
use crate::rule::Rule;
use crate::tools;

/// How many orders of tied relations are tried.
const MAX_CHOICES: usize = 400;

const TOO_LARGE: &str = "the query is too large";
const NO_FIXED_POINT: &str = "the rules found no fixed point";

/// One of the two queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchSide {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl fmt::Display for MatchSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "gold",
            Self::Right => "prediction",
        })
    }
}

/// Whether two queries mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchVerdict {
    /// Their normal forms are equal.
    Equal,
    /// Their normal forms differ. This is no proof that the queries do.
    Different,
    /// A normal form cannot tell: the queries do not give the same each time; the reason in words.
    GaveUp(&'static str),
    /// The comparison takes more nodes, passes or steps than it may; the bound in words.
    TooComplex(&'static str),
    /// A query could not be resolved against the schema.
    Unresolved(MatchSide, ResolveError),
}

impl MatchVerdict {
    /// Whether the queries are known to mean the same.
    pub fn is_equal(&self) -> bool {
        *self == Self::Equal
    }
}

impl fmt::Display for MatchVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Different => f.write_str("not equal"),
            Self::GaveUp(reason) => write!(f, "gave up: {reason}"),
            Self::TooComplex(bound) => write!(f, "too_complex: {bound}"),
            Self::Unresolved(side, error) => write!(f, "the {side} query cannot be resolved: {error}"),
        }
    }
}

/// One application of a rule.
#[derive(Debug, Clone)]
pub struct Application {
    pub rule: &'static Rule,
    /// Where: the path of clauses from the statement to the subquery or clause.
    pub scope: String,
    /// The query or expression before, as SQL.
    pub before: String,
    /// The same afterwards.
    pub after: String,
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, scope, before, after } = self;
        write!(f, "{} {} in {scope}\n    before  {before}\n    after   {after}", rule.id, rule.name)
    }
}

/// A query in normal form, and how it got there.
#[derive(Debug, Clone)]
pub struct NormalForm {
    /// The resolved query in normal form.
    pub query: Query,
    /// The same as SQL.
    pub sql: String,
    /// The rules that were applied, in order.
    pub applications: Vec<Application>,
}

/// The verdict on two queries with its reasons.
#[derive(Debug, Clone)]
pub struct MatchReport {
    pub verdict: MatchVerdict,
    /// The normal form of the first query; `None` where there is none.
    pub left: Option<NormalForm>,
    /// The normal form of the second query.
    pub right: Option<NormalForm>,
    /// For normal forms that differ: the first difference in words.
    pub difference: Option<String>,
    /// For queries that match by [`Profile::Sound`]: the constraints of the schema without which they would not. The
    /// match holds on every database that keeps them.
    pub assumes: Vec<Assumption>,
}

/// A gold that many predictions are compared with: its normal form is worked out once.
#[derive(Debug)]
pub struct Reference {
    text: String,
    /// Absent where it has none, or where it depends on the other query.
    form: Option<Form>,
}

#[derive(Debug)]
struct Form {
    /// As it was resolved, without names.
    query: Query,
    is_ordered: bool,
    /// In normal form, before its relations are put in order.
    normal: Query,
    /// The same in the first of their orders.
    first: Query,
    /// Whether there is but one order.
    is_only: bool,
}

/// Compares queries over one schema by the rules of one profile.
pub struct Matcher<'a> {
    schema: &'a Schema,
    rules: RuleSet,
}

impl<'a> Matcher<'a> {
    /// A matcher of queries over that schema.
    pub fn new(schema: &'a Schema, profile: Profile) -> Self {
        Self { schema, rules: RuleSet::of(profile) }
    }

    /// A matcher by those rules of the profile that are chosen. What the resolution of names does
    /// ([`RuleStage::Resolution`]) is done whatever is chosen.
    ///
    /// [`RuleStage::Resolution`]: crate::RuleStage::Resolution
    pub fn of_chosen(schema: &'a Schema, profile: Profile, is_chosen: &dyn Fn(&Rule) -> bool) -> Self {
        Self { schema, rules: RuleSet::of_chosen(profile, Lies::default(), is_chosen) }
    }

    /// The same rules over another schema.
    fn over<'b>(&self, schema: &'b Schema) -> Matcher<'b> {
        Matcher { schema, rules: self.rules.clone() }
    }

    /// Compares two queries and says why. The answer does not depend on which of them is first.
    pub fn compare(&self, left: &str, right: &str) -> MatchReport {
        bounded(left, right, || {
            let matches = |schema: &Schema| self.over(schema).run(left, right, false).verdict.is_equal();
            self.with_assumptions(self.run(left, right, true), [left, right], &matches)
        })
    }

    fn with_assumptions(
        &self,
        mut comparison: MatchReport,
        texts: [&str; 2],
        matches: &dyn Fn(&Schema) -> bool,
    ) -> MatchReport {
        if self.rules.profile == Profile::Sound && comparison.verdict.is_equal() {
            comparison.assumes = assumptions(self.schema, texts, matches);
        }
        comparison
    }

    /// Whether two queries mean the same; cheaper than [`Matcher::compare`].
    pub fn is_equal(&self, left: &str, right: &str) -> bool {
        bounded(left, right, || self.run(left, right, false)).verdict.is_equal()
    }

    /// Whether the prediction is right for the gold under `ex@1`, where an order that the gold does not ask for
    /// does not count: the prediction's own ORDER BY is passed over if the gold has none.
    pub fn is_right(&self, gold: &str, prediction: &str) -> bool {
        bounded(gold, prediction, || self.judge_alone(gold, prediction, false)).verdict.is_equal()
    }

    /// A gold for [`Matcher::is_right_by`].
    pub fn reference(&self, gold: &str) -> Reference {
        let form = || budget::analyse(gold.len(), || self.form_of(gold)).ok().flatten();
        // What the published rules may do depends on both queries.
        let form = if self.rules.profile == Profile::Sound { form() } else { None };
        Reference { text: gold.to_owned(), form }
    }

    /// As [`Matcher::is_right`], with a gold whose normal form is there already.
    pub fn is_right_by(&self, gold: &Reference, prediction: &str) -> bool {
        let Reference { text, form: Some(form) } = gold else {
            return self.is_right(&gold.text, prediction);
        };
        bounded(text, prediction, || stopped(self.judge_by(form, prediction))).verdict.is_equal()
    }

    /// [`Matcher::is_right`] with its reasons; the gold is left.
    pub fn judge(&self, gold: &str, prediction: &str) -> MatchReport {
        bounded(gold, prediction, || {
            let matches =
                |schema: &Schema| self.over(schema).judge_alone(gold, prediction, false).verdict.is_equal();
            self.with_assumptions(self.judge_alone(gold, prediction, true), [gold, prediction], &matches)
        })
    }

    fn judge_alone(&self, gold: &str, prediction: &str, explain: bool) -> MatchReport {
        match (resolve(gold, self.schema), resolve(prediction, self.schema)) {
            (Ok(gold), Ok(mut prediction)) => {
                let is_ordered = !gold.order_by.is_empty();
                if self.rules.profile == Profile::Sound && !is_ordered && prediction.limit.is_none() {
                    prediction.order_by.clear();
                }
                self.run_resolved(gold, prediction, explain)
            }
            (Err(error), _) => unresolved(MatchSide::Left, error),
            (_, Err(error)) => unresolved(MatchSide::Right, error),
        }
    }

    fn form_of(&self, gold: &str) -> Option<Form> {
        let mut query = resolve(gold, self.schema).ok()?;
        let is_ordered = !query.order_by.is_empty();
        if tools::obstacle(&query).is_some() {
            return None;
        }
        without_names(&mut query);
        let mut normal = query.clone();
        normalise(&mut normal, &self.rules, self.schema, &Published::default(), false).ok()?;
        let facts = Facts::of(&normal, self.schema);
        let (mut first, mut choices) = (normal.clone(), Choices::default());
        canonicalise(&mut first, &facts, &self.rules, &mut choices);
        Some(Form { query, is_ordered, is_only: !choices.advance(), first, normal })
    }

    fn judge_by(&self, gold: &Form, prediction: &str) -> MatchVerdict {
        let mut prediction = match resolve(prediction, self.schema) {
            Ok(prediction) => prediction,
            Err(error) => return MatchVerdict::Unresolved(MatchSide::Right, error),
        };
        if !gold.is_ordered && prediction.limit.is_none() {
            prediction.order_by.clear();
        }
        if let Some(reason) = tools::obstacle(&prediction) {
            return MatchVerdict::GaveUp(reason);
        }
        without_names(&mut prediction);
        if prediction == gold.query {
            return MatchVerdict::Equal;
        }
        if prediction.width() != gold.query.width() {
            return MatchVerdict::Different;
        }
        match normalise(&mut prediction, &self.rules, self.schema, &Published::default(), false) {
            Ok(_) => {}
            Err(Stopped::TooLarge) => return MatchVerdict::TooComplex(TOO_LARGE),
            Err(Stopped::NoFixedPoint) => return MatchVerdict::TooComplex(NO_FIXED_POINT),
        }
        let facts = Facts::of(&prediction, self.schema);
        canonicalise(&mut prediction, &facts, &self.rules, &mut Choices::default());
        if gold.first == prediction {
            MatchVerdict::Equal
        } else if gold.is_only {
            MatchVerdict::Different
        } else {
            self.match_up(&mut gold.normal.clone(), &prediction)
        }
    }

    fn run(&self, left: &str, right: &str, explain: bool) -> MatchReport {
        let left = match resolve(left, self.schema) {
            Ok(query) => query,
            Err(error) => return unresolved(MatchSide::Left, error),
        };
        match resolve(right, self.schema) {
            Ok(right) => self.run_resolved(left, right, explain),
            Err(error) => unresolved(MatchSide::Right, error),
        }
    }

    fn run_resolved(&self, mut left: Query, mut right: Query, explain: bool) -> MatchReport {
        let obstacle = match self.rules.profile {
            Profile::Paper => None,
            Profile::Sound => tools::obstacle(&left).or_else(|| tools::obstacle(&right)),
        };
        if let Some(reason) = obstacle {
            return stopped(MatchVerdict::GaveUp(reason));
        }
        without_names(&mut left);
        without_names(&mut right);
        if !explain && left == right {
            return stopped(MatchVerdict::Equal);
        }
        if !explain && self.rules.profile == Profile::Sound && left.width() != right.width() {
            return stopped(MatchVerdict::Different);
        }
        let published = match self.rules.profile {
            Profile::Paper => Published::of([&left, &right], self.schema),
            Profile::Sound => Published::default(),
        };
        let logs = normalise(&mut left, &self.rules, self.schema, &published, explain).and_then(|first| {
            let second = normalise(&mut right, &self.rules, self.schema, &published, explain)?;
            Ok((first, second))
        });
        match logs {
            Ok(logs) => self.conclude(left, right, logs, explain),
            Err(Stopped::TooLarge) => stopped(MatchVerdict::TooComplex(TOO_LARGE)),
            Err(Stopped::NoFixedPoint) => stopped(MatchVerdict::TooComplex(NO_FIXED_POINT)),
        }
    }

    fn conclude(
        &self,
        mut left: Query,
        mut right: Query,
        logs: (Vec<Application>, Vec<Application>),
        explain: bool,
    ) -> MatchReport {
        let right_facts = Facts::of(&right, self.schema);
        canonicalise(&mut right, &right_facts, &self.rules, &mut Choices::default());
        let verdict = self.match_up(&mut left, &right);
        if !explain {
            return stopped(verdict);
        }
        let difference =
            (verdict == MatchVerdict::Different).then(|| difference::first(&left, &right, self.schema));
        let form = |query: Query, applications| NormalForm {
            sql: tools::text(&query, self.schema),
            query,
            applications,
        };
        let (left, right) = (Some(form(left, logs.0)), Some(form(right, logs.1)));
        MatchReport { verdict, left, right, difference, assumes: Vec::new() }
    }

    /// Looks for an order of the left query's tied relations in which it equals the right query.
    fn match_up(&self, left: &mut Query, right: &Query) -> MatchVerdict {
        let facts = Facts::of(left, self.schema);
        let mut choices = Choices::default();
        let mut first = None;
        for _ in 0..MAX_CHOICES {
            let mut candidate = left.clone();
            canonicalise(&mut candidate, &facts, &self.rules, &mut choices);
            if candidate == *right {
                *left = candidate;
                return MatchVerdict::Equal;
            }
            first.get_or_insert(candidate);
            if !choices.advance() {
                *left = first.unwrap_or_else(|| left.clone());
                return MatchVerdict::Different;
            }
        }
        *left = first.unwrap_or_else(|| left.clone());
        MatchVerdict::TooComplex("too many instances of one table are interchangeable")
    }
}

/// A comparison of texts within the budget of one analysis, its reasons included.
fn bounded(left: &str, right: &str, compare: impl FnOnce() -> MatchReport) -> MatchReport {
    let bytes = left.len().max(right.len());
    let outcome = budget::analyse(bytes, compare);
    outcome.unwrap_or_else(|_| stopped(MatchVerdict::TooComplex("the comparison takes too many steps")))
}

/// Without the names that the text gave, and with numbers in the order of the text.
fn without_names(query: &mut Query) {
    tools::forget_names(query);
    renumber(query);
}

fn stopped(verdict: MatchVerdict) -> MatchReport {
    MatchReport { verdict, left: None, right: None, difference: None, assumes: Vec::new() }
}

fn unresolved(side: MatchSide, error: ResolveError) -> MatchReport {
    stopped(MatchVerdict::Unresolved(side, error))
}
