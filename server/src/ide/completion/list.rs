//! The list that is offered, and its items.

use std::{cell::OnceCell, ops::Range};

use speclens_schema::{document::Document, json_schema::SpecFile, problem::Edit, shape::OtherName};

use crate::ide::{
    context::{Context, Layout},
    latest::Latest,
    values::Values,
};

/// An item that can be inserted at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Completion {
    pub label: String,
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
    pub sort_key: String,
    /// The text that the typed characters are compared with.
    pub filter_text: String,
    /// Whether it is the most likely choice.
    pub preselect: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionKind {
    Field,
    /// A value of a closed set, or an example of one.
    Value,
    /// The name of a definition elsewhere in the file.
    Reference,
    Variable,
    File,
    Directory,
    /// A whole claim, or a whole test.
    Snippet,
}

/// Returns the names of a kind in other files that are candidates at the cursor.
pub(crate) type NamesElsewhere<'e> = dyn Fn(&str) -> Vec<String> + 'e;

/// Returns the part of the replaced text before the cursor, in lower case.
fn typed(document: &Document, replaced: &Range<usize>, offset: usize) -> String {
    let before = String::from(document.text().byte_slice(replaced.start.min(offset)..offset));
    before.trim_start().to_lowercase()
}

pub(super) struct List<'c> {
    pub(super) document: &'c Document,
    pub(super) file: SpecFile,
    pub(super) offset: usize,
    pub(super) values: Values<'c>,
    pub(super) elsewhere: &'c NamesElsewhere<'c>,
    /// The last known results of the suite.
    pub(super) latest: Option<&'c Latest>,
    pub(super) context: &'c Context<'c>,
    /// Whether the key at the cursor has a colon already.
    pub(super) has_colon: bool,
    pub(super) quote: Option<char>,
    /// The text to insert before an item.
    pub(super) lead: String,
    /// The gateway log, once requested: see [`List::log_path`].
    pub(super) log_path: OnceCell<Option<String>>,
    /// The places of the items that the last run has seen.
    pub(super) seen: Range<usize>,
    pub(super) items: Vec<Completion>,
}

impl<'c> List<'c> {
    pub(super) fn offer(
        &mut self,
        rank: usize,
        label: impl Into<String>,
        kind: CompletionKind,
        text: &str,
    ) -> &mut Completion {
        self.add(rank, label, kind, format!("{}{text}", self.lead))
    }

    pub(super) fn add(
        &mut self,
        rank: usize,
        label: impl Into<String>,
        kind: CompletionKind,
        text: String,
    ) -> &mut Completion {
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

    /// Leaves one item of each value that was seen and is offered for another reason as well: in the place of the former,
    /// with the words of the latter.
    pub(super) fn join_seen(&mut self) {
        let seen: Vec<Completion> = self.items.drain(self.seen.clone()).collect();
        for item in seen {
            let is_same = |other: &&mut Completion| other.label == item.label && other.kind != CompletionKind::Snippet;
            let Some(other) = self.items.iter_mut().find(is_same) else {
                self.items.push(item);
                continue;
            };
            let parts = [other.detail.as_str(), item.detail.as_str()];
            other.detail = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ");
            other.sort_key = item.sort_key;
        }
    }

    /// Sorts items that begin with the typed characters before those that only contain them.
    pub(super) fn prefixes_first(&mut self) {
        for item in &mut self.items {
            let typed = typed(self.document, &item.edit.range, self.offset);
            if !typed.is_empty() && !item.filter_text.to_lowercase().starts_with(&typed) {
                item.sort_key.insert(0, '~');
            }
        }
    }

    /// Offers items under their alternative names as well, once characters of such a name are typed.
    pub(super) fn by_other_names(&mut self, names: impl Iterator<Item = (String, OtherName)>) {
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

    pub(super) fn log_path(&self) -> Option<&str> {
        let format = || self.file.dialect().filter(|_| self.file.has_cases());
        self.log_path.get_or_init(|| format()?.log(self.values.files)).as_deref()
    }

    pub(super) fn layout(&self) -> &'c Layout {
        &self.context.layout
    }
}
