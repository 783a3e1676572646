//! Why a query has no text in a dialect: a closed list of constructs.

use serde::{Deserialize, Serialize};

macro_rules! constructs {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
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
            /// All of them.
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
        }
    };
}

constructs! {
    MixedColumn "mixed_column" "a column that holds both numbers and texts, or texts and blobs";
    MixedTypes "mixed_types" "results of different types where the dialect wants one type";
    MixedComparison "mixed_comparison" "a comparison of a number with a text that no rewriting makes one type";
    TextAsNumber "text_as_number" "a text where a number is computed: SQLite reads the number that it begins with";
    NumberAsText "number_as_text" "a real number made a text: every engine writes other digits";
    Cast "cast" "a CAST whose rule for odd values the dialect does not share";
    Collation "collation" "texts that are compared by another collation than BINARY, or by one that is not known";
    BareColumn "bare_column" "a column beside an aggregate that the groups do not determine";
    ConstantGroup "constant_group" "GROUP BY of constants alone";
    OuterAggregate "outer_aggregate" "an aggregate that belongs to a query around the one that it stands in";
    OrderOutsideDistinct "order_outside_distinct" "DISTINCT rows sorted by what they do not hold";
    NullsOrder "nulls_order" "a place of NULLs that the dialect cannot ask for";
    Limit "limit" "a LIMIT or OFFSET that is no constant, or stands where the dialect takes none";
    CorrelatedSubquery "correlated_subquery" "a subquery that reads the query around it, of a shape that the dialect does not take";
    QuantifiedSubquery "quantified_subquery" "IN or EXISTS where the dialect does not take one";
    RecursiveQuery "recursive_query" "a recursive common table expression of a shape that the dialect does not take";
    SetOperation "set_operation" "a set operation that the dialect does not have";
    FullJoin "full_join" "FULL JOIN where the dialect has none, or none with such a condition";
    JoinCondition "join_condition" "a join condition of a shape that the dialect does not take";
    Values "values" "VALUES as a query";
    RowValue "row_value" "a row value";
    Window "window" "a window function, or one with a frame that the dialect does not have";
    Concatenation "concatenation" "concatenation of a group whose order is not given, or that the dialect does not have";
    Division "division" "a division whose operands are integers in some rows and real numbers in others";
    Modulo "modulo" "% of what may be a real number";
    BitOperator "bit_operator" "an operator on bits";
    Round "round" "rounding to digits: the engines differ in the last one";
    Substring "substring" "substr from a place or of a length that may be zero or negative";
    CaseFolding "case_folding" "upper and lower case of ASCII letters alone";
    Date "date" "a function of date and time over what is not known to be a date in ISO form";
    Function "function" "a function that the dialect does not have with the same meaning";
    Like "like" "LIKE of a shape that the dialect cannot say";
    Pattern "pattern" "GLOB, REGEXP or MATCH";
    Json "json" "an operator or function of JSON";
    Rowid "rowid" "the rowid of a table";
    View "view" "a view, whose query is not translated";
    TableFunction "table_function" "a table-valued function, or SQLite's catalog";
    MergedColumn "merged_column" "a column that FULL JOIN … USING merges";
    EmptyText "empty_text" "an empty text, which the dialect takes for NULL";
    Padding "padding" "a text that ends in a space, which the dialect passes over";
    Nul "nul" "a text with a NUL character";
    Blob "blob" "a blob";
    InfiniteReal "infinite_real" "an infinite number";
    Identifier "identifier" "a name that the dialect cannot have";
    Tree "tree" "a query that SQL has no words for";
    TooComplex "too_complex" "a query whose analysis takes too many steps";
}

/// A query that a dialect cannot say with SQLite's meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{dialect} cannot say this with SQLite's meaning: {} ({reason})", construct.name())]
pub struct Refused {
    /// The name of the dialect.
    pub dialect: &'static str,
    /// What it cannot say.
    pub construct: Construct,
    /// Why, with the thing at fault.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
