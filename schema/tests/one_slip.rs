//! A slip in one line is one problem of that line, wherever it is, and none of its neighbors.

use crate::list_style;

use std::collections::BTreeMap;

use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    files::MemoryFiles,
    fixing,
    json_schema::SpecFile,
    problem::{Code, Problem, Severity},
    settings::Settings,
};

use list_style::ListStyle;

const SCENARIOS: &str = r#"version: "1.0"
target:
  type: skill
  path: skills/demo
  trigger: /demo
defaults:
  timeout: 60
  test_mode: true
scenarios:
  - name: first
    description: The report is written, and names
      all of its sources.
    tags:
      - smoke
      - p0
    when:
      invoke: /demo now
      params:
        test_mode: true
        depth: 2
    then:
      - type: artifact_exists
        path: out/report.md
        timeout: 30
      - type: artifact_contains
        path: out/report.md
        sections:
          - Sources
          - Summary
      - type: artifact_exists
        path: out/log.md
  - name: second
    description: Nothing is written.
    tags:
      - smoke
    when:
      invoke: /demo later
      params:
        test_mode: true
    then:
      - type: file_absent
        path: out/other.md
      - type: file_absent
        path: out/report.md
"#;

const SUITE: &str = r#"kindlm: 1
project: demo
suite:
  name: demo
providers:
  ollama: {}
prompts:
  ask:
    system: You are brief
    user: Say hello
models:
  - id: small
    provider: ollama
    model: tiny
tests:
  - name: greets
    prompt: ask
    vars:
      tone: warm
      name: Ada
    expect:
      output:
        contains:
          - hello
        maxLength: 80
  - name: greets-again
    prompt: ask
    expect:
      output:
        contains:
          - hello
"#;

/// What a slip makes of a line; none where the line has no place for it.
type Slip = fn(&str) -> Option<String>;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_entry(line: &str) -> bool {
    let words = line.trim_start_matches([' ', '-']);
    words.split_once(':').is_some_and(|(key, _)| key.chars().all(|letter| letter.is_alphanumeric() || letter == '_'))
}

fn blanks_replaced(line: &str, from: usize, new: &str) -> Option<String> {
    let indent = indent(line);
    (indent > from && is_entry(line)).then(|| format!("{}{new}{}", &line[..from], &line[indent..]))
}

const SUITE_OF_TASKS: &str = r#"cli: git
version_command: git --version
providers:
  - openai/gpt-4o
  - anthropic/claude-sonnet-4.6
tasks:
  - id: first
    intent: Find the changed files of the last commit.
    setup:
      - git init
      - touch a.txt
    assert:
      - ran: git
      - ran: touch
      - file_contains:
          path: a.txt
          text: hello
      - file_contains:
          path: b.txt
          text: hello
  - id: second
    intent: Find the branch that is checked out now.
    assert:
      - exit_code: 0
"#;

const SLIPS: [(&str, Slip); 12] = [
    // Where an item has one key, a repeated key may also take the place of the one above.
    ("a lost dash", |line| is_entry(line).then(|| line.replacen("- ", "  ", 1))),
    ("a lost dash and its blank", |line| {
        let words = line.trim_start().strip_prefix("- ").filter(|_| is_entry(line))?;
        Some(format!("{}{words}", &line[..indent(line)]))
    }),
    ("a trailing comma", |line| line.ends_with([']', '}', '"']).then(|| format!("{line},"))),
    ("a tab for the indentation", |line| blanks_replaced(line, 0, "\t")),
    ("tabs for every two columns", |line| blanks_replaced(line, 0, &"\t".repeat(indent(line) / 2))),
    ("a no-break space before the line", |line| {
        blanks_replaced(line, 0, &format!("\u{a0}{}", " ".repeat(indent(line).checked_sub(1)?)))
    }),
    ("no-break spaces for the indentation", |line| blanks_replaced(line, 0, &"\u{a0}".repeat(indent(line)))),
    ("a no-break space behind the dash", |line| {
        is_entry(line).then(|| line.contains("- ").then(|| line.replacen("- ", "-\u{a0}", 1))).flatten()
    }),
    ("a no-break space after the colon", |line| {
        (is_entry(line) && line.contains(": ")).then(|| line.replacen(": ", ":\u{a0}", 1))
    }),
    ("no space behind the dash", |line| {
        is_entry(line).then(|| line.contains("- ").then(|| line.replacen("- ", "-", 1))).flatten()
    }),
    ("a reserved character", |line| {
        let (key, value) = line.split_once(": ").filter(|(_, value)| value.starts_with(char::is_alphabetic))?;
        // Other values are checked for more than how they are written.
        let is_text = ["description", "invoke", "user", "system"].contains(&key.trim());
        is_text.then(|| format!("{key}: @{value}"))
    }),
    ("a colon in a text", |line| {
        let (key, value) = line.split_once(": ").filter(|(_, value)| value.starts_with(char::is_alphabetic))?;
        let (first, rest) = value.split_once(' ')?;
        is_entry(line).then(|| format!("{key}: {first}: {rest}"))
    }),
];

fn found(text: &str, file: SpecFile) -> (Document, Vec<Problem>) {
    let document = Document::read(text, file.scalar_rules());
    let files = MemoryFiles::default();
    let mut problems = Analyzer::new(file).problems(&document, &files, &Settings::default());
    problems.retain(|it| it.severity == Severity::Error && it.code != Code::MissingFile);
    (document, problems)
}

#[test]
fn slip_is_one_problem_of_its_line() {
    let mut misses: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut tried = 0;
    for (file, text) in
        [(SpecFile::CLAWSPEC_SCENARIOS, SCENARIOS), (SpecFile::KINDLM, SUITE), (SpecFile::CLI_BENCH, SUITE_OF_TASKS)]
    {
        for style in ListStyle::ALL {
            let text = style.of(text);
            assert_eq!(found(&text, file).1.len(), 0, "{text}{:#?}", found(&text, file).1);
            for (number, line) in text.lines().enumerate() {
                for (name, slip) in SLIPS {
                    let Some(slipped) = slip(line) else { continue };
                    let lines: Vec<&str> =
                        text.lines().enumerate().map(|(at, line)| if at == number { &slipped } else { line }).collect();
                    for line_break in ["\n", "\r\n"] {
                        let text = format!("{}{line_break}", lines.join(line_break));
                        let (document, problems) = found(&text, file);
                        // Some slips leave YAML that means something else: that is not for the reader to say.
                        if document.is_intact() {
                            continue;
                        }
                        let of_line: Vec<usize> =
                            problems.iter().map(|it| document.text().byte_to_line(it.range.start)).collect();
                        tried += 1;
                        let mended = problems.first().and_then(|it| it.fixes.first()).is_some_and(|fix| {
                            let fixed = fixing::replaced(&text, &fixing::adapted(&document, &fix.edits));
                            found(&fixed, file).1.is_empty()
                        });
                        if of_line != [number] || !mended {
                            let shown: Vec<String> = problems
                                .iter()
                                .zip(&of_line)
                                .map(|(it, at)| format!("{}: {}", at + 1, it.message))
                                .collect();
                            misses
                                .entry(name)
                                .or_default()
                                .push(format!("{style:?} {line_break:?} {}: {slipped:?} {shown:#?}", number + 1));
                        }
                    }
                }
            }
        }
    }
    let count: usize = misses.values().map(Vec::len).sum();
    assert!(tried > 1000, "{tried}");
    // How deep a line with a tab is meant to be can only be guessed where more than one depth makes a text of it.
    assert!(count * 100 <= tried * 3, "{count} of {tried} {misses:#?}");
}
