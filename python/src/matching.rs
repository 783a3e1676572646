//! `match`: whether two queries mean the same.

use std::sync::Arc;

use pyo3::prelude::*;
use sqlgauge_core::{SchemaFacts, comparison_to_json, match_pair};
use sqlgauge_engine::Stoppable;
use sqlgauge_etm::{MatchVerdict, Profile};

use crate::call::call;
use crate::database::{Database, Opened};
use crate::error::{Class, Failure};
use crate::json::to_python;
use crate::schema::Schema;

/// What queries are over.
#[derive(FromPyObject)]
pub(crate) enum Over<'py> {
    /// A database.
    Database(PyRef<'py, Database>),
    /// A schema.
    Schema(PyRef<'py, Schema>),
}

/// The same, without Python.
pub(crate) enum Ground {
    /// A database.
    Database(Opened),
    /// A schema.
    Schema(Arc<sqlgauge_sql::schema::Schema>),
}

impl Over<'_> {
    /// See [`Database::forget_if_interrupted`].
    pub(crate) fn forget_if_interrupted<T>(&self, py: Python<'_>, ended: &PyResult<T>) {
        if let Self::Database(database) = self {
            database.forget_if_interrupted(py, ended);
        }
    }

    pub(crate) fn ground(&self, py: Python<'_>) -> PyResult<Ground> {
        Ok(match self {
            Self::Database(database) => Ground::Database(database.opened(py)?),
            Self::Schema(schema) => Ground::Schema(Arc::clone(&schema.schema)),
        })
    }
}

fn profile(name: &str) -> Result<Profile, Failure> {
    match name {
        "sound" => Ok(Profile::Sound),
        "paper" => Ok(Profile::Paper),
        _ => Err(Failure::input(&format!("there is no profile {name:?}: use sound or paper"))),
    }
}

#[pyfunction]
pub(crate) fn match_queries<'py>(
    py: Python<'py>,
    left: String,
    right: String,
    over: Over<'py>,
    profile_name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (profile, ground) = (profile(profile_name)?, over.ground(py)?);
    let json = call(py, move |stop| {
        let facts = match ground {
            Ground::Database(Opened { engine, database }) => {
                let engine = Stoppable::new(engine, Arc::clone(stop));
                SchemaFacts::of_database(&engine, &database, profile, &[&left, &right])?
            }
            Ground::Schema(schema) => SchemaFacts::of_schema(schema),
        };
        let comparison = match_pair(&facts, profile, &left, &right);
        if let MatchVerdict::Unresolved(..) = comparison.verdict {
            return Err(Failure::new(Class::Query, &comparison.verdict.to_string()));
        }
        Ok(comparison_to_json(&comparison, profile, &facts))
    });
    over.forget_if_interrupted(py, &json);
    to_python(py, &json?)
}
