//! Document → problems and suite, block by block: what did not change is not looked at again.
//!
//! ```text
//! each item ── look_at ──▶ Findings, kept with its block ─┐
//! root, faults, relations between items ──▶ others ───────┴─ finish ──▶ Problems
//! ```
//!
//! [`finish`] copies the findings of an item only where something outside of the item decides what is said of them.

mod aliases;
mod directives;
mod errors;
mod facts;
mod finish;
mod levels;
mod problems;
mod roster;
mod stretches;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    dialect::{
        Dialect,
        format::{Facts, Format, Lower},
    },
    directive,
    document::{Block, Document, Fault, NodeRef, Pointer, Shape},
    faults,
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    problem::{Code, Problem},
    rules::ambiguous_scalar::cut_text,
    settings::Settings,
    suite::{Action, Case, Suite},
    validate::{self, Definition, is_damaged},
    walk,
};

use errors::{Errors, doubted};
use finish::finish;
pub use problems::{Located, Part, Problems};
use roster::{Roster, Rosters};

/// What is known about a document.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Everything that is wrong, in the order of the text, severities as the settings say.
    pub problems: Vec<Problem>,
    /// What can be run.
    pub suite: Suite,
}

/// Analyses documents of one kind. What it finds out about a block is kept with the block.
#[derive(Clone, Copy, Debug)]
pub struct Analyzer {
    file: SpecFile,
    /// Counts the times that files changed: what was found out by looking at them is then void.
    epoch: u64,
    /// Whether it is a guess that documents are of that kind.
    is_guess: bool,
    /// Whether documents are in a directory, so that there are files beside them.
    is_saved: bool,
}

/// What one item gave: ranges count from its block's first byte, pointers from the item.
struct Findings {
    /// In the order of the text.
    problems: Vec<Problem>,
    /// Whether what is said of them depends on other parts of the document.
    is_entangled: bool,
    /// What an item says about names, for what is between items.
    facts: Option<Facts>,
}

/// Everything that was found in a document, whatever settings and comments say of it.
struct Found<'d> {
    /// What was found in items by themselves, each alone in an intact block.
    items: Vec<FoundItem<'d>>,
    /// Everything else.
    others: Vec<Problem>,
}

/// The problems of an item, and where it is.
struct FoundItem<'d> {
    block: &'d Arc<Block>,
    /// Where the block begins.
    start: usize,
    list: &'static str,
    index: usize,
    /// Under which circumstances this was found.
    key: u64,
    findings: Arc<Findings>,
}

impl FoundItem<'_> {
    /// Returns the bytes of the block.
    fn extent(&self) -> Range<usize> {
        self.start..self.start + self.block.length()
    }

    /// Copies of the problems, with their places in the document.
    fn problems(&self) -> impl Iterator<Item = Problem> {
        let base = Definition::list_at(self.list).index(self.index);
        self.findings.problems.iter().map(move |problem| problem.clone().moved(&base, self.start))
    }
}

impl Found<'_> {
    fn into_problems(self) -> Vec<Problem> {
        let Found { items, mut others } = self;
        others.extend(items.iter().flat_map(FoundItem::problems));
        others
    }
}

impl Analyzer {
    /// Returns an analyzer that has seen nothing.
    pub fn new(file: SpecFile) -> Analyzer {
        Analyzer { file, epoch: 0, is_guess: false, is_saved: true }
    }

    /// Returns the same analyzer for documents that are of its kind only as far as can be guessed: no fix is safe in
    /// them, since they may belong to another tool.
    pub fn guessing(self, is_guess: bool) -> Analyzer {
        Analyzer { is_guess, ..self }
    }

    /// Returns the same analyzer for documents of which it is known whether they are saved: where they are not, no file is
    /// missing.
    pub fn saved(self, is_saved: bool) -> Analyzer {
        Analyzer { is_saved, ..self }
    }

    /// Files changed: what depends on them is to be looked at again.
    pub fn files_changed(&mut self) {
        self.epoch += 1;
    }

    /// Returns how many times files changed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Analyses the document as written.
    pub fn analyze(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Analysis {
        let problems = self.problems(document, files, settings);
        let suite = self.suite(document, files, settings, &problems);
        Analysis { problems, suite }
    }

    /// Returns what is wrong, in the order of the text, with every fix.
    pub fn problems(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Vec<Problem> {
        self.look(document, files, settings).to_vec(document)
    }

    /// Returns what is wrong, by parts that are shared with what was found before an edit.
    pub fn look(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Problems {
        finish(self.found(document, files), document, self, settings)
    }

    /// Returns what is wrong, whatever the author allows.
    fn found<'d>(&self, document: &'d Document, files: &dyn Files) -> Found<'d> {
        let format = self.format();
        let is_known = |fault: &Fault| format.is_some_and(|format| format.knows(fault, document));
        let mut found = Found { items: Vec::new(), others: faults::problems_but(document, is_known) };
        let others = &mut found.others;
        if let Some(root) = document.root() {
            let mut report = Report::default();
            cut_text::check(document, &mut report);
            others.extend(report.problems(root));
        }
        match document.root() {
            None if document.is_intact() => others.push(validate::empty(self.file)),
            None => {}
            Some(root) if root.is_null() && root.anchor().is_none() => others.push(validate::empty(self.file)),
            Some(root) => self.look_into(document, root, files, &mut found),
        }
        found
    }

    fn look_into<'d>(&self, document: &'d Document, root: NodeRef<'d>, files: &dyn Files, found: &mut Found<'d>) {
        let Found { items, others } = found;
        let broken: Vec<usize> =
            others.iter().filter(|it| it.code.is_about_reading()).map(|it| it.range.start).collect();
        let of_root = self.validate(root, Definition::Root(self.file), files);
        others.extend(of_root.into_iter().filter(|problem| !is_emptied(root, problem, &broken)));
        let rosters = document.notes::<Rosters>();
        let mut lists: Vec<Roster<'d>> = Vec::new();
        for list in Definition::lists(self.file) {
            let Some(node) = Definition::list_in(root, list) else { continue };
            let roster = self.roster(document, node, list, files, rosters.take(self.file, list));
            items.extend(roster.found(others));
            lists.push(roster);
        }
        let facts: Vec<(usize, &Facts)> = lists.iter().flat_map(Roster::facts).collect();
        let mut report = Report::default();
        if let Some(format) = self.format() {
            format.report_relations(self.file, root, &facts, files, &mut report);
        } else {
            self.file.report(root, files, &mut report);
        }
        others.extend(report.resolve(false).problems(root));
        lists.into_iter().for_each(|roster| rosters.keep(self.file, roster));
    }

    /// Returns what the schema finds wrong, in the words of the format.
    fn validate(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files) -> Vec<Problem> {
        let mut report = Report::default();
        validate::check(node, definition, files, &mut report);
        if !self.file.is_settings() {
            walk::check(node, definition, self.format(), files, &mut report);
        }
        if let Some(format) = self.format() {
            format.report(node, definition, files, &mut report);
        }
        report.resolve(is_damaged(node)).problems(node)
    }

    fn look_at(&self, item: NodeRef<'_>, list: &'static str, files: &dyn Files) -> Findings {
        let mut problems = self.validate(item, Definition::Item(self.file, list), files);
        finish::settle(&mut problems, item.document());
        let is_entangled = problems.iter().any(|problem| finish::is_entangled(problem, item.document()));
        let facts = self.format().and_then(|format| format.facts(self.file, list, item, files));
        Findings { problems, is_entangled, facts }
    }

    /// Changes whenever anything changes that a block's findings depend on.
    fn key(&self, document: &Document, block: &Block) -> u64 {
        self.key_with(if block.has_aliases() { document.fingerprint_of(block) } else { 0 })
    }

    /// Returns the same where it is known what the aliases of the block lead to.
    fn key_with(&self, aliases: u64) -> u64 {
        aliases.wrapping_mul(31).wrapping_add(self.epoch)
    }

    /// Returns what can be run. The problems decide which cases are intact; what is no error because somebody allowed
    /// it counts anyway, since a claim that is not understood does not become one by that.
    pub fn suite(&self, document: &Document, files: &dyn Files, settings: &Settings, problems: &[Problem]) -> Suite {
        let context = self.context(document, files, settings);
        let mut suite = self.lower_root(document, context.as_deref(), files, settings);
        let is_folded = problems.iter().flat_map(|problem| &problem.related).any(|related| related.repeats);
        let is_adjusted = is_folded || settings.adjusts_severity() || !directive::allowances(document).is_empty();
        let found = if is_adjusted { self.found(document, files).into_problems() } else { Vec::new() };
        let errors = Errors::of(problems, if is_adjusted { &found } else { problems });
        if self.file.case_list().is_none() {
            // The file is one case.
            let (is_refused, doubts) = errors.within(&(0..document.text().len_bytes() + 1));
            suite.cases = suite.cases.into_iter().map(|case| doubted(case, is_refused, &doubts)).collect();
        }
        if let Some(context) = &context {
            suite.cases.extend(self.cases(document, files, &**context, &errors));
        }
        with_inputs(suite, files)
    }

    /// Returns the suite with no test but the one around an offset: what can be said about it costs no more.
    pub fn suite_at(&self, document: &Document, offset: usize, files: &dyn Files) -> Suite {
        let context = self.context(document, files, &Settings::default());
        let mut suite = self.lower_root(document, context.as_deref(), files, &Settings::default());
        let place = document.pointer_at(offset);
        let item = self.file.case_list().zip(document.root()).and_then(|(list, root)| {
            let at = Definition::list_at(list);
            let index = place.below(&at)?.steps().next()?.index()?;
            Some((Definition::list_in(root, list)?.item_at(index)?, at.index(index)))
        });
        if let Some(((item, at), context)) = item.zip(context) {
            suite.cases.extend(context.cases(item, &at, files).into_iter().map(Arc::new));
        }
        with_inputs(suite, files)
    }

    fn format(&self) -> Option<&'static dyn Format> {
        self.file.dialect().map(Dialect::format)
    }

    fn context(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Option<Box<dyn Lower>> {
        Some(self.format()?.lower(self.file, document, files, settings))
    }

    /// Everything of a suite but the cases of its list.
    fn lower_root(
        &self,
        document: &Document,
        context: Option<&dyn Lower>,
        files: &dyn Files,
        settings: &Settings,
    ) -> Suite {
        match context {
            Some(context) => context.suite(self.file, document, files, settings),
            // Settings and scripts are of no format, and there is nothing in them to run.
            None => Suite::empty(self.file.serves().unwrap_or_else(Dialect::first)),
        }
    }

    fn cases(
        &self,
        document: &Document,
        files: &dyn Files,
        context: &dyn Lower,
        errors: &Errors<'_>,
    ) -> Vec<Arc<Case>> {
        let mut hasher = DefaultHasher::new();
        format!("{context:?}").hash(&mut hasher);
        let context_key = hasher.finish();
        let Some((list, root)) = self.file.case_list().zip(document.root()) else { return Vec::new() };
        let items = Definition::list_in(root, list);
        let list = Definition::list_at(list);
        let mut lowered_items = Vec::new();
        for (index, item) in items.into_iter().flat_map(NodeRef::items).enumerate() {
            let at = list.index(index);
            let lower = || -> Vec<Arc<Case>> { context.cases(item, &at, files).into_iter().map(Arc::new).collect() };
            let (extent, lowered) = match document.own_block(item) {
                None => (item.range(), lower()),
                Some((start, block)) => {
                    let key = self.key(document, block).rotate_left(17) ^ context_key;
                    let kept = block.memo(key, || Lowered(Mutex::new((at.clone(), lower()))));
                    (start..start + block.length(), kept.at(&at))
                }
            };
            // What was cut off below an item, because it is not deep enough, belongs to it as well.
            let end = document.end_with_strays(item).max(extent.end);
            lowered_items.push((extent.start..end, lowered));
        }
        // What is wrong with the whole concerns every case: a command line refuses such a file.
        let is_whole_refused = errors.is_refused_outside(lowered_items.iter().map(|(extent, _)| extent));
        let cases = lowered_items.into_iter().flat_map(|(extent, lowered)| {
            let (is_refused, doubts) = errors.within(&extent);
            let around = move |case| doubted(case, is_refused || is_whole_refused, &doubts);
            lowered.into_iter().map(around)
        });
        cases.collect()
    }
}

/// Returns a suite with the files that settings declare, and those that tasks begin with. Only what is run here has
/// inputs, so they are looked for nowhere else.
fn with_inputs(mut suite: Suite, files: &dyn Files) -> Suite {
    if suite.cases.iter().any(|case| matches!(case.action, Action::Command(_) | Action::Agent(_) | Action::Trigger(_)))
    {
        suite.inputs = files.declared();
    }
    for case in &suite.cases {
        if let Action::Agent(agent) = &case.action
            && let Some(scaffold) = agent.scaffold()
            && !suite.scaffolds.contains_key(scaffold)
        {
            suite.scaffolds.insert(scaffold.to_owned(), files.tree(scaffold));
        }
    }
    suite
}

impl Findings {
    /// Returns the same with ranges counted from the beginning of a block. Places outside of it are omitted: they may
    /// move on their own.
    fn relative_to(mut self, start: usize, block: &Block) -> Findings {
        let inside = |range: &mut Range<usize>| {
            let fits = range.start >= start && range.end <= start + block.length();
            if fits {
                *range = range.start - start..range.end - start;
            }
            fits
        };
        for problem in &mut self.problems {
            if !inside(&mut problem.range) {
                problem.range = 0..0;
            }
            problem.related.retain_mut(|related| related.file.is_some() || inside(&mut related.range));
            problem.fixes.retain_mut(|fix| fix.edits.iter_mut().all(|edit| inside(&mut edit.range)));
        }
        self
    }
}

/// The cases of an item as last seen, and where it stood: they move when items are inserted above it.
struct Lowered(Mutex<(Pointer, Vec<Arc<Case>>)>);

impl Lowered {
    fn at(&self, place: &Pointer) -> Vec<Arc<Case>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (was, cases) = &mut *kept;
        if was != place {
            for case in cases.iter_mut().filter(|case| case.file.is_none()) {
                let to = case.at.below(was).map_or_else(|| case.at.clone(), |rest| place.join(&rest));
                *case = Arc::new(case.moved(to));
            }
            *was = place.clone();
        }
        cases.clone()
    }
}

/// Whether a list is without items only because none of them could be read.
fn is_emptied(root: NodeRef<'_>, problem: &Problem, broken: &[usize]) -> bool {
    let list = || root.find(&problem.at).filter(|list| list.shape() == Shape::Sequence);
    problem.code == Code::OutOfRange
        && !broken.is_empty()
        && list().is_some_and(|list| {
            let next = root.entries().map(|entry| entry.key.range().start).find(|start| *start > list.range().start);
            let extent = list.range().start..next.unwrap_or(usize::MAX);
            list.items().next().is_none() && broken.iter().any(|at| extent.contains(at))
        })
}

#[cfg(test)]
mod tests;
