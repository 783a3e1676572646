//! The catalog of a database behind a driver: by the catalog query of its dialect, else by the first of several that runs. If none
//! runs, by the columns that a query over each table returns, with the types that the driver or some values tell. Other types and
//! all keys are then unknown.

use super::place::Place;
use crate::catalog::{Catalog, Row};
use crate::python::child::Child;
use crate::server::Broken;

/// Reads the catalog. It is empty where no question is answered, and the address names no tables.
pub(super) fn read(child: &mut Child, place: &Place) -> Result<Catalog, Broken> {
    let dialect = place.dialect;
    if !place.tables.is_empty() {
        return by_rows(child, place, &place.tables);
    }
    if let Some([columns, keys, comments]) = dialect.questions()
        && let (Some(columns), Some(keys)) = (child.answered(columns)?, child.answered(keys)?)
    {
        let comments = child.answered(comments)?.unwrap_or_default();
        return Ok(dialect.catalog(&columns, &keys, &comments));
    }
    for (columns, keys) in questions() {
        let Some(columns) = child.answered(&columns)?.filter(|rows| !rows.is_empty()) else { continue };
        let keys = child.answered(&keys)?.unwrap_or_default();
        return Ok(crate::catalog::catalog_of(&columns, &keys, &[], dialect.quoted()));
    }
    let tables = child.answered("SHOW TABLES")?.unwrap_or_default();
    let tables: Vec<String> = tables.into_iter().filter_map(|row| row.into_iter().next()?).collect();
    by_rows(child, place, &tables)
}

/// The catalog of those tables by what a query over each returns. One that cannot be read is left out. The digest leaves types out:
/// the next time, a server may give other rows to tell them by.
fn by_rows(child: &mut Child, place: &Place, tables: &[String]) -> Result<Catalog, Broken> {
    let quoted = place.dialect.quoted();
    let mut columns: Vec<Row> = Vec::new();
    for table in tables {
        let of_table = [Some(table.clone()), Some("TABLE".to_owned())];
        let described = child.described(&quoted(table))?.into_iter().flatten();
        columns.extend(described.map(|column| [&of_table[..], &column[..], &[None]].concat()));
    }
    let digest = format!("{:?}", columns.iter().map(|row| &row[..3]).collect::<Vec<_>>());
    Ok(Catalog { digest, ..crate::catalog::catalog_of(&columns, &[], &[], quoted) })
}

/// How dialects say which schema the connection is in, and of the last that says none: all but the system's.
const SCHEMAS: [&str; 6] = [
    "= current_schema()",
    "= current_schema",
    "= DATABASE()",
    "= SCHEMA_NAME()",
    "= currentDatabase()",
    "NOT IN ('information_schema', 'INFORMATION_SCHEMA', 'pg_catalog', 'sys')",
];

const SQLITE_COLUMNS: &str = "SELECT m.name, m.type, p.name, p.type, CASE p.\"notnull\" WHEN 1 THEN 'NO' ELSE 'YES' END \
    FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
    ORDER BY m.name, p.cid";

const SQLITE_KEYS: &str = "SELECT name, id, a, b, c FROM (\
    SELECT m.name, 'PRIMARY' AS id, p.name AS a, NULL AS b, NULL AS c, p.pk AS n FROM sqlite_master m JOIN pragma_table_info(m.name) p \
    WHERE m.type = 'table' AND p.pk > 0 \
    UNION ALL SELECT m.name, i.name, c.name, NULL, NULL, c.seqno FROM sqlite_master m JOIN pragma_index_list(m.name) i \
    JOIN pragma_index_info(i.name) c WHERE m.type = 'table' AND i.origin = 'u' \
    UNION ALL SELECT m.name, 'key ' || f.id, f.\"from\", f.\"table\", f.\"to\", f.seq FROM sqlite_master m \
    JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table') ORDER BY name, id, n";

const ORACLE_COLUMNS: &str = "SELECT c.table_name, NVL2(v.view_name, 'VIEW', 'TABLE'), c.column_name, c.data_type, \
    CASE c.nullable WHEN 'N' THEN 'NO' ELSE 'YES' END FROM all_tab_columns c \
    LEFT JOIN all_views v ON v.owner = c.owner AND v.view_name = c.table_name \
    WHERE c.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') ORDER BY c.table_name, c.column_id";

const ORACLE_KEYS: &str = "SELECT k.table_name, CASE k.constraint_type WHEN 'P' THEN 'PRIMARY' ELSE k.constraint_name END, c.column_name, \
    u.table_name, u.column_name FROM all_constraints k \
    JOIN all_cons_columns c ON c.owner = k.owner AND c.constraint_name = k.constraint_name \
    LEFT JOIN all_cons_columns u ON u.owner = k.r_owner AND u.constraint_name = k.r_constraint_name AND u.position = c.position \
    WHERE k.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AND k.constraint_type IN ('P', 'U', 'R') \
    ORDER BY k.table_name, k.constraint_name, c.position";

/// Questions for columns and keys that some database answers.
fn questions() -> impl Iterator<Item = (String, String)> {
    let standard = SCHEMAS.into_iter().map(|schema| (columns(schema), keys(schema)));
    let pair = |columns: &str, keys: &str| (columns.to_owned(), keys.to_owned());
    standard.chain([pair(SQLITE_COLUMNS, SQLITE_KEYS), pair(ORACLE_COLUMNS, ORACLE_KEYS)])
}

fn columns(schema: &str) -> String {
    format!(
        "SELECT c.table_name, t.table_type, c.column_name, c.data_type, c.is_nullable FROM information_schema.columns c \
         JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
         WHERE c.table_schema {schema} ORDER BY c.table_schema, c.table_name, c.ordinal_position"
    )
}

fn keys(schema: &str) -> String {
    format!(
        "SELECT k.table_name, CASE t.constraint_type WHEN 'PRIMARY KEY' THEN 'PRIMARY' ELSE k.constraint_name END, k.column_name, \
         u.table_name, u.column_name FROM information_schema.key_column_usage k \
         JOIN information_schema.table_constraints t ON t.constraint_schema = k.constraint_schema \
         AND t.constraint_name = k.constraint_name AND t.table_name = k.table_name \
         LEFT JOIN information_schema.referential_constraints r ON r.constraint_schema = k.constraint_schema \
         AND r.constraint_name = k.constraint_name \
         LEFT JOIN information_schema.key_column_usage u ON u.constraint_schema = r.unique_constraint_schema \
         AND u.constraint_name = r.unique_constraint_name AND u.ordinal_position = k.position_in_unique_constraint \
         WHERE k.table_schema {schema} ORDER BY k.table_name, k.constraint_name, k.ordinal_position"
    )
}
