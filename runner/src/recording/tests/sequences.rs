//! Whatever two processes write and remove, the newest attempt of each label counts, and has its texts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use proptest::prelude::*;

use super::*;
use crate::recording::{PruneMode, now_us, store::Digest};

const CASES: [&str; 3] = ["a", "b", "c"];
const REPEATS: u32 = 2;
const KEYS: [&str; 2] = [KEY, OTHER];
const LARGE: usize = 70 * 1024;

#[derive(Clone, Debug)]
enum Step {
    Write {
        process: usize,
        case: usize,
        repeat: u32,
        key: usize,
        rank: u64,
        large: bool,
    },
    /// Removes the recordings whose bits are set.
    Prune {
        process: usize,
        bits: u8,
    },
    /// Keeps this many recordings.
    Tidy {
        process: usize,
        count: u32,
    },
    LookAgain {
        process: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let process = 0..2_usize;
    prop_oneof![
        6 => (process.clone(), 0..CASES.len(), 0..REPEATS, 0..KEYS.len(), 0..9_u64, any::<bool>())
            .prop_map(|(process, case, repeat, key, rank, large)| Step::Write { process, case, repeat, key, rank, large }),
        1 => (process.clone(), any::<u8>()).prop_map(|(process, bits)| Step::Prune { process, bits }),
        1 => (process.clone(), 1..6_u32).prop_map(|(process, count)| Step::Tidy { process, count }),
        1 => process.prop_map(|process| Step::LookAgain { process }),
    ]
}

/// The expected state of each label: start of the attempt, its key and its text.
type Model = BTreeMap<(usize, u32), (u64, usize, String)>;

fn perform(step: &Step, began_us: u64, processes: &[Recordings; 2], directory: &TempDir, model: &mut Model) {
    match *step {
        Step::Write { process, case, repeat, key, rank, large } => {
            // Equal texts of several attempts are stored once.
            let text = if large { CASES[case].repeat(LARGE) } else { format!("{began_us}") };
            let mut recorded = recorded(KEYS[key], began_us + rank * 1000, &text);
            let written = processes[process].write(&label(CASES[case], repeat), CASES[case], &mut recorded).unwrap();
            let is_newest = model.get(&(case, repeat)).is_none_or(|(known, ..)| *known < recorded.began_us);
            assert_eq!(written.is_some(), is_newest);
            if is_newest {
                model.insert((case, repeat), (recorded.began_us, key, text));
            }
        }
        Step::Prune { process, bits } => {
            make_old(directory);
            let entries = processes[process].entries();
            let goes: BTreeSet<usize> = (0..entries.len()).filter(|at| at < &8 && bits & (1 << at) != 0).collect();
            let began: Vec<u64> = goes.iter().map(|at| entries[*at].began_us()).collect();
            let removed = processes[process].remove(&entries, &goes, PruneMode::Remove);
            assert_eq!((removed.recordings, removed.left), (goes.len(), None));
            model.retain(|_, (known, ..)| !began.contains(known));
            assert_no_text_is_left_over(directory, model);
        }
        Step::Tidy { process, count } => {
            make_old(directory);
            assert_eq!(processes[process].tidy(&keeping(count), u64::MAX, InUse::default), None);
            while model.len() > count as usize {
                let oldest = model.iter().min_by_key(|(_, (began_us, ..))| *began_us).map(|(label, _)| *label).unwrap();
                model.remove(&oldest);
            }
            assert_no_text_is_left_over(directory, model);
        }
        Step::LookAgain { process } => {
            processes[process].refresh();
        }
    }
}

fn assert_no_text_is_left_over(directory: &TempDir, model: &Model) {
    let large: BTreeSet<&String> = model.values().map(|(.., text)| text).filter(|text| text.len() >= LARGE).collect();
    assert_eq!(texts(directory).len(), large.len());
}

/// Checks that everything on disk matches the model.
fn assert_like(model: &Model, recordings: &Recordings, directory: &TempDir) {
    recordings.refresh();
    for (case, name) in CASES.into_iter().enumerate() {
        for repeat in 0..REPEATS {
            let Some((began_us, key, expected)) = model.get(&(case, repeat)) else { continue };
            let found = recordings.find(KEYS[*key], &label(name, repeat));
            assert!(matches!(found, Lookup::Fresh(_)), "{found:?}");
            assert_eq!((found.began_us(), text(recordings, &found).as_ref()), (*began_us, Some(expected)));
            // The recording of another action is stale, unless another label has that action.
            let other = recordings.find(KEYS[1 - key], &label(name, repeat));
            let is_newest = matches!(&other, Lookup::Stale(file) if file.began_us == *began_us);
            let has_act = |((_, of), (_, act, _)): (&(usize, u32), &(u64, usize, String))| *of == repeat && act != key;
            assert_eq!(is_newest, !model.iter().any(has_act), "{other:?}");
        }
    }
    assert_eq!(files(directory).len(), model.len());
    assert!(files(directory).iter().all(|name| name.ends_with(".json")), "{:?}", files(directory));
    let is_text = |path: &PathBuf| Digest::parse(path.file_name().unwrap().to_str().unwrap()).is_some();
    assert!(texts(directory).iter().all(is_text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn newest_attempt_of_a_label_counts_and_has_its_texts(steps in prop::collection::vec(step(), 1..24)) {
        let directory = tempfile::tempdir().unwrap();
        let processes = [open(&directory), open(&directory)];
        let base_us = now_us() - 1_000_000_000;
        let mut model = Model::new();
        for (number, step) in (0_u64..).zip(&steps) {
            perform(step, base_us + number, &processes, &directory, &mut model);
            if model.is_empty() && !directory.path().join(".speclens/recordings").exists() {
                continue;
            }
            processes.iter().for_each(|recordings| assert_like(&model, recordings, &directory));
        }
    }
}

#[test]
fn text_stays_while_its_recording_is_written_and_others_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let write_all = |name: &str| {
        let recordings = open(&directory);
        for round in 0..60 {
            let expected = format!("{name}{round}").repeat(LARGE);
            write(&recordings, KEY, &label(name, 0), &expected);
            // If it was removed, that was before the recording referred to it.
            assert_eq!(text(&recordings, &recordings.find(KEY, &label(name, 0))), Some(expected));
        }
    };
    let writing = AtomicUsize::new(2);
    let is_over = || writing.load(Ordering::Relaxed) == 0;
    thread::scope(|scope| {
        for name in ["a", "b"] {
            let (write_all, writing) = (&write_all, &writing);
            scope.spawn(move || {
                // Also if it panics, because the others wait for it.
                let _over = Over(writing);
                write_all(name);
            });
        }
        scope.spawn(|| {
            while !is_over() {
                make_old(&directory);
            }
        });
        let recordings = open(&directory);
        while !is_over() {
            assert_eq!(tidy(&recordings), None);
        }
    });
    let recordings = open(&directory);
    make_old(&directory);
    assert_eq!(tidy(&recordings), None);
    assert_eq!(texts(&directory).len(), 2);
}

/// Counts down a thread when it ends.
struct Over<'c>(&'c AtomicUsize);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
