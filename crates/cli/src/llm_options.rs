//! Options of commands that ask a language model.

#[cfg(feature = "services")]
mod service;

use std::path::PathBuf;

use clap::{Arg, Args};
use sqlgauge_core::{Address, LlmLimits, Variable};

/// The server and the model, with their limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub(crate) struct LlmOptions {
    /// Server with an OpenAI-compatible API, as in <http://127.0.0.1:8091/v1>; names, types and keys of the schemas are sent
    /// to it, and for `synth --polish` questions with values of the rows, and queries
    #[arg(long, value_name = "URL", requires = "llm_model")]
    pub llm_url: Option<Address>,
    /// Name of the model
    #[arg(long, value_name = "NAME", requires = "llm_url")]
    llm_model: Option<String>,
    /// Environment variable that has the key of the server; none is sent if it is not set
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    llm_key_env: Variable,
    #[command(flatten)]
    limits: LlmLimits,
}

/// A model that judges: the options of a model under other names, and three more.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING, mut_args(of_judge))]
pub(crate) struct JudgeOptions {
    #[command(flatten)]
    llm: LlmOptions,
    /// File with a prompt, instead of the built-in one
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    judge_prompt: Option<PathBuf>,
    /// Questions that judge-arena compares systems on, drawn at random [default: all]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    judge_questions: Option<usize>,
    /// Most systems that judge-arena compares with
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = HEADING)]
    judge_opponents: usize,
}

const HEADING: &str = "Judges (--method judge-bug, judge-arena)";

/// The options of a judge in the order of the help, and what an option of a model says of a judge where it says something else.
const OF_JUDGE: [(&str, &str); 18] = [
    (
        "judge-url",
        "Server with an OpenAI-compatible API, e.g. <https://api.openai.com/v1>; it receives questions, schemas and predictions",
    ),
    ("judge-model", ""),
    (
        "judge-key-env",
        "Environment variable with the key of the server; leave it unset for a server without keys",
    ),
    ("judge-prompt", ""),
    ("judge-cache", "Folder to keep the answers in: a second run asks only for the missing ones"),
    ("judge-concurrency", ""),
    ("judge-timeout", "Seconds to wait for a whole answer"),
    ("judge-attempts", "Attempts of a request that fails, including the first"),
    ("judge-requests-per-minute", "Most requests in any 60 seconds"),
    ("judge-tokens-per-minute", "Most tokens in any 60 seconds"),
    ("judge-max-requests", "Stop before sending more than N requests"),
    ("judge-max-tokens", "Stop before using more than N tokens"),
    ("judge-max-cost", "Stop before spending more than COST, in the currency of --judge-prices"),
    ("judge-prices", "Price of a million tokens sent and of a million tokens generated, e.g. 1.25,10"),
    ("judge-answer-tokens", "Most tokens of an answer; a reasoning model needs more"),
    (
        "judge-reasons",
        "Ask a reasoning model: send that limit as `max_completion_tokens` and leave out the temperature",
    ),
    ("judge-questions", ""),
    ("judge-opponents", ""),
];

fn of_judge(arg: Arg) -> Arg {
    let Some(rest) =
        arg.get_long().and_then(|long| long.strip_prefix("llm-").or(long.strip_prefix("judge-")))
    else {
        return arg;
    };
    let Some(place) = OF_JUDGE.iter().position(|(long, _)| long.strip_prefix("judge-") == Some(rest)) else {
        return arg;
    };
    let (long, help) = OF_JUDGE[place];
    let arg = arg.long(long).help_heading(HEADING).display_order(place);
    let arg = if long == "judge-answer-tokens" { arg.default_value("1024") } else { arg };
    if help.is_empty() { arg } else { arg.help(help) }
}

impl JudgeOptions {
    /// Whether a server is named.
    pub(crate) fn is_given(&self) -> bool {
        self.llm.llm_url.is_some()
    }
}
