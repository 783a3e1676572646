//! Reads the tables and columns that a text names even if it does not resolve: an unknown name costs only itself.
//!
//! # Contract
//! - The text must be a query by SQLite's grammar. Nothing else of it need be right.
//! - Tables are what stands in FROM and `IN t`, by the schema's name in lower case, or as written where the schema has none.
//!   Names of common table expressions are no tables; what stands inside them counts.
//! - A column belongs to the relation that qualifies it; without a qualifier to the first relation, from its own query outwards, whose
//!   table has such a column; else to the only table of its FROM clause, or to a table without a name. Columns of derived tables and
//!   of common table expressions count by the columns inside.
//! - `*` names all columns of its tables, USING and NATURAL the columns that they compare. A result's alias is no column.
//! - Of a query that resolves, [`Features`](crate::Features) says the same but for views and rowid.
//! - At most [`budget::RESOLVE`] steps.

use std::collections::{BTreeSet, HashSet};

use sqlgauge_base::budget::{self, TooComplex};

use crate::parse::{Arena, parse_query};
use crate::quote::Quote;
use crate::schema::{Schema, Table};
use crate::syntax::{
    Call, Core, Expr, ExprKind, FrameBound, FromClause, JoinConstraint, Name, Operand, Over, ResultColumn,
    Select, SortTerm, TableExpr, Window,
};

/// What a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedThings {
    /// Tables, lower case.
    pub tables: BTreeSet<String>,
    /// Columns as table and column, lower case.
    pub columns: BTreeSet<(String, String)>,
}

impl NamedThings {
    /// What a text names; `None` where it is no query by the grammar.
    ///
    /// # Errors
    /// When the walk takes more steps than it may.
    pub fn of(text: &str, schema: &Schema) -> Result<Option<Self>, TooComplex> {
        budget::analyse_within(budget::RESOLVE, text.len(), || {
            let arena = Arena::default();
            let parsed = parse_query(&arena, text).ok()?;
            let mut walk = Walk { schema, things: Self::default(), scopes: Vec::new(), pending: Vec::new() };
            walk.pending.push(Node::Query(parsed.query, None));
            walk.run();
            Some(walk.things)
        })
    }
}

/// A relation of a FROM clause.
struct Source<'s> {
    /// What qualifies its columns, lower case.
    name: String,
    /// Its table, lower case; `None` for a derived table and a common table expression.
    table: Option<String>,
    /// That table, where the schema has it.
    declaration: Option<&'s Table>,
}

/// What a node sees: the relations of its own query, the names around it.
#[derive(Default)]
struct Scope<'s> {
    outer: Option<usize>,
    sources: Vec<Source<'s>>,
    /// Names of common table expressions, lower case.
    ctes: HashSet<String>,
    /// Aliases of results, lower case.
    aliases: HashSet<String>,
}

enum Node<'b> {
    Query(&'b Select<'b>, Option<usize>),
    Expr(&'b Expr<'b>, usize),
}

struct Walk<'b, 's> {
    schema: &'s Schema,
    things: NamedThings,
    scopes: Vec<Scope<'s>>,
    pending: Vec<Node<'b>>,
}

fn lower(name: &Name<'_>) -> String {
    name.text.to_ascii_lowercase()
}

impl<'b, 's> Walk<'b, 's> {
    fn run(&mut self) {
        while let Some(node) = self.pending.pop() {
            budget::spend(1);
            match node {
                Node::Query(query, outer) => self.query(query, outer),
                Node::Expr(expr, scope) => self.expr(expr, scope),
            }
        }
    }

    fn scope(&mut self, outer: Option<usize>) -> usize {
        self.scopes.push(Scope { outer, ..Scope::default() });
        self.scopes.len() - 1
    }

    fn query(&mut self, query: &'b Select<'b>, outer: Option<usize>) {
        let around = self.scope(outer);
        for definition in query.with.into_iter().flatten() {
            self.scopes[around].ctes.insert(lower(&definition.name));
            self.pending.push(Node::Query(definition.query, Some(around)));
        }
        let first = self.operand(&query.first, around);
        for compound in query.rest {
            self.operand(&compound.operand, around);
        }
        // Alone in ORDER BY, an alias goes before a column of that name.
        let is_alias = |term: &&SortTerm<'b>| match &term.expr.kind {
            ExprKind::Column(name) => self.scopes[first].aliases.contains(&lower(name)),
            _ => false,
        };
        let terms = query.order_by.into_iter().flatten().filter(|term| !is_alias(term));
        self.pending.extend(terms.map(|term| Node::Expr(&term.expr, first)));
        if let Some(limit) = &query.limit {
            self.pending.extend(
                [Some(&limit.limit), limit.offset.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|expr| Node::Expr(expr, first)),
            );
        }
    }

    /// The scope of an operand.
    fn operand(&mut self, operand: &Operand<'b>, around: usize) -> usize {
        let scope = self.scope(Some(around));
        match operand {
            Operand::Select(core) => self.core(core, scope),
            Operand::Values(rows) => {
                self.pending.extend(rows.iter().copied().flatten().map(|expr| Node::Expr(expr, scope)));
            }
        }
        scope
    }

    fn core(&mut self, core: &'b Core<'b>, scope: usize) {
        if let Some(from) = &core.from {
            self.from(from, scope);
        }
        for output in core.outputs {
            match output {
                ResultColumn::Expr(expr, alias) => {
                    self.scopes[scope].aliases.extend(alias.as_ref().map(lower));
                    self.pending.push(Node::Expr(expr, scope));
                }
                ResultColumn::Star => self.star(None, scope),
                ResultColumn::TableStar(name) => self.star(Some(&lower(name)), scope),
            }
        }
        let clauses = [&core.filter, &core.having].into_iter().flatten();
        let clauses = clauses.chain(core.group_by.into_iter().flatten());
        self.pending.extend(clauses.map(|expr| Node::Expr(expr, scope)));
        for named in core.windows {
            self.window(&named.window, scope);
        }
    }

    fn from(&mut self, from: &'b FromClause<'b>, scope: usize) {
        if let Some(first) = from.first {
            self.relation(first, scope);
        }
        for join in from.joins {
            let before = self.scopes[scope].sources.len();
            self.relation(&join.table, scope);
            if join.natural {
                self.natural(before, scope);
            }
            match &join.constraint {
                Some(JoinConstraint::On(expr)) => self.pending.push(Node::Expr(expr, scope)),
                Some(JoinConstraint::Using(names)) => {
                    names.iter().for_each(|name| self.using(&lower(name), scope));
                }
                None => {}
            }
        }
    }

    fn relation(&mut self, relation: &'b TableExpr<'b>, scope: usize) {
        let alias = relation.alias().map(str::to_ascii_lowercase);
        match relation {
            TableExpr::Table { name, .. } => self.table(&lower(&name.name), alias, scope),
            TableExpr::Call { args, name, .. } => {
                self.pending.extend(args.iter().copied().flatten().map(|expr| Node::Expr(expr, scope)));
                self.add(alias.unwrap_or_else(|| lower(&name.name)), scope);
            }
            TableExpr::Query(query, _) => {
                self.pending.push(Node::Query(query, Some(scope)));
                self.add(alias.unwrap_or_default(), scope);
            }
            TableExpr::Parenthesised(from, _) => {
                self.from(from, scope);
                if let Some(alias) = alias {
                    self.add(alias, scope);
                }
            }
        }
    }

    /// A relation whose columns count inside of it.
    fn add(&mut self, name: String, scope: usize) {
        self.scopes[scope].sources.push(Source { name, table: None, declaration: None });
    }

    fn table(&mut self, name: &str, alias: Option<String>, scope: usize) {
        let is_cte = self.around(scope).any(|scope| scope.ctes.contains(name));
        let qualifier = alias.unwrap_or_else(|| name.to_owned());
        if is_cte {
            return self.add(qualifier, scope);
        }
        self.things.tables.insert(name.to_owned());
        let declaration = self.schema.table_named(name);
        self.scopes[scope].sources.push(Source {
            name: qualifier,
            table: Some(name.to_owned()),
            declaration,
        });
    }

    /// A scope and those around it, the innermost first.
    fn around(&self, scope: usize) -> impl Iterator<Item = &Scope<'s>> {
        let outer = |scope: &&Scope<'s>| scope.outer.map(|outer| &self.scopes[outer]);
        std::iter::successors(Some(&self.scopes[scope]), outer)
            .inspect(|scope| budget::spend(1 + scope.sources.len()))
    }

    fn star(&mut self, qualifier: Option<&str>, scope: usize) {
        let sources = &self.scopes[scope].sources;
        let meant = sources.iter().filter(|source| qualifier.is_none_or(|name| name == source.name));
        for source in meant {
            let (Some(name), Some(table)) = (&source.table, source.declaration) else { continue };
            budget::spend(table.columns.len());
            let columns = table.columns.iter().map(|column| (name.clone(), column.name.to_ascii_lowercase()));
            self.things.columns.extend(columns);
        }
    }

    /// The columns that a NATURAL JOIN compares: those of its table, which comes after the first `before` relations, that one of
    /// these has too.
    fn natural(&mut self, before: usize, scope: usize) {
        let sources = &self.scopes[scope].sources;
        let Some(table) = sources.get(before).and_then(|source| source.declaration) else { return };
        budget::spend(table.columns.len() * before);
        let left = &sources[..before];
        let is_shared = |column: &String| left.iter().any(|source| has(source, column));
        let columns = table.columns.iter().map(|column| column.name.to_ascii_lowercase());
        let shared: Vec<String> = columns.filter(is_shared).collect();
        shared.iter().for_each(|column| self.using(column, scope));
    }

    fn using(&mut self, column: &str, scope: usize) {
        let sources = &self.scopes[scope].sources;
        let with_column = sources.iter().filter(|source| has(source, column));
        let named = with_column.filter_map(|source| Some((source.table.clone()?, column.to_owned())));
        self.things.columns.extend(named);
    }

    fn column(&mut self, column: &Name<'_>, scope: usize) {
        let name = lower(column);
        let innermost = &self.scopes[scope];
        let owner =
            self.around(scope).find_map(|scope| scope.sources.iter().find(|source| has(source, &name)));
        if let Some(table) = owner.and_then(|source| source.table.clone()) {
            self.things.columns.insert((table, name));
            return;
        }
        let is_string = column.quote == Quote::Double;
        let is_truth = column.quote == Quote::None && matches!(name.as_str(), "true" | "false");
        let is_derived =
            self.around(scope).any(|scope| scope.sources.iter().any(|source| source.table.is_none()));
        if is_string || is_truth || is_derived || innermost.aliases.contains(&name) {
            return;
        }
        let table = match innermost.sources.as_slice() {
            [only] => only.table.clone().unwrap_or_default(),
            _ => String::new(),
        };
        self.things.columns.insert((table, name));
    }

    fn qualified(&mut self, qualifier: &Name<'_>, column: &Name<'_>, scope: usize) {
        let (name, column) = (lower(qualifier), lower(column));
        let named =
            || self.around(scope).flat_map(|scope| &scope.sources).filter(|source| source.name == name);
        // One further out that has the column goes before one that has not, as SQLite looks for it.
        let source =
            named().find(|source| source.table.is_none() || has(source, &column)).or_else(|| named().next());
        let table = match source {
            Some(source) => source.table.clone(),
            None => Some(name.clone()),
        };
        self.things.columns.extend(table.map(|table| (table, column)));
    }

    fn terms(&mut self, terms: &'b [SortTerm<'b>], scope: usize) {
        self.pending.extend(terms.iter().map(|term| Node::Expr(&term.expr, scope)));
    }

    fn window(&mut self, window: &'b Window<'b>, scope: usize) {
        let parts = window.partition_by.into_iter().flatten();
        self.pending.extend(parts.map(|expr| Node::Expr(expr, scope)));
        self.terms(window.order_by.unwrap_or_default(), scope);
        let bounds = window.frame.iter().flat_map(|frame| [Some(&frame.start), frame.end.as_ref()]).flatten();
        self.pending.extend(bounds.filter_map(|bound| match bound {
            FrameBound::Following(expr) | FrameBound::Preceding(expr) => Some(Node::Expr(expr, scope)),
            _ => None,
        }));
    }

    fn expr(&mut self, expr: &'b Expr<'b>, scope: usize) {
        let mut all = |exprs: &[&'b Expr<'b>]| {
            self.pending.extend(exprs.iter().map(|&expr| Node::Expr(expr, scope)));
        };
        match &expr.kind {
            ExprKind::Column(name) => self.column(name, scope),
            ExprKind::Qualified(qualifier, name) | ExprKind::DoublyQualified([_, qualifier, name]) => {
                self.qualified(qualifier, name, scope);
            }
            ExprKind::Literal(_) | ExprKind::Raise | ExprKind::Parameter(_) => {}
            ExprKind::Parenthesised(list) => all(&list.iter().collect::<Vec<_>>()),
            ExprKind::Unary(_, inner)
            | ExprKind::Cast { expr: inner, .. }
            | ExprKind::Collate(inner, _)
            | ExprKind::IsNull { expr: inner, .. } => all(&[inner]),
            ExprKind::Binary(left, _, right) | ExprKind::Connective(left, _, right) => all(&[left, right]),
            ExprKind::Between(between) => all(&[&between.expr, &between.low, &between.high]),
            ExprKind::Like(like) => {
                all(&[&like.expr, &like.pattern]);
                all(&like.escape.iter().collect::<Vec<_>>());
            }
            ExprKind::InList { expr, list, .. } => {
                all(&[expr]);
                all(&list.iter().collect::<Vec<_>>());
            }
            ExprKind::InQuery { expr, query, .. } => {
                all(&[expr]);
                self.pending.push(Node::Query(query, Some(scope)));
            }
            ExprKind::InTable(test) => {
                all(&[&test.expr]);
                if !test.is_call {
                    let inner = self.scope(Some(scope));
                    self.table(&lower(&test.table.name), None, inner);
                }
            }
            ExprKind::Exists(query) | ExprKind::Scalar(query) => {
                self.pending.push(Node::Query(query, Some(scope)));
            }
            ExprKind::Case(case) => {
                all(&case.operand.iter().chain(&case.otherwise).collect::<Vec<_>>());
                all(&case.branches.iter().flat_map(|(when, then)| [when, then]).collect::<Vec<_>>());
            }
            ExprKind::Call(call) => self.call(call, scope),
        }
    }

    fn call(&mut self, call: &'b Call<'b>, scope: usize) {
        let args = call.args.into_iter().flatten().chain(&call.filter);
        self.pending.extend(args.map(|expr| Node::Expr(expr, scope)));
        self.terms(call.order_by, scope);
        if let Some(Over::Window(window)) = &call.over {
            self.window(window, scope);
        }
    }
}

/// Whether the schema's table behind a relation has such a column.
fn has(source: &Source<'_>, column: &str) -> bool {
    source.declaration.is_some_and(|table| table.column_index(column).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, resolve};

    const DDL: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INT);
        CREATE TABLE song (id INTEGER PRIMARY KEY, singer_id INT, title TEXT);";

    fn named(sql: &str) -> NamedThings {
        NamedThings::of(sql, &Schema::from_ddl(DDL).unwrap()).unwrap().unwrap()
    }

    fn listed(things: &NamedThings) -> (String, String) {
        let columns: Vec<String> =
            things.columns.iter().map(|(table, column)| format!("{table}.{column}")).collect();
        (things.tables.iter().cloned().collect::<Vec<_>>().join(" "), columns.join(" "))
    }

    #[test]
    fn an_unknown_name_takes_away_nothing_but_itself() {
        for (sql, tables, columns) in [
            ("SELECT nick FROM singer WHERE age > 3", "singer", "singer.age singer.nick"),
            (
                "SELECT T1.nick, T2.title FROM singer T1 JOIN song T2 ON T1.id = T2.singer_id",
                "singer song",
                "singer.id singer.nick song.singer_id song.title",
            ),
            (
                "SELECT nick FROM singer JOIN song ON singer.id = singer_id",
                "singer song",
                ".nick singer.id song.singer_id",
            ),
            ("SELECT name FROM artist", "artist", "artist.name"),
            (
                "SELECT * FROM singer JOIN artist USING (id)",
                "artist singer",
                "singer.age singer.id singer.name",
            ),
            ("WITH c AS (SELECT nick FROM singer) SELECT c.nick, total FROM c", "singer", "singer.nick"),
            ("SELECT count(*) AS n FROM singer GROUP BY nick ORDER BY n", "singer", "singer.nick"),
            (
                "SELECT name FROM singer WHERE nick = \"Joe\" AND id IN (SELECT singer_id FROM song WHERE age > 3)",
                "singer song",
                "singer.age singer.id singer.name singer.nick song.singer_id",
            ),
            ("SELECT id FROM song WHERE id IN artist AND x.id = 1", "artist song", "song.id x.id"),
        ] {
            assert_eq!(listed(&named(sql)), (tables.to_owned(), columns.to_owned()), "{sql}");
        }
        assert_eq!(NamedThings::of("SELECT FROM WHERE", &Schema::from_ddl(DDL).unwrap()), Ok(None));
    }

    #[test]
    fn of_a_query_that_resolves_it_is_what_the_features_are() {
        let schema = Schema::from_ddl(DDL).unwrap();
        for sql in [
            "SELECT s.name, count(*) FROM singer AS s LEFT JOIN song ON s.id = song.singer_id GROUP BY s.id HAVING count(*) > 1",
            "SELECT name FROM singer WHERE id IN (SELECT singer_id FROM song WHERE title LIKE 'a%' AND singer.age > 3)",
            "WITH old AS (SELECT * FROM singer WHERE age > 60) SELECT title FROM song JOIN old ON old.id = singer_id",
            "SELECT n FROM (SELECT name AS n, age FROM singer) ORDER BY age LIMIT 3",
            "SELECT rank() OVER (PARTITION BY age ORDER BY name) FROM singer UNION ALL SELECT singer_id FROM song",
            "SELECT title FROM singer NATURAL JOIN song",
            "SELECT upper(name) AS age FROM singer ORDER BY age",
            "SELECT name FROM singer WHERE id > 3 IS TRUE",
            "SELECT name FROM singer AS a WHERE id IN (SELECT singer_id FROM song AS a WHERE a.age > 3)",
            "SELECT CASE WHEN age BETWEEN 1 AND 2 THEN upper(name) ELSE CAST(id AS TEXT) END FROM singer WHERE name IS NOT NULL",
        ] {
            let features = Features::of(&resolve(sql, &schema).unwrap(), &schema);
            let expected = NamedThings { tables: features.tables, columns: features.columns };
            assert_eq!(named(sql), expected, "{sql}");
        }
    }

    #[test]
    fn a_text_of_any_size_has_an_outcome() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let nested = "SELECT nick FROM singer WHERE id IN (".repeat(2_000) + "1" + &")".repeat(2_000);
        let wide = format!("SELECT {} FROM singer", vec!["nick"; 100_000].join(", "));
        for text in [nested, wide] {
            assert!(matches!(NamedThings::of(&text, &schema), Ok(Some(_)) | Err(TooComplex { .. })));
        }
    }
}
