//! What an address leaves out, from where MySQL's clients take it: the group `[client]` of an option file, and `MYSQL_PWD` (MySQL's
//! manual, 6.2.2.2 and 6.9).
//!
//! `!include` is not followed. A password in a file that others may read is not used; a login that lacks it says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::address::{Address, Parts, private_file};
use crate::kind::{Access, Secret};
use crate::tls::{Tls, Words};

pub(crate) const WORDS: Words = Words {
    mode: "ssl-mode",
    modes: ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
    roots: "ssl-ca",
    no_tls: "give the server a certificate (ssl_cert, ssl_key), or write ?ssl-mode=DISABLED behind the address where all between is yours",
    no_root: "name a file with the certificate of the server's authority: ?ssl-ca=FILE behind the address",
    wrong_host: "write the host as the certificate names it, give the server a certificate for this host, or check only who signed it (?ssl-mode=VERIFY_CA)",
};

pub(super) fn parse(path: &Path, access: &Access) -> Result<Address, String> {
    let variables = &access.variables;
    let mut parts = Parts::parse(path, &["ssl-mode", "ssl-ca", "defaults-file"])?;
    let option_file = parts.options.remove("defaults-file").map(PathBuf::from);
    let file = option_file.or_else(|| variables.at_home(".my.cnf").filter(|file| file.is_file()));
    let set = file.as_deref().map_or_else(|| Ok(BTreeMap::new()), in_file)?;
    let mut option = |name| parts.options.remove(name).or_else(|| set.get(name).cloned());
    let mode = option("ssl-mode").map(|name| WORDS.mode(&name)).transpose()?;
    let roots = option("ssl-ca");
    let find = |name: &str| {
        let name = name.strip_prefix("[client] ")?;
        let socket = set.get("socket").filter(|_| name == "host");
        set.get(name).or(socket).cloned()
    };
    let tls = |host: &str| Tls::new(&WORDS, host, mode, roots.as_deref());
    let names = ["[client] user", "[client] host", "[client] port", "[client] database"];
    let address = parts.complete(names, super::DEFAULT_PORT, find, tls)?;
    let password = match (access.password.clone(), set.get("password"), file) {
        (Some(password), ..) => Ok(Some(password)),
        (None, Some(password), Some(file)) => private_file(&file).map(|_| Some(Secret(password.clone()))),
        _ => Ok(variables.get("MYSQL_PWD").map(Secret)),
    };
    Ok(address.with_password(password))
}

fn in_file(file: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read(file).map_err(|error| format!("{} cannot be read ({error})", file.display()))?;
    Ok(client(&String::from_utf8_lossy(&text)))
}

/// The options of the group `[client]`, with `-` where the file has `_`.
fn client(text: &str) -> BTreeMap<String, String> {
    let mut is_client = false;
    let mut options = BTreeMap::new();
    for line in text.lines().map(|line| without_comment(line).trim()).filter(|line| !line.starts_with(';')) {
        if let Some(group) = line.strip_prefix('[') {
            is_client = group.split(']').next().map(str::trim) == Some("client");
        } else if is_client && let Some((name, value)) = line.split_once('=') {
            options.insert(name.trim().replace('_', "-"), plain(value.trim()));
        }
    }
    options
}

/// The line up to a `#` outside quotes.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, sign) in line.char_indices() {
        match (quote, sign) {
            (None, '#') => return &line[..at],
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), _) if sign == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote.is_some() && sign == '\\' && !is_escaped;
    }
    line
}

/// A value without the quotes around it, and its escapes as the signs that they stand for.
fn plain(value: &str) -> String {
    let inside = ['"', '\''].iter().find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let mut signs = inside.unwrap_or(value).chars();
    let mut text = String::new();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            text.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('s') => text.push(' '),
            Some(sign @ ('"' | '\'' | '\\')) => text.push(sign),
            Some(sign) => text.extend(['\\', sign]),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[mysqld]\nport = 1\n[client]\n# a comment\n; one more\nuser=me # and why\n port = 3307\nssl_ca=/c a\n\
                        password = \"p'w \\\\ \\s# é\"\nhost='h'\n[mysql]\nuser=other\n";

    /// The peer is the server's own program that prints what its clients read.
    #[test]
    fn an_option_file_is_read_as_my_print_defaults_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my.cnf");
        std::fs::write(&file, FILE).unwrap();
        let set = client(FILE);
        assert_eq!((&*set["user"], &*set["password"], set.len()), ("me", "p'w \\  # é", 5));
        let peer = std::process::Command::new("my_print_defaults")
            .arg(format!("--defaults-file={}", file.display()))
            .arg("client")
            .output();
        let Ok(output) = peer else { return println!("skipped: no my_print_defaults") };
        let theirs: BTreeMap<String, String> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .filter_map(|line| line.strip_prefix("--")?.split_once('='))
            .map(|(name, value)| (name.replace('_', "-"), value.to_owned()))
            .collect();
        assert_eq!(set, theirs);
    }

    #[test]
    fn an_address_beats_the_file_and_the_file_a_variable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".my.cnf");
        std::fs::write(&file, FILE).unwrap();
        let variables = [("HOME", folder.path().to_str().unwrap()), ("MYSQL_PWD", "set")];
        let variables = variables.map(|(name, value)| (name.to_owned(), Secret(value.to_owned())));
        let access = Access { variables: crate::kind::Variables(variables.into()), ..Access::default() };
        let of = |text: &str| parse(Path::new(text), &access).unwrap();
        let address = of("mysql:///d");
        assert_eq!((&*address.user, &*address.host, address.port), ("me", "h", 3307));
        assert_eq!(address.tls.mode, crate::tls::Mode::VerifyFull);
        let address = of("mysql://u@%2Frun%2Fs:1/d?ssl-mode=required");
        assert_eq!((&*address.user, &*address.host, address.port), ("u", "/run/s", 1));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let error = address.password().unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("p'w"), "{error}");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(of("mysql://u@h/d").password().unwrap(), Some("p'w \\  # é"));
        }
        let empty = folder.path().join("empty.cnf");
        std::fs::write(&empty, "").unwrap();
        let other = of(&format!("mysql://u@h/d?defaults-file={}", empty.display()));
        assert_eq!((other.port, other.password().unwrap()), (3306, Some("set")));
    }
}
