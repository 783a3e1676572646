//! What the law plants: defects of the encoder itself, and queries that are misread before it.

use sqlgauge_prove::EncoderDefect;

use super::construct::Construct;
use super::misreading::{MISREADINGS, Misreading};

/// What is wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    Encoder(EncoderDefect),
    Query(Misreading),
}

/// The registry: the constructs by whose queries the law finds each defect of the encoder.
pub const DEFECTS: &[(EncoderDefect, &[Construct])] = {
    use Construct as C;
    use EncoderDefect as D;
    &[
        (D::NullEqualsNull, &[C::NullLogic, C::Join, C::Case]),
        (D::NotOfUnknownIsTrue, &[C::NullLogic, C::Between, C::InList]),
        (D::UnknownAndIsFalse, &[C::NullLogic]),
        (D::IsComparesAsEqual, &[C::NullLogic]),
        (D::DivisionKeepsFraction, &[C::Arithmetic]),
        (D::NoAffinity, &[C::Affinity, C::Between, C::InList]),
        (D::NoCollation, &[C::Collation]),
        (D::LikeKeepsCase, &[C::Like]),
        (D::GlobIgnoresCase, &[C::Like]),
        (D::BetweenLeavesHigh, &[C::Between]),
        (D::InIsNeverNull, &[C::InList]),
        (D::TextIsTrue, &[C::Truth]),
        (D::NoElse, &[C::Case]),
        (D::NullsSortOtherwise, &[C::Limit]),
        (D::SumOfNothingIsZero, &[C::Aggregate]),
        (D::MonthsOf31Days, &[C::Times]),
        (D::WeeksBeginOnMonday, &[C::Times]),
        (D::RoundCutsOff, &[C::Arithmetic]),
        (D::PatternsKeepCase, &[C::Texts]),
        (D::CutsLeaveOutTheLast, &[C::Texts]),
        (D::EndsAreLonger, &[C::Texts]),
        (D::RecursionFillsUpByRounds, &[C::Recursion]),
    ]
};

/// Everything that is planted, with the construct whose queries must find it.
pub fn planted() -> Vec<(Construct, Planted)> {
    let in_encoder = DEFECTS.iter().flat_map(|(defect, constructs)| {
        constructs.iter().map(move |construct| (*construct, Planted::Encoder(*defect)))
    });
    let in_query = MISREADINGS.iter().flat_map(|(construct, misreadings)| {
        misreadings.iter().map(move |misreading| (*construct, Planted::Query(*misreading)))
    });
    in_encoder.chain(in_query).collect()
}
