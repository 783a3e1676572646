//! References: how a column is told from others of its name.

use sqlgauge_sql::tree::{ColumnRef, Expr, Place, RelationId};

use super::{Care, Hear, Reads, Said, Say, Scope};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::names::NameId;
use crate::style::QuestionStyle;
use crate::unsayable::Unsayable;

/// The ordinals in their order.
const ORDINALS: [Rule; 10] = [
    Rule::First,
    Rule::Second,
    Rule::Third,
    Rule::Fourth,
    Rule::Fifth,
    Rule::Sixth,
    Rule::Seventh,
    Rule::Eighth,
    Rule::Ninth,
    Rule::Tenth,
];

/// The ordinal of a place, counted from 0.
pub(super) fn ordinal(place: usize) -> Option<Tree> {
    ORDINALS.get(place).map(|&rule| Tree::word(rule))
}

/// The place that an ordinal tells.
pub(super) fn place_of(tree: &Tree) -> Option<usize> {
    let (rule, _) = tree.node()?;
    ORDINALS.iter().position(|&ordinal| ordinal == rule)
}

/// A phrase in which the columns of a table stand without it.
pub(super) fn stripped(tree: &Tree, noun: &Tree) -> Tree {
    let is_it = |reference: &Tree| matches!(reference.node(), Some((Rule::TheOne, [slot])) if slot.one().is_some_and(|other| **other == *noun));
    match tree.node() {
        Some((Rule::ColumnOf, [name, reference]))
            if reference.one().is_some_and(|noun_phrase| is_it(noun_phrase)) =>
        {
            Tree::Node(Rule::Column, vec![name.clone()])
        }
        _ => mapped(tree, |part| stripped(part, noun)),
    }
}

/// A phrase in which the columns that stand without a table have one.
pub(super) fn told_apart(tree: &Tree, noun: &Tree) -> Tree {
    match tree.node() {
        Some((Rule::Column, [name])) => {
            let reference = Tree::of(Rule::TheOne, [noun.clone()]);
            Tree::Node(Rule::ColumnOf, vec![name.clone(), reference.into()])
        }
        _ => mapped(tree, |part| told_apart(part, noun)),
    }
}

/// A phrase of which what is computed over rows is turned into something else.
pub(super) fn in_aggregates(tree: &Tree, turn: &impl Fn(&Tree) -> Tree) -> Tree {
    match tree.node() {
        Some((rule, _)) if super::call::is_over_rows(rule) => turn(tree),
        _ => mapped(tree, |part| in_aggregates(part, turn)),
    }
}

/// A phrase whose parts are turned into others.
fn mapped(tree: &Tree, turn: impl Fn(&Tree) -> Tree) -> Tree {
    let Tree::Node(rule, slots) = tree else { return tree.clone() };
    let slots = slots.iter().map(|slot| match slot {
        Slot::One(part) => turn(part).into(),
        Slot::Many(parts) => parts.iter().map(|part| turn(part)).collect::<Vec<_>>().into(),
        Slot::None => Slot::None,
    });
    Tree::Node(*rule, slots.collect())
}

const FAR: Unsayable = Unsayable::construct("a column or relation after the tenth of its kind");

impl Scope {
    /// Which of the relations that read the same it is, and how many there are.
    fn rank(&self, relation: RelationId) -> Option<(usize, usize)> {
        let &(_, reads) = self.relations.iter().find(|(id, _)| *id == relation)?;
        let alike: Vec<_> = self.relations.iter().filter(|(_, other)| is_alike(*other, reads)).collect();
        let place = alike.iter().position(|(id, _)| *id == relation)?;
        Some((place, alike.len()))
    }
}

/// Whether two relations are called alike.
fn is_alike(left: Reads, right: Reads) -> bool {
    match (left, right) {
        (Reads::List(_), Reads::List(_)) => true,
        _ => left == right,
    }
}

impl Say<'_> {
    /// A column by its name, and its table where that is needed.
    pub(super) fn column(&mut self, column: ColumnRef) -> Said {
        let depth = self
            .scopes
            .iter()
            .rposition(|scope| scope.relations.iter().any(|(id, _)| *id == column.relation));
        let depth = depth.ok_or(Unsayable::OtherSchema { what: "the relation of a column" })?;
        let is_inner = depth + 1 == self.scopes.len();
        let reads = self.reads(depth, column.relation);
        let needs = !is_inner || !self.goes_without(depth, column, reads);
        let reference = if needs { Some(self.reference(depth, column.relation)?) } else { None };
        let (bare, with, name) = match (column.column, reads) {
            (Place::Rowid, _) => (Rule::RowId, Rule::RowIdOf, None),
            (Place::At(at), Some(Reads::List(list))) => {
                if let Some(named) = self.field(list, at).filter(|_| is_inner) {
                    return Ok(named);
                }
                if let (Some(name), Some(reference)) = (self.field_name(list, at), &reference) {
                    return Ok(Tree::of(Rule::ColumnOf, [name, reference.clone()]));
                }
                (Rule::Field, Rule::FieldOf, Some(ordinal(at as usize).ok_or(FAR)?))
            }
            (Place::At(at), Some(Reads::Table(table))) => {
                (Rule::Column, Rule::ColumnOf, Some(self.name(table, at)?))
            }
            (Place::At(_), None) => return Err(Unsayable::OtherSchema { what: "the relation of a column" }),
        };
        let rule = if reference.is_some() { with } else { bare };
        let parts = name.into_iter().chain(reference);
        Ok(Tree::Node(rule, parts.map(Into::into).collect()))
    }

    /// The table and place of a column that is one of a table.
    pub(super) fn spot(&self, column: ColumnRef) -> Option<(u32, u32)> {
        let Place::At(at) = column.column else { return None };
        let mut all = self.scopes.iter().rev().flat_map(|scope| &scope.relations);
        let (_, reads) = all.find(|(id, _)| *id == column.relation)?;
        Some((reads.table()?, at))
    }

    pub(super) fn reads(&self, depth: usize, relation: RelationId) -> Option<Reads> {
        let relation_here = self.scopes[depth].relations.iter().find(|(id, _)| *id == relation);
        relation_here.map(|(_, reads)| *reads)
    }

    pub(super) fn name(&self, table: u32, column: u32) -> Said {
        let column_here = self.schema.tables().get(table as usize).and_then(|table| table.column(column));
        let column_here = column_here.ok_or(Unsayable::OtherSchema { what: "a column" })?;
        let name = self.vocabulary.name((table, column), &column_here.name, self.care == Care::Spelled);
        name.map(|name| Tree::Name(name, false)).ok_or(Unsayable::OtherSchema { what: "a column" })
    }

    pub(super) fn noun(&self, table: u32, many: bool) -> Said {
        let table_here =
            self.schema.tables().get(table as usize).ok_or(Unsayable::OtherSchema { what: "a table" })?;
        let noun = self.vocabulary.noun(&table_here.name, self.care == Care::Spelled);
        noun.map(|noun| Tree::Noun(noun, many)).ok_or(Unsayable::OtherSchema { what: "a table" })
    }

    /// Whether a column of the query at hand is said without its table.
    fn goes_without(&self, depth: usize, column: ColumnRef, reads: Option<Reads>) -> bool {
        let scope = &self.scopes[depth];
        if scope.relations.len() == 1 {
            return true;
        }
        if self.style.meta().leaves_tables_out && self.care.leaves_out() {
            return true;
        }
        let (Place::At(at), Some(Reads::Table(table))) = (column.column, reads) else { return false };
        let brief = self.care.is_terse()
            || matches!(self.style, QuestionStyle::Concise | QuestionStyle::Colloquial)
                && self.care.leaves_out();
        // Behind three tables "the name" is that of the last one to some readers, and in an outer join that of the first.
        let is_first = scope.relations.first().is_some_and(|(first, _)| *first == column.relation);
        if scope.order.len() > 2 || scope.has_outer && !is_first {
            return false;
        }
        let Ok(Tree::Name(name, _)) = self.name(table, at) else { return false };
        // So is a name that is short because its table says the rest.
        if !is_first && self.vocabulary.is_short((table, at)) {
            return false;
        }
        brief && self.is_of_one(scope, name)
    }

    /// Whether a name is that of a column of one relation alone, apart from what a join makes the same.
    fn is_of_one(&self, scope: &Scope, name: NameId) -> bool {
        let columns = self.vocabulary.columns(name);
        let is_free = |id: RelationId, at: u32| !scope.same.contains(&ColumnRef::at(id, at));
        let holders = scope.relations.iter().filter(|&&(id, reads)| {
            columns.iter().any(|&(of, at)| reads == Reads::Table(of) && is_free(id, at))
        });
        holders.count() == 1
    }

    /// A phrase whose columns stand without their tables, if it can be told whose they are.
    pub(super) fn without_table(&self, tree: &Tree) -> Option<Tree> {
        match tree.node() {
            Some((Rule::ColumnOf, [name, _])) => match name.one().map(|name| &**name) {
                Some(Tree::Name(id, _)) if self.is_of_one(self.scopes.last()?, *id) => {
                    Some(Tree::Node(Rule::Column, vec![name.clone()]))
                }
                _ => None,
            },
            _ => Some(tree.clone()),
        }
    }

    /// A relation, as one says it after "of".
    pub(super) fn reference(&mut self, depth: usize, relation: RelationId) -> Said {
        let missing = Unsayable::OtherSchema { what: "the relation of a column" };
        let (place, of) = self.scopes[depth].rank(relation).ok_or(missing.clone())?;
        let number = if of > 1 { Some(ordinal(place).ok_or(FAR)?) } else { None };
        let reads = self.reads(depth, relation).ok_or(missing)?;
        // How many queries between have a relation that is called the same.
        let between = self.scopes.get(depth + 1..self.scopes.len() - 1).unwrap_or_default();
        let needed = number.as_ref().map_or(1, |_| place + 1);
        let called =
            |scope: &&Scope| scope.relations.iter().filter(|(_, other)| is_alike(*other, reads)).count();
        let nearer = between.iter().filter(|scope| called(scope) >= needed).count();
        let is_that = depth + 1 < self.scopes.len() && nearer == 0;
        let (rule, noun) = match (reads, is_that, of > 1) {
            (Reads::Table(table), false, false) => (Rule::TheOne, Some(self.noun(table, false)?)),
            (Reads::Table(table), false, true) => (Rule::TheNth, Some(self.noun(table, false)?)),
            (Reads::Table(table), true, false) => (Rule::ThatOne, Some(self.noun(table, false)?)),
            (Reads::Table(table), true, true) => (Rule::ThatNth, Some(self.noun(table, false)?)),
            (Reads::List(_), false, false) => (Rule::TheList, None),
            (Reads::List(_), false, true) => (Rule::TheNthList, None),
            (Reads::List(_), true, false) => (Rule::ThatList, None),
            (Reads::List(_), true, true) => (Rule::ThatNthList, None),
        };
        let named = Tree::Node(rule, number.into_iter().chain(noun).map(Into::into).collect());
        Ok((0..nearer).fold(named, |named, _| Tree::of(Rule::Outer, [named])))
    }
}

impl Hear<'_> {
    pub(super) fn column(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        let column = match (rule, slots) {
            (Rule::Column, [name]) => self.named(name.one()?, None)?,
            (Rule::ColumnOf, [name, reference]) => {
                let relations = self.relations_of(reference.one()?)?;
                self.named(name.one()?, Some(relations))?
            }
            (Rule::Field, [number]) => self.field(number.one()?, None)?,
            (Rule::FieldOf, [number, reference]) => {
                let relations = self.relations_of(reference.one()?)?;
                self.field(number.one()?, Some(relations))?
            }
            (Rule::RowId, []) => {
                let relations = self.scopes.last()?.relations.clone();
                let (relation, _) = self.choose(&relations)?;
                ColumnRef::rowid(relation)
            }
            (Rule::RowIdOf, [reference]) => {
                let relations = self.relations_of(reference.one()?)?;
                let (relation, _) = self.choose(&relations)?;
                ColumnRef::rowid(relation)
            }
            _ => return None,
        };
        Some(Expr::Column(column))
    }

    fn named(&mut self, name: &Tree, of: Option<Vec<(RelationId, Reads)>>) -> Option<ColumnRef> {
        let Tree::Name(name, _) = name else { return None };
        let spots = self.vocabulary.columns(*name);
        let candidates = |relations: &[(RelationId, Reads)]| -> Vec<ColumnRef> {
            let of_table = |&(relation, reads): &(RelationId, Reads)| {
                let spots_here = spots.iter().filter(move |(table, _)| reads == Reads::Table(*table));
                spots_here.map(move |&(_, at)| ColumnRef::at(relation, at))
            };
            let mut columns: Vec<ColumnRef> = relations.iter().flat_map(of_table).collect();
            columns.extend(self.fields_named(relations, &Tree::Name(*name, false)));
            columns
        };
        let columns = match of {
            Some(relations) => candidates(&relations),
            None => self.innermost(candidates),
        };
        self.choose(&columns)
    }

    fn field(&mut self, number: &Tree, of: Option<Vec<(RelationId, Reads)>>) -> Option<ColumnRef> {
        let at = place_of(number)?;
        let candidates = |relations: &[(RelationId, Reads)]| -> Vec<ColumnRef> {
            let wide = |&(relation, reads): &(RelationId, Reads)| match reads {
                Reads::List(list) if at < self.list_fields.get(list as usize)?.len() => {
                    Some(ColumnRef::at(relation, u32::try_from(at).ok()?))
                }
                _ => None,
            };
            relations.iter().filter_map(wide).collect()
        };
        let columns = match of {
            Some(relations) => candidates(&relations),
            None => self.innermost(candidates),
        };
        self.choose(&columns)
    }

    /// The candidates of the innermost query that has any.
    fn innermost<T>(&self, candidates: impl Fn(&[(RelationId, Reads)]) -> Vec<T>) -> Vec<T> {
        let lists = self.scopes.iter().rev().map(|scope| candidates(&scope.relations));
        lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
    }

    /// The relations that a reference may mean.
    pub(super) fn relations_of(&self, tree: &Tree) -> Option<Vec<(RelationId, Reads)>> {
        let (mut rule, mut slots) = tree.node()?;
        let mut nearer = 0;
        while let (Rule::Outer, [inner]) = (rule, slots) {
            (rule, slots) = inner.one()?.node()?;
            nearer += 1;
        }
        let is_inner = matches!(rule, Rule::TheOne | Rule::TheNth | Rule::TheList | Rule::TheNthList);
        let (number, noun) = match (rule, slots) {
            (Rule::TheOne | Rule::ThatOne, [noun]) => (None, Some(noun.one()?)),
            (Rule::TheNth | Rule::ThatNth, [number, noun]) => {
                (Some(place_of(number.one()?)?), Some(noun.one()?))
            }
            (Rule::TheList | Rule::ThatList, []) => (None, None),
            (Rule::TheNthList | Rule::ThatNthList, [number]) => (Some(place_of(number.one()?)?), None),
            _ => return None,
        };
        let is_called = |reads: Reads| match (noun.map(|noun| &**noun), reads) {
            (Some(Tree::Noun(noun, _)), Reads::Table(table)) => {
                self.vocabulary.tables(*noun).contains(&table)
            }
            (None, Reads::List(_)) => true,
            _ => false,
        };
        let in_scope = |scope: &Scope| -> Vec<(RelationId, Reads)> {
            let relations_here: Vec<_> =
                scope.relations.iter().filter(|(_, reads)| is_called(*reads)).copied().collect();
            match number {
                None => relations_here,
                Some(place) => relations_here.get(place).copied().into_iter().collect(),
            }
        };
        let (last, outer) = self.scopes.split_last()?;
        if is_inner && nearer == 0 {
            return Some(in_scope(last));
        }
        if is_inner == (nearer == 0) {
            return None;
        }
        outer.iter().rev().map(in_scope).filter(|list| !list.is_empty()).nth(nearer)
    }
}
