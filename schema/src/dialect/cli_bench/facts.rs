//! Facts of items and suites that checks between items need.

use std::{cell::RefCell, ops::Range, sync::Arc};

use crate::{
    document::{Document, NodeRef, Pointer},
    files::{Files, Lead},
    finding::Finding,
    json_schema::SpecFile,
    kind,
    lint_node::LintNode,
    pattern::is_literal,
    problem::OtherFile,
    relations::{self, Facts, Topic},
    rules::{revealing_intent::Revealed, vague_intent::Wish},
};

use super::{
    config::HelpMode,
    task_files::{self, Target},
};

/// A string and its location, relative to the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The text.
    pub(crate) text: String,
    /// Location of the node.
    pub(crate) at: Pointer,
    /// Bytes, relative to the first byte of the item.
    pub(crate) range: Range<usize>,
    /// Whether the text is written without escapes, so that locations inside it are exact.
    pub(crate) verbatim: bool,
}

/// Facts of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemFacts {
    /// A task.
    Task(Box<TaskFacts>),
    /// Anything else.
    Nothing,
    /// A `file://` entry: the entry itself, and the task files that it includes.
    Files(Named, Vec<Arc<FileFacts>>),
}

/// Topics of rules between tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The id of a task, or of a task in an included file.
    Id,
    /// An intent that may be vague.
    Wish,
    /// An intent that may reveal a command.
    Command,
    /// A limit on turns.
    Turns,
    /// Files with tasks.
    Files,
}

impl From<About> for u8 {
    fn from(about: About) -> u8 {
        about as u8
    }
}

/// Facts of the items of a task list.
#[derive(Clone, Copy)]
pub(crate) struct Items<'f> {
    list: &'f Pointer,
    items: relations::Items<'f>,
}

impl<'f> Items<'f> {
    /// Creates the items of the list at a location.
    pub(crate) fn new(list: &'f Pointer, items: relations::Items<'f>) -> Items<'f> {
        Items { list, items }
    }

    /// Returns the number of items.
    pub(crate) fn count(self) -> usize {
        self.items.len()
    }

    /// Returns the items with a topic, each with its number.
    pub(crate) fn about(self, about: About) -> impl Iterator<Item = (usize, &'f ItemFacts)> {
        self.items.about(about).filter_map(move |index| Some((index, self.items.facts(index)?)))
    }

    /// Returns the items whose ids others may have as well, each with its number. `others`: the ids of tasks in other files
    /// of the suite.
    pub(crate) fn sharing_ids(
        self,
        mut others: impl Iterator<Item = &'f str>,
    ) -> impl Iterator<Item = (usize, &'f ItemFacts)> {
        let is_known = others.any(|id| self.items.with(Topic::named(About::Id, id)).next().is_some());
        let mut numbers: Vec<usize> = match is_known {
            true => self.items.about(About::Id).collect(),
            false => self.items.sharing(About::Id).collect(),
        };
        numbers.extend(self.items.about(About::Files));
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(move |index| Some((index, self.items.facts(index)?)))
    }

    /// Returns the tasks with a topic, each with its number.
    pub(crate) fn tasks(self, about: About) -> impl Iterator<Item = (usize, &'f TaskFacts)> {
        self.about(about).filter_map(|(index, facts)| match facts {
            ItemFacts::Task(task) => Some((index, &**task)),
            ItemFacts::Nothing | ItemFacts::Files(..) => None,
        })
    }

    /// Returns the location of a string of the item with this index.
    pub(crate) fn place(self, index: usize, named: &Named) -> (Pointer, Range<usize>) {
        named.place(&self.list.index(index), self.items.start(index))
    }
}

/// Facts of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TaskFacts {
    /// Id of the task.
    pub(crate) id: Option<Named>,
    /// Intent of the task.
    pub(crate) intent: Option<Named>,
    /// Request that the intent states.
    pub(crate) wish: Wish,
    /// Commands that the intent reveals.
    pub(crate) revealed: Revealed,
    /// Value of `max_turns`, if it is set.
    pub(crate) max_turns: Option<(Named, u32)>,
}

/// A task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileFacts {
    /// Path of the file.
    pub(crate) path: String,
    /// Ids of its tasks, in order.
    pub(crate) ids: Vec<TaskId>,
    /// Reason why it contains no tasks.
    pub(crate) wrong: Option<NoTasks>,
    /// Whether the file declares itself to be of another kind.
    pub(crate) is_other: bool,
    /// Content of the file.
    pub(crate) bytes: Arc<[u8]>,
}

/// Reason why a file contains no tasks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoTasks {
    /// The file cannot be read, for this reason.
    Unreadable(String),
    /// The file is not UTF-8.
    NotUtf8,
    /// The file is empty.
    Empty,
    /// The file is not a list.
    NotAList,
}

/// The id of a task in another file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskId {
    /// The id.
    pub(crate) text: String,
    /// Location of the id.
    pub(crate) at: Pointer,
    /// Bytes of the id.
    pub(crate) range: Range<usize>,
}

impl ItemFacts {
    /// Returns the topics of rules between tasks.
    fn topics(&self) -> Vec<Topic> {
        match self {
            ItemFacts::Nothing => Vec::new(),
            ItemFacts::Task(task) => {
                let id = task.id.iter().filter(|id| !id.text.is_empty()).map(|id| Topic::named(About::Id, &id.text));
                let others = [
                    (About::Wish, task.wish.may_be_vague()),
                    (About::Command, task.revealed.may_be_command()),
                    (About::Turns, task.max_turns.is_some()),
                ];
                id.chain(others.into_iter().filter(|(_, applies)| *applies).map(|(about, _)| Topic::of(about)))
                    .collect()
            }
            ItemFacts::Files(_, files) => {
                let ids = files.iter().flat_map(|file| &file.ids).map(|id| Topic::named(About::Id, &id.text));
                ids.chain([Topic::of(About::Files)]).collect()
            }
        }
    }
}

impl FileFacts {
    /// Returns a finding with an id of this file as a related location.
    pub(crate) fn shown_beside(&self, finding: Finding, id: &TaskId, label: &'static str) -> Finding {
        let file = OtherFile { path: self.path.clone(), bytes: Arc::clone(&self.bytes) };
        finding.with_other_file(label, file, id.at.clone(), id.range.clone())
    }
}

/// Facts of a suite that its tasks need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SuiteFacts {
    /// Name of the program.
    pub(crate) cli: Option<String>,
    /// Help modes of the suite.
    pub(crate) help_modes: Vec<HelpMode>,
    /// Other files with tasks, in the order in which their ids are assigned.
    pub(crate) others: Vec<Arc<FileFacts>>,
}

/// Returns the facts of an item; `None` for items of lists other than the tasks.
pub(crate) fn item_facts(file: SpecFile, list: &'static str, item: NodeRef<'_>, files: &dyn Files) -> Option<Facts> {
    let facts = read_item(file, list, item, files)?;
    let topics = facts.topics();
    Some(Facts::new(facts, topics))
}

fn read_item(file: SpecFile, list: &'static str, item: NodeRef<'_>, files: &dyn Files) -> Option<ItemFacts> {
    if file.case_list() != Some(list) {
        return None;
    }
    let lint_node = LintNode::root(item);
    let start = item.range().start;
    if let Some(text) = item.as_str().filter(|_| file == SpecFile::CLI_BENCH) {
        let Some((target, entry)) = Target::of(text, files).zip(named(&lint_node, start)) else {
            return Some(ItemFacts::Nothing);
        };
        let found = target.files().into_iter().map(|path| file_facts(&path, files)).collect();
        return Some(ItemFacts::Files(entry, found));
    }
    let turns = lint_node.get("max_turns");
    let count = turns.as_ref().and_then(LintNode::number).filter(|turns| turns.fract() == 0.0 && *turns >= 0.0);
    let max_turns = turns.as_ref().zip(count).map(|(lint_node, count)| {
        let name =
            Named { text: String::new(), at: lint_node.at.clone(), range: relative(lint_node, start), verbatim: false };
        (name, count as u32)
    });
    let intent = lint_node.get("intent").and_then(|intent| named(&intent, start));
    Some(ItemFacts::Task(Box::new(TaskFacts {
        id: lint_node.get("id").and_then(|id| named(&id, start)),
        wish: intent.as_ref().map(|intent| Wish::of(&intent.text)).unwrap_or_default(),
        revealed: intent.as_ref().map(|intent| Revealed::of(&intent.text, &commands(&lint_node))).unwrap_or_default(),
        intent,
        max_turns,
    })))
}

/// Returns commands of several words that must be run: `ran` patterns without special characters.
fn commands(task: &LintNode<'_>) -> Vec<String> {
    let items = task.get("assert").map(|list| list.items()).unwrap_or_default();
    let patterns = items.iter().filter_map(|item| item.get("ran")?.text().map(str::to_owned));
    patterns.filter(|text| text.trim().contains(' ') && is_literal(text)).collect()
}

fn named(lint_node: &LintNode<'_>, start: usize) -> Option<Named> {
    let text = lint_node.text()?;
    let verbatim = lint_node.part(text, 0).len() == text.len() && lint_node.is_own();
    let range = if verbatim { lint_node.part(text, 0) } else { lint_node.range() };
    Some(Named { text: text.to_owned(), at: lint_node.at.clone(), range: shifted(range, start), verbatim })
}

fn relative(lint_node: &LintNode<'_>, start: usize) -> Range<usize> {
    shifted(lint_node.range(), start)
}

fn shifted(range: Range<usize>, start: usize) -> Range<usize> {
    range.start.saturating_sub(start)..range.end.saturating_sub(start)
}

impl Named {
    /// Returns the absolute location, for an item at `base` that begins at `start`.
    fn place(&self, base: &Pointer, start: usize) -> (Pointer, Range<usize>) {
        (base.join(&self.at), self.range.start + start..self.range.end + start)
    }
}

/// Returns the facts of a task file. Cached, because many entries and edits ask for the same files.
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
                    // An invalid file is reported when it is checked itself.
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

/// Returns the ids in a list of tasks at a location.
fn ids(list: NodeRef<'_>, at: &Pointer) -> Vec<TaskId> {
    let ids = list.items().enumerate().filter_map(|(index, task)| {
        let id = task.get("id")?;
        let text = id.as_str().filter(|text| !text.is_empty())?;
        Some(TaskId { text: text.to_owned(), at: at.index(index).key("id"), range: id.range() })
    });
    ids.collect()
}

/// Returns the facts of the suite that the tasks of a document need.
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
