//! SELECT and compounds.

use std::rc::Rc;

use sqlgauge_sql::derive::{has_aggregate, has_window};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Body, ColumnRef, Expr, From, Literal, OrderTerm, Output, Query, RelationId, Select, SetOperator,
};

use super::call::count_of_rows;
use super::condition::subject;
use super::reference::{stripped, told_apart};
use super::sentence::{FILTER, GROUP, HAVING, TAIL};
use super::{Hear, Reads, Said, Say, Scope};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;
use sqlgauge_sql::canonical::{conjunction, conjuncts_of, only_relation, same_columns};

/// Set operators, with ALL or without.
const SET_OPERATORS: &super::Pairs<(SetOperator, bool)> = &[
    ((SetOperator::Union, false), Rule::Union),
    ((SetOperator::Union, true), Rule::UnionAll),
    ((SetOperator::Intersect, false), Rule::Intersect),
    ((SetOperator::Except, false), Rule::Except),
];

impl Say<'_> {
    /// A query, be it the whole or a part.
    pub(super) fn query(&mut self, query: &Query) -> Said {
        if !query.ctes.is_empty() && (!self.scopes.is_empty() || self.lists.len() < query.ctes.len()) {
            return Err(Unsayable::construct("WITH inside a subquery"));
        }
        match &query.body {
            Body::Select(select) => self.select(select, Some(query)),
            Body::SetOperation { .. } => self.compound(query),
            Body::Values(_) => Err(Unsayable::construct("VALUES")),
        }
    }

    fn compound(&mut self, query: &Query) -> Said {
        let mut parts = Vec::new();
        let mut body = &query.body;
        while let Body::SetOperation { operator, all, left, right } = body {
            let rule = super::rule_of(SET_OPERATORS, &(*operator, *all));
            parts.push((rule.ok_or(Unsayable::construct("the set operator"))?, &**right));
            body = left;
        }
        let first = self.part(body)?;
        let mut rest = Vec::new();
        for (rule, part) in parts.into_iter().rev() {
            let phrase = self.part(part)?;
            let phrase = if self.care.is_terse() { those(&first, phrase) } else { phrase };
            rest.push(Tree::of(rule, [phrase]));
        }
        self.scopes.push(Scope::default());
        let tail = self.tail(query);
        self.scopes.pop();
        Ok(match tail? {
            None => Tree::Node(Rule::Compound, vec![first.into(), rest.into()]),
            Some(tail) => Tree::Node(Rule::CompoundSorted, vec![first.into(), rest.into(), tail.into()]),
        })
    }

    fn part(&mut self, body: &Body) -> Said {
        let Body::Select(select) = body else { return Err(Unsayable::construct("VALUES")) };
        let core = self.select(select, None)?;
        Ok(Tree::of(if self.care.has_brackets() { Rule::Bracketed } else { Rule::Bare }, [core]))
    }

    /// A SELECT with the order and limit of its query.
    fn select(&mut self, select: &Select, query: Option<&Query>) -> Said {
        let depth = self.scopes.len();
        let phrase = self.select_parts(select, query);
        self.scopes.truncate(depth);
        phrase
    }

    fn select_parts(&mut self, select: &Select, query: Option<&Query>) -> Said {
        let is_brief = self.care.is_terse() && !self.has_turns;
        let (source, filter) = if let Some(from) = &select.from {
            let around = std::mem::replace(&mut self.computes, computes(select, query));
            let source = self.source(from);
            self.computes = around;
            let source = source?;
            let (source, filter) = self.of_outer(source, select.filter.as_ref())?;
            let (source, filter) = self.restricted(source, filter)?;
            let read = is_brief.then(|| read_of(select));
            let source = match read {
                Some(read) => self.by_conditions(source, &read),
                None => source,
            };
            (Some(source), filter)
        } else {
            self.scopes.push(Scope::default());
            (None, select.filter.clone())
        };
        let is_alone = matches!(select.from, Some(From::Relation(_)));
        let distinct = select.distinct.then(|| Tree::word(Rule::Distinct));
        let (mut outputs, mut counts) = (Vec::new(), false);
        for (place, output) in select.outputs.iter().enumerate() {
            let is_last = place + 1 == select.outputs.len();
            let phrase = match &output.expr {
                // Without brackets its conditions would run into what all of it is said of.
                Expr::Scalar(query) if source.is_some() && is_filtered(query) => {
                    Tree::of(Rule::Subquery, [self.query(query)?])
                }
                expr => self.operand(expr)?,
            };
            // "The number of singers", if that is the last thing said before the singers.
            counts = is_last
                && self.care.leaves_out()
                && if is_alone {
                    matches!(phrase, Tree::Node(Rule::CountRows | Rule::NumberOf, _))
                } else {
                    place == 0 && select.group_by.is_empty() && self.counts_first(&phrase)
                };
            let phrase = if counts { Tree::word(Rule::Number) } else { phrase };
            outputs.push(if shows_many(select, query) { in_plural(phrase) } else { phrase });
        }
        let outputs = if source.is_some() && self.shows_all(&select.outputs) {
            Tree::word(Rule::Everything)
        } else {
            Tree::Node(Rule::Outputs, vec![outputs.into()])
        };
        let filter = filter.as_ref().map(|filter| self.filter(filter)).transpose()?;
        // Of the rows of a table one says "the singer with the most concerts".
        let row = self.row_of(select);
        let top = query
            .filter(|query| row.is_none() && is_top_group(select, query) && self.random.chance(TOP_GROUP));
        let tail = query.filter(|_| top.is_none()).map(|query| self.tail(query)).transpose()?.flatten();
        let Some(source) = source else {
            if !select.group_by.is_empty() || select.having.is_some() {
                return Err(Unsayable::construct("GROUP BY without FROM"));
            }
            let slots = vec![distinct.into(), outputs.into(), filter.into(), tail.into()];
            return Ok(Tree::Node(Rule::SelectValues, slots));
        };
        let says_of = has_of(&source);
        let group = match row {
            Some(noun) => Some(Tree::of(Rule::ForEachOf, [noun])),
            None => self.group(&select.group_by, top)?,
        };
        let is_alone = filter.is_none() && is_alone || self.has_turns;
        let whose = group.is_some() && (is_alone || !self.care.is_terse());
        let having = select
            .having
            .as_ref()
            .map(|having| self.having(having, (group.is_some(), whose), select.filter.is_some()))
            .transpose()?;
        let rule = if counts { Rule::Select } else { self.select_rule(select, says_of) };
        let source = Slot::from(source);
        let first = super::idiom::first_noun(&source).filter(|_| rule == Rule::Select && is_brief);
        let outputs = match first {
            Some(noun) => {
                let is_many = shows_many(select, query);
                let bare = |part: &Tree| stripped(part, &noun);
                of_first(&outputs, |part| if is_many { in_plural(bare(part)) } else { bare(part) })
            }
            None => outputs,
        };
        let parts = [distinct.into(), outputs.into(), source, filter.into(), group.into(), having.into()];
        let phrase = Tree::Node(rule, parts.into_iter().chain([tail.into()]).collect());
        self.shortened(select, query, phrase)
    }

    /// "Of" joins what is shown to the table named first.
    fn select_rule(&mut self, select: &Select, says_of: bool) -> Rule {
        // "The highest bonus of all evaluations of employees": of all of them, for each employee.
        if says_of && !select.outputs.iter().all(|output| is_of_rows(&output.expr)) {
            return Rule::SelectFor;
        }
        let of_first = |output: &Output| self.is_of_first(&output.expr);
        let joins = matches!(select.from, Some(From::Join(_)));
        let fits = !joins || self.care.is_terse() && select.outputs.iter().all(of_first);
        // "The names of singers", and now and then "the names for all singers".
        let is_bare = select.outputs.iter().all(|output| matches!(output.expr, Expr::Column(_)));
        // "The name of the battle for all battles with ships" says it twice.
        let share = match (joins, is_bare) {
            (true, _) => 0,
            (false, true) => 8,
            (false, false) => 30,
        };
        if !fits || self.random.chance(share) { Rule::SelectFor } else { Rule::Select }
    }

    /// Whether an expression reads the table named first, and not another; one that computes over rows also counts each of
    /// the table's rows once.
    pub(super) fn is_of_first(&self, expr: &Expr) -> bool {
        let first = self.scopes.last().and_then(|scope| scope.order.first().copied());
        first.is_some() && only_relation(expr) == first && (is_of_rows(expr) || self.rows_are_of_first())
    }

    /// Whether the table named first has a row for each row of the query at hand.
    pub(super) fn rows_are_of_first(&self) -> bool {
        self.counted(&count_of_rows()).is_ok_and(|noun| noun == self.first_noun())
    }

    /// The name of the table named first.
    fn first_noun(&self) -> Option<Tree> {
        let table = self.scopes.last().and_then(|scope| scope.relations.first()?.1.table())?;
        self.noun(table, true).ok()
    }

    /// Whether the rows of the table named first are counted.
    pub(super) fn counts_first(&self, phrase: &Tree) -> bool {
        let Some((Rule::NumberOf, [noun])) = phrase.node() else { return false };
        noun.one().map(|noun| &**noun) == self.first_noun().as_ref()
    }

    /// What a group is for each of, where its key is that of a table and is not shown.
    fn row_of(&self, select: &Select) -> Option<Tree> {
        let [key @ Expr::Column(column)] = select.group_by.as_slice() else { return None };
        let is_brief = self.care.is_terse() && !self.has_turns;
        if !is_brief || select.outputs.iter().any(|output| output.expr == *key) {
            return None;
        }
        let same = same_columns(self.schema, select.from.as_ref()?);
        let scope = self.scopes.last()?;
        let table = scope.relations.iter().find_map(|&(relation, reads)| {
            let table = reads.table()?;
            let key = ColumnRef::at(relation, own_key(self.schema, table)?);
            let is_key = key == *column || same.contains(&(key, *column));
            let is_only = scope.relations.iter().filter(|(_, other)| *other == reads).count() == 1;
            (is_key && is_only).then_some(table)
        })?;
        self.noun(table, false).ok()
    }

    fn group(&mut self, keys: &[Expr], top: Option<&Query>) -> Said<Option<Tree>> {
        let keys: Said<Vec<Tree>> = keys.iter().map(|key| self.operand(key)).collect();
        let keys = keys?;
        if let Some([term]) = top.map(|query| query.order_by.as_slice()) {
            let most = self.most(term)?;
            return Ok(Some(Tree::Node(Rule::ForTop, vec![keys.into(), most.into()])));
        }
        Ok(if keys.is_empty() { None } else { Some(Tree::Node(Rule::ForEach, vec![keys.into()])) })
    }

    /// A condition on groups, if there are any, by what a group has, if that is clear.
    fn having(&mut self, having: &Expr, (grouped, whose): (bool, bool), filtered: bool) -> Said {
        if grouped
            && !self.has_turns
            && let (Some(amount), Some(noun)) = (self.amount(having)?, self.counted(&count_of_rows())?)
        {
            let rule = if filtered { Rule::KeepSuch } else { Rule::KeepAmount };
            return Ok(Tree::of(rule, [amount, noun]));
        }
        let condition = self.condition(having)?;
        let of_group = whose && is_of_group(having);
        let rule = if of_group { Rule::KeepWhose } else { Rule::KeepGroups };
        Ok(Tree::of(rule, [condition]))
    }

    /// Whether these are all columns of all relations, as `*` is.
    fn shows_all(&self, outputs: &[Output]) -> bool {
        let all = self.scopes.last().and_then(|scope| all_columns(self.schema, &self.list_fields, scope));
        all.is_some_and(|all| all.len() > 1 && all.iter().eq(outputs.iter().map(|output| &output.expr)))
    }

    /// A WHERE clause.
    pub(super) fn filter(&mut self, filter: &Expr) -> Said {
        if let Some(clauses) = self.relatives(filter)? {
            return Ok(clauses);
        }
        let one_table = self.scopes.last().is_some_and(|scope| scope.relations.len() == 1);
        let whose = |expr: &Expr| one_table && matches!(subject(expr), Some(Expr::Column(_)));
        let condition = self.condition(filter)?;
        // Each part has a subject of its own.
        Ok(match (filter, condition) {
            (Expr::And(list), Tree::Node(Rule::And, slots)) if list.iter().all(whose) => {
                Tree::Node(Rule::WhoseAll, slots)
            }
            (Expr::Or(list), Tree::Node(Rule::Or, slots)) if list.iter().all(whose) => {
                Tree::Node(Rule::WhoseAny, slots)
            }
            (_, condition) => Tree::of(if whose(filter) { Rule::Whose } else { Rule::Where }, [condition]),
        })
    }
}

/// Whether something is computed over the rows of a SELECT.
fn computes(select: &Select, query: Option<&Query>) -> bool {
    let outputs = select.outputs.iter().map(|output| &output.expr);
    let order = query.into_iter().flat_map(|query| query.order_by.iter().map(|term| &term.expr));
    !select.group_by.is_empty() || outputs.chain(&select.having).chain(order).any(has_aggregate)
}

/// What is shown, with each column turned.
fn of_first(outputs: &Tree, turn: impl Fn(&Tree) -> Tree) -> Tree {
    let Tree::Node(Rule::Outputs, slots) = outputs else { return outputs.clone() };
    let turned = |part: &Rc<Tree>| match part.node() {
        Some((Rule::Column | Rule::ColumnOf, _)) => Rc::new(turn(part)),
        _ => Rc::clone(part),
    };
    let slots = slots.iter().map(|slot| Slot::Many(slot.all().iter().map(turned).collect()));
    Tree::Node(Rule::Outputs, slots.collect())
}

/// A part that shows the same of other rows as the first part does: "those of …".
fn those(first: &Tree, part: Tree) -> Tree {
    let clauses = |tree: &Tree| -> Option<Vec<Slot>> {
        let (Rule::Bare | Rule::Bracketed, [core]) = tree.node()? else { return None };
        let (Rule::Select | Rule::SelectFor, slots) = core.one()?.node()? else { return None };
        slots[GROUP..].iter().all(|slot| *slot == Slot::None).then(|| slots.to_vec())
    };
    match (clauses(first), clauses(&part)) {
        (Some(one), Some(other)) if one[..2] == other[..2] && !counts_rows(&one[1]) => {
            Tree::Node(Rule::Those, vec![other[2].clone(), other[FILTER].clone()])
        }
        _ => part,
    }
}

/// Whether the rows of a table are counted, which is said of that table alone.
fn counts_rows(outputs: &Slot) -> bool {
    let list = outputs.one().and_then(|outputs| outputs.node()).map_or(&[][..], |(_, slots)| slots);
    let list = list.first().map_or(&[][..], Slot::all);
    list.iter().any(|output| matches!(output.node(), Some((Rule::Number | Rule::NumberOf, _))))
}

/// The part that shows of other rows what the first part shows.
fn of_those(first: &Tree, source: &Slot, filter: &Slot) -> Option<Tree> {
    let (Rule::Bare | Rule::Bracketed, [core]) = first.node()? else { return None };
    let (Rule::Select | Rule::SelectFor, slots) = core.one()?.node()? else { return None };
    let mut slots = slots[..2].to_vec();
    slots.extend([source.clone(), filter.clone(), Slot::None, Slot::None, Slot::None]);
    Some(Tree::Node(Rule::Select, slots))
}

/// The relations of which a query shows something.
fn read_of(select: &Select) -> Vec<RelationId> {
    // What is said of each group is said of its keys by their names.
    let outputs =
        select.outputs.iter().map(|output| &output.expr).filter(|expr| !select.group_by.contains(expr));
    outputs.chain(&select.having).flat_map(reads::columns).map(|column| column.relation).collect()
}

/// Whether a condition says something of an aggregate.
fn is_of_group(condition: &Expr) -> bool {
    matches!(subject(condition), Some(Expr::Aggregate(_)))
}

/// Of 100 groupings of which the first one in some order is wanted, how many are said in one clause.
const TOP_GROUP: u8 = 75;

/// Whether of the groups the one with the highest or lowest value is wanted, of all rows: a superlative that stands before
/// the conditions that it is taken under would be read without them.
fn is_top_group(select: &Select, query: &Query) -> bool {
    let one = matches!(query.limit, Some(Expr::Literal(Literal::Integer(1))));
    let by_one = matches!(query.order_by.as_slice(), [term] if term.nulls_first.is_none());
    let is_of_all = !select.group_by.is_empty() && select.filter.is_none() && select.having.is_none();
    is_of_all && one && by_one && query.offset.is_none()
}

fn is_filtered(query: &Query) -> bool {
    query.as_select().is_some_and(|select| select.filter.is_some())
}

/// Whether a table to which rows refer is said by its conditions.
fn has_of(source: &Tree) -> bool {
    let links = match source.node() {
        Some((Rule::Linked, [_, links])) => links.all(),
        _ => &[],
    };
    links.iter().any(|link| link.node().is_some_and(|(rule, _)| super::which::is_of_one(rule)))
}

/// The one column of a table's primary key.
fn own_key(schema: &Schema, table: u32) -> Option<u32> {
    match schema.tables().get(table as usize)?.primary_key.as_slice() {
        [key] => Some(*key),
        _ => None,
    }
}

/// Whether there may be many rows, each of which has a value of its own for a column that is shown.
fn shows_many(select: &Select, query: Option<&Query>) -> bool {
    let one = query.is_some_and(|query| matches!(query.limit, Some(Expr::Literal(Literal::Integer(1)))));
    select.group_by.is_empty() && !one
}

/// The name of a column in the plural.
pub(super) fn in_plural(phrase: Tree) -> Tree {
    match phrase {
        Tree::Node(Rule::Column, slots) => {
            match slots.first().and_then(Slot::one).map(|name| (**name).clone()) {
                Some(Tree::Name(name, _)) => Tree::of(Rule::Column, [Tree::Name(name, true)]),
                _ => Tree::Node(Rule::Column, slots),
            }
        }
        Tree::Node(Rule::TheCount, _) => Tree::word(Rule::TheCounts),
        other => other,
    }
}

/// All columns of all relations; none where one has columns that `*` leaves out.
fn all_columns(schema: &Schema, lists: &[Vec<Tree>], scope: &Scope) -> Option<Vec<Expr>> {
    let mut all = Vec::new();
    for &(relation, reads) in &scope.relations {
        let width = match reads {
            Reads::List(list) => lists.get(list as usize)?.len(),
            Reads::Table(table) => {
                let columns = &schema.tables().get(table as usize)?.columns;
                if columns.iter().any(|column| column.hidden) {
                    return None;
                }
                columns.len()
            }
        };
        all.extend((0..u32::try_from(width).ok()?).map(|at| Expr::Column(ColumnRef::at(relation, at))));
    }
    Some(all)
}

impl Hear<'_> {
    /// The query that a phrase means.
    pub(super) fn query(&mut self, tree: &Tree) -> Option<Query> {
        let depth = self.scopes.len();
        let heard = self.query_parts(tree);
        self.scopes.truncate(depth);
        heard
    }

    fn query_parts(&mut self, tree: &Tree) -> Option<Query> {
        match tree.node()? {
            (Rule::Bracketed | Rule::Bare, [inner]) => self.query(inner.one()?),
            (rule @ (Rule::Select | Rule::SelectFor), slots) => {
                let source = self.source(slots.get(2)?.one()?)?;
                let outputs = self.shown_of_first(rule, slots)?;
                let of_source = std::mem::take(&mut self.of_source);
                let clauses = Clauses {
                    filter: slots.get(FILTER)?.one(),
                    group: slots.get(GROUP)?.one(),
                    having: slots.get(HAVING)?.one(),
                    tail: slots.get(TAIL)?.one(),
                };
                let distinct = slots.first()?.one().is_some();
                let mut query = self.select(Some(source), distinct, &outputs, &clauses)?;
                if let Body::Select(select) = &mut query.body {
                    let filter = select.filter.take().into_iter().flat_map(conjuncts_of);
                    select.filter = conjunction(of_source.into_iter().chain(filter).collect());
                }
                Some(query)
            }
            (Rule::SelectValues, [distinct, outputs, filter, tail]) => {
                self.scopes.push(Scope::default());
                let clauses = Clauses { filter: filter.one(), group: None, having: None, tail: tail.one() };
                self.select(None, distinct.one().is_some(), outputs.one()?, &clauses)
            }
            (Rule::Compound | Rule::CompoundSorted, [first, parts, tail @ ..]) => {
                let mut body = self.part(first.one()?)?;
                for part in parts.all() {
                    let (rule, inner) = part.node()?;
                    let (operator, all) = super::value_of(SET_OPERATORS, rule)?;
                    let inner = inner.first()?.one()?;
                    let right = match inner.node()? {
                        (Rule::Those, [source, filter]) => {
                            self.part(&of_those(first.one()?, source, filter)?)?
                        }
                        _ => self.part(inner)?,
                    };
                    if right.width() != body.width() {
                        return None;
                    }
                    body = Body::SetOperation { operator, all, left: Box::new(body), right: Box::new(right) };
                }
                let mut query = Query::of(body);
                self.scopes.push(Scope::default());
                if let Some(tail) = tail.first().and_then(Slot::one) {
                    self.tail(tail, &mut query)?;
                }
                Some(query)
            }
            (rule, slots) => self.short(rule, slots),
        }
    }

    /// What is shown: "the names of singers with their concerts" are those of the singers, whatever else has a name.
    fn shown_of_first(&self, rule: Rule, slots: &[Slot]) -> Option<Tree> {
        let outputs = Tree::clone(slots.get(1)?.one()?);
        let (Rule::Linked, _) = slots.get(2)?.one()?.node()? else { return Some(outputs) };
        let noun = super::idiom::first_noun(slots.get(2)?).filter(|_| rule == Rule::Select);
        let first = self.scopes.last()?.relations.first()?.1;
        Some(match noun {
            Some(noun) => of_first(&outputs, |part| {
                let has = |name: &Tree| match name {
                    Tree::Name(name, _) => {
                        self.vocabulary.columns(*name).iter().any(|&(table, _)| first == Reads::Table(table))
                    }
                    _ => false,
                };
                match part.node() {
                    Some((Rule::Column, [name])) if name.one().is_some_and(|name| has(name)) => {
                        told_apart(part, &noun)
                    }
                    _ => part.clone(),
                }
            }),
            None => outputs,
        })
    }

    fn part(&mut self, tree: &Tree) -> Option<Body> {
        let query = self.query(tree)?;
        // A part with an order of its own is no SQL.
        let plain = query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
        (plain && matches!(query.body, Body::Select(_))).then_some(query.body)
    }

    fn select(
        &mut self,
        from: Option<From>,
        distinct: bool,
        outputs: &Tree,
        clauses: &Clauses<'_>,
    ) -> Option<Query> {
        let outputs = self.outputs(outputs);
        let filter = match clauses.filter {
            Some(filter) => Some(self.filter(filter).filter(is_of_rows)?),
            None => None,
        };
        let (group_by, top) = match clauses.group {
            Some(group) => self.group(group)?,
            None => (Vec::new(), None),
        };
        let having = match clauses.having {
            Some(having) => Some(self.having(having, !group_by.is_empty())?),
            None => None,
        };
        let select = Select { distinct, from, filter, group_by, having, outputs: outputs? };
        let mut query = Query::of_select(select);
        if let Some(term) = top {
            // One group has no order and no condition besides.
            if clauses.tail.is_some() || clauses.having.is_some() {
                return None;
            }
            query.order_by = vec![term];
            query.limit = Some(Expr::Literal(Literal::Integer(1)));
        }
        if let Some(tail) = clauses.tail {
            self.tail(tail, &mut query)?;
        }
        Some(query)
    }

    fn having(&mut self, tree: &Tree, grouped: bool) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        if let (Rule::KeepAmount | Rule::KeepSuch, [amount, noun]) = (rule, slots) {
            self.number_of(noun.one()?).filter(|_| grouped)?;
            return self.heard_amount(amount);
        }
        let condition = self.condition(slots.first()?.one()?)?;
        // "Whose" says something of a group only if a group has it; else it is a WHERE.
        (rule == Rule::KeepGroups || grouped && is_of_group(&condition)).then_some(condition)
    }

    fn outputs(&mut self, tree: &Tree) -> Option<Vec<Output>> {
        let outputs = match tree.node()? {
            (Rule::Everything, []) => all_columns(self.schema, &self.list_fields, self.scopes.last()?)?,
            (Rule::Outputs, [outputs]) => {
                let outputs: Option<Vec<Expr>> =
                    outputs.all().iter().map(|output| self.operand(output)).collect();
                outputs?
            }
            _ => return None,
        };
        Some(outputs.into_iter().map(Output::of).collect())
    }

    /// The keys of a GROUP BY, and the order by which one group is wanted.
    fn group(&mut self, tree: &Tree) -> Option<(Vec<Expr>, Option<OrderTerm>)> {
        let (rule, slots) = tree.node()?;
        if let (Rule::ForEachOf, [noun]) = (rule, slots) {
            return Some((vec![self.key_of_row(noun.one()?)?], None));
        }
        let keys = slots.first()?.all();
        let keys: Option<Vec<Expr>> = keys.iter().map(|key| self.operand(key).filter(is_of_rows)).collect();
        let top = match (rule, slots) {
            (Rule::ForTop, [_, most]) => Some(self.end_of_order(most.one()?)?),
            _ => None,
        };
        Some((keys?, top))
    }

    /// The primary key of the table that is called so.
    fn key_of_row(&mut self, noun: &Tree) -> Option<Expr> {
        let Tree::Noun(noun, false) = noun else { return None };
        let tables = self.vocabulary.tables(*noun);
        let key_of = |&(relation, reads): &(RelationId, Reads)| {
            let table = reads.table().filter(|table| tables.contains(table))?;
            Some(ColumnRef::at(relation, own_key(self.schema, table)?))
        };
        let keys: Vec<ColumnRef> = self.scopes.last()?.relations.iter().filter_map(key_of).collect();
        self.choose(&keys).map(Expr::Column)
    }

    /// The WHERE clause that a phrase means.
    pub(super) fn filter(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        let parts = slots.first()?;
        let is_whose = matches!(rule, Rule::Whose | Rule::WhoseAll | Rule::WhoseAny);
        // Of several tables it is said of the one named last (`Rule::Which`).
        if is_whose && self.scopes.last()?.relations.len() > 1 {
            return None;
        }
        match rule {
            Rule::Where | Rule::Whose => self.condition(parts.one()?),
            Rule::Relatives => self.relatives(slots),
            Rule::WhoseAll | Rule::WhoseAny => {
                let conditions: Option<Vec<Expr>> =
                    parts.all().iter().map(|part| self.condition(part)).collect();
                if rule == Rule::WhoseAll { conjunction(conditions?) } else { Some(Expr::Or(conditions?)) }
            }
            _ => None,
        }
    }
}

/// Whether an expression may stand in WHERE, GROUP BY or an aggregate: it computes nothing over rows.
pub(super) fn is_of_rows(expr: &Expr) -> bool {
    !has_aggregate(expr) && !has_window(expr)
}

struct Clauses<'t> {
    filter: Option<&'t Rc<Tree>>,
    group: Option<&'t Rc<Tree>>,
    having: Option<&'t Rc<Tree>>,
    tail: Option<&'t Rc<Tree>>,
}
