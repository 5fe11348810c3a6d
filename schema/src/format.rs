//! Formats of test specs: everything that differs between them is one implementation of [`Format`].

use std::{
    borrow::Cow,
    fmt::{self, Debug},
    hash::{Hash, Hasher},
    ops::Deref,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    document::{Document, Fault, NodeRef, Pointer, ScalarRules},
    evidence::{Capture, Evidence, MaskingLoss, ToolCall},
    files::{self, Files},
    finding::{Finding, Report},
    import::conversation::Conversation,
    json_schema::SpecFile,
    mask::{Secrets, shown},
    new_file::Template,
    pattern::{Pattern, PatternUse},
    problem::{Code, NewFile, Problem, Severity},
    proposal::Proposal,
    relations::{Facts, Items},
    settings::Settings,
    suite::{ActionKind, Case, Suite},
    template::TemplateSyntax,
    validate::{Context, Definition},
    walk::Value,
};

/// A format of test specs: a handle to its implementation.
#[derive(Clone, Copy)]
pub struct Dialect(&'static dyn Format);

impl Dialect {
    pub const fn of(format: &'static dyn Format) -> Dialect {
        Dialect(format)
    }

    /// Returns all formats, in the order of the reference.
    pub fn all() -> impl Iterator<Item = Dialect> {
        let mut last = None;
        let formats = SpecFile::ALL.iter().filter_map(|file| file.dialect());
        formats.filter(move |dialect| last.replace(*dialect) != Some(*dialect))
    }

    /// Returns the fallback format for files that belong to none.
    pub(crate) fn first() -> Dialect {
        Dialect::all().next().expect("there are formats")
    }

    pub(crate) fn format(self) -> &'static dyn Format {
        self.0
    }

    /// Returns the name of the format in reports.
    pub fn as_str(self) -> &'static str {
        self.format().name()
    }

    /// Masks secrets with asterisks before evidence is judged, recorded or shown. Masked text stays masked.
    pub fn mask(self, evidence: &mut Evidence, secrets: &Secrets) {
        evidence.mask(secrets, |written, masked| self.format().concealed(written, masked));
    }
}

impl Deref for Dialect {
    type Target = dyn Format;

    fn deref(&self) -> &(dyn Format + 'static) {
        self.0
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Dialect {}

impl Hash for Dialect {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Debug for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format!("unknown format `{name}`"));
        Dialect::all().find(|dialect| dialect.as_str() == name).ok_or_else(unknown)
    }
}

impl JsonSchema for Dialect {
    fn schema_name() -> Cow<'static, str> {
        "Dialect".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |dialect: Dialect| {
            let description = format!("The format of {}.", dialect.program());
            json_schema!({ "type": "string", "const": dialect.as_str(), "description": description })
        };
        let formats: Vec<Schema> = Dialect::all().map(one).collect();
        json_schema!({ "description": "A format of test specs.", "oneOf": formats })
    }
}

/// Scope of names: the files in which the same name means the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A single file.
    File,
    /// Files of a suite.
    Suite,
    /// Files of a workspace, whose settings are in the directory of a file or above it.
    Workspace,
}

/// Assertions that a trace can decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// No assertions.
    None,
    /// Assertions about traces.
    AboutTraces,
    /// All assertions: the trace replaces the action of a case.
    All,
}

/// A suite for a new project.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// Content of the suite, as part of a sentence: "`kindlm.yaml`".
    pub docs: &'static str,
    /// Path and text of each file.
    pub files: &'static [(&'static str, &'static str)],
}

/// A test to write for a recorded conversation, without secrets.
#[derive(Clone, Copy, Debug)]
pub struct NewTest<'c> {
    pub name: &'c str,
    pub conversation: &'c Conversation,
    /// Number of recorded attempts.
    pub attempts: usize,
}

/// Value that applies if a key is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveDefault {
    /// The value.
    pub value: String,
    /// Origin of the value, as the end of a sentence such as "Defaults to `5` from this file".
    pub source: Option<String>,
}

/// Names of a kind that directories of the workspace define.
pub trait Directories: Sync {
    /// Returns the note for a name that no directory has.
    fn lacking(&self) -> &'static str;

    fn look_up(&self, name: &str, files: &dyn Files) -> Lookup;

    /// Returns the file that defines a name, by any form of the name. The last word of the name is sufficient if it is
    /// unique.
    fn definition(&self, name: &str, files: &dyn Files) -> Option<String>;

    /// Returns the directories that define names, each with the file that does so.
    fn all(&self, files: &dyn Files) -> Vec<(String, String)>;

    fn name_of(&self, directory: &str) -> String;
}

/// Result of looking up a name that directories define.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The name that this file (relative to the root) defines.
    Known(String),
    /// A misspelling of this name.
    Misspelled(String),
    /// Not decidable from the directories.
    Unknown,
}

/// A format of test specs.
///
/// The results of [`Format::report`] and [`Format::facts`] depend only on the node and on files, so they can be
/// cached; [`Format::report_relations`] runs again after every edit.
pub trait Format: Sync {
    /// Returns the name of the format in reports.
    fn name(&self) -> &'static str;

    /// Returns the name of the tool that the format comes from, as messages write it.
    fn program(&self) -> &'static str;

    fn name_key(&self) -> &'static str;

    /// Returns the suite that `speclens init` writes. `None` if there is none.
    fn starter(&self) -> Option<Starter> {
        None
    }

    /// Whether the models of a suite run each of its cases, so that one of them can be chosen for a run.
    fn chooses_models(&self) -> bool {
        false
    }

    /// Returns the reason why a name of a kind, such as `tags`, cannot be renamed: it has a meaning in the format.
    fn fixed_name(&self, _kind: &str, _name: &str) -> Option<&'static str> {
        None
    }

    fn scalar_rules(&self) -> ScalarRules;

    /// Returns the names of models, by the provider that serves them.
    fn known_models(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[]
    }

    /// Whether background processes of a test keep running for the tests that follow.
    fn keeps_background(&self) -> bool {
        false
    }

    /// Returns the scope of names: the files in which the same name means the same thing.
    fn unit(&self) -> Unit {
        Unit::File
    }

    fn traced(&self) -> Traced {
        Traced::None
    }

    /// Returns the value that applies if a key of the mapping at a location is not set, unless it is the default in the
    /// schema.
    fn in_force(
        &self,
        _file: SpecFile,
        _document: &Document,
        _at: &Pointer,
        _key: &str,
        _files: &dyn Files,
    ) -> Option<EffectiveDefault> {
        None
    }

    /// Returns the names of a kind that directories of the workspace define, such as `agents`. `None` if they define none.
    fn directories(&self, _kind: &str) -> Option<&'static dyn Directories> {
        None
    }

    /// Returns the path of the log that runs are observed in. `None` if there is none.
    fn log(&self, _files: &dyn Files) -> Option<String> {
        None
    }

    /// Returns the names of a kind, such as `tools`, in the text of such a log.
    fn names_in_log(&self, _kind: &str, _log: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the most likely values at a place, as they would be written, best first.
    fn likely(&self, _file: SpecFile, _document: &Document, _at: &Pointer, _files: &dyn Files) -> Vec<String> {
        Vec::new()
    }

    /// Returns what a command writes to report a text and calls of tools, as [`Format::interpret`] reads it. `None` if
    /// commands of the format do not report calls.
    fn written(&self, _text: &str, _calls: &[ToolCall]) -> Option<String> {
        None
    }

    /// Returns a suite with a test for each recorded conversation: its file first, by a path that begins with the name.
    /// The error says why the format has none for them.
    fn new_suite(&self, _name: &str, _tests: &[NewTest<'_>]) -> Result<Vec<NewFile>, String> {
        Err(format!("{} has no suites for recorded conversations", self.program()))
    }

    /// Returns assertions about what happened in all of these attempts, the plainest first. Each will be tried.
    fn propose(&self, _attempts: &[&Evidence]) -> Vec<Proposal> {
        Vec::new()
    }

    fn is_skipped(&self, _case: NodeRef<'_>) -> bool {
        false
    }

    fn act_of(&self, case: NodeRef<'_>) -> ActionKind;

    /// Adds the format's knowledge to a violation of the schema.
    fn explain(&self, _context: &Context<'_>, finding: Finding) -> Finding {
        finding
    }

    /// Whether [`Format::report`] has a better report of a fault of the text.
    fn knows(&self, _fault: &Fault, _document: &Document) -> bool {
        false
    }

    /// Resolves a path relative to the directory of the suite, or returns why it is not valid: "is an absolute path".
    /// `None` if that is unknown.
    fn path(&self, path: &str, _files: &dyn Files) -> Option<Result<String, &'static str>> {
        Some(files::inside(path).ok_or("is outside the directory of this file"))
    }

    fn templates(&self) -> &'static [&'static TemplateSyntax] {
        &[]
    }

    /// Returns the template with this name in `x-exists` for a missing file.
    fn new_file(&self, _name: &str) -> Option<Template> {
        None
    }

    fn missing_file(&self) -> Severity {
        Code::MissingFile.severity()
    }

    /// Returns how the format uses the patterns of a field, given the value of `x-searches` there.
    fn pattern_use(&self, _searches: &str) -> PatternUse {
        PatternUse::PLAIN
    }

    fn report_pattern(&self, _pattern: &Pattern<'_>, _report: &mut Report) {}

    fn report_value(&self, _value: &Value<'_, '_>, _report: &mut Report) {}

    /// Reports problems in a part of a file: the root without its lists, or one item of them, each
    /// alone. Pointers are relative to the node, ranges as the nodes return them.
    fn report(&self, _node: NodeRef<'_>, _definition: Definition, _files: &dyn Files, _report: &mut Report) {}

    fn facts(&self, _file: SpecFile, _list: &'static str, _item: NodeRef<'_>, _files: &dyn Files) -> Option<Facts> {
        None
    }

    /// Reports problems between items and sections. All locations are absolute.
    fn report_relations(
        &self,
        _file: SpecFile,
        _root: NodeRef<'_>,
        _items: Items<'_>,
        _files: &dyn Files,
        _report: &mut Report,
    ) {
    }

    fn fix_across(&self, _root: NodeRef<'_>, _problems: &mut [Problem]) {}

    /// Reads the values from the rest of a file that its cases depend on.
    fn lower(&self, file: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Box<dyn Lower>;

    /// Returns which parts of the format's protocol masking removed from standard output.
    fn concealed(&self, _written: &Capture, _masked: &Capture) -> MaskingLoss {
        MaskingLoss::Nothing
    }

    /// Interprets the output of a run according to the format's protocol. Recordings contain only the raw streams, so
    /// this runs after each run and whenever a recording is read.
    fn interpret(&self, _evidence: &mut Evidence) {}

    /// Returns the last reply of whoever acted: a model, an agent program, a command, or a target behind a gateway.
    /// `None` if it said nothing.
    fn last_reply(&self, evidence: &Evidence) -> Option<String> {
        let turns = evidence.turns.iter().rev().map(|turn| turn.text.text.trim());
        let output = evidence.output.iter().map(|output| output.text.trim());
        let said = turns.chain(output).find(|text| !text.is_empty())?;
        Some(shown(said).into_owned())
    }
}

/// Values from the rest of a file that its cases depend on, and the lowering of cases. If the debug text is equal,
/// cases that were lowered earlier are still valid.
pub trait Lower: Debug + Sync {
    /// Returns the suite without the cases of its list.
    fn suite(&self, file: SpecFile, document: &Document, files: &dyn Files, settings: &Settings) -> Suite;

    /// Returns the cases of an item of the list, given its location in the document.
    fn cases(&self, item: NodeRef<'_>, at: &Pointer, files: &dyn Files) -> Vec<Case>;
}
