//! Slips in one place that go beyond [`Mutations`](sqlgauge_search::mutation::Mutations): another column of the table, whatever its type,
//! a text that is matched otherwise, a count of something else.

use std::collections::{BTreeSet, HashMap};

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Affinity, Schema, TableId};
use sqlgauge_sql::tree::{
    Aggregate, Args, BinaryOperator, ColumnRef, Expr, LikeOperator, Literal, Query, RelationId,
};
use sqlgauge_sql::visit::{change_exprs, each_expr};

use super::build::spread;

const MOST_COLUMNS: usize = 6;

/// The query with each of the slips; of more than so many, so many at equal distances.
pub(super) fn slips(query: &Query, schema: &Schema, most: usize) -> impl Iterator<Item = Query> {
    let tables: HashMap<RelationId, TableId> = reads::tables(query).into_iter().collect();
    let (mut read, mut equated) = (BTreeSet::new(), Vec::new());
    each_expr(query, |expr| match expr {
        Expr::Column(column) => drop(read.insert(*column)),
        Expr::Binary(BinaryOperator::Equal, left, right) => {
            if let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) {
                equated.extend([(*left, *right), (*right, *left)]);
            }
        }
        _ => {}
    });
    let ranked = tables.iter().map(|(&relation, &id)| (relation, ranked(schema, (relation, id), &read)));
    let columns = Columns { ranked: ranked.collect(), read, equated };
    replaced(query, most, move |expr| match expr {
        Expr::Column(column) => columns.others(*column),
        Expr::Literal(Literal::Integer(number)) => {
            number.checked_sub(1).map(|less| Expr::Literal(Literal::Integer(less))).into_iter().collect()
        }
        Expr::Binary(BinaryOperator::Divide, ..) => vec![rounded(expr)],
        Expr::Binary(..) | Expr::Like { .. } => matched_otherwise(expr),
        // The first of several values.
        Expr::InQuery { expr, query, negated: false } => {
            vec![Expr::Binary(BinaryOperator::Equal, expr.clone(), Box::new(Expr::Scalar(query.clone())))]
        }
        Expr::Aggregate(call) if call.function == Function::Count => columns.counts(call),
        _ => Vec::new(),
    })
}

/// The query with one expression replaced, for each expression and each of what it may become; at most so many.
fn replaced(query: &Query, most: usize, others: impl Fn(&Expr) -> Vec<Expr>) -> impl Iterator<Item = Query> {
    // The place of the expression, and the number of its other form.
    let mut forms: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    change_exprs(&mut query.clone(), |expr| {
        forms.extend((0..others(expr).len()).map(|form| (at, form)));
        at += 1;
    });
    let with = move |(place, form): (usize, usize)| {
        let (mut changed, mut at) = (query.clone(), 0);
        change_exprs(&mut changed, |expr| {
            if at == place
                && let Some(other) = others(expr).into_iter().nth(form)
            {
                *expr = other;
            }
            at += 1;
        });
        changed
    };
    spread(forms.into_iter(), most).map(with)
}

/// The columns of a relation that others become first, one more than one becomes: its keys and those that the query reads, then texts,
/// then the rest.
fn ranked(
    schema: &Schema,
    (relation, id): (RelationId, TableId),
    read: &BTreeSet<ColumnRef>,
) -> Vec<ColumnRef> {
    let Some(table) = schema.table(id) else { return Vec::new() };
    let mut columns: Vec<(bool, bool, ColumnRef)> = (0_u32..)
        .zip(&table.columns)
        .filter(|(_, column)| !column.generated)
        .map(|(at, column)| {
            let reference = ColumnRef::at(relation, at);
            let is_rare = !table.primary_key.contains(&at) && !read.contains(&reference);
            (is_rare, is_rare && column.affinity != Affinity::Text, reference)
        })
        .collect();
    columns.sort();
    columns.into_iter().take(MOST_COLUMNS + 1).map(|(.., column)| column).collect()
}

struct Columns {
    /// Of each relation, see [`ranked`].
    ranked: HashMap<RelationId, Vec<ColumnRef>>,
    /// The columns that the query reads.
    read: BTreeSet<ColumnRef>,
    /// Columns that it compares for equality, both ways.
    equated: Vec<(ColumnRef, ColumnRef)>,
}

impl Columns {
    /// The columns that it is compared with, and other ones of the table.
    fn others(&self, column: ColumnRef) -> Vec<Expr> {
        let Some(ranked) = self.ranked.get(&column.relation) else { return Vec::new() };
        let nearest = ranked.iter().copied().filter(|other| *other != column).take(MOST_COLUMNS);
        let equated = self.equated.iter().filter(|(left, _)| *left == column).map(|(_, right)| *right);
        equated.chain(nearest).map(Expr::Column).collect()
    }

    /// A count of rows as one of the different values of a column that the query reads, and of values as one of rows.
    fn counts(&self, call: &Aggregate) -> Vec<Expr> {
        let counted =
            |args: Args, distinct| Expr::Aggregate(Box::new(Aggregate { args, distinct, ..call.clone() }));
        if call.args.as_slice().is_empty() {
            let columns = self.read.iter().take(MOST_COLUMNS);
            return columns.map(|column| counted(Args::List(vec![Expr::Column(*column)]), true)).collect();
        }
        vec![counted(Args::Star, false)]
    }
}

/// A number to two digits.
fn rounded(expr: &Expr) -> Expr {
    let digits = Expr::Literal(Literal::Integer(2));
    Expr::Function { function: Function::Round, args: Args::List(vec![expr.clone(), digits]) }
}

/// `a = 'k'` with LIKE, as a part of the text and whatever the case; LIKE as equality, and with a fixed beginning or end.
fn matched_otherwise(expr: &Expr) -> Vec<Expr> {
    let text = |expr: &Expr| match expr {
        Expr::Literal(Literal::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let like = |expr: &Expr, pattern: String| Expr::Like {
        operator: LikeOperator::Like,
        expr: Box::new(expr.clone()),
        pattern: Box::new(Expr::Literal(Literal::Text(pattern))),
        escape: None,
        negated: false,
    };
    match expr {
        Expr::Binary(BinaryOperator::Equal, left, right) => match (text(left), text(right)) {
            (None, Some(text)) => vec![like(left, text.clone()), like(left, format!("%{text}%"))],
            (Some(text), None) => vec![like(right, text.clone()), like(right, format!("%{text}%"))],
            _ => Vec::new(),
        },
        Expr::Like { operator: LikeOperator::Like, expr, pattern, escape: None, negated: false } => {
            let Some(pattern) = text(pattern) else { return Vec::new() };
            let bare = pattern.trim_matches('%').to_owned();
            let is = Expr::Literal(Literal::Text(bare.clone()));
            let equal = Expr::Binary(BinaryOperator::Equal, expr.clone(), Box::new(is));
            let others = [format!("{bare}%"), format!("%{bare}"), format!("%{bare}%")];
            let others = others.into_iter().filter(|other| *other != pattern);
            [equal].into_iter().chain(others.map(|other| like(expr, other))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use sqlgauge_sql::{PrintDialect, print, resolve};

    use super::*;

    #[test]
    fn each_slip_is_in_one_place() {
        let schema =
            Schema::from_ddl("CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL)").unwrap();
        for (gold, expected) in [
            ("SELECT a FROM t", vec!["SELECT t.id FROM t", "SELECT t.b FROM t", "SELECT t.c FROM t"]),
            (
                "SELECT count(*) FROM t WHERE a > 3",
                vec!["SELECT count(DISTINCT t.a) FROM t WHERE t.a > 3", "a > 2"],
            ),
            ("SELECT count(DISTINCT a) FROM t", vec!["SELECT count(*) FROM t"]),
            ("SELECT x.b FROM t AS x JOIN t AS y ON x.id = y.a GROUP BY x.id", vec!["GROUP BY T2.a"]),
            ("SELECT a / c FROM t", vec!["SELECT round(t.a / t.c, 2) FROM t"]),
            ("SELECT a FROM t WHERE a IN (SELECT id FROM t)", vec!["T1.a = (SELECT"]),
            ("SELECT a FROM t WHERE b = 'k'", vec!["b LIKE 'k'", "b LIKE '%k%'"]),
            ("SELECT a FROM t WHERE 'k' = b", vec!["b LIKE 'k'", "b LIKE '%k%'"]),
            ("SELECT a FROM t WHERE b LIKE '%k%'", vec!["b = 'k'", "b LIKE 'k%'", "b LIKE '%k'"]),
        ] {
            let query = resolve(gold, &schema).unwrap();
            let others = slips(&query, &schema, usize::MAX);
            let texts: Vec<String> =
                others.map(|query| print(&query, &schema, PrintDialect::Sqlite).unwrap()).collect();
            assert!(texts.iter().all(|text| resolve(text, &schema).is_ok()), "{texts:?}");
            for part in expected {
                assert!(texts.iter().any(|text| text.contains(part)), "{gold}: {part} in {texts:?}");
            }
        }
    }
}
