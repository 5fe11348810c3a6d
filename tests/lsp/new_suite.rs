//! New suites, which a client has written into a folder.

use serde_json::json;

use crate::client::{Client, uri};

#[test]
fn starter_of_a_format_is_written_into_a_folder_once() {
    let mut client = Client::start(&[("other.yaml", "a: 1\n")]);
    let offered = client.execute("speclens.newSuite", json!([]))["result"]["formats"].clone();
    let formats: Vec<&str> = offered.as_array().unwrap().iter().map(|it| it["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["kindlm", "cli-bench", "clawspec"]);
    let directory = client.path("new folder");
    let write = |client: &mut Client, format: &str| {
        client.execute("speclens.newSuite", json!([{ "format": format, "directory": uri(&directory) }]))
    };
    for format in ["kindlm", "cli-bench"] {
        let files = write(&mut client, format)["result"]["files"].clone();
        assert_eq!(files[0], uri(&directory.join(format!("{format}.yaml"))), "the suite is first");
        let again = write(&mut client, format)["error"]["message"].clone();
        assert!(again.as_str().unwrap().contains("already exists, so nothing was written"), "{again}");
    }
    assert_eq!(write(&mut client, "promptfoo")["error"]["message"], "unknown format `promptfoo`");
    let nowhere = client.execute("speclens.newSuite", json!([{ "format": "kindlm" }]))["error"]["message"].clone();
    assert_eq!(nowhere, "`speclens.newSuite` needs the URI `directory`");
}
