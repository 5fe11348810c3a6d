//! The cases of a file: each item of its list is lowered once, until something changes that its cases depend on.

use std::{
    hash::{Hash, Hasher},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::FxHasher;

use super::analyzer::Analyzer;
use crate::{
    document::{Document, NodeRef, Pointer},
    files::Files,
    finding::Finding,
    format::{Dialect, Lower},
    idle,
    lint_node::head,
    problem::{Code, Problem, Severity},
    settings::Settings,
    suite::{Case, Claim},
    validate::{Definition, is_damaged},
};

/// The rest of a file that its cases depend on, with a hash of it.
pub(super) struct CaseContext {
    pub(super) list: Option<&'static str>,
    dialect: Dialect,
    pub(super) lower: Box<dyn Lower>,
    pub(super) hash: u64,
}

impl CaseContext {
    /// Returns `None` for settings and scripts.
    pub(super) fn of(
        analyzer: &Analyzer,
        document: &Document,
        files: &dyn Files,
        settings: &Settings,
    ) -> Option<CaseContext> {
        let dialect = analyzer.dialect()?;
        let lower = dialect.format().lower(analyzer.file, document, files, settings);
        let mut hasher = FxHasher::default();
        format!("{lower:?}").hash(&mut hasher);
        Some(CaseContext { list: analyzer.file.case_list(), dialect, lower, hash: hasher.finish() })
    }

    /// Returns the cases of an item at a place.
    fn of_item(&self, analyzer: &Analyzer, item: NodeRef<'_>, place: &Pointer, files: &dyn Files) -> Vec<Arc<Case>> {
        let document = item.document();
        let lower = || -> Vec<Arc<Case>> { self.lower.cases(item, place, files).into_iter().map(Arc::new).collect() };
        let Some((start, block)) = document.own_block(item) else { return lower() };
        let key = analyzer.key(document, start, block, self.hash);
        block.memo(key, || Lowered(Mutex::new((place.clone(), lower())))).at(place)
    }

    /// Returns the cases of all items.
    pub(super) fn all(
        &self,
        analyzer: &Analyzer,
        document: &Document,
        files: &dyn Files,
        errors: &Errors<'_>,
    ) -> Vec<Arc<Case>> {
        let Some((list, root)) = self.list.zip(document.root()) else { return Vec::new() };
        let items = Definition::list_in(root, list);
        let list = Definition::list_at(list);
        let mut of_items = Vec::new();
        for (index, item) in items.into_iter().flat_map(NodeRef::items).enumerate() {
            let extent = match document.own_block(item) {
                None => item.range(),
                Some((start, block)) => start..start + block.length(),
            };
            // Lines that were split off below an item, because they are not indented enough, belong to it too.
            let end = document.end_with_strays(item).max(extent.end);
            of_items.push((extent.start..end, self.of_item(analyzer, item, &list.index(index), files)));
        }
        // A problem of the whole file affects every case: the command line refuses such a file.
        let is_whole_refused = errors.is_refused_outside(of_items.iter().map(|(extent, _)| extent));
        let cases = of_items.into_iter().flat_map(|(extent, cases)| {
            let (is_refused, unparsed) = errors.within(&extent);
            let around = move |case| with_errors(case, is_refused || is_whole_refused, &unparsed);
            cases.into_iter().map(around)
        });
        cases.collect()
    }

    /// Reports that a test of an item passes although nothing happens, unless other problems may be the cause.
    pub(super) fn report_idle(
        &self,
        analyzer: &Analyzer,
        item: NodeRef<'_>,
        place: &Pointer,
        files: &dyn Files,
        problems: &mut Vec<Problem>,
    ) {
        let is_cause = |problem: &Problem| {
            problem.severity == Severity::Error || matches!(problem.code, Code::VacuousClaim | Code::NoClaims)
        };
        if is_damaged(item) || problems.iter().any(is_cause) {
            return;
        }
        for case in self.of_item(analyzer, item, place, files) {
            if case.file.is_some() || !idle::passes(&case, self.dialect) {
                continue;
            }
            let Some(at) = case.at.below(place) else { continue };
            // The key that contains the claims. One of them may be about a default.
            let key_of = |claim: &Claim| Some(at.step(&claim.at.below(&case.at)?.steps().next()?));
            let key = case.claims.iter().filter_map(key_of).find(|key| item.find(key).is_some());
            let words = idle::message(case.action.kind());
            let at = key.unwrap_or(at);
            problems.push(Finding::stated(Code::VacuousClaim, words, at.clone(), head(item, &at)).problem());
        }
    }
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

/// Errors of a document, in document order.
pub(super) struct Errors<'p> {
    /// Starts of the problems that are errors according to the settings, and of their repetitions.
    refused: Vec<usize>,
    /// Problems that leave part of the text not understood, whatever the settings are.
    unparsed: Vec<&'p Problem>,
}

impl<'p> Errors<'p> {
    /// Takes the problems as adjusted by settings (`reported`) and unadjusted (`found`).
    pub(super) fn of(reported: &[Problem], found: &'p [Problem]) -> Errors<'p> {
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
    pub(super) fn within(&self, range: &Range<usize>) -> (bool, Vec<&'p Problem>) {
        let first = self.refused.partition_point(|place| *place < range.start);
        let is_refused = self.refused.get(first).is_some_and(|place| *place < range.end);
        let first = self.unparsed.partition_point(|problem| problem.range.start < range.start);
        let unparsed = self.unparsed[first..].iter().take_while(|problem| problem.range.start < range.end);
        (is_refused, unparsed.copied().collect())
    }
}

pub(super) fn with_errors(case: Arc<Case>, is_refused: bool, unparsed: &[&Problem]) -> Arc<Case> {
    if !unparsed.is_empty() || !case.intact {
        Arc::new(case.with_errors(unparsed))
    } else if is_refused {
        Arc::new(Case { intact: false, ..Case::clone(&case) })
    } else {
        case
    }
}
