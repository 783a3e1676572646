//! Folders of CSV and Parquet files, for `tables`, and as results of a system for `score --results`.
//!
//! | case | what is hostile |
//! |---|---|
//! | many files | 1,500 CSV files |
//! | many columns | a file of 2,000 columns |
//! | names alike | a header of 500 equal names |
//! | long cell | a cell of 8 MB |
//! | open quote | a quote that nothing closes, before 8 MB |
//! | ragged | rows of 0 to 40 values |
//! | bytes | random bytes, NUL bytes, UTF-16 without its mark |
//! | long numbers | numbers of 400 digits |
//! | deep | folders 200 deep |
//! | links | links out of the folder, to themselves, and in a circle |
//! | pipe | a pipe that nobody writes to |
//! | folder as a file | a folder with the name of a table |
//! | Parquet | files that are Parquet at their ends alone, with absurd lengths |

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use sqlgauge_base::Random;
use sqlgauge_research::measure_within;

use crate::Round;
use crate::report::{END, LIMIT, Report};

/// Writes the hostile files into a folder that has one good table.
type Fill = fn(&Round<'_>, &Path, &mut Random) -> Result<()>;

static CASES: &[(&str, Fill)] = &[
    ("many files", many_files),
    ("many columns", many_columns),
    ("names alike", |round, folder, _| {
        let names = vec!["a"; round.scaled(500)].join(",");
        write(
            folder,
            "alike.csv",
            format!("{names}\n{}", format!("{}\n", names.replace('a', "1")).repeat(20)),
        )
    }),
    ("long cell", |round, folder, _| {
        write(folder, "cell.csv", format!("a,b\n1,{}\n2,x\n", "y".repeat(round.scaled(8 << 20))))
    }),
    ("open quote", |round, folder, _| {
        write(folder, "quote.csv", format!("a,b\n1,\"{}", "y,z\n".repeat(round.scaled(2 << 20))))
    }),
    ("ragged", |round, folder, random| {
        let row = |random: &mut Random| vec!["7"; random.below(41)].join(",") + "\n";
        let rows: String = (0..round.scaled(2000)).map(|_| row(random)).collect();
        write(folder, "ragged.csv", format!("a,b,c\n{rows}"))
    }),
    ("bytes", |round, folder, random| {
        let bytes =
            |random: &mut Random| (0..round.scaled(100_000)).map(|_| byte(random)).collect::<Vec<u8>>();
        write(folder, "random.csv", bytes(random))?;
        write(folder, "nul.csv", b"a,b\n1,\0\n\0,2\n".repeat(round.scaled(1000)))?;
        let wide: Vec<u8> = "a,b\n1,2\n".repeat(100).encode_utf16().flat_map(u16::to_le_bytes).collect();
        write(folder, "wide.csv", wide)
    }),
    ("long numbers", |round, folder, random| {
        let number =
            |random: &mut Random| (0..400).map(|_| char::from(b'0' + byte(random) % 10)).collect::<String>();
        let rows = (0..round.scaled(500)).map(|at| format!("{at},{}\n", number(random)));
        write(folder, "numbers.csv", format!("id,number\n{}", rows.collect::<String>()))
    }),
    ("deep", |round, folder, _| {
        let deep = (0..round.scaled(200)).fold(folder.to_owned(), |folder, _| folder.join("d"));
        fs::create_dir_all(&deep)?;
        write(&deep, "deep.csv", "id,name\n1,a\n2,b\n")
    }),
    #[cfg(unix)]
    ("links", |_, folder, _| {
        use std::os::unix::fs::symlink;
        symlink("/etc", folder.join("out"))?;
        symlink("/etc/passwd", folder.join("passwd.csv"))?;
        symlink("self.csv", folder.join("self.csv"))?;
        Ok(symlink(".", folder.join("circle"))?)
    }),
    #[cfg(unix)]
    ("pipe", |_, folder, _| {
        Command::new("mkfifo").arg(folder.join("pipe.csv")).arg(folder.join("pipe.parquet")).status()?;
        Ok(())
    }),
    ("folder as a file", |_, folder, _| Ok(fs::create_dir(folder.join("folder.csv"))?)),
    ("Parquet", |round, folder, random| {
        for (at, length) in [0_u32, 1, 40, u32::MAX, 1 << 31].into_iter().enumerate() {
            let mut bytes = b"PAR1".to_vec();
            bytes.extend((0..round.scaled(1000)).map(|_| byte(random)));
            bytes.extend(length.to_le_bytes());
            bytes.extend(b"PAR1");
            write(folder, &format!("p{at}.parquet"), bytes)?;
        }
        Ok(())
    }),
];

fn byte(random: &mut Random) -> u8 {
    u8::try_from(random.below(256)).unwrap_or_default()
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
    Ok(fs::write(folder.join(name), bytes)?)
}

fn many_files(round: &Round<'_>, folder: &Path, _: &mut Random) -> Result<()> {
    for at in 0..round.scaled(1500) {
        let rows = (0..5).map(|row| format!("{},n{row},{}\n", row + at, (row * at) % 3));
        write(folder, &format!("f{at}.csv"), format!("id,name,a\n{}", rows.collect::<String>()))?;
    }
    Ok(())
}

fn many_columns(round: &Round<'_>, folder: &Path, random: &mut Random) -> Result<()> {
    let columns = round.scaled(2000);
    let mut text = (0..columns).map(|at| format!("c{at}")).collect::<Vec<_>>().join(",");
    for _ in 0..50 {
        text.push('\n');
        for at in 0..columns {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}{}", if at == 0 { "" } else { "," }, random.below(9));
        }
    }
    write(folder, "columns.csv", text + "\n")
}

pub(crate) fn run(round: &Round<'_>, report: &mut Report) -> Result<()> {
    for (case, fill) in CASES.iter().filter(|(case, _)| round.asks("folders", case)) {
        let folder = round.folder.join("folders").join(case.replace(' ', "_"));
        let sources = folder.join("sources");
        fs::create_dir_all(&sources)?;
        write(&sources, "good.csv", "id,name\n1,a\n2,b\n3,c\n")?;
        fill(round, &sources, &mut round.random(case))?;
        for name in ["tables", "tables --strict"] {
            let corpus = folder.join(name.replace(' ', "_"));
            let mut command = round.program(name.split(' '));
            command.arg(&sources).arg("--out").arg(&corpus);
            let ended = measure_within(&mut command, END)?;
            let wrong = wrong(case, name, ended.code, &corpus)?;
            report.add(("folders", case, name), &ended, LIMIT, wrong);
        }
        let golds = golds_of(&sources, &folder.join("golds"))?;
        let mut command = round.program(["score", "--results"]);
        command.arg(format!("s={}", sources.display())).arg("--gold-results").arg(golds);
        let ended = measure_within(command.arg("--out").arg(folder.join("scored")), END)?;
        // What a file says wrong is an outcome of its item. What cannot be opened as a file, or is there twice, is refused.
        let may_refuse = ["links", "pipe", "folder as a file"].contains(case);
        let wrong = (ended.code != Some(0) && !may_refuse)
            .then(|| format!("code {:?}, though one result is good", ended.code));
        report.add(("folders", case, "score --results"), &ended, LIMIT, wrong);
    }
    Ok(())
}

/// A folder with a gold for each result.
fn golds_of(sources: &Path, golds: &Path) -> Result<PathBuf> {
    fs::create_dir_all(golds)?;
    for entry in fs::read_dir(sources)? {
        if let Some(stem) = entry?.path().file_stem() {
            let name = format!("{}.csv", stem.to_string_lossy());
            write(golds, &name, "id,name\n1,a\n2,b\n3,c\n")?;
        }
    }
    Ok(golds.to_owned())
}

/// One bad file never costs the good one, and nothing of what lies outside is in the corpus.
fn wrong(case: &str, command: &str, code: Option<i32>, corpus: &Path) -> Result<Option<String>> {
    if command == "tables" && code != Some(0) {
        return Ok(Some(format!("code {code:?}, though one table is good")));
    }
    let log = corpus.join("tables.jsonl");
    if case == "links" && log.exists() && fs::read_to_string(log)?.contains("passwd") && holds_root(corpus)? {
        return Ok(Some("what a link leads to is in the corpus".to_owned()));
    }
    Ok(None)
}

/// Whether a file below the folder has the beginning of `/etc/passwd`.
fn holds_root(folder: &Path) -> Result<bool> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let holds = if path.is_dir() {
            holds_root(&path)?
        } else {
            fs::read(&path)?.windows(8).any(|bytes| bytes == b"/root:/b")
        };
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}
