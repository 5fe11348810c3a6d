//! Tools that a test gives to the model, and expected calls of other tools.

use std::collections::HashMap;

use crate::{lint_node::LintNode, words::Search};

use super::parts::{Expect, ToolCall};

/// A tool that a test gives to the model.
#[derive(Clone, Debug)]
pub(crate) struct Tool<'d> {
    pub(crate) name: &'d str,
    pub(crate) lint_node: LintNode<'d>,
}

/// Tools of a test, and the calls that its expectations name.
#[derive(Debug, Default)]
pub(crate) struct Tools<'d> {
    pub(crate) tools: Vec<Tool<'d>>,
    /// Index of the first tool of each name, which answers every call.
    first: HashMap<&'d str, usize>,
    /// Expected calls of tools that the test does not define.
    pub(crate) unknown: Vec<UnknownCall<'d>>,
}

/// An expected call of a tool that the test does not define.
#[derive(Debug)]
pub(crate) struct UnknownCall<'d> {
    pub(crate) call: ToolCall<'d>,
    /// Most similar tool name.
    pub(crate) near: Option<&'d str>,
}

impl<'d> Tools<'d> {
    /// Reads the tools of a test, which a command does not get. If there are none, no call is unknown.
    pub(crate) fn of(test: &LintNode<'d>, asks_model: bool, expects: &[Expect<'d>]) -> Tools<'d> {
        let list = test.get("tools").filter(|tools| asks_model && tools.is_list());
        let named = |lint_node: LintNode<'d>| Some(Tool { name: lint_node.get("name")?.text()?, lint_node });
        let tools: Vec<Tool<'d>> =
            list.map(|tools| tools.items()).unwrap_or_default().into_iter().filter_map(named).collect();
        if tools.is_empty() {
            return Tools::default();
        }
        let first: HashMap<&str, usize> =
            tools.iter().enumerate().rev().map(|(number, tool)| (tool.name, number)).collect();
        let mut search = Search::default();
        let calls = expects.iter().flat_map(|expect| expect.calls.iter().cloned());
        let unknown = calls.filter(|call| !first.contains_key(call.name)).map(|call| {
            let near = search.nearest(call.name, tools.iter().map(|tool| tool.name));
            UnknownCall { call, near }
        });
        let unknown = unknown.collect();
        Tools { tools, first, unknown }
    }

    /// Returns the tool that answers calls with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Tool<'d>> {
        self.first.get(name).map(|number| &self.tools[*number])
    }
}
