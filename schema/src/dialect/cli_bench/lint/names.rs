//! Task ids: each is the id of one task of the whole suite.

use rustc_hash::FxHashMap;

use crate::{
    document::Pointer,
    problem::{Code, Fix, Problem, Severity, Subject},
    spot::Spot,
};

use super::facts::{FileFacts, ItemFacts, Named, SuiteFacts, TaskId};

/// An id can be a file name, and be written on a command line.
pub(super) fn lint_id(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(id) = task.get("id") else { return };
    let Some(text) = id.text().filter(|text| !text.is_empty()) else { return };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(plain) {
        return;
    }
    let message = format!("`{text}` contains characters that are not safe in a file name");
    let mut problem = id
        .problem(Code::InvalidValue, message)
        .with_severity(Severity::Hint)
        .with_note("the id becomes a file name, and selects the task on the command line")
        .with_help("use letters, digits, `.`, `_` and `-`");
    let slug = slug(text);
    let edits = id.replaced(crate::shape::scalar(&slug)).filter(|_| !slug.is_empty());
    problem.fixes.extend(edits.map(|edits| Fix::guess(format!("change it to `{slug}`"), edits)));
    problems.push(problem);
}

/// A text as an id: words with dashes between them.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Ids that are in the suite twice.
pub(super) fn lint(list: &Pointer, items: &[(usize, &ItemFacts)], suite: &SuiteFacts, problems: &mut Vec<Problem>) {
    let mut seen: FxHashMap<&str, Holder<'_>> = FxHashMap::default();
    seen.reserve(items.len());
    for file in &suite.others {
        for id in &file.ids {
            seen.entry(&id.text).or_insert(Holder::File(file, id));
        }
    }
    for (index, (start, facts)) in items.iter().enumerate() {
        match facts {
            ItemFacts::Task(task) => {
                let Some(id) = task.id.as_ref().filter(|id| !id.text.is_empty()) else { continue };
                match seen.get(id.text.as_str()) {
                    Some(Holder::Task(first, first_index, first_start)) => {
                        let (at, range) = id.place(&list.index(index), *start);
                        let problem = taken(at, range, &id.text);
                        let (at, range) = first.place(&list.index(*first_index), *first_start);
                        problems.push(problem.with_related("first used here", at, range));
                    }
                    Some(Holder::File(file, first)) => {
                        let (at, range) = id.place(&list.index(index), *start);
                        let problem = taken(at, range, &id.text).with_note(format!("`{}` has it, too", file.path));
                        problems.push(file.shown_beside(problem, first, "used here, too"));
                    }
                    None => drop(seen.insert(&id.text, Holder::Task(id, index, *start))),
                }
            }
            ItemFacts::Nothing => {}
            ItemFacts::Files(entry, files) => {
                let mut own_ids = Vec::new();
                for file in files {
                    // A file that several entries lead to counts once; that is reported by another lint.
                    if seen.values().any(|holder| matches!(holder, Holder::File(known, _) if known.path == file.path)) {
                        continue;
                    }
                    for own in &file.ids {
                        let id = &own.text;
                        let (at, range) = entry.place(&list.index(index), *start);
                        let problem = taken(at, range, id);
                        match seen.get(id.as_str()) {
                            Some(Holder::Task(first, first_index, first_start)) => {
                                let note = format!("`{}` and this file have it", file.path);
                                let (at, range) = first.place(&list.index(*first_index), *first_start);
                                let problem = problem.with_note(note).with_related("first used here", at, range);
                                problems.push(file.shown_beside(problem, own, "used here, too"));
                            }
                            Some(Holder::File(other, first)) => {
                                let problem =
                                    problem.with_note(format!("`{}` and `{}` have it", other.path, file.path));
                                let problem = other.shown_beside(problem, first, "first used here");
                                problems.push(file.shown_beside(problem, own, "used here, too"));
                            }
                            None => own_ids.push(own),
                        }
                    }
                    // Within one file it is reported where that file is checked.
                    for id in own_ids.drain(..) {
                        seen.insert(&id.text, Holder::File(file, id));
                    }
                }
            }
        }
    }
}

/// The problem of an id that is used before.
fn taken(at: Pointer, range: std::ops::Range<usize>, id: &str) -> Problem {
    Problem::new(Code::DuplicateName, at, range, format!("duplicate task id `{id}`"))
        .with_help("give the task another id")
        .with_subject(Subject::Name(id.to_owned()))
}

/// What has an id already.
enum Holder<'f> {
    /// A task of the document: its item's number and first byte.
    Task(&'f Named, usize, usize),
    /// A task of another file.
    File(&'f FileFacts, &'f TaskId),
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn an_id_is_words_with_dashes() {
        assert_eq!(slug("Show help (all)"), "show-help-all");
        assert_eq!(slug("größe"), "gr-e");
        assert_eq!(slug("…"), "");
    }
}
