//! A problem as it is shown: what is wrong, where, and how to mend it.

pub mod example;

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{document::Pointer, shape::Place};

pub use crate::rules::Code;

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
    /// A file that may be there from before: its time can be asked for.
    OldFile,
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

/// Whether a person must review a fix before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// The intention is clear: `speclens check --fix` and *fix all* apply the fix.
    Safe,
    /// The fix is a guess, or leaves something to fill in: a person must choose it.
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
    pub(crate) fn creation(title: impl Into<String>, file: NewFile) -> Fix {
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

    /// The same problem with a fix.
    pub(crate) fn with_fix(mut self, fix: Fix) -> Problem {
        self.fixes.push(fix);
        self
    }

    /// The same problem with another place that belongs to it.
    pub(crate) fn with_related(mut self, message: impl Into<String>, at: Pointer, range: Range<usize>) -> Problem {
        self.related.push(Related { message: message.into(), repeats: false, at, range, file: None });
        self
    }

    /// The other files that belong to the problem, to be named as readers know them.
    pub fn other_files(&mut self) -> impl Iterator<Item = &mut OtherFile> {
        self.related.iter_mut().filter_map(|related| related.file.as_mut())
    }

    /// Moves a problem found in a block to its place in the document: ranges by `distance` bytes, pointers below `base`.
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
