//! Aggregates, functions and windows.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Aggregate, Args, Expr, Literal, Owner, Window, WindowCall};

use super::query::{in_plural, is_of_rows};
use super::tail::Scale;
use super::value::quoted;
use super::{Hear, Said, Say};
use crate::engine::tree::{Slot, Tree};
use crate::grammar::Rule;
use crate::unsayable::Unsayable;
use sqlgauge_sql::canonical::keys_between;

/// Aggregates of one argument, with DISTINCT or without.
const AGGREGATES: &super::Pairs<(Function, bool)> = &[
    ((Function::Count, false), Rule::CountKnown),
    ((Function::Count, true), Rule::CountDistinct),
    ((Function::Avg, false), Rule::Average),
    ((Function::Avg, true), Rule::AverageDistinct),
    ((Function::Sum, false), Rule::Total),
    ((Function::Sum, true), Rule::TotalDistinct),
    ((Function::Max, false), Rule::Maximum),
    ((Function::Max, true), Rule::MaximumDistinct),
    ((Function::Min, false), Rule::Minimum),
    ((Function::Min, true), Rule::MinimumDistinct),
    ((Function::Max, false), Rule::LatestOf),
    ((Function::Min, false), Rule::EarliestOf),
    ((Function::GroupConcat, false), Rule::Joined),
    ((Function::GroupConcat, true), Rule::JoinedDistinct),
];

/// Functions by how many arguments they have.
const FUNCTIONS: &super::Pairs<(Function, usize)> = &[
    ((Function::Length, 1), Rule::Length),
    ((Function::Upper, 1), Rule::Uppercase),
    ((Function::Lower, 1), Rule::Lowercase),
    ((Function::Abs, 1), Rule::Absolute),
    ((Function::Round, 1), Rule::Rounded),
    ((Function::Round, 2), Rule::RoundedTo),
    ((Function::Trim, 1), Rule::Trimmed),
];

/// Parts of a date, by the format of `strftime`.
const DATE_PARTS: &super::Pairs<&str> = &[("%Y", Rule::Year), ("%m", Rule::Month), ("%d", Rule::DayOfMonth)];

/// Window functions that have words of their own.
const WINDOWS: &super::Pairs<Function> = &[
    (Function::RowNumber, Rule::RowNumber),
    (Function::Rank, Rule::Rank),
    (Function::DenseRank, Rule::DenseRank),
];

/// Whether a rule says what is computed of one argument over many rows.
pub(super) fn is_over_rows(rule: Rule) -> bool {
    super::value_of(AGGREGATES, rule).is_some()
}

impl Say<'_> {
    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Said {
        if aggregate.owner != Owner::HERE {
            return Err(Unsayable::construct("an aggregate of an outer query"));
        }
        if !aggregate.order_by.is_empty() {
            return Err(Unsayable::construct("ORDER BY inside an aggregate"));
        }
        if let Some(condition) = counts_if(aggregate).filter(|_| self.care.is_terse()) {
            return Ok(Tree::of(Rule::CountIf, [self.condition(condition)?]));
        }
        let call_tree = self.over_group(&aggregate.function, &aggregate.args, aggregate.distinct)?;
        match &aggregate.filter {
            None => Ok(call_tree),
            Some(filter) => Ok(Tree::of(Rule::OnlyThose, [call_tree, self.condition(filter)?])),
        }
    }

    fn over_group(&mut self, function: &Function, args: &Args, distinct: bool) -> Said {
        match args {
            Args::Star if *function == Function::Count => Ok(match self.counted_noun()? {
                Some(noun) => Tree::of(Rule::NumberOf, [noun]),
                None => Tree::word(Rule::CountRows),
            }),
            Args::List(list) => {
                if let [one] = list.as_slice()
                    && let Some(rule) = super::rule_of(AGGREGATES, &(function.clone(), distinct))
                {
                    let operand = self.argument(one)?;
                    // One counts names, and not name.
                    let operand = if *function == Function::Count { counted(operand) } else { operand };
                    let is_time = self.scale(one) == Scale::Time;
                    let rule = match rule {
                        Rule::Maximum if is_time => Rule::LatestOf,
                        Rule::Minimum if is_time => Rule::EarliestOf,
                        rule => rule,
                    };
                    return Ok(Tree::of(rule, [operand]));
                }
                if list.is_empty() {
                    return Err(Unsayable::construct("an aggregate without arguments"));
                }
                let rule = if distinct { Rule::AggregateDistinct } else { Rule::Aggregate };
                self.by_name(rule, function, list)
            }
            Args::Star | Args::Bare => Err(Unsayable::construct("an aggregate of *")),
        }
    }

    fn by_name(&mut self, rule: Rule, function: &Function, list: &[Expr]) -> Said {
        let list: Said<Vec<Tree>> = list.iter().map(|arg| self.operand(arg)).collect();
        let name = Tree::Quoted(function.name().to_owned());
        Ok(Tree::Node(rule, vec![name.into(), list?.into()]))
    }

    /// The rows of a count, by the noun of a table: `None` where the expression is no count, or the rows are no table's.
    pub(super) fn counted(&self, expr: &Expr) -> Said<Option<Tree>> {
        if *expr == count_of_rows() { self.counted_noun() } else { Ok(None) }
    }

    /// The table that has a row for each row of the query at hand: the only one, or the one that refers to all others.
    fn counted_noun(&self) -> Said<Option<Tree>> {
        if !self.care.is_terse() {
            return Ok(None);
        }
        let Some(scope) = self.scopes.last().filter(|scope| !scope.has_outer) else { return Ok(None) };
        let tables: Option<Vec<u32>> = scope.relations.iter().map(|(_, reads)| reads.table()).collect();
        let table = tables.and_then(|tables| counted_table(self.schema, &tables));
        table.map(|table| self.noun(table, true)).transpose()
    }

    /// A scalar function.
    pub(super) fn function(&mut self, function: &Function, args: &Args) -> Said {
        if *function == Function::Merged {
            return Err(Unsayable::construct("a column that FULL JOIN merges"));
        }
        let Args::List(list) = args else {
            return Err(Unsayable::construct("a function without brackets"));
        };
        if let (Function::Strftime, [Expr::Literal(Literal::Text(format)), date]) =
            (function, list.as_slice())
            && let Some(rule) = super::rule_of(DATE_PARTS, &format.as_str())
        {
            return Ok(Tree::of(rule, [self.argument(date)?]));
        }
        if let Some(rule) = super::rule_of(FUNCTIONS, &(function.clone(), list.len())) {
            let args: Said<Vec<Tree>> = list.iter().map(|arg| self.argument(arg)).collect();
            return Ok(Tree::Node(rule, args?.into_iter().map(Slot::from).collect()));
        }
        if list.is_empty() {
            return Ok(Tree::of(Rule::CallNone, [Tree::Quoted(function.name().to_owned())]));
        }
        self.by_name(Rule::Call, function, list)
    }

    /// A window function.
    pub(super) fn window(&mut self, call: &WindowCall) -> Said {
        if call.filter.is_some() {
            return Err(Unsayable::construct("FILTER of a window function"));
        }
        let within = self.within(&call.window)?;
        if let (Some(rule), Args::List(list)) = (super::rule_of(WINDOWS, &call.function), &call.args)
            && list.is_empty()
        {
            return Ok(Tree::of(Rule::Over1, [Tree::word(rule), within]));
        }
        let arity = call.args.as_slice().len();
        let is_aggregate = call.function.aggregates(arity);
        let call_tree = if is_aggregate {
            self.over_group(&call.function, &call.args, false)?
        } else {
            self.function(&call.function, &call.args)?
        };
        Ok(Tree::of(Rule::OverAll, [call_tree, within]))
    }

    fn within(&mut self, window: &Window) -> Said {
        if window.frame.is_some() {
            return Err(Unsayable::construct("a window frame"));
        }
        let each: Said<Vec<Tree>> = window.partition_by.iter().map(|key| self.operand(key)).collect();
        let terms: Said<Vec<Tree>> = window.order_by.iter().map(|term| self.term(term)).collect();
        let (each, terms) = (each?, terms?);
        let rule = match (each.is_empty(), terms.is_empty()) {
            (true, true) => return Ok(Tree::word(Rule::WithinAll)),
            (false, true) => Rule::WithinEach,
            (true, false) => Rule::WithinSorted,
            (false, false) => Rule::WithinEachSorted,
        };
        let lists = [each, terms].into_iter().filter(|list| !list.is_empty());
        Ok(Tree::Node(rule, lists.map(Slot::from).collect()))
    }
}

impl Hear<'_> {
    /// The aggregate, function or window that a phrase means.
    pub(super) fn call(&mut self, tree: &Tree) -> Option<Expr> {
        let (rule, slots) = tree.node()?;
        if let Some((function, distinct)) = super::value_of(AGGREGATES, rule) {
            let [argument] = self.operands(slots)?;
            let fits = is_of_rows(&argument);
            return fits.then(|| aggregate(function, Args::List(vec![*argument]), distinct));
        }
        if let Some((function, arity)) = super::value_of(FUNCTIONS, rule) {
            let args: Option<Vec<Expr>> = slots.iter().map(|slot| self.operand(slot.one()?)).collect();
            return args.filter(|args| args.len() == arity).map(|args| Expr::call(function, args));
        }
        if let Some(format) = super::value_of(DATE_PARTS, rule) {
            let [date] = self.operands(slots)?;
            let format = Expr::Literal(Literal::Text(format.to_owned()));
            return Some(Expr::call(Function::Strftime, vec![format, *date]));
        }
        match (rule, slots) {
            (Rule::CountRows | Rule::Number, _) => Some(count_of_rows()),
            (Rule::CountIf, [condition]) => {
                let condition = self.condition(condition.one()?).filter(is_of_rows)?;
                Some(aggregate(Function::Sum, Args::List(vec![Expr::one_if(condition)]), false))
            }
            (Rule::NumberOf, [noun]) => self.number_of(noun.one()?),
            (Rule::Aggregate | Rule::AggregateDistinct, [name, list]) => {
                let (function, args) = self.named_call(name, list)?;
                let is_aggregate = function.aggregates(args.len()) && args.iter().all(is_of_rows);
                is_aggregate.then(|| aggregate(function, Args::List(args), rule == Rule::AggregateDistinct))
            }
            (Rule::OnlyThose, [inner, condition]) => {
                let Expr::Aggregate(mut inner) = self.operand(inner.one()?)? else { return None };
                inner.filter = Some(self.condition(condition.one()?)?);
                Some(Expr::Aggregate(inner))
            }
            (Rule::CallNone, [name]) => Some(Expr::call(Function::from_name(&quoted(name)?), Vec::new())),
            (Rule::Call, [name, list]) => {
                let (function, args) = self.named_call(name, list)?;
                Some(Expr::call(function, args))
            }
            (Rule::Over1 | Rule::OverAll, [call, within]) => {
                let call = call.one()?;
                let (function, args) = match super::value_of(WINDOWS, call.node()?.0) {
                    Some(function) => (function, Args::List(Vec::new())),
                    None => match self.operand(call)? {
                        Expr::Function { function, args } => (function, args),
                        Expr::Aggregate(inner) if inner.is_plain() => (inner.function, inner.args),
                        _ => return None,
                    },
                };
                let window = self.within(within.one()?)?;
                Some(Expr::Window(Box::new(WindowCall { function, args, filter: None, window })))
            }
            _ => None,
        }
    }

    /// The number of rows, said by the noun of a table that the query at hand reads.
    pub(super) fn number_of(&self, noun: &Tree) -> Option<Expr> {
        let Tree::Noun(noun, _) = noun else { return None };
        let tables = self.vocabulary.tables(*noun);
        let mut tables_here = self.scopes.last()?.relations.iter().filter_map(|(_, reads)| reads.table());
        tables_here.any(|table| tables.contains(&table)).then(count_of_rows)
    }

    fn named_call(&mut self, name: &Slot, list: &Slot) -> Option<(Function, Vec<Expr>)> {
        let args: Option<Vec<Expr>> = list.all().iter().map(|arg| self.operand(arg)).collect();
        Some((Function::from_name(&quoted(name)?), args?))
    }

    fn within(&mut self, tree: &Tree) -> Option<Window> {
        let (rule, slots) = tree.node()?;
        let mut window = Window { partition_by: Vec::new(), order_by: Vec::new(), frame: None };
        let (each, terms) = match (rule, slots) {
            (Rule::WithinAll, []) => (None, None),
            (Rule::WithinEach, [each]) => (Some(each), None),
            (Rule::WithinSorted, [terms]) => (None, Some(terms)),
            (Rule::WithinEachSorted, [each, terms]) => (Some(each), Some(terms)),
            _ => return None,
        };
        if let Some(each) = each {
            let keys: Option<Vec<Expr>> = each.all().iter().map(|key| self.operand(key)).collect();
            window.partition_by = keys?;
        }
        if let Some(terms) = terms {
            window.order_by = self.terms(terms)?;
        }
        Some(window)
    }
}

/// Of tables that are joined, the one that refers to all others, directly or through others.
fn counted_table(schema: &Schema, tables: &[u32]) -> Option<u32> {
    let refers = |from: u32, to: u32| keys_between(schema, from, to).iter().any(|key| key.earlier_declares);
    let reaches_all = |start: u32| {
        let mut reached = vec![start];
        let mut at = 0;
        while let Some(&from) = reached.get(at) {
            at += 1;
            let next = tables.iter().filter(|&&to| !reached.contains(&to) && refers(from, to));
            let next: Vec<u32> = next.copied().collect();
            reached.extend(next);
        }
        reached.len() == tables.len()
    };
    let mut fitting = tables.iter().copied().filter(|&table| reaches_all(table));
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The condition whose cases an aggregate counts.
fn counts_if(aggregate: &Aggregate) -> Option<&Expr> {
    let Args::List(list) = &aggregate.args else { return None };
    let [case @ Expr::Case { operand: None, branches, .. }] = list.as_slice() else { return None };
    let [(condition, _)] = branches.as_slice() else { return None };
    let is_plain = aggregate.function == Function::Sum && aggregate.filter.is_none() && !aggregate.distinct;
    (is_plain && *case == Expr::one_if(condition.clone())).then_some(condition)
}

/// `count(*)`.
pub(super) fn count_of_rows() -> Expr {
    aggregate(Function::Count, Args::Star, false)
}

pub(super) fn aggregate(function: Function, args: Args, distinct: bool) -> Expr {
    Expr::Aggregate(Box::new(Aggregate { distinct, ..Aggregate::plain(function, args) }))
}

/// What is counted, in the plural.
fn counted(phrase: Tree) -> Tree {
    let Tree::Node(Rule::ColumnOf, mut slots) = phrase else { return in_plural(phrase) };
    if let Some(Tree::Name(name, _)) = slots.first().and_then(Slot::one).map(|name| (**name).clone()) {
        slots[0] = Tree::Name(name, true).into();
    }
    Tree::Node(Rule::ColumnOf, slots)
}
