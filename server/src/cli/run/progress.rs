//! Progress, on standard error and on terminals only: a bar, and a line per model if there are several.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use speclens_runner::{event::Event, report::plain};
use speclens_schema::{
    mask::Secrets,
    suite::{Subject, Suite, short_names},
    verdict::Status,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::output;

const MAX_LINES: usize = 8;

const MAX_BATCH: usize = 64;

const INTERRUPTED: &str = "interrupted: stopping, with at most 3 s for `teardown`; interrupt again to stop at once";

/// Shows the progress of a run until it ends. `planned` has the number of attempts by subject.
pub(super) async fn show(
    mut events: mpsc::UnboundedReceiver<Event>,
    suite: Arc<Suite>,
    planned: Vec<(Subject, usize)>,
    secrets: Arc<Secrets>,
    cancel: CancellationToken,
    quiet: bool,
) {
    let bars = MultiProgress::with_draw_target(target(quiet));
    let mut progress = Progress::new(&suite, &planned, &secrets);
    let attempts = planned.iter().map(|(_, attempts)| *attempts as u64).sum();
    let bar = bars.add(ProgressBar::new(attempts));
    if let Ok(style) = ProgressStyle::with_template("{bar:24.cyan} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let lines: Vec<ProgressBar> = (0..progress.lines().len())
        .map(|_| {
            let line = bars.add(ProgressBar::new(0));
            if let Ok(style) = ProgressStyle::with_template("  {wide_msg}") {
                line.set_style(style);
            }
            line
        })
        .collect();
    let is_shown = !bars.is_hidden();
    let mut batch = Vec::new();
    let mut is_answered = false;
    // Events that arrived in the meantime are shown at once.
    'run: loop {
        let received = tokio::select! {
            received = events.recv_many(&mut batch, MAX_BATCH) => received,
            () = cancel.cancelled(), if !is_answered => {
                is_answered = true;
                bars.suspend(|| output::note(INTERRUPTED));
                continue;
            }
        };
        if received == 0 {
            break;
        }
        for event in batch.drain(..) {
            match &event {
                Event::Started { attempts } => bar.set_length(*attempts as u64),
                Event::AttemptFinished { .. } => bar.inc(1),
                Event::Note { message } => bars.suspend(|| output::note(&secrets.mask(message))),
                Event::Finished(_) => break 'run,
                Event::Waiting { case } => {
                    let name = &suite.cases[*case].name;
                    bars.suspend(|| output::note(&secrets.mask(&waiting(name))));
                }
                Event::AttemptStarted { .. } | Event::TurnStarted { .. } => {}
            }
            progress.follow(event);
        }
        if is_shown {
            bar.set_message(progress.message());
            for (line, text) in lines.iter().zip(progress.lines()) {
                line.set_message(text);
            }
        }
    }
    lines.iter().for_each(ProgressBar::finish_and_clear);
    bar.finish_and_clear();
}

fn waiting(name: &str) -> String {
    format!("`{name}` is waiting for another run in this workspace")
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) }
}

/// The state of an unfinished run.
struct Progress<'s> {
    suite: &'s Suite,
    secrets: &'s Secrets,
    subjects: Vec<SubjectProgress>,
    failed: usize,
}

struct SubjectProgress {
    subject: Subject,
    name: String,
    planned: usize,
    passed: usize,
    failed: usize,
    /// Number of attempts that ended with an error or are unknown.
    open: usize,
    /// The running attempts, by case and repetition, with their turns.
    running: BTreeMap<(usize, u32), Option<(u32, u32)>>,
}

impl<'s> Progress<'s> {
    fn new(suite: &'s Suite, planned: &[(Subject, usize)], secrets: &'s Secrets) -> Progress<'s> {
        let names = short_names(&planned.iter().map(|(subject, _)| subject).collect::<Vec<_>>());
        let subjects = planned.iter().zip(names).map(|((subject, planned), name)| SubjectProgress {
            subject: subject.clone(),
            name,
            planned: *planned,
            passed: 0,
            failed: 0,
            open: 0,
            running: BTreeMap::new(),
        });
        Progress { suite, secrets, subjects: subjects.collect(), failed: 0 }
    }

    fn follow(&mut self, event: Event) {
        match event {
            Event::AttemptStarted { case, subject, repeat } => {
                if let Some(one) = self.of(&subject) {
                    one.running.insert((case, repeat), None);
                }
            }
            Event::TurnStarted { case, subject, repeat, turn, turns } => {
                if let Some(one) = self.of(&subject) {
                    one.running.insert((case, repeat), Some((turn, turns)));
                }
            }
            Event::AttemptFinished { case, run } => {
                self.failed += usize::from(matches!(run.status, Status::Fail | Status::Error));
                let Some(one) = self.of(&run.subject) else { return };
                one.running.remove(&(case, run.repeat));
                if run.is_left_out() {
                    one.planned -= 1;
                    return;
                }
                match run.status {
                    Status::Pass | Status::Warn | Status::Skip => one.passed += 1,
                    Status::Fail => one.failed += 1,
                    Status::Unknown | Status::Error => one.open += 1,
                }
            }
            Event::Started { .. } | Event::Waiting { .. } | Event::Note { .. } | Event::Finished(_) => {}
        }
    }

    fn of(&mut self, subject: &Subject) -> Option<&mut SubjectProgress> {
        self.subjects.iter_mut().find(|one| one.subject == *subject)
    }

    /// Returns the number of failed attempts, and the running tests unless they are in the lines of subjects.
    fn message(&self) -> String {
        let failures = if self.failed > 0 { format!("{} failed  ", self.failed) } else { String::new() };
        let running = if self.has_lines() { String::new() } else { self.running(&self.subjects) };
        format!("{failures}{}", self.shown(&running))
    }

    fn has_lines(&self) -> bool {
        self.subjects.len() > 1 && self.subjects.len() <= MAX_LINES
    }

    fn lines(&self) -> Vec<String> {
        let shown = if self.has_lines() { self.subjects.as_slice() } else { &[] };
        let line = |one: &SubjectProgress| {
            let done = one.passed + one.failed + one.open;
            let counts = [("✓", one.passed), ("✗", one.failed), ("?", one.open)];
            let counts = counts.into_iter().filter(|(_, count)| *count > 0);
            let counts: String = counts.map(|(mark, count)| format!(" {mark}{count}")).collect();
            let running = self.running(std::slice::from_ref(one));
            let gap = if running.is_empty() { "" } else { "  " };
            self.shown(&format!("{} {done}/{}{counts}{gap}{running}", one.name, one.planned))
        };
        shown.iter().map(line).collect()
    }

    fn running(&self, subjects: &[SubjectProgress]) -> String {
        let mut tests: BTreeMap<usize, Option<(u32, u32)>> = BTreeMap::new();
        for ((case, _), turn) in subjects.iter().flat_map(|one| &one.running) {
            let latest = tests.entry(*case).or_default();
            *latest = (*latest).max(*turn);
        }
        let name = |(case, turn): (usize, Option<(u32, u32)>)| {
            let name = &self.suite.cases[case].name;
            turn.map_or_else(|| name.clone(), |(turn, turns)| format!("{name} (turn {turn} of {turns})"))
        };
        tests.into_iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn shown(&self, text: &str) -> String {
        plain::line(&self.secrets.mask(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use speclens_runner::event::RunResult;
    use speclens_schema::{
        analysis::Analyzer,
        document::{Document, ScalarRules},
        files::MemoryFiles,
        json_schema::SpecFile,
        settings::Settings,
    };

    use super::*;

    fn suite(names: &[&str]) -> Suite {
        let tests = names.iter().map(|name| format!("  - {{name: {}, command: x}}\n", json!(name)));
        let document = Document::read(&format!("tests:\n{}", tests.collect::<String>()), ScalarRules::Yaml12);
        let files = MemoryFiles::default();
        Analyzer::new(SpecFile::KINDLM).analyze(&document, &files, &Settings::default()).suite
    }

    fn started(case: usize, subject: &Subject) -> Event {
        Event::AttemptStarted { case, subject: subject.clone(), repeat: 0 }
    }

    fn turn(case: usize, subject: &Subject, turn: u32) -> Event {
        Event::TurnStarted { case, subject: subject.clone(), repeat: 0, turn, turns: 5 }
    }

    fn finished(case: usize, subject: &Subject, status: Status) -> Event {
        Event::AttemptFinished { case, run: Arc::new(RunResult::of(subject, 0, status)) }
    }

    #[test]
    fn several_models_have_a_line_each_with_counts_and_turns() {
        let (suite, secrets) = (suite(&["show-help", "export"]), Secrets::none());
        let (one, other) = (Subject::model("a/sonnet", None), Subject::model("b/gpt", None));
        let mut progress = Progress::new(&suite, &[(one.clone(), 10), (other.clone(), 10)], &secrets);
        assert_eq!(progress.lines(), ["sonnet 0/10", "gpt 0/10"]);
        for event in [
            started(0, &one),
            finished(0, &one, Status::Pass),
            started(0, &other),
            finished(0, &other, Status::Fail),
            started(1, &other),
            finished(1, &other, Status::Error),
            started(1, &one),
            turn(1, &one, 1),
            turn(1, &one, 2),
        ] {
            progress.follow(event);
        }
        assert_eq!(progress.lines(), ["sonnet 1/10 ✓1  export (turn 2 of 5)", "gpt 2/10 ✗1 ?1"]);
        assert_eq!(progress.message(), "2 failed  ");
        progress.follow(finished(1, &one, Status::Pass));
        assert_eq!(progress.lines()[0], "sonnet 2/10 ✓2");
    }

    #[test]
    fn one_subject_has_no_line_of_its_own() {
        let (suite, secrets) = (suite(&["first", "second"]), Secrets::none());
        let mut progress = Progress::new(&suite, &[(Subject::Command, 2)], &secrets);
        progress.follow(started(1, &Subject::Command));
        progress.follow(started(0, &Subject::Command));
        assert_eq!((progress.lines().len(), progress.message().as_str()), (0, "first, second"));
    }

    #[test]
    fn secret_in_the_name_of_a_running_test_is_masked() {
        let secrets = Secrets::new([("API_KEY", "abcd1234")], &[], &[]);
        let suite = suite(&["first", "case abcd1234", "a\nb"]);
        let mut progress = Progress::new(&suite, &[(Subject::Command, 3)], &secrets);
        (0..3).for_each(|case| progress.follow(started(case, &Subject::Command)));
        assert_eq!(progress.message(), "first, case ********, a⏎b");
    }
}
