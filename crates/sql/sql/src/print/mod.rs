//! Prints a resolved query as SQL.
//!
//! Every column is qualified by a relation name that is unique in the statement, so that no name can be captured
//! by another; result columns of subqueries and CTEs always get explicit names. [`print_as_written`] is for people
//! instead: with the aliases of a text, and without what can be left out.

mod expr;
mod names;

use self::expr::precedence;
pub use self::names::Names;
use crate::aggregates::owners_hold;
use crate::derive::Facts;
use crate::folded::folded_integer;
use crate::functions::Function;
use crate::reach;
use crate::reads;
use crate::resolve::Aliases;
use crate::schema::{Collation, Schema};
use crate::tree::{
    Body, Cte, Expr, From, IndexHint, Join, JoinKind, OrderTerm, Place, Query, Relation, RelationId,
    RelationSource, Select, SetOperator,
};
use crate::visit::each_expr;

/// The SQL dialect to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrintDialect {
    /// SQLite.
    #[default]
    Sqlite,
}

impl PrintDialect {
    /// The identifier, quoted where the dialect needs it.
    pub fn identifier(self, name: &str) -> String {
        match self {
            Self::Sqlite if names::is_plain(name) => name.to_owned(),
            Self::Sqlite => crate::quote::name(name),
        }
    }
}

/// Why a tree cannot be written as SQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    /// A table that the schema does not have; it is another schema than that of the query.
    #[error("the schema has no table number {0}")]
    UnknownTable(usize),
    /// A column of a relation that no FROM clause has.
    #[error("no FROM clause has the relation number {0}")]
    UnknownRelation(u32),
    /// A column that its relation does not have: relation and position.
    #[error("the relation number {0} has no column {1}")]
    UnknownColumn(u32, Place),
    /// A rowid whose names are all taken by columns: its table.
    #[error("the rowid of {0} has no name, since columns are called rowid, _rowid_ and oid")]
    HiddenRowid(String),
    /// A common table expression that no WITH clause has.
    #[error("no WITH clause has the common table expression number {0}")]
    UnknownCte(u32),
    /// A result column is referred to inside an expression.
    #[error("a result column is referred to inside of an expression")]
    MisplacedOutput,
    /// The rowid of a table in parentheses of FROM that stand in other parentheses: SQLite does not find it there.
    #[error("SQLite does not find the rowid of a table in two pairs of parentheses in FROM")]
    NestedRowid,
    /// An aggregate that SQL would take for one of another query.
    #[error(
        "SQL cannot write this aggregate: by the columns that it reads, it would belong to another query"
    )]
    Owner,
    /// A column that FULL JOIN … USING merges, where its affinity or collation may count: it has those of the first
    /// column that it is merged of, and only the name by which SQL writes it beside that join has them too.
    #[error("SQL writes a column that FULL JOIN … USING merges only as a name beside that join")]
    Merged,
    /// A part of a FROM clause that reads what SQL does not let it read.
    #[error("SQL does not let a part of FROM read what stands beside it")]
    Reach,
    /// A SELECT without result columns, VALUES without rows, AND or OR without operands.
    #[error("SQL cannot write an empty {0}")]
    Empty(&'static str),
    /// A NUL character in a text or a name.
    #[error("a text or name holds a NUL character")]
    Nul,
}

/// Prints a query as one line of SQL. The schema must be the one that the query was resolved against.
///
/// # Errors
/// [`PrintError`] where SQL has no words for the tree. What [`resolve`](crate::resolve) makes has some, with two
/// exceptions: an aggregate that a subquery refers to by the alias that an outer query gave it, and a column that FULL
/// JOIN … USING merges and that is compared, grouped by, or sorted by under a collation other than BINARY.
pub fn print(query: &Query, schema: &Schema, dialect: PrintDialect) -> Result<String, PrintError> {
    if !owners_hold(query) {
        return Err(PrintError::Owner);
    }
    if !reach::holds(query) {
        return Err(PrintError::Reach);
    }
    let merged = merged_columns(query);
    if merged > 0 && merged > merged_results(query, schema) {
        return Err(PrintError::Merged);
    }
    let mut printer = Printer::new(query, schema, dialect);
    printer.query(query, None);
    printer.finish()
}

/// Prints a query as a person would write it who gave those aliases to relations: columns of a FROM clause of one
/// relation are not qualified, and what follows from the rest is left out. Every table can be given the name of its
/// `database`, as in `main.t`, by which views of the same name do not hide it.
///
/// Such a text has no names that are made to be unique, and may mean something else where names hide each other.
/// Whoever needs the query must resolve the text and compare ([`renumber`](crate::renumber)).
///
/// # Errors
/// Those of [`print()`].
pub fn print_as_written(
    query: &Query,
    schema: &Schema,
    dialect: PrintDialect,
    aliases: &Aliases,
    database: Option<&str>,
) -> Result<String, PrintError> {
    let names = Names::as_written(query, schema, aliases);
    let mut printer = Printer { database, is_brief: true, ..Printer::with(names, dialect) };
    printer.query(query, None);
    printer.finish()
}

/// How many columns that FULL JOIN … USING merges the query reads.
fn merged_columns(query: &Query) -> usize {
    let mut count = 0;
    each_expr(query, |expr| count += usize::from(is_merged(expr)));
    count
}

/// How many of them are results of the statement, of which only the value counts, or keys of its order, of which the
/// collation counts too.
fn merged_results(query: &Query, schema: &Schema) -> usize {
    let Some(select) = query.as_select().filter(|select| !select.distinct) else { return 0 };
    let is_key = |place: usize| {
        query.order_by.iter().any(|term| matches!(term.expr, Expr::Output(n) if n as usize == place))
    };
    let facts = Facts::of(query, schema);
    let sorts_alike = |expr: &Expr| facts.collation(expr).is(&Collation::Binary);
    let results = select.outputs.iter().enumerate().filter(|(_, output)| is_merged(&output.expr));
    let results = results.filter(|(place, output)| !is_key(*place) || sorts_alike(&output.expr)).count();
    let keys = query.order_by.iter().filter(|term| is_merged(&term.expr) && sorts_alike(&term.expr)).count();
    results + keys
}

fn is_merged(expr: &Expr) -> bool {
    matches!(expr, Expr::Function { function: Function::Merged, .. })
}

/// Prints an expression that stands in `query`.
///
/// # Errors
/// Those of [`print()`].
pub fn print_expr(
    expr: &Expr,
    query: &Query,
    schema: &Schema,
    dialect: PrintDialect,
) -> Result<String, PrintError> {
    let mut printer = Printer::new(query, schema, dialect);
    printer.term(expr);
    printer.finish()
}

/// Prints a part of `query` for a reader of its text: with the names of tables where each is read once and else with the aliases of
/// the text, and without the table where `only` is all that the part and its FROM clause read. As [`print_as_written`] says, such a
/// text may mean something else where names hide each other.
///
/// # Errors
/// Those of [`print()`].
pub fn print_part(
    expr: &Expr,
    query: &Query,
    schema: &Schema,
    aliases: &Aliases,
    only: Option<RelationId>,
) -> Result<String, PrintError> {
    let names = Names::of_tables(query, schema, aliases);
    let only = only.filter(|id| reads::outer_columns(expr).iter().all(|column| column.relation == *id));
    let mut printer =
        Printer { is_brief: true, only: vec![only], ..Printer::with(names, PrintDialect::Sqlite) };
    printer.expr(expr, 0);
    printer.finish()
}

struct Printer<'a> {
    out: String,
    names: Names<'a>,
    dialect: PrintDialect,
    /// In how many pairs of parentheses of one FROM clause what is printed stands.
    parentheses: usize,
    /// What can be left out is left out.
    is_brief: bool,
    /// The database whose name stands before every table.
    database: Option<&'a str>,
    /// The only relation of the FROM clause at hand, outermost first, where there is one only.
    only: Vec<Option<RelationId>>,
    /// The first thing that could not be written.
    error: Option<PrintError>,
}

impl<'a> Printer<'a> {
    fn new(query: &Query, schema: &'a Schema, dialect: PrintDialect) -> Self {
        Self::with(Names::of(query, schema), dialect)
    }

    fn with(names: Names<'a>, dialect: PrintDialect) -> Self {
        Self {
            out: String::new(),
            names,
            dialect,
            parentheses: 0,
            is_brief: false,
            database: None,
            only: Vec::new(),
            error: None,
        }
    }

    fn finish(self) -> Result<String, PrintError> {
        match self.error {
            Some(error) => Err(error),
            None if self.out.contains('\0') => Err(PrintError::Nul),
            None => Ok(self.out),
        }
    }

    /// Notes that something could not be written.
    fn fail(&mut self, error: PrintError) {
        self.error.get_or_insert(error);
    }

    /// The name, or nothing and a note.
    fn named(&mut self, name: Result<String, PrintError>) -> String {
        name.unwrap_or_else(|error| {
            self.fail(error);
            String::new()
        })
    }
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn identifier(&mut self, name: &str) {
        let quoted = self.dialect.identifier(name);
        self.out.push_str(&quoted);
    }

    fn separated<T>(&mut self, items: &[T], separator: &str, mut one: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            one(self, item);
        }
    }

    /// `columns` are the names that the result columns must get; without them only aliases are printed.
    fn query(&mut self, query: &Query, columns: Option<&[String]>) {
        let around = std::mem::take(&mut self.parentheses);
        if !query.ctes.is_empty() {
            let is_plain = self.is_brief && !query.ctes.iter().any(reads::is_recursive);
            self.text(if is_plain { "WITH " } else { "WITH RECURSIVE " });
            self.separated(&query.ctes, ", ", Self::cte);
            self.text(" ");
        }
        self.body(&query.body, columns);
        if !query.order_by.is_empty() {
            self.text(" ORDER BY ");
            self.only.push(only_relation(&query.body));
            self.order_of(query);
            self.only.pop();
        }
        if let Some(limit) = &query.limit {
            self.text(" LIMIT ");
            self.expr(limit, 0);
        }
        if let Some(offset) = &query.offset {
            self.text(" OFFSET ");
            self.expr(offset, 0);
        }
        self.parentheses = around;
    }

    fn cte(&mut self, cte: &Cte) {
        let name = self.names.cte(cte.id);
        let name = self.named(name);
        self.identifier(&name);
        let columns = self.names.cte_columns(cte.id).to_vec();
        if !self.is_brief || !self.names.gives(&cte.query, &columns) {
            self.text("(");
            self.separated(&columns, ", ", |printer, column| printer.identifier(column));
            self.text(")");
        }
        self.text(match cte.materialized {
            None => " AS (",
            Some(true) => " AS MATERIALIZED (",
            Some(false) => " AS NOT MATERIALIZED (",
        });
        self.query(&cte.query, None);
        self.text(")");
    }

    fn body(&mut self, body: &Body, columns: Option<&[String]>) {
        match body {
            Body::Select(select) => {
                self.only.push(only_relation(body));
                self.select(select, columns);
                self.only.pop();
            }
            Body::Values(rows) => {
                if rows.iter().any(Vec::is_empty) || rows.is_empty() {
                    self.fail(PrintError::Empty("VALUES"));
                }
                self.text("VALUES ");
                self.separated(rows, ", ", |printer, row| {
                    printer.text("(");
                    printer.separated(row, ", ", |printer, expr| printer.expr(expr, 0));
                    printer.text(")");
                });
            }
            Body::SetOperation { operator, all, left, right } => {
                self.body(left, columns);
                self.text(match (operator, all) {
                    (SetOperator::Union, true) => " UNION ALL ",
                    (SetOperator::Union, false) => " UNION ",
                    (SetOperator::Intersect, _) => " INTERSECT ",
                    (SetOperator::Except, _) => " EXCEPT ",
                });
                // Compounds are left-associative and take no parentheses.
                if let Body::SetOperation { .. } = **right {
                    self.text("SELECT * FROM (");
                    self.body(right, None);
                    self.text(")");
                } else {
                    self.body(right, None);
                }
            }
        }
    }

    fn select(&mut self, select: &Select, columns: Option<&[String]>) {
        if select.outputs.is_empty() {
            self.fail(PrintError::Empty("SELECT"));
        }
        self.text(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        for (index, output) in select.outputs.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.expr(&output.expr, 0);
            let name = match columns {
                Some(columns) => columns.get(index),
                None => output.alias.as_ref(),
            };
            let is_named = |name: &&String| {
                self.is_brief && output.alias.is_none() && self.names.natural(output).as_ref() == Some(*name)
            };
            if let Some(name) = name.filter(|name| !is_named(name)) {
                self.text(" AS ");
                self.identifier(name);
            }
        }
        if let Some(from) = &select.from {
            self.text(" FROM ");
            self.from(from);
        }
        if let Some(filter) = &select.filter {
            self.text(" WHERE ");
            self.expr(filter, 0);
        }
        if !select.group_by.is_empty() {
            self.text(" GROUP BY ");
            self.separated(&select.group_by, ", ", Self::term);
        }
        if let Some(having) = &select.having {
            self.text(" HAVING ");
            self.expr(having, 0);
        }
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Relation(relation) => self.relation(relation),
            From::Join(join) => self.join(join),
        }
    }

    fn join(&mut self, join: &Join) {
        self.from(&join.left);
        self.text(match join.kind {
            JoinKind::Inner => " JOIN ",
            JoinKind::Cross => " CROSS JOIN ",
            JoinKind::Left => " LEFT JOIN ",
            JoinKind::Right => " RIGHT JOIN ",
            JoinKind::Full => " FULL JOIN ",
        });
        if let From::Join(_) = join.right {
            self.text("(");
            self.parentheses += 1;
            self.from(&join.right);
            self.parentheses -= 1;
            self.text(")");
        } else {
            self.from(&join.right);
        }
        if let Some(on) = &join.on {
            self.text(" ON ");
            self.expr(on, 0);
        }
    }

    fn relation(&mut self, relation: &Relation) {
        if self.parentheses > 1 && self.names.shows_rowid(relation.id) {
            self.fail(PrintError::NestedRowid);
        }
        let alias = self.names.relation(relation.id);
        let alias = self.named(alias);
        let source = match &relation.source {
            RelationSource::Table(id) => {
                let name = self.names.table(*id);
                self.named(name)
            }
            RelationSource::Cte(id) => {
                let name = self.names.cte(*id);
                self.named(name)
            }
            RelationSource::Catalog => "sqlite_master".to_owned(),
            RelationSource::Function { name, args } => {
                self.identifier(name);
                if !args.is_empty() {
                    self.text("(");
                    self.separated(args, ", ", |printer, arg| printer.expr(arg, 0));
                    self.text(")");
                }
                self.alias(&alias);
                return;
            }
            RelationSource::Derived(query) => {
                let columns = self.names.derived_columns(relation.id).to_vec();
                self.text("(");
                self.query(query, Some(&columns));
                self.text(")");
                self.alias(&alias);
                return;
            }
        };
        if let (Some(database), RelationSource::Table(_)) = (self.database, &relation.source) {
            self.identifier(database);
            self.text(".");
        }
        self.identifier(&source);
        if alias != source {
            self.alias(&alias);
        }
        match &relation.hint {
            None => {}
            Some(IndexHint::None) => self.text(" NOT INDEXED"),
            Some(IndexHint::By(index)) => {
                self.text(" INDEXED BY ");
                self.identifier(index);
            }
        }
    }

    fn alias(&mut self, alias: &str) {
        self.text(" AS ");
        self.identifier(alias);
    }

    /// The terms of a query, whose numbers of result columns are written as names where they have one.
    fn order_of(&mut self, query: &Query) {
        self.separated(&query.order_by, ", ", |printer, term| {
            match (&term.expr, printer.is_brief) {
                (Expr::Output(index), true) => printer.result_column(*index, query),
                _ => printer.term(&term.expr),
            }
            printer.direction(term);
        });
    }

    fn result_column(&mut self, index: u32, query: &Query) {
        let outputs = query.outputs().unwrap_or_default();
        let is_compound = query.as_select().is_none();
        let name = outputs.get(index as usize).and_then(|output| match (&output.alias, is_compound) {
            (None, true) => self.names.natural(output),
            (alias, _) => alias.clone(),
        });
        match name {
            Some(name) => self.identifier(&name),
            None => self.term(&Expr::Output(index)),
        }
    }

    fn direction(&mut self, term: &OrderTerm) {
        if term.descending {
            self.text(" DESC");
        }
        match term.nulls_first {
            Some(true) => self.text(" NULLS FIRST"),
            Some(false) => self.text(" NULLS LAST"),
            None => {}
        }
    }

    fn order_terms(&mut self, terms: &[OrderTerm]) {
        self.separated(terms, ", ", |printer, term| {
            printer.term(&term.expr);
            printer.direction(term);
        });
    }

    /// A term of GROUP BY or ORDER BY; a constant integer would be taken for an ordinal there.
    fn term(&mut self, expr: &Expr) {
        match expr {
            Expr::Output(index) => self.text(&(index + 1).to_string()),
            other if folded_integer(other).is_some() => {
                self.expr(other, precedence::SUM);
                self.text(" + 0");
            }
            Expr::Collate { expr, collation } if is_numbered(expr) => {
                self.term(expr);
                self.text(" COLLATE ");
                self.identifier(collation);
            }
            other => self.expr(other, 0),
        }
    }
}

/// The relation of a SELECT that has no other and reads no column of a query around it: `s.country = singer.country` without its
/// `s` reads as if both were of one table.
fn only_relation(body: &Body) -> Option<RelationId> {
    let Body::Select(select) = body else { return None };
    match select.from.as_ref()? {
        From::Relation(relation) => reads::outer_columns(body).is_empty().then_some(relation.id),
        From::Join(_) => None,
    }
}

/// Whether a term is a number, be it that of a result column or one that SQLite would take for that.
fn is_numbered(expr: &Expr) -> bool {
    match expr {
        Expr::Output(_) => true,
        Expr::Collate { expr, .. } => is_numbered(expr),
        other => folded_integer(other).is_some(),
    }
}
