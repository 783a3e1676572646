//! The schema catalog of DDL text.

use sqlite3_parser::Bump;
use sqlite3_parser::ast::{
    self, ColumnConstraint, CreateTableBody, ForeignKeyClause, IndexedColumn, NamedTableConstraint,
    SortedColumn, Stmt, TabFlags, TableConstraint,
};

use crate::error::{Error, ErrorKind};
use crate::ident::{name_of, type_text};
use crate::parse::Statements;
use crate::schema::{Collation, Column, ForeignKey, Schema, Table};

impl Schema {
    /// The schema that CREATE TABLE and CREATE UNIQUE INDEX statements make; other statements are passed over.
    ///
    /// # Errors
    /// When the text is not SQL as SQLite understands it, a table is created from a SELECT, or a constraint
    /// names a column that its table does not have.
    pub fn from_ddl(text: &str) -> Result<Self, Error> {
        let bump = Bump::new();
        let mut statements = Statements::new(&bump, text)?;
        let mut tables: Vec<Table> = Vec::new();
        while let Some(statement) = statements.next()? {
            match statement {
                Stmt::CreateTable { tbl_name, body, .. } => {
                    tables.push(table(&name_of(tbl_name.name.0), &body)?);
                }
                Stmt::CreateIndex { unique: true, tbl_name, columns, where_clause: None, .. } => {
                    let name = name_of(tbl_name.0);
                    let table = tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&name));
                    let table = table.ok_or_else(|| ErrorKind::UnknownTable(name.clone()))?;
                    // An index over an expression says nothing about columns.
                    if let Some(columns) = sorted_columns(table, columns)? {
                        table.unique.push(columns);
                    }
                }
                _ => {}
            }
        }
        Ok(Self::new(tables))
    }
}

fn table(name: &str, body: &CreateTableBody<'_>) -> Result<Table, Error> {
    let CreateTableBody::ColumnsAndConstraints { columns, constraints, flags } = body else {
        return Err(ErrorKind::Unsupported(format!("CREATE TABLE {name} AS SELECT")).into());
    };
    let names =
        columns.iter().map(|column| (name_of(column.col_name.0), column.col_type.as_ref().map(type_text)));
    let mut table = Table::new(name, names.map(|(name, kind)| Column::new(name, kind.as_deref())).collect());
    table.without_rowid = flags.contains(TabFlags::WithoutRowid);
    table.strict = flags.contains(TabFlags::Strict);
    for (index, column) in (0..).zip(columns) {
        for constraint in column.constraints {
            column_constraint(&mut table, index, &constraint.constraint);
        }
    }
    for NamedTableConstraint { constraint, .. } in constraints.unwrap_or_default() {
        table_constraint(&mut table, constraint)?;
    }
    enforce_primary_key(&mut table);
    Ok(table)
}

fn column_constraint(table: &mut Table, index: u32, constraint: &ColumnConstraint<'_>) {
    let column = &mut table.columns[index as usize];
    match constraint {
        ColumnConstraint::PrimaryKey { .. } => table.primary_key = vec![index],
        ColumnConstraint::NotNull { nullable, .. } => column.not_null = !nullable,
        ColumnConstraint::Unique(_) => table.unique.push(vec![index]),
        ColumnConstraint::Check(expr) => table.checks.push(expr.to_string()),
        ColumnConstraint::Default(expr) => column.default = Some(expr.to_string()),
        ColumnConstraint::Collate { collation_name } => {
            column.collation = Collation::from_name(&name_of(collation_name.0));
        }
        ColumnConstraint::ForeignKey { clause, .. } => {
            table.foreign_keys.push(foreign_key(vec![index], clause));
        }
        ColumnConstraint::Generated { .. } => column.generated = true,
        ColumnConstraint::Defer(_) => {}
    }
}

fn table_constraint(table: &mut Table, constraint: &TableConstraint<'_>) -> Result<(), Error> {
    match constraint {
        TableConstraint::PrimaryKey { columns, .. } => {
            table.primary_key = sorted_columns(table, columns)?.unwrap_or_default();
        }
        TableConstraint::Unique { columns, .. } => {
            let columns = sorted_columns(table, columns)?;
            table.unique.extend(columns);
        }
        TableConstraint::Check(expr, _) => table.checks.push(expr.to_string()),
        TableConstraint::ForeignKey { columns, clause, .. } => {
            let columns = columns.iter().map(|column| column_index(table, &name_of(column.col_name.0)));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            table.foreign_keys.push(foreign_key(columns, clause));
        }
    }
    Ok(())
}

/// Positions of plain columns; `None` if one of them is an expression.
fn sorted_columns(table: &Table, columns: &[SortedColumn<'_>]) -> Result<Option<Vec<u32>>, Error> {
    let mut positions = Vec::with_capacity(columns.len());
    for column in columns {
        let mut expr = &column.expr;
        while let ast::Expr::Collate(inner, _) = expr {
            expr = inner;
        }
        match expr {
            ast::Expr::Id(ast::Id(name))
            | ast::Expr::Name(ast::Name(name))
            | ast::Expr::Literal(ast::Literal::String(name)) => {
                positions.push(column_index(table, &name_of(name))?);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(positions))
}

fn column_index(table: &Table, name: &str) -> Result<u32, Error> {
    table.column_index(name).ok_or_else(|| ErrorKind::UnknownColumn(format!("{}.{name}", table.name)).into())
}

fn foreign_key(columns: Vec<u32>, clause: &ForeignKeyClause<'_>) -> ForeignKey {
    let referenced: &[IndexedColumn<'_>] = clause.columns.unwrap_or_default();
    ForeignKey {
        columns,
        referenced_table: name_of(clause.tbl_name.0),
        referenced_columns: referenced.iter().map(|column| name_of(column.col_name.0)).collect(),
    }
}

/// SQLite enforces NOT NULL on a primary key only for an INTEGER PRIMARY KEY, WITHOUT ROWID and STRICT.
fn enforce_primary_key(table: &mut Table) {
    let enforced = table.without_rowid || table.strict;
    let keys = if enforced { table.primary_key.clone() } else { table.rowid_alias().into_iter().collect() };
    for key in keys {
        if let Some(column) = table.columns.get_mut(key as usize) {
            column.not_null = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_of_columns_and_tables_are_read() {
        let schema = Schema::from_ddl(
            "CREATE TABLE team (id INTEGER PRIMARY KEY, \"name\" VARCHAR(20) NOT NULL UNIQUE COLLATE NOCASE);
             CREATE TABLE player (team_id INT REFERENCES team, shirt INT, born DATE DEFAULT 'x' CHECK (born > 0),
                PRIMARY KEY (team_id, shirt), FOREIGN KEY (team_id) REFERENCES team(id));
             CREATE UNIQUE INDEX by_birth ON player (born);
             CREATE UNIQUE INDEX partial ON player (shirt) WHERE shirt > 3;
             CREATE UNIQUE INDEX computed ON player (lower(born));",
        )
        .unwrap();
        let team = schema.table_named("TEAM").unwrap();
        assert_eq!((team.rowid_alias(), team.is_not_null(0)), (Some(0), true));
        assert_eq!(team.columns[1].declared_type.as_deref(), Some("VARCHAR(20)"));
        assert_eq!(team.columns[1].collation, Collation::NoCase);
        assert!(team.is_unique(&[1]) && team.is_not_null(1));
        let player = schema.table_named("player").unwrap();
        assert_eq!(player.unique, vec![vec![2]]);
        assert!(!player.is_not_null(0), "a composite key of an ordinary table may hold NULL in SQLite");
        assert_eq!(player.checks.len(), 1);
        let targets: Vec<_> = player.foreign_keys.iter().map(|key| schema.resolve_foreign_key(key)).collect();
        assert_eq!(targets, vec![Some((crate::schema::TableId(0), vec![0])); 2]);
    }

    #[test]
    fn a_constraint_on_a_column_that_is_not_there_is_an_error() {
        let error = Schema::from_ddl("CREATE TABLE t (a, UNIQUE (b))").unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::UnknownColumn("t.b".to_owned()));
    }
}
