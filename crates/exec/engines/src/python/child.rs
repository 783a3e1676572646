//! The process that runs the queries.
//!
//! Its memory is limited by the system, it may write no file, and it is ended at the time limit. Whatever the driver in it does, an
//! answer is a message of the protocol, or the process has ended.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use serde_json::{Value as Json, json};
use sqlgauge_base::child::Family;
use sqlgauge_base::program;
use sqlgauge_engine::{Enough, Failure, FailureKind, Limits, Outcome, Value};

use super::values;
use crate::catalog::Row;
use crate::rows::{Answer as AllRows, Rows};
use crate::server::{Broken, End, Server, refusal};
use crate::socket::{PATIENCE, Socket};

const PROTOCOL: &str = include_str!("child.py");
/// How long Python may take to start and to open the database, or to read it once.
const START: Duration = Duration::from_mins(2);
/// Bytes of a message that is no row.
const LONGEST: usize = 4 << 20;

/// A process that has opened the database.
#[derive(Debug)]
pub(crate) struct Child {
    socket: Socket,
    _process: Family,
    /// How many were asked.
    queries: u64,
    /// `2.0.1`.
    pub(crate) version: String,
    /// What the driver cannot do.
    pub(crate) lacks: Vec<String>,
}

/// The kind of an error of the driver itself, which is not used further.
const DRIVER: &str = "driver";

/// A piece of an answer.
#[derive(Debug)]
enum Answer {
    Columns(Vec<String>),
    /// The cells, and how long the message was.
    Row(Vec<Value>, usize),
    End,
    Failed {
        kind: String,
        message: String,
    },
}

impl Child {
    /// Starts Python with that driver, which gets the settings, and waits until the database is open.
    pub(crate) fn start(python: &Path, driver: &str, mut settings: Json) -> Result<Self, Broken> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PATIENCE))?;
        settings["memory"] = Limits::default().max_heap_bytes.into();
        let mut command = program::python(python)?;
        command.arg("-c").arg(format!("{PROTOCOL}{driver}")).arg(settings.to_string());
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Family::start(&mut command)?;
        // Only the process holds the other end from here on.
        drop(command);
        let mut child = Self {
            socket: Socket::over(Box::new(ours)),
            _process: process,
            queries: 0,
            version: String::new(),
            lacks: Vec::new(),
        };
        let hello = child.message(Instant::now() + START, LONGEST);
        let hello =
            hello.map_err(|_| Broken::refused("package", "Python ended before the database was open"))?;
        let hello: Json = serde_json::from_slice(&hello).map_err(|_| out_of_turn())?;
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        if hello.get("error").is_some() {
            return Err(Broken::refused(&text(&hello["error"]), &text(&hello["message"])));
        }
        child.version = text(&hello["version"]);
        child.lacks = hello["lacks"].as_array().into_iter().flatten().map(text).collect();
        Ok(child)
    }

    /// Sends a query, the name of a table, or null to ask for what stands for the data.
    fn ask(&mut self, question: &Json) -> io::Result<()> {
        self.queries += 1;
        self.socket.output.extend_from_slice(question.to_string().as_bytes());
        self.socket.output.extend_from_slice(b"\n");
        self.socket.send()
    }

    /// Runs a query. A driver that can ask its server to end one does so at the time limit, and has `grace` for it.
    pub(crate) fn run<S: Server>(
        &mut self,
        sql: &str,
        limits: &Limits,
        enough: Option<&Enough>,
        grace: Duration,
    ) -> Result<End, Broken> {
        let began = Instant::now();
        let is_late = || began.elapsed() >= limits.timeout;
        let is_fresh = self.queries == 0;
        self.ask(&query(sql, limits.timeout))?;
        let mut rows = None;
        loop {
            match self.answer(began + limits.timeout + grace, limits.max_value_bytes)? {
                _ if is_late() => return Err(Broken::Late),
                Answer::Columns(columns) => rows = Some(Rows::new(columns, limits, enough)),
                Answer::Row(cells, length) => {
                    let rows = rows.as_mut().ok_or_else(out_of_turn)?;
                    if let Err(stop) = rows.push(cells, length) {
                        return Ok(stop.into());
                    }
                }
                Answer::End => {
                    let rows = rows.ok_or_else(out_of_turn)?;
                    return Ok(End::Ready(Outcome::Rows(Arc::new(rows.finish()))));
                }
                Answer::Failed { kind, message } if kind == DRIVER => {
                    let failure = Failure::new(FailureKind::RuntimeError, message);
                    return Ok(End::Running(Outcome::Failed(failure)));
                }
                Answer::Failed { kind, message } => {
                    let failure = match refusal::<S>(&kind, &message, began, limits) {
                        // No query before it in this process, and none beside it: the memory is all that it may have.
                        Err(Broken::Contested(failure)) if is_fresh => failure,
                        refused => refused?,
                    };
                    return Ok(End::Ready(Outcome::Failed(failure)));
                }
            }
        }
    }

    /// The next piece of the answer.
    fn answer(&mut self, deadline: Instant, longest: usize) -> Result<Answer, Broken> {
        let message = self.message(deadline, longest)?;
        let length = message.len();
        let message: Json = serde_json::from_slice(&message).map_err(|_| out_of_turn())?;
        match message {
            Json::Array(cells) => Ok(Answer::Row(cells.into_iter().map(values::value).collect(), length)),
            Json::Object(object) => {
                let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
                if let Some(columns) = object.get("columns").and_then(Json::as_array) {
                    let name = |name: &Json| name.as_str().unwrap_or_default().to_owned();
                    return Ok(Answer::Columns(columns.iter().map(name).collect()));
                }
                Ok(if object.contains_key("error") {
                    Answer::Failed { kind: text("error"), message: text("message") }
                } else {
                    Answer::End
                })
            }
            _ => Err(out_of_turn()),
        }
    }

    /// What stands for the data.
    pub(crate) fn content(&mut self) -> Result<String, Broken> {
        Ok(format!("{:?}", self.rows(&Json::Null)?))
    }

    /// All rows of a query of ours, as texts.
    pub(crate) fn texts(&mut self, sql: &str) -> Result<Vec<Row>, Broken> {
        self.texts_of(&query(sql, START))
    }

    fn texts_of(&mut self, question: &Json) -> Result<Vec<Row>, Broken> {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::Integer(number) => Some(number.to_string()),
            Value::Text(bytes) | Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            other => Some(format!("{other:?}")),
        };
        Ok(self.rows(question)?.iter().map(|row| row.iter().map(text).collect()).collect())
    }

    /// The rows of a question of ours; `None` where the database refuses it.
    pub(crate) fn answered(&mut self, sql: &str) -> Result<Option<Vec<Row>>, Broken> {
        unless_refused(self.texts(sql))
    }

    /// The names and types of a table's columns; `None` where the database refuses to read it.
    pub(crate) fn described(&mut self, table: &str) -> Result<Option<Vec<Row>>, Broken> {
        unless_refused(self.texts_of(&json!({"table": table})))
    }

    /// All rows of a question of ours.
    fn rows(&mut self, question: &Json) -> Result<Vec<Vec<Value>>, Broken> {
        let deadline = Instant::now() + START;
        self.ask(question)?;
        let mut rows = AllRows::new();
        loop {
            match self.answer(deadline, LONGEST)? {
                Answer::Columns(_) => {}
                Answer::Row(row, length) => rows.push(row, length)?,
                Answer::End => return Ok(rows.finish()),
                Answer::Failed { kind, message } => return Err(Broken::refused(&kind, &message)),
            }
        }
    }

    fn message(&mut self, deadline: Instant, longest: usize) -> Result<BytesMut, Broken> {
        loop {
            if let Some(&length) = self.socket.input.first_chunk::<4>() {
                let length = u32::from_le_bytes(length) as usize;
                if length > longest {
                    return Err(Broken::TooLarge(length));
                }
                if self.socket.input.len() >= 4 + length {
                    self.socket.input.advance(4);
                    return Ok(self.socket.input.split_to(length));
                }
            }
            self.socket.fill(deadline)?;
        }
    }
}

/// A query that may take so long.
fn query(sql: &str, limit: Duration) -> Json {
    json!({"sql": sql, "seconds": limit.as_secs_f64()})
}

fn unless_refused<T>(answer: Result<T, Broken>) -> Result<Option<T>, Broken> {
    match answer {
        Err(Broken::Refused { code, .. }) if code != DRIVER => Ok(None),
        answer => answer.map(Some),
    }
}

fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
