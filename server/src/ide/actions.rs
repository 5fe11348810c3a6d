//! Quick fixes: the fixes of problems, one by one, or many at once.

use std::ops::Range;

use speclens_schema::{
    analysis::Problems,
    document::{Document, Pointer, Step},
    fixing::{self, Revealing},
    problem::{Code, Edit, Fix, NewFile, Problem},
};

/// A fix that an editor offers for a problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuickFix {
    /// The text of the menu entry.
    pub title: String,
    pub edits: Vec<Edit>,
    pub creates: Vec<NewFile>,
    pub preferred: bool,
}

/// The problems that are fixed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All problems of a kind, each by its best fix.
    Kind(Code),
    /// All problems with a safe fix.
    Safe,
}

impl Scope {
    fn choose(self, problem: &Problem) -> Option<&Fix> {
        match self {
            Scope::Kind(code) => problem.fixes.iter().find(|fix| is_best(fix) && problem.code == code),
            Scope::Safe => problem.fixes.iter().find(|fix| fix.is_safe()),
        }
    }
}

/// Whether a fix is used to fix all problems of a kind. One that creates files is applied only individually.
fn is_best(fix: &Fix) -> bool {
    fix.preferred && fix.creates.is_empty()
}

/// Maximum number of problems whose fixes are offered at once: a selection of the whole text touches all of them.
const MAX_OFFERED: usize = 100;

pub(crate) fn quick_fixes(
    document: &Document,
    problems: &Problems,
    range: Range<usize>,
) -> Vec<(Problem, Vec<QuickFix>)> {
    let touched = problems.touching(&range).filter(|problem| problem.may_have_fix()).take(MAX_OFFERED);
    let quick = |fix: &Fix| QuickFix {
        title: fix.title.clone(),
        edits: fixing::adapted(document, &fix.edits),
        creates: fix.creates.clone(),
        preferred: fix.preferred,
    };
    let with_fixes = |problem: Problem| {
        let fixes = problem.fixes.iter().map(quick).collect();
        (problem, fixes)
    };
    problems.with_fixes(document, touched).into_iter().map(with_fixes).collect()
}

const MAX_TRIED: usize = 4;

/// Returns what can be fixed at once from a range, with the menu entries: the kinds of its problems of which the file
/// has several with a fix. `look` finds the problems of a text.
///
/// A kind is returned only if one of the problems in the range is among those that are fixed. How many there are is
/// known only when all fixes are applied, so the entry does not say it.
pub(crate) fn kinds(
    document: &Document,
    problems: &Problems,
    look: &dyn Fn(&Document) -> Problems,
    range: Range<usize>,
) -> Vec<(Scope, String)> {
    let mut kinds: Vec<(Code, Vec<Problem>)> = Vec::new();
    for problem in problems.with_fixes(document, problems.touching(&range).filter(|problem| problem.may_have_fix())) {
        if Scope::Kind(problem.code).choose(&problem).is_none() {
            continue;
        }
        match kinds.iter_mut().find(|(code, _)| *code == problem.code) {
            Some((_, found)) if found.len() < MAX_TRIED => found.push(problem),
            Some(_) => {}
            None => kinds.push((problem.code, vec![problem])),
        }
    }
    let kind = |(code, found): (Code, Vec<Problem>)| {
        let is_offered = problems.count_with_fix(document, code, is_best) > 1
            && found.iter().any(|problem| is_fixed_with_others(document, look, problem));
        is_offered.then(|| (Scope::Kind(code), format!("Fix all `{}` problems", code.as_str())))
    };
    kinds.into_iter().filter_map(kind).collect()
}

/// Whether a problem is fixed when all of its kind are fixed. Only the fixes near it are tried, and only the problems
/// near it are copied: those of its test, or of its mapping.
fn is_fixed_with_others(document: &Document, look: &dyn Fn(&Document) -> Problems, problem: &Problem) -> bool {
    let scope = Scope::Kind(problem.code);
    let item = item_of(&problem.at);
    let near = |document: &Document| {
        let problems = look(document);
        match item.as_ref().and_then(|item| document.find(item)) {
            Some(item) => problems.with_fixes(document, problems.touching(&item.own_range())),
            None => problems.to_vec(document),
        }
    };
    let fixed = fixing::apply_fixes(
        document,
        &near,
        &|other| scope.choose(other).filter(|_| are_near(&problem.at, &other.at)),
        Revealing::Refused,
    );
    let is_same =
        |left: &Problem| left.code == problem.code && left.at == problem.at && left.message == problem.message;
    !fixed.left.iter().any(is_same)
}

fn are_near(one: &Pointer, other: &Pointer) -> bool {
    match (item_of(one), item_of(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => matches!(one.last_step(), Some(Step::Key(_))) && one.parent() == other.parent(),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn item_of(at: &Pointer) -> Option<Pointer> {
    let steps: Vec<Step<'_>> = at.steps().take(2).collect();
    let place = steps.iter().position(|step| matches!(step, Step::Index(_)))?;
    Some(steps[..=place].iter().fold(Pointer::root(), |at, step| at.step(step)))
}

/// Returns the menu entry for all safe fixes; `None` if there are none. How many are applied is known only afterwards:
/// one may fix several problems, reveal another, or conflict with another.
pub(crate) fn safe(problems: &Problems) -> Option<(Scope, String)> {
    let is_fixable = problems.iter().flat_map(|problem| &problem.fixes).any(Fix::is_safe);
    is_fixable.then(|| (Scope::Safe, "Apply all safe fixes in this file".to_owned()))
}

/// Returns the edits that fix everything at once. `look` returns the problems of a text.
pub(crate) fn fix_all(document: &Document, look: &dyn Fn(&Document) -> Vec<Problem>, scope: Scope) -> Vec<Edit> {
    let revealing = match scope {
        // Like `speclens check --fix`.
        Scope::Safe => Revealing::Allowed,
        // The user fixes one kind of problem, and must not get others instead.
        Scope::Kind(_) => Revealing::Refused,
    };
    let fixed = fixing::apply_fixes(document, look, &|problem| scope.choose(problem), revealing);
    fixing::edits_between(&String::from(document.text()), &fixed.text)
}

/// Returns the kinds of the problems that touch a range, each with the first of its problems. Those that are always
/// errors are omitted because they cannot be silenced.
pub(crate) fn silenceable<'p>(problems: &'p Problems, range: Range<usize>) -> Vec<(Code, &'p Problem)> {
    let mut found: Vec<(Code, &'p Problem)> = Vec::new();
    for problem in problems.touching(&range).filter(|problem| !problem.code.is_always_an_error()) {
        if found.iter().all(|(code, _)| *code != problem.code) {
            found.push((problem.code, problem));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_schema::{
        analysis::Analyzer, document::ScalarRules, files::MemoryFiles, json_schema::SpecFile, settings::Settings,
    };

    use super::*;

    const SUITE: &str = "kindlm: 1\nprojct: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: echo {{nme}}\n    vars: {name: x}\n    expect: {output: {containss: [x], maxLength: \"3\"}}\n";

    fn look(document: &Document) -> Problems {
        Analyzer::new(SpecFile::KINDLM).look(document, &MemoryFiles::default(), &Settings::default())
    }

    #[test]
    fn selection_of_a_whole_long_text_offers_the_fixes_of_its_first_problems() {
        let test = |number: usize| format!("  - {{name: t{number}, command: x, expct: {{}}}}\n");
        for list in
            [(0..300).map(test).collect::<String>(), (0..300).map(test).collect::<String>().replace("  - ", "- ")]
        {
            let text = format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{list}");
            let document = Document::read(&text, ScalarRules::Yaml12);
            let problems = look(&document);
            let fixes = quick_fixes(&document, &problems, 0..text.len());
            assert_eq!(fixes.iter().filter(|(_, fixes)| !fixes.is_empty()).count(), MAX_OFFERED);
            let kinds = kinds(&document, &problems, &look, 0..text.len());
            assert!(kinds.iter().any(|(_, title)| title == "Fix all `unknown-key` problems"), "{kinds:?}");
        }
    }

    #[track_caller]
    fn check(text: &str, word: &str, expected: Expect) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let problems = look(&document);
        let at = text.find(word).expect("the word stands in the text");
        let mut out = String::new();
        for (problem, fixes) in quick_fixes(&document, &problems, at..at) {
            for fix in fixes {
                let star = if fix.preferred { "*" } else { " " };
                let after = fixing::replaced(text, &fix.edits);
                let line = after.lines().find(|line| !text.contains(line)).unwrap_or_default();
                out.push_str(&format!("{star} {}: {:?}: {}\n", fix.title, line, problem.message));
            }
        }
        let all = |document: &Document| look(document).to_vec(document);
        for (scope, title) in kinds(&document, &problems, &look, at..at).into_iter().chain(safe(&problems)) {
            let after = fixing::replaced(text, &fix_all(&document, &all, scope));
            let changed: Vec<&str> = after.lines().filter(|line| !text.contains(line)).collect();
            out.push_str(&format!("{title}: {changed:#?}\n"));
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn fixes_of_what_is_touched_of_all_of_the_kind_and_of_all() {
        check(
            SUITE,
            "containss",
            expect![[r#"
                * rename it to `contains`: "    expect: {output: {contains: [x], maxLength: \"3\"}}": unknown key `containss`
                Fix all `unknown-key` problems: [
                    "project: p",
                    "    expect: {output: {contains: [x], maxLength: \"3\"}}",
                ]
                Apply all safe fixes in this file: [
                    "project: p",
                    "    expect: {output: {contains: [x], maxLength: 3}}",
                ]
            "#]],
        );
        check(
            SUITE,
            "{{nme}}",
            expect![[r#"
                * change it to `{{name}}`: "    command: echo {{name}}": `{{nme}}` has no value
                  add `nme` to `vars`: "    vars: {nme: \"\", name: x}": `{{nme}}` has no value
                Apply all safe fixes in this file: [
                    "project: p",
                    "    expect: {output: {contains: [x], maxLength: 3}}",
                ]
            "#]],
        );
        check(
            SUITE,
            "kindlm",
            expect![[r#"
            Apply all safe fixes in this file: [
                "project: p",
                "    expect: {output: {contains: [x], maxLength: 3}}",
            ]
        "#]],
        );
        check("kindlm: 1\nproject: p\nsuite: {name: s}\ntests: []\n", "project", expect![[""]]);
    }

    #[track_caller]
    fn check_offered(text: &str, words: &[(&str, bool)], fixed: &str) {
        let flat = text.replace("\n  - ", "\n- ").replace("\n    ", "\n  ");
        let flat_fixed = fixed.replace("\n  - ", "\n- ").replace("\n    ", "\n  ");
        let windows = |text: &str| text.replace('\n', "\r\n");
        let variants =
            [(text.to_owned(), fixed.to_owned()), (windows(text), windows(fixed)), (flat.clone(), flat_fixed)];
        for (text, fixed) in variants {
            let document = Document::read(&text, ScalarRules::Yaml12);
            let problems = look(&document);
            let all = |document: &Document| look(document).to_vec(document);
            for (word, is_offered) in words {
                let at = text.find(word).expect("the word is in the text");
                let kinds = kinds(&document, &problems, &look, at..at);
                assert_eq!(!kinds.is_empty(), *is_offered, "{word}: {kinds:?}\n{text}");
                for (scope, title) in kinds {
                    assert!(!title.contains(|letter: char| letter.is_ascii_digit()), "{title}");
                    assert_eq!(fixing::replaced(&text, &fix_all(&document, &all, scope)), fixed);
                }
            }
        }
    }

    #[test]
    fn fix_of_all_is_not_offered_at_a_problem_that_it_leaves() {
        // Both keys would get the name `output`.
        let text = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect: {outputt: {contains: [x]}, outptu: {contains: [y]}}\n  - name: b\n    command: x\n    expect: {output: {containss: [x]}}\n";
        let fixed = text.replace("outputt", "output").replace("containss", "contains");
        check_offered(text, &[("outputt", true), ("outptu", false), ("containss", true)], &fixed);
        // The renamed key brings another error to light.
        let text = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expct: {output: {contains: 1, maxLength: x}}\n  - name: b\n    command: x\n    expect: {outputt: {contains: [x]}}\n";
        let fixed = text.replace("outputt", "output");
        check_offered(text, &[("expct", false), ("outputt", true)], &fixed);
    }
}
