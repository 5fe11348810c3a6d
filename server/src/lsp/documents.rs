//! Opening, changing and closing documents: which of them are ours, what they belong to, and whom a change
//! concerns beside the document itself.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ropey::Rope;
use speclens_runner::files::DiskFiles;
use speclens_schema::{
    analysis::Analyzer,
    dialect::{Dialect, ScalarRules},
    document::{Document, LineColumn, Lines},
    json_schema::SpecFile,
    kind::{self, Around},
    problem::{Code, Problem},
};
use tokio::runtime::Handle;
use tower_lsp_server::gen_lsp_types::TextDocumentContentChangeEvent as Change;

use super::{
    convert,
    session::{Open, Session},
};
use crate::{
    index::Depth,
    scope::{Scope, is_main_name},
    workspace::{Reach, is_about_settings},
};

/// Where a document belongs.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub file: SpecFile,
    /// Where it is saved; nothing for a document that never was.
    pub path: Option<PathBuf>,
    /// The directory that its paths are relative to.
    pub directory: PathBuf,
    /// Where settings are looked for; nowhere for a text that is in no folder.
    pub settings: Option<Reach>,
    pub files: Arc<DiskFiles>,
    /// What it belongs to; nothing for a document that never was saved.
    pub scope: Option<Scope>,
}

/// An open document that is not ours, as far as can be told yet.
pub(super) struct Stranger {
    version: i32,
    /// Only its text is of interest: it is never read.
    document: Document,
}

/// Maximum size, in bytes, of a document that is asked at every keystroke what it is.
const MAX_ASKED_WHILE_TYPING: usize = 256 * 1024;

/// A suite: the directory that its paths start from, and its main file from there. A document that was never saved is a
/// suite of its own, named by its address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SuiteId {
    pub directory: PathBuf,
    pub place: String,
}

impl Place {
    /// The suite that the document at this address belongs to.
    pub(super) fn suite(&self, uri: &str) -> SuiteId {
        let place = self.scope.as_ref().map(|scope| scope.main.as_ref().unwrap_or(&scope.place).clone());
        SuiteId { directory: self.directory.clone(), place: place.unwrap_or_else(|| uri.to_owned()) }
    }

    /// The dialect, when it is a suite.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.file.dialect()
    }

    /// Whether it holds tests that somebody may want to run: a document that was never saved is in no directory.
    pub(super) fn has_tests(&self) -> bool {
        self.path.is_some() && self.file.has_cases()
    }

    /// The main file of its suite, where that is another file.
    pub(super) fn main(&self) -> Option<&str> {
        let scope = self.scope.as_ref()?;
        scope.main.as_deref().filter(|main| *main != scope.place)
    }

    /// Whether it makes a suite, or is a part of one.
    pub(super) fn has_suite(&self) -> bool {
        !self.file.is_part() || self.main().is_some()
    }

    /// The problems that mean something for this document: one that is not saved has no files beside it.
    pub(super) fn retain(&self, problems: &mut Vec<Problem>) {
        if self.path.is_none() {
            problems.retain(|problem| problem.code != Code::MissingFile);
        }
    }
}

impl Session {
    /// The place of a document that is ours; nothing for any other.
    fn place_of(&self, uri: &str, text: &str) -> Option<Place> {
        match convert::path(uri) {
            Some(path) => {
                let scope = self.scopes.find(&path, text)?;
                Some(self.place_in(path, scope))
            }
            // Such documents are no files, but old versions of some, or pieces of output.
            None if !uri.starts_with("untitled:") => None,
            None => {
                let file = kind::detect("", text, &Around { is_asked_for: true, ..Around::NOTHING })?.file;
                let folder = self.scopes.folders().into_iter().next();
                Some(Place {
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

    pub(super) fn place_in(&self, path: PathBuf, scope: Scope) -> Place {
        let settings = Reach::of(&scope, &self.scopes.folders());
        let files = DiskFiles::new(&scope.root, &scope.place)
            .named_by(scope.main.clone())
            .within(self.scopes.folders())
            .in_workspace(settings.top());
        let buffers = Arc::clone(&self.buffers);
        Place {
            file: scope.file,
            directory: scope.root.clone(),
            settings: Some(settings),
            files: Arc::new(files.over(buffers)),
            path: Some(path),
            scope: Some(scope),
        }
    }

    /// A document is open from now on.
    pub(super) fn open(&self, uri: &str, version: i32, text: &str) {
        self.index.rest();
        let rope = Rope::from_str(text);
        if let Some(path) = convert::path(uri) {
            self.buffers.set(&path, rope.clone());
            self.buffer_changed(uri, &path);
        }
        let generation = self.scopes.generation();
        let place = self.place_of(uri, text);
        self.open_at(uri, version, rope, place);
        // Main files that came to light meanwhile could not tell this document, which nobody knew yet.
        if self.scopes.generation() != generation {
            self.reconsider(uri);
        }
        self.look_again();
    }

    fn open_at(&self, uri: &str, version: i32, text: Rope, place: Option<Place>) {
        let Some(place) = place else {
            let stranger = Stranger { version, document: Document::unread(&String::from(text), ScalarRules::Yaml12) };
            self.state().strangers.insert(uri.to_owned(), stranger);
            return;
        };
        self.adopt(uri, version, text, place);
    }

    /// Takes a document for ours. Where it is a main file, or was one, others may be its parts.
    fn adopt(&self, uri: &str, version: i32, text: Rope, place: Place) {
        let was_main = self.state().open.get(uri).is_some_and(|open| open.place.file == SpecFile::CliBench);
        let is_main = place.file == SpecFile::CliBench;
        if let Some(path) = place.path.as_ref().filter(|_| is_main) {
            self.scopes.know_main(path);
        }
        let document = Document::read_rope(text, place.file.scalar_rules());
        if let Some(path) = &place.path {
            // The document tells about itself while it is open.
            self.forget_told(path);
        }
        {
            let mut state = self.state();
            state.openings += 1;
            let results = self.results_of(&place.suite(uri));
            let is_guess = place.scope.as_ref().is_some_and(|scope| scope.is_guess);
            let analyzer = Analyzer::new(place.file).guessing(is_guess);
            let opening = state.openings;
            let open = Open { opening, version, document, edited_at: 0, analyzer, place, results, latest: None };
            state.strangers.remove(uri);
            state.open.insert(uri.to_owned(), open);
        }
        self.analyse(uri);
        if is_main != was_main {
            self.neighbours_changed();
        }
    }

    /// A document was edited. Says whether it is ours.
    pub(super) fn change(&self, uri: &str, version: i32, changes: Vec<Change>) -> bool {
        let text = {
            let mut state = self.state();
            let encoding = state.abilities.encoding;
            if let Some(open) = state.open.get_mut(uri) {
                for change in changes {
                    open.edited_at = apply(&mut open.document, encoding, change);
                }
                open.version = version;
                open.document.text().clone()
            } else if let Some(stranger) = state.strangers.get_mut(uri) {
                for change in changes {
                    apply(&mut stranger.document, encoding, change);
                }
                stranger.version = version;
                stranger.document.text().clone()
            } else {
                return false;
            }
        };
        if let Some(path) = convert::path(uri) {
            self.buffers.set(&path, text.clone());
            self.buffer_changed(uri, &path);
        }
        let is_adopted = text.len_bytes() <= MAX_ASKED_WHILE_TYPING && self.reconsider(uri);
        let is_ours = self.is_open(uri);
        if is_ours && !is_adopted {
            self.analyse(uri);
        }
        is_ours
    }

    /// A document is open no more. Says whether it was ours.
    pub(super) fn close(&self, uri: &str) -> bool {
        let (was_open, was_main) = {
            let mut state = self.state();
            state.strangers.remove(uri);
            let open = state.open.remove(uri);
            (open.is_some(), open.is_some_and(|open| open.place.file == SpecFile::CliBench))
        };
        self.remembered().remove(uri);
        if was_open {
            // What was told because of it is taken back.
            self.analyse(uri);
        }
        if let Some(path) = convert::path(uri) {
            self.buffers.remove(&path);
            self.buffer_changed(uri, &path);
            // While it was open, what became of it on the disk was of no interest.
            self.index.look_at([path]);
        }
        if was_main {
            self.neighbours_changed();
        }
        was_open
    }

    /// Whether an open document holds settings, which concern every other one.
    pub(super) fn holds_settings(&self, uri: &str) -> bool {
        self.state().open.get(uri).is_some_and(|open| open.place.file == SpecFile::Settings)
    }

    /// A document was saved. Says whether that concerns every other one.
    pub(super) fn saved(&self, uri: &str) -> bool {
        let file = self.state().open.get(uri).map(|open| open.place.file);
        match file {
            Some(SpecFile::CliBench | SpecFile::ClawSpec) | None => self.neighbours_changed(),
            Some(_) => {
                self.reconsider(uri);
            }
        }
        if self.look_again() {
            // Nobody else tells what became of other files meanwhile.
            return true;
        }
        file == Some(SpecFile::Settings)
    }

    /// Lets the whole text have the last word on what it means; that takes too long for a keystroke.
    pub(super) fn consult_whole(&self, runtime: &Handle, uri: &str) {
        let Some(mut snapshot) = self.snapshot(uri) else { return };
        let before = snapshot.document.verdict();
        snapshot.document.consult_whole(&String::from(snapshot.document.text()));
        if snapshot.document.verdict() == before {
            return;
        }
        let same = |open: &&mut Open| (open.opening, open.version) == (snapshot.opening, snapshot.version);
        {
            let mut state = self.state();
            // Another text than this one is consulted on its own.
            let Some(open) = state.open.get_mut(uri).filter(same) else { return };
            open.document = snapshot.document;
        }
        self.analyse(uri);
        if snapshot.abilities.pulls_diagnostics && snapshot.abilities.refreshes_diagnostics {
            // What the client pulled meanwhile was said of the parts alone.
            let client = self.client.clone();
            runtime.spawn(async move {
                let _ = client.workspace_diagnostic_refresh().await;
            });
        }
    }

    /// Looks for files that changed outside of the editor, where the client does not tell. Says whether that is so.
    fn look_again(&self) -> bool {
        let is_told = self.state().abilities.watches_files;
        if !is_told {
            self.index.look_at_all(Depth::Changed);
        }
        !is_told
    }

    /// What the editor holds of a file is another text now: who read it has it looked at again.
    fn buffer_changed(&self, uri: &str, path: &Path) {
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_main_name) || self.scopes.is_main(path) {
            self.scopes.forget();
        }
        let mut concerned = Vec::new();
        for (other, open) in &mut self.state().open {
            if other != uri && open.place.files.has_read(path) {
                open.place.files.forget();
                open.analyzer.files_changed();
                concerned.push(other.clone());
            }
        }
        concerned.iter().for_each(|other| self.analyse(other));
    }

    /// Main files or settings came, went or changed: documents may belong elsewhere, or be ours only now.
    pub(super) fn neighbours_changed(&self) {
        self.scopes.forget();
        let all: Vec<String> = {
            let state = self.state();
            state.open.keys().chain(state.strangers.keys()).cloned().collect()
        };
        for uri in &all {
            self.reconsider(uri);
        }
    }

    /// Asks anew what a document is and where it belongs. Says whether that is something else than before.
    fn reconsider(&self, uri: &str) -> bool {
        let (version, text, before) = {
            let state = self.state();
            match (state.open.get(uri), state.strangers.get(uri)) {
                (Some(open), _) => (open.version, open.document.text().clone(), Some(open.place.clone())),
                (None, Some(stranger)) => (stranger.version, stranger.document.text().clone(), None),
                (None, None) => return false,
            }
        };
        // What was ours stays so while it is open: it may be half typed just now.
        let Some(place) = self.place_of(uri, &String::from(&text)) else { return false };
        let is_same = before.is_some_and(|before| {
            (&before.scope, &before.settings, before.file) == (&place.scope, &place.settings, place.file)
        });
        if !is_same {
            self.adopt(uri, version, text, place);
        }
        !is_same
    }

    /// Has the open documents forget what they saw of files, as far as it depends on these; nothing stands for all
    /// files. Returns which documents that concerns.
    pub(super) fn forget_files(&self, paths: Option<&[PathBuf]>) -> Vec<String> {
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let is_settings = |path: &PathBuf| is_about_settings(&name(path));
        let everything = paths.is_none_or(|paths| paths.iter().any(is_settings));
        let places: Vec<(String, Place)> =
            self.state().open.iter().map(|(uri, open)| (uri.clone(), open.place.clone())).collect();
        let sees = |place: &Place, path: &PathBuf| {
            place.files.has_seen(path) || place.settings.as_ref().is_some_and(|reach| reach.is_in(path))
        };
        let is_concerned =
            |place: &Place| everything || paths.is_some_and(|paths| paths.iter().any(|path| sees(place, path)));
        // Others may have the state while thousands of paths are compared.
        let concerned: Vec<String> =
            places.into_iter().filter(|(_, place)| is_concerned(place)).map(|(uri, _)| uri).collect();
        let mut state = self.state();
        for uri in &concerned {
            if let Some(open) = state.open.get_mut(uri) {
                open.place.files.forget();
                open.analyzer.files_changed();
            }
        }
        concerned
    }

    /// Files changed on the disk.
    pub(super) fn disk_changed<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) {
        let decides = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            matches!(name, "cli-bench.yaml" | "cli-bench.yml" | "clawspec.yaml") || self.scopes.is_main(path)
        };
        let paths: Vec<&Path> = paths.into_iter().collect();
        if paths.iter().any(|path| decides(path)) {
            self.neighbours_changed();
        }
        self.index.look_at(paths.into_iter().map(Path::to_owned));
    }
}

/// Applies one change as the client tells it. Returns the byte where it ends; 0 for a new text.
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
