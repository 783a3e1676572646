//! The exceptions: every error of the libraries as one Python class with one sentence.

use std::error::Error as StdError;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use sqlgauge_base::{printable_lines, without_secrets};
use sqlgauge_run::RunError as RunFailure;

use crate::words::in_python;

create_exception!(
    sqlgauge,
    Error,
    PyException,
    "What sqlgauge could not do, in the sentence of the command line: the thing at fault and the remedy."
);
create_exception!(
    sqlgauge,
    InputError,
    Error,
    "A frame or file, a metric, a column, a limit or a path that is not what it should be."
);
create_exception!(sqlgauge, DatabaseError, Error, "A database that is not there, not readable, or changed.");
create_exception!(sqlgauge, QueryError, Error, "A query that SQLite refuses, where a query is needed.");
create_exception!(
    sqlgauge,
    RunError,
    Error,
    "A run directory that is another run's, is being written by somebody else, or cannot be read or written."
);
create_exception!(
    sqlgauge,
    InternalError,
    Error,
    "A defect of sqlgauge itself; please report it with what led to it."
);

/// Which exception an error becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Input,
    Database,
    Query,
    Run,
    Internal,
}

/// An error on its way to Python.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    sentence: String,
}

impl Failure {
    /// That sentence in the words of Python, fit for a terminal: without keys in URLs, and with nothing that a terminal obeys.
    pub(crate) fn new(class: Class, sentence: &str) -> Self {
        Self { class, sentence: printable_lines(&without_secrets(&in_python(sentence))).into_owned() }
    }

    /// What the user gave is at fault.
    pub(crate) fn input(sentence: &str) -> Self {
        Self::new(Class::Input, sentence)
    }

    /// An error with its causes.
    pub(crate) fn of(class: Class, error: &(dyn StdError + 'static)) -> Self {
        Self::new(class, &sqlgauge_core::sentence(error))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let Failure { class, sentence } = failure;
        match class {
            Class::Input => InputError::new_err(sentence),
            Class::Database => DatabaseError::new_err(sentence),
            Class::Query => QueryError::new_err(sentence),
            Class::Run => RunError::new_err(sentence),
            Class::Internal => InternalError::new_err(sentence),
        }
    }
}

/// One line per type of error that a library has.
macro_rules! classes {
    ($($error:ty => $class:ident),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::of(Class::$class, &error)
            }
        })*
    };
}

classes! {
    sqlgauge_engine::EngineError => Database,
    sqlgauge_engine::NotAMoment => Input,
    sqlgauge_dataset::DatasetError => Input,
}

impl From<sqlgauge_core::Error> for Failure {
    fn from(error: sqlgauge_core::Error) -> Self {
        let class = match &error {
            sqlgauge_core::Error::Engine(_) | sqlgauge_core::Error::NotObserved(_) => Class::Database,
            sqlgauge_core::Error::Run(of_run) => match **of_run {
                RunFailure::Engine(_) | RunFailure::NotScored { .. } => Class::Database,
                RunFailure::Dataset(_) | RunFailure::BadPlan(_) => Class::Input,
                _ => Class::Run,
            },
            sqlgauge_core::Error::Dataset(_)
            | sqlgauge_core::Error::Asked { .. }
            | sqlgauge_core::Error::Allowed(_)
            | sqlgauge_core::Error::Metric(_)
            | sqlgauge_core::Error::Subset(_)
            | sqlgauge_core::Error::Invalid(_)
            | sqlgauge_core::Error::Moment(_)
            | sqlgauge_core::Error::OfPair { .. }
            | sqlgauge_core::Error::NoDdl { .. }
            | sqlgauge_core::Error::Gate(_)
            | sqlgauge_core::Error::EmptyShard { .. }
            | sqlgauge_core::Error::NoMetric
            | sqlgauge_core::Error::Level(_)
            | sqlgauge_core::Error::Tau(_)
            | sqlgauge_core::Error::Tables(_)
            | sqlgauge_core::Error::OutOfUnit { .. }
            | sqlgauge_core::Error::OutputIsInput { .. }
            | sqlgauge_core::Error::OutputIsRun { .. }
            | sqlgauge_core::Error::OutputIsDatabase { .. }
            | sqlgauge_core::Error::Alarm { .. }
            | sqlgauge_core::Error::EmptyBatch
            | sqlgauge_core::Error::NotBuiltIn(_)
            | sqlgauge_core::Error::Shift(_)
            | sqlgauge_core::Error::OtherEncoder { .. }
            | sqlgauge_core::Error::Labels(_)
            | sqlgauge_core::Error::Estimate(_) => Class::Input,
            sqlgauge_core::Error::Refused(_) | sqlgauge_core::Error::Unresolved(_) => Class::Query,
            _ => Class::Run,
        };
        Self::of(class, &error)
    }
}
