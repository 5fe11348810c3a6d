//! Files that a suite names: task files, and directories to begin with.

use std::collections::HashMap;

use crate::{
    document::Pointer,
    files::{FileKind, Files, Lead},
    new_file::{self, Template},
    problem::{Code, Fix, Problem, Severity},
    shape::scalar,
    spot::Spot,
    words::nearest_file,
};

use super::{
    super::task_files::{self, SCHEME, Target},
    facts::{ItemFacts, file_facts},
};

/// What happens because of an entry that leads nowhere.
const MISSING_TASKS: &str = "the suite runs without its tasks";

/// Why a path out of the workspace is reported.
const ELSEWHERE: &str = "it may not exist on other machines";

/// Why the tasks of a file outside of the workspace are not checked.
const UNREAD: &str = "the editor does not read it; `speclens check` and `speclens run` on the command line do";

/// A `file://` entry of the main file.
pub(super) fn lint_entry(entry: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(text) = entry.text() else { return };
    let Some(target) = Target::of(text, files) else { return };
    let path = text.strip_prefix(SCHEME).unwrap_or(text);
    let normal = task_files::normalize(path, files);
    match target {
        Target::Nowhere => {}
        Target::Outside(reason) => {
            let problem = entry.problem(Code::InvalidPath, format!("`{path}` {reason}")).with_note(MISSING_TASKS);
            problems.push(problem.with_help("write a path relative to this file"));
        }
        Target::Missing(normal) => problems.push(missing(entry, path, &normal, files, FileKind::File, SCHEME)),
        Target::NoFile(_) => {
            let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
            let help = format!("change it to `{name}`");
            let mut problem = entry.problem(Code::MissingFile, format!("`{path}` is a directory")).with_help(&help);
            problem.fixes.extend(entry.replaced(scalar(&name)).map(|edits| Fix::guess(help, edits)));
            problems.push(problem);
        }
        Target::NoMatch { cut: true } => {
            let problem = entry.problem(Code::TooLarge, format!("`{path}` matches in too many directories"));
            problems.push(problem.with_help("name the directory"));
        }
        Target::NoMatch { cut: false } => {
            let message = format!("no file matches `{path}`");
            let mut problem = entry.problem(Code::MissingFile, message).with_severity(Severity::Warning);
            if let Ok(pattern) = &normal
                && !pattern.contains(['?', '['])
                && !pattern.starts_with("..")
            {
                let name = pattern.replace("**/", "").replace('*', "first");
                problem.fixes.extend(new_file::creation(&name, Template::Tasks, files));
            }
            problems.push(problem);
        }
        Target::Files(found) => {
            if let Some(problem) = far(entry, path, &found, files) {
                problems.push(problem);
                return;
            }
            for path in found {
                let facts = file_facts(&path, files);
                // A file that is checked by itself reports that by itself.
                if let Some(wrong) = facts.wrong.as_ref().filter(|_| facts.is_other || !files.parts_are_checked()) {
                    problems.push(entry.problem(Code::InvalidValue, format!("the task file `{path}` {wrong}")));
                }
            }
        }
    }
    if path.starts_with('/') {
        let leads_far =
            normal.as_ref().is_ok_and(|normal| matches!(files.named(normal), Lead::Found { is_far: true, .. }));
        let mut problem = entry
            .problem(Code::InvalidPath, format!("`{path}` is an absolute path"))
            .with_severity(Severity::Warning)
            .with_note("it is valid on this machine only");
        problem.help = Some("write it relative to this file".to_owned());
        if let (Ok(relative), false) = (normal, leads_far)
            && let Some(edits) = entry.replaced(scalar(&format!("{SCHEME}{relative}")))
        {
            let help = format!("change it to `{SCHEME}{relative}`");
            problem = problem.with_help(&help).with_fix(Fix::safe(help, edits));
        }
        problems.push(problem);
    }
}

/// Files that an entry leads to beyond the workspace.
fn far(entry: &Spot<'_>, path: &str, found: &[String], files: &dyn Files) -> Option<Problem> {
    let unread = found.iter().find(|found| files.named(found) == Lead::Unread);
    if let Some(unread) = unread {
        let how = if unread.starts_with("../") { "is" } else { "is a link to a file" };
        let message = format!("`{unread}` {how} outside of the workspace");
        let problem = entry.problem(Code::InvalidPath, message).with_severity(Severity::Warning);
        return Some(problem.with_note(UNREAD));
    }
    let normal = task_files::normalize(path, files).ok()?;
    let is_far = |found: &String| matches!(files.named(found), Lead::Found { is_far: true, .. });
    if !normal.starts_with("../") || path.starts_with('/') || !found.iter().any(is_far) {
        return None;
    }
    let problem = entry.problem(Code::InvalidPath, format!("`{path}` is outside of the workspace"));
    let problem = problem.with_severity(Severity::Warning).with_note(ELSEWHERE);
    Some(problem.with_help("move the file into the directory of this file"))
}

/// Files that several entries lead to, and suites without a task.
pub(super) fn lint_entries(root: &Spot<'_>, items: &[(usize, &ItemFacts)], problems: &mut Vec<Problem>) {
    let list = Pointer::root().key("tasks");
    let mut seen: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut tasks = 0;
    let mut unreadable = false;
    for (index, (start, facts)) in items.iter().enumerate() {
        let (entry, files) = match facts {
            ItemFacts::Task(_) => {
                tasks += 1;
                continue;
            }
            ItemFacts::Nothing => {
                unreadable = true;
                continue;
            }
            ItemFacts::Files(entry, files) => (entry, files),
        };
        // A pattern that nothing matches gives no task, and is only a warning by itself.
        unreadable |= files.is_empty() && !task_files::is_pattern(&entry.text);
        for file in files {
            unreadable |= file.wrong.is_some();
            tasks += file.ids.len();
            let Some((first, first_start)) = seen.get(file.path.as_str()) else {
                seen.insert(&file.path, (index, *start));
                continue;
            };
            let (at, range) = entry.place(&list.index(index), *start);
            let message = format!("`{}` is named by an earlier item, too", file.path);
            let mut problem = Problem::new(Code::Collision, at, range, message).with_note("its tasks run once");
            if let ItemFacts::Files(entry, _) = items[*first].1 {
                let (at, range) = entry.place(&list.index(*first), *first_start);
                problem = problem.with_related("named here first", at, range);
            }
            problems.push(problem);
        }
    }
    if tasks == 0
        && !unreadable
        && !items.is_empty()
        && let Some(spot) = root.get("tasks")
    {
        problems.push(spot.head_problem(Code::OutOfRange, "the files named here contain no task"));
    }
}

/// The `scaffold` of a suite or a task.
pub(super) fn lint_scaffold(owner: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(scaffold) = owner.get("scaffold") else { return };
    let Some(path) = scaffold.text().filter(|path| !path.is_empty()) else { return };
    match task_files::normalize(path, files) {
        Err(reason) => {
            let problem = scaffold.problem(Code::InvalidPath, format!("`{path}` {reason}"));
            problems.push(problem.with_severity(Severity::Warning).with_note(ELSEWHERE));
        }
        Ok(normal) => match files.named(&normal) {
            Lead::Found { kind: FileKind::Directory, is_far: false, .. } => {}
            Lead::Found { kind: FileKind::Directory, is_far: true, .. } => {
                let problem = scaffold.problem(Code::InvalidPath, format!("`{path}` is outside of the workspace"));
                problems.push(problem.with_severity(Severity::Warning).with_note(ELSEWHERE));
            }
            Lead::Unread => {
                let problem = scaffold.problem(Code::InvalidPath, format!("`{path}` is outside of the workspace"));
                problems.push(problem.with_severity(Severity::Warning).with_note(ELSEWHERE));
            }
            Lead::Found { kind: FileKind::File | FileKind::Other, .. } => {
                let problem = scaffold.problem(Code::MissingFile, format!("`{path}` is not a directory"));
                problems.push(problem.with_help("name a directory, whose content is copied"));
            }
            Lead::Nothing => problems.push(missing(&scaffold, path, &normal, files, FileKind::Directory, "")),
        },
    }
}

/// A path that does not exist, with the nearest one that does.
fn missing(spot: &Spot<'_>, path: &str, normal: &str, files: &dyn Files, kind: FileKind, scheme: &str) -> Problem {
    let (directory, name) = normal.rsplit_once('/').unwrap_or(("", normal));
    let names: Vec<String> =
        files.list_named(directory).into_iter().filter(|(_, found)| *found == kind).map(|(name, _)| name).collect();
    let prefix = path.trim_end_matches('/').strip_suffix(name).unwrap_or_default();
    let create = || match kind {
        FileKind::Directory => new_file::creation(normal, Template::Directory, files),
        FileKind::File => new_file::creation(normal, Template::Tasks, files),
        FileKind::Other => None,
    };
    let Some(near) = nearest_file(name, names.iter().map(String::as_str)) else {
        let message = match normal.starts_with("../") {
            true => format!("`{path}` does not exist"),
            false => format!("`{path}` does not exist below `{}`", files.root().display()),
        };
        let mut problem = spot.problem(Code::MissingFile, message);
        problem.fixes.extend(create());
        return problem;
    };
    let help = format!("change it to `{prefix}{near}`");
    let mut problem = spot.problem(Code::MissingFile, format!("`{path}` does not exist")).with_help(&help);
    let edits = spot.replaced(scalar(&format!("{scheme}{prefix}{near}")));
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problem.fixes.extend(create());
    problem
}
