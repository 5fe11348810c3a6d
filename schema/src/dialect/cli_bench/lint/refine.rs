//! Problems that the schema finds, in the words of this format and with its fixes.

use crate::{
    document::{NodeRef, Pointer, Shape},
    edit,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity, Subject},
    validate::Definition,
};

use super::super::{assertions::Assertion, task_files::SCHEME};

/// Keys that must be there; of all others an absent value counts as an absent key.
const REQUIRED: [&str; 9] = ["cli", "tasks", "id", "intent", "assert", "path", "text", "pattern", "run"];

/// Keys that each task has.
const TASK: [&str; 3] = ["id", "intent", "assert"];

/// Goes over what was found in one part. Pointers are relative to `node`.
pub fn refine(node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    let (mut is_beside, mut strays) = (false, false);
    for problem in problems.iter_mut() {
        let parent = problem.at.parent().unwrap_or_default();
        let key = problem.at.last().unwrap_or_default();
        let mapping = node.find(&parent);
        let in_assert = parent.parent().and_then(|list| list.last()).is_some_and(|list| list == "assert");
        let found = node.find(&problem.at);
        if problem.code == Code::UnknownKey {
            if !in_assert && Assertion::NAMES.contains(&key.as_str()) {
                let is_item = parent.is_root() && is_task(definition);
                // An item without any key of a task lost its place in the list of another one.
                let is_stray = is_item && TASK.iter().all(|key| node.entry(key).is_none());
                let in_task = is_item && !is_stray;
                strays |= is_stray;
                is_beside |= in_task && node.entry("assert").is_none();
                misplaced_assertion(mapping, &key, in_task, problem);
            } else if key == "assert" && parent.is_root() && !is_task(definition) {
                problem.severity = Severity::Error;
                problem.note = Some("cli-bench checks the `assert` of tasks only".to_owned());
                problem.help = Some("move it into each task".to_owned());
            }
        } else if problem.subject == Some(Subject::GluedKey) {
            continue;
        } else if matches!(problem.code, Code::WrongType | Code::InvalidValue | Code::OutOfRange) {
            wrong_value(definition, &key, mapping.filter(|_| in_assert), found, problem);
        }
    }
    // What is beside the place where it belongs is one problem.
    let place = Pointer::root().key("assert");
    problems.retain(|problem| !is_beside || problem.code != Code::MissingField || problem.at != place);
    let is_key_of_task = |at: &Pointer| TASK.iter().any(|key| *at == Pointer::root().key(key));
    problems.retain(|problem| !strays || problem.code != Code::MissingField || !is_key_of_task(&problem.at));
}

/// Assertions that are mappings, with the field that a single text stands for, and what else they need.
const WHOLE: [(&str, &str, &str); 3] =
    [("file_contains", "path", ", text: \"\""), ("run_count", "pattern", ", min: 1"), ("verify", "run", "")];

/// A text where an assertion needs a mapping.
fn short_form(name: &str, value: NodeRef<'_>, problem: &mut Problem) {
    let Some((_, field, more)) = WHOLE.iter().find(|(known, ..)| *known == name) else { return };
    let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
    let written = format!("{{ {field}: {}{more} }}", crate::shape::show(&text.into()));
    let title = format!("write `{written}`");
    problem.help = Some(title.clone());
    let is_plain = value.anchor().is_none() && value.tag().is_none() && !text.contains('\n');
    if let Some(edits) = edit::replace(value, written).filter(|_| is_plain) {
        problem.fixes = vec![if more.is_empty() { Fix::safe(title, edits) } else { Fix::guess(title, edits) }];
    }
}

/// A value that is not allowed where it is.
fn wrong_value(
    definition: Definition,
    key: &str,
    assertion: Option<NodeRef<'_>>,
    found: Option<NodeRef<'_>>,
    problem: &mut Problem,
) {
    let Some(value) = found else { return };
    let in_assert = assertion.is_some();
    let is_root = problem.at.is_root();
    let lacks_blanks = value.entries().any(|entry| entry.key.text().is_some_and(|key| key.starts_with('-')));
    if key == "assert" && value.shape() == Shape::Mapping && !lacks_blanks {
        if let Some(edits) = edit::items_of_keys(value) {
            let help = "make each assertion a list item";
            problem.help = Some(help.to_owned());
            problem.fixes = vec![Fix::safe(help, edits)];
        } else if value.entries().nth(1).is_some() {
            problem.fixes.clear();
        }
    } else if in_assert && WHOLE.iter().any(|(name, ..)| *name == key) {
        short_form(key, value, problem);
    } else if in_assert && key == "exit_code" {
        if value.is_null() {
            problem.help = Some("write an integer".to_owned());
        } else {
            problem.message =
                format!("expected an integer for `exit_code`, found {}", crate::validate::describe(value));
            problem.help = problem.fixes.first().map(|fix| fix.title.clone());
        }
        if value.shape() == Shape::Sequence {
            problem.note = Some("a task expects one exit code".to_owned());
            problem.help = Some("write a task for each exit code".to_owned());
        }
    } else if in_assert && value.shape() == Shape::Sequence && Assertion::NAMES.contains(&key) {
        let help = format!("write an item `- {key}: …` for each");
        let entry = assertion.and_then(|assertion| assertion.entry(key));
        if let Some(edits) = entry.and_then(|entry| edit::one_item_each(value, entry.key)) {
            // Commands may be meant as choices, and an output equals one text only.
            let is_open = ["ran", "not_ran", "output_equals"].contains(&key);
            let fix = if is_open { Fix::suggestion } else { Fix::safe };
            problem.fixes = vec![fix(help.clone(), edits)];
        }
        problem.help = Some(help);
    } else if is_root && is_task(definition) && value.shape() == Shape::Scalar {
        wrong_entry(definition.file(), value, problem);
    } else if value.is_null() && problem.code == Code::WrongType {
        null_value(key, in_assert, value, problem);
    } else if let Some(model) = value.as_str().filter(|_| is_root && is_provider(definition)) {
        problem.message = format!("`{model}` is not a valid model id");
        problem.help = Some("write it as `provider/model-id`, such as `openai/gpt-4o`".to_owned());
    }
}

fn is_task(definition: Definition) -> bool {
    matches!(definition, Definition::Item(file, list) if file.case_list() == Some(list))
}

fn is_provider(definition: Definition) -> bool {
    matches!(definition, Definition::Item(SpecFile::CliBench, "providers"))
}

/// An assertion beside `assert` instead of in it.
fn misplaced_assertion(mapping: Option<NodeRef<'_>>, key: &str, in_task: bool, problem: &mut Problem) {
    problem.severity = Severity::Error;
    problem.fixes.clear();
    let help = match in_task {
        true => format!("move it under `assert`, as an item `- {key}: …`"),
        false => format!("move it under `assert` of a task, as an item `- {key}: …`"),
    };
    problem.note = Some("cli-bench checks only the items of `assert`".to_owned());
    if let Some(edits) = mapping.filter(|_| in_task).and_then(|mapping| edit::into_list(mapping, key, "assert")) {
        problem.fixes.push(Fix::safe(&help, edits));
    }
    problem.help = Some(help);
}

/// A scalar in place of a task.
fn wrong_entry(file: SpecFile, item: NodeRef<'_>, problem: &mut Problem) {
    let text = item.text().unwrap_or_default();
    problem.fixes.clear();
    if item.is_null() {
        problem.help = Some("add a task, which begins with `id: …`, or remove the `-`".to_owned());
        return;
    }
    let alone = file == SpecFile::CliBenchTasks;
    let (message, help) = if alone && text.starts_with(SCHEME) {
        ("a task file cannot name other files".to_owned(), "move the item to the main file".to_owned())
    } else if alone {
        (format!("expected a task, found the string `{text}`"), "begin the task with `id: …`".to_owned())
    } else if text == SCHEME {
        (format!("`{SCHEME}` needs a path"), format!("add a path, such as `{SCHEME}tasks/*.yaml`"))
    } else {
        (format!("expected a task or a file, found the string `{text}`"), format!("write a file as `{SCHEME}…`"))
    };
    problem.message = message;
    problem.help = Some(help);
    let is_path = text.ends_with(".yaml") || text.ends_with(".yml");
    let path = path_of(text);
    let name = format!("{SCHEME}{path}");
    let edits = edit::replace_text(item, &name);
    if let Some(edits) = edits.filter(|_| file == SpecFile::CliBench && is_path && !path.contains("://")) {
        let help = format!("change it to `{name}`");
        // One slash behind the scheme may begin an absolute path.
        let is_open =
            text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("file:/")) && !text[6..].starts_with('/');
        let fix = if is_open { Fix::guess } else { Fix::safe };
        problem.fixes.push(fix(help.clone(), edits));
        problem.help = Some(help);
    }
}

/// The path behind what is written in place of the scheme.
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
    problem.note = Some("it counts as absent".to_owned());
}
