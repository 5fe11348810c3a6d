//! Assertions that the file of an earlier scenario satisfies.

use rustc_hash::FxHashMap;

use crate::problem::{Code, Edit, Fix, Problem, Severity};

use super::{ItemFacts, facts::Expected, relations::absolute};

/// Reports the files that an earlier scenario of the contract leaves behind, where their time is not asked for.
pub(super) fn lint(items: &[(usize, &ItemFacts)], problems: &mut Vec<Problem>) {
    // Where each file is expected first.
    let mut first: FxHashMap<&str, (usize, usize, &Expected)> = FxHashMap::default();
    for (index, (start, facts)) in items.iter().enumerate() {
        let mut reported: Vec<&str> = Vec::new();
        for expected in &facts.expected {
            let path = expected.path.name.as_str();
            let Some((earlier, earlier_start, other)) = first.get(path).filter(|(earlier, ..)| *earlier < index) else {
                first.entry(path).or_insert((index, *start, expected));
                continue;
            };
            // One assertion that asks for the time of the file speaks for all of the scenario.
            let is_new = facts.expected.iter().any(|other| other.path.name == path && !other.may_be_old);
            if is_new || reported.contains(&path) || facts.absent.iter().any(|absent| absent == path) {
                continue;
            }
            reported.push(path);
            let (at, range) = absolute(&expected.path, "scenarios", index, *start);
            let (first_at, first_range) = absolute(&other.path, "scenarios", *earlier, *earlier_start);
            let mut problem = Problem::new(Code::VacuousClaim, at, range, format!("`{path}` may be there from before"))
                .with_severity(Severity::Hint)
                .with_note("an earlier scenario expects the same file, and its file satisfies this assertion")
                .with_help("add `updated_after: \"{{run_started_at}}\"`")
                .with_related("expected here first", first_at, first_range);
            if let Some(edits) = &expected.ask_for_new {
                let absolute =
                    |edit: &Edit| Edit::new(edit.range.start + start..edit.range.end + start, edit.text.clone());
                let edits = edits.iter().map(absolute).collect();
                problem.fixes.push(Fix::guess("add `updated_after`", edits));
            }
            problems.push(problem);
        }
    }
}
