//! Facts of items and suites that checks between items need.

use std::{cell::RefCell, ops::Range, sync::Arc};

use crate::{
    document::{Document, NodeRef, Pointer},
    files::{Files, Resolved},
    json_schema::SpecFile,
    kind,
    lint_node::LintNode,
    names::Named,
    pattern::is_literal,
    relations::{Facts, Kind, Topic},
};

use crate::suite::{
    HelpMode,
    task_files::{self, Target},
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemFacts {
    Task(Box<TaskFacts>),
    /// A `file://` entry: the entry itself, and the task files that it includes.
    Files(Named, Vec<Arc<FileFacts>>),
}

/// Topics of rules between tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Tasks with an intent or a limit of turns that may be reported.
    Task,
    Files,
}

impl Kind for About {
    type Facts = ItemFacts;

    fn number(self) -> u8 {
        self as u8
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TaskFacts {
    pub(crate) intent: Option<Named>,
    /// What makes the intent vague. `None` if it contains a word that states a request.
    vague: Option<Vague>,
    /// Whether the intent can make a command of the name of a program.
    pub(crate) may_name_program: bool,
    pub(crate) command: Option<Range<usize>>,
    /// Value of `max_turns`, if it is at most two.
    pub(crate) few_turns: Option<(Named, u32)>,
}

/// An intent that may state no request.
#[derive(Clone, Debug, PartialEq)]
enum Vague {
    Always,
    /// If this is the name of the program.
    About(String),
}

impl TaskFacts {
    /// Whether the intent states no request, in a suite about this program.
    pub(crate) fn is_vague(&self, cli: Option<&str>) -> bool {
        match &self.vague {
            None => false,
            Some(Vague::Always) => true,
            Some(Vague::About(word)) => cli.is_some_and(|cli| cli.eq_ignore_ascii_case(word)),
        }
    }
}

impl Vague {
    fn of(intent: &str) -> Option<Vague> {
        /// Words that do not state a request.
        const IDLE: [&str; 60] = [
            "a", "an", "and", "any", "anything", "app", "application", "as", "basic", "binary", "check", "cli",
            "command", "commands", "do", "execute", "explore", "feature", "features", "for", "how", "in", "invoke",
            "is", "it", "its", "just", "line", "make", "of", "out", "perform", "play", "please", "program", "run",
            "see", "some", "something", "stuff", "task", "test", "that", "the", "this", "thing", "things", "to",
            "tool", "try", "use", "using", "utility", "with", "work", "works", "you", "your", "around", "correctly",
        ];
        let lower = intent.to_lowercase();
        let words = lower.split(|letter: char| !(letter.is_alphanumeric() || letter == '-'));
        let mut wanted = words.filter(|word| !word.is_empty() && !IDLE.contains(word));
        match wanted.next() {
            // A blank intent is reported separately.
            None if lower.trim().is_empty() => None,
            None => Some(Vague::Always),
            Some(first) => wanted.all(|word| word == first).then(|| Vague::About(first.to_owned())),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileFacts {
    pub(crate) path: String,
    /// Ids of its tasks, in order.
    pub(crate) ids: Vec<Named>,
    /// Why it contains no tasks, and what to do.
    pub(crate) wrong: Option<(String, Option<&'static str>)>,
    /// Whether the file declares itself to be of another kind.
    pub(crate) is_other: bool,
    pub(crate) bytes: Arc<[u8]>,
}

impl ItemFacts {
    /// Returns the topics of rules between tasks.
    fn topics(&self) -> Vec<Topic> {
        match self {
            ItemFacts::Task(task) => {
                let is_notable =
                    task.vague.is_some() || task.may_name_program || task.command.is_some() || task.few_turns.is_some();
                is_notable.then(|| Topic::of(About::Task)).into_iter().collect()
            }
            ItemFacts::Files(..) => vec![Topic::of(About::Files)],
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SuiteFacts {
    /// Name of the program.
    pub(crate) cli: Option<String>,
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
        let (target, entry) = Target::of(text, files).zip(named(&lint_node, start))?;
        let found = target.files().into_iter().map(|path| file_facts(&path, files)).collect();
        return Some(ItemFacts::Files(entry, found));
    }
    let intent = lint_node.get("intent").and_then(|intent| named(&intent, start));
    let text = intent.as_ref().map_or("", |intent| intent.name.as_str());
    let turns = lint_node.get("max_turns").and_then(|turns| Some((turns.number()?, turns)));
    let few_turns = turns.filter(|(count, _)| [0.0, 1.0, 2.0].contains(count));
    Some(ItemFacts::Task(Box::new(TaskFacts {
        vague: Vague::of(text),
        may_name_program: ["`", " -", "\t-"].iter().any(|sign| text.contains(sign)),
        command: commands(&lint_node).iter().find_map(|command| part_of(text, command)),
        few_turns: few_turns.map(|(count, turns)| (Named::new("", &turns.at, turns.range(), start), count as u32)),
        intent,
    })))
}

fn part_of(intent: &str, command: &str) -> Option<Range<usize>> {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    let command = command.trim_end_matches('\n').trim();
    intent.match_indices(command).map(|(at, found)| at..at + found.len()).find(|range| {
        let before = intent[..range.start].chars().next_back();
        let behind = intent[range.end..].chars().next();
        !before.is_some_and(is_word) && !behind.is_some_and(is_word)
    })
}

/// Returns commands of several words that must be run: `ran` patterns without special characters.
fn commands(task: &LintNode<'_>) -> Vec<String> {
    let items = task.get("assert").map(|list| list.items()).unwrap_or_default();
    let patterns = items.iter().filter_map(|item| item.get("ran")?.text().map(str::to_owned));
    patterns.filter(|text| text.trim().contains(' ') && is_literal(text)).collect()
}

fn named(lint_node: &LintNode<'_>, start: usize) -> Option<Named> {
    let text = lint_node.text()?;
    let part = lint_node.part(text, 0);
    let is_verbatim = part.len() == text.len() && lint_node.is_own();
    Some(Named::new(text, &lint_node.at, if is_verbatim { part } else { lint_node.range() }, start))
}

/// Returns the facts of a task file. Cached, because many entries and edits ask for the same files.
pub(crate) fn file_facts(path: &str, files: &dyn Files) -> Arc<FileFacts> {
    const KEPT: usize = 512;
    thread_local! {
        static ANSWERS: RefCell<Vec<Arc<FileFacts>>> = const { RefCell::new(Vec::new()) };
    }
    let bytes = match files.read_named(path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let wrong = Some((format!("cannot be read: {reason}"), None));
            return Arc::new(FileFacts { path: path.to_owned(), wrong, ..FileFacts::default() });
        }
    };
    ANSWERS.with_borrow_mut(|answers| {
        if let Some(known) = answers.iter().find(|known| known.path == path && known.bytes == bytes) {
            return Arc::clone(known);
        }
        let facts = Arc::new(read_file(path, bytes));
        if answers.len() == KEPT {
            answers.remove(0);
        }
        answers.push(Arc::clone(&facts));
        facts
    })
}

fn read_file(path: &str, bytes: Arc<[u8]>) -> FileFacts {
    const BEGIN: Option<&str> = Some("begin each task with `- id: …`");
    let mut facts = FileFacts { path: path.to_owned(), bytes, ..FileFacts::default() };
    let Ok(text) = std::str::from_utf8(&facts.bytes) else {
        return FileFacts { wrong: Some(("is not UTF-8".to_owned(), Some("save it as UTF-8"))), ..facts };
    };
    let document = Document::read(text, task_files::rules());
    facts.is_other = kind::said(text).is_some_and(|said| said.kind != Some(SpecFile::CLI_BENCH_TASKS));
    match document.root() {
        None if document.is_intact() => facts.wrong = Some(("is empty".to_owned(), BEGIN)),
        // An invalid file is reported when it is checked itself.
        None => {}
        Some(root) if root.shape() != crate::document::Shape::Sequence => {
            facts.wrong = Some(("is not a list of tasks".to_owned(), BEGIN));
        }
        Some(root) => facts.ids = ids(root, &Pointer::root()),
    }
    facts
}

fn ids(list: NodeRef<'_>, at: &Pointer) -> Vec<Named> {
    let ids = list.items().enumerate().filter_map(|(index, task)| {
        let id = task.get("id")?;
        let text = id.as_str().filter(|text| !text.is_empty())?;
        Some(Named { name: text.to_owned(), at: at.index(index).key("id"), range: id.range() })
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
        bytes: files.read(&main.path).unwrap_or_default(),
        ..FileFacts::default()
    }));
    let entries = tasks.into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str);
    let mut paths: Vec<String> = entries.filter_map(|text| Target::of(text, files)).flat_map(Target::files).collect();
    paths.sort_unstable();
    paths.dedup();
    let own = match files.named(files.place()) {
        Resolved::Found { path, .. } => path,
        Resolved::Nothing | Resolved::Unread => files.place().to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_without_an_outcome_is_vague() {
        let is_vague = |text: &str| TaskFacts { vague: Vague::of(text), ..TaskFacts::default() }.is_vague(Some("git"));
        for vague in ["use the tool", "Use git", "Run the git command", "Try it out, please.", "Do something with git"]
        {
            assert!(is_vague(vague), "{vague}");
        }
        for clear in
            ["Show the history", "Use git to find who wrote line 3", "", "Liste alle Zweige auf", "Run the tests"]
        {
            assert!(!is_vague(clear), "{clear}");
        }
    }

    #[test]
    fn a_command_that_must_be_run_gives_itself_away() {
        assert_eq!(part_of("Run git commit now", "git commit"), Some(4..14));
        assert_eq!(part_of("Run git commits now", "git commit"), None);
    }
}
