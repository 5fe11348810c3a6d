use super::*;
use crate::model::Tool;

const SCRIPT: &str = "\
tasks:
  create-user:
    - say: I begin.
      run: mycli user create alice
      expect: { exit_code: 0, output_contains: created }
    - run: [mycli user list, ls]
      usage: { input_tokens: 7 }
    - say: Done.
  look-up:
    - call: { name: lookup_order, arguments: { id: 7 } }
      expect: { output_contains: shipped }
    - fail: authentication
default:
  - run: 'true'
    expect: { error_contains: oops }
answers:
  - asked: polite
    say: '{\"score\": 0.9}'
  - asked: broken
    fail: rate-limit
usage: { input_tokens: 100, output_tokens: 20, cost_usd: 0.01 }
";

fn scripted(text: &str) -> Scripted {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("careful.script.yaml");
    std::fs::write(&path, text).unwrap();
    Scripted::open(&path, "careful.script.yaml").unwrap()
}

fn shell() -> Vec<Tool> {
    vec![Tool { name: SHELL.to_owned(), description: None, parameters: None }]
}

fn task(test: &str) -> Request {
    let messages = vec![Message::User("CLI: mycli".to_owned())];
    Request { test: test.to_owned(), messages, tools: shell(), ..Request::default() }
}

/// Returns the next answer, after these results of the previous calls.
#[track_caller]
fn next(model: &Scripted, request: &mut Request, back: &[&str]) -> Reply {
    back.iter().for_each(|text| {
        request.messages.push(Message::Result { call: "x".to_owned(), tool: "x".to_owned(), text: (*text).to_owned() })
    });
    let reply = model.answer(request).unwrap();
    request.messages.push(Message::Model(reply.clone()));
    reply
}

fn commands(reply: &Reply) -> Vec<&str> {
    reply.calls.iter().map(|call| call.arguments[COMMAND].as_str().unwrap()).collect()
}

const CREATED: &str = r#"{"exit_code":0,"stdout":"user created\n","stderr":""}"#;

#[test]
fn turns_are_played_one_after_the_other() {
    let model = scripted(SCRIPT);
    let request = &mut task("create-user");
    let first = next(&model, request, &[]);
    assert_eq!((first.text.as_str(), commands(&first)), ("I begin.", vec!["mycli user create alice"]));
    assert_eq!(first.calls[0].name, "run_command");
    assert_eq!(first.usage, Some(Usage { input_tokens: 100, output_tokens: 20, cost_usd: Some(0.01) }));
    let second = next(&model, request, &[CREATED]);
    assert_eq!(commands(&second), ["mycli user list", "ls"]);
    assert_ne!(second.calls[0].id, second.calls[1].id);
    assert_eq!(second.usage, Some(Usage { input_tokens: 7, output_tokens: 0, cost_usd: None }));
    let third = next(&model, request, &[CREATED, CREATED]);
    assert_eq!((third.text.as_str(), third.calls.len()), ("Done.", 0));
    let after = next(&model, request, &[]);
    assert_eq!((after.text.as_str(), after.calls.len()), ("", 0));
}

#[track_caller]
fn check_unmet(test: &str, back: &[&str], expected: &str) {
    for text in [SCRIPT.to_owned(), SCRIPT.replace('\n', "\r\n")] {
        let model = scripted(&text);
        let request = &mut task(test);
        next(&model, request, &[]);
        back.iter().for_each(|text| {
            request.messages.push(Message::Result {
                call: "x".to_owned(),
                tool: "x".to_owned(),
                text: (*text).to_owned(),
            })
        });
        let error = model.answer(request).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (RunErrorKind::Script, expected));
    }
}

#[test]
fn an_expectation_that_is_not_met_names_turn_line_and_both_sides() {
    check_unmet(
        "create-user",
        &[r#"{"exit_code":1,"stdout":"","stderr":"name is taken\n"}"#],
        "careful.script.yaml:3: turn 1 of `create-user` expected exit code 0 of `mycli user create alice`, found exit code 1 \
         and the output `name is taken`",
    );
    check_unmet(
        "create-user",
        &[r#"{"exit_code":0,"stdout":"","stderr":"created"}"#],
        "careful.script.yaml:3: turn 1 of `create-user` expected `created` in the standard output of `mycli user create \
         alice`, found nothing",
    );
    check_unmet(
        "create-user",
        &[],
        "careful.script.yaml:3: turn 1 of `create-user` expected a result of `mycli user create alice`, found none",
    );
    // The last command of the last turn is compared as well.
    check_unmet(
        "another",
        &[CREATED],
        "careful.script.yaml:14: turn 1 of `default` expected `oops` in the standard error of `true`, found nothing",
    );
    check_unmet(
        "look-up",
        &["lost"],
        "careful.script.yaml:10: turn 1 of `look-up` expected `shipped` in the result, found `lost`",
    );
}

#[test]
fn other_tools_are_called_and_requests_fail_on_purpose() {
    let model = scripted(SCRIPT);
    let request = &mut task("look-up");
    let first = next(&model, request, &[]);
    assert_eq!((first.calls[0].name.as_str(), &first.calls[0].arguments), ("lookup_order", &json!({ "id": 7 })));
    request.messages.push(Message::Result {
        call: "x".to_owned(),
        tool: "x".to_owned(),
        text: "it was shipped".to_owned(),
    });
    let error = model.answer(request).unwrap_err();
    assert_eq!(error.kind, RunErrorKind::Key);
    assert_eq!(error.message, "careful.script.yaml:12 simulates a rejected key");
}

#[test]
fn questions_without_tools_are_answered_by_the_text_in_them() {
    let model = scripted(SCRIPT);
    let ask = |system: &str, text: &str| {
        let messages = vec![Message::User(text.to_owned())];
        model.answer(&Request {
            test: "create-user".to_owned(),
            system: system.to_owned(),
            messages,
            ..Request::default()
        })
    };
    assert_eq!(ask("", "Is it polite?").unwrap().text, "{\"score\": 0.9}");
    assert_eq!(ask("Judge whether it is polite.", "Hello").unwrap().text, "{\"score\": 0.9}");
    assert_eq!(ask("", "Is it broken?").unwrap_err().kind, RunErrorKind::RateLimit);
    // Nothing fits: the next turn of the test needs a shell.
    let error = ask("", "Is it short?").unwrap_err();
    assert_eq!(
        error.message,
        "careful.script.yaml:3: turn 1 of `create-user` runs a command, but the test offers no shell"
    );
}

#[test]
fn test_without_turns_is_an_error() {
    let model = scripted("tasks:\n  a:\n    - say: b\n");
    let error = model.answer(&task("other")).unwrap_err();
    assert_eq!(error.message, "the script careful.script.yaml has no turns for `other`, and no `default`");
}

#[test]
fn scripts_are_opened_by_their_ids() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("deep")).unwrap();
    let path = directory.path().join("deep/bold.script.yaml");
    std::fs::write(&path, "default: [{say: a}]\n").unwrap();
    let open = |id: &str| Scripted::of_id(id, directory.path());
    assert!(open("scripted/deep/bold").unwrap().is_ok());
    assert!(open(&format!("scripted:{}", path.display())).unwrap().is_ok());
    assert!(open("openai/gpt-4o").is_none());
    let missing = open("scripted/none").unwrap().unwrap_err();
    assert_eq!(missing.kind, RunErrorKind::Script);
    assert!(missing.message.starts_with("cannot play the script none.script.yaml: "), "{}", missing.message);
    std::fs::write(&path, "default: [{fail: a}]\n").unwrap();
    let wrong = open("scripted/deep/bold").unwrap().unwrap_err();
    assert!(wrong.message.contains(": line 1: expected `rate-limit`"), "{}", wrong.message);
}
