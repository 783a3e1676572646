//! What this build leaves out. A command that needs it is refused before it runs, and the help names it apart.

use sqlgauge_base::NotBuiltIn;
use sqlgauge_encode::encoders::{SpecError, parse};

use super::Command;
use super::engines::Action;
use super::evolve::NameSource;

const BUILT_IN: [(&str, bool); 6] = [
    ("engines", cfg!(feature = "engines")),
    ("evaluator", cfg!(feature = "evaluator")),
    ("pages", cfg!(feature = "pages")),
    ("parquet", cfg!(feature = "parquet")),
    ("services", cfg!(feature = "services")),
    ("view", cfg!(feature = "view")),
];

/// What the command needs that this build leaves out.
pub(crate) fn left_out(command: &Command) -> Option<NotBuiltIn> {
    if let Command::Encode(encode) = command
        && let Err(SpecError::NotBuiltIn(missing)) = parse(&encode.job.encoder)
    {
        return Some(missing);
    }
    let (what, feature) = needs(command)?;
    let is_left_out = BUILT_IN.contains(&(feature, false));
    is_left_out.then_some(NotBuiltIn { what, feature })
}

/// What needs a feature, and the feature.
type Part = (&'static str, &'static str);

const ENCODE: Part = ("sqlgauge encode", "parquet");
const SHIFT: Part = ("sqlgauge shift", "parquet");
const FIT: Part = ("sqlgauge fit", "evaluator");
const ADAPT: Part = ("sqlgauge adapt", "evaluator");
const PREDICT: Part = ("sqlgauge predict", "services");
const VIEW: Part = ("sqlgauge view", "view");
const COMPLETIONS: Part = ("sqlgauge completions", "pages");
const MAN: Part = ("sqlgauge man", "pages");
/// Commands that need one whatever their options are.
const COMMANDS: [Part; 8] = [ENCODE, SHIFT, FIT, ADAPT, PREDICT, VIEW, COMPLETIONS, MAN];

/// Whether this build has the command of that name.
pub(crate) fn has(command: &str) -> bool {
    let is_it = |what: &str| what.strip_prefix("sqlgauge ") == Some(command);
    !COMMANDS.into_iter().any(|(what, feature)| is_it(what) && BUILT_IN.contains(&(feature, false)))
}

/// The part of the command that needs a feature.
fn needs(command: &Command) -> Option<Part> {
    Some(match command {
        Command::Encode(_) => ENCODE,
        Command::Shift(_) => SHIFT,
        Command::Fit(_) => FIT,
        Command::Adapt(_) => ADAPT,
        Command::Estimate(estimate) if estimate.evaluator.is_some() => ("--evaluator", "evaluator"),
        Command::Estimate(estimate) if estimate.judge.is_given() => ("--judge-url", "services"),
        Command::Run(run) if run.application.ask_url.is_some() => ("--ask-url", "services"),
        Command::Predict(_) => PREDICT,
        Command::Evolve(evolve) if evolve.names == NameSource::Llm => ("--names llm", "services"),
        Command::Synth(synth) if synth.polish.is_some() => ("synth --polish", "services"),
        Command::View(_) => VIEW,
        Command::Completions(_) => COMPLETIONS,
        Command::Man(_) => MAN,
        Command::Engines(engines) => match engines.action.as_ref()? {
            Action::Setup(_) => ("sqlgauge engines setup", "engines"),
            Action::Check(_) => ("sqlgauge engines check", "engines"),
        },
        _ => return None,
    })
}
