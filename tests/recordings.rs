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
