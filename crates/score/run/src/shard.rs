//! A part of a run that another machine, or a later hour, scores: every n-th example, with the answers of all systems to it.
//!
//! # Contract
//! The shards `1/n` to `n/n` have every pair of system and example once, whatever is scored. The inputs, metrics and options of a
//! shard's manifest are those of the whole run, with the option [`SHARD`] besides; its number of examples is its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Manifest;

/// The option of a manifest that says which part of a run it is.
pub(crate) const SHARD: &str = "shard";

/// One part of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// From 1.
    part: usize,
    of: usize,
}

/// The digest of a shard's log, beside the shard's number: [`seal`].
const SEAL: &str = "items_sha256";

/// What a manifest says of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) part: usize,
    pub(crate) of: usize,
    pub(crate) examples: usize,
}

/// A text that is no part of a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid shard {0:?}: write I/N, for example 3/16")]
pub struct BadShard(String);

impl Shard {
    /// The shard that has the example at that position of the benchmark.
    pub fn takes(self, position: usize) -> bool {
        position % self.of == self.part - 1
    }

    /// What is left of a list that has something for every example of the benchmark.
    pub fn cut<T>(self, all: &mut Vec<T>) {
        let mut position = 0;
        all.retain(|_| {
            position += 1;
            self.takes(position - 1)
        });
    }

    /// Makes the manifest of a whole run that of the shard.
    pub fn record(self, manifest: &mut Manifest) {
        let Self { part, of } = self;
        let recorded = Recorded { part, of, examples: manifest.examples };
        manifest.options.insert(SHARD.to_owned(), recorded.to_json());
        manifest.examples = (0..manifest.examples).filter(|&position| self.takes(position)).count();
    }
}

/// Notes in the manifest of a finished shard the SHA-256 of its log, so that a merge sees lines that were changed later.
pub(crate) fn seal(manifest: &mut Manifest, sha256: &str) {
    if let Some(Value::Object(shard)) = manifest.options.get_mut(SHARD) {
        shard.insert(SEAL.to_owned(), sha256.into());
    }
}

/// The SHA-256 that [`seal`] noted.
pub(crate) fn sealed(manifest: &Manifest) -> Option<&str> {
    manifest.options.get(SHARD)?.get(SEAL)?.as_str()
}

/// The manifest as it was before [`seal`].
pub(crate) fn without_seal(mut manifest: Manifest) -> Manifest {
    if let Some(Value::Object(shard)) = manifest.options.get_mut(SHARD) {
        shard.shift_remove(SEAL);
    }
    manifest
}

impl Recorded {
    fn to_json(self) -> Value {
        serde_json::json!({"part": self.part, "of": self.of, "examples": self.examples})
    }

    /// What the manifest says, if it is of a shard; a number that no shard has does not count.
    pub(crate) fn of(manifest: &Manifest) -> Option<Self> {
        let recorded = Self::deserialize(manifest.options.get(SHARD)?).ok()?;
        (1..=recorded.of).contains(&recorded.part).then_some(recorded)
    }

    pub(crate) fn shard(self) -> Shard {
        Shard { part: self.part, of: self.of }
    }
}

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Self, BadShard> {
        let numbers =
            text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self { part, of }),
            _ => Err(BadShard(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_every_position_once() {
        for of in 1..6 {
            let shards: Vec<Shard> = (1..=of).map(|part| format!("{part}/{of}").parse().unwrap()).collect();
            for position in 0..13 {
                assert_eq!(shards.iter().filter(|shard| shard.takes(position)).count(), 1);
            }
            let mut all: Vec<usize> = Vec::new();
            for shard in shards {
                let mut positions: Vec<usize> = (0..13).collect();
                shard.cut(&mut positions);
                all.extend(positions);
            }
            all.sort_unstable();
            assert_eq!(all, (0..13).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in ["", "3", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "1.0/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3/16");
    }
}
