//! References to names that are not defined.

use std::{cell::OnceCell, collections::HashSet, ops::Range, rc::Rc};

use rustc_hash::FxHashMap;

use crate::{
    document::{Document, NodeRef, Pointer},
    files::Files,
    finding::{Finding, MessageParts, Report},
    format::{Format, Lookup},
    json_schema::SpecFile,
    lint_node::LintNode,
    names::{self, Declaration, Name, Role},
    problem::{Code, Edit, Fix, Severity},
    quoting::scalar,
    relations::Items,
    validate::{Context, Definition, rename_title},
    walk::Value,
    words::{Search, all_of},
};

/// An undefined name.
pub(crate) struct Unknown {
    message: String,
    severity: Severity,
    /// Consequence, or where the name was looked up.
    note: Option<String>,
    is_key: bool,
    /// Most similar name.
    near: Option<String>,
    otherwise: Otherwise,
}

/// Note or help if no name is similar.
enum Otherwise {
    Nothing,
    Note(Rc<str>),
    Help(String),
    /// A note, and a help.
    Both(Rc<str>, String),
    /// A note, and the only available name.
    Only(Rc<str>, String),
}

impl Unknown {
    pub(crate) fn new(message: String, near: Option<&str>) -> Unknown {
        let near = near.map(str::to_owned);
        Unknown { message, severity: Severity::Warning, note: None, is_key: false, near, otherwise: Otherwise::Nothing }
    }

    pub(crate) fn severity(self, severity: Severity) -> Unknown {
        Unknown { severity, ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Unknown {
        Unknown { note: Some(note.into()), ..self }
    }

    pub(crate) fn key(self) -> Unknown {
        Unknown { is_key: true, ..self }
    }

    /// Sets the note if no name is similar, such as a list of the available names.
    pub(crate) fn or_note(self, note: impl Into<Rc<str>>) -> Unknown {
        Unknown { otherwise: Otherwise::Note(note.into()), ..self }
    }

    /// Sets the note and the help if no name is similar.
    pub(crate) fn or_note_and_help(self, note: impl Into<Rc<str>>, help: String) -> Unknown {
        Unknown { otherwise: Otherwise::Both(note.into(), help), ..self }
    }

    /// Sets the help if no name is similar.
    pub(crate) fn or_help(self, help: String) -> Unknown {
        Unknown { otherwise: Otherwise::Help(help), ..self }
    }

    /// Sets the note if no name is similar, and the only available name.
    pub(crate) fn or_only(self, note: Rc<str>, name: &str) -> Unknown {
        Unknown { otherwise: Otherwise::Only(note, name.to_owned()), ..self }
    }

    fn change(&self, lint_node: &LintNode<'_>, name: &str) -> (String, Option<Vec<Edit>>) {
        match self.is_key {
            true => (rename_title(name), lint_node.renamed(name)),
            false => (format!("change it to `{name}`"), lint_node.replaced(scalar(name))),
        }
    }

    /// Returns the finding at a name, with the bytes of the name.
    pub(crate) fn at(self, lint_node: &LintNode<'_>, range: Range<usize>) -> Finding {
        let words = self.note.iter().fold(MessageParts::new(&self.message), MessageParts::note);
        let words = match (&self.near, &self.otherwise) {
            (Some(near), _) => {
                let (help, edits) = self.change(lint_node, near);
                words.remedy(help, Fix::guess, edits)
            }
            (None, Otherwise::Nothing) => words,
            (None, Otherwise::Note(note)) => words.note(note),
            (None, Otherwise::Help(help)) => words.help(help),
            (None, Otherwise::Both(note, help)) => words.note(note).help(help),
            (None, Otherwise::Only(note, name)) => {
                let (title, edits) = self.change(lint_node, name);
                words.note(note).fix(edits.map(|edits| Fix::suggestion(title, edits)))
            }
        };
        let finding = Finding::stated(Code::UnknownReference, words, lint_node.at.clone(), range);
        finding.with_severity(self.severity)
    }
}

/// The names of a kind that a file defines.
struct Defined {
    /// Where they are defined, for messages: "`prompts`".
    place: String,
    /// Whether that is another file.
    is_elsewhere: bool,
    names: Vec<String>,
    set: HashSet<String>,
    /// List of the names for messages, computed on first use.
    listed: OnceCell<Rc<str>>,
}

impl Defined {
    /// Creates the names that are defined at a place. `None` if there are none.
    fn new(place: &str, names: Vec<String>) -> Option<Defined> {
        let place = if place.is_empty() { "the file".to_owned() } else { format!("`{place}`") };
        let set = names.iter().cloned().collect();
        (!names.is_empty()).then(|| Defined { place, is_elsewhere: false, names, set, listed: OnceCell::new() })
    }

    /// Returns the names of a kind. `None` if there are none, or if some cannot be read.
    fn of(kind: &str, file: SpecFile, root: &LintNode<'_>, lists: &[Items<'_>]) -> Option<Defined> {
        let defines = |it: &&Declaration| it.kind == kind && it.role == Role::Defines;
        if let Some(declaration) = names::declared(Definition::Root(file)).iter().find(defines) {
            let names = declaration.all(root)?;
            let is_known = |name: &String| declaration.shape.step(name, None).is_some();
            // An invalid key may be the name that is missing.
            let is_readable = declaration.shape.is_open() || names.iter().all(is_known);
            return Defined::new(declaration.section(), names).filter(|_| is_readable);
        }
        let is_meant = |items: &&Items<'_>| {
            names::declared(Definition::Item(file, items.list())).iter().any(|it| it.kind == kind && it.is_own())
        };
        let items = lists.iter().find(is_meant)?;
        let own = |index| Some(items.own_name(index)?.named.name.clone());
        Defined::new(items.list(), (0..items.len()).map(own).collect::<Option<_>>()?)
    }

    fn in_contract(kind: &str, path: &str, files: &dyn Files) -> Option<Defined> {
        let file = SpecFile::ALL.iter().copied().find(|file| names::are_defined_in(*file, kind))?;
        let document = Document::read(std::str::from_utf8(&files.read(path).ok()?).ok()?, file.scalar_rules());
        let found = names::mentions(document.root()?, file, kind, Role::Defines).into_iter();
        let found = Defined::new(path, found.filter_map(|(name, _)| Some(name.as_str()?.to_owned())).collect())?;
        Some(Defined { is_elsewhere: true, ..found })
    }

    /// Returns the rule for a name, unless it is defined.
    fn missing(&self, declaration: &Declaration, name: &str, search: &mut Search) -> Option<Unknown> {
        if self.set.contains(name) {
            return None;
        }
        // Validation reports a name outside of a closed set. A name inside is not a misspelled one of those.
        let is_open = declaration.shape.values().is_empty();
        if !is_open && !declaration.shape.admits_text(name) {
            return None;
        }
        let near = search.nearest(name, self.names.iter().map(String::as_str)).filter(|_| is_open);
        let words = declaration.shape.name_words();
        let what = words.what.unwrap_or(names::singular(declaration.kind));
        let mut rule = Unknown::new(format!("unknown {what} `{name}`"), near);
        rule.severity = if words.is_warning { Severity::Warning } else { Severity::Error };
        let is_near = self.is_elsewhere && near.is_some();
        let absence = is_near.then(|| format!("{} has no {what} with this name", self.place));
        rule.note = absence.or_else(|| words.note.map(str::to_owned));
        rule.is_key = declaration.is_keys();
        let listed = || format!("{} defines {}", self.place, all_of(self.names.iter().map(String::as_str))).into();
        let listed = Rc::clone(self.listed.get_or_init(listed));
        Some(match self.names.as_slice() {
            [only] if is_open && !rule.is_key => rule.or_only(listed, only),
            names => rule.or_note_and_help(listed, use_or_add(names.iter().map(String::as_str), name, &self.place)),
        })
    }
}

/// Returns the help for a name that is not defined and not similar to the defined ones. `place` is where they are
/// defined.
pub(crate) fn use_or_add<'n>(mut names: impl Iterator<Item = &'n str>, name: &str, place: &str) -> String {
    let known = match (names.next(), names.next()) {
        (Some(only), None) => format!("`{only}`"),
        _ => "one of these".to_owned(),
    };
    format!("use {known}, or add `{name}` to {place}")
}

/// Checks references to names that the file itself defines, or the contract that it is about: outside of its lists,
/// and in their items.
pub(crate) fn check_names(
    file: SpecFile,
    root: NodeRef<'_>,
    lists: &[Items<'_>],
    files: &dyn Files,
    report: &mut Report,
) {
    let root = LintNode::root(root);
    let mut search = Search::default();
    let mut defined: FxHashMap<&str, Option<Defined>> = FxHashMap::default();
    let mut elsewhere: FxHashMap<String, Option<Defined>> = FxHashMap::default();
    let refers = |it: &&Declaration| it.role == Role::Refers;
    for declaration in names::declared(Definition::Root(file)).iter().filter(refers) {
        let kind = declaration.kind;
        declaration.each(root.clone(), &mut |name, node| {
            let known = if names::are_defined_in(file, kind) {
                defined.entry(kind).or_insert_with(|| Defined::of(kind, file, &root, lists))
            } else {
                let around = std::iter::successors(Some(node.at.clone()), Pointer::parent);
                let mut around = around.filter_map(|at| root.node.find(&at));
                let path = Some(files.place()).filter(|place| !place.is_empty());
                let Some(path) = path.and_then(|place| (file.contract)(place, &mut around)) else { return };
                elsewhere.entry(path).or_insert_with_key(|path| Defined::in_contract(kind, path, files))
            };
            let rule = known.as_ref().and_then(|known| known.missing(declaration, name, &mut search));
            report.extend(rule.map(|rule| rule.at(&node, declaration.range(&node))));
        });
    }
    for items in lists {
        for index in items.referring() {
            for Name { declaration, named } in items.names(index).iter().filter(|name| refers(&name.declaration)) {
                let known = defined.entry(declaration.kind);
                let known = known.or_insert_with(|| Defined::of(declaration.kind, file, &root, lists));
                let rule = known.as_ref().and_then(|known| known.missing(declaration, &named.name, &mut search));
                report.extend(rule.and_then(|rule| {
                    let (at, range) = items.place(index, named);
                    Some(rule.at(&root.around(&at, range.start)?, range))
                }));
            }
        }
    }
}

/// Checks a name that directories of the workspace define.
pub(crate) fn check_shared(value: &Value<'_, '_>, format: &dyn Format, files: &dyn Files, report: &mut Report) {
    let Some(kind) = value.text.and_then(|_| value.shape()?.shares()) else { return };
    let (Some(name), Some(directories)) = (value.text, format.directories(kind)) else { return };
    let Lookup::Misspelled(near) = directories.look_up(name, files) else { return };
    let rule = Unknown::new(format!("unknown {} `{name}`", names::singular(kind)), Some(&near));
    let lint_node = value.lint_node();
    report.push(rule.note(directories.lacking()).at(&lint_node, lint_node.range()));
}

/// Returns a name that the file refers to and that a mapping of its closed set does not define, given the location of
/// the mapping. An invalid key there may be that name.
pub(crate) fn wanted(context: &Context<'_>, at: &Pointer) -> Option<String> {
    let file = context.file;
    let root = LintNode::root(context.node);
    let mut places = names::declared(Definition::Root(file)).iter();
    let declaration = places.find(|it| it.role == Role::Defines && it.is_keys() && it.is_at(at))?;
    if !context.base.is_root() || declaration.shape.is_open() {
        return None;
    }
    let mapping = root.at(at)?;
    let referred = names::mentions(context.node, file, declaration.kind, Role::Refers).into_iter();
    let mut names = referred.filter_map(|(name, _)| name.as_str());
    let is_allowed = |name: &str| declaration.shape.step(name, None).is_some();
    names.find(|name| is_allowed(name) && mapping.get(name).is_none()).map(str::to_owned)
}
