//! Completion at the cursor.

mod aliases;
mod directives;
mod forms;
mod insert;
mod keys;
mod known;
#[cfg(test)]
mod tests;
mod texts;
mod values;

use std::{cell::OnceCell, ops::Range};

use speclens_schema::{document::Document, json_schema::SpecFile, problem::Edit, shape::OtherName};

use super::{
    context::{Context, Layout, Slot},
    values::Values,
};

/// An item that can be inserted at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completion {
    /// The text in the list.
    pub label: String,
    /// The kind.
    pub kind: CompletionKind,
    /// A short description: whether it is required, its type, its default.
    pub detail: String,
    /// The full documentation, as Markdown.
    pub docs: String,
    /// The edit. Its lines are already indented: clients insert them unchanged. The range is on one line.
    pub edit: Edit,
    /// The text for clients that support snippets, instead of that of the edit. Lines after the first are
    /// indented relative to the cursor's line: clients adjust the indentation.
    pub snippet: Option<String>,
    /// Further edits of the document that make the item valid.
    pub more: Vec<Edit>,
    /// The sort key, compared as text.
    pub sort_key: String,
    /// The text that the typed characters are compared with.
    pub filter_text: String,
    /// Whether it is the most likely choice.
    pub preselect: bool,
}

/// Kinds of completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionKind {
    /// A key.
    Field,
    /// A value of a closed set, or an example of one.
    Value,
    /// The name of a definition elsewhere in the file.
    Reference,
    /// A variable in `{{…}}`.
    Variable,
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A whole claim, or a whole test.
    Snippet,
}

/// Returns the names of a kind in other files that are candidates at the cursor.
pub(crate) type NamesElsewhere<'e> = dyn Fn(&str) -> Vec<String> + 'e;

/// Returns the completions at `offset`, including names from other files.
pub(crate) fn complete(
    document: &Document,
    file: SpecFile,
    offset: usize,
    values: Values<'_>,
    elsewhere: &NamesElsewhere<'_>,
) -> Vec<Completion> {
    if let Some(found) = aliases::aliases(document, file, offset) {
        return found;
    }
    let Some(context) = Context::find(document, file, offset) else { return Vec::new() };
    let (has_colon, quote) = match &context.slot {
        Slot::Key { has_colon, quote, .. } => (*has_colon, *quote),
        Slot::Value { quote } => (false, *quote),
        Slot::Continued | Slot::Below | Slot::Item | Slot::Comment => (false, None),
    };
    let mut list = List {
        document,
        file,
        offset,
        values,
        elsewhere,
        context: &context,
        has_colon,
        quote,
        lead: context.layout.gap.to_owned(),
        log_path: OnceCell::new(),
        items: Vec::new(),
    };
    match &context.slot {
        Slot::Key { .. } => list.keys(),
        Slot::Value { .. } => list.values(),
        Slot::Continued => {
            list.variables();
        }
        Slot::Below => list.below(),
        Slot::Item => list.items_with_dash(),
        Slot::Comment => list.directives(),
    }
    list.prefixes_first();
    list.items
}

/// Returns the part of the replaced text before the cursor, in lower case.
fn typed(document: &Document, replaced: &Range<usize>, offset: usize) -> String {
    let before = String::from(document.text().byte_slice(replaced.start.min(offset)..offset));
    before.trim_start().to_lowercase()
}

struct List<'c> {
    document: &'c Document,
    file: SpecFile,
    offset: usize,
    values: Values<'c>,
    elsewhere: &'c NamesElsewhere<'c>,
    context: &'c Context<'c>,
    /// Whether the key at the cursor has a colon already.
    has_colon: bool,
    /// The quote around the cursor.
    quote: Option<char>,
    /// The text to insert before an item.
    lead: String,
    /// The gateway log, once requested: see [`List::log_path`].
    log_path: OnceCell<Option<String>>,
    items: Vec<Completion>,
}

impl<'c> List<'c> {
    /// Offers a text after the text that goes before every item.
    fn offer(&mut self, rank: usize, label: impl Into<String>, kind: CompletionKind, text: &str) -> &mut Completion {
        self.add(rank, label, kind, format!("{}{text}", self.lead))
    }

    /// Offers a text as it is.
    fn add(&mut self, rank: usize, label: impl Into<String>, kind: CompletionKind, text: String) -> &mut Completion {
        let label = label.into();
        let index = self.items.len();
        self.items.push(Completion {
            filter_text: label.clone(),
            label,
            kind,
            detail: String::new(),
            docs: String::new(),
            edit: Edit { range: self.context.token.clone(), text },
            snippet: None,
            more: Vec::new(),
            sort_key: format!("{rank}{index:04}"),
            preselect: false,
        });
        &mut self.items[index]
    }

    /// Sorts items that begin with the typed characters before those that only contain them.
    fn prefixes_first(&mut self) {
        for item in &mut self.items {
            let typed = typed(self.document, &item.edit.range, self.offset);
            if !typed.is_empty() && !item.filter_text.to_lowercase().starts_with(&typed) {
                item.sort_key.insert(0, '~');
            }
        }
    }

    /// Offers items under their alternative names as well, once characters of such a name are typed.
    fn by_other_names(&mut self, names: impl Iterator<Item = (String, OtherName)>) {
        let typed = typed(self.document, &self.context.token, self.offset);
        if typed.is_empty() {
            return;
        }
        // If the real name also matches, it is sufficient.
        let is_typed = |(real, other): &(String, OtherName)| {
            let begins = |name: &str| name.to_lowercase().starts_with(&typed);
            begins(other.name) && !begins(real) && !other.name.starts_with(real.as_str())
        };
        for (real, other) in names.filter(is_typed) {
            let is_real = |item: &&Completion| item.label == real && item.kind != CompletionKind::Snippet;
            let Some(item) = self.items.iter().find(is_real) else { continue };
            let label = format!("{} → {real}", other.name);
            // Sorted last because the typed text may also be meant literally.
            let sort_key = format!("4{}", item.sort_key);
            let filter_text = other.name.to_owned();
            self.items.push(Completion { label, filter_text, sort_key, preselect: false, ..item.clone() });
        }
    }

    /// Returns the gateway log as a path in a contract.
    fn log_path(&self) -> Option<&str> {
        let format = || self.file.dialect().filter(|_| self.file.has_cases());
        self.log_path.get_or_init(|| format()?.log(self.values.files)).as_deref()
    }

    fn layout(&self) -> &'c Layout {
        &self.context.layout
    }
}
