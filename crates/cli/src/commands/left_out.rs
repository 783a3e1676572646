//! What this build leaves out. A command that needs it is refused before it runs; the help is that of every build.

use sqlgauge_base::NotBuiltIn;
use sqlgauge_encode::encoders::{SpecError, parse};

use super::Command;
use super::engines::Action;
use super::evolve::NameSource;

const BUILT_IN: [(&str, bool); 5] = [
    ("engines", cfg!(feature = "engines")),
    ("evaluator", cfg!(feature = "evaluator")),
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

/// The part of the command that needs a feature, and the feature.
fn needs(command: &Command) -> Option<(&'static str, &'static str)> {
    Some(match command {
        Command::Encode(_) => ("sqlgauge encode", "parquet"),
        Command::Shift(_) => ("sqlgauge shift", "parquet"),
        Command::Fit(_) => ("sqlgauge fit", "evaluator"),
        Command::Adapt(_) => ("sqlgauge adapt", "evaluator"),
        Command::Estimate(estimate) if estimate.evaluator.is_some() => ("--evaluator", "evaluator"),
        Command::Estimate(estimate) if estimate.judge.is_given() => ("--judge-url", "services"),
        Command::Run(run) if run.application.ask_url.is_some() => ("--ask-url", "services"),
        Command::Predict(_) => ("sqlgauge predict", "services"),
        Command::Evolve(evolve) if evolve.names == NameSource::Llm => ("--names llm", "services"),
        Command::Synth(synth) if synth.polish.is_some() => ("synth --polish", "services"),
        Command::View(_) => ("sqlgauge view", "view"),
        Command::Engines(engines) => match engines.action.as_ref()? {
            Action::Setup(_) => ("sqlgauge engines setup", "engines"),
            Action::Check(_) => ("sqlgauge engines check", "engines"),
        },
        _ => return None,
    })
}
