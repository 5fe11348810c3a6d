//! A provider on this machine that speaks the chat protocol of Ollama: it answers as it is told, and counts.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

/// The provider. It serves for as long as the test goes on.
pub(crate) struct Ollama {
    /// `http://127.0.0.1:PORT`.
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Value>>>,
    says: Arc<Mutex<String>>,
}

impl Ollama {
    /// Starts one that says this.
    pub(crate) fn saying(text: &str) -> Ollama {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (asked, says) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(text.to_owned())));
        let (seen, saying) = (Arc::clone(&asked), Arc::clone(&says));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, saying) = (Arc::clone(&seen), Arc::clone(&saying));
                std::thread::spawn(move || serve(stream.unwrap(), &seen, &saying));
            }
        });
        Ollama { address, asked, says }
    }

    /// Starts a judge that gives this score.
    pub(crate) fn scoring(score: &str) -> Ollama {
        Ollama::saying(&judgement(score))
    }

    /// From now on it gives this score.
    pub(crate) fn score(&self, score: &str) {
        *self.says.lock().unwrap() = judgement(score);
    }

    /// What it was asked so far: the text of the last message of each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        let text = |body: &Value| body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        self.asked.lock().unwrap().iter().map(|body| text(body).as_str().unwrap().to_owned()).collect()
    }
}

fn judgement(score: &str) -> String {
    format!("{{\"score\": {score}, \"reasoning\": \"it says hello\"}}")
}

fn serve(stream: TcpStream, asked: &Mutex<Vec<Value>>, says: &Mutex<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        asked.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        let answer = json!({
            "model": "judge", "created_at": "2026-05-14T12:00:00Z",
            "message": { "role": "assistant", "content": *says.lock().unwrap() },
            "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 10,
        });
        let answer = answer.to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        if stream.write_all(format!("{head} {}\r\n\r\n{answer}", answer.len()).as_bytes()).is_err() {
            return;
        }
    }
}
