//! What a field says of its values beyond their type: the keywords of [`crate::words`].

use serde_json::Value;

use super::Shape;

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A path to a file of this kind, such as `json-schema`, `directory` or `any`.
    File(&'static str),
    /// A regular expression of this flavour.
    Pattern(&'static str),
    /// A text with placeholders, filled from the map beside it that has this name, or by the dialect that
    /// has it.
    Template(&'static str),
    /// A command for the shell.
    Shell,
    /// The name of one of these.
    Refers(&'static str),
    /// The name that one of these has from now on. At a map, each of its keys is such a name.
    Defines(&'static str),
}

impl Shape {
    /// Returns what a text means beyond its letters.
    pub fn word(&self) -> Option<Word> {
        let text = |name: &str| self.keyword(name).and_then(Value::as_str);
        text("x-file")
            .map(Word::File)
            .or_else(|| text("x-pattern").map(Word::Pattern))
            .or_else(|| text("x-template").map(Word::Template))
            .or_else(|| text("x-refers").map(Word::Refers))
            .or_else(|| text("x-defines").map(Word::Defines))
            .or_else(|| self.is_shell().then_some(Word::Shell))
    }

    /// Returns what is searched with a pattern: `commands`; empty if the format has one kind of patterns only.
    pub(crate) fn searches(&self) -> &'static str {
        self.keyword("x-searches").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns what fills the placeholders of a text, whatever else it means.
    pub fn template(&self) -> Option<&'static str> {
        self.keyword("x-template")?.as_str()
    }

    /// Returns the kind of a name that nothing defines and several places share, such as `tags`; whatever else it
    /// means.
    pub fn shares(&self) -> Option<&'static str> {
        self.keyword("x-shares")?.as_str()
    }

    /// Whether a text is a command for the shell, whatever else it means.
    pub fn is_shell(&self) -> bool {
        self.keyword("x-shell") == Some(&Value::Bool(true))
    }

    /// Returns the only names that placeholders may have here; `None` if that is not limited.
    pub fn template_names(&self) -> Option<Vec<&'static str>> {
        Some(self.keyword("x-template-names")?.as_array()?.iter().filter_map(Value::as_str).collect())
    }

    /// Whether a path may be a pattern that matches many.
    pub fn is_glob(&self) -> bool {
        self.keyword("x-glob") == Some(&Value::Bool(true))
    }

    /// Returns what is created at a path that must lead somewhere before a run, such as `directory`; empty if that is not
    /// to be guessed. `None` where nothing must be there.
    pub(crate) fn exists_before(&self) -> Option<&'static str> {
        self.keyword("x-exists")?.as_str()
    }

    /// Whether a path must not lead out of the workspace.
    pub(crate) fn is_inside(&self) -> bool {
        self.keyword("x-inside") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key whose number must be at least as great.
    pub(crate) fn at_most(&self) -> Option<&'static str> {
        self.keyword("x-at-most")?.as_str()
    }

    /// Whether a text is the id of a model.
    pub fn is_model_id(&self) -> bool {
        self.keyword("x-model") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key with the provider that knows a model by this name.
    pub fn model_of(&self) -> Option<&'static str> {
        self.keyword("x-model-of")?.as_str()
    }

    /// Whether a number is a position that no other item of the list has.
    pub fn is_position(&self) -> bool {
        self.keyword("x-position") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key with the name of the tool whose arguments a mapping has; empty if the mapping belongs to
    /// the tool.
    pub fn arguments_of(&self) -> Option<&'static str> {
        self.keyword("x-arguments")?.as_str()
    }

    /// Returns the sibling key without which the field has no effect.
    pub fn only_with(&self) -> Option<&'static str> {
        self.keyword("x-only")?.as_str()
    }

    /// Whether the keys of the mapping are claims: an unknown one is a claim that vanishes.
    pub fn holds_claims(&self) -> bool {
        self.keyword("x-claims").is_some()
    }
}
