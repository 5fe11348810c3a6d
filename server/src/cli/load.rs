//! Reads suites, and analyses them.

use std::{
    collections::HashMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use speclens_runner::{
    files::{DiskFiles, lexical},
    report::{FileReport, Root, SourceText, SuiteReport},
};
use speclens_schema::{
    analysis::Analyzer,
    document::{Document, Pointer},
    files::Files,
    json_schema::SpecFile,
    mask::Secrets,
    problem::{Code, Problem, Severity},
    script,
    settings::Settings,
    suite::Redactions,
};

use super::{
    discover::{Discovery, Found, Wanted, discover, in_parallel, parts_of, script_at},
    levels::Levels,
    life::Life,
};
use crate::{
    read::read_text,
    scope::Scopes,
    workspace::{self, Reach, Workspace},
};

/// A suite, ready to be reported, or run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What reports say about it.
    pub(crate) report: SuiteReport,
    /// The settings that apply.
    pub(crate) workspace: Workspace,
    /// What must not be seen.
    pub(crate) secrets: Arc<Secrets>,
    /// Its location.
    pub(crate) directory: PathBuf,
    /// Its name there.
    pub(crate) place: String,
    /// Where it was found.
    found: Found,
    /// What says what is wrong with it.
    pub(super) lookout: Lookout,
}

/// Says what is wrong with a suite, also after its text was changed.
#[derive(Debug)]
pub(super) struct Lookout {
    /// The file.
    pub(super) path: PathBuf,
    analyzer: Analyzer,
    files: DiskFiles,
    settings: Arc<Settings>,
    levels: Levels,
}

impl Lookout {
    /// Returns what is wrong, in the order of the text.
    pub(super) fn problems(&self, document: &Document) -> Vec<Problem> {
        let mut problems = self.analyzer.problems(document, &self.files, &self.settings);
        show_files(&mut problems, self.files.root());
        self.levels.deny(&mut problems);
        problems
    }
}

/// What became of reading suites.
pub(super) struct Load {
    /// The suites that could be read.
    pub(super) suites: Vec<Loaded>,
    /// Why others could not.
    pub(super) failures: Vec<anyhow::Error>,
    /// Shown until it is dropped: what follows may take as long.
    pub(super) life: Life,
}

/// Reads what the paths name: files as such, directories with everything below them, the current directory
/// when there are none. What cannot be read hides nothing of the rest.
pub(super) fn suites(paths: &[PathBuf], wanted: Wanted, levels: &Levels) -> Load {
    let Discovery { found, failures } = discover(paths, wanted);
    let loader = Loader { folders: folders(paths), settings: Mutex::default(), levels, wanted };
    let life = Life::begin(found.len());
    let load = |found: &Found| {
        let loaded = loader.load(found);
        life.advance();
        loaded
    };
    Load { suites: in_parallel(&found, load), failures, life }
}

/// Looks at the files that are run with suites: task files, and the scripts that play their models. Models that are
/// named replace those of the suites.
pub(super) fn look_at_parts(suites: &mut [Loaded], models: &[String], levels: &Levels) {
    let scopes = Scopes::new(Vec::new(), Arc::default()).looking_around();
    for loaded in suites.iter_mut().filter(|loaded| loaded.found.scope.file == SpecFile::CLI_BENCH) {
        let mut parts = parts_of(&loaded.found, &scopes);
        if !models.is_empty() {
            parts.retain(|part| part.scope.file != SpecFile::SCRIPT);
            let beside = |id: &String| script::file_of(id).map(|name| loaded.directory.join(name));
            // What is named on the command line begins in the directory of the command line.
            let path = |id: &String| beside(id).or_else(|| id.strip_prefix("scripted:").map(PathBuf::from));
            parts.extend(models.iter().filter_map(path).filter_map(|path| script_at(&path, &scopes)));
        }
        loaded.report.parts = parts.iter().filter_map(|part| loaded.problems_of(part, levels)).collect();
    }
}

impl Loaded {
    /// Returns what is wrong with a file that is run with the suite, under the settings of the suite.
    fn problems_of(&self, part: &Found, levels: &Levels) -> Option<FileReport> {
        let Found { path, scope } = part;
        let (text, unreadable) = read_text(path);
        let document = Document::read(&text, scope.file.scalar_rules());
        let files = self.workspace.files(&scope.root, &scope.place).named_by(scope.main.clone()).following();
        let look = || Analyzer::new(scope.file).problems(&document, &files, &self.workspace.settings);
        let mut problems = match unreadable {
            Some(problem) => vec![problem],
            None => catch_unwind(AssertUnwindSafe(look)).unwrap_or_else(|_| vec![defect()]),
        };
        show_files(&mut problems, &scope.root);
        levels.deny(&mut problems);
        problems.retain(|problem| problem.severity <= Severity::Warning);
        let secrets = with_pasted(&document, &problems, &self.report.source.secrets);
        let source = SourceText { path: shown(path), secrets, document };
        (!problems.is_empty()).then_some(FileReport { source, problems })
    }
}

/// Returns the directories that the command line is about: settings above all of them do not count.
fn folders(paths: &[PathBuf]) -> Vec<PathBuf> {
    let here = env::current_dir().into_iter();
    let named = paths.iter().filter(|path| path.is_dir()).cloned();
    here.chain(named).filter_map(|folder| fs::canonicalize(folder).ok()).collect()
}

/// What applies to every suite of a directory.
#[derive(Clone)]
struct Surroundings {
    workspace: Workspace,
    report: Option<Arc<FileReport>>,
    secrets: Arc<Secrets>,
}

struct Loader<'l> {
    folders: Vec<PathBuf>,
    /// Settings by where they are looked for, read once.
    settings: Mutex<HashMap<Reach, Surroundings>>,
    /// What the command line says about problems.
    levels: &'l Levels,
    wanted: Wanted,
}

impl Loader<'_> {
    fn load(&self, found: &Found) -> Loaded {
        let Found { path, scope } = found;
        let Surroundings { workspace, report: settings_report, secrets } =
            self.settings_of(Reach::of(scope, &self.folders));
        let settings = &workspace.settings;
        let (text, unreadable) = read_text(path);
        let files = workspace
            .files(&scope.root, &scope.place)
            .named_by(scope.main.clone())
            .following()
            .with_parts(self.wanted == Wanted::Files);
        let analyzer = Analyzer::new(scope.file).guessing(scope.is_guess);
        let look = |text: &str| {
            let document = Document::read(text, scope.file.scalar_rules());
            let analysis = analyzer.analyze(&document, &files, settings);
            (document, analysis)
        };
        let ((document, analysis), unreadable) = match catch_unwind(AssertUnwindSafe(|| look(&text))) {
            Ok(found) => (found, unreadable),
            // A defect of ours in one file must not hide what is found in the others.
            Err(_) => (look(""), Some(defect())),
        };
        let suite = Arc::new(analysis.suite);
        let secrets = match suite.redactions() == Redactions::default() {
            true => secrets,
            false => Arc::new(workspace.secrets_of(&suite)),
        };
        // What the bytes are says more than what the parser makes of them.
        let mut problems = match unreadable {
            Some(problem) => vec![problem],
            None => analysis.problems,
        };
        show_files(&mut problems, &scope.root);
        self.levels.deny(&mut problems);
        let lookout = Lookout {
            path: path.clone(),
            analyzer,
            files,
            settings: Arc::clone(settings),
            levels: self.levels.clone(),
        };
        let report = SuiteReport {
            source: SourceText { path: shown(path), secrets: with_pasted(&document, &problems, &secrets), document },
            root: root_of(&scope.root),
            dialect: suite.dialect,
            settings: settings_report,
            problems,
            parts: Vec::new(),
            suite,
            result: None,
        };
        Loaded {
            report,
            workspace,
            secrets,
            directory: scope.root.clone(),
            place: scope.place.clone(),
            found: found.clone(),
            lookout,
        }
    }

    fn settings_of(&self, reach: Reach) -> Surroundings {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(reach)
            .or_insert_with_key(|reach| {
                let mut workspace = workspace::settings_for(reach);
                self.levels.adjust(Arc::make_mut(&mut workspace.settings));
                let secrets = Arc::new(workspace.secrets());
                let report = report_of(&workspace, &secrets).map(Arc::new);
                Surroundings { workspace, report, secrets }
            })
            .clone()
    }
}

/// Returns the secrets that reports mask, with those that are written into the file itself.
fn with_pasted(document: &Document, problems: &[Problem], secrets: &Arc<Secrets>) -> Arc<Secrets> {
    let pasted = problems.iter().filter(|problem| problem.code == Code::PastedSecret).filter_map(|problem| {
        let value = document.find(&problem.at)?.text()?;
        // Part of the value is underlined, or the key beside it.
        let marked = document.text().get_byte_slice(problem.range.clone()).map(String::from);
        Some(marked.filter(|marked| value.contains(marked.as_str())).unwrap_or_else(|| value.to_owned()))
    });
    let mut all = Arc::clone(secrets);
    pasted.for_each(|secret| Arc::make_mut(&mut all).add(&secret));
    all
}

/// Returns the problem of a file at which the analysis panicked.
fn defect() -> Problem {
    Problem::new(Code::UnreadableFile, Pointer::root(), 0..0, "the file could not be checked")
        .with_note("this is a bug in speclens")
        .with_help("report it with the file")
}

/// Returns what is wrong with the settings, with the text that it is about.
fn report_of(workspace: &Workspace, secrets: &Arc<Secrets>) -> Option<FileReport> {
    let file = workspace.file.as_ref().filter(|file| !file.problems.is_empty())?;
    Some(FileReport {
        source: SourceText { path: shown(&file.path), document: file.document.clone(), secrets: Arc::clone(secrets) },
        problems: file.problems.clone(),
    })
}

/// Names other files as reports do.
fn show_files(problems: &mut [Problem], root: &Path) {
    for file in problems.iter_mut().flat_map(Problem::other_files) {
        file.path = shown(&lexical(&root.join(&file.path)));
    }
}

/// Returns a directory that paths start from, as reports name it.
fn root_of(directory: &Path) -> Root {
    let here = env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    Root { directory: PathBuf::from(shown(directory)), here }
}

/// Returns a path as reports name it: relative to the working directory where it is below it.
pub(super) fn shown(path: &Path) -> String {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let here = env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    match absolute.strip_prefix(&here) {
        // The name that was asked for, where it is not a link to elsewhere.
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
