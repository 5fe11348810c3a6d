//! Access of assertions to the evidence, and how long they wait for files.

use std::collections::BTreeMap;

use super::{super::template::CALLEE_RUN_ID, AssertionRow, Scope, mismatch, seconds};
use crate::{
    check::{headings, time},
    evidence::{
        Answer, Content, Context, Evidence, FilesAnswer, FilesNeed, LogAnswer, LogNeed, ModelReply, Need,
        ObservationTime, Presence, ResponseAnswer, ResponseNeed, ScoreNeed, SeenFile, Trace, TraceAnswer,
        VariablesNeed,
    },
    mask::MASK_CHARACTER,
    verdict::FilePlace,
};

/// Maximum number of names in a note.
const MAX_LISTED: usize = 8;

/// Evidence, as an assertion queries it.
#[derive(Clone, Copy, Debug)]
pub struct ScopedEvidence<'e> {
    /// All evidence.
    pub evidence: &'e Evidence,
    /// Scope of the assertion.
    pub scope: &'e Scope,
}

/// Content of a file, as far as it is reliable.
#[derive(Clone, Copy, Debug)]
pub struct FileText<'e> {
    /// Text of the file.
    pub text: &'e str,
    /// Reason why something may exist although it was not found.
    pub uncertainty: Option<&'static str>,
}

/// Matches of a path that count: written after `updated_after` and found before the timeout.
#[derive(Clone, Debug)]
pub struct Fresh<'e> {
    /// Files, ordered by path.
    pub files: Vec<&'e SeenFile>,
    /// Whether there may be more.
    pub cut: bool,
}

impl<'e> ScopedEvidence<'e> {
    /// Expands the templates of a field's text.
    pub fn expand(&self, field: &str, text: &str) -> Result<String, AssertionRow> {
        self.scope.expand(text, &self.evidence.context).map_err(|no_value| {
            let is_callee = self.scope.handoff.is_some() && no_value.0 == CALLEE_RUN_ID;
            let reason = if is_callee {
                format!(
                    "`{{{{{CALLEE_RUN_ID}}}}}` has a value only if it is the entire `run_id` of an assertion about the log"
                )
            } else {
                format!("{no_value} in this run")
            };
            AssertionRow::unknown(field, reason)
        })
    }

    fn answer(&self, field: &str, need: &Need, what: &str) -> Result<&'e Answer, AssertionRow> {
        match self.evidence.answer_to(need) {
            None => Err(AssertionRow::unknown(field, format!("{what} was not observed; run the test again"))),
            Some(Answer::Nothing(reason)) => {
                Err(AssertionRow::unknown(field, format!("{what} was not observed: {reason}")))
            }
            Some(answer) => Ok(answer),
        }
    }

    /// Returns the files at a path.
    pub fn files(&self, field: &str, want: &FilesNeed) -> Result<&'e FilesAnswer, AssertionRow> {
        let what = format!("`{}`", want.pattern);
        match self.answer(field, &Need::Files(want.clone()), &what)? {
            Answer::Files(answer) => Ok(answer),
            _ => Err(AssertionRow::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Returns the first file at a path, with its content; `None` if there is none.
    pub(crate) fn first_file(&self, field: &str, path: &str) -> Result<(String, Option<&'e SeenFile>), AssertionRow> {
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

    /// Returns the first file at a path, with its content. `what` names it if there is none.
    pub(crate) fn existing(&self, field: &str, path: &str, what: &str) -> Result<(String, &'e SeenFile), AssertionRow> {
        let (path, file) = self.first_file(field, path)?;
        let file = file.ok_or_else(|| self.missing(field, &path, format!("{what} not found: {path}")))?;
        Ok((path, file))
    }

    /// Returns the row for a missing file.
    pub(crate) fn missing(&self, field: &str, path: &str, message: String) -> AssertionRow {
        let mut mismatch = mismatch(message, format!("{path} exists"), "nothing");
        mismatch.notes = self.notes_on_missing(path);
        AssertionRow::fail(field, mismatch)
    }

    /// Returns the matches of an artifact's path that count. An empty result is definite only after the full timeout.
    pub fn fresh(&self, path: &str, wait: &Wait, content: bool) -> Result<(String, Fresh<'e>), AssertionRow> {
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
                return Err(AssertionRow::unknown(
                    "updated_after",
                    format!("the modification time of `{pattern}` was not observed"),
                ));
            }
            if answer.cut {
                return Err(AssertionRow::unknown(
                    "path",
                    format!("`{pattern}` matches more files than were observed"),
                ));
            }
            if answer.waited_ms < wait_ms {
                let reason = format!(
                    "the run waited for `{pattern}` for {} s instead of {} s; run the test again",
                    seconds(answer.waited_ms),
                    seconds(wait_ms)
                );
                return Err(AssertionRow::unknown("timeout", reason));
            }
        }
        Ok((pattern, Fresh { files, cut: answer.cut }))
    }

    /// Returns the files that existed before the run began, if only newer ones count. Those times are in seconds, so a
    /// file of the previous run may seem equally new.
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

    /// Returns the note on a missing file: that it was written too late, or a similar name in its directory.
    pub(crate) fn notes_on_missing(&self, pattern: &str) -> Vec<String> {
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
        near.map(|near| format!("the same directory contains `{near}`")).into_iter().collect()
    }

    /// Returns the heading of a file that is most similar to a name, or else its headings: as a note, and as a
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

    /// Returns the content of a file.
    pub fn text(&self, field: &str, file: &'e SeenFile) -> Result<FileText<'e>, AssertionRow> {
        if file.directory {
            return Err(AssertionRow::broken(field, format!("`{}` is a directory; name a file", file.path)));
        }
        match &file.content {
            None => Err(AssertionRow::unknown(field, format!("the content of `{}` was not recorded", file.path))),
            Some(Content::Unreadable(reason)) => {
                Err(AssertionRow::broken(field, format!("`{}` cannot be read: {reason}", file.path)))
            }
            Some(Content::Text(text)) => {
                let uncertainty = if text.cut {
                    Some("the file was cut off, and the missing part could change the result")
                } else if !text.masked.is_empty() || text.text.contains(MASK_CHARACTER) {
                    Some("parts of the file are masked as secrets, which could change the result")
                } else {
                    None
                };
                Ok(FileText { text: &text.text, uncertainty })
            }
        }
    }

    /// Returns the newest of several files; if several are equally new, the last one by path.
    pub fn newest(&self, fresh: &Fresh<'e>) -> Result<&'e SeenFile, AssertionRow> {
        if fresh.cut {
            return Err(AssertionRow::unknown(
                "path",
                "more files match than were observed, so another one may be the newest",
            ));
        }
        match fresh.files.as_slice() {
            [only] => Ok(*only),
            files if files.iter().all(|file| file.modified_us.is_some()) => files
                .iter()
                .max_by(|one, other| (one.modified_us, &one.path).cmp(&(other.modified_us, &other.path)))
                .copied()
                .ok_or_else(|| AssertionRow::unknown("path", "no file was observed")),
            _ => Err(AssertionRow::unknown("path", "the modification times of the files were not observed")),
        }
    }

    /// Returns the entries of a log about a run.
    pub fn log(&self, field: &str, want: &LogNeed) -> Result<&'e LogAnswer, AssertionRow> {
        let what = match &want.path {
            Some(path) => format!("the log `{path}`"),
            None => "the log of the gateway".to_owned(),
        };
        match self.answer(field, &Need::Log(want.clone()), &what)? {
            Answer::Log(answer) => Ok(answer),
            _ => Err(AssertionRow::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Returns the response of an address.
    pub fn response(&self, field: &str, want: &ResponseNeed, what: &str) -> Result<&'e ResponseAnswer, AssertionRow> {
        match self.answer(field, &Need::Response(want.clone()), what)? {
            Answer::Response(answer) => Ok(answer),
            _ => Err(AssertionRow::unknown(field, format!("{what} was not observed"))),
        }
    }

    /// Returns whether variables are set.
    pub fn variables(&self, field: &str, want: &VariablesNeed) -> Result<&'e BTreeMap<String, Presence>, AssertionRow> {
        match self.answer(field, &Need::Variables(want.clone()), "the environment")? {
            Answer::Variables(answer) => Ok(answer),
            _ => Err(AssertionRow::unknown(field, "the environment was not observed")),
        }
    }

    /// Returns the trace. Without one, the assertion is skipped, as documented by the format.
    pub fn trace(&self) -> Result<&'e Trace, AssertionRow> {
        match self.answer("", &Need::Trace, "the trace")? {
            Answer::Trace(TraceAnswer::Found(trace)) => Ok(trace),
            Answer::Trace(TraceAnswer::Missing(reason)) => Err(AssertionRow::skip("", format!("no trace: {reason}"))),
            _ => Err(AssertionRow::unknown("", "the trace was not observed")),
        }
    }

    /// Returns the replies of a judge to requests for scores.
    pub fn replies(&self, want: &ScoreNeed) -> Result<&'e [ModelReply], AssertionRow> {
        match self.evidence.answer_to(&Need::Scores(want.clone())) {
            Some(Answer::Question(answer)) => Ok(&answer.replies),
            Some(Answer::Nothing(reason)) => Err(AssertionRow::unknown("rubric", reason.clone())),
            Some(_) => Err(AssertionRow::unknown("rubric", "the recording does not contain a judge's answer")),
            None => Err(AssertionRow::unknown("rubric", UNASKED)),
        }
    }
}

/// Reason of an unknown result if the recording has no reply for the current question about a file.
const UNASKED: &str = "the judge has not been asked about this file; to ask it without starting the target, press `Ask \
                       judge` above the scenario, or run `speclens run --recorded --ask`";

/// `timeout` and `updated_after` of an assertion about artifacts.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// Timeout in seconds.
    pub timeout: f64,
    /// Time as ISO 8601; empty for any time.
    pub updated_after: Option<&'a str>,
}

impl Wait<'_> {
    /// Returns the time to wait, in milliseconds.
    pub fn wait_ms(&self) -> u64 {
        (self.timeout.clamp(0.0, 1e9) * 1000.0) as u64
    }

    fn since(&self, seen: &ScopedEvidence<'_>) -> Result<Option<i64>, AssertionRow> {
        let Some(text) = self.updated_after.filter(|text| !text.is_empty()) else { return Ok(None) };
        let text = seen.expand("updated_after", text)?;
        let Some(instant) = time::parse(&text) else {
            let reason = format!(
                "`{text}` is not a valid time; write a time, such as `2026-05-14T12:00:00Z` or `{{{{run_started_at}}}}`"
            );
            return Err(AssertionRow::broken("updated_after", reason));
        };
        let local = seen.evidence.context.templates.as_ref().and_then(|templates| templates.utc_offset_s);
        instant.epoch_us(local).map(Some).ok_or_else(|| {
            AssertionRow::unknown(
                "updated_after",
                format!("`{text}` has no time zone, and that of the run is unknown; add `Z`"),
            )
        })
    }

    /// Returns the need for an artifact.
    pub fn need(&self, path: &str, content: bool, scope: &Scope, context: &Context) -> Vec<Need> {
        let before = self.before(path, scope, context).map(Need::Files).into_iter();
        let Some(need) = scope.files(path, context) else { return before.collect() };
        let local = context.templates.as_ref().and_then(|templates| templates.utc_offset_s);
        let since = self.updated_after.and_then(|text| scope.expand(text, context).ok());
        let since_us = since.and_then(|text| time::parse(&text)?.epoch_us(local));
        let after = Need::Files(FilesNeed { content, wait_ms: self.wait_ms(), since_us, ..need });
        before.chain([after]).collect()
    }

    /// Returns the need for the same artifact before the run, if it must have been written since.
    fn before(&self, path: &str, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        let is_after =
            scope.moment == ObservationTime::After && self.updated_after.is_some_and(|text| !text.is_empty());
        let earlier = Scope { moment: ObservationTime::Before, ..scope.clone() };
        is_after.then(|| earlier.files(path, context)).flatten()
    }
}
