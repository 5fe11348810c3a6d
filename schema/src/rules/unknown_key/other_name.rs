//! Keys under other names: of another format, of an earlier version, or customary. The types declare the field.

use serde_json::Value;

use crate::{
    dialect::Dialect,
    document::Pointer,
    finding::{Location, MessageParts},
    problem::Fix,
    shape::{self, Advice, Need, Shape, Word, scalar},
    validate::Context,
};

use super::{Rename, fits_only_elsewhere, ignored_by, move_to};

/// Explanation of another name in the types.
#[derive(Debug)]
pub(crate) struct OtherName {
    meant: KeyMeaning,
    note: Option<&'static str>,
    /// Finding that has the same cause: the location of the intended field, or, if one of several is required, the
    /// mapping.
    pub(super) explains: Vec<Pointer>,
    /// Whether the intended field is required.
    pub(super) is_required: bool,
    /// Whether the intended field contains assertions.
    pub(super) holds_claims: bool,
}

#[derive(Debug)]
enum KeyMeaning {
    /// No single field: what to write instead. If the key is commented out, it no longer explains the missing field.
    Advice { advice: Advice, help: &'static str, tag: Option<&'static str>, is_pattern: bool },
    /// A field, and the format whose program ignores the key, if it was meant as an assertion.
    Field { rename: Rename, unchecked_by: Option<Dialect> },
    /// A field that the mapping already has.
    Taken(&'static str),
}

impl OtherName {
    /// Returns the explanation of a key in the types.
    pub(super) fn of(context: &Context<'_>, at: &Pointer, key: &str) -> Option<OtherName> {
        let parent = at.parent()?;
        let known = context.mapping(&parent);
        let (mapping, shape) = (known.node?, known.shape.as_ref()?);
        let value = mapping.get(key);
        let applies = |advice: &Advice| {
            advice.condition.is_none_or(|condition| value.is_some_and(|value| shape::holds(condition, value)))
        };
        let advice = shape.advice(key).filter(applies);
        let note = advice.and_then(|advice| advice.note);
        if let Some((help, mut advice)) = advice.and_then(|advice| Some((advice.help?, advice))) {
            let forms = shape.variants();
            let tagged = |name: &str| forms.iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
            let form = advice.form.and_then(|(name, field)| Some((&tagged(name)?.shape, field)));
            // The other keys must have a meaning there.
            let fits = |form: &Shape| {
                let others = mapping.entries().filter_map(|entry| entry.key.as_str()).filter(|other| *other != key);
                others.into_iter().all(|other| form.step(other, None).is_some())
            };
            advice.form = advice.form.filter(|_| form.is_some_and(|(form, _)| fits(form)));
            let field = form.and_then(|(form, field)| form.step(field?, None));
            let is_pattern = matches!(field.and_then(|field| field.word()), Some(Word::Pattern(_)));
            let meant = KeyMeaning::Advice { advice, help, tag: known.variant.map(|(tag, _)| tag), is_pattern };
            let keys = advice.explains.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let explains = keys.map(|key| parent.key(key)).collect();
            return Some(OtherName { meant, note, explains, is_required: false, holds_claims: false });
        }
        let Some((field, is_synonym)) = shape.field_called(key, Some(mapping)) else {
            let (field, _) = shape.field_called(key, None)?;
            let holds_claims = field.shape.holds_claims();
            let meant = KeyMeaning::Taken(field.name);
            return Some(OtherName { meant, note, explains: Vec::new(), is_required: false, holds_claims });
        };
        // Of two possible keys, only one can be renamed. An anchored value may be used elsewhere, in another
        // form.
        let has_rival =
            field.shape.other_names().iter().any(|other| other.name != key && mapping.entry(other.name).is_some());
        let is_sure = is_synonym && !has_rival && mapping.anchor().is_none();
        let explains = match field.need {
            Need::OneOf(_) | Need::AnyOf(_) => parent,
            Need::Required | Need::Optional => parent.key(field.name),
        };
        let rename = Rename { name: field.name, member: Some(field.shape.clone()), is_sure };
        let holds_claims = field.shape.holds_claims();
        let unchecked_by = context.file.dialect().filter(|_| known.claims || holds_claims);
        let is_required = field.need == Need::Required;
        Some(OtherName {
            meant: KeyMeaning::Field { rename, unchecked_by },
            note,
            explains: vec![explains],
            is_required,
            holds_claims,
        })
    }

    /// Whether the types explain a key at a location: a field that is not there, or an advice.
    pub(crate) fn is_known(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
        OtherName::of(context, at, key).is_some_and(|found| match found.meant {
            KeyMeaning::Advice { .. } | KeyMeaning::Field { .. } => true,
            KeyMeaning::Taken(_) => false,
        })
    }

    /// Whether the value of a key belongs to another place, where the name is the key itself.
    pub(super) fn is_only_elsewhere(&self, context: &Context<'_>, at: &Pointer, key: &str) -> bool {
        let KeyMeaning::Field { rename: Rename { member: Some(field), .. }, .. } = &self.meant else { return false };
        context.node.find(at).is_some_and(|value| fits_only_elsewhere(context.file, key, field, value))
    }

    /// Whether the key is only unnecessary.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.meant, KeyMeaning::Advice { advice: Advice { is_idle: true, .. }, .. })
    }

    /// Whether it names a field.
    pub(super) fn is_field(&self) -> bool {
        match self.meant {
            KeyMeaning::Field { .. } | KeyMeaning::Taken(_) => true,
            KeyMeaning::Advice { .. } => false,
        }
    }

    /// Returns the message about the key. `words` is the message without the explanation.
    pub(super) fn message(&self, key: &str, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let mut words = match &self.meant {
            KeyMeaning::Advice { advice, help, tag, is_pattern } => {
                let mut words = words.help(*help);
                if let Some(message) = advice.message {
                    words = MessageParts { message: message.to_owned(), note: None, ..words };
                }
                words.fixes.retain(|fix| fix.is_comment && advice.explains.is_none());
                let fix = advice.form.zip(*tag).and_then(|(form, tag)| in_other_form(tag, form, *is_pattern, location));
                if fix.is_some() {
                    words.fixes.clear();
                }
                words.fix(fix)
            }
            KeyMeaning::Field { rename, unchecked_by } => {
                let subject = words.subject;
                let named = rename.message(key, MessageParts::new(words.message), location);
                let named = match unchecked_by {
                    Some(dialect) => named.note(ignored_by(*dialect)),
                    None => named,
                };
                MessageParts { subject, ..named }
            }
            KeyMeaning::Taken(name) => words.help(move_to(name)),
        };
        if let Some(note) = self.note {
            words.note = Some(note.to_owned());
        }
        words
    }
}

/// Returns the fix that changes the form of the mapping to the one in which the key is meant.
fn in_other_form(
    tag: &str,
    (form, key): (&str, Option<&str>),
    is_pattern: bool,
    location: &Location<'_>,
) -> Option<Fix> {
    let (mapping, member) = (location.holder()?, location.lint_node()?);
    let mut edits = mapping.get(tag)?.replaced(scalar(form))?;
    match key {
        None => edits.extend(mapping.without(&member)?),
        Some(key) if location.at.last().as_deref() == Some(key) => {}
        Some(key) => {
            edits.extend(member.renamed(key)?);
            let text = member.text().filter(|_| is_pattern);
            let escaped = text.map(regex::escape).filter(|escaped| Some(escaped.as_str()) != text);
            edits.extend(escaped.and_then(|escaped| member.replaced(scalar(&escaped))).unwrap_or_default());
        }
    }
    Some(Fix::guess(format!("change the {tag} to `{form}`"), edits))
}
