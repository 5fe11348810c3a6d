//! Keys under a name that another format, an earlier version or habit gives them: the types say which field is meant.

use rustc_hash::FxHashSet;

use crate::{
    document::{NodeRef, Pointer},
    problem::{Code, Problem, Severity},
    rules,
    shape::{Need, Shape},
    validate::{self, Definition},
};

/// Reports of unknown keys that are other names what they are called here. A field that is there under another name is not
/// missing as well. Pointers are relative to `node`.
pub(crate) fn lint(node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    if !problems.iter().any(|problem| problem.code == Code::UnknownKey) {
        return;
    }
    let whole = definition.shape();
    let mut explained: FxHashSet<Pointer> = FxHashSet::default();
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey) {
        explained.extend(explain(node, &whole, definition, problem));
    }
    problems.retain(|problem| problem.code != Code::MissingField || !explained.contains(&problem.at));
}

/// Says what a key is called here, or what to use for it. Returns the place at which nothing is missing then: that of the
/// field that is meant, or where one of several must be, the mapping.
fn explain(node: NodeRef<'_>, whole: &Shape, definition: Definition, problem: &mut Problem) -> Option<Pointer> {
    let (parent, key) = (problem.at.parent()?, problem.at.last()?);
    let mapping = node.find(&parent)?;
    let shape = whole.below(&parent, Some(node))?;
    let advice = shape.advice(&key);
    if let Some((help, advice)) = advice.and_then(|advice| Some((advice.help?, advice))) {
        problem.help = Some(help.to_owned());
        // As a comment it would no longer explain what is missing.
        problem.fixes.retain(|fix| fix.is_comment && advice.explains.is_none());
        if let Some(note) = advice.note {
            problem.note = Some(note.to_owned());
        }
        return advice.explains.map(|field| parent.key(field));
    }
    // Under another name a secret would still be in the file.
    if mapping.entry(&key).is_some_and(|entry| rules::pasted_secret::is_instead_of_name(&key, entry.value)) {
        return None;
    }
    let (field, is_synonym) = shape.field_called(&key, Some(mapping))?;
    if field.need == Need::Required {
        problem.severity = Severity::Error;
    }
    // Of two keys that may be meant, only one can have the name. What an anchor marks may be used elsewhere, for another form.
    let has_rival =
        field.shape.other_names().iter().any(|other| other.name != key && mapping.entry(other.name).is_some());
    let is_sure = is_synonym && !has_rival && mapping.anchor().is_none();
    let is_claim = validate::is_claim(whole, node, &parent);
    let dialect = definition.file().dialect().filter(|_| is_claim);
    rules::unknown_key::rename_key(problem, mapping, &field, dialect, is_sure);
    if let Some(note) = advice.and_then(|advice| advice.note) {
        problem.note = Some(note.to_owned());
    }
    Some(match field.need {
        Need::OneOf(_) => parent,
        Need::Required | Need::Optional => parent.key(field.name),
    })
}
