//! The components of a query that exact set match compares.

use std::collections::BTreeSet;

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{BinaryOperator, Body, Expr, From, Query, Select, SetOperator, UnaryOperator};

use super::linked::LinkedColumns;
use super::render::{Numbers, Renderer};

/// Components of a query. Bags are sorted, so that equality is equality of bags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Parts {
    select: Vec<String>,
    filter: Vec<String>,
    connectives: BTreeSet<&'static str>,
    group: Vec<String>,
    having: Vec<String>,
    order: Option<(bool, Vec<String>)>,
    limit: bool,
    tables: Vec<String>,
    operands: Vec<(SetOperator, Self)>,
    keywords: BTreeSet<&'static str>,
}

/// The components of a query, and what its result columns are.
pub(super) struct Rendered {
    pub parts: Parts,
    pub outputs: Vec<String>,
}

impl Parts {
    pub(super) fn of(query: &Query, schema: &Schema, linked: &LinkedColumns, numbers: &Numbers) -> Self {
        Self::with(query, &Renderer::new(schema, linked, numbers)).parts
    }

    pub(super) fn with(query: &Query, renderer: &Renderer<'_>) -> Rendered {
        renderer.define(&query.ctes);
        let (first, rest) = arms(&query.body);
        let Rendered { mut parts, outputs } = Self::arm(first, renderer);
        let mut rest: Vec<(SetOperator, Self)> =
            rest.into_iter().map(|(operator, body)| (operator, Self::arm(body, renderer).parts)).collect();
        // As in the official structure, the last SELECT of a compound carries its ORDER BY and LIMIT, and every
        // SELECT carries those that follow it.
        rest.last_mut().map_or(&mut parts, |(_, last)| last).order_and_limit(query, &outputs, renderer);
        let mut tail: Option<(SetOperator, Self)> = None;
        while let Some((operator, mut operand)) = rest.pop() {
            operand.followed_by(tail.take());
            tail = Some((operator, operand));
        }
        parts.followed_by(tail);
        Rendered { parts, outputs }
    }

    fn arm(body: &Body, renderer: &Renderer<'_>) -> Rendered {
        match body {
            Body::Select(select) => Self::select(select, renderer),
            Body::Values(_) | Body::SetOperation { .. } => {
                let parts = Self { tables: vec![renderer.body(body)], ..Self::default() };
                Rendered { parts, outputs: Vec::new() }
            }
        }
    }

    fn followed_by(&mut self, tail: Option<(SetOperator, Self)>) {
        let Some((operator, operand)) = tail else { return };
        self.keywords.insert(match operator {
            SetOperator::Union => "union",
            SetOperator::Intersect => "intersect",
            SetOperator::Except => "except",
        });
        self.operands.push((operator, operand));
    }

    fn select(select: &Select, renderer: &Renderer<'_>) -> Rendered {
        let mut parts = Self::default();
        // What columns stand for is known once their relations are rendered.
        if let Some(from) = &select.from {
            parts.tables = sorted(renderer.relations(from));
            parts.join_keywords(from);
        }
        let outputs: Vec<String> = select.outputs.iter().map(|output| renderer.expr(&output.expr)).collect();
        parts.select = sorted(outputs.clone());
        if let Some(filter) = &select.filter {
            parts.keywords.insert("where");
            let mut conditions = Vec::new();
            let mut connectives = BTreeSet::new();
            flatten(filter, false, &mut conditions, &mut connectives);
            parts.condition_keywords(&conditions, &connectives);
            parts.filter = sorted(conditions.iter().map(|condition| condition.render(renderer)).collect());
            parts.connectives = connectives;
        }
        if !select.group_by.is_empty() {
            parts.keywords.insert("group");
            parts.group = select.group_by.iter().map(|expr| renderer.expr(expr)).collect();
        }
        if let Some(having) = &select.having {
            parts.keywords.insert("having");
            let mut conditions = Vec::new();
            let mut connectives = BTreeSet::new();
            flatten(having, false, &mut conditions, &mut connectives);
            parts.condition_keywords(&conditions, &connectives);
            parts.having = sorted(conditions.iter().map(|condition| condition.render(renderer)).collect());
        }
        Rendered { parts, outputs }
    }

    fn order_and_limit(&mut self, query: &Query, outputs: &[String], renderer: &Renderer<'_>) {
        if let Some(last) = query.order_by.last() {
            let units = query.order_by.iter().map(|term| match &term.expr {
                Expr::Output(index) => outputs.get(*index as usize).cloned().unwrap_or_default(),
                other => renderer.expr(other),
            });
            self.order = Some((last.descending, units.collect()));
            self.keywords.extend(["order", if last.descending { "desc" } else { "asc" }]);
        }
        if query.limit.is_some() {
            self.limit = true;
            self.keywords.insert("limit");
        }
    }

    fn join_keywords(&mut self, from: &From) {
        let mut pending = vec![from];
        while let Some(from) = pending.pop() {
            let From::Join(join) = from else { continue };
            pending.extend([&join.left, &join.right]);
            if let Some(on) = &join.on {
                let mut conditions = Vec::new();
                let mut connectives = BTreeSet::new();
                flatten(on, false, &mut conditions, &mut connectives);
                self.condition_keywords(&conditions, &connectives);
            }
        }
    }

    fn condition_keywords(&mut self, conditions: &[Condition<'_>], connectives: &BTreeSet<&'static str>) {
        if connectives.contains("or") {
            self.keywords.insert("or");
        }
        for condition in conditions {
            if condition.negated {
                self.keywords.insert("not");
            }
            match condition.expr {
                Expr::InList { .. } | Expr::InQuery { .. } => self.keywords.insert("in"),
                Expr::Like { .. } => self.keywords.insert("like"),
                _ => false,
            };
        }
    }

    pub(super) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let column_only = |group: &[String]| {
            sorted(group.iter().map(|unit| unit.rsplit('.').next().unwrap_or(unit).to_owned()).collect())
        };
        let group_with_having = |parts: &Self| (parts.group.clone(), parts.having.clone());
        let agree = [
            ("select", self.select == other.select),
            ("where", self.filter == other.filter),
            ("group(no having)", column_only(&self.group) == column_only(&other.group)),
            ("group", group_with_having(self) == group_with_having(other)),
            (
                "order",
                (&self.order, self.limit && self.order.is_some())
                    == (&other.order, other.limit && other.order.is_some()),
            ),
            ("and/or", self.connectives == other.connectives),
            ("set operations", operands_agree(&self.operands, &other.operands)),
            ("keywords", self.keywords == other.keywords),
            ("tables", self.tables == other.tables),
        ];
        agree.into_iter().filter_map(|(name, agrees)| (!agrees).then_some(name)).collect()
    }
}

fn operands_agree(parts: &[(SetOperator, Parts)], other: &[(SetOperator, Parts)]) -> bool {
    let agree = |(a, b): (&(SetOperator, Parts), &(SetOperator, Parts))| {
        a.0 == b.0 && a.1.differences(&b.1).is_empty()
    };
    parts.len() == other.len() && parts.iter().zip(other).all(agree)
}

/// The first SELECT of a compound and those after it with their operators.
fn arms(body: &Body) -> (&Body, Vec<(SetOperator, &Body)>) {
    let mut rest = Vec::new();
    let mut first = body;
    while let Body::SetOperation { operator, left, right, .. } = first {
        rest.push((*operator, right.as_ref()));
        first = left;
    }
    rest.reverse();
    (first, rest)
}

fn sorted(mut items: Vec<String>) -> Vec<String> {
    items.sort_unstable();
    items
}

/// One condition between AND and OR.
struct Condition<'q> {
    negated: bool,
    expr: &'q Expr,
}

impl Condition<'_> {
    fn render(&self, renderer: &Renderer<'_>) -> String {
        let not = if self.negated { "not " } else { "" };
        format!("{not}{}", renderer.condition(self.expr))
    }
}

/// Takes AND, OR and NOT apart, as the official parser does, which knows no parentheses.
fn flatten<'q>(
    expr: &'q Expr,
    negated: bool,
    conditions: &mut Vec<Condition<'q>>,
    connectives: &mut BTreeSet<&'static str>,
) {
    match expr {
        Expr::And(list) | Expr::Or(list) => {
            connectives.insert(if matches!(expr, Expr::And(_)) { "and" } else { "or" });
            list.iter().for_each(|operand| flatten(operand, negated, conditions, connectives));
        }
        Expr::Unary(UnaryOperator::Not, operand) => flatten(operand, !negated, conditions, connectives),
        Expr::Binary(BinaryOperator::IsNot, ..) => conditions.push(Condition { negated: !negated, expr }),
        _ => conditions.push(Condition { negated: negated != expr.negated().unwrap_or(false), expr }),
    }
}
