//! Whole questions.

use std::rc::Rc;

use sqlgauge_sql::derive::has_aggregate;
use sqlgauge_sql::tree::{Cte, CteId, Expr, From, Output, Query};

use super::reference::{ordinal, place_of};
use super::{Hear, Said, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::style::{QuestionStyle, Styles};
use crate::unsayable::Unsayable;
use sqlgauge_sql::canonical::named;

/// What is said besides the query.
pub(crate) struct Frame {
    /// A sentence, unless the question is a dialogue or has definitions: then an adjective.
    pub aside: bool,
    /// An adjective.
    pub modifier: bool,
}

impl Say<'_> {
    pub(crate) fn question(&mut self, query: &Query, frame: &Frame) -> Said {
        // What has short words needs no turns: "the singer that has the most concerts".
        self.has_turns &= !(self.care.is_terse() && has_short_words(query));
        let is_framed = !query.ctes.is_empty() || self.has_turns;
        let aside = if frame.aside && !is_framed { self.aside(query)? } else { None };
        self.modifier = frame.modifier || frame.aside && aside.is_none();
        let mut definitions = Vec::new();
        for cte in &query.ctes {
            let is_only = query.ctes.len() == 1 && self.care.is_terse();
            definitions.push(self.definition(cte, is_only)?);
        }
        let inner = self.query(query)?;
        if definitions.is_empty() && self.has_turns {
            return Ok(self.share(&inner).unwrap_or_else(|| dialogue(inner)));
        }
        let sentence = self.sentence(inner);
        Ok(if !definitions.is_empty() {
            Tree::Node(Rule::WithDefinitions, vec![definitions.into(), sentence.into()])
        } else if let Some(aside) = aside {
            Tree::of(Rule::WithAside, [aside, sentence])
        } else {
            sentence
        })
    }

    fn definition(&mut self, cte: &Cte, is_only: bool) -> Said {
        let phrase = self.query(&cte.query)?;
        let list_number = super::know(&mut self.list_fields, &phrase, cte.query.width());
        let list = Tree::of(Rule::Bracketed, [phrase]);
        let number = ordinal(self.lists.len()).ok_or(Unsayable::construct("more than ten CTEs"))?;
        if cte.id != CteId(u32::try_from(self.lists.len()).unwrap_or(u32::MAX)) {
            return Err(Unsayable::construct("WITH inside a subquery"));
        }
        self.lists.push(list_number);
        if is_only {
            return Ok(Tree::of(Rule::OnlyDefinition, [list]));
        }
        Ok(Tree::of(Rule::Definition, [number, list]))
    }

    fn sentence(&mut self, inner: Tree) -> Tree {
        if let Some(share) = self.share(&inner) {
            return share;
        }
        if let Some(how_many) = self.how_many(&inner) {
            return how_many;
        }
        let inner = match self.each_first(inner) {
            Ok(sentence) => return sentence,
            Err(inner) => {
                let by_keys = super::short::by_keys(&inner);
                let is_theirs = matches!(inner.node(), Some((Rule::EachOfTheir, _)));
                by_keys.filter(|_| is_theirs || self.random.chance(BY_KEYS)).unwrap_or(inner)
            }
        };
        let opening = if self.style == QuestionStyle::Interrogative && shows_one_thing(&inner) {
            Rule::OpeningOne
        } else if is_plain(&inner) || !self.lists.is_empty() || self.style == QuestionStyle::MultiTurn {
            Rule::OpeningPlain
        } else {
            Rule::Opening
        };
        let opening = Tree::word(opening);
        let Tree::Node(rule @ (Rule::Select | Rule::SelectFor), mut slots) = inner else {
            return Tree::of(Rule::Ask, [opening, inner]);
        };
        // "Whose age is above the overall average for each singer" would be the average of each.
        let is_filtered = slots[FILTER] != Slot::None;
        let share = if is_filtered { 100 } else { self.style.meta().groups_first };
        let groups_first = (is_filtered || slots[HAVING] == Slot::None) && self.random.chance(share);
        let group = match &slots[GROUP] {
            Slot::One(group) if groups_first && shows_keys(&slots[1], group) => Rc::clone(group),
            _ => return Tree::of(Rule::Ask, [opening, Tree::Node(rule, slots)]),
        };
        slots[GROUP] = Slot::None;
        let core = Tree::Node(rule, slots);
        let opening = match opening {
            Tree::Node(Rule::Opening, _) => Tree::word(Rule::OpeningPlain),
            opening => opening,
        };
        Tree::Node(Rule::AskGroups, vec![opening.into(), core.into(), Slot::One(group)])
    }

    /// What is asked of each group, with the groups first; else the query as it was.
    fn each_first(&mut self, inner: Tree) -> Result<Tree, Tree> {
        if super::short::by_their_keys(&inner).is_some() {
            return Err(inner);
        }
        if let Tree::Node(Rule::EachOfTheir, slots) = inner {
            return self.each_of_first(slots);
        }
        let Tree::Node(rule @ (Rule::EachOfIts | Rule::EachFor), slots) = inner else { return Err(inner) };
        let [keys, rest, source, filter, having, tail] = slots.as_slice() else {
            return Err(Tree::Node(rule, slots));
        };
        let is_what = self.style == QuestionStyle::Interrogative;
        let share = if *filter == Slot::None { self.style.meta().groups_first } else { FILTERED_FIRST };
        if *having != Slot::None || !is_what && !self.random.chance(share) {
            return Err(Tree::Node(rule, slots));
        }
        let is_one = is_what && rest.all().len() == 1;
        let opening = Tree::word(if is_one { Rule::OpeningOne } else { Rule::OpeningPlain });
        let each = if rule == Rule::EachOfIts { Rule::AskEach } else { Rule::AskEachFor };
        let clauses = [rest, source, filter, having, tail].map(Clone::clone);
        let slots = [keys.clone(), opening.into()].into_iter().chain(clauses);
        Ok(Tree::Node(each, slots.collect()))
    }

    /// The same of groups of rows that others refer to.
    fn each_of_first(&mut self, slots: Vec<Slot>) -> Result<Tree, Tree> {
        let is_what = self.style == QuestionStyle::Interrogative;
        let [keys, rest, mine, partner, having, tail] = slots.as_slice() else {
            return Err(Tree::Node(Rule::EachOfTheir, slots));
        };
        if !is_what && !self.random.chance(self.style.meta().groups_first) {
            return Err(Tree::Node(Rule::EachOfTheir, slots));
        }
        let is_one = is_what && rest.all().len() == 1;
        let opening = Tree::word(if is_one { Rule::OpeningOne } else { Rule::OpeningPlain });
        let parts = [keys, partner, &opening.into(), rest, mine, having, tail].map(Clone::clone);
        Ok(Tree::Node(Rule::AskEachOfTheir, parts.into()))
    }

    /// The number of rows or of different values of a table, asked for as a question.
    fn how_many(&mut self, inner: &Tree) -> Option<Tree> {
        let (Rule::Select | Rule::SelectFor, slots) = inner.node()? else { return None };
        let [Slot::None, outputs, source, filter, Slot::None, Slot::None, Slot::None] = slots else {
            return None;
        };
        if !super::short::is_table(source) {
            return None;
        }
        let (Rule::Outputs, [outputs]) = outputs.one()?.node()? else { return None };
        let [output] = outputs.all() else { return None };
        if !self.care.is_terse() || !COUNTING.has(self.style) || !self.random.chance(HOW_MANY) {
            return None;
        }
        let clauses = [source.clone(), filter.clone()];
        match output.node()? {
            (Rule::Number, _) => Some(Tree::Node(Rule::HowMany, clauses.into())),
            // The verb stands at the end.
            (Rule::CountDistinct, [counted]) if *filter == Slot::None => {
                let parts = std::iter::once(counted.clone()).chain(clauses);
                Some(Tree::Node(Rule::HowManyDifferent, parts.collect()))
            }
            _ => None,
        }
    }
}

/// Whether rows of several tables are asked for, or a share of them.
fn has_short_words(query: &Query) -> bool {
    query.as_select().is_some_and(|select| {
        let is_share =
            |output: &Output| matches!(output.expr, Expr::Binary(..)) && has_aggregate(&output.expr);
        query.limit.is_some()
            || matches!(select.from, Some(From::Join(_)))
            || select.outputs.iter().any(is_share)
    })
}

/// Whether what is asked for begins with "each", or is computed: not every opening fits these.
fn is_plain(inner: &Tree) -> bool {
    let is_computed =
        |output: &Rc<Tree>| output.node().is_some_and(|(rule, _)| super::call::is_over_rows(rule));
    let outputs = match inner.node() {
        Some((Rule::EachOfIts | Rule::EachFor | Rule::EachOfTheir | Rule::ByKeys | Rule::ByTheirKeys, _)) => {
            return true;
        }
        Some((Rule::Select | Rule::SelectFor, [_, outputs, ..])) => outputs,
        _ => return false,
    };
    let first = match outputs.one().and_then(|outputs| outputs.node()) {
        Some((Rule::Outputs, [list])) => list.all().first(),
        _ => None,
    };
    inner.shows_number() || first.is_some_and(is_computed)
}

/// Whether the keys of groups are among what is shown, or one group alone is wanted.
fn shows_keys(outputs: &Slot, group: &Tree) -> bool {
    let columns = match outputs.one().and_then(|outputs| outputs.node()) {
        Some((Rule::Outputs, [outputs])) => outputs.all(),
        _ => &[],
    };
    match group.node() {
        Some((Rule::ForEach, [keys])) => keys.all().iter().all(|key| columns.contains(key)),
        _ => true,
    }
}

/// Of 100 groupings of rows with conditions, how many are said first.
const FILTERED_FIRST: u8 = 60;

/// Of 100 groupings that are not said first, how many are said by their keys at the end.
const BY_KEYS: u8 = 85;

/// The styles that ask "how many", and in how many of 100 cases.
const COUNTING: Styles = Styles::FORMAL
    .and(Styles::COLLOQUIAL)
    .and(Styles::INTERROGATIVE)
    .and(Styles::CONVERSATIONAL)
    .and(Styles::VAGUE);
const HOW_MANY: u8 = 80;

/// Whether one thing is asked for, named in the singular.
fn shows_one_thing(query: &Tree) -> bool {
    let outputs = match query.node() {
        Some(
            (Rule::Select | Rule::SelectFor, [_, outputs, ..])
            | (Rule::SelectTop | Rule::SelectTopAmong | Rule::RowsDegree | Rule::RowsTop, [outputs, ..]),
        ) => outputs,
        Some((Rule::ByKeys | Rule::ByTheirKeys, [rest, ..])) => return rest.all().len() == 1,
        Some((Rule::KeysDegree | Rule::KeysTop | Rule::KeysTopFor | Rule::EachRow, [keys, ..])) => {
            return keys.all().len() == 1;
        }
        _ => return false,
    };
    let Some((Rule::Outputs, [outputs])) = outputs.one().and_then(|outputs| outputs.node()) else {
        return false;
    };
    let [output] = outputs.all() else { return false };
    let name = output.node().and_then(|(_, slots)| slots.first()?.one());
    !matches!(name.map(|name| &**name), Some(Tree::Name(_, true)))
}

/// Where the clauses stand among the parts of [`Rule::Select`].
pub(super) const FILTER: usize = 3;
pub(super) const GROUP: usize = 4;
pub(super) const HAVING: usize = 5;
pub(super) const TAIL: usize = 6;

/// The clauses that may have a turn of their own.
const TURNS: [(usize, Rule); 4] = [
    (FILTER, Rule::TurnFilter),
    (GROUP, Rule::TurnGroup),
    (HAVING, Rule::TurnHaving),
    (TAIL, Rule::TurnTail),
];

/// A dialogue: each clause in a turn of its own.
fn dialogue(inner: Tree) -> Tree {
    // "Show only those" asks for rows, and not for their number.
    let is_number = is_plain(&inner);
    let opening = Tree::word(if is_plain(&inner) { Rule::OpeningPlain } else { Rule::Opening });
    let Tree::Node(rule @ (Rule::Select | Rule::SelectFor), mut slots) = inner else {
        return Tree::of(Rule::Ask, [opening, inner]);
    };
    if is_number {
        return Tree::of(Rule::Ask, [Tree::word(Rule::OpeningPlain), Tree::Node(rule, slots)]);
    }
    let mut turns = Vec::new();
    for (place, rule) in TURNS {
        if let Slot::One(clause) = std::mem::replace(&mut slots[place], Slot::None) {
            turns.push(Rc::new(Tree::Node(rule, vec![Slot::One(clause)])));
        }
    }
    // A question of one turn does not begin with "first".
    let opening = if turns.is_empty() { Tree::word(Rule::OpeningPlain) } else { opening };
    let first = Tree::of(Rule::Ask, [opening, Tree::Node(rule, slots)]);
    if turns.is_empty() { first } else { Tree::Node(Rule::Dialogue, vec![first.into(), Slot::Many(turns)]) }
}

impl Hear<'_> {
    /// The query that a question asks for.
    pub(crate) fn question(&mut self, tree: &Tree) -> Option<Query> {
        let (rule, slots) = tree.node()?;
        match (rule, slots) {
            (Rule::WithAside, [_, sentence]) => self.question(sentence.one()?),
            (Rule::WithDefinitions, [definitions, sentence]) => {
                let ctes: Option<Vec<Cte>> =
                    definitions.all().iter().map(|tree| self.definition(tree)).collect();
                let ctes = ctes?;
                let mut query = self.question(sentence.one()?)?;
                query.ctes = ctes;
                Some(query)
            }
            (Rule::Ask, [_, query]) => self.query(query.one()?),
            (Rule::HowMany, [source, filter]) => self.counted_in(Tree::word(Rule::Number), source, filter),
            (Rule::HowManyDifferent, [counted, source, filter]) => {
                self.counted_in(Tree::Node(Rule::CountDistinct, vec![counted.clone()]), source, filter)
            }
            (
                Rule::PercentOf
                | Rule::PercentIs
                | Rule::EachPercent
                | Rule::HowManyMore
                | Rule::HowManyMoreOf,
                _,
            ) => self.share(rule, slots),
            (Rule::AskEach | Rule::AskEachFor, [keys, _, rest, clauses @ ..]) => {
                // What is asked of each group is not what it is called by.
                if rest.all().iter().any(|part| keys.all().contains(part)) {
                    return None;
                }
                let slots: Vec<Slot> = [keys, rest].into_iter().chain(clauses).cloned().collect();
                self.short(Rule::EachFor, &slots)
            }
            (Rule::AskEachOfTheir, [keys, partner, _, rest, mine, having, tail]) => {
                let slots = [keys, rest, mine, partner, having, tail].map(Clone::clone);
                self.short(Rule::EachOfTheir, &slots)
            }
            (Rule::AskGroups, [_, core, group]) => {
                let (_, slots) = core.one()?.node()?;
                let mut slots = slots.to_vec();
                // "For each country, what is the number": the country is shown (`Rule::AskEach`).
                if !shows_keys(slots.get(1)?, group.one()?) {
                    return None;
                }
                add(&mut slots, GROUP, group.one()?)?;
                self.query(&Tree::Node(Rule::Select, slots))
            }
            (Rule::Dialogue, [first, turns]) => {
                let (_, first) = first.one()?.node()?;
                let (Rule::Select | Rule::SelectFor, slots) = first.get(1)?.one()?.node()? else {
                    return None;
                };
                let mut slots = slots.to_vec();
                for turn in turns.all() {
                    let (rule, clause) = turn.node()?;
                    let (place, _) = TURNS.into_iter().find(|(_, turn)| *turn == rule)?;
                    add(&mut slots, place, clause.first()?.one()?)?;
                }
                self.query(&Tree::Node(Rule::Select, slots))
            }
            _ => None,
        }
    }

    pub(super) fn counted_in(&mut self, output: Tree, source: &Slot, filter: &Slot) -> Option<Query> {
        let outputs = Tree::Node(Rule::Outputs, vec![vec![output].into()]);
        let none = || Slot::None;
        let slots = vec![none(), outputs.into(), source.clone(), filter.clone(), none(), none(), none()];
        self.query(&Tree::Node(Rule::Select, slots))
    }

    fn definition(&mut self, tree: &Tree) -> Option<Cte> {
        let list = match tree.node()? {
            (Rule::Definition, [number, list]) if place_of(number.one()?)? == self.lists.len() => list,
            (Rule::OnlyDefinition, [list]) if self.lists.is_empty() => list,
            _ => return None,
        };
        let (Rule::Bracketed, [list]) = list.one()?.node()? else { return None };
        let query = self.query(list.one()?)?;
        let id = CteId(u32::try_from(self.lists.len()).ok()?);
        let list_number = super::know(&mut self.list_fields, list.one()?, query.width());
        self.lists.push(list_number);
        let columns = (0..query.width()).map(|place| format!("c{place}")).collect();
        Some(Cte { id, name: named(id), columns, materialized: None, query })
    }
}

/// Puts a clause where there is none.
fn add(slots: &mut [Slot], place: usize, clause: &Rc<Tree>) -> Option<()> {
    let slot = slots.get_mut(place)?;
    matches!(slot, Slot::None).then(|| *slot = Slot::One(Rc::clone(clause)))
}
