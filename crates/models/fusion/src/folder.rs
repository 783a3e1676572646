//! An evaluator as a folder: `evaluator.safetensors` and `card.json`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sqlgauge_base::file::AtomicFile;
use sqlgauge_base::regular;
use sqlgauge_run::sha256_of_bytes;

use super::blob::{Blob, Blobs, from_bytes, to_bytes};
use super::calibration::Calibration;
use super::card::{Card, FORMAT};
use super::error::EvaluatorError;
use super::fit::Evaluator;
use super::ranges::Ranges;
use super::regressors::find;
use super::scaler::Scaler;

const TENSORS: &str = "evaluator.safetensors";
const CARD: &str = "card.json";
/// The files of an evaluator.
pub const FOLDER_FILES: [&str; 2] = [TENSORS, CARD];

impl Evaluator {
    /// Writes the evaluator into a folder, which is made if need be; an evaluator that is there is replaced.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), EvaluatorError> {
        std::fs::create_dir_all(folder).map_err(|source| file_error(folder, "written", source))?;
        let unwritable = |reason| EvaluatorError::Folder { path: folder.to_owned(), reason };
        let bytes = to_bytes(&self.blobs()?).map_err(unwritable)?;
        let sha256 = sha256_of_bytes(&bytes);
        let text = serde_json::to_string_pretty(&Card { sha256, ..self.card.clone() })
            .map_err(|error| unwritable(error.to_string()))?;
        // Both are prepared before one is put in place, and the card has the digest of the arrays that it belongs to.
        let prepare = |name: &str, content: &[u8]| {
            let path = folder.join(name);
            let prepared = AtomicFile::create(&path).and_then(|mut file| {
                file.write_all(content)?;
                Ok(file)
            });
            prepared.map_err(|source| file_error(&path, "written", source))
        };
        let files = [prepare(TENSORS, &bytes)?, prepare(CARD, (text + "\n").as_bytes())?];
        AtomicFile::commit_all(files).map_err(|source| file_error(folder, "written", source))
    }

    /// Reads an evaluator from a folder.
    ///
    /// # Errors
    /// When a file is missing, damaged, or of a format that this version does not know; the message says what to do.
    pub fn load(folder: &Path) -> Result<Self, EvaluatorError> {
        let unusable = |reason: String| EvaluatorError::Folder { path: folder.to_owned(), reason };
        let card = read_card(folder)?;
        let tensors = folder.join(TENSORS);
        let bytes = regular::read(&tensors).map_err(|source| file_error(&tensors, "read", source))?;
        if sha256_of_bytes(&bytes) != card.sha256 {
            let reason = format!(
                "{TENSORS} is damaged or belongs to another card (its SHA-256 is not the one in {CARD}): copy the \
                 folder again, or fit again"
            );
            return Err(unusable(reason));
        }
        let blobs = from_bytes(&bytes).map_err(|error| unusable(format!("{TENSORS}: {error}")))?;
        Self::assemble(card, &blobs).map_err(unusable)
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        let mut blobs: Vec<Blob> = self.model.blobs()?.into_iter().map(|blob| blob.under("model")).collect();
        blobs.extend(self.scaler.blobs().into_iter().map(|blob| blob.under("input")));
        blobs
            .extend([self.trained.blobs("trained"), self.seen.blobs("seen")].map(|blob| blob.under("range")));
        blobs.extend(self.calibration.blobs().into_iter().map(|blob| blob.under("calibration")));
        blobs.extend(self.reference.iter().map(|blob| blob.clone().under("reference")));
        Ok(blobs)
    }

    fn assemble(card: Card, blobs: &[Blob]) -> Result<Self, String> {
        let width = card.descriptors.len();
        let scaler = Scaler::load(&Blobs::new(blobs, "input"))?;
        let range = Blobs::new(blobs, "range");
        let (trained, seen) = (Ranges::load(&range, "trained")?, Ranges::load(&range, "seen")?);
        if [scaler.width(), trained.width(), seen.width()] != [width; 3] || width == 0 {
            return Err(format!("the card names {width} descriptors, and the arrays are of another number"));
        }
        let regressor = find(&card.regressor).map_err(|error| format!("{error}; update sqlgauge"))?;
        let model = regressor.load(&Blobs::new(blobs, "model"), width)?;
        let calibration = Calibration::load(&Blobs::new(blobs, "calibration"))?;
        let reference = Blobs::new(blobs, "reference").iter().collect();
        Ok(Self { card, scaler, model, trained, seen, calibration, reference })
    }
}

/// The card, after its format has been looked at.
fn read_card(folder: &Path) -> Result<Card, EvaluatorError> {
    let unusable = |reason: String| EvaluatorError::Folder { path: folder.to_owned(), reason };
    let path = folder.join(CARD);
    let text = match regular::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(unusable(format!(
                "there is no {CARD}: give the folder that `sqlgauge fit --out` wrote"
            )));
        }
        text => text.map_err(|source| file_error(&path, "read", source))?,
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| {
        unusable(format!("{CARD} is damaged ({error}): copy the folder again, or fit again"))
    })?;
    let version = value.get("sqlgauge").and_then(Value::as_str).unwrap_or("unknown");
    match value.get("format").and_then(Value::as_u64) {
        None => return Err(unusable(format!("{CARD} names no format: it is not the card of an evaluator"))),
        Some(format) if format > u64::from(FORMAT) => {
            return Err(unusable(format!(
                "it is of format {format}, written by sqlgauge {version}, and this version reads up to {FORMAT}: \
                 update sqlgauge, or fit again with this version"
            )));
        }
        Some(_) => {}
    }
    serde_json::from_value(value)
        .map_err(|error| unusable(format!("{CARD} is incomplete ({error}): fit again")))
}

fn file_error(path: &Path, action: &'static str, source: io::Error) -> EvaluatorError {
    EvaluatorError::File { path: PathBuf::from(path), action, source }
}
