//! Expectations and gates of KindLM that always hold, because of other parts of the test or of the suite.

use crate::{
    dialect::kindlm::{
        facts::{About, Placed, SuiteFacts},
        parts::{Expect, TestParts},
    },
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Checks the expectations of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    if let Some(expect) = parts.test.get("expect").filter(|_| are_idle(&parts.expects)) {
        let help = "add an expectation about what must happen, such as `contains`";
        // A model answers in most cases, and a test may only be about what it must not say.
        report.push(if parts.asks_model {
            let words = MessageParts::new("an empty reply without tool calls meets all of these expectations");
            expect.head_absence(Code::VacuousClaim, words.help(help)).with_severity(Severity::Hint)
        } else {
            let words = MessageParts::new("a command that does nothing meets all of these expectations");
            expect.head_absence(Code::VacuousClaim, words.note("its exit code is not checked").help(help))
        });
    }
    for unknown in parts.tools.unknown.iter().filter(|unknown| unknown.call.is_forbidden && unknown.near.is_none()) {
        let name = unknown.call.name;
        let words = MessageParts::new(format!("the model does not have the tool `{name}`, so it cannot call it"))
            .help(format!("add `{name}` to `tools`"));
        report.push(unknown.call.tool.absence(Code::VacuousClaim, words).with_severity(Severity::Hint));
    }
}

/// Whether there are expectations, and an empty reply without tool calls meets all of them.
fn are_idle(expects: &[Expect<'_>]) -> bool {
    let mut forbids_something = false;
    let mut is_idle = |(key, part): &(String, LintNode<'_>)| {
        // An empty list is reported separately.
        let has = |keys: &[&str]| part.find(keys).is_some_and(|list| !list.is_empty());
        let (only, forbids): (&[&str], bool) = match key.as_str() {
            "output" => (&["format", "notContains", "maxLength"], has(&["notContains"])),
            "guardrails" => {
                let is_off = part.find(&["pii", "enabled"]).and_then(|it| it.bool()) == Some(false);
                (&["pii", "keywords"], part.get("pii").is_some() && !is_off || has(&["keywords", "deny"]))
            }
            "toolCalls" => {
                let is_forbidden = |call: &LintNode<'_>| {
                    call.get("shouldNotCall").and_then(|forbidden| forbidden.bool()) == Some(true)
                };
                forbids_something |= !part.is_empty();
                return part.is_list() && part.items().iter().all(is_forbidden);
            }
            "latency" | "cost" => return true,
            _ => return false,
        };
        forbids_something |= forbids;
        let is_json = part.text_at("format").is_some_and(|format| format != "text");
        let has_allowed = has(&["keywords", "allow"]);
        part.is_mapping()
            && !is_json
            && !has_allowed
            && part.entries().iter().all(|(key, _)| only.contains(&key.as_str()))
    };
    expects.iter().flat_map(|expect| expect.node.entries()).all(|entry| is_idle(&entry)) && forbids_something
}

/// Reports gates about expectations that no test has, and latency limits that a timeout guarantees.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    // The missing part may be in text that cannot be parsed.
    if suite.tests.is_empty() || suite.has_damage() {
        return;
    }
    let judged = suite.has(About::Judge);
    let drifts = suite.has(About::Drift);
    let plain = suite.has(About::PlainClaims);
    for gate in &suite.root.gates {
        let reason = match gate.name.as_str() {
            "judgeAvgMin" if !judged => "no test has a `judge`",
            "driftScoreMax" if !drifts => "no test has a `baseline` with `drift`",
            "probabilisticPassRate" if !judged && !drifts => "no test has a `judge` or a `baseline`",
            "deterministicPassRate" if !plain => "every expectation is a `judge` or a `baseline`",
            "costMaxUsd" if !judged && !drifts && !suite.has(About::Paid) => {
                "every test is a command, whose cost counts as 0"
            }
            _ => continue,
        };
        let words = MessageParts::new(format!("the gate `{}` cannot fail", gate.name)).note(reason).help("remove it");
        report.push(Placed::of_root(gate).absence(Code::VacuousClaim, words));
    }
    let Some(timeout) = suite.root.timeout_ms else { return };
    for test in suite.about(About::Latency).filter(|test| test.facts.has_command && test.facts.prompt.is_none()) {
        if let Some((latency, most)) = test.facts.latency.as_deref()
            && most.is_finite()
            && *most >= timeout
        {
            let words = MessageParts::new(format!("no command exceeds `maxMs: {most}`"))
                .note(format!("`defaults.timeoutMs` stops it after {timeout} ms"))
                .help(format!("lower it below {timeout}, or raise `defaults.timeoutMs`"));
            report.push(test.place(latency).problem(Code::VacuousClaim, words));
        }
    }
}
