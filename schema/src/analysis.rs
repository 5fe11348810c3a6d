//! Analyses a document. The findings of an item are kept with its block as long as nothing that they depend on changes;
//! everything else is found anew.
//!
//! ```text
//! each item ── look_at ──▶ Findings, kept with its block ─┐
//! root, faults, relations between items ──▶ others ───────┴─ finish ──▶ Problems
//! ```

mod aliases;
mod analyzer;
mod cases;
mod directives;
mod facts;
mod finish;
mod items;
mod problems;
mod ranges;

use std::sync::Arc;

use crate::{
    directive,
    document::{Document, Fault, NodeRef, Shape},
    faults,
    files::Files,
    finding::Report,
    format::Dialect,
    names,
    problem::{Code, Problem},
    relations::{Items, ListFacts},
    rules::{ambiguous_scalar::cut_text, duplicate_name, unknown_reference},
    settings::Settings,
    suite::{Action, Suite},
    validate::{self, Definition},
    walk,
};

use cases::{CaseContext, Errors, with_errors};
use finish::finish;
use items::ItemList;

pub use analyzer::Analyzer;
pub use problems::Problems;

/// Result of the analysis of a document.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// All problems in document order, with the severities that the settings define.
    pub problems: Vec<Problem>,
    pub suite: Suite,
}

impl Analyzer {
    /// Computes what depends on the kind of file only, once. The first analysis needs it, and another thread can
    /// prepare it while this one reads the text.
    pub fn prepare(&self) {
        let items = Definition::lists(self.file).iter().map(|list| Definition::Item(self.file, list));
        std::iter::once(Definition::Root(self.file)).chain(items).for_each(validate::prepare);
        names::prepare(self.file);
        walk::prepare(self.file);
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

    /// Returns the suite to run. The problems decide which cases are intact. An error that the author allows still
    /// counts, since allowing it does not make the claim valid.
    pub fn suite(&self, document: &Document, files: &dyn Files, settings: &Settings, problems: &[Problem]) -> Suite {
        let context = CaseContext::of(self, document, files, settings);
        let mut suite = self.lower_root(context.as_ref(), document, files, settings);
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
            suite.cases.extend(context.all(self, document, files, &errors));
        }
        with_inputs(suite, files)
    }

    /// Returns the suite with only the test at an offset, so the cost does not depend on the size of the file.
    pub fn suite_at(&self, document: &Document, offset: usize, files: &dyn Files) -> Suite {
        let settings = &Settings::default();
        let context = CaseContext::of(self, document, files, settings);
        let mut suite = self.lower_root(context.as_ref(), document, files, settings);
        let place = document.pointer_at(offset);
        let item = self.file.case_list().zip(document.root()).and_then(|(list, root)| {
            let at = Definition::list_at(list);
            let index = place.below(&at)?.steps().next()?.index()?;
            Some((Definition::list_in(root, list)?.item_at(index)?, at.index(index)))
        });
        if let Some(((item, at), context)) = item.zip(context) {
            suite.cases.extend(context.lower.cases(item, &at, files).into_iter().map(Arc::new));
        }
        with_inputs(suite, files)
    }

    /// Returns the suite without the cases of its list.
    fn lower_root(
        &self,
        context: Option<&CaseContext>,
        document: &Document,
        files: &dyn Files,
        settings: &Settings,
    ) -> Suite {
        match context {
            Some(context) => context.lower.suite(self.file, document, files, settings),
            // Settings and scripts belong to no format and contain nothing to run.
            None => Suite::empty(self.file.serves().unwrap_or_else(Dialect::first)),
        }
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

#[cfg(test)]
mod tests;
