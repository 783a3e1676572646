//! The process that runs the queries.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use serde_json::Value as Json;
use sqlgauge_base::{program, without_secrets};
use sqlgauge_engine::{Limits, Value};

use super::values;
use crate::rows::Answer as Rows;
use crate::server::Broken;
use crate::socket::{PATIENCE, Socket};

const SCRIPT: &str = include_str!("child.py");
/// How long Python may take to start and to open the file, or to read it once.
const START: Duration = Duration::from_mins(2);
/// Bytes of a message that is no row.
const LONGEST: usize = 4 << 20;

/// A file, as it was when it was named first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    path: PathBuf,
    identity: Option<(u64, u64, u64, i64, i64)>,
}

impl File {
    pub(super) fn of(address: &Path) -> Result<Self, String> {
        let path = address.to_str().and_then(|text| text.strip_prefix("duckdb:"));
        let path = path.filter(|path| !path.is_empty()).ok_or("the address names no file")?;
        let path = Path::new(path.strip_prefix("//").unwrap_or(path));
        // The process that opens it runs in another folder.
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        let identity = identity(&path);
        if identity.is_none() {
            return Err(format!("there is no file {}", without_secrets(&path.display().to_string())));
        }
        Ok(Self { path, identity })
    }

    pub(super) fn is_unchanged(&self) -> bool {
        identity(&self.path) == self.identity
    }
}

fn identity(path: &Path) -> Option<(u64, u64, u64, i64, i64)> {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((file.len(), file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

/// A process that has opened the file.
#[derive(Debug)]
pub(crate) struct Child {
    socket: Socket,
    process: std::process::Child,
    /// How many were asked.
    pub(super) queries: u64,
    pub(super) file: File,
    /// `2.0.1`.
    pub(super) version: String,
}

/// A piece of an answer.
#[derive(Debug)]
pub(super) enum Answer {
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
    pub(super) fn start(file: &File) -> Result<Self, Broken> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_write_timeout(Some(PATIENCE))?;
        let python = std::env::var_os("SQLGAUGE_PYTHON").filter(|name| !name.is_empty());
        let python = python.unwrap_or_else(|| "python3".into());
        let memory = Limits::default().max_heap_bytes.to_string();
        let mut command = program::python(python.as_ref())?;
        command.args(["-c", SCRIPT]).arg(&file.path).arg(memory);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        // Only the process holds the other end from here on.
        drop(command);
        let mut child = Self {
            socket: Socket::over(Box::new(ours)),
            process,
            queries: 0,
            file: file.clone(),
            version: String::new(),
        };
        let without = |_| Broken::refused("python", "Python cannot be started with the package duckdb");
        let hello = child.message(Instant::now() + START, LONGEST).map_err(without)?;
        let hello: Json = serde_json::from_slice(&hello).map_err(|_| out_of_turn())?;
        let text = |key: &str| hello[key].as_str().unwrap_or_default().to_owned();
        if hello.get("error").is_some() {
            return Err(Broken::refused("open", &text("message")));
        }
        child.version = text("version");
        Ok(child)
    }

    /// Sends a query, or nothing to ask for the hash of the file.
    pub(super) fn ask(&mut self, sql: Option<&str>) -> io::Result<()> {
        self.queries += 1;
        self.socket.output.extend_from_slice(Json::from(sql).to_string().as_bytes());
        self.socket.output.extend_from_slice(b"\n");
        self.socket.send()
    }

    /// The next piece of the answer.
    pub(super) fn answer(&mut self, deadline: Instant, longest: usize) -> Result<Answer, Broken> {
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

    /// The hash of the file.
    pub(super) fn content(&mut self) -> Result<String, Broken> {
        Ok(format!("{:?}", self.rows(None)?))
    }

    /// All rows of a query of ours.
    pub(super) fn rows(&mut self, sql: Option<&str>) -> Result<Vec<Vec<Value>>, Broken> {
        let deadline = Instant::now() + START;
        self.ask(sql)?;
        let mut rows = Rows::new();
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

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.process.kill();
        let _status = self.process.wait();
    }
}

pub(super) fn out_of_turn() -> Broken {
    io::Error::from(io::ErrorKind::InvalidData).into()
}
