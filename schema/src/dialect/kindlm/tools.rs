//! The tools that a test gives to the model, and the expected calls of others.

use std::collections::HashMap;

use crate::{spot::Spot, words::Search};

use super::expects::{ToolCall, expects, tool_calls};

/// A tool that a test gives to the model.
#[derive(Clone, Debug)]
pub(crate) struct Tool<'d> {
    pub(crate) name: &'d str,
    pub(crate) spot: Spot<'d>,
}

/// The tools of a test, and how its expectations name them.
#[derive(Debug, Default)]
pub(crate) struct Tools<'d> {
    pub(crate) tools: Vec<Tool<'d>>,
    /// The number of the first tool of each name: it answers every call.
    first: HashMap<&'d str, usize>,
    /// The expectations about tools that the test does not give.
    pub(crate) unknown: Vec<UnknownCall<'d>>,
}

/// An expectation about a tool that the test does not give.
#[derive(Debug)]
pub(crate) struct UnknownCall<'d> {
    pub(crate) call: ToolCall<'d>,
    /// The tool that is most likely meant.
    pub(crate) near: Option<&'d str>,
}

/// Whether the model is asked: a command brings its own tools, and its own replies.
pub(crate) fn asks_model(test: &Spot<'_>) -> bool {
    test.get("prompt").is_some() && test.get("command").is_none()
}

impl<'d> Tools<'d> {
    /// Reads the tools of a test. Where it gives none, nothing is unknown.
    pub(crate) fn of(test: &Spot<'d>) -> Tools<'d> {
        let list = test.get("tools").filter(|tools| asks_model(test) && tools.is_list());
        let named = |spot: Spot<'d>| Some(Tool { name: spot.get("name")?.text()?, spot });
        let tools: Vec<Tool<'d>> =
            list.map(|tools| tools.items()).unwrap_or_default().into_iter().filter_map(named).collect();
        if tools.is_empty() {
            return Tools::default();
        }
        let first: HashMap<&str, usize> =
            tools.iter().enumerate().rev().map(|(number, tool)| (tool.name, number)).collect();
        let mut search = Search::default();
        let calls = expects(test).into_iter().flat_map(|expect| tool_calls(&expect));
        let unknown = calls.filter(|call| !first.contains_key(call.name)).map(|call| {
            let near = search.nearest(call.name, tools.iter().map(|tool| tool.name));
            UnknownCall { call, near }
        });
        let unknown = unknown.collect();
        Tools { tools, first, unknown }
    }

    /// Returns the tool that answers the calls of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Tool<'d>> {
        self.first.get(name).map(|number| &self.tools[*number])
    }

    /// Returns the tools whose name an earlier one has, with that one.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = (&Tool<'d>, &Tool<'d>)> {
        let numbered = self.tools.iter().enumerate();
        numbered.filter_map(|(number, tool)| {
            let first = self.first[tool.name];
            (first != number).then(|| (tool, &self.tools[first]))
        })
    }
}
