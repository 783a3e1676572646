//! Turns the parser's statements into declarations.

use std::fmt;

use sqlite3_parser::Bump;
use sqlite3_parser::ast::fmt::ToTokens as _;
use sqlite3_parser::ast::{self, CreateTableBody, SortOrder, Stmt, TabFlags};

use super::sqlite::Reader;
use crate::schema::Action;
use crate::syntax::{ColumnConstraint, ColumnDefinition, Declaration, Reference, TableBody, TableConstraint};

/// What a statement declares.
pub(super) fn declaration<'b>(bump: &'b Bump, statement: Stmt<'b>) -> Declaration<'b> {
    let mut reader = Reader::new(bump);
    match bump.alloc(statement) {
        Stmt::CreateTable { tbl_name, body, .. } => {
            Declaration::Table { name: reader.name(tbl_name.name.0), body: reader.table_body(body) }
        }
        Stmt::CreateIndex { unique, idx_name, tbl_name, columns, where_clause, .. } => Declaration::Index {
            name: reader.name(idx_name.name.0),
            table: reader.name(tbl_name.0),
            unique: *unique,
            parts: reader.terms(columns),
            filter: where_clause.as_ref().map(|filter| filter as _),
        },
        Stmt::CreateView { view_name, columns, select, .. } => Declaration::View {
            name: reader.name(view_name.name.0),
            columns: columns.map(|columns| reader.column_names(columns)),
            query: bump.alloc(QueryText(select)),
        },
        Stmt::CreateVirtualTable { tbl_name, module_name, .. } => {
            Declaration::Virtual { name: reader.name(tbl_name.name.0), module: reader.name(module_name.0) }
        }
        Stmt::DropTable { tbl_name: name, .. } | Stmt::DropView { view_name: name, .. } => {
            Declaration::Drop(reader.name(name.name.0))
        }
        Stmt::AlterTable(name, _) => Declaration::Alter(reader.name(name.name.0)),
        _ => Declaration::Other,
    }
}

/// A query as text.
struct QueryText<'b>(&'b ast::Select<'b>);

impl fmt::Display for QueryText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_fmt(f)
    }
}

impl<'b> Reader<'b> {
    fn table_body(&mut self, ast: &'b CreateTableBody<'b>) -> Option<TableBody<'b>> {
        let CreateTableBody::ColumnsAndConstraints { columns, constraints, flags } = ast else {
            return None;
        };
        let bump = self.bump;
        let constraints = constraints.unwrap_or_default();
        Some(TableBody {
            columns: bump.alloc_slice_fill_iter(columns.iter().map(|column| self.definition(column))),
            constraints: bump.alloc_slice_fill_iter(
                constraints.iter().map(|constraint| self.table_constraint(&constraint.constraint)),
            ),
            without_rowid: flags.contains(TabFlags::WithoutRowid),
            strict: flags.contains(TabFlags::Strict),
        })
    }

    fn definition(&mut self, ast: &'b ast::ColumnDefinition<'b>) -> ColumnDefinition<'b> {
        let constraints =
            ast.constraints.iter().map(|constraint| self.column_constraint(&constraint.constraint));
        ColumnDefinition {
            name: self.name(ast.col_name.0),
            type_name: ast.col_type.as_ref().map(|name| self.type_name(name)),
            constraints: self.bump.alloc_slice_fill_iter(constraints),
        }
    }

    fn column_constraint(&self, ast: &'b ast::ColumnConstraint<'b>) -> ColumnConstraint<'b> {
        match ast {
            ast::ColumnConstraint::PrimaryKey { order, auto_increment, .. } => ColumnConstraint::PrimaryKey {
                descending: *order == Some(SortOrder::Desc),
                autoincrement: *auto_increment,
            },
            ast::ColumnConstraint::NotNull { nullable, .. } => ColumnConstraint::NotNull(!nullable),
            ast::ColumnConstraint::Unique(_) => ColumnConstraint::Unique,
            ast::ColumnConstraint::Check(expr) => ColumnConstraint::Check(expr),
            ast::ColumnConstraint::Default(expr) => ColumnConstraint::Default(expr),
            ast::ColumnConstraint::Defer(clause) => ColumnConstraint::Defer(is_deferred(clause)),
            ast::ColumnConstraint::Collate { collation_name } => {
                ColumnConstraint::Collate(self.name(collation_name.0))
            }
            ast::ColumnConstraint::ForeignKey { clause, defer_clause } => {
                ColumnConstraint::ForeignKey(self.reference(clause, defer_clause.as_ref()))
            }
            ast::ColumnConstraint::Generated { expr, .. } => ColumnConstraint::Generated(expr),
        }
    }

    fn table_constraint(&mut self, ast: &'b ast::TableConstraint<'b>) -> TableConstraint<'b> {
        match ast {
            ast::TableConstraint::PrimaryKey { columns, auto_increment, .. } => {
                TableConstraint::PrimaryKey { columns: self.terms(columns), autoincrement: *auto_increment }
            }
            ast::TableConstraint::Unique { columns, .. } => TableConstraint::Unique(self.terms(columns)),
            ast::TableConstraint::Check(expr, _) => TableConstraint::Check(expr),
            ast::TableConstraint::ForeignKey { columns, clause, defer_clause } => {
                TableConstraint::ForeignKey {
                    columns: self.column_names(columns),
                    reference: self.reference(clause, defer_clause.as_ref()),
                }
            }
        }
    }

    fn reference(
        &self,
        ast: &'b ast::ForeignKeyClause<'b>,
        defer: Option<&'b ast::DeferSubclause>,
    ) -> Reference<'b> {
        let mut reference = Reference {
            table: self.name(ast.tbl_name.0),
            columns: ast.columns.map_or(&[], |columns| self.column_names(columns)),
            on_delete: Action::default(),
            on_update: Action::default(),
            deferred: defer.is_some_and(is_deferred),
        };
        // Of an action that is given twice SQLite takes the last.
        for arg in ast.args {
            match arg {
                ast::RefArg::OnDelete(rule) => reference.on_delete = action(*rule),
                ast::RefArg::OnUpdate(rule) => reference.on_update = action(*rule),
                ast::RefArg::OnInsert(_) | ast::RefArg::Match(_) => {}
            }
        }
        reference
    }
}

fn action(ast: ast::RefAct) -> Action {
    match ast {
        ast::RefAct::SetNull => Action::SetNull,
        ast::RefAct::SetDefault => Action::SetDefault,
        ast::RefAct::Cascade => Action::Cascade,
        ast::RefAct::Restrict => Action::Restrict,
        ast::RefAct::NoAction => Action::NoAction,
    }
}

fn is_deferred(ast: &ast::DeferSubclause) -> bool {
    ast.deferrable && ast.init_deferred == Some(ast::InitDeferredPred::InitiallyDeferred)
}
