//! `--model` and `--help-mode`: they replace the models and modes of suites, and are checked before anything runs.

use std::{collections::BTreeSet, path::Path};

use anyhow::{bail, ensure};
use speclens_runner::model::{Models, manual};
use speclens_schema::{
    script,
    suite::{Action, program_of},
    words,
};

use super::dry::Chosen;

/// Checks that the models on the command line can be called, and that there is a task for them.
pub(super) fn check(models: &[String], has_help_modes: bool, suites: &[Chosen<'_>]) -> anyhow::Result<()> {
    if models.is_empty() && !has_help_modes {
        return Ok(());
    }
    let may_run = || suites.iter().filter_map(|suite| Some((suite, suite.models()?)));
    // A refused suite has its own errors.
    if suites.iter().any(|suite| suite.prepared.is_none()) {
        return Ok(());
    }
    let with_tasks: Vec<_> = may_run().filter(|(suite, _)| has_tasks(suite)).collect();
    let option = if models.is_empty() { "--help-mode" } else { "--model" };
    ensure!(!with_tasks.is_empty(), "`{option}` applies only to cli-bench tasks, and none is selected");
    for id in models {
        for (suite, own) in &with_tasks {
            if let Some(sentence) = unknown(id, suite, own) {
                bail!(sentence);
            }
        }
    }
    Ok(())
}

fn has_tasks(suite: &Chosen<'_>) -> bool {
    let cases = &suite.loaded.report.suite.cases;
    suite.cases.iter().any(|&index| matches!(cases[index].action, Action::Agent(_)))
}

/// Returns the error for an unknown model id, with the nearest known id.
fn unknown(id: &str, suite: &Chosen<'_>, models: &Models) -> Option<String> {
    // For these, only a request shows whether they work: there is one terminal, and a program is any command.
    if id == manual::ID || program_of(id).is_some() {
        return None;
    }
    let is_script = id.starts_with("scripted:") || script::file_of(id).is_some();
    let error = if is_script { models.open(id).err()? } else { models.describe(id).err()? };
    let mut known: BTreeSet<String> = scripts(&suite.loaded.directory);
    for case in &suite.loaded.report.suite.cases {
        match &case.action {
            Action::Agent(agent) => known.extend(agent.surroundings.models.iter().cloned()),
            Action::Command(_) | Action::Prompt(_) | Action::Trigger(_) | Action::None => {}
        }
    }
    known.remove(id);
    // An id without its provider means the model with this name.
    let end = |known: &&String| known.rsplit('/').next() == Some(id);
    let near = known.iter().find(end).map(String::as_str);
    let near = near.or_else(|| words::nearest(id, known.iter().map(String::as_str)));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("`--model {id}`: {}{near}", error.message))
}

fn scripts(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| script::id_of(entry.file_name().to_str()?)).collect()
}
