//! `speclens check --fix`: applies safe fixes to files, and writes them back as they were but for that.

use std::{
    collections::HashSet,
    fmt::Write,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, bail, ensure};
use speclens_runner::report::{SourceText, SuiteReport};
use speclens_schema::{
    cure::{self, Applied, Cured},
    document::Document,
    problem::{Code, Fix, Problem},
};

use super::{load::Loaded, output};
use crate::workspace;

/// As many fixes are listed for one file.
const LISTED: usize = 20;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What was done to each file that changed.
    pub(super) fixed: Vec<(String, Vec<Applied>)>,
    /// Whether a file could not be written.
    pub(super) failed: bool,
}

/// The fix of a problem that needs nobody's judgement.
pub(super) fn safe(problem: &Problem) -> Option<&Fix> {
    problem.fixes.iter().find(|fix| fix.is_safe())
}

/// A file with its safe fixes.
struct Fixed<'l> {
    source: &'l SourceText,
    file: &'l Path,
    cured: Cured,
}

/// Every file that has safe fixes: settings first, each once.
fn all(suites: &[Loaded]) -> impl Iterator<Item = Fixed<'_>> {
    let mut seen = HashSet::new();
    let settings = suites.iter().filter_map(|loaded| loaded.report.settings.as_deref());
    let settings = settings.filter(move |report| seen.insert(report.source.path.as_str())).filter_map(|report| {
        let cured = cured(&report.source.document, &report.problems, &|document| workspace::problems(document))?;
        Some(Fixed { source: &report.source, file: Path::new(&report.source.path), cured })
    });
    let suites = suites.iter().filter_map(|loaded| {
        let report = &loaded.report;
        let look = |document: &_| loaded.lookout.problems(document);
        let cured = cured(&report.source.document, &report.problems, &look)?;
        Some(Fixed { source: &report.source, file: &loaded.lookout.path, cured })
    });
    settings.chain(suites)
}

/// How many problems have a safe fix.
pub(super) fn count(reports: &[SuiteReport]) -> usize {
    let mut seen = HashSet::new();
    let settings = reports.iter().filter_map(|report| report.settings.as_deref());
    let settings = settings.filter(|report| seen.insert(report.source.path.as_str())).flat_map(|own| &own.problems);
    let problems = reports.iter().flat_map(|report| &report.problems);
    settings.chain(problems).filter(|problem| safe(problem).is_some()).count()
}

/// Applies the safe fixes to the files.
pub(super) fn apply(suites: &[Loaded]) -> Outcome {
    let mut outcome = Outcome::default();
    for Fixed { source, file, cured } in all(suites) {
        match rewrite(file, &String::from(source.document.text()), &cured.text) {
            Ok(()) => outcome.fixed.push((source.path.clone(), cured.applied)),
            Err(error) => {
                output::complain(&error.context(format!("{} stays as it is", source.path)));
                outcome.failed = true;
            }
        }
    }
    outcome
}

/// What the safe fixes would change, as a unified diff, and how many there are.
pub(super) fn diff(suites: &[Loaded]) -> (String, usize) {
    let mut text = String::new();
    let mut count = 0;
    for Fixed { source, cured, .. } in all(suites) {
        text.push_str(&cure::unified(&source.path, &String::from(source.document.text()), &cured.text));
        count += cured.applied.len();
    }
    (text, count)
}

/// A text with its safe fixes; nothing where there is none.
fn cured(document: &Document, problems: &[Problem], look: &dyn Fn(&Document) -> Vec<Problem>) -> Option<Cured> {
    // Bytes that are no text would be lost.
    let is_text = problems.iter().all(|problem| problem.code != Code::Encoding);
    if !is_text || problems.iter().all(|problem| safe(problem).is_none()) {
        return None;
    }
    Some(cure::cure(document, look, &safe)).filter(|cured| !cured.applied.is_empty())
}

/// What was done, for people.
pub(super) fn describe(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (path, applied) in &outcome.fixed {
        for fix in applied.iter().take(LISTED) {
            let _ = writeln!(text, "fixed {path}:{}: {} [{}]", fix.line + 1, fix.title, fix.code.as_str());
        }
        if applied.len() > LISTED {
            let _ = writeln!(text, "fixed {path}: and {} more", applied.len() - LISTED);
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// The sum in one line.
pub(super) fn summary(outcome: &Outcome) -> String {
    let count: usize = outcome.fixed.iter().map(|(_, applied)| applied.len()).sum();
    let files = outcome.fixed.len();
    match count {
        0 => "nothing could be fixed without a person's judgement".to_owned(),
        _ => format!("fixed {} in {}", plural(count, "problem"), plural(files, "file")),
    }
}

pub(super) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// Replaces the text of a file in one step. The file keeps its permissions, and a link stays a link.
fn rewrite(path: &Path, before: &str, after: &str) -> anyhow::Result<()> {
    let path = fs::canonicalize(path).context("cannot find the file")?;
    let permissions = fs::metadata(&path).context("cannot read the file")?.permissions();
    // Replacing it would work, and would not be what its owner wants.
    ensure!(!permissions.readonly(), "the file is write-protected");
    ensure_unchanged(&path, before)?;
    let draft = draft_beside(&path)?;
    let written = write_draft(&draft, after, permissions)
        .and_then(|()| ensure_unchanged(&path, before))
        .and_then(|()| fs::rename(&draft, &path).context("cannot replace the file"));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn ensure_unchanged(path: &Path, before: &str) -> anyhow::Result<()> {
    let now = fs::read(path).context("cannot read the file again")?;
    ensure!(now == before.as_bytes(), "the file changed meanwhile: run the command again");
    Ok(())
}

/// A name for the new text, in the same directory: a rename within a file system is one step.
fn draft_beside(path: &Path) -> anyhow::Result<PathBuf> {
    let Some(name) = path.file_name() else { bail!("the file has no name") };
    let mut draft = std::ffi::OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}.tmp", process::id()));
    Ok(path.with_file_name(draft))
}

fn write_draft(draft: &Path, text: &str, permissions: fs::Permissions) -> anyhow::Result<()> {
    let write = || {
        let mut file = fs::File::create_new(draft)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(permissions)?;
        file.sync_all()
    };
    write().context("cannot write the new text beside the file")
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
        assert!(error.contains("changed meanwhile"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("the file"), "new");
        rewrite(&path, "new", "fixed").expect("the text is the same");
        assert_eq!(fs::read_to_string(&path).expect("the file"), "fixed");
        assert_eq!(fs::read_dir(directory.path()).expect("the directory").count(), 1);
    }
}
