//! What follows from the schema about the parts of a query: nullability, affinity, collation, uniqueness and
//! functional dependency.
//!
//! Every answer holds for all databases that satisfy the schema as SQLite enforces it; where nothing follows,
//! the answer is the weaker one ("may be NULL", "no key", "not determined").

use crate::aggregates;
use crate::functions::Function;
use crate::schema::{Affinity, Collation, Schema, TableId};
use crate::tree::{
    BinaryOperator, Body, ColumnRef, Cte, CteId, Expr, From, Join, JoinKind, LikeOperator, Literal, Query,
    Relation, RelationId, Select, SetOperator, Source, UnaryOperator,
};
use crate::visit::children;

/// What is known of one column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its affinity in comparisons; `None` for an expression without one.
    pub affinity: Option<Affinity>,
    /// Its collation.
    pub collation: Collation,
}

impl ColumnFacts {
    fn unknown() -> Self {
        Self { nullable: true, affinity: None, collation: Collation::Binary }
    }
}

/// What is known of one relation.
#[derive(Debug, Clone)]
enum RelationFacts {
    Unknown,
    Table(TableId),
    Columns { columns: Vec<ColumnFacts>, keys: Vec<Vec<u32>> },
}

/// What the schema says about every relation of a statement.
#[derive(Debug, Clone)]
pub struct Facts<'s> {
    schema: &'s Schema,
    relations: Vec<(RelationFacts, bool)>,
    ctes: Vec<(CteId, RelationFacts)>,
}

impl<'s> Facts<'s> {
    /// Collects the facts of a statement and of every query inside it.
    pub fn of(query: &Query, schema: &'s Schema) -> Self {
        let mut facts = Self { schema, relations: Vec::new(), ctes: Vec::new() };
        facts.query(query);
        facts
    }

    /// The schema that the facts follow from.
    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// Makes a further relation known that reads a table.
    pub fn add_table(&mut self, relation: RelationId, table: TableId) {
        self.set(relation, RelationFacts::Table(table));
    }

    /// Makes a further relation known that reads a subquery, and everything in that subquery.
    pub fn add_derived(&mut self, relation: RelationId, query: &Query) {
        let facts = self.query(query);
        self.set(relation, facts);
    }

    /// A number that no relation of the statement has.
    pub fn next_relation(&self) -> RelationId {
        RelationId(u32::try_from(self.relations.len()).unwrap_or(u32::MAX))
    }

    /// The table that a relation reads, if it reads one.
    pub fn table_of(&self, relation: RelationId) -> Option<TableId> {
        match self.relations.get(relation.0 as usize) {
            Some((RelationFacts::Table(id), _)) => Some(*id),
            _ => None,
        }
    }

    /// Whether an outer join may fill the relation's columns with NULL.
    pub fn is_null_extended(&self, relation: RelationId) -> bool {
        self.relations.get(relation.0 as usize).is_none_or(|(_, extended)| *extended)
    }

    /// Says whether the relation's columns may be NULL because there is no row of it: an outer join found none, or
    /// an aggregate without GROUP BY is asked for them over no rows.
    pub fn set_null_extended(&mut self, relation: RelationId, is_extended: bool) {
        if let Some((_, extended)) = self.relations.get_mut(relation.0 as usize) {
            *extended = is_extended;
        }
    }

    /// What is known of a column before outer joins are looked at.
    fn own_column(&self, column: ColumnRef) -> ColumnFacts {
        match self.relations.get(column.relation.0 as usize).map(|(facts, _)| facts) {
            Some(RelationFacts::Table(id)) => {
                let found =
                    self.schema.table(*id).and_then(|table| Some((table, table.column(column.column)?)));
                match found {
                    Some((table, own)) => ColumnFacts {
                        nullable: !table.is_not_null(column.column),
                        affinity: Some(own.affinity),
                        collation: own.collation.clone(),
                    },
                    None if column.column == ColumnRef::ROWID => ColumnFacts {
                        nullable: false,
                        affinity: Some(Affinity::Integer),
                        collation: Collation::Binary,
                    },
                    None => ColumnFacts::unknown(),
                }
            }
            Some(RelationFacts::Columns { columns, .. }) => {
                columns.get(column.column as usize).cloned().unwrap_or_else(ColumnFacts::unknown)
            }
            Some(RelationFacts::Unknown) | None => ColumnFacts::unknown(),
        }
    }

    /// What is known of a column where the query around the joins sees it.
    pub fn column(&self, column: ColumnRef) -> ColumnFacts {
        let mut facts = self.own_column(column);
        facts.nullable |= self.is_null_extended(column.relation);
        facts
    }

    /// Column sets of a relation on which no two of its rows agree without a NULL in them.
    pub fn unique_sets(&self, relation: RelationId) -> Vec<Vec<u32>> {
        match self.relations.get(relation.0 as usize).map(|(facts, _)| facts) {
            Some(RelationFacts::Table(id)) => {
                let Some(table) = self.schema.table(*id) else { return Vec::new() };
                let mut sets = Vec::with_capacity(1 + table.unique.len());
                if !table.primary_key.is_empty() {
                    sets.push(table.primary_key.clone());
                }
                sets.extend(table.unique.iter().cloned());
                if !table.without_rowid {
                    sets.push(vec![ColumnRef::ROWID]);
                }
                sets
            }
            Some(RelationFacts::Columns { keys, .. }) => keys.clone(),
            Some(RelationFacts::Unknown) | None => Vec::new(),
        }
    }

    /// Whether the expression may be NULL.
    pub fn is_nullable(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.column(*column).nullable,
            Expr::Literal(literal) => *literal == Literal::Null,
            Expr::Unary(_, operand) => self.is_nullable(operand),
            Expr::Binary(operator, left, right) => match operator {
                BinaryOperator::Is | BinaryOperator::IsNot => false,
                // Division by zero, overflow to NaN and JSON paths that lead nowhere give NULL.
                BinaryOperator::Divide
                | BinaryOperator::Modulo
                | BinaryOperator::Arrow
                | BinaryOperator::LongArrow
                | BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply => true,
                _ => self.is_nullable(left) || self.is_nullable(right),
            },
            Expr::And(list) | Expr::Or(list) => list.iter().any(|operand| self.is_nullable(operand)),
            Expr::Between { expr, low, high, .. } => [expr, low, high].iter().any(|e| self.is_nullable(e)),
            Expr::InList { expr, list, .. } => {
                self.is_nullable(expr) || list.iter().any(|operand| self.is_nullable(operand))
            }
            Expr::Like {
                operator: LikeOperator::Like | LikeOperator::Glob,
                expr,
                pattern,
                escape: None,
                ..
            } => self.is_nullable(expr) || self.is_nullable(pattern),
            Expr::Exists { .. } | Expr::IsNull { .. } => false,
            Expr::InQuery { expr, query, .. } => self.is_nullable(expr) || self.outputs_may_be_null(query),
            Expr::Case { branches, otherwise, .. } => {
                otherwise.as_ref().is_none_or(|otherwise| self.is_nullable(otherwise))
                    || branches.iter().any(|(_, then)| self.is_nullable(then))
            }
            Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => self.is_nullable(expr),
            Expr::Function { function, args } => match function {
                Function::Coalesce | Function::IfNull => {
                    args.as_slice().iter().all(|arg| self.is_nullable(arg))
                }
                Function::Length
                | Function::Upper
                | Function::Lower
                | Function::Trim
                | Function::Ltrim
                | Function::Rtrim => args.as_slice().iter().any(|arg| self.is_nullable(arg)),
                Function::TypeOf => false,
                _ => true,
            },
            Expr::Aggregate(aggregate) => !matches!(aggregate.function, Function::Count | Function::Total),
            Expr::Window(call) => call.function != Function::Count,
            Expr::Output(_) | Expr::Like { .. } | Expr::Scalar(_) | Expr::Row(_) => true,
        }
    }

    fn outputs_may_be_null(&self, query: &Query) -> bool {
        let Some(select) = query.as_select() else { return true };
        select.outputs.iter().any(|output| self.output_may_be_null(select, &output.expr))
    }

    /// Whether a result column of a SELECT may be NULL, its own filter considered.
    pub fn output_may_be_null(&self, select: &Select, expr: &Expr) -> bool {
        if !self.is_nullable(expr) {
            return false;
        }
        let Expr::Column(column) = expr else { return true };
        !conjuncts(select).iter().any(|conjunct| rejects_null(conjunct, *column))
    }

    /// The affinity of an expression in a comparison; `None` if it has none.
    pub fn affinity(&self, expr: &Expr) -> Option<Affinity> {
        match expr {
            Expr::Column(column) => self.own_column(*column).affinity,
            Expr::Cast { type_name, .. } => Some(Affinity::of_declared_type(Some(type_name))),
            Expr::Collate { expr, .. } => self.affinity(expr),
            Expr::Scalar(query) => self.affinity(&query.as_select()?.outputs.first()?.expr),
            _ => None,
        }
    }

    /// The collation that an operand brings into a comparison; `None` if it brings none.
    pub fn collation(&self, expr: &Expr) -> Option<Collation> {
        match expr {
            Expr::Column(column) => Some(self.own_column(*column).collation),
            Expr::Cast { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => self.collation(expr),
            Expr::Collate { collation, .. } => Some(Collation::from_name(collation)),
            _ => None,
        }
    }

    /// Whether the expression compares byte by byte: no part of it brings another collation.
    pub fn is_binary(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Collate { collation, .. } => Collation::from_name(collation) == Collation::Binary,
            Expr::Column(column) => self.own_column(*column).collation == Collation::Binary,
            Expr::Literal(_) => true,
            Expr::Function { args, .. } => args.as_slice().iter().all(|arg| self.is_binary(arg)),
            Expr::Aggregate(aggregate) => aggregate.args.as_slice().iter().all(|arg| self.is_binary(arg)),
            Expr::Window(call) => call.args.as_slice().iter().all(|arg| self.is_binary(arg)),
            Expr::Binary(_, left, right) => self.is_binary(left) && self.is_binary(right),
            Expr::Unary(_, expr) | Expr::Cast { expr, .. } => self.is_binary(expr),
            Expr::Case { branches, otherwise, .. } => {
                branches.iter().all(|(_, then)| self.is_binary(then))
                    && otherwise.as_ref().is_none_or(|otherwise| self.is_binary(otherwise))
            }
            Expr::Scalar(query) => query
                .as_select()
                .and_then(|select| select.outputs.first())
                .is_some_and(|output| self.is_binary(&output.expr)),
            _ => false,
        }
    }

    /// Whether equal values of the expression are the same value: no column in it, subqueries excepted, has a
    /// collation under which different texts are equal.
    pub fn is_binary_or_plain(&self, expr: &Expr) -> bool {
        let mut columns = Vec::new();
        collect_columns(expr, &mut columns);
        columns.into_iter().all(|column| self.own_column(column).collation == Collation::Binary)
            && !has_collate(expr)
    }

    fn set(&mut self, relation: RelationId, facts: RelationFacts) {
        let index = relation.0 as usize;
        if self.relations.len() <= index {
            self.relations.resize(index + 1, (RelationFacts::Unknown, false));
        }
        self.relations[index] = (facts, false);
    }

    fn query(&mut self, query: &Query) -> RelationFacts {
        for cte in &query.ctes {
            let facts = self.cte(cte);
            self.ctes.push((cte.id, facts));
        }
        let facts = self.body(&query.body);
        let order = query.order_by.iter().map(|term| &term.expr);
        for expr in order.chain(&query.limit).chain(&query.offset) {
            self.inside(expr);
        }
        facts
    }

    fn cte(&mut self, cte: &Cte) -> RelationFacts {
        // A recursive CTE refers to itself before it is known.
        self.ctes.push((cte.id, RelationFacts::Unknown));
        let facts = self.query(&cte.query);
        self.ctes.pop();
        match (&cte.query.body, facts) {
            (Body::Select(_), facts) => facts,
            _ => RelationFacts::Unknown,
        }
    }

    fn body(&mut self, body: &Body) -> RelationFacts {
        match body {
            Body::Select(select) => self.select(select),
            Body::SetOperation { operator, all, left, right } => {
                let left = self.body(left);
                let right = self.body(right);
                combine(*operator, *all, left, right)
            }
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|expr| self.inside(expr));
                RelationFacts::Unknown
            }
        }
    }

    fn select(&mut self, select: &Select) -> RelationFacts {
        if let Some(from) = &select.from {
            self.from(from, false);
        }
        let outputs = select.outputs.iter().map(|output| &output.expr);
        for expr in outputs.chain(&select.filter).chain(&select.group_by).chain(&select.having) {
            self.inside(expr);
        }
        let columns = select.outputs.iter().map(|output| ColumnFacts {
            nullable: self.output_may_be_null(select, &output.expr),
            affinity: self.affinity(&output.expr),
            collation: self.collation(&output.expr).unwrap_or_default(),
        });
        let columns: Vec<ColumnFacts> = columns.collect();
        let keys = self.output_keys(select);
        RelationFacts::Columns { columns, keys }
    }

    /// Sets of result columns on which no two rows of the SELECT agree.
    fn output_keys(&self, select: &Select) -> Vec<Vec<u32>> {
        let positions = |exprs: &[Expr]| -> Option<Vec<u32>> {
            exprs
                .iter()
                .map(|expr| {
                    let found = select.outputs.iter().position(|output| output.expr == *expr)?;
                    u32::try_from(found).ok()
                })
                .collect()
        };
        if !select.group_by.is_empty() {
            return positions(&select.group_by).into_iter().collect();
        }
        if is_aggregate_select(select) {
            return (0..).take(select.outputs.len().min(1)).map(|n| vec![n]).collect();
        }
        if select.distinct {
            return vec![(0..).take(select.outputs.len()).collect()];
        }
        let Some(From::Relation(relation)) = &select.from else { return Vec::new() };
        let sets = self.unique_sets(relation.id);
        let as_column = |column: u32| Expr::Column(ColumnRef { relation: relation.id, column });
        sets.iter()
            .filter_map(|set| positions(&set.iter().map(|&c| as_column(c)).collect::<Vec<_>>()))
            .collect()
    }

    fn from(&mut self, from: &From, extended: bool) {
        match from {
            From::Relation(relation) => self.relation(relation, extended),
            From::Join(join) => {
                let Join { kind, left, right, on } = join.as_ref();
                self.from(left, extended || matches!(kind, JoinKind::Right | JoinKind::Full));
                self.from(right, extended || matches!(kind, JoinKind::Left | JoinKind::Full));
                if let Some(on) = on {
                    self.inside(on);
                }
            }
        }
    }

    fn relation(&mut self, relation: &Relation, extended: bool) {
        let facts = match &relation.source {
            Source::Table(id) => RelationFacts::Table(*id),
            Source::Derived(query) => self.query(query),
            Source::Cte(id) => self
                .ctes
                .iter()
                .rev()
                .find(|(own, _)| own == id)
                .map_or(RelationFacts::Unknown, |(_, facts)| facts.clone()),
            Source::Function { args, .. } => {
                args.iter().for_each(|arg| self.inside(arg));
                RelationFacts::Unknown
            }
            Source::Catalog => RelationFacts::Unknown,
        };
        self.set(relation.id, facts);
        if let Some((_, own)) = self.relations.get_mut(relation.id.0 as usize) {
            *own = extended;
        }
    }

    /// Looks for subqueries inside an expression.
    fn inside(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(_) | Expr::Literal(_) | Expr::Output(_) => {}
            Expr::InQuery { expr, query, .. } => {
                self.inside(expr);
                self.query(query);
            }
            Expr::Exists { query, .. } | Expr::Scalar(query) => {
                self.query(query);
            }
            other => children(other, &mut |child| self.inside(child)),
        }
    }
}

fn combine(operator: SetOperator, all: bool, left: RelationFacts, right: RelationFacts) -> RelationFacts {
    let (RelationFacts::Columns { columns, .. }, RelationFacts::Columns { columns: others, .. }) =
        (left, right)
    else {
        return RelationFacts::Unknown;
    };
    let width = columns.len();
    let merged = columns.into_iter().zip(others).map(|(left, right)| ColumnFacts {
        nullable: match operator {
            SetOperator::Union => left.nullable || right.nullable,
            SetOperator::Intersect => left.nullable && right.nullable,
            SetOperator::Except => left.nullable,
        },
        affinity: left.affinity.filter(|_| left.affinity == right.affinity),
        collation: left.collation,
    });
    let keys = if all { Vec::new() } else { vec![(0..).take(width).collect()] };
    RelationFacts::Columns { columns: merged.collect(), keys }
}

/// Whether the expression holds an aggregate of the SELECT that it stands in, be it inside a subquery.
pub fn has_aggregate(expr: &Expr) -> bool {
    aggregates::has_own(expr)
}

/// Whether a window function is called in the expression itself, subqueries excepted.
pub fn has_window(expr: &Expr) -> bool {
    if matches!(expr, Expr::Window(_)) {
        return true;
    }
    let mut found = false;
    children(expr, &mut |child| found = found || has_window(child));
    found
}

/// Whether the SELECT groups its rows: GROUP BY, HAVING or an aggregate among its results.
pub fn is_aggregate_select(select: &Select) -> bool {
    !select.group_by.is_empty()
        || select.having.is_some()
        || select.outputs.iter().any(|output| has_aggregate(&output.expr))
}

/// The conditions that every row of a SELECT's FROM and WHERE satisfies: the conjuncts of WHERE, and of ON where
/// no outer join weakens it.
pub fn conjuncts(select: &Select) -> Vec<&Expr> {
    let mut found = Vec::new();
    if let Some(filter) = &select.filter {
        split(filter, &mut found);
    }
    let mut pending: Vec<&From> = select.from.iter().collect();
    while let Some(from) = pending.pop() {
        let From::Join(join) = from else { continue };
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                pending.extend([&join.left, &join.right]);
                if let Some(on) = &join.on {
                    split(on, &mut found);
                }
            }
            JoinKind::Left => pending.push(&join.left),
            JoinKind::Right => pending.push(&join.right),
            JoinKind::Full => {}
        }
    }
    found
}

fn split<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::And(list) => list.iter().for_each(|operand| split(operand, found)),
        other => found.push(other),
    }
}

/// Whether the condition can only be true if the column is not NULL.
pub fn rejects_null(condition: &Expr, column: ColumnRef) -> bool {
    match condition {
        Expr::Binary(operator, left, right) if operator.is_comparison() => {
            !matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                && (is_null_with(left, column) || is_null_with(right, column))
        }
        Expr::Between { expr, low, high, negated } => {
            is_null_with(expr, column) || (!negated && [low, high].iter().any(|e| is_null_with(e, column)))
        }
        Expr::Like { expr, pattern, .. } => is_null_with(expr, column) || is_null_with(pattern, column),
        Expr::InList { expr, list, negated } => is_null_with(expr, column) && !(*negated && list.is_empty()),
        // NOT IN over no rows is true whatever the value.
        Expr::InQuery { expr, negated: false, .. } | Expr::IsNull { expr, negated: true } => {
            is_null_with(expr, column)
        }
        Expr::Unary(UnaryOperator::Not, inner) => match inner.as_ref() {
            // NOT BETWEEN is true for a value below the lower bound, whatever the upper one.
            Expr::IsNull { expr, negated: false } | Expr::Between { expr, .. } => is_null_with(expr, column),
            // `NULL IN ()` is false, and not NULL.
            Expr::InList { list, .. } if list.is_empty() => false,
            Expr::Binary(..) | Expr::Like { .. } | Expr::InList { .. } | Expr::Column(_) => {
                rejects_null(inner, column)
            }
            _ => false,
        },
        Expr::And(list) => list.iter().any(|operand| rejects_null(operand, column)),
        Expr::Or(list) => !list.is_empty() && list.iter().all(|operand| rejects_null(operand, column)),
        Expr::Column(own) => *own == column,
        Expr::Exists { query, negated: false } => match query.as_select() {
            Some(select) => {
                !is_aggregate_select(select)
                    && conjuncts(select).iter().any(|inner| rejects_null(inner, column))
            }
            None => false,
        },
        _ => false,
    }
}

/// Whether the expression is NULL whenever the column is.
fn is_null_with(expr: &Expr, column: ColumnRef) -> bool {
    match expr {
        Expr::Column(own) => *own == column,
        Expr::Unary(_, operand) => is_null_with(operand, column),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => is_null_with(expr, column),
        Expr::Binary(operator, left, right) => {
            !matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                && (is_null_with(left, column) || is_null_with(right, column))
        }
        Expr::Function { function, args } => {
            function.properties().null_on_null && args.as_slice().iter().any(|arg| is_null_with(arg, column))
        }
        _ => false,
    }
}

/// Most relations in one FROM clause whose dependencies are followed.
const MAX_RELATIONS: usize = 128;

/// The functional dependencies among the columns of one SELECT: which columns are fixed once others are.
#[derive(Debug)]
pub struct Dependencies<'a> {
    facts: &'a Facts<'a>,
    relations: Vec<RelationId>,
    /// The first fixes the second.
    fixes: Vec<(ColumnRef, ColumnRef)>,
    linked: Vec<ColumnRef>,
    constant: Vec<ColumnRef>,
    not_null: Vec<ColumnRef>,
    /// For a relation on the right of a LEFT JOIN: its own columns that ON equates, with what with, and
    /// all other columns that ON reads.
    outer: Vec<OuterLink>,
}

#[derive(Debug)]
struct OuterLink {
    relation: RelationId,
    equal: Vec<(u32, ColumnRef)>,
    reads: Vec<ColumnRef>,
}

/// Columns that are fixed.
#[derive(Debug, Default)]
pub struct Closure {
    columns: Vec<ColumnRef>,
    relations: Vec<RelationId>,
    own: Vec<RelationId>,
}

impl Closure {
    /// Whether the column is fixed; a column of an enclosing query always is.
    pub fn contains(&self, column: ColumnRef) -> bool {
        self.relations.contains(&column.relation)
            || self.columns.contains(&column)
            || !self.own.contains(&column.relation)
    }

    /// Whether every row of every relation is fixed.
    pub fn is_complete(&self) -> bool {
        self.own.iter().all(|relation| self.relations.contains(relation))
    }

    /// Whether the value of the expression is fixed: it is a function of fixed columns.
    pub fn determines(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(column) => self.contains(*column),
            Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } | Expr::Output(_) => false,
            Expr::Window(_) => false,
            Expr::Function { function, args } if !function.is_deterministic(args) => false,
            other => {
                let mut all = true;
                children(other, &mut |child| all = all && self.determines(child));
                all
            }
        }
    }
}

impl<'a> Dependencies<'a> {
    /// The dependencies that keys, equalities in WHERE and ON, and comparisons with constants make.
    pub fn of(select: &Select, facts: &'a Facts<'a>) -> Self {
        let relations = select.from.as_ref().map(From::relations).unwrap_or_default();
        let mut own = Self {
            facts,
            relations: relations.iter().map(|relation| relation.id).collect(),
            fixes: Vec::new(),
            linked: Vec::new(),
            constant: Vec::new(),
            not_null: Vec::new(),
            outer: Vec::new(),
        };
        for conjunct in conjuncts(select) {
            own.learn(conjunct);
        }
        if let Some(from) = &select.from {
            own.outer_joins(from);
        }
        own
    }

    fn learn(&mut self, conjunct: &Expr) {
        if let Expr::Binary(BinaryOperator::Equal, left, right) = conjunct
            && self.facts.is_binary(left)
            && self.facts.is_binary(right)
        {
            match (left.as_ref(), right.as_ref()) {
                (Expr::Column(a), Expr::Column(b)) => self.equate(*a, *b),
                // Without an affinity 1 and 1.0 are equal and yet two values.
                (Expr::Column(a), Expr::Literal(_)) | (Expr::Literal(_), Expr::Column(a))
                    if self.facts.affinity(&Expr::Column(*a)).is_some_and(|own| own != Affinity::Blob) =>
                {
                    self.constant.push(*a);
                }
                _ => {}
            }
        }
        let mut columns = Vec::new();
        collect_columns(conjunct, &mut columns);
        if let Expr::Exists { query, negated: false } = conjunct
            && let Some(select) = query.as_select()
        {
            conjuncts(select).into_iter().for_each(|inner| collect_columns(inner, &mut columns));
        }
        self.not_null.extend(columns.into_iter().filter(|column| rejects_null(conjunct, *column)));
    }

    /// A column that equals a fixed one is fixed if the comparison converts only the other side: values of a
    /// numeric column are already what a comparison makes of them.
    fn equate(&mut self, a: ColumnRef, b: ColumnRef) {
        let (of_a, of_b) = (self.facts.affinity(&Expr::Column(a)), self.facts.affinity(&Expr::Column(b)));
        let same = same_class(of_a, of_b);
        if same || of_b.is_some_and(Affinity::is_numeric) {
            self.fixes.push((a, b));
        }
        if same || of_a.is_some_and(Affinity::is_numeric) {
            self.fixes.push((b, a));
        }
        self.linked.extend([a, b]);
    }

    fn outer_joins(&mut self, from: &From) {
        let From::Join(join) = from else { return };
        self.outer_joins(&join.left);
        self.outer_joins(&join.right);
        let (JoinKind::Left, From::Relation(right), Some(on)) = (join.kind, &join.right, &join.on) else {
            return;
        };
        let mut parts = Vec::new();
        split(on, &mut parts);
        let mut link = OuterLink { relation: right.id, equal: Vec::new(), reads: Vec::new() };
        for part in parts {
            if let Expr::Binary(BinaryOperator::Equal, a, b) = part
                && let (Expr::Column(x), Expr::Column(y)) = (a.as_ref(), b.as_ref())
                && self.facts.is_binary(a)
                && self.facts.is_binary(b)
            {
                let (of_x, of_y) = (self.facts.affinity(a), self.facts.affinity(b));
                let same = same_class(of_x, of_y);
                if x.relation == right.id && (same || of_x.is_some_and(Affinity::is_numeric)) {
                    link.equal.push((x.column, *y));
                } else if y.relation == right.id && (same || of_y.is_some_and(Affinity::is_numeric)) {
                    link.equal.push((y.column, *x));
                }
            }
            collect_columns(part, &mut link.reads);
            if has_subquery(part) {
                return;
            }
        }
        link.reads.retain(|column| column.relation != right.id);
        self.outer.push(link);
    }

    /// Adds that a column is not NULL in the rows in question.
    pub fn assume_not_null(&mut self, column: ColumnRef) {
        self.not_null.push(column);
    }

    /// Whether an equality with another column keeps the column from being NULL.
    pub fn is_linked(&self, column: ColumnRef) -> bool {
        self.linked.contains(&column)
    }

    /// The columns that are fixed once `given` are, constants included.
    pub fn closure(&self, given: &[Expr]) -> Closure {
        let mut closure =
            Closure { columns: self.constant.clone(), relations: Vec::new(), own: self.relations.clone() };
        for expr in given {
            if let Expr::Column(column) = expr
                && self.facts.is_binary(expr)
            {
                closure.columns.push(*column);
            }
        }
        // The fixed point takes time with the square of the relations; beyond any real query nothing is claimed.
        if self.relations.len() > MAX_RELATIONS {
            return closure;
        }
        loop {
            let before = (closure.columns.len(), closure.relations.len());
            for &(a, b) in &self.fixes {
                if closure.contains(a) && !closure.contains(b) {
                    closure.columns.push(b);
                }
            }
            for &relation in &self.relations {
                if !closure.relations.contains(&relation) && self.fixes_row(&closure, relation) {
                    closure.relations.push(relation);
                }
            }
            if before == (closure.columns.len(), closure.relations.len()) {
                return closure;
            }
        }
    }

    fn fixes_row(&self, closure: &Closure, relation: RelationId) -> bool {
        let sets = self.facts.unique_sets(relation);
        let direct = sets.iter().any(|set| {
            set.iter().all(|&column| {
                let column = ColumnRef { relation, column };
                closure.contains(column) && self.is_not_null(column)
            })
        });
        direct
            || self.outer.iter().filter(|link| link.relation == relation).any(|link| {
                link.reads.iter().all(|column| closure.contains(*column))
                    && sets.iter().any(|set| {
                        set.iter().all(|column| {
                            link.equal.iter().any(|(own, other)| own == column && closure.contains(*other))
                        })
                    })
            })
    }

    /// Whether the column is never NULL in a row that passes, or NULL only in a row that an outer join filled.
    pub fn is_not_null(&self, column: ColumnRef) -> bool {
        self.not_null.contains(&column)
            || !self.facts.own_column(column).nullable
            || self.linked.contains(&column)
    }
}

/// Whether equality between operands of these affinities compares the stored values themselves, so that it is
/// transitive and equal values are interchangeable.
pub fn same_class(left: Option<Affinity>, right: Option<Affinity>) -> bool {
    let class = |affinity: Option<Affinity>| match affinity {
        Some(Affinity::Integer | Affinity::Numeric) => Some(1),
        Some(Affinity::Real) => Some(2),
        Some(Affinity::Text) => Some(3),
        Some(Affinity::Blob) | None => None,
    };
    class(left).is_some() && class(left) == class(right)
}

/// Adds the columns that an expression reads, those inside subqueries excepted.
pub fn collect_columns(expr: &Expr, found: &mut Vec<ColumnRef>) {
    if let Expr::Column(column) = expr {
        found.push(*column);
    }
    children(expr, &mut |child| collect_columns(child, found));
}

fn has_collate(expr: &Expr) -> bool {
    if let Expr::Collate { collation, .. } = expr
        && Collation::from_name(collation) != Collation::Binary
    {
        return true;
    }
    let mut found = false;
    children(expr, &mut |child| found = found || has_collate(child));
    found
}

/// Whether a subquery stands in the expression.
pub fn has_subquery(expr: &Expr) -> bool {
    if matches!(expr, Expr::InQuery { .. } | Expr::Exists { .. } | Expr::Scalar(_)) {
        return true;
    }
    let mut found = false;
    children(expr, &mut |child| found = found || has_subquery(child));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    fn schema() -> Schema {
        Schema::from_ddl(
            "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE, city TEXT NOT NULL);
             CREATE TABLE player (code TEXT PRIMARY KEY, team_id INT REFERENCES team, born TEXT COLLATE NOCASE);",
        )
        .unwrap()
    }

    #[test]
    fn a_result_may_be_null_unless_schema_or_filter_forbids_it() {
        let schema = schema();
        for (sql, expected) in [
            ("SELECT id FROM team", false),
            ("SELECT name FROM team", true),
            ("SELECT city FROM team", false),
            ("SELECT code FROM player", true),
            ("SELECT name FROM team WHERE name > 'a'", false),
            ("SELECT name FROM team WHERE name > 'a' OR id = 1", true),
            ("SELECT name FROM team WHERE name NOT IN (SELECT code FROM player)", true),
            ("SELECT t.city FROM player p LEFT JOIN team t ON p.team_id = t.id", true),
            ("SELECT COUNT(*) FROM team", false),
            ("SELECT MAX(id) FROM team", true),
            ("SELECT id + 1 FROM team", true),
            ("SELECT coalesce(name, '') FROM team", false),
        ] {
            let query = resolve(sql, &schema).unwrap();
            let facts = Facts::of(&query, &schema);
            let select = query.as_select().unwrap();
            assert_eq!(facts.output_may_be_null(select, &select.outputs[0].expr), expected, "{sql}");
        }
    }

    #[test]
    fn the_closure_follows_keys_equalities_and_constants() {
        let schema = schema();
        for (sql, expected) in [
            ("SELECT id, city FROM team", true),
            ("SELECT name, city FROM team", false),
            ("SELECT name, city FROM team WHERE name IS NOT NULL", true),
            ("SELECT city, id FROM team", false),
            ("SELECT p.team_id, t.city FROM team t JOIN player p ON t.id = p.team_id", true),
            ("SELECT p.team_id, t.city FROM player p LEFT JOIN team t ON t.id = p.team_id", true),
            ("SELECT p.code, p.born FROM player p", false),
            ("SELECT city, name FROM team WHERE id = 3", true),
            ("SELECT born, code FROM player WHERE born = 'x'", false),
        ] {
            let query = resolve(sql, &schema).unwrap();
            let facts = Facts::of(&query, &schema);
            let select = query.as_select().unwrap();
            let closure = Dependencies::of(select, &facts).closure(&[select.outputs[0].expr.clone()]);
            assert_eq!(closure.determines(&select.outputs[1].expr), expected, "{sql}");
        }
    }

    #[test]
    fn affinities_of_one_class_compare_stored_values() {
        assert!(same_class(Some(Affinity::Integer), Some(Affinity::Numeric)));
        assert!(!same_class(Some(Affinity::Integer), Some(Affinity::Text)));
        assert!(!same_class(Some(Affinity::Blob), Some(Affinity::Blob)));
    }

    #[test]
    fn derived_tables_and_ctes_have_facts_of_their_own() {
        let schema = schema();
        let query = resolve(
            "WITH q AS (SELECT team_id AS t, COUNT(*) AS n FROM player GROUP BY team_id) SELECT q.n, q.t FROM q",
            &schema,
        )
        .unwrap();
        let facts = Facts::of(&query, &schema);
        let select = query.as_select().unwrap();
        assert!(!facts.is_nullable(&select.outputs[0].expr));
        assert!(facts.is_nullable(&select.outputs[1].expr));
        let Some(From::Relation(relation)) = &select.from else { panic!() };
        assert_eq!(facts.unique_sets(relation.id), vec![vec![0]]);
    }
}
