//! Integrates the index of the workspace into the server: a background thread fills it, and the text of open documents
//! replaces that of their files.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::{dialect::Unit, document::Encoding};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert,
    session::{Session, Snapshot},
};
use crate::{
    ide::cross_file_names,
    index::{
        self, Facts, Limits,
        scan::{Host, Outcome},
    },
    scope::{Scope, Scopes},
};

/// Maximum time that a response waits for files that are still to be read.
pub(super) const INDEX_TIMEOUT: Duration = Duration::from_secs(20);

/// A file and its facts.
pub(super) struct Source {
    /// Its path; `None` for a document that was never saved.
    pub path: Option<PathBuf>,
    /// Its URI and the document, if it is open.
    pub open: Option<(String, Snapshot)>,
    /// Its facts.
    pub facts: Arc<Facts>,
}

impl Source {
    /// Returns its URI.
    pub(super) fn uri(&self) -> Option<lsp::Uri> {
        match (&self.open, &self.path) {
            (Some((uri, _)), _) => Some(lsp::Uri(uri.clone())),
            (None, Some(path)) => convert::uri(path),
            (None, None) => None,
        }
    }
}

/// The last known facts of an open document: its opening, its version, the facts.
pub(super) type Remembered = (u64, i32, Arc<Facts>);

impl Host for Session {
    fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    fn terms(&self) -> (Encoding, Limits) {
        let state = self.state();
        (state.abilities.encoding, state.index_limits)
    }

    fn finished(&self, outcome: &Outcome) {
        if outcome.suites_changed {
            self.neighbors_changed();
        }
        if let Some(reason) = &outcome.cut {
            tracing::warn!("{reason}");
            let (client, reason) = (self.client.clone(), reason.clone());
            self.runtime.spawn(async move { client.log_message(lsp::MessageType::Warning, reason).await });
        }
    }
}

impl Session {
    /// Returns the facts of every file, with open ones as in the editor; except for one of them.
    pub(super) fn sources(&self, but: Option<&str>) -> Vec<Source> {
        let open = self.snapshots();
        let paths: BTreeSet<PathBuf> = {
            let state = self.state();
            state.open.keys().chain(state.other_documents.keys()).filter_map(|uri| convert::path(uri)).collect()
        };
        let mut all = Vec::new();
        for (path, facts) in self.index.files() {
            if !paths.contains(&path) {
                all.push(Source { path: Some(path), open: None, facts });
            }
        }
        for (uri, snapshot) in open.into_iter().filter(|(uri, _)| Some(uri.as_str()) != but) {
            let facts = self.facts_of(&uri, &snapshot);
            all.push(Source { path: snapshot.place.path.clone(), open: Some((uri, snapshot)), facts });
        }
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    /// Returns the names of a kind in other files that are candidates at a place of a document, each once.
    pub(super) fn names_elsewhere(&self, uri: &str, snapshot: &Snapshot, offset: usize, kind: &str) -> Vec<String> {
        /// Maximum number of entries of a list.
        const MAX_NAMES: usize = 200;
        let Some(scope) = &snapshot.place.scope else { return Vec::new() };
        let home = if cross_file_names::crosses(kind) {
            let home = cross_file_names::home_at(&snapshot.document, scope.file, &scope.place, offset);
            let Some(home) = home else { return Vec::new() };
            Some(index::home_of(scope, &home))
        } else {
            None
        };
        let mut names = BTreeSet::new();
        for source in self.sources(Some(uri)) {
            let other = &source.facts.scope;
            let is_near = other.file.dialect() == scope.file.serves()
                && (scope.file.serves().map(|format| format.unit()) != Some(Unit::Workspace)
                    || other.root == scope.root);
            if is_near {
                let fits = source.facts.of_kind(kind).filter(|fact| match &home {
                    Some(home) => fact.is_definition && *fact.home == **home,
                    None => true,
                });
                names.extend(fits.map(|fact| fact.name.to_string()));
            }
            if names.len() > MAX_NAMES {
                break;
            }
        }
        names.into_iter().take(MAX_NAMES).collect()
    }

    /// Returns the facts of an open document, computed once per version.
    fn facts_of(&self, uri: &str, snapshot: &Snapshot) -> Arc<Facts> {
        let known = self.remembered().get(uri).cloned();
        if let Some((opening, version, facts)) = known
            && (opening, version) == (snapshot.opening, snapshot.version)
        {
            return facts;
        }
        let file = snapshot.place.file;
        let nowhere = || Scope { file, root: PathBuf::new(), place: String::new(), main: None, is_guess: false };
        let scope = snapshot.place.scope.clone().unwrap_or_else(nowhere);
        let facts = Arc::new(Facts::of(&snapshot.document, &scope, snapshot.abilities.encoding));
        let remembered = (snapshot.opening, snapshot.version, Arc::clone(&facts));
        self.remembered().insert(uri.to_owned(), remembered);
        facts
    }
}
