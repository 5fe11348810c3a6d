//! The order in which needs are observed.

use std::fs;

use speclens_schema::evidence::{Answer, FilesNeed, Need, PathState, merged};

use super::{View, empty, files_at};
use crate::{
    exec::process::tests::{assert_gone, pid_in},
    observe::{Observations, all},
};

fn path(path: &str) -> Need {
    Need::Path { path: path.to_owned(), content: true }
}

fn command(run: &str) -> Need {
    Need::Command { run: run.to_owned(), timeout_ms: 20_000 }
}

async fn seen(needs: Vec<Need>, view: &View) -> Vec<String> {
    let Observations { observations, cancelled } = all(needs.clone(), view).await;
    assert!(!cancelled);
    assert_eq!(observations.iter().map(|it| it.need.clone()).collect::<Vec<_>>(), needs);
    observations.iter().map(|it| word(&it.answer)).collect()
}

fn word(answer: &Answer) -> String {
    match answer {
        Answer::Path(PathState::Missing { .. }) => "missing".to_owned(),
        Answer::Path(PathState::File { content }) => super::text(content.as_ref()).0.to_owned(),
        Answer::Command(ran) => ran.stdout.as_ref().unwrap().text.clone(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn commands_and_what_follows_them_keep_their_order() {
    let (directory, view) = empty();
    fs::write(directory.path().join("x"), "0").unwrap();
    let add = || command("read n < x; echo $((n + 1)) | tr -d '\\n' > x; cat x");
    let needs = vec![path("x"), path("y"), add(), path("x"), add(), add(), path("x"), command("rm x"), path("x")];
    let found = seen(needs, &view).await;
    assert_eq!(found, ["0", "missing", "1", "1", "2", "3", "3", "", "missing"]);
}

#[tokio::test]
async fn each_path_shows_effects_of_commands_before_it() {
    for number in 0..3_usize.pow(4) {
        let (_directory, view) = empty();
        let steps: Vec<usize> = (0..4).map(|place| number / 3_usize.pow(place) % 3).collect();
        let need = |step: &usize| match step {
            0 => path("x"),
            1 => path("y"),
            _ => command("printf + >> x; cat x"),
        };
        let needs = merged(steps.iter().map(need));
        let mut left = String::new();
        let expect = |need: &Need| match need {
            Need::Command { .. } => {
                left.push('+');
                left.clone()
            }
            Need::Path { path, .. } if path == "x" && !left.is_empty() => left.clone(),
            _ => "missing".to_owned(),
        };
        let expected: Vec<String> = needs.iter().map(expect).collect();
        assert_eq!(seen(needs, &view).await, expected, "{steps:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_between_commands_go_on_at_once() {
    let (_directory, view) = empty();
    let wait = |pattern: &str| Need::Files(FilesNeed { wait_ms: 60_000, ..files_at(pattern) });
    let began = tokio::time::Instant::now();
    let needs: Vec<Need> = (0..50).map(|index| wait(&format!("never-{index}"))).collect();
    all(needs, &view).await;
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn cancel_in_the_middle_of_a_wait_ends_all_of_them_and_runs_nothing_more() {
    let (directory, view) = empty();
    fs::write(directory.path().join("x"), "seen").unwrap();
    let wait = Need::Files(FilesNeed { wait_ms: 60_000, ..files_at("never") });
    let needs = vec![path("x"), wait.clone(), wait, command("touch ran"), path("x")];
    let cancel = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        view.cancel.cancel();
    };
    let (Observations { observations, cancelled }, ()) = tokio::join!(all(needs, &view), cancel);
    assert!(cancelled && !directory.path().join("ran").exists());
    assert_eq!(observations.iter().map(|it| word(&it.answer)).collect::<Vec<_>>(), ["seen"]);
}

#[tokio::test]
async fn command_whose_observation_is_dropped_is_ended() {
    let (directory, view) = empty();
    let pid = tokio::select! {
        _ = all(vec![command("echo $$ > pid; sleep 60; true")], &view) => panic!("it ended"),
        pid = pid_in(directory.path().join("pid")) => pid,
    };
    assert_gone(pid).await;
}
