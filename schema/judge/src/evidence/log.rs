//! The lines of a gateway log about one run and the runs that it started.

use serde::{Deserialize, Serialize};

use super::{Capture, ObservationTime};

/// The lines of a gateway's log that are about a run, and about the runs that it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogNeed {
    /// The path of the log, with its templates filled; `*`, `?` and `[…]` are wildcards. A relative path begins in the
    /// root of the workspace. `None`: the log of the gateway, wherever it is.
    pub path: Option<String>,
    /// The id of the run; empty for every run since the act began.
    pub run: String,
    /// The moment of the observation.
    pub moment: ObservationTime,
}

/// The lines that were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogAnswer {
    /// The path of the log.
    pub path: String,
    /// The files that were read, in the order in which they were written.
    pub files: Vec<LogFile>,
    /// The lines, joined by line feeds, invalid UTF-8 replaced, secrets masked.
    pub lines: Capture,
    /// The position of each line.
    pub places: Vec<LinePlace>,
    /// The session key of the act: lines that name it are about the run, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Reasons why lines about the run may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<LogGap>,
    /// Names in the directory of a missing log, at most a few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

/// A file of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFile {
    /// The path.
    pub path: String,
    /// The reason why it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<ReadFailure>,
}

/// Reasons why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadFailure {
    /// It is a directory.
    Directory,
    /// It cannot be read, for this reason.
    Failed(String),
}

/// The position of a line. A run may have thousands of them, so it is written as a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct LinePlace {
    /// The file, by its place among the files.
    pub file: usize,
    /// The line in it, from 0.
    pub line: usize,
}

impl From<(usize, usize)> for LinePlace {
    fn from((file, line): (usize, usize)) -> LinePlace {
        LinePlace { file, line }
    }
}

impl From<LinePlace> for (usize, usize) {
    fn from(LinePlace { file, line }: LinePlace) -> (usize, usize) {
        (file, line)
    }
}

/// Reasons why lines about a run may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogGap {
    /// There are too many.
    Cut,
    /// The gateway reports that it dropped lines.
    Dropped,
    /// The log was truncated or replaced during the act.
    Truncated,
    /// A file of the log was removed during the act.
    Removed,
    /// A line is too long to be read.
    LongLine,
    /// The end of the run is missing.
    Unended,
    /// The end of an agent that the run started is missing.
    ChildUnended,
    /// An agent that the run started is missing.
    ChildUnseen,
}

impl LogGap {
    /// Returns the reason as a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            LogGap::Cut => {
                "the log has more lines about the run than were recorded, and the missing ones could change the result"
            }
            LogGap::Dropped => "the gateway dropped lines of its log, which could change the result",
            LogGap::Truncated => "the log was emptied during the run, and the missing lines could change the result",
            LogGap::Removed => "part of the log was removed during the run, and its lines could change the result",
            LogGap::LongLine => "a line of the log is too long to be read, and it could change the result",
            LogGap::Unended => "the log does not contain the end of the run, so more may have happened",
            LogGap::ChildUnended => {
                "the log does not contain the end of an agent that the run started, so more may have happened"
            }
            LogGap::ChildUnseen => "the run started an agent that the log does not show, so more may have happened",
        }
    }
}

impl LogAnswer {
    /// Returns whether a file was read.
    pub fn was_read(&self) -> bool {
        self.files.iter().any(|file| file.unread.is_none())
    }

    /// Returns the lines with their positions.
    pub fn placed(&self) -> impl Iterator<Item = (&str, LinePlace)> {
        // The part that was cut off has no position: the last line may be incomplete.
        self.lines.text.lines().zip(self.places.iter().copied())
    }
}
