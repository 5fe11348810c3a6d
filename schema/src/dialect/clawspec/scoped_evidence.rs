//! Access of assertions to the evidence, and how long they wait for files.

use std::sync::Arc;

use super::{scope::Scope, template::CALLEE_RUN_ID, words::Moment};
use crate::{
    act::{Act, Until},
    check::{
        headings,
        python::{NoValue, PythonValue},
        time,
    },
    evidence::{
        Answer, Content, Context, FilesNeed, ModelReply, Need, ObservationTime, ResponseAnswer, ResponseNeed,
        ScoreNeed, SeenFile,
    },
    faults,
    files::{FileKind, Files},
    seen::{Found, Observed, Proof, Why},
    text::Text,
    verdict::{At, FilePlace, Mismatch, Row},
};

/// Maximum number of names in a note.
const MAX_LISTED: usize = 8;

/// Evidence, as an assertion queries it.
#[derive(Clone, Copy, Debug)]
pub struct ScopedEvidence<'e> {
    pub act: Act<'e>,
    pub scope: &'e Scope,
}

/// Files, ordered by path: for an artifact, those that were written after `updated_after` and found before the timeout.
pub(crate) type SeenFiles<'e> = Observed<Vec<&'e SeenFile>>;

impl<'e> ScopedEvidence<'e> {
    pub fn expand(&self, field: &str, text: &str) -> Result<String, Row> {
        self.scope.expand(text, self.act.context()).map_err(|no_value| {
            let is_callee = self.scope.handoff.is_some() && no_value.0 == CALLEE_RUN_ID;
            let reason = if is_callee {
                format!(
                    "`{{{{{CALLEE_RUN_ID}}}}}` has a value only if it is the entire `run_id` of an assertion about the log"
                )
            } else {
                format!("{no_value} in this run")
            };
            Row::unknown(field, reason)
        })
    }

    /// The first file that a need asks for, if there is one.
    pub(crate) fn file(&self, field: &str, want: &FilesNeed, until: Until) -> Result<Found<&'e SeenFile>, Row> {
        self.act.files(want, until).at(field)?.map(|answer| &answer.files[..]).search(|files| files.first()).at(field)
    }

    /// The expanded path, and the first file there with its content, if there is one.
    pub(crate) fn first_file(
        &self,
        field: &str,
        path: &str,
        until: Until,
    ) -> Result<(String, Found<&'e SeenFile>), Row> {
        let pattern = self.expand(field, path)?;
        let found = self.file(field, &self.scope.first_matching(pattern.clone()), until)?;
        Ok((pattern, found))
    }

    /// The same, where a missing file fails. `what` names it.
    pub(crate) fn existing(
        &self,
        field: &str,
        path: &str,
        what: &str,
        until: Until,
    ) -> Result<(String, &'e SeenFile), Row> {
        let (path, found) = self.first_file(field, path, until)?;
        match found {
            Found::Yes(file, _) => Ok((path, file)),
            Found::No(proof) => Err(self.missing(field, &path, proof, format!("{what} not found: {path}"))),
        }
    }

    pub(crate) fn missing(&self, field: &str, path: &str, proof: Proof, message: String) -> Row {
        let mismatch = Mismatch::new(message, format!("{path} exists"), "nothing");
        Row::fail(field, proof, mismatch.notes(self.notes_on_missing(path)))
    }

    /// The expanded path of an artifact and its matches, or the failure that none appeared in time.
    pub(crate) fn appeared(
        &self,
        path: &str,
        wait: Wait<'_>,
        content: bool,
        what: &str,
    ) -> Result<(String, SeenFiles<'e>, Proof), Row> {
        let (pattern, files) = self.fresh(path, wait, content)?;
        match files.search(|files| files.first()).at("path")? {
            Found::Yes(_, proof) => Ok((pattern, files, proof)),
            Found::No(proof) => {
                let before = if wait.wait_ms() > 0 { " before timeout" } else { "" };
                let message = format!("{what} not found{before}: {pattern}");
                let mismatch = Mismatch::new(message, format!("{pattern} exists"), "no match");
                Err(Row::fail("path", proof, mismatch.notes(self.notes_on_missing(&pattern))))
            }
        }
    }

    /// The matches of an artifact's path that count. An empty result is definite only after the full timeout.
    fn fresh(&self, path: &str, wait: Wait<'_>, content: bool) -> Result<(String, SeenFiles<'e>), Row> {
        let pattern = self.expand("path", path)?;
        let (since_us, wait_ms) = (wait.since(self)?, wait.wait_ms());
        let want = FilesNeed { content, wait_ms, since_us, ..self.scope.matching(pattern.clone()) };
        let answer = self.act.files(&want, Until::TimeLimit).at("path")?;
        let known = self.left_before_the_run(path, wait, since_us);
        let mut unknown_time = None;
        let mut files = Vec::new();
        for file in answer.so_far().files.iter().filter(|file| file.seen_after_ms <= wait_ms) {
            match (since_us, file.modified_us) {
                (None, _) => files.push(file),
                (Some(_), Some(_)) if known.iter().any(|old| old.is_the_same(file)) => {}
                (Some(since), Some(modified)) if modified >= since => files.push(file),
                (Some(_), Some(_)) => {}
                (Some(_), None) => {
                    let reason = format!("the modification time of `{pattern}` was not observed");
                    unknown_time = Some(Why::unknown(reason));
                }
            }
        }
        let waited = answer.so_far().waited_ms;
        let too_short = (waited < wait_ms).then(|| {
            let (waited, wanted) = (seconds(waited), seconds(wait_ms));
            Why::unknown(format!(
                "the run waited for `{pattern}` for {waited} s instead of {wanted} s; run the test again"
            ))
        });
        Ok((pattern, answer.map(|_| files).with_gap(unknown_time).with_gap(too_short)))
    }

    /// Returns the files that existed before the run began, if only newer ones count. Those times are in seconds, so a
    /// file of the previous run may seem equally new.
    fn left_before_the_run(&self, path: &str, wait: Wait<'_>, since: Option<i64>) -> &'e [SeenFile] {
        let templates = self.act.context().templates.as_ref();
        let started = templates.and_then(|templates| templates.before.get("run_started_at"));
        let started = started.and_then(|text| time::parse(text)?.epoch_us(templates?.utc_offset_s));
        let is_of_the_run = since.zip(started).is_some_and(|(since, started)| since >= started);
        let need = wait.before(path, self.scope, self.act.context()).filter(|_| is_of_the_run);
        match need.and_then(|need| self.act.answer(&Need::Files(need), "").ok()) {
            Some(Answer::Files(answer)) => &answer.files,
            _ => &[],
        }
    }

    /// What is said of a missing file: that it was written too late, or a similar name in its directory.
    pub(crate) fn notes_on_missing(&self, pattern: &str) -> Vec<String> {
        let found =
            self.act.observations().iter().find_map(|observation| match (&observation.need, &observation.answer) {
                (Need::Files(need), Answer::Files(answer)) if need.pattern == pattern => Some(answer),
                _ => None,
            });
        let Some(answer) = found else { return Vec::new() };
        if let Some(file) = answer.files.first() {
            return vec![format!("`{}` exists, but was not written in time", file.path)];
        }
        let name = pattern.rsplit('/').next().unwrap_or(pattern);
        let near = crate::words::nearest(name, answer.beside.iter().map(String::as_str));
        near.map(|near| format!("the same directory contains `{near}`")).into_iter().collect()
    }

    /// The heading of a file that is most similar to a name, or else its headings: as a note, and as a
    /// location.
    pub(crate) fn note_on_heading(&self, name: &str, path: &str, text: &str) -> (String, Option<(String, FilePlace)>) {
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

    pub fn text(&self, field: &str, file: &'e SeenFile, until: Until) -> Result<Text<'e>, Row> {
        if file.directory {
            return Err(Row::broken(field, format!("`{}` is a directory; name a file", file.path)));
        }
        match &file.content {
            None => Err(Row::unknown(field, format!("the content of `{}` was not recorded", file.path))),
            Some(Content::Unreadable(reason)) => {
                Err(Row::broken(field, format!("`{}` cannot be read: {reason}", file.path)))
            }
            Some(Content::Text(text)) => Ok(Text::of_file(text).with_gap(match until {
                Until::End => self.act.open_end_at(self.scope.moment),
                Until::TimeLimit => None,
            })),
        }
    }

    /// The newest of several files; if several are equally new, the last one by path.
    pub(crate) fn newest(&self, files: &SeenFiles<'e>) -> Result<&'e SeenFile, Row> {
        let more = "more files match than were observed, so another one may be the newest";
        match files.complete().map_err(|_| Row::unknown("path", more))?.0.as_slice() {
            [only] => Ok(*only),
            files if files.iter().all(|file| file.modified_us.is_some()) => files
                .iter()
                .max_by(|one, other| (one.modified_us, &one.path).cmp(&(other.modified_us, &other.path)))
                .copied()
                .ok_or_else(|| Row::unknown("path", "no file was observed")),
            _ => Err(Row::unknown("path", "the modification times of the files were not observed")),
        }
    }

    /// The content of a YAML or JSON file with a mapping.
    pub(crate) fn state(&self, field: &str, path: &str, file: &'e SeenFile) -> Result<(PythonValue, Proof), Row> {
        let text = self.text(field, file, Until::TimeLimit)?;
        let (text, proof) = text.complete().at(field)?;
        let state = structured(&file.path, text).map_err(|reason| Row::broken(field, reason))?;
        if !state.is_map() {
            let message = format!("State file not found: {path} (it contains {})", state.kind());
            return Err(Row::fail(field, proof, Mismatch::new(message, "a mapping", state.kind())));
        }
        Ok((state, proof))
    }

    /// The path and the text of a file that belongs to the claim: as it was when the claim was lowered, or else during
    /// the run.
    pub(crate) fn stored<'s>(
        &self,
        field: &str,
        path: &str,
        stored: Option<&'s StoredFile>,
        missing: impl FnOnce(String, Proof) -> Row,
    ) -> Result<(&'s str, Text<'s>), Row>
    where
        'e: 's,
    {
        if let Some(StoredFile { path, text }) = stored {
            return Ok((path, Text::whole(text)));
        }
        match self.first_file(field, path, Until::TimeLimit)? {
            (_, Found::Yes(file, _)) => Ok((&file.path, self.text(field, file, Until::TimeLimit)?)),
            (path, Found::No(proof)) => Err(missing(path, proof)),
        }
    }

    pub fn response(&self, field: &str, want: &ResponseNeed, what: &str) -> Result<(&'e ResponseAnswer, Proof), Row> {
        let (&answer, proof) = self.act.response(Need::Response(want.clone()), what).at(field)?.complete().at(field)?;
        Ok((answer, proof))
    }

    /// The replies of a judge to requests for scores, and the proof of what they decide.
    pub fn replies(&self, want: &ScoreNeed) -> Result<(&'e [ModelReply], Proof), Row> {
        let replies = self.act.replies(&Need::Scores(want.clone()), UNASKED).at("rubric")?;
        let (&replies, proof) = replies.complete().at("rubric")?;
        Ok((replies, proof))
    }
}

/// Reason of an unknown result if the recording has no reply for the current question about a file.
const UNASKED: &str = "the judge has not been asked about this file; to ask it without starting the target, press `Ask \
                       judge` above the scenario, or run `speclens run --recorded --ask`";

/// `timeout` and `updated_after` of an assertion about artifacts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait<'a> {
    seconds: f64,
    /// Time as ISO 8601; empty for any time.
    updated_after: Option<&'a str>,
}

impl<'a> Wait<'a> {
    pub(crate) fn of(seconds: f64, updated_after: &'a Option<Moment>) -> Wait<'a> {
        Wait { seconds, updated_after: updated_after.as_deref().filter(|text| !text.is_empty()) }
    }

    fn wait_ms(&self) -> u64 {
        (self.seconds.clamp(0.0, 1e9) * 1000.0) as u64
    }

    fn since(&self, seen: &ScopedEvidence<'_>) -> Result<Option<i64>, Row> {
        let Some(text) = self.updated_after else { return Ok(None) };
        let text = seen.expand("updated_after", text)?;
        let Some(instant) = time::parse(&text) else {
            let reason = format!(
                "`{text}` is not a valid time; write a time, such as `2026-05-14T12:00:00Z` or `{{{{run_started_at}}}}`"
            );
            return Err(Row::broken("updated_after", reason));
        };
        let local = seen.act.context().templates.as_ref().and_then(|templates| templates.utc_offset_s);
        instant.epoch_us(local).map(Some).ok_or_else(|| {
            Row::unknown("updated_after", format!("`{text}` has no time zone, and that of the run is unknown; add `Z`"))
        })
    }

    pub(crate) fn needs(&self, path: &str, content: bool, scope: &Scope, context: &Context) -> Vec<Need> {
        let before = self.before(path, scope, context).map(Need::Files).into_iter();
        let Some(need) = scope.files(path, context) else { return before.collect() };
        let local = context.templates.as_ref().and_then(|templates| templates.utc_offset_s);
        let since = self.updated_after.and_then(|text| scope.expand(text, context).ok());
        let since_us = since.and_then(|text| time::parse(&text)?.epoch_us(local));
        let after = Need::Files(FilesNeed { content, wait_ms: self.wait_ms(), since_us, ..need });
        before.chain([after]).collect()
    }

    /// The need for the same artifact before the run, if it must have been written since.
    fn before(&self, path: &str, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        let is_after = scope.moment == ObservationTime::After && self.updated_after.is_some();
        let earlier = Scope { moment: ObservationTime::Before, ..scope.clone() };
        is_after.then(|| earlier.files(path, context)).flatten()
    }
}

/// A file of the suite, as it was when a claim was lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Path relative to the root of the workspace.
    path: String,
    text: Arc<str>,
}

impl StoredFile {
    /// Reads a file with a literal path; all other paths are resolved during the run.
    pub(crate) fn read(path: &str, files: &dyn Files) -> Option<StoredFile> {
        let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
        let plain =
            !path.contains(['{', '*', '?', '[']) && !path.starts_with('/') && !path.split('/').any(|it| it == "..");
        let path = path.strip_prefix("./").unwrap_or(path);
        if !plain || files.kind(path) != Some(FileKind::File) {
            return None;
        }
        let text = String::from_utf8(files.read(path).ok()?.to_vec()).ok()?;
        Some(StoredFile { path: path.to_owned(), text: Arc::from(text) })
    }
}

/// The content of a YAML or JSON file, or of the front matter of a Markdown file. The error is a sentence.
pub(crate) fn structured(path: &str, text: &str) -> Result<PythonValue, String> {
    let read = if path.ends_with(".json") { PythonValue::of_json } else { PythonValue::of_yaml };
    let front_matter = if path.ends_with(".md") { headings::front_matter_of(text) } else { None };
    let read = read(front_matter.unwrap_or(text));
    read.map_err(|error| format!("`{path}` cannot be read: {}", unread(&error)))
}

pub(crate) fn unread(error: &NoValue) -> String {
    match error {
        NoValue::Yaml(kind) => faults::message(kind),
        NoValue::Json(message) | NoValue::Refused(message) => message.clone(),
        NoValue::TooLarge => "it is too large".to_owned(),
    }
}

fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) { (ms / 1000).to_string() } else { format!("{:.1}", ms as f64 / 1000.0) }
}
