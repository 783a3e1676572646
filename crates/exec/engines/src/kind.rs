//! The list of the engines.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::server::scheme;
use sqlgauge_engine::{Engine, EngineError, Limits};

use crate::locks::{LockResult, Setup};

/// What a person gives besides the address.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The password, where the server wants one.
    pub password: Option<Secret>,
    /// Connections to one database at once; 0 means [`Access::CONNECTIONS`].
    pub connections: usize,
    /// Whether the password may go to a PostgreSQL server as an MD5 hash. A listener on the network can guess the password from it.
    pub allows_md5: bool,
    /// The Python that has the drivers of DuckDB and of DB-API; `python3` where none is named.
    pub python: Option<PathBuf>,
    /// What fills an address that leaves something out.
    pub variables: Variables,
}

/// Variables of the environment by which the clients of PostgreSQL and MySQL are set: `PGHOST`, `MYSQL_PWD`, and `HOME` for their files.
#[derive(Debug, Clone, Default)]
pub struct Variables(pub BTreeMap<String, Secret>);

impl Variables {
    /// Those of this process.
    pub fn of_process() -> Self {
        let is_ours = |name: &str| name.starts_with("PG") || name == "MYSQL_PWD" || name == "HOME";
        let texts = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self(texts.filter(|(name, _)| is_ours(name)).map(|(name, value)| (name, Secret(value))).collect())
    }

    /// The value of a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| value.0.clone()).filter(|value| !value.is_empty())
    }

    /// A file below the home folder.
    pub(crate) fn at_home(&self, name: &str) -> Option<PathBuf> {
        Some(Path::new(&self.get("HOME")?).join(name))
    }
}

impl Access {
    /// Connections to one database, unless somebody says otherwise.
    pub const CONNECTIONS: usize = 8;

    #[cfg(unix)]
    pub(crate) fn python(&self) -> &Path {
        self.python.as_deref().unwrap_or(Path::new("python3"))
    }
}

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// The server's version, and what became of the attempt to break each lock.
pub(crate) type Trial = Result<(String, Vec<LockResult>), EngineError>;

/// One kind of server.
pub struct Kind {
    /// Its name: `postgresql`.
    pub name: &'static str,
    /// What its addresses begin with.
    pub schemes: &'static [&'static str],
    pub(crate) engine: fn(Limits, Access) -> Arc<dyn Engine>,
    pub(crate) setup: fn(&Setup) -> String,
    pub(crate) check: fn(&Path, &Access) -> Trial,
    /// What whoever runs queries there has to know each time.
    pub warning: Option<&'static str>,
}

/// All kinds, the ones with the strongest locks first.
pub static KINDS: &[Kind] = &[
    crate::postgresql::KIND,
    #[cfg(unix)]
    crate::duckdb::KIND,
    crate::mysql::KIND,
    #[cfg(unix)]
    crate::dbapi::KIND,
];

impl Kind {
    pub fn find(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name || kind.schemes.contains(&name))
    }

    /// An engine with those limits. Nothing is connected yet.
    pub fn engine(&self, limits: Limits, access: Access) -> Arc<dyn Engine> {
        (self.engine)(limits, access)
    }

    /// The SQL that makes a role which can only read. The owner of the server runs it in each database.
    pub fn setup(&self, setup: &Setup) -> String {
        (self.setup)(setup)
    }

    /// The server's version, and what became of the attempt to break each lock.
    ///
    /// # Errors
    /// When the server cannot be used.
    pub fn check(&self, address: &Path, access: &Access) -> Result<(String, Vec<LockResult>), EngineError> {
        (self.check)(address, access)
    }
}

/// The engine of an address; `None` for the address of a server that this crate does not know.
pub fn open(address: &Path, limits: Limits, access: Access) -> Option<Arc<dyn Engine>> {
    Some(Kind::find(scheme(address)?)?.engine(limits, access))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_base::server::SCHEMES;

    #[test]
    fn every_kind_is_found_by_its_schemes() {
        for kind in KINDS {
            for scheme in kind.schemes {
                assert!(SCHEMES.contains(scheme), "{scheme}");
                assert_eq!(Kind::find(scheme).map(|kind| kind.name), Some(kind.name));
            }
            assert!(!kind.setup(&Setup::default()).is_empty(), "{}", kind.name);
        }
        assert_eq!(format!("{:?}", Secret("x".into())), "[hidden]");
    }
}
