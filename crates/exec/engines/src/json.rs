//! JSON by value.

use serde_json::Value as Json;

/// The text in one way of writing: keys sorted, `1.0` is `1`. `None` for what is not JSON.
pub(crate) fn canonical(text: &str) -> Option<String> {
    serde_json::from_str(text).ok().map(|json| sorted(json).to_string())
}

fn sorted(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        Json::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        // 1.0 is 1.
        Json::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                (float as i64).into()
            }
            _ => Json::Number(number),
        },
        other => other,
    }
}
