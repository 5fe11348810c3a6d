//! The analysis of documents, and the index of the workspace.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tower_lsp_server::gen_lsp_types as lsp;

use super::{Server, When, documents::MAX_BYTES_PLACED_WHILE_TYPING};
use crate::{
    index::{
        Depth, Job, Next,
        scan::{self, Outcome, Terms},
    },
    lsp::{
        analysis::{self, Analysis},
        convert,
    },
    results::{Results, SuiteId},
};

/// Maximum number of completion lists that can be resolved: clients resolve items of the last one.
const MAX_COMPLETION_LISTS: usize = 8;

impl Server {
    /// Analyzes a document, once it is known what it is. During an analysis, another one is scheduled.
    pub(in crate::lsp) fn analyze(&mut self, uri: &str) {
        let Some(open) = self.world.documents.get(uri).filter(|open| open.spec.is_some() && !self.is_stopping) else {
            return;
        };
        match self.analyses.entry(uri.to_owned()) {
            Entry::Occupied(mut is_again) => {
                is_again.insert(true);
                return;
            }
            Entry::Vacant(is_again) => is_again.insert(false),
        };
        let about = (open.opening, open.version);
        let is_short = open.text.rope().len_bytes() <= MAX_BYTES_PLACED_WHILE_TYPING;
        let (world, handle, at, uri) = (Arc::clone(&self.world), self.handle.clone(), uri.to_owned(), uri.to_owned());
        let work = move || {
            let snapshot = world.snapshot(&at)?;
            let workspace = snapshot.workspace();
            let problems = snapshot.problems(&workspace);
            if snapshot.latest.is_none() && !snapshot.abilities.pulls_diagnostics {
                // After opening, diagnostics of the text come first; those of recordings follow.
                let own = analysis::of_text(&snapshot, &problems);
                handle.send(move |server| server.publish_own(&at, about, own));
            }
            Some(analysis::of(&snapshot, &workspace, &problems))
        };
        self.work(&self.background, work, move |server, analysis| {
            let is_again = server.analyses.remove(&uri) == Some(true);
            if let Some(analysis) = analysis.flatten() {
                server.analyzed(&uri, about, analysis);
            }
            if is_again {
                server.analyze(&uri);
            } else if is_short {
                server.place_at_rest(uri, about);
            }
            server.release();
        });
    }

    /// Finds out whether a document has become another kind of file, once it no longer changes.
    fn place_at_rest(&self, uri: String, about: (u64, i32)) {
        const REST: Duration = Duration::from_millis(200);
        let handle = self.handle.clone();
        tokio::spawn(async move {
            tokio::time::sleep(REST).await;
            handle.send(move |server| {
                if !server.is_unplaced(&uri, about) {
                    return;
                }
                let (world, at) = (Arc::clone(&server.world), uri.clone());
                let adopt = move |server: &mut Server, placed: Option<_>| {
                    if let Some((place, document)) = placed.flatten()
                        && server.is_unplaced(&uri, about)
                    {
                        server.adopt(&uri, place, document);
                    }
                };
                server.work(&server.background, move || world.place(&at), adopt);
            });
        });
    }

    /// Returns whether a version of a document is the current one, and nothing is finding out what it is.
    fn is_unplaced(&self, uri: &str, about: (u64, i32)) -> bool {
        !self.is_stopping && self.is_current(uri, about) && !self.queues.contains_key(uri)
    }

    pub(in crate::lsp) fn analyzed(&mut self, uri: &str, (opening, version): (u64, i32), analysis: Analysis) {
        let Analysis { latest, changes_lenses, changes_verdicts, own, others } = analysis;
        let open = self.document_mut(uri).filter(|open| open.opening == opening);
        let Some(open) = open else { return };
        let before = open.spec.as_mut().and_then(|spec| spec.latest.replace(Arc::new(latest)));
        let is_current = open.version == version;
        // The next analysis reports the problems of a later version, but cannot detect that the lenses changed.
        self.refresh_lenses(changes_lenses);
        self.refresh_hints(changes_verdicts && self.world.display.inlay_hints);
        self.tests_changed(Some(uri));
        if is_current {
            self.publish_elsewhere(uri, others);
            self.publish_own(uri, (opening, version), own);
        }
        let is_first = before.is_none();
        self.discard(before);
        if is_first {
            // After opening, diagnostics that need the whole text come last.
            self.consult_whole(uri.to_owned());
        }
    }

    pub(in crate::lsp) fn is_current(&self, uri: &str, about: (u64, i32)) -> bool {
        self.world.documents.get(uri).is_some_and(|open| (open.opening, open.version) == about)
    }

    pub(in crate::lsp) fn publish_own(&self, uri: &str, about: (u64, i32), diagnostics: Vec<lsp::Diagnostic>) {
        if self.is_current(uri, about) {
            self.publish(lsp::Uri(uri.to_owned()), diagnostics, Some(about.1));
        }
    }

    /// Publishes the diagnostics of other files because of a document, and removes those that it no longer causes. An
    /// open file has its own.
    pub(in crate::lsp) fn publish_elsewhere(&mut self, uri: &str, files: Vec<(PathBuf, Vec<lsp::Diagnostic>)>) {
        for (path, diagnostics) in self.published.replace(uri, files) {
            if let Some(address) = convert::uri(&path).filter(|_| self.world.open_at(&path).is_none()) {
                self.publish(address, diagnostics, None);
            }
        }
    }

    pub(in crate::lsp) fn analyze_all(&mut self) {
        let all: Vec<String> = self.world.documents.keys().cloned().collect();
        all.iter().for_each(|uri| self.analyze(uri));
    }

    pub(in crate::lsp) fn of_suite(&self, suite: &SuiteId) -> Vec<String> {
        let open = self.world.documents.iter().filter(|(uri, open)| open.suite(uri).as_ref() == Some(suite));
        open.map(|(uri, _)| uri.clone()).collect()
    }

    pub(in crate::lsp) fn analyze_suite(&mut self, suite: &SuiteId) {
        self.of_suite(suite).iter().for_each(|uri| self.analyze(uri));
    }

    pub(in crate::lsp) fn look_for_recordings(&mut self) {
        /// Each time, the modification time of one directory per open suite is read.
        const EVERY: Duration = Duration::from_secs(1);
        if self.is_stopping {
            return;
        }
        let open = self.world.documents.iter().filter_map(|(uri, open)| Some((uri, open.spec.as_ref()?)));
        let open = open.filter(|(_, spec)| spec.place.has_tests());
        let suites: HashMap<SuiteId, Arc<Results>> =
            open.map(|(uri, spec)| (spec.place.suite(uri), Arc::clone(&spec.results))).collect();
        let work =
            move || suites.into_iter().filter(|(_, results)| results.refresh()).map(|(suite, _)| suite).collect();
        self.work(&self.background, work, |server, changed: Option<Vec<SuiteId>>| {
            changed.into_iter().flatten().for_each(|suite| server.analyze_suite(&suite));
            let handle = server.handle.clone();
            tokio::spawn(async move {
                tokio::time::sleep(EVERY).await;
                handle.send(Server::look_for_recordings);
            });
        });
    }

    /// Schedules files changed outside of the editor if the client does not watch files. Returns whether that is so.
    pub(in crate::lsp) fn look_for_changed_files(&mut self) -> bool {
        let watches = self.world.abilities.watches_files;
        if !watches {
            self.look_at_all(Depth::Changed);
        }
        !watches
    }

    pub(in crate::lsp) fn look_at_all(&mut self, depth: Depth) {
        self.index.look_at_all(depth);
        self.scan();
    }

    /// Begins pending work of the index when its time has come.
    pub(in crate::lsp) fn scan(&mut self) {
        if self.is_stopping {
            return;
        }
        let is_wanted = self.held.iter().any(|held| held.when == When::Indexed);
        match self.index.next(is_wanted) {
            Next::Nothing => {}
            Next::Later(rest) => {
                let handle = self.handle.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(rest).await;
                    handle.send(Server::scan);
                });
            }
            Next::Begin(job, obsolete) => {
                let (world, limits, doing) = (Arc::clone(&self.world), self.index_limits, job.clone());
                let work = move || {
                    let encoding = world.abilities.encoding;
                    let terms = Terms { scopes: &world.scopes, encoding, limits, obsolete: &obsolete };
                    scan::perform(&world.index, &doing, &terms)
                };
                self.work(&self.background, work, move |server, outcome| server.scanned(&job, outcome));
            }
        }
    }

    /// Applies work of the index: `None` if it panicked, or became obsolete.
    pub(in crate::lsp) fn scanned(&mut self, job: &Job, outcome: Option<Option<Outcome>>) {
        self.index.ended(matches!(outcome, Some(None)).then_some(job));
        if let Some(outcome) = outcome.flatten() {
            if let Some(reason) = outcome.files.cut.clone().filter(|_| self.world.index.cut != outcome.files.cut) {
                tracing::warn!("{reason}");
                self.log(reason);
            }
            self.world_mut().index = Arc::new(outcome.files);
            self.tests_changed(None);
            if outcome.is_partial {
                self.index.look_at_all(Depth::Everything);
            }
            if outcome.suites_changed {
                self.neighbors_changed();
            }
            self.workspace_changed();
        }
        self.scan();
        self.release();
    }

    pub(in crate::lsp) fn offer(&mut self, list: u64, docs: Vec<String>) {
        self.offered.push_back((list, docs));
        if self.offered.len() > MAX_COMPLETION_LISTS {
            self.offered.pop_front();
        }
    }

    pub(in crate::lsp) fn offered(&self, list: u64, index: usize) -> Option<String> {
        let offered = self.offered.iter().find(|(number, _)| *number == list);
        offered.and_then(|(_, docs)| docs.get(index)).cloned()
    }
}
