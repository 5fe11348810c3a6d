//! Quick fixes: the cures that problems bring along, one by one, or many at once.

use std::ops::Range;

use speclens_schema::{
    cure::{self, Revealing},
    document::Document,
    problem::{Code, Edit, Fix, NewFile, Problem},
};

/// A change that an editor offers for a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct QuickFix {
    /// What it does, as a menu entry.
    pub title: String,
    /// The changes, none overlapping another.
    pub edits: Vec<Edit>,
    /// The files that it brings into being.
    pub creates: Vec<NewFile>,
    /// Whether it is the best cure of its problem.
    pub preferred: bool,
    /// The problem that it solves: its place in the list of problems.
    pub solves: usize,
}

/// What is put right at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All problems of a kind, each by its best cure.
    Kind(Code),
    /// All problems with a cure that needs nobody's judgement.
    Safe,
}

impl Scope {
    /// The cure that is to be applied to a problem.
    fn choose(self, problem: &Problem) -> Option<&Fix> {
        match self {
            // What brings files into being is chosen one by one.
            Scope::Kind(code) => {
                problem.fixes.iter().find(|fix| fix.preferred && fix.creates.is_empty() && problem.code == code)
            }
            Scope::Safe => problem.fixes.iter().find(|fix| fix.is_safe()),
        }
    }
}

/// The fixes for the problems that touch a range.
pub fn quick_fixes(document: &Document, problems: &[Problem], range: Range<usize>) -> Vec<QuickFix> {
    let mut fixes = Vec::new();
    for (index, problem) in touched(problems, &range) {
        fixes.extend(problem.fixes.iter().map(|fix| QuickFix {
            title: fix.title.clone(),
            edits: cure::adapted(document, &fix.edits),
            creates: fix.creates.clone(),
            preferred: fix.preferred,
            solves: index,
        }));
    }
    fixes
}

/// What can be put right at once from a range, with a menu entry: the kinds of its problems, where the file has
/// several that can be cured.
pub fn kinds(problems: &[Problem], range: Range<usize>) -> Vec<(Scope, String)> {
    let mut kinds: Vec<(Scope, String)> = Vec::new();
    for (_, problem) in touched(problems, &range) {
        let scope = Scope::Kind(problem.code);
        let count = problems.iter().filter(|problem| scope.choose(problem).is_some()).count();
        if count > 1 && scope.choose(problem).is_some() && kinds.iter().all(|(known, _)| *known != scope) {
            kinds.push((scope, format!("Fix all {count} problems of the kind `{}`", problem.code.as_str())));
        }
    }
    kinds
}

/// The menu entry for all that can be put right without anybody's judgement; nothing where there is nothing.
pub fn safe(problems: &[Problem]) -> Option<(Scope, String)> {
    let count = problems.iter().filter(|problem| Scope::Safe.choose(problem).is_some()).count();
    let title = match count {
        0 => return None,
        1 => "Apply the safe fix in this file".to_owned(),
        _ => format!("Apply all {count} safe fixes in this file"),
    };
    Some((Scope::Safe, title))
}

/// The edits that put everything right at once. `look` says what is wrong with a text.
pub fn fix_all(document: &Document, look: &dyn Fn(&Document) -> Vec<Problem>, scope: Scope) -> Vec<Edit> {
    let revealing = match scope {
        // As `speclens check --fix` does.
        Scope::Safe => Revealing::Allowed,
        // A person looks at a kind of problem, and not at what comes instead.
        Scope::Kind(_) => Revealing::Refused,
    };
    let cured = cure::cure(document, look, &|problem| scope.choose(problem), revealing);
    cure::edits_between(&String::from(document.text()), &cured.text)
}

/// Returns the kinds of the problems that touch a range, each with the first of its problems. Those that are always errors
/// are left out: nothing can silence them.
pub fn silenceable(problems: &[Problem], range: Range<usize>) -> Vec<(Code, usize)> {
    let mut found: Vec<(Code, usize)> = Vec::new();
    for (index, problem) in touched(problems, &range).filter(|(_, problem)| !problem.code.is_always_an_error()) {
        if found.iter().all(|(code, _)| *code != problem.code) {
            found.push((problem.code, index));
        }
    }
    found
}

fn touched<'p>(problems: &'p [Problem], range: &Range<usize>) -> impl Iterator<Item = (usize, &'p Problem)> {
    let touches = move |problem: &Problem| problem.range.start <= range.end && range.start <= problem.range.end;
    let range_problems: Vec<_> = problems.iter().enumerate().filter(|(_, problem)| touches(problem)).collect();
    range_problems.into_iter()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_schema::{
        analysis::Analyzer, dialect::ScalarRules, files::MemoryFiles, json_schema::SpecFile, settings::Settings,
    };

    use super::*;

    const SUITE: &str = "kindlm: 1\nprojct: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: echo {{nme}}\n    vars: {name: x}\n    expect: {output: {containss: [x], maxLength: \"3\"}}\n";

    fn look(document: &Document) -> Vec<Problem> {
        Analyzer::new(SpecFile::KindLm).problems(document, &MemoryFiles::default(), &Settings::default())
    }

    #[track_caller]
    fn check(text: &str, word: &str, expected: Expect) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let problems = look(&document);
        let at = text.find(word).expect("the word stands in the text");
        let mut out = String::new();
        for fix in quick_fixes(&document, &problems, at..at) {
            let star = if fix.preferred { "*" } else { " " };
            let after = cure::replaced(text, &fix.edits);
            let line = after.lines().find(|line| !text.contains(line)).unwrap_or_default();
            out.push_str(&format!("{star} {}: {:?}: {}\n", fix.title, line, problems[fix.solves].message));
        }
        for (scope, title) in kinds(&problems, at..at).into_iter().chain(safe(&problems)) {
            let after = cure::replaced(text, &fix_all(&document, &look, scope));
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
                Fix all 2 problems of the kind `unknown-key`: [
                    "project: p",
                    "    expect: {output: {contains: [x], maxLength: \"3\"}}",
                ]
                Apply all 3 safe fixes in this file: [
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
                Apply all 3 safe fixes in this file: [
                    "project: p",
                    "    expect: {output: {contains: [x], maxLength: 3}}",
                ]
            "#]],
        );
        check(
            SUITE,
            "kindlm",
            expect![[r#"
            Apply all 3 safe fixes in this file: [
                "project: p",
                "    expect: {output: {contains: [x], maxLength: 3}}",
            ]
        "#]],
        );
        check("kindlm: 1\nproject: p\nsuite: {name: s}\ntests: []\n", "project", expect![[""]]);
    }
}
