//! Forms: the keys that belong to a tag, and the tags that belong to a key.

use std::{collections::HashSet, ops::Range};

use speclens_schema::{
    document::{NodeRef, Pointer, Shape as NodeShape},
    problem::Edit,
    quoting::{scalar, show},
    shape::{Field, Need, Shape, Variant},
};

use super::{
    insert::{Writer, quoted},
    list::{CompletionKind, List},
};
use crate::ide::{
    markdown,
    snippet::{self, Snippet},
};

/// The log in the examples of the docs, which is replaced by the configured one.
const LOG: &str = "/tmp/openclaw/openclaw-{{today}}.log";

impl List<'_> {
    pub(super) fn guess(&self, at: &Pointer) -> Option<String> {
        self.likely_at(at).first().map(|text| plain(text, self.layout().flow))
    }

    /// Returns the most likely values at a place, as they would be written, best first.
    pub(super) fn likely_at(&self, at: &Pointer) -> Vec<String> {
        let format = self.file.dialect();
        format.map(|format| format.likely(self.file, self.document, at, self.values.files)).unwrap_or_default()
    }

    pub(super) fn with_known(&self, snippet: Snippet) -> Snippet {
        match self.log_path().filter(|path| *path != LOG && snippet.text.contains(LOG)) {
            Some(path) => snippet.replaced(LOG, path),
            None => snippet,
        }
    }

    /// Returns the key and the value that a key requires to have an effect, and the bytes of another value that is
    /// written there. `None` if the key requires none, or it exists.
    pub(super) fn tag_wanted_by(
        &self,
        name: &str,
        holder: &Shape,
        node: Option<NodeRef<'_>>,
    ) -> Option<(&'static str, &'static str, Option<Range<usize>>)> {
        let is_needed = |shape: &Shape, node| {
            let fields: Vec<Field> = shape.fields(node);
            fields.iter().any(|field| field.name == name && field.need == Need::Required)
        };
        if is_needed(holder, node) {
            return None;
        }
        let variant = holder.variants().into_iter().find(|variant| is_needed(&variant.shape, None))?;
        let (key, value) = variant.tag?;
        match node.and_then(|node| node.entry(key)) {
            None => Some((key, value, None)),
            Some(entry) if entry.value.is_through_alias() || entry.value.text() == Some(value) => None,
            Some(entry) => Some((key, value, Some(entry.value.own_range()))),
        }
    }

    /// Offers keys of forms other than that of the written tag, once one is begun: each replaces the tag.
    pub(super) fn fields_of_other_forms(&mut self, present: &HashSet<String>) {
        let shape = &self.context.shape;
        let token = self.context.token.clone();
        let typed = String::from(self.document.text().byte_slice(token.start.min(self.offset)..self.offset));
        let Some(node) = self.context.node.filter(|_| !typed.is_empty()) else { return };
        let own = shape.fields(Some(node));
        if own.iter().any(|field| field.name.starts_with(&typed)) {
            return;
        }
        let variants = shape.variants();
        let Some(key) = variants.iter().find_map(|variant| Some(variant.tag?.0)) else { return };
        let Some(written) = node.entry(key).filter(|entry| !entry.value.is_through_alias()) else { return };
        let Some(tag) = written.value.text().map(str::to_owned) else { return };
        let alike = |other: &str| other.bytes().zip(tag.bytes()).take_while(|(one, two)| one == two).count();
        let mut fitting: Vec<(&Variant, &'static str)> = variants
            .iter()
            .filter(|variant| !variant.shape.is_open())
            .filter_map(|variant| Some((variant, variant.tag?.1)))
            .filter(|(variant, other)| *other != tag && holds_all(variant, present))
            .collect();
        fitting.sort_by_key(|(_, other)| std::cmp::Reverse(alike(other)));
        let mut seen = HashSet::new();
        for (variant, other) in fitting {
            for field in variant.shape.fields(None) {
                let is_new = field.name.starts_with(&typed) && !present.contains(field.name);
                if !is_new || !seen.insert(field.name) {
                    continue;
                }
                self.field(&field, &variant.shape, None, present, 7);
                if let Some(item) = self.items.last_mut() {
                    item.more = vec![Edit { range: written.value.own_range(), text: other.to_owned() }];
                    item.detail = format!("changes `{key}` to {other}");
                }
            }
        }
    }

    /// Returns the text that follows a value if it is the tag of a form, and how well that form fits the existing
    /// keys. Empty if there is no mapping around it.
    pub(super) fn tagged(&self, variant: &Variant) -> Tagged {
        let mapping = self.context.at.parent().and_then(|at| self.document.find(&at));
        let Some(mapping) = mapping.filter(|mapping| mapping.shape() == NodeShape::Mapping) else {
            return Tagged::default();
        };
        let tag = variant.tag.map(|(key, _)| key);
        let present: HashSet<String> =
            mapping.entries().map(|entry| entry.key.key_text()).filter(|key| Some(key.as_str()) != tag).collect();
        let is_last = self.text_behind(self.context.token.end).trim().is_empty();
        let is_present = |name: &str| mapping.entry(name).is_some();
        let fits = holds_all(variant, &present);
        if !is_last || self.layout().flow {
            return Tagged { fits, ..Tagged::default() };
        }
        let column = self.layout().column;
        let snippet = snippet::rest_of_form(variant, &is_present).map(|rest| self.with_known(rest)).map(|rest| {
            let moved = column.saturating_sub(self.layout().indent);
            let blanks = " ".repeat(moved);
            format!("\n{blanks}{}", snippet::indented(&rest.template, moved, "\n"))
        });
        let needed = variant.shape.fields(None);
        let needed = needed.iter().find(|field| field.need == Need::Required && !is_present(field.name));
        let plain = needed.filter(|field| Some(field.name) != tag).map(|field| {
            let guess = |at: &Pointer| self.guess(at);
            let mut writer = Writer::new(self.layout(), &guess, false);
            writer.line(column);
            writer.push(field.name);
            let at = self.context.at.parent().unwrap_or_default().key(field.name);
            writer.value(&field.shape, &at, column);
            writer.finish()
        });
        Tagged { fits, plain: plain.unwrap_or_default(), snippet }
    }

    /// Returns the edits that define a name in the section of its kind, so that it can be referred to.
    pub(super) fn define(&self, kind: &str, name: &str) -> Vec<Edit> {
        let Some(root) = self.document.root() else { return Vec::new() };
        let shape = Shape::of(self.file).step(kind, None).and_then(|section| section.step(name, None));
        let Some(shape) = shape else { return Vec::new() };
        let needed = shape.fields(None).into_iter().filter(|field| field.need == Need::Required);
        let values: Vec<String> = needed
            .map(|field| {
                let example = field.shape.examples().first().map_or_else(|| "\"\"".to_owned(), |value| show(value));
                format!("{}: {example}", field.name)
            })
            .collect();
        let value = if values.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", values.join(", ")) };
        let entry = format!("{}: {value}", scalar(name));
        let line_break = self.layout().line_break;
        let text = self.document.text();
        let line_of = |at: usize| {
            let start = text.line_to_byte(text.byte_to_line(at));
            let before = String::from(text.byte_slice(start..at));
            before.chars().all(|letter| letter == ' ').then_some((start, before))
        };
        let section = root.get(kind).filter(|section| section.shape() == NodeShape::Mapping);
        if let Some(empty) = section.filter(|section| section.entries().next().is_none()) {
            return vec![Edit { range: empty.own_range(), text: format!("{{ {entry} }}") }];
        }
        let place = match section.map(|section| section.entries().next()) {
            Some(first) => first
                .filter(|first| !first.key.is_through_alias())
                .and_then(|first| line_of(first.key.own_range().start))
                .map(|(start, blanks)| (start, format!("{blanks}{entry}{line_break}"))),
            None if root.entry(kind).is_some() => None,
            None => {
                let own = self.context.at.steps().next().and_then(|section| root.entry(&section.text()));
                own.and_then(|own| line_of(own.key.own_range().start))
                    .filter(|(_, blanks)| blanks.is_empty())
                    .map(|(start, _)| (start, format!("{kind}:{line_break}  {entry}{line_break}")))
            }
        };
        place.map(|(at, text)| Edit { range: at..at, text }).into_iter().collect()
    }

    pub(super) fn found(&mut self, rank: usize, text: &str, detail: &str) {
        if text.is_empty() || self.items.iter().any(|item| item.label == text) {
            return;
        }
        let written = match self.quote {
            None => plain(text, self.layout().flow),
            Some(quote) => quoted(text, quote),
        };
        let item = self.offer(rank, text, CompletionKind::Value, &written);
        item.detail = detail.to_owned();
        item.docs = markdown::inline(text);
    }
}

/// The text that follows a tag.
#[derive(Default)]
pub(super) struct Tagged {
    /// Whether all existing keys are allowed.
    pub fits: bool,
    pub plain: String,
    pub snippet: Option<String>,
}

fn holds_all(variant: &Variant, present: &HashSet<String>) -> bool {
    let fields = variant.shape.fields(None);
    present.iter().all(|name| name == "<<" || fields.iter().any(|field| field.name == name))
}

/// Returns a text in YAML: absolute paths, and those with placeholders, need no quotes outside
/// of brackets.
fn plain(text: &str, in_brackets: bool) -> String {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let is_free = |letter: char| is_path(letter) || (!in_brackets && "{}*".contains(letter));
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let is_plain = begins && text.contains('/') && text.len() > 1 && text.chars().all(is_free);
    if is_plain { text.to_owned() } else { scalar(text) }
}
