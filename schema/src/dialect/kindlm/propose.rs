//! Expectations that hold in recorded attempts: what was said, what was called, what it cost.

use serde_json::{Value, json};

use crate::{
    evidence::{Evidence, Output, ToolCall},
    proposal::Proposal,
    write::{common_lines, common_value, limit_of},
};

const CONTAINS: &[&str] = &["expect", "output", "contains"];
const TOOL_CALLS: &[&str] = &["expect", "toolCalls"];
const TRAJECTORY: &[&str] = &["expect", "trajectory"];
const COST: &[&str] = &["expect", "cost", "maxUsd"];

/// Maximum number of lines of an answer to propose.
const MAX_LINES: usize = 3;

pub(super) fn propose(attempts: &[&Evidence]) -> Vec<Proposal> {
    let outputs: Vec<&Output> = attempts.iter().filter_map(|attempt| attempt.output.as_ref()).collect();
    let Some((first, others)) = outputs.split_first() else { return Vec::new() };
    let texts: Vec<&str> = outputs.iter().map(|output| &*output.text).collect();
    let mut proposals: Vec<Proposal> =
        common_lines(&texts, MAX_LINES).into_iter().map(|line| Proposal::item(CONTAINS, json!(line))).collect();
    let nth = |call: &ToolCall, at: usize| first.tool_calls[..at].iter().filter(|it| it.name == call.name).count();
    let mut calls: Vec<Value> = Vec::new();
    for (at, call) in first.tool_calls.iter().enumerate() {
        // The same call of the other attempts, by its name and number.
        let number = nth(call, at);
        let mut all = vec![&call.arguments];
        for other in others {
            let same = other.tool_calls.iter().filter(|it| it.name == call.name).nth(number);
            all.extend(same.map(|call| &call.arguments));
        }
        let common = common_value(&all).filter(|arguments| arguments.as_object().is_some_and(|it| !it.is_empty()));
        calls.push(match common {
            Some(arguments) => json!({ "tool": call.name, "argsMatch": arguments }),
            None => json!({ "tool": call.name }),
        });
    }
    proposals.extend(Proposal::items(TOOL_CALLS, calls));
    if !first.tool_calls.is_empty() {
        let call = |call: &ToolCall| json!({ "tool": call.name, "args": call.arguments });
        let reference: Vec<Value> = first.tool_calls.iter().map(call).collect();
        if first.tool_calls.iter().all(|call| common_value(&[&call.arguments]).as_ref() == Some(&call.arguments)) {
            proposals.push(Proposal::entry(TRAJECTORY, json!({ "reference": reference, "exactMatch": true })));
        }
        let names: Vec<Value> = first.tool_calls.iter().map(|call| json!({ "tool": call.name })).collect();
        let loose = json!({ "reference": names, "exactMatch": true, "matchArgs": false });
        proposals.push(Proposal::entry(TRAJECTORY, loose));
    }
    let costs = attempts.iter().map(|attempt| attempt.usage.and_then(|usage| usage.cost_usd));
    proposals.extend(limit_of(costs).map(|most| Proposal::entry(COST, json!(most))));
    proposals
}
