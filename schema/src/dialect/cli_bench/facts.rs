//! What lints between items need to know of each, and of the suite that they belong to.

use std::{cell::RefCell, ops::Range, sync::Arc};

use crate::{
    document::{Document, NodeRef, Pointer},
    files::{Files, Lead},
    finding::Finding,
    json_schema::SpecFile,
    kind,
    pattern::is_literal,
    problem::OtherFile,
    rules::{revealing_intent::Revealed, vague_intent::Wish},
    spot::Spot,
};

use super::{
    config::HelpMode,
    task_files::{self, Target},
};

/// A text, and where it is: counted from the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The text.
    pub(crate) text: String,
    /// The node.
    pub(crate) at: Pointer,
    /// Its bytes, counted from the item's first byte.
    pub(crate) range: Range<usize>,
    /// Whether it was written as it reads, so that parts of it can be pointed at.
    pub(crate) verbatim: bool,
}

/// What an item says that matters to others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemFacts {
    /// A task.
    Task(Box<TaskFacts>),
    /// Something that is neither.
    Nothing,
    /// A `file://` entry: itself, and the tasks of the files that it leads to.
    Files(Named, Vec<Arc<FileFacts>>),
}

/// The items of the list of tasks of a document: the byte where each begins, and what it says.
#[derive(Clone, Copy)]
pub(crate) struct Items<'f> {
    list: &'f Pointer,
    items: &'f [(usize, &'f ItemFacts)],
}

impl<'f> Items<'f> {
    /// Returns the items of the list at a place.
    pub(crate) fn new(list: &'f Pointer, items: &'f [(usize, &'f ItemFacts)]) -> Items<'f> {
        Items { list, items }
    }

    /// Returns each with its number.
    pub(crate) fn all(self) -> impl Iterator<Item = (usize, &'f ItemFacts)> {
        self.items.iter().enumerate().map(|(index, (_, facts))| (index, *facts))
    }

    /// Those that are tasks, each with its number.
    pub(crate) fn tasks(self) -> impl Iterator<Item = (usize, &'f TaskFacts)> {
        self.all().filter_map(|(index, facts)| match facts {
            ItemFacts::Task(task) => Some((index, &**task)),
            ItemFacts::Nothing | ItemFacts::Files(..) => None,
        })
    }

    /// Returns where a text of the item with this number is.
    pub(crate) fn place(self, index: usize, named: &Named) -> (Pointer, Range<usize>) {
        named.place(&self.list.index(index), self.items[index].0)
    }
}

/// What a task says that matters to others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TaskFacts {
    /// Its name.
    pub(crate) id: Option<Named>,
    /// What the model is to do.
    pub(crate) intent: Option<Named>,
    /// What the intent asks for.
    pub(crate) wish: Wish,
    /// What the intent gives away.
    pub(crate) revealed: Revealed,
    /// The number of turns, where it is written.
    pub(crate) max_turns: Option<(Named, u32)>,
}

/// A task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileFacts {
    /// Its path.
    pub(crate) path: String,
    /// The ids of its tasks, in their order.
    pub(crate) ids: Vec<TaskId>,
    /// Why it holds no tasks.
    pub(crate) wrong: Option<NoTasks>,
    /// Whether it says that it is something else than a task file.
    pub(crate) is_other: bool,
    /// Its content.
    pub(crate) bytes: Arc<[u8]>,
}

/// Why a file holds no tasks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoTasks {
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It is not UTF-8.
    NotUtf8,
    /// It has no content.
    Empty,
    /// It is something else than a list.
    NotAList,
}

/// The id of a task in another file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskId {
    /// The id.
    pub(crate) text: String,
    /// Its location.
    pub(crate) at: Pointer,
    /// Its bytes.
    pub(crate) range: Range<usize>,
}

impl FileFacts {
    /// Returns a finding, with the place of an id of this file beside it.
    pub(crate) fn shown_beside(&self, finding: Finding, id: &TaskId, label: &'static str) -> Finding {
        let file = OtherFile { path: self.path.clone(), bytes: Arc::clone(&self.bytes) };
        finding.with_other_file(label, file, id.at.clone(), id.range.clone())
    }
}

/// What tasks need to know of their suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SuiteFacts {
    /// The program.
    pub(crate) cli: Option<String>,
    /// How models learn about the program.
    pub(crate) help_modes: Vec<HelpMode>,
    /// The other files with tasks, in the order in which ids are taken.
    pub(crate) others: Vec<Arc<FileFacts>>,
}

/// Returns what an item says; `None` for items of other lists than that of the tasks.
pub(crate) fn item_facts(
    file: SpecFile,
    list: &'static str,
    item: NodeRef<'_>,
    files: &dyn Files,
) -> Option<ItemFacts> {
    if file.case_list() != Some(list) {
        return None;
    }
    let spot = Spot::root(item);
    let start = item.range().start;
    if let Some(text) = item.as_str().filter(|_| file == SpecFile::CLI_BENCH) {
        let Some((target, entry)) = Target::of(text, files).zip(named(&spot, start)) else {
            return Some(ItemFacts::Nothing);
        };
        let found = target.files().into_iter().map(|path| file_facts(&path, files)).collect();
        return Some(ItemFacts::Files(entry, found));
    }
    let turns = spot.get("max_turns");
    let count = turns.as_ref().and_then(Spot::number).filter(|turns| turns.fract() == 0.0 && *turns >= 0.0);
    let max_turns = turns.as_ref().zip(count).map(|(spot, count)| {
        let name = Named { text: String::new(), at: spot.at.clone(), range: relative(spot, start), verbatim: false };
        (name, count as u32)
    });
    let intent = spot.get("intent").and_then(|intent| named(&intent, start));
    Some(ItemFacts::Task(Box::new(TaskFacts {
        id: spot.get("id").and_then(|id| named(&id, start)),
        wish: intent.as_ref().map(|intent| Wish::of(&intent.text)).unwrap_or_default(),
        revealed: intent.as_ref().map(|intent| Revealed::of(&intent.text, &commands(&spot))).unwrap_or_default(),
        intent,
        max_turns,
    })))
}

/// Commands of several words that must be run: what `ran` asks for, where it is a command and no pattern.
fn commands(task: &Spot<'_>) -> Vec<String> {
    let items = task.get("assert").map(|list| list.items()).unwrap_or_default();
    let patterns = items.iter().filter_map(|item| item.get("ran")?.text().map(str::to_owned));
    patterns.filter(|text| text.trim().contains(' ') && is_literal(text)).collect()
}

fn named(spot: &Spot<'_>, start: usize) -> Option<Named> {
    let text = spot.text()?;
    let verbatim = spot.part(text, 0).len() == text.len() && spot.is_own();
    let range = if verbatim { spot.part(text, 0) } else { spot.range() };
    Some(Named { text: text.to_owned(), at: spot.at.clone(), range: shifted(range, start), verbatim })
}

fn relative(spot: &Spot<'_>, start: usize) -> Range<usize> {
    shifted(spot.range(), start)
}

fn shifted(range: Range<usize>, start: usize) -> Range<usize> {
    range.start.saturating_sub(start)..range.end.saturating_sub(start)
}

impl Named {
    /// Returns its place in the document, where its item is at `base` and begins at `start`.
    fn place(&self, base: &Pointer, start: usize) -> (Pointer, Range<usize>) {
        (base.join(&self.at), self.range.start + start..self.range.end + start)
    }
}

/// Returns what a task file holds. Many entries and edits ask for the same files, so the last answers are kept.
pub(crate) fn file_facts(path: &str, files: &dyn Files) -> Arc<FileFacts> {
    const KEPT: usize = 512;
    type Known = (Arc<[u8]>, Arc<FileFacts>);
    thread_local! {
        static ANSWERS: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
    }
    let wrong = |reason: NoTasks| FileFacts { path: path.to_owned(), wrong: Some(reason), ..FileFacts::default() };
    let bytes = match files.read_named(path) {
        Ok(bytes) => bytes,
        Err(reason) => return Arc::new(wrong(NoTasks::Unreadable(reason))),
    };
    ANSWERS.with_borrow_mut(|answers| {
        let known = answers.iter().find(|(known, facts)| facts.path == path && *known == bytes);
        if let Some((_, facts)) = known {
            return Arc::clone(facts);
        }
        let facts = Arc::new(match std::str::from_utf8(&bytes) {
            Err(_) => wrong(NoTasks::NotUtf8),
            Ok(text) => {
                let document = Document::read(text, task_files::rules());
                let is_other = kind::said(text).is_some_and(|said| said.kind != Some(SpecFile::CLI_BENCH_TASKS));
                let wrong = |reason: NoTasks| FileFacts { is_other, ..wrong(reason) };
                match document.root() {
                    None if document.is_intact() => wrong(NoTasks::Empty),
                    // A broken file is reported where it is checked.
                    None => FileFacts { path: path.to_owned(), ..FileFacts::default() },
                    Some(root) if root.shape() != crate::document::Shape::Sequence => wrong(NoTasks::NotAList),
                    Some(root) => FileFacts {
                        path: path.to_owned(),
                        ids: ids(root, &Pointer::root()),
                        wrong: None,
                        is_other,
                        bytes: Arc::clone(&bytes),
                    },
                }
            }
        });
        if answers.len() == KEPT {
            answers.remove(0);
        }
        answers.push((bytes, Arc::clone(&facts)));
        facts
    })
}

/// Returns the ids in a list of tasks that is at a place.
fn ids(list: NodeRef<'_>, at: &Pointer) -> Vec<TaskId> {
    let ids = list.items().enumerate().filter_map(|(index, task)| {
        let id = task.get("id")?;
        let text = id.as_str().filter(|text| !text.is_empty())?;
        Some(TaskId { text: text.to_owned(), at: at.index(index).key("id"), range: id.range() })
    });
    ids.collect()
}

/// Returns what the tasks of a document need to know of their suite.
pub(crate) fn suite_facts(file: SpecFile, root: NodeRef<'_>, files: &dyn Files) -> SuiteFacts {
    if file == SpecFile::CLI_BENCH {
        return of_main(root);
    }
    let Some(main) = files.main().and_then(|main| task_files::read(main, files).ok()) else {
        return SuiteFacts::default();
    };
    let Some(root) = main.document.root() else { return SuiteFacts::default() };
    let mut facts = of_main(root);
    let tasks = root.get("tasks");
    facts.others.push(Arc::new(FileFacts {
        path: main.path.clone(),
        ids: tasks.map(|tasks| ids(tasks, &Pointer::root().key("tasks"))).unwrap_or_default(),
        wrong: None,
        is_other: false,
        bytes: files.read(&main.path).unwrap_or_default(),
    }));
    let entries = tasks.into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str);
    let mut paths: Vec<String> = entries.filter_map(|text| Target::of(text, files)).flat_map(Target::files).collect();
    paths.sort_unstable();
    paths.dedup();
    let own = match files.named(files.place()) {
        Lead::Found { path, .. } => path,
        Lead::Nothing | Lead::Unread => files.place().to_owned(),
    };
    let others = paths.iter().filter(|path| **path != own);
    facts.others.extend(others.map(|path| file_facts(path, files)));
    facts
}

fn of_main(root: NodeRef<'_>) -> SuiteFacts {
    let modes = root.get("help_modes").into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str);
    let mode = |word: &str| HelpMode::ALL.into_iter().find(|mode| mode.as_str() == word);
    SuiteFacts {
        cli: root.get("cli").and_then(NodeRef::as_str).filter(|cli| !cli.is_empty()).map(str::to_owned),
        help_modes: modes.filter_map(mode).collect(),
        others: Vec::new(),
    }
}
