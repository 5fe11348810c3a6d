//! The analysis: a thread of its own looks at the newest version of each document that changed, and tells
//! the client. Versions that were overtaken are never told.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use speclens_runner::event::RunResult;
use speclens_schema::{
    dialect::Dialect,
    document::Document,
    problem::Severity,
    suite::{Case, CaseFile},
};
use tokio::runtime::Handle;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert, elsewhere,
    results::{self, CaseOutcome, Latest},
    run_diagnostics::Teller,
    session::{Session, Snapshot},
    settings,
};
use crate::{
    ide::{
        gates,
        lens::{CaseState, Known},
        run_problems::{self, RunProblem},
        runnable,
    },
    workspace,
};

/// Analyses documents until the server stops. Blocks its thread.
pub(super) fn analyse_until_stopped(session: &Arc<Session>, runtime: &Handle) {
    while let Some(uri) = session.next_to_analyse() {
        // A mistake of ours in one document must not end the analysis of all.
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| analyse(session, runtime, &uri)));
        if looked.is_err() {
            tracing::error!("the analysis of {uri} failed; it is tried again after the next edit");
        }
    }
}

fn analyse(session: &Arc<Session>, runtime: &Handle, uri: &str) {
    let Some(snapshot) = session.snapshot(uri) else {
        elsewhere::tell(session, runtime, uri, Vec::new());
        return;
    };
    let workspace = snapshot.workspace();
    let problems = Arc::new(super::problems(&snapshot, &workspace));
    let first = snapshot.latest.is_none();
    if first && !snapshot.abilities.pulls_diagnostics {
        // On opening, what the text says comes first; what was recorded follows.
        publish(session, runtime, uri, &snapshot, &problems, &[]);
    }
    if first {
        // So does what the whole says beyond its parts.
        let (shared, uri) = (Arc::clone(session), uri.to_owned());
        let handle = runtime.clone();
        session.requests.begin(move || {
            shared.consult_whole(&handle, &uri);
            super::reference::prepare();
        });
    }
    let Found { mut latest, own: mut run_problems, parts } = results(session, uri, &snapshot, &problems, &workspace);
    if snapshot.place.has_tests() {
        latest.broken = runnable::broken(snapshot.place.file, &snapshot.document, &problems);
        latest.is_refused = workspace.wrong().is_some();
        run_problems.extend(workspace.wrong().map(|file| settings::refusal(&snapshot.document, file)));
    }
    let changed = states_differ(snapshot.latest.as_deref(), &latest);
    let latest = Arc::new(latest);
    let refresh = || {
        if changed && snapshot.abilities.refreshes_lenses {
            let client = session.client.clone();
            runtime.spawn(async move {
                let _ = client.code_lens_refresh().await;
            });
        }
    };
    {
        let mut state = session.state();
        let Some(open) = state.open.get_mut(uri).filter(|open| open.opening == snapshot.opening) else { return };
        open.latest = Some(latest);
        if open.version != snapshot.version {
            // Overtaken: the next round tells what is wrong. It will not see that the lenses changed.
            drop(state);
            refresh();
            return;
        }
    }
    let mut others = tell_parts(session, &snapshot, uri, &parts);
    others.extend(settings::wrong(session, &snapshot, &workspace));
    elsewhere::tell(session, runtime, uri, others);
    publish(session, runtime, uri, &snapshot, &problems, &run_problems);
    refresh();
}

/// What the recordings say.
#[derive(Default)]
struct Found {
    latest: Latest,
    /// What is wrong in the document itself.
    own: Vec<RunProblem>,
    /// What is wrong in other files that hold cases of the suite.
    parts: Vec<(Arc<CaseFile>, Vec<RunProblem>)>,
}

/// The diagnostics of the files that hold cases of a suite and that are not open. Where two suites name a file, the one
/// that the file belongs to tells of it.
fn tell_parts(
    session: &Session,
    snapshot: &Snapshot,
    uri: &str,
    parts: &[(Arc<CaseFile>, Vec<RunProblem>)],
) -> Vec<(PathBuf, Vec<lsp::Diagnostic>)> {
    let folders = session.scopes.folders();
    let suite = snapshot.place.suite(uri);
    let told = parts.iter().filter_map(|(file, problems)| {
        let path = snapshot.place.directory.join(&file.path);
        let is_in = |folder: &PathBuf| path.starts_with(folder);
        if session.is_ours(&path) || !(folders.is_empty() || folders.iter().any(is_in)) {
            return None;
        }
        let scope = session.scopes.find(&path, &String::from(file.document.text()))?;
        let is_own = scope.root == suite.directory && scope.main.as_ref() == Some(&suite.place);
        let address = convert::uri(&path).filter(|_| is_own)?;
        let open = Teller::of(snapshot, &address, &folders);
        let teller = Teller { document: &file.document, edited_at: 0, ..open };
        Some((path, teller.diagnostics(problems)))
    });
    told.collect()
}

/// What the recordings say about the suite as it stands.
fn results(
    session: &Session,
    uri: &str,
    snapshot: &Snapshot,
    problems: &Arc<Vec<speclens_schema::problem::Problem>>,
    workspace: &workspace::Workspace,
) -> Found {
    if !snapshot.place.has_tests() {
        return Found::default();
    }
    let place = &snapshot.place;
    let results = || snapshot.results.lock().unwrap_or_else(PoisonError::into_inner);
    let trusted = session.may_run_in(&place.directory);
    // Whoever runs or records waits for none of this: the lock is held only to ask, and to say what was found.
    let book = results::book(&snapshot.results, &place.suite(uri), &workspace.settings, trusted);
    if book.look_again() {
        results().recorded_elsewhere();
    }
    if results().is_empty() {
        // Nothing was ever run: a keystroke then does not cost a look at every case.
        return Found::default();
    }
    let suite =
        Arc::new(snapshot.analyzer.suite(&snapshot.document, place.files.as_ref(), &workspace.settings, problems));
    let look = results().look(uri, &suite, &workspace.secrets_of(&suite));
    let seen = look.take(&suite);
    let mut outcomes = results().remember(seen);
    if workspace.settings.limits.stop_repeats {
        outcomes = results::without_spare(&suite, outcomes);
    }
    let mut found = Found::default();
    let mut names: HashMap<&str, usize> = HashMap::new();
    for case in &suite.cases {
        *names.entry(&case.name).or_default() += 1;
    }
    for (case, outcome) in suite.cases.iter().zip(&outcomes) {
        // Which of several tests of one name was run cannot be told; what was cut off says little of the test.
        if names.get(case.name.as_str()).is_some_and(|count| *count > 1) || outcome.state == CaseState::Cancelled {
            continue;
        }
        let Some(file) = &case.file else {
            found.own.extend(case_problems(suite.dialect, &snapshot.document, case, outcome));
            continue;
        };
        let problems = case_problems(suite.dialect, &file.document, case, outcome);
        match found.parts.iter_mut().find(|(known, _)| known.path == file.path) {
            Some((_, known)) => known.extend(problems),
            None => found.parts.push((Arc::clone(file), problems)),
        }
    }
    found.parts.retain(|(_, problems)| !problems.is_empty());
    // A gate speaks about the whole suite: where a run refuses it, nothing is said.
    let is_refused = workspace.wrong().is_some()
        || problems.iter().any(|problem| problem.severity == Severity::Error)
        || names.values().any(|count| *count > 1);
    if place.main().is_none() && !is_refused {
        let attempts: Vec<_> = outcomes.iter().map(|outcome| settled(outcome)).collect();
        found.own.extend(gates::failing(&suite, &snapshot.document, &attempts));
    }
    found.latest = Latest { suite: Some(suite), outcomes, ..Latest::default() };
    found
}

/// The attempts of a case, as far as they are the last word on it: none while it runs, or after a run was cancelled.
fn settled(outcome: &CaseOutcome) -> Vec<&RunResult> {
    match outcome.state {
        CaseState::Running | CaseState::Cancelled => Vec::new(),
        CaseState::NeverRun
        | CaseState::Stale
        | CaseState::Passed { .. }
        | CaseState::Warned { .. }
        | CaseState::Failed { .. }
        | CaseState::Unknown { .. }
        | CaseState::Broke { .. } => outcome.attempts.iter().map(|attempt| &attempt.result).collect(),
    }
}

fn case_problems(dialect: Dialect, document: &Document, case: &Case, outcome: &CaseOutcome) -> Vec<RunProblem> {
    let mut found: Vec<RunProblem> = Vec::new();
    let begun = outcome.attempts.iter().map(|attempt| &attempt.result).filter(|result| !result.is_left_out());
    for attempt in begun {
        let broken = attempt.absence.as_ref().map(|it| run_problems::broken(dialect, document, case, &it.message));
        for problem in broken.into_iter().chain(run_problems::noted(dialect, document, case, &attempt.notes)) {
            // Attempts that break alike are one diagnostic.
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
    }
    let judged = outcome.attempts.iter().filter(|attempt| attempt.result.absence.is_none());
    let judged: Vec<_> = judged.map(|attempt| (&attempt.result, attempt.ending.as_slice())).collect();
    found.extend(run_problems::of_attempts(dialect, document, case, &judged));
    found
}

fn states_differ(before: Option<&Latest>, now: &Latest) -> bool {
    let states = |latest: &Latest| -> HashMap<String, Known> {
        let cases = latest.suite.iter().flat_map(|suite| &suite.cases).zip(&latest.outcomes);
        cases.map(|(case, outcome)| (case.name.clone(), outcome.known())).collect()
    };
    let none = HashSet::new();
    if before.map_or(&none, |before| &before.broken) != &now.broken
        || before.is_some_and(|before| before.is_refused) != now.is_refused
    {
        return true;
    }
    match before {
        None => now.outcomes.iter().any(|outcome| outcome.state != CaseState::NeverRun),
        Some(before) => {
            let same_outcomes = before.outcomes.len() == now.outcomes.len()
                && before.outcomes.iter().zip(&now.outcomes).all(|(before, now)| Arc::ptr_eq(before, now));
            !same_outcomes && states(before) != states(now)
        }
    }
}

/// Tells the client. Where it asks for problems of the text itself, only results of runs are told.
fn publish(
    session: &Session,
    runtime: &Handle,
    uri: &str,
    snapshot: &Snapshot,
    problems: &[speclens_schema::problem::Problem],
    run_problems: &[RunProblem],
) {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let lsp_uri = lsp::Uri(uri.to_owned());
    let mut diagnostics = if snapshot.abilities.pulls_diagnostics {
        Vec::new()
    } else {
        convert::diagnostics(document, encoding, &lsp_uri, problems, snapshot.edited_at)
    };
    let folders = session.scopes.folders();
    diagnostics.extend(Teller::of(snapshot, &lsp_uri, &folders).diagnostics(run_problems));
    let publish = session.client.publish_diagnostics(lsp_uri, diagnostics, Some(snapshot.version));
    runtime.block_on(publish);
    if !session.is_open(uri) {
        // It was closed in between: nothing may stay in the list of problems.
        runtime.block_on(session.client.publish_diagnostics(lsp::Uri(uri.to_owned()), Vec::new(), None));
    }
}
