//! Recordings on the disk: how they are kept, listed, shown and removed.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use crate::support::{Place, suite};

/// A command whose output is longer than what is kept in a recording.
const LONG: &str = "head -c 200000 /dev/zero | tr '\\0' y; echo needle";

fn make_old(path: &Path) {
    fs::File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

#[test]
fn long_output_lies_beside_its_recording_and_is_judged_again() {
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
        (Some("needle"), "a text that belongs to the recording was changed: run it again"),
        (None, "a text that belongs to the recording is missing: run it again"),
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
fn lock_of_another_process_holds_up_no_run_for_long() {
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

/// A suite of tests that each write their own name.
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
    let case = |path: &std::path::PathBuf| {
        let recording: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        recording["case"].as_str().unwrap().to_owned()
    };
    let mut cases: Vec<String> = place.recordings().iter().map(case).collect();
    cases.sort();
    cases
}

/// Lets a recording be of long ago.
fn age(place: &Place, case: &str) {
    let is_of = |path: &&std::path::PathBuf| fs::read_to_string(path).unwrap().contains(&format!("\"case\":{case:?}"));
    let path = place.recordings().iter().find(is_of).unwrap().clone();
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
