//! Last step of the analysis: sorts the findings, applies comments and settings, and folds repeated problems.

use std::{collections::BTreeMap, ops::Range};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    analysis::{aliases, analyzer::Analyzer, directives, facts, ranges::Ranges},
    directive::{self, Allowance},
    document::{Document, Fault, is_foreign_blank},
    faults,
    format::Dialect,
    problem::{Applicability, Code, Edit, Fix, Problem, SettingsCondition, Severity, Subject},
    settings::Settings,
};

/// Turns findings into reported problems: applies comments and settings, and folds duplicates.
pub(super) fn finish(
    mut problems: Vec<Problem>,
    document: &Document,
    analyzer: &Analyzer,
    settings: &Settings,
) -> Vec<Problem> {
    let levels = Levels::of(analyzer, settings);
    let allowances = directive::allowances(document);
    let begin = |problem: &Problem| (problem.code, problem.range.start);
    // One problem may represent several, so an allowance at the location of another one is not unused.
    let mut begun: FxHashSet<(Code, usize)> = FxHashSet::default();
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
    }
    problems.retain(|problem| !levels.is_of_no_concern(problem));
    // In document order: if the value itself is not checked, its first use is reported.
    aliases::fold(&mut problems, document);
    facts::fold(&mut problems);
    one_remedy_for_a_line(&mut problems, document);
    directives::lint(document, analyzer.file, &allowances, &mut problems);
    if !allowances.is_empty() {
        begun.extend(problems.iter().map(begin));
        let is_partly_read = problems.iter().any(|problem| problem.code.is_about_reading());
        // If part of the text is not understood, or the file may belong to another tool, the allowed problem may exist
        // anyway.
        if !analyzer.is_guess && !is_partly_read {
            directives::lint_unused(document, &allowances, &mut begun, &mut problems);
        }
        let allowed = Allowed::by(&allowances);
        problems.retain(|problem| problem.code.is_always_an_error() || !allowed.covers(problem));
    }
    problems.retain_mut(|problem| levels.adjust(problem));
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    problems
}

/// Cleans up the findings of one part of a document: reports keys that begin with a no-break space as faults of the
/// indentation, and lets no fix be safe that deletes words or moves lines. The line that does not fit may be another one.
pub(super) fn settle(problems: &mut [Problem], document: &Document) {
    problems.iter_mut().for_each(|problem| blanks_are_no_letters(problem, document));
    for fix in problems.iter_mut().flat_map(|problem| &mut problem.fixes).filter(|fix| fix.is_safe()) {
        if moves_lines(fix, document) || deletes_words(fix, document) {
            fix.applicability = Applicability::Suggestion;
        }
    }
}

/// Sorts the findings of a document, and removes duplicate syntax errors.
pub(super) fn sort(problems: &mut Vec<Problem>) {
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    let is_same = |one: &Problem, other: &Problem| one.range == other.range && one.message == other.message;
    problems.dedup_by(|one, other| one.code == Code::Syntax && other.code == Code::Syntax && is_same(one, other));
}

fn moves_lines(fix: &Fix, document: &Document) -> bool {
    let has_break =
        |edit: &Edit| document.text().get_byte_slice(edit.range.clone()).is_some_and(|it| it.len_lines() > 1);
    fix.edits.iter().any(has_break)
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

/// Decides which problems are reported, and with which severity.
struct Levels<'s> {
    settings: &'s Settings,
    dialect: Option<Dialect>,
    /// Whether the document is in a directory.
    is_saved: bool,
}

impl<'s> Levels<'s> {
    fn of(analyzer: &Analyzer, settings: &'s Settings) -> Levels<'s> {
        Levels { settings, dialect: analyzer.file.dialect(), is_saved: analyzer.is_saved }
    }

    /// Whether a problem does not apply to the location of the document or to its readers.
    fn is_of_no_concern(&self, problem: &Problem) -> bool {
        let is_met = problem.only_with.is_none_or(|condition| match condition {
            SettingsCondition::Compat => self.settings.has_to_be_read(self.dialect),
            SettingsCondition::NoJudge => self.settings.judge.is_none(),
            SettingsCondition::Traces => self.settings.gateway.has_traces(),
            SettingsCondition::NoTraces => !self.settings.gateway.has_traces(),
        });
        !is_met || (!self.is_saved && problem.code == Code::MissingFile)
    }

    /// Sets the severity of a problem from the settings. Returns whether it is reported.
    fn adjust(&self, problem: &mut Problem) -> bool {
        let severity = self.settings.severity_in(self.dialect, problem.code, problem.severity);
        problem.severity = severity.unwrap_or(problem.severity);
        severity.is_some()
    }
}
