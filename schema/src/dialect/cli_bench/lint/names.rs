//! Task ids: each stands for one task of the whole suite.

use std::collections::HashMap;

use crate::{
    document::Pointer,
    problem::{Code, Edit, Fix, Problem, Severity},
    spot::Spot,
};

use super::facts::{ItemFacts, Named, SuiteFacts};

/// An id can be a file name, and be written on a command line.
pub(super) fn lint_id(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(id) = task.get("id") else { return };
    let Some(text) = id.text().filter(|text| !text.is_empty()) else { return };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(plain) {
        return;
    }
    let message = format!(
        "`{text}` becomes a file name and selects the task on the command line: letters, digits, `.`, `_` and `-` are best"
    );
    let mut problem = id.problem(Code::InvalidValue, message).with_severity(Severity::Hint);
    let slug = slug(text);
    if id.is_own() && !slug.is_empty() {
        let edit = Edit::new(id.node.own_range(), crate::shape::scalar(&slug));
        problem = problem.with_fix(Fix::guess(format!("Change to `{slug}`"), vec![edit]));
    }
    problems.push(problem);
}

/// A text as an id: words with dashes between them.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Ids that stand twice in the suite.
pub(super) fn lint(list: &Pointer, items: &[(usize, &ItemFacts)], suite: &SuiteFacts, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<&str, Holder<'_>> = HashMap::new();
    for (id, path) in &suite.others {
        seen.entry(id).or_insert(Holder::File(path));
    }
    for (index, (start, facts)) in items.iter().enumerate() {
        let base = list.index(index);
        match facts {
            ItemFacts::Task(task) => {
                let Some(id) = task.id.as_ref().filter(|id| !id.text.is_empty()) else { continue };
                let (at, range) = id.place(&base, *start);
                match seen.get(id.text.as_str()) {
                    Some(Holder::Task(first, base, start)) => {
                        let message = format!("task id `{}` is already taken: choose another", id.text);
                        let problem = Problem::new(Code::DuplicateName, at, range, message);
                        let (at, range) = first.place(base, *start);
                        problems.push(problem.with_related("first used here", at, range));
                    }
                    Some(Holder::File(path)) => {
                        let message = format!("task id `{}` is already taken in `{path}`: choose another", id.text);
                        problems.push(Problem::new(Code::DuplicateName, at, range, message));
                    }
                    None => drop(seen.insert(&id.text, Holder::Task(id, base, *start))),
                }
            }
            ItemFacts::Nothing => {}
            ItemFacts::Files(entry, files) => {
                let mut told = Vec::new();
                for file in files {
                    // A file that several entries lead to counts once; that is told by another lint.
                    if seen.values().any(|holder| matches!(holder, Holder::File(path) if *path == file.path)) {
                        continue;
                    }
                    for id in file.ids.iter().filter(|id| !id.is_empty()) {
                        let (at, range) = entry.place(&base, *start);
                        let problem = |message| Problem::new(Code::DuplicateName, at, range, message);
                        match seen.get(id.as_str()) {
                            Some(Holder::Task(first, base, start)) => {
                                let message = format!(
                                    "task id `{id}` of `{}` is already taken in this file: choose another",
                                    file.path
                                );
                                let (at, range) = first.place(base, *start);
                                problems.push(problem(message).with_related("first used here", at, range));
                            }
                            // Within one file it is told where that file is checked.
                            Some(Holder::File(path)) if *path == file.path => {}
                            Some(Holder::File(path)) => {
                                let message =
                                    format!("task id `{id}` stands in `{path}` and in `{}`: choose another", file.path);
                                problems.push(problem(message));
                            }
                            None => told.push(id.as_str()),
                        }
                    }
                    for id in told.drain(..) {
                        seen.insert(id, Holder::File(&file.path));
                    }
                }
            }
        }
    }
}

/// What has an id already.
enum Holder<'f> {
    /// A task of the document: its item's place and first byte.
    Task(&'f Named, Pointer, usize),
    /// A task of this file.
    File(&'f str),
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
