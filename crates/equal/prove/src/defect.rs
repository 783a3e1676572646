//! Defects that the law of the encoding plants in the encoder, and must find.
//!
//! Each is looked for at the place that would have it. No proof is asked of a [`crate::world::SymbolicWorld`] with a defect.

/// How an encoder is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EncoderDefect {
    /// NULL equals NULL, and differs from all else.
    NullEqualsNull,
    /// NOT of what is not known is true.
    NotOfUnknownIsTrue,
    /// AND is false where it is not known.
    UnknownAndIsFalse,
    /// IS compares as `=` does.
    IsComparesAsEqual,
    /// `/` on integers keeps the fraction.
    DivisionKeepsFraction,
    /// Comparisons convert nothing.
    NoAffinity,
    /// All text is compared byte by byte.
    NoCollation,
    /// LIKE looks at letter case.
    LikeKeepsCase,
    /// GLOB does not look at letter case.
    GlobIgnoresCase,
    /// BETWEEN leaves its upper bound out.
    BetweenLeavesHigh,
    /// IN a list is never NULL.
    InIsNeverNull,
    /// Every text is true as a condition.
    TextIsTrue,
    /// ELSE is passed over.
    NoElse,
    /// NULL sorts to the other end.
    NullsSortOtherwise,
    /// SUM of nothing is 0.
    SumOfNothingIsZero,
    /// Every month has 31 days.
    MonthsOf31Days,
    /// The days of the week are counted from Monday.
    WeeksBeginOnMonday,
    /// `round` cuts the fraction off.
    RoundCutsOff,
    /// Patterns of texts that are read look at letter case.
    PatternsKeepCase,
    /// A text that is put together of two is never the first of them alone.
    CutsLeaveOutTheLast,
    /// `substr` from the end takes one character more.
    EndsAreLonger,
    /// An outer join fills up for a recursive CTE where no row of a round matches.
    RecursionFillsUpByRounds,
}

impl EncoderDefect {
    pub const ALL: [Self; 22] = [
        Self::NullEqualsNull,
        Self::NotOfUnknownIsTrue,
        Self::UnknownAndIsFalse,
        Self::IsComparesAsEqual,
        Self::DivisionKeepsFraction,
        Self::NoAffinity,
        Self::NoCollation,
        Self::LikeKeepsCase,
        Self::GlobIgnoresCase,
        Self::BetweenLeavesHigh,
        Self::InIsNeverNull,
        Self::TextIsTrue,
        Self::NoElse,
        Self::NullsSortOtherwise,
        Self::SumOfNothingIsZero,
        Self::MonthsOf31Days,
        Self::WeeksBeginOnMonday,
        Self::RoundCutsOff,
        Self::PatternsKeepCase,
        Self::CutsLeaveOutTheLast,
        Self::EndsAreLonger,
        Self::RecursionFillsUpByRounds,
    ];
}
