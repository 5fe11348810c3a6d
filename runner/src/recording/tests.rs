//! Recordings in real directories.

mod limits;
mod replacing;
mod sequences;
mod texts;

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::Arc,
    time::SystemTime,
};

use speclens_schema::{
    evidence::{Capture, Evidence, Ran},
    format::Dialect,
    mask::Secrets,
    settings::{self, Settings},
    suite::{Parts, Subject},
};
use tempfile::TempDir;

use super::{InUse, Label, Lookup, Recorded, Recordings, Retention, Unusable, beginning_us};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";
const LIMIT: u64 = 1024 * 1024;

fn open(directory: &TempDir) -> Recordings {
    Recordings::open(directory.path(), "kindlm.yaml", LIMIT)
}

fn keeping(max_count: u32) -> Retention {
    let recordings = settings::Recordings { max_count, ..Default::default() };
    Retention::of(&Settings { recordings, ..Settings::default() })
}

fn label(case: &str, repeat: u32) -> Label {
    Label { case: case.to_owned(), subject: Subject::Command, repeat }
}

fn recorded(key: &str, began_us: u64, text: &str) -> Recorded {
    let command = Some(Ran { stdout: Some(Capture::whole(text)), ..Ran::default() });
    Recorded {
        key: key.to_owned(),
        act: Parts::new(),
        began_us,
        now: "2026-05-14T12:00:00Z".to_owned(),
        evidence: Arc::new(Evidence { command, duration_ms: Some(1.5), ..Evidence::default() }),
        notes: Vec::new(),
    }
}

fn write(recordings: &Recordings, key: &str, label: &Label, text: &str) {
    recordings.write(label, &label.case, &mut recorded(key, beginning_us(), text)).unwrap();
}

/// Returns the texts in files of their own.
fn texts(directory: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.path().join(".speclens/recordings/texts")).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Makes all texts older than a moment. Another process may remove them.
fn make_old(directory: &TempDir) {
    for path in texts(directory) {
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH));
    }
}

/// Tidies up as after a run long ago, of a suite without tests.
fn tidy(recordings: &Recordings) -> Option<String> {
    recordings.tidy(&Retention::default(), u64::MAX, InUse::default)
}

/// Returns the names of the recordings, without spare files.
fn files(directory: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path().join(".speclens/recordings")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".json")).collect()
}

fn text(recordings: &Recordings, found: &Lookup) -> Option<String> {
    let (Lookup::Fresh(file) | Lookup::Stale(file)) = found else { return None };
    let recording = recordings.read(&file.path, Dialect::KINDLM, &Arc::new(Secrets::none())).ok()?;
    assert!(recording.evidence.output.is_some(), "the protocol is read again");
    Some(recording.evidence.stdout()?.text.clone())
}

#[test]
fn recording_is_found_by_same_and_other_process() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    assert_eq!(recordings.find(KEY, &label("a", 0)), Lookup::None);
    write(&recordings, KEY, &label("a", 0), "first");
    write(&recordings, KEY, &label("a", 1), "second");
    for recordings in [recordings, open(&directory)] {
        for (repeat, expected) in [(0, "first"), (1, "second")] {
            let found = recordings.find(KEY, &label("a", repeat));
            assert!(matches!(found, Lookup::Fresh(_)));
            assert_eq!(text(&recordings, &found).unwrap(), expected);
        }
        assert_eq!(recordings.find(KEY, &label("a", 2)), Lookup::None);
    }
    assert_eq!(fs::read_to_string(directory.path().join(".speclens/.gitignore")).unwrap(), "*\n");
}

#[test]
fn another_act_is_stale_and_replaces_what_was_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "old");
    let found = recordings.find(OTHER, &label("a", 0));
    assert!(matches!(found, Lookup::Stale(_)));
    assert_eq!(text(&recordings, &found).unwrap(), "old");
    write(&recordings, OTHER, &label("a", 0), "new");
    assert_eq!(files(&directory).len(), 1);
    assert_eq!(text(&recordings, &recordings.find(OTHER, &label("a", 0))).unwrap(), "new");
    assert!(matches!(recordings.find(KEY, &label("a", 0)), Lookup::Stale(_)));
}

#[test]
fn an_attempt_that_began_earlier_takes_no_newer_result_away() {
    let directory = tempfile::tempdir().unwrap();
    let (early, late) = (beginning_us(), beginning_us());
    assert!(early < late);
    for (slow, fast) in [(open(&directory), open(&directory))] {
        fast.write(&label("a", 0), "a", &mut recorded(OTHER, late, "newer")).unwrap().unwrap();
        // Another process that has not listed it: it ends later, and began earlier.
        assert_eq!(slow.write(&label("a", 0), "a", &mut recorded(KEY, early, "older")).unwrap(), None);
        for recordings in [slow, fast, open(&directory)] {
            assert_eq!(text(&recordings, &recordings.find(OTHER, &label("a", 0))).unwrap(), "newer");
        }
    }
    assert_eq!(files(&directory).len(), 1);
}

#[test]
fn of_two_files_that_were_left_the_newer_attempt_counts() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let (early, late) = (beginning_us(), beginning_us());
    let older = recordings.write(&label("a", 0), "a", &mut recorded(KEY, early, "older")).unwrap().unwrap();
    let kept = fs::read(&older).unwrap();
    recordings.write(&label("a", 0), "a", &mut recorded(KEY, late, "newer")).unwrap();
    assert!(!older.exists());
    fs::write(&older, kept).unwrap();
    let recordings = open(&directory);
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("a", 0))).unwrap(), "newer");
}

#[test]
fn a_recording_from_a_clock_that_is_ahead_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let ahead = beginning_us() + 3_600_000_000;
    recordings.write(&label("a", 0), "a", &mut recorded(OTHER, ahead, "of tomorrow")).unwrap();
    write(&recordings, KEY, &label("a", 0), "of today");
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("a", 0))).unwrap(), "of today");
}

#[test]
fn recording_of_other_process_is_found_at_next_look() {
    let directory = tempfile::tempdir().unwrap();
    let (here, there) = (open(&directory), open(&directory));
    assert!(!here.refresh());
    write(&there, KEY, &label("a", 0), "theirs");
    assert!(here.refresh());
    assert_eq!(text(&here, &here.find(KEY, &label("a", 0))).unwrap(), "theirs");
    assert!(!here.refresh(), "nothing has changed since");
    fs::remove_dir_all(directory.path().join(".speclens")).unwrap();
    assert!(here.refresh() && here.is_empty());
}

#[test]
fn writing_lists_the_directory_only_when_others_have_changed_it() {
    let directory = tempfile::tempdir().unwrap();
    let (here, there) = (open(&directory), open(&directory));
    write(&here, KEY, &label("a", 0), "first");
    write(&here, KEY, &label("a", 1), "second");
    let looked = here.seen().looked;
    for repeat in 0..20 {
        write(&here, OTHER, &label("a", repeat), "mine");
        write(&here, KEY, &label("a", repeat), "mine");
    }
    assert_eq!(here.seen().looked, looked);
    write(&there, OTHER, &label("b", 0), "theirs");
    write(&here, KEY, &label("a", 0), "mine");
    let again = here.seen().looked;
    assert!(again > looked);
    write(&here, KEY, &label("a", 0), "mine");
    assert_eq!(here.seen().looked, again);
    // Without the counter, the directory is always listed.
    fs::remove_dir_all(directory.path().join(".speclens")).unwrap();
    write(&here, KEY, &label("a", 0), "mine");
    assert!(here.seen().looked > again);
    assert_eq!(text(&here, &here.find(KEY, &label("a", 0))).unwrap(), "mine");
    let changes = fs::read_to_string(directory.path().join(".speclens/changes")).unwrap_or_default();
    assert!(!changes.is_empty(), "what is counted in a file that is gone, nobody sees");
}

#[test]
fn a_renamed_test_keeps_its_recording_and_equal_acts_do_not_overwrite_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "of a");
    write(&recordings, KEY, &label("b", 0), "of b");
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("a", 0))).unwrap(), "of a");
    assert_eq!(text(&recordings, &recordings.find(KEY, &label("b", 0))).unwrap(), "of b");
    assert!(matches!(recordings.find(KEY, &label("renamed", 0)), Lookup::Fresh(_)));
    assert_eq!(recordings.find(KEY, &label("renamed", 2)), Lookup::None, "of a repetition that never was");
    assert_eq!(recordings.find(OTHER, &label("renamed", 0)), Lookup::None);
    // Another suite in the same directory has its own labels.
    let neighbor = Recordings::open(directory.path(), "kindlm.yml", LIMIT);
    assert_eq!(neighbor.find(OTHER, &label("a", 0)), Lookup::None);
}

#[test]
fn suites_of_one_name_in_two_directories_below_have_labels_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = ["skills/a/tests/scenarios.yaml", "skills/b/tests/scenarios.yaml"]
        .map(|place| Recordings::open(directory.path(), place, LIMIT));
    write(&one, KEY, &label("works", 0), "of a");
    write(&other, OTHER, &label("works", 0), "of b");
    assert_eq!(files(&directory).len(), 2);
    assert_eq!(text(&one, &one.find(KEY, &label("works", 0))).unwrap(), "of a");
    assert_eq!(text(&other, &other.find(OTHER, &label("works", 0))).unwrap(), "of b");
}

#[test]
fn unreadable_recording_is_not_used_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "text");
    let Lookup::Fresh(file) = recordings.find(KEY, &label("a", 0)) else { panic!("it was written") };
    let read = || recordings.read(&file.path, Dialect::KINDLM, &Arc::new(Secrets::none()));
    let good = fs::read_to_string(&file.path).unwrap();
    assert!(read().is_ok());
    for (bad, reason) in [
        (good.replace("\"speclens_recording\":4", "\"speclens_recording\":5"), Unusable::OtherVersion),
        ("{\"speclens_recording\":2,\"key\":\"\"}".to_owned(), Unusable::OtherVersion),
        (good[..good.len() / 2].to_owned(), Unusable::Damaged),
        (String::new(), Unusable::Damaged),
        ("[]".to_owned(), Unusable::Damaged),
        ("\u{0}".to_owned(), Unusable::Damaged),
        (format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), Unusable::Damaged),
        (" ".repeat(LIMIT as usize + 1), Unusable::TooLarge(LIMIT + 1)),
    ] {
        assert_ne!(bad, good);
        fs::write(&file.path, &bad).unwrap();
        assert_eq!(read().unwrap_err(), reason, "{:.60}", bad);
    }
    fs::remove_file(&file.path).unwrap();
    assert_eq!(read().unwrap_err(), Unusable::Missing);
    fs::create_dir(&file.path).unwrap();
    assert_eq!(read().unwrap_err(), Unusable::Missing);
}

#[test]
fn an_output_that_is_too_long_is_cut_in_its_recording() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), &"\u{1}ä".repeat(LIMIT as usize));
    let Lookup::Fresh(file) = recordings.find(KEY, &label("a", 0)) else { panic!("it was written") };
    assert!(fs::metadata(&file.path).unwrap().len() <= LIMIT);
    let recording = recordings.read(&file.path, Dialect::KINDLM, &Arc::new(Secrets::none())).unwrap();
    assert!(recording.evidence.stdout().unwrap().cut);
    assert!(recording.notes[0].contains("limits.recording_mib"), "{:?}", recording.notes);
}

#[test]
fn a_directory_that_disappears_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "text");
    fs::remove_dir_all(directory.path().join(".speclens")).unwrap();
    write(&recordings, KEY, &label("a", 0), "again");
    assert_eq!(files(&directory).len(), 1);
}

#[test]
fn failed_write_is_reported_and_leaves_no_draft() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(".speclens"), "a file in the way").unwrap();
    let recordings = open(&directory);
    assert!(recordings.write(&label("a", 0), "a", &mut recorded(KEY, 1, "x")).is_err());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn drafts_of_dead_processes_are_swept_and_those_of_living_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    write(&open(&directory), KEY, &label("a", 0), "text");
    let folder = directory.path().join(".speclens/recordings");
    // Process ids are smaller.
    let dead = folder.join(format!("{}.x.0.1.2147483646-0.tmp", &KEY[..16]));
    let living = folder.join(format!("{}.x.0.1.{}-0.tmp", &KEY[..16], std::process::id()));
    let stranger = folder.join("notes.tmp");
    for path in [&dead, &living, &stranger] {
        fs::write(path, "half").unwrap();
    }
    write(&open(&directory), KEY, &label("b", 0), "text");
    assert!(!dead.exists() && living.exists() && stranger.exists());
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_their_owner_reads_recordings() {
        let directory = tempfile::tempdir().unwrap();
        let recordings = open(&directory);
        write(&recordings, KEY, &label("a", 0), "text");
        let mode = |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(".speclens"), mode(".speclens/recordings")), (0o700, 0o700));
        assert_eq!(mode(&format!(".speclens/recordings/{}", files(&directory)[0])), 0o600);
    }

    #[test]
    fn no_symbolic_link_is_followed() {
        for link in [".speclens", ".speclens/recordings"] {
            let directory = tempfile::tempdir().unwrap();
            let elsewhere = tempfile::tempdir().unwrap();
            write(&open(&elsewhere), KEY, &label("a", 0), "theirs");
            let target = elsewhere.path().join(link);
            fs::create_dir_all(directory.path().join(link).parent().unwrap()).unwrap();
            symlink(target, directory.path().join(link)).unwrap();
            let recordings = open(&directory);
            assert!(recordings.is_empty(), "{link}");
            let error = recordings.write(&label("a", 0), "a", &mut recorded(KEY, 1, "x")).unwrap_err();
            assert!(error.to_string().contains("is a symbolic link"), "{error}");
            assert_eq!(files(&elsewhere).len(), 1);
        }
    }

    #[test]
    fn changes_are_not_counted_through_a_symbolic_link() {
        let directory = tempfile::tempdir().unwrap();
        let (here, there) = (open(&directory), open(&directory));
        let elsewhere = directory.path().join("elsewhere");
        fs::write(&elsewhere, "theirs").unwrap();
        fs::create_dir(directory.path().join(".speclens")).unwrap();
        symlink(&elsewhere, directory.path().join(".speclens/changes")).unwrap();
        let (early, late) = (beginning_us(), beginning_us());
        write(&here, KEY, &label("b", 0), "text");
        there.write(&label("a", 0), "a", &mut recorded(OTHER, late, "newer")).unwrap().unwrap();
        assert_eq!(here.write(&label("a", 0), "a", &mut recorded(KEY, early, "older")).unwrap(), None);
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), "theirs");
    }

    #[test]
    fn a_recording_that_is_a_link_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let recordings = open(&directory);
        write(&recordings, KEY, &label("a", 0), "text");
        let Lookup::Fresh(file) = recordings.find(KEY, &label("a", 0)) else { panic!("it was written") };
        let moved = directory.path().join("elsewhere.json");
        fs::rename(&file.path, &moved).unwrap();
        symlink(&moved, &file.path).unwrap();
        assert_eq!(
            recordings.read(&file.path, Dialect::KINDLM, &Arc::new(Secrets::none())).unwrap_err(),
            Unusable::Missing
        );
    }
}

#[test]
fn recording_that_another_process_writes_again_under_its_name_is_news() {
    let directory = tempfile::tempdir().unwrap();
    let (mine, other) = (open(&directory), open(&directory));
    let began_us = beginning_us();
    mine.write(&label("a", 0), "a", &mut recorded(KEY, began_us, "first")).unwrap();
    assert!(other.refresh());
    assert!(!other.refresh(), "nothing happened since");
    mine.write(&label("a", 0), "a", &mut recorded(KEY, began_us, "second")).unwrap();
    assert!(other.refresh());
    assert_eq!(files(&directory).len(), 1);
    assert!(!mine.refresh(), "what it wrote itself is no news");
}
