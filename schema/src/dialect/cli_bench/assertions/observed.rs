//! Code that the assertions share: truncated and masked texts, the last command, answers to needs, and the rows of a
//! report.

use std::{borrow::Cow, collections::BTreeSet};

use crate::{
    check::text::{closest_line, shortened, trim, trim_start},
    document::Pointer,
    evidence::{Answer, Capture, Change, ChangedFile, Content, EntryKind, Evidence, FileLog, Need, PathState, Ran},
    verdict::{Mismatch, Presence, TRUNCATED, Verdict, VerdictBuilder},
};

/// Maximum number of characters to show of a text, as in cli-bench. Checks always use the whole text.
const MAX_SHOWN_CHARACTERS: usize = 2_000;

/// Maximum number of steps of the search for a text under masked parts.
const MAX_STEPS: usize = 4_000_000;

const HELD: &str = "the command ended while a background process kept its output open, and its further output could \
    change the result";
pub(super) const MASKED: &str = "part of the value is masked, and the masked text could change the result";

/// Returns a text as reports show it.
pub(super) fn shown(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_SHOWN_CHARACTERS {
        return text.to_owned();
    }
    format!("{} ({length} characters in total)", shortened(text, MAX_SHOWN_CHARACTERS))
}

/// Returns a command as messages show it.
pub(super) fn brief(command: &str) -> String {
    shortened(&command.split_whitespace().collect::<Vec<_>>().join(" "), 200)
}

/// Returns the row of an assertion.
pub(super) fn row(kind: &'static str, label: impl Into<String>) -> VerdictBuilder {
    VerdictBuilder::new(Pointer::root().key(kind), kind, label)
}

/// Returns the location of a field of an assertion.
pub(super) fn part(kind: &str, field: &str) -> Pointer {
    Pointer::root().key(kind).key(field)
}

/// Returns the last command that the model ran, or the verdict of an assertion about it without one.
pub(super) fn last<'e>(
    evidence: &'e Evidence,
    row: &VerdictBuilder,
    expected: impl FnOnce() -> String,
) -> Result<&'e Ran, Box<Verdict>> {
    let unknown = |reason: &str| Box::new(row.clone().unknown(reason));
    let log = evidence.commands.as_ref().ok_or_else(|| unknown("the commands were not recorded"))?;
    if let Some(reason) = log.gap() {
        return Err(unknown(reason));
    }
    log.commands.last().ok_or_else(|| Box::new(row.clone().fail(no_command(expected()))))
}

/// Returns the mismatch of an assertion about the last command if there was none.
fn no_command(expected: impl Into<String>) -> Mismatch {
    Mismatch {
        message: "the model ran no command".to_owned(),
        expected: expected.into(),
        actual: "no command".to_owned(),
        ..Mismatch::default()
    }
}

/// Returns the answer for an output of a command, with the most precise known reason for a missing part.
pub(super) fn of_output(found: Presence, ran: &Ran) -> Presence {
    if found == Presence::Unclear(TRUNCATED) && ran.held { Presence::Unclear(HELD) } else { found }
}

/// Searches for a text in captured output.
pub(super) fn contains(capture: &Capture, wanted: &str) -> Presence {
    let masked = !capture.masked.is_empty();
    if memchr::memmem::find(capture.text.as_bytes(), wanted.as_bytes()).is_some() {
        return if masked && wanted.contains('*') { Presence::Unclear(MASKED) } else { Presence::Yes };
    }
    if capture.cut {
        Presence::Unclear(TRUNCATED)
    } else if masked && may_hide(&capture.text, wanted) {
        Presence::Unclear(MASKED)
    } else {
        Presence::No
    }
}

/// Compares both texts, ignoring white space at both ends.
pub(super) fn equals(capture: &Capture, wanted: &str) -> Presence {
    let masked = !capture.masked.is_empty();
    let (text, wanted) = (trim(&capture.text), trim(wanted));
    if capture.cut {
        // The captured part must be a prefix of the expected text.
        let kept = trim_start(&capture.text);
        let begins = if masked { covers(kept, wanted, false) } else { wanted.starts_with(trim(kept)) };
        return if begins { Presence::Unclear(TRUNCATED) } else { Presence::No };
    }
    if text == wanted {
        return if masked && wanted.contains('*') { Presence::Unclear(MASKED) } else { Presence::Yes };
    }
    if masked && covers(text, wanted, true) { Presence::Unclear(MASKED) } else { Presence::No }
}

/// Whether a masked text can equal a text, or a prefix of it: an asterisk matches any character.
fn covers(masked: &str, text: &str, whole: bool) -> bool {
    let mut letters = text.chars();
    for sign in masked.chars() {
        match letters.next() {
            Some(letter) if sign == '*' || sign == letter => {}
            Some(_) => return false,
            None => return !whole && sign.is_whitespace(),
        }
    }
    !whole || letters.next().is_none()
}

/// Whether a masked text may contain a text, at least partly under the mask. True if the search takes too long.
pub(super) fn may_hide(masked: &str, wanted: &str) -> bool {
    let masked: Vec<char> = masked.chars().collect();
    let wanted: Vec<char> = wanted.chars().collect();
    if wanted.is_empty() || wanted.len() > masked.len() {
        return false;
    }
    let mut steps = 0;
    let mut next = 0;
    for (index, _) in masked.iter().enumerate().filter(|(_, sign)| **sign == '*') {
        let first = (index + 1).saturating_sub(wanted.len()).max(next);
        for start in first..=index.min(masked.len() - wanted.len()) {
            let same = |(sign, letter): (&char, &char)| {
                steps += 1;
                *sign == '*' || sign == letter
            };
            if masked[start..].iter().zip(&wanted).all(same) {
                return true;
            }
            if steps > MAX_STEPS {
                return true;
            }
        }
        next = index + 1;
    }
    false
}

/// Returns the note on a missing text: a line that differs only in case, or the most similar line.
pub(super) fn near_text(text: &str, wanted: &str) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let other_case = (lower.len() <= 2_000)
        .then(|| text.lines().take(20_000).enumerate().find(|(_, line)| line.to_lowercase().contains(&lower)));
    if let Some(Some((index, line))) = other_case {
        return vec![format!("line {} contains it if case is ignored: {}", index + 1, shortened(line, 400))];
    }
    closest_line(text, wanted)
        .map(|line| format!("line {} is the closest match: {}", line.number, line.text))
        .into_iter()
        .collect()
}

/// State that a claim is about: the one observed after exactly these `verify` commands, which are
/// before it in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct After(pub Vec<String>);

impl After {
    /// Returns the state of a path. `content` requires that its content was observed. If there is no such observation,
    /// the log of the agent's files decides, so that a new claim can be judged without a run.
    pub(super) fn path<'e>(
        &self,
        evidence: &'e Evidence,
        wanted: &str,
        content: bool,
    ) -> Result<Cow<'e, PathState>, String> {
        let fits =
            |need: &Need| matches!(need, Need::Path { path, content: held } if path == wanted && (*held || !content));
        match self.answer(evidence, fits) {
            Ok(Answer::Path(state)) => Ok(Cow::Borrowed(state)),
            Ok(other) => Err(no_answer(other)),
            Err(reason) => {
                // `verify` commands may have changed the files of the agent.
                let log = evidence.files.as_ref().filter(|_| self.0.is_empty());
                log.and_then(|log| state_in(log, wanted, content)).map(Cow::Owned).ok_or(reason)
            }
        }
    }

    /// Returns the result of a command.
    pub(super) fn command<'e>(&self, evidence: &'e Evidence, wanted: &str) -> Result<&'e Ran, String> {
        let fits = |need: &Need| matches!(need, Need::Command { run, .. } if run == wanted);
        match self.answer(evidence, fits)? {
            Answer::Command(answer) => Ok(answer),
            other => Err(no_answer(other)),
        }
    }

    /// Returns the answer to the first matching need, if the recording has one for this position in the list.
    fn answer<'e>(&self, evidence: &'e Evidence, fits: impl Fn(&Need) -> bool) -> Result<&'e Answer, String> {
        let mut before = self.0.iter();
        let mut next = before.next();
        for observation in &evidence.observations {
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
        Err(match next {
            None => "it was not observed".to_owned(),
            Some(_) => "it was not observed after the same `verify` commands".to_owned(),
        })
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

/// Returns the names in a directory.
fn beside(log: &FileLog, directory: &[&str]) -> Vec<String> {
    let prefix: String = directory.iter().flat_map(|name| [*name, "/"]).collect();
    let files = log.files.iter().filter(|file| file.change != Change::Removed).map(|file| &file.path);
    let names = files.chain(log.rest.keys()).filter_map(|path| path.strip_prefix(&prefix));
    let names: BTreeSet<&str> = names.filter(|name| !name.contains('/')).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Returns the reason for a missing answer.
fn no_answer(answer: &Answer) -> String {
    if let Answer::Nothing(reason) = answer { reason.clone() } else { "something else was observed".to_owned() }
}

/// Returns a need that consists of a path.
pub(super) fn path_need(path: &str, content: bool) -> Vec<Need> {
    vec![Need::Path { path: path.to_owned(), content }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Capture {
        Capture::whole(text.to_owned())
    }

    /// Returns a text whose asterisks are masked parts.
    fn starred(text: &str) -> Capture {
        let stars = text.char_indices().filter(|(_, sign)| *sign == '*').map(|(at, _)| (at, at + 1));
        Capture { masked: stars.collect(), ..Capture::whole(text.to_owned()) }
    }

    fn cut(text: &str) -> Capture {
        Capture { cut: true, ..Capture::whole(text.to_owned()) }
    }

    #[test]
    fn a_text_may_hide_under_stars() {
        for (masked, wanted, hides) in [
            ("key ****", "abcd", true),
            ("key ****", "y ab", true),
            ("key **** end", "ab end", true),
            ("key **** end", "ab end.", false),
            ("key ****", "abcde", false),
            ("key ****", "x", true),
            ("no stars", "x", false),
            ("*", "é", true),
        ] {
            assert_eq!(may_hide(masked, wanted), hides, "{masked} {wanted}");
        }
    }

    #[test]
    fn contains_never_trusts_what_is_missing() {
        assert_eq!(contains(&kept("abc"), "b"), Presence::Yes);
        assert_eq!(contains(&kept("abc"), "B"), Presence::No);
        assert_eq!(contains(&cut("abc"), "b"), Presence::Yes);
        assert_eq!(contains(&cut("abc"), "d"), Presence::Unclear(TRUNCATED));
        assert_eq!(contains(&starred("a *** c"), "***"), Presence::Unclear(MASKED));
        assert_eq!(contains(&kept("a *** c"), "***"), Presence::Yes);
        assert_eq!(contains(&starred("a *** c"), "xyz c"), Presence::Unclear(MASKED));
        assert_eq!(contains(&starred("a *** c"), "a x"), Presence::Unclear(MASKED));
        assert_eq!(contains(&starred("a *** c"), "q c"), Presence::Unclear(MASKED));
        assert_eq!(contains(&starred("a *** c"), "wxyz c"), Presence::No);
    }

    #[test]
    fn equality_trims_and_never_trusts_what_is_missing() {
        assert_eq!(equals(&kept("\u{feff} OK\r\n"), "OK "), Presence::Yes);
        assert_eq!(equals(&kept("OK  now"), "OK now"), Presence::No);
        assert_eq!(equals(&cut(" OK"), "OK now"), Presence::Unclear(TRUNCATED));
        assert_eq!(equals(&cut("KO"), "OK now"), Presence::No);
        assert_eq!(equals(&cut("OK now"), "OK"), Presence::No);
        assert_eq!(equals(&cut("OK \n"), "OK"), Presence::Unclear(TRUNCATED));
        assert_eq!(equals(&starred("key ***"), "key abc"), Presence::Unclear(MASKED));
        assert_eq!(equals(&starred("key ***"), "key ab"), Presence::No);
        assert_eq!(equals(&starred("key ***"), "key ***"), Presence::Unclear(MASKED));
    }

    #[test]
    fn what_is_shown_says_how_long_it_was() {
        assert_eq!(shown("short"), "short");
        let long = shown(&"x".repeat(3_000));
        assert!(long.ends_with("x… (3000 characters in total)") && long.len() < 2_050, "{long}");
    }
}
