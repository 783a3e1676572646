//! The pictures of README and the index: pages of the demo as Chromium shows them.
//!
//! # Contract
//! `docs/images/shown.sha256` has the digest of what the pictures show: the sample, and the style and scripts of reports. `cargo
//! xtask docs --check` fails when it is another one, until `cargo xtask pictures` has taken the pictures again.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use sqlgauge_run::sha256_of_bytes;

use crate::root;

/// Programs that are Chromium, the first that is there is taken.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Pixels of a picture from left to right.
const WIDTH: u32 = 1200;

/// Page of the demo, its first pixels from top to bottom, picture, and whether the reader prefers dark colours.
const PICTURES: [(&str, u32, &str, bool); 3] = [
    ("run/report.html#/item/careful/lib-08", 1000, "item.png", false),
    ("run/report.html#/item/careful/lib-08", 1000, "item-dark.png", true),
    ("index.html", 760, "demo.png", false),
];
/// What they show.
const SHOWN: [&str; 2] = ["crates/core/sample", "crates/score/report/web"];
const DIGEST: &str = "docs/images/shown.sha256";

/// Runs the demo and writes `docs/images`.
pub(crate) fn take() -> Result<()> {
    let demo = root().join("target/pictures");
    crate::cargo("run --quiet --bin sqlgauge -- demo --out target/pictures")?;
    let images = root().join("docs/images");
    std::fs::create_dir_all(&images).with_context(|| format!("{} cannot be made", images.display()))?;
    for (page, height, picture, is_dark) in PICTURES {
        shoot(&demo.join(page), height, &images.join(picture), is_dark)?;
        println!("docs/images/{picture}");
    }
    let digest = root().join(DIGEST);
    std::fs::write(&digest, shown()?).with_context(|| format!("{} cannot be written", digest.display()))
}

/// Whether the pictures show what there is.
pub(crate) fn check() -> Result<()> {
    ensure!(
        std::fs::read_to_string(root().join(DIGEST)).ok() == Some(shown()?),
        "the pictures are older than what they show; run `cargo xtask pictures` and commit the result"
    );
    Ok(())
}

/// The digest of all files that the pictures show.
fn shown() -> Result<String> {
    let mut files = Vec::new();
    for folder in SHOWN {
        collect(&root().join(folder), &mut files)?;
    }
    files.sort();
    let mut digests = String::new();
    for file in files {
        let bytes = std::fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        digests.push_str(&sha256_of_bytes(&bytes));
    }
    Ok(sha256_of_bytes(digests.as_bytes()) + "\n")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn shoot(page: &Path, height: u32, picture: &Path, is_dark: bool) -> Result<()> {
    let browser = browser()?;
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=3000",
    ]);
    command.arg(format!("--window-size={WIDTH},{height}"));
    command.arg(format!("--screenshot={}", picture.display()));
    if is_dark {
        command.args(["--blink-settings=preferredColorScheme=0", "--force-dark-mode"]);
    }
    let output = command
        .arg(format!("file://{}", page.display()))
        .output()
        .context("the browser cannot be started")?;
    ensure!(output.status.success(), "the browser failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn browser() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| BROWSERS.map(|name| folder.join(name)))
        .find(|program| program.is_file())
        .context("Chromium is not on the PATH; install it, for example with `apt-get install chromium`")
}
