//! Messages while a file keeps the server waiting, and many of them at once.

use serde_json::{Value, json};

use crate::client::{Client, at};

const SUITE: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: greets, command: echo hello, expect: {output: {contains: [hello]}}}
";

fn ask_hover(client: &mut Client, name: &str, line: u32) -> u64 {
    let uri = client.uri(name);
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 3 } });
    client.ask("textDocument/hover", place)
}

fn ask_symbols(client: &mut Client, name: &str) -> u64 {
    let uri = client.uri(name);
    client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }))
}

#[cfg(target_os = "linux")]
mod held {
    use std::{
        io::{BufRead, BufReader},
        process::{Child, Command, Stdio},
    };

    use super::*;

    /// A file that no one else can open, as on a network that does not answer: the system makes others wait until the
    /// lease on it is given back.
    struct Held(Child);

    impl Held {
        fn new(client: &Client, name: &str) -> Held {
            /// Takes a lease (`F_SETLEASE`, `F_WRLCK`) and keeps it until the input ends.
            const LEASE: &str = "open my $file, '+<', $ARGV[0] or die $!; $SIG{IO} = 'IGNORE'; \
                                 fcntl($file, 1024, 1) or die $!; $| = 1; print \"held\\n\"; <STDIN>;";
            let mut holder = Command::new("perl");
            holder.args(["-e", LEASE]).arg(client.path(name)).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut holder = holder.spawn().unwrap();
            let mut said = String::new();
            BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
            assert_eq!(said, "held\n");
            Held(holder)
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            drop(self.0.stdin.take());
            self.0.wait().unwrap();
        }
    }

    const TASKS: &str = "- id: one\n  intent: Show it\n  assert: [{ ran: git status }]\n";

    /// Returns a workspace with a suite, and with tasks of another one whose main file cannot be opened yet.
    fn start() -> (Client, Held) {
        let mut client = Client::spawn(&[
            ("near/kindlm.yaml", SUITE),
            ("far/cli-bench.yaml", "cli: git\nproviders: [openai/gpt]\ntasks: [file://tasks/*.yaml]\n"),
            ("far/tasks/one.yaml", TASKS),
        ]);
        let held = Held::new(&client, "far/cli-bench.yaml");
        client.initialize(json!({}), json!({ "trusted": true }));
        (client, held)
    }

    #[test]
    fn other_documents_are_opened_changed_and_asked_about_while_one_waits_for_a_file() {
        let (mut client, held) = start();
        client.open("far/tasks/one.yaml");
        let waiting = ask_hover(&mut client, "far/tasks/one.yaml", 1);
        let mut text = client.open("near/kindlm.yaml");
        client.diagnostics("near/kindlm.yaml", |_| true);
        client.replace("near/kindlm.yaml", &mut text, "project", "projct", 2);
        client.diagnostics("near/kindlm.yaml", |found| found.iter().any(|found| found["code"] == "unknown-key"));
        let hover = ask_hover(&mut client, "near/kindlm.yaml", 0);
        assert!(client.answer(hover)["result"].is_object());
        // Changed files concern every document, and wait for none.
        client.files_changed(&[("near/other.txt", 1)]);
        let hover = ask_hover(&mut client, "near/kindlm.yaml", 0);
        assert!(client.answer(hover)["result"].is_object());
        assert!(!client.has_answered(waiting));
        drop(held);
        assert!(client.answer(waiting)["result"].is_object());
    }

    #[test]
    fn actions_are_offered_while_requests_wait_for_the_index() {
        let (mut client, held) = start();
        client.open("near/kindlm.yaml");
        client.diagnostics("near/kindlm.yaml", |_| true);
        let waiting: Vec<u64> = (0..4).map(|_| client.ask("workspace/symbol", json!({ "query": "" }))).collect();
        let actions = client.actions("near/kindlm.yaml", &at(4, 12), None);
        assert!(actions.iter().any(|action| action["title"] == "Run `greets`"));
        assert!(waiting.iter().all(|request| !client.has_answered(*request)));
        drop(held);
        for request in waiting {
            assert!(client.answer(request)["result"].is_array());
        }
    }

    #[test]
    fn what_is_asked_about_a_document_that_waits_for_a_file_can_be_cancelled() {
        let (mut client, held) = start();
        client.open("far/tasks/one.yaml");
        let hover = ask_hover(&mut client, "far/tasks/one.yaml", 1);
        let uri = client.uri("far/tasks/one.yaml");
        let arguments = json!([{ "uri": uri }]);
        let run =
            client.ask("workspace/executeCommand", json!({ "command": "speclens.runFile", "arguments": arguments }));
        client.notify("$/cancelRequest", json!({ "id": hover }));
        assert_eq!(client.answer(hover)["error"]["code"], -32800);
        let cancelled = client.execute("speclens.cancel", arguments);
        assert_eq!(cancelled["result"]["cancelled"], 1);
        drop(held);
        assert_eq!(client.answer(run)["result"], json!({ "run": null, "reason": "cancelled" }));
    }

    #[test]
    fn server_ends_while_a_document_waits_for_a_file() {
        let (mut client, _held) = start();
        client.open("far/tasks/one.yaml");
        ask_hover(&mut client, "far/tasks/one.yaml", 1);
        // It leaves while the file is still held.
        drop(client);
    }

    #[test]
    fn document_that_is_closed_while_it_waits_for_a_file_stays_closed() {
        let (mut client, held) = start();
        client.open("far/tasks/one.yaml");
        client.close("far/tasks/one.yaml");
        let hover = ask_hover(&mut client, "far/tasks/one.yaml", 1);
        drop(held);
        assert_eq!(client.answer(hover)["result"], Value::Null);
    }

    #[test]
    fn hover_is_answered_while_another_suite_waits_for_a_file_that_it_names() {
        let far = SUITE.replace("contains: [hello]", "format: json, schemaFile: ./slow.json");
        let files = [("near/kindlm.yaml", SUITE), ("far/kindlm.yaml", far.as_str()), ("far/slow.json", "{}")];
        let mut client = Client::start(&files);
        client.open("near/kindlm.yaml");
        client.diagnostics("near/kindlm.yaml", |_| true);
        let held = Held::new(&client, "far/slow.json");
        client.open("far/kindlm.yaml");
        let uri = client.uri("far/kindlm.yaml");
        let actions = json!({
            "textDocument": { "uri": uri },
            "range": { "start": { "line": 4, "character": 0 }, "end": { "line": 4, "character": 90 } },
            "context": { "diagnostics": [] },
        });
        let waiting = client.ask("textDocument/codeAction", actions);
        for name in ["near/kindlm.yaml", "far/kindlm.yaml"] {
            let hover = ask_hover(&mut client, name, 0);
            assert!(client.answer(hover)["result"].is_object(), "{name}");
        }
        let lenses = client.about("near/kindlm.yaml", "codeLens");
        assert!(lenses[0].is_object(), "{lenses}");
        assert!(!client.has_answered(waiting));
        drop(held);
        client.answer(waiting);
        client.diagnostics_of_any_version("far/kindlm.yaml", |_| true);
    }
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn roll(&mut self, sides: u64) -> u64 {
        // Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn in_every_burst_a_request_sees_the_text_that_was_there_when_it_was_sent() {
    let names = ["a/kindlm.yaml", "b/kindlm.yaml"];
    let large = format!("{SUITE}# {}\n", "x".repeat(300 * 1024));
    for seed in 0..12 {
        let mut dice = Numbers(seed);
        let mut client = Client::start(&[(names[0], SUITE), (names[1], &large)]);
        let mut texts: [Option<String>; 2] = [None, None];
        let mut expected = Vec::new();
        for version in 1..60 {
            let which = usize::try_from(dice.roll(2)).unwrap();
            let name = names[which];
            match (&mut texts[which], dice.roll(6)) {
                (None, 0) => expected.push((ask_symbols(&mut client, name), None)),
                (text @ None, _) => *text = Some(client.open(name)),
                (text @ Some(_), 0) => {
                    *text = None;
                    client.close(name);
                }
                (Some(text), 1 | 2) => {
                    let name_of_test = text.split("{name: ").nth(2).unwrap().split(',').next().unwrap().to_owned();
                    expected.push((ask_symbols(&mut client, name), Some(name_of_test)));
                }
                (Some(_), 3) if dice.roll(3) == 0 => {
                    client.save(name);
                }
                (Some(_), 3) => {
                    client.files_changed(&[("speclens.yaml", 1)]);
                }
                (Some(text), _) => {
                    let before = text.split("{name: ").nth(2).unwrap().split(',').next().unwrap().to_owned();
                    let after = format!("test-{version}");
                    client.replace(name, text, &format!("{{name: {before}, "), &format!("{{name: {after}, "), version);
                }
            }
        }
        for (id, name_of_test) in expected {
            let answer = client.answer(id)["result"].clone();
            match name_of_test {
                None => assert_eq!(answer, Value::Null, "burst {seed}"),
                Some(test) => {
                    assert!(answer.to_string().contains(&format!("\"{test}\"")), "burst {seed}, {test}: {answer}")
                }
            }
        }
    }
}
