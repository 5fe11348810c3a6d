//! Meaning of values beyond their type: the keywords of [`crate::words`].

use serde_json::Value;

use super::Shape;
use crate::files;

/// Meaning of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A path to a file of this kind, such as `json-schema`, `directory` or `any`.
    File(&'static str),
    /// A regular expression of this flavour.
    Pattern(&'static str),
    /// A string with placeholders, whose values come from the sibling mapping with this name, or from the dialect with
    /// this name.
    Template(&'static str),
    Shell,
    /// The name of something of this kind.
    Refers(&'static str),
    Defines(&'static str),
}

/// The kind of recorded evidence that feeds a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Patterns of the commands that ran.
    Commands,
    /// Lines of the output.
    Output,
    WholeOutput,
    /// Lines of the standard error.
    Errors,
    ExitCodes,
    /// Paths of the files that changed.
    Files,
    /// Lines of a file.
    Lines,
    Tools,
    Models,
    /// Names of spans.
    Spans,
    /// The status in a file.
    Status,
    /// The keys of a file, with their values.
    Fields,
    /// A limit of the duration in milliseconds.
    Duration,
    /// A limit of the cost in US dollars.
    Cost,
    /// A limit of the length of the output.
    Length,
}

impl Seen {
    fn parse(word: &str) -> Option<Seen> {
        Some(match word {
            "commands" => Seen::Commands,
            "output" => Seen::Output,
            "whole-output" => Seen::WholeOutput,
            "errors" => Seen::Errors,
            "exit-codes" => Seen::ExitCodes,
            "files" => Seen::Files,
            "lines" => Seen::Lines,
            "tools" => Seen::Tools,
            "models" => Seen::Models,
            "spans" => Seen::Spans,
            "status" => Seen::Status,
            "fields" => Seen::Fields,
            "duration" => Seen::Duration,
            "cost" => Seen::Cost,
            "length" => Seen::Length,
            _ => return None,
        })
    }

    /// Returns what a declaration says, and the sibling keys with the file that it is about.
    pub(crate) fn read(declared: &'static Value) -> Option<(Seen, Vec<&'static str>)> {
        match declared {
            Value::String(word) => Some((Seen::parse(word)?, Vec::new())),
            Value::Object(of_file) => {
                let (word, keys) = of_file.iter().next()?;
                Some((Seen::parse(word)?, texts(Some(keys)).collect()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }
}

/// A way to require less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Looser {
    /// The sibling key for which a part of the text is enough.
    Key(&'static str),
    /// A sibling key, and its values from strict to loose.
    Values(&'static str, &'static [Value]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// A name or a pattern, in which typographic quotes are a mistake.
    Name,
    /// A text, in which they may be meant.
    Text,
    /// An output or another value of any text, in which white space may be meant, too.
    Output,
}

/// Words for a name that is duplicate where it is defined, or undefined where it is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameWords {
    /// The name, if it is not called after its kind and key: "turn label".
    pub(crate) what: Option<&'static str>,
    /// Consequence.
    pub(crate) note: Option<&'static str>,
    /// Remedy.
    pub(crate) help: Option<&'static str>,
    pub(crate) is_warning: bool,
}

impl Shape {
    /// Returns the schema of a value anywhere in a mapping whose values are only known from recorded evidence.
    pub fn anything(&self) -> Option<Shape> {
        let is_fed = self.arguments_of().is_some() || matches!(self.seen(), Some((Seen::Fields, _)));
        is_fed.then(|| self.without_keywords())
    }

    pub(crate) fn has_name_words(&self) -> bool {
        self.keyword("x-name").is_some()
    }

    pub(crate) fn name_words(&self) -> NameWords {
        let Some(declared) = self.keyword("x-name") else { return NameWords::default() };
        NameWords {
            what: declared["what"].as_str(),
            note: declared["note"].as_str(),
            help: declared["help"].as_str(),
            is_warning: declared["severity"] == "warning",
        }
    }

    /// Returns the meaning of a string.
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

    /// Returns the text that a pattern searches, such as `commands`; empty if the format has only one kind of patterns.
    pub(crate) fn searches(&self) -> &'static str {
        self.keyword("x-searches").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the source of values for the placeholders of a string, regardless of its meaning.
    pub fn template(&self) -> Option<&'static str> {
        self.keyword("x-template")?.as_str()
    }

    /// Returns the kind of a name that several places share without a definition, such as `tags`, regardless of its
    /// meaning.
    pub fn shares(&self) -> Option<&'static str> {
        self.keyword("x-shares")?.as_str()
    }

    /// Whether a string is a shell command, regardless of its meaning.
    pub fn is_shell(&self) -> bool {
        self.keyword("x-shell") == Some(&Value::Bool(true))
    }

    /// Returns the allowed names of placeholders; `None` if all are allowed.
    pub fn template_names(&self) -> Option<Vec<&'static str>> {
        Some(texts(Some(self.keyword("x-template-names")?)).collect())
    }

    /// Whether a path may be a pattern for several files.
    pub fn is_glob(&self) -> bool {
        self.keyword("x-glob") == Some(&Value::Bool(true))
    }

    /// Returns the template for a path that must exist before a run, such as `directory`; empty if there is
    /// none. `None` if the path need not exist.
    pub(crate) fn exists_before(&self) -> Option<&'static str> {
        self.keyword("x-exists")?.as_str()
    }

    /// Whether a text, or those of a list, must be the same as another one or match it, and whether it may hold typographic
    /// quotes on purpose. `None` where it is not compared.
    pub(crate) fn compared(&self) -> Option<Compared> {
        self.declared_compared().or_else(|| match self.word() {
            Some(Word::File(_)) => Some(Compared::Text),
            Some(Word::Pattern(_) | Word::Refers(_) | Word::Defines(_)) => Some(Compared::Name),
            Some(Word::Template(_) | Word::Shell) | None => self.shares().map(|_| Compared::Name),
        })
    }

    /// Returns how a text, or those of a list or mapping, is compared, if only this keyword says so.
    pub(crate) fn declared_compared(&self) -> Option<Compared> {
        Some(match self.keyword("x-compared")?.as_str()? {
            "output" => Compared::Output,
            "text" => Compared::Text,
            _ => Compared::Name,
        })
    }

    /// Returns where a pattern may be instead of a text, or those of a list, that must not occur; empty for nowhere.
    /// `None` if the text may occur.
    pub(crate) fn forbids(&self) -> Option<&'static str> {
        self.keyword("x-forbids")?.as_str()
    }

    /// Returns the directory that a path is relative to, for a document at `place`; empty for the root.
    pub fn base<'p>(&self, place: &'p str) -> &'p str {
        self.keyword("x-above").and_then(Value::as_str).map_or("", |directory| files::above(place, directory))
    }

    /// Whether a path must stay inside the workspace.
    pub(crate) fn is_inside(&self) -> bool {
        self.keyword("x-inside") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key whose number must not be smaller.
    pub(crate) fn at_most(&self) -> Option<&'static str> {
        self.keyword("x-at-most")?.as_str()
    }

    pub(crate) fn problems(&self) -> impl Iterator<Item = &'static Value> {
        self.each("x-problems").filter_map(Value::as_array).flatten()
    }

    /// Returns the result of an assertion with a wildcard in this name or path, which is compared literally: `fails` or
    /// `passes`.
    pub(crate) fn literal(&self) -> Option<&'static str> {
        self.keyword("x-literal")?.as_str()
    }

    /// Returns the help for an empty list or mapping, with which nothing is checked.
    pub(crate) fn non_empty(&self) -> Option<&'static str> {
        self.keyword("x-non-empty")?.as_str()
    }

    /// Returns the words for a text that occurs in the list twice.
    pub(crate) fn unique(&self) -> Option<&'static Value> {
        self.keyword("x-unique")
    }

    /// Returns the sibling keys that replace the field.
    pub(crate) fn no_effect_with(&self) -> impl Iterator<Item = &'static str> {
        texts(self.keyword("x-no-effect-with"))
    }

    /// Returns the keys of the mapping of which only the first one has an effect.
    pub(crate) fn first_of(&self) -> impl Iterator<Item = &'static str> {
        texts(self.keyword("x-first-of"))
    }

    /// Returns the keys that the mapping should have, and what happens without them.
    pub(crate) fn expected(&self) -> Option<(Vec<&'static str>, &'static str)> {
        let declared = self.keyword("x-expected")?;
        Some((texts(declared.get("keys")).collect(), declared["note"].as_str()?))
    }

    /// Whether a string must be a time once its variables are expanded.
    pub(crate) fn is_time(&self) -> bool {
        self.keyword("x-time") == Some(&Value::Bool(true))
    }

    /// Whether a number may be a string that contains it.
    pub(crate) fn may_be_in_quotes(&self) -> bool {
        self.keyword("x-in-quotes") == Some(&Value::Bool(true))
    }

    pub(crate) fn takes_integers(&self) -> bool {
        self.keyword("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|it| it == "integer"))
    }

    pub(crate) fn declares_problems(&self) -> bool {
        const KEYWORDS: [&str; 11] = [
            "x-problems", "x-literal", "x-non-empty", "x-no-effect-with", "x-only", "x-first-of", "x-expected",
            "x-time", "x-in-quotes", "x-unit", "x-unique",
        ];
        self.parts.iter().flat_map(|part| part.keys()).any(|keyword| KEYWORDS.contains(&keyword.as_str()))
    }

    pub fn is_model_id(&self) -> bool {
        self.keyword("x-model") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key with the provider of a model.
    pub fn model_of(&self) -> Option<&'static str> {
        self.keyword("x-model-of")?.as_str()
    }

    /// Whether a number is a position, unique in the list.
    pub fn is_position(&self) -> bool {
        self.keyword("x-position") == Some(&Value::Bool(true))
    }

    /// Returns the sibling key with the name of the tool whose arguments a mapping contains; empty if the mapping
    /// belongs to the tool.
    pub fn arguments_of(&self) -> Option<&'static str> {
        self.keyword("x-arguments")?.as_str()
    }

    /// Returns the sibling key that the field requires to have an effect.
    pub fn only_with(&self) -> Option<&'static str> {
        self.keyword("x-only")?.as_str()
    }

    /// Whether a number is a duration in seconds.
    pub(crate) fn is_in_seconds(&self) -> bool {
        self.keyword("x-unit").is_some_and(|unit| unit == "seconds")
    }

    /// Returns the reason why a field is needed, where only some mappings of its type need it.
    pub(crate) fn needed_because(&self) -> Option<&'static str> {
        self.keyword("x-needed")?.as_str()
    }

    /// Returns the key beside a field that KindLM itself sets to the content of the field.
    pub(crate) fn resolved_as(&self) -> Option<&'static str> {
        self.keyword("x-resolved")?.as_str()
    }

    /// Returns the consequence of an unknown key in the mapping or below, if the format's tool refuses it; `Some(None)` if
    /// it ignores it, even in a mapping that refuses others.
    pub(crate) fn refusal(&self) -> Option<Option<&'static str>> {
        Some(self.keyword("x-refuses")?.as_str())
    }

    /// Returns the kind of recorded evidence that feeds the field, and the sibling keys with the file that it is about.
    pub fn seen(&self) -> Option<(Seen, Vec<&'static str>)> {
        Seen::read(self.keyword("x-seen")?)
    }

    /// Returns the ways to require less than the field does.
    pub(crate) fn looser(&self) -> Vec<Looser> {
        match self.keyword("x-looser") {
            Some(Value::String(key)) => vec![Looser::Key(key)],
            Some(Value::Object(keys)) => {
                keys.iter().filter_map(|(key, values)| Some(Looser::Values(key, values.as_array()?))).collect()
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => Vec::new(),
        }
    }

    /// Whether the keys of the mapping are assertions, so an unknown key is a lost assertion.
    pub fn holds_claims(&self) -> bool {
        let is_marked = |shape: &Shape| shape.keyword("x-claims").is_some();
        is_marked(self) || self.item().is_some_and(|item| is_marked(&item))
    }
}

fn texts(list: Option<&'static Value>) -> impl Iterator<Item = &'static str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
