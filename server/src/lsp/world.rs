//! What workers see: the documents, the settings and the index as they were at one moment. A worker changes nothing of
//! it; the first one that needs the tree of a text reads it for all.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use ropey::Rope;
use speclens_runner::{
    clock::Clock,
    files::{Buffers as _, DiskFiles},
};
use speclens_schema::{
    analysis::{Analyzer, Problems},
    document::Document,
    format::{Dialect, Unit},
    json_schema::SpecFile,
    kind::{self, FileContext},
    settings::Settings,
    suite::Suite,
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    client::{Abilities, Display},
    convert,
    typing::Typing,
};
use crate::{
    ide::{cross_file_names, latest::Latest},
    index::{self, Facts, IndexedFiles},
    job::{self, Prepared, Refusal, RequestOrigin, RunRequest},
    read::{Buffers, read_text},
    results::{Results, SuiteId},
    scope::{Scope, Scopes},
    workspace::{self, Reach, Workspace},
};

/// The state of the server that workers need.
#[derive(Clone)]
pub(super) struct World {
    pub documents: BTreeMap<String, Arc<OpenDocument>>,
    pub abilities: Abilities,
    pub display: Display,
    /// Whether the client declares the workspace trusted.
    pub trusted: bool,
    /// Whether trust is managed by the client: folders trusted elsewhere do not count then.
    pub trust_is_clients: bool,
    pub index: Arc<IndexedFiles>,
    pub is_index_complete: bool,
    /// The current time, for recordings.
    pub clock: Clock,
    pub buffers: Arc<Buffers>,
    pub scopes: Arc<Scopes>,
}

#[derive(Clone)]
pub(super) struct OpenDocument {
    /// Changes when it is opened or becomes another kind of file: a client may use a version again.
    pub opening: u64,
    pub version: i32,
    pub text: Arc<Text>,
    /// The byte where the last edit ends.
    pub edited_at: usize,
    pub typing: Typing,
    /// `None` if it is not known to be a spec file.
    pub spec: Option<Spec>,
}

#[derive(Clone)]
pub(super) struct Spec {
    pub place: DocumentPlace,
    pub analyzer: Analyzer,
    /// Those of its suite, which its files share.
    pub results: Arc<Results>,
    /// The last result of the analysis.
    pub latest: Option<Arc<Latest>>,
}

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

/// One version of a text, with what is computed of it on demand.
pub(super) struct Text {
    /// Its tree may be that of an earlier version.
    edited: Document,
    read: OnceLock<Document>,
    problems: OnceLock<(Arc<Settings>, Arc<Problems>)>,
    facts: OnceLock<Arc<Facts>>,
}

#[derive(Clone)]
pub(super) struct Snapshot {
    pub uri: lsp::Uri,
    pub version: i32,
    pub document: Document,
    pub edited_at: usize,
    pub typing: Typing,
    pub place: DocumentPlace,
    pub analyzer: Analyzer,
    pub results: Arc<Results>,
    pub latest: Option<Arc<Latest>>,
    pub abilities: Abilities,
    pub display: Display,
    pub clock: Clock,
    text: Arc<Text>,
    pub world: Arc<World>,
}

pub(super) struct Source {
    /// Its path; `None` for a document that was never saved.
    pub path: Option<PathBuf>,
    pub open: Option<Snapshot>,
    pub facts: Arc<Facts>,
}

impl Source {
    pub(super) fn uri(&self) -> Option<lsp::Uri> {
        match (&self.open, &self.path) {
            (Some(open), _) => Some(open.uri.clone()),
            (None, Some(path)) => convert::uri(path),
            (None, None) => None,
        }
    }
}

impl DocumentPlace {
    pub(super) fn suite(&self, uri: &str) -> SuiteId {
        let place = self.scope.as_ref().map(|scope| scope.main.as_ref().unwrap_or(&scope.place).clone());
        SuiteId { directory: self.directory.clone(), place: place.unwrap_or_else(|| uri.to_owned()) }
    }

    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.file.dialect()
    }

    /// Whether it contains tests that can run: a document that was never saved is in no directory.
    pub(super) fn has_tests(&self) -> bool {
        self.path.is_some() && self.file.has_cases()
    }

    pub(super) fn main(&self) -> Option<&str> {
        let scope = self.scope.as_ref()?;
        scope.main.as_deref().filter(|main| *main != scope.place)
    }

    pub(super) fn has_suite(&self) -> bool {
        !self.file.is_part() || self.main().is_some()
    }

    pub(super) fn is_main(&self) -> bool {
        self.file.part().is_some()
    }

    fn is_same(&self, other: &DocumentPlace) -> bool {
        (&self.scope, &self.settings, self.file) == (&other.scope, &other.settings, other.file)
    }
}

impl Text {
    pub(super) fn new(document: Document) -> Arc<Text> {
        let (read, problems, facts) = Default::default();
        Arc::new(Text { edited: document, read, problems, facts })
    }

    pub(super) fn newest(&self) -> Document {
        self.read.get().unwrap_or(&self.edited).clone()
    }

    pub(super) fn rope(&self) -> &Rope {
        self.edited.text()
    }

    pub(super) fn document(&self) -> &Document {
        self.read.get_or_init(|| {
            let mut document = self.edited.clone();
            document.refresh();
            document
        })
    }
}

impl OpenDocument {
    pub(super) fn files_changed(&mut self) {
        if let Some(spec) = &mut self.spec {
            spec.place.files.forget();
            spec.analyzer.files_changed();
            self.text = Text::new(self.text.newest());
        }
    }

    pub(super) fn suite(&self, uri: &str) -> Option<SuiteId> {
        Some(self.spec.as_ref()?.place.suite(uri))
    }
}

impl World {
    pub(super) fn new(clock: Clock) -> World {
        let buffers = Arc::new(Buffers::default());
        World {
            documents: BTreeMap::new(),
            abilities: Abilities::default(),
            display: Display::default(),
            trusted: false,
            trust_is_clients: false,
            index: Arc::default(),
            is_index_complete: false,
            clock,
            scopes: Arc::new(Scopes::new(Vec::new(), Arc::clone(&buffers))),
            buffers,
        }
    }

    pub(super) fn snapshot(self: &Arc<World>, uri: &str) -> Option<Snapshot> {
        let open = self.documents.get(uri)?;
        let spec = open.spec.clone()?;
        Some(Snapshot {
            uri: lsp::Uri(uri.to_owned()),
            version: open.version,
            document: open.text.document().clone(),
            edited_at: open.edited_at,
            typing: open.typing.clone(),
            place: spec.place,
            analyzer: spec.analyzer,
            results: spec.results,
            latest: spec.latest,
            abilities: self.abilities,
            display: self.display,
            clock: self.clock,
            text: Arc::clone(&open.text),
            world: Arc::clone(self),
        })
    }

    /// Returns a file that is not open, as it is on the disk; `None` if it is not a spec file.
    pub(super) fn closed(self: &Arc<World>, path: &Path) -> Option<Snapshot> {
        let text = self.buffers.text(path).unwrap_or_else(|| read_text(path).0);
        let scope = self.scopes.find(path, &text)?;
        let document = Document::read(&text, scope.file.scalar_rules());
        Some(Snapshot {
            uri: convert::uri(path)?,
            version: 0,
            edited_at: 0,
            typing: Typing::default(),
            analyzer: Analyzer::new(scope.file).guessing(scope.is_guess).saved(true),
            place: self.place_in(path.to_owned(), scope),
            results: Arc::default(),
            latest: None,
            abilities: self.abilities,
            display: self.display,
            clock: self.clock,
            text: Text::new(document.clone()),
            document,
            world: Arc::clone(self),
        })
    }

    pub(super) fn open_at(&self, path: &Path) -> Option<&str> {
        let is_at = |open: &OpenDocument| open.spec.as_ref().is_some_and(|it| it.place.path.as_deref() == Some(path));
        self.documents.iter().find(|(_, open)| is_at(open)).map(|(uri, _)| uri.as_str())
    }

    /// Determines what a document is and where it belongs, and reads it as such; `None` if that is known already. A spec
    /// file remains one while it is open: it may be half typed just now.
    pub(super) fn place(&self, uri: &str) -> Option<(DocumentPlace, Document)> {
        let open = self.documents.get(uri)?;
        let text = String::from(open.text.rope());
        let place = self.place_of(uri, &text)?;
        if open.spec.as_ref().is_some_and(|spec| spec.place.is_same(&place)) {
            return None;
        }
        let document = Document::read_cut(&text, place.file.scalar_rules());
        Some((place, document))
    }

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

    fn place_in(&self, path: PathBuf, scope: Scope) -> DocumentPlace {
        let settings = scope.reach(&self.scopes.folders());
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

    /// Returns the facts of every file, with open ones as in the editor; except for one of them.
    pub(super) fn sources(self: &Arc<World>, but: Option<&str>) -> Vec<Source> {
        let paths: BTreeSet<PathBuf> = self.documents.keys().filter_map(|uri| convert::path(uri)).collect();
        let closed = self.index.all().filter(|(path, _)| !paths.contains(*path));
        let closed =
            closed.map(|(path, facts)| Source { path: Some(path.clone()), open: None, facts: Arc::clone(facts) });
        let open = self.documents.keys().filter(|uri| Some(uri.as_str()) != but).filter_map(|uri| self.snapshot(uri));
        let open = open.map(|open| Source { path: open.place.path.clone(), facts: open.facts(), open: Some(open) });
        let mut all: Vec<Source> = closed.chain(open).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    /// Whether commands may run in a directory. The client's trust is about its folders.
    pub(super) fn may_run_in(&self, directory: &Path) -> bool {
        if self.trust_is_clients && !self.trusted {
            return false;
        }
        let is_in = |directory: &Path| {
            let folders = self.scopes.folders();
            folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| directory.starts_with(folder)))
        };
        (self.trusted && directory.canonicalize().is_ok_and(|directory| is_in(&directory)))
            || crate::trust::is_trusted(directory)
    }

    /// Returns the outermost of these directories that commands may not run in: trust in it covers those in it.
    pub(super) fn untrusted_of(&self, mut directories: Vec<PathBuf>) -> Option<PathBuf> {
        directories.sort_by_key(|directory| directory.components().count());
        directories.into_iter().find(|directory| !self.may_run_in(directory))
    }
}

impl Snapshot {
    pub(super) fn offset(&self, position: lsp::Position) -> usize {
        convert::offset(&self.document, self.abilities.encoding, position)
    }

    pub(super) fn bytes(&self, range: lsp::Range) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    pub(super) fn range(&self, bytes: Range<usize>) -> lsp::Range {
        convert::range(&self.document, self.abilities.encoding, bytes)
    }

    pub(super) fn converter(&self) -> convert::Converter<'_> {
        let (document, encoding) = (&self.document, self.abilities.encoding);
        convert::Converter { document, encoding, uri: &self.uri, directory: &self.place.directory }
    }

    pub(super) fn workspace(&self) -> Workspace {
        let Some(reach) = &self.place.settings else { return Workspace::default() };
        let workspace = workspace::settings_over(reach, |path| self.world.buffers.text(path));
        self.place.files.declare(workspace.declared());
        workspace
    }

    pub(super) fn suite(&self) -> SuiteId {
        self.place.suite(&self.uri.0)
    }

    /// Returns the problems in the text. Editors request them repeatedly: diagnostics are sent or pulled after each
    /// keystroke, and actions at each move of the cursor.
    pub(super) fn problems(&self, workspace: &Workspace) -> Arc<Problems> {
        let find = || Arc::new(self.problems_of(&self.document, workspace));
        if self.place.file.is_settings() {
            // The problems depend on neighboring files, whose changes are not reported.
            return find();
        }
        let (settings, problems) = self.text.problems.get_or_init(|| (Arc::clone(&workspace.settings), find()));
        if *settings == workspace.settings { Arc::clone(problems) } else { find() }
    }

    pub(super) fn problems_of(&self, document: &Document, workspace: &Workspace) -> Problems {
        if self.place.file.is_settings() {
            let beside = self.place.path.as_deref().map(|path| workspace::problems_beside(path, document));
            let problems = beside.into_iter().flatten().chain(workspace::problems(document));
            return Problems::of_whole(SpecFile::SETTINGS, problems.collect());
        }
        self.analyzer.look(document, self.place.files.as_ref(), &workspace.settings)
    }

    /// Returns the suite of the document: that of the main file that names it, with the texts in the editor.
    pub(super) fn whole_suite(&self, workspace: &Workspace) -> Suite {
        let main = self.main();
        let snapshot = main.as_ref().unwrap_or(self);
        let problems = snapshot.problems(workspace).to_vec(&snapshot.document);
        let files = snapshot.place.files.as_ref();
        snapshot.analyzer.suite(&snapshot.document, files, &workspace.settings, &problems)
    }

    fn main(&self) -> Option<Snapshot> {
        let path = self.place.directory.join(self.place.main()?);
        match self.world.open_at(&path) {
            Some(open) => self.world.snapshot(open),
            None => self.world.closed(&path),
        }
    }

    /// Returns the indices in the suite of the cases that are written in the document; all of them if it is the main
    /// file.
    pub(super) fn cases_in(&self, suite: &Suite) -> Vec<usize> {
        let part = self.place.main().and(self.place.scope.as_ref()).map(|scope| scope.place.as_str());
        let is_in = |file: Option<&str>| part.is_none_or(|part| file == Some(part));
        let cases = suite.cases.iter().enumerate();
        cases.filter(|(_, case)| is_in(case.file.as_ref().map(|file| file.path.as_str()))).map(|(at, _)| at).collect()
    }

    pub(super) fn prepare(
        &self,
        workspace: &Workspace,
        suite: &Arc<Suite>,
        untrusted: Option<&Path>,
    ) -> Result<Prepared, Refusal> {
        let SuiteId { directory, place } = &self.suite();
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

    fn facts(&self) -> Arc<Facts> {
        let file = self.place.file;
        let nowhere = || Scope { file, root: PathBuf::new(), place: String::new(), main: None, is_guess: false };
        let find = || {
            let scope = self.place.scope.clone().unwrap_or_else(nowhere);
            Arc::new(Facts::of(&self.document, &scope, self.abilities.encoding))
        };
        Arc::clone(self.text.facts.get_or_init(find))
    }

    pub(super) fn names_elsewhere(&self, offset: usize, kind: &str) -> Vec<String> {
        const MAX_NAMES: usize = 200;
        let Some(scope) = &self.place.scope else { return Vec::new() };
        let home = if cross_file_names::crosses(kind) {
            let home = cross_file_names::home_at(&self.document, scope.file, &scope.place, offset);
            let Some(home) = home else { return Vec::new() };
            Some(index::home_of(scope, &home))
        } else {
            None
        };
        let mut names = BTreeSet::new();
        for source in self.world.sources(Some(&self.uri.0)) {
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
}
