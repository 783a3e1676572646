//! Split a table into several that share its key.

use sqlgauge_sql::schema::{Action, ForeignKey, Schema, Table};
use sqlgauge_sql::tree::Expr;

use super::{Draft, Event, key_names, refer, relocate};
use crate::step::{ChangeError, Image, Projection, column, column_at, table_at};

pub(super) fn split(old: &Schema, name: &str, parts: &[(String, Vec<String>)]) -> Result<Draft, ChangeError> {
    let at = table_at(old, name)?;
    let original = &old.tables()[at];
    let key = original.primary_key.clone();
    if key.is_empty() || parts.len() < 2 {
        let text = format!("{name:?} needs a primary key and two or more parts to be split");
        return Err(ChangeError::NotApplicable(text));
    }
    let shares = shares(old, at, &key, parts)?;
    let mut draft = Draft::identity(old);
    draft.tables[at].name.clear();
    for (place, (part, _)) in parts.iter().enumerate() {
        draft.is_free(part)?;
        if parts[..place].iter().any(|(other, _)| other.eq_ignore_ascii_case(part)) {
            return Err(ChangeError::Taken(part.clone()));
        }
    }
    let (mut fragments, mut lost) = (Vec::new(), Vec::new());
    for (place, ((part, _), columns)) in parts.iter().zip(&shares).enumerate() {
        let mut lost_here = Vec::new();
        let (table, moved) = fragment(original, part, columns, &mut lost_here);
        lost.push(lost_here);
        let to = if place == 0 { at } else { draft.tables.len() };
        let image = Image::Table(Projection::new(at, columns.iter().map(|&at| Some(column(at))).collect()));
        if place == 0 {
            (draft.tables[at], draft.back.images[at]) = (table, image);
        } else {
            draft.tables.push(table);
            draft.back.images.push(image);
        }
        let of_fragment: Vec<Option<Expr>> = moved.iter().map(|at| at.map(column)).collect();
        fragments.push(Projection::new(to, of_fragment));
    }
    // What one part could not keep, another may have.
    let (first, others) = lost.split_first().map_or((&[][..], &[][..]), |(first, rest)| (first, rest));
    draft.left_out =
        first.iter().filter(|what| others.iter().all(|lost| lost.contains(what))).cloned().collect();
    link(&mut draft, at, &fragments, original);
    draft.forth.images[at] = Image::Fragments { key, fragments };
    let is_key =
        |name: &str| original.column_index(name).is_some_and(|at| original.primary_key.contains(&at));
    refer(&mut draft, &original.name, &parts[0].0, &key_names(original), |name| {
        is_key(name).then(|| name.to_owned())
    });
    Ok(draft)
}

/// The columns of each part, in the order of the table: the key and its own.
fn shares(
    old: &Schema,
    at: usize,
    key: &[u32],
    parts: &[(String, Vec<String>)],
) -> Result<Vec<Vec<u32>>, ChangeError> {
    let mut non_key = Vec::new();
    let mut shares = Vec::new();
    for (_, names) in parts {
        let mut share = key.to_vec();
        for name in names {
            let position = column_at(old, at, name)?;
            if key.contains(&position) || non_key.contains(&position) {
                return Err(ChangeError::NotApplicable(format!("{name:?} belongs to two parts")));
            }
            non_key.push(position);
            share.push(position);
        }
        share.sort_unstable();
        shares.push(share);
    }
    let table = &old.tables()[at];
    let all = (0..).take(table.columns.len()).all(|at: u32| key.contains(&at) || non_key.contains(&at));
    if !all {
        let text = format!("a column of {:?} belongs to no part", table.name);
        return Err(ChangeError::NotApplicable(text));
    }
    Ok(shares)
}

/// The table of those columns, and where each old column is in it.
fn fragment(
    original: &Table,
    name: &str,
    share: &[u32],
    left_out: &mut Vec<String>,
) -> (Table, Vec<Option<u32>>) {
    let place =
        |at: u32| share.iter().position(|&position| position == at).and_then(|at| u32::try_from(at).ok());
    let moved: Vec<Option<u32>> = (0..).take(original.columns.len()).map(place).collect();
    let columns = share.iter().filter_map(|&at| original.column(at).cloned()).collect();
    let mut table = relocate(original, columns, &moved, left_out);
    name.clone_into(&mut table.name);
    (table, moved)
}

/// All but the first refer to the first by the key. What hangs on the key alone stays with the first.
fn link(draft: &mut Draft, first: usize, fragments: &[Projection], old: &Table) {
    let main = &mut draft.tables[first];
    let with_main = actions_of_first(main, old, &mut draft.left_out);
    let (name, key) = (main.name.clone(), key_names(main));
    for fragment in &fragments[1..] {
        let table = &mut draft.tables[fragment.to];
        table.autoincrement = false;
        let part = table.clone();
        let of_main = |positions: &[u32]| positions.iter().all(|at| part.primary_key.contains(at));
        table.foreign_keys.retain(|foreign| !of_main(&foreign.columns));
        table.unique.retain(|unique| !of_main(unique));
        table.indexes.retain(|index| {
            let columns: Option<Vec<u32>> =
                index.parts.iter().map(sqlgauge_sql::schema::IndexPart::column).collect();
            columns.is_some_and(|columns| !of_main(&columns))
        });
        actions_of_other(table, (&part, old), &mut draft.left_out);
        let to_main = ForeignKey {
            columns: part.primary_key.clone(),
            referenced_table: name.clone(),
            referenced_columns: key.clone(),
            ..with_main.clone()
        };
        table.foreign_keys.insert(0, to_main);
    }
}

/// The actions by which the other parts follow the first, where a foreign key of the first deletes rows or changes their
/// key. One that would take the key away is left out.
fn actions_of_first(main: &mut Table, old: &Table, left_out: &mut Vec<String>) -> ForeignKey {
    let mut follow = ForeignKey::default();
    let part = main.clone();
    for foreign in &mut main.foreign_keys {
        let described = described(&part, foreign, old);
        let has_key = foreign.columns.iter().any(|at| part.primary_key.contains(at));
        if foreign.on_delete == Action::Cascade {
            follow.on_delete = Action::Cascade;
        }
        for event in [Event::Delete, Event::Update] {
            match *event.action(foreign) {
                Action::SetNull | Action::SetDefault if has_key => event.forgo(foreign, &described, left_out),
                _ => {}
            }
        }
        if foreign.on_update == Action::Cascade && has_key {
            follow.on_update = Action::Cascade;
        }
    }
    follow
}

/// A part cannot delete the whole row, nor change the key of all parts.
fn actions_of_other(table: &mut Table, (part, old): (&Table, &Table), left_out: &mut Vec<String>) {
    for foreign in &mut table.foreign_keys {
        let described = described(part, foreign, old);
        let has_key = foreign.columns.iter().any(|at| part.primary_key.contains(at));
        for event in [Event::Delete, Event::Update] {
            let deletes = matches!(event, Event::Delete);
            match *event.action(foreign) {
                Action::Cascade if deletes || has_key => event.forgo(foreign, &described, left_out),
                Action::SetNull | Action::SetDefault if has_key => event.forgo(foreign, &described, left_out),
                _ => {}
            }
        }
    }
}

/// The foreign key with the name of the table that was split.
fn described(part: &Table, foreign: &ForeignKey, old: &Table) -> String {
    let mut table = part.clone();
    table.name.clone_from(&old.name);
    foreign.describe(&table)
}
