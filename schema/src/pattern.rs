//! Regular expressions where they are written: what a format does with them, and what they are when they are read.

use std::ops::Range;

use crate::{
    check::pattern::{EcmaPattern, PatternError, PatternErrorKind, python::PythonPattern},
    dialect::Format,
    problem::Severity,
    spot::Spot,
    template::trimmed_placeholders,
    walk::Value,
};

/// What a format does with the patterns of a field.
#[derive(Clone, Copy, Debug)]
pub struct PatternUse {
    /// How they ignore case.
    pub case: LetterCase,
    /// What becomes of one that is not valid.
    pub invalid: Invalid,
    /// What happens, as a note, where one is valid that cannot be searched for here. `None` where that is the same as for
    /// one that is not valid.
    pub unsupported: Option<&'static str>,
    /// Whether one that only the newest versions of the language know is valid.
    pub knows_new: bool,
    /// What happens, as a note, where one matches the empty string. `None` where that is not wrong, or the format says more
    /// about it.
    pub empty: Option<&'static str>,
    /// What else they must be.
    pub limit: Limit,
}

/// How patterns ignore case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// They always do.
    Ignored,
    /// They do after `(?i)`.
    IgnoredByFlag,
    /// They never do.
    Significant,
}

/// What becomes of a pattern that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// It cannot be used. The note says what happens.
    Unusable(Severity, Option<&'static str>),
    /// It is searched for as plain text.
    PlainText,
}

/// What patterns must be, beyond being valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No more than that.
    None,
    /// Such that masking takes linear time.
    Linear,
    /// Without quantifiers in quantifiers. The note says what happens otherwise.
    NotNested(&'static str),
}

impl PatternUse {
    /// Those of which nothing special is known.
    pub const PLAIN: PatternUse = PatternUse {
        case: LetterCase::Significant,
        invalid: Invalid::Unusable(Severity::Error, None),
        unsupported: None,
        knows_new: false,
        empty: None,
        limit: Limit::None,
    };

    /// Whether an error means only that the pattern cannot be searched for here.
    fn is_unsupported(&self, kind: PatternErrorKind) -> bool {
        match kind {
            PatternErrorKind::Invalid => false,
            PatternErrorKind::TooNew => self.knows_new,
            PatternErrorKind::Untranslatable => self.unsupported.is_some(),
        }
    }
}

/// A pattern, and where it is written.
pub struct Pattern<'d> {
    pub(crate) spot: Spot<'d>,
    pub(crate) text: &'d str,
    /// What is searched with it, as the schema says; empty where it does not.
    pub(crate) searches: &'static str,
    pub(crate) usage: PatternUse,
    pub(crate) compiled: Compiled,
    /// Whether the text is searched for as it is written.
    is_filled: bool,
}

/// What reading a pattern gives.
pub(crate) enum Compiled {
    /// It finds nothing but its own text.
    Literal,
    Ecmascript(EcmaPattern),
    Python(PythonPattern),
    Broken(PatternError),
}

impl Compiled {
    pub(crate) fn matches_empty(&self) -> bool {
        match self {
            Compiled::Literal | Compiled::Broken(_) => false,
            Compiled::Ecmascript(pattern) => pattern.matches_empty(),
            Compiled::Python(pattern) => pattern.matches_empty(),
        }
    }
}

impl<'d> Pattern<'d> {
    /// Returns the pattern of a flavour that a value is. `None` where the value is wrong in itself.
    pub(crate) fn of(value: &Value<'_, 'd>, flavour: &str, format: &dyn Format) -> Option<Pattern<'d>> {
        let shape = value.shape()?;
        let text = value.node.as_str().filter(|text| !(text.is_empty() && shape.is_never_empty()))?;
        let searches = shape.searches();
        let usage = format.pattern_use(searches);
        // What a template stands for is a word.
        let is_template = shape.template().is_some();
        let places = if is_template { trimmed_placeholders(text) } else { Vec::new() };
        let filled = places.iter().fold(text.to_owned(), |filled, place| filled.replace(place.text, "x"));
        let compiled = match flavour {
            "python" => PythonPattern::compile(&filled, true).map(Compiled::Python),
            _ if usage.invalid == Invalid::PlainText && is_literal(text) => Ok(Compiled::Literal),
            _ => EcmaPattern::compile(&filled, usage.case == LetterCase::Ignored).map(Compiled::Ecmascript),
        };
        let compiled = compiled.unwrap_or_else(Compiled::Broken);
        Some(Pattern { spot: value.spot(), text, searches, usage, compiled, is_filled: !places.is_empty() })
    }

    /// Returns where in the pattern an error is. The place can be underlined where the pattern is written as it reads.
    pub(crate) fn place(&self, error: &PatternError) -> Range<usize> {
        let letter = self.text.get(error.at..).and_then(|rest| rest.chars().next());
        let whole = self.spot.part(self.text, 0);
        match letter {
            Some(letter) if !self.is_filled && whole.len() == self.text.len() => {
                let start = whole.start + error.at;
                start..start + letter.len_utf8()
            }
            Some(_) | None => self.spot.text_range(),
        }
    }

    /// Returns what happens, as a note, where an error means only that the pattern cannot be searched for here.
    pub(crate) fn unsupported(&self, error: &PatternError) -> Option<&'static str> {
        self.usage.unsupported.filter(|_| self.usage.is_unsupported(error.kind))
    }
}

/// Whether a pattern finds nothing but its own text: there is nothing to compile.
pub(crate) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}
