//! The facts of all files of the workspace about names: the part of each that other files, and lists of symbols, need.
//! No trees and no texts are kept. [`scan`] reads the files; [`Schedule`] decides when.

pub(crate) mod scan;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use speclens_schema::document::{Document, Encoding, LineColumn, Lines};
use tokio_util::sync::CancellationToken;

use crate::{
    ide::{
        cross_file_names::{self, NameScope},
        symbols::{self, WorkspaceSymbol},
    },
    scope::Scope,
};

#[derive(Debug)]
pub(crate) struct Facts {
    /// Its kind, and the suite or workspace it belongs to.
    pub scope: Scope,
    /// Names, sorted by kind and name.
    names: Box<[Fact]>,
    pub symbols: Box<[(WorkspaceSymbol, Span)]>,
}

#[derive(Debug)]
pub(crate) struct Fact {
    pub kind: &'static str,
    pub name: Box<str>,
    /// The scope of the name: a directory, or the file that defines it.
    pub home: Arc<Path>,
    /// The range of the name, without quotes.
    pub span: Span,
    pub is_definition: bool,
}

/// A range of a text in lines, and columns in the units of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: (u32, u32),
    pub end: (u32, u32),
}

impl Facts {
    fn without_names(scope: &Scope) -> Facts {
        Facts { scope: scope.clone(), names: Box::default(), symbols: Box::default() }
    }

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
        let symbols = symbols::workspace_symbols(document, scope.file).into_iter().map(|symbol| {
            let place = span(symbol.selection.clone());
            (symbol, place)
        });
        Facts { scope: scope.clone(), names: names.into(), symbols: symbols.collect() }
    }

    pub(crate) fn of_kind<'f>(&'f self, kind: &'f str) -> impl Iterator<Item = &'f Fact> {
        let start = self.names.partition_point(|fact| fact.kind < kind);
        self.names[start..].iter().take_while(move |fact| fact.kind == kind)
    }

    pub(crate) fn places<'f>(&'f self, kind: &'f str, name: &'f str, home: &'f Path) -> impl Iterator<Item = &'f Fact> {
        let start = self.names.partition_point(|fact| (fact.kind, &*fact.name) < (kind, name));
        let same = self.names[start..].iter().take_while(move |fact| fact.kind == kind && &*fact.name == name);
        same.filter(move |fact| *fact.home == *home)
    }
}

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

/// The facts of all files on the disk, as far as they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedFiles {
    files: BTreeMap<PathBuf, IndexedFile>,
    other_files: BTreeMap<PathBuf, FileSignature>,
    /// The reason why files are missing, if any.
    pub cut: Option<String>,
}

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

impl IndexedFiles {
    pub(crate) fn all(&self) -> impl Iterator<Item = (&PathBuf, &Arc<Facts>)> {
        self.files.iter().map(|(path, known)| (path, &known.facts))
    }
}

/// Files and directories to read.
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

/// The pending and the current work of the index.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    waiting: Job,
    /// No work begins before this, unless a request waits for it.
    resting_until: Option<Instant>,
    /// Cancelled when the current work becomes obsolete; `None` if there is none.
    current: Option<CancellationToken>,
}

#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing is to be done, or work is under way.
    Nothing,
    /// Work begins after this time.
    Later(Duration),
    /// This work begins. It is obsolete once the token is cancelled.
    Begin(Job, CancellationToken),
}

impl Schedule {
    pub(crate) fn look_at_all(&mut self, depth: Depth) {
        self.waiting.whole = self.waiting.whole.max(Some(depth));
        self.abandon();
    }

    pub(crate) fn look_at(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.waiting.paths.extend(paths);
    }

    /// Delays further work for a moment, unless a request waits for it.
    pub(crate) fn rest(&mut self) {
        /// Within this time, a document of a megabyte is open and its problems are reported.
        const MOMENT: Duration = Duration::from_millis(250);
        self.resting_until = Some(Instant::now() + MOMENT);
    }

    pub(crate) fn abandon(&self) {
        self.current.iter().for_each(CancellationToken::cancel);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.current.is_none() && self.waiting.whole.is_none() && self.waiting.paths.is_empty()
    }

    /// Takes the next step. `is_wanted`: a request waits for it.
    pub(crate) fn next(&mut self, is_wanted: bool) -> Next {
        if self.is_done() || self.current.is_some() {
            return Next::Nothing;
        }
        let rest = self.resting_until.map(|end| end.saturating_duration_since(Instant::now()));
        match rest.filter(|rest| !rest.is_zero() && !is_wanted) {
            Some(rest) => Next::Later(rest),
            None => {
                self.resting_until = None;
                let token = CancellationToken::new();
                self.current = Some(token.clone());
                Next::Begin(std::mem::take(&mut self.waiting), token)
            }
        }
    }

    /// Ends the current work. What was obsolete is done again, as thoroughly as it had to be.
    pub(crate) fn ended(&mut self, obsolete: Option<&Job>) {
        self.current = None;
        if let Some(depth) = obsolete.and_then(|job| job.whole) {
            self.look_at_all(depth);
        }
    }
}
