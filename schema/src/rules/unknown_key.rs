use std::cmp::Reverse;

use crate::{
    dialect::Dialect,
    document::{EntryRef, NodeRef, Pointer, Scalar},
    edit,
    finding::{Finding, Location, MessageParts, Rule, Scope},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Severity, Subject},
    shape::{self, KeyPath, Shape, Type},
    validate::{
        Context, Mapping, could_hold,
        fix::{self, Reshaped},
        head,
        unit::Unit,
        with_article,
    },
    words::{is_surely, likeness, listed, nearest, opposite_of, same_negation},
};

use other_name::OtherName;

use super::{pasted_secret, unknown_reference};

pub(crate) mod clawspec;
pub(crate) mod cli_bench;
mod other_name;

page! {
    /// A key is not part of the format. The format's tool ignores it. In `expect` or an assertion, an ignored key
    /// means that something is not checked, so it is an error there: the suite does not run until the key is corrected
    /// or removed.
    "unknown-key", Warning
}

/// Maximum distance of a place to which a key belongs; farther away, it is a different key with the same name.
const NEARBY: usize = 2;

/// An unknown key of a mapping.
#[derive(Debug)]
struct UnknownKey {
    key: String,
    /// Form of the mapping, if it has several: `type` of an assertion.
    form: Option<&'static str>,
    severity: Severity,
    /// Format whose program ignores the key, if it was meant as an assertion.
    unchecked_by: Option<Dialect>,
    /// Whether the key can be commented out if there is no other fix.
    may_go: bool,
    meant: IntendedKey,
    /// Explanation of the key in the types, instead of `meant`.
    other_name: Option<OtherName>,
    /// Missing provider that a KindLM model next to the key refers to.
    wanted: Option<String>,
}

/// Intended meaning of an unknown key.
#[derive(Debug)]
enum IntendedKey {
    /// A merge key, in a format without merging.
    Merge(Option<Dialect>),
    /// The key that KindLM itself sets to the content of a field.
    Resolved { field: &'static str },
    /// The opposite of a key, for which there is another key.
    Negation { of: &'static str, name: &'static str, member: Option<Shape>, is_free: bool },
    /// The opposite of a boolean key: the value is inverted.
    Flipped { name: &'static str, value: bool, is_free: bool },
    /// The opposite of a key, for which there is no key.
    Opposite(&'static str),
    /// The only missing key of the mapping. `belongs_to` is the form that has the key itself.
    StandIn { rename: Rename, belongs_to: Option<(&'static str, &'static str)> },
    /// A known key, misspelled or under another name.
    Name(Rename),
    /// A misspelled known key that also exists.
    Taken(&'static str),
    /// A key of other forms of the mapping, the most similar first.
    OtherForm { tag: &'static str, forms: Vec<&'static str>, is_like: bool },
    /// A key of another mapping.
    Elsewhere(Move),
    /// A key similar to one of another mapping.
    LikeElsewhere { name: &'static str, way: Option<(Move, bool)> },
    /// A secret in place of the name of a variable. Renaming the key would leave the secret in the file.
    Secret,
    /// Unknown: one of these keys is to be used.
    OneOf(Vec<&'static str>),
}

/// A renamed key.
#[derive(Debug)]
struct Rename {
    name: &'static str,
    /// Schema of its value after renaming.
    member: Option<Shape>,
    /// Whether no other name is possible.
    is_sure: bool,
}

impl Rename {
    /// Whether the value contains assertions under the new name.
    fn holds_claims(&self) -> bool {
        self.member.as_ref().is_some_and(Shape::holds_claims)
    }
}

/// A key that belongs to another mapping.
#[derive(Debug)]
struct Move {
    here: KeyPath,
    to: KeyPath,
    /// Schema of the key below which it belongs, if that is in the same mapping.
    child: Option<Shape>,
    /// Whether the key is missing there.
    is_missing: bool,
}

/// Reports an unknown key. `is_required`: whether it replaces a required key.
pub(crate) fn of(context: &Context<'_>, at: Pointer, key: &str, is_required: bool) -> Finding {
    let range = head(context.node, &at);
    let mut rule = decide(context, &at, key, is_required);
    rule.other_name = OtherName::of(context, &at, key)
        .filter(|other| !matches!(rule.meant, IntendedKey::Secret) && !other.is_only_elsewhere(context, &at, key));
    let mut explains = None;
    if let Some(other_name) = &rule.other_name {
        explains.clone_from(&other_name.explains);
        if other_name.is_required || other_name.holds_claims {
            rule.severity = Severity::Error;
        } else if other_name.is_field() && !is_required && !context.mapping(&at.parent().unwrap_or_default()).claims {
            // What the key would mean elsewhere does not count.
            rule.severity = Code::UnknownKey.severity();
        }
    }
    rule.wanted = at.parent().and_then(|parent| unknown_reference::wanted(context, &parent));
    if rule.wanted.is_some() {
        rule.severity = Severity::Error;
    }
    let finding = Finding::new(rule, at, range);
    match explains {
        Some(place) => finding.instead_of(Scope::CodeAt(Code::MissingField, place)),
        None => finding,
    }
}

/// Whether an unknown key is an assertion that would be lost.
pub(crate) fn is_lost_claim(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
    decide(context, at, key, false).severity == Severity::Error
}

fn decide(context: &Context<'_>, at: &Pointer, key: &str, is_required: bool) -> UnknownKey {
    let file = context.file;
    let parent = at.parent().unwrap_or_default();
    let known = context.mapping(&parent);
    let mut severity = if known.claims { Severity::Error } else { Code::UnknownKey.severity() };
    let (meant, is_alike) = guess(context, at, &parent, key, &known);
    let is_lost = match &meant {
        IntendedKey::Merge(_) => false,
        IntendedKey::Resolved { .. } => {
            severity = Severity::Warning;
            false
        }
        IntendedKey::Elsewhere(it) => is_misplaced_claim(file, it, key),
        IntendedKey::LikeElsewhere { name, way } => {
            way.as_ref().is_some_and(|(it, _)| is_misplaced_claim(file, it, name))
        }
        IntendedKey::StandIn { rename, .. } | IntendedKey::Name(rename) => rename.holds_claims(),
        IntendedKey::Taken(name) => known.holds_claims(name),
        IntendedKey::Negation { .. }
        | IntendedKey::Flipped { .. }
        | IntendedKey::Opposite(_)
        | IntendedKey::OtherForm { .. }
        | IntendedKey::Secret
        | IntendedKey::OneOf(_) => false,
    };
    if is_lost {
        severity = Severity::Error;
    }
    if is_required {
        severity = severity.min(Code::MissingField.severity());
    }
    let is_said = matches!(meant, IntendedKey::Merge(_) | IntendedKey::Resolved { .. });
    let is_opposite =
        matches!(meant, IntendedKey::Negation { .. } | IntendedKey::Flipped { .. } | IntendedKey::Opposite(_));
    let has_name = matches!(meant, IntendedKey::StandIn { .. }) || is_alike && !is_opposite;
    UnknownKey {
        key: key.to_owned(),
        form: known.variant.map(|(_, form)| form),
        severity,
        unchecked_by: file.dialect().filter(|_| (known.claims || is_lost) && !is_said),
        // Without it, the key that it replaces would be missing.
        may_go: !is_said && !has_name && !is_required,
        meant,
        other_name: None,
        wanted: None,
    }
}

/// Returns the intended meaning of a key, and whether it resembles a key of its mapping.
fn guess(context: &Context<'_>, at: &Pointer, parent: &Pointer, key: &str, known: &Mapping<'_>) -> (IntendedKey, bool) {
    let file = context.file;
    let Mapping { node: mapping, here, fields, free, variant, .. } = known;
    if key == "<<" && !context.node.document().rules().merges() {
        return (IntendedKey::Merge(file.dialect()), false);
    }
    let is_resolved = |name: &str| known.shape.as_ref()?.step(name, None)?.resolved_as().filter(|other| *other == key);
    let is_written = |name: &str| mapping.is_some_and(|mapping| mapping.entry(name).is_some());
    if let Some(field) = fields.iter().copied().find(|name| is_written(name) && is_resolved(name).is_some()) {
        return (IntendedKey::Resolved { field }, false);
    }
    let entry = mapping.and_then(|mapping| mapping.entry(key));
    if entry.is_some_and(|entry| pasted_secret::is_instead_of_name(key, entry.value)) {
        return (IntendedKey::Secret, true);
    }
    let elsewhere = here.as_ref().and_then(|here| nearest_place(file, here, key));
    let mut tags = known.forms_with(key);
    // The most similar form comes first.
    if let Some((_, own)) = variant {
        tags.sort_by_key(|tag| Reverse(likeness(own, tag)));
    }
    let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
    let member = |name: &str| known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
    // A value that is not valid there makes a similarity unlikely, unless it is close.
    let near = near.filter(|name| {
        let holds = entry
            .zip(member(name))
            .is_none_or(|(entry, member)| entry.value.is_null() || could_hold(&member, entry.value));
        holds || is_surely(key, name, fields.iter().copied())
    });
    let is_close = |place: &KeyPath| here.as_ref().is_some_and(|here| here.distance(place) <= NEARBY);
    // If only one of both places accepts the value, the key belongs there.
    let fits_only_here = near.zip(elsewhere).zip(entry).is_some_and(|((name, place), entry)| {
        let other = Shape::find(file, &place.pointer().key(key), None);
        let fits = |shape: Option<Shape>| shape.is_some_and(|shape| could_hold(&shape, entry.value));
        free.contains(&name) && fits(member(name)) && !fits(other)
    });
    let rename = |name: &'static str, is_sure: bool| Rename { name, member: member(name), is_sure };
    if let Some(name) = opposite_of(key, fields).filter(|_| tags.is_empty() && !elsewhere.is_some_and(is_close)) {
        return (opposite(key, name, entry, known), near.is_some());
    }
    if let Some(name) = context.stand_ins.borrow().get(at).copied() {
        let belongs_to = tags.first().zip(*variant).map(|(first, (tag, _))| (tag, *first));
        return (IntendedKey::StandIn { rename: rename(name, false), belongs_to }, true);
    }
    if let Some(name) = near.filter(|_| fits_only_here || !elsewhere.is_some_and(is_close)) {
        if !free.contains(&name) {
            return (IntendedKey::Taken(name), true);
        }
        // Of two possible keys, only one can be renamed.
        let means_it = |other: &str| {
            other != key && !fields.contains(&other) && nearest(other, free.iter().copied()) == Some(name)
        };
        let has_rival = mapping.is_some_and(|mapping| mapping.entries().any(|entry| means_it(&entry.key.key_text())));
        // A dash that is not a YAML dash starts an item, not a name.
        let begins_as_name = key.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let is_sure = !has_rival && begins_as_name && is_surely(key, name, free.iter().copied());
        return (IntendedKey::Name(rename(name, is_sure)), true);
    }
    if let ([first, rest @ ..], Some((tag, own))) = (tags.as_slice(), *variant) {
        let is_like = likeness(own, first).1 > 0 || rest.is_empty();
        return (IntendedKey::OtherForm { tag, forms: tags, is_like }, near.is_some());
    }
    let way = |place: &KeyPath, here: &KeyPath| Move {
        here: here.clone(),
        to: place.clone(),
        child: place.0.last().and_then(|child| member(child)),
        is_missing: outer(parent, place, here).is_some_and(|outer| context.mapping(&outer).missing.contains(&key)),
    };
    if let (Some(place), Some(here)) = (elsewhere, here) {
        return (IntendedKey::Elsewhere(way(place, here)), near.is_some());
    }
    let alike = nearest(key, shape::all_keys(file)).filter(|name| is_far_likeness(key, name, file));
    if let Some(name) = alike.and_then(|name| key_with_other_name(file, known, entry, name)) {
        let meant = match free.contains(&name) {
            true => IntendedKey::Name(rename(name, false)),
            false => IntendedKey::Taken(name),
        };
        return (meant, true);
    }
    if let (Some(name), Some(here)) = (alike, here) {
        let place = shape::places_of(file, name).iter().min_by_key(|place| here.distance(place));
        let is_sure = is_surely(key, name, shape::all_keys(file));
        return (
            IntendedKey::LikeElsewhere { name, way: place.map(|place| (way(place, here), is_sure)) },
            near.is_some(),
        );
    }
    (IntendedKey::OneOf(free.clone()), near.is_some())
}

/// Returns the key of a mapping that has `alike` as an alternative name. `None` if the value fits only where `alike` is
/// itself a key.
fn key_with_other_name(
    file: SpecFile,
    known: &Mapping<'_>,
    entry: Option<EntryRef<'_>>,
    alike: &str,
) -> Option<&'static str> {
    let (field, _) = known.shape.as_ref()?.field_called(alike, None)?;
    let is_elsewhere = entry.is_some_and(|entry| fits_only_elsewhere(file, alike, &field.shape, entry.value));
    (!is_elsewhere).then_some(field.name)
}

/// Whether only a place where a name is a key itself accepts a value, and the field that it is another name of does not.
fn fits_only_elsewhere(file: SpecFile, name: &str, field: &Shape, value: NodeRef<'_>) -> bool {
    let places = shape::places_of(file, name).iter();
    let mut shapes = places.filter_map(|place| Shape::find(file, &place.pointer().key(name), None));
    !value.is_null() && shapes.any(|shape| could_hold(&shape, value)) && !could_hold(field, value)
}

fn opposite(key: &str, name: &'static str, entry: Option<EntryRef<'_>>, known: &Mapping<'_>) -> IntendedKey {
    let is_free = |name: &str| known.free.contains(&name);
    let member = |name: &str| known.shape.as_ref().and_then(|shape| shape.step(name, known.node));
    let value = entry.map(|entry| entry.value);
    if let Some(negation) = same_negation(key, name, &known.fields) {
        return IntendedKey::Negation {
            of: name,
            name: negation,
            member: member(negation),
            is_free: is_free(negation),
        };
    }
    if member(name).is_some_and(|member| member.kind() == Type::Boolean)
        && let Some(value) = value.filter(|value| value.alias().is_none())
        && let Some(Scalar::Bool(value)) = value.scalar()
    {
        return IntendedKey::Flipped { name, value: !value, is_free: is_free(name) };
    }
    IntendedKey::Opposite(name)
}

impl Rule for UnknownKey {
    const CODE: Code = Code::UnknownKey;

    fn severity(&self) -> Severity {
        self.severity
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let key = &self.key;
        let words = MessageParts::new(match (&self.meant, self.form) {
            (IntendedKey::Resolved { field }, _) => format!("`{key}` has no effect with `{field}`"),
            (_, Some(form)) => format!("unknown key `{key}` in `{form}`"),
            (_, None) => format!("unknown key `{key}`"),
        });
        let mut words = self.meant.message(key, words, location);
        if self.may_go && words.fixes.is_empty() {
            words.fixes.extend(edit::comment_out(location.root, location.at).map(Fix::comment));
        }
        if matches!(self.meant, IntendedKey::Opposite(_)) && words.fixes.is_empty() {
            words = words.help("remove it");
        }
        let words = match self.unchecked_by {
            Some(dialect) => words.note(ignored_by(dialect)),
            None => words,
        };
        let words = match &self.other_name {
            Some(other_name) => other_name.message(key, words, location),
            None => words,
        };
        match &self.wanted {
            Some(provider) => words.note(format!("a model uses the provider `{provider}`, which is missing")),
            None => words,
        }
    }
}

/// Returns the help for another name of a key that exists.
fn move_to(name: &str) -> String {
    format!("move its value to `{name}`, or remove it")
}

/// Returns the consequence of an unknown key that was meant as an assertion.
fn ignored_by(dialect: Dialect) -> String {
    format!("{} ignores unknown keys, so this key has no effect", dialect.program())
}

/// Returns the edits that rename a key, and those of its value. A key from a merge must be fixed
/// where it is written: here it exists only by reference.
fn renamed(location: &Location<'_>, name: &str, value: Vec<Edit>) -> Option<Vec<Edit>> {
    Some([location.lint_node()?.renamed(name)?, value].concat())
}

impl IntendedKey {
    fn message(&self, key: &str, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let value = || location.node();
        match self {
            IntendedKey::Merge(dialect) => words
                .note(format!(
                    "{} does not apply merge keys here",
                    dialect.map_or("speclens", |format| format.program())
                ))
                .help("write the keys out"),
            IntendedKey::Resolved { .. } => words.help("remove it"),
            IntendedKey::Secret => words,
            IntendedKey::Negation { of, name, member, is_free } => {
                let help = format!("write `{name}`, the opposite of `{of}`");
                let reshaped = value().zip(member.as_ref()).and_then(|(value, member)| fix::reshaped(value, member));
                let edits = reshaped.filter(|_| *is_free).and_then(|shaped| renamed(location, name, shaped.edits));
                words.remedy(help, Fix::guess, edits)
            }
            IntendedKey::Flipped { name, value: wanted, is_free } => {
                let help = format!("write `{name}: {wanted}`, which means the same");
                let turned = value().filter(|_| *is_free).and_then(|value| edit::rewrite(value, wanted.to_string()));
                words.remedy(help, Fix::guess, turned.and_then(|turned| renamed(location, name, turned)))
            }
            IntendedKey::Opposite(name) => words.note(format!("no key means the opposite of `{name}`")),
            IntendedKey::StandIn { rename, belongs_to } => {
                let words = match belongs_to {
                    Some((tag, form)) => words.note(format!("`{key}` is a key of `{tag}: {form}`")),
                    None => words,
                };
                rename.message(key, words.note(format!("the required key `{}` is missing", rename.name)), location)
            }
            IntendedKey::Name(rename) => rename.message(key, words, location),
            IntendedKey::Taken(name) => words.help(move_to(name)),
            IntendedKey::OtherForm { tag, forms, is_like } => words
                .note(match (is_like, forms.as_slice()) {
                    (true, [form]) => format!("`{key}` is a key of `{tag}: {form}`"),
                    (true, forms) => {
                        format!("`{key}` is a key of `{tag}: {}` and of other types", forms.first().unwrap_or(tag))
                    }
                    (false, _) => format!("`{key}` is a key of other types"),
                })
                .help("remove it"),
            IntendedKey::Elsewhere(way) => {
                let help = way.to.way_from(&way.here);
                words.fix(way.fix(key, &help, location)).help(help).subject(Subject::Home(way.to.clone()))
            }
            IntendedKey::LikeElsewhere { name, way: Some((way, is_sure)) } => {
                let help = format!("{}, as `{name}`", way.to.way_from(&way.here));
                let edits = way.child_here().filter(|_| *is_sure).zip(location.parent());
                let edits = edits.and_then(|(child, mapping)| edit::below_as(mapping, key, child, name));
                words.remedy(help, Fix::guess, edits)
            }
            IntendedKey::LikeElsewhere { way: None, .. } => words,
            IntendedKey::OneOf(free) => words.help(match free.as_slice() {
                [] => "remove it".to_owned(),
                [only] => format!("remove it, or use `{only}`"),
                [..] => format!("remove it, or use another key: {}", listed(free.iter().copied())),
            }),
        }
    }
}

impl Move {
    /// Returns the key of the same mapping below which it belongs.
    fn child_here(&self) -> Option<&'static str> {
        let is_below = self.here.contains(&self.to) && self.here.distance(&self.to) == 1;
        self.to.0.last().copied().filter(|_| is_below)
    }

    fn fix(&self, key: &str, title: &str, location: &Location<'_>) -> Option<Fix> {
        if let Some(child) = self.child_here() {
            return fix::below(location.parent()?, key, child, self.child.as_ref());
        }
        let parent = location.at.parent()?;
        let outer = outer(&parent, &self.to, &self.here)?;
        let holder = parent.below(&outer)?.steps().next()?.to_string();
        let edits = edit::beside(location.parent()?, key, location.root.find(&outer)?, &holder)?;
        Some(if self.is_missing { Fix::safe(title, edits) } else { Fix::guess(title, edits) })
    }
}

/// Returns the enclosing mapping of `parent` that is at another place in the kind of file. A key of a list item
/// does not apply to all items, so it stays in its item.
fn outer(parent: &Pointer, to: &KeyPath, here: &KeyPath) -> Option<Pointer> {
    let between = here.0.get(to.0.len()..).filter(|between| to.contains(here) && !between.contains(&"[]"))?;
    between.iter().try_fold(parent.clone(), |at, _| at.parent())
}

impl Rename {
    /// Returns the new name of the key, and the schema of its value.
    fn message(&self, key: &str, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let Rename { name, is_sure, .. } = *self;
        let title = fix::rename_title(name);
        let Some(member) = &self.member else { return words.help(title) };
        let (written, wanted) = (Unit::in_name(key), Unit::of(name, member));
        let own = wanted.map(Unit::as_written).or_else(|| Unit::in_name(name));
        if written.zip(own).is_some_and(|(written, own)| written != own) || counts_by_another_number(key, name) {
            return words.help(match wanted {
                Some(wanted) => format!("write `{name}`, which takes {}", wanted.label()),
                None => format!("write `{name}`, and convert the value to its unit"),
            });
        }
        let kind = with_article(&member.type_name());
        let value = location.node().filter(|value| !value.is_null());
        let nothing = Reshaped { edits: Vec::new(), is_sure: true };
        let Some(shaped) = value.map_or(Some(nothing), |value| fix::reshaped(value, member)) else {
            return words.help(format!("write `{name}`, which takes {kind}"));
        };
        let mut words = words;
        let fits = value.is_none_or(|value| could_hold(member, value));
        if !fits {
            words = words.note(format!("`{name}` takes {kind}"));
        } else if let (None, Some(wanted @ (Unit::Milliseconds | Unit::Seconds)), false) = (written, wanted, is_sure) {
            words = words.note(format!("`{name}` takes {}", wanted.label()));
        }
        let fix = if is_sure && fits && shaped.is_sure { Fix::safe } else { Fix::guess };
        let edits = renamed(location, name, shaped.edits);
        let fix = edits.map(|edits| Fix { preferred: is_sure || fits, ..fix(title.clone(), edits) });
        words.fix(fix).help(title)
    }
}

/// Whether both names end with different units of a price: `input_per_1m`, `input_per_1k`.
fn counts_by_another_number(key: &str, name: &str) -> bool {
    let number =
        |text: &str| text.rsplit_once("per").map(|(_, number)| number.trim_start_matches(['_', '-']).to_lowercase());
    number(key).zip(number(name)).is_some_and(|(one, other)| {
        let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        is_number(&one) && is_number(&other) && one != other
    })
}

/// Returns the nearest place at which a key is known. A key of another form of the mapping does not
/// belong elsewhere.
pub(crate) fn nearest_place(file: SpecFile, here: &KeyPath, key: &str) -> Option<&'static KeyPath> {
    let others = shape::places_of(file, key).iter().filter(|place| *place != here);
    others.min_by_key(|place| (here.distance(place), place.0.len()))
}

/// Whether a misplaced key is an assertion that would be lost: next to the mapping of a test's assertions, or above
/// the tests.
fn is_misplaced_claim(file: SpecFile, way: &Move, key: &str) -> bool {
    let holds_claims = |at: &Pointer| Shape::find(file, at, None).is_some_and(|shape| shape.holds_claims());
    let is_in_claims = |at: Pointer| std::iter::successors(Some(at), Pointer::parent).any(|at| holds_claims(&at));
    way.here.contains(&way.to) && is_in_claims(way.to.pointer().key(key)) && !is_in_claims(way.here.pointer())
}

/// Whether a key of another place is meant: at that distance, the names must be very similar.
fn is_far_likeness(key: &str, name: &str, file: SpecFile) -> bool {
    is_surely(key, name, shape::all_keys(file)) || (key.len() >= 6 && name.starts_with(key))
}
