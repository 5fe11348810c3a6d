//! The values that recorded evidence holds, for fields that say with `x-seen` which kind of evidence feeds them.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    acceptable::{self, Amount, Limit},
    check::{fragment::shared_fragment, text::length},
    document::{Document, ScalarRules},
    evidence::{Answer, Capture, Content, Evidence, PathState, Ran, Span, SpanKind, ToolCall, TraceAnswer, has_hidden},
    files,
    quoting::show,
    shape::Seen,
    template::trimmed_placeholders,
};

/// A value, and the number of attempts in which it was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenValue {
    pub value: Value,
    pub attempts: usize,
}

/// Maximum number of values of a field.
const MAX_VALUES: usize = 50;

/// Maximum number of lines that are taken from the beginning of a text, and from its end.
const MAX_LINES: usize = 500;

/// Maximum size in bytes of texts that are searched for what they have in common.
const MAX_COMMON_BYTES: usize = 64 * 1024;

/// Maximum number of characters of a text.
const MAX_CHARACTERS: usize = 200;

/// Returns the values that feed a field, those of most attempts first. `path` is the file that the field is about.
pub fn values(seen: Seen, attempts: &[Arc<Evidence>], path: Option<&str>) -> Vec<SeenValue> {
    let texts = |of: &dyn Fn(&Evidence) -> Vec<String>| {
        let all = attempts.iter().map(|evidence| of(evidence).into_iter().map(Value::from).collect());
        counted(all.collect())
    };
    let limit = |amount: Amount, of: &dyn Fn(&Evidence) -> Option<f64>| -> Vec<SeenValue> {
        let most = attempts.iter().filter_map(|evidence| of(evidence)).reduce(f64::max);
        let limit = most.and_then(|most| acceptable::limit(Limit::Most, most, amount));
        limit.map(|limit| SeenValue { value: limit.value, attempts: attempts.len() }).into_iter().collect()
    };
    let found = match seen {
        Seen::Commands => patterns(attempts),
        Seen::Output => with_fragment(texts(&|evidence| lines(&output(evidence))), attempts),
        Seen::WholeOutput => texts(&|evidence| vec![output(evidence).trim().to_owned()]),
        Seen::Errors => {
            texts(&|evidence| last(evidence).and_then(|ran| ran.stderr.as_ref()).map_or(Vec::new(), of_capture))
        }
        Seen::ExitCodes => counted(attempts.iter().map(|evidence| exit_code(evidence).into_iter().collect()).collect()),
        Seen::Files => {
            texts(&|evidence| evidence.files.iter().flat_map(|log| &log.files).map(|file| file.path.clone()).collect())
        }
        Seen::Lines => texts(&|evidence| contents(evidence, path).iter().flat_map(|text| lines(text)).collect()),
        Seen::Tools => texts(&|evidence| tools(evidence)),
        Seen::Models => texts(&|evidence| {
            let spans = spans(evidence).filter(|span| span.kind == SpanKind::Llm);
            spans.map(|span| span.model.clone().unwrap_or_else(|| span.name.clone())).collect()
        }),
        Seen::Spans => texts(&|evidence| spans(evidence).map(|span| span.name.clone()).collect()),
        Seen::Status => counted(
            fields(attempts, path)
                .into_iter()
                .map(|all| all.into_iter().filter_map(|mut it| it.remove("status")).collect())
                .collect(),
        ),
        Seen::Fields => Vec::new(),
        Seen::Duration => limit(Amount::Measured, &|evidence| evidence.duration_ms),
        Seen::Cost => limit(Amount::Measured, &|evidence| evidence.usage.as_ref()?.cost_usd),
        Seen::Length => limit(Amount::Counted, &|evidence| Some(length(&evidence.output.as_ref()?.text) as f64)),
    };
    found.into_iter().filter(|seen| is_short(&seen.value)).take(MAX_VALUES).collect()
}

/// Whether a value fits on a line, and no secret is masked in it.
fn is_short(value: &Value) -> bool {
    let fits = |text: &str| !text.is_empty() && !text.contains(['\n', '\r']) && text.chars().count() <= MAX_CHARACTERS;
    !has_hidden(value) && value.as_str().is_none_or(fits)
}

/// Counts the attempts with each value, in the order in which they were observed.
fn counted(attempts: Vec<Vec<Value>>) -> Vec<SeenValue> {
    let mut found: Vec<SeenValue> = Vec::new();
    let mut places: HashMap<String, (usize, usize)> = HashMap::new();
    for (attempt, values) in attempts.into_iter().enumerate() {
        for value in values {
            let (place, last) = *places.entry(value.to_string()).or_insert((found.len(), usize::MAX));
            if place == found.len() {
                found.push(SeenValue { value: value.clone(), attempts: 0 });
            }
            if last != attempt {
                found[place].attempts += 1;
                places.insert(value.to_string(), (place, attempt));
            }
        }
    }
    found.sort_by_key(|seen| std::cmp::Reverse(seen.attempts));
    found
}

/// Adds what all outputs have in common, if no line of them is.
fn with_fragment(mut found: Vec<SeenValue>, attempts: &[Arc<Evidence>]) -> Vec<SeenValue> {
    let outputs: Vec<String> = attempts.iter().map(|evidence| output(evidence)).collect();
    let texts: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let is_everywhere = found.first().is_none_or(|first| first.attempts == attempts.len());
    let is_sought = !is_everywhere && texts.iter().all(|text| text.len() <= MAX_COMMON_BYTES);
    if let Some(fragment) = is_sought.then(|| shared_fragment(&texts)).flatten() {
        found.insert(0, SeenValue { value: fragment.into(), attempts: attempts.len() });
    }
    found
}

fn last(evidence: &Evidence) -> Option<&Ran> {
    evidence.commands.as_ref()?.commands.last()
}

fn output(evidence: &Evidence) -> String {
    let of_command = || Some(last(evidence)?.stdout.as_ref()?.hidden_text().into_owned());
    let of_reply = || Some(evidence.output.as_ref()?.text.clone());
    of_command().or_else(of_reply).unwrap_or_default()
}

fn exit_code(evidence: &Evidence) -> Option<Value> {
    last(evidence)?.exit?.shell_code().map(Value::from)
}

fn of_capture(capture: &Capture) -> Vec<String> {
    lines(&capture.hidden_text())
}

/// Returns the lines of a text; of a long one, those at its beginning and at its end.
fn lines(text: &str) -> Vec<String> {
    let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (first, rest) = all.split_at(all.len().min(MAX_LINES));
    let last = &rest[rest.len().saturating_sub(MAX_LINES)..];
    first.iter().chain(last).map(|line| (*line).to_owned()).collect()
}

fn tools(evidence: &Evidence) -> Vec<String> {
    let called = spans(evidence).filter(|span| span.kind == SpanKind::Tool).map(|span| span.name.clone());
    calls(evidence).map(|call| call.name.clone()).chain(called).collect()
}

fn calls(evidence: &Evidence) -> impl Iterator<Item = &ToolCall> {
    evidence.output.iter().flat_map(|output| &output.tool_calls)
}

fn spans(evidence: &Evidence) -> impl Iterator<Item = &Span> {
    let traces = evidence.observations.iter().filter_map(|observed| match &observed.answer {
        Answer::Trace(TraceAnswer::Found(trace)) => Some(trace),
        Answer::Trace(TraceAnswer::Missing(_))
        | Answer::Path(_)
        | Answer::Command(_)
        | Answer::Files(_)
        | Answer::Log(_)
        | Answer::Variables(_)
        | Answer::Response(_)
        | Answer::Question(_)
        | Answer::Nothing(_) => None,
    });
    traces.flat_map(|trace| &trace.spans)
}

/// Returns the texts of the files that a path means, whose placeholders may have any value.
fn contents(evidence: &Evidence, path: Option<&str>) -> Vec<String> {
    let Some(path) = path else { return Vec::new() };
    let mut pattern = path.to_owned();
    for placeholder in trimmed_placeholders(path).iter().rev() {
        pattern.replace_range(placeholder.range(), "*");
    }
    let is_meant = |found: &str| found == path || files::matches(&pattern, found);
    let mut found: Vec<&Capture> = Vec::new();
    for observed in &evidence.observations {
        match (&observed.answer, &observed.need) {
            (Answer::Files(answer), _) => {
                found.extend(
                    answer.files.iter().filter(|file| is_meant(&file.path)).filter_map(|file| text_in(&file.content)),
                );
            }
            (Answer::Path(PathState::File { content }), crate::evidence::Need::Path { path, .. }) if is_meant(path) => {
                found.extend(text_in(content));
            }
            (
                Answer::Path(_)
                | Answer::Command(_)
                | Answer::Log(_)
                | Answer::Variables(_)
                | Answer::Response(_)
                | Answer::Trace(_)
                | Answer::Question(_)
                | Answer::Nothing(_),
                _,
            ) => {}
        }
    }
    let changed = evidence.files.iter().flat_map(|log| &log.files).filter(|file| is_meant(&file.path));
    found.extend(changed.filter_map(|file| file.text.as_ref()));
    found.into_iter().map(|text| text.hidden_text().into_owned()).collect()
}

fn text_in(content: &Option<Content>) -> Option<&Capture> {
    match content {
        Some(Content::Text(text)) => Some(text),
        Some(Content::Unreadable(_)) | None => None,
    }
}

/// Returns the mappings whose keys a field has, of each attempt: the arguments of each call to a tool.
pub fn arguments(attempts: &[Arc<Evidence>], tool: &str) -> Vec<Vec<Map<String, Value>>> {
    let of = |evidence: &Arc<Evidence>| {
        let calls = calls(evidence).filter(|call| call.name == tool);
        calls.filter_map(|call| call.arguments.as_object().cloned()).collect()
    };
    attempts.iter().map(of).collect()
}

/// Returns the keys of a file of each attempt, `a.b` for one inside of another.
pub fn fields(attempts: &[Arc<Evidence>], path: Option<&str>) -> Vec<Vec<Map<String, Value>>> {
    let read = |text: String| {
        let document = Document::read(&text, ScalarRules::Yaml11);
        let Value::Object(members) = document.root()?.to_value().ok()? else { return None };
        let mut flat = Map::new();
        flatten("", members, &mut flat);
        Some(flat)
    };
    attempts.iter().map(|evidence| contents(evidence, path).into_iter().filter_map(read).collect()).collect()
}

fn flatten(above: &str, members: Map<String, Value>, found: &mut Map<String, Value>) {
    for (key, value) in members {
        let key = format!("{above}{key}");
        match value {
            Value::Object(members) => flatten(&format!("{key}."), members, found),
            Value::Null | Value::Array(_) => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                found.insert(key, value);
            }
        }
    }
}

/// Returns the values of a key in mappings of each attempt.
pub fn values_of(attempts: &[Vec<Map<String, Value>>], steps: &[String]) -> Vec<SeenValue> {
    let of = |members: &Map<String, Value>| {
        let (first, rest) = steps.split_first()?;
        rest.iter().try_fold(members.get(first)?, |value, step| value.get(step)).cloned()
    };
    let all = attempts.iter().map(|mappings| mappings.iter().filter_map(of).collect());
    let fits = |seen: &SeenValue| is_short(&seen.value) && show(&seen.value).chars().count() <= MAX_CHARACTERS;
    counted(all.collect()).into_iter().filter(fits).take(MAX_VALUES).collect()
}

/// Returns patterns of the commands that ran. Where commands differ only in digits and absolute paths between attempts,
/// one pattern matches all of them.
fn patterns(attempts: &[Arc<Evidence>]) -> Vec<SeenValue> {
    let mut groups: Vec<(Vec<Part>, Vec<usize>)> = Vec::new();
    for (attempt, evidence) in attempts.iter().enumerate() {
        for command in evidence.commands.iter().flat_map(|log| &log.commands) {
            let text = command.command.hidden_text();
            let text = text.trim();
            if !is_short(&text.into()) {
                continue;
            }
            let parts = parts(text);
            match groups
                .iter_mut()
                .find(|(known, seen)| alike(known, &parts) && (!seen.contains(&attempt) || *known == parts))
            {
                Some((known, seen)) => {
                    for (known, part) in known.iter_mut().zip(&parts) {
                        if known.text != part.text {
                            known.varies = true;
                        }
                    }
                    if !seen.contains(&attempt) {
                        seen.push(attempt);
                    }
                }
                None => groups.push((parts, vec![attempt])),
            }
        }
    }
    groups.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.len()));
    let pattern = |(parts, seen): (Vec<Part>, Vec<usize>)| SeenValue {
        value: parts.iter().map(Part::pattern).collect::<String>().into(),
        attempts: seen.len(),
    };
    groups.into_iter().map(pattern).collect()
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    kind: PartKind,
    text: String,
    /// Whether it is another text in other attempts.
    varies: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Text,
    Digits,
    Path,
}

impl Part {
    fn pattern(&self) -> String {
        match (self.kind, self.varies) {
            (PartKind::Digits, true) => r"\d+".to_owned(),
            (PartKind::Path, true) => r"/\S+".to_owned(),
            (PartKind::Text | PartKind::Digits | PartKind::Path, _) => escaped(&self.text),
        }
    }
}

/// Whether two commands differ only in digits and paths.
fn alike(one: &[Part], other: &[Part]) -> bool {
    let is_same =
        |(one, other): (&Part, &Part)| one.kind == other.kind && (one.kind != PartKind::Text || one.text == other.text);
    one.len() == other.len() && one.iter().zip(other).all(is_same)
}

/// Splits a command into digits, absolute paths and the texts between them.
fn parts(command: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = command;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length_while = |is: fn(char) -> bool| rest.find(|letter| !is(letter)).unwrap_or(rest.len());
        let is_start = before.is_whitespace() || "='\"(".contains(before);
        let (kind, length) = if first.is_ascii_digit() {
            (PartKind::Digits, length_while(|letter| letter.is_ascii_digit()))
        } else if first == '/' && is_start {
            (PartKind::Path, length_while(|letter| !letter.is_whitespace() && !"'\";|&)".contains(letter)))
        } else {
            (PartKind::Text, first.len_utf8())
        };
        let (text, more) = rest.split_at(length);
        before = text.chars().next_back().unwrap_or(before);
        match parts.last_mut().filter(|last| last.kind == PartKind::Text && kind == PartKind::Text) {
            Some(last) => last.text.push_str(text),
            None => parts.push(Part { kind, text: text.to_owned(), varies: false }),
        }
        rest = more;
    }
    parts
}

/// Returns a pattern that matches a text only.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\^$.|?*+()[]{}".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check::pattern::EcmaPattern, evidence::CommandLog, json_schema::SpecFile};

    fn attempts(commands: &[&[&str]]) -> Vec<Arc<Evidence>> {
        let ran = |command: &&str| Ran { command: Capture::whole(*command), ..Ran::default() };
        let evidence = |commands: &&[&str]| {
            let log = CommandLog { commands: commands.iter().map(ran).collect(), ..CommandLog::default() };
            Arc::new(Evidence { commands: Some(log), ..Evidence::default() })
        };
        commands.iter().map(evidence).collect()
    }

    fn check_declared(schema: &'static Value) {
        match schema {
            Value::Object(keywords) => {
                if let Some(seen) = keywords.get("x-seen") {
                    assert!(Seen::read(seen).is_some(), "{seen}");
                }
                keywords.values().for_each(check_declared);
            }
            Value::Array(items) => items.iter().for_each(check_declared),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn kinds_of_evidence_that_fields_declare_exist() {
        SpecFile::ALL.iter().for_each(|file| check_declared(file.schema()));
    }

    #[test]
    fn lines_of_a_long_text_are_those_at_its_beginning_and_at_its_end() {
        let text = |count: usize| (0..count).map(|number| format!("  line {number}\n\n")).collect::<String>();
        assert_eq!(lines(&text(3)), ["line 0", "line 1", "line 2"]);
        assert_eq!(lines(&text(2 * MAX_LINES)).len(), 2 * MAX_LINES);
        let long = lines(&text(5 * MAX_LINES));
        assert_eq!((long.len(), &*long[MAX_LINES - 1]), (2 * MAX_LINES, "line 499"));
        assert_eq!((&*long[MAX_LINES], &*long[2 * MAX_LINES - 1]), ("line 2000", "line 2499"));
        assert_eq!(lines(""), [""; 0]);
    }

    #[test]
    fn pattern_of_commands_matches_all_of_them() {
        for (commands, expected) in [
            (&[&["git commit -m 'a (b)'"][..]][..], &[(r"git commit -m 'a \(b\)'", 1)][..]),
            (&[&["sleep 3; kill 12"], &["sleep 3; kill 345"]], &[(r"sleep 3; kill \d+", 2)]),
            (&[&["cat /tmp/a1/x.md"], &["cat /tmp/b/x.md"]], &[(r"cat /\S+", 2)]),
            (&[&["ls", "ls"], &["pwd", "ls"]], &[("ls", 2), ("pwd", 1)]),
            // Two commands of one attempt stay two.
            (&[&["kill 1", "kill 2"]], &[("kill 1", 1), ("kill 2", 1)]),
        ] {
            let attempts = attempts(commands);
            let found = values(Seen::Commands, &attempts, None);
            let found: Vec<(&str, usize)> =
                found.iter().map(|seen| (seen.value.as_str().expect("a text"), seen.attempts)).collect();
            assert_eq!(found, expected);
            for command in commands.iter().copied().flatten() {
                let is_matched = |pattern: &str| {
                    EcmaPattern::compile(pattern, false).expect("a pattern").find_iter(command).next().is_some()
                };
                assert!(found.iter().any(|(pattern, _)| is_matched(pattern)), "{command}");
            }
        }
    }
}
