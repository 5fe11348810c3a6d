//! What is to be run: the request, the decision whether it is run, and the run itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use speclens_runner::{
    clock::Clock,
    event::{Event, SuiteResult},
    report::plain,
    run::{Mode, Options, run},
};
use speclens_schema::{
    evidence::{Context, Need},
    json_schema::SpecFile,
    mask::Secrets,
    suite::{Case, Suite},
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use crate::{
    clawspec::{ReportRequest, Reports},
    ide::runnable::NotRunnableReason,
    job::{self, Prepared, Refusal},
    lsp::world::Snapshot,
    results::{Results, SuiteId},
    threads,
};

/// The reason why nothing can be said of a document.
pub(in crate::lsp) const NOT_OPEN: &str = "this file is not open or is not a suite; open a suite first";

/// The tests that a run is requested for.
#[derive(Clone, Debug)]
pub(in crate::lsp) enum Wanted {
    /// Those with these names, at least one.
    Tests(Vec<String>),
    File,
}

#[derive(Clone, Debug)]
pub(in crate::lsp) enum Operation {
    /// Runs them. `models` act instead of those that the suite names; those of the suite if empty.
    Run { models: Vec<String> },
    /// Asks judges about their recordings.
    Ask,
    /// Checks their preconditions; starts nothing.
    Preconditions,
    /// Judges the current state of their targets; starts nothing.
    Judge,
}

impl Operation {
    fn mode(&self) -> Mode {
        match self {
            Operation::Run { .. } => Mode::Live,
            Operation::Ask => Mode::Asking,
            Operation::Preconditions => Mode::Preconditions,
            Operation::Judge => Mode::Present,
        }
    }

    fn models(&self) -> &[String] {
        match self {
            Operation::Run { models } => models,
            Operation::Ask | Operation::Preconditions | Operation::Judge => &[],
        }
    }

    fn is_reported(&self) -> bool {
        match self {
            Operation::Run { .. } | Operation::Judge => true,
            Operation::Ask | Operation::Preconditions => false,
        }
    }

    pub(super) fn has_results(&self) -> bool {
        match self {
            Operation::Run { .. } | Operation::Ask | Operation::Judge => true,
            Operation::Preconditions => false,
        }
    }
}

/// The reason why a run did not begin.
#[derive(Debug)]
pub(in crate::lsp) enum Refused {
    /// The workspace is not trusted: this directory would have to be.
    Untrusted(std::path::PathBuf),
    /// The user has to be informed.
    Because(lsp::MessageType, String),
    /// It was cancelled before it began.
    Cancelled,
    /// The request is invalid: it is about something that does not exist, or the server has a bug.
    Failed(String),
}

impl Refused {
    pub(in crate::lsp) fn warning(message: impl Into<String>) -> Refused {
        Refused::Because(lsp::MessageType::Warning, message.into())
    }

    /// Returns the same without secrets in its message, which may contain names of the suite.
    pub(super) fn masked(self, secrets: &Secrets) -> Refused {
        match self {
            Refused::Because(kind, message) => Refused::Because(kind, secrets.mask(&message)),
            Refused::Failed(message) => Refused::Failed(secrets.mask(&message)),
            refused @ (Refused::Untrusted(_) | Refused::Cancelled) => refused,
        }
    }

    fn by(obstacle: NotRunnableReason, test: &str) -> Refused {
        let kind = match obstacle {
            NotRunnableReason::Skipped => lsp::MessageType::Info,
            NotRunnableReason::NoSuite
            | NotRunnableReason::WrongSettings
            | NotRunnableReason::SharedName
            | NotRunnableReason::HasProblems => lsp::MessageType::Error,
        };
        Refused::Because(kind, obstacle.sentence(test))
    }
}

#[derive(Debug)]
pub(in crate::lsp) struct Begun {
    pub number: u32,
    pub ended: oneshot::Receiver<End>,
}

#[derive(Debug)]
pub(in crate::lsp) struct End {
    pub suite: Arc<Suite>,
    pub result: Arc<SuiteResult>,
}

/// A run that may begin.
pub(in crate::lsp) struct Plan {
    pub uri: String,
    pub version: i32,
    pub suite: Arc<Suite>,
    pub id: SuiteId,
    pub cases: BTreeSet<usize>,
    /// Number of requested tests.
    pub(super) wanted: usize,
    pub prepared: Prepared,
    pub results: Arc<Results>,
    pub operation: Operation,
    pub(super) shows_lenses: bool,
    /// The writer of ClawSpec reports, if the settings want them for runs in an editor.
    reports: Option<Arc<Reports>>,
}

impl Plan {
    pub(super) fn attempts(&self) -> BTreeMap<String, usize> {
        let cases = self.cases.iter().map(|case| &self.suite.cases[*case]);
        let subjects = cases.map(|case| (case, case.action.subjects_of(self.operation.models(), &[]).len()));
        subjects.map(|(case, subjects)| (case.name.clone(), subjects * case.repeat as usize)).collect()
    }

    /// Returns the name of a case for a message: on one line, without secrets.
    pub(super) fn shown_name(&self, case: usize) -> String {
        plain::line(&self.prepared.secrets().mask(&self.suite.cases[case].name))
    }
}

pub(in crate::lsp) fn decide(snapshot: &Snapshot, wanted: &Wanted, operation: Operation) -> Result<Plan, Refused> {
    let place = &snapshot.place;
    if !place.has_tests() {
        return Err(Refused::warning(match place.file.has_cases() {
            true => "this document has not been saved; save it, then run it",
            false if place.file == SpecFile::SCRIPT => "this file is a scripted model and has no tests",
            false if place.file == SpecFile::GATEWAY => "this file is a scripted gateway and has no tests",
            false => "this file has no tests",
        }));
    }
    threads::try_blocking_threads().map_err(|error| Refused::warning(format!("{error:#}")))?;
    let workspace = snapshot.workspace();
    let suite = Arc::new(snapshot.whole_suite(&workspace));
    let candidates = snapshot.cases_in(&suite);
    let id = snapshot.suite();
    let untrusted = snapshot.world.untrusted_of(job::deciding(&id.directory, &id.place, &workspace));
    let prepared = snapshot.prepare(&workspace, &suite, untrusted.as_deref());
    if let Err(Refusal::Settings(file)) = &prepared {
        return Err(Refused::Because(lsp::MessageType::Error, job::settings_sentence(file)));
    }
    // Trust is not requested for a test that cannot run.
    let cases = select(&suite, &candidates, place.has_suite(), wanted)
        .map_err(|refused| refused.masked(&workspace.secrets_of(&suite)))?;
    let prepared = prepared.map_err(|refusal| match refusal {
        Refusal::Untrusted(directory) => Refused::Untrusted(directory),
        Refusal::Settings(file) => Refused::Because(lsp::MessageType::Error, job::settings_sentence(&file)),
        Refusal::Suite => Refused::warning("the suite has errors; fix them first"),
    })?;
    if matches!(operation, Operation::Ask) && !cases.iter().any(|case| asks_judge(&suite.cases[*case])) {
        let name = || cases.iter().next().map(|case| format!("`{}`", suite.cases[*case].name)).unwrap_or_default();
        let whose = if cases.len() == 1 { name() } else { "these tests".to_owned() };
        let message = format!("no assertion of {whose} asks a judge");
        return Err(Refused::Because(lsp::MessageType::Info, message).masked(prepared.secrets()));
    }
    let is_reported = prepared.settings().gateway.editor_reports && operation.is_reported();
    Ok(Plan {
        uri: snapshot.uri.0.clone(),
        version: snapshot.version,
        id,
        wanted: if matches!(wanted, Wanted::File) { candidates.len() } else { cases.len() },
        cases,
        suite,
        reports: is_reported.then(|| prepared.reports(ReportRequest::Anywhere)).flatten().map(Arc::new),
        prepared,
        results: Arc::clone(&snapshot.results),
        operation,
        shows_lenses: snapshot.abilities.shows_lenses,
    })
}

fn asks_judge(case: &Case) -> bool {
    let needs = case.claims.iter().flat_map(|claim| claim.check.needs(&Context::default()));
    needs.into_iter().any(|need| matches!(need, Need::Question(_) | Need::Scores(_)))
}

fn select(suite: &Suite, candidates: &[usize], has_suite: bool, wanted: &Wanted) -> Result<BTreeSet<usize>, Refused> {
    let obstacle =
        |index: usize| NotRunnableReason::of(suite, index).or((!has_suite).then_some(NotRunnableReason::NoSuite));
    match wanted {
        Wanted::Tests(names) => {
            let mut free = BTreeSet::new();
            let mut refused = None;
            for name in names {
                let Some(index) = candidates.iter().copied().find(|index| suite.cases[*index].name == *name) else {
                    return Err(Refused::Failed(format!("this file has no test `{name}`")));
                };
                match obstacle(index) {
                    Some(obstacle) => refused = refused.or(Some(Refused::by(obstacle, name))),
                    None => drop(free.insert(index)),
                }
            }
            match refused {
                Some(refused) if free.is_empty() => Err(refused),
                Some(_) | None => Ok(free),
            }
        }
        Wanted::File => {
            let obstacles = || candidates.iter().map(|index| (*index, obstacle(*index)));
            let free: BTreeSet<usize> =
                obstacles().filter(|(_, obstacle)| obstacle.is_none()).map(|(index, _)| index).collect();
            if !free.is_empty() {
                return Ok(free);
            }
            Err(match obstacles().find_map(|(index, obstacle)| Some((index, obstacle?))) {
                Some((index, obstacle)) if candidates.len() == 1 => Refused::by(obstacle, &suite.cases[index].name),
                Some(_) => Refused::warning("no test of this file can run; the lenses above the tests show why"),
                None => Refused::warning("this file has no tests"),
            })
        }
    }
}

/// Runs the tests of a plan to their end. Each event is passed on, with the reason why its report could not be written.
pub(in crate::lsp) async fn perform(
    plan: Arc<Plan>,
    clock: Clock,
    cancel: CancellationToken,
    tell: impl Fn(Event, Option<String>),
) -> Result<Arc<SuiteResult>, tokio::task::JoinError> {
    let store = plan.results.store(&plan.id, plan.prepared.settings(), true);
    let job = plan.prepared.job(store);
    let options = Options {
        observed_run: None,
        mode: plan.operation.mode(),
        concurrency: Some(plan.prepared.concurrency(None)),
        cases: Some(plan.cases.clone()),
        models: plan.operation.models().to_vec(),
        help_modes: Vec::new(),
        fail_fast: false,
        given_up: false,
        keep_directories: false,
        strict: false,
    };
    let (events, mut happened) = mpsc::unbounded_channel();
    let running = tokio::spawn(run(job, options, cancel, events));
    while let Some(event) = happened.recv().await {
        let mut unwritten = None;
        if let (Event::AttemptFinished { case, run }, Some(reports)) = (&event, plan.reports.clone())
            && !run.is_left_out()
        {
            let (case, run, now) = (*case, Arc::clone(run), clock.now());
            let written = tokio::task::spawn_blocking(move || reports.write(case, &run, &now).map(drop)).await;
            unwritten = written.ok().and_then(Result::err).map(|error| format!("{error:#}"));
        }
        tell(event, unwritten);
    }
    running.await
}
