//! A provider on this machine that speaks OpenAI's protocol; the test decides its answers.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// The reaction to a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Answers with this status, these headers and this body.
    Reply(u16, &'static str, Value),
    /// Sends the beginning of an answer and closes the connection.
    Cut,
    /// Never answers.
    Silence,
}

/// The provider. It ends with the test.
pub(crate) struct Provider {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Provider {
    /// Starts a provider whose answers depend on the number of turns so far.
    pub(crate) fn start(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (answer, kept) = (Arc::new(answer), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, kept) = (Arc::clone(&answer), Arc::clone(&kept));
                thread::spawn(move || serve(stream, &*answer, &kept));
            }
        });
        Provider { port, requests }
    }

    /// Starts a provider whose model runs these commands, one per turn, and then stops.
    pub(crate) fn running(commands: &'static [&'static str]) -> Provider {
        Provider::start(|turn| match commands.get(turn) {
            Some(command) => calling(turn, command),
            None => saying("It is done."),
        })
    }

    /// Returns the bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns an answer that runs a command.
pub(crate) fn calling(turn: usize, command: &str) -> Answer {
    let call = json!({
        "id": format!("call-{turn}"),
        "type": "function",
        "function": { "name": "run_command", "arguments": json!({ "command": command }).to_string() },
    });
    completion(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
}

/// Returns an answer that calls nothing.
pub(crate) fn saying(text: &str) -> Answer {
    completion(&json!({ "role": "assistant", "content": text }), "stop")
}

fn completion(message: &Value, reason: &str) -> Answer {
    let body = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "one",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    });
    Answer::Reply(200, "", body)
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(usize) -> Answer, kept: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    kept.lock().unwrap().push(request.to_string());
    let messages = request["messages"].as_array();
    let turn = messages.into_iter().flatten().filter(|it| it["role"] == "assistant").count();
    let text = match answer(turn) {
        Answer::Reply(status, headers, body) => {
            let body = body.to_string();
            format!(
                "HTTP/1.1 {status} Reply\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\
                 connection: close\r\n\r\n{body}",
                body.len()
            )
        }
        Answer::Cut => {
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{\"choices\": ["
                .to_owned()
        }
        Answer::Silence => {
            // Until the client gives up.
            let _ = reader.read(&mut [0]);
            return;
        }
    };
    // The client may be gone.
    let _ = stream.write_all(text.as_bytes());
}
