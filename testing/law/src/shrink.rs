//! Makes a violation small: drops clauses, then rows, then tables, while it still is one.

use std::rc::Rc;

use rusqlite::types::Value;
use sqlgauge_etm::law::Stepper;
use sqlgauge_sql::resolve;
use sqlgauge_sql::tree::{Body, Expr, From, JoinKind, Literal, Query};
use sqlgauge_sql::visit::{Rewriter, Visitor, children, rewrite_query, walk_query};

use crate::check::{Kind, MATCH, Violation, check, differ};
use crate::data::literal;
use crate::database::{Database, Outcome};
use crate::generate::text;
use crate::world::World;

/// How many smaller queries are tried.
const MAX_TRIALS: usize = 1_500;

/// A violation with all that is needed to see it.
#[derive(Debug, Clone)]
pub struct Shrunk {
    pub violation: Violation,
    /// The schema's name.
    pub world: String,
    /// The statements that make the database.
    pub script: Vec<String>,
    /// What the first query returns.
    pub left: String,
    /// What the second returns.
    pub right: String,
}

/// The smallest violation of the same rule that dropping parts leads to.
pub(crate) fn shrink(violation: &Violation, world: &World, stepper: &Stepper<'_>) -> Shrunk {
    let mut best = violation.clone();
    let database = &world.databases[violation.database.unwrap_or(0)];
    if best.rule != MATCH {
        smaller_query(&mut best, world, database, stepper);
    }
    if violation.database.is_none() {
        let (script, none) = (world.ddl.clone(), String::new());
        return Shrunk {
            violation: best,
            world: world.name.clone(),
            script,
            left: none.clone(),
            right: none,
        };
    }
    let (script, left, right) = smaller_data(&best, world, database);
    best.database = None;
    Shrunk { violation: best, world: world.name.clone(), script, left, right }
}

fn smaller_query(best: &mut Violation, world: &World, database: &Database, stepper: &Stepper<'_>) {
    let mut trials = 0;
    while let Some(smaller) = next_smaller(best, world, database, stepper, &mut trials) {
        *best = smaller;
    }
}

/// The first smaller query that still violates.
fn next_smaller(
    best: &Violation,
    world: &World,
    database: &Database,
    stepper: &Stepper<'_>,
    trials: &mut usize,
) -> Option<Violation> {
    let query = resolve(&best.before, &world.schema).ok()?;
    let mut attempt = |candidate: &Query| {
        let sql = text(candidate, &world.schema)?;
        *trials += 1;
        if *trials > MAX_TRIALS || sql.len() >= best.before.len() {
            return None;
        }
        let report = check(&sql, &world.schema, std::slice::from_ref(database), stepper);
        let mut same = report.violations.into_iter().filter(|v| v.rule == best.rule && v.kind == best.kind);
        same.find(|violation| violation.before.len() < best.before.len() && (violation.note == best.note))
    };
    let mut parts = Subqueries::default();
    walk_query(&mut parts, &query);
    if let Some(smaller) = parts.0.iter().rev().find_map(&mut attempt) {
        return Some(smaller);
    }
    for size in 0..4 {
        for target in 0.. {
            let mut exists = false;
            for variant in 0..6 {
                let mut candidate = query.clone();
                let mut reduce = Reduce { size, target, variant, seen: 0, changed: false };
                rewrite_query(&mut reduce, &mut candidate);
                exists |= reduce.seen > target;
                if let Some(smaller) = reduce.changed.then(|| attempt(&candidate)).flatten() {
                    return Some(smaller);
                }
            }
            if !exists {
                break;
            }
        }
    }
    None
}

/// The queries inside a query.
#[derive(Default)]
struct Subqueries(Vec<Query>);

impl Visitor for Subqueries {
    fn query(&mut self, query: &Query) {
        self.0.push(query.clone());
    }
}

/// Drops one thing from the query: of the `target`-th node of one kind, in one of several ways.
struct Reduce {
    size: usize,
    target: usize,
    variant: usize,
    seen: usize,
    changed: bool,
}

impl Reduce {
    fn is_meant(&mut self, size: usize) -> bool {
        if self.size != size {
            return false;
        }
        self.seen += 1;
        self.seen == self.target + 1
    }
}

fn nothing() -> Query {
    Query::of(Body::Values(Vec::new()))
}

impl Rewriter for Reduce {
    fn query(&mut self, query: &mut Query) {
        if !self.is_meant(0) {
            return;
        }
        self.changed = match self.variant {
            0 => query.limit.take().is_some() | query.offset.take().is_some(),
            1 => !std::mem::take(&mut query.order_by).is_empty(),
            2 => query.offset.take().is_some(),
            3 => query.order_by.len() > 1 && query.order_by.pop().is_some(),
            4 => !query.ctes.is_empty() && !std::mem::take(&mut query.ctes).is_empty(),
            _ => query.ctes.pop().is_some(),
        };
    }

    fn body(&mut self, body: &mut Body) {
        if !self.is_meant(1) {
            return;
        }
        let variant = self.variant;
        self.changed = match body {
            Body::SetOperation { left, right, .. } if variant < 2 => {
                let side = if variant == 0 { left } else { right };
                let side = std::mem::replace(side.as_mut(), nothing().body);
                *body = side;
                true
            }
            Body::Select(select) => match variant {
                0 => select.filter.take().is_some(),
                1 => select.having.take().is_some(),
                2 => !std::mem::take(&mut select.group_by).is_empty(),
                3 => std::mem::replace(&mut select.distinct, false),
                4 => select.outputs.len() > 1 && select.outputs.pop().is_some(),
                _ => {
                    let several = select.outputs.len() > 1;
                    if several {
                        select.outputs.remove(0);
                    }
                    several
                }
            },
            Body::Values(rows) => variant == 0 && rows.len() > 1 && rows.pop().is_some(),
            Body::SetOperation { .. } => false,
        };
    }

    fn from(&mut self, from: &mut From) {
        if !self.is_meant(2) {
            return;
        }
        let From::Join(join) = from else { return };
        self.changed = true;
        match self.variant {
            0 => {
                let left = join.left.clone();
                *from = left;
            }
            1 => {
                let right = join.right.clone();
                *from = right;
            }
            2 => self.changed = join.on.take().is_some(),
            3 if join.kind != JoinKind::Inner => join.kind = JoinKind::Inner,
            _ => self.changed = false,
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        if !self.is_meant(3) {
            return;
        }
        let mut parts = Vec::new();
        children(expr, &mut |child| parts.push(child.clone()));
        self.changed = true;
        match expr {
            Expr::And(list) | Expr::Or(list) if list.len() > 2 && self.variant < 5 => {
                if self.variant < list.len() {
                    list.remove(self.variant);
                } else {
                    self.changed = false;
                }
            }
            Expr::InList { list, .. } if list.len() > 1 && self.variant == 4 => {
                list.pop();
            }
            Expr::Literal(_) | Expr::Column(_) | Expr::Output(_) => self.changed = false,
            _ if self.variant < 4 => match parts.get(self.variant) {
                Some(part) => *expr = part.clone(),
                None => self.changed = false,
            },
            _ if self.variant == 4 => *expr = Expr::Literal(Literal::Integer(1)),
            _ => self.changed = false,
        }
    }
}

fn smaller_data(violation: &Violation, world: &World, database: &Database) -> (Vec<String>, String, String) {
    let Ok(query) = resolve(&violation.before, &world.schema) else {
        return (world.ddl.clone(), String::new(), String::new());
    };
    let build = |ddl: &[String], inserts: &[String], indexes: &[String]| {
        Database::of(ddl, &world.schema, inserts.to_vec(), indexes.to_vec(), database.layout).ok()
    };
    let holds = |ddl: &[String], inserts: &[String], indexes: &[String]| {
        build(ddl, inserts, indexes).is_some_and(|candidate| {
            let difference =
                differ(&violation.before, &query, &violation.after, std::slice::from_ref(&candidate));
            difference.is_some_and(|(kind, ..)| kind == violation.kind)
        })
    };
    let mut ddl = world.ddl.clone();
    let mut inserts = database.inserts.clone();
    let mut indexes = database.indexes.clone();
    for list in 0..3 {
        let length = [ddl.len(), inserts.len(), indexes.len()][list];
        for place in (0..length).rev() {
            let mut smaller = [ddl.clone(), inserts.clone(), indexes.clone()];
            smaller[list].remove(place);
            if holds(&smaller[0], &smaller[1], &smaller[2]) {
                [ddl, inserts, indexes] = smaller;
            }
        }
    }
    let Some(small) = build(&ddl, &inserts, &indexes) else { return (ddl, String::new(), String::new()) };
    let (left, right) = (spelled(&small.run(&violation.before)), spelled(&small.run(&violation.after)));
    inserts.retain(|insert| ddl.iter().any(|table| insert_is_into(insert, table)));
    ddl.extend(inserts);
    ddl.extend(indexes);
    (ddl, left, right)
}

fn insert_is_into(insert: &str, create: &str) -> bool {
    let name = |text: &str, start: &str| {
        let rest = text.strip_prefix(start)?;
        Some(rest.split(" (").next()?.to_owned())
    };
    let created = name(create, "CREATE TABLE ");
    created.is_some() && name(insert, "INSERT INTO ") == created
}

/// A result in one line.
pub fn spelled(outcome: &Rc<Outcome>) -> String {
    match &**outcome {
        Outcome::Refused(error) | Outcome::Failed(error) => format!("error: {error}"),
        Outcome::Rows(rows) => {
            let row =
                |row: &Vec<Value>| format!("({})", row.iter().map(literal).collect::<Vec<_>>().join(", "));
            let texts: Vec<String> = rows.iter().take(8).map(row).collect();
            let more = if rows.len() > 8 { format!(" … {} rows", rows.len()) } else { String::new() };
            format!("{}{more}", if texts.is_empty() { "no row".to_owned() } else { texts.join(" ") })
        }
    }
}

/// What two violations of one rule have in common if they are likely the same: the kind and the form of the query.
pub fn form(violation: &Violation) -> (String, Kind, String) {
    let mut out = String::new();
    let mut word = String::new();
    for character in violation.before.chars().chain([' ']) {
        if character.is_alphanumeric() || character == '_' || character == '.' {
            word.push(character);
            continue;
        }
        let is_keyword = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
        if is_keyword || character == '(' {
            out.push_str(&word);
        } else if !word.is_empty() {
            out.push('_');
        }
        word.clear();
        if character != ' ' {
            out.push(character);
        }
    }
    (violation.rule.clone(), violation.kind, out)
}
