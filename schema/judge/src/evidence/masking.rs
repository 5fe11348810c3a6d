//! Replaces secrets with stars in everything beyond the streams of one process.

use serde_json::Value;

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
            mask_value(&mut call.arguments, secrets);
        }
    }
}

/// Masks every string in a value, keys included.
fn mask_value(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => hide(text, secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(members) => {
            let old = std::mem::take(members);
            members.extend(old.into_iter().map(|(mut name, mut value)| {
                hide(&mut name, secrets);
                mask_value(&mut value, secrets);
                (name, value)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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
}
