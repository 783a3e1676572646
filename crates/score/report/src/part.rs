//! The part of its benchmark that a run scored, so that its scores are not taken for those of the whole.

use serde::Deserialize;
use sqlgauge_base::verb_for;
use sqlgauge_run::Manifest;

use crate::words::{grouped, many};

/// The option of a run that records the part.
const SUBSET: &str = "subset";

/// The role of the benchmark that was answered, where its evolved form is scored.
const ANSWERS_TO: &str = "answers_to";
const OLD_ANSWERS: &str =
    "The answers are to the original schema: the systems were not asked again after the change.";

/// Databases that the sentence names.
const NAMED: usize = 5;

/// The part as `score` records it.
#[derive(Deserialize)]
struct Part {
    db_id: Vec<String>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    ids_are: Option<String>,
    #[serde(rename = "where")]
    conditions: Vec<String>,
    limit: Option<usize>,
    seed: u64,
    #[serde(default)]
    missing_databases: Vec<String>,
    /// Questions of the whole benchmark; not in runs of an earlier version.
    #[serde(default)]
    of: Option<usize>,
}

/// The part in words, without a full stop: `a part of the benchmark: 222 questions that DAIL failed (ex@1 in runs/dail); the benchmark has 1,034`.
/// `None` where the run scored all questions.
pub fn part(manifest: &Manifest) -> Option<String> {
    let part = Part::deserialize(manifest.options.get(SUBSET)?).ok()?;
    let mut clauses = vec![many(manifest.examples, "question")];
    match part.db_id.as_slice() {
        [] => {}
        names if names.len() <= NAMED => clauses.push(format!("about {}", names.join(", "))),
        names => clauses.push(format!("about {} databases", names.len())),
    }
    if let Some(ids) = &part.ids {
        let listed = || format!("of a list of {}", many(ids.len(), "id"));
        clauses.push(part.ids_are.clone().unwrap_or_else(listed));
    }
    if !part.conditions.is_empty() {
        clauses.push(format!("with {}", part.conditions.join(", ")));
    }
    let mut rest = String::new();
    if part.limit.is_some() {
        rest = format!(", drawn with seed {}", part.seed);
    }
    if let Some(all) = part.of {
        rest = format!("{rest}; the benchmark has {}", grouped(all));
    }
    if !part.missing_databases.is_empty() {
        let missing = many(part.missing_databases.len(), "database");
        let verb = verb_for(&part.missing_databases.len(), ["has", "have"]);
        rest = format!("{rest}; {missing} {verb} no file");
    }
    Some(format!("a part of the benchmark: {}{rest}", clauses.join(" ")))
}

/// What a reader must know before the scores, in sentences: the part of the benchmark, and that answers are old. `None` for a run of the
/// whole benchmark by answers to it.
pub(crate) fn preface(manifest: &Manifest) -> Option<String> {
    let part = part(manifest).map(|part| format!("The scores are those of {part}."));
    let is_old = manifest.inputs.iter().any(|input| input.role == ANSWERS_TO);
    let old = is_old.then(|| OLD_ANSWERS.to_owned());
    let sentences: Vec<String> = part.into_iter().chain(old).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(subset: Option<Value>) -> Option<String> {
        let options = subset.map_or_else(|| json!({}), |subset| json!({ SUBSET: subset }));
        let manifest = json!({
            "tool_version": "0", "engine": "SQLite", "command": [], "metrics": [], "systems": [], "inputs": [],
            "options": options, "examples": 14,
        });
        part(&serde_json::from_value(manifest).unwrap())
    }

    #[test]
    fn a_run_of_the_whole_benchmark_has_no_such_sentence() {
        assert_eq!(said(None), None);
    }

    #[test]
    fn what_was_asked_for_is_said() {
        let subset = json!({"db_id": ["pets_1"], "ids": ["1", "2"], "ids_are": "that DAIL failed (ex@1 in old)", "where": [], "limit": null, "seed": 0});
        assert_eq!(
            said(Some(subset)).unwrap(),
            "a part of the benchmark: 14 questions about pets_1 that DAIL failed (ex@1 in old)"
        );
        let subset = json!({"db_id": [], "ids": null, "where": ["hardness=extra"], "limit": 20, "seed": 3, "of": 1034});
        assert_eq!(
            said(Some(subset)).unwrap(),
            "a part of the benchmark: 14 questions with hardness=extra, drawn with seed 3; the benchmark has 1,034"
        );
    }
}
