//! The messages between parent and child.
//!
//! A frame is its length in eight bytes and that many bytes. The child begins with a frame that names its version. Then,
//! for each frame with a [`Request`], it writes the byte [`RAN`] when the query has ended, and a frame with the
//! [`Execution`], both as postcard writes them. A query that passes its time and does not notice has the byte [`LATE`] instead,
//! and its child ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::moment::Moment;
use crate::outcome::{Dependence, Execution, Failure, Outcome};
use crate::value::ResultSet;

/// Says that a query has ended and its execution follows.
pub(super) const RAN: u8 = b'R';

/// Says that the time of a query is over and its process ends without an execution.
pub(super) const LATE: u8 = b'T';

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A query that nobody vouches for.
    Query(String),
    /// What SQLite says of the columns of a table or view of that name.
    Columns(String),
}

/// A task for a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// A path, whose bytes need not be UTF-8.
    pub(crate) database: OsString,
    pub(crate) task: Task,
    pub(crate) limits: Limits,
    pub(crate) now: Moment,
    /// Run no further than until it has returned enough, see [`Enough`](crate::Enough).
    pub(crate) until: Option<Until>,
}

/// [`Enough`](crate::Enough) with digests in the place of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// An execution with its parts in turn: steps, nanoseconds, what it depends on, and rows or a failure.
type Parts<Rows, Failure> = (u64, u64, bool, bool, Result<Rows, Failure>);

pub(crate) fn encode_execution(execution: &Execution) -> io::Result<Vec<u8>> {
    let Execution { outcome, vm_steps, elapsed, depends_on } = execution;
    let outcome = match outcome {
        Outcome::Rows(rows) => Ok(&**rows),
        Outcome::Failed(failure) => Err(failure),
    };
    let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    let parts: Parts<&ResultSet, &Failure> =
        (*vm_steps, nanoseconds, depends_on.time, depends_on.chance, outcome);
    encode(&parts)
}

pub(crate) fn decode_execution(bytes: &[u8]) -> Option<Execution> {
    let (vm_steps, nanoseconds, time, chance, outcome): Parts<ResultSet, Failure> = decode(bytes)?;
    let outcome = match outcome {
        Ok(rows) if !rows.values().len().is_multiple_of(rows.width().max(1)) => return None,
        Ok(rows) => Outcome::Rows(Arc::new(rows)),
        Err(failure) => Outcome::Failed(failure),
    };
    let (elapsed, depends_on) = (Duration::from_nanos(nanoseconds), Dependence { time, chance });
    Some(Execution { outcome, vm_steps, elapsed, depends_on })
}

pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_allocvec(message).map_err(io::Error::other)
}

/// Reads what [`encode`] wrote; `None` where the bytes are something else. A false length takes a mebibyte of memory at most.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (message, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailureKind;
    use crate::value::Value;

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
            assert_eq!(decode_execution(&encode_execution(&execution).unwrap()), Some(execution));
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
            assert_eq!(decode(&encode(&request).unwrap()), Some(request.clone()));
            let request = Request { task: Task::Columns("v".into()), ..request };
            assert_eq!(decode(&encode(&request).unwrap()), Some(request));
        }
    }

    #[test]
    fn what_is_torn_or_too_long_is_not_understood() {
        for execution in executions() {
            let whole = encode_execution(&execution).unwrap();
            assert!((0..whole.len()).all(|end| decode_execution(&whole[..end]).is_none()), "{execution:?}");
            assert_eq!(decode_execution(&[whole.as_slice(), &[0]].concat()), None);
        }
        // Steps, time, two flags and rows; then the number of columns, the number of values, or the length of a text.
        let rows = [0; 5];
        for start in [&[][..], &[0], &[0, 1, 3]] {
            let endless = [&rows, start, &[0xff; 9], &[1]].concat();
            assert_eq!(decode_execution(&endless), None, "{start:?}");
        }
        let odd = [&rows[..], &[2, 0, 0, 1, 0, 0]].concat();
        assert_eq!(decode_execution(&odd), None, "one value in two columns");
        let mut frame = Vec::new();
        write_frame(&mut frame, b"hello").unwrap();
        assert_eq!(read_frame(&mut frame.as_slice(), 5).unwrap(), b"hello");
        assert!(read_frame(&mut frame.as_slice(), 4).is_err());
        assert!(read_frame(&mut &frame[..10], 5).is_err());
        assert!(read_frame(&mut [0xff; 8].as_slice(), usize::MAX - 1).is_err());
    }
}
