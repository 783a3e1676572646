//! The address of a database on a server.

use std::path::Path;

/// `SCHEME://USER@HOST:PORT/DATABASE`, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Who logs in.
    pub user: String,
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
    pub database: String,
}

/// A text that is no address of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not of the form.
    #[error(
        "the address of a server is SCHEME://USER@HOST:PORT/DATABASE, with {{db_id}} for the database of each question"
    )]
    Form,
    /// The command line is in the record of a run and in the list of processes.
    #[error(
        "an address with a password would be recorded; give the password in PGPASSWORD or SQLGAUGE_DB_PASSWORD"
    )]
    Password,
    /// Options behind `?`.
    #[error("options behind `?` are not read; leave them out")]
    Options,
}

impl Address {
    /// Takes an address apart.
    ///
    /// # Errors
    /// When it is none, or holds a password or options.
    pub fn parse(address: &Path, default_port: u16) -> Result<Self, AddressError> {
        let text = address.to_str().ok_or(AddressError::Form)?;
        let (_, rest) = text.split_once("://").ok_or(AddressError::Form)?;
        if rest.contains(['?', '#']) {
            return Err(AddressError::Options);
        }
        let (place, database) = rest.split_once('/').ok_or(AddressError::Form)?;
        let (user, host) = place.rsplit_once('@').ok_or(AddressError::Form)?;
        // An encoded colon is a part of a name to a server, and to a person the way to write a password.
        let encoded = user.to_ascii_lowercase();
        if encoded.contains(':') || encoded.contains("%3a") {
            return Err(AddressError::Password);
        }
        let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or(AddressError::Form)?)),
            None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Ok(default_port), |port| port.parse().map_err(|_| AddressError::Form))?;
        let decode = |part: &str| decoded(part).filter(|part| !part.is_empty()).ok_or(AddressError::Form);
        Ok(Self { user: decode(user)?, host: decode(host)?, port, database: decode(database)? })
    }
}

/// The text without percent signs; `None` where they encode no text.
pub(crate) fn decoded(text: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parse = |text: &str| Address::parse(Path::new(text), 5432);
        let of = |user: &str, host: &str, port, database: &str| {
            Ok(Address { user: user.into(), host: host.into(), port, database: database.into() })
        };
        assert_eq!(parse("postgresql://u@h/d"), of("u", "h", 5432, "d"));
        assert_eq!(parse("postgresql://a%40b@[::1]:1/x%2Fy"), of("a@b", "::1", 1, "x/y"));
        for colon in [":", "%3A", "%3a"] {
            assert_eq!(parse(&format!("postgresql://u{colon}p@h/d")), Err(AddressError::Password), "{colon}");
        }
        assert_eq!(parse("postgresql://u@h/d?sslmode=x"), Err(AddressError::Options));
        for text in
            ["postgresql://h/d", "postgresql://u@h", "postgresql://u@h:x/d", "postgresql://u@h/%zz", "x"]
        {
            assert_eq!(parse(text), Err(AddressError::Form), "{text}");
        }
    }
}
