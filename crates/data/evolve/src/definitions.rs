//! Rewrites views, CHECKs, generated columns and index expressions after a change, as golds are.

use std::sync::Arc;

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::resolve_with_aliases;
use sqlgauge_sql::schema::{Indexed, Schema, Table, TableKind};
use sqlgauge_sql::tree::{From, Query};

use crate::operators::Draft;
use crate::rewrite::rewrite;
use crate::step::{Image, Step};
use crate::text;

/// The step of a draft, with texts over the new schema. What cannot be said there is left out.
pub(crate) fn follow(old: &Arc<Schema>, draft: Draft) -> Step {
    let Draft { tables, forth, back, left_out } = draft;
    let new = Arc::new(Schema::new(tables));
    let mut step = Step { old: Arc::clone(old), new, forth, back, left_out };
    let has_texts = |table: &Table| {
        let computed = table.columns.iter().any(|column| column.generated_as.is_some());
        let indexed = table
            .indexes
            .iter()
            .any(|index| index.filter.is_some() || index.parts.iter().any(|part| part.column().is_none()));
        computed || indexed || !table.checks.is_empty() || table.view.is_some()
    };
    if !old.tables().iter().any(has_texts) {
        return step;
    }
    let mut tables: Vec<Table> = step.new.tables().to_vec();
    let mut left_out = Vec::new();
    tables.iter_mut().for_each(|table| table.checks.clear());
    for (at, table) in old.tables().iter().enumerate().filter(|(_, table)| !table.checks.is_empty()) {
        let names = step.forward().changed_names(at);
        for check in &table.checks {
            match unchanged(check, names.as_ref()).or_else(|| over_row(check, table, &step)) {
                Some((to, text)) => tables[to].checks.push(text),
                None => left_out.push(format!("CHECK ({check}) of {}", table.name)),
            }
        }
    }
    for (at, table) in tables.iter_mut().enumerate() {
        if table.kind == TableKind::Table && step.inverse().untouched(at).is_some() {
            continue;
        }
        let origins: Vec<&Table> =
            old.tables().iter().filter(|origin| has_image(&step, origin, at)).collect();
        let follow = |text: &str| {
            let image = origins.iter().find_map(|origin| over_row(text, origin, &step));
            image.filter(|(to, _)| *to == at).map(|(_, text)| text)
        };
        computed_columns(table, &follow, &mut left_out);
        indexes(table, &follow, &mut left_out);
        if table.kind == TableKind::View {
            view(table, &step, &mut left_out);
        }
    }
    step.left_out.append(&mut left_out);
    step.new = Arc::new(Schema::new(tables));
    step
}

/// Whether that new table has columns of an old one.
fn has_image(step: &Step, table: &Table, at: usize) -> bool {
    let Some(id) = step.old.table_id(&table.name) else { return false };
    match &step.forth.images[id.index()] {
        Image::Table(projection) | Image::Distinct { projection, .. } => projection.to == at,
        Image::Fragments { fragments, .. } => fragments.iter().any(|part| part.to == at),
        Image::Query(_) | Image::Gone => false,
    }
}

fn computed_columns(table: &mut Table, follow: &dyn Fn(&str) -> Option<String>, left_out: &mut Vec<String>) {
    for column in &mut table.columns {
        let Some(text) = column.generated_as.take() else { continue };
        column.generated_as = follow(&text);
        if column.generated_as.is_none() {
            // Its values are kept as those of an ordinary column.
            column.generated = false;
            left_out.push(format!("GENERATED of {}.{}", table.name, column.name));
        }
    }
}

fn indexes(table: &mut Table, follow: &dyn Fn(&str) -> Option<String>, left_out: &mut Vec<String>) {
    let name = table.name.clone();
    table.indexes.retain_mut(|index| {
        let filter = index.filter.as_ref().map(|text| follow(text));
        let mut is_whole = !matches!(filter, Some(None));
        index.filter = filter.flatten();
        for part in &mut index.parts {
            if let Indexed::Expression(text) = &mut part.of {
                match follow(text) {
                    Some(new) => *text = new,
                    None => is_whole = false,
                }
            }
        }
        if !is_whole {
            let index_name = index.name.as_deref().unwrap_or_default();
            left_out.push(format!("index {index_name} of {name}"));
        }
        is_whole
    });
}

/// A view whose query cannot be said keeps its name and has no columns, and is not written.
fn view(table: &mut Table, step: &Step, left_out: &mut Vec<String>) {
    // One whose columns could not be read, as it joins too much, is too much for a text too.
    let text = table.view.take().filter(|_| !table.columns.is_empty());
    table.view = text.and_then(|text| {
        let (query, mut aliases) = resolve_with_aliases(&text, &step.old).ok()?;
        let query = rewrite(&query, &mut aliases, step.forward()).ok()?;
        text::choose(&[&text], &query, &step.new, &aliases).ok()
    });
    if table.view.is_none() {
        left_out.push(format!("view {}", table.name));
        table.columns.clear();
    }
}

/// A text that names no column that changed: it is kept, whatever it says.
fn unchanged(text: &str, names: Option<&(usize, Vec<String>)>) -> Option<(usize, String)> {
    let (to, changed) = names?;
    let lower = text.to_ascii_lowercase();
    changed.iter().all(|name| !lower.contains(name.as_str())).then(|| (*to, text.to_owned()))
}

/// An expression over one row of an old table, as one over a row of a new table.
fn over_row(text: &str, original: &Table, step: &Step) -> Option<(usize, String)> {
    let wrapped = format!("SELECT ({text}\n) FROM {}", quoted(&original.name));
    let (query, mut aliases) = resolve_with_aliases(&wrapped, &step.old).ok()?;
    let query = rewrite(&query, &mut aliases, step.forward()).ok()?;
    let table = only_table(&query)?;
    let place = table.index();
    let printed = text::brief(&query, &step.new, &aliases).ok()?;
    let name = sqlgauge_sql::PrintDialect::Sqlite.identifier(&step.new.table(table)?.name);
    let inside = printed.strip_prefix("SELECT ")?;
    let (expr, _) = inside.split_at(inside.find(&format!(" FROM {name}"))?);
    // What did not change keeps its text.
    let same = format!("SELECT ({text}\n) FROM {name}");
    let verbatim = text::means(&same, &query, &step.new).then(|| text.to_owned());
    Some((place, verbatim.unwrap_or_else(|| expr.to_owned())))
}

fn only_table(query: &Query) -> Option<sqlgauge_sql::schema::TableId> {
    match query.as_select()?.from.as_ref()? {
        From::Relation(relation) => relation.table(),
        From::Join(_) => None,
    }
}
