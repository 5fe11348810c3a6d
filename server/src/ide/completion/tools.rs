//! Completion of the arguments of tools, as the suite declares them and as the last run of the test has seen them.

use std::collections::HashSet;

use speclens_schema::{
    document::{NodeRef, Pointer},
    quoting::scalar,
    shape::{Shape, Type},
};

use super::list::{CompletionKind, List};
use crate::ide::{context::Context, names};

impl<'c> List<'c> {
    /// Offers the arguments of a tool, in claims about its calls and in its simulated responses: those that its
    /// `parameters` declare, and those of its calls, with their values.
    pub(super) fn arguments(&mut self, present: &HashSet<String>) {
        let Context { at, shape, .. } = self.context;
        let mut offered = self.seen_keys(present);
        if shape.kind() != Type::Mapping {
            return;
        }
        let Some(declared) = self.parameters(shape, at) else { return };
        let colon = if self.has_colon { "" } else { ": " };
        for entry in declared.entries() {
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

    /// Returns the properties that the tool whose arguments a mapping has declares.
    fn parameters(&self, shape: &Shape, at: &Pointer) -> Option<NodeRef<'c>> {
        let declared = |tool: NodeRef<'c>| tool.get("parameters")?.get("properties");
        match shape.arguments_of()? {
            "" => {
                let mut around = std::iter::successors(at.parent(), Pointer::parent);
                declared(around.find_map(|at| self.document.find(&at).filter(|tool| tool.get("parameters").is_some()))?)
            }
            key => {
                let name = self.document.find(&at.parent()?)?.get(key)?.text();
                let all = names::defined_around(self.document, self.file, "tools", at);
                declared(all.into_iter().find(|tool| tool.name.text() == name)?.node)
            }
        }
    }
}
