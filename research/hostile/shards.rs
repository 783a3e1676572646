//! Edited shards of a run: `merge` refuses them, or what it writes is the run that the shards were.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use sqlgauge_base::Random;
use sqlgauge_research::measure_within;

use crate::report::{END, LIMIT, Report};
use crate::{Round, shop};

/// Shards of the run.
const SHARDS: usize = 3;
/// What a run is.
const FILES: [&str; 3] = ["run.json", "items.jsonl", "summary.json"];

/// Edits a shard.
type Edit = fn(&Path, &mut Random) -> Result<()>;

static CASES: &[(&str, Edit)] = &[
    ("scores edited", |shard, _| replace(shard, "items.jsonl", "\":0.0", "\":1.0")),
    ("db_id edited", |shard, _| replace(shard, "items.jsonl", "\"db_id\":\"shop\"", "\"db_id\":\"other\"")),
    ("metrics edited", |shard, _| replace(shard, "run.json", "ex-spider@1", "ex-bird@1")),
    ("log cut", |shard, random| {
        edit(shard, "items.jsonl", |bytes| {
            let length = random.below(bytes.len());
            bytes.truncate(length);
        })
    }),
    ("line twice", |shard, _| {
        edit(shard, "items.jsonl", |bytes| {
            let end = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let line = bytes[..end].to_vec();
            bytes.extend(line);
        })
    }),
    ("log empty", |shard, _| edit(shard, "items.jsonl", Vec::clear)),
    ("log gone", |shard, _| Ok(fs::remove_file(shard.join("items.jsonl"))?)),
    ("log a folder", |shard, _| {
        fs::remove_file(shard.join("items.jsonl"))?;
        Ok(fs::create_dir(shard.join("items.jsonl"))?)
    }),
    #[cfg(unix)]
    ("log a pipe", |shard, _| {
        let path = shard.join("items.jsonl");
        fs::remove_file(&path)?;
        std::process::Command::new("mkfifo").arg(path).status()?;
        Ok(())
    }),
    ("bytes of the log", |shard, random| flip(shard, "items.jsonl", random)),
    ("bytes of run.json", |shard, random| flip(shard, "run.json", random)),
];

fn edit(shard: &Path, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
    let path = shard.join(file);
    let mut bytes = fs::read(&path)?;
    change(&mut bytes);
    Ok(fs::write(path, bytes)?)
}

fn replace(shard: &Path, file: &str, from: &str, to: &str) -> Result<()> {
    let path = shard.join(file);
    let text = fs::read_to_string(&path)?;
    ensure!(text.contains(from), "{} has no {from}", path.display());
    Ok(fs::write(path, text.replacen(from, to, 1))?)
}

/// Changes one to four bits.
fn flip(shard: &Path, file: &str, random: &mut Random) -> Result<()> {
    edit(shard, file, |bytes| {
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
    })
}

pub(crate) fn run(round: &Round<'_>, report: &mut Report) -> Result<()> {
    let cases: Vec<_> = CASES.iter().filter(|(case, _)| round.asks("shards", case)).collect();
    if cases.is_empty() {
        return Ok(());
    }
    let folder = round.folder.join("shards");
    fs::create_dir_all(&folder)?;
    shop::write(&folder, 40)?;
    for shard in 1..=SHARDS {
        let (place, part) = (format!("part{shard}"), format!("{shard}/{SHARDS}"));
        let flags = ["--out", &place, "--shard", &part, "--quiet"];
        let status = round.program(shop::SCORE.iter().chain(&flags)).current_dir(&folder).status()?;
        ensure!(status.success(), "shard {shard} was not scored");
    }
    let ended = merge(round, &folder, "whole", &["part1", "part2", "part3"])?;
    ensure!(ended.code == Some(0), "the shards are not merged: {}", ended.error);
    for (case, change) in cases {
        for at in 0..round.scaled(4) {
            let mut random = round.random(&format!("{case}{at}"));
            let edited = folder.join("edited");
            fs::create_dir(&edited)?;
            for entry in fs::read_dir(folder.join("part2"))? {
                let entry = entry?;
                if entry.path().is_file() {
                    fs::copy(entry.path(), edited.join(entry.file_name()))?;
                }
            }
            change(&edited, &mut random)?;
            let ended = merge(round, &folder, "merged", &["part1", "edited", "part3"])?;
            let is_other = |name: &&str| {
                fs::read(folder.join("merged").join(name)).ok()
                    != fs::read(folder.join("whole").join(name)).ok()
            };
            let wrong =
                FILES.iter().find(|name| ended.code == Some(0) && **name != "run.json" && is_other(name));
            let wrong = wrong.map(|name| format!("merged, with another {name}"));
            report.add(("shards", case, "merge"), &ended, LIMIT, wrong);
            fs::remove_dir_all(&edited)?;
            if folder.join("merged").exists() {
                fs::remove_dir_all(folder.join("merged"))?;
            }
        }
    }
    Ok(())
}

fn merge(round: &Round<'_>, folder: &Path, out: &str, shards: &[&str]) -> Result<sqlgauge_research::Ended> {
    let mut command = round.program(["merge", "--quiet", "--out", out]);
    measure_within(command.args(shards).current_dir(folder), END)
}
