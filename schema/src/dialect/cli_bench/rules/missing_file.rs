//! Missing files of a cli-bench suite: task files and scripts.

use crate::{
    dialect::cli_bench::{
        named_tasks::NamedTasks,
        task_files::{self, SCHEME, Target},
    },
    files::{FileKind, Files, Resolved},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    script,
    shape::scalar,
    words::{Search, nearest},
};

use crate::rules::missing_file::{Missing, ONLY_SLASHES, OtherKind};

/// Checks an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let NamedTasks { lint_node, path, files, .. } = *entry;
    match &entry.target {
        Target::Missing(normal) => {
            let missing = Missing::of(path, normal, FileKind::File, Some(Template::Tasks), files);
            report.push(lint_node.finding(Missing { scheme: SCHEME, ..missing }));
        }
        Target::NoFile(_) => {
            let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
            let edits = lint_node.replaced(scalar(&name));
            let words = MessageParts::new(format!("`{path}` is a directory"));
            let words = words.remedy(format!("change it to `{name}`"), Fix::guess, edits);
            report.push(lint_node.problem(Code::MissingFile, words));
        }
        Target::NoMatch { cut: false } => {
            let is_simple = |pattern: &&String| !pattern.contains(['?', '[']) && !pattern.starts_with("..");
            let creation = entry.normal.as_ref().ok().filter(is_simple).and_then(|pattern| {
                let name = pattern.replace("**/", "").replace('*', "first");
                new_file::creation(&name, Template::Tasks, files)
            });
            let words = MessageParts::new(format!("no file matches `{path}`"));
            let words = if path.contains('\\') { words.note(ONLY_SLASHES) } else { words };
            let words = match similar_pattern(path, files) {
                Some(near) => {
                    let edits = lint_node.replaced(scalar(&format!("{SCHEME}{near}")));
                    words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
                }
                None => words.help("correct the pattern, or create a task file"),
            };
            let finding = lint_node.problem(Code::MissingFile, words.fix(creation));
            report.push(finding.with_severity(Severity::Warning));
        }
        Target::NoMatch { cut: true } | Target::Files(_) | Target::Outside(_) | Target::Nowhere => {}
    }
}

/// Returns a pattern with `/` for each backslash, or with the most similar directory instead of one that does not exist.
fn similar_pattern(pattern: &str, files: &dyn Files) -> Option<String> {
    if pattern.contains('\\') {
        return Some(pattern.replace('\\', "/").trim_start_matches("./").to_owned());
    }
    let (first, rest) = pattern.trim_start_matches("./").split_once('/')?;
    if first.contains(['*', '?', '[', '.']) || files.named(first) != Resolved::Nothing {
        return None;
    }
    let directories = files.list("");
    let names = directories.iter().filter(|(_, kind)| *kind == FileKind::Directory).map(|(name, _)| name.as_str());
    Some(format!("{}/{rest}", nearest(first, names)?))
}

/// Checks an item of `providers` that names a script.
pub(crate) fn check_script(model: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some((id, path)) = model.text().and_then(|id| Some((id, script::file_beside(id, files)?))) else { return };
    let Ok(path) = task_files::normalize(&path, files) else { return };
    match files.named(&path) {
        Resolved::Found { is_far: true, .. } | Resolved::Unread | Resolved::Found { kind: FileKind::File, .. } => {}
        Resolved::Found { kind: FileKind::Directory | FileKind::Other, is_far: false, .. } => {
            report.push(model.finding(OtherKind::new(&path, "file")));
        }
        Resolved::Nothing => {
            let known = script::known(files);
            let near = Search::default().nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
            let creation = new_file::creation(&path, Template::Script, files);
            let words =
                MessageParts::new(format!("`{path}` does not exist")).note(format!("`{id}` refers to that file"));
            let words = match near {
                Some(near) => words.remedy(format!("change it to `{near}`"), Fix::guess, model.replaced(scalar(&near))),
                None => words,
            };
            report.push(model.problem(Code::MissingFile, words.fix(creation)));
        }
    }
}
