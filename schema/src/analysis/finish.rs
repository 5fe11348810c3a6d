//! Last step of the analysis: sorts the findings, applies comments and settings, and folds repeated problems.

use std::{collections::BTreeMap, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Analyzer, DocumentFindings, aliases, directives, facts,
    item_list::{BadItem, ItemLists, Looked},
    levels::Levels,
    problems::{Group, Problems},
    ranges::Ranges,
};
use crate::{
    directive::{self, Allowance},
    document::{Document, Fault, is_foreign_blank},
    faults,
    problem::{Applicability, Code, Edit, Fix, Problem, Severity, Subject},
    settings::Settings,
};

/// Turns findings into reported problems: applies comments and settings, and folds duplicates. The findings of an item
/// stay shared and unchanged, unless something outside of the item affects them.
pub(super) fn finish(
    found: DocumentFindings<'_>,
    document: &Document,
    analyzer: &Analyzer,
    settings: &Settings,
) -> Problems {
    let DocumentFindings { mut lists, mut others } = found;
    let allowances = directive::allowances(document);
    let length = document.text().len_bytes();
    let (everywhere, somewhere): (Vec<&Allowance>, Vec<&Allowance>) =
        allowances.iter().partition(|allowance| allowance.covers == (0..length + 1));
    let levels = Levels::of(analyzer, settings, &everywhere);
    let allowed = Ranges::of(somewhere.iter().map(|allowance| allowance.covers.clone()));
    for looked in &mut lists {
        looked.open_where(&mut others, |extent, kept| kept.levels != levels.key() || allowed.touch(&extent));
    }
    hand_over(&mut lists, &mut others, |looked, item| looked.is_entangled(item) || allowed.touch(&item.extent()));
    // An alias may repeat a problem of the item that defines its value.
    let values = aliases::values(&others, document);
    if let Some(values) = values {
        for looked in &mut lists {
            looked.open_where(&mut others, |extent, kept| kept.has_anchors && values.touch(&extent));
        }
        hand_over(&mut lists, &mut others, |_, item| item.has_anchors && values.touch(&item.extent()));
    }
    finish_others(&mut others, &lists, document, analyzer, &allowances, &levels);
    let mut groups: Vec<Group> = lists.iter_mut().flat_map(|looked| looked.groups(&levels)).collect();
    // The lists of a document may be in any order.
    groups.sort_by_key(Group::start);
    let item_lists = document.notes::<ItemLists>();
    lists
        .into_iter()
        .map(Looked::into_item_list)
        .for_each(|(list, item_list)| item_lists.keep(analyzer.file, list, item_list));
    Problems::new(analyzer.file, analyzer.is_guess, document, groups, others)
}

/// Moves the problems of some items to the others.
fn hand_over<'d>(
    lists: &mut [Looked<'d>],
    others: &mut Vec<Problem>,
    is_meant: impl Fn(&Looked<'d>, &BadItem) -> bool,
) {
    for looked in lists {
        let (meant, rest): (Vec<BadItem>, Vec<BadItem>) =
            std::mem::take(&mut looked.wrong).into_iter().partition(|item| is_meant(looked, item));
        others.extend(meant.iter().flat_map(|item| looked.problems(item)));
        looked.wrong = rest;
    }
}

/// Does the same for problems outside of such items, and for comments.
fn finish_others(
    problems: &mut Vec<Problem>,
    lists: &[Looked<'_>],
    document: &Document,
    analyzer: &Analyzer,
    allowances: &[Allowance],
    levels: &Levels<'_>,
) {
    let begin = |problem: &Problem| (problem.code, problem.range.start);
    // One problem may represent several, so an allowance at the location of another one is not unused.
    let mut begun: FxHashSet<(Code, usize)> = FxHashSet::default();
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
        for looked in lists {
            let of_item = |item| looked.found(item).map(move |it| (it.code, it.range.start + item.start));
            begun.extend(looked.wrong.iter().flat_map(of_item));
            // No allowance ends within these.
            begun.extend(
                looked
                    .kept_codes()
                    .into_iter()
                    .flat_map(|(extent, codes)| codes.iter().map(move |code| (*code, extent.start))),
            );
        }
    }
    problems.retain(|problem| !levels.is_of_no_concern(problem));
    settle(problems, document);
    // In document order: if the value itself is not checked, its first use is reported.
    aliases::fold(problems, document);
    facts::fold(problems);
    one_remedy_for_a_line(problems, document);
    directives::lint(document, analyzer.file, allowances, problems);
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
        let of_items = lists.iter().flat_map(|looked| looked.wrong.iter().flat_map(|item| looked.found(item)));
        let mut of_kept = lists.iter().flat_map(Looked::kept_codes).flat_map(|(_, codes)| codes);
        let mut is_partly_read = problems.iter().chain(of_items).any(|problem| problem.code.is_about_reading());
        is_partly_read |= of_kept.any(|code| code.is_about_reading());
        // If part of the text is not understood, or the file may belong to another tool, the allowed problem may exist
        // anyway.
        if !analyzer.is_guess && !is_partly_read {
            directives::lint_unused(document, allowances, &mut begun, problems);
        }
        let allowed = Allowed::by(allowances);
        problems.retain(|problem| problem.code.is_always_an_error() || !allowed.covers(problem));
    }
    problems.retain_mut(|problem| levels.adjust(problem));
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
}

/// Cleans up the findings of one part of a document: reports keys that begin with a no-break space as faults of the
/// indentation, removes duplicate syntax errors, and lets no fix be safe that deletes words.
pub(super) fn settle(problems: &mut Vec<Problem>, document: &Document) {
    problems.iter_mut().for_each(|problem| blanks_are_no_letters(problem, document));
    for fix in problems.iter_mut().flat_map(|problem| &mut problem.fixes).filter(|fix| fix.is_safe()) {
        if deletes_words(fix, document) {
            fix.applicability = Applicability::Suggestion;
        }
    }
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    let is_same = |one: &Problem, other: &Problem| one.range == other.range && one.message == other.message;
    problems.dedup_by(|one, other| one.code == Code::Syntax && other.code == Code::Syntax && is_same(one, other));
}

/// Whether a fix deletes words. A word that it writes elsewhere is moved, and one that it replaces is renamed.
fn deletes_words(fix: &Fix, document: &Document) -> bool {
    let text = document.text();
    let mut balance: BTreeMap<String, isize> = BTreeMap::new();
    for edit in &fix.edits {
        let removed = text.get_byte_slice(edit.range.clone()).map(String::from).unwrap_or_default();
        words(&removed).for_each(|word| *balance.entry(word.to_owned()).or_default() -= 1);
        words(&edit.text).for_each(|word| *balance.entry(word.to_owned()).or_default() += 1);
    }
    // More words go than come.
    balance.values().sum::<isize>() < 0 && balance.values().any(|count| *count < 0)
}

/// Returns the words of a text: names, numbers and paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-./$@".contains(letter);
    let words = text.split(move |letter: char| !is_part(letter));
    words.filter(|word| word.contains(char::is_alphanumeric))
}

/// Whether what is reported of a problem of an item depends on other parts of the document.
pub(super) fn is_entangled(problem: &Problem, document: &Document) -> bool {
    aliases::is_through_alias(problem, document) || facts::is_stated_once(problem)
}

/// Ranges in which each code is allowed.
struct Allowed<'a>(FxHashMap<&'a str, Ranges>);

impl Allowed<'_> {
    fn by(allowances: &[Allowance]) -> Allowed<'_> {
        let mut places: FxHashMap<&str, Vec<Range<usize>>> = FxHashMap::default();
        for allowance in allowances {
            for (code, _) in &allowance.codes {
                places.entry(code).or_default().push(allowance.covers.clone());
            }
        }
        Allowed(places.into_iter().map(|(code, places)| (code, Ranges::of(places.into_iter()))).collect())
    }

    fn covers(&self, problem: &Problem) -> bool {
        self.0.get(problem.code.as_str()).is_some_and(|places| places.hold(problem.range.start))
    }
}

/// Replaces the problem of a key that begins with a no-break space: the space belongs to the indentation.
fn blanks_are_no_letters(problem: &mut Problem, document: &Document) {
    if problem.code != Code::UnknownKey {
        return;
    }
    let text = document.text();
    if !text.byte_slice(problem.range.clone()).chars().next().is_some_and(is_foreign_blank) {
        return;
    }
    let start = text.line_to_byte(text.byte_to_line(problem.range.start));
    let line = String::from(text.byte_slice(start..problem.range.end));
    let words = line.trim_start_matches(|letter| letter == ' ' || is_foreign_blank(letter));
    let blanks = line.len() - words.len();
    if start + blanks > problem.range.start {
        *problem = faults::problem(&Fault::foreign_blanks(&line, 0..blanks).moved(start));
    }
}

/// Removes fixes of the indentation of a line with a key that belongs elsewhere.
fn one_remedy_for_a_line(problems: &mut [Problem], document: &Document) {
    let text = document.text();
    let line_of = |problem: &Problem| text.byte_to_line(problem.range.start.min(text.len_bytes()));
    let is_indentation = |problem: &Problem| {
        let blank = |edit: &Edit| edit.text.trim() == text.byte_slice(edit.range.clone()).to_string().trim();
        problem.code == Code::Syntax && problem.fixes.iter().flat_map(|fix| &fix.edits).any(blank)
    };
    if !problems.iter().any(is_indentation) {
        return;
    }
    let unknown = problems.iter().filter(|problem| problem.code == Code::UnknownKey);
    // A claim that is not valid at its location belongs elsewhere too.
    let is_elsewhere = |problem: &&Problem| {
        let has_home = matches!(problem.subject, Some(Subject::Home(_)));
        has_home || !problem.fixes.is_empty() || problem.severity == Severity::Error
    };
    let lines: FxHashSet<usize> = unknown.filter(is_elsewhere).map(line_of).collect();
    for problem in problems {
        if is_indentation(problem) && lines.contains(&line_of(problem)) {
            problem.fixes.clear();
            problem.help.get_or_insert_with(|| "indent it under the key that it belongs to".to_owned());
        }
    }
}
