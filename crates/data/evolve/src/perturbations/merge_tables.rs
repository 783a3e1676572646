//! `merge-tables`: two tables that a foreign key links become one (EvoSchema, section 3.6). Both keys go over, one of them
//! as the key; columns of one name get the name of their table.

use std::collections::HashSet;

use sqlgauge_base::Random;
use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table};

use super::{Context, compound, names_in_use, tables};
use crate::chain::Chain;
use crate::change::{Change, MergeShape};

const MOST_COLUMNS: usize = 200;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let mut in_use = names_in_use(&schema);
    let mut links: Vec<(&Table, &ForeignKey)> = tables(&schema)
        .flat_map(|(_, table)| table.foreign_keys.iter().map(move |key| (table, key)))
        .collect();
    let wanted = context.count(links.len().div_ceil(2), random);
    random.shuffle(&mut links);
    let relevant: HashSet<&str> = context.tables(&schema).map(|(_, table)| table.name.as_str()).collect();
    let mut merged: HashSet<String> = HashSet::new();
    for (child, key) in links {
        if chain.changes().len() == wanted {
            break;
        }
        let Some(parent) = partner(&schema, child, key) else { continue };
        let both = [child, parent].map(|table| table.name.as_str());
        if !both.iter().any(|name| relevant.contains(name)) || both.iter().any(|name| merged.contains(*name))
        {
            continue;
        }
        let Some(shape) = shape(context, (child, key), parent) else { continue };
        let Some(to) = name(child, parent).into_iter().find(|name| in_use.insert(name)) else { continue };
        let key = key.columns.iter().filter_map(|&at| Some(child.column(at)?.name.clone())).collect();
        let renamed = renamed(child, parent);
        let (child, parent) = (child.name.clone(), parent.name.clone());
        let names = [child.clone(), parent.clone()];
        if chain.push(Change::MergeTables { child, key, parent, to, renamed, shape }).is_ok() {
            merged.extend(names);
        }
    }
}

fn partner<'s>(schema: &'s Schema, child: &Table, key: &ForeignKey) -> Option<&'s Table> {
    let (id, columns) = schema.partner(child, key)?;
    let parent = schema.table(id)?;
    let is_key =
        columns.len() == parent.primary_key.len() && columns.iter().all(|at| parent.primary_key.contains(at));
    let is_other = !parent.name.eq_ignore_ascii_case(&child.name);
    let computed = |table: &Table| table.columns.iter().any(|column| column.generated || column.hidden);
    let is_narrow = child.columns.len() + parent.columns.len() <= MOST_COLUMNS;
    (is_key && is_other && is_narrow && !computed(child) && !computed(parent)).then_some(parent)
}

/// Which rows have no partner; `None` where keys are NULL by which rows would have to be told apart.
fn shape(context: &Context<'_>, (child, key): (&Table, &ForeignKey), parent: &Table) -> Option<MergeShape> {
    let name =
        |table: &Table, at: u32| table.column(at).map(|column| quoted(&column.name)).unwrap_or_default();
    let targets = match key.referenced_columns.as_slice() {
        [] => parent.primary_key.iter().map(|&at| name(parent, at)).collect::<Vec<_>>(),
        columns => columns.iter().map(|column| quoted(column)).collect(),
    };
    let on: Vec<String> = key
        .columns
        .iter()
        .zip(targets)
        .map(|(&at, target)| format!("c.{} = p.{target}", name(child, at)))
        .collect();
    let on = on.join(" AND ");
    let (c, p) = (quoted(&child.name), quoted(&parent.name));
    let null = |alias: &str, table: &Table, columns: &[u32]| {
        let all: Vec<String> =
            columns.iter().map(|&at| format!("{alias}.{} IS NULL", name(table, at))).collect();
        all.join(" OR ")
    };
    let exists = |sql: String| {
        let rows = context.probe.rows(&format!("SELECT EXISTS ({sql})"))?;
        Some(rows.values().first() == Some(&Value::Integer(1)))
    };
    if exists(format!("SELECT 1 FROM {p} AS p WHERE {}", null("p", parent, &parent.primary_key)))? {
        return None;
    }
    let orphans =
        exists(format!("SELECT 1 FROM {c} AS c WHERE NOT EXISTS (SELECT 1 FROM {p} AS p WHERE {on})"))?;
    let childless =
        exists(format!("SELECT 1 FROM {p} AS p WHERE NOT EXISTS (SELECT 1 FROM {c} AS c WHERE {on})"))?;
    if childless {
        let sure = child.primary_key.first().or(key.columns.first())?;
        let is_sure = !child.primary_key.is_empty() || !orphans;
        if !is_sure || exists(format!("SELECT 1 FROM {c} AS c WHERE {}", null("c", child, &[*sure])))? {
            return None;
        }
    }
    Some(match (orphans, childless) {
        (false, false) => MergeShape::Inner,
        (true, false) => MergeShape::Left,
        (false, true) => MergeShape::Right,
        (true, true) => MergeShape::Full,
    })
}

/// Names for both together, the best first.
fn name(child: &Table, parent: &Table) -> Vec<String> {
    let contains = |long: &str, short: &str| long.to_ascii_lowercase().contains(&short.to_ascii_lowercase());
    let both = compound(&parent.name, &child.name);
    let mut names = Vec::new();
    if contains(&child.name, &parent.name) {
        names.push(compound(&child.name, "overview"));
    }
    names.extend([both.clone(), compound(&both, "records"), compound(&both, "overview")]);
    names
}

/// Columns of one name get that of their table; the key that links both need not.
fn renamed(child: &Table, parent: &Table) -> Vec<(String, String)> {
    let mut names: Vec<String> =
        child.columns.iter().chain(&parent.columns).map(|column| column.name.to_ascii_lowercase()).collect();
    let mut renamed = Vec::new();
    for column in &parent.columns {
        if child.column_index(&column.name).is_none() {
            continue;
        }
        let mut to = compound(&parent.name, &column.name);
        let mut number = 2;
        while names.contains(&to.to_ascii_lowercase()) {
            to = format!("{}_{number}", compound(&parent.name, &column.name));
            number += 1;
        }
        names.push(to.to_ascii_lowercase());
        renamed.push((format!("{}.{}", parent.name, column.name), to));
    }
    renamed
}
