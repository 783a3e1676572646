//! Names in scope, and SQLite's rules for finding a column by its name (`lookupName` in its `resolve.c`).

use std::rc::Rc;

use sqlgauge_base::budget;

use crate::lex;
use crate::schema::{Schema, Table, TableId};
use crate::tree::{ColumnRef, Expr, JoinKind, Place, RelationId};

/// The columns of a relation, by name.
#[derive(Debug, Clone)]
pub(super) enum Columns {
    Table(TableId),
    Named(Rc<[ColumnName]>),
}

/// A column name of a subquery or CTE.
#[derive(Debug, Clone)]
pub(super) struct ColumnName {
    pub text: String,
    /// The name is the text of an expression; the spaces in it are not significant here.
    pub from_expression: bool,
}

impl ColumnName {
    pub(super) fn exact(text: impl Into<String>) -> Self {
        Self { text: text.into(), from_expression: false }
    }

    fn is(&self, name: &str) -> bool {
        if !self.from_expression {
            return self.text.eq_ignore_ascii_case(name);
        }
        significant(&self.text).eq(significant(name))
    }
}

/// What counts of a name that is the text of an expression.
fn significant(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&c| !lex::is_space(c)).map(|c| c.to_ascii_lowercase())
}

/// One relation of a FROM clause, as names see it.
#[derive(Debug, Clone)]
pub(super) struct ScopeRelation {
    pub id: RelationId,
    /// Alias, or the table's name without one; subqueries may have none.
    pub name: Option<String>,
    pub columns: Columns,
    /// A table or function that SQLite itself has; it has a rowid.
    pub is_builtin: bool,
    /// Columns joined by USING or NATURAL: the left operand's stand for them.
    pub using: Vec<String>,
    /// How it is joined to what stands left of it.
    pub kind: JoinKind,
}

impl ScopeRelation {
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.name.as_deref().is_some_and(|alias| alias.eq_ignore_ascii_case(name))
    }

    pub(super) fn column_index(&self, schema: &Schema, name: &str) -> Option<u32> {
        match &self.columns {
            Columns::Table(id) => {
                let table = schema.table(*id)?;
                budget::spend(table.columns.len());
                table.column_index(name)
            }
            Columns::Named(names) => {
                budget::spend(names.len());
                names.iter().position(|column| column.is(name)).and_then(|index| u32::try_from(index).ok())
            }
        }
    }

    /// Positions and names of the columns that `*` stands for.
    pub(crate) fn visible_columns(&self, schema: &Schema) -> Vec<(u32, String)> {
        let numbered = |names: Vec<(bool, String)>| {
            (0..).zip(names).filter(|(_, (hidden, _))| !hidden).map(|(i, (_, name))| (i, name)).collect()
        };
        match &self.columns {
            Columns::Table(id) => {
                let columns = schema.table(*id).map_or(&[][..], |table| &table.columns);
                budget::copy(columns.len());
                numbered(columns.iter().map(|c| (c.hidden, c.name.clone())).collect())
            }
            Columns::Named(names) => {
                budget::copy(names.len());
                numbered(names.iter().map(|n| (false, n.text.clone())).collect())
            }
        }
    }

    fn joined_by_using(&self, column: &str) -> bool {
        self.using.iter().any(|name| name.eq_ignore_ascii_case(column))
    }

    /// The rowid, for a table that has one.
    fn rowid(&self, schema: &Schema) -> Option<Place> {
        let Columns::Table(id) = self.columns else {
            return self.is_builtin.then_some(Place::Rowid);
        };
        let table = schema.table(id)?;
        has_rowid(table).then(|| table.rowid_alias().map_or(Place::Rowid, Place::At))
    }
}

fn has_rowid(table: &Table) -> bool {
    table.kind != crate::schema::TableKind::View && !table.without_rowid
}

/// A clause of a SELECT, as far as it matters for what may stand in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Clause {
    /// The results.
    #[default]
    Outputs,
    /// HAVING.
    Having,
    /// WHERE, ON, and the arguments of a function in FROM.
    Condition,
    /// ORDER BY.
    OrderBy,
    /// GROUP BY.
    GroupBy,
    /// A row of VALUES that has several.
    Values,
}

/// The names that one SELECT sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// How many queries the SELECT stands inside of, its own included.
    pub level: u32,
    /// The clause that is resolved at the moment.
    pub clause: Clause,
    /// GROUP BY, or an aggregate among the results.
    pub is_grouped: bool,
    /// An aggregate of this SELECT stands among its results, or in a subquery there.
    pub has_aggregate: bool,
    pub relations: Vec<ScopeRelation>,
    /// Select aliases with what they stand for; empty while the select list itself is resolved.
    pub aliases: Vec<(String, Expr)>,
}

/// What a name turned out to be in one scope.
pub(super) enum NameLookup {
    Nothing,
    /// One column, or a `coalesce` of the columns that a FULL JOIN … USING merges.
    Columns(Vec<ColumnRef>),
    Alias(Expr),
    Ambiguous,
}

impl Scope {
    /// Whether window functions may stand in the clause at hand.
    pub(crate) fn may_have_windows(&self) -> bool {
        matches!(self.clause, Clause::Outputs | Clause::OrderBy | Clause::Values)
    }

    /// Finds a column: real columns first, then `rowid`, then (unqualified names) select aliases.
    pub(super) fn find(&self, schema: &Schema, qualifier: Option<&str>, column: &str) -> NameLookup {
        match self.find_column(schema, qualifier, column) {
            NameLookup::Nothing => {}
            lookup => return lookup,
        }
        if let Some(rowid) = self.find_rowid(schema, qualifier, column) {
            return NameLookup::Columns(vec![rowid]);
        }
        budget::spend(self.aliases.len());
        let alias = || self.aliases.iter().find(|(name, _)| name.eq_ignore_ascii_case(column));
        match qualifier.is_none().then(alias).flatten() {
            Some((_, expr)) => NameLookup::Alias(expr.clone()),
            None => NameLookup::Nothing,
        }
    }

    /// Finds a real column, USING taken into account.
    pub(crate) fn find_column(&self, schema: &Schema, qualifier: Option<&str>, column: &str) -> NameLookup {
        let mut matches: Vec<ColumnRef> = Vec::new();
        let mut ambiguous = false;
        budget::spend(self.relations.len());
        for relation in &self.relations {
            if qualifier.is_some_and(|q| !relation.is_named(q)) {
                continue;
            }
            let Some(index) = relation.column_index(schema, column) else { continue };
            let reference = ColumnRef::at(relation.id, index);
            if matches.is_empty() {
                matches.push(reference);
            } else if !relation.joined_by_using(column) {
                ambiguous = true;
            } else {
                match relation.kind {
                    JoinKind::Inner | JoinKind::Cross | JoinKind::Left => {}
                    JoinKind::Right => matches = vec![reference],
                    JoinKind::Full => matches.push(reference),
                }
            }
        }
        match matches.is_empty() {
            _ if ambiguous => NameLookup::Ambiguous,
            true => NameLookup::Nothing,
            false => NameLookup::Columns(matches),
        }
    }

    fn find_rowid(&self, schema: &Schema, qualifier: Option<&str>, column: &str) -> Option<ColumnRef> {
        if !["rowid", "oid", "_rowid_"].iter().any(|name| column.eq_ignore_ascii_case(name)) {
            return None;
        }
        let named = self.relations.iter().filter(|r| qualifier.is_none_or(|q| r.is_named(q)));
        let mut candidates =
            named.filter_map(|r| r.rowid(schema).map(|column| ColumnRef { relation: r.id, column }));
        let only = candidates.next()?;
        candidates.next().is_none().then_some(only)
    }
}
