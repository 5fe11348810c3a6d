//! The end of a command of an assertion.

use std::{collections::BTreeMap, sync::Arc};

use rustix::process::Pid;
use speclens_schema::evidence::{Answer, Need, ObservationTime, Presence, Ran, VariablesNeed};

use super::{View, answer, directory, empty, view};
use crate::exec::process::{
    Environment,
    tests::{assert_gone, runs},
};

fn command(run: &str, timeout_ms: u64) -> Need {
    Need::Command { run: run.to_owned(), timeout_ms }
}

async fn ran(run: &str, view: &View) -> Ran {
    match answer(&command(run, 20_000), view).await {
        Answer::Command(ran) => ran,
        other => panic!("{other:?}"),
    }
}

fn process(id: &str) -> Pid {
    Pid::from_raw(id.trim().parse().unwrap()).unwrap()
}

fn environment() -> Environment {
    Environment {
        set: [("SPECLENS_SET".to_owned(), "here".to_owned()), ("SPECLENS_EMPTY".to_owned(), String::new())].into(),
        removed: ["PATH_NOT_SEEN".to_owned(), "CARGO_MANIFEST_DIR".to_owned()].into(),
    }
}

#[tokio::test]
async fn command_runs_in_the_directory_and_environment_of_the_act() {
    let directory = directory();
    let view = View { environment: environment(), ..view(directory.path()) };
    let script = "echo {{workdir}}; pwd -P; echo $SPECLENS_SET ${CARGO_MANIFEST_DIR-gone}; echo bad >&2; exit 3";
    let ran = ran(script, &view).await;
    let root = directory.path().display();
    let real = directory.path().canonicalize().unwrap();
    assert_eq!(ran.stdout.unwrap().text, format!("{root}\n{}\nhere gone\n", real.display()));
    assert_eq!((ran.stderr.unwrap().text.as_str(), ran.exit.unwrap().shell_code()), ("bad\n", Some(3)));
}

#[tokio::test]
async fn command_that_takes_too_long_is_ended_with_its_group_and_is_an_answer() {
    let (_directory, view) = empty();
    let need = command("sleep 60 & echo $!; wait", 200);
    let Answer::Command(ran) = answer(&need, &view).await else { panic!("no answer") };
    assert!(ran.timed_out);
    assert_gone(process(&ran.stdout.unwrap().text)).await;
}

#[tokio::test]
async fn background_process_of_command_ends_with_attempt() {
    let (_directory, view) = empty();
    let pid = ran("sleep 60 > log 2>&1 & echo $!", &view).await.stdout.unwrap().text;
    assert!(runs(process(&pid)));
    Arc::clone(&view.background).end().await;
    assert_gone(process(&pid)).await;
}

#[tokio::test]
async fn command_that_is_killed_from_outside_has_the_exit_code_of_its_signal() {
    let (_directory, view) = empty();
    let ran = ran("echo before; kill -s KILL $$", &view).await;
    assert_eq!(ran.exit.and_then(|exit| exit.shell_code()), Some(137));
    assert_eq!((ran.stdout.unwrap().text.as_str(), ran.held), ("before\n", false));
}

#[tokio::test]
async fn output_that_a_background_process_holds_open_is_known_to_be_held() {
    let (_directory, view) = empty();
    let ran = ran("echo before; sleep 60 & exit 0", &view).await;
    assert_eq!((ran.exit.and_then(|exit| exit.shell_code()), ran.held), (Some(0), true));
    assert_eq!(ran.stdout.unwrap().text, "before\n");
}

#[tokio::test]
async fn output_of_a_command_is_bounded() {
    let directory = directory();
    let view = View { limit: 10, ..view(directory.path()) };
    let stdout = ran("yes | head -c 100000", &view).await.stdout.unwrap();
    assert_eq!((stdout.text.len(), stdout.cut), (10, true));
}

#[tokio::test]
async fn variables_are_those_that_a_command_would_see_and_their_values_are_not_kept() {
    let directory = directory();
    let view = View { environment: environment(), ..view(directory.path()) };
    let names = ["SPECLENS_SET", "SPECLENS_EMPTY", "CARGO_MANIFEST_DIR", "PATH", "A=B", ""];
    let need =
        VariablesNeed { names: names.iter().map(|name| (*name).to_owned()).collect(), moment: ObservationTime::Before };
    let Answer::Variables(found) = answer(&Need::Variables(need), &view).await else { panic!("no answer") };
    let expected =
        [Presence::Set, Presence::Empty, Presence::Absent, Presence::Set, Presence::Absent, Presence::Absent];
    let expected: BTreeMap<String, Presence> = names.map(str::to_owned).into_iter().zip(expected).collect();
    assert_eq!(found, expected);
}
