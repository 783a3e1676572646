//! Expressions, with as few parentheses as SQLite's precedence allows.

use super::names::is_plain;
use super::{Names, PrintError, Printer};
use crate::functions::Function;
use crate::quote;
use crate::tree::{
    Aggregate, Args, BinaryOperator, Expr, Frame, FrameBound, FrameExclude, FrameMode, LikeOperator, Literal,
    OrderTerm, Query, UnaryOperator, Window, WindowCall,
};

/// Precedence of SQLite's operators, loosest first ("SQL Language Expressions", operators).
pub(super) mod precedence {
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const EQUALITY: u8 = 4;
    pub(crate) const COMPARISON: u8 = 5;
    pub(crate) const BITWISE: u8 = 6;
    pub(crate) const SUM: u8 = 7;
    pub(crate) const PRODUCT: u8 = 8;
    pub(crate) const CONCAT: u8 = 9;
    pub(crate) const COLLATE: u8 = 10;
    pub(crate) const UNARY: u8 = 11;
    pub(crate) const ATOM: u8 = 12;
}

fn binary_precedence(operator: BinaryOperator) -> u8 {
    match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::Is | BinaryOperator::IsNot => {
            precedence::EQUALITY
        }
        BinaryOperator::Less
        | BinaryOperator::LessEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterEqual => precedence::COMPARISON,
        BinaryOperator::BitAnd
        | BinaryOperator::BitOr
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight => precedence::BITWISE,
        BinaryOperator::Add | BinaryOperator::Subtract => precedence::SUM,
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => precedence::PRODUCT,
        BinaryOperator::Concat | BinaryOperator::Arrow | BinaryOperator::LongArrow => precedence::CONCAT,
    }
}

fn expr_precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Or(_) => precedence::OR,
        Expr::And(_) => precedence::AND,
        Expr::Unary(UnaryOperator::Not, _) | Expr::Exists { negated: true, .. } => precedence::NOT,
        Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::InList { .. }
        | Expr::InQuery { .. }
        | Expr::IsNull { .. } => precedence::EQUALITY,
        Expr::Binary(operator, ..) => binary_precedence(*operator),
        Expr::Collate { .. } => precedence::COLLATE,
        Expr::Unary(..) => precedence::UNARY,
        Expr::Literal(Literal::Integer(value)) if *value < 0 => precedence::UNARY,
        Expr::Literal(Literal::Real(value)) if value.get().is_sign_negative() => precedence::UNARY,
        _ => precedence::ATOM,
    }
}

impl Printer<'_> {
    /// Prints an expression; with parentheses if it binds looser than `needed`.
    pub(super) fn expr(&mut self, expr: &Expr, needed: u8) {
        if expr_precedence(expr) < needed {
            self.text("(");
            self.bare_expr(expr);
            self.text(")");
        } else {
            self.bare_expr(expr);
        }
    }

    fn bare_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(column) => {
                let (relation, name) = (self.names.relation(column.relation), self.names.column(*column));
                let (relation, name) = (self.named(relation), self.named(name));
                let is_only = self.only.last() == Some(&Some(column.relation)) || relation.is_empty();
                if !(self.is_brief && is_only) {
                    self.identifier(&relation);
                    self.text(".");
                }
                self.identifier(&name);
            }
            Expr::Output(_) => self.fail(PrintError::MisplacedOutput),
            Expr::Literal(value) => self.literal(value),
            Expr::Unary(operator, operand) => self.unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::And(list) | Expr::Or(list) if list.is_empty() => {
                self.fail(PrintError::Empty("list of AND or OR"));
            }
            Expr::And(list) => self.separated(list, " AND ", |p, e| p.expr(e, precedence::AND + 1)),
            Expr::Or(list) => self.separated(list, " OR ", |p, e| p.expr(e, precedence::OR + 1)),
            Expr::Row(list) => self.list(list),
            Expr::Exists { query, negated } => {
                self.text(if *negated { "NOT EXISTS " } else { "EXISTS " });
                self.subquery(query);
            }
            Expr::Scalar(query) => self.subquery(query),
            Expr::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref());
            }
            Expr::Cast { expr, type_name } => {
                self.text("CAST(");
                self.expr(expr, 0);
                self.text(" AS ");
                self.type_name(type_name);
                self.text(")");
            }
            Expr::Collate { expr, collation } => {
                self.expr(expr, precedence::COLLATE);
                self.text(" COLLATE ");
                self.identifier(collation);
            }
            Expr::Function { function, args } => {
                self.name_of(function);
                self.args(args, false, &[]);
            }
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Window(call) => self.window_call(call),
            Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::IsNull { .. } => self.predicate(expr),
        }
    }

    /// BETWEEN, LIKE, IN and IS NULL, all of one precedence.
    fn predicate(&mut self, expr: &Expr) {
        let needed = precedence::EQUALITY + 1;
        let not = |negated: &bool| if *negated { " NOT" } else { "" };
        match expr {
            Expr::Between { expr, low, high, negated } => {
                self.expr(expr, needed);
                self.text(not(negated));
                self.text(" BETWEEN ");
                self.expr(low, needed);
                self.text(" AND ");
                self.expr(high, needed);
            }
            Expr::Like { operator, expr, pattern, escape, negated } => {
                self.expr(expr, needed);
                self.text(not(negated));
                self.text(match operator {
                    LikeOperator::Like => " LIKE ",
                    LikeOperator::Glob => " GLOB ",
                    LikeOperator::Regexp => " REGEXP ",
                    LikeOperator::Match => " MATCH ",
                });
                self.expr(pattern, needed);
                if let Some(escape) = escape {
                    self.text(" ESCAPE ");
                    self.expr(escape, needed);
                }
            }
            Expr::InList { expr, list, negated } => {
                self.expr(expr, needed);
                self.text(not(negated));
                self.text(" IN ");
                self.list(list);
            }
            Expr::InQuery { expr, query, negated } => {
                self.expr(expr, needed);
                self.text(not(negated));
                self.text(" IN ");
                self.subquery(query);
            }
            Expr::IsNull { expr, negated } => {
                self.expr(expr, needed);
                self.text(if *negated { " IS NOT NULL" } else { " IS NULL" });
            }
            _ => {}
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Expr) {
        self.text(match operator {
            UnaryOperator::Not => "NOT ",
            UnaryOperator::Minus => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::BitNot => "~",
        });
        let needed = if operator == UnaryOperator::Not { precedence::NOT } else { precedence::ATOM };
        self.expr(operand, needed);
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) {
        let precedence = binary_precedence(operator);
        // A chain of comparisons is legal but hard to read, so its parts get parentheses.
        let left_needed = if precedence <= precedence::COMPARISON { precedence + 1 } else { precedence };
        self.expr(left, left_needed);
        self.text(" ");
        self.text(operator.symbol());
        self.text(" ");
        self.expr(right, precedence + 1);
    }

    fn list(&mut self, list: &[Expr]) {
        self.text("(");
        self.separated(list, ", ", |printer, expr| printer.expr(expr, 0));
        self.text(")");
    }

    fn subquery(&mut self, query: &Query) {
        self.text("(");
        self.query(query, None);
        self.text(")");
    }

    fn case(&mut self, operand: Option<&Expr>, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) {
        self.text("CASE");
        if let Some(operand) = operand {
            self.text(" ");
            self.expr(operand, 0);
        }
        for (when, then) in branches {
            self.text(" WHEN ");
            self.expr(when, 0);
            self.text(" THEN ");
            self.expr(then, 0);
        }
        if let Some(otherwise) = otherwise {
            self.text(" ELSE ");
            self.expr(otherwise, 0);
        }
        self.text(" END");
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        self.name_of(&aggregate.function);
        self.args(&aggregate.args, aggregate.distinct, &aggregate.order_by);
        self.filter(aggregate.filter.as_ref());
    }

    fn window_call(&mut self, call: &WindowCall) {
        self.name_of(&call.function);
        self.args(&call.args, false, &[]);
        self.filter(call.filter.as_ref());
        self.window(&call.window);
    }

    fn name_of(&mut self, function: &Function) {
        // CURRENT_DATE and its like are keywords, and function names such as REPLACE, LIKE and IF may be.
        if Names::is_callable(function.name()) {
            self.text(function.name());
        } else {
            self.identifier(function.name());
        }
    }

    fn args(&mut self, args: &Args, distinct: bool, order_by: &[OrderTerm]) {
        match args {
            Args::Bare => {}
            Args::Star => self.text("(*)"),
            Args::List(list) => {
                self.text(if distinct { "(DISTINCT " } else { "(" });
                self.separated(list, ", ", |printer, expr| printer.expr(expr, 0));
                if !order_by.is_empty() {
                    self.text(" ORDER BY ");
                    self.order_terms(order_by);
                }
                self.text(")");
            }
        }
    }

    fn filter(&mut self, filter: Option<&Expr>) {
        if let Some(filter) = filter {
            self.text(" FILTER (WHERE ");
            self.expr(filter, 0);
            self.text(")");
        }
    }

    fn window(&mut self, window: &Window) {
        self.text(" OVER (");
        let mut space = "";
        if !window.partition_by.is_empty() {
            self.text("PARTITION BY ");
            self.separated(&window.partition_by, ", ", |printer, expr| printer.expr(expr, 0));
            space = " ";
        }
        if !window.order_by.is_empty() {
            self.text(space);
            self.text("ORDER BY ");
            self.order_terms(&window.order_by);
            space = " ";
        }
        if let Some(frame) = &window.frame {
            self.text(space);
            self.frame(frame);
        }
        self.text(")");
    }

    fn frame(&mut self, frame: &Frame) {
        self.text(match frame.mode {
            FrameMode::Rows => "ROWS ",
            FrameMode::Range => "RANGE ",
            FrameMode::Groups => "GROUPS ",
        });
        match &frame.end {
            None => self.bound(&frame.start),
            Some(end) => {
                self.text("BETWEEN ");
                self.bound(&frame.start);
                self.text(" AND ");
                self.bound(end);
            }
        }
        if let Some(exclude) = frame.exclude {
            self.text(match exclude {
                FrameExclude::NoOthers => " EXCLUDE NO OTHERS",
                FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
                FrameExclude::Group => " EXCLUDE GROUP",
                FrameExclude::Ties => " EXCLUDE TIES",
            });
        }
    }

    fn bound(&mut self, bound: &FrameBound) {
        match bound {
            FrameBound::CurrentRow => self.text("CURRENT ROW"),
            FrameBound::UnboundedPreceding => self.text("UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => self.text("UNBOUNDED FOLLOWING"),
            FrameBound::Preceding(expr) => {
                self.expr(expr, 0);
                self.text(" PRECEDING");
            }
            FrameBound::Following(expr) => {
                self.expr(expr, 0);
                self.text(" FOLLOWING");
            }
        }
    }

    /// A type is written as it is where its words are plain ones, and in quotes elsewhere.
    fn type_name(&mut self, name: &str) {
        let (words, size) = match name.split_once('(') {
            Some((words, rest)) if rest.ends_with(')') => (words, &name[words.len()..]),
            _ => (name, ""),
        };
        let is_number = |part: &str| part.trim_start_matches(['+', '-']).parse::<f64>().is_ok();
        let sizes = size.strip_prefix('(').and_then(|size| size.strip_suffix(')'));
        let plain_size =
            sizes.is_none_or(|sizes| sizes.split(',').all(is_number) && sizes.split(',').count() < 3);
        if name.is_empty() || (plain_size && words.split(' ').all(is_plain)) {
            self.text(name);
        } else {
            self.text(&quote::name(name));
        }
    }

    fn literal(&mut self, value: &Literal) {
        match value {
            Literal::Null => self.text("NULL"),
            Literal::Boolean(true) => self.text("TRUE"),
            Literal::Boolean(false) => self.text("FALSE"),
            Literal::Integer(value) => self.text(&value.to_string()),
            Literal::Real(value) if value.get().is_infinite() => {
                self.text(if value.get() > 0.0 { "9e999" } else { "-9e999" });
            }
            Literal::Real(value) => self.text(&format!("{:?}", value.get())),
            Literal::Text(text) => self.text(&quote::text(text)),
            Literal::Blob(bytes) => {
                self.text("x'");
                for byte in bytes {
                    self.text(&format!("{byte:02x}"));
                }
                self.text("'");
            }
        }
    }
}
