//! Why a query has no text in a dialect: a closed list of constructs.

use serde::{Deserialize, Serialize};

use crate::dialects::dialect;

macro_rules! constructs {
    ($($variant:ident $name:literal $meaning:literal $remedy:literal;)*) => {
        /// What a dialect cannot say with SQLite's meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Construct {
            $(
                #[doc = $meaning]
                $variant,
            )*
        }

        impl Construct {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in reports and files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it is, in a line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }

            /// What may be written in its place.
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$variant => $remedy,)*
                }
            }
        }
    };
}

constructs! {
    MixedColumn "mixed_column" "a column that holds both numbers and texts, or texts and blobs" "make its values one type in the data";
    MixedTypes "mixed_types" "one result with values of different types" "CAST the values to one type";
    MixedComparison "mixed_comparison" "a comparison of a number with a text" "CAST one side to the type of the other";
    TextAsNumber "text_as_number" "a text where a number is computed" "CAST the text to a number, or store numbers";
    NumberAsText "number_as_text" "a number that becomes a text" "leave the number as it is, or ROUND and CAST it to an integer first";
    Cast "cast" "a CAST of values that SQLite converts by rules of its own" "CAST only values that look like the type";
    Collation "collation" "texts that are compared by another collation than BINARY" "leave COLLATE out, or compare LOWER of both";
    BareColumn "bare_column" "a column beside an aggregate that the groups do not determine" "add the column to GROUP BY, or take MIN or MAX of it";
    ConstantGroup "constant_group" "GROUP BY of constants alone" "leave GROUP BY out";
    OuterAggregate "outer_aggregate" "an aggregate that belongs to a query around its own" "compute it in the query around, and compare with the result";
    OrderOutsideDistinct "order_outside_distinct" "DISTINCT rows that are sorted by what they do not hold" "select what they are sorted by, or leave DISTINCT out";
    NullsOrder "nulls_order" "this place of NULLs in an order" "sort by IS NULL first";
    Limit "limit" "this LIMIT or OFFSET" "write constants, in the outermost query";
    CorrelatedSubquery "correlated_subquery" "a subquery of this shape that reads the query around it" "write it as a join";
    QuantifiedSubquery "quantified_subquery" "IN or EXISTS in this place" "put it into WHERE or HAVING";
    RecursiveQuery "recursive_query" "this recursive common table expression" "use one UNION whose second part reads it once";
    SetOperation "set_operation" "this set operation" "write it with IN or EXISTS";
    FullJoin "full_join" "this FULL JOIN" "write a LEFT JOIN, and UNION ALL with the rows that have no partner";
    JoinCondition "join_condition" "this join condition" "move it to WHERE, or join on equal columns";
    Values "values" "VALUES as a query" "write SELECT … UNION ALL SELECT …";
    RowValue "row_value" "a row value" "compare its columns one by one, with AND";
    Window "window" "this window function or frame" "use a frame of ROWS with constants, or a join with the aggregate";
    Concatenation "concatenation" "this concatenation of a group" "give it ORDER BY inside, and a constant separator";
    Division "division" "a division whose operands may be integers or real numbers" "CAST one operand to REAL";
    Modulo "modulo" "% of what may be a real number" "CAST both operands to INTEGER";
    BitOperator "bit_operator" "an operator on bits" "use arithmetic";
    Round "round" "rounding to digits after the point" "leave it out, or round to an integer";
    Substring "substring" "this substr" "start at a constant of 1 or more, with a length that is not negative";
    CaseFolding "case_folding" "upper and lower case of ASCII letters alone" "leave it out if all values are in one case";
    Date "date" "this function of date and time" "store dates as YYYY-MM-DD, and cut out parts with substr";
    Function "function" "this function with SQLite's rules" "write it with other functions";
    Like "like" "this LIKE" "use a constant pattern of ASCII letters, without ESCAPE";
    Pattern "pattern" "GLOB, REGEXP or MATCH" "use LIKE";
    Json "json" "an operator or function of JSON" "store the values in columns";
    Rowid "rowid" "the rowid of a table" "use the primary key";
    View "view" "a view" "write its query in its place";
    TableFunction "table_function" "a table-valued function, or SQLite's catalog" "use a table";
    MergedColumn "merged_column" "a column that FULL JOIN … USING merges" "write ON, and COALESCE of both columns";
    EmptyText "empty_text" "an empty text, which it takes for NULL" "use NULL, or another text";
    Padding "padding" "a text that ends in a space, which it passes over" "trim the values";
    Nul "nul" "a text with a NUL character" "take the character out";
    Blob "blob" "a blob" "store texts or numbers";
    InfiniteReal "infinite_real" "an infinite number" "use a finite one";
    Identifier "identifier" "this name" "rename it: shorter, without odd characters";
    Tree "tree" "a query that SQL has no words for" "write the query another way";
    TooComplex "too_complex" "a query whose analysis takes too many steps" "split it into smaller queries";
}

/// A query that a dialect cannot say with SQLite's meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} has nothing with SQLite's meaning for {}: {reason}; {}",
    title(dialect),
    construct.meaning(),
    construct.remedy()
)]
pub struct Refused {
    pub dialect: &'static str,
    /// What it cannot say.
    pub construct: Construct,
    /// Why, with the thing at fault.
    pub reason: String,
}

/// How people call it.
fn title(name: &'static str) -> &'static str {
    dialect(name).map_or(name, |dialect| dialect.title)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_refusal_is_a_sentence_with_what_where_and_what_to_do() {
        let refused = Refused {
            dialect: "postgres",
            construct: Construct::BareColumn,
            reason: "the column t.x".to_owned(),
        };
        assert_eq!(
            refused.to_string(),
            "PostgreSQL has nothing with SQLite's meaning for a column beside an aggregate that the groups do not determine: the column t.x; add the column to GROUP BY, or take MIN or MAX of it"
        );
    }

    #[test]
    fn every_construct_has_a_name_of_its_own_which_is_that_of_files() {
        let names: HashSet<&str> = Construct::ALL.iter().map(|construct| construct.name()).collect();
        assert_eq!(names.len(), Construct::ALL.len());
        for construct in Construct::ALL {
            let written = serde_json::to_value(construct).unwrap();
            assert_eq!(written.as_str(), Some(construct.name()));
        }
    }
}
