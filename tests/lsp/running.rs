//! Runs that go on while something else happens in the editor.

use serde_json::{Value, json};

use crate::{client::Client, lens_titles, run, sources};

/// `waits` ends when the file `go` is there.
const WAITING: &str = "kindlm: 1
project: demo
suite:
  name: demo
tests:
  - name: waits
    command: until [ -e go ]; do sleep 0.02; done; echo no
    expect:
      output:
        contains: [sorry]
";

/// Asks for lenses until they are as wanted.
fn lenses_until(client: &mut Client, what: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let titles = lens_titles(client, "kindlm.yaml");
        if fits(&titles) {
            return titles;
        }
        assert!(std::time::Instant::now() < end, "{what}: {titles:?}");
    }
}

fn running(titles: &[String]) -> usize {
    titles.iter().filter(|title| title.contains("running")).count()
}

fn close(client: &mut Client, name: &str) {
    let uri = client.uri(name);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
}

#[test]
fn a_file_that_is_opened_again_shows_the_run_that_goes_on() {
    let mut client = Client::start(&[("kindlm.yaml", WAITING), ("speclens.yaml", "recordings: {enabled: false}\n")]);
    client.open("kindlm.yaml");
    run(&mut client, "waits");
    close(&mut client, "kindlm.yaml");
    client.open("kindlm.yaml");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    std::fs::write(client.path("go"), "").unwrap();
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    lenses_until(&mut client, "it failed", |titles| titles.contains(&"✗ 1 claim failed".to_owned()));
}
