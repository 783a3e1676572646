//! Another set operation.

use std::collections::BTreeSet;

use sqlgauge_sql::tree::{Body, Query, Relation, RelationSource, SetOperator};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::cause::{Cause, Slip, Unclear};

pub(crate) static CAUSE: Cause = Cause {
    id: "set-operation",
    title: "a set operation",
    about: "The queries put their parts together by other set operators, or one is a single SELECT over the tables of which \
            the other has a compound.",
    example: [
        "SELECT country FROM singer WHERE age > 40 INTERSECT SELECT country FROM singer WHERE age < 30",
        "SELECT country FROM singer WHERE age > 40 UNION SELECT country FROM singer WHERE age < 30",
        "Yours takes what either part returns (UNION), the gold takes what both parts return (INTERSECT).",
    ],
    find: |_, _| Ok(Vec::new()),
};

/// The slip of parts that are put together otherwise.
pub(crate) fn other_operators(
    gold: &[(SetOperator, bool)],
    yours: &[(SetOperator, bool)],
    both: [Query; 2],
) -> Slip {
    let said = [yours, gold].map(|operators| {
        let said: Vec<&str> = operators.iter().map(|&operator| taken(operator)).collect();
        format!("takes {}", said.join(", then "))
    });
    Slip::new(&CAUSE, said, both)
}

fn taken((operator, all): (SetOperator, bool)) -> &'static str {
    match (operator, all) {
        (SetOperator::Union, true) => "the rows of both parts (UNION ALL)",
        (SetOperator::Union, false) => "what either part returns (UNION)",
        (SetOperator::Intersect, _) => "what both parts return (INTERSECT)",
        (SetOperator::Except, _) => "what only the first part returns (EXCEPT)",
    }
}

/// The slip of a compound and a single SELECT over the tables of its parts, neither with a subquery: then the shape itself
/// is the difference, and not another way to say the same.
pub(crate) fn other_shape(gold: &Query, yours: &Query) -> Result<Slip, Unclear> {
    let is_flat = |query: &Query| Sources::of(query).1 == 1;
    let (compound, single, is_gold) = match (&gold.body, &yours.body) {
        (Body::SetOperation { .. }, Body::Select(_)) => (gold, yours, true),
        (Body::Select(_), Body::SetOperation { .. }) => (yours, gold, false),
        _ => return Err(Unclear::OtherShape),
    };
    let Body::SetOperation { operator, all, left, right } = &compound.body else {
        return Err(Unclear::OtherShape);
    };
    let [own, first, second] = [
        Sources::of(single),
        Sources::of(&Query::of(left.as_ref().clone())),
        Sources::of(&Query::of(right.as_ref().clone())),
    ];
    if !is_flat(single) || own.0 != first.0 || own.0 != second.0 || first.1 + second.1 != 2 {
        return Err(Unclear::OtherShape);
    }
    let one = "is one SELECT".to_owned();
    let two = format!("takes {}", taken((*operator, *all)));
    let said = if is_gold { [one, two] } else { [two, one] };
    Ok(Slip::new(&CAUSE, said, [yours.clone(), gold.clone()]))
}

/// The tables that a query reads, each once, and how many SELECTs it has.
struct Sources(BTreeSet<usize>, usize);

impl Sources {
    fn of(query: &Query) -> Self {
        let mut own = Self(BTreeSet::new(), 0);
        walk_query(&mut own, query);
        own
    }
}

impl Visitor for Sources {
    fn body(&mut self, body: &Body) {
        self.1 += usize::from(matches!(body, Body::Select(_)));
    }

    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Table(id) = relation.source {
            self.0.insert(id.index());
        }
    }
}
