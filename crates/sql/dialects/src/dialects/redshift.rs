//! Amazon Redshift.
//!
//! Texts compare by their bytes. A correlated subquery as a value must aggregate, and there are no row values.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, LIKE_BY_LOWER, Likes, Nulls, ROUND_BY_TRUNC, STANDARD,
    Templates, TypeNames,
};

const TYPES: TypeNames =
    TypeNames { integer: "BIGINT", real: "DOUBLE PRECISION", text: "VARCHAR(65535)", blob: "VARBYTE" };

pub(crate) static REDSHIFT: Dialect = Dialect {
    name: "redshift",
    title: "Redshift",
    longest_name: 127,
    backslash_in_texts: true,
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CASE WHEN {0} THEN 1 WHEN NOT ({0}) THEN 0 END"),
    nulls: Nulls::Largest,
    full_joins: FullJoins::OnEquality,
    correlation: Correlation::Aggregates,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("{0} ILIKE {1}"),
        only_ascii_patterns: true,
        ..STANDARD.likes
    },
    templates: Templates {
        same: None,
        place: "CAST({0} AS INTEGER)",
        rest: Some("SUBSTRING({0}, {1})"),
        part: Some("SUBSTRING({0}, {1}, {2})"),
        length: Some("LEN({0})"),
        position: Some("STRPOS({0}, {1})"),
        trim: Some("BTRIM({0}, ' ')"),
        trim_left: Some("LTRIM({0}, ' ')"),
        trim_right: Some("RTRIM({0}, ' ')"),
        integer_as_text: Some("CAST({0} AS VARCHAR)"),
        text_as_integer: Some("CAST({0} AS BIGINT)"),
        real_as_integer: Some("CAST(TRUNC({0}) AS BIGINT)"),
        integer_as_real: Some("CAST({0} AS DOUBLE PRECISION)"),
        integer_of_sum: Some("CAST({0} AS BIGINT)"),
        round: Some(ROUND_BY_TRUNC),
        average_of_integers: Some("AVG(CAST({0} AS DOUBLE PRECISION))"),
        concatenation: Some("LISTAGG({0}, {1}) WITHIN GROUP (ORDER BY {2})"),
        ..STANDARD.templates
    },
    ..STANDARD
};
