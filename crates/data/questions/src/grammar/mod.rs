//! The grammar: one table of productions, by which questions are written and read.
//!
//! # Contract
//! A [`Row`] is a production of the abstract syntax with all its wordings. The writer takes a row and picks a wording
//! that the style allows; the reader takes every wording of every row, in whatever style. There is no second table, so
//! that a wording that can be written can be read.
//!
//! # Wordings
//! Words and marks stand for themselves. `$0` is the first child, `$1?` a child that may be missing. `$0[, and]` is a
//! list with "," between its items and "and" before the last, `$0[[and and]]` one of at least two items; an underscore
//! in a separator is a space. The article "the" is written and never read.

mod aggregate;
mod compile;
mod condition;
mod function;
mod query;
mod rule;
mod sentence;
mod source;
mod tail;
mod value;

use std::sync::LazyLock;

use crate::style::Styles;

pub(crate) use self::compile::{Child, Grammar, Piece, Production, WordId};
pub(crate) use self::rule::{Category, Rule};

/// A way to word a production, and the styles that use it.
pub(crate) struct Wording {
    /// The words, in the notation of the module.
    pub text: &'static str,
    /// Who writes so. Everybody reads it.
    pub styles: Styles,
}

/// A wording for every style.
pub(crate) const fn any(text: &'static str) -> Wording {
    Wording { text, styles: Styles::ALL }
}

pub(crate) const fn only(styles: Styles, text: &'static str) -> Wording {
    Wording { text, styles }
}

/// A wording that is only read: the writer makes it of another one, as where it drops an article.
pub(crate) const fn read(text: &'static str) -> Wording {
    Wording { text, styles: Styles::NONE }
}

/// One production.
pub(crate) struct Row {
    /// What it makes.
    pub rule: Rule,
    /// Where that may stand.
    pub category: Category,
    pub children: &'static [Category],
    /// How it is said.
    pub wordings: &'static [Wording],
}

/// A production of the table.
pub(crate) const fn row(
    rule: Rule,
    category: Category,
    children: &'static [Category],
    wordings: &'static [Wording],
) -> Row {
    Row { rule, category, children, wordings }
}

/// What may stand where the first stands, besides its own productions.
const INCLUDED: &[(Category, Category)] = &[
    (Category::Question, Category::Sentence),
    (Category::Query, Category::Core),
    (Category::Nested, Category::Core),
    (Category::Condition, Category::Unit),
    (Category::Conjunct, Category::Unit),
    (Category::Disjunct, Category::Unit),
    (Category::Unit, Category::Simple),
    (Category::Operand, Category::Atom),
    (Category::Atom, Category::Argument),
    (Category::Argument, Category::Basic),
    (Category::Basic, Category::Column),
    (Category::Member, Category::Relation),
    (Category::Link, Category::InnerLink),
];

/// The table, file by file.
fn rows() -> impl Iterator<Item = &'static Row> {
    [
        sentence::ROWS,
        query::ROWS,
        source::ROWS,
        tail::ROWS,
        condition::ROWS,
        value::ROWS,
        aggregate::ROWS,
        function::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// The table, made ready for writing and reading.
pub(crate) fn grammar() -> &'static Grammar {
    static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::of(rows(), INCLUDED));
    &GRAMMAR
}

/// A grammar with a defect: the wordings of two rules have changed places.
#[cfg(test)]
pub(crate) fn planted(one: Rule, other: Rule) -> Grammar {
    let swapped = rows().map(|row| {
        let rule = match row.rule {
            rule if rule == one => other,
            rule if rule == other => one,
            rule => rule,
        };
        &*Box::leak(Box::new(Row { rule, ..*row }))
    });
    Grammar::of(swapped, INCLUDED)
}
