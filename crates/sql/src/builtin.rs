//! What SQLite has without any schema.

/// The columns of SQLite's catalog and of its built-in table-valued functions, by lower-case name.
pub(crate) fn builtin_columns(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "sqlite_master" | "sqlite_schema" => Some(&["type", "name", "tbl_name", "rootpage", "sql"]),
        "json_each" | "json_tree" | "jsonb_each" | "jsonb_tree" => {
            Some(&["key", "value", "type", "atom", "id", "parent", "fullkey", "path"])
        }
        "pragma_table_info" => Some(&["cid", "name", "type", "notnull", "dflt_value", "pk"]),
        _ => None,
    }
}
