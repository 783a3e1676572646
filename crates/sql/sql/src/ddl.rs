//! DDL text: the one reader of CREATE TABLE, CREATE VIEW and CREATE INDEX.
//!
//! A script is read to the schema that it makes ([`Schema::from_ddl`]), a single statement, such as SQLite keeps in
//! `sqlite_schema`, to what it declares ([`declared`]). Triggers, PRAGMAs, rows and transactions change no schema and
//! are passed over; what would change it and cannot be read is an error that names it.

use sqlgauge_base::budget;

use crate::error::{ErrorKind, ResolveError};
pub use crate::locate::words;
use crate::parse::{Arena, Statements, with_stack_to_write};
use crate::resolve::{bounded, view_columns};
use crate::schema::{
    Affinity, Collation, Column, ForeignKey, Index, IndexPart, Indexed, Schema, Table, TableKind,
};
use crate::syntax::{
    ColumnConstraint, ColumnDefinition, Declaration, ExprKind, Literal, Name, Reference, SortTerm, TableBody,
    TableConstraint,
};

/// What one statement declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    /// A table.
    Table(Table),
    /// A view.
    View(DeclaredView),
    /// A virtual table; its columns are its module's to tell.
    Virtual {
        /// Its name.
        name: String,
        /// The module behind it.
        module: String,
    },
    /// An index, with the name of its table.
    Index(String, DeclaredIndex),
    /// Nothing that a schema has.
    Nothing,
}

/// A view as declared; its columns follow from the tables that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredView {
    /// Its name.
    pub name: String,
    /// The names of its columns, where the statement lists them.
    pub columns: Option<Vec<String>>,
    /// Its query.
    pub query: String,
}

/// An index as declared: its parts by name, as its table is another statement's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredIndex {
    name: String,
    unique: bool,
    parts: Vec<DeclaredPart>,
    filter: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DeclaredPart {
    /// A column's name.
    column: Option<String>,
    text: String,
    collation: Option<Collation>,
    descending: bool,
}

impl DeclaredIndex {
    /// The index on that table.
    ///
    /// # Errors
    /// If it names a column that the table does not have.
    pub fn on(&self, table: &Table) -> Result<Index, ResolveError> {
        let parts = self.parts.iter().map(|part| part.on(table)).collect::<Result<_, ResolveError>>()?;
        let filter = self.filter.clone();
        Ok(Index { name: Some(self.name.clone()), unique: self.unique, parts, filter })
    }
}

impl DeclaredPart {
    fn of(part: &SortTerm<'_>) -> Self {
        let (mut expr, mut collation) = (&part.expr, None);
        while let ExprKind::Collate(inner, name) = expr.kind {
            collation.get_or_insert_with(|| Collation::from_name(name.text));
            expr = inner;
        }
        let column = match expr.kind {
            ExprKind::Column(Name { text, .. }) | ExprKind::Literal(Literal::String(text)) => {
                Some(text.to_owned())
            }
            _ => None,
        };
        Self { column, text: expr.text.to_string(), collation, descending: part.descending }
    }

    fn on(&self, table: &Table) -> Result<IndexPart, ResolveError> {
        let (of, column_collation) = match &self.column {
            Some(name) => {
                let at = column_index(table, name)?;
                (Indexed::Column(at), table.columns[at as usize].collation.clone())
            }
            None => (Indexed::Expression(self.text.clone()), Collation::Binary),
        };
        Ok(IndexPart {
            of,
            collation: self.collation.clone().unwrap_or(column_collation),
            descending: self.descending,
        })
    }
}

impl Schema {
    /// The schema that the CREATE TABLE, CREATE VIEW and CREATE INDEX statements of a script make.
    ///
    /// # Errors
    /// When the text is not SQL as SQLite understands it, a constraint or view names what is not there, or a
    /// statement changes the schema in a way that is not read: ALTER TABLE, CREATE TABLE … AS SELECT, CREATE VIRTUAL
    /// TABLE. The error names the table or view. A script whose views take too many steps is too complex.
    pub fn from_ddl(text: &str) -> Result<Self, ResolveError> {
        with_stack_to_write(text, || bounded(|| Self::of_script(text)))
    }

    fn of_script(text: &str) -> Result<Self, ResolveError> {
        let arena = Arena::default();
        let mut statements = Statements::of_script(&arena, text)?;
        let mut script = Script::default();
        while let Some(statement) = statements.next_declaration()? {
            script.statement(&statement)?;
        }
        script.finish()
    }
}

/// What the single statement of a text declares.
///
/// # Errors
/// When the text is not a statement, or is one that changes a schema in a way that is not read.
pub fn declared(text: &str) -> Result<Declared, ResolveError> {
    with_stack_to_write(text, || declared_by(text))
}

fn declared_by(text: &str) -> Result<Declared, ResolveError> {
    let arena = Arena::default();
    let mut statements = Statements::of_script(&arena, text)?;
    match statements.next_declaration()? {
        Some(statement) => declaration(&statement),
        None => Ok(Declared::Nothing),
    }
}

/// A script as far as it is read; views wait for the tables that they read.
#[derive(Default)]
struct Script {
    tables: Vec<Table>,
    views: Vec<DeclaredView>,
}

impl Script {
    fn statement(&mut self, statement: &Declaration<'_>) -> Result<(), ResolveError> {
        if let Declaration::Drop(name) = statement {
            self.tables.retain(|table| !table.name.eq_ignore_ascii_case(name.text));
            self.views.retain(|view| !view.name.eq_ignore_ascii_case(name.text));
            return Ok(());
        }
        match declaration(statement)? {
            Declared::Table(table) if !self.has(&table.name) => self.tables.push(table),
            Declared::View(view) if !self.has(&view.name) => {
                // The view has its place among the tables from the start.
                let mut place = Table::new(view.name.clone(), Vec::new());
                place.kind = TableKind::View;
                place.view = Some(view.query.clone());
                self.tables.push(place);
                self.views.push(view);
            }
            Declared::Index(name, index) => {
                let table = self.tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&name));
                let table = table.ok_or(ErrorKind::UnknownTable(name))?;
                let index = index.on(table)?;
                add_index(table, index);
            }
            Declared::Virtual { name, .. } => return Err(unread("CREATE VIRTUAL TABLE", &name)),
            Declared::Table(_) | Declared::View(_) | Declared::Nothing => {}
        }
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        budget::spend(self.tables.len());
        self.tables.iter().any(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Finds the columns of the views; a view may read one that is created after it.
    fn finish(mut self) -> Result<Schema, ResolveError> {
        let mut waiting = self.views;
        let mut done: Vec<String> = Vec::new();
        while !waiting.is_empty() {
            // A view whose columns are not known yet must not be found without columns.
            let is_ready = |table: &&Table| table.kind != TableKind::View || done.contains(&table.name);
            budget::spend(self.tables.len());
            let schema = Schema::new(self.tables.iter().filter(is_ready).cloned().collect());
            let mut failed = None;
            let mut left = Vec::new();
            let before = waiting.len();
            for view in waiting {
                match columns_of(&view, &schema) {
                    Ok(columns) => {
                        let place = self.tables.iter_mut().find(|table| table.name == view.name);
                        if let Some(place) = place {
                            place.columns = columns;
                        }
                        done.push(view.name);
                    }
                    Err(error) => {
                        failed.get_or_insert_with(|| format!("view {}: {error}", view.name));
                        left.push(view);
                    }
                }
            }
            if left.len() == before
                && let Some(message) = failed
            {
                return Err(ErrorKind::Invalid(message).into());
            }
            waiting = left;
        }
        Ok(Schema::new(self.tables))
    }
}

fn columns_of(view: &DeclaredView, schema: &Schema) -> Result<Vec<Column>, ResolveError> {
    let outputs = view_columns(&view.query, schema)?;
    let names = match &view.columns {
        None => outputs.iter().map(|(name, _)| name.clone()).collect(),
        Some(listed) if listed.len() == outputs.len() => listed.clone(),
        Some(listed) => {
            let (values, wanted) = (outputs.len(), listed.len());
            return Err(ErrorKind::Invalid(format!("{values} values for {wanted} columns")).into());
        }
    };
    Ok(names
        .into_iter()
        .zip(outputs)
        .map(|(name, (_, declared))| Column::new(name, declared.as_deref()))
        .collect())
}

fn declaration(statement: &Declaration<'_>) -> Result<Declared, ResolveError> {
    Ok(match statement {
        Declaration::Table { name, body: Some(body) } => Declared::Table(table(name.text, body)?),
        Declaration::Table { name, body: None } => {
            return Err(unread("CREATE TABLE … AS SELECT of", name.text));
        }
        Declaration::Index { name, table, unique, parts, filter } => {
            let index = DeclaredIndex {
                name: name.to_string(),
                unique: *unique,
                parts: parts.iter().map(DeclaredPart::of).collect(),
                filter: filter.map(ToString::to_string),
            };
            Declared::Index(table.to_string(), index)
        }
        Declaration::View { name, columns, query } => Declared::View(DeclaredView {
            name: name.to_string(),
            columns: columns.map(|all| all.iter().map(Name::to_string).collect()),
            query: query.to_string(),
        }),
        Declaration::Alter(name) => return Err(unread("ALTER TABLE", name.text)),
        Declaration::Virtual { name, module } => {
            Declared::Virtual { name: name.to_string(), module: module.to_string() }
        }
        Declaration::Drop(_) | Declaration::Other => Declared::Nothing,
    })
}

fn unread(statement: &str, name: &str) -> ResolveError {
    ErrorKind::Unsupported(format!("{statement} {name}")).into()
}

fn table(name: &str, body: &TableBody<'_>) -> Result<Table, ResolveError> {
    let TableBody { columns, constraints, .. } = *body;
    let names =
        columns.iter().map(|column| (column.name.to_string(), column.type_name.and_then(declared_type)));
    let mut table = Table::new(name, names.map(|(name, kind)| Column::new(name, kind.as_deref())).collect());
    table.without_rowid = body.without_rowid;
    table.strict = body.strict;
    for (index, column) in (0..).zip(columns) {
        for constraint in column.constraints {
            column_constraint(&mut table, index, constraint);
        }
    }
    // The index of a constraint has the collation of its column, which may stand behind the constraint.
    for (index, column) in columns.iter().enumerate() {
        for constraint in column.constraints {
            if let ColumnConstraint::Unique = constraint {
                let part = DeclaredPart::column(&table.columns[index].name).on(&table)?;
                add_index(&mut table, Index { name: None, unique: true, parts: vec![part], filter: None });
            }
        }
    }
    for constraint in constraints {
        table_constraint(&mut table, constraint)?;
    }
    keep_distinct_indexes(&mut table, columns, constraints)?;
    table.enforce();
    Ok(table)
}

/// SQLite makes no index for a UNIQUE that asks for what the primary key or an earlier UNIQUE has; the direction
/// makes no difference.
fn keep_distinct_indexes(
    table: &mut Table,
    columns: &[ColumnDefinition<'_>],
    constraints: &[TableConstraint<'_>],
) -> Result<(), ResolveError> {
    let key = key_parts(table, columns, constraints)?;
    let indexes = std::mem::take(&mut table.indexes);
    table.unique.clear();
    for index in indexes {
        let is_there = |parts: &[IndexPart]| {
            let same = |(a, b): (&IndexPart, &IndexPart)| a.of == b.of && a.collation == b.collation;
            parts.len() == index.parts.len() && parts.iter().zip(&index.parts).all(same)
        };
        let earlier = table.indexes.iter().map(|earlier| earlier.parts.as_slice());
        if !earlier.chain(key.as_deref()).any(is_there) {
            add_index(table, index);
        }
    }
    if let Some(parts) = key {
        table.keep_key_index(Index { name: None, unique: true, parts, filter: None });
    }
    Ok(())
}

/// What the index of the primary key sorts by; `None` without a key, and where the rowid is the key.
fn key_parts(
    table: &Table,
    columns: &[ColumnDefinition<'_>],
    constraints: &[TableConstraint<'_>],
) -> Result<Option<Vec<IndexPart>>, ResolveError> {
    if table.rowid_alias().is_some() {
        return Ok(None);
    }
    for constraint in constraints {
        if let TableConstraint::PrimaryKey { columns, .. } = constraint {
            return columns
                .iter()
                .map(|column| DeclaredPart::of(column).on(table))
                .collect::<Result<_, _>>()
                .map(Some);
        }
    }
    for (index, column) in columns.iter().enumerate() {
        let is_key =
            |constraint: &ColumnConstraint<'_>| matches!(constraint, ColumnConstraint::PrimaryKey { .. });
        if column.constraints.iter().any(is_key) {
            return Ok(Some(vec![DeclaredPart::column(&table.columns[index].name).on(table)?]));
        }
    }
    Ok(None)
}

impl DeclaredPart {
    fn column(name: &str) -> Self {
        Self { column: Some(name.to_owned()), text: name.to_owned(), collation: None, descending: false }
    }
}

/// The type without the words of a generated column, which SQLite does not count to it; `None` if nothing is left.
fn declared_type(text: &str) -> Option<String> {
    const WORDS: &str = "GENERATED ALWAYS";
    let cut = text.len().checked_sub(WORDS.len()).filter(|&at| text.is_char_boundary(at));
    let type_name = match cut {
        Some(at) if text[at..].eq_ignore_ascii_case(WORDS) => text[..at].trim_end(),
        _ => text,
    };
    (!type_name.is_empty()).then(|| type_name.to_owned())
}

/// Adds an index and what it makes unique.
pub(crate) fn add_index(table: &mut Table, index: Index) {
    if let Some(columns) = index.unique_columns(&table.columns)
        && !table.unique.contains(&columns)
    {
        table.unique.push(columns);
    }
    table.indexes.push(index);
}

fn column_constraint(table: &mut Table, index: u32, constraint: &ColumnConstraint<'_>) {
    let column = &mut table.columns[index as usize];
    match constraint {
        ColumnConstraint::PrimaryKey { descending, autoincrement } => {
            let is_integer =
                column.declared_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("INTEGER"));
            table.key_apart_from_rowid = is_integer && *descending;
            table.primary_key = vec![index];
            table.autoincrement = *autoincrement;
        }
        ColumnConstraint::NotNull(is_not_null) => column.not_null = *is_not_null,
        ColumnConstraint::Check(expr) => table.checks.push(expr.to_string()),
        ColumnConstraint::Default(expr) => column.default = Some(expr.to_string()),
        ColumnConstraint::Collate(name) => column.collation = Collation::from_name(name.text),
        ColumnConstraint::ForeignKey(reference) => {
            table.foreign_keys.push(foreign_key(vec![index], reference));
        }
        ColumnConstraint::Generated(expr) => {
            column.generated = true;
            column.generated_as = Some(expr.to_string());
        }
        ColumnConstraint::Defer(deferred) => {
            if let Some(key) = table.foreign_keys.last_mut() {
                key.deferred = *deferred;
            }
        }
        // Looked at once all collations are known.
        ColumnConstraint::Unique => {}
    }
}

fn table_constraint(table: &mut Table, constraint: &TableConstraint<'_>) -> Result<(), ResolveError> {
    match constraint {
        TableConstraint::PrimaryKey { columns, autoincrement } => {
            table.autoincrement = *autoincrement;
            let parts = columns.iter().map(|column| DeclaredPart::of(column).on(table));
            let parts = parts.collect::<Result<Vec<_>, ResolveError>>()?;
            table.primary_key = parts.iter().filter_map(IndexPart::column).collect();
            let index = Index { name: None, unique: true, parts, filter: None };
            table.key_is_finer = index.unique_columns(&table.columns).is_none();
        }
        TableConstraint::Unique(columns) => {
            let parts = columns.iter().map(|column| DeclaredPart::of(column).on(table));
            let parts = parts.collect::<Result<Vec<_>, ResolveError>>()?;
            add_index(table, Index { name: None, unique: true, parts, filter: None });
        }
        TableConstraint::Check(expr) => table.checks.push(expr.to_string()),
        TableConstraint::ForeignKey { columns, reference } => {
            let columns = columns.iter().map(|column| column_index(table, column.text));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            table.foreign_keys.push(foreign_key(columns, reference));
        }
    }
    Ok(())
}

fn column_index(table: &Table, name: &str) -> Result<u32, ResolveError> {
    table.column_index(name).ok_or_else(|| ErrorKind::UnknownColumn(format!("{}.{name}", table.name)).into())
}

fn foreign_key(columns: Vec<u32>, reference: &Reference<'_>) -> ForeignKey {
    ForeignKey {
        columns,
        referenced_table: reference.table.to_string(),
        referenced_columns: reference.columns.iter().map(Name::to_string).collect(),
        on_delete: reference.on_delete,
        on_update: reference.on_update,
        deferred: reference.deferred,
    }
}

impl Table {
    /// Keeps the index of the primary key, after those of other constraints, if it limits the rows further than its columns do.
    pub fn keep_key_index(&mut self, index: Index) {
        if index.limits_further(&self.columns) {
            let place = self.indexes.iter().take_while(|other| other.name.is_none()).count();
            self.indexes.insert(place, index);
        }
    }

    /// What follows from the options of the table: SQLite enforces NOT NULL on a primary key only for an INTEGER
    /// PRIMARY KEY, WITHOUT ROWID and STRICT, and a STRICT column of type ANY takes every value as it is.
    pub fn enforce(&mut self) {
        let enforced = self.without_rowid || self.strict;
        let keys = if enforced { self.primary_key.clone() } else { self.rowid_alias().into_iter().collect() };
        for key in keys {
            if let Some(column) = self.columns.get_mut(key as usize) {
                column.not_null = true;
            }
        }
        let is_any = |column: &&mut Column| {
            column.declared_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("ANY"))
        };
        for column in self.columns.iter_mut().filter(|column| self.strict && is_any(column)) {
            column.affinity = Affinity::Blob;
        }
    }
}

#[cfg(test)]
mod tests;
