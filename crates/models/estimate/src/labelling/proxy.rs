//! How likely each answer is right, before any label: from agreement with other systems.
//!
//! Source: `research/labels/proxies.py`; [`AGREEMENT`] is fitted there.

use std::collections::{BTreeSet, HashMap};

use super::design::Answers;

/// Weights of 1, the logit of the share of peers with this result, whether that is the largest class, whether it has no row: a
/// logistic regression on the answers of 58 systems to BIRD's questions.
const AGREEMENT: [f64; 4] = [0.5806, 0.5649, -0.0293, -1.0579];
/// Shares closer to 0 or 1 count as this.
const EDGE: f64 = 0.02;
/// How much more a peer counts that agrees more often with all others: to the power of e.
const STEEP: f64 = 4.0;
/// The peers that agree most often with all others.
const BEST: usize = 5;
/// The peers whose answer is written most alike.
const NEAREST: usize = 3;

/// What a system answered, in the order of the questions.
#[derive(Debug, Clone, Default)]
pub struct Results<'a> {
    pub sql: Vec<&'a str>,
    /// The class of the result among those to the same question; `None` for an answer that does not run.
    pub classes: Vec<Option<usize>>,
    /// Whether the result has no row.
    pub empty: Vec<bool>,
}

impl Results<'_> {
    fn agrees(&self, other: &Self, item: usize) -> bool {
        self.classes[item].is_some() && self.classes[item] == other.classes[item]
    }

    fn agreement(&self, other: &Self) -> f64 {
        let items = 0..self.classes.len();
        items.clone().filter(|item| self.agrees(other, *item)).count() as f64 / items.len().max(1) as f64
    }
}

/// Answers of which nothing is known: all are as likely right.
pub fn unknown(results: &Results<'_>) -> Answers {
    with_probabilities(results, |_| 0.5)
}

/// Answers with a probability of being right from elsewhere.
pub fn with_probabilities(results: &Results<'_>, probability: impl Fn(usize) -> f64) -> Answers {
    let features = (0..results.classes.len()).map(|item| vec![1.0, logit(probability(item))]);
    Answers { features: features.collect(), runs: results.classes.iter().map(Option::is_some).collect() }
}

/// The answers of a system with what those of its peers say of them.
pub fn by_agreement(system: &Results<'_>, peers: &[&Results<'_>]) -> Answers {
    let all: Vec<&Results<'_>> = peers.iter().copied().chain([system]).collect();
    let consensus = |(at, peer): (usize, &&Results<'_>)| {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, other)| peer.agreement(other)).sum::<f64>() / peers.len() as f64
    };
    let consensus: Vec<f64> = peers.iter().enumerate().map(consensus).collect();
    let mut best: Vec<usize> = (0..peers.len()).collect();
    best.sort_by(|a, b| consensus[*b].total_cmp(&consensus[*a]));
    best.truncate(BEST);
    let weights: Vec<f64> = consensus.iter().map(|share| (STEEP * share).exp()).collect();
    let about = |item: usize| {
        let same: Vec<f64> =
            peers.iter().map(|peer| f64::from(u8::from(system.agrees(peer, item)))).collect();
        let share = same.iter().sum::<f64>();
        let plain = logit((share + 0.5) / (peers.len() + 1) as f64);
        let weighted = same.iter().zip(&weights).map(|(same, weight)| same * weight).sum::<f64>();
        let weighted = logit((weighted / weights.iter().sum::<f64>() + 0.02) / 1.04);
        let signals = [
            1.0,
            plain,
            f64::from(u8::from(is_largest(system, peers, item, share))),
            f64::from(u8::from(system.empty[item])),
        ];
        let prior = signals.iter().zip(AGREEMENT).map(|(value, weight)| value * weight).sum();
        let [mean, nearest] = shared_words(system, peers, item);
        let best = best.iter().map(|peer| same[*peer]).sum::<f64>() / best.len().max(1) as f64;
        vec![1.0, prior, weighted - plain, best, 3.0 * mean, 3.0 * nearest]
    };
    let mut features: Vec<Vec<f64>> = (0..system.classes.len()).map(about).collect();
    // What labels alone give a weight is counted from its mean, so that the first logit is no other for it.
    for column in 2..features.first().map_or(0, Vec::len) {
        let mean = features.iter().map(|row| row[column]).sum::<f64>() / features.len() as f64;
        features.iter_mut().for_each(|row| row[column] -= mean);
    }
    Answers { features, runs: system.classes.iter().map(Option::is_some).collect() }
}

/// Whether no class of the peers has more members than the answer's own, the answer included.
fn is_largest(system: &Results<'_>, peers: &[&Results<'_>], item: usize, same: f64) -> bool {
    let mut sizes: HashMap<usize, u32> = HashMap::new();
    for class in peers.iter().filter_map(|peer| peer.classes[item]) {
        *sizes.entry(class).or_default() += 1;
    }
    system.classes[item].is_some() && same + 1.0 >= f64::from(sizes.into_values().max().unwrap_or(0))
}

/// The share of words in common with the answers of the peers: the mean, and that of the nearest ones.
fn shared_words(system: &Results<'_>, peers: &[&Results<'_>], item: usize) -> [f64; 2] {
    let words = words(system.sql[item]);
    let mut shares: Vec<f64> =
        peers.iter().map(|peer| jaccard(&words, &self::words(peer.sql[item]))).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    [mean(&shares), mean(&shares[..NEAREST.min(shares.len())])]
}

fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let both = one.intersection(other).count();
    both as f64 / (one.len() + other.len() - both).max(1) as f64
}

/// What a query names: words, numbers, texts and comparisons in small letters, without the aliases `t1`, `t2`, ….
fn words(sql: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let text = sql.to_lowercase();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '<' | '=' | '>' => rest.find(|c| !matches!(c, '<' | '=' | '>')).unwrap_or(rest.len()),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => {
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        let (word, after) = rest.split_at(length);
        let is_alias = word.strip_prefix('t').is_some_and(|number| number.parse::<u32>().is_ok());
        if !is_alias && word != "as" {
            words.insert(word.to_owned());
        }
        rest = after;
    }
    words
}

fn logit(share: f64) -> f64 {
    let share = share.clamp(EDGE, 1.0 - EDGE);
    (share / (1.0 - share)).ln()
}
