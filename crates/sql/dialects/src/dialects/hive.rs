//! Apache Hive, from version 3 on.
//!
//! Subqueries stand in WHERE and HAVING alone. Texts compare by their bytes.

use crate::dialect::{
    Conditions, Correlation, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, STANDARD,
    Templates, TypeNames,
};

const TYPES: TypeNames = TypeNames { integer: "BIGINT", real: "DOUBLE", text: "STRING", blob: "BINARY" };

pub(crate) static HIVE: Dialect = Dialect {
    name: "hive",
    title: "Hive",
    quotes: ('`', '`'),
    longest_name: 128,
    not_in_names: ".:",
    backslash_in_texts: true,
    types: TYPES,
    column_types: TYPES,
    conditions: Conditions::Apart("CAST({0} AS BIGINT)"),
    nulls: Nulls::Smallest,
    limits: LimitSyntax::Comma,
    compound_in_parentheses: false,
    with_recursive: None,
    full_joins: FullJoins::OnEquality,
    quantified_anywhere: false,
    scalar_anywhere: false,
    subquery_in_group: false,
    correlation: Correlation::Quantified,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("LOWER({0}) LIKE {1}"),
        only_ascii_patterns: true,
        has_escape: false,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("{0} DIV {1}"),
        concat: Some("CONCAT({0}, {1})"),
        same: Some("{0} <=> {1}"),
        position: Some("INSTR({0}, {1})"),
        place: "CAST({0} AS INT)",
        trim: Some("TRIM({0})"),
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
