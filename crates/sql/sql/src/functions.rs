//! SQLite's functions: one table of their properties.
//!
//! The table has exactly the functions of the bundled SQLite, with the numbers of arguments that it takes; a test
//! in `conformance` compares the two, and tries "NULL for NULL" and "the same each time" out. What is not in the
//! table is [`Function::Unknown`], of which nothing is known.

/// How a function is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// One value per row.
    Scalar,
    /// One value per group; with OVER, per row.
    Aggregate,
    /// An aggregate with one argument, a scalar function with more: `min` and `max`.
    AggregateOfOne,
    /// Only with OVER.
    Window,
}

/// The type of every value of a function that is not NULL, where its arguments have no say in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// Integers.
    Integer,
    /// Real numbers.
    Real,
    /// Texts.
    Text,
    /// That depends on the arguments, or is not known.
    Open,
}

/// What is known of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one column of the table")]
pub struct Properties {
    /// How it is used.
    pub kind: FunctionKind,
    /// The fewest arguments that it takes.
    pub least: u8,
    /// The most arguments that it takes; `None` for any number.
    pub most: Option<u8>,
    /// A scalar function that is NULL whenever one of its arguments is.
    pub null_on_null: bool,
    /// It may give another value for the same arguments.
    pub is_volatile: bool,
    /// It asks for the present time if the arguments say so.
    pub may_read_clock: bool,
    /// Its value depends on the order in which the rows come.
    pub needs_row_order: bool,
    /// Its value depends on the collation of an argument.
    pub uses_collation: bool,
    /// The type of its values.
    pub returns: Returns,
}

impl Properties {
    const fn new(kind: FunctionKind, least: u8, most: Option<u8>) -> Self {
        Self {
            kind,
            least,
            most,
            null_on_null: false,
            is_volatile: false,
            may_read_clock: false,
            needs_row_order: false,
            uses_collation: false,
            returns: Returns::Open,
        }
    }

    const fn null(mut self) -> Self {
        self.null_on_null = true;
        self
    }

    const fn volatile(mut self) -> Self {
        self.is_volatile = true;
        self
    }

    const fn clock(mut self) -> Self {
        self.may_read_clock = true;
        self
    }

    const fn order(mut self) -> Self {
        self.needs_row_order = true;
        self
    }

    const fn collation(mut self) -> Self {
        self.uses_collation = true;
        self
    }

    const fn integer(mut self) -> Self {
        self.returns = Returns::Integer;
        self
    }

    const fn real(mut self) -> Self {
        self.returns = Returns::Real;
        self
    }

    const fn text(mut self) -> Self {
        self.returns = Returns::Text;
        self
    }

    /// Whether it takes that many arguments.
    pub fn takes(&self, count: usize) -> bool {
        count >= usize::from(self.least) && self.most.is_none_or(|most| count <= usize::from(most))
    }
}

macro_rules! functions {
    ($($variant:ident $name:literal $kind:ident $least:literal $most:expr, [$($flag:ident)*];)*) => {
        /// A function of SQLite, or one that is not known.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum Function {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
            /// A column that FULL JOIN … USING merges: the first of its arguments that is not NULL, with the
            /// affinity and the collation of the first. No call is one; SQL writes it as the column's name alone.
            Merged,
            /// A function that the bundled SQLite does not have: its name, lower case.
            Unknown(Box<str>),
        }

        impl Function {
            /// All that are known.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The function of that name; letter case does not matter.
            pub fn from_name(name: &str) -> Self {
                let name = name.to_ascii_lowercase();
                match name.as_str() {
                    $($name => Self::$variant,)*
                    _ => Self::Unknown(name.into_boxed_str()),
                }
            }

            /// Its name, lower case.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Merged => Self::Coalesce.name(),
                    Self::Unknown(name) => name,
                }
            }

            /// What is known of it.
            pub fn properties(&self) -> &'static Properties {
                match self {
                    $(Self::$variant => {
                        const ROW: Properties = Properties::new(FunctionKind::$kind, $least, $most)$(.$flag())*;
                        &ROW
                    })*
                    Self::Merged => Self::Coalesce.properties(),
                    Self::Unknown(_) => &UNKNOWN,
                }
            }
        }
    };
}

const UNKNOWN: Properties =
    Properties::new(FunctionKind::Scalar, 0, None).volatile().clock().order().collation();

functions! {
    Arrow "->" Scalar 2 Some(2), [];
    LongArrow "->>" Scalar 2 Some(2), [];
    Abs "abs" Scalar 1 Some(1), [null];
    Acos "acos" Scalar 1 Some(1), [null];
    Acosh "acosh" Scalar 1 Some(1), [null];
    Asin "asin" Scalar 1 Some(1), [null];
    Asinh "asinh" Scalar 1 Some(1), [null];
    Atan "atan" Scalar 1 Some(1), [null];
    Atan2 "atan2" Scalar 2 Some(2), [null];
    Atanh "atanh" Scalar 1 Some(1), [null];
    Avg "avg" Aggregate 1 Some(1), [real];
    Bm25 "bm25" Scalar 0 None, [];
    Ceil "ceil" Scalar 1 Some(1), [null];
    Ceiling "ceiling" Scalar 1 Some(1), [null];
    Changes "changes" Scalar 0 Some(0), [volatile];
    Char "char" Scalar 0 None, [text];
    Coalesce "coalesce" Scalar 2 None, [];
    Concat "concat" Scalar 1 None, [text];
    ConcatWs "concat_ws" Scalar 2 None, [text];
    Cos "cos" Scalar 1 Some(1), [null];
    Cosh "cosh" Scalar 1 Some(1), [null];
    Count "count" Aggregate 0 Some(1), [integer];
    CumeDist "cume_dist" Window 0 Some(0), [real];
    CurrentDate "current_date" Scalar 0 Some(0), [volatile clock text];
    CurrentTime "current_time" Scalar 0 Some(0), [volatile clock text];
    CurrentTimestamp "current_timestamp" Scalar 0 Some(0), [volatile clock text];
    Date "date" Scalar 0 None, [null clock text];
    DateTime "datetime" Scalar 0 None, [null clock text];
    Degrees "degrees" Scalar 1 Some(1), [null];
    DenseRank "dense_rank" Window 0 Some(0), [integer];
    Exp "exp" Scalar 1 Some(1), [null real];
    FirstValue "first_value" Window 1 Some(1), [order];
    Floor "floor" Scalar 1 Some(1), [null];
    Format "format" Scalar 0 None, [text];
    Fts3Tokenizer "fts3_tokenizer" Scalar 1 Some(2), [volatile];
    Fts5 "fts5" Scalar 1 Some(1), [volatile];
    Fts5GetLocale "fts5_get_locale" Scalar 0 None, [];
    Fts5InstToken "fts5_insttoken" Scalar 1 Some(1), [];
    Fts5Locale "fts5_locale" Scalar 2 Some(2), [];
    Fts5SourceId "fts5_source_id" Scalar 0 Some(0), [];
    Glob "glob" Scalar 2 Some(2), [null];
    GroupConcat "group_concat" Aggregate 1 Some(2), [order text];
    Hex "hex" Scalar 1 Some(1), [text];
    Highlight "highlight" Scalar 0 None, [];
    If "if" Scalar 2 None, [];
    IfNull "ifnull" Scalar 2 Some(2), [];
    Iif "iif" Scalar 2 None, [];
    Instr "instr" Scalar 2 Some(2), [null integer];
    Json "json" Scalar 1 Some(1), [null];
    JsonArray "json_array" Scalar 0 None, [];
    JsonArrayInsert "json_array_insert" Scalar 0 None, [];
    JsonArrayLength "json_array_length" Scalar 1 Some(2), [null];
    JsonErrorPosition "json_error_position" Scalar 1 Some(1), [null];
    JsonExtract "json_extract" Scalar 0 None, [];
    JsonGroupArray "json_group_array" Aggregate 1 Some(1), [order];
    JsonGroupObject "json_group_object" Aggregate 2 Some(2), [order];
    JsonInsert "json_insert" Scalar 0 None, [];
    JsonObject "json_object" Scalar 0 None, [];
    JsonPatch "json_patch" Scalar 2 Some(2), [null];
    JsonPretty "json_pretty" Scalar 1 Some(2), [];
    JsonQuote "json_quote" Scalar 1 Some(1), [];
    JsonRemove "json_remove" Scalar 0 None, [];
    JsonReplace "json_replace" Scalar 0 None, [];
    JsonSet "json_set" Scalar 0 None, [];
    JsonType "json_type" Scalar 1 Some(2), [null];
    JsonValid "json_valid" Scalar 1 Some(2), [];
    Jsonb "jsonb" Scalar 1 Some(1), [null];
    JsonbArray "jsonb_array" Scalar 0 None, [];
    JsonbArrayInsert "jsonb_array_insert" Scalar 0 None, [];
    JsonbExtract "jsonb_extract" Scalar 0 None, [];
    JsonbGroupArray "jsonb_group_array" Aggregate 1 Some(1), [order];
    JsonbGroupObject "jsonb_group_object" Aggregate 2 Some(2), [order];
    JsonbInsert "jsonb_insert" Scalar 0 None, [];
    JsonbObject "jsonb_object" Scalar 0 None, [];
    JsonbPatch "jsonb_patch" Scalar 2 Some(2), [null];
    JsonbRemove "jsonb_remove" Scalar 0 None, [];
    JsonbReplace "jsonb_replace" Scalar 0 None, [];
    JsonbSet "jsonb_set" Scalar 0 None, [];
    JulianDay "julianday" Scalar 0 None, [null clock real];
    Lag "lag" Window 1 Some(3), [order];
    LastInsertRowid "last_insert_rowid" Scalar 0 Some(0), [volatile];
    LastValue "last_value" Window 1 Some(1), [order];
    Lead "lead" Window 1 Some(3), [order];
    Length "length" Scalar 1 Some(1), [null integer];
    Like "like" Scalar 2 Some(3), [null];
    Likelihood "likelihood" Scalar 2 Some(2), [];
    Likely "likely" Scalar 1 Some(1), [null];
    Ln "ln" Scalar 1 Some(1), [null real];
    LoadExtension "load_extension" Scalar 1 Some(2), [volatile];
    Log "log" Scalar 1 Some(2), [null];
    Log10 "log10" Scalar 1 Some(1), [null];
    Log2 "log2" Scalar 1 Some(1), [null];
    Lower "lower" Scalar 1 Some(1), [null text];
    Ltrim "ltrim" Scalar 1 Some(2), [null text];
    Match "match" Scalar 2 Some(2), [];
    MatchInfo "matchinfo" Scalar 1 Some(2), [];
    Max "max" AggregateOfOne 1 None, [collation];
    Median "median" Aggregate 1 Some(1), [];
    Min "min" AggregateOfOne 1 None, [collation];
    Mod "mod" Scalar 2 Some(2), [null];
    NthValue "nth_value" Window 2 Some(2), [order];
    Ntile "ntile" Window 1 Some(1), [order integer];
    NullIf "nullif" Scalar 2 Some(2), [collation];
    OctetLength "octet_length" Scalar 1 Some(1), [null integer];
    Offsets "offsets" Scalar 1 Some(1), [];
    Optimize "optimize" Scalar 1 Some(1), [volatile];
    PercentRank "percent_rank" Window 0 Some(0), [real];
    Percentile "percentile" Aggregate 2 Some(2), [];
    PercentileCont "percentile_cont" Aggregate 2 Some(2), [];
    PercentileDisc "percentile_disc" Aggregate 2 Some(2), [];
    Pi "pi" Scalar 0 Some(0), [];
    Pow "pow" Scalar 2 Some(2), [null real];
    Power "power" Scalar 2 Some(2), [null real];
    Printf "printf" Scalar 0 None, [text];
    Quote "quote" Scalar 1 Some(1), [text];
    Radians "radians" Scalar 1 Some(1), [null];
    Random "random" Scalar 0 Some(0), [volatile integer];
    RandomBlob "randomblob" Scalar 1 Some(1), [volatile];
    Rank "rank" Window 0 Some(0), [integer];
    Replace "replace" Scalar 3 Some(3), [text];
    Round "round" Scalar 1 Some(2), [null real];
    RowNumber "row_number" Window 0 Some(0), [order integer];
    RtreeCheck "rtreecheck" Scalar 0 None, [volatile];
    RtreeDepth "rtreedepth" Scalar 1 Some(1), [];
    RtreeNode "rtreenode" Scalar 2 Some(2), [];
    Rtrim "rtrim" Scalar 1 Some(2), [null text];
    Sign "sign" Scalar 1 Some(1), [null integer];
    Sin "sin" Scalar 1 Some(1), [null];
    Sinh "sinh" Scalar 1 Some(1), [null];
    Snippet "snippet" Scalar 0 None, [];
    Soundex "soundex" Scalar 1 Some(1), [];
    SqliteCompileOptionGet "sqlite_compileoption_get" Scalar 1 Some(1), [];
    SqliteCompileOptionUsed "sqlite_compileoption_used" Scalar 1 Some(1), [];
    SqliteLog "sqlite_log" Scalar 2 Some(2), [volatile];
    SqliteSourceId "sqlite_source_id" Scalar 0 Some(0), [];
    SqliteVersion "sqlite_version" Scalar 0 Some(0), [];
    Sqrt "sqrt" Scalar 1 Some(1), [null real];
    Strftime "strftime" Scalar 0 None, [null clock text];
    StringAgg "string_agg" Aggregate 2 Some(2), [order text];
    Substr "substr" Scalar 2 Some(3), [null];
    Substring "substring" Scalar 2 Some(3), [null];
    Subtype "subtype" Scalar 1 Some(1), [];
    Sum "sum" Aggregate 1 Some(1), [];
    Tan "tan" Scalar 1 Some(1), [null];
    Tanh "tanh" Scalar 1 Some(1), [null];
    Time "time" Scalar 0 None, [null clock text];
    TimeDiff "timediff" Scalar 2 Some(2), [null clock];
    Total "total" Aggregate 1 Some(1), [real];
    TotalChanges "total_changes" Scalar 0 Some(0), [volatile];
    Trim "trim" Scalar 1 Some(2), [null text];
    Trunc "trunc" Scalar 1 Some(1), [null];
    TypeOf "typeof" Scalar 1 Some(1), [text];
    Unhex "unhex" Scalar 1 Some(2), [null];
    Unicode "unicode" Scalar 1 Some(1), [null integer];
    Unistr "unistr" Scalar 1 Some(1), [null];
    UnistrQuote "unistr_quote" Scalar 1 Some(1), [];
    UnixEpoch "unixepoch" Scalar 0 None, [null clock];
    Unlikely "unlikely" Scalar 1 Some(1), [null];
    Upper "upper" Scalar 1 Some(1), [null text];
    ZeroBlob "zeroblob" Scalar 1 Some(1), [];
}

impl Function {
    /// Whether a call with that many arguments and without OVER aggregates the rows of its group.
    pub fn aggregates(&self, count: usize) -> bool {
        match self.properties().kind {
            FunctionKind::Aggregate => true,
            FunctionKind::AggregateOfOne => count == 1,
            FunctionKind::Scalar | FunctionKind::Window => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_function_again() {
        for function in Function::ALL {
            assert_eq!(Function::from_name(function.name()), *function);
            assert_eq!(Function::from_name(&function.name().to_ascii_uppercase()), *function);
        }
        assert_eq!(Function::from_name("Nope").name(), "nope");
    }

    #[test]
    fn minimum_and_maximum_aggregate_with_one_argument() {
        assert!(Function::Min.aggregates(1) && !Function::Min.aggregates(2));
        assert!(Function::Count.aggregates(0) && !Function::Abs.aggregates(1));
    }
}
