//! Tasks with real directories and processes, and a model whose answers are in the test.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod places;
mod stopping;
mod talking;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::json;
use speclens_schema::{
    document::Pointer,
    evidence::{Context, Evidence, Ran, RunError, RunErrorKind, ToolCall, Usage},
    mask::Secrets,
    suite::{AgentAction, AgentSurroundings, HelpMode},
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{AgentBackend, TaskContext, Version, perform};
use crate::{
    exec::{ActionSite, Attempt, process::Background},
    model::{Answering, Message, Model, Reply, Request},
};

/// The behavior of a model when it is asked.
#[derive(Clone, Debug)]
enum Step {
    Answers(Reply),
    Fails(RunErrorKind),
    /// Never answers.
    Hangs,
}

/// A model with the answers of the test.
#[derive(Debug, Default)]
struct Scripted {
    steps: Mutex<VecDeque<Step>>,
    /// The answer after the last step.
    forever: Option<Reply>,
    requests: Mutex<Vec<Request>>,
    /// Notified whenever the model is asked.
    asked: Notify,
}

impl Model for Scripted {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        self.requests.lock().unwrap().push(request.clone());
        let step = self.steps.lock().unwrap().pop_front();
        self.asked.notify_one();
        Box::pin(async move {
            match step {
                Some(Step::Answers(reply)) => Ok(reply),
                Some(Step::Fails(kind)) => Err(RunError { kind, message: "down".to_owned() }),
                Some(Step::Hangs) => std::future::pending().await,
                None => Ok(self.forever.clone().unwrap_or_else(|| says("done"))),
            }
        })
    }
}

fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), ..Reply::default() }
}

fn runs(commands: &[&str]) -> Reply {
    let call = |(index, command): (usize, &&str)| ToolCall {
        id: format!("call-{index}"),
        name: "run_command".to_owned(),
        arguments: json!({ "command": command }),
        result: None,
    };
    Reply {
        calls: commands.iter().enumerate().map(call).collect(),
        usage: Some(Usage { input_tokens: 100, output_tokens: 10, cost_usd: Some(0.5) }),
        ..Reply::default()
    }
}

fn model(steps: impl IntoIterator<Item = Step>) -> Scripted {
    Scripted { steps: Mutex::new(steps.into_iter().collect()), ..Scripted::default() }
}

/// Returns a model that runs these commands, one per turn, and then stops.
fn running(commands: &[&str]) -> Scripted {
    model(commands.iter().map(|command| Step::Answers(runs(&[command]))))
}

fn task(change: impl FnOnce(&mut AgentAction, &mut AgentSurroundings)) -> AgentAction {
    let mut surroundings = AgentSurroundings { cli: "sh".to_owned(), ..AgentSurroundings::default() };
    let mut action = AgentAction {
        at: Pointer::root(),
        intent: "Write a greeting".to_owned(),
        max_turns: 5,
        env: BTreeMap::new(),
        setup: Vec::new(),
        teardown: Vec::new(),
        scaffold: None,
        timeout_ms: None,
        verify: Vec::new(),
        inputs: BTreeMap::new(),
        surroundings: Arc::default(),
    };
    change(&mut action, &mut surroundings);
    action.surroundings = Arc::new(surroundings);
    action
}

struct TaskResult {
    attempt: Attempt,
    site: Option<ActionSite>,
}

impl TaskResult {
    fn directory(&self) -> PathBuf {
        self.site.as_ref().unwrap().directory.clone()
    }
}

/// A directory with a suite, and the notes of its run.
struct Suite {
    directory: tempfile::TempDir,
    keys: BTreeSet<String>,
    secrets: Secrets,
    cancel: CancellationToken,
    notes: Mutex<Vec<String>>,
    turns: Mutex<Vec<u32>>,
    version: Version,
    output_limit: usize,
}

impl Suite {
    fn new() -> Suite {
        Suite {
            directory: tempfile::tempdir().unwrap(),
            keys: BTreeSet::new(),
            secrets: Secrets::none(),
            cancel: CancellationToken::new(),
            notes: Mutex::default(),
            turns: Mutex::default(),
            version: Version::default(),
            output_limit: 1024 * 1024,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn work(&self, action: &AgentAction, model: &Scripted) -> TaskResult {
        self.work_in(action, model, HelpMode::None).await
    }

    async fn work_in(&self, action: &AgentAction, model: &Scripted, mode: HelpMode) -> TaskResult {
        let task_context = TaskContext {
            action,
            test: "greet",
            backend: AgentBackend::Model(model),
            mode: Some(mode),
            suite: self.directory.path(),
            hidden: &self.keys,
            secrets: &self.secrets,
            output_limit: self.output_limit,
            keep: false,
            version: &self.version,
            cancel: &self.cancel,
            notify: &|message| self.notes.lock().unwrap().push(message),
            turn: &|turn| self.turns.lock().unwrap().push(turn),
        };
        let (attempt, site) = perform(task_context, Context::default()).await;
        TaskResult { attempt, site }
    }
}

fn evidence(worked: &TaskResult) -> &Evidence {
    &worked.attempt.evidence
}

fn commands(worked: &TaskResult) -> &[Ran] {
    &evidence(worked).commands.as_ref().unwrap().commands
}

fn stdout(ran: &Ran) -> &str {
    &ran.stdout.as_ref().unwrap().text
}

fn error_of(worked: &TaskResult) -> (RunErrorKind, &str) {
    let error = evidence(worked).error.as_ref().unwrap();
    (error.kind, &error.message)
}

async fn close(worked: TaskResult) -> Vec<String> {
    match worked.site {
        Some(site) => site.close(&Background::default()).await,
        None => Vec::new(),
    }
}

/// Returns the results that were sent back to the model.
fn results(model: &Scripted) -> Vec<serde_json::Value> {
    let requests = model.requests.lock().unwrap();
    let messages = requests.last().unwrap().messages.iter();
    let texts = messages.filter_map(|message| match message {
        Message::Result { text, .. } => Some(serde_json::from_str(text).unwrap()),
        Message::User(_) | Message::Prefill(_) | Message::Model(_) => None,
    });
    texts.collect()
}

/// Returns whether the process whose id is in a file is running.
fn is_running(file: &Path) -> bool {
    let number = fs::read_to_string(file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    stat.is_ok_and(|stat| !matches!(stat.rsplit(") ").next().unwrap().split(' ').next(), Some("Z" | "X")))
}
