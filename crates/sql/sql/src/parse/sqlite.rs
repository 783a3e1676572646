//! Turns the tree of `sqlite3-parser` into the [syntax] that the resolver reads.
//!
//! Nothing is looked up, and nothing refused but what SQLite's parser refuses beyond its grammar, be it in a common table
//! expression that is never read, nesting deeper than [`MAX_DEPTH`], and a FROM clause of more than [`MAX_RELATIONS`]; a chain
//! of binary operators is no nesting.

use sqlite3_parser::Bump;
use sqlite3_parser::ast::{
    self, CompoundOperator, JoinOperator, JoinType, Materialized, SelectTable, SortOrder,
};

use crate::error::ErrorKind;
use crate::lex::type_text;
use crate::quote::unquote;
use crate::syntax::{
    Between, Call, Case, CommonTable, Compound, Connective, Core, Expr, ExprKind, Frame, FrameBound,
    FromClause, InTable, IndexHint, Join, JoinConstraint, Like, Limit, Literal, Name, NamedWindow, Operand,
    Over, ResultColumn, Select, SortTerm, TableExpr, TableName, Text, Window,
};
use crate::tree::{
    BinaryOperator, FrameExclude, FrameMode, JoinKind, LikeOperator, SetOperator, UnaryOperator,
};

/// How deep a text may nest; the resolver stops far earlier.
pub(super) const MAX_DEPTH: usize = 20_000;
/// How many relations one FROM clause may have: the tree of its joins is as deep.
pub(crate) const MAX_RELATIONS: usize = 1000;
/// What is said of a FROM clause with more.
pub(crate) const TOO_MANY_RELATIONS: &str = "more than 1000 relations in one FROM clause";
/// What is said of a text that nests deeper.
pub(super) const TOO_DEEP: &str = "nesting deeper than 20000 levels";

/// Reads the parser's tree into the arena in which that tree is.
pub(super) struct Reader<'b> {
    pub(super) bump: &'b Bump,
    depth: usize,
    /// How deep the deepest tree is that was read below the node at hand.
    height: usize,
    /// Why the text is refused, with the word at which that shows.
    refused: Option<(ErrorKind, &'static str)>,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bump: &'b Bump) -> Self {
        Self { bump, depth: 0, height: 0, refused: None }
    }

    /// The whole query, or why it is refused and the word at which that shows.
    pub(super) fn whole(
        mut self,
        ast: &'b ast::Select<'b>,
    ) -> Result<&'b Select<'b>, (ErrorKind, &'static str)> {
        let query = self.query(ast);
        self.refused.map_or(Ok(query), Err)
    }

    fn refuse(&mut self, kind: ErrorKind, word: &'static str) {
        self.refused.get_or_insert((kind, word));
    }

    pub(super) fn name(&self, token: &'b str) -> Name<'b> {
        let (text, quote) = unquote(token);
        let text = match text {
            std::borrow::Cow::Borrowed(text) => text,
            std::borrow::Cow::Owned(text) => self.bump.alloc_str(&text),
        };
        Name { text, quote }
    }

    fn table_name(&self, ast: &ast::QualifiedName<'b>) -> TableName<'b> {
        TableName {
            database: ast.db_name.as_ref().map(|name| self.name(name.0)),
            name: self.name(ast.name.0),
        }
    }

    fn alias(&self, ast: Option<&ast::As<'b>>) -> Option<Name<'b>> {
        ast.map(|(ast::As::As(name) | ast::As::Elided(name))| self.name(name.0))
    }

    pub(super) fn column_names(&self, ast: &'b [ast::IndexedColumn<'b>]) -> &'b [Name<'b>] {
        self.bump.alloc_slice_fill_iter(ast.iter().map(|column| self.name(column.col_name.0)))
    }

    pub(super) fn type_name(&self, ast: &ast::Type<'b>) -> &'b str {
        let size = match &ast.size {
            None => None,
            Some(ast::TypeSize::MaxSize(size)) => Some(size.to_string()),
            Some(ast::TypeSize::TypeSize(precision, scale)) => Some(format!("{precision},{scale}")),
        };
        self.bump.alloc_str(&type_text(ast.name, size.as_deref()))
    }

    fn query(&mut self, ast: &'b ast::Select<'b>) -> &'b Select<'b> {
        self.nested(|this| this.query_inside(ast)).unwrap_or_else(|| {
            let first = Operand::Values(&[]);
            self.bump.alloc(Select { with: None, first, rest: &[], order_by: None, limit: None })
        })
    }

    fn query_inside(&mut self, ast: &'b ast::Select<'b>) -> &'b Select<'b> {
        let bump = self.bump;
        let with = ast.with.as_ref().map(|with| {
            let ctes = with.ctes.iter().map(|cte| CommonTable {
                name: self.name(cte.tbl_name.0),
                columns: cte.columns.map(|columns| self.column_names(columns)),
                materialized: match cte.materialized {
                    Materialized::Any => None,
                    Materialized::Yes => Some(true),
                    Materialized::No => Some(false),
                },
                query: self.query(cte.select),
            });
            &*bump.alloc_slice_fill_iter(ctes)
        });
        let first = self.operand(&ast.body.select);
        let rest = ast.body.compounds.as_ref().map(sqlite3_parser::Vec::as_slice).unwrap_or_default();
        let rest = bump.alloc_slice_fill_iter(rest.iter().map(|arm| self.compound(arm)));
        let order_by = ast.order_by.map(|terms| self.terms(terms));
        let limit = ast.limit.map(|limit| Limit {
            limit: self.expr(&limit.expr),
            offset: limit.offset.as_ref().map(|offset| self.expr(offset)),
        });
        let last = rest.last().map_or(&first, |arm| &arm.operand);
        if let Operand::Values(_) = last
            && let Some(word) = order_by.map(|_| "ORDER").or(limit.as_ref().map(|_| "LIMIT"))
        {
            self.refuse(ErrorKind::Syntax(format!("near \"{word}\": syntax error")), word);
        }
        bump.alloc(Select { with, first, rest, order_by, limit })
    }

    fn compound(&mut self, ast: &'b ast::CompoundSelect<'b>) -> Compound<'b> {
        let (operator, all) = match ast.operator {
            CompoundOperator::Union => (SetOperator::Union, false),
            CompoundOperator::UnionAll => (SetOperator::Union, true),
            CompoundOperator::Except => (SetOperator::Except, false),
            CompoundOperator::Intersect => (SetOperator::Intersect, false),
        };
        Compound { operator, all, operand: self.operand(&ast.select) }
    }

    fn operand(&mut self, ast: &'b ast::OneSelect<'b>) -> Operand<'b> {
        let bump = self.bump;
        match ast {
            ast::OneSelect::Values(rows) => {
                Operand::Values(bump.alloc_slice_fill_iter(rows.iter().map(|row| self.exprs(row))))
            }
            ast::OneSelect::Select {
                distinctness,
                columns,
                from,
                where_clause,
                group_by,
                having,
                window_clause,
            } => {
                let windows = window_clause.unwrap_or_default();
                Operand::Select(bump.alloc(Core {
                    distinct: matches!(distinctness, Some(ast::Distinctness::Distinct)),
                    outputs: bump.alloc_slice_fill_iter(columns.iter().map(|column| self.output(column))),
                    from: from.as_ref().map(|from| self.from(from)),
                    filter: where_clause.map(|filter| self.expr(filter)),
                    group_by: group_by.map(|keys| self.exprs(keys)),
                    having: having.map(|having| self.expr(having)),
                    windows: bump.alloc_slice_fill_iter(windows.iter().map(|defined| NamedWindow {
                        name: self.name(defined.name.0),
                        window: self.window(&defined.window),
                    })),
                }))
            }
        }
    }

    fn output(&mut self, ast: &'b ast::ResultColumn<'b>) -> ResultColumn<'b> {
        match ast {
            ast::ResultColumn::Star => ResultColumn::Star,
            ast::ResultColumn::TableStar(table) => ResultColumn::TableStar(self.name(table.0)),
            ast::ResultColumn::Expr(expr, alias) => {
                ResultColumn::Expr(self.expr(expr), self.alias(alias.as_ref()))
            }
        }
    }

    fn from(&mut self, ast: &'b ast::FromClause<'b>) -> FromClause<'b> {
        let bump = self.bump;
        let first = ast.select.map(|table| &*bump.alloc(self.table(table)));
        let joins = ast.joins.as_ref().map(sqlite3_parser::Vec::as_slice).unwrap_or_default();
        if joins.len() >= MAX_RELATIONS {
            self.refuse(ErrorKind::Unsupported(TOO_MANY_RELATIONS.to_owned()), "FROM");
            return FromClause { first, joins: &[] };
        }
        let joins = joins.iter().map(|join| {
            let (kind, natural) = join_kind(join.operator);
            Join {
                kind,
                natural,
                table: self.table(&join.table),
                constraint: join.constraint.as_ref().map(|constraint| match constraint {
                    ast::JoinConstraint::On(on) => JoinConstraint::On(self.expr(on)),
                    ast::JoinConstraint::Using(names) => JoinConstraint::Using(
                        bump.alloc_slice_fill_iter(names.iter().map(|name| self.name(name.0))),
                    ),
                }),
            }
        });
        FromClause { first, joins: bump.alloc_slice_fill_iter(joins) }
    }

    fn table(&mut self, ast: &'b SelectTable<'b>) -> TableExpr<'b> {
        match ast {
            SelectTable::Table(name, alias, indexed) => TableExpr::Table {
                name: self.table_name(name),
                alias: self.alias(alias.as_ref()),
                hint: indexed.as_ref().map(|indexed| match indexed {
                    ast::Indexed::IndexedBy(name) => IndexHint::By(self.name(name.0)),
                    ast::Indexed::NotIndexed => IndexHint::None,
                }),
            },
            SelectTable::TableCall(name, args, alias) => TableExpr::Call {
                name: self.table_name(name),
                args: args.map(|args| self.exprs(args)),
                alias: self.alias(alias.as_ref()),
            },
            SelectTable::Select(query, alias) => {
                TableExpr::Query(self.query(query), self.alias(alias.as_ref()))
            }
            SelectTable::Sub(from, alias) => {
                let from = self.nested(|this| this.from(from));
                let from = from.unwrap_or(FromClause { first: None, joins: &[] });
                TableExpr::Parenthesised(from, self.alias(alias.as_ref()))
            }
        }
    }

    /// Goes one level deeper, on a stack that is large enough for it; `None` where that is too deep.
    fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth == MAX_DEPTH {
            self.refused = Some((ErrorKind::Unsupported(TOO_DEEP.to_owned()), ""));
            return None;
        }
        self.depth += 1;
        let around = std::mem::take(&mut self.height);
        let result = stacker::maybe_grow(128 << 10, 1 << 20, || step(self));
        self.height = around.max(self.height + 1);
        self.depth -= 1;
        Some(result)
    }

    fn exprs(&mut self, ast: &'b [ast::Expr<'b>]) -> &'b [Expr<'b>] {
        self.bump.alloc_slice_fill_iter(ast.iter().map(|expr| self.expr(expr)))
    }

    pub(super) fn terms(&mut self, ast: &'b [ast::SortedColumn<'b>]) -> &'b [SortTerm<'b>] {
        self.bump.alloc_slice_fill_iter(ast.iter().map(|term| SortTerm {
            expr: self.expr(&term.expr),
            descending: term.order == Some(SortOrder::Desc),
            nulls_first: term.nulls.as_ref().map(|nulls| matches!(nulls, ast::NullsOrder::First)),
        }))
    }

    fn window(&mut self, ast: &'b ast::Window<'b>) -> Window<'b> {
        let window = Window {
            base: ast.base.as_ref().map(|base| self.name(base.0)),
            partition_by: ast.partition_by.map(|keys| self.exprs(keys)),
            order_by: ast.order_by.map(|terms| self.terms(terms)),
            frame: ast.frame_clause.as_ref().map(|frame| Frame {
                mode: match frame.mode {
                    ast::FrameMode::Groups => FrameMode::Groups,
                    ast::FrameMode::Range => FrameMode::Range,
                    ast::FrameMode::Rows => FrameMode::Rows,
                },
                start: self.bound(&frame.start),
                end: frame.end.as_ref().map(|end| self.bound(end)),
                exclude: frame.exclude.as_ref().map(|exclude| match exclude {
                    ast::FrameExclude::NoOthers => FrameExclude::NoOthers,
                    ast::FrameExclude::CurrentRow => FrameExclude::CurrentRow,
                    ast::FrameExclude::Group => FrameExclude::Group,
                    ast::FrameExclude::Ties => FrameExclude::Ties,
                }),
            }),
        };
        if let Some(frame) = window.frame.as_ref().filter(|frame| ends_before_it_starts(frame)) {
            let word = match frame.mode {
                FrameMode::Groups => "GROUPS",
                FrameMode::Range => "RANGE",
                FrameMode::Rows => "ROWS",
            };
            self.refuse(ErrorKind::Window("unsupported frame specification".to_owned()), word);
        }
        window
    }

    fn bound(&mut self, ast: &'b ast::FrameBound<'b>) -> FrameBound<'b> {
        match ast {
            ast::FrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::FrameBound::Following(expr) => FrameBound::Following(self.expr(expr)),
            ast::FrameBound::Preceding(expr) => FrameBound::Preceding(self.expr(expr)),
            ast::FrameBound::UnboundedFollowing => FrameBound::UnboundedFollowing,
            ast::FrameBound::UnboundedPreceding => FrameBound::UnboundedPreceding,
        }
    }

    fn expr(&mut self, ast: &'b ast::Expr<'b>) -> Expr<'b> {
        let mut chain = Vec::new();
        let mut leftmost = ast;
        while let ast::Expr::Binary(left, operator, right) = leftmost {
            chain.push((leftmost, *operator, *right));
            leftmost = left;
        }
        let mut expr = self.operand_of_chain(leftmost);
        for (whole, operator, right) in chain.into_iter().rev() {
            let left = self.bump.alloc(expr);
            let right = self.boxed(right);
            let kind = match binary_operator(operator) {
                Ok(operator) => ExprKind::Binary(left, operator, right),
                Err(connective) => ExprKind::Connective(left, connective, right),
            };
            let depth = 1 + left.depth.max(right.depth);
            self.height = self.height.max(depth);
            expr = Expr { kind, text: whole as Text<'b>, depth };
        }
        expr
    }

    fn operand_of_chain(&mut self, ast: &'b ast::Expr<'b>) -> Expr<'b> {
        let around = std::mem::take(&mut self.height);
        let kind = self.nested(|this| this.kind(ast)).unwrap_or(ExprKind::Literal(Literal::Null));
        let depth = self.height;
        self.height = around.max(depth);
        Expr { kind, text: ast, depth }
    }

    fn boxed(&mut self, ast: &'b ast::Expr<'b>) -> &'b Expr<'b> {
        let expr = self.expr(ast);
        self.bump.alloc(expr)
    }

    fn kind(&mut self, ast: &'b ast::Expr<'b>) -> ExprKind<'b> {
        let bump = self.bump;
        match ast {
            ast::Expr::Id(ast::Id(token)) | ast::Expr::Name(ast::Name(token)) => {
                ExprKind::Column(self.name(token))
            }
            ast::Expr::Qualified(table, column) => {
                ExprKind::Qualified(self.name(table.0), self.name(column.0))
            }
            ast::Expr::DoublyQualified(database, table, column) => {
                let names = [database, table, column].map(|name| self.name(name.0));
                ExprKind::DoublyQualified(bump.alloc(names))
            }
            ast::Expr::Literal(value) => ExprKind::Literal(self.literal(value)),
            ast::Expr::Parenthesized(inner) => ExprKind::Parenthesised(self.exprs(inner)),
            ast::Expr::Unary(operator, operand) => {
                ExprKind::Unary(unary_operator(*operator), self.boxed(operand))
            }
            // The operands of a chain are its own.
            ast::Expr::Binary(..) => self.expr(ast).kind,
            ast::Expr::Between { lhs, not, start, end } => ExprKind::Between(bump.alloc(Between {
                expr: self.expr(lhs),
                low: self.expr(start),
                high: self.expr(end),
                negated: *not,
            })),
            ast::Expr::Like { lhs, not, op, rhs, escape } => ExprKind::Like(bump.alloc(Like {
                operator: like_operator(*op),
                expr: self.expr(lhs),
                pattern: self.expr(rhs),
                escape: escape.map(|escape| self.expr(escape)),
                negated: *not,
            })),
            ast::Expr::InList { lhs, not, rhs } => ExprKind::InList {
                expr: self.boxed(lhs),
                list: self.exprs(rhs.unwrap_or_default()),
                negated: *not,
            },
            ast::Expr::InSelect { lhs, not, rhs } => {
                ExprKind::InQuery { expr: self.boxed(lhs), query: self.query(rhs), negated: *not }
            }
            ast::Expr::InTable { lhs, not, rhs, args } => ExprKind::InTable(bump.alloc(InTable {
                expr: self.expr(lhs),
                table: self.table_name(rhs),
                is_call: args.is_some(),
                negated: *not,
            })),
            ast::Expr::Exists(query) => ExprKind::Exists(self.query(query)),
            ast::Expr::Subquery(query) => ExprKind::Scalar(self.query(query)),
            ast::Expr::Case { base, when_then_pairs, else_expr } => ExprKind::Case(bump.alloc(Case {
                operand: base.map(|base| self.expr(base)),
                branches: bump.alloc_slice_fill_iter(
                    when_then_pairs.iter().map(|(when, then)| (self.expr(when), self.expr(then))),
                ),
                otherwise: else_expr.map(|otherwise| self.expr(otherwise)),
            })),
            ast::Expr::Cast { expr, type_name } => ExprKind::Cast {
                expr: self.boxed(expr),
                type_name: type_name.as_ref().map_or("", |name| self.type_name(name)),
            },
            ast::Expr::Collate(expr, collation) => ExprKind::Collate(self.boxed(expr), self.name(collation)),
            ast::Expr::IsNull(expr) => ExprKind::IsNull { expr: self.boxed(expr), negated: false },
            ast::Expr::NotNull(expr) => ExprKind::IsNull { expr: self.boxed(expr), negated: true },
            ast::Expr::FunctionCall { .. } | ast::Expr::FunctionCallStar { .. } => self.call(ast),
            ast::Expr::Raise(..) => ExprKind::Raise,
            ast::Expr::Variable(name) => ExprKind::Parameter(name),
        }
    }

    fn call(&mut self, ast: &'b ast::Expr<'b>) -> ExprKind<'b> {
        let (name, args, distinct, order_by, tail) = match ast {
            ast::Expr::FunctionCall { name, distinctness, args, order_by, filter_over } => {
                let order_by = match order_by {
                    Some(ast::FunctionCallOrder::SortList(terms)) => *terms,
                    None => &[],
                };
                let distinct = matches!(distinctness, Some(ast::Distinctness::Distinct));
                (name, Some(args.unwrap_or_default()), distinct, order_by, filter_over)
            }
            ast::Expr::FunctionCallStar { name, filter_over } => {
                (name, None, false, [].as_slice(), filter_over)
            }
            _ => return ExprKind::Literal(Literal::Null),
        };
        let tail = tail.as_ref();
        let over = tail.and_then(|tail| tail.over_clause).map(|over| match over {
            ast::Over::Window(window) => Over::Window(self.bump.alloc(self.window(window))),
            ast::Over::Name(name) => Over::Name(self.name(name.0)),
        });
        let call = Call {
            name: self.name(name.0),
            args: args.map(|args| self.exprs(args)),
            distinct,
            order_by: self.terms(order_by),
            filter: tail.and_then(|tail| tail.filter_clause).map(|filter| self.expr(filter)),
            over,
        };
        if call.over.is_some() && call.distinct {
            let message = "DISTINCT is not supported for window functions".to_owned();
            self.refuse(ErrorKind::Window(message), "DISTINCT");
        } else if call.over.is_some() && !call.order_by.is_empty() {
            self.refuse(ErrorKind::NoAggregate("ORDER BY", call.name.text.to_owned()), "ORDER");
        }
        ExprKind::Call(self.bump.alloc(call))
    }

    fn literal(&self, ast: &ast::Literal<'b>) -> Literal<'b> {
        match ast {
            ast::Literal::Null => Literal::Null,
            ast::Literal::Numeric(token) => Literal::Number(token),
            ast::Literal::String(token) => Literal::String(self.name(token).text),
            ast::Literal::Blob(token) => Literal::Blob(token),
            ast::Literal::Keyword(token) => Literal::Keyword(token),
            ast::Literal::CurrentDate => Literal::CurrentDate,
            ast::Literal::CurrentTime => Literal::CurrentTime,
            ast::Literal::CurrentTimestamp => Literal::CurrentTimestamp,
        }
    }
}

fn ends_before_it_starts(frame: &Frame<'_>) -> bool {
    let rank = |bound: &FrameBound<'_>| match bound {
        FrameBound::UnboundedPreceding => 0,
        FrameBound::Preceding(_) => 1,
        FrameBound::CurrentRow => 2,
        FrameBound::Following(_) => 3,
        FrameBound::UnboundedFollowing => 4,
    };
    let (start, end) = (rank(&frame.start), frame.end.as_ref().map_or(2, rank));
    start > end || start == 4 || end == 0
}

fn join_kind(operator: JoinOperator) -> (JoinKind, bool) {
    let JoinOperator::TypedJoin(Some(kind)) = operator else { return (JoinKind::Inner, false) };
    let natural = kind.contains(JoinType::NATURAL);
    let kind = if kind.contains(JoinType::LEFT | JoinType::RIGHT) {
        JoinKind::Full
    } else if kind.contains(JoinType::LEFT) {
        JoinKind::Left
    } else if kind.contains(JoinType::RIGHT) {
        JoinKind::Right
    } else if kind.contains(JoinType::CROSS) {
        JoinKind::Cross
    } else {
        JoinKind::Inner
    };
    (kind, natural)
}

fn unary_operator(ast: ast::UnaryOperator) -> UnaryOperator {
    match ast {
        ast::UnaryOperator::Negative => UnaryOperator::Minus,
        ast::UnaryOperator::Positive => UnaryOperator::Plus,
        ast::UnaryOperator::BitwiseNot => UnaryOperator::BitNot,
        ast::UnaryOperator::Not => UnaryOperator::Not,
    }
}

fn like_operator(ast: ast::LikeOperator) -> LikeOperator {
    match ast {
        ast::LikeOperator::Glob => LikeOperator::Glob,
        ast::LikeOperator::Like => LikeOperator::Like,
        ast::LikeOperator::Match => LikeOperator::Match,
        ast::LikeOperator::Regexp => LikeOperator::Regexp,
    }
}

/// The operator, or which of AND and OR it is.
fn binary_operator(ast: ast::Operator) -> Result<BinaryOperator, Connective> {
    Ok(match ast {
        ast::Operator::Add => BinaryOperator::Add,
        ast::Operator::ArrowRight => BinaryOperator::Arrow,
        ast::Operator::ArrowRightShift => BinaryOperator::LongArrow,
        ast::Operator::BitwiseAnd => BinaryOperator::BitAnd,
        ast::Operator::BitwiseOr => BinaryOperator::BitOr,
        ast::Operator::Concat => BinaryOperator::Concat,
        ast::Operator::And => return Err(Connective::And),
        ast::Operator::Or => return Err(Connective::Or),
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
