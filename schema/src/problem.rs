//! What can be wrong with a spec: one code per kind of problem, one constructor of messages per rule.

pub mod example;

use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{document::Pointer, shape::Place};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The suite does not mean what its author thinks, or cannot run.
    Error,
    /// Very likely wrong.
    Warning,
    /// Worth knowing.
    Information,
    /// A small improvement.
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

/// Something wrong, at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The kind of problem.
    pub code: Code,
    /// How bad it is, before settings change it.
    pub severity: Severity,
    /// What is wrong: one lower-case clause without a final period.
    pub message: String,
    /// What the message names, for code that adds fixes later: no code reads the message itself.
    pub subject: Option<Subject>,
    /// The names that the message lists, where more can join them. `None` where it speaks of one place.
    pub listing: Option<Listing>,
    /// What happens because of it, such as what the tool of the format does. `None` where the message says it all.
    pub note: Option<String>,
    /// What to write instead, as an imperative with its object. `None` where a fix says it, or nothing general can be said.
    pub help: Option<String>,
    /// The node that is wrong.
    pub at: Pointer,
    /// The bytes to underline.
    pub range: Range<usize>,
    /// Other places that belong to the problem.
    pub related: Vec<Related>,
    /// Fixes that can be applied, the best one first.
    pub fixes: Vec<Fix>,
    /// Whether it matters only to those who name the program of the format under `compat` in the settings.
    pub is_for_compat: bool,
}

/// What a problem is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A name: of a variable without a value, or one that is taken.
    Name(String),
    /// The place where an unknown key belongs.
    Home(Place),
    /// A key without a space behind its colon: what it should be is known.
    GluedKey,
}

/// Names in a message. Problems of one file that differ in nothing but these are reported as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// What comes before the names.
    pub before: String,
    /// The names, each once, in the order of the text.
    pub names: Vec<String>,
}

impl Listing {
    /// The whole message. No name is left out.
    pub fn message(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let listed = match names.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            _ => names.concat(),
        };
        format!("{} {listed}", self.before)
    }
}

/// Another place that belongs to a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// What is there, such as "first defined here".
    pub message: String,
    /// Whether the same is wrong there.
    pub repeats: bool,
    /// The node.
    pub at: Pointer,
    /// Its bytes.
    pub range: Range<usize>,
    /// The file that it is in, when that is another one than the problem's.
    pub file: Option<OtherFile>,
}

/// A file beside the one that a problem is in.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherFile {
    /// Its path: relative to the directory of the suite, until a report makes it relative to another one.
    pub path: String,
    /// What it holds, so that places in it can be shown.
    pub bytes: Arc<[u8]>,
}

impl OtherFile {
    /// What it holds, as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// A change that mends a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What it does, as an imperative: "rename it to `contains`". The help of its problem says the same.
    pub title: String,
    /// The changes, none overlapping another.
    pub edits: Vec<Edit>,
    /// The files that it creates. A person has to choose such a fix.
    pub creates: Vec<NewFile>,
    /// Whether it may be applied unseen.
    pub applicability: Applicability,
    /// Whether it is the best fix of its problem.
    pub preferred: bool,
    /// Whether it only turns text into a comment: any other fix of the problem is better.
    pub is_comment: bool,
}

/// Whether a person has to look at a fix before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// The fix writes what the author meant beyond doubt: `speclens check --fix` and *fix all* apply it.
    Safe,
    /// The fix is a guess, or leaves something to fill in: a person chooses it.
    Suggestion,
}

/// One replacement of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The bytes that go.
    pub range: Range<usize>,
    /// What comes instead.
    pub text: String,
}

/// A file that a fix creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Where, relative to the directory of the document; with `/`, and `..` where it leads upwards.
    pub path: String,
    /// What it holds at first.
    pub text: String,
}

impl Fix {
    /// What the author meant beyond doubt.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Safe, true)
    }

    /// The best guess: marked in a menu, never applied unseen.
    pub fn guess(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Suggestion, true)
    }

    /// One way out among others, or a beginning that has to be filled in.
    pub fn suggestion(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Suggestion, false)
    }

    /// Keeps a text as a comment, and takes away what it was taken for.
    pub fn comment(edits: Vec<Edit>) -> Fix {
        Fix { is_comment: true, ..Fix::suggestion("turn it into a comment", edits) }
    }

    /// A file that is missing, to be filled in.
    pub fn creation(title: impl Into<String>, file: NewFile) -> Fix {
        Fix { creates: vec![file], ..Fix::suggestion(title, Vec::new()) }
    }

    fn new(title: impl Into<String>, edits: Vec<Edit>, applicability: Applicability, preferred: bool) -> Fix {
        Fix { title: title.into(), edits, creates: Vec::new(), applicability, preferred, is_comment: false }
    }

    /// Whether it may be applied unseen.
    pub fn is_safe(&self) -> bool {
        self.applicability == Applicability::Safe
    }
}

impl Edit {
    /// A replacement of these bytes.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Edit {
        Edit { range, text: text.into() }
    }
}

impl Problem {
    /// A problem with its code's own severity.
    pub fn new(code: Code, at: Pointer, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem {
            code,
            severity: code.severity(),
            message: message.into(),
            subject: None,
            listing: None,
            note: None,
            help: None,
            at,
            range,
            related: Vec::new(),
            fixes: Vec::new(),
            is_for_compat: false,
        }
    }

    /// Returns the same problem, reported only where the settings name the program of the format under `compat`.
    pub fn only_with_compat(mut self) -> Problem {
        self.is_for_compat = true;
        self
    }

    /// Returns a problem whose message ends with a name, which joins those of other problems with the same beginning.
    pub fn naming(
        code: Code,
        at: Pointer,
        range: Range<usize>,
        before: impl Into<String>,
        name: impl Into<String>,
    ) -> Problem {
        let listing = Listing { before: before.into(), names: vec![name.into()] };
        Problem { listing: Some(listing.clone()), ..Problem::new(code, at, range, listing.message()) }
    }

    /// Returns the message with its note and its help on lines of their own, for readers that show one text.
    pub fn text(&self) -> String {
        let mut text = self.message.clone();
        for (label, part) in [("note", &self.note), ("help", &self.help)] {
            if let Some(part) = part {
                text.push_str(&format!("\n{label}: {part}"));
            }
        }
        text
    }

    /// Returns the same problem with a note: what happens because of it.
    pub fn with_note(mut self, note: impl Into<String>) -> Problem {
        self.note = Some(note.into());
        self
    }

    /// Adds a note behind the one that there is.
    pub fn add_note(&mut self, note: impl AsRef<str>) {
        self.note = Some(match self.note.take() {
            Some(first) => format!("{first}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        });
    }

    /// Returns the same problem with its subject.
    pub fn with_subject(mut self, subject: Subject) -> Problem {
        self.subject = Some(subject);
        self
    }

    /// Returns the same problem with a help: what to write instead.
    pub fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// The same problem with another severity.
    pub fn with_severity(mut self, severity: Severity) -> Problem {
        self.severity = severity;
        self
    }

    /// The same problem with a fix.
    pub fn with_fix(mut self, fix: Fix) -> Problem {
        self.fixes.push(fix);
        self
    }

    /// The same problem with another place that belongs to it.
    pub fn with_related(mut self, message: impl Into<String>, at: Pointer, range: Range<usize>) -> Problem {
        self.related.push(Related { message: message.into(), repeats: false, at, range, file: None });
        self
    }

    /// The same problem with a place in another file that belongs to it.
    pub fn with_related_in(
        mut self,
        file: OtherFile,
        message: impl Into<String>,
        at: Pointer,
        range: Range<usize>,
    ) -> Problem {
        self.related.push(Related { message: message.into(), repeats: false, at, range, file: Some(file) });
        self
    }

    /// The other files that belong to the problem, to be named as readers know them.
    pub fn other_files(&mut self) -> impl Iterator<Item = &mut OtherFile> {
        self.related.iter_mut().filter_map(|related| related.file.as_mut())
    }

    /// Moves a problem found in a block to its place in the document: ranges by `distance` bytes,
    /// pointers below `base`.
    pub fn moved(mut self, base: &Pointer, distance: usize) -> Problem {
        let shift = |range: &mut Range<usize>| *range = range.start + distance..range.end + distance;
        shift(&mut self.range);
        self.at = base.join(&self.at);
        for related in self.related.iter_mut().filter(|related| related.file.is_none()) {
            shift(&mut related.range);
            related.at = base.join(&related.at);
        }
        for edit in self.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
            shift(&mut edit.range);
        }
        self
    }
}

/// Takes out what was found in the items of the list at a place and below them, by the number of the
/// item.
pub(crate) fn by_item(list: &Pointer, problems: &mut Vec<Problem>) -> BTreeMap<usize, Vec<Problem>> {
    let mut items: BTreeMap<usize, Vec<Problem>> = BTreeMap::new();
    let item = |problem: &Problem| problem.at.below(list)?.steps().next()?.parse::<usize>().ok();
    for problem in std::mem::take(problems) {
        match item(&problem) {
            Some(index) => items.entry(index).or_default().push(problem),
            None => problems.push(problem),
        }
    }
    items
}

/// Declares the codes: the word, the severity that a problem has before settings change it, and the
/// text of its page in the reference.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $severity:ident;)+) => {
        /// The kind of a problem. Its word is stable: settings and `allow(...)` comments name it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of the reference.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The stable word, such as `unknown-key`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// How bad it is unless settings say otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)+ }
            }

            /// What it means and what to do, as Markdown.
            pub fn docs(self) -> &'static str {
                match self { $(Code::$variant => concat!($($doc, "\n",)+),)+ }
            }
        }
    };
}

codes! {
    /// The text is not valid YAML at this place. The text around it is still read, so the other tests keep working.
    Syntax = "syntax", Error;
    /// The bytes are not UTF-8, or hold a character that YAML does not allow.
    Encoding = "encoding", Error;
    /// The file cannot be read: it is missing, a broken link, not a regular file, or not readable. The message has the
    /// reason of the system. Check the path and its permissions.
    UnreadableFile = "unreadable-file", Error;
    /// The same key is in one mapping twice. Only one of the two has an effect.
    DuplicateKey = "duplicate-key", Error;
    /// `*name` without `&name` before it.
    UnknownAlias = "unknown-alias", Error;
    /// Nesting, aliases or size beyond what is read. The rest of the file is not checked.
    TooLarge = "too-large", Error;
    /// A key that the format does not have. The tool of the format ignores it. Inside `expect` or an assertion, what it should
    /// check is not checked, so it is an error there: the suite does not run until the key is corrected or removed.
    UnknownKey = "unknown-key", Warning;
    /// A required key is missing.
    MissingField = "missing-field", Error;
    /// Keys that exclude each other are in one mapping.
    ConflictingFields = "conflicting-fields", Error;
    /// A value of another type than the one expected.
    WrongType = "wrong-type", Error;
    /// A value that is not one of the allowed ones.
    InvalidValue = "invalid-value", Error;
    /// A number, a length or a list outside its bounds.
    OutOfRange = "out-of-range", Error;
    /// Two things that must have different names share one.
    DuplicateName = "duplicate-name", Error;
    /// A name that nothing in the file defines. In ClawSpec files also the name of an agent that differs by a typo from one
    /// of the workspace, which has a directory with `SOUL.md`. Other unknown agents may be defined elsewhere, and are not
    /// reported.
    UnknownReference = "unknown-reference", Error;
    /// Something is defined and never used, or a comment allows a problem that is not there.
    Unused = "unused", Hint;
    /// `{{name}}` has no value: the run breaks, or the text is used unchanged.
    MissingVariable = "missing-variable", Error;
    /// A file that a spec names cannot be found.
    MissingFile = "missing-file", Error;
    /// A path that is absolute, or leads out of the directory of the suite.
    InvalidPath = "invalid-path", Error;
    /// A file that should contain JSON, or a JSON Schema, does not.
    InvalidSchemaFile = "invalid-schema-file", Error;
    /// A regular expression that is not valid, or that the tool of the format rejects.
    InvalidPattern = "invalid-pattern", Error;
    /// An assertion of a type that does not exist. It checks nothing.
    UnknownType = "unknown-type", Error;
    /// An assertion that cannot be evaluated, because nothing defines what it checks.
    NeverEvaluated = "never-evaluated", Warning;
    /// A string that begins with `{{` without quotes. YAML reads it as a mapping.
    UnquotedTemplate = "unquoted-template", Error;
    /// A template in the name of a scenario. ClawSpec does not find the scenario again once its name is filled in.
    TemplateInName = "template-in-name", Error;
    /// No scenario of the target is tagged `negative`. ClawSpec runs nothing without one.
    MissingNegative = "missing-negative", Warning;
    /// A contract whose target is not the directory that it is in.
    TargetMismatch = "target-mismatch", Warning;
    /// `SKILL.md` or `SOUL.md` of a target does not pass the structural checks that ClawSpec makes before it runs anything
    /// of the target.
    InvalidDefinition = "invalid-definition", Warning;
    /// The number of stages that a pipeline gives differs from the length of its list.
    StageCount = "stage-count", Error;
    /// A condition on the run of a pipeline that ClawSpec does not know. The run breaks.
    UnsupportedExpression = "unsupported-expression", Error;
    /// A regular expression, or another value that is compared, that is valid, but most likely does not match what it should.
    SuspiciousPattern = "suspicious-pattern", Warning;
    /// A test without an assertion, which always passes.
    NoClaims = "no-claims", Warning;
    /// An assertion that cannot fail: an empty list, an empty string, a bound without effect.
    VacuousClaim = "vacuous-claim", Warning;
    /// Assertions that cannot both hold.
    Contradiction = "contradiction", Warning;
    /// Assertions, or other list items, that repeat each other or ask for the same position.
    Collision = "collision", Warning;
    /// Text without an effect: a key that the tool of the format ignores, or that another key replaces. Editors fade it.
    NoEffect = "no-effect", Hint;
    /// A check that never takes place: assertions of a contract that replace what follows from the rest of it, an
    /// expectation about a reply that never comes, a limit that another key switches off.
    Unchecked = "unchecked", Warning;
    /// A word that a fix or a snippet left to be filled in, such as `TODO`.
    Placeholder = "placeholder", Warning;
    /// A value that breaks out of the shell quotes around its placeholder.
    ShellQuoting = "shell-quoting", Warning;
    /// A string that has the form of a key, a token or a password. Anyone who reads the file has the secret. Revoke it where it
    /// was issued, keep the new one in the environment, and name the variable.
    PastedSecret = "pasted-secret", Warning;
    /// The intent of a task contains the command that achieves it. Such a task measures whether the model can copy. Say what
    /// the model must achieve, not how.
    RevealingIntent = "revealing-intent", Hint;
    /// The intent of a task names no outcome, as in "use the tool", so the assertions check what the model was not asked for.
    /// Say what the model must achieve, or find out.
    VagueIntent = "vague-intent", Hint;
    /// A task has fewer turns than its difficulty, or looking for help, requires.
    TooFewTurns = "too-few-turns", Hint;
    /// No assertion checks whether the command succeeded. Add `exit_code: 0`, or a `verify`, unless the task is about an
    /// error.
    NoExitCode = "no-exit-code", Hint;
    /// An assertion checks the output of the last command, and the task expects several commands. `ran` and `verify` see all
    /// of them.
    LastCommandOnly = "last-command-only", Hint;
    /// All tasks work in one directory, and several run at once. They can change each other's files.
    SharedWorkdir = "shared-workdir", Warning;
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently, or a string without quotes that ends at a ` #` which is
    /// most likely part of it.
    AmbiguousScalar = "ambiguous-scalar", Hint;
    /// The version of ClawSpec, KindLM or cli-bench that speclens knows rejects the file, or reads it differently. Reported
    /// once for a file. `compat` in `speclens.yaml` names the programs that have to read the files: for these it is an error.
    UpstreamDiffers = "upstream-differs", Hint;
    /// A setting, or a comment for speclens, that does not exist or has a wrong value. In `speclens.yaml` it is an error: no
    /// suite runs until it is corrected, because its results could not be relied on.
    InvalidSetting = "invalid-setting", Warning;
}

impl Code {
    /// The code with this word.
    pub fn parse(word: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.as_str() == word)
    }

    /// Whether no setting can make less of it: a test that could not be read would otherwise vanish in silence.
    pub fn is_always_an_error(self) -> bool {
        matches!(self, Code::Syntax | Code::UnquotedTemplate | Code::Encoding | Code::UnreadableFile | Code::TooLarge)
    }

    /// Whether it is about text that could be left out as well: editors fade it.
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
