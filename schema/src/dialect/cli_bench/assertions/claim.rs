//! What the assertions have in common as claims about a finished task: the last command, its output, the state at a
//! position in the list, and how texts are shown.

use std::{borrow::Cow, collections::BTreeSet, fmt::Debug};

use serde::Serialize;

use crate::{
    act::Act,
    check::text::{CloseLine, Near, closest_line, shortened},
    evidence::{Answer, Capture, Change, ChangedFile, Content, Context, EntryKind, FileLog, Need, PathState, Ran},
    mask::texts_of,
    seen::{Observed, Proof, Seen, Why},
    text::Text,
    verdict::{Check, Judged, Mismatch, Row, Verdict},
};

/// How an assertion is judged.
pub(super) trait AssertionType: Debug + Serialize + Send + Sync {
    const NAME: &'static str;

    fn label(&self) -> String;

    /// Returns the observations that it needs beyond the task itself.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Judges the act, for the state after the commands that are before it in the list. `Err` is an early result,
    /// equivalent to `Ok`. Its place is relative to the value of the assertion.
    fn judge(&self, act: Act<'_>, after: &After) -> Judged;
}

/// An assertion, with its position in the list.
#[derive(Debug)]
pub(super) struct Claim<A> {
    pub(super) assertion: A,
    pub(super) after: After,
}

impl<A: AssertionType> Check for Claim<A> {
    fn needs(&self, _: &Context) -> Vec<Need> {
        self.assertion.needs()
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.assertion.judge(act, &self.after);
        vec![row.within(A::NAME).named(A::NAME, self.assertion.label())]
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(&self.assertion).unwrap_or_default())
    }
}

/// Maximum number of characters to show of a text, as in cli-bench. Checks always use the whole text.
const MAX_SHOWN_CHARACTERS: usize = 2_000;

const HELD: &str = "the command ended while a background process kept its output open, and its further output could \
    change the result";

pub(super) fn shown(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_SHOWN_CHARACTERS {
        return text.to_owned();
    }
    format!("{} ({length} characters in total)", shortened(text, MAX_SHOWN_CHARACTERS))
}

pub(super) fn brief(command: &str) -> String {
    shortened(&command.split_whitespace().collect::<Vec<_>>().join(" "), 200)
}

/// The last command that the model ran.
pub(super) struct Last<'e> {
    pub(super) command: &'e Ran,
    pub(super) before: &'e [Ran],
    pub(super) proof: Proof,
}

/// Returns the last command that the model ran, or the row of an assertion about it without one.
pub(super) fn last<'e>(act: Act<'e>, expected: impl FnOnce() -> String) -> Result<Last<'e>, Row> {
    let commands = act.commands()?;
    let (all, proof) = commands.complete()?;
    match all.split_last() {
        Some((command, before)) => Ok(Last { command, before, proof }),
        None => Err(Row::fail("", proof, Mismatch::new("the model ran no command", expected(), "no command"))),
    }
}

/// Returns the output of a command as a text, with the most precise known reason for a missing end.
pub(super) fn output<'e>(ran: &Ran, written: &'e Capture) -> Text<'e> {
    if ran.held { Text::beginning(written, HELD) } else { Text::of(written) }
}

/// Returns the line that differs from a missing text only in case, or the most similar one.
pub(super) fn near_text(text: &str, wanted: &str) -> Option<Near> {
    let lower = wanted.to_lowercase();
    let other_case = (lower.len() <= 2_000)
        .then(|| text.lines().take(20_000).enumerate().find(|(_, line)| line.to_lowercase().contains(&lower)));
    if let Some(Some((index, line))) = other_case {
        let text = shortened(line, 400).to_string();
        return Some(Near { note: format!("line {} contains it if case is ignored: {text}", index + 1), text });
    }
    closest_line(text, wanted).map(CloseLine::near)
}

/// State that a claim is about: the one observed after exactly these `verify` commands, which are
/// before it in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct After(pub Vec<String>);

impl After {
    /// Returns the state of a path. `content` requires that its content was observed. If there is no such observation,
    /// the log of the agent's files decides, so that a new claim can be judged without a run.
    pub(super) fn path<'e>(&self, act: Act<'e>, wanted: &str, content: bool) -> Seen<Observed<Cow<'e, PathState>>> {
        let fits =
            |need: &Need| matches!(need, Need::Path { path, content: held } if path == wanted && (*held || !content));
        let state = match self.answer(act, fits) {
            Ok(Answer::Path(state)) => Cow::Borrowed(state),
            Ok(other) => return Err(no_answer(other)),
            Err(why) => {
                // `verify` commands may have changed the files of the agent.
                let log = act.changed_files().filter(|_| self.0.is_empty());
                Cow::Owned(log.and_then(|log| state_in(log, wanted, content)).ok_or(why)?)
            }
        };
        Ok(Observed::new(state, act.open_end()))
    }

    pub(super) fn command<'e>(&self, act: Act<'e>, wanted: &str) -> Seen<Observed<&'e Ran>> {
        let fits = |need: &Need| matches!(need, Need::Command { run, .. } if run == wanted);
        match self.answer(act, fits)? {
            Answer::Command(answer) => Ok(Observed::new(answer, act.open_end())),
            other => Err(no_answer(other)),
        }
    }

    /// Returns the answer to the first matching need, if the recording has one for this position in the list.
    fn answer<'e>(&self, act: Act<'e>, fits: impl Fn(&Need) -> bool) -> Seen<&'e Answer> {
        let mut before = self.0.iter();
        let mut next = before.next();
        for observation in act.observations() {
            if next.is_none() && fits(&observation.need) {
                return Ok(&observation.answer);
            }
            if let Need::Command { run, .. } = &observation.need {
                if next != Some(run) {
                    break;
                }
                next = before.next();
            }
        }
        Err(Why::unknown(match next {
            None => "it was not observed",
            Some(_) => "it was not observed after the same `verify` commands",
        }))
    }
}

/// Returns the state of a path from the log of file changes; `None` if it is undecidable.
fn state_in(log: &FileLog, wanted: &str, content: bool) -> Option<PathState> {
    let below = wanted.strip_prefix("{{workdir}}/").unwrap_or(wanted);
    if below.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in below.split('/') {
        match name {
            "" | "." => {}
            // `a/..` is not always the starting directory, and `..` may leave the root.
            ".." => return None,
            name => names.push(name),
        }
    }
    let is_there = |file: &&ChangedFile| file.change != Change::Removed;
    let file_at = |path: &str| log.files.iter().filter(is_there).find(|file| file.path == path);
    for length in 1..=names.len() {
        let path = names[..length].join("/");
        let is_last = length == names.len();
        // `a/` must be a directory.
        let is_named = is_last && !below.ends_with('/');
        match (file_at(&path), log.rest.get(&path)) {
            (Some(file), _) if is_named => {
                let text = file.text.clone().map(Content::Text);
                return (text.is_some() || !content).then_some(PathState::File { content: text });
            }
            (None, Some(EntryKind::File)) if is_named => {
                return (!content).then_some(PathState::File { content: None });
            }
            (None, Some(EntryKind::Other)) if is_named => return Some(PathState::Other),
            // The target of a link was not observed.
            (None, Some(EntryKind::Link)) => return None,
            (None, Some(EntryKind::Directory)) => {}
            // A file has no children.
            (Some(_), _) | (None, Some(EntryKind::File | EntryKind::Other)) => {
                return Some(PathState::Missing { beside: Vec::new() });
            }
            (None, None) => {
                let beside = if is_last { beside(log, &names[..length - 1]) } else { Vec::new() };
                return (!log.cut).then_some(PathState::Missing { beside });
            }
        }
    }
    Some(PathState::Directory)
}

fn beside(log: &FileLog, directory: &[&str]) -> Vec<String> {
    let prefix: String = directory.iter().flat_map(|name| [*name, "/"]).collect();
    let files = log.files.iter().filter(|file| file.change != Change::Removed).map(|file| &file.path);
    let names = files.chain(log.rest.keys()).filter_map(|path| path.strip_prefix(&prefix));
    let names: BTreeSet<&str> = names.filter(|name| !name.contains('/')).collect();
    names.into_iter().map(str::to_owned).collect()
}

fn no_answer(answer: &Answer) -> Why {
    Why::unknown(if let Answer::Nothing(reason) = answer { reason.as_str() } else { "something else was observed" })
}

pub(super) fn path_need(path: &str, content: bool) -> Vec<Need> {
    vec![Need::Path { path: path.to_owned(), content }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_says_how_long_it_was() {
        assert_eq!(shown("short"), "short");
        let long = shown(&"x".repeat(3_000));
        assert!(long.ends_with("x… (3000 characters in total)") && long.len() < 2_050, "{long}");
    }
}
