//! Merge two tables that a foreign key links.
//!
//! The new table has a row for each row of the child, with its parent's columns beside it, and one for each parent
//! without a child. The parent's key is not repeated where the foreign key has its values: where every parent has a child,
//! and both columns compare alike.

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Action, Column, ForeignKey, Schema, Table};

use super::{Draft, Event, key_names, refer, relocate};
use crate::change::MergeShape;
use crate::step::{ChangeError, Image, Merged, Projection, column, column_at, table_at};

/// Where the columns of both tables are in the new one.
struct Plan {
    columns: Vec<Column>,
    /// For each column of the new table the table (true: the child) and the column that it was.
    origins: Vec<(bool, u32)>,
    child: Vec<Option<u32>>,
    parent: Vec<Option<u32>>,
}

pub(super) fn merge(
    old: &Schema,
    (child, key): (&str, &[String]),
    parent: &str,
    to: &str,
    renamed: &[(String, String)],
    shape: MergeShape,
) -> Result<Draft, ChangeError> {
    let (child_at, parent_at) = (table_at(old, child)?, table_at(old, parent)?);
    let key = key.iter().map(|name| column_at(old, child_at, name)).collect::<Result<Vec<_>, _>>()?;
    let link = link(old, child_at, parent_at, &key)?;
    let plan = plan(old, (child_at, parent_at), &link, renamed, shape)?;
    let mut draft = Draft::identity(old);
    draft.tables[child_at].name.clear();
    draft.tables[parent_at].name.clear();
    draft.tables[parent_at].foreign_keys.clear();
    draft.is_free(to)?;
    draft.tables[child_at] = table(old, (child_at, parent_at), (&plan, &key), to, shape, &mut draft.left_out);
    draft.back.images[child_at] = Image::Query(rows(old, (child_at, parent_at), &link, &plan, shape)?);
    let (child_table, parent_table) = (&old.tables()[child_at], &old.tables()[parent_at]);
    let present = |is_needed: bool, key: Option<&u32>, place: &[Option<u32>]| {
        key.filter(|_| is_needed).and_then(|&at| place[at as usize])
    };
    let of_child = Projection {
        present: present(shape.has_childless(), child_key(child_table, &link), &plan.child),
        ..Projection::new(child_at, plan.child.iter().map(|at| at.map(column)).collect())
    };
    let of_parent = Projection {
        present: present(shape.has_orphans(), parent_table.primary_key.first(), &plan.parent),
        ..Projection::new(child_at, plan.parent.iter().map(|at| at.map(column)).collect())
    };
    draft.forth.images[child_at] = Image::Table(of_child.clone());
    let is_single = child_table.is_unique(&key);
    draft.forth.images[parent_at] = if is_single {
        Image::Table(of_parent.clone())
    } else {
        Image::Distinct { key: parent_table.primary_key.clone(), projection: of_parent.clone() }
    };
    let key = link.clone();
    draft.forth.merged = Some(Merged { child: (child_at, of_child), parent: (parent_at, of_parent), key });
    let new = draft.tables[child_at].clone();
    let name_of = |place: &[Option<u32>], table: &Table, name: &str| {
        let at = place[table.column_index(name)? as usize]?;
        Some(new.column(at)?.name.clone())
    };
    let child_keeps_key = !shape.has_childless();
    refer(&mut draft, &child_table.name, to, &key_names(child_table), |name| {
        name_of(&plan.child, child_table, name).filter(|_| child_keeps_key)
    });
    refer(&mut draft, &parent_table.name, to, &key_names(parent_table), |name| {
        name_of(&plan.parent, parent_table, name).filter(|_| is_single && child_keeps_key)
    });
    draft.remove(parent_at);
    Ok(draft)
}

/// A column of the child that is never NULL: of its primary key, else of the foreign key, which is none where a child may
/// have no parent.
fn child_key<'a>(child: &'a Table, link: &'a [(u32, u32)]) -> Option<&'a u32> {
    child.primary_key.first().or_else(|| link.first().map(|(column, _)| column))
}

/// The columns of the foreign key with those that they refer to: the parent's primary key.
fn link(old: &Schema, child: usize, parent: usize, key: &[u32]) -> Result<Vec<(u32, u32)>, ChangeError> {
    let (child_table, parent_table) = (&old.tables()[child], &old.tables()[parent]);
    let refers = child_table.foreign_keys.iter().filter(|foreign| foreign.columns == key);
    let mut targets = refers.filter_map(|foreign| old.partner(child_table, foreign));
    let target = targets.find(|(id, _)| id.index() == parent).map(|(_, columns)| columns);
    let mut sorted = target.clone().unwrap_or_default();
    sorted.sort_unstable();
    let mut parent_key = parent_table.primary_key.clone();
    parent_key.sort_unstable();
    match target {
        Some(columns) if child != parent && sorted == parent_key => {
            Ok(key.iter().copied().zip(columns).collect())
        }
        _ => Err(ChangeError::NotApplicable(format!(
            "{:?} has no foreign key ({}) to the primary key of {:?}",
            child_table.name,
            child_table.names(key),
            parent_table.name
        ))),
    }
}

fn plan(
    old: &Schema,
    (child_at, parent_at): (usize, usize),
    link: &[(u32, u32)],
    renamed: &[(String, String)],
    shape: MergeShape,
) -> Result<Plan, ChangeError> {
    let (child, parent) = (&old.tables()[child_at], &old.tables()[parent_at]);
    let name = |table: &Table, column: &Column| {
        let full = format!("{}.{}", table.name, column.name);
        let other = renamed.iter().find(|(from, _)| from.eq_ignore_ascii_case(&full));
        other.map_or_else(|| column.name.clone(), |(_, to)| to.clone())
    };
    let mut plan = Plan { columns: Vec::new(), origins: Vec::new(), child: Vec::new(), parent: Vec::new() };
    for (is_child, table) in [(true, child), (false, parent)] {
        for (at, column) in (0..).zip(&table.columns) {
            let shared = link.iter().find(|(child_column, referred)| {
                !is_child && *referred == at && stands_for(child, *child_column, column, shape)
            });
            let place = if let Some((child_column, _)) = shared {
                plan.child[*child_column as usize]
            } else {
                let mut new = Column { name: name(table, column), ..column.clone() };
                if plan.columns.iter().any(|other: &Column| other.name.eq_ignore_ascii_case(&new.name)) {
                    return Err(ChangeError::Taken(new.name));
                }
                new.not_null &= if is_child { !shape.has_childless() } else { !shape.has_orphans() };
                plan.columns.push(new);
                plan.origins.push((is_child, at));
                u32::try_from(plan.columns.len() - 1).ok()
            };
            if is_child { plan.child.push(place) } else { plan.parent.push(place) }
        }
    }
    Ok(plan)
}

/// Whether the foreign key's column has the values of the key that it refers to.
fn stands_for(child: &Table, at: u32, referred: &Column, shape: MergeShape) -> bool {
    let Some(column) = child.column(at) else { return false };
    matches!(shape, MergeShape::Inner)
        && column.affinity == referred.affinity
        && column.collation == referred.collation
}

fn table(
    old: &Schema,
    (child_at, parent_at): (usize, usize),
    (plan, key): (&Plan, &[u32]),
    to: &str,
    shape: MergeShape,
    left_out: &mut Vec<String>,
) -> Table {
    let (child, parent) = (&old.tables()[child_at], &old.tables()[parent_at]);
    let mut new = relocate(child, plan.columns.clone(), &plan.child, left_out);
    let mut other = relocate(parent, plan.columns.clone(), &plan.parent, &mut Vec::new());
    to.clone_into(&mut new.name);
    actions(old, (child, parent_at), (&mut new, &mut other, parent), key, left_out);
    new.foreign_keys.append(&mut other.foreign_keys);
    // Rows of the parent repeat, so only indexes that are not unique go over.
    for index in other.indexes {
        match (&index.name, index.unique) {
            (Some(_), false) => new.indexes.push(index),
            (name, _) => left_out.push(name.as_ref().map_or_else(
                || format!("UNIQUE of {}", parent.name),
                |name| format!("index {name} of {}", parent.name),
            )),
        }
    }
    left_out.push(format!("PRIMARY KEY ({}) of {}", parent.names(&parent.primary_key), parent.name));
    if shape.has_childless() && !new.primary_key.is_empty() {
        // The rows of parents without a child have no key.
        left_out.push(format!("PRIMARY KEY ({}) of {}", child.names(&child.primary_key), child.name));
        new.unique.push(std::mem::take(&mut new.primary_key));
        (new.key_apart_from_rowid, new.key_is_finer, new.without_rowid) = (false, false, false);
        new.autoincrement = false;
    }
    for (table, is_kept) in [(child, new.autoincrement), (parent, false)] {
        if table.autoincrement && !is_kept {
            left_out.push(format!("AUTOINCREMENT of {}", table.name));
        }
    }
    new.strict &= parent.strict;
    new
}

/// The foreign key that linked both goes; its rows are deleted and changed together now, which is what CASCADE did. Another
/// one may delete a row only where the rows of both tables would have gone, and one that refers to the parent by other columns
/// has nothing to refer to.
fn actions(
    old: &Schema,
    (child, parent_at): (&Table, usize),
    (new, other, parent): (&mut Table, &mut Table, &Table),
    key: &[u32],
    left_out: &mut Vec<String>,
) {
    let mut deletes_child = false;
    for link in child.foreign_keys.iter().filter(|foreign| refers_to(old, foreign, parent_at)) {
        let described = link.describe(child);
        if link.columns != key {
            left_out.push(format!("FOREIGN KEY {described} of {}", child.name));
            continue;
        }
        let mut link = link.clone();
        deletes_child |= link.on_delete == Action::Cascade;
        for event in [Event::Delete, Event::Update] {
            if *event.action(&mut link) != Action::Cascade {
                event.forgo(&mut link, &described, left_out);
            }
        }
    }
    new.foreign_keys.retain(|foreign| !refers_to(old, foreign, parent_at));
    let originals = child.foreign_keys.iter().filter(|foreign| !refers_to(old, foreign, parent_at));
    for (foreign, was) in new.foreign_keys.iter_mut().zip(originals) {
        if foreign.on_delete == Action::Cascade {
            Event::Delete.forgo(foreign, &was.describe(child), left_out);
        }
    }
    for (foreign, was) in other.foreign_keys.iter_mut().zip(&parent.foreign_keys) {
        if foreign.on_delete == Action::Cascade && !deletes_child {
            Event::Delete.forgo(foreign, &was.describe(parent), left_out);
        }
    }
}

fn refers_to(old: &Schema, key: &ForeignKey, table: usize) -> bool {
    old.table_id(&key.referenced_table).is_some_and(|id| id.index() == table)
}

/// The rows of the new table: both tables joined.
fn rows(
    old: &Schema,
    (child_at, parent_at): (usize, usize),
    link: &[(u32, u32)],
    plan: &Plan,
    shape: MergeShape,
) -> Result<sqlgauge_sql::tree::Query, ChangeError> {
    let (child, parent) = (&old.tables()[child_at], &old.tables()[parent_at]);
    let name = |is_child: bool, at: u32| {
        let (alias, table) = if is_child { ("child", child) } else { ("parent", parent) };
        format!("{alias}.{}", table.column(at).map(|column| quoted(&column.name)).unwrap_or_default())
    };
    let outputs: Vec<String> = plan.origins.iter().map(|&(is_child, at)| name(is_child, at)).collect();
    let on: Vec<String> = link
        .iter()
        .map(|&(column, referred)| format!("{} = {}", name(true, column), name(false, referred)))
        .collect();
    let join = match shape {
        MergeShape::Inner => "JOIN",
        MergeShape::Left => "LEFT JOIN",
        MergeShape::Right => "RIGHT JOIN",
        MergeShape::Full => "FULL JOIN",
    };
    let text = format!(
        "SELECT {} FROM {} AS child {join} {} AS parent ON {}",
        outputs.join(", "),
        quoted(&child.name),
        quoted(&parent.name),
        on.join(" AND ")
    );
    let query = resolve(&text, old);
    query.map_err(|error| ChangeError::Unreadable { text, message: error.to_string() })
}
