//! Code lenses above tests: run the test, and show its last result.

use std::{collections::BTreeMap, ops::Range};

use speclens_schema::{
    document::{Document, NodeRef},
    json_schema::SpecFile,
    suite::{ActionKind, WrittenCase, list_of_cases, written_case, written_cases},
};

use speclens_runner::evidence_store::FOREIGN_NOTE;

use super::{
    outcome::{CaseState, KnownState, title_by_subject},
    runnable::{Looks, NotRunnableReason, NotRunnableReasons},
    walk::first_after,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lens {
    /// The bytes below it.
    pub range: Range<usize>,
    pub title: String,
    pub command: LensCommand,
    /// The test that the command is about; `None` for the file.
    pub test: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LensCommand {
    /// Runs the test, or shows why it cannot run.
    Run,
    RunFile,
    /// Asks for the model that is to work on the test, and runs it.
    RunWith,
    /// Asks the judges of the test about the recording.
    Ask,
    /// Shows what a run of the task would do.
    DryRun,
    /// Shows which preconditions of the test hold now.
    Preconditions,
    /// Judges the current state of the target of the test; starts nothing.
    Judge,
    /// Cancels the runs of the test, or every run of the file.
    Cancel,
    /// Shows what the last run of the test did.
    ShowTranscript,
    /// Shows the state of every test of the file, as in the title.
    ShowStatus,
}

/// The categories that the lens of a file counts, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Failed,
    Error,
    Passed,
    Unknown,
    Skipped,
    Stale,
    Running,
    NotRun,
}

impl Counted {
    fn of(state: &CaseState) -> Counted {
        match state {
            CaseState::Failed { .. } => Counted::Failed,
            CaseState::Error { .. } => Counted::Error,
            CaseState::Passed { .. } | CaseState::Warned { .. } => Counted::Passed,
            CaseState::Unknown { .. } => Counted::Unknown,
            CaseState::Stale => Counted::Stale,
            CaseState::Running => Counted::Running,
            CaseState::NeverRun | CaseState::Cancelled => Counted::NotRun,
        }
    }

    /// Its words for one test and for several, and whether it is the result of a run.
    fn row(self) -> ([&'static str; 2], bool) {
        match self {
            Counted::Failed => (["failed"; 2], true),
            Counted::Error => (["error", "errors"], true),
            Counted::Passed => (["passed"; 2], true),
            Counted::Unknown => (["unknown"; 2], true),
            Counted::Skipped => (["skipped"; 2], false),
            Counted::Stale => (["stale"; 2], false),
            Counted::Running => (["running"; 2], false),
            Counted::NotRun => (["not run"; 2], false),
        }
    }
}

/// Facts about the suite of a document that are not in the document's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LensContext<'a> {
    /// The facts that decide whether its tests can run.
    pub looks: Looks<'a>,
    /// The main file of the suite, relative to the document, if it is another file.
    pub main: Option<&'a str>,
    /// The states of the tests of the suite that are in other files.
    pub elsewhere: &'a [CaseState],
    /// Whether more than one model can work on the tests.
    pub has_choice: bool,
}

/// Returns the lenses of a document: those of the file, and those of its tests. `known` has the states of tests by name,
/// `audit` the titles of their audits.
pub(crate) fn lenses<'a>(
    document: &Document,
    context: LensContext<'_>,
    known: impl Fn(&str) -> Option<&'a KnownState>,
    audit: impl Fn(&str) -> Option<&'a String>,
) -> Vec<Lens> {
    let tests = written_cases(context.looks.file, document);
    let obstacles = NotRunnableReasons::new(tests.iter().map(|test| &*test.name), context.looks);
    let mut counts = Counts::default();
    for state in context.elsewhere {
        counts.add(Counted::of(state));
    }
    let mut of_tests = Vec::new();
    for test in &tests {
        let known = known(&test.name);
        let is_running = known.is_some_and(|known| known.state == CaseState::Running);
        // A run that is under way began before the text was changed.
        let obstacle = obstacles.of(&test.name, test.skip).filter(|_| !is_running);
        match obstacle {
            Some(NotRunnableReason::Skipped) => counts.add(Counted::Skipped),
            Some(
                NotRunnableReason::NoSuite
                | NotRunnableReason::WrongSettings
                | NotRunnableReason::SharedName
                | NotRunnableReason::HasProblems,
            ) => {
                counts.add(Counted::NotRun);
            }
            None => counts.add(known.map_or(Counted::NotRun, |known| Counted::of(&known.state))),
        }
        of_tests.extend(of_test(test, obstacle, known, context.has_choice));
        if let Some(audit) = audit(&test.name).filter(|_| obstacle.is_none() && !is_running) {
            let (title, test) = (audit.clone(), Some(test.name.to_string()));
            let range = of_tests.last().map_or(0..0, |lens| lens.range.clone());
            of_tests.push(Lens { range, title, command: LensCommand::ShowTranscript, test });
        }
    }
    // The lenses of the only test say all of that.
    let is_only_test =
        tests.len() == 1 && counts.total() == 1 && items(document, context.looks.file) <= 1 && context.main.is_none();
    let mut lenses = if is_only_test { Vec::new() } else { of_file(document, context, &counts) };
    lenses.extend(of_tests);
    lenses
}

fn of_test(
    test: &WrittenCase<'_>,
    obstacle: Option<NotRunnableReason>,
    known: Option<&KnownState>,
    has_choice: bool,
) -> Vec<Lens> {
    let name = &*test.name;
    let range = test.node.range();
    let range = range.start..range.start + name.len().min(range.len());
    let nothing = KnownState::nothing();
    let KnownState { state, from, is_foreign, subjects, can_ask, is_present } = known.unwrap_or(&nothing);
    let mut lenses = Vec::new();
    let mut push = |title: String, command: LensCommand| {
        lenses.push(Lens { range: range.clone(), title, command, test: Some(name.to_owned()) });
    };
    if let Some(obstacle) = obstacle {
        push(obstacle.title().to_owned(), LensCommand::Run);
        return lenses;
    }
    if *state == CaseState::Running {
        push("■ Stop".to_owned(), LensCommand::Cancel);
        lenses.push(Lens { range, title: "… running".to_owned(), command: LensCommand::ShowStatus, test: None });
        return lenses;
    }
    push("▶ Run".to_owned(), LensCommand::Run);
    if has_choice && matches!(test.does, ActionKind::Agent | ActionKind::Prompt) {
        push("Run with…".to_owned(), LensCommand::RunWith);
    }
    if matches!(test.does, ActionKind::Agent | ActionKind::Prompt) {
        push("Dry run".to_owned(), LensCommand::DryRun);
    }
    if test.has_preconditions() {
        push("Preconditions".to_owned(), LensCommand::Preconditions);
    }
    if test.does == ActionKind::Trigger {
        push("Evaluate without a run".to_owned(), LensCommand::Judge);
    }
    let Some(mut title) = title_by_subject(state, subjects).or_else(|| state.title()) else { return lenses };
    if let Some(from) = from {
        title.push_str(&format!(", from the recording of `{from}`"));
    }
    if *is_present {
        title.push_str(", evaluated without a run");
    }
    if *is_foreign {
        title.push_str(", ");
        title.push_str(FOREIGN_NOTE);
    }
    push(title, if *state == CaseState::Stale { LensCommand::Run } else { LensCommand::ShowTranscript });
    if *can_ask {
        push("Ask judge".to_owned(), LensCommand::Ask);
    }
    lenses
}

/// Number of tests that are in each state.
#[derive(Default)]
struct Counts {
    counts: BTreeMap<Counted, usize>,
    has_result: bool,
}

impl Counts {
    fn add(&mut self, counted: Counted) {
        self.add_without_result(counted);
        self.has_result |= counted.row().1;
    }

    fn total(&self) -> usize {
        self.counts.values().sum()
    }

    fn add_without_result(&mut self, counted: Counted) {
        *self.counts.entry(counted).or_default() += 1;
    }
}

fn of_file(document: &Document, context: LensContext<'_>, Counts { counts, has_result }: &Counts) -> Vec<Lens> {
    let names_files = || context.looks.file.part().is_some();
    if counts.is_empty() && !(names_files() && items(document, context.looks.file) > 0) {
        return Vec::new();
    }
    // On the first line of the file, so that it is apart from the lenses of the first test.
    let range = 0..0;
    let (title, command) = match (counts.contains_key(&Counted::Running), context.main) {
        (true, _) => ("■ Stop".to_owned(), LensCommand::Cancel),
        (false, None) => ("▶ Run file".to_owned(), LensCommand::RunFile),
        // Several suites may name it, each with its own settings.
        (false, Some(main)) => (format!("▶ Run file through {main}"), LensCommand::RunFile),
    };
    let mut lenses = vec![Lens { range: range.clone(), title, command, test: None }];
    if *has_result {
        let words: Vec<String> = counts
            .iter()
            .map(|(counted, count)| format!("{count} {}", counted.row().0[usize::from(*count > 1)]))
            .collect();
        lenses.push(Lens { range, title: words.join(", "), command: LensCommand::ShowStatus, test: None });
    }
    lenses
}

/// Returns the number of items in the list of tests: tests, and in some formats names of files with tests.
fn items(document: &Document, file: SpecFile) -> usize {
    let list = list_of_cases(file).and_then(|list| document.find(&list));
    list.into_iter().flat_map(NodeRef::items).count()
}

/// Returns the test around an offset, if it has a name. The blanks and the dash before a test belong to it.
pub(crate) fn test_at(file: SpecFile, document: &Document, offset: usize) -> Option<WrittenCase<'_>> {
    let Some(at) = list_of_cases(file) else {
        return written_cases(file, document).into_iter().next();
    };
    let list = document.find(&at)?;
    let text = document.text();
    // Only the test around the place and the one below it are read, because there may be thousands.
    let below = || {
        let line = text.line_to_byte(text.byte_to_line(offset.min(text.len_bytes())));
        let number = first_after(list, offset);
        let test = list.item_at(number)?;
        let before = || text.byte_slice(line..test.range().start).bytes();
        let is_behind_dash = before().all(|byte| matches!(byte, b' ' | b'-' | b'\r' | b'\n'))
            && before().find(|byte| *byte != b' ').is_none_or(|first| first == b'-');
        written_case(file, test, at.index(number)).filter(|_| is_behind_dash)
    };
    let around = || {
        let number = document.pointer_at(offset).below(&at)?.steps().next()?.index()?;
        written_case(file, list.item_at(number)?, at.index(number))
    };
    below().or_else(around)
}

#[cfg(test)]
mod tests;
