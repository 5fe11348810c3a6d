//! `speclens recordings`: lists, shows and removes the recordings of tests.

mod inventory;
mod prune;
mod show;

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};
use speclens_schema::words::plural;

use super::{
    INVALID, PASSED,
    output::{self, Format},
};
use inventory::{DirectoryOfRecordings, RecordingInventory, State, inventory, size};

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
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Show the recordings of a test, with secrets masked
    Show(show::Args),
    /// Remove recordings that exceed the limits of `speclens.yaml`, or those selected by options
    #[command(after_help = prune::AFTER_HELP)]
    Prune(prune::Args),
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::List { paths, format } => list(paths, *format),
        Action::Show(args) => show::perform(args),
        Action::Prune(args) => prune::perform(args),
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

/// Returns the wanted recordings, each on a line below its suite.
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
