//! The answer reads other tables than the gold.

use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{Expr, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::{Visitor, walk_expr};

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clause, Clauses};
use crate::pair::{Pair, Rest, Side, Unlike};
use crate::same::reads_any;
use crate::words::Words;

pub(super) static CAUSE: Cause = Cause {
    id: "other-tables",
    title: "other tables",
    about: "The answer takes one table for another, or one more or fewer times. What it asks, shows, groups or sorts by \
            columns of these tables belongs to it.",
    example: [
        "SELECT name FROM singer",
        "SELECT name FROM concert",
        "Yours selects from concerts, the gold selects from singers.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if rest.missing.is_empty() && rest.extra.is_empty() {
        return Ok(Vec::new());
    }
    let said = pair.both(
        |say| say.tables(&pair.yours.reads.relations()),
        |say| say.tables(&pair.gold.reads.relations()),
    )?;
    slip(&CAUSE, pair, rest, said.map(|tables| format!("selects from {tables}"))).map(|slip| vec![slip])
}

/// Whether all of these are tables that the other query does not read beside them.
pub(super) fn are_new(relations: &[Relation], other: &Clauses) -> bool {
    let known: Vec<_> = other.tables().into_iter().map(|(_, table)| table).collect();
    let is_new =
        |relation: &Relation| matches!(relation.source, RelationSource::Table(id) if !known.contains(&id));
    !relations.is_empty() && relations.iter().all(is_new)
}

/// The slip of tables, with all that reads those which only one of the queries has; all else is still to be explained.
pub(super) fn slip(
    cause: &'static Cause,
    pair: &Pair<'_>,
    rest: &mut Rest,
    said: [String; 2],
) -> Result<Slip, Unclear> {
    let only_one: Vec<&Relation> = rest.missing.iter().chain(&rest.extra).collect();
    // A subquery in the place of tables may say the same in another way.
    if rest.joins || only_one.iter().any(|relation| !matches!(relation.source, RelationSource::Table(_))) {
        return Err(Unclear::OtherShape);
    }
    let others: Vec<RelationId> = only_one.into_iter().map(|relation| relation.id).collect();
    let of_others = |exprs: &[Expr]| exprs.iter().any(|expr| reads_any(expr, &others));
    let mut taken = rest.take(|unlike| of_others(&unlike.gold) || of_others(&unlike.yours));
    let shows = of_others(&pair.gold.outputs) || of_others(&pair.yours.outputs);
    let groups = of_others(&pair.gold.group_by) || of_others(&pair.yours.group_by);
    let sorts = |clauses: &Clauses| clauses.order_by.iter().any(|term| reads_any(&term.expr, &others));
    let sorts = sorts(&pair.gold) || sorts(&pair.yours);
    let differ = Differ {
        conditions: taken.iter().map(|unlike| only_unsaid(pair, unlike)).collect(),
        outputs: shows && (rest.width || !rest.outputs.is_empty()),
        group_by: groups && rest.group_by,
        order_by: sorts && rest.order_by,
    };
    let said = match instead(pair, rest)? {
        Some((said, conditions)) => {
            taken.extend(conditions);
            said
        }
        None => said,
    };
    let said = differ.after(said, pair)?;
    let both = pair.exchange(|clauses, other, side| {
        clauses.reads.clone_from(&other.reads);
        clauses.keys.clone_from(&other.keys);
        taken.iter().for_each(|unlike| unlike.exchange(clauses, side));
        if shows {
            clauses.outputs.clone_from(&other.outputs);
        }
        if groups {
            clauses.group_by.clone_from(&other.group_by);
        }
        if sorts {
            clauses.order_by.clone_from(&other.order_by);
        }
    });
    (rest.missing, rest.extra, rest.keys) = (Vec::new(), Vec::new(), false);
    if shows {
        (rest.outputs, rest.width) = (Vec::new(), false);
    }
    rest.group_by &= !groups;
    rest.order_by &= !sorts;
    Ok(Slip::new(cause, said, both))
}

/// What differs in the use of tables that only one query reads.
struct Differ {
    conditions: Vec<Unlike>,
    outputs: bool,
    group_by: bool,
    order_by: bool,
}

impl Differ {
    /// What one query does with its tables.
    fn said(&self, say: &Words<'_, '_>, pair: &Pair<'_>, side: Side) -> Option<Vec<String>> {
        let clauses = pair.clauses(side);
        let mut all = Vec::new();
        for unlike in &self.conditions {
            let own = if side == Side::Gold { &unlike.gold } else { &unlike.yours };
            if !own.is_empty() {
                all.push(format!("{} {}", unlike.verb(), say.conditions(side, own)?));
            }
        }
        if self.outputs {
            all.push(format!("gives {}", say.values(side, &clauses.outputs)?));
        }
        if self.group_by && !clauses.group_by.is_empty() {
            all.push(format!("groups by {}", say.values(side, &clauses.group_by)?));
        }
        if self.order_by && !clauses.order_by.is_empty() {
            all.push(format!("sorts by {}", say.order(side, &clauses.order_by)?));
        }
        Some(all)
    }

    /// What both do with their tables, behind what is said of the tables themselves; what both do in the same words is left out.
    fn after(&self, [yours, gold]: [String; 2], pair: &Pair<'_>) -> Result<[String; 2], Unclear> {
        let mut uses = [Side::Yours, Side::Gold].map(|side| pair.one(|say| self.said(say, pair, side)));
        if let [Ok(own), Ok(other)] = &mut uses {
            let both: Vec<String> = own.iter().filter(|said| other.contains(said)).cloned().collect();
            own.retain(|said| !both.contains(said));
            other.retain(|said| !both.contains(said));
        }
        let [own, other] = uses;
        let behind = |said: String, uses: Vec<String>| {
            uses.iter().fold(said, |said, own| format!("{said}, and {own}"))
        };
        Ok([behind(yours, own?), behind(gold, other?)])
    }
}

/// Without what the gold asks too, of a column that the answer's join makes equal.
fn only_unsaid(pair: &Pair<'_>, unlike: &Unlike) -> Unlike {
    let mut own = unlike.clone();
    let known = if own.clause == Clause::Where { &pair.gold.conditions } else { &pair.gold.having };
    own.yours.retain(|yours| !known.iter().any(|gold| pair.says(gold, yours)));
    own
}

/// What is said of both, and the conditions that it says.
type Instead = ([String; 2], Vec<Unlike>);

/// The conditions by which one reads in subqueries what the other joins, taken out, and what is said of them.
fn instead(pair: &Pair<'_>, rest: &mut Rest) -> Result<Option<Instead>, Unclear> {
    let tables = |relations: &[Relation]| -> Vec<TableId> { relations.iter().filter_map(table_of).collect() };
    let (missing, extra) = (tables(&rest.missing), tables(&rest.extra));
    let reads = |exprs: &[Expr], tables: &[TableId]| exprs.iter().any(|expr| reads_inside(expr, tables));
    let taken = rest.take(|unlike| reads(&unlike.yours, &missing) || reads(&unlike.gold, &extra));
    if taken.is_empty() {
        return Ok(None);
    }
    // The subquery may group, sort and cut what the other does outside.
    if rest.group_by
        || rest.order_by
        || rest.limit
        || taken.iter().any(|unlike| unlike.clause == Clause::Having)
    {
        return Err(Unclear::OtherShape);
    }
    if rest.conditions.iter().any(|unlike| unlike.clause == Clause::Having) {
        return Err(Unclear::OtherShape);
    }
    let of = |say: &Words<'_, '_>, side: Side| {
        let list =
            |unlike: &Unlike| if side == Side::Gold { unlike.gold.clone() } else { unlike.yours.clone() };
        let conditions: Vec<Expr> = taken.iter().flat_map(list).collect();
        let tables = say.tables(&pair.clauses(side).reads.relations())?;
        let asked = if conditions.is_empty() {
            String::new()
        } else {
            format!(" where {}", say.conditions(side, &conditions)?.replace(" and that ", " and "))
        };
        Some(format!("selects from {tables}{asked}"))
    };
    let said = pair.both(|say| of(say, Side::Yours), |say| of(say, Side::Gold))?;
    Ok(Some((said, taken)))
}

fn table_of(relation: &Relation) -> Option<TableId> {
    match relation.source {
        RelationSource::Table(id) => Some(id),
        _ => None,
    }
}

/// Whether a subquery of an expression reads one of these tables.
fn reads_inside(expr: &Expr, tables: &[TableId]) -> bool {
    struct Reads<'a>(&'a [TableId], bool);
    impl Visitor for Reads<'_> {
        fn relation(&mut self, relation: &Relation) {
            self.1 |= table_of(relation).is_some_and(|table| self.0.contains(&table));
        }
    }
    let mut reads = Reads(tables, false);
    walk_expr(&mut reads, expr);
    reads.1
}
