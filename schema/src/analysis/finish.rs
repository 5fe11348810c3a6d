//! The last look at what was found: its order, what comments and settings say of it, and which mistakes are alike.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{aliases, facts};
use crate::{
    dialect::Dialect,
    document::{Allowance, Document, Pointer, fault::Fault, is_foreign_blank, syntax_problem},
    problem::{Code, Edit, Problem},
    settings::Settings,
    words::nearest,
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

/// Sorts problems by place; comments and settings decide which are told, and how bad they are.
pub(super) fn finish(
    mut problems: Vec<Problem>,
    document: &Document,
    dialect: Option<Dialect>,
    settings: &Settings,
) -> Vec<Problem> {
    // In the order of the text: the first use tells where nobody looks at the value.
    problems.sort_by_key(|problem| (problem.range.start, problem.code));
    aliases::fold(&mut problems, document);
    facts::fold(&mut problems);
    problems.iter_mut().for_each(|problem| blanks_are_no_letters(problem, document));
    let is_same = |one: &Problem, other: &Problem| one.range == other.range && one.message == other.message;
    problems.dedup_by(|one, other| one.code == Code::Syntax && other.code == Code::Syntax && is_same(one, other));
    one_remedy_for_a_line(&mut problems, document);
    let allowances = document.allowances();
    let allowed = Allowed::by(&allowances);
    problems.retain(|problem| problem.code.is_always_an_error() || !allowed.covers(problem));
    drop(allowed);
    for allowance in allowances {
        for (code, range) in allowance.codes {
            let problem = |message| Problem::new(Code::InvalidSetting, Pointer::root(), range, message);
            problems.push(match Code::parse(&code) {
                Some(known) if known.is_always_an_error() => problem(format!("`{code}` cannot be allowed"))
                    .with_note("text that cannot be read cannot be checked"),
                Some(_) => continue,
                None => {
                    let near = nearest(&code, Code::ALL.iter().map(|code| code.as_str()));
                    let help = near.map_or_else(
                        || "use one of the codes that `speclens explain` lists".to_owned(),
                        |near| format!("change it to `{near}`"),
                    );
                    problem(format!("unknown code `{code}`")).with_help(help)
                }
            });
        }
    }
    problems.retain_mut(|problem| match settings.severity_in(dialect, problem.code, problem.severity) {
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
    let text = document.text();
    let begins_so = text.byte_slice(problem.range.clone()).chars().next().is_some_and(is_foreign_blank);
    if problem.code != Code::UnknownKey || !begins_so {
        return;
    }
    let start = text.line_to_byte(text.byte_to_line(problem.range.start));
    let line = String::from(text.byte_slice(start..problem.range.end));
    let words = line.trim_start_matches(|letter| letter == ' ' || is_foreign_blank(letter));
    let blanks = line.len() - words.len();
    if start + blanks > problem.range.start {
        *problem = syntax_problem(&Fault::foreign_blanks(&line, 0..blanks), start);
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
    let moved = problems.iter().filter(|problem| problem.code == Code::UnknownKey && !problem.fixes.is_empty());
    let lines: FxHashSet<usize> = moved.map(line_of).collect();
    for problem in problems {
        if is_indentation(problem) && lines.contains(&line_of(problem)) {
            problem.fixes.clear();
        }
    }
}
