//! Real processes. Nothing here sleeps: a test waits for a file, a pipe or an exit.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cancelling;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, test_kill_process};
use speclens_schema::evidence::{Capture, Exit, RunErrorKind};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Background, Command, Environment, Finished, Output, group, run, ungated, watchdog};

const LIMIT: usize = 64 * 1024 * 1024;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

static PLAIN: Environment = Environment { set: BTreeMap::new(), removed: BTreeSet::new() };

/// Returns a command with enough time and space.
fn command<'c>(directory: &'c Path, script: &'c str) -> Command<'c> {
    Command {
        shell: "sh",
        script,
        directory,
        environment: &PLAIN,
        input: &[],
        timeout: Duration::from_secs(60),
        output: Output::Kept(LIMIT),
    }
}

async fn finish(command: Command<'_>) -> Finished {
    run(command, &Background::default(), &CancellationToken::new()).await
}

async fn run_in(directory: &Path, timeout_ms: u64, script: &str) -> Finished {
    finish(Command { timeout: Duration::from_millis(timeout_ms), ..command(directory, script) }).await
}

impl Finished {
    fn stdout(&self) -> &Capture {
        self.ran.stdout.as_ref().unwrap()
    }

    fn stderr(&self) -> &Capture {
        self.ran.stderr.as_ref().unwrap()
    }

    fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.ran.duration_ms.unwrap() / 1000.0)
    }
}

/// Returns the process id in a file, once the file has one.
pub(crate) async fn pid_in(path: PathBuf) -> Pid {
    let begun = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(&path)
            && text.ends_with('\n')
        {
            return Pid::from_raw(text.trim().parse().unwrap()).unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{} never appeared", path.display());
        tokio::task::yield_now().await;
    }
}

/// Returns whether a process still runs: one that waits to be reaped does not.
pub(crate) fn runs(pid: Pid) -> bool {
    if test_kill_process(pid).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    !stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

/// Waits until a killed process is gone; killing is a request, the kernel takes a moment.
pub(crate) async fn assert_gone(pid: Pid) {
    let begun = Instant::now();
    while runs(pid) {
        assert!(begun.elapsed() < Duration::from_secs(10), "process {pid:?} survived");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_leaves_its_output_and_status() {
    let directory = directory();
    let finished = run_in(directory.path(), 20_000, "printf 'a\\377b'; pwd >&2; cat; exit 7").await;
    assert_eq!(finished.ran.exit, Some(Exit { code: Some(7), signal: None }));
    assert_eq!(finished.stdout().text, "a\u{fffd}b");
    assert_eq!(Path::new(finished.stderr().text.trim()), directory.path().canonicalize().unwrap());
    assert_eq!((&finished.error, &finished.notes), (&None, &Vec::new()));
}

#[tokio::test]
async fn a_directory_that_is_missing_is_a_spawn_error() {
    let finished = run_in(Path::new("/nowhere/at/all"), 1000, "true").await;
    let error = finished.error.as_ref().unwrap();
    assert_eq!(error.kind, RunErrorKind::Spawn);
    assert!(error.message.contains("/nowhere/at/all"), "{}", error.message);
}

#[tokio::test]
async fn the_deadline_ends_grandchildren_and_keeps_what_was_written() {
    let directory = directory();
    let script = "printf partial; (sh -c 'echo $$ > inner; sleep 60' & wait) & echo $! > outer; wait";
    let finished = run_in(directory.path(), 700, script).await;
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    assert_eq!(finished.stdout().text, "partial");
    assert!(finished.duration() < Duration::from_secs(20));
    for name in ["inner", "outer"] {
        assert_gone(pid_in(directory.path().join(name)).await).await;
    }
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed() {
    let directory = directory();
    let script = "trap '' TERM; printf start; echo $$ > pid; while :; do sleep 60; done; printf end";
    let finished = run_in(directory.path(), 300, script).await;
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    assert_eq!(finished.stdout().text, "start");
    assert_eq!(finished.ran.exit, Some(Exit { code: None, signal: Some(9) }));
    assert!(finished.duration() >= Duration::from_millis(1300), "{:?}", finished.duration());
    assert_gone(pid_in(directory.path().join("pid")).await).await;
}

#[tokio::test]
async fn a_command_that_handles_term_has_timed_out_all_the_same() {
    let script = "trap 'printf bye; exit 0' TERM; printf hi; sleep 60 & wait";
    let finished = run_in(directory().path(), 300, script).await;
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    assert_eq!(finished.stdout().text, "hibye");
    assert_eq!(finished.ran.exit, Some(Exit { code: Some(0), signal: None }));
}

#[tokio::test]
async fn stopped_command_is_woken_to_handle_term() {
    let script = "trap 'printf bye; exit 0' TERM; printf hi; kill -s STOP $$; sleep 60 & wait";
    let finished = run_in(directory().path(), 300, script).await;
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    assert_eq!(finished.stdout().text, "hibye");
}

#[tokio::test]
async fn group_of_a_command_is_watched_over_for_as_long_as_it_lives() {
    let directory = directory();
    let pid = directory.path().join("pid");
    let script = "echo $$ > pid; until [ -e go ]; do sleep 0.01; done";
    let run = run_in(directory.path(), 20_000, script);
    tokio::pin!(run);
    let group = tokio::select! {
        _ = &mut run => panic!("it waits for a file"),
        group = pid_in(pid) => group,
    };
    assert!(watchdog::live().contains(&group));
    std::fs::write(directory.path().join("go"), "").unwrap();
    run.await;
    assert!(!watchdog::live().contains(&group), "its id may be reused");
}

#[tokio::test]
async fn output_of_a_background_child_that_writes_soon_is_kept() {
    let finished = run_in(directory().path(), 20_000, "(sleep 0.3; printf late) & printf early").await;
    assert_eq!(finished.stdout().text, "earlylate");
    assert_eq!((&finished.error, &finished.notes), (&None, &Vec::new()));
    assert!(finished.duration() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_background_child_that_holds_the_pipe_blocks_nothing_and_does_not_survive() {
    let directory = directory();
    let begun = Instant::now();
    let finished = run_in(directory.path(), 60_000, "sleep 50 & echo $! > pid; printf done").await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(finished.stdout().text, "done");
    assert_eq!(finished.error, None);
    assert!(finished.stdout().cut && finished.stderr().cut);
    assert!(
        finished.duration() >= Duration::from_millis(900),
        "so long it was open at least: {:?}",
        finished.duration()
    );
    assert!(finished.notes[0].contains("kept the output open"), "{:?}", finished.notes);
    assert_gone(pid_in(directory.path().join("pid")).await).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_left_the_group_blocks_nothing() {
    let directory = directory();
    let begun = Instant::now();
    let script = "setsid sh -c 'echo $$ > pid; exec sleep 50' & while [ ! -s pid ]; do :; done; sleep 60";
    let finished = run_in(directory.path(), 500, script).await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::TimedOut);
    let stray = pid_in(directory.path().join("pid")).await;
    rustix::process::kill_process(stray, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_silent_leftover_goes_on_until_the_background_ends() {
    let directory = directory();
    let background = Background::default();
    let leave = |name: &str| {
        let script = format!("sh -c 'echo $$ > {name}; exec sleep 50' >/dev/null 2>&1 &");
        let (directory, background) = (directory.path(), &background);
        async move { run(command(directory, &script), background, &CancellationToken::new()).await }
    };
    let finished = leave("pid").await;
    assert_eq!(finished.error, None);
    assert!(finished.notes[0].contains("left a background process running"), "{:?}", finished.notes);
    let first = pid_in(directory.path().join("pid")).await;
    assert!(runs(first));
    background.end().await;
    assert!(!runs(first));
    // Dropping does the same without waiting.
    leave("other").await;
    let other = pid_in(directory.path().join("other")).await;
    assert!(runs(other));
    drop(background);
    assert_gone(other).await;
}

#[tokio::test]
async fn output_beyond_the_limit_is_drained_and_counted() {
    let directory = directory();
    let script = "head -c 73400320 /dev/zero | tr '\\0' x; printf end >&2";
    let finished = run_in(directory.path(), 120_000, script).await;
    assert_eq!((finished.stdout().text.len(), finished.stdout().cut), (LIMIT, true));
    assert_eq!((finished.stderr().text.as_str(), finished.stderr().cut), ("end", false));
    assert_eq!(finished.ran.exit, Some(Exit { code: Some(0), signal: None }));
    assert_eq!(finished.notes, ["standard output is longer than 64 MiB, so the last 6291456 bytes were not recorded"]);
}

#[tokio::test]
async fn a_character_at_the_limit_is_not_cut_in_two() {
    let directory = directory();
    for (limit, expected) in [(4, "a€"), (3, "a"), (2, "a"), (1, "a"), (0, "")] {
        let finished =
            finish(Command { output: Output::Kept(limit), ..command(directory.path(), "printf 'a€b'") }).await;
        assert_eq!((finished.stdout().text.as_str(), finished.stdout().cut), (expected, true), "limit {limit}");
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_nothing_behind() {
    let directory = directory();
    let pid = {
        tokio::select! {
            _ = finish(command(directory.path(), "sh -c 'echo $$ > pid; sleep 60' & wait")) => panic!("it cannot end by itself"),
            pid = pid_in(directory.path().join("pid")) => pid,
        }
    };
    assert_gone(pid).await;
}

#[tokio::test]
async fn command_cancelled_before_start_does_not_begin() {
    let directory = directory();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let finished = run(command(directory.path(), "touch marker"), &Background::default(), &cancel).await;
    assert_eq!(finished.error.as_ref().unwrap().kind, RunErrorKind::Cancelled);
    assert!(!directory.path().join("marker").exists());
}

#[tokio::test]
async fn input_is_read_to_its_end() {
    let directory = directory();
    let input = "line\n".repeat(100_000);
    let script = "cat; printf '|%s' \"a  b 'c'\"";
    let reader = Command { input: input.as_bytes(), ..command(directory.path(), script) };
    let finished = finish(reader).await;
    assert_eq!(finished.stdout().text, format!("{input}|a  b 'c'"));
    // A process that reads nothing of it is not waited for, and ends successfully.
    let finished = finish(Command { script: "exec <&-; echo deaf", ..reader }).await;
    assert_eq!((finished.stdout().text.as_str(), &finished.error), ("deaf\n", &None));
}

#[tokio::test]
async fn variables_are_set_and_removed_and_a_missing_shell_says_so() {
    let directory = directory();
    let environment = Environment {
        set: [("SPECLENS_TEST_SET".to_owned(), "a b".to_owned())].into(),
        removed: ["PATH_THAT_IS_NOT_THERE".to_owned(), "HOME".to_owned()].into(),
    };
    let script = "echo \"$SPECLENS_TEST_SET|${HOME-gone}|${PATH:+kept}\"";
    let command = Command { environment: &environment, ..command(directory.path(), script) };
    let finished = finish(command).await;
    assert_eq!(finished.stdout().text, "a b|gone|kept\n");
    let finished = finish(Command { shell: "no-such-shell", script: "true", ..command }).await;
    let error = finished.error.as_ref().unwrap();
    assert_eq!((error.kind, finished.ran.exit), (RunErrorKind::Spawn, None));
    assert!(error.message.contains("cannot start `no-such-shell`"), "{}", error.message);
}

#[tokio::test]
async fn shell_that_is_elsewhere_now_is_found_again() {
    use std::os::unix::fs::symlink;

    let directories = [directory(), directory()];
    let [first, second] = directories.each_ref().map(TempDir::path);
    let path = std::env::join_paths([first, second]).unwrap().into_string().unwrap();
    let environment = Environment { set: [("PATH".to_owned(), path)].into(), ..Environment::default() };
    let script = "echo begun; no-such-builtin";
    let command = Command { shell: "own-shell", environment: &environment, ..command(first, script) };
    for place in [first, second] {
        symlink("/bin/sh", place.join("own-shell")).unwrap();
        let finished = finish(command).await;
        assert_eq!((finished.stdout().text.as_str(), &finished.error), ("begun\n", &None));
        // It has the name that it was started by.
        assert!(finished.stderr().text.starts_with("own-shell: "), "{}", finished.stderr().text);
        std::fs::remove_file(place.join("own-shell")).unwrap();
    }
}

#[test]
fn command_begins_only_when_the_program_says_so() {
    let directory = directory();
    for (input, name) in [(&b""[..], "marker"), (b"text", "other")] {
        let mut gate = std::process::Command::new("sh")
            .args(["-c", &group::gated(&format!("touch {name}"), input)])
            .current_dir(directory.path())
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(gate.stdin.take());
        assert!(!gate.wait().unwrap().success());
        assert!(!directory.path().join(name).exists());
    }
}

#[test]
fn shell_that_records_sees_the_script_alone() {
    for (script, input) in [("echo a\necho b", &b""[..]), ("cat", b"text"), ("", b"")] {
        assert_eq!(ungated(&group::gated(script, input)), script);
        assert_eq!(ungated(script), script);
    }
}

/// Returns the installed shells, `sh` first.
fn shells() -> impl Iterator<Item = &'static str> {
    ["sh", "bash", "dash", "ksh", "zsh"].into_iter().filter(|shell| {
        *shell == "sh" || std::process::Command::new(shell).args(["-c", "exit 0"]).status().is_ok_and(|it| it.success())
    })
}

/// Returns the results of a script in a shell, with and without this program.
async fn both_ways(shell: &str, script: &str) -> [(Option<i32>, Option<i32>, String, String); 2] {
    use std::os::unix::process::ExitStatusExt;

    let directory = directory();
    let alone = std::process::Command::new(shell)
        .args(["-c", script])
        .current_dir(directory.path())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let finished = finish(Command { shell, ..command(directory.path(), script) }).await;
    let exit = finished.ran.exit.unwrap();
    [
        (alone.status.code(), alone.status.signal(), text(&alone.stdout), text(&alone.stderr)),
        (exit.code, exit.signal, finished.stdout().text.clone(), finished.stderr().text.clone()),
    ]
}

#[tokio::test]
async fn script_does_what_it_does_in_a_shell_alone() {
    let scripts = [
        "",
        "# nothing",
        "no-such-command-at-all; echo $?",
        "echo )",
        "; true",
        "&& true",
        "if true",
        "echo 'a",
        "true\n(",
        "cat <<END\na\nEND",
        "cat; echo $?",
        "for i in 1 2; do echo $i; done &\nwait",
        "trap 'echo bye' EXIT; exit 3",
        "echo $0 $# $- $LINENO; env | sed 's/=.*//'",
        "set -u; echo $SPECLENS_GATE",
        // Some programs read an empty pipe, and nothing without one.
        "[ -p /dev/stdin ] && echo a pipe",
        "ls -l /proc/self/fd/0 | sed 's/.*->//'; ls /proc/$$/fd",
        "kill -ABRT $$",
        // The shell becomes its last command and ends as that does.
        "exec sh -c 'kill -ABRT $$'",
        "sh -c 'kill -ABRT $$'",
    ];
    for shell in shells() {
        for script in scripts {
            let [alone, here] = both_ways(shell, script).await;
            assert_eq!(here, alone, "{shell} -c {script:?}");
        }
    }
}
