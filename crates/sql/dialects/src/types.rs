//! The one type that all values of a column or expression have.
//!
//! # Contract
//! SQLite types values; the other engines type columns. [`TypedSchema`] says of each column of a database which type holds
//! all its values, by its declared type or by what is stored in it; [`Types`] carries that through a query. A column
//! whose values have no common type is [`Type::Mixed`], and no text of another dialect reads it.

use std::collections::HashMap;

use sqlgauge_base::budget;
use sqlgauge_sql::functions::{Function, Returns};
use sqlgauge_sql::schema::{Affinity, Column, Schema, Table, TableId};
use sqlgauge_sql::tree::{
    Args, BinaryOperator, Body, ColumnRef, Cte, CteId, Expr, From, Literal, Query, RelationId,
    RelationSource, Select, UnaryOperator,
};
use sqlgauge_sql::visit::children;

/// The type of all values of a column or an expression, NULL aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Nothing but NULL.
    Null,
    /// Integers of 64 bits.
    Integer,
    Real,
    /// Integers and real numbers, kept as real numbers.
    Number,
    /// Texts.
    Text,
    /// Blobs.
    Blob,
    /// Dates and times in a server's own types, which are not texts there.
    Date,
    /// Values that no one type holds.
    Mixed,
}

impl Type {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Integer => "integers",
            Self::Real => "real numbers",
            Self::Number => "integers and real numbers",
            Self::Text => "texts",
            Self::Blob => "blobs",
            Self::Date => "dates",
            Self::Mixed => "values of several types",
        }
    }
}

impl Type {
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Real | Self::Number)
    }

    /// The type that holds the values of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Null, other) => other,
            (one, Self::Null) => one,
            (one, other) if one.is_numeric() && other.is_numeric() => Self::Number,
            _ => Self::Mixed,
        }
    }
}

/// What is known of the values of a column or an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that is known")]
pub struct ValueProfile {
    pub of: Type,
    /// Texts: all characters are ASCII, and none is NUL.
    pub is_ascii: bool,
    /// Texts: all are dates, or dates with times, as SQLite writes them.
    pub is_date: bool,
    /// Texts: one is empty, or may be.
    pub may_be_empty: bool,
    /// Texts: one ends in a space, or may.
    pub may_end_in_space: bool,
    /// Texts: whatever looks like a number is an integer as SQLite writes it.
    pub has_plain_numbers: bool,
    /// Texts: all are integers as SQLite writes them.
    pub is_integer: bool,
}

impl ValueProfile {
    /// Values of that type of which nothing else is known.
    pub fn of(of: Type) -> Self {
        Self {
            of,
            is_ascii: false,
            is_date: false,
            may_be_empty: true,
            may_end_in_space: true,
            has_plain_numbers: false,
            is_integer: false,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self.of, other.of) {
            (Type::Null, _) => other,
            (_, Type::Null) => self,
            _ => Self {
                of: self.of.or(other.of),
                is_ascii: self.is_ascii && other.is_ascii,
                is_date: self.is_date && other.is_date,
                may_be_empty: self.may_be_empty || other.may_be_empty,
                may_end_in_space: self.may_end_in_space || other.may_end_in_space,
                has_plain_numbers: self.has_plain_numbers && other.has_plain_numbers,
                is_integer: self.is_integer && other.is_integer,
            },
        }
    }
}

/// A schema with the types of its columns.
#[derive(Debug, Clone)]
pub struct TypedSchema<'s> {
    schema: &'s Schema,
    tables: Vec<Vec<ValueProfile>>,
}

impl<'s> TypedSchema<'s> {
    /// The types that the columns declare. They hold for databases whose values keep them.
    pub fn declared(schema: &'s Schema) -> Self {
        let of_table = |columns: &[Column]| {
            columns.iter().map(|column| ValueProfile::of(declared(column.declared_type.as_deref()))).collect()
        };
        let tables = schema.tables().iter().map(|table| of_table(&table.columns)).collect();
        Self { schema, tables }
    }

    /// The types that the columns of a server declare. A type that SQLite lacks, dates aside, counts as mixed: no query of ours
    /// compares its values.
    pub fn on_server(schema: &'s Schema) -> Self {
        const OTHERS: [&str; 13] = [
            "interval", "bool", "bit", "json", "uuid", "bytea", "array", "inet", "enum", "struct", "map",
            "point", "set",
        ];
        let of_column = |column: &Column| {
            let declared_type = column.declared_type.as_deref();
            let name = declared_type.unwrap_or_default().to_ascii_lowercase();
            let is_other = OTHERS.iter().any(|other| name.starts_with(other)) || name.ends_with(']');
            let is_date = name.starts_with("date") || name.starts_with("timestamp");
            ValueProfile::of(match is_date {
                true => Type::Date,
                false if is_other || name.starts_with("time") => Type::Mixed,
                false => declared(declared_type),
            })
        };
        let of_table = |table: &Table| table.columns.iter().map(of_column).collect();
        Self::found(schema, schema.tables().iter().map(of_table).collect())
    }

    /// The types that were found, by table and column in the order of the schema.
    pub fn found(schema: &'s Schema, tables: Vec<Vec<ValueProfile>>) -> Self {
        Self { schema, tables }
    }

    pub fn schema(&self) -> &'s Schema {
        self.schema
    }

    /// What is known of a column of a table.
    pub fn column(&self, table: TableId, column: u32) -> ValueProfile {
        let profile = self.tables.get(table.index()).and_then(|columns| columns.get(column as usize));
        profile.copied().unwrap_or(ValueProfile::of(Type::Mixed))
    }
}

/// The type that a declaration means: its affinity, and of what has numeric affinity what people keep there.
pub fn declared(declaration: Option<&str>) -> Type {
    match Affinity::of_declared_type(declaration) {
        Affinity::Integer => Type::Integer,
        Affinity::Real => Type::Real,
        Affinity::Text => Type::Text,
        Affinity::Numeric => {
            let words = declaration.unwrap_or_default().to_ascii_uppercase();
            let has = |word: &str| words.contains(word);
            if has("DATE") || has("TIME") {
                Type::Text
            } else if has("BOOL") || has("YEAR") {
                Type::Integer
            } else {
                Type::Number
            }
        }
        Affinity::Blob if declaration.is_some_and(|text| text.to_ascii_uppercase().contains("BLOB")) => {
            Type::Blob
        }
        Affinity::Blob => Type::Mixed,
    }
}

/// The types of everything in a query.
#[derive(Debug)]
pub(crate) struct Types<'a> {
    typed: &'a TypedSchema<'a>,
    relations: HashMap<RelationId, Vec<ValueProfile>>,
    tables: HashMap<RelationId, TableId>,
    ctes: HashMap<CteId, Vec<ValueProfile>>,
}

impl<'a> Types<'a> {
    /// The types in a query over that schema.
    pub(crate) fn of_query(query: &Query, typed: &'a TypedSchema<'a>) -> Self {
        let mut all = Self { typed, relations: HashMap::new(), tables: HashMap::new(), ctes: HashMap::new() };
        all.query(query);
        all
    }

    fn query(&mut self, query: &Query) -> Vec<ValueProfile> {
        query.ctes.iter().for_each(|cte| self.cte(cte));
        let columns = self.body(&query.body);
        self.order(query);
        columns
    }

    fn order(&mut self, query: &Query) {
        let order = query.order_by.iter().map(|term| &term.expr);
        order.chain(&query.limit).chain(&query.offset).for_each(|expr| self.inside(expr));
    }

    /// A recursive query has the types of its first SELECT before it has those of all.
    fn cte(&mut self, cte: &Cte) {
        let query = &cte.query;
        let (mut first, mut others) = (&query.body, Vec::new());
        while let Body::SetOperation { left, right, .. } = first {
            others.push(right);
            first = left;
        }
        query.ctes.iter().for_each(|inner| self.cte(inner));
        let start = self.body(first);
        self.ctes.insert(cte.id, start.clone());
        let columns =
            others.into_iter().rev().fold(start, |columns, other| either(columns, self.body(other)));
        self.ctes.insert(cte.id, columns);
        self.order(query);
    }

    fn body(&mut self, body: &Body) -> Vec<ValueProfile> {
        stacker::maybe_grow(1 << 18, 4 << 20, || match body {
            Body::Select(select) => self.select(select),
            Body::SetOperation { left, right, .. } => either(self.body(left), self.body(right)),
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|expr| self.inside(expr));
                let width = rows.first().map_or(0, Vec::len);
                let column = |place: usize| {
                    let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| self.profile(cell));
                    cells.fold(ValueProfile::of(Type::Null), ValueProfile::or)
                };
                (0..width).map(column).collect()
            }
        })
    }

    fn select(&mut self, select: &Select) -> Vec<ValueProfile> {
        if let Some(from) = &select.from {
            self.from(from);
        }
        let outputs = select.outputs.iter().map(|output| &output.expr);
        let rest = select.filter.iter().chain(&select.group_by).chain(&select.having);
        outputs.chain(rest).for_each(|expr| self.inside(expr));
        select.outputs.iter().map(|output| self.profile(&output.expr)).collect()
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Relation(relation) => {
                let columns = match &relation.source {
                    RelationSource::Table(id) => {
                        self.tables.insert(relation.id, *id);
                        return;
                    }
                    RelationSource::Derived(query) => self.query(query),
                    RelationSource::Cte(id) => self.ctes.get(id).cloned().unwrap_or_default(),
                    RelationSource::Function { .. } | RelationSource::Catalog => Vec::new(),
                };
                self.relations.insert(relation.id, columns);
            }
            From::Join(join) => {
                self.from(&join.left);
                self.from(&join.right);
                join.on.iter().for_each(|on| self.inside(on));
            }
        }
    }

    /// Looks for subqueries inside an expression.
    fn inside(&mut self, expr: &Expr) {
        budget::spend(1);
        stacker::maybe_grow(1 << 18, 4 << 20, || match expr {
            Expr::InQuery { expr, query, .. } => {
                self.inside(expr);
                self.query(query);
            }
            Expr::Exists { query, .. } | Expr::Scalar(query) => {
                self.query(query);
            }
            other => children(other, &mut |child| self.inside(child)),
        });
    }

    /// What is known of a column.
    pub(crate) fn column(&self, column: ColumnRef) -> ValueProfile {
        let unknown = ValueProfile::of(Type::Mixed);
        let Some(position) = column.column.position() else { return unknown };
        if let Some(&table) = self.tables.get(&column.relation) {
            return self.typed.column(table, position);
        }
        let columns = self.relations.get(&column.relation);
        columns.and_then(|columns| columns.get(position as usize)).copied().unwrap_or(unknown)
    }

    /// The type of an expression.
    pub(crate) fn of(&self, expr: &Expr) -> Type {
        self.profile(expr).of
    }

    /// The type of the number that an expression counts as.
    pub(crate) fn as_number(&self, expr: &Expr) -> Type {
        number(self.profile(expr))
    }

    /// The types of the columns of a body.
    pub(crate) fn of_body(&self, body: &Body) -> Vec<Type> {
        match body {
            Body::Select(select) => select.outputs.iter().map(|output| self.of(&output.expr)).collect(),
            Body::SetOperation { left, right, .. } => {
                let (left, right) = (self.of_body(left), self.of_body(right));
                left.into_iter().zip(right).map(|(left, right)| left.or(right)).collect()
            }
            Body::Values(rows) => {
                let column = |place: usize| {
                    let cells = rows.iter().filter_map(|row| row.get(place));
                    cells.fold(Type::Null, |all, cell| all.or(self.of(cell)))
                };
                (0..body.width()).map(column).collect()
            }
        }
    }

    /// What is known of an expression.
    pub(crate) fn profile(&self, expr: &Expr) -> ValueProfile {
        budget::spend(1);
        stacker::maybe_grow(1 << 18, 4 << 20, || match expr {
            Expr::Column(column) => self.column(*column),
            Expr::Literal(literal) => of_literal(literal),
            Expr::Collate { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => self.profile(expr),
            Expr::Scalar(query) => self.scalar(query),
            Expr::Case { branches, otherwise, .. } => {
                let results = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                results.fold(ValueProfile::of(Type::Null), |all, result| all.or(self.profile(result)))
            }
            Expr::Function { function, args } => self.call(function, args),
            Expr::Aggregate(aggregate) => self.call(&aggregate.function, &aggregate.args),
            Expr::Window(call) => self.call(&call.function, &call.args),
            other => ValueProfile::of(self.of_operator(other)),
        })
    }

    fn scalar(&self, query: &Query) -> ValueProfile {
        match &query.body {
            Body::Select(select) => match select.outputs.first() {
                Some(output) => self.profile(&output.expr),
                None => ValueProfile::of(Type::Mixed),
            },
            body => ValueProfile::of(self.of_body(body).first().copied().unwrap_or(Type::Mixed)),
        }
    }

    fn of_operator(&self, expr: &Expr) -> Type {
        match expr {
            Expr::Unary(UnaryOperator::Minus, operand) => number(self.profile(operand)),
            Expr::Binary(BinaryOperator::Concat, ..) => Type::Text,
            Expr::Binary(
                BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo,
                left,
                right,
            ) => arithmetic(self.profile(left), self.profile(right)),
            Expr::Binary(BinaryOperator::Arrow | BinaryOperator::LongArrow, ..)
            | Expr::Output(_)
            | Expr::Row(_) => Type::Mixed,
            Expr::Cast { expr, type_name } => match Affinity::of_declared_type(Some(type_name)) {
                Affinity::Integer => Type::Integer,
                Affinity::Real => Type::Real,
                Affinity::Text => Type::Text,
                Affinity::Blob => Type::Blob,
                Affinity::Numeric => number(self.profile(expr)),
            },
            _ => Type::Integer,
        }
    }

    fn call(&self, function: &Function, args: &Args) -> ValueProfile {
        let args = args.as_slice();
        let all = |args: &[Expr]| {
            args.iter().fold(ValueProfile::of(Type::Null), |all, arg| all.or(self.profile(arg)))
        };
        let first = || args.first().map_or(ValueProfile::of(Type::Mixed), |arg| self.profile(arg));
        let part = || ValueProfile { is_ascii: first().is_ascii, ..ValueProfile::of(Type::Text) };
        match function {
            Function::Min | Function::Max | Function::Coalesce | Function::IfNull | Function::Merged => {
                all(args)
            }
            Function::NullIf | Function::FirstValue | Function::LastValue | Function::NthValue => first(),
            Function::Lag | Function::Lead => {
                let default =
                    args.get(2).map_or(ValueProfile::of(Type::Null), |default| self.profile(default));
                first().or(default)
            }
            Function::Iif | Function::If => {
                let results = args.iter().enumerate().filter(|(place, _)| {
                    // Conditions and results take turns; the last of an odd number is the result of ELSE.
                    place % 2 == 1 || (place + 1 == args.len() && place % 2 == 0)
                });
                results.fold(ValueProfile::of(Type::Null), |all, (_, arg)| all.or(self.profile(arg)))
            }
            Function::Substr
            | Function::Substring
            | Function::Trim
            | Function::Ltrim
            | Function::Rtrim
            | Function::Upper
            | Function::Lower => part(),
            other => ValueProfile::of(Self::of_call(other, first)),
        }
    }

    fn of_call(function: &Function, first: impl Fn() -> ValueProfile) -> Type {
        match function.properties().returns {
            Returns::Integer => return Type::Integer,
            Returns::Real => return Type::Real,
            Returns::Text => return Type::Text,
            Returns::Open => {}
        }
        match function {
            Function::Sum
            | Function::Abs
            | Function::Ceil
            | Function::Ceiling
            | Function::Floor
            | Function::Trunc => number(first()),
            _ => Type::Mixed,
        }
    }
}

/// Columns of which the values are those of either.
fn either(left: Vec<ValueProfile>, right: Vec<ValueProfile>) -> Vec<ValueProfile> {
    left.into_iter().zip(right).map(|(left, right)| left.or(right)).collect()
}

fn of_literal(literal: &Literal) -> ValueProfile {
    match literal {
        Literal::Null => ValueProfile::of(Type::Null),
        Literal::Boolean(_) | Literal::Integer(_) => ValueProfile::of(Type::Integer),
        Literal::Real(_) => ValueProfile::of(Type::Real),
        Literal::Blob(_) => ValueProfile::of(Type::Blob),
        Literal::Text(text) => ValueProfile {
            of: Type::Text,
            is_ascii: text.is_ascii() && !text.contains('\0'),
            is_date: false,
            may_be_empty: text.is_empty(),
            may_end_in_space: text.ends_with(' '),
            has_plain_numbers: false,
            is_integer: false,
        },
    }
}

/// The type of a number that is computed from such values.
fn number(profile: ValueProfile) -> Type {
    match profile.of {
        Type::Integer | Type::Real | Type::Null => profile.of,
        Type::Text if profile.is_integer => Type::Integer,
        Type::Number | Type::Text | Type::Blob | Type::Date | Type::Mixed => Type::Number,
    }
}

fn arithmetic(left: ValueProfile, right: ValueProfile) -> Type {
    match (number(left), number(right)) {
        (Type::Null, _) | (_, Type::Null) => Type::Null,
        (Type::Real, _) | (_, Type::Real) => Type::Real,
        (Type::Integer, Type::Integer) => Type::Integer,
        _ => Type::Number,
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::resolve;

    use super::*;

    #[test]
    fn types_follow_from_those_of_the_columns() {
        let schema = Schema::from_ddl(
            "CREATE TABLE t (i INTEGER, r REAL, x TEXT, n NUMERIC, d DATE, b BLOB, u); CREATE TABLE s (i INT)",
        )
        .unwrap();
        let typed = TypedSchema::declared(&schema);
        for (expr, expected) in [
            ("i", Type::Integer),
            ("n", Type::Number),
            ("d", Type::Text),
            ("b", Type::Blob),
            ("u", Type::Mixed),
            ("i + r", Type::Real),
            ("i + n", Type::Number),
            ("i / i", Type::Integer),
            ("i + NULL", Type::Null),
            ("x || i", Type::Text),
            ("x = 'a'", Type::Integer),
            ("COALESCE(i, r)", Type::Number),
            ("COALESCE(i, x)", Type::Mixed),
            ("CASE WHEN i THEN x END", Type::Text),
            ("(SELECT s.i FROM s)", Type::Integer),
            ("IIF(i, 1, 2.5)", Type::Number),
            ("CAST(x AS INT)", Type::Integer),
            ("AVG(i)", Type::Real),
            ("SUM(i)", Type::Integer),
            ("MAX(x)", Type::Text),
        ] {
            let query = resolve(&format!("SELECT {expr} FROM t"), &schema).unwrap();
            let all = Types::of_query(&query, &typed);
            assert_eq!(all.of(&query.as_select().unwrap().outputs[0].expr), expected, "{expr}");
        }
    }

    #[test]
    fn a_date_of_a_server_compares_with_constants_and_dates() {
        let schema =
            Schema::from_ddl("CREATE TABLE t (d DATE, e TIMESTAMP, s TEXT, b BOOLEAN, i INTERVAL)").unwrap();
        let typed = TypedSchema::on_server(&schema);
        let postgres = crate::dialect("postgres").unwrap();
        for (clause, expected) in [
            ("d >= '2020-01-31'", true),
            ("'2020-01-31' = d", true),
            ("d BETWEEN '2020-01-31' AND '2021-01-31' AND d IN ('2020-02-01', '2020-02-02')", true),
            ("d < e", true),
            ("d = s", false),
            ("d LIKE '2020%'", false),
            ("substr(d, 1, 4) = '2020'", false),
            ("d + 1 > 2", false),
            ("b = 1", false),
            ("i IS NULL", false),
        ] {
            let sql = format!("SELECT max(d) FROM t WHERE {clause} GROUP BY d ORDER BY d");
            let text = crate::translate(&resolve(&sql, &schema).unwrap(), &typed, postgres);
            assert_eq!(text.is_ok(), expected, "{clause}: {text:?}");
            assert!(text.is_err() || !text.unwrap().contains("COLLATE"), "{clause}");
        }
    }

    #[test]
    fn types_go_through_subqueries_and_recursion() {
        let schema = Schema::from_ddl("CREATE TABLE t (i INTEGER, x TEXT)").unwrap();
        let typed = TypedSchema::declared(&schema);
        let sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5)
                   SELECT q.x, c.n, q.m FROM (SELECT x, MAX(i) AS m FROM t GROUP BY x) AS q, c";
        let query = resolve(sql, &schema).unwrap();
        let all = Types::of_query(&query, &typed);
        assert_eq!(all.of_body(&query.body), [Type::Text, Type::Integer, Type::Integer]);
    }
}
