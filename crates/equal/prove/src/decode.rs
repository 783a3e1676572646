//! A solver's values as a database.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use sqlgauge_engine::Value as Stored;
use sqlgauge_sql::schema::{Affinity, Schema, Table, TableId};

use super::ir::{Constant, Sort, Term, Terms};
use super::oracle::stored;
use super::process::Sexp;
use super::table::has_rowid;
use super::value::SymbolicValue;
use super::world::{SymbolicRow, SymbolicWorld};
use sqlgauge_search::{Witness, WitnessTable, create_definitions, create_table, with_targets};

/// The unknowns of the tables, in the order in which they are asked for.
pub(crate) fn unknowns(world: &SymbolicWorld<'_>, tables: &BTreeSet<TableId>) -> Vec<Term> {
    let rows = tables.iter().filter_map(|id| world.tables.get(id)).flat_map(|rows| rows.iter());
    let cells = rows.flat_map(|row| {
        let values = row.values.iter().flat_map(|value| {
            [
                value.is_null,
                value.is_integer,
                value.is_real,
                value.is_text,
                value.integer,
                value.real,
                value.text,
            ]
        });
        std::iter::once(row.present).chain(values)
    });
    let mut terms: Vec<Term> = cells.filter(|&term| world.terms.as_constant(term).is_none()).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The values that the solver gave, texts as the texts of those numbers.
pub(crate) fn constants(
    world: &SymbolicWorld<'_>,
    terms: &[Term],
    answers: &[Sexp],
    ranks: &BTreeMap<Box<str>, i64>,
) -> HashMap<Term, Constant> {
    let numbers: HashMap<Term, BigRational> =
        terms.iter().zip(answers).filter_map(|(&term, value)| Some((term, number(value)?))).collect();
    let texts = texts(&numbers, world, ranks);
    let value = |(&term, value): (&Term, &Sexp)| {
        let constant = match world.terms.sort(term) {
            Sort::Truth => Constant::Truth(value.atom()? == "true"),
            Sort::Integer => Constant::Integer(numbers.get(&term)?.to_integer()),
            Sort::Real => Constant::Real(numbers.get(&term)?.clone()),
            Sort::Text => Constant::Text(texts.get(&numbers.get(&term)?.to_integer())?.clone()),
        };
        Some((term, constant))
    };
    terms.iter().zip(answers).filter_map(value).collect()
}

/// The number that an expression of SMT-LIB is.
fn number(value: &Sexp) -> Option<BigRational> {
    match value {
        Sexp::Atom(digits) => {
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let fraction = fraction.trim_end_matches('0');
            let scale = num_traits::pow(BigInt::from(10), fraction.len());
            Some(BigRational::new(format!("{whole}{fraction}").parse().ok()?, scale))
        }
        Sexp::List(parts) => match parts.as_slice() {
            [Sexp::Atom(minus), value] if minus == "-" => Some(-number(value)?),
            [Sexp::Atom(over), left, right] if over == "/" => {
                let right = number(right)?;
                (!right.is_zero()).then_some(())?;
                Some(number(left)? / right)
            }
            _ => None,
        },
    }
}

/// A text for each number, in their order as far as there is room between the texts that are named.
fn texts(
    numbers: &HashMap<Term, BigRational>,
    world: &SymbolicWorld<'_>,
    ranks: &BTreeMap<Box<str>, i64>,
) -> BTreeMap<BigInt, Box<str>> {
    let mut by_number: BTreeMap<BigInt, Box<str>> =
        ranks.iter().map(|(text, &rank)| (BigInt::from(rank), text.clone())).collect();
    let is_text = |term: &Term| world.terms.sort(*term) == Sort::Text;
    let wanted: BTreeSet<BigInt> =
        numbers.iter().filter(|(term, _)| is_text(term)).map(|(_, number)| number.to_integer()).collect();
    for number in wanted {
        if !by_number.contains_key(&number) {
            let below = by_number.range(..&number).next_back().map(|(_, text)| text.to_string());
            let above = by_number.range(&number..).next().map(|(_, text)| text.clone());
            let below = below.unwrap_or_default();
            let fits = |text: &String| above.as_deref().is_none_or(|above| text.as_str() < above);
            let tries = ["a", "1", " ", "\u{1}"].map(|more| format!("{below}{more}"));
            let text = tries.iter().find(|text| fits(text)).unwrap_or(&tries[0]);
            by_number.insert(number, text.as_str().into());
        }
    }
    by_number
}

/// What a term is under those values.
fn constant(world: &SymbolicWorld<'_>, values: &HashMap<Term, Constant>, term: Term) -> Option<Constant> {
    world.terms.as_constant(term).or_else(|| values.get(&term)).cloned()
}

fn cell(
    world: &SymbolicWorld<'_>,
    values: &HashMap<Term, Constant>,
    value: &SymbolicValue,
) -> Option<Stored> {
    let is = |term| constant(world, values, term) == Some(Constant::Truth(true));
    let payload = if is(value.is_null) {
        return Some(Stored::Null);
    } else if is(value.is_integer) {
        value.integer
    } else if is(value.is_real) {
        value.real
    } else {
        value.text
    };
    stored(&constant(world, values, payload)?)
}

/// The rows of a table that are there.
pub(crate) fn rows(
    world: &SymbolicWorld<'_>,
    values: &HashMap<Term, Constant>,
    rows: &[SymbolicRow],
) -> Option<Vec<Vec<Stored>>> {
    let present = |row: &&SymbolicRow| constant(world, values, row.present) == Some(Constant::Truth(true));
    let decoded = rows.iter().filter(present).map(|row| {
        row.values.iter().map(|value| cell(world, values, value)).collect::<Option<Vec<Stored>>>()
    });
    decoded.collect()
}

/// The database of those values: with the tables that are referred to and were left out, and in them the rows that
/// foreign keys ask for. `None` where a value has no place in SQLite, or a table cannot be made.
pub(crate) fn database(
    world: &SymbolicWorld<'_>,
    tables: &BTreeSet<TableId>,
    values: &HashMap<Term, Constant>,
) -> Option<Witness> {
    let schema = world.schema;
    let all = with_targets(schema, tables).ok()?;
    let mut contents: BTreeMap<TableId, Vec<Vec<Stored>>> = BTreeMap::new();
    for &id in tables {
        let table = schema.table(id)?;
        // What SQLite computes itself has no value to read, and takes none.
        let stored = world.tables.get(&id)?.iter().map(|row| stored_cells(table, row));
        let mut stored = rows(world, values, &stored.collect::<Vec<_>>())?;
        if has_rowid(world, table) {
            stored.sort_by_key(|row| match row.last() {
                Some(Stored::Integer(rowid)) => *rowid,
                _ => 0,
            });
        }
        contents.insert(id, stored);
    }
    // Tables that are referred to come first, so from the last on every child is complete before its parents.
    for &id in all.iter().rev() {
        let Some(table) = schema.table(id) else { continue };
        let stored = contents.entry(id).or_default().clone();
        add_parents(schema, table, tables, &stored, &mut contents);
    }
    let witness = all.iter().filter_map(|id| {
        let table = schema.table(*id)?;
        let stored = table.stored_columns();
        let columns = stored.iter().filter_map(|&at| Some(table.column(at)?.name.clone())).collect();
        let rows = contents.remove(id).unwrap_or_default();
        let rows =
            rows.iter().map(|row| stored.iter().map(|&at| row[at as usize].clone()).collect()).collect();
        Some(WitnessTable::new(&table.name, columns, create_table(schema, table), rows))
    });
    Some(Witness { tables: witness.collect(), definitions: create_definitions(schema, &all, &[]) })
}

/// The row with NULL in its generated columns.
fn stored_cells(table: &Table, row: &SymbolicRow) -> SymbolicRow {
    let values = row.values.iter().enumerate().map(|(at, &value)| {
        let is_generated = table.columns.get(at).is_some_and(|column| column.generated);
        if is_generated { SymbolicValue { is_null: Terms::TRUE, ..value } } else { value }
    });
    SymbolicRow { present: row.present, values: values.collect() }
}

/// Adds the rows that those rows refer to, in tables that the question left out.
fn add_parents(
    schema: &Schema,
    table: &Table,
    encoded: &BTreeSet<TableId>,
    rows: &[Vec<Stored>],
    contents: &mut BTreeMap<TableId, Vec<Vec<Stored>>>,
) {
    for key in &table.foreign_keys {
        let Some((target, columns)) = schema.enforced_foreign_key(key) else { continue };
        let Some(parent) = schema.table(target).filter(|_| !encoded.contains(&target)) else { continue };
        for row in rows {
            let wanted: Vec<Stored> = key.columns.iter().map(|&at| row[at as usize].clone()).collect();
            if wanted.iter().any(|value| matches!(value, Stored::Null)) {
                continue;
            }
            let there = contents.entry(target).or_default();
            let is_there = |row: &Vec<Stored>| {
                columns.iter().zip(&wanted).all(|(&at, value)| row[at as usize] == *value)
            };
            if !there.iter().any(is_there) {
                let number = there.len() + 1;
                there.push(parent_row(parent, &columns, &wanted, number));
            }
        }
    }
}

fn parent_row(parent: &Table, columns: &[u32], wanted: &[Stored], number: usize) -> Vec<Stored> {
    let is_key =
        |at: u32| parent.primary_key.contains(&at) || parent.unique.iter().any(|key| key.contains(&at));
    let value = |(at, column): (u32, &sqlgauge_sql::schema::Column)| {
        if let Some(place) = columns.iter().position(|&key| key == at) {
            return wanted[place].clone();
        }
        if !column.not_null && !is_key(at) {
            return Stored::Null;
        }
        match column.affinity {
            Affinity::Text => Stored::text(&format!("t{number}")),
            _ => Stored::Integer(1000 + i64::try_from(number).unwrap_or_default()),
        }
    };
    (0..).zip(&parent.columns).map(value).collect()
}
