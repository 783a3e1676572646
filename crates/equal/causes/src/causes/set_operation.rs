//! Another set operation.

use std::collections::{BTreeMap, BTreeSet};

use sqlgauge_sql::tree::{
    Body, ColumnRef, Expr, Literal, Place, Query, Relation, RelationId, RelationSource, SetOperator,
};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::cause::{Cause, Slip, Unclear};

pub(crate) static CAUSE: Cause = Cause {
    id: "set-operation",
    title: "a set operation",
    about: "The queries put their parts together with different set operators, or one is a single SELECT over the tables of which \
            the other has a compound.",
    example: [
        "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30",
        "SELECT country FROM singer WHERE age > 40 UNION SELECT country FROM singer WHERE age < 30",
        "The prediction joins its parts by UNION, the gold by INTERSECT.",
    ],
    find: |_, _| Ok(Vec::new()),
};

/// The slip of parts that are put together otherwise.
pub(crate) fn other_operators(
    gold: &[(SetOperator, bool)],
    prediction: &[(SetOperator, bool)],
    both: [Query; 2],
) -> Slip {
    let [prediction, gold] = [prediction, gold].map(|operators| {
        let names: Vec<&str> = operators.iter().map(|&operator| name(operator)).collect();
        format!("by {}", names.join(", then "))
    });
    Slip::new(&CAUSE, [format!("joins its parts {prediction}"), gold], both)
}

fn name((operator, all): (SetOperator, bool)) -> &'static str {
    match (operator, all) {
        (SetOperator::Union, true) => "UNION ALL",
        (SetOperator::Union, false) => "UNION",
        (SetOperator::Intersect, _) => "INTERSECT",
        (SetOperator::Except, _) => "EXCEPT",
    }
}

/// The slip of a compound and a single SELECT that reads the same columns and has the same constants, neither with a subquery:
/// then the shape itself is the difference, and not another way to say the same, nor something beside it.
pub(crate) fn other_shape(gold: &Query, prediction: &Query) -> Result<Slip, Unclear> {
    let (compound, single, is_gold) = match (&gold.body, &prediction.body) {
        (Body::SetOperation { .. }, Body::Select(_)) => (gold, prediction, true),
        (Body::Select(_), Body::SetOperation { .. }) => (prediction, gold, false),
        _ => return Err(Unclear::OtherShape),
    };
    let Body::SetOperation { operator, all, left, right } = &compound.body else {
        return Err(Unclear::OtherShape);
    };
    let [whole, alone, first, second] = [
        Parts::of(compound),
        Parts::of(single),
        Parts::of(&Query::of(left.as_ref().clone())),
        Parts::of(&Query::of(right.as_ref().clone())),
    ];
    let shows = |query: &Query, parts: &Parts| -> Option<Vec<Option<(usize, Place)>>> {
        let outputs = query.outputs()?.iter();
        Some(
            outputs
                .map(
                    |output| if let Expr::Column(column) = output.expr { parts.column(column) } else { None },
                )
                .collect(),
        )
    };
    let (of_compound, of_single) = (shows(compound, &whole), shows(single, &alone));
    let is_plain = of_compound.as_ref().is_some_and(|all| all.iter().all(Option::is_some));
    let is_flat = alone.selects == 1 && first.selects + second.selects == 2;
    let same_tables = alone.tables() == first.tables() && alone.tables() == second.tables();
    let same_parts =
        alone.columns() == whole.columns() && alone.literals == whole.literals && of_compound == of_single;
    if !(is_plain && is_flat && same_tables && same_parts) {
        return Err(Unclear::OtherShape);
    }
    let one = "is one SELECT".to_owned();
    let two = format!("joins two by {}", name((*operator, *all)));
    let words = if is_gold { [one, two] } else { [two, one] };
    Ok(Slip::new(&CAUSE, words, [prediction.clone(), gold.clone()]))
}

/// What a query is made of.
#[derive(Default)]
struct Parts {
    selects: usize,
    relations: BTreeMap<RelationId, usize>,
    read: Vec<ColumnRef>,
    literals: BTreeSet<Literal>,
}

impl Parts {
    fn of(query: &Query) -> Self {
        let mut parts = Self::default();
        walk_query(&mut parts, query);
        parts
    }

    fn tables(&self) -> BTreeSet<usize> {
        self.relations.values().copied().collect()
    }

    /// The table of a column, and its place there.
    fn column(&self, column: ColumnRef) -> Option<(usize, Place)> {
        Some((*self.relations.get(&column.relation)?, column.column))
    }

    fn columns(&self) -> BTreeSet<Option<(usize, Place)>> {
        self.read.iter().map(|column| self.column(*column)).collect()
    }
}

impl Visitor for Parts {
    fn body(&mut self, body: &Body) {
        self.selects += usize::from(matches!(body, Body::Select(_)));
    }

    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Table(id) = relation.source {
            self.relations.insert(relation.id, id.index());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(column) => self.read.push(*column),
            Expr::Literal(literal) => {
                self.literals.insert(literal.clone());
            }
            _ => {}
        }
    }
}
