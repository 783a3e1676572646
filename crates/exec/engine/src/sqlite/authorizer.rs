//! The second lock: what a statement may ask for.
//!
//! SQLite asks for the statements that a virtual table's module compiles for itself too. A module that compiles
//! the statements of its writes when it connects to its table (R-tree) would be refused there, so we connect to
//! every virtual table ourselves ([`Phase::Connect`]), with a statement of our own that is never run. In that phase,
//! and in no other, compiling a write to the table's own shadow tables is allowed. Running one would need a write
//! to the virtual table, which is refused as any other.

use rusqlite::hooks::{AuthAction, Authorization};

use super::guard::{Guard, Phase};

/// Functions with an effect outside the query, or that reach into memory.
const REFUSED_FUNCTIONS: [&str; 6] =
    ["load_extension", "fts3_tokenizer", "writefile", "readfile", "edit", "sqlite_log"];

/// Pragmas that only describe the schema; table-valued functions such as `pragma_table_info('t')` run them.
const CATALOG_PRAGMAS: [&str; 9] = [
    "collation_list",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas that full-text tables read for themselves; with a value they would write.
const READ_ONLY_WITHOUT_VALUE: [&str; 3] = ["data_version", "page_size", "encoding"];

/// Functions whose single call can take long or make a value far larger than its arguments: there the
/// progress handler is not called. The list errs on the long side, for a wrong entry costs a thread start.
const UNBOUNDED_FUNCTIONS: [&str; 28] = [
    "char",
    "concat",
    "concat_ws",
    "format",
    "glob",
    "group_concat",
    "hex",
    "instr",
    "like",
    "ltrim",
    "median",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "printf",
    "quote",
    "randomblob",
    "replace",
    "rtreecheck",
    "rtrim",
    "soundex",
    "string_agg",
    "trim",
    "unhex",
    "unistr",
    "unistr_quote",
    "zeroblob",
    "->",
];

/// The authorizer's answer; what it refuses is noted in the guard.
pub(super) fn authorize(guard: &Guard, action: &AuthAction<'_>) -> Authorization {
    let allowed = match *action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => {
            if is_json(table_name) {
                guard.note_unbounded();
            }
            true
        }
        AuthAction::Function { function_name } => {
            if is_unbounded(function_name) {
                guard.note_unbounded();
            }
            !contains(&REFUSED_FUNCTIONS, function_name)
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let harmless = contains(&CATALOG_PRAGMAS, pragma_name)
                || (pragma_value.is_none() && contains(&READ_ONLY_WITHOUT_VALUE, pragma_name));
            guard.phase() == Phase::Own || (harmless && guard.phase() != Phase::Prepare)
        }
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. }
            if guard.phase() == Phase::Connect =>
        {
            guard.is_connecting_shadow(table_name)
        }
        _ => guard.phase() == Phase::Own && is_own(action),
    };
    if allowed {
        Authorization::Allow
    } else {
        guard.note_refused(describe(action));
        Authorization::Deny
    }
}

/// What our own statements on a database in memory do.
fn is_own(action: &AuthAction<'_>) -> bool {
    matches!(
        action,
        AuthAction::CreateTable { .. }
            | AuthAction::CreateIndex { .. }
            | AuthAction::CreateView { .. }
            | AuthAction::DropIndex { .. }
            | AuthAction::Insert { .. }
            | AuthAction::Update { .. }
            | AuthAction::Delete { .. }
            | AuthAction::Reindex { .. }
            | AuthAction::Analyze { .. }
            | AuthAction::Transaction { .. }
    )
}

fn contains(names: &[&str], name: &str) -> bool {
    names.iter().any(|item| item.eq_ignore_ascii_case(name))
}

fn is_json(name: &str) -> bool {
    name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("json"))
}

fn is_unbounded(function: &str) -> bool {
    contains(&UNBOUNDED_FUNCTIONS, function) || is_json(function) || function == "->>"
}

/// The refused action in words, to follow "may not".
fn describe(action: &AuthAction<'_>) -> String {
    match *action {
        AuthAction::Function { function_name } => format!("call {function_name}()"),
        AuthAction::Pragma { pragma_name, .. } => format!("run PRAGMA {pragma_name}"),
        AuthAction::Insert { table_name } => format!("insert into {table_name}"),
        AuthAction::Update { table_name, .. } => format!("update {table_name}"),
        AuthAction::Delete { table_name } => format!("delete from {table_name}"),
        AuthAction::Attach { .. } => "attach a database".to_owned(),
        AuthAction::Detach { .. } => "detach a database".to_owned(),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "control transactions".to_owned(),
        AuthAction::Reindex { .. } | AuthAction::Analyze { .. } => "rebuild indexes or statistics".to_owned(),
        _ => "change the schema".to_owned(),
    }
}
