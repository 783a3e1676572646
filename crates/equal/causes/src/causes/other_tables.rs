//! The answer reads other tables than the gold.

use sqlgauge_sql::reads;
use sqlgauge_sql::schema::TableId;
use sqlgauge_sql::tree::{Expr, Relation, RelationId, RelationSource};

use crate::cause::{Cause, Slip, Unclear};
use crate::clauses::{Clause, Clauses};
use crate::pair::{Pair, Rest, Side, Unlike};
use crate::same::{Classes, reads_any};
use crate::words::both;

pub(super) static CAUSE: Cause = Cause {
    id: "other-tables",
    title: "reads different tables",
    about: "The answer takes one table for another, or one more or fewer times. What it asks, shows, groups or sorts by \
            columns of these tables belongs to it.",
    example: [
        "SELECT name FROM singer",
        "SELECT name FROM concert",
        "The prediction reads `concert`, the gold `singer`.",
    ],
    find,
};

fn find(pair: &Pair<'_>, rest: &mut Rest) -> Result<Vec<Slip>, Unclear> {
    if rest.missing.is_empty() && rest.extra.is_empty() {
        return Ok(Vec::new());
    }
    let [prediction, gold] =
        both(pair.tables(&pair.prediction.reads.relations())?, pair.tables(&pair.gold.reads.relations())?)?;
    slip(&CAUSE, pair, rest, Words { verb: "reads ", both: [prediction, gold] }).map(|slip| vec![slip])
}

/// What both do with their tables; the verb stands with the gold too where more follows. Empty where only the other does something.
pub(super) struct Words {
    pub(super) verb: &'static str,
    pub(super) both: [String; 2],
}

/// Whether all of these are tables that the other query does not read beside them.
pub(super) fn are_new(relations: &[Relation], other: &Clauses) -> bool {
    let tables: Vec<_> = other.tables().into_iter().map(|(_, table)| table).collect();
    let is_new =
        |relation: &Relation| matches!(relation.source, RelationSource::Table(id) if !tables.contains(&id));
    !relations.is_empty() && relations.iter().all(is_new)
}

/// What the query of a side does that joins these tables more, and the other in their place: nothing where its joins follow from
/// those of the first.
pub(super) fn joins(pair: &Pair<'_>, side: Side, tables: &[Relation]) -> Result<[String; 2], Unclear> {
    let joins = format!("joins {}", pair.tables(&tables.iter().collect::<Vec<_>>())?);
    let other = if side == Side::Gold { Side::Prediction } else { Side::Gold };
    let (more, fewer) = (pair.clauses(side), pair.clauses(other));
    let classes = Classes::of(&more.keys.iter().collect::<Vec<_>>(), &more.tables(), pair.scene.schema);
    let follows = |key: &Expr| {
        let Expr::Binary(_, left, right) = key else { return true };
        classes.same(left, right) || more.keys.iter().any(|same| classes.same(key, same))
    };
    let instead: Vec<Expr> = fewer.keys.iter().filter(|key| !follows(key)).cloned().collect();
    let ids: Vec<RelationId> = tables.iter().map(|table| table.id).collect();
    let keys: Vec<Expr> = more.keys.iter().filter(|key| reads_any(key, &ids)).cloned().collect();
    if instead.is_empty() || keys.is_empty() {
        return Ok([joins, String::new()]);
    }
    let on = pair.conditions(side, &keys)?;
    Ok([format!("{joins} on {on}"), format!("joins on {}", pair.conditions(other, &instead)?)])
}

/// The slip of tables, with all that reads those which only one of the queries has; all else is still to be explained.
pub(super) fn slip(
    cause: &'static Cause,
    pair: &Pair<'_>,
    rest: &mut Rest,
    words: Words,
) -> Result<Slip, Unclear> {
    let only_one: Vec<&Relation> = rest.missing.iter().chain(&rest.extra).collect();
    // A subquery in the place of tables may say the same in another way.
    if rest.joins || only_one.iter().any(|relation| !matches!(relation.source, RelationSource::Table(_))) {
        return Err(Unclear::OtherShape);
    }
    let others: Vec<RelationId> = only_one.into_iter().map(|relation| relation.id).collect();
    let of_others = |exprs: &[Expr]| exprs.iter().any(|expr| reads_any(expr, &others));
    let mut unlikes = rest.take(|unlike| of_others(&unlike.gold) || of_others(&unlike.prediction));
    let shows = of_others(&pair.gold.outputs) || of_others(&pair.prediction.outputs);
    let groups = of_others(&pair.gold.group_by) || of_others(&pair.prediction.group_by);
    let sorts = |clauses: &Clauses| clauses.order_by.iter().any(|term| reads_any(&term.expr, &others));
    let sorts = sorts(&pair.gold) || sorts(&pair.prediction);
    let differ = Differ {
        conditions: unlikes.iter().map(|unlike| only_unsaid(pair, unlike)).collect(),
        outputs: shows && (rest.width || !rest.outputs.is_empty()),
        group_by: groups && rest.group_by,
        order_by: sorts && rest.order_by,
    };
    let words = match instead(pair, rest)? {
        Some((words, conditions)) => {
            unlikes.extend(conditions);
            words
        }
        None => words,
    };
    let (words, more) = differ.after(words, pair)?;
    let queries = pair.exchange(|clauses, other, side| {
        clauses.reads.clone_from(&other.reads);
        clauses.keys.clone_from(&other.keys);
        unlikes.iter().for_each(|unlike| unlike.exchange(clauses, side));
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
    Ok(Slip { more, ..Slip::new(cause, words, queries) })
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
    fn uses(&self, pair: &Pair<'_>, side: Side) -> Result<Vec<String>, Unclear> {
        let clauses = pair.clauses(side);
        let mut all = Vec::new();
        for unlike in &self.conditions {
            let conditions = if side == Side::Gold { &unlike.gold } else { &unlike.prediction };
            let verb = match unlike.clause {
                Clause::Where => "tests",
                Clause::Having => "keeps groups with",
            };
            if !conditions.is_empty() {
                all.push(format!("{verb} {}", pair.conditions(side, conditions)?));
            }
        }
        if self.outputs {
            all.push(format!("shows {}", pair.values(side, &clauses.outputs)?));
        }
        if self.group_by && !clauses.group_by.is_empty() {
            all.push(format!("groups by {}", pair.values(side, &clauses.group_by)?));
        }
        if self.order_by && !clauses.order_by.is_empty() {
            all.push(format!("sorts by {}", pair.order(side, &clauses.order_by)?));
        }
        Ok(all)
    }

    /// What both do with their tables, the first of it behind the tables themselves, and how much more there is. What both do in the
    /// same words is left out.
    fn after(&self, words: Words, pair: &Pair<'_>) -> Result<([String; 2], usize), Unclear> {
        let (mut prediction, mut gold) = (self.uses(pair, Side::Prediction)?, self.uses(pair, Side::Gold)?);
        let shared: Vec<String> = prediction.iter().filter(|use_| gold.contains(use_)).cloned().collect();
        prediction.retain(|use_| !shared.contains(use_));
        gold.retain(|use_| !shared.contains(use_));
        let more = prediction.len().max(gold.len()).saturating_sub(1);
        let Words { verb, both: [of_prediction, of_gold] } = words;
        let verb_of_gold = if gold.is_empty() && prediction.is_empty() { "" } else { verb };
        let with_use = |tables: String, uses: &[String]| match (tables.is_empty(), uses.first()) {
            (_, None) => tables,
            (true, Some(first)) => first.clone(),
            (false, Some(first)) => format!("{tables} and {first}"),
        };
        let both = [
            with_use(format!("{verb}{of_prediction}"), &prediction),
            with_use(format!("{verb_of_gold}{of_gold}"), &gold),
        ];
        Ok((both, more))
    }
}

/// Without what the gold asks too, of a column that the answer's join makes equal.
fn only_unsaid(pair: &Pair<'_>, unlike: &Unlike) -> Unlike {
    let mut unsaid = unlike.clone();
    let conditions = if unsaid.clause == Clause::Where { &pair.gold.conditions } else { &pair.gold.having };
    unsaid.prediction.retain(|prediction| !conditions.iter().any(|gold| pair.says(gold, prediction)));
    unsaid
}

/// The words for both, and the conditions that they name.
type Instead = (Words, Vec<Unlike>);

/// The conditions by which one reads in subqueries what the other joins, taken out, and the words for them.
fn instead(pair: &Pair<'_>, rest: &mut Rest) -> Result<Option<Instead>, Unclear> {
    let tables =
        |relations: &[Relation]| -> Vec<TableId> { relations.iter().filter_map(Relation::table).collect() };
    let (missing, extra) = (tables(&rest.missing), tables(&rest.extra));
    let reads = |exprs: &[Expr], tables: &[TableId]| exprs.iter().any(|expr| reads_inside(expr, tables));
    let unlikes = rest.take(|unlike| reads(&unlike.prediction, &missing) || reads(&unlike.gold, &extra));
    if unlikes.is_empty() {
        return Ok(None);
    }
    // The subquery may group, sort and cut what the other does outside.
    if rest.group_by
        || rest.order_by
        || rest.limit
        || unlikes.iter().any(|unlike| unlike.clause == Clause::Having)
    {
        return Err(Unclear::OtherShape);
    }
    if rest.conditions.iter().any(|unlike| unlike.clause == Clause::Having) {
        return Err(Unclear::OtherShape);
    }
    let of = |side: Side| {
        let list = |unlike: &Unlike| {
            if side == Side::Gold { unlike.gold.clone() } else { unlike.prediction.clone() }
        };
        let conditions: Vec<Expr> = unlikes.iter().flat_map(list).collect();
        let tables = pair.tables(&pair.clauses(side).reads.relations())?;
        if conditions.is_empty() {
            return Ok(tables);
        }
        Ok(format!("{tables} where {}", pair.conditions(side, &conditions)?))
    };
    let words = Words { verb: "reads ", both: both(of(Side::Prediction)?, of(Side::Gold)?)? };
    Ok(Some((words, unlikes)))
}

/// Whether a subquery of an expression reads one of these tables.
fn reads_inside(expr: &Expr, tables: &[TableId]) -> bool {
    reads::tables(expr).iter().any(|(_, table)| tables.contains(table))
}
