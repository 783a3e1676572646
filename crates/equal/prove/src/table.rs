//! Tables of symbolic rows that satisfy the constraints of the schema.
//!
//! # Contract
//! Every database of at most k rows per table whose columns hold values of their declared types is an assignment of the
//! unknowns. Constraints that cannot be encoded are left out: that only adds databases. As a table is a bag, its rows
//! come first and, where its key allows it, in the order of the key.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::rc::Rc;

use sqlgauge_sql::Definition;
use sqlgauge_sql::derive::{Fact, Facts};
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Affinity, Column, Index, Schema, Table, TableId, TableKind};
use sqlgauge_sql::tree::{Body, ColumnRef, Expr, Place, Query};

use super::ProofAssumption;
use super::exec::{Env, Run};
use super::ir::{Sort, Term, Terms};
use super::value::SymbolicValue;
use super::world::{Stop, SymbolicRow, SymbolicWorld};

/// The classes of values that a column is taken to hold besides NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Classes {
    integer: bool,
    real: bool,
    text: bool,
}

/// What a column declares, beyond classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Narrow {
    Nothing,
    /// 0 and 1.
    Truth,
    /// What SQLite reads as a time.
    Time,
}

fn narrow(column: &Column) -> Narrow {
    let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_uppercase();
    let is_numeric = column.affinity == Affinity::Numeric;
    if is_numeric && declared.contains("BOOL") {
        Narrow::Truth
    } else if is_numeric && (declared.contains("DATE") || declared.contains("TIME")) {
        Narrow::Time
    } else {
        Narrow::Nothing
    }
}

/// What a column of that type holds, as [`ProofAssumption::ValuesOfDeclaredType`] says.
fn classes(column: &Column) -> Classes {
    match column.affinity {
        Affinity::Integer => Classes { integer: true, real: false, text: false },
        Affinity::Real => Classes { integer: false, real: true, text: false },
        Affinity::Text => Classes { integer: false, real: false, text: true },
        Affinity::Numeric => match narrow(column) {
            Narrow::Time => Classes { integer: false, real: false, text: true },
            Narrow::Truth => Classes { integer: true, real: false, text: false },
            Narrow::Nothing => Classes { integer: true, real: true, text: false },
        },
        Affinity::Blob => Classes { integer: true, real: true, text: true },
    }
}

/// Adds the tables that a query reads, also through views.
pub(crate) fn tables_of<'s>(world: &mut SymbolicWorld<'s>, query: &Query, tables: &mut BTreeSet<TableId>) {
    let schema: &'s Schema = world.schema;
    let mut seen = BTreeSet::new();
    let mut pending = vec![query];
    while let Some(query) = pending.pop() {
        world.reads_rowid |= reads::columns(query).iter().any(|column| column.column == Place::Rowid);
        for (_, id) in reads::tables(query) {
            let view = schema.definition(id).and_then(|definition| definition.view.as_ref());
            match view.filter(|_| schema.table(id).is_some_and(|table| table.kind == TableKind::View)) {
                Some(view) if seen.insert(id) => pending.push(view),
                Some(_) => {}
                None => {
                    tables.insert(id);
                }
            }
        }
    }
}

/// Puts tables of at most `rows` rows into the world.
///
/// # Errors
/// [`Stop`] for a table that has no encoding.
pub(crate) fn add_tables(
    world: &mut SymbolicWorld<'_>,
    tables: &BTreeSet<TableId>,
    rows: usize,
) -> Result<(), Stop> {
    let schema = world.schema;
    for &id in tables {
        let table = schema.table(id).ok_or_else(|| Stop::unsupported("table of another schema"))?;
        if table.kind != TableKind::Table {
            return Err(Stop::unsupported("virtual table"));
        }
        let added = (0..rows).map(|_| row(world, id, table)).collect::<Result<Vec<SymbolicRow>, Stop>>()?;
        world.tables.insert(id, Rc::new(added));
    }
    for &id in tables {
        if let (Some(table), Some(rows)) = (schema.table(id), world.tables.get(&id).cloned()) {
            keys(world, (id, table), &rows)?;
            rowids(world, table, &rows);
            foreign_keys(world, table, &rows)?;
            checks(world, id, &rows)?;
        }
    }
    Ok(())
}

fn row(world: &mut SymbolicWorld<'_>, id: TableId, table: &Table) -> Result<SymbolicRow, Stop> {
    let present = world.terms.unknown(Sort::Truth);
    let cells = (0..).zip(&table.columns).map(|(at, column)| {
        if column.generated { world.terms.null() } else { cell(world, (id, table), at, column) }
    });
    let mut values: Vec<SymbolicValue> = cells.collect();
    generate(world, (id, table), present, &mut values)?;
    if has_rowid(world, table) {
        let rowid = stored_integer(world, STORED_INTEGERS);
        values.push(SymbolicValue {
            is_null: Terms::FALSE,
            is_integer: Terms::TRUE,
            integer: rowid,
            ..world.terms.null()
        });
    }
    Ok(SymbolicRow { present, values: values.into() })
}

/// Whether the rows of a table have their rowid behind their columns.
pub(crate) fn has_rowid(world: &SymbolicWorld<'_>, table: &Table) -> bool {
    world.reads_rowid && !table.without_rowid && table.rowid_alias().is_none()
}

/// The first column of the key that sorts the rows of a table; none where it may hold NULL.
pub(crate) fn leading_key(table: &Table) -> Option<u32> {
    let first = *table.primary_key.first()?;
    let is_set = table.column(first).is_some_and(|column| column.not_null);
    (is_set || table.rowid_alias() == Some(first)).then_some(first)
}

/// Makes the rowids of a table different, and ascending unless its rows are sorted by a key. SQLite gives the first rows that
/// are inserted 1 and so on: a candidate with others may be none.
fn rowids(world: &mut SymbolicWorld<'_>, table: &Table, rows: &[SymbolicRow]) {
    if !has_rowid(world, table) {
        return;
    }
    let is_sorted = leading_key(table).is_some();
    let rowids: Vec<Term> = rows.iter().filter_map(|row| Some(row.values.last()?.integer)).collect();
    let terms = &mut world.terms;
    let one = terms.integer(1);
    for (at, &rowid) in rowids.iter().enumerate() {
        for &before in &rowids[..at] {
            let fails = if is_sorted { terms.equal(before, rowid) } else { terms.at_most(rowid, before) };
            let holds = terms.not(fails);
            world.conditions.push(terms.implies(rows[at].present, holds));
        }
        world.inserted.push(terms.at_most(one, rowid));
        for (count, next) in (1..).zip(rows.iter().skip(1).map(|row| row.present).chain([Terms::FALSE])) {
            let last = terms.integer(count);
            let fits = terms.at_most(rowid, last);
            world.inserted.push(terms.or(next, fits));
        }
    }
}

/// Computes the generated columns of a row, each after those that it is computed from.
fn generate(
    world: &mut SymbolicWorld<'_>,
    (id, table): (TableId, &Table),
    present: Term,
    values: &mut [SymbolicValue],
) -> Result<(), Stop> {
    let unsupported = || Stop::unsupported("generated column");
    let schema = world.schema;
    let is_open = |at: &u32| table.column(*at).is_some_and(|column| column.generated);
    let mut open: BTreeSet<u32> = (0..).take(table.columns.len()).filter(is_open).collect();
    if open.is_empty() {
        return Ok(());
    }
    let generated = &schema.definition(id).ok_or_else(unsupported)?.generated;
    let facts = Rc::new(facts_of_row(schema, Some(id)));
    while !open.is_empty() {
        let is_next = |(at, expr): &&(u32, Expr)| {
            let reads_open = |column: ColumnRef| column.column.position().is_none_or(|at| open.contains(&at));
            open.contains(at) && !reads::columns(expr).into_iter().any(reads_open)
        };
        let (at, expr) = generated.iter().find(is_next).ok_or_else(unsupported)?;
        let column = table.column(*at).ok_or_else(unsupported)?;
        let mut run = Run::with_facts(world, Rc::clone(&facts));
        let env = Env::default().with(vec![(Definition::ROW, values.to_vec().into())]);
        let computed = run.value(expr, &env)?;
        let value = run.stored_in(computed, column.affinity)?;
        if column.not_null {
            let terms = &mut run.world.terms;
            let some = terms.not(value.is_null);
            let holds = terms.implies(present, some);
            run.world.conditions.push(holds);
        }
        values[*at as usize] = value;
        open.remove(at);
    }
    Ok(())
}

/// The integers that a cell may hold.
const STORED_INTEGERS: RangeInclusive<i64> = -(1 << 53)..=1 << 53;

fn stored_integer(world: &mut SymbolicWorld<'_>, range: RangeInclusive<i64>) -> Term {
    let terms = &mut world.terms;
    let (least, most) = (terms.integer(*range.start()), terms.integer(*range.end()));
    let integer = terms.unknown(Sort::Integer);
    world.conditions.extend([terms.at_most(least, integer), terms.at_most(integer, most)]);
    world.assumes.insert(ProofAssumption::NoOverflow);
    integer
}

fn cell(
    world: &mut SymbolicWorld<'_>,
    (id, table): (TableId, &Table),
    at: u32,
    column: &Column,
) -> SymbolicValue {
    let classes = classes(column);
    let narrow = if world.columns.has(id, at) { narrow(column) } else { Narrow::Nothing };
    let terms = &mut world.terms;
    let is_null = if column.not_null || table.rowid_alias() == Some(at) {
        Terms::FALSE
    } else {
        terms.unknown(Sort::Truth)
    };
    let not_null = terms.not(is_null);
    let mut value = terms.null();
    value.is_null = is_null;
    let mut rest = not_null;
    let count = [classes.integer, classes.real, classes.text].iter().filter(|&&has| has).count();
    let mut left = count;
    let mut class = |terms: &mut Terms, has: bool| {
        if !has {
            return Terms::FALSE;
        }
        left -= 1;
        let is_class = if left == 0 { Terms::TRUE } else { terms.unknown(Sort::Truth) };
        let is_class = terms.and(rest, is_class);
        let not = terms.not(is_class);
        rest = terms.and(rest, not);
        is_class
    };
    value.is_text = class(terms, classes.text);
    value.is_integer = class(terms, classes.integer);
    value.is_real = class(terms, classes.real);
    if classes.integer {
        let range = if narrow == Narrow::Truth { 0..=1 } else { STORED_INTEGERS };
        value.integer = stored_integer(world, range);
    }
    if classes.real {
        value.real = world.terms.unknown(Sort::Real);
        world.assumes.insert(ProofAssumption::FiniteNumbers);
    }
    if classes.text {
        value.text = world.terms.unknown(Sort::Text);
        world.assumes.insert(ProofAssumption::TextsWithoutNul);
        if narrow == Narrow::Time {
            world.dates.insert(value.text);
        }
    }
    value
}

/// The value of a cell as keys compare it.
fn key_of(run: &mut Run<'_, '_>, table: &Table, row: &SymbolicRow, at: u32) -> Result<SymbolicValue, Stop> {
    let (Some(column), Some(&value)) = (table.column(at), row.values.get(at as usize)) else {
        return Err(Stop::unsupported("key"));
    };
    run.collated(value, Fact::Known(&column.collation))
}

fn keys(
    world: &mut SymbolicWorld<'_>,
    (id, table): (TableId, &Table),
    rows: &[SymbolicRow],
) -> Result<(), Stop> {
    let facts = Rc::new(facts_of_row(world.schema, None));
    let mut run = Run::with_facts(world, facts);
    for pair in rows.windows(2) {
        let follows = run.world.terms.implies(pair[1].present, pair[0].present);
        run.world.conditions.push(follows);
    }
    let declared = std::iter::once(&table.primary_key).chain(&table.unique);
    for key in declared.filter(|key| !key.is_empty() && table.is_unique(key)) {
        for (at, row) in rows.iter().enumerate() {
            for other in &rows[..at] {
                let mut alike = vec![row.present, other.present];
                for &column in key {
                    let ours = key_of(&mut run, table, row, column)?;
                    let theirs = key_of(&mut run, table, other, column)?;
                    alike.push(run.world.terms.equal_values(ours, theirs));
                }
                let violated = run.world.terms.all(alike);
                let holds = run.world.terms.not(violated);
                run.world.conditions.push(holds);
            }
        }
    }
    unique_indexes(&mut run, (id, table), rows)?;
    if let Some(first) = leading_key(table) {
        for pair in rows.windows(2) {
            let (this, next) = (pair[0].values[first as usize], pair[1].values[first as usize]);
            let terms = &mut run.world.terms;
            let descends = terms.less_values(next, this);
            let ascends = terms.not(descends);
            let condition = terms.implies(pair[1].present, ascends);
            run.world.conditions.push(condition);
        }
    }
    Ok(())
}

/// UNIQUE indexes that are partial, on expressions, or compare otherwise than their columns do. One of which a part is not
/// known, or not encoded, limits nothing here, which only adds databases.
fn unique_indexes(
    run: &mut Run<'_, '_>,
    (id, table): (TableId, &Table),
    rows: &[SymbolicRow],
) -> Result<(), Stop> {
    let schema = run.world.schema;
    let Some(definition) = schema.definition(id) else { return Ok(()) };
    let facts = Rc::new(facts_of_row(schema, Some(id)));
    for (place, index) in
        table.indexes.iter().enumerate().filter(|(_, index)| index.limits_further(&table.columns))
    {
        let exprs: Vec<&Expr> =
            definition.indexes.iter().filter(|(at, _)| *at == place).map(|(_, expr)| expr).collect();
        let wanted = index.parts.iter().filter(|part| part.column().is_none()).count();
        if exprs.len() != wanted + usize::from(index.filter.is_some()) {
            continue;
        }
        let mut index_run = Run::with_facts(run.world, Rc::clone(&facts));
        let entries =
            rows.iter().map(|row| entry(&mut index_run, index, &exprs, row)).collect::<Result<Vec<_>, _>>();
        let entries = match entries {
            Ok(entries) => entries,
            Err(Stop::Unsupported(_)) => continue,
            Err(other) => return Err(other),
        };
        let terms = &mut run.world.terms;
        let mut conditions = Vec::new();
        for (at, (there, parts)) in entries.iter().enumerate() {
            for (also, others) in &entries[..at] {
                let mut alike = vec![*there, *also];
                alike.extend(parts.iter().zip(others).map(|(part, other)| terms.equal_values(*part, *other)));
                let violated = terms.all(alike);
                conditions.push(terms.not(violated));
            }
        }
        run.world.conditions.extend(conditions);
    }
    Ok(())
}

/// Whether a row is in an index, and what it is there.
fn entry(
    run: &mut Run<'_, '_>,
    index: &Index,
    exprs: &[&Expr],
    row: &SymbolicRow,
) -> Result<(Term, Vec<SymbolicValue>), Stop> {
    let env = Env::default().with(vec![(Definition::ROW, Rc::clone(&row.values))]);
    let mut exprs = exprs.iter();
    let mut parts = Vec::new();
    for part in &index.parts {
        let value = match part.column() {
            Some(at) => row.values.get(at as usize).copied().ok_or_else(|| Stop::unsupported("index"))?,
            None => run.value(exprs.next().ok_or_else(|| Stop::unsupported("index"))?, &env)?,
        };
        parts.push(run.collated(value, Fact::Known(&part.collation))?);
    }
    let mut there = row.present;
    if let Some(filter) = exprs.next() {
        let is_true = run.truth(filter, &env)?.is_true;
        there = run.world.terms.and(there, is_true);
    }
    Ok((there, parts))
}

/// What is known of the row of a table, or of nothing.
fn facts_of_row(schema: &Schema, table: Option<TableId>) -> Facts<'_> {
    let mut facts = Facts::of(&Query::of(Body::Values(Vec::new())), schema);
    if let Some(table) = table {
        facts.add_table(Definition::ROW, table);
    }
    facts
}

fn foreign_keys(world: &mut SymbolicWorld<'_>, table: &Table, rows: &[SymbolicRow]) -> Result<(), Stop> {
    let schema = world.schema;
    for key in &table.foreign_keys {
        // SQLite calls any other key a mismatch: it limits nothing.
        let Some((target, columns)) = schema.enforced_foreign_key(key) else { continue };
        let (Some(parents), Some(parent)) = (world.tables.get(&target).cloned(), schema.table(target)) else {
            continue;
        };
        // The check is by the collation of an index, which takes more for equal than the columns do.
        if parent.key_collates_apart(&columns) {
            continue;
        }
        world.assumes.insert(ProofAssumption::ForeignKey(key.describe(table).into()));
        let facts = Rc::new(facts_of_row(schema, None));
        let mut run = Run::with_facts(world, facts);
        for row in rows {
            let mut premise = vec![row.present];
            for &column in &key.columns {
                let is_null = row.values[column as usize].is_null;
                premise.push(run.world.terms.not(is_null));
            }
            let mut matches = Vec::new();
            for other in parents.iter() {
                let mut alike = vec![other.present];
                for (&at, &referred) in key.columns.iter().zip(&columns) {
                    let column = parent.column(referred).ok_or_else(|| Stop::unsupported("key"))?;
                    let ours = run.compared_as(row.values[at as usize], column.affinity)?;
                    let ours = run.collated(ours, Fact::Known(&column.collation))?;
                    let theirs = key_of(&mut run, parent, other, referred)?;
                    alike.push(run.world.terms.equal_values(ours, theirs));
                }
                matches.push(run.world.terms.all(alike));
            }
            let terms = &mut run.world.terms;
            let (premise, exists) = (terms.all(premise), terms.any(matches));
            let condition = terms.implies(premise, exists);
            run.world.conditions.push(condition);
        }
    }
    Ok(())
}

fn checks(world: &mut SymbolicWorld<'_>, id: TableId, rows: &[SymbolicRow]) -> Result<(), Stop> {
    let schema = world.schema;
    let Some(definition) = schema.definition(id) else { return Ok(()) };
    let facts = Rc::new(facts_of_row(schema, Some(id)));
    for check in &definition.checks {
        let mut run = Run::with_facts(world, Rc::clone(&facts));
        for row in rows {
            let env = Env::default().with(vec![(Definition::ROW, Rc::clone(&row.values))]);
            let fails = match run.truth(check, &env) {
                Ok(truth) => truth.is_false,
                Err(Stop::Unsupported(_)) => break,
                Err(other) => return Err(other),
            };
            let terms = &mut run.world.terms;
            let violated = terms.and(row.present, fails);
            let holds = terms.not(violated);
            run.world.conditions.push(holds);
        }
    }
    Ok(())
}
