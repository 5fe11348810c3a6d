//! Failures while agents work: messages, and nothing left behind.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    GREETING, SUITE, is_empty, place, place_of,
    provider::{calling, provider, running},
    report, run, with_key,
};
use crate::{
    loopback::Answer,
    processes::{assert_gone, send, wait_for},
    support::{Done, Place},
};

/// Returns the error of the only attempt.
fn error(report: &Value) -> (&str, &str) {
    let error = &report["suites"][0]["cases"][0]["runs"][0]["error"];
    (error["kind"].as_str().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
}

/// Runs the suite, in the terminal and for programs, and checks the messages.
#[track_caller]
fn check_error(place: &Place, kind: &str, parts: &[&str]) {
    let found = report(place, &[]);
    assert_eq!(error(&found).0, kind, "{found}");
    let done = run(place, &["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains(&format!("error[{kind}]")), "{done:?}");
    for part in parts {
        assert!(error(&found).1.contains(part), "{part}: {found}");
    }
    assert!(is_empty(&place.path().join("tmp")));
}

#[test]
fn provider_that_is_down_is_named_with_its_address() {
    let place = place(SUITE, GREETING);
    // No server listens there.
    place.write("speclens.yaml", "providers: {local: {base_url: 'http://127.0.0.1:9/v1', key_env: LOCAL_KEY}}\n");
    check_error(&place, "provider", &["cannot reach 127.0.0.1", "check the address and the network"]);
}

/// What lasts is reported in the end: requests are repeated where that may help.
#[test]
fn faults_of_a_provider_are_reported_with_their_remedy_and_without_the_key() {
    let refused = r#"{"error": {"message": "Incorrect API key provided: key-0123456789abcdef."}}"#;
    let busy = r#"{"error": {"message": "slow down"}}"#;
    let head =
        |status: &str, length: usize| format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    let busy = head("429 Busy", busy.len()) + "content-type: application/json\r\nretry-after: 0\r\n\r\n" + busy;
    let cut = head("200 OK", 5000) + "content-type: application/json\r\n\r\n{\"choices\": [";
    for (answer, kind, parts, requests) in [
        (
            Answer::Reply(401, refused.to_owned()),
            "key",
            &["127.0.0.1", "rejected the key (401)", "check the value of `LOCAL_KEY`"][..],
            1,
        ),
        (Answer::Bytes(busy), "rate-limit", &["429", "after 3 retries", "slow down", "lower `concurrency`"], 4),
        (Answer::Bytes(cut), "provider", &["closed the connection early after 3 retries"], 4),
    ] {
        let provider = provider(move |_| answer.clone());
        let place = place_of(SUITE, &provider);
        check_error(&place, kind, parts);
        // In each of two runs.
        assert_eq!(provider.requests().len(), 2 * requests, "{kind}");
        assert!(!run(&place, &["run"]).text().contains("key-0123456789abcdef"));
    }
}

#[test]
fn model_that_never_stops_calling_is_stopped_at_its_turns_and_judged() {
    let provider = provider(|turn| calling(turn, "cat name > out.txt; cat out.txt"));
    let place = place_of(SUITE, &provider);
    let found = report(&place, &[]);
    let entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!((&entry["status"], &entry["evidence"]["stopped"]), (&"pass".into(), &"turn-limit".into()), "{found}");
    assert_eq!(entry["evidence"]["commands"].as_array().unwrap().len(), 4);
    assert!(entry["notes"].to_string().contains("`max_turns`"), "{found}");
}

/// A command that starts another one; both ignore signals.
const FORKING: &str = "trap '' TERM INT HUP; sh -c 'trap \"\" TERM INT HUP; echo $$ > \"$MARKS/inner\"; \
                       while :; do sleep 1; done' & echo $$ > \"$MARKS/outer\"; while :; do sleep 1; done";

#[test]
fn task_that_takes_too_long_ends_with_the_command_that_forks_and_ignores_signals() {
    let place = place(&format!("{SUITE}    timeout: 2\n"), &[FORKING]);
    let mut program = with_key(&place, &["run"]);
    let done = Done::of(&program.env("MARKS", place.path()).output().unwrap());
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("did not end within 2000 ms"), "{done:?}");
    assert_gone(&place, &["inner", "outer"]);
    assert!(is_empty(&place.path().join("tmp")));
}

#[cfg(target_os = "linux")]
#[test]
fn command_that_writes_a_gibibyte_takes_a_bounded_share_of_memory() {
    const MAX_KIB: u64 = 300 * 1024;
    // The peak memory so far of the program that runs the commands.
    const COMMANDS: &[&str] =
        &["head -c 1073741824 /dev/zero; cat name > out.txt", "sed -n s/VmHWM://p /proc/$PPID/status", "cat out.txt"];
    let place = place(SUITE, COMMANDS);
    let found = report(&place, &[]);
    let entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(entry["status"], "pass", "{}", entry["verdicts"]);
    let peak = entry["evidence"]["commands"][1]["stdout"].as_str().unwrap();
    let peak: u64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap();
    assert!(peak < MAX_KIB, "{} MiB", peak / 1024);
    assert!(entry["notes"].to_string().contains("were not recorded"), "{}", entry["notes"]);
}

#[test]
fn full_disk_changes_no_verdict_and_leaves_no_half_recording() {
    let place = place(SUITE, &["cat name > out.txt; cat out.txt", "cat out.txt"]);
    assert_eq!(run(&place, &["run"]).code, Some(0));
    assert_eq!(place.recordings().len(), 1);
    let program = with_key(&place, &[]);
    let mut limited = Command::new("sh");
    // Enough blocks for the task itself, and too few for a recording.
    limited.args(["-c", "ulimit -f 1; exec \"$0\" run"]).arg(program.get_program()).current_dir(place.path());
    limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = Done::of(&limited.output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr.matches("cannot record in ").count(), 1, "{done:?}");
    assert!(done.stderr.contains("File too large"), "{done:?}");
    assert_eq!(place.recordings(), [] as [std::path::PathBuf; 0], "no draft, and none of the run before");
}

/// Interrupts a run when a mark appears, and checks that it leaves nothing behind.
#[track_caller]
fn check_interrupted(place: &Place, mark: &str, processes: &[&str]) {
    let mut program = with_key(place, &["run"]);
    program.env("MARKS", place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = program.spawn().unwrap();
    wait_for(place, mark);
    send("INT", child.id());
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.stdout.contains("cancelled"), "{done:?}");
    assert_gone(place, processes);
    assert!(is_empty(&place.path().join("tmp")), "the directory of the task is removed");
    assert_eq!(place.recordings().len(), 0, "{done:?}");
}

/// A command that marks that it began, and never ends.
const ENDLESS: &str = "echo $$ > \"$MARKS/begun\"; while :; do sleep 1; done";

#[test]
fn interrupt_during_setup_leaves_nothing() {
    let place = place(&format!("setup: ['{ENDLESS}']\n{SUITE}"), GREETING);
    check_interrupted(&place, "begun", &["begun"]);
}

#[test]
fn interrupt_while_the_model_is_asked_leaves_nothing() {
    let path = tempfile::tempdir().unwrap();
    let mark = path.path().join("asked");
    let file = mark.clone();
    let provider = provider(move |_| {
        fs::write(&file, "asked\n").unwrap();
        Answer::Nothing
    });
    let place = place_of(SUITE, &provider);
    std::os::unix::fs::symlink(&mark, place.path().join("asked")).unwrap();
    check_interrupted(&place, "asked", &[]);
}

#[test]
fn interrupt_during_a_command_that_forks_and_ignores_signals_leaves_nothing() {
    check_interrupted(&place(SUITE, &[FORKING]), "inner", &["inner", "outer"]);
}

#[test]
fn interrupt_during_verify_leaves_nothing() {
    let suite = SUITE.replace("cat name out.txt, output_contains: hello", &format!("'{ENDLESS}'"));
    check_interrupted(&place(&suite, GREETING), "begun", &["begun"]);
}

#[test]
fn interrupt_during_teardown_lets_it_end() {
    let teardown =
        "echo $$ > \"$MARKS/begun\"; until [ -e \"$MARKS/go\" ]; do sleep 0.01; done; echo > \"$MARKS/down\"";
    let place = place(&format!("{SUITE}    teardown: ['{teardown}']\n"), GREETING);
    let mut program = with_key(&place, &["run"]);
    program.env("MARKS", place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = program.spawn().unwrap();
    wait_for(&place, "begun");
    send("INT", child.id());
    place.write("go", "");
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(place.exists("down"), "what teardown gives back is given back");
    assert_gone(&place, &["begun"]);
    assert!(is_empty(&place.path().join("tmp")));
}

/// The second Ctrl-C does not wait, so the directory of the task stays; the next run removes it.
#[test]
fn directory_of_a_run_that_was_killed_is_removed_by_the_next() {
    const STUBBORN: &str = "trap '' TERM; echo $$ > \"$MARKS/begun\"; while :; do sleep 1; done";
    let place = place(SUITE, &[STUBBORN]);
    let mut program = with_key(&place, &["run"]);
    let mut child = program.env("MARKS", place.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&place, "begun");
    let temporary = place.path().join("tmp");
    send("KILL", child.id());
    child.wait().unwrap();
    assert_gone(&place, &["begun"]);
    assert!(!is_empty(&temporary));
    let other = running(GREETING);
    place.write("speclens.yaml", super::settings(&other));
    let done = run(&place, &["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(is_empty(&temporary), "{:?}", fs::read_dir(&temporary).unwrap().collect::<Vec<_>>());
}

#[test]
fn directory_of_a_task_is_kept_on_request_and_its_path_is_printed() {
    let place = place(SUITE, GREETING);
    let done = run(&place, &["run", "--keep-workdir"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let temporary = place.path().join("tmp").canonicalize().unwrap();
    let kept = |text: &str| {
        let from = text.find(temporary.to_str().unwrap()).unwrap_or_else(|| panic!("no path in {text}"));
        text[from..].split(['\n', '"']).next().unwrap().trim_end().to_owned()
    };
    let path = kept(&done.stdout);
    assert_eq!(fs::read_to_string(format!("{path}/out.txt")).unwrap(), "hello you\n");
    let found = report(&place, &["--keep-workdir"]);
    let notes = found["suites"][0]["cases"][0]["runs"][0]["notes"].to_string();
    assert!(fs::exists(format!("{}/out.txt", kept(&notes))).unwrap() && kept(&notes) != path, "{notes}");
    // It is not removed, and judging it again adds no wrong note.
    assert_eq!(run(&place, &["run"]).code, Some(0));
    assert!(fs::exists(format!("{path}/out.txt")).unwrap());
}

#[test]
fn runs_that_share_a_directory_queue_and_both_finish() {
    // An attempt that finds the directory of another is not alone.
    const COMMANDS: &[&str] = &[
        "mkdir busy || exit 1; echo > \"$MARKS/begun-$WHO\"; until [ -e \"$MARKS/go\" ]; do sleep 0.01; done; rmdir busy; \
         cat name > out.txt",
        "cat out.txt",
    ];
    for workdir in ["", "workdir: shared\n"] {
        let place = place(&format!("{workdir}{SUITE}"), COMMANDS);
        let begin = |who: &str| {
            let mut program = with_key(&place, &["run", "--report", "json"]);
            program.env("MARKS", place.path()).env("WHO", who).stdout(Stdio::piped()).stderr(Stdio::piped());
            program.spawn().unwrap()
        };
        let first = begin("one");
        wait_for(&place, "begun-one");
        let mut second = begin("two");
        if workdir.is_empty() {
            wait_for(&place, "begun-two");
        } else {
            let mut stderr = BufReader::new(second.stderr.take().unwrap());
            let mut line = String::new();
            stderr.read_line(&mut line).unwrap();
            assert!(line.contains("waiting for another test to finish in"), "{line}");
            assert!(!place.exists("begun-two"));
            second.stderr = Some(stderr.into_inner());
        }
        place.write("go", "");
        for child in [first, second] {
            let done = Done::of(&child.wait_with_output().unwrap());
            assert_eq!(done.code, Some(0), "{workdir}: {done:?}");
        }
        let recorded: Vec<Value> =
            place.recordings().iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect();
        assert!(!recorded.is_empty(), "and each of them is whole");
        assert_eq!(run(&place, &["run", "--recorded"]).code, Some(0));
        assert!(is_empty(&place.path().join("tmp")));
    }
}

#[test]
fn setup_that_fails_and_scaffold_that_leads_out_are_reported_before_a_model_is_asked() {
    let provider = running(GREETING);
    let place = place_of(&format!("setup: ['echo no disk >&2; exit 4']\n{SUITE}"), &provider);
    check_error(&place, "setup", &["`setup` command", "exit", "no disk"]);
    place.write("cli-bench.yaml", SUITE);
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("fixture/out")).unwrap();
    check_error(&place, "workspace", &["`out` of the scaffold `fixture` leads out of the scaffold"]);
    assert_eq!(provider.requests().len(), 0);
}
