//! Questions to vectors, and how far vectors lie from others, in parts that many processes make.
//!
//! Vectors come and go as `bytes`: single precision, little-endian, row after row, which is what numpy and Arrow have in
//! memory.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, json};
use sqlgauge_encode::encoders::{BuildOptions, EncoderSpec, parse};
use sqlgauge_encode::{Encoder as Encodes, EncoderInput, InputForm, Matrix};
use sqlgauge_shift::{Descriptors, Directions, Partial, Reference, SetSide, ShiftError, Slices};

use crate::call::call;
use crate::error::{Class, Failure};
use crate::json::map_to_python;
use crate::matching::{Ground, Over};
use crate::process::threads;

const BYTES: usize = size_of::<f32>();

/// Questions and schemas to vectors, as ``sqlgauge encode`` makes them.
///
/// Args:
///     name: ``features``, or what else this build has: ``bert:DIR``, ``llm:DIR``, ``http:URL``.
///     form: ``question-schema``, or ``question-schema-prediction`` where predictions come with the questions.
///
/// Raises:
///     InputError: There is no such encoder or form, or it is not built in.
///
/// Pickling sends the name and the form.
#[pyclass(frozen, module = "sqlgauge")]
pub(crate) struct Encoder {
    name: String,
    form: String,
    inner: Arc<dyn Encodes>,
}

/// One item, as `sqlgauge._vectors` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Item<'py> {
    question: String,
    evidence: Option<String>,
    prediction: Option<String>,
    over: Over<'py>,
}

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (name="features", form="question-schema"))]
    fn new(py: Python<'_>, name: &str, form: &str) -> PyResult<Self> {
        let kind = InputForm::from_name(form).ok_or_else(|| {
            let names = InputForm::ALL.map(InputForm::name).join(", ");
            Failure::input(&format!("unknown form {form:?}: choose from {names}"))
        })?;
        let spec = parse(name).map_err(|error| Failure::of(Class::Input, &error))?;
        if matches!(spec, EncoderSpec::Tfidf(_)) {
            let sentence = "tfidf learns its components from all texts at once: use sqlgauge encode for it";
            return Err(Failure::input(sentence).into());
        }
        let built = call(py, move |_| {
            let built = spec.build(kind, &BuildOptions::default(), &[]);
            built.map_err(|error| Failure::of(Class::Input, &error))
        })?;
        Ok(Self { name: name.to_owned(), form: form.to_owned(), inner: Arc::from(built) })
    }

    /// Vectors can be compared only where this is equal.
    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    /// Components of a vector.
    #[getter]
    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    /// What each component means, where it means something.
    #[getter]
    fn dimension_names(&self) -> Option<Vec<String>> {
        self.inner.dimension_names()
    }

    /// Vectors of items (``question``, ``evidence``, ``prediction``, ``over``: a database or schema), in their order.
    ///
    /// Returns:
    ///     Numbers of single precision, little-endian, row after row.
    fn encode_items<'py>(&self, py: Python<'py>, items: Vec<Item<'py>>) -> PyResult<Bound<'py, PyBytes>> {
        let inputs: Vec<EncoderInput> = items
            .into_iter()
            .enumerate()
            .map(|(place, item)| input(py, place, item))
            .collect::<PyResult<_>>()?;
        let (inner, pool) = (Arc::clone(&self.inner), threads(py)?);
        let bytes = call(py, move |_| {
            let vectors = pool.install(|| inner.encode(&inputs));
            let vectors = vectors.map_err(|error| Failure::of(Class::Input, &error))?;
            Ok(vectors.values().iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __getnewargs__(&self) -> (&str, &str) {
        (&self.name, &self.form)
    }
}

fn input(py: Python<'_>, place: usize, item: Item<'_>) -> PyResult<EncoderInput> {
    let Item { question, evidence, prediction, over } = item;
    let schema = match over.ground(py)? {
        Ground::Database(opened) => Arc::clone(opened.database.schema()),
        Ground::Schema(schema) => schema,
    };
    Ok(EncoderInput { id: place.to_string(), db_id: String::new(), question, evidence, schema, prediction })
}

impl From<ShiftError> for Failure {
    fn from(error: ShiftError) -> Self {
        Self::of(Class::Input, &error)
    }
}

/// What is kept of the vectors from which shift is measured, as ``sqlgauge shift`` does.
///
/// Args:
///     vectors: The source: numbers of single precision, little-endian, row after row (``array.astype("<f4").tobytes()``).
///     dimensions: Components of each vector.
///     slices: Directions of the sliced Wasserstein distance: ``64`` random ones, or ``8,16`` principal and random ones.
///         Principal ones come from the source alone, so that all parts of a target are seen along the same.
///     seed: Seed of the directions.
///
/// Raises:
///     InputError: Vectors that are none, fewer than two, all equal, or not finite.
#[pyclass(frozen, module = "sqlgauge")]
pub(crate) struct ShiftReference {
    reference: Arc<Reference>,
}

fn matrix(dimensions: usize, bytes: &[u8]) -> Result<Matrix, Failure> {
    let (values, rest) = bytes.as_chunks::<BYTES>();
    if !rest.is_empty() {
        let sentence = format!("{} bytes are no numbers of single precision", bytes.len());
        return Err(Failure::input(&sentence));
    }
    let values = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
    Matrix::new(dimensions, values).map_err(|error| Failure::of(Class::Input, &error))
}

#[pymethods]
impl ShiftReference {
    #[new]
    #[pyo3(signature = (vectors, dimensions, slices="8,16", seed=0))]
    fn new(py: Python<'_>, vectors: Vec<u8>, dimensions: usize, slices: &str, seed: u64) -> PyResult<Self> {
        let slices: Slices = slices.parse().map_err(Failure::from)?;
        let pool = threads(py)?;
        let reference = call(py, move |_| {
            let source = matrix(dimensions, &vectors)?;
            pool.install(|| {
                let directions = Directions::new(slices, seed, &[(SetSide::Source, &source)])?;
                Ok(Reference::build(&source, directions)?)
            })
        })?;
        Ok(Self { reference: Arc::new(reference) })
    }

    /// What :meth:`to_bytes` made.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        let reference = call(py, move |_| Ok(Reference::from_bytes(&bytes)?))?;
        Ok(Self { reference: Arc::new(reference) })
    }

    /// The reference for another process; pickling sends the same.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.reference.to_bytes())
    }

    /// Components of each vector.
    #[getter]
    fn dimensions(&self) -> usize {
        self.reference.directions().dimensions()
    }

    /// What is kept of some vectors of a target: for :meth:`describe`.
    fn part<'py>(&self, py: Python<'py>, vectors: Vec<u8>) -> PyResult<Bound<'py, PyBytes>> {
        let (reference, dimensions, pool) = (Arc::clone(&self.reference), self.dimensions(), threads(py)?);
        let bytes = call(py, move |_| {
            let shard = matrix(dimensions, &vectors)?;
            Ok(pool.install(|| reference.target_part(&shard))?.to_bytes())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Puts parts together and compares them with the source.
    ///
    /// The same parts in the same order give the same bits, wherever they were made. In another order, or cut elsewhere,
    /// the moments differ by no more than the rounding of double precision.
    ///
    /// Returns:
    ///     The numbers of ``sqlgauge shift --json`` by name, ``source_count`` and ``target_count``.
    fn describe<'py>(&self, py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyAny>> {
        let (reference, pool) = (Arc::clone(&self.reference), threads(py)?);
        let fields = call(py, move |_| {
            let mut parts = parts.iter().map(|bytes| Partial::from_bytes(bytes));
            let first =
                parts.next().ok_or_else(|| Failure::input("there are no parts: give those of a target"))?;
            let mut whole = first?;
            parts.try_for_each(|part| whole.merge(part?))?;
            let descriptors = pool.install(|| reference.describe_part(whole))?;
            Ok(object(&descriptors))
        })?;
        Ok(map_to_python(py, &fields)?.into_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }
}

/// The columns of the command line's `shift --json`, by name.
fn object(descriptors: &Descriptors) -> Map<String, serde_json::Value> {
    let named = Descriptors::names().iter().zip(descriptors.to_row());
    let mut fields: Map<_, _> = named.map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    fields.insert("source_count".to_owned(), json!(descriptors.source_count));
    fields.insert("target_count".to_owned(), json!(descriptors.target_count));
    fields
}
