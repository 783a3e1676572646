//! The pictures of README: pages of the demo as Chromium shows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::root;

/// Programs that are Chromium, the first that is there is taken.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Columns and rows of a picture.
const SIZE: (u32, u32) = (1200, 760);

/// Page of the demo, picture, and whether the reader prefers dark colours.
const PICTURES: [(&str, &str, bool); 3] = [
    ("run/report.html", "report.png", false),
    ("run/report.html", "report-dark.png", true),
    ("index.html", "demo.png", false),
];

/// Runs the demo and writes `docs/images`.
pub(crate) fn take() -> Result<()> {
    let demo = root().join("target/pictures");
    crate::cargo(&["run", "--quiet", "--bin", "sqlgauge", "--", "demo", "--out", "target/pictures"])?;
    let images = root().join("docs/images");
    std::fs::create_dir_all(&images).with_context(|| format!("{} cannot be made", images.display()))?;
    for (page, picture, is_dark) in PICTURES {
        shoot(&demo.join(page), &images.join(picture), is_dark)?;
        println!("docs/images/{picture}");
    }
    Ok(())
}

fn shoot(page: &Path, picture: &Path, is_dark: bool) -> Result<()> {
    let browser = browser()?;
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=3000",
    ]);
    command.arg(format!("--window-size={},{}", SIZE.0, SIZE.1));
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
