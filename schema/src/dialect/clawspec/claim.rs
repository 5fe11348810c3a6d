//! What all assertions share when they are judged: what they are judged by, how they ask for what was observed, and the
//! row that they answer with.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    config::{Config, Price},
    template::{NoValue, expand},
};
use crate::{
    check::{headings, time},
    document::{NodeRef, Pointer},
    evidence::{
        Answer, Content, Context, Evidence, FilesAnswer, FilesNeed, LogAnswer, LogNeed, ModelReply, Moment, Need, Peer,
        Presence, ResponseAnswer, ResponseNeed, ScoreNeed, SeenFile, Trace, TraceAnswer, VariablesNeed,
    },
    files::{FileKind, Files},
    mask::{HIDDEN, texts_of},
    settings::{Settings, Shortfall},
    verdict::{Check, FilePlace, Mismatch, Open, Outcome, Related, Verdict},
};

/// A type of assertion: its fields are the fields of the Rust type.
pub(crate) trait AssertionType:
    Clone + Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The value of `type`.
    const NAME: &'static str;
    /// Whether `timeout` and `updated_after` have an effect.
    const WAITS: bool = false;
    /// Which of its answers hold only if the act has ended.
    const OPEN: Open = Open::Nothing;

    /// Takes from the written node what JSON cannot tell apart.
    fn adopt(&mut self, _node: NodeRef<'_>) {}

    /// Takes the content of files that are part of the claim.
    fn read(&mut self, _files: &dyn Files) {}

    /// Returns what the label adds to the type's name.
    fn subject(&self) -> String {
        String::new()
    }

    /// Returns the least score that passes, where a score decides.
    fn threshold(&self) -> Option<f64> {
        None
    }

    /// Returns what must be observed.
    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need>;

    /// Judges. An early answer is as good as a late one, so both sides of the result are the row.
    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row>;
}

/// What the assertions of one list share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// When they are judged.
    pub moment: Moment,
    /// What models cost.
    pub prices: BTreeMap<String, Price>,
    /// Who hands over to whom, in a handoff contract. The run of the callee is taken for that of the caller.
    pub handoff: Option<(String, String)>,
    /// Who gives scores, and what too low a score means.
    pub scoring: Scoring,
}

/// Who gives scores, and what too low a score means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scoring {
    /// The model that judges. `None`: the judge of the gateway does.
    pub judge: Option<Peer>,
    /// The outcome of a score below its threshold.
    pub shortfall: Shortfall,
}

impl Scoring {
    /// Reads it from the settings of a workspace.
    pub fn of(settings: &Settings) -> Scoring {
        Scoring { judge: settings.judge.as_deref().and_then(Peer::of_id), shortfall: settings.clawspec.thresholds }
    }
}

impl Scope {
    /// Returns the scope of what is judged at this moment in a workspace with these settings.
    pub fn new(moment: Moment, config: &Config, scoring: &Scoring) -> Scope {
        Scope { moment, prices: config.prices(), handoff: None, scoring: scoring.clone() }
    }

    /// Fills the templates of a text.
    pub fn expand(&self, text: &str, context: &Context) -> Result<String, NoValue> {
        expand(text, |name| match (name, &self.handoff) {
            ("handoff.from", Some((from, _))) => Some(from.as_str()),
            ("handoff.to", Some((_, to))) => Some(to.as_str()),
            (name, _) => {
                // Who is judged by one run has no other.
                let name = if self.handoff.is_some() && name == "callee_run_id" { "run_id" } else { name };
                let templates = context.templates.as_ref()?;
                let values = match self.moment {
                    Moment::Before => &templates.before,
                    Moment::After => &templates.after,
                };
                values.get(name).map(String::as_str)
            }
        })
    }

    /// Returns a question about the files at a path with wildcards.
    pub fn files(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        let pattern = self.expand(path, context).ok()?;
        Some(FilesNeed { pattern, wildcards: true, moment: self.moment, ..FilesNeed::default() })
    }

    /// Returns a question about the content of the first file at a path.
    pub fn first_file(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        let need = self.files(path, context)?;
        Some(FilesNeed { literal: true, content: true, ..need })
    }
}

/// An assertion in its place.
#[derive(Clone, Debug)]
pub(crate) struct AssertionClaim<T> {
    /// Content to write.
    pub assertion: T,
    /// Its location.
    pub scope: Arc<Scope>,
}

impl<T: AssertionType> Check for AssertionClaim<T> {
    fn needs(&self, context: &Context) -> Vec<Need> {
        self.assertion.needs(&self.scope, context)
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let seen = Seen { evidence, scope: &self.scope };
        let (Ok(row) | Err(row)) = self.assertion.judge(&seen);
        let subject = self.assertion.subject();
        let label = if subject.is_empty() { T::NAME.to_owned() } else { format!("{} {subject}", T::NAME) };
        vec![row.verdict(T::NAME, label)]
    }

    fn threshold(&self) -> Option<f64> {
        self.assertion.threshold()
    }

    fn open(&self) -> Open {
        match self.scope.moment {
            // What is checked before the act does not wait for its end.
            Moment::Before => Open::Nothing,
            Moment::After => T::OPEN,
        }
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(&self.assertion).unwrap_or_default())
    }
}

/// Maximum number of names that are listed in a help.
const MAX_LISTED: usize = 8;

/// The answer of an assertion: one row, as in the original's report, without the names of the assertion.
#[derive(Clone, Debug)]
pub struct Row(Box<Verdict>);

impl Row {
    fn new(field: &str, outcome: Outcome) -> Row {
        let at = if field.is_empty() { Pointer::root() } else { Pointer::root().key(field) };
        Row(Box::new(Verdict { at, ..Verdict::of("", "", outcome) }))
    }

    /// It holds.
    pub fn pass(field: &str) -> Row {
        Row::new(field, Outcome::Pass)
    }

    /// It does not hold.
    pub fn fail(field: &str, mismatch: Mismatch) -> Row {
        Row::new(field, Outcome::Fail(mismatch))
    }

    /// A score is below its threshold.
    pub fn short(field: &str, mismatch: Mismatch, scope: &Scope) -> Row {
        match scope.scoring.shortfall {
            Shortfall::Fail => Row::fail(field, mismatch),
            Shortfall::Warn => Row::new(field, Outcome::Warn(mismatch)),
        }
    }

    /// It does not hold, which is worth a warning only.
    pub fn warn(field: &str, message: impl Into<String>) -> Row {
        let message: String = message.into();
        Row::new(field, Outcome::Warn(Mismatch { message, ..Mismatch::default() }))
    }

    /// It does not apply.
    pub fn skip(field: &str, reason: impl Into<String>) -> Row {
        Row::new(field, Outcome::Skip(reason.into()))
    }

    /// What it needs was not observed.
    pub fn unknown(field: &str, reason: impl Into<String>) -> Row {
        Row::new(field, Outcome::Unknown(reason.into()))
    }

    /// The claim is broken, or what it is about cannot be read.
    pub fn broken(field: &str, reason: impl Into<String>) -> Row {
        Row::new(field, Outcome::Error(reason.into()))
    }

    /// Returns the row as the verdict of an assertion with these names.
    pub fn verdict(self, kind: &'static str, label: String) -> Verdict {
        Verdict { kind, label, ..*self.0 }
    }

    fn with(mut self, change: impl FnOnce(Verdict) -> Verdict) -> Row {
        *self.0 = change(*self.0);
        self
    }

    /// Returns the same at another field.
    pub fn moved_to(self, field: &str) -> Row {
        self.with(|verdict| Verdict { at: Pointer::root().key(field), ..verdict })
    }

    /// Returns the same at an item of the field's list.
    pub fn at_item(self, index: usize) -> Row {
        self.with(|verdict| Verdict { at: verdict.at.index(index), ..verdict })
    }

    /// Returns the same at a member of the field.
    pub fn at_key(self, key: &str) -> Row {
        self.with(|verdict| Verdict { at: verdict.at.key(key), ..verdict })
    }

    /// Returns the same with a score.
    pub fn with_score(self, score: f64) -> Row {
        self.with(|verdict| verdict.rated(None, Some(score)))
    }

    /// Returns the same with the first few of these places in other files. What is not known has none.
    pub fn with_places(self, places: impl IntoIterator<Item = (String, FilePlace)>) -> Row {
        let related = places.into_iter().map(|(message, place)| Related::in_file(message, place));
        self.with(|verdict| verdict.relating(related))
    }

    /// Returns the same with the place in another file that made it hold. What does not hold has none.
    pub fn found_at(mut self, message: &str, place: Option<FilePlace>) -> Row {
        if self.0.outcome == Outcome::Pass {
            self.0.related.extend(place.map(|place| Related::in_file(message.to_owned(), place)));
        }
        self
    }

    /// Returns the same, unless something that was not seen could turn it.
    pub fn unless(self, doubt: Option<&str>) -> Row {
        self.with(|verdict| verdict.unless(doubt))
    }
}

/// Returns a mismatch without help.
pub fn mismatch(message: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Mismatch {
    Mismatch { message: message.into(), expected: expected.into(), actual: actual.into(), help: Vec::new() }
}

/// The observation, as an assertion asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'e> {
    /// Everything.
    pub evidence: &'e Evidence,
    /// Location of the assertion.
    pub scope: &'e Scope,
}

/// The content of a file, as far as it can be relied on.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'e> {
    /// The text.
    pub text: &'e str,
    /// Why something that is not found may be there anyway.
    pub doubt: Option<&'static str>,
}

/// The matches of a path that count: written late enough, seen early enough.
#[derive(Clone, Debug)]
pub struct Fresh<'e> {
    /// In the order of their paths.
    pub files: Vec<&'e SeenFile>,
    /// Whether there may be more.
    pub cut: bool,
}

impl<'e> Seen<'e> {
    /// Fills the templates of a field's text.
    pub fn expand(&self, field: &str, text: &str) -> Result<String, Row> {
        self.scope
            .expand(text, &self.evidence.context)
            .map_err(|no_value| Row::unknown(field, format!("{no_value} in this run")))
    }

    fn answer(&self, field: &str, need: &Need, what: &str) -> Result<&'e Answer, Row> {
        match self.evidence.answer_to(need) {
            None => Err(Row::unknown(field, format!("{what} was not observed: run again"))),
            Some(Answer::Nothing(reason)) => Err(Row::unknown(field, format!("{what} was not observed: {reason}"))),
            Some(answer) => Ok(answer),
        }
    }

    /// Returns what is at a path.
    pub fn files(&self, field: &str, want: &FilesNeed) -> Result<&'e FilesAnswer, Row> {
        let what = format!("`{}`", want.pattern);
        match self.answer(field, &Need::Files(want.clone()), &what)? {
            Answer::Files(answer) => Ok(answer),
            _ => Err(Row::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Returns the first file at a path, with its content; nothing when there is none.
    pub fn first_file(&self, field: &str, path: &str) -> Result<(String, Option<&'e SeenFile>), Row> {
        let pattern = self.expand(field, path)?;
        let want = FilesNeed {
            pattern: pattern.clone(),
            wildcards: true,
            literal: true,
            content: true,
            moment: self.scope.moment,
            ..FilesNeed::default()
        };
        Ok((pattern, self.files(field, &want)?.files.first()))
    }

    /// Returns the matches of an artifact's path that count. None are an answer only if it was looked for long enough.
    pub fn fresh(&self, path: &str, wait: &Wait, content: bool) -> Result<(String, Fresh<'e>), Row> {
        let pattern = self.expand("path", path)?;
        let since = wait.since(self)?;
        let want = FilesNeed {
            pattern: pattern.clone(),
            wildcards: true,
            content,
            moment: self.scope.moment,
            wait_ms: wait.wait_ms(),
            since_us: since,
            ..FilesNeed::default()
        };
        let answer = self.files("path", &want)?;
        let wait_ms = wait.wait_ms();
        let known = self.left_before_the_run(path, wait, since);
        let mut unknown_time = false;
        let mut files = Vec::new();
        for file in answer.files.iter().filter(|file| file.seen_after_ms <= wait_ms) {
            match (since, file.modified_us) {
                (None, _) => files.push(file),
                (Some(_), Some(_)) if known.iter().any(|old| old.is_the_same(file)) => {}
                (Some(since), Some(modified)) if modified >= since => files.push(file),
                (Some(_), Some(_)) => {}
                (Some(_), None) => unknown_time = true,
            }
        }
        if files.is_empty() {
            if unknown_time {
                return Err(Row::unknown(
                    "updated_after",
                    format!("the modification time of `{pattern}` was not observed"),
                ));
            }
            if answer.cut {
                return Err(Row::unknown("path", format!("`{pattern}` matches more files than were observed")));
            }
            if answer.waited_ms < wait_ms {
                let reason = format!(
                    "`{pattern}` was looked for only {} s, not {} s: run again",
                    seconds(answer.waited_ms),
                    seconds(wait_ms)
                );
                return Err(Row::unknown("timeout", reason));
            }
        }
        Ok((pattern, Fresh { files, cut: answer.cut }))
    }

    /// Returns the files that were there before the run began, where only those count that were written since. Times
    /// count in seconds there, so a file of the run before may be as new.
    fn left_before_the_run(&self, path: &str, wait: &Wait, since: Option<i64>) -> &'e [SeenFile] {
        let templates = self.evidence.context.templates.as_ref();
        let started = templates.and_then(|templates| templates.before.get("run_started_at"));
        let started = started.and_then(|text| time::parse(text)?.epoch_us(templates?.utc_offset_s));
        let is_of_the_run = since.zip(started).is_some_and(|(since, started)| since >= started);
        let need = wait.before(path, self.scope, &self.evidence.context).filter(|_| is_of_the_run);
        match need.and_then(|need| self.evidence.answer_to(&Need::Files(need))) {
            Some(Answer::Files(answer)) => &answer.files,
            _ => &[],
        }
    }

    /// Returns the help for a file that is not there: what else is in its place.
    pub fn help_for_missing(&self, pattern: &str) -> Vec<String> {
        let found =
            self.evidence.observations.iter().find_map(|observation| match (&observation.need, &observation.answer) {
                (Need::Files(need), Answer::Files(answer)) if need.pattern == pattern => Some(answer),
                _ => None,
            });
        let Some(answer) = found else { return Vec::new() };
        if let Some(file) = answer.files.first() {
            return vec![format!("`{}` exists, but was not written in time", file.path)];
        }
        let name = pattern.rsplit('/').next().unwrap_or(pattern);
        let near = crate::words::nearest(name, answer.beside.iter().map(String::as_str));
        near.map(|near| format!("the same directory has `{near}`")).into_iter().collect()
    }

    /// Returns the heading of a file that is nearest to a name, or what headings there are instead: as a help, and as a
    /// place.
    pub fn help_for_heading(&self, name: &str, path: &str, text: &str) -> (String, Option<(String, FilePlace)>) {
        let found = headings::headings(text);
        let near = crate::words::nearest(name, found.iter().map(|heading| heading.text.as_str()));
        match near.and_then(|near| found.iter().find(|heading| heading.text == near)) {
            Some(heading) => {
                let place = FilePlace::bytes(path, text, heading.range.clone());
                let message = format!("the heading nearest to `{name}`");
                (format!("the heading nearest to `{name}` is `{}`", heading.text), Some((message, place)))
            }
            None if found.is_empty() => (format!("`{path}` has no headings"), None),
            None => {
                let mut listed: Vec<String> =
                    found.iter().take(MAX_LISTED).map(|heading| format!("`{}`", heading.text)).collect();
                if found.len() > MAX_LISTED {
                    listed.push(format!("{} more", found.len() - MAX_LISTED));
                }
                (format!("`{path}` has no heading similar to `{name}`; it has {}", listed.join(", ")), None)
            }
        }
    }

    /// Returns the content of a file.
    pub fn text(&self, field: &str, file: &'e SeenFile) -> Result<FileText<'e>, Row> {
        if file.directory {
            return Err(Row::broken(field, format!("`{}` is a directory: name a file", file.path)));
        }
        match &file.content {
            None => Err(Row::unknown(field, format!("the content of `{}` was not kept", file.path))),
            Some(Content::Unreadable(reason)) => {
                Err(Row::broken(field, format!("`{}` cannot be read: {reason}", file.path)))
            }
            Some(Content::Text(text)) => {
                let doubt = if text.cut {
                    Some("the file was cut off, and the missing part could change the result")
                } else if !text.masked.is_empty() || text.text.contains(HIDDEN) {
                    Some("parts of the file are masked as secrets, which could change the result")
                } else {
                    None
                };
                Ok(FileText { text: &text.text, doubt })
            }
        }
    }

    /// Returns the newest of several files; of several with the same time the one with the greatest path.
    pub fn newest(&self, fresh: &Fresh<'e>) -> Result<&'e SeenFile, Row> {
        if fresh.cut {
            return Err(Row::unknown("path", "more files match than were observed, so another one may be the newest"));
        }
        match fresh.files.as_slice() {
            [only] => Ok(*only),
            files if files.iter().all(|file| file.modified_us.is_some()) => files
                .iter()
                .max_by(|one, other| (one.modified_us, &one.path).cmp(&(other.modified_us, &other.path)))
                .copied()
                .ok_or_else(|| Row::unknown("path", "no file was observed")),
            _ => Err(Row::unknown("path", "the modification times of the files were not observed")),
        }
    }

    /// Returns what a log says about a run.
    pub fn log(&self, field: &str, want: &LogNeed) -> Result<&'e LogAnswer, Row> {
        let what = match &want.path {
            Some(path) => format!("the log `{path}`"),
            None => "the log of the gateway".to_owned(),
        };
        match self.answer(field, &Need::Log(want.clone()), &what)? {
            Answer::Log(answer) => Ok(answer),
            _ => Err(Row::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Returns what an address answered.
    pub fn response(&self, field: &str, want: &ResponseNeed, what: &str) -> Result<&'e ResponseAnswer, Row> {
        match self.answer(field, &Need::Response(want.clone()), what)? {
            Answer::Response(answer) => Ok(answer),
            _ => Err(Row::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Whether variables are set.
    pub fn variables(&self, field: &str, want: &VariablesNeed) -> Result<&'e BTreeMap<String, Presence>, Row> {
        match self.answer(field, &Need::Variables(want.clone()), "the environment")? {
            Answer::Variables(answer) => Ok(answer),
            _ => Err(Row::unknown(field, "the environment was not observed")),
        }
    }

    /// Returns the trace. Without one the assertion is skipped, as the reference wants it.
    pub fn trace(&self) -> Result<&'e Trace, Row> {
        match self.answer("", &Need::Trace, "the trace")? {
            Answer::Trace(TraceAnswer::Found(trace)) => Ok(trace),
            Answer::Trace(TraceAnswer::Missing(reason)) => Err(Row::skip("", format!("no trace: {reason}"))),
            _ => Err(Row::unknown("", "the trace was not observed")),
        }
    }

    /// Returns what a judge answered when it was asked for scores.
    pub fn replies(&self, want: &ScoreNeed) -> Result<&'e [ModelReply], Row> {
        match self.evidence.answer_to(&Need::Scores(want.clone())) {
            Some(Answer::Question(answer)) => Ok(&answer.replies),
            Some(Answer::Nothing(reason)) => Err(Row::unknown("rubric", reason.clone())),
            Some(_) => Err(Row::unknown("rubric", "the recording does not contain a judge's answer")),
            None => Err(Row::unknown("rubric", UNASKED)),
        }
    }
}

/// What is said of a file that was recorded before the question about it was what it is.
const UNASKED: &str = "the judge has not been asked about this file; ask it without starting the target: *Ask judge* \
                       above the scenario, or `speclens run --recorded --ask`";

/// `timeout` and `updated_after`, as the assertions about artifacts have them.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// Seconds.
    pub timeout: f64,
    /// ISO 8601; empty for any time.
    pub updated_after: Option<&'a str>,
}

impl Wait<'_> {
    /// Returns the time to wait, in milliseconds.
    pub fn wait_ms(&self) -> u64 {
        (self.timeout.clamp(0.0, 1e9) * 1000.0) as u64
    }

    fn since(&self, seen: &Seen<'_>) -> Result<Option<i64>, Row> {
        let Some(text) = self.updated_after.filter(|text| !text.is_empty()) else { return Ok(None) };
        let text = seen.expand("updated_after", text)?;
        let Some(instant) = time::parse(&text) else {
            let reason = format!(
                "`{text}` is not a valid time: write it as `2026-05-14T12:00:00Z`, or `{{{{run_started_at}}}}`"
            );
            return Err(Row::broken("updated_after", reason));
        };
        let local = seen.evidence.context.templates.as_ref().and_then(|templates| templates.utc_offset_s);
        instant.epoch_us(local).map(Some).ok_or_else(|| {
            Row::unknown("updated_after", format!("`{text}` has no time zone, and that of the run is unknown: add `Z`"))
        })
    }

    /// Returns the question about an artifact.
    pub fn need(&self, path: &str, content: bool, scope: &Scope, context: &Context) -> Vec<Need> {
        let before = self.before(path, scope, context).map(Need::Files).into_iter();
        let Some(need) = scope.files(path, context) else { return before.collect() };
        let local = context.templates.as_ref().and_then(|templates| templates.utc_offset_s);
        let since = self.updated_after.and_then(|text| scope.expand(text, context).ok());
        let since_us = since.and_then(|text| time::parse(&text)?.epoch_us(local));
        let after = Need::Files(FilesNeed { content, wait_ms: self.wait_ms(), since_us, ..need });
        before.chain([after]).collect()
    }

    /// Returns the question about the same artifact before the run, where it must have been written since.
    fn before(&self, path: &str, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        let is_after = scope.moment == Moment::After && self.updated_after.is_some_and(|text| !text.is_empty());
        let earlier = Scope { moment: Moment::Before, ..scope.clone() };
        is_after.then(|| earlier.files(path, context)).flatten()
    }
}

/// Reads a number that may be in quotes, as Python's `float` takes it.
pub fn lenient_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    use serde::{Deserialize, de::Error};
    let value = Value::deserialize(deserializer)?;
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.ok_or_else(|| D::Error::custom("expected a number"))
}

/// Reads a count that may be in quotes, as Python's `int` takes it.
pub fn lenient_count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    use serde::{Deserialize, de::Error};
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.map(Some).ok_or_else(|| D::Error::custom("expected an integer"))
}

/// The content of a file of the suite that belongs to a claim, read when the claim was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored(pub Option<StoredFile>);

/// A file of the suite, as it was when a claim was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Its path from the root of the workspace.
    pub path: String,
    /// Its content.
    pub text: Arc<str>,
}

impl Stored {
    /// Reads a file whose path is written out; every other path is left to the run.
    pub fn read(path: &str, files: &dyn Files) -> Stored {
        let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
        let plain =
            !path.contains(['{', '*', '?', '[']) && !path.starts_with('/') && !path.split('/').any(|it| it == "..");
        let path = path.strip_prefix("./").unwrap_or(path);
        if !plain || files.kind(path) != Some(FileKind::File) {
            return Stored(None);
        }
        let text = files.read(path).ok().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        Stored(text.map(|text| StoredFile { path: path.to_owned(), text: Arc::from(text) }))
    }
}

/// Milliseconds as seconds, without an idle fraction.
pub fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) { (ms / 1000).to_string() } else { format!("{:.1}", ms as f64 / 1000.0) }
}

/// Returns a number as a person writes it.
pub fn plain(number: f64) -> String {
    crate::check::json::number_text(number)
}
