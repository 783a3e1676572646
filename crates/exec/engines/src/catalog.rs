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
/// - A row of `comments` has the table, the column, and the comment. A comment on the table has NULL in place of the column. The digest
///   leaves comments out: editing one changes no data.
pub(crate) fn catalog_of(
    columns: &[Row],
    keys: &[Row],
    comments: &[Row],
    quoted: fn(&str) -> String,
) -> Catalog {
    let mut reader = Reader { tables: Vec::new(), stored: Vec::new(), places: HashMap::new(), quoted };
    columns.iter().for_each(|row| reader.column(row));
    keys.chunk_by(|a, b| a.get(..2) == b.get(..2)).for_each(|rows| reader.key(rows));
    comments.iter().for_each(|row| reader.comment(row));
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

    fn comment(&mut self, row: &[Option<String>]) {
        let [Some(table), column, comment] = row else { return };
        let Some(table) = self.places.get(table).and_then(|&at| self.tables.get_mut(at)) else { return };
        let Some(column) = column else {
            table.comment.clone_from(comment);
            return;
        };
        let columns = table.columns.iter_mut().filter(|other| other.name == *column);
        columns.for_each(|column| column.comment.clone_from(comment));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_reach_their_tables_and_columns_and_not_the_digest() {
        let row = |cells: &[Option<&str>]| cells.iter().map(|cell| cell.map(str::to_owned)).collect::<Row>();
        let columns = ["id", "price"]
            .map(|name| row(&[Some("sale"), Some("TABLE"), Some(name), Some("int"), Some("YES")]));
        let comments = [
            row(&[Some("sale"), None, Some("what is sold")]),
            row(&[Some("sale"), Some("price"), Some("in EUR")]),
            row(&[Some("gone"), None, Some("of no table here")]),
        ];
        let of = |comments: &[Row]| catalog_of(&columns, &[], comments, str::to_owned);
        let catalog = of(&comments);
        let sale = catalog.schema.table_named("sale").unwrap();
        assert_eq!(sale.comment.as_deref(), Some("what is sold"));
        assert_eq!(sale.columns[0].comment, None);
        assert_eq!(sale.columns[1].comment.as_deref(), Some("in EUR"));
        assert_eq!(catalog.digest, of(&[]).digest);
    }
}
