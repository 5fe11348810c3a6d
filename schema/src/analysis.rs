//! Analyses a document. The findings of an item are kept with its block as long as nothing that they depend on changes;
//! everything else is found anew.
//!
//! ```text
//! each item ── look_at ──▶ Findings, kept with its block ─┐
//! root, faults, relations between items ──▶ others ───────┴─ finish ──▶ Problems
//! ```

mod aliases;
mod directives;
mod facts;
mod finish;
mod items;
mod problems;
mod ranges;

use std::{
    hash::{Hash, Hasher},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::FxHasher;

use crate::{
    directive,
    document::{Block, Document, Fault, NodeRef, Pointer, Shape},
    faults,
    files::Files,
    finding::Report,
    format::{Dialect, Format, Lower},
    json_schema::SpecFile,
    names,
    problem::{Code, Problem, Severity},
    relations::{Items, ListFacts},
    rules::{ambiguous_scalar::cut_text, duplicate_name, unknown_reference},
    settings::Settings,
    suite::{Action, Case, Suite},
    validate::{self, Definition, is_damaged},
    walk,
};

use finish::finish;
use items::{CaseContext, ItemList};

pub use problems::Problems;

/// Result of the analysis of a document.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// All problems in document order, with the severities that the settings define.
    pub problems: Vec<Problem>,
    pub suite: Suite,
}

/// Analyses documents of one kind, and caches the findings of each block.
#[derive(Clone, Copy, Debug)]
pub struct Analyzer {
    file: SpecFile,
    /// Number of file changes so far. Findings that depend on files are valid for one epoch only.
    epoch: u64,
    is_guess: bool,
    /// Whether documents are in a directory, so other files can be next to them.
    is_saved: bool,
}

impl Analyzer {
    /// Returns an analyzer with empty caches.
    pub fn new(file: SpecFile) -> Analyzer {
        Analyzer { file, epoch: 0, is_guess: false, is_saved: true }
    }

    /// Sets whether the kind of the documents is only a guess. If it is, no fix is safe, since the documents may
    /// belong to another tool.
    pub fn guessing(self, is_guess: bool) -> Analyzer {
        Analyzer { is_guess, ..self }
    }

    /// Sets whether the documents are saved. No file is reported as missing for an unsaved document.
    pub fn saved(self, is_saved: bool) -> Analyzer {
        Analyzer { is_saved, ..self }
    }

    /// Computes what depends on the kind of file only, once. The first analysis needs it, and another thread can
    /// prepare it while this one reads the text.
    pub fn prepare(&self) {
        let items = Definition::lists(self.file).iter().map(|list| Definition::Item(self.file, list));
        std::iter::once(Definition::Root(self.file)).chain(items).for_each(validate::prepare);
        names::prepare(self.file);
        walk::prepare(self.file);
    }

    /// Invalidates the findings that depend on files.
    pub fn files_changed(&mut self) {
        self.epoch += 1;
    }

    /// Returns the number of file changes so far.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn analyze(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Analysis {
        let problems = self.problems(document, files, settings);
        let suite = self.suite(document, files, settings, &problems);
        Analysis { problems, suite }
    }

    /// Returns all problems in document order, with every fix.
    pub fn problems(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Vec<Problem> {
        self.look(document, files, settings).to_vec(document)
    }

    /// Returns the problems. Fixes that need the whole file are added on request.
    pub fn look(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Problems {
        let problems = finish(self.found(document, files, settings), document, self, settings);
        Problems::new(self.file, self.is_guess, problems)
    }

    /// Returns all findings in document order, before settings and comments are applied.
    fn found(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Vec<Problem> {
        let format = self.format();
        let is_known = |fault: &Fault| format.is_some_and(|format| format.knows(fault, document));
        let mut others = faults::problems_but(document, is_known);
        let mut found = Vec::new();
        let mut report = Report::default();
        cut_text::check(document, &mut report);
        others.extend(report.problems());
        match document.root() {
            None if document.is_intact() => others.push(validate::empty(self.file)),
            None => {}
            Some(root) if root.is_null() && root.anchor().is_none() => others.push(validate::empty(self.file)),
            Some(root) => found = self.look_into(root, files, settings, &mut others),
        }
        finish::settle(&mut others, document);
        found.append(&mut others);
        finish::sort(&mut found);
        found
    }

    /// Returns the problems of the items of all lists, and adds those of everything else to the others.
    fn look_into(
        &self,
        root: NodeRef<'_>,
        files: &dyn Files,
        settings: &Settings,
        others: &mut Vec<Problem>,
    ) -> Vec<Problem> {
        let broken: Vec<usize> =
            others.iter().filter(|it| it.code.is_about_reading()).map(|it| it.range.start).collect();
        let of_root = self.validate(root, Definition::Root(self.file), files);
        others.extend(of_root.into_iter().filter(|problem| !is_emptied(root, problem, &broken)));
        let nodes =
            Definition::lists(self.file).iter().filter_map(|list| Some((*list, Definition::list_in(root, list)?)));
        let cases = self.file.case_list().and_then(|_| CaseContext::of(self, root.document(), files, settings));
        let lists: Vec<ItemList> =
            nodes.map(|(list, node)| ItemList::of(self, node, list, files, cases.as_ref())).collect();
        let facts: Vec<ListFacts<'_>> = lists.iter().map(ItemList::facts).collect();
        let items: Vec<Items<'_>> = facts.iter().map(Items::of).collect();
        let mut report = Report::default();
        unknown_reference::check_names(self.file, root, &items, files, &mut report);
        let none = ListFacts::default();
        match self.format() {
            None => (self.file.report)(root, files, &mut report),
            Some(format) => {
                let meant = items.iter().copied().find(|items| items.has_facts()).unwrap_or(Items::of(&none));
                format.report_relations(self.file, root, meant, files, &mut report);
            }
        }
        let mut found: Vec<Problem> = lists.iter().flat_map(ItemList::problems).collect();
        for finding in items.iter().flat_map(|items| duplicate_name::of_items(*items)) {
            let mut report = Report::default();
            report.push(finding);
            found.extend(report.resolve(false).problems());
        }
        others.extend(report.resolve(false).problems());
        found
    }

    /// Returns the violations of the schema, as the format explains them.
    fn validate(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files) -> Vec<Problem> {
        let mut report = Report::default();
        validate::check(node, definition, files, &mut report);
        if !self.file.is_settings() {
            duplicate_name::check(node, definition, &mut report);
        }
        walk::check(node, definition, self.format(), files, &mut report);
        if let Some(format) = self.format() {
            format.report(node, definition, files, &mut report);
        }
        report.resolve(is_damaged(node)).problems()
    }

    /// Returns a hash of everything that a result about a block depends on.
    fn key(&self, document: &Document, start: usize, block: &Block, more: impl Hash) -> u64 {
        let aliases = block.has_aliases().then(|| document.fingerprint_at(start));
        let mut hasher = FxHasher::default();
        (aliases, self.epoch, more).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the suite to run. The problems decide which cases are intact. An error that the author allows still
    /// counts, since allowing it does not make the claim valid.
    pub fn suite(&self, document: &Document, files: &dyn Files, settings: &Settings, problems: &[Problem]) -> Suite {
        let context = self.context(document, files, settings);
        let mut suite = self.lower_root(document, context.as_deref(), files, settings);
        let is_folded = problems.iter().flat_map(|problem| &problem.related).any(|related| related.repeats);
        let is_adjusted = is_folded || settings.adjusts_severity() || !directive::allowances(document).is_empty();
        let found = if is_adjusted { self.found(document, files, settings) } else { Vec::new() };
        let errors = Errors::of(problems, if is_adjusted { &found } else { problems });
        if self.file.case_list().is_none() {
            // The file is one case.
            let (is_refused, unparsed) = errors.within(&(0..document.text().len_bytes() + 1));
            suite.cases = suite.cases.into_iter().map(|case| with_errors(case, is_refused, &unparsed)).collect();
        }
        if let Some(context) = &context {
            suite.cases.extend(self.cases(document, files, &**context, &errors));
        }
        with_inputs(suite, files)
    }

    /// Returns the suite with only the test at an offset, so the cost does not depend on the size of the file.
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

    /// Returns the format of the documents; `None` for settings and scripts.
    pub fn dialect(&self) -> Option<Dialect> {
        self.file.dialect()
    }

    fn format(&self) -> Option<&'static dyn Format> {
        self.dialect().map(Dialect::format)
    }

    fn context(&self, document: &Document, files: &dyn Files, settings: &Settings) -> Option<Box<dyn Lower>> {
        Some(self.format()?.lower(self.file, document, files, settings))
    }

    /// Returns the suite without the cases of its list.
    fn lower_root(
        &self,
        document: &Document,
        context: Option<&dyn Lower>,
        files: &dyn Files,
        settings: &Settings,
    ) -> Suite {
        match context {
            Some(context) => context.suite(self.file, document, files, settings),
            // Settings and scripts belong to no format and contain nothing to run.
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
        let shown_context = format!("{context:?}");
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
                    let key = self.key(document, start, block, &shown_context);
                    let kept = block.memo(key, || Lowered(Mutex::new((at.clone(), lower()))));
                    (start..start + block.length(), kept.at(&at))
                }
            };
            // Lines that were split off below an item, because they are not indented enough, belong to it too.
            let end = document.end_with_strays(item).max(extent.end);
            lowered_items.push((extent.start..end, lowered));
        }
        // A problem of the whole file affects every case: the command line refuses such a file.
        let is_whole_refused = errors.is_refused_outside(lowered_items.iter().map(|(extent, _)| extent));
        let cases = lowered_items.into_iter().flat_map(|(extent, lowered)| {
            let (is_refused, unparsed) = errors.within(&extent);
            let around = move |case| with_errors(case, is_refused || is_whole_refused, &unparsed);
            lowered.into_iter().map(around)
        });
        cases.collect()
    }
}

/// Returns a suite with the files that settings declare and those that tasks start with. Only suites that are run need
/// inputs, so no other code computes them.
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

/// Cases of an item from the last analysis, and its location then. They move if items are inserted above it.
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

/// Whether a list has no items only because none of them could be parsed.
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

/// Errors of a document, in document order.
struct Errors<'p> {
    /// Starts of the problems that are errors according to the settings, and of their repetitions.
    refused: Vec<usize>,
    /// Problems that leave part of the text not understood, whatever the settings are.
    unparsed: Vec<&'p Problem>,
}

impl<'p> Errors<'p> {
    /// Takes the problems as adjusted by settings (`reported`) and unadjusted (`found`).
    fn of(reported: &[Problem], found: &'p [Problem]) -> Errors<'p> {
        let errors = reported.iter().filter(|problem| problem.severity == Severity::Error);
        let uses = |problem: &Problem| {
            let uses = problem.related.iter().filter(|related| related.repeats);
            uses.map(|related| related.range.start).collect::<Vec<_>>()
        };
        let mut refused: Vec<usize> =
            errors.flat_map(|problem| std::iter::once(problem.range.start).chain(uses(problem))).collect();
        refused.sort_unstable();
        // Two tests with the same name are both understood.
        let is_unparsed =
            |problem: &&Problem| problem.severity == Severity::Error && problem.code != Code::DuplicateName;
        let mut unparsed: Vec<&Problem> = found.iter().filter(is_unparsed).collect();
        unparsed.sort_by_key(|problem| problem.range.start);
        Errors { refused, unparsed }
    }

    /// Whether an error begins outside of all these ranges, which are in document order.
    fn is_refused_outside<'r>(&self, places: impl Iterator<Item = &'r Range<usize>>) -> bool {
        let mut covered = 0;
        let mut inside = 0;
        for place in places {
            let first = self.refused.partition_point(|error| *error < place.start.max(covered));
            covered = covered.max(place.end);
            inside += self.refused.partition_point(|error| *error < covered).saturating_sub(first);
        }
        inside < self.refused.len()
    }

    /// Returns whether an error begins in a range, and the problems that leave text unparsed in it.
    fn within(&self, range: &Range<usize>) -> (bool, Vec<&'p Problem>) {
        let first = self.refused.partition_point(|place| *place < range.start);
        let is_refused = self.refused.get(first).is_some_and(|place| *place < range.end);
        let first = self.unparsed.partition_point(|problem| problem.range.start < range.start);
        let unparsed = self.unparsed[first..].iter().take_while(|problem| problem.range.start < range.end);
        (is_refused, unparsed.copied().collect())
    }
}

fn with_errors(case: Arc<Case>, is_refused: bool, unparsed: &[&Problem]) -> Arc<Case> {
    if !unparsed.is_empty() || !case.intact {
        Arc::new(case.with_errors(unparsed))
    } else if is_refused {
        Arc::new(Case { intact: false, ..Case::clone(&case) })
    } else {
        case
    }
}

#[cfg(test)]
mod tests;
