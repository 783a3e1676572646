//! What is known of SQLite's functions.

use crate::tree::{Args, Call};

/// SQLite's aggregate functions; `min` and `max` are aggregates with one argument only.
const AGGREGATES: &[&str] = &[
    "avg",
    "count",
    "group_concat",
    "json_group_array",
    "json_group_object",
    "jsonb_group_array",
    "jsonb_group_object",
    "max",
    "median",
    "min",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "string_agg",
    "sum",
    "total",
];

/// Functions that may give another value for the same arguments.
const NONDETERMINISTIC: &[&str] = &[
    "changes",
    "current_date",
    "current_time",
    "current_timestamp",
    "last_insert_rowid",
    "random",
    "randomblob",
    "total_changes",
];

/// Whether the call aggregates the rows of its group; a call with OVER does not.
pub fn is_aggregate(call: &Call) -> bool {
    if call.over.is_some() || AGGREGATES.binary_search(&call.function.as_str()).is_err() {
        return false;
    }
    !matches!(call.function.as_str(), "min" | "max") || call.args.as_slice().len() == 1
}

/// Whether the call is of a window function.
pub fn is_window(call: &Call) -> bool {
    call.over.is_some()
}

/// Whether the call gives the same value for the same arguments within one run of a query and the next. Date
/// functions are deterministic unless they are asked for the present (`'now'`, or no argument at all).
pub fn is_deterministic(call: &Call) -> bool {
    use crate::tree::{Expr, Literal};
    if NONDETERMINISTIC.contains(&call.function.as_str()) {
        return false;
    }
    let is_now =
        |arg: &Expr| matches!(arg, Expr::Literal(Literal::Text(text)) if text.eq_ignore_ascii_case("now"));
    let args = call.args.as_slice();
    match call.function.as_str() {
        "date" | "time" | "datetime" | "julianday" | "unixepoch" => {
            !matches!(call.args, Args::Bare) && args.first().is_some_and(|first| !is_now(first))
        }
        "strftime" => args.len() > 1 && !args.iter().any(is_now),
        "timediff" => !args.iter().any(is_now),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(AGGREGATES.is_sorted());
    }
}
