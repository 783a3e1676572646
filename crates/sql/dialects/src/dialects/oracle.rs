//! Oracle Database, from version 19c on.
//!
//! An empty text is NULL there, so that a constant that is empty is refused, and so is a table that holds one.

use crate::dialect::{
    Conditions, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, ROUND_BY_TRUNC, STANDARD,
    Templates, TypeNames,
};

pub(crate) static ORACLE: Dialect = Dialect {
    name: "oracle",
    title: "Oracle",
    longest_name: 128,
    not_in_names: "\"",
    empty_is_null: true,
    blob: Some("HEXTORAW('{0}')"),
    types: TypeNames { integer: "NUMBER(19)", real: "BINARY_DOUBLE", text: "VARCHAR2(4000)", blob: "BLOB" },
    column_types: TypeNames {
        integer: "NUMBER(19)",
        real: "BINARY_DOUBLE",
        text: "VARCHAR2(4000)",
        blob: "BLOB",
    },
    conditions: Conditions::Apart("CASE WHEN {0} THEN 1 WHEN NOT ({0}) THEN 0 END"),
    nulls: Nulls::Largest,
    limits: LimitSyntax::Fetch,
    except: Some("MINUS"),
    with_recursive: Some("WITH "),
    from_nothing: " FROM DUAL",
    alias: " ",
    full_joins: FullJoins::Any,
    has_rows: true,
    subquery_in_group: false,
    has_narrow_integers: false,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        insensitive_of_ascii: Some("LOWER({0}) LIKE {1}"),
        only_ascii_patterns: true,
        backslash_escapes: false,
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("TRUNC({0} / {1})"),
        modulo: Some("MOD({0}, {1})"),
        concat: Some("CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN {0} || {1} END"),
        same: Some("DECODE({0}, {1}, 1, 0) = 1"),
        position: Some("INSTR({0}, {1})"),
        // What is cut to nothing would be NULL.
        rest: None,
        part: None,
        trim: None,
        trim_left: None,
        trim_right: None,
        replace: None,
        integer_as_text: Some("TO_CHAR({0})"),
        text_as_integer: Some("TO_NUMBER({0})"),
        real_as_integer: Some("TRUNC({0})"),
        integer_as_real: Some("CAST({0} AS BINARY_DOUBLE)"),
        round: Some(ROUND_BY_TRUNC),
        average_of_integers: Some("AVG(CAST({0} AS BINARY_DOUBLE))"),
        concatenation: None,
        ..STANDARD.templates
    },
    ..STANDARD
};
