//! Replaces secrets with stars in everything beyond the streams of one process.

use crate::mask::Secrets;

use super::{
    Address, Answer, Capture, Content, Evidence, FileSearch, Judge, LogFile, MaskingLoss, Need, PathState,
    QuestionPart, Ran, ReadFailure, SeenFile, TraceAnswer, Turn,
};

impl Evidence {
    /// Replaces secrets with stars before anything is judged, recorded or shown. Text that is already masked remains
    /// so. `concealed` returns the information that masking removes from standard output, given the raw and the masked
    /// stream.
    pub fn mask(&mut self, secrets: &Secrets, concealed: impl Fn(&Capture, &Capture) -> MaskingLoss) {
        if secrets.is_empty() {
            return;
        }
        self.mask_observed(secrets);
        if let Some(error) = &mut self.error {
            error.message = secrets.mask(&error.message);
        }
        let Some(ran) = &mut self.command else { return };
        for capture in std::iter::once(&mut ran.command).chain(&mut ran.stderr) {
            if let Some(masked) = secrets.mask_capture(capture) {
                *capture = masked;
            }
        }
        if let Some(stdout) = &mut ran.stdout
            && let Some(mut masked) = secrets.mask_capture(stdout)
        {
            masked.concealed = concealed(stdout, &masked).max(stdout.concealed);
            *stdout = masked;
        }
    }

    /// Masks the commands of an agent and the observations for claims. Text that is already masked remains so.
    fn mask_observed(&mut self, secrets: &Secrets) {
        for command in self.commands.iter_mut().flat_map(|log| &mut log.commands) {
            command.mask(secrets);
        }
        self.turns.iter_mut().for_each(|turn| turn.mask(secrets));
        for file in self.files.iter_mut().flat_map(|log| &mut log.files) {
            hide(&mut file.path, secrets);
            file.text.iter_mut().for_each(|text| mask_capture(text, secrets));
            // A short secret could be found by trying values under the stars.
            if file.text.as_ref().is_some_and(|text| !text.masked.is_empty()) {
                file.digest = None;
            }
        }
        if let Some(log) = &mut self.files {
            log.rest = std::mem::take(&mut log.rest).into_iter().map(|(path, it)| (secrets.mask(&path), it)).collect();
        }
        self.context.version.iter_mut().for_each(|version| hide(version, secrets));
        if let Some(templates) = &mut self.context.templates {
            templates.before.values_mut().chain(templates.after.values_mut()).for_each(|value| hide(value, secrets));
        }
        if let Some(exchange) = &mut self.exchange {
            hide(&mut exchange.address, secrets);
            [&mut exchange.sent].into_iter().chain(&mut exchange.answer).for_each(|text| mask_capture(text, secrets));
        }
        for observation in &mut self.observations {
            mask_need(&mut observation.need, secrets);
            mask_answer(&mut observation.answer, secrets);
        }
    }
}

/// Masks a text that no claim is judged by.
fn hide(text: &mut String, secrets: &Secrets) {
    *text = secrets.mask(text);
}

fn mask_capture(capture: &mut Capture, secrets: &Secrets) {
    if let Some(masked) = secrets.mask_capture(capture) {
        *capture = masked;
    }
}

impl Ran {
    fn mask(&mut self, secrets: &Secrets) {
        self.captures_mut().for_each(|capture| mask_capture(capture, secrets));
    }
}

impl Turn {
    fn mask(&mut self, secrets: &Secrets) {
        mask_capture(&mut self.text, secrets);
        for call in &mut self.calls {
            hide(&mut call.name, secrets);
            secrets.mask_value(&mut call.arguments);
        }
    }
}

fn mask_need(need: &mut Need, secrets: &Secrets) {
    match need {
        Need::Path { path, .. } => hide(path, secrets),
        Need::Command { run, .. } => hide(run, secrets),
        Need::Files(need) => {
            [&mut need.pattern].into_iter().chain(&mut need.searches).for_each(|text| hide(text, secrets));
        }
        Need::Log(need) => need.path.iter_mut().chain([&mut need.run]).for_each(|text| hide(text, secrets)),
        Need::Response(need) => match &mut need.address {
            Address::Url(text) | Address::Gateway(text) => hide(text, secrets),
        },
        Need::Scores(need) => {
            let optional = need.section.iter_mut().chain(&mut need.identity);
            [&mut need.rubric, &mut need.path].into_iter().chain(optional).for_each(|text| hide(text, secrets));
            match &mut need.judge {
                Judge::Endpoint(Address::Url(text) | Address::Gateway(text)) => hide(text, secrets),
                // Ids of models are not secrets.
                Judge::Model(_) => {}
            }
        }
        Need::Question(need) => {
            hide(&mut need.system, secrets);
            for part in &mut need.parts {
                match part {
                    QuestionPart::Text(text) => hide(text, secrets),
                    QuestionPart::Output => {}
                }
            }
        }
        Need::Variables(_) | Need::Trace => {}
    }
}

fn mask_answer(answer: &mut Answer, secrets: &Secrets) {
    match answer {
        Answer::Path(PathState::File { content: Some(content) }) => mask_content(content, secrets),
        Answer::Path(PathState::Missing { beside }) => beside.iter_mut().for_each(|name| hide(name, secrets)),
        Answer::Path(PathState::File { content: None } | PathState::Directory | PathState::Other) => {}
        Answer::Command(ran) => ran.mask(secrets),
        Answer::Files(found) => {
            for SeenFile { path, content, searches, .. } in &mut found.files {
                hide(path, secrets);
                content.iter_mut().for_each(|content| mask_content(content, secrets));
                for FileSearch { pattern, found, gap, .. } in searches {
                    [pattern].into_iter().chain(gap).for_each(|text| hide(text, secrets));
                    found.iter_mut().for_each(|found| mask_capture(&mut found.text, secrets));
                }
            }
            found.beside.iter_mut().for_each(|name| hide(name, secrets));
        }
        Answer::Log(log) => {
            mask_capture(&mut log.lines, secrets);
            for LogFile { path, unread } in &mut log.files {
                hide(path, secrets);
                match unread {
                    Some(ReadFailure::Failed(reason)) => hide(reason, secrets),
                    Some(ReadFailure::Directory) | None => {}
                }
            }
            let texts = log.session.iter_mut().chain(&mut log.beside).chain([&mut log.path]);
            texts.for_each(|text| hide(text, secrets));
        }
        Answer::Response(response) => {
            mask_capture(&mut response.body, secrets);
            response.error.iter_mut().for_each(|error| hide(error, secrets));
        }
        Answer::Trace(TraceAnswer::Found(trace)) => {
            for span in &mut trace.spans {
                let texts = [Some(&mut span.name), span.model.as_mut(), span.error.as_mut()];
                texts.into_iter().flatten().for_each(|text| hide(text, secrets));
            }
        }
        Answer::Question(answer) => {
            for reply in &mut answer.replies {
                mask_capture(&mut reply.text, secrets);
                reply.error.iter_mut().for_each(|error| hide(error, secrets));
            }
        }
        Answer::Trace(TraceAnswer::Missing(reason)) | Answer::Nothing(reason) => hide(reason, secrets),
        Answer::Variables(_) => {}
    }
}

fn mask_content(content: &mut Content, secrets: &Secrets) {
    match content {
        Content::Text(text) => mask_capture(text, secrets),
        Content::Unreadable(reason) => hide(reason, secrets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Change, ChangedFile, CommandLog, Context, EntryKind, Exchange, FileLog, Observation, TemplateValues, ToolCall,
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
    fn no_secret_is_left_in_what_was_observed() {
        let secret = "abcd1234-word";
        let text = || format!("before {secret} after");
        let capture = || Some(Capture::whole(text()));
        let command = Ran { command: Capture::whole(text()), stdout: capture(), stderr: capture(), ..Ran::default() };
        let clean = Ran { command: Capture::whole("clean"), ..Ran::default() };
        let content = Content::Text(Capture::whole(text()));
        let call = ToolCall { id: "1".to_owned(), name: text(), arguments: serde_json::json!({ text(): [text()] }) };
        let turn = Turn { text: Capture::whole(text()), calls: vec![call], ..Turn::default() };
        let changed =
            ChangedFile { path: text(), change: Change::Created, size: Some(1), digest: None, text: capture() };
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
        let observed = |need: &serde_json::Value, answer: &serde_json::Value| serde_json::json!({ "need": need, "answer": answer });
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
            /turns/0/calls/0/id
            /files/files/0/digest
            /observations/8/need/scores/judge/model/provider
            /observations/8/need/scores/judge/model/model
            /observations/9/need/question/peer/provider
            /observations/9/need/question/peer/model
            /observations/17/answer/trace/found/spans/0/id
            /observations/17/answer/trace/found/spans/0/parent
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
}
