//! Tools that a test of KindLM does not define, and unknown arguments of those that it defines.

use crate::{
    dialect::kindlm::{parts::TestParts, tools::Tool},
    finding::Report,
    lint_node::LintNode,
    words::{Search, all_of},
};

use crate::rules::unknown_reference::{Unknown, use_or_add};

/// Checks the tools in expectations, and their arguments.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    let tools = &parts.tools;
    for tool in &tools.tools {
        let responses = tool.lint_node.get("responses").map(|list| list.items()).unwrap_or_default();
        for when in responses.iter().filter_map(|response| response.get("when")) {
            check_arguments(tool, &when, report);
        }
    }
    for call in parts.calls() {
        if let Some((tool, args)) = tools.get(call.name).zip(call.call.get("argsMatch")) {
            check_arguments(tool, &args, report);
        }
    }
    for unknown in tools.unknown.iter().filter(|unknown| !unknown.call.is_forbidden || unknown.near.is_some()) {
        let mut names: Vec<&str> = tools.tools.iter().map(|tool| tool.name).collect();
        names.dedup();
        let rule = Unknown::new(format!("unknown tool `{}`", unknown.call.name), unknown.near);
        let help = use_or_add(names.iter().copied(), unknown.call.name, "`tools`");
        report
            .push(unknown.call.tool.finding(rule.or_note_and_help(format!("`tools` defines {}", all_of(names)), help)));
    }
}

fn check_arguments(tool: &Tool<'_>, args: &LintNode<'_>, report: &mut Report) {
    let Some(parameters) = tool.lint_node.get("parameters") else { return };
    let Some(properties) = parameters.get("properties").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let is_open = parameters.get("additionalProperties").is_some_and(|more| more.bool() != Some(false));
    if is_open || parameters.get("patternProperties").is_some() {
        return;
    }
    let known: Vec<String> = properties.entries().into_iter().map(|(key, _)| key).collect();
    let mut search = Search::default();
    for (argument, arg) in args.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
        let near = search.nearest(&argument, known.iter().map(String::as_str));
        let rule = Unknown::new(format!("`{}` has no argument `{argument}`", tool.name), near)
            .key()
            .or_note(format!("it has {}", all_of(known.iter().map(String::as_str))));
        report.push(arg.head_finding(rule));
    }
}
