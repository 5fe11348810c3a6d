//! Recordings: judged again without acting, without secrets, and never an obstacle.

use std::fs;

use serde_json::Value;

use crate::support::{Done, Place, attempt, outcomes, suite};

fn run_of(report: &Value) -> &Value {
    attempt(report, 0)
}

#[test]
fn an_edited_claim_is_judged_from_the_recording() {
    let place = Place::with(&suite("echo x >> marker; echo hello", "{output: {contains: [goodbye]}}"));
    assert_eq!(place.run(&["run"]).code, Some(1));
    place.write("kindlm.yaml", suite("echo x >> marker; echo hello", "{output: {contains: [hello]}}"));
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(
        (&run_of(&report)["recording"], &run_of(&report)["evidence"]["output_text"]),
        (&"replayed".into(), &"hello".into())
    );
    assert_eq!(place.read("marker"), "x\n");
    assert_eq!(place.read(".speclens/.gitignore"), "*\n");
}

#[test]
fn a_changed_act_makes_the_recording_stale() {
    let expect = "{output: {contains: [hello]}}";
    let place = Place::with(&suite("sh say.sh", expect));
    place.write("say.sh", "echo hello\n");
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    // The script in the command.
    place.write("say.sh", "echo goodbye\n");
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, &run_of(&report)["status"]), (Some(3), &"unknown".into()));
    assert_eq!(run_of(&report)["error"]["kind"], "stale");
    place.write("say.sh", "echo hello\n");
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    // The command itself.
    place.write("kindlm.yaml", suite("sh say.sh ", expect));
    let done = place.run(&["run", "--recorded"]);
    assert_eq!(done.code, Some(3));
    assert!(done.stdout.contains("stale"), "{done:?}");
}

#[test]
fn strict_replay_fails_and_names_what_changed() {
    let expect = "{output: {contains: [hello]}}";
    let place = Place::with(&suite("sh say.sh", expect));
    place.write("say.sh", "echo hello\n");
    let strict = ["run", "--recorded", "--strict"];
    let done = place.run(&strict);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("`only`: no recording; run the test first"), "{done:?}");
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.run(&strict).code, Some(0));
    place.write("say.sh", "echo bye\n");
    let sentence = "stale: file `say.sh` has changed since the test was recorded; run the test again";
    for kind in ["human", "json", "junit", "sarif", "github", "compliance"] {
        let done = place.run(&[&strict[..], &["--report", kind]].concat());
        assert_eq!(done.code, Some(1), "{done:?}");
        // The report about compliance has results without reasons.
        assert!(kind == "compliance" || (done.stdout.contains(sentence) && done.stdout.contains("only")), "{done:?}");
    }
    let report = place.run(&[&strict[..], &["--report", "json"]].concat()).json();
    assert_eq!((&run_of(&report)["status"], &run_of(&report)["error"]["kind"]), (&"fail".into(), &"stale".into()));
    let sarif = place.run(&[&strict[..], &["--report", "sarif"]].concat()).json();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|one| one["ruleId"] == "stale" && one["level"] == "error"), "{sarif}");
    assert!(place.run(&[&strict[..], &["--report", "github"]].concat()).stdout.contains("::error"));
    assert!(place.run(&[&strict[..], &["--report", "junit"]].concat()).stdout.contains("<failure"));
    // Nothing ran.
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(3));
    for (arguments, words) in [
        (&["run", "--strict"][..], "--recorded"),
        (&["run", "--recorded", "--strict", "--ask"], "--ask"),
        (&["run", "--recorded", "--strict", "--accept"], "--accept"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(words), "{done:?}");
    }
}

#[test]
fn strict_replay_compares_with_the_nearest_recording() {
    let expect = "{output: {contains: [hello]}}";
    let one = suite("echo hello", expect);
    let place = Place::with(&one);
    assert_eq!(place.run(&["run"]).code, Some(0));
    let message = |suite: String| {
        place.write("kindlm.yaml", suite);
        let (code, report) = place.report(&["--recorded", "--strict"]);
        assert_eq!(code, Some(1), "{report}");
        let attempts = report["suites"][0]["cases"][0]["runs"].as_array().unwrap();
        let failed = attempts.iter().find(|attempt| attempt["status"] == "fail").unwrap();
        failed["error"]["message"].as_str().unwrap().to_owned()
    };
    let renamed = one.replace("name: only", "name: first").replace("echo hello", "echo hello; true");
    let nearest =
        "no recording; run the test first; the nearest recording is of `only`, and the command has changed since";
    assert_eq!(message(renamed.clone()), nearest);
    let repeated = one.replace("    expect", "    repeat: 2\n    expect");
    assert_eq!(message(repeated), "no recording; run the test first; the nearest recording is of attempt 1");
    // The recordings of other tests say nothing about this one.
    let both = format!("{renamed}  - {{name: only, command: \"echo hello\", expect: {expect}}}\n");
    assert_eq!(message(both), "no recording; run the test first");
    // A damaged recording, and one of another version.
    let file = &place.recordings()[0];
    let text = fs::read_to_string(file).unwrap();
    fs::write(file, &text[..text.len() / 2]).unwrap();
    assert_eq!(message(one.clone()), "the recording is damaged; run the test again");
    fs::write(file, text.replace("\"speclens_recording\":4", "\"speclens_recording\":5")).unwrap();
    assert_eq!(message(one), "another version of speclens made the recording; run the test again");
}

#[test]
fn strict_replay_fails_without_a_recording_even_if_gates_excuse_failures() {
    let gated = |command: &str| {
        suite("echo hello", "{output: {contains: [hello]}}")
            + &format!("  - {{name: other, command: {command:?}, expect: {{output: {{contains: [hi]}}}}}}\n")
            + "gates: {passRateMin: 0.5}\n"
    };
    let place = Place::with(&gated("echo no"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.run(&["run", "--recorded", "--strict"]).code, Some(0));
    place.write("kindlm.yaml", gated("echo hi"));
    let done = place.run(&["run", "--recorded", "--strict"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("stale: the command has changed"), "{done:?}");
}

#[test]
fn a_script_elsewhere_in_the_workspace_counts() {
    let expect = "{output: {contains: [hello]}}";
    let place = Place::empty();
    place.write("speclens.yaml", "");
    let absolute = format!("sh {}", place.path().join("run.sh").display());
    for command in ["sh ../run.sh", absolute.as_str()] {
        place.write("suite/kindlm.yaml", suite(command, expect));
        place.write("run.sh", "echo hello\n");
        assert_eq!(place.run(&["run"]).code, Some(0));
        let (code, report) = place.report(&["--recorded"]);
        assert_eq!(code, Some(0), "{report}");
        assert!(run_of(&report)["notes"].is_null(), "{report}");
        place.write("run.sh", "echo bye\n");
        let (code, report) = place.report(&["--recorded"]);
        assert_eq!((code, &run_of(&report)["error"]["kind"]), (Some(3), &"stale".into()));
    }
}

#[test]
fn settings_above_the_workspace_make_it_no_larger() {
    let place = Place::empty();
    place.write("speclens.yaml", "");
    place.write("run.sh", "echo hello\n");
    place.write("work/kindlm.yaml", suite("sh ../run.sh", "{output: {contains: [hello]}}"));
    for (folder, is_noted) in [("work", true), ("", false)] {
        let report = place.run_in(folder, &["run", "--report", "json"]).json();
        assert_eq!(!run_of(&report)["notes"].is_null(), is_noted, "{report}");
    }
}

#[test]
fn declared_files_that_no_command_names_make_a_recording_stale() {
    for settings in ["inputs: [src]\n", "inputs:\r\n- 'src/*.sh'\r\n", "inputs:\n  - \"./src/inner.sh\"\n"] {
        let place = Place::empty();
        place.write("speclens.yaml", settings);
        place.write("suite/kindlm.yaml", suite("sh -c 'cd ../src && sh inner.sh'", "{output: {contains: [hello]}}"));
        place.write("src/inner.sh", "echo hello\n");
        place.write("src/other.md", "");
        assert_eq!(place.run(&["run"]).code, Some(0));
        let (code, report) = place.report(&["--recorded"]);
        assert_eq!(code, Some(0), "{settings}: {report}");
        place.write("other.md", "changed");
        assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
        place.write("src/inner.sh", "echo bye\n");
        let (code, report) = place.report(&["--recorded"]);
        let error = &run_of(&report)["error"];
        assert_eq!((code, &error["kind"]), (Some(3), &"stale".into()), "{settings}");
        assert!(error["message"].as_str().unwrap().contains("file `../src/inner.sh` has changed"), "{error}");
    }
}

#[test]
fn declared_file_that_the_command_changes_is_noted() {
    let place = Place::with(&suite("sh work.sh", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", "inputs: [state]\n");
    place.write("work.sh", "echo x >> state/count; echo hello\n");
    place.write("state/count", "");
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(0));
    assert!(run_of(&report)["notes"][0].as_str().unwrap().starts_with("`state/count` changed while"), "{report}");
}

#[test]
fn a_script_outside_the_workspace_is_marked() {
    let elsewhere = Place::empty();
    elsewhere.write("run.sh", "echo hello\n");
    let script = elsewhere.path().join("run.sh");
    let command = format!("/bin/sh {} > /dev/null", script.display());
    let place = Place::with(&suite(&command, "{output: {maxLength: 9}}"));
    for arguments in [&[][..], &["--recorded"]] {
        let (code, report) = place.report(arguments);
        let notes = run_of(&report)["notes"].as_array().unwrap();
        let note = format!("`{}` is outside the workspace", script.display());
        assert!(notes.len() == 1 && notes[0].as_str().unwrap().starts_with(&note), "{report}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn what_a_command_writes_does_not_make_its_recording_stale() {
    let place = Place::with(&suite("sh make.sh -o out.txt", "{output: {contains: [hello]}}"));
    place.write("make.sh", "echo x >> count; cp count $2; echo hello\n");
    for noted in [false, true, true] {
        let (code, report) = place.report(&[]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(!run_of(&report)["notes"].is_null(), noted, "{report}");
        assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    }
    place.write("out.txt", "edited");
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(3));
}

#[test]
fn file_that_the_command_makes_and_names_does_not_make_its_recording_stale() {
    let place = Place::with(&suite("sh make.sh made.txt; cat made.txt", "{output: {contains: [hello]}}"));
    place.write("make.sh", "echo hello > $1\n");
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(0), "{report}");
    assert!(run_of(&report)["notes"].is_null(), "{report}");
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    // From now on it is an ordinary input.
    place.write("made.txt", "edited");
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, &run_of(&report)["error"]["kind"]), (Some(3), &"stale".into()));
}

#[test]
fn an_input_that_changes_during_the_run_leaves_a_stale_recording() {
    let place = Place::with(&suite("sh work.sh state.txt", "{output: {contains: [hello]}}"));
    place.write("work.sh", "echo x >> $1; echo hello\n");
    place.write("state.txt", "");
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(0));
    assert!(run_of(&report)["notes"][0].as_str().unwrap().starts_with("`state.txt` changed while"), "{report}");
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, &run_of(&report)["error"]["kind"]), (Some(3), &"stale".into()));
}

#[test]
fn an_input_that_an_earlier_test_writes_is_the_one_that_is_recorded() {
    let text = suite("echo x >> data.txt; echo hello", "{output: {contains: [hello]}}");
    let second =
        "  - {name: second, command: cat data.txt, expect: {output: {contains: [x]}}}\ndefaults: {concurrency: 1}\n";
    let place = Place::with(&format!("{text}{second}"));
    for _ in 0..2 {
        assert_eq!(place.run(&["run"]).code, Some(0));
        let (_, report) = place.report(&["--recorded"]);
        assert_eq!(report["suites"][0]["cases"][1]["status"], "pass", "{report}");
    }
}

#[test]
fn recording_of_another_machine_is_judged_and_marked() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let (_, report) = place.report(&["--recorded"]);
    assert_eq!((&run_of(&report)["recording"], &run_of(&report)["notes"]), (&"replayed".into(), &Value::Null));
    let path = place.recordings()[0].clone();
    let mut recording: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(recording["machine"].as_str().map(str::len), Some(32), "{recording}");
    recording["machine"] = "0123456789abcdef0123456789abcdef".into();
    fs::write(&path, recording.to_string()).unwrap();
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, &run_of(&report)["recording"]), (Some(0), &"foreign".into()), "{report}");
    for arguments in [&["run", "--recorded"][..], &["recordings", "list"], &["recordings", "show", "only"]] {
        let done = place.run(arguments);
        assert!(done.stdout.contains("recorded on another machine"), "{arguments:?}: {done:?}");
    }
    // A recording without a machine is not another machine's.
    recording.as_object_mut().unwrap().remove("machine");
    fs::write(&path, recording.to_string()).unwrap();
    assert_eq!(run_of(&place.report(&["--recorded"]).1)["recording"], "replayed");
}

#[test]
fn without_a_recording_nothing_is_known() {
    let place = Place::with(&suite("touch marker", "{output: {maxLength: 5}}"));
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, &run_of(&report)["error"]["kind"]), (Some(3), &"no-recording".into()));
    assert!(!place.exists("marker"));
}

#[test]
fn recordings_that_cannot_be_read_are_not_used_and_the_report_says_why() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let path = place.recordings()[0].clone();
    let good = fs::read_to_string(&path).unwrap();
    let newer = good.replace("\"speclens_recording\":4", "\"speclens_recording\":99");
    assert_ne!(newer, good);
    for (bad, kind, message) in [
        ("{", "no-recording", "the recording is damaged; run the test again"),
        ("", "no-recording", "the recording is damaged; run the test again"),
        (newer.as_str(), "stale", "another version of speclens made the recording; run the test again"),
    ] {
        fs::write(&path, bad).unwrap();
        let (code, report) = place.report(&["--recorded"]);
        let error = &run_of(&report)["error"];
        assert_eq!((code, &error["kind"], &error["message"]), (Some(3), &kind.into(), &message.into()), "{bad}");
    }
    // The next run writes it again.
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
}

#[test]
fn secrets_reach_no_recording_and_no_report() {
    const SECRET: &str = "sk-12345-very-secret";
    let place = Place::with(&suite(
        "echo key=$MY_API_KEY; echo $MY_API_KEY >&2; echo CUSTOMER $CUSTOMER; echo ticket-4711",
        "{output: {contains: [missing, \"sk-12345-very-secret\"]}}",
    ));
    place.write("speclens.yaml", "recordings: {redact_env: [CUSTOMER], redact_patterns: ['ticket-\\d+']}\n");
    let run = |arguments: &[&str]| place.run_with(&[("MY_API_KEY", SECRET), ("CUSTOMER", "Ada")], arguments);
    let json = ["run", "--report", "json", "--set", "report.evidence=true"];
    let live = run(&json);
    let human = run(&["run"]);
    let junit = run(&["run", "--report", "junit"]);
    let replayed = run(&["run", "--recorded", "--report", "json", "--set", "report.evidence=true"]);
    let recording = fs::read_to_string(&place.recordings()[0]).unwrap();
    for text in [&live.stdout, &human.text(), &junit.stdout, &replayed.stdout, &recording] {
        // The suite's own text contains the secret: the observations do not.
        let observed: String = text.lines().filter(|line| !line.contains("contains")).collect();
        assert!(!observed.contains(&format!("key={SECRET}")), "{text}");
        assert!(!observed.contains("CUSTOMER Ada") && !observed.contains("ticket-4711"), "{text}");
    }
    let stars = "*".repeat(SECRET.len());
    assert!(recording.contains(&format!("key={stars}")), "{recording}");
    for done in [live, replayed] {
        let report = done.json();
        let verdicts = run_of(&report)["verdicts"].as_array().unwrap();
        // The claims of one test contain a masked value, so their results are unknown.
        assert!(verdicts.iter().any(|verdict| verdict["outcome"] == "unknown"), "{report}");
        assert!(verdicts.iter().all(|verdict| verdict["outcome"] != "pass"), "{report}");
        assert_eq!(run_of(&report)["evidence"]["stderr"], format!("{stars}\n"));
    }
}

#[test]
fn where_nothing_can_be_recorded_the_run_says_so_and_goes_on() {
    let second = "  - {name: second, command: echo b, expect: {output: {contains: [b]}}}\n";
    let place = Place::with(&format!("{}{second}", suite("echo hello", "{output: {contains: [hello]}}")));
    place.write(".speclens", "a file is in the way");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("2 passed"), "{done:?}");
    assert_eq!(done.stderr.matches("cannot record").count(), 1, "{done:?}");
    let (code, report) = place.report(&[]);
    assert_eq!((code, &run_of(&report)["recording"]), (Some(0), &"none".into()));
}

#[test]
fn a_limit_on_the_size_of_files_is_reported_and_ends_nothing() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    let program = place.program(&["run"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$0\" run"]).arg(program.get_program()).current_dir(place.path());
    let done = Done::of(&limited.output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("cannot record") && done.stderr.contains("File too large"), "{done:?}");
}

/// The recording of the run before would pass in place of the failure.
#[test]
fn failed_run_that_cannot_be_recorded_leaves_no_older_recording() {
    for settings in ["{}\n", "recordings: {commit: true}\n"] {
        let place = Place::with(&suite("cat state", "{output: {notContains: [leak]}}"));
        place.write("speclens.yaml", settings);
        place.write("state", "fine");
        assert_eq!(place.run(&["run"]).code, Some(0));
        assert_eq!(place.run(&["run", "--recorded", "--strict"]).code, Some(0));
        place.write("state", "leak");
        let program = place.program(&["run"]);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -f 0; exec \"$0\" run"]).arg(program.get_program()).current_dir(place.path());
        let done = Done::of(&limited.output().unwrap());
        assert_eq!((done.code, done.stderr.matches("they are not kept").count()), (Some(1), 1), "{settings}: {done:?}");
        let recorded = place.run(&["run", "--recorded", "--strict"]);
        assert!(recorded.code == Some(1) && recorded.text().contains("no recording"), "{settings}: {recorded:?}");
    }
}

#[test]
fn recording_can_be_switched_off() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", "recordings: {enabled: false}\n");
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert!(!place.exists(".speclens"));
}

#[test]
fn output_beyond_the_limit_leaves_what_it_could_decide_open() {
    let place = Place::with(&suite(
        "head -c 1100000 /dev/zero | tr '\\0' y; echo needle",
        "{output: {contains: [yyy, needle], notContains: [zzz]}}",
    ));
    place.write("speclens.yaml", "limits: {output_mib: 1}\n");
    let (code, report) = place.report(&[]);
    assert_eq!((code, outcomes(run_of(&report))), (Some(3), vec!["pass", "unknown", "unknown"]));
    assert!(
        run_of(&report)["notes"][0].as_str().unwrap().contains("longer than 1 MiB"),
        "{}",
        run_of(&report)["notes"]
    );
}
