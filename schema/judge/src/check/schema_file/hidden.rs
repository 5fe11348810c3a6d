//! Validates values with hidden parts: the result must be the same whatever is hidden.
//!
//! Keywords that inspect strings are replaced by versions that notice when a hidden part decides. After that, only
//! errors that no other keyword can revoke count.

use std::cell::Cell;

use jsonschema::{Draft, Keyword, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::{Map, Value};

use super::{SchemaAnswer, answer, formats::Format, options};
use crate::{
    check::hidden::{lengths, may_be},
    mask::{MASK_CHARACTER, has_hidden},
};

/// A schema for values with hidden parts.
#[derive(Debug)]
pub(super) struct MaskedSchema {
    validator: Validator,
    /// Whether the schema has a condition, which decides about other keywords.
    has_condition: bool,
}

thread_local! {
    /// Whether a hidden part decided in the current validation.
    static DECIDED: Cell<bool> = const { Cell::new(false) };
}

/// A keyword that inspects strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Pattern,
    Format,
    Enum,
    Const,
    MinLength,
    MaxLength,
    UniqueItems,
}

struct TextKeyword {
    looks: Looks,
    /// The value of the keyword.
    rule: Value,
    /// A validator of the keyword alone.
    itself: Validator,
}

impl MaskedSchema {
    pub(super) fn new(draft: Draft, schema: &Value) -> Option<MaskedSchema> {
        let keywords = [
            ("pattern", Looks::Pattern),
            ("format", Looks::Format),
            ("enum", Looks::Enum),
            ("const", Looks::Const),
            ("minLength", Looks::MinLength),
            ("maxLength", Looks::MaxLength),
            ("uniqueItems", Looks::UniqueItems),
        ];
        let mut careful = options(draft);
        for (name, looks) in keywords {
            careful = careful.with_keyword(name, move |_: &Map<String, Value>, rule: &Value, _| {
                let alone = Value::Object(Map::from_iter([(name.to_owned(), rule.clone())]));
                let itself = options(draft).build(&alone).map_err(ValidationError::to_owned)?;
                Ok(Box::new(TextKeyword { looks, rule: rule.clone(), itself }) as Box<dyn for<'i> Keyword<'i>>)
            });
        }
        let validator = careful.build(schema).ok()?;
        Some(MaskedSchema { validator, has_condition: mentions(schema, "if") })
    }

    pub(super) fn validate(&self, instance: &Value) -> SchemaAnswer {
        // A hidden name decides which keywords apply to its member.
        if has_hidden_name(instance) {
            return SchemaAnswer::Hidden;
        }
        DECIDED.set(false);
        let errors: Vec<ValidationError<'_>> = self.validator.iter_errors(instance).collect();
        if !DECIDED.get() {
            return answer(errors.into_iter());
        }
        let certain = errors.into_iter().filter(|error| !self.has_condition && stands_alone(error.kind()));
        match answer(certain) {
            SchemaAnswer::Valid => SchemaAnswer::Hidden,
            found => found,
        }
    }
}

/// Returns whether an error follows from its own keyword and the value alone, so other keywords cannot revoke it.
fn stands_alone(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::AdditionalItems { .. }
            | ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::Constant { .. }
            | ValidationErrorKind::Enum { .. }
            // `format`.
            | ValidationErrorKind::Custom { .. }
            | ValidationErrorKind::ExclusiveMaximum { .. }
            | ValidationErrorKind::ExclusiveMinimum { .. }
            | ValidationErrorKind::FalseSchema
            | ValidationErrorKind::Format { .. }
            | ValidationErrorKind::MaxItems { .. }
            | ValidationErrorKind::Maximum { .. }
            | ValidationErrorKind::MaxLength { .. }
            | ValidationErrorKind::MaxProperties { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::Minimum { .. }
            | ValidationErrorKind::MinLength { .. }
            | ValidationErrorKind::MinProperties { .. }
            | ValidationErrorKind::MultipleOf { .. }
            | ValidationErrorKind::Pattern { .. }
            | ValidationErrorKind::Required { .. }
            | ValidationErrorKind::Type { .. }
            | ValidationErrorKind::UniqueItems
    )
}

impl TextKeyword {
    /// Returns whether the validity of the value depends on hidden parts.
    fn is_open(&self, instance: &Value) -> bool {
        if !has_hidden(instance) {
            return false;
        }
        let text = match instance {
            Value::String(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let may_equal = |literal: &Value| match (literal, text) {
            (Value::String(literal), Some(text)) => may_be(text, literal),
            (Value::Array(_) | Value::Object(_), None) => true,
            (
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
                _,
            ) => false,
        };
        match self.looks {
            Looks::Pattern => text.is_some(),
            Looks::Format => text.is_some() && self.rule.as_str().is_some_and(|name| Format::of(name).is_some()),
            Looks::Const => may_equal(&self.rule),
            Looks::Enum => self.rule.as_array().is_none_or(|literals| literals.iter().any(may_equal)),
            Looks::MinLength | Looks::MaxLength => text.is_some_and(|text| {
                let (least, most) = characters(text);
                let ends = [least, most].map(|length| self.itself.is_valid(&Value::from("x".repeat(length))));
                ends[0] != ends[1]
            }),
            Looks::UniqueItems => instance.is_array() && self.rule == Value::Bool(true),
        }
    }
}

impl<'i> Keyword<'i> for TextKeyword {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_open(instance) {
            DECIDED.set(true);
            return Ok(());
        }
        self.itself.validate(instance)
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        if self.is_open(instance) {
            DECIDED.set(true);
            return true;
        }
        self.itself.is_valid(instance)
    }
}

/// Returns the least and the greatest number of characters of a text: two units may be one character.
fn characters(text: &str) -> (usize, usize) {
    let hidden = text.matches(MASK_CHARACTER).count();
    let known = text.chars().count() - hidden;
    let (least, most) = lengths(&MASK_CHARACTER.to_string().repeat(hidden));
    (known + least.div_ceil(2), known + most)
}

fn has_hidden_name(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_hidden_name),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains(MASK_CHARACTER) || has_hidden_name(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn mentions(schema: &Value, keyword: &str) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| mentions(item, keyword)),
        Value::Object(members) => members.iter().any(|(name, value)| name == keyword || mentions(value, keyword)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
