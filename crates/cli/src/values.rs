//! What the type of an option says of its values: what the program does with them.
//!
//! A project's `sqlgauge.toml` may come from a stranger, so [`config`](crate::config) reads from the type of an option what
//! the file may set.

use std::any::TypeId;
use std::path::PathBuf;
use std::time::Duration;

use clap::Arg;
use sqlgauge_core::{
    Address, CommandLine, CorpusFiles, EncoderName, IdList, LabelCondition, NamedFile, OutputPath, Program,
    Source, System, SystemFolder, SystemResults, Variable,
};
use sqlgauge_encode::InputForm;
use sqlgauge_engine::Moment;
use sqlgauge_run::Shard;
use sqlgauge_shift::{DescriptorSet, Slices};
use sqlgauge_synth::TierShares;

use crate::options::GoldFile;

/// What the value of an option stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A number, a name, a choice: neither a place nor a program.
    Plain,
    /// A file or folder that is read, as `PATH` or `NAME=PATH`, or the address of a database in its place.
    Input,
    /// A file or folder that is written.
    Output,
    /// A program that is started.
    Program,
    /// A server that data is sent to.
    Address,
    /// An environment variable with a key.
    Variable,
}

/// The role of an option's values, by their type; `None` for a type that has not been given one, which a project's file may
/// not set.
pub(crate) fn role(arg: &Arg) -> Option<Role> {
    let parser = arg.get_value_parser();
    if parser.possible_values().is_some() {
        return Some(Role::Plain);
    }
    let value = parser.type_id();
    let (_, role) = ROLES.iter().find(|(type_id, _)| value == type_id())?;
    Some(*role)
}

/// A type and the role of its values.
type TypeRole = (fn() -> TypeId, Role);

/// The types that have a role; those of a closed set of names are plain.
const ROLES: &[TypeRole] = &[
    (TypeId::of::<OutputPath>, Role::Output),
    (TypeId::of::<Program>, Role::Program),
    (TypeId::of::<CommandLine>, Role::Program),
    (TypeId::of::<Address>, Role::Address),
    (TypeId::of::<Variable>, Role::Variable),
    (TypeId::of::<PathBuf>, Role::Input),
    (TypeId::of::<NamedFile>, Role::Input),
    (TypeId::of::<Source>, Role::Input),
    (TypeId::of::<IdList>, Role::Input),
    (TypeId::of::<System>, Role::Input),
    (TypeId::of::<SystemFolder>, Role::Input),
    (TypeId::of::<SystemResults>, Role::Input),
    (TypeId::of::<GoldFile>, Role::Input),
    (TypeId::of::<CorpusFiles>, Role::Input),
    (TypeId::of::<EncoderName>, Role::Input),
    (TypeId::of::<String>, Role::Plain),
    (TypeId::of::<bool>, Role::Plain),
    (TypeId::of::<u8>, Role::Plain),
    (TypeId::of::<u16>, Role::Plain),
    (TypeId::of::<u32>, Role::Plain),
    (TypeId::of::<u64>, Role::Plain),
    (TypeId::of::<usize>, Role::Plain),
    (TypeId::of::<f64>, Role::Plain),
    (TypeId::of::<Duration>, Role::Plain),
    (TypeId::of::<(f64, f64)>, Role::Plain),
    (TypeId::of::<(u64, u64)>, Role::Plain),
    (TypeId::of::<LabelCondition>, Role::Plain),
    (TypeId::of::<Moment>, Role::Plain),
    (TypeId::of::<Shard>, Role::Plain),
    (TypeId::of::<Slices>, Role::Plain),
    (TypeId::of::<DescriptorSet>, Role::Plain),
    (TypeId::of::<InputForm>, Role::Plain),
    (TypeId::of::<TierShares>, Role::Plain),
];

#[cfg(test)]
mod tests {
    use clap::{ArgAction, Command};

    use super::*;

    /// Options that are read, whatever the name of their value.
    const INPUTS: [&str; 8] = ["db", "gold", "pred", "questions", "encoder", "table", "tables", "labels"];

    /// The role that the words of an option promise: its long name, the name of its value, its help.
    fn promised(command: &str, arg: &Arg) -> Option<Role> {
        // The names of the official scripts (`meta_time_out`) are not ours.
        let long = arg.get_long().unwrap_or_default();
        let last = long.rsplit('-').next().unwrap_or_default();
        let value = arg.get_value_names().unwrap_or_default().join(" ");
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default().to_lowercase();
        let is_path = value
            .split(|c: char| !c.is_alphabetic())
            .any(|word| ["FILE", "DIR", "PATH", "RUN", "FOLDER"].contains(&word));
        let writes =
            ["to write", "keeps", "to keep", "are kept", "append", "folder for", "labels and decisions"];
        match last {
            "url" | "uri" | "host" | "server" | "endpoint" | "address" | "proxy" => Some(Role::Address),
            "env" | "key" | "password" | "secret" => Some(Role::Variable),
            "solver" | "program" | "command" | "python" | "browser" | "ask" => Some(Role::Program),
            "out" | "output" | "cache" | "export" | "history" | "save" | "dump" | "log" => Some(Role::Output),
            "labels" if command == "view" => Some(Role::Output),
            "correct" => Some(Role::Input),
            _ if is_path && writes.iter().any(|word| help.contains(word)) => Some(Role::Output),
            _ if INPUTS.contains(&long) => Some(Role::Input),
            _ if is_path => None,
            _ => Some(Role::Plain),
        }
    }

    fn check_all(command: &Command, count: &mut usize, contradictions: &mut Vec<String>) {
        for arg in command.get_arguments() {
            let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
            if !takes_value || arg.get_long().is_none() {
                continue;
            }
            *count += 1;
            let name = format!("{} --{}", command.get_name(), arg.get_long().unwrap_or_default());
            let Some(role) = role(arg) else {
                contradictions.push(format!("{name}: its type has no role in ROLES"));
                continue;
            };
            let promised = promised(command.get_name(), arg);
            if promised.map_or(role == Role::Plain, |promised| role != promised) {
                contradictions.push(format!("{name} is {role:?}, its words say {promised:?}"));
            }
            // A comma would hide a second value from the check.
            assert!(role == Role::Plain || arg.get_value_delimiter().is_none(), "{name}");
        }
        command.get_subcommands().for_each(|inner| check_all(inner, count, contradictions));
    }

    /// Every option of every command has a role, and the one that its words promise.
    #[test]
    fn every_option_has_the_role_of_its_words() {
        let (mut count, mut contradictions) = (0, Vec::new());
        check_all(&crate::built(), &mut count, &mut contradictions);
        assert!(contradictions.is_empty(), "{contradictions:#?}");
        assert!(count > 200, "{count} options");
    }
}
