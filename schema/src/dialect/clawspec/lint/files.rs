//! Files and directories that contracts name: targets, golden files, lists of words, souls.

use crate::{
    files::{FileKind, Files},
    kind::target_of,
    new_file::{self, Template},
    problem::{Code, Edit, Fix, Problem, Severity},
    spot::Spot,
    template::trimmed_placeholders,
    words::nearest_file,
};

use super::edits;

/// A path as it stands below the root; nothing when it holds templates or wildcards, or leads elsewhere.
pub(in crate::dialect::clawspec) fn below_root(path: &str) -> Option<String> {
    // The root may be named.
    let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
    if !trimmed_placeholders(path).is_empty()
        || path.contains(['*', '?', '[', '{'])
        || path.starts_with(['/', '~', '\\'])
    {
        return None;
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}

/// Whether the root is known: an unsaved document stands nowhere.
pub(super) fn is_placed(files: &dyn Files) -> bool {
    !files.place().is_empty()
}

/// The target of a scenario contract: its directory, its definition, and the file's own place.
pub(super) fn lint_target(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(target) = root.get("target") else { return };
    let (Some(path), kind) = (target.get("path"), target.get("type").and_then(|kind| kind.text().map(str::to_owned)))
    else {
        return;
    };
    let Some(text) = path.text().filter(|text| !text.is_empty()) else { return };
    if !is_placed(files) {
        return;
    }
    let here = target_of(files.place());
    let Some(wanted) = below_root(text) else {
        if text.starts_with(['/', '~', '.']) {
            lint_outside(&path, here, problems);
        }
        return;
    };
    if text.starts_with("./") || text.contains("../") {
        lint_outside(&path, here, problems);
        return;
    }
    let definition = if kind.as_deref() == Some("agent") { "SOUL.md" } else { "SKILL.md" };
    // Without settings that say so, the root may be another one than the author's: what ends in the same way is right.
    let is_here = |here: &&str| here.strip_suffix(&wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let wanted = here.filter(is_here).map_or_else(|| wanted.clone(), str::to_owned);
    if let Some(here) = here.filter(|here| *here != wanted) {
        let message = format!(
            "the contract lies in `{here}`, and its target is `{text}`: the scenarios are run for another target than they stand beside"
        );
        let mut problem = path.problem(Code::TargetMismatch, message);
        let exists = files.kind(&format!("{here}/{definition}")) == Some(FileKind::File);
        if let Some(edit) = edits::replace(&path, crate::shape::scalar(here)) {
            let title = format!("Change to `{here}`");
            let fix = if exists { Fix::guess(title, vec![edit]) } else { Fix::suggestion(title, vec![edit]) };
            problem = problem.with_fix(fix);
        }
        problems.push(problem);
        // That it is not there either is the same mistake.
        if files.kind(&wanted).is_none() {
            return;
        }
    }
    lint_definition(&path, &wanted, definition, files, problems);
}

/// A target that is named otherwise than from the root: by that name nothing finds it.
fn lint_outside(path: &Spot<'_>, here: Option<&str>, problems: &mut Vec<Problem>) {
    let text = path.text().unwrap_or_default();
    let message = format!(
        "`{text}` is not written from the root of the workspace: scenarios are found by this text, so write it as `skills/name`"
    );
    let mut problem = path.problem(Code::TargetMismatch, message);
    if let Some(here) = here
        && let Some(edit) = edits::replace(path, crate::shape::scalar(here))
    {
        problem = problem.with_fix(Fix::guess(format!("Change to `{here}`"), vec![edit]));
    }
    problems.push(problem);
}

/// The directory of a target holds its definition.
pub(super) fn lint_definition(
    path: &Spot<'_>,
    wanted: &str,
    definition: &str,
    files: &dyn Files,
    problems: &mut Vec<Problem>,
) {
    let file = format!("{wanted}/{definition}");
    let template = if definition == "SOUL.md" { Template::Soul } else { Template::Skill };
    let problem = match files.kind(wanted) {
        Some(FileKind::Directory) if files.kind(&file).is_none() => {
            let message = format!("`{wanted}` has no `{definition}`: the original program runs no scenario of it");
            let mut problem = path.problem(Code::MissingFile, message).with_severity(Severity::Warning);
            problem.fixes.extend(new_file::creation(&file, template, files));
            problem
        }
        Some(FileKind::Directory) => return,
        Some(FileKind::File | FileKind::Other) => path
            .problem(Code::MissingFile, format!("`{wanted}` is no directory: name the one that holds `{definition}`")),
        None => {
            let mut problem = missing(path, wanted, FileKind::Directory, files).with_severity(Severity::Warning);
            problem.fixes.extend(new_file::creation(&file, template, files));
            problem
        }
    };
    problems.push(problem);
}

/// A path that leads nowhere, with the nearest name that is there.
pub(super) fn missing(spot: &Spot<'_>, wanted: &str, kind: FileKind, files: &dyn Files) -> Problem {
    let (directory, name) = wanted.rsplit_once('/').unwrap_or(("", wanted));
    let entries = files.list(directory);
    let near = nearest_file(name, entries.iter().filter(|(_, found)| *found == kind).map(|(name, _)| name.as_str()));
    let Some(near) = near else {
        let message = format!("`{wanted}` does not exist below `{}`", files.root().display());
        return spot.problem(Code::MissingFile, message);
    };
    let path = if directory.is_empty() { near.to_owned() } else { format!("{directory}/{near}") };
    let problem = spot.problem(Code::MissingFile, format!("`{wanted}` does not exist: did you mean `{path}`?"));
    match edits::one_line(spot) {
        Some(range) => problem
            .with_fix(Fix::guess(format!("Change to `{path}`"), vec![Edit::new(range, crate::shape::scalar(&path))])),
        None => problem,
    }
}

/// Files that belong to a claim and not to a run: they are there before it.
pub(super) fn lint_assertion(assertion: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if !is_placed(files) {
        return;
    }
    let Some(kind) = assertion.get("type").and_then(|kind| kind.text().map(str::to_owned)) else { return };
    let (key, template) = match kind.as_str() {
        "artifact_matches_golden" => ("golden", Some(Template::Golden)),
        // Which words it lists, and where in it, is not to be guessed.
        "artifact_absent_words" => ("source", None),
        "agent_identity_consistent" => ("soul_path", Some(Template::Soul)),
        _ => return,
    };
    let Some(file) = assertion.get(key) else { return };
    let Some(wanted) = file.text().and_then(below_root) else { return };
    match files.kind(&wanted) {
        Some(FileKind::File) => {}
        Some(FileKind::Directory | FileKind::Other) => {
            problems.push(file.problem(Code::MissingFile, format!("`{wanted}` is no file")));
        }
        None => {
            let mut problem = missing(&file, &wanted, FileKind::File, files).with_severity(Severity::Warning);
            problem.fixes.extend(template.and_then(|template| new_file::creation(&wanted, template, files)));
            problems.push(problem);
        }
    }
}
