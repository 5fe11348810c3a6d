//! Lowering of suites and task files.

use super::*;
use crate::{analysis::Analyzer, files::MemoryFiles, settings::Settings};

const MAIN: &str = "\
cli: mycli
display_name: My CLI
providers: [a/one, b/two]
help_modes: [injected, none]
repeat: 2
concurrency: 5
env: {A: suite, B: 1.50, C: yes}
setup: [git init]
scaffold: fixtures
thresholds: {default: 80}
tasks:
  - id: first
    intent: Do it
    difficulty: easy
    category: basics
    max_turns: 7
    repeat: 3
    env: {A: task}
    assert:
      - exit_code: 0
      - verify: {run: 'true'}
      - file_exists: a
  - file://tasks/*.yaml
  - file://tasks/b.yaml
";

const TASKS: [(&str, &str); 3] = [
    (
        "tasks/a.yaml",
        "# Tasks\n- id: second\n  intent: Do more\n  assert: [exit_code: 0]\n- id: third\n  intent: Fail\n  assert: [exitcode: 0]\n",
    ),
    ("tasks/b.yaml", "- id: fourth\n  intent: Do most\n  assert: [ran: x]\n"),
    ("fixtures/readme.md", "text"),
];

fn lower(text: &str) -> Suite {
    let files = MemoryFiles::new("/suite", TASKS).at("cli-bench.yaml");
    let document = Document::read(text, task_files::rules());
    Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files, &Settings::default()).suite
}

fn agent(case: &Case) -> &AgentAction {
    match &case.action {
        Action::Agent(agent) => agent,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_stand_in_place_of_their_entries_and_keep_their_file() {
    let suite = lower(MAIN);
    assert_eq!((suite.name.as_deref(), suite.concurrency), (Some("My CLI"), 5));
    let place = |case: &Arc<Case>| {
        let file = case.file.as_ref().map(|file| file.path.as_str()).unwrap_or_default();
        format!("{} {file} {} {}", case.name, case.at, case.intact)
    };
    let places: Vec<String> = suite.cases.iter().map(place).collect();
    assert_eq!(
        places,
        [
            "first  /tasks/0 true", "second tasks/a.yaml /0 true", "third tasks/a.yaml /1 false",
            "fourth tasks/b.yaml /0 true"
        ]
    );
    for case in &suite.cases {
        let own = Document::read(MAIN, task_files::rules());
        let document = case.file.as_ref().map_or(&own, |file| &file.document);
        for claim in &case.claims {
            assert!(document.find(&claim.at).is_some(), "{}", claim.at);
        }
    }
}

#[test]
fn an_action_is_complete() {
    let suite = lower(MAIN);
    let first = &suite.cases[0];
    assert_eq!((first.repeat, first.tags.clone()), (3, vec!["basics".to_owned(), "easy".to_owned()]));
    let action = agent(first);
    assert_eq!((action.intent.as_str(), action.max_turns, action.at.as_str()), ("Do it", 7, "/tasks/0/intent"));
    assert_eq!(action.environment().into_iter().collect::<Vec<_>>(), [("A", "task"), ("B", "1.50"), ("C", "yes")]);
    assert_eq!(
        (action.scaffold(), action.surroundings.setup.as_slice()),
        (Some("fixtures"), &["git init".to_owned()][..])
    );
    let subjects: Vec<String> = first.action.subjects().iter().map(ToString::to_string).collect();
    assert_eq!(subjects, ["a/one (injected)", "a/one (none)", "b/two (injected)", "b/two (none)"]);
    assert_eq!(first.action.subjects()[0].model_id(), Some("a/one"));
    let fourth = agent(&suite.cases[3]);
    assert_eq!((suite.cases[3].repeat, fourth.max_turns), (2, 5));
}

#[test]
fn a_task_file_alone_takes_what_it_needs_from_the_main_file() {
    let files = MemoryFiles::new("/suite", TASKS.into_iter().chain([("cli-bench.yaml", MAIN)]));
    let files = files.at("tasks/b.yaml").named_by("cli-bench.yaml");
    let document = Document::read(TASKS[1].1, task_files::rules());
    let suite = Analyzer::new(SpecFile::CLI_BENCH_TASKS).analyze(&document, &files, &Settings::default()).suite;
    assert_eq!(suite.cases.len(), 1);
    assert_eq!((suite.cases[0].at.as_str(), suite.cases[0].repeat), ("/0", 2));
    assert_eq!(agent(&suite.cases[0]).surroundings.cli, "mycli");
}

#[test]
fn a_scripted_model_is_a_part_of_what_is_done() {
    let text = "cli: x\nproviders: [scripted/a, b/c]\ntasks: [{id: a, intent: b, assert: [{exit_code: 0}]}]\n";
    let key = |script: &str| {
        let files = MemoryFiles::new("/suite", [("a.script.yaml", script)]).at("cli-bench.yaml");
        let document = Document::read(text, task_files::rules());
        let suite = Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files, &Settings::default()).suite;
        let action = &suite.cases[0].action;
        action.key(suite.dialect.as_str(), &action.subjects()[0], &suite.inputs(action))
    };
    assert_eq!(key("default: []\n"), key("default: []\n"));
    assert_ne!(key("default: []\n"), key("default: [{say: a}]\n"));
}

#[test]
fn what_can_be_made_out_is_taken() {
    let suite = lower(
        "cli: x\ntasks:\n  - id: a\n    intent: b\n    max_turns: lots\n    assert:\n      - exit_code: zero\n      - {ran: x, not_ran: y}\n      - {exit_cod: 0, output_contains: z}\n  - 5\n  - intent: c\n",
    );
    assert_eq!(suite.cases.len(), 2);
    let kinds: Vec<String> =
        suite.cases[0].claims.iter().map(|claim| format!("{} {}", claim.at, claim.check.texts().join(" "))).collect();
    assert_eq!(kinds[..3], ["/tasks/0/assert/1 x", "/tasks/0/assert/1 y", "/tasks/0/assert/2 z"]);
    // An invalid part prevents the task from passing.
    assert!(kinds.len() > 3 && kinds[3..].iter().all(|kind| kind.contains("is invalid")), "{kinds:?}");
    assert!(suite.cases.iter().all(|case| !case.intact));
    assert_eq!(agent(&suite.cases[0]).max_turns, 5);
    assert!(lower("").cases.is_empty() && lower("- 1\n").cases.is_empty() && lower("tasks: {a: 1}\n").cases.is_empty());
}

#[test]
fn tasks_that_share_a_directory_run_one_after_the_other() {
    assert_eq!(lower("cli: x\nworkdir: /tmp/x\nconcurrency: 4\ntasks: []\n").concurrency, 1);
    assert_eq!(lower("cli: x\ntasks: []\n").concurrency, 3);
}

#[test]
fn files_that_commands_and_cli_name_are_inputs_of_a_task_unless_they_are_in_its_directory() {
    let files = || {
        let names =
            ["bin/tool", "setup.sh", "own.sh", "check.sh", "version.sh", "work/result.txt", "work/tool", "a.txt"];
        MemoryFiles::new("/suite", names.map(|name| (name, name))).at("cli-bench.yaml")
    };
    let inputs = |head: &str| {
        let text = format!(
            "{head}\nversion_command: sh ../version.sh\nsetup: [sh ../setup.sh > ../a.txt]\ntasks:\n  - id: a\n    intent: b\n    \
             setup: [\"sh '../own.sh' --in=../a.txt; rm result.txt\"]\n    teardown: [sh ../bin/tool]\n    assert:\n      - verify: \
             {{run: sh ./../check.sh result.txt}}\n"
        );
        let document = Document::read(&text, task_files::rules());
        let suite = Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &files(), &Settings::default()).suite;
        agent(&suite.cases[0]).inputs.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(inputs("cli: ../bin/tool\nworkdir: work"), "a.txt bin/tool check.sh own.sh setup.sh version.sh");
    assert_eq!(inputs("cli: ./tool x\nworkdir: ./work/"), "a.txt check.sh own.sh setup.sh version.sh work/tool");
    assert_eq!(inputs("cli: bin/tool\nworkdir: ."), "bin/tool", "`..` is outside the workspace");
    assert_eq!(inputs("cli: tool"), "", "a new directory holds nothing of the workspace");
}
