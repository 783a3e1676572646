//! Which rules are used, and how strictly.

use std::fmt;

/// A set of rules with their conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// `etm-paper@1`: the paper's 35 rules and three more of its script (S1, S6, S17), with the script's conditions.
    Paper,
    /// `etm@1`: only what holds in SQLite for every database that satisfies the schema, with further rules.
    Sound,
}

impl Profile {
    /// Both, in the order of their history.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Sound];

    /// The metric's id.
    pub fn id(self) -> &'static str {
        match self {
            Self::Paper => "etm-paper@1",
            Self::Sound => "etm@1",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// The profiles that a rule or a case belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profiles {
    /// [`Profile::Paper`].
    pub paper: bool,
    /// [`Profile::Sound`].
    pub sound: bool,
}

impl Profiles {
    pub const BOTH: Self = Self { paper: true, sound: true };
    /// Only the paper's.
    pub const PAPER: Self = Self { paper: true, sound: false };
    /// Only the sound one.
    pub const SOUND: Self = Self { paper: false, sound: true };

    /// Whether the profile is among them.
    pub fn contains(self, profile: Profile) -> bool {
        match profile {
            Profile::Paper => self.paper,
            Profile::Sound => self.sound,
        }
    }
}
