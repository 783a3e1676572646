//! Parquet files. A value is written as the text that means it, so that what its column is follows from the values, as
//! in a text: writers store numbers and dates as texts too.

#[cfg(not(feature = "parquet"))]
use super::{NotRead, Reading, Refused, Source, Take};
#[cfg(not(feature = "parquet"))]
use crate::report::FileRefusal;

#[cfg(not(feature = "parquet"))]
pub(super) fn read(_source: &Source, _take: Take<'_>) -> Result<Reading, NotRead> {
    let missing = sqlgauge_base::NotBuiltIn { what: "a Parquet file", feature: "parquet" };
    Err(Refused::new(FileRefusal::NotBuiltIn, missing.to_string()).into())
}

#[cfg(feature = "parquet")]
pub(super) use built_in::read;

#[cfg(feature = "parquet")]
mod built_in {
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use ::parquet::basic::{LogicalType, TimeUnit, TimestampType};
    use ::parquet::errors::ParquetError;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    use ::parquet::schema::types::Type;
    use csv::StringRecord;
    use sqlgauge_base::regular;

    use crate::input::{NotRead, Part, Reading, Refused, Source, Take, unreadable};
    use crate::report::FileRefusal;

    pub(in crate::input) fn read(source: &Source, take: Take<'_>) -> Result<Reading, NotRead> {
        // The reader indexes by lengths that the file states; a damaged file must not end the process.
        match catch_unwind(AssertUnwindSafe(|| rows(source, take))) {
            Ok(outcome) => outcome.map(|()| Reading { header: true, ..Reading::default() }),
            Err(_) => {
                Err(Refused::new(FileRefusal::Damaged, "its lengths contradict each other; write it again")
                    .into())
            }
        }
    }

    fn rows(source: &Source, take: Take<'_>) -> Result<(), NotRead> {
        let file = regular::open(&source.path).map_err(|error| unreadable(&error))?;
        let reader = SerializedFileReader::new(file).map_err(explain)?;
        let schema = reader.metadata().file_metadata().schema();
        take(Part::Header(&schema.get_fields().iter().map(|field| field.name()).collect::<StringRecord>()))?;
        let nanoseconds: Vec<bool> =
            schema.get_fields().iter().map(|field| counts_nanoseconds(field)).collect();
        let mut record = StringRecord::new();
        for row in reader.get_row_iter(None).map_err(explain)? {
            record.clear();
            for ((_, field), nanoseconds) in row.map_err(explain)?.get_column_iter().zip(&nanoseconds) {
                // The reader has no name for them, and hands them over as plain numbers.
                let value = match field {
                    Field::Long(value) if *nanoseconds => {
                        text(&Field::TimestampMicros(value.div_euclid(1000)))
                    }
                    other => text(other),
                };
                record.push_field(value.trim());
            }
            take(Part::Row(&record))?;
        }
        Ok(())
    }

    /// The reader hands on what the system says; a file that ends too early is damaged.
    fn explain(error: ParquetError) -> NotRead {
        let error = match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(inner) if inner.raw_os_error().is_some() => return unreadable(&inner).into(),
                Ok(inner) => ParquetError::External(inner),
                Err(inner) => ParquetError::External(inner),
            },
            other => other,
        };
        Refused::new(FileRefusal::Damaged, format!("{error}; write it again")).into()
    }

    fn counts_nanoseconds(field: &Type) -> bool {
        matches!(
            field.get_basic_info().logical_type_ref(),
            Some(LogicalType::Timestamp(TimestampType { unit: TimeUnit::NANOS, .. }))
        )
    }

    fn text(field: &Field) -> String {
        match field {
            Field::Null => String::new(),
            Field::Str(text) => text.clone(),
            // Writers that leave out the logical type store text as plain bytes.
            Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
            Field::Float(value) => number(f64::from(*value), value.to_string()),
            Field::Double(value) => number(*value, value.to_string()),
            // `2013-01-01 +00:00` and `2013-01-01 10:00:00 +00:00`: both count from the epoch in UTC.
            Field::Date(_) | Field::TimestampMillis(_) | Field::TimestampMicros(_) => {
                let text = field.to_string();
                text.strip_suffix(" +00:00").map_or(text.clone(), str::to_owned)
            }
            other => other.to_string(),
        }
    }

    /// A whole number keeps its point, so that a column of reals stays one where a value is not whole.
    fn number(value: f64, shortest: String) -> String {
        if value.is_nan() {
            String::new()
        } else if value.fract() == 0.0 && !shortest.contains(['.', 'e', 'i']) {
            format!("{shortest}.0")
        } else {
            shortest
        }
    }
}
