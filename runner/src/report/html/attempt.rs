//! The timeline of an attempt: its turns, commands, calls, spans, files and judges.

use std::ops::Range;

use serde_json::Value;
use speclens_schema::{
    evidence::{
        Capture, ChangedFile, Evidence, Exchange, FileLog, LogAnswer, ModelReply, Ran, ResponseAnswer, ToolCall, Turn,
    },
    fixing,
    mask::{shown, shown_value},
    verdict::Status,
    words::plural,
};

use super::writer::Html;
use crate::report::{
    human::duration_ms,
    timeline::{Entry, JudgeAnswers, Step, beginning, end_of, facts, spent, streams, timeline},
    waterfall::{Waterfall, WaterfallRow},
};

/// The size of all timelines of a page in bytes, so that a browser opens 1,000 attempts within a second.
const PAGE_BYTES: usize = 6 << 20;

/// The room of an attempt that did not pass, in those that passed.
const WORTH: usize = 4;

/// Texts that are not longer are shown at once, others after a click.
pub(super) const OPEN_LINES: usize = 12;

const MAX_LINES: usize = 400;

/// Maximum size of the texts of a difference, in bytes: finding it takes more than linear time.
const MAX_COMPARED: usize = 64 * 1024;

/// The bytes that attempts may take in a page.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The bytes of an attempt that passed.
    share: usize,
}

impl Room {
    /// Divides a page among its attempts.
    pub fn among(attempts: impl Iterator<Item = Status>) -> Room {
        let shares: usize = attempts.map(Room::shares).sum();
        Room { share: (PAGE_BYTES / shares.max(1)).clamp(512, 128 * 1024) }
    }

    /// Returns the bytes of an attempt with this status.
    fn of(self, status: Status) -> usize {
        self.share * Room::shares(status)
    }

    /// Returns the bytes of each of its texts.
    pub(super) fn of_text(self, status: Status) -> usize {
        self.of(status) / 4
    }

    fn shares(status: Status) -> usize {
        match status {
            Status::Pass | Status::Skip => 1,
            Status::Warn | Status::Unknown | Status::Fail | Status::Error => WORTH,
        }
    }
}

/// Writes what happened in an attempt with this status. `level`: the element of its headings.
pub fn write(html: &mut Html, evidence: &Evidence, status: Status, level: &'static str, room: Room) {
    let end = html.size() + room.of(status);
    let mut view = View { html, level, max_text: room.of_text(status), end };
    view.html.element("ul", &[("class", "facts")], |html| {
        facts(evidence).iter().for_each(|fact| html.leaf("li", &[], fact));
    });
    let entries = timeline(evidence);
    for (index, entry) in entries.iter().enumerate() {
        if view.is_full() {
            let left = plural(entries.len() - index, "more part");
            return note(view.html, &format!("{left} left out to keep the page small; {SHOW}"));
        }
        view.entry(entry);
    }
}

const SHOW: &str = "`speclens recordings show` prints everything";

pub fn note(html: &mut Html, text: &str) {
    html.leaf("p", &[("class", "note")], text);
}

struct View<'h> {
    html: &'h mut Html,
    level: &'static str,
    /// The bytes of each text.
    max_text: usize,
    end: usize,
}

impl View<'_> {
    fn is_full(&self) -> bool {
        self.html.size() >= self.end
    }

    fn heading(&mut self, text: &str, aside: &[String]) {
        self.html.element(self.level, &[], |html| {
            html.push_text(text);
            if !aside.is_empty() {
                html.leaf("span", &[("class", "aside")], &format!(" · {}", aside.join(" · ")));
            }
        });
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Exchange { exchange, ended } => self.exchange(exchange, ended),
            Entry::Trace(trace) => self.waterfall(&Waterfall::of(trace)),
            Entry::NoTrace(reason) => {
                self.heading("Spans", &[]);
                note(self.html, &format!("no trace: {reason}"));
            }
            Entry::Command(ran) => {
                self.heading("Command", &[]);
                self.command(ran);
            }
            Entry::Calls(calls) => {
                self.heading("Calls", &[]);
                self.steps(&calls.iter().map(Step::Call).collect::<Vec<_>>());
            }
            Entry::Turn { number, turn, steps } => self.turn(*number, turn, steps),
            Entry::OtherCommands(commands) => {
                self.heading("Commands", &[]);
                self.steps(&commands.iter().map(|ran| Step::Command(ran)).collect::<Vec<_>>());
            }
            Entry::Gap(gap) => note(self.html, gap),
            Entry::Log(LogAnswer { path, lines, .. }) => {
                self.heading("Log", std::slice::from_ref(path));
                self.capture("log lines", lines);
            }
            Entry::Check(ran) => {
                self.heading("Command of an assertion", &[]);
                self.command(ran);
            }
            Entry::Response(ResponseAnswer { status, body, error }) => {
                self.heading("Response for an assertion", &status_words(*status));
                error.iter().for_each(|error| note(self.html, error));
                self.capture("body", body);
            }
            Entry::Files(log) => self.files(log),
            Entry::Judge(answers) => self.judge(answers),
        }
    }

    fn exchange(&mut self, exchange: &Exchange, ended: &str) {
        let Exchange { address, sent, status, answer } = exchange;
        self.heading("Gateway", &status_words(*status));
        self.html.element("p", &[], |html| {
            html.push_text("POST ");
            html.leaf("code", &[], address);
        });
        self.capture("request", sent);
        answer.iter().for_each(|answer| self.capture("response", answer));
        note(self.html, &format!("The run {ended}."));
    }

    fn turn(&mut self, number: usize, turn: &Turn, steps: &[Step<'_>]) {
        let aside: Vec<String> = turn.duration_ms.map(duration_ms).into_iter().chain(turn.usage.map(spent)).collect();
        self.heading(&format!("Turn {number}"), &aside);
        if let Some(user) = &turn.user {
            self.said("user", user);
        }
        if !turn.text.text.trim().is_empty() {
            self.said("agent", &turn.text);
        }
        self.steps(steps);
    }

    fn said(&mut self, who: &str, said: &Capture) {
        let (shown, left_out) = self.beginning(&said.text);
        self.html.element("div", &[("class", "said")], |html| {
            html.leaf("span", &[("class", "who")], who);
            html.leaf("blockquote", &[], shown.trim());
            ends(html, left_out, said.cut);
        });
    }

    fn steps(&mut self, steps: &[Step<'_>]) {
        for (index, step) in steps.iter().enumerate() {
            if self.is_full() {
                let left = plural(steps.len() - index, "more step");
                return note(self.html, &format!("{left} left out to keep the page small; {SHOW}"));
            }
            match step {
                Step::Command(ran) => self.command(ran),
                Step::Call(call) => self.call(call),
            }
        }
    }

    fn command(&mut self, ran: &Ran) {
        let (command, left_out) = self.beginning(&ran.command.text);
        let is_good = ran.exit.is_some_and(|exit| exit.code == Some(0)) && !ran.timed_out;
        let how = end_of(ran);
        self.html.element("div", &[("class", "step")], |html| {
            html.element("pre", &[("class", "command")], |html| {
                html.leaf("span", &[("class", "prompt")], "$ ");
                html.push_text(command.trim_end());
            });
            ends(html, left_out, ran.command.cut);
            html.leaf("p", &[("class", if is_good { "end" } else { "end is-bad" })], &how);
        });
        streams(ran).for_each(|(name, stream)| self.capture(name, stream));
    }

    fn call(&mut self, call: &ToolCall) {
        self.html.element("div", &[("class", "step")], |html| {
            html.element("p", &[("class", "call")], |html| {
                html.push_text("call ");
                html.leaf("code", &[], &shown(&call.name));
            });
        });
        self.value("arguments", &call.arguments);
        call.result.iter().for_each(|result| self.value("result", result));
    }

    fn value(&mut self, name: &str, value: &Value) {
        let text = match shown_value(value) {
            Value::String(text) => text,
            value => serde_json::to_string_pretty(&value).unwrap_or_default(),
        };
        self.text(name, &text, false);
    }

    fn capture(&mut self, name: &str, capture: &Capture) {
        self.text(name, &shown(&capture.text), capture.cut);
    }

    fn text(&mut self, name: &str, text: &str, is_cut: bool) {
        let (shown, left_out) = self.beginning(text);
        let lines = text.lines().count();
        block(self.html, &Block { name, shown, lines, left_out, is_cut });
    }

    fn beginning<'t>(&self, text: &'t str) -> (&'t str, usize) {
        beginning(text, MAX_LINES, self.max_text)
    }

    fn files(&mut self, log: &FileLog) {
        self.heading("Files", &[]);
        for (index, ChangedFile { path, change, size, text, .. }) in log.files.iter().enumerate() {
            if self.is_full() {
                let left = plural(log.files.len() - index, "more file");
                return note(self.html, &format!("{left} left out to keep the page small; {SHOW}"));
            }
            let size = size.map_or_else(String::new, |size| format!(", {}", plural(size as usize, "byte")));
            let name = format!("{path} {}{size}", change.as_str());
            match text {
                Some(text) => self.capture(&name, text),
                None => self.html.leaf("p", &[("class", "end")], &name),
            }
        }
        if log.cut {
            note(self.html, "other files changed as well, and were not recorded");
        }
    }

    fn judge(&mut self, answers: &JudgeAnswers<'_>) {
        self.heading("Judge", std::slice::from_ref(&answers.judge));
        match answers.replies {
            Ok(replies) => replies.iter().for_each(|reply| self.reply(reply)),
            Err(reason) => note(self.html, &format!("no answer: {reason}")),
        }
    }

    fn reply(&mut self, reply: &ModelReply) {
        match &reply.error {
            Some(error) => note(self.html, &format!("no answer: {error}")),
            None => self.capture("answer", &reply.text),
        }
        reply.usage.iter().for_each(|usage| self.html.leaf("p", &[("class", "end")], &spent(*usage)));
    }

    /// Writes a table of spans, each with a bar at its time.
    fn waterfall(&mut self, waterfall: &Waterfall<'_>) {
        self.heading("Spans", std::slice::from_ref(&waterfall.total));
        let room = [("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Spans")];
        self.html.element("div", &room, |html| {
            html.element("table", &[("class", "spans")], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        for name in ["span", "time", "duration", "tokens and cost"] {
                            html.leaf("th", &[("scope", "col")], name);
                        }
                    });
                });
                html.element("tbody", &[], |html| waterfall.rows.iter().for_each(|row| span(html, row)));
            });
        });
        waterfall.hidden.iter().for_each(|hidden| note(self.html, hidden));
    }
}

fn status_words(status: Option<u16>) -> Vec<String> {
    vec![status.map_or_else(|| "no response".to_owned(), |status| format!("status {status}"))]
}

fn span(html: &mut Html, row: &WaterfallRow<'_>) {
    let failed = if row.error.is_some() { "is-bad" } else { "" };
    html.element("tr", &[("class", failed)], |html| {
        html.element("th", &[("scope", "row"), ("class", INDENTS[row.depth.min(INDENTS.len() - 1)])], |html| {
            html.push_text(&row.name);
            row.error.iter().for_each(|error| html.leaf("span", &[("class", "error")], &format!(" ✗ {error}")));
        });
        html.element("td", &[("class", "bar")], |html| row.part.iter().for_each(|part| bar(html, part)));
        html.leaf("td", &[("class", "number")], row.took.as_deref().unwrap_or_default());
        html.leaf("td", &[("class", "number")], &row.spent.join(" "));
    });
}

const INDENTS: [&str; 11] = ["in0", "in1", "in2", "in3", "in4", "in5", "in6", "in7", "in8", "in9", "in10"];

/// Writes a bar. The table has its numbers, so that it is nothing to read.
fn bar(html: &mut Html, part: &Range<f64>) {
    let drawing = [("viewBox", "0 0 100 8"), ("preserveAspectRatio", "none"), ("aria-hidden", "true")];
    html.element("svg", &drawing, |html| {
        // Even the shortest span is visible.
        let width = ((part.end - part.start) * 100.0).max(0.7);
        let from = (part.start * 100.0).min(100.0 - width);
        let (from, width) = (format!("{from:.2}"), format!("{width:.2}"));
        html.element("rect", &[("x", &from), ("y", "0"), ("width", &width), ("height", "8")], |_| {});
    });
}

/// The beginning of a text.
struct Block<'t> {
    name: &'t str,
    shown: &'t str,
    /// The number of lines of the whole text.
    lines: usize,
    /// The number of bytes that are not shown.
    left_out: usize,
    /// Whether more was not recorded.
    is_cut: bool,
}

/// Writes a text with its name. A long one is shown after a click.
fn block(html: &mut Html, block: &Block<'_>) {
    let text = block.shown.trim_end_matches(['\r', '\n']);
    let content = |html: &mut Html| {
        html.leaf("pre", &[], text);
        ends(html, block.left_out, block.is_cut);
    };
    if block.lines <= OPEN_LINES && text.len() < 100 * OPEN_LINES {
        html.element("div", &[("class", "output")], |html| {
            html.leaf("p", &[("class", "name")], block.name);
            content(html);
        });
        return;
    }
    html.element("details", &[("class", "output")], |html| {
        html.leaf("summary", &[("class", "name")], &format!("{} ({})", block.name, plural(block.lines, "line")));
        content(html);
    });
}

/// Writes how much of a text is missing.
fn ends(html: &mut Html, left_out: usize, is_cut: bool) {
    if left_out > 0 {
        note(html, &format!("{} left out here; {SHOW}", plural(left_out, "byte")));
    }
    if is_cut {
        note(html, "the rest was not recorded: cut off at `limits.output_mib`, or by the provider of the model");
    }
}

/// Writes what differs between two texts, line by line; writes nothing if no line is the same.
pub fn difference(html: &mut Html, before: &str, after: &str) {
    let are_lines = before.contains('\n') || after.contains('\n');
    if !are_lines || before == after || before.len() + after.len() > MAX_COMPARED {
        return;
    }
    let unified_diff = fixing::unified("", before, after);
    // The first two lines name files.
    let lines: Vec<&str> = unified_diff.lines().skip(2).collect();
    if lines.iter().any(|line| line.starts_with(' ')) {
        unified(html, &lines);
    }
}

/// Writes the lines of a unified diff, without its header.
pub fn unified(html: &mut Html, diff: &[&str]) {
    // The first hunk needs no mark, and a missing line end at the end of a text is no line of it.
    let lines = || diff.iter().filter(|line| !line.starts_with('\\')).skip_while(|line| line.starts_with("@@"));
    html.element("pre", &[("class", "diff")], |html| {
        for line in lines().take(MAX_LINES) {
            match line.as_bytes().first() {
                Some(b'-') => html.leaf("del", &[], line),
                Some(b'+') => html.leaf("ins", &[], line),
                Some(b'@') => html.leaf("span", &[("class", "gap")], "⋯"),
                Some(_) | None => html.leaf("span", &[], line),
            }
        }
    });
    let more = lines().count().saturating_sub(MAX_LINES);
    if more > 0 {
        note(html, &format!("{} left out here", plural(more, "more line")));
    }
}
