//! TLS by `rustls`: the mode of an address, the check of a server's certificate, and the stream.
//!
//! - The modes are libpq's (PostgreSQL's manual, 34.19) and MySQL's `--ssl-mode`: see [`Mode`] and [`Tls::new`] for the default.
//! - The root certificates are the system's (`rustls-native-certs`): an owner's own authority is among them, and no list grows old here.
//! - Every refusal names the host; [`remedy`] says what to do. No mode above [`Mode::Prefer`] goes on without TLS.

use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion,
    RootCertStore, SignatureScheme,
};

use crate::locks::LockResult;
use crate::server::Broken;
use crate::socket::Stream;

/// What a connection is protected by, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Disable,
    /// TLS where the server has it.
    Prefer,
    /// TLS, with whatever certificate.
    Require,
    /// The certificate is signed by a root.
    VerifyCa,
    /// It is also for the host of the address.
    VerifyFull,
}

const MODES: [Mode; 5] = [Mode::Disable, Mode::Prefer, Mode::Require, Mode::VerifyCa, Mode::VerifyFull];

/// What a kind of server calls these things in an address.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) mode: &'static str,
    /// In the order of [`Mode`].
    pub(crate) modes: [&'static str; 5],
    pub(crate) roots: &'static str,
    /// What to do about a server without TLS.
    pub(crate) no_tls: &'static str,
    /// What to do about a certificate that no root has signed.
    pub(crate) no_root: &'static str,
    /// What to do about a certificate for a different host.
    pub(crate) wrong_host: &'static str,
}

impl Words {
    pub(crate) fn mode(&self, name: &str) -> Result<Mode, String> {
        let at = self.modes.iter().position(|mode| mode.eq_ignore_ascii_case(name));
        at.and_then(|at| MODES.get(at).copied())
            .ok_or_else(|| format!("unknown {} `{name}`: choose from {}", self.mode, self.modes.join(", ")))
    }
}

/// Codes of refusals, see [`remedy`].
const NO_TLS: &str = "no-tls";
const NO_ROOT: &str = "unknown-authority";
const NAME: &str = "wrong-host";
const DATE: &str = "wrong-date";
const OTHER: &str = "tls";

/// What to do about a refusal; `None` for the codes of others.
pub(crate) fn remedy(code: &str, words: &Words) -> Option<&'static str> {
    Some(match code {
        NO_TLS => words.no_tls,
        NO_ROOT => words.no_root,
        NAME => words.wrong_host,
        DATE => "give the server a new certificate, and check the clock of this machine",
        OTHER => {
            "let the server speak TLS 1.2 or 1.3, with a certificate of X.509 version 3; if that signs itself, name it as the root"
        }
        _ => return None,
    })
}

/// How the connections of an address are protected.
#[derive(Debug)]
pub(crate) struct Tls {
    pub(crate) mode: Mode,
    host: String,
    /// Whether the server is on this machine.
    is_near: bool,
    /// A file with root certificates in place of the system's.
    roots: Option<PathBuf>,
    words: &'static Words,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    /// Without a mode everything is checked, unless the server is on this machine and no root is named: there TLS is taken as it comes,
    /// as libpq does. A named root is never left unused (`require` checks it, as in libpq), and a socket needs no TLS.
    pub(crate) fn new(words: &'static Words, host: &str, mode: Option<Mode>, roots: Option<&str>) -> Self {
        let is_socket = host.starts_with('/');
        let is_loopback = || host.parse().map_or(host == "localhost", |ip: IpAddr| ip.is_loopback());
        let is_near = is_socket || is_loopback();
        let mode = match mode {
            _ if is_socket => Mode::Disable,
            Some(Mode::Require) if roots.is_some() => Mode::VerifyCa,
            Some(mode) => mode,
            None if is_near && roots.is_none() => Mode::Prefer,
            None => Mode::VerifyFull,
        };
        let roots = roots.filter(|name| *name != "system").map(PathBuf::from);
        Self { mode, host: host.to_owned(), is_near, roots, words, config: OnceLock::new() }
    }

    /// The same without TLS.
    pub(crate) fn disabled(&self) -> Self {
        Self { mode: Mode::Disable, host: self.host.clone(), config: OnceLock::new(), roots: None, ..*self }
    }

    /// Whether to try again in plain text after that, as both clients do: the server offers a TLS that cannot be spoken here.
    pub(crate) fn goes_on_after(&self, broken: &Broken) -> bool {
        self.mode == Mode::Prefer && matches!(broken, Broken::Refused { code, .. } if code == OTHER)
    }

    /// Whether to go on in plain text with a server that has no TLS.
    pub(crate) fn allow_plain(&self) -> Result<(), Broken> {
        if self.mode <= Mode::Prefer {
            return Ok(());
        }
        let (name, mode) = (self.words.mode, self.words.modes[self.mode as usize]);
        Err(Broken::refused(NO_TLS, &format!("{} has no TLS, and {name} is {mode}", self.host)))
    }

    /// Begins TLS on a stream, up to the deadline.
    pub(crate) fn begin(&self, plain: Box<dyn Stream>, deadline: Instant) -> Result<TlsStream, Broken> {
        let host = ServerName::try_from(self.host.clone())
            .map_err(|_| Broken::refused(NAME, &format!("no certificate is for a host `{}`", self.host)))?;
        let session = ClientConnection::new(self.config()?, host).map_err(|error| self.refusal(&error))?;
        let mut stream = TlsStream { session, stream: plain };
        loop {
            stream.flush()?;
            if !stream.session.is_handshaking() {
                return Ok(stream);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Broken::Late);
            }
            stream.stream.set_patience(left)?;
            if stream.session.read_tls(&mut stream.stream).map_err(Broken::of_read)? == 0 {
                let message = format!("{} ends the connection in the middle of the TLS handshake", self.host);
                return Err(Broken::refused(OTHER, &message));
            }
            if let Err(error) = stream.session.process_new_packets() {
                // The server hears why, if it still listens.
                let _unheard = stream.flush();
                return Err(self.refusal(&error));
            }
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, Broken> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let provider = Arc::new(ring::default_provider());
        let trusted = if self.mode < Mode::VerifyCa { Vec::new() } else { self.roots()? };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Verifier { mode: self.mode, trusted, roots, algorithms };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| self.refusal(&error))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(builder.with_no_client_auth()))))
    }

    fn roots(&self) -> Result<Vec<CertificateDer<'static>>, Broken> {
        let Some(path) = &self.roots else { return Ok(rustls_native_certs::load_native_certs().certs) };
        let unreadable = |what: &str| {
            Broken::refused(NO_ROOT, &format!("{} {}: {what}", self.words.roots, path.display()))
        };
        let roots = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let roots = roots.map_err(|error| unreadable(&error.to_string()))?;
        if roots.is_empty() { Err(unreadable("the file has no certificate")) } else { Ok(roots) }
    }

    /// What a failed handshake says of the host.
    fn refusal(&self, error: &Error) -> Broken {
        use CertificateError as Wrong;
        let host = &self.host;
        let Error::InvalidCertificate(wrong) = error else {
            return Broken::refused(OTHER, &format!("no TLS with {host}: {error}"));
        };
        let (code, what) = match wrong {
            // The second where a different authority has the same name.
            Wrong::UnknownIssuer | Wrong::BadSignature => {
                (NO_ROOT, "is not signed by an authority that is trusted here".to_owned())
            }
            Wrong::Expired | Wrong::ExpiredContext { .. } => (DATE, "has expired".to_owned()),
            Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => (DATE, "is not valid yet".to_owned()),
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
                (NAME, format!("is for a different host ({wrong})"))
            }
            // The name that the check itself has for it, such as `CaUsedAsEndEntity`.
            Wrong::Other(inner) => (OTHER, format!("cannot be used ({inner})")),
            _ => (OTHER, format!("cannot be used ({wrong})")),
        };
        Broken::refused(code, &format!("the certificate of {host} {what}"))
    }

    /// What protects a connection of that session, as `engines check` says it.
    pub(crate) fn lock(&self, session: Option<&Session>) -> LockResult {
        let plain = if self.host.starts_with('/') { "a socket" } else { "not encrypted" };
        let version = session.map_or(plain, |session| session.version);
        let check = match (session, self.mode) {
            (None, _) => "",
            (_, Mode::VerifyFull) => ", certificate and host checked",
            (_, Mode::VerifyCa) => ", certificate checked, its host not",
            _ => ", certificate not checked",
        };
        let is_checked = session.is_some() && self.mode == Mode::VerifyFull;
        let place = if self.is_near {
            "; the server is on this machine".to_owned()
        } else if is_checked {
            String::new()
        } else {
            format!(": write {}={}", self.words.mode, self.words.modes[Mode::VerifyFull as usize])
        };
        LockResult {
            name: "talks to the right server, unheard",
            holds: (is_checked || self.is_near).then_some(true),
            message: format!("{version}{check}{place}"),
        }
    }
}

/// Checks as much of a server's certificate as the mode says.
#[derive(Debug)]
struct Verifier {
    mode: Mode,
    trusted: Vec<CertificateDer<'static>>,
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.mode >= Mode::VerifyCa {
            // The check refuses a certificate that signs itself. Named as a root it is trusted: whoever has its key is the server.
            let is_trusted = self.trusted.iter().any(|root| root == certificate);
            let certificate = ParsedCertificate::try_from(certificate)?;
            if !is_trusted {
                let all = self.algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, between, now, all)?;
            }
            if self.mode == Mode::VerifyFull {
                verify_server_name(&certificate, host)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// What a session of TLS agreed on.
#[derive(Debug)]
pub(crate) struct Session {
    version: &'static str,
    /// The server's, in DER.
    pub(crate) certificate: Vec<u8>,
}

/// A stream under TLS. A read takes one piece off the stream beneath, so that the deadline of the reader holds whatever comes.
#[derive(Debug)]
pub(crate) struct TlsStream {
    session: ClientConnection,
    stream: Box<dyn Stream>,
}

impl TlsStream {
    pub(crate) fn session(&self) -> Session {
        let version = match self.session.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
            _ => "TLS 1.2",
        };
        let first = self.session.peer_certificates().and_then(<[_]>::first);
        Session { version, certificate: first.map(|certificate| certificate.to_vec()).unwrap_or_default() }
    }
}

impl Read for TlsStream {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let is_blocked = |read: &io::Result<usize>| {
            read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        };
        let ready = self.session.reader().read(piece);
        if !is_blocked(&ready) {
            return ready;
        }
        self.session.read_tls(&mut self.stream)?;
        self.session.process_new_packets().map_err(io::Error::other)?;
        self.flush()?;
        let arrived = self.session.reader().read(piece);
        // A part of a record: the reader asks again if there is time.
        if is_blocked(&arrived) { Err(io::ErrorKind::Interrupted.into()) } else { arrived }
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.session.writer().write(bytes)?;
        self.flush()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.stream)?;
        }
        self.stream.flush()
    }
}

impl Stream for TlsStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.stream.set_patience(patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgresql::place::WORDS;

    #[test]
    fn all_is_checked_but_on_this_machine() {
        for (host, name, roots, expected) in [
            ("db.example", None, None, Mode::VerifyFull),
            ("10.0.0.1", None, Some("a"), Mode::VerifyFull),
            ("localhost", None, None, Mode::Prefer),
            ("127.8.0.1", None, None, Mode::Prefer),
            ("::1", None, None, Mode::Prefer),
            ("localhost", None, Some("a"), Mode::VerifyFull),
            ("localhost", None, Some("system"), Mode::VerifyFull),
            ("db.example", Some("prefer"), Some("a"), Mode::Prefer),
            ("db.example", Some("require"), None, Mode::Require),
            ("db.example", Some("require"), Some("a"), Mode::VerifyCa),
            ("db.example", Some("disable"), None, Mode::Disable),
            ("/run/x", Some("verify-full"), None, Mode::Disable),
        ] {
            let mode = name.map(|name| WORDS.mode(name).unwrap());
            let tls = Tls::new(&WORDS, host, mode, roots);
            assert_eq!(tls.mode, expected, "{host} {name:?} {roots:?}");
            assert_eq!(tls.allow_plain().is_ok(), expected <= Mode::Prefer, "{host}");
            let is_near = !matches!(host, "db.example" | "10.0.0.1");
            assert_eq!(tls.lock(None).holds, is_near.then_some(true), "{host}");
        }
        let far = Tls::new(&WORDS, "db.example", Some(Mode::Disable), None);
        assert_eq!(far.lock(None).message, "not encrypted: write sslmode=verify-full");
    }
}
