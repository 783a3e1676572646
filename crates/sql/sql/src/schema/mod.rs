//! The schema catalog: what tables, columns, keys and constraints a database has.
//!
//! A [`Schema`] is plain data. It is read from DDL text ([`Schema::from_ddl`]), from a Spider or BIRD
//! `tables.json` entry (crate `dataset`), or from a SQLite file (crate `engine`). Names keep the spelling
//! of their source; every look-up ignores ASCII case, as SQLite does.

mod definition;
mod fact;
mod reference;

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::tree::Place;

pub use crate::tree::TableId;

pub use definition::Definition;
pub(crate) use definition::ViewFacts;
pub use fact::{ColumnCollation, ColumnFacts, Fact, ValueDomain};

/// SQLite's five column affinities (SQLite documentation, "Datatypes In SQLite", section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Affinity {
    /// Prefers text.
    Text,
    /// Integer if the value looks like one, real otherwise.
    Numeric,
    /// Like numeric, and casts to integer.
    Integer,
    /// Forces integers into floating point.
    Real,
    /// No preference; also called NONE.
    Blob,
}

impl Affinity {
    /// The affinity of a declared type by SQLite's substring rules; no type at all gives [`Affinity::Blob`].
    pub fn of_declared_type(declared: Option<&str>) -> Self {
        let Some(declared) = declared.map(str::to_ascii_uppercase).filter(|d| !d.is_empty()) else {
            return Self::Blob;
        };
        let has = |part: &str| declared.contains(part);
        if has("INT") {
            Self::Integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            Self::Text
        } else if has("BLOB") {
            Self::Blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// Whether comparisons with this affinity convert text that looks like a number.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Numeric | Self::Integer | Self::Real)
    }
}

/// How text is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Collation {
    /// Byte by byte; SQLite's default.
    #[default]
    Binary,
    /// ASCII letters without case.
    NoCase,
    /// Trailing spaces ignored.
    RTrim,
    /// A collation that only the application knows.
    Other(String),
}

impl Collation {
    /// The collation of that name.
    pub fn from_name(name: &str) -> Self {
        match name.to_ascii_uppercase().as_str() {
            "BINARY" => Self::Binary,
            "NOCASE" => Self::NoCase,
            "RTRIM" => Self::RTrim,
            _ => Self::Other(name.to_owned()),
        }
    }

    /// SQLite's name of the collation.
    pub fn name(&self) -> &str {
        match self {
            Self::Binary => "BINARY",
            Self::NoCase => "NOCASE",
            Self::RTrim => "RTRIM",
            Self::Other(name) => name,
        }
    }
}

/// What kind of object a [`Table`] is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// An ordinary table.
    #[default]
    Table,
    /// A view; its columns are known, its constraints are not.
    View,
    /// A virtual table.
    Virtual,
    /// A table in which a virtual table keeps its content: a query can read it, but nobody's data model has it.
    Shadow,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    /// Name as declared.
    pub name: String,
    /// Declared type as written, `None` when the column has none.
    pub declared_type: Option<String>,
    /// Affinity that follows from the declared type.
    pub affinity: Affinity,
    /// NOT NULL is declared, or follows from the primary key where SQLite enforces it
    /// (INTEGER PRIMARY KEY, WITHOUT ROWID, STRICT).
    pub not_null: bool,
    /// Default value as SQL text.
    pub default: Option<String>,
    /// Collation of comparisons on this column.
    pub collation: Collation,
    /// Hidden from `*` (virtual tables only).
    pub hidden: bool,
    /// Computed by SQLite (GENERATED ALWAYS AS); cannot be inserted.
    pub generated: bool,
    /// The expression that a generated column is computed from, as SQL text, where it is known.
    #[serde(default)]
    pub generated_as: Option<String>,
    /// What a server's database says of the column (`COMMENT ON`); it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl Column {
    /// A nullable column of that name and declared type, compared byte by byte.
    pub fn new(name: impl Into<String>, declared_type: Option<&str>) -> Self {
        Self {
            name: name.into(),
            declared_type: declared_type.map(str::to_owned),
            affinity: Affinity::of_declared_type(declared_type),
            not_null: false,
            default: None,
            collation: Collation::Binary,
            hidden: false,
            generated: false,
            generated_as: None,
            comment: None,
        }
    }
}

sqlgauge_base::named! {
    /// What becomes of the rows that refer to a row when that row is deleted, or its key changes.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Action by sql {
        /// Nothing: what refers to nothing afterwards breaks the constraint.
        #[default]
        NoAction = "NO ACTION",
        /// The change is refused at once.
        Restrict = "RESTRICT",
        /// They refer to nothing.
        SetNull = "SET NULL",
        /// They refer to the default of their columns.
        SetDefault = "SET DEFAULT",
        /// They are deleted, or follow the change.
        Cascade = "CASCADE",
    }
}

impl Action {
    /// The action of that name, case ignored; SQLite has no others.
    pub fn from_sql(sql: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.sql().eq_ignore_ascii_case(sql))
    }
}

/// A FOREIGN KEY: columns of the owning table that refer to columns of another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Positions in the owning table.
    pub columns: Vec<u32>,
    /// Name of the referenced table as written; it may not exist.
    pub referenced_table: String,
    /// Names of the referenced columns; empty means the primary key of the referenced table.
    pub referenced_columns: Vec<String>,
    /// ON DELETE.
    #[serde(default)]
    pub on_delete: Action,
    /// ON UPDATE.
    #[serde(default)]
    pub on_update: Action,
    /// DEFERRABLE INITIALLY DEFERRED.
    #[serde(default)]
    pub deferred: bool,
}

impl ForeignKey {
    /// What follows the referenced columns in DDL, each part after a blank: actions, and when the key is checked.
    pub fn actions(&self) -> String {
        let mut text = String::new();
        for (event, action) in [(" ON DELETE ", self.on_delete), (" ON UPDATE ", self.on_update)] {
            if action != Action::NoAction {
                text.push_str(event);
                text.push_str(action.sql());
            }
        }
        if self.deferred {
            text.push_str(" DEFERRABLE INITIALLY DEFERRED");
        }
        text
    }

    /// The key as DDL, with the name of its table: `u(t_id) REFERENCES t(id)`.
    pub fn describe(&self, table: &Table) -> String {
        let from = table.names(&self.columns);
        let to = &self.referenced_table;
        match self.referenced_columns.as_slice() {
            [] => format!("{}({from}) REFERENCES {to}", table.name),
            columns => format!("{}({from}) REFERENCES {to}({})", table.name, columns.join(", ")),
        }
    }
}

/// An index, be it of a constraint or of CREATE INDEX.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Index {
    /// Its name; `None` for that of a constraint.
    pub name: Option<String>,
    /// No two rows agree on all parts with none of them NULL.
    pub unique: bool,
    /// What it sorts by, first to last; nothing where that is not known.
    pub parts: Vec<IndexPart>,
    /// The WHERE of a partial index, as SQL text.
    pub filter: Option<String>,
}

/// What one part of an index sorts by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IndexPart {
    /// A column or an expression.
    pub of: Indexed,
    /// The collation of the index, which need not be that of the column.
    pub collation: Collation,
    /// DESC.
    pub descending: bool,
}

/// A column or an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Indexed {
    /// Position of the column.
    Column(u32),
    /// SQL text.
    Expression(String),
}

impl IndexPart {
    /// The column, if it sorts by one.
    pub fn column(&self) -> Option<u32> {
        match self.of {
            Indexed::Column(at) => Some(at),
            Indexed::Expression(_) => None,
        }
    }
}

impl Index {
    /// Whether it forbids rows that no UNIQUE constraint on its columns would: it is UNIQUE, and partial, on an expression, or
    /// takes other texts for equal than a column's own collation does. False where its parts are not known.
    pub fn limits_further(&self, columns: &[Column]) -> bool {
        let is_plain = |part: &IndexPart| {
            let column = part.column().and_then(|at| columns.get(at as usize));
            column.is_some_and(|column| column.collation == part.collation)
        };
        self.unique && !self.parts.is_empty() && !(self.filter.is_none() && self.parts.iter().all(is_plain))
    }

    /// The columns on which no two rows of the table agree in comparisons by the columns' own collations; `None` if
    /// the index is not unique, is partial, has an expression, or tells apart what a column's own collation takes
    /// for equal.
    pub fn unique_columns(&self, columns: &[Column]) -> Option<Vec<u32>> {
        if !self.unique || self.filter.is_some() {
            return None;
        }
        let parts = self.parts.iter().map(|part| match &part.of {
            Indexed::Column(at) => {
                let collation = &columns.get(*at as usize)?.collation;
                (*collation == part.collation || *collation == Collation::Binary).then_some(*at)
            }
            Indexed::Expression(_) => None,
        });
        parts.collect()
    }
}

/// One table or view.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a declaration of its own in the DDL")]
pub struct Table {
    /// Name as declared.
    pub name: String,
    /// Table, view, virtual table or shadow table.
    pub kind: TableKind,
    /// Columns in declared order.
    pub columns: Vec<Column>,
    /// Positions of the primary-key columns in key order; empty without a primary key.
    pub primary_key: Vec<u32>,
    /// The primary key is written `INTEGER PRIMARY KEY DESC` on its column: SQLite then keeps it apart from the
    /// rowid, and lets it be NULL.
    #[serde(default)]
    pub key_apart_from_rowid: bool,
    /// The index of the primary key tells apart what a column's own collation takes for equal.
    #[serde(default)]
    pub key_is_finer: bool,
    /// The primary key is an INTEGER PRIMARY KEY AUTOINCREMENT: rowids of deleted rows are not given again.
    #[serde(default)]
    pub autoincrement: bool,
    /// Column sets with a UNIQUE constraint or a full (not partial, not expression) unique index; the
    /// primary key is not repeated here.
    pub unique: Vec<Vec<u32>>,
    /// Foreign keys that this table declares.
    pub foreign_keys: Vec<ForeignKey>,
    /// All indexes, first declared first; that of the primary key only where it limits the rows further than a key of its
    /// columns would ([`Index::limits_further`]).
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// CHECK constraints as SQL text.
    pub checks: Vec<String>,
    /// The query of a view as SQL text, where it is known.
    #[serde(default)]
    pub view: Option<String>,
    /// What a server's database says of the table (`COMMENT ON`); it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Declared WITHOUT ROWID, so `rowid` is not a column of it.
    pub without_rowid: bool,
    /// Declared STRICT.
    pub strict: bool,
}

impl Table {
    /// What stands behind the columns of its CREATE TABLE.
    pub fn options(&self) -> &'static str {
        match (self.strict, self.without_rowid) {
            (false, false) => "",
            (true, false) => " STRICT",
            (false, true) => " WITHOUT ROWID",
            (true, true) => " STRICT, WITHOUT ROWID",
        }
    }

    /// An ordinary table with those columns and no constraint.
    pub fn new(name: impl Into<String>, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            kind: TableKind::Table,
            columns,
            primary_key: Vec::new(),
            key_apart_from_rowid: false,
            key_is_finer: false,
            autoincrement: false,
            unique: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            checks: Vec::new(),
            view: None,
            comment: None,
            without_rowid: false,
            strict: false,
        }
    }

    /// Position of the column of that name, case ignored.
    pub fn column_index(&self, name: &str) -> Option<u32> {
        let position = self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(name))?;
        u32::try_from(position).ok()
    }

    /// The column at that position.
    pub fn column(&self, index: u32) -> Option<&Column> {
        self.columns.get(index as usize)
    }

    /// The column at that place; `None` for the rowid.
    pub fn at(&self, place: Place) -> Option<&Column> {
        self.column(place.position()?)
    }

    /// Whether what stands there is the rowid, under whichever name.
    pub fn is_rowid(&self, place: Place) -> bool {
        match place {
            Place::At(position) => self.rowid_alias() == Some(position),
            Place::Rowid => true,
        }
    }

    /// The names of those columns, comma-separated.
    pub fn names(&self, columns: &[u32]) -> String {
        let names = columns.iter().filter_map(|&at| self.column(at)).map(|column| column.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Position of the INTEGER PRIMARY KEY column that is an alias of the rowid, if there is one.
    pub fn rowid_alias(&self) -> Option<u32> {
        let &[only] = self.primary_key.as_slice() else { return None };
        let declared = self.column(only)?.declared_type.as_deref()?;
        let is_table = self.kind == TableKind::Table && !self.without_rowid && !self.key_apart_from_rowid;
        (is_table && declared.eq_ignore_ascii_case("INTEGER")).then_some(only)
    }

    /// Whether no two rows can agree on all of `columns` with none of them NULL: `columns` contain the
    /// primary key or a UNIQUE set.
    pub fn is_unique(&self, columns: &[u32]) -> bool {
        let contains = |key: &[u32]| !key.is_empty() && key.iter().all(|c| columns.contains(c));
        (contains(&self.primary_key) && !self.key_is_finer) || self.unique.iter().any(|key| contains(key))
    }

    /// Whether SQLite takes these columns as the target of a foreign key: they are exactly the primary key or a UNIQUE set.
    pub(crate) fn is_parent_key(&self, columns: &[u32]) -> bool {
        let sorted = |key: &[u32]| {
            let mut key = key.to_vec();
            key.sort_unstable();
            key
        };
        let columns = sorted(columns);
        !columns.is_empty()
            && (sorted(&self.primary_key) == columns || self.unique.iter().any(|key| sorted(key) == columns))
    }

    /// Whether no column can bring another collation than BINARY. That of a virtual table is its module's choice, and
    /// that of a view may be named in its query.
    fn compares_bytes_only(&self) -> bool {
        let names_collation = |text: &String| text.to_ascii_uppercase().contains("COLLATE");
        self.columns.iter().all(|column| column.collation == Collation::Binary)
            && match self.kind {
                TableKind::Table | TableKind::Shadow => true,
                TableKind::View => self.view.as_ref().is_some_and(|text| !names_collation(text)),
                TableKind::Virtual => false,
            }
    }

    /// Positions of the columns that rows bring values for: all but the generated ones.
    pub fn stored_columns(&self) -> Vec<u32> {
        (0..).zip(&self.columns).filter(|(_, column)| !column.generated).map(|(at, _)| at).collect()
    }

    /// Whether the column can never be NULL.
    pub fn is_not_null(&self, column: u32) -> bool {
        self.column(column).is_some_and(|c| c.not_null)
    }
}

/// The tables of one database.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Table>", into = "Vec<Table>")]
pub struct Schema {
    tables: Vec<Table>,
    by_name: HashMap<String, u32>,
    digest: u64,
    pub(crate) definitions: OnceLock<Arc<Vec<Definition>>>,
    compares_bytes_only: OnceLock<bool>,
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.tables == other.tables
    }
}

impl Eq for Schema {}

impl Schema {
    /// The catalog of those tables; of two tables with one name (case ignored) the first is found by name.
    pub fn new(tables: Vec<Table>) -> Self {
        let mut by_name = HashMap::with_capacity(tables.len());
        for (index, table) in (0..).zip(&tables) {
            by_name.entry(table.name.to_ascii_lowercase()).or_insert(index);
        }
        let mut hasher = DefaultHasher::new();
        tables.hash(&mut hasher);
        Self {
            tables,
            by_name,
            digest: hasher.finish(),
            definitions: OnceLock::new(),
            compares_bytes_only: OnceLock::new(),
        }
    }

    /// All tables in the order of their source.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table with that id, `None` when the id belongs to another schema.
    pub fn table(&self, id: TableId) -> Option<&Table> {
        self.tables.get(id.index()).filter(|_| id.schema == self.digest)
    }

    /// The id of the table at that position.
    pub fn id_at(&self, index: usize) -> Option<TableId> {
        let index = u32::try_from(index).ok().filter(|_| index < self.tables.len())?;
        Some(TableId { index, schema: self.digest })
    }

    /// The ids of all tables in the order of their source.
    pub fn ids(&self) -> impl Iterator<Item = TableId> + use<> {
        let schema = self.digest;
        (0..).take(self.tables.len()).map(move |index| TableId { index, schema })
    }

    /// Whether no column of a table or view can bring another collation than BINARY.
    pub(crate) fn compares_bytes_only(&self) -> bool {
        *self.compares_bytes_only.get_or_init(|| self.tables.iter().all(Table::compares_bytes_only))
    }

    /// The id of the table of that name, case ignored.
    pub fn table_id(&self, name: &str) -> Option<TableId> {
        self.id_at(*self.by_name.get(&name.to_ascii_lowercase())? as usize)
    }

    /// The table of that name, case ignored.
    pub fn table_named(&self, name: &str) -> Option<&Table> {
        self.table(self.table_id(name)?)
    }

    /// What a foreign key refers to, where SQLite can hold rows to it: the columns that it refers to are a primary key or a
    /// UNIQUE set. SQLite calls any other a "foreign key mismatch".
    pub fn enforced_foreign_key(&self, key: &ForeignKey) -> Option<(TableId, Vec<u32>)> {
        self.resolve_foreign_key(key)
            .filter(|(target, columns)| self.table(*target).is_some_and(|table| table.is_parent_key(columns)))
    }

    /// The table and the column positions that a foreign key refers to, `None` when they do not exist.
    pub fn resolve_foreign_key(&self, key: &ForeignKey) -> Option<(TableId, Vec<u32>)> {
        let id = self.table_id(&key.referenced_table)?;
        let table = self.table(id)?;
        let columns = if key.referenced_columns.is_empty() {
            table.primary_key.clone()
        } else {
            key.referenced_columns.iter().map(|name| table.column_index(name)).collect::<Option<Vec<_>>>()?
        };
        (columns.len() == key.columns.len()).then_some((id, columns))
    }
}

impl From<Vec<Table>> for Schema {
    fn from(tables: Vec<Table>) -> Self {
        Self::new(tables)
    }
}

impl From<Schema> for Vec<Table> {
    fn from(schema: Schema) -> Self {
        schema.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_follows_the_substring_rules_in_their_order() {
        for (declared, affinity) in [
            (Some("INTEGER"), Affinity::Integer),
            (Some("CHARINT"), Affinity::Integer),
            (Some("VARCHAR(20)"), Affinity::Text),
            (Some("BLOB"), Affinity::Blob),
            (Some(""), Affinity::Blob),
            (None, Affinity::Blob),
            (Some("FLOATING POINT"), Affinity::Integer),
            (Some("double"), Affinity::Real),
            (Some("DATE"), Affinity::Numeric),
            (Some("STRING"), Affinity::Numeric),
        ] {
            assert_eq!(Affinity::of_declared_type(declared), affinity, "{declared:?}");
        }
    }

    #[test]
    fn a_superset_of_a_key_is_unique_and_a_part_of_one_is_not() {
        let mut table = Table::new("t", vec![Column::new("a", None), Column::new("b", None)]);
        table.primary_key = vec![0, 1];
        assert!(table.is_unique(&[1, 0]));
        assert!(!table.is_unique(&[0]));
        assert!(!table.is_unique(&[]));
    }

    #[test]
    fn names_are_found_without_case_and_the_first_of_two_wins() {
        let schema =
            Schema::new(vec![Table::new("T", vec![]), Table::new("t", vec![Column::new("x", None)])]);
        assert_eq!(schema.table_id("t").map(TableId::index), Some(0));
    }
}
