//! Finds the recordings next to suites, and the state of each.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ignore::DirEntry;
use serde::Serialize;
use serde_json::{Value, json};
use speclens_runner::{
    evidence_store::{AttemptRef, FOREIGN_NOTE},
    files::lexical,
    recording::{DIRECTORY, Entry, Lookup, Recordings, Unusable},
    report::{json, plain},
};
use speclens_schema::{
    format::Dialect,
    kind::{self, Named},
    mask::Secrets,
    problem::Code,
    settings::Settings,
    suite::Subject,
    words::plural,
};

use crate::{
    cli::{
        discover::{NoSuite, Wanted},
        levels::Levels,
        list,
        load::{self, Load, Loaded},
        output,
    },
    read::walk,
    trust,
    workspace::{self, Reach},
};

pub(super) struct RecordingInventory {
    pub(super) shelves: Vec<DirectoryOfRecordings>,
    /// Messages for what could not be read.
    pub(super) failures: Vec<String>,
}

pub(super) struct DirectoryOfRecordings {
    pub(super) recordings: Recordings,
    pub(super) suites: Vec<Loaded>,
    pub(super) settings: Arc<Settings>,
    pub(super) secrets: Arc<Secrets>,
    /// All of them, including those of suites that were not asked for.
    pub(super) entries: Vec<Entry>,
    /// Those that were asked for, by their index in the entries.
    pub(super) items: BTreeMap<usize, Item>,
}

#[derive(Debug)]
pub(super) struct Item {
    /// The suite as reports name it; `None` if the recording does not say.
    pub(super) suite: Option<String>,
    /// The test, secrets masked.
    pub(super) test: Option<String>,
    /// The name under which it was recorded, if different.
    pub(super) recorded_as: Option<String>,
    /// The test, as the index of the suite on the shelf and of the case in the suite.
    pub(super) case: Option<(usize, usize)>,
    pub(super) dialect: Dialect,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// It matches what the test does now.
    Fresh,
    /// The test has changed since.
    Stale,
    /// The test no longer exists.
    Gone,
    /// It cannot be read completely.
    Damaged,
    /// Another version of speclens wrote it.
    OtherVersion,
    /// It is larger than the settings allow.
    TooLarge,
    /// The suite has errors: the test may be in the part that cannot be read.
    Unknown,
}

impl State {
    pub(super) fn words(self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Stale => "stale",
            State::Gone => "of a deleted test",
            State::Damaged => "damaged",
            State::OtherVersion => "from another version",
            State::TooLarge => "too large",
            State::Unknown => "unknown, because the suite has errors",
        }
    }

    pub(super) fn of(unusable: &Unusable) -> State {
        match unusable {
            Unusable::Missing | Unusable::Damaged | Unusable::TextMissing | Unusable::TextChanged => State::Damaged,
            Unusable::OtherVersion => State::OtherVersion,
            Unusable::TooLarge(_) => State::TooLarge,
        }
    }
}

pub(super) fn inventory(paths: &[PathBuf]) -> RecordingInventory {
    let Load { suites, failures, activity } = load::suites(paths, Wanted::Suites, &Levels::default());
    drop(activity);
    let here = [PathBuf::from(".")];
    let named = if paths.is_empty() { &here[..] } else { paths };
    let named: Vec<PathBuf> = named.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let has_recordings = |directory: &Path| directory.join(DIRECTORY).is_dir();
    // Recordings outlive the last suite in their directory.
    let is_failure = |error: &&anyhow::Error| {
        error.downcast_ref::<NoSuite>().is_none_or(|no_suite| !has_recordings(&no_suite.directory))
    };
    let failures: Vec<&anyhow::Error> = failures.iter().filter(is_failure).collect();
    failures.iter().for_each(|error| output::complain(error));
    let mut failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
    let mut by_directory: BTreeMap<PathBuf, Vec<Loaded>> = BTreeMap::new();
    let directories = named.iter().filter(|path| path.is_dir()).flat_map(|path| walk(path).build().flatten());
    for directory in directories.map(DirEntry::into_path).filter(|path| path.is_dir() && has_recordings(path)) {
        by_directory.entry(directory).or_default();
    }
    for loaded in suites {
        let unreadable = loaded.report.problems.iter().find(|problem| problem.code == Code::UnreadableFile);
        if let Some(problem) = unreadable {
            let error = anyhow::anyhow!("{}: {}", loaded.report.source.path, problem.message);
            output::complain(&error);
            failures.push(format!("{error:#}"));
        }
        let directory = fs::canonicalize(&loaded.directory).unwrap_or_else(|_| loaded.directory.clone());
        by_directory.entry(directory).or_default().push(loaded);
    }
    let shelves = by_directory
        .into_iter()
        .map(|(directory, suites)| DirectoryOfRecordings::of(&directory, suites, &named))
        .collect();
    RecordingInventory { shelves, failures }
}

#[derive(Default)]
struct CurrentActions {
    /// The suite, the case and the key.
    by_label: HashMap<String, (usize, usize, String)>,
    /// The suite, the case and the state.
    judged: HashMap<PathBuf, (usize, usize, State)>,
}

impl DirectoryOfRecordings {
    fn of(directory: &Path, suites: Vec<Loaded>, named: &[PathBuf]) -> DirectoryOfRecordings {
        let (settings, secrets) = match suites.first() {
            Some(loaded) => (Arc::clone(&loaded.workspace.settings), Arc::clone(&loaded.secrets)),
            None => {
                let workspace = workspace::settings_for(&Reach::folder(directory.to_owned()));
                let secrets = Arc::new(workspace.secrets());
                (workspace.settings, secrets)
            }
        };
        let recordings = Recordings::open(directory, "", settings.limits.recording_bytes());
        let recordings = recordings.committing(settings.recordings.commit).on(trust::machine);
        let entries = recordings.entries();
        let mut shelf =
            DirectoryOfRecordings { recordings, suites, settings, secrets, entries, items: BTreeMap::new() };
        let current_actions = shelf.current_actions();
        let items = shelf.entries.iter().enumerate();
        let items = items.filter_map(|(at, entry)| Some((at, shelf.item(directory, entry, named, &current_actions)?)));
        shelf.items = items.collect();
        shelf
    }

    fn current_actions(&self) -> CurrentActions {
        let mut current_actions = CurrentActions::default();
        let recorded: HashSet<&str> = self.entries.iter().map(Entry::label).collect();
        let acted: HashSet<&Subject> =
            self.entries.iter().filter_map(|entry| Some(&entry.about.as_ref().ok()?.subject)).collect();
        for (at, loaded) in self.suites.iter().enumerate() {
            let suite = &loaded.report.suite;
            for (index, case) in suite.cases.iter().enumerate() {
                let own = case.action.subjects();
                // `--model` may have replaced the subjects that the suite names.
                let may_have_acted = |subject: &&Subject| {
                    let label = AttemptRef { suite, case, subject, repeat: 0 }.label();
                    let is_recorded = || recorded.contains(&*Recordings::label_of(&loaded.place, &label));
                    !own.contains(subject) && case.action.admits(subject) && is_recorded()
                };
                for subject in own.iter().chain(acted.iter().copied().filter(may_have_acted)) {
                    let attempt_ref = AttemptRef { suite, case, subject, repeat: 0 };
                    let key = attempt_ref.key();
                    for repeat in 0..case.repeat {
                        let label = AttemptRef { repeat, ..attempt_ref }.label();
                        let (file, state) = match self.recordings.find_in(&loaded.place, &key, &label) {
                            Lookup::Fresh(file) => (file, State::Fresh),
                            Lookup::Stale(file) => (file, State::Stale),
                            Lookup::None => continue,
                        };
                        current_actions.judged.entry(file.path).or_insert((at, index, state));
                    }
                    let label = Recordings::label_of(&loaded.place, &attempt_ref.label());
                    current_actions.by_label.insert(label, (at, index, key));
                }
            }
        }
        current_actions
    }

    /// Returns a recording; `None` if it was not asked for.
    fn item(&self, directory: &Path, entry: &Entry, named: &[PathBuf], current: &CurrentActions) -> Option<Item> {
        let about = entry.about.as_ref().ok();
        let judged = current.judged.get(&entry.path).filter(|_| about.is_some());
        let found = match (judged, current.by_label.get(entry.label())) {
            (Some((suite, case, state)), _) => Some((*suite, Some(*case), *state)),
            (None, Some((suite, case, key))) => {
                let is_same = about.is_some_and(|about| about.key == *key);
                Some((*suite, Some(*case), if is_same { State::Fresh } else { State::Stale }))
            }
            (None, None) => {
                let suite = about.and_then(|about| self.suites.iter().position(|loaded| loaded.place == about.suite));
                suite.map(|at| {
                    (at, None, if self.suites[at].report.is_refused() { State::Unknown } else { State::Gone })
                })
            }
        };
        let recorded_as = about.map(|about| self.secrets.mask(&about.case));
        let usable = |state| self.recordings.check(entry).map_or_else(|error| State::of(&error), |()| state);
        let Some((suite, case, state)) = found else {
            let path = about.map(|about| lexical(&directory.join(&about.suite)));
            let is_asked_for = match &path {
                Some(path) => !path.is_file() && named.iter().any(|named| path.starts_with(named)),
                None => named.iter().any(|named| directory.starts_with(named)),
            };
            let dialect = about.and_then(|about| match kind::of_path(&about.suite)? {
                Named::Surely(file) | Named::Perhaps(file) => file.dialect(),
            });
            return is_asked_for.then(|| Item {
                suite: path.as_deref().map(load::shown),
                test: recorded_as,
                recorded_as: None,
                case: None,
                dialect: dialect.unwrap_or(Dialect::KINDLM),
                state: usable(State::Gone),
            });
        };
        let report = &self.suites[suite].report;
        let name = case.map(|case| self.secrets.mask(&report.suite.cases[case].name));
        Some(Item {
            suite: Some(report.source.path.clone()),
            test: name.clone().or_else(|| recorded_as.clone()),
            recorded_as: recorded_as.filter(|former| name.as_ref().is_some_and(|name| name != former)),
            case: case.map(|case| (suite, case)),
            dialect: report.dialect,
            state: usable(state),
        })
    }

    fn is_foreign(&self, entry: &Entry) -> bool {
        entry.about.as_ref().is_ok_and(|about| self.recordings.is_foreign(about.machine.as_ref()))
    }

    pub(super) fn entry(&self, at: usize, item: &Item) -> Value {
        let entry = &self.entries[at];
        let about = entry.about.as_ref().ok();
        let members = json!({
            "path": load::shown(&entry.path),
            "suite": item.suite,
            "test": item.test,
            "recorded_as": item.recorded_as,
            "subject": about.map(|about| json::subject(&about.subject)),
            "repeat": about.map(|about| about.repeat),
            "state": item.state,
            "foreign": self.is_foreign(entry),
            "began": entry.began(),
            "age_seconds": entry.age().as_secs(),
            "bytes": entry.bytes(),
        });
        json::without_null(members, &["recorded_as"])
    }

    pub(super) fn line(&self, at: usize, item: &Item) -> String {
        let entry = &self.entries[at];
        let whose = match (&item.test, &entry.about) {
            (Some(test), Ok(about)) => format!("{} ({})", plain::line(test), who(&about.subject, about.repeat)),
            (Some(test), Err(_)) => plain::line(test),
            (None, _) => plain::line(&entry.path.file_name().unwrap_or_default().to_string_lossy()),
        };
        let former = item.recorded_as.as_ref().map(|name| format!(", recorded as {}", plain::line(name)));
        let (state, age, size) = (item.state.words(), age(entry.age()), size(entry.bytes()));
        let foreign = if self.is_foreign(entry) { format!(", {FOREIGN_NOTE}") } else { String::new() };
        format!("{whose}: {state}{}{foreign}, {age}, {size}", former.unwrap_or_default())
    }

    /// Returns the name of the suite of a recording; that of the directory if the suite is unknown.
    pub(super) fn heading(&self, at: usize, item: &Item) -> String {
        let directory = || load::shown(self.entries[at].path.parent().unwrap_or(Path::new("")));
        plain::line(&item.suite.clone().unwrap_or_else(directory))
    }
}

pub(super) fn who(subject: &Subject, repeat: u32) -> String {
    let subject = plain::line(&list::label(subject));
    if repeat == 0 { subject } else { format!("{subject}, attempt {}", repeat.saturating_add(1)) }
}

pub(super) fn size(bytes: u64) -> String {
    // Rounded: no relevant size loses a visible digit.
    let rounded = |unit: u64| bytes as f64 / unit as f64;
    match bytes {
        0..1024 => plural(usize::try_from(bytes).unwrap_or_default(), "byte"),
        1024..1_048_576 => format!("{:.1} KiB", rounded(1024)),
        1_048_576.. => format!("{:.1} MiB", rounded(1_048_576)),
    }
}

pub(super) fn age(age: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match age.as_secs() {
        0..MINUTE => "just now".to_owned(),
        seconds @ MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h ago", seconds / HOUR),
        seconds @ DAY.. => format!("{} ago", plural(usize::try_from(seconds / DAY).unwrap_or(usize::MAX), "day")),
    }
}
