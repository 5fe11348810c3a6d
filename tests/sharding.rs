//! Runs in several parts, whose recordings are merged to those of one run.

use std::fs;

use serde_json::{Value, json};

use crate::support::Place;

/// A suite of tests, some of which fail; one writes a text that is stored separately.
fn suite(count: usize) -> String {
    let test = |number: usize| {
        let word = if number % 5 == 3 { "bye" } else { "hello" };
        let command = if number == 2 { "seq 1 20000; echo hello" } else { "echo hello" };
        format!(
            "  - name: t{number}\n    command: {command} {number}\n    expect: {{output: {{contains: [{word}]}}}}\n"
        )
    };
    let tests: String = (0..count).map(test).collect();
    format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ngates: {{passRateMin: 0.5}}\ntests:\n{tests}")
}

/// Returns a report without what differs in each run: times, and the machine that recorded.
fn without_times(mut report: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| !(key.contains("duration") || key == "seconds" || key.ends_with("_ms")));
                members.retain(|key, _| !["recorded", "recording", "notes"].contains(&key.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    strip(&mut report);
    report
}

#[test]
fn merged_shards_have_the_report_of_one_run() {
    for commits in [false, true] {
        let whole = Place::empty();
        let write = |place: &Place| {
            for (directory, count) in [("one", 23), ("deep/two", 9)] {
                place.write(&format!("{directory}/kindlm.yaml"), suite(count));
            }
            if commits {
                place.write("speclens.yaml", "recordings: {commit: true}\n");
            }
        };
        write(&whole);
        whole.run(&["run"]);
        let (code, expected) = whole.report(&["--recorded", "--strict"]);

        let place = Place::empty();
        write(&place);
        let shards: Vec<Place> = (0..4).map(|_| Place::empty()).collect();
        for (shard, number) in shards.iter().zip(1..) {
            write(shard);
            let done = shard.run(&["run", "--shard", &format!("{number}/4")]);
            assert!(done.stderr.contains(&format!("shard {number}/4: 8 of 32 tests")), "{done:?}");
        }
        let mut arguments = vec!["merge"];
        arguments.extend(shards.iter().map(|shard| shard.path().to_str().unwrap()));
        let done = place.run(&arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.stdout.starts_with("copied 32 recordings; evaluate them"), "{done:?}");
        let (merged_code, merged) = place.report(&["--recorded", "--strict"]);
        let [merged, expected] = [merged, expected].map(without_times);
        assert_eq!((merged_code, merged), (code, expected));
        let again = place.run(&arguments);
        assert!(again.stdout.starts_with("copied 0 recordings; 32 unchanged"), "{again:?}");
    }
}

#[test]
fn shard_without_tests_passes_and_says_so() {
    let place = Place::with(&suite(2));
    for number in ["1/3", "2/3"] {
        assert_eq!(place.run(&["run", "--shard", number]).code, Some(0));
    }
    let (code, report) = place.report(&["--shard", "3/3"]);
    assert_eq!((code, &report["suites"]), (Some(0), &json!([])));
    let done = place.run(&["run", "--shard", "3/3"]);
    assert!(done.code == Some(0) && done.stderr.contains("shard 3/3: 0 of 2 tests"), "{done:?}");
}

#[test]
fn systems_that_start_several_copies_number_the_shards() {
    let place = Place::with(&suite(4));
    let status = place.path().join("status");
    let bazel =
        [("TEST_SHARD_INDEX", "1"), ("TEST_TOTAL_SHARDS", "2"), ("TEST_SHARD_STATUS_FILE", status.to_str().unwrap())];
    let done = place.run_with(&bazel, &["run", "--shard", "auto"]);
    assert!(done.stderr.contains("shard 2/2: 2 of 4 tests") && status.exists(), "{done:?}");
    let done = place.run(&["run", "--shard", "auto"]);
    assert!(done.code == Some(2) && done.stderr.contains("write `--shard 1/4` otherwise"), "{done:?}");
    let done = place.run(&["run", "--shard", "3/2"]);
    assert!(done.code == Some(2) && done.stderr.contains("there is no shard 3 of 2"), "{done:?}");
}

#[test]
fn long_tests_of_earlier_runs_are_divided_first() {
    let slow = "sleep 0.3; echo hello";
    let test = |number: usize| {
        let command = if number < 2 { slow } else { "echo hello" };
        format!("  - name: t{number}\n    command: {command}\n    expect: {{output: {{contains: [hello]}}}}\n")
    };
    let tests: String = (0..6).map(test).collect();
    let place = Place::with(&format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{tests}"));
    place.run(&["run"]);
    let slow_in = |shard: &str| {
        let done = place.run(&["run", "--shard", shard]);
        (0..2).filter(|number| done.stdout.contains(&format!("t{number}"))).count()
    };
    assert_eq!([slow_in("1/2"), slow_in("2/2")], [1, 1]);
}

#[test]
fn damaged_and_contradicting_recordings_are_not_merged() {
    let place = Place::empty();
    place.write("speclens.yaml", "recordings: {commit: true}\n");
    for name in ["here", "a", "b", "damaged"] {
        place.write(&format!("{name}/speclens.yaml"), "recordings: {commit: true}\n");
        place.write(&format!("{name}/kindlm.yaml"), suite(1).replace("echo hello 0", "cat input; echo hello"));
        place.write(&format!("{name}/input"), name);
        if name != "here" {
            place.run_in(name, &["run"]);
        }
    }
    let recording = |name: &str| {
        let directory = place.path().join(name).join(".speclens/recordings");
        let mut files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap()
    };
    fs::write(recording("damaged"), "{").unwrap();
    let done = place.run(&["merge", "a", "b", "--into", "here"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("another directory has a different recording of the same attempt"), "{done:?}");
    assert_eq!(fs::read(recording("here")).unwrap(), fs::read(recording("a")).unwrap());
    let done = place.run(&["merge", "damaged", "--into", "here"]);
    assert!(done.code == Some(2) && done.stderr.contains("is damaged"), "{done:?}");
    assert_eq!(fs::read(recording("here")).unwrap(), fs::read(recording("a")).unwrap());

    let done = place.run(&["merge", "a", "--into", "nowhere"]);
    assert!(done.code == Some(2) && done.stderr.contains("`nowhere/` does not exist"), "{done:?}");
    for (from, words) in [("gone", "`gone` is not a directory"), ("empty", "`empty` has no recordings")] {
        fs::create_dir_all(place.path().join("empty")).unwrap();
        let done = place.run(&["merge", from]);
        assert!(done.code == Some(2) && done.stderr.contains(words), "{done:?}");
    }
}
