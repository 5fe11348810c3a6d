//! Keys under a name that another format, an earlier version or habit gives them: the types say which field is meant.

use crate::{
    dialect::Dialect,
    document::Pointer,
    finding::{Site, Words},
    shape::Need,
    validate::Context,
};

use super::{Rename, ignored_by};

/// What the types say of a name that is not one of theirs.
#[derive(Debug)]
pub(super) struct OtherName {
    meant: Meant,
    note: Option<&'static str>,
    /// Where nothing is missing because of it: the place of the field that is meant, or where one of several must be, the
    /// mapping.
    pub(super) explains: Option<Pointer>,
    /// Whether the field that is meant must be there.
    pub(super) is_required: bool,
}

#[derive(Debug)]
enum Meant {
    /// No single field: what to write instead. As a comment the key would no longer explain what is missing.
    Advice { help: &'static str, may_go: bool },
    /// A field, and the format whose program ignores the key, where it was to be an assertion.
    Field { rename: Rename, unchecked_by: Option<Dialect> },
}

impl OtherName {
    /// Returns what the types say of a key at a place.
    pub(super) fn of(context: &Context<'_>, at: &Pointer, key: &str) -> Option<OtherName> {
        let parent = at.parent()?;
        let known = context.mapping(&parent);
        let (mapping, shape) = (known.node?, known.shape.as_ref()?);
        let advice = shape.advice(key);
        let note = advice.and_then(|advice| advice.note);
        if let Some((help, advice)) = advice.and_then(|advice| Some((advice.help?, advice))) {
            let meant = Meant::Advice { help, may_go: advice.explains.is_none() };
            let explains = advice.explains.map(|field| parent.key(field));
            return Some(OtherName { meant, note, explains, is_required: false });
        }
        let (field, is_synonym) = shape.field_called(key, Some(mapping))?;
        // Of two keys that may be meant, only one can have the name. What an anchor marks may be used elsewhere, for another
        // form.
        let has_rival =
            field.shape.other_names().iter().any(|other| other.name != key && mapping.entry(other.name).is_some());
        let is_sure = is_synonym && !has_rival && mapping.anchor().is_none();
        let explains = match field.need {
            Need::OneOf(_) => parent,
            Need::Required | Need::Optional => parent.key(field.name),
        };
        let rename = Rename {
            name: field.name,
            member: Some(field.shape.clone()),
            is_sure,
        };
        let unchecked_by = context.file.dialect().filter(|_| known.claims);
        let is_required = field.need == Need::Required;
        Some(OtherName { meant: Meant::Field { rename, unchecked_by }, note, explains: Some(explains), is_required })
    }

    /// Whether the types say something of a key at a place.
    pub(super) fn is_known(context: &Context<'_>, at: &Pointer, key: &str) -> bool {
        OtherName::of(context, at, key).is_some()
    }

    /// Returns what is said of the key. `words` is what is said of it without that.
    pub(super) fn words(&self, key: &str, words: Words, site: &Site<'_>) -> Words {
        let mut words = match &self.meant {
            Meant::Advice { help, may_go } => {
                let mut words = words.help(*help);
                words.fixes.retain(|fix| fix.is_comment && *may_go);
                words
            }
            Meant::Field { rename, unchecked_by } => {
                let subject = words.subject;
                let named = rename.words(key, Words::new(words.message), site);
                let named = match unchecked_by {
                    Some(dialect) => named.note(ignored_by(*dialect)),
                    None => named,
                };
                Words { subject, ..named }
            }
        };
        if let Some(note) = self.note {
            words.note = Some(note.to_owned());
        }
        words
    }
}
