//! Regular expressions in specs: how a format uses them, and how they are compiled.

use std::ops::Range;

use crate::{
    check::pattern::{EcmaPattern, PatternError, PatternErrorKind, PythonPattern},
    lint_node::LintNode,
    problem::Severity,
    template::trimmed_placeholders,
    walk::Value,
};

#[derive(Clone, Copy, Debug)]
pub struct PatternUse {
    /// Case sensitivity of the patterns.
    pub case: LetterCase,
    /// Effect of an invalid pattern.
    pub invalid: Invalid,
    /// Note about the effect of a valid pattern that speclens cannot search for. `None` if it is the same as for
    /// an invalid one.
    pub unsupported: Option<&'static str>,
    /// Whether patterns are valid that only the newest versions of the language support.
    pub knows_new: bool,
    /// Note about the effect of a pattern that matches the empty string. `None` if that is allowed, or if the format
    /// reports it.
    pub empty: Option<&'static str>,
    /// Additional requirement.
    pub limit: Limit,
}

/// Case sensitivity of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    Ignored,
    IgnoredByFlag,
    /// Never ignored.
    Significant,
}

/// Effect of an invalid pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The pattern cannot be used. The note describes the effect.
    Unusable(Severity, Option<&'static str>),
    /// The pattern is searched for as plain text.
    PlainText,
}

/// Requirement on valid patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No requirement.
    None,
    /// Masking must take linear time.
    Linear,
    /// No nested quantifiers. The note describes the effect of a violation.
    NotNested(&'static str),
}

impl PatternUse {
    /// Use without special properties.
    pub const PLAIN: PatternUse = PatternUse {
        case: LetterCase::Significant,
        invalid: Invalid::Unusable(Severity::Error, None),
        unsupported: None,
        knows_new: false,
        empty: None,
        limit: Limit::None,
    };

    /// Whether an error means only that speclens cannot search for the pattern.
    fn is_unsupported(&self, kind: PatternErrorKind) -> bool {
        match kind {
            PatternErrorKind::Invalid => false,
            PatternErrorKind::TooNew => self.knows_new,
            PatternErrorKind::Untranslatable => self.unsupported.is_some(),
        }
    }
}

pub struct Pattern<'d> {
    pub(crate) lint_node: LintNode<'d>,
    pub(crate) text: &'d str,
    /// Searched text, from the schema; empty if unknown.
    pub(crate) searches: &'static str,
    pub(crate) usage: PatternUse,
    pub(crate) compiled: Compiled,
    /// Whether the text is searched for as written.
    is_filled: bool,
}

/// Result of compiling a pattern.
pub(crate) enum Compiled {
    /// Plain text without special characters.
    Literal,
    Ecmascript(EcmaPattern),
    Python(PythonPattern),
    Broken(PatternError),
}

impl Compiled {
    /// Whether the pattern matches the empty string in every text.
    pub(crate) fn matches_empty(&self) -> bool {
        match self {
            Compiled::Literal | Compiled::Broken(_) => false,
            Compiled::Ecmascript(pattern) => pattern.matches_empty(),
            Compiled::Python(pattern) => pattern.matches_empty(),
        }
    }
}

impl<'d> Pattern<'d> {
    /// Returns the pattern in a value, in a flavour. `None` if the value itself is invalid.
    pub(crate) fn of(value: &Value<'_, 'd>, flavour: &str, usage: PatternUse) -> Option<Pattern<'d>> {
        let shape = value.shape()?;
        let text = value.text.filter(|text| !(text.is_empty() && shape.is_never_empty()))?;
        let searches = shape.searches();
        // A template is replaced by a word.
        let is_template = shape.template().is_some();
        let places = if is_template { trimmed_placeholders(text) } else { Vec::new() };
        let filled = places.iter().fold(text.to_owned(), |filled, place| filled.replace(place.text, "x"));
        let compiled = match flavour {
            "python" => PythonPattern::compile(&filled, true).map(Compiled::Python),
            _ if usage.invalid == Invalid::PlainText && is_literal(text) => Ok(Compiled::Literal),
            _ => EcmaPattern::compile(&filled, usage.case == LetterCase::Ignored).map(Compiled::Ecmascript),
        };
        let compiled = compiled.unwrap_or_else(Compiled::Broken);
        Some(Pattern { lint_node: value.lint_node(), text, searches, usage, compiled, is_filled: !places.is_empty() })
    }

    /// Returns the range of an error. It is within the pattern if the pattern is written without escapes.
    pub(crate) fn place(&self, error: &PatternError) -> Range<usize> {
        let letter = self.text.get(error.at..).and_then(|rest| rest.chars().next());
        let whole = self.lint_node.part(self.text, 0);
        match letter {
            Some(letter) if !self.is_filled && whole.len() == self.text.len() => {
                let start = whole.start + error.at;
                start..start + letter.len_utf8()
            }
            Some(_) | None => self.lint_node.text_range(),
        }
    }

    /// Returns the note if an error means only that speclens cannot search for the pattern.
    pub(crate) fn unsupported(&self, error: &PatternError) -> Option<&'static str> {
        self.usage.unsupported.filter(|_| self.usage.is_unsupported(error.kind))
    }
}

/// Whether a pattern matches only its own text and need not be compiled.
pub(crate) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}
