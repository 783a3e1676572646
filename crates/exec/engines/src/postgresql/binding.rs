//! The channel binding `tls-server-end-point` (RFC 5929, 4.1): a hash of the server's certificate.

use sha2::{Digest, Sha256, Sha384, Sha512};

/// Signature algorithms with SHA-384, then with SHA-512, as DER: of RSA (RFC 4055) and of ECDSA (RFC 5758).
const SHA384: [&[u8]; 2] = [b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c", b"\x2a\x86\x48\xce\x3d\x04\x03\x03"];
const SHA512: [&[u8]; 2] = [b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d", b"\x2a\x86\x48\xce\x3d\x04\x03\x04"];
/// Those with SHA-256, and with MD5 or SHA-1, in place of which RFC 5929 takes SHA-256.
const SHA256: [&[u8]; 5] = [
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x02",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05",
    b"\x2a\x86\x48\xce\x3d\x04\x01",
];

/// The hash of a certificate in DER by the hash of its signature; `None` for a signature that names none, such as Ed25519's.
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OBJECT IDENTIFIER, … }, … }
    let (inside, _) = element(certificate, 0x30)?;
    let (_, behind) = element(inside, 0x30)?;
    let (algorithm, _) = element(behind, 0x30)?;
    let (name, _) = element(algorithm, 0x06)?;
    if SHA256.contains(&name) {
        Some(Sha256::digest(certificate).to_vec())
    } else if SHA384.contains(&name) {
        Some(Sha384::digest(certificate).to_vec())
    } else if SHA512.contains(&name) {
        Some(Sha512::digest(certificate).to_vec())
    } else {
        None
    }
}

/// What is in the first element of that tag, and what is behind it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[first, short], rest) = der.split_first_chunk()?;
    let width = usize::from(short).saturating_sub(0x80);
    let (length, rest) = rest.split_at_checked(width).filter(|_| width <= 3)?;
    let length = if short < 0x80 {
        usize::from(short)
    } else {
        length.iter().fold(0, |all, &byte| all << 8 | usize::from(byte))
    };
    (first == tag).then(|| rest.split_at_checked(length))?
}
