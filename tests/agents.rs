//! Suites of cli-bench, run by the real binary. The model is a small server on this machine that speaks the protocol of OpenAI.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::mpsc,
    thread,
};

use serde_json::{Value, json};

use crate::support::{Done, Place};

/// Starts a model that runs these commands, one in each turn, and then says that it is done. Returns its port.
fn model(commands: &'static [&'static str]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, commands));
        }
    });
    port
}

fn answer(mut stream: TcpStream, commands: &[&str]) {
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
    reader.read_exact(&mut body).unwrap();
    let request: Value = serde_json::from_slice(&body).unwrap();
    let turn = request["messages"].as_array().unwrap().iter().filter(|it| it["role"] == "assistant").count();
    let message = match commands.get(turn) {
        Some(command) => json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{
                "id": format!("call-{turn}"),
                "type": "function",
                "function": { "name": "run_command", "arguments": json!({ "command": command }).to_string() },
            }],
        }),
        None => json!({ "role": "assistant", "content": "It is done." }),
    };
    let reason = if commands.get(turn).is_some() { "tool_calls" } else { "stop" };
    let reply = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": request["model"],
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        reply.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.as_bytes()));
}

const SUITE: &str = "\
cli: sh
providers: [local/one]
scaffold: fixture
tasks:
  - id: greet
    intent: Write a greeting into out.txt
    max_turns: 4
    assert:
      - exit_code: 0
      - output_contains: hello
      - ran: cat
      - file_contains: {path: out.txt, text: hello}
      - verify: {run: cat name out.txt, output_contains: hello}
";

/// A directory with the suite, a model on this machine, and a place for temporary directories.
fn place(suite: &str, commands: &'static [&'static str]) -> Place {
    let place = Place::empty();
    let base = format!("http://127.0.0.1:{}/v1", model(commands));
    place.write("speclens.yaml", format!("providers: {{local: {{base_url: '{base}', key_env: LOCAL_KEY}}}}\n"));
    place.write("cli-bench.yaml", suite);
    place.write("fixture/name", "hello ");
    fs::create_dir(place.path().join("tmp")).unwrap();
    place
}

const GREETING: &[&str] = &["cat name > out.txt; echo you >> out.txt", "cat out.txt; printf '\\033[31m'"];

/// Runs the program with a key and the temporary directory of the place.
fn run(place: &Place, arguments: &[&str]) -> Done {
    let mut program = place.program(arguments);
    program.env("LOCAL_KEY", "key-0123456789abcdef").env("TMPDIR", place.path().join("tmp"));
    Done::of(&program.output().unwrap())
}

fn report(place: &Place, arguments: &[&str]) -> Value {
    let arguments = [&["run", "--report", "json", "--set", "report.evidence=true"], arguments].concat();
    serde_json::from_str(&run(place, &arguments).stdout).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn task_is_done_by_a_model_judged_recorded_and_judged_again() {
    let place = place(SUITE, GREETING);
    let done = run(&place, &["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("✓ greet"), "{done:?}");
    assert!(is_empty(&place.path().join("tmp")), "the directory of the task is removed");
    let replayed = report(&place, &["--recorded"]);
    let run_entry = &replayed["suites"][0]["cases"][0]["runs"][0];
    assert_eq!((&run_entry["status"], &run_entry["recording"]), (&"pass".into(), &"replayed".into()));
    assert_eq!(run_entry["subject"]["model"], "local/one");
    let evidence = &run_entry["evidence"];
    assert_eq!(evidence["commands"][1]["stdout"], "hello you\n\u{1b}[31m");
    assert_eq!((&evidence["stopped"], &evidence["usage"]["input_tokens"]), (&"done".into(), &300.into()));
    assert_eq!(evidence["files"][0]["text"], "hello you\n");

    place.write("cli-bench.yaml", SUITE.replace("output_contains: hello\n", "output_contains: goodbye\n"));
    let done = run(&place, &["run", "--recorded"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("goodbye") && !done.stdout.contains("\u{1b}[31m"), "{done:?}");
}

#[test]
fn models_and_help_modes_of_the_command_line_take_the_place_of_those_of_the_suite() {
    let place = place(SUITE, GREETING);
    let options = ["--model", "local/two", "--model", "local/three", "--help-mode", "discoverable"];
    let found = report(&place, &options);
    let runs = found["suites"][0]["cases"][0]["runs"].as_array().unwrap();
    let subjects: Vec<&str> = runs.iter().map(|run| run["subject"]["name"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["local/two (discoverable)", "local/three (discoverable)"]);
    let done = run(&place, &[&["run", "--dry-run"], &options[..]].concat());
    assert!(
        done.stdout.contains("a task for local/two (discoverable), local/three (discoverable), in at most 4 turns")
    );
    assert!(done.stdout.ends_with("2 attempts would run, with at most 8 requests to models\n"), "{done:?}");
    let done = run(&place, &["run", "--help-mode", "all"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("unknown help mode `all`; choose one of injected, discoverable, none"), "{done:?}");
}

#[test]
fn key_of_the_model_is_not_seen_by_commands_and_missing_it_breaks_the_run() {
    let place = place(SUITE, &["env; cat name > out.txt", "cat out.txt"]);
    let found = report(&place, &[]);
    let run_entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(run_entry["status"], "pass", "{found}");
    let text = run_entry["evidence"]["commands"][0]["stdout"].as_str().unwrap();
    assert!(text.contains("TERM=dumb") && !text.contains("LOCAL_KEY"), "{text}");
    let done = Done::of(&place.program(&["run"]).output().unwrap());
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("error[key]") && done.stdout.contains("LOCAL_KEY"), "{done:?}");
}

#[test]
fn what_the_suite_wants_masked_is_in_no_recording_and_no_report() {
    const HOW: &[&str] = &["cat name > out.txt; echo you $TOKEN tok_12ab $OUTER >> out.txt", "cat out.txt"];
    let redactions = "env: {TOKEN: planted-one}\nredact_env: [TOKEN, OUTER]\nredact_patterns: ['tok_[a-z0-9]{4}']\n";
    let place = place(
        &format!("{SUITE}{redactions}")
            .replace("output_contains: hello\n", "output_contains: nothing of this kind is ever written\n"),
        HOW,
    );
    let mut program = place.program(&["run", "--report", "human", "--report", "json=report.json"]);
    program
        .args(["--set", "report.evidence=true"])
        .env("OUTER", "planted-two")
        .env("LOCAL_KEY", "key-0123456789abcdef");
    let done = Done::of(&program.output().unwrap());
    assert_eq!(done.code, Some(1), "{done:?}");
    let recordings = place.recordings().into_iter().chain(place.texts()).map(|path| fs::read_to_string(path).unwrap());
    let written: Vec<String> = recordings.chain([place.read("report.json"), done.text()]).collect();
    assert!(written.len() > 2 && written.iter().any(|text| text.contains("hello you ")), "{written:?}");
    for secret in ["planted-one", "planted-two", "tok_12ab", "key-0123456789abcdef"] {
        assert!(written.iter().all(|text| !text.contains(secret)), "{secret}: {written:?}");
    }
}

#[test]
fn thresholds_decide_the_exit_status() {
    let failing = SUITE.replace("exit_code: 0", "exit_code: 5");
    for (thresholds, code) in [
        ("", 1),
        ("thresholds: {default: 80}\n", 1),
        ("thresholds: {default: 80, behavior: informational}\n", 0),
        ("thresholds: {default: 0}\n", 0),
    ] {
        let place = place(&format!("{failing}{thresholds}"), GREETING);
        let done = run(&place, &["run"]);
        assert_eq!(done.code, Some(code), "{thresholds}: {done:?}");
    }
}

#[test]
fn interrupted_run_leaves_no_process_and_no_directory() {
    let place = place(SUITE, &["(trap '' TERM; echo $$ > \"$MARK\"; sleep 60) & (trap '' TERM; sleep 60); wait"]);
    let mark = place.path().join("mark");
    assert!(std::process::Command::new("mkfifo").arg(&mark).status().unwrap().success());
    let mut program = place.program(&["run"]);
    program.env("LOCAL_KEY", "key-0123456789abcdef").env("TMPDIR", place.path().join("tmp")).env("MARK", &mark);
    let child = program.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(fs::read_to_string(mark).unwrap()));
    let inner = receiver.recv().unwrap();
    let stopped = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let done = Done::of(&child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(is_empty(&place.path().join("tmp")));
    let state = fs::read_to_string(format!("/proc/{}/stat", inner.trim()));
    assert!(state.is_err() || state.unwrap().contains(") Z "), "the process is gone");
}

#[test]
fn scripted_model_does_a_task_without_a_key() {
    let place = place(&SUITE.replace("local/one", "scripted/good"), &[]);
    place.write(
        "good.script.yaml",
        "tasks:\n  greet:\n    - run: cat name > out.txt; echo you >> out.txt\n    - run: cat out.txt\n      \
         expect: {exit_code: 0, output_contains: hello you}\n    - say: Done.\n",
    );
    let done = Done::of(&place.program(&["run"]).output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    // What a script says is a part of what is done.
    place.write("good.script.yaml", place.read("good.script.yaml").replace("you", "me"));
    let done = place.run(&["run", "--recorded"]);
    assert!(done.code == Some(3) && done.stdout.contains("stale"), "{done:?}");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    place.write("good.script.yaml", place.read("good.script.yaml").replace("hello me", "hello you"));
    let done = place.run(&["run"]);
    assert!(done.code == Some(3) && done.stdout.contains("error[script]"), "{done:?}");
}

#[test]
fn agent_program_does_a_task_and_what_cannot_be_seen_of_it_is_unknown() {
    let place = place(SUITE, &[]);
    let program =
        "exec:read intent; echo \"working on: $intent\"; sh -c 'cat name > out.txt; echo you >> out.txt; cat out.txt'";
    let (code, found) = place.report(&["--model", program]);
    let entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(code, Some(3), "{found}");
    assert_eq!(
        entry["evidence"]["turns"][0]["text"].as_str().unwrap().lines().next(),
        Some("working on: Write a greeting into out.txt")
    );
    let outcomes: Vec<&str> =
        entry["verdicts"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["unknown", "unknown", "pass", "pass", "pass"], "{found}");
    assert_eq!(entry["evidence"]["files"][0]["path"], "out.txt");
}
