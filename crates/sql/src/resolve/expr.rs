//! Expressions.

use sqlgauge_base::budget;
use sqlite3_parser::ast::{self, FunctionCallOrder, FunctionTail, Over};

use super::check::Written;
use super::scope::{Found, ScopeRelation};
use super::select::merged_column;
use super::{Error, ErrorKind, Resolver, limits};
use crate::aggregates;
use crate::functions::Function;
use crate::ident::{self, Quote, name_of, unquote};
use crate::identity;
use crate::tree::{
    Args, BinaryOperator, Body, ColumnRef, Expr, From, JoinKind, LikeOperator, Literal, OrderTerm, Output,
    Query, Relation, Select, UnaryOperator, Window,
};

/// How deep the parser's tree may be to be written on the stack at hand.
const SHALLOW: usize = 200;
/// Bytes of stack for writing one level of it.
const WRITER_BYTES: usize = 4_096;

impl<'a> Resolver<'a> {
    pub(super) fn expr(&mut self, ast: &'a ast::Expr<'a>) -> Result<Expr, Error> {
        let result = self.nested(|this| this.expr_inner(ast));
        let checked = result.and_then(|expr| self.check_parts(&expr).map(|()| expr));
        checked.map_err(|error| error.within(self.text, || self.text_of(ast)))
    }

    /// An expression that is one value.
    pub(super) fn single_expr(&mut self, ast: &'a ast::Expr<'a>) -> Result<Expr, Error> {
        let expr = self.expr(ast)?;
        self.single(expr).map_err(|error| error.within(self.text, || self.text_of(ast)))
    }

    /// The expression as the parser writes it.
    pub(super) fn text_of(&self, ast: &ast::Expr<'_>) -> String {
        // The parser's own code does not look after the stack.
        let text = match self.deepest {
            ..SHALLOW => ast.to_string(),
            _ => stacker::grow(self.deepest * WRITER_BYTES, || ast.to_string()),
        };
        budget::spend(text.len());
        text
    }

    pub(super) fn boxed(&mut self, ast: &'a ast::Expr<'a>) -> Result<Box<Expr>, Error> {
        self.expr(ast).map(Box::new)
    }

    fn optional(&mut self, ast: Option<&'a ast::Expr<'a>>) -> Result<Option<Box<Expr>>, Error> {
        ast.map(|ast| self.boxed(ast)).transpose()
    }

    pub(super) fn list(&mut self, ast: &'a [ast::Expr<'a>]) -> Result<Vec<Expr>, Error> {
        ast.iter().map(|ast| self.expr(ast)).collect()
    }

    fn expr_inner(&mut self, ast: &'a ast::Expr<'a>) -> Result<Expr, Error> {
        match ast {
            ast::Expr::Id(ast::Id(token)) | ast::Expr::Name(ast::Name(token)) => self.column(None, token),
            ast::Expr::Qualified(table, column) => self.column(Some(&name_of(table.0)), column.0),
            ast::Expr::DoublyQualified(database, table, column) => {
                self.qualified_column(&name_of(database.0), &name_of(table.0), column.0)
            }
            ast::Expr::Literal(value) => Ok(literal(value)),
            ast::Expr::Parenthesized(inner) => match inner.as_slice() {
                [only] => self.expr(only),
                several => Ok(Expr::Row(self.list(several)?)),
            },
            ast::Expr::Unary(operator, operand) => self.unary(*operator, operand),
            ast::Expr::Binary(left, operator, right) => self.binary(ast, left, *operator, right),
            ast::Expr::Between { lhs, not, start, end } => Ok(Expr::Between {
                expr: self.boxed(lhs)?,
                low: self.boxed(start)?,
                high: self.boxed(end)?,
                negated: *not,
            }),
            ast::Expr::Like { lhs, not, op, rhs, escape } => Ok(Expr::Like {
                operator: like_operator(*op),
                expr: self.boxed(lhs)?,
                pattern: self.boxed(rhs)?,
                escape: self.optional(*escape)?,
                negated: *not,
            }),
            ast::Expr::InList { lhs, not, rhs } => Ok(Expr::InList {
                expr: self.boxed(lhs)?,
                list: self.list(rhs.unwrap_or_default())?,
                negated: *not,
            }),
            ast::Expr::InSelect { lhs, not, rhs } => {
                // SQLite looks into the subquery before it looks at the value.
                let query = Box::new(self.query(rhs, None)?);
                Ok(Expr::InQuery { expr: self.boxed(lhs)?, query, negated: *not })
            }
            ast::Expr::InTable { args: Some(_), .. } => {
                Err(ErrorKind::Unsupported("IN with a table-valued function".to_owned()).into())
            }
            ast::Expr::InTable { lhs, not, rhs, args: None } => Ok(Expr::InQuery {
                expr: self.boxed(lhs)?,
                query: Box::new(self.whole_table(rhs)?),
                negated: *not,
            }),
            ast::Expr::Exists(query) => {
                Ok(Expr::Exists { query: Box::new(self.query(query, None)?), negated: false })
            }
            ast::Expr::Subquery(query) => Ok(Expr::Scalar(Box::new(self.query(query, None)?))),
            ast::Expr::Case { base, when_then_pairs, else_expr } => {
                let operand = self.optional(*base)?;
                let mut branches = Vec::with_capacity(when_then_pairs.len());
                for (when, then) in *when_then_pairs {
                    branches.push((self.expr(when)?, self.expr(then)?));
                }
                Ok(Expr::Case { operand, branches, otherwise: self.optional(*else_expr)? })
            }
            ast::Expr::Cast { expr, type_name } => Ok(Expr::Cast {
                expr: self.boxed(expr)?,
                type_name: type_name.as_ref().map_or_else(String::new, ident::type_text),
            }),
            ast::Expr::Collate(expr, collation) => Ok(Expr::Collate {
                expr: self.boxed(expr)?,
                collation: name_of(collation).to_ascii_uppercase(),
            }),
            ast::Expr::IsNull(expr) => Ok(Expr::IsNull { expr: self.boxed(expr)?, negated: false }),
            ast::Expr::NotNull(expr) => Ok(Expr::IsNull { expr: self.boxed(expr)?, negated: true }),
            ast::Expr::FunctionCall { name, distinctness, args, order_by, filter_over } => {
                let args = Args::List(self.list(args.unwrap_or_default())?);
                let order_by = match order_by {
                    Some(FunctionCallOrder::SortList(terms)) => self.plain_order(terms)?,
                    None => Vec::new(),
                };
                let distinct = matches!(distinctness, Some(ast::Distinctness::Distinct));
                self.call(name, args, distinct, order_by, filter_over.as_ref())
            }
            ast::Expr::FunctionCallStar { name, filter_over } => {
                self.call(name, Args::Star, false, Vec::new(), filter_over.as_ref())
            }
            ast::Expr::Raise(..) => {
                Err(ErrorKind::Invalid("RAISE() may only be used within a trigger-program".to_owned()).into())
            }
            ast::Expr::Variable(name) => Err(ErrorKind::Unsupported(format!("the parameter {name}")).into()),
        }
    }

    fn call(
        &mut self,
        name: &ast::Id<'a>,
        args: Args,
        distinct: bool,
        order_by: Vec<OrderTerm>,
        tail: Option<&'a FunctionTail<'a>>,
    ) -> Result<Expr, Error> {
        let (filter, over) = self.tail(tail)?;
        let name = name_of(name.0);
        let function = Function::from_name(&name);
        self.classify(&name, Written { function, args, distinct, order_by, filter, over })
    }

    /// A column by its name, in the innermost SELECT that knows it.
    fn column(&mut self, qualifier: Option<&str>, token: &str) -> Result<Expr, Error> {
        let (name, quote) = unquote(token);
        let found = self.scopes.iter().rev().map(|s| (s.level, s.find(self.schema, qualifier, &name)));
        match found.into_iter().find(|(_, found)| !matches!(found, Found::Nothing)) {
            Some((_, Found::Columns(columns))) => return Ok(merged_column(&columns)),
            Some((level, Found::Alias(mut expr))) => {
                self.check_alias(&name, &expr, level)?;
                self.refresh(&mut expr);
                aggregates::sink(&mut expr, self.level - level);
                return Ok(expr);
            }
            Some((_, Found::Ambiguous)) if !self.lenient => {
                return Err(ErrorKind::AmbiguousColumn(full_name(qualifier, &name)).into());
            }
            Some((_, Found::Ambiguous | Found::Nothing)) | None => {}
        }
        match (qualifier, quote) {
            (None, Quote::Double) => Ok(Expr::Literal(Literal::Text(name))),
            (None, Quote::None) if name.eq_ignore_ascii_case("true") => {
                Ok(Expr::Literal(Literal::Boolean(true)))
            }
            (None, Quote::None) if name.eq_ignore_ascii_case("false") => {
                Ok(Expr::Literal(Literal::Boolean(false)))
            }
            _ if self.lenient => Ok(Expr::Literal(Literal::Null)),
            _ => Err(ErrorKind::UnknownColumn(full_name(qualifier, &name)).into()),
        }
    }

    /// A column with the name of its database, of which there is only one here.
    fn qualified_column(&mut self, database: &str, table: &str, token: &str) -> Result<Expr, Error> {
        if database.eq_ignore_ascii_case("main") {
            return self.column(Some(table), token);
        }
        Err(ErrorKind::UnknownColumn(format!("{database}.{table}.{}", name_of(token))).into())
    }

    /// Gives the subqueries in a copied expression identities of their own.
    pub(super) fn refresh(&mut self, expr: &mut Expr) {
        identity::refresh(expr, &mut self.next_relation, &mut self.next_cte);
    }

    fn unary(&mut self, operator: ast::UnaryOperator, operand: &'a ast::Expr<'a>) -> Result<Expr, Error> {
        let operator = match operator {
            ast::UnaryOperator::Negative => {
                // Parentheses make no difference: `-(9223372036854775808)` is the smallest integer.
                if let ast::Expr::Literal(ast::Literal::Numeric(token)) = without_parentheses(operand) {
                    return Ok(Expr::Literal(ident::negative_number(token)));
                }
                UnaryOperator::Minus
            }
            ast::UnaryOperator::Positive => UnaryOperator::Plus,
            ast::UnaryOperator::BitwiseNot => UnaryOperator::BitNot,
            ast::UnaryOperator::Not => UnaryOperator::Not,
        };
        match (operator, self.expr(operand)?) {
            (UnaryOperator::Not, Expr::Exists { query, negated: false }) => {
                Ok(Expr::Exists { query, negated: true })
            }
            (operator, operand) => Ok(Expr::Unary(operator, Box::new(operand))),
        }
    }

    fn binary(
        &mut self,
        whole: &'a ast::Expr<'a>,
        left: &'a ast::Expr<'a>,
        operator: ast::Operator,
        right: &'a ast::Expr<'a>,
    ) -> Result<Expr, Error> {
        let Some(operator) = binary_operator(operator) else { return self.connective(whole, operator) };
        let is_null = matches!(right, ast::Expr::Literal(ast::Literal::Null));
        match operator {
            BinaryOperator::Is | BinaryOperator::IsNot if is_null => {
                let negated = operator == BinaryOperator::IsNot;
                Ok(Expr::IsNull { expr: self.boxed(left)?, negated })
            }
            _ => Ok(Expr::Binary(operator, self.boxed(left)?, self.boxed(right)?)),
        }
    }

    /// A chain of AND or of OR as one list; chains lean to the left and may be long, so they are unrolled.
    fn connective(&mut self, whole: &'a ast::Expr<'a>, operator: ast::Operator) -> Result<Expr, Error> {
        let mut leaves = Vec::new();
        let mut pending = vec![whole];
        while let Some(ast) = pending.pop() {
            match ast {
                ast::Expr::Binary(left, own, right) if *own == operator => pending.extend([*right, *left]),
                ast::Expr::Parenthesized(inner) if inner.len() == 1 => pending.push(&inner[0]),
                other => leaves.push(other),
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
        Ok(if operator == ast::Operator::And { Expr::And(operands) } else { Expr::Or(operands) })
    }

    /// `SELECT * FROM table`, which `IN table` stands for.
    fn whole_table(&mut self, name: &ast::QualifiedName<'a>) -> Result<Query, Error> {
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
            .map(|(column, _)| Output { expr: Expr::Column(ColumnRef::at(id, column)), alias: None });
        Ok(Query::of(Body::Select(Box::new(Select {
            distinct: false,
            from: Some(From::Relation(Relation { id, source })),
            filter: None,
            group_by: Vec::new(),
            having: None,
            outputs: outputs.collect(),
        }))))
    }

    fn tail(&mut self, ast: Option<&'a FunctionTail<'a>>) -> Result<(Option<Expr>, Option<Window>), Error> {
        let Some(tail) = ast else { return Ok((None, None)) };
        let filter = tail.filter_clause.map(|filter| self.expr(filter)).transpose()?;
        let over = match tail.over_clause {
            Some(Over::Window(window)) => Some(self.window(window)?),
            Some(Over::Name(name)) => Some(self.named_window(&name_of(name.0))?),
            None => None,
        };
        Ok((filter, over))
    }
}

fn without_parentheses<'e, 'a>(mut ast: &'e ast::Expr<'a>) -> &'e ast::Expr<'a> {
    while let ast::Expr::Parenthesized(inner) = ast
        && let [only] = inner.as_slice()
    {
        ast = only;
    }
    ast
}

fn full_name(qualifier: Option<&str>, name: &str) -> String {
    qualifier.map_or_else(|| name.to_owned(), |qualifier| format!("{qualifier}.{name}"))
}

fn literal(ast: &ast::Literal<'_>) -> Expr {
    let bare = |function: Function| Expr::Function { function, args: Args::Bare };
    Expr::Literal(match ast {
        ast::Literal::Null => Literal::Null,
        ast::Literal::Numeric(token) => ident::number(token),
        ast::Literal::String(token) => Literal::Text(name_of(token)),
        ast::Literal::Blob(token) => Literal::Blob(ident::blob(token)),
        ast::Literal::Keyword(token) => Literal::Text((*token).to_owned()),
        ast::Literal::CurrentDate => return bare(Function::CurrentDate),
        ast::Literal::CurrentTime => return bare(Function::CurrentTime),
        ast::Literal::CurrentTimestamp => return bare(Function::CurrentTimestamp),
    })
}

fn like_operator(ast: ast::LikeOperator) -> LikeOperator {
    match ast {
        ast::LikeOperator::Glob => LikeOperator::Glob,
        ast::LikeOperator::Like => LikeOperator::Like,
        ast::LikeOperator::Match => LikeOperator::Match,
        ast::LikeOperator::Regexp => LikeOperator::Regexp,
    }
}

/// The operator; `None` for AND and OR.
fn binary_operator(ast: ast::Operator) -> Option<BinaryOperator> {
    Some(match ast {
        ast::Operator::Add => BinaryOperator::Add,
        ast::Operator::ArrowRight => BinaryOperator::Arrow,
        ast::Operator::ArrowRightShift => BinaryOperator::LongArrow,
        ast::Operator::BitwiseAnd => BinaryOperator::BitAnd,
        ast::Operator::BitwiseOr => BinaryOperator::BitOr,
        ast::Operator::Concat => BinaryOperator::Concat,
        ast::Operator::And | ast::Operator::Or => return None,
        ast::Operator::Equals => BinaryOperator::Equal,
        ast::Operator::Divide => BinaryOperator::Divide,
        ast::Operator::Greater => BinaryOperator::Greater,
        ast::Operator::GreaterEquals => BinaryOperator::GreaterEqual,
        ast::Operator::Is => BinaryOperator::Is,
        ast::Operator::IsNot => BinaryOperator::IsNot,
        ast::Operator::LeftShift => BinaryOperator::ShiftLeft,
        ast::Operator::Less => BinaryOperator::Less,
        ast::Operator::LessEquals => BinaryOperator::LessEqual,
        ast::Operator::Modulus => BinaryOperator::Modulo,
        ast::Operator::Multiply => BinaryOperator::Multiply,
        ast::Operator::NotEquals => BinaryOperator::NotEqual,
        ast::Operator::RightShift => BinaryOperator::ShiftRight,
        ast::Operator::Subtract => BinaryOperator::Subtract,
    })
}
