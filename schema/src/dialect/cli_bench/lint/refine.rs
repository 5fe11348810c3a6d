//! What the schema finds wrong, said in the words of this format, with the cure that belongs to it.

use crate::{
    document::{NodeRef, Pointer, Shape},
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    validate::Definition,
};

use super::{
    super::{assertions::Assertion, task_files::SCHEME},
    edits,
};

/// Keys that must be there; of all others an absent value counts as an absent key.
const REQUIRED: [&str; 10] = ["cli", "tasks", "id", "intent", "assert", "path", "text", "pattern", "run", "env"];

/// Goes over what was found in one part. Pointers are relative to `node`.
pub fn refine(node: NodeRef<'_>, definition: Definition, problems: &mut [Problem]) {
    for problem in problems {
        let parent = problem.at.parent().unwrap_or_default();
        let key = problem.at.last().unwrap_or_default();
        let mapping = node.find(&parent);
        let in_assert = parent.parent().and_then(|list| list.last()).is_some_and(|list| list == "assert");
        match problem.code {
            Code::UnknownKey if !in_assert && Assertion::NAMES.contains(&key.as_str()) => {
                misplaced_assertion(mapping, &key, parent.is_root() && is_task(definition), problem);
            }
            Code::UnknownKey if key == "assert" && parent.is_root() && !is_task(definition) => {
                problem.severity = Severity::Error;
                problem.message =
                    "`assert` is never checked here: it belongs in each task, beside `id` and `intent`".to_owned();
            }
            Code::WrongType | Code::InvalidValue if key == "exit_code" && in_assert => {
                let found = node.find(&problem.at).map(crate::validate::describe).unwrap_or_default();
                problem.message = format!("`exit_code` must be a whole number, such as `0`, not {found}");
            }
            Code::WrongType | Code::InvalidValue | Code::OutOfRange | Code::MissingField => {
                let at = problem.at.clone();
                let found = node.find(&at);
                if let Some(item) =
                    found.filter(|item| is_item_of_tasks(definition, &at) && item.shape() == Shape::Scalar)
                {
                    wrong_entry(definition.file(), item, problem);
                } else if let Some(value) = found.filter(|value| value.is_null() && problem.code == Code::WrongType) {
                    null_value(&key, in_assert, value, problem);
                } else if let Some(model) = found.and_then(NodeRef::as_str).filter(|_| is_provider(definition, &at)) {
                    problem.message =
                        format!("`{model}` is no model: write `provider/model-id`, such as `openai/gpt-4o`");
                }
            }
            _ => {}
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
}

fn is_task(definition: Definition) -> bool {
    matches!(definition, Definition::Item(file, list) if file.case_list() == Some(list))
}

/// Whether the pointer names an item of the list of tasks as a whole.
fn is_item_of_tasks(definition: Definition, at: &Pointer) -> bool {
    at.is_root() && is_task(definition)
}

fn is_provider(definition: Definition, at: &Pointer) -> bool {
    matches!(definition, Definition::Item(SpecFile::CliBench, "providers")) && at.is_root()
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
    if let Some(edits) = mapping.filter(|_| in_task).and_then(|mapping| edits::move_into_list(mapping, key, "assert")) {
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
    problem.message = match file {
        SpecFile::CliBenchTasks if text.starts_with(SCHEME) => {
            "a task file cannot name other files: only the main file can, move the entry there".to_owned()
        }
        SpecFile::CliBenchTasks => format!("expected a task, which begins with `id: …`, not `{text}`"),
        _ if text == SCHEME => format!("`{SCHEME}` needs a path, such as `{SCHEME}tasks/*.yaml`"),
        _ => format!("expected a task, or a file as `{SCHEME}…`, not `{text}`"),
    };
    let is_path = text.ends_with(".yaml") || text.ends_with(".yml");
    if file == SpecFile::CliBench && is_path && !text.contains("://") && !item.resolved().is_through_alias() {
        let name = format!("{SCHEME}{}", text.trim_start_matches("./"));
        let edit = crate::problem::Edit::new(item.own_range(), crate::shape::show(&name.as_str().into()));
        problem.fixes.push(Fix::safe(format!("Change to `{name}`"), vec![edit]));
    }
}

/// A key without a value counts as absent, where it may be absent.
fn null_value(key: &str, in_assert: bool, value: NodeRef<'_>, problem: &mut Problem) {
    let is_index = key.parse::<usize>().is_ok();
    if in_assert || is_index || REQUIRED.contains(&key) || Assertion::NAMES.contains(&key) || value.is_through_alias() {
        return;
    }
    // A variable of the environment, or a field of a claim, is not absent because it is empty.
    let place = problem.at.parent().and_then(|parent| parent.last()).unwrap_or_default();
    if ["env", "models", "file_contains", "run_count", "verify"].contains(&place.as_str()) {
        return;
    }
    problem.severity = Severity::Hint;
    problem.message = format!("`{key}` has no value, and counts as absent: give it one, or remove the key");
}
