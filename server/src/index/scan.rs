//! Fills the index from the disk: files that version control ignores are omitted, limits are kept, and obsolete work
//! is abandoned.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use speclens_schema::{
    document::{Document, Encoding},
    gateway::config::Config,
    kind,
};
use tokio_util::sync::CancellationToken;

use super::{Depth, Facts, FileSignature, IndexedFile, IndexedFiles, Job, Limits};
use crate::{
    read::{MAX_HEAD_BYTES, beginning, read_text, walk},
    scope::{Scopes, is_main_name},
};

const MAX_OTHER_FILES: usize = 100_000;

/// The data that a scan depends on, besides the disk.
pub(crate) struct Terms<'s> {
    pub scopes: &'s Scopes,
    pub encoding: Encoding,
    pub limits: Limits,
    pub obsolete: &'s CancellationToken,
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub files: IndexedFiles,
    /// Whether main files were created, deleted or changed: files may belong to other suites.
    pub suites_changed: bool,
    /// Whether other files may be parts of a new suite, so that everything is to be read.
    pub is_partial: bool,
}

pub(crate) fn is_about_ignoring(name: &str) -> bool {
    matches!(name, ".gitignore" | ".ignore" | ".git" | "exclude")
}

/// Returns how thoroughly the workspace is read for a job; `None` if nothing changed. Files that are not YAML, and
/// directories without any, cost nothing.
fn depth_of(job: &Job, before: &IndexedFiles, scopes: &Scopes) -> Option<Depth> {
    let of_path = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_about_ignoring(name) || name == Config::FILE || is_main_name(name) || scopes.is_main(path) {
            return Some(Depth::Everything);
        }
        let mut held = before.files.range(path.clone()..);
        let has_held = held.next().is_some_and(|(held, _)| held.starts_with(path));
        (kind::is_yaml(name) || has_held || path.is_dir()).then_some(Depth::Changed)
    };
    job.paths.iter().filter_map(of_path).max().max(job.whole)
}

/// Does the work; `None` if it became obsolete.
pub(crate) fn perform(before: &IndexedFiles, job: &Job, terms: &Terms<'_>) -> Option<Outcome> {
    let Some(depth) = depth_of(job, before, terms.scopes) else {
        return Some(Outcome { files: before.clone(), ..Outcome::default() });
    };
    let mut scan = Scan {
        terms,
        depth,
        before,
        found: BTreeMap::new(),
        other_files: BTreeMap::new(),
        bytes: 0,
        loose: Vec::new(),
        outcome: Outcome::default(),
        cut: None,
    };
    scan.all()?;
    // Other files may be parts of a new suite.
    scan.outcome.is_partial = scan.depth == Depth::Changed && scan.outcome.suites_changed;
    let files = IndexedFiles { files: scan.found, other_files: scan.other_files, cut: scan.cut };
    Some(Outcome { files, ..scan.outcome })
}

struct Scan<'s> {
    terms: &'s Terms<'s>,
    depth: Depth,
    before: &'s IndexedFiles,
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
            self.terms.scopes.forget();
        }
        for folder in outermost(self.terms.scopes.folders()) {
            for entry in walk(&folder).build().flatten() {
                if self.terms.obsolete.is_cancelled() {
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
        if self.terms.scopes.has_mains_by_content() {
            self.terms.scopes.forget();
            let parts = self
                .found
                .iter()
                .filter(|(_, known)| known.facts.scope.file.is_part() && known.facts.scope.main.is_none());
            let parts: Vec<PathBuf> = parts.map(|(path, _)| path.clone()).collect();
            for path in std::mem::take(&mut self.loose).into_iter().chain(parts) {
                if self.terms.obsolete.is_cancelled() {
                    return None;
                }
                if self.terms.scopes.is_part(&path) {
                    self.read(&path);
                }
            }
        }
        let is_main = |known: &IndexedFile| known.facts.scope.file.part().is_some();
        let gone = self.before.files.iter().any(|(path, known)| is_main(known) && !self.found.contains_key(path));
        self.outcome.suites_changed |= gone;
        Some(())
    }

    /// Reads the scenario contracts that the patterns of a workspace name: version control may ignore them. `settings`
    /// is the path of its settings, which may not exist. `None` if that became obsolete.
    fn named_by_patterns(&mut self, settings: &Path, folder: &Path) -> Option<()> {
        let Some(patterns) = self.terms.scopes.patterns_of(settings) else { return Some(()) };
        for path in patterns.files_below(folder) {
            if self.terms.obsolete.is_cancelled() {
                return None;
            }
            if !self.found.contains_key(&path) {
                self.visit_file(&path);
            }
        }
        Some(())
    }

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
            let is_as_before = |known: &&IndexedFile| {
                known.signature == signature && (known.is_read || self.terms.scopes.is_open(path))
            };
            if let Some(known) = self.before.files.get(path).filter(is_as_before) {
                self.bytes += signature.length;
                self.found.insert(path.to_owned(), known.clone());
                return;
            }
            if self.before.other_files.get(path) == Some(&signature) {
                self.other_files.insert(path.to_owned(), signature);
                self.loose.push(path.to_owned());
                return;
            }
        }
        self.read(path);
    }

    fn read(&mut self, path: &Path) {
        let Some((signature, text)) = FileSignature::of(path).zip(beginning(path)) else { return };
        let Some(scope) = self.terms.scopes.find(path, &text) else {
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
        if !is_known
            && (self.found.len() >= self.terms.limits.files || self.bytes + signature.length > self.terms.limits.bytes)
        {
            self.cut = Some(self.reason());
            return;
        }
        if scope.file.part().is_some() {
            let is_as_before = self.before.files.get(path).is_some_and(|known| known.signature == signature);
            self.outcome.suites_changed |= !is_as_before;
            self.terms.scopes.know_main(path);
        }
        self.bytes += if is_known { 0 } else { signature.length };
        // The editor's text takes precedence; when it is closed, the file is read again.
        let is_read = !self.terms.scopes.is_open(path);
        let facts = if is_read {
            let text = if text.len() < MAX_HEAD_BYTES { text } else { read_text(path).0 };
            let document = Document::read_cut(&text, scope.file.scalar_rules());
            Facts::of(&document, &scope, self.terms.encoding)
        } else {
            Facts::without_names(&scope)
        };
        self.found.insert(path.to_owned(), IndexedFile { signature, facts: Arc::new(facts), is_read });
    }

    fn reason(&self) -> String {
        let bound = if self.found.len() >= self.terms.limits.files {
            format!("`index.files` allows {}", self.terms.limits.files)
        } else {
            format!("`index.mebibytes` allows {}", self.terms.limits.bytes / (1024 * 1024))
        };
        format!(
            "the workspace has too many specs ({bound}), so names in some of them are not found or renamed; open a \
             smaller folder, exclude files in `.ignore`, or raise the limit"
        )
    }
}

impl FileSignature {
    fn of(path: &Path) -> Option<FileSignature> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(FileSignature { modified: metadata.modified().ok(), length: metadata.len() })
    }
}

fn outermost(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let distinct: BTreeSet<PathBuf> = folders.into_iter().collect();
    let is_inner = |folder: &PathBuf| folder.ancestors().skip(1).any(|above| distinct.contains(above));
    distinct.iter().filter(|folder| !is_inner(folder)).cloned().collect()
}
