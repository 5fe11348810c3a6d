//! The diagnostics of a document and of the files that it concerns, and the results of its tests.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use speclens_schema::{analysis::Problems, document::Document, problem::Severity, suite::CaseFile, verdict::Status};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert,
    diagnostics::{self, RunConverter},
    world::Snapshot,
};
use crate::{
    ide::{
        latest::{self, Latest, RunProblems},
        left_out_repeats,
        run_problems::RunProblem,
        runnable::BrokenTests,
    },
    job, results,
    workspace::{SettingsFile, Workspace},
};

pub(super) struct Analysis {
    pub latest: Latest,
    /// Whether lenses differ from those of the last analysis.
    pub changes_lenses: bool,
    /// Whether there are new results of the same text.
    pub changes_verdicts: bool,
    pub own: Vec<lsp::Diagnostic>,
    /// The diagnostics of files that are not open.
    pub others: Vec<(PathBuf, Vec<lsp::Diagnostic>)>,
}

pub(super) fn of_text(snapshot: &Snapshot, problems: &Problems) -> Vec<lsp::Diagnostic> {
    match snapshot.abilities.pulls_diagnostics {
        true => Vec::new(),
        false => diagnostics::of_text(snapshot, problems),
    }
}

pub(super) fn of(snapshot: &Snapshot, workspace: &Workspace, problems: &Problems) -> Analysis {
    let (mut latest, RunProblems { own: mut run_problems, parts }) = of_runs(snapshot, problems, workspace);
    latest.text = snapshot.document.text().clone();
    if snapshot.place.has_tests() {
        latest.broken = BrokenTests::among(problems, snapshot.place.file, &snapshot.document);
        latest.is_refused = workspace.wrong().is_some();
        run_problems.extend(workspace.wrong().map(|file| refusal(&snapshot.document, file)));
    }
    let folders = snapshot.world.scopes.folders();
    let mut own = of_text(snapshot, problems);
    let mut of_runs = RunConverter::of(snapshot, &snapshot.uri, &folders).diagnostics(&run_problems);
    snapshot.typing.calm(&snapshot.document, snapshot.abilities.encoding, &mut of_runs);
    own.extend(of_runs);
    let mut others = of_parts(snapshot, &parts);
    others.extend(of_settings(snapshot, workspace));
    let before = snapshot.latest.as_deref();
    let changes_verdicts = before.is_some_and(|before| latest.changes_verdicts(before));
    Analysis { changes_lenses: latest.changes_lenses(before), changes_verdicts, latest, own, others }
}

fn of_runs(snapshot: &Snapshot, problems: &Problems, workspace: &Workspace) -> (Latest, RunProblems) {
    let (place, uri) = (&snapshot.place, &snapshot.uri.0);
    if !place.has_tests() {
        return Default::default();
    }
    let results = &snapshot.results;
    results.store(&snapshot.suite(), &workspace.settings, snapshot.world.may_run_in(&place.directory));
    results.refresh();
    if results.is_empty() {
        // Without any run, a keystroke need not look up every case.
        return Default::default();
    }
    let all = problems.to_vec(&snapshot.document);
    let suite = snapshot.analyzer.suite(&snapshot.document, place.files.as_ref(), &workspace.settings, &all);
    let suite = Arc::new(suite);
    let secrets = workspace.secrets_of(&suite);
    let mut outcomes = results.outcomes(uri, &suite, &secrets);
    if workspace.settings.limits.stop_repeats && place.main().is_none() {
        outcomes = left_out_repeats::without_spare(&suite, outcomes);
    } else if workspace.settings.limits.stop_repeats && left_out_repeats::is_any_incomplete(&suite, &outcomes) {
        // The thresholds are those of the whole suite, and the tasks of other files count as well.
        let whole = snapshot.whole_suite(workspace);
        let all = results.outcomes(&results::view_of_whole(uri), &whole, &secrets);
        let all = left_out_repeats::without_spare(&whole, all);
        for at in snapshot.cases_in(&whole) {
            let same = suite.cases.iter().position(|case| case.name == whole.cases[at].name);
            same.into_iter().for_each(|same| outcomes[same] = Arc::clone(&all[at]));
        }
    }
    // If a run refuses the suite, its gates are not reported.
    let is_refused = workspace.wrong().is_some() || problems.iter().any(|problem| problem.severity == Severity::Error);
    let with_gates = place.main().is_none() && !is_refused;
    let mut problems = latest::problems(&suite, &snapshot.document, &outcomes, with_gates);
    let parts = problems.parts.iter_mut().flat_map(|(_, problems)| problems);
    problems.own.iter_mut().chain(parts).for_each(|problem| problem.mask(&secrets));
    let running_without = results.running_without(&suite);
    (Latest { suite: Some(suite), outcomes, running_without, ..Latest::default() }, problems)
}

/// Returns the diagnostics of files that are not open and contain cases of a suite. If two suites name a file,
/// the one that the file belongs to reports it.
fn of_parts(snapshot: &Snapshot, parts: &[(Arc<CaseFile>, Vec<RunProblem>)]) -> Vec<(PathBuf, Vec<lsp::Diagnostic>)> {
    let scopes = &snapshot.world.scopes;
    let (folders, suite) = (scopes.folders(), snapshot.suite());
    let found = parts.iter().filter_map(|(file, problems)| {
        let path = snapshot.place.directory.join(&file.path);
        let is_in = |folder: &PathBuf| path.starts_with(folder);
        if snapshot.world.open_at(&path).is_some() || !(folders.is_empty() || folders.iter().any(is_in)) {
            return None;
        }
        let scope = scopes.find(&path, &String::from(file.document.text()))?;
        let is_own = scope.root == suite.directory && scope.main.as_ref() == Some(&suite.place);
        let address = convert::uri(&path).filter(|_| is_own)?;
        let open = RunConverter::of(snapshot, &address, &folders);
        let converter = RunConverter { document: &file.document, edited_at: 0, ..open };
        Some((path, converter.diagnostics(problems)))
    });
    found.collect()
}

fn of_settings(snapshot: &Snapshot, workspace: &Workspace) -> Option<(PathBuf, Vec<lsp::Diagnostic>)> {
    let is_wrong = |file: &&SettingsFile| !file.problems.is_empty() && snapshot.world.open_at(&file.path).is_none();
    let file = workspace.file.as_deref().filter(is_wrong)?;
    let address = convert::uri(&file.path)?;
    let converter = convert::Converter { document: &file.document, uri: &address, ..snapshot.converter() };
    let shown = diagnostics::chosen(&file.problems, 0, |problem| (problem.severity, problem.range.clone()));
    let mut found: Vec<_> = shown.iter().map(|problem| converter.diagnostic(problem)).collect();
    found.extend(convert::left_out(file.problems.len() - shown.len(), convert::SOURCE, "speclens check"));
    Some((file.path.clone(), found))
}

/// Returns the problem of a suite that does not run because of its settings, at its first key.
fn refusal(document: &Document, file: &SettingsFile) -> RunProblem {
    let first = document.root().and_then(|root| Some(root.entries().next()?.key.range()));
    RunProblem {
        range: first.unwrap_or(0..0),
        code: None,
        message: job::settings_sentence(file),
        status: Status::Error,
        difference: None,
        related: Vec::new(),
    }
}

/// The published diagnostics of files that are not open, by path. Open documents cause them: those with their settings,
/// and those whose suite has tests in them.
#[derive(Debug, Default)]
pub(super) struct Published(BTreeMap<PathBuf, ClosedFile>);

#[derive(Debug, Default)]
struct ClosedFile {
    documents: BTreeSet<String>,
    diagnostics: Vec<lsp::Diagnostic>,
}

impl Published {
    /// Replaces the diagnostics that a document causes. Returns those that change.
    pub(super) fn replace(
        &mut self,
        uri: &str,
        files: Vec<(PathBuf, Vec<lsp::Diagnostic>)>,
    ) -> Vec<(PathBuf, Vec<lsp::Diagnostic>)> {
        let mut changed = Vec::new();
        self.0.retain(|path, file| {
            if !files.iter().any(|(stays, _)| stays == path) {
                file.documents.remove(uri);
            }
            let keep = !file.documents.is_empty();
            if !keep {
                changed.push((path.clone(), Vec::new()));
            }
            keep
        });
        for (path, diagnostics) in files {
            let file = self.0.entry(path.clone()).or_default();
            file.documents.insert(uri.to_owned());
            if file.diagnostics != diagnostics {
                file.diagnostics.clone_from(&diagnostics);
                changed.push((path, diagnostics));
            }
        }
        changed
    }

    pub(super) fn forget(&mut self, path: &PathBuf) {
        self.0.remove(path);
    }
}
