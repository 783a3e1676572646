//! `sqlgauge init`.

use std::io::{self, BufRead, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::{Application, InitFile, InitJob};

use super::run::ApplicationOptions;
use crate::Verdict;
use crate::config::{NAME, trust};
use crate::output::{note, print};

/// Write what `run` reads: sqlgauge.toml, questions to begin with, a workflow for GitHub
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// A database, a folder of databases, or a server, as for `score`
    #[arg(long, value_name = "DIR")]
    db: Option<PathBuf>,
    /// File with questions and golds [default: questions.jsonl, with three questions about the schema where it is not there]
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    #[command(flatten)]
    application: ApplicationOptions,
}

impl Init {
    pub(crate) fn run(self) -> Result<Verdict> {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let mut terminal = io::stdin().lock();
        let job = self.job(is_terminal.then_some(&mut terminal))?;
        let files = crate::engine::run(true, |context| job.run(context))?;
        for file in &files {
            print(&format!("{}\n", sentence(file)))?;
        }
        if let Err(error) = trust::set(Path::new(NAME), true) {
            note(format!(
                "{NAME} is not trusted ({error:#}); run `sqlgauge trust`, or `sqlgauge run --config {NAME}`"
            ));
        }
        print("Next: sqlgauge run\n")?;
        Ok(Verdict::Done)
    }

    /// The job, with what a person at the terminal says where an option says nothing.
    fn job(self, mut terminal: Option<&mut impl BufRead>) -> Result<InitJob> {
        let db = match self.db {
            Some(db) => db,
            None => {
                said(&mut terminal, "--db", "Database, folder of databases, or address of a server")?.into()
            }
        };
        let questions = match &mut terminal {
            Some(input) if self.questions.is_none() => {
                let text = asked("File of questions and golds (empty: questions.jsonl)", *input)?;
                (!text.is_empty()).then(|| text.into())
            }
            _ => self.questions,
        };
        let application = match self.application.application() {
            Some(application) => application,
            None => application(said(
                &mut terminal,
                "--ask or --ask-url",
                "Command or http address that answers a question",
            )?),
        };
        Ok(InitJob {
            folder: PathBuf::new(),
            db,
            questions,
            application,
            answer_path: self.application.answer_path,
            key_variable: self.application.ask_key_env.map(Into::into),
        })
    }
}

fn application(text: String) -> Application {
    let is_url = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    if is_url { Application::Url(text) } else { Application::Command(text) }
}

/// What a person says where an option is missing.
fn said(terminal: &mut Option<&mut impl BufRead>, option: &str, question: &str) -> Result<String> {
    let Some(input) = terminal else { bail!("{option} is missing, and there is no terminal to ask on") };
    let text = asked(question, *input)?;
    if text.is_empty() {
        bail!("{option} is missing");
    }
    Ok(text)
}

fn asked(question: &str, input: &mut impl BufRead) -> Result<String> {
    let mut prompt = io::stderr().lock();
    write!(prompt, "{question}: ")?;
    prompt.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn sentence(file: &InitFile) -> String {
    let path = file.path.display();
    let is_new = if file.is_new { "written" } else { "was there and is left as it is" };
    let questions = file.questions.map(|count| format!(", {}", counted(count, "question")));
    let hint =
        if file.is_new && questions.is_some() { " made of the schema: replace them by your own" } else { "" };
    format!("{path}: {is_new}{}{hint}", questions.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Init {
        let application =
            ApplicationOptions { ask: None, ask_url: None, ask_key_env: None, answer_path: None };
        Init { db: None, questions: None, application }
    }

    #[test]
    fn a_terminal_is_asked_for_what_is_missing() {
        let job = nothing().job(Some(&mut "shop.sqlite\n\nhttps://h/ask\n".as_bytes())).unwrap();
        assert_eq!((job.db, job.questions), (PathBuf::from("shop.sqlite"), None));
        assert!(matches!(job.application, Application::Url(url) if url == "https://h/ask"));
        let job = nothing().job(Some(&mut "db\ngold.json\npython3 ask.py\n".as_bytes())).unwrap();
        assert_eq!(job.questions, Some(PathBuf::from("gold.json")));
        assert!(matches!(job.application, Application::Command(command) if command == "python3 ask.py"));
        assert!(nothing().job(Some(&mut "db\n\n\n".as_bytes())).is_err());
    }

    #[test]
    fn without_a_terminal_the_missing_flag_is_named() {
        let error = nothing().job(None::<&mut &[u8]>).unwrap_err().to_string();
        assert!(error.starts_with("--db is missing"), "{error}");
        let error =
            Init { db: Some("x".into()), ..nothing() }.job(None::<&mut &[u8]>).unwrap_err().to_string();
        assert!(error.starts_with("--ask or --ask-url is missing"), "{error}");
    }
}
