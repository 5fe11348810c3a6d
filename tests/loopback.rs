//! A model server on this machine, in place of a provider: it answers what a test tells it to, and keeps what it was asked.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// The server. It ends with the test.
pub(crate) struct Loopback {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    answers: VecDeque<(u16, String)>,
    /// Answers by a word of the question, where the order of questions is not given.
    by_word: Vec<(String, String)>,
    requests: Vec<Request>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The headers, names in lower case, each on its line.
    pub(crate) headers: String,
    pub(crate) body: Value,
}

impl Loopback {
    /// A server that gives these answers, one to each request, and the status 500 when there are none left.
    pub(crate) fn answering(answers: impl IntoIterator<Item = (u16, String)>) -> Loopback {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { answers: answers.into_iter().collect(), ..State::default() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Loopback { address, state }
    }

    /// A server that says these texts, in the protocol of Ollama.
    pub(crate) fn ollama(texts: &[&str]) -> Loopback {
        let said = |text: &&str| {
            let message = json!({"role": "assistant", "content": text});
            let body =
                json!({"model": "m", "message": message, "done": true, "prompt_eval_count": 70, "eval_count": 9});
            (200, body.to_string())
        };
        Loopback::answering(texts.iter().map(said))
    }

    /// A server that says the text beside the first of these words that a question holds, in the protocol of Ollama.
    pub(crate) fn ollama_by(answers: &[(&str, &str)]) -> Loopback {
        let server = Loopback::ollama(&[]);
        let said = |(word, text): &(&str, &str)| ((*word).to_owned(), body(text));
        server.state.lock().unwrap().by_word = answers.iter().map(said).collect();
        server
    }

    /// The address, without a slash at its end.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked so far, in the order in which it came.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }
}

/// An answer in the protocol of Ollama.
fn body(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    json!({"model": "m", "message": message, "done": true, "prompt_eval_count": 70, "eval_count": 9}).to_string()
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read(&mut reader) {
        let answer = {
            let mut state = state.lock().unwrap();
            let question = request.body.to_string();
            state.requests.push(request);
            let known = state.by_word.iter().find(|(word, _)| question.contains(word)).map(|(_, text)| text.clone());
            known.map(|text| (200, text)).or_else(|| state.answers.pop_front())
        };
        let (status, body) = answer.unwrap_or((500, r#"{"error": "no answer is left"}"#.to_owned()));
        let head = format!(
            "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads one request; nothing when the other side is done.
fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|&length| length > 0)?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut headers = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push_str(&format!("{}:{value}", name.to_lowercase()));
    }
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
