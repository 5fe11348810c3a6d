//! The parts of a test that several rules look at, each found once.

use crate::lint_node::LintNode;

use super::tools::Tools;

/// A test, its replies, its expectations, and its tools.
#[derive(Debug)]
pub(crate) struct TestParts<'d> {
    pub(crate) test: LintNode<'d>,
    /// Whether the test asks a model: a command has its own tools and replies.
    pub(crate) asks_model: bool,
    /// Items of `conversation`.
    pub(crate) turns: Vec<LintNode<'d>>,
    /// The `expect` of the test, and those of its turns.
    pub(crate) expects: Vec<Expect<'d>>,
    pub(crate) tools: Tools<'d>,
}

/// Expectations of a test or of one of its replies.
#[derive(Debug)]
pub(crate) struct Expect<'d> {
    pub(crate) node: LintNode<'d>,
    pub(crate) output: Option<LintNode<'d>>,
    pub(crate) guardrails: Option<LintNode<'d>>,
    /// The tool calls that have a name.
    pub(crate) calls: Vec<ToolCall<'d>>,
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

impl<'d> TestParts<'d> {
    pub(crate) fn of(test: LintNode<'d>) -> TestParts<'d> {
        let asks_model = test.get("prompt").is_some() && test.get("command").is_none();
        let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
        let expects: Vec<Expect<'d>> = expects(&test, &turns).map(Expect::of).collect();
        let tools = Tools::of(&test, asks_model, &expects);
        TestParts { test, asks_model, turns, expects, tools }
    }

    /// Returns the expected calls of all expectations.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ToolCall<'d>> {
        self.expects.iter().flat_map(|expect| &expect.calls)
    }
}

/// Returns the `expect` of a test, and those of its turns.
pub(crate) fn expects<'d>(test: &LintNode<'d>, turns: &[LintNode<'d>]) -> impl Iterator<Item = LintNode<'d>> {
    test.get("expect").into_iter().chain(turns.iter().filter_map(|turn| turn.get("expect")))
}

impl<'d> Expect<'d> {
    fn of(node: LintNode<'d>) -> Expect<'d> {
        let read = |call: LintNode<'d>| {
            let tool = call.get("tool")?;
            let is_forbidden = call.get("shouldNotCall").and_then(|lint_node| lint_node.bool()) == Some(true);
            Some(ToolCall { name: tool.text()?, tool, call, is_forbidden })
        };
        let calls = node.get("toolCalls").map(|calls| calls.items()).unwrap_or_default();
        let calls = calls.into_iter().filter_map(read).collect();
        Expect { output: node.get("output"), guardrails: node.get("guardrails"), calls, node }
    }

    /// Returns `guardrails.keywords`.
    pub(crate) fn keywords(&self) -> Option<LintNode<'d>> {
        self.guardrails.as_ref()?.get("keywords")
    }

    /// Returns the lists of texts that the reply must or must not contain: `contains`, `notContains`, `deny` and `allow`.
    pub(crate) fn text_lists(&self) -> impl Iterator<Item = LintNode<'d>> {
        let keywords = self.keywords();
        let of = |owner: Option<&LintNode<'d>>, keys: [&str; 2]| keys.map(|key| owner?.get(key));
        let lists = [of(self.output.as_ref(), ["contains", "notContains"]), of(keywords.as_ref(), ["deny", "allow"])];
        lists.into_iter().flatten().flatten()
    }

    /// Returns the calls that must happen.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &ToolCall<'d>> {
        self.calls.iter().filter(|call| !call.is_forbidden)
    }

    /// Returns the calls that must not happen.
    pub(crate) fn forbidden(&self) -> impl Iterator<Item = &ToolCall<'d>> {
        self.calls.iter().filter(|call| call.is_forbidden)
    }
}
