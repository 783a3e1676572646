//! Options of commands that ask a language model.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Arg, Args};
use sqlgauge_core::{Address, LlmLimits, LlmSettings, Variable};

/// The server and the model, with their limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub struct LlmOptions {
    /// Server with an OpenAI-compatible API, as in <http://127.0.0.1:8091/v1>; `predict` sends it questions and schemas, `evolve` names,
    /// types and keys of the schemas, `synth --polish` questions with values of the rows, and queries
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

impl LlmOptions {
    /// The model, if one is named.
    pub fn named(&self) -> Option<LlmSettings> {
        let key = std::env::var(&self.llm_key_env).ok().filter(|key| !key.trim().is_empty());
        let llm = LlmSettings::new(self.llm_url.as_deref()?, self.llm_model.as_deref()?);
        Some(LlmSettings { key, limits: self.limits.clone(), ..llm })
    }

    /// The model for what is written to `out`, beside which the answers are kept; `option` is the one that needs it.
    ///
    /// # Errors
    /// When the server or the model is missing.
    pub fn settings(&self, option: &str, out: &Path) -> Result<LlmSettings> {
        let Some(mut llm) = self.named() else {
            bail!("{option} asks a model; give --llm-url and --llm-model");
        };
        let mut beside = out.as_os_str().to_owned();
        beside.push(".answers");
        llm.limits.cache.get_or_insert(PathBuf::from(beside).into());
        Ok(llm)
    }
}

/// A model that judges: the options of a model under other names, and three more.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING, mut_args(of_judge))]
pub struct JudgeOptions {
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

/// The names that the options of a model have for a judge.
const OF_JUDGE: [&str; 15] = [
    "judge-url",
    "judge-model",
    "judge-key-env",
    "judge-cache",
    "judge-concurrency",
    "judge-timeout",
    "judge-attempts",
    "judge-requests-per-minute",
    "judge-tokens-per-minute",
    "judge-max-requests",
    "judge-max-tokens",
    "judge-max-cost",
    "judge-prices",
    "judge-answer-tokens",
    "judge-reasons",
];

fn of_judge(arg: Arg) -> Arg {
    let Some(rest) = arg.get_long().and_then(|long| long.strip_prefix("llm-")) else { return arg };
    let Some(&long) = OF_JUDGE.iter().find(|long| long.strip_prefix("judge-") == Some(rest)) else {
        return arg;
    };
    let arg = arg.long(long).help_heading(HEADING);
    match long {
        "judge-url" => arg.help(
            "Server with an OpenAI-compatible API, e.g. <https://api.openai.com/v1>; it receives questions, schemas and predictions",
        ),
        "judge-cache" => arg.help("Folder to keep the answers in: a second run asks only for the missing ones"),
        _ => arg,
    }
}

impl JudgeOptions {
    /// Whether a server is named.
    pub(crate) fn is_given(&self) -> bool {
        self.llm.llm_url.is_some()
    }
}

#[cfg(feature = "services")]
impl JudgeOptions {
    /// The judge, if a server is named.
    pub fn settings(&self, seed: u64) -> Option<sqlgauge_core::JudgeSettings> {
        Some(sqlgauge_core::JudgeSettings {
            llm: LlmSettings { seed, ..self.llm.named()? },
            prompt: self.judge_prompt.clone(),
            questions: self.judge_questions,
            opponents: self.judge_opponents,
        })
    }
}
