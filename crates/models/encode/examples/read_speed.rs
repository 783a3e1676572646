//! How fast an embedding file is read, beside reading its bytes: `read_speed [ROWS] [DIMENSIONS] [THREADS]`.

use std::error::Error;
use std::io::Read;
use std::time::Instant;

use rayon::prelude::*;
use sqlgauge_encode::{EmbeddingFile, EmbeddingRow, EmbeddingWriter, Metadata, Vectors};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (rows, dimensions, threads) = (next(20_000)?, next(4096)?, next(2)?);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let path = std::env::temp_dir().join(format!("read_speed.{}.parquet", std::process::id()));
    let begun = Instant::now();
    let mut writer = EmbeddingWriter::create(&path, &Metadata::default(), dimensions)?;
    let mut vector = vec![0.0_f32; dimensions];
    for row in 0..rows {
        vector.iter_mut().zip(0_u16..).for_each(|(value, place)| *value = f32::from(place) + row as f32);
        let (id, db_id) = (row.to_string(), "d");
        writer.push(EmbeddingRow { id: &id, db_id, vector: &vector, correct: None, confidence: None })?;
    }
    writer.finish()?;
    println!("written in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    for _ in 0..3 {
        let begun = Instant::now();
        let file = EmbeddingFile::open(&path)?;
        let read = |buffer: &mut Vec<f32>, chunk| file.read(chunk, buffer).map(|()| buffer.len());
        let read: usize = (0..file.chunks())
            .into_par_iter()
            .map_init(Vec::new, read)
            .collect::<Result<Vec<_>, _>>()?
            .iter()
            .sum();
        let vectors = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut plain = std::fs::File::open(&path)?;
        let mut buffer = vec![0; 8 << 20];
        while plain.read(&mut buffer)? > 0 {}
        let bytes = begun.elapsed().as_secs_f64();
        let gigabytes = read as f64 * 4e-9;
        println!(
            "vectors: {:.0} ms, {:.2} GB/s on {threads} threads; plain read on one thread: {:.0} ms",
            vectors * 1e3,
            gigabytes / vectors,
            bytes * 1e3
        );
    }
    std::fs::remove_file(&path)?;
    Ok(())
}
