//! Microsoft SQL Server, from version 2022 on.
//!
//! The tables have the collation `Latin1_General_100_BIN2_UTF8`, by which texts are ordered by their bytes. `=` passes over
//! spaces at the end of texts whatever the collation, so that columns and constants with such texts are refused.

use crate::dialect::{
    Conditions, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, STANDARD, Templates, TypeNames,
};

pub(crate) static MSSQL: Dialect = Dialect {
    name: "mssql",
    title: "Microsoft SQL Server",
    quotes: ('[', ']'),
    longest_name: 128,
    pads_texts: true,
    blob: Some("0x{0}"),
    types: TypeNames { integer: "BIGINT", real: "FLOAT", text: "VARCHAR(MAX)", blob: "VARBINARY(MAX)" },
    column_types: TypeNames {
        integer: "BIGINT",
        real: "FLOAT",
        text: "VARCHAR(MAX) COLLATE Latin1_General_100_BIN2_UTF8",
        blob: "VARBINARY(MAX)",
    },
    conditions: Conditions::Apart("CASE WHEN {0} THEN 1 WHEN NOT ({0}) THEN 0 END"),
    nulls: Nulls::Smallest,
    has_nulls_order: false,
    limits: LimitSyntax::Top,
    with_recursive: Some("WITH "),
    full_joins: FullJoins::Any,
    subquery_in_group: false,
    has_decimal_constants: true,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("LOWER({0}) LIKE {1}"),
        only_ascii_patterns: true,
        backslash_escapes: false,
        also_special: "[",
        ..STANDARD.likes
    },
    templates: Templates {
        // TRIM there takes spaces alone, as SQLite's does; the length of a text is counted without its last spaces.
        concat: Some("{0} + {1}"),
        length: None,
        position: None,
        rest: None,
        part: Some("SUBSTRING({0}, {1}, {2})"),
        integer_as_text: Some("CAST({0} AS VARCHAR(20))"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        real_as_integer: Some("CAST({0} AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS FLOAT)"),
        integer_of_sum: Some("{0}"),
        average_of_integers: Some("AVG(CAST({0} AS FLOAT))"),
        concatenation: Some("STRING_AGG({0}, {1}) WITHIN GROUP (ORDER BY {2})"),
        ..STANDARD.templates
    },
    ..STANDARD
};
