//! Finds the files that are ours on the disk.

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
    dialect::{ScalarRules, clawspec::config::Config, cli_bench::task_files},
    document::{Document, NodeRef},
    json_schema::{Counts, SpecFile},
    kind,
    problem::Code,
    script,
    words::nearest_file,
};

use super::output;
use crate::{
    read::{beginning, read_text, walk},
    scope::{Scope, Scopes},
    threads::STACK_BYTES,
};

/// A file that is ours.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// As it was named, or below the directory that was named.
    pub(super) path: PathBuf,
    /// What it is, and what it belongs to.
    pub(super) scope: Scope,
}

/// What a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Every file that can be checked.
    Files,
    /// What has tests of its own. Task files are parts of the suites that name them.
    Suites,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    /// The files that are ours, each once, in the order of the paths.
    pub(super) found: Vec<Found>,
    /// What was named and is not a suite, and what could not be searched: it may hold a suite that fails.
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
            let parts: Vec<Found> = found.iter().flat_map(|main| parts_of(main, &scopes)).collect();
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

/// Says what is wrong with a path that was named, and what to do.
fn absent(path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => {
            anyhow!("{shown} is a link to a file that does not exist: correct the link, or name the file itself")
        }
        io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let neighbours = fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
            let neighbours: Vec<String> =
                neighbours.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            match nearest_file(&name, neighbours.iter().map(String::as_str)) {
                Some(near) => anyhow!("{shown} does not exist; did you mean {}?", path.with_file_name(near).display()),
                None => anyhow!(
                    "{shown} does not exist: name an existing file or directory, or none to search the current directory"
                ),
            }
        }
        _ => anyhow!("cannot read {shown}: {error}; make it and its parent directories readable"),
    }
}

/// Returns what is ours in a directory, in the order of the paths; it is an error that there is nothing. What version
/// control ignores is omitted; what cannot be searched is a failure of its own.
fn below(
    directory: &Path,
    scopes: &Scopes,
    wanted: Wanted,
    failures: &mut Vec<anyhow::Error>,
) -> anyhow::Result<Vec<Found>> {
    let known_failures = failures.len();
    let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
    let mut workspaces = vec![directory.join(Config::FILE)];
    let mut misnamed = None;
    for entry in walk(directory).build() {
        let entry = match entry {
            Ok(entry) => entry,
            // Gone since its directory was listed.
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
        // What has the name of a suite is one, whatever it holds: a pipe, too, is reported as no text.
        let text = if matches!(named, Some(kind::Named::Surely(_))) { String::new() } else { beginning(&real)? };
        let scope = scopes.find(&real, &text)?;
        let counts = wanted == Wanted::Files || scope.file.is_suite();
        let by_name = match scopes.patterns_of(&real).filter(|_| scope.file.counts() == Counts::Matched) {
            Some(patterns) if patterns.name(&real) => ByName::Ours,
            Some(patterns) => ByName::Excluded(patterns.source),
            None if named.is_some() => ByName::Ours,
            None => ByName::Unknown,
        };
        let standing = standing(&scope, &text, by_name, wanted);
        counts.then(|| (Found { path: path.clone(), scope }, standing))
    };
    let mut found = Vec::new();
    for (file, standing) in in_parallel(&paths, look).into_iter().flatten() {
        match standing {
            Standing::Counts => found.push(file),
            Standing::Unasked => output::remark(&format!(
                "{} looks like a {} but is skipped because of its name: name it on the command line, or write `# \
                 speclens: dialect={}` at the top",
                file.path.display(),
                file.scope.file.title(),
                file.scope.file.as_str()
            )),
            Standing::Excluded(source) => output::remark(&format!(
                "{} is skipped because no pattern of `{source}` matches it: name it on the command line, or add a pattern",
                file.path.display()
            )),
            Standing::Part => {}
        }
    }
    if found.is_empty() && failures.len() > known_failures {
        return Ok(found);
    }
    if found.is_empty()
        && let Some(misnamed) = misnamed
    {
        bail!(
            "{} is a directory, but a suite is a file with this name: rename the directory, or name the suites in it",
            misnamed.display()
        );
    }
    ensure!(!found.is_empty(), NoSuite { directory: directory.to_owned() });
    Ok(found)
}

/// Returns the scenario contracts below a directory that the patterns of a workspace name. `settings` is the path of
/// its settings, whether there are any or not.
fn named_by_patterns(settings: &Path, directory: &Path, scopes: &Scopes) -> Option<Vec<PathBuf>> {
    let patterns = scopes.patterns_of(&absolute(settings).ok()?)?;
    let real = fs::canonicalize(directory).ok()?;
    let as_named = |path: PathBuf| Some(directory.join(path.strip_prefix(&real).ok()?));
    Some(patterns.files_below(&real).into_iter().filter_map(as_named).collect())
}

/// That there is not a suite in a directory.
#[derive(Debug)]
pub(super) struct NoSuite {
    /// The directory as it was named.
    pub(super) directory: PathBuf,
}

impl fmt::Display for NoSuite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directory = match self.directory == Path::new(".") {
            true => "this directory".to_owned(),
            false => self.directory.display().to_string(),
        };
        write!(
            formatter,
            "no suite in {directory}: a suite is a file named `kindlm.yaml` or `cli-bench.yaml`, or a ClawSpec contract such \
             as `tests/scenarios.yaml`, that git does not ignore; `speclens init kindlm` (or `cli-bench`, or `clawspec`) writes one"
        )
    }
}

impl Error for NoSuite {}

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
    let reason = match error.io_error() {
        // One that wraps another names the path in its own way.
        Some(error) if error.raw_os_error().is_none() => io::Error::from(error.kind()).to_string(),
        Some(error) => error.to_string(),
        None => inner.to_string(),
    };
    anyhow!(
        "cannot read {}: {reason}; suites in it would be missed: make it readable, exclude it in `.ignore`, or name \
         the suites",
        path.unwrap_or(searched).display()
    )
}

/// What becomes of a file that the command line does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is taken.
    Counts,
    /// It is a suite by its content alone, and the command line does not name it.
    Unasked,
    /// It has scenarios, and the patterns of its workspace, which are written there, leave it out.
    Excluded(&'static str),
    /// It is a part of something else, or of nothing.
    Part,
}

/// What the name and the place of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByName {
    /// It is one of ours.
    Ours,
    /// Nothing.
    Unknown,
    /// The patterns of its workspace, which are written there, leave it out.
    Excluded(&'static str),
}

/// Whether a file counts that the command line does not name. For `check`, as in editors, and for contracts, whose names are
/// free, its content decides; a KindLM or cli-bench suite under another name is run only where the command line names it.
///
/// Whoever writes patterns says which scenarios are run, and ClawSpec runs no others. To run more would start agents that the
/// author keeps out; a check of them does no harm, and says that no pattern matches.
fn standing(scope: &Scope, text: &str, name: ByName, wanted: Wanted) -> Standing {
    let said = kind::said(text).is_some_and(|said| said.kind.is_some());
    let counts = |counts| if counts { Standing::Counts } else { Standing::Part };
    let is_asked = wanted == Wanted::Files || said;
    match (scope.file.counts(), name) {
        (Counts::Always, _) => Standing::Counts,
        (Counts::Never, _) => Standing::Part,
        (Counts::Named, ByName::Ours) => Standing::Counts,
        (Counts::Named, ByName::Unknown | ByName::Excluded(_)) if is_asked => Standing::Counts,
        (Counts::Named, ByName::Unknown | ByName::Excluded(_)) => Standing::Unasked,
        (Counts::Said, _) => counts(is_asked),
        (Counts::InSuite, _) => counts(said || scope.main.is_some()),
        (Counts::Matched, ByName::Excluded(source)) if !is_asked => Standing::Excluded(source),
        (Counts::Matched, ByName::Excluded(_) | ByName::Ours | ByName::Unknown) => Standing::Counts,
    }
}

/// Returns a file that was named outright: its name decides, else its content.
fn named(path: &Path, scopes: &Scopes, wanted: Wanted) -> anyhow::Result<Found> {
    let real = absolute(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (text, problem) = read_text(&real);
    let surely = matches!(kind::of_path(&slashed(&real)), Some(kind::Named::Surely(_)));
    if let Some(problem) = problem.filter(|problem| problem.code == Code::UnreadableFile && !surely) {
        let help = problem.help.map(|help| format!("; {help}")).unwrap_or_default();
        bail!("{}: {}{help}", path.display(), problem.message);
    }
    let scope = scopes.find_asked_for(&real, &text).filter(|scope| !scope.file.is_settings());
    let Some(scope) = scope else { bail!("{}", unrecognised(path, &slashed(&real), &text)) };
    if wanted == Wanted::Suites && !scope.file.is_suite() {
        match &scope.main {
            Some(main) => {
                bail!("{} is part of a suite: name `{main}`, and select tests with `--test`", path.display())
            }
            None => bail!("{} has no tests of its own: it is a {}", path.display(), scope.file.title()),
        }
    }
    Ok(Found { path: path.to_owned(), scope })
}

/// Says why a file that was named is none of ours, and how to say that it is one.
fn unrecognised(path: &Path, from_root: &str, text: &str) -> String {
    let shown = path.display();
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
                "{shown} is not a suite: it looks like {}, but {missing}; add what is missing, or write `# speclens: \
                 dialect={}` at the top",
                file.title(),
                file.as_str()
            )
        }
        None => format!(
            "{shown} is not a suite: neither its name nor its content is that of a KindLM, cli-bench or ClawSpec \
             file; to set its kind, write `# speclens: dialect=KIND` at the top"
        ),
    }
}

/// Returns the task files that a main file names, and the scripts that play models of it.
pub(super) fn parts_of(main: &Found, scopes: &Scopes) -> Vec<Found> {
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
        // One that says what it is otherwise is checked as what it is.
        let path = lexical(&root.join(&place));
        let said = scopes.find(&path, &beginning(&path).unwrap_or_default());
        let main_place = Some(main.scope.place.clone());
        let scope = Scope { file, root, place: place.clone(), main: main_place, is_guess: false };
        let scope = said.filter(|said| said.file != file).unwrap_or(scope);
        // A path that begins above the one that was named is not known from there.
        Found { path: if place.starts_with("..") { path } else { parent.join(place) }, scope }
    };
    paths.map(part).collect()
}

/// Returns a script that the command line names; `None` if there is none, which is reported when it is to be played.
pub(super) fn script_at(path: &Path, scopes: &Scopes) -> Option<Found> {
    let real = absolute(path).ok().filter(|real| real.is_file())?;
    let found = scopes.find_asked_for(&real, &beginning(&real)?).filter(|scope| scope.file == SpecFile::SCRIPT);
    let alone = || {
        let place = real.file_name()?.to_str()?.to_owned();
        Some(Scope { file: SpecFile::SCRIPT, root: real.parent()?.to_owned(), place, main: None, is_guess: false })
    };
    Some(Found { path: path.to_owned(), scope: found.or_else(alone)? })
}

/// Returns a path from the root of the disk. A link keeps its own name: that is what it was named by.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(fs::canonicalize(parent)?.join(name))
}

/// Does something with each, several at a time. The answers are in the order of what was given.
pub(super) fn in_parallel<T: Sync, A: Send>(items: &[T], work: impl Fn(&T) -> A + Sync) -> Vec<A> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(8).min(items.len());
    if workers < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<Option<A>>> = Mutex::new(items.iter().map(|_| None).collect());
    let toil = || {
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            let answer = work(item);
            answers.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(answer);
        }
    };
    thread::scope(|scope| {
        // The system may have no threads left: this one does what is left to do.
        for _ in 1..workers {
            let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, toil);
        }
        toil();
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.into_iter().flatten().collect()
}
