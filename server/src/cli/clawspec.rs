//! The ClawSpec workspace that a command is about.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use speclens_runner::files::DiskFiles;
use speclens_schema::{gateway::config::Config, gateway::workspace};

/// A ClawSpec workspace.
#[derive(Debug)]
pub(super) struct ClawSpecWorkspace {
    /// The directory of `clawspec.yaml`; without that file, the directory where the search began.
    pub(super) root: PathBuf,
    /// The settings of the file.
    pub(super) settings: Config,
}

impl ClawSpecWorkspace {
    /// Finds the workspace around a directory.
    pub(super) fn around(start: &Path) -> anyhow::Result<ClawSpecWorkspace> {
        let start = fs::canonicalize(start).with_context(|| format!("cannot read `{}`", start.display()))?;
        let has_settings = |directory: &&Path| directory.join(Config::FILE).is_file();
        let root = start.ancestors().find(has_settings).unwrap_or(&start).to_owned();
        let settings = workspace::settings(&DiskFiles::new(&root, Config::FILE));
        Ok(ClawSpecWorkspace { root, settings })
    }

    /// Finds the workspace around the working directory.
    pub(super) fn here() -> anyhow::Result<ClawSpecWorkspace> {
        ClawSpecWorkspace::around(&env::current_dir().context("cannot read the working directory")?)
    }

    /// Returns the path in force: from the environment, else from the file, else the default. It is relative to the
    /// root.
    pub(super) fn path(&self, variable: &str, written: Option<&str>, default: &str) -> PathBuf {
        let named = env::var(variable).ok().filter(|path| !path.is_empty());
        self.root.join(named.as_deref().or(written).unwrap_or(default))
    }
}
