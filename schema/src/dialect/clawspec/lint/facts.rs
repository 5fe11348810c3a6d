//! What an item says that matters to others.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    spot::Spot,
};

/// A name where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it stands, from the item.
    pub at: Pointer,
    /// Its bytes, counted from the item's first byte.
    pub range: Range<usize>,
}

/// What an item says that matters to others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemFacts {
    /// Its name.
    pub name: Option<Named>,
    /// Whether it is tagged `negative`.
    pub negative: bool,
    /// The agent that a stage names.
    pub agent: Option<Named>,
    /// The handoff contract that a stage names.
    pub handoff: Option<Named>,
}

/// The facts of a scenario or a stage.
pub(super) fn of(item: NodeRef<'_>) -> ItemFacts {
    let start = item.range().start;
    let item = Spot::root(item);
    let named = |key: &str| {
        let spot = item.get(key)?;
        let range = spot.range();
        Some(Named {
            name: spot.text()?.to_owned(),
            at: spot.at.clone(),
            range: range.start.saturating_sub(start)..range.end.saturating_sub(start),
        })
    };
    let tags = item.get("tags").map(|tags| tags.texts()).unwrap_or_default();
    // Tags that are written as one text are another mistake.
    let in_text = item.get("tags").and_then(|tags| tags.text().map(|text| text.contains("negative")));
    ItemFacts {
        name: named("name"),
        negative: in_text == Some(true) || tags.iter().any(|(tag, _)| *tag == "negative"),
        agent: named("agent"),
        handoff: named("handoff_contract"),
    }
}
