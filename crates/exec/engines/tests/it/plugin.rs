//! Logins of MySQL 8 against a server that follows the text of MySQL's protocol ("Caching SHA-2", "Authentication Method Mismatch"):
//! the fast path, the whole password over TLS only, and a switch of the plugin in both directions.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use sqlgauge_engine::Limits;
use sqlgauge_engines::{Access, Kind, Secret};

use crate::servers::PASSWORD;

const NATIVE: &str = "mysql_native_password";
const CACHING: &str = "caching_sha2_password";
const SALT: &[u8; 20] = b"abcdefghijklmnopqrst";
/// What the server says to the first query of a client that has logged in.
const WELCOME: &str = "the login is done";

/// What the server does at a login.
#[derive(Clone, Copy)]
struct Script {
    /// The plugin of its greeting, and that of the account.
    plugins: [&'static str; 2],
    /// Whether it has a hash of the password already.
    is_cached: bool,
    has_tls: bool,
}

trait Wire: Read + Write {}
impl<T: Read + Write> Wire for T {}

fn packet(wire: &mut dyn Wire) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    wire.read_exact(&mut head)?;
    let mut body = vec![0; usize::from(head[0]) | usize::from(head[1]) << 8];
    wire.read_exact(&mut body)?;
    Ok((head[3], body))
}

fn send(wire: &mut dyn Wire, sequence: u8, body: &[u8]) -> std::io::Result<()> {
    let length = u8::try_from(body.len()).unwrap();
    wire.write_all(&[&[length, 0, 0, sequence], body].concat())?;
    wire.flush()
}

fn refuse(wire: &mut dyn Wire, sequence: u8, code: u16, text: &str) -> std::io::Result<()> {
    send(wire, sequence, &[&[0xff], &code.to_le_bytes()[..], b"#28000", text.as_bytes()].concat())
}

/// Whether a scramble proves the password to a server that has `SHA(SHA(password))` only.
fn proves<D: Digest>(scramble: &[u8], mixed: impl Fn(&[u8]) -> Vec<u8>) -> bool {
    let stored = D::digest(D::digest(PASSWORD));
    let once: Vec<u8> = scramble.iter().zip(mixed(&stored)).map(|(a, b)| a ^ b).collect();
    D::digest(once) == stored
}

fn is_right(plugin: &str, scramble: &[u8]) -> bool {
    if plugin == NATIVE {
        proves::<Sha1>(scramble, |stored| Sha1::digest([SALT, stored].concat()).to_vec())
    } else {
        proves::<Sha256>(scramble, |stored| Sha256::digest([stored, SALT].concat()).to_vec())
    }
}

/// The scramble in an answer to the greeting: behind 32 bytes, the user and a length.
fn scramble(hello: &[u8]) -> &[u8] {
    let user = 32 + hello[32..].iter().position(|&byte| byte == 0).unwrap();
    &hello[user + 2..][..usize::from(hello[user + 1])]
}

fn serve(mut stream: TcpStream, script: Script, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let [proposal, account] = script.plugins;
    // All abilities, that for TLS is the fourth bit of the second byte.
    let abilities = [0xff, if script.has_tls { 0xff } else { 0xf7 }];
    let greeting = [
        b"\x0a8.4.0\0\x01\0\0\0",
        &SALT[..8],
        &[0],
        &abilities[..],
        &[0x2d, 2, 0, 0xff, 0xff, 21],
        &[0; 10],
        &SALT[8..],
        &[0],
    ];
    send(&mut stream, 0, &[&greeting.concat(), proposal.as_bytes(), &[0]].concat())?;
    let (mut sequence, mut hello) = packet(&mut stream)?;
    let is_encrypted = hello.len() == 32;
    let mut wire: Box<dyn Wire> = if is_encrypted {
        assert_ne!(hello[1] & 8, 0, "a request for TLS says so");
        Box::new(StreamOwned::new(ServerConnection::new(config).unwrap(), stream))
    } else {
        Box::new(stream)
    };
    if is_encrypted {
        (sequence, hello) = packet(&mut *wire)?;
    }
    let mut proof = scramble(&hello).to_vec();
    if proposal != account {
        send(&mut *wire, sequence + 1, &[&[0xfe], account.as_bytes(), &[0], SALT, &[0]].concat())?;
        (sequence, proof) = packet(&mut *wire)?;
    }
    let mut is_right = is_right(account, &proof);
    if account == CACHING && script.is_cached && is_right {
        send(&mut *wire, sequence + 1, &[1, 3])?;
        sequence += 1;
    } else if account == CACHING {
        send(&mut *wire, sequence + 1, &[1, 4])?;
        let whole;
        (sequence, whole) = packet(&mut *wire)?;
        is_right = whole == [PASSWORD.as_bytes(), &[0]].concat();
        assert!(is_encrypted, "the password itself in plain text");
    }
    if !is_right {
        return refuse(&mut *wire, sequence + 1, 1045, "Access denied");
    }
    send(&mut *wire, sequence + 1, &[0, 0, 0, 2, 0, 0, 0])?;
    packet(&mut *wire)?;
    refuse(&mut *wire, 1, 9999, WELCOME)
}

/// What a client is told by a server of that script.
fn answer(script: Script, options: &str, password: &str) -> String {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![cert.der().clone()],
            PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || serve(listener.accept().unwrap().0, script, config));
    let access = Access { password: Some(Secret(password.into())), ..Access::default() };
    let address = PathBuf::from(format!("mysql://u@127.0.0.1:{port}/d?{options}"));
    let engine = Kind::find("mysql").unwrap().engine(Limits::default(), access);
    let error = engine.open(&address).map(drop).unwrap_err().to_string();
    assert!(!error.contains(password), "{error}");
    // It ends early where the client does.
    let _ended = server.join().unwrap();
    error
}

#[test]
fn an_account_logs_in_by_either_plugin() {
    let plain = "the server wants the password itself, and the connection is not encrypted";
    for plugins in
        [[CACHING, CACHING], [NATIVE, CACHING], [CACHING, NATIVE], [NATIVE, NATIVE], ["dialog", CACHING]]
    {
        for (is_cached, has_tls, options) in [
            (true, true, "ssl-mode=REQUIRED"),
            (true, true, "ssl-mode=DISABLED"),
            (true, false, ""),
            (false, true, ""),
            (false, true, "ssl-mode=DISABLED"),
            (false, false, ""),
        ] {
            let script = Script { plugins, is_cached, has_tls };
            let is_plain = !has_tls || options == "ssl-mode=DISABLED";
            let expected = if plugins[1] == CACHING && !is_cached && is_plain { plain } else { WELCOME };
            let error = answer(script, options, PASSWORD);
            assert!(error.contains(expected), "{plugins:?}, {is_cached}, {has_tls}, {options}: {error}");
        }
    }
    let script = Script { plugins: [CACHING, CACHING], is_cached: true, has_tls: true };
    let wrong = answer(script, "", "wrong-secret");
    assert!(wrong.contains("Access denied") && wrong.contains("~/.my.cnf"), "{wrong}");
    let script = Script { plugins: [CACHING, "mysql_clear_password"], ..script };
    let foreign = answer(script, "", PASSWORD);
    assert!(
        foreign.contains("`mysql_clear_password`") && foreign.contains("caching_sha2_password"),
        "{foreign}"
    );
    let script = Script { has_tls: false, ..script };
    assert!(answer(script, "ssl-mode=REQUIRED", PASSWORD).contains("has no TLS"));
}
