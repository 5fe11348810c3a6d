//! Reads and analyzes suites.

use std::{
    collections::HashMap,
    env, fs,
    io::{self, IsTerminal},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::JoinHandle,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use speclens_runner::{
    clock::Clock,
    files::{Buffers, DiskFiles, lexical},
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
    suite::{Case, Redactions, Suite},
};

use crate::{
    cli::{
        discover::{DiscoveredFile, Discovery, Wanted, discover, in_parallel, parts_of, script_at},
        levels::Levels,
    },
    job::{self, Prepared, Refusal, RequestOrigin, RunRequest},
    read::read_text,
    scope::Scopes,
    threads,
    workspace::{self, Reach, Workspace},
};

/// A suite that is ready to be reported or run.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) report: SuiteReport,
    pub(crate) workspace: Workspace,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) directory: PathBuf,
    pub(crate) place: String,
    found: DiscoveredFile,
    /// Analyzes the text for problems.
    pub(super) checker: Checker,
}

/// Finds the problems of a suite, also after its text was changed.
#[derive(Debug)]
pub(super) struct Checker {
    pub(super) path: PathBuf,
    analyzer: Analyzer,
    files: DiskFiles,
    settings: Arc<Settings>,
    levels: Levels,
}

impl Checker {
    pub(super) fn problems(&self, document: &Document) -> Vec<Problem> {
        let mut problems = self.analyzer.problems(document, &self.files, &self.settings);
        show_files(&mut problems, self.files.root());
        self.levels.deny(&mut problems);
        problems
    }
}

/// The result of reading suites.
pub(super) struct Load {
    pub(super) suites: Vec<Loaded>,
    /// The reasons why others could not be read.
    pub(super) failures: Vec<anyhow::Error>,
    /// Shown until it is dropped: the next step may take as long.
    pub(super) activity: Activity,
}

/// Reads what the paths name: files as such, directories with everything below them, the current directory
/// if there are none. A file that cannot be read does not hide the others.
pub(super) fn suites(paths: &[PathBuf], wanted: Wanted, levels: &Levels) -> Load {
    let Discovery { found, failures } = discover(paths, wanted);
    let loader = Loader { folders: folders(paths), settings: Mutex::default(), levels, wanted };
    let activity = Activity::begin(found.len());
    let load = |found: &DiscoveredFile| {
        let loaded = loader.load(found);
        activity.advance();
        loaded
    };
    Load { suites: in_parallel(&found, load), failures, activity }
}

/// Checks the files that run with suites: task files, and the scripts of their scripted models. `models` replace those
/// of the suites.
pub(super) fn look_at_parts(suites: &mut [Loaded], models: &[String], levels: &Levels) {
    let scopes = Scopes::new(Vec::new(), Arc::default()).looking_around();
    for loaded in suites.iter_mut().filter(|loaded| loaded.found.scope.file == SpecFile::CLI_BENCH) {
        let mut parts = parts_of(&loaded.found, &scopes);
        if !models.is_empty() {
            parts.retain(|part| part.scope.file != SpecFile::SCRIPT);
            let beside = |id: &String| script::file_of(id).map(|name| loaded.directory.join(name));
            // Paths on the command line are relative to the working directory.
            let path = |id: &String| beside(id).or_else(|| id.strip_prefix("scripted:").map(PathBuf::from));
            parts.extend(models.iter().filter_map(path).filter_map(|path| script_at(&path, &scopes)));
        }
        loaded.report.parts = parts.iter().filter_map(|part| loaded.problems_of(part, levels)).collect();
    }
}

impl Loaded {
    /// Prepares the suite to run, or another form of it; or returns why it may not run.
    pub(super) fn prepare(&self, suite: &Arc<Suite>, clock: Clock, gateway: Option<&str>) -> Result<Prepared, Refusal> {
        job::prepare(RunRequest {
            gateway,
            suite,
            directory: &self.directory,
            place: &self.place,
            workspace: &self.workspace,
            secrets: Arc::clone(&self.secrets),
            clock,
            origin: RequestOrigin::Terminal { has_errors: self.report.is_refused() },
        })
    }

    pub(super) fn path(&self) -> PathBuf {
        lexical(&self.directory.join(&self.place))
    }

    /// Returns the path and the text of the file with a test.
    pub(super) fn file_of<'l>(&'l self, case: &'l Case) -> (PathBuf, &'l Document) {
        match &case.file {
            Some(file) => (lexical(&self.directory.join(&file.path)), &file.document),
            None => (self.path(), &self.report.source.document),
        }
    }

    /// Returns what finds the problems of one of the task files of the suite; `None` for any other file.
    pub(super) fn checker_of_part(&self, path: &Path) -> Option<Checker> {
        let scopes = Scopes::new(Vec::new(), Arc::default()).looking_around();
        let part = parts_of(&self.found, &scopes).into_iter().find(|part| lexical(&part.path) == path)?;
        let scope = &part.scope;
        let files = self.workspace.files(&scope.root, &scope.place).named_by(scope.main.clone()).following();
        let (settings, levels) = (Arc::clone(&self.checker.settings), self.checker.levels.clone());
        Some(Checker { analyzer: Analyzer::new(scope.file), path: path.to_owned(), files, settings, levels })
    }

    /// Reads the suite again, with the texts of changed files in place of those on the disk.
    pub(super) fn reread(&mut self, changed: Arc<dyn Buffers>) {
        self.report.source.document = self.document_in(&*changed);
        self.checker.files = self.files_over(changed);
        let document = &self.report.source.document;
        let analysis = self.checker.analyzer.analyze(document, &self.checker.files, &self.checker.settings);
        self.report.suite = Arc::new(analysis.suite);
        self.report.problems = self.checker.problems(document);
    }

    /// Returns the suite as it would be with the texts of changed files in place of those on the disk.
    pub(super) fn suite_with(&self, changed: Arc<dyn Buffers>) -> Suite {
        let document = self.document_in(&*changed);
        self.checker.analyzer.analyze(&document, &self.files_over(changed), &self.checker.settings).suite
    }

    /// Returns the text of the suite. It is read anew, because what is kept of a document depends on other files as well.
    fn document_in(&self, changed: &dyn Buffers) -> Document {
        let text = changed.text(&self.path()).unwrap_or_else(|| String::from(self.report.source.document.text()));
        Document::read(&text, self.found.scope.file.scalar_rules())
    }

    fn files_over(&self, changed: Arc<dyn Buffers>) -> DiskFiles {
        let scope = &self.found.scope;
        let files = self.workspace.files(&scope.root, &scope.place).named_by(scope.main.clone()).following();
        files.over(changed)
    }

    fn problems_of(&self, part: &DiscoveredFile, levels: &Levels) -> Option<FileReport> {
        let DiscoveredFile { path, scope } = part;
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

/// Returns the directories that the command line names: settings above all of them do not apply.
fn folders(paths: &[PathBuf]) -> Vec<PathBuf> {
    let here = env::current_dir().into_iter();
    let named = paths.iter().filter(|path| path.is_dir()).cloned();
    here.chain(named).filter_map(|folder| fs::canonicalize(folder).ok()).collect()
}

/// Whatever applies to every suite of a directory.
#[derive(Clone)]
struct LoadedSettings {
    workspace: Workspace,
    report: Option<Arc<FileReport>>,
    secrets: Arc<Secrets>,
}

struct Loader<'l> {
    folders: Vec<PathBuf>,
    settings: Mutex<HashMap<Reach, LoadedSettings>>,
    /// The severities that the command line sets.
    levels: &'l Levels,
    wanted: Wanted,
}

impl Loader<'_> {
    fn load(&self, found: &DiscoveredFile) -> Loaded {
        let DiscoveredFile { path, scope } = found;
        let LoadedSettings { workspace, report: settings_report, secrets } =
            self.settings_of(scope.reach(&self.folders));
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
            // A bug of speclens in one file must not hide the problems of the others.
            Err(_) => (look(""), Some(defect())),
        };
        let suite = Arc::new(analysis.suite);
        let secrets = match suite.redactions() == Redactions::default() {
            true => secrets,
            false => Arc::new(workspace.secrets_of(&suite)),
        };
        // The state of the bytes explains more than the parse errors it causes.
        let mut problems = match unreadable {
            // The settings that apply to a settings file are its own, with their problems.
            _ if scope.file.is_settings() => Vec::new(),
            Some(problem) => vec![problem],
            None => analysis.problems,
        };
        show_files(&mut problems, &scope.root);
        self.levels.deny(&mut problems);
        let checker = Checker {
            path: path.clone(),
            analyzer,
            files,
            settings: Arc::clone(settings),
            levels: self.levels.clone(),
        };
        let report = SuiteReport {
            source: SourceText { path: shown(path), secrets: with_pasted(&document, &problems, &secrets), document },
            real_path: fs::canonicalize(path).unwrap_or_else(|_| path.clone()),
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
            checker,
        }
    }

    fn settings_of(&self, reach: Reach) -> LoadedSettings {
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(reach)
            .or_insert_with_key(|reach| {
                let mut workspace = workspace::settings_for(reach);
                self.levels.adjust(Arc::make_mut(&mut workspace.settings));
                let secrets = Arc::new(workspace.secrets());
                let report = report_of(&workspace, &secrets).map(Arc::new);
                LoadedSettings { workspace, report, secrets }
            })
            .clone()
    }
}

/// Returns the secrets that reports mask, including those written in the file itself.
fn with_pasted(document: &Document, problems: &[Problem], secrets: &Arc<Secrets>) -> Arc<Secrets> {
    let pasted = problems.iter().filter(|problem| problem.code == Code::PastedSecret).filter_map(|problem| {
        let value = document.find(&problem.at)?.text()?;
        // The problem may mark part of the value, or the key next to it.
        let marked = document.text().get_byte_slice(problem.range.clone()).map(String::from);
        Some(marked.filter(|marked| value.contains(marked.as_str())).unwrap_or_else(|| value.to_owned()))
    });
    let mut all = Arc::clone(secrets);
    pasted.for_each(|secret| Arc::make_mut(&mut all).add(&secret));
    all
}

fn defect() -> Problem {
    Problem::new(Code::UnreadableFile, Pointer::root(), 0..0, "the file could not be checked")
        .with_note("this is a bug in speclens")
        .with_help("report it, and attach the file")
}

fn report_of(workspace: &Workspace, secrets: &Arc<Secrets>) -> Option<FileReport> {
    let file = workspace.file.as_ref().filter(|file| !file.problems.is_empty())?;
    Some(FileReport {
        source: SourceText { path: shown(&file.path), document: file.document.clone(), secrets: Arc::clone(secrets) },
        problems: file.problems.clone(),
    })
}

fn show_files(problems: &mut [Problem], root: &Path) {
    for file in problems.iter_mut().flat_map(Problem::other_files) {
        file.path = shown(&lexical(&root.join(&file.path)));
    }
}

fn root_of(directory: &Path) -> Root {
    let here = env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    Root { directory: PathBuf::from(shown(directory)), here }
}

/// Returns a path as reports name it: relative to the working directory if it is below it.
pub(super) fn shown(path: &Path) -> String {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let here = env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    match absolute.strip_prefix(&here) {
        // The name as given, unless it is a link to another place.
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.strip_prefix(".").unwrap_or(path).display().to_string(),
    }
}

/// Work that finishes within this time shows nothing.
const PROGRESS_DELAY: Duration = Duration::from_millis(400);

/// The indicator. It disappears when this is dropped.
pub(super) struct Activity {
    bar: ProgressBar,
    /// Closed when the work ends.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Activity {
    pub(super) fn begin(files: usize) -> Activity {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        let template = if files == 1 {
            "{spinner} reading ({elapsed})"
        } else {
            "{spinner} reading {pos} of {len} files ({elapsed})"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (over, waiting) = mpsc::channel::<()>();
        let shown = bar.clone();
        let show = move || {
            if waiting.recv_timeout(PROGRESS_DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                shown.enable_steady_tick(Duration::from_millis(100));
                // Returns an error at the end: nothing is ever sent.
                let _ = waiting.recv();
            }
        };
        // Without a thread, the work is done without an indicator.
        let thread = io::stderr().is_terminal().then(|| threads::start("activity", show).ok()).flatten();
        Activity { bar, over: Some(over), thread }
    }

    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
