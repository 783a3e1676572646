//! The programs of the tests: one for each crate.
//!
//! # Contract
//! `tests/it/main.rs` lists a module for each file of `tests/it`. A file of `tests` is a program of its own only where its
//! tests cannot share a process, and its head gives the reason: "A program of its own: …".

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use crate::wings::tests::metadata;

    /// All programs of tests in the workspace.
    const MOST: usize = 45;

    /// The programs of the workspace's tests: the file that each begins with.
    fn programs(metadata: &Value) -> Vec<PathBuf> {
        let targets = metadata["packages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|package| package["targets"].as_array().unwrap())
            .filter(|target| target["kind"][0] == "test");
        targets.map(|target| PathBuf::from(target["src_path"].as_str().unwrap())).collect()
    }

    /// The files of a folder of modules that the file which lists them leaves out.
    fn left_out(list: &Path) -> Vec<PathBuf> {
        let text = fs::read_to_string(list).unwrap();
        let mut left_out = Vec::new();
        for entry in fs::read_dir(list.parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            let list_below = path.join("mod.rs");
            let is_module =
                path.extension().is_some_and(|extension| extension == "rs") || list_below.is_file();
            let line = format!("mod {};", path.file_stem().unwrap().to_str().unwrap());
            if path == list || !is_module {
                continue;
            }
            if !text.lines().any(|listed| listed == line) {
                left_out.push(path);
            } else if list_below.is_file() {
                left_out.extend(self::left_out(&list_below));
            }
        }
        left_out
    }

    #[test]
    fn each_file_of_tests_is_in_a_program() {
        let (mut lists, mut without_reason) = (0, Vec::new());
        let programs = programs(&metadata());
        for program in &programs {
            if program.ends_with("tests/it/main.rs") {
                lists += 1;
                assert_eq!(
                    left_out(program),
                    Vec::<PathBuf>::new(),
                    "add `mod NAME;` to {}",
                    program.display()
                );
            } else if !fs::read_to_string(program).unwrap().contains("//! A program of its own: ") {
                without_reason.push(program);
            }
        }
        assert_eq!(
            without_reason,
            Vec::<&PathBuf>::new(),
            "move it to tests/it, or write why it cannot be there"
        );
        assert!(lists > 20, "{lists}");
        assert!(programs.len() <= MOST, "{} programs of tests", programs.len());
    }

    #[test]
    fn a_forgotten_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("main.rs"), "mod deep;\nmod listed;\n").unwrap();
        fs::write(at("deep/mod.rs"), "").unwrap();
        for name in ["listed.rs", "forgotten.rs", "deep/below.rs"] {
            fs::write(at(name), "").unwrap();
        }
        let mut left_out = left_out(&at("main.rs"));
        left_out.sort();
        assert_eq!(left_out, [at("deep/below.rs"), at("forgotten.rs")]);
    }
}
