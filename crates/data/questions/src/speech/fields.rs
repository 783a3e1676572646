//! What the columns of a subquery or CTE are called: by what it shows.
//!
//! A column that shows a column has its name, one that shows an aggregate is said as the aggregate is ("the average age"),
//! a number of rows is "the count", and "the counts" where the list has several. Of what has no name, a single one is "the
//! computed value"; others are said by their places.

use std::rc::Rc;

use sqlgauge_sql::tree::{ColumnRef, RelationId};

use super::{Hear, Reads, Say, Scope};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;

/// What aggregates are called by.
const NAMED: [Rule; 9] = [
    Rule::Average,
    Rule::AverageDistinct,
    Rule::Total,
    Rule::TotalDistinct,
    Rule::Maximum,
    Rule::MaximumDistinct,
    Rule::Minimum,
    Rule::MinimumDistinct,
    Rule::CountDistinct,
];

/// The phrases of what a query shows, without the tables and the numbers of nouns.
pub(super) fn fields(phrase: &Tree, width: usize) -> Vec<Tree> {
    let mut list = output_trees(phrase).unwrap_or_default();
    list.resize_with(width, || Tree::word(Rule::Everything));
    list
}

fn output_trees(phrase: &Tree) -> Option<Vec<Tree>> {
    let (rule, slots) = phrase.node()?;
    let lists: Vec<&Slot> = match rule {
        Rule::Bare | Rule::Bracketed | Rule::Compound | Rule::CompoundSorted => {
            return output_trees(slots.first()?.one()?);
        }
        Rule::Select | Rule::SelectFor | Rule::SelectValues | Rule::KeysDegreeFew => vec![slots.get(1)?],
        Rule::EachOfIts | Rule::EachFor => vec![slots.first()?, slots.get(1)?],
        Rule::SelectTop
        | Rule::SelectTopFew
        | Rule::SelectTopAmong
        | Rule::SelectTopFewAmong
        | Rule::KeysAmount
        | Rule::KeysAmountFor
        | Rule::KeysDegree
        | Rule::KeysTop
        | Rule::KeysTopFor => vec![slots.first()?],
        _ => return None,
    };
    let of_list = |slot: &Slot| match slot.one().map(|outputs| outputs.node()) {
        Some(Some((Rule::Outputs, [outputs]))) => outputs.all().to_vec(),
        Some(Some((Rule::Everything, _))) => Vec::new(),
        _ => slot.all().to_vec(),
    };
    Some(lists.into_iter().flat_map(of_list).map(|tree| bare(&tree)).collect())
}

/// A phrase without the tables of its columns and the numbers of its nouns.
fn bare(tree: &Tree) -> Tree {
    match tree {
        Tree::Name(name, _) => Tree::Name(*name, false),
        Tree::Node(Rule::ColumnOf, slots) => Tree::Node(Rule::Column, bare_slots(&slots[..1])),
        Tree::Node(Rule::CountRows | Rule::NumberOf | Rule::Number, _) => Tree::word(Rule::Number),
        Tree::Node(Rule::TheCounts, _) => Tree::word(Rule::TheCount),
        Tree::Node(rule, slots) => Tree::Node(*rule, bare_slots(slots)),
        other => other.clone(),
    }
}

fn bare_slots(slots: &[Slot]) -> Vec<Slot> {
    let of_slot = |slot: &Slot| match slot {
        Slot::One(part) => Slot::One(Rc::new(bare(part))),
        Slot::Many(parts) => Slot::Many(parts.iter().map(|part| Rc::new(bare(part))).collect()),
        Slot::None => Slot::None,
    };
    slots.iter().map(of_slot).collect()
}

/// The phrase by which a field is called, if it has one of its own.
fn name_of(field: &Tree) -> Option<Tree> {
    match field {
        Tree::Node(Rule::Column, _) => Some(field.clone()),
        Tree::Node(Rule::Number, _) => Some(Tree::word(Rule::TheCount)),
        Tree::Node(rule, slots) if NAMED.contains(rule) => {
            let of_column = slots.first()?.one()?;
            matches!(of_column.node()?, (Rule::Column, _)).then(|| field.clone())
        }
        _ => None,
    }
}

/// The phrase of a field, be it a name or not.
fn phrase_of(field: &Tree) -> Tree {
    name_of(field).unwrap_or_else(|| Tree::word(Rule::Computed))
}

/// The fields of the lists of a scope that are called so.
fn called(lists: &[Vec<Tree>], scope: &Scope, phrase: &Tree) -> Vec<ColumnRef> {
    let of_relation = |&(relation, reads): &(RelationId, Reads)| {
        let fields = match reads {
            Reads::List(list) => lists.get(list as usize).map_or(&[][..], Vec::as_slice),
            Reads::Table(_) => &[],
        };
        let matches = (0..).zip(fields).filter(|(_, field)| phrase_of(field) == *phrase);
        matches.map(move |(at, _)| ColumnRef::at(relation, at)).collect::<Vec<_>>()
    };
    scope.relations.iter().flat_map(of_relation).collect()
}

impl Say<'_> {
    /// A field of the query at hand by its name, if no other is called so.
    pub(super) fn field(&self, list: u32, at: u32) -> Option<Tree> {
        let scope = self.scopes.last()?;
        let phrase = phrase_of(self.list_fields.get(list as usize)?.get(at as usize)?);
        let is_one = called(&self.list_fields, scope, &phrase).len() == 1;
        (is_one && self.care.is_terse() && !self.is_in_table(scope, &phrase)).then_some(phrase)
    }

    /// The name of a field that is a plain column, if no other field of its list has it.
    pub(super) fn field_name(&self, list: u32, at: u32) -> Option<Tree> {
        let fields = self.list_fields.get(list as usize)?;
        let phrase = name_of(fields.get(at as usize)?)?;
        let is_one = fields.iter().filter(|field| **field == phrase).count() == 1;
        let (Rule::Column, [name]) = phrase.node()? else { return None };
        (is_one && self.care.is_terse()).then(|| name.one().map(|name| (**name).clone())).flatten()
    }

    /// Whether a table of the scope has a column of that name.
    fn is_in_table(&self, scope: &Scope, phrase: &Tree) -> bool {
        let Some((Rule::Column, [name])) = phrase.node() else { return false };
        let Some(Tree::Name(name, _)) = name.one().map(|name| &**name) else { return false };
        let columns = self.vocabulary.columns(*name);
        scope
            .relations
            .iter()
            .any(|(_, reads)| reads.table().is_some_and(|table| columns.iter().any(|(of, _)| *of == table)))
    }
}

impl Hear<'_> {
    /// The fields of a relation that are plain columns of a name.
    pub(super) fn fields_named(&self, relations: &[(RelationId, Reads)], name: &Tree) -> Vec<ColumnRef> {
        let phrase = Tree::of(Rule::Column, [bare(name)]);
        called(&self.list_fields, &Scope { relations: relations.to_vec(), ..Scope::default() }, &phrase)
    }

    /// The field of the query at hand that a phrase may mean, if it means one; several are choices, as is the phrase itself.
    pub(super) fn field_called(&mut self, tree: &Tree) -> Option<ColumnRef> {
        let (rule, _) = tree.node()?;
        let means_more = NAMED.contains(&rule);
        if !means_more && !matches!(rule, Rule::TheCount | Rule::TheCounts | Rule::Computed) {
            return None;
        }
        let columns = called(&self.list_fields, self.scopes.last()?, &bare(tree));
        if columns.is_empty() {
            return None;
        }
        let itself = means_more.then_some(None);
        let candidates: Vec<Option<ColumnRef>> = columns.into_iter().map(Some).chain(itself).collect();
        self.choose(&candidates).flatten()
    }
}
