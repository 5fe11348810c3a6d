use std::cmp::Reverse;

use crate::{
    dialect::Dialect,
    document::{EntryRef, NodeRef, Pointer, Scalar},
    edit,
    finding::{Finding, Location, MessageParts, Rule, Scope},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Severity},
    shape::{self, KeyPath, Shape, Type},
    validate::{
        Context, Mapping, could_hold,
        fix::{self, Reshaped},
        head,
        unit::Unit,
        with_article,
    },
    words::{a_few, is_surely, likeness, nearest, opposite_of, same_negation},
};

use home::{Bounded, Move, fits};
use other_name::OtherName;

pub(crate) use home::home;
pub(crate) use swallowed::of as swallowed;

use super::{pasted_secret, unknown_reference};

pub(crate) mod clawspec;
pub(crate) mod cli_bench;
mod home;
mod other_name;
mod swallowed;

page! {
    /// A key is not part of the format, or belongs to another mapping. The format's tool ignores it. In `expect` or an assertion, an ignored key
    /// means that something is not checked, so it is an error there: the suite does not run until the key is corrected
    /// or removed.
    "unknown-key", Warning
}

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
    /// A secret in place of the name of a variable. Renaming the key would leave the secret in the file.
    Secret,
    /// The opposite of a boolean key: the value is inverted.
    Flipped { name: &'static str, value: bool, is_free: bool },
    /// The opposite of a key, for which there is no key.
    Opposite(&'static str),
    /// Another key of the mapping: misspelled, under another name, or the only missing one. `notes` are the reasons.
    Name { rename: Rename, notes: Vec<String> },
    /// A known key that also exists.
    Taken(&'static str),
    /// A key of other forms of the mapping, the most similar first.
    OtherForm { tag: &'static str, forms: Vec<&'static str>, is_like: bool },
    /// A key of another mapping.
    Place(Move),
    /// A text about the mapping, for which the format has no key.
    Comment,
    /// A place for values that aliases repeat.
    Anchors,
    /// Unknown: one of these keys is to be used, the most likely first.
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

/// Reports an unknown key. `is_required`: whether it replaces a required key.
pub(crate) fn of(context: &Context<'_>, at: Pointer, key: &str, is_required: bool) -> Finding {
    let range = head(context.node, &at);
    let mut rule = decide(context, &at, key, is_required);
    rule.other_name = OtherName::of(context, &at, key).filter(|other| {
        !matches!(rule.meant, IntendedKey::Secret | IntendedKey::Anchors) && !other.is_only_elsewhere(context, &at, key)
    });
    let mut explains = Vec::new();
    if let Some(other_name) = &rule.other_name {
        explains.clone_from(&other_name.explains);
        if other_name.is_required || other_name.holds_claims {
            rule.severity = Severity::Error;
        } else if other_name.is_field() && !is_required && !context.mapping(&at.parent().unwrap_or_default()).claims {
            // What the key would mean elsewhere does not count.
            rule.severity = Code::UnknownKey.severity();
        }
        if other_name.is_idle() {
            rule.severity = Severity::Hint;
        }
    }
    let codes = [Code::MissingField, Code::UnknownKey];
    let mut replaces: Vec<Scope> =
        explains.iter().flat_map(|at| codes.map(|code| Scope::CodeAt(code, at.clone()))).collect();
    if let Some(parent) = at.parent().filter(|parent| lacks_all(context, parent)) {
        // The missing key has the same cause, and without this one, the assertion would lack one.
        rule.may_go = false;
        replaces.push(Scope::CodeAt(Code::MissingField, parent));
    }
    rule.wanted = at.parent().and_then(|parent| unknown_reference::wanted(context, &parent));
    if rule.wanted.is_some() {
        rule.severity = Severity::Error;
    }
    replaces.into_iter().fold(Finding::new(rule, at, range), Finding::instead_of)
}

/// Whether an assertion has none of several keys of which it needs at least one.
fn lacks_all(context: &Context<'_>, at: &Pointer) -> bool {
    let known = context.mapping(at);
    let any_of = known.shape.as_ref().map(Shape::any_of).unwrap_or_default();
    let lacks = |key: &&str| known.node.is_some_and(|node| node.get(key).is_none());
    known.claims && !any_of.is_empty() && any_of.iter().all(lacks)
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
    let meant = guess(context, at, &parent, key, &known);
    let is_lost = match &meant {
        IntendedKey::Anchors => {
            severity = Severity::Hint;
            false
        }
        IntendedKey::Resolved { .. } => {
            severity = Severity::Warning;
            false
        }
        IntendedKey::Place(way) => way.is_of_claim(key),
        IntendedKey::Name { rename, .. } => rename.holds_claims(),
        IntendedKey::Taken(name) => known.holds_claims(name),
        IntendedKey::Merge(_)
        | IntendedKey::Flipped { .. }
        | IntendedKey::Opposite(_)
        | IntendedKey::OtherForm { .. }
        | IntendedKey::Secret
        | IntendedKey::Comment
        | IntendedKey::OneOf(_) => false,
    };
    if is_lost {
        severity = Severity::Error;
    }
    if is_required {
        severity = severity.min(Code::MissingField.severity());
    }
    let is_said = matches!(meant, IntendedKey::Merge(_) | IntendedKey::Resolved { .. } | IntendedKey::Anchors);
    let has_name = matches!(meant, IntendedKey::Name { .. } | IntendedKey::Taken(_) | IntendedKey::Secret);
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

/// Returns the intended meaning of a key.
fn guess(context: &Context<'_>, at: &Pointer, parent: &Pointer, key: &str, known: &Mapping<'_>) -> IntendedKey {
    let file = context.file;
    let Mapping { node: mapping, here, fields, free, variant, .. } = known;
    if key == "<<" && !context.node.document().rules().merges() {
        return IntendedKey::Merge(file.dialect());
    }
    let is_resolved = |name: &str| known.shape.as_ref()?.step(name, None)?.resolved_as().filter(|other| *other == key);
    let is_written = |name: &str| mapping.is_some_and(|mapping| mapping.entry(name).is_some());
    if let Some(field) = fields.iter().copied().find(|name| is_written(name) && is_resolved(name).is_some()) {
        return IntendedKey::Resolved { field };
    }
    let entry = mapping.and_then(|mapping| mapping.entry(key));
    if entry.is_some_and(|entry| pasted_secret::is_instead_of_name(key, entry.value)) {
        return IntendedKey::Secret;
    }
    let value = entry.map(|entry| entry.value);
    let member = |name: &str| known.shape.as_ref().and_then(|shape| shape.step(name, *mapping));
    let rename = |name: &'static str, is_sure: bool| Rename { name, member: member(name), is_sure };
    let named = |name: &'static str, is_sure: bool, notes: Vec<String>| match free.contains(&name) {
        true => IntendedKey::Name { rename: rename(name, is_sure), notes },
        false => IntendedKey::Taken(name),
    };
    let below = |child: &'static str, name: &'static str| {
        let to = KeyPath(here.as_ref()?.0.iter().copied().chain([child]).collect());
        Move::to(context, known, key, &to, Some((name, true))).map(IntendedKey::Place)
    };
    match home::bounded(known, key, entry) {
        Some(Bounded { child: None, name }) => return named(name, false, Vec::new()),
        Some(Bounded { child: Some(child), name }) => {
            if let Some(meant) = below(child, name) {
                return meant;
            }
        }
        None => {}
    }
    let elsewhere = home(context, parent, known, key, value);
    let is_close = elsewhere.zip(here.as_ref()).is_some_and(|(place, here)| here.distance(place) <= home::NEARBY);
    let mut tags = known.forms_with(key);
    // The most similar form comes first.
    if let Some((_, own)) = variant {
        tags.sort_by_key(|tag| Reverse(likeness(own, tag)));
    }
    if let Some(name) = opposite_of(key, fields).filter(|_| tags.is_empty() && !is_close) {
        return opposite(key, name, entry, known, &named);
    }
    if let Some(name) = context.stand_ins.borrow().get(at).copied() {
        let belongs_to =
            tags.first().zip(*variant).map(|(form, (tag, _))| format!("`{key}` is a key of `{tag}: {form}`"));
        let missing = format!("the required key `{name}` is missing");
        return named(name, false, belongs_to.into_iter().chain([missing]).collect());
    }
    let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
    // A value that is not valid there makes a similarity unlikely, unless it is close.
    let near = near.filter(|name| fits(member(name), value) || is_surely(key, name, fields.iter().copied()));
    let holds_anchors = parent.is_root() && entry.is_some_and(|entry| edit::has_anchor(entry.value));
    if holds_anchors && near.is_none_or(|name| !free.contains(&name)) {
        return IntendedKey::Anchors;
    }
    if let Some(name) = near.filter(|_| !is_close) {
        // Of two possible keys, only one can be renamed.
        let means_it = |other: &str| {
            other != key && !fields.contains(&other) && nearest(other, free.iter().copied()) == Some(name)
        };
        let has_rival = mapping.is_some_and(|mapping| mapping.entries().any(|entry| means_it(&entry.key.key_text())));
        // A dash that is not a YAML dash starts an item, not a name.
        let begins_as_name = key.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let is_sure = !has_rival && begins_as_name && is_surely(key, name, free.iter().copied());
        return named(name, is_sure, Vec::new());
    }
    if let ([first, rest @ ..], Some((tag, own))) = (tags.as_slice(), *variant) {
        let is_like = likeness(own, first).1 > 0 || rest.is_empty();
        return IntendedKey::OtherForm { tag, forms: tags, is_like };
    }
    let is_next = elsewhere.zip(here.as_ref()).is_some_and(|(place, here)| here.distance(place) == 1);
    if is_remark(key) && !is_next {
        return IntendedKey::Comment;
    }
    if let Some((child, name)) = home::called_below(known, key, value)
        && elsewhere.is_none()
        && let Some(meant) = below(child, name)
    {
        return meant;
    }
    let place = |place: &KeyPath, name| Move::to(context, known, key, place, name).map(IntendedKey::Place);
    if let Some(meant) = elsewhere.and_then(|found| place(found, None)) {
        return meant;
    }
    let alike = nearest(key, shape::all_keys(file)).filter(|name| is_far_likeness(key, name, file));
    if let Some(name) = alike.and_then(|name| key_with_other_name(file, known, entry, name)) {
        return named(name, false, Vec::new());
    }
    let is_sure = |name: &str| is_surely(key, name, shape::all_keys(file));
    let found = alike.and_then(|name| Some((name, home(context, parent, known, name, value)?)));
    if let Some(meant) = found.and_then(|(name, found)| place(found, Some((name, is_sure(name))))) {
        return meant;
    }
    let mut free = free.clone();
    free.sort_by_key(|name| (Reverse(likeness(key, name)), !fits(member(name), value)));
    IntendedKey::OneOf(free)
}

/// Whether a key is for a text about the mapping that contains it.
fn is_remark(key: &str) -> bool {
    ["description", "desc", "comment", "comments", "note", "notes", "remark", "explanation", "why"].contains(&key)
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

fn opposite(
    key: &str,
    name: &'static str,
    entry: Option<EntryRef<'_>>,
    known: &Mapping<'_>,
    named: &dyn Fn(&'static str, bool, Vec<String>) -> IntendedKey,
) -> IntendedKey {
    if let Some(negation) = same_negation(key, name, &known.fields) {
        return named(negation, false, vec![format!("`{negation}` is the opposite of `{name}`")]);
    }
    let member = known.shape.as_ref().and_then(|shape| shape.step(name, known.node));
    if member.is_some_and(|member| member.kind() == Type::Boolean)
        && let Some(value) = entry.map(|entry| entry.value).filter(|value| value.alias().is_none())
        && let Some(Scalar::Bool(value)) = value.scalar()
    {
        return IntendedKey::Flipped { name, value: !value, is_free: known.free.contains(&name) };
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
            IntendedKey::Anchors => words
                .note("its anchors can be used in the rest of the file")
                .help("to avoid this key, put each anchor where its value is first used"),
            IntendedKey::Flipped { name, value: wanted, is_free } => {
                let help = format!("write `{name}: {wanted}`, which means the same");
                let turned = value().filter(|_| *is_free).and_then(|value| edit::rewrite(value, wanted.to_string()));
                words.remedy(help, Fix::guess, turned.and_then(|turned| renamed(location, name, turned)))
            }
            IntendedKey::Opposite(name) => words.note(format!("no key means the opposite of `{name}`")),
            IntendedKey::Name { rename, notes } => {
                rename.message(key, notes.iter().fold(words, MessageParts::note), location)
            }
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
            IntendedKey::Place(way) => way.message(key, words, location),
            IntendedKey::Comment => words.help("write it as a comment, or remove it"),
            IntendedKey::OneOf(free) => words.help(match free.as_slice() {
                [] => "remove it".to_owned(),
                [only] => format!("remove it, or use `{only}`"),
                [..] => format!("remove it, or use another key: {}", a_few(free.iter().copied())),
            }),
        }
    }
}

impl Rename {
    /// Returns the new name of the key, and the schema of its value.
    fn message(&self, key: &str, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let Rename { name, is_sure, .. } = *self;
        let title = fix::rename_title(name);
        let Some(member) = &self.member else { return words.help(title) };
        let (written, wanted) = (Unit::in_name(key), Unit::of(name, member));
        if is_of_other_unit(key, name, wanted) {
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

/// Whether a key is about another unit than the key `name`, whose unit is `wanted`.
fn is_of_other_unit(key: &str, name: &str, wanted: Option<Unit>) -> bool {
    let own = wanted.map(Unit::as_written).or_else(|| Unit::in_name(name));
    Unit::in_name(key).zip(own).is_some_and(|(written, own)| written != own) || counts_by_another_number(key, name)
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

/// Whether a key of another place is meant: at that distance, the names must be very similar.
fn is_far_likeness(key: &str, name: &str, file: SpecFile) -> bool {
    is_surely(key, name, shape::all_keys(file)) || (key.len() >= 6 && name.starts_with(key))
}
