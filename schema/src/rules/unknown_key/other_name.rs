//! Keys under other names: of another format, of an earlier version, or customary. The types declare the field.

use crate::{
    dialect::Dialect,
    document::Pointer,
    finding::{Location, MessageParts},
    shape::Need,
    validate::Context,
};

use super::{Rename, fits_only_elsewhere, ignored_by, move_to};

/// Explanation of another name in the types.
#[derive(Debug)]
pub(super) struct OtherName {
    meant: KeyMeaning,
    note: Option<&'static str>,
    /// Finding that has the same cause: the location of the intended field, or, if one of several is required, the
    /// mapping.
    pub(super) explains: Option<Pointer>,
    /// Whether the intended field is required.
    pub(super) is_required: bool,
    /// Whether the intended field contains assertions.
    pub(super) holds_claims: bool,
}

#[derive(Debug)]
enum KeyMeaning {
    /// No single field: what to write instead. If the key is commented out, it no longer explains the missing field.
    Advice { help: &'static str, may_go: bool },
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
        let advice = shape.advice(key);
        let note = advice.and_then(|advice| advice.note);
        if let Some((help, advice)) = advice.and_then(|advice| Some((advice.help?, advice))) {
            let meant = KeyMeaning::Advice { help, may_go: advice.explains.is_none() };
            let explains = advice.explains.map(|field| parent.key(field));
            return Some(OtherName { meant, note, explains, is_required: false, holds_claims: false });
        }
        let Some((field, is_synonym)) = shape.field_called(key, Some(mapping)) else {
            let (field, _) = shape.field_called(key, None)?;
            let holds_claims = field.shape.holds_claims();
            let meant = KeyMeaning::Taken(field.name);
            return Some(OtherName { meant, note, explains: None, is_required: false, holds_claims });
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
            explains: Some(explains),
            is_required,
            holds_claims,
        })
    }

    /// Whether the types explain a key at a location: a field that is not there, or an advice.
    pub(super) fn is_known(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
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
            KeyMeaning::Advice { help, may_go } => {
                let mut words = words.help(*help);
                words.fixes.retain(|fix| fix.is_comment && *may_go);
                words
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
