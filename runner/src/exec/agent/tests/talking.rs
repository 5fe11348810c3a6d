//! Messages to a model, and the record of its actions.

use speclens_schema::{
    evidence::{Change, Ended, EntryKind, Exit, Unfinished},
    suite::Subject,
};

use super::*;
use crate::exec::agent::UsageBound;

#[tokio::test]
async fn agent_writes_a_file_and_everything_is_evidence() {
    let suite = Suite::new();
    let action = task(|action, _| action.env = BTreeMap::from([("NAME".to_owned(), "you".to_owned())]));
    let model = model([
        Step::Answers(runs(&["echo \"hello $NAME\" > out.txt; mkdir deep", "cat out.txt; echo oops >&2; exit 3"])),
        Step::Answers(Reply { usage: runs(&[]).usage, ..says("I wrote it.") }),
    ]);
    let worked = suite.work(&action, &model).await;
    let directory = worked.directory();
    assert!(directory.join("out.txt").exists(), "claims can look at it");
    let found = evidence(&worked);
    assert_eq!((found.ended, &found.error), (Some(Ended::Done), &None));
    assert_eq!(*suite.turns.lock().unwrap(), [1, 2], "each awaited answer is reported");
    let last = commands(&worked).last().unwrap();
    assert_eq!((stdout(last), &*last.stderr.as_ref().unwrap().text), ("hello you\n", "oops\n"));
    assert_eq!(last.exit, Some(Exit { code: Some(3), signal: None }));
    let texts: Vec<&str> = found.turns.iter().map(|turn| turn.text.text.as_str()).collect();
    assert_eq!((texts, found.turns[0].calls.len()), (vec!["", "I wrote it."], 2));
    assert_eq!(found.usage, Some(Usage { input_tokens: 200, output_tokens: 20, cost_usd: Some(1.0) }));
    let log = found.files.as_ref().unwrap();
    let files: Vec<_> = log.files.iter().map(|it| (&*it.path, it.change, &*it.text.as_ref().unwrap().text)).collect();
    assert_eq!(files, [("out.txt", Change::Created, "hello you\n")]);
    assert_eq!(log.rest, BTreeMap::from([("deep".to_owned(), EntryKind::Directory)]));
    assert_eq!(results(&model)[1], json!({ "exit_code": 3, "stdout": "hello you\n", "stderr": "oops\n" }));
    assert_eq!(close(worked).await, [""; 0]);
    assert!(!directory.exists(), "a temporary directory is removed");
}

#[tokio::test]
async fn model_is_sent_program_task_and_instructions() {
    let suite = Suite::new();
    let action = task(|_, all| all.system_prompt = Some("You are logged in.".to_owned()));
    for mode in [HelpMode::None, HelpMode::Discoverable] {
        let model = model([]);
        close(suite.work_in(&action, &model, mode).await).await;
        let request = model.requests.lock().unwrap()[0].clone();
        assert_eq!(request.messages, [Message::User("CLI: sh\nTask: Write a greeting".to_owned())]);
        assert!(request.system.ends_with("\n\nYou are logged in."), "{}", request.system);
        assert_eq!(request.system.contains("--help"), mode == HelpMode::Discoverable);
        assert_eq!((request.test.as_str(), request.tools[0].name.as_str()), ("greet", "run_command"));
    }
}

#[tokio::test]
async fn requests_stay_within_the_bound_that_is_said_before() {
    let suite = Suite::new();
    let action = task(|action, all| {
        action.max_turns = 3;
        all.system_prompt = Some("Be brief.".to_owned());
    });
    // The maximum that is shown to a model, in each turn.
    let fill = "head -c 30000 /dev/zero | tr '\\0' x; head -c 30000 /dev/zero | tr '\\0' y >&2";
    let model = model([Step::Answers(runs(&[fill])), Step::Answers(runs(&[fill])), Step::Answers(says("Done."))]);
    close(suite.work(&action, &model).await).await;
    let requests = model.requests.lock().unwrap();
    let characters = |request: &Request| {
        let messages = request.messages.iter().map(|message| match message {
            Message::User(text) | Message::Prefill(text) | Message::Result { text, .. } => text.chars().count(),
            Message::Model(reply) => {
                reply.text.chars().count()
                    + reply.calls.iter().map(|call| call.arguments.to_string().len()).sum::<usize>()
            }
        });
        request.system.chars().count()
            + messages.sum::<usize>()
            + request.tools[0].parameters.as_ref().unwrap().to_string().len()
    };
    let sent: usize = requests.iter().map(characters).sum();
    let bound = UsageBound::of(&action, &Subject::model("a/b", Some(HelpMode::None)));
    assert_eq!((bound.requests, bound.output_tokens), (3, 3_000));
    assert!(sent > 60_000 && sent as u64 / 3 <= bound.input_tokens, "{sent} {bound:?}");
    let injected = UsageBound::of(&action, &Subject::model("a/b", Some(HelpMode::Injected)));
    assert!(injected.input_tokens > bound.input_tokens, "help is sent with each request");
}

#[tokio::test]
async fn injected_help_is_captured_from_the_program_and_its_subcommands() {
    let suite = Suite::new();
    let program = "case \"$*\" in --help) printf 'Usage: tool <command>\\n\\nCommands:\\n  greet  Greets\\n  odd  Odd\\n';; \
                   'greet --help') echo 'tool greet NAME';; *) exit 1;; esac";
    suite.write("tool", &format!("#!/bin/sh\n{program}\n"));
    fs::set_permissions(suite.path("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let action = task(|_, all| all.cli = suite.path("tool").display().to_string());
    let model = model([]);
    let worked = suite.work_in(&action, &model, HelpMode::Injected).await;
    let system = model.requests.lock().unwrap()[0].system.clone();
    assert!(
        system.contains("Usage: tool <command>\n") && system.contains(" greet --help\ntool greet NAME"),
        "{system}"
    );
    assert_eq!(commands(&worked), [], "help is not a command of the agent");
    close(worked).await;

    let silent = task(|_, all| all.cli = "true".to_owned());
    let worked = suite.work_in(&silent, &model, HelpMode::Injected).await;
    let (kind, message) = error_of(&worked);
    assert_eq!(kind, RunErrorKind::Help);
    assert!(message.contains("it printed nothing"), "{message}");
    close(worked).await;
}

#[tokio::test]
async fn missing_program_is_an_error_in_every_mode_before_a_model_is_asked() {
    for mode in HelpMode::ALL {
        let (suite, model) = (Suite::new(), running(&["echo hello"]));
        let absent = task(|_, all| all.cli = "no-such-program-here --color".to_owned());
        let worked = suite.work_in(&absent, &model, mode).await;
        let (kind, message) = error_of(&worked);
        assert_eq!(kind, RunErrorKind::Program);
        assert!(message.contains("does not find the program `no-such-program-here`"), "{message}");
        assert!(model.requests.lock().unwrap().is_empty());
        close(worked).await;
        // `setup` may create it, and the environment of the task locates it.
        let made = task(|task, all| {
            all.cli = "made-by-setup".to_owned();
            all.env.insert("PATH".to_owned(), format!("{{{{workdir}}}}/bin:{}", std::env::var("PATH").unwrap()));
            let make = "mkdir bin; printf '#!/bin/sh\\necho Usage: it' > bin/made-by-setup; chmod +x bin/*";
            task.setup.push(make.to_owned());
        });
        let worked = suite.work_in(&made, &model, mode).await;
        assert_eq!(evidence(&worked).error, None, "{mode:?}");
        close(worked).await;
    }
}

#[tokio::test]
async fn version_is_asked_for_once_and_recorded_with_every_attempt() {
    let suite = Suite::new();
    let asked = suite.path("asked");
    let of = |command: String| task(move |_, all| all.version_command = Some(command));
    let action = of(format!("echo x >> {}; echo; echo ' tool 1.2 '; echo more", asked.display()));
    for _ in 0..2 {
        let worked = suite.work(&action, &running(&["echo hello"])).await;
        assert_eq!(evidence(&worked).context.version.as_deref(), Some("tool 1.2"));
        close(worked).await;
    }
    assert_eq!(fs::read_to_string(asked).unwrap(), "x\n");
    let other = Suite::new();
    for _ in 0..2 {
        let worked = other.work(&of("exit 3".to_owned()), &running(&["echo hello"])).await;
        assert_eq!((evidence(&worked).context.version.as_ref(), &evidence(&worked).error), (None, &None));
        close(worked).await;
    }
    let notes = other.notes.lock().unwrap().clone();
    assert_eq!(notes, ["cannot read the version of the program with `exit 3`: it ended with exit code 3"]);
}

#[tokio::test]
async fn each_command_has_a_shell_of_its_own_and_no_input() {
    let suite = Suite::new();
    let model = running(&["cd / && export X=1", "pwd; echo \"[$X]\"; cat; echo $TERM"]);
    let worked = suite.work(&task(|_, _| {}), &model).await;
    let directory = worked.directory().display().to_string();
    assert_eq!(stdout(&commands(&worked)[1]), format!("{directory}\n[]\ndumb\n"));
    close(worked).await;
}

#[tokio::test]
async fn wrong_calls_are_answered_and_are_not_commands() {
    let suite = Suite::new();
    let call = |name: &str, arguments| ToolCall { id: "1".to_owned(), name: name.to_owned(), arguments, result: None };
    let calls = vec![
        call("shell", json!({ "command": "touch a" })),
        call("run_command", json!({ "cmd": "touch a" })),
        call("run_command", json!([1])),
        call("run_command", json!({ "_raw": "{\"command\": \"touch a" })),
    ];
    let model = model([Step::Answers(Reply { calls, ..Reply::default() })]);
    let worked = suite.work(&task(|_, _| {}), &model).await;
    assert_eq!((commands(&worked), evidence(&worked).ended), (&[][..], Some(Ended::Done)));
    let found = results(&model);
    assert_eq!(found[0], json!({ "error": "unknown tool `shell`; call `run_command`" }));
    assert_eq!(found[1], json!({ "error": "`run_command` takes an object with the string `command`" }));
    assert_eq!(found[1], found[2]);
    assert_eq!(found[3], json!({ "error": "the arguments are not valid JSON" }));
    close(worked).await;
}

#[tokio::test]
async fn answer_with_very_many_calls_runs_only_the_first_of_them() {
    let suite = Suite::new();
    let many = Scripted { forever: Some(runs(&["true"; 100])), ..Scripted::default() };
    let worked = suite.work(&task(|action, _| action.max_turns = 2), &many).await;
    assert_eq!(commands(&worked).len(), 64);
    assert_eq!(results(&many)[99], json!({ "error": "not run: a reply can run at most 32 commands" }));
    close(worked).await;
}

#[tokio::test]
async fn error_of_the_model_ends_the_attempt_and_keeps_what_happened() {
    let suite = Suite::new();
    let model = model([Step::Answers(runs(&["echo kept"])), Step::Fails(RunErrorKind::RateLimit)]);
    let worked = suite.work(&task(|_, _| {}), &model).await;
    assert_eq!(error_of(&worked), (RunErrorKind::RateLimit, "down"));
    assert_eq!((stdout(&commands(&worked)[0]), evidence(&worked).turns.len()), ("kept\n", 1));
    assert_eq!(evidence(&worked).ended, None);
    close(worked).await;
}

#[tokio::test]
async fn incomplete_answer_is_an_error_and_is_kept() {
    let suite = Suite::new();
    for (why, message) in [
        (Unfinished::CutOff, "the model's reply was cut off at the token limit"),
        (Unfinished::Refused("SAFETY".to_owned()), "the model or its provider refused to answer (`SAFETY`)"),
    ] {
        let step = |reply: Reply| Step::Answers(Reply { unfinished: Some(why.clone()), ..reply });
        // The commands that were called run: the model may go on after them.
        let model = model([step(runs(&["echo kept"])), step(says("I will"))]);
        let worked = suite.work(&task(|_, _| {}), &model).await;
        assert_eq!(error_of(&worked), (RunErrorKind::Provider, message));
        assert_eq!((commands(&worked).len(), evidence(&worked).turns[1].text.text.as_str()), (1, "I will"));
        assert_eq!(evidence(&worked).ended, None);
        close(worked).await;
    }
}

#[tokio::test]
async fn output_of_any_length_is_bounded_for_the_model_and_for_the_evidence() {
    let suite = Suite { output_limit: 100_000, ..Suite::new() };
    let endless = "head -c 1073741824 /dev/zero | tr '\\0' x";
    let model = running(&[endless, endless, endless, "printf short"]);
    let worked = suite.work(&task(|_, _| {}), &model).await;
    let kept: Vec<usize> = commands(&worked).iter().map(|ran| stdout(ran).len()).collect();
    assert_eq!(kept, [100_000, 100_000, 64 * 1024, 5]);
    assert!(commands(&worked)[0].stdout.as_ref().unwrap().cut);
    let text = results(&model)[0]["stdout"].as_str().unwrap().to_owned();
    assert!(text.len() < 11_000 && text.contains(" characters left out]"), "{}", text.len());
    let note = &worked.attempt.notes[0];
    assert!(note.starts_with("`head -c 1073741824") && note.contains("standard output is longer"), "{note}");
    close(worked).await;
}

#[tokio::test]
async fn changes_are_distinguished() {
    let suite = Suite::new();
    for (path, text) in [("same", "a"), ("touched", "b"), ("edited", "c"), ("gone", "d"), ("sub/inner", "e")] {
        suite.write(&format!("fixture/{path}"), text);
    }
    let action = task(|action, _| action.scaffold = Some("fixture".to_owned()));
    let act = "touch -d 2001-01-01 touched; printf C > edited; rm gone; ln -s same link; printf '\\377' > binary; \
               mkdir new; printf f > new/file";
    let worked = suite.work(&action, &running(&[act])).await;
    let log = evidence(&worked).files.as_ref().unwrap();
    let files: Vec<_> = log.files.iter().map(|it| (&*it.path, it.change, it.text.is_some())).collect();
    assert_eq!(
        files,
        [
            ("binary", Change::Created, false),
            ("edited", Change::Modified, true),
            ("gone", Change::Removed, false),
            ("new/file", Change::Created, true),
        ]
    );
    let rest: Vec<_> = log.rest.iter().map(|(path, standing)| (path.as_str(), *standing)).collect();
    let expected = [
        ("link", EntryKind::Link),
        ("new", EntryKind::Directory),
        ("same", EntryKind::File),
        ("sub", EntryKind::Directory),
        ("sub/inner", EntryKind::File),
        ("touched", EntryKind::File),
    ];
    assert_eq!((rest, log.cut), (expected.to_vec(), false));
    close(worked).await;
}
