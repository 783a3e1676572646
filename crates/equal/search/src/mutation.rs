//! Single mutations of a query: what a slip of one place makes of it.
//!
//! A mutation changes one place ([`MutationKind`]): a column becomes the next one of its table that is compared in the same way; a
//! constant, a comparison, a connective, an aggregate, the kind of a join, a set operator, an order or a limit becomes
//! another; DISTINCT and NOT come or go; a condition, a term of GROUP BY or the LIMIT is left out. Most mutations are no
//! longer the query, some are ([`Search`] tells).
//!
//! [`Search`]: crate::Search

use std::collections::HashMap;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, JoinKind, Literal, Query, Real, RelationId, Select,
    SetOperator,
};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

/// What a mutation changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MutationKind {
    /// A column is the next one of its table that is compared in the same way.
    Column,
    /// A number is another, also that of a LIMIT.
    Number,
    /// A text is another.
    Text,
    /// A comparison is another.
    Comparison,
    /// The comparison of two columns, as joins have it, is another or left out, or the connective of such is another.
    Key,
    /// An arithmetic operator is another.
    Arithmetic,
    /// AND is OR, or the other way round.
    Connective,
    /// A condition is left out.
    Condition,
    /// NOT is there or not.
    Negation,
    /// An aggregate function is another.
    Aggregate,
    /// DISTINCT is there or not, of a SELECT or an aggregate.
    Distinct,
    /// A sort order is turned round.
    Direction,
    /// There is no LIMIT.
    NoLimit,
    /// The kind of a join is another.
    Join,
    SetOperation,
    /// A term of GROUP BY is left out.
    Grouping,
}

/// The mutations of a query, by number.
pub struct Mutations<'a> {
    query: &'a Query,
    /// Where it is not known, no column becomes another.
    schema: Option<&'a Schema>,
    tables: HashMap<RelationId, TableId>,
    kinds: Vec<MutationKind>,
}

impl<'a> Mutations<'a> {
    /// Those of a query over that schema.
    pub fn new(query: &'a Query, schema: &'a Schema) -> Self {
        Self::with(query, Some(schema))
    }

    /// Those that can be told without a schema: all but [`MutationKind::Column`].
    pub fn without_schema(query: &'a Query) -> Self {
        Self::with(query, None)
    }

    fn with(query: &'a Query, schema: Option<&'a Schema>) -> Self {
        let tables = reads::tables(query).into_iter().collect();
        let mut mutations = Self { query, schema, tables, kinds: Vec::new() };
        let mut counting = mutations.mutator(None);
        rewrite_query(&mut counting, &mut query.clone());
        mutations.kinds = counting.kinds;
        mutations
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.kinds.len()
    }

    /// What each of them changes.
    pub fn kinds(&self) -> &[MutationKind] {
        &self.kinds
    }

    /// The mutation of that number; `None` if there is none, or it changes nothing.
    pub fn get(&self, number: usize) -> Option<Query> {
        let mut mutated = self.query.clone();
        rewrite_query(&mut self.mutator(Some(number)), &mut mutated);
        (mutated != *self.query).then_some(mutated)
    }

    fn mutator(&self, wanted: Option<usize>) -> Mutator<'_> {
        Mutator { schema: self.schema, tables: &self.tables, wanted, kinds: Vec::new() }
    }
}

/// Other forms of one place.
type Mutants<T> = Vec<(MutationKind, T)>;

/// Lists the places where a query can be changed, and changes the wanted one.
struct Mutator<'a> {
    schema: Option<&'a Schema>,
    tables: &'a HashMap<RelationId, TableId>,
    wanted: Option<usize>,
    /// Of those that were passed.
    kinds: Vec<MutationKind>,
}

impl Mutator<'_> {
    fn choose<T>(&mut self, node: &mut T, mut mutants: Mutants<T>) {
        let first = self.kinds.len();
        self.kinds.extend(mutants.iter().map(|(kind, _)| *kind));
        let index = self.wanted.and_then(|wanted| wanted.checked_sub(first));
        if let Some(index) = index.filter(|index| *index < mutants.len()) {
            *node = mutants.swap_remove(index).1;
        }
    }

    /// Another column of the same table that is compared in the same way.
    fn other_column(&self, column: ColumnRef) -> Option<Expr> {
        let (id, position) = (self.tables.get(&column.relation)?, column.column.position()?);
        let columns = &self.schema?.table(*id)?.columns;
        let original = columns.get(position as usize)?;
        let mut others = (0..)
            .zip(columns)
            .filter(|&(at, other)| at != position && other.affinity == original.affinity && !other.generated);
        others.next().map(|(at, _)| Expr::Column(ColumnRef::at(column.relation, at)))
    }
}

impl Rewriter for Mutator<'_> {
    fn query(&mut self, query: &mut Query) {
        let mut mutants = Vec::new();
        for at in 0..query.order_by.len() {
            let mut other = query.clone();
            other.order_by[at].descending = !other.order_by[at].descending;
            mutants.push((MutationKind::Direction, other));
        }
        if let Some(Expr::Literal(Literal::Integer(limit))) = query.limit {
            let limit = Some(Expr::Literal(Literal::Integer(limit.saturating_add(1))));
            mutants.push((MutationKind::Number, Query { limit, ..query.clone() }));
            mutants.push((MutationKind::NoLimit, Query { limit: None, ..query.clone() }));
        }
        self.choose(query, mutants);
    }

    fn body(&mut self, body: &mut Body) {
        let mutants = match body {
            Body::Select(select) => {
                let selects = selects(select).into_iter();
                selects.map(|(kind, select)| (kind, Body::Select(Box::new(select)))).collect()
            }
            Body::SetOperation { operator, all, left, right } => {
                let operation = |(operator, all)| Body::SetOperation {
                    operator,
                    all,
                    left: left.clone(),
                    right: right.clone(),
                };
                let others = set_operations(*operator, *all).into_iter();
                others.map(|other| (MutationKind::SetOperation, operation(other))).collect()
            }
            Body::Values(_) => Vec::new(),
        };
        self.choose(body, mutants);
    }

    fn from(&mut self, from: &mut From) {
        let mut mutants = Vec::new();
        if let From::Join(join) = from {
            let other = match join.kind {
                JoinKind::Inner | JoinKind::Full => Some(JoinKind::Left),
                JoinKind::Left => Some(JoinKind::Inner),
                JoinKind::Cross | JoinKind::Right => None,
            };
            if let Some(kind) = other {
                let mut join = join.clone();
                join.kind = kind;
                mutants.push((MutationKind::Join, From::Join(join)));
            }
        }
        self.choose(from, mutants);
    }

    fn expr(&mut self, expr: &mut Expr) {
        let mutants = match expr {
            Expr::Column(column) => {
                self.other_column(*column).into_iter().map(|other| (MutationKind::Column, other)).collect()
            }
            _ => exprs(expr),
        };
        self.choose(expr, mutants);
    }
}

fn selects(select: &Select) -> Mutants<Select> {
    let mut mutants = vec![(MutationKind::Distinct, Select { distinct: !select.distinct, ..select.clone() })];
    if select.filter.is_some() {
        mutants.push((MutationKind::Condition, Select { filter: None, ..select.clone() }));
    }
    if select.having.is_some() {
        mutants.push((MutationKind::Condition, Select { having: None, ..select.clone() }));
    }
    for at in (0..select.group_by.len()).filter(|_| select.group_by.len() > 1) {
        let mut other = select.clone();
        other.group_by.remove(at);
        mutants.push((MutationKind::Grouping, other));
    }
    mutants
}

/// Every other operator, and UNION with ALL or without.
fn set_operations(operator: SetOperator, all: bool) -> Vec<(SetOperator, bool)> {
    let others = [SetOperator::Union, SetOperator::Intersect, SetOperator::Except];
    let mut others: Vec<_> =
        others.into_iter().filter(|other| *other != operator).map(|other| (other, false)).collect();
    if operator == SetOperator::Union {
        others.push((operator, !all));
    }
    others
}

/// The mutations of an expression that is no column.
fn exprs(expr: &Expr) -> Mutants<Expr> {
    match expr {
        Expr::Literal(literal) => {
            constant(literal).into_iter().map(|(kind, other)| (kind, Expr::Literal(other))).collect()
        }
        Expr::Binary(operator, left, right) => {
            let kind = if !operator.is_comparison() {
                MutationKind::Arithmetic
            } else if is_key(expr) {
                MutationKind::Key
            } else {
                MutationKind::Comparison
            };
            let others = operators(*operator).iter();
            others.map(|&other| (kind, Expr::Binary(other, left.clone(), right.clone()))).collect()
        }
        Expr::And(list) => {
            let without = (0..list.len()).map(|at| {
                let kind = if is_key(&list[at]) { MutationKind::Key } else { MutationKind::Condition };
                let mut rest = list.clone();
                rest.remove(at);
                (kind, if rest.len() == 1 { rest.swap_remove(0) } else { Expr::And(rest) })
            });
            without.chain([(connective(list), Expr::Or(list.clone()))]).collect()
        }
        Expr::Or(list) => vec![(connective(list), Expr::And(list.clone()))],
        Expr::Aggregate(_) => aggregates(expr),
        _ => negated(expr).into_iter().map(|other| (MutationKind::Negation, other)).collect(),
    }
}

fn constant(literal: &Literal) -> Option<(MutationKind, Literal)> {
    match literal {
        Literal::Integer(n) => Some((MutationKind::Number, Literal::Integer(n.saturating_add(1)))),
        Literal::Real(n) => Some((MutationKind::Number, Literal::Real(Real::new(n.get() + 1.0)))),
        Literal::Text(text) => Some((MutationKind::Text, Literal::Text(format!("{text}x")))),
        Literal::Null | Literal::Boolean(_) | Literal::Blob(_) => None,
    }
}

/// Whether two columns are compared.
fn is_key(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(operator, left, right) if operator.is_comparison()
        && matches!((&**left, &**right), (Expr::Column(_), Expr::Column(_))))
}

fn connective(operands: &[Expr]) -> MutationKind {
    if operands.iter().all(is_key) { MutationKind::Key } else { MutationKind::Connective }
}

/// The expression with NOT or without it, where it has a place for that.
fn negated(expr: &Expr) -> Option<Expr> {
    let mut other = expr.clone();
    let negated = other.negated_mut()?;
    *negated = !*negated;
    Some(other)
}

fn aggregates(expr: &Expr) -> Mutants<Expr> {
    let Expr::Aggregate(call) = expr else { return Vec::new() };
    let mut mutants = Vec::new();
    let other = match call.function {
        Function::Min => Some(Function::Max),
        Function::Max => Some(Function::Min),
        Function::Sum => Some(Function::Avg),
        Function::Avg => Some(Function::Sum),
        _ => None,
    };
    if let Some(function) = other {
        let mut call = call.clone();
        call.function = function;
        mutants.push((MutationKind::Aggregate, Expr::Aggregate(call)));
    }
    if call.args.as_slice().len() == 1 {
        let mut call = call.clone();
        call.distinct = !call.distinct;
        mutants.push((MutationKind::Distinct, Expr::Aggregate(call)));
    }
    mutants
}

fn operators(operator: BinaryOperator) -> &'static [BinaryOperator] {
    use BinaryOperator as B;
    match operator {
        B::Equal => &[B::NotEqual, B::GreaterEqual],
        B::NotEqual => &[B::Equal],
        B::Less => &[B::LessEqual, B::Greater],
        B::LessEqual => &[B::Less, B::GreaterEqual],
        B::Greater => &[B::GreaterEqual, B::Less],
        B::GreaterEqual => &[B::Greater, B::LessEqual],
        B::Add => &[B::Subtract],
        B::Subtract => &[B::Add],
        B::Multiply => &[B::Divide],
        B::Divide => &[B::Multiply],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use sqlgauge_sql::{PrintDialect, print, resolve};

    #[test]
    fn each_mutation_changes_one_place() {
        let schema = Schema::from_ddl("CREATE TABLE t (a INT, b INT, c TEXT)").unwrap();
        let query =
            resolve("SELECT DISTINCT a FROM t WHERE b > 1 AND c = 'x' ORDER BY a LIMIT 2", &schema).unwrap();
        let mutations = Mutations::new(&query, &schema);
        let all: Vec<Query> = (0..mutations.count()).filter_map(|number| mutations.get(number)).collect();
        let texts: BTreeSet<String> =
            all.iter().map(|mutant| print(mutant, &schema, PrintDialect::Sqlite).unwrap()).collect();
        let text = print(&query, &schema, PrintDialect::Sqlite).unwrap();
        assert!(!texts.contains(&text) && all.len() > 10, "{texts:?}");
        for expected in ["b >= 1", "b > 2", "'xx'", " OR ", "LIMIT 3", "DISTINCT t.b", "DESC"] {
            assert!(texts.iter().any(|text| text.contains(expected)), "{expected}: {texts:?}");
        }
        assert!(
            texts.iter().any(|text| !text.contains("DISTINCT")) && mutations.get(mutations.count()).is_none()
        );
        assert_eq!(mutations.kinds().len(), mutations.count());
    }

    #[test]
    fn every_kind_comes_and_one_that_changes_nothing_is_none() {
        let schema =
            Schema::from_ddl("CREATE TABLE t (a INT, b INT, c TEXT); CREATE TABLE u (a INT);").unwrap();
        let text = "SELECT max(t.a + 1) FROM t LEFT JOIN u ON t.a = u.a \
                    WHERE t.b > 1.5 AND c = 'x' AND t.b IS NOT NULL GROUP BY t.a, t.b \
                    UNION ALL SELECT b FROM t WHERE b NOT IN (1, 2) OR a < 3 ORDER BY 1 LIMIT 9223372036854775807";
        let query = resolve(text, &schema).unwrap();
        let kinds = |mutations: &Mutations<'_>| mutations.kinds().iter().copied().collect::<BTreeSet<_>>();
        let mutations = Mutations::new(&query, &schema);
        assert_eq!(kinds(&mutations).len(), 16, "{:?}", kinds(&mutations));
        let without: BTreeSet<MutationKind> = kinds(&Mutations::without_schema(&query));
        assert!(!without.contains(&MutationKind::Column) && without.len() == 15, "{without:?}");
        // The greatest number has none above it.
        assert!((0..mutations.count()).any(|number| mutations.get(number).is_none()));
    }
}
