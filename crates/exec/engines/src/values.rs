//! Ways of writing that engines share.

use sqlgauge_engine::Value;

/// The bytes that hexadecimal digits write.
pub(crate) fn bytes(hex: &str) -> Option<Box<[u8]>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.as_bytes().chunks(2).map(byte).collect()
}

/// A length of time.
pub(crate) fn seconds(micros: i128) -> Value {
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    let text = format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    Value::text(&format!("{} seconds", text.trim_end_matches('0').trim_end_matches('.')))
}
