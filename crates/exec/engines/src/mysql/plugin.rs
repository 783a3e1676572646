//! How an account logs in: the plugins whose password stays with the client (MySQL's protocol, "Authentication Methods").

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::server::Broken;

/// A way to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plugin {
    /// Of old accounts, and of MariaDB.
    Native,
    /// Of MySQL 8.
    CachingSha2,
}

const ALL: [Plugin; 2] = [Plugin::Native, Plugin::CachingSha2];

impl Plugin {
    pub(super) fn of(name: &[u8]) -> Result<Self, Broken> {
        ALL.into_iter().find(|plugin| plugin.name() == name).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let text = format!("the account logs in by `{name}`, which is not supported");
            Broken::refused("1251", &text)
        })
    }

    pub(super) fn name(self) -> &'static [u8] {
        match self {
            Self::Native => b"mysql_native_password",
            Self::CachingSha2 => b"caching_sha2_password",
        }
    }

    /// The proof of the password; nothing without one. `SHA1(password) XOR SHA1(salt + SHA1(SHA1(password)))`, or
    /// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + salt)`.
    pub(super) fn scrambled(self, password: &str, salt: &[u8]) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            Self::Native => {
                let once = Sha1::digest(password);
                let mixed = Sha1::new().chain_update(salt).chain_update(Sha1::digest(once)).finalize();
                once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
            }
            Self::CachingSha2 => {
                let once = Sha256::digest(password);
                let twice = Sha256::digest(once);
                let mixed = Sha256::new().chain_update(twice).chain_update(salt).finalize();
                once.iter().zip(mixed).map(|(a, b)| a ^ b).collect()
            }
        }
    }
}
