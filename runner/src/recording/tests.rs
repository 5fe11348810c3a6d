//! Recordings in real directories.

use std::fs;

use speclens_schema::{
    dialect::Dialect,
    evidence::{Capture, Evidence},
    mask::Secrets,
};
use tempfile::TempDir;

use super::{Found, Label, Recordings};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

fn label(case: &str, repeat: u32) -> Label {
    Label { case: case.to_owned(), subject: "command".to_owned(), repeat }
}

fn evidence(text: &str) -> Evidence {
    let stdout = Some(Capture::whole(text.to_owned()));
    Evidence { stdout, duration_ms: Some(1.5), ..Evidence::default() }
}

fn write(recordings: &Recordings, key: &str, label: &Label, text: &str) {
    let now = "2026-05-14T12:00:00Z".to_owned();
    recordings.write(&recordings.recording(key.to_owned(), label, now, evidence(text), Vec::new())).unwrap();
}

fn files(directory: &TempDir) -> usize {
    fs::read_dir(directory.path().join(".speclens/recordings")).unwrap().count()
}

fn text(recordings: &Recordings, found: &Found) -> Option<String> {
    let (Found::Fresh(path) | Found::Stale(path)) = found else { return None };
    let recording = recordings.read(path, Dialect::KindLm, &Secrets::none())?;
    assert!(recording.evidence.output.is_some(), "the protocol is read again");
    Some(recording.evidence.stdout.unwrap().text)
}

#[test]
fn what_was_written_is_found_again_also_by_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    assert_eq!(recordings.find(KEY, &label("a", 0)), Found::None);
    write(&recordings, KEY, &label("a", 0), "first");
    write(&recordings, KEY, &label("a", 1), "second");
    for recordings in [recordings, Recordings::open(directory.path(), "kindlm.yaml")] {
        for (repeat, expected) in [(0, "first"), (1, "second")] {
            let found = recordings.find(KEY, &label("a", repeat));
            assert!(matches!(found, Found::Fresh(_)));
            assert_eq!(text(&recordings, &found).unwrap(), expected);
        }
        assert_eq!(recordings.find(KEY, &label("a", 2)), Found::None);
    }
    assert_eq!(fs::read_to_string(directory.path().join(".speclens/.gitignore")).unwrap(), "*\n");
}

#[test]
fn another_action_is_stale_and_replaces_what_was_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    write(&recordings, KEY, &label("a", 0), "old");
    let found = recordings.find(OTHER, &label("a", 0));
    assert!(matches!(found, Found::Stale(_)));
    assert_eq!(text(&recordings, &found).unwrap(), "old");
    write(&recordings, OTHER, &label("a", 0), "new");
    assert_eq!(files(&directory), 1);
    assert_eq!(text(&recordings, &recordings.find(OTHER, &label("a", 0))).unwrap(), "new");
    assert!(matches!(recordings.find(KEY, &label("a", 0)), Found::Stale(_)));
}

#[test]
fn a_renamed_test_keeps_its_recording_and_equal_actions_do_not_overwrite_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    write(&recordings, KEY, &label("a", 0), "of a");
    write(&recordings, KEY, &label("b", 0), "of b");
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("a", 0))).unwrap(), "of a");
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("b", 0))).unwrap(), "of b");
    assert!(matches!(recordings.find(KEY, &label("renamed", 0)), Found::Fresh(_)));
    assert_eq!(recordings.find(OTHER, &label("renamed", 0)), Found::None);
    // Another suite in the same directory has labels of its own.
    let neighbour = Recordings::open(directory.path(), "kindlm.yml");
    assert_eq!(neighbour.find(OTHER, &label("a", 0)), Found::None);
}

#[test]
fn what_cannot_be_read_counts_as_none() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    write(&recordings, KEY, &label("a", 0), "text");
    let Found::Fresh(path) = recordings.find(KEY, &label("a", 0)) else { panic!("it was written") };
    let good = fs::read_to_string(&path).unwrap();
    assert!(recordings.read(&path, Dialect::KindLm, &Secrets::none()).is_some());
    let newer = good.replace("\"speclens_recording\":2", "\"speclens_recording\":3");
    assert_ne!(newer, good);
    for bad in [newer.as_str(), &good[..good.len() / 2], "", "[]", "\u{0}"] {
        fs::write(&path, bad).unwrap();
        assert_eq!(recordings.read(&path, Dialect::KindLm, &Secrets::none()), None, "{bad:?}");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(recordings.read(&path, Dialect::KindLm, &Secrets::none()), None);
    fs::create_dir(&path).unwrap();
    assert_eq!(recordings.read(&path, Dialect::KindLm, &Secrets::none()), None);
}

#[test]
fn a_directory_that_disappears_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    write(&recordings, KEY, &label("a", 0), "text");
    fs::remove_dir_all(directory.path().join(".speclens")).unwrap();
    write(&recordings, KEY, &label("a", 0), "again");
    assert_eq!(files(&directory), 1);
}

#[test]
fn where_nothing_can_be_written_the_error_says_so_and_no_draft_remains() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(".speclens"), "a file stands in the way").unwrap();
    let recordings = Recordings::open(directory.path(), "kindlm.yaml");
    let recording = recordings.recording(KEY.to_owned(), &label("a", 0), String::new(), evidence("x"), Vec::new());
    assert!(recordings.write(&recording).is_err());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
