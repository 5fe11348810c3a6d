//! Expectations of a test and of its replies, and the tool calls that they name.

use crate::lint_node::LintNode;

/// Returns the `expect` of a test, and those of its turns.
pub(crate) fn expects<'d>(test: &LintNode<'d>) -> Vec<LintNode<'d>> {
    let turns = turns(test);
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect"))).collect()
}

/// Returns the turns of a test.
pub(crate) fn turns<'d>(test: &LintNode<'d>) -> Vec<LintNode<'d>> {
    test.get("conversation").map(|turns| turns.items()).unwrap_or_default()
}

/// A tool that is expected to be called, or not to be called.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall<'d> {
    pub(crate) name: &'d str,
    /// Value of `tool`.
    pub(crate) tool: LintNode<'d>,
    /// The whole item.
    pub(crate) call: LintNode<'d>,
    pub(crate) is_forbidden: bool,
}

/// Returns the tool calls of an `expect` that have a name.
pub(crate) fn tool_calls<'d>(expect: &LintNode<'d>) -> Vec<ToolCall<'d>> {
    let read = |call: LintNode<'d>| {
        let tool = call.get("tool")?;
        let is_forbidden = call.get("shouldNotCall").and_then(|lint_node| lint_node.bool()) == Some(true);
        Some(ToolCall { name: tool.text()?, tool, call, is_forbidden })
    };
    let calls = expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default();
    calls.into_iter().filter_map(read).collect()
}
