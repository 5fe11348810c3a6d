//! Completion of tools: their names and arguments, as the suite declares them and as the last run of the test has seen
//! them.

use std::collections::HashSet;

use speclens_schema::{
    document::{NodeRef, Pointer},
    evidence::{ToolCall, has_hidden},
    quoting::{scalar, show},
    shape::{Shape, Type},
    suite::{list_of_cases, name_of_item},
};

use super::list::{CompletionKind, List};
use crate::ide::{context::Context, names};

const SEEN: &str = "in the last run";

impl<'c> List<'c> {
    /// Returns the calls of tools in the last run of the test around the cursor.
    fn calls(&self) -> Vec<ToolCall> {
        let test = || {
            let list = list_of_cases(self.file)?;
            let number = self.context.at.below(&list)?.steps().next()?.index()?;
            name_of_item(self.file, self.document.find(&list.index(number))?)
        };
        self.latest.zip(test()).map(|(latest, test)| latest.calls_of(test)).unwrap_or_default()
    }

    /// Offers the tools that were called.
    pub(super) fn called_tools(&mut self) {
        let taken = self.named_beside();
        for call in self.calls() {
            if !taken.contains(&call.name) && !call.name.is_empty() && !has_hidden(&call.name.as_str().into()) {
                self.found(0, &call.name, SEEN);
            }
        }
    }

    /// Offers the arguments of a tool, in claims about its calls and in its simulated responses: those that its
    /// `parameters` declare, and those of its calls, with their values.
    pub(super) fn arguments(&mut self, present: &HashSet<String>) {
        let Context { at, shape, .. } = self.context;
        if shape.kind() != Type::Mapping {
            return;
        }
        let Some(Tool { name, declared }) = self.tool_of(shape, at) else { return };
        let colon = if self.has_colon { "" } else { ": " };
        let mut offered = present.clone();
        let calls: Vec<ToolCall> = self.calls().into_iter().filter(|call| Some(call.name.as_str()) == name).collect();
        let seen = calls.iter().filter_map(|call| call.arguments.as_object()).flatten();
        let seen: Vec<_> = seen.filter(|(_, value)| !has_hidden(value)).collect();
        for (argument, value) in &seen {
            if offered.insert((*argument).clone()) {
                let value = if self.has_colon { String::new() } else { show(value) };
                let item =
                    self.offer(0, *argument, CompletionKind::Field, &format!("{}{colon}{value}", scalar(argument)));
                item.detail = format!("{value} {SEEN}").trim_start().to_owned();
            }
        }
        for entry in declared.into_iter().flat_map(NodeRef::entries) {
            let argument = entry.key.key_text();
            let docs = entry.value.get("description").and_then(NodeRef::text).unwrap_or_default();
            if let Some(item) = self.items.iter_mut().find(|item| item.label == argument) {
                item.docs = docs.to_owned();
                continue;
            }
            if argument.is_empty() || !offered.insert(argument.clone()) {
                continue;
            }
            let text = format!("{}{colon}", scalar(&argument));
            let item = self.offer(0, argument, CompletionKind::Field, &text);
            item.detail = entry.value.get("type").and_then(NodeRef::text).unwrap_or("argument").to_owned();
            item.docs = docs.to_owned();
        }
    }

    /// Returns the tool whose arguments a mapping has.
    fn tool_of(&self, shape: &Shape, at: &Pointer) -> Option<Tool<'c>> {
        let declared = |tool: NodeRef<'c>| tool.get("parameters")?.get("properties");
        match shape.arguments_of()? {
            "" => {
                let mut around = std::iter::successors(at.parent(), Pointer::parent);
                let tool =
                    around.find_map(|at| self.document.find(&at).filter(|tool| tool.get("parameters").is_some()))?;
                Some(Tool { name: tool.get("name").and_then(NodeRef::text), declared: declared(tool) })
            }
            key => {
                let name = self.document.find(&at.parent()?)?.get(key)?.text();
                let all = names::defined_around(self.document, self.file, "tools", at);
                let tool = all.into_iter().find(|tool| tool.name.text() == name);
                Some(Tool { name, declared: tool.and_then(|tool| declared(tool.node)) })
            }
        }
    }
}

struct Tool<'d> {
    name: Option<&'d str>,
    /// The properties of its arguments.
    declared: Option<NodeRef<'d>>,
}
