//! Single mutations of real golds, and whether the search tells each from its gold.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::Random;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    BinaryOperator, Body, ColumnRef, Expr, From, JoinKind, Literal, Place, Query, Real, Relation, RelationId,
    Select, SetOperator, Source,
};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_query, walk_query};
use sqlgauge_sql::{Dialect, print, resolve};
use sqlgauge_verify::search::Options;

use super::Settings;
use super::data::{Case, spider_golds};
use super::measure::{Found, Searches, judge, options, summary};

/// How much longer the search is that judges what the measured one left.
const LONGER: usize = 50;

/// Draws mutants, searches them and prints the summary.
pub(crate) fn run(folder: &Path, settings: &Settings) {
    let golds = spider_golds(folder);
    let mut random = Random::new([settings.seed, 0x6d75_7461]);
    if let Some(path) = &settings.out {
        write(path, &golds, settings.count, &mut random);
        return;
    }
    let (mut searches, mut longer) = (Searches::default(), Searches::default());
    let mut found = Vec::new();
    let (mut missed, mut left) = (Vec::new(), Vec::new());
    while found.len() < settings.count {
        let Some((gold, _)) = random.pick(&golds) else { break };
        let Some(case) = mutant(gold, &mut random) else { continue };
        let one = judge(&case, searches.of(&case, options(settings)));
        match &one {
            Found::Inapplicable(_) => continue,
            Found::Undecided(reason, _) => {
                let options = Options { databases: settings.databases * LONGER, ..options(settings) };
                let options = Options { seed: settings.seed + 1, ..options };
                let is_missed = matches!(judge(&case, longer.of(&case, options)), Found::Different(_));
                let list = if is_missed { &mut missed } else { &mut left };
                list.push((case, *reason));
            }
            Found::Proved | Found::Different(_) => {}
        }
        found.push(one);
    }
    for (title, list) in [("missed", &missed), ("left", &left)] {
        for (case, reason) in list.iter().take(settings.show) {
            println!("\n-- {title}: {} ({reason})\n{}\n{}", case.id, case.gold, case.prediction);
        }
    }
    println!("{} mutants", found.len());
    summary(&found);
    println!("  missed, but found by a search {LONGER} times as long: {}", missed.len());
    println!("  left by that too: {}", left.len());
}

/// Writes mutants as pairs for `sqlgauge verify --pairs`, each over the database of its gold.
fn write(path: &Path, golds: &[(Case, PathBuf)], count: usize, random: &mut Random) {
    let mut lines = String::new();
    for id in 0..count {
        let Some((case, database)) = std::iter::from_fn(|| {
            let (gold, database) = random.pick(golds)?;
            Some(mutant(gold, random).map(|case| (case, database)))
        })
        .find_map(|drawn| drawn) else {
            break;
        };
        let pair = serde_json::json!({
            "id": id, "origin": case.id, "db": database, "left": case.gold, "right": case.prediction,
        });
        let _ = writeln!(lines, "{pair}");
    }
    match std::fs::write(path, lines) {
        Ok(()) => println!("{} has the mutants", path.display()),
        Err(error) => println!("{} cannot be written: {error}", path.display()),
    }
}

/// The gold with one place changed.
fn mutant(gold: &Case, random: &mut Random) -> Option<Case> {
    let query = resolve(&gold.gold, &gold.schema).ok()?;
    let mut relations = Relations::default();
    walk_query(&mut relations, &query);
    let places = |wanted: usize| Mutator { schema: &gold.schema, relations: &relations.0, wanted, seen: 0 };
    let mut counting = places(usize::MAX);
    rewrite_query(&mut counting, &mut query.clone());
    let mut mutated = query.clone();
    rewrite_query(&mut places(random.below(counting.seen)), &mut mutated);
    let prediction = print(&mutated, &gold.schema, Dialect::Sqlite).ok().filter(|_| mutated != query)?;
    Some(Case { id: gold.id.clone(), schema: Arc::clone(&gold.schema), gold: gold.gold.clone(), prediction })
}

#[derive(Default)]
struct Relations(Vec<Relation>);

impl Visitor for Relations {
    fn relation(&mut self, relation: &Relation) {
        self.0.push(relation.clone());
    }
}

/// Counts the places where a query can be changed, and changes the wanted one.
struct Mutator<'a> {
    schema: &'a Schema,
    relations: &'a [Relation],
    wanted: usize,
    seen: usize,
}

impl Mutator<'_> {
    fn choose<T>(&mut self, node: &mut T, mut mutants: Vec<T>) {
        let first = self.seen;
        self.seen += mutants.len();
        if (first..self.seen).contains(&self.wanted) {
            *node = mutants.swap_remove(self.wanted - first);
        }
    }

    /// Other columns of the same table that are compared in the same way.
    fn other_columns(&self, column: ColumnRef) -> Vec<Expr> {
        let source = |id: RelationId| self.relations.iter().find(|relation| relation.id == id);
        let Some(Source::Table(id)) = source(column.relation).map(|relation| &relation.source) else {
            return Vec::new();
        };
        let columns = self.schema.table(*id).map(|table| table.columns.as_slice()).unwrap_or_default();
        let Place::At(position) = column.column else { return Vec::new() };
        let Some(own) = columns.get(position as usize) else { return Vec::new() };
        let others = (0..)
            .zip(columns)
            .filter(|&(at, other)| at != position && other.affinity == own.affinity && !other.generated);
        others.map(|(at, _)| Expr::Column(ColumnRef::at(column.relation, at))).take(1).collect()
    }
}

impl Rewriter for Mutator<'_> {
    fn query(&mut self, query: &mut Query) {
        let mut mutants = Vec::new();
        for at in 0..query.order_by.len() {
            let mut other = query.clone();
            other.order_by[at].descending = !other.order_by[at].descending;
            mutants.push(other);
        }
        if let Some(Expr::Literal(Literal::Integer(limit))) = query.limit {
            let limit = Some(Expr::Literal(Literal::Integer(limit + 1)));
            mutants.push(Query { limit, ..query.clone() });
            mutants.push(Query { limit: None, ..query.clone() });
        }
        self.choose(query, mutants);
    }

    fn body(&mut self, body: &mut Body) {
        let mutants = match body {
            Body::Select(select) => {
                selects(select).into_iter().map(|select| Body::Select(Box::new(select))).collect()
            }
            Body::SetOperation { operator, left, right, .. } => {
                let operators = [SetOperator::Union, SetOperator::Intersect, SetOperator::Except];
                let others = operators.into_iter().filter(|other| other != operator);
                others
                    .map(|operator| Body::SetOperation {
                        operator,
                        all: false,
                        left: left.clone(),
                        right: right.clone(),
                    })
                    .collect()
            }
            Body::Values(_) => Vec::new(),
        };
        self.choose(body, mutants);
    }

    fn from(&mut self, from: &mut From) {
        let mut mutants = Vec::new();
        if let From::Join(join) = from
            && join.kind == JoinKind::Inner
        {
            let mut join = join.clone();
            join.kind = JoinKind::Left;
            mutants.push(From::Join(join));
        }
        self.choose(from, mutants);
    }

    fn expr(&mut self, expr: &mut Expr) {
        let mutants = if let Expr::Column(column) = expr { self.other_columns(*column) } else { exprs(expr) };
        self.choose(expr, mutants);
    }
}

fn selects(select: &Select) -> Vec<Select> {
    let mut mutants = vec![Select { distinct: !select.distinct, ..select.clone() }];
    if select.filter.is_some() {
        mutants.push(Select { filter: None, ..select.clone() });
    }
    if select.having.is_some() {
        mutants.push(Select { having: None, ..select.clone() });
    }
    for at in (0..select.group_by.len()).filter(|_| select.group_by.len() > 1) {
        let mut other = select.clone();
        other.group_by.remove(at);
        mutants.push(other);
    }
    mutants
}

fn exprs(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::Literal(Literal::Integer(n)) => vec![Expr::Literal(Literal::Integer(n + 1))],
        Expr::Literal(Literal::Real(n)) => vec![Expr::Literal(Literal::Real(Real::new(n.get() + 1.0)))],
        Expr::Literal(Literal::Text(text)) => vec![Expr::Literal(Literal::Text(format!("{text}x")))],
        Expr::Binary(operator, left, right) => {
            let others = operators(*operator).iter();
            others.map(|&other| Expr::Binary(other, left.clone(), right.clone())).collect()
        }
        Expr::And(list) => {
            let without = (0..list.len()).map(|at| {
                let mut rest = list.clone();
                rest.remove(at);
                if rest.len() == 1 { rest.swap_remove(0) } else { Expr::And(rest) }
            });
            without.chain([Expr::Or(list.clone())]).collect()
        }
        Expr::Or(list) => vec![Expr::And(list.clone())],
        Expr::Between { expr, low, high, negated } => vec![Expr::Between {
            expr: expr.clone(),
            low: low.clone(),
            high: high.clone(),
            negated: !negated,
        }],
        Expr::InQuery { expr, query, negated } => {
            vec![Expr::InQuery { expr: expr.clone(), query: query.clone(), negated: !negated }]
        }
        Expr::Like { operator, expr, pattern, escape, negated } => vec![Expr::Like {
            operator: *operator,
            expr: expr.clone(),
            pattern: pattern.clone(),
            escape: escape.clone(),
            negated: !negated,
        }],
        Expr::Aggregate(call) => {
            let mut mutants = Vec::new();
            let other = match call.function {
                Function::Min => Some(Function::Max),
                Function::Max => Some(Function::Min),
                Function::Sum => Some(Function::Avg),
                Function::Avg => Some(Function::Sum),
                _ => None,
            };
            if let Some(function) = other {
                let mut call = call.clone();
                call.function = function;
                mutants.push(Expr::Aggregate(call));
            }
            if call.args.as_slice().len() == 1 {
                let mut call = call.clone();
                call.distinct = !call.distinct;
                mutants.push(Expr::Aggregate(call));
            }
            mutants
        }
        _ => Vec::new(),
    }
}

fn operators(operator: BinaryOperator) -> &'static [BinaryOperator] {
    use BinaryOperator as B;
    match operator {
        B::Equal => &[B::NotEqual, B::GreaterEqual],
        B::NotEqual => &[B::Equal],
        B::Less => &[B::LessEqual, B::Greater],
        B::LessEqual => &[B::Less, B::GreaterEqual],
        B::Greater => &[B::GreaterEqual, B::Less],
        B::GreaterEqual => &[B::Greater, B::LessEqual],
        B::Add => &[B::Subtract],
        B::Subtract => &[B::Add],
        B::Multiply => &[B::Divide],
        B::Divide => &[B::Multiply],
        _ => &[],
    }
}
