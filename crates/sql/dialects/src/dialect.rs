//! What a dialect is: a table of facts.
//!
//! # Contract
//! A [`Dialect`] is data: how names and texts are quoted, what types are called, which clauses there are, and a template for
//! each operation that not all engines spell alike. In a template `{0}`, `{1}`, … are the operands. A template that is
//! missing is an operation that the dialect cannot say with SQLite's meaning. What has the same spelling and meaning
//! everywhere stands in the printer and not here.

use crate::types::Type;

/// How far the texts of a dialect have been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLevel {
    /// By an engine of the dialect, whose rows were compared with SQLite's.
    Rows,
    /// By a parser of the dialect; no engine has run them.
    ParsedOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conditions {
    /// The numbers 0 and 1, as in SQLite.
    Numbers,
    /// Something else; the template makes the number of one.
    Apart(&'static str),
}

/// Where NULLs stand in an ascending order that says nothing of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Before all values, and behind them in a descending order, as in SQLite.
    Smallest,
    /// Behind all values, and before them in a descending order.
    Largest,
    /// Behind all values, whatever the direction.
    Last,
}

/// How a part of the rows is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitSyntax {
    /// `LIMIT n OFFSET m`; the text is what stands before OFFSET where there is no LIMIT.
    Limit {
        /// `OFFSET m` without LIMIT: what stands before it.
        before_offset: &'static str,
    },
    /// `LIMIT m, n`.
    Comma,
    /// `OFFSET m ROWS FETCH NEXT n ROWS ONLY`.
    Fetch,
    /// `SELECT TOP (n)`, and FETCH where there is an OFFSET, which needs an ORDER BY.
    Top,
}

/// Which FULL JOINs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullJoins {
    Any,
    /// Those on equalities of columns.
    OnEquality,
    /// None.
    No,
}

/// Which subqueries may read the query around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correlation {
    Any,
    /// Those without LIMIT.
    WithoutLimit,
    /// EXISTS and IN, and those of one row that aggregate.
    Aggregates,
    /// EXISTS and IN alone.
    Quantified,
    /// None.
    No,
}

/// The names of the types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeNames {
    /// Integers of 64 bits.
    pub integer: &'static str,
    /// Real numbers of 64 bits.
    pub real: &'static str,
    /// Texts of any length, compared byte by byte.
    pub text: &'static str,
    /// Blobs.
    pub blob: &'static str,
}

impl TypeNames {
    /// The name of a type; none of [`Type::Null`], [`Type::Date`] and [`Type::Mixed`].
    pub fn of(&self, value_type: Type) -> Option<&'static str> {
        match value_type {
            Type::Integer => Some(self.integer),
            Type::Real | Type::Number => Some(self.real),
            Type::Text => Some(self.text),
            Type::Blob => Some(self.blob),
            Type::Null | Type::Date | Type::Mixed => None,
        }
    }
}

/// How LIKE is said, which in SQLite ignores the case of ASCII letters and has no escape character of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likes {
    /// The text and the pattern, case ignored for ASCII letters alone.
    pub insensitive: Option<&'static str>,
    /// The same where the text is known to be ASCII.
    pub insensitive_of_ascii: Option<&'static str>,
    /// The first of these is exact for patterns of ASCII letters alone.
    pub only_ascii_patterns: bool,
    /// The text and the pattern, case minded.
    pub sensitive: &'static str,
    /// A backslash in a pattern escapes unless ESCAPE says otherwise.
    pub backslash_escapes: bool,
    /// ESCAPE with a character may be written.
    pub has_escape: bool,
    /// What switches escapes off, for patterns that are not known.
    pub no_escape: Option<&'static str>,
    /// Characters besides `%` and `_` that mean something.
    pub also_special: &'static str,
}

/// A template, where the dialect can say the operation.
pub(crate) type Template = Option<&'static str>;

/// The operations that have a template.
#[derive(Debug, Clone, Copy)]
pub struct Templates {
    /// Integers, the quotient cut towards zero; `{1}` is not 0.
    pub divide_integers: Template,
    /// Real numbers; `{1}` is not 0.
    pub divide_reals: Template,
    /// Integers, the remainder with the sign of `{0}`; `{1}` is not 0.
    pub modulo: Template,
    /// Texts; NULL if one is NULL.
    pub concat: Template,
    /// Whether both are one value, or both NULL.
    pub same: Template,
    /// Upper case of ASCII letters alone.
    pub upper: Template,
    /// Lower case of ASCII letters alone.
    pub lower: Template,
    /// Upper case where the text is ASCII.
    pub upper_of_ascii: Template,
    /// Lower case where the text is ASCII.
    pub lower_of_ascii: Template,
    /// Characters of a text.
    pub length: Template,
    /// The place of the text `{1}` in `{0}`, from 1; 0 if it is not there.
    pub position: Template,
    /// What makes an integer the number of a character.
    pub place: &'static str,
    /// The text from the character `{1}` on, which is at least 1.
    pub rest: Template,
    /// `{2}` characters of the text from the character `{1}` on, which is at least 1.
    pub part: Template,
    /// Without spaces on both sides.
    pub trim: Template,
    /// Without spaces on the left.
    pub trim_left: Template,
    /// Without spaces on the right.
    pub trim_right: Template,
    /// The text with `{2}` in the place of each `{1}`, which is not empty.
    pub replace: Template,
    pub integer_as_text: Template,
    /// A text that is an integer, as an integer.
    pub text_as_integer: Template,
    /// The number that a text begins with, spaces aside, as a real number; 0 if there is none. `{0}` may be NULL.
    pub prefix_as_real: Template,
    /// The same of integers.
    pub prefix_as_integer: Template,
    /// A real number without what stands behind its point, as an integer.
    pub real_as_integer: Template,
    pub integer_as_real: Template,
    /// A real number rounded to an integer, halves away from zero, as a real number.
    pub round: Template,
    /// The least of several, none of them NULL.
    pub least: &'static str,
    /// The greatest of several, none of them NULL.
    pub greatest: &'static str,
    /// A text by which texts are ordered byte by byte.
    pub text_order: &'static str,
    /// What makes the sum `{0}` of integers an integer of 64 bits.
    pub integer_of_sum: Template,
    /// What real numbers are made before they are summed where the last digits of a sum may decide something: SQLite sums
    /// without rounding errors to speak of, and the other engines with them.
    pub exact_summand: &'static str,
    /// What the sum `{0}` or mean of such is made.
    pub real_of_exact: &'static str,
    /// The name of the aggregate that sums exactly.
    pub exact_sum: &'static str,
    /// The name of the aggregate that averages exactly.
    pub exact_average: &'static str,
    /// The mean of integers, as a real number.
    pub average_of_integers: Template,
    /// The texts `{0}` of a group with `{1}` between, in the order `{2}`.
    pub concatenation: Template,
    /// The value of `{0}`, be it NULL, in the row of a group that is the first in the order `{1}`; NULL where there is none.
    pub of_first_row: Template,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the table")]
pub struct Dialect {
    /// Its name in options and files.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How far its texts have been checked.
    pub checked: CheckLevel,
    /// What stands before and behind a name. The second one is doubled in it.
    pub quotes: (char, char),
    /// The most bytes of a name.
    pub longest_name: usize,
    /// Characters that a name cannot have.
    pub not_in_names: &'static str,
    pub backslash_in_texts: bool,
    /// A blob by its hexadecimal digits `{0}`.
    pub blob: Template,
    /// An empty text is NULL.
    pub empty_is_null: bool,
    /// Texts that differ in spaces at their end alone are equal.
    pub pads_texts: bool,
    /// The types in a CAST.
    pub types: TypeNames,
    /// The types in CREATE TABLE.
    pub column_types: TypeNames,
    /// What stands behind the columns in CREATE TABLE.
    pub behind_columns: &'static str,
    pub conditions: Conditions,
    /// Where NULLs stand by themselves.
    pub nulls: Nulls,
    /// NULLS FIRST and NULLS LAST can be written.
    pub has_nulls_order: bool,
    /// LIMIT and OFFSET.
    pub limits: LimitSyntax,
    /// IN takes a subquery with LIMIT.
    pub limit_inside_in: bool,
    /// What makes UNION drop duplicates: nothing, or DISTINCT.
    pub union: &'static str,
    /// INTERSECT.
    pub intersect: Template,
    /// EXCEPT.
    pub except: Template,
    /// A part of a compound may stand in parentheses.
    pub compound_in_parentheses: bool,
    /// WITH of recursive queries; none without them.
    pub with_recursive: Template,
    /// FROM of a SELECT that reads no table.
    pub from_nothing: &'static str,
    /// What stands between a relation and its alias.
    pub alias: &'static str,
    /// FULL JOIN.
    pub full_joins: FullJoins,
    /// Outer joins take any condition, and not equalities alone.
    pub any_join_condition: bool,
    /// FILTER behind an aggregate.
    pub has_filter: bool,
    /// GROUPS in a frame.
    pub has_groups: bool,
    /// EXCLUDE in a frame.
    pub has_exclude: bool,
    /// RANGE with an offset in a frame.
    pub has_range_offset: bool,
    /// IN with a subquery, and EXISTS, may stand anywhere and not only in WHERE and HAVING.
    pub quantified_anywhere: bool,
    /// Row values.
    pub has_rows: bool,
    /// Subqueries as values may stand anywhere and not only in WHERE and HAVING.
    pub scalar_anywhere: bool,
    /// A subquery in an aggregate's argument or in GROUP BY may stand there.
    pub subquery_in_group: bool,
    /// Correlated subqueries.
    pub correlation: Correlation,
    /// Integer constants are of fewer bits than columns, and so is what is computed from them alone.
    pub has_narrow_integers: bool,
    /// A real constant without exponent is a decimal number, whose arithmetic differs from that of real numbers.
    pub has_decimal_constants: bool,
    /// LIKE.
    pub likes: Likes,
    /// The operations.
    pub templates: Templates,
}

impl Dialect {
    /// The name in quotes; `None` if the dialect cannot have it.
    pub fn identifier(&self, name: &str) -> Option<String> {
        let (open, close) = self.quotes;
        let is_bad = |c: char| c == '\0' || self.not_in_names.contains(c);
        if name.is_empty() || name.len() > self.longest_name || name.chars().any(is_bad) {
            return None;
        }
        let mut doubled = String::from(close);
        doubled.push(close);
        Some(format!("{open}{}{close}", name.replace(close, &doubled)))
    }

    /// The text in quotes.
    pub fn text(&self, text: &str) -> String {
        let doubled = if self.backslash_in_texts { text.replace('\\', "\\\\") } else { text.to_owned() };
        // A backslash before a quote is understood where backslashes escape, and doubled quotes are not everywhere there.
        let quote = if self.backslash_in_texts { "\\'" } else { "''" };
        format!("'{}'", doubled.replace('\'', quote))
    }
}

/// LIKE by LOWER that knows all letters; the pattern is ASCII in lower case. The printer sets those letters of the text apart
/// that LOWER makes ASCII ones.
pub(crate) const LIKE_BY_LOWER: &str = "LOWER({0}) LIKE {1}";

/// A real number rounded to an integer as SQLite does it: half of one away from zero, then cut off.
pub(crate) const ROUND_BY_TRUNC: &str = "TRUNC({0} + CASE WHEN {0} < 0 THEN -0.5 ELSE 0.5 END)";

/// What most dialects share: standard SQL as PostgreSQL has it.
pub(crate) const STANDARD: Dialect = Dialect {
    name: "",
    title: "",
    checked: CheckLevel::ParsedOnly,
    quotes: ('"', '"'),
    longest_name: 63,
    not_in_names: "",
    backslash_in_texts: false,
    blob: None,
    empty_is_null: false,
    pads_texts: false,
    types: TypeNames { integer: "BIGINT", real: "DOUBLE PRECISION", text: "TEXT", blob: "BYTEA" },
    column_types: TypeNames { integer: "BIGINT", real: "DOUBLE PRECISION", text: "TEXT", blob: "BYTEA" },
    behind_columns: "",
    conditions: Conditions::Apart("CASE WHEN {0} THEN 1 WHEN NOT ({0}) THEN 0 END"),
    nulls: Nulls::Largest,
    has_nulls_order: true,
    limits: LimitSyntax::Limit { before_offset: "" },
    limit_inside_in: true,
    union: "UNION",
    intersect: Some("INTERSECT"),
    except: Some("EXCEPT"),
    compound_in_parentheses: true,
    with_recursive: Some("WITH RECURSIVE "),
    from_nothing: "",
    alias: " AS ",
    full_joins: FullJoins::Any,
    any_join_condition: true,
    has_filter: false,
    has_groups: false,
    has_exclude: false,
    has_range_offset: false,
    quantified_anywhere: true,
    has_rows: false,
    scalar_anywhere: true,
    subquery_in_group: true,
    correlation: Correlation::Any,
    has_narrow_integers: true,
    has_decimal_constants: true,
    likes: Likes {
        insensitive: None,
        insensitive_of_ascii: None,
        only_ascii_patterns: false,
        sensitive: "{0} LIKE {1}",
        backslash_escapes: true,
        has_escape: true,
        no_escape: None,
        also_special: "",
    },
    templates: Templates {
        divide_integers: Some("{0} / {1}"),
        divide_reals: Some("{0} / {1}"),
        modulo: Some("{0} % {1}"),
        concat: Some("{0} || {1}"),
        same: Some("{0} IS NOT DISTINCT FROM {1}"),
        upper: None,
        lower: None,
        upper_of_ascii: Some("UPPER({0})"),
        lower_of_ascii: Some("LOWER({0})"),
        length: Some("LENGTH({0})"),
        position: None,
        place: "{0}",
        rest: Some("SUBSTR({0}, {1})"),
        part: Some("SUBSTR({0}, {1}, {2})"),
        trim: Some("TRIM({0})"),
        trim_left: Some("LTRIM({0})"),
        trim_right: Some("RTRIM({0})"),
        replace: Some("REPLACE({0}, {1}, {2})"),
        integer_as_text: None,
        text_as_integer: None,
        prefix_as_real: None,
        prefix_as_integer: None,
        real_as_integer: None,
        integer_as_real: None,
        round: None,
        least: "LEAST",
        greatest: "GREATEST",
        text_order: "{0}",
        integer_of_sum: Some("{0}"),
        exact_summand: "{0}",
        real_of_exact: "{0}",
        exact_sum: "SUM",
        exact_average: "AVG",
        average_of_integers: None,
        concatenation: None,
        of_first_row: None,
    },
};
