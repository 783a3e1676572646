//! Numbers in texts, and texts of numbers, as SQLite has them.

use super::date::{is_space, trimmed};

/// The number that a text is, white space around it aside.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let text = trimmed(text);
    let blanks = text.iter().rev().take_while(|&&byte| is_space(byte)).count();
    let text = std::str::from_utf8(&text[..text.len() - blanks]).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Rust reads `inf` and `nan` too.
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| is_number)
}

/// A number with that many digits behind the point, as `%.3f` of SQLite writes it: of eighteen digits, a half is rounded
/// up.
pub(super) fn fixed(value: f64, places: usize) -> String {
    let (negative, digits, exponent) = decimal(value, 18);
    let (whole, behind) = (exponent + 1, i32::try_from(places).unwrap_or(0));
    let Ok(digit_count) = usize::try_from(whole + behind) else { return format!("0.{}", "0".repeat(places)) };
    let (digits, grown) = half_up(&digits, digit_count);
    // As many digits as belong behind the point, and one before it at least.
    let whole = whole + i32::from(grown);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let text = format!("{}{digits}", zeros(1 - whole));
    let text = format!("{text}{}", zeros(whole.max(1) + behind - i32::try_from(text.len()).unwrap_or(0)));
    let (before, behind) = text.split_at(usize::try_from(whole.max(1)).unwrap_or(1));
    format!("{}{before}.{behind}", if negative { "-" } else { "" })
}

/// A Julian day as `%.16g` writes it: sixteen digits, a half rounded up, without zeros at the end.
pub(super) fn general(value: f64) -> String {
    const DIGITS: usize = 16;
    let (negative, digits, exponent) = decimal(value, 26);
    // What is beyond the next digit is cut off.
    let (digits, grown) = half_up(&digits[..=DIGITS], DIGITS);
    let (digits, exponent) = (digits.trim_end_matches('0'), exponent + i32::from(grown));
    let sign = if negative { "-" } else { "" };
    let point = |text: &str, at: usize| {
        let text = format!("{text:0<at$}");
        let (before, behind) = text.split_at(at);
        if behind.is_empty() { before.to_owned() } else { format!("{before}.{behind}") }
    };
    match usize::try_from(exponent) {
        Ok(before) if before < DIGITS => format!("{sign}{}", point(digits, before + 1)),
        Err(_) if digits.is_empty() => "0".to_owned(),
        Err(_) if exponent >= -4 => {
            let zeros = usize::try_from(-exponent).unwrap_or(0);
            format!("{sign}{}", point(&format!("{}{digits}", "0".repeat(zeros)), 1))
        }
        _ => format!("{sign}{}e{exponent:+03}", point(digits, 1)),
    }
}

/// Sign, digits and decimal exponent of the first of them.
fn decimal(value: f64, count: usize) -> (bool, String, i32) {
    let text = format!("{value:.places$e}", places = count - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.chars().filter(char::is_ascii_digit).collect();
    (value < 0.0, digits, exponent.parse().unwrap_or(0))
}

/// The first digits, rounded by the one behind them; whether there is one more in front.
fn half_up(digits: &str, count: usize) -> (String, bool) {
    let Some(next) = digits.as_bytes().get(count) else { return (digits.to_owned(), false) };
    let prefix = &digits[..count];
    if *next < b'5' {
        return (prefix.to_owned(), false);
    }
    let nines = prefix.bytes().rev().take_while(|&digit| digit == b'9').count();
    let (head, zeros) = (&prefix[..prefix.len() - nines], "0".repeat(nines));
    match head.as_bytes().split_last() {
        Some((last, head)) => {
            let head = String::from_utf8_lossy(head);
            (format!("{head}{}{zeros}", char::from(last + 1)), false)
        }
        None => (format!("1{zeros}"), true),
    }
}
