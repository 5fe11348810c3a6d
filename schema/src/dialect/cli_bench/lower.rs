//! Lowers the tree to cases. Total: every valid part is used, even if other parts are
//! invalid; [`Case::intact`] is true if all parts are valid.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Gates,
    assertions::{After, Assertion},
    config::Config,
    rules,
    tasks::Task,
};
use crate::{
    document::{Document, NodeRef, Pointer, Shape},
    files::{Files, Inputs},
    finding::Report,
    format::Dialect,
    gates::Gates as AnyGates,
    json_schema::SpecFile,
    lenient::value_of,
    problem::Severity,
    script,
    settings::Settings,
    suite::{
        Action, AgentAction, AgentSurroundings, Case, CaseFile, Claim, Needed, Suite, inputs_of_task,
        task_files::{self, Target},
    },
    validate::{self, Definition, is_damaged},
};

/// Values from the rest of the suite that tasks depend on. If they change, every task is lowered again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RootContext {
    surroundings: Arc<AgentSurroundings>,
    repeat: u32,
    /// Index of the owning entry, for files that several entries include.
    owners: BTreeMap<String, usize>,
}

impl RootContext {
    /// Reads the context from the root of a document; for a task file, from the main file that includes it.
    pub(crate) fn of(file: SpecFile, document: &Document, files: &dyn Files) -> RootContext {
        let alone = file == SpecFile::CLI_BENCH_TASKS;
        let main = files.main().filter(|_| alone).and_then(|main| task_files::read(main, files).ok());
        let nothing = || RootContext { repeat: Config::REPEAT, ..RootContext::default() };
        let document = match &main {
            Some(main) => &main.document,
            None if alone => return nothing(),
            None => document,
        };
        let Some(root) = document.root() else { return nothing() };
        let text = |key: &str| root.get(key).and_then(NodeRef::as_str).map(str::to_owned);
        let help_modes = texts(root.get("help_modes")).into_iter().filter_map(|word| part(&Value::from(word)));
        let models = models(root);
        let surroundings = AgentSurroundings {
            cli: text("cli").unwrap_or_default(),
            version_command: text("version_command"),
            scripts: scripts(&models, files),
            models,
            help_modes: help_modes.collect(),
            system_prompt: text("system_prompt"),
            env: environment(root.get("env")),
            setup: texts(root.get("setup")),
            scaffold: text("scaffold"),
            workdir: text("workdir"),
            redact_env: texts(root.get("redact_env")),
            redact_patterns: texts(root.get("redact_patterns")),
        };
        let repeat = root.get("repeat").and_then(value_of).and_then(|value| part::<u32>(&value));
        RootContext {
            surroundings: Arc::new(surroundings),
            repeat: repeat.unwrap_or(Config::REPEAT),
            owners: if file == SpecFile::CLI_BENCH { owners(root, files) } else { BTreeMap::new() },
        }
    }
}

/// Returns the models without duplicates.
fn models(root: NodeRef<'_>) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for model in texts(root.get("providers")) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    models
}

/// Returns the readable scripts of these models, each with a digest of its content.
fn scripts(models: &[String], files: &dyn Files) -> Inputs {
    let paths = models.iter().filter_map(|model| script::file_of(model));
    let digests = paths.filter_map(|path| {
        let path = task_files::normalize(&path, files).ok()?;
        let digest = script::digest(&files.read_named(&path).ok()?);
        Some((path, digest))
    });
    digests.collect()
}

/// Returns the files that several entries of `tasks` include, each with the index of the first such entry.
fn owners(root: NodeRef<'_>, files: &dyn Files) -> BTreeMap<String, usize> {
    let items = root.get("tasks").into_iter().flat_map(NodeRef::plain_items);
    let entries: Vec<(usize, &str)> = items.filter_map(|(index, item)| Some((index, item.as_str()?))).collect();
    if entries.len() < 2 {
        return BTreeMap::new();
    }
    let mut first: HashMap<String, (usize, usize)> = HashMap::new();
    for (index, text) in entries {
        for path in Target::of(text, files).map(Target::files).unwrap_or_default() {
            first.entry(path).or_insert((index, 0)).1 += 1;
        }
    }
    first.into_iter().filter(|(_, (_, count))| *count > 1).map(|(path, (index, _))| (path, index)).collect()
}

pub(crate) fn lower_root(document: &Document, settings: &Settings) -> Suite {
    let root = document.root();
    let text = |key: &str| root.and_then(|root| root.get(key)?.as_str()).filter(|it| !it.is_empty()).map(str::to_owned);
    let concurrency = root.and_then(|root| root.get("concurrency")).and_then(value_of).and_then(|it| part::<u32>(&it));
    // Tasks that share a directory must not run at the same time.
    let concurrency = if text("workdir").is_some() { 1 } else { concurrency.unwrap_or(Config::CONCURRENCY).max(1) };
    Suite {
        name: text("display_name").or_else(|| text("cli")),
        gates: AnyGates::of(Gates::lower(root.and_then(|root| root.get("thresholds")), settings.thresholds.pass_rate)),
        concurrency: usize::try_from(concurrency).unwrap_or(1),
        ..Suite::empty(Dialect::CLI_BENCH)
    }
}

/// Lowers one item of the list of tasks: a task is one case, a `file://` entry is the cases of its files. `at` is
/// the location of the item in the document.
pub(crate) fn lower_item(item: NodeRef<'_>, at: &Pointer, context: &RootContext, files: &dyn Files) -> Vec<Case> {
    if item.shape() == Shape::Mapping {
        return vec![lower_task(item, at.clone(), context, None, files)];
    }
    let Some(target) = item.as_str().and_then(|text| Target::of(text, files)) else { return Vec::new() };
    let index = at.last_step().and_then(|last| last.index());
    let mut cases = Vec::new();
    for path in target.files() {
        if context.owners.get(&path).is_some_and(|owner| Some(*owner) != index) {
            continue;
        }
        let Ok(file) = task_files::read(&path, files) else { continue };
        let Some(root) = file.document.root() else { continue };
        for (index, task) in root.items().enumerate().filter(|(_, task)| task.shape() == Shape::Mapping) {
            let mut case = lower_task(task, Pointer::root().index(index), context, Some(&file), files);
            let is_clean = is_clean(task, files);
            case.intact &= file.document.is_intact();
            cases.push(if is_clean { case } else { case.with_errors(&[]) });
        }
    }
    cases
}

/// Whether a task of another file has no error. Problems between tasks are found when that file is checked.
fn is_clean(task: NodeRef<'_>, files: &dyn Files) -> bool {
    let (file, list) = (SpecFile::CLI_BENCH_TASKS, "");
    let mut report = Report::default();
    validate::check(task, Definition::Item(file, list), files, &mut report);
    rules::report_item(file, list, task, files, &mut report);
    let problems = report.resolve(is_damaged(task)).problems();
    problems.iter().all(|problem| problem.severity != Severity::Error)
}

fn lower_task(
    task: NodeRef<'_>,
    at: Pointer,
    context: &RootContext,
    file: Option<&Arc<CaseFile>>,
    files: &dyn Files,
) -> Case {
    let mut value = value_of(task).unwrap_or_default();
    if let Value::Object(members) = &mut value {
        // A key without a value counts as absent.
        members.retain(|_, value| !value.is_null());
    }
    let readable = Task::deserialize(&value).is_ok();
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| value.get(key).and_then(part::<u32>);
    let name = text("id");
    let intent = text("intent");
    let tags = ["category", "difficulty"].map(text).into_iter().filter(|tag| !tag.is_empty());
    let mut claims = Vec::new();
    let mut after = After::default();
    let list = at.key("assert");
    for (index, item) in value.get("assert").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let Some(assertion) = assertion(item) else { continue };
        let at = list.index(index);
        let found = assertion.claims(&after).into_iter();
        claims.extend(found.map(|check| Claim { at: at.clone(), phase: None, check }));
        after.0.extend(assertion.verify.map(|verify| verify.run));
    }
    let action = if intent.is_empty() {
        Action::None
    } else {
        let timeout = value.get("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
        let mut agent = AgentAction {
            at: at.key("intent"),
            intent,
            max_turns: number("max_turns").unwrap_or(Task::MAX_TURNS).clamp(1, 20),
            env: environment(task.get("env")),
            setup: texts(task.get("setup")),
            teardown: texts(task.get("teardown")),
            scaffold: value.get("scaffold").and_then(Value::as_str).map(str::to_owned),
            timeout_ms: timeout.map(|seconds| (seconds * 1000.0) as u64),
            verify: after.0,
            inputs: Inputs::new(),
            surroundings: Arc::clone(&context.surroundings),
        };
        agent.inputs = inputs_of_task(&agent, files);
        Action::Agent(Box::new(agent))
    };
    Case {
        intact: readable && !name.is_empty() && !claims.is_empty() && action != Action::None,
        name,
        at,
        file: file.cloned(),
        tags: tags.collect(),
        skip: false,
        repeat: number("repeat").unwrap_or(context.repeat).clamp(1, 100),
        needed: Needed::All,
        action,
        claims,
    }
}

/// Returns an item of `assert`; if it is not valid as a whole, its valid assertions.
fn assertion(item: &Value) -> Option<Assertion> {
    if let Ok(assertion) = Assertion::deserialize(item) {
        return Some(assertion);
    }
    let kept = item.as_object()?.iter().filter(|(name, value)| {
        let alone = Value::Object([((*name).clone(), (*value).clone())].into_iter().collect());
        Assertion::NAMES.contains(&name.as_str()) && Assertion::deserialize(&alone).is_ok()
    });
    let kept: serde_json::Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    Assertion::deserialize(&Value::Object(kept)).ok()
}

fn environment(node: Option<NodeRef<'_>>) -> BTreeMap<String, String> {
    let entries = node.into_iter().flat_map(NodeRef::merged_entries);
    let value = |node: NodeRef<'_>| node.text().filter(|_| !node.is_null()).map(str::to_owned);
    entries.filter_map(|entry| Some((entry.key.key_text(), value(entry.value)?))).collect()
}

fn texts(node: Option<NodeRef<'_>>) -> Vec<String> {
    node.into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str).map(str::to_owned).collect()
}

fn part<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

#[cfg(test)]
mod tests;
