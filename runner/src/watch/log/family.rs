//! The files of a log: one for each day, and rotated ones.

use std::{
    cmp::Reverse,
    path::{self, Path, PathBuf},
};

use jiff::{ToSpan, civil::Date};

use crate::observe::glob;

const DAY: &str = "{date}";

/// The day as a pattern: `2026-05-14`.
const DAY_GLOB: &str = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";

const MAX_DAYS: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct Family {
    directory: PathBuf,
    pattern: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub path: String,
    pub place: PathBuf,
    base: String,
    /// The number of a rotated file: the higher, the older. 0 for the current file.
    pub number: u32,
}

impl Family {
    /// Returns the log with a pattern in a directory. `{date}` in the pattern is the day; everything else is literal.
    pub(super) fn new(pattern: &str, directory: &Path) -> Family {
        Family { directory: directory.to_owned(), pattern: pattern.to_owned() }
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns its files, the oldest first. The time zone of the day does not matter.
    pub(super) fn members(&self) -> Vec<Member> {
        let literal: String = self.pattern.replace(DAY, "\0").chars().map(escaped).collect();
        members(&literal.replace('\0', DAY_GLOB), &self.directory)
    }

    pub(super) fn last_days(&self) -> Vec<Member> {
        let members = self.members();
        let mut days: Vec<&str> = members.iter().map(|member| member.base.as_str()).collect();
        days.dedup();
        let first = days.len().saturating_sub(MAX_DAYS);
        let days: Vec<String> = days[first..].iter().map(|day| (*day).to_owned()).collect();
        members.into_iter().filter(|member| days.contains(&member.base)).collect()
    }

    /// Returns the files of the day that a path names, and of the days around it: the path may be of another time zone
    /// than the log; `None` if the path is not one of this log.
    pub(super) fn around(&self, path: &str) -> Option<Vec<Member>> {
        let day = self.day_of(path)?;
        let members = self.members();
        let Some(day) = day else { return Some(members) };
        let days = [day.checked_sub(1.day()).ok(), Some(day), day.checked_add(1.day()).ok()];
        let is_near = |member: &Member| days.contains(&self.day_of(&member.base).flatten());
        Some(members.into_iter().filter(is_near).collect())
    }

    /// Returns the day in a path of this log; `None` inside if the log has one file for all days.
    fn day_of(&self, path: &str) -> Option<Option<Date>> {
        let absolute = |path: &str| path::absolute(self.directory.join(path)).unwrap_or_else(|_| PathBuf::from(path));
        let (path, pattern) = (absolute(path), absolute(&self.pattern));
        if path == pattern {
            return Some(None);
        }
        let (path, pattern) = (path.to_str()?, pattern.to_str()?);
        let (before, after) = pattern.split_once(DAY)?;
        let day: Date = path.strip_prefix(before)?.get(..10)?.parse().ok()?;
        // A pattern may name the day in the directory and in the file.
        let written = day.to_string();
        (path == format!("{before}{written}{}", after.replace(DAY, &written))).then_some(Some(day))
    }
}

pub(super) fn members(pattern: &str, directory: &Path) -> Vec<Member> {
    let find = |pattern: &str| glob::glob(directory, pattern).paths;
    let mut written = find(pattern);
    if written.is_empty() && directory.join(pattern).exists() {
        // A name may contain something that looks like a wildcard.
        written.push(pattern.to_owned());
    }
    let mut found: Vec<Member> =
        written.into_iter().filter_map(|path| member(&path, path.clone(), 0, directory)).collect();
    for (before, after) in set_aside(pattern) {
        let numbered = format!("{before}.[0-9]*{after}");
        found.extend(find(&numbered).into_iter().filter_map(|path| {
            let stem = path.strip_suffix(after)?;
            let (base, number) = stem.rsplit_once('.')?;
            member(&path, format!("{base}{after}"), number.parse().ok()?, directory)
        }));
    }
    found.sort_by(|one, other| (&one.base, Reverse(one.number)).cmp(&(&other.base, Reverse(other.number))));
    found.dedup_by(|one, other| one.path == other.path);
    found
}

/// Returns the parts before and after the number of a rotated file: `gw.1.log` as in OpenClaw, `gw.log.1` as in most
/// programs.
fn set_aside(pattern: &str) -> Vec<(&str, &str)> {
    let name = pattern.rfind('/').map_or(0, |slash| slash + 1);
    let mut shapes = vec![(pattern, "")];
    if let Some(dot) = pattern[name..].rfind('.').filter(|dot| *dot > 0) {
        shapes.push(pattern.split_at(name + dot));
    }
    shapes
}

fn member(path: &str, base: String, number: u32, directory: &Path) -> Option<Member> {
    (!path.is_empty()).then(|| Member { path: path.to_owned(), place: directory.join(path), base, number })
}

fn escaped(letter: char) -> String {
    match letter {
        '*' | '?' | '[' => format!("[{letter}]"),
        letter => letter.to_string(),
    }
}
