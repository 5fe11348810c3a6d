//! The whole suite of a document, as defined by its main file, whichever of its files are open.

use std::{path::Path, sync::Arc};

use speclens_runner::files::Buffers as _;
use speclens_schema::{analysis::Analyzer, document::Document, suite::Suite};

use super::session::{Session, Snapshot};
use crate::{
    job::{self, Prepared, Refusal, RequestOrigin, RunRequest},
    read::read_text,
    results::SuiteId,
    workspace::Workspace,
};

impl Session {
    /// Returns the suite of a document: that of the main file that names it, with the texts in the editor.
    pub(super) fn whole_suite(&self, snapshot: &Snapshot, workspace: &Workspace) -> Suite {
        let main = self.main_of(snapshot);
        let snapshot = main.as_ref().unwrap_or(snapshot);
        let problems = super::problems(snapshot, workspace).to_vec(&snapshot.document);
        let files = snapshot.place.files.as_ref();
        snapshot.analyzer.suite(&snapshot.document, files, &workspace.settings, &problems)
    }

    /// Prepares the suite of a document to run under the settings in force.
    pub(super) fn prepare(
        &self,
        uri: &str,
        snapshot: &Snapshot,
        workspace: &Workspace,
        suite: &Arc<Suite>,
        untrusted: Option<&Path>,
    ) -> Result<Prepared, Refusal> {
        let SuiteId { directory, place } = &snapshot.place.suite(uri);
        job::prepare(RunRequest {
            gateway: None,
            suite,
            directory,
            place,
            workspace,
            secrets: Arc::new(workspace.secrets_of(suite)),
            clock: self.clock,
            origin: RequestOrigin::Editor { untrusted },
        })
    }

    /// Returns the main file of a document that is a part of its suite.
    fn main_of(&self, snapshot: &Snapshot) -> Option<Snapshot> {
        let place = &snapshot.place;
        let main = place.main()?;
        let path = place.directory.join(main);
        let open = {
            let state = self.state();
            let mut open = state.open.iter();
            open.find(|(_, open)| open.place.path.as_deref() == Some(&path)).map(|(uri, _)| uri.clone())
        };
        if let Some(open) = open {
            return self.snapshot(&open);
        }
        let text = self.buffers.text(&path).unwrap_or_else(|| read_text(&path).0);
        let scope = self.scopes.find(&path, &text)?;
        let document = Document::read(&text, scope.file.scalar_rules());
        let analyzer = Analyzer::new(scope.file).guessing(scope.is_guess);
        let (place, known_problems) = (self.place_in(path, scope), Arc::default());
        Some(Snapshot { document, analyzer, place, known_problems, ..snapshot.clone() })
    }
}

/// Returns the indices in a suite of the cases that are written in a document; all of them if it is the main file.
pub(super) fn cases_in(suite: &Suite, snapshot: &Snapshot) -> Vec<usize> {
    let part = snapshot.place.main().and(snapshot.place.scope.as_ref()).map(|scope| scope.place.as_str());
    let is_in = |file: Option<&str>| part.is_none_or(|part| file == Some(part));
    let cases = suite.cases.iter().enumerate();
    cases.filter(|(_, case)| is_in(case.file.as_ref().map(|file| file.path.as_str()))).map(|(at, _)| at).collect()
}
