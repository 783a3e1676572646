//! Snowflake.
//!
//! `/` of integers is a decimal number cut after six digits, so that a quotient is made of what `%` leaves. Texts compare by
//! their bytes unless a collation is declared. A subquery as a value that reads the query around must aggregate.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, ROUND_BY_TRUNC,
    STANDARD, Templates, TypeNames,
};

const TYPES: TypeNames = TypeNames { integer: "BIGINT", real: "DOUBLE", text: "VARCHAR", blob: "BINARY" };

pub(crate) static SNOWFLAKE: Dialect = Dialect {
    name: "snowflake",
    title: "Snowflake",
    longest_name: 255,
    backslash_in_texts: true,
    blob: Some("X'{0}'"),
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CAST({0} AS INTEGER)"),
    nulls: Nulls::Largest,
    limits: LimitSyntax::Limit { before_offset: " LIMIT NULL" },
    full_joins: FullJoins::OnEquality,
    has_rows: true,
    correlation: Correlation::Aggregates,
    has_narrow_integers: false,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("{0} ILIKE {1}"),
        only_ascii_patterns: true,
        backslash_escapes: false,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("({0} - {0} % {1}) / {1}"),
        same: Some("EQUAL_NULL({0}, {1})"),
        position: Some("CHARINDEX({1}, {0})"),
        trim: Some("TRIM({0}, ' ')"),
        trim_left: Some("LTRIM({0}, ' ')"),
        trim_right: Some("RTRIM({0}, ' ')"),
        integer_as_text: Some("CAST({0} AS VARCHAR)"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        real_as_integer: Some("CAST(TRUNC({0}) AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS DOUBLE)"),
        round: Some(ROUND_BY_TRUNC),
        average_of_integers: Some("AVG(CAST({0} AS DOUBLE))"),
        concatenation: Some("LISTAGG({0}, {1}) WITHIN GROUP (ORDER BY {2})"),
        ..STANDARD.templates
    },
    ..STANDARD
};
