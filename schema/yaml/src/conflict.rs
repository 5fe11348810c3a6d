//! Conflict markers of an unfinished merge.

use std::collections::BTreeMap;

use ropey::Rope;

use crate::fault::{Fault, FaultClass, FaultKind};

/// Maximum number of lines above a fault that are searched for the first marker.
const MAX_LINES_ABOVE: usize = 3;

/// Maximum number of lines below the first marker that are searched for the last one.
const MAX_LINES_BELOW: usize = 10_000;

/// Reports two versions between markers as one fault, whatever cannot be read there.
pub(super) fn merge(text: &Rope, faults: &mut Vec<Fault>) {
    // The first line of each, and the last one.
    let mut clashes: BTreeMap<usize, usize> = BTreeMap::new();
    for fault in faults.iter().filter(|fault| fault.class() == FaultClass::Syntax) {
        let line = text.byte_to_line(fault.range.start.min(text.len_bytes()));
        let known = |line: usize| clashes.range(..=line).next_back().is_some_and(|(_, last)| line <= *last);
        let first =
            (line.saturating_sub(MAX_LINES_ABOVE)..=line).rev().find(|line| begins_with(text, *line, "<<<<<<<"));
        if let Some(first) = first.filter(|first| !known(*first))
            && let Some(last) = last_mark(text, first)
        {
            clashes.insert(first, last);
        }
    }
    let start_of = |line: usize| text.line_to_byte(line.min(text.len_lines()));
    let ranges: BTreeMap<usize, usize> =
        clashes.into_iter().map(|(first, last)| (start_of(first), start_of(last + 1))).collect();
    faults.retain(|fault| {
        let of_reading = match fault.class() {
            FaultClass::Syntax | FaultClass::Template | FaultClass::DuplicateKey => true,
            FaultClass::Limit | FaultClass::UnknownAlias | FaultClass::Encoding => false,
        };
        let start = fault.range.start;
        !of_reading || ranges.range(..=start).next_back().is_none_or(|(_, end)| start >= *end)
    });
    for start in ranges.into_keys() {
        let mark = String::from(text.line(text.byte_to_line(start)));
        faults.push(Fault::new(start..start + mark.trim_end().len(), FaultKind::MergeConflict));
    }
}

/// Returns the line of the last marker, if the middle one precedes it.
fn last_mark(text: &Rope, first: usize) -> Option<usize> {
    let mut lines = first + 1..text.len_lines().min(first + MAX_LINES_BELOW);
    lines.find(|line| begins_with(text, *line, "======="))?;
    lines.find(|line| begins_with(text, *line, ">>>>>>>"))
}

fn begins_with(text: &Rope, line: usize, mark: &str) -> bool {
    let start = text.line_to_byte(line);
    text.get_byte_slice(start..start + mark.len()).is_some_and(|words| words == mark)
}
