//! Finds suites on the disk, reads them, and analyses them.

use std::{
    collections::{BTreeSet, HashMap},
    env, fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail, ensure};
use ignore::WalkBuilder;
use speclens_runner::{
    files::DiskFiles,
    report::{SettingsReport, SourceText, SuiteReport},
};
use speclens_schema::{
    analysis::Analyzer,
    dialect::ScalarRules,
    document::{Document, Pointer, SIZE_LIMIT},
    json_schema::SpecFile,
    mask::Secrets,
    problem::{Code, Problem},
    settings::Settings,
};

use super::levels::Levels;
use crate::workspace::{self, Workspace};

/// A suite, ready to be reported, or run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What reports tell about it.
    pub(crate) report: SuiteReport,
    /// The settings that apply.
    pub(crate) settings: Arc<Settings>,
    /// What must not be seen.
    pub(crate) secrets: Arc<Secrets>,
    /// Where it stands.
    pub(crate) directory: PathBuf,
    /// Its name there.
    pub(crate) file_name: String,
    /// What says what is wrong with it.
    pub(super) lookout: Lookout,
}

/// Says what is wrong with a suite, also after its text was changed.
#[derive(Debug)]
pub(super) struct Lookout {
    analyzer: Analyzer,
    files: DiskFiles,
    settings: Arc<Settings>,
    levels: Levels,
}

impl Lookout {
    /// What is wrong, in the order of the text.
    pub(super) fn problems(&self, document: &Document) -> Vec<Problem> {
        let mut problems = self.analyzer.problems(document, &self.files, &self.settings);
        self.levels.deny(&mut problems);
        problems
    }
}

/// Reads the suites that the paths name: files as such, directories with everything below them, the current
/// directory when there are none.
pub(super) fn suites(paths: &[PathBuf], levels: &Levels) -> anyhow::Result<Vec<Loaded>> {
    let found = discover(paths)?;
    let mut loader = Loader { settings: HashMap::new(), levels };
    found.into_iter().map(|(path, file)| loader.load(&path, file)).collect()
}

fn discover(paths: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, SpecFile)>> {
    let here = [PathBuf::from(".")];
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for path in if paths.is_empty() { &here[..] } else { paths } {
        let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        let suites = if metadata.is_dir() { below(path)? } else { vec![(path.clone(), kind_of(path)?)] };
        for (path, file) in suites {
            if seen.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                found.push((path, file));
            }
        }
    }
    Ok(found)
}

/// The suites in a directory, in the order of their paths; it is an error that there are none. What version control
/// ignores is left out. What cannot be looked at may hold a suite that fails, so it is an error too.
fn below(directory: &Path) -> anyhow::Result<Vec<(PathBuf, SpecFile)>> {
    let mut found = Vec::new();
    let mut misnamed = None;
    for entry in WalkBuilder::new(directory).require_git(false).sort_by_file_path(Ord::cmp).build() {
        let entry = match entry {
            Ok(entry) => entry,
            // Gone since its directory was listed.
            Err(error) if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) => continue,
            Err(error) => return Err(unreadable(directory, &error)),
        };
        let file = entry.file_name().to_str().and_then(SpecFile::of_file_name);
        let Some(file) = file.filter(|file| file.dialect().is_some()) else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            misnamed.get_or_insert_with(|| entry.into_path());
        } else {
            found.push((entry.into_path(), file));
        }
    }
    if found.is_empty()
        && let Some(misnamed) = misnamed
    {
        bail!(
            "{} is a directory: a suite is a file of that name; rename the directory, or name the suites in it",
            misnamed.display()
        );
    }
    ensure!(
        !found.is_empty(),
        "no suite in {}: a suite is a file named `kindlm.yaml` that version control does not ignore; `speclens init \
         kindlm` writes one",
        if directory == Path::new(".") { "this directory".to_owned() } else { directory.display().to_string() }
    );
    Ok(found)
}

/// Says which directory could not be searched, and what to do.
fn unreadable(searched: &Path, error: &ignore::Error) -> anyhow::Error {
    let (mut path, mut inner) = (None, error);
    loop {
        match inner {
            ignore::Error::WithPath { path: named, err } => (path, inner) = (Some(named.as_path()), err),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => inner = err,
            _ => break,
        }
    }
    let reason = error.io_error().map_or_else(|| inner.to_string(), ToString::to_string);
    anyhow!(
        "cannot read {}: {reason}; a suite in it would be overlooked: make it readable, leave it out with a line in \
         `.ignore`, or name the suites",
        path.unwrap_or(searched).display()
    )
}

/// The format of a file that was named outright: its name tells, else what it holds.
fn kind_of(path: &Path) -> anyhow::Result<SpecFile> {
    let named = path.file_name().and_then(|name| SpecFile::of_file_name(name.to_str()?));
    if let Some(file) = named.filter(|file| file.dialect().is_some()) {
        return Ok(file);
    }
    let (text, problem) = read_text(path);
    if let Some(problem) = problem.filter(|problem| problem.code == Code::UnreadableFile) {
        bail!("{}: {}", path.display(), problem.message);
    }
    let document = Document::read(&text, ScalarRules::Yaml12);
    if document.root().is_some_and(|root| root.get("kindlm").is_some()) {
        return Ok(SpecFile::KindLm);
    }
    bail!("{} is not a suite: its name is not `kindlm.yaml`, and it has no `kindlm` key", path.display())
}

/// What applies to every suite of a directory.
#[derive(Clone)]
struct Surroundings {
    settings: Arc<Settings>,
    report: Option<Arc<SettingsReport>>,
    secrets: Arc<Secrets>,
}

struct Loader<'l> {
    /// Settings by directory, read once.
    settings: HashMap<PathBuf, Surroundings>,
    /// What the command line says about problems.
    levels: &'l Levels,
}

impl Loader<'_> {
    fn load(&mut self, path: &Path, file: SpecFile) -> anyhow::Result<Loaded> {
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = fs::canonicalize(parent).with_context(|| format!("cannot read {}", parent.display()))?;
        let Surroundings { settings, report: settings_report, secrets } = self.settings_of(&directory);
        let (text, unreadable) = read_text(path);
        let document = Document::read(&text, file.scalar_rules());
        let files = DiskFiles::new(&directory, &file_name);
        let analyzer = Analyzer::new(file);
        let analysis = analyzer.analyze(&document, &files, &settings);
        // What the bytes are says more than what the parser makes of them.
        let mut problems = match unreadable {
            Some(problem) => vec![problem],
            None => analysis.problems,
        };
        self.levels.deny(&mut problems);
        let lookout = Lookout { analyzer, files, settings: Arc::clone(&settings), levels: self.levels.clone() };
        let report = SuiteReport {
            source: SourceText { path: shown(path), document },
            dialect: analysis.suite.dialect,
            settings: settings_report,
            problems,
            suite: Arc::new(analysis.suite),
            result: None,
        };
        Ok(Loaded { report, settings, secrets, directory, file_name, lookout })
    }

    fn settings_of(&mut self, directory: &Path) -> Surroundings {
        let read = || {
            let mut workspace = workspace::settings_for(directory);
            self.levels.adjust(Arc::make_mut(&mut workspace.settings));
            self.levels.adjust_problems(&mut workspace.problems);
            let secrets = Arc::new(workspace.secrets());
            let report = report_of(&workspace).map(Arc::new);
            Surroundings { settings: workspace.settings, report, secrets }
        };
        self.settings.entry(directory.to_owned()).or_insert_with(read).clone()
    }
}

/// What is wrong with the settings, with the text that it is about.
fn report_of(workspace: &Workspace) -> Option<SettingsReport> {
    let file = workspace.file.as_ref().filter(|_| !workspace.problems.is_empty())?;
    let document = Document::read(&read_text(file).0, ScalarRules::Yaml12);
    Some(SettingsReport { source: SourceText { path: shown(file), document }, problems: workspace.problems.clone() })
}

/// A path as reports name it: relative to the working directory where it lies below it.
fn shown(path: &Path) -> String {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let here = env::current_dir().and_then(fs::canonicalize).unwrap_or_default();
    match absolute.strip_prefix(&here) {
        // The name that was asked for, where it is not a link to elsewhere.
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Reads a text, and says what is wrong with its bytes. What can be read of it is returned in any case.
pub(crate) fn read_text(path: &Path) -> (String, Option<Problem>) {
    let problem = |message: String, at: usize| {
        Some(Problem::new(Code::Encoding, Pointer::root(), at..at + usize::from(at > 0), message))
    };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let message = format!("cannot read the file: {reason}");
            return (String::new(), Some(Problem::new(Code::UnreadableFile, Pointer::root(), 0..0, message)));
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => match text.find('\0') {
            Some(at) => {
                let message = "a NUL byte: this is not a text file, or it was damaged; save it as UTF-8 text";
                (text, problem(message.to_owned(), at))
            }
            None => (text, None),
        },
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let message = match bytes.as_slice() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "not UTF-8 but UTF-16: save the file as UTF-8".to_owned(),
                _ => format!(
                    "not UTF-8: byte {at} (0x{:02x}) belongs to no character; save the file as UTF-8",
                    bytes[at]
                ),
            };
            (String::from_utf8_lossy(&bytes).into_owned(), problem(message, at))
        }
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    // Asked before opening: opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    // One byte more than is read as a document: the reader of documents then says that it is too large.
    file.take(SIZE_LIMIT as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > SIZE_LIMIT {
        while bytes.last().is_some_and(|byte| byte & 0xc0 == 0x80) {
            bytes.pop();
        }
    }
    Ok(bytes)
}
