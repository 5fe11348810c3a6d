//! All captured texts, wherever they are in the evidence.

use super::{Answer, Capture, Content, Evidence, Exchange, FilesAnswer, LogAnswer, PathState, Ran, ResponseAnswer};

impl Evidence {
    /// Returns every capture, always in the same order: recordings refer to captures by their place in it.
    pub fn captures_mut(&mut self) -> Vec<&mut Capture> {
        let Evidence { command, exchange, turns, commands, files, observations, .. } = self;
        let mut captures: Vec<&mut Capture> = command.iter_mut().flat_map(Ran::captures_mut).collect();
        if let Some(Exchange { sent, answer, .. }) = exchange {
            captures.push(sent);
            captures.extend(answer);
        }
        captures.extend(turns.iter_mut().map(|turn| &mut turn.text));
        captures.extend(commands.iter_mut().flat_map(|log| &mut log.commands).flat_map(Ran::captures_mut));
        captures.extend(files.iter_mut().flat_map(|log| &mut log.files).filter_map(|file| file.text.as_mut()));
        for observation in observations {
            of_answer(&mut observation.answer, &mut captures);
        }
        captures
    }

    /// Keeps at most this many bytes of each capture.
    pub fn cut_captures(&mut self, limit: usize) {
        self.captures_mut().into_iter().for_each(|capture| capture.cut_to(limit));
    }
}

fn of_answer<'e>(answer: &'e mut Answer, captures: &mut Vec<&'e mut Capture>) {
    match answer {
        Answer::Path(PathState::File { content }) => captures.extend(of_content(content)),
        Answer::Command(ran) => captures.extend(ran.captures_mut()),
        Answer::Files(FilesAnswer { files, .. }) => {
            for file in files {
                captures.extend(of_content(&mut file.content));
                captures.extend(file.searches.iter_mut().filter_map(|it| Some(&mut it.found.as_mut()?.text)));
            }
        }
        Answer::Log(LogAnswer { lines, .. }) => captures.push(lines),
        Answer::Response(ResponseAnswer { body, .. }) => captures.push(body),
        Answer::Question(answer) => captures.extend(answer.replies.iter_mut().map(|reply| &mut reply.text)),
        Answer::Path(PathState::Missing { .. } | PathState::Directory | PathState::Other)
        | Answer::Variables(_)
        | Answer::Trace(_)
        | Answer::Nothing(_) => {}
    }
}

fn of_content(content: &mut Option<Content>) -> Option<&mut Capture> {
    match content {
        Some(Content::Text(text)) => Some(text),
        Some(Content::Unreadable(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{
        Change, ChangedFile, CommandLog, FileLog, FileSearch, FoundText, ModelReply, Need, Observation, QuestionAnswer,
        SeenFile, Turn,
    };

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
}
