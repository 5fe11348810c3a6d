//! The main file without its tasks: models, thresholds, and the working directory.

use crate::{
    dialect::cli_bench::config::Config,
    edit,
    files::{FileKind, Files, Resolved},
    finding::{Finding, MessageParts, Report, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Fix, SettingsCondition, Severity},
    quoting::scalar,
    rules::{invalid_path, missing_file::other_kind},
    script,
    shape::Shape,
    suite::task_files,
    validate::line_in_order,
    words::{Search, nearest},
};

/// A scripted model, in place of a missing one.
pub(crate) const SCRIPT: Template = Template::File(|_| include_str!("../new_file/script.yaml.txt").to_owned());

/// Key of the models.
const PROVIDERS: &str = "providers";

/// Key of the number of simultaneous requests to models.
const CONCURRENCY: &str = "concurrency";

/// Checks a suite without its tasks.
pub(crate) fn check(root: &LintNode<'_>, report: &mut Report) {
    check_models(root, report);
    check_tolerance(root, report);
    check_directory(root, report);
}

/// Reports a suite without models.
fn check_models(root: &LintNode<'_>, report: &mut Report) {
    let providers = root.get(PROVIDERS);
    // They exist under another name, which is reported.
    let is_called = |key: &str| {
        Shape::of(SpecFile::CLI_BENCH).field_called(key, None).is_some_and(|(field, _)| field.name == PROVIDERS)
    };
    let is_misspelled = |(key, _): &(String, LintNode<'_>)| nearest(key, [PROVIDERS]).is_some() || is_called(key);
    if providers.is_none() && root.entries().iter().any(is_misspelled) {
        return;
    }
    if providers.as_ref().is_none_or(|providers| providers.is_list() && providers.is_empty()) {
        let words = MessageParts::new("the suite does not name a model")
            .help("name models under `providers`, or with `--model`");
        let node = providers.as_ref().unwrap_or(root);
        report.push(node.head_problem(Code::MissingField, words).with_severity(Severity::Hint));
    }
}

/// Reports thresholds that every model meets because of the tolerance.
fn check_tolerance(root: &LintNode<'_>, report: &mut Report) {
    let Some(thresholds) = root.get("thresholds").filter(LintNode::is_mapping) else { return };
    // An invalid number is reported separately.
    let percentage = |node: LintNode<'_>| node.number().filter(|number| *number > 0.0 && *number <= 100.0);
    let Some((node, tolerance)) = thresholds.get("tolerance").and_then(|it| Some((it.clone(), percentage(it)?))) else {
        return;
    };
    let of_models = thresholds.get("models").map(|models| models.entries()).unwrap_or_default();
    for limit in thresholds.get("default").into_iter().chain(of_models.into_iter().map(|(_, limit)| limit)) {
        if let Some(threshold) = percentage(limit.clone()).filter(|threshold| tolerance >= *threshold) {
            let message = format!("with a tolerance of {tolerance}, every model meets a threshold of {threshold}");
            let words = MessageParts::new(message).help("raise it, or lower `tolerance`");
            report.push(limit.problem(Code::VacuousClaim, words).with("the tolerance", &node));
        }
    }
}

/// Reports a directory that tasks share while several requests run at the same time.
fn check_directory(root: &LintNode<'_>, report: &mut Report) {
    let Some(workdir) = root.get("workdir").filter(|workdir| workdir.text().is_some()) else { return };
    let concurrency = root.get(CONCURRENCY);
    let count = concurrency.as_ref().map_or(Some(f64::from(Config::CONCURRENCY)), LintNode::number);
    if count.is_none_or(|count| count <= 1.0) {
        return;
    }
    let edits = match &concurrency {
        Some(node) => node.replaced("1"),
        None => line_in_order(root.node, &Shape::of(SpecFile::CLI_BENCH), CONCURRENCY, "concurrency: 1"),
    };
    let words = MessageParts::new("all tasks share this directory")
        .note("cli-bench may run several of them at once; speclens runs them one after the other")
        .remedy("set `concurrency: 1`", Fix::guess, edits);
    let finding = workdir.head_problem(Code::SharedWorkdir, words);
    let add = |finding: Finding, node| finding.with("the number of simultaneous requests", node);
    report.push(concurrency.iter().fold(finding, add));
}

/// Checks an item of `providers` that names a script.
pub(crate) fn check_model(model: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(id) = model.text() else { return };
    if script::is_model(id) {
        let words = MessageParts::new(format!("cli-bench does not support scripted models such as `{id}`"))
            .note("cli-bench treats the id as a model on the network");
        report.push(model.problem(Code::UpstreamDiffers, words).only_with(SettingsCondition::Compat));
    }
    let Some(path) = script::file_beside(id, files) else { return };
    let normal = match task_files::normalize(&path, files) {
        Ok(normal) => normal,
        Err(reason) => {
            let words = MessageParts::new(format!("`{path}` {reason}"));
            return report.push(model.problem(Code::InvalidPath, words));
        }
    };
    match files.named(&normal) {
        Resolved::Found { is_far: true, .. } | Resolved::Unread => {
            report.push(invalid_path::outside(model, &normal));
        }
        Resolved::Found { kind: FileKind::File, .. } => {}
        Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } => {
            report.push(other_kind(model, &normal, "file"));
        }
        Resolved::Nothing => {
            let known = script::known(files);
            let words =
                MessageParts::new(format!("`{normal}` does not exist")).note(format!("`{id}` refers to that file"));
            let words = match Search::default().nearest(id, known.iter().map(String::as_str)) {
                Some(near) => words.remedy(format!("change it to `{near}`"), Fix::guess, model.replaced(scalar(near))),
                None => words,
            };
            let words = words.fix(new_file::creation(&normal, SCRIPT, files));
            report.push(model.problem(Code::MissingFile, words));
        }
    }
}

pub(crate) fn check_task_file(root: &LintNode<'_>, report: &mut Report) {
    if let Some(tasks) = root.get("tasks").filter(LintNode::is_list) {
        let alone = root.node.entry("tasks").filter(|_| root.node.entries().nth(1).is_none());
        let words = MessageParts::new("expected a list of tasks, found a mapping").remedy(
            "remove `tasks:`, and indent the list less",
            Fix::safe,
            alone.and_then(edit::unwrap_list),
        );
        let finding = Finding::stated(Code::WrongType, words, root.at.clone(), tasks.head());
        report.push(finding.instead_of(Scope::In(root.at.clone())));
    }
}
