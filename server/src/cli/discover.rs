//! Finds spec files on the disk.

use std::{
    collections::{BTreeSet, HashSet},
    error::Error,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, anyhow, bail, ensure};
use speclens_runner::files::{DiskFiles, lexical, slashed};
use speclens_schema::{
    document::{Document, NodeRef, ScalarRules, parallel},
    gateway::config::Config,
    json_schema::{DiscoveryRule, SpecFile},
    kind,
    problem::Code,
    script,
    suite::task_files,
    words::nearest_file,
};

use super::output;
use crate::{
    read::{beginning, read_text, walk},
    scope::{Scope, Scopes},
};

#[derive(Clone, Debug)]
pub(super) struct DiscoveredFile {
    /// Path as given, or below the given directory.
    pub(super) path: PathBuf,
    /// Its kind, and the suite or workspace it belongs to.
    pub(super) scope: Scope,
}

/// The files that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Every file that can be checked.
    Files,
    /// Files with tests. Task files are parts of the suites that name them.
    Suites,
}

#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// The spec files, each once, sorted by path.
    pub(super) found: Vec<DiscoveredFile>,
    /// Named files that are not suites, and directories that could not be searched: they may contain a failing suite.
    pub(super) failures: Vec<anyhow::Error>,
}

/// Returns the files that the paths name: files as such, directories with everything below them, the current directory
/// when there are none.
pub(super) fn discover(paths: &[PathBuf], wanted: Wanted) -> Discovery {
    let here = [PathBuf::from(".")];
    let scopes = Scopes::new(Vec::new(), Arc::default()).looking_around();
    let mut seen = HashSet::new();
    let mut all = Discovery::default();
    for path in if paths.is_empty() { &here[..] } else { paths } {
        let looked = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => below(path, &scopes, wanted, &mut all.failures),
            Ok(_) => named(path, &scopes, wanted).map(|found| vec![found]),
            Err(error) => Err(absent(path, &error)),
        };
        let mut found = looked.unwrap_or_else(|error| {
            all.failures.push(error);
            Vec::new()
        });
        if wanted == Wanted::Files {
            let parts: Vec<DiscoveredFile> = found.iter().flat_map(|main| parts_of(main, &scopes)).collect();
            found.extend(parts);
        }
        for found in found {
            if seen.insert(fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone())) {
                all.found.push(found);
            }
        }
    }
    all
}

/// Returns the error for a named path that cannot be read, with its remedy.
fn absent(path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = format!("`{}`", path.display());
    match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            anyhow!("{shown} is a link to a file that does not exist; correct the link, or name another file")
        }
        io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let neighbors = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
            let neighbors: Vec<String> =
                neighbors.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            match nearest_file(&name, neighbors.iter().map(String::as_str)) {
                Some(near) => {
                    anyhow!("{shown} does not exist; did you mean `{}`?", path.with_file_name(near).display())
                }
                None => anyhow!(
                    "{shown} does not exist; name an existing file or directory, or none to search the current directory"
                ),
            }
        }
        _ => anyhow!("cannot read {shown}: {error}; make it and its parent directories readable"),
    }
}

/// Returns the spec files in a directory, sorted by path; an error if there are none. Files that version control
/// ignores are omitted; a directory that cannot be searched is a failure of its own.
fn below(
    directory: &Path,
    scopes: &Scopes,
    wanted: Wanted,
    failures: &mut Vec<anyhow::Error>,
) -> anyhow::Result<Vec<DiscoveredFile>> {
    let known_failures = failures.len();
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    let mut workspaces = vec![directory.join(Config::FILE)];
    let mut misnamed = None;
    for entry in walk(directory).build() {
        let entry = match entry {
            Ok(entry) => entry,
            // It was deleted after its directory was listed.
            Err(error) if error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound) => continue,
            Err(error) => {
                failures.push(unreadable(directory, &error));
                continue;
            }
        };
        if !entry.file_name().to_str().is_some_and(kind::is_yaml) {
            continue;
        }
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            if entry.file_name() == Config::FILE {
                workspaces.push(entry.path().to_owned());
            }
            paths.insert(entry.into_path());
        } else if let Some(kind::Named::Surely(_)) = kind::of_path(&slashed(entry.path())) {
            misnamed.get_or_insert_with(|| entry.into_path());
        }
    }
    for settings in workspaces {
        paths.extend(named_by_patterns(&settings, directory, scopes).unwrap_or_default());
    }
    let paths: Vec<PathBuf> = paths.into_iter().collect();
    let look = |path: &PathBuf| {
        let real = absolute(path).ok()?;
        let named = kind::of_path(&slashed(&real));
        // A file with the name of a suite is one, whatever its content is: even a pipe is reported, as not being text.
        let text = if matches!(named, Some(kind::Named::Surely(_))) { String::new() } else { beginning(&real)? };
        let scope = scopes.find(&real, &text)?;
        let counts = wanted == Wanted::Files || scope.file.is_suite();
        let by_name = match scopes.patterns_of(&real).filter(|_| scope.file.discovery == DiscoveryRule::Matched) {
            Some(patterns) if patterns.name(&real) => ByName::Ours,
            Some(patterns) => ByName::Excluded(patterns.source),
            None if named.is_some() => ByName::Ours,
            None => ByName::Unknown,
        };
        let inclusion = inclusion(&scope, &text, by_name, wanted);
        counts.then(|| (DiscoveredFile { path: path.clone(), scope }, inclusion))
    };
    let mut found = Vec::new();
    for (file, inclusion) in in_parallel(&paths, look).into_iter().flatten() {
        match inclusion {
            Inclusion::Counts => found.push(file),
            Inclusion::NotNamed => output::note(&format!(
                "`{}` looks like a {} but is skipped because of its name; name it on the command line, or write `# \
                 speclens: dialect={}` at the top",
                file.path.display(),
                file.scope.file.singular(),
                file.scope.file.as_str()
            )),
            Inclusion::Excluded(source) => output::note(&format!(
                "`{}` is skipped because no pattern of `{source}` matches it; name it on the command line, or add a pattern",
                file.path.display()
            )),
            Inclusion::Part => {}
        }
    }
    if found.is_empty() && failures.len() > known_failures {
        return Ok(found);
    }
    if found.is_empty()
        && let Some(misnamed) = misnamed
    {
        bail!(
            "`{}` is a directory, but a suite is a file with this name; rename the directory, or name the suites in it",
            misnamed.display()
        );
    }
    ensure!(!found.is_empty(), NoSuite { directory: directory.to_owned() });
    Ok(found)
}

/// Returns the scenario contracts below a directory that the patterns of a workspace name. `settings` is the path of
/// its settings, which may not exist.
fn named_by_patterns(settings: &Path, directory: &Path, scopes: &Scopes) -> Option<Vec<PathBuf>> {
    let patterns = scopes.patterns_of(&absolute(settings).ok()?)?;
    let real = fs::canonicalize(directory).ok()?;
    let as_named = |path: PathBuf| Some(directory.join(path.strip_prefix(&real).ok()?));
    Some(patterns.files_below(&real).into_iter().filter_map(as_named).collect())
}

/// The error that a directory contains no suite.
#[derive(Debug)]
pub(super) struct NoSuite {
    pub(super) directory: PathBuf,
}

impl fmt::Display for NoSuite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = match self.directory == Path::new(".") {
            true => "this directory".to_owned(),
            false => format!("`{}`", self.directory.display()),
        };
        write!(
            formatter,
            "no suite in {directory}: a suite is a file named `kindlm.yaml` or `cli-bench.yaml`, or a ClawSpec contract such \
             as `tests/scenarios.yaml`, that git does not ignore; `speclens init kindlm` (or `cli-bench`, or `clawspec`) writes one"
        )
    }
}

impl Error for NoSuite {}

fn unreadable(searched: &Path, error: &ignore::Error) -> anyhow::Error {
    let (mut path, mut inner) = (None, error);
    loop {
        match inner {
            ignore::Error::WithPath { path: named, err } => (path, inner) = (Some(named.as_path()), err),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => inner = err,
            _ => break,
        }
    }
    let reason = match error.io_error() {
        // An error that wraps another one names the path differently.
        Some(error) if error.raw_os_error().is_none() => io::Error::from(error.kind()).to_string(),
        Some(error) => error.to_string(),
        None => inner.to_string(),
    };
    anyhow!(
        "cannot read `{}`: {reason}; make it readable so that its suites are found, exclude it in `.ignore`, or name the \
         suites to use",
        path.unwrap_or(searched).display()
    )
}

/// The treatment of a file that the command line does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inclusion {
    Counts,
    /// It is a suite only by its content, and the command line does not name it.
    NotNamed,
    /// It has scenarios, but the patterns of its workspace, which are in this file or variable, exclude it.
    Excluded(&'static str),
    /// It is a part of another file, or of none.
    Part,
}

/// The kind of a file according to its name and location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByName {
    /// It is a spec file.
    Ours,
    Unknown,
    /// The patterns of its workspace, which are in this file or variable, exclude it.
    Excluded(&'static str),
}

/// Whether to include a file that the command line does not name. For `check`, as in editors, and for contracts, whose
/// names are free, the content decides; a KindLM or cli-bench suite with another name is run only if it is named there.
///
/// The patterns of a workspace say which scenarios are run, and ClawSpec runs no others. Running more would start
/// agents that the author excludes; checking them is harmless, and reports that no pattern matches.
fn inclusion(scope: &Scope, text: &str, name: ByName, wanted: Wanted) -> Inclusion {
    let said = kind::said(text).is_some_and(|said| said.kind.is_some());
    let counts = |counts| if counts { Inclusion::Counts } else { Inclusion::Part };
    let is_asked = wanted == Wanted::Files || said;
    match (scope.file.discovery, name) {
        (DiscoveryRule::Always, _) => Inclusion::Counts,
        (DiscoveryRule::Never, _) => Inclusion::Part,
        (DiscoveryRule::Named, ByName::Ours) => Inclusion::Counts,
        (DiscoveryRule::Named, ByName::Unknown | ByName::Excluded(_)) if is_asked => Inclusion::Counts,
        (DiscoveryRule::Named, ByName::Unknown | ByName::Excluded(_)) => Inclusion::NotNamed,
        (DiscoveryRule::Declared, _) => counts(is_asked),
        (DiscoveryRule::InSuite, _) => counts(said || scope.main.is_some()),
        (DiscoveryRule::Matched, ByName::Excluded(source)) if !is_asked => Inclusion::Excluded(source),
        (DiscoveryRule::Matched, ByName::Excluded(_) | ByName::Ours | ByName::Unknown) => Inclusion::Counts,
    }
}

/// Returns a file that the command line names: its name decides, else its content.
fn named(path: &Path, scopes: &Scopes, wanted: Wanted) -> anyhow::Result<DiscoveredFile> {
    let real = absolute(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let (text, problem) = read_text(&real);
    let surely = matches!(kind::of_path(&slashed(&real)), Some(kind::Named::Surely(_)));
    if let Some(problem) = problem.filter(|problem| problem.code == Code::UnreadableFile && !surely) {
        let help = problem.help.map(|help| format!("; {help}")).unwrap_or_default();
        bail!("{}: {}{help}", path.display(), problem.message);
    }
    let Some(scope) = scopes.find_asked_for(&real, &text) else {
        bail!("{}", unrecognized(path, &slashed(&real), &text))
    };
    if wanted == Wanted::Suites && !scope.file.is_suite() {
        match &scope.main {
            Some(main) => {
                bail!("`{}` is part of a suite; name `{main}`, and select tests with `--test`", path.display())
            }
            None => {
                bail!("`{}` has no tests of its own: it is a {}", path.display(), scope.file.singular())
            }
        }
    }
    Ok(DiscoveredFile { path: path.to_owned(), scope })
}

/// Returns the message for a named file that is not a spec file, and how to declare it as one.
fn unrecognized(path: &Path, from_root: &str, text: &str) -> String {
    let shown = format!("`{}`", path.display());
    if let Some(said) = kind::said(text) {
        let kinds: Vec<&str> = SpecFile::ALL.iter().map(|file| file.as_str()).collect();
        return format!("{shown} has the unknown kind `{}`; the kinds are {}", said.word, kinds.join(", "));
    }
    match kind::resembled(from_root, text).filter(|file| !file.is_settings()) {
        Some(file) => {
            let missing: Vec<String> = kind::lacking(file, text).into_iter().map(|key| format!("`{key}`")).collect();
            let missing = match missing.as_slice() {
                [] => "other keys of the format are missing".to_owned(),
                missing => format!("lacks {}", missing.join(", ")),
            };
            format!(
                "{shown} is not a suite: it looks like a {}, but {missing}; add what is missing, or write `# speclens: \
                 dialect={}` at the top",
                file.singular(),
                file.as_str()
            )
        }
        None => format!(
            "{shown} is not a suite: neither its name nor its content is that of a KindLM, cli-bench or ClawSpec \
             file; to set its kind, write `# speclens: dialect=KIND` at the top"
        ),
    }
}

pub(super) fn parts_of(main: &DiscoveredFile, scopes: &Scopes) -> Vec<DiscoveredFile> {
    if main.scope.file != SpecFile::CLI_BENCH {
        return Vec::new();
    }
    let document = Document::read_cut(&read_text(&main.path).0, ScalarRules::Yaml12);
    let files = DiskFiles::new(&main.scope.root, &main.scope.place).following();
    let parent = main.path.parent().unwrap_or(Path::new(""));
    let tasks = task_files::named_by(&document, &files).into_iter().map(|place| (place, SpecFile::CLI_BENCH_TASKS));
    let models = document.root().and_then(|root| root.get("providers"));
    let models = models.into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str);
    let scripts = models.filter_map(script::file_of).filter(|place| main.scope.root.join(place).is_file());
    let paths = tasks.chain(scripts.map(|place| (place, SpecFile::SCRIPT)));
    let part = |(place, file): (String, SpecFile)| {
        let root = main.scope.root.clone();
        // A file that is declared as another kind is checked as that kind.
        let path = lexical(&root.join(&place));
        let said = scopes.find(&path, &beginning(&path).unwrap_or_default());
        let main_place = Some(main.scope.place.clone());
        let scope = Scope { file, root, place: place.clone(), main: main_place, is_guess: false };
        let scope = said.filter(|said| said.file != file).unwrap_or(scope);
        // A path outside the named directory cannot be shown relative to it.
        DiscoveredFile { path: if place.starts_with("..") { path } else { parent.join(place) }, scope }
    };
    paths.map(part).collect()
}

/// Returns a script that the command line names; `None` if it does not exist, which is reported when it is played.
pub(super) fn script_at(path: &Path, scopes: &Scopes) -> Option<DiscoveredFile> {
    let real = absolute(path).ok().filter(|real| real.is_file())?;
    let found = scopes.find_asked_for(&real, &beginning(&real)?).filter(|scope| scope.file == SpecFile::SCRIPT);
    let alone = || {
        let place = real.file_name()?.to_str()?.to_owned();
        Some(Scope { file: SpecFile::SCRIPT, root: real.parent()?.to_owned(), place, main: None, is_guess: false })
    };
    Some(DiscoveredFile { path: path.to_owned(), scope: found.or_else(alone)? })
}

/// Returns an absolute path. A link keeps its own name because that is the name it was given by.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(fs::canonicalize(parent)?.join(name))
}

/// Calls a function for each item, several at a time. The results are in the order of the items.
pub(super) fn in_parallel<T: Sync, A: Send>(items: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(8).min(items.len());
    if workers < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<A>>> = Mutex::new(items.iter().map(|_| None).collect());
    let run_worker = || {
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            let answer = work(item);
            answers.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(answer);
        }
    };
    thread::scope(|scope| {
        // The system may have no threads left: this thread then does the rest.
        for _ in 1..workers {
            let _ = parallel::thread().and_then(|thread| thread.spawn_scoped(scope, run_worker));
        }
        run_worker();
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.into_iter().flatten().collect()
}
