//! What all files of the workspace say about names: the part of each that other files, and lists of symbols, need.
//! No trees and no texts are kept. A thread of its own fills it, see [`scan`]; who asks may wait until it is done.

pub(crate) mod scan;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use speclens_schema::{
    document::{Document, Encoding, LineColumn, Lines},
    kind,
};

use crate::{
    ide::{
        crossing::{self, Home},
        symbols::{self, SymbolKind},
    },
    scope::Scope,
};

/// What one file says.
#[derive(Debug)]
pub(crate) struct Facts {
    /// What it is, and what it belongs to.
    pub scope: Scope,
    /// Names, sorted by kind and name.
    names: Box<[Fact]>,
    /// What a search for symbols finds.
    pub landmarks: Box<[Landmark]>,
}

/// A name in a file.
#[derive(Debug)]
pub(crate) struct Fact {
    /// What it is a name of.
    pub kind: &'static str,
    /// The name.
    pub name: Box<str>,
    /// Within what it means the same: a directory, or the file that defines it.
    pub home: Arc<Path>,
    /// Where it is, without quotes.
    pub span: Span,
    /// Whether it comes from there.
    pub is_definition: bool,
}

/// What a search for symbols finds.
#[derive(Debug)]
pub(crate) struct Landmark {
    /// Its name.
    pub name: Box<str>,
    /// What it is in.
    pub container: Option<Box<str>>,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its location.
    pub span: Span,
}

/// A range of a text in lines, and columns in the units of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its start.
    pub start: (u32, u32),
    /// Its end.
    pub end: (u32, u32),
}

impl Facts {
    /// Returns what is known of a file whose names are not of interest.
    fn without_names(scope: &Scope) -> Facts {
        Facts { scope: scope.clone(), names: Box::default(), landmarks: Box::default() }
    }

    /// Returns what a document says.
    pub(crate) fn of(document: &Document, scope: &Scope, encoding: Encoding) -> Facts {
        let lines = Lines::new(document.text(), encoding);
        let span = |range: std::ops::Range<usize>| {
            let places = lines.places(range);
            let place = |place: LineColumn| (clamp(place.line), clamp(place.column));
            Span { start: place(places.start), end: place(places.end) }
        };
        let mut homes: BTreeMap<PathBuf, Arc<Path>> = BTreeMap::new();
        let mut home = |home: &Home| {
            let path = home_of(scope, home);
            Arc::clone(homes.entry(path).or_insert_with_key(|path| Arc::from(path.as_path())))
        };
        let mentions = crossing::mentions(document, scope.file, &scope.place);
        let mut names: Vec<Fact> = mentions
            .into_iter()
            .map(|mention| Fact {
                kind: mention.kind,
                home: home(&mention.home),
                span: span(mention.place.range),
                is_definition: mention.place.is_definition,
                name: mention.name.into(),
            })
            .collect();
        // Stable: places of one name stay in the order of the text.
        names.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
        let landmarks = symbols::landmarks(document, scope.file).into_iter().map(|found| Landmark {
            name: found.name.into(),
            container: found.container.map(Into::into),
            kind: found.kind,
            span: span(found.selection),
        });
        Facts { scope: scope.clone(), names: names.into(), landmarks: landmarks.collect() }
    }

    /// Returns the names of a kind, sorted.
    pub(crate) fn of_kind<'f>(&'f self, kind: &'f str) -> impl Iterator<Item = &'f Fact> {
        let start = self.names.partition_point(|fact| fact.kind < kind);
        self.names[start..].iter().take_while(move |fact| fact.kind == kind)
    }

    /// Returns the places of a name.
    pub(crate) fn places<'f>(&'f self, kind: &'f str, name: &'f str, home: &'f Path) -> impl Iterator<Item = &'f Fact> {
        let start = self.names.partition_point(|fact| (fact.kind, &*fact.name) < (kind, name));
        let same = self.names[start..].iter().take_while(move |fact| fact.kind == kind && &*fact.name == name);
        same.filter(move |fact| *fact.home == *home)
    }
}

/// Returns the directory or file within which a name means the same.
pub(crate) fn home_of(scope: &Scope, home: &Home) -> PathBuf {
    match home {
        Home::Root => scope.root.clone(),
        Home::Suite => scope.root.join(scope.main.as_ref().unwrap_or(&scope.place)),
        Home::File(place) => scope.root.join(place),
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// How much is held at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Files of ours.
    pub files: usize,
    /// Bytes of their texts together.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { files: 10_000, bytes: 128 * 1024 * 1024 }
    }
}

/// The facts of all files, and what is still to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Index {
    state: Mutex<State>,
    /// Rung when there is work, and when it is done.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Known>,
    /// YAML files that are not ours.
    strangers: BTreeMap<PathBuf, Stamp>,
    /// Why files are missing, if they are.
    cut: Option<String>,
    waiting: Job,
    /// Until then nothing begins, unless a request waits for it.
    resting_until: Option<Instant>,
    is_busy: bool,
    is_stopping: bool,
}

/// A file that was looked at.
#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    facts: Arc<Facts>,
    /// Whether its names were read; not those of a file that the editor held.
    is_read: bool,
}

/// What differs between two states of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<std::time::SystemTime>,
    length: u64,
}

/// What is to be looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// Every file again, or at least every one that changed.
    whole: Option<Depth>,
    /// Files and directories that came, went or changed.
    paths: BTreeSet<PathBuf>,
}

/// How thoroughly the whole workspace is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Files that look as before are not read.
    Changed,
    /// Files may belong elsewhere now: all are read.
    Everything,
}

impl Job {
    fn is_empty(&self) -> bool {
        self.whole.is_none() && self.paths.is_empty()
    }
}

impl Index {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the whole workspace looked at.
    pub(crate) fn look_at_all(&self, depth: Depth) {
        let mut state = self.state();
        state.waiting.whole = state.waiting.whole.max(Some(depth));
        drop(state);
        self.bell.notify_all();
    }

    /// Has some files and directories looked at. What is no YAML, and holds none, costs nothing.
    pub(crate) fn look_at(&self, paths: impl IntoIterator<Item = PathBuf>) {
        let mut state = self.state();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_wanted = kind::is_yaml(name) || scan::is_about_ignoring(name) || path.is_dir();
            let mut held = state.files.range(path.clone()..);
            if is_wanted || held.next().is_some_and(|(held, _)| held.starts_with(&path)) {
                state.waiting.paths.insert(path);
            }
        }
        drop(state);
        self.bell.notify_all();
    }

    /// Something else comes first: no work begins for a moment, unless a request waits for it.
    pub(crate) fn rest(&self) {
        /// By then a document of a megabyte is open, and its problems are reported.
        const MOMENT: Duration = Duration::from_millis(250);
        self.state().resting_until = Some(Instant::now() + MOMENT);
    }

    /// Ends the work.
    pub(crate) fn stop(&self) {
        self.state().is_stopping = true;
        self.bell.notify_all();
    }

    /// Waits for work; `None` if the end has come.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        state.is_busy = false;
        self.bell.notify_all();
        loop {
            if state.is_stopping {
                return None;
            }
            if state.waiting.is_empty() {
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let rest = state.resting_until.map(|end| end.saturating_duration_since(Instant::now()));
            if let Some(rest) = rest.filter(|rest| !rest.is_zero()) {
                state = self.bell.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            state.is_busy = true;
            return Some(std::mem::take(&mut state.waiting));
        }
    }

    /// Whether what is being done is void: the end has come, or everything will be looked at again.
    fn is_overtaken(&self) -> bool {
        let state = self.state();
        state.is_stopping || state.waiting.whole.is_some()
    }

    /// Waits until nothing is left to be looked at. Says whether that came to pass in time.
    pub(crate) fn settle(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.state();
        if state.resting_until.take().is_some() {
            self.bell.notify_all();
        }
        while state.is_busy || !state.waiting.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_stopping {
                return false;
            }
            state = self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns the facts of all files on the disk, in the order of their paths.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Arc<Facts>)> {
        let state = self.state();
        state.files.iter().map(|(path, known)| (path.clone(), Arc::clone(&known.facts))).collect()
    }

    /// Returns why files are missing, if they are.
    pub(crate) fn cut(&self) -> Option<String> {
        self.state().cut.clone()
    }
}
