//! `speclens recordings list`: lists the recordings next to suites.

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use serde_json::{Value, json};

use super::{
    inventory::{DirectoryOfRecordings, RecordingInventory, State, inventory},
    plural, size,
};
use crate::cli::{
    INVALID, PASSED,
    output::{self, Format},
};

/// The options of `speclens recordings list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let RecordingInventory { shelves, failures } = inventory(&args.paths);
    let code = if failures.is_empty() { PASSED } else { INVALID };
    let text = match args.format {
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
pub(super) fn lines(shelves: &[DirectoryOfRecordings], is_wanted: impl Fn(usize, usize) -> bool) -> String {
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
