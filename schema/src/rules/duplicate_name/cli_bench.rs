//! Task ids, which must be unique in the whole suite.

use rustc_hash::FxHashMap;

use crate::{
    dialect::cli_bench::facts::{FileFacts, ItemFacts, Items, Named, SuiteFacts, TaskId},
    finding::{Finding, Relation, Report, Rule, Site, Words},
    problem::{Code, Subject},
};

/// A duplicate task id.
#[derive(Debug)]
struct DuplicateId {
    id: String,
    holders: Holders,
}

/// Other owners of the id, if it is not only this document.
#[derive(Debug)]
enum Holders {
    Here,
    /// Another file.
    File(String),
    /// Another file (given here) and this one.
    FileAndHere(String),
    /// Two other files; the second one is included here.
    Files(String, String),
}

/// Owner of an id.
enum Holder<'f> {
    /// A task of the document, with the index of its item.
    Task(&'f Named, usize),
    /// A task of another file.
    File(&'f FileFacts, &'f TaskId),
}

/// Reports duplicate ids in the suite.
pub(crate) fn check_relations(items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    let mut seen: FxHashMap<&str, Holder<'_>> = FxHashMap::default();
    for file in &suite.others {
        for id in &file.ids {
            seen.entry(&id.text).or_insert(Holder::File(file, id));
        }
    }
    let others = suite.others.iter().flat_map(|file| &file.ids).map(|id| id.text.as_str());
    for (index, facts) in items.sharing_ids(others) {
        match facts {
            ItemFacts::Task(task) => {
                let Some(id) = task.id.as_ref().filter(|id| !id.text.is_empty()) else { continue };
                let taken = |holders| taken(items, index, id, &id.text, holders);
                match seen.get(id.text.as_str()) {
                    Some(Holder::Task(first, first_index)) => {
                        report.push(first_used(taken(Holders::Here), items, *first_index, first));
                    }
                    Some(Holder::File(file, first)) => {
                        let finding = taken(Holders::File(file.path.clone()));
                        report.push(file.shown_beside(finding, first, "also used here"));
                    }
                    None => drop(seen.insert(&id.text, Holder::Task(id, index))),
                }
            }
            ItemFacts::Nothing => {}
            ItemFacts::Files(entry, files) => {
                for file in files {
                    // A file of several entries counts once; another rule reports it.
                    if seen.values().any(|holder| matches!(holder, Holder::File(known, _) if known.path == file.path)) {
                        continue;
                    }
                    let mut own_ids = Vec::new();
                    for own in &file.ids {
                        let taken = |holders| taken(items, index, entry, &own.text, holders);
                        let finding = match seen.get(own.text.as_str()) {
                            Some(Holder::Task(first, first_index)) => {
                                let finding = taken(Holders::FileAndHere(file.path.clone()));
                                first_used(finding, items, *first_index, first)
                            }
                            Some(Holder::File(other, first)) => {
                                let finding = taken(Holders::Files(other.path.clone(), file.path.clone()));
                                other.shown_beside(finding, first, "first used here")
                            }
                            None => {
                                own_ids.push(own);
                                continue;
                            }
                        };
                        report.push(file.shown_beside(finding, own, "also used here"));
                    }
                    // Duplicates within one file are reported when that file is checked.
                    seen.extend(own_ids.into_iter().map(|id| (id.text.as_str(), Holder::File(file, id))));
                }
            }
        }
    }
}

/// Returns the finding of a duplicate id, at the reference to it here.
fn taken(items: Items<'_>, index: usize, here: &Named, id: &str, holders: Holders) -> Finding {
    let (at, range) = items.place(index, here);
    Finding::new(DuplicateId { id: id.to_owned(), holders }, at, range)
}

fn first_used(finding: Finding, items: Items<'_>, index: usize, first: &Named) -> Finding {
    let (at, range) = items.place(index, first);
    finding.related(Relation::Labelled("first used here"), at, range)
}

impl Rule for DuplicateId {
    const CODE: Code = Code::DuplicateName;

    fn words(&self, _: &Site<'_>) -> Words {
        let words = Words::new(format!("duplicate task id `{}`", self.id))
            .help("give the task a different id")
            .subject(Subject::Name(self.id.clone()));
        match &self.holders {
            Holders::Here => words,
            Holders::File(path) => words.note(format!("`{path}` also has it")),
            Holders::FileAndHere(path) => words.note(format!("it is in both `{path}` and this file")),
            Holders::Files(first, second) => words.note(format!("it is in both `{first}` and `{second}`")),
        }
    }
}
