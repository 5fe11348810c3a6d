//! The recordings that are removed after a run.

use super::*;

fn cases(recordings: &Recordings) -> Vec<String> {
    let mut cases: Vec<String> = recordings
        .entries()
        .into_iter()
        .map(|entry| entry.about.map_or_else(|it| it.sentence(), |it| it.case))
        .collect();
    cases.sort();
    cases
}

#[test]
fn recordings_of_tests_that_are_gone_go_first_and_those_of_renamed_tests_stay() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("other.yaml"), "").unwrap();
    let recordings = open(&directory);
    let other = |place: &str| Recordings::open(directory.path(), place, LIMIT);
    write(&recordings, KEY, &label("former", 0), "of a renamed test");
    write(&recordings, OTHER, &label("old", 0), "of a test that is there, and does something else now");
    write(&other("other.yaml"), OTHER, &label("elsewhere", 0), "of another suite");
    write(&other("removed.yaml"), OTHER, &label("removed", 0), "of a suite that is gone");
    write(&recordings, OTHER, &label("gone", 0), "of a test that is gone");
    let since_us = beginning_us();
    write(&recordings, OTHER, &label("new", 0), "of this run, and of a test that is gone since");
    let in_use = || InUse {
        acts: vec![(KEY.to_owned(), label("latter", 0)), (KEY.to_owned(), label("old", 0))],
        ..InUse::default()
    };
    let recordings = open(&directory);
    for (count, expected) in [
        (6, &["elsewhere", "former", "gone", "new", "old", "removed"][..]),
        (5, &["elsewhere", "former", "gone", "new", "old"]),
        (4, &["elsewhere", "former", "new", "old"]),
        (3, &["elsewhere", "new", "old"]),
        (1, &["new"]),
    ] {
        assert_eq!(recordings.tidy(&keeping(count), since_us, in_use), None);
        assert_eq!(cases(&recordings), expected, "{count}");
    }
    assert_eq!(recordings.find(KEY, &label("former", 0)), Lookup::None, "the index knows it, too");
}

#[test]
fn recordings_that_cannot_be_read_go_first_but_for_those_of_a_newer_version() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    for name in ["newer", "useful", "older", "damaged"] {
        write(&recordings, KEY, &label(name, 0), "text");
    }
    let Lookup::Fresh(newer) = recordings.find(KEY, &label("newer", 0)) else { panic!() };
    let Lookup::Fresh(older) = recordings.find(KEY, &label("older", 0)) else { panic!() };
    let Lookup::Fresh(damaged) = recordings.find(KEY, &label("damaged", 0)) else { panic!() };
    fs::write(&newer.path, "{\"speclens_recording\":5}").unwrap();
    fs::write(&older.path, "{\"speclens_recording\":2}").unwrap();
    fs::write(&damaged.path, "{\"speclens_rec").unwrap();
    let in_use = || InUse { acts: vec![(KEY.to_owned(), label("useful", 0))], ..InUse::default() };
    assert_eq!(recordings.tidy(&keeping(2), u64::MAX, in_use), None);
    assert!(newer.path.exists());
    assert_eq!(cases(&recordings), [Unusable::OtherVersion.sentence().as_str(), "useful"]);
}

#[test]
fn nothing_is_read_where_the_limits_permit_it() {
    let directory = tempfile::tempdir().unwrap();
    let recordings = open(&directory);
    write(&recordings, KEY, &label("a", 0), "text");
    assert_eq!(recordings.tidy(&keeping(1), u64::MAX, || panic!("nobody has to be asked")), None);
}
