//! Evolved benchmarks as `evolve` wrote them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use sqlgauge_base::regular;
use sqlgauge_evolve::layout::ChangesHeader;
use sqlgauge_evolve::{Answerability, ChangeKind, ChangeRecord, EvolvedItem, FORMAT_VERSION};

use crate::error::RobustnessError;

const ITEMS: &str = "dev.json";
const CHANGES: &str = "changes.jsonl";

/// An evolved benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Evolved {
    /// The name of its folder: the kind, or the step of a history.
    pub label: String,
    pub path: PathBuf,
    /// What was asked for.
    pub header: ChangesHeader,
    pub items: Vec<EvolvedItem>,
}

impl Evolved {
    /// Reads a folder.
    ///
    /// # Errors
    /// When a file cannot be read or is of another format.
    pub fn read(path: &Path) -> Result<Self, RobustnessError> {
        let header = header(&path.join(CHANGES))?;
        let file = path.join(ITEMS);
        let text = regular::read(&file).map_err(|source| unreadable(&file, source))?;
        let items = serde_json::from_slice(&text).map_err(|error| malformed(&file, error.to_string()))?;
        let label = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { label, path: path.to_owned(), header, items })
    }

    /// The file with the items: a benchmark.
    pub fn benchmark(&self) -> PathBuf {
        self.path.join(ITEMS)
    }

    pub fn databases(&self) -> PathBuf {
        self.path.join("database")
    }

    /// Whether its questions can be answered.
    pub fn scope(&self) -> Answerability {
        self.header.kind.map_or(Answerability::In, ChangeKind::scope)
    }

    /// Kinds in the paper's order, then what has none; less change first; steps in their order.
    fn order(&self) -> (usize, u32, u64) {
        let kind = |kind: ChangeKind| ChangeKind::ALL.iter().position(|entry| *entry == kind);
        let place = self.header.kind.and_then(kind).unwrap_or(ChangeKind::ALL.len());
        (place, self.header.step.unwrap_or(0), self.header.intensity.to_bits())
    }
}

/// The evolved benchmarks in a folder that `evolve` wrote, or the folder itself if it is one.
///
/// # Errors
/// When there is none, or one cannot be read.
pub fn find(folder: &Path) -> Result<Vec<Evolved>, RobustnessError> {
    if folder.join(CHANGES).is_file() {
        return Ok(vec![Evolved::read(folder)?]);
    }
    let entries = fs::read_dir(folder).map_err(|source| unreadable(folder, source))?;
    let mut variants = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| unreadable(folder, source))?.path();
        if path.join(CHANGES).is_file() && path.join(ITEMS).is_file() {
            variants.push(Evolved::read(&path)?);
        }
    }
    if variants.is_empty() {
        return Err(RobustnessError::Nothing { path: folder.to_owned() });
    }
    variants.sort_by(|a, b| (a.order(), &a.label).cmp(&(b.order(), &b.label)));
    Ok(variants)
}

/// The first line of the changes.
fn header(path: &Path) -> Result<ChangesHeader, RobustnessError> {
    let file = regular::open(path).map_err(|source| unreadable(path, source))?;
    let mut line = String::new();
    BufReader::new(file).read_line(&mut line).map_err(|source| unreadable(path, source))?;
    match serde_json::from_str(&line) {
        Ok(ChangeRecord::Header(header)) if header.format == FORMAT_VERSION => Ok(header),
        Ok(ChangeRecord::Header(header)) => {
            let reason = format!("its format is {}, and this version reads {FORMAT_VERSION}", header.format);
            Err(malformed(path, reason))
        }
        Ok(_) => Err(malformed(path, "its first line is not a header".to_owned())),
        Err(error) => Err(malformed(path, format!("its first line is not a header: {error}"))),
    }
}

fn unreadable(path: &Path, source: std::io::Error) -> RobustnessError {
    RobustnessError::Unreadable { path: path.to_owned(), source }
}

fn malformed(path: &Path, reason: String) -> RobustnessError {
    RobustnessError::Malformed { path: path.to_owned(), reason }
}
