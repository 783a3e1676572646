//! The verdict as the JSON object that `verify --json` prints and that a run's items carry.

use serde_json::{Map, Value, json};
use sqlgauge_engine::{ResultSet, Value as Sql};

use crate::verdict::{Report, Verdict};
use sqlgauge_search::literal;

impl Report {
    /// The object without times: the same for the same pair, schema and options.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("verdict", self.verdict.name().into());
        put("stage", self.stage.name().into());
        match &self.verdict {
            Verdict::Equivalent(proof) => {
                put("rules", proof.rules().into());
                put("assumes", proof.assumes().into());
            }
            Verdict::EquivalentUpTo(proof) => {
                put("bound", proof.bound().into());
                put("assumes", proof.assumes().iter().map(|own| own.code()).collect());
            }
            Verdict::Different(found) => {
                let refutation = &found.refutation;
                put("difference", refutation.difference().into());
                if let Some(explanation) = &found.explanation {
                    put("explanation", explanation.as_str().into());
                }
                put("witness", refutation.database().script().into());
                put("left_result", result(refutation.left()));
                put("right_result", result(refutation.right()));
                if !refutation.needs().is_empty() {
                    put("needs", refutation.needs().iter().map(|need| need.name()).collect());
                }
                if let Some(not_kept) = &found.not_kept {
                    put("realistic", not_kept.is_empty().into());
                    if !not_kept.is_empty() {
                        put("not_kept", not_kept.as_slice().into());
                    }
                }
                if refutation.depends_on_clock() {
                    put("depends_on_clock", true.into());
                }
                if let Some(defect) = &found.defect {
                    let rules = defect.proof.rules();
                    put("defect", json!({"rules": rules, "reproduce": defect.reproduce}));
                }
            }
            Verdict::Unknown(unknown) => {
                put("reason", unknown.reason.as_str().into());
                put("message", unknown.message.as_str().into());
                let words = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<String>>().into();
                if !unknown.places.is_empty() {
                    put("places", words(&mut unknown.places.iter().map(ToString::to_string)));
                }
                if !unknown.unexercised.is_empty() {
                    put("unexercised", words(&mut unknown.unexercised.iter().map(ToString::to_string)));
                }
            }
        }
        let sides = ["left", "right"].into_iter().zip(&self.spelled);
        let spelled: Map<String, Value> = sides
            .filter_map(|(side, own)| {
                let own = own.as_ref()?;
                Some((side.to_owned(), json!({"sql": own.sql, "by": own.by})))
            })
            .collect();
        if !spelled.is_empty() {
            object.insert("spelled".to_owned(), spelled.into());
        }
        object
    }

    /// The milliseconds of each stage.
    pub fn times_to_json(&self) -> Value {
        let times = self.times.iter().map(|(stage, time)| {
            let rounded = (time.as_secs_f64() * 1e6).round() / 1e3;
            (stage.name().to_owned(), rounded.into())
        });
        Value::Object(times.collect())
    }
}

/// A result as JSON: `columns` and `rows`. What JSON has no words for stands as SQL would write it.
fn result(rows: &ResultSet) -> Value {
    let cell = |value: &Sql| match value {
        Sql::Null => Value::Null,
        Sql::Integer(integer) => (*integer).into(),
        Sql::Real(real) if real.is_finite() => (*real).into(),
        Sql::Text(_) => value.as_str().map_or_else(|| literal(value).into(), Value::from),
        Sql::Real(_) | Sql::Blob(_) => literal(value).into(),
    };
    let rows_of = rows.rows().map(|row| row.iter().map(cell).collect::<Value>());
    json!({"columns": rows.columns, "rows": rows_of.collect::<Value>()})
}
