//! The last look at what was found: its order, what comments and settings say of it, and which mistakes are alike.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{aliases, directives, facts};
use crate::{
    directive::{self, Allowance},
    document::{Document, Fault, is_foreign_blank},
    faults,
    json_schema::SpecFile,
    problem::{Code, Edit, Problem, Severity},
    settings::Settings,
};

/// The places where each code is allowed.
struct Allowed<'a>(FxHashMap<&'a str, Vec<Range<usize>>>);

impl Allowed<'_> {
    fn by(allowances: &[Allowance]) -> Allowed<'_> {
        let mut places: FxHashMap<&str, Vec<Range<usize>>> = FxHashMap::default();
        for allowance in allowances {
            for (code, _) in &allowance.codes {
                places.entry(code).or_default().push(allowance.covers.clone());
            }
        }
        for places in places.values_mut() {
            places.sort_by_key(|place| place.start);
            // Each reaches as far as any that begins before it: the last one that begins before a place decides.
            let mut end = 0;
            for place in places {
                end = end.max(place.end);
                place.end = end;
            }
        }
        Allowed(places)
    }

    fn covers(&self, problem: &Problem) -> bool {
        self.0.get(problem.code.as_str()).is_some_and(|places| {
            let before = places.partition_point(|place| place.start <= problem.range.start);
            before > 0 && places[before - 1].contains(&problem.range.start)
        })
    }
}

/// Sorts problems by place; comments and settings decide which are reported, and with which severity.
pub(super) fn finish(
    mut problems: Vec<Problem>,
    document: &Document,
    file: SpecFile,
    is_guess: bool,
    settings: &Settings,
) -> Vec<Problem> {
    let allowances = directive::allowances(document);
    let begin = |problem: &Problem| (problem.code, problem.range.start);
    // One problem may stand for several: what is allowed at the place of another is not allowed in vain.
    let mut begun: FxHashSet<(Code, usize)> = FxHashSet::default();
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
    }
    // In the order of the text: the first use counts where the value itself is not checked.
    problems.retain(|problem| !problem.is_for_compat || settings.has_to_be_read(file.dialect()));
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    aliases::fold(&mut problems, document);
    facts::fold(&mut problems);
    problems.iter_mut().for_each(|problem| blanks_are_no_letters(problem, document));
    let is_same = |one: &Problem, other: &Problem| one.range == other.range && one.message == other.message;
    problems.dedup_by(|one, other| one.code == Code::Syntax && other.code == Code::Syntax && is_same(one, other));
    one_remedy_for_a_line(&mut problems, document);
    directives::lint(document, file, &allowances, &mut problems);
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
        // Where part of the text is not understood, or belongs to another tool perhaps, what is allowed may be there all
        // the same.
        if !is_guess && !problems.iter().any(|problem| problem.code.is_about_reading()) {
            directives::lint_unused(document, &allowances, &mut begun, &mut problems);
        }
        let allowed = Allowed::by(&allowances);
        problems.retain(|problem| problem.code.is_always_an_error() || !allowed.covers(problem));
    }
    problems.retain_mut(|problem| match settings.severity_in(file.dialect(), problem.code, problem.severity) {
        Some(severity) => {
            problem.severity = severity;
            true
        }
        None => false,
    });
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    problems
}

/// A key that begins with a no-break space is not unknown: the blank belongs to the indentation.
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

/// Where a key of a line belongs elsewhere, nothing else is done about the indentation of that line.
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
    // A claim that cannot be where it is read belongs elsewhere as well.
    let is_elsewhere = |problem: &&Problem| !problem.fixes.is_empty() || problem.severity == Severity::Error;
    let lines: FxHashSet<usize> = unknown.filter(is_elsewhere).map(line_of).collect();
    for problem in problems {
        if is_indentation(problem) && lines.contains(&line_of(problem)) {
            problem.fixes.clear();
        }
    }
}
