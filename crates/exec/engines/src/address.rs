//! The address of a database on a server: `SCHEME://USER@HOST:PORT/DATABASE?OPTION=VALUE`.
//!
//! Parts that it leaves out come from the variables and files of the server's own clients: `postgresql::place` and `mysql::place`. An
//! address with a password is refused, since run records and process lists show it. Errors name options; the only value is a mode's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::without_secrets;

use crate::kind::Secret;
use crate::server::Broken;
use crate::tls::Tls;

/// Where to log in, and how.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// Who logs in.
    pub(crate) user: String,
    /// A name, an IP address without brackets, or the path of a socket.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
    pub(crate) tls: Arc<Tls>,
    /// Or why the one that is in a file is not used.
    password: Result<Option<Secret>, String>,
}

/// Code of a refusal: a file with a password that others may read.
pub(crate) const NOT_PRIVATE: &str = "not-private";

impl Address {
    /// The password, if there is one.
    ///
    /// # Errors
    /// If it is in a file that others may read.
    pub(crate) fn password(&self) -> Result<Option<&str>, Broken> {
        let password = self.password.as_ref().map_err(|reason| Broken::refused(NOT_PRIVATE, reason))?;
        Ok(password.as_ref().map(|secret| secret.0.as_str()))
    }

    /// The same address without TLS.
    pub(crate) fn in_plain_text(&self) -> Self {
        Self { tls: Arc::new(self.tls.disabled()), ..self.clone() }
    }

    pub(crate) fn with_password(self, password: Result<Option<Secret>, String>) -> Self {
        Self { password, ..self }
    }

    /// The path of the host, if it is a socket of this machine.
    pub(crate) fn socket(&self) -> Option<&Path> {
        self.host.starts_with('/').then(|| Path::new(&self.host))
    }
}

/// A text that is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error(
        "the address of a server is SCHEME://USER@HOST:PORT/DATABASE?OPTION=VALUE, with {{db_id}} for the database of each question"
    )]
    Form,
    /// The command line is in the record of a run and in the list of processes.
    #[error(
        "an address with a password would be recorded; give the password in SQLGAUGE_DB_PASSWORD, PGPASSWORD or MYSQL_PWD"
    )]
    Password,
    #[error("the address names no {what}, and `{variable}` is not set")]
    Missing { what: &'static str, variable: &'static str },
    #[error("unknown option `{name}` of the address: choose from {options}")]
    Unknown { name: String, options: String },
    #[error("an option of the address is NAME=VALUE, with %20 for a space")]
    Option,
    #[error(
        "an address with a secret would be recorded; write it into the file behind connect=, passfile= or defaults-file="
    )]
    Secret,
    #[error("the address has the option `{0}` twice")]
    Twice(String),
    #[error("`{0}` is not the number of a port")]
    Port(&'static str),
}

impl From<AddressError> for String {
    fn from(error: AddressError) -> Self {
        error.to_string()
    }
}

/// What stands in an address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    user: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    database: Option<String>,
    pub(crate) options: BTreeMap<String, String>,
}

impl Parts {
    /// Takes an address apart. Each part may be left out.
    pub(crate) fn parse(address: &Path, options: &[&str]) -> Result<Self, AddressError> {
        let text = address.to_str().ok_or(AddressError::Form)?;
        let (_, rest) =
            text.split_once("://").filter(|(_, rest)| !rest.contains('#')).ok_or(AddressError::Form)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = place.rsplit_once('@').unwrap_or(("", place));
        // An encoded colon is a part of a name to a server, and to a person the way to write a password; so is what an `@` follows.
        let encoded = user.to_ascii_lowercase();
        if encoded.contains(':') || encoded.contains("%3a") || database.contains('@') || query.contains('@') {
            return Err(AddressError::Password);
        }
        let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or(AddressError::Form)?)),
            None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map(|port| port.parse().map_err(|_| AddressError::Form)).transpose()?;
        let decode = |part: &str| match decoded(part).ok_or(AddressError::Form)? {
            text if text.is_empty() => Ok(None),
            text => Ok(Some(text)),
        };
        let (user, host, database) = (decode(user)?, decode(host)?, decode(database)?);
        let pairs = pairs(query)?;
        if let Some(name) = pairs.keys().find(|name| !options.contains(&name.as_str())) {
            return Err(AddressError::Unknown { name: name.clone(), options: options.join(", ") });
        }
        Ok(Self { user, host, port, database, options: pairs })
    }

    /// The address with what `find` has for the user, the host, the port and the database that are left out; TLS is for that host.
    pub(crate) fn complete(
        self,
        [user, host, port, database]: [&'static str; 4],
        default_port: u16,
        find: impl Fn(&str) -> Option<String>,
        tls: impl FnOnce(&str) -> Tls,
    ) -> Result<Address, AddressError> {
        let missing = |what, variable| AddressError::Missing { what, variable };
        let port = match (self.port, find(port)) {
            (Some(number), _) => number,
            (None, Some(text)) => text.parse().map_err(|_| AddressError::Port(port))?,
            (None, None) => default_port,
        };
        let host = self.host.or_else(|| find(host)).unwrap_or_else(|| "localhost".to_owned());
        Ok(Address {
            user: self.user.or_else(|| find(user)).ok_or_else(|| missing("user", user))?,
            port,
            database: self
                .database
                .or_else(|| find(database))
                .ok_or_else(|| missing("database", database))?,
            tls: Arc::new(tls(&host)),
            host,
            password: Ok(None),
        })
    }
}

/// `NAME=VALUE&NAME=VALUE`.
pub(crate) fn pairs(query: &str) -> Result<BTreeMap<String, String>, AddressError> {
    let mut options = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if without_secrets(pair) != pair {
            return Err(AddressError::Secret);
        }
        let decode = |part| decoded(part).ok_or(AddressError::Option);
        let (name, value) = pair.split_once('=').ok_or(AddressError::Option)?;
        let (name, value) = (decode(name)?, decode(value)?);
        if options.insert(name.clone(), value).is_some() {
            return Err(AddressError::Twice(name));
        }
    }
    Ok(options)
}

/// The text without percent signs; `None` where they encode no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &behind[2..];
        } else {
            bytes.push(first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The absolute path of a file with a password, which must be its owner's alone.
pub(crate) fn private_file(path: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let name = path.display();
    let metadata = path.metadata().map_err(|error| format!("{name} cannot be read ({error})"))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(format!("other users may read {name}, which has a password: chmod 600 {name}"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::Mode;

    const NAMES: [&str; 4] = ["user", "host", "port", "database"];
    const ALL: &[&str] = &["sslmode", "sslrootcert"];

    fn parse(text: &str) -> Result<Parts, AddressError> {
        Parts::parse(Path::new(text), ALL)
    }

    #[test]
    fn an_address_is_taken_apart() {
        let of = |user: &str, host: &str, port, database: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Ok(Parts {
                user: some(user),
                host: some(host),
                port,
                database: some(database),
                ..Parts::default()
            })
        };
        assert_eq!(parse("postgresql://u@h/d"), of("u", "h", None, "d"));
        assert_eq!(parse("postgresql://a%40b@[::1]:1/x%2Fy"), of("a@b", "::1", Some(1), "x/y"));
        assert_eq!(parse("postgresql://%2Frun%2Fpg/d"), of("", "/run/pg", None, "d"));
        assert_eq!(parse("postgresql:///d"), of("", "", None, "d"));
        assert_eq!(parse("postgresql://"), of("", "", None, ""));
        let options = parse("postgresql://u@h/d?sslmode=require&sslrootcert=%2Fa%20b").unwrap().options;
        assert_eq!(options.into_values().collect::<Vec<_>>(), ["require", "/a b"]);
        for text in ["u:p@h/d", "u%3Ap@h/d", "u%3ap@h/d", "u:1/p@h/d", "h/d?sslmode=p@h/d"] {
            assert_eq!(parse(&format!("postgresql://{text}")), Err(AddressError::Password), "{text}");
        }
        for text in ["postgresql://u@h:x/d", "postgresql://u@h/%zz", "postgresql://h/d#x", "x"] {
            assert_eq!(parse(text), Err(AddressError::Form), "{text}");
        }
        assert_eq!(parse("postgresql://u@h/d?password=x"), Err(AddressError::Secret));
        for (query, expected) in
            [("x=1", "unknown option `x`"), ("sslmode=a&sslmode=b", "twice"), ("x", "NAME=VALUE")]
        {
            let error = parse(&format!("postgresql://u@h/d?{query}")).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_left_out_is_filled() {
        let words = &crate::postgresql::place::WORDS;
        let complete = |text: &str, find: fn(&str) -> Option<String>| {
            parse(text).unwrap().complete(NAMES, 5432, find, |host| Tls::new(words, host, None, None))
        };
        let whole =
            complete("postgresql://", |name| Some(if name == "port" { "7" } else { name }.to_owned()))
                .unwrap();
        assert_eq!(
            (&*whole.user, &*whole.host, whole.port, &*whole.database),
            ("user", "host", 7, "database")
        );
        let bare = complete("postgresql://u@/d", |_| None).unwrap();
        assert_eq!((&*bare.host, bare.port, bare.tls.mode), ("localhost", 5432, Mode::Prefer));
        let error = complete("postgresql://h/d", |_| None).map(drop).unwrap_err().to_string();
        assert_eq!(error, "the address names no user, and `user` is not set");
        assert_eq!(
            complete("postgresql://u@h/d", |_| Some("x".into())).map(drop),
            Err(AddressError::Port("port"))
        );
    }
}
