//! Whole suites from an empty buffer, by completion: at each step the best entry of the list must be the wanted one,
//! and the result must be a suite without problems. The simulated editor filters and sorts, replaces, indents, and
//! moves through tab stops.

use std::ops::Range;

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::{offset_in, position},
};

/// An action of the user.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Types letters. A line break keeps the indentation, and increases it after a colon.
    Type(&'static str),
    /// Accepts the best entry, which must be this one.
    Take(&'static str),
    /// Types letters and accepts the best entry, which must be this one.
    Pick(&'static str, &'static str),
    /// Goes to the next tab stop.
    Tab,
    /// Removes one level of indentation.
    Out,
}

use Step::{Out, Pick, Tab, Take, Type};

struct Editor {
    client: Client,
    name: &'static str,
    has_snippets: bool,
    text: String,
    cursor: usize,
    /// The text that the next letter replaces.
    selection: Option<Range<usize>>,
    /// The remaining tab stops, and the current one.
    stops: Vec<Range<usize>>,
    current: Option<usize>,
}

impl Editor {
    fn open(name: &'static str, files: &[(&str, &str)], has_snippets: bool) -> Editor {
        let mut client = Client::spawn(files);
        let item = json!({ "snippetSupport": has_snippets, "resolveSupport": { "properties": ["documentation"] } });
        client.initialize(json!({ "textDocument": { "completion": { "completionItem": item } } }), json!({}));
        client.open_text(name, "");
        Editor {
            client,
            name,
            has_snippets,
            text: String::new(),
            cursor: 0,
            selection: None,
            stops: Vec::new(),
            current: None,
        }
    }

    fn range(&self, range: &Value) -> Range<usize> {
        offset_in(&self.text, &range["start"], "utf-16")..offset_in(&self.text, &range["end"], "utf-16")
    }

    fn replace(&mut self, range: Range<usize>, new: &str) {
        let places = json!({ "start": position(&self.text, range.start), "end": position(&self.text, range.end) });
        self.client.change(self.name, json!({ "range": places, "text": new }));
        self.text.replace_range(range.clone(), new);
        for (index, stop) in self.stops.iter_mut().enumerate() {
            let holds = self.current == Some(index) && stop.start <= range.start && range.end <= stop.end;
            let moved = |at: usize| (at + new.len()).saturating_sub(range.len());
            if holds {
                stop.end = moved(stop.end);
            } else if stop.start >= range.end {
                *stop = moved(stop.start)..moved(stop.end);
            }
        }
        self.cursor = range.start + new.len();
        self.selection = None;
    }

    fn letters(&mut self, words: &str) {
        for letter in words.chars() {
            let range = self.selection.clone().unwrap_or(self.cursor..self.cursor);
            let start = self.text[..range.start].rfind('\n').map_or(0, |end| end + 1);
            let line = &self.text[start..range.start];
            let indent = line.len() - line.trim_start_matches(' ').len();
            let deeper = if line.trim_end().ends_with(':') { 2 } else { 0 };
            let new = match letter {
                '\n' => format!("\n{}", " ".repeat(indent + deeper)),
                _ => letter.to_string(),
            };
            self.replace(range, &new);
        }
    }

    /// Returns the entries that match the typed text, the best first.
    fn list(&mut self) -> Vec<Value> {
        let place = position(&self.text, self.cursor);
        let answer = self.client.ask_at("completion", self.name, place, json!({}));
        let items = answer["result"]["items"].as_array().cloned().unwrap_or_default();
        let mut fitting: Vec<(bool, String, Value)> = Vec::new();
        for item in items {
            assert!(item.get("commitCharacters").is_none());
            let start = self.range(&item["textEdit"]["range"]).start;
            let typed = self.text[start..self.cursor].trim_start().to_lowercase();
            let filter = item["filterText"].as_str().or(item["label"].as_str()).unwrap().to_lowercase();
            let mut letters = filter.chars();
            if typed.chars().all(|wanted| letters.any(|letter| letter == wanted)) {
                fitting.push((!filter.starts_with(&typed), item["sortText"].as_str().unwrap().to_owned(), item));
            }
        }
        fitting.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        fitting.into_iter().map(|(_, _, item)| item).collect()
    }

    fn take(&mut self, label: &str) {
        let items = self.list();
        let labels: Vec<&str> = items.iter().map(|item| item["label"].as_str().unwrap()).take(8).collect();
        assert_eq!(labels.first(), Some(&label), "the best are {labels:?} in\n{}", self.shown());
        let item = items[0].clone();
        let range = self.range(&item["textEdit"]["range"]);
        // Further edits refer to the original text: the last one is applied first.
        let more: Vec<Value> = item["additionalTextEdits"].as_array().cloned().unwrap_or_default();
        let mut more: Vec<(Range<usize>, String)> = more
            .iter()
            .map(|edit| (self.range(&edit["range"]), edit["newText"].as_str().unwrap().to_owned()))
            .collect();
        assert!(more.iter().all(|(other, _)| other.end <= range.start || range.end <= other.start));
        more.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let new = item["textEdit"]["newText"].as_str().unwrap();
        if item["insertTextFormat"] == 2 {
            assert!(self.has_snippets, "{item}");
            self.snippet(range.clone(), new);
        } else {
            self.replace(range.clone(), new);
        }
        let (cursor, selection) = (self.cursor, self.selection.clone());
        let mut shift = 0;
        for (at, new) in more {
            assert!(at.end <= range.start, "the test's editor knows edits before the cursor only");
            let grown = new.len() - at.len();
            self.replace(at, &new);
            shift += grown;
        }
        self.cursor = cursor + shift;
        self.selection = selection.map(|range| range.start + shift..range.end + shift);
    }

    fn snippet(&mut self, range: Range<usize>, template: &str) {
        let start = self.text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let line = &self.text[start..range.start];
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        let template = template.replace('\n', &format!("\n{indent}"));
        let mut plain = String::new();
        let mut stops: Vec<(usize, Range<usize>)> = Vec::new();
        let mut rest = template.as_str();
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            match letter {
                '\\' => {
                    let escaped = rest.chars().next().expect("nothing is escaped at the end");
                    plain.push(escaped);
                    rest = &rest[escaped.len_utf8()..];
                }
                '$' => {
                    let is_braced = rest.starts_with('{');
                    rest = rest.trim_start_matches('{');
                    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
                    let number: usize = rest[..end].parse().expect("a stop has a number");
                    rest = &rest[end..];
                    let begin = plain.len();
                    if is_braced && rest.starts_with(':') {
                        rest = &rest[1..];
                        while !rest.starts_with('}') {
                            rest = rest.strip_prefix('\\').unwrap_or(rest);
                            let letter = rest.chars().next().expect("a stop ends");
                            plain.push(letter);
                            rest = &rest[letter.len_utf8()..];
                        }
                    }
                    if is_braced {
                        rest = &rest[1..];
                    }
                    stops.push((if number == 0 { usize::MAX } else { number }, begin..plain.len()));
                }
                letter => plain.push(letter),
            }
        }
        if !stops.iter().any(|(number, _)| *number == usize::MAX) {
            stops.push((usize::MAX, plain.len()..plain.len()));
        }
        stops.sort_by_key(|(number, _)| *number);
        (self.stops, self.current) = (Vec::new(), None);
        self.replace(range.clone(), &plain);
        let at = range.start;
        self.stops = stops.into_iter().map(|(_, stop)| at + stop.start..at + stop.end).collect();
        self.go(0);
    }

    fn go(&mut self, stop: usize) {
        let range = self.stops[stop].clone();
        self.current = Some(stop);
        self.cursor = range.end;
        self.selection = (!range.is_empty()).then_some(range);
    }

    fn tab(&mut self) {
        let next = self.current.map_or(0, |current| current + 1);
        assert!(next < self.stops.len(), "there is no further stop in\n{}", self.shown());
        self.go(next);
    }

    fn shown(&self) -> String {
        format!("{}▮{}", &self.text[..self.cursor], &self.text[self.cursor..])
    }
}

/// Writes a suite. `expected` is the result.
#[track_caller]
fn write(name: &'static str, files: &[(&str, &str)], has_snippets: bool, steps: &[Step], expected: &str) {
    let mut editor = Editor::open(name, files, has_snippets);
    for step in steps {
        match step {
            Type(words) => editor.letters(words),
            Take(label) => editor.take(label),
            Pick(words, label) => {
                editor.letters(words);
                editor.take(label);
            }
            Tab => editor.tab(),
            Out => {
                let cursor = editor.cursor;
                assert_eq!(&editor.text[cursor - 2..cursor], "  ", "{}", editor.shown());
                editor.replace(cursor - 2..cursor, "");
            }
        }
    }
    assert_eq!(editor.text, expected);
    let found = editor.client.diagnostics(name, |_| true);
    let messages: Vec<&str> = found.iter().map(|found| found["message"].as_str().unwrap()).collect();
    assert_eq!(messages, Vec::<&str>::new());
}

const SKILL: &[(&str, &str)] = &[
    (
        "skills/mail/SKILL.md",
        "---\nname: mail\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Demo\n",
    ),
    ("skills/mail/tests/scenarios.yaml", ""),
    ("clawspec.yaml", "gateway_log_pattern: /var/log/oc-{date}.log\n"),
    ("memory/2026-05-01-mail.md", "# Hook\n## Body\n"),
];

#[test]
fn a_clawspec_contract_is_written_from_an_empty_buffer() {
    let steps = [
        Pick("ve", "version"),
        Type("\nta"),
        // The target is the directory of the file.
        Take("target"),
        Tab,
        Tab,
        Tab,
        Type("\n"),
        Out,
        Pick("sc", "scenarios"),
        Type("mail-smoke"),
        Tab,
        Tab,
        Pick("art", "artifact_exists"),
        Type("memory/{{today}}-mail.md"),
        Tab,
        Tab,
        Tab,
        Type("\n"),
        Out,
        Pick("- artifact_c", "artifact_contains"),
        // The path of the previous claim, and the headings of an earlier run.
        Pick("m", "memory/{{today}}-mail.md"),
        Tab,
        Pick("H", "Hook"),
        Pick(", ", "Body"),
        Tab,
        Type("\n"),
        Out,
        Pick("- tool_w", "tool_was_called"),
        Type("resend.send"),
        Tab,
        Tab,
        Tab,
        Type("\n"),
        Out,
        Out,
        Out,
        Pick("- ", "new scenario"),
        Type("mail-refuses"),
        Tab,
        Tab,
        Pick("tool_not_c", "tool_not_called"),
        Pick("r", "resend.send"),
        Tab,
        Tab,
        Tab,
        Type("\n"),
        Out,
        Out,
        Pick("ta", "tags"),
        Pick("n", "negative"),
    ];
    let expected = r#"version: "1.0"
target:
  type: skill
  path: skills/mail
  trigger: /mail
scenarios:
  - name: mail-smoke
    when:
      invoke: /mail
    then:
      - type: artifact_exists
        path: memory/{{today}}-mail.md
        timeout: 60
        updated_after: "{{run_started_at}}"
      - type: artifact_contains
        path: memory/{{today}}-mail.md
        sections: [Hook, Body]
      - type: tool_was_called
        tool: resend.send
        log_path: /var/log/oc-{{today}}.log
        run_id: "{{run_id}}"
  - name: mail-refuses
    when:
      invoke: /mail
    then:
      - type: tool_not_called
        tool: resend.send
        log_path: /var/log/oc-{{today}}.log
        run_id: "{{run_id}}"
    tags:
      - negative"#;
    write("skills/mail/tests/scenarios.yaml", SKILL, true, &steps, expected);
}

const REPOSITORY: &[(&str, &str)] = &[("fixtures/a.txt", "x\n")];

const BENCH: &str = r#"cli: git
providers:
  - anthropic/claude-sonnet-4.6
scaffold: fixtures
tasks:
  - id: show-status
    intent: Show which files of the repository are changed
    assert:
      - exit_code: 0
      - ran: "^git status"
      - verify:
          run: git status --short
          output_contains: a.txt
    difficulty: easy"#;

#[test]
fn a_cli_bench_suite_is_written_from_an_empty_buffer() {
    let steps = [
        Pick("cl", "cli"),
        Pick("git\npr", "providers"),
        Pick("a", "anthropic/claude-sonnet-4.6"),
        Type("\n"),
        Out,
        Pick("sca", "scaffold"),
        Pick("f", "fixtures"),
        Pick("\nta", "tasks"),
        Type("show-status"),
        Tab,
        Type("Show which files of the repository are changed"),
        Tab,
        Pick("ex", "exit_code"),
        Pick("0\n- ra", "ran"),
        Pick("\"^git status\"\n- ve", "verify"),
        Pick("git status --short\nou", "output_contains"),
        Type("a.txt\n"),
        Out,
        Out,
        Out,
        Pick("di", "difficulty"),
        Pick("e", "easy"),
    ];
    write("cli-bench.yaml", REPOSITORY, true, &steps, BENCH);
}

#[test]
fn the_same_suite_is_written_by_an_editor_that_knows_no_snippets() {
    let steps = [
        Pick("cl", "cli"),
        Pick("git\npr", "providers"),
        Take("anthropic/claude-sonnet-4.6"),
        Type("\n"),
        Out,
        Pick("sca", "scaffold"),
        Take("fixtures"),
        Pick("\nta", "tasks"),
        Pick("show-status\n  in", "intent"),
        Pick("Show which files of the repository are changed\nas", "assert"),
        Pick("ex", "exit_code"),
        Take("0"),
        Pick("\n- ra", "ran"),
        Pick("\"^git status\"\n- ve", "verify"),
        Pick("git status --short\nou", "output_contains"),
        Type("a.txt\n"),
        Out,
        Out,
        Out,
        Pick("di", "difficulty"),
        Take("easy"),
    ];
    write("cli-bench.yaml", REPOSITORY, false, &steps, BENCH);
}

#[test]
fn a_kindlm_suite_is_written_from_an_empty_buffer() {
    let steps = [
        Pick("ki", "kindlm"),
        Pick("\npro", "project"),
        Pick("shop\nsu", "suite"),
        Type("support\n"),
        Out,
        Pick("mo", "models"),
        Type("small"),
        Tab,
        Type("ope"),
        // The provider's section is inserted with its name.
        Take("openai"),
        Tab,
        Type("gpt-4o-mini\n"),
        Out,
        Out,
        Pick("prom", "prompts"),
        Pick("ask:\nus", "user"),
        Type("\"{{question}}\"\n"),
        Out,
        Out,
        Pick("te", "tests"),
        Type("says-hello"),
        Tab,
        Type("echo hello"),
        Tab,
        Pick("ou", "output"),
        Pick("fo", "format"),
        Type("j"),
        // The keys that `json` needs are inserted with it.
        Take("json"),
        Pick("s", "schemas/"),
        Take("a.json"),
    ];
    let expected = r#"kindlm: 1
project: shop
suite:
  name: support
providers:
  openai: { apiKeyEnv: OPENAI_API_KEY }
models:
  - id: small
    provider: openai
    model: gpt-4o-mini
prompts:
  ask:
    user: "{{question}}"
tests:
  - name: says-hello
    command: echo hello
    expect:
      output:
        format: json
        schemaFile: schemas/a.json"#;
    write("kindlm.yaml", &[("schemas/a.json", "{}\n")], true, &steps, expected);
}

#[test]
fn one_choice_makes_a_whole_suite() {
    for (name, label) in [
        ("kindlm.yaml", "new KindLM suite"),
        ("cli-bench.yaml", "new cli-bench suite"),
        ("skills/newsletter/tests/scenarios.yaml", "new ClawSpec scenario file"),
    ] {
        let files = [
            (
                "skills/newsletter/SKILL.md",
                "---\nname: newsletter\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Demo\n",
            ),
            ("clawspec.yaml", "{}\n"),
            ("tasks/a.yaml", "- { id: a, intent: Do it, assert: [{ exit_code: 0 }] }\n"),
        ];
        let mut editor = Editor::open(name, &files, true);
        let found = editor.list().into_iter().find(|item| item["label"] == label).expect(label);
        let new = found["textEdit"]["newText"].as_str().unwrap().to_owned();
        editor.snippet(0..0, &new);
        let found = editor.client.diagnostics(name, |_| true);
        let wrong: Vec<&Value> = found.iter().filter(|found| found["severity"].as_u64() < Some(3)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{}", editor.text);
    }
}

#[test]
fn a_key_asks_for_the_list_of_its_values_where_the_client_can_open_it() {
    let offered = |capabilities: Value, context: Value| -> Vec<Value> {
        let text = "cli: git\ntasks:\n  - id: a\n    \n";
        let mut client = Client::opened_as(&[("cli-bench.yaml", text)], capabilities, json!({}));
        let at = json!({ "line": 3, "character": 4 });
        let answer = client.ask_at("completion", "cli-bench.yaml", at, json!({ "context": context }));
        answer["result"]["items"].as_array().unwrap().clone()
    };
    let by_hand = json!({ "triggerKind": 1 });
    let command = |items: &[Value], label: &str| {
        items.iter().find(|it| it["label"] == label).unwrap_or_else(|| panic!("{label}: {items:#?}"))["command"].clone()
    };
    let snippets = json!({ "completion": { "completionItem": { "snippetSupport": true } } });
    let knows = json!({ "commands": { "commands": ["editor.action.triggerSuggest"] } });
    for document in [json!({}), snippets] {
        let items = offered(json!({ "textDocument": document, "experimental": knows }), by_hand.clone());
        assert_eq!(command(&items, "difficulty")["command"], "editor.action.triggerSuggest");
        // Other keys come first below these.
        assert_eq!(command(&items, "assert"), Value::Null);
        let items = offered(json!({ "textDocument": document }), by_hand.clone());
        assert_eq!(command(&items, "difficulty"), Value::Null);
    }
    // A star that does not begin an alias opens no list.
    assert!(offered(json!({}), json!({ "triggerKind": 2, "triggerCharacter": "*" })).is_empty());
}
