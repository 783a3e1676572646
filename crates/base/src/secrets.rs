//! Removes secrets from URLs and from settings such as `password=…`.

use std::borrow::Cow;

/// What stands where something was hidden.
const HIDDEN: &str = "[hidden]";

/// How the names of settings end whose values are secrets.
const SECRET_NAMES: [&str; 9] =
    ["token", "password", "passwd", "pwd", "secret", "apikey", "api_key", "access_key", "encryption_key"];

/// The text with every URL in it cut down to scheme, host and path: user, password, query and fragment may hold a key. Of a
/// setting such as `motherduck_token=…`, wherever it stands, the value is hidden.
///
/// An unusual URL loses more than it must: a password may hold any sign, so all before the last `@` is hidden, and all behind
/// a colon that begins something else than a port.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    match without_settings(text) {
        Cow::Borrowed(text) => without_keys_in_urls(text),
        Cow::Owned(text) => Cow::Owned(without_keys_in_urls(&text).into_owned()),
    }
}

fn without_keys_in_urls(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find("://") else { return Cow::Borrowed(text) };
    let mut output = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(after) = rest.strip_prefix("://") {
        let end = after.find(ends_url).unwrap_or(after.len());
        let (url, behind) = after.split_at(end);
        output.push_str("://");
        push_url(&mut output, url);
        let next = behind.find("://").unwrap_or(behind.len());
        output.push_str(&behind[..next]);
        rest = &behind[next..];
    }
    Cow::Owned(output)
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')')
}

/// What follows `://`.
fn push_url(output: &mut String, url: &str) {
    let path = url.find(['?', '#']).unwrap_or(url.len());
    let (place, query) = url.split_at(path);
    match last_at(url) {
        // The `?` or `#` may be a part of the password.
        Some(at) if at >= path => output.push_str(HIDDEN),
        Some(at) => output.extend([HIDDEN, &place[at..]]),
        None => push_place(output, place),
    }
    let mut signs = query.chars();
    if let (Some(sign), Some(_)) = (signs.next(), signs.next()) {
        output.push(sign);
        output.push_str(HIDDEN);
    }
}

/// Where the last `@` begins, encoded or not.
fn last_at(url: &str) -> Option<usize> {
    url.rfind('@').max(url.rfind("%40"))
}

/// Host, port and path. What is not a port behind a colon may be the password of a user whose host was forgotten.
fn push_place(output: &mut String, place: &str) {
    let host_end = place.find('/').unwrap_or(place.len());
    let brackets =
        if place.starts_with('[') { place[..host_end].find(']').map_or(0, |at| at + 1) } else { 0 };
    let port = [":", "%3A", "%3a"]
        .iter()
        .filter_map(|colon| place[brackets..host_end].find(colon).map(|at| brackets + at + colon.len()))
        .min();
    match port {
        Some(at) if !place[at..host_end].bytes().all(|byte| byte.is_ascii_digit()) => {
            output.extend([&place[..at], HIDDEN]);
        }
        _ => output.push_str(place),
    }
}

/// The text without the values of settings that are secrets.
fn without_settings(text: &str) -> Cow<'_, str> {
    let mut output = String::new();
    let mut end = 0;
    for (at, sign) in text.match_indices(['=', '%']) {
        let equals = if sign == "=" { 1 } else { 3 };
        let is_equals = sign == "=" || text[at..].starts_with("%3D") || text[at..].starts_with("%3d");
        if at < end || !is_equals || !ends_in_secret_name(&text[..at]) {
            continue;
        }
        let length = value_length(&text[at + equals..]);
        if length > 0 {
            output.extend([&text[end..at + equals], HIDDEN]);
            end = at + equals + length;
        }
    }
    if end == 0 { Cow::Borrowed(text) } else { Cow::Owned(output + &text[end..]) }
}

fn ends_in_secret_name(text: &str) -> bool {
    let ends_in = |name: &str| {
        let tail = text.len().checked_sub(name.len()).and_then(|at| text.as_bytes().get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(name.as_bytes()))
    };
    SECRET_NAMES.iter().any(|name| ends_in(name))
}

/// How long the value is that the text begins with.
fn value_length(text: &str) -> usize {
    match text.chars().next().filter(|sign| matches!(sign, '"' | '\'' | '`')) {
        Some(quote) => text[1..].find(quote).map_or(text.len(), |end| end + 2),
        None => text.find(|c| ends_url(c) || matches!(c, '&' | ';')).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_query_and_fragment_are_hidden_and_the_rest_stays() {
        for (text, expected) in [
            ("no url ? here @", "no url ? here @"),
            ("https://h/v1", "https://h/v1"),
            ("http://[::1]:80/v1", "http://[::1]:80/v1"),
            ("postgresql://h:5432/{db_id}", "postgresql://h:5432/{db_id}"),
            ("--judge-url=https://h:8/v1?key=s&x#y", "--judge-url=https://h:8/v1?[hidden]"),
            ("http:https://me:pw@h/a", "http:https://[hidden]@h/a"),
            ("'http://h?k=s' and \"http://g/#s\" end", "'http://h?[hidden]' and \"http://g/#[hidden]\" end"),
            ("a://?b", "a://?[hidden]"),
            ("://", "://"),
            ("x://y://z?k", "x://y://z?[hidden]"),
        ] {
            assert_eq!(without_secrets(text), expected, "{text}");
            assert_eq!(without_secrets(expected), expected, "once more");
        }
    }

    /// Every way to write a password into an address, usual or not, with its signs encoded or not.
    #[test]
    fn no_form_of_address_shows_its_password() {
        let mut forms: Vec<String> = Vec::new();
        for colon in [":", "%3A", "%3a"] {
            for at in ["@", "%40"] {
                forms.push(format!("postgresql://u{colon}PASS{at}h/d"));
                forms.push(format!("mysql://u{colon}1/PASS{at}h:1/d"));
                forms.push(format!("mysql://u{colon}1?PASS{at}h/d"));
                forms.push(format!("mysql://u{colon}1#PASS{at}h/d"));
                forms.push(format!("https://u{colon}1{at}PASS{at}h/d"));
            }
            forms.push(format!("postgresql://u{colon}PASS"));
            forms.push(format!("postgresql://u{colon}PASS/d"));
            forms.push(format!("postgresql://[u{colon}PASS/d"));
        }
        for equals in ["=", "%3D", "%3d"] {
            forms.push(format!("duckdb:md:d?motherduck_token{equals}PASS"));
            forms.push(format!("/here/md:d?saas=1&MOTHERDUCK_TOKEN{equals}PASS&x=1"));
            forms.push(format!("host=h password{equals}PASS user=u"));
            forms.push(format!("duckdb:d?encryption_key{equals}PASS;x"));
            forms.push(format!("user=u password{equals}'a PASS b' end"));
        }
        for form in forms {
            for text in [form.clone(), format!("--db={form}"), format!("the server of `{form}` (is away)")] {
                let output = without_secrets(&text);
                assert!(!output.contains("PASS"), "{output}");
                assert_eq!(without_secrets(&output), output, "once more");
            }
        }
        assert_eq!(
            without_secrets("a token = 5 and tokens=7, password="),
            "a token = 5 and tokens=7, password="
        );
    }
}
