//! A transcript in the place of a query: the messages or steps of an agent, as JSON.
//!
//! # Contract
//! - A transcript is a list of objects of which one has a `role` (or `from`), `tool_calls`, an `action` or an `observation`. A list of
//!   texts, or of objects with `sql`, is several answers.
//! - It is read as [`extract_sql`] reads a transcript in a text: messages of the model as they are, each call of a tool as its
//!   arguments, and what comes from elsewhere in between as a result. So a final answer's marker wins, then the last query
//!   that the model wrote or called a tool with.
//! - The other queries that the model wrote or called a tool with are its earlier ones, at most one of a message; of equal ones in a
//!   row the first. Of more than [`MAX_EARLIER`] the last are kept, and the others counted.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::extract::{clear_start, extract_sql, front, sql_of_call, statement_start};
use crate::model::EarlierQueries;

/// What an answer is that is a transcript.
pub(crate) const TRANSCRIPT: &str = "a transcript";

/// Fields of which a transcript has one.
const SIGNS: [&str; 6] = ["role", "from", "tool_calls", "action", "observation", "action_input"];
/// Who speaks for the model.
const MODEL: [&str; 5] = ["assistant", "ai", "gpt", "model", "bot"];
/// Fields of a step with what a query returned.
const RESULTS: [&str; 6] = ["observation", "result", "results", "tool_output", "execution_result", "error"];

/// Whether a value is a transcript, and not several answers.
pub fn is_transcript(value: &Value) -> bool {
    let has_sign = |fields: &Map<String, Value>| SIGNS.iter().any(|sign| fields.contains_key(*sign));
    value.as_array().is_some_and(|steps| {
        steps.iter().all(Value::is_object) && steps.iter().filter_map(Value::as_object).any(has_sign)
    })
}

/// The most earlier queries of an answer that are kept.
const MAX_EARLIER: usize = 16;

/// What a transcript answers.
pub(crate) struct TranscriptAnswer {
    /// Without a query it is what the model said last.
    pub(crate) final_query: String,
    pub(crate) earlier: Option<Box<EarlierQueries>>,
}

impl TranscriptAnswer {
    /// `None` where the value is not a transcript.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let reader = Reader::of(value)?;
        let queries = reader.queries();
        let final_query = extract_sql(&reader.into_text()).sql;
        Some(Self { earlier: earlier_queries(queries, &final_query), final_query })
    }
}

/// The queries of a transcript without the final one.
fn earlier_queries(mut queries: Vec<String>, final_query: &str) -> Option<Box<EarlierQueries>> {
    if let Some(at) = queries.iter().rposition(|query| query == final_query) {
        queries.remove(at);
    }
    let omitted = queries.len().saturating_sub(MAX_EARLIER);
    let last = queries.split_off(omitted);
    (!last.is_empty()).then(|| Box::new(EarlierQueries { last, omitted }))
}

/// A transcript as text, with the tags that [`extract_sql`] reads; without a query what the model said last.
pub(crate) fn as_text(value: &Value) -> Option<String> {
    Reader::of(value).map(Reader::into_text)
}

#[derive(Default)]
struct Reader {
    /// The transcript as text.
    text: String,
    /// What the model said last.
    last_words: String,
    /// Words of the model and queries of its calls, in their order.
    sayings: Vec<String>,
}

impl Reader {
    /// What a transcript says; `None` where the value is not one.
    fn of(value: &Value) -> Option<Self> {
        if !is_transcript(value) {
            return None;
        }
        let mut reader = Self::default();
        value.as_array()?.iter().filter_map(Value::as_object).for_each(|step| reader.take(step));
        Some(reader)
    }

    fn into_text(self) -> String {
        if statement_start(&self.text).is_some() { self.text } else { self.last_words }
    }

    /// The query of each saying that has one.
    fn queries(&self) -> Vec<String> {
        let sayings = self.sayings.iter().filter(|saying| clear_start(saying).is_some());
        let queries = sayings.map(|saying| extract_sql(saying).sql);
        let mut queries: Vec<String> = queries.filter(|sql| front(sql).is_some()).collect();
        queries.dedup();
        queries
    }

    fn take(&mut self, step: &Map<String, Value>) {
        let speaker = ["role", "from"].iter().find_map(|name| step.get(*name)?.as_str());
        if speaker.is_some_and(|name| !MODEL.iter().any(|model| name.eq_ignore_ascii_case(model))) {
            return self.take_result();
        }
        for name in ["content", "value", "text"] {
            self.take_content(step.get(name));
        }
        let calls = step.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        calls.filter_map(Value::as_object).for_each(|call| self.take_call(call));
        if speaker.is_none() {
            self.take_call(step);
        }
        if RESULTS.iter().any(|name| step.get(*name).is_some_and(|value| !value.is_null())) {
            self.take_result();
        }
    }

    /// The words of a message: a text, or blocks of which each is a text, a call or a result.
    fn take_content(&mut self, content: Option<&Value>) {
        match content {
            Some(Value::String(text)) => self.take_words(text),
            Some(Value::Array(blocks)) => {
                for block in blocks.iter().filter_map(Value::as_object) {
                    match block.get("type").and_then(Value::as_str) {
                        Some("tool_result") => self.take_result(),
                        Some("tool_use" | "function_call") => self.take_call(block),
                        _ => self.take_content(block.get("text").filter(|text| text.is_string())),
                    }
                }
            }
            _ => {}
        }
    }

    fn take_words(&mut self, words: &str) {
        if !words.trim().is_empty() {
            words.trim().clone_into(&mut self.last_words);
            let _ = writeln!(self.text, "{words}");
            self.sayings.push(words.to_owned());
        }
    }

    /// A call, where its arguments hold SQL. As JSON without `<`, so that nothing in a literal reads as a tag.
    fn take_call(&mut self, call: &Map<String, Value>) {
        if let Some(sql) = sql_of_call(call) {
            let call = serde_json::json!({ "sql": sql }).to_string().replace('<', "\\u003c");
            let _ = writeln!(self.text, "<tool_call>{call}</tool_call>");
            self.sayings.push(sql);
        }
    }

    /// Queries before it are drafts; what it says is no query of the model.
    fn take_result(&mut self) {
        self.text.push_str("<observation></observation>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn final_query(value: &Value) -> Option<String> {
        TranscriptAnswer::of(value).map(|answer| answer.final_query)
    }

    const RIGHT: &str = "SELECT name FROM emp WHERE dept = 'y'";

    #[test]
    fn the_final_query_of_a_transcript_counts() {
        for text in [
            // A final answer's marker.
            r#"[{"role": "user", "content": "SELECT 0 FROM x?"}, {"role": "assistant", "content": "<sql>SELECT * FROM emp</sql>"},
                {"role": "user", "content": "<observation>3</observation>"},
                {"role": "assistant", "content": "<solution>SELECT name FROM emp WHERE dept = 'y'</solution>"}]"#,
            // The last call of a tool.
            r#"[{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "sql", "arguments": "{\"query\": \"SELECT * FROM emp\"}"}}]},
                {"role": "tool", "content": "SELECT 9 FROM emp"},
                {"role": "assistant", "tool_calls": [{"function": {"name": "sql", "arguments": {"query": "SELECT name FROM emp WHERE dept = 'y'"}}}, {"function": {"name": "close", "arguments": "{}"}}]},
                {"role": "tool", "content": "Bob"}, {"role": "assistant", "content": "It is Bob."}]"#,
            r#"[{"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "sql", "input": {"sql": "SELECT name FROM emp WHERE dept = 'y'"}}]},
                {"role": "user", "content": [{"type": "tool_result", "content": "Bob"}]}]"#,
            // The last words of the model.
            r#"[{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "```sql\nSELECT name FROM emp WHERE dept = 'y'\n```"}]"#,
            // Steps.
            r#"[{"thought": "look", "action": "sql_db_query", "action_input": "SELECT * FROM emp", "observation": "3 rows"},
                {"action": "sql_db_query", "action_input": {"query": "SELECT name FROM emp WHERE dept = 'y'"}, "observation": "Bob"},
                {"action": "Final Answer", "action_input": "Bob"}]"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(final_query(&value).as_deref(), Some(RIGHT), "{text}");
        }
    }

    #[test]
    fn earlier_queries_are_those_before_the_final_one() {
        let call = |sql: &str| serde_json::json!({"action": "sql", "action_input": sql, "observation": "3"});
        let says = |words: &str| serde_json::json!({"role": "assistant", "content": words});
        let many: Vec<Value> = (0..20).map(|at| call(&format!("SELECT {at} FROM emp"))).collect();
        for (steps, first, count, omitted) in [
            (
                vec![call("SELECT 1 FROM a"), call("SELECT 2 FROM a;"), says("```sql\nSELECT 2 FROM a\n```")],
                "SELECT 1 FROM a",
                1,
                0,
            ),
            (vec![says("I select from a."), call("SELECT 1 FROM a"), says("It is 3.")], "", 0, 0),
            (
                vec![call("SELECT 1 FROM a"), call("SELECT 2 FROM a"), call("SELECT 1 FROM a")],
                "SELECT 1 FROM a",
                2,
                0,
            ),
            (many, "SELECT 3 FROM emp", MAX_EARLIER, 3),
        ] {
            let earlier = TranscriptAnswer::of(&Value::Array(steps)).unwrap().earlier.unwrap_or_default();
            assert_eq!(earlier.last.first().map_or("", String::as_str), first);
            assert_eq!((earlier.last.len(), earlier.omitted), (count, omitted), "{earlier:?}");
        }
    }

    #[test]
    fn several_answers_and_words_alone_are_told_apart() {
        for text in [
            r#"["SELECT 1"]"#,
            r#"[{"sql": "SELECT 1", "weight": 1}]"#,
            "[]",
            "{}",
            r#"[{"role": "user"}, 1]"#,
        ] {
            assert_eq!(final_query(&serde_json::from_str(text).unwrap()), None, "{text}");
        }
        let words = r#"[{"role": "assistant", "content": "I look."}, {"role": "assistant", "content": "It cannot be answered."}]"#;
        assert_eq!(final_query(&serde_json::from_str(words).unwrap()).unwrap(), "It cannot be answered.");
    }
}
