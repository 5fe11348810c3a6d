//! The facts of all files of the workspace about names: the part of each that other files, and lists of symbols, need.
//! No trees and no texts are kept. A background thread fills it, see [`scan`]; requests may wait until it is complete.

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
        cross_file_names::{self, NameScope},
        symbols::{self, SymbolKind},
    },
    scope::Scope,
};

/// The facts of one file.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Its kind, and the suite or workspace it belongs to.
    pub scope: Scope,
    /// Names, sorted by kind and name.
    names: Box<[Fact]>,
    /// A result of a workspace symbol search.
    pub symbols: Box<[SymbolEntry]>,
}

/// A name in a file.
#[derive(Debug)]
pub(crate) struct Fact {
    /// The kind of thing it names.
    pub kind: &'static str,
    /// The name.
    pub name: Box<str>,
    /// The scope of the name: a directory, or the file that defines it.
    pub home: Arc<Path>,
    /// The range of the name, without quotes.
    pub span: Span,
    /// Whether this is its definition.
    pub is_definition: bool,
}

/// A result of a workspace symbol search.
#[derive(Debug)]
pub(crate) struct SymbolEntry {
    /// The name.
    pub name: Box<str>,
    /// The name of the enclosing symbol.
    pub container: Option<Box<str>>,
    /// The kind.
    pub kind: SymbolKind,
    /// The range of the name.
    pub span: Span,
}

/// A range of a text in lines, and columns in the units of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The start.
    pub start: (u32, u32),
    /// The end.
    pub end: (u32, u32),
}

impl Facts {
    /// Returns the facts of a file whose names are not needed.
    fn without_names(scope: &Scope) -> Facts {
        Facts { scope: scope.clone(), names: Box::default(), symbols: Box::default() }
    }

    /// Returns the facts of a document.
    pub(crate) fn of(document: &Document, scope: &Scope, encoding: Encoding) -> Facts {
        let lines = Lines::new(document.text(), encoding);
        let span = |range: std::ops::Range<usize>| {
            let places = lines.places(range);
            let place = |place: LineColumn| (clamp(place.line), clamp(place.column));
            Span { start: place(places.start), end: place(places.end) }
        };
        let mut homes: BTreeMap<PathBuf, Arc<Path>> = BTreeMap::new();
        let mut home = |home: &NameScope| {
            let path = home_of(scope, home);
            Arc::clone(homes.entry(path).or_insert_with_key(|path| Arc::from(path.as_path())))
        };
        let mentions = cross_file_names::mentions(document, scope.file, &scope.place);
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
        let symbols = symbols::workspace_symbols(document, scope.file).into_iter().map(|found| SymbolEntry {
            name: found.name.into(),
            container: found.container.map(Into::into),
            kind: found.kind,
            span: span(found.selection),
        });
        Facts { scope: scope.clone(), names: names.into(), symbols: symbols.collect() }
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

/// Returns the directory or file that is the scope of a name.
pub(crate) fn home_of(scope: &Scope, home: &NameScope) -> PathBuf {
    match home {
        NameScope::Root => scope.root.clone(),
        NameScope::Suite => scope.root.join(scope.main.as_ref().unwrap_or(&scope.place)),
        NameScope::File(place) => scope.root.join(place),
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Limits on the content of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Maximum number of spec files.
    pub files: usize,
    /// Maximum total size of their texts in bytes.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { files: 10_000, bytes: 128 * 1024 * 1024 }
    }
}

/// The facts of all files, and the pending work.
#[derive(Debug, Default)]
pub(crate) struct Index {
    state: Mutex<State>,
    /// Notified when there is work, and when it is done.
    wakeup: Condvar,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, IndexedFile>,
    /// YAML files that are not spec files.
    other_files: BTreeMap<PathBuf, FileSignature>,
    /// The reason why files are missing, if any.
    cut: Option<String>,
    waiting: Job,
    /// No work begins before this, unless a request waits for it.
    resting_until: Option<Instant>,
    is_busy: bool,
    is_stopping: bool,
}

/// A file in the index.
#[derive(Clone, Debug)]
struct IndexedFile {
    signature: FileSignature,
    facts: Arc<Facts>,
    /// Whether its names were read; false for a file that was open in the editor.
    is_read: bool,
}

/// The properties that change with the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileSignature {
    modified: Option<std::time::SystemTime>,
    length: u64,
}

/// Pending work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job {
    /// All files again, or at least the changed ones.
    whole: Option<Depth>,
    /// Files and directories that were created, deleted or changed.
    paths: BTreeSet<PathBuf>,
}

/// The depth of a new read of the whole workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Unchanged files are not read.
    Changed,
    /// Files may belong to other suites now: all are read.
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

    /// Schedules the whole workspace.
    pub(crate) fn look_at_all(&self, depth: Depth) {
        let mut state = self.state();
        state.waiting.whole = state.waiting.whole.max(Some(depth));
        drop(state);
        self.wakeup.notify_all();
    }

    /// Schedules some files and directories. Files that are not YAML, and directories without any, cost nothing.
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
        self.wakeup.notify_all();
    }

    /// Delays further work for a moment, unless a request waits for it.
    pub(crate) fn rest(&self) {
        /// Within this time, a document of a megabyte is open and its problems are reported.
        const MOMENT: Duration = Duration::from_millis(250);
        self.state().resting_until = Some(Instant::now() + MOMENT);
    }

    /// Stops the work.
    pub(crate) fn stop(&self) {
        self.state().is_stopping = true;
        self.wakeup.notify_all();
    }

    /// Waits for work; `None` once the index is stopped.
    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        state.is_busy = false;
        self.wakeup.notify_all();
        loop {
            if state.is_stopping {
                return None;
            }
            if state.waiting.is_empty() {
                state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let rest = state.resting_until.map(|end| end.saturating_duration_since(Instant::now()));
            if let Some(rest) = rest.filter(|rest| !rest.is_zero()) {
                state = self.wakeup.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            state.is_busy = true;
            return Some(std::mem::take(&mut state.waiting));
        }
    }

    /// Whether the current work is obsolete: the index is stopped, or everything will be read again.
    fn is_overtaken(&self) -> bool {
        let state = self.state();
        state.is_stopping || state.waiting.whole.is_some()
    }

    /// Waits until no work is left. Returns whether that happened in time.
    pub(crate) fn settle(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.state();
        if state.resting_until.take().is_some() {
            self.wakeup.notify_all();
        }
        while state.is_busy || !state.waiting.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_stopping {
                return false;
            }
            state = self.wakeup.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Returns the facts of all files on the disk, sorted by path.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Arc<Facts>)> {
        let state = self.state();
        state.files.iter().map(|(path, known)| (path.clone(), Arc::clone(&known.facts))).collect()
    }

    /// Returns the reason why files are missing, if any.
    pub(crate) fn cut(&self) -> Option<String> {
        self.state().cut.clone()
    }
}
