//! The gateway log of one run, for assertions and for measurements.

use crate::{
    dialect::clawspec::{scope::Scope, scoped_evidence::ScopedEvidence, words::Artifact},
    evidence::{Context, LinePlace, LogAnswer, LogNeed, Need, ReadFailure},
    gateway::log::{Call, CalleeLog, GatewayLog, RunRelation, Unclear, Usage},
    seen::{Found, Observed, Proof, Why},
    verdict::{At, FilePlace, Row},
};

const RUN_ID: &str = "{{run_id}}";

pub(crate) struct RunLog<'e> {
    pub(super) field: &'static str,
    pub(super) run: String,
    pub(super) answer: &'e LogAnswer,
    /// The entries, and the reason why some may be missing.
    pub(super) seen: Observed<&'e LogAnswer>,
    pub(super) lines: Vec<(&'e str, LinePlace)>,
    pub(crate) log: GatewayLog,
    /// Why the run is not known.
    pub(super) unknown_run: Option<String>,
    /// Whether the log is that of a callee that may have other runs.
    pub(super) is_partial: bool,
}

impl<'e> RunLog<'e> {
    pub(crate) fn of(
        seen: &ScopedEvidence<'e>,
        log_path: Option<&Artifact>,
        run_id: Option<&String>,
    ) -> Result<RunLog<'e>, Row> {
        let field = if log_path.is_some() { "log_path" } else { "" };
        let callee = seen.scope.callee(run_id);
        let written = run_id.filter(|_| callee.is_none());
        let run_field = if run_id.is_some() { "run_id" } else { "" };
        let run = seen.expand(run_field, written.map_or(RUN_ID, String::as_str))?;
        let path = log_path.map(|path| seen.expand(field, &path.0)).transpose()?;
        let seen = seen.act.log(&LogNeed { path, run: run.clone(), moment: seen.scope.moment }).at(field)?;
        let answer = *seen.so_far();
        let lines = answer.placed().collect();
        let Some(handoff) = callee else {
            let log = GatewayLog::of(answer, &run);
            let named = if run.is_empty() { "any run".to_owned() } else { format!("run `{run}`") };
            return Ok(RunLog { field, run: named, answer, seen, lines, log, unknown_run: None, is_partial: false });
        };
        let CalleeLog { log, ids, is_partial } = GatewayLog::of_callee(answer, &run, handoff);
        let unknown_run = ids.is_empty().then(|| {
            let what = if is_partial { "the id of a run of" } else { "a delegation to" };
            format!("{} contain {what} `{}`, so its run is unknown", logs_do_not(answer), handoff.1)
        });
        let named = format!("the run of `{}`, `{}`", handoff.1, ids.join("`, `"));
        Ok(RunLog { field, run: named, answer, seen, lines, log, unknown_run, is_partial })
    }

    /// Whether the log mentions the run.
    pub(crate) fn is_known(&self) -> bool {
        self.answer.was_read() && self.log.known.is_some()
    }

    /// The tokens of the run and of the runs that it started.
    pub(crate) fn sum(&self, tokens: fn(&Usage) -> u64) -> u64 {
        self.log.usages.iter().fold(0_u64, |sum, usage| sum.saturating_add(tokens(usage)))
    }

    /// Returns an error unless the log is known to contain everything that the run did with tools.
    pub(super) fn complete(&self, is_relevant: impl Fn(&str) -> bool) -> Result<Proof, Row> {
        let proof = self.with_run()?;
        self.with_readable(is_relevant)?;
        self.with_calls()?;
        Ok(proof)
    }

    /// Returns an error if a line about a relevant tool, or about one that is not known, cannot be read.
    pub(crate) fn with_readable(&self, is_relevant: impl Fn(&str) -> bool) -> Result<(), Row> {
        let is_relevant = |unclear: &&Unclear| unclear.tool.as_ref().is_none_or(|tool| is_relevant(tool));
        self.log.unclear.iter().find(is_relevant).map_or(Ok(()), |unclear| self.is_unreadable(unclear.line))
    }

    /// Returns an error if a line names a tool in another way than those that are known, or if a tool was called whose
    /// name differs only in case.
    pub(super) fn without_mention(&self, tool: &str) -> Result<(), Row> {
        if let Some(call) = self.log.calls.iter().find(|call| call.tool.eq_ignore_ascii_case(tool)) {
            return Err(Row::unknown(
                "tool",
                format!("the run called `{}`, whose name differs only in case", call.tool),
            ));
        }
        let line = self.log.sentence_with(tool, |line| self.lines.get(line).map(|(text, _)| *text));
        line.map_or(Ok(()), |line| self.is_unreadable(line))
    }

    pub(super) fn is_unreadable(&self, line: usize) -> Result<(), Row> {
        let Some((text, place)) = self.lines.get(line) else { return Ok(()) };
        let line = place.line + 1;
        let reason = format!(
            "line {line} of the log is about the run, but it cannot be read: `{}`",
            crate::check::text::shortened(text, MAX_LINE)
        );
        Err(Row::unknown(self.field, reason))
    }

    /// Returns an error unless the log mentions the run, and everything about it; otherwise it is unknown what the run
    /// did not do.
    pub(crate) fn with_run(&self) -> Result<Proof, Row> {
        if !self.answer.was_read() {
            return Err(match self.answer.files.iter().find_map(|file| Some((&file.path, file.unread.as_ref()?))) {
                Some((path, ReadFailure::Directory)) => {
                    Row::broken(self.field, format!("`{path}` is a directory; name a file"))
                }
                Some((path, ReadFailure::Failed(reason))) => {
                    Row::broken(self.field, format!("`{path}` cannot be read: {reason}"))
                }
                None => Row::unknown(self.field, self.missing()),
            });
        }
        if let Some(reason) = &self.unknown_run {
            return Err(Row::unknown("run_id", reason.clone()));
        }
        // The run may be mentioned in the missing part.
        let proof = self.whole()?;
        if self.log.known.is_none() {
            let reason = format!("{} mention {}", logs_do_not(self.answer), self.run);
            return Err(Row::unknown(self.field, reason));
        }
        Ok(proof)
    }

    pub(super) fn missing(&self) -> String {
        let name = self.answer.path.rsplit('/').next().unwrap_or_default();
        let near = crate::words::nearest(name, self.answer.beside.iter().map(String::as_str));
        let beside = near.map(|near| format!("; the same directory contains `{near}`")).unwrap_or_default();
        let path = &self.answer.path;
        let missing = match path.contains("{date}") {
            true => format!("no log matches `{path}`"),
            false => format!("the log `{path}` does not exist"),
        };
        format!("{missing}, so it is unknown what the run did{beside}")
    }

    /// Returns an error unless the log contains tool calls.
    pub(crate) fn with_calls(&self) -> Result<(), Row> {
        if let Some(number) = self.log.other_program {
            let line = self.place(number).map(|place| place.line + 1).unwrap_or_default();
            let reason = format!(
                "according to line {line} of the log, another program performed the run, and the log does not contain its tool calls"
            );
            return Err(Row::unknown(self.field, reason));
        }
        if !self.log.is_detailed {
            let reason = format!(
                "{} contain tool calls; set `logging.level` to `debug` in the settings of the gateway",
                logs_do_not(self.answer)
            );
            return Err(Row::unknown(self.field, reason));
        }
        Ok(())
    }

    /// Returns the proof that nothing is missing in what the log says about the run.
    pub(super) fn whole(&self) -> Result<Proof, Row> {
        // The log says more precisely than the act what is missing.
        if let Some(gap) = self.answer.gaps.iter().chain(&self.log.gaps).next() {
            return Err(Row::unknown(self.field, gap.reason()));
        }
        let partial = self.is_partial.then(|| {
            Why::unknown(
                "the log does not contain the id of every run of the callee, and the other runs could change the result",
            )
        });
        Ok(self.seen.as_ref().with_gap(partial).complete().at(self.field)?.1)
    }

    /// Searches the calls. They are not all known unless the log is known to contain everything that the run did with
    /// the relevant tools.
    pub(super) fn search<'s, R>(
        &'s self,
        is_relevant: impl Fn(&str) -> bool,
        look: impl FnOnce(&'s GatewayLog) -> Option<R>,
    ) -> Result<Found<R>, Row> {
        match self.seen.as_ref().map(|_| ()).search(|()| look(&self.log)) {
            Ok(Found::Yes(seen, proof)) => Ok(Found::Yes(seen, proof)),
            Ok(Found::No(_)) | Err(_) => self.complete(is_relevant).map(Found::No),
        }
    }

    pub(super) fn place(&self, number: usize) -> Option<LinePlace> {
        self.lines.get(number).map(|(_, place)| *place)
    }

    /// Returns the location of a line of the log, with a label.
    pub(super) fn line(&self, message: impl Into<String>, number: usize) -> Option<(String, FilePlace)> {
        let (text, place) = self.lines.get(number)?;
        let file = self.answer.files.get(place.file)?;
        let mut found = FilePlace::bytes(&file.path, text, 0..text.len());
        if let Some(line_part) = &mut found.line_part {
            line_part.line = place.line;
        }
        Some((message.into(), found))
    }

    /// The calls that were made instead of a tool: a note, what to do, and the location of one.
    pub(super) fn instead_of(&self, tool: &str) -> (String, Option<&'static str>, Option<(String, FilePlace)>) {
        let mut started = self.log.calls.iter().filter(|call| call.relation == RunRelation::Started);
        if let Some(call) = started.find(|call| call.tool == tool) {
            let note = format!("run `{}`, which this run started, called it", call.run);
            let place = self.line("called here, in another run", call.line);
            return (note, Some("set `run_id` to the id of that run"), place);
        }
        let mut names: Vec<&str> = self.log.own_calls().map(|call| call.tool.as_str()).collect();
        if names.is_empty() {
            return ("the run called no tool".to_owned(), None, None);
        }
        names.sort_unstable();
        names.dedup();
        let Some(near) = crate::words::nearest(tool, names) else {
            return (format!("the run called {}", self.counted()), None, None);
        };
        let place = self.log.own_calls().find(|call| call.tool == near);
        let place = place.and_then(|call| self.line(format!("`{near}` was called here"), call.line));
        (format!("the run called `{near}`"), None, place)
    }

    /// Returns the called tools in order, with the number of consecutive equal calls.
    pub(super) fn counted(&self) -> String {
        let tools: Vec<&str> = self.log.own_calls().map(|call| call.tool.as_str()).collect();
        let groups: Vec<&[&str]> = tools.chunk_by(|one, other| one == other).collect();
        let shown = groups.iter().take(MAX_SHOWN).map(|group| match group {
            [only] => format!("`{only}`"),
            several => format!("`{}` {} times", several[0], several.len()),
        });
        let shown: Vec<String> = shown.collect();
        let more = if groups.len() > MAX_SHOWN { ", and more" } else { "" };
        format!("{}{more}", shown.join(", "))
    }
}

/// Returns the files that were read, as the subject of what they do not do. The path of the log may be a pattern.
pub(super) fn logs_do_not(answer: &LogAnswer) -> String {
    let read: Vec<&str> =
        answer.files.iter().filter(|file| file.unread.is_none()).map(|file| file.path.as_str()).collect();
    match read.as_slice() {
        [] => format!("the log `{}` does not", answer.path),
        [only] => format!("the log `{only}` does not"),
        several => format!("the logs `{}` do not", several.join("`, `")),
    }
}

/// Returns where a call was made, in the run itself or in one that it started.
pub(super) fn called_here(call: &Call) -> String {
    match call.relation {
        RunRelation::Own => "called here".to_owned(),
        RunRelation::Started => format!("called here, in run `{}`, which this run started", call.run),
    }
}

/// Maximum number of calls in a note.
const MAX_SHOWN: usize = 12;

/// Maximum number of characters of a line in a reason.
const MAX_LINE: usize = 200;

pub(super) fn log_needs(
    log_path: Option<&Artifact>,
    run_id: Option<&String>,
    scope: &Scope,
    context: &Context,
) -> Vec<Need> {
    let path = log_path.map(|path| scope.expand(&path.0, context)).transpose();
    // The log of the run that delegated contains the runs of the callee.
    let run_id = run_id.filter(|_| scope.callee(run_id).is_none());
    let run = scope.expand(run_id.map_or(RUN_ID, String::as_str), context);
    let need = path.ok().zip(run.ok()).map(|(path, run)| LogNeed { path, run, moment: scope.moment });
    need.map(Need::Log).into_iter().collect()
}

/// Returns the evidence that is needed to measure the gateway log.
pub(crate) fn own_log_needs(scope: &Scope, context: &Context) -> Vec<Need> {
    log_needs(None, None, scope, context)
}
