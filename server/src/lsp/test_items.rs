//! The view of tests of a client: it asks for the tests of the workspace, and for those of a document each time it is
//! told that they changed. What it shows is thus what lenses and diagnostics show.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use speclens_runner::report::plain;
use speclens_schema::mask::Secrets;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    cross_file, features,
    world::{Snapshot, World},
};
use crate::ide::{
    run_problems::RunProblem,
    runnable::NotRunnableReason,
    symbols::SymbolKind,
    test_items::{AttemptItem, TestItem, TestState, test_items},
};

/// `speclens/tests`: the tests of a document, or, without one, of all files of the workspace, without results.
#[derive(Debug, Deserialize)]
pub(super) struct TestsParams {
    pub uri: Option<lsp::Uri>,
}

#[derive(Debug, Serialize)]
pub(super) struct Tests {
    files: Vec<TestFile>,
}

#[derive(Debug, Serialize)]
struct TestFile {
    uri: lsp::Uri,
    /// The id of the format.
    format: &'static str,
    tests: Vec<Test>,
    /// The models to choose from for its tests.
    models: Vec<String>,
    /// The runs under way of its suite.
    runs: Vec<ActiveRun>,
}

#[derive(Debug, Serialize)]
pub(super) struct ActiveRun {
    run: u32,
    /// The names of the tests that have not ended.
    tests: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    range: lsp::Range,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<TestResult>,
}

/// What is known of a test of an open document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TestResult {
    tags: Vec<String>,
    /// Whether it runs a command, and thus costs nothing.
    is_command: bool,
    state: TestState,
    title: String,
    duration_ms: Option<f64>,
    messages: Vec<Message>,
    attempts: Vec<Attempt>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    label: String,
    state: TestState,
    duration_ms: Option<f64>,
    messages: Vec<Message>,
}

#[derive(Debug, Serialize)]
struct Message {
    message: String,
    range: lsp::Range,
    expected: Option<String>,
    actual: Option<String>,
}

/// `speclens/testsChanged`: the tests of a document, or, without one, the files with tests, have changed.
pub(super) enum TestsChanged {}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TestsChangedParams {
    pub uri: Option<lsp::Uri>,
}

impl lsp::Notification for TestsChanged {
    const METHOD: lsp::LspNotificationMethod<'static> = lsp::LspNotificationMethod::Custom("speclens/testsChanged");
    const MESSAGE_DIRECTION: lsp::MessageDirection = lsp::MessageDirection::ServerToClient;
    type Params = TestsChangedParams;
}

/// `speclens/runOutput`: lines for the terminal of a run.
pub(super) enum RunOutput {}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunOutputParams {
    pub run: u32,
    pub text: String,
}

impl lsp::Notification for RunOutput {
    const METHOD: lsp::LspNotificationMethod<'static> = lsp::LspNotificationMethod::Custom("speclens/runOutput");
    const MESSAGE_DIRECTION: lsp::MessageDirection = lsp::MessageDirection::ServerToClient;
    type Params = RunOutputParams;
}

impl Tests {
    pub(super) fn none() -> Tests {
        Tests { files: Vec::new() }
    }

    /// Returns the tests of a document. `runs` are those of its suite.
    pub(super) fn of_document(snapshot: &Snapshot, runs: Vec<(u32, Vec<String>)>) -> Tests {
        let place = &snapshot.place;
        let Some(format) = place.dialect().filter(|_| place.has_tests()) else { return Tests::none() };
        let workspace = snapshot.workspace();
        let problems = snapshot.problems(&workspace).to_vec(&snapshot.document);
        let files = place.files.as_ref();
        let suite = snapshot.analyzer.suite(&snapshot.document, files, &workspace.settings, &problems);
        let is_refused = workspace.wrong().is_some();
        let obstacle = |index| {
            let of_suite = (!place.has_suite()).then_some(NotRunnableReason::NoSuite);
            let of_settings = is_refused.then_some(NotRunnableReason::WrongSettings);
            NotRunnableReason::of(&suite, index).or(of_suite).or(of_settings)
        };
        let items = test_items(&suite, &snapshot.document, snapshot.latest.as_deref(), obstacle);
        let secrets = workspace.secrets_of(&suite);
        let tests = items.into_iter().map(|item| Test::of(snapshot, item, &secrets)).collect();
        let runs = runs.into_iter().map(|(run, tests)| ActiveRun { run, tests }).collect();
        let (uri, models) = (snapshot.uri.clone(), features::choices(snapshot));
        Tests { files: vec![TestFile { uri, format: format.as_str(), tests, models, runs }] }
    }

    /// Returns the tests of all files, without results.
    pub(super) fn of_workspace(world: &Arc<World>) -> Tests {
        let files = world.sources(None).into_iter().filter_map(|source| {
            let scope = &source.facts.scope;
            let (uri, format) = (source.uri()?, scope.file.dialect().filter(|_| scope.file.has_cases())?);
            let symbols = source.facts.symbols.iter().filter(|(symbol, _)| symbol.kind == SymbolKind::Test);
            let tests = symbols.map(|(symbol, span)| Test {
                name: symbol.name.clone(),
                range: cross_file::range(*span),
                result: None,
            });
            let (models, runs) = (Vec::new(), Vec::new());
            Some(TestFile { uri, format: format.as_str(), tests: tests.collect(), models, runs })
        });
        Tests { files: files.collect() }
    }
}

impl Test {
    fn of(snapshot: &Snapshot, item: TestItem<'_>, secrets: &Secrets) -> Test {
        let messages = |problems| Message::all(snapshot, problems, secrets);
        let attempt = |AttemptItem { subject, repeat, state, duration_ms, problems }| Attempt {
            label: format!("{subject} #{}", repeat + 1),
            state,
            duration_ms,
            messages: messages(problems),
        };
        Test {
            name: item.name.to_owned(),
            range: snapshot.range(item.range),
            result: Some(TestResult {
                tags: item.tags.to_vec(),
                is_command: item.action == speclens_schema::suite::ActionKind::Command,
                state: item.state,
                title: item.title,
                duration_ms: item.duration_ms,
                messages: messages(item.problems),
                attempts: item.attempts.into_iter().map(attempt).collect(),
            }),
        }
    }
}

impl Message {
    fn all(snapshot: &Snapshot, problems: Vec<RunProblem>, secrets: &Secrets) -> Vec<Message> {
        let message = |mut problem: RunProblem| {
            problem.mask(secrets);
            let (expected, actual) = problem.difference.unzip();
            Message {
                message: plain::block(&problem.message),
                range: snapshot.range(problem.range),
                expected: expected.map(|text| plain::block(&text)),
                actual: actual.map(|text| plain::block(&text)),
            }
        };
        problems.into_iter().map(message).collect()
    }
}
