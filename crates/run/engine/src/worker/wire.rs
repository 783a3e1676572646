//! What parent and child say to each other.
//!
//! A frame is its length in eight bytes and that many bytes. The child begins with a frame that names its version. Then,
//! for each frame with a [`Request`], it writes the byte [`RAN`] when the query has ended, and a frame with the
//! [`Execution`]. All numbers are little-endian.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::limits::Limits;
use crate::moment::Moment;
use crate::outcome::{Dependence, Execution, Failure, FailureKind, Outcome};
use crate::value::{ResultSet, Value};

/// Says that a query has ended and its execution follows.
pub(super) const RAN: u8 = b'R';

/// Bytes of a frame beyond the values of a result: names of columns, a message.
const SLACK: usize = 64 << 20;

/// The first frame of a child: parent and child must be of one version.
pub(super) fn greeting() -> Vec<u8> {
    format!("sqlgauge {} on SQLite {}", env!("CARGO_PKG_VERSION"), rusqlite::version()).into_bytes()
}

/// The longest frame that an execution under those limits takes; no cell takes more bytes here than in memory.
pub(super) fn longest_answer(limits: &Limits) -> usize {
    limits.max_bytes.saturating_add(SLACK)
}

/// What a child is asked to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// A query that nobody vouches for.
    Query(String),
    /// What SQLite says of the columns of a table or view of that name.
    Columns(String),
}

/// A task for a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) database: PathBuf,
    pub(crate) task: Task,
    pub(crate) limits: Limits,
    pub(crate) now: Moment,
    /// Run no further than until it has returned enough, see [`Enough`](crate::Enough).
    pub(crate) until: Option<Until>,
}

/// [`Enough`](crate::Enough) with digests in the place of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Until {
    pub(crate) rows_over: Option<usize>,
    pub(crate) foreign_to: Option<Vec<u64>>,
}

pub(super) fn write_frame(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// The next frame.
///
/// # Errors
/// Those of the reader, and one of no more than `longest` bytes is none.
pub(super) fn read_frame(from: &mut impl Read, longest: usize) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > longest as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes")));
    }
    let mut bytes = Vec::new();
    let read = from.take(length).read_to_end(&mut bytes)?;
    if (read as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn duration(&mut self, duration: Duration) {
        self.number(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    fn optional<T>(&mut self, value: Option<T>, encode: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            encode(self, value);
        }
    }
}

/// Reads what an [`Encoder`] wrote; `None` where the bytes are not that.
struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// The number of things that follow, each of which takes a byte at least.
    fn count(&mut self) -> Option<usize> {
        self.size().filter(|&count| count <= self.0.len())
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.size()?;
        self.take(length)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn duration(&mut self) -> Option<Duration> {
        self.number().map(Duration::from_nanos)
    }

    #[expect(clippy::option_option, reason = "what cannot be read is not what was not written")]
    fn optional<T>(&mut self, decode: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { decode(self).map(Some) } else { Some(None) }
    }

    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { database, task, limits, now, until } = self;
        let mut to = Encoder::default();
        to.bytes(&path_bytes(database));
        let (is_query, text) = match task {
            Task::Query(sql) => (true, sql),
            Task::Columns(name) => (false, name),
        };
        to.byte(u8::from(is_query));
        to.bytes(text.as_bytes());
        to.duration(limits.timeout);
        for size in [limits.max_rows, limits.max_bytes, limits.max_value_bytes, limits.max_sql_bytes] {
            to.number(size as u64);
        }
        to.number(limits.max_heap_bytes);
        to.number(limits.max_vm_steps);
        to.number(now.unix_seconds().cast_unsigned());
        to.optional(until.as_ref(), |to, until| {
            to.optional(until.rows_over, |to, rows| to.number(rows as u64));
            to.optional(until.foreign_to.as_ref(), |to, digests| {
                to.number(digests.len() as u64);
                digests.iter().for_each(|&digest| to.number(digest));
            });
        });
        to.0
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let database = path_of(from.bytes()?)?;
        let task = if from.flag()? { Task::Query(from.text()?) } else { Task::Columns(from.text()?) };
        let limits = Limits {
            timeout: from.duration()?,
            max_rows: from.size()?,
            max_bytes: from.size()?,
            max_value_bytes: from.size()?,
            max_sql_bytes: from.size()?,
            max_heap_bytes: from.number()?,
            max_vm_steps: from.number()?,
        };
        let now = Moment::from_unix_seconds(from.number()?.cast_signed())?;
        let until = from.optional(|from| {
            let rows_over = from.optional(Decoder::size)?;
            let digests = |from: &mut Decoder<'_>| (0..from.count()?).map(|_| from.number()).collect();
            Some(Until { rows_over, foreign_to: from.optional(digests)? })
        })?;
        from.end()?;
        Some(Self { database, task, limits, now, until })
    }
}

/// A path as bytes that [`path_of`] reads back in a process of this program.
#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have bytes that are no path")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(super) fn encode_execution(execution: &Execution) -> Vec<u8> {
    let mut to = Encoder::default();
    to.number(execution.vm_steps);
    to.duration(execution.elapsed);
    to.byte(u8::from(execution.depends_on.time));
    to.byte(u8::from(execution.depends_on.chance));
    match &execution.outcome {
        Outcome::Rows(rows) => {
            to.byte(0);
            to.byte(u8::from(rows.is_beginning()));
            to.number(rows.columns.len() as u64);
            rows.columns.iter().for_each(|name| to.bytes(name.as_bytes()));
            to.number(rows.values().len() as u64);
            rows.values().iter().for_each(|value| encode_value(&mut to, value));
        }
        Outcome::Failed(failure) => {
            to.byte(1);
            let kind = FailureKind::ALL.iter().position(|&kind| kind == failure.kind);
            to.number(kind.unwrap_or_default() as u64);
            to.bytes(failure.message.as_bytes());
        }
    }
    to.0
}

pub(super) fn decode_execution(bytes: &[u8]) -> Option<Execution> {
    let mut from = Decoder(bytes);
    let (vm_steps, elapsed) = (from.number()?, from.duration()?);
    let depends_on = Dependence { time: from.flag()?, chance: from.flag()? };
    let outcome = match from.byte()? {
        0 => {
            let is_beginning = from.flag()?;
            let columns: Vec<String> = (0..from.count()?).map(|_| from.text()).collect::<Option<_>>()?;
            let values: Vec<Value> =
                (0..from.count()?).map(|_| decode_value(&mut from)).collect::<Option<_>>()?;
            if !values.len().is_multiple_of(columns.len().max(1)) {
                return None;
            }
            let rows = ResultSet::new(columns, values);
            Outcome::Rows(Arc::new(if is_beginning { rows.beginning() } else { rows }))
        }
        1 => {
            let kind = *FailureKind::ALL.get(from.size()?)?;
            Outcome::Failed(Failure::new(kind, from.text()?))
        }
        _ => return None,
    };
    from.end()?;
    Some(Execution { outcome, vm_steps, elapsed, depends_on })
}

fn encode_value(to: &mut Encoder, value: &Value) {
    match value {
        Value::Null => to.byte(0),
        Value::Integer(integer) => {
            to.byte(1);
            to.number(integer.cast_unsigned());
        }
        Value::Real(real) => {
            to.byte(2);
            to.number(real.to_bits());
        }
        Value::Text(bytes) => {
            to.byte(3);
            to.bytes(bytes);
        }
        Value::Blob(bytes) => {
            to.byte(4);
            to.bytes(bytes);
        }
    }
}

fn decode_value(from: &mut Decoder<'_>) -> Option<Value> {
    Some(match from.byte()? {
        0 => Value::Null,
        1 => Value::Integer(from.number()?.cast_signed()),
        2 => Value::Real(f64::from_bits(from.number()?)),
        3 => Value::Text(from.bytes()?.into()),
        4 => Value::Blob(from.bytes()?.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executions() -> Vec<Execution> {
        let values = vec![
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Real(-0.0),
            Value::Text((*b"\xff a").into()),
            Value::Blob([0, 255].into()),
            Value::text(""),
        ];
        let rows = ResultSet::new(vec!["ä".into(), String::new()], values);
        let depends_on = Dependence { time: true, chance: false };
        let of = |outcome| Execution { outcome, vm_steps: 7, elapsed: Duration::from_millis(3), depends_on };
        let mut all = vec![
            of(Outcome::Rows(Arc::new(rows.clone()))),
            of(Outcome::Rows(Arc::new(rows.beginning()))),
            of(Outcome::Rows(Arc::default())),
        ];
        all.extend(FailureKind::ALL.map(|kind| of(Outcome::Failed(Failure::new(kind, "why")))));
        all
    }

    #[test]
    fn what_is_said_is_what_is_understood() {
        for execution in executions() {
            assert_eq!(decode_execution(&encode_execution(&execution)), Some(execution));
        }
        for until in [
            None,
            Some(Until { rows_over: Some(3), foreign_to: None }),
            Some(Until { rows_over: None, foreign_to: Some(vec![1, u64::MAX]) }),
        ] {
            let request = Request {
                database: "a/ü".into(),
                task: Task::Query("SELECT 1".into()),
                limits: Limits::default(),
                now: Moment::now(),
                until,
            };
            assert_eq!(Request::decode(&request.encode()), Some(request.clone()));
            let request = Request { task: Task::Columns("v".into()), ..request };
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
    }

    #[test]
    fn what_is_torn_or_too_long_is_not_understood() {
        for execution in executions() {
            let whole = encode_execution(&execution);
            assert!((0..whole.len()).all(|end| decode_execution(&whole[..end]).is_none()), "{execution:?}");
            assert_eq!(decode_execution(&[whole.as_slice(), &[0]].concat()), None);
        }
        let mut frame = Vec::new();
        write_frame(&mut frame, b"hello").unwrap();
        assert_eq!(read_frame(&mut frame.as_slice(), 5).unwrap(), b"hello");
        assert!(read_frame(&mut frame.as_slice(), 4).is_err());
        assert!(read_frame(&mut &frame[..10], 5).is_err());
        assert!(read_frame(&mut [0xff; 8].as_slice(), usize::MAX - 1).is_err());
    }
}
