//! A gold and an answer that are SELECTs, clause by clause, in the gold's numbers.

use std::collections::HashMap;

use sqlgauge_sql::canonical::CanonicalText;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{ColumnRef, Cte, Expr, Query, Relation, RelationId};

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clause, Clauses};
use crate::same::Classes;
use crate::words::both;

/// Which of the two queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Gold,
    Prediction,
}

/// What is the same for all queries of a pair.
pub(crate) struct Scene<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) gold: &'a CanonicalText,
    pub(crate) prediction: &'a CanonicalText,
}

/// The answer's own numbers of the relations that it reads under the gold's numbers.
pub(crate) type Matched = HashMap<RelationId, RelationId>;

/// Two SELECTs.
pub(crate) struct Pair<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) ctes: &'a [Cte],
    pub(crate) gold: Clauses,
    pub(crate) prediction: Clauses,
    /// The equalities that both have.
    pub(crate) classes: Classes,
    /// Those that the answer has.
    pub(crate) classes_of_prediction: Classes,
    /// Of these two and of the queries around.
    pub(crate) numbers: Matched,
}

/// Conditions that only one of the queries has, about the same columns.
#[derive(Debug, Clone)]
pub(crate) struct Unlike {
    pub(crate) clause: Clause,
    pub(crate) gold: Vec<Expr>,
    pub(crate) prediction: Vec<Expr>,
}

impl Unlike {
    /// Puts the conditions of the other query in the place of those of this side.
    pub(crate) fn exchange(&self, clauses: &mut Clauses, side: Side) {
        let (ours, other) = match side {
            Side::Gold => (&self.gold, &self.prediction),
            Side::Prediction => (&self.prediction, &self.gold),
        };
        let list = clauses.list(self.clause);
        list.retain(|expr| !ours.contains(expr));
        list.extend(other.iter().cloned());
    }
}

/// What no cause has explained yet.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one clause that differs or does not")]
pub(crate) struct Rest {
    /// Relations that only the gold reads.
    pub(crate) missing: Vec<Relation>,
    /// Relations that only the answer reads.
    pub(crate) extra: Vec<Relation>,
    /// One FROM has outer joins, and the other is another.
    pub(crate) joins: bool,
    pub(crate) keys: bool,
    pub(crate) conditions: Vec<Unlike>,
    /// Places of outputs that differ.
    pub(crate) outputs: Vec<usize>,
    /// The outputs are not as many.
    pub(crate) width: bool,
    pub(crate) distinct: bool,
    pub(crate) group_by: bool,
    pub(crate) order_by: bool,
    pub(crate) limit: bool,
}

impl Rest {
    /// How many differences there are.
    pub(crate) fn count(&self) -> usize {
        let flags =
            [self.joins, self.keys, self.width, self.distinct, self.group_by, self.order_by, self.limit];
        let conditions: usize =
            self.conditions.iter().map(|unlike| unlike.gold.len() + unlike.prediction.len()).sum();
        let tables = self.missing.len() + self.extra.len();
        flags.into_iter().filter(|flag| *flag).count() + conditions + tables + self.outputs.len()
    }

    /// Makes one of all conditions of a clause where each query has some of its own: what the one asks in the place of the
    /// other cannot be told apart.
    pub(crate) fn merge(&mut self) {
        for clause in [Clause::Where, Clause::Having] {
            let all = || self.conditions.iter().filter(|unlike| unlike.clause == clause);
            if all().any(|unlike| !unlike.gold.is_empty())
                && all().any(|unlike| !unlike.prediction.is_empty())
            {
                let gold = all().flat_map(|unlike| unlike.gold.clone()).collect();
                let prediction = all().flat_map(|unlike| unlike.prediction.clone()).collect();
                self.conditions.retain(|unlike| unlike.clause != clause);
                self.conditions.push(Unlike { clause, gold, prediction });
            }
        }
    }

    /// Takes out the conditions of which something is so.
    pub(crate) fn take(&mut self, wanted: impl Fn(&Unlike) -> bool) -> Vec<Unlike> {
        let (matching, rest) = std::mem::take(&mut self.conditions).into_iter().partition(wanted);
        self.conditions = rest;
        matching
    }

    /// Takes out the single conditions that stand against each other as is wanted.
    pub(crate) fn take_single(&mut self, wanted: impl Fn(&Expr, &Expr) -> bool) -> Vec<Unlike> {
        self.take(|unlike| match (unlike.gold.as_slice(), unlike.prediction.as_slice()) {
            ([gold], [prediction]) => wanted(gold, prediction),
            _ => false,
        })
    }
}

impl Pair<'_> {
    pub(crate) fn clauses(&self, side: Side) -> &Clauses {
        match side {
            Side::Gold => &self.gold,
            Side::Prediction => &self.prediction,
        }
    }

    /// All relations that the two read themselves.
    pub(crate) fn relations(&self) -> Vec<RelationId> {
        let both = [&self.gold, &self.prediction].into_iter().flat_map(|clauses| clauses.reads.relations());
        both.map(|relation| relation.id).collect()
    }

    /// The name of a column of a table.
    pub(crate) fn column_name(&self, column: ColumnRef) -> Option<&str> {
        let tables = [&self.gold, &self.prediction].into_iter().flat_map(Clauses::tables);
        let (_, table) = tables.into_iter().find(|(id, _)| *id == column.relation)?;
        Some(&self.scene.schema.table(table)?.at(column.column)?.name)
    }

    /// Whether two parts are the same wherever they stand.
    pub(crate) fn same(&self, left: &Expr, right: &Expr) -> bool {
        self.classes.same(left, right)
    }

    /// Whether a part of the answer says what a part of the gold does: on the rows that the answer joins.
    pub(crate) fn says(&self, gold: &Expr, prediction: &Expr) -> bool {
        self.same(gold, prediction) || self.classes_of_prediction.same(gold, prediction)
    }

    /// The gold with a part of the answer, and the answer with that part of the gold: `change` puts the other's part in.
    pub(crate) fn exchange(&self, change: impl Fn(&mut Clauses, &Clauses, Side)) -> [Query; 2] {
        [(&self.gold, &self.prediction, Side::Gold), (&self.prediction, &self.gold, Side::Prediction)].map(
            |(clauses_of_side, other, side)| {
                let mut clauses = clauses_of_side.clone();
                change(&mut clauses, other, side);
                clauses.query(self.ctes)
            },
        )
    }

    /// A slip in conditions: the answer's stand in the place of the gold's.
    pub(crate) fn of_conditions(&self, cause: &'static Cause, unlike: &Unlike, words: [String; 2]) -> Slip {
        let both = self.exchange(|clauses, _, side| unlike.exchange(clauses, side));
        let having = (unlike.clause == Clause::Having).then_some("HAVING");
        Slip { clause: having, ..Slip::new(cause, words, both) }
    }

    /// A slip in conditions of which both have some.
    pub(crate) fn tests_otherwise(&self, cause: &'static Cause, unlike: &Unlike) -> Result<Slip, Unclear> {
        let prediction = self.conditions(Side::Prediction, &unlike.prediction)?;
        let [prediction, gold] = both(prediction, self.conditions(Side::Gold, &unlike.gold)?)?;
        let verb = match unlike.clause {
            Clause::Where => "tests",
            Clause::Having => "keeps groups with",
        };
        Ok(self.of_conditions(cause, unlike, [format!("{verb} {prediction}"), gold]))
    }

    /// A slip in conditions of which only one query has some.
    pub(crate) fn tests_alone(&self, cause: &'static Cause, unlike: &Unlike) -> Result<Slip, Unclear> {
        let tests = |side, conditions: &[Expr]| match conditions {
            [] => Ok(String::new()),
            some => Ok(format!("tests {}", self.conditions(side, some)?)),
        };
        let words = [tests(Side::Prediction, &unlike.prediction)?, tests(Side::Gold, &unlike.gold)?];
        Ok(self.of_conditions(cause, unlike, words))
    }
}
