//! `speclens recordings`: lists, shows and removes the recordings of tests.

mod inventory;
mod show;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::PathBuf,
    time::Duration,
};

use anyhow::anyhow;
use clap::Subcommand;
use inventory::{DirectoryOfRecordings, RecordingInventory, State, inventory, size};
use serde_json::{Value, json};
use speclens_runner::recording::{Entry, PruneMode, Removed, Retention, Usefulness, now_us};
use speclens_schema::words::plural;

use crate::cli::{
    INVALID, PASSED,
    output::{self, Format},
};

/// The options of `speclens recordings`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List recordings with their age, size and state
    List {
        /// Suites or directories to search
        paths: Vec<PathBuf>,
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Show the recordings of a test, with secrets masked
    Show(show::Args),
    /// Remove recordings that exceed the limits of `speclens.yaml`, or those selected by options
    #[command(after_help = PRUNE_HELP)]
    Prune(PruneArgs),
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::List { paths, format } => list(paths, *format),
        Action::Show(args) => show::perform(args),
        Action::Prune(args) => prune(args),
    }
}

fn list(paths: &[PathBuf], format: Format) -> anyhow::Result<u8> {
    let RecordingInventory { shelves, failures } = inventory(paths);
    let code = if failures.is_empty() { PASSED } else { INVALID };
    let text = match format {
        Format::Human => human(&shelves, failures.is_empty()),
        Format::Json => {
            let entries = shelves.iter().flat_map(|shelf| shelf.items.iter().map(|(at, it)| shelf.entry(*at, it)));
            let recordings: Vec<Value> = entries.collect();
            output::json(&json!({ "speclens": 1, "recordings": recordings, "failures": failures }))?
        }
    };
    output::print(&text)?;
    Ok(code)
}

/// Returns the recordings and their totals. An empty list is conclusive only if `everything` could be read.
fn human(shelves: &[DirectoryOfRecordings], everything: bool) -> String {
    let mut text = lines(shelves, |_, _| true);
    let items =
        || shelves.iter().flat_map(|shelf| shelf.items.iter().map(move |(at, item)| (&shelf.entries[*at], item)));
    let mut states: BTreeMap<State, usize> = BTreeMap::new();
    items().for_each(|(_, item)| *states.entry(item.state).or_default() += 1);
    let bytes = items().map(|(entry, _)| entry.bytes()).sum();
    let counts: Vec<String> = states.iter().map(|(state, count)| format!("{count} {}", state.words())).collect();
    let _ = match counts.as_slice() {
        [] if everything => writeln!(text, "no recordings"),
        [] => Ok(()),
        counts => writeln!(text, "{}, {}: {}", plural(items().count(), "recording"), size(bytes), counts.join(", ")),
    };
    text
}

fn lines(shelves: &[DirectoryOfRecordings], is_wanted: impl Fn(usize, usize) -> bool) -> String {
    let mut by_suite: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, shelf) in shelves.iter().enumerate() {
        for (at, item) in shelf.items.iter().filter(|(at, _)| is_wanted(number, **at)) {
            by_suite.entry(shelf.heading(*at, item)).or_default().push(shelf.line(*at, item));
        }
    }
    let mut text = String::new();
    for (suite, mut lines) in by_suite {
        lines.sort();
        let _ = writeln!(text, "{suite}");
        lines.iter().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
    }
    text
}

pub(super) const PRUNE_HELP: &str = "\
Without options, this applies the limits of `recordings` in `speclens.yaml`, as each run does. `--stale` and
`--older-than` together select the recordings that match both. Stored outputs that no recording refers to are always removed.";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The options of `speclens recordings prune`.
#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
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

fn prune(args: &PruneArgs) -> anyhow::Result<u8> {
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

impl PruneArgs {
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

fn is_unused(state: State) -> bool {
    match state {
        State::Stale | State::Gone | State::Damaged | State::OtherVersion => true,
        // With other limits, or once the suite is fixed, it can be used.
        State::Fresh | State::TooLarge | State::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::inventory::{age, size};

    #[test]
    fn sizes_and_ages_read_well() {
        let sizes = [0, 1, 1023, 1024, 1_048_575, 1_048_576, 5 << 30].map(size);
        assert_eq!(sizes, ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "1024.0 KiB", "1.0 MiB", "5120.0 MiB"]);
        let ages = [0, 59, 60, 3599, 3600, 86_399, 86_400, 200_000].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(
            ages,
            ["just now", "just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago", "1 day ago", "2 days ago"]
        );
    }
}
