//! Expressions, conditions and relations as text in which what exact set match ignores is gone.

use std::collections::HashMap;

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, Body, ColumnRef, Cte, CteId, Expr, LikeOperator, Query, Relation, RelationId,
    Source, UnaryOperator, Window,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

use super::linked::LinkedColumns;
use super::parts::Parts;

/// Renders the parts of one query.
pub(super) struct Renderer<'a> {
    schema: &'a Schema,
    linked: &'a LinkedColumns,
    relations: HashMap<RelationId, Source>,
    ctes: HashMap<CteId, Cte>,
}

impl<'a> Renderer<'a> {
    pub fn new(query: &Query, schema: &'a Schema, linked: &'a LinkedColumns) -> Self {
        let mut sources = Sources::default();
        walk_query(&mut sources, query);
        Self { schema, linked, relations: sources.relations, ctes: sources.ctes }
    }

    fn query(&self, query: &Query) -> String {
        format!("({:?})", Parts::with(query, self))
    }

    pub fn body(&self, body: &Body) -> String {
        match body {
            Body::Values(rows) => rows.iter().map(|row| self.list(row)).collect::<Vec<_>>().join(" "),
            other => self.query(&Query::of(other.clone())),
        }
    }

    pub fn relation(&self, relation: &Relation) -> String {
        match &relation.source {
            Source::Table(id) => {
                self.schema.table(*id).map_or_else(String::new, |t| t.name.to_ascii_lowercase())
            }
            Source::Derived(query) => self.query(query),
            Source::Cte(id) => match self.ctes.get(id) {
                Some(cte) if !is_recursive(cte) => self.query(&cte.query),
                Some(cte) => cte.name.to_ascii_lowercase(),
                None => String::new(),
            },
            Source::Function { name, args } => format!("{name}{}", self.list(args)),
            Source::Catalog => "sqlite_master".to_owned(),
        }
    }

    /// A condition: the left side and the operator; the right side only where it holds a subquery.
    pub fn condition(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(operator, left, right) if operator.is_comparison() => {
                self.comparison(*operator, left, right)
            }
            Expr::Between { expr, low, high, .. } => {
                format!("{} between{}{}", self.expr(expr), self.right_side(low), self.right_side(high))
            }
            Expr::Like { operator, expr, pattern, .. } => {
                format!("{} {}{}", self.expr(expr), like_name(*operator), self.right_side(pattern))
            }
            Expr::InList { expr, .. } => format!("{} in", self.expr(expr)),
            Expr::InQuery { expr, query, .. } => format!("{} in {}", self.expr(expr), self.query(query)),
            Expr::Exists { query, .. } => format!("exists {}", self.query(query)),
            Expr::IsNull { expr, .. } => format!("{} is", self.expr(expr)),
            other => self.expr(other),
        }
    }

    fn comparison(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> String {
        let (operator, left, right) = match (left, right) {
            (Expr::Literal(_) | Expr::Scalar(_), other)
                if !matches!(other, Expr::Literal(_) | Expr::Scalar(_)) =>
            {
                (mirrored(operator), right, left)
            }
            _ => (operator, left, right),
        };
        let name = match operator {
            BinaryOperator::Is | BinaryOperator::IsNot => "is",
            other => other.symbol(),
        };
        format!("{} {name}{}", self.expr(left), self.right_side(right))
    }

    fn right_side(&self, expr: &Expr) -> String {
        match expr {
            Expr::Scalar(query) => format!(" {}", self.query(query)),
            _ => String::new(),
        }
    }

    fn list(&self, list: &[Expr]) -> String {
        format!("({})", list.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(","))
    }

    pub fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Column(column) => self.column(*column),
            Expr::Output(index) => format!("output {index}"),
            Expr::Literal(_) => "?".to_owned(),
            Expr::Unary(UnaryOperator::Plus, operand) => self.expr(operand),
            Expr::Unary(UnaryOperator::Not, operand) => format!("not {}", self.expr(operand)),
            Expr::Unary(UnaryOperator::Minus, operand) => format!("-{}", self.expr(operand)),
            Expr::Unary(UnaryOperator::BitNot, operand) => format!("~{}", self.expr(operand)),
            Expr::Binary(operator, left, right) => {
                format!("({} {} {})", self.expr(left), operator.symbol(), self.expr(right))
            }
            Expr::And(list) => format!("and{}", self.list(list)),
            Expr::Or(list) => format!("or{}", self.list(list)),
            Expr::Row(list) => self.list(list),
            Expr::Scalar(query) => self.query(query),
            Expr::Case { operand, branches, otherwise } => {
                let operand = operand.as_ref().map_or_else(String::new, |operand| self.expr(operand));
                let branches =
                    branches.iter().map(|(when, then)| format!("{}:{}", self.expr(when), self.expr(then)));
                let otherwise = otherwise.as_ref().map_or_else(String::new, |expr| self.expr(expr));
                format!("case({operand};{};{otherwise})", branches.collect::<Vec<_>>().join(","))
            }
            Expr::Cast { expr, type_name } => {
                format!("cast({} {})", self.expr(expr), type_name.to_ascii_lowercase())
            }
            Expr::Collate { expr, collation } => format!("{} collate {collation}", self.expr(expr)),
            Expr::Function { function, args } => self.call(function, args, None),
            Expr::Aggregate(call) => self.call(&call.function, &call.args, call.filter.as_ref()),
            Expr::Window(call) => {
                self.call(&call.function, &call.args, call.filter.as_ref()) + &self.over(&call.window)
            }
            Expr::Between { negated, .. }
            | Expr::Like { negated, .. }
            | Expr::InList { negated, .. }
            | Expr::InQuery { negated, .. }
            | Expr::Exists { negated, .. }
            | Expr::IsNull { negated, .. } => {
                format!("{}[{}]", if *negated { "not" } else { "" }, self.condition(expr))
            }
        }
    }

    fn call(&self, function: &Function, args: &Args, filter: Option<&Expr>) -> String {
        let args = match args {
            Args::Bare => String::new(),
            Args::Star => "(*)".to_owned(),
            Args::List(list) => self.list(list),
        };
        let filter = filter.map_or_else(String::new, |filter| format!(" filter {}", self.expr(filter)));
        format!("{}{args}{filter}", function.name())
    }

    fn over(&self, window: &Window) -> String {
        let order = window
            .order_by
            .iter()
            .map(|term| format!("{}{}", self.expr(&term.expr), if term.descending { " desc" } else { "" }));
        format!(" over({};{})", self.list(&window.partition_by), order.collect::<Vec<_>>().join(","))
    }

    /// A column by table and name, its linked column instead if it has one; a column of a subquery is what the
    /// subquery computes.
    fn column(&self, column: ColumnRef) -> String {
        let output = |query: &Query| {
            let output = query.outputs()?.get(column.column as usize)?;
            Some(self.expr(&output.expr))
        };
        let found = match self.relations.get(&column.relation) {
            Some(Source::Table(id)) => self.schema.table(*id).map(|table| {
                let name = table.column(column.column).map_or("rowid", |c| c.name.as_str());
                let (table, name) = self.linked.representative(&table.name, name);
                format!("{table}.{name}")
            }),
            Some(Source::Derived(query)) => output(query),
            Some(Source::Cte(id)) => match self.ctes.get(id) {
                Some(cte) if !is_recursive(cte) => output(&cte.query),
                Some(cte) => cte.columns.get(column.column as usize).map(|name| name.to_ascii_lowercase()),
                None => None,
            },
            Some(Source::Function { .. } | Source::Catalog) | None => None,
        };
        found.unwrap_or_else(|| format!("column {}", column.column))
    }
}

fn is_recursive(cte: &Cte) -> bool {
    struct Finder(CteId, bool);
    impl Visitor for Finder {
        fn relation(&mut self, relation: &Relation) {
            self.1 |= relation.source == Source::Cte(self.0);
        }
    }
    let mut finder = Finder(cte.id, false);
    walk_query(&mut finder, &cte.query);
    finder.1
}

fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessEqual => BinaryOperator::GreaterEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterEqual => BinaryOperator::LessEqual,
        other => other,
    }
}

fn like_name(operator: LikeOperator) -> &'static str {
    match operator {
        LikeOperator::Like => "like",
        LikeOperator::Glob => "glob",
        LikeOperator::Regexp => "regexp",
        LikeOperator::Match => "match",
    }
}

#[derive(Default)]
struct Sources {
    relations: HashMap<RelationId, Source>,
    ctes: HashMap<CteId, Cte>,
}

impl Visitor for Sources {
    fn query(&mut self, query: &Query) {
        self.ctes.extend(query.ctes.iter().map(|cte| (cte.id, cte.clone())));
    }

    fn relation(&mut self, relation: &Relation) {
        self.relations.insert(relation.id, relation.source.clone());
    }
}
