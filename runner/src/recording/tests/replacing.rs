//! Recordings that replace others.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use tempfile::TempDir;

use super::*;

fn path(recordings: &Recordings, case: &str) -> PathBuf {
    let Lookup::Fresh(file) = recordings.find(KEY, &label(case, 0)) else { panic!("nothing is recorded of {case}") };
    file.path
}

#[test]
fn a_recording_that_somebody_keeps_by_a_link_stays_as_it_is() {
    let directory = TempDir::new().unwrap();
    let recordings = open(&directory);
    let kept = directory.path().join("kept.json");
    write(&recordings, KEY, &label("a", 0), "kept");
    fs::hard_link(path(&recordings, "a"), &kept).unwrap();
    let content = fs::read_to_string(&kept).unwrap();
    for text in ["second", "third"] {
        write(&recordings, KEY, &label("a", 0), text);
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), content);
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("a", 0))).as_deref(), Some("third"));
}

#[test]
fn concurrent_reader_never_gets_recording_of_another_test() {
    const CASES: [&str; 2] = ["a", "b"];
    let directory = TempDir::new().unwrap();
    let (recordings, is_over) = (open(&directory), AtomicBool::new(false));
    let write_all = |round: usize| {
        for case in CASES {
            // Longer and shorter in turn, so that a mixture would not be valid JSON.
            write(&recordings, KEY, &label(case, 0), &case.repeat(if round.is_multiple_of(2) { 60_000 } else { 100 }));
        }
    };
    write_all(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            (1..400).for_each(write_all);
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            for case in CASES {
                match recordings.read(&path(&recordings, case), Dialect::KINDLM, &Arc::new(Secrets::none())) {
                    Ok(recording) => assert_eq!(recording.case, case),
                    Err(error) => assert_eq!(error, Unusable::Missing),
                }
            }
        }
    });
}

#[test]
fn content_of_another_name_is_damaged() {
    let directory = TempDir::new().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "of a");
    write(&recordings, KEY, &label("b", 0), "of b");
    // The power failed after the file was renamed, and before its new content was written.
    fs::copy(path(&recordings, "b"), path(&recordings, "a")).unwrap();
    let read = recordings.read(&path(&recordings, "a"), Dialect::KINDLM, &Arc::new(Secrets::none()));
    assert_eq!(read, Err(Unusable::Damaged));
}
