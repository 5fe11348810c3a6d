//! Documents: what they are, and what a change of one means for others.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, Encoding, LineColumn, Lines, ScalarRules},
    gateway::config::Config,
    json_schema::SpecFile,
};
use tower_lsp_server::gen_lsp_types::{self as lsp, TextDocumentContentChangeEvent as Change};

use super::{Server, attempt};
use crate::{
    lsp::{
        convert,
        typing::{self, Typing},
        world::{DocumentPlace, OpenDocument, Spec, Text},
    },
    results::{Results, SuiteId},
    scope::is_main_name,
    workspace::is_about_settings,
};

pub(super) const MAX_BYTES_PLACED_WHILE_TYPING: usize = 256 * 1024;

impl Server {
    pub(in crate::lsp) fn open(&mut self, uri: String, version: i32, text: &str) {
        self.index.rest();
        let text = Text::new(Document::unread(text, ScalarRules::Yaml12));
        self.in_turn(&uri.clone(), move |server| {
            server.next_number += 1;
            let rope = text.rope().clone();
            let opened = OpenDocument {
                opening: server.next_number,
                version,
                text,
                edited_at: 0,
                typing: Typing::default(),
                spec: None,
            };
            let before = server.world_mut().documents.insert(uri.clone(), Arc::new(opened));
            if let Some(path) = convert::path(&uri) {
                server.world.buffers.set(&path, rope);
                server.buffer_changed(&uri, &path);
            }
            server.look_for_changed_files();
            match before.and_then(|before| before.spec.as_ref().map(|spec| spec.place.is_main())) {
                Some(true) => server.neighbors_changed(),
                Some(false) | None => server.place(&uri),
            }
        });
    }

    pub(in crate::lsp) fn change(&mut self, uri: String, version: i32, changes: Vec<Change>) {
        self.in_turn(&uri.clone(), move |server| {
            let encoding = server.world.abilities.encoding;
            let Some(open) = server.document_mut(&uri) else { return };
            let mut document = open.text.newest();
            for change in changes {
                open.edited_at = apply(&mut document, encoding, change, &mut open.typing);
            }
            open.version = version;
            let about = (open.opening, version);
            let rope = document.text().clone();
            let outdated = std::mem::replace(&mut open.text, Text::new(document));
            server.discard(outdated);
            let length = rope.len_bytes();
            if let Some(path) = convert::path(&uri) {
                server.world.buffers.set(&path, rope);
                server.buffer_changed(&uri, &path);
            }
            if server.holds_settings(&uri) {
                server.files_changed(None);
            }
            // A text may become a spec file as it is typed.
            let is_other = server.world.documents.get(&uri).is_some_and(|open| open.spec.is_none());
            match is_other && length <= MAX_BYTES_PLACED_WHILE_TYPING {
                true => server.place(&uri),
                false => server.analyze(&uri),
            }
            let handle = server.handle.clone();
            tokio::spawn(async move {
                tokio::time::sleep(typing::REST).await;
                handle.send(move |server| {
                    if server.is_current(&uri, about) {
                        server.typed(&uri);
                    }
                });
            });
        });
    }

    /// What is typed in a document counts as written.
    fn typed(&mut self, uri: &str) {
        if let Some(open) = self.document_mut(uri).filter(|open| open.typing.is_going_on()) {
            open.typing.end();
            self.analyze(uri);
            self.refresh_diagnostics();
        }
    }

    /// A request tells where the cursor is.
    pub(in crate::lsp) fn selected(&mut self, uri: String, selection: lsp::Range) {
        self.in_turn(&uri.clone(), move |server| {
            let encoding = server.world.abilities.encoding;
            let open = server.world.documents.get(&uri);
            if open.is_some_and(|open| open.typing.is_left_by(&open.text.newest(), encoding, selection)) {
                server.typed(&uri);
            }
        });
    }

    /// Closes a document: the file on the disk counts from now on, and other documents report it.
    pub(in crate::lsp) fn close(&mut self, uri: String) {
        self.in_turn(&uri.clone(), move |server| {
            let Some(closed) = server.world_mut().documents.remove(&uri) else { return };
            let path = convert::path(&uri);
            if let Some(path) = &path {
                server.world.buffers.remove(path);
                server.buffer_changed(&uri, path);
                // Changes on the disk were ignored while it was open.
                server.index.look_at([path.clone()]);
                server.scan();
            }
            let Some(spec) = &closed.spec else { return };
            spec.results.forget(&uri);
            server.publish_elsewhere(&uri, Vec::new());
            server.publish(lsp::Uri(uri.clone()), Vec::new(), None);
            if let Some(path) = &path {
                server.published.forget(path);
            }
            if spec.place.is_main() {
                server.neighbors_changed();
            }
            if spec.place.file.is_settings() {
                server.files_changed(None);
            } else {
                server.analyze_suite(&spec.place.suite(&uri));
            }
        });
    }

    pub(in crate::lsp) fn saved(&mut self, uri: String) {
        self.in_turn(&uri.clone(), move |server| {
            let file = server.world.documents.get(&uri).and_then(|open| Some(open.spec.as_ref()?.place.file));
            server.typed(&uri);
            // Without file watching, other files may have changed in the meantime.
            if server.look_for_changed_files() || server.holds_settings(&uri) {
                server.files_changed(None);
            }
            // A file that decides where others belong affects all of them, and so may a file of unknown kind.
            match file.is_none_or(SpecFile::decides_about_others) {
                true => server.neighbors_changed(),
                false => server.place(&uri),
            }
            server.in_turn(&uri.clone(), move |server| server.consult_whole(uri));
        });
    }

    /// Reads the whole text instead of its parts, which takes too long for a keystroke.
    pub(in crate::lsp) fn consult_whole(&mut self, uri: String) {
        let Some(open) = self.world.documents.get(&uri).filter(|open| open.spec.is_some()).cloned() else { return };
        let text = Arc::clone(&open.text);
        let work = move || {
            let before = text.document();
            let mut document = before.clone();
            document.consult_whole(&String::from(document.text()));
            (!document.is_same(before)).then_some(document)
        };
        self.work(&self.background, work, move |server, document| {
            // A different text is read in its own turn.
            let same = |now: &&mut OpenDocument| (now.opening, now.version) == (open.opening, open.version);
            let Some(document) = document.flatten() else { return };
            let Some(now) = server.document_mut(&uri).filter(same) else { return };
            now.text = Text::new(document);
            server.analyze(&uri);
            // The diagnostics that the client pulled in the meantime are based on the parts alone.
            server.refresh_diagnostics();
        });
    }

    pub(in crate::lsp) fn files_watched(&mut self, changes: &[lsp::FileEvent]) {
        let is_recording = |change: &lsp::FileEvent| change.uri.0.contains("/.speclens/");
        if changes.iter().any(is_recording) {
            // Each analysis checks for recordings that it does not know.
            self.analyze_all();
        }
        // The editor reports changes of open documents.
        let is_open =
            |change: &lsp::FileEvent| self.world.documents.get(&change.uri.0).is_some_and(|open| open.spec.is_some());
        if changes.iter().all(|change| is_recording(change) || is_open(change)) {
            return;
        }
        let paths: Vec<_> = changes.iter().filter_map(|change| convert::path(&change.uri.0)).collect();
        if paths.iter().any(|path| self.decides(path)) {
            self.neighbors_changed();
        }
        self.index.look_at(paths.iter().cloned());
        self.scan();
        self.files_changed(Some(&paths));
    }

    pub(in crate::lsp) fn place(&mut self, uri: &str) {
        self.queues.entry(uri.to_owned()).or_default().is_placing = true;
        let (world, at, uri) = (Arc::clone(&self.world), uri.to_owned(), uri.to_owned());
        self.work(
            &self.placing,
            move || world.place(&at),
            move |server, placed| {
                if let Some(queue) = server.queues.get_mut(&uri) {
                    queue.is_placing = false;
                }
                match placed.flatten() {
                    Some((place, document)) => server.adopt(&uri, place, document),
                    None => server.analyze(&uri),
                }
                server.work_off(&uri);
            },
        );
    }

    pub(in crate::lsp) fn work_off(&mut self, uri: &str) {
        while let Some(queue) = self.queues.get_mut(uri).filter(|queue| !queue.is_placing) {
            match queue.tasks.pop_front() {
                Some(task) => drop(attempt(|| task(self))),
                None => drop(self.queues.remove(uri)),
            }
        }
        self.release();
    }

    /// Makes a document a spec file, or one of another kind. If it is or was a main file, others may be its parts.
    pub(in crate::lsp) fn adopt(&mut self, uri: &str, place: DocumentPlace, document: Document) {
        let is_main = place.is_main();
        if let Some(path) = &place.path {
            if is_main {
                self.world.scopes.know_main(path);
            }
            // The document has its own diagnostics while it is open.
            self.published.forget(path);
        }
        let is_guess = place.scope.as_ref().is_some_and(|scope| scope.is_guess);
        let analyzer = Analyzer::new(place.file).guessing(is_guess).saved(place.path.is_some());
        self.requests.begin(move || analyzer.prepare());
        let (results, is_settings) = (self.results_of(&place.suite(uri)), place.file.is_settings());
        self.next_number += 1;
        let opening = self.next_number;
        let Some(open) = self.document_mut(uri) else { return };
        (open.opening, open.text, open.edited_at) = (opening, Text::new(document), 0);
        open.typing.end();
        let before = open.spec.replace(Spec { place, analyzer, results, latest: None });
        self.analyze(uri);
        if before.is_some() {
            // The client may have pulled those of another kind of file.
            self.refresh_diagnostics();
        }
        if is_main != before.is_some_and(|before| before.place.is_main()) {
            self.neighbors_changed();
        }
        if is_settings {
            // Other documents were analyzed with the file, whose text may differ.
            self.files_changed(None);
        }
    }

    pub(in crate::lsp) fn results_of(&self, suite: &SuiteId) -> Arc<Results> {
        let mut open = self.world.documents.iter().filter_map(|(uri, open)| Some((uri, open.spec.as_ref()?)));
        let same = open.find(|(uri, spec)| spec.place.suite(uri) == *suite);
        let known = same.map(|(_, spec)| Arc::clone(&spec.results)).or_else(|| self.runs.results_of(suite));
        known.unwrap_or_default()
    }

    pub(in crate::lsp) fn holds_settings(&self, uri: &str) -> bool {
        let spec = self.world.documents.get(uri).and_then(|open| open.spec.as_ref());
        spec.is_some_and(|spec| spec.place.file.is_settings())
    }

    pub(in crate::lsp) fn decides(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        is_main_name(name) || name == Config::FILE || self.world.scopes.is_main(path)
    }

    /// Has documents that read a file analyzed again because its text in the editor has changed.
    pub(in crate::lsp) fn buffer_changed(&mut self, uri: &str, path: &Path) {
        if self.decides(path) {
            self.world.scopes.forget();
        }
        let has_read = |open: &OpenDocument| open.spec.as_ref().is_some_and(|spec| spec.place.files.has_read(path));
        let others = self.world.documents.iter().filter(|(other, open)| *other != uri && has_read(open));
        let concerned: Vec<String> = others.map(|(other, _)| other.clone()).collect();
        self.look_again(&concerned);
    }

    /// Determines the scopes of documents again after main files or settings were created, deleted or changed.
    pub(in crate::lsp) fn neighbors_changed(&mut self) {
        self.world.scopes.forget();
        let all: Vec<String> = self.world.documents.keys().cloned().collect();
        for uri in all {
            self.in_turn(&uri.clone(), move |server| {
                if server.world.documents.contains_key(&uri) {
                    server.place(&uri);
                }
            });
        }
    }

    /// Discards what documents read of files that changed on the disk. `None`: all files.
    pub(in crate::lsp) fn files_changed(&mut self, paths: Option<&[PathBuf]>) {
        let is_settings =
            |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_about_settings);
        let everything = paths.is_none_or(|paths| paths.iter().any(is_settings));
        let sees = |place: &DocumentPlace, path: &PathBuf| {
            place.files.has_seen(path) || place.settings.as_ref().is_some_and(|reach| reach.is_in(path))
        };
        let is_concerned =
            |place: &DocumentPlace| everything || paths.is_some_and(|paths| paths.iter().any(|path| sees(place, path)));
        let open = self.world.documents.iter();
        let concerned = open.filter(|(_, open)| open.spec.as_ref().is_some_and(|spec| is_concerned(&spec.place)));
        let concerned: Vec<String> = concerned.map(|(uri, _)| uri.clone()).collect();
        if !concerned.is_empty() {
            self.refresh_diagnostics();
            self.refresh_hints(self.world.display.inlay_hints);
            self.look_again(&concerned);
        }
    }

    pub(in crate::lsp) fn forget_files(&mut self, uri: &str) {
        if let Some(open) = self.document_mut(uri) {
            open.files_changed();
        }
    }

    /// Has documents analyzed again because files that they read have changed.
    pub(in crate::lsp) fn look_again(&mut self, documents: &[String]) {
        for uri in documents {
            self.forget_files(uri);
            self.analyze(uri);
        }
    }
}

/// Applies one change of the client. Returns the byte where it ends; 0 if it replaces the text.
fn apply(document: &mut Document, encoding: Encoding, change: Change, typing: &mut Typing) -> usize {
    match change {
        Change::TextDocumentContentChangePartial(change) => {
            let start = convert::offset(document, encoding, change.range.start);
            let end = convert::offset(document, encoding, change.range.end).max(start);
            document.edit(start..end, &change.text);
            typing.change(start..end, &change.text);
            start + change.text.len()
        }
        Change::TextDocumentContentChangeWholeDocument(change) => {
            let end = Lines::new(document.text(), encoding).offset(LineColumn { line: usize::MAX, column: 0 });
            document.edit(0..end, &change.text);
            typing.end();
            0
        }
    }
}
