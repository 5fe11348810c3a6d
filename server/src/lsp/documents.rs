//! Opening, changing and closing documents: which of them are spec files, where they belong, and which other documents
//! a change affects.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ropey::Rope;
use speclens_runner::files::DiskFiles;
use speclens_schema::{
    analysis::Analyzer,
    dialect::{Dialect, ScalarRules, clawspec::config::Config},
    document::{Document, LineColumn, Lines},
    json_schema::SpecFile,
    kind::{self, FileContext},
};
use tower_lsp_server::gen_lsp_types::{FileEvent, TextDocumentContentChangeEvent as Change, Uri};

use super::{
    changes::About,
    convert,
    session::{OpenDocument, Session, State},
};
use crate::{
    index::Depth,
    results::{Results, SuiteId},
    scope::{Scope, is_main_name},
    workspace::{Reach, is_about_settings},
};

/// The scope of a document.
#[derive(Clone, Debug)]
pub(super) struct DocumentPlace {
    pub file: SpecFile,
    /// The path of its file; `None` for a document that was never saved.
    pub path: Option<PathBuf>,
    /// The directory that its paths are relative to.
    pub directory: PathBuf,
    /// The directories searched for settings; `None` for a text outside of all folders.
    pub settings: Option<Reach>,
    pub files: Arc<DiskFiles>,
    /// Its kind, and the suite or workspace it belongs to; `None` for a document that was never saved.
    pub scope: Option<Scope>,
}

/// An open document that is not known to be a spec file.
pub(super) struct OtherDocument {
    /// Counts openings, like that of an open document.
    opening: u64,
    version: i32,
    /// Only its text is used: it is never parsed.
    document: Document,
}

/// The result of closing a document.
struct Closed {
    results: Arc<Mutex<Results>>,
    file: SpecFile,
}

/// Maximum size, in bytes, of a document whose kind is determined again at every keystroke.
const MAX_BYTES_ASKED_WHILE_TYPING: usize = 256 * 1024;

impl DocumentPlace {
    /// Returns the suite that the document at this address belongs to.
    pub(super) fn suite(&self, uri: &str) -> SuiteId {
        let place = self.scope.as_ref().map(|scope| scope.main.as_ref().unwrap_or(&scope.place).clone());
        SuiteId { directory: self.directory.clone(), place: place.unwrap_or_else(|| uri.to_owned()) }
    }

    /// Returns the dialect, if it is a suite.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.file.dialect()
    }

    /// Whether it contains tests that can run: a document that was never saved is in no directory.
    pub(super) fn has_tests(&self) -> bool {
        self.path.is_some() && self.file.has_cases()
    }

    /// Returns the main file of its suite, if that is another file.
    pub(super) fn main(&self) -> Option<&str> {
        let scope = self.scope.as_ref()?;
        scope.main.as_deref().filter(|main| *main != scope.place)
    }

    /// Whether it is a suite, or a part of one.
    pub(super) fn has_suite(&self) -> bool {
        !self.file.is_part() || self.main().is_some()
    }
}

impl Session {
    /// Returns the scope of a document that is a spec file; `None` for any other.
    fn place_of(&self, uri: &str, text: &str) -> Option<DocumentPlace> {
        match convert::path(uri) {
            Some(path) => {
                let scope = self.scopes.find(&path, text)?;
                Some(self.place_in(path, scope))
            }
            // Such documents are not files but, for example, old versions of files, or output.
            None if !uri.starts_with("untitled:") => None,
            None => {
                let file = kind::detect("", text, &FileContext { is_asked_for: true, ..FileContext::NOTHING })?.file;
                let folder = self.scopes.folders().into_iter().next();
                Some(DocumentPlace {
                    file,
                    path: None,
                    directory: PathBuf::new(),
                    settings: folder.map(Reach::folder),
                    files: Arc::new(DiskFiles::new(Path::new(""), "")),
                    scope: None,
                })
            }
        }
    }

    pub(super) fn place_in(&self, path: PathBuf, scope: Scope) -> DocumentPlace {
        let settings = Reach::of(&scope, &self.scopes.folders());
        let files = DiskFiles::new(&scope.root, &scope.place)
            .named_by(scope.main.clone())
            .within(self.scopes.folders())
            .in_workspace(settings.top());
        let buffers = Arc::clone(&self.buffers);
        DocumentPlace {
            file: scope.file,
            directory: scope.root.clone(),
            settings: Some(settings),
            files: Arc::new(files.over(buffers)),
            path: Some(path),
            scope: Some(scope),
        }
    }

    /// Opens a document. Its kind is determined once files are read.
    pub(super) fn open(self: &Arc<Session>, uri: &str, version: i32, text: &str) {
        self.index.rest();
        let document = Document::unread(text, ScalarRules::Yaml12);
        let (session, at) = (Arc::clone(self), uri.to_owned());
        self.changes.make(About::Document(uri), move || {
            let text = document.text().clone();
            let again = {
                let mut state = session.state();
                state.openings += 1;
                let opening = state.openings;
                state.other_documents.insert(at.clone(), OtherDocument { opening, version, document });
                state.open.remove(&at)
            };
            if let Some(path) = convert::path(&at) {
                session.buffers.set(&path, text);
                session.buffer_changed(&at, &path);
            }
            session.refresh();
            Some(Box::new(move || {
                if again.is_some_and(|open| open.place.file.part().is_some()) {
                    session.neighbors_changed();
                } else {
                    session.reconsider(&at);
                }
                // Other documents were analyzed with the file, whose text may differ.
                if session.holds_settings(&at) {
                    session.files_changed(None);
                }
            }))
        });
    }

    /// Adopts a document as a spec file. If it is or was a main file, others may be its parts. Only its current text
    /// counts, not the one by which its scope was found. Returns whether it was adopted: the document may have been
    /// closed in the meantime, or another thread found its scope.
    fn adopt(&self, uri: &str, seen: &TextSnapshot, place: DocumentPlace) -> bool {
        let is_main = place.file.part().is_some();
        if let Some(path) = place.path.as_ref().filter(|_| is_main) {
            self.scopes.know_main(path);
        }
        // Only one thread reads the text: the index often finds the suite of a document that is being opened.
        let lock = {
            let mut adopting = self.adopting.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(adopting.entry(uri.to_owned()).or_default())
        };
        let turn = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state().seen(uri).is_none_or(|now| now.opening != seen.opening) {
            return false;
        }
        let is_guess = place.scope.as_ref().is_some_and(|scope| scope.is_guess);
        let analyzer = Analyzer::new(place.file).guessing(is_guess).saved(place.path.is_some());
        self.requests.begin(move || analyzer.prepare());
        let mut document = Document::read_rope(seen.text.clone(), place.file.scalar_rules());
        if let Some(path) = &place.path {
            // The document has its own diagnostics while it is open.
            self.forget_published(path);
        }
        let results = self.results_of(&place.suite(uri));
        let was_main = {
            let mut state = self.state();
            let Some(now) = state.seen(uri).filter(|now| now.opening == seen.opening) else { return false };
            if !now.text.is_instance(&seen.text) {
                let end = document.text().len_bytes();
                document.edit(0..end, &String::from(&now.text));
            }
            state.openings += 1;
            let (opening, version) = (state.openings, now.version);
            let open = OpenDocument {
                opening,
                version,
                document,
                edited_at: 0,
                analyzer,
                place,
                results,
                latest: None,
                known_problems: Arc::default(),
            };
            state.other_documents.remove(uri);
            let before = state.open.insert(uri.to_owned(), open);
            before.is_some_and(|before| before.place.file.part().is_some())
        };
        drop(turn);
        self.analyze(uri);
        if is_main != was_main {
            self.neighbors_changed();
        }
        true
    }

    /// Applies edits to a document.
    pub(super) fn change(self: &Arc<Session>, uri: &str, version: i32, changes: Vec<Change>) {
        let (session, at) = (Arc::clone(self), uri.to_owned());
        self.changes.make(About::Document(uri), move || {
            let length = session.edit(&at, version, changes)?;
            if session.holds_settings(&at) {
                session.files_changed(None);
            }
            if length > MAX_BYTES_ASKED_WHILE_TYPING {
                session.analyze_if_ours(&at);
                return None;
            }
            Some(Box::new(move || {
                if !session.reconsider(&at) {
                    session.analyze_if_ours(&at);
                }
            }))
        });
    }

    /// Edits the text of a document. Returns its size in bytes; `None` if it is not open.
    fn edit(&self, uri: &str, version: i32, changes: Vec<Change>) -> Option<usize> {
        let text = {
            let mut state = self.state();
            let encoding = state.abilities.encoding;
            if let Some(open) = state.open.get_mut(uri) {
                for change in changes {
                    open.edited_at = apply(&mut open.document, encoding, change);
                }
                open.version = version;
                open.document.text().clone()
            } else {
                let other = state.other_documents.get_mut(uri)?;
                for change in changes {
                    apply(&mut other.document, encoding, change);
                }
                other.version = version;
                other.document.text().clone()
            }
        };
        let length = text.len_bytes();
        if let Some(path) = convert::path(uri) {
            self.buffers.set(&path, text);
            self.buffer_changed(uri, &path);
        }
        Some(length)
    }

    fn analyze_if_ours(&self, uri: &str) {
        if self.is_open(uri) {
            self.analyze(uri);
        }
    }

    /// Closes a document.
    pub(super) fn close(self: &Arc<Session>, uri: &str) {
        let (session, at) = (Arc::clone(self), uri.to_owned());
        self.changes.make(About::Document(uri), move || {
            let closed = session.remove(&at)?;
            let results = Arc::clone(&closed.results);
            let forgotten = at.clone();
            // Judging holds the lock, and may take long.
            session.requests.begin(move || {
                results.lock().unwrap_or_else(PoisonError::into_inner).forget(&forgotten);
            });
            Some(Box::new(move || session.follow_close(&at, &closed)))
        });
    }

    fn remove(&self, uri: &str) -> Option<Closed> {
        let open = {
            let mut state = self.state();
            state.other_documents.remove(uri);
            state.open.remove(uri)
        };
        self.remembered().remove(uri);
        self.adopting.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
        self.forget_turns(uri);
        if open.is_some() {
            // The diagnostics that it caused in other files are removed.
            self.analyze(uri);
        }
        if let Some(path) = convert::path(uri) {
            self.buffers.remove(&path);
            self.buffer_changed(uri, &path);
            // Changes on the disk were ignored while it was open.
            self.index.look_at([path]);
        }
        open.map(|open| Closed { results: open.results, file: open.place.file })
    }

    /// Completes the closing of a document: the file on the disk counts from now on, and other documents report it.
    fn follow_close(&self, uri: &str, closed: &Closed) {
        self.publish(Uri(uri.to_owned()), Vec::new(), None);
        if closed.file.part().is_some() {
            self.neighbors_changed();
        }
        let Some(path) = convert::path(uri) else { return };
        self.forget_published(&path);
        if closed.file.is_settings() {
            self.files_changed(None);
        } else {
            self.analyze_suite(&closed.results);
        }
    }

    /// Whether an open document is a settings file, which affects every other document.
    fn holds_settings(&self, uri: &str) -> bool {
        self.state().open.get(uri).is_some_and(|open| open.place.file.is_settings())
    }

    /// Handles a saved document.
    pub(super) fn saved(self: &Arc<Session>, uri: &str) {
        let file = self.state().open.get(uri).map(|open| open.place.file);
        // A file that decides where others belong affects all of them, and so may a file of unknown kind.
        let decides = file.is_none_or(SpecFile::decides_about_others);
        let about = if decides { About::AllAfter(uri) } else { About::Document(uri) };
        let (session, at) = (Arc::clone(self), uri.to_owned());
        self.changes.make(about, move || {
            // Without file watching, other files may have changed in the meantime.
            let may_others_have_changed = session.refresh();
            if may_others_have_changed || session.holds_settings(&at) {
                session.files_changed(None);
            }
            Some(Box::new(move || {
                if decides {
                    session.neighbors_changed();
                } else {
                    session.reconsider(&at);
                }
                let shared = Arc::clone(&session);
                session.requests.begin(move || shared.consult_whole(&at));
            }))
        });
    }

    /// Adds and removes workspace folders.
    pub(super) fn folders_changed(self: &Arc<Session>, added: Vec<PathBuf>, removed: Vec<PathBuf>) {
        let session = Arc::clone(self);
        self.changes.make(About::All, move || {
            let mut folders = session.scopes.folders();
            folders.retain(|folder| !removed.contains(folder));
            folders.extend(added);
            session.scopes.set_folders(folders);
            Some(Box::new(move || {
                session.neighbors_changed();
                session.index.look_at_all(Depth::Everything);
            }))
        });
    }

    /// Handles files that were created, deleted or changed on the disk.
    pub(super) fn files_watched(self: &Arc<Session>, changes: Vec<FileEvent>) {
        let session = Arc::clone(self);
        self.changes.make(About::All, move || {
            let is_recording = |change: &FileEvent| change.uri.0.contains("/.speclens/");
            if changes.iter().any(is_recording) {
                // Each analysis checks for recordings that it does not know.
                session.analyze_all();
            }
            // The editor reports changes of open documents.
            let is_open = |change: &FileEvent| session.is_open(&change.uri.0);
            if changes.iter().all(|change| is_recording(change) || is_open(change)) {
                return None;
            }
            // A checkout changes thousands of files.
            Some(Box::new(move || {
                let paths: Vec<_> = changes.iter().filter_map(|change| convert::path(&change.uri.0)).collect();
                session.disk_changed(&paths);
                session.files_changed(Some(&paths));
            }))
        });
    }

    /// Analyzes the whole text instead of its parts, which takes too long for a keystroke.
    pub(super) fn consult_whole(&self, uri: &str) {
        let Some(mut snapshot) = self.snapshot(uri) else { return };
        let before = snapshot.document.clone();
        snapshot.document.consult_whole(&String::from(snapshot.document.text()));
        if snapshot.document.is_same(&before) {
            return;
        }
        let same = |open: &&mut OpenDocument| (open.opening, open.version) == (snapshot.opening, snapshot.version);
        {
            let mut state = self.state();
            // A different text is analyzed in its own turn.
            let Some(open) = state.open.get_mut(uri).filter(same) else { return };
            open.document = snapshot.document;
        }
        self.analyze(uri);
        if snapshot.abilities.pulls_diagnostics {
            // The diagnostics that the client pulled in the meantime are based on the parts alone.
            let client = self.client.clone();
            self.runtime.spawn(async move {
                let _ = client.workspace_diagnostic_refresh().await;
            });
        }
    }

    /// Checks for files changed outside of the editor if the client does not watch files. Returns whether that is so.
    fn refresh(&self) -> bool {
        let is_told = self.state().abilities.watches_files;
        if !is_told {
            self.index.look_at_all(Depth::Changed);
        }
        !is_told
    }

    /// Has documents that read a file analyzed again because its text in the editor has changed.
    fn buffer_changed(&self, uri: &str, path: &Path) {
        let decides = |name: &str| is_main_name(name) || name == Config::FILE;
        if path.file_name().and_then(|name| name.to_str()).is_some_and(decides) || self.scopes.is_main(path) {
            self.scopes.forget();
        }
        let mut concerned = Vec::new();
        for (other, open) in &mut self.state().open {
            if other != uri && open.place.files.has_read(path) {
                open.files_changed();
                concerned.push(other.clone());
            }
        }
        concerned.iter().for_each(|other| self.analyze(other));
    }

    /// Determines the scopes of documents again after main files or settings were created, deleted or changed.
    pub(super) fn neighbors_changed(&self) {
        self.scopes.forget();
        let all: Vec<String> = {
            let state = self.state();
            state.open.keys().chain(state.other_documents.keys()).cloned().collect()
        };
        for uri in &all {
            self.reconsider(uri);
        }
    }

    /// Determines again what a document is and where it belongs. Returns whether that has changed.
    fn reconsider(&self, uri: &str) -> bool {
        loop {
            let (seen, before) = {
                let state = self.state();
                let Some(seen) = state.seen(uri) else { return false };
                (seen, state.open.get(uri).map(|open| open.place.clone()))
            };
            // A spec file remains one while it is open: it may be half typed just now.
            let Some(place) = self.place_of(uri, &String::from(&seen.text)) else { return false };
            let is_same = before.is_some_and(|before| {
                (&before.scope, &before.settings, before.file) == (&place.scope, &place.settings, place.file)
            });
            if is_same {
                return false;
            }
            if self.adopt(uri, &seen, place) {
                return true;
            }
            // The result of another thread may be older than this one.
        }
    }

    /// Discards what documents read of files that changed on the disk. `None`: all files.
    fn files_changed(&self, paths: Option<&[PathBuf]>) {
        let concerned = self.forget_files(paths);
        if concerned.is_empty() {
            return;
        }
        let (diagnostics, hints) = {
            let state = self.state();
            let abilities = state.abilities;
            (abilities.pulls_diagnostics, abilities.refreshes_hints && state.display.inlay_hints)
        };
        let client = self.client.clone();
        self.runtime.spawn(async move {
            if diagnostics {
                let _ = client.workspace_diagnostic_refresh().await;
            }
            if hints {
                let _ = client.inlay_hint_refresh().await;
            }
        });
        concerned.iter().for_each(|uri| self.analyze(uri));
    }

    /// Discards what open documents read of these files; `None`: all
    /// files. Returns the documents affected.
    fn forget_files(&self, paths: Option<&[PathBuf]>) -> Vec<String> {
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let is_settings = |path: &PathBuf| is_about_settings(&name(path));
        let everything = paths.is_none_or(|paths| paths.iter().any(is_settings));
        let places: Vec<(String, DocumentPlace)> =
            self.state().open.iter().map(|(uri, open)| (uri.clone(), open.place.clone())).collect();
        let sees = |place: &DocumentPlace, path: &PathBuf| {
            place.files.has_seen(path) || place.settings.as_ref().is_some_and(|reach| reach.is_in(path))
        };
        let is_concerned =
            |place: &DocumentPlace| everything || paths.is_some_and(|paths| paths.iter().any(|path| sees(place, path)));
        // The lock is released while thousands of paths are compared.
        let concerned: Vec<String> =
            places.into_iter().filter(|(_, place)| is_concerned(place)).map(|(uri, _)| uri).collect();
        let mut state = self.state();
        for uri in &concerned {
            if let Some(open) = state.open.get_mut(uri) {
                open.files_changed();
            }
        }
        concerned
    }

    /// Reads files that changed on the disk, and updates the documents whose scope they decide.
    fn disk_changed(&self, paths: &[PathBuf]) {
        let decides = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            is_main_name(name) || name == Config::FILE || self.scopes.is_main(path)
        };
        if paths.iter().any(decides) {
            self.neighbors_changed();
        }
        self.index.look_at(paths.iter().cloned());
    }
}

/// A snapshot of the text of an open document.
struct TextSnapshot {
    opening: u64,
    version: i32,
    text: Rope,
}

impl State {
    fn seen(&self, uri: &str) -> Option<TextSnapshot> {
        let seen =
            |opening, version, document: &Document| TextSnapshot { opening, version, text: document.text().clone() };
        match (self.open.get(uri), self.other_documents.get(uri)) {
            (Some(open), _) => Some(seen(open.opening, open.version, &open.document)),
            (None, Some(other)) => Some(seen(other.opening, other.version, &other.document)),
            (None, None) => None,
        }
    }
}

/// Applies one change of the client. Returns the byte where it ends; 0 if it replaces the text.
fn apply(document: &mut Document, encoding: speclens_schema::document::Encoding, change: Change) -> usize {
    match change {
        Change::TextDocumentContentChangePartial(change) => {
            let start = convert::offset(document, encoding, change.range.start);
            let end = convert::offset(document, encoding, change.range.end).max(start);
            document.edit(start..end, &change.text);
            start + change.text.len()
        }
        Change::TextDocumentContentChangeWholeDocument(change) => {
            let end = Lines::new(document.text(), encoding).offset(LineColumn { line: usize::MAX, column: 0 });
            document.edit(0..end, &change.text);
            0
        }
    }
}
