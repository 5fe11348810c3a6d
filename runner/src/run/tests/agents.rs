//! Runs of cli-bench suites in YAML, with models in the test.

use std::path::Path;

use serde_json::json;
use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{RunErrorKind, ToolCall},
    files::MemoryFiles,
    json_schema::SpecFile,
    settings::Settings,
};

use super::{Arc, Job, Models, Options, Ran, Status, job, recorded, run_job, statuses};
use crate::{
    event::{AbsenceKind, RunResult},
    model::{Answering, Message, Model, Reply, Request},
};

/// Runs the commands of a function for a test, one per turn, and then stops.
#[derive(Debug)]
pub(super) struct Acts {
    commands: fn(&str) -> Vec<String>,
}

impl Acts {
    pub(super) fn new(commands: fn(&str) -> Vec<String>) -> Arc<Acts> {
        Arc::new(Acts { commands })
    }
}

impl Model for Acts {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(async move {
            let turn = request.messages.iter().filter(|message| matches!(message, Message::Model(_))).count();
            let call = |command: &String| ToolCall {
                id: turn.to_string(),
                name: "run_command".to_owned(),
                arguments: json!({ "command": command }),
                result: None,
            };
            let calls: Vec<ToolCall> = (self.commands)(&request.test).get(turn).map(call).into_iter().collect();
            let text = if calls.is_empty() { "done" } else { "" };
            Ok(Reply { text: text.to_owned(), calls, ..Reply::default() })
        })
    }
}

pub(super) fn job_of(directory: &Path, text: &str, models: &[(&str, Arc<Acts>)]) -> Job {
    let document = Document::read(text, SpecFile::CLI_BENCH.scalar_rules());
    let files = MemoryFiles::new(directory, []).at("cli-bench.yaml");
    let suite = Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files, &Settings::default()).suite;
    let known = Models::new(Arc::default(), 4, |_| None);
    models.iter().for_each(|(id, model)| known.put(id, Arc::clone(model) as Arc<dyn Model>));
    Job { suite: Arc::new(suite), models: Arc::new(known), ..job(directory, Vec::new()) }
}

pub(super) fn runs(ran: &Ran) -> Vec<&RunResult> {
    ran.result.cases.iter().flat_map(|case| &case.runs).map(AsRef::as_ref).collect()
}

fn why(run: &RunResult) -> (AbsenceKind, &str) {
    let absence = run.absence.as_ref().unwrap();
    (absence.kind, &absence.message)
}

const ALL: &str = "\
cli: sh
providers: [a/b]
env: {WHO: you, FILE: '{{workdir}}/deep/out.txt'}
tasks:
  - id: all
    intent: Greet
    assert:
      - exit_code: 0
      - output_contains: hello
      - output_equals: hello you
      - error_contains: careful
      - ran: '^echo .*hello'
      - not_ran: sudo
      - run_count: {pattern: cat, min: 1, max: 1}
      - file_exists: deep/out.txt
      - file_exists: '{{workdir}}/deep'
      - file_contains: {path: deep/out.txt, text: hello you}
      - verify: {run: 'wc -l < \"$FILE\"; rm {{workdir}}/deep/out.txt', output_equals: '1'}
      - verify: {run: test ! -e deep/out.txt}
      - file_exists: deep
";

fn greet(_: &str) -> Vec<String> {
    vec!["mkdir deep; echo \"hello $WHO\" > deep/out.txt".to_owned(), "cat deep/out.txt; echo careful >&2".to_owned()]
}

#[tokio::test]
async fn all_ten_assertions_are_judged_by_what_happened_and_again_by_the_recording() {
    let directory = tempfile::tempdir().unwrap();
    let model = Acts::new(greet);
    let ran = run_job(
        job_of(directory.path(), &ALL.replace("^echo", "echo"), &[("a/b", Arc::clone(&model))]),
        Options::default(),
    )
    .await;
    let run = runs(&ran)[0];
    let open: Vec<_> = run.verdicts.iter().filter(|it| it.verdict.outcome.status() != Status::Pass).collect();
    assert_eq!((run.status, open), (Status::Pass, Vec::new()));
    assert_eq!(run.verdicts.len(), 13);
    let evidence = run.evidence.get().unwrap();
    assert_eq!(evidence.turns.len(), 3);
    let place = &evidence.commands.as_ref().unwrap().commands[0];
    assert_eq!(place.command.text, greet("")[0]);

    // Edited claims are judged without a run, even those about files that were not observed at first.
    let edited = ALL.replace("exit_code: 0", "exit_code: 1");
    let edited = format!("{}      - file_exists: deep/other.txt\n", edited.split("      - verify").next().unwrap());
    let again = run_job(job_of(directory.path(), &edited, &[]), recorded()).await;
    let failed: Vec<&str> = runs(&again)[0]
        .verdicts
        .iter()
        .filter(|it| it.verdict.outcome.status() == Status::Fail)
        .map(|it| it.verdict.label.as_str())
        .collect();
    assert_eq!(failed, ["exit code is 1", "ran `^echo .*hello`", "`deep/other.txt` exists"]);
}

const MATRIX: &str = "\
cli: sh
providers: [a/good, b/bad]
help_modes: [discoverable, none]
concurrency: 2
repeat: 2
thresholds: {default: 50, models: {b/bad: 100}, behavior: BEHAVIOR}
tasks:
  - {id: one, intent: x, assert: [{output_equals: good}]}
  - {id: two, intent: x, repeat: 1, assert: [{output_equals: good}]}
";

#[tokio::test]
async fn every_model_works_in_every_mode_and_thresholds_decide() {
    for (behavior, fails) in [("error", true), ("informational", false)] {
        let directory = tempfile::tempdir().unwrap();
        let good = Acts::new(|_| vec!["echo good".to_owned()]);
        let bad = Acts::new(|_| vec!["echo bad".to_owned()]);
        let text = MATRIX.replace("BEHAVIOR", behavior);
        let job = job_of(directory.path(), &text, &[("a/good", Arc::clone(&good)), ("b/bad", bad)]);
        let ran = run_job(Job { stop_repeats: false, ..job }, Options::default()).await;
        let of_first: Vec<_> =
            ran.result.cases[0].runs.iter().map(|run| (run.subject.to_string(), run.repeat, run.status)).collect();
        let expected: Vec<_> = [("a/good", Status::Pass), ("b/bad", Status::Fail)]
            .into_iter()
            .flat_map(|(model, status)| ["discoverable", "none"].map(|mode| (format!("{model} ({mode})"), status)))
            .flat_map(|(subject, status)| [0, 1].map(|repeat| (subject.clone(), repeat, status)))
            .collect();
        assert_eq!(of_first, expected);
        assert_eq!(ran.result.cases[1].runs.len(), 4, "the task's own `repeat` wins");
        assert_eq!((ran.result.failed, ran.result.inconclusive), (fails, false), "{behavior}");
        let gates: Vec<_> = ran.result.gates.gates.iter().map(|gate| (gate.actual, gate.expected)).collect();
        assert_eq!(gates, [(100.0, 50.0), (0.0, 100.0)]);
    }
}

#[tokio::test]
async fn suite_without_a_model_or_its_key_has_an_error_and_keeps_its_recordings() {
    let directory = tempfile::tempdir().unwrap();
    let text = ALL.replace("^echo", "echo").replace("a/b", "openai/gpt-4o");
    let with = |models: &[(&str, Arc<Acts>)]| job_of(directory.path(), &text, models);
    run_job(with(&[("openai/gpt-4o", Acts::new(greet))]), Options::default()).await;
    let without_key = run_job(with(&[]), Options::default()).await;
    let (kind, message) = why(runs(&without_key)[0]);
    assert_eq!(kind, AbsenceKind::RunError(RunErrorKind::Key), "{message}");
    assert!(without_key.result.inconclusive && !without_key.result.failed);
    assert_eq!(statuses(&run_job(with(&[]), recorded()).await), [Status::Pass]);

    let without_models = job_of(directory.path(), &ALL.replace("providers: [a/b]\n", ""), &[]);
    let ran = run_job(without_models, Options::default()).await;
    let said = "the suite does not name a model; name models under `providers`, or with `--model`";
    assert_eq!(why(runs(&ran)[0]), (AbsenceKind::RunError(RunErrorKind::Provider), said));
}
