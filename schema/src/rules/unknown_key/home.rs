//! The place that a key was meant for: another mapping that has the key and accepts its value.

use crate::{
    document::{NodeRef, Pointer},
    edit,
    finding::MessageParts,
    json_schema::SpecFile,
    key_path::KeyPath,
    problem::{Fix, Subject},
    shape::{self, Shape, Type, is_marker},
    validate::{Context, Mapping, could_hold, fix, unit::Unit},
};

use super::unknown::{Unknown, is_of_other_unit};

/// Maximum distance of a place for a key that other places have too.
pub(super) const NEARBY: usize = 2;

/// Maximum distance of a place in the items of a list.
const IN_REACH: usize = 3;

/// Whether a place accepts a value; anything accepts a missing one.
pub(super) fn fits(shape: Option<Shape>, value: Option<NodeRef<'_>>) -> bool {
    shape.is_some_and(|shape| value.is_none_or(|value| value.is_null() || could_hold(&shape, value)))
}

/// Whether a place accepts a value, a list with it as the only item, or a mapping with it as the only required field.
fn fits_in_short(shape: Option<Shape>, value: Option<NodeRef<'_>>) -> bool {
    let is_item = |shape: &Shape, value: NodeRef<'_>| {
        value.as_str().is_some() && shape.item().is_some_and(|item| item.kind() == Type::Text)
    };
    let is_short =
        |shape: &Shape| value.is_some_and(|value| is_item(shape, value) || fix::short_form(value, shape).is_some());
    fits(shape.clone(), value) || shape.as_ref().is_some_and(is_short)
}

/// Returns the place where an author at `here` most plausibly meant a key: the nearest one that accepts the value. A key
/// of another form of the mapping does not belong elsewhere.
pub(crate) fn home(
    context: &Context<'_>,
    at: &Pointer,
    known: &Mapping<'_>,
    key: &str,
    value: Option<NodeRef<'_>>,
) -> Option<&'static KeyPath> {
    let (file, here) = (context.file, known.here.as_ref()?);
    let places = shape::places_of(file, key);
    // A word that only one type of mapping has as a key is not meant for another one by chance.
    let ending = |place: &KeyPath| place.0[place.0.len().saturating_sub(2)..].to_vec();
    let is_distinctive = places.iter().all(|place| ending(place) == ending(&places[0]));
    let is_claim = |place: &KeyPath| is_in_claims(file, place.pointer());
    let is_plausible = |place: &KeyPath| {
        let common = here.in_common(place);
        let (up, down) = (&here.0[common..], &place.0[common..]);
        let (distance, crosses) = (up.len() + down.len(), |steps: &[&'static str]| steps.iter().any(is_marker));
        if down.is_empty() {
            let is_taken = outer(at, place, here)
                .is_some_and(|outer| context.node.find(&outer).is_some_and(|mapping| mapping.entry(key).is_some()));
            return !is_taken && (is_distinctive || !crosses(up));
        }
        let is_near = distance <= NEARBY && !crosses(up) && (up.is_empty() && down.len() == 1 || !up.is_empty());
        let is_close = is_near && !crosses(down);
        let in_reach = is_distinctive && (!up.is_empty() || !crosses(down) || distance <= IN_REACH);
        // An assertion is not meant for a place that is not checked.
        (is_close || in_reach) && (!known.claims || is_claim(place))
    };
    let shape = |place: &KeyPath| Shape::find(file, &place.pointer().key(key), None);
    let places =
        places.iter().filter(|place| *place != here && is_plausible(place) && fits_in_short(shape(place), value));
    places.min_by_key(|place| (here.distance(place), place.0.len()))
}

/// Whether an unknown key in a place of the format would be a lost assertion.
fn is_in_claims(file: SpecFile, at: Pointer) -> bool {
    let holds_claims = |at: &Pointer| Shape::find(file, at, None).is_some_and(|shape| shape.holds_claims());
    std::iter::successors(Some(at), Pointer::parent).any(|at| holds_claims(&at))
}

/// Returns the only field below a key of the mapping that has a name as an alternative one, with that key:
/// `output.schemaFile` for `jsonSchema`.
pub(super) fn called_below(
    known: &Mapping<'_>,
    key: &str,
    value: Option<NodeRef<'_>>,
) -> Option<(&'static str, &'static str)> {
    let fields = known.shape.as_ref()?.fields(known.node);
    let mut found = fields.iter().filter(|field| field.shape.kind() == Type::Mapping).filter_map(|child| {
        let (field, _) = child.shape.field_called(key, None)?;
        fits(Some(field.shape), value).then_some((child.name, field.name))
    });
    found.next().filter(|_| found.next().is_none())
}

/// Returns what is said of a key that belongs at `to`, under `name` if that is another one (with whether no other name is
/// possible), and whether it is an assertion that would be lost: next to the mapping of a test's assertions, or above the
/// tests.
pub(super) fn moved(
    unknown: &Unknown<'_, '_>,
    to: &KeyPath,
    name: Option<(&'static str, bool)>,
) -> Option<(MessageParts, bool)> {
    let (file, key, known, mapping) = (unknown.file(), unknown.key, &unknown.known, unknown.known.node);
    let here = known.here.as_ref()?;
    let way = to.way_from(here);
    let at = to.pointer().key(name.map_or(key, |(name, _)| name));
    let is_claim = here.contains(to) && is_in_claims(file, at) && !is_in_claims(file, here.pointer());
    // The key of the same mapping below which it belongs.
    let child = to.0.last().copied().filter(|_| here.contains(to) && here.distance(to) == 1);
    let child_shape = to.0.last().and_then(|child| known.shape.as_ref()?.step(child, mapping));
    let words = unknown.words();
    let Some((name, is_sure)) = name else {
        let member = Shape::find(file, &to.pointer().key(key), None);
        let short = unknown.node().zip(member.as_ref()).filter(|_| !fits(member.clone(), unknown.node()));
        if let Some(short) = short.and_then(|(value, member)| fix::short_form(value, member)) {
            let help = format!("{way}, and write `{key}: {short}`");
            return Some((words.help(help).subject(Subject::Home(to.clone())), is_claim));
        }
        let is_other = |other: &&KeyPath| *other != to && here.contains(other) && here.distance(other) == 1;
        let others = shape::places_of(file, key).iter().filter(is_other);
        let others: Vec<&str> =
            others.filter_map(|other| other.0.last().copied().filter(|name| *name != "[]")).collect();
        let fix = match child {
            // Only the author knows which of several keys is meant.
            Some(child) => mapping
                .and_then(|mapping| fix::below(mapping, key, child))
                .map(|fix| if others.is_empty() { fix } else { Fix::suggestion(fix.title, fix.edits) }),
            None => beside(unknown, to, here, &way),
        };
        let words = words.fix(fix).help(way).subject(Subject::Home(to.clone()));
        let others = others.iter().filter_map(|other| {
            Some(Fix::suggestion(format!("move it under `{other}`"), edit::below(mapping?, key, other)?))
        });
        return Some((words.fix(others), is_claim));
    };
    let unit = child_shape.and_then(|child| child.step(name, None)).and_then(|member| Unit::of(name, &member));
    let words = match unit {
        Some(unit) => words.note(format!("`{name}` takes {}", unit.label())),
        None => words,
    };
    // A duration without its unit may be of another one.
    let is_said = match unit {
        Some(Unit::Milliseconds | Unit::Seconds) => Unit::in_name(key).is_some(),
        Some(Unit::Share | Unit::Percent | Unit::Dollars) | None => true,
    };
    let is_known = is_sure && is_said && !is_of_other_unit(key, name, unit);
    let edits = child.filter(|_| is_known).zip(mapping);
    let edits = edits.and_then(|(child, mapping)| edit::below_as(mapping, key, child, name));
    Some((words.remedy(format!("{way}, as `{name}`"), Fix::guess, edits), is_claim))
}

/// Returns the fix that moves a key to an enclosing mapping.
fn beside(unknown: &Unknown<'_, '_>, to: &KeyPath, here: &KeyPath, title: &str) -> Option<Fix> {
    let (parent, key, root) = (&unknown.parent, unknown.key, unknown.context.node);
    let outer = outer(parent, to, here)?;
    let holder = parent.below(&outer)?.steps().next()?.to_string();
    let edits = edit::beside(unknown.known.node?, key, root.find(&outer)?, &holder)?;
    Some(Fix::guess(title, edits))
}

/// Returns the enclosing mapping of `parent` that is at another place in the kind of file. A key of a list item
/// does not apply to all items, so it stays in its item.
fn outer(parent: &Pointer, to: &KeyPath, here: &KeyPath) -> Option<Pointer> {
    let between = here.0.get(to.0.len()..).filter(|between| to.contains(here) && !between.contains(&"[]"))?;
    between.iter().try_fold(parent.clone(), |at, _| at.parent())
}
