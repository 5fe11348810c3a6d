//! A language client of a few lines: it talks to the real program over its pipes.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::positions::position;

/// Longer than any wait in these tests.
const DEADLINE: Duration = Duration::from_secs(30);

/// The program, and its messages.
pub struct Client {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were read and not yet requested.
    waiting: Vec<Value>,
    next_id: u64,
    /// The version of the text last sent: diagnostics of earlier ones are skipped.
    version: i32,
    /// Whether the test has ended the program itself.
    is_over: bool,
    /// All messages of the server, if they are kept.
    received: Option<Vec<Value>>,
    /// The workspace, removed at the end.
    pub directory: tempfile::TempDir,
}

impl Client {
    /// Starts the server in a new workspace with these files, without a handshake.
    pub fn spawn(files: &[(&str, &str)]) -> Client {
        Client::spawn_as(Command::new(env!("CARGO_BIN_EXE_speclens")), files)
    }

    /// Returns the same with these environment variables.
    pub fn spawn_with(variables: &[(&str, &str)], files: &[(&str, &str)]) -> Client {
        let mut program = Command::new(env!("CARGO_BIN_EXE_speclens"));
        program.envs(variables.iter().copied());
        Client::spawn_as(program, files)
    }

    /// Starts the server with a limit on its address space.
    pub fn spawn_limited(kibibytes: u32, files: &[(&str, &str)]) -> Client {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_speclens")]);
        Client::spawn_as(shell, files)
    }

    fn spawn_as(mut program: Command, files: &[(&str, &str)]) -> Client {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut process = program
            .arg("lsp")
            .current_dir(directory.path())
            .env("XDG_STATE_HOME", directory.path().join(".state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let output = process.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            process,
            input,
            messages,
            waiting: Vec::new(),
            next_id: 1,
            version: 1,
            is_over: false,
            received: None,
            directory,
        }
    }

    /// Starts the server and introduces a client that pushes: no pull, trusted.
    pub fn start(files: &[(&str, &str)]) -> Client {
        let mut client = Client::spawn(files);
        client.initialize(json!({}), json!({ "trusted": true }));
        client
    }

    /// Does the same, and opens the first file.
    pub fn opened(files: &[(&str, &str)]) -> Client {
        Client::opened_as(files, json!({}), json!({ "trusted": true }))
    }

    /// Starts the server, introduces a client with these capabilities and options, and opens the first file.
    pub fn opened_as(files: &[(&str, &str)], capabilities: Value, options: Value) -> Client {
        let mut client = Client::spawn(files);
        client.initialize(capabilities, options);
        client.open(files[0].0);
        client
    }

    /// Introduces a client with these capabilities and options.
    pub fn initialize(&mut self, capabilities: Value, options: Value) -> Value {
        let root = self.uri("");
        let answer = self.request(
            "initialize",
            json!({ "processId": null, "rootUri": root, "capabilities": capabilities, "initializationOptions": options }),
        );
        self.notify("initialized", json!({}));
        answer["result"].clone()
    }

    /// Introduces a client without capabilities that has these folders of the directory open.
    pub fn initialize_in(&mut self, folders: &[&str]) {
        let folders: Vec<Value> = folders.iter().map(|name| json!({ "uri": self.uri(name), "name": name })).collect();
        let params = json!({ "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": folders });
        self.request("initialize", params);
        self.notify("initialized", json!({}));
    }

    /// Returns the path of a file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the address of a file of the workspace, or of a buffer that was never saved: its name.
    pub fn uri(&self, name: &str) -> String {
        if name.starts_with("untitled:") { name.to_owned() } else { uri(&self.path(name)) }
    }

    /// Opens a file with the text that it has on the disk.
    pub fn open(&mut self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        self.open_text(name, &text);
        text
    }

    /// Opens a file with another text.
    pub fn open_text(&mut self, name: &str, text: &str) {
        let uri = self.uri(name);
        let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the only occurrence of a text in an open document, in the way editors do.
    pub fn replace(&mut self, name: &str, text: &mut String, old: &str, new: &str, version: i32) {
        let at = text.find(old).expect("the text to replace is there");
        let range = json!({ "start": position(text, at), "end": position(text, at + old.len()) });
        let change = json!({ "range": range, "text": new });
        let uri = self.uri(name);
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [change] }),
        );
        text.replace_range(at..at + old.len(), new);
        self.version = version;
    }

    /// Sends a change of an open document.
    pub fn change(&mut self, name: &str, change: Value) {
        let uri = self.uri(name);
        self.version += 1;
        let document = json!({ "uri": uri, "version": self.version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// Closes a document.
    pub fn close(&mut self, name: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": self.uri(name) } }));
    }

    /// Says that a document was saved.
    pub fn save(&mut self, name: &str) {
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": self.uri(name) } }));
    }

    /// Says that files were created (1), changed (2) or deleted (3) on the disk.
    pub fn files_changed(&mut self, changes: &[(&str, u32)]) {
        let change = |(name, kind): &(&str, u32)| json!({ "uri": self.uri(name), "type": kind });
        let changes: Vec<Value> = changes.iter().map(change).collect();
        self.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Requests something about a document. Returns the result.
    pub fn about(&mut self, name: &str, method: &str) -> Value {
        let params = json!({ "textDocument": { "uri": self.uri(name) } });
        self.request(&format!("textDocument/{method}"), params)["result"].clone()
    }

    /// Requests something about a position of a document.
    pub fn ask_at(&mut self, method: &str, name: &str, position: Value, more: Value) -> Value {
        let mut params = json!({ "textDocument": { "uri": self.uri(name) }, "position": position });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Returns the hover at a position.
    pub fn hover(&mut self, name: &str, position: Value) -> Value {
        self.ask_at("hover", name, position, json!({}))["result"].clone()
    }

    /// Requests the places of the name at a position, with its definition.
    pub fn references(&mut self, name: &str, position: Value) -> Value {
        self.ask_at("references", name, position, json!({ "context": { "includeDeclaration": true } }))
    }

    /// Returns the labels of the completions at a position.
    pub fn labels(&mut self, name: &str, position: Value) -> Vec<String> {
        let answer = self.ask_at("completion", name, position, json!({}));
        let items = answer["result"]["items"].as_array().unwrap_or_else(|| panic!("{answer:#}")).iter();
        items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        self.wait(&format!("the answer to request {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Waits for a notification that fits.
    pub fn notification(&mut self, method: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait(method, |message| message["method"] == method && fits(&message["params"]))["params"].clone()
    }

    /// Waits for matching diagnostics of the text that was sent last.
    pub fn diagnostics(&mut self, name: &str, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let (uri, version) = (self.uri(name), self.version);
        let params = self.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == uri.as_str()
                && params["version"] == version
                && fits(params["diagnostics"].as_array().unwrap())
        });
        params["diagnostics"].as_array().unwrap().clone()
    }

    /// Moves the cursor away from what was typed last. Returns the diagnostics of the text as written.
    pub fn diagnostics_as_written(&mut self, name: &str) -> Vec<Value> {
        self.diagnostics(name, |_| true);
        self.ask_at("documentHighlight", name, json!({ "line": 1_000_000, "character": 0 }), json!({}));
        self.diagnostics(name, |_| true)
    }

    /// Waits for matching diagnostics of a document that was not the last one to be edited.
    pub fn diagnostics_of_any_version(&mut self, name: &str, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let uri = self.uri(name);
        let params = self.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == uri.as_str() && fits(params["diagnostics"].as_array().unwrap())
        });
        params["diagnostics"].as_array().unwrap().clone()
    }

    /// Requests the code actions of a range, of one kind or of all.
    pub fn actions(&mut self, name: &str, range: &Value, only: Option<&str>) -> Vec<Value> {
        let mut context = json!({ "diagnostics": [] });
        if let Some(kind) = only {
            context["only"] = json!([kind]);
        }
        self.actions_in(name, range, context)
    }

    /// Requests the code actions of a range, in this context.
    pub fn actions_in(&mut self, name: &str, range: &Value, context: Value) -> Vec<Value> {
        let params = json!({ "textDocument": { "uri": self.uri(name) }, "range": range, "context": context });
        self.request("textDocument/codeAction", params)["result"].as_array().unwrap().clone()
    }

    /// Runs a command line in the workspace.
    pub fn command_line(&self, arguments: &[&str]) -> std::process::Output {
        let mut program = Command::new(env!("CARGO_BIN_EXE_speclens"));
        program.args(arguments).current_dir(self.directory.path()).env("XDG_STATE_HOME", self.path(".state"));
        program.output().unwrap()
    }

    /// Runs a command of the server.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Value {
        self.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }))
    }

    /// Runs a test of a document, which may be refused.
    pub fn run_test(&mut self, name: &str, test: &str) -> Value {
        self.execute("speclens.run", json!([{ "uri": self.uri(name), "test": test }]))
    }

    /// Runs all tests of a document, which may be refused.
    pub fn run_file(&mut self, name: &str) -> Value {
        self.execute("speclens.runFile", json!([{ "uri": self.uri(name) }]))
    }

    /// Returns the transcript of a test.
    pub fn transcript(&mut self, name: &str, test: &str) -> String {
        let shown = self.execute("speclens.showTranscript", json!([{ "uri": self.uri(name), "test": test }]));
        shown["result"]["text"].as_str().unwrap_or_else(|| panic!("{shown}")).to_owned()
    }

    /// Executes the command of a lens.
    pub fn press(&mut self, name: &str, title: &str) -> Value {
        let lenses = self.about(name, "codeLens");
        let mut commands = lenses.as_array().unwrap().iter().map(|lens| &lens["command"]);
        let command = commands.find(|command| command["title"] == title).unwrap_or_else(|| panic!("{title}: {lenses}"));
        self.execute(command["command"].as_str().unwrap(), command["arguments"].clone())
    }

    /// Waits for a question to the user.
    pub fn question(&mut self) -> Value {
        self.wait("the question", |message| message["method"] == "window/showMessageRequest")
    }

    /// Answers a question to the user.
    pub fn choose(&mut self, question: &Value, title: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "title": title } }));
    }

    /// Writes bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the pipe is open");
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Waits for a matching message. Requests of the server in between get an empty answer, except for questions to the
    /// user.
    pub fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(found) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(found);
        }
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(message) = self.messages.recv_timeout(left) else {
                panic!("{what} did not come; what came: {:#?}", self.waiting);
            };
            self.received.iter_mut().for_each(|received| received.push(message.clone()));
            if fits(&message) {
                return message;
            }
            let question = message["method"] == "window/showMessageRequest";
            if message.get("id").is_some() && message.get("method").is_some() && !question {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            self.waiting.push(message);
        }
    }

    /// Keeps all messages of the server from now on.
    pub fn keep_received(&mut self) {
        self.received = Some(Vec::new());
    }

    /// Returns the messages that were kept.
    pub fn received(&self) -> &[Value] {
        self.received.as_deref().unwrap_or_default()
    }

    /// Returns the largest address space that the server has used, in KiB.
    pub fn peak_address_space(&self) -> u64 {
        self.memory("VmPeak:")
    }

    /// Returns a line of the system's account of the server's memory, in KiB.
    fn memory(&self, line: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let found = status.lines().find_map(|it| it.strip_prefix(line)).unwrap();
        found.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Limits the server's address space to what it uses now and this many bytes more. `None` lifts the limit.
    #[cfg(target_os = "linux")]
    pub fn limit_address_space(&self, more: Option<u64>) {
        let process = rustix::process::Pid::from_raw(self.process.id().cast_signed()).unwrap();
        let current = more.map(|more| self.memory("VmSize:") * 1024 + more);
        let limit = rustix::process::Rlimit { current, maximum: None };
        rustix::process::prlimit(Some(process), rustix::process::Resource::As, limit).unwrap();
    }

    /// Returns whether a request was answered, as far as messages were read.
    pub fn has_answered(&self, id: u64) -> bool {
        self.waiting.iter().any(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Returns whether an unrequested notification came.
    pub fn has_waiting(&self, method: &str) -> bool {
        self.waiting.iter().any(|message| message["method"] == method)
    }

    /// Returns whether diagnostics of a document came, as far as messages were read.
    pub fn has_diagnostics(&self, name: &str) -> bool {
        let uri = self.uri(name);
        let is_of = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri.as_str()
        };
        self.waiting.iter().any(is_of)
    }

    /// Discards messages that were not requested.
    pub fn forget(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            drop(message);
        }
        self.waiting.clear();
    }

    /// Waits for the end of the program.
    pub fn exit_status(&mut self) -> Option<i32> {
        self.is_over = true;
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the server did not end");
            std::thread::yield_now();
        }
    }

    /// Sends the server a signal.
    pub fn signal(&mut self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for a file of the workspace that holds a whole line.
    pub fn wait_for_line(&self, name: &str) -> String {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Ok(text) = std::fs::read_to_string(self.path(name))
                && text.ends_with('\n')
            {
                return text.trim().to_owned();
            }
            assert!(Instant::now() < end, "{name} never came");
            std::thread::yield_now();
        }
    }

    /// Closes the server's input.
    pub fn hang_up(&mut self) {
        self.is_over = true;
        self.input = None;
    }
}

impl Drop for Client {
    /// Shuts the server down, which has to end well. The input stays open, as with some clients.
    fn drop(&mut self) {
        if !self.is_over && !std::thread::panicking() {
            self.request("shutdown", Value::Null);
            self.notify("exit", Value::Null);
            assert_eq!(self.exit_status(), Some(0));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the capabilities of a client that pulls diagnostics, and again on request.
pub fn pulling() -> Value {
    json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
    })
}

/// Returns the empty range at a place.
pub fn at(line: usize, column: usize) -> Value {
    let place = json!({ "line": line, "character": column });
    json!({ "start": place, "end": place })
}

/// Returns the address of a path.
pub fn uri(path: &Path) -> String {
    url::Url::from_file_path(path).unwrap().to_string()
}

fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
