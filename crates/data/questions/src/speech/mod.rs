//! From queries to phrases ([`Say`]) and from phrases to queries ([`Hear`]), construct by construct: each file has both
//! directions side by side.

mod aside;
mod call;
mod condition;
mod fields;
mod idiom;
mod partners;
mod query;
mod reference;
mod relative;
mod sentence;
mod short;
mod source;
mod tail;
mod value;
mod which;

pub(crate) use self::sentence::Frame;

use std::rc::Rc;

use sqlgauge_base::Random;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{ColumnRef, Expr, RelationId};

use crate::engine::tree::Tree;
use crate::grammar::Rule;
use crate::names::Vocabulary;
use crate::style::QuestionStyle;
use crate::unsayable::Unsayable;

/// How much is said that may go without saying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Care {
    /// What goes without saying is left out: the table of a column that no other table here has, the key of a group that
    /// is shown.
    Terse,
    /// The same, but subqueries and groups of conditions stand in brackets.
    Bracketed,
    /// What people leave out is left out.
    Plain,
    /// Subqueries stand in brackets, and columns have their tables.
    Careful,
    /// Names are spelled in double quotes besides.
    Spelled,
}

impl Care {
    pub(crate) const ALL: [Self; 5] =
        [Self::Terse, Self::Bracketed, Self::Plain, Self::Careful, Self::Spelled];

    /// Whether tables of columns, keys of groups and links are left out that go without saying.
    pub(crate) fn is_terse(self) -> bool {
        self <= Self::Bracketed
    }

    /// Whether subqueries and groups of conditions stand in brackets.
    pub(crate) fn has_brackets(self) -> bool {
        !matches!(self, Self::Terse | Self::Plain)
    }

    /// Whether tables and quotes are left out that a person would not write.
    pub(crate) fn leaves_out(self) -> bool {
        self <= Self::Plain
    }
}

/// What a relation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// The table at that place of the schema.
    Table(u32),
    /// A subquery or CTE, by its place among those that are known.
    List(u32),
}

impl Reads {
    /// The place of the table.
    fn table(self) -> Option<u32> {
        match self {
            Self::Table(table) => Some(table),
            Self::List(_) => None,
        }
    }
}

/// The relations of one query.
#[derive(Debug, Clone, Default)]
struct Scope {
    relations: Vec<(RelationId, Reads)>,
    /// Whether a join keeps rows without a partner.
    has_outer: bool,
    /// Those that a phrase names, in its order; none where a join keeps rows without a partner.
    order: Vec<RelationId>,
    /// Columns that are the same as earlier ones.
    same: Vec<ColumnRef>,
}

/// A query being said.
pub(crate) struct Say<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) style: QuestionStyle,
    pub(crate) care: Care,
    pub(crate) random: &'a mut Random,
    scopes: Vec<Scope>,
    /// The CTEs, by their numbers.
    lists: Vec<u32>,
    /// What the columns of subqueries and CTEs show.
    list_fields: Vec<Vec<Tree>>,
    /// Whether each clause has a turn of its own.
    has_turns: bool,
    /// Whether the SELECT at hand computes something over its rows: then each of its tables is named.
    computes: bool,
    /// Whether the next table is to have an adjective.
    modifier: bool,
}

/// What comes of saying.
type Said<T = Tree> = Result<T, Unsayable>;

impl<'a> Say<'a> {
    pub(crate) fn new(
        schema: &'a Schema,
        vocabulary: &'a Vocabulary,
        style: QuestionStyle,
        care: Care,
        random: &'a mut Random,
    ) -> Self {
        Self {
            schema,
            vocabulary,
            style,
            care,
            random,
            scopes: Vec::new(),
            lists: Vec::new(),
            list_fields: Vec::new(),
            has_turns: style == QuestionStyle::MultiTurn,
            computes: false,
            modifier: false,
        }
    }
}

/// A phrase being heard. Where it may mean several things, one is taken by the choices given; [`Hear::next_choices`]
/// gives the next ones.
pub(crate) struct Hear<'a> {
    schema: &'a Schema,
    vocabulary: &'a Vocabulary,
    scopes: Vec<Scope>,
    lists: Vec<u32>,
    list_fields: Vec<Vec<Tree>>,
    /// The conditions of the source that was heard last.
    of_source: Vec<Expr>,
    relations: u32,
    /// What to choose, and of how many, one after the other.
    choices: Vec<(usize, usize)>,
    chosen: usize,
}

impl<'a> Hear<'a> {
    pub(crate) fn new(schema: &'a Schema, vocabulary: &'a Vocabulary, choices: Vec<(usize, usize)>) -> Self {
        Self {
            schema,
            vocabulary,
            scopes: Vec::new(),
            lists: Vec::new(),
            list_fields: Vec::new(),
            of_source: Vec::new(),
            relations: 0,
            choices,
            chosen: 0,
        }
    }

    /// The choices to make the next time; `None` after the last.
    pub(crate) fn next_choices(mut self) -> Option<Vec<(usize, usize)>> {
        self.choices.truncate(self.chosen);
        while let Some((choice, of)) = self.choices.pop() {
            if choice + 1 < of {
                self.choices.push((choice + 1, of));
                return Some(self.choices);
            }
        }
        None
    }

    fn choose<T: Copy>(&mut self, candidates: &[T]) -> Option<T> {
        if candidates.len() < 2 {
            return candidates.first().copied();
        }
        let at = self.chosen;
        self.chosen += 1;
        if at == self.choices.len() {
            self.choices.push((0, candidates.len()));
        }
        candidates.get(self.choices[at].0).copied()
    }

    fn fresh(&mut self) -> RelationId {
        self.relations += 1;
        RelationId(self.relations - 1)
    }
}

/// Makes a list known by what the query that was said or heard shows.
fn know(lists: &mut Vec<Vec<Tree>>, phrase: &Tree, width: usize) -> u32 {
    lists.push(fields::fields(phrase, width));
    u32::try_from(lists.len() - 1).unwrap_or(u32::MAX)
}

/// Rules and what they stand for, read in both directions.
type Pairs<T> = [(T, Rule)];

fn rule_of<T: PartialEq>(pairs: &Pairs<T>, value: &T) -> Option<Rule> {
    pairs.iter().find(|(other, _)| other == value).map(|(_, rule)| *rule)
}

fn value_of<T: Clone>(pairs: &Pairs<T>, rule: Rule) -> Option<T> {
    pairs.iter().find(|(_, other)| *other == rule).map(|(value, _)| value.clone())
}

/// The parts of a phrase that is made by one rule.
fn parts<const N: usize>(slots: &[crate::engine::tree::Slot]) -> Option<[&Rc<Tree>; N]> {
    let parts: Vec<&Rc<Tree>> = slots.iter().filter_map(crate::engine::tree::Slot::one).collect();
    parts.try_into().ok()
}
