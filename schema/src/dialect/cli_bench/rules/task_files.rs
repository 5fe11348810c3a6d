//! Items of `tasks` that name task files: their paths, what is in the files, and ids that several files have.

use rustc_hash::FxHashMap;

use crate::{
    dialect::cli_bench::facts::{About, FileFacts, ItemFacts, SuiteFacts, file_facts},
    edit,
    files::{FileKind, Files, Resolved},
    finding::{Finding, MessageParts, Relation, Report, Scope},
    lint_node::LintNode,
    names::Named,
    new_file::{self, Template},
    problem::{Code, Fix, OtherFile, Severity, Subject},
    quoting::scalar,
    relations::Items,
    rules::{
        invalid_path,
        missing_file::{Missing, ONLY_SLASHES},
    },
    suite::task_files::{self, SCHEME, Target, is_pattern, path_of},
    words::nearest,
};

pub(crate) const TASKS: Template = Template::File(|_| include_str!("../new_file/tasks.yaml.txt").to_owned());

/// Checks an item of `tasks`, if it names files.
pub(crate) fn check_item(item: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    check_mapping(item, report);
    let Some(text) = item.text() else { return };
    let Some(target) = Target::of(text, files) else { return };
    let path = text.strip_prefix(SCHEME).unwrap_or(text);
    match &target {
        Target::Outside(reason) => {
            let words = MessageParts::new(format!("`{path}` {reason}"));
            let words = words.note("the suite runs without its tasks").help("write it relative to this file");
            report.push(item.problem(Code::InvalidPath, words));
        }
        Target::Missing(normal) => {
            let missing = Missing::of(path, normal, FileKind::File, Some(TASKS), files);
            report.push(Missing { scheme: SCHEME, ..missing }.at(item));
        }
        Target::NoFile(_) => {
            let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
            let edits = item.replaced(scalar(&name));
            let words = MessageParts::new(format!("`{path}` is a directory"));
            let words = words.remedy(format!("change it to `{name}`"), Fix::guess, edits);
            report.push(item.problem(Code::MissingFile, words));
        }
        Target::NoMatch { cut: true } => {
            let words = MessageParts::new(format!("`{path}` searches too many directories"));
            report.push(item.problem(Code::TooLarge, words.help("name the directory")));
        }
        Target::NoMatch { cut: false } => report.push(no_match(item, path, files)),
        Target::Files(found) => {
            if let Some(finding) = not_read(item, path, found, files) {
                return report.push(finding);
            }
            found.iter().for_each(|found| check_content(item, &file_facts(found, files), files, report));
        }
        Target::Nowhere => {}
    }
    if path.starts_with('/') {
        let words = MessageParts::new(format!("`{path}` is an absolute path")).note("it is valid only on this machine");
        let is_near = |path: &String| !matches!(files.named(path), Resolved::Found { is_far: true, .. });
        let name = task_files::normalize(path, files).ok().filter(is_near).map(|path| format!("{SCHEME}{path}"));
        let words = match name.and_then(|name| Some((item.replaced(scalar(&name))?, name))) {
            Some((edits, name)) => words.remedy(format!("change it to `{name}`"), Fix::safe, Some(edits)),
            None => words.help("write it relative to this file"),
        };
        report.push(item.problem(Code::InvalidPath, words).with_severity(Severity::Warning));
    }
}

/// Reports `- file: tasks/a.yaml`, which should be `file://tasks/a.yaml`.
fn check_mapping(item: &LintNode<'_>, report: &mut Report) {
    let entries = item.entries();
    let [(key, value)] = entries.as_slice() else { return };
    let Some(text) = value.text().filter(|text| !text.is_empty()) else { return };
    if ["file", "include", "path", "$ref"].contains(&key.to_lowercase().as_str()) {
        let name = format!("{SCHEME}{}", path_of(text.trim_start_matches('/')));
        let edits = edit::replace_text(item.node, &name);
        let words = MessageParts::new("expected a task or the path of a task file, found a mapping with one key")
            .remedy(format!("write `{name}`"), Fix::guess, edits);
        let range = value.head().start..value.node.own_range().end;
        let finding = Finding::stated(Code::InvalidValue, words, item.at.clone(), range);
        report.push(finding.instead_of(Scope::In(item.at.clone())));
    }
}

/// Returns the problem of a pattern without matches.
fn no_match(item: &LintNode<'_>, path: &str, files: &dyn Files) -> Finding {
    let is_simple = |pattern: &String| !pattern.contains(['?', '[']) && !pattern.starts_with("..");
    let creation = task_files::normalize(path, files)
        .ok()
        .filter(is_simple)
        .and_then(|pattern| new_file::creation(&pattern.replace("**/", "").replace('*', "first"), TASKS, files));
    let words = MessageParts::new(format!("no file matches `{path}`"));
    let words = if path.contains('\\') { words.note(ONLY_SLASHES) } else { words };
    let words = match similar_pattern(path, files) {
        Some(near) => {
            let edits = item.replaced(scalar(&format!("{SCHEME}{near}")));
            words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
        }
        None => words.help("correct the pattern, or create a task file"),
    };
    item.problem(Code::MissingFile, words.fix(creation)).with_severity(Severity::Warning)
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

/// Returns the problem of files outside of the workspace, whose content is not checked.
fn not_read(item: &LintNode<'_>, path: &str, found: &[String], files: &dyn Files) -> Option<Finding> {
    if let Some(unread) = found.iter().find(|found| files.named(found) == Resolved::Unread) {
        let how = if unread.starts_with("../") { "is" } else { "is a link to a file" };
        let words = MessageParts::new(format!("`{unread}` {how} outside the workspace"))
            .note("editors do not read it; `speclens check` and `speclens run` do");
        return Some(item.problem(Code::InvalidPath, words).with_severity(Severity::Warning));
    }
    let is_far = |found: &String| matches!(files.named(found), Resolved::Found { is_far: true, .. });
    let leads_up = task_files::normalize(path, files).is_ok_and(|normal| normal.starts_with("../"));
    let is_outside = leads_up && !path.starts_with('/') && found.iter().any(is_far);
    is_outside.then(|| invalid_path::outside(item, path))
}

/// Reports a file without tasks.
fn check_content(item: &LintNode<'_>, file: &FileFacts, files: &dyn Files, report: &mut Report) {
    // A file that is checked separately reports this itself.
    let is_here = file.is_other || !files.parts_are_checked();
    let Some((reason, help)) = file.wrong.as_ref().filter(|_| is_here) else { return };
    let words = MessageParts::new(format!("the task file `{}` {reason}", file.path));
    let words = help.iter().fold(words, |words, help| words.help(*help));
    report.push(item.problem(Code::InvalidValue, words));
}

/// Reports a suite without tasks in any file, and files of several items.
pub(crate) fn check_items(root: &LintNode<'_>, items: Items<'_>, report: &mut Report) {
    let entries = items.about(About::Files).filter(|(_, facts)| match facts {
        ItemFacts::Task(_) => false,
        // A pattern without matches has no tasks, which by itself is only a warning.
        ItemFacts::Files(entry, files) => {
            (is_pattern(&entry.name) || !files.is_empty())
                && files.iter().all(|file| file.wrong.is_none() && file.ids.is_empty())
        }
    });
    if let Some(tasks) = root.get("tasks").filter(|_| !items.is_empty() && entries.count() == items.len()) {
        let words = MessageParts::new("the files under `tasks` contain no tasks").help("add a task to one of them");
        report.push(tasks.head_problem(Code::OutOfRange, words));
    }
    let mut seen: FxHashMap<&str, (usize, &Named)> = FxHashMap::default();
    for (index, entry, file) in included(items) {
        let Some((first_index, first)) = seen.get(file.path.as_str()) else {
            seen.insert(&file.path, (index, entry));
            continue;
        };
        let has_pattern = [entry, *first].iter().any(|item| is_pattern(&item.name));
        let words = MessageParts::new(format!("duplicate task file `{}`", file.path))
            .note("its tasks run only once")
            .help(match has_pattern {
                true => "narrow the pattern, or remove one of the two items",
                false => "remove one of the two",
            });
        let (at, range) = items.place(index, entry);
        let (first_at, first_range) = items.place(*first_index, first);
        let finding = Finding::stated(Code::Collision, words, at, range);
        report.push(finding.related(Relation::Labelled("first listed here"), first_at, first_range));
    }
}

fn included<'f>(items: Items<'f>) -> impl Iterator<Item = (usize, &'f Named, &'f FileFacts)> {
    items.about(About::Files).flat_map(|(index, facts)| {
        let files = match facts {
            ItemFacts::Files(entry, files) => files.iter().map(move |file| (index, entry, &**file)).collect(),
            ItemFacts::Task(_) => Vec::new(),
        };
        files.into_iter()
    })
}

pub(crate) fn check_ids(items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    let duplicate = |index: usize, here: &Named, id: &str, note: String| {
        let words = MessageParts::new(format!("duplicate task id `{id}`"));
        let words = words.help("give it a different id").subject(Subject::Name(id.to_owned())).note(note);
        let (at, range) = items.place(index, here);
        Finding::stated(Code::DuplicateName, words, at, range)
    };
    // A task of this file that comes after the file with its id.
    let of_task = |index: usize, file: &FileFacts, id: &Named| {
        let name = &items.own_name(index)?.named;
        let finding = duplicate(index, name, &id.name, format!("`{}` also defines it", file.path));
        Some(beside(finding, file, id, "also used here"))
    };
    let mut seen: FxHashMap<&str, (&FileFacts, &Named)> = FxHashMap::default();
    for (file, id) in suite.others.iter().flat_map(|file| file.ids.iter().map(move |id| (&**file, id))) {
        if !seen.contains_key(id.name.as_str()) {
            seen.insert(&id.name, (file, id));
            report.extend(items.named(&id.name).and_then(|index| of_task(index, file, id)));
        }
    }
    for (index, entry, file) in included(items) {
        // A file of several entries counts once; another rule reports it.
        if seen.values().any(|(known, _)| known.path == file.path) {
            continue;
        }
        let mut own_ids = Vec::new();
        for own in &file.ids {
            let path = &file.path;
            let finding = match (seen.get(own.name.as_str()), items.named(&own.name)) {
                (Some((other, first)), _) => {
                    let note = format!("both `{}` and `{path}` define it", other.path);
                    beside(duplicate(index, entry, &own.name, note), other, first, "first used here")
                }
                (None, Some(task)) if task < index => {
                    let note = format!("both `{path}` and this file define it");
                    let first = items.own_name(task).map(|name| items.place(task, &name.named));
                    first.into_iter().fold(duplicate(index, entry, &own.name, note), |finding, (at, range)| {
                        finding.related(Relation::Labelled("first used here"), at, range)
                    })
                }
                (None, task) => {
                    report.extend(task.and_then(|task| of_task(task, file, own)));
                    own_ids.push(own);
                    continue;
                }
            };
            report.push(beside(finding, file, own, "also used here"));
        }
        // Duplicates within one file are reported when that file is checked.
        seen.extend(own_ids.into_iter().map(|id| (id.name.as_str(), (file, id))));
    }
}

/// Adds an id in another file as a related location.
fn beside(finding: Finding, file: &FileFacts, id: &Named, label: &'static str) -> Finding {
    let other = OtherFile { path: file.path.clone(), bytes: std::sync::Arc::clone(&file.bytes) };
    finding.with_other_file(label, other, id.at.clone(), id.range.clone())
}
