//! The analysis: a background thread analyzes the newest version of each changed document, and publishes
//! its diagnostics, never those of an outdated version.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use speclens_schema::{
    analysis::Problems,
    problem::Severity,
    suite::{CaseFile, Suite},
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    closed_file_diagnostics, convert, diagnostics,
    run_diagnostics::Converter,
    session::{Session, Snapshot},
    settings,
    whole_suite::cases_in,
};
use crate::{
    ide::{
        latest::{self, Latest, RunProblems},
        left_out_repeats,
        run_problems::RunProblem,
        runnable::BrokenTests,
    },
    results, workspace,
};

/// Analyses documents until the server stops. Blocks its thread.
pub(super) fn analyze_until_stopped(session: &Arc<Session>) {
    while let Some(uri) = session.next_to_analyze() {
        // A bug of speclens in one document must not end the analysis of all.
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| analyze(session, &uri)));
        if looked.is_err() {
            tracing::error!("the analysis of {uri} failed; speclens tries again after the next edit");
        }
    }
}

fn analyze(session: &Arc<Session>, uri: &str) {
    let Some(snapshot) = session.snapshot(uri) else {
        closed_file_diagnostics::publish(session, uri, Vec::new());
        return;
    };
    let workspace = snapshot.workspace();
    let problems = super::problems(&snapshot, &workspace);
    let first = snapshot.latest.is_none();
    if first && !snapshot.abilities.pulls_diagnostics {
        // After opening, diagnostics of the text come first; those of recordings follow.
        publish(session, uri, &snapshot, &problems, &[]);
    }
    if first {
        // The same applies to diagnostics that need the whole text.
        let (shared, uri) = (Arc::clone(session), uri.to_owned());
        session.requests.begin(move || shared.consult_whole(&uri));
    }
    let (mut latest, found) = results(session, uri, &snapshot, &problems, &workspace);
    let RunProblems { own: mut run_problems, parts } = found;
    latest.text = snapshot.document.text().clone();
    if snapshot.place.has_tests() {
        latest.broken = BrokenTests::among(&problems, snapshot.place.file, &snapshot.document);
        latest.is_refused = workspace.wrong().is_some();
        run_problems.extend(workspace.wrong().map(|file| settings::refusal(&snapshot.document, file)));
    }
    let changed = latest.changes_lenses(snapshot.latest.as_deref());
    let latest = Arc::new(latest);
    let refresh = || {
        if changed && snapshot.abilities.refreshes_lenses {
            let client = session.client.clone();
            session.runtime.spawn(async move {
                let _ = client.code_lens_refresh().await;
            });
        }
    };
    {
        let mut state = session.state();
        let Some(open) = state.open.get_mut(uri).filter(|open| open.opening == snapshot.opening) else { return };
        open.latest = Some(latest);
        if open.version != snapshot.version {
            // Outdated: the next round reports the problems, but cannot detect that the lenses changed.
            drop(state);
            refresh();
            return;
        }
    }
    let mut others = diagnostics_of_parts(session, &snapshot, uri, &parts);
    others.extend(settings::wrong(session, &snapshot, &workspace));
    closed_file_diagnostics::publish(session, uri, others);
    publish(session, uri, &snapshot, &problems, &run_problems);
    refresh();
}

/// Returns the diagnostics of files that are not open and contain cases of a suite. If two suites name a file,
/// the one that the file belongs to reports it.
fn diagnostics_of_parts(
    session: &Session,
    snapshot: &Snapshot,
    uri: &str,
    parts: &[(Arc<CaseFile>, Vec<RunProblem>)],
) -> Vec<(PathBuf, Vec<lsp::Diagnostic>)> {
    let folders = session.scopes.folders();
    let suite = snapshot.place.suite(uri);
    let found = parts.iter().filter_map(|(file, problems)| {
        let path = snapshot.place.directory.join(&file.path);
        let is_in = |folder: &PathBuf| path.starts_with(folder);
        if session.is_ours(&path) || !(folders.is_empty() || folders.iter().any(is_in)) {
            return None;
        }
        let scope = session.scopes.find(&path, &String::from(file.document.text()))?;
        let is_own = scope.root == suite.directory && scope.main.as_ref() == Some(&suite.place);
        let address = convert::uri(&path).filter(|_| is_own)?;
        let open = Converter::of(snapshot, &address, &folders);
        let converter = Converter { document: &file.document, edited_at: 0, ..open };
        Some((path, converter.diagnostics(problems)))
    });
    found.collect()
}

/// Returns the results of recordings for the suite as written.
fn results(
    session: &Session,
    uri: &str,
    snapshot: &Snapshot,
    problems: &Problems,
    workspace: &workspace::Workspace,
) -> (Latest, RunProblems) {
    if !snapshot.place.has_tests() {
        return Default::default();
    }
    let place = &snapshot.place;
    let results = || snapshot.results.lock().unwrap_or_else(PoisonError::into_inner);
    let trusted = session.may_run_in(&place.directory);
    // Runs and recordings do not wait for this: the lock is held only to start and to store the result.
    let store = results::evidence_store(&snapshot.results, &place.suite(uri), &workspace.settings, trusted);
    if store.refresh() {
        results().recorded_elsewhere();
    }
    if results().is_empty() {
        // Without any run, a keystroke need not look up every case.
        return Default::default();
    }
    let all = problems.to_vec(&snapshot.document);
    let suite = snapshot.analyzer.suite(&snapshot.document, place.files.as_ref(), &workspace.settings, &all);
    let suite = Arc::new(suite);
    let secrets = workspace.secrets_of(&suite);
    let look_up = |uri: &str, suite: &Suite| {
        let query = results().query(uri, suite, &secrets);
        let queried = query.run(suite);
        results().remember(queried)
    };
    let mut outcomes = look_up(uri, &suite);
    if workspace.settings.limits.stop_repeats && place.main().is_none() {
        outcomes = left_out_repeats::without_spare(&suite, outcomes);
    } else if workspace.settings.limits.stop_repeats && left_out_repeats::is_any_incomplete(&suite, &outcomes) {
        // The thresholds are those of the whole suite, and the tasks of other files count as well.
        let whole = session.whole_suite(snapshot, workspace);
        let all = left_out_repeats::without_spare(&whole, look_up(&results::view_of_whole(uri), &whole));
        for at in cases_in(&whole, snapshot) {
            let same = suite.cases.iter().position(|case| case.name == whole.cases[at].name);
            same.into_iter().for_each(|same| outcomes[same] = Arc::clone(&all[at]));
        }
    }
    // If a run refuses the suite, its gates are not reported.
    let is_refused = workspace.wrong().is_some() || problems.iter().any(|problem| problem.severity == Severity::Error);
    let with_gates = place.main().is_none() && !is_refused;
    let mut problems = latest::problems(&suite, &snapshot.document, &outcomes, with_gates);
    // The names of tests and the texts of assertions come from the suite, which may contain secrets.
    for problem in problems.own.iter_mut().chain(problems.parts.iter_mut().flat_map(|(_, problems)| problems)) {
        let related = problem.related.iter_mut().map(|related| &mut related.message);
        related.chain([&mut problem.message]).for_each(|text| *text = secrets.mask(text));
    }
    let running_without = results().running_without(&suite);
    (Latest { suite: Some(suite), outcomes, running_without, ..Latest::default() }, problems)
}

/// Publishes diagnostics. A client that pulls diagnostics of the text gets only results of runs.
fn publish(session: &Session, uri: &str, snapshot: &Snapshot, problems: &Problems, run_problems: &[RunProblem]) {
    let address = lsp::Uri(uri.to_owned());
    let mut all = match snapshot.abilities.pulls_diagnostics {
        true => Vec::new(),
        false => diagnostics::of_text(snapshot, &address, problems),
    };
    let folders = session.scopes.folders();
    all.extend(Converter::of(snapshot, &address, &folders).diagnostics(run_problems));
    session.publish(address.clone(), all, Some(snapshot.version));
    if !session.is_open(uri) {
        // It was closed in the meantime: no diagnostics may remain.
        session.publish(address, Vec::new(), None);
    }
}

impl Session {
    /// Publishes the diagnostics of a file.
    pub(super) fn publish(&self, uri: lsp::Uri, diagnostics: Vec<lsp::Diagnostic>, version: Option<i32>) {
        let params = lsp::PublishDiagnosticsParams { uri, version, diagnostics };
        self.outbox.notify("textDocument/publishDiagnostics", &params);
    }
}
