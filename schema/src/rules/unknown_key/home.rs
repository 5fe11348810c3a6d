//! The place that a key was meant for: another mapping that has the key and accepts its value.

use crate::{
    document::{EntryRef, NodeRef, Pointer},
    edit,
    finding::{Location, MessageParts},
    json_schema::SpecFile,
    problem::{Fix, Subject},
    shape::{self, Field, KeyPath, Shape, Type, is_marker},
    validate::{Context, Mapping, could_hold, fix, unit::Unit},
    words::{Bound, bound_in, is_surely, parts},
};

use super::is_of_other_unit;

/// Maximum distance of a place for a key that other places have too.
pub(super) const NEARBY: usize = 2;

/// Maximum distance of a place in the items of a list.
const IN_REACH: usize = 3;

/// A key that belongs to another mapping.
#[derive(Debug)]
pub(super) struct Move {
    file: SpecFile,
    here: KeyPath,
    pub(super) to: KeyPath,
    /// The name of the key there, if it is another one.
    pub(super) name: Option<&'static str>,
    /// Whether no other name is possible.
    is_sure: bool,
    /// Schema of the key below which it belongs, if that is in the same mapping.
    child: Option<Shape>,
    /// Keys of the same mapping below which it may belong as well.
    others: Vec<&'static str>,
}

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

/// The field that sets the bound that a key sets.
pub(super) struct Bounded {
    /// The key of the mapping below which it is; `None` in the mapping itself.
    pub(super) child: Option<&'static str>,
    pub(super) name: &'static str,
}

/// Returns the only field for a key that sets a bound: `max_ms` for `max_duration` in `trace_duration`, `latency.maxMs`
/// for `maxLatency`, `timeout` for `max_timeout`.
pub(super) fn bounded(known: &Mapping<'_>, key: &str, entry: Option<EntryRef<'_>>) -> Option<Bounded> {
    let (bound, mut rest) = bound_in(key).filter(|_| !known.free.iter().any(|name| is_surely(key, name, [*name])))?;
    rest.retain(|word| Unit::in_name(&format!("_{word}")).is_none());
    let value = entry.map(|entry| entry.value);
    // The words of the type and of the key of a mapping are said already.
    let sets = |field: &Field, said: &[String]| {
        let is_meant = match bound_in(field.name) {
            Some((other, words)) => {
                other == bound && rest.iter().all(|word| words.contains(word) || said.contains(word))
            }
            // A timeout is a maximum.
            None => {
                let is_time = matches!(Unit::of(field.name, &field.shape), Some(Unit::Seconds | Unit::Milliseconds));
                bound == Bound::Most && is_time && parts(field.name) == rest
            }
        };
        is_meant && fits(Some(field.shape.clone()), value)
    };
    let only = |fields: &[Field], said: &[String]| {
        let mut found = fields.iter().filter(|field| sets(field, said));
        found.next().filter(|_| found.next().is_none()).map(|field| field.name)
    };
    let fields = known.shape.as_ref()?.fields(known.node);
    let free: Vec<Field> = fields.iter().filter(|field| known.free.contains(&field.name)).cloned().collect();
    let form = known.variant.map(|(_, form)| parts(form)).unwrap_or_default();
    if let Some(name) = only(&free, &form) {
        return Some(Bounded { child: None, name });
    }
    let mut below = fields.iter().filter(|field| field.shape.kind() == Type::Mapping).filter_map(|field| {
        let names = field.shape.other_names().into_iter().map(|other| other.name);
        let said: Vec<String> = names.chain([field.name]).flat_map(parts).collect();
        let name = only(&field.shape.fields(None), &said).filter(|_| rest.iter().any(|word| said.contains(word)))?;
        Some(Bounded { child: Some(field.name), name })
    });
    below.next().filter(|_| below.next().is_none())
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

impl Move {
    /// Returns the move of a key to another place.
    pub(super) fn to(
        context: &Context<'_>,
        known: &Mapping<'_>,
        key: &str,
        to: &KeyPath,
        name: Option<(&'static str, bool)>,
    ) -> Option<Move> {
        let here = known.here.clone()?;
        let child = to.0.last().and_then(|child| known.shape.as_ref()?.step(child, known.node));
        let (name, is_sure) = name.map_or((None, false), |(name, is_sure)| (Some(name), is_sure));
        let is_other = |other: &&KeyPath| *other != to && here.contains(other) && here.distance(other) == 1;
        let others = shape::places_of(context.file, key).iter().filter(is_other);
        let others = others.filter_map(|other| other.0.last().copied().filter(|name| *name != "[]")).collect();
        Some(Move { file: context.file, here, to: to.clone(), name, is_sure, child, others })
    }

    /// Whether the key is an assertion that would be lost: next to the mapping of a test's assertions, or above the tests.
    pub(super) fn is_of_claim(&self, key: &str) -> bool {
        let key = self.name.unwrap_or(key);
        self.here.contains(&self.to)
            && is_in_claims(self.file, self.to.pointer().key(key))
            && !is_in_claims(self.file, self.here.pointer())
    }

    pub(super) fn message(&self, key: &str, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let way = self.to.way_from(&self.here);
        let Some(name) = self.name else {
            let value = location.node();
            let member = Shape::find(self.file, &self.to.pointer().key(key), None);
            let short = value.zip(member.as_ref()).filter(|_| !fits(member.clone(), value));
            if let Some(short) = short.and_then(|(value, member)| fix::short_form(value, member)) {
                let help = format!("{way}, and write `{key}: {short}`");
                return words.help(help).subject(Subject::Home(self.to.clone()));
            }
            let words = words.fix(self.fix(key, &way, location)).help(way).subject(Subject::Home(self.to.clone()));
            let others = self.others.iter().filter_map(|other| {
                let edits = edit::below(location.parent()?, key, other)?;
                Some(Fix::suggestion(format!("move it under `{other}`"), edits))
            });
            return others.fold(words, |words, fix| words.fix(Some(fix)));
        };
        let member = self.child.as_ref().and_then(|child| child.step(name, None));
        let unit = member.as_ref().and_then(|member| Unit::of(name, member));
        let words = match unit {
            Some(unit) => words.note(format!("`{name}` takes {}", unit.label())),
            None => words,
        };
        // A duration without its unit may be of another one.
        let is_said = match unit {
            Some(Unit::Milliseconds | Unit::Seconds) => Unit::in_name(key).is_some(),
            Some(Unit::Share | Unit::Percent | Unit::Dollars) | None => true,
        };
        let is_known = self.is_sure && is_said && !is_of_other_unit(key, name, unit);
        let edits = self.child_here().filter(|_| is_known).zip(location.parent());
        let edits = edits.and_then(|(child, mapping)| edit::below_as(mapping, key, child, name));
        words.remedy(format!("{way}, as `{name}`"), Fix::guess, edits)
    }

    /// Returns the key of the same mapping below which it belongs.
    fn child_here(&self) -> Option<&'static str> {
        let is_below = self.here.contains(&self.to) && self.here.distance(&self.to) == 1;
        self.to.0.last().copied().filter(|_| is_below)
    }

    fn fix(&self, key: &str, title: &str, location: &Location<'_>) -> Option<Fix> {
        if let Some(child) = self.child_here() {
            let fix = fix::below(location.parent()?, key, child)?;
            // Only the author knows which of them is meant.
            return Some(if self.others.is_empty() { fix } else { Fix::suggestion(fix.title, fix.edits) });
        }
        let parent = location.at.parent()?;
        let outer = outer(&parent, &self.to, &self.here)?;
        let holder = parent.below(&outer)?.steps().next()?.to_string();
        let edits = edit::beside(location.parent()?, key, location.root.find(&outer)?, &holder)?;
        Some(Fix::guess(title, edits))
    }
}

/// Returns the enclosing mapping of `parent` that is at another place in the kind of file. A key of a list item
/// does not apply to all items, so it stays in its item.
fn outer(parent: &Pointer, to: &KeyPath, here: &KeyPath) -> Option<Pointer> {
    let between = here.0.get(to.0.len()..).filter(|between| to.contains(here) && !between.contains(&"[]"))?;
    between.iter().try_fold(parent.clone(), |at, _| at.parent())
}
