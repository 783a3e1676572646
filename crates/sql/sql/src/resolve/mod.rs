//! Lowers the [syntax](crate::syntax) of a text into the resolved query: every name is looked up by SQLite's rules.
//!
//! Names are resolved in the order in which SQLite does it (FROM subqueries, result columns, HAVING, WHERE and
//! ON, ORDER BY, GROUP BY), and missing tables are reported before missing columns, so that a text with several
//! faults is refused for the one that SQLite names.
//!
//! A text that takes more steps than [`budget::RESOLVE`] is [`ErrorKind::TooComplex`]; how many columns, terms and
//! operands a query may have is as in SQLite ([`limits`]).

mod check;
mod expr;
mod from;
mod limits;
mod order;
mod scope;
mod select;
mod window;

use std::collections::HashMap;
use std::rc::Rc;

use sqlgauge_base::budget;

use self::scope::{ColumnName, Columns, Scope};
use crate::derive::Facts;
use crate::error::{ErrorKind, ResolveError};
use crate::locate::locate;
use crate::parse::{Arena, parse_query};
use crate::schema::{Affinity, Schema};
use crate::syntax::{self, CommonTable, NamedWindow};
use crate::tree::{Body, Cte, CteId, Expr, Query, RelationId, SetOperator};

/// How deep expressions and subqueries may nest; SQLite's own limit on expressions is the same.
pub const MAX_DEPTH: usize = 1000;

/// Steps of the budget for a node of the syntax.
const STEPS_OF_A_NODE: usize = 4;

/// Parses a text with one query and resolves every name in it against the schema.
///
/// # Errors
/// An [`ResolveError`] that says what is wrong and, where it can be told, at which place: the text is empty, holds
/// several statements or no query, is not SQL, names a table or column that does not exist or that is
/// ambiguous, breaks another rule of SQLite, uses a construct that the tree cannot express, or takes too many steps.
pub fn resolve(text: &str, schema: &Schema) -> Result<Query, ResolveError> {
    resolve_with_aliases(text, schema).map(|(query, _)| query)
}

/// The aliases that a text gives to its relations: what [`print_as_written`](crate::print_as_written) keeps.
pub type Aliases = HashMap<RelationId, String>;

/// As [`resolve`], with the aliases that the text gives to relations.
///
/// # Errors
/// Those of [`resolve`].
pub fn resolve_with_aliases(text: &str, schema: &Schema) -> Result<(Query, Aliases), ResolveError> {
    bounded(|| resolve_all(text, schema))
}

/// What comes of it, or that it takes too many steps.
pub(crate) fn bounded<T>(analysis: impl FnOnce() -> Result<T, ResolveError>) -> Result<T, ResolveError> {
    budget::within(budget::RESOLVE, analysis)
        .unwrap_or_else(|too_complex| Err(ErrorKind::TooComplex(too_complex).into()))
}

fn resolve_all(text: &str, schema: &Schema) -> Result<(Query, Aliases), ResolveError> {
    let arena = Arena::default();
    let parsed = parse_query(&arena, text)?;
    let ast = parsed.query;
    let mut resolver = Resolver::new(schema, text, false);
    let error = match resolver.query(ast, None) {
        // SQLite compiles the first statement before it looks at what follows.
        Ok(_) if parsed.followed => return Err(ErrorKind::MultipleStatements.into()),
        Ok(query) => return Ok((query, resolver.aliases)),
        Err(error) => error,
    };
    let error = first_table_error(ast, schema, error);
    let position = error.kind().word().and_then(|word| locate(text, word));
    Err(error.at(position))
}

/// The columns that the query of a view has: their names, and the types that SQLite declares for them.
pub(crate) fn view_columns(
    text: &str,
    schema: &Schema,
) -> Result<Vec<(String, Option<String>)>, ResolveError> {
    let arena = Arena::default();
    let parsed = parse_query(&arena, text)?;
    let named = Resolver::new(schema, text, false).named_query(parsed.query, None)?;
    let facts = Facts::of(&named.query, schema);
    let outputs = named.query.outputs().unwrap_or_default();
    let types = named.names.iter().enumerate().map(|(place, _)| {
        let declared = outputs.get(place).and_then(|output| declared_type(&output.expr, &facts, schema));
        let affinity = facts.result_affinity(&named.query, place);
        match declared {
            Some(declared) if affinity == Some(Affinity::of_declared_type(Some(&declared))) => Some(declared),
            _ => affinity.map(|affinity| standard_type(affinity).to_owned()),
        }
    });
    let types: Vec<Option<String>> = types.collect();
    Ok(named.names.into_iter().map(|name| name.text).zip(types).collect())
}

/// The type of the table column that an expression is.
fn declared_type(expr: &Expr, facts: &Facts<'_>, schema: &Schema) -> Option<String> {
    let Expr::Column(column) = expr else { return None };
    let table = schema.table(facts.table_of(column.relation)?)?;
    table.at(column.column)?.declared_type.clone()
}

/// The type by which SQLite names an affinity.
fn standard_type(affinity: Affinity) -> &'static str {
    match affinity {
        Affinity::Blob => "BLOB",
        Affinity::Integer => "INT",
        Affinity::Real => "REAL",
        Affinity::Text => "TEXT",
        Affinity::Numeric => "NUM",
    }
}

/// SQLite looks up all tables of a statement before any column; so a missing table wins over `error`.
fn first_table_error<'a>(
    ast: &'a syntax::Select<'a>,
    schema: &'a Schema,
    error: ResolveError,
) -> ResolveError {
    if matches!(error.kind(), ErrorKind::UnknownTable(_)) {
        return error;
    }
    match Resolver::new(schema, "", true).query(ast, None) {
        Err(other) if matches!(other.kind(), ErrorKind::UnknownTable(_)) => other,
        _ => error,
    }
}

struct Resolver<'a> {
    schema: &'a Schema,
    /// The text, to find the place of an error in it.
    text: &'a str,
    /// Unknown columns pass: used to look for missing tables behind a missing column.
    lenient: bool,
    /// What names see, outermost first.
    scopes: Vec<Scope>,
    /// The WITH clauses around, outermost first.
    frames: Vec<Frame<'a>>,
    /// The WINDOW clauses of the SELECTs around, outermost first.
    windows: Vec<&'a [NamedWindow<'a>]>,
    /// The CTEs whose definitions the walk is inside of, outermost first.
    resolving: Vec<DefinitionIndex>,
    next_relation: u32,
    /// The aliases of the relations so far, where the text gives one.
    aliases: Aliases,
    next_cte: u32,
    depth: usize,
    /// The operands of the chains of AND and OR that the walk is inside of: the parser's tree is deeper by so much.
    chained: usize,
    /// How many queries the walk is inside of.
    level: u32,
    /// The level of a SELECT of which EXISTS asks whether it has rows: SQLite computes none of its results.
    uncomputed_level: Option<u32>,
    /// Whether the walk is inside such a result.
    is_uncomputed: bool,
    /// Whether there is an aggregate in it of a query whose clause at hand has none, which SQLite finds when it computes it.
    misuses_aggregate: bool,
}

/// One WITH clause. Its CTEs are resolved when they are first used, as SQLite does: an unused one may hold
/// anything.
struct Frame<'a> {
    definitions: Vec<Definition<'a>>,
    /// How many scopes were open where the WITH clause stands.
    scope_depth: usize,
    window_depth: usize,
    /// How many queries the WITH clause stands inside of, its own included.
    level: u32,
    /// The resolved CTEs in the order in which they were completed.
    done: Vec<Cte>,
}

struct Definition<'a> {
    name: String,
    ast: &'a CommonTable<'a>,
    state: DefinitionState,
}

#[derive(Clone)]
enum DefinitionState {
    Unresolved,
    /// Its columns are known once its first SELECT is resolved; a reference before that is circular.
    Resolving(CteId, Option<Rc<[ColumnName]>>),
    Resolved(CteId, Rc<[ColumnName]>),
}

/// Position of a CTE: WITH clause and place in it.
type DefinitionIndex = (usize, usize);

/// A query with what those who read from it see.
struct NamedQuery {
    query: Query,
    names: Vec<ColumnName>,
}

impl<'a> Resolver<'a> {
    fn new(schema: &'a Schema, text: &'a str, lenient: bool) -> Self {
        Self {
            schema,
            text,
            lenient,
            scopes: Vec::new(),
            frames: Vec::new(),
            windows: Vec::new(),
            resolving: Vec::new(),
            next_relation: 0,
            aliases: Aliases::new(),
            next_cte: 0,
            depth: 0,
            chained: 0,
            level: 0,
            uncomputed_level: None,
            is_uncomputed: false,
            misuses_aggregate: false,
        }
    }

    fn new_relation(&mut self) -> RelationId {
        self.next_relation += 1;
        RelationId(self.next_relation - 1)
    }

    /// Runs `step` one level deeper, on a stack that is large enough for it.
    fn nested<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T, ResolveError>,
    ) -> Result<T, ResolveError> {
        if self.depth >= MAX_DEPTH {
            return Err(ErrorKind::Unsupported(format!("nesting deeper than {MAX_DEPTH} levels")).into());
        }
        budget::spend(STEPS_OF_A_NODE);
        self.depth += 1;
        let result = stacker::maybe_grow(1 << 20, 4 << 20, || step(self));
        self.depth -= 1;
        result
    }

    fn query(
        &mut self,
        ast: &'a syntax::Select<'a>,
        defines: Option<DefinitionIndex>,
    ) -> Result<Query, ResolveError> {
        self.named_query(ast, defines).map(|named| named.query)
    }

    fn named_query(
        &mut self,
        ast: &'a syntax::Select<'a>,
        defines: Option<DefinitionIndex>,
    ) -> Result<NamedQuery, ResolveError> {
        self.level += 1;
        let named = self.nested(|this| {
            let with = ast.with;
            if let Some(with) = with {
                this.open_frame(with)?;
            }
            let mut named = this.query_body(ast, defines)?;
            if with.is_some()
                && let Some(frame) = this.frames.pop()
            {
                named.query.ctes = frame.done;
            }
            Ok(named)
        });
        self.level -= 1;
        named
    }

    fn open_frame(&mut self, ctes: &'a [CommonTable<'a>]) -> Result<(), ResolveError> {
        let mut definitions: Vec<Definition<'a>> = Vec::with_capacity(ctes.len());
        for ast in ctes {
            let name = ast.name.to_string();
            budget::spend(definitions.len());
            if definitions.iter().any(|other| other.name.eq_ignore_ascii_case(&name)) {
                let message = format!("duplicate WITH table name: {name}");
                return Err(self.at_word(ErrorKind::Invalid(message), &name));
            }
            definitions.push(Definition { name, ast, state: DefinitionState::Unresolved });
        }
        self.frames.push(Frame {
            definitions,
            scope_depth: self.scopes.len(),
            window_depth: self.windows.len(),
            level: self.level,
            done: Vec::new(),
        });
        Ok(())
    }

    fn query_body(
        &mut self,
        ast: &'a syntax::Select<'a>,
        defines: Option<DefinitionIndex>,
    ) -> Result<NamedQuery, ResolveError> {
        let order_by = ast.order_by.unwrap_or_default();
        let arms = ast.rest;
        let own_order = if arms.is_empty() { order_by } else { &[] };
        limits::operands(1 + arms.len())?;
        // SQLite resolves a compound from right to left; a CTE may refer to itself, so its columns come first.
        let mut right = Vec::with_capacity(arms.len());
        if defines.is_none() {
            for arm in arms.iter().rev() {
                right.push((arm, self.one_select(&arm.operand, &[])?));
            }
            right.reverse();
        }
        let first = self.one_select(&ast.first, own_order)?;
        self.publish_columns(defines, &first.names)?;
        if defines.is_some() {
            for arm in arms {
                right.push((arm, self.one_select(&arm.operand, &[])?));
            }
        }

        let mut order = first.order_by;
        let mut body = first.body;
        if !right.is_empty() {
            let mut scopes = vec![(arm_outputs(&body), first.scope)];
            for (written, arm) in right {
                scopes.push((arm_outputs(&arm.body), arm.scope));
                body = compound(written, body, arm.body)?;
            }
            order = self.compound_order(order_by, &scopes, body.width())?;
            self.check_compound(&body, !order.is_empty())?;
        }
        let (limit, offset) = self.limit(ast.limit.as_ref())?;
        let query = Query { ctes: Vec::new(), body, order_by: order, limit, offset };
        Ok(NamedQuery { query, names: first.names })
    }

    /// LIMIT and OFFSET see no names at all.
    fn limit(
        &mut self,
        ast: Option<&'a syntax::Limit<'a>>,
    ) -> Result<(Option<Expr>, Option<Expr>), ResolveError> {
        let Some(ast) = ast else { return Ok((None, None)) };
        let scopes = std::mem::take(&mut self.scopes);
        let limit = self.single_expr(&ast.limit);
        let offset = ast.offset.as_ref().map(|offset| self.single_expr(offset)).transpose();
        self.scopes = scopes;
        Ok((Some(limit?), offset?))
    }

    /// Finds the CTE of that name in the WITH clauses around and resolves it if this is its first use.
    fn cte(&mut self, name: &str) -> Result<Option<(CteId, Columns)>, ResolveError> {
        let index = self.frames.iter().enumerate().rev().find_map(|(frame, clause)| {
            budget::spend(clause.definitions.len());
            let place = clause.definitions.iter().position(|d| d.name.eq_ignore_ascii_case(name))?;
            Some((frame, place))
        });
        let Some(index) = index else { return Ok(None) };
        if let DefinitionState::Unresolved = self.definition(index).state {
            self.resolve_cte(index)?;
        }
        let is_own = self.resolving.last() == Some(&index);
        match self.definition(index).state.clone() {
            DefinitionState::Resolved(id, columns) => Ok(Some((id, Columns::Named(columns)))),
            DefinitionState::Resolving(id, Some(columns)) if is_own => {
                Ok(Some((id, Columns::Named(columns))))
            }
            DefinitionState::Resolving(..) | DefinitionState::Unresolved => {
                Err(ErrorKind::Recursion(format!("circular reference: {name}")).into())
            }
        }
    }

    /// The error, at the first place that has the word.
    fn at_word(&self, kind: ErrorKind, word: &str) -> ResolveError {
        ResolveError::new(kind).at(locate(self.text, word))
    }

    fn definition(&mut self, (frame, place): DefinitionIndex) -> &mut Definition<'a> {
        &mut self.frames[frame].definitions[place]
    }

    /// Resolves a CTE in the surroundings of its WITH clause, not in those of the reference.
    fn resolve_cte(&mut self, index: DefinitionIndex) -> Result<(), ResolveError> {
        let id = CteId(self.next_cte);
        self.next_cte += 1;
        let (scope_depth, window_depth, frame_level) = {
            let frame = &self.frames[index.0];
            (frame.scope_depth, frame.window_depth, frame.level)
        };
        let level = std::mem::replace(&mut self.level, frame_level);
        let inner_frames = self.frames.split_off(index.0 + 1);
        let inner_scopes = self.scopes.split_off(scope_depth);
        let inner_windows = self.windows.split_off(window_depth);
        let computed = (self.uncomputed_level.take(), std::mem::take(&mut self.is_uncomputed));
        self.definition(index).state = DefinitionState::Resolving(id, None);
        let ast = self.definition(index).ast;
        self.resolving.push(index);
        let named = self.named_query(ast.query, Some(index));
        self.resolving.pop();
        (self.uncomputed_level, self.is_uncomputed) = computed;
        self.level = level;
        self.frames.truncate(index.0 + 1);
        self.frames.extend(inner_frames);
        self.scopes.truncate(scope_depth);
        self.scopes.extend(inner_scopes);
        self.windows.truncate(window_depth);
        self.windows.extend(inner_windows);

        let query = named?.query;
        let definition = self.definition(index);
        let DefinitionState::Resolving(_, Some(columns)) = definition.state.clone() else {
            return Err(ErrorKind::Recursion(format!("circular reference: {}", definition.name)).into());
        };
        definition.state = DefinitionState::Resolved(id, Rc::clone(&columns));
        let name = definition.name.clone();
        let columns = columns.iter().map(|column| column.text.clone()).collect();
        let cte = Cte { id, name, columns, materialized: ast.materialized, query };
        if !self.lenient {
            check::check_recursion(&cte)?;
        }
        self.frames[index.0].done.push(cte);
        Ok(())
    }

    /// Makes the columns of a CTE known, after its first SELECT, so that the rest of it may refer to itself.
    fn publish_columns(
        &mut self,
        defines: Option<DefinitionIndex>,
        names: &[ColumnName],
    ) -> Result<(), ResolveError> {
        let Some(index) = defines else { return Ok(()) };
        let definition = self.definition(index);
        let columns: Rc<[ColumnName]> = match definition.ast.columns {
            None => names.into(),
            Some(listed) if listed.len() == names.len() => {
                listed.iter().map(|column| ColumnName::exact(column.text)).collect()
            }
            Some(listed) => {
                let (name, values, wanted) = (&definition.name, names.len(), listed.len());
                let message = format!("table {name} has {values} values for {wanted} columns");
                let name = name.clone();
                return Err(self.at_word(ErrorKind::Invalid(message), &name));
            }
        };
        if let DefinitionState::Resolving(_, slot) = &mut definition.state {
            *slot = Some(columns);
        }
        Ok(())
    }
}

fn arm_outputs(body: &Body) -> Vec<crate::tree::Output> {
    match body {
        Body::Select(select) => select.outputs.clone(),
        Body::SetOperation { .. } | Body::Values(_) => Vec::new(),
    }
}

fn compound(written: &syntax::Compound<'_>, left: Body, right: Body) -> Result<Body, ResolveError> {
    let (operator, all) = (written.operator, written.all);
    let name = match operator {
        SetOperator::Union if all => "UNION ALL",
        SetOperator::Union => "UNION",
        SetOperator::Except => "EXCEPT",
        SetOperator::Intersect => "INTERSECT",
    };
    if left.width() != right.width() {
        return Err(ErrorKind::OperandWidths(name).into());
    }
    Ok(Body::SetOperation { operator, all, left: Box::new(left), right: Box::new(right) })
}
