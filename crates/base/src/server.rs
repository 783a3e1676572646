//! Addresses of databases that are not SQLite files: `postgresql://USER@HOST:PORT/{db_id}`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What an address begins with, up to its colon.
pub const SCHEMES: [&str; 5] = ["postgresql", "postgres", "mysql", "mariadb", "duckdb"];

/// What stands in an address for the name of a database.
const PLACE: &str = "{db_id}";

/// The scheme of an address, `None` for a path.
pub fn scheme(address: &Path) -> Option<&'static str> {
    let (prefix, rest) = address.to_str()?.split_once(':')?;
    let scheme = SCHEMES.into_iter().find(|scheme| *scheme == prefix)?;
    (scheme == "duckdb" || rest.starts_with("//")).then_some(scheme)
}

/// Whether this is the address of a database on a server, and not the path of a SQLite file.
pub fn is_address(address: &Path) -> bool {
    scheme(address).is_some()
}

/// The address of the database of that name: the name stands for `{db_id}`, percent-encoded, so that it can lead nowhere
/// else.
pub fn of_database(address: &Path, db_id: &str) -> PathBuf {
    let mut name = String::new();
    for byte in db_id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    PathBuf::from(address.to_string_lossy().replace(PLACE, &name))
}

/// The database that an address names for all; `None` where it leaves the name open.
pub fn named_database(address: &Path) -> Option<String> {
    let text = address.to_str()?.split(['?', '#']).next()?;
    let name = text.split_once(':')?.1.rsplit('/').next()?;
    let name = if scheme(address)? == "duckdb" { name.split('.').next()? } else { name };
    (!name.is_empty() && !name.contains(PLACE)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for (text, expected) in [
            ("postgresql://h/{db_id}", Some("postgresql")),
            ("mysql://h/x", Some("mysql")),
            ("duckdb:/tmp/{db_id}.duckdb", Some("duckdb")),
            ("postgresql:x", None),
            ("C:/data", None),
            ("folder", None),
        ] {
            assert_eq!(scheme(Path::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        let at =
            |name: &str| of_database(Path::new("postgresql://h/{db_id}?x=1"), name).display().to_string();
        assert_eq!(at("world_1"), "postgresql://h/world_1?x=1");
        assert_eq!(at("../a?b"), "postgresql://h/%2E%2E%2Fa%3Fb?x=1");
    }
}
