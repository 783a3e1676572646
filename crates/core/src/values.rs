//! Values whose type says what the program does with them.
//!
//! A project's `sqlgauge.toml` may come from a stranger, so the command line reads from the type of an option what the file may
//! set. An option that writes has the type [`OutputPath`], one that starts a program [`Program`] or [`CommandLine`], one that connects
//! [`Address`], one that reads a key [`Variable`].

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A file or folder to write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputPath(PathBuf);

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(PathBuf);

/// A program to start, with its arguments, as a person types them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(String);

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// The name of an environment variable that holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable(String);

/// `[NAME=]FILE`. The command splits off the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile(String);

/// An encoder, which may be a folder of a model, a file of vectors, or the address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderName(String);

macro_rules! values {
    ($($name:ident of $inner:ty, $deref:ty, $parser:ident;)+) => {
        $(
            #[cfg(feature = "cli")]
            impl clap::builder::ValueParserFactory for $name {
                type Parser = clap::builder::ValueParser;

                fn value_parser() -> Self::Parser {
                    clap::builder::TypedValueParser::map(clap::builder::$parser::new(), Self).into()
                }
            }

            impl Deref for $name {
                type Target = $deref;

                fn deref(&self) -> &$deref {
                    &self.0
                }
            }

            impl From<$inner> for $name {
                fn from(value: $inner) -> Self {
                    Self(value)
                }
            }

            impl From<$name> for $inner {
                fn from(value: $name) -> Self {
                    value.0
                }
            }

            impl AsRef<OsStr> for $name {
                fn as_ref(&self) -> &OsStr {
                    self.0.as_ref()
                }
            }

            impl AsRef<Path> for $name {
                fn as_ref(&self) -> &Path {
                    self.0.as_ref()
                }
            }
        )+
    };
}

values! {
    OutputPath of PathBuf, Path, PathBufValueParser;
    Program of PathBuf, Path, PathBufValueParser;
    CommandLine of String, str, StringValueParser;
    Address of String, str, StringValueParser;
    Variable of String, str, StringValueParser;
    NamedFile of String, str, StringValueParser;
    EncoderName of String, str, StringValueParser;
}
