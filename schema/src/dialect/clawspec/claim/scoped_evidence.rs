//! Access of assertions to the evidence, and how long they wait for files.

use std::collections::BTreeMap;

use super::{super::template::CALLEE_RUN_ID, Scope, broken, mismatch, seconds, unknown};
use crate::{
    act::{Act, Until},
    check::{headings, time},
    evidence::{
        Answer, Content, Context, FilesNeed, LogAnswer, LogNeed, ModelReply, Need, ObservationTime, Presence,
        ResponseAnswer, ResponseNeed, ScoreNeed, SeenFile, Trace, VariablesNeed,
    },
    seen::{Found, Observed, Proof, Why},
    text::Text,
    verdict::{At, FilePlace, Row},
};

/// Maximum number of names in a note.
const MAX_LISTED: usize = 8;

/// Evidence, as an assertion queries it.
#[derive(Clone, Copy, Debug)]
pub struct ScopedEvidence<'e> {
    /// The act.
    pub act: Act<'e>,
    /// Scope of the assertion.
    pub scope: &'e Scope,
}

/// Matches of a path that count: written after `updated_after` and found before the timeout.
#[derive(Clone, Debug)]
pub struct Fresh<'e> {
    /// Files, ordered by path.
    pub files: Observed<Vec<&'e SeenFile>>,
}

impl<'e> ScopedEvidence<'e> {
    /// Expands the templates of a field's text.
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
            unknown(field, reason)
        })
    }

    /// Returns the files at a path.
    pub fn files(&self, field: &str, want: &FilesNeed, until: Until) -> Result<Observed<&'e [SeenFile]>, Row> {
        Ok(self.act.files(want, until).at(field)?.map(|answer| &answer.files[..]))
    }

    /// Returns the first file at a path, with its content, if there is one.
    pub(crate) fn first_file(
        &self,
        field: &str,
        path: &str,
        until: Until,
    ) -> Result<(String, Found<&'e SeenFile>), Row> {
        let pattern = self.expand(field, path)?;
        let want = FilesNeed {
            pattern: pattern.clone(),
            wildcards: true,
            literal: true,
            content: true,
            moment: self.scope.moment,
            ..FilesNeed::default()
        };
        let found = self.files(field, &want, until)?.search(|files| files.first()).at(field)?;
        Ok((pattern, found))
    }

    /// Returns the first file at a path, with its content. `what` names it if there is none.
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

    /// Returns the row for a missing file.
    pub(crate) fn missing(&self, field: &str, path: &str, proof: Proof, message: String) -> Row {
        let mut mismatch = mismatch(message, format!("{path} exists"), "nothing");
        mismatch.notes = self.notes_on_missing(path);
        Row::fail(field, proof, mismatch)
    }

    /// Returns the matches of an artifact's path that count. An empty result is definite only after the full timeout.
    pub fn fresh(&self, path: &str, wait: &Wait, content: bool, until: Until) -> Result<(String, Fresh<'e>), Row> {
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
        let answer = self.act.files(&want, until).at("path")?;
        let wait_ms = wait.wait_ms();
        let known = self.left_before_the_run(path, wait, since);
        let mut unknown_time = None;
        let mut files = Vec::new();
        for file in answer.so_far().files.iter().filter(|file| file.seen_after_ms <= wait_ms) {
            match (since, file.modified_us) {
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
            Why::unknown(format!(
                "the run waited for `{pattern}` for {} s instead of {} s; run the test again",
                seconds(waited),
                seconds(wait_ms)
            ))
        });
        let files = answer.map(|_| files).with_gap(unknown_time).with_gap(too_short);
        Ok((pattern, Fresh { files }))
    }

    /// Returns the files that existed before the run began, if only newer ones count. Those times are in seconds, so a
    /// file of the previous run may seem equally new.
    fn left_before_the_run(&self, path: &str, wait: &Wait, since: Option<i64>) -> &'e [SeenFile] {
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

    /// Returns the note on a missing file: that it was written too late, or a similar name in its directory.
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
    pub fn text(&self, field: &str, file: &'e SeenFile, until: Until) -> Result<Text<'e>, Row> {
        if file.directory {
            return Err(broken(field, format!("`{}` is a directory; name a file", file.path)));
        }
        match &file.content {
            None => Err(unknown(field, format!("the content of `{}` was not recorded", file.path))),
            Some(Content::Unreadable(reason)) => {
                Err(broken(field, format!("`{}` cannot be read: {reason}", file.path)))
            }
            Some(Content::Text(text)) => Ok(Text::of_file(text).with_gap(match until {
                Until::End => self.act.open_end_at(self.scope.moment),
                Until::TimeLimit => None,
            })),
        }
    }

    /// Returns the newest of several files; if several are equally new, the last one by path.
    pub fn newest(&self, fresh: &Fresh<'e>) -> Result<&'e SeenFile, Row> {
        let more = "more files match than were observed, so another one may be the newest";
        match fresh.files.complete().map_err(|_| unknown("path", more))?.0.as_slice() {
            [only] => Ok(*only),
            files if files.iter().all(|file| file.modified_us.is_some()) => files
                .iter()
                .max_by(|one, other| (one.modified_us, &one.path).cmp(&(other.modified_us, &other.path)))
                .copied()
                .ok_or_else(|| unknown("path", "no file was observed")),
            _ => Err(unknown("path", "the modification times of the files were not observed")),
        }
    }

    /// Returns the entries of a log about a run.
    pub fn log(&self, field: &str, want: &LogNeed) -> Result<Observed<&'e LogAnswer>, Row> {
        self.act.log(want).at(field)
    }

    /// Returns the response of an address.
    pub fn response(&self, field: &str, want: &ResponseNeed, what: &str) -> Result<(&'e ResponseAnswer, Proof), Row> {
        let (&answer, proof) = self.act.response(Need::Response(want.clone()), what).at(field)?.complete().at(field)?;
        Ok((answer, proof))
    }

    /// Returns whether variables are set.
    pub fn variables(
        &self,
        field: &str,
        want: &VariablesNeed,
    ) -> Result<Observed<&'e BTreeMap<String, Presence>>, Row> {
        match self.act.answer(&Need::Variables(want.clone()), "the environment").at(field)? {
            Answer::Variables(answer) => Ok(Observed::new(answer, None)),
            _ => Err(unknown(field, "the environment was not observed")),
        }
    }

    /// Returns the trace. Without one, the assertion is skipped, as documented by the format.
    pub fn trace(&self) -> Result<Observed<&'e Trace>, Row> {
        self.act.trace().map_err(Row::from)
    }

    /// Returns the replies of a judge to requests for scores, and the proof of what they decide.
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

    fn since(&self, seen: &ScopedEvidence<'_>) -> Result<Option<i64>, Row> {
        let Some(text) = self.updated_after.filter(|text| !text.is_empty()) else { return Ok(None) };
        let text = seen.expand("updated_after", text)?;
        let Some(instant) = time::parse(&text) else {
            let reason = format!(
                "`{text}` is not a valid time; write a time, such as `2026-05-14T12:00:00Z` or `{{{{run_started_at}}}}`"
            );
            return Err(broken("updated_after", reason));
        };
        let local = seen.act.context().templates.as_ref().and_then(|templates| templates.utc_offset_s);
        instant.epoch_us(local).map(Some).ok_or_else(|| {
            unknown("updated_after", format!("`{text}` has no time zone, and that of the run is unknown; add `Z`"))
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
