//! Time and memory of the shift descriptors and of a meta-set, beside numpy and POT on the same arrays.
//!
//! ```sh
//! cargo xtask research shift --folder /tmp/shift-bench
//! ```
//! Needs Python with numpy and POT. The arrays (about 1 GB) are made in the folder once. Every row is measured several
//! times, ours and theirs in turn in one run of the program.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use serde_json::Value;
use sqlgauge_encode::{Vectors, VectorsError};
use sqlgauge_shift::{
    Corpus, Descriptors, Directions, Grouping, MetaSetOptions, Reference, SetSide, Slices, meta_set,
};

/// Time and memory of shift descriptors and meta-sets
#[derive(Debug, Parser)]
struct Arguments {
    /// Folder for the arrays
    #[arg(long)]
    folder: PathBuf,
    /// Vectors on each side
    #[arg(long, default_value_t = 20_000)]
    rows: usize,
    /// Components of each
    #[arg(long, default_value_t = 4096)]
    dimensions: usize,
    /// Vectors of the corpus
    #[arg(long, default_value_t = 100_000)]
    corpus_rows: usize,
    /// Components of each
    #[arg(long, default_value_t = 384)]
    corpus_dimensions: usize,
    /// Sample sets
    #[arg(long, default_value_t = 30_000)]
    sets: usize,
    /// Runs per row
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Python with numpy and POT
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The script with their side
    #[arg(long, default_value = "research/shift/shift_peer.py")]
    peer: PathBuf,
    /// Leave the meta-set out
    #[arg(long)]
    no_meta_set: bool,
    /// Describe the target from disk with these slices and print the memory (used by the program itself)
    #[arg(long, hide = true)]
    child: Option<Slices>,
}

/// The directions of the paper's table V, after a single one: what that one costs is not the sliced distance.
const TABLE_V: [&str; 7] = ["1", "64", "4,12", "6,16", "8,16", "10,24", "12,32"];

/// Bytes of one chunk.
const CHUNK_BYTES: usize = 600_000;

/// Little-endian numbers in a file, row after row.
struct RawFile {
    file: File,
    rows: usize,
    dimensions: usize,
}

impl RawFile {
    fn open(path: &Path, dimensions: usize) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
        let rows = usize::try_from(file.metadata()?.len())? / (4 * dimensions);
        Ok(Self { file, rows, dimensions })
    }

    fn chunk_rows(&self) -> usize {
        (CHUNK_BYTES / (4 * self.dimensions)).max(1)
    }

    fn in_memory(&self) -> Result<InMemory> {
        let mut values = vec![0.0; self.rows * self.dimensions];
        self.file.read_exact_at(bytemuck::cast_slice_mut(&mut values), 0)?;
        Ok(InMemory { values, dimensions: self.dimensions })
    }
}

impl Vectors for RawFile {
    fn len(&self) -> usize {
        self.rows
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn chunks(&self) -> usize {
        self.rows.div_ceil(self.chunk_rows())
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        let first = chunk * self.chunk_rows();
        rows.resize((self.rows - first).min(self.chunk_rows()) * self.dimensions, 0.0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(rows);
        let offset = (first * self.dimensions * 4) as u64;
        self.file.read_exact_at(bytes, offset).map_err(|error| VectorsError(error.to_string()))
    }
}

/// Vectors in memory, in chunks that fit a cache.
struct InMemory {
    values: Vec<f32>,
    dimensions: usize,
}

impl InMemory {
    fn chunk(&self) -> usize {
        (CHUNK_BYTES / (4 * self.dimensions)).max(1) * self.dimensions
    }
}

impl Vectors for InMemory {
    fn len(&self) -> usize {
        self.values.len() / self.dimensions
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn chunks(&self) -> usize {
        self.values.len().div_ceil(self.chunk())
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        let values = &self.values[chunk * self.chunk()..];
        rows.clear();
        rows.extend_from_slice(&values[..values.len().min(self.chunk())]);
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(slices) = arguments.child {
        return child(&arguments, slices);
    }
    make_arrays(&arguments)?;
    descriptors(&arguments)?;
    for slices in TABLE_V {
        memory(&arguments, slices)?;
    }
    if !arguments.no_meta_set {
        for smallest in [MetaSetOptions::default().smallest, MetaSetOptions::default().largest] {
            sample_sets(&arguments, smallest)?;
        }
    }
    Ok(())
}

fn make_arrays(arguments: &Arguments) -> Result<()> {
    std::fs::create_dir_all(&arguments.folder)?;
    let sizes = [arguments.rows, arguments.dimensions, arguments.corpus_rows, arguments.corpus_dimensions];
    let wanted = sizes.map(|size| size.to_string()).join(" ");
    let stamp = arguments.folder.join("sizes");
    if std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let mut command = Command::new(&arguments.python);
    command.arg(&arguments.peer).arg("make").arg(&arguments.folder);
    let status = command.args(wanted.split(' ')).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(std::fs::write(stamp, wanted)?)
}

fn seconds<T>(runs: usize, mut run: impl FnMut() -> Result<T>) -> Result<(T, Vec<f64>)> {
    let mut times = Vec::new();
    loop {
        let started = Instant::now();
        let result = run()?;
        times.push(started.elapsed().as_secs_f64());
        if times.len() >= runs {
            return Ok((result, times));
        }
    }
}

fn row(label: &str, mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    println!("{label:<58} {best:>8.3} {median:>8.3}");
    median
}

/// Descriptors of the two sides, in memory and from disk, by us and by numpy and POT.
fn descriptors(arguments: &Arguments) -> Result<()> {
    let open = |name: &str| RawFile::open(&arguments.folder.join(name), arguments.dimensions);
    let (source_file, target_file) = (open("source.f32")?, open("target.f32")?);
    let sets: [(SetSide, &dyn Vectors); 2] =
        [(SetSide::Source, &source_file), (SetSide::Target, &target_file)];
    let directions = Directions::new(Slices::Random(64), 0, &sets)?;
    let bytes: &[u8] = bytemuck::cast_slice(directions.values());
    std::fs::write(arguments.folder.join("directions.f32"), bytes)?;
    println!("{:<58} {:>8} {:>8}", "seconds", "best", "median");
    let theirs = peer(arguments)?;
    let list = |name: &str| -> Vec<f64> {
        theirs[name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let read = row("numpy: reading both sides", list("read_s"));
    let product = row("numpy: the two products with 64 directions", list("product_s"));
    let pot = row("POT: sliced_wasserstein_distance, 64 directions", list("pot_s"));
    let numpy = row("numpy: moments, Mahalanobis", list("numpy_s"));
    let ours = {
        let (source, target) = (source_file.in_memory()?, target_file.in_memory()?);
        let all = || describe(&source, &target, directions.clone());
        let (descriptors, times) = seconds(arguments.runs, all)?;
        let ours = row("sqlgauge: all descriptors, 64 directions, in memory", times);
        compare(&descriptors, &theirs);
        for slices in TABLE_V {
            let slices: Slices = slices.parse()?;
            let all = || Ok(sqlgauge_shift::shift(&source, &target, slices, 0)?);
            row(
                &format!("sqlgauge: all, directions {slices} and their making"),
                seconds(arguments.runs, all)?.1,
            );
        }
        ours
    };
    let all = || describe(&source_file, &target_file, directions.clone());
    let disk = row("sqlgauge: all descriptors, 64 directions, from disk", seconds(arguments.runs, all)?.1);
    println!("POT / ours (in memory): {:.1}", pot / ours);
    println!("(POT + numpy) / ours (in memory): {:.1}", (pot + numpy) / ours);
    println!("ours (from disk) / (numpy's product + reading): {:.2}", disk / (product + read));
    Ok(())
}

fn describe(source: &dyn Vectors, target: &dyn Vectors, directions: Directions) -> Result<Descriptors> {
    Ok(Reference::build(source, directions)?.describe(target)?)
}

fn compare(ours: &Descriptors, theirs: &Value) {
    let pairs = [
        ("swd", ours.sliced.distance),
        ("swd_f64", ours.sliced.distance),
        ("mean_shift", ours.frechet.mean_shift),
        ("spread_shift", ours.frechet.spread_shift),
        ("mahalanobis_mean", ours.mahalanobis.mean),
        ("mahalanobis_std", ours.mahalanobis.std),
    ];
    for (name, value) in pairs {
        let other = theirs[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "  {name:<20} ours {value:>14.8} theirs {other:>14.8} relative {:.1e}",
            (value / other - 1.0).abs()
        );
    }
}

fn peer(arguments: &Arguments) -> Result<Value> {
    let mut command = Command::new(&arguments.python);
    command.arg(&arguments.peer).arg("time").arg(&arguments.folder);
    let output = command.arg(arguments.dimensions.to_string()).arg(arguments.runs.to_string()).output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Peak memory of a process that describes the target from disk.
fn memory(arguments: &Arguments, slices: &str) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--child").arg(slices).arg("--folder").arg(&arguments.folder);
    command.arg("--dimensions").arg(arguments.dimensions.to_string());
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    print!("{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

fn child(arguments: &Arguments, slices: Slices) -> Result<()> {
    let open = |name: &str| RawFile::open(&arguments.folder.join(name), arguments.dimensions);
    let (source, target) = (open("source.f32")?, open("target.f32")?);
    let before = peak_memory()?;
    sqlgauge_shift::shift(&source, &target, slices, 0)?;
    let added = peak_memory()? - before;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let projections = mib(4 * slices.count() * (source.len() + target.len()));
    let embeddings = mib(4 * arguments.dimensions * (source.len() + target.len()));
    println!(
        "memory from disk, slices {slices}: {added:.1} MiB = {:.2} of the projections ({projections:.1} MiB), {:.3} of the vectors",
        added / projections,
        added / embeddings
    );
    Ok(())
}

/// Peak resident memory of this process in MiB.
fn peak_memory() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}

fn sample_sets(arguments: &Arguments, smallest: usize) -> Result<()> {
    let folder = &arguments.folder;
    let vectors = RawFile::open(&folder.join("corpus.f32"), arguments.corpus_dimensions)?;
    let source = RawFile::open(&folder.join("known.f32"), arguments.corpus_dimensions)?;
    let numbers = |name: &str| -> Result<Vec<u32>> {
        let bytes = std::fs::read(folder.join(name))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    };
    let correct: Vec<f64> = numbers("correct.u32")?.into_iter().map(f64::from).collect();
    let groupings = [Grouping { name: "database".to_owned(), of: numbers("groups.u32")? }];
    let corpus = Corpus { vectors: &vectors, correct: &correct, groupings: &groupings };
    let options = MetaSetOptions { sets: arguments.sets, smallest, ..MetaSetOptions::default() };
    let build = || {
        let sides: [(SetSide, &dyn Vectors); 2] = [(SetSide::Source, &source), (SetSide::Corpus, &vectors)];
        let reference = Reference::build(&source, Directions::new(Slices::default(), 0, &sides)?)?;
        Ok(meta_set(&reference, &corpus, &options, &|_| ())?)
    };
    let (sets, times) = seconds(1, build)?;
    let drawn: usize = sets.iter().map(|set| set.size).sum();
    let label = format!("sqlgauge: meta-set, {} sets, {drawn} vectors drawn", sets.len());
    row(&label, times);
    let (low, high) = sets
        .iter()
        .fold((1.0_f64, 0.0_f64), |(low, high), set| (low.min(set.accuracy), high.max(set.accuracy)));
    println!("  accuracy from {low:.3} to {high:.3}; peak memory {:.0} MiB", peak_memory()?);
    Ok(())
}
