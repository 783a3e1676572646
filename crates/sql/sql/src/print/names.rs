//! Chooses the names that a printed query uses.

use std::collections::{HashMap, HashSet};

use sqlgauge_base::budget;

use super::PrintError;
use crate::builtin::builtin_columns;
use crate::resolve::Aliases;
use crate::schema::{Schema, TableId};
use crate::tree::{
    Body, ColumnRef, Cte, CteId, Expr, From, Output, Place, Query, Relation, RelationId, RelationSource,
};
use crate::visit::{Visitor, walk_query};

/// Relation, CTE and column names of one statement. No two relations and CTEs share one, case ignored, nor has any that of
/// a table of the schema that another relation reads, so that no name captures another.
pub struct Names<'a> {
    schema: &'a Schema,
    relations: HashMap<RelationId, RelationNames>,
    ctes: HashMap<CteId, (String, Vec<String>)>,
    /// The relations whose rowid is read.
    rowids: HashSet<RelationId>,
}

struct RelationNames {
    alias: String,
    columns: ColumnNames,
}

enum ColumnNames {
    Table(TableId),
    Listed(Vec<String>),
    Cte(CteId),
    Builtin(&'static [&'static str]),
}

impl<'a> Names<'a> {
    /// Names that are unique in the statement.
    pub fn of(query: &Query, schema: &'a Schema) -> Self {
        let (mut names, collected) = Self::begin(query, schema);
        let mut in_use = NamesInUse { schema: Some(schema), ..NamesInUse::default() };
        for (id, name, columns) in collected.ctes {
            names.ctes.insert(id, (in_use.unused(&name), columns));
        }
        names.name_relations(&collected.relations, &mut in_use);
        names.name_columns(collected.derived);
        names
    }

    /// The aliases that a text gave where it gave one, and elsewhere the relation's own name.
    pub(super) fn as_written(query: &Query, schema: &'a Schema, aliases: &Aliases) -> Self {
        let (mut names, collected) = Self::begin(query, schema);
        names.ctes.extend(collected.ctes.into_iter().map(|(id, name, columns)| (id, (name, columns))));
        let names_of_aliases = aliases.values().map(|alias| alias.to_ascii_lowercase()).collect();
        let mut in_use = NamesInUse { names: names_of_aliases, ..NamesInUse::default() };
        for (id, kind) in &collected.relations {
            let base = names.base_name(kind);
            let alias = match aliases.get(id) {
                Some(alias) => alias.clone(),
                None if base.is_empty() || collected.repeated.contains(id) => in_use.numbered(),
                None => base,
            };
            names.relations.insert(*id, RelationNames { alias, columns: kind.columns() });
        }
        names.name_columns(collected.derived);
        names
    }

    /// The names of tables that the query reads once, and elsewhere the aliases of its text.
    pub(super) fn of_tables(query: &Query, schema: &'a Schema, aliases: &Aliases) -> Self {
        let (mut names, collected) = Self::begin(query, schema);
        names.ctes.extend(collected.ctes.into_iter().map(|(id, name, columns)| (id, (name, columns))));
        let bases: Vec<String> = collected.relations.iter().map(|(_, kind)| names.base_name(kind)).collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        bases.iter().for_each(|base| *counts.entry(base.to_ascii_lowercase()).or_default() += 1);
        for ((id, kind), base) in collected.relations.iter().zip(bases) {
            let is_alone = !base.is_empty() && counts.get(&base.to_ascii_lowercase()) == Some(&1);
            let alias = if is_alone { base } else { aliases.get(id).cloned().unwrap_or(base) };
            names.relations.insert(*id, RelationNames { alias, columns: kind.columns() });
        }
        names.name_columns(collected.derived);
        names
    }

    /// No names yet, and what shall have some.
    fn begin(query: &Query, schema: &'a Schema) -> (Self, Collected) {
        let mut collected = Collected::default();
        walk_query(&mut collected, query);
        let rowids = std::mem::take(&mut collected.rowids);
        (Self { schema, relations: HashMap::new(), ctes: HashMap::new(), rowids }, collected)
    }

    /// Derived columns may take the name of an inner column, so inner relations come first.
    fn name_columns(&mut self, derived: Vec<(RelationId, Outputs)>) {
        for (id, outputs) in derived.into_iter().rev() {
            let columns = match outputs {
                Outputs::Numbered(width) => (1..=width).map(|n| format!("column{n}")).collect(),
                Outputs::Natural(names) => distinct_names(names.into_iter().map(|name| self.named(name))),
            };
            if let Some(relation) = self.relations.get_mut(&id) {
                relation.columns = ColumnNames::Listed(columns);
            }
        }
    }

    /// The name that a result column has by itself.
    pub(super) fn natural(&self, output: &Output) -> Option<String> {
        self.named(Natural::of(output))
    }

    fn named(&self, name: Natural) -> Option<String> {
        match name {
            Natural::Alias(alias) => Some(alias),
            Natural::Column(column) => self.column(column).ok(),
            Natural::None => None,
        }
    }

    /// Whether the result columns of a query have those names by themselves.
    pub(super) fn gives(&self, query: &Query, columns: &[String]) -> bool {
        let outputs = query.outputs().unwrap_or_default();
        let natural = |(output, name): (&Output, &String)| self.natural(output).as_ref() == Some(name);
        outputs.len() == columns.len() && outputs.iter().zip(columns).all(natural)
    }

    fn name_relations(&mut self, relations: &[(RelationId, Kind)], in_use: &mut NamesInUse<'_>) {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for (_, kind) in relations {
            *uses.entry(self.base_name(kind).to_ascii_lowercase()).or_default() += 1;
        }
        for (id, kind) in relations {
            let base = self.base_name(kind);
            let alone = uses.get(&base.to_ascii_lowercase()) == Some(&1);
            // In parentheses of FROM SQLite takes what stands before a dot for the name of a database.
            let alias = if alone && !matches!(kind, Kind::Derived) && !base.contains('.') {
                base
            } else {
                in_use.numbered()
            };
            self.relations.insert(*id, RelationNames { alias, columns: kind.columns() });
        }
    }

    fn base_name(&self, kind: &Kind) -> String {
        match kind {
            // A name that is missing is noted where the relation is printed.
            Kind::Table(table) => self.table(*table).unwrap_or_default(),
            Kind::Cte(cte) => self.cte(*cte).unwrap_or_default(),
            Kind::Derived => String::new(),
            Kind::Function(name) => name.clone(),
        }
    }

    /// Whether a function name may stand without quotes: words that SQLite's grammar takes for names before `(`.
    pub(super) fn is_callable(name: &str) -> bool {
        const ALSO_KEYWORDS: &[&str] = &[
            "current_date",
            "current_time",
            "current_timestamp",
            "glob",
            "if",
            "like",
            "match",
            "regexp",
            "replace",
        ];
        is_plain(name) || ALSO_KEYWORDS.contains(&name)
    }

    /// The name of a table of the schema.
    ///
    /// # Errors
    /// [`PrintError::UnknownTable`].
    pub fn table(&self, id: TableId) -> Result<String, PrintError> {
        self.schema.table(id).map(|table| table.name.clone()).ok_or(PrintError::UnknownTable(id.index()))
    }

    /// The name of a common table expression.
    ///
    /// # Errors
    /// [`PrintError::UnknownCte`].
    pub fn cte(&self, id: CteId) -> Result<String, PrintError> {
        self.ctes.get(&id).map(|(name, _)| name.clone()).ok_or(PrintError::UnknownCte(id.0))
    }

    /// The names of the columns of a common table expression.
    pub fn cte_columns(&self, id: CteId) -> &[String] {
        self.ctes.get(&id).map_or(&[], |(_, columns)| columns)
    }

    /// The alias of a relation.
    ///
    /// # Errors
    /// [`PrintError::UnknownRelation`].
    pub fn relation(&self, id: RelationId) -> Result<String, PrintError> {
        let relation = self.relations.get(&id).ok_or(PrintError::UnknownRelation(id.0))?;
        Ok(relation.alias.clone())
    }

    /// Whether the rowid of the relation is read.
    pub(super) fn shows_rowid(&self, id: RelationId) -> bool {
        self.rowids.contains(&id)
    }

    /// The names of the columns of a subquery in FROM.
    pub fn derived_columns(&self, id: RelationId) -> &[String] {
        match self.relations.get(&id).map(|relation| &relation.columns) {
            Some(ColumnNames::Listed(columns)) => columns,
            _ => &[],
        }
    }

    /// The name of a column within its relation.
    ///
    /// # Errors
    /// [`PrintError`] where the relation or the column is not there, or the rowid has no name.
    pub fn column(&self, column: ColumnRef) -> Result<String, PrintError> {
        let relation =
            self.relations.get(&column.relation).ok_or(PrintError::UnknownRelation(column.relation.0))?;
        let at = column.column.position();
        let name = match &relation.columns {
            ColumnNames::Table(id) if column.column == Place::Rowid => {
                let table = self.schema.table(*id).ok_or(PrintError::UnknownTable(id.index()))?;
                let free = |name: &&str| table.column_index(name).is_none();
                let name = ["rowid", "_rowid_", "oid"].into_iter().find(free);
                Some(name.ok_or_else(|| PrintError::HiddenRowid(table.name.clone()))?)
            }
            ColumnNames::Table(id) => {
                self.schema.table(*id).and_then(|table| Some(table.at(column.column)?.name.as_str()))
            }
            ColumnNames::Listed(columns) => at.and_then(|at| columns.get(at as usize)).map(String::as_str),
            ColumnNames::Builtin(_) if column.column == Place::Rowid => Some("rowid"),
            ColumnNames::Builtin(columns) => at.and_then(|at| columns.get(at as usize)).copied(),
            ColumnNames::Cte(id) => {
                let columns = self.cte_columns(*id);
                at.and_then(|at| columns.get(at as usize)).map(String::as_str)
            }
        };
        name.map(str::to_owned).ok_or(PrintError::UnknownColumn(column.relation.0, column.column))
    }
}

/// The names wanted where they are free, `c1`, `c2`, … elsewhere.
fn distinct_names(wanted: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let mut in_use = HashSet::new();
    let mut names = Vec::new();
    for (index, wanted) in wanted.enumerate() {
        let free = wanted.filter(|name| !name.is_empty() && !in_use.contains(&name.to_ascii_lowercase()));
        let name = free.unwrap_or_else(|| {
            let mut number = index + 1;
            while in_use.contains(&format!("c{number}")) {
                number += 1;
            }
            format!("c{number}")
        });
        in_use.insert(name.to_ascii_lowercase());
        names.push(name);
    }
    names
}

/// The names that are taken, in lower case. No name becomes free again, so each search goes on where the last one ended.
#[derive(Default)]
struct NamesInUse<'a> {
    /// The schema whose tables have names too: not copied, since there may be thousands.
    schema: Option<&'a Schema>,
    names: HashSet<String>,
    /// The last number behind `T` that was given or taken.
    last_number: usize,
    /// The same for the numbers behind other names.
    last_numbers: HashMap<String, usize>,
}

impl NamesInUse<'_> {
    /// Takes a name in lower case; whether it was free.
    fn take(&mut self, name: String) -> bool {
        self.schema.is_none_or(|schema| schema.table_id(&name).is_none()) && self.names.insert(name)
    }

    /// The first of `T1`, `T2`, … that is free.
    fn numbered(&mut self) -> String {
        loop {
            budget::spend(1);
            self.last_number += 1;
            if self.take(format!("t{}", self.last_number)) {
                return format!("T{}", self.last_number);
            }
        }
    }

    /// `name`, or the first of `name_2`, `name_3`, … that is free.
    fn unused(&mut self, name: &str) -> String {
        let base = name.to_ascii_lowercase();
        if self.take(base.clone()) {
            return name.to_owned();
        }
        let mut last = self.last_numbers.get(&base).copied().unwrap_or(1);
        loop {
            budget::spend(1);
            last += 1;
            if self.take(format!("{base}_{last}")) {
                self.last_numbers.insert(base, last);
                return format!("{name}_{last}");
            }
        }
    }
}

/// The name that a result column has by itself: its alias, or that of the column that it is.
enum Natural {
    Alias(String),
    Column(ColumnRef),
    None,
}

impl Natural {
    fn of(output: &Output) -> Self {
        match (&output.alias, &output.expr) {
            (Some(alias), _) => Self::Alias(alias.clone()),
            (None, Expr::Column(column)) => Self::Column(*column),
            _ => Self::None,
        }
    }
}

/// The result columns of a subquery, as far as names need them.
enum Outputs {
    /// Of VALUES: so many.
    Numbered(usize),
    Natural(Vec<Natural>),
}

impl Outputs {
    fn of(query: &Query) -> Self {
        match query.outputs() {
            Some(outputs) => Self::Natural(outputs.iter().map(Natural::of).collect()),
            None => Self::Numbered(query.width()),
        }
    }
}

enum Kind {
    Table(TableId),
    Cte(CteId),
    Derived,
    Function(String),
}

impl Kind {
    fn columns(&self) -> ColumnNames {
        match self {
            Self::Table(table) => ColumnNames::Table(*table),
            Self::Cte(cte) => ColumnNames::Cte(*cte),
            Self::Derived => ColumnNames::Listed(Vec::new()),
            Self::Function(name) => ColumnNames::Builtin(builtin_columns(name).unwrap_or_default()),
        }
    }
}

#[derive(Default)]
struct Collected {
    relations: Vec<(RelationId, Kind)>,
    derived: Vec<(RelationId, Outputs)>,
    ctes: Vec<(CteId, String, Vec<String>)>,
    rowids: HashSet<RelationId>,
    /// The relations whose source stands in their FROM clause before.
    repeated: HashSet<RelationId>,
}

impl Visitor for Collected {
    fn body(&mut self, body: &Body) {
        let Body::Select(select) = body else { return };
        let mut seen = HashSet::new();
        for relation in select.from.iter().flat_map(From::relations) {
            if let RelationSource::Table(_) | RelationSource::Cte(_) = relation.source
                && !seen.insert(&relation.source)
            {
                self.repeated.insert(relation.id);
            }
        }
    }

    fn query(&mut self, query: &Query) {
        for Cte { id, name, columns, .. } in &query.ctes {
            let columns = distinct_names(columns.iter().map(|name| Some(name.clone())));
            self.ctes.push((*id, name.clone(), columns));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(ColumnRef { relation, column: Place::Rowid }) = expr {
            self.rowids.insert(*relation);
        }
    }

    fn relation(&mut self, relation: &Relation) {
        let kind = match &relation.source {
            RelationSource::Table(id) => Kind::Table(*id),
            RelationSource::Cte(id) => Kind::Cte(*id),
            RelationSource::Catalog => Kind::Function("sqlite_master".to_owned()),
            RelationSource::Function { name, .. } => Kind::Function(name.clone()),
            RelationSource::Derived(query) => {
                self.derived.push((relation.id, Outputs::of(query)));
                Kind::Derived
            }
        };
        self.relations.push((relation.id, kind));
    }
}

/// Whether a name needs no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_err()
}

/// SQLite's keywords (its documentation, "SQLite Keywords"), sorted.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "ABORT", "ACTION", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "ANALYZE", "AND", "AS", "ASC", "ATTACH",
    "AUTOINCREMENT", "BEFORE", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK", "COLLATE", "COLUMN",
    "COMMIT", "CONFLICT", "CONSTRAINT", "CREATE", "CROSS", "CURRENT", "CURRENT_DATE", "CURRENT_TIME",
    "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT", "DEFERRABLE", "DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT",
    "DO", "DROP", "EACH", "ELSE", "END", "ESCAPE", "EXCEPT", "EXCLUDE", "EXCLUSIVE", "EXISTS", "EXPLAIN", "FAIL",
    "FALSE", "FILTER", "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL", "GENERATED", "GLOB", "GROUP",
    "GROUPS", "HAVING", "IF", "IGNORE", "IMMEDIATE", "IN", "INDEX", "INDEXED", "INITIALLY", "INNER", "INSERT",
    "INSTEAD", "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "KEY", "LAST", "LEFT", "LIKE", "LIMIT", "MATCH",
    "MATERIALIZED", "NATURAL", "NO", "NOT", "NOTHING", "NOTNULL", "NULL", "NULLS", "OF", "OFFSET", "ON", "OR",
    "ORDER", "OTHERS", "OUTER", "OVER", "PARTITION", "PLAN", "PRAGMA", "PRECEDING", "PRIMARY", "QUERY", "RAISE",
    "RANGE", "RECURSIVE", "REFERENCES", "REGEXP", "REINDEX", "RELEASE", "RENAME", "REPLACE", "RESTRICT",
    "RETURNING", "RIGHT", "ROLLBACK", "ROW", "ROWS", "SAVEPOINT", "SELECT", "SET", "TABLE", "TEMP", "TEMPORARY",
    "THEN", "TIES", "TO", "TRANSACTION", "TRIGGER", "TRUE", "UNBOUNDED", "UNION", "UNIQUE", "UPDATE", "USING",
    "VACUUM", "VALUES", "VIEW", "VIRTUAL", "WHEN", "WHERE", "WINDOW", "WITH", "WITHOUT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_so_that_they_can_be_searched() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn the_first_free_number_is_given_and_each_is_looked_at_once() {
        let schema = Schema::from_ddl("CREATE TABLE T2 (a); CREATE TABLE c (a)").unwrap();
        let names = ["c_2".to_owned()].into();
        let mut in_use = NamesInUse { schema: Some(&schema), names, ..NamesInUse::default() };
        assert_eq!([in_use.numbered(), in_use.numbered(), in_use.numbered()], ["T1", "T3", "T4"]);
        assert_eq!(["c", "d", "C", "D"].map(|name| in_use.unused(name)), ["c_3", "d", "C_4", "D_2"]);
        let ((), steps) =
            budget::measure(|| (0..1_000).for_each(|_| drop((in_use.numbered(), in_use.unused("c")))));
        assert_eq!(steps, 2_000);
    }

    #[test]
    fn names_that_are_no_plain_words_are_quoted() {
        assert!(is_plain("Singer_ID"));
        for name in ["order", "a b", "1st", "", "Café", "x-y"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
