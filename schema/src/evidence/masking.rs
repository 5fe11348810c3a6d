//! Stars in place of secrets in everything that was observed beyond the streams of one process.

use crate::mask::Secrets;

use super::{
    Address, Answer, Capture, CommandAnswer, Content, Evidence, Need, PathState, RanCommand, SeenFile, TraceAnswer,
};

impl Evidence {
    /// Masks the commands of an agent, and what was observed on behalf of claims. What is masked already stays so.
    pub(crate) fn mask_observed(&mut self, secrets: &Secrets) {
        for command in self.commands.iter_mut().flat_map(|log| &mut log.commands) {
            command.mask(secrets);
        }
        for observation in &mut self.observations {
            mask_need(&mut observation.need, secrets);
            mask_answer(&mut observation.answer, secrets);
        }
    }
}

/// Masks a text, and says whether that changed it.
fn mask_text(text: &mut String, secrets: &Secrets) -> bool {
    let masked = secrets.mask(text);
    let changed = masked != *text;
    *text = masked;
    changed
}

/// Masks a text that no claim is judged by.
fn hide(text: &mut String, secrets: &Secrets) {
    mask_text(text, secrets);
}

fn mask_capture(capture: &mut Capture, secrets: &Secrets) -> bool {
    match secrets.mask_capture(capture) {
        Some(masked) => {
            *capture = masked;
            true
        }
        None => false,
    }
}

fn mask_captures<'c>(captures: impl Iterator<Item = &'c mut Capture>, secrets: &Secrets) -> bool {
    captures.fold(false, |changed, capture| mask_capture(capture, secrets) | changed)
}

impl RanCommand {
    fn mask(&mut self, secrets: &Secrets) {
        let command = mask_text(&mut self.command, secrets);
        let streams = mask_captures(self.stdout.iter_mut().chain(&mut self.stderr), secrets);
        self.masked |= command | streams;
    }
}

fn mask_need(need: &mut Need, secrets: &Secrets) {
    match need {
        Need::Path { path, .. } => hide(path, secrets),
        Need::Command { run, .. } => hide(run, secrets),
        Need::Files(need) => hide(&mut need.pattern, secrets),
        Need::Response(need) => match &mut need.address {
            Address::Url(text) | Address::Gateway(text) => hide(text, secrets),
        },
        Need::Scores(need) => {
            mask_text(&mut need.rubric, secrets);
            mask_text(&mut need.path, secrets);
        }
        Need::Variables(_) | Need::Trace => {}
    }
}

fn mask_answer(answer: &mut Answer, secrets: &Secrets) {
    match answer {
        Answer::Path(PathState::File { content: Some(content) }) => mask_content(content, secrets),
        Answer::Path(PathState::Missing { beside }) => beside.iter_mut().for_each(|name| hide(name, secrets)),
        Answer::Path(PathState::File { content: None } | PathState::Directory | PathState::Other) => {}
        Answer::Command(CommandAnswer { stdout, stderr, masked, .. }) => {
            *masked |= mask_captures(stdout.iter_mut().chain(stderr), secrets);
        }
        Answer::Files(found) => {
            for SeenFile { path, content, .. } in &mut found.files {
                mask_text(path, secrets);
                content.iter_mut().for_each(|content| mask_content(content, secrets));
            }
            found.beside.iter_mut().for_each(|name| hide(name, secrets));
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
        Answer::Scores(scores) => scores.error.iter_mut().for_each(|error| hide(error, secrets)),
        Answer::Trace(TraceAnswer::Missing(reason)) | Answer::Nothing(reason) => hide(reason, secrets),
        Answer::Variables(_) => {}
    }
}

fn mask_content(content: &mut Content, secrets: &Secrets) {
    match content {
        Content::Text { text, masked } => *masked |= mask_capture(text, secrets),
        Content::Unreadable(reason) => hide(reason, secrets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::Dialect,
        evidence::{CommandLog, Observation},
    };

    #[test]
    fn no_secret_is_left_in_what_was_observed() {
        let secret = "abcd1234-word";
        let text = || format!("before {secret} after");
        let capture = || Some(Capture::whole(text()));
        let command = RanCommand { command: text(), stdout: capture(), stderr: capture(), ..RanCommand::default() };
        let clean = RanCommand { command: "clean".to_owned(), ..RanCommand::default() };
        let answer = CommandAnswer { stdout: capture(), stderr: capture(), ..CommandAnswer::default() };
        let content = Content::Text { text: Capture::whole(text()), masked: false };
        let mut evidence = Evidence {
            commands: Some(CommandLog { commands: vec![command, clean], cut: false }),
            observations: vec![
                Observation { need: Need::Command { run: text(), timeout_ms: 1 }, answer: Answer::Command(answer) },
                Observation {
                    need: Need::Path { path: text(), content: true },
                    answer: Answer::Path(PathState::File { content: Some(content) }),
                },
                Observation { need: Need::Trace, answer: Answer::Nothing(text()) },
            ],
            ..Evidence::default()
        };
        let secrets = Secrets::new([("API_KEY", secret)], &[], &[]);
        Dialect::CliBench.mask(&mut evidence, &secrets);
        assert!(!format!("{evidence:?}").contains(secret), "{evidence:?}");
        let log = evidence.commands.as_ref().unwrap();
        assert_eq!((log.commands[0].masked, log.commands[1].masked), (true, false));
        assert!(matches!(&evidence.observations[0].answer, Answer::Command(answer) if answer.masked));
        let masked = evidence.clone();
        Dialect::CliBench.mask(&mut evidence, &secrets);
        assert_eq!(evidence, masked, "masking again changes nothing");
    }
}
