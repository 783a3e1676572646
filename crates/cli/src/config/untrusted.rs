//! What a project's file may set before its user trusts it.
//!
//! # Contract
//! - It names no program, no server and no environment variable.
//! - An output lies below the working directory: a relative path without `..`, through no link, and no name in it begins with a
//!   dot. It is new, or an empty folder, or the folder of a run, in which nothing is a link or has a second name elsewhere.
//! - An input may lie anywhere: what is read is sent to no server and written to no place that the user did not name. It is a
//!   file or a folder, and neither a device nor a pipe.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path};

use anyhow::{Context, Result, anyhow, bail};
use clap::Arg;
use sqlgauge_base::server;
use sqlgauge_run::MANIFEST;

use crate::values::{Role, role};

/// Checks the words of the command line, `--flag=value`, that a file sets for an option.
///
/// # Errors
/// When the file may not set it; the message names the file and the remedy.
pub(super) fn check(arg: &Arg, words: &[OsString], file: &Path) -> Result<()> {
    let long = arg.get_long().unwrap_or_default();
    let path = file.display();
    words.iter().try_for_each(|word| check_value(arg, value_of(word))).map_err(|reason| {
        anyhow!(
            "{reason}, and {path} is not trusted: read it and run `sqlgauge trust {path}`, or give --{long} on the command line"
        )
    })
}

/// What stands behind the first `=`, as text: a name that is not UTF-8 cannot stand in a TOML file.
fn value_of(word: &OsStr) -> &str {
    word.to_str().and_then(|word| word.split_once('=')).map_or("", |(_, value)| value)
}

fn check_value(arg: &Arg, value: &str) -> Result<()> {
    match role(arg) {
        Some(Role::Plain) => Ok(()),
        Some(Role::Input) => {
            let path = value.split_once('=').map_or(value, |(_, path)| path);
            [value, path].into_iter().try_for_each(check_input)
        }
        Some(Role::Output) => check_output(Path::new(value)),
        Some(Role::Program) => bail!("names a program, {value}"),
        Some(Role::Address) => bail!("names a server, {value}"),
        Some(Role::Variable) => bail!("names an environment variable, {value}"),
        None => bail!("may not be set by such a file"),
    }
}

fn check_input(value: &str) -> Result<()> {
    let names_server = server::is_address(Path::new(value))
        || value.contains("://")
        || ["http:", "https:"].iter().any(|scheme| value.starts_with(scheme));
    if names_server {
        bail!("names a server, {value}");
    }
    match fs::metadata(value) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            bail!("reads {value}, a device, a pipe or a socket")
        }
        _ => Ok(()),
    }
}

/// `-` is standard output.
fn check_output(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    let checked = below_working_directory(path).with_context(|| format!("writes {}", path.display()));
    // One line with its causes, so that the remedy stands behind all of it.
    checked.map_err(|error| anyhow!("{error:#}"))
}

fn below_working_directory(path: &Path) -> Result<()> {
    let folder = fs::canonicalize(".").context("the working directory cannot be read")?;
    let mut place = folder.clone();
    let mut last = None;
    for component in path.components() {
        match component {
            Component::CurDir => continue,
            Component::Normal(name) => place.push(name),
            _ => bail!("it may lie outside of the working directory"),
        }
        last = match fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_symlink() => bail!("it leads through the link {}", place.display()),
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => bail!("{} cannot be read: {error}", place.display()),
        };
        // The name that a folder has, which on Windows can be asked for by a short one.
        let real = if last.is_some() { fs::canonicalize(&place)? } else { place.clone() };
        let Ok(below) = real.strip_prefix(&folder) else { bail!("it lies outside of the working directory") };
        if below.components().any(|name| is_hidden(name.as_os_str())) {
            bail!("a name in it begins with a dot or has a colon");
        }
    }
    match last {
        None if place == folder => bail!("it is the working directory itself"),
        None => Ok(()),
        Some(metadata) if metadata.is_dir() => ours(&place),
        Some(_) => bail!("it is there already"),
    }
}

/// Hidden files configure the shell, Git and editors; behind a colon Windows keeps a second file under the same name.
fn is_hidden(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || (cfg!(windows) && name.contains(&b':'))
}

/// Whether a folder is empty or one of a run, and leads nowhere else.
fn ours(folder: &Path) -> Result<()> {
    let is_filled = fs::read_dir(folder)?.next().is_some();
    let is_run = fs::symlink_metadata(folder.join(MANIFEST)).is_ok_and(|metadata| metadata.is_file());
    if is_filled && !is_run {
        bail!("the folder has files and no {MANIFEST}");
    }
    leads_nowhere(folder)
}

fn leads_nowhere(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            leads_nowhere(&path)?;
        } else if !metadata.is_file() || has_other_names(&metadata) {
            bail!("{} is a link or has other names", path.display());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

/// Replacing a file by a rename leaves its other names as they are, so only what is appended to would be at risk.
#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    fn refuse_all(command: &Command, refused: &mut usize) {
        for arg in crate::config::options(command) {
            let Some(long) = arg.get_long() else { continue };
            let hostile: &[&str] = match role(arg) {
                Some(Role::Plain) => continue,
                Some(Role::Input) => &[
                    "http://h/v1",
                    "http:h/v1",
                    "postgresql://h/d",
                    "A=mysql://h/d",
                    "duckdb:x",
                    "/dev/null",
                    "A=/dev/zero",
                ],
                Some(Role::Output) => &[
                    "/tmp/new",
                    "../new",
                    "new/../../new",
                    ".envrc",
                    "./.git/hooks/new",
                    "Cargo.toml",
                    "src",
                ],
                Some(Role::Program | Role::Address | Role::Variable) | None => &["new"],
            };
            for value in hostile {
                let error =
                    check(arg, &[format!("--{long}={value}").into()], Path::new("p.toml")).unwrap_err();
                let error = error.to_string();
                for part in ["p.toml", "sqlgauge trust p.toml", long] {
                    assert!(error.contains(part), "{}, {value}: {error}", command.get_name());
                }
                *refused += 1;
            }
            if role(arg) == Some(Role::Output) {
                for value in ["new", "new/report.html", "./new", "-"] {
                    check(arg, &[format!("--{long}={value}").into()], Path::new("p.toml")).unwrap();
                }
            }
        }
        command.get_subcommands().for_each(|inner| refuse_all(inner, refused));
    }

    /// From a file that is not trusted each option of each command refuses what its role forbids.
    #[test]
    fn every_option_refuses_what_its_role_forbids() {
        let mut refused = 0;
        refuse_all(&crate::built(), &mut refused);
        assert!(refused > 500, "{refused} values");
    }
}
