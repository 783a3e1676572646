//! Breaks quotas down to the wish for a single query.
//!
//! # Contract
//! The wishes of a corpus follow from its options and the place of the query alone, never from what was made before it, so
//! that any number of threads or processes agrees on them. Tiers are dealt so that every run of 100 has the shares asked for.

use sqlgauge_base::Random;

use crate::grammar::weighted;
use crate::operators::OperatorId;
use crate::tier::Tier;

/// The deepest nesting that is asked for.
pub(crate) const DEEPEST: usize = 8;

/// The wish for one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Its tier; this is never given up.
    pub tier: Tier,
    /// Its levels of queries, 1 without subqueries.
    pub depth: usize,
    /// An operator that it has, drawn by [`Operator::weight`](crate::operators::Operator::weight).
    pub operator: OperatorId,
    /// What it uses.
    pub demand: Option<Demand>,
}

/// A part of the schema that a query is to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Demand {
    /// A column, by the table's position among those that queries read and its own.
    Column(usize, u32),
    /// A link, by its position.
    Link(usize),
}

/// Shares of the tiers, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierShares([u8; 4]);

/// Text that does not split a corpus into tiers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} does not split a corpus into the four tiers: write four whole percentages that add up to 100, for example 30,35,25,10"
)]
pub struct NoShares(String);

impl Default for TierShares {
    /// Those of `FusionDataset` (Table II).
    fn default() -> Self {
        Self([30, 35, 25, 10])
    }
}

impl std::str::FromStr for TierShares {
    type Err = NoShares;

    fn from_str(text: &str) -> Result<Self, NoShares> {
        let refused = || NoShares(text.to_owned());
        let parts: Result<Vec<u8>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let shares: [u8; 4] = parts.map_err(|_| refused())?.try_into().map_err(|_| refused())?;
        let sum: u32 = shares.iter().map(|&share| u32::from(share)).sum();
        if sum == 100 { Ok(Self(shares)) } else { Err(refused()) }
    }
}

impl TierShares {
    /// The shares in percent, the easiest tier first.
    pub fn percent(self) -> [u8; 4] {
        self.0
    }

    /// The tier of the query at that place. The places of a hundred are dealt in a fixed mixed order.
    fn at(self, place: u64) -> Tier {
        // 37 has no factor in common with 100, so that its multiples meet every remainder once.
        let dealt = u8::try_from(place.wrapping_mul(37) % 100).unwrap_or(0);
        let mut least = 0;
        for tier in Tier::ALL {
            least += self.0[tier.index()];
            if dealt < least {
                return tier;
            }
        }
        Tier::HighlyComplex
    }
}

/// Percentages of the depths 1 to 8 within each tier.
const DEPTHS: [[u8; DEEPEST]; 4] = [
    [98, 2, 0, 0, 0, 0, 0, 0],
    [86, 13, 1, 0, 0, 0, 0, 0],
    [72, 26, 1, 1, 0, 0, 0, 0],
    [6, 58, 18, 4, 4, 4, 3, 3],
];

impl Wish {
    /// The wish for the query at that place among all of the corpus.
    pub fn at(place: u64, shares: TierShares, random: &mut Random) -> Self {
        Self::of_tier(shares.at(place), random)
    }

    /// A wish for a query of that tier.
    pub(crate) fn of_tier(tier: Tier, random: &mut Random) -> Self {
        Self::with_operators(tier, false, random)
    }

    /// A wish for a query of that tier and of what people ask for often, in place of another that was not met: else what is rare
    /// would come wherever nothing else passes.
    pub fn common(tier: Tier, random: &mut Random) -> Self {
        Self::with_operators(tier, true, random)
    }

    /// One with any operator, or with a common one.
    fn with_operators(tier: Tier, common: bool, random: &mut Random) -> Self {
        let mut dealt = random.below(100);
        let mut depth = 1;
        for (levels, &share) in (1..).zip(&DEPTHS[tier.index()]) {
            if dealt < usize::from(share) {
                depth = levels;
                break;
            }
            dealt -= usize::from(share);
        }
        let fitting: Vec<OperatorId> = OperatorId::all()
            .filter(|id| id.get().least <= tier && (tier != Tier::Simple || !id.get().nests))
            .filter(|id| !(common && id.is_rare()))
            .collect();
        let weights: Vec<f64> = fitting.iter().map(|id| f64::from(id.get().weight)).collect();
        let operator = weighted(&weights, random).map_or(OperatorId(0), |at| fitting[at]);
        if operator.get().nests {
            depth = depth.max(2);
        }
        Self { tier, depth, operator, demand: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_four_percentages() {
        assert_eq!("30, 35,25,10".parse(), Ok(TierShares::default()));
        for text in ["30,35,25", "30,35,25,11", "a,b,c,d", "", "100,0,0,0,0", "300,-100,-50,-50"] {
            assert!(text.parse::<TierShares>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_hundred_has_its_shares() {
        let shares = TierShares::default();
        for start in [0, 100, 7300] {
            let mut counts = [0; 4];
            (start..start + 100).for_each(|place| counts[shares.at(place).index()] += 1);
            assert_eq!(counts, [30, 35, 25, 10]);
        }
        // Any run of a database is near them too.
        let simple = (0..20).filter(|&place| shares.at(place) == Tier::Simple).count();
        assert!((5..=7).contains(&simple), "{simple}");
    }

    #[test]
    fn depths_are_percentages() {
        for depths in DEPTHS {
            assert_eq!(depths.iter().map(|&share| u32::from(share)).sum::<u32>(), 100);
        }
    }
}
