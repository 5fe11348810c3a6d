//! Answers about a whole document, of which the server caches the unchanged parts: after any edits they equal those of
//! a newly opened document.

use serde_json::{Value, json};

use super::client::Client;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn roll(&mut self, sides: usize) -> usize {
        // Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn choose<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.roll(list.len())]
    }
}

/// A format, in the style of this test.
struct Format {
    /// The name of the file.
    file: &'static str,
    /// Everything above the items, with the key of their list, if it has one.
    head: &'static str,
    /// The lines of one item; `#` is its number.
    items: &'static [&'static str],
    /// Lines that can be added to an item.
    lines: &'static [&'static str],
    /// Lines that may follow the list.
    tail: &'static str,
}

const FORMATS: [Format; 4] = [
    Format {
        file: "kindlm.yaml",
        head: "kindlm: 1\nproject: demo\nsuite:\n  name: demo\ntests:\n",
        items: &[
            "- name: test-#\n  command: sh run.sh {{who}}\n  vars: {who: \"é😀\"}\n  expect:\n    output:\n      contains: [a]\n",
            "- name: plain-#\n  command: |\n    # no comment\n    cat <<END\n    END\n  expect: {latency: {maxMs: 5}}\n",
            "- name: anchor-#\n  command: ls\n  expect: &e#\n    output: {contains: [b]}\n",
            "- name: alias-#\n  command: echo {{who}}\n  expect: *e1\n",
        ],
        lines: &["  tags: [x]\n", "  unknown: 1\n", "  skip: true\n", "  # one\n  # two\n"],
        tail: "",
    },
    Format {
        file: "cli-bench.yaml",
        head: "cli: git\nproviders: [openai/gpt-4o-mini]\ntasks:\n",
        items: &[
            "- id: task-#\n  intent: Do it\n  assert:\n    - ran: \"git (add|rm) .*\"\n    - file_exists: a\n",
            "- id: other-#\n  intent: |\n    Do it,\n    and more\n  scaffold: files\n",
            "- file://tasks/more.yaml\n",
        ],
        lines: &["  difficulty: hard\n", "  categry: x\n", "  # one\n  # two\n", "\n"],
        tail: "concurrency: 2\n",
    },
    Format {
        file: "tasks/all.yaml",
        head: "# tasks\n# of one file\n",
        items: &[
            "- id: part-#\n  intent: Do it\n  assert: &a#\n    - exit_code: 0\n    - ran: \"x+\"\n",
            "- id: last-#\n  intent: Do é it\n  setup: [echo {{workdir}}]\n",
        ],
        lines: &["  category: y\n", "  # one\n  # two\n", "  env: {A: \"{{workdir}}\"}\n"],
        tail: "",
    },
    Format {
        file: "skills/news/tests/scenarios.yaml",
        head: "version: \"1.0\"\ntarget:\n  type: skill\n  path: skills/news\nscenarios:\n",
        items: &[
            "- name: first-#\n  given:\n    - type: file_present\n      path: skills/news/SKILL.md\n  when: {invoke: /news}\n  then:\n    - type: artifact_exists\n      path: out/{{today}}.md\n",
            "- name: second-#\n  when:\n    invoke: |\n      /news é😀\n      now\n  then: &s#\n    - {type: log_entry, path: run.log, pattern: \"^a+$\"}\n",
            "- name: third-#\n  when: {invoke: /news}\n  then: *s2\n",
        ],
        lines: &["  tags: [x]\n", "  descripton: a\n", "  # one\n  # two\n"],
        tail: "",
    },
];

/// A text of items that is edited.
struct Suite {
    format: &'static Format,
    /// The blanks before each dash.
    pad: &'static str,
    line_end: &'static str,
    items: Vec<String>,
    count: usize,
}

impl Suite {
    fn text(&self) -> String {
        let padded = |item: &String| -> String {
            item.split_inclusive('\n').map(|line| format!("{}{line}", self.pad)).collect()
        };
        let items: String = self.items.iter().map(padded).collect();
        format!("{}{items}{}", self.format.head, self.format.tail).replace('\n', self.line_end)
    }

    fn new_item(&mut self, dice: &mut Numbers) -> String {
        self.count += 1;
        dice.choose(self.format.items).replace('#', &self.count.to_string())
    }

    /// Makes a change as people do.
    fn edit(&mut self, dice: &mut Numbers) {
        let at = dice.roll(self.items.len());
        match dice.roll(7) {
            0 => {
                let new = self.new_item(dice);
                self.items.insert(at, new);
            }
            1 if self.items.len() > 3 => drop(self.items.remove(at)),
            2 if at > 0 => self.items.swap(at, at - 1),
            3 => self.items[at] = self.items[at].replace("-1", "-renamed-é"),
            4 => self.items[at].push_str("# behind\n# it\n"),
            5 => {
                self.items[at] =
                    self.items[at].replace(" {who", "  {who").replace("[b]", "[b, \"{{who}}\"]").replace("^a+", "^a+b")
            }
            _ if !self.items[at].contains("://") => self.items[at].push_str(dice.choose(self.format.lines)),
            _ => {}
        }
    }
}

fn place(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before[before.rfind('\n').map_or(0, |end| end + 1)..].encode_utf16().count();
    json!({ "line": line, "character": column })
}

/// Returns the smallest change from one text to another.
fn difference(from: &str, to: &str) -> Value {
    let boundary = |at: &usize| from.is_char_boundary(*at) && to.is_char_boundary(*at);
    let same = from.bytes().zip(to.bytes()).take_while(|(one, other)| one == other).count();
    let mut start = (0..=same).rev().find(boundary).unwrap();
    // CR LF is one line end.
    if from[..start].ends_with('\r') {
        start -= 1;
    }
    let rest = (from.len() - start).min(to.len() - start);
    let same = from.bytes().rev().zip(to.bytes().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let boundary = |back: &usize| from.is_char_boundary(from.len() - back) && to.is_char_boundary(to.len() - back);
    let mut back = (0..=same).rev().find(boundary).unwrap();
    if from[from.len() - back..].starts_with('\n') {
        back -= 1;
    }
    let range = json!({ "start": place(from, start), "end": place(from, from.len() - back) });
    json!({ "range": range, "text": &to[start..to.len() - back] })
}

fn answers(client: &mut Client, name: &str, folder: &str, text: &str) -> Vec<(&'static str, Value)> {
    let uri = client.uri(name);
    let methods = [
        "documentLink",
        "codeLens",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "semanticTokens/range",
        "documentHighlight",
        "references",
    ];
    let asked = methods.map(|method| {
        let range = json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 30, "character": 0 } });
        let position = place(text, text.find("{{").map_or(0, |at| at + 3));
        let context = json!({ "includeDeclaration": true });
        let params =
            json!({ "textDocument": { "uri": uri }, "range": range, "position": position, "context": context });
        (method, client.ask(&format!("textDocument/{method}"), params))
    });
    let answered = asked.into_iter().map(|(method, id)| {
        let answer = client.answer(id);
        assert!(answer["error"].is_null(), "{answer}");
        let words = answer["result"].to_string().replace(&format!("/{folder}/"), "/DIRECTORY/");
        (method, serde_json::from_str(&words).unwrap())
    });
    answered.collect()
}

#[test]
fn whole_answers_after_edits_are_those_of_a_document_that_is_opened() {
    for (number, format) in FORMATS.iter().enumerate() {
        for (pad, line_end) in [("", "\n"), ("  ", "\r\n")] {
            // A list at the root is at the margin.
            let pad = if format.head.ends_with(":\n") { pad } else { "" };
            let mut dice = Numbers(number as u64);
            let mut suite = Suite { format, pad, line_end, items: Vec::new(), count: 0 };
            for _ in 0..8 {
                let item = suite.new_item(&mut dice);
                suite.items.push(item);
            }
            let [edited, opened] = ["one", "two"].map(|folder| format!("{folder}/{}", format.file));
            let mut files = Vec::new();
            for folder in ["one", "two"] {
                let beside = [("SKILL.md", "---\nname: news\n---\n"), ("more.yaml", "[]\n")];
                files.push((format!("{folder}/skills/news/{}", beside[0].0), beside[0].1));
                files.push((format!("{folder}/tasks/{}", beside[1].0), beside[1].1));
                files.push((format!("{folder}/run.sh"), "ls\n"));
                if format.file.starts_with("tasks/") {
                    files.push((format!("{folder}/cli-bench.yaml"), "cli: git\ntasks:\n  - file://tasks/all.yaml\n"));
                }
            }
            let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            let mut client = Client::start(&files);
            let mut text = suite.text();
            client.open_text(&edited, &text);
            client.diagnostics_of_any_version(&edited, |_| true);
            for round in 0..24 {
                // Results for a text that is damaged for a moment must not survive it.
                if round % 6 == 5 {
                    let middle = text.len() / 2;
                    let is_between = |at: &usize| text.is_char_boundary(*at) && !text[..*at].ends_with('\r');
                    let at = (0..=middle).rev().find(is_between).unwrap();
                    let damaged = format!("{}\"{}", &text[..at], &text[at..]);
                    client.change(&edited, difference(&text, &damaged));
                    answers(&mut client, &edited, "one", &damaged);
                    client.change(&edited, difference(&damaged, &text));
                }
                suite.edit(&mut dice);
                let next = suite.text();
                client.change(&edited, difference(&text, &next));
                text = next;
                let found = client.diagnostics(&edited, |_| true);
                let kept = answers(&mut client, &edited, "one", &text);
                client.forget();
                client.open_text(&opened, &text);
                // The lenses of tests with errors change when the document was analysed.
                client.diagnostics_of_any_version(&opened, |_| true);
                let found_anew = client.diagnostics_of_any_version(&opened, |_| true);
                let words = |mut found: Vec<Value>| {
                    // The page that it links to may be written only later.
                    found
                        .iter_mut()
                        .filter_map(Value::as_object_mut)
                        .for_each(|it| drop(it.shift_remove("codeDescription")));
                    Value::from(found).to_string().replace("/two", "/one").replace("`two/", "`one/")
                };
                assert_eq!(words(found), words(found_anew), "{} in round {round}:\n{text}", format.file);
                let fresh = answers(&mut client, &opened, "two", &text);
                client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri(&opened) } }));
                for ((method, kept), (_, fresh)) in kept.into_iter().zip(fresh) {
                    let may_be_empty = [
                        "documentLink",
                        "documentHighlight",
                        "references",
                        "semanticTokens/full",
                        "semanticTokens/range",
                    ];
                    assert!(fresh != json!([]) || may_be_empty.contains(&method), "{method}: {text}");
                    assert_eq!(kept, fresh, "{} {method} in round {round}:\n{text}", format.file);
                }
            }
        }
    }
}

/// The items of a long list are looked at in stretches, and each has problems because of others.
#[test]
fn diagnostics_of_a_long_list_after_edits_are_those_of_a_document_that_is_opened() {
    for (number, format) in FORMATS.iter().enumerate() {
        let (pad, line_end) = if number % 2 == 0 { ("", "\n") } else { ("  ", "\r\n") };
        let mut dice = Numbers(number as u64);
        let mut suite = Suite { format, pad, line_end, items: Vec::new(), count: 0 };
        while suite.items.len() < 150 {
            let mut item = suite.new_item(&mut dice);
            if suite.items.len() % 7 == 3 && !item.contains("://") {
                item.push_str(dice.choose(format.lines));
            }
            suite.items.push(item);
        }
        let main = ("one/cli-bench.yaml", "cli: git\ntasks:\n  - file://tasks/all.yaml\n");
        let mut client = Client::start(&[main, ("two/cli-bench.yaml", main.1)]);
        let [edited, opened] = ["one", "two"].map(|folder| format!("{folder}/{}", format.file));
        let mut text = suite.text();
        client.open_text(&edited, &text);
        client.diagnostics_of_any_version(&edited, |_| true);
        for round in 0..16 {
            let next = match round % 4 {
                // A line above all items moves everything.
                1 if text.starts_with("# a line") => text[text.find('\n').unwrap() + 1..].to_owned(),
                1 => format!("# a line{line_end}{text}"),
                _ => {
                    suite.edit(&mut dice);
                    let comment =
                        if text.starts_with("# a line") { format!("# a line{line_end}") } else { String::new() };
                    comment + &suite.text()
                }
            };
            client.change(&edited, difference(&text, &next));
            text = next;
            let found = client.diagnostics(&edited, |_| true);
            client.forget();
            client.open_text(&opened, &text);
            client.diagnostics_of_any_version(&opened, |_| true);
            let anew = client.diagnostics_of_any_version(&opened, |_| true);
            client.notify("textDocument/didClose", json!({ "textDocument": { "uri": client.uri(&opened) } }));
            let words = |mut found: Vec<Value>| {
                let objects = found.iter_mut().filter_map(Value::as_object_mut);
                objects.for_each(|it| drop(it.shift_remove("codeDescription")));
                Value::from(found).to_string().replace("/two", "/one").replace("`two/", "`one/")
            };
            assert!(anew.len() > 10, "{} has {} problems", format.file, anew.len());
            assert_eq!(words(found), words(anew), "{} in round {round}:\n{text}", format.file);
        }
    }
}
