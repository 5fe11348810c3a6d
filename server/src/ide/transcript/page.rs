//! The transcript of an agent as a page of Markdown: the texts and commands of each turn, and the verdicts on them.

use speclens_runner::{
    event::RunResult,
    report::{
        human::duration_ms,
        status::mark,
        timeline::{Entry, JudgeAnswers, Step, beginning, end_of, facts, spent, streams, timeline},
        waterfall::Waterfall,
    },
};
use speclens_schema::{
    check::json::number_text,
    evidence::shown_value,
    evidence::{Capture, Exchange, FileLog, LogAnswer, Ran, ToolCall, Turn},
    judge::Judged,
    mask::shown,
    verdict::{Outcome, Verdict},
};

use crate::ide::markdown;

const MAX_LINES: usize = 60;

const MAX_BYTES: usize = 8 * 1024;

pub(super) fn page(test: &str, attempts: &[&RunResult]) -> String {
    let mut sorted: Vec<&RunResult> = attempts.to_vec();
    sorted.sort_by_key(|attempt| std::cmp::Reverse(attempt.status));
    let mut text = format!("# {}\n", markdown::escaped(&markdown::without_breaks(test)));
    sorted.iter().for_each(|attempt| push_attempt(&mut text, attempt));
    text
}

fn push_attempt(text: &mut String, attempt: &RunResult) {
    let repeat = if attempt.repeat > 0 { format!(", attempt {}", attempt.repeat + 1) } else { String::new() };
    text.push_str(&format!(
        "\n## {} {}{repeat}\n\n",
        mark(attempt.status),
        markdown::escaped(&markdown::without_breaks(&attempt.subject.to_string()))
    ));
    let Some(evidence) = attempt.evidence.get() else {
        let reason =
            attempt.absence.as_ref().map_or("the recording no longer exists; run the test again", |it| &it.message);
        text.push_str(&format!("{reason}\n"));
        push_verdicts(text, attempt);
        return;
    };
    for fact in facts(&evidence) {
        text.push_str(&format!("- {}\n", markdown::without_breaks(&fact)));
    }
    if let Some(error) = &evidence.error {
        text.push_str(&format!("- error: {}\n", error.message));
    }
    attempt.notes.iter().for_each(|note| text.push_str(&format!("- note: {note}\n")));
    push_verdicts(text, attempt);
    timeline(&evidence).iter().for_each(|entry| push_entry(text, entry));
}

fn push_verdicts(text: &mut String, attempt: &RunResult) {
    if attempt.verdicts.is_empty() {
        return;
    }
    text.push_str("\n### Assertions\n\n");
    attempt.verdicts.iter().for_each(|judged| text.push_str(&verdict(judged)));
}

pub(super) fn verdict(judged: &Judged) -> String {
    let verdict = &judged.verdict;
    let score = score(verdict);
    let mut text =
        format!("- {} {}{score}\n", mark(verdict.outcome.status()), markdown::without_breaks(&verdict.label));
    let mut lines = Vec::new();
    match &verdict.outcome {
        Outcome::Pass => {}
        Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
            lines.push(mismatch.message.clone());
            lines.extend(mismatch.labelled().map(|(name, text)| format!("{name}: {text}")));
            for (name, value) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
                if !value.is_empty() {
                    lines.push(format!("{name}: {value}"));
                }
            }
        }
        Outcome::Skip(reason) | Outcome::Unknown(reason) | Outcome::Error(reason) => lines.push(reason.clone()),
    }
    if !lines.is_empty() {
        text.push('\n');
        text.push_str(&indented(&fenced(&lines.join("\n"), "text", false)));
    }
    text
}

fn push_entry(text: &mut String, entry: &Entry<'_>) {
    match entry {
        Entry::Exchange { exchange, ended } => push_exchange(text, exchange, ended),
        Entry::Trace(trace) => {
            let lines = Waterfall::of(trace).lines().join("\n");
            text.push_str(&format!("\n### Spans\n\n{}\n", markdown::verbatim(&lines, "text")));
        }
        Entry::NoTrace(reason) => text.push_str(&format!("\n### Spans\n\nNo trace: {reason}\n")),
        Entry::Command(ran) => {
            text.push_str("\n### Command\n");
            push_command(text, ran);
        }
        Entry::Calls(calls) => {
            text.push_str("\n### Calls\n");
            calls.iter().for_each(|call| push_call(text, call));
        }
        Entry::Turn { number, turn, steps } => push_turn(text, *number, turn, steps),
        Entry::OtherCommands(commands) => {
            text.push_str("\n### Commands\n");
            commands.iter().for_each(|ran| push_command(text, ran));
        }
        Entry::Gap(gap) => text.push_str(&format!("\n{gap}\n")),
        Entry::Log(LogAnswer { path, lines, .. }) => {
            text.push_str(&format!("\n### Log {}\n\n", markdown::inline(path)));
            text.push_str(&fenced(&lines.text, "text", lines.cut));
        }
        Entry::Check(ran) => {
            text.push_str("\n### Command of an assertion\n");
            push_command(text, ran);
        }
        Entry::Response(response) => {
            text.push_str("\n### Response for an assertion\n\n");
            text.push_str(&status_line(response.status));
            text.push_str(&format!("\n{}", fenced(&response.body.text, "text", response.body.cut)));
        }
        Entry::Files(log) => push_files(text, log),
        Entry::Judge(asked) => push_answers(text, asked),
    }
}

/// Appends the request to the gateway, its response, and the reason why the wait ended.
fn push_exchange(text: &mut String, exchange: &Exchange, ended: &str) {
    let Exchange { address, sent, status, answer } = exchange;
    text.push_str(&format!("\n### Gateway\n\nPOST {}\n\n", markdown::inline(address)));
    text.push_str(&fenced(&sent.text, "json", sent.cut));
    text.push_str(&format!("\n{}", status_line(*status)));
    if let Some(answer) = answer.as_ref().filter(|answer| !answer.text.is_empty()) {
        let is_json = answer.text.trim_start().starts_with(['{', '[']);
        text.push_str(&format!("\n{}", fenced(&answer.text, if is_json { "json" } else { "text" }, answer.cut)));
    }
    text.push_str(&format!("\nThe run {ended}.\n"));
}

fn status_line(status: Option<u16>) -> String {
    status.map_or_else(|| "no response\n".to_owned(), |status| format!("responded with status {status}\n"))
}

fn push_turn(text: &mut String, number: usize, turn: &Turn, steps: &[Step<'_>]) {
    let took = turn.duration_ms.map_or_else(String::new, |it| format!(" · {}", duration_ms(it)));
    let usage = turn.usage.map_or_else(String::new, |usage| format!(" · {}", spent(usage)));
    text.push_str(&format!("\n### Turn {number}{took}{usage}\n"));
    if let Some(user) = &turn.user {
        text.push_str(&format!("\n**User**\n\n{}", quoted(user)));
    }
    if !turn.text.text.trim().is_empty() {
        text.push_str(&format!("\n{}", quoted(&turn.text)));
    }
    for step in steps {
        match step {
            Step::Command(ran) => push_command(text, ran),
            Step::Call(call) => push_call(text, call),
        }
    }
}

fn push_call(text: &mut String, call: &ToolCall) {
    let arguments = shown_value(&call.arguments).to_string();
    text.push_str(&format!("\n{}\n\n{}", markdown::inline(&shown(&call.name)), fenced(&arguments, "json", false)));
    if let Some(result) = &call.result {
        text.push_str(&format!("\nresult:\n\n{}", fenced(&shown_value(result).to_string(), "json", false)));
    }
}

fn push_command(text: &mut String, ran: &Ran) {
    text.push_str(&format!("\n{}", fenced(&ran.command.text, "sh", ran.command.cut)));
    text.push_str(&format!("\n{}\n", end_of(ran)));
    for (name, stream) in streams(ran) {
        text.push_str(&format!("\n{name}:\n\n{}", fenced(&stream.text, "text", stream.cut)));
    }
}

fn push_files(text: &mut String, log: &FileLog) {
    text.push_str("\n### Files\n\n");
    for file in &log.files {
        let what = file.change.as_str();
        let size = file.size.map_or_else(String::new, |size| format!(", {size} bytes"));
        text.push_str(&format!("- {} {what}{size}\n", markdown::inline(&file.path)));
    }
    if log.cut {
        text.push_str("- and more\n");
    }
}

fn push_answers(text: &mut String, asked: &JudgeAnswers<'_>) {
    text.push_str(&format!("\n### Judge {}\n", markdown::inline(&asked.judge)));
    let replies = match asked.replies {
        Ok(replies) => replies,
        Err(reason) => {
            text.push_str(&format!("\nno answer: {reason}\n"));
            return;
        }
    };
    for reply in replies {
        match &reply.error {
            Some(error) => text.push_str(&format!("\nno answer: {error}\n")),
            None => text.push_str(&format!("\n{}", fenced(&shown(&reply.text.text), "text", reply.text.cut))),
        }
        if let Some(usage) = reply.usage {
            text.push_str(&format!("\n{}\n", spent(usage)));
        }
    }
}

fn quoted(capture: &Capture) -> String {
    let (shown, note) = shortened(&capture.text, capture.cut);
    let lines: String = shown.trim().lines().map(|line| format!("> {line}\n")).collect();
    lines + &note
}

/// Returns a text in a code fence that the text itself cannot close, cut to a useful length.
fn fenced(text: &str, language: &str, is_cut: bool) -> String {
    let (shown, note) = shortened(text, is_cut);
    let fence = markdown::fence(shown);
    format!("{fence}{language}\n{}\n{fence}\n{note}", shown.trim_end_matches(['\r', '\n']))
}

fn shortened(text: &str, is_cut: bool) -> (&str, String) {
    let (shown, left_out) = beginning(text, MAX_LINES, MAX_BYTES);
    let note = match (left_out > 0, is_cut) {
        (true, _) => "\n(truncated; `speclens recordings show` prints everything)\n".to_owned(),
        (false, true) => format!("\n{}", super::TRUNCATED_NOTE),
        (false, false) => String::new(),
    };
    (shown, note)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

pub(super) fn score(verdict: &Verdict) -> String {
    verdict.score.map_or_else(String::new, |score| format!(" (score {})", number_text(score)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::expect;
    use speclens_runner::event::StoredEvidence;
    use speclens_schema::{
        evidence::{
            Answer, AskedModel, Change, ChangedFile, CommandLog, Ended, Evidence, Exit, FileLog, ModelReply, Need,
            Observation, QuestionAnswer, QuestionNeed, QuestionPart, Turn, Usage,
        },
        judge::Judged,
        suite::Subject,
        verdict::{Mismatch, Status, Verdict},
    };

    use super::*;

    fn attempt(status: Status, repeat: u32, evidence: Evidence, outcome: Outcome) -> RunResult {
        let verdict = Verdict::of("ran", "ran `git status`", outcome);
        RunResult {
            verdicts: vec![Judged { claim: 0, verdict }],
            evidence: StoredEvidence::Memory(Arc::new(evidence)),
            ..RunResult::of(&Subject::model("local/one", None), repeat, status)
        }
    }

    fn worked() -> Evidence {
        let arguments = serde_json::json!({ "command": "cat notes.md" });
        let call = ToolCall { id: "1".to_owned(), name: "run_command".to_owned(), arguments, result: None };
        let ran = Ran {
            command: Capture::whole("cat notes.md"),
            exit: Some(Exit { code: Some(0), signal: None }),
            stdout: Some(Capture::whole("```sh\nls\n```\n")),
            duration_ms: Some(12.0),
            ..Ran::default()
        };
        let file = ChangedFile {
            path: "out.txt".to_owned(),
            change: Change::Created,
            size: Some(5),
            digest: None,
            text: None,
        };
        Evidence {
            turns: vec![
                Turn { text: Capture::whole("I look first."), calls: vec![call], ..Turn::default() },
                Turn { text: Capture::whole("Done."), ..Turn::default() },
            ],
            commands: Some(CommandLog { commands: vec![ran], ..CommandLog::default() }),
            files: Some(FileLog { files: vec![file], ..FileLog::default() }),
            ended: Some(Ended::Done),
            duration_ms: Some(1500.0),
            usage: Some(Usage { input_tokens: 10, output_tokens: 2, cost_usd: Some(0.01) }),
            ..Evidence::default()
        }
    }

    #[test]
    fn verdicts_stay_when_the_recording_is_gone() {
        let gone = RunResult {
            evidence: StoredEvidence::Nowhere,
            ..attempt(Status::Pass, 0, Evidence::default(), Outcome::Pass)
        };
        for text in [page("commits", &[&gone]), super::super::transcript("commits", &gone)] {
            assert!(text.contains("the recording no longer exists") && text.contains("✓ ran `git status`"), "{text}");
        }
    }

    #[test]
    fn page_goes_turn_by_turn_and_failing_attempts_come_first() {
        let mismatch = Mismatch { message: "`git status` did not run".to_owned(), ..Mismatch::default() };
        let failed = attempt(Status::Fail, 1, worked(), Outcome::Fail(mismatch));
        let passed = attempt(Status::Pass, 0, Evidence::default(), Outcome::Pass);
        expect![[r#"
            # list the notes

            ## ✗ local/one, attempt 2

            - took 1.5 s
            - 10 input and 2 output tokens, $0.0100
            - ended when the agent was done

            ### Assertions

            - ✗ ran `git status`

              ```text
              `git status` did not run
              ```

            ### Turn 1

            > I look first.

            ```sh
            cat notes.md
            ```

            ended with exit code 0, after 12 ms

            standard output:

            ````text
            ```sh
            ls
            ```
            ````

            ### Turn 2

            > Done.

            ### Files

            - `out.txt` created, 5 bytes

            ## ✓ local/one


            ### Assertions

            - ✓ ran `git status`
        "#]]
        .assert_eq(&page("list\nthe notes", &[&passed, &failed]));
    }

    #[test]
    fn judge_is_shown_with_each_answer_or_why_there_is_none() {
        let asked = |criterion: &str, answer| {
            let peer = AskedModel::of_id("local/judge").unwrap();
            let parts = vec![QuestionPart::Text(criterion.to_owned())];
            Observation { need: Need::Question(QuestionNeed { peer, parts, ..QuestionNeed::default() }), answer }
        };
        let usage = Some(Usage { input_tokens: 70, output_tokens: 9, cost_usd: None });
        let reply = ModelReply { text: Capture::whole("{\"score\": 1}"), usage, ..ModelReply::default() };
        let failed = ModelReply { error: Some("status 500".to_owned()), ..ModelReply::default() };
        let evidence = Evidence {
            observations: vec![
                asked("one", Answer::Question(QuestionAnswer { replies: vec![reply, failed] })),
                asked("two", Answer::Nothing("the key is not set".to_owned())),
            ],
            ..Evidence::default()
        };
        let mut scored = attempt(Status::Pass, 0, evidence, Outcome::Pass);
        scored.verdicts[0].verdict.score = Some(0.75);
        expect![[r##"
            # t

            ## ✓ local/one


            ### Assertions

            - ✓ ran `git status` (score 0.75)

            ### Judge `local/judge`

            ```text
            {"score": 1}
            ```

            70 input and 9 output tokens

            no answer: status 500

            ### Judge `local/judge`

            no answer: the key is not set
        "##]]
        .assert_eq(&page("t", &[&scored]));
    }

    #[test]
    fn long_text_is_cut_with_a_note() {
        let long = "line\n".repeat(MAX_LINES + 1);
        let shown = fenced(&long, "text", false);
        assert_eq!(shown.matches("line").count(), MAX_LINES);
        assert!(shown.contains("speclens recordings show"), "{shown}");
        let wide = "ä".repeat(MAX_BYTES);
        assert!(fenced(&wide, "text", false).len() < MAX_BYTES + 200);
    }
}
