//! Files and directories that contracts name: targets, golden files, lists of words, souls.

use crate::{
    dialect::clawspec::structure,
    files::{FileKind, Files},
    kind::target_of,
    new_file::{self, Template},
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    template::trimmed_placeholders,
    words::nearest_file,
};

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
    // Without settings that say so, the root may be another one than the author's: what ends in the same way is right.
    // No root is `skills` or `agents` itself.
    let is_root = |rest: &str| !["skills/", "agents/"].iter().any(|name| rest.ends_with(name));
    let is_here = |here: &&str| {
        here.strip_suffix(&wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/') && is_root(rest))
    };
    let wanted = here.filter(is_here).map_or_else(|| wanted.clone(), str::to_owned);
    let definition = if kind.as_deref() == Some("agent") { "SOUL.md" } else { "SKILL.md" };
    let target = Target { path: &path, key: "target.path", wanted: &wanted, definition };
    if lint_definition(&target, files, problems) {
        return;
    }
    match here.filter(|here| *here != wanted) {
        Some(here) => {
            let message = "`target.path` names another directory than the one that this file is in";
            let note = format!("ClawSpec counts the scenarios as tests of `{wanted}`; the file is in `{here}`");
            let mut problem = path.problem(Code::TargetMismatch, message).with_note(note);
            problem.fixes.extend(target.change_to(here, files));
            problems.push(problem);
        }
        None => lint_structure(&target, files, problems),
    }
}

/// The directory that a contract names as its target.
pub(super) struct Target<'t, 'd> {
    /// The path, where it is written.
    pub(super) path: &'t Spot<'d>,
    /// The key that holds it.
    pub(super) key: &'static str,
    /// The directory, from the root.
    pub(super) wanted: &'t str,
    /// The file that defines it.
    pub(super) definition: &'static str,
}

impl Target<'_, '_> {
    /// The fix that names the directory of the contract instead; the best one if a definition is there.
    fn change_to(&self, here: &str, files: &dyn Files) -> Option<Fix> {
        let edits = self.path.replaced(crate::shape::scalar(here))?;
        let title = format!("change `{}` to `{here}`", self.key);
        Some(match is_defined(here, files) {
            true => Fix::guess(title, edits),
            false => Fix::suggestion(title, edits),
        })
    }
}

/// Whether a directory is that of a skill or an agent.
fn is_defined(directory: &str, files: &dyn Files) -> bool {
    ["SKILL.md", "SOUL.md"].iter().any(|name| files.kind(&format!("{directory}/{name}")) == Some(FileKind::File))
}

/// The structural checks that the definition of a target does not pass. The problem is in another file, so it is reported once
/// where that is named.
pub(super) fn lint_structure(target: &Target<'_, '_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let file = format!("{}/{}", target.wanted, target.definition);
    let Ok(bytes) = files.read(&file) else { return };
    let text = String::from_utf8_lossy(&bytes);
    let failures = if target.definition == "SOUL.md" {
        structure::soul(&text)
    } else {
        let contract = format!("{}/tests/scenarios.yaml", target.wanted);
        structure::skill(&text, contract == files.place() || files.kind(&contract) == Some(FileKind::File))
    };
    if failures.is_empty() {
        return;
    }
    let helps: Vec<&str> = failures.iter().map(|failure| failure.help.as_str()).collect();
    let names: Vec<&str> = failures.iter().map(|failure| failure.check).collect();
    let message = format!("`{file}` does not pass ClawSpec's structural checks");
    let note = format!("ClawSpec runs nothing of this target; failed checks: {}", names.join(", "));
    problems.push(target.path.problem(Code::InvalidDefinition, message).with_note(note).with_help(helps.join("; ")));
}

/// A target whose path is not relative to the root: it is not found by that path.
fn lint_outside(path: &Spot<'_>, here: Option<&str>, problems: &mut Vec<Problem>) {
    let text = path.text().unwrap_or_default();
    let message = format!("`{text}` is not relative to the root of the workspace");
    let problem = path.problem(Code::TargetMismatch, message).with_note("ClawSpec finds scenarios by this text");
    let mut problem = problem.with_help("write it as `skills/name`");
    if let Some(here) = here
        && let Some(edits) = path.replaced(crate::shape::scalar(here))
    {
        let help = format!("change it to `{here}`");
        problem = problem.with_help(&help).with_fix(Fix::guess(help, edits));
    }
    problems.push(problem);
}

/// The directory of a target exists and holds its definition. Says whether that is not so.
pub(super) fn lint_definition(target: &Target<'_, '_>, files: &dyn Files, problems: &mut Vec<Problem>) -> bool {
    let Target { path, key, wanted, definition } = *target;
    let file = format!("{wanted}/{definition}");
    let found = files.kind(wanted);
    let message = match found {
        Some(FileKind::Directory) if files.kind(&file).is_none() => format!("`{wanted}` has no `{definition}`"),
        Some(FileKind::Directory) => return false,
        Some(FileKind::File | FileKind::Other) => {
            let message = format!("`{wanted}` is not a directory");
            let help = format!("name the directory that holds `{definition}`");
            problems.push(path.problem(Code::MissingFile, message).with_help(help));
            return true;
        }
        None => format!("`{key}` does not exist: `{wanted}`"),
    };
    let mut problem = path.problem(Code::MissingFile, message).with_note("ClawSpec runs nothing of this target");
    if found.is_some() {
        problem.severity = Severity::Warning;
    }
    // The author moved the directory, or copied the contract: it lies where its target is.
    let here = target_of(files.place()).filter(|here| *here != wanted && is_defined(here, files));
    problem.fixes.extend(here.and_then(|here| target.change_to(here, files)));
    if found.is_none() {
        let mut near = missing(path, wanted, FileKind::Directory, files).fixes;
        near.retain(|fix| problem.fixes.iter().all(|known| known.edits != fix.edits));
        problem.fixes.extend(near.into_iter().map(|fix| Fix { preferred: here.is_none(), ..fix }));
    }
    let template = if definition == "SOUL.md" { Template::Soul } else { Template::Skill };
    problem.fixes.extend(new_file::creation(&file, template, files));
    problems.push(problem);
    true
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
    let help = format!("change it to `{path}`");
    let problem = spot.problem(Code::MissingFile, format!("`{wanted}` does not exist")).with_help(&help);
    match spot.replaced(crate::shape::scalar(&path)) {
        Some(edits) => problem.with_fix(Fix::guess(help, edits)),
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
            problems.push(file.problem(Code::MissingFile, format!("`{wanted}` is not a file")));
        }
        None => {
            let mut problem = missing(&file, &wanted, FileKind::File, files).with_severity(Severity::Warning);
            problem.fixes.extend(template.and_then(|template| new_file::creation(&wanted, template, files)));
            problems.push(problem);
        }
    }
}
