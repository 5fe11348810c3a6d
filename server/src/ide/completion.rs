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
        latest,
        context: &context,
        has_colon,
        quote,
        lead: context.layout.gap.clone(),
        log_path: OnceCell::new(),
        seen: 0..0,
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
    list.join_seen();
    list.prefixes_first();
    list.items
}
