//! The marks that models and agents put around a query: one table, with what each means and who writes or reads it so.
//!
//! `docs/reference/extraction.md` is this table as a page.

/// What a marker says about the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkerRule {
    /// Holds thoughts.
    Thinking,
    /// Holds the final answer.
    Final,
    /// Holds a query: the answer, unless a result or a final answer follows.
    Query,
    /// Holds what a query returned.
    Result,
    /// Holds code.
    Fence,
    /// Begins another question.
    Question,
    /// Begins words about the query.
    Tail,
}

/// How a marker is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerForm {
    /// `<name>` or `<name …>`, up to `</name>`; letter case does not count.
    Tags(&'static [&'static str]),
    /// What opens and what closes it.
    Pairs(&'static [(&'static str, &'static str)]),
    /// A colon behind one of the last words. With first words, one of them stands before it, or before `SQL` before it.
    Label {
        /// The words before; any if there are none.
        first: &'static [&'static str],
        /// The word before the colon.
        last: &'static [&'static str],
    },
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Marker {
    /// What it says.
    pub rule: MarkerRule,
    /// How it is written.
    pub form: MarkerForm,
    /// Who writes or reads it so.
    pub source: &'static str,
}

const fn marker(rule: MarkerRule, form: MarkerForm, source: &'static str) -> Marker {
    Marker { rule, form, source }
}

/// All markers, from the outside in.
pub const MARKERS: &[Marker] = &[
    marker(
        MarkerRule::Thinking,
        MarkerForm::Tags(&["think", "thinking", "reasoning", "thought", "scratchpad"]),
        "DeepSeek-R1, Qwen3, SkyRL-SQL, prompts that ask for reasoning",
    ),
    marker(
        MarkerRule::Thinking,
        MarkerForm::Pairs(&[
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("[THINK]", "[/THINK]"),
            ("\u{25c1}think\u{25b7}", "\u{25c1}/think\u{25b7}"),
        ]),
        "Sky-T1 and OpenThoughts, Magistral, Kimi",
    ),
    marker(
        MarkerRule::Final,
        MarkerForm::Tags(&["solution", "answer", "final_answer", "final_sql", "final_query", "final"]),
        "SkyRL-SQL (`skyrl_gym/envs/sql/utils.py`), rewards in the manner of DeepSeek-R1",
    ),
    marker(
        MarkerRule::Final,
        MarkerForm::Pairs(&[
            ("\\boxed{", "}"),
            ("<|begin_of_solution|>", "<|end_of_solution|>"),
            ("<|channel|>final<|message|>", "<|return|>"),
        ]),
        "models that were trained on mathematics (the last `\\boxed` counts), Sky-T1, gpt-oss",
    ),
    marker(
        MarkerRule::Final,
        MarkerForm::Label { first: FINAL_FIRST, last: FINAL_LAST },
        "ReAct agents (`Final Answer:`), agents that repair their queries",
    ),
    marker(
        MarkerRule::Query,
        MarkerForm::Tags(&[
            "sql",
            "query",
            "sql_query",
            "tool_call",
            "tool_use",
            "function_call",
            "function_calls",
            "invoke",
        ]),
        "SkyRL-SQL (`<sql>`), tool calls of Qwen, Hermes and Claude as text",
    ),
    marker(
        MarkerRule::Query,
        MarkerForm::Pairs(&[("<|python_tag|>", "<|eom_id|>")]),
        "tool calls of Llama 3 as text",
    ),
    marker(
        MarkerRule::Query,
        MarkerForm::Label { first: &["action"], last: &["input"] },
        "ReAct agents (LangChain's SQL agent)",
    ),
    marker(
        MarkerRule::Query,
        MarkerForm::Label { first: &[], last: &["action", "sqlquery", "assistant"] },
        "Spider 2.0's agent (`spider_agent/agent/action.py`), LangChain's `SQLDatabaseChain`",
    ),
    marker(
        MarkerRule::Result,
        MarkerForm::Tags(&[
            "observation",
            "tool_response",
            "tool_result",
            "tool_output",
            "function_response",
            "function_results",
            "execution_result",
            "interpreter",
        ]),
        "SkyRL-SQL (`<observation>`), Qwen and Hermes (`<tool_response>`), ReTool",
    ),
    marker(
        MarkerRule::Result,
        MarkerForm::Label { first: &[], last: &["observation", "sqlresult", "user", "human", "tool"] },
        "ReAct agents, LangChain's `SQLDatabaseChain` (it stops at `SQLResult:`), llama_index (`DefaultSQLParser` cuts there)",
    ),
    marker(
        MarkerRule::Result,
        MarkerForm::Label {
            first: &["sql", "query", "execution", "tool", "function", "action"],
            last: &["result", "results", "output", "response"],
        },
        "transcripts of agents as text",
    ),
    marker(
        MarkerRule::Fence,
        MarkerForm::Pairs(&[("```", "```"), ("~~~", "~~~"), ("'''", "'''"), ("\"\"\"", "\"\"\"")]),
        "Markdown; three apostrophes: llama_index#15235; three quotes: Spider 2.0's agent",
    ),
    marker(
        MarkerRule::Question,
        MarkerForm::Label { first: &["next", "new", "user"], last: &["question"] },
        "transcripts and prompts with several questions",
    ),
    marker(
        MarkerRule::Question,
        MarkerForm::Label { first: &[], last: &["question"] },
        "models that go on with the next example of their prompt (langchain#12295)",
    ),
    marker(
        MarkerRule::Tail,
        MarkerForm::Label { first: &[], last: TAIL_LAST },
        "chat answers, LangChain's `SQLDatabaseChain` (`Answer:`)",
    ),
];

const FINAL_FIRST: &[&str] =
    &["final", "revised", "corrected", "correct", "fixed", "updated", "refined", "rewritten"];
const FINAL_LAST: &[&str] = &["sql", "query", "answer", "statement", "version", "solution"];

/// Words that begin a line or a phrase behind the SQL; before a colon they are no SQL anywhere.
pub(super) const TAIL_LAST: &[&str] = &[
    "explanation",
    "note",
    "question",
    "answer",
    "output",
    "result",
    "sql",
    "hint",
    "evidence",
    "schema",
    "comment",
    "observation",
    "sqlresult",
    "sqlquery",
    "thought",
    "reasoning",
    "rationale",
    "action",
    "confidence",
];

/// Words that may stand before those, and belong to them.
pub(super) const TAIL_FIRST: &[&str] = &[
    "final",
    "sql",
    "query",
    "execution",
    "expected",
    "sample",
    "tool",
    "user",
    "next",
    "revised",
    "corrected",
];

/// The tags with a rule.
pub(super) fn tag(name: &str) -> Option<(MarkerRule, &'static str)> {
    MARKERS.iter().find_map(|marker| match marker.form {
        MarkerForm::Tags(names) => {
            names.iter().find(|tag| tag.eq_ignore_ascii_case(name)).map(|tag| (marker.rule, *tag))
        }
        _ => None,
    })
}

/// The pairs, each with its rule.
pub(super) fn pairs() -> impl Iterator<Item = (MarkerRule, &'static str, &'static str)> {
    let of = |marker: &'static Marker| match marker.form {
        MarkerForm::Pairs(pairs) => Some(pairs.iter().map(|(open, close)| (marker.rule, *open, *close))),
        _ => None,
    };
    MARKERS.iter().filter_map(of).flatten()
}

/// The rule of a label whose words, the last one first, stand before a colon, and how many of them it takes. Words of a tail
/// alone have no rule for what stands before them.
pub(super) fn label(words: &[&str]) -> Option<(MarkerRule, usize)> {
    let is_one_of = |at: usize, list: &[&str]| {
        words.get(at).is_some_and(|word| list.iter().any(|entry| entry.eq_ignore_ascii_case(word)))
    };
    MARKERS.iter().filter(|marker| marker.rule != MarkerRule::Tail).find_map(|marker| {
        let MarkerForm::Label { first, last } = marker.form else { return None };
        if !is_one_of(0, last) {
            return None;
        }
        let before = 1 + usize::from(is_one_of(1, &["sql"]) && is_one_of(2, first));
        match first {
            [] => Some((marker.rule, 1)),
            _ if is_one_of(before, first) => Some((marker.rule, before + 1)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_marker_stands_in_the_table_once() {
        let mut seen = BTreeSet::new();
        for marker in MARKERS {
            let written: Vec<String> = match marker.form {
                MarkerForm::Tags(names) => names.iter().map(|name| format!("<{name}>")).collect(),
                MarkerForm::Pairs(pairs) => pairs.iter().map(|(open, _)| (*open).to_owned()).collect(),
                MarkerForm::Label { first, last } => {
                    last.iter().map(|last| format!("{:?} {first:?} {last}:", marker.rule)).collect()
                }
            };
            for text in written {
                assert!(seen.insert(text.clone()), "{text}");
            }
            assert!(!marker.source.is_empty());
        }
    }

    #[test]
    fn a_label_is_known_by_its_last_words() {
        for (words, expected) in [
            (vec!["answer", "final"], Some((MarkerRule::Final, 2))),
            (vec!["query", "SQL", "Revised"], Some((MarkerRule::Final, 3))),
            (vec!["sql", "final", "the"], Some((MarkerRule::Final, 2))),
            (vec!["Input", "Action"], Some((MarkerRule::Query, 2))),
            (vec!["Result", "SQL"], Some((MarkerRule::Result, 2))),
            (vec!["sql", "alternative"], None),
            (vec!["Question", "Next"], Some((MarkerRule::Question, 2))),
            (vec!["question"], Some((MarkerRule::Question, 1))),
            (vec!["Result"], None),
            (vec!["input", "the"], None),
            (vec![], None),
        ] {
            assert_eq!(label(&words), expected, "{words:?}");
        }
    }
}
