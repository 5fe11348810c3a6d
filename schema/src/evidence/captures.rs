//! Every text that was captured, wherever it is in the evidence.

use super::{Answer, Capture, CommandAnswer, Content, Evidence, FilesAnswer, PathState, ResponseAnswer};

impl Evidence {
    /// Returns every capture, always in the same order: recordings refer to captures by their place in it.
    pub fn captures_mut(&mut self) -> Vec<&mut Capture> {
        let Evidence { stdout, stderr, commands, observations, .. } = self;
        let mut captures: Vec<&mut Capture> = stdout.iter_mut().chain(stderr).collect();
        for command in commands.iter_mut().flat_map(|log| &mut log.commands) {
            captures.extend(command.stdout.iter_mut().chain(&mut command.stderr));
        }
        for observation in observations {
            of_answer(&mut observation.answer, &mut captures);
        }
        captures
    }

    /// Keeps at most so many bytes of each capture.
    pub fn cut_captures(&mut self, limit: usize) {
        self.captures_mut().into_iter().for_each(|capture| capture.cut_to(limit));
    }
}

fn of_answer<'e>(answer: &'e mut Answer, captures: &mut Vec<&'e mut Capture>) {
    match answer {
        Answer::Path(PathState::File { content }) => captures.extend(of_content(content)),
        Answer::Command(CommandAnswer { stdout, stderr, .. }) => captures.extend(stdout.iter_mut().chain(stderr)),
        Answer::Files(FilesAnswer { files, .. }) => {
            captures.extend(files.iter_mut().filter_map(|file| of_content(&mut file.content)));
        }
        Answer::Response(ResponseAnswer { body, .. }) => captures.push(body),
        Answer::Path(PathState::Missing { .. } | PathState::Directory | PathState::Other)
        | Answer::Variables(_)
        | Answer::Trace(_)
        | Answer::Scores(_)
        | Answer::Nothing(_) => {}
    }
}

fn of_content(content: &mut Option<Content>) -> Option<&mut Capture> {
    match content {
        Some(Content::Text { text, .. }) => Some(text),
        Some(Content::Unreadable(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{CommandLog, Need, Observation, RanCommand, SeenFile};

    #[test]
    fn every_capture_of_the_evidence_is_found_and_cut() {
        let capture = |text: &str| Some(Capture::whole(text));
        let content = |text: &str| Some(Content::Text { text: Capture::whole(text), masked: false });
        let answers = [
            Answer::Path(PathState::File { content: content("path") }),
            Answer::Command(CommandAnswer { stdout: capture("asked"), stderr: capture("told"), ..Default::default() }),
            Answer::Files(FilesAnswer {
                files: vec![SeenFile { content: content("file"), ..SeenFile::default() }, SeenFile::default()],
                ..FilesAnswer::default()
            }),
            Answer::Response(ResponseAnswer { body: Capture::whole("body"), ..ResponseAnswer::default() }),
            Answer::Nothing("unseen".to_owned()),
        ];
        let command = RanCommand { stdout: capture("ran"), stderr: capture("stderr"), ..RanCommand::default() };
        let mut evidence = Evidence {
            stdout: capture("out"),
            stderr: capture("err"),
            commands: Some(CommandLog { commands: vec![command], cut: false }),
            observations: answers.into_iter().map(|answer| Observation { need: Need::Trace, answer }).collect(),
            ..Evidence::default()
        };
        let texts: Vec<String> = evidence.captures_mut().into_iter().map(|capture| capture.text.clone()).collect();
        assert_eq!(texts, ["out", "err", "ran", "stderr", "path", "asked", "told", "file", "body"]);
        // Whatever is written of it is found.
        let written = serde_json::to_string(&evidence).unwrap();
        assert_eq!(written.matches("\"text\":\"").count(), texts.len());
        evidence.cut_captures(2);
        assert!(evidence.captures_mut().into_iter().all(|capture| capture.text.len() == 2 && capture.cut));
    }
}
