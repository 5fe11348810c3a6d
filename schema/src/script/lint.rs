//! Checks of scripts.

use crate::{
    document::NodeRef,
    files::Files,
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
    rules::{collision, unknown_reference::Unknown},
    validate::is_damaged,
    words::Search,
};

use super::suite::{self, Suite};

/// Reports problems of a script that a schema cannot express. Pointers and ranges are absolute.
pub(crate) fn report(root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = LintNode::root(root);
    if !root.is_mapping() {
        return;
    }
    let suite = suite::of(files);
    let tasks = root.get("tasks").filter(LintNode::is_mapping).map(|tasks| tasks.entries()).unwrap_or_default();
    if let Some(suite) = &suite {
        check_tasks(&tasks, suite, report);
    }
    for (id, turns) in &tasks {
        let is_task = suite.as_ref().is_some_and(|suite| suite.ids.contains(id));
        check_turns(turns, is_task, report);
    }
    if let Some(turns) = root.get("default") {
        check_turns(&turns, suite.is_some(), report);
    }
    if let Some(answers) = root.get("answers").filter(LintNode::is_list) {
        collision::check_answers(&answers, report);
        check_answers(&answers, report);
    }
}

/// Checks the ids in a script's `tasks`.
fn check_tasks(tasks: &[(String, LintNode<'_>)], suite: &Suite, report: &mut Report) {
    let mut search = Search::default();
    for (id, turns) in tasks.iter().filter(|(id, _)| !suite.ids.contains(id)) {
        let free = suite.ids.iter().map(String::as_str).filter(|known| !tasks.iter().any(|(id, _)| id == known));
        let mut free: Vec<&str> = free.collect();
        free.sort_unstable();
        let rule = Unknown::new(format!("unknown task `{id}`"), search.nearest(id, free))
            .key()
            // If the suite names the script, it cannot belong to another one.
            .severity(if suite.is_named { Severity::Warning } else { Severity::Hint })
            .note(format!("`{}` has no task with this id", suite.path))
            .or_help("rename it to the id of a task, or remove it".to_owned());
        report.push(rule.at(turns, turns.head()));
    }
}

/// Checks the turns of one task. `is_task`: whether it is a cli-bench task, which ends when the model calls nothing.
fn check_turns(turns: &LintNode<'_>, is_task: bool, report: &mut Report) {
    if !turns.is_list() {
        return;
    }
    let mut last: Option<LintNode<'_>> = None;
    for turn in turns.items().into_iter().filter(LintNode::is_mapping) {
        if let Some(last) = &last {
            let how = if last.get("fail").is_some() { " with an error" } else { "" };
            let note = format!("an earlier turn ends the test{how}");
            let finding = no_effect(&turn, MessageParts::new("this turn is never played").note(note));
            report.push(finding.related(Relation::Labelled("the task ends here"), last.at.clone(), last.head()));
            return;
        }
        check_turn(&turn, report);
        let keys: Vec<String> = turn.entries().into_iter().map(|(key, _)| key).collect();
        let has = |key: &str| keys.iter().any(|known| known == key);
        // A key that is not one of a turn may be a misspelling of one.
        let only_speaks = has("say") && keys.iter().all(|key| ["say", "expect", "usage"].contains(&key.as_str()));
        if has("fail") || is_task && only_speaks && !is_damaged(turn.node) {
            last = Some(turn);
        }
    }
}

fn no_effect(node: &LintNode<'_>, words: MessageParts) -> Finding {
    node.head_problem(Code::NoEffect, words).with_severity(Severity::Warning)
}

fn check_turn(turn: &LintNode<'_>, report: &mut Report) {
    if is_damaged(turn.node) {
        return;
    }
    let (run, call) = (turn.get("run"), turn.get("call"));
    if let Some(fail) = turn.get("fail") {
        check_failure(turn, &fail, &["say", "run", "call", "expect", "usage"], report);
        return;
    }
    // A key similar to one of a turn is reported separately.
    let is_known = |key: &str| ["expect", "usage"].contains(&key);
    if turn.entries().iter().all(|(key, _)| is_known(key)) {
        let words = MessageParts::new("this turn does nothing")
            .note("the model sends an empty reply, which ends the test")
            .help("add `say` or `run`, or remove the turn");
        report.push(no_effect(turn, words));
        return;
    }
    let Some(expect) = turn.get("expect") else { return };
    if run.is_none() && call.is_none() {
        let words = MessageParts::new("`expect` has no effect in a turn that runs nothing")
            .help("move it to the turn that runs the command");
        report.push(no_effect(&expect, words));
        return;
    }
    // The last action of a turn is its call.
    for key in ["exit_code", "error_contains"] {
        if let Some(field) = expect.get(key).filter(|_| call.is_some()) {
            let words = MessageParts::new(format!("`{key}` has no effect in a turn with a `call`"))
                .note("only the result of the call is checked")
                .help("use `output_contains`");
            report.push(no_effect(&field, words));
        }
    }
}

/// Reports a failure with keys that have no effect because of it.
fn check_failure(owner: &LintNode<'_>, fail: &LintNode<'_>, others: &[&'static str], report: &mut Report) {
    for key in others {
        let Some(other) = owner.get(key) else { continue };
        let words = MessageParts::new(format!("`{key}` has no effect with `fail`"))
            .note("the request fails before it is answered")
            .help("remove one of the two");
        let finding = no_effect(&other, words);
        report.push(finding.related(Relation::Labelled("the request fails here"), fail.at.clone(), fail.head()));
    }
}

/// Reports answers without content, and keys that have no effect in an answer that fails.
fn check_answers(answers: &LintNode<'_>, report: &mut Report) {
    let is_read = |answer: &LintNode<'_>| answer.is_mapping() && !is_damaged(answer.node);
    let answers: Vec<LintNode<'_>> = answers.items().into_iter().filter(is_read).collect();
    for answer in &answers {
        if answer.get("say").is_none() && answer.get("fail").is_none() {
            let words = MessageParts::new("missing `say`").help("add `say`, or `fail` to simulate an error");
            report.push(answer.head_problem(Code::MissingField, words));
        }
    }
    for answer in &answers {
        if let Some(fail) = answer.get("fail") {
            check_failure(answer, &fail, &["say", "usage"], report);
        }
    }
}
