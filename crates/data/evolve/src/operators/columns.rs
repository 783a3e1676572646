//! Columns: rename, add, drop, split, merge.

use sqlgauge_sql::schema::{Affinity, Column, Schema, Table};
use sqlgauge_sql::tree::Expr;

use super::{Draft, key_names, over_row, refer, relocate};
use crate::change::SplitPart;
use crate::step::{ChangeError, Image, Projection, column, column_at, table_at};

pub(super) fn rename(old: &Schema, table: &str, name: &str, to: &str) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let position = column_at(old, at, name)?;
    let original = &old.tables()[at];
    if to.is_empty() || original.column_index(to).is_some_and(|other| other != position) {
        return Err(ChangeError::Taken(to.to_owned()));
    }
    let mut draft = Draft::identity(old);
    to.clone_into(&mut draft.tables[at].columns[position as usize].name);
    let renamed = |column: &str| {
        Some(if column.eq_ignore_ascii_case(name) { to.to_owned() } else { column.to_owned() })
    };
    refer(&mut draft, &original.name, &original.name, &key_names(original), renamed);
    Ok(draft)
}

pub(super) fn add(
    old: &Schema,
    table: &str,
    added: &Column,
    position: Option<u32>,
    value: &str,
) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let original = &old.tables()[at];
    if added.name.is_empty() || original.column_index(&added.name).is_some() {
        return Err(ChangeError::Taken(added.name.clone()));
    }
    let value = over_row(value, old, at)?;
    let width = original.columns.len();
    let position = position.map_or(width, |position| (position as usize).min(width));
    let mut columns = original.columns.clone();
    columns.insert(position, fitting(original, added.clone()));
    let mut draft = Draft::identity(old);
    let moved: Vec<Option<u32>> =
        (0..).take(width).map(|at: u32| Some(at + u32::from(at as usize >= position))).collect();
    draft.tables[at] = relocate(original, columns, &moved, &mut draft.left_out);
    draft.forth.images[at] =
        Image::Table(Projection::new(at, moved.iter().map(|at| at.map(column)).collect()));
    let mut exprs: Vec<Option<Expr>> = (0..).take(width).map(|at| Some(column(at))).collect();
    exprs.insert(position, Some(value));
    draft.back.images[at] = Image::Table(Projection::new(at, exprs));
    Ok(draft)
}

pub(super) fn drop(old: &Schema, table: &str, name: &str) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let position = column_at(old, at, name)?;
    let original = &old.tables()[at];
    if original.columns.len() < 2 {
        let text = format!("{name:?} is the only column of {table:?}; drop the table");
        return Err(ChangeError::NotApplicable(text));
    }
    replace(old, at, &[position], Vec::new())
}

pub(super) fn split(
    old: &Schema,
    table: &str,
    name: &str,
    parts: &[SplitPart],
    whole: &str,
) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let position = column_at(old, at, name)?;
    let new = parts.iter().map(|part| part_column(old, at, part)).collect::<Result<_, _>>()?;
    let mut draft = replace(old, at, &[position], new)?;
    restore(&mut draft, at, &[(position, whole)])?;
    draft.left_out.extend(lost(&old.tables()[at], &[position], parts));
    Ok(draft)
}

pub(super) fn merge(
    old: &Schema,
    table: &str,
    whole: &SplitPart,
    columns: &[(String, String)],
) -> Result<Draft, ChangeError> {
    let at = table_at(old, table)?;
    let mut gone = Vec::new();
    for (name, value) in columns {
        let position = column_at(old, at, name)?;
        if gone.iter().any(|(other, _)| *other == position) {
            return Err(ChangeError::NotApplicable(format!("{name:?} is named twice")));
        }
        gone.push((position, value.as_str()));
    }
    if gone.is_empty() {
        return Err(ChangeError::NotApplicable(format!("{table:?}: name the columns to drop")));
    }
    let positions: Vec<u32> = gone.iter().map(|(position, _)| *position).collect();
    let mut draft = replace(old, at, &positions, vec![part_column(old, at, whole)?])?;
    restore(&mut draft, at, &gone)?;
    draft.left_out.extend(lost(&old.tables()[at], &positions, std::slice::from_ref(whole)));
    Ok(draft)
}

/// What was declared of columns and is not of those that took their place: a part or a whole that is never NULL says of the old
/// ones that they were not, as NULL is what NULL is made of.
fn lost(table: &Table, gone: &[u32], parts: &[SplitPart]) -> Vec<String> {
    let keeps_not_null = parts.iter().any(|part| part.not_null);
    let columns = gone.iter().filter_map(|&at| table.column(at));
    let of_column = |column: &Column| {
        let not_null = (column.not_null && !keeps_not_null).then_some("NOT NULL");
        let default = column.default.is_some().then_some("DEFAULT");
        let named = |what: &str| format!("{what} of {}.{}", table.name, column.name);
        not_null.into_iter().chain(default).map(named).collect::<Vec<_>>()
    };
    columns.flat_map(of_column).collect()
}

fn part_column(old: &Schema, table: usize, part: &SplitPart) -> Result<(Column, Expr), ChangeError> {
    let column =
        Column { not_null: part.not_null, ..Column::new(part.name.as_str(), part.declared_type.as_deref()) };
    Ok((fitting(&old.tables()[table], column), over_row(&part.value, old, table)?))
}

/// The column with a type that its table takes: a STRICT table knows six types, and ANY leaves every value as it is.
fn fitting(table: &Table, column: Column) -> Column {
    if !table.strict {
        return column;
    }
    let (declared, affinity) = match column.affinity {
        Affinity::Integer => ("INTEGER", Affinity::Integer),
        Affinity::Real => ("REAL", Affinity::Real),
        Affinity::Text => ("TEXT", Affinity::Text),
        Affinity::Numeric | Affinity::Blob => ("ANY", Affinity::Blob),
    };
    Column { declared_type: Some(declared.to_owned()), affinity, ..column }
}

/// Columns go, and others stand where the first of them stood.
fn replace(old: &Schema, at: usize, gone: &[u32], parts: Vec<(Column, Expr)>) -> Result<Draft, ChangeError> {
    let original = &old.tables()[at];
    let first = gone.iter().copied().min().unwrap_or_default();
    let (mut columns, mut values, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    let mut parts = Some(parts);
    for (position, entry) in (0..).zip(&original.columns) {
        if position == first {
            for (part, value) in parts.take().unwrap_or_default() {
                columns.push(part);
                values.push(Some(value));
            }
        }
        let place = u32::try_from(columns.len()).unwrap_or(u32::MAX);
        moved.push((!gone.contains(&position)).then_some(place));
        if !gone.contains(&position) {
            columns.push(entry.clone());
            values.push(Some(column(position)));
        }
    }
    for (place, column) in columns.iter().enumerate() {
        if columns[..place].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name))
            || column.name.is_empty()
        {
            return Err(ChangeError::Taken(column.name.clone()));
        }
    }
    let mut draft = Draft::identity(old);
    draft.tables[at] = relocate(original, columns, &moved, &mut draft.left_out);
    let is_kept = |name: &str| original.column_index(name).is_none_or(|position| !gone.contains(&position));
    refer(&mut draft, &original.name, &original.name, &key_names(original), |name| {
        is_kept(name).then(|| name.to_owned())
    });
    draft.forth.images[at] =
        Image::Table(Projection::new(at, moved.iter().map(|at| at.map(column)).collect()));
    draft.back.images[at] = Image::Table(Projection::new(at, values));
    Ok(draft)
}

/// Says what the columns that went are, over the new ones.
fn restore(draft: &mut Draft, at: usize, gone: &[(u32, &str)]) -> Result<(), ChangeError> {
    let new = Schema::new(draft.tables.clone());
    for (position, text) in gone {
        let value = over_row(text, &new, at)?;
        if let Image::Table(projection) = &mut draft.forth.images[at]
            && let Some(place) = projection.columns.get_mut(*position as usize)
        {
            *place = Some(value);
        }
    }
    Ok(())
}
