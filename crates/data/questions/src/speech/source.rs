//! Relations and joins.

use std::rc::Rc;

use sqlgauge_names::{LinkVerb, link_verb, singular, spoken_words};
use sqlgauge_sql::tree::{CteId, Expr, From, Join, JoinKind, Relation, RelationId, RelationSource};

use super::reference::{ordinal, place_of};
use super::{Care, Hear, Reads, Said, Say, Scope};
use crate::engine::tree::Tree;
use crate::grammar::Rule;
use crate::names::Vocabulary;
use crate::style::QuestionStyle;
use crate::unsayable::Unsayable;
use sqlgauge_sql::canonical::{
    Key, column_of, columns_of, condition_of, conjuncts_of, keys_between, same_columns, table_of,
};

/// How the rows without a match are said to be kept.
const KINDS: &super::Pairs<JoinKind> = &[
    (JoinKind::Left, Rule::IfAny),
    (JoinKind::Right, Rule::RightJoined),
    (JoinKind::Full, Rule::FullJoined),
];

impl Say<'_> {
    /// A FROM clause; its relations are known from here on.
    pub(super) fn source(&mut self, from: &From) -> Said {
        let (first, joins) = left_deep(from).ok_or(Unsayable::construct("a join in brackets"))?;
        let (first_said, reads) = self.relation(first, true)?;
        let mut relations = Vec::new();
        let keeps_all =
            |(join, _): &(&Join, &Relation)| !matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
        let has_outer = joins.iter().any(keeps_all);
        let mut scope = Scope { relations: vec![(first.id, reads)], has_outer, ..Scope::default() };
        let tables = std::iter::once(first).chain(joins.iter().map(|(_, relation)| *relation));
        let tables: Vec<&Relation> = tables.collect();
        for (_, relation) in &joins {
            let is_parent = self.is_parent(&scope, relation);
            let (phrase, reads) = self.relation(relation, !is_parent)?;
            relations.push(phrase);
            scope.relations.push((relation.id, reads));
        }
        scope.same = same_columns(self.schema, from).into_iter().map(|(later, _)| later).collect();
        self.scopes.push(scope);
        if joins.is_empty() {
            return Ok(Tree::of(Rule::Alone, [first_said]));
        }
        let mut links = Vec::new();
        let mut order = vec![first.id];
        let mut place = 0;
        while place < joins.len() {
            if let Some(link) = self.through(&tables, &joins, place)? {
                links.push(link);
                order.push(joins[place + 1].1.id);
                place += 2;
                continue;
            }
            let join = joins[place].0;
            let link = self.link(&tables[..=place + 1], join, relations[place].clone())?;
            links.push(match join.kind {
                JoinKind::Inner | JoinKind::Cross => link,
                kind => {
                    let rule =
                        super::rule_of(KINDS, &kind).ok_or(Unsayable::construct("the kind of a join"))?;
                    Tree::of(rule, [link])
                }
            });
            order.push(joins[place].1.id);
            place += 1;
        }
        if let Some(scope) = self.scopes.last_mut().filter(|scope| !scope.has_outer) {
            scope.order = order;
        }
        Ok(Tree::Node(Rule::Linked, vec![first_said.into(), links.into()]))
    }

    fn relation(&mut self, relation: &Relation, many: bool) -> Said<(Tree, Reads)> {
        if relation.hint.is_some() {
            return Err(Unsayable::construct("INDEXED BY"));
        }
        Ok(match &relation.source {
            RelationSource::Table(id) => {
                self.schema.table(*id).ok_or(Unsayable::OtherSchema { what: "a table" })?;
                let table = u32::try_from(id.index()).unwrap_or(u32::MAX);
                let noun = self.noun(table, many)?;
                let noun = if std::mem::take(&mut self.modifier) {
                    Tree::of(Rule::ModifiedTable, [Tree::word(Rule::Modifier), noun])
                } else {
                    Tree::of(Rule::Table, [noun])
                };
                (noun, Reads::Table(table))
            }
            RelationSource::Derived(query) => {
                let phrase = self.query(query)?;
                let list = super::know(&mut self.list_fields, &phrase, query.width());
                (Tree::of(Rule::List, [phrase]), Reads::List(list))
            }
            RelationSource::Cte(CteId(number)) => {
                let list = self.lists.get(*number as usize).copied();
                let list = list.ok_or(Unsayable::construct("a recursive CTE"))?;
                if self.lists.len() == 1 && self.care.is_terse() {
                    return Ok((Tree::word(Rule::TheseRecords), Reads::List(list)));
                }
                let number = ordinal(*number as usize).ok_or(Unsayable::construct("more than ten CTEs"))?;
                (Tree::of(Rule::DefinedList, [number]), Reads::List(list))
            }
            RelationSource::Function { .. } => {
                return Err(Unsayable::construct("a table-valued function"));
            }
            RelationSource::Catalog => return Err(Unsayable::construct("sqlite_master")),
        })
    }

    /// Two joins by way of a table between as one: "students with their courses".
    fn through(
        &mut self,
        tables: &[&Relation],
        joins: &[(&Join, &Relation)],
        place: usize,
    ) -> Said<Option<Tree>> {
        let Some([(first, middle), (second, last)]) = joins.get(place..place + 2) else { return Ok(None) };
        let is_inner = |join: &Join| join.kind == JoinKind::Inner;
        // "The number of visits of visitors that visited museums" would be that of all their visits.
        if self.computes || !self.care.is_terse() || !is_inner(first) || !is_inner(second) {
            return Ok(None);
        }
        let (Some(to_middle), Some(to_last)) = (&first.on, &second.on) else { return Ok(None) };
        let (Some((anchor, _)), Some((between, _))) = (
            self.key_of(&tables[..=place], middle, to_middle),
            self.key_of(&tables[..place + 2], last, to_last),
        ) else {
            return Ok(None);
        };
        let (start, junction_table, end) = (table_at(tables[anchor]), table_at(middle), table_at(last));
        if between != place + 1 || junction(self.schema, start, end) != Some(junction_table) {
            return Ok(None);
        }
        let relation = Tree::of(Rule::Table, [self.noun(end, true)?]);
        if anchor == 0 {
            let verb = verb_between(self.schema, start, junction_table, end);
            // States "with contestants" are not those from which votes came for them.
            if verb.is_none() && !links_alone(self.schema, junction_table) {
                return Ok(None);
            }
            return Ok(Some(match verb {
                Some(verb) if verb.is_passive => Tree::of(Rule::DoneBy, [relation, Tree::Verb(verb)]),
                Some(verb) => Tree::of(Rule::Did, [relation, Tree::Verb(verb)]),
                None => Tree::of(Rule::Their, [relation]),
            }));
        }
        let reference = self.reference(self.scopes.len() - 1, tables[anchor].id)?;
        Ok(Some(Tree::of(Rule::Of, [relation, reference])))
    }

    /// Whether each row before has one of the relation's.
    fn is_parent(&self, scope: &Scope, relation: &Relation) -> bool {
        let Some(table_here) = table_of(relation) else { return false };
        let mut before = scope.relations.iter().filter_map(|(_, reads)| reads.table());
        before
            .any(|table| keys_between(self.schema, table, table_here).iter().any(|key| key.earlier_declares))
    }

    /// How a relation goes with those before it: it is the last of `relations`.
    fn link(&mut self, relations: &[&Relation], join: &Join, relation: Tree) -> Said {
        let Some(on) = &join.on else { return Ok(Tree::of(Rule::Every, [relation.in_number(true)])) };
        let Some((last, before)) = relations.split_last() else {
            return Err(Unsayable::construct("an empty FROM"));
        };
        if let Some((anchor, key)) = self.key_of(before, last, on) {
            let (earlier, later) = (table_at(before[anchor]), table_at(last));
            let marked = match said_by(self.schema, self.vocabulary, earlier, later) {
                Means::One => None,
                Means::ByColumn(keys) if keys.contains(&key) => Some(self.key_name(key)?),
                Means::ByColumn(_) => return self.joined_on(on, relation),
            };
            let depth = self.scopes.len() - 1;
            let reference = if anchor > 0 { Some(self.reference(depth, before[anchor].id)?) } else { None };
            let rule = match (&reference, &marked) {
                (None, None) => Rule::Their,
                (None, Some(_)) => Rule::TheirBy,
                (Some(_), None) => Rule::Of,
                (Some(_), Some(_)) => Rule::OfBy,
            };
            let parts = std::iter::once(relation).chain(reference).chain(marked);
            return Ok(Tree::Node(rule, parts.map(Into::into).collect()));
        }
        self.joined_on(on, relation)
    }

    fn joined_on(&mut self, on: &Expr, relation: Tree) -> Said {
        // That columns of two tables are equal says nothing without the tables.
        let style = std::mem::replace(&mut self.style, QuestionStyle::Formal);
        let care = self.care;
        self.care = care.max(Care::Plain);
        let on = self.condition(on);
        (self.style, self.care) = (style, care);
        Ok(Tree::of(Rule::JoinedOn, [relation.in_number(true), on?]))
    }

    /// The relation to which a join by a foreign key goes, and the key.
    fn key_of(&self, before: &[&Relation], last: &Relation, on: &Expr) -> Option<(usize, Key)> {
        let (earlier, _) = conjuncts_of(on.clone()).first().and_then(|first| match first {
            Expr::Binary(_, left, _) => column_of(left),
            _ => None,
        })?;
        let anchor = before.iter().position(|relation| relation.id == earlier)?;
        let tables = (table_at(before[anchor]), table_at(last));
        let keys = keys_between(self.schema, tables.0, tables.1);
        let key = keys
            .into_iter()
            .find(|&key| condition_of(self.schema, key, before[anchor].id, last.id).as_ref() == Some(on))?;
        Some((anchor, key))
    }

    /// The first column of a key in the table that declares it.
    fn key_name(&self, key: Key) -> Said {
        let columns = columns_of(self.schema, key);
        let &(left, right) = columns.first().ok_or(Unsayable::construct("a foreign key without columns"))?;
        self.name(key.table, if key.earlier_declares { left } else { right })
    }
}

/// The place of the table that a relation reads; none has that of a list.
fn table_at(relation: &Relation) -> u32 {
    table_of(relation).unwrap_or(u32::MAX)
}

/// The one table between two that have no foreign key to each other, if there is one: it has one to each.
fn junction(schema: &sqlgauge_sql::schema::Schema, start: u32, end: u32) -> Option<u32> {
    if start == end || !keys_between(schema, start, end).is_empty() {
        return None;
    }
    let refers = |table: u32, to: u32| {
        let keys = keys_between(schema, table, to);
        keys.len() == 1 && keys[0].earlier_declares
    };
    let all = (0..).take(schema.tables().len());
    let mut middles =
        all.filter(|&table| table != start && table != end && refers(table, start) && refers(table, end));
    middles.next().filter(|_| middles.next().is_none())
}

/// Whether a table has nothing but the keys of what it links.
fn links_alone(schema: &sqlgauge_sql::schema::Schema, table: u32) -> bool {
    let Some(table) = schema.tables().get(table as usize) else { return false };
    let keys = table.foreign_keys.iter().flat_map(|key| &key.columns).chain(&table.primary_key);
    let keys: std::collections::HashSet<u32> = keys.copied().collect();
    keys.len() == table.columns.len()
}

/// What the rows of a table do to those of another, by the table between.
fn verb_between(
    schema: &sqlgauge_sql::schema::Schema,
    start: u32,
    middle: u32,
    end: u32,
) -> Option<LinkVerb> {
    // A table that links a third one says what is done to one of the two only.
    let links_two = schema.tables().get(middle as usize).is_some_and(|table| table.foreign_keys.len() == 2);
    let words = |table: u32| {
        let words = spoken_words(&schema.tables().get(table as usize)?.name);
        let one = |word: String| singular(&word).into_owned();
        Some((words.clone(), words.into_iter().map(one).collect::<Vec<_>>()))
    };
    link_verb(&words(start)?.1, &words(middle)?.0, &words(end)?.1).filter(|_| links_two)
}

/// How the keys between two tables are told apart.
enum Means {
    One,
    /// By the name of the declaring column: these have one of their own.
    ByColumn(Vec<Key>),
}

fn said_by(
    schema: &sqlgauge_sql::schema::Schema,
    vocabulary: &Vocabulary,
    earlier: u32,
    later: u32,
) -> Means {
    let keys = keys_between(schema, earlier, later);
    if keys.len() == 1 {
        return Means::One;
    }
    let name = |key: Key| {
        let &(left, right) = columns_of(schema, key).first()?;
        let at = if key.earlier_declares { left } else { right };
        vocabulary.name((key.table, at), &schema.tables().get(key.table as usize)?.column(at)?.name, false)
    };
    let names: Vec<_> = keys.iter().map(|&key| name(key)).collect();
    let unique =
        keys.iter().zip(&names).filter(|(_, name)| names.iter().filter(|other| other == name).count() == 1);
    Means::ByColumn(unique.map(|(key, _)| *key).collect())
}

/// The first relation, and the joins one after the other with what each adds.
fn left_deep(from: &From) -> Option<(&Relation, Vec<(&Join, &Relation)>)> {
    let mut joins = Vec::new();
    let mut from = from;
    loop {
        match from {
            From::Relation(relation) => {
                joins.reverse();
                return Some((relation, joins));
            }
            From::Join(join) => {
                let From::Relation(right) = &join.right else { return None };
                joins.push((&**join, right));
                from = &join.left;
            }
        }
    }
}

impl Hear<'_> {
    /// The FROM clause that a phrase means; its relations are known from here on.
    pub(super) fn source(&mut self, tree: &Tree) -> Option<From> {
        let (first, links): (&Rc<Tree>, &[Rc<Tree>]) = match tree.node()? {
            (Rule::Alone, [first]) => (first.one()?, &[]),
            (Rule::OfOuter, [first, reference]) => {
                let from = self.source(&Tree::Node(Rule::Alone, vec![first.clone()]))?;
                self.of_source = vec![self.correlation(reference.one()?)?];
                return Some(from);
            }
            (Rule::Linked, [first, links]) => (first.one()?, links.all()),
            _ => return None,
        };
        let mut scope = Scope::default();
        if self.is_one(first) {
            return None;
        }
        // Conditions of the tables, in their order; a query inside has its own.
        let mut conditions = Vec::new();
        let first = self.member(first, &mut scope, &mut conditions)?;
        let mut added = Vec::new();
        for link in links {
            let (kind, inner) = match link.node()? {
                (rule, [inner]) if super::value_of(KINDS, rule).is_some() => {
                    (super::value_of(KINDS, rule)?, inner.one()?)
                }
                _ => (JoinKind::Inner, link),
            };
            let relation = self.member(inner.node()?.1.first()?.one()?, &mut scope, &mut conditions)?;
            added.push((kind, inner, relation));
        }
        self.scopes.push(scope);
        let mut before = vec![first.id];
        let mut from = From::Relation(first);
        for (kind, link, relation) in added {
            if let Some((middle, on, after)) = self.between(link, &before, relation.id) {
                before.extend([middle.id, relation.id]);
                let left = From::Join(Box::new(Join {
                    kind: JoinKind::Inner,
                    left: from,
                    right: From::Relation(middle),
                    on: Some(on),
                }));
                from = From::Join(Box::new(Join {
                    kind,
                    left,
                    right: From::Relation(relation),
                    on: Some(after),
                }));
                continue;
            }
            let on = match link.node()? {
                (Rule::Every, _) => None,
                _ => Some(self.link(link, &before, relation.id)?),
            };
            before.push(relation.id);
            from = From::Join(Box::new(Join { kind, left: from, right: From::Relation(relation), on }));
        }
        if !conditions.is_empty() && !from.is_inner() {
            return None;
        }
        self.of_source = conditions;
        Some(from)
    }

    /// A relation and the conditions that are said of it.
    fn member(&mut self, tree: &Tree, scope: &mut Scope, conditions: &mut Vec<Expr>) -> Option<Relation> {
        let (Rule::Which, [noun, clauses]) = tree.node()? else { return self.relation(tree, scope) };
        let relation = self.relation(&Tree::Node(Rule::Table, vec![noun.clone()]), scope)?;
        let subject = *scope.relations.last()?;
        conditions.extend(self.said_of(subject, clauses.all())?);
        Some(relation)
    }

    /// The table between that a link leaves out, and the conditions of both joins.
    fn between(
        &mut self,
        link: &Tree,
        before: &[RelationId],
        last_id: RelationId,
    ) -> Option<(Relation, Expr, Expr)> {
        let anchors = match link.node()? {
            (Rule::Did | Rule::DoneBy, [_, _]) => vec![*before.first()?],
            (rule, [_]) if rule == Rule::Their || super::which::is_plain(rule) => vec![*before.first()?],
            (Rule::Of, [_, reference]) => self.anchors(reference.one()?, before)?,
            _ => return None,
        };
        let [anchor] = *anchors.as_slice() else { return None };
        let (start, end) = (self.table_of(anchor)?, self.table_of(last_id)?);
        let middle = junction(self.schema, start, end)?;
        if let (Rule::Did | Rule::DoneBy, [_, verb]) = link.node()? {
            let phrase = verb_between(self.schema, start, middle, end).map(Tree::Verb);
            phrase.filter(|phrase| verb.one().is_some_and(|verb| **verb == *phrase))?;
        }
        let id = self.fresh();
        let (to, on) = (keys_between(self.schema, start, middle), keys_between(self.schema, middle, end));
        let first = condition_of(self.schema, *to.first()?, anchor, id)?;
        let second = condition_of(self.schema, *on.first()?, id, last_id)?;
        let scope = self.scopes.last_mut()?;
        let place = scope.relations.iter().position(|(relation, _)| *relation == last_id)?;
        scope.relations.insert(place, (id, Reads::Table(middle)));
        let source = RelationSource::Table(self.schema.id_at(middle as usize)?);
        Some((Relation::new(id, source), first, second))
    }

    /// Whether a relation is in the singular: then it is one row that was spoken of, and no source of rows.
    fn is_one(&self, relation: &Tree) -> bool {
        let Some((Rule::Table | Rule::Which, [noun, ..]) | (Rule::ModifiedTable, [_, noun])) =
            relation.node()
        else {
            return false;
        };
        match noun.one().map(|noun| &**noun) {
            Some(Tree::Noun(noun, false)) => self.vocabulary.has_plural(*noun),
            _ => false,
        }
    }

    fn relation(&mut self, tree: &Tree, scope: &mut Scope) -> Option<Relation> {
        let (source, reads) = match tree.node()? {
            (Rule::Table, [noun]) | (Rule::ModifiedTable, [_, noun]) => {
                let Tree::Noun(noun, _) = &**noun.one()? else { return None };
                let tables = self.vocabulary.tables(*noun).to_vec();
                let table = self.choose(&tables)?;
                (RelationSource::Table(self.schema.id_at(table as usize)?), Reads::Table(table))
            }
            (Rule::List, [query]) => {
                let heard = self.query(query.one()?)?;
                let list = super::know(&mut self.list_fields, query.one()?, heard.width());
                (RelationSource::Derived(Box::new(heard)), Reads::List(list))
            }
            (Rule::TheseRecords, []) => match self.lists.as_slice() {
                [list] => (RelationSource::Cte(CteId(0)), Reads::List(*list)),
                _ => return None,
            },
            (Rule::DefinedList, [number]) => {
                let number = place_of(number.one()?)?;
                let list = *self.lists.get(number)?;
                (RelationSource::Cte(CteId(u32::try_from(number).ok()?)), Reads::List(list))
            }
            _ => return None,
        };
        let id = self.fresh();
        scope.relations.push((id, reads));
        Some(Relation::new(id, source))
    }

    /// The condition of a join.
    fn link(&mut self, tree: &Tree, before: &[RelationId], last_id: RelationId) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        let (anchors, by) = match (rule, slots) {
            (Rule::JoinedOn, [_, condition]) => return self.condition(condition.one()?),
            (rule, [_]) if rule == Rule::Their || super::which::is_plain(rule) => {
                (vec![*before.first()?], None)
            }
            (Rule::TheirBy, [_, name]) => (vec![*before.first()?], Some(name.one()?)),
            (Rule::Of, [_, reference]) => (self.anchors(reference.one()?, before)?, None),
            (Rule::OfBy, [_, reference, name]) => {
                (self.anchors(reference.one()?, before)?, Some(name.one()?))
            }
            _ => return None,
        };
        let anchor = self.choose(&anchors)?;
        let (earlier, later) = (self.table_of(anchor)?, self.table_of(last_id)?);
        let keys: Vec<Key> = match (said_by(self.schema, self.vocabulary, earlier, later), by) {
            (Means::One, None) => keys_between(self.schema, earlier, later),
            (Means::ByColumn(keys), Some(name)) => {
                keys.into_iter().filter(|&key| self.declares(key, name)).collect()
            }
            _ => return None,
        };
        let key = self.choose(&keys)?;
        condition_of(self.schema, key, anchor, last_id)
    }

    fn anchors(&self, reference: &Tree, before: &[RelationId]) -> Option<Vec<RelationId>> {
        let relations = self.relations_of(reference)?;
        Some(relations.into_iter().map(|(id, _)| id).filter(|id| before.contains(id)).collect())
    }

    fn table_of(&self, relation: RelationId) -> Option<u32> {
        let entry = self.scopes.last()?.relations.iter().find(|(id, _)| *id == relation)?;
        match entry.1 {
            Reads::Table(table) => Some(table),
            Reads::List(_) => None,
        }
    }

    /// Whether the first column of a key has that name.
    fn declares(&self, key: Key, name: &Tree) -> bool {
        let Tree::Name(name, _) = name else { return false };
        let columns = columns_of(self.schema, key);
        columns.first().is_some_and(|&(left, right)| {
            let at = if key.earlier_declares { left } else { right };
            self.vocabulary.columns(*name).contains(&(key.table, at))
        })
    }
}
