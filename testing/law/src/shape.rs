//! What tables look like, and twins of them: the same names with other types, keys and constraints.

use std::fmt::Write as _;

use sqlgauge_sql::schema::{Collation, Schema, TableKind};

use crate::dice::Dice;

#[derive(Debug, Clone)]
struct ColumnShape {
    name: String,
    declared_type: String,
    collation: Option<&'static str>,
    not_null: bool,
    generated: Option<String>,
}

/// A foreign key by names of columns.
#[derive(Debug, Clone)]
struct Reference {
    columns: Vec<String>,
    table: String,
    targets: Vec<String>,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are the options of CREATE TABLE")]
struct TableShape {
    name: String,
    columns: Vec<ColumnShape>,
    primary_key: Vec<String>,
    key_descends: bool,
    unique: Vec<Vec<String>>,
    references: Vec<Reference>,
    checks: Vec<String>,
    without_rowid: bool,
    strict: bool,
    /// Read through a view of that name over a table of another.
    behind_view: bool,
}

/// Tables that can be written as DDL.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    tables: Vec<TableShape>,
    indexes: Vec<String>,
}

const TYPES: [&str; 12] = [
    "",
    "INT",
    "INTEGER",
    "TEXT",
    "TEXT",
    "REAL",
    "NUMERIC",
    "BLOB",
    "VARCHAR(10)",
    "DATE",
    "BOOLEAN",
    "FLOATING POINT",
];
const STRICT_TYPES: [&str; 5] = ["INT", "INTEGER", "TEXT", "REAL", "ANY"];
const HOSTILE_NAMES: [&str; 10] =
    ["order", "group", "my col", "größe", "a\"b", "select", "1st", "rowid_", "Table", "x.y"];

impl Shape {
    /// The tables of a schema, views as tables.
    pub(crate) fn of(schema: &Schema) -> Self {
        let tables = schema.tables().iter().map(|table| {
            let name = |index: &u32| table.column(*index).map(|c| c.name.clone()).unwrap_or_default();
            let names = |set: &[u32]| set.iter().map(name).collect::<Vec<_>>();
            let columns = table.columns.iter().map(|column| ColumnShape {
                name: column.name.clone(),
                declared_type: column.declared_type.clone().unwrap_or_default(),
                collation: match column.collation {
                    Collation::NoCase => Some("NOCASE"),
                    Collation::RTrim => Some("RTRIM"),
                    _ => None,
                },
                not_null: column.not_null && table.kind == TableKind::Table,
                generated: None,
            });
            let references = table.foreign_keys.iter().filter_map(|key| {
                let (parent, targets) = schema.resolve_foreign_key(key)?;
                let parent = schema.table(parent)?;
                let target = |index: &u32| parent.column(*index).map(|c| c.name.clone());
                Some(Reference {
                    columns: names(&key.columns),
                    table: parent.name.clone(),
                    targets: targets.iter().map(target).collect::<Option<_>>()?,
                })
            });
            TableShape {
                name: table.name.clone(),
                columns: columns.collect(),
                primary_key: names(&table.primary_key),
                key_descends: false,
                unique: table.unique.iter().map(|set| names(set)).collect(),
                references: references.collect(),
                checks: Vec::new(),
                without_rowid: table.without_rowid,
                strict: table.strict,
                behind_view: false,
            }
        });
        Self { tables: tables.collect(), indexes: Vec::new() }
    }

    /// The same names with other types, collations, keys and constraints, changed at `percent` of the places.
    pub(crate) fn twin(&self, percent: usize, dice: &mut Dice) -> Self {
        let mut twin = self.clone();
        let names: Vec<(String, Vec<String>)> = twin
            .tables
            .iter()
            .map(|table| (table.name.clone(), table.columns.iter().map(|c| c.name.clone()).collect()))
            .collect();
        for table in &mut twin.tables {
            change_table(table, percent, dice);
            if dice.chance(percent / 3)
                && let Some((parent, columns)) = dice.pick_any(&names)
            {
                let columns = dice.pick_any(columns).cloned().into_iter().collect();
                let child = dice.pick_any(&table.columns).map(|c| c.name.clone()).into_iter().collect();
                table.references.push(Reference { columns: child, table: parent.clone(), targets: columns });
            }
        }
        twin.hide_behind_views(percent, dice);
        twin.add_indexes(percent, dice);
        twin
    }

    fn hide_behind_views(&mut self, percent: usize, dice: &mut Dice) {
        for place in 0..self.tables.len() {
            if dice.chance(percent / 4) {
                let name = self.tables[place].name.clone();
                self.tables[place].behind_view = true;
                for table in &mut self.tables {
                    table.references.retain(|reference| reference.table != name);
                }
            }
        }
    }

    fn add_indexes(&mut self, percent: usize, dice: &mut Dice) {
        let mut indexes = Vec::new();
        for (number, table) in self.tables.iter().enumerate().filter(|(_, table)| !table.behind_view) {
            if dice.chance(percent / 2)
                && let Some(column) = dice.pick_any(&table.columns)
            {
                let (name, column) = (quoted(&table.name), quoted(&column.name));
                indexes.push(match dice.below(5) {
                    0 => format!("CREATE INDEX i{number} ON {name} ({column} DESC)"),
                    1 => format!("CREATE INDEX i{number} ON {name} (lower({column}))"),
                    2 => format!("CREATE UNIQUE INDEX i{number} ON {name} ({column}) WHERE {column} > 1"),
                    3 => format!("CREATE INDEX i{number} ON {name} ({column} COLLATE NOCASE)"),
                    _ => format!("CREATE INDEX i{number} ON {name} ({column})"),
                });
            }
        }
        self.indexes = indexes;
    }

    /// The same with names that need quotes, each still different from the others.
    #[must_use]
    pub(crate) fn renamed(&self, dice: &mut Dice) -> Self {
        let mut renamed = self.clone();
        let mut number = 0;
        let mut fresh = |dice: &mut Dice| {
            number += 1;
            format!("{}{number}", dice.pick(&HOSTILE_NAMES))
        };
        let mut tables = Vec::new();
        for table in &mut renamed.tables {
            let name = fresh(dice);
            let columns: Vec<(String, String)> =
                table.columns.iter().map(|c| (c.name.clone(), fresh(dice))).collect();
            tables.push((std::mem::replace(&mut table.name, name.clone()), name, columns));
        }
        for table in &mut renamed.tables {
            let Some((_, _, columns)) = tables.iter().find(|(_, new, _)| *new == table.name) else {
                continue;
            };
            table.rename(columns, &tables);
        }
        renamed.indexes.clear();
        renamed
    }

    /// The statements that create the tables, and then the views and indexes.
    pub(crate) fn ddl(&self) -> Vec<String> {
        let tables = self.tables.iter().map(TableShape::ddl);
        let views = self.tables.iter().filter(|table| table.behind_view).map(TableShape::view);
        tables.chain(views).chain(self.indexes.iter().cloned()).collect()
    }
}

type Renaming = (String, String, Vec<(String, String)>);

fn new_name(name: &str, columns: &[(String, String)]) -> String {
    columns.iter().find(|(old, _)| old.eq_ignore_ascii_case(name)).map_or(name, |(_, new)| new).to_owned()
}

impl TableShape {
    fn rename(&mut self, columns: &[(String, String)], tables: &[Renaming]) {
        for column in &mut self.columns {
            column.name = new_name(&column.name, columns);
            column.generated = None;
        }
        for name in self.primary_key.iter_mut().chain(self.unique.iter_mut().flatten()) {
            *name = new_name(name, columns);
        }
        for reference in &mut self.references {
            reference.columns.iter_mut().for_each(|name| *name = new_name(name, columns));
            let parent = tables.iter().find(|(old, _, _)| old.eq_ignore_ascii_case(&reference.table));
            if let Some((_, new, columns)) = parent {
                reference.table.clone_from(new);
                reference.targets.iter_mut().for_each(|name| *name = new_name(name, columns));
            }
        }
        self.checks.clear();
    }

    fn stored_name(&self) -> String {
        if self.behind_view { format!("{}_stored", self.name) } else { self.name.clone() }
    }

    fn view(&self) -> String {
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let name = quoted(&column.name);
            match (place % 4, self.name.len() % 3) {
                (2, 0) => format!("{name} || '' AS {name}"),
                (3, 1) => format!("+{name} AS {name}"),
                (1, 2) => format!("{name} COLLATE NOCASE AS {name}"),
                _ => name,
            }
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!("CREATE VIEW {} AS SELECT {columns} FROM {}", quoted(&self.name), quoted(&self.stored_name()))
    }

    fn ddl(&self) -> String {
        let alone = self.primary_key.len() == 1;
        let mut parts: Vec<String> =
            self.columns.iter().map(|column| self.column_ddl(column, alone)).collect();
        if self.primary_key.len() > 1 {
            parts.push(format!("PRIMARY KEY ({})", list(&self.primary_key)));
        }
        for set in &self.unique {
            let descends = if self.key_descends { " DESC" } else { "" };
            let mut columns = set.iter().map(|name| quoted(name));
            let first = columns.next().unwrap_or_default();
            let mut all = vec![format!("{first}{descends}")];
            all.extend(columns);
            parts.push(format!("UNIQUE ({})", all.join(", ")));
        }
        for Reference { columns, table, targets } in &self.references {
            let (columns, targets) = (list(columns), list(targets));
            parts.push(format!("FOREIGN KEY ({columns}) REFERENCES {} ({targets})", quoted(table)));
        }
        parts.extend(self.checks.iter().map(|check| format!("CHECK ({check})")));
        let mut options = Vec::new();
        if self.without_rowid && !self.primary_key.is_empty() {
            options.push("WITHOUT ROWID");
        }
        if self.strict {
            options.push("STRICT");
        }
        let options = options.join(", ");
        format!("CREATE TABLE {} ({}) {options}", quoted(&self.stored_name()), parts.join(", "))
            .trim_end()
            .to_owned()
    }

    fn column_ddl(&self, column: &ColumnShape, alone: bool) -> String {
        let mut text = quoted(&column.name);
        let mut add = |part: &str| {
            let _ = write!(text, " {part}");
        };
        if !column.declared_type.is_empty() {
            add(&column.declared_type);
        }
        if alone && self.primary_key[0].eq_ignore_ascii_case(&column.name) {
            add(if self.key_descends { "PRIMARY KEY DESC" } else { "PRIMARY KEY" });
        } else if let Some(expr) = &column.generated {
            add(&format!("GENERATED ALWAYS AS ({expr})"));
        }
        if column.not_null {
            add("NOT NULL");
        }
        if let Some(collation) = column.collation {
            add(&format!("COLLATE {collation}"));
        }
        text
    }
}

fn change_table(table: &mut TableShape, percent: usize, dice: &mut Dice) {
    table.strict = dice.chance(percent / 5);
    for column in &mut table.columns {
        if dice.chance(percent) {
            (*dice.pick(&TYPES)).clone_into(&mut column.declared_type);
        }
        if table.strict && !STRICT_TYPES.contains(&column.declared_type.as_str()) {
            (*dice.pick(&STRICT_TYPES)).clone_into(&mut column.declared_type);
        }
        if dice.chance(percent) {
            column.collation = *dice.pick(&[None, Some("NOCASE"), Some("NOCASE"), Some("RTRIM")]);
        }
        if dice.chance(percent) {
            column.not_null = !column.not_null;
        }
    }
    change_keys(table, percent, dice);
    // Left out: a virtual REAL column of a STRICT table. SQLite itself returns another class where it sorts:
    // `CREATE TABLE c (a INT, v REAL AS (a)) STRICT; INSERT INTO c VALUES (2); SELECT v FROM c` gives 2.0, and with
    // `ORDER BY v` the integer 2.
    let is_strict = table.strict;
    if let (true, [first, .., last]) = (dice.chance(percent / 4), table.columns.as_mut_slice())
        && !(is_strict && last.declared_type.eq_ignore_ascii_case("REAL"))
    {
        last.generated = Some(match dice.below(3) {
            0 => format!("{} * 2", quoted(&first.name)),
            1 => format!("lower({})", quoted(&first.name)),
            _ => quoted(&first.name),
        });
        let name = last.name.clone();
        table.primary_key.retain(|key| *key != name);
    }
    if dice.chance(percent / 4)
        && let Some(column) = dice.pick_any(&table.columns)
    {
        let name = quoted(&column.name);
        table.checks.push(match dice.below(3) {
            0 => format!("{name} > 0"),
            1 => format!("{name} IS NOT NULL"),
            _ => format!("typeof({name}) <> 'blob'"),
        });
    }
}

fn change_keys(table: &mut TableShape, percent: usize, dice: &mut Dice) {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let some = |dice: &mut Dice| {
        let mut set = names.clone();
        dice.shuffle(&mut set);
        set.truncate(1 + dice.below(2));
        set
    };
    if dice.chance(percent) {
        table.primary_key = if dice.chance(30) { Vec::new() } else { some(dice) };
    }
    if dice.chance(percent) {
        table.unique = if dice.chance(40) { Vec::new() } else { vec![some(dice)] };
    }
    table.key_descends = dice.chance(percent / 2);
    table.without_rowid = dice.chance(if table.without_rowid { 80 } else { percent / 3 });
    table.references.retain(|_| !dice.chance(percent / 2));
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

/// The name in double quotes if it needs them.
pub(crate) fn quoted(name: &str) -> String {
    sqlgauge_sql::PrintDialect::Sqlite.identifier(name)
}
