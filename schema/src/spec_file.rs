//! The kinds of files: one row each, with everything that is known of a kind without looking into a file. The rows of a format are in
//! its folder.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::OnceLock,
};

use serde_json::Value;

use crate::{
    dialect::{Dialect, ScalarRules},
    document::NodeRef,
    files::Files,
    finding::Report,
    kind::{NoSigns, Signs},
    problem::Code,
};

/// A kind of file that has a schema: a handle of its row.
#[derive(Clone, Copy)]
pub struct SpecFile(&'static Kind);

/// Everything that is known of a kind of file. Those that differ from [`Kind::PLAIN`] in little are written as
/// `Kind { name: "notes", ..Kind::PLAIN }`.
pub struct Kind {
    /// The word on the command line, and in the name of the schema.
    pub name: &'static str,
    /// The name of the kind in prose.
    pub title: &'static str,
    /// The heading in the reference, where that is the name of a file.
    pub heading: Option<&'static str>,
    /// The names and places by which files are of this kind.
    pub names: Names,
    /// How a file of another name, or one whose name other tools use as well, is recognised.
    pub signs: &'static dyn Signs,
    /// Whose file it is.
    pub family: Family,
    /// Where the cases are.
    pub cases: Cases,
    /// Which files count that the command line does not name.
    pub counts: Counts,
    /// What a file without content means.
    pub empty: Empty,
    /// Whether keys of mappings are names that refer to other files.
    pub keys_are_names: bool,
    /// The names in it that a search through a workspace finds.
    pub landmarks: Landmarks,
    /// Returns the contract whose scenarios a file at this path names, by the nodes around a name, the nearest first.
    pub contract: fn(&str, &mut dyn Iterator<Item = NodeRef<'_>>) -> Option<String>,
    /// Reports what is wrong in the whole of a file that is of no format.
    pub report: fn(NodeRef<'_>, &dyn Files, &mut Report),
    /// Makes the schema.
    pub schema: fn(SpecFile) -> Value,
}

/// The names and places of a kind of file, as globs. A glob is `**/` before names of folders and files, each with at most one `*`
/// at its beginning.
#[derive(Clone, Copy, Debug)]
pub enum Names {
    /// No other tool has such files.
    Surely(&'static [&'static str]),
    /// Other tools may have such files: the content must agree.
    Perhaps(&'static [&'static str]),
}

/// Whose file it is.
#[derive(Clone, Copy)]
pub enum Family {
    /// A file of this format.
    Of(Dialect),
    /// The settings of this format for a workspace.
    SettingsOf(Dialect),
    /// A file of ours that plays a part for suites of this format.
    Serves(Dialect),
    /// The settings of a workspace, for all formats.
    Settings,
}

/// Where the cases are.
#[derive(Clone, Copy)]
pub enum Cases {
    /// In the list at this key of the root; with the empty key, the root is that list.
    List(&'static str),
    /// In a list that belongs to the suite of another file.
    PartOfSuite(&'static str),
    /// The whole file is one case, whose name is read from the root.
    Whole(fn(NodeRef<'_>) -> Option<String>),
    /// It has none.
    None,
}

/// Which files of a kind count that the command line does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Every one.
    Always,
    /// To be run, those with a usual name, and those that say what they are.
    Named,
    /// To be run, those that the patterns of their workspace do not omit, and those that say what they are.
    Matched,
    /// To be run, those that say what they are.
    Said,
    /// Those that belong to a suite, and those that say what they are.
    InSuite,
    /// None.
    Never,
}

/// What a file without content means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// It lacks its beginning: this help says which.
    Incomplete(&'static str),
    /// The defaults apply, which is reported with this code.
    Defaults(Code),
}

/// The names in a file that a search through a workspace finds.
#[derive(Clone, Copy)]
pub enum Landmarks {
    /// Its cases, and whatever else has a name in its outline.
    Outline,
    /// Its cases.
    Cases,
    /// Those that this function finds at its root.
    At(fn(NodeRef<'_>) -> Vec<Landmark<'_>>),
}

/// A name in a file.
#[derive(Clone, Debug)]
pub struct Landmark<'d> {
    /// The name.
    pub name: String,
    /// The key of the root below which it is.
    pub below: String,
    /// The node that holds it.
    pub node: NodeRef<'d>,
}

impl<'d> Landmark<'d> {
    /// Returns the landmark whose name is the text of a node.
    pub(crate) fn of(node: NodeRef<'d>, below: &str) -> Option<Landmark<'d>> {
        Some(Landmark { name: node.text()?.to_owned(), below: below.to_owned(), node })
    }
}

impl Kind {
    /// Settings without a name, recognised by nothing, with cases nowhere: what a row changes is what matters about it.
    pub const PLAIN: Kind = Kind {
        name: "",
        title: "",
        heading: None,
        names: Names::Surely(&[]),
        signs: &NoSigns,
        family: Family::Settings,
        cases: Cases::None,
        counts: Counts::Always,
        empty: Empty::Incomplete(""),
        keys_are_names: false,
        landmarks: Landmarks::Outline,
        contract: |_, _| None,
        report: |_, _, _| {},
        schema: |_| Value::Bool(true),
    };
}

impl SpecFile {
    /// Every kind, in the order in which the reference has them. A new format adds its own here.
    pub const ALL: &'static [SpecFile] = &[
        SpecFile::KINDLM,
        SpecFile::CLI_BENCH,
        SpecFile::CLI_BENCH_TASKS,
        SpecFile::CLAWSPEC_SCENARIOS,
        SpecFile::CLAWSPEC_HANDOFF,
        SpecFile::CLAWSPEC_PIPELINE,
        SpecFile::CLAWSPEC,
        SpecFile::CLAWSPEC_LEDGER,
        SpecFile::CLAWSPEC_BASELINES,
        SpecFile::SCRIPT,
        SpecFile::GATEWAY,
        SpecFile::SETTINGS,
    ];

    /// Returns the kind with this row.
    pub const fn of(kind: &'static Kind) -> SpecFile {
        SpecFile(kind)
    }

    /// Returns the format that the file belongs to; `None` for what is our own.
    pub fn dialect(self) -> Option<Dialect> {
        match self.0.family {
            Family::Of(dialect) | Family::SettingsOf(dialect) => Some(dialect),
            Family::Serves(_) | Family::Settings => None,
        }
    }

    /// Returns the format of the suites that it belongs to: its own, or that of the suites that it plays a part for.
    pub fn serves(self) -> Option<Dialect> {
        match self.0.family {
            Family::Of(dialect) | Family::SettingsOf(dialect) | Family::Serves(dialect) => Some(dialect),
            Family::Settings => None,
        }
    }

    /// Whether it holds the settings of a workspace.
    pub fn is_settings(self) -> bool {
        self.serves().is_none()
    }

    /// Returns how plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        self.dialect().map_or(ScalarRules::Yaml12, Dialect::scalar_rules)
    }

    /// Returns where the cases are.
    pub(crate) fn cases(self) -> Cases {
        self.0.cases
    }

    /// Returns the key of the top-level list whose items are the cases; the empty key where the root is that list.
    pub fn case_list(self) -> Option<&'static str> {
        match self.0.cases {
            Cases::List(key) | Cases::PartOfSuite(key) => Some(key),
            Cases::Whole(_) | Cases::None => None,
        }
    }

    /// Returns the key that names a case.
    pub fn name_key(self) -> &'static str {
        self.dialect().map_or("name", Dialect::name_key)
    }

    /// Whether it holds cases of a suite that another file makes.
    pub fn is_part(self) -> bool {
        match self.0.cases {
            Cases::PartOfSuite(_) => true,
            Cases::List(_) | Cases::Whole(_) | Cases::None => false,
        }
    }

    /// Returns the kind of the files that hold cases of a suite that such a file makes.
    pub fn part(self) -> Option<SpecFile> {
        let is_part = |file: &SpecFile| file.is_part() && file.dialect() == self.dialect();
        SpecFile::ALL.iter().copied().find(is_part).filter(|_| self.is_suite())
    }

    /// Whether other files are of a kind, or belong to something, because of what is in it: it makes a suite of several files, or
    /// holds the settings of a workspace of the format.
    pub fn decides_about_others(self) -> bool {
        match self.0.family {
            Family::SettingsOf(_) => true,
            Family::Of(_) | Family::Serves(_) | Family::Settings => self.part().is_some(),
        }
    }

    /// Whether it holds cases.
    pub fn has_cases(self) -> bool {
        match self.0.cases {
            Cases::List(_) | Cases::PartOfSuite(_) | Cases::Whole(_) => true,
            Cases::None => false,
        }
    }

    /// Whether it is a suite, which can be listed and run.
    pub fn is_suite(self) -> bool {
        self.has_cases() && !self.is_part()
    }

    /// Returns which files count that the command line does not name.
    pub fn counts(self) -> Counts {
        self.0.counts
    }

    /// Whether keys of its mappings are names that refer to something elsewhere.
    pub fn keys_are_names(self) -> bool {
        self.0.keys_are_names
    }

    /// Returns the names in it that a search through a workspace finds.
    pub fn landmarks(self) -> Landmarks {
        self.0.landmarks
    }

    /// Returns the contract whose scenarios a file at this path names, by the nodes around a name, the nearest first.
    pub fn contract<'d>(self, place: &str, around: &mut dyn Iterator<Item = NodeRef<'d>>) -> Option<String> {
        (self.0.contract)(place, around)
    }

    /// Returns the names and places of such files.
    pub(crate) fn names(self) -> Names {
        self.0.names
    }

    /// Returns how a file is recognised.
    pub(crate) fn signs(self) -> &'static dyn Signs {
        self.0.signs
    }

    /// Returns the files that are of this kind by name and place, as globs. A list of tasks is one because a suite
    /// names it. The server decides by [`crate::kind::detect`], which looks at the content as well.
    pub fn file_patterns(self) -> &'static [&'static str] {
        match self.0.names {
            Names::Surely(patterns) | Names::Perhaps(patterns) => patterns,
        }
    }

    /// Returns the word that stands for the kind on the command line, and in the name of its schema.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Returns the kind with this word.
    pub fn parse(word: &str) -> Option<SpecFile> {
        SpecFile::ALL.iter().copied().find(|file| file.as_str() == word)
    }

    /// Returns what the schema is called.
    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns what the kind is called as a heading: the name of its files, or what they are.
    pub(crate) fn heading(self) -> String {
        self.0.heading.map_or_else(|| self.title().to_owned(), |name| format!("`{name}`"))
    }

    /// Returns what such a file means when it is empty.
    pub(crate) fn empty(self) -> Empty {
        self.0.empty
    }

    /// Reports what is wrong in the whole of a file that is of no format.
    pub(crate) fn report(self, root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
        (self.0.report)(root, files, report);
    }

    /// Returns the schema.
    pub fn schema(self) -> &'static Value {
        static SCHEMAS: PerFile<Value> = PerFile::new();
        SCHEMAS.get(self, || (self.0.schema)(self))
    }

    /// Returns the schema as the text of its committed copy.
    pub fn schema_text(self) -> String {
        let mut text = serde_json::to_string_pretty(self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

impl PartialEq for SpecFile {
    fn eq(&self, other: &SpecFile) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SpecFile {}

impl Hash for SpecFile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for SpecFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Something that is made once for each kind of file, and only for those that are met.
pub(crate) struct PerFile<T>(OnceLock<Box<Made<T>>>);

/// The thing of one kind, and those of the kinds that were met after it.
struct Made<T> {
    file: SpecFile,
    thing: OnceLock<T>,
    next: PerFile<T>,
}

impl<T> PerFile<T> {
    /// Nothing made yet.
    pub(crate) const fn new() -> PerFile<T> {
        PerFile(OnceLock::new())
    }

    /// Returns what belongs to a kind of file.
    pub(crate) fn get(&self, file: SpecFile, make: impl FnOnce() -> T) -> &T {
        let mut list = self;
        loop {
            let made = list.0.get_or_init(|| Box::new(Made { file, thing: OnceLock::new(), next: PerFile::new() }));
            if made.file == file {
                return made.thing.get_or_init(make);
            }
            list = &made.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{PerFile, SpecFile};

    #[test]
    fn kinds_have_different_names() {
        let names: HashSet<&str> = SpecFile::ALL.iter().map(|file| file.as_str()).collect();
        assert_eq!(names.len(), SpecFile::ALL.len());
    }

    #[test]
    fn thing_of_a_kind_is_made_once() {
        static THINGS: PerFile<String> = PerFile::new();
        for file in SpecFile::ALL {
            assert_eq!(THINGS.get(*file, || file.title().to_owned()), file.title());
        }
        for file in SpecFile::ALL {
            assert_eq!(THINGS.get(*file, || unreachable!("it is there already")), file.title());
        }
    }
}
