//! Hashes of structure, in which a column stands for the colour of its relation.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Aggregate, Args, BinaryOperator, Body, ColumnRef, Expr, From, IndexHint, JoinKind, Literal, OrderTerm,
    Query, Relation, RelationSource, Select, WindowCall,
};

use super::Canonical;
use crate::tools;

pub(super) fn mix(hash: u64, value: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

pub(super) fn text(hash: u64, value: &str) -> u64 {
    value.bytes().fold(mix(hash, value.len() as u64), |hash, byte| mix(hash, u64::from(byte)))
}

pub(super) fn bag(tag: u64, hashes: impl Iterator<Item = u64>) -> u64 {
    let (sum, xor) = hashes
        .fold((0u64, 0u64), |(sum, xor), hash| (sum.wrapping_add(mix(hash, 0x51)), xor ^ mix(hash, 0x77)));
    mix(mix(tag, sum), xor)
}

impl Canonical<'_, '_> {
    pub(super) fn hash_source(&self, relation: &Relation) -> u64 {
        let hint = match &relation.hint {
            None => 0,
            Some(IndexHint::None) => 1,
            Some(IndexHint::By(name)) => text(2, name),
        };
        let source = match &relation.source {
            RelationSource::Table(id) => mix(1, id.index() as u64),
            RelationSource::Derived(query) => mix(2, self.hash_query(query)),
            RelationSource::Cte(id) => mix(3, u64::from(id.0)),
            RelationSource::Function { name, args } => {
                args.iter().fold(text(4, name), |hash, arg| mix(hash, self.hash_expr(arg)))
            }
            RelationSource::Catalog => 5,
        };
        if hint == 0 { source } else { mix(source, hint) }
    }

    fn hash_query(&self, query: &Query) -> u64 {
        let mut hash = self.hash_body(&query.body);
        for cte in &query.ctes {
            hash = mix(hash, self.hash_query(&cte.query));
        }
        hash = self.hash_order(hash, &query.order_by);
        for (tag, expr) in [(21, &query.limit), (22, &query.offset)] {
            if let Some(expr) = expr {
                hash = mix(mix(hash, tag), self.hash_expr(expr));
            }
        }
        hash
    }

    fn hash_order(&self, hash: u64, terms: &[OrderTerm]) -> u64 {
        terms.iter().fold(hash, |hash, term| {
            let flags =
                u64::from(term.descending) * 4 + term.nulls_first.map_or(0, |first| 1 + u64::from(first));
            mix(mix(hash, flags + 31), self.hash_expr(&term.expr))
        })
    }

    pub(super) fn hash_body(&self, body: &Body) -> u64 {
        match body {
            Body::Select(select) => self.hash_select(select),
            Body::SetOperation { operator, all, left, right } => {
                let tag = mix(41 + *operator as u64, u64::from(*all));
                let (left, right) = (self.hash_body(left), self.hash_body(right));
                mix(mix(tag, left), right)
            }
            Body::Values(rows) => {
                rows.iter().flatten().fold(51, |hash, expr| mix(hash, self.hash_expr(expr)))
            }
        }
    }

    fn hash_select(&self, select: &Select) -> u64 {
        let mut hash = mix(61, u64::from(select.distinct));
        if let Some(from) = &select.from {
            hash = mix(hash, self.hash_from(from));
        }
        let filters = tools::conjuncts_of(select.filter.as_ref());
        hash = mix(hash, bag(62, filters.into_iter().map(|e| self.hash_expr(e))));
        hash = mix(hash, bag(63, select.group_by.iter().map(|e| self.hash_expr(e))));
        if let Some(having) = &select.having {
            hash = mix(hash, self.hash_expr(having));
        }
        if self.sound {
            select.outputs.iter().fold(hash, |hash, output| mix(hash, self.hash_expr(&output.expr)))
        } else {
            mix(hash, bag(64, select.outputs.iter().map(|output| self.hash_expr(&output.expr))))
        }
    }

    pub(super) fn hash_from(&self, from: &From) -> u64 {
        match from {
            From::Relation(relation) => {
                let colour = self.colour(relation.id);
                // Inside a subquery that was not visited yet there are no colours.
                if colour == 0 { mix(71, self.hash_source(relation)) } else { mix(71, colour) }
            }
            From::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Cross) => {
                let on = join.on.as_ref().map_or(0, |on| self.hash_expr(on));
                bag(mix(72, on), [&join.left, &join.right].into_iter().map(|side| self.hash_from(side)))
            }
            From::Join(join) => {
                let on = join.on.as_ref().map_or(0, |on| self.hash_expr(on));
                let sides = mix(self.hash_from(&join.left), self.hash_from(&join.right));
                mix(mix(73 + join.kind as u64, on), sides)
            }
        }
    }

    fn hash_column(&self, column: ColumnRef) -> u64 {
        mix(mix(81, self.colour(column.relation)), column.column.position().map_or(u64::MAX, u64::from))
    }

    fn hash_all<'e>(&self, tag: u64, exprs: impl IntoIterator<Item = &'e Expr>) -> u64 {
        exprs.into_iter().fold(tag, |hash, expr| mix(hash, self.hash_expr(expr)))
    }

    pub(super) fn hash_expr(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Column(column) => self.hash_column(*column),
            Expr::Output(n) => mix(82, u64::from(*n)),
            Expr::Literal(literal) => hash_literal(literal),
            Expr::Unary(operator, operand) => mix(83 + *operator as u64 * 131, self.hash_expr(operand)),
            Expr::Binary(operator, left, right) => self.hash_binary(*operator, left, right),
            Expr::And(list) => bag(84, list.iter().map(|e| self.hash_expr(e))),
            Expr::Or(list) => bag(85, list.iter().map(|e| self.hash_expr(e))),
            Expr::Row(list) => self.hash_all(86, list),
            Expr::Between { expr, low, high, negated } => {
                self.hash_all(87 + u64::from(*negated) * 131, [expr.as_ref(), low, high])
            }
            Expr::Like { operator, expr, pattern, escape, negated } => {
                let tag = 88 + u64::from(*negated) * 131 + *operator as u64 * 1009;
                self.hash_all(tag, [expr.as_ref(), pattern].into_iter().chain(escape.as_deref()))
            }
            Expr::InList { expr, list, negated } => {
                let elements = bag(89 + u64::from(*negated) * 131, list.iter().map(|e| self.hash_expr(e)));
                mix(elements, self.hash_expr(expr))
            }
            Expr::InQuery { expr, query, negated } => {
                mix(mix(90 + u64::from(*negated) * 131, self.hash_expr(expr)), self.hash_query(query))
            }
            Expr::Exists { query, negated } => mix(91 + u64::from(*negated) * 131, self.hash_query(query)),
            Expr::Scalar(query) => mix(92, self.hash_query(query)),
            Expr::Case { operand, branches, otherwise } => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                let hash = self.hash_all(93, operand.as_deref());
                mix(self.hash_all(mix(hash, 1), branches), self.hash_all(2, otherwise.as_deref()))
            }
            Expr::Cast { expr, type_name } => text(mix(94, self.hash_expr(expr)), type_name),
            Expr::Collate { expr, collation } => text(mix(95, self.hash_expr(expr)), collation),
            Expr::IsNull { expr, negated } => mix(96 + u64::from(*negated) * 131, self.hash_expr(expr)),
            Expr::Function { function, args } => self.hash_call(function, args),
            Expr::Aggregate(aggregate) => self.hash_aggregate(aggregate),
            Expr::Window(call) => self.hash_window(call),
        }
    }

    fn hash_binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> u64 {
        let (a, b) = (self.hash_expr(left), self.hash_expr(right));
        let (operator, a, b) = match operator {
            BinaryOperator::Greater => (BinaryOperator::Less, b, a),
            BinaryOperator::GreaterEqual => (BinaryOperator::LessEqual, b, a),
            other if other.commutes() => (other, a.min(b), a.max(b)),
            other => (other, a, b),
        };
        mix(mix(mix(97, operator as u64), a), b)
    }

    fn hash_call(&self, function: &Function, args: &Args) -> u64 {
        let hash = text(98, function.name());
        match args {
            Args::Bare => mix(hash, 1),
            Args::Star => mix(hash, 2),
            Args::List(list) => self.hash_all(mix(hash, 3), list),
        }
    }

    fn hash_aggregate(&self, aggregate: &Aggregate) -> u64 {
        let hash = self.hash_call(&aggregate.function, &aggregate.args);
        let hash = mix(mix(hash, u64::from(aggregate.distinct)), u64::from(aggregate.owner.0));
        self.hash_all(self.hash_order(hash, &aggregate.order_by), &aggregate.filter)
    }

    fn hash_window(&self, call: &WindowCall) -> u64 {
        let hash = self.hash_call(&call.function, &call.args);
        let hash = self.hash_all(mix(hash, 4), &call.filter);
        self.hash_order(self.hash_all(hash, &call.window.partition_by), &call.window.order_by)
    }
}

fn hash_literal(literal: &Literal) -> u64 {
    match literal {
        Literal::Null => 101,
        Literal::Boolean(value) => mix(102, u64::from(*value)),
        Literal::Integer(value) => mix(103, value.cast_unsigned()),
        Literal::Real(value) => mix(104, value.get().to_bits()),
        Literal::Text(value) => text(105, value),
        Literal::Blob(value) => value.iter().fold(106, |hash, byte| mix(hash, u64::from(*byte))),
    }
}
