//! Addresses of databases that are not SQLite files: `postgresql://USER@HOST:PORT/{db_id}`, `dbapi:MODULE?connect=FILE`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What an address begins with, up to its colon.
pub const SCHEMES: [&str; 6] = ["postgresql", "postgres", "mysql", "mariadb", "duckdb", "dbapi"];

/// What stands in an address for the name of a database.
const PLACE: &str = "{db_id}";

/// The scheme of an address, `None` for a path.
pub fn scheme(address: &Path) -> Option<&'static str> {
    let (prefix, rest) = address.to_str()?.split_once(':')?;
    let scheme = SCHEMES.into_iter().find(|scheme| *scheme == prefix)?;
    (matches!(scheme, "duckdb" | "dbapi") || rest.starts_with("//")).then_some(scheme)
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

/// The database that an address names for all; `None` where it leaves the name open. What only a driver knows is named by the last word of
/// the address.
pub fn named_database(address: &Path) -> Option<String> {
    let text = address.to_str()?;
    let name = match scheme(address)? {
        "dbapi" => text.rsplit(['/', '=', ':', '?']).next()?.split('.').next()?,
        scheme => {
            let name = text.split(['?', '#']).next()?.split_once(':')?.1.rsplit('/').next()?;
            if scheme == "duckdb" { name.split('.').next()? } else { name }
        }
    };
    if text.contains(PLACE) {
        return None;
    }
    (!name.is_empty()).then(|| name.to_owned())
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
            ("dbapi:psycopg?connect=a.json", Some("dbapi")),
            ("postgresql:x", None),
            ("C:/data", None),
            ("folder", None),
        ] {
            assert_eq!(scheme(Path::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn an_address_may_name_its_database() {
        let named = |text: &str| named_database(Path::new(text));
        for text in [
            "mysql://u@h/shop",
            "duckdb:/data/shop.duckdb",
            "dbapi:sqlite3?database=/data/shop.sqlite",
            "dbapi:x?connect=shop.json",
        ] {
            assert_eq!(named(text).as_deref(), Some("shop"), "{text}");
        }
        assert_eq!(named("dbapi:psycopg?dbname={db_id}&connect=a.json"), None);
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        let at =
            |name: &str| of_database(Path::new("postgresql://h/{db_id}?x=1"), name).display().to_string();
        assert_eq!(at("world_1"), "postgresql://h/world_1?x=1");
        assert_eq!(at("../a?b"), "postgresql://h/%2E%2E%2Fa%3Fb?x=1");
    }
}
