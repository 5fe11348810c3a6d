//! Fills the index from the disk: files that version control ignores are omitted, limits are kept, and obsolete work
//! is abandoned.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use speclens_schema::{
    dialect::clawspec::config::Config,
    document::{Document, Encoding},
    kind,
};

use super::{Depth, Facts, FileSignature, Index, IndexedFile, Job, Limits};
use crate::{
    read::{MAX_HEAD_BYTES, beginning, read_text, walk},
    scope::{Scopes, is_main_name},
};

/// Maximum number of YAML files read that are not spec files.
const MAX_OTHER_FILES: usize = 100_000;

/// Above this number of changes, reading everything is faster.
const MAX_CHANGES: usize = 500;

/// Data that the index needs from its owner.
pub(crate) trait Host {
    /// Returns the scopes of files.
    fn scopes(&self) -> &Scopes;
    /// Returns the unit of columns, and the limits of the index.
    fn terms(&self) -> (Encoding, Limits);
    /// Called when work has finished.
    fn finished(&self, outcome: &Outcome);
}

/// The result of the work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Whether main files were created, deleted or changed: files may belong to other suites.
    pub suites_changed: bool,
    /// The reason why files are missing, if that is new.
    pub cut: Option<String>,
}

/// Reads files until the index is stopped. Blocks its thread.
pub(crate) fn work_until_stopped(index: &Index, host: &dyn Host) {
    while let Some(job) = index.next() {
        let looked = catch_unwind(AssertUnwindSafe(|| perform(index, host, &job)));
        match looked {
            Ok(Some(outcome)) => host.finished(&outcome),
            // The next job reads everything; it must be as thorough as this one had to be.
            Ok(None) => job.whole.into_iter().for_each(|depth| index.look_at_all(depth)),
            Err(_) => tracing::error!("reading the workspace failed; speclens tries again after the next change"),
        }
    }
}

/// Whether a file of this name decides which files are omitted.
pub(crate) fn is_about_ignoring(name: &str) -> bool {
    matches!(name, ".gitignore" | ".ignore" | ".git" | "exclude")
}

/// Does the work; `None` if it became obsolete.
fn perform(index: &Index, host: &dyn Host, job: &Job) -> Option<Outcome> {
    let scopes = host.scopes();
    let (encoding, limits) = host.terms();
    let (before, other_files) = {
        let state = index.state();
        (state.files.clone(), state.other_files.clone())
    };
    let mut scan = Scan {
        index,
        scopes,
        encoding,
        limits,
        depth: job.whole.unwrap_or(Depth::Changed),
        before,
        known_others: other_files,
        found: BTreeMap::new(),
        other_files: BTreeMap::new(),
        bytes: 0,
        loose: Vec::new(),
        outcome: Outcome::default(),
        cut: None,
    };
    let decides = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        is_about_ignoring(name) || name == Config::FILE || is_main_name(name) || scopes.is_main(path)
    };
    if job.whole.is_none() && job.paths.len() <= MAX_CHANGES && !job.paths.iter().any(decides) {
        scan.some(&job.paths)?;
    } else {
        if job.whole.is_none() {
            scan.depth = Depth::Everything;
            scan.outcome.suites_changed = job.paths.iter().any(decides);
        }
        scan.all()?;
    }
    Some(scan.publish())
}

struct Scan<'s> {
    index: &'s Index,
    scopes: &'s Scopes,
    encoding: Encoding,
    limits: Limits,
    depth: Depth,
    before: BTreeMap<PathBuf, IndexedFile>,
    known_others: BTreeMap<PathBuf, FileSignature>,
    found: BTreeMap<PathBuf, IndexedFile>,
    other_files: BTreeMap<PathBuf, FileSignature>,
    bytes: u64,
    /// Files that are spec files only if a suite names them.
    loose: Vec<PathBuf>,
    outcome: Outcome,
    cut: Option<String>,
}

impl Scan<'_> {
    /// Reads every file of the workspace; `None` if that became obsolete.
    fn all(&mut self) -> Option<()> {
        if self.depth == Depth::Everything {
            self.scopes.forget();
        }
        for folder in outermost(self.scopes.folders()) {
            for entry in walk(&folder).build().flatten() {
                if self.index.is_overtaken() {
                    return None;
                }
                self.visit(entry.path(), entry.file_type());
                if self.cut.is_some() {
                    break;
                }
                if entry.file_name() == Config::FILE {
                    self.named_by_patterns(entry.path(), &folder)?;
                }
            }
            self.named_by_patterns(&folder.join(Config::FILE), &folder)?;
        }
        // All suites are known only now.
        if self.scopes.has_mains_by_content() {
            self.scopes.forget();
            let parts = self
                .found
                .iter()
                .filter(|(_, known)| known.facts.scope.file.is_part() && known.facts.scope.main.is_none());
            let parts: Vec<PathBuf> = parts.map(|(path, _)| path.clone()).collect();
            for path in std::mem::take(&mut self.loose).into_iter().chain(parts) {
                if self.index.is_overtaken() {
                    return None;
                }
                if self.scopes.is_part(&path) {
                    self.read(&path);
                }
            }
        }
        let is_main = |known: &IndexedFile| known.facts.scope.file.part().is_some();
        let gone = self.before.iter().any(|(path, known)| is_main(known) && !self.found.contains_key(path));
        self.outcome.suites_changed |= gone;
        Some(())
    }

    /// Reads the scenario contracts that the patterns of a workspace name: version control may ignore them. `settings`
    /// is the path of its settings, which may not exist. `None` if that became obsolete.
    fn named_by_patterns(&mut self, settings: &Path, folder: &Path) -> Option<()> {
        let Some(patterns) = self.scopes.patterns_of(settings) else { return Some(()) };
        for path in patterns.files_below(folder) {
            if self.index.is_overtaken() {
                return None;
            }
            if !self.found.contains_key(&path) {
                self.visit_file(&path);
            }
        }
        Some(())
    }

    /// Reads some files and directories, unless they were deleted or are ignored.
    fn some(&mut self, paths: &BTreeSet<PathBuf>) -> Option<()> {
        let concerned = |path: &Path| path.ancestors().any(|above| paths.contains(above));
        self.found = self.before.clone();
        self.found.retain(|path, _| !concerned(path));
        self.other_files = self.known_others.clone();
        self.other_files.retain(|path, _| !concerned(path));
        self.bytes = self.found.values().map(|known| known.signature.length).sum();
        for folder in outermost(self.scopes.folders()) {
            let wanted: BTreeSet<PathBuf> = paths.iter().filter(|path| path.starts_with(&folder)).cloned().collect();
            if wanted.is_empty() {
                continue;
            }
            let mut walker = walk(&folder);
            // Only down to the files in question: ignore files on the way decide whether they are ignored.
            walker.filter_entry(move |entry| {
                let here = entry.path();
                wanted.iter().any(|wanted| wanted.starts_with(here)) || here.ancestors().any(|it| wanted.contains(it))
            });
            for entry in walker.build().flatten() {
                if self.index.is_overtaken() {
                    return None;
                }
                if concerned(entry.path()) {
                    self.visit(entry.path(), entry.file_type());
                }
            }
        }
        for path in paths.iter().filter(|path| !self.found.contains_key(*path)).cloned().collect::<Vec<_>>() {
            if self.scopes.patterns_of(&path).is_some_and(|patterns| patterns.name(&path)) {
                self.visit_file(&path);
            }
        }
        for path in std::mem::take(&mut self.loose) {
            if self.scopes.is_part(&path) {
                self.read(&path);
            }
        }
        if self.outcome.suites_changed {
            // Other files may be parts of the new suite.
            self.index.look_at_all(Depth::Everything);
        }
        Some(())
    }

    /// Reads an entry of a directory.
    fn visit(&mut self, path: &Path, kind: Option<fs::FileType>) {
        let is_yaml = path.file_name().and_then(|name| name.to_str()).is_some_and(kind::is_yaml);
        if is_yaml && !kind.is_some_and(|kind| kind.is_dir()) {
            self.visit_file(path);
        }
    }

    fn visit_file(&mut self, path: &Path) {
        if self.cut.is_some() {
            return;
        }
        let Some(signature) = FileSignature::of(path) else { return };
        if self.depth == Depth::Changed {
            let is_as_before =
                |known: &&IndexedFile| known.signature == signature && (known.is_read || self.scopes.is_open(path));
            if let Some(known) = self.before.get(path).filter(is_as_before) {
                self.bytes += signature.length;
                self.found.insert(path.to_owned(), known.clone());
                return;
            }
            if self.known_others.get(path) == Some(&signature) {
                self.other_files.insert(path.to_owned(), signature);
                self.loose.push(path.to_owned());
                return;
            }
        }
        self.read(path);
    }

    fn read(&mut self, path: &Path) {
        let Some((signature, text)) = FileSignature::of(path).zip(beginning(path)) else { return };
        let Some(scope) = self.scopes.find(path, &text) else {
            if self.other_files.len() < MAX_OTHER_FILES {
                self.other_files.insert(path.to_owned(), signature);
                self.loose.push(path.to_owned());
            }
            return;
        };
        self.other_files.remove(path);
        if scope.file.is_settings() {
            return;
        }
        let is_known = self.found.contains_key(path);
        if !is_known && (self.found.len() >= self.limits.files || self.bytes + signature.length > self.limits.bytes) {
            self.cut = Some(self.reason());
            return;
        }
        if scope.file.part().is_some() {
            let is_as_before = self.before.get(path).is_some_and(|known| known.signature == signature);
            self.outcome.suites_changed |= !is_as_before;
            self.scopes.know_main(path);
        }
        self.bytes += if is_known { 0 } else { signature.length };
        // The editor's text takes precedence; when it is closed, the file is read again.
        let is_read = !self.scopes.is_open(path);
        let facts = if is_read {
            let text = if text.len() < MAX_HEAD_BYTES { text } else { read_text(path).0 };
            let document = Document::read_cut(&text, scope.file.scalar_rules());
            Facts::of(&document, &scope, self.encoding)
        } else {
            Facts::without_names(&scope)
        };
        self.found.insert(path.to_owned(), IndexedFile { signature, facts: Arc::new(facts), is_read });
    }

    /// Returns the reason why no more files are kept.
    fn reason(&self) -> String {
        let bound = if self.found.len() >= self.limits.files {
            format!("`index.files` allows {}", self.limits.files)
        } else {
            format!("`index.mebibytes` allows {}", self.limits.bytes / (1024 * 1024))
        };
        format!(
            "the workspace has too many specs ({bound}), so names in some of them are not found or renamed; open a \
             smaller folder, exclude files in `.ignore`, or raise the limit"
        )
    }

    fn publish(mut self) -> Outcome {
        let mut state = self.index.state();
        if self.cut.is_some() && state.cut != self.cut {
            self.outcome.cut.clone_from(&self.cut);
        }
        state.cut = self.cut;
        state.files = self.found;
        state.other_files = self.other_files;
        self.outcome
    }
}

impl FileSignature {
    fn of(path: &Path) -> Option<FileSignature> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(FileSignature { modified: metadata.modified().ok(), length: metadata.len() })
    }
}

/// Returns the folders that are not inside another one.
fn outermost(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let distinct: BTreeSet<PathBuf> = folders.into_iter().collect();
    let is_inner = |folder: &PathBuf| folder.ancestors().skip(1).any(|above| distinct.contains(above));
    distinct.iter().filter(|folder| !is_inner(folder)).cloned().collect()
}
