//! Agent programs that work on a task: their commands through the recording shells, and their results.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use speclens_runner::exec::{
    agent::Conversation,
    process::{Background, Environment},
    program::{self, ProgramTask},
};
use speclens_schema::{
    evidence::{CommandGap, Ended, Exit, RunErrorKind},
    suite::AgentProgram,
};
use tokio_util::sync::CancellationToken;

/// Long enough for every command that ends by itself.
const LONG: Duration = Duration::from_secs(60);

/// A task in its own directory, and its agent program.
struct Task {
    directory: tempfile::TempDir,
    environment: Environment,
    timeout: Duration,
    limit: usize,
    cancel: CancellationToken,
    is_complete: bool,
}

impl Task {
    fn new() -> Task {
        let set = BTreeMap::from([("SHELL".to_owned(), "/bin/sh".to_owned())]);
        Task {
            directory: tempfile::tempdir().unwrap(),
            environment: Environment { set, ..Environment::default() },
            timeout: LONG,
            limit: 1 << 20,
            cancel: CancellationToken::new(),
            is_complete: false,
        }
    }

    async fn work(&self, command: &str) -> Conversation {
        let task = ProgramTask {
            program: AgentProgram { command, is_complete: self.is_complete },
            input: "create a user\n",
            directory: self.directory.path(),
            environment: &self.environment,
            timeout: self.timeout,
            limit: self.limit,
            recorder: Path::new(env!("CARGO_BIN_EXE_speclens")),
        };
        let background = Background::default();
        let worked = program::perform(task, &background, &self.cancel).await;
        background.end().await;
        worked
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap()
    }
}

/// Returns the observed commands: text, exit code, standard output, standard error.
fn seen(worked: &Conversation) -> Vec<(&str, Option<i32>, &str, &str)> {
    let commands = worked.commands.commands.iter().map(|ran| {
        let text = |capture: &Option<speclens_schema::evidence::Capture>| match capture {
            Some(capture) => capture.text.clone().leak() as &str,
            None => "?",
        };
        (ran.command.text.as_str(), ran.exit.and_then(|exit| exit.code), text(&ran.stdout), text(&ran.stderr))
    });
    commands.collect()
}

#[tokio::test]
async fn commands_of_recording_shells_are_seen_and_pass_through() {
    let task = Task::new();
    let worked = task
        .work("read intent; echo \"got $intent\"; sh -c 'echo out; echo err >&2; exit 3' >a 2>b; echo $? >c; echo word | $SHELL -c 'cat; pwd' >d")
        .await;
    assert_eq!(worked.error, None);
    assert_eq!(worked.ended, Some(Ended::Exit));
    let here = task.directory.path().canonicalize().unwrap();
    assert_eq!(
        seen(&worked),
        [
            ("echo out; echo err >&2; exit 3", Some(3), "out\n", "err\n"),
            ("cat; pwd", Some(0), &*format!("word\n{}\n", here.display()), ""),
        ]
    );
    assert!(worked.commands.commands.iter().all(|ran| ran.duration_ms.is_some_and(|took| took > 0.0)));
    assert_eq!((task.read("a").as_str(), task.read("b").as_str(), task.read("c").as_str()), ("out\n", "err\n", "3\n"));
    assert_eq!(worked.turns[0].text.text, "got create a user\n");
    assert!(worked.notes.is_empty(), "{:?}", worked.notes);
}

#[tokio::test]
async fn what_runs_past_the_shells_is_not_seen_which_the_log_says() {
    let task = Task::new();
    let worked = task.work("/bin/sh -c 'echo unseen'; echo unseen").await;
    assert_eq!(seen(&worked), []);
    assert_eq!(worked.commands.unseen, Some(CommandGap::PastShell));
    assert!(worked.commands.gap().is_some());
}

#[tokio::test]
async fn a_command_within_a_command_is_a_part_of_it() {
    let task = Task::new();
    let worked =
        task.work("read -r intent; sh -c 'sh -c \"echo inner\"; $SHELL -c \"echo other\"'; sh -c 'echo next'").await;
    let commands: Vec<&str> = worked.commands.commands.iter().map(|ran| ran.command.text.as_str()).collect();
    assert_eq!(commands, ["sh -c \"echo inner\"; $SHELL -c \"echo other\"", "echo next"]);
    assert_eq!(worked.commands.commands[0].stdout.as_ref().unwrap().text, "inner\nother\n");
}

#[tokio::test]
async fn nothing_is_left_in_the_directory_of_the_task_or_beside_it() {
    let task = Task::new();
    let worked = task.work("read -r intent; command -v sh >log; sh -c true").await;
    assert_eq!(worked.commands.commands.len(), 1);
    let names: Vec<_> = fs::read_dir(task.directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["log"]);
    let log = task.read("log").trim().to_owned();
    assert!(!log.is_empty() && !Path::new(&log).exists() && !log.starts_with(task.directory.path().to_str().unwrap()));
}

#[tokio::test]
async fn long_outputs_pass_through_whole_and_are_kept_in_part() {
    let task = Task { limit: 1000, ..Task::new() };
    let worked =
        task.work("read -r intent; sh -c 'head -c 300000 /dev/zero | tr \"\\0\" x' | wc -c | tr -d ' ' >count").await;
    assert_eq!(task.read("count"), "300000\n");
    let stdout = worked.commands.commands[0].stdout.as_ref().unwrap();
    assert_eq!((stdout.text.len(), stdout.cut), (1000, true));
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_the_command() {
    let task = Task::new();
    let worked = task.work("sh -c 'while :; do echo yes; done' | head -n 1 >first").await;
    assert_eq!(worked.error, None);
    assert_eq!(task.read("first"), "yes\n");
}

#[tokio::test]
async fn agent_that_fails_ends_the_attempt_with_an_error() {
    let task = Task::new();
    for (command, kind, message) in [
        (
            "echo one >&2; echo no license >&2; exit 4",
            RunErrorKind::Provider,
            "the agent program ended with exit code 4; the end of its standard error:\none\nno license",
        ),
        ("exit 7", RunErrorKind::Provider, "the agent program ended with exit code 7"),
        ("kill -SEGV $$", RunErrorKind::Provider, "the agent program was terminated by signal 11 (SEGV)"),
        (
            "echo cannot run it >&2; exit 126",
            RunErrorKind::Spawn,
            "the agent program could not be started: its command ended with exit code 126; the end of its standard error:\n\
             cannot run it",
        ),
    ] {
        let worked = task.work(command).await;
        let error = worked.error.unwrap();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{command}");
        assert_eq!(worked.ended, None, "{command}");
    }
    let error = task.work("no-such-agent-4711 --quiet").await.error.unwrap();
    assert_eq!(error.kind, RunErrorKind::Spawn);
    assert!(error.message.contains("no-such-agent-4711"), "{}", error.message);
}

#[tokio::test]
async fn keys_are_seen_by_the_agent_and_not_by_its_commands() {
    let mut task = Task::new();
    // Cargo sets it for each test.
    task.environment.removed = ["CARGO_MANIFEST_DIR".to_owned(), "NOT_SET_ANYWHERE".to_owned()].into();
    let worked = task
        .work("read -r intent; echo \"${CARGO_MANIFEST_DIR:+set}\"; sh -c 'echo \"${CARGO_MANIFEST_DIR:-gone}\"'; sh -c \"sh -c 'echo \\${CARGO_MANIFEST_DIR:-gone}'\"")
        .await;
    assert_eq!(worked.error, None);
    assert_eq!(worked.turns[0].text.text, "set\ngone\ngone\n");
}

#[tokio::test]
async fn an_agent_that_takes_too_long_is_ended_with_what_it_started() {
    let task = Task { timeout: Duration::from_millis(700), ..Task::new() };
    let worked = task
        .work("read -r intent; trap '' TERM; sh -c 'echo $$ >pid; trap \"\" TERM; while :; do sleep 1; done'")
        .await;
    assert_eq!(worked.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    assert_eq!(worked.ended, None);
    let commands = &worked.commands.commands;
    assert_eq!((commands.len(), commands[0].exit), (1, None), "it began, and its end was not seen");
    let state = crate::processes::state(task.read("pid").trim());
    assert!(state.is_empty() || state == "Z", "the command is still there: {state}");
}

#[tokio::test]
async fn a_cancelled_agent_ends_at_once() {
    let task = Task::new();
    let cancel = task.cancel.clone();
    let begun = task.directory.path().join("begun");
    let waiting = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (worked, ()) = tokio::join!(task.work("sh -c 'echo >begun; sleep 60'"), waiting);
    assert_eq!(worked.error.unwrap().kind, RunErrorKind::Cancelled);
}

/// A signal to the recording shell reaches the command, as it would without the recording shell.
#[tokio::test]
async fn signals_reach_the_command() {
    let task = Task::new();
    let agent = "mkfifo ready; sh -c 'trap \"echo caught; exit 7\" TERM; echo >ready; while :; do sleep 0.01; done' >out & \
                 read line <ready; kill $!; wait $!; echo $? >status";
    let worked = task.work(agent).await;
    assert_eq!(worked.error, None);
    assert_eq!((task.read("out").as_str(), task.read("status").as_str()), ("caught\n", "7\n"));
    assert_eq!(worked.commands.commands[0].exit, Some(Exit { code: Some(7), signal: None }));
}

#[tokio::test]
async fn agents_that_work_at_the_same_time_have_logs_of_their_own() {
    let (one, other) = (Task::new(), Task::new());
    // Each waits for the other, so both run at once.
    let shared = tempfile::tempdir().unwrap();
    let agent = |own: &str, theirs: &str| {
        let path = shared.path().display();
        format!(
            "read -r intent; sh -c 'echo {own} begins'; >{path}/{own}; until [ -e {path}/{theirs} ]; do :; done; sh -c 'echo {own} ends'"
        )
    };
    let (first, second) = (agent("one", "other"), agent("other", "one"));
    let (first, second) = tokio::join!(one.work(&first), other.work(&second));
    let outputs = |worked: &Conversation| -> Vec<String> {
        worked.commands.commands.iter().map(|ran| ran.stdout.as_ref().unwrap().text.clone()).collect()
    };
    assert_eq!(outputs(&first), ["one begins\n", "one ends\n"]);
    assert_eq!(outputs(&second), ["other begins\n", "other ends\n"]);
}
