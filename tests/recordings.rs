//! Recordings on disk: how they are stored, listed, shown and removed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant, SystemTime},
};

use serde_json::Value;

use crate::support::{Place, attempt, suite};

/// A command whose output is too long to be inside a recording.
const LONG: &str = "head -c 200000 /dev/zero | tr '\\0' y; echo needle";

fn make_old(path: &Path) {
    fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

#[test]
fn long_output_is_beside_its_recording_and_is_judged_again() {
    let place = Place::with(&suite(LONG, "{output: {contains: [needle]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert!(fs::metadata(&place.recordings()[0]).unwrap().len() < 4096);
    let texts = place.texts();
    assert_eq!((texts.len(), fs::metadata(&texts[0]).unwrap().len()), (1, 200_007));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    place.write("kindlm.yaml", suite(LONG, "{output: {notContains: [needle]}}"));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(1));
    // The text is not the one that was recorded.
    for (damage, message) in [
        (Some("needle"), "part of the recording was changed; run the test again"),
        (None, "part of the recording is missing; run the test again"),
    ] {
        match damage {
            Some(text) => fs::write(&texts[0], text).unwrap(),
            None => fs::remove_file(&texts[0]).unwrap(),
        }
        let (code, report) = place.report(&["--recorded"]);
        assert_eq!(code, Some(3));
        let error = &report["suites"][0]["cases"][0]["runs"][0]["error"];
        assert_eq!((&error["kind"], &error["message"]), (&"no-recording".into(), &message.into()));
    }
    assert_eq!(place.run(&["run"]).code, Some(1));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(1));
}

#[test]
fn text_that_no_recording_refers_to_is_removed_after_the_run() {
    let place = Place::with(&suite(LONG, "{output: {contains: [needle]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let former = place.texts()[0].clone();
    make_old(&former);
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    assert!(former.exists());
    place.write("kindlm.yaml", suite(&format!("{LONG}; echo more"), "{output: {contains: [needle]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert!(!former.exists());
    assert_eq!(place.texts().len(), 1);
}

#[test]
fn lock_of_another_process_delays_no_run_for_long() {
    let place = Place::with(&suite(LONG, "{output: {contains: [needle]}}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    make_old(&place.texts()[0]);
    place.write("kindlm.yaml", suite(&format!("{LONG}; echo more"), "{output: {contains: [needle]}}"));
    let lock = fs::File::options().write(true).open(place.path().join(".speclens/lock")).unwrap();
    lock.try_lock().unwrap();
    let begun = Instant::now();
    let done = place.run(&["run"]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{done:?}");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.stderr.matches("another process").count(), 1, "{done:?}");
    assert_eq!(place.texts().len(), 2);
    lock.unlock().unwrap();
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
}

/// Returns a suite of tests that each print their own name.
fn suite_of(tests: &[(&str, &str)]) -> String {
    let tests: String = tests
        .iter()
        .map(|(name, command)| {
            format!("  - {{name: {name}, command: {command:?}, expect: {{output: {{maxLength: 9999999}}}}}}\n")
        })
        .collect();
    format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{concurrency: 1}}\ntests:\n{tests}")
}

fn recorded_cases(place: &Place) -> Vec<String> {
    let case = |path: &PathBuf| {
        let recording: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        recording["case"].as_str().unwrap().to_owned()
    };
    let mut cases: Vec<String> = place.recordings().iter().map(case).collect();
    cases.sort();
    cases
}

/// Makes a recording look old.
fn age(place: &Place, case: &str) {
    let path = file_of(place, case);
    let name = path.file_name().unwrap().to_str().unwrap();
    let mut parts: Vec<&str> = name.split('.').collect();
    parts[3] = "0000000000000001";
    fs::rename(&path, path.with_file_name(parts.join("."))).unwrap();
}

#[test]
fn too_many_recordings_leave_after_a_run_those_of_former_tests_first() {
    let place = Place::with(&suite_of(&[("a", "echo a"), ("b", "echo b"), ("c", "echo c")]));
    place.write("speclens.yaml", "recordings: {max_count: 1}\n");
    let done = place.run(&["run"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert_eq!(recorded_cases(&place), ["a", "b", "c"], "those of the last run stay");
    place.write("speclens.yaml", "recordings: {max_count: 3}\n");
    place.write("kindlm.yaml", suite_of(&[("a", "echo a"), ("b", "echo b"), ("d", "echo d")]));
    let done = place.run(&["run", "--test", "d"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert!(!done.stdout.contains("remove"), "{done:?}");
    assert_eq!(recorded_cases(&place), ["a", "b", "d"]);
    place.write("kindlm.yaml", suite_of(&[("a", "echo a"), ("b", "echo b"), ("d", "echo d"), ("e", "echo e")]));
    assert_eq!(place.run(&["run", "--test", "e"]).code, Some(0));
    assert_eq!(recorded_cases(&place), ["b", "d", "e"], "then the oldest");
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(3));
    assert_eq!(recorded_cases(&place), ["b", "d", "e"]);
}

#[test]
fn old_and_large_recordings_leave_after_a_run() {
    let long = |letter: &str| format!("head -c 600000 /dev/zero | tr '\\0' {letter}");
    let place = Place::with(&suite_of(&[("a", "echo a"), ("b", &long("b")), ("c", &long("c"))]));
    place.write("speclens.yaml", "recordings: {max_age_days: 30, max_mib: 1}\n");
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!((recorded_cases(&place).len(), place.texts().len()), (3, 2));
    place.texts().iter().for_each(|text| make_old(text));
    assert_eq!(place.run(&["run", "--test", "a"]).code, Some(0));
    assert_eq!(recorded_cases(&place), ["a", "c"], "two outputs are more than a mebibyte");
    assert_eq!(place.texts().len(), 1);
    age(&place, "c");
    assert_eq!(place.run(&["run", "--test", "a"]).code, Some(0));
    assert_eq!((recorded_cases(&place), place.texts().len()), (vec!["a".to_owned()], 0));
}

/// Returns the recordings in JSON, by test.
fn states(place: &Place, paths: &[&str]) -> Vec<(String, String)> {
    let done = place.run(&[&["recordings", "list", "--format", "json"], paths].concat());
    assert_eq!(done.code, Some(0), "{done:?}");
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let list = done.json()["recordings"].as_array().unwrap().clone();
    let mut states: Vec<_> = list.iter().map(|it| (word(&it["test"]), word(&it["state"]))).collect();
    states.sort();
    states
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(test, state)| ((*test).to_owned(), (*state).to_owned())).collect()
}

fn file_of(place: &Place, case: &str) -> PathBuf {
    let is_of = |path: &&PathBuf| fs::read_to_string(path).unwrap().contains(&format!("\"case\":{case:?}"));
    place.recordings().iter().find(is_of).unwrap().clone()
}

#[test]
fn list_says_what_each_recording_is_good_for() {
    let tests =
        [("damaged", "echo d"), ("fresh", "echo f"), ("gone", "echo g"), ("newer", "echo n"), ("stale", "echo s")];
    let place = Place::with(&suite_of(&tests));
    let empty = place.run(&["recordings", "list"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), "no recordings\n"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    fs::write(file_of(&place, "damaged"), "{").unwrap();
    let newer = file_of(&place, "newer");
    let text = fs::read_to_string(&newer).unwrap();
    fs::write(&newer, text.replace("\"speclens_recording\":4", "\"speclens_recording\":9")).unwrap();
    place.write("kindlm.yaml", suite_of(&[&tests[..2], &[("newer", "echo n"), ("stale", "echo other")]].concat()));
    let expected =
        [("damaged", "damaged"), ("fresh", "fresh"), ("gone", "gone"), ("newer", "other-version"), ("stale", "stale")];
    assert_eq!(states(&place, &[]), pairs(&expected));
    let done = place.run(&["recordings", "list", "kindlm.yaml"]);
    for line in [
        "kindlm.yaml\n",
        "  damaged: damaged, just now, 1 byte\n",
        "  fresh (command): fresh, just now, ",
        "  gone (command): of a deleted test, just now, ",
        "  newer: from another version, just now, ",
        "  stale (command): stale, just now, ",
        ": 1 fresh, 1 stale, 1 of a deleted test, 1 damaged, 1 from another version\n",
    ] {
        assert!(done.stdout.contains(line), "{line}: {done:?}");
    }
    let done = place.run(&["recordings", "prune", "--stale"]);
    assert!(done.stdout.starts_with("removed 4 recordings, "), "{done:?}");
    assert_eq!(recorded_cases(&place), ["fresh"]);
}

#[test]
fn recording_of_a_renamed_test_is_fresh_and_stays() {
    let place = Place::with(&suite_of(&[("former", "echo a")]));
    assert_eq!(place.run(&["run"]).code, Some(0));
    place.write("kindlm.yaml", suite_of(&[("latter", "echo a")]));
    let done = place.run(&["recordings", "list"]);
    assert!(done.stdout.contains("  latter (command): fresh, recorded as former, just now"), "{done:?}");
    let done = place.run(&["recordings", "prune", "--stale"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "nothing to remove\n"));
    for test in ["latter", "former"] {
        let done = place.run(&["recordings", "show", test]);
        assert!(done.stdout.starts_with("latter (command) in kindlm.yaml: fresh\n  recorded as: former\n"), "{done:?}");
    }
}

#[test]
fn recordings_of_tests_that_errors_may_hide_are_not_stale() {
    let place = Place::with(&suite_of(&[("a", "echo a"), ("b", "echo b")]));
    assert_eq!(place.run(&["run"]).code, Some(0));
    place.write("kindlm.yaml", suite_of(&[("a", "echo a")]) + "  - {name: b, comm\n");
    assert_eq!(states(&place, &[]), pairs(&[("a", "fresh"), ("b", "unknown")]));
    assert_eq!(place.run(&["recordings", "prune", "--stale"]).stdout, "nothing to remove\n");
    assert_eq!(recorded_cases(&place), ["a", "b"]);
}

#[test]
fn recordings_of_a_suite_that_is_gone_are_found_from_its_directory() {
    let place = Place::with(&suite_of(&[("a", "echo a")]));
    place.write("other/kindlm.yaml", suite_of(&[("b", "echo b")]));
    assert_eq!(place.run(&["run"]).code, Some(0));
    fs::remove_file(place.path().join("kindlm.yaml")).unwrap();
    assert_eq!(states(&place, &["."]), pairs(&[("a", "gone"), ("b", "fresh")]));
    assert_eq!(states(&place, &["other"]), pairs(&[("b", "fresh")]));
    fs::remove_file(place.path().join("other/kindlm.yaml")).unwrap();
    assert_eq!(states(&place, &["other"]), pairs(&[("b", "gone")]));
    let done = place.run(&["recordings", "prune", "--all", "other"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert!(done.stdout.starts_with("removed 1 recording, "), "{done:?}");
    assert_eq!(states(&place, &["."]), pairs(&[("a", "gone")]));
}

#[test]
fn input_that_cannot_be_read_is_an_error_and_hides_nothing() {
    let place = Place::with(&suite_of(&[("a", "echo a")]));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let done = place.run(&["recordings", "list", "kindlm.yaml", "missing.yaml"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stdout.contains("a (command): fresh") && done.stderr.contains("missing.yaml` does not exist"),
        "{done:?}"
    );
    let done = place.run(&["recordings", "list", "--format", "json", "missing.yaml"]);
    assert_eq!((done.code, done.json()["failures"].as_array().unwrap().len()), (Some(2), 1));
    let done = place.run(&["recordings", "list", "missing.yaml"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{done:?}");
    assert!(done.stderr.contains("missing.yaml"), "{done:?}");
    let done = place.run(&["recordings", "list", "elsewhere"]);
    assert_eq!(done.code, Some(2));
}

#[test]
fn show_prints_what_was_recorded_without_secrets_and_control_characters() {
    let place =
        Place::with(&suite_of(&[("talks", "printf 'tok-123 \\033[2Jred\\n\\tnext\\n'; echo oops >&2; exit 3")]));
    assert_eq!(place.run(&["run", "--repeat", "2"]).code, Some(0));
    // Text that has become a secret since.
    place.write("speclens.yaml", "recordings: {redact_patterns: ['tok-\\d+']}\n");
    let done = place.run(&["recordings", "show", "talks", "--path", "kindlm.yaml"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    assert!(!done.stdout.contains("tok-123") && !done.stdout.contains('\u{1b}'), "{done:?}");
    for line in [
        "talks (command) in kindlm.yaml: fresh\n",
        "talks (command, attempt 2) in kindlm.yaml: fresh\n",
        "  command: printf '*******",
        "  exit: ended with exit code 3, after ",
        "  standard output, 22 bytes:\n    ******* \u{fffd}[2Jred\n     next\n",
        "  standard error, 5 bytes:\n    oops\n",
    ] {
        assert!(done.stdout.contains(line), "{line}: {done:?}");
    }
    let done = place.run(&["recordings", "show", "talks", "--format", "json"]);
    assert!(!done.stdout.contains("tok-123"), "{done:?}");
    let shown = done.json()["recordings"][0].clone();
    assert_eq!(
        (&shown["test"], &shown["state"], &shown["subject"]["name"]),
        (&"talks".into(), &"fresh".into(), &"command".into())
    );
    assert_eq!(
        (&shown["recorded"]["evidence"]["exit_code"], &shown["recorded"]["evidence"]["stderr"]),
        (&3.into(), &"oops\n".into())
    );
    place.write("kindlm.yaml", suite_of(&[("talks", "echo now")]));
    let done = place.run(&["recordings", "show", "talks"]);
    assert!(done.stdout.contains("stale: the command has changed since the test was recorded"), "{done:?}");
    let done = place.run(&["recordings", "show", "talk"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no recording of the test `talk`; did you mean `talks`?"), "{done:?}");
}

#[test]
fn prune_removes_what_its_options_choose_and_says_how_much() {
    let tests = [("a", "echo a"), ("b", LONG), ("c", "echo c")];
    let place = Place::with(&suite_of(&tests));
    assert_eq!(place.run(&["run"]).code, Some(0));
    make_old(&place.texts()[0]);
    age(&place, "a");
    let prune = |options: &[&str]| {
        let done = place.run(&[&["recordings", "prune"], options].concat());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
        done.stdout
    };
    let text = prune(&["--dry-run", "--all"]);
    assert!(text.starts_with("kindlm.yaml\n  a (command): fresh, "), "{text}");
    assert!(text.contains("would remove 3 recordings and 1 stored output, 19"), "{text}");
    assert_eq!((place.recordings().len(), place.texts().len()), (3, 1));
    assert_eq!(prune(&["--stale", "--older-than", "1"]), "nothing to remove\n", "it is old, and fresh");
    assert!(prune(&["--older-than", "36500", "--dry-run"]).starts_with("nothing"));
    assert!(prune(&[]).starts_with("removed 1 recording, "), "it is older than 90 days");
    assert_eq!(recorded_cases(&place), ["b", "c"]);
    place.write("speclens.yaml", "recordings: {max_count: 1}\n");
    assert!(prune(&[]).starts_with("removed 1 recording and 1 stored output, 19"));
    assert_eq!((recorded_cases(&place), place.texts().len()), (vec!["c".to_owned()], 0));
    assert!(prune(&["--all", "kindlm.yaml"]).starts_with("removed 1 recording, "));
    assert_eq!(prune(&["--all"]), "nothing to remove\n");
    assert_eq!(place.run(&["recordings", "prune", "--all", "--stale"]).code, Some(2));
}

#[test]
fn recordings_of_removed_suites_are_found_below_the_directory() {
    for directory in ["b", "b/c"] {
        let place = Place::with(&suite("echo one", "{output: {contains: [one]}}"));
        place.write(&format!("{directory}/kindlm.yaml"), suite("echo two", "{output: {contains: [two]}}"));
        assert_eq!(place.run(&["run"]).code, Some(0));
        fs::remove_file(place.path().join(directory).join("kindlm.yaml")).unwrap();
        let listed = place.run(&["recordings", "list"]);
        assert!(listed.stdout.contains("1 fresh, 1 of a deleted test"), "{listed:?}");
        let done = place.run(&["recordings", "prune", "--stale"]);
        assert!(done.stdout.contains("removed 1 recording, "), "{done:?}");
        assert_eq!(place.recordings().len(), 1);
    }
}

const COMMITTED: &str = "recordings: {commit: true}\n";

/// Returns the committed recordings here, each with its name.
fn committed(place: &Place) -> Vec<(String, String)> {
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    place.recordings().iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn committed_recordings_are_readable_and_stay_as_they_are_if_a_run_observes_the_same() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", COMMITTED);
    assert_eq!(place.run(&["run", "--repeat", "2"]).code, Some(0));
    let first = committed(&place);
    let times: Vec<_> = place.recordings().iter().map(|path| path.metadata().unwrap().modified().unwrap()).collect();
    assert!(
        matches!(&first[..], [one, two] if one.0.starts_with("only.") && one.0.ends_with(".0.json")
        && two.0.ends_with(".1.json")),
        "{first:?}"
    );
    let value: Value = serde_json::from_str(&first[0].1).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert!(keys.is_sorted() && value["case"] == "only", "{value}");
    assert!(
        first[0].1.lines().count() > 10 && first[0].1.ends_with("}\n") && first[0].1.len() < 2048,
        "{}",
        first[0].1
    );
    for absent in ["duration_ms\": ", "began", "recorded\"", "machine", "run_id\": \"1"] {
        assert!(!first[0].1.replace("\"duration_ms\": null", "").contains(absent), "{absent}: {}", first[0].1);
    }
    assert_eq!(place.run(&["run", "--repeat", "2"]).code, Some(0));
    assert_eq!(committed(&place), first);
    let again: Vec<_> = place.recordings().iter().map(|path| path.metadata().unwrap().modified().unwrap()).collect();
    assert_eq!(again, times);
    // A report of the run itself has what the recording leaves out.
    let (_, report) = place.report(&[]);
    assert!(attempt(&report, 0)["duration_ms"].is_number(), "{report}");
    // A changed test keeps the name of its recording.
    place.write("kindlm.yaml", suite("echo hello there", "{output: {contains: [hello]}}"));
    let done = place.run(&["run", "--recorded", "--strict"]);
    assert!(done.code == Some(1) && done.stdout.contains("stale: the command has changed"), "{done:?}");
    assert_eq!(place.run(&["run", "--repeat", "2"]).code, Some(0));
    let second = committed(&place);
    assert_eq!(second.iter().map(|one| &one.0).collect::<Vec<_>>(), first.iter().map(|one| &one.0).collect::<Vec<_>>());
    assert_ne!(second, first);
    assert_eq!(place.run(&["run", "--recorded", "--strict", "--repeat", "2"]).code, Some(0));
}

#[test]
fn committed_recordings_keep_the_durations_that_assertions_and_gates_need() {
    for (expect, gates, is_kept) in [
        ("{output: {contains: [hello]}}", "", false),
        ("{output: {contains: [hello]}, latency: {maxMs: 60000}}", "", true),
        ("{output: {contains: [hello]}}", "gates: {latencyMaxMs: 60000}\n", true),
    ] {
        let place = Place::with(&(suite("echo hello", expect) + gates));
        place.write("speclens.yaml", COMMITTED);
        let done = place.run(&["run"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let (_, report) = place.report(&["--recorded", "--strict"]);
        assert_eq!(attempt(&report, 0)["duration_ms"].is_number(), is_kept, "{expect} {gates}: {report}");
        assert_eq!(place.run(&["run", "--recorded", "--strict"]).code, Some(0));
    }
}

#[test]
fn git_sees_committed_recordings_and_no_other_file_of_speclens() {
    let git = |place: &Place, arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(place.path()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let large = "seq 1 20000";
    let place = Place::with(&suite(large, "{output: {contains: [\"19999\"]}}"));
    git(&place, &["init", "--quiet"]);
    let seen = |place: &Place| git(place, &["ls-files", "--others", "--exclude-standard", ".speclens"]);
    // Recordings that were made before are not committed.
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(seen(&place), "");
    place.write("speclens.yaml", COMMITTED);
    place.write("kindlm.yaml", suite(large, "{output: {contains: [\"19999\"]}}").replace("only", "Zählt bis 20.000!"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let files = seen(&place);
    let files: Vec<&str> = files.lines().collect();
    assert!(
        matches!(&files[..], [ignore, text, recording] if *ignore == ".speclens/.gitignore"
        && recording.starts_with(".speclens/recordings/z-hlt-bis-20-000.")
        && text.starts_with(".speclens/recordings/texts/")),
        "{files:?}"
    );
    // A clone judges them, and calls nothing foreign.
    git(&place, &["add", "."]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a"]);
    let clone = Place::empty();
    git(&clone, &["clone", "--quiet", &place.path().to_string_lossy(), "."]);
    let (code, report) = clone.report(&["--recorded", "--strict"]);
    assert_eq!((code, &attempt(&report, 0)["recording"]), (Some(0), &"replayed".into()), "{report}");
    // An edited ignore file stays.
    place.write(".speclens/.gitignore", "mine\n");
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.read(".speclens/.gitignore"), "mine\n");
}

#[test]
fn both_kinds_of_recordings_are_judged_and_those_that_are_committed_count() {
    let hello = suite("cat word", "{output: {contains: [hello]}}");
    let place = Place::with(&hello.replace("    expect", "    repeat: 2\n    expect"));
    place.write("word", "hello");
    assert_eq!(place.run(&["run"]).code, Some(0));
    let own: Vec<_> = place.recordings();
    place.write("speclens.yaml", COMMITTED);
    assert_eq!(place.run(&["run", "--recorded", "--strict"]).code, Some(0));
    let kept: Vec<_> = own.iter().map(|path| (path, fs::read(path).unwrap())).collect();
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert!(own.iter().all(|path| !path.exists()), "{own:?}");
    // A damaged one, such as in a conflict, is not hidden by one of this machine.
    kept.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    let path = place.recordings().into_iter().find(|path| path.to_string_lossy().contains("/only.")).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for (damaged, message) in [
        (format!("<<<<<<< ours\n{text}"), "the recording is damaged"),
        (text[..text.len() / 2].to_owned(), "the recording is damaged"),
        (text.replace("\"speclens_recording\": 4", "\"speclens_recording\": 5"), "another version of speclens"),
    ] {
        fs::write(&path, damaged).unwrap();
        let done = place.run(&["run", "--recorded", "--strict"]);
        assert!(done.code == Some(1) && done.stdout.contains(message), "{message}: {done:?}");
    }
    // A run repairs it.
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn limits_do_not_apply_to_committed_recordings_but_stale_ones_can_be_removed() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    place.write("speclens.yaml", "recordings: {commit: true, max_count: 1, max_age_days: 1}\n");
    for name in ["one", "two", "three"] {
        place.write("kindlm.yaml", suite("echo hello", "{output: {contains: [hello]}}").replace("only", name));
        assert_eq!(place.run(&["run"]).code, Some(0));
    }
    place.recordings().iter().for_each(|path| make_old(path));
    assert_eq!(place.run(&["recordings", "prune"]).code, Some(0));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.recordings().len(), 3);
    assert_eq!(place.run(&["recordings", "prune", "--stale"]).code, Some(0));
    assert!(matches!(&committed(&place)[..], [one] if one.0.starts_with("three.")), "{:?}", committed(&place));
}

#[test]
fn committed_recordings_are_masked() {
    let place = Place::with(&suite("echo $API_KEY", "{output: {contains: [x]}}"));
    place.write("speclens.yaml", COMMITTED);
    place.run_with(&[("API_KEY", "hunter22hunter22")], &["run"]);
    let all = committed(&place);
    assert!(all.len() == 1 && !all[0].1.contains("hunter22") && all[0].1.contains('*'), "{all:?}");
}
