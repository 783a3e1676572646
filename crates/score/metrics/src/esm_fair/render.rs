//! Expressions, conditions and relations as text in which what exact set match ignores is gone.
//!
//! Whatever is rendered is rendered once. A query inside of another stands there as the number of its components, a long
//! expression as the number of its text: texts stay short however deep they nest. What the columns of a relation stand
//! for is kept when the relation is rendered, which is before anything reads it. Gold and prediction share the numbers,
//! so that equal numbers mean equal things.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use sqlgauge_base::budget;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads::is_recursive;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{
    Args, BinaryOperator, Body, ColumnRef, Cte, CteId, Expr, From, LikeOperator, Query, Relation, RelationId,
    RelationSource, UnaryOperator, Window,
};

use super::linked::LinkedColumns;
use super::parts::{Parts, Rendered};

/// The longest text of an expression, in bytes, that stands in another as it is.
const SHORT: usize = 120;

/// The numbers that gold and prediction share.
#[derive(Default)]
pub(super) struct Numbers {
    texts: RefCell<HashMap<String, usize>>,
    queries: RefCell<HashMap<Parts, usize>>,
}

/// The number of a thing: the next one if it is new.
fn number<T: Eq + Hash>(numbers: &RefCell<HashMap<T, usize>>, thing: T) -> usize {
    let mut numbers = numbers.borrow_mut();
    let next = numbers.len();
    *numbers.entry(thing).or_insert(next)
}

pub(super) struct Renderer<'a> {
    schema: &'a Schema,
    linked: &'a LinkedColumns,
    numbers: &'a Numbers,
    relations: RefCell<HashMap<RelationId, RenderedRelation>>,
    ctes: RefCell<HashMap<CteId, RenderedRelation>>,
}

/// A relation or common table expression that has been rendered.
#[derive(Clone, Default)]
struct RenderedRelation {
    text: String,
    columns: Columns,
}

/// What the columns of a relation stand for.
#[derive(Clone, Default)]
enum Columns {
    #[default]
    Unknown,
    Table(TableId),
    Texts(Rc<[String]>),
}

impl<'a> Renderer<'a> {
    pub(super) fn new(schema: &'a Schema, linked: &'a LinkedColumns, numbers: &'a Numbers) -> Self {
        Self { schema, linked, numbers, relations: RefCell::default(), ctes: RefCell::default() }
    }

    fn query(&self, query: &Query) -> String {
        self.relation_of_query(query).text
    }

    fn relation_of_query(&self, query: &Query) -> RenderedRelation {
        let Rendered { parts, outputs } = Parts::with(query, self);
        let text = format!("(query {})", number(&self.numbers.queries, parts));
        RenderedRelation { text, columns: Columns::Texts(outputs.into()) }
    }

    /// Renders common table expressions; each stands after those that it reads.
    pub(super) fn define(&self, ctes: &[Cte]) {
        for cte in ctes {
            let lower = |name: &String| name.to_ascii_lowercase();
            let rendering = if is_recursive(cte) {
                let columns = cte.columns.iter().map(lower).collect();
                RenderedRelation { text: lower(&cte.name), columns: Columns::Texts(columns) }
            } else {
                self.relation_of_query(&cte.query)
            };
            self.ctes.borrow_mut().insert(cte.id, rendering);
        }
    }

    pub(super) fn body(&self, body: &Body) -> String {
        match body {
            Body::Values(rows) => rows.iter().map(|row| self.list(row)).collect::<Vec<_>>().join(" "),
            other => self.query(&Query::of(other.clone())),
        }
    }

    /// The relations of a FROM clause.
    pub(super) fn relations(&self, from: &From) -> Vec<String> {
        from.relations().into_iter().map(|relation| self.relation(relation)).collect()
    }

    fn relation(&self, relation: &Relation) -> String {
        let rendering = match &relation.source {
            RelationSource::Table(id) => {
                let name = self.schema.table(*id).map_or_else(String::new, |t| t.name.to_ascii_lowercase());
                RenderedRelation { text: name, columns: Columns::Table(*id) }
            }
            RelationSource::Derived(query) => self.relation_of_query(query),
            RelationSource::Cte(id) => self.ctes.borrow().get(id).cloned().unwrap_or_default(),
            RelationSource::Function { name, args } => {
                RenderedRelation { text: format!("{name}{}", self.list(args)), columns: Columns::Unknown }
            }
            RelationSource::Catalog => {
                RenderedRelation { text: "sqlite_master".to_owned(), columns: Columns::Unknown }
            }
        };
        let text = rendering.text.clone();
        self.relations.borrow_mut().insert(relation.id, rendering);
        text
    }

    /// A condition: the left side and the operator; the right side only where it holds a subquery.
    pub(super) fn condition(&self, expr: &Expr) -> String {
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
                (operator.mirrored(), right, left)
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

    /// An expression: its text, or the number of it where that is long.
    pub(super) fn expr(&self, expr: &Expr) -> String {
        budget::spend(1);
        let text = self.text(expr);
        budget::spend(text.len());
        if text.len() <= SHORT { text } else { format!("#{}", number(&self.numbers.texts, text)) }
    }

    fn text(&self, expr: &Expr) -> String {
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
        let text = match self.relations.borrow().get(&column.relation).map(|rendering| &rendering.columns) {
            Some(Columns::Table(id)) => self.schema.table(*id).map(|table| {
                let name = table.at(column.column).map_or("rowid", |c| c.name.as_str());
                let (table, name) = self.linked.representative(&table.name, name);
                format!("{table}.{name}")
            }),
            Some(Columns::Texts(texts)) => {
                column.column.position().and_then(|at| texts.get(at as usize)).cloned()
            }
            Some(Columns::Unknown) | None => None,
        };
        text.unwrap_or_else(|| format!("column {}", column.column))
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
