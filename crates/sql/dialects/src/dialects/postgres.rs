//! PostgreSQL, from version 12 on.
//!
//! `COLLATE "C"` stands wherever texts are ordered or their case is changed, so that the texts hold whatever the collation
//! of the database is; equality is one of bytes under every collation that is deterministic, as all but those that say
//! otherwise are. ILIKE and LOWER under "C" know ASCII letters alone, as SQLite's do.

use crate::dialect::{
    CheckLevel, Conditions, Dialect, FullJoins, Likes, ROUND_BY_TRUNC, STANDARD, Templates,
};

pub(super) static POSTGRES: Dialect = Dialect {
    name: "postgres",
    title: "PostgreSQL",
    checked: CheckLevel::Rows,
    blob: Some("'\\x{0}'::bytea"),
    conditions: Conditions::Apart("CAST({0} AS INTEGER)"),
    full_joins: FullJoins::OnEquality,
    has_filter: true,
    has_groups: true,
    has_exclude: true,
    has_range_offset: true,
    has_rows: true,
    likes: Likes {
        insensitive: Some("({0} COLLATE \"C\") ILIKE {1}"),
        no_escape: Some(" ESCAPE ''"),
        ..STANDARD.likes
    },
    templates: Templates {
        upper: Some("UPPER({0} COLLATE \"C\")"),
        lower: Some("LOWER({0} COLLATE \"C\")"),
        upper_of_ascii: None,
        lower_of_ascii: None,
        position: Some("STRPOS({0}, {1})"),
        place: "CAST({0} AS INTEGER)",
        trim: Some("BTRIM({0})"),
        integer_as_text: Some("CAST({0} AS TEXT)"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        prefix_as_real: Some(concat!(
            "CASE WHEN {0} IS NOT NULL THEN CAST(COALESCE(SUBSTRING({0} FROM ",
            "'^[ \\t\\n\\v\\f\\r]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)'), '0') AS DOUBLE PRECISION) END"
        )),
        prefix_as_integer: Some(concat!(
            "CASE WHEN {0} IS NOT NULL THEN CAST(COALESCE(SUBSTRING({0} FROM ",
            "'^[ \\t\\n\\v\\f\\r]*([+-]?[0-9]+)'), '0') AS BIGINT) END"
        )),
        real_as_integer: Some("CAST(TRUNC({0}) AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS DOUBLE PRECISION)"),
        round: Some(ROUND_BY_TRUNC),
        text_order: "{0} COLLATE \"C\"",
        integer_of_sum: Some("CAST({0} AS BIGINT)"),
        exact_summand: "CAST({0} AS NUMERIC)",
        real_of_exact: "CAST({0} AS DOUBLE PRECISION)",
        average_of_integers: Some("AVG(CAST({0} AS DOUBLE PRECISION))"),
        concatenation: Some("STRING_AGG({0}, {1} ORDER BY {2})"),
        of_first_row: Some("(ARRAY_AGG({0} ORDER BY {1}))[1]"),
        ..STANDARD.templates
    },
    ..STANDARD
};
