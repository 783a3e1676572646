//! FROM clauses: relations, joins, USING and NATURAL.

use std::collections::HashSet;

use sqlgauge_base::budget;

use super::scope::{ColumnName, Columns, NameLookup, Scope, ScopeRelation};
use super::select::merged_column;
use super::{ErrorKind, ResolveError, Resolver};
use crate::builtin::{builtin_columns, function_arguments};
use crate::canonical::conjunction;
use crate::parse::{MAX_RELATIONS, TOO_MANY_RELATIONS};
use crate::reach::Beyond;
use crate::schema::{Index, TableKind};
use crate::syntax::{self, FromClause, JoinConstraint, Name, TableExpr, TableName};
use crate::tree::{
    BinaryOperator, ColumnRef, Expr, From, IndexHint, Join, JoinKind, Relation, RelationId, RelationSource,
};

/// A FROM clause whose ON conditions and function arguments are still to be resolved: they see all relations.
pub(super) enum Skeleton<'a> {
    Relation(Relation, Option<&'a [syntax::Expr<'a>]>),
    Join {
        kind: JoinKind,
        left: Box<Self>,
        right: Box<Self>,
        on: Option<&'a syntax::Expr<'a>>,
        using: Vec<Expr>,
    },
}

impl Skeleton<'_> {
    fn relations(&self) -> HashSet<RelationId> {
        let mut ids = HashSet::new();
        let mut pending = vec![self];
        while let Some(part) = pending.pop() {
            match part {
                Self::Relation(relation, _) => {
                    ids.insert(relation.id);
                }
                Self::Join { left, right, .. } => pending.extend([left.as_ref(), right]),
            }
        }
        ids
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn lower_from(
        &mut self,
        ast: &'a FromClause<'a>,
        scope: &mut Scope,
    ) -> Result<Option<Skeleton<'a>>, ResolveError> {
        let Some(first) = ast.first else { return Ok(None) };
        let mut left = self.table(first, None, scope)?;
        let has_outer_right = has_outer_right(ast);
        for join in ast.joins {
            // The tree of the joins leans to the left, and is as deep as there are joins.
            if scope.relations.len() >= MAX_RELATIONS {
                return Err(ErrorKind::Unsupported(TOO_MANY_RELATIONS.to_owned()).into());
            }
            let (kind, natural) = (join.kind, join.natural);
            let start = scope.relations.len();
            let right = self.table(&join.table, None, scope)?;
            if let Some(joined) = scope.relations.get_mut(start) {
                joined.kind = kind;
            }
            let (on, names) = match &join.constraint {
                Some(_) if natural => {
                    let message = "a NATURAL join may not have an ON or USING clause".to_owned();
                    return Err(self.at_word(ErrorKind::Invalid(message), "NATURAL"));
                }
                Some(JoinConstraint::On(on)) => (Some(on), Vec::new()),
                Some(JoinConstraint::Using(names)) => (None, names.iter().map(Name::to_string).collect()),
                None if natural => (None, self.common_columns(scope, start)),
                None => (None, Vec::new()),
            };
            let using = names.iter().map(|name| self.using(scope, start, name, has_outer_right));
            let using = using.collect::<Result<_, _>>()?;
            left = Skeleton::Join { kind, left: Box::new(left), right: Box::new(right), on, using };
        }
        Ok(Some(left))
    }

    fn table(
        &mut self,
        ast: &'a TableExpr<'a>,
        outer_alias: Option<&str>,
        scope: &mut Scope,
    ) -> Result<Skeleton<'a>, ResolveError> {
        let alias_of =
            |alias: &Option<Name<'a>>| outer_alias.or(alias.map(|name| name.text)).map(str::to_owned);
        let mut hinted = None;
        let (source, columns, name, args) = match ast {
            TableExpr::Table { name, alias, hint } => {
                let (source, columns) = self.source(name)?;
                self.check_index(&source, *hint)?;
                hinted = hint.and_then(|hint| self.hint(&source, hint));
                (source, columns, alias_of(alias).or_else(|| Some(name.name.to_string())), None)
            }
            TableExpr::Call { name, args, alias } => {
                let function = name.name.text.to_ascii_lowercase();
                let columns = function_columns(&function)
                    .ok_or_else(|| ErrorKind::UnknownTable(name.name.to_string()))?;
                let most = function_arguments(&function);
                if args.is_some_and(|args| args.len() > most) && !self.lenient {
                    let message = format!("too many arguments on {function}() - max {most}");
                    return Err(self.at_word(ErrorKind::Invalid(message), &function));
                }
                let name = alias_of(alias).or_else(|| Some(function.clone()));
                (RelationSource::Function { name: function, args: Vec::new() }, columns, name, *args)
            }
            TableExpr::Query(select, alias) => {
                let named = self.named_query(select, None)?;
                let columns = Columns::Named(named.names.into());
                (RelationSource::Derived(Box::new(named.query)), columns, alias_of(alias), None)
            }
            TableExpr::Parenthesised(from, alias) => return self.parenthesised(from, alias_of(alias), scope),
        };
        let id = self.new_relation();
        if let Some(alias) = outer_alias.or_else(|| ast.alias()) {
            self.aliases.insert(id, alias.to_owned());
        }
        let is_builtin = matches!(source, RelationSource::Catalog | RelationSource::Function { .. });
        let kind = JoinKind::Inner;
        scope.relations.push(ScopeRelation { id, name, columns, is_builtin, using: Vec::new(), kind });
        Ok(Skeleton::Relation(Relation { id, source, hint: hinted }, args))
    }

    /// `INDEXED BY` names an index of the table. A schema that knows of no index at all may come from a format that
    /// has none.
    fn check_index(
        &self,
        source: &RelationSource,
        hint: Option<syntax::IndexHint<'a>>,
    ) -> Result<(), ResolveError> {
        let Some(syntax::IndexHint::By(name)) = hint else { return Ok(()) };
        let name = name.text;
        let of_constraint = name.to_ascii_lowercase().starts_with("sqlite_autoindex_");
        let knows_none = self.schema.tables().iter().all(|table| table.indexes.is_empty());
        let table = match source {
            RelationSource::Table(id) => self.schema.table(*id),
            _ => None,
        };
        let is_named = |index: &Index| {
            index.name.as_ref().is_some_and(|index_name| index_name.eq_ignore_ascii_case(name))
        };
        let has_it = table.is_some_and(|table| table.indexes.iter().any(is_named));
        if self.lenient || has_it || of_constraint || knows_none {
            return Ok(());
        }
        Err(self.at_word(ErrorKind::Invalid(format!("no such index: {name}")), name))
    }

    /// What a hint says; of what has no indexes it says nothing.
    fn hint(&self, source: &RelationSource, hint: syntax::IndexHint<'a>) -> Option<IndexHint> {
        let RelationSource::Table(id) = source else { return None };
        let is_table = self.schema.table(*id).is_some_and(|table| table.kind == TableKind::Table);
        is_table.then(|| match hint {
            syntax::IndexHint::By(name) => IndexHint::By(name.text.to_ascii_lowercase()),
            syntax::IndexHint::None => IndexHint::None,
        })
    }

    fn parenthesised(
        &mut self,
        ast: &'a FromClause<'a>,
        alias: Option<String>,
        scope: &mut Scope,
    ) -> Result<Skeleton<'a>, ResolveError> {
        match (ast.first, ast.joins, alias) {
            (Some(only), [], alias) => self.nested(|this| this.table(only, alias.as_deref(), scope)),
            (_, _, None) => self
                .nested(|this| this.lower_from(ast, scope))?
                .ok_or_else(|| ErrorKind::Syntax("empty parentheses in FROM".to_owned()).into()),
            (_, _, Some(_)) => {
                Err(ErrorKind::Unsupported("an alias for a parenthesised join".to_owned()).into())
            }
        }
    }

    /// A table by its name: a CTE, a table of the schema, or SQLite's own catalog.
    pub(super) fn source(&mut self, name: &TableName<'a>) -> Result<(RelationSource, Columns), ResolveError> {
        let table = name.name.to_string();
        let database = name.database.map(|database| database.to_string());
        if database.is_none()
            && let Some((id, columns)) = self.cte(&table)?
        {
            return Ok((RelationSource::Cte(id), columns));
        }
        if database.as_deref().is_none_or(|database| database.eq_ignore_ascii_case("main")) {
            if let Some(id) = self.schema.table_id(&table) {
                return Ok((RelationSource::Table(id), Columns::Table(id)));
            }
            let name = table.to_ascii_lowercase();
            if let Some(columns) = function_columns(&name) {
                // A table-valued function may be named without parentheses.
                let is_catalog = name == "sqlite_master" || name == "sqlite_schema";
                let function = RelationSource::Function { name, args: Vec::new() };
                return Ok((if is_catalog { RelationSource::Catalog } else { function }, columns));
            }
        }
        let full = database.map_or_else(|| table.clone(), |database| format!("{database}.{table}"));
        Err(ErrorKind::UnknownTable(full).into())
    }

    /// The columns that a NATURAL join merges, in the order of the right operand.
    fn common_columns(&self, scope: &Scope, start: usize) -> Vec<String> {
        let (left, right) = scope.relations.split_at(start);
        let columns = right.iter().flat_map(|relation| relation.visible_columns(self.schema));
        columns
            .map(|(_, name)| name)
            .filter(|name| left.iter().any(|relation| relation.column_index(self.schema, name).is_some()))
            .collect()
    }

    /// The equality that `USING (name)` stands for; marks the right column as merged. Only without RIGHT and FULL
    /// joins, be they further right, may several tables on the left have the column.
    fn using(
        &self,
        scope: &mut Scope,
        start: usize,
        name: &str,
        has_outer_right: bool,
    ) -> Result<Expr, ResolveError> {
        let missing = || {
            let message = format!("cannot join using column {name} - column not present in both tables");
            self.at_word(ErrorKind::Invalid(message), name)
        };
        let (left, right) = scope.relations.split_at_mut(start);
        budget::copy(left.len());
        let left = Scope { relations: left.to_vec(), ..Scope::default() };
        let left_columns = match left.find_column(self.schema, None, name) {
            NameLookup::Columns(columns) => columns,
            NameLookup::Ambiguous if !has_outer_right => first_column(&left, self.schema, name),
            NameLookup::Ambiguous => {
                let message = format!("ambiguous reference to {name} in USING()");
                return Err(self.at_word(ErrorKind::Invalid(message), name));
            }
            NameLookup::Nothing | NameLookup::Alias(_) => return Err(missing()),
        };
        let right_column = right.iter_mut().find_map(|relation| {
            let column = relation.column_index(self.schema, name)?;
            relation.using.push(name.to_owned());
            Some(ColumnRef::at(relation.id, column))
        });
        let right = Expr::Column(right_column.ok_or_else(missing)?);
        Ok(Expr::Binary(BinaryOperator::Equal, Box::new(merged_column(&left_columns)), Box::new(right)))
    }

    /// Resolves the ON conditions and function arguments that were left over.
    pub(super) fn finish_from(&mut self, skeleton: Skeleton<'a>) -> Result<From, ResolveError> {
        let from = self.conditions(skeleton)?;
        let message = match crate::reach::beyond(&from) {
            Some(Beyond::On) if !self.lenient => "ON clause references tables to its right",
            Some(Beyond::Argument) if !self.lenient => {
                "table-function argument references tables to its right"
            }
            _ => return Ok(from),
        };
        Err(self.at_word(ErrorKind::Invalid(message.to_owned()), "ON"))
    }

    /// What stands in parentheses right of a join sees nothing outside of them.
    fn parentheses(&mut self, skeleton: Skeleton<'a>) -> Result<From, ResolveError> {
        let Skeleton::Join { .. } = skeleton else { return self.conditions(skeleton) };
        let inside = skeleton.relations();
        let whole = self.scopes.last_mut().map(|scope| {
            let relations = scope.relations.iter().filter(|relation| inside.contains(&relation.id)).cloned();
            let relations = relations.collect();
            std::mem::replace(&mut scope.relations, relations)
        });
        budget::copy(inside.len());
        let from = self.conditions(skeleton);
        if let (Some(scope), Some(whole)) = (self.scopes.last_mut(), whole) {
            scope.relations = whole;
        }
        from
    }

    fn conditions(&mut self, skeleton: Skeleton<'a>) -> Result<From, ResolveError> {
        match skeleton {
            Skeleton::Relation(mut relation, ast) => {
                if let (RelationSource::Function { args, .. }, Some(ast)) = (&mut relation.source, ast) {
                    *args = ast.iter().map(|arg| self.single_expr(arg)).collect::<Result<_, _>>()?;
                }
                Ok(From::Relation(relation))
            }
            Skeleton::Join { kind, left, right, on, using } => self.nested(|this| {
                let left = this.conditions(*left)?;
                let right = this.parentheses(*right)?;
                let mut conditions = using;
                if let Some(on) = on {
                    conditions.push(this.single_expr(on)?);
                }
                Ok(From::Join(Box::new(Join { kind, left, right, on: conjunction(conditions) })))
            }),
        }
    }
}

/// Whether there is a RIGHT or FULL join; parentheses around the first tables are none.
fn has_outer_right(ast: &FromClause<'_>) -> bool {
    let is_outer_right = |kind: JoinKind| matches!(kind, JoinKind::Right | JoinKind::Full);
    ast.joins.iter().any(|join| is_outer_right(join.kind))
        || matches!(ast.first, Some(TableExpr::Parenthesised(first, None)) if has_outer_right(first))
}

/// Without RIGHT or FULL joins, USING takes the leftmost column of that name.
fn first_column(scope: &Scope, schema: &crate::schema::Schema, name: &str) -> Vec<ColumnRef> {
    let first = scope
        .relations
        .iter()
        .find_map(|relation| Some(ColumnRef::at(relation.id, relation.column_index(schema, name)?)));
    first.into_iter().collect()
}

/// The columns of SQLite's built-in table-valued functions and of its catalog.
fn function_columns(function: &str) -> Option<Columns> {
    let names = builtin_columns(function)?;
    Some(Columns::Named(names.iter().map(|&name| ColumnName::exact(name)).collect()))
}
