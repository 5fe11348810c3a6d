//! Turns results into text. Pure: the caller decides where it is printed.

pub mod audit;
pub mod check;
pub mod clawspec;
pub mod compliance;
mod failures;
mod finding;
pub mod github;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
mod matrix;
pub mod plain;
pub mod sarif;
pub mod status;
pub mod timeline;
pub mod waterfall;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Serialize;
use speclens_schema::{
    document::{Document, Pointer, ScalarRules},
    format::Dialect,
    mask::Secrets,
    problem::{Fix, OtherFile, Problem, Related, Severity},
    suite::{Action, Case, Suite, lexical as normal},
    verdict::Status,
};

use crate::{event::SuiteResult, files::lexical};

#[derive(Clone, Debug)]
pub struct SourceText {
    /// The file, relative to the working directory.
    pub path: String,
    pub document: Document,
    pub secrets: Arc<Secrets>,
}

/// The base of a suite's paths, for readers in the working directory.
#[derive(Clone, Debug, Default)]
pub struct Root {
    /// The directory, as reports name it: relative to the working directory where it is below it.
    pub directory: PathBuf,
    pub here: PathBuf,
}

impl Root {
    fn shown(&self, path: &str) -> String {
        let path = lexical(&self.directory.join(path));
        path.strip_prefix(&self.here).unwrap_or(&path).display().to_string()
    }

    /// Returns the absolute path of a file that a suite includes, whose links are resolved.
    fn real_path(&self, path: &str) -> PathBuf {
        lexical(&self.here.join(&self.directory).join(path))
    }
}

/// The problems of another file that a suite needs: its settings, or a part of it.
#[derive(Clone, Debug)]
pub struct FileReport {
    pub source: SourceText,
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
pub struct SuiteReport {
    pub source: SourceText,
    /// The absolute path of the file, with links resolved. The path in `source` may be that of a link.
    pub real_path: PathBuf,
    pub root: Root,
    pub dialect: Dialect,
    pub settings: Option<Arc<FileReport>>,
    pub problems: Vec<Problem>,
    /// The files that are a part of it and have problems; empty if they are reported as separate suites.
    pub parts: Vec<FileReport>,
    pub suite: Arc<Suite>,
    /// The result of its run; `None` if it was only checked, or refused.
    pub result: Option<Arc<SuiteResult>>,
}

impl SuiteReport {
    fn version(&self) -> Option<String> {
        let asks = |case: &Case| match &case.action {
            Action::Agent(agent) => agent.surroundings.version_command.is_some(),
            Action::Command(_) | Action::Prompt(_) | Action::Trigger(_) | Action::None => false,
        };
        let mut runs = self.result.iter().flat_map(|result| &result.cases).flat_map(|case| &case.runs);
        let asks = self.suite.cases.iter().any(|case| asks(case));
        asks.then(|| runs.find_map(|run| run.evidence.get()?.context.version.clone())).flatten()
    }

    pub fn is_refused(&self) -> bool {
        self.all_problems().any(|(_, problem)| problem.severity == Severity::Error)
    }

    pub fn all_problems(&self) -> impl Iterator<Item = (&SourceText, &Problem)> {
        self.new_problems(&mut BTreeSet::new())
    }

    fn new_problems<'r>(
        &'r self,
        known: &mut BTreeSet<&'r str>,
    ) -> impl Iterator<Item = (&'r SourceText, &'r Problem)> + use<'r> {
        let of_file = |file: &'r FileReport| file.problems.iter().map(|problem| (&file.source, problem));
        let settings = self.settings.as_deref().filter(|settings| known.insert(&settings.source.path));
        let own = self.problems.iter().map(|problem| (&self.source, problem));
        settings.into_iter().flat_map(of_file).chain(own).chain(self.parts.iter().flat_map(of_file))
    }

    /// Removes what is reported of other tests than these, except errors, which prevent a run.
    pub fn select(&mut self, chosen: &BTreeSet<usize>) {
        let cases = self.suite.cases.iter().enumerate().filter(|(index, _)| !chosen.contains(index));
        let others: Vec<(String, Pointer)> =
            cases.map(|(_, case)| (self.path_of(case).into_owned(), case.at.clone())).collect();
        let is_kept = |path: &str, problem: &Problem| {
            problem.severity == Severity::Error
                || !others.iter().any(|(file, at)| file == path && problem.at.below(at).is_some())
        };
        self.problems.retain(|problem| is_kept(&self.source.path, problem));
        for FileReport { source, problems } in &mut self.parts {
            problems.retain(|problem| is_kept(&source.path, problem));
        }
    }

    fn refusal(&self) -> Option<&'static str> {
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        if self.problems.iter().any(is_error) {
            Some("the suite has errors and was not run")
        } else if self.parts.iter().flat_map(|part| &part.problems).any(is_error) {
            Some("a file of the suite has errors, so it was not run")
        } else {
            self.is_refused().then_some("the settings have errors, so the suite was not run")
        }
    }

    fn masked(&self, text: &str) -> String {
        self.source.secrets.mask(text)
    }

    pub fn status(&self) -> Status {
        if self.is_refused() {
            return Status::Error;
        }
        match &self.result {
            Some(result) => result.status,
            None if self.all_problems().any(|(_, problem)| problem.severity == Severity::Warning) => Status::Warn,
            None => Status::Pass,
        }
    }

    fn tests(reports: &[SuiteReport]) -> usize {
        let reported: BTreeSet<&Path> = reports.iter().map(|report| report.real_path.as_path()).collect();
        let cases = reports.iter().flat_map(|report| report.suite.cases.iter().map(move |case| (report, case)));
        let is_elsewhere = |report: &SuiteReport, case: &Case| {
            let file = case.file.as_ref().map(|file| report.root.real_path(&file.path));
            file.is_some_and(|file| reported.contains(file.as_path()))
        };
        cases.filter(|(report, case)| !is_elsewhere(report, case)).count()
    }

    /// Returns the name for headings: the author's, or the file's.
    fn title(&self) -> String {
        self.suite.name.as_deref().map_or_else(|| self.source.path.clone(), |name| self.masked(name))
    }
}

impl SuiteReport {
    fn path_of<'r>(&'r self, case: &Case) -> Cow<'r, str> {
        match &case.file {
            Some(file) => Cow::Owned(self.root.shown(&file.path)),
            None => Cow::Borrowed(&self.source.path),
        }
    }

    /// Returns the text that a case is in: that of the suite, or of another file that the suite names.
    fn source_of<'r>(&'r self, case: &Case) -> Cow<'r, SourceText> {
        let Some(file) = &case.file else { return Cow::Borrowed(&self.source) };
        let path = self.path_of(case).into_owned();
        Cow::Owned(SourceText { path, document: file.document.clone(), secrets: Arc::clone(&self.source.secrets) })
    }
}

impl SourceText {
    /// Returns whether a fix contains no secret. With stars instead, it would destroy the text.
    fn may_show(&self, fix: &Fix) -> bool {
        let texts = fix.edits.iter().map(|edit| &edit.text).chain(fix.creates.iter().map(|file| &file.text));
        !texts.into_iter().any(|text| self.secrets.contains_secret(text))
    }

    fn of_other(&self, file: &OtherFile) -> SourceText {
        let document = Document::unread(&file.text(), ScalarRules::Yaml12);
        SourceText { path: file.path.clone(), document, secrets: Arc::clone(&self.secrets) }
    }

    fn source_of_related<'s>(&'s self, related: &Related) -> Cow<'s, SourceText> {
        match &related.file {
            Some(file) => Cow::Owned(self.of_other(file)),
            None => Cow::Borrowed(self),
        }
    }

    /// Returns a path that is relative to the directory of the text, as reports name it.
    fn beside(&self, path: &str) -> String {
        match self.path.rsplit_once('/') {
            Some((directory, _)) => normal(&format!("{directory}/{path}")),
            None => normal(path),
        }
    }

    /// Returns the range to point at for a node: its value, or its key if the value takes many lines.
    fn range_of(&self, pointer: &Pointer) -> Range<usize> {
        let range = self.document.range_of(pointer);
        let text = self.document.text();
        let line = |offset: usize| text.byte_to_line(offset.min(text.len_bytes()));
        if line(range.start) == line(range.end) { range } else { self.document.key_range_of(pointer) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct ResultCounts {
    cases: usize,
    passed: usize,
    failed: usize,
    errored: usize,
    unknown: usize,
    warned: usize,
    skipped: usize,
}

impl ResultCounts {
    fn of(reports: &[SuiteReport]) -> ResultCounts {
        let mut counts = ResultCounts::default();
        for case in reports.iter().filter_map(|report| report.result.as_ref()).flat_map(|result| &result.cases) {
            counts.cases += 1;
            match case.status {
                Status::Skip => counts.skipped += 1,
                Status::Pass => counts.passed += 1,
                Status::Warn => counts.warned += 1,
                Status::Unknown => counts.unknown += 1,
                Status::Fail => counts.failed += 1,
                Status::Error => counts.errored += 1,
            }
        }
        counts
    }
}
