//! The catalog of a database, read when it is opened.

use std::collections::HashMap;

use sqlgauge_sql::schema::{Action, Column, ForeignKey, Schema, Table, TableKind};

#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) schema: Schema,
    /// The tables whose rows belong to the version of the data, quoted.
    pub(crate) tables: Vec<String>,
    pub(crate) digest: String,
}

/// A row of a question about the catalog.
pub(crate) type Row = Vec<Option<String>>;

/// The catalog of a schema.
///
/// - A row of `columns` has the table, its kind (`… VIEW`), the column, its declared type and whether it takes NULL (`NO`).
/// - A row of `keys` has the table, the constraint (`PRIMARY`), the column, and of a foreign key the other table and column.
///   The columns of a constraint stand together, in their order.
pub(crate) fn catalog_of(columns: &[Row], keys: &[Row], quoted: fn(&str) -> String) -> Catalog {
    let mut reader = Reader { tables: Vec::new(), stored: Vec::new(), places: HashMap::new(), quoted };
    columns.iter().for_each(|row| reader.column(row));
    keys.chunk_by(|a, b| a.get(..2) == b.get(..2)).for_each(|rows| reader.key(rows));
    let digest = format!("{columns:?}{keys:?}");
    Catalog { schema: Schema::new(reader.tables), tables: reader.stored, digest }
}

struct Reader {
    tables: Vec<Table>,
    stored: Vec<String>,
    places: HashMap<String, usize>,
    quoted: fn(&str) -> String,
}

impl Reader {
    fn column(&mut self, row: &[Option<String>]) {
        let [Some(name), Some(kind), Some(column), declared, nullable] = row else { return };
        let at = *self.places.entry(name.clone()).or_insert(self.tables.len());
        if at == self.tables.len() {
            let mut table = Table::new(name.clone(), Vec::new());
            if kind.to_ascii_uppercase().ends_with("VIEW") {
                table.kind = TableKind::View;
            } else {
                self.stored.push((self.quoted)(name));
            }
            self.tables.push(table);
        }
        if let Some(table) = self.tables.get_mut(at) {
            let mut column = Column::new(column.clone(), declared.as_deref());
            column.not_null = nullable.as_deref() == Some("NO");
            table.columns.push(column);
        }
    }

    /// A key, by the rows of its columns.
    fn key(&mut self, rows: &[Vec<Option<String>>]) {
        let Some([Some(table), Some(name), _, target, _]) = rows.first().map(Vec::as_slice) else { return };
        let at = self.places.get(table).and_then(|&at| self.tables.get_mut(at));
        let Some(table) = at else { return };
        let names = |part: usize| rows.iter().filter_map(move |row| row.get(part)?.clone());
        let place = |name: String| {
            let at = table.columns.iter().position(|column| column.name == name);
            at.and_then(|at| u32::try_from(at).ok())
        };
        let Some(columns) = names(2).map(place).collect::<Option<Vec<u32>>>() else { return };
        match (name.as_str(), target) {
            ("PRIMARY", None) => table.primary_key = columns,
            (_, None) => table.unique.push(columns),
            (_, Some(target)) => table.foreign_keys.push(ForeignKey {
                columns,
                referenced_table: target.clone(),
                referenced_columns: names(4).collect(),
                on_delete: Action::default(),
                on_update: Action::default(),
                deferred: false,
            }),
        }
    }
}
