//! The processes of a run: how they end, what they leave running, and what happens when the program ends.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Done, Place, attempt, suite};

#[test]
fn an_accident_of_the_command_is_recorded_and_noted() {
    let place = Place::with(&suite("echo half; kill -s SEGV $$", "{output: {notContains: [x]}}"));
    for (arguments, origin) in [(&[][..], "fresh"), (&["--recorded"], "replayed")] {
        let (code, report) = place.report(arguments);
        let run = attempt(&report, 0);
        assert_eq!((code, &run["status"], &run["recording"]), (Some(0), &"pass".into(), &origin.into()), "{report}");
        assert_eq!((&run["evidence"]["exit_code"], &run["evidence"]["signal"]), (&1.into(), &11.into()));
        assert_eq!(run["notes"][0], "the command was terminated by signal 11 (SEGV)");
    }
    let done = place.run(&["run"]);
    assert!(done.stdout.contains("was terminated by signal 11 (SEGV)"), "{done:?}");
}

#[test]
fn command_that_was_killed_is_an_error() {
    for (signal, words) in [("KILL", "signal 9 (KILL)"), ("TERM", "signal 15 (TERM)")] {
        let script = format!("echo half; kill -s {signal} $$");
        let place = Place::with(&suite(&script, "{output: {notContains: [x]}}"));
        for arguments in [&[][..], &["--recorded"]] {
            let (code, report) = place.report(arguments);
            let run = attempt(&report, 0);
            assert_eq!((code, &run["error"]["kind"]), (Some(3), &"killed".into()), "{report}");
            assert!(run["error"]["message"].as_str().unwrap().contains(words), "{report}");
            assert_eq!((&run["evidence"]["stdout"], &run["verdicts"]), (&"half\n".into(), &Value::Array(Vec::new())));
        }
    }
}

#[test]
fn a_shell_that_reports_a_killed_command_is_noted() {
    let place = Place::with(&suite("sh -c 'kill -s KILL $$'; exit $?", "{output: {notContains: [x]}}"));
    let (_, report) = place.report(&[]);
    assert_eq!(attempt(&report, 0)["evidence"]["exit_code"], 137);
    assert!(attempt(&report, 0)["notes"][0].as_str().unwrap().contains("signal 9 (KILL)"), "{report}");
}

#[test]
fn a_server_that_one_test_starts_serves_the_next_and_ends_with_the_run() {
    let place = Place::with(
        "kindlm: 1
project: demo
suite: {name: demo}
defaults: {concurrency: 1, timeoutMs: 20000}
tests:
  - {name: starts, command: 'sh serve.sh > log 2>&1 & echo up', expect: {output: {contains: [up]}}}
  - {name: asks, command: 'touch ask; while [ ! -s answer ]; do :; done; cat answer', expect: {output: {contains: [yes]}}}
",
    );
    place.write(
        "serve.sh",
        "echo $$ > pid; while :; do if [ -e ask ]; then echo yes > draft; mv draft answer; rm ask; fi; done\n",
    );
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(0), "{report}");
    assert!(attempt(&report, 0)["notes"][0].as_str().unwrap().contains("background process running"), "{report}");
    assert_gone(&place, &["pid"]);
}

#[test]
fn a_killed_program_leaves_no_process() {
    // When the second test runs, the watcher knows the group that the first one left.
    let place = Place::with(
        "kindlm: 1
project: demo
suite: {name: demo}
defaults: {concurrency: 1}
tests:
  - {name: leaves, command: sh stubborn.sh > /dev/null 2>&1 &, expect: {output: {maxLength: 9}}}
  - {name: waits, command: echo up > second; sleep 2, expect: {output: {maxLength: 9}}}
",
    );
    place.write("stubborn.sh", "trap '' TERM HUP INT; (sleep 60 & echo $! > inner; wait) & echo $$ > pid; wait\n");
    let mut child = place.program(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&place, "pid");
    wait_for(&place, "inner");
    wait_for(&place, "second");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(&place, &["pid", "inner"]);
}

#[test]
fn commands_without_a_watcher_are_reported_once() {
    let place = Place::with(
        "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: one, command: echo a, expect: {output: {contains: [a]}}}
  - {name: two, command: echo b, expect: {output: {contains: [b]}}}
",
    );
    // Without a shell, neither commands nor the watcher can be started.
    let done = Done::of(&place.program(&["run"]).env("PATH", place.path()).output().unwrap());
    assert_eq!(done.stderr.matches("commands are not stopped if this program is killed").count(), 1, "{done:?}");
}

#[test]
fn what_a_signal_kept_from_running_is_not_reported_as_passed() {
    let place = Place::empty();
    place.write("a/kindlm.yaml", suite("echo $$ > ../pid; sleep 60", "{output: {contains: [x]}}"));
    place.write("b/kindlm.yaml", suite("echo b", "{output: {contains: [b]}}"));
    let child = place.start(&["run", "--report", "json"]);
    wait_for(&place, "pid");
    send("TERM", child.id());
    let done = Done::at_end_of(child);
    assert_eq!(done.code, Some(130), "{done:?}");
    let report = done.json();
    assert_eq!(report["suites"][1]["status"], "unknown", "{report}");
    assert_eq!((&report["totals"]["cases"], &report["totals"]["unknown"]), (&2.into(), &2.into()));
}

#[test]
fn an_interrupted_run_ends_with_130_and_leaves_no_process() {
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let place =
            Place::with(&suite("echo $$ > pid; sh -c 'echo $$ > inner; sleep 60'", "{output: {contains: [x]}}"));
        let child = place.start(&["run"]);
        wait_for(&place, "inner");
        send(signal, child.id());
        let done = Done::at_end_of(child);
        assert_eq!(done.code, Some(130), "{signal}: {done:?}");
        assert!(done.stdout.contains("cancelled"), "{done:?}");
        assert_gone(&place, &["pid", "inner"]);
    }
}

#[test]
#[cfg(unix)]
fn interrupt_during_teardown_is_answered_and_ends_it_soon() {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        format!(
            "cli: sh\nproviders: [scripted/one]\ntasks:\n- id: t\n  intent: x\n  max_turns: 2\n  assert: [exit_code: 0]\n  teardown: ['echo $$ > {0}/pid; sleep 60', 'echo > {0}/second; sleep 60']\n",
            place.path().display()
        ),
    );
    place.write("one.script.yaml", "default: [{ run: 'true' }]\n");
    let child = place.start(&["run"]);
    wait_for(&place, "pid");
    let begun = Instant::now();
    send("INT", child.id());
    let done = Done::at_end_of(child);
    assert!(begun.elapsed() < Duration::from_secs(15), "{done:?}");
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.stderr.contains("interrupted: stopping"), "{done:?}");
    assert!(!place.exists("second"), "{done:?}");
    assert_gone(&place, &["pid"]);
}

/// Six tests that run at once; each marks its beginning, waits for the file `go`, and marks its end.
fn waiting_for_go() -> Place {
    let tests: String = (0..6)
        .map(|index| {
            format!(
                "  - name: t{index}\n    command: \"echo $$ > begun{index}; while [ ! -e go ]; do sleep 0.01; done; echo ok; echo > done{index}\"\n    \
                 expect: {{output: {{contains: [ok]}}, latency: {{maxMs: 4900}}}}\n"
            )
        })
        .collect();
    Place::with(&format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{concurrency: 6, timeoutMs: 5000}}\ntests:\n{tests}"
    ))
}

/// Returns the state of a process: `T` for a stopped one.
pub(crate) fn state(pid: &str) -> String {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().chars().take(1).collect()
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what} never came");
        thread::yield_now();
    }
}

fn assert_six_passed(run: Child) {
    let done = Done::at_end_of(run);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.json()["totals"]["passed"], 6, "{done:?}");
}

/// Waits for the deadline of five seconds, by an independent clock.
fn pass_the_deadline() {
    assert!(Command::new("sleep").arg("5.5").status().unwrap().success());
}

/// Ctrl-Z, a pause longer than every deadline, `fg`: the commands pause, too, and the pause does not count.
#[test]
fn suspended_run_times_nothing_out() {
    let place = waiting_for_go();
    let child = place.start(&["run", "--report", "json"]);
    (0..6).for_each(|index| wait_for(&place, &format!("begun{index}")));
    send("TSTP", child.id());
    let command = place.read("begun0").trim().to_owned();
    wait_until("the stop", || state(&child.id().to_string()) == "T" && state(&command) == "T");
    place.write("go", "");
    pass_the_deadline();
    assert!(!place.exists("done0"), "a command went on");
    send("CONT", child.id());
    assert_six_passed(child);
}

/// Stopping the program alone (by a debugger, or for lack of memory) does not stop the commands: those that ended in
/// time did so.
#[test]
fn command_that_ended_while_the_program_was_stopped_has_not_timed_out() {
    let place = waiting_for_go();
    let suite = place.read("kindlm.yaml").replace(", latency: {maxMs: 4900}", "");
    place.write("kindlm.yaml", suite);
    let child = place.start(&["run", "--report", "json"]);
    (0..6).for_each(|index| wait_for(&place, &format!("begun{index}")));
    send("STOP", child.id());
    wait_until("the stop", || state(&child.id().to_string()) == "T");
    place.write("go", "");
    (0..6).for_each(|index| wait_for(&place, &format!("done{index}")));
    pass_the_deadline();
    send("CONT", child.id());
    assert_six_passed(child);
}

/// The first Ctrl-C asks the commands to end, the second does not wait.
#[test]
fn second_interrupt_ends_at_once() {
    let command = "trap 'echo asked > asked' TERM; echo $$ > pid; while :; do sleep 0.01; done";
    let place = Place::with(&suite(command, "{output: {contains: [x]}}"));
    let child = place.start(&["run"]);
    wait_for(&place, "pid");
    send("INT", child.id());
    wait_for(&place, "asked");
    // Stopped, so it receives the second one before the grace period is over.
    send("STOP", child.id());
    send("INT", child.id());
    send("CONT", child.id());
    let done = Done::at_end_of(child);
    assert_eq!((done.code, done.stdout.as_str()), (Some(130), ""));
    assert_gone(&place, &["pid"]);
}

/// Returns whether a process still runs; one that waits to be reaped does not.
fn is_running(pid: &str) -> bool {
    !matches!(state(pid).as_str(), "" | "Z")
}

pub(crate) fn send(signal: &str, process: u32) {
    assert!(Command::new("kill").args(["-s", signal, &process.to_string()]).status().unwrap().success());
}

/// Waits for a file that ends with a line end.
pub(crate) fn wait_for(place: &Place, name: &str) {
    wait_until(name, || place.exists(name) && place.read(name).ends_with('\n'));
}

/// Waits until the processes with the ids in these files have ended.
pub(crate) fn assert_gone(place: &Place, names: &[&str]) {
    for name in names {
        let pid = place.read(name).trim().to_owned();
        wait_until(&format!("the end of {name}"), || !is_running(&pid));
    }
}

/// Returns the program with a limit on its address space, and its standard input.
fn limited(place: &Place, kibibytes: u32, arguments: &[&str], input: &str) -> Option<Done> {
    place.write("input", input);
    let program = place.program(&[]);
    let mut shell = Command::new("sh");
    // The shell tells the end by a signal, of the program or of `timeout`, as an exit code.
    let script = format!("ulimit -v {kibibytes}; timeout -s KILL 60 \"$0\" \"$@\" < input; exit $?");
    shell.args(["-c", &script]).arg(program.get_program()).args(arguments).current_dir(place.path());
    shell.env("HOME", place.path()).env("XDG_STATE_HOME", place.path().join("state"));
    let done = Done::of(&shell.output().unwrap());
    (done.code != Some(137)).then_some(done)
}

#[test]
fn the_program_works_with_little_address_space_and_never_hangs_for_want_of_it() {
    let message = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let session = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    let session: String = session.map(message).concat();
    for arguments in [&["run"][..], &["check"], &["lsp"]] {
        let mut refused = 0;
        for mebibytes in [48, 64, 80, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 768, 1024, 2048] {
            let place = Place::with(&suite("echo fine", "{output: {contains: [fine]}}"));
            let input = if arguments == ["lsp"] { session.as_str() } else { "" };
            let done = limited(&place, mebibytes * 1024, arguments, input);
            let done = done.unwrap_or_else(|| panic!("{arguments:?} hangs with {mebibytes} MiB"));
            if mebibytes >= 1024 {
                assert_eq!(done.code, Some(0), "{arguments:?} with {mebibytes} MiB: {done:?}");
            }
            // The system itself ends a program that it cannot load, or prints a message of its own.
            if done.code != Some(0) && mebibytes > 80 {
                let reason = "cannot start a thread; raise the limit on memory";
                assert!(done.stderr.contains(reason), "{arguments:?} with {mebibytes} MiB: {done:?}");
                assert_eq!(done.code, Some(3), "{arguments:?} with {mebibytes} MiB: {done:?}");
                refused += 1;
            }
        }
        assert!(refused > 0, "{arguments:?} is never refused a thread");
    }
}
