//! A pipeline contract: its name, its stages and their handoff contracts, and its conditions.

use std::sync::Arc;

use crate::{
    dialect::clawspec::{agents, new_file::HANDOFF, stages::Condition},
    document::{Document, ScalarRules},
    edit,
    files::{self, FileKind, Files},
    finding::{MessageParts, Relation, Report, Scope},
    format::Lookup,
    gateway::workspace::{is_placed, joined},
    lint_node::LintNode,
    problem::{Code, Fix, OtherFile, Severity},
    quoting::scalar,
    rules::missing_file::Missing,
    validate::is_damaged,
    words::{nearest, slug},
};

pub(super) fn check(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let stages = root.get("stages").filter(LintNode::is_list);
    let items = stages.as_ref().map(LintNode::items).unwrap_or_default();
    check_name(root, report);
    if let Some(stages) = stages.filter(|_| !is_damaged(root.node)) {
        check_count(root, &stages, items.len(), report);
    }
    for health in root.get("pipeline_health").map(|list| list.items()).unwrap_or_default() {
        check_condition(root, &health, &items, report);
    }
    if is_placed(files) {
        items.iter().for_each(|stage| check_stage(stage, files, report));
    }
}

/// Reports a name of reports that differs from the directory by which ClawSpec numbers them.
fn check_name(root: &LintNode<'_>, report: &mut Report) {
    let Some((name, path)) = root.find(&["pipeline", "name"]).zip(root.find(&["pipeline", "skill_path"])) else {
        return;
    };
    let directory = path.text().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let (Some(written), Some(directory)) = (name.text(), directory) else { return };
    if written.trim().is_empty() || directory.is_empty() || directory == "." || slug(written) == slug(directory) {
        return;
    }
    let words = MessageParts::new(format!("`pipeline.name` is `{written}`, but its skill is in `{directory}`"))
        .note("ClawSpec numbers reports by directory but names them after `name`, so each run overwrites the previous report")
        .remedy(format!("change it to `{directory}`"), Fix::guess, name.replaced(scalar(directory)));
    report.push(name.problem(Code::Collision, words).with_severity(Severity::Hint));
}

/// Reports a number of stages that differs from the length of the list.
fn check_count(root: &LintNode<'_>, stages: &LintNode<'_>, actual: usize, report: &mut Report) {
    let Some(count) = root.find(&["pipeline", "stages"]) else { return };
    // An empty list is reported separately.
    if actual == 0 || count.number().is_none_or(|count| count == actual as f64) {
        return;
    }
    let written = count.node.text().unwrap_or_default();
    let items = if actual == 1 { "item" } else { "items" };
    let message = format!("`pipeline.stages` is {written}, but the list `stages` has {actual} {items}");
    let edits = count.replaced(actual.to_string());
    let words = MessageParts::new(message).remedy(format!("change it to {actual}"), Fix::guess, edits);
    let finding = count.problem(Code::StageCount, words);
    let finding = finding.related(Relation::Labelled("the list"), stages.at.clone(), stages.head());
    // An impossible number is corrected from the list.
    report.push(finding.instead_of(Scope::CodeAt(Code::OutOfRange, count.at.clone())).unless_wrong(count.at.clone()));
}

fn check_condition(root: &LintNode<'_>, health: &LintNode<'_>, stages: &[LintNode<'_>], report: &mut Report) {
    let Some(check) = health.get("check") else { return };
    let Some(text) = check.text().filter(|text| !text.is_empty()) else { return };
    let key = match Condition::parse(text) {
        Some(Condition::Produced) => "produces",
        Some(Condition::HandoffsPassed) => "handoff_contract",
        Some(Condition::Elapsed(_)) => return,
        None => {
            let words = MessageParts::new(format!("`{text}` is not a supported health check"))
                .note("ClawSpec aborts the run with an error");
            let words = match nearest(text, Condition::WRITTEN) {
                Some(near) => words.remedy(format!("change it to `{near}`"), Fix::guess, check.replaced(near)),
                None => {
                    let [first, second, _] = Condition::WRITTEN;
                    words
                        .help(format!("write `{first}`, `{second}` or `elapsed <= 30m`, or comment it out"))
                        // Another condition would not match the description.
                        .fix(edit::comment_out(root.node, &health.at).map(Fix::comment))
                }
            };
            return report.push(check.problem(Code::UnsupportedExpression, words));
        }
    };
    let is_known = root.get("stages").is_some_and(|stages| stages.is_list()) && !is_damaged(root.node);
    if is_known && stages.iter().all(|stage| stage.get(key).is_none()) {
        let words = MessageParts::new(format!("no stage has `{key}`, so this condition checks nothing"))
            .note("it always holds in ClawSpec; `speclens run` reports it as unknown")
            .help("remove the condition");
        report.push(check.problem(Code::VacuousClaim, words));
    }
}

fn check_stage(stage: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(named) = stage.get("handoff_contract") else { return };
    let Some(name) = named.text().filter(|name| !name.is_empty()) else { return };
    let Some(path) = joined(files::above(files.place(), "tests"), name) else {
        if name.contains(['*', '?', '{']) {
            let message = format!("wildcards and template variables in `{name}` are not expanded");
            report.push(named.problem(Code::MissingFile, MessageParts::new(message).help("name one file")));
        }
        return;
    };
    if files.kind(&path) != Some(FileKind::File) {
        let missing = Missing::of(name, &path, FileKind::File, Some(HANDOFF), files);
        let note = Some("the path is relative to the directory of the skill");
        return report.push(Missing { path, root: None, note, ..missing }.at(&named));
    }
    // Its own check reports a file that cannot be read.
    let Ok(bytes) = files.read(&path) else { return };
    let text = std::str::from_utf8(&bytes).ok();
    let document = text.map(|text| Document::read(text, ScalarRules::Yaml11)).filter(Document::is_intact);
    let Some(document) = document else { return };
    let root = document.root().map(LintNode::root);
    let Some(handoff) = root.and_then(|root| root.get("handoff")) else {
        let words = MessageParts::new(format!("`{path}` is not a handoff contract: it has no `handoff`"));
        return report.push(named.problem(Code::MissingFile, words));
    };
    check_agent(stage, handoff.get("to"), OtherFile { path, bytes: Arc::clone(&bytes) }, files, report);
}

/// Reports a stage whose handoff contract is for another agent.
fn check_agent(
    stage: &LintNode<'_>,
    callee: Option<LintNode<'_>>,
    file: OtherFile,
    files: &dyn Files,
    report: &mut Report,
) {
    let Some((agent, callee)) = stage.get("agent").zip(callee) else { return };
    let (Some(own), Some(other)) = (agent.text(), callee.text()) else { return };
    let is_settled = [own, other].iter().all(|name| !name.trim().is_empty() && !name.contains("{{"));
    let is_misspelled = |name: &str| matches!(agents::look_up(name, files), Lookup::Misspelled(_));
    // A misspelling is reported where it occurs.
    if !is_settled || agents::is_same(own, other) || is_misspelled(own) || is_misspelled(other) {
        return;
    }
    let message = format!("the agent of this stage is `{own}`, but the handoff contract is for `{other}`");
    let edits = agent.replaced(scalar(other));
    let words = MessageParts::new(message).remedy(format!("change it to `{other}`"), Fix::guess, edits);
    let relation = Relation::ContractFor(other.to_owned());
    let finding = agent.problem(Code::Contradiction, words);
    report.push(finding.related_in(file, relation, callee.at.clone(), callee.range()));
}
