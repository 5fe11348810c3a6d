//! A problem as it is displayed: what is wrong, where, and how to fix it.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, LazyLock},
};

use serde::{Deserialize, Serialize};

use crate::{document::Pointer, fixes, key_path::KeyPath, words};

pub use crate::code::{Code, Severity};

/// A problem at a location.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Code of the problem.
    pub code: Code,
    /// Severity, before settings change it.
    pub severity: Severity,
    /// Message: one lower-case clause without a final period.
    pub message: String,
    /// Subject of the message, for code that adds fixes later. No code parses the message itself.
    pub subject: Option<Subject>,
    /// Names in the message that other problems can extend. `None` if it is about one location.
    pub listing: Option<Listing>,
    /// Consequence, such as the behavior of the format's tool. `None` if the message is sufficient.
    pub note: Option<String>,
    /// What to write instead, as an imperative with its object. `None` if a fix or the message states it.
    pub help: Option<String>,
    /// Location in the tree.
    pub at: Pointer,
    /// The bytes to underline.
    pub range: Range<usize>,
    /// Related locations.
    pub related: Vec<Related>,
    /// Available fixes, the best one first.
    pub fixes: Vec<Fix>,
    /// The settings with which the problem is reported; `None` for all.
    pub only_with: Option<SettingsCondition>,
}

/// Settings that a problem depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsCondition {
    /// `compat` lists the program of the format.
    Compat,
    /// There is no `judge`.
    NoJudge,
    /// There is a source of traces.
    Traces,
    /// There is none.
    NoTraces,
}

/// Subject of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A name: of a variable without a value, or a duplicate name.
    Name(String),
    /// The place where an unknown key belongs.
    Home(KeyPath),
    /// A key without a space after its colon whose intended form is known.
    GluedKey,
    /// A file that may be left from an earlier run, unless its time is checked.
    OldFile,
}

/// Names in a message. Problems of one file that differ only in these are reported as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Text before the names.
    pub before: String,
    /// Distinct names, in document order.
    pub names: Vec<String>,
}

impl Listing {
    pub fn message(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        format!("{} {}", self.before, words::sentence(&names, "or"))
    }
}

/// A related location of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    /// Label of the location, such as "first defined here".
    pub message: String,
    /// Whether the same problem exists there.
    pub repeats: bool,
    /// Location in the tree.
    pub at: Pointer,
    /// Bytes of the node.
    pub range: Range<usize>,
    /// File that contains the location, if it differs from that of the problem.
    pub file: Option<OtherFile>,
}

/// A file other than the one with the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherFile {
    /// Path, relative to the directory of the suite until a report makes it relative to another one.
    pub path: String,
    /// Content, to show locations in it.
    pub bytes: Arc<[u8]>,
}

impl OtherFile {
    /// Returns the content as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}

/// A change that fixes a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// Title, as an imperative: "rename it to `contains`". Equal to the help of its problem.
    pub title: String,
    /// Edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// Files to create. A fix with new files must be selected by the user.
    pub creates: Vec<NewFile>,
    /// Whether the fix can be applied without review.
    pub applicability: Applicability,
    /// Whether the fix is the best one of its problem.
    pub preferred: bool,
    /// Whether the fix only comments out text, so that any other fix of the problem is better.
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

/// A replacement of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// Bytes to replace.
    pub range: Range<usize>,
    /// New text.
    pub text: String,
}

/// A file that a fix creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Path, relative to the directory of the document, with `/` separators; may begin with `..`.
    pub path: String,
    /// Initial content.
    pub text: String,
}

impl Fix {
    /// Creates a fix for an unambiguous problem. It adds, quotes, indents or renames: one that deletes words becomes a
    /// suggestion when the problems are finished.
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Safe, true)
    }

    /// Creates the fix that is most likely: preferred in a menu, but never applied automatically.
    pub fn guess(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Suggestion, true)
    }

    /// Creates one of several possible fixes, or one that leaves something to fill in.
    pub fn suggestion(title: impl Into<String>, edits: Vec<Edit>) -> Fix {
        Fix::new(title, edits, Applicability::Suggestion, false)
    }

    pub fn comment(edits: Vec<Edit>) -> Fix {
        Fix { is_comment: true, ..Fix::suggestion("comment it out", edits) }
    }

    pub(crate) fn creation(title: impl Into<String>, file: NewFile) -> Fix {
        Fix { creates: vec![file], ..Fix::suggestion(title, Vec::new()) }
    }

    fn new(title: impl Into<String>, edits: Vec<Edit>, applicability: Applicability, preferred: bool) -> Fix {
        Fix { title: title.into(), edits, creates: Vec::new(), applicability, preferred, is_comment: false }
    }

    /// Whether the fix can be applied without review.
    pub fn is_safe(&self) -> bool {
        self.applicability == Applicability::Safe
    }
}

impl Edit {
    /// Creates a replacement of these bytes.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Edit {
        Edit { range, text: text.into() }
    }
}

impl Problem {
    /// Creates a problem with the default severity of its code.
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
            only_with: None,
        }
    }

    /// Returns the message, the note and the help on separate lines, for clients that show one text.
    pub fn text(&self) -> String {
        let mut text = self.message.clone();
        for (label, part) in [("note", &self.note), ("help", &self.help)] {
            if let Some(part) = part {
                text.push_str(&format!("\n{label}: {part}"));
            }
        }
        text
    }

    /// Adds a note: the consequence of the problem.
    pub fn with_note(mut self, note: impl Into<String>) -> Problem {
        self.note = Some(note.into());
        self
    }

    /// Adds a help: what to write instead.
    pub fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub fn with_severity(mut self, severity: Severity) -> Problem {
        self.severity = severity;
        self
    }

    pub(crate) fn with_fix(mut self, fix: Fix) -> Problem {
        self.fixes.push(fix);
        self
    }

    pub(crate) fn with_related(mut self, message: impl Into<String>, at: Pointer, range: Range<usize>) -> Problem {
        self.related.push(Related { message: message.into(), repeats: false, at, range, file: None });
        self
    }

    /// Returns the other files of the problem, so that their paths can be changed.
    pub fn other_files(&mut self) -> impl Iterator<Item = &mut OtherFile> {
        self.related.iter_mut().filter_map(|related| related.file.as_mut())
    }

    /// Whether it may have fixes, including those that need the whole file.
    pub fn may_have_fix(&self) -> bool {
        !self.fixes.is_empty() || fixes::may_gain(self)
    }

    /// Moves a problem from a block to the document: ranges by `distance` bytes, pointers below `base`.
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

/// Generated by the tests.
const EXAMPLES: &str = include_str!("problem/examples.json");

/// A problem as it is displayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Kind of its file, as in the names of the schemas.
    pub file: String,
    /// Line with the problem, and carets below it.
    pub marked: String,
    /// Message, note and help, one per line.
    pub message: String,
    /// Title of the best fix, and the lines after it.
    pub fix: Option<(String, String)>,
}

/// Returns the examples of a code, at most one per format. Empty if no text can show the problem.
pub fn examples(code: Code) -> &'static [Example] {
    static ALL: LazyLock<BTreeMap<String, Vec<Example>>> =
        LazyLock::new(|| serde_json::from_str(EXAMPLES).expect("the tests wrote the file"));
    ALL.get(code.as_str()).map_or(&[], Vec::as_slice)
}

impl Example {
    /// Returns the example as text.
    pub fn text(&self) -> String {
        let indented =
            |text: &str| text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect();
        let marked: String = indented(&self.marked);
        let mut text = format!("For example, in a file of the kind `{}`:\n\n{marked}\n{}\n", self.file, self.message);
        if let Some((title, after)) = &self.fix {
            let after: String = indented(after);
            text.push_str(&format!("\nFix: {title}\n\n{after}"));
        }
        text
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "For example (`{}`):\n\n```text\n{}\n```\n\n> {}\n",
            self.file,
            self.marked,
            self.message.replace('\n', "\\\n> ")
        );
        if let Some((title, after)) = &self.fix {
            text.push_str(&format!("\nFix: {title}\n\n```yaml\n{after}\n```\n"));
        }
        text
    }
}
