//! Trees of the abstract syntax.

use std::rc::Rc;

use sqlgauge_names::LinkVerb;
use sqlgauge_sql::tree::Literal;

use crate::grammar::Rule;
use crate::names::{NameId, NounId};

/// A phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tree {
    Node(Rule, Vec<Slot>),
    /// The name of a column, in the plural or not.
    Name(NameId, bool),
    /// The name of a table, in the plural or not.
    Noun(NounId, bool),
    /// A constant.
    Value(Literal),
    /// What the rows of one table do to those of another.
    Verb(LinkVerb),
    /// What stands in double quotes: a function, a type, a collation.
    Quoted(String),
}

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slot {
    One(Rc<Tree>),
    Many(Vec<Rc<Tree>>),
    /// It is missing.
    None,
}

impl Tree {
    /// A phrase without parts.
    pub(crate) fn word(rule: Rule) -> Self {
        Self::Node(rule, Vec::new())
    }

    /// A phrase of those parts, one each.
    pub(crate) fn of<const N: usize>(rule: Rule, parts: [Self; N]) -> Self {
        Self::Node(rule, parts.into_iter().map(Slot::from).collect())
    }

    /// A relation in the plural or in the singular.
    pub(crate) fn in_number(self, many: bool) -> Self {
        match self {
            Self::Noun(noun, _) => Self::Noun(noun, many),
            Self::Node(rule @ (Rule::Table | Rule::ModifiedTable | Rule::Which), slots) => {
                let turned = slots.into_iter().map(|slot| match slot {
                    Slot::One(part) => Slot::One(Rc::new(Self::clone(&part).in_number(many))),
                    other => other,
                });
                Self::Node(rule, turned.collect())
            }
            other => other,
        }
    }

    /// Whether it is a query that shows nothing but a number of rows.
    pub(crate) fn shows_number(&self) -> bool {
        let Some((Rule::Select | Rule::SelectFor, [_, outputs, ..])) = self.node() else { return false };
        let Some((Rule::Outputs, [list])) = outputs.one().and_then(|outputs| outputs.node()) else {
            return false;
        };
        matches!(list.all(), [output] if matches!(output.node(), Some((Rule::Number, _))))
    }

    pub(crate) fn node(&self) -> Option<(Rule, &[Slot])> {
        match self {
            Self::Node(rule, slots) => Some((*rule, slots)),
            _ => None,
        }
    }
}

impl From<Tree> for Slot {
    fn from(tree: Tree) -> Self {
        Self::One(Rc::new(tree))
    }
}

impl From<Option<Tree>> for Slot {
    fn from(tree: Option<Tree>) -> Self {
        tree.map_or(Self::None, Self::from)
    }
}

impl From<Vec<Tree>> for Slot {
    fn from(trees: Vec<Tree>) -> Self {
        Self::Many(trees.into_iter().map(Rc::new).collect())
    }
}

impl Slot {
    /// The part, if it is one.
    pub(crate) fn one(&self) -> Option<&Rc<Tree>> {
        match self {
            Self::One(tree) => Some(tree),
            Self::Many(_) | Self::None => None,
        }
    }

    pub(crate) fn all(&self) -> &[Rc<Tree>] {
        match self {
            Self::One(tree) => std::slice::from_ref(tree),
            Self::Many(trees) => trees,
            Self::None => &[],
        }
    }
}
