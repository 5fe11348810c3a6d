//! Large texts in files of their own.

use std::{io::Write, time::Instant};

use speclens_schema::evidence::{CommandLog, Ran, Turn};

use super::*;
use crate::recording::store::LOCK_TIMEOUT;

const LARGE: usize = 100 * 1024;

fn fresh(recordings: &Recordings, name: &str) -> PathBuf {
    match recordings.find(KEY, &label(name, 0)) {
        Lookup::Fresh(file) => file.path,
        other => panic!("{other:?}"),
    }
}

fn read(recordings: &Recordings, name: &str) -> Result<String, Unusable> {
    let recording = recordings.read(&fresh(recordings, name), Dialect::KINDLM, &Arc::new(Secrets::none()))?;
    Ok(recording.evidence.stdout().unwrap().text.clone())
}

#[test]
fn large_text_is_beside_its_recording() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let text = "ä".repeat(LARGE);
    write(&recordings, KEY, &label("a", 0), &text);
    assert!(fs::metadata(fresh(&recordings, "a")).unwrap().len() < 4096);
    assert_eq!(fs::read_to_string(&texts(&directory)[0]).unwrap(), text);
    for recordings in [recordings, open(&directory)] {
        assert_eq!(read(&recordings, "a").as_ref(), Ok(&text));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let text = &texts(&directory)[0];
        assert_eq!((mode(text), mode(text.parent().unwrap())), (0o600, 0o700));
        assert_eq!(mode(&directory.path().join(".speclens/lock")), 0o600);
    }
}

#[test]
fn equal_texts_are_stored_once_and_leave_with_the_last_recording() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let text = "x".repeat(LARGE);
    for name in ["a", "b"] {
        write(&recordings, KEY, &label(name, 0), &text);
    }
    assert_eq!(texts(&directory).len(), 1);
    write(&recordings, KEY, &label("a", 0), "short");
    make_old(&directory);
    assert_eq!(tidy(&recordings), None);
    assert_eq!(read(&recordings, "b").as_ref(), Ok(&text));
    write(&recordings, KEY, &label("b", 0), "short");
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory), [] as [PathBuf; 0]);
}

#[test]
fn text_that_is_missing_or_changed_is_said_and_the_next_attempt_mends_it() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let text = "x".repeat(LARGE);
    let record = || write(&recordings, KEY, &label("a", 0), &text);
    record();
    let stored = texts(&directory)[0].clone();
    for (bad, reason) in [
        ("y".repeat(LARGE), Unusable::TextChanged),
        ("x".repeat(LARGE - 1), Unusable::TextChanged),
        ("x".repeat(LARGE + 1), Unusable::TextChanged),
        (String::new(), Unusable::TextChanged),
    ] {
        fs::write(&stored, bad).unwrap();
        assert_eq!(read(&recordings, "a"), Err(reason));
    }
    record();
    assert_eq!(read(&recordings, "a").as_ref(), Ok(&text));
    fs::remove_file(&stored).unwrap();
    assert_eq!(read(&recordings, "a"), Err(Unusable::TextMissing));
    record();
    assert_eq!(read(&recordings, "a").as_ref(), Ok(&text));
    // A newer attempt has replaced the recording while it was read.
    let path = fresh(&recordings, "a");
    fs::remove_file(&path).unwrap();
    assert_eq!(recordings.read(&path, Dialect::KINDLM, &Arc::new(Secrets::none())).unwrap_err(), Unusable::Missing);
}

#[test]
fn limit_bounds_a_recording_with_its_texts() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let capture = |letter: &str, bytes: usize| Some(Capture::whole(letter.repeat(bytes)));
    let command = Ran { stderr: capture("c", LIMIT as usize), ..Ran::default() };
    let evidence = Evidence {
        command: Some(Ran { stdout: capture("o", LARGE), stderr: capture("e", LIMIT as usize), ..Ran::default() }),
        commands: Some(CommandLog { commands: vec![command], cut: false, unseen: None }),
        ..Evidence::default()
    };
    let mut recorded = Recorded { evidence: Arc::new(evidence), ..recorded(KEY, beginning_us(), "") };
    recordings.write(&label("a", 0), "a", &mut recorded).unwrap();
    let path = fresh(&recordings, "a");
    let sizes = texts(&directory).iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    let whole = sizes + fs::metadata(&path).unwrap().len();
    assert!(whole <= LIMIT && whole > LIMIT - 1024, "{whole}");
    let recording = recordings.read(&path, Dialect::CLI_BENCH, &Arc::new(Secrets::none())).unwrap();
    let evidence = &recording.evidence;
    assert!(!evidence.stdout().unwrap().cut && evidence.stderr().unwrap().cut);
    assert!(evidence.commands.as_ref().unwrap().commands[0].stderr.as_ref().unwrap().cut);
    let strict = Recordings::open(directory.path(), "kindlm.yaml", whole - 1);
    let error = strict.read(&path, Dialect::CLI_BENCH, &Arc::new(Secrets::none())).unwrap_err();
    assert_eq!(error, Unusable::TooLarge(whole));
    // There, its references are not known.
    make_old(&directory);
    assert_eq!(tidy(&Recordings::open(directory.path(), "kindlm.yaml", 10)), None);
    assert_eq!(texts(&directory).len(), 3);
}

#[test]
fn many_small_captures_are_cut_to_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let command = Ran { stdout: Some(Capture::whole("\u{1}".repeat(60 * 1024))), ..Ran::default() };
    let commands = Some(CommandLog { commands: vec![command; 50], cut: false, unseen: None });
    let evidence = Arc::new(Evidence { commands, ..Evidence::default() });
    let mut recorded = Recorded { evidence, ..recorded(KEY, beginning_us(), "") };
    recordings.write(&label("a", 0), "a", &mut recorded).unwrap();
    let path = fresh(&recordings, "a");
    assert!(fs::metadata(&path).unwrap().len() <= LIMIT);
    let recording = recordings.read(&path, Dialect::CLI_BENCH, &Arc::new(Secrets::none())).unwrap();
    assert!(recording.notes[0].contains("limits.recording_mib"), "{:?}", recording.notes);
}

#[test]
fn texts_of_a_newer_version_and_those_that_were_just_written_stay() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), &"x".repeat(LARGE));
    let path = fresh(&recordings, "a");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, "damaged").unwrap();
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory).len(), 1, "it was written a moment ago");
    make_old(&directory);
    fs::write(&path, good.replace("\"speclens_recording\":4", "\"speclens_recording\":5")).unwrap();
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory).len(), 1, "another version may refer to it in another way");
    fs::write(&path, good.replace("\"speclens_recording\":4", "\"speclens_recording\":3")).unwrap();
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory).len(), 0, "earlier versions had no texts");
}

#[test]
fn lock_that_another_process_keeps_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), &"x".repeat(LARGE));
    write(&recordings, KEY, &label("a", 0), "short");
    make_old(&directory);
    let other = File::options().write(true).open(directory.path().join(".speclens/lock")).unwrap();
    other.try_lock().unwrap();
    // Texts are written under the lock. After one wait in vain, there is no second one.
    let text = "y".repeat(LARGE);
    for is_first in [true, false] {
        let begun = Instant::now();
        write(&recordings, KEY, &label("a", 0), &text);
        assert_eq!(begun.elapsed() >= LOCK_TIMEOUT, is_first);
        assert_eq!(read(&recordings, "a").as_ref(), Ok(&text));
    }
    let message = tidy(&recordings).unwrap();
    assert!(message.contains("another process") && message.contains("lock"), "{message}");
    assert_eq!(texts(&directory).len(), 2);
    other.unlock().unwrap();
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory).len(), 1);
}

#[test]
fn drafts_of_texts_are_swept_and_other_files_stay() {
    let directory = tempfile::tempdir().unwrap();
    write(&open(&directory), KEY, &label("a", 0), &"x".repeat(LARGE));
    let text = texts(&directory)[0].clone();
    let (dead, other) = (text.with_extension("2147483646-0.tmp"), text.with_file_name("notes"));
    File::create(&dead).unwrap().write_all(b"half").unwrap();
    fs::write(&other, "").unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("b", 0), "text");
    tidy(&recordings);
    assert!(!dead.exists() && other.exists() && text.exists());
}

#[cfg(unix)]
#[test]
fn texts_are_neither_read_nor_written_through_links() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let text = "x".repeat(LARGE);
    write(&recordings, KEY, &label("a", 0), &text);
    let folder = directory.path().join(".speclens/recordings/texts");
    let moved = directory.path().join("moved");
    fs::rename(&folder, &moved).unwrap();
    symlink(&moved, &folder).unwrap();
    assert_eq!(read(&recordings, "a"), Err(Unusable::TextMissing));
    let error = recordings.write(&label("a", 0), "a", &mut recorded(KEY, beginning_us(), &text)).unwrap_err();
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    fs::remove_file(&folder).unwrap();
    write(&recordings, KEY, &label("a", 0), &text);
    let name = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().file_name();
    fs::rename(folder.join(&name), moved.join(&name)).unwrap();
    symlink(moved.join(&name), folder.join(&name)).unwrap();
    assert_eq!(read(&recordings, "a"), Err(Unusable::TextMissing));
}

#[test]
fn evidence_is_whole_again_after_it_was_written_and_after_it_could_not_be() {
    let directory = tempfile::tempdir().unwrap();
    let large = "o".repeat(LARGE + 1);
    let mut written = recorded(KEY, beginning_us(), &large);
    open(&directory).write(&label("a", 0), "a", &mut written).unwrap();
    assert_eq!(written.evidence.stdout().unwrap().text, large);
    // Beyond the limit, the recorded text is shorter than the observed one.
    let beyond = "o".repeat(2 * LIMIT as usize);
    let mut cut = recorded(KEY, beginning_us(), &beyond);
    open(&directory).write(&label("a", 0), "a", &mut cut).unwrap();
    assert!(cut.evidence.stdout().unwrap().text == beyond && !cut.evidence.stdout().unwrap().cut);
    let blocked = tempfile::tempdir().unwrap();
    fs::write(blocked.path().join(".speclens"), "a file in the way").unwrap();
    let mut refused = recorded(KEY, beginning_us(), &large);
    open(&blocked).write(&label("a", 0), "a", &mut refused).unwrap_err();
    assert_eq!(refused.evidence.stdout().unwrap().text, large);
}

/// Records an agent's act of 20 turns with these outputs of its commands, and returns the number of bytes on the disk.
fn bytes_of_turns(output: impl Fn(usize) -> String) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    let commands = (0..20).map(|turn| Ran { stdout: Some(Capture::whole(output(turn))), ..Ran::default() }).collect();
    let turn = |turn: usize| Turn { text: Capture::whole(format!("turn {turn}")), ..Turn::default() };
    let evidence = Evidence {
        turns: (0..20).map(turn).collect(),
        commands: Some(CommandLog { commands, ..CommandLog::default() }),
        ..Evidence::default()
    };
    let label = label("agent", 0);
    let mut whole = Recorded { evidence: Arc::new(evidence.clone()), ..recorded(KEY, beginning_us(), "") };
    recordings.write(&label, "agent", &mut whole).unwrap();
    assert_eq!(*whole.evidence, evidence, "who recorded it still has it");
    let path = fresh(&recordings, "agent");
    let read = recordings.read(&path, Dialect::CLI_BENCH, &Arc::new(Secrets::none())).unwrap();
    assert_eq!(*read.evidence, evidence);
    let sizes = texts(&directory).into_iter().chain([path]).map(|path| fs::metadata(path).unwrap().len());
    sizes.sum()
}

#[test]
fn output_that_an_agent_reads_in_each_turn_is_stored_once() {
    const OUTPUT: usize = 20 * 1024;
    let different = bytes_of_turns(|turn| char::from(b'a' + turn as u8).to_string().repeat(OUTPUT));
    assert!((20 * OUTPUT as u64..21 * OUTPUT as u64).contains(&different), "each output once: {different}");
    let equal = bytes_of_turns(|_| "x".repeat(OUTPUT));
    assert!(equal < 2 * OUTPUT as u64, "{equal}");
}

#[test]
fn recording_that_was_read_is_read_again_only_if_a_file_of_it_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), &"long line\n".repeat(LARGE / 10));
    let (path, secrets) = (fresh(&recordings, "a"), Arc::new(Secrets::none()));
    let read = || recordings.read(&path, Dialect::KINDLM, &secrets);
    let text = texts(&directory).remove(0);
    let first = read().unwrap();
    assert!(!Arc::ptr_eq(&first.evidence, &read().unwrap().evidence), "it was written just now");
    for path in [&path, &text] {
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let first = read().unwrap();
    assert!(Arc::ptr_eq(&first.evidence, &read().unwrap().evidence), "kept");
    let others = Arc::new(Secrets::new([("API_KEY", "long line")], &[], &[]));
    let masked = recordings.read(&path, Dialect::KINDLM, &others).unwrap();
    assert_ne!(masked.evidence, first.evidence, "with other secrets");
    assert_eq!(read().unwrap().evidence, first.evidence);
    fs::write(&text, "damaged").unwrap();
    assert_eq!(read().unwrap_err(), Unusable::TextChanged);
    fs::remove_file(&text).unwrap();
    assert_eq!(read().unwrap_err(), Unusable::TextMissing);
    fs::remove_file(&path).unwrap();
    assert_eq!(read().unwrap_err(), Unusable::Missing);
}
