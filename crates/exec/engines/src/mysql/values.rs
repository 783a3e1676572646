//! Values of the server's binary format, up to the server's own equality.

use sqlgauge_engine::Value;

use super::bytes::Packet;
use crate::json;

/// What is known of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    kind: u8,
    is_unsigned: bool,
    is_binary: bool,
    is_json: bool,
}

const BINARY: u64 = 63;
const UNSIGNED: u64 = 1 << 5;

impl Column {
    /// Reads the definition of a column; MariaDB says there which are JSON.
    pub(super) fn read(packet: &[u8], is_extended: bool) -> Option<Self> {
        let mut packet = Packet(packet);
        for _ in 0..4 {
            packet.text()?;
        }
        let name = String::from_utf8_lossy(packet.text()?).into_owned();
        packet.text()?;
        let extension = if is_extended { packet.text()? } else { &[] };
        packet.counted()?;
        let character_set = packet.number(2)?;
        packet.number(4)?;
        let kind = u8::try_from(packet.number(1)?).ok()?;
        let flags = packet.number(2)?;
        Some(Self {
            name,
            kind,
            is_unsigned: flags & UNSIGNED != 0,
            is_binary: character_set == BINARY,
            is_json: kind == 0xf5 || has_format(extension, b"json"),
        })
    }
}

/// Whether pairs of a kind and a text hold that format.
fn has_format(extension: &[u8], format: &[u8]) -> bool {
    let mut rest = Packet(extension);
    while let (Some(kind), Some(text)) = (rest.number(1), rest.text()) {
        if kind == 1 && text == format {
            return true;
        }
    }
    false
}

/// The values of a row, `None` where the packet is no row of those columns.
///
/// - `DECIMAL` is exact; integers, `YEAR` and `BIT` are integers; `FLOAT` and `DOUBLE` are floats, as the server computes with them.
/// - A `DATE` equals the `DATETIME` of its midnight. A `TIME` is its text.
/// - JSON is compared by value: keys sorted, numbers as numbers.
/// - Text is its bytes in UTF-8, whatever the collation; binary strings are bytes.
pub(super) fn row(packet: &[u8], columns: &[Column]) -> Option<Vec<Value>> {
    let mut packet = Packet(packet);
    packet.take(1)?;
    let nulls = packet.take((columns.len() + 9) / 8)?;
    let is_null = |at: usize| nulls.get((at + 2) / 8).is_none_or(|byte| byte >> ((at + 2) % 8) & 1 == 1);
    let value = |(at, column)| if is_null(at) { Some(Value::Null) } else { value(&mut packet, column) };
    columns.iter().enumerate().map(value).collect()
}

fn value(packet: &mut Packet<'_>, column: &Column) -> Option<Value> {
    Some(match column.kind {
        1 => integer(packet, 1, column)?,
        2 | 13 => integer(packet, 2, column)?,
        3 | 9 => integer(packet, 4, column)?,
        8 => integer(packet, 8, column)?,
        4 => real(f64::from(f32::from_bits(u32::try_from(packet.number(4)?).ok()?))),
        5 => real(f64::from_bits(packet.number(8)?)),
        6 => Value::Null,
        7 | 10 | 12 | 14 => Value::text(&moment(packet)?),
        11 => Value::text(&time(packet)?),
        0 | 0xf6 => {
            let text = packet.text()?;
            std::str::from_utf8(text)
                .ok()
                .and_then(Value::decimal)
                .unwrap_or_else(|| Value::Text(text.into()))
        }
        16 => bits(packet.text()?),
        _ => {
            let text = packet.text()?;
            let json = || json::canonical(std::str::from_utf8(text).ok()?);
            match column {
                Column { is_json: true, .. } => {
                    json().map_or_else(|| Value::Text(text.into()), |json| Value::text(&json))
                }
                Column { is_binary: true, .. } => Value::Blob(text.into()),
                _ => Value::Text(text.into()),
            }
        }
    })
}

fn integer(packet: &mut Packet<'_>, bytes: usize, column: &Column) -> Option<Value> {
    let number = packet.number(bytes)?;
    if column.is_unsigned || column.kind == 13 {
        return Value::decimal(&number.to_string());
    }
    let unused = 64 - 8 * u32::try_from(bytes).ok()?;
    Some(Value::Integer((number << unused).cast_signed() >> unused))
}

fn real(float: f64) -> Value {
    if float.is_nan() { Value::Null } else { Value::Real(float) }
}

fn bits(bytes: &[u8]) -> Value {
    let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    Value::decimal(&number.to_string()).unwrap_or(Value::Null)
}

fn moment(packet: &mut Packet<'_>) -> Option<String> {
    let length = packet.number(1)?;
    let mut part = |bytes, is_there: bool| if is_there { packet.number(bytes) } else { Some(0) };
    let (year, month, day) = (part(2, length >= 4)?, part(1, length >= 4)?, part(1, length >= 4)?);
    let (hour, minute, second) = (part(1, length >= 7)?, part(1, length >= 7)?, part(1, length >= 7)?);
    let micros = part(4, length >= 11)?;
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hour, minute, second, micros) == (0, 0, 0, 0) {
        return Some(date);
    }
    Some(format!("{date} {hour:02}:{minute:02}:{second:02}{}", fraction(micros)))
}

fn time(packet: &mut Packet<'_>) -> Option<String> {
    let length = packet.number(1)?;
    let mut part = |bytes, is_there: bool| if is_there { packet.number(bytes) } else { Some(0) };
    let (is_negative, days) = (part(1, length >= 8)? == 1, part(4, length >= 8)?);
    let (hour, minute, second) = (part(1, length >= 8)?, part(1, length >= 8)?, part(1, length >= 8)?);
    let micros = part(4, length >= 12)?;
    let sign = if is_negative { "-" } else { "" };
    Some(format!("{sign}{:02}:{minute:02}:{second:02}{}", days * 24 + hour, fraction(micros)))
}

fn fraction(micros: u64) -> String {
    if micros == 0 { String::new() } else { format!(".{micros:06}").trim_end_matches('0').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: u8) -> Column {
        Column { name: String::new(), kind, is_unsigned: false, is_binary: false, is_json: false }
    }

    fn of(column: Column, bytes: &[u8]) -> Option<Value> {
        let packet = [&[0, 0], bytes].concat();
        row(&packet, &[column])?.pop()
    }

    #[test]
    fn values_are_equal_as_the_server_has_them_equal() {
        let unsigned = Column { is_unsigned: true, ..column(8) };
        for (column, bytes, expected) in [
            (column(1), &[0xff][..], Value::Integer(-1)),
            (Column { is_unsigned: true, ..column(1) }, &[0xff], Value::Integer(255)),
            (column(3), &[0, 0, 0, 0x80], Value::Integer(-2_147_483_648)),
            (unsigned, &[0xff; 8], Value::decimal("18446744073709551615").unwrap()),
            (column(13), &[0xe4, 7], Value::Integer(2020)),
            (column(4), &[0, 0, 0xc0, 0x3f], Value::Real(1.5)),
            (column(0xf6), b"\x040.10", Value::decimal("0.1").unwrap()),
            (column(0xf6), b"\x042.00", Value::Integer(2)),
            (column(16), &[2, 1, 0], Value::Integer(256)),
            (column(12), &[4, 0xe4, 7, 1, 2], Value::text("2020-01-02")),
            (column(12), &[7, 0xe4, 7, 1, 2, 3, 4, 5], Value::text("2020-01-02 03:04:05")),
            (
                column(12),
                &[11, 0xe4, 7, 1, 2, 0, 0, 0, 0x20, 0xa1, 7, 0],
                Value::text("2020-01-02 00:00:00.5"),
            ),
            (column(11), &[8, 1, 1, 0, 0, 0, 2, 3, 4], Value::text("-26:03:04")),
            (column(11), &[0], Value::text("00:00:00")),
            (column(0xfd), b"\x02a ", Value::text("a ")),
            (Column { is_binary: true, ..column(0xfc) }, &[1, 0], Value::Blob([0].into())),
            (
                Column { is_json: true, ..column(0xfc) },
                b"\x0f{\"b\":1,\"a\":1.0}",
                Value::text(r#"{"a":1,"b":1}"#),
            ),
        ] {
            assert_eq!(of(column.clone(), bytes), Some(expected), "{column:?}");
            assert_eq!(of(column, &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(row(&[0, 4], &[column(3)]), Some(vec![Value::Null]));
        assert_eq!(row(&[0], &[column(3)]), None);
    }
}
