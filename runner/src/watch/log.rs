//! The log of a gateway: its end before an act, and the lines since then.

mod family;
mod scan;

use std::{
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use speclens_schema::{
    evidence::{Capture, LinePlace, LogAnswer, LogFile, LogGap, LogNeed, ObservationTime, ReadFailure},
    gateway::log::{GatewayLog, Lineage},
};

use crate::{files::open_regular, observe::content};
use family::{Family, Member};
use scan::{At, ScanResult, Source};

use crate::trace::Identity;

const MAX_BYTES: usize = 768 * 1024;

const INTERVAL: Duration = Duration::from_millis(100);

/// Number of bytes before the end of a file that identify it.
const TAIL_BYTES: u64 = 64;

/// Maximum number of rotated files: a gateway removes the oldest.
const MAX_SET_ASIDE: u32 = 5;

#[derive(Clone, Debug)]
pub(crate) struct LogWatch {
    family: Family,
    directory: PathBuf,
    marks: Arc<[Mark]>,
}

#[derive(Debug)]
struct Mark {
    path: String,
    key: FileKey,
    end: u64,
    /// The bytes before the end.
    tail: Vec<u8>,
    /// The number of lines before the end, once counted.
    lines: OnceLock<usize>,
    /// The open file: even if it is removed, it is read to its end, since it may have been written to.
    file: Option<File>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FileKey {
    #[cfg(unix)]
    Node { device: u64, inode: u64 },
    #[cfg(not(unix))]
    Path(PathBuf),
}

#[derive(Debug)]
pub(crate) struct Reading {
    pub answer: LogAnswer,
    pub is_half: bool,
}

impl LogWatch {
    /// Notes the current end of the log with this pattern. `{date}` in the pattern is the day; a relative path is below
    /// the directory.
    pub(crate) fn begin(pattern: &str, directory: &Path) -> LogWatch {
        let family = Family::new(pattern, directory);
        let recent = family.last_days();
        let mark = |member: Member| Mark::of(&member, recent.contains(&member)).ok();
        let marks = family.members().into_iter().filter_map(mark).collect();
        LogWatch { family, directory: directory.to_owned(), marks }
    }

    /// Returns the log once it satisfies a predicate; never, if it does not. The run is known by its id, and by its
    /// session key if the gateway was given one.
    pub(crate) async fn until(&self, identity: &Identity, is_enough: fn(&GatewayLog) -> bool) {
        let mut before = None;
        loop {
            let (watch, whose, known) = (self.clone(), identity.clone(), before.take());
            let look = move || {
                let sizes = watch.sizes();
                (known.as_ref() != Some(&sizes) && is_enough(&watch.read(&whose)), sizes)
            };
            match tokio::task::spawn_blocking(look).await {
                Ok((true, _)) => return,
                Ok((false, sizes)) => before = Some(sizes),
                Err(error) => {
                    tracing::error!(%error, "reading the gateway's log failed");
                    return std::future::pending().await;
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    pub(crate) fn read(&self, identity: &Identity) -> GatewayLog {
        GatewayLog::of(&self.collect(identity), identity.run_id.as_deref().unwrap_or_default())
    }

    pub(crate) fn collect(&self, identity: &Identity) -> LogAnswer {
        let run = identity.run_id.clone().unwrap_or_default();
        self.reading(&LogNeed { path: None, run, moment: ObservationTime::After }, identity).answer
    }

    fn sizes(&self) -> Sizes {
        let size = |member: Member| Some((std::fs::metadata(&member.place).ok()?.len(), member.path));
        self.family.members().into_iter().filter_map(size).collect()
    }

    fn reading(&self, need: &LogNeed, identity: &Identity) -> Reading {
        let mut gaps = Vec::new();
        let mut opened: Vec<Opened<'_>> = Vec::new();
        let mut seen = Vec::new();
        let members = self.family.members();
        for member in &members {
            let open = Opened::of(member);
            let key = open.file.as_ref().ok().and_then(|file| Some(FileKey::of(&file.metadata().ok()?, &member.place)));
            let mark = key.as_ref().and_then(|key| self.marks.iter().find(|mark| mark.key == *key));
            seen.extend(key.clone());
            opened.push(match mark {
                Some(mark) => open.since(mark, &mut gaps),
                None => Opened { is_recent: true, ..open },
            });
        }
        let has_last = members.iter().any(|member| member.number >= MAX_SET_ASIDE);
        for mark in self.marks.iter().filter(|mark| !seen.contains(&mark.key)) {
            let Some(file) = &mark.file else { continue };
            if has_last {
                gaps.push(LogGap::Removed);
            }
            let file = file.try_clone().map_err(|error| ReadFailure::Failed(error.to_string()));
            opened
                .insert(0, Opened { path: mark.path.clone(), file, from: mark.end, mark: Some(mark), is_recent: true });
        }
        let session = identity.session_key.clone().filter(|_| identity.run_id.as_deref() == Some(need.run.as_str()));
        let place = need.path.as_deref().unwrap_or(self.family.pattern());
        read(opened, need, session, gaps, place, &self.directory)
    }
}

type Sizes = Vec<(u64, String)>;

/// Reads the lines of a run: those of the act if the run is the act's own and its log was watched, or else all.
pub(crate) fn look(
    need: &LogNeed,
    pattern: &str,
    directory: &Path,
    watch: Option<(Option<&LogWatch>, &Identity)>,
) -> Reading {
    let family = Family::new(pattern, directory);
    let is_of_family = need.path.as_ref().is_none_or(|path| family.around(path).is_some());
    let own = watch.filter(|(_, identity)| need.run.is_empty() || identity.run_id.as_ref() == Some(&need.run));
    if let Some((Some(log), identity)) = own.filter(|_| is_of_family) {
        return log.reading(need, identity);
    }
    let session = own.filter(|_| !need.run.is_empty()).and_then(|(_, identity)| identity.session_key.clone());
    let members = match &need.path {
        None => family.last_days(),
        Some(path) => family.around(path).unwrap_or_else(|| family::members(path, directory)),
    };
    let opened = members.iter().map(Opened::of).collect();
    let place = need.path.as_deref().unwrap_or(pattern);
    read(opened, need, session, Vec::new(), place, directory)
}

pub(crate) fn of_external_run(identity: &Identity, pattern: &str, directory: &Path) -> GatewayLog {
    let Some(run) = identity.run_id.clone() else { return GatewayLog::default() };
    let need = LogNeed { path: None, run, moment: ObservationTime::After };
    GatewayLog::of(&look(&need, pattern, directory, Some((None, identity))).answer, &need.run)
}

struct Opened<'m> {
    path: String,
    file: Result<File, ReadFailure>,
    from: u64,
    mark: Option<&'m Mark>,
    is_recent: bool,
}

impl<'m> Opened<'m> {
    fn of(member: &Member) -> Opened<'m> {
        let file = open_regular(&member.place).map_err(|error| match member.place.is_dir() {
            true => ReadFailure::Directory,
            false => ReadFailure::Failed(error.to_string()),
        });
        Opened { path: member.path.clone(), file, from: 0, mark: None, is_recent: false }
    }

    /// Returns the same from the marked end. If the bytes before it differ, the file was truncated, and is read as a
    /// whole.
    fn since(self, mark: &'m Mark, gaps: &mut Vec<LogGap>) -> Opened<'m> {
        let is_same = self.file.as_ref().is_ok_and(|file| tail(file, mark.end).is_ok_and(|found| found == mark.tail));
        if !is_same {
            gaps.push(LogGap::Truncated);
            return Opened { is_recent: true, ..self };
        }
        Opened { from: mark.end, mark: Some(mark), is_recent: true, ..self }
    }
}

impl Mark {
    fn of(member: &Member, is_recent: bool) -> io::Result<Mark> {
        let file = open_regular(&member.place)?;
        let metadata = file.metadata()?;
        let end = metadata.len();
        let tail = tail(&file, end)?;
        let key = FileKey::of(&metadata, &member.place);
        Ok(Mark { path: member.path.clone(), key, end, tail, lines: OnceLock::new(), file: is_recent.then_some(file) })
    }
}

impl FileKey {
    #[cfg(unix)]
    fn of(metadata: &Metadata, _: &Path) -> FileKey {
        use std::os::unix::fs::MetadataExt;
        FileKey::Node { device: metadata.dev(), inode: metadata.ino() }
    }

    #[cfg(not(unix))]
    fn of(_: &Metadata, place: &Path) -> FileKey {
        FileKey::Path(place.to_owned())
    }
}

/// Returns the bytes before a place in a file.
fn tail(file: &File, end: u64) -> io::Result<Vec<u8>> {
    use io::Read;

    let length = end.min(TAIL_BYTES);
    let mut bytes = Vec::new();
    At { file, offset: end - length }.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read(
    opened: Vec<Opened<'_>>,
    need: &LogNeed,
    session: Option<String>,
    mut gaps: Vec<LogGap>,
    place: &str,
    directory: &Path,
) -> Reading {
    let mut files = Vec::new();
    let mut sources = Vec::new();
    // For each source, its place among the files and the positions of its lines.
    let mut origins = Vec::new();
    for Opened { path, file, from, mark, is_recent } in opened {
        let (file, unread) = match file {
            Ok(file) => (Some(file), None),
            Err(reason) => (None, Some(reason)),
        };
        if let Some(file) = file {
            origins.push((files.len(), mark));
            sources.push(Source { file, from, is_recent });
        }
        files.push(LogFile { path, unread });
    }
    let lineage = Lineage::of(&need.run, session.as_deref());
    let ScanResult { lines, gaps: found, is_half, failed } = scan::scan(&sources, lineage, MAX_BYTES);
    gaps.extend(found);
    gaps.sort_unstable();
    gaps.dedup();
    for (source, reason) in failed {
        files[origins[source].0].unread = Some(ReadFailure::Failed(reason));
    }
    let first = |source: usize| match origins[source].1 {
        Some(mark) => {
            *mark.lines.get_or_init(|| scan::lines_before(&sources[source].file, mark.end).unwrap_or_default())
        }
        None => 0,
    };
    let places =
        lines.iter().map(|line| LinePlace { file: origins[line.source].0, line: first(line.source) + line.number });
    let places: Vec<LinePlace> = places.collect();
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let beside = if files.is_empty() { content::beside(&directory.join(place)) } else { Vec::new() };
    let answer = LogAnswer {
        path: place.to_owned(),
        files,
        lines: Capture::whole(texts.join("\n")),
        places,
        session,
        gaps,
        beside,
    };
    Reading { answer, is_half }
}

#[cfg(test)]
mod tests;
