//! Runs of suites that are built in code, with real commands.

mod agents;
mod cancelling;
mod observing;
mod stopping;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use speclens_schema::{
    act::Act,
    dialect::kindlm,
    document::Pointer,
    format::Dialect,
    gates::Gates,
    mask::Secrets,
    suite::{Action, Case, Claim, CommandAction, Needed, PromptAction, PromptModel, Suite},
    verdict::{Check, Mismatch, Outcome, Status, Verdict},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Job, Mode, Options, run};
use crate::{
    clock::Clock,
    event::{Event, SuiteResult},
    evidence_store::EvidenceStore,
    files::DiskFiles,
    model::Models,
    recording::{Recordings, Retention},
};

/// Claims that standard output contains a text.
#[derive(Debug)]
struct Says(&'static str);

impl Check for Says {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let holds = act.stdout().is_ok_and(|stdout| stdout.so_far().contains(self.0));
        let outcome = if holds { Outcome::Pass } else { Outcome::Fail(Mismatch::default()) };
        vec![Verdict::of("says", self.0, outcome)]
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.to_owned()]
    }
}

pub(crate) fn case(name: &str, command: &str, says: &'static str) -> Case {
    let action = CommandAction {
        at: Pointer::root(),
        template: command.to_owned(),
        variables: BTreeMap::new(),
        expanded: Ok(command.to_owned()),
        inputs: BTreeMap::new(),
        timeout_ms: 20_000,
    };
    Case {
        name: name.to_owned(),
        at: Pointer::root(),
        tags: Vec::new(),
        skip: false,
        repeat: 1,
        needed: Needed::All,
        action: Action::Command(action),
        claims: vec![Claim { at: Pointer::root(), phase: None, check: Arc::new(Says(says)) }],
        intact: true,
        file: None,
    }
}

fn with_timeout(mut case: Case, timeout: u64) -> Case {
    let Action::Command(action) = &mut case.action else { panic!("a command") };
    action.timeout_ms = timeout;
    case
}

struct Ran {
    result: Arc<SuiteResult>,
    events: Vec<Event>,
}

async fn run_in(directory: &Path, cases: Vec<Case>, options: Options) -> Ran {
    run_job(job(directory, cases), options).await
}

async fn run_job(job: Job, options: Options) -> Ran {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let result = run(job, options, CancellationToken::new(), sender).await;
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    Ran { result, events }
}

fn job(directory: &Path, cases: Vec<Case>) -> Job {
    let suite = Suite {
        cases: cases.into_iter().map(Arc::new).collect(),
        gates: Gates::of(kindlm::Gates::default()),
        concurrency: 4,
        ..Suite::empty(Dialect::KINDLM)
    };
    Job {
        suite: Arc::new(suite),
        directory: directory.to_owned(),
        files: Arc::new(DiskFiles::new(directory, "")),
        store: Arc::new(EvidenceStore::new(
            Some(Arc::new(Recordings::open(directory, "kindlm.yaml", 1024 * 1024))),
            Retention::default(),
        )),
        secrets: Arc::new(Secrets::default()),
        clock: Clock::fixed("2026-05-14T12:00:00Z").unwrap(),
        output_limit: 1024 * 1024,
        models: Arc::new(Models::new(Arc::default(), 4, |_| None)),
        gateway: None,
        traces: Arc::default(),
        stop_repeats: true,
    }
}

fn statuses(ran: &Ran) -> Vec<Status> {
    ran.result.cases.iter().map(|case| case.status).collect()
}

fn recorded() -> Options {
    Options { mode: Mode::Recorded, ..Options::default() }
}

#[tokio::test]
async fn results_are_in_the_order_of_the_file_whatever_ends_first() {
    let directory = tempfile::tempdir().unwrap();
    // The first command waits for the second one.
    let cases = vec![
        case("waits", "while [ ! -e go ]; do :; done; echo a", "a"),
        Case { repeat: 2, ..case("goes", "touch go; echo b", "x") },
        Case { skip: true, ..case("skipped", "touch never", "") },
    ];
    let ran = run_in(directory.path(), cases, Options::default()).await;
    assert_eq!(statuses(&ran), [Status::Pass, Status::Fail, Status::Skip]);
    assert_eq!(ran.result.status, Status::Fail);
    let repeats: Vec<u32> = ran.result.cases[1].runs.iter().map(|run| run.repeat).collect();
    assert_eq!(repeats, [0, 1]);
    assert!(!directory.path().join("never").exists());
    let finished = ran.events.iter().filter(|event| matches!(event, Event::AttemptFinished { .. })).count();
    assert_eq!(finished, 3);
    assert!(matches!(ran.events[0], Event::Started { attempts: 3 }));
    assert!(matches!(ran.events.last(), Some(Event::Finished(_))));
}

#[tokio::test]
async fn no_more_attempts_run_at_once_than_allowed() {
    let directory = tempfile::tempdir().unwrap();
    // Each command fails if it runs at the same time as another one.
    let script = "mkdir busy || echo clash; touch seen; rmdir busy";
    let cases = (0..6).map(|index| case(&format!("c{index}"), script, "")).collect::<Vec<_>>();
    let ran = run_in(directory.path(), cases, Options { concurrency: Some(1), ..Options::default() }).await;
    for case in &ran.result.cases {
        assert_eq!(case.runs[0].evidence.get().unwrap().stdout().unwrap().text, "");
    }
}

#[tokio::test]
async fn unobserved_need_is_unknown() {
    let directory = tempfile::tempdir().unwrap();
    let model = PromptModel { id: "m".to_owned(), ..PromptModel::default() };
    let prompt = PromptAction { models: vec![model], max_turns: 1, ..PromptAction::default() };
    let without_models = PromptAction { models: Vec::new(), ..prompt.clone() };
    let mut missing = case("missing", "echo {{a}}", "");
    let Action::Command(action) = &mut missing.action else { panic!("a command") };
    action.expanded = Err(vec!["a".to_owned()]);
    let cases = vec![
        Case { action: Action::Prompt(Box::new(prompt)), ..case("prompt", "", "") },
        Case { action: Action::Prompt(Box::new(without_models)), ..case("without-models", "", "") },
        Case { action: Action::None, ..case("none", "", "") },
        missing,
    ];
    let ran = run_in(directory.path(), cases, Options::default()).await;
    assert_eq!(statuses(&ran), [Status::Error, Status::Unknown, Status::Unknown, Status::Error]);
    let message = &ran.result.cases[0].runs[0].absence.as_ref().unwrap().message;
    assert!(message.contains("`m` is not a valid model id"), "{message}");
    let message = &ran.result.cases[3].runs[0].absence.as_ref().unwrap().message;
    assert!(message.starts_with("missing template variables: `a`"), "{message}");
}

#[tokio::test]
async fn gates_measure_only_what_was_begun() {
    let directory = tempfile::tempdir().unwrap();
    let cases = vec![case("bad", "echo a", "b"), case("next", "true", ""), case("last", "true", "")];
    let options = Options { fail_fast: true, concurrency: Some(1), ..Options::default() };
    let ran = run_in(directory.path(), cases, options).await;
    let gate = ran.result.gates.gates.iter().find(|gate| gate.name == "passRateMin").unwrap();
    assert_eq!((gate.status, gate.actual), (Status::Fail, 0.0));
}
