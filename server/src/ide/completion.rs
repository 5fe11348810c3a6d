//! What can be written at the cursor.

mod insert;
mod keys;
#[cfg(test)]
mod tests;
mod texts;
mod values;

use speclens_schema::{document::Document, files::Files, json_schema::SpecFile, problem::Edit};

use super::context::{Context, Layout, Slot};

/// Something that can be written at the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// What the list shows.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Whether it is required, its type, its default; in a few words.
    pub detail: String,
    /// The whole story, as Markdown.
    pub docs: String,
    /// The change. Its lines are indented as they have to be: clients insert it as it is. The range stands
    /// on one line.
    pub edit: Edit,
    /// What comes instead of the edit's text with clients that know snippets. Its further lines are
    /// indented relative to the cursor's line: clients adjust the indentation.
    pub snippet: Option<String>,
    /// The order: compared as text.
    pub sort_key: String,
    /// What has been typed is compared with this.
    pub filter_text: String,
    /// Whether it is most likely wanted.
    pub preselect: bool,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key.
    Field,
    /// A value out of a closed set, or an example of one.
    Value,
    /// The name of something that is defined elsewhere in the file.
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

/// What can be written at `offset`.
pub fn complete(document: &Document, file: SpecFile, offset: usize, files: &dyn Files) -> Vec<Completion> {
    let Some(context) = Context::find(document, file, offset) else { return Vec::new() };
    let mut list = List { document, file, offset, files, context: &context, items: Vec::new() };
    match &context.slot {
        Slot::Key { has_colon, before, quote } => {
            list.keys(&context.shape, context.node, before, *has_colon, *quote);
        }
        Slot::Value { quote } => list.values(*quote),
        Slot::Continued => {
            list.variables();
        }
        Slot::Below => list.below(),
        Slot::Item => list.items_with_dash(&format!("{}- ", context.layout.gap), context.layout.column),
        Slot::Comment => list.codes(),
    }
    list.items
}

struct List<'c> {
    document: &'c Document,
    file: SpecFile,
    offset: usize,
    files: &'c dyn Files,
    context: &'c Context<'c>,
    items: Vec<Completion>,
}

impl List<'_> {
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
            sort_key: format!("{rank}{index:04}"),
            preselect: false,
        });
        &mut self.items[index]
    }

    fn layout(&self) -> &Layout {
        &self.context.layout
    }
}
