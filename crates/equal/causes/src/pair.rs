//! A gold and an answer that are SELECTs, clause by clause, in the gold's numbers.

use sqlgauge_questions::{Around, Speech};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{ColumnRef, Cte, Expr, Query, Relation, RelationId};

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clause, Clauses};
use crate::same::Classes;

/// Which of the two queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Gold,
    Yours,
}

/// What is the same for all queries of a pair.
pub(crate) struct Scene<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) speech: &'a Speech<'a>,
}

/// What the queries around read, of the gold and of the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    pub(crate) gold: Around,
    pub(crate) yours: Around,
}

/// Two SELECTs.
pub(crate) struct Pair<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) ctes: &'a [Cte],
    pub(crate) gold: Clauses,
    pub(crate) yours: Clauses,
    /// The equalities that both have.
    pub(crate) classes: Classes,
    /// Those that the answer has.
    pub(crate) classes_of_yours: Classes,
    /// With what these two read themselves.
    pub(crate) around: Surroundings,
}

/// Conditions that only one of the queries has, about the same columns.
#[derive(Debug, Clone)]
pub(crate) struct Unlike {
    pub(crate) clause: Clause,
    pub(crate) gold: Vec<Expr>,
    pub(crate) yours: Vec<Expr>,
}

impl Unlike {
    /// What a query does that has them.
    pub(crate) fn verb(&self) -> &'static str {
        match self.clause {
            Clause::Where => "asks that",
            Clause::Having => "asks of a group that",
        }
    }

    /// Puts the conditions of the other query in the place of those of this side.
    pub(crate) fn exchange(&self, clauses: &mut Clauses, side: Side) {
        let (own, other) = match side {
            Side::Gold => (&self.gold, &self.yours),
            Side::Yours => (&self.yours, &self.gold),
        };
        let list = clauses.list(self.clause);
        list.retain(|expr| !own.contains(expr));
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
            self.conditions.iter().map(|unlike| unlike.gold.len() + unlike.yours.len()).sum();
        let tables = self.missing.len() + self.extra.len();
        flags.into_iter().filter(|flag| *flag).count() + conditions + tables + self.outputs.len()
    }

    /// Makes one of all conditions of a clause where each query has some of its own: what the one asks in the place of the
    /// other cannot be told apart.
    pub(crate) fn merge(&mut self) {
        for clause in [Clause::Where, Clause::Having] {
            let all = || self.conditions.iter().filter(|unlike| unlike.clause == clause);
            if all().any(|unlike| !unlike.gold.is_empty()) && all().any(|unlike| !unlike.yours.is_empty()) {
                let gold = all().flat_map(|unlike| unlike.gold.clone()).collect();
                let yours = all().flat_map(|unlike| unlike.yours.clone()).collect();
                self.conditions.retain(|unlike| unlike.clause != clause);
                self.conditions.push(Unlike { clause, gold, yours });
            }
        }
    }

    /// Takes out the conditions of which something is so.
    pub(crate) fn take(&mut self, wanted: impl Fn(&Unlike) -> bool) -> Vec<Unlike> {
        let (taken, rest) = std::mem::take(&mut self.conditions).into_iter().partition(wanted);
        self.conditions = rest;
        taken
    }
}

impl Pair<'_> {
    pub(crate) fn clauses(&self, side: Side) -> &Clauses {
        match side {
            Side::Gold => &self.gold,
            Side::Yours => &self.yours,
        }
    }

    /// All relations that the two read themselves.
    pub(crate) fn relations(&self) -> Vec<RelationId> {
        let both = [&self.gold, &self.yours].into_iter().flat_map(|clauses| clauses.reads.relations());
        both.map(|relation| relation.id).collect()
    }

    /// The name of a column of a table.
    pub(crate) fn column_name(&self, column: ColumnRef) -> Option<&str> {
        let tables = [&self.gold, &self.yours].into_iter().flat_map(Clauses::tables);
        let (_, table) = tables.into_iter().find(|(id, _)| *id == column.relation)?;
        Some(&self.scene.schema.table(table)?.at(column.column)?.name)
    }

    /// Whether two parts are the same wherever they stand.
    pub(crate) fn same(&self, left: &Expr, right: &Expr) -> bool {
        self.classes.same(left, right)
    }

    /// Whether a part of the answer says what a part of the gold does: on the rows that the answer joins.
    pub(crate) fn says(&self, gold: &Expr, yours: &Expr) -> bool {
        self.same(gold, yours) || self.classes_of_yours.same(gold, yours)
    }

    /// The gold with a part of the answer, and the answer with that part of the gold: `change` puts the other's part in.
    pub(crate) fn exchange(&self, change: impl Fn(&mut Clauses, &Clauses, Side)) -> [Query; 2] {
        [(&self.gold, &self.yours, Side::Gold), (&self.yours, &self.gold, Side::Yours)].map(
            |(own, other, side)| {
                let mut clauses = own.clone();
                change(&mut clauses, other, side);
                clauses.query(self.ctes)
            },
        )
    }

    /// A slip in conditions: the answer's stand in the place of the gold's.
    pub(crate) fn of_conditions(&self, cause: &'static Cause, unlike: &Unlike, said: [String; 2]) -> Slip {
        Slip::new(cause, said, self.exchange(|clauses, _, side| unlike.exchange(clauses, side)))
    }

    /// A slip in conditions that both ask something about.
    pub(crate) fn asks_otherwise(&self, cause: &'static Cause, unlike: &Unlike) -> Result<Slip, Unclear> {
        let verb = unlike.verb();
        let said = self.both(
            |say| say.conditions(Side::Yours, &unlike.yours),
            |say| say.conditions(Side::Gold, &unlike.gold),
        )?;
        Ok(self.of_conditions(cause, unlike, said.map(|words| format!("{verb} {words}"))))
    }
}
