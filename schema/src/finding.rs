//! Findings: problems before it is decided which of several at a location is reported. Checks only add findings;
//! [`Report::resolve`] decides.

use std::{fmt::Debug, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    document::{NodeRef, Pointer},
    problem::{Code, Edit, Fix, Listing, OtherFile, Problem, Related, SettingsCondition, Severity, Subject},
};

pub(crate) struct Location<'d> {
    /// Root of the checked part: the whole document, or one item of a top-level list.
    pub(crate) root: NodeRef<'d>,
    /// Pointer to the node, relative to `root`.
    pub(crate) at: &'d Pointer,
    /// The bytes to underline.
    pub(crate) range: &'d Range<usize>,
}

/// Text of a problem and its fixes: see [`Problem`] for each part.
#[derive(Clone, Debug)]
pub struct MessageParts {
    pub(crate) message: String,
    pub(crate) note: Option<String>,
    pub(crate) help: Option<String>,
    pub(crate) listing: Option<Listing>,
    pub(crate) subject: Option<Subject>,
    pub(crate) fixes: Vec<Fix>,
}

impl MessageParts {
    /// Creates the text from a message: one lower-case clause without a final period.
    pub fn new(message: impl Into<String>) -> MessageParts {
        MessageParts {
            message: message.into(),
            note: None,
            help: None,
            listing: None,
            subject: None,
            fixes: Vec::new(),
        }
    }

    /// Creates a message that ends with a name. Problems that differ only in this name are merged.
    pub(crate) fn naming(before: impl Into<String>, name: impl Into<String>) -> MessageParts {
        let listing = Listing { before: before.into(), names: vec![name.into()] };
        MessageParts { listing: Some(listing.clone()), ..MessageParts::new(listing.message()) }
    }

    /// Adds a note with the consequence. A second note is appended to the first.
    pub fn note(mut self, note: impl AsRef<str>) -> MessageParts {
        self.note = Some(match self.note.take() {
            Some(first) => format!("{first}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        });
        self
    }

    /// Adds a help: what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> MessageParts {
        self.help = Some(help.into());
        self
    }

    /// Adds the subject, for fixes that need the whole file.
    pub(crate) fn subject(mut self, subject: Subject) -> MessageParts {
        self.subject = Some(subject);
        self
    }

    /// Adds a fix, if there is one.
    pub fn fix(mut self, fix: impl IntoIterator<Item = Fix>) -> MessageParts {
        self.fixes.extend(fix);
        self
    }

    /// Adds a help and, if there are edits, the fix with this title, which `fix` creates.
    pub(crate) fn remedy(
        self,
        help: impl Into<String>,
        fix: impl FnOnce(String, Vec<Edit>) -> Fix,
        edits: Option<Vec<Edit>>,
    ) -> MessageParts {
        let help = help.into();
        self.fix(edits.map(|edits| fix(help.clone(), edits))).help(help)
    }

    /// Adds a fix, if there is one, and its title as the help.
    pub(crate) fn fix_with_help(mut self, fix: Option<Fix>) -> MessageParts {
        if let Some(fix) = fix {
            self.help = Some(fix.title.clone());
            self.fixes.push(fix);
        }
        self
    }
}

/// Label of a location that uses an invalid value again.
pub(crate) const USED_AGAIN: &str = "used again here";

/// Relation of another location to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// A key that excludes the reported one.
    KeyHere(String),
    ContractFor(String),
    /// An alias that uses the invalid value again.
    UsedAgain,
    /// Any other relation, with its label: "first used here".
    Labelled(&'static str),
}

impl Relation {
    fn label(&self) -> String {
        match self {
            Relation::KeyHere(key) => format!("`{key}` is here"),
            Relation::ContractFor(agent) => format!("this contract is for `{agent}`"),
            Relation::UsedAgain => USED_AGAIN.to_owned(),
            Relation::Labelled(label) => (*label).to_owned(),
        }
    }
}

/// A related location of a finding.
#[derive(Debug)]
struct Relative {
    relation: Relation,
    at: Pointer,
    range: Range<usize>,
    file: Option<OtherFile>,
}

/// Findings that another finding supersedes.
#[derive(Debug)]
pub(crate) enum Scope {
    /// All findings of the schema at a location.
    At(Pointer),
    /// All findings of the schema at or below a location.
    In(Pointer),
    /// Findings with a code at a location, from any layer.
    CodeAt(Code, Pointer),
}

/// Origin of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Validation against the JSON Schema, independent of the format.
    Schema,
    /// Rules of a format, and rules beyond types.
    Rules,
}

/// A problem at a location.
#[derive(Debug)]
pub struct Finding {
    words: MessageParts,
    /// Whether it reports something as missing. In a part that is not fully parsed, it may exist anyway.
    is_about_absence: bool,
    code: Code,
    severity: Severity,
    layer: Layer,
    at: Pointer,
    range: Range<usize>,
    related: Vec<Relative>,
    replaces: Vec<Scope>,
    unless_wrong: Vec<Pointer>,
    only_with: Option<SettingsCondition>,
}

impl Finding {
    pub fn stated(code: Code, words: MessageParts, at: Pointer, range: Range<usize>) -> Finding {
        Finding {
            words,
            is_about_absence: code.is_about_absence(),
            code,
            severity: code.severity(),
            layer: Layer::Rules,
            at,
            range,
            related: Vec::new(),
            replaces: Vec::new(),
            unless_wrong: Vec::new(),
            only_with: None,
        }
    }

    pub(crate) fn absent(code: Code, words: MessageParts, at: Pointer, range: Range<usize>) -> Finding {
        Finding { is_about_absence: true, ..Finding::stated(code, words, at, range) }
    }

    pub(crate) fn of_schema(self) -> Finding {
        Finding { layer: Layer::Schema, ..self }
    }

    pub(crate) fn with_code(self, code: Code) -> Finding {
        Finding { code, ..self }
    }

    pub(crate) fn with_severity(self, severity: Severity) -> Finding {
        Finding { severity, ..self }
    }

    pub(crate) fn reworded(
        self,
        root: NodeRef<'_>,
        by: impl FnOnce(MessageParts, &Location<'_>) -> MessageParts,
    ) -> Finding {
        let words = by(self.words, &Location { root, at: &self.at, range: &self.range });
        Finding { words, ..self }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns the location.
    pub(crate) fn at(&self) -> &Pointer {
        &self.at
    }

    pub(crate) fn related(mut self, relation: Relation, at: Pointer, range: Range<usize>) -> Finding {
        self.add_related(relation, at, range);
        self
    }

    pub(crate) fn add_related(&mut self, relation: Relation, at: Pointer, range: Range<usize>) {
        self.related.push(Relative { relation, at, range, file: None });
    }

    /// Adds a related location in another file.
    pub(crate) fn with_other_file(
        self,
        label: &'static str,
        file: OtherFile,
        at: Pointer,
        range: Range<usize>,
    ) -> Finding {
        self.related_in(file, Relation::Labelled(label), at, range)
    }

    pub(crate) fn related_in(
        mut self,
        file: OtherFile,
        relation: Relation,
        at: Pointer,
        range: Range<usize>,
    ) -> Finding {
        self.related.push(Relative { relation, at, range, file: Some(file) });
        self
    }

    pub(crate) fn instead_of(mut self, scope: Scope) -> Finding {
        self.replaces.push(scope);
        self
    }

    /// Drops the finding if there is a warning or an error about the value at a location. An unknown key does not
    /// count.
    pub(crate) fn unless_wrong(mut self, at: Pointer) -> Finding {
        self.unless_wrong.push(at);
        self
    }

    /// Reports the finding only with certain settings.
    pub(crate) fn only_with(self, settings: SettingsCondition) -> Finding {
        Finding { only_with: Some(settings), ..self }
    }

    /// Whether it is at least a warning about a value.
    fn is_wrong(&self) -> bool {
        self.severity <= Severity::Warning && self.code != Code::UnknownKey
    }

    pub(crate) fn problem(self) -> Problem {
        let words = self.words;
        let related = self.related.into_iter().map(|it| Related {
            message: it.relation.label(),
            repeats: it.relation == Relation::UsedAgain,
            at: it.at,
            range: it.range,
            file: it.file,
        });
        Problem {
            code: self.code,
            severity: self.severity,
            message: words.message,
            subject: words.subject,
            listing: words.listing,
            note: words.note,
            help: words.help,
            related: related.collect(),
            fixes: words.fixes,
            only_with: self.only_with,
            at: self.at,
            range: self.range,
        }
    }
}

/// Findings of one part of a document. Nothing is changed or removed before all findings are added.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Drops superseded findings and, in a damaged part, those about missing nodes.
    pub(crate) fn resolve(mut self, is_damaged: bool) -> Report {
        if is_damaged {
            self.findings.retain(|finding| !finding.is_about_absence);
        }
        if self.findings.iter().any(|finding| !finding.replaces.is_empty()) {
            let replaced = Replaced::by(&self.findings);
            let mut gone: Vec<bool> =
                (0..self.findings.len()).map(|index| replaced.holds(&self.findings, index)).collect();
            retain(&mut self.findings, &mut gone);
        }
        if self.findings.iter().any(|finding| !finding.unless_wrong.is_empty()) {
            let mut wrong: FxHashMap<&Pointer, usize> = FxHashMap::default();
            for finding in self.findings.iter().filter(|finding| finding.is_wrong()) {
                *wrong.entry(&finding.at).or_default() += 1;
            }
            let yields = |finding: &Finding| {
                let own = |at: &Pointer| usize::from(*at == finding.at && finding.is_wrong());
                finding.unless_wrong.iter().any(|at| wrong.get(at).copied().unwrap_or_default() > own(at))
            };
            let mut gone: Vec<bool> = self.findings.iter().map(yields).collect();
            retain(&mut self.findings, &mut gone);
        }
        self
    }

    /// Returns the problems, in the order in which they were added.
    pub(crate) fn problems(self) -> Vec<Problem> {
        self.findings.into_iter().map(Finding::problem).collect()
    }
}

fn retain(findings: &mut Vec<Finding>, gone: &mut Vec<bool>) {
    let mut gone = gone.drain(..);
    findings.retain(|_| !gone.next().unwrap_or_default());
}

/// Locations with superseded findings, and the findings that supersede them.
struct Replaced<'f> {
    at: FxHashSet<&'f Pointer>,
    within: FxHashSet<&'f Pointer>,
    by_code: FxHashMap<(Code, &'f Pointer), Vec<usize>>,
}

impl<'f> Replaced<'f> {
    fn by(findings: &'f [Finding]) -> Replaced<'f> {
        let mut replaced =
            Replaced { at: FxHashSet::default(), within: FxHashSet::default(), by_code: FxHashMap::default() };
        for (index, finding) in findings.iter().enumerate() {
            for scope in &finding.replaces {
                match scope {
                    Scope::At(at) => {
                        replaced.at.insert(at);
                    }
                    Scope::In(at) => {
                        replaced.within.insert(at);
                    }
                    Scope::CodeAt(code, at) => replaced.by_code.entry((*code, at)).or_default().push(index),
                }
            }
        }
        replaced
    }

    fn holds(&self, findings: &[Finding], index: usize) -> bool {
        let Finding { code, layer, at, .. } = &findings[index];
        let by_other = |by: &Vec<usize>| by.iter().any(|by| *by != index);
        if self.by_code.get(&(*code, at)).is_some_and(by_other) {
            return true;
        }
        let mut around = std::iter::successors(Some(at.clone()), Pointer::parent);
        match layer {
            Layer::Schema => {
                self.at.contains(at) || !self.within.is_empty() && around.any(|place| self.within.contains(&place))
            }
            Layer::Rules => false,
        }
    }
}
