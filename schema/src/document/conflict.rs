//! The marks that a merge leaves where two versions of a text clash.

use std::collections::BTreeMap;

use ropey::Rope;

use crate::{
    document::Pointer,
    problem::{Code, Problem},
};

/// As many lines above a mistake are searched for the first mark.
const LINES_ABOVE: usize = 3;

/// As many lines below the first mark are searched for the last one.
const LINES_BELOW: usize = 10_000;

/// Two versions that stand between marks are one mistake, whatever cannot be read there.
pub(super) fn tell_once(text: &Rope, problems: &mut Vec<Problem>) {
    // The first line of each, and the last one.
    let mut clashes: BTreeMap<usize, usize> = BTreeMap::new();
    for problem in problems.iter().filter(|problem| problem.code == Code::Syntax) {
        let line = text.byte_to_line(problem.range.start.min(text.len_bytes()));
        let known = |line: usize| clashes.range(..=line).next_back().is_some_and(|(_, last)| line <= *last);
        let first = (line.saturating_sub(LINES_ABOVE)..=line).rev().find(|line| begins_with(text, *line, "<<<<<<<"));
        if let Some(first) = first.filter(|first| !known(*first))
            && let Some(last) = last_mark(text, first)
        {
            clashes.insert(first, last);
        }
    }
    let start_of = |line: usize| text.line_to_byte(line.min(text.len_lines()));
    let ranges: BTreeMap<usize, usize> =
        clashes.into_iter().map(|(first, last)| (start_of(first), start_of(last + 1))).collect();
    problems.retain(|problem| {
        let of_reading = matches!(problem.code, Code::Syntax | Code::UnquotedTemplate | Code::DuplicateKey);
        let start = problem.range.start;
        !of_reading || ranges.range(..=start).next_back().is_none_or(|(_, end)| start >= *end)
    });
    for range in ranges.into_iter().map(|(start, end)| start..end) {
        let mark = String::from(text.line(text.byte_to_line(range.start)));
        let message = "unresolved merge conflict, from here to `>>>>>>>`";
        let range = range.start..range.start + mark.trim_end().len();
        let problem = Problem::new(Code::Syntax, Pointer::root(), range, message);
        problems.push(problem.with_help("keep one of the two versions, and remove the lines with the marks"));
    }
}

/// The line of the last mark, when the one in the middle stands before it.
fn last_mark(text: &Rope, first: usize) -> Option<usize> {
    let mut lines = first + 1..text.len_lines().min(first + LINES_BELOW);
    lines.find(|line| begins_with(text, *line, "======="))?;
    lines.find(|line| begins_with(text, *line, ">>>>>>>"))
}

fn begins_with(text: &Rope, line: usize, mark: &str) -> bool {
    let start = text.line_to_byte(line);
    text.get_byte_slice(start..start + mark.len()).is_some_and(|words| words == mark)
}
