//! What is started takes no code from the working directory, which may be the folder of a stranger.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Benchmark, stderr};

/// What Python would import at its start, or for the scripts that it runs.
const MODULES: [&str; 13] = [
    "os",
    "site",
    "sitecustomize",
    "usercustomize",
    "sysconfig",
    "encodings/__init__",
    "codecs",
    "json/__init__",
    "socket",
    "resource",
    "datetime",
    "duckdb",
    "_duckdb",
];
const PROGRAMS: [&str; 6] = ["z3", "python3", "python", "sqlgauge", "sh", "env"];
/// The dynamic loader ends a program that finds them in `LD_LIBRARY_PATH`.
const LIBRARIES: [&str; 4] = ["libz3.so", "libstdc++.so.6", "libduckdb.so", "libpython3.so"];

/// A folder with a benchmark, and with files that write `executed` when one of them is executed.
struct Trap {
    world: Benchmark,
}

impl Trap {
    fn new() -> Self {
        let world = Benchmark::new(
            &["SELECT name FROM item WHERE price > 2"],
            &["SELECT name FROM item WHERE price > 1"],
        );
        let trap = Self { world };
        let executed = trap.world.path("executed").display().to_string();
        for module in MODULES {
            trap.write(
                &format!("{module}.py"),
                &format!("open({executed:?}, 'a').write({module:?} + '\\n')\n"),
            );
        }
        trap.write("python3.pth", &format!("import builtins; open({executed:?}, 'a').write('pth')\n"));
        for folder in ["", "bin/"] {
            for program in PROGRAMS {
                let path = trap
                    .write(&format!("{folder}{program}"), &format!("#!/bin/sh\necho $0 >> '{executed}'\n"));
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            for library in LIBRARIES {
                trap.write(&format!("{folder}{library}"), "not a library\n");
            }
        }
        trap.write(
            "schema.sql",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);\n",
        );
        trap.write(
            "lists.jsonl",
            "{\"predictions\": [\"SELECT name FROM item\", \"SELECT id FROM item\"]}\n",
        );
        trap
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.world.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs a command in the folder; a bar stands between its arguments.
    fn run(&self, command: &str, environment: &[(&str, OsString)]) -> Output {
        let mut program = assert_cmd::Command::cargo_bin("sqlgauge").unwrap();
        program.current_dir(self.world.path("")).args(command.split('|').map(str::trim));
        program.envs(environment.iter().map(|(name, value)| (name, value)));
        program.output().unwrap()
    }

    fn assert_nothing_was_executed(&self, command: &str) {
        let executed = fs::read_to_string(self.world.path("executed")).unwrap_or_default();
        assert_eq!(executed, "", "{command}");
    }
}

/// Search paths that begin in the working directory.
fn relative_search() -> Vec<(&'static str, OsString)> {
    let mut path = OsString::from(":.:bin:");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    [("PATH", path)]
        .into_iter()
        .chain(["LD_LIBRARY_PATH", "PYTHONPATH"].map(|name| (name, ":.:bin".into())))
        .collect()
}

/// A pair that only a solver proves.
const VERIFY: &str = "verify | --schema | schema.sql | --left | SELECT max(price) FROM item WHERE price > 2 | \
    --right | SELECT max(price) FROM item WHERE price > 2 OR price > 3 | --json";

#[test]
fn no_command_executes_a_file_of_its_folder() {
    let searched = [("SQLGAUGE_SOLVER", OsString::new()), ("SQLGAUGE_PYTHON", "python3".into())];
    for relative in [false, true] {
        let trap = Trap::new();
        let mut environment = searched.to_vec();
        if relative {
            environment.extend(relative_search());
        }
        for (command, needs_sqlite) in [
            (VERIFY, true),
            (
                "score | --gold | gold.sql | --db | database | --pred | S=pred.sql | --metrics | verify | --out | run",
                true,
            ),
            ("pack | --gold | gold.sql | --db | database | --out | pack", true),
            (
                "vote | --gold | gold.sql | --db | database | --pred | S=lists.jsonl | --by | both | --out | vote",
                true,
            ),
            (
                "score | --gold | gold.sql | --db | duckdb:pred.sql | --pred | S=pred.sql | --metrics | ex | --out | duck",
                false,
            ),
            ("engines | check | --db | duckdb:pred.sql", false),
        ] {
            let output = trap.run(command, &environment);
            trap.assert_nothing_was_executed(command);
            assert_eq!(output.status.code() == Some(2), !needs_sqlite, "{command}: {}", stderr(&output));
        }
    }
}

/// The loader would end the solver over the `libstdc++.so.6` of the folder.
#[test]
fn relative_entries_change_no_outcome() {
    let trap = Trap::new();
    let plain = trap.run(VERIFY, &[]);
    let searched = trap.run(VERIFY, &relative_search());
    let verdict = |output: &Output| {
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (object["verdict"].clone(), object["stage"].clone())
    };
    assert_eq!(verdict(&searched), verdict(&plain));
    if std::env::var_os("SQLGAUGE_SOLVER").is_some() {
        assert_eq!(verdict(&plain).1, "smt", "{}", String::from_utf8_lossy(&plain.stdout));
    }
    trap.assert_nothing_was_executed(VERIFY);
}

/// DuckDB's process runs in another folder, so a relative address must lead to the same file.
#[test]
#[cfg(feature = "engines")]
fn a_relative_duckdb_file_scores_amid_hostile_files() {
    let Some(python) = std::env::var_os("SQLGAUGE_PYTHON") else {
        println!("skipped: SQLGAUGE_PYTHON names no Python with duckdb");
        return;
    };
    let trap = Trap::new();
    let script = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('CREATE TABLE item AS SELECT 1 id, 2.5 price, \\'a\\' AS name')";
    let status = std::process::Command::new(python)
        .args(["-I", "-c", script])
        .arg(trap.world.path("shop.duckdb"))
        .status();
    assert!(status.unwrap().success());
    let score = "score | --gold | gold.sql | --db | duckdb:{db_id}.duckdb | --pred | S=pred.sql | --metrics | ex | --out | run";
    let output = trap.run(score, &relative_search());
    assert!(output.status.success(), "{}", stderr(&output));
    let items = crate::common::items(&trap.world.path("run"));
    assert_eq!(items[0]["metrics"]["ex@1"], 1.0, "{}", items[0]);
    trap.assert_nothing_was_executed(score);
}

/// Tests may start what they like: those in `tests`, and what follows `#[cfg(test)]`.
#[test]
fn one_file_starts_all_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join("crates"), root.join("python/src")];
    let (mut files, mut starters) = (0, Vec::new());
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_owned();
            if path.is_dir() && name != "tests" && name != "benches" && name != "examples" {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let shipped =
                    text.split("#[cfg(test)]\n").next().unwrap().split("#[cfg(all(test").next().unwrap();
                files += 1;
                if starts_a_program(shipped) {
                    starters.push(path.strip_prefix(&root).unwrap().to_owned());
                }
            }
        }
    }
    assert!(files > 300, "{files} files");
    assert_eq!(
        starters,
        [Path::new("crates/base/src/program.rs")],
        "start programs by sqlgauge_base::program"
    );
}

/// Whether a source takes `Command` from `std::process` to make one, by that name or by another.
fn starts_a_program(source: &str) -> bool {
    let takes_command = source.split("process::").skip(1).any(|behind| {
        let names = behind.strip_prefix('{').and_then(|list| list.split('}').next());
        names.map_or(behind.starts_with("Command"), |list| list.contains("Command"))
    });
    takes_command
        && (source.contains("Command::new") || source.contains("Command as") || source.contains(":Command::"))
}
