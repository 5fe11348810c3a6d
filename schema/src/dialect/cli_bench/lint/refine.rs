//! What the schema finds wrong, said in the words of this format, with the cure that belongs to it.

use crate::{
    dialect::other_names,
    document::{NodeRef, Pointer, Shape},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem, Severity},
    rewrite::moving,
    validate::Definition,
};

use super::{
    super::{assertions::Assertion, task_files::SCHEME},
    edits, slips,
};

/// Keys that must be there; of all others an absent value counts as an absent key.
const REQUIRED: [&str; 9] = ["cli", "tasks", "id", "intent", "assert", "path", "text", "pattern", "run"];

/// Goes over what was found in one part. Pointers are relative to `node`.
pub fn refine(node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    slips::lint(node, definition, problems);
    other_names::lint(node, definition, problems);
    let mut told = false;
    for problem in problems.iter_mut() {
        let parent = problem.at.parent().unwrap_or_default();
        let key = problem.at.last().unwrap_or_default();
        let mapping = node.find(&parent);
        let in_assert = parent.parent().and_then(|list| list.last()).is_some_and(|list| list == "assert");
        let found = node.find(&problem.at);
        if problem.code == Code::UnknownKey {
            if !in_assert && Assertion::NAMES.contains(&key.as_str()) {
                let in_task = parent.is_root() && is_task(definition);
                told |= in_task && node.entry("assert").is_none();
                misplaced_assertion(mapping, &key, in_task, problem);
            } else if key == "assert" && parent.is_root() && !is_task(definition) {
                problem.severity = Severity::Error;
                problem.message =
                    "`assert` is never checked here: it belongs in each task, beside `id` and `intent`".to_owned();
            }
        } else if matches!(problem.code, Code::WrongType | Code::InvalidValue | Code::OutOfRange) {
            wrong_value(definition, &key, in_assert, found, problem);
        }
        // In braces, too, several assertions can be taken apart.
        if problem.code == Code::ConflictingFields
            && problem.fixes.is_empty()
            && parent.last().is_some_and(|list| list == "assert")
            && let Some(edits) = node.find(&problem.at).and_then(edits::split_item)
        {
            let title = match edits.len() {
                1 => "Split into two".to_owned(),
                more => format!("Split into {}", more + 1),
            };
            problem.fixes.push(Fix::safe(title, edits));
        }
    }
    // What stands beside the place where it belongs is one mistake.
    let place = Pointer::root().key("assert");
    problems.retain(|problem| !told || problem.code != Code::MissingField || problem.at != place);
}

/// Assertions that are mappings, with the field that a single text stands for, and what else they need.
const WHOLE: [(&str, &str, &str); 3] =
    [("file_contains", "path", ", text: \"\""), ("run_count", "pattern", ", min: 1"), ("verify", "run", "")];

/// A text where an assertion needs a mapping.
fn short_form(name: &str, value: NodeRef<'_>, problem: &mut Problem) {
    let Some((_, field, more)) = WHOLE.iter().find(|(known, ..)| *known == name) else { return };
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
    let written = format!("{{ {field}: {}{more} }}", crate::shape::show(&text.into()));
    problem.message = format!("`{name}` is a mapping: write `{written}`");
    let is_plain = value.alias().is_none() && value.anchor().is_none() && value.tag().is_none();
    if !value.is_through_alias() && is_plain && !text.contains('\n') {
        let edit = Edit::new(value.own_range(), written.clone());
        let title = format!("Write `{written}`");
        problem.fixes =
            vec![if more.is_empty() { Fix::safe(title, vec![edit]) } else { Fix::guess(title, vec![edit]) }];
    }
}

/// A value that cannot stand where it does.
fn wrong_value(definition: Definition, key: &str, in_assert: bool, found: Option<NodeRef<'_>>, problem: &mut Problem) {
    let Some(value) = found else { return };
    let is_root = problem.at.is_root();
    let lacks_blanks = value.entries().any(|entry| entry.key.text().is_some_and(|key| key.starts_with('-')));
    if key == "assert" && value.shape() == Shape::Mapping && !lacks_blanks {
        if let Some(edits) = edits::list_of_keys(value) {
            problem.fixes = vec![Fix::safe("Make each assertion an item of a list", edits)];
        } else if value.entries().nth(1).is_some() {
            problem.fixes.clear();
        }
    } else if in_assert && WHOLE.iter().any(|(name, ..)| *name == key) {
        short_form(key, value, problem);
    } else if in_assert && key == "exit_code" {
        let found = crate::validate::describe(value);
        problem.message = format!("`exit_code` must be a whole number, such as `0`, not {found}");
        if value.shape() == Shape::Sequence {
            problem.message.push_str(": a task expects one exit code, so make two tasks");
        }
    } else if in_assert && value.shape() == Shape::Sequence && Assertion::NAMES.contains(&key) {
        problem.message = format!("`{key}` takes one text: write an item `- {key}: …` for each");
        if let Some(edit) = edits::one_item_each(value, key) {
            problem.fixes = vec![Fix::safe("Make an item for each", vec![edit])];
        }
    } else if is_root && is_task(definition) && value.shape() == Shape::Scalar {
        wrong_entry(definition.file(), value, problem);
    } else if value.is_null() && problem.code == Code::WrongType {
        null_value(key, in_assert, value, problem);
    } else if let Some(model) = value.as_str().filter(|_| is_root && is_provider(definition)) {
        problem.message = format!("`{model}` is no model: write `provider/model-id`, such as `openai/gpt-4o`");
    }
}

fn is_task(definition: Definition) -> bool {
    matches!(definition, Definition::Item(file, list) if file.case_list() == Some(list))
}

fn is_provider(definition: Definition) -> bool {
    matches!(definition, Definition::Item(SpecFile::CliBench, "providers"))
}

/// An assertion that stands beside `assert` instead of in it.
fn misplaced_assertion(mapping: Option<NodeRef<'_>>, key: &str, in_task: bool, problem: &mut Problem) {
    problem.severity = Severity::Error;
    problem.fixes.clear();
    problem.message = if in_task {
        format!("`{key}` is never checked here: it belongs under `assert`, as an item `- {key}: …`")
    } else {
        format!("`{key}` is never checked here: it belongs under `assert` of a task, as an item `- {key}: …`")
    };
    if let Some(edits) = mapping.filter(|_| in_task).and_then(|mapping| moving::into_list(mapping, key, "assert")) {
        problem.fixes.push(Fix::safe("Move below `assert`", edits));
    }
}

/// A scalar in place of a task.
fn wrong_entry(file: SpecFile, item: NodeRef<'_>, problem: &mut Problem) {
    let text = item.text().unwrap_or_default();
    problem.fixes.clear();
    if item.is_null() {
        problem.message = "nothing stands here: expected a task, which begins with `id: …`".to_owned();
        return;
    }
    let alone = file == SpecFile::CliBenchTasks;
    problem.message = if alone && text.starts_with(SCHEME) {
        "a task file cannot name other files: only the main file can, move the entry there".to_owned()
    } else if alone {
        format!("expected a task, which begins with `id: …`, not `{text}`")
    } else if text == SCHEME {
        format!("`{SCHEME}` needs a path, such as `{SCHEME}tasks/*.yaml`")
    } else {
        format!("expected a task, or a file as `{SCHEME}…`, not `{text}`")
    };
    let is_path = text.ends_with(".yaml") || text.ends_with(".yml");
    let path = path_of(text);
    if file == SpecFile::CliBench && is_path && !path.contains("://") && !item.resolved().is_through_alias() {
        let name = format!("{SCHEME}{path}");
        let edit = Edit::new(item.own_range(), crate::shape::show(&name.as_str().into()));
        problem.fixes.push(Fix::safe(format!("Change to `{name}`"), vec![edit]));
    }
}

/// The path behind whatever somebody wrote in place of the scheme.
pub(super) fn path_of(text: &str) -> &str {
    let is_scheme = |start: &str| start.eq_ignore_ascii_case("file:");
    let path = text.get(..5).filter(|start| is_scheme(start)).map_or(text, |start| &text[start.len()..]);
    let path = if path.len() < text.len() { path.trim_start_matches('/').trim_start() } else { path };
    path.trim_start_matches("./")
}

/// A key without a value counts as absent, where it may be absent.
fn null_value(key: &str, in_assert: bool, value: NodeRef<'_>, problem: &mut Problem) {
    let is_item = key.is_empty() || key.parse::<usize>().is_ok();
    if in_assert || is_item || REQUIRED.contains(&key) || Assertion::NAMES.contains(&key) || value.is_through_alias() {
        return;
    }
    // A variable of the environment is not absent because it is empty, and an assertion must not grow weaker by it.
    let place = problem.at.parent().and_then(|parent| parent.last()).unwrap_or_default();
    if ["env", "models", "file_contains", "run_count", "verify"].contains(&place.as_str()) {
        return;
    }
    problem.severity = Severity::Hint;
    problem.message = format!("`{key}` has no value, and counts as absent: give it one, or remove the key");
}
