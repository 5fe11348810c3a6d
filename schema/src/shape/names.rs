//! Other names of a key or of a value from a closed set: in earlier versions, in other formats, or customary. The types
//! declare them with `x-synonyms` and `x-other-names`, and advice about names without a single equivalent with
//! `x-advice` (see [`crate::words`]).

use serde_json::Value;

use crate::document::NodeRef;

use super::{Field, Keywords, Shape, keyword_of};

/// A name other than the real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherName {
    /// Name as written.
    pub name: &'static str,
    /// Whether it certainly has the same meaning, so that the fix is safe.
    pub is_synonym: bool,
}

/// Advice about a key or a value without a single equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Reason why there is no such name.
    pub note: Option<&'static str>,
    /// Replacement, as a help. `None` if a field only declares a note about the name.
    pub help: Option<&'static str>,
    /// Message about the name, in place of that about any unknown key.
    pub message: Option<&'static str>,
    /// Other keys of the mapping whose absence, or presence, has the same cause.
    pub explains: Option<&'static Value>,
    /// Form of the mapping in which the name is meant, and the key there; `None` if the form says it all.
    pub form: Option<(&'static str, Option<&'static str>)>,
    /// Whether the key is only unnecessary.
    pub is_idle: bool,
    pub condition: Option<&'static Value>,
}

impl Shape {
    pub fn other_names(&self) -> Vec<OtherName> {
        let has = |part, keyword| keyword_of(part, keyword).is_some();
        let declares = |part: &&&'static Keywords| has(part, SYNONYMS) || has(part, OTHER_NAMES);
        self.parts.iter().find(declares).map(|part| names_in(part).collect()).unwrap_or_default()
    }

    /// Returns the field that another name of a key refers to, and whether that is certain. `node` is the
    /// mapping: fields that it already has are excluded.
    pub(crate) fn field_called(&self, other: &str, node: Option<NodeRef<'_>>) -> Option<(Field, bool)> {
        let is_free = |field: &Field| node.is_none_or(|node| node.entry(field.name).is_none());
        self.fields(node).into_iter().filter(is_free).find_map(|field| {
            let found = field.shape.other_names().into_iter().find(|known| known.name == other)?;
            Some((field, found.is_synonym))
        })
    }

    pub fn values_by_other_names(&self) -> impl Iterator<Item = (&'static str, OtherName)> {
        let choices = self.keyword("oneOf").and_then(Value::as_array).into_iter().flatten();
        choices.filter_map(Value::as_object).flat_map(|choice| {
            let value = choice.get("const").and_then(Value::as_str);
            value.into_iter().flat_map(|value| names_in(choice).map(move |other| (value, other)))
        })
    }

    /// Returns the value that another name refers to, and whether that is certain.
    pub(crate) fn value_called(&self, other: &str) -> Option<(&'static str, bool)> {
        let mut names = self.values_by_other_names();
        names.find(|(_, known)| known.name == other).map(|(value, known)| (value, known.is_synonym))
    }

    /// Returns the advice about a name: of a key at a mapping, of a value at a scalar.
    pub fn advice(&self, name: &str) -> Option<Advice> {
        let entries = self.each("x-advice").filter_map(Value::as_array).flatten();
        let is_about = |entry: &&'static Value| texts(&entry["names"]).any(|known| known == name);
        entries.into_iter().find(is_about).map(|entry| Advice {
            note: entry["note"].as_str(),
            help: entry["help"].as_str(),
            message: entry["message"].as_str(),
            explains: entry.get("explains"),
            form: entry["form"].as_str().map(|form| (form, entry["key"].as_str())),
            is_idle: entry["idle"] == Value::Bool(true),
            condition: entry.get("if"),
        })
    }

    /// Returns keys under which other formats name the form of a mapping whose only key is that name.
    pub fn tags(&self) -> impl Iterator<Item = &'static str> {
        self.keyword("x-tags").into_iter().flat_map(texts)
    }
}

const SYNONYMS: &str = "x-synonyms";
const OTHER_NAMES: &str = "x-other-names";

fn names_in(part: &'static Keywords) -> impl Iterator<Item = OtherName> {
    let listed = |keyword, is_synonym| {
        let names = keyword_of(part, keyword).into_iter().flat_map(texts);
        names.map(move |name| OtherName { name, is_synonym })
    };
    listed(SYNONYMS, true).chain(listed(OTHER_NAMES, false))
}

fn texts(list: &'static Value) -> impl Iterator<Item = &'static str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::Type;
    use super::*;
    use crate::{document::Pointer, json_schema::SpecFile};

    /// Other names must not be real names, because these are never looked up, and must refer to a single field.
    #[test]
    fn other_name_is_free_and_means_one_thing() {
        fn check(shape: &Shape, path: &str, depth: usize) -> usize {
            if depth > 12 {
                return 0;
            }
            let fields = shape.fields(None);
            let mut known: Vec<(&str, &str)> = Vec::new();
            for field in &fields {
                for other in field.shape.other_names() {
                    assert!(!fields.iter().any(|it| it.name == other.name), "{path}: {} is a key", other.name);
                    // If a mapping has several forms, it contains the tag.
                    let twice = known.iter().find(|(name, of)| *name == other.name && *of != "type");
                    assert!(twice.is_none(), "{path}: {} means {} and {twice:?}", other.name, field.name);
                    known.push((other.name, field.name));
                }
                let values = field.shape.values();
                for (_, other) in field.shape.values_by_other_names() {
                    let is_value = values.iter().any(|choice| choice.value.as_str() == Some(other.name));
                    assert!(!is_value, "{path}/{}: {} is a value", field.name, other.name);
                }
            }
            let members = [shape.item(), shape.map_value()].into_iter().flatten();
            let below = members.map(|member| (member, "*")).chain(fields.iter().map(|it| (it.shape.clone(), it.name)));
            let forms = if shape.kind() == Type::Text { Vec::new() } else { shape.variants() };
            let forms = forms.into_iter().map(|form| (form.shape, "?"));
            let all: Vec<(Shape, &str)> = below.chain(forms.filter(|_| depth.is_multiple_of(2))).collect();
            known.len()
                + all.iter().map(|(below, step)| check(below, &format!("{path}/{step}"), depth + 1)).sum::<usize>()
        }
        let found: usize = SpecFile::ALL.iter().map(|file| check(&Shape::of(*file), file.as_str(), 0)).sum();
        assert!(found > 100, "{found}");
    }

    #[test]
    fn other_name_leads_to_field_value_and_advice() {
        let find = |file, at| Shape::find(file, &Pointer::parse(at), None).unwrap();
        let task = find(SpecFile::CLI_BENCH, "/tasks/0");
        let (field, is_synonym) = task.field_called("prompt", None).unwrap();
        assert_eq!((field.name, is_synonym), ("intent", false));
        assert!(task.field_called("intent", None).is_none());
        let kind = find(SpecFile::CLAWSPEC_SCENARIOS, "/scenarios/0/then/0/type");
        assert_eq!(kind.value_called("tool_called"), Some(("tool_was_called", true)));
        assert_eq!(kind.value_called("tool_used"), Some(("tool_was_called", false)));
        assert!(kind.advice("response_contains").is_some_and(|advice| advice.note.is_some()));
        let output = find(SpecFile::KINDLM, "/tests/0/expect/output");
        assert!(output.advice("containsAny").is_some_and(|advice| advice.help.is_some()));
        assert!(output.advice("contains").is_none());
    }
}
