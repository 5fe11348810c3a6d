//! What a run needs to know.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use speclens_schema::{
    mask::Secrets,
    suite::{HelpMode, Suite},
};

use crate::{
    clock::Clock, evidence_store::EvidenceStore, files::DiskFiles, gateway::Gateway, model::Models, trace::Traces,
};

#[derive(Clone, Debug)]
pub struct Job {
    pub suite: Arc<Suite>,
    /// The directory of the suite: commands run there.
    pub directory: PathBuf,
    pub files: Arc<DiskFiles>,
    pub store: Arc<EvidenceStore>,
    pub secrets: Arc<Secrets>,
    pub clock: Clock,
    pub output_limit: usize,
    pub models: Arc<Models>,
    /// The gateway for targets that run elsewhere; `None` if the suite has none.
    pub gateway: Option<Arc<Gateway>>,
    pub traces: Arc<Traces>,
    /// Whether tasks are not repeated once the gate of their model is decided.
    pub stop_repeats: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub mode: Mode,
    /// The run whose traces are judged if nothing is started; `None` for that of the newest recording.
    pub observed_run: Option<String>,
    /// The cases to run, by their place in the suite; `None` for all.
    pub cases: Option<BTreeSet<usize>>,
    /// Maximum number of concurrent attempts, instead of that of the suite.
    pub concurrency: Option<usize>,
    /// The ids of the models, instead of those of the suite; empty for those of the suite.
    pub models: Vec<String>,
    /// The help modes, instead of those of the suite; empty for those of the suite.
    pub help_modes: Vec<HelpMode>,
    pub fail_fast: bool,
    pub keep_directories: bool,
    /// Whether an attempt without a recording that matches fails, instead of being unknown.
    pub strict: bool,
    /// Whether an earlier failure has ended the run before it begins: every attempt is reported as not run.
    pub given_up: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Live,
    /// The preconditions are observed and judged; nothing is started, and nothing is recorded.
    Preconditions,
    /// The current state of targets is observed and judged; nothing is started, and nothing is recorded.
    Present,
    /// The recordings are judged; nothing is performed.
    Recorded,
    /// The recordings are judged after models were asked the questions of claims that have no recorded answer. Nothing
    /// else is performed.
    Asking,
}
