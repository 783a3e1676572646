//! How people ask for shares, for differences of counts, and for what lies beside the average of all: a few words that stand
//! for a long expression.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, ColumnRef, Expr, From, Literal, Output, Place, Query, Relation, RelationSource,
    Select,
};

use super::call::aggregate;
use super::reference::{stripped, told_apart};
use super::tail::Scale;
use super::{Hear, Reads, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use sqlgauge_sql::canonical::table_of;

/// Conditions on a column, and what rows "have" where they hold.
const TRAITS: &super::Pairs<Rule> = &[
    (Rule::Equal, Rule::HaveEqual),
    (Rule::NotEqual, Rule::HaveOther),
    (Rule::Greater, Rule::HaveMore),
    (Rule::GreaterEqual, Rule::HaveAtLeast),
    (Rule::Less, Rule::HaveLess),
    (Rule::LessEqual, Rule::HaveAtMost),
    (Rule::Between, Rule::HaveBetween),
    (Rule::After, Rule::HaveAfter),
    (Rule::Before, Rule::HaveBefore),
    (Rule::NotAfter, Rule::HaveUntil),
    (Rule::NotBefore, Rule::HaveFrom),
    (Rule::Contains, Rule::HaveContaining),
    (Rule::StartsWith, Rule::HaveStarting),
];

/// Comparisons of a column with what all rows of its table have.
const OVERALL: &super::Pairs<(BinaryOperator, Function)> = &[
    ((BinaryOperator::Greater, Function::Avg), Rule::AboveAverage),
    ((BinaryOperator::Less, Function::Avg), Rule::BelowAverage),
    ((BinaryOperator::Equal, Function::Max), Rule::HighestOfAll),
    ((BinaryOperator::Equal, Function::Min), Rule::LowestOfAll),
];

impl Say<'_> {
    /// A share, or a difference of two counts, as a question of its own.
    pub(super) fn share(&self, inner: &Tree) -> Option<Tree> {
        if !self.care.is_terse() {
            return None;
        }
        match inner.node()? {
            (
                Rule::Select | Rule::SelectFor,
                [Slot::None, outputs, source, filter, Slot::None, Slot::None, Slot::None],
            ) => {
                let (Rule::Outputs, [outputs]) = outputs.one()?.node()? else { return None };
                let [output] = outputs.all() else { return None };
                let noun = first_noun(source)?;
                // A dialogue has a turn for each clause.
                if self.has_turns && !super::short::is_table(source) {
                    return None;
                }
                let clauses = [source.clone(), filter.clone()].into_iter();
                if let Some(condition) = percent_of(output) {
                    let test = clauses.chain([said_trait(condition, &noun)?.into()]);
                    return Some(percent_is(test.collect()));
                }
                let [name, one, other] = more_of(output, &noun)?;
                let is_bare = *filter == Slot::None && super::short::is_table(source);
                let rule = if is_bare { Rule::HowManyMore } else { Rule::HowManyMoreOf };
                Some(Tree::Node(rule, clauses.chain([name, one, other]).collect()))
            }
            (Rule::EachOfIts | Rule::EachFor, [keys, rest, source, filter, Slot::None, Slot::None]) => {
                let [share] = rest.all() else { return None };
                let test = said_trait(percent_of(share)?, &first_noun(source)?)?;
                let slots = vec![keys.clone(), source.clone(), filter.clone(), test.into()];
                Some(Tree::Node(Rule::EachPercent, slots))
            }
            _ => None,
        }
    }

    /// The words for a comparison of a column with its average, highest or lowest value of all rows.
    pub(super) fn overall(&self, condition: &Expr) -> Option<Rule> {
        let WithAll { column, table, at, rule } =
            compared_with_all(condition).filter(|_| self.care.is_terse())?;
        // Of times people say "latest".
        let is_amount = matches!(rule, Rule::AboveAverage | Rule::BelowAverage)
            || self.scale(&Expr::Column(column)) == Scale::Amount;
        (is_amount && self.spot(column) == Some((table, at))).then_some(rule)
    }
}

/// A share as a question: of what rows have, or for which of them something is so.
fn percent_is(slots: Vec<Slot>) -> Tree {
    if let [source, filter, test] = slots.as_slice()
        && *filter == Slot::None
        && super::short::is_table(source)
        && let Some((Rule::HaveEqual, [name, value])) = test.one().and_then(|test| test.node())
    {
        let parts = [source, filter, name, value].map(Clone::clone);
        return Tree::Node(Rule::PercentIs, parts.into());
    }
    Tree::Node(Rule::PercentOf, slots)
}

impl Hear<'_> {
    /// The query of a share or of a difference of counts.
    pub(super) fn share(&mut self, rule: Rule, slots: &[Slot]) -> Option<Query> {
        match (rule, slots) {
            (Rule::PercentOf, [source, filter, test]) => {
                let share = percent(heard_trait(test.one()?, source)?);
                self.counted_in(share, source, filter)
            }
            (Rule::PercentIs, [source, filter, name, value]) => {
                let test = Tree::Node(Rule::HaveEqual, vec![name.clone(), value.clone()]);
                self.counted_in(percent(heard_trait(&test, source)?), source, filter)
            }
            (Rule::EachPercent, [keys, source, filter, test]) => {
                let share = percent(heard_trait(test.one()?, source)?);
                let (none, share) = (|| Slot::None, Slot::from(vec![share]));
                self.short(
                    Rule::EachFor,
                    &[keys.clone(), share, source.clone(), filter.clone(), none(), none()],
                )
            }
            (Rule::HowManyMore | Rule::HowManyMoreOf, [source, filter, name, one, other]) => {
                let count = |value: &Slot| -> Option<Tree> {
                    let test = Tree::Node(Rule::HaveEqual, vec![name.clone(), value.clone()]);
                    Some(Tree::of(Rule::CountIf, [heard_trait(&test, source)?]))
                };
                let more = Tree::of(Rule::Minus, [count(one)?, count(other)?]);
                self.counted_in(more, source, filter)
            }
            _ => None,
        }
    }

    /// The comparison of a column with what all rows have.
    pub(super) fn overall(&mut self, rule: Rule, slots: &[Slot]) -> Option<Expr> {
        let (operator, function) = super::value_of(OVERALL, rule)?;
        let [left] = self.operands(slots)?;
        let Expr::Column(ColumnRef { relation, column: Place::At(at) }) = *left else { return None };
        let mut all = self.scopes.iter().rev().flat_map(|scope| &scope.relations);
        let (_, reads) = all.find(|(id, _)| *id == relation)?;
        let Reads::Table(table) = *reads else { return None };
        let source = RelationSource::Table(self.schema.id_at(table as usize)?);
        let id = self.fresh();
        let query = of_all(Relation::new(id, source), ColumnRef::at(id, at), function);
        Some(Expr::Binary(operator, left, Box::new(Expr::Scalar(Box::new(query)))))
    }
}

/// A comparison of a column with an aggregate over all rows of a table.
pub(super) struct WithAll {
    /// What is compared.
    pub(super) column: ColumnRef,
    /// The table and the place of the column that the aggregate is over.
    table: u32,
    at: u32,
    rule: Rule,
}

/// What a condition compares with all rows of a table, if it does that.
pub(super) fn compared_with_all(condition: &Expr) -> Option<WithAll> {
    let Expr::Binary(operator, left, right) = condition else { return None };
    let (Expr::Column(column), Expr::Scalar(query)) = (&**left, &**right) else { return None };
    let select = query.as_select()?;
    let [Output { expr: Expr::Aggregate(call), .. }] = select.outputs.as_slice() else { return None };
    let ([Expr::Column(averaged)], From::Relation(relation)) = (call.args.as_slice(), select.from.as_ref()?)
    else {
        return None;
    };
    let Place::At(at) = averaged.column else { return None };
    let rule = super::rule_of(OVERALL, &(*operator, call.function.clone()))?;
    let is_all = **query == of_all(relation.clone(), *averaged, call.function.clone());
    let table = table_of(relation).filter(|_| is_all && averaged.relation == relation.id)?;
    Some(WithAll { column: *column, table, at, rule })
}

/// An aggregate of a column over all rows of its table.
fn of_all(relation: Relation, column: ColumnRef, function: Function) -> Query {
    let expr = aggregate(function, Args::List(vec![Expr::Column(column)]), false);
    Query::of_select(Select { from: Some(From::Relation(relation)), ..Select::of(vec![Output::of(expr)]) })
}

/// The noun of the table that a source names first, in the singular.
pub(super) fn first_noun(source: &Slot) -> Option<Tree> {
    let (Rule::Alone | Rule::Linked, [first, ..]) = source.one()?.node()? else { return None };
    super::short::relation_noun(first.one()?).map(|noun| noun.clone().in_number(false))
}

fn hundred() -> Tree {
    Tree::of(Rule::Literal, [Tree::Value(Literal::Integer(100))])
}

/// The share of rows for which a condition holds, in percent.
fn percent(condition: Tree) -> Tree {
    let decimal = Tree::of(Rule::AsDecimal, [Tree::of(Rule::CountIf, [condition])]);
    let times = Tree::of(Rule::InParentheses, [Tree::of(Rule::Times, [decimal, hundred()])]);
    Tree::of(Rule::Over, [times, Tree::word(Rule::CountRows)])
}

/// The condition of [`percent`].
fn percent_of(share: &Tree) -> Option<&Tree> {
    let (Rule::Over, [times, count]) = share.node()? else { return None };
    if !matches!(count.one()?.node()?.0, Rule::CountRows | Rule::NumberOf | Rule::Number) {
        return None;
    }
    let (Rule::InParentheses, [times]) = times.one()?.node()? else { return None };
    let (Rule::Times, [decimal, factor]) = times.one()?.node()? else { return None };
    let (Rule::AsDecimal, [counted]) = decimal.one()?.node()? else { return None };
    let (Rule::CountIf, [condition]) = counted.one()?.node()? else { return None };
    (**factor.one()? == hundred()).then_some(&**condition.one()?)
}

/// The column and the two values of a difference of counts.
fn more_of(output: &Tree, noun: &Tree) -> Option<[Slot; 3]> {
    let (Rule::Minus, [one, other]) = output.node()? else { return None };
    let equal = |counted: &Slot| -> Option<[Slot; 2]> {
        let (Rule::CountIf, [condition]) = counted.one()?.node()? else { return None };
        match said_trait(condition.one()?, noun)?.node()? {
            (Rule::HaveEqual, [name, value]) => Some([name.clone(), value.clone()]),
            _ => None,
        }
    };
    let ([name, one], [same, other]) = (equal(one)?, equal(other)?);
    (name == same).then_some([name, one, other])
}

/// What the rows of the table named first have where a condition holds: a column of theirs, compared with constants.
fn said_trait(condition: &Tree, noun: &Tree) -> Option<Tree> {
    let (rule, slots) = condition.node()?;
    let rule_of_trait = super::rule_of(TRAITS, &rule)?;
    let (column, values) = slots.split_first()?;
    let column = stripped(column.one()?, noun);
    let (Rule::Column, [name]) = column.node()? else { return None };
    let is_constant = |slot: &Slot| matches!(slot.one().and_then(|one| one.node()), Some((Rule::Literal, _)));
    let slots = std::iter::once(name.clone()).chain(values.iter().cloned()).collect();
    values.iter().all(is_constant).then_some(Tree::Node(rule_of_trait, slots))
}

/// The condition of what the rows of the table have that a source names first.
fn heard_trait(phrase: &Tree, source: &Slot) -> Option<Tree> {
    let (rule, slots) = phrase.node()?;
    let condition = super::value_of(TRAITS, rule)?;
    let (name, values) = slots.split_first()?;
    let column = Tree::Node(Rule::Column, vec![name.clone()]);
    let column = match source.one()?.node()? {
        (Rule::Linked, _) => told_apart(&column, &first_noun(source)?),
        _ => column,
    };
    let slots = std::iter::once(column.into()).chain(values.iter().cloned()).collect();
    Some(Tree::Node(condition, slots))
}
