//! Every completion at every place of a valid file can be accepted without damaging it.

use std::collections::HashSet;

use speclens_schema::{
    document::Document,
    faults,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Edit},
};

use super::super::{Completion, complete};
use crate::ide::values::Values;

const KINDLM: &str = "\
kindlm: 1
project: demo
suite:
  name: demo
models:
  - id: local
    provider: ollama
    model: llama3.2
prompts:
  greet:
    user: \"Hi {{name}}\"
tests:
  - name: one
    command: \"echo {{name}}\"
    tags: [a, b]
    vars: {name: x}
    expect:
      output:
        contains:
          - hello
      toolCalls:
        - {tool: a, order: 1}
        - tool: b
          argsMatch: {a: 1}
      latency: {maxMs: 1}
  - name: two
    prompt: greet
    tags:
      - a
    expect: {output: {contains: [hello], maxLength: 3}}
";

const CLAWSPEC: &str = "\
version: '1.0'
target:
  type: skill
  path: .
  trigger: deploy
defaults:
  timeout: 60
scenarios:
  - name: one
    description: first
    tags: [smoke]
    given:
      - type: file_absent
        path: a.md
    when:
      invoke: /deploy
      params: {target: x}
    then:
      - type: artifact_exists
        path: a.md
      - {type: tool_was_called, tool: exec}
  - name: two
    tags:
      - negative
    when:
      invoke: /deploy
    then:
      - type: tool_not_called
        tool: write
";

const CLI_BENCH: &str = "\
- id: one
  intent: \"Find the version\"
  category: basic
  difficulty: easy
  max_turns: 3
  setup:
    - touch a
  assert:
    - exit_code: 0
    - output_contains: \"v1\"
    - verify: {run: \"cat a\", output_contains: x}
- id: two
  intent: list
  category: basic
  difficulty: easy
  assert:
    - ran: \"tool list\"
";

fn with_lists_in_the_column_of_their_key(text: &str) -> String {
    // The columns of the dashes of the lists around a line.
    let mut lists: Vec<usize> = Vec::new();
    let lines = text.lines().map(|line| {
        let indent = line.len() - line.trim_start().len();
        let is_item = line[indent..].starts_with("- ");
        lists.retain(|column| *column < indent || (*column == indent && is_item));
        if is_item && lists.last() != Some(&indent) {
            lists.push(indent);
        }
        // A list that is the root of the file has no key.
        let shift = 2 * lists.iter().filter(|column| **column > 0).count();
        format!("{}\n", &line[shift..])
    });
    lines.collect()
}

/// Returns a snippet as a client inserts it: defaults in place of stops, the line's indentation before all lines but
/// the first.
fn expanded(snippet: &str, indent: &str, line_break: &str) -> String {
    let mut text = String::new();
    let mut letters = snippet.chars().peekable();
    let mut depth = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            '$' if letters.peek() == Some(&'{') => {
                letters.next();
                while letters.next_if(char::is_ascii_digit).is_some() {}
                if letters.peek() == Some(&':') {
                    letters.next();
                }
                depth += 1;
            }
            '$' => while letters.next_if(char::is_ascii_digit).is_some() {},
            '}' if depth > 0 => depth -= 1,
            '\n' => text.push_str(&format!("{line_break}{indent}")),
            letter => text.push(letter),
        }
    }
    text
}

fn accepted(text: &str, item: &Completion, insert: &str) -> String {
    let own = Edit { range: item.edit.range.clone(), text: insert.to_owned() };
    let mut edits: Vec<&Edit> = item.more.iter().chain([&own]).collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.range.start, edit.range.end)));
    let mut new = text.to_owned();
    edits.into_iter().for_each(|edit| new.replace_range(edit.range.clone(), &edit.text));
    new
}

fn broken_places(text: &str, file: SpecFile) -> usize {
    let problems = faults::problems(&Document::read(text, file.scalar_rules()));
    problems.iter().filter(|problem| problem.code == Code::Syntax).count()
}

/// Returns texts with a cursor: everywhere in the given text, on a new line, and after the start of a line.
fn cursors(text: &str, line_break: &str) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = (0..=text.len()).map(|offset| (text.to_owned(), offset)).collect();
    for (at, _) in text.match_indices(line_break) {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = &text[start..at];
        for column in (0..=10).step_by(2) {
            let new = format!("{}{line_break}{}{}", &text[..at], " ".repeat(column), &text[at..]);
            all.push((new, at + line_break.len() + column));
        }
        let ends = line.match_indices(": ").chain(line.match_indices("- ")).map(|(at, mark)| at + mark.len());
        for end in ends {
            all.push((format!("{}{}", &text[..start + end], &text[at..]), start + end));
            let before = end - 1;
            all.push((format!("{}{}", &text[..start + before], &text[at..]), start + before));
        }
    }
    all
}

#[track_caller]
fn check(file: SpecFile, text: &str) {
    assert_eq!(broken_places(text, file), 0, "{text}");
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let files = MemoryFiles::default();
    let mut seen = HashSet::new();
    let mut breaking = Vec::new();
    for (text, offset) in cursors(text, line_break) {
        let document = Document::read(&text, file.scalar_rules());
        let values = Values { files: &files, now: "2026-05-14T12:00:00Z" };
        let offered = complete(&document, file, offset, values, &|_| Vec::new(), None);
        let before = if offered.is_empty() { 0 } else { broken_places(&text, file) };
        for item in offered {
            let start = item.edit.range.start;
            let line = &text[text[..start].rfind('\n').map_or(0, |end| end + 1)..start];
            let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
            let snippet = item.snippet.as_ref().map(|snippet| expanded(snippet, indent, line_break));
            for insert in [Some(item.edit.text.clone()), snippet].into_iter().flatten() {
                let new = accepted(&text, &item, &insert);
                if seen.insert(new.clone()) && broken_places(&new, file) > before {
                    let marked = format!("{}‸{}", &text[..offset], &text[offset..]);
                    let at = marked.lines().position(|line| line.contains('‸')).unwrap_or_default();
                    let around: Vec<&str> = marked.lines().skip(at.saturating_sub(1)).take(3).collect();
                    breaking.push(format!("{around:?} + {insert:?}"));
                }
            }
        }
    }
    assert!(breaking.is_empty(), "{} of {}:\n{}", breaking.len(), seen.len(), breaking.join("\n"));
    assert!(seen.len() > 300, "only {} texts", seen.len());
}

#[track_caller]
fn check_styles(file: SpecFile, text: &str) {
    check(file, text);
    let unindented = with_lists_in_the_column_of_their_key(text);
    assert_ne!(unindented, text);
    check(file, &unindented);
    check(file, &unindented.replace('\n', "\r\n"));
}

#[test]
fn completion_accepted_anywhere_keeps_kindlm_sound() {
    check_styles(SpecFile::KINDLM, KINDLM);
}

#[test]
fn completion_accepted_anywhere_keeps_clawspec_sound() {
    check_styles(SpecFile::CLAWSPEC_SCENARIOS, CLAWSPEC);
}

#[test]
fn completion_accepted_anywhere_keeps_cli_bench_tasks_sound() {
    check_styles(SpecFile::CLI_BENCH_TASKS, CLI_BENCH);
}
