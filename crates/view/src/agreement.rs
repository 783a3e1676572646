//! How much two people agree beyond chance: Cohen's kappa of yes and no.
//!
//! kappa = (p₀ − pₑ) / (1 − pₑ): p₀ is the share of items on which they agree, pₑ the share on which two people who say yes as often
//! as these two would agree by chance. The interval is that of the large-sample standard error √(p₀ (1 − p₀) / n) / (1 − pₑ)
//! (Cohen 1960, equation 9), cut at −1 and 1.

use serde::Serialize;

/// Half of a 95 % interval, in standard errors.
const SURE: f64 = 1.959_964;

/// What two people say of the same items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Agreement {
    /// Items on which both are sure.
    both: usize,
    /// Of those, the ones on which they agree.
    agree: usize,
    /// `None` where both always say one and the same, so that chance explains all.
    kappa: Option<f64>,
    /// The ends of its 95 % interval.
    interval: Option<(f64, f64)>,
}

/// The agreement of two people on items that both said yes or no of.
pub(crate) fn agreement(items: impl Iterator<Item = (bool, bool)>) -> Agreement {
    // By what the first says, then the second.
    let mut table = [[0_u32; 2]; 2];
    for (a, b) in items {
        table[usize::from(a)][usize::from(b)] += 1;
    }
    let all = table.iter().flatten().sum::<u32>();
    let agree = table[0][0] + table[1][1];
    let n = f64::from(all);
    let yes = [f64::from(table[1][0] + table[1][1]) / n, f64::from(table[0][1] + table[1][1]) / n];
    let by_chance = yes[0] * yes[1] + (1.0 - yes[0]) * (1.0 - yes[1]);
    let observed = f64::from(agree) / n;
    let room = 1.0 - by_chance;
    let kappa = (all > 0 && room > 0.0).then(|| (observed - by_chance) / room);
    let half = SURE * (observed * (1.0 - observed) / n).sqrt() / room;
    Agreement {
        both: all as usize,
        agree: agree as usize,
        kappa,
        interval: kappa.map(|kappa| ((kappa - half).max(-1.0), (kappa + half).min(1.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: [[usize; 2]; 2]) -> Agreement {
        let cell = |(a, b): (usize, usize)| std::iter::repeat_n((a == 1, b == 1), table[a][b]);
        agreement([(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().flat_map(cell))
    }

    #[test]
    fn kappa_is_what_chance_does_not_explain() {
        // 20 + 15 of 50 agree: 0.7 where chance gives 0.5.
        let agreement = of([[15, 10], [5, 20]]);
        assert_eq!((agreement.both, agreement.agree), (50, 35));
        assert!((agreement.kappa.expect("both say both") - 0.4).abs() < 1e-12);
        let (low, high) = agreement.interval.expect("there is a kappa");
        assert!((low - 0.146).abs() < 1e-3 && (high - 0.654).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn there_is_no_kappa_where_chance_explains_all() {
        assert_eq!(of([[0, 0], [0, 7]]).kappa, None);
        assert_eq!(of([[0, 0], [0, 0]]).kappa, None);
        assert_eq!(of([[3, 0], [0, 4]]).kappa, Some(1.0));
        assert!(of([[0, 5], [5, 0]]).kappa.is_some_and(|kappa| (kappa + 1.0).abs() < 1e-12));
    }
}
