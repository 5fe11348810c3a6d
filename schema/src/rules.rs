//! Kinds of problems: one code and one file with the same name for each. The file contains the documentation for
//! `explain` and the reference, the default severity, and each rule that reports the code, with its message.
//!
//! To add a rule: add its file, and name it in the two lists below.

use crate::problem::Severity;

/// Properties of a code from the file of its rule.
pub(crate) struct Page {
    /// Stable name, such as `unknown-key`.
    word: &'static str,
    /// Default severity.
    severity: Severity,
    /// Meaning and remedy, as Markdown.
    docs: &'static str,
}

/// Declares the page of a rule: documentation, name, and default severity.
macro_rules! page {
    ($(#[doc = $doc:literal])+ $word:literal, $severity:ident) => {
        pub(super) const PAGE: $crate::rules::Page = $crate::rules::Page {
            word: $word,
            severity: $crate::problem::Severity::$severity,
            docs: concat!($($doc, "\n",)+),
        };
    };
}

pub(crate) mod ambiguous_scalar;
pub(crate) mod collision;
pub(crate) mod conflicting_fields;
pub(crate) mod contradiction;
pub(crate) mod duplicate_key;
pub(crate) mod duplicate_name;
pub(crate) mod encoding;
pub(crate) mod invalid_definition;
pub(crate) mod invalid_path;
pub(crate) mod invalid_pattern;
pub(crate) mod invalid_schema_file;
pub(crate) mod invalid_setting;
pub(crate) mod invalid_value;
pub(crate) mod last_command_only;
pub(crate) mod missing_field;
pub(crate) mod missing_file;
pub(crate) mod missing_negative;
pub(crate) mod missing_variable;
pub(crate) mod never_evaluated;
pub(crate) mod no_claims;
pub(crate) mod no_effect;
pub(crate) mod no_exit_code;
pub(crate) mod out_of_range;
pub(crate) mod pasted_secret;
pub(crate) mod placeholder;
pub(crate) mod revealing_intent;
pub(crate) mod shared_workdir;
pub(crate) mod shell_quoting;
pub(crate) mod stage_count;
pub(crate) mod suspicious_pattern;
pub(crate) mod syntax;
pub(crate) mod target_mismatch;
pub(crate) mod template_in_name;
pub(crate) mod too_few_turns;
pub(crate) mod too_large;
pub(crate) mod unchecked;
pub(crate) mod unknown_alias;
pub(crate) mod unknown_key;
pub(crate) mod unknown_reference;
pub(crate) mod unknown_type;
pub(crate) mod unquoted_template;
pub(crate) mod unreadable_file;
pub(crate) mod unsupported_expression;
pub(crate) mod unused;
pub(crate) mod upstream_differs;
pub(crate) mod vacuous_claim;
pub(crate) mod vague_intent;
pub(crate) mod wrong_type;

/// Lists the rules, each with its file.
macro_rules! rules {
    ($($variant:ident = $file:ident,)+) => {
        /// Kind of a problem. Its name is stable: settings and `allow(...)` comments use it. The documentation of each
        /// is in the file of its rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the file of each rule has its documentation, for `explain` as well")]
        pub enum Code {
            $($variant,)+
        }

        impl Code {
            /// All codes, in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            const fn page(self) -> &'static Page {
                match self { $(Code::$variant => &$file::PAGE,)+ }
            }
        }
    };
}

rules! {
    Syntax = syntax,
    Encoding = encoding,
    UnreadableFile = unreadable_file,
    DuplicateKey = duplicate_key,
    UnknownAlias = unknown_alias,
    TooLarge = too_large,
    UnknownKey = unknown_key,
    MissingField = missing_field,
    ConflictingFields = conflicting_fields,
    WrongType = wrong_type,
    InvalidValue = invalid_value,
    OutOfRange = out_of_range,
    DuplicateName = duplicate_name,
    UnknownReference = unknown_reference,
    Unused = unused,
    MissingVariable = missing_variable,
    MissingFile = missing_file,
    InvalidPath = invalid_path,
    InvalidSchemaFile = invalid_schema_file,
    InvalidPattern = invalid_pattern,
    UnknownType = unknown_type,
    NeverEvaluated = never_evaluated,
    UnquotedTemplate = unquoted_template,
    TemplateInName = template_in_name,
    MissingNegative = missing_negative,
    TargetMismatch = target_mismatch,
    InvalidDefinition = invalid_definition,
    StageCount = stage_count,
    UnsupportedExpression = unsupported_expression,
    SuspiciousPattern = suspicious_pattern,
    NoClaims = no_claims,
    VacuousClaim = vacuous_claim,
    Contradiction = contradiction,
    Collision = collision,
    NoEffect = no_effect,
    Unchecked = unchecked,
    Placeholder = placeholder,
    ShellQuoting = shell_quoting,
    PastedSecret = pasted_secret,
    RevealingIntent = revealing_intent,
    VagueIntent = vague_intent,
    TooFewTurns = too_few_turns,
    NoExitCode = no_exit_code,
    LastCommandOnly = last_command_only,
    SharedWorkdir = shared_workdir,
    AmbiguousScalar = ambiguous_scalar,
    UpstreamDiffers = upstream_differs,
    InvalidSetting = invalid_setting,
}

impl Code {
    /// Returns the stable name, such as `unknown-key`.
    pub fn as_str(self) -> &'static str {
        self.page().word
    }

    /// Returns the default severity.
    pub const fn severity(self) -> Severity {
        self.page().severity
    }

    /// Returns the meaning and remedy, as Markdown.
    pub fn docs(self) -> &'static str {
        self.page().docs
    }

    /// Returns the code with this name.
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
