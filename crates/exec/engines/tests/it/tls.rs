//! TLS with real servers: each certificate that a mode must refuse is refused, what is sent cannot be read on the way, and passwords
//! come from where the servers' own clients take them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SignatureAlgorithm};
use sqlgauge_engine::{FailureKind, Limits};
use sqlgauge_engines::{Access, Kind, LockResult, Secret, Variables};
use tempfile::TempDir;

use crate::club::opened;
use crate::servers::PASSWORD;
use crate::servers::mariadb::MariaDb;
use crate::servers::postgresql::Server;

const DDL: &str = "CREATE TABLE team (id INT PRIMARY KEY); INSERT INTO team VALUES (1), (2)";

fn access() -> Access {
    Access { password: Some(Secret(PASSWORD.into())), ..Access::default() }
}

/// An authority, and a file with its certificate.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(algorithm: &'static SignatureAlgorithm) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "authority");
        std::fs::write(folder.path().join("root.crt"), params.self_signed(&key).unwrap().pem()).unwrap();
        Self { folder, issuer: Issuer::new(params, key) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("root.crt")
    }

    /// Its certificate as that of a server, and its key.
    fn itself(&self) -> (String, String) {
        (std::fs::read_to_string(self.file()).unwrap(), self.issuer.key().serialize_pem())
    }

    /// A certificate for a host, valid until the end of a year, and its key.
    fn identity(&self, host: &str, year: i32) -> (String, String) {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 12, 31);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// What `engines check` reports of the connection's protection, or the error of a refused connection.
fn protection(kind: &str, address: &Path, access: &Access) -> Result<LockResult, String> {
    let (_, locks) = Kind::find(kind).unwrap().check(address, access).map_err(|error| error.to_string())?;
    Ok(locks.into_iter().find(|lock| lock.name == "talks to the right server, unheard").unwrap())
}

fn with_options(address: &Path, options: &str, roots: Option<(&str, &Authority)>) -> PathBuf {
    let roots = roots.map(|(name, authority)| format!("&{name}={}", authority.file().display()));
    PathBuf::from(format!("{}?{options}{}", address.display(), roots.unwrap_or_default()))
}

/// A kind of server, its option for the roots, its modes, and what to do where the server has no TLS.
type Words = (&'static str, &'static str, [&'static str; 5], &'static str);

const MYSQL: Words = (
    "mysql",
    "ssl-ca",
    [
        "ssl-mode=DISABLED",
        "ssl-mode=PREFERRED",
        "ssl-mode=REQUIRED",
        "ssl-mode=VERIFY_CA",
        "ssl-mode=VERIFY_IDENTITY",
    ],
    "give the server a certificate",
);
const POSTGRESQL: Words = (
    "postgresql",
    "sslrootcert",
    ["sslmode=disable", "sslmode=prefer", "sslmode=require", "sslmode=verify-ca", "sslmode=verify-full"],
    "turn TLS on at the server",
);

/// Every mode against a server without TLS, then with each certificate.
fn assert_modes((kind, roots, modes, remedy): Words, path: &Path, mut identify: impl FnMut(&str, &str)) {
    let authority = Authority::new(&rcgen::PKCS_ECDSA_P256_SHA256);
    let stranger = Authority::new(&rcgen::PKCS_ECDSA_P256_SHA256);
    let access = access();
    let ask = |mode: usize, authority: Option<&Authority>| {
        let address = with_options(path, modes[mode], authority.map(|authority| (roots, authority)));
        match protection(kind, &address, &access) {
            Ok(lock) => lock.message,
            Err(error) => {
                assert!(!error.contains(PASSWORD) && error.contains("127.0.0.1"), "{error}");
                error
            }
        }
    };
    let check = |name: &str, cases: &[(usize, Option<&Authority>, &str)]| {
        for (mode, authority, expected) in cases {
            let answer = ask(*mode, *authority);
            assert!(answer.contains(expected), "{name}, {}: {answer}", modes[*mode]);
        }
    };
    let without = "127.0.0.1 has no TLS";
    check(
        "no TLS",
        &[
            (1, None, "not encrypted"),
            (2, None, without),
            (3, None, without),
            (4, Some(&authority), without),
            (4, None, remedy),
        ],
    );
    let (certificate, key) = authority.identity("127.0.0.1", 2099);
    identify(&certificate, &key);
    check(
        "right",
        &[
            (0, None, "not encrypted"),
            (1, None, "TLS 1.3, certificate not checked"),
            (2, Some(&authority), "TLS 1.3, certificate checked, its host not"),
            (2, Some(&stranger), "an authority that is trusted here"),
            (4, Some(&authority), "TLS 1.3, certificate and host checked"),
            (4, Some(&stranger), "an authority that is trusted here"),
            (3, None, "an authority that is trusted here"),
            (4, None, "a file with the certificate of the server's authority"),
        ],
    );
    // Without a mode a named root is not left unused.
    let default = PathBuf::from(format!("{}?{roots}={}", path.display(), authority.file().display()));
    let lock = protection(kind, &default, &access).unwrap();
    assert_eq!(
        (lock.holds, lock.message.contains("certificate and host checked")),
        (Some(true), true),
        "{lock:?}"
    );
    let (certificate, key) = authority.identity("db.example", 2099);
    identify(&certificate, &key);
    check(
        "wrong name",
        &[
            (3, Some(&authority), "certificate checked, its host not"),
            (4, Some(&authority), "is for a different host"),
            (4, Some(&authority), "db.example"),
            (4, Some(&authority), "write the host as the certificate names it"),
        ],
    );
    let (certificate, key) = authority.identity("127.0.0.1", 2020);
    identify(&certificate, &key);
    check(
        "expired",
        &[
            (2, None, "certificate not checked"),
            (3, Some(&authority), "has expired"),
            (4, Some(&authority), "give the server a new certificate"),
        ],
    );
    let (certificate, key) = authority.itself();
    identify(&certificate, &key);
    check(
        "signs itself",
        &[
            (4, Some(&authority), "certificate and host checked"),
            (4, Some(&stranger), "cannot be used (CaUsedAsEndEntity"),
            (4, None, "if that signs itself, name it as the root"),
        ],
    );
    let missing = PathBuf::from(format!("{}?{}&{roots}=/nowhere.crt", path.display(), modes[4]));
    let error = protection(kind, &missing, &access).unwrap_err();
    assert!(error.contains("/nowhere.crt") && error.contains(roots), "{error}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_mode_refuses_what_it_must_on_postgresql() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    assert_modes(POSTGRESQL, &path, |certificate, key| server.identify(certificate, key));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_mode_refuses_what_it_must_on_mariadb() {
    let Some(mut server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    assert_modes(MYSQL, &path, |certificate, key| server.identify(certificate, key));
}

/// A server that says it speaks TLS and does not: only what prefers TLS goes on, in plain text.
#[test]
fn prefer_goes_on_where_tls_cannot_be_spoken() {
    for (mode, expected) in [("prefer", "plain is heard"), ("require", "no TLS with 127.0.0.1")] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                let mut bytes = [0; 1 << 10];
                let count = client.read(&mut bytes).unwrap();
                if count > 8 {
                    client.write_all(b"E\0\0\0\x15Mplain is heard\0\0").unwrap();
                } else {
                    client.write_all(b"S").unwrap();
                    let _hello = client.read(&mut bytes).unwrap();
                    client.write_all(b"HTTP/1.1 400 Bad Request").unwrap();
                }
            }
        });
        let address = PathBuf::from(format!("postgresql://u@127.0.0.1:{port}/d?sslmode={mode}"));
        let error = protection("postgresql", &address, &access()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// The server compares the hash of its certificate, whatever its signature.
#[test]
#[ignore = "long: cargo xtask long"]
fn a_login_is_bound_to_the_certificate() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let bound = |options: &str| protection("postgresql", &with_options(&path, options, None), &access());
    let refused = bound("channel_binding=require").unwrap_err();
    assert!(
        refused.contains("without the channel binding") && refused.contains("channel_binding=prefer"),
        "{refused}"
    );
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384] {
        let (certificate, key) = Authority::new(algorithm).identity("127.0.0.1", 2099);
        server.identify(&certificate, &key);
        for options in ["channel_binding=require", "channel_binding=disable", "sslmode=require"] {
            assert!(bound(options).unwrap().message.starts_with("TLS 1.3"), "{options}");
        }
    }
    // A certificate whose signature has no hash: bound to nothing, as libpq refuses to.
    let (certificate, key) = Authority::new(&rcgen::PKCS_ED25519).identity("127.0.0.1", 2099);
    server.identify(&certificate, &key);
    bound("sslmode=require").unwrap();
    bound("channel_binding=require").unwrap_err();
    // Nothing else passes for it.
    server.log_in_by("trust");
    bound("channel_binding=require").unwrap_err();
}

/// Passes connections on to a port, and keeps what the clients send; the port that it listens on.
fn listen(to: u16, heard: &Arc<Mutex<Vec<Vec<u8>>>>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).unwrap();
            let at = {
                let mut heard = heard.lock().unwrap();
                heard.push(Vec::new());
                heard.len() - 1
            };
            let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let heard = Arc::clone(&heard);
            std::thread::spawn(move || pass(client, server, |bytes| heard.lock().unwrap()[at].extend(bytes)));
            std::thread::spawn(move || pass(from_server, to_client, |_| ()));
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut hear: impl FnMut(&[u8])) {
    let mut piece = [0; 1 << 14];
    while let Ok(count) =
        from.read(&mut piece).and_then(|count| to.write_all(&piece[..count]).map(|()| count))
    {
        hear(&piece[..count]);
        if count == 0 {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// A query that is ended in the middle, by a listener: each connection, that of the request to cancel too, is under TLS from its first
/// bytes on.
fn assert_unheard(kind: &str, path: &Path, port: u16, begins: impl Fn(&[u8]) -> bool, endless: &str) {
    let heard = Arc::default();
    let near = listen(port, &heard);
    let address = path.display().to_string().replace(&port.to_string(), &near.to_string());
    let limits = Limits { timeout: Duration::from_secs(5), max_rows: 1000, ..Limits::default() };
    let engine = Kind::find(kind).unwrap().engine(limits, access());
    let database = opened(&engine, Path::new(&address));
    let outcome = engine.run(&database, endless).outcome;
    assert_eq!(outcome.failure().map(|failure| failure.kind), Some(FailureKind::TooLarge), "{outcome:?}");
    let heard = heard.lock().unwrap();
    // The keeper or the first, that of the query, and that which ends it.
    assert!(heard.len() >= 3, "{}", heard.len());
    for connection in heard.iter() {
        assert!(begins(connection), "{:?}", &connection[..connection.len().min(60)]);
        // A server of several names learns which one is meant (SNI).
        let is_named = connection.windows(9).any(|text| text == b"localhost");
        assert_eq!(is_named, address.contains("localhost"));
        for word in ["SELECT", "sqlgauge", PASSWORD] {
            assert!(!connection.windows(word.len()).any(|text| text == word.as_bytes()), "{word}");
        }
    }
}

/// The first byte of a handshake of TLS.
const HANDSHAKE: u8 = 0x16;

#[test]
#[ignore = "long: cargo xtask long"]
fn a_listener_hears_nothing_of_postgresql() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let authority = Authority::new(&rcgen::PKCS_ECDSA_P256_SHA256);
    let (certificate, key) = authority.identity("localhost", 2099);
    server.identify(&certificate, &key);
    let path = PathBuf::from(path.display().to_string().replace("127.0.0.1", "localhost"));
    let path = with_options(&path, "sslmode=verify-full", Some(("sslrootcert", &authority)));
    let request = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
    let begins = |bytes: &[u8]| bytes.starts_with(&request) && bytes.get(8) == Some(&HANDSHAKE);
    assert_unheard("postgresql", &path, server.port, begins, "SELECT generate_series(1, 100000000)");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_listener_hears_nothing_of_mariadb() {
    let Some(mut server) = MariaDb::start() else { return };
    let path = server.database("club", DDL);
    let authority = Authority::new(&rcgen::PKCS_ECDSA_P256_SHA256);
    let (certificate, key) = authority.identity("127.0.0.1", 2099);
    server.identify(&certificate, &key);
    let path = with_options(&path, "ssl-mode=VERIFY_IDENTITY", Some(("ssl-ca", &authority)));
    let begins = |bytes: &[u8]| bytes.starts_with(&[32, 0, 0, 1]) && bytes.get(36) == Some(&HANDSHAKE);
    assert_unheard("mysql", &path, server.port, begins, "SELECT * FROM seq_1_to_100000000");
}

/// The peer is psql: it logs in by the same password files, and by no other.
#[test]
#[ignore = "long: cargo xtask long"]
fn a_password_file_is_read_as_psql_reads_it() {
    let Some(server) = Server::start() else { return };
    let path = server.database("club", DDL);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pass");
    let escaped = PASSWORD.replace('\\', "\\\\");
    let port = server.port;
    for (mode, text) in [
        (0o600, format!("127.0.0.1:{port}:club:sqlgauge:{escaped}\n")),
        (0o644, format!("127.0.0.1:{port}:club:sqlgauge:{escaped}\n")),
        (0o600, format!("127.0.0.1:{port}:club:sqlgauge:{PASSWORD}\n")),
        (0o600, format!("# first\n\nlocalhost:*:*:*:no\n*:*:cl\\ub:*:{escaped}:rest")),
        (0o600, format!("*:*:*:sqlgauge:wrong-secret\n*:*:*:*:{escaped}\n")),
        (0o600, format!("*:{port}0:*:*:{escaped}\n")),
    ] {
        std::fs::write(&file, &text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let variables = [("PGPASSFILE".to_owned(), Secret(file.display().to_string()))];
        let access = Access { variables: Variables(variables.into()), ..Access::default() };
        let ours = protection("postgresql", &path, &access);
        assert_eq!(ours.is_ok(), server.can_log_in("sqlgauge", "club", &file), "{text}: {ours:?}");
        let error = ours.err().unwrap_or_default();
        assert!(!error.contains("wrong-secret") && !error.contains(PASSWORD), "{error}");
        assert!(mode == 0o600 || error.contains("chmod 600"), "{error}");
    }
}
