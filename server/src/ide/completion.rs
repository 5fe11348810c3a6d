//! Completion at the cursor.

mod aliases;
mod directives;
mod forms;
mod insert;
mod keys;
mod list;
mod seen;
#[cfg(test)]
mod tests;
mod texts;
mod tools;
mod values;

use std::cell::OnceCell;

use speclens_schema::{document::Document, json_schema::SpecFile};

use super::{
    context::{Context, Slot},
    latest::Latest,
    values::Values,
};
use list::List;

pub(crate) use list::{Completion, CompletionKind, NamesElsewhere};

pub(crate) fn complete(
    document: &Document,
    file: SpecFile,
    offset: usize,
    values: Values<'_>,
    elsewhere: &NamesElsewhere<'_>,
    latest: Option<&Latest>,
) -> Vec<Completion> {
    if let Some(found) = aliases::aliases(document, file, offset) {
        return found;
    }
    let fill = |context: &Context<'_>| {
        let (has_colon, quote) = match &context.slot {
            Slot::Key { has_colon, quote, .. } => (*has_colon, *quote),
            Slot::Value { quote } => (false, *quote),
            Slot::Continued | Slot::Below | Slot::Item | Slot::Comment => (false, None),
        };
        let (lead, log_path) = (context.layout.gap.clone(), OnceCell::new());
        let (seen, items) = (0..0, Vec::new());
        List {
            document,
            file,
            offset,
            values,
            elsewhere,
            latest,
            context,
            has_colon,
            quote,
            lead,
            log_path,
            seen,
            items,
        }
        .filled()
    };
    // Below the first key of an item, its other keys come before other items.
    let mut found = Context::inside(document, file, offset).map(|context| fill(&context)).unwrap_or_default();
    let others = Context::find(document, file, offset).map(|context| fill(&context)).unwrap_or_default();
    if found.is_empty() {
        return others;
    }
    let is_new = |item: &Completion| found.iter().all(|known| known.label != item.label);
    let others = others.into_iter().filter(is_new);
    let last = |item: Completion| Completion { sort_key: format!("9{}", item.sort_key), preselect: false, ..item };
    let others: Vec<Completion> = others.map(last).collect();
    found.extend(others);
    found
}

impl List<'_> {
    fn filled(mut self) -> Vec<Completion> {
        match &self.context.slot {
            Slot::Key { .. } => self.keys(),
            Slot::Value { .. } => self.values(),
            Slot::Continued => {
                self.variables();
            }
            Slot::Below => self.below(),
            Slot::Item => self.items_with_dash(),
            Slot::Comment => self.directives(),
        }
        self.join_seen();
        self.prefixes_first();
        self.items
    }
}
