//! Rows by the rows of another table that a foreign key links to them: "singers that have songs", "the songs of that
//! singer", "visits that belong to museums".

use std::rc::Rc;

use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, Literal, Output, Place, Query, RelationId, Select,
};

use super::query::is_of_rows;
use super::{Hear, Reads, Said, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use sqlgauge_sql::canonical::{
    Key, column_of, columns_of, condition_of, conjunction, conjuncts_of, keys_between,
};

/// Whether rows exist that refer to the row, and whether they do not.
const EXISTS: &super::Pairs<bool> = &[(false, Rule::HaveSome), (true, Rule::HaveNone)];
/// Whether the row is among those that others refer to.
const REFERRED: &super::Pairs<bool> = &[(false, Rule::AppearIn), (true, Rule::NotAppearIn)];
/// Whether the row refers to some of others.
const REFERS: &super::Pairs<bool> = &[(false, Rule::BelongTo), (true, Rule::NotBelongTo)];

/// Whether the row has a value of other rows of its table.
const SHARES: &super::Pairs<bool> = &[(false, Rule::ShareWith), (true, Rule::ShareWithNone)];

/// The same, said of one of several relations.
const APPEARS: &super::Pairs<bool> = &[(false, Rule::Appears), (true, Rule::NotAppears)];
const BELONGS: &super::Pairs<bool> = &[(false, Rule::Belongs), (true, Rule::NotBelongs)];

/// The first of the conditions, and the others.
fn split(filter: &Expr) -> Option<(Expr, Option<Expr>)> {
    let mut conditions = conjuncts_of(filter.clone()).into_iter();
    let first = conditions.next()?;
    Some((first, conjunction(conditions.collect())))
}

/// The one foreign key between two tables.
fn only_key(schema: &sqlgauge_sql::schema::Schema, earlier: u32, later: u32) -> Option<Key> {
    let keys = keys_between(schema, earlier, later);
    match keys.as_slice() {
        [key] if columns_of(schema, *key).len() == 1 => Some(*key),
        _ => None,
    }
}

impl Say<'_> {
    /// The relation around to which a condition links a relation of the query at hand, by depth.
    fn linked_to(&self, condition: &Expr, later_id: RelationId) -> Option<(usize, RelationId)> {
        let Expr::Binary(BinaryOperator::Equal, left, _) = condition else { return None };
        let (outer, _) = column_of(left)?;
        let depth =
            self.scopes.iter().rposition(|scope| scope.relations.iter().any(|(id, _)| *id == outer))?;
        let table = |depth: usize, id: RelationId| self.reads(depth, id).and_then(Reads::table);
        let inner = self.scopes.len() - 1;
        let (earlier, later) = (table(depth, outer)?, table(inner, later_id)?);
        let key = only_key(self.schema, earlier, later)?;
        let fits =
            depth < inner && condition_of(self.schema, key, outer, later_id).as_ref() == Some(condition);
        fits.then_some((depth, outer))
    }

    /// "The songs of that singer", and the other conditions: where the first condition is a foreign key to a row around.
    pub(super) fn of_outer(&mut self, source: Tree, filter: Option<&Expr>) -> Said<(Tree, Option<Expr>)> {
        let all = filter.cloned();
        let Some((first, rest)) = filter.filter(|_| self.care.is_terse()).and_then(split) else {
            return Ok((source, all));
        };
        let inner = self.scopes.last().and_then(|scope| match scope.relations.as_slice() {
            [(id, Reads::Table(_))] => Some(*id),
            _ => None,
        });
        let (Some(inner), Some((Rule::Alone, [relation]))) = (inner, source.node()) else {
            return Ok((source, all));
        };
        let Some((depth, outer)) = self.linked_to(&first, inner) else { return Ok((source, all)) };
        let reference = self.reference(depth, outer)?;
        Ok((Tree::Node(Rule::OfOuter, vec![relation.clone(), reference.into()]), rest))
    }

    /// Conditions of one table of which the last says what its rows are linked to.
    pub(super) fn relatives(&mut self, filter: &Expr) -> Said<Option<Tree>> {
        let outer = self.scopes.last().and_then(|scope| match scope.relations.as_slice() {
            [(id, Reads::Table(table))] => Some((*id, *table)),
            _ => None,
        });
        let Some(outer) = outer.filter(|_| self.care.is_terse()) else { return Ok(None) };
        let mut conditions = conjuncts_of(filter.clone());
        let Some(last) = conditions.pop() else { return Ok(None) };
        let has_subject = |expr: &Expr| matches!(super::condition::subject(expr), Some(Expr::Column(_)));
        if !conditions.iter().all(has_subject) || conditions.iter().any(sqlgauge_sql::derive::has_subquery) {
            return Ok(None);
        }
        let depth = self.scopes.len();
        let clause = self.relative(outer, &last);
        self.scopes.truncate(depth);
        let Some(last) = clause? else { return Ok(None) };
        let mut parts = Vec::new();
        for condition in &conditions {
            parts.push(self.condition(condition)?);
        }
        let slots = if parts.is_empty() { vec![last.into()] } else { vec![parts.into(), last.into()] };
        Ok(Some(Tree::Node(Rule::Relatives, slots)))
    }

    /// That a row of one of several relations belongs to rows of another table or appears there.
    pub(super) fn linked(&mut self, expr: &Expr, query: &Query, negated: bool) -> Said<Option<Tree>> {
        let Some((relation, at)) = column_of(expr) else { return Ok(None) };
        let depth = self.scopes.len() - 1;
        let several = self.scopes.last().is_some_and(|scope| scope.relations.len() > 1);
        let table = self.reads(depth, relation).and_then(Reads::table);
        let (Some(table), true) = (table, several && self.care.is_terse()) else { return Ok(None) };
        let Some((select, from, inner_table)) = plain(query) else { return Ok(None) };
        let Some(key) = only_key(self.schema, table, inner_table) else { return Ok(None) };
        let pair = columns_of(self.schema, key)[0];
        let inner = from.relations()[0].id;
        let shows_key =
            matches!(select.outputs.as_slice(), [output] if column_of(&output.expr) == Some((inner, pair.1)));
        if at != pair.0 || !shows_key {
            return Ok(None);
        }
        let reference = self.reference(depth, relation)?;
        let there = self.there(from, select.filter.as_ref());
        self.scopes.truncate(depth + 1);
        let rules = if key.earlier_declares { BELONGS } else { APPEARS };
        let rule = super::rule_of(rules, &negated);
        let slots = std::iter::once(reference.into()).chain(there?).collect();
        let phrase = rule.map(|rule| Tree::Node(rule, slots));
        // What follows might be taken for a condition of the subquery.
        let brackets = self.care.has_brackets();
        Ok(phrase.map(|phrase| if brackets { Tree::of(Rule::InBrackets, [phrase]) } else { phrase }))
    }

    fn relative(&mut self, outer: (RelationId, u32), condition: &Expr) -> Said<Option<Tree>> {
        let (query, negated) = match condition {
            Expr::Exists { query, negated } | Expr::InQuery { query, negated, .. } => (query, *negated),
            _ => return Ok(None),
        };
        let Some((select, from, table)) = plain(query) else { return Ok(None) };
        let inner = from.relations()[0].id;
        if let Expr::InQuery { expr, .. } = condition
            && let ((of, at), [output]) = (column_of(expr).unwrap_or((inner, 0)), select.outputs.as_slice())
            && (of, table) == outer
            && column_of(&output.expr) == Some((inner, at))
        {
            let name = self.name(table, at)?;
            let source = self.source(from)?;
            let filter = select.filter.as_ref().map(|filter| self.filter(filter)).transpose()?;
            let rule = super::rule_of(SHARES, &negated);
            return Ok(rule.map(|rule| Tree::Node(rule, vec![name.into(), source.into(), filter.into()])));
        }
        let Some(key) = only_key(self.schema, outer.1, table) else { return Ok(None) };
        let source = self.source(from)?;
        let (rules, rest) = match condition {
            Expr::Exists { .. } => {
                let Some((first, rest)) = select.filter.as_ref().and_then(split) else { return Ok(None) };
                let shows_one = select.outputs == one();
                if !shows_one || condition_of(self.schema, key, outer.0, inner).as_ref() != Some(&first) {
                    return Ok(None);
                }
                (EXISTS, rest)
            }
            Expr::InQuery { expr, .. } => {
                let pair = columns_of(self.schema, key)[0];
                let [output] = select.outputs.as_slice() else { return Ok(None) };
                if column_of(expr) != Some((outer.0, pair.0))
                    || column_of(&output.expr) != Some((inner, pair.1))
                {
                    return Ok(None);
                }
                (if key.earlier_declares { REFERS } else { REFERRED }, select.filter.clone())
            }
            _ => return Ok(None),
        };
        let filter = rest.as_ref().map(|rest| self.filter(rest)).transpose()?;
        let rule = super::rule_of(rules, &negated);
        Ok(rule.map(|rule| Tree::Node(rule, vec![source.into(), filter.into()])))
    }
}

/// What EXISTS shows.
fn one() -> [Output; 1] {
    [Output::of(Expr::Literal(Literal::Integer(1)))]
}

/// A subquery that has nothing but one table and conditions.
fn plain(query: &Query) -> Option<(&Select, &From, u32)> {
    let select = query.as_select()?;
    let from = select.from.as_ref()?;
    let From::Relation(relation) = from else { return None };
    let is_plain = query.ctes.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && !select.distinct
        && select.group_by.is_empty()
        && select.having.is_none();
    Some((select, from, sqlgauge_sql::canonical::table_of(relation)?)).filter(|_| is_plain)
}

impl Hear<'_> {
    /// The condition by which the one relation of the query at hand goes with a row around that a phrase names.
    pub(super) fn correlation(&mut self, reference: &Tree) -> Option<Expr> {
        let outers = self.relations_of(reference)?;
        let (outer, outer_reads) = self.choose(&outers)?;
        let relations = self.scopes.last()?.relations.clone();
        let [(inner, Reads::Table(later))] = relations.as_slice() else { return None };
        let key = only_key(self.schema, outer_reads.table()?, *later)?;
        condition_of(self.schema, key, outer, *inner)
    }

    /// A source and a filter that may hold a condition of the source.
    pub(super) fn source_and_filter(
        &mut self,
        source: &Tree,
        filter: Option<&Rc<Tree>>,
    ) -> Option<(From, Option<Expr>)> {
        let from = self.source(source)?;
        let of_source = std::mem::take(&mut self.of_source);
        let filter = match filter {
            Some(filter) => Some(self.filter(filter).filter(is_of_rows)?),
            None => None,
        };
        let all = of_source.into_iter().chain(filter.into_iter().flat_map(conjuncts_of));
        Some((from, conjunction(all.collect())))
    }

    /// Conditions one after the other, of which some say what rows are linked to.
    pub(super) fn relatives(&mut self, slots: &[Slot]) -> Option<Expr> {
        let (last, before) = slots.split_last()?;
        let before = before.iter().flat_map(Slot::all);
        let mut conditions = before.map(|part| self.condition(part)).collect::<Option<Vec<Expr>>>()?;
        conditions.push(self.relative(last.one()?)?);
        conjunction(conditions)
    }

    fn relative(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        let relations = self.scopes.last()?.relations.clone();
        let [(outer, Reads::Table(earlier))] = *relations.as_slice() else { return None };
        let depth = self.scopes.len();
        let heard = self.linked(rule, slots, (outer, earlier));
        self.scopes.truncate(depth);
        heard
    }

    /// What is said of a row of one of several relations.
    pub(super) fn linked_row(&mut self, rule: Rule, slots: &[Slot]) -> Option<Expr> {
        let (reference, slots) = slots.split_first()?;
        let rows = self.relations_of(reference.one()?)?;
        let (relation, reads) = self.choose(&rows)?;
        let depth = self.scopes.len();
        let heard = self.linked(rule, slots, (relation, reads.table()?));
        self.scopes.truncate(depth);
        heard
    }

    /// That a row has a value of other rows of its table.
    fn shared(&mut self, negated: bool, slots: &[Slot], outer: (RelationId, u32)) -> Option<Expr> {
        let [name, source, filter] = slots else { return None };
        let Tree::Name(name, _) = &**name.one()? else { return None };
        let columns = self.vocabulary.columns(*name).iter().filter(|(table, _)| *table == outer.1);
        let columns: Vec<u32> = columns.map(|(_, at)| *at).collect();
        let at = self.choose(&columns)?;
        let (from, filter) = self.source_and_filter(source.one()?, filter.one())?;
        let relations = self.scopes.last()?.relations.clone();
        let [(inner, Reads::Table(table))] = *relations.as_slice() else { return None };
        let column = |relation| Expr::Column(ColumnRef::at(relation, at));
        let output = Output::of(column(inner));
        let query = Box::new(select_of(output, from, filter));
        (table == outer.1).then(|| Expr::InQuery { expr: Box::new(column(outer.0)), query, negated })
    }

    fn linked(&mut self, rule: Rule, slots: &[Slot], outer: (RelationId, u32)) -> Option<Expr> {
        if let Some(negated) = super::value_of(SHARES, rule) {
            return self.shared(negated, slots, outer);
        }
        let [source, filter] = slots else { return None };
        let (from, filter) = self.source_and_filter(source.one()?, filter.one())?;
        let relations = self.scopes.last()?.relations.clone();
        let [(inner, Reads::Table(table))] = *relations.as_slice() else { return None };
        let key = only_key(self.schema, outer.1, table)?;
        if let Some(negated) = super::value_of(EXISTS, rule) {
            let link = condition_of(self.schema, key, outer.0, inner)?;
            let all = std::iter::once(link).chain(filter.into_iter().flat_map(conjuncts_of));
            let query = select_of(one()[0].clone(), from, conjunction(all.collect()));
            return Some(Expr::Exists { query: Box::new(query), negated });
        }
        let rules = if key.earlier_declares { [REFERS, BELONGS] } else { [REFERRED, APPEARS] };
        let negated = rules.into_iter().find_map(|rules| super::value_of(rules, rule))?;
        let &(left, right) = columns_of(self.schema, key).first()?;
        let column = |relation, at| ColumnRef { relation, column: Place::At(at) };
        let output = Output::of(Expr::Column(column(inner, right)));
        let query = Box::new(select_of(output, from, filter));
        Some(Expr::InQuery { expr: Box::new(Expr::Column(column(outer.0, left))), query, negated })
    }
}

fn select_of(output: Output, from: From, filter: Option<Expr>) -> Query {
    Query::of_select(Select { from: Some(from), filter, ..Select::of(vec![output]) })
}
