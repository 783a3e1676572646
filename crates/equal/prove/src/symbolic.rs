//! The symbolic execution of one query with the values of a database put in.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use sqlgauge_engine::Value as Stored;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::Query;

use super::OnDatabase;
use super::decode;
use super::defect::EncoderDefect;
use super::evaluate::evaluate;
use super::exec::Run;
use super::ir::{Constant, Node, Sort, Term};
use super::joint::joint;
use super::table;
use super::value::SymbolicValue;
use super::world::{Stop, SymbolicRow, SymbolicWorld};

/// Time for one query.
const TIME: Duration = Duration::from_secs(1);

/// The rows of the query, in no order.
pub(crate) fn rows_on(
    schema: &Schema,
    query: &Query,
    database: &BTreeMap<TableId, Vec<Vec<Stored>>>,
    (rows, defect): (usize, Option<EncoderDefect>),
) -> Result<OnDatabase, Stop> {
    let mut world = SymbolicWorld::new(schema);
    world.defect = defect;
    world.deadline = Some(Instant::now() + TIME);
    let mut tables = BTreeSet::new();
    table::tables_of(&mut world, query, &mut tables);
    table::add_tables(&mut world, &tables, rows)?;
    let constraints = world.conditions.clone();
    let executed = Run::statement(&mut world, query, false)?;
    world.settled.extend_from_slice(&world.endings);
    let Some(constants) = constants_of(&mut world, &tables, database) else { return Ok(OnDatabase::Open) };
    let result: Vec<SymbolicRow> = executed
        .rows
        .into_iter()
        .map(|row| SymbolicRow { present: row.present, values: row.values })
        .collect();
    let mut roots: Vec<Term> = world.settled.clone();
    roots.extend(&constraints);
    for row in &result {
        roots.push(row.present);
        roots.extend(row.values.iter().flat_map(|&value| terms_of(value)));
    }
    let joint = joint(&mut world, &roots).facts;
    roots.extend(&joint);
    let SymbolicWorld { terms, oracle, settled, .. } = &mut world;
    let values = evaluate(terms, oracle, &constants, &roots);
    if !settled.iter().all(|term| values.get(term) == Some(&Constant::Truth(true))) {
        return Ok(OnDatabase::Open);
    }
    if constraints.iter().chain(&joint).any(|term| values.get(term) == Some(&Constant::Truth(false))) {
        return Ok(OnDatabase::BreaksConstraints);
    }
    let is_present = |row: &SymbolicRow| values.get(&row.present) != Some(&Constant::Truth(false));
    let is_known = |row: &SymbolicRow| values.contains_key(&row.present);
    let is_decided = |value: &SymbolicValue| match values.get(&value.is_null) {
        Some(Constant::Truth(true)) => true,
        Some(_) => {
            [value.is_integer, value.is_real, value.is_text].iter().all(|class| values.contains_key(class))
        }
        None => false,
    };
    if !result.iter().all(is_known)
        || !result.iter().filter(|row| is_present(row)).all(|row| row.values.iter().all(is_decided))
    {
        return Ok(OnDatabase::Open);
    }
    Ok(decode::rows(&world, &values, &result).map_or(OnDatabase::Open, OnDatabase::Rows))
}

fn terms_of(value: SymbolicValue) -> [Term; 7] {
    let SymbolicValue { is_null, is_integer, is_real, is_text, integer, real, text } = value;
    [is_null, is_integer, is_real, is_text, integer, real, text]
}

/// The values of the unknowns that make the tables those of the database; `None` where a value is not of its column's
/// type.
fn constants_of(
    world: &mut SymbolicWorld<'_>,
    tables: &BTreeSet<TableId>,
    database: &BTreeMap<TableId, Vec<Vec<Stored>>>,
) -> Option<HashMap<Term, Constant>> {
    let mut constants = HashMap::new();
    let mut wanted = Vec::new();
    for id in tables {
        let rows = world.tables.get(id)?.clone();
        let mut stored = database.get(id).cloned().unwrap_or_default();
        let table = world.schema.table(*id)?;
        // The encoding has the rows in the order of their key, or else of their rowid.
        if table::has_rowid(world, table) && table::leading_key(table).is_none() {
            stored.sort_by(|a, b| order(&a[a.len() - 1], &b[b.len() - 1]));
        } else if let Some(&first) = table.primary_key.first() {
            stored.sort_by(|a, b| order(&a[first as usize], &b[first as usize]));
        }
        for (at, row) in rows.iter().enumerate() {
            constants.insert(row.present, Constant::Truth(at < stored.len()));
            let Some(values) = stored.get(at) else { continue };
            for (&cell, value) in row.values.iter().zip(values) {
                let value = world.terms.stored_value(value)?;
                for (part, is) in terms_of(cell).into_iter().zip(terms_of(value)) {
                    let is = world.terms.as_constant(is)?.clone();
                    put(world, &mut constants, part, &is);
                    wanted.push((part, is));
                }
            }
        }
    }
    let roots: Vec<Term> = wanted.iter().map(|(term, _)| *term).collect();
    let SymbolicWorld { terms, oracle, .. } = world;
    let values = evaluate(terms, oracle, &constants, &roots);
    let is_class = |term: &Term| terms.sort(*term) == Sort::Truth;
    // What a cell is in a class that it is not of makes no difference.
    let fits = |(term, is): &(Term, Constant)| !is_class(term) || values.get(term) == Some(is);
    wanted.iter().all(fits).then_some(constants)
}

/// SQLite's order of stored values.
fn order(left: &Stored, right: &Stored) -> std::cmp::Ordering {
    let number = |value: &Stored| match value {
        Stored::Integer(integer) => Some(*integer as f64),
        Stored::Real(real) => Some(*real),
        Stored::Decimal(decimal) => Some(decimal.to_float()),
        _ => None,
    };
    let class = |value: &Stored| match value {
        Stored::Null => 0,
        Stored::Integer(_) | Stored::Real(_) | Stored::Decimal(_) => 1,
        Stored::Text(_) => 2,
        Stored::Blob(_) => 3,
    };
    match (left, right) {
        (Stored::Text(left), Stored::Text(right)) => left.cmp(right),
        _ => class(left)
            .cmp(&class(right))
            .then_with(|| number(left).partial_cmp(&number(right)).unwrap_or(std::cmp::Ordering::Equal)),
    }
}

/// Gives the unknowns that a term of a cell is made of their values.
fn put(world: &SymbolicWorld<'_>, constants: &mut HashMap<Term, Constant>, term: Term, wanted: &Constant) {
    match (world.terms.node(term), wanted) {
        (Node::Unknown(..), _) => {
            constants.entry(term).or_insert_with(|| wanted.clone());
        }
        (Node::Not(inner), Constant::Truth(truth)) => put(world, constants, *inner, &Constant::Truth(!truth)),
        (Node::And(operands), Constant::Truth(truth)) => {
            // What is left for a class is an unknown of its own.
            let unknowns =
                operands.iter().filter(|&&operand| matches!(world.terms.node(operand), Node::Unknown(..)));
            unknowns.for_each(|&operand| put(world, constants, operand, &Constant::Truth(*truth)));
        }
        _ => {}
    }
}
