//! Slips that break several rules of the schema at once: each is one problem, and is reported once.

use crate::{
    document::{EntryRef, NodeRef, Pointer, Scalar, Shape},
    edit,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity, by_item},
    shape::{self, scalar, show},
    validate::Definition,
    words::{all_of, is_negative, nearest, opposite_of, same_negation},
};

use super::{
    super::{assertions::Assertion, task_files::SCHEME},
    refine::path_of,
};

/// Assertions that are mappings, with their fields.
const WHOLE: [(&str, &[&str]); 3] = [
    ("file_contains", &["path", "text"]),
    ("run_count", &["pattern", "min", "max"]),
    ("verify", &["run", "output_contains", "output_equals"]),
];

/// Reports slips in place of what validation found of them. Pointers are relative to `node`.
pub(crate) fn lint(node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    if problems.is_empty() {
        return;
    }
    match definition {
        Definition::Root(SpecFile::CliBench) => tasks_by_name(node, problems),
        Definition::Root(SpecFile::CliBenchTasks) => wrapped(node, problems),
        Definition::Item(file, list) if file.case_list() == Some(list) => {
            if file == SpecFile::CliBench && file_mapping(node, problems) {
                return;
            }
            let at = Pointer::root().key("assert");
            let whole = definition.shape();
            let mut known = by_item(&at, problems);
            for (index, item) in node.get("assert").into_iter().flat_map(NodeRef::items).enumerate() {
                let Some(mut found) = known.remove(&index) else { continue };
                if item.shape() == Shape::Mapping {
                    assertion(item, &at.index(index), &whole, &mut found);
                }
                problems.append(&mut found);
            }
            // What is under a number need not be an item.
            problems.extend(known.into_values().flatten());
        }
        Definition::Root(_) | Definition::Item(..) => {}
    }
}

/// Replaces what was found at a place and below it.
fn replace(at: &Pointer, problem: Problem, problems: &mut Vec<Problem>) {
    problems.retain(|known| known.at != *at && known.at.below(at).is_none());
    problems.push(problem);
}

fn assertion(item: NodeRef<'_>, at: &Pointer, task: &shape::Shape, problems: &mut Vec<Problem>) {
    let entries: Vec<EntryRef<'_>> = item.entries().collect();
    let names = task.below(at, None);
    let called = |other: &str| names.as_ref()?.field_called(other, None).map(|(field, _)| field.name);
    let tagged = || tagged(item, &entries, at, &names.as_ref()?.tags().collect::<Vec<_>>(), called);
    if let Some(problem) = under_indented(item, &entries, at).or_else(tagged) {
        return replace(at, problem, problems);
    }
    let known = entries.iter().filter(|entry| Assertion::NAMES.contains(&entry.key.key_text().as_str())).count();
    if known < 2 {
        // That a key is unknown is reported already, and it cannot be split off.
        let unknown = problems.iter().any(|problem| problem.code == Code::UnknownKey && problem.at.below(at).is_some());
        problems.retain(|problem| !(unknown && problem.code == Code::ConflictingFields && problem.at == *at));
    }
    for entry in entries {
        let key = entry.key.key_text();
        let at = at.key(&key);
        if let Some(fields) = entry.value.entries().next().filter(|_| key == "run_count").map(|_| entry.value) {
            exact_count(fields, &at, problems);
        }
        let unknown = problems.iter_mut().find(|problem| problem.at == at && problem.code == Code::UnknownKey);
        let opposite = opposite_of(&key, Assertion::NAMES);
        let has_negation = opposite.is_some_and(|name| same_negation(&key, name, Assertion::NAMES).is_some());
        let spelling = |name: &str| name.replace(['_', '-', ' '], "").to_lowercase();
        let is_spelt_otherwise = Assertion::NAMES.iter().any(|name| spelling(name) == spelling(&key));
        let denies = !has_negation && !is_spelt_otherwise && (is_negative(&key) || opposite.is_some());
        if let Some(problem) = unknown.filter(|_| denies && called(&key).is_none()) {
            negated(&key, item, entry, problem);
        }
    }
}

/// `- file_contains:` with its fields beside it instead of below it.
fn under_indented(item: NodeRef<'_>, entries: &[EntryRef<'_>], at: &Pointer) -> Option<Problem> {
    // What is above the name cannot belong to it.
    let owner = entries.first().filter(|entry| entry.value.is_null())?;
    let name = owner.key.key_text();
    let (name, fields) = WHOLE.iter().find(|(known, _)| *known == name)?;
    let rest: Vec<String> =
        entries.iter().map(|entry| entry.key.key_text()).filter(|key| key.as_str() != *name).collect();
    if rest.is_empty() || !rest.iter().all(|key| fields.contains(&key.as_str())) {
        return None;
    }
    let names = all_of(rest.iter().map(String::as_str));
    let message = match rest.as_slice() {
        [_] => format!("{names} belongs to `{name}`"),
        [..] => format!("{names} belong to `{name}`"),
    };
    let help = match rest.as_slice() {
        [_] => format!("indent it more than `{name}`"),
        [..] => format!("indent them more than `{name}`"),
    };
    let mut problem = Problem::new(Code::WrongType, at.key(name), owner.key.range(), message).with_help(&help);
    problem.fixes.extend(edit::indent_entries(item).map(|edits| Fix::safe(help, edits)));
    Some(problem)
}

/// `- type: output_contains` with its value under another key, as in other formats.
fn tagged(
    item: NodeRef<'_>,
    entries: &[EntryRef<'_>],
    at: &Pointer,
    tags: &[&str],
    called: impl Fn(&str) -> Option<&'static str>,
) -> Option<Problem> {
    let tag = entries.iter().find(|entry| tags.contains(&entry.key.key_text().as_str()))?;
    let written = tag.value.as_str()?;
    let name = Assertion::NAMES.iter().copied().find(|name| *name == written);
    let name = name
        .or_else(|| called(written))
        .or_else(|| nearest(written, Assertion::NAMES.iter().copied()).filter(|_| !is_negative(written)))?;
    let key = tag.key.key_text();
    let rest: Vec<&EntryRef<'_>> = entries.iter().filter(|entry| entry.key.key_text() != key).collect();
    let source = |node: NodeRef<'_>| {
        let text = node.document().text().get_byte_slice(node.own_range()).map(String::from)?;
        (node.scalar().is_some() && !node.is_through_alias() && !text.contains('\n') && !text.is_empty())
            .then_some(text)
    };
    let converted = match WHOLE.iter().find(|(known, _)| *known == name) {
        Some((_, fields)) => {
            let members = rest.iter().map(|entry| {
                let key = entry.key.key_text();
                let field = fields.iter().find(|field| **field == key)?;
                // In braces a plain text ends at a comma.
                let text = match (entry.value.as_str(), source(entry.value)?) {
                    (Some(text), written) if written == text => show(&text.into()),
                    (_, written) => written,
                };
                Some(format!("{field}: {text}"))
            });
            members
                .collect::<Option<Vec<String>>>()
                .filter(|it| !it.is_empty())
                .map(|it| format!("{{ {} }}", it.join(", ")))
        }
        None => match rest.as_slice() {
            [only] => source(only.value),
            _ => None,
        },
    };
    let shown = converted.as_deref().filter(|value| value.len() < 60).unwrap_or("…");
    let help = format!("write `{name}: {shown}`");
    let mut problem = Problem::new(Code::UnknownKey, at.key(&key), tag.key.range(), format!("unknown key `{key}`"))
        .with_severity(Severity::Error)
        .with_note("the type of an assertion is its key")
        .with_help(&help);
    let edits = converted.and_then(|value| edit::replace_entries(item, &format!("{name}: {value}")));
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    Some(problem)
}

/// `count: 3`, where both bounds are meant.
fn exact_count(fields: NodeRef<'_>, at: &Pointer, problems: &mut [Problem]) {
    for entry in fields.entries() {
        let key = entry.key.key_text();
        let (Some(Scalar::Int(count)), true) =
            (entry.value.scalar(), ["count", "equals", "exactly", "times", "number", "exact"].contains(&key.as_str()))
        else {
            continue;
        };
        let Some(problem) = problems.iter_mut().find(|problem| problem.at == at.key(&key)) else { continue };
        let help = format!("write `min: {count}` and `max: {count}`");
        problem.note = Some(UNCHECKED.to_owned());
        problem.help = Some(help.clone());
        problem.fixes.clear();
        let is_free = ["min", "max"].iter().all(|bound| fields.entry(bound).is_none());
        let both = [format!("min: {count}"), format!("max: {count}")];
        let edits = edit::entry_in_place(fields, entry, &both).filter(|_| is_free);
        problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    }
}

/// What happens because of an unknown key in an assertion.
const UNCHECKED: &str = "cli-bench ignores the key, so it checks nothing";

/// The way to check what no assertion does.
const BY_COMMAND: &str = "use `verify` with a command that checks it";

/// An assertion that says the opposite of one that exists: its name must not be "corrected" into that.
fn negated(key: &str, mapping: NodeRef<'_>, entry: EntryRef<'_>, problem: &mut Problem) {
    problem.fixes.clear();
    let about = |words: &[&str]| words.iter().any(|word| key.to_lowercase().contains(word));
    let (what, help) = if about(&["file", "path", "exist"]) {
        let path = entry.value.as_str().unwrap_or("…");
        let command = format!("test ! -e {}", shell_word(path));
        let text = format!("verify: {{ run: {} }}", scalar(&command));
        let help = format!("write `{text}`");
        let is_path = !path.contains('\n') && entry.value.as_str().is_some();
        let edits = edit::entry_in_place(mapping, entry, &[text]).filter(|_| is_path);
        problem.fixes.extend(edits.map(|edits| Fix::guess(&help, edits)));
        ("no assertion that a file is absent", help)
    } else if about(&["error", "stderr"]) {
        ("no negative assertion about standard error", BY_COMMAND.to_owned())
    } else if about(&["output", "stdout", "contain", "equal"]) {
        ("no negative assertion about the output", BY_COMMAND.to_owned())
    } else {
        ("no such negative assertion", BY_COMMAND.to_owned())
    };
    problem.note = Some(format!("cli-bench has {what}; {UNCHECKED}"));
    problem.help = Some(help);
}

/// A text as one word of a shell command.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._-/…".contains(letter);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// `- file: tasks/a.yaml`, where `file://tasks/a.yaml` is meant. Says whether it was one.
fn file_mapping(item: NodeRef<'_>, problems: &mut Vec<Problem>) -> bool {
    let mut entries = item.entries();
    let (Some(entry), None) = (entries.next(), entries.next()) else { return false };
    if !["file", "include", "path", "$ref"].contains(&entry.key.key_text().to_lowercase().as_str()) {
        return false;
    }
    let Some(text) = entry.value.as_str().filter(|text| !text.is_empty()) else { return false };
    let name = format!("{SCHEME}{}", path_of(text.trim_start_matches('/')));
    let range = entry.key.own_range().start..entry.value.own_range().end;
    let help = format!("write `{name}`");
    let message = "expected a task or the path of a task file, found a mapping with one key";
    let mut problem = Problem::new(Code::InvalidValue, Pointer::root(), range, message).with_help(&help);
    problem.fixes.extend(edit::replace_text(item, &name).map(|edits| Fix::guess(help, edits)));
    replace(&Pointer::root(), problem, problems);
    true
}

/// `tasks` as a mapping from ids to tasks.
fn tasks_by_name(root: NodeRef<'_>, problems: &mut [Problem]) {
    let at = Pointer::root().key("tasks");
    let Some(tasks) = root.get("tasks").filter(|tasks| tasks.shape() == Shape::Mapping) else { return };
    let Some(problem) = problems.iter_mut().find(|problem| problem.at == at && problem.code == Code::WrongType) else {
        return;
    };
    problem.fixes.clear();
    let Some(first) = tasks.entries().next() else { return };
    if Definition::Item(SpecFile::CliBench, "tasks")
        .shape()
        .fields(None)
        .iter()
        .any(|it| first.key.text() == Some(it.name))
    {
        problem.help = Some("begin each task with `- `".to_owned());
        return;
    }
    let name = first.key.key_text();
    let help = format!("make each task a list item, as in `- id: {name}`");
    if let Some(edits) = edit::items_with_ids(tasks) {
        problem.fixes.push(Fix::guess(&help, edits));
    }
    problem.help = Some(help);
}

/// A task file in which the list is below a key.
fn wrapped(root: NodeRef<'_>, problems: &mut Vec<Problem>) {
    let Some(entry) = root.entry("tasks").filter(|entry| entry.value.shape() == Shape::Sequence) else {
        if let Some(problem) = problems.iter_mut().find(|problem| problem.code == Code::WrongType) {
            problem.help = Some("begin each task with `- id: …`".to_owned());
            problem.fixes.clear();
        }
        return;
    };
    let help = "remove `tasks:`, and indent the list less";
    let message = "expected a list of tasks, found a mapping";
    let mut problem = Problem::new(Code::WrongType, Pointer::root(), entry.key.range(), message).with_help(help);
    if root.entries().nth(1).is_none()
        && let Some(edits) = edit::unwrap_list(entry)
    {
        problem = problem.with_fix(Fix::safe(help, edits));
    }
    replace(&Pointer::root(), problem, problems);
}
