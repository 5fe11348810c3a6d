//! Quick fixes: the cures that problems bring along.

use std::{collections::HashSet, ops::Range};

use speclens_schema::problem::{Code, Edit, Fix, Problem};

/// A change that an editor offers for a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct QuickFix {
    /// What it does, as a menu entry.
    pub title: String,
    /// The changes, in the order of the text, none overlapping another.
    pub edits: Vec<Edit>,
    /// Whether it is surely what the author wants.
    pub preferred: bool,
    /// The problems that it solves: their places in the list of problems.
    pub solves: Vec<usize>,
}

/// The fixes for the problems that touch a range: each problem's own, then for each kind of problem one that
/// cures all of the kind in the file.
pub fn quick_fixes(problems: &[Problem], range: Range<usize>) -> Vec<QuickFix> {
    let touches = |problem: &Problem| problem.range.start <= range.end && range.start <= problem.range.end;
    let mut fixes = Vec::new();
    let mut codes: Vec<Code> = Vec::new();
    for (index, problem) in problems.iter().enumerate().filter(|(_, problem)| touches(problem)) {
        for fix in &problem.fixes {
            fixes.push(QuickFix {
                title: fix.title.clone(),
                edits: sorted(&fix.edits),
                preferred: fix.preferred,
                solves: vec![index],
            });
        }
        if preferred(problem).is_some() && !codes.contains(&problem.code) {
            codes.push(problem.code);
        }
    }
    fixes.extend(codes.into_iter().filter_map(|code| fix_all(problems, code)));
    fixes
}

/// Cures all problems of a kind at once; nothing when there are not at least two that have a sure cure. A
/// cure that would touch the same text as one before it is left out: it comes up again afterwards.
pub fn fix_all(problems: &[Problem], code: Code) -> Option<QuickFix> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut solves = Vec::new();
    for (index, problem) in problems.iter().enumerate().filter(|(_, problem)| problem.code == code) {
        let Some(fix) = preferred(problem) else { continue };
        if fix.edits.iter().all(|edit| edits.iter().all(|other| !overlap(edit, other))) {
            edits.extend(fix.edits.iter().cloned());
            solves.push(index);
        }
    }
    let title = format!("Fix all {} problems of the kind `{}`", solves.len(), code.as_str());
    (solves.len() > 1).then(|| QuickFix { title, edits: sorted(&edits), preferred: false, solves })
}

fn preferred(problem: &Problem) -> Option<&Fix> {
    problem.fixes.iter().find(|fix| fix.preferred)
}

/// Two insertions at the same place overlap, too: which one comes first would be chance.
fn overlap(one: &Edit, other: &Edit) -> bool {
    one.range.start < other.range.end && other.range.start < one.range.end
        || one.range.start == other.range.start
        || one.range.is_empty() && (other.range.start..other.range.end).contains(&one.range.start)
        || other.range.is_empty() && (one.range.start..one.range.end).contains(&other.range.start)
}

fn sorted(edits: &[Edit]) -> Vec<Edit> {
    let mut seen = HashSet::new();
    let mut edits: Vec<Edit> =
        edits.iter().filter(|edit| seen.insert((edit.range.clone(), edit.text.clone()))).cloned().collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    edits
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_schema::document::Pointer;

    use super::*;

    fn problem(code: Code, range: Range<usize>, fixes: &[(&str, Range<usize>, &str, bool)]) -> Problem {
        let problem = Problem::new(code, Pointer::root(), range, "wrong");
        fixes.iter().fold(problem, |problem, (title, range, text, preferred)| {
            let edits = vec![Edit { range: range.clone(), text: (*text).to_owned() }];
            problem.with_fix(Fix { preferred: *preferred, ..Fix::safe(*title, edits) })
        })
    }

    #[track_caller]
    fn check(problems: &[Problem], range: Range<usize>, expected: Expect) {
        let lines = quick_fixes(problems, range).into_iter().map(|fix| {
            let edits: Vec<String> = fix.edits.iter().map(|edit| format!("{:?} {:?}", edit.range, edit.text)).collect();
            let star = if fix.preferred { "*" } else { " " };
            format!("{star} {} [{}] solves {:?}\n", fix.title, edits.join(", "), fix.solves)
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn fixes_of_what_is_touched_and_of_all_of_the_kind() {
        let problems = [
            problem(Code::UnknownKey, 0..3, &[("Rename to `a`", 0..3, "a", true), ("Remove", 0..5, "", false)]),
            problem(Code::UnknownKey, 20..23, &[("Rename to `b`", 20..23, "b", true)]),
            problem(Code::UnknownKey, 30..33, &[("Rename to `c`", 30..33, "c", false)]),
            problem(Code::UnknownKey, 21..22, &[("Rename to `d`", 21..22, "d", true)]),
            problem(Code::WrongType, 40..41, &[("Quote", 40..41, "\"1\"", true)]),
        ];
        check(
            &problems,
            1..1,
            expect![[r#"
                * Rename to `a` [0..3 "a"] solves [0]
                  Remove [0..5 ""] solves [0]
                  Fix all 2 problems of the kind `unknown-key` [0..3 "a", 20..23 "b"] solves [0, 1]
            "#]],
        );
        check(
            &problems,
            40..40,
            expect![[r#"
            * Quote [40..41 "\"1\""] solves [4]
        "#]],
        );
        check(&problems, 10..12, expect![[""]]);
    }
}
