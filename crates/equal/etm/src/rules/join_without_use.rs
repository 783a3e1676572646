//! # A join of an unused table
//!
//! ## What it does
//! Drops the join of a table from which only the key is read, if that key is what another table in the query refers
//! to; the key is replaced by the reference. In `etm@1` the reference must then be NOT NULL, by its declaration or
//! by a new condition.
//!
//! ## Why it holds
//! Each row that refers to something has exactly one partner, because a foreign key holds and its target is unique.
//! A row whose reference is NULL has none, so the join drops it.
//!
//! ## Needs
//! A foreign key that SQLite checks as `=` compares, for every value that both columns can store; its
//! target is unique; all columns of it are equated; nothing else of the referenced table is read; the join is an inner
//! one, and the table itself no side of an outer join; columns that are equal hold one value (no collation and no
//! conversion between them), and where the key is read elsewhere, the reference compares, groups and sorts as it does.
//!
//! ## Example
//! ```sql
//! SELECT v FROM t JOIN u ON t.id = u.must
//! SELECT v FROM u
//! ```
//!
//! ## Does not hold when
//! The referring column may be NULL: the join drops the rows in which it is. As published this is not looked at. Or
//! the table is the preserved side of a LEFT JOIN: without it nothing is left to preserve. Or the
//! reference has no type and the key is TEXT: SQLite lets 0 refer to `'0'`.
//!
//! ## Source
//! Paper, Table 2, rule 14. Corrected: NULL references.

use sqlgauge_sql::derive::Fact;
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, JoinKind, Query, RelationId, RelationSource, Select,
};

use crate::beside::may_replace;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "14",
    name: "join-without-use",
    summary: "A join of a referenced table that adds nothing",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("join_without_use.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let mut places = 0;
    while let Some(step) = find(query, context) {
        apply(query, step, context);
        places += 1;
    }
    places
}

/// A relation to drop with the pairs of its key columns and what refers to them.
struct Step {
    parent: RelationId,
    links: Vec<(ColumnRef, ColumnRef)>,
}

fn find(query: &Query, context: &RuleContext<'_>) -> Option<Step> {
    let select = query.as_select()?;
    let from = select.from.as_ref()?;
    if !context.is_sound() && !from.is_inner() {
        return None;
    }
    let inner = inner_relations(from);
    if inner.len() < 2 {
        return None;
    }
    let equalities = equalities(select, context.is_sound());
    for &parent in inner.iter().filter(|id| tools::may_go(from, **id)) {
        let Some(table) = context.facts.table_of(parent) else { continue };
        let mut links: Vec<(ColumnRef, ColumnRef)> = Vec::new();
        for &(a, b) in &equalities {
            for (parent_column, other) in [(a, b), (b, a)] {
                if parent_column.relation == parent
                    && other.relation != parent
                    && inner.contains(&other.relation)
                {
                    links.push((parent_column, other));
                }
            }
        }
        for &child in inner.iter().filter(|child| **child != parent) {
            let Some(child_table) = context.facts.table_of(child).and_then(|id| context.schema().table(id))
            else {
                continue;
            };
            for foreign in &child_table.foreign_keys {
                let Some((target, columns)) = context.partner(child_table, foreign) else { continue };
                if target != table || !fits_profile(&columns, target, context) {
                    continue;
                }
                let pairs: Vec<_> = columns
                    .iter()
                    .zip(&foreign.columns)
                    .map(|(&key, &reference)| (ColumnRef::at(parent, key), ColumnRef::at(child, reference)))
                    .collect();
                let linked = pairs.iter().all(|pair| links.contains(pair));
                let is_seen = !context.is_sound() || tools::may_stand_in(from, parent, child);
                if linked && is_seen && only_keys_are_read(query, parent, &pairs, context) {
                    return Some(Step { parent, links: pairs });
                }
            }
        }
    }
    None
}

fn fits_profile(columns: &[u32], target: sqlgauge_sql::schema::TableId, context: &RuleContext<'_>) -> bool {
    let Some(table) = context.schema().table(target) else { return false };
    if context.is_sound() {
        table.is_unique(columns)
    } else {
        table.primary_key == columns && columns.len() == 1
    }
}

/// The relations that no outer join touches.
fn inner_relations(from: &From) -> Vec<RelationId> {
    match from {
        From::Relation(relation) => match relation.source {
            RelationSource::Table(_) => vec![relation.id],
            _ => Vec::new(),
        },
        From::Join(join) => match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                let mut all = inner_relations(&join.left);
                all.extend(inner_relations(&join.right));
                all
            }
            JoinKind::Left => inner_relations(&join.left),
            JoinKind::Right => inner_relations(&join.right),
            JoinKind::Full => Vec::new(),
        },
    }
}

fn equalities(select: &Select, everywhere: bool) -> Vec<(ColumnRef, ColumnRef)> {
    let conditions = if everywhere {
        sqlgauge_sql::derive::conjuncts(select)
    } else {
        let bare = select.from.as_ref().map(tools::on_conjuncts);
        bare.unwrap_or_default()
    };
    let pairs = conditions.into_iter().filter_map(|condition| match condition {
        Expr::Binary(BinaryOperator::Equal, left, right) => {
            Some((tools::as_column(left)?, tools::as_column(right)?))
        }
        _ => None,
    });
    pairs.collect()
}

fn only_keys_are_read(
    query: &Query,
    parent: RelationId,
    links: &[(ColumnRef, ColumnRef)],
    context: &RuleContext<'_>,
) -> bool {
    let reads = tools::columns_read(query, parent);
    if !reads.iter().all(|column| links.iter().any(|(key, _)| key.column == *column)) {
        return false;
    }
    if !context.is_sound() {
        return true;
    }
    links.iter().all(|(key, reference)| {
        let (key_expr, reference_expr) = (Expr::Column(*key), Expr::Column(*reference));
        let facts = &context.facts;
        let alone = reads.iter().filter(|column| **column == key.column).count() == 1;
        // The foreign key compares by the affinity of the key, and so does the join if that one is numeric.
        let numeric =
            matches!(facts.affinity(&key_expr), Fact::Known(Some(affinity)) if affinity.is_numeric());
        let stands = || alone || may_replace(query, std::iter::once((*key, &reference_expr)), facts);
        // By the collation of whichever stands on the left.
        let is_one = facts.equals_are_identical(&key_expr, &reference_expr)
            && facts.equals_are_identical(&reference_expr, &key_expr);
        (is_one && stands()) || (alone && numeric && facts.equality_fixes(&reference_expr, &key_expr))
    })
}

fn apply(query: &mut Query, step: Step, context: &RuleContext<'_>) {
    let Step { parent, links } = step;
    if let Some(select) = query.as_select_mut() {
        select.from = select.from.take().and_then(|from| tools::without(from, parent, &mut select.filter));
        let mut conjuncts = tools::take_conjuncts(&mut select.filter);
        conjuncts.retain(|conjunct| !is_link(conjunct, &links));
        select.filter = tools::conjunction(conjuncts);
        if let Some(from) = &mut select.from {
            tools::retain_on(from, &|conjunct| !is_link(conjunct, &links));
        }
    }
    for (key, reference) in &links {
        tools::replace_column(query, *key, &Expr::Column(*reference));
    }
    if !context.is_sound() {
        return;
    }
    for (_, reference) in links {
        if context.facts.column(reference).nullable
            && let Some(select) = query.as_select_mut()
        {
            let value = Box::new(Expr::Column(reference));
            tools::add_conjunct(&mut select.filter, Expr::IsNull { expr: value, negated: true });
        }
    }
}

fn is_link(conjunct: &Expr, links: &[(ColumnRef, ColumnRef)]) -> bool {
    let Expr::Binary(BinaryOperator::Equal, left, right) = conjunct else { return false };
    let (Expr::Column(a), Expr::Column(b)) = (left.as_ref(), right.as_ref()) else { return false };
    links.contains(&(*a, *b)) || links.contains(&(*b, *a))
}

/// References that SQLite's check takes for a key, and that do not equal it.
const CONVERTED: &str = "CREATE TABLE p (k TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (b NOT NULL REFERENCES p (k)); CREATE TABLE r (k TEXT NOT NULL, PRIMARY KEY (k COLLATE NOCASE)); CREATE TABLE e (b TEXT NOT NULL REFERENCES r); CREATE TABLE s (k TEXT, n INT, UNIQUE (n, k)); CREATE TABLE f (n INT NOT NULL, b BLOB NOT NULL, FOREIGN KEY (n, b) REFERENCES s (n, k));";

/// Numbers do not compare by the collation of their column, but what they are put beside does.
const COLLATED_NUMBER: &str = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p_id INT NOT NULL COLLATE NOCASE REFERENCES p(id), v INT) STRICT; CREATE TABLE n (b TEXT);";

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT v FROM t JOIN u ON t.id = u.must", "SELECT v FROM u"),
    RuleCase::equal(SCHEMA, "SELECT t.id, v FROM t JOIN u ON t.id = u.must", "SELECT must, v FROM u"),
    RuleCase::equal(SCHEMA, "SELECT v FROM t JOIN u ON t.id = u.t_id", "SELECT v FROM u WHERE t_id IS NOT NULL").sound(),
    RuleCase::equal(SCHEMA, "SELECT v FROM t JOIN u ON t.id = u.t_id", "SELECT v FROM u").paper(),
    RuleCase::differs(SCHEMA, "SELECT v FROM t JOIN u ON t.id = u.t_id", "SELECT v FROM u").sound().witness("INSERT INTO u SELECT 1, NULL, 1, 1 WHERE 0; INSERT INTO t VALUES (1, 'a', 'b', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, 1)"),
    RuleCase::differs(SCHEMA, "SELECT v FROM t JOIN u ON t.id = u.must WHERE name = 'x'", "SELECT v FROM u"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t JOIN u ON t.id = u.must", "SELECT name FROM t"),
    RuleCase::equal("CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE c (a INT NOT NULL, b INT NOT NULL, v INT, FOREIGN KEY (a, b) REFERENCES p(a, b))", "SELECT v FROM c JOIN p ON c.a = p.a AND c.b = p.b", "SELECT v FROM c").sound(),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE u (uid INTEGER PRIMARY KEY, must INT NOT NULL REFERENCES t(id), v INT); CREATE TABLE w (x INT, y INT NOT NULL);",
        "SELECT u.v, w.y FROM t LEFT JOIN w ON w.x = t.id JOIN u ON u.must = t.id",
        "SELECT u.v, w.y FROM u JOIN w ON w.x = u.must",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (1, 1, 5)"),
    RuleCase::equal(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE u (uid INTEGER PRIMARY KEY, must INT NOT NULL REFERENCES t(id), v INT); CREATE TABLE w (x INT, y INT NOT NULL);",
        "SELECT u.v, w.y FROM t JOIN u ON u.must = t.id LEFT JOIN w ON w.x = t.id",
        "SELECT u.v, w.y FROM u LEFT JOIN w ON w.x = u.must",
    )
    .sound(),
    RuleCase::differs(
        "CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (p_id TEXT COLLATE NOCASE REFERENCES p (id))",
        "SELECT COUNT(DISTINCT p.id) FROM p JOIN c ON p.id = c.p_id",
        "SELECT COUNT(DISTINCT p_id) FROM c",
    )
    .sound()
    .witness("INSERT INTO p VALUES ('A'), ('a'); INSERT INTO c VALUES ('A'), ('a')"),
    RuleCase::differs(
        "CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (p_id TEXT COLLATE NOCASE REFERENCES p (id))",
        "SELECT p.id FROM p JOIN c ON c.p_id = p.id",
        "SELECT p_id FROM c WHERE p_id IS NOT NULL",
    )
    .sound()
    .witness("INSERT INTO p VALUES ('A'), ('a'); INSERT INTO c VALUES ('A'), ('a')"),
    RuleCase::differs(
        COLLATED_NUMBER,
        "SELECT p.id, c.v FROM p JOIN c ON p.id = c.p_id UNION SELECT b, 2 FROM n",
        "SELECT p_id, v FROM c UNION SELECT b, 2 FROM n",
    )
    .sound()
    .witness("INSERT INTO n VALUES ('A'), ('a')"),
    RuleCase::differs(
        COLLATED_NUMBER,
        "SELECT MAX(p.id, 'a', 'B'), c.v FROM p JOIN c ON p.id = c.p_id",
        "SELECT MAX(p_id, 'a', 'B'), v FROM c",
    )
    .sound()
    .witness("INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1)"),
    RuleCase::equal(
        COLLATED_NUMBER,
        "SELECT p.id, c.v FROM p JOIN c ON p.id = c.p_id UNION SELECT COUNT(*), 2 FROM n",
        "SELECT p_id, v FROM c UNION SELECT COUNT(*), 2 FROM n",
    )
    .sound(),
    RuleCase::differs(CONVERTED, "SELECT c.b FROM c JOIN p ON c.b = p.k", "SELECT b FROM c")
        .sound()
        .witness("INSERT INTO p VALUES ('0'); INSERT INTO c VALUES (0)"),
    RuleCase::differs(CONVERTED, "SELECT e.b FROM e JOIN r ON e.b = r.k", "SELECT b FROM e")
        .sound()
        .witness("INSERT INTO r VALUES ('a'); INSERT INTO e VALUES ('A')"),
    RuleCase::differs(CONVERTED, "SELECT COUNT(*) FROM f JOIN s ON f.n = s.n AND f.b = s.k", "SELECT COUNT(*) FROM f")
        .sound()
        .witness("INSERT INTO s VALUES ('1', 1); INSERT INTO f VALUES (1, 1)"),
];
