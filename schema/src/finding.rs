//! A mistake as data: the rule that it breaks, and where. What looks at a spec only adds findings. Which of several findings about one
//! place is reported is decided once, by [`Report::resolve`]; only then are they put into words, by [`Report::problems`].

use std::{cell::OnceCell, fmt::Debug, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    document::{NodeRef, Pointer},
    edit,
    problem::{Code, Edit, Fix, Listing, OtherFile, Problem, Related, Severity, Subject},
    spot::Spot,
};

/// A mistake of one kind, with what its words need: names, numbers, what was meant. Rules are in [`crate::rules`].
pub trait Rule: Debug {
    /// The code that it is reported with.
    const CODE: Code;

    /// How bad it is, before settings change it.
    const SEVERITY: Severity = Self::CODE.severity();

    /// Returns how bad it is, where that is not the same for all of its kind.
    fn severity(&self) -> Severity {
        Self::SEVERITY
    }

    /// Whether it is about something that is absent. In a part that cannot be read completely it may be there anyway.
    fn is_about_absence(&self) -> bool {
        Self::CODE.is_about_absence()
    }

    /// Returns what is said of it, and the fixes.
    fn words(&self, site: &Site<'_>) -> Words;
}

/// A rule of any kind, or one that is explained.
trait Mistake: Debug {
    fn code(&self) -> Code;
    fn severity(&self) -> Severity;
    fn is_about_absence(&self) -> bool;
    fn words(&self, site: &Site<'_>) -> Words;
}

impl<R: Rule> Mistake for R {
    fn code(&self) -> Code {
        R::CODE
    }

    fn severity(&self) -> Severity {
        Rule::severity(self)
    }

    fn is_about_absence(&self) -> bool {
        Rule::is_about_absence(self)
    }

    fn words(&self, site: &Site<'_>) -> Words {
        Rule::words(self, site)
    }
}

/// What is known of a mistake that another rule found.
pub(crate) trait Explanation: Debug {
    /// Returns the code that it is reported with.
    fn code(&self, found: Code) -> Code {
        found
    }

    /// Returns how bad it is, before settings change it.
    fn severity(&self, found: Severity) -> Severity {
        found
    }

    /// Returns what is said of it, and the fixes, where the rule says `said`.
    fn words(&self, said: Words, _: &Site<'_>) -> Words {
        said
    }
}

/// A mistake of which more is known.
#[derive(Debug)]
struct Explained {
    rule: Box<dyn Mistake>,
    by: Box<dyn Explanation>,
}

impl Mistake for Explained {
    fn code(&self) -> Code {
        self.by.code(self.rule.code())
    }

    fn severity(&self) -> Severity {
        self.by.severity(self.rule.severity())
    }

    fn is_about_absence(&self) -> bool {
        self.rule.is_about_absence()
    }

    fn words(&self, site: &Site<'_>) -> Words {
        self.by.words(self.rule.words(site), site)
    }
}

/// Where a mistake is.
pub struct Site<'d> {
    /// The part of the document that was looked at: the whole, or one item of a top-level list.
    pub(crate) root: NodeRef<'d>,
    /// The node that is wrong, from `root`.
    pub(crate) at: &'d Pointer,
    /// The bytes to underline.
    pub(crate) range: &'d Range<usize>,
    found: &'d Found<'d>,
}

impl<'d> Site<'d> {
    /// Returns the value that is wrong, with its place; of several with one key, the one that is underlined. `None` where
    /// something is missing.
    pub(crate) fn spot(&self) -> Option<Spot<'d>> {
        Spot::root(self.root).around(self.at, self.range.start)
    }

    /// Returns the node that is wrong. `None` where something is missing.
    pub fn node(&self) -> Option<NodeRef<'d>> {
        Some(self.spot()?.node)
    }

    /// Returns what holds the place.
    pub(crate) fn parent(&self) -> Option<NodeRef<'d>> {
        Some(self.holder()?.node)
    }

    /// Returns what holds the place, with its own place.
    pub(crate) fn holder(&self) -> Option<Spot<'d>> {
        Spot::root(self.root).around(&self.at.parent()?, self.range.start)
    }

    /// Returns the edits that put other words instead of the value that is wrong.
    pub(crate) fn replaced(&self, words: impl Into<String>) -> Option<Vec<Edit>> {
        edit::replace(self.node()?, words)
    }

    /// Whether a warning or an error was found in the value at a place.
    pub(crate) fn is_wrong(&self, at: &Pointer) -> bool {
        self.found.wrong().contains(at)
    }

    /// Whether something else was found at a place or in it.
    pub(crate) fn has_others_in(&self, at: &Pointer) -> bool {
        let own = usize::from(self.at.below(at).is_some());
        self.found.counts().get(at).copied().unwrap_or_default() > own
    }
}

/// What was found in one part of a document, by its places.
struct Found<'f> {
    findings: &'f [Finding],
    wrong: OnceCell<FxHashSet<Pointer>>,
    counts: OnceCell<FxHashMap<Pointer, usize>>,
}

impl<'f> Found<'f> {
    fn new(findings: &'f [Finding]) -> Found<'f> {
        Found { findings, wrong: OnceCell::new(), counts: OnceCell::new() }
    }

    /// Returns the places with a warning or an error.
    fn wrong(&self) -> &FxHashSet<Pointer> {
        self.wrong.get_or_init(|| self.findings.iter().filter(|it| it.is_wrong()).map(|it| it.at.clone()).collect())
    }

    /// Returns how many findings are at each place or in it.
    fn counts(&self) -> &FxHashMap<Pointer, usize> {
        self.counts.get_or_init(|| {
            let mut counts = FxHashMap::default();
            for finding in self.findings {
                for at in std::iter::successors(Some(finding.at.clone()), Pointer::parent) {
                    *counts.entry(at).or_default() += 1;
                }
            }
            counts
        })
    }
}

/// A mistake in words: see [`Problem`] for what each part says.
#[derive(Debug)]
pub struct Words {
    pub(crate) message: String,
    pub(crate) note: Option<String>,
    pub(crate) help: Option<String>,
    pub(crate) listing: Option<Listing>,
    pub(crate) subject: Option<Subject>,
    pub(crate) fixes: Vec<Fix>,
}

impl Words {
    /// Returns what is wrong: one lower-case clause without a final period.
    pub fn new(message: impl Into<String>) -> Words {
        Words { message: message.into(), note: None, help: None, listing: None, subject: None, fixes: Vec::new() }
    }

    /// Returns a message that ends with a name, which joins those of other problems with the same beginning.
    pub(crate) fn naming(before: impl Into<String>, name: impl Into<String>) -> Words {
        let listing = Listing { before: before.into(), names: vec![name.into()] };
        Words { listing: Some(listing.clone()), ..Words::new(listing.message()) }
    }

    /// Adds a note: what happens because of it. A second one follows the first.
    pub fn note(mut self, note: impl AsRef<str>) -> Words {
        self.note = Some(match self.note.take() {
            Some(first) => format!("{first}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        });
        self
    }

    /// Returns the same with a help: what to write instead.
    pub fn help(mut self, help: impl Into<String>) -> Words {
        self.help = Some(help.into());
        self
    }

    /// Returns the same with what it is about, for fixes that need the whole file.
    pub(crate) fn subject(mut self, subject: Subject) -> Words {
        self.subject = Some(subject);
        self
    }

    /// Returns the same with a fix, if there is one.
    pub fn fix(mut self, fix: impl IntoIterator<Item = Fix>) -> Words {
        self.fixes.extend(fix);
        self
    }

    /// Returns the same with a help, and where it can be done with the fix of that title, which `fix` makes.
    pub(crate) fn remedy(
        self,
        help: impl Into<String>,
        fix: impl FnOnce(String, Vec<Edit>) -> Fix,
        edits: Option<Vec<Edit>>,
    ) -> Words {
        let help = help.into();
        self.fix(edits.map(|edits| fix(help.clone(), edits))).help(help)
    }

    /// Returns the same with a fix, if there is one, whose title is the help as well.
    pub(crate) fn mend(mut self, fix: Option<Fix>) -> Words {
        if let Some(fix) = fix {
            self.help = Some(fix.title.clone());
            self.fixes.push(fix);
        }
        self
    }
}

/// What is said of a place that uses a wrong value again.
pub(crate) const USED_AGAIN: &str = "used again here";

/// What another place has to do with a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// A key that excludes the one that is reported.
    KeyHere(String),
    /// The agent to which a contract hands over.
    HandsOver(String),
    /// An alias by which the value that is wrong is used again.
    UsedAgain,
    /// Another one of which the same is said.
    Nor(String),
    /// Any other, by its label: "first used here".
    Labelled(&'static str),
}

impl Relation {
    fn label(&self) -> String {
        match self {
            Relation::KeyHere(key) => format!("`{key}` is here"),
            Relation::Nor(name) => format!("nor `{name}`"),
            Relation::HandsOver(agent) => format!("hands over to `{agent}`"),
            Relation::UsedAgain => USED_AGAIN.to_owned(),
            Relation::Labelled(label) => (*label).to_owned(),
        }
    }
}

/// Another place that belongs to a finding.
#[derive(Debug)]
struct Relative {
    relation: Relation,
    at: Pointer,
    range: Range<usize>,
    file: Option<OtherFile>,
}

/// Findings that another one says better.
#[derive(Debug)]
pub(crate) enum Scope {
    /// Everything the schema says of a place.
    At(Pointer),
    /// Everything the schema says of a place, and of what is in it.
    In(Pointer),
    /// What has one code at a place, from any layer.
    CodeAt(Code, Pointer),
}

/// Who found a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Validation against the JSON Schema, which knows no format.
    Schema,
    /// The rules of a format, and those that go beyond types.
    Rules,
}

/// Something wrong, at one place, without words.
#[derive(Debug)]
pub struct Finding {
    rule: Box<dyn Mistake>,
    layer: Layer,
    at: Pointer,
    range: Range<usize>,
    related: Vec<Relative>,
    replaces: Vec<Scope>,
    unless_wrong: Vec<Pointer>,
    is_for_compat: bool,
}

impl Finding {
    /// Returns a mistake that a rule found at a node, with the bytes to underline.
    pub fn new(rule: impl Rule + 'static, at: Pointer, range: Range<usize>) -> Finding {
        Finding {
            rule: Box::new(rule),
            layer: Layer::Rules,
            at,
            range,
            related: Vec::new(),
            replaces: Vec::new(),
            unless_wrong: Vec::new(),
            is_for_compat: false,
        }
    }

    /// Returns the same, as something that validation found.
    pub(crate) fn of_schema(self) -> Finding {
        Finding { layer: Layer::Schema, ..self }
    }

    /// Returns the same in other words.
    pub(crate) fn explained(self, by: impl Explanation + 'static) -> Finding {
        Finding { rule: Box::new(Explained { rule: self.rule, by: Box::new(by) }), ..self }
    }

    /// Returns the code that it is reported with.
    pub(crate) fn code(&self) -> Code {
        self.rule.code()
    }

    /// Returns how bad it is, before settings change it.
    pub(crate) fn severity(&self) -> Severity {
        self.rule.severity()
    }

    /// Returns the node that is wrong.
    pub(crate) fn at(&self) -> &Pointer {
        &self.at
    }

    /// Returns the same with another place that belongs to it.
    pub(crate) fn related(mut self, relation: Relation, at: Pointer, range: Range<usize>) -> Finding {
        self.add_related(relation, at, range);
        self
    }

    /// Adds another place that belongs to it.
    pub(crate) fn add_related(&mut self, relation: Relation, at: Pointer, range: Range<usize>) {
        self.related.push(Relative { relation, at, range, file: None });
    }

    /// Returns the same with another place that belongs to it: its value, or a list or mapping by its first line.
    pub(crate) fn with(self, label: &'static str, spot: &Spot<'_>) -> Finding {
        self.related(Relation::Labelled(label), spot.at.clone(), spot.range())
    }

    /// Returns the same with a place in another file that belongs to it.
    pub(crate) fn with_other_file(
        self,
        label: &'static str,
        file: OtherFile,
        at: Pointer,
        range: Range<usize>,
    ) -> Finding {
        self.related_in(file, Relation::Labelled(label), at, range)
    }

    /// Returns the same by what the other place is.
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

    /// Returns the same instead of others.
    pub(crate) fn instead_of(mut self, scope: Scope) -> Finding {
        self.replaces.push(scope);
        self
    }

    /// Returns the same, kept only where no warning and no error was found in the value at a place. That its key is
    /// unknown says nothing about the value.
    pub(crate) fn unless_wrong(mut self, at: Pointer) -> Finding {
        self.unless_wrong.push(at);
        self
    }

    /// Returns the same, reported only where the settings name the program of the format under `compat`.
    pub(crate) fn only_with_compat(self) -> Finding {
        Finding { is_for_compat: true, ..self }
    }

    /// Whether it is at least a warning about a value.
    fn is_wrong(&self) -> bool {
        self.severity() <= Severity::Warning && self.rule.code() != Code::UnknownKey
    }

    /// Returns the finding in its words.
    fn problem(self, words: Words) -> Problem {
        let related = self.related.into_iter().map(|it| Related {
            message: it.relation.label(),
            repeats: it.relation == Relation::UsedAgain,
            at: it.at,
            range: it.range,
            file: it.file,
        });
        Problem {
            code: self.rule.code(),
            severity: self.rule.severity(),
            message: words.message,
            subject: words.subject,
            listing: words.listing,
            note: words.note,
            help: words.help,
            related: related.collect(),
            fixes: words.fixes,
            is_for_compat: self.is_for_compat,
            at: self.at,
            range: self.range,
        }
    }
}

/// What was found in one part of a document. Nothing that was added is changed or taken away before all of it is there.
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

    /// Drops findings about which another one says more, and in a damaged part those about what is absent.
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

    /// Returns the findings in words, in the order in which they were found. `root` is the node from which their places
    /// count.
    pub(crate) fn problems(self, root: NodeRef<'_>) -> Vec<Problem> {
        let found = Found::new(&self.findings);
        let words = |finding: &Finding| {
            finding.rule.words(&Site { root, at: &finding.at, range: &finding.range, found: &found })
        };
        let worded: Vec<Words> = self.findings.iter().map(words).collect();
        self.findings.into_iter().zip(worded).map(|(finding, words)| finding.problem(words)).collect()
    }
}

/// Takes out what is gone.
fn retain(findings: &mut Vec<Finding>, gone: &mut Vec<bool>) {
    let mut gone = gone.drain(..);
    findings.retain(|_| !gone.next().unwrap_or_default());
}

/// The places at which findings are replaced, with those that replace them.
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
        let Finding { rule, layer, at, .. } = &findings[index];
        let by_other = |by: &Vec<usize>| by.iter().any(|by| *by != index);
        if self.by_code.get(&(rule.code(), at)).is_some_and(by_other) {
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
