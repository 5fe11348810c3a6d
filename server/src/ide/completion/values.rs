//! Values: of closed sets, examples, names of what is defined elsewhere.

use std::{collections::HashSet, ops::Range};

use serde_json::Value;
use speclens_schema::{
    document::NodeRef,
    shape::{Field, Need, Shape, Type, Word, show},
};

use super::{CompletionKind, List, insert::written};
use crate::ide::{card, names, snippet};

impl List<'_> {
    /// Values at the cursor.
    pub(super) fn values(&mut self, quote: Option<char>) {
        let shape = self.context.shape.clone();
        let gap = self.layout().gap;
        if self.variables() {
            return;
        }
        match shape.word() {
            Some(Word::Template(_)) => self.scalar_values(&shape, quote, gap, false),
            Some(Word::File(kind)) => {
                self.paths(kind, quote);
                // Logs lie anywhere; of other paths an example helps only where there is none.
                if self.items.is_empty() || kind == "log" {
                    self.scalar_values(&shape, quote, gap, false);
                }
            }
            Some(Word::Pattern(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell) | None => {
                if shape.kind() == Type::Mapping && self.layout().flow {
                    self.mapping_in_brackets(&shape);
                }
                self.scalar_values(&shape, quote, gap, false);
            }
        }
    }

    /// `{ tool: … }` as an item in brackets.
    pub(super) fn mapping_in_brackets(&mut self, shape: &Shape) {
        let fields = shape.fields(None);
        let required: Vec<&Field> = fields.iter().filter(|field| field.need == Need::Required).collect();
        let names: Vec<&str> = required.iter().map(|field| field.name).collect();
        if names.is_empty() {
            return;
        }
        let text: Vec<String> = names.iter().map(|name| format!("{name}: ")).collect();
        let stops: Vec<String> =
            names.iter().enumerate().map(|(index, name)| format!("{name}: ${{{}}}", index + 1)).collect();
        let gap = self.layout().gap;
        let item = self.add(0, names.join(", "), CompletionKind::Snippet, format!("{gap}{{ {} }}", text.join(", ")));
        item.snippet = Some(format!("{gap}{{ {} }}", stops.join(", ")));
        item.detail = "a mapping".to_owned();
    }

    pub(super) fn scalar_values(&mut self, shape: &Shape, quote: Option<char>, lead: &str, is_item: bool) {
        let lead = lead.to_owned();
        if let Some(Word::Refers(kind)) = shape.word() {
            self.references(kind, shape, quote, &lead);
            return;
        }
        let default = shape.default().filter(|_| !is_item);
        let values = shape.values();
        for choice in &values {
            let text = written(choice.value, quote);
            let Some(text) = text else { continue };
            let docs = card::choice(choice);
            let is_default = default == Some(choice.value);
            let item = self.add(0, show(choice.value), CompletionKind::Value, format!("{lead}{text}"));
            item.detail = if is_default { "default".to_owned() } else { String::new() };
            item.docs = docs;
            // Who writes a switch does so to turn it.
            item.preselect = values.len() > 1 && is_default != (shape.kind() == Type::Boolean);
        }
        if !values.is_empty() || matches!(shape.kind(), Type::Mapping | Type::List) {
            return;
        }
        // Examples are there to begin with, not to replace what somebody writes.
        if !self.context.token.is_empty() || matches!(shape.word(), Some(Word::Defines(_))) {
            return;
        }
        self.values_beside(shape, quote, &lead);
        let examples = shape.examples().into_iter().map(|value| (value, "example"));
        for (value, detail) in default.map(|value| (value, "default")).into_iter().chain(examples) {
            let Some(text) = written(value, quote) else { continue };
            if self.items.iter().any(|item| item.label == show(value)) {
                continue;
            }
            let item = self.add(1, show(value), CompletionKind::Value, format!("{lead}{text}"));
            item.detail = detail.to_owned();
        }
    }

    /// Names of what is defined, then names that could be.
    pub(super) fn references(&mut self, kind: &str, shape: &Shape, quote: Option<char>, lead: &str) {
        let taken = self.named_beside();
        let mut seen = HashSet::new();
        for definition in names::defined(self.document, self.file, kind) {
            let name = definition.name.key_text();
            if name.is_empty() || taken.contains(&name) || !seen.insert(name.clone()) {
                continue;
            }
            let text = if quote.is_some() { name.clone() } else { speclens_schema::shape::scalar(&name) };
            let source = String::from(self.document.text().byte_slice(definition.node.own_range()));
            let item = self.add(0, name, CompletionKind::Reference, format!("{lead}{text}"));
            item.detail = kind.trim_end_matches('s').to_owned();
            item.docs = card::source(&snippet::moved_left(&source));
        }
        for choice in shape.values() {
            let name = choice.value.as_str().unwrap_or_default();
            if !seen.contains(name) {
                let item = self.add(1, name, CompletionKind::Value, format!("{lead}{name}"));
                item.detail = format!("not in {kind} yet");
                item.docs = card::choice(&choice);
            }
        }
    }

    /// Values that other cases have in the same list: tags, and the like. Lists that lie deeper hold what is said
    /// of one case.
    fn values_beside(&mut self, shape: &Shape, quote: Option<char>, lead: &str) {
        let steps: Vec<String> = self.context.at.steps().collect();
        let is_index = |step: &String| step.parse::<usize>().is_ok();
        let [section @ .., case, field, last] = steps.as_slice() else { return };
        let is_list_of_case = section.len() <= 1 && is_index(case) && is_index(last);
        if !is_list_of_case || shape.kind() != Type::Text || shape.word().is_some() {
            return;
        }
        let cases = match section.first() {
            Some(section) => self.document.root().and_then(|root| root.get(section)),
            None => self.document.root(),
        };
        let mut seen = self.named_beside();
        let touches = |range: Range<usize>| range.start <= self.offset && self.offset <= range.end;
        let lists = cases.into_iter().flat_map(NodeRef::items).filter_map(|case| case.get(field));
        let mut found: Vec<&str> = Vec::new();
        for value in lists.flat_map(NodeRef::items).filter(|item| !touches(item.range())).filter_map(NodeRef::text) {
            if !value.is_empty() && seen.insert(value.to_owned()) {
                found.push(value);
            }
        }
        for value in found {
            let Some(text) = written(&Value::from(value), quote) else { continue };
            let item = self.add(0, value, CompletionKind::Value, format!("{lead}{text}"));
            item.detail = "used in this file".to_owned();
        }
    }

    /// Names that stand in the same list already.
    pub(super) fn named_beside(&self) -> HashSet<String> {
        let list = self.context.at.parent().and_then(|list| self.document.find(&list));
        let touches = |range: Range<usize>| range.start <= self.offset && self.offset <= range.end;
        let others = list.into_iter().flat_map(NodeRef::items).filter(|item| !touches(item.range()));
        others.filter_map(NodeRef::text).map(str::to_owned).collect()
    }
}
