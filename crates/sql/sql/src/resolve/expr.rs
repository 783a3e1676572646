//! Expressions.

use sqlgauge_base::budget;

use super::check::WrittenCall;
use super::scope::{NameLookup, ScopeRelation};
use super::select::merged_column;
use super::{ErrorKind, ResolveError, Resolver, limits};
use crate::aggregates;
use crate::functions::Function;
use crate::identity;
use crate::quote::{self, Quote};
use crate::syntax::{self, Connective, ExprKind, Name, Over, TableName};
use crate::tree::{
    Args, BinaryOperator, ColumnRef, Expr, From, JoinKind, Literal, Output, Query, Relation, Select,
    UnaryOperator, negative_number, number,
};

/// How deep the parser's tree may be to be written on the stack at hand.
const SHALLOW: usize = 200;
/// Bytes of stack for writing one level of it.
const WRITER_BYTES: usize = 4_096;

/// The expression as its text has it.
pub(super) fn text_of(ast: &syntax::Expr<'_>) -> String {
    // The parser's own code does not look after the stack.
    let text = match ast.depth {
        ..SHALLOW => ast.text.to_string(),
        depth => {
            let stack = depth * WRITER_BYTES;
            stacker::maybe_grow(stack, stack, || ast.text.to_string())
        }
    };
    budget::spend(text.len());
    text
}

impl<'a> Resolver<'a> {
    pub(super) fn expr(&mut self, ast: &'a syntax::Expr<'a>) -> Result<Expr, ResolveError> {
        let result = self.nested(|this| this.expr_inner(ast));
        let checked = result.and_then(|expr| self.check_parts(&expr).map(|()| expr));
        checked.map_err(|error| error.within(self.text, || text_of(ast)))
    }

    /// An expression that is one value.
    pub(super) fn single_expr(&mut self, ast: &'a syntax::Expr<'a>) -> Result<Expr, ResolveError> {
        let expr = self.expr(ast)?;
        self.single(expr).map_err(|error| error.within(self.text, || text_of(ast)))
    }

    pub(super) fn boxed(&mut self, ast: &'a syntax::Expr<'a>) -> Result<Box<Expr>, ResolveError> {
        self.expr(ast).map(Box::new)
    }

    fn optional(&mut self, ast: Option<&'a syntax::Expr<'a>>) -> Result<Option<Box<Expr>>, ResolveError> {
        ast.map(|ast| self.boxed(ast)).transpose()
    }

    pub(super) fn list(&mut self, ast: &'a [syntax::Expr<'a>]) -> Result<Vec<Expr>, ResolveError> {
        ast.iter().map(|ast| self.expr(ast)).collect()
    }

    fn expr_inner(&mut self, ast: &'a syntax::Expr<'a>) -> Result<Expr, ResolveError> {
        match &ast.kind {
            ExprKind::Column(name) => self.column(None, *name),
            ExprKind::Qualified(table, column) => self.column(Some(table.text), *column),
            ExprKind::DoublyQualified([database, table, column]) => {
                self.qualified_column(*database, *table, *column)
            }
            ExprKind::Literal(value) => Ok(literal(*value)),
            ExprKind::Parenthesised([only]) => self.expr(only),
            ExprKind::Parenthesised(several) => Ok(Expr::Row(self.list(several)?)),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExprKind::Binary(left, operator, right) => self.binary(left, *operator, right),
            ExprKind::Connective(_, connective, _) => self.connective(ast, *connective),
            ExprKind::Between(between) => Ok(Expr::Between {
                expr: self.boxed(&between.expr)?,
                low: self.boxed(&between.low)?,
                high: self.boxed(&between.high)?,
                negated: between.negated,
            }),
            ExprKind::Like(like) => Ok(Expr::Like {
                operator: like.operator,
                expr: self.boxed(&like.expr)?,
                pattern: self.boxed(&like.pattern)?,
                escape: self.optional(like.escape.as_ref())?,
                negated: like.negated,
            }),
            ExprKind::InList { expr, list, negated } => {
                Ok(Expr::InList { expr: self.boxed(expr)?, list: self.list(list)?, negated: *negated })
            }
            ExprKind::InQuery { expr, query, negated } => {
                // SQLite looks into the subquery before it looks at the value.
                let query = Box::new(self.query(query, None)?);
                Ok(Expr::InQuery { expr: self.boxed(expr)?, query, negated: *negated })
            }
            ExprKind::InTable(tested) if tested.is_call => {
                Err(ErrorKind::Unsupported("IN with a table-valued function".to_owned()).into())
            }
            ExprKind::InTable(tested) => Ok(Expr::InQuery {
                expr: self.boxed(&tested.expr)?,
                query: Box::new(self.whole_table(&tested.table)?),
                negated: tested.negated,
            }),
            ExprKind::Exists(query) => self.exists(query),
            ExprKind::Scalar(query) => Ok(Expr::Scalar(Box::new(self.query(query, None)?))),
            ExprKind::Case(case) => {
                let operand = self.optional(case.operand.as_ref())?;
                let mut branches = Vec::with_capacity(case.branches.len());
                for (when, then) in case.branches {
                    branches.push((self.expr(when)?, self.expr(then)?));
                }
                Ok(Expr::Case { operand, branches, otherwise: self.optional(case.otherwise.as_ref())? })
            }
            ExprKind::Cast { expr, type_name } => {
                Ok(Expr::Cast { expr: self.boxed(expr)?, type_name: (*type_name).to_owned() })
            }
            ExprKind::Collate(expr, collation) => {
                Ok(Expr::Collate { expr: self.boxed(expr)?, collation: collation.text.to_ascii_uppercase() })
            }
            ExprKind::IsNull { expr, negated } => {
                Ok(Expr::IsNull { expr: self.boxed(expr)?, negated: *negated })
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::Raise => {
                Err(ErrorKind::Invalid("RAISE() may only be used within a trigger-program".to_owned()).into())
            }
            ExprKind::Parameter(name) => Err(ErrorKind::Unsupported(format!("the parameter {name}")).into()),
        }
    }

    fn exists(&mut self, ast: &'a syntax::Select<'a>) -> Result<Expr, ResolveError> {
        let outside = self.uncomputed_level;
        // The results of a compound are computed to compare them.
        self.uncomputed_level = ast.rest.is_empty().then_some(self.level + 1);
        let query = self.query(ast, None);
        self.uncomputed_level = outside;
        Ok(Expr::Exists { query: Box::new(query?), negated: false })
    }

    fn call(&mut self, ast: &'a syntax::Call<'a>) -> Result<Expr, ResolveError> {
        let args = match ast.args {
            Some(args) => Args::List(self.list(args)?),
            None => Args::Star,
        };
        let order_by = self.plain_order(ast.order_by)?;
        let filter = ast.filter.as_ref().map(|filter| self.expr(filter)).transpose()?;
        let over = match &ast.over {
            Some(Over::Window(window)) => Some(self.window(window)?),
            Some(Over::Name(name)) => Some(self.named_window(name.text)?),
            None => None,
        };
        let name = ast.name.text;
        let function = Function::from_name(name);
        self.classify(name, WrittenCall { function, args, distinct: ast.distinct, order_by, filter, over })
    }

    /// A column by its name, in the innermost SELECT that knows it.
    fn column(&mut self, qualifier: Option<&str>, written: Name<'a>) -> Result<Expr, ResolveError> {
        let Name { text: name, quote } = written;
        let lookups = self.scopes.iter().rev().map(|s| (s.level, s.find(self.schema, qualifier, name)));
        match lookups.into_iter().find(|(_, lookup)| !matches!(lookup, NameLookup::Nothing)) {
            Some((_, NameLookup::Columns(columns))) => return Ok(merged_column(&columns)),
            Some((level, NameLookup::Alias(mut expr))) => {
                self.check_alias(name, &expr, level)?;
                self.refresh(&mut expr);
                aggregates::sink(&mut expr, self.level - level);
                return Ok(expr);
            }
            Some((_, NameLookup::Ambiguous)) if !self.lenient => {
                return Err(ErrorKind::AmbiguousColumn(full_name(qualifier, name)).into());
            }
            Some((_, NameLookup::Ambiguous | NameLookup::Nothing)) | None => {}
        }
        match (qualifier, quote) {
            (None, Quote::Double) => Ok(Expr::Literal(Literal::Text(name.to_owned()))),
            (None, Quote::None) if name.eq_ignore_ascii_case("true") => {
                Ok(Expr::Literal(Literal::Boolean(true)))
            }
            (None, Quote::None) if name.eq_ignore_ascii_case("false") => {
                Ok(Expr::Literal(Literal::Boolean(false)))
            }
            _ if self.lenient => Ok(Expr::Literal(Literal::Null)),
            _ => Err(ErrorKind::UnknownColumn(full_name(qualifier, name)).into()),
        }
    }

    /// A column with the name of its database. There is only one database here.
    fn qualified_column(
        &mut self,
        database: Name<'a>,
        table: Name<'a>,
        column: Name<'a>,
    ) -> Result<Expr, ResolveError> {
        if database.text.eq_ignore_ascii_case("main") {
            return self.column(Some(table.text), column);
        }
        Err(ErrorKind::UnknownColumn(format!("{database}.{table}.{column}")).into())
    }

    /// Gives the subqueries in a copied expression identities of their own.
    pub(super) fn refresh(&mut self, expr: &mut Expr) {
        identity::refresh(expr, &mut self.next_relation, &mut self.next_cte);
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &'a syntax::Expr<'a>,
    ) -> Result<Expr, ResolveError> {
        // Parentheses make no difference: `-(9223372036854775808)` is the smallest integer.
        if let (UnaryOperator::Minus, ExprKind::Literal(syntax::Literal::Number(token))) =
            (operator, &without_parentheses(operand).kind)
        {
            return Ok(Expr::Literal(negative_number(token)));
        }
        match (operator, self.expr(operand)?) {
            (UnaryOperator::Not, Expr::Exists { query, negated: false }) => {
                Ok(Expr::Exists { query, negated: true })
            }
            (operator, operand) => Ok(Expr::Unary(operator, Box::new(operand))),
        }
    }

    fn binary(
        &mut self,
        left: &'a syntax::Expr<'a>,
        operator: BinaryOperator,
        right: &'a syntax::Expr<'a>,
    ) -> Result<Expr, ResolveError> {
        let is_null = matches!(right.kind, ExprKind::Literal(syntax::Literal::Null));
        match operator {
            BinaryOperator::Is | BinaryOperator::IsNot if is_null => {
                let negated = operator == BinaryOperator::IsNot;
                Ok(Expr::IsNull { expr: self.boxed(left)?, negated })
            }
            _ => {
                let (first, second) = (self.boxed(left)?, self.boxed(right)?);
                // SQLite looks for TRUE behind a COLLATE of the text, and not behind one that an alias brings.
                let is_value = operator.truth_asked(&second).is_some() && is_collated_alias(right, &second);
                let second =
                    if is_value { Box::new(Expr::Unary(UnaryOperator::Plus, second)) } else { second };
                Ok(Expr::Binary(operator, first, second))
            }
        }
    }

    /// A chain of AND or of OR as one list; chains lean to the left and may be long, so they are unrolled.
    fn connective(
        &mut self,
        whole: &'a syntax::Expr<'a>,
        connective: Connective,
    ) -> Result<Expr, ResolveError> {
        let mut leaves = Vec::new();
        let mut pending = vec![whole];
        while let Some(ast) = pending.pop() {
            match &ast.kind {
                ExprKind::Connective(left, word, right) if *word == connective => {
                    pending.extend([*right, *left]);
                }
                ExprKind::Parenthesised([only]) => pending.push(only),
                _ => leaves.push(ast),
            }
        }
        let around = self.chained;
        self.chained += leaves.len();
        if self.chained > limits::CHAINED {
            let message = format!("more than {} operands of AND and OR", limits::CHAINED);
            return Err(ErrorKind::Unsupported(message).into());
        }
        let operands = leaves.into_iter().map(|ast| self.expr(ast)).collect::<Result<_, _>>()?;
        self.chained = around;
        Ok(match connective {
            Connective::And => Expr::And(operands),
            Connective::Or => Expr::Or(operands),
        })
    }

    /// `SELECT * FROM table`, which `IN table` stands for.
    fn whole_table(&mut self, name: &TableName<'a>) -> Result<Query, ResolveError> {
        let (source, columns) = self.source(name)?;
        let id = self.new_relation();
        let relation = ScopeRelation {
            id,
            name: None,
            columns,
            is_builtin: false,
            using: Vec::new(),
            kind: JoinKind::Inner,
        };
        let outputs = relation
            .visible_columns(self.schema)
            .into_iter()
            .map(|(column, _)| Output::of(Expr::Column(ColumnRef::at(id, column))));
        Ok(Query::of_select(Select {
            from: Some(From::Relation(Relation::new(id, source))),
            ..Select::of(outputs.collect())
        }))
    }
}

fn without_parentheses<'e, 'a>(mut ast: &'e syntax::Expr<'a>) -> &'e syntax::Expr<'a> {
    while let ExprKind::Parenthesised([only]) = ast.kind {
        ast = only;
    }
    ast
}

/// Whether the expression has a COLLATE that its text has not, since a name in it stands for one.
fn is_collated_alias<'e>(mut ast: &'e syntax::Expr<'_>, mut expr: &'e Expr) -> bool {
    loop {
        ast = without_parentheses(ast);
        match (&ast.kind, expr) {
            (ExprKind::Collate(inner, _), Expr::Collate { expr: value, .. }) => {
                ast = inner;
                expr = value;
            }
            (_, expr) => return matches!(expr, Expr::Collate { .. }),
        }
    }
}

fn full_name(qualifier: Option<&str>, name: &str) -> String {
    qualifier.map_or_else(|| name.to_owned(), |qualifier| format!("{qualifier}.{name}"))
}

fn literal(ast: syntax::Literal<'_>) -> Expr {
    let bare = |function: Function| Expr::Function { function, args: Args::Bare };
    Expr::Literal(match ast {
        syntax::Literal::Null => Literal::Null,
        syntax::Literal::Number(token) => number(token),
        syntax::Literal::String(text) | syntax::Literal::Keyword(text) => Literal::Text(text.to_owned()),
        syntax::Literal::Blob(token) => Literal::Blob(quote::blob(token)),
        syntax::Literal::CurrentDate => return bare(Function::CurrentDate),
        syntax::Literal::CurrentTime => return bare(Function::CurrentTime),
        syntax::Literal::CurrentTimestamp => return bare(Function::CurrentTimestamp),
    })
}
