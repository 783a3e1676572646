//! Starts programs that take no code from the working directory, which may be the folder of a stranger.
//!
//! A name is looked up in the absolute entries of `PATH` alone. A program runs in the folder where it lies: there, a relative
//! entry of `PATH`, `LD_LIBRARY_PATH` or `PYTHONPATH`, the search for DLLs, and the files of version managers
//! (`.python-version`, `.tool-versions`) cannot lead into the working directory.
//!
//! Absolute entries count even inside the working directory, where many people activate a virtual environment. So does a
//! path with a separator, such as `./z3`: the user named that file.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The absolute path of a program: of a bare name, the first file that can be run in the absolute entries of the search
/// path; else the path itself, seen from the working directory.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] for a name that is in none of them, and what the system says of the working directory.
pub fn find(program: &Path, search_path: Option<&OsStr>) -> io::Result<PathBuf> {
    if program.parent() != Some(Path::new("")) {
        return std::path::absolute(program);
    }
    let name = file_name(program);
    let folders = search_path.into_iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute());
    let mut programs = folders.map(|folder| folder.join(&name)).filter(|path| can_run(path));
    programs.next().ok_or_else(|| {
        let message = format!("{} is not in an absolute entry of PATH", program.display());
        io::Error::new(io::ErrorKind::NotFound, message)
    })
}

fn file_name(program: &Path) -> OsString {
    let mut name = program.as_os_str().to_owned();
    if !name.to_ascii_lowercase().as_encoded_bytes().ends_with(env::consts::EXE_SUFFIX.as_bytes()) {
        name.push(env::consts::EXE_SUFFIX);
    }
    name
}

#[cfg(unix)]
fn can_run(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn can_run(path: &Path) -> bool {
    // What Windows Store installs is a link that cannot be followed, only started.
    path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir())
}

/// Starts a program in the folder where it lies. Give it absolute paths.
///
/// # Errors
/// As [`find`], in this process's `PATH`.
pub fn command(program: &Path) -> io::Result<Command> {
    let mut command = command_here(program)?;
    // A virtual environment is a folder of links, so a link is not followed.
    let folder = Path::new(command.get_program()).parent().map(Path::to_owned);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    // They name the working directory to a shell script.
    command.env_remove("PWD").env_remove("OLDPWD");
    Ok(command)
}

/// Starts a program in the working directory: this program once more, which was started there already and gets paths that
/// may be relative, or a command with its arguments as the user typed it there.
///
/// # Errors
/// As [`find`], in this process's `PATH`.
pub fn command_here(program: &Path) -> io::Result<Command> {
    Ok(Command::new(find(program, env::var_os("PATH").as_deref())?))
}

/// Starts a Python as [`command`] does, which neither reads variables of the environment nor imports from its working
/// directory or from the user's packages.
///
/// # Errors
/// As [`find`], in this process's `PATH`.
pub fn python(program: &Path) -> io::Result<Command> {
    let mut command = command(program)?;
    command.arg("-I");
    Ok(command)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_name_is_taken_from_absolute_entries_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for (place, mode) in [(&first, 0o644), (&second, 0o755)] {
            fs::create_dir(place).unwrap();
            fs::write(place.join("z3"), "").unwrap();
            fs::set_permissions(place.join("z3"), fs::Permissions::from_mode(mode)).unwrap();
        }
        let up = env::current_dir().unwrap().components().skip(1).map(|_| "..").collect::<PathBuf>();
        let relative = up.join(second.strip_prefix("/").unwrap());
        assert!(relative.join("z3").is_file());
        let search = |entries: &[&Path]| find(Path::new("z3"), Some(&env::join_paths(entries).unwrap()));
        let nowhere = Path::new("");
        for entries in [&[&*relative][..], &[nowhere, Path::new("."), &relative], &[&first], &[]] {
            assert_eq!(search(entries).unwrap_err().kind(), io::ErrorKind::NotFound, "{entries:?}");
        }
        assert_eq!(search(&[nowhere, &relative, &first, &second]).unwrap(), second.join("z3"));
        assert_eq!(find(Path::new("z3"), None).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_path_is_the_users_word() {
        let here = env::current_dir().unwrap();
        for (typed, expected) in [
            ("./z3", here.join("z3")),
            ("tools/z3", here.join("tools/z3")),
            ("../z3", here.join("../z3")),
            ("/opt/z3", PathBuf::from("/opt/z3")),
        ] {
            assert_eq!(find(Path::new(typed), None).unwrap(), expected, "{typed}");
        }
    }

    #[test]
    fn a_program_runs_in_its_folder() {
        let program = find(Path::new("pwd"), env::var_os("PATH").as_deref()).unwrap();
        let printed = |mut command: Command| {
            let output = command.arg("-P").output().unwrap();
            PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
        };
        let folder = program.parent().unwrap().canonicalize().unwrap();
        assert_eq!(printed(command(Path::new("pwd")).unwrap()), folder);
        assert_eq!(printed(command_here(Path::new("pwd")).unwrap()), env::current_dir().unwrap());
    }
}
