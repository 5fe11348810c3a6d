//! Kinds of files: one row each, with everything that does not depend on the content of a file. The rows of a format
//! are in its folder.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::OnceLock,
};

use serde_json::Value;

use crate::{
    document::{NodeRef, Pointer, ScalarRules},
    files::Files,
    finding::Report,
    format::Dialect,
    kind::{NoSigns, Signs},
    problem::Code,
    shape::{Shape, Type},
};

/// A kind of file with a schema: a handle to its row.
#[derive(Clone, Copy)]
pub struct SpecFile(&'static Kind);

/// Properties of a kind of file. Kinds that differ little from [`Kind::PLAIN`] are written as
/// `Kind { name: "notes", ..Kind::PLAIN }`.
pub struct Kind {
    /// Name on the command line, and in the name of the schema.
    pub name: &'static str,
    /// Name of the kind in prose.
    pub title: &'static str,
    /// One file of the kind, to follow "a".
    pub singular: &'static str,
    /// Heading in the reference, if it is the name of a file.
    pub heading: Option<&'static str>,
    pub names: FilePatterns,
    /// Signs of a file with another name, or with a name that other tools also use.
    pub signs: &'static dyn Signs,
    pub owner: FileOwner,
    pub cases: Cases,
    /// Files to include if the command line does not name them.
    pub discovery: DiscoveryRule,
    /// Meaning of an empty file.
    pub empty: Empty,
    /// Whether keys of mappings are names that refer to other files.
    pub keys_are_names: bool,
    /// Names in the file that a workspace symbol search finds.
    pub symbols: SymbolSource,
    /// Returns the contract whose scenarios a file at this path names, given the nodes around a name, innermost first.
    pub contract: fn(&str, &mut dyn Iterator<Item = NodeRef<'_>>) -> Option<String>,
    /// Reports problems in a whole file that belongs to no format.
    pub report: fn(NodeRef<'_>, &dyn Files, &mut Report),
    pub schema: fn(SpecFile) -> Value,
    /// Returns the committed copy of the schema, which optimized builds read: that is much faster than generating it. A
    /// function with a static text, so that the program contains the text once.
    pub committed: fn() -> Option<&'static str>,
}

/// File names and locations of a kind, as globs. A glob is `**/` followed by names of directories and files, each with
/// at most one `*` at its start.
#[derive(Clone, Copy, Debug)]
pub enum FilePatterns {
    /// No other tool has such files.
    Surely(&'static [&'static str]),
    /// Other tools may have such files: the content must match.
    Perhaps(&'static [&'static str]),
}

#[derive(Clone, Copy)]
pub enum FileOwner {
    /// A file of this format.
    Of(Dialect),
    /// The settings of this format for a workspace.
    SettingsOf(Dialect),
    /// A file of speclens with a role in suites of this format.
    Serves(Dialect),
    /// The settings of a workspace, for all formats.
    Settings,
}

#[derive(Clone, Copy)]
pub enum Cases {
    /// In the list at this root key; an empty key means that the root is the list.
    List(&'static str),
    /// In a list that is part of another file's suite.
    PartOfSuite(&'static str),
    /// The whole file is one case; the function reads its name from the root.
    Whole(fn(NodeRef<'_>) -> Option<String>),
    /// No cases.
    None,
}

/// Files of a kind to include if the command line does not name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryRule {
    /// All files.
    Always,
    /// For a run, files with a usual name, and files that declare their kind.
    Named,
    /// For a run, files that the patterns of their workspace do not exclude, and files that declare their kind.
    Matched,
    /// For a run, files that declare their kind.
    Declared,
    /// Files of a suite, and files that declare their kind.
    InSuite,
    /// No files.
    Never,
}

/// Meaning of an empty file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Empty {
    /// The beginning is missing: this help states it.
    Incomplete(&'static str),
    /// The defaults apply, which is reported with this code.
    Defaults(Code),
}

/// Names in a file that a workspace symbol search finds.
#[derive(Clone, Copy)]
pub enum SymbolSource {
    /// The cases, and other names in the outline.
    Outline,
    Cases,
    /// The names that this function finds at the root.
    At(fn(NodeRef<'_>) -> Vec<SymbolName<'_>>),
}

/// A name in a file.
#[derive(Clone, Debug)]
pub struct SymbolName<'d> {
    pub name: String,
    /// Root key above the name.
    pub below: String,
    pub node: NodeRef<'d>,
}

impl<'d> SymbolName<'d> {
    /// Returns a symbol with the text of a node as its name.
    pub(crate) fn of(node: NodeRef<'d>, below: &str) -> Option<SymbolName<'d>> {
        Some(SymbolName { name: node.text()?.to_owned(), below: below.to_owned(), node })
    }
}

impl Kind {
    /// Defaults of a row: settings without a name, signs or cases. Each row sets only what differs.
    pub const PLAIN: Kind = Kind {
        name: "",
        title: "",
        singular: "",
        heading: None,
        names: FilePatterns::Surely(&[]),
        signs: &NoSigns,
        owner: FileOwner::Settings,
        cases: Cases::None,
        discovery: DiscoveryRule::Always,
        empty: Empty::Incomplete(""),
        keys_are_names: false,
        symbols: SymbolSource::Outline,
        contract: |_, _| None,
        report: |_, _, _| {},
        schema: |_| Value::Bool(true),
        committed: || None,
    };
}

impl SpecFile {
    /// All kinds, in the order of the reference. New formats add their kinds here.
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

    /// Returns the format of the file; `None` for files of speclens.
    pub fn dialect(self) -> Option<Dialect> {
        match self.0.owner {
            FileOwner::Of(dialect) | FileOwner::SettingsOf(dialect) => Some(dialect),
            FileOwner::Serves(_) | FileOwner::Settings => None,
        }
    }

    /// Returns the format of the suites that it belongs to or has a role in.
    pub fn serves(self) -> Option<Dialect> {
        match self.0.owner {
            FileOwner::Of(dialect) | FileOwner::SettingsOf(dialect) | FileOwner::Serves(dialect) => Some(dialect),
            FileOwner::Settings => None,
        }
    }

    pub fn is_settings(self) -> bool {
        self.serves().is_none()
    }

    pub fn scalar_rules(self) -> ScalarRules {
        self.dialect().map_or(ScalarRules::Yaml12, |format| format.scalar_rules())
    }

    /// Returns the key of the top-level list of cases; the empty key if the root is that list.
    pub fn case_list(self) -> Option<&'static str> {
        match self.0.cases {
            Cases::List(key) | Cases::PartOfSuite(key) => Some(key),
            Cases::Whole(_) | Cases::None => None,
        }
    }

    pub fn name_key(self) -> &'static str {
        self.dialect().map_or("name", |format| format.name_key())
    }

    /// Whether it contains cases of another file's suite.
    pub fn is_part(self) -> bool {
        match self.0.cases {
            Cases::PartOfSuite(_) => true,
            Cases::List(_) | Cases::Whole(_) | Cases::None => false,
        }
    }

    /// Returns the kind of files that contain more cases of such a suite.
    pub fn part(self) -> Option<SpecFile> {
        let is_part = |file: &SpecFile| file.is_part() && file.dialect() == self.dialect();
        SpecFile::ALL.iter().copied().find(is_part).filter(|_| self.is_suite())
    }

    /// Whether its content affects the kind or the owner of other files: it defines a suite of several files, or
    /// contains the settings of a workspace of the format.
    pub fn decides_about_others(self) -> bool {
        match self.0.owner {
            FileOwner::SettingsOf(_) => true,
            FileOwner::Of(_) | FileOwner::Serves(_) | FileOwner::Settings => self.part().is_some(),
        }
    }

    pub fn has_cases(self) -> bool {
        match self.0.cases {
            Cases::List(_) | Cases::PartOfSuite(_) | Cases::Whole(_) => true,
            Cases::None => false,
        }
    }

    pub fn is_suite(self) -> bool {
        self.has_cases() && !self.is_part()
    }

    /// Returns the names and locations of this kind, as globs. A task file belongs to it only because a suite
    /// includes it. The server decides with [`crate::kind::detect`], which also reads the content.
    pub fn file_patterns(self) -> &'static [&'static str] {
        match self.0.names {
            FilePatterns::Surely(patterns) | FilePatterns::Perhaps(patterns) => patterns,
        }
    }

    /// Returns the file names of this kind that are the same in every directory: `kindlm.yaml`.
    pub fn plain_names(self) -> impl Iterator<Item = &'static str> {
        let names = self.file_patterns().iter().filter_map(|pattern| pattern.strip_prefix("**/"));
        names.filter(|name| !name.contains(['*', '/']))
    }

    /// Returns the name on the command line, and in the name of the schema.
    pub fn as_str(self) -> &'static str {
        self.0.name
    }

    pub fn parse(word: &str) -> Option<SpecFile> {
        SpecFile::ALL.iter().copied().find(|file| file.as_str() == word)
    }

    pub fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns the noun for one file of the kind, to follow "a".
    pub fn singular(self) -> &'static str {
        self.0.singular
    }

    /// Returns the heading of the kind: the name of its files, or its title.
    pub(crate) fn heading(self) -> String {
        self.0.heading.map_or_else(|| self.title().to_owned(), |name| format!("`{name}`"))
    }

    pub fn schema(self) -> &'static Value {
        static SCHEMAS: PerFile<Value> = PerFile::new();
        // In builds without optimization, a changed type takes effect before its schema is committed.
        let committed = (self.0.committed)().filter(|_| !cfg!(debug_assertions));
        let read = |text: &str| serde_json::from_str(text).expect("a committed schema is JSON");
        SCHEMAS.get(self, || committed.map_or_else(|| (self.0.schema)(self), read))
    }

    /// Generates the text of the committed copy of the schema.
    pub fn schema_text(self) -> String {
        let mut text = serde_json::to_string_pretty(&(self.0.schema)(self)).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

impl Shape {
    pub fn of(file: SpecFile) -> Shape {
        Shape::new(file.schema(), file.schema())
    }

    /// Returns the schema of the node at a pointer, whether or not it exists. The document's root chooses branches if
    /// the schema has any.
    pub fn find(file: SpecFile, pointer: &Pointer, root: Option<NodeRef<'_>>) -> Option<Shape> {
        Shape::of(file).below(pointer, root)
    }
}

/// A part of a document that is validated separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// The whole, except for items of the lists in [`Definition::lists`].
    Root(SpecFile),
    /// One item of the top-level list with this key; an empty key means that the root is the list.
    Item(SpecFile, &'static str),
}

impl Definition {
    /// Returns the keys of the top-level lists whose items are validated separately; one empty key if the root is a
    /// list.
    pub fn lists(file: SpecFile) -> &'static [&'static str] {
        static LISTS: PerFile<Vec<&'static str>> = PerFile::new();
        LISTS.get(file, || {
            let root = Shape::of(file);
            if root.kind() == Type::List {
                return vec![""];
            }
            let fields = root.fields(None).into_iter();
            fields.filter(|field| field.shape.kind() == Type::List).map(|field| field.name).collect()
        })
    }

    pub(crate) fn list_at(list: &str) -> Pointer {
        if list.is_empty() { Pointer::root() } else { Pointer::root().key(list) }
    }

    pub(crate) fn list_in<'d>(root: NodeRef<'d>, list: &str) -> Option<NodeRef<'d>> {
        if list.is_empty() { Some(root) } else { root.get(list) }
    }

    pub fn file(self) -> SpecFile {
        match self {
            Definition::Root(file) | Definition::Item(file, _) => file,
        }
    }

    /// Returns the schema.
    pub fn shape(self) -> &'static Shape {
        static ROOTS: PerFile<Shape> = PerFile::new();
        static ITEMS: PerFile<BTreeMap<&'static str, Shape>> = PerFile::new();
        match self {
            Definition::Root(file) => ROOTS.get(file, || Shape::of(file)),
            Definition::Item(file, list) => {
                let item = |list: &str| Shape::find(file, &Definition::list_at(list).index(0), None);
                let items = || Definition::lists(file).iter().filter_map(|list| Some((*list, item(list)?))).collect();
                ITEMS.get(file, items).get(list).expect("a list has items")
            }
        }
    }
}

impl Deref for SpecFile {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        self.0
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

/// A value that is computed once for each kind of file, on first use.
pub(crate) struct PerFile<T>(OnceLock<Box<Made<T>>>);

/// The value of one kind, and those of the kinds that follow.
struct Made<T> {
    file: SpecFile,
    thing: OnceLock<T>,
    next: PerFile<T>,
}

impl<T> PerFile<T> {
    /// Creates an empty cache.
    pub(crate) const fn new() -> PerFile<T> {
        PerFile(OnceLock::new())
    }

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
