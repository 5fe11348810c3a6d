//! Locations, results, notes and help of every assertion; nothing passes without evidence.

mod unknown;

use expect_test::{Expect, expect};
use serde::Deserialize;
use serde_json::json;

use super::{After, Assertion};
use crate::{
    act::Act,
    document::{Document, Pointer, ScalarRules},
    evidence::{
        Answer, Capture, Change, ChangedFile, CommandGap, CommandLog, Content, Ended, EntryKind, Evidence, Exit,
        FileLog, Need, Observation, PathState, Ran,
    },
    verdict::{Check, Outcome, Status, Verdict},
};

fn kept(text: &str) -> Option<Capture> {
    Some(Capture::whole(text.to_owned()))
}

fn exit(code: i32) -> Option<Exit> {
    Some(Exit { code: Some(code), signal: None })
}

fn command(command: &str, code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran {
        command: Capture::whole(command),
        exit: exit(code),
        stdout: kept(stdout),
        stderr: kept(stderr),
        ..Ran::default()
    }
}

fn path(path: &str, state: PathState) -> Observation {
    Observation { need: Need::Path { path: path.to_owned(), content: true }, answer: Answer::Path(state) }
}

fn file(text: &str) -> PathState {
    PathState::File { content: Some(Content::Text(kept(text).unwrap())) }
}

fn ran(run: &str, answer: Ran) -> Observation {
    Observation { need: Need::Command { run: run.to_owned(), timeout_ms: 30_000 }, answer: Answer::Command(answer) }
}

fn printed(code: i32, stdout: &str) -> Ran {
    Ran { exit: exit(code), stdout: kept(stdout), stderr: kept(""), ..Ran::default() }
}

fn ended() -> Evidence {
    Evidence { ended: Some(Ended::Done), ..Evidence::default() }
}

/// Returns the evidence of a model that looked up help, performed the task, and checked the result.
fn evidence() -> Evidence {
    Evidence {
        commands: Some(CommandLog {
            commands: vec![
                command("mycli --help", 0, "Usage: mycli COMMAND\nSuccessfully useless\n", ""),
                command("mycli init --name 'my app'", 0, "Created config.yaml\n", "warning: deprecated\n"),
                command("cat config.yaml", 1, " version: 1\nname: my app \n", "cat: warning: slow disk\n"),
            ],
            cut: false,
            unseen: None,
        }),
        observations: vec![
            path("config.yaml", file("version: 1\nname: my app\n")),
            path("build", PathState::Directory),
            path("confg.yaml", PathState::Missing { beside: vec!["build".to_owned(), "config.yaml".to_owned()] }),
            path("secret.bin", PathState::File { content: Some(Content::Unreadable("permission denied".to_owned())) }),
            ran("wc -l < result.csv", printed(0, "  99\n")),
            path("config.yaml", PathState::Missing { beside: Vec::new() }),
            ran("false", printed(1, "")),
        ],
        ..ended()
    }
}

/// A claim and the location of its item.
type Placed = (Pointer, std::sync::Arc<dyn Check>);

fn claims(list: &str) -> (Document, Vec<Placed>) {
    let document = Document::read(list, ScalarRules::Yaml12);
    let mut after = After::default();
    let mut claims = Vec::new();
    for (index, item) in document.root().unwrap().items().enumerate() {
        let assertion = Assertion::deserialize(item.to_value().unwrap()).unwrap();
        let at = Pointer::root().index(index);
        claims.extend(assertion.claims(&after).into_iter().map(|claim| (at.clone(), claim)));
        after.0.extend(assertion.verify.map(|verify| verify.run));
    }
    (document, claims)
}

fn judged(list: &str, evidence: &Evidence) -> Vec<Verdict> {
    claims(list).1.into_iter().flat_map(|(_, claim)| claim.check(Act::of(evidence))).collect()
}

/// Compares every row as a line, failures with all details. Every location must exist in the document.
#[track_caller]
fn check(list: &str, evidence: &Evidence, expected: Expect) {
    let (document, claims) = claims(list);
    let mut out = String::new();
    for (at, claim) in claims {
        for verdict in claim.check(Act::of(evidence)) {
            let at = at.join(&verdict.at);
            assert!(document.find(&at).is_some(), "{at} is not in the document");
            out.push_str(&format!("{} {at} {}", verdict.outcome.status().as_str(), verdict.label));
            match &verdict.outcome {
                Outcome::Pass => {}
                Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
                    out.push_str(&format!(
                        "\n  {}\n  - {}\n  + {}",
                        mismatch.message, mismatch.expected, mismatch.actual
                    ));
                    mismatch.labelled().for_each(|(name, text)| out.push_str(&format!("\n  = {name}: {text}")));
                }
                Outcome::Unknown(reason) | Outcome::Error(reason) | Outcome::Skip(reason) => {
                    out.push_str(&format!("\n  {reason}"));
                }
            }
            out.push('\n');
        }
    }
    expected.assert_eq(&out);
}

fn status(list: &str, evidence: &Evidence) -> Status {
    let verdicts = judged(list, evidence);
    assert_eq!(verdicts.len(), 1, "one row for each assertion");
    verdicts[0].outcome.status()
}

#[test]
fn the_last_command_decides_about_streams_and_exit_codes() {
    check(
        "- exit_code: 1\n- exit_code: 0\n- output_contains: 'version: 1'\n- output_contains: Version\n- output_contains: Created\n- output_contains: 'warning: slow'\n- error_contains: slow disk\n- error_contains: deprecated\n",
        &evidence(),
        expect![[r#"
            pass /0/exit_code exit code is 1
            fail /1/exit_code exit code is 0
              the last command ended with exit code 1, not 0
              - 0
              + 1
              = note: the last command was `cat config.yaml`
              = note: standard error: cat: warning: slow disk
            pass /2/output_contains output contains "version: 1"
            fail /3/output_contains output contains "Version"
              the output of the last command does not contain "Version"
              - Version
              +  version: 1
            name: my app 

              = note: line 1 contains it if case is ignored:  version: 1
              = note: the last command was `cat config.yaml`
            fail /4/output_contains output contains "Created"
              the output of the last command does not contain "Created"
              - Created
              +  version: 1
            name: my app 

              = note: command 2 (`mycli init --name 'my app'`) printed it, but only the last command counts
              = note: the last command was `cat config.yaml`
            fail /5/output_contains output contains "warning: slow"
              the output of the last command does not contain "warning: slow"
              - warning: slow
              +  version: 1
            name: my app 

              = note: standard error contains it
              = note: the last command was `cat config.yaml`
              = help: use `error_contains` to check standard error
            pass /6/error_contains standard error contains "slow disk"
            fail /7/error_contains standard error contains "deprecated"
              the standard error of the last command does not contain "deprecated"
              - deprecated
              + cat: warning: slow disk

              = note: command 2 (`mycli init --name 'my app'`) printed it, but only the last command counts
              = note: the last command was `cat config.yaml`
        "#]],
    );
    check(
        "- output_equals: \"version: 1\\nname: my app\"\n- output_equals: \"version: 1\\nname:  my app\"\n- output_equals: 'version: 1'\n",
        &evidence(),
        expect![[r#"
            pass /0/output_equals output equals "version: 1
            name: my app"
            fail /1/output_equals output equals "version: 1
            name:  my app"
              the output of the last command is not "version: 1
            name:  my app"
              - version: 1
            name:  my app
              + version: 1
            name: my app
              = note: the first difference is in line 2: name: my app
              = note: expected line: name:  my app
              = note: only the white space differs
              = note: the last command was `cat config.yaml`
            fail /2/output_equals output equals "version: 1"
              the output of the last command is not "version: 1"
              - version: 1
              + version: 1
            name: my app
              = note: the output has 2 lines instead of 1
              = note: the output contains the expected string
              = note: the last command was `cat config.yaml`
              = help: if other output is allowed, use `output_contains`
        "#]],
    );
}

#[test]
fn every_command_counts_for_patterns() {
    check(
        "- ran: 'mycli init.*--name'\n- ran: Mycli init\n- ran: 'mycli init --nam$'\n- ran: zebra\n- ran: 'init (' \n- not_ran: sudo\n- not_ran: '^mycli'\n- run_count: {pattern: mycli, min: 2, max: 2}\n- run_count: {pattern: mycli, max: 1}\n- run_count: {pattern: docker, min: 1}\n- run_count: {pattern: cat}\n",
        &evidence(),
        expect![[r#"
            pass /0/ran ran `mycli init.*--name`
            fail /1/ran ran `Mycli init`
              none of the 3 commands matches `Mycli init`
              - a command that matches `Mycli init`
              + mycli --help
            mycli init --name 'my app'
            cat config.yaml
              = note: command 2 matches if case is ignored: `mycli init --name 'my app'`
            fail /2/ran ran `mycli init --nam$`
              none of the 3 commands matches `mycli init --nam$`
              - a command that matches `mycli init --nam$`
              + mycli --help
            mycli init --name 'my app'
            cat config.yaml
              = note: command 2 is the closest match: `mycli init --name 'my app'`
            fail /3/ran ran `zebra`
              none of the 3 commands matches `zebra`
              - a command that matches `zebra`
              + mycli --help
            mycli init --name 'my app'
            cat config.yaml
            fail /4/ran ran `init (`
              none of the 3 commands matches `init (`
              - a command that matches `init (`
              + mycli --help
            mycli init --name 'my app'
            cat config.yaml
              = note: command 2 is the closest match: `mycli init --name 'my app'`
            pass /5/not_ran did not run `sudo`
            fail /6/not_ran did not run `^mycli`
              command 1 matches `^mycli`: `mycli --help`
              - no command that matches `^mycli`
              + mycli --help
            mycli init --name 'my app'
            cat config.yaml
            pass /7/run_count/pattern 2 commands match `mycli`
            fail /8/run_count/max at most 1 command matches `mycli`
              2 commands match `mycli`, expected at most 1
              - at most 1
              + 2
            mycli --help
            mycli init --name 'my app'
            cat config.yaml
            fail /9/run_count/min at least 1 command matches `docker`
              0 commands match `docker`, expected at least 1
              - at least 1
              + 0
            mycli --help
            mycli init --name 'my app'
            cat config.yaml
            pass /10/run_count/pattern any number of commands match `cat`
        "#]],
    );
}

#[test]
fn files_and_commands_are_looked_at_in_their_order() {
    check(
        "- file_exists: config.yaml\n- file_exists: build\n- file_exists: confg.yaml\n- file_contains: {path: config.yaml, text: 'version: 1'}\n- file_contains: {path: config.yaml, text: 'Version: 1'}\n- file_contains: {path: confg.yaml, text: a}\n- file_contains: {path: build, text: a}\n- file_contains: {path: secret.bin, text: a}\n- verify: {run: 'wc -l < result.csv', output_contains: '9', output_equals: '100'}\n- file_exists: config.yaml\n- verify: {run: 'false', output_contains: x}\n",
        &evidence(),
        expect![[r#"
            pass /0/file_exists `config.yaml` exists
            pass /1/file_exists `build` exists
            fail /2/file_exists `confg.yaml` exists
              `confg.yaml` does not exist
              - `confg.yaml` exists
              + no such file or directory
              = note: the same directory contains `config.yaml`
            pass /3/file_contains/text `config.yaml` contains "version: 1"
            fail /4/file_contains/text `config.yaml` contains "Version: 1"
              `config.yaml` does not contain "Version: 1"
              - Version: 1
              + version: 1
            name: my app

              = note: line 1 contains it if case is ignored: version: 1
            fail /5/file_contains/path `confg.yaml` contains "a"
              `confg.yaml` does not exist
              - `confg.yaml` exists
              + no such file or directory
              = note: the same directory contains `config.yaml`
            fail /6/file_contains/path `build` contains "a"
              `build` is a directory
              - a file that can be read
              + `build` is a directory
            fail /7/file_contains/path `secret.bin` contains "a"
              `secret.bin` cannot be read: permission denied
              - a file that can be read
              + `secret.bin` cannot be read: permission denied
            fail /8/verify/output_equals verify `wc -l < result.csv`
              the output of `wc -l < result.csv` is not "100"
              - 100
              + 99
            fail /9/file_exists `config.yaml` exists
              `config.yaml` does not exist
              - `config.yaml` exists
              + no such file or directory
              = note: the directory is empty, or does not exist
            fail /10/verify/run verify `false`
              `false` ended with exit code 1
              - exit code 0
              + exit code 1
        "#]],
    );
}

#[test]
fn a_recording_made_with_other_commands_before_says_nothing() {
    check(
        "- verify: {run: 'true'}\n- file_exists: config.yaml\n- verify: {run: 'wc -l < result.csv'}\n",
        &evidence(),
        expect![[r#"
            unknown /0/verify/run verify `true`
              it was not observed
            unknown /1/file_exists `config.yaml` exists
              it was not observed after the same `verify` commands
            unknown /2/verify/run verify `wc -l < result.csv`
              it was not observed after the same `verify` commands
        "#]],
    );
}

/// Returns a directory with a new `new/a.txt`, a new binary file, an unchanged `old.txt`, and a removed `gone.txt`.
fn file_log(cut: bool) -> Evidence {
    let file = |path: &str, change, text: Option<&str>| ChangedFile {
        path: path.to_owned(),
        change,
        size: None,
        digest: None,
        text: text.map(Capture::whole),
    };
    let files = vec![
        file("gone.txt", Change::Removed, None),
        file("new/a.txt", Change::Created, Some("greeting: hello\n")),
        file("new/binary", Change::Created, None),
    ];
    let rest = [("link", EntryKind::Link), ("new", EntryKind::Directory), ("old.txt", EntryKind::File)];
    let rest = rest.map(|(path, standing)| (path.to_owned(), standing)).into();
    Evidence { files: Some(FileLog { files, rest, cut }), ..ended() }
}

#[test]
fn new_claims_about_files_are_judged_by_what_the_agent_changed() {
    check(
        "- file_exists: ./new//a.txt\n- file_exists: '{{workdir}}/new'\n- file_exists: old.txt\n- file_exists: new/b.txt\n- file_exists: gone.txt\n- file_exists: old.txt/x\n- file_contains: {path: new/a.txt, text: hello}\n- file_contains: {path: new/a.txt, text: Hello}\n- file_contains: {path: new, text: hello}\n",
        &file_log(false),
        expect![[r#"
            pass /0/file_exists `./new//a.txt` exists
            pass /1/file_exists `{{workdir}}/new` exists
            pass /2/file_exists `old.txt` exists
            fail /3/file_exists `new/b.txt` exists
              `new/b.txt` does not exist
              - `new/b.txt` exists
              + no such file or directory
              = note: the directory contains `a.txt` or `binary`
            fail /4/file_exists `gone.txt` exists
              `gone.txt` does not exist
              - `gone.txt` exists
              + no such file or directory
              = note: the directory contains `link`, `new` or `old.txt`
            fail /5/file_exists `old.txt/x` exists
              `old.txt/x` does not exist
              - `old.txt/x` exists
              + no such file or directory
              = note: the directory is empty, or does not exist
            pass /6/file_contains/text `new/a.txt` contains "hello"
            fail /7/file_contains/text `new/a.txt` contains "Hello"
              `new/a.txt` does not contain "Hello"
              - Hello
              + greeting: hello

              = note: line 1 contains it if case is ignored: greeting: hello
            fail /8/file_contains/path `new` contains "hello"
              `new` is a directory
              - a file that can be read
              + `new` is a directory
        "#]],
    );
}

#[test]
fn what_the_changes_do_not_tell_is_unknown() {
    for path in ["old.txt", "new/binary", "link", "link/x", "/etc/passwd", "new/../new/a.txt", "../a.txt"] {
        let claim = format!("- file_contains: {{path: {path}, text: x}}");
        assert_eq!(status(&claim, &file_log(false)), Status::Unknown, "{path}");
    }
    for path in ["other", "new/a.txt/", "old.txt/"] {
        assert_eq!(status(&format!("- file_exists: {path}"), &file_log(false)), Status::Fail, "{path}");
    }
    assert_eq!(status("- file_exists: new/", &file_log(false)), Status::Pass);
    assert_eq!(status("- file_exists: other", &file_log(true)), Status::Unknown, "some are missing in the list");
    assert_eq!(status("- file_exists: new/a.txt", &file_log(true)), Status::Pass);
    let behind = judged("- verify: {run: 'true'}\n- file_exists: new/a.txt\n", &file_log(false));
    assert_eq!(behind[1].outcome.status(), Status::Unknown, "the command may have removed it");
}

#[test]
fn observation_comes_before_what_the_agent_changed() {
    let seen = path("new/a.txt", PathState::Missing { beside: Vec::new() });
    let evidence = Evidence { observations: vec![seen], ..file_log(false) };
    assert_eq!(status("- file_exists: new/a.txt", &evidence), Status::Fail);
}

#[test]
fn a_command_that_took_too_long_fails() {
    let answer = Ran { timed_out: true, ..printed(124, "half") };
    let evidence = Evidence { observations: vec![ran("sleep 99", answer)], ..ended() };
    check(
        "- verify: {run: sleep 99}\n",
        &evidence,
        expect![[r#"
            fail /0/verify/run verify `sleep 99`
              `sleep 99` did not end within 30 s
              - exit code 0
              + terminated after the timeout
              = note: standard output: half
        "#]],
    );
}

#[test]
fn exit_code_of_a_verify_command_decides_where_a_signal_or_a_background_process_ends_its_output() {
    let exit = Exit { code: None, signal: Some(9) };
    let killed = Ran { exit: Some(exit), ..printed(0, "half") };
    let evidence = Evidence { observations: vec![ran("check", killed)], ..ended() };
    check(
        "- verify: {run: check}\n",
        &evidence,
        expect![[r#"
            fail /0/verify/run verify `check`
              `check` was terminated by signal 9 (KILL), which is exit code 137
              - exit code 0
              + exit code 137
              = note: standard output: half
        "#]],
    );
    let mut held = Ran { held: true, ..printed(0, "half") };
    held.stdout.as_mut().unwrap().cut = true;
    let evidence = Evidence { observations: vec![ran("check", held.clone())], ..ended() };
    assert_eq!(status("- verify: {run: check}", &evidence), Status::Pass);
    assert_eq!(status("- verify: {run: check, output_contains: half}", &evidence), Status::Pass);
    check(
        "- verify: {run: check, output_contains: whole}\n",
        &evidence,
        expect![[r#"
            unknown /0/verify/output_contains verify `check`
              the command ended while a background process kept its output open, and its further output could change the result
        "#]],
    );
    let failed = Ran { exit: Some(Exit { code: Some(2), signal: None }), ..held };
    let evidence = Evidence { observations: vec![ran("check", failed)], ..ended() };
    assert_eq!(status("- verify: {run: check, output_contains: whole}", &evidence), Status::Fail);
}

#[test]
fn without_any_command_only_prohibitions_hold() {
    let evidence = Evidence { commands: Some(CommandLog::default()), ..ended() };
    check(
        "- exit_code: 0\n- output_contains: a\n- output_equals: ''\n- error_contains: ''\n- ran: a\n- not_ran: a\n- run_count: {pattern: a, min: 1}\n- run_count: {pattern: a, max: 1}\n",
        &evidence,
        expect![[r#"
            fail /0/exit_code exit code is 0
              the model ran no command
              - exit code 0
              + no command
            fail /1/output_contains output contains "a"
              the model ran no command
              - a
              + no command
            fail /2/output_equals output equals ""
              the model ran no command
              - 
              + no command
            fail /3/error_contains standard error contains ""
              the model ran no command
              - 
              + no command
            fail /4/ran ran `a`
              the model ran no command
              - a command that matches `a`
              + no command
            pass /5/not_ran did not run `a`
            fail /6/run_count/min at least 1 command matches `a`
              0 commands match `a`, expected at least 1
              - at least 1
              + 0
            no command
            pass /7/run_count/pattern at most 1 command matches `a`
        "#]],
    );
}

#[test]
fn claims_say_what_they_need() {
    let needs = |list: &str| claims(list).1[0].1.needs(&crate::evidence::Context::default());
    assert_eq!(needs("- file_exists: a"), [Need::Path { path: "a".to_owned(), content: false }]);
    assert_eq!(needs("- file_contains: {path: a, text: b}"), [Need::Path { path: "a".to_owned(), content: true }]);
    assert_eq!(needs("- verify: {run: a}"), [Need::Command { run: "a".to_owned(), timeout_ms: 30_000 }]);
    assert_eq!(needs("- exit_code: 0"), []);
}

#[test]
fn an_exit_code_may_be_quoted() {
    let read = |value| Assertion::deserialize(json!({ "exit_code": value })).map(|it| it.exit_code.unwrap().0).ok();
    assert_eq!(read(json!("2")), Some(2));
    assert_eq!(read(json!(2.0)), Some(2));
    assert_eq!(read(json!("two")), None);
    assert_eq!(read(json!(true)), None);
}

#[test]
fn texts_that_are_compared_are_known() {
    for (list, texts) in [
        ("- output_contains: a", vec!["a"]),
        ("- file_contains: {path: a, text: b}", vec!["a", "b"]),
        ("- ran: a", vec!["a"]),
        ("- verify: {run: a, output_contains: b, output_equals: c}", vec!["a", "b", "c"]),
    ] {
        let found = claims(list).1[0].1.texts();
        assert!(texts.iter().all(|text| found.iter().any(|it| it == text)), "{list}: {found:?}");
    }
}

#[test]
fn command_over_several_lines_or_with_more_blanks_is_no_absence() {
    for text in ["git  push", "git \\\n  push", "git\tpush origin", "cd a\n  git   push"] {
        let commands = vec![command(text, 0, "", "")];
        let evidence = Evidence { commands: Some(CommandLog { commands, cut: false, unseen: None }), ..ended() };
        let verdicts = judged("- not_ran: git push", &evidence);
        assert_eq!(verdicts[0].outcome.status(), Status::Unknown, "{text:?}");
        assert_eq!(judged("- not_ran: a git", &evidence)[0].outcome.status(), Status::Pass, "{text:?}");
    }
}
