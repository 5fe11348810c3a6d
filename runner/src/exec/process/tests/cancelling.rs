//! Many commands that are cancelled at random moments.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use speclens_schema::evidence::RunErrorKind;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{assert_gone, command, directory, pid_in, runs};
use crate::exec::process::{Background, Command, Finished, Output, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_under_load_leaves_nothing_behind() {
    let directory = directory();
    let cancel = CancellationToken::new();
    let mut commands = tokio::task::JoinSet::new();
    for index in 0..24 {
        let (cancel, directory) = (cancel.clone(), directory.path().to_owned());
        commands.spawn(async move {
            let script = format!(
                "sh -c 'sh -c \"echo \\$\\$ > inner.{index}; sleep 60\" & wait' & echo $! > outer.{index}; yes"
            );
            let command = Command { output: Output::Kept(1024 * 1024), ..command(&directory, &script) };
            run(command, &Background::default(), &cancel).await
        });
    }
    let mut processes = Vec::new();
    for index in 0..24 {
        processes.push(pid_in(directory.path().join(format!("inner.{index}"))).await);
        processes.push(pid_in(directory.path().join(format!("outer.{index}"))).await);
    }
    assert!(processes.iter().all(|&pid| runs(pid)));
    let begun = Instant::now();
    cancel.cancel();
    while let Some(finished) = commands.join_next().await {
        let finished = finished.unwrap();
        assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::Cancelled);
        // The last command of the script may not have written anything yet.
        assert!(finished.stdout().text.is_empty() || finished.stdout().text.starts_with("y\n"));
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
    for pid in processes {
        assert_gone(pid).await;
    }
}

/// Number of commands that are cancelled.
const COMMANDS: u64 = 1000;

/// Number of commands that run at once.
const AT_ONCE: usize = 16;

/// Returns numbers that look random and are the same each time.
fn random(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 31)
}

/// Runs a command that starts another process and never ends, and cancels it at a moment that depends on its number.
async fn begin_and_cancel(directory: PathBuf, number: u64) -> Finished {
    let cancel = CancellationToken::new();
    let script = format!("sleep 60 & echo $! > inner.{number}; echo $$ > outer.{number}; echo up; wait");
    let command = Command { output: Output::Kept(1024), ..command(&directory, &script) };
    let token = cancel.clone();
    let outer = directory.join(format!("outer.{number}"));
    let moment = async move {
        match number % 4 {
            0 => {
                pid_in(outer).await;
            }
            _ => {
                for _ in 0..random(number) % 2000 {
                    tokio::task::yield_now().await;
                }
            }
        }
        token.cancel();
    };
    tokio::spawn(moment);
    run(command, &Background::default(), &cancel).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousand_commands_cancelled_at_random_moments_leave_nothing_behind() {
    let directory = directory();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut commands = tokio::task::JoinSet::new();
    for number in 0..COMMANDS {
        let place = Arc::clone(&places).acquire_owned().await.unwrap();
        let directory = directory.path().to_owned();
        commands.spawn(async move {
            let finished = begin_and_cancel(directory, number).await;
            drop(place);
            finished
        });
    }
    let mut begun = 0;
    while let Some(finished) = commands.join_next().await {
        let finished = finished.unwrap();
        assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::Cancelled);
        begun += u64::from(finished.ran.exit.is_some());
    }
    assert!(begun >= COMMANDS / 4, "{begun} have begun");
    let entries = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path());
    // A command that was killed while it wrote its id left an empty file.
    for path in entries.filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))) {
        assert_gone(pid_in(path).await).await;
    }
    // Some were killed before they could write it.
    let ended = Instant::now();
    while !working_in(directory.path()).is_empty() {
        assert!(ended.elapsed() < Duration::from_secs(10), "{:?}", working_in(directory.path()));
        tokio::task::yield_now().await;
    }
}

/// Returns the processes that run in a directory, whether or not they have written a file.
#[cfg(target_os = "linux")]
fn working_in(directory: &std::path::Path) -> Vec<PathBuf> {
    let directory = directory.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    processes.filter(|process| std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == directory)).collect()
}

#[cfg(not(target_os = "linux"))]
fn working_in(_directory: &std::path::Path) -> Vec<PathBuf> {
    Vec::new()
}
