//! Files: the state of a path, and those that match a pattern, once they exist.

pub(crate) mod glob;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use speclens_schema::{
    evidence::{Answer, Capture, Content, FilesAnswer, FilesNeed, PathState, SeenFile},
    template,
};

use super::{
    content,
    view::{View, looking},
};
use crate::clock::SuspendAwareTimer;

const INTERVAL: Duration = Duration::from_millis(100);

const MAX_FILES: usize = 1_000;

/// Maximum number of bytes of a log that is kept as a whole, so that another text can be searched for later.
const MAX_WHOLE_LOG_BYTES: usize = 64 * 1024;

type Files = BTreeMap<String, State>;

/// The state of a file: if it is the same twice, the file was not written in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    directory: bool,
    length: u64,
    modified_us: Option<i64>,
}

impl State {
    fn of(path: &Path) -> Option<State> {
        let metadata = fs::metadata(path).ok()?;
        let modified_us = metadata.modified().ok().and_then(epoch_us);
        Some(State { directory: metadata.is_dir(), length: metadata.len(), modified_us })
    }

    fn is_fresh(self, since_us: Option<i64>) -> bool {
        since_us.is_none_or(|since| self.modified_us.is_some_and(|modified| modified >= since))
    }
}

/// Looks for files, again and again until a suitable one exists, or the time is over. If the content of a file is
/// wanted, the file is accepted when it is unchanged between two observations, so a half-written file is not.
pub(super) async fn observe(need: &FilesNeed, view: &View) -> Answer {
    let timer = SuspendAwareTimer::begin(view.suspended);
    let wait = Duration::from_millis(need.wait_ms);
    let mut first_seen: BTreeMap<String, (State, u64)> = BTreeMap::new();
    let mut before = Files::new();
    // Whether the time was over at the last observation, and this one decides.
    let mut is_overtime = false;
    loop {
        let begun = timer.elapsed();
        let is_over = begun >= wait;
        let (wanted, directory) = (need.clone(), view.directory.clone());
        let Look { files, cut } = match looking(move || look(&wanted, &directory)).await {
            Ok(look) => look,
            Err(nothing) => return nothing,
        };
        let at_ms = seen_at(begun, wait);
        for (path, state) in &files {
            match first_seen.get(path) {
                Some((known, _)) if known == state => {}
                Some(_) | None => drop(first_seen.insert(path.clone(), (*state, at_ms))),
            }
        }
        let counts = |files: &Files| -> Files {
            files
                .iter()
                .filter(|(_, state)| state.is_fresh(need.since_us))
                .map(|(path, it)| (path.clone(), *it))
                .collect()
        };
        let found = counts(&files);
        let is_last = need.wait_ms == 0 || is_overtime || (is_over && found.is_empty());
        let is_steady = !found.is_empty() && (!need.content || found == counts(&before));
        if is_last || is_steady {
            let listed = files.iter().map(|(path, state)| {
                let seen_after_ms = first_seen.get(path).map_or(at_ms, |(_, at_ms)| *at_ms);
                (path.clone(), *state, seen_after_ms)
            });
            let (listed, wanted) = (listed.collect(), need.clone());
            let (directory, limit) = (view.directory.clone(), view.limit);
            let gathered = match looking(move || gather(listed, &wanted, &directory, limit)).await {
                Ok(gathered) => gathered,
                Err(nothing) => return nothing,
            };
            if is_last || gathered.is_steady {
                let waited_ms = match need.wait_ms {
                    0 => 0,
                    _ if is_over => need.wait_ms,
                    _ => millis(timer.elapsed()),
                };
                let FilesAnswer { files, beside, .. } = gathered.answer;
                return Answer::Files(FilesAnswer { files, waited_ms, cut: cut || gathered.answer.cut, beside });
            }
        }
        is_overtime = is_over;
        before = files;
        let left = wait.saturating_sub(timer.elapsed());
        let pause = if left.is_zero() { INTERVAL } else { left.min(INTERVAL) };
        tokio::time::sleep(pause).await;
    }
}

/// Returns the time of an observation. The one at the end of the wait is never on time to the millisecond.
fn seen_at(begun: Duration, wait: Duration) -> u64 {
    millis(if begun < wait + INTERVAL { begun.min(wait) } else { begun })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

struct Look {
    files: Files,
    cut: bool,
}

fn look(need: &FilesNeed, directory: &Path) -> Look {
    let mut matches = if need.wildcards { glob::glob(directory, &need.pattern) } else { glob::Matches::default() };
    if !need.wildcards || (matches.paths.is_empty() && need.literal) {
        matches.paths = vec![need.pattern.clone()];
    }
    // Without a name, this would be the directory itself.
    matches.paths.retain(|path| !path.is_empty());
    let states = matches.paths.into_iter().filter_map(|path| {
        let state = State::of(&directory.join(&path))?;
        Some((path, state))
    });
    Look { files: states.collect(), cut: matches.cut }
}

struct Gathered {
    answer: FilesAnswer,
    is_steady: bool,
}

/// Reads the wanted parts of the files. The limit of bytes applies to all of them together.
fn gather(listed: Vec<(String, State, u64)>, need: &FilesNeed, directory: &Path, limit: usize) -> Gathered {
    let mut answer = FilesAnswer { cut: listed.len() > MAX_FILES, ..FilesAnswer::default() };
    let mut is_steady = true;
    let mut left = limit;
    for (path, state, seen_after_ms) in listed.into_iter().take(MAX_FILES) {
        let place = directory.join(&path);
        let content = (need.content && !state.directory).then(|| match need.searches.is_empty() {
            true => content::read(&place, left),
            // A long log is mostly about other runs: what was found is kept, not the log.
            false => match content::read(&place, MAX_WHOLE_LOG_BYTES.min(left)) {
                Content::Text(Capture { cut: true, .. }) => Content::Text(Capture { cut: true, ..Capture::default() }),
                whole => whole,
            },
        });
        if let Some(Content::Text(Capture { text, .. })) = &content {
            left = left.saturating_sub(text.len());
        }
        let searches = match &content {
            Some(Content::Text(Capture { cut: true, .. })) => content::search(&place, &need.searches),
            Some(Content::Text(Capture { cut: false, .. }) | Content::Unreadable(_)) | None => Vec::new(),
        };
        if need.content {
            is_steady &= State::of(&place) == Some(state);
        }
        let State { directory, modified_us, .. } = state;
        answer.files.push(SeenFile { path, directory, modified_us, seen_after_ms, content, searches });
    }
    if answer.files.is_empty() {
        answer.beside = beside(need, directory);
    }
    Gathered { answer, is_steady }
}

fn beside(need: &FilesNeed, directory: &Path) -> Vec<String> {
    let place = PathBuf::from(&need.pattern);
    let has_wildcards = |path: &Path| need.wildcards && path.to_str().is_none_or(glob::has_wildcards);
    match place.parent() {
        Some(parent) if !has_wildcards(parent) => content::beside(&directory.join(place)),
        Some(_) | None => Vec::new(),
    }
}

/// Returns the time in microseconds since the Unix epoch.
fn epoch_us(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).ok(),
        Err(before) => i64::try_from(before.duration().as_micros()).ok().map(|micros| -micros),
    }
}

pub(super) async fn path(path: &str, content: bool, view: &View) -> Answer {
    let path = template::in_workdir(path, &view.directory.to_string_lossy());
    let place = view.directory.join(&path);
    let limit = content.then_some(view.limit);
    match looking(move || state_of(&place, limit)).await {
        Ok(Ok(state)) => Answer::Path(state),
        Ok(Err(error)) => Answer::Nothing(format!("cannot observe `{path}`: {error}")),
        Err(nothing) => nothing,
    }
}

/// Returns the state of a path, following links; of a file, with as many bytes as wanted.
fn state_of(path: &Path, limit: Option<usize>) -> io::Result<PathState> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if leads_nowhere(path, &error) => {
            return Ok(PathState::Missing { beside: content::beside(path) });
        }
        Err(error) => return Err(error),
    };
    Ok(if metadata.is_dir() {
        PathState::Directory
    } else if metadata.is_file() {
        PathState::File { content: limit.map(|limit| content::read(path, limit)) }
    } else {
        PathState::Other
    })
}

/// Returns whether an error means that a path does not exist, rather than that it is inaccessible. A link to itself
/// leads nowhere.
fn leads_nowhere(path: &Path, error: &io::Error) -> bool {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        io::ErrorKind::PermissionDenied => false,
        _ => is_link(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_changed_after_it_was_listed_is_not_steady() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |text: &str| fs::write(directory.path().join("x"), text).expect("written");
        write("half");
        let need = FilesNeed { pattern: "x".to_owned(), content: true, ..FilesNeed::default() };
        let Look { files, .. } = look(&need, directory.path());
        let listed = || files.iter().map(|(path, state)| (path.clone(), *state, 0)).collect();
        assert!(gather(listed(), &need, directory.path(), 100).is_steady);
        write("half and half");
        assert!(!gather(listed(), &need, directory.path(), 100).is_steady);
        let existence = FilesNeed { content: false, ..need };
        assert!(gather(listed(), &existence, directory.path(), 100).is_steady, "what it holds does not matter");
    }
}
