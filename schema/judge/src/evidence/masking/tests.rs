use super::*;
use crate::evidence::{
    Change, ChangedFile, CommandLog, Context, EntryKind, FileLog, FoundText, ModelReply, Observation, QuestionAnswer,
    Span, TemplateValues, ToolCall, Trace, Turn,
};

#[test]
fn digest_of_a_file_goes_with_what_is_masked_in_it() {
    let file = |text: &str| ChangedFile {
        path: "out".to_owned(),
        change: Change::Created,
        size: Some(1),
        digest: Some("0123".to_owned()),
        text: Some(Capture::whole(text)),
    };
    let files = FileLog { files: vec![file("pin 4711"), file("no pin")], ..FileLog::default() };
    let mut evidence = Evidence { files: Some(files), ..Evidence::default() };
    let secrets = Secrets::new([("PIN", "4711")], &["PIN".to_owned()], &[]);
    evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
    let digests: Vec<_> = evidence.files.unwrap().files.into_iter().map(|file| file.digest).collect();
    assert_eq!(digests, [None, Some("0123".to_owned())]);
}

#[test]
fn list_that_lacks_a_masked_name_is_incomplete() {
    let secrets = Secrets::new([("PIN", "4711")], &["PIN".to_owned()], &[]);
    let masked = |name: &str| {
        let rest = std::collections::BTreeMap::from([(name.to_owned(), EntryKind::File)]);
        let span = Span { model: Some(name.to_owned()), ..Span::default() };
        let trace = Trace { spans: vec![span], ..Trace::default() };
        let mut evidence = Evidence {
            files: Some(FileLog { rest, ..FileLog::default() }),
            observations: vec![Observation { need: Need::Trace, answer: Answer::Trace(TraceAnswer::Found(trace)) }],
            ..Evidence::default()
        };
        evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
        let Some(TraceAnswer::Found(trace)) = evidence.trace() else { panic!("the trace is there") };
        (evidence.files.as_ref().unwrap().cut, trace.gap().is_some())
    };
    assert_eq!((masked("pin-4711"), masked("pin-4712")), ((true, true), (false, false)));
}

#[test]
fn no_secret_is_left_in_what_was_observed() {
    let secret = "abcd1234-word";
    let text = || format!("before {secret} after");
    let capture = || Some(Capture::whole(text()));
    let command = Ran { command: Capture::whole(text()), stdout: capture(), stderr: capture(), ..Ran::default() };
    let clean = Ran { command: Capture::whole("clean"), ..Ran::default() };
    let content = Content::Text(Capture::whole(text()));
    let call =
        ToolCall { id: "1".to_owned(), name: text(), arguments: serde_json::json!({ text(): [text()] }), result: None };
    let turn = Turn { text: Capture::whole(text()), calls: vec![call], ..Turn::default() };
    let changed = ChangedFile { path: text(), change: Change::Created, size: Some(1), digest: None, text: capture() };
    let values = std::collections::BTreeMap::from([("name".to_owned(), text())]);
    let rest = std::collections::BTreeMap::from([(text(), EntryKind::Directory)]);
    let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: None };
    let mut evidence = Evidence {
        context: Context { templates: Some(templates), ..Context::default() },
        command: Some(command.clone()),
        files: Some(FileLog { files: vec![changed], rest, cut: false }),
        turns: vec![turn],
        commands: Some(CommandLog { commands: vec![command.clone(), clean], cut: false, unseen: None }),
        exchange: Some(Exchange { address: text(), sent: Capture::whole(text()), status: None, answer: capture() }),
        observations: vec![
            Observation { need: Need::Command { run: text(), timeout_ms: 1 }, answer: Answer::Command(command) },
            Observation {
                need: Need::Path { path: text(), content: true },
                answer: Answer::Path(PathState::File { content: Some(content) }),
            },
            Observation { need: Need::Trace, answer: Answer::Nothing(text()) },
        ],
        ..Evidence::default()
    };
    let secrets = Secrets::new([("API_KEY", secret)], &[], &[]);
    evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
    assert!(!format!("{evidence:?}").contains(secret), "{evidence:?}");
    let log = evidence.commands.as_ref().unwrap();
    let stretches = |ran: &Ran| ran.command.masked.len();
    assert_eq!((stretches(&log.commands[0]), stretches(&log.commands[1])), (1, 0));
    let masked = evidence.clone();
    evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
    assert_eq!(evidence, masked, "masking again changes nothing");
}

/// Evidence with every kind of text in it, as it is recorded.
fn everything() -> serde_json::Value {
    let capture = || serde_json::json!({ "text": "a", "cut": false });
    let ran = || {
        serde_json::json!({
            "command": capture(), "exit": null, "timed_out": false, "stdout": capture(), "stderr": capture(),
            "duration_ms": null,
        })
    };
    let score = |judge: serde_json::Value| {
        serde_json::json!({ "scores": {
            "judge": judge, "rubric": "a", "path": "a", "section": "a", "identity": "a", "moment": "after", "times": 1,
        } })
    };
    let peer = || serde_json::json!({ "provider": "a", "model": "a" });
    let search = serde_json::json!({
        "pattern": "a", "found": { "line": 0, "text": capture() }, "lines": 1, "gap": "a",
    });
    let file = |content: serde_json::Value| {
        serde_json::json!({
            "path": "a", "directory": false, "modified_us": null, "seen_after_ms": 0, "content": content,
            "searches": [search],
        })
    };
    let needs = [
        serde_json::json!({ "path": { "path": "a", "content": true } }),
        serde_json::json!({ "command": { "run": "a", "timeout_ms": 1 } }),
        serde_json::json!({ "files": {
            "pattern": "a", "wildcards": true, "literal": true, "content": true, "moment": "after", "wait_ms": 0,
            "since_us": null, "searches": ["a"],
        } }),
        serde_json::json!({ "log": { "path": "a", "run": "a", "moment": "after" } }),
        serde_json::json!({ "response": { "address": { "url": "a" }, "moment": "after" } }),
        serde_json::json!({ "response": { "address": { "gateway": "a" }, "moment": "after" } }),
        score(serde_json::json!({ "endpoint": { "url": "a" } })),
        score(serde_json::json!({ "endpoint": { "gateway": "a" } })),
        score(serde_json::json!({ "model": peer() })),
        serde_json::json!({ "question": {
            "peer": peer(), "system": "a", "parts": [{ "text": "a" }, "output"], "max_tokens": 1, "times": 1,
        } }),
    ];
    let answers = [
        serde_json::json!({ "path": { "missing": { "beside": ["a"] } } }),
        serde_json::json!({ "path": { "file": { "content": { "text": capture() } } } }),
        serde_json::json!({ "path": { "file": { "content": { "unreadable": "a" } } } }),
        serde_json::json!({ "command": ran() }),
        serde_json::json!({ "files": {
            "files": [file(serde_json::json!({ "text": capture() })), file(serde_json::json!({ "unreadable": "a" }))],
            "waited_ms": 0, "cut": false, "beside": ["a"],
        } }),
        serde_json::json!({ "log": {
            "path": "a", "files": [{ "path": "a", "unread": { "failed": "a" } }], "lines": capture(), "places": [],
            "session": "a", "beside": ["a"],
        } }),
        serde_json::json!({ "response": { "status": 200, "body": capture(), "error": "a" } }),
        serde_json::json!({ "trace": { "found": {
            "started_us": null, "ended_us": null, "cut": false,
            "spans": [{
                "id": "a", "parent": "a", "kind": "tool", "name": "a", "model": "a", "error": "a", "started_us": null,
                "ended_us": null, "duration_ms": null, "tokens": null, "cost_usd": null,
            }],
        } } }),
        serde_json::json!({ "trace": { "missing": "a" } }),
        serde_json::json!({ "question": { "replies": [{ "text": capture(), "error": "a" }] } }),
        serde_json::json!({ "nothing": "a" }),
    ];
    let observed =
        |need: &serde_json::Value, answer: &serde_json::Value| serde_json::json!({ "need": need, "answer": answer });
    let nothing = serde_json::json!({ "variables": {} });
    let trace = serde_json::json!("trace");
    let observations: Vec<serde_json::Value> = needs
        .iter()
        .map(|need| observed(need, &nothing))
        .chain(answers.iter().map(|answer| observed(&trace, answer)))
        .collect();
    let values = serde_json::json!({ "name": "a" });
    serde_json::json!({
        "context": {
            "started": "a", "run_id": "a", "version": "a",
            "templates": { "before": values, "after": values, "utc_offset_s": null },
        },
        "command": ran(),
        "turns": [{ "text": capture(), "calls": [{ "id": "a", "name": "a", "arguments": { "k": ["a"] } }] }],
        "commands": { "commands": [ran()], "cut": false },
        "files": {
            "files": [{ "path": "a", "change": "created", "size": 1, "digest": "a", "text": capture() }],
            "rest": { "a": "file" }, "cut": false,
        },
        "exchange": { "address": "a", "sent": capture(), "status": 200, "answer": capture() },
        "observations": observations,
        "duration_ms": null, "usage": null,
        "error": { "kind": "provider", "message": "a" },
    })
}

/// Collects the pointers of all texts in a value.
fn texts(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(_) => found.push(at.to_owned()),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| texts(item, &format!("{at}/{index}"), found));
        }
        serde_json::Value::Object(members) => {
            members.iter().for_each(|(name, member)| texts(member, &format!("{at}/{name}"), found));
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

#[test]
fn every_text_of_the_evidence_is_masked_except_ids_of_programs() {
    let secret = "abcd1234-word";
    let secrets = Secrets::new([("API_KEY", secret)], &[], &[]);
    let sample = everything();
    let mut pointers = Vec::new();
    texts(&sample, "", &mut pointers);
    let (mut tried, mut unmasked) = (0, Vec::new());
    for pointer in &pointers {
        let mut planted = sample.clone();
        *planted.pointer_mut(pointer).unwrap() = format!("before {secret} after").into();
        // The text of a closed set cannot hold a secret.
        let Ok(mut evidence) = serde_json::from_value::<Evidence>(planted) else { continue };
        tried += 1;
        evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
        if serde_json::to_string(&evidence).unwrap().contains(secret) {
            unmasked.push(pointer.as_str());
        }
    }
    assert!(tried > 70, "{tried} of {}", pointers.len());
    expect_test::expect![[r#"
        /context/started
        /context/run_id
        /files/files/0/digest
        /observations/8/need/scores/judge/model/provider
        /observations/8/need/scores/judge/model/model
        /observations/9/need/question/peer/provider
        /observations/9/need/question/peer/model
    "#]]
    .assert_eq(&(unmasked.join("\n") + "\n"));
}

#[test]
fn concealed_information_of_the_output_is_kept_and_never_less_than_before() {
    let secrets = Secrets::new([("API_KEY", "abcd1234-word")], &[], &[]);
    let masked = |text: &str, before: MaskingLoss, found: MaskingLoss| {
        let stdout = Capture { concealed: before, ..Capture::whole(text) };
        let command = Ran { stdout: Some(stdout), ..Ran::default() };
        let mut evidence = Evidence { command: Some(command), ..Evidence::default() };
        evidence.mask(&secrets, |raw, masked| {
            assert!(raw.text.contains("word") && !masked.text.contains("word"));
            found
        });
        evidence.command.unwrap().stdout.unwrap().concealed
    };
    let (nothing, json, everything) = (MaskingLoss::Nothing, MaskingLoss::Json, MaskingLoss::Everything);
    assert_eq!(masked("abcd1234-word", nothing, json), json);
    assert_eq!(masked("abcd1234-word", everything, json), everything);
    assert_eq!(masked("other", json, everything), json);
}

#[test]
fn every_capture_of_the_evidence_is_found_and_cut() {
    let capture = |text: &str| Some(Capture::whole(text));
    let content = |text: &str| Some(Content::Text(Capture::whole(text)));
    let found = |text: &str| FileSearch {
        found: Some(FoundText { line: 1, text: Capture::whole(text) }),
        ..FileSearch::default()
    };
    let ran = |command: &str, stdout: &str, stderr: &str| Ran {
        command: Capture::whole(command),
        stdout: capture(stdout),
        stderr: capture(stderr),
        ..Ran::default()
    };
    let answers = [
        Answer::Path(PathState::File { content: content("path") }),
        Answer::Command(ran("ask", "asked", "printed")),
        Answer::Files(FilesAnswer {
            files: vec![
                SeenFile { content: content("file"), searches: vec![found("line")], ..SeenFile::default() },
                SeenFile::default(),
            ],
            ..FilesAnswer::default()
        }),
        Answer::Log(LogAnswer { lines: Capture::whole("logged"), ..LogAnswer::default() }),
        Answer::Response(ResponseAnswer { body: Capture::whole("body"), ..ResponseAnswer::default() }),
        Answer::Question(QuestionAnswer {
            replies: vec![ModelReply { text: Capture::whole("reply"), ..ModelReply::default() }],
        }),
        Answer::Nothing("unseen".to_owned()),
    ];
    let file = ChangedFile {
        path: "x".to_owned(),
        change: Change::Created,
        size: None,
        digest: None,
        text: capture("changed"),
    };
    let mut evidence = Evidence {
        command: Some(ran("act", "out", "err")),
        exchange: Some(Exchange { sent: Capture::whole("sent"), answer: capture("answer"), ..Exchange::default() }),
        turns: vec![Turn { text: Capture::whole("said"), ..Turn::default() }],
        commands: Some(CommandLog { commands: vec![ran("agent", "ran", "stderr")], cut: false, unseen: None }),
        files: Some(FileLog { files: vec![file], ..FileLog::default() }),
        observations: answers.into_iter().map(|answer| Observation { need: Need::Trace, answer }).collect(),
        ..Evidence::default()
    };
    let texts: Vec<String> = evidence.captures_mut().into_iter().map(|capture| capture.text.clone()).collect();
    let expected = [
        "act", "out", "err", "sent", "answer", "said", "agent", "ran", "stderr", "changed", "path", "ask", "asked",
        "printed", "file", "line", "logged", "body", "reply",
    ];
    assert_eq!(texts, expected);
    // All written text is found.
    let written = serde_json::to_string(&evidence).unwrap();
    assert_eq!(written.matches("\"text\":\"").count(), texts.len());
    evidence.cut_captures(2);
    assert!(evidence.captures_mut().into_iter().all(|capture| capture.text.len() == 2 && capture.cut));
}
