//! `speclens recordings show`: shows the recordings of a test.

use std::{fmt::Write, path::PathBuf, time::Duration};

use anyhow::{bail, ensure};
use serde_json::{Value, json};
use speclens_runner::{
    evidence_store::{AttemptRef, FOREIGN_NOTE},
    recording::Recording,
    report::{
        human::duration,
        json, plain,
        timeline::{ended_by, spent},
        waterfall::Waterfall,
    },
};
use speclens_schema::{
    evidence::{Capture, Ended, Evidence, Exchange, FileLog, TraceAnswer},
    judge::{self, Judged},
    suite::Case,
    words::{nearest, plural},
};

use super::inventory::{DirectoryOfRecordings, Item, RecordingInventory, State, age, inventory, size, who};
use crate::cli::{
    INVALID, PASSED,
    output::{self, Format},
};

/// The options of `speclens recordings show`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_name = "TEST")]
    test: String,
    /// Suite, or directory to search (repeatable)
    #[arg(long = "path", value_name = "SUITE")]
    paths: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// A recording, as far as it can be read, and the reason why it is not judged as it is.
struct Read<'s> {
    shelf: &'s DirectoryOfRecordings,
    at: usize,
    item: &'s Item,
    recording: Option<Recording>,
    message: Option<String>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let RecordingInventory { shelves, failures } = inventory(&args.paths);
    let mut found: Vec<Read<'_>> = Vec::new();
    for shelf in &shelves {
        let test = shelf.secrets.mask(&args.test);
        let is_meant = |item: &Item| item.test.as_ref() == Some(&test) || item.recorded_as.as_ref() == Some(&test);
        let items = shelf.items.iter().filter(|(_, item)| is_meant(item));
        found.extend(items.map(|(at, item)| Read::of(shelf, *at, item)));
    }
    if found.is_empty() {
        // A recording that could not be read was reported, and may contain the test.
        ensure!(failures.is_empty(), "no readable recording of `{}`", args.test);
        return not_found(&args.test, &shelves);
    }
    let text = match args.format {
        Format::Human => found.iter().map(human).collect::<Vec<_>>().join("\n"),
        Format::Json => {
            let recordings: Vec<Value> = found.iter().map(entry).collect();
            output::json(&json!({ "speclens": 1, "recordings": recordings, "failures": failures }))?
        }
    };
    output::print(&text)?;
    Ok(if failures.is_empty() { PASSED } else { INVALID })
}

fn not_found(test: &str, shelves: &[DirectoryOfRecordings]) -> anyhow::Result<u8> {
    let tests = shelves.iter().flat_map(|shelf| shelf.items.values().filter_map(|item| item.test.as_deref()));
    match nearest(test, tests) {
        Some(near) => bail!("no recording of the test `{test}`; did you mean `{near}`?"),
        None => {
            bail!("no recording of the test `{test}`; run it first (`speclens recordings list` lists all recordings)")
        }
    }
}

impl Read<'_> {
    /// Returns the verdicts of the current assertions; none for a recording that is not judged.
    fn verdicts(&self) -> Vec<Judged> {
        let (Some(recording), State::Fresh, Some(case)) = (&self.recording, self.item.state, self.case()) else {
            return Vec::new();
        };
        judge::judge(case, &recording.evidence, &self.shelf.secrets)
    }

    fn case(&self) -> Option<&Case> {
        self.item.case.map(|(suite, case)| &*self.shelf.suites[suite].report.suite.cases[case])
    }

    fn of<'s>(shelf: &'s DirectoryOfRecordings, at: usize, item: &'s Item) -> Read<'s> {
        let entry = &shelf.entries[at];
        let (recording, message) = match shelf.recordings.read(&entry.path, item.dialect, &shelf.secrets) {
            Ok(recording) => {
                let message = unusable_reason(shelf, item, &recording);
                (Some(recording), message)
            }
            Err(error) => (None, Some(error.sentence())),
        };
        Read { shelf, at, item, recording, message }
    }
}

fn unusable_reason(shelf: &DirectoryOfRecordings, item: &Item, recording: &Recording) -> Option<String> {
    match (item.state, item.case) {
        (State::Fresh, _) => None,
        (State::Stale, Some((suite, case))) => {
            let suite = &shelf.suites[suite].report.suite;
            let (subject, repeat) = (&recording.subject, recording.repeat);
            Some(AttemptRef { suite, case: &suite.cases[case], subject, repeat }.stale(&recording.act))
        }
        (state, _) => Some(state.words().to_owned()),
    }
}

/// Returns a recording in JSON, with its content and the verdicts of the current assertions.
fn entry(read: &Read<'_>) -> Value {
    let recorded = read.recording.as_ref().map(|recording| {
        let content = json!({
            "duration_ms": recording.evidence.duration_ms,
            "error": recording.evidence.error.as_ref().map(|error| &error.message),
            "notes": notes(read, recording),
            "evidence": json::evidence(&recording.evidence),
            "verdicts": Some(verdicts(read)).filter(|verdicts| !verdicts.is_empty()),
        });
        json::without_null(content, &["verdicts"])
    });
    let mut entry = read.shelf.entry(read.at, read.item);
    entry["message"] = json!(read.message);
    entry["recorded"] = json!(recorded);
    json::without_null(entry, &["message", "recorded"])
}

fn verdicts(read: &Read<'_>) -> Vec<Value> {
    let Some((suite, case)) = read.item.case else { return Vec::new() };
    let report = &read.shelf.suites[suite].report;
    json::verdicts(report, &report.suite.cases[case], &read.verdicts())
}

fn notes(read: &Read<'_>, recording: &Recording) -> Vec<String> {
    let foreign = read.shelf.recordings.is_foreign(recording.machine.as_ref()).then(|| FOREIGN_NOTE.to_owned());
    recording.notes.iter().map(|note| read.shelf.secrets.mask(note)).chain(foreign).collect()
}

fn human(read: &Read<'_>) -> String {
    let Read { shelf, at, item, recording, message } = read;
    let entry = &shelf.entries[*at];
    let test = plain::line(item.test.as_deref().unwrap_or_default());
    let suite = shelf.heading(*at, item);
    let about = entry.about.as_ref().map(|about| format!(" ({})", who(&about.subject, about.repeat)));
    let state = message.clone().unwrap_or_else(|| item.state.words().to_owned());
    let mut text = format!("{test}{} in {suite}: {}\n", about.unwrap_or_default(), plain::block(&state));
    let mut say = |name: &str, value: &str| {
        let gap = if value.starts_with('\n') { "" } else { " " };
        let _ = writeln!(text, "  {name}:{gap}{}", plain::block(value).replace('\n', "\n    "));
    };
    if let Some(name) = &item.recorded_as {
        say("recorded as", name);
    }
    say("began", &format!("{} ({})", entry.began(), age(entry.age())));
    say("file", &crate::cli::load::shown(&entry.path));
    if let Some(recording) = recording {
        observed(&recording.evidence, &mut say);
        notes(read, recording).iter().for_each(|note| say("note", note));
        judged(&read.verdicts(), &mut say);
    }
    text
}

fn observed(evidence: &Evidence, say: &mut impl FnMut(&str, &str)) {
    if let Some(version) = &evidence.context.version {
        say("version", version);
    }
    if let Some(command) = &evidence.command {
        say("command", &command.command.text);
    }
    for command in evidence.commands.iter().flat_map(|log| &log.commands) {
        let exit = command.exit.map(|exit| format!(" ({})", exit.sentence()));
        say("ran", &format!("{}{}", command.command.text, exit.unwrap_or_default()));
        for (name, capture) in [("it printed", &command.stdout), ("on standard error", &command.stderr)] {
            let text = capture.as_ref().map(|capture| capture.text.trim_end()).unwrap_or_default();
            if !text.is_empty() {
                say(name, &format!("\n{}", cut(text)));
            }
        }
    }
    replies(evidence, say);
    evidence.files.iter().for_each(|log| files(log, say));
    if let Some(Exchange { address, sent, status, answer }) = &evidence.exchange {
        say("asked", &format!("POST {address}\n{}", cut(sent.text.trim_end())));
        say("answered", &status.map_or_else(|| "nothing".to_owned(), |status| format!("status {status}")));
        let text = answer.as_ref().map(|answer| answer.text.trim_end()).unwrap_or_default();
        if !text.is_empty() {
            say("with", &format!("\n{}", cut(text)));
        }
    }
    if let Some(ended) = evidence.ended.filter(|ended| *ended != Ended::Exit) {
        say("run", ended_by(ended));
    }
    match evidence.trace() {
        Some(TraceAnswer::Found(trace)) => say("spans", &format!("\n{}", Waterfall::of(trace).lines().join("\n"))),
        Some(TraceAnswer::Missing(reason)) => say("spans", reason),
        None => {}
    }
    let took = evidence.duration_ms.map(|millis| duration(Duration::from_secs_f64((millis / 1000.0).max(0.0))));
    let took = took.map(|took| format!(", after {took}")).unwrap_or_default();
    if let Some(exit) = evidence.exit() {
        say("exit", &format!("{}{took}", exit.sentence()));
    }
    if let Some(error) = &evidence.error {
        say("error", &error.message);
    }
    stream("standard output", evidence.stdout(), say);
    stream("standard error", evidence.stderr(), say);
}

fn replies(evidence: &Evidence, say: &mut impl FnMut(&str, &str)) {
    for (index, turn) in evidence.turns.iter().enumerate() {
        let took = turn.duration_ms.map(|millis| duration(Duration::from_secs_f64((millis / 1000.0).max(0.0))));
        let calls = Some(turn.calls.len()).filter(|calls| *calls > 0).map(|calls| plural(calls, "call"));
        let facts: Vec<String> = [took, calls, turn.usage.map(spent)].into_iter().flatten().collect();
        let text = turn.text.text.trim();
        let text = if text.is_empty() { String::new() } else { format!("\n{}", cut(text)) };
        say(&format!("turn {}", index + 1), &format!("{}{text}", facts.join(", ")));
    }
    if let Some(usage) = evidence.usage {
        say("usage", &spent(usage));
    }
}

fn files(log: &FileLog, say: &mut impl FnMut(&str, &str)) {
    for file in &log.files {
        let size = file.size.map(|bytes| format!(", {}", size(bytes))).unwrap_or_default();
        say(file.change.as_str(), &format!("{}{size}", file.path));
    }
    if log.cut {
        say("files", "and more");
    }
}

fn judged(verdicts: &[Judged], say: &mut impl FnMut(&str, &str)) {
    for Judged { verdict, .. } in verdicts {
        let message = match verdict.outcome.message() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        say(verdict.outcome.status().as_str(), &format!("{}{message}", verdict.label));
    }
}

fn cut(text: &str) -> String {
    const MAX_LINES: usize = 20;
    const MAX_CHARACTERS: usize = 2_000;
    let lines = text.lines().count();
    let kept = text.lines().take(MAX_LINES).collect::<Vec<_>>().join("\n");
    let shown: String = kept.chars().take(MAX_CHARACTERS).collect();
    if lines <= MAX_LINES && shown.len() == kept.len() {
        return shown;
    }
    format!("{shown}\n[… {} in total, see `--format json` …]", plural(text.len(), "byte"))
}

fn stream(name: &str, capture: Option<&Capture>, say: &mut impl FnMut(&str, &str)) {
    let Some(capture) = capture else { return };
    let cut = if capture.cut { ", and more that was cut off" } else { "" };
    match capture.text.trim_end_matches('\n') {
        "" if !capture.cut => say(name, "empty"),
        shown => say(&format!("{name}, {}{cut}", plural(capture.text.len(), "byte")), &format!("\n{shown}")),
    }
}
