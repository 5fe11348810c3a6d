//! Findings: problems as data, that is, the rule and the location. Checks only add findings. [`Report::resolve`]
//! decides which of several findings at a location is reported; only then does [`Report::problems`] render them.

use std::{fmt::Debug, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    document::{NodeRef, Pointer},
    edit,
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Listing, OtherFile, Problem, Related, SettingsCondition, Severity, Subject},
};

/// A kind of problem, with the data for its message: names, numbers, suggestions. The rules are in [`crate::rules`].
pub trait Rule: Debug {
    /// Code of the problem.
    const CODE: Code;

    /// Default severity, before settings change it.
    const SEVERITY: Severity = Self::CODE.severity();

    /// Returns the severity, if it differs between problems of this kind.
    fn severity(&self) -> Severity {
        Self::SEVERITY
    }

    /// Whether it reports something as missing. In a part that is not fully parsed, it may exist anyway.
    fn is_about_absence(&self) -> bool {
        Self::CODE.is_about_absence()
    }

    /// Renders the message, note, help and fixes.
    fn message(&self, location: &Location<'_>) -> MessageParts;
}

/// A rule of any type, possibly with an explanation.
trait AnyRule: Debug {
    fn is_about_absence(&self) -> bool;
    fn message(&self, location: &Location<'_>) -> MessageParts;
}

impl<R: Rule> AnyRule for R {
    fn is_about_absence(&self) -> bool {
        Rule::is_about_absence(self)
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        Rule::message(self, location)
    }
}

/// Additional knowledge about a finding of another rule.
pub(crate) trait Explanation: Debug {
    /// Returns the message, note, help and fixes, given those of the rule.
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts;
}

/// A rule with an explanation.
#[derive(Debug)]
struct Explained {
    rule: Box<dyn AnyRule>,
    by: Box<dyn Explanation>,
}

impl AnyRule for Explained {
    fn is_about_absence(&self) -> bool {
        self.rule.is_about_absence()
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        self.by.message(self.rule.message(location), location)
    }
}

/// A function that changes the text of another rule.
struct Rewording<F>(F);

impl<F> Debug for Rewording<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Rewording")
    }
}

impl<F: Fn(MessageParts, &Location<'_>) -> MessageParts> Explanation for Rewording<F> {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        self.0(said, location)
    }
}

/// A problem whose text is known where it is found.
#[derive(Debug)]
struct Stated {
    words: MessageParts,
    is_about_absence: bool,
}

impl AnyRule for Stated {
    fn is_about_absence(&self) -> bool {
        self.is_about_absence
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        self.words.clone()
    }
}

/// Location of a finding.
pub struct Location<'d> {
    /// Root of the checked part: the whole document, or one item of a top-level list.
    pub(crate) root: NodeRef<'d>,
    /// Pointer to the node, relative to `root`.
    pub(crate) at: &'d Pointer,
    /// The bytes to underline.
    pub(crate) range: &'d Range<usize>,
}

impl<'d> Location<'d> {
    /// Returns the value with its location; for duplicate keys, the underlined one. `None` if
    /// a node is missing.
    pub(crate) fn lint_node(&self) -> Option<LintNode<'d>> {
        LintNode::root(self.root).around(self.at, self.range.start)
    }

    /// Returns the node. `None` if it is missing.
    pub fn node(&self) -> Option<NodeRef<'d>> {
        Some(self.lint_node()?.node)
    }

    /// Returns the parent node.
    pub(crate) fn parent(&self) -> Option<NodeRef<'d>> {
        Some(self.holder()?.node)
    }

    /// Returns the parent node with its location.
    pub(crate) fn holder(&self) -> Option<LintNode<'d>> {
        LintNode::root(self.root).around(&self.at.parent()?, self.range.start)
    }

    /// Returns the edits that replace the value.
    pub(crate) fn replaced(&self, words: impl Into<String>) -> Option<Vec<Edit>> {
        edit::replace(self.node()?, words)
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
    /// The callee of a contract.
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

/// A problem at a location, without its text.
#[derive(Debug)]
pub struct Finding {
    rule: Box<dyn AnyRule>,
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
    /// Creates a finding of a rule at a node, with the range to underline.
    pub fn new<R: Rule + 'static>(rule: R, at: Pointer, range: Range<usize>) -> Finding {
        Finding::of(R::CODE, rule.severity(), Box::new(rule), at, range)
    }

    /// Creates a finding with this text.
    pub(crate) fn stated(code: Code, words: MessageParts, at: Pointer, range: Range<usize>) -> Finding {
        let rule = Stated { words, is_about_absence: code.is_about_absence() };
        Finding::of(code, code.severity(), Box::new(rule), at, range)
    }

    /// Creates a finding with this text that something is missing. In a part that is not fully parsed, it may exist
    /// anyway.
    pub(crate) fn absent(code: Code, words: MessageParts, at: Pointer, range: Range<usize>) -> Finding {
        let rule = Stated { words, is_about_absence: true };
        Finding::of(code, code.severity(), Box::new(rule), at, range)
    }

    fn of(code: Code, severity: Severity, rule: Box<dyn AnyRule>, at: Pointer, range: Range<usize>) -> Finding {
        Finding {
            code,
            severity,
            rule,
            layer: Layer::Rules,
            at,
            range,
            related: Vec::new(),
            replaces: Vec::new(),
            unless_wrong: Vec::new(),
            only_with: None,
        }
    }

    /// Marks the finding as one of the schema.
    pub(crate) fn of_schema(self) -> Finding {
        Finding { layer: Layer::Schema, ..self }
    }

    /// Changes the code.
    pub(crate) fn with_code(self, code: Code) -> Finding {
        Finding { code, ..self }
    }

    /// Changes the severity.
    pub(crate) fn with_severity(self, severity: Severity) -> Finding {
        Finding { severity, ..self }
    }

    /// Adds an explanation.
    pub(crate) fn explained(self, by: impl Explanation + 'static) -> Finding {
        Finding { rule: Box::new(Explained { rule: self.rule, by: Box::new(by) }), ..self }
    }

    /// Changes the text, given that of the rule and the location.
    pub(crate) fn reworded(self, by: impl Fn(MessageParts, &Location<'_>) -> MessageParts + 'static) -> Finding {
        self.explained(Rewording(by))
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Returns the severity, before settings change it.
    pub(crate) fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns the location.
    pub(crate) fn at(&self) -> &Pointer {
        &self.at
    }

    /// Adds a related location.
    pub(crate) fn related(mut self, relation: Relation, at: Pointer, range: Range<usize>) -> Finding {
        self.add_related(relation, at, range);
        self
    }

    /// Adds a related location.
    pub(crate) fn add_related(&mut self, relation: Relation, at: Pointer, range: Range<usize>) {
        self.related.push(Relative { relation, at, range, file: None });
    }

    /// Adds a value as a related location, or the first line of a list or mapping.
    pub(crate) fn with(self, label: &'static str, lint_node: &LintNode<'_>) -> Finding {
        self.related(Relation::Labelled(label), lint_node.at.clone(), lint_node.range())
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

    /// Adds a related location in another file, with its relation.
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

    /// Supersedes other findings.
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

    /// Returns the problem with its text.
    fn problem(self, words: MessageParts) -> Problem {
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
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds findings.
    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    /// Drops superseded findings and, in a damaged part, those about missing nodes.
    pub(crate) fn resolve(mut self, is_damaged: bool) -> Report {
        if is_damaged {
            self.findings.retain(|finding| !finding.rule.is_about_absence());
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

    /// Renders the findings in the order in which they were added. Locations are relative to `root`.
    pub(crate) fn problems(self, root: NodeRef<'_>) -> Vec<Problem> {
        let words =
            |finding: &Finding| finding.rule.message(&Location { root, at: &finding.at, range: &finding.range });
        let worded: Vec<MessageParts> = self.findings.iter().map(words).collect();
        self.findings.into_iter().zip(worded).map(|(finding, words)| finding.problem(words)).collect()
    }
}

/// Removes the findings that are gone.
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
