//! What an address leaves out, from where libpq takes it: its variables, and the password file (PostgreSQL's manual, 34.15 and 34.16).
//!
//! A password file that others may read is not used, as in libpq; a login that lacks the password says so.

use std::path::{Path, PathBuf};

use crate::address::{Address, Parts, private_file};
use crate::kind::{Access, Secret};
use crate::tls::{Tls, Words};

pub(crate) const WORDS: Words = Words {
    mode: "sslmode",
    modes: ["disable", "prefer", "require", "verify-ca", "verify-full"],
    roots: "sslrootcert",
    no_tls: "turn TLS on at the server (ssl = on), or write ?sslmode=disable behind the address where all between is yours",
    no_root: "name a file with the certificate of the server's authority: ?sslrootcert=FILE behind the address",
    wrong_host: "write the host as the certificate names it, give the server a certificate for this host, or check only who signed it (?sslmode=verify-ca)",
};

/// Whether a login proves that both sides see the same certificate: libpq's `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    Disable,
    /// Where the server can.
    Prefer,
    Require,
}

/// Where to log in.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) address: Address,
    pub(super) binding: Binding,
}

impl Place {
    pub(super) fn parse(path: &Path, access: &Access) -> Result<Self, String> {
        let variables = &access.variables;
        let mut parts = Parts::parse(path, &["sslmode", "sslrootcert", "channel_binding", "passfile"])?;
        let mut option = |name, variable| parts.options.remove(name).or_else(|| variables.get(variable));
        let mode = option("sslmode", "PGSSLMODE").map(|name| WORDS.mode(&name)).transpose()?;
        let roots = option("sslrootcert", "PGSSLROOTCERT");
        let binding = match option("channel_binding", "PGCHANNELBINDING").as_deref() {
            Some("disable") => Binding::Disable,
            None | Some("prefer") => Binding::Prefer,
            Some("require") => Binding::Require,
            Some(name) => {
                return Err(format!(
                    "unknown channel_binding `{name}`: choose from disable, prefer, require"
                ));
            }
        };
        let file = option("passfile", "PGPASSFILE").map(PathBuf::from);
        let tls = |host: &str| Tls::new(&WORDS, host, mode, roots.as_deref());
        let names = ["PGUSER", "PGHOST", "PGPORT", "PGDATABASE"];
        let address = parts.complete(names, super::DEFAULT_PORT, |name| variables.get(name), tls)?;
        let password = match access.password.clone().or_else(|| variables.get("PGPASSWORD").map(Secret)) {
            Some(password) => Ok(Some(password)),
            None => file
                .or_else(|| variables.at_home(".pgpass"))
                .filter(|file| file.is_file())
                .map_or(Ok(None), |file| in_file(&file, &address)),
        };
        Ok(Self { address: address.with_password(password), binding })
    }
}

fn in_file(file: &Path, address: &Address) -> Result<Option<Secret>, String> {
    let file = private_file(file)?;
    let text =
        std::fs::read(&file).map_err(|error| format!("{} cannot be read ({error})", file.display()))?;
    // The folder where Debian and the source put the socket stands for this machine.
    let host = match address.host.as_str() {
        "/var/run/postgresql" | "/tmp" => "localhost",
        host => host,
    };
    let port = address.port.to_string();
    Ok(password(&String::from_utf8_lossy(&text), [host, &port, &address.database, &address.user]).map(Secret))
}

/// The password of the first line `HOST:PORT:DATABASE:USER:PASSWORD` for that login. `*` stands for all, and `\` before `:` or `\` for
/// the sign itself.
fn password(text: &str, login: [&str; 4]) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let mut matches = lines.filter(|fields| {
        fields.len() >= 5 && fields.iter().zip(login).all(|(field, text)| field.0 == "*" || field.1 == text)
    });
    matches.next().and_then(|fields| fields.into_iter().nth(4)).map(|(_, password)| password)
}

/// Each field as it stands there, and without its escapes.
fn fields(line: &str) -> Vec<(String, String)> {
    let mut fields = vec![(String::new(), String::new())];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign == ':' {
            fields.push(Default::default());
            continue;
        }
        let plain = if sign == '\\' { signs.next().unwrap_or(sign) } else { sign };
        if let Some((raw, text)) = fields.last_mut() {
            raw.push(sign);
            text.push(plain);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_for_a_login_has_its_password() {
        let of = |text: &str| password(text, ["h", "5432", "d:b", "u"]);
        assert_eq!(of("h:5432:d\\:b:u:p\\:w\\\\é:x\n*:*:*:*:late").as_deref(), Some("p:w\\é"));
        assert_eq!(of("# h:5432:d\\:b:u:no\nh:1:*:u:no\n\\*:*:*:*:no\n\n*:5432:*:*:p").as_deref(), Some("p"));
        assert_eq!(of("h:5432:d\\:b:u"), None);
    }

    /// Whoever is listed first decides.
    #[test]
    fn an_address_beats_a_variable_and_a_variable_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".pgpass"), "*:*:*:*:filed").unwrap();
        let home = folder.path().display().to_string();
        let place = |text: &str, set: &[(&str, &str)]| {
            let all = set.iter().copied().chain([("HOME", home.as_str())]);
            let all = all.map(|(name, value)| (name.to_owned(), Secret(value.to_owned())));
            let variables = crate::kind::Variables(all.collect());
            Place::parse(Path::new(text), &Access { variables, ..Access::default() })
        };
        let near =
            place("postgresql://u@/d?sslmode=require", &[("PGSSLMODE", "disable"), ("PGHOST", "h")]).unwrap();
        assert_eq!((&*near.address.host, near.address.tls.mode), ("h", crate::tls::Mode::Require));
        let set = place("postgresql://u@h/d", &[("PGPASSWORD", "set")]).unwrap();
        assert_eq!(set.address.password().unwrap(), Some("set"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let file = folder.path().join(".pgpass");
            for (bits, expected) in [(0o644, None), (0o600, Some("filed"))] {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(bits)).unwrap();
                let place = place("postgresql://u@h/d", &[]).unwrap();
                let password = place.address.password().map_err(|error| error.to_string());
                match (password, expected) {
                    (Err(error), None) => {
                        assert!(error.contains("chmod 600") && !error.contains("filed"), "{error}");
                    }
                    (password, expected) => assert_eq!(password, Ok(expected)),
                }
            }
        }
        for text in ["?sslmode=allow", "?channel_binding=x", "?ssl=1"] {
            assert!(
                place(&format!("postgresql://u@h/d{text}"), &[])
                    .is_err_and(|error| error.contains("choose from"))
            );
        }
    }
}
