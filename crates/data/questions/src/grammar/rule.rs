//! The abstract syntax: what is said, apart from how.

/// Declares an enum of plain variants with all of them in a list.
macro_rules! plain_enum {
    ($(#[$meta:meta])* $name:ident { $($variant:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum $name { $($variant),* }

        impl $name {
            /// How many there are.
            pub(crate) const COUNT: usize = [$(Self::$variant),*].len();
        }
    };
}

plain_enum! {
    /// Where a phrase may stand.
    Category {
        // Leaves: of the schema, of the values, and in double quotes.
        Name, Noun, Value, Quoted, Verb,
        // Sentences.
        Question, Aside, Sentence, Opening, Turn,
        // Queries.
        Query, Nested, Part, Core, Outputs, Distinct, SetPart,
        // Sources.
        Source, Member, Relation, Modifier, Link, InnerLink, Reference, Ordinal,
        // Clauses.
        Filter, Relative, Trait, Group, Having, Tail, OrderTerm, Most, Degree, Amount,
        // Conditions.
        Condition, Conjunct, Disjunct, Unit, Simple,
        // Values.
        Operand, Atom, Argument, Basic, Column, Branch, Choice, Call, Within, Definition,
    }
}

impl Category {
    /// What no production makes.
    pub(crate) const LEAVES: [Self; 5] = [Self::Name, Self::Noun, Self::Value, Self::Quoted, Self::Verb];
}

plain_enum! {
    /// What is said.
    Rule {
        // Sentences.
        Ask, AskGroups, AskEach, AskEachFor, AskEachOfTheir, WithAside, WithDefinitions, Dialogue,
        TurnFilter, TurnGroup, TurnHaving, TurnTail,
        Opening, OpeningOne, OpeningPlain, Aside, Definition, OnlyDefinition, HowMany, HowManyDifferent, HowManyMore, HowManyMoreOf, PercentOf, PercentIs, EachPercent,
        // Queries.
        Select, SelectFor, SelectValues, Distinct, Outputs, Everything, Compound, CompoundSorted, Bare, Bracketed, Those,
        SelectTop, SelectTopFew, SelectTopAmong, SelectTopFewAmong, ByKeys, ByTheirKeys, EachOfIts, EachFor, EachRow, KeysAmount, KeysDegree, KeysDegreeFew, KeysTop, KeysTopFor, KeysAmountFor,
        EachOfTheir, RowsAmount, RowsDegree, RowsDegreeFew, RowsTop, EachWith, EachWithOf,
        Union, UnionAll, Intersect, Except,
        // Sources.
        Alone, Linked, OfOuter, Which, Table, ModifiedTable, Modifier, List, DefinedList, TheseRecords,
        Their, TheirBy, WithSome, OfThose, InThose, ByThose, Did, DoneBy, Of, OfBy, JoinedOn, Every, IfAny, RightJoined, FullJoined,
        TheOne, TheNth, ThatOne, ThatNth, TheList, TheNthList, ThatList, ThatNthList, Outer,
        First, Second, Third, Fourth, Fifth, Sixth, Seventh, Eighth, Ninth, Tenth,
        // Clauses.
        Where, Whose, WhoseAll, WhoseAny, ForEach, ForEachOf, ForTop, KeepGroups, KeepWhose, KeepAmount, KeepSuch,
        Sorted, InOrder, SortedFirst, SortedFrom, FirstRows, RowsFrom, TopOne, TopFew,
        Highest, Lowest, Latest, Earliest, AlphabeticallyLast, AlphabeticallyFirst, MostRows, FewestRows, MostSuch, FewestSuch,
        TheMost, TheFewest, MoreThan, AtLeast, FewerThan, AtMost, Exactly,
        Ascending, Descending, AscendingText, DescendingText, AscendingTime, DescendingTime, AscendingMissingLast, DescendingMissingFirst, AscendingMissingFirst, DescendingMissingLast,
        // Conditions.
        And, Or, Either, Both, InBrackets, Not,
        Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Is, IsNot,
        Before, NotAfter, After, NotBefore, AboveAverage, BelowAverage, HighestOfAll, LowestOfAll,
        HaveEqual, HaveOther, HaveMore, HaveAtLeast, HaveLess, HaveAtMost, HaveBetween, HaveAfter, HaveBefore, HaveUntil, HaveFrom, HaveContaining, HaveStarting,
        Between, NotBetween,
        Contains, NotContains, StartsWith, NotStartsWith, EndsWith, NotEndsWith,
        Like, NotLike, LikeEscape, NotLikeEscape, Glob, NotGlob, Regexp, NotRegexp, Matches, NotMatches,
        OneOf, NoneOf, EitherOf, NeitherOf, Among, NotAmong, Missing, NotMissing,
        Relatives, HaveSome, HaveNone, ShareWith, ShareWithNone, AppearIn, NotAppearIn, BelongTo, NotBelongTo,
        Belongs, NotBelongs, Appears, NotAppears, There, ThereNone, ThereRow, ThereNoRow, Holds,
        // Values.
        Column, ColumnOf, Field, FieldOf, TheCount, TheCounts, Computed, RowId, RowIdOf, OutputAt,
        Plus, Minus, Times, Over, Remainder, Followed, BitAnd, BitOr, ShiftLeft, ShiftRight, Arrow, LongArrow,
        Literal, InParentheses, Whether, Subquery, SubqueryOfAll, Negative, Positive, BitNot, Tuple,
        Case, CaseElse, CaseOf, CaseOfElse, ChoiceOf, Branch,
        CastTo, AsDecimal, AsWhole, CollatedBy, SeparatedBy,
        // Aggregates.
        CountRows, NumberOf, Number, CountKnown, CountDistinct, Average, AverageDistinct, Total, TotalDistinct,
        Maximum, MaximumDistinct, Minimum, MinimumDistinct, Joined, JoinedDistinct,
        LatestOf, EarliestOf, CountIf, Aggregate, AggregateDistinct, OnlyThose,
        // Functions.
        Length, Uppercase, Lowercase, Absolute, Rounded, RoundedTo, Trimmed, Year, Month, DayOfMonth,
        CallNone, Call, CallStar,
        // Windows.
        Over1, OverAll, WithinAll, WithinEach, WithinSorted, WithinEachSorted, RowNumber, Rank, DenseRank,
    }
}
