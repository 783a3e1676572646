//! DuckDB, from version 1.0 on.
//!
//! Texts compare byte by byte unless the database is set to something else. UPPER, LOWER and ILIKE know the letters of all
//! languages, so that ASCII letters are translated one by one where a text may have others.

use crate::dialect::{CheckLevel, Conditions, Dialect, Likes, Nulls, STANDARD, Templates, TypeNames};

const TYPES: TypeNames = TypeNames { integer: "BIGINT", real: "DOUBLE", text: "VARCHAR", blob: "BLOB" };

pub(super) static DUCKDB: Dialect = Dialect {
    name: "duckdb",
    title: "DuckDB",
    checked: CheckLevel::Rows,
    longest_name: 1_000,
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CAST({0} AS BIGINT)"),
    nulls: Nulls::Last,
    has_filter: true,
    has_groups: true,
    has_exclude: true,
    has_range_offset: true,
    has_rows: true,
    likes: Likes {
        insensitive: Some(
            "TRANSLATE({0}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') LIKE {1}",
        ),
        insensitive_of_ascii: Some("{0} ILIKE {1}"),
        backslash_escapes: false,
        no_escape: Some(""),
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("{0} // {1}"),
        upper: Some("TRANSLATE({0}, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')"),
        lower: Some("TRANSLATE({0}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"),
        position: Some("INSTR({0}, {1})"),
        trim: Some("TRIM({0}, ' ')"),
        trim_left: Some("LTRIM({0}, ' ')"),
        trim_right: Some("RTRIM({0}, ' ')"),
        integer_as_text: Some("CAST({0} AS VARCHAR)"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        prefix_as_real: Some(concat!(
            "CASE WHEN {0} IS NOT NULL THEN CAST(COALESCE(NULLIF(REGEXP_EXTRACT({0}, ",
            "'^[ \\t\\n\\x0B\\f\\r]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)', 1), ''), '0') AS DOUBLE) END"
        )),
        prefix_as_integer: Some(concat!(
            "CASE WHEN {0} IS NOT NULL THEN CAST(COALESCE(NULLIF(REGEXP_EXTRACT({0}, ",
            "'^[ \\t\\n\\x0B\\f\\r]*([+-]?[0-9]+)', 1), ''), '0') AS BIGINT) END"
        )),
        real_as_integer: Some("CAST(TRUNC({0}) AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS DOUBLE)"),
        round: Some("ROUND({0})"),
        exact_sum: "FSUM",
        exact_average: "FAVG",
        average_of_integers: Some("AVG({0})"),
        concatenation: Some("STRING_AGG({0}, {1} ORDER BY {2})"),
        of_first_row: Some("FIRST({0} ORDER BY {1})"),
        ..STANDARD.templates
    },
    ..STANDARD
};
