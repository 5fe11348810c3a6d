//! `speclens check --fix`: applies safe fixes to files and keeps the rest of each file unchanged.

use std::{collections::HashSet, fmt::Write, fs, io, path::Path};

use anyhow::{Context, anyhow, ensure};
use speclens_runner::{
    report::{SourceText, plain},
    write::{self, Readers},
};
use speclens_schema::{
    document::Document,
    fixing::{self, Applied, FixedText, Revealing},
    problem::{Code, Fix, Problem},
    words::plural,
};

use super::{
    discover::in_parallel,
    load::{Checker, Loaded},
    output,
};
use crate::workspace;

const MAX_LISTED: usize = 20;

/// The result of applying the fixes.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The fixes applied to each changed file, secrets masked.
    pub(super) fixed: Vec<(String, Vec<Applied>)>,
    /// The files that could not be written.
    pub(super) failed: Vec<String>,
}

pub(super) fn safe(problem: &Problem) -> Option<&Fix> {
    problem.fixes.iter().find(|fix| fix.is_safe())
}

struct Fixed<'l> {
    source: &'l SourceText,
    file: &'l Path,
    fixed: FixedText,
}

/// A file that has safe fixes.
struct Candidate<'l> {
    source: &'l SourceText,
    file: &'l Path,
    /// Finds the problems of its text; `None` for settings.
    checker: Option<&'l Checker>,
}

impl Candidate<'_> {
    /// Returns its text with its safe fixes; `None` if none can be applied.
    fn fixed(&self) -> Option<FixedText> {
        let look = |document: &Document| match self.checker {
            Some(checker) => checker.problems(document),
            None => workspace::problems(document),
        };
        Some(fixing::apply_fixes(&self.source.document, &look, &safe, Revealing::Allowed))
            .filter(|fixed| !fixed.applied.is_empty())
    }
}

/// Returns every file that has safe fixes: settings first, each once.
fn candidates(suites: &[Loaded]) -> Vec<Candidate<'_>> {
    let mut seen = HashSet::new();
    let settings = suites.iter().filter_map(|loaded| loaded.report.settings.as_deref());
    let settings = settings.filter(|report| seen.insert(report.source.path.as_str())).map(|report| {
        let file = Path::new(&report.source.path);
        (&report.problems, Candidate { source: &report.source, file, checker: None })
    });
    let suites = suites.iter().map(|loaded| {
        let (source, checker) = (&loaded.report.source, &loaded.checker);
        (&loaded.report.problems, Candidate { source, file: &checker.path, checker: Some(checker) })
    });
    // Bytes that are not text would be lost.
    let is_text = |problems: &[Problem]| problems.iter().all(|problem| problem.code != Code::Encoding);
    let has_fix = |problems: &[Problem]| problems.iter().any(|problem| safe(problem).is_some());
    let all = settings.chain(suites).filter(|(problems, _)| is_text(problems) && has_fix(problems));
    all.map(|(_, candidate)| candidate).collect()
}

fn all(suites: &[Loaded]) -> impl Iterator<Item = Fixed<'_>> {
    candidates(suites).into_iter().filter_map(|candidate| {
        let fixed = candidate.fixed()?;
        Some(Fixed { source: candidate.source, file: candidate.file, fixed })
    })
}

/// Returns how many fixes `--fix` would apply. This is not the number of problems with a safe fix: one fix may solve
/// several, reveal another, or conflict with another.
pub(super) fn count(suites: &[Loaded]) -> usize {
    let all = candidates(suites);
    let applied = in_parallel(&all, |candidate| {
        let is_writable = fs::metadata(candidate.file).is_ok_and(|metadata| !metadata.permissions().readonly());
        if is_writable { candidate.fixed().map_or(0, |fixed| fixed.applied.len()) } else { 0 }
    });
    applied.iter().sum()
}

pub(super) fn apply(suites: &[Loaded]) -> Outcome {
    let mut outcome = Outcome::default();
    for Fixed { source, file, fixed } in all(suites) {
        match rewrite(file, &String::from(source.document.text()), &fixed.text) {
            Ok(()) => {
                let shown = |fix: Applied| Applied { title: source.secrets.mask(&fix.title), ..fix };
                outcome.fixed.push((source.path.clone(), fixed.applied.into_iter().map(shown).collect()));
            }
            Err(error) => {
                output::complain(&error.context(format!("`{}` was not changed", source.path)));
                outcome.failed.push(source.path.clone());
            }
        }
    }
    outcome
}

/// Returns the changes of the safe fixes as a unified diff, and the number of fixes. Secrets are masked, so a hunk that
/// contains one does not apply.
pub(super) fn diff(suites: &[Loaded]) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    for Fixed { source, fixed, .. } in all(suites) {
        let diff = fixing::unified(&source.path, &String::from(source.document.text()), &fixed.text);
        text.push_str(&source.secrets.mask(&diff));
        count += fixed.applied.len();
    }
    (text, count)
}

pub(super) fn describe(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (path, applied) in &outcome.fixed {
        for fix in applied.iter().take(MAX_LISTED) {
            let title = plain::line(&fix.title);
            let _ = writeln!(text, "fixed {}:{}: {title} [{}]", plain::line(path), fix.line + 1, fix.code.as_str());
        }
        if applied.len() > MAX_LISTED {
            let _ = writeln!(text, "fixed {}: {} more", plain::line(path), applied.len() - MAX_LISTED);
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

pub(super) fn summary(outcome: &Outcome) -> String {
    let count: usize = outcome.fixed.iter().map(|(_, applied)| applied.len()).sum();
    let files = outcome.fixed.len();
    let failed = match outcome.failed.as_slice() {
        [] => String::new(),
        [only] => format!("{} could not be written", plain::line(only)),
        more => format!("{} could not be written", plural(more.len(), "file")),
    };
    match (count, failed.is_empty()) {
        (0, true) => "no safe fix to apply".to_owned(),
        (0, false) => format!("nothing was fixed: {failed}"),
        (_, true) => format!("fixed {} in {}", plural(count, "problem"), plural(files, "file")),
        (_, false) => format!("fixed {} in {}; {failed}", plural(count, "problem"), plural(files, "file")),
    }
}

/// Replaces the text of a file in one step. The file keeps its permissions, and a link stays a link.
pub(super) fn rewrite(path: &Path, before: &str, after: &str) -> anyhow::Result<()> {
    let path = fs::canonicalize(path).context("cannot find the file")?;
    let permissions = fs::metadata(&path).context("cannot read the file")?.permissions();
    // Replacing it would succeed, but is not what its owner wants.
    ensure!(!permissions.readonly(), "the file is write-protected; make it writable");
    ensure_unchanged(&path, before)?;
    let draft = write::draft(&path, after, Readers::Like(permissions)).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            anyhow!("cannot create a file in its directory, which is needed to replace it: {error}; make the directory writable")
        }
        _ => anyhow::Error::from(error).context("cannot write the new text next to the file"),
    })?;
    draft.as_file().sync_all().context("cannot write the new text next to the file")?;
    ensure_unchanged(&path, before)?;
    draft.persist(&path).context("cannot replace the file")?;
    Ok(())
}

fn ensure_unchanged(path: &Path, before: &str) -> anyhow::Result<()> {
    let now = fs::read(path).context("cannot read the file again")?;
    ensure!(now == before.as_bytes(), "the file has changed since it was read; run the command again");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::rewrite;

    #[test]
    fn a_text_that_changed_meanwhile_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("kindlm.yaml");
        fs::write(&path, "new").expect("a file");
        let error = rewrite(&path, "old", "fixed").expect_err("the text is another one").to_string();
        assert!(error.contains("has changed since"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("the file"), "new");
        rewrite(&path, "new", "fixed").expect("the text is the same");
        assert_eq!(fs::read_to_string(&path).expect("the file"), "fixed");
        assert_eq!(fs::read_dir(directory.path()).expect("the directory").count(), 1);
    }
}
