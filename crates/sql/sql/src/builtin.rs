//! Lists what SQLite has without a schema.

/// The columns of SQLite's catalog and of its built-in table-valued functions, by lower-case name.
pub(crate) fn builtin_columns(name: &str) -> Option<&'static [&'static str]> {
    match name {
        "sqlite_master" | "sqlite_schema" => Some(&["type", "name", "tbl_name", "rootpage", "sql"]),
        "json_each" | "json_tree" | "jsonb_each" | "jsonb_tree" => {
            Some(&["key", "value", "type", "atom", "id", "parent", "fullkey", "path"])
        }
        _ => pragma_columns(name.strip_prefix("pragma_")?),
    }
}

/// The columns of the pragmas that tell of a schema.
fn pragma_columns(pragma: &str) -> Option<&'static [&'static str]> {
    Some(match pragma {
        "collation_list" => &["seq", "name"],
        "compile_options" => &["compile_options"],
        "database_list" => &["seq", "name", "file"],
        "foreign_key_check" => &["table", "rowid", "parent", "fkid"],
        "foreign_key_list" => &["id", "seq", "table", "from", "to", "on_update", "on_delete", "match"],
        "function_list" => &["name", "builtin", "type", "enc", "narg", "flags"],
        "index_info" => &["seqno", "cid", "name"],
        "index_list" => &["seq", "name", "unique", "origin", "partial"],
        "index_xinfo" => &["seqno", "cid", "name", "desc", "coll", "key"],
        "module_list" | "pragma_list" => &["name"],
        "table_info" => &["cid", "name", "type", "notnull", "dflt_value", "pk"],
        "table_list" => &["schema", "name", "type", "ncol", "wr", "strict"],
        "table_xinfo" => &["cid", "name", "type", "notnull", "dflt_value", "pk", "hidden"],
        _ => return None,
    })
}

/// The most arguments that a built-in table-valued function takes.
pub(crate) fn function_arguments(name: &str) -> usize {
    match name {
        "sqlite_master"
        | "sqlite_schema"
        | "pragma_collation_list"
        | "pragma_compile_options"
        | "pragma_database_list"
        | "pragma_function_list"
        | "pragma_module_list"
        | "pragma_pragma_list" => 0,
        "pragma_table_list" => 1,
        _ => 2,
    }
}
