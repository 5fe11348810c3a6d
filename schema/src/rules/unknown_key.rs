//! Unknown keys, and what was meant by them: what the types say of the name, or else a misspelled key of the mapping, a
//! key of another form of it, or a key of another mapping.

use std::cmp::Reverse;

use serde_json::Value;

use crate::{
    document::{NodeRef, Pointer},
    edit,
    finding::{Finding, MessageParts, Scope},
    format::Dialect,
    json_schema::SpecFile,
    key_path::KeyPath,
    lint_node::{LintNode, head},
    problem::{Code, Edit, Fix, Severity},
    quoting::scalar,
    shape::{self, Advice, Need, Shape, Type, Word},
    validate::{
        Context, Mapping, could_hold,
        fix::{self, Reshaped},
        unit::Unit,
        with_article,
    },
    words::{a_few, is_surely, likeness, nearest, opposite_of, same_negation},
};

use super::{pasted_secret, unknown_reference};

mod home;
mod swallowed;
mod unknown;

pub(crate) use home::home;
pub(crate) use swallowed::of as swallowed;
use unknown::{Unknown, is_of_other_unit};

/// What is said of an unknown key.
struct Said {
    words: MessageParts,
    severity: Severity,
    /// Whether the key can be commented out if there is no other fix.
    may_go: bool,
    /// Other findings with the same cause.
    explains: Vec<Pointer>,
}

/// Reports an unknown key. `is_required`: whether it replaces a required key.
pub(crate) fn of(context: &Context<'_>, at: Pointer, key: &str, is_required: bool) -> Finding {
    let range = head(context.node, &at);
    let unknown = Unknown::new(context, &at, key, range.start);
    let said = unknown.explained(is_required).unwrap_or_else(|| unknown.guessed(is_required));
    let Said { mut words, mut severity, may_go, explains } = said;
    let codes = [Code::MissingField, Code::UnknownKey];
    let mut replaces: Vec<Scope> =
        explains.iter().flat_map(|at| codes.map(|code| Scope::CodeAt(code, at.clone()))).collect();
    if unknown.is_alone() {
        // The missing key has the same cause, and without this one, the assertion would lack one.
        replaces.push(Scope::CodeAt(Code::MissingField, unknown.parent.clone()));
    } else if may_go && !is_required && words.fixes.is_empty() {
        words.fixes.extend(edit::comment_out(context.node, &at).map(Fix::comment));
    }
    if let Some(provider) = unknown_reference::wanted(context, &unknown.parent) {
        severity = Severity::Error;
        words = words.note(format!("a model uses the provider `{provider}`, which is missing"));
    }
    let finding = Finding::stated(Code::UnknownKey, words, at.clone(), range).with_severity(severity);
    replaces.into_iter().fold(finding, Finding::instead_of)
}

/// Whether an unknown key is an assertion that would be lost.
pub(crate) fn is_lost_claim(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
    Unknown::new(context, at, key, 0).guessed(false).severity == Severity::Error
}

/// Whether the types explain a key at a location: a field that is not there, or an advice.
pub(crate) fn is_explained(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
    let unknown = Unknown::new(context, at, key, 0);
    let is_free = |shape: &Shape, mapping| shape.field_called(key, Some(mapping)).is_some();
    unknown.advice().is_some_and(|advice| advice.help.is_some())
        || unknown.known.shape.as_ref().zip(unknown.known.node).is_some_and(|(shape, mapping)| is_free(shape, mapping))
}

/// Returns the consequence of an unknown key that was meant as an assertion.
pub(crate) fn ignored_by(dialect: Dialect) -> String {
    format!("{} ignores unknown keys, so this key has no effect", dialect.program())
}

/// Returns the help for another name of a key that exists.
fn move_to(name: &str) -> String {
    format!("move its value to `{name}`, or remove it")
}

impl<'c, 'd> Unknown<'c, 'd> {
    /// Whether an assertion has none of several keys of which it needs at least one.
    fn is_alone(&self) -> bool {
        let any_of = self.known.shape.as_ref().map(Shape::any_of).unwrap_or_default();
        let lacks = |key: &&str| self.known.node.is_some_and(|node| node.get(key).is_none());
        self.known.claims && !any_of.is_empty() && any_of.iter().all(lacks)
    }

    fn words(&self) -> MessageParts {
        MessageParts::new(match self.known.variant {
            Some((_, form)) => format!("unknown key `{}` in `{form}`", self.key),
            None => format!("unknown key `{}`", self.key),
        })
    }

    /// Adds the consequence to the words about a key that was meant as an assertion.
    fn ignored(&self, words: MessageParts, is_claim: bool) -> MessageParts {
        match (self.known.refusal, self.file().dialect().filter(|_| is_claim || self.known.claims)) {
            (Some(refusal), _) => words.note(refusal),
            (None, Some(dialect)) => words.note(ignored_by(dialect)),
            (None, None) => words,
        }
    }

    /// Says what is meant. `is_claim`: whether it was meant as an assertion.
    fn said(&self, words: MessageParts, is_claim: bool, is_required: bool) -> Said {
        let severity = if is_claim || self.known.claims { Severity::Error } else { Code::UnknownKey.severity() };
        let severity = if is_required { severity.min(Code::MissingField.severity()) } else { severity };
        Said { words: self.ignored(words, is_claim), severity, may_go: true, explains: Vec::new() }
    }

    /// Says what the types say of the name: another name of a field, or an advice.
    fn explained(&self, is_required: bool) -> Option<Said> {
        let (mapping, shape) = (self.known.node?, self.known.shape.as_ref()?);
        if self.is_secret() || self.holds_anchors() {
            return None;
        }
        let advice = self.advice();
        let noted = |words: MessageParts| match advice.and_then(|advice| advice.note) {
            Some(note) => MessageParts { note: Some(note.to_owned()), ..words },
            None => words,
        };
        if let Some((help, advice)) = advice.and_then(|advice| Some((advice.help?, advice))) {
            let fix = advice.form.and_then(|form| self.in_other_form(form));
            let keys = advice.explains.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let mut said = self.said(self.words(), false, is_required);
            if let Some(message) = advice.message {
                said.words = MessageParts::new(message);
            }
            said.words = noted(said.words.fix(fix).help(help));
            said.may_go = advice.explains.is_none();
            said.explains = keys.map(|key| self.parent.key(key)).collect();
            said.severity = if advice.is_idle { Severity::Hint } else { said.severity };
            return Some(said);
        }
        let Some((field, is_synonym)) = shape.field_called(self.key, Some(mapping)) else {
            let (field, _) = shape.field_called(self.key, None)?;
            let said = self.said(self.words().help(move_to(field.name)), field.shape.holds_claims(), is_required);
            return Some(Said { words: noted(said.words), ..said });
        };
        if self.node().is_some_and(|value| fits_only_elsewhere(self.file(), self.key, &field.shape, value)) {
            return None;
        }
        // Of two possible keys, only one can be renamed. An anchored value may be used elsewhere, in another form.
        let others = field.shape.other_names();
        let has_rival = others.iter().any(|other| other.name != self.key && mapping.entry(other.name).is_some());
        let is_sure = is_synonym && !has_rival && mapping.anchor().is_none();
        let mut said =
            self.said(self.renamed(self.words(), field.name, is_sure), field.shape.holds_claims(), is_required);
        said.words = noted(said.words);
        said.may_go = false;
        if field.need == Need::Required {
            said.severity = Severity::Error;
        }
        said.explains = vec![match field.need {
            Need::OneOf(_) | Need::AnyOf(_) => self.parent.clone(),
            Need::Required | Need::Optional => self.parent.key(field.name),
        }];
        Some(said)
    }

    fn advice(&self) -> Option<Advice> {
        let value = self.known.node?.get(self.key);
        let applies = |advice: &Advice| {
            advice.condition.is_none_or(|condition| value.is_some_and(|value| shape::holds(condition, value)))
        };
        self.known.shape.as_ref()?.advice(self.key).filter(applies)
    }

    /// Returns the fix that changes the form of the mapping to the one in which the key is meant, under another name
    /// there. The other keys must have a meaning in it.
    fn in_other_form(&self, (form, key): (&str, Option<&str>)) -> Option<Fix> {
        let (tag, _) = self.known.variant?;
        let member = self.value.as_ref()?;
        let mapping = LintNode::root(self.context.node).around(&self.parent, member.head().start)?;
        let forms = self.known.shape.as_ref()?.variants();
        let shape = &forms.iter().find(|variant| variant.tag.is_some_and(|(_, tag)| tag == form))?.shape;
        let mut others = mapping.node.entries().filter_map(|entry| entry.key.as_str());
        if !others.all(|other| other == self.key || shape.step(other, None).is_some()) {
            return None;
        }
        let mut edits = mapping.get(tag)?.replaced(scalar(form))?;
        match key {
            None => edits.extend(mapping.without(member)?),
            Some(key) if key == self.key => {}
            Some(key) => {
                edits.extend(member.renamed(key)?);
                let is_pattern = matches!(shape.step(key, None)?.word(), Some(Word::Pattern(_)));
                let text = member.text().filter(|_| is_pattern);
                let escaped = text.map(regex::escape).filter(|escaped| Some(escaped.as_str()) != text);
                edits.extend(escaped.and_then(|escaped| member.replaced(scalar(&escaped))).unwrap_or_default());
            }
        }
        Some(Fix::guess(format!("change the {tag} to `{form}`"), edits))
    }

    /// Whether the value is a secret. Renaming the key would leave it in the file.
    fn is_secret(&self) -> bool {
        self.node().is_some_and(|value| pasted_secret::is_instead_of_name(self.key, value))
    }

    /// Whether it is a place for values that aliases repeat.
    fn holds_anchors(&self) -> bool {
        let has_anchor = self
            .known
            .node
            .and_then(|mapping| mapping.entry(self.key))
            .is_some_and(|entry| edit::nodes::has_anchor(entry.value));
        self.parent.is_root() && has_anchor && nearest(self.key, self.known.free.iter().copied()).is_none()
    }

    /// Says what the key was most likely meant for.
    fn guessed(&self, is_required: bool) -> Said {
        let Unknown { context, key, .. } = *self;
        let known = &*self.known;
        let (file, fields, free) = (self.file(), &known.fields, &known.free);
        let say = |words: MessageParts| self.said(words, false, is_required);
        let fixed = |severity: Severity, words: MessageParts| {
            let severity = if is_required { severity.min(Code::MissingField.severity()) } else { severity };
            Said { words, severity, may_go: false, explains: Vec::new() }
        };
        if key == "<<" && !context.node.document().rules().merges() {
            let program = file.dialect().map_or("speclens", |format| format.program());
            let words = self.words().note(format!("{program} does not apply merge keys here"));
            let severity = if known.claims { Severity::Error } else { Code::UnknownKey.severity() };
            return fixed(severity, words.help("write the keys out"));
        }
        let is_written = |name: &str| known.node.is_some_and(|mapping| mapping.entry(name).is_some());
        let is_resolved = |name: &str| self.member(name).is_some_and(|field| field.resolved_as() == Some(key));
        if let Some(field) = fields.iter().find(|name| is_resolved(name)) {
            let program = file.dialect().map_or("the tool", |format| format.program());
            return match is_written(field) {
                true => {
                    let words = MessageParts::new(format!("`{key}` has no effect with `{field}`"));
                    fixed(Severity::Warning, words.help("remove it"))
                }
                false => {
                    let words = self.words().note(format!("{program} sets it to the content of the file in `{field}`"));
                    fixed(Severity::Error, words.help(format!("write `{field}`")))
                }
            };
        }
        if self.is_secret() {
            return Said { may_go: false, ..say(self.words()) };
        }
        if self.holds_anchors() {
            let words = self.words().note("its anchors can be used in the rest of the file");
            let help = "to avoid this key, put each anchor where its value is first used";
            return fixed(Severity::Hint, words.help(help));
        }
        let named = |name: &'static str, is_sure: bool, notes: Vec<String>| {
            let words = notes.iter().fold(self.words(), MessageParts::note);
            let is_claim = known.holds_claims(name);
            let words =
                if free.contains(&name) { self.renamed(words, name, is_sure) } else { words.help(move_to(name)) };
            Said { may_go: false, ..self.said(words, is_claim, is_required) }
        };
        let elsewhere = home(context, &self.parent, known, key, self.node());
        let distance = |place: &KeyPath| known.here.as_ref().map(|here| here.distance(place));
        let distance = elsewhere.and_then(distance);
        let is_close = distance.is_some_and(|distance| distance <= home::NEARBY);
        let mut tags = known.forms_with(key);
        // The most similar form comes first.
        if let Some((_, own)) = known.variant {
            tags.sort_by_key(|tag| Reverse(likeness(own, tag)));
        }
        if let Some(name) = opposite_of(key, fields).filter(|_| tags.is_empty() && !is_close) {
            let words = self.words().note(format!("no key means the opposite of `{name}`"));
            let is_boolean = self.member(name).is_some_and(|member| member.kind() == Type::Boolean);
            return match is_boolean {
                true => say(words.help(format!("write `{name}` with the opposite value"))),
                false => self.strange(words, "", is_required),
            };
        }
        if let Some(name) = context.stand_ins.borrow().get(self.at).copied() {
            let of_form = |form: &&str, (tag, _): (&str, &str)| format!("`{key}` is a key of `{tag}: {form}`");
            let belongs_to = tags.first().zip(known.variant).map(|(form, own)| of_form(form, own));
            let missing = format!("the required key `{name}` is missing");
            return named(name, false, belongs_to.into_iter().chain([missing]).collect());
        }
        let near = nearest(key, free.iter().copied()).or_else(|| nearest(key, fields.iter().copied()));
        let near = near.or_else(|| same_negation(key, fields));
        // A value that is not valid there makes a similarity unlikely, unless it is close.
        let fits = |name: &&str| home::fits(self.member(name), self.node());
        let near = near.filter(|name| fits(name) || is_surely(key, name, fields.iter().copied()));
        if let Some(name) = near.filter(|_| !is_close) {
            return named(name, self.is_surely(name), Vec::new());
        }
        if let ([first, rest @ ..], Some((tag, own))) = (tags.as_slice(), known.variant) {
            let note = match (likeness(own, first).1 > 0, rest.is_empty()) {
                (_, true) => format!("`{key}` is a key of `{tag}: {first}`"),
                (true, false) => format!("`{key}` is a key of `{tag}: {first}` and of other types"),
                (false, false) => format!("`{key}` is a key of other types"),
            };
            return say(self.words().note(note).help("remove it"));
        }
        if is_remark(key) && distance != Some(1) {
            return say(self.words().help("write it as a comment, or remove it"));
        }
        let place = |place: &KeyPath, name| {
            let (words, is_claim) = home::moved(self, place, name)?;
            Some(self.said(words, is_claim, is_required))
        };
        if let Some((child, name)) = home::called_below(known, key, self.node())
            && elsewhere.is_none()
            && let Some(here) = &known.here
            && let Some(said) = place(&KeyPath(here.0.iter().copied().chain([child]).collect()), Some((name, true)))
        {
            return said;
        }
        if let Some(said) = elsewhere.and_then(|found| place(found, None)) {
            return said;
        }
        // At that distance, the names must be very similar.
        let is_sure = |name: &str| is_surely(key, name, shape::all_keys(file));
        let is_alike = |name: &&str| is_sure(name) || (key.len() >= 6 && name.starts_with(key));
        if let Some(alike) = nearest(key, shape::all_keys(file)).filter(is_alike) {
            let field = known.shape.as_ref().and_then(|shape| shape.field_called(alike, None)).map(|(field, _)| field);
            let is_elsewhere =
                |field: &Shape| self.node().is_some_and(|value| fits_only_elsewhere(file, alike, field, value));
            if let Some(field) = field.filter(|field| !is_elsewhere(&field.shape)) {
                return named(field.name, false, Vec::new());
            }
            let found = home(context, &self.parent, known, alike, self.node());
            if let Some(said) = found.and_then(|found| place(found, Some((alike, is_sure(alike))))) {
                return said;
            }
        }
        let mut free = free.clone();
        free.sort_by_key(|name| (Reverse(likeness(key, name)), !fits(name)));
        let instead = match free.as_slice() {
            [] => String::new(),
            [only] => format!("use `{only}`"),
            [..] => format!("use another key: {}", a_few(free.iter().copied())),
        };
        self.strange(self.words(), &instead, is_required)
    }

    /// Says that no meaning is known; `instead` is what can be done other than to remove the key. If the tool refuses keys
    /// that it does not know, a later version of it may know this one.
    fn strange(&self, words: MessageParts, instead: &str, is_required: bool) -> Said {
        let help = match (instead, self.known.refusal) {
            ("", Some(_)) => None,
            (_, Some(_)) => Some(instead.to_owned()),
            ("", None) => Some("remove it".to_owned()),
            (_, None) => Some(format!("remove it, or {instead}")),
        };
        let said = self.said(MessageParts { help, ..words }, false, is_required);
        match self.known.refusal {
            Some(_) => Said { words: said.words.note("speclens does not know later versions"), ..said },
            None => said,
        }
    }

    /// Whether the key is certainly a misspelling of a free one.
    fn is_surely(&self, name: &str) -> bool {
        let Mapping { fields, free, node, .. } = &*self.known;
        // Of two possible keys, only one can be renamed.
        let means_it = |other: &str| {
            other != self.key && !fields.contains(&other) && nearest(other, free.iter().copied()) == Some(name)
        };
        let has_rival = node.is_some_and(|mapping| mapping.entries().any(|entry| means_it(&entry.key.key_text())));
        // A dash that is not a YAML dash starts an item, not a name.
        let begins_as_name = self.key.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        !has_rival && begins_as_name && is_surely(self.key, name, free.iter().copied())
    }

    /// Adds what to rename the key to. `is_sure`: whether no other name is possible.
    fn renamed(&self, words: MessageParts, name: &str, is_sure: bool) -> MessageParts {
        let title = fix::rename_title(name);
        let Some(member) = &self.member(name) else { return words.help(title) };
        let (written, wanted) = (Unit::in_name(self.key), Unit::of(name, member));
        if is_of_other_unit(self.key, name, wanted) {
            return words.help(match wanted {
                Some(wanted) => format!("write `{name}`, which takes {}", wanted.label()),
                None => format!("write `{name}`, and convert the value to its unit"),
            });
        }
        let kind = with_article(&member.type_name());
        let value = self.node().filter(|value| !value.is_null());
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
        // A key from a merge must be fixed where it is written: here it exists only by reference.
        let edits: Option<Vec<Edit>> = self.value.as_ref().and_then(|value| value.renamed(name));
        let edits = edits.map(|edits| [edits, shaped.edits].concat());
        let fix = edits.map(|edits| Fix { preferred: is_sure || fits, ..fix(title.clone(), edits) });
        words.fix(fix).help(title)
    }
}

/// Whether a key is for a text about the mapping that contains it.
fn is_remark(key: &str) -> bool {
    ["description", "desc", "comment", "comments", "note", "notes", "remark", "explanation", "why"].contains(&key)
}

/// Whether only a place where a name is a key itself accepts a value, and the field that it is another name of does not.
fn fits_only_elsewhere(file: SpecFile, name: &str, field: &Shape, value: NodeRef<'_>) -> bool {
    let places = shape::places_of(file, name).iter();
    let mut shapes = places.filter_map(|place| Shape::find(file, &place.pointer().key(name), None));
    !value.is_null() && shapes.any(|shape| could_hold(&shape, value)) && !could_hold(field, value)
}
