//! `--rerecord`: acts again, and prints what differs before the recordings are replaced.

use std::sync::Arc;

use anyhow::anyhow;
use speclens_runner::{
    event::SuiteResult,
    evidence_store::EvidenceStore,
    recording::beginning_us,
    run::{Mode, Options},
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{diff, load::Loaded, output},
    job::Prepared,
};

/// A run whose recordings wait for its end.
pub(super) struct Rerecording {
    before: Arc<SuiteResult>,
    pub(super) store: Arc<EvidenceStore>,
    began_us: u64,
}

impl Rerecording {
    /// Evaluates the recordings that the attempts of a run will replace.
    pub(super) fn begin(prepared: &Prepared, options: &Options, runtime: &Runtime) -> Rerecording {
        let options = Options { mode: Mode::Recorded, ..options.clone() };
        let before = runtime.block_on(prepared.results(options, CancellationToken::new()));
        Rerecording { before, store: Arc::default(), began_us: beginning_us() }
    }

    /// Prints what differs, and replaces the recordings.
    pub(super) fn finish(self, prepared: &Prepared, loaded: &Loaded, after: &SuiteResult) -> anyhow::Result<()> {
        output::print_aside(&diff::drift(loaded, &self.before, after))?;
        let job = prepared.recording_job();
        self.store
            .hand_over(&job.store, &job.suite, &job.secrets)
            .map_err(|error| anyhow!(error).context("cannot replace the recordings"))?;
        job.store.tidy(&job.suite, self.began_us).iter().for_each(|message| output::note(message));
        Ok(())
    }
}
