//! Every test shows the list at `$0`, or the text after one of its items was inserted.

mod accepted;
mod forms;
mod keys;
mod needs;
mod seen;
mod snippets;
mod values;

use expect_test::Expect;

use super::{Completion, CompletionKind, complete};
use crate::ide::{latest::Latest, tests::fixture::Fixture, values::Values};

fn completions(fixture: &Fixture) -> Vec<Completion> {
    completions_after(fixture, None)
}

fn completions_after(fixture: &Fixture, latest: Option<&Latest>) -> Vec<Completion> {
    let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
    let mut items = complete(&fixture.document, fixture.file, fixture.offset(), values, &|_| Vec::new(), latest);
    items.sort_by(|one, other| one.sort_key.cmp(&other.sort_key));
    for item in &items {
        let range = &item.edit.range;
        assert!(range.start <= fixture.offset() && fixture.offset() <= range.end, "{item:?}");
        assert!(!fixture.text()[range.clone()].contains('\n'), "{item:?}");
    }
    items
}

/// The whole list.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let lines = completions(&fixture).into_iter().map(|item| {
        let detail = if item.detail.is_empty() { String::new() } else { format!(" · {}", item.detail) };
        let star = if item.preselect { " *" } else { "" };
        format!("{:?} {}{detail}{star}\n", item.kind, item.label)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[track_caller]
fn check_labels(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let labels: Vec<String> = completions(&fixture)
        .into_iter()
        .filter(|item| item.kind != CompletionKind::Snippet)
        .map(|item| item.label)
        .collect();
    expected.assert_eq(&labels.join(" "));
}

/// Checks the lines that the insertion of an item changes, as in a diff, but without the old line of the cursor if only
/// that changes; and the snippet.
#[track_caller]
fn check_choice(fixture: &str, label: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let items = completions(&fixture);
    let item = items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("{label} is not offered"));
    let (old, mut text) = (fixture.text(), fixture.text());
    let mut edits: Vec<_> = item.more.iter().chain([&item.edit]).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    edits.iter().for_each(|edit| text.replace_range(edit.range.clone(), &edit.text));
    let snippet = item.snippet.as_ref().map(|snippet| format!("---\n{snippet}\n")).unwrap_or_default();
    let lines = |text: &str| -> Vec<String> { text.replace('\r', "␍").lines().map(str::to_owned).collect() };
    let (before, after) = (lines(&old), lines(&text));
    let line = old[..fixture.offset()].matches('\n').count();
    let is_same = |(one, other): &(&String, &String)| one == other;
    let head = before.iter().zip(&after).take(line).take_while(is_same).count();
    let tail = before.iter().skip(line + 1).rev().zip(after[head..].iter().rev()).take_while(is_same).count();
    let gone = &before[head..before.len() - tail];
    let gone: String = gone.iter().filter(|_| gone.len() > 1).map(|line| format!("- {line}\n")).collect();
    let new: String = after[head..after.len() - tail].iter().map(|line| format!("+ {line}\n")).collect();
    let shown = format!("{gone}{new}{snippet}");
    // Trailing blanks are shown as dots: the cursor ends up there.
    let dots = |line: &str| {
        let words = line.trim_end_matches([' ', '␍']);
        format!("{words}{}\n", line[words.len()..].replace(' ', "·"))
    };
    expected.assert_eq(&shown.lines().map(dots).collect::<String>());
}
