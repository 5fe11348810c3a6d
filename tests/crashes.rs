//! Runs that are killed while they work, and concurrent runs of one suite.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    processes::{assert_gone, send, state, wait_for, wait_until},
    support::Place,
};

/// Number of tests of [`many`] that end.
const SHORT: usize = 24;

/// Many short tests, some with outputs in separate files, and one that never ends. Each writes its process id and, when
/// it ends, a marker.
fn many() -> String {
    let test = |index: usize| {
        let output = if index.is_multiple_of(3) { "head -c 100000 /dev/zero | tr '\\0' x; " } else { "" };
        let command = format!("echo $$ > pid{index}; {output}echo test {index}; echo ended > done{index}");
        format!("  - {{name: t{index}, command: {command:?}, expect: {{output: {{contains: [test {index}]}}}}}}\n")
    };
    let short: String = (0..SHORT).map(test).collect();
    let endless = "  - {name: endless, command: 'echo $$ > endless; sleep 600', expect: {output: {maxLength: 9}}}\n";
    format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{concurrency: 4}}\ntests:\n{endless}{short}")
}

fn recordings(place: &Place) -> Vec<PathBuf> {
    let files = place.recordings().into_iter();
    files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn drafts(place: &Place) -> usize {
    let files = place.recordings().into_iter().chain(place.texts());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).count()
}

fn read(path: &PathBuf) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{} is not whole: {error}", path.display()))
}

#[test]
fn killed_run_keeps_every_result_that_it_had_recorded_and_half_of_none() {
    for seed in 0..12_usize {
        let place = Place::with(&many());
        let mut run = place.program(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&place, "endless");
        // After this many commands have ended, not yet recorded, or after this many recordings.
        let count = seed * 7 % SHORT + 1;
        let markers = || (0..SHORT).filter(|index| place.exists(&format!("done{index}"))).count();
        match seed % 2 {
            0 => wait_until("a command's end", || markers() >= count),
            _ => wait_until("a recording", || recordings(&place).len() >= count),
        }
        let finished = recordings(&place);
        run.kill().unwrap();
        run.wait().unwrap();

        let left = recordings(&place);
        assert!(finished.iter().all(|path| left.contains(path)), "seed {seed}");
        let names: Vec<String> = left.iter().map(|path| read(path)["case"].as_str().unwrap().to_owned()).collect();
        let (_, report) = place.report(&["--recorded"]);
        let cases = report["suites"][0]["cases"].as_array().unwrap();
        for case in cases {
            let name = case["name"].as_str().unwrap();
            let expected = if names.iter().any(|known| known == name) { "pass" } else { "unknown" };
            assert_eq!(case["status"], expected, "seed {seed}: {case}");
        }
        let pids = (0..SHORT).map(|index| format!("pid{index}")).chain(["endless".to_owned()]);
        for pid in pids.filter(|pid| place.exists(pid) && place.read(pid).ends_with('\n')) {
            assert_gone(&place, &[&pid]);
        }

        // As if it had been killed while writing.
        let draft = format!(".speclens/recordings/0123456789abcdef.0123456789ab.0.1.{}-9.tmp", run.id());
        place.write(&draft, "{\"speclens");
        let (code, report) = place.report(&["--test", "t1"]);
        assert_eq!(code, Some(0), "seed {seed}: {report}");
        assert_eq!(drafts(&place), 0, "seed {seed}");
    }
}

/// Starts a run of the tests of [`shared`], and waits until all of them are running.
fn begin(place: &Place, who: &str) -> Child {
    let mut program = place.program(&["run", "--report", "json"]);
    let run = program.env("WHO", who).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    (0..3).for_each(|index| wait_for(place, &format!("begun-{who}{index}")));
    run
}

/// Three tests that run at once; each writes who runs it and waits for the file `go`. The output of one is in a
/// separate file.
fn shared() -> String {
    let test = |index: usize| {
        let output = if index == 0 { "head -c 100000 /dev/zero | tr '\\0' x; " } else { "" };
        let command = format!(
            "echo $$ > begun-${{WHO}}{index}; until [ -e go ]; do sleep 0.01; done; {output}echo from $WHO; echo > done-${{WHO}}{index}"
        );
        format!("  - {{name: t{index}, command: {command:?}, expect: {{output: {{contains: [from]}}}}}}\n")
    };
    let tests: String = (0..3).map(test).collect();
    format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{concurrency: 3}}\ntests:\n{tests}")
}

fn end_of(mut run: Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = run.try_wait().unwrap() {
            return status.code();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "a run did not end");
        std::thread::yield_now();
    }
}

#[test]
fn of_two_runs_of_one_suite_the_later_one_counts_though_the_earlier_one_was_suspended_and_ends_later() {
    // The program alone, or together with its commands.
    for signal in ["STOP", "TSTP"] {
        let place = Place::with(&shared());
        let early = begin(&place, "a");
        send(signal, early.id());
        wait_until("the stop", || state(&early.id().to_string()) == "T");
        let late = begin(&place, "b");
        place.write("go", "");
        assert_eq!(end_of(late), Some(0), "{signal}");
        let check = |place: &Place| {
            let found: Vec<Value> = recordings(place).iter().map(read).collect();
            assert_eq!((found.len(), drafts(place)), (3, 0), "{signal}");
            let (code, report) = place.report(&["--recorded"]);
            assert_eq!(code, Some(0), "{signal}: {report}");
            for case in report["suites"][0]["cases"].as_array().unwrap() {
                let output = case["runs"][0]["evidence"]["stdout"].as_str().unwrap();
                assert!(output.ends_with("from b\n"), "{signal}: {}", &output[output.len().saturating_sub(20)..]);
            }
        };
        check(&place);
        send("CONT", early.id());
        assert_eq!(end_of(early), Some(0), "{signal}");
        assert!((0..3).all(|index| place.exists(&format!("done-a{index}"))));
        check(&place);
    }
}
