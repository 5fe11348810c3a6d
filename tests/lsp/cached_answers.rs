//! Answers about a document, of which the server caches the unchanged parts: after any edits they equal those about a
//! newly opened document.

use serde_json::{Value, json};

use super::{client::Client, edits_and_reopening, numbers::Numbers, positions::position};

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

    fn new_item(&mut self, numbers: &mut Numbers) -> String {
        self.count += 1;
        numbers.one(self.format.items).replace('#', &self.count.to_string())
    }

    /// Makes a change as people do.
    fn edit(&mut self, numbers: &mut Numbers) {
        let at = numbers.below(self.items.len());
        match numbers.below(7) {
            0 => {
                let new = self.new_item(numbers);
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
            _ if !self.items[at].contains("://") => self.items[at].push_str(numbers.one(self.format.lines)),
            _ => {}
        }
    }
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
    let range = json!({ "start": position(from, start), "end": position(from, from.len() - back) });
    json!({ "range": range, "text": &to[start..to.len() - back] })
}

#[test]
fn answers_after_edits_are_those_about_a_document_that_is_opened() {
    let main = "cli: git\ntasks:\n  - file://tasks/all.yaml\n";
    for (number, format) in FORMATS.iter().enumerate() {
        for (pad, line_end) in [("", "\n"), ("  ", "\r\n")] {
            // A list at the root is at the margin.
            let pad = if format.head.ends_with(":\n") { pad } else { "" };
            let mut numbers = Numbers(number as u64);
            let mut suite = Suite { format, pad, line_end, items: Vec::new(), count: 0 };
            for _ in 0..8 {
                let item = suite.new_item(&mut numbers);
                suite.items.push(item);
            }
            let mut files = vec![
                ("skills/news/SKILL.md", "---\nname: news\n---\n"),
                ("tasks/more.yaml", "[]\n"),
                ("run.sh", "ls\n"),
            ];
            files.extend(format.file.starts_with("tasks/").then_some(("cli-bench.yaml", main)));
            let mut clients = edits_and_reopening::two(&files);
            let mut text = suite.text();
            clients[0].open_text(format.file, &text);
            for round in 0..24 {
                let edited = &mut clients[0];
                // Results for a text that is damaged for a moment must not survive it.
                if round % 6 == 5 {
                    let middle = text.len() / 2;
                    let is_between = |at: &usize| text.is_char_boundary(*at) && !text[..*at].ends_with('\r');
                    let at = (0..=middle).rev().find(is_between).unwrap();
                    let damaged = format!("{}\"{}", &text[..at], &text[at..]);
                    edited.change(format.file, difference(&text, &damaged));
                    edits_and_reopening::shown(edited, format.file, &damaged, at);
                    edited.change(format.file, difference(&damaged, &text));
                }
                suite.edit(&mut numbers);
                let next = suite.text();
                edited.change(format.file, difference(&text, &next));
                text = next;
                let at = text.find("{{").map_or(0, |at| at + 3);
                edits_and_reopening::compare(&mut clients, format.file, &text, at);
            }
        }
    }
}

/// The items of a long list are looked at in chunks, and each has problems because of others.
#[test]
fn diagnostics_of_a_long_list_after_edits_are_those_of_a_document_that_is_opened() {
    for (number, format) in FORMATS.iter().enumerate() {
        let (pad, line_end) = if number % 2 == 0 { ("", "\n") } else { ("  ", "\r\n") };
        let mut numbers = Numbers(number as u64);
        let mut suite = Suite { format, pad, line_end, items: Vec::new(), count: 0 };
        while suite.items.len() < 150 {
            let mut item = suite.new_item(&mut numbers);
            if suite.items.len() % 7 == 3 && !item.contains("://") {
                item.push_str(numbers.one(format.lines));
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
                    suite.edit(&mut numbers);
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
            client.close(&opened);
            let words = |mut found: Vec<Value>| {
                let objects = found.iter_mut().filter_map(Value::as_object_mut);
                // What was just typed is a hint.
                objects
                    .for_each(|it| ["codeDescription", "severity"].iter().for_each(|key| drop(it.shift_remove(*key))));
                Value::from(found).to_string().replace("/two", "/one").replace("`two/", "`one/")
            };
            assert!(anew.len() > 10, "{} has {} problems", format.file, anew.len());
            assert_eq!(words(found), words(anew), "{} in round {round}:\n{text}", format.file);
        }
    }
}

/// An item names a later one, whose line changes while its own does not.
#[test]
fn place_elsewhere_in_a_long_list_moves_with_the_lines_before_it() {
    let name = "skills/news/tests/scenarios.yaml";
    let scenario = |number: usize| {
        let claim = |path: &str| format!("[{{type: artifact_exists, path: out/{path}.md}}]");
        let then = match number {
            0 => claim("same"),
            1 => format!("&same {}", claim("same")),
            800 => "*same".to_owned(),
            _ => claim(&number.to_string()),
        };
        format!("  - name: s{number}\n    tags: [negative]\n    when: {{invoke: /news}}\n    then: {then}\n")
    };
    let head = "version: \"1.0\"\ntarget: {type: skill, path: skills/news, trigger: /news}\nscenarios:\n";
    let mut text = format!("{head}{}", (0..900).map(scenario).collect::<String>());
    let capabilities = json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
    let mut client = Client::opened_as(&[(name, &text)], capabilities, json!({ "trusted": true }));
    let line_of = |text: &str| text.lines().position(|line| line.ends_with("name: s800")).unwrap() + 3;
    let lines_of_related = |found: &[Value]| -> Vec<u64> {
        let related = found.iter().flat_map(|it| it["relatedInformation"].as_array().cloned().unwrap_or_default());
        let again = related.filter(|it| it["message"] == "used again here");
        again.filter_map(|it| it["location"]["range"]["start"]["line"].as_u64()).collect()
    };
    let found = client.diagnostics(name, |found| !found.is_empty());
    assert_eq!(lines_of_related(&found), [line_of(&text) as u64]);
    client.replace(name, &mut text, "  - name: s400\n", "  # one\n  # two\n  - name: s400\n", 2);
    let found = client.diagnostics(name, |_| true);
    assert_eq!(lines_of_related(&found), [line_of(&text) as u64]);
}
