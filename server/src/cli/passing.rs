//! The passing attempts of tests in their recordings, and the tests as changed texts would have them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::anyhow;
use speclens_runner::{
    clock::Clock,
    event::{CaseResult, RunResult, SuiteResult},
    files::Buffers,
    run::{Mode, Options},
};
use speclens_schema::{document::Document, evidence::Evidence, suite::Case, verdict::Status, write::Look};
use tokio_util::sync::CancellationToken;

use super::{INTERRUPTED, baseline, load::Loaded, run};
use crate::threads;

/// Judges the recordings of these cases. The result is incomplete if it was cancelled.
pub(super) fn recorded(
    loaded: Loaded,
    cases: BTreeSet<usize>,
    cancel: Option<&CancellationToken>,
) -> anyhow::Result<(Arc<SuiteResult>, Loaded)> {
    let prepared = baseline::prepare(&loaded, &loaded.report.suite, Clock::from_environment()?, None)?;
    let secrets = Arc::clone(&loaded.report.source.secrets);
    let options = Options { mode: Mode::Recorded, cases: Some(cases), ..Options::default() };
    let cancel = cancel.cloned().unwrap_or_default();
    let runtime = threads::runtime()?;
    run::end_with(&runtime, &cancel);
    let result = runtime.block_on(run::run(&prepared, secrets, options, cancel.clone(), true));
    // From now on nothing is half done until a file is replaced in one step, so a signal ends the program.
    runtime.spawn(async move {
        cancel.cancelled().await;
        std::process::exit(INTERRUPTED.into());
    });
    std::mem::forget(runtime);
    Ok((result, loaded))
}

/// Returns the first attempt that passed, or the reason why there is none.
pub(super) fn passing(outcome: &CaseResult) -> Result<&RunResult, String> {
    let passed = outcome.runs.iter().find(|run| matches!(run.status, Status::Pass | Status::Warn));
    passed.map(|run| &**run).ok_or_else(|| match outcome.runs.iter().max_by_key(|run| run.status) {
        None => "it is skipped".to_owned(),
        Some(run) => match &run.absence {
            Some(absence) => absence.message.clone(),
            None => format!("its status is {}, so a failure would prove nothing", run.status.as_str()),
        },
    })
}

/// Returns the evidence of the attempts that passed.
fn attempts(outcome: &CaseResult) -> anyhow::Result<Vec<Arc<Evidence>>> {
    passing(outcome).map_err(|reason| anyhow!("{reason}"))?;
    let passed = outcome.runs.iter().filter(|run| matches!(run.status, Status::Pass | Status::Warn));
    Ok(passed.filter_map(|run| run.evidence.get()).collect())
}

/// Calls a function with the file of a test, the evidence of its passing attempts, and what reads changed texts of the file.
pub(super) fn of_passing<T>(
    loaded: &Loaded,
    case: &Case,
    outcome: &CaseResult,
    act: impl FnOnce(&Document, &[Arc<Evidence>], Look<'_>) -> T,
) -> anyhow::Result<T> {
    let (path, document) = loaded.file_of(case);
    let part = case.file.as_ref().and_then(|_| loaded.checker_of_part(&path));
    let checker = part.as_ref().unwrap_or(&loaded.checker);
    let look = |document: &Document| (case_in(loaded, case, &path, document), checker.problems(document));
    Ok(act(document, &attempts(outcome)?, &look))
}

/// Returns a test as it would be with this text of its file.
pub(super) fn case_in(loaded: &Loaded, case: &Case, path: &Path, document: &Document) -> Option<Arc<Case>> {
    let changed = Changed { path: path.to_owned(), text: String::from(document.text()) };
    let mut cases = loaded.suite_with(Arc::new(changed)).cases.into_iter();
    cases.find(|other| other.name == case.name && other.at == case.at)
}

/// The text of a file as it would be.
#[derive(Debug)]
struct Changed {
    path: PathBuf,
    text: String,
}

impl Buffers for Changed {
    fn text(&self, path: &Path) -> Option<String> {
        (path == self.path).then(|| self.text.clone())
    }

    fn below(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}
