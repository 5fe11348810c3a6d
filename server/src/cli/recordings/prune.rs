//! `speclens recordings prune`: removes recordings.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use anyhow::anyhow;
use speclens_runner::recording::{Entry, PruneMode, Removed, Retention, Usefulness, now_us};
use speclens_schema::words::plural;

use super::{
    inventory::{DirectoryOfRecordings, RecordingInventory, State, inventory, size},
    lines,
};
use crate::cli::{INVALID, PASSED, output};

pub(super) const AFTER_HELP: &str = "\
Without options, this applies the limits of `recordings` in `speclens.yaml`, as each run does. `--stale` and
`--older-than` together select the recordings that match both. Stored outputs that no recording refers to are always removed.";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The options of `speclens recordings prune`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    /// Select recordings of attempts that began more than this many days ago
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=36_500))]
    older_than: Option<u32>,
    /// Select all recordings
    #[arg(long, conflicts_with_all = ["older_than", "stale"])]
    all: bool,
    /// Select recordings that no test uses: stale, damaged, from another version, or of a deleted test
    #[arg(long)]
    stale: bool,
    /// Print what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let RecordingInventory { shelves, failures } = inventory(&args.paths);
    let mut is_done = failures.is_empty();
    let chosen: Vec<BTreeSet<usize>> = shelves.iter().map(|shelf| args.chosen(shelf)).collect();
    let mode = if args.dry_run { PruneMode::DryRun } else { PruneMode::Remove };
    let mut text = String::new();
    if args.dry_run {
        text += &lines(&shelves, |shelf, at| chosen[shelf].contains(&at));
    }
    let mut sum = Removed::default();
    for (shelf, goes) in shelves.iter().zip(&chosen) {
        let removed = shelf.recordings.remove(&shelf.entries, goes, mode);
        sum.recordings += removed.recordings;
        sum.texts += removed.texts;
        sum.bytes += removed.bytes;
        if let Some(left) = removed.left {
            output::complain(&anyhow!(left));
            is_done = false;
        }
    }
    text += &summary(&sum, args.dry_run);
    output::print(&text)?;
    Ok(if is_done { PASSED } else { INVALID })
}

fn summary(removed: &Removed, dry_run: bool) -> String {
    if *removed == Removed::default() {
        return "nothing to remove\n".to_owned();
    }
    let verb = if dry_run { "would remove" } else { "removed" };
    let texts = match removed.texts {
        0 => String::new(),
        texts => format!(" and {}", plural(texts, "stored output")),
    };
    format!("{verb} {}{texts}, {}\n", plural(removed.recordings, "recording"), size(removed.bytes))
}

impl Args {
    fn chosen(&self, shelf: &DirectoryOfRecordings) -> BTreeSet<usize> {
        if !self.all && !self.stale && self.older_than.is_none() {
            return beyond_limits(shelf);
        }
        let is_old = |entry: &Entry| self.older_than.is_none_or(|days| entry.age() > DAY * days);
        let items = shelf.items.iter();
        let chosen = items.filter(|(at, item)| is_old(&shelf.entries[**at]) && (!self.stale || is_unused(item.state)));
        chosen.map(|(at, _)| *at).collect()
    }
}

/// Returns the recordings beyond the limits, which apply to the whole directory.
fn beyond_limits(shelf: &DirectoryOfRecordings) -> BTreeSet<usize> {
    let standing = |at: usize| match shelf.items.get(&at).map(|item| item.state) {
        Some(State::Gone | State::Damaged) => Usefulness::Useless,
        Some(State::Fresh | State::Stale | State::OtherVersion | State::TooLarge | State::Unknown) | None => {
            Usefulness::Useful
        }
    };
    let entries = shelf.entries.iter().enumerate();
    let judged: Vec<(&Entry, Usefulness)> = entries.map(|(at, entry)| (entry, standing(at))).collect();
    Retention::of(&shelf.settings).surplus(&judged, now_us()).into_iter().collect()
}

/// Whether no test is currently judged by it.
fn is_unused(state: State) -> bool {
    match state {
        State::Stale | State::Gone | State::Damaged | State::OtherVersion => true,
        // With other limits, or once the suite is fixed, it can be used.
        State::Fresh | State::TooLarge | State::Unknown => false,
    }
}
