//! Every kind of problem: one code, and one file of the same name. The file has what `explain` and the reference print, the
//! severity, and, as data and in words, each mistake that is reported with the code.
//!
//! To add a rule: add its file, and name it in the list below.

use crate::problem::Severity;

/// What a rule's file says about its code.
pub(crate) struct Page {
    /// The stable word, such as `unknown-key`.
    word: &'static str,
    /// How bad it is unless settings say otherwise.
    severity: Severity,
    /// What it means and what to do, as Markdown.
    docs: &'static str,
}

/// Declares the page of a rule: its documentation, its word, and the severity that a problem has before settings change it.
macro_rules! page {
    ($(#[doc = $doc:literal])+ $word:literal, $severity:ident) => {
        pub(super) const PAGE: $crate::rules::Page = $crate::rules::Page {
            word: $word,
            severity: $crate::problem::Severity::$severity,
            docs: concat!($($doc, "\n",)+),
        };
    };
}

/// Lists the rules, each with its file.
macro_rules! rules {
    ($($variant:ident = $file:ident,)+) => {
        $(pub(crate) mod $file;)+

        /// The kind of a problem. Its word is stable: settings and `allow(...)` comments name it. The documentation of each is
        /// in the file of its rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the file of each rule has its documentation, for `explain` as well")]
        pub enum Code {
            $($variant,)+
        }

        impl Code {
            /// Every code, in the order of the reference.
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
    /// Returns the stable word, such as `unknown-key`.
    pub fn as_str(self) -> &'static str {
        self.page().word
    }

    /// Returns how bad it is unless settings say otherwise.
    pub const fn severity(self) -> Severity {
        self.page().severity
    }

    /// Returns what it means and what to do, as Markdown.
    pub fn docs(self) -> &'static str {
        self.page().docs
    }

    /// Returns the code with this word.
    pub fn parse(word: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == word)
    }

    /// Whether no setting can make less of it: a test that could not be read would otherwise vanish in silence.
    pub fn is_always_an_error(self) -> bool {
        matches!(self, Code::Syntax | Code::UnquotedTemplate | Code::Encoding | Code::UnreadableFile | Code::TooLarge)
    }

    /// Whether every problem of its kind is about something that is absent.
    pub(crate) const fn is_about_absence(self) -> bool {
        matches!(self, Code::MissingField | Code::NoClaims | Code::NoExitCode)
    }

    /// Whether it is about text that could be omitted as well: editors fade it.
    pub fn is_about_unnecessary(self) -> bool {
        matches!(self, Code::Unused | Code::NoEffect)
    }

    /// Whether part of the text is not understood: nothing in that text is checked.
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
