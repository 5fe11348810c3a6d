//! Changes a failed assertion so that it says less, or removes it.

use serde_json::Value;

use crate::{
    check::fragment::shared_fragment,
    document::{Document, EntryRef, NodeRef, Pointer, Step},
    edit,
    json_schema::SpecFile,
    problem::Edit,
    quoting::scalar,
    shape::{Need, Shape, keywords::Looser},
};

/// Returns the ways in which a failed assertion can say less, as they would be written, with their edits. `at` is the
/// part that fails, and `seen` the texts that were observed there.
pub fn loosened(
    file: SpecFile,
    document: &Document,
    (claim, at): (&Pointer, &Pointer),
    seen: &[String],
) -> Vec<(String, Vec<Edit>)> {
    let Some(below) = at.below(claim).filter(|_| !edit::nodes::is_shared(document, at)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut place = claim.clone();
    for step in below.steps() {
        let holder = place.clone();
        place = place.step(&step);
        let (Some(mapping), Step::Key(key)) = (document.find(&holder), step) else { continue };
        let Some(entry) = entry(mapping, &key) else { continue };
        for looser in Shape::find(file, &place, document.root()).map(|shape| shape.looser()).unwrap_or_default() {
            found.extend(match looser {
                Looser::Key(name) => with_fragment(mapping, entry, name, seen),
                Looser::Values(key, values) => {
                    let default = || Shape::find(file, &holder.key(key), document.root())?.default();
                    with_value(mapping, entry, key, values, default)
                }
            });
        }
    }
    found
}

/// Puts a fragment of the text that was always observed under another key.
fn with_fragment(
    mapping: NodeRef<'_>,
    entry: EntryRef<'_>,
    name: &str,
    seen: &[String],
) -> Option<(String, Vec<Edit>)> {
    let expected = entry.value.text()?;
    let observed: Vec<&str> = seen.iter().map(String::as_str).collect();
    // What was expected and observed is what the author means; else it is what was always observed.
    let all: Vec<&str> = std::iter::once(expected).chain(observed.iter().copied()).collect();
    let fragment = shared_fragment(&all).or_else(|| shared_fragment(&observed)).filter(|_| !seen.is_empty())?;
    let is_free = mapping.get(name).is_none();
    let words = scalar(fragment);
    let edits = [edit::rename_key(entry.key, name)?, edit::replace(entry.value, &words)?].concat();
    is_free.then(|| (format!("{name}: {words}"), edits))
}

/// Writes the next looser value of a key beside the one that fails.
fn with_value(
    mapping: NodeRef<'_>,
    failed: EntryRef<'_>,
    key: &str,
    values: &[Value],
    default: impl Fn() -> Option<&'static Value>,
) -> Option<(String, Vec<Edit>)> {
    let written = entry(mapping, key);
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), scalar);
    let current = match written {
        Some(entry) => entry.value.text()?.to_owned(),
        None => words(default()?),
    };
    let position = values.iter().position(|value| words(value) == current)?;
    let words = words(values.get(position + 1)?);
    let line = format!("{key}: {words}");
    let edits = match written {
        Some(entry) => edit::replace(entry.value, words)?,
        None => edit::entries_behind(mapping, failed, std::slice::from_ref(&line))?,
    };
    Some((line, edits))
}

/// Returns the edits that remove a failed assertion: an item of a list, or the part of a mapping that fails, with all
/// that would be incomplete without it. `None` if it is the only one.
pub fn without(file: SpecFile, document: &Document, claim: &Pointer, at: &Pointer) -> Option<Vec<Edit>> {
    if edit::nodes::is_shared(document, claim) {
        return None;
    }
    let mut place = match claim.last_step()? {
        Step::Index(_) => claim.clone(),
        Step::Key(_) => part(claim, at)?,
    };
    loop {
        let holder = document.find(&place.parent()?)?;
        let (is_needed, edits) = match place.last_step()? {
            Step::Index(index) => (holder.items().nth(1).is_none(), edit::remove_item(holder, index)),
            Step::Key(key) => {
                let shape = Shape::find(file, &place.parent()?, document.root());
                let is_needed = shape.is_some_and(|shape| needs(&shape, holder, &key));
                (is_needed || holder.entries().nth(1).is_none(), edit::remove_entry(holder, entry(holder, &key)?))
            }
        };
        if !is_needed || place == *claim {
            return edits;
        }
        place = place.parent()?;
    }
}

/// Whether a mapping would be incomplete without a key.
fn needs(shape: &Shape, mapping: NodeRef<'_>, key: &str) -> bool {
    let field = shape.fields(Some(mapping)).into_iter().find(|field| field.name == key);
    field.is_some_and(|field| match field.need {
        Need::Required => true,
        Need::OneOf(keys) | Need::AnyOf(keys) => {
            !keys.iter().any(|other| *other != key && mapping.get(other).is_some())
        }
        Need::Optional => false,
    })
}

/// Returns the first item of a list on the way to the part that fails, or else the entry below the claim.
fn part(claim: &Pointer, at: &Pointer) -> Option<Pointer> {
    let below = at.below(claim)?;
    let steps: Vec<Step<'_>> = below.steps().collect();
    let end = steps.iter().position(|step| step.index().is_some()).unwrap_or(0);
    Some(steps.iter().take(end + 1).fold(claim.clone(), |at, step| at.step(step)))
}

fn entry<'d>(mapping: NodeRef<'d>, key: &str) -> Option<EntryRef<'d>> {
    mapping.entries().find(|entry| entry.key.key_text() == key)
}
