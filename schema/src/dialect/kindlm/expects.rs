//! The expectations of a test and of its replies, and what they say about calls of tools.

use crate::spot::Spot;

/// Returns the `expect` of a test, and those of its turns.
pub(crate) fn expects<'d>(test: &Spot<'d>) -> Vec<Spot<'d>> {
    let turns = turns(test);
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect"))).collect()
}

/// Returns the turns of a test.
pub(crate) fn turns<'d>(test: &Spot<'d>) -> Vec<Spot<'d>> {
    test.get("conversation").map(|turns| turns.items()).unwrap_or_default()
}

/// A tool that is expected to be called, or not to be called.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall<'d> {
    pub(crate) name: &'d str,
    /// The value of `tool`.
    pub(crate) tool: Spot<'d>,
    /// The whole item.
    pub(crate) call: Spot<'d>,
    pub(crate) is_forbidden: bool,
}

/// Returns the calls that an `expect` is about, as far as they name their tools.
pub(crate) fn tool_calls<'d>(expect: &Spot<'d>) -> Vec<ToolCall<'d>> {
    let read = |call: Spot<'d>| {
        let tool = call.get("tool")?;
        let is_forbidden = call.get("shouldNotCall").and_then(|spot| spot.bool()) == Some(true);
        Some(ToolCall { name: tool.text()?, tool, call, is_forbidden })
    };
    let calls = expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default();
    calls.into_iter().filter_map(read).collect()
}
