//! Turns of a script that are never played or do nothing, and ignored keys of a turn.

use crate::{
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
    validate::is_damaged,
};

/// Checks the turns of one task. `is_task`: whether it is a cli-bench task, which ends when the model calls nothing.
pub(crate) fn check_turns(turns: &LintNode<'_>, is_task: bool, report: &mut Report) {
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

pub(crate) fn check_answers(answers: &LintNode<'_>, report: &mut Report) {
    for answer in answers.items().into_iter().filter(|answer| answer.is_mapping() && !is_damaged(answer.node)) {
        if let Some(fail) = answer.get("fail") {
            check_failure(&answer, &fail, &["say", "usage"], report);
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
