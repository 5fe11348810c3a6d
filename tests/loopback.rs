//! A server on this machine in place of a provider or a gateway: it answers as the test says, and stores requests.

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

/// The reaction to a request.
type Acting = dyn FnMut(&Request) -> Answer + Send;

/// An answer of the server.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A status and a body.
    Reply(u16, String),
    /// These bytes.
    Bytes(String),
    /// No answer, until the client disconnects.
    Nothing,
}

#[derive(Default)]
struct State {
    acting: Option<Box<Acting>>,
    answers: VecDeque<(u16, String)>,
    /// Answers by a word of the question, if the order of questions varies.
    by_word: Vec<(String, String)>,
    requests: Vec<Request>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The headers, names in lower case, each on its line.
    pub(crate) headers: String,
    pub(crate) body: Value,
}

impl Loopback {
    /// Returns a server that gives these answers, one per request, and then the status 500.
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

    /// Returns a server with this reaction to each request.
    pub(crate) fn acting(acting: impl FnMut(&Request) -> Answer + Send + 'static) -> Loopback {
        let server = Loopback::answering([]);
        server.state.lock().unwrap().acting = Some(Box::new(acting));
        server
    }

    /// Returns a server that answers with these texts, in Ollama's protocol.
    pub(crate) fn ollama(texts: &[&str]) -> Loopback {
        Loopback::answering(texts.iter().map(|text| (200, body(text))))
    }

    /// Returns a server that answers with the text for the first of these words in a question, in Ollama's protocol.
    pub(crate) fn ollama_by(answers: &[(&str, &str)]) -> Loopback {
        let server = Loopback::ollama(&[]);
        let said = |(word, text): &(&str, &str)| ((*word).to_owned(), body(text));
        server.state.lock().unwrap().by_word = answers.iter().map(said).collect();
        server
    }

    /// Returns the address, without a slash at its end.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }
}

/// Returns an answer in the protocol of Ollama.
fn body(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    json!({"model": "m", "message": message, "done": true, "prompt_eval_count": 70, "eval_count": 9}).to_string()
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read(&mut reader) {
        let answer = state.lock().unwrap().answer_to(request);
        if respond(answer, &mut stream, &mut reader).is_err() {
            return;
        }
    }
}

impl State {
    fn answer_to(&mut self, request: Request) -> Answer {
        let answer = match &mut self.acting {
            Some(acting) => acting(&request),
            None => {
                let question = request.body.to_string();
                let known = self.by_word.iter().find(|(word, _)| question.contains(word)).map(|(_, text)| text.clone());
                let known = known.map(|text| (200, text)).or_else(|| self.answers.pop_front());
                let (status, body) = known.unwrap_or((500, r#"{"error": "no answer is left"}"#.to_owned()));
                Answer::Reply(status, body)
            }
        };
        self.requests.push(request);
        answer
    }
}

fn respond(answer: Answer, stream: &mut TcpStream, reader: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    match answer {
        Answer::Reply(status, body) => {
            let head = format!(
                "HTTP/1.1 {status} Reply\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes())
        }
        Answer::Bytes(bytes) => {
            stream.write_all(bytes.as_bytes())?;
            stream.shutdown(std::net::Shutdown::Both)
        }
        Answer::Nothing => reader.read_to_end(&mut Vec::new()).map(drop),
    }
}

/// Reads one request; `None` if the connection is closed.
fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|&length| length > 0)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
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
    Some(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
