//! What a rule is.

use sqlgauge_sql::tree::{Body, Expr, From, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;

/// The headings that every rule's page has, in this order.
pub const HEADINGS: [&str; 6] =
    ["What it does", "Why it holds", "Needs", "Example", "Does not hold when", "Source"];

/// Rewrites one query, its subqueries excepted (each is given on its own, inner ones first). Returns at how many places it
/// changed something.
pub type QueryRewrite = fn(&mut Query, &mut RuleContext<'_>) -> usize;

/// Rewrites one expression whose parts are already rewritten. Returns whether it changed it.
pub type ExprRewrite = fn(&mut Expr, &mut RuleContext<'_>) -> bool;

/// At which step of a comparison a rule acts, and what it does there.
#[derive(Debug, Clone, Copy)]
pub enum RuleStage {
    /// Name resolution has done it before any rule runs.
    Resolution,
    /// It rewrites expressions.
    Expression(ExprRewrite),
    /// It rewrites queries, which must have that for the rule to have a chance.
    Query(Shape, QueryRewrite),
    /// It rewrites both expressions and queries.
    Everywhere(ExprRewrite, QueryRewrite),
    /// The comparison of the normal forms does it.
    Comparison,
}

/// An equivalence rule: what it is called, where it belongs, what it does, and its cases.
#[derive(Debug)]
pub struct Rule {
    /// `P0` to `P8` and `1` to `26` as in the paper; `S1`… for further rules.
    pub id: &'static str,
    /// The pattern that it recognises, in kebab case.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The profiles that use it.
    pub profiles: Profiles,
    /// When it acts, and how.
    pub stage: RuleStage,
    /// Pairs that must match and pairs that look alike and must not.
    pub cases: &'static [RuleCase],
    /// The source text of the rule's file; its page is the leading comment.
    pub source: &'static str,
}

impl Rule {
    /// The rule's page in Markdown: the leading comment of its file.
    pub fn page(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }
}

/// A set of features of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape(u16);

impl Shape {
    /// Nothing.
    pub const ANY: Self = Self(0);
    /// More than one relation in FROM.
    pub const JOIN: Self = Self(1);
    /// WHERE.
    pub const FILTER: Self = Self(1 << 1);
    /// GROUP BY.
    pub const GROUP: Self = Self(1 << 2);
    /// HAVING.
    pub const HAVING: Self = Self(1 << 3);
    /// SELECT DISTINCT.
    pub const DISTINCT: Self = Self(1 << 4);
    /// ORDER BY.
    pub const ORDER: Self = Self(1 << 5);
    /// LIMIT.
    pub const LIMIT: Self = Self(1 << 6);
    pub(crate) const SET_OPERATION: Self = Self(1 << 7);
    /// A subquery in FROM.
    pub(crate) const DERIVED: Self = Self(1 << 8);
    /// WITH.
    pub const CTE: Self = Self(1 << 9);

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether everything in `needed` is here.
    pub fn has(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }

    /// The features of a query.
    pub fn of(query: &Query) -> Self {
        let mut shape = 0;
        let mut set = |holds: bool, flag: Self| shape |= if holds { flag.0 } else { 0 };
        set(!query.ctes.is_empty(), Self::CTE);
        set(!query.order_by.is_empty(), Self::ORDER);
        set(query.limit.is_some(), Self::LIMIT);
        match &query.body {
            Body::SetOperation { .. } => set(true, Self::SET_OPERATION),
            Body::Values(_) => {}
            Body::Select(select) => {
                set(select.distinct, Self::DISTINCT);
                set(select.filter.is_some(), Self::FILTER);
                set(!select.group_by.is_empty(), Self::GROUP);
                set(select.having.is_some(), Self::HAVING);
                set(matches!(select.from, Some(From::Join(_))), Self::JOIN);
                let derived = select.from.as_ref().is_some_and(has_derived);
                set(derived, Self::DERIVED);
            }
        }
        Self(shape)
    }
}

fn has_derived(from: &From) -> bool {
    match from {
        From::Relation(relation) => matches!(relation.source, sqlgauge_sql::tree::RelationSource::Derived(_)),
        From::Join(join) => has_derived(&join.left) || has_derived(&join.right),
    }
}

/// The schema of most cases.
pub(crate) const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT, age INT, born TEXT NOT NULL);
CREATE TABLE u (uid INTEGER PRIMARY KEY, t_id INT REFERENCES t(id), must INT NOT NULL REFERENCES t(id), v INT);";

/// Two queries over a schema of which it is known whether they mean the same.
#[derive(Debug, Clone, Copy)]
pub struct RuleCase {
    /// CREATE TABLE statements.
    pub schema: &'static str,
    /// One query.
    pub left: &'static str,
    /// The other.
    pub right: &'static str,
    /// Whether the profiles must call them equal.
    pub equal: bool,
    /// The profiles that the expectation is for.
    pub profiles: Profiles,
    /// For a pair that differs: INSERT statements of a small database that tells them apart. Empty where a search
    /// finds one at once.
    pub witness: &'static str,
}

impl RuleCase {
    /// A pair that both profiles must call equal.
    pub const fn equal(schema: &'static str, left: &'static str, right: &'static str) -> Self {
        Self { schema, left, right, equal: true, profiles: Profiles::BOTH, witness: "" }
    }

    /// A pair that neither profile may call equal.
    pub const fn differs(schema: &'static str, left: &'static str, right: &'static str) -> Self {
        Self { schema, left, right, equal: false, profiles: Profiles::BOTH, witness: "" }
    }

    /// The same pair, expected of the sound profile only.
    #[must_use]
    pub const fn sound(self) -> Self {
        Self { profiles: Profiles::SOUND, ..self }
    }

    /// The same pair, expected of the paper's profile only.
    #[must_use]
    pub const fn paper(self) -> Self {
        Self { profiles: Profiles::PAPER, ..self }
    }

    /// The same pair with a database that tells the two apart.
    #[must_use]
    pub const fn witness(self, inserts: &'static str) -> Self {
        Self { witness: inserts, ..self }
    }
}
