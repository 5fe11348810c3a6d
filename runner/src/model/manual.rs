//! A person instead of a model: each typed line is a command that the test runs and records.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, BufRead, IsTerminal, Write},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde_json::{Value, json};
use speclens_schema::evidence::{RunError, RunErrorKind, ToolCall};
use tokio::sync::{mpsc, oneshot};

use super::{Answering, Message, Model, Reply, Request};

pub const ID: &str = "manual";

const END: &str = "exit";

pub trait Console: Send + Sync + fmt::Debug {
    /// Shows a text and returns the next line without its end; `None` at the end of the input.
    ///
    /// Dropping the receiver cancels the question; the line that is typed for it is ignored.
    fn ask(&self, shown: String) -> oneshot::Receiver<Option<String>>;
}

/// A person instead of a model.
#[derive(Debug)]
pub struct Manual {
    console: Arc<dyn Console>,
    /// The conversation that was asked last; locked while a person is asked.
    asked: tokio::sync::Mutex<Option<String>>,
    calls: Mutex<BTreeMap<String, usize>>,
}

impl Manual {
    /// Asks the person at the terminal of this process. Fails without a terminal.
    pub fn at_terminal() -> Result<Manual, RunError> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let message =
                "`manual` asks a person and needs a terminal; run `speclens run --model manual` in a terminal";
            return Err(RunError { kind: RunErrorKind::Provider, message: message.to_owned() });
        }
        Ok(Manual::at(Arc::new(Terminal)))
    }

    pub fn at(console: Arc<dyn Console>) -> Manual {
        Manual { console, asked: tokio::sync::Mutex::default(), calls: Mutex::default() }
    }

    async fn answer(&self, request: &Request) -> Result<Reply, RunError> {
        // One question at a time, whatever the concurrency.
        let mut asked = self.asked.lock().await;
        let begun = request.messages.iter().any(|message| matches!(message, Message::Model(_)));
        let mut shown = String::new();
        if !begun || asked.as_deref() != Some(request.test.as_str()) {
            shown.push_str(&header(request));
        }
        *asked = Some(request.test.clone());
        for message in request.messages.iter().rev().take_while(|it| matches!(it, Message::Result { .. })) {
            if let Message::Result { text, .. } = message {
                shown.push_str(&result(text));
            }
        }
        shown.push_str("$ ");
        let line = self.console.ask(shown).await.ok().flatten();
        let command = line.as_deref().map(str::trim).filter(|line| !line.is_empty() && *line != END);
        let calls = command.map(|command| ToolCall {
            id: format!("call-{}", self.number(&request.test)),
            name: "run_command".to_owned(),
            arguments: json!({ "command": command }),
            result: None,
        });
        Ok(Reply { calls: calls.into_iter().collect(), ..Reply::default() })
    }

    fn number(&self, test: &str) -> usize {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let number = calls.entry(test.to_owned()).or_default();
        *number += 1;
        *number
    }
}

impl Model for Manual {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(self.answer(request))
    }
}

fn header(request: &Request) -> String {
    let asked = request.messages.iter().find_map(|message| match message {
        Message::User(text) => Some(text.as_str()),
        Message::Model(_) | Message::Prefill(_) | Message::Result { .. } => None,
    });
    let asked = printable(asked.unwrap_or_default());
    format!("\n{}\n{asked}\n(one command per line; an empty line or `{END}` ends the task)\n", printable(&request.test))
}

fn result(text: &str) -> String {
    let result: Value = serde_json::from_str(text).unwrap_or_default();
    let streams: Vec<&str> = ["stdout", "stderr"].iter().filter_map(|name| result.get(name)?.as_str()).collect();
    if streams.is_empty() {
        return format!("{}\n", printable(text));
    }
    let mut shown = String::new();
    for stream in streams.into_iter().map(printable).filter(|stream| !stream.is_empty()) {
        shown.push_str(&stream);
        if !stream.ends_with('\n') {
            shown.push('\n');
        }
    }
    match result.get("exit_code").and_then(Value::as_i64) {
        Some(0) | None => {}
        Some(code) => shown.push_str(&format!("(exit code {code})\n")),
    }
    shown
}

/// Returns a text without control sequences: the output of a command must not control the person's terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}

#[derive(Clone, Copy, Debug)]
struct Terminal;

type Question = (String, oneshot::Sender<Option<String>>);

impl Console for Terminal {
    fn ask(&self, shown: String) -> oneshot::Receiver<Option<String>> {
        static QUESTIONS: OnceLock<mpsc::UnboundedSender<Question>> = OnceLock::new();
        // A separate thread waits for lines, so the end of the program does not wait for a person.
        let questions = QUESTIONS.get_or_init(|| {
            let (sender, receiver) = mpsc::unbounded_channel();
            std::thread::spawn(move || answer_all(receiver, &mut io::stdin().lock(), &mut io::stderr()));
            sender
        });
        let (sender, receiver) = oneshot::channel();
        // Without the thread there is no answer, which the receiver notices.
        let _ = questions.send((shown, sender));
        receiver
    }
}

fn answer_all(mut questions: mpsc::UnboundedReceiver<Question>, input: &mut dyn BufRead, output: &mut dyn Write) {
    while let Some((shown, sender)) = questions.blocking_recv() {
        // A closed terminal answers with the end of its input.
        let _ = output.write_all(shown.as_bytes()).and_then(|()| output.flush());
        let mut line = String::new();
        let read = input.read_line(&mut line).unwrap_or_default();
        // The receiver may be gone: the line was meant for that task only.
        let _ = sender.send((read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Person {
        lines: Mutex<Vec<&'static str>>,
        shown: Mutex<Vec<String>>,
    }

    impl Console for Person {
        fn ask(&self, shown: String) -> oneshot::Receiver<Option<String>> {
            self.shown.lock().unwrap().push(shown);
            let mut lines = self.lines.lock().unwrap();
            let line = (!lines.is_empty()).then(|| lines.remove(0).to_owned());
            let (sender, receiver) = oneshot::channel();
            sender.send(line).unwrap();
            receiver
        }
    }

    fn request(test: &str) -> Request {
        let messages = vec![Message::User(format!("CLI: mycli\nTask: {test} it"))];
        Request { test: test.to_owned(), messages, ..Request::default() }
    }

    async fn next(manual: &Manual, request: &mut Request, back: Option<&str>) -> Option<String> {
        request.messages.extend(back.map(|text| Message::Result {
            call: "x".to_owned(),
            tool: "x".to_owned(),
            text: text.to_owned(),
        }));
        let reply = manual.reply(request).await.unwrap();
        request.messages.push(Message::Model(reply.clone()));
        reply.calls.first().map(|call| call.arguments["command"].as_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn lines_are_commands_until_the_task_is_ended() {
        let person = Arc::new(Person { lines: vec!["ls -l ", "exit", "", "date"].into(), ..Person::default() });
        let manual = Manual::at(person.clone());
        let request = &mut request("create");
        assert_eq!(next(&manual, request, None).await.as_deref(), Some("ls -l"));
        let back = r#"{"exit_code":2,"stdout":"a\u001b[2Jb","stderr":"oops\n"}"#;
        assert_eq!(next(&manual, request, Some(back)).await, None);
        assert_eq!(next(&manual, request, None).await, None);
        assert_eq!(next(&manual, request, None).await.as_deref(), Some("date"));
        assert_eq!(next(&manual, request, None).await, None, "the input has ended");
        let shown = person.shown.lock().unwrap();
        assert_eq!(
            shown[0],
            "\ncreate\nCLI: mycli\nTask: create it\n(one command per line; an empty line or `exit` ends the task)\n$ "
        );
        assert_eq!(shown[1], "a[2Jb\noops\n(exit code 2)\n$ ");
    }

    #[tokio::test]
    async fn another_task_in_between_is_announced_again() {
        let person = Arc::new(Person { lines: vec!["a", "b", "c"].into(), ..Person::default() });
        let manual = Manual::at(person.clone());
        let (one, other) = (&mut request("one"), &mut request("other"));
        next(&manual, one, None).await;
        next(&manual, other, None).await;
        next(&manual, one, Some("text")).await;
        let shown = person.shown.lock().unwrap();
        assert!(shown[1].starts_with("\nother\n"), "{shown:?}");
        assert!(shown[2].starts_with("\none\n") && shown[2].ends_with("text\n$ "), "{shown:?}");
    }

    async fn is_waiting(answer: &mut Answering<'_>) -> bool {
        std::future::poll_fn(|context| std::task::Poll::Ready(answer.as_mut().poll(context).is_pending())).await
    }

    #[tokio::test]
    async fn one_question_is_asked_at_a_time() {
        #[derive(Debug, Default)]
        struct Slow(Mutex<Vec<oneshot::Sender<Option<String>>>>);
        impl Console for Slow {
            fn ask(&self, _: String) -> oneshot::Receiver<Option<String>> {
                let (sender, receiver) = oneshot::channel();
                self.0.lock().unwrap().push(sender);
                receiver
            }
        }
        let slow = Arc::new(Slow::default());
        let manual = Manual::at(slow.clone());
        let (one, other) = (request("one"), request("other"));
        let (mut first, mut second) = (manual.reply(&one), manual.reply(&other));
        let waiting = || slow.0.lock().unwrap().len();
        assert!(is_waiting(&mut first).await);
        assert!(is_waiting(&mut second).await);
        assert_eq!(waiting(), 1);
        // Dropping the first question lets the second one be asked.
        drop(first);
        assert!(is_waiting(&mut second).await);
        assert_eq!(waiting(), 2);
    }

    #[test]
    fn a_line_for_a_question_that_was_given_up_runs_in_no_other_task() {
        let (questions, receiver) = mpsc::unbounded_channel();
        let (given_up, _) = oneshot::channel();
        let (sender, mut answer) = oneshot::channel();
        let (last, mut end) = oneshot::channel();
        questions.send(("a$ ".to_owned(), given_up)).unwrap();
        questions.send(("b$ ".to_owned(), sender)).unwrap();
        questions.send(("c$ ".to_owned(), last)).unwrap();
        drop(questions);
        let mut shown = Vec::new();
        answer_all(receiver, &mut &b"rm x\r\nls\r\n"[..], &mut shown);
        assert_eq!(shown, b"a$ b$ c$ ");
        assert_eq!(answer.try_recv().unwrap().as_deref(), Some("ls"));
        assert_eq!(end.try_recv().unwrap(), None);
    }

    #[test]
    fn without_a_terminal_it_is_refused() {
        // Tests have no terminal, or one that they must not read from.
        if !io::stdin().is_terminal() {
            let error = Manual::at_terminal().unwrap_err();
            assert_eq!(error.kind, RunErrorKind::Provider);
            assert!(error.message.contains("needs a terminal"), "{}", error.message);
        }
    }
}
