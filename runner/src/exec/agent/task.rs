//! A task, with whoever works on it.

use std::{collections::BTreeSet, path::Path};

use speclens_schema::{
    mask::Secrets,
    suite::{AgentAction, AgentProgram, HelpMode},
};
use tokio_util::sync::CancellationToken;

use super::shell::Version;
use crate::model::Model;

#[derive(Clone, Copy, Debug)]
pub(crate) enum AgentBackend<'a> {
    /// A model; the runner runs its commands.
    Model(&'a dyn Model),
    Program(AgentProgram<'a>),
}

#[derive(Clone, Copy)]
pub(crate) struct TaskContext<'a> {
    pub action: &'a AgentAction,
    pub test: &'a str,
    pub backend: AgentBackend<'a>,
    pub mode: Option<HelpMode>,
    pub suite: &'a Path,
    /// Environment variables that commands do not see unless `env` sets them.
    pub hidden: &'a BTreeSet<String>,
    /// The secrets, which no model may see.
    pub secrets: &'a Secrets,
    pub output_limit: usize,
    pub keep: bool,
    pub version: &'a Version,
    pub cancel: &'a CancellationToken,
    pub notify: &'a (dyn Fn(String) + Sync),
    /// Receives the number of the awaited answer, from 1.
    pub turn: &'a (dyn Fn(u32) + Sync),
}
