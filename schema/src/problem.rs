//! What can be wrong with a spec: one code per kind of mistake, one constructor of messages per rule.

pub mod example;

use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{dialect::Dialect, document::Pointer};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The suite does not mean what its author thinks, or cannot run.
    Error,
    /// Very likely a mistake.
    Warning,
    /// Worth knowing.
    Information,
    /// A remark for who looks closely.
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

/// One mistake, at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The kind of mistake.
    pub code: Code,
    /// How bad it is, before settings change it.
    pub severity: Severity,
    /// What is wrong: one lower-case clause without a final period.
    pub message: String,
    /// The names that the message lists, where more can join them. `None` where it speaks of one place.
    pub listing: Option<Listing>,
    /// What happens because of it, such as what the original tool does. `None` where the message says it all.
    pub note: Option<String>,
    /// What to write instead, as an imperative with its object. `None` where a fix says it, or nothing general can be said.
    pub help: Option<String>,
    /// The node that is wrong.
    pub at: Pointer,
    /// The bytes to underline.
    pub range: Range<usize>,
    /// Other places that belong to the mistake.
    pub related: Vec<Related>,
    /// Cures that a program can apply, the best one first.
    pub fixes: Vec<Fix>,
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
    /// The file that it stands in, when that is another one than the problem's.
    pub file: Option<OtherFile>,
}

/// A file beside the one that a problem is in.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherFile {
    /// Its path: relative to the directory of the suite, until whoever tells about it knows better.
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

/// A cure that a program can apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// What it does, as a menu entry: "Rename to `contains`".
    pub title: String,
    /// The changes, none overlapping another.
    pub edits: Vec<Edit>,
    /// The files that it brings into being. Only a person does that: such a cure is never applied unseen.
    pub creates: Vec<NewFile>,
    /// Whether it may be applied unseen.
    pub applicability: Applicability,
    /// Whether it is the best cure of its problem.
    pub preferred: bool,
}

/// Whether a person has to look at a cure before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// The cure says what the author meant beyond doubt: `speclens check --fix` and *fix all* apply it.
    Safe,
    /// The cure is a guess, or leaves something to fill in: a person chooses it.
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

/// A file that a cure brings into being.
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

    /// A file that is missing, to be filled in.
    pub fn creation(title: impl Into<String>, file: NewFile) -> Fix {
        Fix { creates: vec![file], ..Fix::suggestion(title, Vec::new()) }
    }

    fn new(title: impl Into<String>, edits: Vec<Edit>, applicability: Applicability, preferred: bool) -> Fix {
        Fix { title: title.into(), edits, creates: Vec::new(), applicability, preferred }
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
            listing: None,
            note: None,
            help: None,
            at,
            range,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Returns a fact about the version of the program that a format comes from.
    pub fn upstream(dialect: Dialect, at: Pointer, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::new(Code::UpstreamDiffers, at, range, message).with_severity(dialect.upstream_severity())
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

    /// The same problem with a cure.
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

/// Takes out what was found in the items of the list at a place and in what stands below them, by the number of the
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
        /// The kind of a mistake. Its word is stable: settings and `allow(...)` comments name it.
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
    /// The text is not YAML at this place. What stands around it is still read, so the other tests keep working.
    Syntax = "syntax", Error;
    /// The bytes are not UTF-8, or hold a character that YAML does not allow.
    Encoding = "encoding", Error;
    /// The file cannot be read: it is missing, a link to nowhere, no regular file, or not ours to read. The sentence holds
    /// what the system says; check the path and its permissions.
    UnreadableFile = "unreadable-file", Error;
    /// The same key stands twice in one mapping. Only one of the two can count.
    DuplicateKey = "duplicate-key", Error;
    /// `*name` without an `&name` before it.
    UnknownAlias = "unknown-alias", Error;
    /// Nesting, aliases or size beyond what is read. The rest of the file is not checked.
    TooLarge = "too-large", Error;
    /// A key that the format does not have. The original tool drops it silently. Inside `expect` a claim vanishes with
    /// it, so that it is an error there: the suite is refused until the key is corrected or removed.
    UnknownKey = "unknown-key", Warning;
    /// A required key is missing.
    MissingField = "missing-field", Error;
    /// Keys of which only one may be given stand side by side.
    ConflictingFields = "conflicting-fields", Error;
    /// A value of another type than the one expected.
    WrongType = "wrong-type", Error;
    /// A value that is none of those allowed.
    InvalidValue = "invalid-value", Error;
    /// A number, a length or a list outside its bounds.
    OutOfRange = "out-of-range", Error;
    /// Two things that must have different names share one.
    DuplicateName = "duplicate-name", Error;
    /// A name that nothing in the file defines; in ClawSpec files also the name of an agent that is a slip of the keys away from
    /// one of the workspace, which is known by its directory with `SOUL.md`. Agents that are unlike all of these may live
    /// elsewhere, and are not told.
    UnknownReference = "unknown-reference", Error;
    /// Something is defined and never used, or a comment allows a problem that is not there.
    Unused = "unused", Hint;
    /// `{{name}}` that gets no value: the run breaks, or the text stays as it is written.
    MissingVariable = "missing-variable", Error;
    /// A file that a spec names cannot be found.
    MissingFile = "missing-file", Error;
    /// A path that leaves the suite's directory, or is absolute.
    InvalidPath = "invalid-path", Error;
    /// A file that should hold JSON, or a JSON Schema, does not.
    InvalidSchemaFile = "invalid-schema-file", Error;
    /// A regular expression that does not compile, or that the original tool refuses.
    InvalidPattern = "invalid-pattern", Error;
    /// An assertion of a type that does not exist: nothing is claimed by it.
    UnknownType = "unknown-type", Error;
    /// An assertion that no program can evaluate, because nothing defines what it claims.
    NeverEvaluated = "never-evaluated", Warning;
    /// A text that begins with `{{` and lacks its quotes: YAML reads it as a mapping.
    UnquotedTemplate = "unquoted-template", Error;
    /// A template in the name of a scenario: once it is filled, nothing finds the scenario again.
    TemplateInName = "template-in-name", Error;
    /// No scenario of the target is tagged `negative`. The original program runs nothing without one.
    MissingNegative = "missing-negative", Warning;
    /// A contract whose target is another one than the directory it lies in.
    TargetMismatch = "target-mismatch", Warning;
    /// `SKILL.md` or `SOUL.md` of a target does not pass the structural checks that ClawSpec makes before it runs anything
    /// of the target.
    InvalidDefinition = "invalid-definition", Warning;
    /// The number of stages that a pipeline says, and the length of its list, are not the same.
    StageCount = "stage-count", Error;
    /// A condition on a pipeline's run that is none of those known. The run breaks.
    UnsupportedExpression = "unsupported-expression", Error;
    /// A regular expression that works, and hardly as intended.
    SuspiciousPattern = "suspicious-pattern", Warning;
    /// A test without any claim passes whatever happens.
    NoClaims = "no-claims", Warning;
    /// A claim that cannot fail: an empty list, an empty text, a bound without effect.
    VacuousClaim = "vacuous-claim", Warning;
    /// Claims that cannot hold together.
    Contradiction = "contradiction", Warning;
    /// Claims, or other entries, that ask for the same position or repeat each other.
    Collision = "collision", Warning;
    /// Text that nothing reads: a key that the program of the format ignores, or one that another key replaces. It does no
    /// harm, and editors fade it.
    NoEffect = "no-effect", Hint;
    /// A check that never takes place, though somebody wrote it: a contract's assertions that replace what follows from
    /// the rest of it, a claim about a reply that never comes, a limit that another key switches off.
    Unchecked = "unchecked", Warning;
    /// A word that a fix or a snippet left to be filled in, such as `TODO`.
    Placeholder = "placeholder", Warning;
    /// A value that breaks out of the quotes it is put into.
    ShellQuoting = "shell-quoting", Warning;
    /// A text that has the form of a key, a token or a password. Whoever reads the file has it: replace the secret where
    /// it was issued, keep it in the environment, and name the variable.
    PastedSecret = "pasted-secret", Warning;
    /// What a model is told to achieve holds the command that achieves it. Such a task measures whether the model can
    /// copy: say what is to be achieved, not how.
    RevealingIntent = "revealing-intent", Hint;
    /// What a model is told to achieve names no outcome, as in "use the tool": every answer would do, and the assertions
    /// measure something that nobody asked for. Name the goal: what there is to be in the end, or to be found out.
    VagueIntent = "vague-intent", Hint;
    /// A task gets fewer turns than its difficulty, or looking for help, lets expect.
    TooFewTurns = "too-few-turns", Hint;
    /// Nothing says whether the command succeeded. Add `exit_code: 0`, or a `verify`, unless the task is about an error.
    NoExitCode = "no-exit-code", Hint;
    /// The output of the last command is looked at, and the task expects several commands. `ran` and `verify` see all of
    /// it.
    LastCommandOnly = "last-command-only", Hint;
    /// All tasks work in one directory, and several run at once: they disturb each other.
    SharedWorkdir = "shared-workdir", Warning;
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently, or a text without quotes that ends at a ` #` which is
    /// most likely part of it.
    AmbiguousScalar = "ambiguous-scalar", Hint;
    /// The version of ClawSpec, KindLM or cli-bench that speclens knows rejects the file, or reads it differently. Reported
    /// once for a file: as a warning where only that program can run it, as a hint where speclens runs it. `compat` in
    /// `speclens.yaml` names the programs that have to read the files: for these it is an error.
    UpstreamDiffers = "upstream-differs", Warning;
    /// A setting, or a comment for speclens, that does not exist or has a wrong value.
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

    /// Whether part of the text is not understood: what stands there is not judged, so that nothing can be
    /// said of it.
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
