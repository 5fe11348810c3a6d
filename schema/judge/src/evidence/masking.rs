//! Every text of the evidence, wherever it is, and stars in place of the secrets in it.

use super::{
    Address, Answer, Capture, Content, Evidence, Exchange, FileSearch, FilesAnswer, Judge, LogAnswer, LogFile,
    MaskingLoss, Need, PathState, QuestionPart, Ran, ReadFailure, ResponseAnswer, SeenFile, TraceAnswer,
};
use crate::mask::Secrets;

impl Evidence {
    /// Returns every capture, always in the same order: recordings refer to captures by their place in it.
    pub fn captures_mut(&mut self) -> Vec<&mut Capture> {
        let Evidence { command, exchange, turns, commands, files, observations, .. } = self;
        let mut captures: Vec<&mut Capture> = command.iter_mut().flat_map(Ran::captures_mut).collect();
        if let Some(Exchange { sent, answer, .. }) = exchange {
            captures.push(sent);
            captures.extend(answer);
        }
        captures.extend(turns.iter_mut().flat_map(|turn| turn.user.iter_mut().chain([&mut turn.text])));
        captures.extend(commands.iter_mut().flat_map(|log| &mut log.commands).flat_map(Ran::captures_mut));
        captures.extend(files.iter_mut().flat_map(|log| &mut log.files).filter_map(|file| file.text.as_mut()));
        for observation in observations {
            captures_of(&mut observation.answer, &mut captures);
        }
        captures
    }

    /// Keeps at most this many bytes of each capture.
    pub fn cut_captures(&mut self, limit: usize) {
        self.captures_mut().into_iter().for_each(|capture| capture.cut_to(limit));
    }

    /// Replaces secrets with stars before anything is judged, recorded or shown. Text that is already masked remains
    /// so. `concealed` returns the information that masking removes from standard output and from replies of a model, given
    /// the raw and the masked text.
    pub fn mask(&mut self, secrets: &Secrets, concealed: impl Fn(&Capture, &Capture) -> MaskingLoss) {
        if secrets.is_empty() {
            return;
        }
        let stdout = self.command.iter_mut().filter_map(|ran| ran.stdout.as_mut());
        for written in stdout.chain(self.turns.iter_mut().map(|turn| &mut turn.text)) {
            if let Some(masked) = secrets.mask_capture(written) {
                let concealed = concealed(written, &masked).max(written.concealed);
                *written = Capture { concealed, ..masked };
            }
        }
        for capture in self.captures_mut() {
            if let Some(masked) = secrets.mask_capture(capture) {
                *capture = masked;
            }
        }
        self.note_masked_names(secrets);
        for text in self.names_mut() {
            *text = secrets.mask(text);
        }
        for call in self.turns.iter_mut().flat_map(|turn| &mut turn.calls) {
            call.id = secrets.mask(&call.id);
            call.name = secrets.hide(&call.name);
            secrets.hide_value(&mut call.arguments);
            call.result.iter_mut().for_each(|result| secrets.hide_value(result));
        }
        if let Some(log) = &mut self.files {
            // A short secret could be found by trying values under the stars.
            let masked = log.files.iter_mut().filter(|file| file.text.as_ref().is_some_and(|it| !it.masked.is_empty()));
            masked.for_each(|file| file.digest = None);
            log.rest = std::mem::take(&mut log.rest).into_iter().map(|(path, it)| (secrets.mask(&path), it)).collect();
        }
    }

    /// Notes which lists lack a name when it is masked: a claim may be about it.
    fn note_masked_names(&mut self, secrets: &Secrets) {
        if let Some(log) = &mut self.files {
            let mut paths = log.files.iter().map(|file| &file.path).chain(log.rest.keys());
            log.cut |= paths.any(|path| secrets.contains_secret(path));
        }
        for observation in &mut self.observations {
            let Answer::Trace(TraceAnswer::Found(trace)) = &mut observation.answer else { continue };
            let mut names = trace.spans.iter().flat_map(|span| span.model.iter().chain([&span.name]));
            trace.masked |= names.any(|name| secrets.contains_secret(name));
        }
    }

    /// Returns the texts that are not captures.
    fn names_mut(&mut self) -> Vec<&mut String> {
        let Evidence { context, exchange, files, observations, error, .. } = self;
        let mut names: Vec<&mut String> = error.iter_mut().map(|error| &mut error.message).collect();
        names.extend(files.iter_mut().flat_map(|log| &mut log.files).map(|file| &mut file.path));
        names.extend(&mut context.version);
        if let Some(templates) = &mut context.templates {
            names.extend(templates.before.values_mut().chain(templates.after.values_mut()));
        }
        names.extend(exchange.iter_mut().map(|exchange| &mut exchange.address));
        for observation in observations {
            names_of_need(&mut observation.need, &mut names);
            names_of_answer(&mut observation.answer, &mut names);
        }
        names
    }
}

fn captures_of<'e>(answer: &'e mut Answer, captures: &mut Vec<&'e mut Capture>) {
    let of_content = |content: &'e mut Option<Content>| match content {
        Some(Content::Text(text)) => Some(text),
        Some(Content::Unreadable(_)) | None => None,
    };
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

fn names_of_need<'e>(need: &'e mut Need, names: &mut Vec<&'e mut String>) {
    match need {
        Need::Path { path: text, .. } | Need::Command { run: text, .. } => names.push(text),
        Need::Files(need) => {
            names.push(&mut need.pattern);
            names.extend(&mut need.searches);
        }
        Need::Log(need) => {
            names.extend(&mut need.path);
            names.push(&mut need.run);
        }
        Need::Response(need) => match &mut need.address {
            Address::Url(text) | Address::Gateway(text) => names.push(text),
        },
        Need::Scores(need) => {
            names.extend([&mut need.rubric, &mut need.path]);
            names.extend(need.section.iter_mut().chain(&mut need.identity));
            match &mut need.judge {
                Judge::Endpoint(Address::Url(text) | Address::Gateway(text)) => names.push(text),
                // Ids of models are not secrets.
                Judge::Model(_) => {}
            }
        }
        Need::Question(need) => {
            names.push(&mut need.system);
            names.extend(need.parts.iter_mut().filter_map(|part| match part {
                QuestionPart::Text(text) => Some(text),
                QuestionPart::Output | QuestionPart::Entry(_) => None,
            }));
        }
        Need::Variables(_) | Need::Trace => {}
    }
}

fn names_of_answer<'e>(answer: &'e mut Answer, names: &mut Vec<&'e mut String>) {
    match answer {
        Answer::Path(PathState::File { content }) => names.extend(unreadable(content)),
        Answer::Path(PathState::Missing { beside }) => names.extend(beside),
        Answer::Files(found) => {
            for SeenFile { path, content, searches, .. } in &mut found.files {
                names.push(path);
                names.extend(unreadable(content));
                for FileSearch { pattern, gap, .. } in searches {
                    names.push(pattern);
                    names.extend(gap);
                }
            }
            names.extend(&mut found.beside);
        }
        Answer::Log(LogAnswer { path, files, session, beside, .. }) => {
            names.push(path);
            for LogFile { path, unread } in files {
                names.push(path);
                names.extend(unread.iter_mut().filter_map(|failure| match failure {
                    ReadFailure::Failed(reason) => Some(reason),
                    ReadFailure::Directory => None,
                }));
            }
            names.extend(session.iter_mut().chain(beside));
        }
        Answer::Response(response) => names.extend(&mut response.error),
        Answer::Trace(TraceAnswer::Found(trace)) => {
            for span in &mut trace.spans {
                names.extend([&mut span.id, &mut span.name]);
                names.extend(&mut span.parent);
                names.extend(span.model.iter_mut().chain(&mut span.error));
            }
        }
        Answer::Question(answer) => names.extend(answer.replies.iter_mut().filter_map(|reply| reply.error.as_mut())),
        Answer::Trace(TraceAnswer::Missing(reason)) | Answer::Nothing(reason) => names.push(reason),
        Answer::Path(PathState::Directory | PathState::Other) | Answer::Command(_) | Answer::Variables(_) => {}
    }
}

fn unreadable(content: &mut Option<Content>) -> Option<&mut String> {
    match content {
        Some(Content::Unreadable(reason)) => Some(reason),
        Some(Content::Text(_)) | None => None,
    }
}

#[cfg(test)]
mod tests;
