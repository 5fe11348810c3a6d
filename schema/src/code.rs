//! Kinds of problems: one row each, with its page for `explain` and the reference in `codes/`.

use serde::{Deserialize, Serialize};

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The suite cannot run, or does not mean what its author thinks.
    Error,
    /// Something is very likely wrong.
    Warning,
    /// Something is worth knowing.
    Information,
    /// Something can be improved slightly.
    Hint,
}

impl Severity {
    /// The word used in reports and settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}

macro_rules! codes {
    ($($variant:ident = $word:literal, $severity:ident;)+) => {
        /// Kind of a problem. Its name is stable: settings and `allow(...)` comments use it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($variant,)+
        }

        impl Code {
            /// All codes, in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// Returns the stable name, such as `unknown-key`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $word,)+ }
            }

            /// Returns the default severity.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }

            /// Returns the meaning and remedy, as Markdown.
            pub fn docs(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("codes/", $word, ".md")),)+ }
            }
        }
    };
}

codes! {
    Syntax = "syntax", Error;
    Encoding = "encoding", Error;
    UnreadableFile = "unreadable-file", Error;
    DuplicateKey = "duplicate-key", Error;
    UnknownAlias = "unknown-alias", Error;
    TooLarge = "too-large", Error;
    UnknownKey = "unknown-key", Warning;
    MissingField = "missing-field", Error;
    ConflictingFields = "conflicting-fields", Error;
    WrongType = "wrong-type", Error;
    InvalidValue = "invalid-value", Error;
    OutOfRange = "out-of-range", Error;
    DuplicateName = "duplicate-name", Error;
    UnknownReference = "unknown-reference", Error;
    Unused = "unused", Hint;
    MissingVariable = "missing-variable", Error;
    MissingFile = "missing-file", Error;
    InvalidPath = "invalid-path", Error;
    InvalidSchemaFile = "invalid-schema-file", Error;
    InvalidPattern = "invalid-pattern", Error;
    UnknownType = "unknown-type", Error;
    NeverEvaluated = "never-evaluated", Warning;
    UnquotedTemplate = "unquoted-template", Error;
    TemplateInName = "template-in-name", Error;
    MissingNegative = "missing-negative", Warning;
    TargetMismatch = "target-mismatch", Warning;
    InvalidDefinition = "invalid-definition", Warning;
    StageCount = "stage-count", Error;
    UnsupportedExpression = "unsupported-expression", Error;
    SuspiciousPattern = "suspicious-pattern", Warning;
    NoClaims = "no-claims", Warning;
    VacuousClaim = "vacuous-claim", Warning;
    Contradiction = "contradiction", Warning;
    Collision = "collision", Warning;
    NoEffect = "no-effect", Hint;
    Unchecked = "unchecked", Warning;
    Placeholder = "placeholder", Warning;
    ShellQuoting = "shell-quoting", Warning;
    PastedSecret = "pasted-secret", Warning;
    RevealingIntent = "revealing-intent", Hint;
    VagueIntent = "vague-intent", Hint;
    TooFewTurns = "too-few-turns", Hint;
    NoExitCode = "no-exit-code", Hint;
    LastCommandOnly = "last-command-only", Hint;
    SharedWorkdir = "shared-workdir", Warning;
    AmbiguousScalar = "ambiguous-scalar", Hint;
    UpstreamDiffers = "upstream-differs", Hint;
    InvalidSetting = "invalid-setting", Warning;
}

impl Code {
    pub fn parse(word: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == word)
    }

    /// Whether no setting can reduce the severity, because a test that cannot be read would silently disappear.
    pub fn is_always_an_error(self) -> bool {
        matches!(self, Code::Syntax | Code::UnquotedTemplate | Code::Encoding | Code::UnreadableFile | Code::TooLarge)
    }

    /// Whether every problem with this code is about something missing.
    pub(crate) const fn is_about_absence(self) -> bool {
        matches!(self, Code::MissingField | Code::NoClaims | Code::NoExitCode)
    }

    /// Whether the text could be removed, so editors fade it.
    pub fn is_about_unnecessary(self) -> bool {
        matches!(self, Code::Unused | Code::NoEffect)
    }

    /// Whether part of the text is not understood and therefore not checked.
    pub fn is_about_reading(self) -> bool {
        matches!(
            self,
            Code::Syntax
                | Code::UnquotedTemplate
                | Code::Encoding
                | Code::DuplicateKey
                | Code::UnknownAlias
                | Code::TooLarge
        )
    }
}
