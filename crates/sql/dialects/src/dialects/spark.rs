//! Spark SQL and Databricks SQL, from version 3.4 on.
//!
//! Texts compare by their bytes. Correlated subqueries as values must aggregate.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, STANDARD,
    Templates, TypeNames,
};

const TYPES: TypeNames = TypeNames { integer: "BIGINT", real: "DOUBLE", text: "STRING", blob: "BINARY" };

pub(crate) static SPARK: Dialect = Dialect {
    name: "spark",
    title: "Spark SQL and Databricks",
    quotes: ('`', '`'),
    longest_name: 128,
    not_in_names: " ,;{}()\n\t=",
    backslash_in_texts: true,
    blob: Some("X'{0}'"),
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CAST({0} AS BIGINT)"),
    nulls: Nulls::Smallest,
    limits: LimitSyntax::Limit { before_offset: "" },
    with_recursive: None,
    full_joins: FullJoins::Any,
    has_filter: true,
    has_range_offset: true,
    has_rows: true,
    correlation: Correlation::Aggregates,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("{0} ILIKE {1}"),
        only_ascii_patterns: true,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("{0} DIV {1}"),
        same: Some("{0} <=> {1}"),
        position: Some("INSTR({0}, {1})"),
        place: "CAST({0} AS INT)",
        trim: Some("BTRIM({0}, ' ')"),
        trim_left: Some("LTRIM(' ', {0})"),
        trim_right: Some("RTRIM(' ', {0})"),
        integer_as_text: Some("CAST({0} AS STRING)"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        real_as_integer: Some("CAST({0} AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS DOUBLE)"),
        average_of_integers: Some("AVG({0})"),
        concatenation: None,
        ..STANDARD.templates
    },
    ..STANDARD
};
