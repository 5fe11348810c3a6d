//! Ids of tasks in several files of a suite.

use rustc_hash::FxHashMap;

use crate::{
    dialect::cli_bench::facts::{About, FileFacts, ItemFacts, SuiteFacts},
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    problem::{Code, Subject},
    relations::{Items, Named},
};

/// A duplicate task id.
#[derive(Debug)]
struct DuplicateId {
    id: String,
    holders: Holders,
}

/// Other owners of the id.
#[derive(Debug)]
enum Holders {
    /// Another file.
    File(String),
    /// Another file (given here) and this one.
    FileAndHere(String),
    /// Two other files; the second one is included here.
    Files(String, String),
}

/// Reports ids that another file of the suite has as well.
pub(crate) fn check_relations(items: Items<'_>, suite: &SuiteFacts, report: &mut Report) {
    let of_task = |index: usize, file: &FileFacts, id: &Named| {
        let name = &items.own_name(index)?.named;
        let finding = taken(items, index, name, &id.name, Holders::File(file.path.clone()));
        Some(file.shown_beside(finding, id, "also used here"))
    };
    let mut seen: FxHashMap<&str, (&FileFacts, &Named)> = FxHashMap::default();
    for (file, id) in suite.others.iter().flat_map(|file| file.ids.iter().map(move |id| (file, id))) {
        if !seen.contains_key(id.name.as_str()) {
            seen.insert(&id.name, (file, id));
            items.named(&id.name).and_then(|index| of_task(index, file, id)).into_iter().for_each(|it| report.push(it));
        }
    }
    for (index, facts) in items.about(About::Files) {
        let ItemFacts::Files(entry, files) = facts else { continue };
        for file in files {
            // A file of several entries counts once; another rule reports it.
            if seen.values().any(|(known, _)| known.path == file.path) {
                continue;
            }
            let mut own_ids = Vec::new();
            for own in &file.ids {
                let taken = |holders| taken(items, index, entry, &own.name, holders);
                let finding = match (seen.get(own.name.as_str()), items.named(&own.name)) {
                    (Some((other, first)), _) => {
                        let finding = taken(Holders::Files(other.path.clone(), file.path.clone()));
                        other.shown_beside(finding, first, "first used here")
                    }
                    (None, Some(task)) if task < index => {
                        let finding = taken(Holders::FileAndHere(file.path.clone()));
                        let first = items.own_name(task).map(|name| items.place(task, &name.named));
                        first.into_iter().fold(finding, |finding, (at, range)| {
                            finding.related(Relation::Labelled("first used here"), at, range)
                        })
                    }
                    (None, task) => {
                        task.and_then(|task| of_task(task, file, own)).into_iter().for_each(|it| report.push(it));
                        own_ids.push(own);
                        continue;
                    }
                };
                report.push(file.shown_beside(finding, own, "also used here"));
            }
            // Duplicates within one file are reported when that file is checked.
            seen.extend(own_ids.into_iter().map(|id| (id.name.as_str(), (&**file, id))));
        }
    }
}

/// Returns the finding of a duplicate id, at the reference to it here.
fn taken(items: Items<'_>, index: usize, here: &Named, id: &str, holders: Holders) -> Finding {
    let (at, range) = items.place(index, here);
    Finding::new(DuplicateId { id: id.to_owned(), holders }, at, range)
}

impl Rule for DuplicateId {
    const CODE: Code = Code::DuplicateName;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(format!("duplicate task id `{}`", self.id))
            .help("give it a different id")
            .subject(Subject::Name(self.id.clone()));
        match &self.holders {
            Holders::File(path) => words.note(format!("`{path}` also defines it")),
            Holders::FileAndHere(path) => words.note(format!("both `{path}` and this file define it")),
            Holders::Files(first, second) => words.note(format!("both `{first}` and `{second}` define it")),
        }
    }
}
