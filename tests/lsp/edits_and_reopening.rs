//! Careless edits: after each of them, the answers about a document are those about the same text when it is opened.
//!
//! `SPECLENS_FUZZ_RUNS` sets the number of edits of each file (40 without it).

use serde_json::json;

use super::{
    client::{Client, pulling},
    positions::position,
};
use crate::numbers::Numbers;

const FILES: [(&str, &str); 4] = [
    (
        "kindlm.yaml",
        "kindlm: 1
project: p
suite: {name: s}
prompts: {greet: {user: 'say {{word}}'}}
tests:
- {name: a, command: x, expect: &e {latency: {maxMs: 200}}}
- {name: b, prompt: greet, vars: {word: x}, expect: {judge: [{criteria: good, minScore: 0.5}]}}
- {name: a, prompt: great, vars: {wort: x}, expect: *e}
- name: c
  command: |
    echo \"{{w}}\" | sh run.sh
  vars: {w: \"é😀\"}
  expect:
    output:
      contains:
        -
",
    ),
    (
        "cli-bench.yaml",
        "cli: git
providers: [openai/gpt-4o-mini]
tasks:
- {id: a, intent: use git, max_turns: 2, assert: &c [{ran: git log}]}
- {id: b, intent: 'show the log with `git log`', assert: *c}
- id: a
  intent: show what git log shows
  assert:
    - ran: git (add|rm)
      .*
    -
- file://tasks/more.yaml
",
    ),
    (
        "tasks/more.yaml",
        "- id: named
  intent: a
  assert: &e
    - ran: git log
- id: using
  intent: b
  assert: *e
- id: named
  intent: 'c 😀'
- <<: &base {intent: z, assert: [{exit_code: 0}]}
  id: n
- <<: *base
  id: n
",
    ),
    (
        "skills/a/tests/scenarios.yaml",
        "version: \"1.0\"
target: {type: skill, path: skills/a, trigger: /a}
scenarios:
- name: a
  when: {invoke: /a}
  then: &x
    - {type: artifact_exists, path: m/one.md}
    - {type: artifact_exists, path: 'm/{{today}}.md', timeout: 3}
- name: b
  then: *x
- name: a
  tags: [negative]
  then: [{type: artifact_contains, path: m/one.md, words: [x]}]
- &y
  name: d
  when: {invoke: /a, params: {test_mode: true}}
- <<: *y
",
    ),
];

/// Maximum number of times that the answers are compared: some are complete only after work in the background.
const MAX_LOOKS: usize = 400;

/// Starts two servers with the same files: one for a document that is edited, one for a document that is opened.
pub(super) fn two(files: &[(&str, &str)]) -> [Client; 2] {
    [started(files), started(files)]
}

fn started(files: &[(&str, &str)]) -> Client {
    let mut client = Client::spawn(files);
    // Hovers of links show the time.
    for (name, _) in files {
        let file = std::fs::File::options().write(true).open(client.path(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    client.initialize(pulling(), json!({ "trusted": true }));
    client
}

/// Returns everything that is shown of a document, and at one place of it. `None` if it is not a spec file.
pub(super) fn shown(client: &mut Client, name: &str, text: &str, at: usize) -> Option<Vec<String>> {
    const METHODS: [&str; 14] = [
        "diagnostic", "codeAction", "documentSymbol", "foldingRange", "documentLink", "codeLens",
        "semanticTokens/full", "semanticTokens/range", "inlayHint", "hover", "definition", "documentHighlight",
        "references", "selectionRange",
    ];
    let (uri, directory) = (client.uri(name), client.directory.path().display().to_string());
    let place = position(text, at);
    let params = json!({
        "textDocument": { "uri": uri },
        "range": { "start": position(text, 0), "end": position(text, text.len()) },
        "position": place,
        "positions": [place],
        "context": { "diagnostics": [], "includeDeclaration": true },
    });
    let asked = METHODS.map(|method| client.ask(&format!("textDocument/{method}"), params.clone()));
    let answers = asked.map(|id| client.answer(id));
    answers[0]["result"].get("resultId")?;
    let words = METHODS.iter().zip(answers).map(|(method, mut answer)| {
        assert!(answer["error"].is_null(), "{method}: {answer}\n{text}");
        if let Some(result) = answer["result"].as_object_mut() {
            result.shift_remove("resultId");
        }
        // Messages name the folder of the workspace.
        let folder = directory.rsplit('/').next().unwrap();
        let words = answer["result"].to_string().replace(&directory, "DIRECTORY").replace(folder, "FOLDER");
        format!("{method}: {words}")
    });
    Some(words.collect())
}

/// Asserts that the answers about an edited document are those about its text when it is opened.
#[track_caller]
pub(super) fn compare([edited, opened]: &mut [Client; 2], name: &str, text: &str, at: usize) {
    opened.open_text(name, text);
    let mut both = || (shown(edited, name, text, at), shown(opened, name, text, at));
    let mut found = both();
    for _ in 0..MAX_LOOKS {
        if found.0 == found.1 || found.1.is_none() {
            break;
        }
        found = both();
    }
    // A spec file remains one while it is open.
    if let (Some(kept), Some(fresh)) = found {
        for (kept, fresh) in kept.iter().zip(&fresh) {
            assert_eq!(kept, fresh, "{name}:\n{text}");
        }
    }
    opened.close(name);
    edited.forget();
    opened.forget();
}

#[test]
fn answers_after_careless_edits_are_those_about_a_document_that_is_opened() {
    let runs = std::env::var("SPECLENS_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(40);
    let more = [("skills/a/SKILL.md", "---\nname: a\n---\n"), ("run.sh", "ls\n")];
    let mut clients = two(&FILES.into_iter().chain(more).collect::<Vec<_>>());
    for (number, (name, first)) in FILES.iter().enumerate() {
        let first = if number % 2 == 0 { (*first).to_owned() } else { first.replace('\n', "\r\n") };
        let mut numbers = Numbers(number as u64 + 7);
        let mut text = first.clone();
        clients[0].open_text(name, &text);
        for run in 0..runs {
            let (mut range, mut new) = numbers.edit(&text);
            if run % 8 == 7 {
                (range, new) = (0..text.len(), first.clone());
            }
            // Clients do not cut a line break.
            let is_cut = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
            range = range.start - usize::from(is_cut(range.start))..range.end + usize::from(is_cut(range.end));
            let places = json!({ "start": position(&text, range.start), "end": position(&text, range.end) });
            let edited = &mut clients[0];
            edited.change(name, json!({ "range": places, "text": new }));
            text.replace_range(range, &new);
            edited.save(name);
            let at = (0..=numbers.below(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            compare(&mut clients, name, &text, at);
        }
    }
}
