//! MySQL, from version 8.0.31 on.
//!
//! The tables have the collation `utf8mb4_0900_bin`, by which texts are equal and ordered by their bytes, spaces at the end
//! included; the connection has it too (`SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin`), for texts that come from no column.
//! `||` is OR there, `/` divides decimal numbers, and there is no FULL JOIN.

use crate::dialect::{
    CheckLevel, Conditions, Dialect, FullJoins, LIKE_BY_LOWER, Likes, LimitSyntax, Nulls, STANDARD,
    Templates, TypeNames,
};

pub(crate) static MYSQL: Dialect = Dialect {
    name: "mysql",
    title: "MySQL",
    checked: CheckLevel::Rows,
    quotes: ('`', '`'),
    longest_name: 64,
    backslash_in_texts: true,
    blob: Some("x'{0}'"),
    types: TypeNames { integer: "SIGNED", real: "DOUBLE", text: "CHAR", blob: "BINARY" },
    column_types: TypeNames { integer: "BIGINT", real: "DOUBLE", text: "LONGTEXT", blob: "LONGBLOB" },
    behind_columns: " CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
    conditions: Conditions::Numbers,
    nulls: Nulls::Smallest,
    has_nulls_order: false,
    limits: LimitSyntax::Limit { before_offset: " LIMIT 9223372036854775807" },
    limit_inside_in: false,
    full_joins: FullJoins::No,
    has_rows: true,
    has_narrow_integers: false,
    likes: Likes {
        insensitive: Some(LIKE_BY_LOWER),
        only_ascii_patterns: true,
        insensitive_of_ascii: Some("LOWER({0}) LIKE {1}"),
        ..STANDARD.likes
    },
    templates: Templates {
        divide_integers: Some("{0} DIV {1}"),
        concat: Some("CONCAT({0}, {1})"),
        same: Some("{0} <=> {1}"),
        length: Some("CHAR_LENGTH({0})"),
        position: Some("INSTR({0}, {1})"),
        integer_as_text: Some("CAST({0} AS CHAR)"),
        text_as_integer: Some("CAST({0} AS SIGNED)"),
        prefix_as_real: Some("{0} + 0e0"),
        prefix_as_integer: Some("CAST({0} AS SIGNED)"),
        real_as_integer: Some("CAST(TRUNCATE({0}, 0) AS SIGNED)"),
        round: Some("TRUNCATE({0} + CASE WHEN {0} < 0 THEN -0.5 ELSE 0.5 END, 0)"),
        integer_as_real: Some("CAST({0} AS DOUBLE)"),
        integer_of_sum: Some("CAST({0} AS SIGNED)"),
        average_of_integers: Some("AVG(CAST({0} AS DOUBLE))"),
        concatenation: None,
        ..STANDARD.templates
    },
    ..STANDARD
};
