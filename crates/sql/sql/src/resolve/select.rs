//! SELECT and VALUES: result columns, clauses, and the names that others see of them.

use std::collections::{HashMap, HashSet};

use sqlgauge_base::budget;

use super::expr::text_of;
use super::scope::{Clause, ColumnName, Columns, NameLookup, Scope, ScopeRelation};
use super::{ErrorKind, ResolveError, Resolver, limits};
use crate::functions::Function;
use crate::syntax::{self, Core, ExprKind, Operand, ResultColumn, SortTerm};
use crate::tree::{Args, Body, ColumnRef, Expr, JoinKind, Literal, OrderTerm, Output, Select};

/// A resolved SELECT or VALUES with what the query around it needs.
pub(super) struct Arm {
    pub body: Body,
    pub order_by: Vec<OrderTerm>,
    pub names: Vec<ColumnName>,
    /// What its names saw, for the ORDER BY of a compound.
    pub scope: Scope,
}

impl<'a> Resolver<'a> {
    pub(super) fn one_select(
        &mut self,
        ast: &'a Operand<'a>,
        order_by: &'a [SortTerm<'a>],
    ) -> Result<Arm, ResolveError> {
        match ast {
            Operand::Select(ast) => {
                self.windows.push(ast.windows);
                let arm = self.select(ast, order_by);
                self.windows.pop();
                arm
            }
            Operand::Values(rows) => self.values(rows, order_by),
        }
    }

    fn values(
        &mut self,
        ast: &'a [&'a [syntax::Expr<'a>]],
        order_by: &'a [SortTerm<'a>],
    ) -> Result<Arm, ResolveError> {
        let width = ast.first().map_or(0, |row| row.len());
        limits::columns(width)?;
        if ast.iter().any(|row| row.len() != width) {
            let message = "all VALUES must have the same number of terms".to_owned();
            return Err(self.at_word(ErrorKind::Invalid(message), "VALUES"));
        }
        let clause = if ast.len() == 1 { Clause::Outputs } else { Clause::Values };
        self.scopes.push(Scope { level: self.level, clause, ..Scope::default() });
        let mut rows = Vec::with_capacity(ast.len());
        for row in ast {
            rows.push(row.iter().map(|expr| self.single_expr(expr)).collect::<Result<Vec<_>, _>>()?);
        }
        self.scopes.pop();
        let names = (1..=width).map(|n| ColumnName::exact(format!("column{n}"))).collect();
        let order_by = self.compound_order(order_by, &[], width)?;
        Ok(Arm { body: Body::Values(rows), order_by, names, scope: Scope::default() })
    }

    fn select(&mut self, ast: &'a Core<'a>, order_by: &'a [SortTerm<'a>]) -> Result<Arm, ResolveError> {
        let mut scope = Scope { level: self.level, ..Scope::default() };
        let skeleton = match &ast.from {
            Some(from) => self.lower_from(from, &mut scope)?,
            None => None,
        };
        self.scopes.push(scope);
        let (outputs, names) = self.outputs(ast.outputs)?;
        let aliases = outputs.iter().filter_map(|o| Some((o.alias.clone()?, o.expr.clone()))).collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.aliases = aliases;
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.is_grouped = scope.has_aggregate || ast.group_by.is_some();
            if ast.having.is_some() && !scope.is_grouped && !self.lenient {
                return Err(ErrorKind::HavingWithoutGroups.into());
            }
        }
        self.enter(Clause::Having);
        let having = ast.having.as_ref().map(|expr| self.single_expr(expr)).transpose()?;
        self.enter(Clause::Condition);
        let filter = ast.filter.as_ref().map(|expr| self.single_expr(expr)).transpose()?;
        let from = skeleton.map(|skeleton| self.finish_from(skeleton)).transpose()?;
        self.enter(Clause::OrderBy);
        let order_by = self.simple_order(order_by, &outputs)?;
        self.enter(Clause::GroupBy);
        let group_by = self.group_by(ast.group_by.unwrap_or_default(), &outputs)?;
        self.enter(Clause::OrderBy);
        let scope = self.scopes.pop().unwrap_or_default();
        if ast.distinct {
            self.check_keys(outputs.iter().map(|output| &output.expr))?;
        }
        let select = Select { distinct: ast.distinct, from, filter, group_by, having, outputs };
        Ok(Arm { body: Body::Select(Box::new(select)), order_by, names, scope })
    }

    fn outputs(
        &mut self,
        columns: &'a [ResultColumn<'a>],
    ) -> Result<(Vec<Output>, Vec<ColumnName>), ResolveError> {
        limits::columns(columns.len())?;
        let mut outputs = Vec::with_capacity(columns.len());
        let mut names: Vec<ColumnName> = Vec::with_capacity(columns.len());
        for column in columns {
            match column {
                ResultColumn::Star => self.star(None, &mut outputs, &mut names)?,
                ResultColumn::TableStar(table) => {
                    self.star(Some(table.text), &mut outputs, &mut names)?;
                }
                ResultColumn::Expr(ast, alias) => {
                    let alias = alias.map(|name| name.to_string());
                    let outside = self.is_uncomputed;
                    self.is_uncomputed |= self.uncomputed_level == Some(self.level);
                    let expr = self.single_expr(ast);
                    self.is_uncomputed = outside;
                    let expr = expr?;
                    names.push(self.output_name(ast, &expr, alias.as_deref()));
                    // Whatever else reads it would compute it, which is refused: so it has no name.
                    let is_misused = !outside && std::mem::take(&mut self.misuses_aggregate);
                    outputs.push(if is_misused {
                        Output::of(Expr::Literal(Literal::Null))
                    } else {
                        Output { expr, alias }
                    });
                }
            }
        }
        make_unique(&mut names);
        Ok((outputs, names))
    }

    /// Expands `*` or `table.*`; columns that USING or NATURAL merges appear once in `*`.
    fn star(
        &mut self,
        table: Option<&str>,
        outputs: &mut Vec<Output>,
        names: &mut Vec<ColumnName>,
    ) -> Result<(), ResolveError> {
        let scope = self.scopes.last().cloned().unwrap_or_default();
        if scope.relations.is_empty() && table.is_none() {
            return Err(self.at_word(ErrorKind::Invalid("no tables specified".to_owned()), "SELECT"));
        }
        let mut matched = false;
        for (place, relation) in scope.relations.iter().enumerate() {
            if table.is_some_and(|table| !relation.is_named(table)) {
                continue;
            }
            matched = true;
            for (column, name) in relation.visible_columns(self.schema) {
                budget::spend(scope.relations.len());
                let merged =
                    |other: &ScopeRelation| other.using.iter().any(|u| u.eq_ignore_ascii_case(&name));
                if table.is_none() && merged(relation) {
                    continue;
                }
                let outer_merge = table.is_none()
                    && scope.relations[place + 1..]
                        .iter()
                        .any(|r| matches!(r.kind, JoinKind::Right | JoinKind::Full) && merged(r));
                let expr = match outer_merge.then(|| scope.find_column(self.schema, None, &name)) {
                    Some(NameLookup::Columns(columns)) => merged_column(&columns),
                    _ => Expr::Column(ColumnRef::at(relation.id, column)),
                };
                outputs.push(Output::of(expr));
                names.push(ColumnName::exact(name));
            }
            limits::columns(outputs.len())?;
        }
        match table {
            Some(table) if !matched => Err(ErrorKind::UnknownTable(table.to_owned()).into()),
            _ => Ok(()),
        }
    }

    /// The name by which a query around sees a result column: its alias, else the column's own name, else the
    /// text of the expression.
    fn output_name(&self, ast: &'a syntax::Expr<'a>, expr: &Expr, alias: Option<&str>) -> ColumnName {
        if let Some(alias) = alias {
            return ColumnName::exact(alias);
        }
        match expr {
            Expr::Column(column) if is_column_syntax(ast) => {
                self.column_name(*column).unwrap_or_else(|| ColumnName::exact("rowid"))
            }
            _ => ColumnName { text: text_of(ast), from_expression: true },
        }
    }

    fn column_name(&self, column: ColumnRef) -> Option<ColumnName> {
        let relation =
            self.scopes.iter().rev().flat_map(|scope| &scope.relations).find(|r| r.id == column.relation)?;
        match &relation.columns {
            Columns::Table(id) => {
                self.schema.table(*id)?.at(column.column).map(|c| ColumnName::exact(c.name.clone()))
            }
            Columns::Named(names) => names.get(column.column.position()? as usize).cloned(),
        }
    }
}

fn is_column_syntax(ast: &syntax::Expr<'_>) -> bool {
    match ast.kind {
        ExprKind::Column(_) | ExprKind::Qualified(..) | ExprKind::DoublyQualified(..) => true,
        ExprKind::Parenthesised(inner) => matches!(inner, [only] if is_column_syntax(only)),
        _ => false,
    }
}

/// The value of a column that a join merges: itself, or for a FULL JOIN the first that is not NULL.
pub(super) fn merged_column(columns: &[ColumnRef]) -> Expr {
    match columns {
        [only] => Expr::Column(*only),
        several => Expr::Function {
            function: Function::Merged,
            args: Args::List(several.iter().copied().map(Expr::Column).collect()),
        },
    }
}

/// The second column of one name is out of reach by that name, as in SQLite.
fn make_unique(names: &mut [ColumnName]) {
    let mut in_use = HashSet::with_capacity(names.len());
    // How many copies of a name there are, so that the next one need not try them all.
    let mut copies: HashMap<String, usize> = HashMap::new();
    for name in names {
        let base = name.text.to_ascii_lowercase();
        if in_use.insert(base.clone()) {
            continue;
        }
        let copy = copies.entry(base.clone()).or_insert(0);
        loop {
            *copy += 1;
            if in_use.insert(format!("{base}:{copy}")) {
                break;
            }
        }
        name.text = format!("{}:{copy}", name.text);
    }
}
