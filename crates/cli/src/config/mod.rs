//! `sqlgauge.toml`: the flags of a project, so that they need not be typed.
//!
//! The file in the working directory, or the one that `--config FILE` names; after it the user's own,
//! `~/.config/sqlgauge/config.toml`. A key is the long name of a flag without
//! its dashes, `_` or `-` between words; a table is named like a command (`compat.spider` for two words) and its keys
//! are for that command; keys above all tables are for every command that has the flag. A list gives a flag several
//! times, or its parts where the flag takes a list with commas; `true` gives a switch, `false` leaves it out. What is
//! typed wins: a flag that is on the command line is not taken from the file. Paths are relative to the working
//! directory, as on the command line.
//!
//! ```toml
//! db = "database/"
//!
//! [score]
//! gold = "dev_gold.sql"
//! metrics = ["ex", "esm"]
//! pred = ["DAIL=preds/DAIL.sql", "C3=preds/C3.sql"]
//! out = "runs/spider"
//! ```
//!
//! Whoever unpacks somebody's project has its file too. So a file in the working directory names no program, no server, no
//! environment variable and no output outside of that directory until its user trusts its content (`sqlgauge trust`);
//! [`untrusted`] has the rule.

pub(crate) mod trust;
mod untrusted;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Arg, ArgAction, Command};
use sqlgauge_base::regular;
use toml::{Table, Value};

use crate::commands::OLD_NAMES;
use crate::output::note;

/// The file that is looked for in the working directory.
pub(crate) const NAME: &str = "sqlgauge.toml";

/// A file of flags.
struct Layer {
    path: PathBuf,
    table: Table,
    /// Whether it may set every option: the user wrote it, named it, or trusts it.
    is_trusted: bool,
}

/// The arguments with what the files add to them.
///
/// # Errors
/// When a file cannot be read, is not TOML, or has a key that no command knows; when a project's file sets what it may not
/// before it is trusted ([`untrusted`]). The message names the key.
pub(crate) fn arguments(mut command: Command, typed: Vec<OsString>) -> Result<Vec<OsString>> {
    let (typed, named) = without_config_flag(typed)?;
    let layers = layers(named)?;
    if !layers.is_empty() {
        command.build();
    } else if let Some(wanted) = typed.get(1).and_then(|name| command.find_subcommand_mut(name)) {
        wanted.build();
    }
    layers.iter().try_for_each(|layer| check(&command, &layer.table, &layer.path))?;
    let Some((at, wanted)) = sub_command(&command, &typed) else { return Ok(typed) };
    let Some(last) = wanted.last() else { return Ok(typed) };
    let mut words = typed[at..].to_vec();
    if let Some(old) = typed[1].to_str().filter(|name| *name != wanted[0].get_name()) {
        let switch = OLD_NAMES.iter().find(|(name, _)| *name == old).map(|(_, switch)| *switch);
        let today =
            wanted[0].get_name().to_owned() + &switch.map_or(String::new(), |word| format!(" {word}"));
        note(format!("{old} is the old name of {today}"));
        words.splice(0..0, switch.map(OsString::from));
    }
    old_names(last, &words).for_each(|(old, new)| note(format!("--{old} is the old name of --{new}")));
    // What is before wins: what is typed, then the project's file, then the user's.
    for layer in &layers {
        let added = layer.added(last, &typed[1..at], &words)?;
        words.splice(0..0, added);
    }
    Ok([&typed[..at], &words].concat())
}

/// The project's file, or the one that is named, and the user's own.
fn layers(named: Option<PathBuf>) -> Result<Vec<Layer>> {
    let is_named = named.is_some();
    let project = named.unwrap_or_else(|| PathBuf::from(NAME));
    let mut layers = Vec::new();
    if let Some((bytes, table)) = read(&project, is_named)? {
        let is_trusted = is_named || trust::is_trusted(&project, &bytes);
        layers.push(Layer { path: project, table, is_trusted });
    }
    if let Some(path) = trust::user_config()
        && let Some((_, table)) = read(&path, false)?
    {
        layers.push(Layer { path, table, is_trusted: true });
    }
    Ok(layers)
}

impl Layer {
    /// The words for the flags of a command that are not given.
    fn added(&self, last: &Command, names: &[OsString], line: &[OsString]) -> Result<Vec<OsString>> {
        let mut added = Vec::new();
        let section = section(&self.table, names);
        let general = self.table.iter().filter(|(_, value)| !value.is_table());
        let general =
            general.filter(|(key, _)| section.is_none_or(|section| flag_value(section, key).is_none()));
        for (key, value) in section.into_iter().flatten().chain(general) {
            let Some(arg) = flag(last, key) else { continue };
            // A key for all commands gives way: of `db` and `tables`, a command may take one.
            let is_general = section.is_none_or(|section| !section.contains_key(key));
            let typed = if is_general { [line, &added].concat() } else { line.to_vec() };
            if is_typed(arg, line) || excluded(last, arg, &typed) {
                continue;
            }
            let about = || format!("{}, key {key:?}", self.path.display());
            let words = words(arg, value).with_context(about)?;
            if !self.is_trusted {
                untrusted::check(arg, &words, &self.path).with_context(about)?;
            }
            added.extend(words);
        }
        Ok(added)
    }
}

/// Takes `--config FILE` out of the arguments before the first `--`.
fn without_config_flag(typed: Vec<OsString>) -> Result<(Vec<OsString>, Option<PathBuf>)> {
    let mut rest = Vec::with_capacity(typed.len());
    let mut named = None;
    let mut words = typed.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.push(word);
            rest.extend(words);
            break;
        }
        if word == "--config" {
            let path = words.next().ok_or_else(|| anyhow!("--config needs the path of a file"))?;
            take_config(path, &mut rest, &mut named);
        } else if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--config=")) {
            take_config(path.into(), &mut rest, &mut named);
        } else {
            rest.push(word);
        }
    }
    Ok((rest, named))
}

/// A file of flags; a file of JSON lines is what `score --results` calls its configuration.
fn take_config(path: OsString, rest: &mut Vec<OsString>, named: &mut Option<PathBuf>) {
    if Path::new(&path).extension().is_some_and(|ending| ending == "jsonl") {
        rest.extend(["--result-config".into(), path]);
    } else {
        *named = Some(PathBuf::from(path));
    }
}

fn read(path: &Path, must_exist: bool) -> Result<Option<(Vec<u8>, Table)>> {
    let text = match regular::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => return Ok(None),
        Err(error) => return Err(anyhow!("{} cannot be read: {error}; make it readable", path.display())),
    };
    let table = text.parse::<Table>().map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count());
        anyhow!("{}, line {}: {}", path.display(), line + 1, error.message())
    })?;
    Ok(Some((text.into_bytes(), table)))
}

/// Every key must be a flag of some command, every table a command.
fn check(command: &Command, table: &Table, path: &Path) -> Result<()> {
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                let Some(sub) = command.find_subcommand(key) else {
                    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
                    bail!(
                        "{}: unknown command {key:?}; the commands are {}",
                        path.display(),
                        names.join(", ")
                    );
                };
                check_section(sub, inner, path)?;
            }
            _ if command.get_subcommands().any(|sub| has_flag(sub, key)) => {}
            _ => bail!(
                "{}: no command has a flag --{}; `sqlgauge COMMAND --help` lists them",
                path.display(),
                dashed(key)
            ),
        }
    }
    Ok(())
}

fn check_section(sub: &Command, table: &Table, path: &Path) -> Result<()> {
    if sub.has_subcommands() {
        return check(sub, table, path);
    }
    for (key, value) in table {
        if let Some(arg) = flag(sub, key) {
            words(arg, value).with_context(|| format!("{}, key {key:?}", path.display()))?;
        }
    }
    let unknown = table.keys().find(|key| flag(sub, key).is_none());
    let Some(key) = unknown else { return Ok(()) };
    let flags: Vec<&str> = options(sub).filter_map(Arg::get_long).collect();
    bail!(
        "{}: {} has no flag --{}; its flags are {}",
        path.display(),
        sub.get_name(),
        dashed(key),
        flags.join(", ")
    )
}

fn has_flag(command: &Command, key: &str) -> bool {
    flag(command, key).is_some() || command.get_subcommands().any(|sub| has_flag(sub, key))
}

fn flag<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    let names = |arg: &Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long().into_iter().chain(aliases).any(|long| dashed(long) == dashed(key))
    };
    options(command).find(|arg| names(arg))
}

/// All but `--help`, which every command that is built has.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_help =
        |arg: &Arg| matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong);
    command.get_arguments().filter(move |arg| !is_help(arg))
}

fn flag_value<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    table.iter().find(|(name, _)| dashed(name) == dashed(key)).map(|(_, value)| value)
}

fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// The commands that are asked for, outermost first, and where their own arguments begin.
fn sub_command<'a>(command: &'a Command, typed: &[OsString]) -> Option<(usize, Vec<&'a Command>)> {
    let mut commands = vec![command.find_subcommand(typed.get(1)?)?];
    let mut at = 2;
    while let Some(inner) =
        commands.last().and_then(|last| typed.get(at).and_then(|word| last.find_subcommand(word)))
    {
        commands.push(inner);
        at += 1;
    }
    Some((at, commands))
}

/// The table of a command, by the names that it was called by.
fn section<'a>(table: &'a Table, names: &[OsString]) -> Option<&'a Table> {
    names.iter().try_fold(table, |table, name| table.get(name.to_str()?)?.as_table())
}

/// The old names among the words that were typed, each with the name of today.
fn old_names<'a>(command: &'a Command, typed: &[OsString]) -> impl Iterator<Item = (&'a str, &'a str)> {
    let names = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.get_all_aliases()?)));
    let names = names.flat_map(|(new, old)| old.into_iter().map(move |old| (old, new)));
    names.filter(|(old, _)| words_before_dashes(typed).any(|word| is_long(word, old)))
}

/// The words among which there can be flags.
fn words_before_dashes(typed: &[OsString]) -> impl Iterator<Item = &str> {
    typed.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str())
}

/// Whether a word is that flag, alone or with its value.
fn is_long(word: &str, long: &str) -> bool {
    let rest = word.strip_prefix("--").and_then(|word| word.strip_prefix(long));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Whether the flag is among the words that were typed.
fn is_typed(arg: &Arg, typed: &[OsString]) -> bool {
    let aliases = arg.get_all_aliases().unwrap_or_default();
    let longs: Vec<&str> = arg.get_long().into_iter().chain(aliases).collect();
    words_before_dashes(typed).any(|word| {
        let by_long = longs.iter().any(|long| is_long(word, long));
        let by_short = arg.get_short().is_some_and(|short| {
            word.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.starts_with(short))
        });
        by_long || by_short
    })
}

/// Whether a flag that was typed takes the place of this one, as `--schema` does of `--db`.
fn excluded(command: &Command, arg: &Arg, typed: &[OsString]) -> bool {
    command.get_arguments().any(|other| {
        is_typed(other, typed)
            && (command
                .get_arg_conflicts_with(other)
                .iter()
                .any(|conflict| conflict.get_id() == arg.get_id())
                || command
                    .get_arg_conflicts_with(arg)
                    .iter()
                    .any(|conflict| conflict.get_id() == other.get_id()))
    })
}

/// The words that give the flag its value.
fn words(arg: &Arg, value: &Value) -> Result<Vec<OsString>> {
    let long = format!("--{}", arg.get_long().unwrap_or_default());
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            Value::Boolean(true) => Ok(vec![long.into()]),
            Value::Boolean(false) => Ok(Vec::new()),
            other => {
                bail!("{long} is a switch: write true or false, not a value of type {}", other.type_str())
            }
        };
    }
    let values = match value {
        Value::Array(list) => list.iter().map(scalar).collect::<Result<Vec<_>>>()?,
        value => vec![scalar(value)?],
    };
    let several = matches!(arg.get_action(), ArgAction::Append);
    let values = if several { values } else { vec![values.join(",")] };
    Ok(values.into_iter().map(|value| format!("{long}={value}").into()).collect())
}

fn scalar(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        other => bail!("write a text or a number, not a value of type {}", other.type_str()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::CommandFactory;

    use super::*;

    fn with(config: &str, typed: &[&str]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("project.toml");
        fs::write(&path, config).unwrap();
        let mut all: Vec<OsString> = typed.iter().map(OsString::from).collect();
        all.insert(1, format!("--config={}", path.display()).into());
        let all = arguments(crate::Arguments::command(), all)?;
        Ok(all.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_typed_wins_and_the_rest_comes_from_the_file() {
        let config = "db = 'd/'\ntables = 't.json'\n[score]\nmetrics = ['ex', 'esm']\nquiet = true\nrestart = false\n\
                      pred = ['A=a.sql', 'B=b.sql']\njobs = 2\n[compat.spider]\nplug_value = true\n";
        for (typed, expected) in [
            (
                vec!["sqlgauge", "score", "--out", "o"],
                "sqlgauge score --jobs=2 --metrics=ex,esm --pred=A=a.sql --pred=B=b.sql --quiet --db=d/ \
                 --tables=t.json --out o",
            ),
            (
                vec!["sqlgauge", "score", "--pred", "C=c.sql", "-j4", "-q", "--db=x"],
                "sqlgauge score --metrics=ex,esm --tables=t.json --pred C=c.sql -j4 -q --db=x",
            ),
            (vec!["sqlgauge", "estimate", "--out", "o"], "sqlgauge estimate --db=d/ --out o"),
            (vec!["sqlgauge", "estimate", "--tables", "x"], "sqlgauge estimate --tables x"),
            (vec!["sqlgauge", "compat", "spider"], "sqlgauge compat spider --plug_value --db=d/"),
            (vec!["sqlgauge", "match", "--schema", "s", "a", "b"], "sqlgauge match --schema s a b"),
            (vec!["sqlgauge", "rules", "list"], "sqlgauge rules list"),
        ] {
            assert_eq!(with(config, &typed).unwrap(), expected);
        }
    }

    #[test]
    fn an_old_name_is_the_flag_of_today() {
        let command = crate::built();
        let names = |words: &[&str]| -> Vec<String> {
            let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
            let command = command.find_subcommand(words[0]).unwrap();
            old_names(command, &typed[1..]).map(|(old, new)| format!("{old} {new}")).collect()
        };
        for (words, expected) in [
            (&["import", "--workload", "q.json"][..], &["workload questions"][..]),
            (&["estimate", "--target=q.json", "--db", "d"], &["target questions"]),
            (&["pack", "run", "--export=suite"], &["export out"]),
            (&["compare", "run", "--limit", "3"], &["limit items"]),
            (&["import", "--questions", "--pred", "a=--workload"], &[]),
            (&["import", "--workloads", "q.json"], &[]),
            (&["import", "--", "--workload"], &[]),
        ] {
            assert_eq!(names(words), expected, "{words:?}");
        }
        // What is typed by its old name wins over the file too.
        let typed = ["sqlgauge", "compare", "run", "--limit", "3"];
        assert_eq!(with("[compare]\nitems = 9\n", &typed).unwrap(), typed.join(" "));
        let old = with("[compare]\nlimit = 9\n", &["sqlgauge", "compare", "run"]).unwrap();
        assert_eq!(old, "sqlgauge compare --items=9 run");
    }

    #[test]
    fn an_old_command_is_the_one_of_today_with_a_switch() {
        let config = "db = 'd/'\n[augment]\nout = 'sft.jsonl'\n[evolve]\nout = 'evolved'\nsteps = 3\n[errors]\njson = true\n";
        for (typed, expected) in [
            (&["augment"][..], "augment --out=sft.jsonl --db=d/ --training"),
            (&["evolve", "--training"], "evolve --out=evolved --db=d/ --training"),
            (&["errors", "run"], "errors --json --errors run"),
            (&["witnesses", "run"], "witnesses --witnesses run"),
            (&["schema", "d.sqlite"], "schema --db=d/ d.sqlite"),
        ] {
            let typed = [&["sqlgauge"], typed].concat();
            assert_eq!(with(config, &typed).unwrap(), format!("sqlgauge {expected}"));
        }
        let command = crate::built();
        for (old, switch) in OLD_NAMES {
            assert!(flag(command.find_subcommand(old).unwrap(), &switch[2..]).is_some(), "{old}");
        }
    }

    /// What the law over roles refuses is refused where the words of a file are added, under the name of its key.
    #[test]
    fn a_layer_that_is_not_trusted_is_checked() {
        let command = crate::built();
        let audit = command.find_subcommand("audit").unwrap();
        let added = |config: &str, is_trusted: bool| {
            let table = config.parse::<Table>().unwrap();
            let layer = Layer { path: PathBuf::from(NAME), table, is_trusted };
            layer.added(audit, &["audit".into()], &[]).map_err(|error| format!("{error:#}"))
        };
        for config in
            ["out = '/tmp/x'", "[audit]\nout = '../x'", "[audit]\ndb = 'duckdb:x'", "now = 'x'\nout = '.x'"]
        {
            let error = added(config, false).unwrap_err();
            assert!(error.starts_with("sqlgauge.toml, key ") && error.contains("sqlgauge trust"), "{error}");
            assert!(added(config, true).is_ok());
        }
        assert!(added("out = 'x'\ndb = '/data/spider'", false).is_ok());
    }

    #[test]
    fn a_key_that_nothing_knows_is_named() {
        for (config, part) in [
            ("dbb = 'x'", "--dbb"),
            ("[scroe]\ndb = 'x'", "\"scroe\""),
            ("[score]\ngoldd = 'x'", "--goldd"),
            ("[score]\nquiet = 'yes'", "switch"),
            ("[score]\ndb = { a = 1 }", "text or a number"),
            ("[score\n", "line 1"),
        ] {
            let error = format!("{:#}", with(config, &["sqlgauge", "score"]).unwrap_err());
            assert!(error.contains(part), "{error}");
        }
    }
}
