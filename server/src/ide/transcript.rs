//! Transcripts of test runs: a command as plain text, an agent as a page of Markdown.

mod page;

use speclens_runner::{
    event::{RunResult, SuiteResult},
    report::{
        human::duration_ms,
        status::mark,
        timeline::{JudgeAnswers, spent},
    },
};
use speclens_schema::{
    evidence::{Capture, Evidence},
    judge::Judged,
    mask::shown,
    suite::{Claim, Subject, Suite},
    verdict::{Outcome, Status},
};

use super::{latest::Latest, markdown, outcome::CaseState};
use page::{page, score};

const TRUNCATED_NOTE: &str = "(the rest is missing: cut off at `limits.output_mib`, or by the provider of the model)\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Text,
    Markdown,
}

impl Language {
    pub(crate) fn of(subject: &Subject) -> Language {
        match subject {
            Subject::Model { .. } | Subject::Gateway { .. } => Language::Markdown,
            Subject::Command | Subject::Nobody => Language::Text,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Language::Text => "plaintext",
            Language::Markdown => "markdown",
        }
    }

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Language::Text => "txt",
            Language::Markdown => "md",
        }
    }
}

/// Returns the transcript of the last run of a test, or the reason why there is none.
pub(crate) fn of_test(latest: Option<&Latest>, test: &str) -> (String, Language) {
    let Some(latest) = latest.filter(|latest| latest.suite.is_some()) else {
        return (format!("`{test}` has not been run yet"), Language::Text);
    };
    let Some((case, outcome)) = latest.all().find(|(case, _)| case.name == test) else {
        return (format!("this file has no test `{test}`"), Language::Text);
    };
    let attempts: Vec<&RunResult> = outcome.attempts.iter().map(|attempt| &attempt.result).collect();
    let Some(first) = attempts.first() else {
        let text = match outcome.known.state {
            CaseState::Stale => format!("`{test}` has changed since its last run; run it again"),
            CaseState::Cancelled => format!("the last run of `{test}` was cancelled"),
            CaseState::NeverRun
            | CaseState::Running
            | CaseState::Passed { .. }
            | CaseState::Warned { .. }
            | CaseState::Failed { .. }
            | CaseState::Unknown { .. }
            | CaseState::Error { .. } => format!("`{test}` has not been run yet"),
        };
        return (text, Language::Text);
    };
    let language = Language::of(&first.subject);
    let mut text = match language {
        Language::Markdown => page(test, &attempts),
        Language::Text => {
            let texts = attempts.iter().map(|attempt| transcript(test, attempt));
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    if let Some(audited) = latest.suite.as_ref().and_then(|suite| outcome.audited(case, suite.dialect)) {
        text.push_str(&audited.section(language));
    }
    if outcome.known.state == CaseState::Cancelled {
        text.insert_str(0, "the last run was cancelled; this is the one before it\n\n");
    }
    if let Some(from) = &outcome.known.from {
        text.insert_str(0, &format!("from the recording of `{from}`, which runs the same command\n\n"));
    }
    (text, language)
}

pub(crate) fn of_attempt(test: &str, attempt: &RunResult) -> String {
    match Language::of(&attempt.subject) {
        Language::Markdown => page(test, &[attempt]),
        Language::Text => transcript(test, attempt),
    }
}

pub(crate) fn preconditions(test: &str, suite: &Suite, result: &SuiteResult) -> String {
    let found = result.cases.iter().find_map(|case| {
        let known = suite.cases.get(case.case).filter(|known| known.name == test)?;
        Some((known, case.runs.first()?))
    });
    let title = format!("# {}: preconditions\n\n", markdown::escaped(&markdown::without_breaks(test)));
    let Some((case, run)) = found else { return format!("{title}Nothing was checked.\n") };
    if let Some(absence) = &run.absence {
        return format!("{title}Nothing was started, and the result is unknown: {}\n", absence.message);
    }
    let judged = run.verdicts.iter().filter(|it| case.claims.get(it.claim).is_some_and(Claim::is_precondition));
    let lines: String = judged.map(page::verdict).collect();
    let sentence = match (lines.is_empty(), run.status) {
        (true, _) => "This test has no preconditions",
        (false, Status::Fail | Status::Error) => "A run would not start anything",
        (false, Status::Pass | Status::Skip | Status::Warn | Status::Unknown) => "A run would start now",
    };
    format!("{title}{sentence}. This check did not start anything.\n\n{lines}")
}

fn transcript(case: &str, attempt: &RunResult) -> String {
    let judged = &attempt.verdicts;
    let mut text = format!("test: {case}\n");
    if attempt.subject != Subject::Command {
        text.push_str(&format!("by: {}\n", attempt.subject));
    }
    if attempt.repeat > 0 {
        text.push_str(&format!("attempt: {}\n", attempt.repeat + 1));
    }
    let Some(evidence) = attempt.evidence.get() else {
        // A run that has just begun may have replaced it: verdicts based on it remain until that run has a result.
        text.push_str("the recording no longer exists; run the test again\n");
        push_judged(&mut text, judged);
        return text;
    };
    if !evidence.context.started.is_empty() {
        text.push_str(&format!("started: {}\n", evidence.context.started));
    }
    if let Some(ran) = &evidence.command {
        text.push_str(&format!("command: {}\n", ran.command.text));
    }
    if let Some(exit) = evidence.exit() {
        match (exit.code, exit.signal) {
            (Some(code), _) => text.push_str(&format!("exit code: {code}\n")),
            (None, Some(_)) => text.push_str(&format!("{}\n", exit.sentence())),
            (None, None) => {}
        }
    }
    if let Some(milliseconds) = evidence.duration_ms {
        text.push_str(&format!("duration: {}\n", duration_ms(milliseconds)));
    }
    if let Some(error) = &evidence.error {
        text.push_str(&format!("error: {}\n", error.message));
    }
    // A note of the attempt may already say this and more.
    let masked =
        evidence.mask_note().filter(|masked| !attempt.notes.iter().any(|note| note.starts_with(masked.as_str())));
    for note in masked.iter().chain(&attempt.notes) {
        text.push_str(&format!("note: {note}\n"));
    }
    push_judged(&mut text, judged);
    for (name, stream) in [("standard output", evidence.stdout()), ("standard error", evidence.stderr())] {
        push_stream(&mut text, name, stream);
    }
    push_answers(&mut text, &evidence);
    text
}

fn push_judged(text: &mut String, judged: &[Judged]) {
    if !judged.is_empty() {
        text.push_str("\nassertions\n");
    }
    for Judged { verdict, .. } in judged {
        text.push_str(&format!("  {} {}{}\n", mark(verdict.outcome.status()), verdict.label, score(verdict)));
        if let Outcome::Fail(mismatch) | Outcome::Warn(mismatch) = &verdict.outcome {
            let notes_and_help = mismatch.labelled().map(|(name, text)| format!("{name}: {text}"));
            for line in std::iter::once(mismatch.message.clone()).chain(notes_and_help) {
                text.push_str(&format!("      {}\n", line.replace('\n', "\n      ")));
            }
            text.push_str(&format!("      expected: {}\n      actual: {}\n", mismatch.expected, mismatch.actual));
        } else if !verdict.outcome.message().is_empty() {
            text.push_str(&format!("      {}\n", verdict.outcome.message()));
        }
    }
}

fn push_answers(text: &mut String, evidence: &Evidence) {
    for asked in JudgeAnswers::all(evidence) {
        text.push_str(&format!("\njudge {}\n", asked.judge));
        let replies = match asked.replies {
            Ok(replies) => replies,
            Err(reason) => {
                text.push_str(&format!("no answer: {reason}\n"));
                continue;
            }
        };
        for reply in replies {
            match &reply.error {
                Some(error) => text.push_str(&format!("no answer: {error}\n")),
                None => {
                    text.push_str(&format!("{}\n", shown(&reply.text.text).trim_end_matches(['\r', '\n'])));
                    if reply.text.cut {
                        text.push_str(TRUNCATED_NOTE);
                    }
                }
            }
            if let Some(usage) = reply.usage {
                text.push_str(&format!("({})\n", spent(usage)));
            }
        }
    }
}

fn push_stream(text: &mut String, name: &str, stream: Option<&Capture>) {
    let Some(Capture { text: content, cut, .. }) = stream else { return };
    if content.is_empty() && !cut {
        return;
    }
    text.push_str(&format!("\n{name}\n{content}"));
    if !content.ends_with('\n') {
        text.push('\n');
    }
    if *cut {
        text.push_str(TRUNCATED_NOTE);
    }
}

#[cfg(test)]
mod tests {
    use speclens_runner::event::{Absence, AbsenceKind, RunResult};
    use speclens_schema::{
        suite::{Case, Subject},
        verdict::Status,
    };

    use super::of_test;
    use crate::ide::{latest::Latest, tests::fixture::Fixture};

    #[test]
    fn test_without_a_transcript_says_why() {
        let fixture = Fixture::parse("tests:\n  - {name: a, command: x}\n");
        let of = |latest: Option<&Latest>, test: &str| of_test(latest, test).0;
        assert_eq!(of(None, "a"), "`a` has not been run yet");
        let none = fixture.latest(|_| Vec::new());
        assert_eq!(of(Some(&none), "a"), "`a` has not been run yet");
        assert_eq!(of(Some(&none), "b"), "this file has no test `b`");
        let stale = fixture.latest(|_: &Case| {
            let absence = Some(Absence { kind: AbsenceKind::Stale, message: String::new() });
            vec![RunResult { absence, ..RunResult::of(&Subject::Command, 0, Status::Unknown) }]
        });
        assert_eq!(of(Some(&stale), "a"), "`a` has changed since its last run; run it again");
    }

    #[test]
    fn recording_of_another_test_is_named_first() {
        let fixture = Fixture::parse("tests:\n  - {name: a, command: x}\n  - {name: b, command: x}\n");
        let latest = fixture.latest(|case| {
            let from = (case.name == "a").then(|| "b".to_owned());
            vec![RunResult { from, ..RunResult::of(&Subject::Command, 0, Status::Pass) }]
        });
        let first = |test| of_test(Some(&latest), test).0.lines().next().map(str::to_owned);
        assert_eq!(first("a").as_deref(), Some("from the recording of `b`, which runs the same command"));
        assert_eq!(first("b").as_deref(), Some("test: b"));
    }
}
