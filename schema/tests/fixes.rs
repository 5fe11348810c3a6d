//! Every fix of every golden file, tried alone: its problem is gone, no error has come, and what it does not touch
//! means what it meant.

use crate::{golden, list_style};

use std::{collections::BTreeMap, ops::Range};

use speclens_schema::{
    document::{Document, NodeRef},
    files::Files,
    fixing,
    problem::{Code, Edit, NewFile, Problem, Severity},
};

use golden::Golden;
use list_style::ListStyle;

/// Returns the text as other people and editors would save it.
fn variants(golden: Golden) -> Vec<Golden> {
    let with = |text: String| Golden { text, ..golden.clone() };
    let mut variants = vec![with(format!("\u{feff}# 🦀 é\n{}", golden.text)), golden.clone()];
    if golden.is_about_columns() {
        return variants;
    }
    variants.push(with(golden.text.replace('\n', "\r\n")));
    let styles = ListStyle::ALL.map(|style| style.of(&golden.text));
    variants.extend(styles.into_iter().filter(|text| *text != golden.text).map(with));
    variants
}

#[test]
fn every_fix_removes_only_its_problem() {
    let mut tried = 0;
    let mut failures = Vec::new();
    for golden in Golden::all().into_iter().flat_map(variants) {
        let document = golden.document();
        let problems = golden.problems(&document);
        for problem in &problems {
            for fix in &problem.fixes {
                tried += 1;
                let edits = fixing::adapted(&document, &fix.edits);
                let golden = beside(&golden, &fix.creates);
                let tried = try_fix(&golden, &document, &problems, problem, &edits);
                failures.extend(tried.err().map(|why| {
                    let new = fixing::replaced(&golden.text, &edits);
                    format!("{}: `{}` for: {}\n{why}\n{new}", golden.path.display(), fix.title, problem.message)
                }));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(tried > 30, "{tried} fixes");
}

/// Returns the same beside files that a fix brought into being.
fn beside(golden: &Golden, created: &[NewFile]) -> Golden {
    let mut golden = golden.clone();
    for file in created {
        let mut steps: Vec<String> = golden.files.place().split('/').map(str::to_owned).collect();
        steps.pop();
        for step in file.path.split('/') {
            if step == ".." {
                steps.pop().unwrap();
            } else {
                steps.push(step.to_owned());
            }
        }
        golden.files.add(&steps.join("/"), &file.text);
    }
    golden
}

fn try_fix(
    golden: &Golden,
    document: &Document,
    before: &[Problem],
    problem: &Problem,
    edits: &[Edit],
) -> Result<(), String> {
    let ensure = |holds: bool, why: String| if holds { Ok(()) } else { Err(why) };
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let disjoint = edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
    ensure(disjoint, format!("these are no edits: {edits:?}"))?;
    let new_text = fixing::replaced(&golden.text, &edits);
    let new = Document::read(&new_text, document.rules());
    let after = golden.problems(&new);
    let (had, have) = (count(before), count(&after));
    let key = |problem: &Problem| (problem.code, problem.message.clone());
    ensure(have.get(&key(problem)).copied().unwrap_or_default() < had[&key(problem)], "the problem stays".to_owned())?;
    let light = fixing::uncovered(document, problem, &edits);
    let came_to_light = |range: &Range<usize>| {
        light.as_ref().is_some_and(|place| place.after.start <= range.start && range.end <= place.after.end)
    };
    for problem in after.iter().filter(|problem| problem.severity == Severity::Error) {
        if came_to_light(&problem.range) {
            continue;
        }
        let known = had.get(&key(problem)).copied().unwrap_or_default();
        ensure(have[&key(problem)] <= known, format!("a new error: {}", problem.message))?;
    }
    // What is outside of the edits is the same, only moved.
    let mut moved = 0_isize;
    let (mut old_ranges, mut new_ranges) = (Vec::new(), Vec::new());
    for edit in &edits {
        let start = edit.range.start.strict_add_signed(moved);
        moved += isize::try_from(edit.text.len()).unwrap() - isize::try_from(edit.range.len()).unwrap();
        // What becomes a comment is no longer read.
        let rest = |text: &str, at: usize| match edit.text.as_str() {
            "# " => text[at..].find(['\n', '\r']).unwrap_or(text.len() - at),
            _ => 0,
        };
        old_ranges.push(edit.range.start..edit.range.end + rest(&golden.text, edit.range.end));
        let end = start + edit.text.len();
        new_ranges.push(start..end + rest(&new_text, end));
    }
    let (kept, keeps) = (outside(document, &old_ranges), outside(&new, &new_ranges));
    ensure(kept == keeps, format!("something else changed:\n{kept:?}\n{keeps:?}"))
}

/// Returns what is in a document outside of some places.
fn outside(document: &Document, places: &[Range<usize>]) -> Vec<String> {
    let is_outside =
        |range: &Range<usize>| places.iter().all(|place| range.end < place.start || place.end < range.start);
    scalars(document).into_iter().filter(|(range, _)| is_outside(range)).map(|(_, text)| text).collect()
}

/// Returns how often each problem is reported.
fn count(problems: &[Problem]) -> BTreeMap<(Code, String), usize> {
    let mut counts = BTreeMap::new();
    for problem in problems {
        *counts.entry((problem.code, problem.message.clone())).or_default() += 1;
    }
    counts
}

/// Returns every key and every value that is not a mapping or list: its bytes and what it means, in the order of the
/// text.
fn scalars(document: &Document) -> Vec<(Range<usize>, String)> {
    fn walk(node: NodeRef<'_>, found: &mut Vec<(Range<usize>, String)>) {
        if node.alias().is_some() {
            found.push((node.range(), format!("*{:?}", node.alias())));
            return;
        }
        // What has no bytes was never written: a place that is left open.
        if node.text().is_some() && !node.own_range().is_empty() {
            found.push((node.own_range(), format!("{:?} {:?}", node.text(), node.scalar())));
        }
        for entry in node.entries() {
            walk(entry.key, found);
            walk(entry.value, found);
        }
        node.items().for_each(|item| walk(item, found));
    }
    let mut found = Vec::new();
    document.root().into_iter().for_each(|root| walk(root, &mut found));
    found
}
