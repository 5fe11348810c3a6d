//! A command of a shell, with its surroundings.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    path::Path,
    time::Duration,
};

pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    pub shell: &'a str,
    /// The text after its `-c`.
    pub script: &'a str,
    pub directory: &'a Path,
    pub environment: &'a Environment,
    /// The standard input; empty for none.
    pub input: &'a [u8],
    pub timeout: Duration,
    pub output: Output,
}

impl<'a> Command<'a> {
    /// A script of `sh` without input, whose output is kept up to a number of bytes.
    pub(crate) fn shell(
        script: &'a str,
        directory: &'a Path,
        environment: &'a Environment,
        timeout: Duration,
        limit: usize,
    ) -> Command<'a> {
        Command { shell: "sh", script, directory, environment, input: &[], timeout, output: Output::Kept(limit) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Each stream is kept, up to this number of bytes.
    Kept(usize),
    /// It goes to the standard error of this program as it is written, and is not kept.
    Shown,
}

impl Output {
    pub(super) fn limit(self) -> usize {
        match self {
            Output::Kept(limit) => limit,
            Output::Shown => 0,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub set: BTreeMap<String, String>,
    pub removed: BTreeSet<String>,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<OsString> {
        match self.set.get(name) {
            Some(value) => Some(value.into()),
            None if self.removed.contains(name) => None,
            None => env::var_os(name),
        }
    }
}
